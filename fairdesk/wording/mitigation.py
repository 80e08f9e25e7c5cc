"""What came of a repair, in sentences: before and after, and at what cost.

Three kinds of statement are kept apart: what was observed on rows that no trial was trained on,
what is estimated from random samples, and what is proven.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

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
from fairdesk.wording.trials import (
    baseline_of,
    change_text,
    digits_for,
    known,
    measure_name,
    measure_parts,
    measure_text,
    portion_text,
    rows_text,
    trial_name,
    unit_of,
    value_text,
)
from fairdesk.wording.words import UNDEFINED

#: Measures that got worse, as many as a headline names.
_NAMED = 2
#: Of these more is better.
_BETTER = ("accuracy", "auc", "impact_ratio")
#: What the number of a trial is compared with by name.
_AGAINST = fixed({0: "the original model", 1: "the retrained baseline"})
#: A number of each of the three models that are set side by side.
_EACH_MODEL = fixed(
    (
        "{value} for the original model",
        "{value} for the retrained baseline",
        "{value} for the mitigated model",
    )
)
#: That nothing helped: by whether the cost allowed is one point, and whether all is done.
_HELPLESS = fixed(
    {
        (True, True): (
            "No candidate model showed a statistically significant improvement within the "
            "permitted accuracy loss ({points} percentage point)."
        ),
        (False, True): (
            "No candidate model showed a statistically significant improvement within the "
            "permitted accuracy loss ({points} percentage points)."
        ),
        (True, False): (
            "No candidate model has shown a statistically significant improvement within the "
            "permitted accuracy loss ({points} percentage point) so far."
        ),
        (False, False): (
            "No candidate model has shown a statistically significant improvement within the "
            "permitted accuracy loss ({points} percentage points) so far."
        ),
    }
)
#: What came of several portions.
_COUNTS = fixed(
    {
        "better": "{n} significantly better",
        "open": "{n} without a significant difference",
        "worse": "{n} significantly worse",
        "costly": "{n} above the permitted accuracy loss",
        "": "{n} without an improvement",
        "failed": "{n} without a model",
    }
)
_LABELS = fixed(
    {
        "majority": (
            "Augmentation rows are labelled by the majority of five models of other types, "
            "trained on the training rows without using the protected attributes. Both members of "
            "a pair receive one label, which reflects the data; unfairness in the recorded "
            "outcomes can remain."
        ),
        "similar": (
            "Augmentation rows are labelled by the model’s most frequent decision in their "
            "counterfactual set. Both members of a pair receive one label, and no other model is "
            "needed; where the model is wrong for most of the set, the label is wrong too."
        ),
        "model": (
            "Augmentation rows are labelled by the model’s own decision. The members of a pair "
            "keep their different decisions, so these rows teach the model to discriminate; this "
            "choice exists for comparison."
        ),
        "neighbours": (
            "Augmentation rows are labelled by the majority of the nearest training rows, "
            "protected attributes excluded. Both members of a pair receive one label that data "
            "rows have, also where that was unfair; where no data row is near, it means little."
        ),
        "opposite": (
            "Augmentation rows have the label opposite to the decision that is too frequent in "
            "the subgroup: by rule, not by merit."
        ),
    }
)


def labels_sentence(labels: str) -> str:
    """Say where the labels of added rows come from, and what that means."""
    return say(_LABELS[labels])


def headline(spec: AuditSpec, figures: Sequence[Metric]) -> Statement:
    """Say what came of a repair; where nothing was shown to help, that first."""
    repair = repair_of(figures)
    if repair is None:
        return unmeasured(say("No mitigation result yet."))
    if not repair.retrains:
        said = say_many(
            repair.rows,
            "{n} augmentation row was made from {stock}. This model cannot be retrained "
            "here, so its effect is not known.",
            "{n} augmentation rows were made from {stock}. This model cannot be retrained "
            "here, so their effect is not known.",
            stock=stock_text(repair),
        )
        return Statement("", say("Augmentation rows"), words.number(repair.rows), said)
    value, best = "", chosen_of(figures)
    if best is None or best.number < 2:
        said = _helpless(figures, repair)
    elif (rise := rise_among_people(figures)) is not None:
        said = " ".join((_rise(spec, figures, rise), _side_by_side(figures, repair, best)))
        said += _harm(spec, figures, best, domain=repair.target != "share_domain")
    else:
        value, said = _chosen(spec, figures, repair, best)
    return Statement("estimated", say("Relative change") if value else "", value, said)


def rise_among_people(figures: Sequence[Metric]) -> Change | None:
    """Return by how much more decisions of individuals in the data change with the chosen model.

    Individuals come before combinations of the input domain: whatever fell there, this is no
    improvement for them. It compares the test rows with the retrained baseline; ``None`` where
    their share did not rise, or no model is chosen.
    """
    best = chosen_of(figures)
    after = None if best is None or best.number < 2 else measure_of(best, "share_data", "test")
    if best is None or after is None:
        return None
    change = change_of(best, after, baseline_of(figures))
    return change if change is not None and (change.difference or 0) > 0 else None


def _rise(spec: AuditSpec, figures: Sequence[Metric], change: Change) -> str:
    """Say that a mitigation is no improvement for individuals, or none was shown."""
    first, last = (
        same_measure(each, change)
        for each in (trial_of(figures, change.against), chosen_of(figures))
    )
    if first is None or last is None:
        return ""
    before, after = both_texts(first, last)
    values = {
        "people": words.plural(spec.person),
        "before": before,
        "after": after,
        "change": change_text(change),
        "other": say(_AGAINST[change.against]),
    }
    if shown(change):
        return say(
            "Not an improvement: among the {people} in the test rows, decision changes rose from "
            "{before} with {other} to {after} with the mitigated model: {change}.",
            **values,
        )
    return say(
        "No improvement was established for the {people} in the test rows: decision changes rose "
        "from {before} with {other} to {after} with the mitigated model: {change}, not "
        "statistically significant.",
        **values,
    )


def _side_by_side(figures: Sequence[Metric], repair: Repair, best: Trial) -> str:
    """Name what was to fall of the original, the retrained and the mitigated model, and the cost.

    Beside the retrained baseline alone a mitigation could look better than the model it replaces.
    """
    trials = trial_of(figures, 0), trial_of(figures, 1), best
    parts = [
        say(message, value=measure_parts(measure)[0])
        for message, trial in zip(_EACH_MODEL, trials, strict=True)
        if trial is not None and (measure := result_of(trial, repair.target)) is not None
    ]
    return say(
        "{Target}: {models}{cost}.",
        Target=words.capital(_target(repair)),
        models=words.joined(parts),
        cost=_cost(best),
    )


def _chosen(
    spec: AuditSpec, figures: Sequence[Metric], repair: Repair, best: Trial
) -> tuple[str, str]:
    """Return by how much the chosen trial cut the target, empty if not shown, and say what it did.

    The reduction is written where its interval is known.
    """
    change, before, after = _compared(figures, best, repair.target)
    deed = _deed(best)
    if change is None or before is None or after is None:
        said = say("{Deed} was chosen; its effect is not measured yet.", Deed=words.capital(deed))
        return "", said
    if not shown(change) or (change.difference or 0) >= 0:
        said = say(
            "No improvement was established: {deed} was chosen on the validation rows, but "
            "on an independent sample it changed {target} by {change}, compared with "
            "{other}.",
            deed=deed,
            target=_target(repair),
            change=change_text(change),
            other=say(_AGAINST[change.against]),
        )
        return "", said
    first, last = both_texts(before, after)
    values = {"target": _target(repair), "before": first, "after": last, "cost": _cost(best)}
    values["other"] = say(_AGAINST[change.against])
    harm, fall = _harm(spec, figures, best), relative_fall(before, after, change)
    if fall is None:
        said = say(
            "Compared with {other}, {deed} reduced {target} from {before} to {after}{cost}.",
            deed=deed,
            **values,
        )
        return "", said + harm
    less, ends = _less(*fall)
    said = say(
        "Compared with {other}, {deed} reduced {target} from {before} to {after}, which is "
        "{less} ({confidence} CI {ends}){cost}.",
        less=less,
        confidence=words.percent_of("95"),
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
                _beside_imported(figures, best, repair),
                _proven(figures, best),
            ),
        )
    if repair.rows:
        out.append(labels_sentence(source_of_labels(repair)))
    out += filter(None, (split_sentence(spec, repair), _others(figures, repair)))
    out += [
        say("{name}: no model was made. {why}", name=trial_name(each), why=each.failed)
        for each in trials_of(figures)
        if each.failed
    ]
    out += filter(None, (repair.ended, *repair.notes))
    return tuple(out)


def original_sentence(figures: Sequence[Metric]) -> str:
    """Say how the chosen model compares with the original one; empty where none is chosen."""
    repair, best = repair_of(figures), chosen_of(figures)
    if repair is None or best is None or best.number < 2:
        return ""
    return _beside_imported(figures, best, repair)


def split_sentence(spec: AuditSpec, repair: Repair) -> str:
    """Say how the rows were divided; empty where nothing was trained."""
    if not repair.retrains:
        return ""
    return say(
        "Of the data, {train} were used for training, {validation} for validation and {test} "
        "for testing. The split comes first, and no augmentation row equals a validation or "
        "test row.",
        train=words.counted(repair.train, spec.person),
        validation=words.number(repair.validation),
        test=words.number(repair.test),
    )


def stock_text(repair: Repair) -> str:
    """Say what rows can be made of: ``257 discriminatory pairs``."""
    if repair.target == "rule_score":
        return say_many(repair.pairs, "{n} sample of the subgroup", "{n} samples of the subgroup")
    return say_many(repair.pairs, "{n} discriminatory pair", "{n} discriminatory pairs")


def worse_sentence(spec: AuditSpec, figures: Sequence[Metric], trial: Trial) -> str:
    """Say what a trial is shown to have made worse, beside nothing added; empty for nothing."""
    parts = [f"{measure_name(spec, each)} {change_text(each)}" for each in _worse(figures, trial)]
    if not parts:
        return ""
    other = say(_AGAINST[baseline_of(figures)])
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
    if rise_among_people(figures) is not None:
        return not_improved()
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


def not_improved() -> str:
    """Say in few words that decisions of more individuals in the data change than before."""
    return say("no improvement for individuals")


def _compared(
    figures: Sequence[Metric], trial: Trial, what: str
) -> tuple[Change | None, Measure | None, Measure | None]:
    """Return the change of something, and it before and after, as results."""
    against = baseline_of(figures)
    after = result_of(trial, what)
    change = None if after is None else change_of(trial, after, against)
    return change, result_of(trial_of(figures, against), what), after


def _worse(figures: Sequence[Metric], trial: Trial) -> list[Change]:
    """Return what a trial is shown to have made worse, of what is observed or estimated."""
    against = baseline_of(figures)
    return [
        each
        for each in trial.changes
        if each.against == against
        and each.rows != "validation"
        and known(each) != "proven"
        and shown(each)
        and ((each.difference or 0) > 0) != (each.what in _BETTER)
    ]


def _harm(spec: AuditSpec, figures: Sequence[Metric], trial: Trial, *, domain: bool = True) -> str:
    """Say what a trial made worse: the share of the domain first, then other measures by name.

    Without ``domain`` that share was said before.
    """
    # the cost in accuracy and the share among individuals stand before
    worse = {
        (each.what, each.of): each
        for each in _worse(figures, trial)
        if each.what not in ("accuracy", "share_data")
    }
    said = ""
    if worse.pop(("share_domain", ""), None) is not None and domain:
        _, before, after = _compared(figures, trial, "share_domain")
        if before is not None and after is not None:
            first, last = both_texts(before, after)
            rose = say(
                "However, {share} rose from {before} to {after}.",
                share=_share(),
                before=first,
                after=last,
            )
            said = f" {rose}"
    if worse:
        baseline = trial_of(figures, baseline_of(figures))
        named = [_turn(spec, each, baseline, trial) for each in worse.values()]
        more = say("Worse: {measures}.", measures=words.some(named, _NAMED))
        said += f" {more}"
    return said


def _turn(spec: AuditSpec, change: Change, before: Trial | None, after: Trial) -> str:
    """Name a measure, with what it was and what it is: ``AUC (from 0.862 to 0.810)``."""
    name = measure_name(spec, change)
    first, last = same_measure(before, change), same_measure(after, change)
    if first is None or last is None:
        return name
    texts = both_texts(first, last)
    return say("{name} (from {before} to {after})", name=name, before=texts[0], after=texts[1])


def _deed(trial: Trial) -> str:
    """Say what a trial did: ``adding 850 labelled rows (2.9 % of the training rows)``."""
    if trial.kind == "other":
        return say("{method} instead of augmentation rows", method=say(trial.name))
    if trial.kind == "portion":
        rows = rows_text(trial.added)
        if not trial.percent:
            return say("adding {rows}", rows=rows)
        share = portion_text(trial)
        return say("adding {rows} ({share} of the training rows)", rows=rows, share=share)
    return say("retraining without augmentation rows")


def _target(repair: Repair) -> str:
    """Name what is to fall."""
    if repair.target == "rule_score":
        return say("the gap between the subgroup and all others")
    return _share()


def _share() -> str:
    return say("the estimated share of decision changes in the input domain")


def both_texts(before: Measure, after: Measure) -> tuple[str, str]:
    """Write two estimates of one thing alike, without their intervals."""
    digits = max(digits_for(before), digits_for(after))
    if before.estimate is None or after.estimate is None:
        return say(UNDEFINED), say(UNDEFINED)
    last = value_text(after, after.estimate, digits)
    if unit_of(before) == "points":
        # one unit is enough where it is a word
        return words.plain(100 * before.estimate, digits), last
    return value_text(before, before.estimate, digits), last


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
    return say("; accuracy on the test rows changed by {change}", change=text)


def _beside_imported(figures: Sequence[Metric], trial: Trial, repair: Repair) -> str:
    """Say how the chosen trial fares beside the model as it was imported."""
    target, accuracy = result_of(trial, repair.target), result_of(trial, "accuracy")
    if target is None or accuracy is None:
        return ""
    fell, cost = change_of(trial, target, 0), change_of(trial, accuracy, 0)
    original = None if fell is None else same_measure(trial_of(figures, 0), fell)
    if fell is None or cost is None or original is None:
        return ""
    return say(
        "Compared with the original model, which may have been trained on the test rows ({before} "
        "in the same sample), {target} changed by {fall}, and accuracy by {cost}.",
        before=measure_parts(original)[0],
        target=say("the gap") if repair.target == "rule_score" else say("the share"),
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
        "Certified share of the input domain, both within the same time limit: {before} for the "
        "original model, {after} for the mitigated model.",
        before=measure_text(first),
        after=measure_text(last),
    )


def _helpless(figures: Sequence[Metric], repair: Repair) -> str:
    """Say that nothing helped, and what was tried."""
    portions = [each for each in trials_of(figures) if each.kind == "portion"]
    if not any(each.measures for each in portions):
        return say(
            "No improvement was established: no candidate model with augmentation rows has been "
            "measured."
        )
    if any(each.verdict == "better" for each in portions):
        text = say("No candidate model is chosen yet.")
    else:
        text = say(
            _HELPLESS[repair.allowance == 1, bool(repair.ended)],
            points=words.short(repair.allowance),
        )
    tried = say_many(
        len(portions),
        "{n} augmentation size was tested: {counts}.",
        "{n} augmentation sizes were tested: {counts}.",
        counts=_counts(portions),
    )
    best = lowest_portion(figures)
    change = None if best is None else _compared(figures, best, repair.target)[0]
    if best is None or change is None:
        return f"{text} {tried}"
    least = say(
        "The best of them, with {portion} added, changed {target} by {change}.",
        target=_target(repair),
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


def _others(figures: Sequence[Metric], repair: Repair) -> str:
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
        "Other methods changed {target}: {methods}.",
        target=_target(repair),
        methods=words.joined(parts),
    )
