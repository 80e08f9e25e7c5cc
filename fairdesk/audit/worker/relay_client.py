"""A model that is open in an older Python, asked through a pair of pipes.

The libraries of before 2022 have no build for any Python that FairDesk itself runs on. Then two
processes do what one does else: the guest searches, in FairDesk's own environment, and asks the
model in another, which the guest has started before both gave up their rights
(`fairdesk.audit.worker.relay_server`). A frame is a line of JSON, followed by the bytes of its
arrays; nothing is unpickled, and the guest believes no more of it than the app believes of the
guest.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.sandbox.folders import Confinement
from fairdesk.audit.worker import beside
from fairdesk.audit.worker.relay_wire import Frame, read, write
from fairdesk.errors import ModelError, TrustRequiredError, WorkerError
from fairdesk.models.model import Capability, Companion, Inputs, ModelCard
from fairdesk.results.events import Scores

#: What is known of a model only where its own libraries are.
_THERE_ONLY = frozenset({Capability.TREES, Capability.LAYERS, Capability.RETRAINS})
_KINDS = {"ModelError": ModelError, "TrustRequiredError": TrustRequiredError}


class Relay:
    """The process of an older Python that opens models."""

    def __init__(self, python: str, *, unconfined: bool) -> None:
        module = ["fairdesk.audit.worker.relay_server", *(["--unconfined"] if unconfined else [])]
        self._process = subprocess.Popen(  # noqa: S603 - an interpreter that FairDesk has installed
            [python, "-I", "-u", str(Path(beside.__file__)), *module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._confinement = msgspec.convert(self._answer()[0], Confinement)

    def confinement(self) -> Confinement:
        """Return what it found that it cannot do, before it read anything."""
        return self._confinement

    def open_model(
        self,
        path: Path,
        *,
        trusted: bool = False,
        output: str = "",
        companions: Sequence[Companion] = (),
    ) -> RelayedModel:
        """Open a model there; as `fairdesk.models.open.open_model`."""
        wish = {"path": str(path), "trusted": trusted, "output": output}
        listed = [msgspec.to_builtins(companion) for companion in companions]
        message, _ = self.ask({"ask": "open", **wish, "companions": listed})
        card = msgspec.convert(message, ModelCard)
        can = tuple(each for each in card.can if each not in _THERE_ONLY)
        return RelayedModel(msgspec.structs.replace(card, can=can), self)

    def ask(self, message: dict[str, Any], arrays: Sequence[NDArray[Any]] = ()) -> Frame:
        """Send a question and wait for its answer.

        Raises
        ------
        FairDeskError
            What went wrong there.
        """
        write(_pipe(self._process.stdin), message, arrays)
        return self._answer()

    def _answer(self) -> Frame:
        try:
            frame = read(_pipe(self._process.stdout))
        except ValueError as error:
            raise WorkerError(
                "The model process returned an invalid response.",
                why=f"{error}.",
                remedy="If it happens again, do not trust this model file.",
            ) from error
        if frame is None:
            # the app knows what to say of a guest that has ended, and starts another
            os._exit(1)
        message, arrays = frame
        if "failed" in message:
            kind = _KINDS.get(str(message["failed"]), WorkerError)
            parts = [str(message.get(part, "")) for part in ("what", "why", "remedy")]
            raise kind(parts[0], why=parts[1], remedy=parts[2])
        return message, arrays


class RelayedModel:
    """A model that is open in an older Python."""

    def __init__(self, card: ModelCard, relay: Relay) -> None:
        self.card = card
        self._relay = relay

    def matrix_scores(self, matrix: NDArray[np.float64]) -> Scores:
        """Answer for ``(n, inputs)`` numbers; as `OpenedModel.scores`."""
        return _scores(self._relay.ask({"ask": "matrix"}, [matrix]), len(matrix))

    def scores(self, inputs: Inputs) -> Scores:
        """Answer for one array per input; as `OpenedModel.scores`."""
        rows = len(inputs[0]) if inputs else 0
        return _scores(self._relay.ask({"ask": "columns"}, inputs), rows)


def _scores(frame: Frame, rows: int) -> Scores:
    arrays = frame[1]
    if len(arrays) != 1 or arrays[0].ndim != 2 or len(arrays[0]) != rows:
        raise WorkerError(
            "The model process returned an invalid response.",
            remedy="If it happens again, do not trust this model file.",
        )
    return arrays[0]


def _pipe(stream: Any) -> BinaryIO:  # noqa: ANN401 - as `subprocess` has it
    assert stream is not None, "both pipes are asked for"  # noqa: S101 - for mypy
    return stream  # type: ignore[no-any-return]


__all__ = ["Relay", "RelayedModel"]
