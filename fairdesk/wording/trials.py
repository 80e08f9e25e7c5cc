"""Trials of a mitigation in names, numbers and rows of tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.results.events import Metric
from fairdesk.results.mitigation import Change, Measure, Repair, Trial
from fairdesk.results.trials import (
    change_of,
    repair_of,
    result_of,
    same_measure,
    trial_of,
    trials_of,
)
from fairdesk.wording import words
from fairdesk.wording.language import fixed, say, say_many
from fairdesk.wording.proofs import least_share
from fairdesk.wording.words import UNDEFINED, digits_of, plural

#: How something is known.
Known = Literal["observed", "estimated", "proven"]
#: The heads of `before_after`, and those of its columns that hold numbers.
BEFORE_AFTER = fixed(
    ("Measure", "Original model", "Retrained baseline", "Mitigated model", "Change", "Paired test")
)
BEFORE_AFTER_NUMBERS = (1, 2, 3, 4)
#: The heads of `trial_rows`, and those of its columns that hold numbers.
TRIAL_HEADS = fixed(
    ("Model", "Rows added", "Accuracy", "Discrimination", "Change", "Result", "Training"),
)
TRIAL_NUMBERS = (1, 2, 3, 4, 6)
#: What is measured, by its name in the audit file.
_MEASURES = fixed(
    {
        "accuracy": "Accuracy",
        "auc": "Area under the ROC curve (AUC)",
        "brier": "Brier score",
        "calibration": "Calibration error",
        "share_domain": "Decision changes: share of the input domain",
        "share_data": "Decision changes: share of the test rows",
        "impact_ratio": "Impact ratio",
        "rate_gap": "Largest gap in selection rates",
        "error_gap": "Largest gap in error rates",
        "rule_score": "Gap between the subgroup and all others",
        "certified": "Certified share (decision unchanged)",
        "falsified": "Falsified share (decision changes)",
    }
)
#: How something is known, as the heading of what is.
_KNOWN = fixed(
    {
        "observed": "Observed on the test rows",
        "estimated": "Estimated from random samples",
        "proven": "Proven",
    }
)
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
_VERDICTS = fixed(
    {
        "better": "better",
        "worse": "worse",
        "open": "no significant difference",
        "costly": "costs too much accuracy",
    }
)
_ROLES = fixed(
    {
        "imported": "as audited",
        "retrained": "baseline",
        "other": "comparison",
    }
)
_CHOSEN, _FRONT = fixed(("chosen", "on the Pareto front"))


def trial_name(trial: Trial) -> str:
    """Name a trial: ``As imported``, ``Nothing added``, ``2.9 % added``, ``Reweighing``."""
    match trial.kind:
        case "imported":
            return say("Original model")
        case "retrained":
            return say("Retrained baseline")
        case "other":
            return say(trial.name)
        case "portion":
            return say("{portion} added", portion=portion_text(trial))


def measure_name(spec: AuditSpec, measure: Measure | Change) -> str:
    """Say what was measured: ``Discriminatory applicants``, ``Impact ratio, sex``."""
    name = say(_MEASURES[measure.what], people=plural(spec.person))
    return f"{name}, {words.quoted(measure.of)}" if measure.of else name


def known(measure: Measure | Change) -> Known:
    """Return how a measure is known."""
    if measure.what in ("certified", "falsified"):
        return "proven"
    invented = measure.rows == "domain" or measure.what == "rule_score"
    return "estimated" if invented else "observed"


def known_text(spec: AuditSpec, how: Known) -> str:
    """Say how something is known, as the heading of what is."""
    return say(_KNOWN[how], people=plural(spec.person))


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
        return say(UNDEFINED), ""
    if unit_of(measure) == "proven":
        return least_share(measure.estimate), ""
    digits = digits_for(measure)
    value = value_text(measure, measure.estimate, digits)
    if measure.low is None or measure.high is None:
        return value, ""
    factor = 1 if unit_of(measure) == "number" else 100
    ends = (words.plain(factor * each, digits) for each in (measure.low, measure.high))
    return value, words.ends(*ends)


def change_text(change: Change | None, *, tested: bool = True) -> str:
    """Write a change: ``−0.4 percentage points (−0.9 to 0.1), p = 0.12``; a dash for none."""
    if change is None:
        return "–"
    if change.difference is None:
        return say(UNDEFINED)
    factor = 1 if unit_of(change) == "number" else 100
    digits = digits_for(change)
    text = words.signed(factor * change.difference, digits)
    if factor != 1:
        text = say("{n} percentage points", n=text)
    if change.low is not None and change.high is not None:
        ends = (words.plain(factor * each, digits) for each in (change.low, change.high))
        text += f" ({words.ends(*ends)})"
    return f"{text}, {words.p_is(change.p)}" if tested and change.p is not None else text


def before_after(
    spec: AuditSpec,
    figures: Sequence[Metric],
    number: int,
    how: Known | None = None,
    *,
    by_group: bool | None = None,
) -> list[tuple[str, str, str, str, str, str]]:
    """Return a trial beside the model as imported and the one retrained with nothing added.

    Parameters
    ----------
    how : {"observed", "estimated", "proven"}, optional
        Only what is known so; all by default, in this order.
    by_group : bool, optional
        Only what is, or is not, about the groups of an attribute; both by default.

    Returns
    -------
    list[tuple[str, ...]]
        A row per measure, as `BEFORE_AFTER` has it: name, as imported, nothing added, this trial,
        its change and the paired test. The change is that from nothing added, where the model
        could be retrained so; else that from the model as imported.
    """
    trial = trial_of(figures, number)
    if trial is None:
        return []
    imported, plain = trial_of(figures, 0), trial_of(figures, 1)
    rows = []
    for kind in (how,) if how else get_args(Known):
        for each in trial.measures:
            chosen = known(each) == kind and by_group in (None, bool(each.of))
            if chosen and each.rows != "validation":
                # the difference of two lower bounds bounds nothing
                proven = kind == "proven"
                change = None if proven else change_of(trial, each, baseline_of(figures))
                rows.append(
                    (
                        measure_name(spec, each),
                        measure_text(same_measure(imported, each)),
                        measure_text(same_measure(plain, each)),
                        # of the imported model nothing is repaired
                        measure_text(each if number else None),
                        change_text(change, tested=False),
                        tested_text(change),
                    )
                )
    return rows


def tested_text(change: Change | None) -> str:
    """Write a paired test: ``p = 0.012 (McNemar, exact)``; a dash where there is none."""
    if change is None or change.p is None:
        return "–"
    text = words.p_is(change.p, signs=True)
    return text + (f" ({say(change.test)})" if change.test else "")


def trial_rows(_spec: AuditSpec, figures: Sequence[Metric]) -> list[tuple[str, ...]]:
    """Return all trials, a row each, as `TRIAL_HEADS` has it.

    Accuracy is that on the test rows, the share (or gap) that of people drawn afresh, with its
    change from nothing added, or from the model as imported where it could not be retrained so.
    """
    repair = repair_of(figures)
    if repair is None:
        return []
    rows: list[tuple[str, ...]] = []
    for each in trials_of(figures):
        target = result_of(each, repair.target)
        change = None if target is None else change_of(each, target, baseline_of(figures))
        rows.append(
            (
                trial_name(each),
                words.number(each.added) if each.kind == "portion" else "–",
                measure_text(result_of(each, "accuracy")),
                measure_text(target),
                change_text(change, tested=False),
                outcome_text(repair, each),
                words.duration(each.seconds) if each.seconds else "–",
            )
        )
    return rows


def outcome_text(repair: Repair, trial: Trial) -> str:
    """Say what came of a trial: ``better; chosen``, ``worse``, ``no model``."""
    if trial.failed:
        return say("no model")
    parts = [_ROLES.get(trial.kind, _VERDICTS.get(trial.verdict, ""))]
    if trial.number == repair.chosen:
        parts.append(_CHOSEN)
    if trial.front:
        parts.append(_FRONT)
    return "; ".join(say(each) for each in parts if each) or "–"


def baseline_of(figures: Sequence[Metric]) -> int:
    """Return the trial that others are compared with: 1 where there is such a model, else 0."""
    plain = trial_of(figures, 1)
    return 1 if plain is not None and plain.kind == "retrained" and plain.measures else 0


def portion_text(trial: Trial) -> str:
    """Write how much was added: ``2.9 %`` of the training rows, or ``850 labelled rows``."""
    if not trial.percent:
        return rows_text(trial.added)
    digits = 1 if round(trial.percent, 2) >= 1 else 2
    return words.percent_of(f"{trial.percent:.{digits}f}".removesuffix(".0"))


def rows_text(count: int) -> str:
    """Say how many labelled rows there are."""
    return say_many(count, "{n} augmentation row", "{n} augmentation rows")


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
