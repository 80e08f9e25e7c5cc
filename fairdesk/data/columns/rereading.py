"""What the auditor can decide of how a table is read: each change is another `Dialect`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from fairdesk.data.columns.kinds import as_numbers
from fairdesk.data.columns.number_formats import read_numbers, written_like
from fairdesk.data.table import (
    AS_THEY_ARE,
    MOST_LISTED,
    Column,
    ColumnReading,
    Dialect,
    Garbled,
    Kind,
    NumberFormat,
    OddCell,
    Table,
)
from fairdesk.errors import DataError

#: So many cells are named in a sentence, and so many lines of each.
_NAMED, _LINES = 4, 3
#: Letters of a text that are written.
_LONGEST = 40


class Change(msgspec.Struct, frozen=True):
    """A decision that one click makes: what it is called, and how the table is read then."""

    words: str
    dialect: Dialect


def with_reading(dialect: Dialect, name: str, reading: ColumnReading) -> Dialect:
    """Return a dialect in which a column is read as decided; nothing is kept of no decision."""
    columns = {other: each for other, each in dialect.columns.items() if other != name}
    if reading != ColumnReading():
        columns[name] = reading
    return msgspec.structs.replace(dialect, columns=columns)


def is_undecided(column: Column, dialect: Dialect) -> bool:
    """Return whether a column has odd cells of which the auditor decided nothing."""
    reading = dialect.reading(column.name)
    return bool(column.odd) and not (reading.odd or reading.cells)


def for_kind(table: Table, name: str, kind: Kind) -> Dialect | None:
    """Return how a table is to be read so that a column can be given a kind.

    Numbers are names as their cells spell them, and names of which not all are numbers are no
    numbers, unless they are read as such.

    Returns
    -------
    Dialect or None
        None where it can be given that kind as it is read now.
    """
    column, dialect = table.column(name), table.source.dialect
    reading = dialect.reading(name)
    if kind is Kind.IGNORED:
        return None
    if not column.values:
        if kind.is_number or not column.kind.is_number:
            return None
        return with_reading(dialect, name, ColumnReading(numeric=False))
    if not kind.is_number or as_numbers(column.values, dialect.decimal) is not None:
        return None
    counts = np.ones(len(column.values), np.intp)
    if read_numbers(column.values, counts, dialect.decimal, ColumnReading(numeric=True)) is None:
        return None
    numeric = ColumnReading(numeric=True, odd=reading.odd, cells=reading.cells)
    return with_reading(dialect, name, numeric)


def check_reading(column: Column, reading: ColumnReading) -> None:
    """Raise `DataError` when a column that was read does not have what was decided of it."""
    if reading.numeric is False:
        return
    if column.values and reading != ColumnReading():
        raise DataError(
            f"The column “{column.name}” cannot be read as numbers.",
            why="None of its cells is a number."
            if reading.numeric
            else "Most of its cells are not numbers, so it is categorical.",
            remedy="Leave it categorical."
            if reading.numeric
            else f"If it does contain numbers, read it as numbers (--numeric “{column.name}”).",
        )
    if column.odd_rows and len(column.odd) == MOST_LISTED:
        return
    there = {each.text for each in column.odd}
    strange = [text for text in reading.cells if text not in there]
    if strange:
        raise DataError(
            f"No odd cell of the column “{column.name}” contains “{strange[0][:80]}”.",
            remedy=f"Its odd cells are: {', '.join(f'“{text[:40]}”' for text in sorted(there))}."
            if there
            else "All of its cells are numbers, or missing.",
        )


def place_words(dialect: Dialect, lines: Sequence[int], rows: int) -> str:
    """Return where cells are, in words: “line 17”, “lines 17, 20, 31 and 4 more”.

    Of a table in parts no lines are known, only how many rows.
    """
    if not lines:
        return f"{rows:,} {'row' if rows == 1 else 'rows'}"
    word = "line" if dialect.format == "csv" else "row"
    shown = ", ".join(f"{line:,}" for line in lines[:_LINES])
    more = f" and {rows - _LINES:,} more" if rows > _LINES else ""
    return f"{word}{'' if rows == 1 else 's'} {shown}{more}"


def odd_words(column: Column, dialect: Dialect) -> str:
    """List the odd cells of a column: each with its place, and the number that it is read as."""
    return _joined([_odd(each, dialect) for each in column.odd])


def missing_words(column: Column) -> str:
    """List the words of a categorical column that are read as missing: “NA”; empty for none."""
    if column.kind not in (Kind.NOMINAL, Kind.ORDINAL):
        return ""
    return _joined(
        [
            f"“{text[:40]}” ({counted_cells(count)})"
            for text, count in column.missing_texts
            if any(letter.isalpha() for letter in text)
        ]
    )


def garbled_words(column: Column, dialect: Dialect) -> str:
    """List the garbled texts of a column: each with what was meant, and its place."""
    return _joined([_garbled(each, dialect) for each in column.garbled])


def number_text(number: float) -> str:
    """Write a number that a cell was mended to."""
    return f"{number:.15g}"


def _odd(cell: OddCell, dialect: Dialect) -> str:
    place = place_words(dialect, cell.lines, cell.rows)
    read = "" if cell.value is None else f", read as {number_text(cell.value)}"
    return f"“{cell.text[:40]}” ({place}{read})"


def _garbled(text: Garbled, dialect: Dialect) -> str:
    place = place_words(dialect, text.lines, text.rows)
    found, meant = garbled_parts(text)
    return f"“{found}” for “{meant}” ({place})"


def garbled_parts(garbled: Garbled) -> tuple[str, str]:
    """Return of a garbled text, and of what was meant, the part in which they differ."""
    text, meant = (" ".join(each.split()) for each in (garbled.text, garbled.meant))
    return differing_part(text, meant, _LONGEST), differing_part(meant, text, _LONGEST)


def differing_part(text: str, other: str, most: int) -> str:
    """Return at most so many letters of a text, around the first that another text has not."""
    if len(text) <= most:
        return text
    pairs = enumerate(zip(text, other, strict=False))
    same = next((place for place, (own, its) in pairs if own != its), 0)
    begin = max(0, min(same - most // 2, len(text) - most))
    end = begin + most
    return f"{'…' if begin else ''}{text[begin:end].strip()}{'…' if end < len(text) else ''}"


def _joined(shown: Sequence[str]) -> str:
    listed, rest = ", ".join(shown[:_NAMED]), len(shown) - _NAMED
    return f"{listed} and {rest:,} more" if rest > 0 else listed


def odd_changes(column: Column, dialect: Dialect) -> Iterator[Change]:
    """Yield what can be decided of a column's odd cells, or taken back."""
    name, reading = column.name, dialect.reading(column.name)
    if not is_undecided(column, dialect):
        undone = msgspec.structs.replace(reading, odd="", cells={})
        yield Change("Change back", with_reading(dialect, name, undone))
        return
    for odd in ("missing", "mended"):
        mendable = sum(each.rows for each in column.odd if each.proposed is not None)
        if odd == "mended" and not mendable:
            continue
        words = "Treat as missing" if odd == "missing" else f"Convert {counted_cells(mendable)}"
        yield Change(words, with_reading(dialect, name, msgspec.structs.replace(reading, odd=odd)))
    yield _as_names(name, dialect)


def format_changes(column: Column, dialect: Dialect) -> Iterator[Change]:
    """Yield what can be decided of how a column's numbers are written, or taken back."""
    reading = dialect.reading(column.name)
    if reading.format is not None:
        found = msgspec.structs.replace(reading, format=None)
        yield Change("Change back", with_reading(dialect, column.name, found))
    elif not column.odd:
        yield _as_names(column.name, dialect)


def ambiguous_changes(column: Column, dialect: Dialect) -> Iterator[Change]:
    """Yield the two ways to read numbers whose mark may begin a fraction or group digits."""
    name, mark = column.name, dialect.decimal
    reading = dialect.reading(name)
    for words, form in (
        ("Read as a decimal mark", NumberFormat(mark)),
        ("Read as a thousands separator", NumberFormat("," if mark == "." else ".", mark)),
    ):
        decided = msgspec.structs.replace(reading, format=form)
        yield Change(words, with_reading(dialect, name, decided))


def numeric_changes(column: Column, dialect: Dialect) -> Iterator[Change]:
    """Yield what makes a column of names one of numbers."""
    reading = dialect.reading(column.name)
    if reading.numeric is False:
        undone = msgspec.structs.replace(reading, numeric=None)
        yield Change("Change back", with_reading(dialect, column.name, undone))
    else:
        numeric = msgspec.structs.replace(reading, numeric=True)
        yield Change("Read as numbers", with_reading(dialect, column.name, numeric))


def missing_changes(column: Column, dialect: Dialect) -> Iterator[Change]:
    """Yield what makes values of a column's missing cells that have a text, or takes that back."""
    name, kept = column.name, dialect.reading(column.name) == AS_THEY_ARE
    yield Change(
        "Change back" if kept else "Keep as values",
        with_reading(dialect, name, ColumnReading() if kept else AS_THEY_ARE),
    )


def encoding_changes(dialect: Dialect) -> Iterator[Change]:
    """Yield what mends texts in another encoding, in all columns, or takes that back."""
    mended = not dialect.encoding_mended
    yield Change(
        "Repair the encoding" if mended else "Change back",
        msgspec.structs.replace(dialect, encoding_mended=mended),
    )


def counted_cells(count: int) -> str:
    """Write how many cells there are."""
    return f"{count:,} {'cell' if count == 1 else 'cells'}"


def format_words(form: NumberFormat) -> str:
    """Return how numbers are written, by an example."""
    return f"like “{written_like(form)}”"


def _as_names(name: str, dialect: Dialect) -> Change:
    return Change("Read as categorical", with_reading(dialect, name, ColumnReading(numeric=False)))
