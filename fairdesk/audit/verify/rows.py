"""Figures that cover all rows of the data, counted again by their methods."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from fairdesk.audit.plan.inputs import SearchInputs
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.runs.run import run as run_again
from fairdesk.audit.shards.dealing import merging_of
from fairdesk.audit.store.records import RunRecord
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.figures import differences
from fairdesk.audit.verify.tally import Tally, untried
from fairdesk.audit.worker.client import Worker
from fairdesk.certify.proof.verify.outcome import Check
from fairdesk.errors import FairDeskError
from fairdesk.results.events import Metric
from fairdesk.results.individual import Share
from fairdesk.results.proofs import NeighbourhoodCounts
from fairdesk.results.shards import ShardRange, Tallied

GROUPS = "Group tables, recalculated"
SHARES = "Shares of the data rows whose decision changes, recounted"
NEIGHBOURS = "Data rows certified with their neighbours, recounted"
#: What is counted again, by the method.
_RECOUNTED = {"groups": GROUPS, "estimate": SHARES, "neighbourhoods": NEIGHBOURS}
#: The stage of an estimate that tests the rows of the data, and a margin that ends the others.
_ROWS, _WIDEST = "data", 0.5


def of_all_rows(run: RunRecord) -> list[Metric]:
    """Return the figures of a run that cover all rows of the data, and so are counted again."""
    if run.spec.method not in _RECOUNTED:
        return []
    shares = [each for each in run.figures if isinstance(each, Share)]
    if not all(each.exhaustive for each in shares if each.whom == _ROWS):
        return []  # some rows only were counted
    return [each for each in run.figures if not isinstance(each, Share) or each.whom == _ROWS]


def check_rows(store: Store, worker: Worker | None, seconds: float, reason: str) -> Iterator[Check]:
    """Count again what covers all rows of the data, and compare it field by field.

    Parameters
    ----------
    worker : Worker, optional
        With the audit's model open, where it has one; ``None``: nothing can be counted.
    seconds : float
        A time limit for what is proven about each row; 0: it is left out.
    reason : str
        Why nothing can be counted.
    """
    tallies: dict[str, Tally] = {}
    for run in store.runs():
        method = run.spec.method
        recorded = of_all_rows(run)
        if not recorded:
            continue
        tally = tallies.setdefault(_RECOUNTED[method], Tally(_RECOUNTED[method]))
        if worker is None:
            continue
        if run.answers_changed:
            tally.leave(
                f"Run {run.id}: the model returned different outputs for the same rows in it."
            )
        elif method == "groups" and run.state != "done":
            tally.leave(f"Run {run.id} was not completed: its tables are partial.")
        elif method == "neighbourhoods" and not seconds:
            tally.leave("Nothing was proven again, as the time limit is 0.")
        else:
            try:
                now = _counted(store, worker, run.spec, seconds)
            except FairDeskError as error:
                tally.leave(f"Run {run.id} could not be repeated: {error}")
                continue
            _compare(tally, run, recorded, now)
    for name, tally in tallies.items():
        yield tally.check() if worker is not None else untried(name, reason)


def _counted(store: Store, worker: Worker, run: RunSpec, seconds: float) -> Sequence[Metric]:
    """Return the figures of a method that cover all rows, as they are now.

    Raises
    ------
    FairDeskError
        When they cannot be counted.
    """
    options = dict(run.options)
    if run.method == "neighbourhoods":
        run = msgspec.structs.replace(run, options=options | {"keep": 0, "seconds": seconds})
    elif run.method == "estimate" and store.spec.data.sample is None:
        return _shares(store, worker, run)
    elif run.method == "estimate":
        # all rows are read after the samples were drawn, which are not compared
        run = msgspec.structs.replace(run, options=options | {"trials": 1, "margin": _WIDEST})
    run = msgspec.structs.replace(run, budget=Budget(), shards=0)
    with (
        tempfile.TemporaryDirectory(prefix="fairdesk-") as folder,
        Store.create(Path(folder) / "again.fairdesk", store.spec, store.table()) as again,
    ):
        *_, ended = run_again(worker, again, run)
        if ended.state != "done" or ended.message:
            raise FairDeskError(ended.message or "It was stopped.")
        return of_all_rows(again.runs()[-1])


def _shares(store: Store, worker: Worker, run: RunSpec) -> Sequence[Metric]:
    """Count the rows of the data in the guest, add the counts up here, and draw nothing."""
    spec = store.spec
    inputs = SearchInputs(spec.domain.people(store.table()))
    merging = merging_of(spec, run, inputs)
    stages = merging.wanted.stage.split(",") if merging.wanted is not None else []
    # a unit has more than one row
    part = ShardRange(0, len(stages) * (len(inputs.people) + 1), _ROWS)
    run = msgspec.structs.replace(run, budget=Budget(), shards=0, shard=part)
    with closing(worker.search(spec.mapping, spec.domain, inputs, run)) as counting:
        for event in counting:
            if isinstance(event, Tallied):
                merging.add(event)
            if merging.wanted is None or _ROWS not in merging.wanted.stage.split(","):
                break
    measured = merging.measured()
    return () if measured is None else measured.figures


def _compare(
    tally: Tally, run: RunRecord, recorded: Sequence[Metric], now: Sequence[Metric]
) -> None:
    """Compare figures with those of now; a row that only one of two decided is no mismatch."""
    then, again = list(recorded), list(now)
    for place, (first, second) in enumerate(zip(then, again, strict=False)):
        if isinstance(first, NeighbourhoodCounts) and isinstance(second, NeighbourhoodCounts):
            then[place], again[place] = _without_course(first), _without_course(second)
            if (open_ := max(first.undecided, second.undecided)) and not _contradict(first, second):
                tally.leave(
                    f"Run {run.id}: {first.undecided:,} rows were undecided then, and "
                    f"{second.undecided:,} now: what is decided of the others agrees.",
                    open_,
                )
                again[place] = then[place]
    wrong = differences(tuple(then), tuple(again))
    tally.agree(max(len(then) - len(wrong), 0))
    for message in wrong:
        tally.differ(f"Run {run.id}: {message}")


def _without_course(figure: NeighbourhoodCounts) -> NeighbourhoodCounts:
    """Leave out how many boxes were looked at: the speed of the computer decides that, too."""
    return msgspec.structs.replace(figure, boxes=0)


def _contradict(then: NeighbourhoodCounts, now: NeighbourhoodCounts) -> bool:
    """Return whether more rows are decided one way or the other than can be."""
    both = then.certified + now.falsified, now.certified + then.falsified
    # notes say how many were left undecided
    asked = [msgspec.structs.replace(each, **_COUNTS, notes=()) for each in (then, now)]
    return asked[0] != asked[1] or max(both) > then.rows


#: Fields of a figure that depend on how much was decided.
_COUNTS = dict.fromkeys(
    ("certified", "falsified", "undecided", "flipped", "boxes", "seconds", "margin"), 0
)
