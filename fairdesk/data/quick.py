"""The cells of a large CSV file, split by Arrow where it does so exactly like the plain reader.

Imported only when a large file is read: Arrow takes long to load.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import re
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow

from fairdesk.data.cells import (
    Cells,
    Watch,
    check_size,
    excel_delimiter,
    notes_on_names,
    read_first,
    readable,
    unique_names,
    unwatched,
)
from fairdesk.data.packing import Packing
from fairdesk.data.table import Dialect

#: Rows of more than twice so many bytes are left to the plain reader.
_BLOCK = 1 << 23
_QUOTE, _LINE_ENDS = ord('"'), b"\r\n"
_FIRST_LINE = re.compile(rb"[^\r\n]*(\r\n|\r|\n)?")


class _DoubtfulError(ValueError):
    """Arrow and the plain reader may read this differently, or it is broken."""


def read_quickly(path: Path, dialect: Dialect, watch: Watch = unwatched) -> Cells | None:
    """Read all cells of a file as `fairdesk.data.cells.read_cells` does.

    Returns
    -------
    Cells or None
        With their fingerprint. None when only the plain reader can tell how the file is to be
        read, or what is wrong with it.

    Raises
    ------
    DataError
        When the file cannot be opened, is empty or exceeds the caps.
    """
    try:
        first = read_first(path, dialect)
    except csv.Error:
        return None
    if not dialect.delimiter.isascii():
        return None
    header = first if dialect.header else [""] * len(first)
    names = unique_names(header)
    notes = notes_on_names(header, names) if dialect.header else ("",) * len(first)
    with readable(path), path.open("rb") as file:
        stream = _Checked(file, dialect, path.stat().st_size)
        try:
            packing = _packed(stream, path, dialect, len(first), watch)
        except (pa.ArrowInvalid, _DoubtfulError, UnicodeError):
            return None
        return Cells(names, packing.columns(), notes, stream.fingerprint.hexdigest())


def _packed(stream: _Checked, path: Path, dialect: Dialect, width: int, watch: Watch) -> Packing:
    """Let Arrow split a stream into cells, all of them texts."""
    packing = Packing(width)
    rows, skip = 0, int(dialect.header)
    longest = csv.field_size_limit()
    with arrow.open_csv(
        pa.PythonFile(stream, mode="r"),
        arrow.ReadOptions(block_size=_BLOCK, autogenerate_column_names=True),
        arrow.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
        arrow.ConvertOptions(column_types={f"f{i}": pa.string() for i in range(width)}),
    ) as batches:
        for batch in batches:
            if batch.num_columns != width:
                raise _DoubtfulError
            if any(_longest(column) > longest for column in batch.columns):
                raise _DoubtfulError
            watch(stream.share)
            data = batch.slice(skip)
            skip = 0
            rows += data.num_rows
            check_size(path, rows * width)
            packing.add(data.columns)
    return packing


def _longest(texts: pa.StringArray) -> int:
    """Give the bytes of the longest text."""
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset :][: len(texts) + 1]
    return int(np.diff(offsets).max(initial=0))


class _Checked(io.RawIOBase):
    """A file as UTF-8 for Arrow, refused as soon as it is doubtful.

    Arrow forgives quotation marks in odd places, the plain reader does not. So each is looked at:
    one that opens a cell follows a delimiter or a line's end, one that closes it comes before
    such, and two that follow each other inside a cell stand for one.
    """

    def __init__(self, file: BinaryIO, dialect: Dialect, size: int) -> None:
        self.fingerprint = hashlib.sha256()
        self.share = 0.0
        self._file = file
        self._size = max(size, 1)
        codec = codecs.lookup(dialect.encoding).name
        plain = codec in ("utf-8", "utf-8-sig")
        self._decoder = None if plain else codecs.getincrementaldecoder(dialect.encoding)()
        self._marks = 2 if codec == "utf-8-sig" else 1
        self._begins = True
        self._ended = False
        edges = dialect.delimiter.encode() + _LINE_ENDS
        self._edge = np.isin(np.arange(256), np.frombuffer(edges, np.uint8))
        #: Whether a cell in quotation marks is open, whether its closing mark was the last byte,
        #: and that byte.
        self._open = self._closing = False
        self._last = _LINE_ENDS[-1]

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Read about so many bytes; none at the end only."""
        while not self._ended:
            raw = self._file.read(size if size > 0 else _BLOCK)
            self._ended = not raw
            self.fingerprint.update(raw)
            self.share = self._file.tell() / self._size
            block = self._as_utf8(raw)
            if b"\0" in block:
                raise _DoubtfulError
            self._check_quotes(block)
            if block:
                return block
        return b""

    def _as_utf8(self, raw: bytes) -> bytes:
        block = raw
        if self._decoder is not None:
            block = self._decoder.decode(raw, final=not raw).encode()
        if self._begins and block:
            self._begins = False
            for _ in range(self._marks):
                block = block.removeprefix(codecs.BOM_UTF8)
            first = _FIRST_LINE.match(block)
            named = first and first[0][:5].lstrip(b'"').startswith(b"sep=")
            if first and named and excel_delimiter(first[0].decode()):
                block = block[first.end() :]
        return block

    def _check_quotes(self, block: bytes) -> None:
        if not block:
            if self._open:
                raise _DoubtfulError
            return
        if self._closing and block[0] != _QUOTE and not self._edge[block[0]]:
            raise _DoubtfulError
        if b'"' in block:
            letters = np.frombuffer(bytes([self._last]) + block, np.uint8)
            marks = np.flatnonzero(letters[1:] == _QUOTE) + 1
            opening, closing = marks[int(self._open) :: 2], marks[1 - int(self._open) :: 2]
            before, after = letters[opening - 1], letters[closing[closing < len(block)] + 1]
            if not (self._edge[before] | (before == _QUOTE)).all():
                raise _DoubtfulError
            if not (self._edge[after] | (after == _QUOTE)).all():
                raise _DoubtfulError
            self._open ^= bool(len(marks) % 2)
        self._closing = block[-1] == _QUOTE and not self._open
        self._last = block[-1]
