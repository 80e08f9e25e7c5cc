"""What the report says of cells that are not what the rest of their column is."""

from __future__ import annotations

from collections.abc import Sequence

from fairdesk.data.columns.number_formats import written_like
from fairdesk.data.columns.rereading import garbled_parts
from fairdesk.data.table import Dialect, Kind, OddCell
from fairdesk.document.blocks import Block, Grid, Heading, Text
from fairdesk.report.content.material import Material
from fairdesk.wording import words
from fairdesk.wording.language import say, say_many

#: So many line numbers are written out.
_LINES = 5


def odd_cells(material: Material) -> list[Block]:
    """List the cells in columns of numbers that are none, and what was done with them."""
    spec, shown = material.spec, material.shown
    dialect = spec.data.dialect
    formats = [
        Text(
            say(
                "The numbers in this column are written like {example}.",
                example=written_like(column.format),
            ),
            lead=f"{column.name}.",
        )
        for column in spec.columns
        if column.format is not None
    ]
    odd = [column for column in spec.columns if column.odd]
    if not odd:
        return [*formats]
    rows = []
    undecided = 0
    for column in odd:
        reading = dialect.reading(column.name)
        for each in column.odd:
            decided = bool(reading.odd) or each.text in reading.cells
            undecided += 0 if decided else each.rows
            changes = _done(each, decided=decided)
            place = _place(dialect, each.lines, each.rows)
            text = shown.words(words.in_quotes(each.text), strict=True)
            rows.append((column.name, text, words.number(each.rows), place, changes))
    count = sum(column.odd_rows for column in odd)
    sentences = [
        say_many(
            count,
            "{n} cell in columns of numbers is not a number. Unless it was corrected, it "
            "counts as missing; no value was imputed.",
            "{n} cells in columns of numbers are not numbers. Unless they were corrected, "
            "they count as missing; no value was imputed.",
        )
    ]
    if undecided:
        sentences.append(
            say_many(
                undecided,
                "The auditor made no decision on {n} of them.",
                "The auditor made no decision on {n} of them.",
            )
        )
    return [
        *formats,
        Heading("Cells that are not numbers"),
        Text(" ".join(sentences)),
        Grid(
            header=("Column", "Cell", "Cells", "Where", "Read as"),
            rows=tuple(rows),
            widths=(1.1, 1.3, 0.5, 1.4, 1.2),
            right=(2,),
            caption="Cells in columns of numbers that are not numbers, and what they are read as",
            key="odd-cells",
            evidence="observed",
        ),
    ]


def _done(cell: OddCell, *, decided: bool) -> str:
    """Say what an odd cell is read as."""
    if cell.value is not None:
        return say("{number} (corrected)", number=words.short(cell.value, 15))
    return say("missing") if decided else say("missing; no decision")


def garbled(material: Material) -> list[Block]:
    """List the texts in a different encoding from the rest of the file."""
    spec, shown = material.spec, material.shown
    dialect = spec.data.dialect
    rows = [
        (
            column.name,
            *(shown.words(words.in_quotes(part), strict=True) for part in garbled_parts(each)),
            words.number(each.rows),
            _place(dialect, each.lines, each.rows),
        )
        for column in spec.columns
        if column.kind is not Kind.TEXT or shown.whole
        for each in column.garbled
    ]
    if not rows:
        return []
    return [
        Heading("Texts in another encoding"),
        Text(
            (
                "These texts were written in a different encoding from the rest of the file. They "
                "were corrected."
            )
            if dialect.encoding_mended
            else (
                "These texts were written in a different encoding from the rest of the file. They "
                "were not corrected: in a categorical column each counts as a separate category."
            )
        ),
        Grid(
            header=("Column", "Text", "Intended text", "Cells", "Where"),
            rows=tuple(rows),
            widths=(1.1, 1.3, 1.3, 0.5, 1.3),
            right=(3,),
            caption="Texts in a different encoding from the rest of the file",
            key="garbled",
            evidence="observed",
        ),
    ]


def _place(dialect: Dialect, lines: Sequence[int], rows: int) -> str:
    """Say on which lines of the file cells are, or in which rows where it has no lines."""
    shown = ", ".join(words.number(line) for line in lines[:_LINES])
    if dialect.format == "csv":
        text = say_many(rows, "line {shown}", "lines {shown}", shown=shown)
    else:
        text = say_many(rows, "row {shown}", "rows {shown}", shown=shown)
    if rows <= _LINES:
        return text
    return say("{lines} and {n} more", lines=text, n=words.number(rows - _LINES))
