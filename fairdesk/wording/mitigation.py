"""What came of a repair, in sentences and rows of tables: before and after, and at what cost.

Three kinds of statement are kept apart: what was observed on rows that no trial was trained on,
what is estimated from people drawn at random, and what is proven.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, get_args

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.results.events import Metric
from fairdesk.results.mitigation import Change, Measure, Repair, Trial
from fairdesk.results.trials import (
    change_of,
    chosen_of,
    lowest_portion,
    measure_of,
    relative_fall,
    repair_of,
    result_of,
    same_measure,
    shown,
    source_of_labels,
    trial_of,
    trials_of,
)
from fairdesk.wording import words
from fairdesk.wording.language import fixed, say, say_many
from fairdesk.wording.statements import Statement, unmeasured
from fairdesk.wording.words import UNDEFINED, digits_of, plural

#: How something is known.
Known = Literal["observed", "estimated", "proven"]
#: The heads of `before_after`, and those of its columns that hold numbers.
BEFORE_AFTER = fixed(
    ("Measure", "As imported", "Nothing added", "Repaired", "Change", "Paired test")
)
BEFORE_AFTER_NUMBERS = (1, 2, 3, 4)
#: The heads of `trial_rows`, and those of its columns that hold numbers.
TRIAL_HEADS = fixed(
    ("Model", "Rows added", "Accuracy", "Discrimination", "Change", "What came of it", "Training"),
)
TRIAL_NUMBERS = (1, 2, 3, 4, 6)
#: Of these more is better.
_BETTER = ("accuracy", "auc", "impact_ratio")
#: What is measured, by its name in the audit file.
_MEASURES = fixed(
    {
        "accuracy": "Accuracy",
        "auc": "Area under the ROC curve (AUC)",
        "brier": "Brier score",
        "calibration": "Calibration error",
        "share_domain": "Discriminatory among all possible {people}",
        "share_data": "Discriminatory {people} in the data",
        "impact_ratio": "Impact ratio",
        "rate_gap": "Widest gap of rates",
        "error_gap": "Widest gap of error rates",
        "rule_score": "Gap in and out of the rule set",
        "certified": "Certified: treated alike",
        "falsified": "Falsified: treated unlike",
    }
)
#: How something is known, as the heading of what is.
_KNOWN = fixed(
    {
        "observed": "Observed on the test rows",
        "estimated": "Estimated from invented {people}",
        "proven": "Proven",
    }
)
#: What the number of a trial is compared with by name.
_AGAINST = fixed({0: "the model as imported", 1: "the model retrained with nothing added"})
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
        "open": "no difference shown",
        "costly": "costs too much accuracy",
    }
)
#: That nothing helped: by whether the cost allowed is one point, and whether all is done.
_HELPLESS = fixed(
    {
        (True, True): "Nothing was shown to help at a cost of at most {points} point of accuracy.",
        (False, True): "Nothing was shown to help at a cost of at most {points} points of "
        "accuracy.",
        (True, False): "Nothing was shown to help at a cost of at most {points} point of accuracy "
        "so far.",
        (False, False): "Nothing was shown to help at a cost of at most {points} points of "
        "accuracy so far.",
    }
)
#: What came of several portions.
_COUNTS = fixed(
    {
        "better": "{n} lowered it",
        "open": "{n} made no difference that is shown",
        "worse": "{n} made it worse",
        "costly": "{n} cost too much accuracy",
        "": "{n} did not help",
        "failed": "{n} gave no model",
    }
)
_ROLES = fixed(
    {
        "imported": "as audited",
        "retrained": "what others are compared with",
        "other": "tried beside it",
    }
)
_CHOSEN, _FRONT = fixed(("chosen", "on the front"))
_LABELS = fixed(
    {
        "majority": "The added rows are labelled by the majority of five models of other "
        "kinds, trained on the original training rows without protected attributes. Both "
        "people of a pair get one label, which the data speak for; what is unfair in the "
        "data’s own labels can stay.",
        "similar": "The added rows are labelled by the model’s own decision about most of "
        "those who differ in protected attributes only. Both people of a pair get one label, "
        "with no other model needed; where the model is wrong about most of them, the label "
        "is wrong too.",
        "model": "The added rows are labelled by the model’s own decision about each of them. "
        "Both people of a pair keep the different decisions that they get, so what is added "
        "teaches the model to discriminate: it is there to compare with.",
        "neighbours": "The added rows are labelled by the majority of the nearest real people "
        "among the training rows, protected attributes left out. Both people of a pair get "
        "one label, which real people were given, also where that was unfair; where no real "
        "person is near it says little.",
        "opposite": "The added rows have the label opposite to the one that the model gives "
        "too often in the rule set: by rule, not by merit.",
    }
)


def trial_name(trial: Trial) -> str:
    """Name a trial: ``As imported``, ``Nothing added``, ``2.9 % added``, ``Reweighing``."""
    match trial.kind:
        case "imported":
            return say("As imported")
        case "retrained":
            return say("Nothing added")
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
    ``84.2 % (83.1 to 85.3)``, ``17.3 points (15.0 to 19.6)``, ``0.901 (0.893 to 0.909)``,
    ``at least 89.93 %``; a dash where it was not measured
    """
    if measure is None:
        return "–"
    value, ends = measure_parts(measure)
    return f"{value} ({ends})" if ends else value


def measure_parts(measure: Measure) -> tuple[str, str]:
    """Return a measure with its unit, and the ends of its interval; empty without one."""
    if measure.estimate is None:
        return say(UNDEFINED), ""
    if _unit(measure) == "proven":
        # rounded down: never more than is proven
        floor = math.floor(measure.estimate * 10_000 + 1e-9) / 100
        return say("at least {share}", share=words.percent_of(f"{floor:.2f}")), ""
    digits = _digits(measure)
    value = _value(measure, measure.estimate, digits)
    if measure.low is None or measure.high is None:
        return value, ""
    factor = 1 if _unit(measure) == "number" else 100
    ends = (words.plain(factor * each, digits) for each in (measure.low, measure.high))
    return value, words.ends(*ends)


def change_text(change: Change | None, *, tested: bool = True) -> str:
    """Write a change: ``−0.4 points (−0.9 to 0.1), p = 0.12``; a dash for none.

    Parameters
    ----------
    change : Change, optional
        The change.
    tested : bool
        Whether the p-value belongs to it.
    """
    if change is None:
        return "–"
    if change.difference is None:
        return say(UNDEFINED)
    factor = 1 if _unit(change) == "number" else 100
    digits = _digits(change)
    text = words.signed(factor * change.difference, digits)
    if factor != 1:
        text = say("{n} points", n=text)
    if change.low is not None and change.high is not None:
        ends = (words.plain(factor * each, digits) for each in (change.low, change.high))
        text += f" ({words.ends(*ends)})"
    return f"{text}, {words.p_is(change.p)}" if tested and change.p is not None else text


def labels_sentence(labels: str) -> str:
    """Say where the labels of added rows come from, and what that means."""
    return say(_LABELS[labels])


def headline(spec: AuditSpec, figures: Sequence[Metric]) -> Statement:
    """Say what came of a repair; where nothing was shown to help, that first."""
    repair = repair_of(figures)
    if repair is None:
        return unmeasured(say("Nothing is repaired yet."))
    if not repair.retrains:
        said = say_many(
            repair.rows,
            "{n} labelled row to add was made, from a stock of {stock}; this model cannot be "
            "retrained here, so whether they help is not known.",
            "{n} labelled rows to add were made, from a stock of {stock}; this model cannot be "
            "retrained here, so whether they help is not known.",
            stock=stock_text(repair),
        )
        return Statement("", say("Rows to add"), words.number(repair.rows), said)
    value, best = "", chosen_of(figures)
    if best is None or best.number < 2:
        said = _helpless(spec, figures, repair)
    else:
        value, said = _chosen(spec, figures, repair, best)
    return Statement("estimated", say("Reduction") if value else "", value, said)


def _chosen(
    spec: AuditSpec, figures: Sequence[Metric], repair: Repair, best: Trial
) -> tuple[str, str]:
    """Return by how much the chosen trial cut the target, empty if not shown, and say what it did.

    The reduction is written where its interval is known, and the sentence then begins with it.
    """
    change, before, after = _compared(figures, best, repair.target)
    deed = _deed(best)
    if change is None or before is None or after is None:
        said = say("{Deed} was chosen; how it fares is not measured yet.", Deed=words.capital(deed))
        return "", said
    if not shown(change) or (change.difference or 0) >= 0:
        said = say(
            "Nothing was shown to help: {deed} was chosen on the validation rows, but asked about "
            "afresh it changed {target} by {change}, beside {other}.",
            deed=deed,
            target=_target(spec, repair),
            change=change_text(change),
            other=say(_AGAINST[change.against]),
        )
        return "", said
    first, last = both_texts(before, after)
    values = {"target": _target(spec, repair), "before": first, "after": last, "cost": _cost(best)}
    harm, fall = _harm(spec, figures, best), relative_fall(before, after, change)
    if fall is None:
        said = say(
            "{Deed} cut {target} from {before} to {after}{cost}.",
            Deed=words.capital(deed),
            **values,
        )
        return "", said + harm
    less, ends = _less(*fall)
    said = say(
        "{less} ({ends}): {deed} cut {target} from {before} to {after}{cost}.",
        less=less,
        ends=ends,
        deed=deed,
        **values,
    )
    return less, said + harm


def sentences(spec: AuditSpec, figures: Sequence[Metric]) -> tuple[str, ...]:
    """Say everything that a repair tells, a sentence or two each; what was chosen first."""
    repair = repair_of(figures)
    if repair is None:
        return ()
    out = [headline(spec, figures).sentence]
    best = chosen_of(figures)
    if best is not None and best.number > 1:
        out += filter(
            None,
            (
                worse_sentence(spec, figures, best),
                _beside_imported(spec, best, repair),
                _proven(figures, best),
            ),
        )
    if repair.rows:
        out.append(labels_sentence(source_of_labels(repair)))
    out += filter(None, (split_sentence(spec, repair), _others(spec, figures, repair)))
    out += [
        say("{name}: there is no such model. {why}", name=trial_name(each), why=each.failed)
        for each in trials_of(figures)
        if each.failed
    ]
    out += filter(None, (repair.ended, *repair.notes))
    return tuple(out)


def split_sentence(spec: AuditSpec, repair: Repair) -> str:
    """Say how the rows were divided; empty where nothing was trained."""
    if not repair.retrains:
        return ""
    return say(
        "{train} of the data were trained with, {validation} to choose by and {test} to measure "
        "on: divided before anything else, and no added row is like one of the latter two.",
        train=words.counted(repair.train, spec.person),
        validation=words.number(repair.validation),
        test=words.number(repair.test),
    )


def stock_text(repair: Repair) -> str:
    """Say what rows can be made of: ``257 discriminatory pairs``."""
    if repair.target == "rule_score":
        return say_many(repair.pairs, "{n} sample of the rule set", "{n} samples of the rule set")
    return say_many(repair.pairs, "{n} discriminatory pair", "{n} discriminatory pairs")


def worse_sentence(spec: AuditSpec, figures: Sequence[Metric], trial: Trial) -> str:
    """Say what a trial is shown to have made worse, beside nothing added; empty for nothing."""
    parts = [f"{measure_name(spec, each)} {change_text(each)}" for each in _worse(figures, trial)]
    if not parts:
        return ""
    other = say(_AGAINST[_against(figures)])
    return say("Worse than {other}: {measures}.", other=other, measures="; ".join(parts))


def effort_text(figures: Sequence[Metric]) -> str:
    """Say how many models were measured: ``9 models measured``; empty for none."""
    count = sum(bool(each.measures) for each in trials_of(figures))
    return say_many(count, "{n} model measured", "{n} models measured") if count else ""


def standing(figures: Sequence[Metric]) -> str:
    """Say in a few words how a repair stands; empty where nothing is measured yet."""
    return "; ".join(filter(None, (effort_text(figures), fall_text(figures))))


def fall_text(figures: Sequence[Metric]) -> str:
    """Say from what to what it fell: ``share from 4.02 % to 1.84 %``; empty for no choice."""
    repair, best = repair_of(figures), chosen_of(figures)
    if repair is None or best is None or best.number < 2:
        return ""
    _, before, after = _compared(figures, best, repair.target)
    if before is None or after is None:
        return ""
    first, last = both_texts(before, after)
    return say(
        "gap from {before} to {after}"
        if repair.target == "rule_score"
        else "share from {before} to {after}",
        before=first,
        after=last,
    )


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
    spec : AuditSpec
        The audit's question.
    figures : sequence of Figure
        Of the run.
    number : int
        The trial's.
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
                change = None if proven else change_of(trial, each, _against(figures))
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
        change = None if target is None else change_of(each, target, _against(figures))
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


def _against(figures: Sequence[Metric]) -> int:
    """Return the trial that others are compared with: 1 where there is such a model, else 0."""
    plain = trial_of(figures, 1)
    return 1 if plain is not None and plain.kind == "retrained" and plain.measures else 0


def _compared(
    figures: Sequence[Metric], trial: Trial, what: str
) -> tuple[Change | None, Measure | None, Measure | None]:
    """Return the change of something, and it before and after, as results."""
    against = _against(figures)
    after = result_of(trial, what)
    change = None if after is None else change_of(trial, after, against)
    return change, result_of(trial_of(figures, against), what), after


def _worse(figures: Sequence[Metric], trial: Trial) -> list[Change]:
    """Return what a trial is shown to have made worse, of what is observed or estimated."""
    against = _against(figures)
    return [
        each
        for each in trial.changes
        if each.against == against
        and each.rows != "validation"
        and known(each) != "proven"
        and shown(each)
        and ((each.difference or 0) > 0) != (each.what in _BETTER)
    ]


def _harm(spec: AuditSpec, figures: Sequence[Metric], trial: Trial) -> str:
    """Say what a trial made worse: who else is treated unlike by name, other measures by number."""
    worse = {
        (each.what, each.of): each for each in _worse(figures, trial) if each.what != "accuracy"
    }
    said = ""
    if worse.pop(("share_domain", ""), None) is not None:
        _, before, after = _compared(figures, trial, "share_domain")
        if before is not None and after is not None:
            first, last = both_texts(before, after)
            rose = say(
                "But {share} rose from {before} to {after}.",
                share=_share(spec),
                before=first,
                after=last,
            )
            said = f" {rose}"
    if worse:
        more = say_many(len(worse), "{n} other measure got worse.", "{n} other measures got worse.")
        said += f" {more}"
    return said


def _deed(trial: Trial) -> str:
    """Say what a trial did: ``adding 850 labelled rows (2.9 % of the training rows)``."""
    if trial.kind == "other":
        return say("{method} instead of added rows", method=say(trial.name))
    if trial.kind == "portion":
        rows = _rows(trial.added)
        if not trial.percent:
            return say("adding {rows}", rows=rows)
        share = portion_text(trial)
        return say("adding {rows} ({share} of the training rows)", rows=rows, share=share)
    return say("retraining with nothing added")


def portion_text(trial: Trial) -> str:
    """Write how much was added: ``2.9 %`` of the training rows, or ``850 labelled rows``."""
    if not trial.percent:
        return _rows(trial.added)
    digits = 1 if round(trial.percent, 2) >= 1 else 2
    return words.percent_of(f"{trial.percent:.{digits}f}".removesuffix(".0"))


def _rows(count: int) -> str:
    return say_many(count, "{n} labelled row", "{n} labelled rows")


def _target(spec: AuditSpec, repair: Repair) -> str:
    """Name what is to fall."""
    if repair.target == "rule_score":
        return say("the gap between those in the rule set and all others")
    return _share(spec)


def _share(spec: AuditSpec) -> str:
    return say("the estimated share of discriminatory {people}", people=plural(spec.person))


def both_texts(before: Measure, after: Measure) -> tuple[str, str]:
    """Write two estimates of one thing alike, without their intervals."""
    digits = max(_digits(before), _digits(after))
    if before.estimate is None or after.estimate is None:
        return say(UNDEFINED), say(UNDEFINED)
    last = _value(after, after.estimate, digits)
    if _unit(before) == "points":
        # one unit is enough where it is a word
        return words.plain(100 * before.estimate, digits), last
    return _value(before, before.estimate, digits), last


def _less(fall: float, low: float, high: float) -> tuple[str, str]:
    """Write a relative fall, its ends rounded outwards: ``54 % less`` and ``48 to 59``."""
    ends = (words.number(end) for end in (math.floor(100 * low), math.ceil(100 * high)))
    return say("{share} less", share=words.percent(fall, 1.0, 0)), words.ends(*ends)


def _cost(trial: Trial) -> str:
    """Say what a trial cost in accuracy, beside the same it is compared with."""
    accuracy = result_of(trial, "accuracy")
    if accuracy is None:
        return ""
    change = change_of(trial, accuracy, 1) or change_of(trial, accuracy, 0)
    if change is None:
        return ""
    text = change_text(change, tested=False)
    return say("; accuracy on rows kept apart changed by {change}", change=text)


def _beside_imported(spec: AuditSpec, trial: Trial, repair: Repair) -> str:
    """Say how the chosen trial fares beside the model as it was imported."""
    target, accuracy = result_of(trial, repair.target), result_of(trial, "accuracy")
    if target is None or accuracy is None:
        return ""
    fell, cost = change_of(trial, target, 0), change_of(trial, accuracy, 0)
    if fell is None or cost is None:
        return ""
    return say(
        "Beside the model as imported, {target} changed by {fall}, and accuracy by {cost}. That "
        "model may have been trained on the test rows, which would flatter it.",
        target=_target(spec, repair),
        fall=change_text(fell),
        cost=change_text(cost),
    )


def _proven(figures: Sequence[Metric], trial: Trial) -> str:
    """Say what is proven before and after, where something is."""
    first, last = (
        measure_of(each, "certified", "domain") for each in (trial_of(figures, 0), trial)
    )
    if first is None or last is None or first.estimate is None or last.estimate is None:
        return ""
    return say(
        "Proven to be treated alike: {before} of everybody as imported, {after} after the repair.",
        before=measure_text(first),
        after=measure_text(last),
    )


def _helpless(spec: AuditSpec, figures: Sequence[Metric], repair: Repair) -> str:
    """Say that nothing helped, and what was tried."""
    portions = [each for each in trials_of(figures) if each.kind == "portion"]
    if not any(each.measures for each in portions):
        return say("Nothing was shown to help: nothing that adds rows is measured.")
    if any(each.verdict == "better" for each in portions):
        text = say("Nothing is chosen yet.")
    else:
        text = say(
            _HELPLESS[repair.allowance == 1, bool(repair.ended)],
            points=words.short(repair.allowance),
        )
    tried = say_many(
        len(portions),
        "Of {n} portion tried, {counts}.",
        "Of {n} portions tried, {counts}.",
        counts=_counts(portions),
    )
    best = lowest_portion(figures)
    change = None if best is None else _compared(figures, best, repair.target)[0]
    if best is None or change is None:
        return f"{text} {tried}"
    least = say(
        "The best of them changed {target} by {change}, with {portion} added.",
        target=_target(spec, repair),
        change=change_text(change, tested=False),
        portion=portion_text(best),
    )
    return f"{text} {tried} {least}"


def _counts(portions: Sequence[Trial]) -> str:
    """Count portions by what came of them."""
    kinds = ["failed" if each.failed else each.verdict for each in portions]
    return words.joined(
        [
            say(message, n=words.number(count))
            for kind, message in _COUNTS.items()
            if (count := kinds.count(kind))
        ]
    )


def _others(spec: AuditSpec, figures: Sequence[Metric], repair: Repair) -> str:
    """Say how the methods beside which it stands fared."""
    parts = []
    for each in trials_of(figures):
        if each.kind == "other" and each.measures and each.number != repair.chosen:
            change, _, _ = _compared(figures, each, repair.target)
            fell = change_text(change, tested=False)
            parts.append(say("{method} by {change}", method=say(each.name), change=fell))
    if not parts:
        return ""
    return say(
        "Methods of other kinds changed {target}: {methods}.",
        target=_target(spec, repair),
        methods=words.joined(parts),
    )


def _unit(measure: Measure | Change) -> str:
    return _UNITS.get(measure.what, "number")


def _digits(measure: Measure | Change) -> int:
    """Choose decimals by the width of the interval: 3 of plain numbers, 1 or 2 of percentages."""
    if _unit(measure) == "number":
        return 3
    if measure.low is None or measure.high is None:
        return 2
    return min(digits_of(measure.low, measure.high), 2)


def _value(measure: Measure, value: float, digits: int) -> str:
    match _unit(measure):
        case "number":
            return words.plain(value, digits)
        case "points":
            return say("{n} points", n=words.plain(100 * value, digits))
        case _:
            return words.shown_percent(value, digits)
