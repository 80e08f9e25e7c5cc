"""Tables on their way out: people in the data's own words, written as their file is."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.formats.text_layout import delimiter_of, excel_delimiter, lines, opened
from fairdesk.data.table import Column, Dialect, Kind, Source, Table
from fairdesk.errors import ReportError
from fairdesk.files import sha256
from fairdesk.report.writing import replacing
from fairdesk.results.events import Rows

_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?")
_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")
#: Rows of a table turned into text at a time.
_CHUNK = 10_000


def guarded(text: str) -> str:
    """Keep a spreadsheet from running a text cell as a formula.

    A text that starts like a formula gets an apostrophe before it (OWASP, CWE-1236); numbers,
    also negative ones, are left alone.
    """
    if text.startswith(_STARTS_A_FORMULA) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def plain(value: object) -> str:
    """Write a figure: numbers with ten digits at most, nothing for what is undefined."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def write_rows(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table for a spreadsheet: UTF-8 with a byte order mark, commas.

    Raises
    ------
    ReportError
        When the file cannot be written.
    """
    with replacing(path) as draft, draft.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def beside(taken: Sequence[str], names: Sequence[str]) -> list[str]:
    """Make header names distinct from others that are taken, and from each other."""
    used = set(taken)
    distinct: list[str] = []
    for name in names:
        free = name
        while free in used:
            free += " (FairDesk)"
        used.add(free)
        distinct.append(free)
    return distinct


def decoded(codes: NDArray[np.float64], attribute: Attribute, column: Column) -> Rows:
    """Return codes of an attribute as codes of its column, ``(m,)``; missing ones as NaN.

    Of a column of texts the codes after the attribute's last are new texts: they come after the
    column's last.
    """
    if not attribute.values:
        return codes
    unknown = codes == attribute.unknown_code
    named = attribute.named
    if attribute.numeric:
        known = [float(value) for value in named]
    else:
        places = {value: float(place) for place, value in enumerate(column.values)}
        known = [places[value] for value in named]
    last, new = len(named), codes >= len(attribute.values)
    at = np.where(np.isnan(codes) | unknown | new, last, codes).astype(np.intp)
    found = np.append(np.array(known), np.nan)[at]
    found[new] = codes[new] - len(attribute.values) + len(column.values)
    return found


def rows_of_people(
    attributes: Sequence[Attribute],
    table: Table,
    people: Rows,
    label: str,
    labels: Sequence[str],
    like: NDArray[np.intp] | None = None,
    texts: Sequence[str] = (),
) -> Table:
    """Make rows of a table of people in a domain's codes.

    Parameters
    ----------
    attributes : sequence of Attribute
        What the columns of ``people`` are.
    people : Rows
        ``(m, d)`` codes, as `decoded` takes them.
    labels : sequence of str
        ``(m,)``; its values, as it has them.
    like : NDArray[np.intp], optional
        ``(m,)``; whose values they have in columns that are no attributes: places in the table.
        Without it these cells are missing.

    Returns
    -------
    Table
        ``m`` rows; columns of texts have the new ones too.
    """
    codes = np.full((len(people), len(table.columns)), np.nan)
    if like is not None:
        codes[:] = table.codes[like]
    columns = list(table.columns)
    for i, attribute in enumerate(attributes):
        place = table.index(attribute.name)
        column = columns[place]
        codes[:, place] = decoded(people[:, i], attribute, column)
        if attribute.kind is Kind.TEXT and texts:
            columns[place] = msgspec.structs.replace(column, values=(*column.values, *texts))
    place = table.index(label)
    known = {text: _code(text, columns[place], table.codes[:, place]) for text in set(labels)}
    codes[:, place] = [known[text] for text in labels]
    return Table(table.source, tuple(columns), codes)


def _code(text: str, column: Column, codes: NDArray[np.float64]) -> float:
    """Return the code of a value that a column of these codes has, by its text."""
    if column.values:
        return float(column.values.index(text))
    present = np.unique(codes[~np.isnan(codes)]).tolist()
    return float(present[[column.text(code) for code in present].index(text)])


def is_there(source: Source) -> bool:
    """Return whether the file that a table came from is still there, as it was read."""
    path = Path(source.path)
    try:
        return path.is_file() and sha256(path) == source.sha256
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class Extended:
    """A table with rows added to it.

    Attributes
    ----------
    table : Table
        Its own rows.
    added : Table
        The added ones: the same columns, whose lists of values may have grown, and maybe more.
    also : tuple[str, ...]
        The cells of those further columns in the table's own rows.
    there : bool
        Whether the file that the table came from is there (`is_there`): then its own rows are
        those of the file, cell for cell, and added ones spell a value as the file does.
    """

    table: Table
    added: Table
    also: tuple[str, ...] = ()
    there: bool = False


def write_exactly(path: Path, extended: Extended) -> None:
    """Write a table with rows added to it as its file is written: to be read by programs.

    What is no CSV is written with commas, in UTF-8.

    Raises
    ------
    ReportError
        When it cannot be written.
    """
    dialect = extended.table.source.dialect
    extended = replace(extended, table=_own(extended.table), added=_own(extended.added))
    with _own_rows(extended) as own:
        _write(path, extended, own, dialect.encoding, header=dialect.header)


def write_guarded(path: Path, extended: Extended) -> None:
    """Write the same for a spreadsheet: cells that it would run are guarded, columns named.

    In UTF-8 with a byte order mark, with the delimiter and the decimal mark of the file.

    Raises
    ------
    ReportError
        When it cannot be written.
    """
    extended = replace(extended, table=_own(extended.table), added=_own(extended.added))
    with _own_rows(extended) as own:
        _write(
            path, extended, replace(own, first="", end="\n"), "utf-8-sig", header=True, safe=True
        )


def _own(table: Table) -> Table:
    """Return a table without the columns that follow from others: its file does not have them."""
    own = [place for place, column in enumerate(table.columns) if not column.derived]
    if len(own) == len(table.columns):
        return table
    return replace(table, columns=tuple(table.columns[i] for i in own), codes=table.codes[:, own])


@dataclass(frozen=True, slots=True)
class _Own:
    """The own rows of a table, and how its file begins and ends lines."""

    rows: Iterator[Sequence[str]]
    header: Sequence[str]
    first: str = ""
    end: str = "\n"


@contextmanager
def _own_rows(extended: Extended) -> Iterator[_Own]:
    """Return a table's own rows: as they stand in its file, or written from their codes."""
    table = extended.table
    dialect = table.source.dialect
    if not (extended.there and dialect.format == "csv"):
        yield _Own(_texts(table, dialect), table.names)
        return
    path = Path(table.source.path)
    with opened(path, dialect) as stream:
        begin = stream.readline()
        stream.seek(0)
        rows = filter(None, csv.reader(lines(stream), delimiter=delimiter_of(dialect), strict=True))
        yield _Own(
            rows,
            next(rows) if dialect.header else table.names,
            begin if excel_delimiter(begin) else "",
            "\r\n" if begin.endswith("\r\n") else "\n",
        )


def _write(
    path: Path, extended: Extended, own: _Own, encoding: str, *, header: bool, safe: bool = False
) -> None:
    table, added, dialect = extended.table, extended.added, extended.table.source.dialect
    spelling = _Spelling(extended)
    extra = added.names[len(table.columns) :]
    noted = spelling.noted(own.rows)
    rows = chain(
        [[*own.header, *extra]] if header else [],
        ([*row, *extended.also] for row in noted) if extra else noted,
        _texts(added, dialect, spelling.text),
    )
    with replacing(path) as draft, draft.open("w", encoding=encoding, newline="") as stream:
        stream.write(own.first)
        writer = csv.writer(stream, delimiter=delimiter_of(dialect), lineterminator=own.end)
        try:
            writer.writerows(map(_guarded_row, rows) if safe else rows)
        except UnicodeEncodeError as error:
            raise ReportError(
                f"“{path.name}” cannot be written in the encoding of the data.",
                why=f"{encoding} has no character “{error.object[error.start]}”, which an "
                f"added text "
                "has.",
                remedy="Save the data in UTF-8 and audit them again.",
            ) from error


def _guarded_row(row: Sequence[str]) -> list[str]:
    # few cells begin like a formula, and there may be many
    return [guarded(cell) if cell[:1] in _STARTS_A_FORMULA else cell for cell in row]


class _Spelling:
    """How a file spells the values of added rows, noted while its own rows pass by.

    A whole number that the file does not have gets zeros before it where others have them.
    """

    def __init__(self, extended: Extended) -> None:
        table, added = extended.table, extended.added
        self._count = len(table.codes)
        self._dialect = table.source.dialect
        self._there = extended.there and self._dialect.format == "csv"
        self._known: dict[tuple[int, float], str] = {}
        self._widths: dict[int, int] = {}
        self._first: dict[int, list[tuple[int, float]]] = {}
        for place, column in enumerate(table.columns if self._there else ()):
            wanted = np.unique(added.codes[:, place])
            wanted = wanted[~np.isnan(wanted)]
            known, first = np.unique(table.codes[:, place], return_index=True)
            at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
            there = known[at] == wanted
            for code, row in zip(wanted[there].tolist(), first[at][there].tolist(), strict=True):
                self._first.setdefault(row, []).append((place, code))
            if column.kind is Kind.INTEGER and not there.all():
                self._widths[place] = 0

    def noted(self, rows: Iterator[Sequence[str]]) -> Iterator[Sequence[str]]:
        """Pass the file's own rows on, and look at them.

        Raises
        ------
        ReportError
            When there are more or fewer than the table has.
        """
        number = -1
        for number, row in enumerate(rows):
            for place, code in self._first.get(number, ()):
                self._known[place, code] = row[place]
            for place in self._widths:
                if row[place].startswith("0"):
                    self._widths[place] = max(self._widths[place], len(row[place]))
            yield row
        if number + 1 != self._count:
            raise ReportError(
                "The data file changed while it was read.",
                remedy="Export again when no other program is writing to it.",
            )

    def text(self, place: int, code: float, column: Column) -> str:
        """Spell a value."""
        if (text := self._known.get((place, code))) is not None:
            return text
        text = _localised(column.text(code), column, self._dialect)
        return text if np.isnan(code) else text.zfill(self._widths.get(place, 0))


def _texts(
    table: Table, dialect: Dialect, spelt: Callable[[int, float, Column], str] | None = None
) -> Iterator[Sequence[str]]:
    """Write a table's rows as texts; each distinct code of some rows is written once."""

    def text(_place: int, code: float, column: Column) -> str:
        return _localised(column.text(code), column, dialect)

    for start in range(0, len(table.codes), _CHUNK):
        columns = []
        for place, column in enumerate(table.columns):
            codes = table.codes[start : start + _CHUNK, place]
            distinct, positions = np.unique(codes, return_inverse=True)
            texts = [(spelt or text)(place, code, column) for code in distinct.tolist()]
            columns.append([texts[position] for position in positions.tolist()])
        yield from zip(*columns, strict=True)


def _localised(text: str, column: Column, dialect: Dialect) -> str:
    """Return a number the file's decimal mark."""
    if column.kind.is_number and text != column.missing_token:
        return text.replace(".", dialect.decimal)
    return text
