"""What workers say while they run shards: how far each is."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Any

import msgspec

from fairdesk.audit.catalogue.stages import COMPILING, LOADING
from fairdesk.results.events import Progress


class AtWork(msgspec.Struct, frozen=True):
    """What a worker said last of a shard that it runs.

    Attributes
    ----------
    worker : str
        Its address.
    part : int
        Of the run, from 1 on.
    phase : str
        What it does.
    speed : float
        Rows sent to the model in a second, on average over this part.
    """

    worker: str
    part: int
    phase: str
    speed: float


class Heard:
    """What was heard last of each shard; from one thread, and read from others."""

    def __init__(self) -> None:
        self._last: dict[int, tuple[str, Progress]] = {}

    def note(self, said: dict[str, Any]) -> None:
        """Note how far a shard is; what cannot be read is left out."""
        with suppress(msgspec.MsgspecError, KeyError):
            progress = msgspec.json.decode(said["progress"], type=Progress)
            self._last[said["index"]] = said["worker"], progress

    def forget(self, index: int) -> None:
        """Forget a shard that is over."""
        self._last.pop(index, None)

    def loading(self, out: Collection[int]) -> bool:
        """Return whether none of these shards said that it does more than load its method."""
        said = {said.phase for index, (_, said) in list(self._last.items()) if index in out}
        return said <= {LOADING, COMPILING}

    def phase(self, out: Collection[int]) -> str:
        """Return what one of the shards that are out does; empty where none was heard of."""
        last = list(self._last.items())
        return next((said.phase for index, (_, said) in reversed(last) if index in out), "")

    def at_work(self, out: Collection[int]) -> tuple[AtWork, ...]:
        """Return who runs those of these shards that were heard of, in the order of addresses."""
        doing = [
            AtWork(worker, index + 1, progress.phase, _speed(progress))
            for index, (worker, progress) in list(self._last.items())
            if index in out
        ]
        return tuple(sorted(doing, key=lambda each: (each.worker, each.part)))


def _speed(progress: Progress) -> float:
    seconds = sum(progress.seconds.values())
    return progress.queries / seconds if seconds > 0 else 0.0
