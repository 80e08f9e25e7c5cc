"""From a file to a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import msgspec
import numpy as np

from fairdesk.data.columns.columns import numbered, typed
from fairdesk.data.columns.derived import with_ages, with_groups
from fairdesk.data.columns.texts import Numbers, Texts
from fairdesk.data.formats.delimited import read_delimited
from fairdesk.data.formats.excel import read_excel
from fairdesk.data.formats.parquet import read_parquet
from fairdesk.data.formats.parts import is_large, read_parts
from fairdesk.data.formats.raw_table import Cells, Watch, readable
from fairdesk.data.formats.sqlite import read_sqlite
from fairdesk.data.formats.text_layout import line_numbers
from fairdesk.data.table import Column, Dialect, Source, Table
from fairdesk.errors import DataError
from fairdesk.files import sha256
from fairdesk.results.events import Rows
from fairdesk.signatures import recognise

#: So often, in seconds, whoever watches is told.
_TELL_SECONDS = 0.2
#: This share of the time goes to splitting a file into cells, the rest to what they mean.
_SPLITTING = 0.6
#: What files with several tables begin with.
_WORKBOOK = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
_DATABASE = b"SQLite format 3\0"
_WITH_TABLES = (*_WORKBOOK, _DATABASE)

#: Gives a file's cells, how it is written, and the names of the tables in it.
Reader = Callable[[Path, Dialect | None, Watch], tuple[Cells, Dialect, tuple[str, ...]]]


def read_table(
    path: Path, dialect: Dialect | None = None, watch: Callable[[float], None] | None = None
) -> Table:
    """Read a table's file and infer the kind of every column.

    What the file is (delimited text, Parquet, an Excel or OpenDocument workbook, SQLite) is told
    by its first bytes, never by its name. Of a folder with the parts of a table, and of a Parquet
    file that memory may not hold, see `fairdesk.data.formats.parts.read_parts`.

    Parameters
    ----------
    path : Path
        The file.
    dialect : Dialect, optional
        How it is written; found by looking at it when left out.
    watch : callable, optional
        Told a few times a second which share of the work is done, 0 to 1.

    What is decided of columns that the file does not have is left aside.

    Returns
    -------
    Table
        With at least two rows. Values are kept exactly as written, spaces included; missing
        tokens and numbers may have spaces around them.

    Raises
    ------
    DataError
        When the file cannot be read, is no table, or has fewer than two rows of data.
    """
    if dialect is not None and dialect.decimal not in (".", ","):
        raise DataError(
            f"“{dialect.decimal}” cannot be a decimal mark.", remedy="Choose a point or a comma."
        )
    watching = _Watching(watch)
    if path.is_dir() or (path.is_file() and is_large(path)):
        if dialect is not None and dialect.ages:
            raise DataError(
                "Ages cannot be derived from dates in a table that is read in parts.",
                remedy="Add a column with the age to the table, and protect that.",
            )
        return read_parts(path, dialect, watching.part(0.0, 1.0))
    with readable(path), path.open("rb") as stream:
        head = stream.read(16)
    refuse_foreign(path)
    if dialect is not None and dialect.table and not head.startswith(_WITH_TABLES):
        raise DataError(
            f"There is no table “{dialect.table}” in “{path.name}”.",
            why="The file itself is a single table.",
            remedy="Omit the name of the table.",
        )
    read = _reader_of(head)
    cells, dialect, tables = read(path, dialect, watching.part(0.0, _SPLITTING))
    _check_rows(path, cells, dialect, tables)
    fingerprint, rows = cells.sha256, cells.rows
    if not fingerprint:
        with readable(path):
            fingerprint = sha256(path)
    names, notes, waiting = cells.names, cells.notes, list(cells.columns[::-1])
    row_numbers = cells.row_numbers
    del cells
    columns, codes = _typed(names, notes, waiting, dialect, watching.part(_SPLITTING, 1.0))

    def lines(wanted: set[int]) -> dict[int, int]:
        if row_numbers is not None:
            return {row: int(row_numbers[row]) for row in wanted}
        if dialect.format == "csv":
            return line_numbers(path, dialect, wanted)
        return {row: row + 1 for row in wanted}

    columns, codes = with_ages(tuple(numbered(columns, lines)), codes, dialect)
    columns, codes = with_groups(columns, codes, dialect.groups)
    source = Source(str(path.absolute()), fingerprint, rows, dialect, tables)
    return Table(source, columns, codes)


def refuse_foreign(path: Path) -> None:
    """Refuse what is known to be no table: a model, a picture, a web page.

    Raises
    ------
    DataError
        Naming what the file is, and what to do.
    """
    with readable(path):
        known = recognise(path)
    if known is not None and known.as_table:
        raise DataError(f"“{path.name}” is {known.what}.", remedy=known.as_table)


def _reader_of(head: bytes) -> Reader:
    """Choose how to read a file by its first bytes."""
    if head.startswith(b"PAR1"):
        return read_parquet
    if head.startswith(_WORKBOOK):
        return read_excel
    if head.startswith(_DATABASE):
        return read_sqlite
    return read_delimited


def _typed(
    names: tuple[str, ...],
    notes: tuple[str, ...],
    waiting: list[Texts | Numbers],
    dialect: Dialect,
    watch: Watch,
) -> tuple[tuple[Column, ...], Rows]:
    """Return the columns their kinds; ``waiting`` (the last one first) is emptied on the way."""
    codes = np.empty((len(waiting[0].codes), len(names)), order="F")
    columns = []
    for place, (name, note) in enumerate(zip(names, notes, strict=True)):
        column, codes[:, place] = typed(name, waiting.pop(), dialect)
        columns.append(msgspec.structs.replace(column, note=column.note or note))
        watch((place + 1) / len(names))
    return tuple(columns), codes


class _Watching:
    """Tells a share of the work, not too often; never that it went back."""

    def __init__(self, watch: Watch | None) -> None:
        self._watch = watch
        self._reported = perf_counter()
        self._share = 0.0

    def part(self, start: float, end: float) -> Watch:
        """Return what tells the share of a part of the work."""
        return lambda share: self._tell(start + (end - start) * min(share, 1.0))

    def _tell(self, share: float) -> None:
        now = perf_counter()
        if self._watch is None or share <= self._share:
            return
        if share >= 1.0 or now - self._reported >= _TELL_SECONDS:
            self._reported, self._share = now, share
            self._watch(share)


def _check_rows(path: Path, cells: Cells, dialect: Dialect, tables: tuple[str, ...]) -> None:
    """Refuse a table in which nobody can be compared with anybody."""
    if cells.rows >= 2:
        return
    found = (
        "only one row of data" if cells.rows else "no rows of data, only the names of its columns"
    )
    why = "The first line is read as the names of the columns." if dialect.header else ""
    others = [f"“{name[:80]}”" for name in tables if name != dialect.table]
    raise DataError(
        f"The table “{dialect.table}” in “{path.name}” has {found}; an audit needs at least two "
        "rows."
        if others
        else f"The file “{path.name}” has {found}; an audit needs at least two rows.",
        why=why,
        remedy=f"Choose another of its tables: {', '.join(others[:20])}."
        if others
        else "Choose a file with one row per case.",
    )
