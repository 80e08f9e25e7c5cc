"""The report's sections on how the groups of real people fare: rates, and errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec
import numpy as np

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunRecord
from fairdesk.charts.kinds.forest import Forest, Ratio, Ratios
from fairdesk.charts.kinds.heat import Heat
from fairdesk.charts.kinds.lines import Drawing, Line, Mark
from fairdesk.document.blocks import (
    Block,
    Callout,
    Chart,
    Grid,
    Heading,
    Section,
    Text,
    appended,
    chart_block,
    stated,
)
from fairdesk.groups.options import LEAST_SHARE
from fairdesk.report.content.material import Material, not_run
from fairdesk.report.legal import NO_ADVICE, notes
from fairdesk.report.sections import group_tables as groups
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.wording import words
from fairdesk.wording.groups import columns as group_columns
from fairdesk.wording.groups import sentences as group_words
from fairdesk.wording.groups import tables as table_words
from fairdesk.wording.groups.columns import Column
from fairdesk.wording.groups.tables import errors_statement, ratio_interval
from fairdesk.wording.language import fixed, say

#: Groups listed per table; all are in the file “groups.csv”.
_SHOWN = 40
#: With fewer people than this a share says next to nothing.
_FEW = 30
#: The columns on errors, with their widths; what is quoted of them; and what only experts use.
_ERRORS = {
    "n_samples": 0.7,
    "tpr": 1.0,
    "fpr": 1.0,
    "accuracy": 0.85,
    "precision": 1.0,
    "equal": 1.05,
}
_QUOTED, _FURTHER = ("n_samples", "tpr", "fpr", "accuracy"), ("precision", "equal")
#: What is not told of groups that are not compared.
_COMPARED = ("impact", "shortfall", "difference", "test", "p", "holm", "smd", "equal", "odds")
#: Groups with a curve of their own.
_CURVES = 6
#: Groups drawn per chart.
_DRAWN = 25
#: Values of an attribute up to which two of them make a map that can be read.
_MAP_ROWS, _MAP_COLUMNS = 16, 7
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
#: What the columns are whose names do not say it.
_MEANINGS = fixed(
    {
        "smd": (
            "SMD: difference in mean scores from the reference group, in standard deviations of "
            "all scores"
        ),
    }
)
#: The group with which others are compared.
_REFERENCE = fixed(
    "the group with the highest rate of favourable decisions, or else outcomes, if it has at least "
    "a tenth of the rows and 30 of them, and otherwise the largest group"
)
#: Of scores, by whether the lower ones are favourable: what is counted, and the chart's axis.
_SCORING_RATE = fixed(
    {
        False: (
            "How often the model’s score for “{outcome}” is above the median of all: the scoring "
            "rate, which is not a rate of decisions."
        ),
        True: (
            "How often the model’s score is below the median of all, which is the favourable side "
            "for “{outcome}”: the scoring rate, which is not a rate of decisions."
        ),
    }
)
_SCORED_SHARE = fixed({False: "share above the median", True: "share below the median"})
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
        counted = groups.blocks(material)
        none = Text("No attribute is protected, so there are no groups to compare.")
        blocks: list[Block] = [not_run(_NOT_MEASURED), *counted] if counted else [none]
        return Section("Group metrics", tuple(blocks))
    blocks = [
        Text(
            say(
                "Counted in the rows of the data ({run_name}). The rate of each group is "
                "compared with that of the reference group: {reference}. It is the same in all "
                "tables of the same attributes. {more}",
                reference=_reference(run),
                more=" ".join(
                    (say(words.FOUR_FIFTHS), *group_words.corrected(material.group_tables))
                ),
                run_name=material.run_name(run),
            )
        )
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
        said = " ".join(filter(None, (_what(material, held[0]), once)))
        blocks.append(Heading(_TITLES[of], appended=of != main))
        blocks += [Text(said)] if shown else []
        for table in held:
            if table in shown or len(held) <= _MOST_TABLES:
                optional = table not in shown
                blocks += _table(material, table, once, optional=optional, main=of == main)
    asked = notes(material.choice.template)
    if asked and "rules" not in material.chapters:
        blocks += [Heading("What rules say", appended=True), *asked, Text(NO_ADVICE)]
    return Section("Group metrics", tuple(blocks))


def _reference(run: RunRecord) -> str:
    """Say which group the others of a table are compared with."""
    least = float(run.spec.options.get("least_share", LEAST_SHARE))
    if not least:
        return say(_REFERENCE)
    return say(
        "{reference}; groups of less than {least} of the rows are not compared",
        reference=say(_REFERENCE),
        least=words.percent_of(f"{100 * least:g}"),
    )


def _main(material: Material) -> str:
    """Return of what tables are in the section itself, and not in the appendix."""
    measured = {table.of for table in material.group_tables}
    return next(of for of in ("decisions", "label", "scores") if of in measured)


def errors(material: Material) -> Section:
    """Show how often each group is decided about otherwise than its labels say."""
    spec = material.spec
    tables = [
        table
        for table in material.group_tables
        if any(line.positives is not None for line in table.lines)
    ]
    if not tables:
        return Section("Error rates by group", (not_run(_NOT_JUDGED),))
    shown = _shown(tables, _TOGETHER["scores"])
    blocks: list[Block] = [
        Text(
            say(
                "The decisions for the {people} in the data are compared with their recorded "
                "outcomes ({label}). If past outcomes were unjust, these error rates are "
                "misleading. The true positive rate is the share of favourable decisions where "
                "the recorded outcome is favourable; the false positive rate is that share where "
                "it is not. The reference group is that of the other tables of the same "
                "attributes. The largest gap was picked for its size, so the true gap may be "
                "smaller.",
                people=material.people,
                label=words.quoted(spec.label),
            )
        )
    ]
    for each in shown:
        if len(each.attributes) == 1:
            blocks += _judged(spec, each, _QUOTED)
    further = [_judged_grid(spec, each, _FURTHER) for each in shown if len(each.attributes) == 1]
    if further:
        blocks.append(
            appended(
                Text(
                    "Precision is the share of favourable decisions whose recorded outcome is "
                    "favourable. Equal opportunity is the difference in true positive rates, in "
                    "percentage points."
                )
            )
        )
        blocks += map(appended, further)
    if crossed := [table for table in shown if len(table.attributes) > 1]:
        blocks.append(Heading("Several attributes together", appended=True))
        for table in crossed:
            blocks += _judged(spec, table, (*_QUOTED, *_FURTHER))
    blocks += map(appended, _calibration(material))
    return Section("Error rates by group", tuple(blocks))


def _judged(spec: AuditSpec, table: GroupTable, keys: Sequence[str]) -> Iterator[Block]:
    """Yield what one table says of errors, and its list."""
    if said := errors_statement(spec, table):
        yield stated(said)
    yield _judged_grid(spec, table, keys)


def _judged_grid(spec: AuditSpec, table: GroupTable, keys: Sequence[str]) -> Grid:
    """List some of the errors of each group, by the keys of their columns."""
    title = table_words.table_title(spec, table)
    grid = _grid(
        table,
        keys,
        say("{title}, compared with the recorded outcomes", title=title),
        (_named(table), *(_ERRORS[key] for key in keys)),
        _key("errors" if "tpr" in keys else "further-errors", table),
    )
    group, *heads = grid.header
    # the unit is told once, in the text
    return msgspec.structs.replace(grid, header=(group, *(each.split(", ")[0] for each in heads)))


def _key(what: str, table: GroupTable) -> str:
    """Name a block about a table: the same whatever the table holds."""
    outcome = f"-{table.outcome}" if table.outcome else ""
    return f"{what}-{table.of}{outcome}-{'-'.join(table.attributes)}"


def _shown(tables: Sequence[GroupTable], together: int) -> list[GroupTable]:
    """Choose the tables of single attributes, and the first intersections of not too many."""
    alone = [table for table in tables if len(table.attributes) == 1]
    crossed = [table for table in tables if 1 < len(table.attributes) <= together]
    return alone + crossed[:_CROSSED]


def _what(material: Material, table: GroupTable) -> str:
    outcome = table_words.outcome_of(material.spec, table)
    match table.of:
        case "label":
            return say(
                "How often the recorded outcome {label} is “{outcome}”. This describes the "
                "data, not the model.",
                label=words.quoted(material.spec.label),
                outcome=outcome,
            )
        case "decisions":
            if column := material.spec.predictions:
                return say(
                    "How often the decision in the column {column} is “{outcome}”.",
                    column=words.quoted(column),
                    outcome=outcome,
                )
            return say(
                "How often the model’s own decision for the {people} in the data is “{outcome}”.",
                people=material.people,
                outcome=outcome,
            )
        case "scores":
            return say(
                _SCORING_RATE[table.falls],
                outcome=outcome,
            )


def _table(
    material: Material, table: GroupTable, once: str, *, optional: bool, main: bool
) -> list[Block]:
    """Say, list and draw what one table holds; of one that is optional only the lists.

    ``once`` was said of all tables. Of the ``main`` ones what is said stays in the section, and the
    list of one attribute with what is quoted of it; all else is in the appendix.
    """
    title = table_words.table_title(material.spec, table)
    alone = len(table.attributes) == 1
    said: list[Block] = []
    charts: list[Block] = []
    if not optional:
        worst = table_words.worst_statement(material.spec, table)
        # the table itself says which groups are too small
        told = table_words.table_sentences(material.spec, table, errors=False, small=not alone)
        rest = tuple(each for each in told if each != once)
        if worst.value:
            said.append(stated(worst, rest))
        else:
            said.append(
                Text(
                    " ".join((worst.sentence, *rest)),
                    lead=say("By {attributes}.", attributes=words.listed(table.attributes)),
                )
            )
        if alone:
            outcome = table_words.outcome_of(material.spec, table)
            share = (
                say(_SCORED_SHARE[table.falls])
                if table.of == "scores"
                else say("share with “{outcome}”", outcome=outcome)
            )
            charts += _forest(table, title, share, optional=not main)
            charts += _ratios(table, title)
        if len(table.attributes) == 2 and table.of != "scores":
            charts += _map(table, title)
    brief = main and alone
    last = ("mean", "smd") if table.of == "scores" else ()
    keys = ("n_samples", "favourable", "rate", "interval", "impact")
    widths: tuple[float, ...] = (_named(table), 0.7, 0.95, 0.75, 1.25, 1.05)
    if not brief:
        keys = ("n_samples", "share", *keys[1:], *last)
        widths = (*widths[:2], 0.7, *widths[2:], *(0.9 for _ in last))
    # of scores beside decisions a ratio is enough; the file “groups.csv” has the rest
    spare = optional or (table.of == "scores" and not main)
    rates = _grid(table, keys, title, widths, _key("rates", table), optional=spare)
    against = _against(table, title, optional=optional)
    further = [*charts, *([] if brief else [rates]), against]
    return [*said, *([rates] if brief else []), *(map(appended, further) if main else further)]


def _against(table: GroupTable, title: str, *, optional: bool) -> Grid:
    """Compare each group with the reference: ratio, difference, test."""
    made = {column.key: column for column in group_columns.columns(table)}
    lines = table.lines[:_SHOWN]
    best = table.lines[table.reference] if table.reference >= 0 else None
    reference = ", ".join(best.values) if best else "none"
    return Grid(
        header=(
            words.listed(table.attributes),
            say("Impact ratio ({percent} CI)", percent=words.percent_of("95")),
            made["difference"].head,
            # of two groups there is one test
            "p" if sum(line.impact_ratio is not None for line in lines) == 2 else "Corrected p",
        ),
        rows=tuple(
            (
                ", ".join(line.values),
                _cell(made["impact"], table, line) + _ends(table, line),
                *(
                    say("too few") if line.excluded else _cell(made[key], table, line)
                    for key in ("difference", "holm")
                ),
            )
            for line in lines
        ),
        widths=(_named(table), 1.5, 1.8, 1.0),
        right=(1, 2, 3),
        caption=say(
            "{title}: compared with the reference group ({reference})",
            title=title,
            reference=reference,
        ),
        key=_key("against", table),
        optional=optional or len(table.attributes) > 1 or table.of != "decisions",
        evidence="observed",
        appended=True,
    )


def _ends(table: GroupTable, line: GroupLine) -> str:
    """Write the interval of an impact ratio, where there is one."""
    ends = ratio_interval(table, line)
    if ends is None:
        return ""
    low, high = (words.number(end, 2) for end in ends)
    return f" ({words.ends(low, high)})"


def _named(table: GroupTable) -> float:
    """Return the width of the column of groups: more for intersections, whose names are longer."""
    return 1.1 + 0.7 * len(table.attributes)


def _grid(
    table: GroupTable,
    keys: Sequence[str],
    caption: str,
    widths: tuple[float, ...],
    key: str,
    *,
    optional: bool = False,
) -> Grid:
    """List the groups, their values in one column."""
    made = {column.key: column for column in group_columns.columns(table)}
    chosen = [made[key] for key in keys]
    lines = table.lines[:_SHOWN]
    if len(table.lines) > len(lines):
        caption += say(
            "; the first {shown} of {groups} groups; all are in the file “groups.csv”",
            shown=words.number(len(lines)),
            groups=words.number(len(table.lines)),
        )
    if any(line.excluded for line in lines):
        caption += say(
            "; “too few” is under {percent} of those whose group is recorded",
            percent=words.percent_of("2"),
        )
    if "impact" in keys:
        if table.unknown:
            caption += say(
                "; group recorded: {people}; group not recorded: {unknown}",
                people=words.number(table.n_samples),
                unknown=words.number(table.unknown),
            )
        if any(line.below for line in lines):
            caption += "; * below the four-fifths threshold"
        if any(line.flips for line in lines):
            caption += "; ‡ one individual more or fewer would change this"
    average = words.percent(table.favourable, table.n_samples)
    caption += "".join(
        f"; {say(said, rate=average)}" for key, said in _MEANINGS.items() if key in keys
    )
    return Grid(
        header=(words.listed(table.attributes), *(column.head for column in chosen)),
        rows=tuple(
            (", ".join(line.values), *(_cell(column, table, line) for column in chosen))
            for line in lines
        ),
        widths=widths,
        right=tuple(range(1, len(chosen) + 1)),
        caption=caption,
        key=key,
        optional=optional,
        evidence="observed",
    )


def _cell(column: Column, table: GroupTable, line: GroupLine) -> str:
    text = column.text(table, line)
    if not line.known and column.key in _COMPARED:
        return "–"
    if column.key != "impact":
        return text.replace("below", "<")
    return f"{text}{'*' if line.below else ''}{'‡' if line.flips else ''}"


def _forest(table: GroupTable, title: str, share: str, *, optional: bool) -> list[Block]:
    if all(line.rate is None for line in table.lines):
        return []
    caption = say("{title}: rates with confidence intervals", title=title)
    chart = Forest(table, title, counts=share, most=_DRAWN)
    return [_observed(chart, caption, "forest", table, optional=optional)]


def _ratios(table: GroupTable, title: str) -> list[Block]:
    """Draw the impact ratios with their intervals, where the auditor asks for it."""
    drawn = [
        Ratio(line, ratio_interval(table, line))
        for line in table.lines[:_DRAWN]
        if line.impact_ratio is not None
    ]
    if not drawn:
        return []
    caption = say("{title}: impact ratios with confidence intervals", title=title)
    return [_observed(Ratios(drawn), caption, "ratios", table, optional=True)]


def _map(table: GroupTable, title: str) -> list[Block]:
    """Draw two attributes' combinations; the one with fewer values across."""
    heat = Heat(table, title)
    if len(heat.rows) > _MAP_ROWS or len(heat.columns) > _MAP_COLUMNS:
        return []
    return [_observed(heat, say("{title}: rates and group sizes", title=title), "map", table)]


def _observed(
    chart: Forest | Ratios | Heat,
    caption: str,
    what: str,
    table: GroupTable,
    *,
    optional: bool = False,
) -> Chart:
    """Draw what was observed."""
    return chart_block(
        chart,
        caption=caption,
        key=_key(what, table),
        optional=optional,
        evidence="observed",
    )


def _calibration(material: Material) -> list[Block]:
    """Set what scores expected beside what was true, bin by bin, by groups of single attributes."""
    held = [
        table
        for table in material.group_tables
        if len(table.attributes) == 1 and any(line.calibration for line in table.lines)
    ]
    if not held:
        return []
    blocks: list[Block] = [
        Heading("Calibration", appended=True),
        Text(
            say(
                "Whether a score means the same in every group. The columns are bins of "
                "scores; a cell is the share with the favourable recorded outcome minus the "
                "mean score of its members, in percentage points: above zero, more of them "
                "had the favourable recorded outcome than their scores predicted; – marks a cell "
                "with fewer than {few} individuals.",
                few=words.number(_FEW),
            )
        ),
    ]
    for table in held:
        if table.of == held[0].of:
            blocks += [_calibrated(table), *_curves(table)]
    return blocks


def _curves(table: GroupTable) -> list[Chart]:
    """Draw the same as curves, where the auditor asks for it; of groups with people enough."""
    lines: list[Line] = []
    said: list[str] = []
    for line in sorted(table.lines, key=lambda line: -line.n_samples):
        bins = [each for each in line.calibration if each.n_samples >= _FEW]
        if not bins or len(lines) == _CURVES:
            continue
        name = ", ".join(line.values)
        scores, shares = (
            np.multiply(100, each)
            for each in zip(*((each.expected, each.observed) for each in bins), strict=True)
        )
        colour = f"series {len(lines)}"
        lines.append(Line(name, scores, shares, colour, mark=Mark.POINTS))
        farthest = max(bins, key=lambda one: abs(one.expected - one.observed))
        said.append(
            say(
                "{name}: largest difference at a mean score of {score}, where the share is "
                "{share} (n = {n})",
                name=name,
                share=words.percent(farthest.observed, 1.0),
                score=words.percent(farthest.expected, 1.0),
                n=words.number(farthest.n_samples),
            )
        )
    if not lines:
        return []
    whole, unit = np.array([0.0, 100.0]), f"{words.NBSP}%"
    lines.append(Line(say("perfect calibration"), whole, whole, "quiet", dashed=True))
    axes = say("mean score"), say("share with the favourable recorded outcome")
    chart = Drawing("", *axes, tuple(lines), y_unit=unit, y_high=100.0, x_unit=unit)
    alt = say("{y} against {x}, by group. {said}.", x=axes[0], y=axes[1], said="; ".join(said))
    return [
        chart_block(
            chart,
            alt=alt,
            caption=say(
                "Calibration by {attributes}; bins with fewer than {few} individuals are omitted",
                attributes=words.listed(table.attributes),
                few=words.number(_FEW),
            ),
            key=_key("curves", table),
            optional=True,
            evidence="observed",
        )
    ]


def _calibrated(table: GroupTable) -> Grid:
    ends = sorted({(each.low, each.high) for line in table.lines for each in line.calibration})
    return Grid(
        header=(
            *(words.listed(table.attributes), "People"),
            *(say("to {high}", high=words.short(high, 3)) for _, high in ends),
        ),
        rows=tuple(
            (
                ", ".join(line.values),
                words.number(sum(each.n_samples for each in line.calibration)),
                *_gaps(line, ends),
            )
            for line in table.lines
        ),
        widths=(1.9, 0.9, *(0.8 for _ in ends)),
        right=tuple(range(1, len(ends) + 2)),
        caption=say(
            "Recorded outcomes minus scores by {attributes}, in percentage points",
            attributes=words.listed(table.attributes),
        ),
        key=_key("calibration", table),
        evidence="observed",
    )


def _gaps(line: GroupLine, ends: Sequence[tuple[float, float]]) -> Iterator[str]:
    held = {(each.low, each.high): each for each in line.calibration}
    for end in ends:
        each = held.get(end)
        if each is None or each.n_samples < _FEW:
            yield "–"
        else:
            yield words.signed(100 * (each.observed - each.expected), 1)
