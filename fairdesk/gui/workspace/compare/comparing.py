"""What several runs tell beside each other, in sentences, tables and drawings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.store.records import RunRecord
from fairdesk.charts.curves import growing
from fairdesk.charts.kinds.lines import Drawing
from fairdesk.wording import figures, words

if TYPE_CHECKING:
    from fairdesk.audit.runs.comparison import Comparison

Curve = NDArray[np.float64]


def run_label(number: int, run: RunSpec) -> str:
    """Name a run beside others: ``MAFT (run 3)``."""
    return f"{METHODS[run.method].short_title} (run {number})"


def budget_text(budget: Budget) -> str:
    """Write a run's limits for a cell."""
    limits = []
    if budget.seconds is not None:
        limits.append(words.duration(budget.seconds))
    if budget.queries is not None:
        limits.append(f"{words.number(budget.queries)} queries")
    return " or ".join(limits) or "none"


def curves_of(curves: Sequence[tuple[str, Curve]], *, by_time: bool) -> Drawing:
    """Draw found against rows sent or seconds, a line per run.

    Parameters
    ----------
    curves : sequence of (name, curve)
        A curve is ``(m, 4)``: elapsed seconds, tried, found, rows sent.
    by_time : bool
        Seconds along x; else rows sent.
    """
    column = 0 if by_time else 3
    return Drawing(
        title="Pairs found over time" if by_time else "Pairs found against queries",
        x_title="seconds" if by_time else "queries",
        y_title="pairs found",
        lines=tuple(
            growing(name, curve[:, column], curve[:, 2], f"series {place}")
            for place, (name, curve) in enumerate(curves)
            if len(curve)
        ),
        x_digits=1 if by_time else 0,
    )


def lessons(comparison: Comparison, many: str) -> list[str]:
    """Say what is to be learned, the most important first."""
    runs = comparison.runs
    if not comparison.union:
        return ["None of these runs found a discriminatory pair."]
    ranked = sorted(runs, key=lambda run: -comparison.sufficient_alone(run.id))
    alone = [
        f"{run_label(run.id, run.spec)} found {words.number(comparison.sufficient_alone(run.id))}"
        for run in ranked
    ]
    first, *others = alone
    # the name stands in front here, for the sentence is about the search and not about people
    said = [
        f"{first} {many} that no other of these runs found"
        + (f"; {words.joined(others)}." if others else "."),
        f"Together they found {words.number(comparison.union)} different {many}.",
    ]
    both = next((each.n_samples for each in comparison.overlaps if len(each.runs) == len(runs)), 0)
    by = "both" if len(runs) == 2 else "all of them"
    said.append(f"{words.number(both)} were found by {by}.")
    thrifty = sorted(
        ((run.queries / run.found, run) for run in runs if run.found), key=lambda each: each[0]
    )
    if len(thrifty) > 1:
        least, run = thrifty[0]
        most, other = thrifty[-1]
        said.append(
            f"{run_label(run.id, run.spec)} needed the fewest queries per pair found, "
            f"{words.number(least, 1)}; {run_label(other.id, other.spec)} the most, "
            f"{words.number(most, 1)}."
        )
    return said


def cautions(runs: Sequence[RunRecord]) -> str:
    """Say what makes a comparison unfair; empty where nothing does."""
    said = []
    if len({run.spec.budget for run in runs}) > 1:
        said.append(
            "The runs had different budgets: compare the lines at the same position on the "
            "horizontal axis, not at their ends."
        )
    if any(run.state in ("stopped", "failed") for run in runs):
        cut = [run_label(run.id, run.spec) for run in runs if run.state in ("stopped", "failed")]
        said.append(f"Not completed: {words.joined(cut)}.")
    early = [
        run_label(run.id, run.spec)
        for run in runs
        # a run that used up its budget says so
        if run.state == "done" and not run.message and run.spec.budget != Budget()
    ]
    if early:
        said.append(f"Completed before the budget was used up: {words.joined(early)}.")
    if any(run.spec.continues for run in runs):
        on = [run_label(run.id, run.spec) for run in runs if run.spec.continues]
        said.append(f"Pairs that an earlier run had found are excluded: {words.joined(on)}.")
    return " ".join(said)


#: The columns of `cells`.
HEADER = (
    "Run",
    "Pairs found",
    "Only in this run",
    "Queries",
    "Queries per pair",
    "Time",
    "Clusters reached",
)


def cells(comparison: Comparison) -> list[tuple[str, ...]]:
    """Write a row per run."""
    return [
        (
            run_label(run.id, run.spec),
            words.number(run.found),
            words.number(comparison.sufficient_alone(run.id)),
            words.number(run.queries),
            words.number(run.queries / run.found, 1) if run.found else "–",
            words.duration(run.elapsed),
            f"{sum(count > 0 for count in reached)} of {len(comparison.sizes)}",
        )
        for run, reached in zip(comparison.runs, comparison.coverage, strict=True)
    ]


def phase_cells(comparison: Comparison) -> list[tuple[str, ...]]:
    """Write a row per phase of each run that says what its phases came to."""
    return [
        (run_label(run.id, run.spec), figures.phase_name(each.phase), *figures.phase_cells(each))
        for run in comparison.runs
        for each in figures.phases_of(run.figures)
    ]


def alone_cells(comparison: Comparison) -> list[tuple[str, ...]]:
    """Write a row per run: for each protected attribute, the found for whom it is enough."""
    return [
        (
            run_label(run.id, run.spec),
            *(
                f"{words.number(count)} ({words.percent(count, run.found, 0)})"
                if run.found
                else "–"
                for count in run.sufficient_alone
            ),
        )
        for run in comparison.runs
    ]
