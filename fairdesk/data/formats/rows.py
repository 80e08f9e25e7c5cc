"""Delimited text row by row, with line numbers: what is wrong in it, and where."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TextIO

from fairdesk.data.formats.raw_table import check_width, readable
from fairdesk.data.table import Dialect
from fairdesk.errors import DataError

#: Files with longer lines are refused: they are no tables of people.
LONGEST_LINE = 1 << 24

#: The first line in which Excel names the delimiter.
_EXCEL_LINE = re.compile(r'"?sep=(.)"?\s*')
_FIRST_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)?")


def lines(stream: TextIO) -> Iterator[str]:
    """Yield a file's lines, as `csv.reader` wants them.

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
                remedy="Save the table as CSV, or choose the encoding of the file.",
            )
        if len(line) >= LONGEST_LINE:
            raise DataError(
                f"Line {number} is longer than {LONGEST_LINE:,} characters.",
                remedy="Check that the file is a CSV table with one case per line.",
            )
        yield plain_beginning(line) if number == 1 else line


def plain_beginning(text: str) -> str:
    """Drop a byte-order mark from the beginning of a file, and empty Excel's line."""
    text = text.removeprefix("\ufeff")
    first = _FIRST_LINE.match(text)
    if first is None or _EXCEL_LINE.fullmatch(first[0]) is None:
        return text
    return "\n" + text[first.end() :]


def excel_delimiter(line: str) -> str | None:
    """Return the delimiter that Excel's first line ``sep=;`` names, if it is one."""
    named = _EXCEL_LINE.fullmatch(line.removeprefix("\ufeff"))
    return named[1] if named else None


def delimiter_of(dialect: Dialect) -> str:
    """Return the delimiter; raises `DataError` when it cannot be one."""
    if len(dialect.delimiter) != 1 or dialect.delimiter in '"\r\n\0':
        raise DataError(
            f"“{dialect.delimiter}” cannot separate columns.",
            remedy="Give one character, for example a comma or a semicolon.",
        )
    return dialect.delimiter


def opened(path: Path, dialect: Dialect) -> TextIO:
    """Open a text file; raises `DataError` when there is no such encoding."""
    try:
        return path.open(encoding=dialect.encoding, newline="")
    except LookupError:
        raise DataError(
            f"There is no encoding named “{dialect.encoding}”.",
            remedy="Choose another one, for example utf-8 or cp1252.",
        ) from None


def numbered_rows(path: Path, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, each with the line on which it begins.

    Raises
    ------
    DataError
        When the file cannot be read or decoded, has a quotation mark that does not close or closes
        within a cell, a NUL character, or an endless line or cell.
    """
    with readable(path), opened(path, dialect) as stream:
        reader = csv.reader(lines(stream), delimiter=delimiter_of(dialect), strict=True)
        line = 1
        try:
            for row in reader:
                if row:
                    yield line, row
                line = reader.line_num + 1
        except csv.Error as error:
            raise DataError(
                f"The file “{path.name}” cannot be split into cells near line {reader.line_num}.",
                why=f"The reader reported: {error}.",
                remedy="Look for a quotation mark that is not closed, or choose another delimiter.",
            ) from error


def read_first(path: Path, dialect: Dialect) -> list[str]:
    """Read the first row.

    Raises
    ------
    DataError
        As `numbered_rows`; when there is no row, or it is too wide.
    """
    for _, row in numbered_rows(path, dialect):
        check_width(path, len(row))
        return row
    raise DataError(
        f"The file “{path.name}” is empty.", remedy="Choose a file that contains a table."
    )


def refuse_faults(path: Path, dialect: Dialect) -> None:
    """Go through a file and raise `DataError` for the first thing that is wrong with its rows.

    That is what `numbered_rows` refuses, or a row that is not as long as the first one.
    """
    width = 0
    for line, row in numbered_rows(path, dialect):
        width = width or len(row)
        if len(row) != width:
            whose = "the header" if dialect.header else "the first row"
            raise DataError(
                f"Line {line} of “{path.name}” has {len(row)} cells, {whose} has {width}.",
                why=f"The columns are read as separated by {_spoken(dialect.delimiter)}.",
                remedy="Correct that line, or choose another delimiter.",
            )


def line_numbers(path: Path, dialect: Dialect, rows: set[int]) -> dict[int, int]:
    """Find the lines on which some rows of data, counted from 0, begin.

    Raises
    ------
    DataError
        As `numbered_rows`; when the file has fewer rows.
    """
    found: dict[int, int] = {}
    last = max(rows)
    for row, (line, _) in enumerate(numbered_rows(path, dialect), start=-int(dialect.header)):
        if row in rows:
            found[row] = line
        if row == last:
            return found
    raise DataError(f"The file “{path.name}” changed while it was read.", remedy="Read it again.")


def _spoken(delimiter: str) -> str:
    """Return a delimiter's name in words."""
    names = {",": "commas", ";": "semicolons", "\t": "tabs", " ": "spaces"}
    return names.get(delimiter, f"“{delimiter}”")
