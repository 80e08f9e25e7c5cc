"""What the auditor can decide of how a table is read: each change is another `Dialect`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.columns.kinds import EXACT, as_numbers, read_numbers, written_like
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


def retype(table: Table, name: str, kind: Kind) -> Table:
    """Return a column another kind.

    To `Kind.IGNORED` and `Kind.TEXT` and back nothing is lost: an ignored column keeps its values
    and codes, one of text its values in their order.
    Numbers that become names are in numeric order; an ordinal column that becomes nominal is
    sorted as `Column` says.

    Returns
    -------
    Table
        A new one; the other columns are the same.

    Raises
    ------
    DataError
        When there is no such column, it is empty, or its values are no (whole) numbers.
    """
    position = table.index(name)
    column, codes = table.columns[position], table.codes[:, position]
    if kind is column.kind:
        return table
    if kind is Kind.IGNORED:
        return _with(table, position, msgspec.structs.replace(column, kind=kind), codes)
    if np.isnan(codes).all():
        raise DataError(f"The column “{name}” is empty.", remedy="Leave it excluded.")
    decimal = table.source.dialect.decimal
    if kind.is_number:
        column, codes = _to_numbers(column, codes, kind, decimal)
    else:
        column, codes = _to_names(column, codes, kind, decimal)
    column = msgspec.structs.replace(
        column, kind=kind, low=float(np.nanmin(codes)), high=float(np.nanmax(codes))
    )
    return _with(table, position, column, codes)


def included(table: Table, names: Collection[str]) -> Table:
    """Give excluded columns that are needed after all the first type that they can have."""
    for column in table.columns:
        if column.kind is not Kind.IGNORED or column.name not in names:
            continue
        names_only = table.source.dialect.reading(column.name).numeric is False
        for kind in (Kind.NOMINAL,) if names_only else (Kind.INTEGER, Kind.REAL, Kind.NOMINAL):
            with suppress(DataError):  # of another kind; an empty one stays excluded
                table = retype(table, column.name, kind)
                break
    return table


def _with(table: Table, position: int, column: Column, codes: NDArray[np.float64]) -> Table:
    """Put a column in place of another."""
    columns = (*table.columns[:position], column, *table.columns[position + 1 :])
    before = table.codes[:, position]
    if codes is before or np.array_equal(codes, before, equal_nan=True):
        return replace(table, columns=columns)
    changed = table.codes.copy(order="K")
    changed[:, position] = codes
    return replace(table, columns=columns, codes=changed)


def _to_numbers(
    column: Column, codes: NDArray[np.float64], kind: Kind, decimal: str
) -> tuple[Column, NDArray[np.float64]]:
    """Make values numbers; whole ones where the kind asks for it."""
    if column.values:
        numbers = as_numbers(column.values, decimal)
        if numbers is None:
            wrong = next(v for v in column.values if as_numbers([v], decimal) is None)
            raise DataError(
                f"The column “{column.name}” cannot be read as numbers.",
                why=f"Its value “{wrong[:80]}” is not a number.",
                remedy=(
                    "Give it another type or, if that value means that the value is not known, "
                    "add it to the missing values."
                ),
            )
        codes = _look_up(numbers, codes)
    present = codes[~np.isnan(codes)]
    if kind is Kind.INTEGER:
        broken = (present != np.round(present)) | (np.abs(present) >= EXACT)
        if broken.any():
            raise DataError(
                f"The column “{column.name}” cannot be read as whole numbers.",
                why=f"Its value {present[broken][0]:g} is not a whole number, or it is too large.",
                remedy="Keep the type “decimal numbers”.",
            )
    return msgspec.structs.replace(column, values=()), codes


def _to_names(
    column: Column, codes: NDArray[np.float64], kind: Kind, decimal: str
) -> tuple[Column, NDArray[np.float64]]:
    """Make codes indexes into a list of values."""
    if not column.values:
        numbers = np.unique(codes[~np.isnan(codes)])
        values = tuple(column.text(number).replace(".", decimal) for number in numbers)
        return (
            msgspec.structs.replace(column, values=values),
            np.where(np.isnan(codes), np.nan, np.searchsorted(numbers, codes)),
        )
    if kind in (Kind.ORDINAL, Kind.TEXT):
        return column, codes
    as_read = as_numbers(column.values, decimal)
    order = (
        np.argsort(as_read, kind="stable")
        if as_read is not None
        else np.array(sorted(range(len(column.values)), key=column.values.__getitem__))
    )
    values = tuple(column.values[i] for i in order)
    return msgspec.structs.replace(column, values=values), _look_up(np.argsort(order), codes)


def _look_up(
    new: NDArray[np.float64] | NDArray[np.intp], codes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Replace each code by its entry in ``new``; missing stays missing."""
    padded = np.append(new.astype(np.float64), np.nan)
    return padded[np.where(np.isnan(codes), len(new), codes).astype(np.intp)]


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
