"""The cells of a CSV file as texts: streamed once, each distinct text kept once per column."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.table import Dialect
from fairdesk.data.texts import AnyTexts, Numbers, Texts
from fairdesk.errors import DataError

if TYPE_CHECKING:
    from fairdesk.data.packing import Packing

#: Files with more columns, cells or longer lines are refused: they are no tables of people.
MOST_COLUMNS = 10_000
MOST_CELLS = 200_000_000
LONGEST_LINE = 1 << 24

#: Files of at most so many bytes are read without Arrow, which takes longer to load.
SMALL = 1 << 21

Watch = Callable[[float], None]

#: So many cells are held as Python texts at a time.
_CELLS_AT_ONCE = 1_000_000
#: The first line in which Excel names the delimiter.
_EXCEL_LINE = re.compile(r'"?sep=(.)"?\s*')


@dataclass(frozen=True)
class Cells:
    """A file's cells.

    Attributes
    ----------
    names : tuple[str, ...]
        The names of its columns, unique.
    columns : tuple of AnyTexts or Numbers
        What stands in them.
    notes : tuple[str, ...]
        As `fairdesk.data.table.Column.note`, one per column.
    sha256 : str
        The fingerprint of the file, where it was taken on the way; else empty.
    row_numbers : NDArray[np.int32], optional
        ``(n,)``; what the file's own program numbers the rows, of a sheet.
    """

    names: tuple[str, ...]
    columns: tuple[AnyTexts | Numbers, ...]
    notes: tuple[str, ...]
    sha256: str = ""
    row_numbers: NDArray[np.int32] | None = None

    @property
    def rows(self) -> int:
        """The number of data rows."""
        return len(self.columns[0].codes)


class _Numbering(dict[str, int]):
    """Numbers texts in the order in which they are first asked for."""

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number


class _Numberings:
    """Gathers columns of texts, each distinct one kept once."""

    def __init__(self, width: int) -> None:
        self._distinct = [_Numbering() for _ in range(width)]
        self._parts: list[list[NDArray[np.int32]]] = [[] for _ in range(width)]

    def add(self, columns: Iterable[Sequence[str]]) -> None:
        """Take more rows, column by column."""
        for numbering, parts, cells in zip(self._distinct, self._parts, columns, strict=True):
            parts.append(np.fromiter(map(numbering.__getitem__, cells), np.int32, len(cells)))

    def columns(self) -> tuple[Texts, ...]:
        """Give all that was gathered."""
        empty = np.empty(0, np.int32)
        return tuple(
            Texts(list(numbering), np.concatenate([empty, *parts]))
            for numbering, parts in zip(self._distinct, self._parts, strict=True)
        )


def unwatched(share: float) -> None:
    """Watch nothing."""


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn the failures of opening, decoding and parsing a file into `DataError`."""
    try:
        if path.exists() and not path.is_file():
            raise DataError(f"“{path.name}” is not a file.", remedy="Choose a table's file.")
        yield
    except FileNotFoundError:
        raise DataError(
            f"The file “{path}” is not there.", remedy="Check its name and folder."
        ) from None
    except PermissionError:
        raise DataError(
            f"The file “{path.name}” may not be read.",
            remedy="Ask its owner for the right to read it, or copy it to a folder of your own.",
        ) from None
    except OSError as error:
        raise DataError(
            f"The file “{path.name}” cannot be read.",
            why=f"The system says: {error.strerror or error}.",
            remedy="Copy it to a folder of this computer and try again.",
        ) from error
    except UnicodeError as error:
        raise DataError(
            f"The file “{path.name}” is not written in the encoding that was chosen.",
            why=f"The codec says: {error}.",
            remedy="Choose another encoding, so that no letter is lost.",
        ) from error


def lines(stream: TextIO) -> Iterator[str]:
    """Give a file's lines, as `csv.reader` wants them.

    A byte-order mark is dropped and Excel's ``sep=;`` line comes as an empty one, so that the
    numbers of lines stay right.

    Raises
    ------
    DataError
        When a line holds a NUL character or is longer than `LONGEST_LINE`.
    """
    for number, line in enumerate(iter(partial(stream.readline, LONGEST_LINE), ""), start=1):
        if "\0" in line:
            raise DataError(
                f"The file has a NUL character in line {number}, so it is not plain text.",
                remedy="Save the table as CSV, or choose the encoding that it is written in.",
            )
        if len(line) >= LONGEST_LINE:
            raise DataError(
                f"Line {number} is longer than {LONGEST_LINE:,} characters.",
                remedy="Check that the file is a CSV table with one person per line.",
            )
        if number == 1:
            plain = line.removeprefix("\ufeff")
            yield "\n" if _EXCEL_LINE.fullmatch(plain) else plain
        else:
            yield line


def excel_delimiter(line: str) -> str | None:
    """Give the delimiter that Excel's first line ``sep=;`` names, if it is one."""
    named = _EXCEL_LINE.fullmatch(line.removeprefix("\ufeff"))
    return named[1] if named else None


def unique_names(header: Iterable[str]) -> tuple[str, ...]:
    """Make names of a header: stripped; ``"column 3"`` for an empty one; ``"name (2)"`` again."""
    wanted = [cell.strip() or f"column {i}" for i, cell in enumerate(header, start=1)]
    reserved, taken = set(wanted), set[str]()
    copies: dict[str, int] = {}
    names = []
    for name in wanted:
        unique, copy = name, copies.get(name, 1)
        while unique in taken or (copy > 1 and unique in reserved):
            copy += 1
            unique = f"{name} ({copy})"
        copies[name] = copy
        taken.add(unique)
        names.append(unique)
    return tuple(names)


def notes_on_names(header: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Say which names are not those of the header, a sentence for each of those."""
    return tuple(
        f"The file gives column {place} no name; here it is called “{name}”."
        if not cell.strip()
        else f"The file has several columns called “{cell.strip()}”; "
        f"the one in place {place} is called “{name}” here."
        if cell.strip() != name
        else ""
        for place, (cell, name) in enumerate(zip(header, names, strict=True), start=1)
    )


def read_cells(path: Path, dialect: Dialect, watch: Watch = unwatched) -> Cells:
    """Read all cells of a file as texts. Empty lines are skipped.

    The plain reader: what `fairdesk.data.quick` reads faster is defined by it.

    Raises
    ------
    DataError
        When the file cannot be read or decoded, is empty, has rows of different lengths (with
        the line), quotes that do not close, NUL characters, or is larger than the caps.
    """
    with readable(path), opened(path, dialect) as stream:
        reader = csv.reader(lines(stream), delimiter=delimiter_of(dialect), strict=True)
        try:
            return _collect(reader, path, dialect, _watched(stream, path, watch))
        except csv.Error as error:
            raise DataError(
                f"The file “{path.name}” cannot be split into cells near line {reader.line_num}.",
                why=f"The reader says: {error}.",
                remedy="Look for a quotation mark that is not closed, or choose another delimiter.",
            ) from error


def read_first(path: Path, dialect: Dialect) -> list[str]:
    """Read the first row that is not empty; raises like `read_cells`, or `csv.Error`."""
    with readable(path), opened(path, dialect) as stream:
        reader = csv.reader(lines(stream), delimiter=delimiter_of(dialect), strict=True)
        return first_row(filter(None, reader), path)


def line_numbers(path: Path, dialect: Dialect, rows: set[int]) -> dict[int, int]:
    """Find the lines of a text file on which some rows of data, counted from 0, begin.

    Raises
    ------
    DataError
        When the file cannot be read, or has fewer rows.
    """
    found: dict[int, int] = {}
    last, row, line = max(rows), -int(dialect.header), 1
    with readable(path), opened(path, dialect) as stream:
        reader = csv.reader(lines(stream), delimiter=delimiter_of(dialect), strict=True)
        for cells in reader:
            if cells:
                if row in rows:
                    found[row] = line
                if row == last:
                    return found
                row += 1
            line = reader.line_num + 1
    raise DataError(f"The file “{path.name}” changed while it was read.", remedy="Read it again.")


def delimiter_of(dialect: Dialect) -> str:
    """Give the delimiter; raises `DataError` when it cannot be one."""
    if len(dialect.delimiter) != 1 or dialect.delimiter in '"\r\n\0':
        raise DataError(
            f"“{dialect.delimiter}” cannot separate columns.",
            remedy="Give one character, for example a comma or a semicolon.",
        )
    return dialect.delimiter


def first_row(rows: Iterator[list[str]], path: Path) -> list[str]:
    """Take the first row; raises `DataError` when there is none, or it is too wide."""
    first = next(rows, None)
    if first is None:
        raise DataError(
            f"The file “{path.name}” is empty.", remedy="Choose a file with a table in it."
        )
    check_width(path, len(first))
    return first


def check_width(path: Path, width: int) -> None:
    """Raise `DataError` when a table has more than `MOST_COLUMNS`."""
    if width > MOST_COLUMNS:
        raise DataError(
            f"The file “{path.name}” has {width:,} columns; at most {MOST_COLUMNS:,} can be read.",
            remedy="Choose another delimiter, or leave out columns that the model does not use.",
        )


def check_size(path: Path, cells: int) -> None:
    """Raise `DataError` when a table has more than `MOST_CELLS`."""
    if cells > MOST_CELLS:
        raise DataError(
            f"The file “{path.name}” has more than {MOST_CELLS:,} cells.",
            remedy="Take a random sample of its rows.",
        )


def _watched(stream: TextIO, path: Path, watch: Watch) -> Callable[[], None]:
    """Make a function that tells how much of the stream was read."""
    size = max(path.stat().st_size, 1)
    return lambda: watch(stream.buffer.raw.tell() / size)  # type: ignore[attr-defined]


def _collect(
    reader: Iterator[list[str]], path: Path, dialect: Dialect, tell: Callable[[], None]
) -> Cells:
    """Bring a reader's rows into columns of distinct texts."""
    rows = filter(None, reader)
    first = first_row(rows, path)
    width = len(first)
    gathering = _gathering(width, large=path.stat().st_size > SMALL)
    chunk = [] if dialect.header else [first]
    count = 0
    while chunk := chunk + list(islice(rows, max(1, _CELLS_AT_ONCE // width))):
        if set(map(len, chunk)) != {width}:
            raise _uneven(path, dialect, width)
        count += len(chunk)
        check_size(path, count * width)
        gathering.add(zip(*chunk, strict=True))
        chunk = []
        tell()
    header = first if dialect.header else [""] * width
    names = unique_names(header)
    notes = notes_on_names(header, names) if dialect.header else ("",) * width
    return Cells(names, gathering.columns(), notes)


def _gathering(width: int, *, large: bool) -> Packing | _Numberings:
    """Choose what takes the cells: Arrow's buffers need less memory, but take long to load."""
    if not large:
        return _Numberings(width)
    from fairdesk.data.packing import Packing  # noqa: PLC0415 - few files are large

    return Packing(width)


def opened(path: Path, dialect: Dialect) -> TextIO:
    """Open a text file; raises `DataError` when there is no such encoding."""
    try:
        return path.open(encoding=dialect.encoding, newline="")
    except LookupError:
        raise DataError(
            f"There is no encoding named “{dialect.encoding}”.",
            remedy="Choose another one, for example utf-8 or cp1252.",
        ) from None


def _uneven(path: Path, dialect: Dialect, width: int) -> DataError:
    """Find the first row of another length again, to tell its line."""
    with opened(path, dialect) as stream:
        reader = csv.reader(lines(stream), delimiter=dialect.delimiter, strict=True)
        begin = 1
        for row in reader:
            if row and len(row) != width:
                break
            begin = reader.line_num + 1
    whose = "the header" if dialect.header else "the first row"
    return DataError(
        f"Line {begin} of “{path.name}” has {len(row)} cells, {whose} has {width}.",
        why=f"The columns are taken to be separated by {_spoken(dialect.delimiter)}.",
        remedy="Correct that line, or choose another delimiter.",
    )


def _spoken(delimiter: str) -> str:
    """Name a delimiter in words."""
    names = {",": "commas", ";": "semicolons", "\t": "tabs", " ": "spaces"}
    return names.get(delimiter, f"“{delimiter}”")
