"""The shards of a run on one worker, one after the other."""

from __future__ import annotations

from collections.abc import Generator

from fairdesk.audit.plan.inputs import RunInputs
from fairdesk.audit.plan.spec import AuditSpec, RunSpec
from fairdesk.audit.shards.dealing import dealing
from fairdesk.audit.worker.client import Searching, Worker
from fairdesk.audit.worker.wire import Ending
from fairdesk.results.events import Event


def search_in_turn(worker: Worker, audit: AuditSpec, inputs: RunInputs, run: RunSpec) -> Searching:
    """Run a method on the open model, shard by shard; otherwise as `Worker.search`."""
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
