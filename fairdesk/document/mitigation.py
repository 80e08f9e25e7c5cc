"""What came of a mitigation, as blocks: its statement, its models, before and after, its making.

All models are measured on the same rows. Blocks are named by the number of their run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from fairdesk.audit.plan.spec import AuditSpec, RunSpec
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.charts.kinds.shares import Models
from fairdesk.document.blocks import (
    Block,
    Chart,
    Fact,
    Facts,
    Grid,
    Statement,
    Text,
    chart_block,
    stated,
)
from fairdesk.results.mitigation import Measure, Trial
from fairdesk.results.trials import (
    change_of,
    chosen_of,
    lead_of,
    repair_of,
    result_of,
    same_measure,
    trial_of,
    trials_of,
)
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import trials as trial_words
from fairdesk.wording import words
from fairdesk.wording.language import say, say_many
from fairdesk.wording.rules import rule_phrase
from fairdesk.wording.trials import Known, change_text, measure_name, measure_text, trial_name

Run = RunRecord | RunState

#: What a mitigation is, and what it is not.
WHAT = (
    "A mitigation makes augmentation rows from what was found, relabels them, adds them to "
    "the training data and retrains the model. The audited system is not changed: the results "
    "describe models that were trained in this audit, to measure whether this helps and what it "
    "costs."
)
#: What no mitigation shows, each with its first words.
NOT_SHOWN = "What this does not show"
_LIMITS: dict[str, str] = {
    "Whether the labels are right.": (
        "The outcome that an augmentation row would have had in reality is not known. The "
        "added labels are assigned in the way described above, and can carry on unfairness in "
        "the data or in the model."
    ),
    "The effect on real {people}.": (
        "The augmentation rows are not new real cases. Estimated shares of the input domain "
        "count every combination of allowed values as equally likely. What is observed on the "
        "test rows holds for data rows only."
    ),
    "What the original model was trained on.": (
        "It may have been trained on rows that are test rows here, which would make it look "
        "more accurate. The retrained baseline, the same model retrained on the same rows "
        "without augmentation rows, shows what the augmentation rows change."
    ),
    "Whether other groups do worse.": (
        "Only the groups in the tables were examined. Before using a retrained model, repeat "
        "the audit with it."
    ),
    "Whether the results are valid elsewhere.": (
        "The results were measured on these data. Nothing is shown for other {people}, for a "
        "later time or for training with other settings."
    ),
}
#: What of the figures of a table is not as in other sections.
_NOTES: dict[Known, str] = {
    "observed": (
        "with 95 % confidence intervals; of the test rows only, while other sections count all "
        "rows; changes of percentages are in percentage points"
    ),
    "estimated": (
        "with 95 % confidence intervals; from one random sample for all models; changes are in "
        "percentage points"
    ),
}
#: What only the exported files hold: who reads a table cannot tell what such a number should be.
_FOR_EXPERTS = ("brier", "calibration")
#: Of groups; where the interval of a change is half the scale or wider, it tells nothing.
_OF_GROUPS, _TELLS_NOTHING = ("impact_ratio", "rate_gap", "error_gap"), 0.5
#: An interval in the cell of a table.
_INTERVAL = re.compile(r"\([−\d][^)]*\)")


def compose(spec: AuditSpec, run: Run) -> list[Block]:
    """Return all that a run of a mitigation tells: first what is quoted, last how it was made."""
    chosen = chosen_of(run.figures)
    return [
        statement(spec, run),
        *models(run),
        *(before_after(run, chosen.number) if chosen is not None and chosen.number else ()),
        *remarks(run),
        *(replace(each, appended=True) for each in candidates(run)),
        *making(spec, run),
    ]


def statement(spec: AuditSpec, run: Run) -> Statement:
    """State whether it helped, and at what cost."""
    said = mitigation_words.headline(spec, run.figures)
    more = said.sentence.removeprefix(said.brief).strip()
    message = run.message if run.state == "done" else ""
    return stated(replace(said, sentence=said.shortest), (more if said.brief else "", message))


def models(run: Run) -> list[Chart]:
    """Draw what each model is judged by, in the order in which they were trained."""
    trials = trials_of(run.figures)
    measure = lead_of(run.figures, trials[0]) if trials else None
    if measure is None:
        return []
    name = measure_name(measure)
    chart = Models.of(run.figures, trials, name)
    if len(chart.bars) < 2:
        return []
    caption = say(
        "{measure}, with {confidence} confidence intervals",
        measure=name,
        confidence=words.percent_of("95"),
    )
    evidence = trial_words.known(measure)
    return [chart_block(chart, caption, key=f"models-{run.id}", evidence=evidence)]


def candidates(run: Run) -> list[Grid]:
    """List every model that was tried, with the change whose interval is the verdict."""
    figures, repair = run.figures, repair_of(run.figures)
    lead = lead_of(figures, trial_of(figures, 0))
    if repair is None or not repair.retrains:
        return []
    return [
        Grid(
            header=(
                "Model",
                "Accuracy",
                "Decision changes" if lead is None else measure_name(lead),
                "Change from original",
                "Compared with original",
            ),
            rows=tuple(
                (
                    _sized(each),
                    _cell(measure_text(result_of(each, "accuracy"))),
                    _cell(measure_text(measure := lead_of(figures, each))),
                    _changed(each, measure, 0),
                    trial_words.outcome_text(figures, each),
                )
                for each in trials_of(figures)
            ),
            widths=(1.5, 1.2, 1.4, 1.4, 1.4),
            right=(1, 2, 3),
            caption="All models",
            key=f"trials-{run.id}",
            note="with 95 % confidence intervals; changes are in percentage points, and a model is "
            "better or worse where their interval does not contain zero; accuracy is observed "
            "on the test rows",
        )
    ]


def _sized(trial: Trial) -> str:
    """Name a model, with the share of the training rows that was added."""
    share = trial_words.portion_text(trial) if trial.kind == "portion" and trial.percent else ""
    return f"{trial_name(trial)} ({share})" if share else trial_name(trial)


def before_after(run: Run, number: int) -> list[Grid]:
    """Set a model beside the original one and the baseline, a table for each way of knowing.

    Those about groups are in the appendix, without the measures of groups that are too small to
    tell anything. What is certified is told apart: the difference of two bounds bounds nothing.
    """
    trial = trial_of(run.figures, number)
    if trial is None:
        return []
    found = (
        _before_after(run, trial, how, groups=groups) for how in _NOTES for groups in (False, True)
    )
    return [grid for grid in found if grid.rows]


def _before_after(run: Run, trial: Trial, how: Known, *, groups: bool) -> Grid:
    original, plain = (trial_of(run.figures, each) for each in (0, 1))
    measures = [each for each in trial.measures if _is_listed(trial, each, how, groups=groups)]
    heads = (
        "Measure",
        "Original model",
        "Retrained baseline",
        trial_name(trial) if trial.number > 1 else "",
        "Change from original",
        "Change from baseline",
    )
    cells = [
        (
            measure_name(each),
            _cell(measure_text(same_measure(original, each))),
            _cell(measure_text(same_measure(plain, each))),
            _cell(measure_text(each)),
            _changed(trial, each, 0),
            _changed(trial, each, 1),
        )
        for each in measures
    ]
    # beside the original model itself, or where nothing was trained, some columns are of nothing
    kept = [at for at, head in enumerate(heads) if head and any(row[at] != "–" for row in cells)]
    caption = trial_words.known_text(how)
    return Grid(
        header=tuple(heads[at] for at in kept),
        rows=tuple(tuple(row[at] for at in kept) for row in cells),
        widths=tuple(1.3 if at in (0, 4, 5) else 1.15 for at in kept),
        right=tuple(range(1, len(kept))),
        caption=say("{known}, by group", known=caption) if groups else caption,
        key=f"{'groups' if groups else 'after'}-{how}-{run.id}",
        evidence=how,
        appended=groups,
        note=_NOTES[how],
    )


def _is_listed(trial: Trial, measure: Measure, how: Known, *, groups: bool) -> bool:
    changes = (change_of(trial, measure, against) for against in (0, 1))
    tells_nothing = measure.what in _OF_GROUPS and any(
        (each.high or 0.0) - (each.low or 0.0) >= _TELLS_NOTHING for each in changes if each
    )
    return (
        trial_words.known(measure) == how
        and bool(measure.of) is groups
        and measure.rows != "validation"
        and measure.what not in _FOR_EXPERTS
        and not tells_nothing
    )


def _changed(trial: Trial, measure: Measure | None, against: int) -> str:
    change = None if measure is None else change_of(trial, measure, against)
    return _cell(change_text(change, unit=False))


def _cell(text: str) -> str:
    """Keep an interval on one line."""
    return _INTERVAL.sub(lambda found: found[0].replace(" ", words.NBSP), text)


def remarks(run: Run) -> list[Text]:
    """Say what must be known besides the statement."""
    return [Text(text, lead=lead) for lead, text in mitigation_words.remarks(run.figures)]


def making(spec: AuditSpec, run: Run) -> list[Block]:
    """Say what it started from, how the models were trained, and why it ended."""
    facts = tuple(_facts(spec, run))
    said = mitigation_words.making(spec, run.figures)
    return [
        *([Facts(facts, appended=True)] if facts else []),
        *(Text(text, lead=lead, appended=True) for lead, text in said),
    ]


def _facts(spec: AuditSpec, run: Run) -> Iterator[Fact]:
    repair = repair_of(run.figures)
    if isinstance(run, RunRecord):
        yield Fact("Target of the mitigation", target(spec, run.spec))
    if repair is not None:
        rows, stock = words.number(repair.rows), mitigation_words.stock_text(repair)
        made = say("at most {rows}, made from {stock}", rows=rows, stock=stock)
        yield Fact("Augmentation rows", made)
    if repair is not None and repair.retrains:
        allowed = say(
            "{allowance} against the retrained baseline, on the validation rows; a model that "
            "loses more is not chosen",
            allowance=mitigation_words.allowance_text(repair),
        )
        yield Fact("Permitted accuracy loss", allowed)


def target(spec: AuditSpec, asked: RunSpec) -> str:
    """Say what a mitigation is about: a subgroup, or the pairs of which runs."""
    if asked.rule:
        outcome = say("; the decision “{outcome}”", outcome=asked.outcome) if asked.outcome else ""
        rule = rule_phrase(spec, asked.rule)
        return say("The subgroup {rule}{outcome}", rule=rule, outcome=outcome)
    flagged = "flagged pairs" if asked.flagged else "pairs found"
    if asked.pairs_of:
        return say_many(
            len(asked.pairs_of),
            "The {flagged} by run[|s] {which}",
            flagged=flagged,
            which=words.joined([str(number) for number in asked.pairs_of]),
        )
    if asked.flagged:
        return "All flagged pairs"
    return say("All {flagged} except dismissed ones", flagged=flagged)


def limits(spec: AuditSpec) -> list[Text]:
    """Say what no mitigation shows."""
    people = words.plural(spec.person)
    return [
        Text(say(text, people=people), lead=say(lead, people=people))
        for lead, text in _LIMITS.items()
    ]
