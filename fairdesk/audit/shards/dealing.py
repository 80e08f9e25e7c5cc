"""How a run is dealt in shards, by how its method is divided, and run on one worker in turn."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol, cast, runtime_checkable

from fairdesk.audit.catalogue.implementations import load_merging
from fairdesk.audit.catalogue.method import Divides
from fairdesk.audit.catalogue.methods import method_named, parse_options
from fairdesk.audit.plan.contexts import group_context
from fairdesk.audit.plan.inputs import GroupInputs, MitigationInputs, RunInputs, SearchInputs
from fairdesk.audit.plan.spec import AuditSpec, RunSpec
from fairdesk.audit.shards.counts import Counts
from fairdesk.audit.shards.regions import Regions
from fairdesk.audit.shards.shard import Dealing, Searches, Whole
from fairdesk.audit.worker.client import Searching, Worker
from fairdesk.audit.worker.wire import Ending
from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.division import Merging, Setting
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import ModelCard, OpenedModel
from fairdesk.results.events import Event


def dealing(audit: AuditSpec, run: RunSpec, inputs: RunInputs, workers: int = 1) -> Dealing:
    """Return what divides a run into shards and merges them.

    Parameters
    ----------
    audit : AuditSpec
        The audit.
    run : RunSpec
        The run; `fairdesk.audit.runs.run.check_run` has passed it.
    inputs : RunInputs
        What it is given.
    workers : int
        How many shards run at once: the seconds of a search's budget are shared out by it. One
        worker counts all units in one run.
    """
    division = method_named(run.method).division
    # a table that is larger than memory is read where it lies
    lies_here = not isinstance(inputs, MitigationInputs) and inputs.all_rows is not None
    if division.counts and workers > 1 and audit.mapping.inputs and not lies_here:
        counts = Counts(audit.domain, run, inputs, merging_of(audit, run, inputs), workers)
        if counts.wanted:
            return counts
    by = division.by
    if by is Divides.REGIONS and workers > 1 and run.budget.queries is None:
        if not isinstance(inputs, SearchInputs):
            raise TypeError(f"{run.method} does not search")
        return Regions(audit.domain, run, inputs, workers)
    if by in (Divides.ROWS, Divides.STREAMS) and run.shards > 1:
        if not isinstance(inputs, SearchInputs):
            raise TypeError(f"{run.method} does not search")
        return Searches(audit.domain, run, inputs, workers)
    return Whole(run, inputs)


def merging_of(audit: AuditSpec, run: RunSpec, inputs: RunInputs) -> Merging:
    """Return what adds up the units of a run that counts."""
    options = parse_options(run.method, run.options)
    return load_merging(run.method, _setting(audit, run, inputs), options, run.rng())


@dataclass(frozen=True, slots=True)
class _Domain:
    """What is known of an audit about individuals where no model is open."""

    domain: Domain


@dataclass(frozen=True, slots=True)
class _Described:
    """A model as its card describes it; it is open elsewhere."""

    card: ModelCard


def _setting(audit: AuditSpec, run: RunSpec, inputs: RunInputs) -> Setting:
    if not isinstance(inputs, GroupInputs):
        return _Domain(audit.domain)
    described = cast(OpenedModel, _Described(audit.model))
    fed = FedModel(described, audit.mapping, audit.domain.attributes)
    return group_context(audit.domain, audit.mapping, run, inputs, fed)


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
