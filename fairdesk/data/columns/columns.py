"""From the cells of a column to its codes and its kind."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import chain
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.columns.garbled import meanings
from fairdesk.data.columns.kinds import (
    EXACT,
    as_numbers,
    identifies,
    in_order,
    is_prose,
    may_be_thousands,
)
from fairdesk.data.columns.number_formats import NumbersRead, mended, read_numbers
from fairdesk.data.columns.texts import Mask, Numbers, Texts
from fairdesk.data.table import (
    MOST_LINES,
    MOST_LISTED,
    Column,
    ColumnReading,
    Dialect,
    Garbled,
    Kind,
    NumberFormat,
    OddCell,
)

T = TypeVar("T", OddCell, Garbled)

#: A float that is a whole number of thousandths, times 1000, is so near to a whole number.
_ROUNDING = 1e-3
#: Of a garbled text so much is listed.
_LONGEST = 200


def typed(
    name: str, cells: Texts | Numbers, missing: Collection[str], dialect: Dialect
) -> tuple[Column, NDArray[np.float64]]:
    """Make a column of cells a typed one.

    Parameters
    ----------
    name : str
        The column's name.
    cells : Texts or Numbers
        Its cells.
    missing : collection of str
        What counts as missing, besides the empty cell.
    dialect : Dialect
        The file's decimal mark and encoding, and what was decided of the column.

    Returns
    -------
    column : Column
        Its kind is inferred; see `fairdesk.data.columns.kinds`. What is odd or garbled in it is
        listed by rows from 0; see `numbered`.
    codes : NDArray[np.float64]
        ``(n,)``; NaN where missing.
    """
    if isinstance(cells, Numbers):
        column, codes = _typed_numbers(name, cells, missing)
    else:
        column, codes = _typed_texts(name, cells, missing, dialect)
    if is_prose(column, codes):
        column = msgspec.structs.replace(column, kind=Kind.TEXT)
    elif identifies(column, codes):
        column = msgspec.structs.replace(column, kind=Kind.IGNORED)
    return column, codes


def numbered(
    columns: Sequence[Column], lines: Callable[[set[int]], dict[int, int]]
) -> list[Column]:
    """Return odd and garbled cells the line numbers of their file, which are asked for once."""
    places = [each.lines for column in columns for each in column.odd]
    places += [each.lines for column in columns for each in column.garbled]
    rows = set(chain.from_iterable(places))
    if not rows:
        return list(columns)
    line = lines(rows)

    def with_line(each: T) -> T:
        return msgspec.structs.replace(each, lines=tuple(line[row] for row in each.lines))

    return [
        msgspec.structs.replace(
            column,
            odd=tuple(map(with_line, column.odd)),
            garbled=tuple(map(with_line, column.garbled)),
        )
        for column in columns
    ]


def _typed_texts(
    name: str, texts: Texts, missing: Collection[str], dialect: Dialect
) -> tuple[Column, NDArray[np.float64]]:
    gone = texts.among({"", *missing})
    column = Column(name, Kind.IGNORED, missing_token=texts.commonest(gone))
    lookup = np.full(len(texts), np.nan)
    reading = dialect.reading(name)
    plainly = reading.numeric is not False and reading.format is None
    numbers = texts.numbers(~gone, dialect.decimal) if plainly and not gone.all() else None
    if numbers is not None:
        lookup[~gone] = numbers
        either = _ambiguous(texts, ~gone, numbers, dialect.decimal)
        column = msgspec.structs.replace(column, kind=_kind_of(numbers), ambiguous=either)
    elif not gone.all():
        present = texts.pick(~gone)
        read = read_numbers(present, texts.counts()[~gone], dialect.decimal, reading)
        if read is None:
            column, lookup[~gone] = _names(column, texts, ~gone, present, dialect)
        else:
            column, lookup[~gone] = _nearly(column, texts, ~gone, present, read, dialect)
    known = not np.isnan(lookup).all()
    column = msgspec.structs.replace(
        column,
        low=float(np.nanmin(lookup)) if known else 0.0,
        high=float(np.nanmax(lookup)) if known else 0.0,
        missing=int(texts.counts()[np.isnan(lookup)].sum()),
    )
    return column, np.take(lookup, texts.codes)


def _ambiguous(texts: Texts, wanted: Mask, numbers: NDArray[np.float64], decimal: str) -> str:
    """Return one of the numbers, where the decimal mark of all may group their digits instead."""
    broken = numbers[numbers != np.round(numbers)]
    if not broken.size or (np.abs(broken) < 1).any():
        return ""
    if (np.abs(broken * 1000 - np.round(broken * 1000)) > _ROUNDING).any():
        return ""
    marked = texts.pick(texts.holding(decimal) & wanted)
    return marked[0].strip() if all(may_be_thousands(t, decimal) for t in marked) else ""


def _nearly(
    column: Column,
    texts: Texts,
    wanted: Mask,
    present: Sequence[str],
    read: NumbersRead,
    dialect: Dialect,
) -> tuple[Column, NDArray[np.float64]]:
    """Make a column of numbers of one that has odd cells, or is not plainly written."""
    reading = dialect.reading(column.name)
    values = read.values.copy()
    places = np.flatnonzero(read.odd)
    for place in places.tolist():
        values[place] = _value(present[place], read.format, reading)
    odd, rows = _occurring([present[i].strip() for i in places.tolist()], texts, wanted, places)
    found = tuple(
        OddCell(
            text,
            count,
            lines,
            None if np.isnan(value := _value(text, read.format, reading)) else value,
            mended(text, read.format),
        )
        for text, count, lines in odd
    )
    known = values[~np.isnan(values)]
    column = msgspec.structs.replace(
        column,
        kind=_kind_of(known),
        format=None if read.format == NumberFormat(dialect.decimal) else read.format,
        odd=found,
        odd_rows=rows,
    )
    return column, values


def _value(text: str, form: NumberFormat, reading: ColumnReading) -> float:
    """Return the number that an odd cell is by the auditor's word; NaN for missing."""
    bare = text.strip()
    value = mended(bare, form) if reading.odd == "mended" else None
    value = reading.cells.get(bare, value)
    return np.nan if value is None else value


def _names(
    column: Column, texts: Texts, wanted: Mask, present: Sequence[str], dialect: Dialect
) -> tuple[Column, NDArray[np.float64]]:
    """Make a column of names, with garbled ones as they were meant where that is wished."""
    meaning = meanings(present, dialect.encoding)
    if meaning:
        places = np.array([i for i, text in enumerate(present) if text in meaning], dtype=np.intp)
        garbled, _ = _occurring([present[i] for i in places.tolist()], texts, wanted, places)
        there = set(present)
        found = tuple(
            Garbled(text[:_LONGEST], meaning[text][:_LONGEST], count, meaning[text] in there, lines)
            for text, count, lines in garbled
        )
        column = msgspec.structs.replace(column, garbled=found)
        if dialect.encoding_mended:
            present = [meaning.get(text, text) for text in present]
    different = set(present)
    ordered = in_order(different)
    values = ordered or tuple(sorted(different))
    position = {value: float(i) for i, value in enumerate(values)}
    kind = Kind.ORDINAL if ordered else Kind.NOMINAL
    column = msgspec.structs.replace(column, kind=kind, values=values)
    return column, np.array([position[text] for text in present])


def _occurring(
    names: Sequence[str], texts: Texts, wanted: Mask, places: NDArray[np.intp]
) -> tuple[list[tuple[str, int, tuple[int, ...]]], int]:
    """Count some of a column's texts and find their first rows.

    Parameters
    ----------
    names : sequence of str
        What each is called; several may have one name.
    texts : Texts
        The column.
    wanted : Mask
        Which of its texts are asked about ...
    places : NDArray[np.intp]
        ... and which of these have the names.

    Returns
    -------
    found : list of (str, int, tuple of int)
        Names, how many rows have each, and the first of these; the most frequent name first, at
        most `MOST_LISTED`.
    rows : int
        How many rows have any.
    """
    number = np.full(len(texts), -1)
    order = {name: i for i, name in enumerate(dict.fromkeys(names))}
    number[np.flatnonzero(wanted)[places]] = [order[name] for name in names]
    each = number[texts.codes]
    rows = np.flatnonzero(each >= 0)
    each = each[rows]
    counts = np.bincount(each, minlength=len(order))
    first = np.full(len(order), len(texts.codes))
    np.minimum.at(first, each, rows)
    listed = list(order)
    chosen = sorted(range(len(listed)), key=lambda i: (-counts[i], first[i]))[:MOST_LISTED]
    return [
        (listed[i], int(counts[i]), tuple(rows[each == i][:MOST_LINES].tolist())) for i in chosen
    ], len(rows)


def _typed_numbers(
    name: str, numbers: Numbers, missing: Collection[str]
) -> tuple[Column, NDArray[np.float64]]:
    codes = numbers.codes
    counts = {"": int(np.count_nonzero(np.isnan(codes)))}
    for token in missing:
        meant = as_numbers([token], ".")
        if meant is not None:
            counts[token] = int(np.count_nonzero(codes == meant[0]))
            codes = np.where(codes == meant[0], np.nan, codes)
    present = codes[~np.isnan(codes)]
    lost = codes.size - present.size
    column = Column(
        name=name,
        kind=_kind_of(present) if present.size else Kind.IGNORED,
        low=float(present.min()) if present.size else 0.0,
        high=float(present.max()) if present.size else 0.0,
        missing=lost,
        missing_token=max(counts, key=counts.__getitem__) if lost else "",
        note=numbers.note,
    )
    return column, codes


def _kind_of(numbers: NDArray[np.float64]) -> Kind:
    whole = (np.abs(numbers) < EXACT).all() and (numbers == np.round(numbers)).all()
    return Kind.INTEGER if whole else Kind.REAL
