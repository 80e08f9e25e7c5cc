"""The cells of a CSV file as texts: streamed once, each distinct text kept once per column."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.table import Dialect
from fairdesk.errors import DataError

#: Files with more columns, cells or longer lines are refused: they are no tables of people.
MOST_COLUMNS = 10_000
MOST_CELLS = 100_000_000
LONGEST_LINE = 1 << 24

#: So many cells are held as Python texts at a time.
_CELLS_AT_ONCE = 1_000_000
#: The first line in which Excel names the delimiter.
_EXCEL_LINE = re.compile(r'"?sep=(.)"?\s*')


@dataclass(frozen=True)
class Texts:
    """One column of texts.

    Attributes
    ----------
    distinct : list[str]
        Its different cells, exactly as they are written, in the order they first appear.
    codes : NDArray[np.int32]
        ``(n,)``; the index in ``distinct`` of every row's cell.
    """

    distinct: list[str]
    codes: NDArray[np.int32]

    def counts(self) -> NDArray[np.intp]:
        """Tell how often each distinct text occurs."""
        return np.bincount(self.codes, minlength=len(self.distinct))


@dataclass(frozen=True)
class Cells:
    """A file's cells: the names of its columns, unique, and their texts."""

    names: tuple[str, ...]
    columns: tuple[Texts, ...]

    @property
    def rows(self) -> int:
        """The number of data rows."""
        return len(self.columns[0].codes)


class _Numbering(dict[str, int]):
    """Numbers texts in the order in which they are first asked for."""

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn the failures of opening, decoding and parsing a file into `DataError`."""
    try:
        if path.exists() and not path.is_file():
            raise DataError(f"“{path.name}” is not a file.", remedy="Choose a CSV file.")
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
    names = []
    for name in wanted:
        unique, copy = name, 1
        while unique in taken or (copy > 1 and unique in reserved):
            copy += 1
            unique = f"{name} ({copy})"
        taken.add(unique)
        names.append(unique)
    return tuple(names)


def read_cells(path: Path, dialect: Dialect) -> Cells:
    """Read all cells of a file as texts. Empty lines are skipped.

    Raises
    ------
    DataError
        When the file cannot be read or decoded, is empty, has rows of different lengths (with
        the line), quotes that do not close, NUL characters, or is larger than the caps.
    """
    if len(dialect.delimiter) != 1 or dialect.delimiter in '"\r\n\0':
        raise DataError(
            f"“{dialect.delimiter}” cannot separate columns.",
            remedy="Give one character, for example a comma or a semicolon.",
        )
    with readable(path), _opened(path, dialect) as stream:
        reader = csv.reader(lines(stream), delimiter=dialect.delimiter, strict=True)
        try:
            return _collect(reader, path, dialect)
        except csv.Error as error:
            raise DataError(
                f"The file “{path.name}” cannot be split into cells near line {reader.line_num}.",
                why=f"The reader says: {error}.",
                remedy="Look for a quotation mark that is not closed, or choose another delimiter.",
            ) from error


def _collect(reader: Iterator[list[str]], path: Path, dialect: Dialect) -> Cells:
    """Bring a reader's rows into columns of distinct texts."""
    rows = filter(None, reader)
    first = next(rows, None)
    if first is None:
        raise DataError(
            f"The file “{path.name}” is empty.", remedy="Choose a file with a table in it."
        )
    width = len(first)
    if width > MOST_COLUMNS:
        raise DataError(
            f"The file “{path.name}” has {width:,} columns; at most {MOST_COLUMNS:,} can be read.",
            remedy="Choose another delimiter, or leave out columns that the model does not use.",
        )
    numberings = [_Numbering() for _ in first]
    parts: list[list[NDArray[np.int32]]] = [[] for _ in first]
    chunk = [] if dialect.header else [first]
    count = 0
    while chunk := chunk + list(islice(rows, max(1, _CELLS_AT_ONCE // width))):
        if set(map(len, chunk)) != {width}:
            raise _uneven(path, dialect, width)
        count += len(chunk)
        if count * width > MOST_CELLS:
            raise DataError(
                f"The file “{path.name}” has more than {MOST_CELLS:,} cells.",
                remedy="Take a random sample of its rows.",
            )
        for numbering, column, cells in zip(
            numberings, parts, zip(*chunk, strict=True), strict=True
        ):
            column.append(np.fromiter(map(numbering.__getitem__, cells), np.int32, len(chunk)))
        chunk = []
    names = unique_names(first if dialect.header else [""] * width)
    empty = np.empty(0, np.int32)
    return Cells(
        names,
        tuple(
            Texts(list(numbering), np.concatenate([empty, *column]))
            for numbering, column in zip(numberings, parts, strict=True)
        ),
    )


def _opened(path: Path, dialect: Dialect) -> TextIO:
    try:
        return path.open(encoding=dialect.encoding, newline="")
    except LookupError:
        raise DataError(
            f"There is no encoding named “{dialect.encoding}”.",
            remedy="Choose another one, for example utf-8 or cp1252.",
        ) from None


def _uneven(path: Path, dialect: Dialect, width: int) -> DataError:
    """Find the first row of another length again, to tell its line."""
    with _opened(path, dialect) as stream:
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
