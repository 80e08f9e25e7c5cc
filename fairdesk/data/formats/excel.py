"""The cells of a sheet of a workbook: Excel's three formats and OpenDocument."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import Any
from xml.parsers import expat

import msgspec
import numpy as np
from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, PasswordError

from fairdesk.data.formats.packing import Packing, as_text
from fairdesk.data.formats.raw_table import Cells, Watch, check_size, check_width, readable
from fairdesk.data.formats.sqlite import table_named
from fairdesk.data.formats.text_layout import guess_header, with_content
from fairdesk.data.table import Dialect
from fairdesk.errors import DataError

#: What a workbook may hold when it is unpacked.
MOST_MEMBERS = 10_000
MOST_BYTES = 1 << 31
#: Beyond this many bytes a part may be at most so many times larger than it is when packed.
RATIO_FROM = 1 << 24
MOST_RATIO = 200

#: A heading and two people.
_TABLE_ROWS = 3
_CELLS_AT_ONCE = 200_000
_SAMPLE_ROWS = 1_000
_BLOCK = 1 << 20
_ZIP = b"PK\x03\x04"
_PLACE = re.compile(rb"""\br\s{0,9}=\s{0,9}["']([A-Za-z]{0,3})(\d{1,10})["']""")
_LONGEST_PLACE = 40
#: What unpacking a broken part raises, or one that is packed in a way nobody knows.
_BROKEN = (zipfile.BadZipFile, zlib.error, expat.ExpatError, ValueError, RuntimeError)


def read_excel(
    path: Path, dialect: Dialect | None, watch: Watch
) -> tuple[Cells, Dialect, tuple[str, ...]]:
    """Read one sheet of a workbook: the one that the dialect names, or the first with rows enough.

    Formulas are never evaluated: the values that were saved with them are read. Empty rows are
    skipped.

    Raises
    ------
    DataError
        When the workbook is broken, protected by a password, unpacks to more than the caps, or
        has no such sheet.
    """
    with readable(path):
        _check_parts(path)
    with readable(path), _explained(path), CalamineWorkbook.from_path(path) as book:
        tables = tuple(book.sheet_names)
        table = dialect.table if dialect is not None else ""
        names = (table_named(table, tables, path),) if table else tables
        # a page of notes before the data has a row or two
        for least, name in product((_TABLE_ROWS, 1), names):
            sheet = book.get_sheet_by_name(name)
            if sheet.height >= least:
                break
        else:
            raise DataError(
                f"The workbook “{path.name}” has no sheet with cells in it.",
                remedy="Choose another file.",
            )
        check_width(path, sheet.width)
        check_size(path, sheet.height * sheet.width)
        cells, header = _cells(sheet, dialect, watch)
    how = Dialect(format="excel", table=name)
    how = with_content(how, dialect, cells)
    return cells, msgspec.structs.replace(how, header=header), tables


def _filled_rows(sheet: CalamineSheet, numbers: list[int]) -> Iterator[list[Any]]:
    """Yield the rows that are not empty, and append to ``numbers`` which of the sheet they are.

    Calamine gives empty texts for empty cells.
    """
    for number, cells in enumerate(sheet.iter_rows(), start=1):
        row = [None if cell == "" else cell for cell in cells]
        if any(cell is not None for cell in row):
            numbers.append(number)
            yield row


def _cells(sheet: CalamineSheet, dialect: Dialect | None, watch: Watch) -> tuple[Cells, bool]:
    numbers: list[int] = []
    rows = _filled_rows(sheet, numbers)
    sample = list(islice(rows, _SAMPLE_ROWS))
    if dialect is not None and dialect.format == "excel":
        header = dialect.header
    else:
        header = guess_header([[as_text(cell) for cell in row] for row in sample])
    width, chunk = len(sample[0]), sample[int(header) :]
    packing, done = Packing(width), 0
    while chunk:
        packing.add(zip(*chunk, strict=True))
        done += len(chunk)
        watch(done / max(sheet.height, 1))
        chunk = list(islice(rows, max(1, _CELLS_AT_ONCE // width)))
    first = [as_text(cell) for cell in sample[0]] if header else None
    row_numbers = np.array(numbers[int(header) :], np.int32)
    return Cells.under(first, packing.columns(), row_numbers=row_numbers), header


def _check_parts(path: Path) -> None:
    """Refuse a workbook that would be too large when it is unpacked, before it is.

    Each part is unpacked block by block and counted. One that holds more than its directory says is
    broken: its checksum does not fit.
    """
    with path.open("rb") as stream:
        if stream.read(4) != _ZIP:
            return
        try:
            with zipfile.ZipFile(stream) as archive:
                members = archive.infolist()
                if len(members) > MOST_MEMBERS:
                    raise _bomb(path, f"It has {len(members):,} parts.")
                total = 0
                for member in members:
                    total += _unpacked_size(archive, member, path, MOST_BYTES - total)
        except _BROKEN as error:
            raise _broken(path, str(error)) from error


def _unpacked_size(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, most: int) -> int:
    """Count the bytes of a part, and the cells that it spans, of a sheet."""
    size = 0
    sheet: _Grid | _Repeats | None = None
    if member.filename.casefold().endswith(".xml"):
        sheet = _Repeats() if member.filename == "content.xml" else _Grid()
    with archive.open(member) as part:
        for block in iter(partial(part.read, _BLOCK), b""):
            size += len(block)
            if size > most:
                raise _bomb(path, f"Unpacked, it takes more than {MOST_BYTES >> 20:,} MB.")
            if size > RATIO_FROM and size > MOST_RATIO * max(member.compress_size, 1):
                raise _bomb(path, f"A part of it unpacks to more than {MOST_RATIO} times its size.")
            if sheet is not None:
                sheet.look(block)
                check_size(path, sheet.cells)
    return size


class _Grid:
    """The extent of an Excel sheet: readers take memory for all cells up to the last one."""

    def __init__(self) -> None:
        self._columns = self._rows = 1
        self._rest = b""

    @property
    def cells(self) -> int:
        """The number of cells up to the last row and column."""
        return self._columns * self._rows

    def look(self, block: bytes) -> None:
        """Look for references such as ``r="XFD1048576"``."""
        text = self._rest + block
        found = _PLACE.findall(text)
        self._rows = max((self._rows, *map(int, {row for _letters, row in found})))
        for letters in {letters for letters, _row in found}:
            column = 0
            for letter in letters.upper():
                column = 26 * column + letter - 64
            self._columns = max(self._columns, column)
        self._rest = text[-_LONGEST_PLACE:]


class _Repeats:
    """The extent of OpenDocument sheets, whose rows and cells may say how often they come."""

    def __init__(self) -> None:
        self.cells = self._row = self._columns = self._place = self._times = 0
        self._filled = False
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def look(self, block: bytes) -> None:
        """Follow the elements."""
        self._parser.Parse(block)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "table:table":
            self._row = self._columns = 0
        elif name == "table:table-row":
            self._times = int(attributes.get("table:number-rows-repeated", 1))
            self._place, self._filled = 0, False
        elif name in ("table:table-cell", "table:covered-table-cell"):
            self._place += int(attributes.get("table:number-columns-repeated", 1))
        if name == "text:p" or "office:value-type" in attributes:
            self._filled = True
            self._columns = max(self._columns, self._place)

    def _end(self, name: str) -> None:
        if name == "table:table-row":
            # rows without anything count when others follow
            self._row += self._times
            if self._filled:
                self.cells = max(self.cells, self._row * self._columns)


def _bomb(path: Path, why: str) -> DataError:
    return DataError(
        f"The workbook “{path.name}” is too large to be unpacked.",
        why=why,
        remedy="Save the table as CSV or Parquet.",
    )


def _broken(path: Path, why: str) -> DataError:
    return DataError(
        f"The workbook “{path.name}” cannot be read.",
        why=f"The reader reported: {why[:300]}.",
        remedy="Open it in the program that wrote it and save it again, or save the table as CSV.",
    )


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what calamine says into `DataError`."""
    try:
        yield
    except PasswordError as error:
        raise DataError(
            f"The workbook “{path.name}” is protected by a password.",
            remedy="Open it in the program that wrote it and save it without a password.",
        ) from error
    except CalamineError as error:
        raise _broken(path, str(error)) from error
