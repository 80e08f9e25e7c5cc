"""From the cells of a column to its codes and its kind."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.columns.kinds import (
    EXACT,
    FEW,
    FEW_ODD,
    NumbersRead,
    as_numbers,
    identifies,
    in_order,
    is_padded,
    is_prose,
    may_be_thousands,
    mended,
    read_as,
    read_numbers,
)
from fairdesk.data.columns.texts import Mask, Numbers, Texts, written_out
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

#: A text may have gone through this more than once.
_MOST_TIMES = 3
_USUAL = "cp1252"
_CONTROLS = "fairdesk.controls"


T = TypeVar("T", OddCell, Garbled)
#: A float that is a whole number of thousandths, times 1000, is so near to a whole number.
_ROUNDING = 1e-3
#: Of a garbled text so much is listed.
_LONGEST = 200


def meant(text: str, encoding: str = _USUAL) -> str:
    """Return what a text was meant to be; the text itself where nothing shows that it is garbled.

    Parameters
    ----------
    encoding : str
        That of the file: its bytes are tried besides those of Windows-1252.
    """
    for _ in range(_MOST_TIMES):
        if text.isascii():
            break
        better = next(filter(None, (_decoded(text, each) for each in (_USUAL, encoding))), None)
        if better is None:
            break
        text = better
    return text


def meanings(texts: Sequence[str], encoding: str) -> dict[str, str]:
    """Return the garbled ones of some texts, each with what was meant."""
    found = {text: meant(text, encoding) for text in texts if not text.isascii()}
    return {text: other for text, other in found.items() if text != other}


def _decoded(text: str, encoding: str) -> str | None:
    """Read the bytes of a text as UTF-8; None where they are none.

    So they are in an encoding of one byte a letter only: in those of Chinese or Japanese a whole
    word may by chance be the bytes of another.
    """
    try:
        raw = text.encode(encoding, _CONTROLS)
        return raw.decode() if len(raw) == len(text) else None
    except UnicodeError:
        return None


def _control(error: UnicodeError) -> tuple[bytes, int]:
    """Return the bytes that an encoding does not know: they are read as control characters."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return error.object[error.start : error.end].encode("latin-1"), error.end


codecs.register_error(_CONTROLS, _control)


def typed(
    name: str, cells: Texts | Numbers, dialect: Dialect
) -> tuple[Column, NDArray[np.float64]]:
    """Make a column of cells a typed one.

    Parameters
    ----------
    dialect : Dialect
        The file's missing tokens, decimal mark and encoding, and what was decided of the column.

    Returns
    -------
    column : Column
        Its kind is inferred; see `fairdesk.data.columns.kinds`. What is odd or garbled in it is
        listed by rows from 0; see `numbered`.
    codes : NDArray[np.float64]
        ``(n,)``; NaN where missing.
    """
    if isinstance(cells, Numbers) and dialect.reading(name).numeric is False:
        cells = written_out(cells)
    if isinstance(cells, Numbers):
        column, codes = typed_numbers(name, cells, dialect.tokens(name))
        return by_use(column, codes), codes
    column, lookup = typed_texts(name, cells, dialect)
    codes = np.take(lookup, cells.codes)
    return by_use(column, codes), codes


def by_use(
    column: Column, codes: NDArray[np.float64], weights: NDArray[np.int64] | None = None
) -> Column:
    """Return a column as one of text, or as an identifier, where it is; as of `identifies`."""
    if is_prose(column, codes, weights):
        return msgspec.structs.replace(column, kind=Kind.TEXT)
    if identifies(column, codes, weights):
        return msgspec.structs.replace(column, kind=Kind.IGNORED)
    return column


def coded(column: Column, cells: Texts | Numbers, dialect: Dialect) -> NDArray[np.float64]:
    """Return more cells of a column in its codes, read as those were that it was made of.

    Nothing is found out from these cells: each has the code that it would have among all of them.

    Returns
    -------
    NDArray[np.float64]
        ``(n,)``; NaN where missing, or not one of the column's values.
    """
    missing = dialect.tokens(column.name)
    if isinstance(cells, Numbers):
        codes, _ = without(cells.codes, missing)
        if not column.values:
            return codes
        numbers, places = np.unique(codes, return_inverse=True)
        return np.asarray(_placed(column, [""] * len(numbers), numbers, dialect)[places])
    wanted = ~cells.among({"", *missing})
    lookup = np.full(len(cells), np.nan)
    if not column.values:
        lookup[wanted] = _read_as(column, cells, wanted, dialect)
        return np.take(lookup, cells.codes)
    present = cells.pick(wanted)
    if dialect.encoding_mended:
        meaning = meanings(present, dialect.encoding)
        present = [meaning.get(text, text) for text in present]
    numbers = np.full(len(present), np.nan)
    # the values of a column of numbers that was made one of names, however its file spells them
    spelt = dialect.reading(column.name).numeric is False or any(map(is_padded, column.values))
    if not spelt and as_numbers(column.values, dialect.decimal) is not None:
        numbers = _read_as(column, cells, wanted, dialect)
    lookup[wanted] = _placed(column, present, numbers, dialect)
    return np.take(lookup, cells.codes)


def _placed(
    column: Column, texts: Sequence[str], numbers: NDArray[np.float64], dialect: Dialect
) -> NDArray[np.float64]:
    """Return the places of cells among a column's values, as they stand or as the numbers are."""
    place = {value: float(i) for i, value in enumerate(column.values)}
    found = [place.get(text, np.nan) for text in texts]
    for i in np.flatnonzero(np.isnan(found) & ~np.isnan(numbers)).tolist():
        number = float(numbers[i])
        written = repr(number).replace(".", dialect.decimal)
        if written not in place and number.is_integer():
            written = str(int(number))
        found[i] = place.get(written, np.nan)
    return np.array(found)


def _read_as(column: Column, cells: Texts, wanted: Mask, dialect: Dialect) -> NDArray[np.float64]:
    """Read some texts as a column's numbers are written; NaN for an odd one, unless decided."""
    found = np.full(len(cells), np.nan)
    rest = wanted
    if column.format is None:
        plain = wanted & cells.plain
        numbers = cells.numbers(plain, dialect.decimal)
        if numbers is not None:
            found[plain] = numbers
            rest = wanted & ~plain
    form, reading = column.format or NumberFormat(dialect.decimal), dialect.reading(column.name)
    texts = cells.pick(rest)
    values = read_as(texts, form)
    for i in np.flatnonzero(np.isnan(values)).tolist():
        values[i] = _value(texts[i], form, reading)
    found[rest] = values
    return found[wanted]


def numbered(
    columns: Sequence[Column], lines: Callable[[set[int]], dict[int, int]] | None
) -> list[Column]:
    """Give odd and garbled cells the line numbers of their file, asked for once; None: no lines."""
    places = [each.lines for column in columns for each in column.odd]
    places += [each.lines for column in columns for each in column.garbled]
    rows = set(chain.from_iterable(places))
    if not rows:
        return list(columns)
    line = lines(rows) if lines else {}

    def with_line(each: T) -> T:
        known = tuple(line[row] for row in each.lines) if lines else ()
        return msgspec.structs.replace(each, lines=known)

    return [
        msgspec.structs.replace(
            column,
            odd=tuple(map(with_line, column.odd)),
            garbled=tuple(map(with_line, column.garbled)),
        )
        for column in columns
    ]


def typed_texts(name: str, texts: Texts, dialect: Dialect) -> tuple[Column, NDArray[np.float64]]:
    """Make a column of texts a typed one, whatever its use; its codes are those of each text."""
    gone = texts.among({"", *dialect.tokens(name)})
    tally = texts.tally(gone)
    column = Column(
        name, Kind.IGNORED, missing_token=commonest(tally), missing_texts=missing_texts(tally)
    )
    lookup = np.full(len(texts), np.nan)
    reading = dialect.reading(name)
    if reading.numeric is None and reading.format is None and _are_codes(texts, ~gone):
        reading = msgspec.structs.replace(reading, numeric=False)
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
    return column, lookup


def commonest(tally: Mapping[str, int]) -> str:
    """Return the text of most missing cells; of several the first in the order of their signs."""
    return min(tally, key=lambda text: (-tally[text], text), default="")


def missing_texts(tally: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """List the texts of missing cells as `Column` does; the empty one is not listed."""
    bare: Counter[str] = Counter()
    for text, count in tally.items():
        bare[text.strip()] += count
    bare[""] = 0
    listed = sorted((+bare).items(), key=lambda each: (-each[1], each[0]))
    return tuple(listed[:MOST_LISTED])


def _are_codes(texts: Texts, wanted: Mask) -> bool:
    """Return whether leading zeros show that a column's digits are codes: 01 is not 1.

    A few zeros among many numbers of different lengths show nothing.
    """
    padded = texts.padded(wanted)
    if not padded.any():
        return False
    rows, lengths = texts.counts(), texts.lengths(wanted)
    often = rows[padded].sum() > FEW_ODD * rows[wanted].sum()
    return bool(often or lengths.size <= FEW or lengths.min() == lengths.max())


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
            Garbled(*_differing(text, meaning[text]), count, meaning[text] in there, lines)
            for text, count, lines in garbled
        )
        column = msgspec.structs.replace(column, garbled=found)
        if dialect.encoding_mended:
            present = [meaning.get(text, text) for text in present]
    different = set(present)
    ordered = in_order(different)
    values = ordered or _sorted(different, dialect.decimal)
    position = {value: float(i) for i, value in enumerate(values)}
    kind = Kind.ORDINAL if ordered else Kind.NOMINAL
    column = msgspec.structs.replace(column, kind=kind, values=values)
    return column, np.array([position[text] for text in present])


def _sorted(values: Collection[str], decimal: str) -> tuple[str, ...]:
    """Return names in the order of `Column`: as text, those that are all numbers by their size."""
    in_text = sorted(values)
    numbers = as_numbers(in_text, decimal)
    if numbers is None:
        return tuple(in_text)
    return tuple(in_text[i] for i in np.argsort(numbers, kind="stable").tolist())


def _differing(text: str, meant: str) -> tuple[str, str]:
    """Cut a garbled text, and what was meant, to as much as is listed of where they differ."""
    both = enumerate(zip(text, meant, strict=False))
    first = next((place for place, (one, other) in both if one != other), 0)
    begin = max(0, min(first - _LONGEST // 2, len(text) - _LONGEST))
    return text[begin : begin + _LONGEST], meant[begin : begin + _LONGEST]


def _occurring(
    names: Sequence[str], texts: Texts, wanted: Mask, places: NDArray[np.intp]
) -> tuple[list[tuple[str, int, tuple[int, ...]]], int]:
    """Count some of a column's texts and find their first rows.

    Parameters
    ----------
    names : sequence of str
        What each is called; several may have one name.

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
    counts = np.zeros(len(order), np.int64)
    np.add.at(counts, number[number >= 0], texts.counts()[number >= 0])
    each = number[texts.codes]
    rows = np.flatnonzero(each >= 0)
    each = each[rows]
    # of those that are as frequent, the one that comes first
    listed = list(order)
    chosen = np.argsort(-counts, kind="stable")[:MOST_LISTED].tolist()
    return [
        (listed[i], int(counts[i]), tuple(rows[each == i][:MOST_LINES].tolist())) for i in chosen
    ], int(counts.sum())


def typed_numbers(
    name: str, numbers: Numbers, missing: Collection[str]
) -> tuple[Column, NDArray[np.float64]]:
    """Make a column of numbers a typed one, whatever its use."""
    codes, counts = without(numbers.codes, missing)
    present = codes[~np.isnan(codes)]
    lost = codes.size - present.size
    column = Column(
        name=name,
        kind=_kind_of(present) if present.size else Kind.IGNORED,
        low=float(present.min()) if present.size else 0.0,
        high=float(present.max()) if present.size else 0.0,
        missing=lost,
        missing_token=commonest(counts) if lost else "",
        missing_texts=missing_texts(counts),
        note=numbers.note,
    )
    return column, codes


def without(
    codes: NDArray[np.float64], missing: Collection[str]
) -> tuple[NDArray[np.float64], dict[str, int]]:
    """Return numbers with NaN for what counts as missing, and how often each of it occurs."""
    counts = {"": int(np.count_nonzero(np.isnan(codes)))}
    for token in missing:
        meant = as_numbers([token], ".")
        if meant is not None:
            counts[token] = int(np.count_nonzero(codes == meant[0]))
            codes = np.where(codes == meant[0], np.nan, codes)
    return codes, counts


def _kind_of(numbers: NDArray[np.float64]) -> Kind:
    whole = (np.abs(numbers) < EXACT).all() and (numbers == np.round(numbers)).all()
    return Kind.INTEGER if whole else Kind.REAL
