"""Trials of a mitigation in names, numbers and rows of tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from fairdesk.results.events import Metric
from fairdesk.results.mitigation import Change, Measure, Trial
from fairdesk.results.trials import (
    repair_of,
    verdict_of,
)
from fairdesk.wording import words
from fairdesk.wording.language import say, say_many
from fairdesk.wording.proofs import least_share
from fairdesk.wording.words import UNDEFINED, digits_of

#: How something is known.
Known = Literal["observed", "estimated", "proven"]
#: What is measured, by its name in the audit file.
_MEASURES = {
    "accuracy": "Accuracy",
    "auc": "Ranking quality (AUC)",
    "brier": "Brier score",
    "calibration": "Calibration error",
    "share_domain": "Decision changes, input domain",
    "share_data": "Decision changes, test rows",
    "impact_ratio": "Impact ratio",
    "rate_gap": "Largest gap between groups in selection rates",
    "error_gap": "Largest gap between groups in true or false positive rates",
    "rule_score": "Gap between the subgroup and all others",
    "certified": "Certified share of the input domain (decision unchanged)",
    "falsified": "Falsified share of the input domain (decision changes)",
}
#: How something is known, as the heading of what is.
_KNOWN = {
    "observed": "Observed on the test rows",
    "estimated": "Estimated from random samples",
    "proven": "Proven",
}
_UNITS = {
    "accuracy": "percent",
    "share_domain": "percent",
    "share_data": "percent",
    "rate_gap": "points",
    "error_gap": "points",
    "rule_score": "points",
    "certified": "proven",
    "falsified": "proven",
}
_VERDICTS = {
    "better": "better",
    "worse": "worse",
    "open": "no significant difference",
}
_AUDITED, _CHOSEN, _COSTLY = ("as audited", "chosen: {result}", "too inaccurate")


def trial_name(trial: Trial) -> str:
    """Name a trial: ``Original model``, ``529 rows added``, ``Reweighing``."""
    match trial.kind:
        case "imported":
            return "Original model"
        case "retrained":
            return "Retrained baseline"
        case "other":
            return trial.name
        case "portion":
            return say_many(trial.added, "{n} row[|s] added")


def measure_name(measure: Measure | Change) -> str:
    """Say what was measured: ``Accuracy``, ``Impact ratio, sex``."""
    name = _MEASURES[measure.what]
    return f"{name}, {words.quoted(measure.of)}" if measure.of else name


def known(measure: Measure | Change) -> Known:
    """Return how a measure is known."""
    if measure.what in ("certified", "falsified"):
        return "proven"
    invented = measure.rows == "domain" or measure.what == "rule_score"
    return "estimated" if invented else "observed"


def known_text(how: Known) -> str:
    """Say how something is known, as the heading of what is."""
    return _KNOWN[how]


def measure_text(measure: Measure | None) -> str:
    """Write a measure with its interval and its unit.

    Examples
    --------
    ``84.2 % (83.1 to 85.3)``, ``17.3 percentage points (15.0 to 19.6)``,
    ``0.901 (0.893 to 0.909)``, ``at least 89.93 %``; a dash where it was not measured
    """
    if measure is None:
        return "–"
    value, ends = measure_parts(measure)
    return f"{value} ({ends})" if ends else value


def measure_parts(measure: Measure) -> tuple[str, str]:
    """Return a measure with its unit, and the ends of its interval; empty without one."""
    if measure.estimate is None:
        return UNDEFINED, ""
    if unit_of(measure) == "proven":
        return least_share(measure.estimate), ""
    digits = digits_for(measure)
    value = value_text(measure, measure.estimate, digits)
    if measure.low is None or measure.high is None:
        return value, ""
    factor = 1 if unit_of(measure) == "number" else 100
    ends = (words.plain(factor * each, digits) for each in (measure.low, measure.high))
    return value, words.ends(*ends)


def change_text(change: Change | None, *, named: bool = False, unit: bool = True) -> str:
    """Write a change: ``−0.4 percentage points (−0.9 to 0.1)``; a dash for none.

    ``named`` says of the interval that it is one; a table says the ``unit`` once.
    """
    if change is None:
        return "–"
    if change.difference is None:
        return UNDEFINED
    factor = 1 if unit_of(change) == "number" else 100
    digits = digits_for(change)
    text = words.signed(factor * change.difference, digits)
    if unit and factor != 1:
        text = say("{n} percentage points", n=text)
    if change.low is not None and change.high is not None:
        ends = (words.plain(factor * each, digits) for each in (change.low, change.high))
        span = words.ends(*ends)
        if named:
            span = say("{confidence} CI {ends}", confidence=words.percent_of("95"), ends=span)
        text += f" ({span})"
    return text


def outcome_text(figures: Sequence[Metric], trial: Trial) -> str:
    """Say what came of a trial: ``chosen: better``, ``no model``."""
    if trial.failed:
        return "no model"
    if trial.kind == "imported":
        return _AUDITED
    repair, verdict = repair_of(figures), verdict_of(figures, trial)
    parts = [_VERDICTS[verdict]] if verdict else []
    if trial.verdict == "costly":
        parts.append(_COSTLY)
    result = "; ".join(parts) or "–"
    if repair is not None and trial.number == repair.chosen:
        return say(_CHOSEN, result=result)
    return result


def portion_text(trial: Trial) -> str:
    """Write how much was added: ``2.9 %`` of the training rows, or ``850 labelled rows``."""
    if not trial.percent:
        return rows_text(trial.added)
    digits = 1 if round(trial.percent, 2) >= 1 else 2
    return words.percent_of(f"{trial.percent:.{digits}f}".removesuffix(".0"))


def rows_text(count: int) -> str:
    """Say how many labelled rows there are."""
    return say_many(count, "{n} augmentation row[|s]")


def unit_of(measure: Measure | Change) -> str:
    """Return what a measure is written in: percent, points, a proven share, or a plain number."""
    return _UNITS.get(measure.what, "number")


def digits_for(measure: Measure | Change) -> int:
    """Choose decimals by the width of the interval: 3 of plain numbers, 1 or 2 of percentages."""
    if unit_of(measure) == "number":
        return 3
    if measure.low is None or measure.high is None:
        return 2
    return min(digits_of(measure.low, measure.high), 2)


def value_text(measure: Measure, value: float, digits: int) -> str:
    """Write a value of a measure with its unit."""
    match unit_of(measure):
        case "number":
            return words.plain(value, digits)
        case "points":
            return say("{n} percentage points", n=words.plain(100 * value, digits))
        case _:
            return words.shown_percent(value, digits)
