"""A run that is not divided: one shard."""

from __future__ import annotations

from collections.abc import Iterator

from fairdesk.audit.plan.inputs import RunInputs
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.shards.shard import Ran, Shard
from fairdesk.audit.worker.wire import Ending
from fairdesk.results.events import Event


class Whole:
    """A `fairdesk.audit.shards.shard.Dealing` of one shard, whose events are those of the run."""

    def __init__(self, run: RunSpec, inputs: RunInputs) -> None:
        self._shard: Shard | None = Shard(0, run, inputs)
        self.done = False
        self.ending: Ending = "done"

    @property
    def left(self) -> int:
        """The one shard, unless it was dealt."""
        return int(self._shard is not None)

    def deal(self) -> Shard | None:
        """Return the one shard, once."""
        shard, self._shard = self._shard, None
        return shard

    def take(self, index: int, events: Ran) -> Iterator[Event]:
        """Yield the events as they are."""
        del index
        yield from events
        self.done, self.ending = True, events.ending or "stopped"
