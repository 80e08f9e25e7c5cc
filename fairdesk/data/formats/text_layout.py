"""How delimited text is written: its layout, found by looking at it, and the faults of its rows."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import msgspec

from fairdesk.data.columns.kinds import FEW, PROSE, as_numbers, may_be_thousands
from fairdesk.data.formats.raw_table import Cells, check_width, readable
from fairdesk.data.table import Dialect
from fairdesk.errors import DataError

if TYPE_CHECKING:
    from fairdesk.data.columns.texts import Texts

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


#: What is taken for "no value" wherever it is found.
MISSING = ("?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null")
#: What is taken for "no value" unless a column would then say nothing, or holds "+" as well.
PERHAPS_MISSING = ("None", "-", "--", ".")

#: From the surest sign of a delimiter to the weakest, with the least columns it must give.
_DELIMITERS = {"\t": 2, ";": 2, "|": 2, ",": 2, "^": 2, "~": 2, ":": 3, " ": 3}
_SAMPLE_LINES = 1_000
_SAMPLE_LETTERS = 1 << 22
_BLOCK = 1 << 20
_MARKS = (  # UTF-32 first: its mark begins with that of UTF-16
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UNDEFINED_IN_CP1252 = b"\x81\x8d\x8f\x90\x9d"


def guess_layout(path: Path) -> Dialect:
    """Find a file's encoding, delimiter and whether it has a header, from its first lines.

    Raises
    ------
    DataError
        When the file cannot be read, is no text, or is empty.
    """
    with readable(path):
        encoding = guess_encoding(path)
        with path.open(encoding=encoding, newline="") as stream:
            named = excel_delimiter(stream.readline(_SAMPLE_LINES))
            stream.seek(0)
            sample = list(_sampled(lines(stream)))
            cut = bool(stream.readline(1))
    if not any(line.strip() for line in sample):
        raise DataError(
            f"The file “{path.name}” is empty.", remedy="Choose a file that contains a table."
        )
    delimiter = named or guess_delimiter(sample, cut=cut)
    rows = _split(sample, delimiter, cut=cut)
    check_width(path, len(rows[0]) if rows else 0)
    return Dialect(delimiter=delimiter, encoding=encoding, header=guess_header(rows))


def _sampled(every: Iterator[str]) -> Iterator[str]:
    """Take the first lines, fewer where they are long."""
    letters = 0
    for line in islice(every, _SAMPLE_LINES):
        yield line
        letters += len(line)
        if letters > _SAMPLE_LETTERS:
            break


def guess_content(layout: Dialect, cells: Cells) -> Dialect:
    """Find the missing-value tokens and the decimal mark, in all cells."""
    missing = find_missing(cells)
    decimal = guess_decimal(cells, layout.delimiter, missing)
    return msgspec.structs.replace(layout, decimal=decimal, missing=missing)


def with_content(how: Dialect, dialect: Dialect | None, cells: Cells) -> Dialect:
    """Complete the dialect of a file that is no text: as asked, else by what its cells hold.

    One that names a table, of a file whose format was not known, tells no more than that name.
    """
    if dialect is None or (dialect.table and dialect.format != how.format):
        return guess_content(how, cells)
    return msgspec.structs.replace(
        how,
        decimal=dialect.decimal,
        missing=dialect.missing,
        columns=dialect.columns,
        encoding_mended=dialect.encoding_mended,
    )


def guess_encoding(path: Path) -> str:
    """Find an encoding in which every byte of the file has a meaning.

    A byte-order mark decides; else UTF-8 where the whole file is; else Windows-1252, and
    Latin-1 where bytes occur that Windows-1252 does not know.

    Raises
    ------
    DataError
        When the file is a workbook or has NUL bytes and is not UTF-16.
    """
    utf8 = codecs.getincrementaldecoder("utf-8")()
    is_utf8 = is_cp1252 = True
    with path.open("rb") as stream:
        head = stream.read(4096)
        for mark, name in _MARKS:
            if head.startswith(mark):
                return name
        if head.startswith(b"PK\x03\x04"):
            raise DataError(
                f"“{path.name}” is a workbook or an archive, not a CSV file.",
                remedy="Open it in the program that wrote it and save the table as CSV.",
            )
        if b"\0" in head:
            return _utf16(head, path)
        stream.seek(0)
        for block in iter(partial(stream.read, _BLOCK), b""):
            if b"\0" in block:
                raise _binary(path)
            if block.isascii() and not utf8.getstate()[0]:
                continue
            if is_utf8:
                try:
                    utf8.decode(block)
                except UnicodeDecodeError:
                    is_utf8 = False
            is_cp1252 = is_cp1252 and not any(byte in block for byte in _UNDEFINED_IN_CP1252)
    if is_utf8 and not utf8.getstate()[0]:
        return "utf-8"
    return "cp1252" if is_cp1252 else "latin-1"


def _utf16(head: bytes, path: Path) -> str:
    """Recognise UTF-16 without a mark by the zero half of its characters."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    if odd > 0.4 * len(head) / 2 and not even:
        return "utf-16-le"
    if even > 0.4 * len(head) / 2 and not odd:
        return "utf-16-be"
    raise _binary(path)


def _binary(path: Path) -> DataError:
    return DataError(
        f"“{path.name}” is not a table in a format that FairDesk knows.",
        why="It contains zero bytes, which text does not contain.",
        remedy="Save the table as CSV in the program that wrote it, and choose that file.",
    )


def guess_delimiter(sample: Sequence[str], *, cut: bool = False) -> str:
    """Find the character that splits all lines into equally many cells.

    Where several do, the one that is less usual inside cells: a semicolon goes before a comma,
    which may be a decimal mark. Where none does, the one that comes nearest; a comma where the
    file has one column.
    """
    best, best_share = ",", 0.0
    for delimiter, least in _DELIMITERS.items():
        widths = [len(row) for row in _split(sample, delimiter, cut=cut)]
        if not widths or widths[0] < least:
            continue
        width, lines_of_it = Counter(widths).most_common(1)[0]
        share = lines_of_it / len(widths)
        if width >= least and share > best_share:
            best, best_share = delimiter, share
    return best


def _split(sample: Sequence[str], delimiter: str, *, cut: bool) -> list[list[str]]:
    """Split sample lines into rows; the last is left out where the sample may have cut it."""
    try:
        rows = [row for row in csv.reader(sample, delimiter=delimiter) if row]
    except csv.Error:
        return []
    return rows[:-1] if cut and len(rows) > 1 else rows


def guess_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row names the columns.

    It does when one of its cells stands above numbers and is none, or is a word above
    sentences; it does not when a cell is a number, or when the cells come again as values below.
    """
    first = [cell.strip() for cell in rows[0]] if rows else []
    below = [row for row in rows[1:] if len(row) == len(first)]
    columns = list(zip(*below, strict=True)) or [()] * len(first)
    named = [cell for cell in first if cell]
    counted = len(named) > 3 and named == [str(i) for i in range(len(named))]
    signs = Counter(_sign(cell, column) for cell, column in zip(first, columns, strict=True))
    if counted or signs[_Sign.NAME]:
        return True
    if signs[_Sign.NUMBER]:
        return False
    return signs[_Sign.VALUE] * 3 < signs[_Sign.VALUE] + signs[_Sign.TEXT] or not signs[_Sign.VALUE]


class _Sign(Enum):
    """What the first cell of a column looks like."""

    NOTHING = auto()
    NUMBER = auto()
    NAME = auto()
    VALUE = auto()
    TEXT = auto()


def _sign(cell: str, column: Sequence[str]) -> _Sign:
    """Judge a first cell by those below it."""
    if not cell or cell in MISSING or cell in PERHAPS_MISSING:
        return _Sign.NOTHING
    if _are_numbers([cell]):
        return _Sign.NUMBER
    values = {value.strip() for value in column} - {"", *MISSING, *PERHAPS_MISSING}
    if values and _are_numbers(list(values)):
        return _Sign.NAME
    if len(values) > FEW and sum(map(len, values)) / len(values) > PROSE > 2 * len(cell):
        return _Sign.NAME
    return _Sign.VALUE if cell in values else _Sign.TEXT


def _are_numbers(texts: Sequence[str]) -> bool:
    """Return whether texts are numbers, with whichever decimal mark."""
    return any(as_numbers(texts, mark) is not None for mark in ".,")


def find_missing(cells: Cells) -> tuple[str, ...]:
    """Find the tokens that stand for "no value" in a file."""
    from fairdesk.data.columns.texts import Texts  # noqa: PLC0415 - Arrow, where a table is read

    values = [column.words() for column in cells.columns if isinstance(column, Texts)]
    found = {token for token in MISSING if any(token in column for column in values)}
    known = {"", *MISSING, *PERHAPS_MISSING}
    for token in PERHAPS_MISSING:
        where = [column - known for column in values if token in column]
        if where and all(len(others) != 1 and "+" not in others for others in where):
            found.add(token)
    return tuple(token for token in (*MISSING, *PERHAPS_MISSING) if token in found)


def guess_decimal(cells: Cells, delimiter: str, missing: tuple[str, ...]) -> str:
    """Return whether fractions are written with a point or a comma, by what more columns use.

    Where a comma is the delimiter, "1,234" (in quotes) is no sign of a decimal comma: it may
    well be a thousand. So may "1.234" where other columns have a decimal comma.
    """
    from fairdesk.data.columns.texts import Texts  # noqa: PLC0415 - Arrow, where a table is read

    texts = [column for column in cells.columns if isinstance(column, Texts)]
    commas = sum(_votes(column, ",", delimiter, missing) for column in texts)
    if not commas:
        return "."
    points = sum(_votes(column, ".", delimiter, missing) for column in texts)
    return "," if commas > points else "."


def _votes(column: Texts, mark: str, delimiter: str, missing: tuple[str, ...]) -> bool:
    """Return whether a column holds numbers, and fractions among them, with a decimal mark."""
    fractions = column.holding(mark)
    if not fractions.any():
        return False
    present = ~column.among({"", *missing})
    fractions &= present
    if not fractions.any() or column.numbers(present, mark) is None:
        return False
    if mark == "," != delimiter:
        return True
    return not all(may_be_thousands(text, mark) for text in column.pick(fractions))
