"""Searches beside each other, as blocks: what each found, at which cost, and with which estimates.

What a search finds are examples: its number does not show how often decisions change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import AuditSpec, Budget, RunSpec
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.charts.kinds.lines import Drawing, Line, Mark, growing
from fairdesk.document.blocks import (
    Block,
    Callout,
    Chart,
    Grid,
    Heading,
    Statement,
    Text,
    chart_block,
    without_empty,
)
from fairdesk.results.individual import GradientFidelity
from fairdesk.wording import figures, words
from fairdesk.wording.language import say, say_many

if TYPE_CHECKING:
    # reads all findings, with numeric parts that a window opens without
    from fairdesk.audit.runs.comparison import Comparison

#: Of a run, ``(m, 4)``: elapsed seconds, instances tested, pairs found, queries.
Curve = NDArray[np.float64]
#: What the diagnostic of estimates shows, and what it cannot without true gradients.
ESTIMATES = (
    "A search that sees only model outputs estimates in which direction a score changes: it "
    "changes one attribute by a small step, the perturbation size, and compares the outputs. "
    "Where the model provides its true gradients, the estimate can be compared with them: 1 "
    "is full agreement, 0 is none. This shows how well the search works here, and nothing "
    "about discrimination."
)
NO_GRADIENTS = (
    "This model does not provide its gradients, so the estimate cannot be compared with true "
    "ones. The diagnostic shows only how much a short search finds with each perturbation "
    "size."
)
#: From which cosine similarity on estimates agree with the true values, and how far.
_AGREE = (
    (0.9, "At size {size} the estimated {what} agree with the true ones ({value} of 1)."),
    (0.5, "At size {size} the estimated {what} mostly agree with the true ones ({value} of 1)."),
    (0.1, "At size {size} the estimated {what} hardly agree with the true ones ({value} of 1)."),
    (-2.0, "At size {size} the estimated {what} do not agree with the true ones ({value} of 1)."),
)


def run_label(number: int, run: RunSpec) -> str:
    """Name a run beside others: ``MAFT (run 3)``."""
    return say(
        "{method} (run {number})", method=METHODS[run.method].short_title, number=str(number)
    )


def _label(run: RunRecord) -> str:
    return run_label(run.id, run.spec)


def course(curves: Sequence[tuple[str, Curve]], *, over_time: bool = False) -> Drawing:
    """Draw the pairs that named runs found against the queries they cost, or over time."""
    found = "discriminatory pairs found"
    return Drawing(
        title="Discriminatory pairs found",
        x_title="seconds" if over_time else "queries",
        y_title=found,
        lines=tuple(
            growing(name, curve[:, 0 if over_time else 3], curve[:, 2], f"series {place}")
            for place, (name, curve) in enumerate(curves)
            if len(curve)
        ),
        x_digits=1 if over_time else 0,
    )


def courses(runs: Sequence[tuple[RunRecord, Curve]], key: str) -> Chart:
    """Draw what runs found by the queries that they cost."""
    drawing = course([(_label(run), curve) for run, curve in runs])
    caption = "Discriminatory pairs found, by queries"
    return chart_block(drawing, caption, key=key, evidence="example")


def compose(spec: AuditSpec, comparison: Comparison) -> list[Block]:
    """Return what runs tell beside each other: what is to be learned first, then tables."""
    names = words.protected_names(spec.domain)
    blocks: list[Block] = [
        lesson(comparison),
        *cautions(comparison.runs),
        results(spec, comparison),
        Heading("Phases and single attributes", appended=True),
        *phases(comparison.runs),
        *([alone(comparison.runs, names)] if len(names) > 1 else []),
    ]
    return list(without_empty(blocks))


def lesson(comparison: Comparison) -> Statement:
    """State what is to be learned, the most important first."""
    runs = comparison.runs
    if not comparison.union:
        return Statement("", "None of these runs found a discriminatory pair.")
    ranked = sorted(runs, key=lambda run: -comparison.sufficient_alone(run.id))
    first, *others = (
        say(
            "{run} found {n}",
            run=_label(run),
            n=words.number(comparison.sufficient_alone(run.id)),
        )
        for run in ranked
    )
    sentence = (
        say(
            "{first} instances that no other of these runs found; {others}.",
            first=first,
            others=words.joined(others),
        )
        if others
        else say("{first} instances that no other of these runs found.", first=first)
    )
    both = next((each.n_samples for each in comparison.overlaps if len(each.runs) == len(runs)), 0)
    more = [
        say(
            "Together they found {n} different instances; {both} were found by {all}.",
            n=words.number(comparison.union),
            both=words.number(both),
            all="both" if len(runs) == 2 else "all of them",
        )
    ]
    thrifty = sorted(
        ((run.queries / run.found, run) for run in runs if run.found), key=lambda each: each[0]
    )
    if len(thrifty) > 1:
        (least, run), (most, other) = thrifty[0], thrifty[-1]
        more.append(
            say(
                "{run} needed the fewest queries per pair found, {least}; {other} the most, "
                "{most}.",
                run=_label(run),
                least=words.number(least, 1),
                other=_label(other),
                most=words.number(most, 1),
            )
        )
    return Statement("", sentence, tuple(more), "example")


def cautions(runs: Sequence[RunRecord]) -> list[Callout]:
    """Say what makes a comparison unfair, where something does."""
    said = []
    if len({run.spec.budget for run in runs}) > 1:
        said.append(
            "The runs had different budgets: compare the lines at the same position on the "
            "horizontal axis, not at their ends."
        )
    groups = {
        "Not completed: {runs}.": [run for run in runs if run.state in ("stopped", "failed")],
        # a run that used up its budget says so
        "Completed before the budget was used up: {runs}.": [
            run
            for run in runs
            if run.state == "done" and not run.message and run.spec.budget != Budget()
        ],
        "Pairs that an earlier run had found are excluded: {runs}.": [
            run for run in runs if run.spec.continues
        ],
    }
    said += [
        say(text, runs=words.joined([*map(_label, held)])) for text, held in groups.items() if held
    ]
    return [Callout("Compare with care.", " ".join(said))] if said else []


def results(spec: AuditSpec, comparison: Comparison) -> Grid:
    """List what each run found, what it cost, and how widely it searched."""
    clusters = len(comparison.sizes)
    rows = tuple(
        (
            _label(run),
            words.number(run.found),
            words.number(comparison.sufficient_alone(run.id)),
            words.number(run.queries),
            words.number(run.queries / run.found, 1) if run.found else "–",
            words.duration(run.elapsed),
            say("{n} of {all}", n=str(sum(map(bool, reached))), all=str(clusters)),
        )
        for run, reached in zip(comparison.runs, comparison.coverage, strict=True)
    )
    header = (
        *("Run", "Pairs found", "Only in this run", "Queries", "Queries per pair", "Time"),
        "Clusters reached",
    )
    return Grid(
        header=tuple(map(say, header)),
        rows=rows,
        widths=(1.6, *(1.0 for _ in header[1:])),
        right=tuple(range(1, len(header))),
        caption="Results per run",
        key="runs-compared",
        note=say(
            "the {people} in the data were divided into {n} clusters; a cluster is reached when an "
            "instance found is nearest to it, and a search that reaches few clusters covers only "
            "part of the data",
            people=words.plural(spec.person),
            n=str(clusters),
        ),
    )


def phases(runs: Sequence[RunRecord | RunState], key: str = "phases") -> list[Grid]:
    """List the time of each part of runs of several parts, and what came of it."""
    rows, counted = [], False
    for run in runs:
        held = {each.phase: each for each in figures.phases_of(run.figures)}
        counted = counted or bool(held)
        name = _label(run) if isinstance(run, RunRecord) else ""
        for phase, took in run.seconds.items() if len(run.seconds) > 1 else ():
            counts = figures.phase_cells(held.get(phase))
            rows.append((name, figures.phase_name(phase), *counts, words.duration(took)))
    if not rows:
        return []
    header = ("Run", "Phase", *figures.PHASE_HEADER, "Time")
    kept = [
        at
        for at in range(len(header))
        if (at or len(runs) > 1) and (counted or at in (0, 1, len(header) - 1))
    ]
    return [
        Grid(
            header=tuple(header[at] for at in kept),
            rows=tuple(tuple(row[at] for at in kept) for row in rows),
            widths=tuple(2.0 if at < 2 else 1.0 for at in kept),
            right=tuple(place for place, at in enumerate(kept) if at > 1),
            caption="Results per phase" if counted else "Time of each phase",
            key=key,
            optional=not counted,
        )
    ]


def alone(runs: Sequence[RunRecord], names: Sequence[str]) -> Grid:
    """Count per run and protected attribute the pairs in which changing it alone is enough."""
    return Grid(
        header=("Run", *names),
        rows=tuple(
            (
                _label(run),
                *(
                    f"{words.number(count)} ({words.percent(count, run.found, 0)})"
                    if run.found
                    else "–"
                    for count in run.sufficient_alone
                ),
            )
            for run in runs
        ),
        widths=(1.6, *(1.0 for _ in names)),
        right=tuple(range(1, 1 + len(names))),
        caption="Pairs found in which changing this attribute alone changes the decision",
        key="alone-compared",
    )


def diagnosis(measured: Sequence[GradientFidelity], key: str = "diagnosis") -> list[Block]:
    """Say how far a search's estimates hold, size by size, and how much it finds with each."""
    if not measured:
        return []
    compared = [each for each in measured if each.gradients is not None]
    first, *more = (*_agreements(compared), _most_found(measured))
    return [
        Text(ESTIMATES if compared else NO_GRADIENTS),
        # how well a search works is no finding
        Text(" ".join(more), lead=first),
        *([_chart(_agreement(compared), f"{key}-agreement")] if compared else []),
        _chart(_sweep(measured), f"{key}-found"),
    ]


def likened(run: RunRecord | RunState) -> list[GradientFidelity]:
    """Return what a run measured of a search's estimates, size by size."""
    return [each for each in run.figures if isinstance(each, GradientFidelity)]


def diagnosed(measured: Sequence[GradientFidelity]) -> str:
    """Say how far estimates hold, or without true ones what was found; empty of nothing."""
    return "".join(each.lead for each in diagnosis(measured) if isinstance(each, Text))


def _agreements(compared: Sequence[GradientFidelity]) -> list[str]:
    """Say how well the estimate holds with the size that serves best."""
    if not compared:
        return []
    best = max(compared, key=lambda each: each.gradients or 0.0)
    kinds = {
        "gradients": best.gradients,
        "directions": best.directions,
        "probabilities of changing an attribute": best.probabilities,
    }
    return [
        say(
            next(text for least, text in _AGREE if value >= least),
            size=_size(best),
            what=what,
            value=f"{value:.2f}",
        )
        for what, value in kinds.items()
        if value is not None
    ]


def _most_found(measured: Sequence[GradientFidelity]) -> str:
    most = max(measured, key=lambda each: each.found)
    if not most.found:
        return "No short search found a discriminatory pair, at any perturbation size."
    return say_many(
        most.found,
        "A short search found most at perturbation size {size}: {n} pair[|s] in {tested}.",
        size=_size(most),
        tested=words.tested(most.tried),
    )


def _size(measured: GradientFidelity) -> str:
    """Write a perturbation size with two figures: ``0.032``."""
    return f"{float(f'{measured.size:.2g}'):g}"


def _chart(drawing: Drawing, key: str) -> Chart:
    return chart_block(drawing, drawing.title, key=key)


def _agreement(compared: Sequence[GradientFidelity]) -> Drawing:
    """Draw the cosine similarities, a line with points for each kind."""
    places = np.arange(len(compared), dtype=np.float64)
    kinds = (
        ("gradients", [each.gradients for each in compared]),
        ("directions", [each.directions for each in compared]),
        ("probabilities", [each.probabilities for each in compared]),
    )
    lines = tuple(
        Line(name, places, np.array(values, np.float64), f"series {place}", mark=Mark.POINTS)
        for place, (name, values) in enumerate(kinds)
        if None not in values
    )
    least = min((float(line.y.min()) for line in lines), default=0.0)
    return Drawing(
        title="Agreement with the true gradients",
        x_title="perturbation size",
        y_title="cosine similarity",
        lines=lines,
        y_digits=2,
        y_low=-1.0 if least < 0 else 0.0,
        y_high=1.0,
        x_names=tuple(map(_size, compared)),
    )


def _sweep(measured: Sequence[GradientFidelity]) -> Drawing:
    """Draw what a short search found with each size, as bars."""
    found = np.array([each.found for each in measured], dtype=np.float64)
    places = np.arange(len(measured), dtype=np.float64)
    return Drawing(
        title="Pairs found by a short search",
        x_title="perturbation size",
        y_title="pairs found",
        lines=(Line("pairs found", places, found, "bar", mark=Mark.BARS),),
        x_names=tuple(map(_size, measured)),
    )
