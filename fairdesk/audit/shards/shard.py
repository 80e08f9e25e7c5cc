"""What a shard is, and what divides a run into shards and merges them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import msgspec

from fairdesk.audit.plan.inputs import RunInputs
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.worker.wire import Ending
from fairdesk.results.events import Event


class Shard(msgspec.Struct, frozen=True):
    """A part of a run: an ordinary run of its own on any worker with the audit's model.

    Attributes
    ----------
    index : int
        Its position in the order in which shards are merged: 0, 1, 2, ...
    run : RunSpec
        What runs, with a budget of its own.
    inputs : RunInputs
        What it is given. What all shards need is the same object in each of them.
    """

    index: int
    run: RunSpec
    inputs: RunInputs


class Ran(Protocol):
    """The events of a shard, in their order, and how it ended."""

    def __iter__(self) -> Iterator[Event]:
        """Yield the events; a shard that still runs yields them as they come."""

    @property
    def ending(self) -> Ending | None:
        """How it ended, once there are no more events; ``None`` where it did not."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The events of a shard that has ended: a `Ran`."""

    events: Iterable[Event]
    ending: Ending | None

    def __iter__(self) -> Iterator[Event]:
        """Yield the events."""
        return iter(self.events)


class Dealing(Protocol):
    """Divides one run into shards and merges what came of them.

    What `take` yields, and `ending`, hang on the run and on the order of the shards' indices alone,
    not on where, when or how often a shard ran: a shard that was lost is run again.
    """

    def deal(self) -> Shard | None:
        """Return the next shard, which may run at once; ``None`` where there is none now.

        There may be one after the next `take`.
        """

    def take(self, index: int, events: Ran) -> Iterator[Event]:
        """Merge a shard, and yield the events of the whole run that follow.

        Called once for each shard, in the order of the indices; each call is used up before the
        next one.
        """

    @property
    def left(self) -> int:
        """How many shards are to be dealt still; many where that is not known."""

    @property
    def done(self) -> bool:
        """Whether no more is needed: shards that were dealt and not taken can be dropped."""

    @property
    def ending(self) -> Ending:
        """How the run ended, once it is done."""
