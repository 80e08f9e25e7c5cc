"""What a repair and its trials came to, found among the figures of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from fairdesk.results.events import Metric
from fairdesk.results.mitigation import Change, Measure, Repair, Trial


def repair_of(figures: Iterable[Metric]) -> Repair | None:
    """Return what a repair came to; ``None`` where there is nothing of it yet."""
    return next((each for each in figures if isinstance(each, Repair)), None)


def trials_of(figures: Iterable[Metric]) -> tuple[Trial, ...]:
    """Return the trials of a repair, in the order of their numbers."""
    return tuple(each for each in figures if isinstance(each, Trial))


def trial_of(figures: Iterable[Metric], number: int) -> Trial | None:
    """Return a trial by its number; ``None`` where there is none."""
    return next((each for each in trials_of(figures) if each.number == number), None)


def chosen_of(figures: Sequence[Metric]) -> Trial | None:
    """Return the trial that was chosen; ``None`` where none was."""
    repair = repair_of(figures)
    return None if repair is None else trial_of(figures, repair.chosen)


def shown(change: Change | None) -> bool:
    """Whether a change is shown: its interval leaves nought out."""
    return (
        change is not None
        and change.low is not None
        and change.high is not None
        and (change.high < 0 or change.low > 0)
    )


def source_of_labels(repair: Repair) -> str:
    """Return where a repair's labels come from: samples of a rule set have opposite ones."""
    return "opposite" if repair.target == "rule_score" else repair.labels


def relative_fall(
    before: Measure | None, after: Measure | None, change: Change | None
) -> tuple[float, float, float] | None:
    """Return by what share something fell, with a 95 % interval; ``None`` where no fall is shown.

    Fieller's interval of the ratio of two estimates that depend on each other (Some problems in
    interval estimation, Journal of the Royal Statistical Society B 16, 1954). With the squared
    arms of the intervals A of the estimate after, B of the one before and D of their difference,
    a ratio r is in it when::

        (after - r before)^2 <= (1 - r) (A - r B) + r D

    What the two have in common is in D. Intervals of small shares have arms of unlike length: for
    each end those are taken that lead to it, as Donner and Zou do (Statistical Methods in Medical
    Research 21, 2012). At r = 1 it says what the interval of the difference says.

    Returns
    -------
    tuple[float, float, float], optional
        The fall and the ends of its interval, 0 to 1.
    """
    first, last, paired = _arms(before), _arms(after), _arms(change)
    if not shown(change) or first is None or last is None or paired is None:
        return None
    (b, b_down, b_up), (a, a_down, a_up), (d, d_down, d_up) = first, last, paired
    if d >= 0:
        return None
    greatest = _fieller(a, b, (a_up, b_down, d_up), 1)
    least = _fieller(a, b, (a_down, b_up, d_down), -1)
    if greatest is None or least is None:
        return None
    return 1 - a / b, max(0.0, 1 - greatest), min(1.0, 1 - least)


def _fieller(a: float, b: float, arms: tuple[float, float, float], sign: int) -> float | None:
    """Return the greater or the smaller ratio at which Fieller's condition just holds."""
    of_a, of_b, of_d = (arm * arm for arm in arms)
    square, half = b * b - of_b, a * b - (of_a + of_b - of_d) / 2
    inner = half * half - square * (a * a - of_a)
    if square <= 0 or inner < 0:
        return None
    return (half + sign * math.sqrt(inner)) / square


def measure_of(trial: Trial | None, what: str, rows: str) -> Measure | None:
    """Find what was measured of a trial, of no one attribute; ``None`` where it was not."""
    found = (
        each
        for each in (trial.measures if trial is not None else ())
        if each.what == what and each.rows == rows and not each.of
    )
    return next(found, None)


def result_of(trial: Trial | None, what: str) -> Measure | None:
    """Find what is told as the result: of people drawn afresh, or of the test rows."""
    return measure_of(trial, what, "domain") or measure_of(trial, what, "test")


def change_of(trial: Trial, measure: Measure, against: int) -> Change | None:
    """Find the change of a measure of a trial against another trial."""
    same = (measure.what, measure.of, measure.rows, against)
    found = (
        each for each in trial.changes if (each.what, each.of, each.rows, each.against) == same
    )
    return next(found, None)


def same_measure(trial: Trial | None, measure: Measure | Change) -> Measure | None:
    """Find the same thing as measured of another trial."""
    same = (measure.what, measure.of, measure.rows)
    found = (
        each
        for each in (trial.measures if trial is not None else ())
        if (each.what, each.of, each.rows) == same
    )
    return next(found, None)


def lowest_portion(figures: Iterable[Metric]) -> Trial | None:
    """Return the portion with which least is left to repair, by what is chosen by.

    The lowest of several by the results would owe that to chance in part.
    """
    trials = tuple(figures)
    repair = repair_of(trials)
    if repair is None:
        return None
    return min(
        (
            each
            for each in trials_of(trials)
            if each.kind == "portion" and sought(each, repair) is not None
        ),
        key=lambda each: sought(each, repair) or 0.0,
        default=None,
    )


def sought(trial: Trial, repair: Repair) -> float | None:
    """Return what is to fall of a trial, as it is chosen by."""
    measure = measure_of(trial, repair.target, "validation")
    return None if measure is None else measure.estimate


def _arms(measure: Measure | Change | None) -> tuple[float, float, float] | None:
    """Return an estimate and the lengths of both arms of its interval; ``None`` without one."""
    if measure is None:
        return None
    estimate = measure.estimate if isinstance(measure, Measure) else measure.difference
    if estimate is None or measure.low is None or measure.high is None:
        return None
    return estimate, estimate - measure.low, measure.high - estimate
