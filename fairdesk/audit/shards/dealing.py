"""The dealing of a run: by how its method is divided."""

from __future__ import annotations

from fairdesk.audit.catalogue.implementations import load_merging
from fairdesk.audit.catalogue.method import Divides
from fairdesk.audit.catalogue.methods import method_named, parse_options
from fairdesk.audit.plan.inputs import RunInputs, SearchInputs
from fairdesk.audit.plan.spec import AuditSpec, RunSpec
from fairdesk.audit.shards.counts import Counts
from fairdesk.audit.shards.searches import Searches
from fairdesk.audit.shards.shard import Dealing
from fairdesk.audit.shards.whole import Whole


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
    if division.counts and workers > 1:
        options = parse_options(run.method, run.options)
        favourable = audit.mapping.favourable_class
        merging = load_merging(run.method, audit.domain, options, favourable)
        return Counts(audit.domain, run, inputs, merging)
    by = division.by
    if by in (Divides.ROWS, Divides.STREAMS) and run.shards > 1:
        if not isinstance(inputs, SearchInputs):
            raise TypeError(f"{run.method} does not search")
        return Searches(audit.domain, run, inputs, workers)
    return Whole(run, inputs)
