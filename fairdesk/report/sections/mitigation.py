"""The report's section on repairs: what was added, how it was labelled, before and after."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import get_args

from fairdesk.answers.pictures import models
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunRecord
from fairdesk.document.blocks import (
    Block,
    Callout,
    Fact,
    Facts,
    Grid,
    Heading,
    Section,
    Text,
    appended,
    chart_block,
    stated,
)
from fairdesk.report.content.material import Material
from fairdesk.report.provenance import evidence
from fairdesk.results.mitigation import Repair
from fairdesk.results.trials import (
    chosen_of,
    lead_of,
    repair_of,
    source_of_labels,
    trials_of,
)
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import trials as trial_words
from fairdesk.wording import words
from fairdesk.wording.language import fixed, say, say_many
from fairdesk.wording.rules import rule_phrase

#: What a repair is, and what it is not.
WHAT = (
    "A mitigation makes augmentation rows from what was found, relabels them, adds them to "
    "the training data and retrains the model. The audited system is not changed: the results "
    "describe models that were trained in this audit, to measure whether this helps and what it "
    "costs."
)
_KINDS = (
    "Three types of evidence are kept apart. Observed figures were counted on the test rows, "
    "which no model retrained here was trained on. Estimated figures come from random "
    "samples, the same ones for every model. Proven figures cover the whole input domain. "
    "Intervals are 95 % confidence intervals; a change whose interval contains zero may be "
    "sampling error."
)
_CHOICE = (
    "This is a choice, and it matters: other labels give other data and another model. "
    "Anyone who trains with these rows adopts this choice."
)
_NO_CHOICE = (
    "The method was published in this form. Anyone who trains with these rows adopts this "
    "choice: the labels are wrong wherever the model was right."
)
#: Why the figures of a table are not those of other sections.
_AGAIN = fixed(
    {
        "observed": ". Of the test rows only; other sections count all rows. Changes of "
        "percentages are in percentage points",
        "estimated": ". From one random sample for all models. Changes are in percentage points",
    }
)
#: An interval in the cell of a table.
_INTERVAL = re.compile(r"\([−\d][^)]*\)")
#: How wide the columns of both tables are.
_TRIAL_WIDTHS = (1.1, 0.9, 1.1, 1.2, 1.3, 1.2, 1.2)
_BEFORE_AFTER_WIDTHS = (1.3, 1.15, 1.15, 1.15, 1.3, 1.3)


def mitigation(material: Material) -> Section:
    """Show what each repair tried, what came of it, and what that does not show."""
    blocks: list[Block] = []
    for run in material.repairs:
        blocks += _run_blocks(material, run)
    blocks += [Heading("What a mitigation is", appended=True), Text(WHAT), Text(_KINDS)]
    blocks += _not_shown(material)
    return Section("Mitigation", tuple(blocks))


def _run_blocks(material: Material, run: RunRecord) -> list[Block]:
    spec, repair = material.spec, repair_of(run.figures)
    blocks: list[Block] = [Heading(material.run_name(run))]
    if ended := words.ending(run):
        blocks.append(Callout("Incomplete.", ended))
    blocks.append(stated(mitigation_words.headline(spec, run.figures)))
    if repair is None:
        return [*blocks, Facts(tuple(_facts(material, run, repair)))]
    blocks += _chart(spec, run)
    blocks += [Text(note, lead="Note.") for note in repair.notes]
    blocks += _before_after(spec, run)
    if certified := mitigation_words.certified_sentence(run.figures):
        blocks.append(Text(certified, lead="Certification."))
    if repair.retrains:
        blocks.append(appended(_trials(spec, run)))
    blocks += [
        Text(each.failed, lead=say("{name}: no model was made.", name=trial_words.trial_name(each)))
        for each in trials_of(run.figures)
        if each.failed
    ]
    blocks += _files(material, run)
    blocks.append(Facts(tuple(_facts(material, run, repair)), appended=True))
    if repair.rows:
        labels = mitigation_words.labels_sentence(source_of_labels(repair))
        matters = _NO_CHOICE if repair.target == "rule_score" else _CHOICE
        blocks.append(Text(f"{labels} {matters}", lead="How the augmentation rows are labelled."))
    if reweighing := mitigation_words.reweighing_sentence(run.figures):
        blocks.append(Text(reweighing, lead="Reweighing."))
    if repair.retrains:
        blocks.append(
            Text(
                mitigation_words.split_sentence(spec, repair),
                lead="Training, validation and test rows.",
            )
        )
    if repair.ended:
        blocks.append(Text(repair.ended, lead="Why the search ended."))
    return blocks


def _facts(material: Material, run: RunRecord, repair: Repair | None) -> Iterable[Fact]:
    yield Fact("Target of the mitigation", repaired(material, run))
    if repair is not None:
        yield Fact(
            "Augmentation rows",
            say(
                "at most {rows}, made from {stock}",
                rows=words.number(repair.rows),
                stock=mitigation_words.stock_text(repair),
            ),
        )
        if repair.retrains:
            points = "percentage point" if repair.allowance == 1 else "percentage points"
            yield Fact(
                "Permitted accuracy loss",
                say(
                    "{allowance} {points} against the retrained baseline, on the validation rows; "
                    "a model that loses more is not chosen",
                    allowance=words.short(repair.allowance),
                    points=points,
                ),
            )
    yield Fact("State", words.state_word(run.state) + (f". {run.message}" if run.message else ""))
    yield Fact("Queries", words.number(run.queries))
    yield Fact("Time", words.duration(run.elapsed))
    yield Fact("Started", evidence.date_text(evidence.moment(run.started)))


def repaired(material: Material, run: RunRecord) -> str:
    """Say what a repair is about: a rule set, or pairs of which runs."""
    if run.spec.rule:
        outcome = (
            say("; the decision “{outcome}”", outcome=run.spec.outcome) if run.spec.outcome else ""
        )
        return say(
            "The subgroup {rule}{outcome}",
            rule=rule_phrase(material.spec, run.spec.rule),
            outcome=outcome,
        )
    flagged = "flagged pairs" if run.spec.flagged else "pairs found"
    if run.spec.pairs_of:
        which = words.joined([str(number) for number in run.spec.pairs_of])
        return say_many(
            len(run.spec.pairs_of),
            "The {flagged} by run {which}",
            "The {flagged} by runs {which}",
            flagged=flagged,
            which=which,
        )
    return (
        say("All flagged pairs")
        if run.spec.flagged
        else say("All {flagged} except dismissed ones", flagged=flagged)
    )


def _chart(spec: AuditSpec, run: RunRecord) -> list[Block]:
    """Draw what each model is judged by, in the order in which they were trained."""
    trials = trials_of(run.figures)
    chart = models(run.figures, trials)
    measure = lead_of(run.figures, trials[0]) if trials else None
    if measure is None or len(chart.bars) < 2:
        return []
    return [
        chart_block(
            chart,
            caption=say(
                "{measure}, with {confidence} confidence intervals",
                measure=trial_words.measure_name(spec, measure),
                confidence=words.percent_of("95"),
            ),
            key=f"front-{run.id}",
            evidence=trial_words.known(measure),
        )
    ]


def _trials(spec: AuditSpec, run: RunRecord) -> Grid:
    """List every model that was tried."""
    return Grid(
        header=trial_words.trial_heads(spec, run.figures),
        rows=_held(trial_words.trial_rows(spec, run.figures, units=False)),
        widths=_TRIAL_WIDTHS,
        right=trial_words.TRIAL_NUMBERS,
        caption=(
            "All models, with 95 % confidence intervals. Changes are in percentage points; a model "
            "is better or worse where their interval does not contain zero. Accuracy is observed "
            "on the test rows; the share of the input domain is estimated"
        ),
        key=f"trials-{run.id}",
    )


def _before_after(spec: AuditSpec, run: RunRecord) -> list[Block]:
    """Set what was chosen beside the model before, a table for each way of knowing."""
    figures = run.figures
    chosen = chosen_of(figures)
    if chosen is None or chosen.number < 1:
        return []
    name = trial_words.trial_name(chosen)
    blocks: list[Block] = []
    for how in get_args(trial_words.Known):
        for by_group in (False, True):
            rows = trial_words.before_after(
                spec, figures, chosen.number, how, by_group=by_group, units=False
            )
            if rows:
                text = trial_words.known_text(spec, how) + (", by group" if by_group else "")
                blocks.append(
                    Grid(
                        header=trial_words.BEFORE_AFTER,
                        rows=_held(rows),
                        widths=_BEFORE_AFTER_WIDTHS,
                        right=trial_words.BEFORE_AFTER_NUMBERS,
                        caption=say("{told}. Mitigated model: {name}", told=text, name=name)
                        + say(_AGAIN[how]),
                        key=f"{'groups' if by_group else 'after'}-{how}-{run.id}",
                        evidence=how,
                        appended=by_group,
                    )
                )
    return blocks


def _held(rows: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Keep each interval on one line."""

    def spaced(cell: str) -> str:
        return _INTERVAL.sub(lambda found: found[0].replace(" ", words.NBSP), cell)

    return tuple(tuple(map(spaced, row)) for row in rows)


def _files(material: Material, run: RunRecord) -> list[Block]:
    """List the files of the retrained models, by which they are known again."""
    made = [each for each in material.made.get(run.id, ()) if each.size]
    names = {trial.number: trial_words.trial_name(trial) for trial in trials_of(run.figures)}
    if not made:
        return []
    return [
        Grid(
            header=("Model", "File", "How the file was checked", "Bytes", "SHA-256"),
            rows=tuple(
                (
                    names.get(each.trial, str(each.trial)),
                    each.name,
                    each.remark,
                    words.number(each.size),
                    each.sha256,
                )
                for each in made
            ),
            widths=(1.0, 1.0, 2.2, 0.7, 2.2),
            right=(3,),
            caption="Files of the retrained models, kept in the audit file",
            key=f"files-{run.id}",
            appended=True,
        )
    ]


def _not_shown(material: Material) -> list[Block]:
    """Say what a repair does not show."""
    return [
        Heading("What this does not show"),
        Text(
            lead="Whether the labels are right.",
            text=say(
                "The outcome that an augmentation row would have had in reality is not "
                "known. The added labels are assigned in the way described above, and can carry on "
                "unfairness in the data or in the model."
            ),
        ),
        Text(
            lead=say("The effect on real {people}.", people=material.people),
            text=say(
                "The augmentation rows are not new real cases. Estimated shares of the input "
                "domain count every combination of allowed values as equally likely. What is "
                "observed on the test rows holds for data rows only."
            ),
        ),
        Text(
            lead="What the original model was trained on.",
            text=(
                "It may have been trained on rows that are test rows here, which would make it "
                "look more accurate. The retrained baseline, the same model retrained on the same "
                "rows without augmentation rows, shows what the augmentation rows change."
            ),
        ),
        Text(
            lead="Whether other groups do worse.",
            text=(
                "Only the groups in the tables were examined. Before using a retrained model, "
                "repeat the audit with it."
            ),
        ),
        Text(
            lead="Whether the results are valid elsewhere.",
            text=say(
                "The results were measured on these data. Nothing is shown for other "
                "{people}, for a later time or for training with other settings.",
                people=material.people,
            ),
        ),
    ]
