"""How groups fare, as blocks: a table's statement, figures, charts, errors, and calibration.

What is said here is observed in the rows of the data.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec
import numpy as np

from fairdesk.answers import Observed
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.charts.kinds.forest import Forest, Ratio, Ratios
from fairdesk.charts.kinds.heat import Heat
from fairdesk.charts.kinds.lines import Drawing, Line, Mark
from fairdesk.document.blocks import (
    Block,
    Chart,
    Grid,
    Heading,
    Statement,
    Text,
    appended,
    chart_block,
    stated,
    without_empty,
)
from fairdesk.groups.options import LEAST_ROWS
from fairdesk.groups.statistics import wilson_ends
from fairdesk.results.groups import Bin, GroupLine, GroupTable
from fairdesk.wording import words
from fairdesk.wording.groups.columns import columns, ratio_cell
from fairdesk.wording.groups.impact_ratio import (
    BELOW,
    FLIPS,
    errors_statement,
    ratio_interval,
    table_sentences,
    worst_statement,
)
from fairdesk.wording.groups.tables import outcome_of, rate_of, reference_of, table_title
from fairdesk.wording.language import say, say_many

#: Groups listed in a table on paper, and drawn in a chart; all are in the file “groups.csv”.
LISTED, _DRAWN = 40, 25
#: The figures of the tables, by their columns' keys, and how wide these are.
_RATES = ("n_samples", "rate", "interval", "impact", "mean", "smd")
_AGAINST = ("share", "favourable", "shortfall", "ratio_ends", "difference", "holm")
_ERRORS, _FURTHER = ("tpr", "fpr"), ("precision", "accuracy", "equal", "odds")
_WIDTHS = {"interval": 1.25, "impact": 1.05, "ratio_ends": 1.15, "difference": 1.75}
#: What columns are whose names do not say it.
_MEANINGS = {
    "smd": (
        "SMD: difference in mean scores from the reference group, in standard deviations of "
        "all scores"
    ),
    "shortfall": "shortfall: how many more would be favourable at the rate of all",
    "difference": "difference: in percentage points, with its 95\u00a0% confidence interval",
    "precision": (
        "precision: share of favourable decisions whose recorded outcome is favourable; "
        "accuracy: share decided as recorded"
    ),
    "equal": (
        "equal opportunity and average odds: differences from the reference group, in "
        "percentage points"
    ),
}
#: Values of an attribute up to which two of them make a map that can be read on paper.
_MAP_ROWS, _MAP_COLUMNS = 16, 7
#: Groups with a curve of their own.
_CURVES = 6


def compose(spec: AuditSpec, table: GroupTable, recorded: Iterable[GroupTable] = ()) -> list[Block]:
    """Return all that a table says: what is quoted, then the rest under headings."""
    blocks = [
        rates(spec, table, 0, recorded),
        *charts(spec, table),
        statement(spec, table),
        Heading("Comparison with the reference group", appended=True),
        against(spec, table, most=0),
        Heading("Error rates", appended=True),
        *errors(spec, table, most=0),
        Heading("Calibration", appended=True),
        *calibration(table),
    ]
    return list(without_empty(blocks))


def observed(spec: AuditSpec, found: Sequence[Observed]) -> list[Block]:
    """Return what the rows of the data say by themselves, before a model is asked."""
    blocks: list[Block] = []
    for seen in found:
        if seen.outcomes:
            blocks += [Heading(seen.title), Text(f"{seen.sentence} {words.FOUR_FIFTHS}")]
        for table in seen.outcomes:
            blocks += [statement(spec, table), rates(spec, table)]
    return blocks


def statement(spec: AuditSpec, table: GroupTable, said: Collection[str] = ()) -> Statement | Text:
    """State the lowest impact ratio; in more sentences what was not ``said`` before."""
    worst = worst_statement(spec, table)
    rest = tuple(each for each in table_sentences(spec, table) if each not in said)
    if worst.value:
        # of one attribute the rates are in the table beside it
        if len(table.attributes) > 1 and worst.brief not in worst.sentence:
            rest = (worst.brief, *rest)
        return stated(worst, rest)
    lead = say("By {attributes}.", attributes=words.listed(table.attributes))
    return Text(" ".join((worst.sentence, *rest)), lead=lead)


def rates(
    spec: AuditSpec,
    table: GroupTable,
    most: int = LISTED,
    recorded: Iterable[GroupTable] = (),
) -> Grid:
    """List the rate of each group; of decisions beside that of the ``recorded`` outcomes."""
    made = grid(table, _RATES, table_title(spec, table), key_of("rates", table), most)
    alike = (each for each in recorded if each.of == "label" and table.of == "decisions")
    beside = next((each for each in alike if each.attributes == table.attributes), None)
    if beside is None:
        return made
    cells = {
        ", ".join(line.values): (rate_of(beside, line), ratio_cell(line))
        for line in beside.lines
        if line.n_samples
    }
    return msgspec.structs.replace(
        made,
        header=(*made.header, "In the records", "Records’ ratio"),
        rows=tuple((*row, *cells.get(row[0], ("–", "–"))) for row in made.rows),
        widths=(*made.widths, 0.9, 0.8),
        right=(*made.right, len(made.header), len(made.header) + 1),
    )


def against(spec: AuditSpec, table: GroupTable, most: int = LISTED) -> Grid:
    """Compare each group with the reference."""
    best = reference_of(table)
    caption = say(
        "{title}: compared with the reference group ({reference})",
        title=table_title(spec, table),
        reference=", ".join(best.values) if best else "none",
    )
    return grid(table, _AGAINST, caption, key_of("against", table), most)


def errors(spec: AuditSpec, table: GroupTable, most: int = LISTED) -> list[Block]:
    """Compare decisions with recorded outcomes; nothing where these are not known."""
    if not is_judged(table):
        return []
    title = table_title(spec, table)
    caption = say("{title}, compared with the recorded outcomes", title=title)
    said = errors_statement(spec, table)
    return [
        *([stated(said)] if said else []),
        grid(table, _ERRORS, caption, key_of("errors", table), most),
        appended(grid(table, _FURTHER, caption, key_of("further-errors", table), most)),
    ]


def is_judged(table: GroupTable) -> bool:
    """Return whether decisions were compared with recorded outcomes."""
    return any(line.positives is not None for line in table.lines)


def key_of(what: str, table: GroupTable) -> str:
    """Name a block about a table: the same whatever the table holds."""
    outcome = f"-{table.outcome}" if table.outcome else ""
    return f"{what}-{table.of}{outcome}-{'-'.join(table.attributes)}"


def grid(
    table: GroupTable, keys: Sequence[str], caption: str, key: str, most: int = LISTED
) -> Grid:
    """List the groups of a table with some of its columns.

    Parameters
    ----------
    keys : sequence of str
        Of `fairdesk.wording.groups.columns.Column`; those that the table does not have are left
        out.
    most : int
        With more groups those with the lowest rates are listed; 0 lists all.
    """
    made = {column.key: column for column in columns(table)}
    shown = [made[each] for each in keys if each in made]
    lines = table.lines
    notes = []
    if most and len(lines) > most:
        compared = [line for line in lines if line.known and line.rate is not None]
        lines = tuple(sorted(compared, key=lambda line: line.rate or 0.0)[:most])
        notes.append(
            say(
                "the {n} of {all} groups with the lowest rates; all are in the file “groups.csv”",
                n=words.number(len(lines)),
                all=words.number(len(table.lines)),
            )
        )
    return Grid(
        header=(words.listed(table.attributes), *(column.head for column in shown)),
        rows=tuple(
            (", ".join(line.values), *(column.text(table, line) for column in shown))
            for line in lines
        ),
        widths=(1.1 + 0.7 * len(table.attributes), *(_WIDTHS.get(one.key, 0.9) for one in shown)),
        right=tuple(range(1, len(shown) + 1)),
        caption=caption,
        key=key,
        evidence="observed",
        note="; ".join((*notes, *_notes(table, lines, [column.key for column in shown]))),
    )


def _notes(table: GroupTable, lines: Sequence[GroupLine], keys: Collection[str]) -> Iterator[str]:
    """Yield what the marks and columns of a grid mean, and who is in none of its groups."""
    if "impact" in keys:
        if table.unknown:
            yield say(
                "group recorded: {people}; group not recorded: {unknown}",
                people=words.number(table.n_samples),
                unknown=words.number(table.unknown),
            )
        if any(line.below for line in lines):
            yield f"{BELOW} {'below the four-fifths threshold'}"
        if any(line.flips for line in lines):
            yield f"{FLIPS} {'one selected more or fewer would change this'}"
    for key, meaning in _MEANINGS.items():
        if key in keys:
            yield meaning


def charts(spec: AuditSpec, table: GroupTable) -> list[Chart]:
    """Draw the rates: of two attributes as a map, and with their intervals.

    What cannot be read on paper, or repeats the map there, is optional.
    """
    title = table_title(spec, table)
    made = []
    if len(table.attributes) == 2:
        heat = Heat(table, title, spec.person)
        large = len(heat.rows) > _MAP_ROWS or len(heat.columns) > _MAP_COLUMNS
        caption = say("{title}: rates and group sizes", title=title)
        made.append(_chart(heat, caption, "map", table, optional=large or table.of == "scores"))
    if any(line.rate is not None for line in table.lines):
        share = say("share with “{outcome}”", outcome=outcome_of(spec, table))
        if table.of == "scores":
            share = "share below the median" if table.falls else "share above the median"
        forest = Forest(table, title, spec.person, share, _DRAWN)
        caption = say("{title}: rates with confidence intervals", title=title)
        made.append(_chart(forest, caption, "forest", table, optional=len(table.attributes) > 1))
    return made


def ratios(spec: AuditSpec, table: GroupTable) -> list[Chart]:
    """Draw the impact ratios with their intervals, for a report that asks for it."""
    drawn = [
        Ratio(line, ratio_interval(table, line))
        for line in table.lines[:_DRAWN]
        if line.impact_ratio is not None
    ]
    title = table_title(spec, table)
    caption = say("{title}: impact ratios with confidence intervals", title=title)
    return [_chart(Ratios(drawn), caption, "ratios", table, optional=True)] if drawn else []


def _chart(
    chart: Forest | Ratios | Heat, caption: str, what: str, table: GroupTable, *, optional: bool
) -> Chart:
    key = key_of(what, table)
    return chart_block(chart, caption, key=key, optional=optional, evidence="observed")


def calibration(table: GroupTable) -> list[Chart]:
    """Draw what was true of groups by the scores that they were given, the largest groups.

    Groups that are not compared have no curve, and bins of fewer than `LEAST_ROWS` rows no point:
    their intervals would hide the other curves. Both are counted in the caption, since a curve
    without them looks better known than it is.
    """
    scored = [line for line in table.lines if line.calibration]
    compared = [line for line in scored if line.known and not line.excluded]
    compared.sort(key=lambda line: -line.n_samples)
    held = {
        line: [each for each in line.calibration if each.n_samples >= LEAST_ROWS]
        for line in compared[:_CURVES]
    }
    curves = [_curve(line, bins, i) for i, (line, bins) in enumerate(held.items()) if bins]
    if not curves:
        return []
    whole, unit = np.array([0.0, 100.0]), f"{words.NBSP}%"
    curves.append(Line("perfect calibration", whole, whole, "quiet", dashed=True))
    by = words.listed(table.attributes)
    x, y = "mean score", "share with the favourable recorded outcome"
    drawing = Drawing(
        *(say("Calibration by {by}", by=by), x, y, tuple(curves)),
        x_digits=1,
        y_digits=1,
        y_unit=unit,
        y_high=100.0,
        x_unit=unit,
    )
    farthest = "; ".join(_farthest(line, bins) for line, bins in held.items() if bins)
    few = [each for line in held for each in line.calibration if each.n_samples < LEAST_ROWS]
    caption = say(
        "Calibration by {by}: recorded outcomes by mean score, with {percent} confidence "
        "intervals; a calibrated model stays near the dashed line{omitted}",
        by=by,
        percent=words.percent_of("95"),
        omitted="".join(f"; {each}" for each in _omitted(few, len(scored) - len(held))),
    )
    return [
        chart_block(
            drawing,
            caption,
            alt=say("{y} against {x}, by group. {said}.", x=x, y=y, said=farthest),
            key=key_of("calibration", table),
            evidence="observed",
            appended=True,
        )
    ]


def _curve(line: GroupLine, bins: Sequence[Bin], place: int) -> Line:
    ends = [wilson_ends(round(each.observed * each.n_samples), each.n_samples) for each in bins]
    low, high = 100 * np.array(ends).T
    return Line(
        ", ".join(line.values),
        np.array([100 * each.expected for each in bins]),
        np.array([100 * each.observed for each in bins]),
        f"series {place}",
        low=low,
        high=high,
        mark=Mark.POINTS,
    )


def _farthest(line: GroupLine, bins: Sequence[Bin]) -> str:
    """Name the score at which a group is farthest from what its scores say."""
    farthest = max(bins, key=lambda one: abs(one.expected - one.observed))
    return say(
        "{name}: largest difference at a mean score of {score}, where the share is {share} "
        "(n = {n})",
        name=", ".join(line.values),
        share=words.percent(farthest.observed, 1.0),
        score=words.percent(farthest.expected, 1.0),
        n=words.number(farthest.n_samples),
    )


def _omitted(few: Sequence[Bin], groups: int) -> Iterator[str]:
    """Yield what is not drawn: bins of few rows, and groups."""
    if few:
        yield say_many(
            len(few),
            "omitted: {n} bin[|s] with fewer than {least} rows ({rows}[| together])",
            least=words.number(LEAST_ROWS),
            rows=words.number(sum(each.n_samples for each in few)),
        )
    if groups:
        yield say_many(
            groups,
            "{n} group[|s] that [is|are] small or not compared [has|have] no curve",
        )
