"""The report's sections on how the groups of real people fare: rates, and errors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TypeVar

import msgspec

from fairdesk.answers import decision_tables
from fairdesk.audit.store.records import RunRecord
from fairdesk.document import groups
from fairdesk.document.blocks import (
    Block,
    Callout,
    Chart,
    Grid,
    Heading,
    Section,
    Text,
    appended,
)
from fairdesk.document.board import errors_message, rates_message
from fairdesk.groups.options import LEAST_SHARE
from fairdesk.report.content.material import Material, not_run
from fairdesk.report.content.passages import NO_ADVICE, notes
from fairdesk.results.groups import GroupTable
from fairdesk.wording import words
from fairdesk.wording.groups import impact_ratio as ratio_words
from fairdesk.wording.groups import tables as table_words
from fairdesk.wording.language import say

_Shown = TypeVar("_Shown", Grid, Chart)

_TITLES = {
    "label": "Recorded outcomes",
    "decisions": "Decisions",
    "scores": "Scores",
}
#: Of so many attributes together tables are shown; all are in the file “groups.csv”.
_TOGETHER = {"label": 1, "decisions": 10, "scores": 2}
#: And so many of such intersections; the others where the auditor asks for them.
_CROSSED = 12
#: With more tables than this the others are in the file “groups.csv” only.
_MOST_TABLES = 60
_NOT_MEASURED = (
    "Group metrics. The run would show how often the model’s own decisions are favourable in "
    "each group and each intersectional subgroup, with impact ratios, tests and intervals, "
    "and scoring rates. The recorded outcomes in the data are counted below."
)
_NOT_JUDGED = (
    "error rates. They need a run of “Group metrics” on decisions, and recorded outcomes to "
    "compare these with. They would show how often decisions differ from the recorded "
    "outcomes in each group: true and false positive rates, precision, accuracy, and "
    "calibration by bin."
)


def outcomes(material: Material) -> Section:
    """Show how often each group gets the favourable outcome: observed in the rows of the data."""
    run = material.measured
    if run is None:
        counted = groups.observed(material.spec, material.observed)
        none = Text("No attribute is protected, so there are no groups to compare.")
        blocks: list[Block] = [not_run(_NOT_MEASURED), *counted] if counted else [none]
        return Section("Group metrics", tuple(blocks))
    blocks = [
        Text(
            say(
                "Counted in the rows of the data.{all} Each group is compared with the reference: "
                "the group with the highest rate or, where that has less than a tenth of the rows, "
                "the largest{small}. {more}",
                all=_of_all_rows(material),
                small=_small(run),
                more=" ".join((words.FOUR_FIFTHS, *ratio_words.tested(material.group_tables))),
            ),
            lead=rates_message(material.spec, decision_tables(material.runs)),
        ),
    ]
    if ended := words.ending(run):
        blocks.append(Callout("Incomplete.", ended))
    main = _main(material)
    # what is quoted first; the rest is in the appendix
    ordered = sorted(material.group_tables, key=lambda table: table.of != main)
    for of, tables in groupby(ordered, key=lambda table: table.of):
        held = list(tables)
        shown = _shown(held, _TOGETHER[of])
        # beside decisions, who has a score above the median is of use to few
        asked_for = (key.startswith("outcomes/rates-scores") for key in material.choice.added)
        if of == "scores" != main and not any(asked_for):
            shown = []
        medians = set(map(table_words.median_sentence, held))
        once = medians.pop() if len(medians) == 1 else ""
        said = f"{table_words.counted_sentence(material.spec, held[0])} {once}".rstrip()
        if of != main:
            blocks.append(Heading(_TITLES[of], appended=True))
        blocks += [Text(said)] if shown else []
        for table in (*shown, *(each for each in held if each not in shown)):
            if table in shown or len(held) <= _MOST_TABLES:
                blocks += _table(material, table, once, optional=table not in shown)
    asked = notes(material.choice.template)
    if asked and "rules" not in material.chapters:
        blocks += [Heading("What rules say", appended=True), *asked, Text(NO_ADVICE)]
    return Section("Group metrics", tuple(blocks))


def _of_all_rows(material: Material) -> str:
    """Say which share of all rows is selected, by the model and in the records."""
    first = {each.of: each for each in reversed(material.group_tables)}
    decided, recorded = first.get("decisions"), first.get("label")
    if decided is None or not decided.n_samples:
        return ""
    said = say(
        " Of all {people}, {share} are selected",
        people=words.counted(decided.n_samples, material.spec.person),
        share=words.percent(decided.favourable, decided.n_samples),
    )
    if recorded is None or not recorded.n_samples:
        return f"{said}."
    share = words.percent(recorded.favourable, recorded.n_samples)
    return say("{said}; in the records {share}.", said=said, share=share)


def _small(run: RunRecord) -> str:
    """Say which groups are not compared, as the end of a sentence."""
    least = float(run.spec.options.get("least_share", LEAST_SHARE))
    if not least:
        return ""
    least_text = words.percent_of(f"{100 * least:g}")
    return say("; groups of less than {least} of the rows are too few to compare", least=least_text)


def _main(material: Material) -> str:
    """Return of what tables are in the section itself, and not in the appendix."""
    measured = {table.of for table in material.group_tables}
    return next(of for of in ("decisions", "label", "scores") if of in measured)


def errors(material: Material) -> Section:
    """Show how often each group is decided about otherwise than its labels say."""
    spec = material.spec
    tables = [each for each in material.group_tables if groups.is_judged(each)]
    if not tables:
        return Section("Error rates by group", (not_run(_NOT_JUDGED),))
    shown = _shown(tables, _TOGETHER["scores"])
    alone = [each for each in shown if len(each.attributes) == 1]
    blocks: list[Block] = [
        Text(
            say(
                "{right}The true positive rate is the share selected of the {people} recorded "
                "“{outcome}” in the column {label}; the false positive rate is the share selected "
                "of those not recorded “{outcome}”: being selected is an advantage to them. If "
                "past outcomes were unjust, both can mislead. Stated first is the largest of the "
                "differences from the reference group whose 95\u00a0% intervals exclude zero; the "
                "largest of several tends to look larger than it is. Differences are of unrounded "
                "rates.",
                right=_accuracy(tables[0], material.people),
                people=material.people,
                outcome=spec.favourable,
                label=words.quoted(spec.label),
            ),
            lead=" ".join(filter(None, (errors_message(spec, [each]) for each in alone))),
        )
    ]
    for each in alone:
        blocks += groups.errors(spec, each)
    if len(alone) < len(shown):
        blocks.append(Heading("Several attributes together", appended=True))
        blocks += [
            block for each in shown if each not in alone for block in groups.errors(spec, each)
        ]
    scored = [each for each in material.group_tables if len(each.attributes) == 1]
    if curves := [chart for each in scored for chart in groups.calibration(each)]:
        blocks += [Heading("Calibration", appended=True), *curves]
    return Section("Error rates by group", tuple(blocks))


def _accuracy(table: GroupTable, people: str) -> str:
    """Say for how many the decision matches the records, beside always deciding the same."""
    lines = [line for line in table.lines if line.positives is not None]
    positives = sum(line.positives or 0 for line in lines)
    negatives = sum(line.negatives or 0 for line in lines)
    matching = sum((e.true_positives or 0) - (e.false_positives or 0) for e in lines) + negatives
    if not (n := positives + negatives):
        return ""
    return say(
        "The decision matches the recorded outcome for {share} of the {people}; always deciding "
        "the more frequent outcome would match {most}. ",
        share=words.percent(matching, n),
        most=words.percent(max(positives, negatives), n),
        people=people,
    )


def _shown(tables: Sequence[GroupTable], together: int) -> list[GroupTable]:
    """Choose the tables of single attributes, and the first intersections of not too many."""
    alone = ratio_words.ranked(table for table in tables if len(table.attributes) == 1)
    crossed = [table for table in tables if 1 < len(table.attributes) <= together]
    return alone + crossed[:_CROSSED]


def _table(material: Material, table: GroupTable, once: str, *, optional: bool) -> list[Block]:
    """Say, list and draw what a table holds; of one that is optional only the lists.

    Stated and listed by one attribute is what stays in the section; the rest is in the appendix.
    ``once`` was said of all tables.
    """
    spec, main, alone = material.spec, table.of == _main(material), len(table.attributes) == 1
    recorded = material.group_tables if alone else ()
    rates = groups.rates(spec, table, recorded=recorded)
    against = groups.against(spec, table)
    drawn = [*groups.charts(spec, table), *groups.ratios(spec, table)]
    # of scores beside decisions a ratio is enough; the file “groups.csv” has the rest
    if optional or (table.of == "scores" and not main):
        rates = _on_demand(rates)
    if optional or not alone or table.of != "decisions":
        against = _on_demand(against)
    if optional:
        return [appended(rates), appended(against)]
    return [
        groups.statement(spec, table, (once,)),
        rates if alone else appended(rates),
        *(appended(each if main else _on_demand(each)) for each in drawn),
        appended(against),
    ]


def _on_demand(block: _Shown) -> _Shown:
    return msgspec.structs.replace(block, optional=True)
