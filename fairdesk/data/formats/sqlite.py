"""The cells of a table in an SQLite database, which may be hostile: only stored rows are read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import product
from pathlib import Path
from time import monotonic

from fairdesk.data.formats.packing import Packing
from fairdesk.data.formats.raw_table import Cells, Watch, check_size, check_width, readable
from fairdesk.data.formats.text_layout import with_content
from fairdesk.data.table import Dialect
from fairdesk.errors import DataError

_CELLS_AT_ONCE = 1_000_000
#: Longer texts, more columns and deeper expressions are refused by SQLite itself.
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 1 << 24,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 50,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
}
#: So long, in seconds, may the next rows take.
_PATIENCE = 60.0


def read_sqlite(
    path: Path, dialect: Dialect | None, watch: Watch
) -> tuple[Cells, Dialect, tuple[str, ...]]:
    """Read one table of a database: the one that the dialect names, or the first with some.

    Only tables that are stored are offered: views and virtual tables are programs.

    Raises
    ------
    DataError
        When the database is broken or in use, has no such table, or exceeds the caps.
    """
    with readable(path), _explained(path), closing(_opened(path)) as database:
        patience = _Patience(database)
        tables = _tables(database)
        name = _chosen(path, database, tables, dialect)
        _refuse_computed(database, name)
        count = database.execute(f"SELECT count(*) FROM {_quoted(name)}").fetchone()[0]  # noqa: S608 - the name is quoted
        rows = database.execute(f"SELECT * FROM {_quoted(name)}")  # noqa: S608 - the name is quoted
        header = [column[0] for column in rows.description]
        width = len(header)
        check_width(path, width)
        check_size(path, count * width)
        packing, done = Packing(width), 0
        while chunk := rows.fetchmany(max(1, _CELLS_AT_ONCE // width)):
            patience.begin()
            done += len(chunk)
            packing.add(zip(*chunk, strict=True))
            watch(done / max(count, 1))
    cells = Cells.under(header, packing.columns())
    how = Dialect(format="sqlite", table=name)
    return cells, with_content(how, dialect, cells), tables


def _opened(path: Path) -> sqlite3.Connection:
    """Open a database so that nothing is written and nothing of it runs."""
    beside = path.with_name(path.name + "-wal")
    if beside.exists() and beside.stat().st_size:
        raise DataError(
            f"The database “{path.name}” is in use: not all of its rows are in the file.",
            why=f"Some may still be in “{beside.name}” next to it.",
            remedy="Close the program that is writing to it, or export the table as CSV.",
        )
    if _is_cut_short(path):
        # SQLite itself reads zeros for what is missing of the last page
        raise sqlite3.DatabaseError("the file is truncated")
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    database = sqlite3.connect(address, uri=True, isolation_level=None)
    for limit, most in _LIMITS.items():
        database.setlimit(limit, most)
    database.execute("PRAGMA trusted_schema=OFF")
    database.execute("PRAGMA cell_size_check=ON")
    database.text_factory = _text
    database.set_authorizer(_allow)
    return database


def _is_cut_short(path: Path) -> bool:
    """Return whether pages are missing, or a part of the last one; see the format's section 1.3."""
    with path.open("rb") as stream:
        head = stream.read(100)
    size = path.stat().st_size
    page = int.from_bytes(head[16:18], "big")
    page = 1 << 16 if page == 1 else page
    pages = int.from_bytes(head[28:32], "big") if head[24:28] == head[92:96] else 0
    return len(head) < 100 or page < 512 or size % page != 0 or size < pages * page


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", errors="strict")


def _allow(action: int, what: str | None, name: str | None, *_: str | None) -> int:
    """Allow what reading a table needs; all else is refused before it runs."""
    known = (
        action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ)
        or (action == sqlite3.SQLITE_FUNCTION and name == "count")
        or (action == sqlite3.SQLITE_PRAGMA and what == "table_xinfo")
    )
    return sqlite3.SQLITE_OK if known else sqlite3.SQLITE_DENY


class _Patience:
    """Ends a query whose next rows do not come in time."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.begin()
        database.set_progress_handler(lambda: monotonic() > self._end, 100_000)

    def begin(self) -> None:
        """Wait anew."""
        self._end = monotonic() + _PATIENCE


def _tables(database: sqlite3.Connection) -> tuple[str, ...]:
    """Return the names of the stored tables, in the order in which they were made."""
    rows = database.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY rowid"
    )
    return tuple(name for (name,) in rows if not name.casefold().startswith("sqlite_"))


def _refuse_computed(database: sqlite3.Connection, table: str) -> None:
    """Refuse a table with columns that are computed when it is read: they are programs too."""
    columns = database.execute(f"PRAGMA table_xinfo({_quoted(table)})")
    computed = [f"“{name[:80]}”" for _, name, *_, hidden in columns if hidden]
    if computed:
        raise DataError(
            f"The table “{table[:80]}” has columns that are computed: {', '.join(computed[:5])}.",
            why="Only stored values are read, so that no code in a database is run.",
            remedy="Export the table as CSV.",
        )


def _chosen(
    path: Path, database: sqlite3.Connection, tables: tuple[str, ...], dialect: Dialect | None
) -> str:
    if dialect is not None and dialect.table:
        return table_named(dialect.table, tables, path)
    # a table of the database's own version has a row
    for least, name in product((2, 1), tables):
        query = f"SELECT 1 FROM {_quoted(name)} LIMIT {least}"  # noqa: S608 - the name is quoted
        if len(database.execute(query).fetchall()) == least:
            return name
    raise DataError(
        f"The database “{path.name}” has no table with rows.",
        why="Views and virtual tables are not read." if not tables else "",
        remedy="Choose another file.",
    )


def table_named(name: str, tables: tuple[str, ...], path: Path) -> str:
    """Return the name back; raises `DataError` when it is none of the tables."""
    if name in tables:
        return name
    listed = ", ".join(f"“{each[:80]}”" for each in tables[:20])
    raise DataError(
        f"There is no table “{name[:80]}” in “{path.name}”.",
        remedy=f"Its tables are: {listed}." if tables else "Choose another file.",
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what SQLite reported into `DataError`."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise DataError(
            f"The database “{path.name}” cannot be read.",
            why=f"SQLite reported: {error}.",
            remedy="Check it with the program that made it, or export the table as CSV.",
        ) from error
