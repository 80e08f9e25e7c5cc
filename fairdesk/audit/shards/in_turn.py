"""The shards of a run on one worker, one after the other, or on many that it stands for."""

from __future__ import annotations

from collections.abc import Generator
from typing import Protocol, runtime_checkable

from fairdesk.audit.plan.inputs import RunInputs
from fairdesk.audit.plan.spec import AuditSpec, RunSpec
from fairdesk.audit.shards.dealing import dealing
from fairdesk.audit.worker.client import Searching, Worker
from fairdesk.audit.worker.wire import Ending
from fairdesk.results.events import Event


@runtime_checkable
class Spreads(Protocol):
    """A worker that stands for many, and has shards run on them."""

    def search_spread(self, audit: AuditSpec, inputs: RunInputs, run: RunSpec) -> Searching | None:
        """Run a method on all of them; ``None`` where it is not divided."""


def search_in_turn(worker: Worker, audit: AuditSpec, inputs: RunInputs, run: RunSpec) -> Searching:
    """Run a method on the open model, shard by shard; otherwise as `Worker.search`.

    A worker that stands for many has them run at the same time.
    """
    if isinstance(worker, Spreads):
        spread = worker.search_spread(audit, inputs, run)
        if spread is not None:
            return spread
    return Searching(_search(worker, audit, inputs, run))


def _search(
    worker: Worker, audit: AuditSpec, inputs: RunInputs, run: RunSpec
) -> Generator[Event, None, Ending]:
    divided = dealing(audit, run, inputs)
    while not divided.done and (shard := divided.deal()) is not None:
        running = worker.search(audit.mapping, audit.domain, shard.inputs, shard.run)
        try:
            yield from divided.take(shard.index, running)
        finally:
            running.close()
    return divided.ending
