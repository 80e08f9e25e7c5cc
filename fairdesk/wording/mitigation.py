"""What came of a mitigation, in sentences: each model beside the original one, and at what cost.

One rule judges every model: the interval of its change from the original model, which is printed
beside it. It is counted on individuals of the test rows, where that can be done.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.results.events import Metric
from fairdesk.results.mitigation import Change, Measure, Repair, Trial
from fairdesk.results.trials import (
    change_of,
    chosen_of,
    improved,
    lead_of,
    measure_of,
    repair_of,
    result_of,
    shown,
    source_of_labels,
    trial_of,
    trials_of,
    verdict_of,
)
from fairdesk.wording import words
from fairdesk.wording.language import Statement, say, say_many, unmeasured
from fairdesk.wording.trials import (
    change_text,
    digits_for,
    known,
    measure_name,
    measure_text,
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
#: What the chosen model is, by what is measured and by the verdict.
_CHOSEN = {
    ("share", "better"): (
        "The mitigated model ({rows}) has significantly fewer decision changes than the "
        "original model."
    ),
    ("share", "open"): (
        "No improvement was established: decision changes with the mitigated model ({rows}) "
        "do not differ significantly from those with the original model."
    ),
    ("share", "worse"): (
        "The mitigation did not help: the mitigated model ({rows}) has significantly more "
        "decision changes than the original model."
    ),
    ("share", "baseline"): (
        "No improvement was established: the mitigated model ({rows}) has fewer decision "
        "changes than the original model, but no fewer than the retrained baseline."
    ),
    ("gap", "better"): (
        "The mitigated model ({rows}) has a significantly smaller gap than the original model."
    ),
    ("gap", "open"): (
        "No improvement was established: the gap with the mitigated model ({rows}) does not "
        "differ significantly from that with the original model."
    ),
    ("gap", "worse"): (
        "The mitigation did not help: the mitigated model ({rows}) has a significantly larger "
        "gap than the original model."
    ),
    ("gap", "baseline"): (
        "No improvement was established: the mitigated model ({rows}) has a smaller gap than "
        "the original model, but no smaller one than the retrained baseline."
    ),
}
#: That every model that was retrained is worse.
_ALL_WORSE = {
    "share": (
        "No improvement: every retrained model has significantly more decision changes than "
        "the original model."
    ),
    "gap": (
        "No improvement: every retrained model has a significantly larger gap than the "
        "original model."
    ),
}
#: That none was chosen: by whether all is done.
_NONE_CHOSEN = {
    True: (
        "No model was chosen: on the validation rows, none was significantly better than the "
        "retrained baseline within the permitted accuracy loss ({points})."
    ),
    False: (
        "No model is chosen so far: on the validation rows, none is significantly better than "
        "the retrained baseline within the permitted accuracy loss ({points})."
    ),
}
#: Models by what they are beside the original one.
_COMPARED = {
    "better": "Significantly better than the original model: {models}.",
    "open": "No significant difference from the original model: {models}.",
    "worse": "Significantly worse than the original model: {models}.",
}
#: That the source of the labels decides what comes of it, by whether it can be chosen.
_MATTERS = {
    True: (
        "This is a choice, and it matters: other labels give other data and another model. "
        "Anyone who trains with these rows adopts this choice."
    ),
    False: (
        "The method was published in this form. Anyone who trains with these rows adopts this "
        "choice: the labels are wrong wherever the model was right."
    ),
}
#: What is set side by side of all models.
_SIDE_BY_SIDE = {
    "share_data": "Among the {n} {people} in the test rows, the decision changes for {models}.",
    "share_domain": "In the input domain, the decision is estimated to change for {models}.",
    "rule_score": "Estimated on perturbed test rows, the gap is {models}.",
}
_WITH = {
    "imported": "{value} with the original model",
    "retrained": "{value} with the retrained baseline (no rows added)",
    "portion": "{value} with the mitigated model",
    "other": "{value} with {name}",
}
_LABELS = {
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


def labels_sentence(labels: str) -> str:
    """Say where the labels of added rows come from, and what that means."""
    return _LABELS[labels]


def headline(spec: AuditSpec, figures: Sequence[Metric]) -> Statement:
    """Say what came of a mitigation, by what is judged: whether it helped comes first."""
    repair = repair_of(figures)
    if repair is None:
        return unmeasured("No mitigation result yet.")
    if not repair.retrains:
        said = say_many(
            repair.rows,
            "{n} augmentation row[|s] [was|were] made from {stock}. This model cannot be "
            "retrained here, so [its|their] effect is not known.",
            stock=stock_text(repair),
        )
        return Statement("", "Augmentation rows", words.number(repair.rows), said, said)
    best = chosen_of(figures)
    lead = lead_of(figures, trial_of(figures, 0))
    evidence = "estimated" if lead is None else known(lead)
    if best is None or best.number < 2:
        brief, more = _none_chosen(spec, figures, repair)
    else:
        brief, more = _chosen(spec, figures, repair, best)
    said = f"{brief} {more}".rstrip()
    after = lead_of(figures, best)
    if lead is None or after is None or not improved(figures):
        return Statement(evidence, "", "", said, brief)
    first, last = both_texts(lead, after)
    if unit_of(lead) == "points":
        label = say("Gap in percentage points (original model: {before})", before=first)
        return Statement(evidence, label, last.split()[0], said, brief)
    label = say("Decision changes (original model: {before})", before=first)
    return Statement(evidence, label, last, said, brief)


def _kind(repair: Repair) -> str:
    return "gap" if repair.target == "rule_score" else "share"


def _chosen(
    spec: AuditSpec, figures: Sequence[Metric], repair: Repair, best: Trial
) -> tuple[str, str]:
    """Say what the chosen model is beside the original one and the baseline; and the figures."""
    verdict = verdict_of(figures, best)
    if not verdict:
        return say("{name} was chosen; its effect is not measured yet.", name=trial_name(best)), ""
    told = "baseline" if verdict == "better" and not improved(figures) else verdict
    shown_models = [trial_of(figures, 0), trial_of(figures, 1), best]
    brief = say(_CHOSEN[_kind(repair), told], rows=_deed(best, repair))
    lead = lead_of(figures, best)
    harm = worse_sentence(best, ("accuracy", "" if lead is None else lead.what), _NAMED)
    more = _side_by_side(spec, figures, shown_models), _differences(figures, best)
    return f"{brief} {harm}".rstrip(), " ".join(filter(None, more))


def _none_chosen(spec: AuditSpec, figures: Sequence[Metric], repair: Repair) -> tuple[str, str]:
    """Say that none was chosen; and what each model that was tried is beside the original one."""
    tried = [each for each in trials_of(figures) if each.measures]
    sizes = [each for each in tried if each.kind == "portion"]
    if not sizes:
        none = (
            "No improvement was established: no candidate model with augmentation rows has been "
            "measured."
        )
        return none, ""
    found = {each.number: verdict_of(figures, each) for each in tried if each.number}
    if repair.ended and all(each == "worse" for each in found.values()):
        first, compared = _ALL_WORSE[_kind(repair)], ""
    else:
        first = say(_NONE_CHOSEN[bool(repair.ended)], points=allowance_text(repair))
        compared = _verdicts(tried, found)
    said = _side_by_side(spec, figures, [each for each in tried if each.kind != "portion"], sizes)
    return first, " ".join(filter(None, (said, compared, _costly(sizes))))


def _verdicts(tried: Sequence[Trial], found: Mapping[int, str]) -> str:
    """Name the models of each verdict, and count the augmentation sizes."""
    parts = []
    for verdict, message in _COMPARED.items():
        mine = [each for each in tried if found.get(each.number) == verdict]
        sizes = sum(each.kind == "portion" for each in mine)
        names = [_name(each) for each in mine if each.kind != "portion"]
        if sizes:
            names.append(say_many(sizes, "{n} augmentation size[|s]"))
        if names:
            parts.append(say(message, models=words.joined(names)))
    return " ".join(parts)


def _costly(sizes: Sequence[Trial]) -> str:
    count = sum(each.verdict == "costly" for each in sizes)
    if not count:
        return ""
    return say_many(
        count,
        "{n} augmentation size[|s] lost more accuracy than permitted.",
    )


def _name(trial: Trial) -> str:
    return "the retrained baseline" if trial.kind == "retrained" else trial_name(trial)


def _side_by_side(
    spec: AuditSpec,
    figures: Sequence[Metric],
    models: Sequence[Trial | None],
    sizes: Sequence[Trial] = (),
) -> str:
    """Set what models are judged by side by side, the original one first; sizes as a range."""
    found = [(each, lead_of(figures, each)) for each in (*models, *sizes) if each is not None]
    measured = [(each, measure) for each, measure in found if measure is not None]
    if not measured:
        return ""
    texts = _texts([measure for _, measure in measured])
    parts, ends = [], []
    for (trial, measure), text in zip(measured, texts, strict=True):
        if trial in sizes:
            ends.append((measure.estimate or 0.0, text))
        else:
            parts.append(say(_WITH[trial.kind], value=text, name=trial_name(trial)))
    if ends:
        low, high = min(ends)[1], max(ends)[1]
        parts.append(
            say_many(
                len(ends),
                "{span} with {n} augmentation size[|s]",
                span=low if low == high else say("{low} to {high}", low=low, high=high),
            )
        )
    lead = measured[0][1]
    return say(
        _SIDE_BY_SIDE[lead.what],
        n=words.number(lead.n_samples),
        people=words.plural(spec.person),
        models=words.joined(parts),
    )


def _texts(measures: Sequence[Measure]) -> list[str]:
    """Write estimates of one thing alike, without their intervals."""
    digits = max(map(digits_for, measures))
    return [
        UNDEFINED if each.estimate is None else value_text(each, each.estimate, digits)
        for each in measures
    ]


def _differences(figures: Sequence[Metric], trial: Trial) -> str:
    """Say by how much a model differs from the original one and the baseline, and at what cost."""
    lead, accuracy = lead_of(figures, trial), result_of(trial, "accuracy")
    found = {
        "Change from the original model: {change}": (lead, 0),
        "from the retrained baseline: {change}": (lead, 1),
        "accuracy, from the original model: {change}": (accuracy, 0),
    }
    changes = {
        message: change_of(trial, measure, against)
        for message, (measure, against) in found.items()
        if measure is not None
    }
    said = [
        say(message, change=change_text(change, named=True))
        for message, change in changes.items()
        if change is not None
    ]
    return "; ".join(said) + "." if said else ""


def sentences(spec: AuditSpec, figures: Sequence[Metric]) -> tuple[str, ...]:
    """Say everything that a repair tells, a sentence or two each; what was chosen first."""
    if repair_of(figures) is None:
        return ()
    said = (*remarks(figures), *making(spec, figures))
    return headline(spec, figures).sentence, *(text for _, text in said)


def remarks(figures: Sequence[Metric]) -> list[tuple[str, str]]:
    """Return what must be known besides the headline, each with its first words."""
    repair = repair_of(figures)
    if repair is None:
        return []
    said = [("Certification.", certified_sentence(figures))]
    said += [("Note.", note) for note in repair.notes]
    said += [
        ("", say("{name}: no model was made. {why}", name=trial_name(each), why=each.failed))
        for each in trials_of(figures)
        if each.failed
    ]
    if repair.rows:
        labels = labels_sentence(source_of_labels(repair))
        matters = _MATTERS[repair.target != "rule_score"]
        said.append(("How the augmentation rows are labelled.", f"{labels} {matters}"))
    return [(lead, text) for lead, text in said if text]


def making(spec: AuditSpec, figures: Sequence[Metric]) -> list[tuple[str, str]]:
    """Return how the models were trained and why that ended, each with its first words."""
    repair = repair_of(figures)
    if repair is None:
        return []
    reweighing = (
        "Reweighing adds no rows: it weights the training rows so that protected groups and "
        "recorded outcomes are independent of each other (Kamiran and Calders, 2012)."
    )
    reweighed = any(each.name == "Reweighing" for each in trials_of(figures))
    said = [
        ("Reweighing.", reweighing if reweighed else ""),
        ("Training, validation and test rows.", split_sentence(spec, repair)),
        ("Why the search ended.", repair.ended),
    ]
    return [(lead, text) for lead, text in said if text]


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


def allowance_text(repair: Repair) -> str:
    """Write how much accuracy a model may lose: ``1 percentage point``."""
    points = words.short(repair.allowance)
    if repair.allowance == 1:
        return say("{n} percentage point", n=points)
    return say("{n} percentage points", n=points)


def stock_text(repair: Repair) -> str:
    """Say what rows can be made of: ``257 different discriminatory pairs``."""
    if repair.target == "rule_score":
        return say_many(repair.pairs, "{n} sample[|s] of the subgroup")
    # a pair that several runs found is one
    return say_many(repair.pairs, "{n}[| different] discriminatory pair[|s]")


def worse_sentence(trial: Trial, told: Collection[str] = (), most: int | None = None) -> str:
    """Say what is shown to be worse than with the original model; empty for nothing.

    Parameters
    ----------
    told : collection of str
        Measures that are told elsewhere.
    most : int, optional
        How many are named at most: decisions about individuals before what is known of scores.
    """
    found = [each for each in _worse(trial) if each.what not in told]
    found.sort(key=lambda each: each.what not in ("share_data", "share_domain"))
    parts = [f"{measure_name(each)}: {change_text(each, named=True)}" for each in found[:most]]
    if not parts:
        return ""
    return say("Worse than the original model: {measures}.", measures="; ".join(parts))


def certified_sentence(figures: Sequence[Metric]) -> str:
    """Say what is certified of the original and the chosen model; empty where nothing is."""
    first, last = (
        measure_of(each, "certified", "domain")
        for each in (trial_of(figures, 0), chosen_of(figures))
    )
    if first is None or last is None or first.estimate is None or last.estimate is None:
        return ""
    return say(
        "Certified share of the input domain, certified with one time limit for both: "
        "{before} for the original model, {after} for the mitigated model. Compare these two with "
        "each other only.",
        before=measure_text(first),
        after=measure_text(last),
    )


def effort_text(figures: Sequence[Metric]) -> str:
    """Say how many models were measured: ``9 models measured``; empty for none."""
    count = sum(bool(each.measures) for each in trials_of(figures))
    return say_many(count, "{n} model[|s] measured") if count else ""


def standing(figures: Sequence[Metric]) -> str:
    """Say in a few words how a repair stands; empty where nothing is measured yet."""
    return "; ".join(filter(None, (effort_text(figures), fall_text(figures))))


def fall_text(figures: Sequence[Metric]) -> str:
    """Say from what to what it fell: ``decision changes 3.5 % → 0.8 %``; empty for no choice."""
    repair, best = repair_of(figures), chosen_of(figures)
    if repair is None or best is None or best.number < 2:
        return ""
    fell = fall(figures)
    if not fell:
        return not_improved()
    return say(
        "gap {fall}" if repair.target == "rule_score" else "decision changes {fall}", fall=fell
    )


def fall(figures: Sequence[Metric]) -> str:
    """Write what the original and the chosen model are judged by: ``3.5 % → 0.8 %``.

    Empty where none is chosen, or it is no improvement.
    """
    before, after = (lead_of(figures, each) for each in (trial_of(figures, 0), chosen_of(figures)))
    if before is None or after is None or not improved(figures):
        return ""
    return " → ".join(both_texts(before, after))


def not_improved() -> str:
    """Say in few words that the chosen model is not shown to be better than the original one."""
    return "no improvement"


def _worse(trial: Trial) -> list[Change]:
    """Return what is shown to be worse than with the original model, as observed or estimated."""
    return [
        each
        for each in trial.changes
        if each.against == 0
        and each.rows != "validation"
        and known(each) != "proven"
        and shown(each)
        and ((each.difference or 0) > 0) != (each.what in _BETTER)
    ]


def _deed(trial: Trial, repair: Repair) -> str:
    """Say what makes a model another: ``850 augmentation rows added to 29,000``."""
    if trial.kind != "portion":
        return trial_name(trial)
    rows, train = rows_text(trial.added), words.number(repair.train)
    return say("{rows} added to {train} training rows", rows=rows, train=train)


def both_texts(before: Measure, after: Measure) -> tuple[str, str]:
    """Write two estimates of one thing alike, without their intervals."""
    first, last = _texts((before, after))
    # one unit is enough where it is a word
    return first.partition(" ")[0] if unit_of(before) == "points" else first, last
