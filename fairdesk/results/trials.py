"""What a repair and its trials came to, found among the figures of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

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


def lead_of(figures: Sequence[Metric], trial: Trial | None) -> Measure | None:
    """Find what is told first of a trial: what a mitigation is judged by.

    That is how many decisions of the test rows' individuals change, where that was measured: they
    come before combinations of the input domain. Else it is what is to fall.
    """
    repair = repair_of(figures)
    if repair is None:
        return None
    people = measure_of(trial_of(figures, 0), "share_data", "test")
    if repair.target == "share_domain" and people is not None and people.estimate is not None:
        return measure_of(trial, "share_data", "test")
    return result_of(trial, repair.target)


def verdict_of(
    figures: Sequence[Metric], trial: Trial | None, against: int = 0
) -> Literal["", "better", "worse", "open"]:
    """Judge a trial by the interval of the change that is printed of it.

    Parameters
    ----------
    against : int
        The number of the trial that it is compared with: the original model's by default.

    Returns
    -------
    str
        ``"open"`` where the interval contains zero; empty where there is nothing to compare.
    """
    measure = lead_of(figures, trial)
    if trial is None or measure is None:
        return ""
    change = change_of(trial, measure, against)
    if change is None or change.difference is None:
        return ""
    if not shown(change):
        return "open"
    return "better" if change.difference < 0 else "worse"


def improved(figures: Sequence[Metric]) -> bool:
    """Whether the chosen model is shown to be better than the original, and so are its rows.

    Retraining by itself changes a model: where the one retrained without added rows is as good, the
    rows improved nothing.
    """
    best = chosen_of(figures)
    if best is None or best.number < 2 or verdict_of(figures, best) != "better":
        return False
    measure = lead_of(figures, best)
    rows = None if measure is None else change_of(best, measure, 1)
    return rows is None or (rows.difference or 0.0) < 0


def source_of_labels(repair: Repair) -> str:
    """Return where a repair's labels come from: samples of a rule set have opposite ones."""
    return "opposite" if repair.target == "rule_score" else repair.labels


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
