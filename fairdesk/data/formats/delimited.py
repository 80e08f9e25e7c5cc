"""The cells of delimited text, split by Arrow."""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np
import pyarrow as pa
from pyarrow import compute
from pyarrow import csv as arrow

from fairdesk.data.columns.texts import Numbers, Texts, text_ends
from fairdesk.data.formats.packing import Packing
from fairdesk.data.formats.raw_table import Cells, Watch, check_size, readable
from fairdesk.data.formats.text_layout import (
    guess_content,
    guess_layout,
    plain_beginning,
    read_first,
    refuse_faults,
)
from fairdesk.data.table import Dialect
from fairdesk.errors import DataError

#: So many bytes are read at a time ...
_BLOCK = 1 << 23
#: ... or so many where a row may be longer than that; one that is even longer is refused.
LONGEST_ROW = 1 << 26
#: What Arrow takes instead of a delimiter that is more than one byte long.
_SEPARATOR = "\x1f"
_QUOTE = ord('"')


class _DoubtfulError(ValueError):
    """Something may be wrong that Arrow forgives."""


def read_delimited(
    path: Path, dialect: Dialect | None, watch: Watch
) -> tuple[Cells, Dialect, tuple[str, ...]]:
    """Read delimited text. Empty lines are skipped.

    Arrow knows no line numbers, and forgives a quotation mark that does not close or closes within
    a cell. Where it refuses a file, or there may be such a mark, `refuse_faults` goes through the
    rows; a file in which that finds no fault is read with such marks as they are.

    Raises
    ------
    DataError
        When the file cannot be read or decoded, is empty, has rows of different lengths (with
        the line), quotation marks that do not close, NUL characters, or exceeds the caps.
    """
    if dialect is None:
        layout = guess_layout(path)
    else:
        layout = msgspec.structs.replace(dialect, format="csv", table="")
    first = read_first(path, layout)
    columns, fingerprint = _split_carefully(path, layout, len(first), watch)
    cells = Cells.under(first if layout.header else None, columns, fingerprint)
    return cells, layout if dialect else guess_content(layout, cells), ()


def _split_carefully(
    path: Path, dialect: Dialect, width: int, watch: Watch
) -> tuple[tuple[Texts | Numbers, ...], str]:
    """Split a file, again after a look at its rows where it is refused; see `_split`."""
    refused = ""
    for block, checked in _tries(_BLOCK):
        try:
            with readable(path):
                return _split(path, dialect, width, watch, block, checked=checked)
        except (pa.ArrowInvalid, _DoubtfulError) as error:
            if not checked:
                refuse_faults(path, dialect)
            # not the error itself: it would keep all that was read
            refused = str(error)
    raise _refusal(path, refused)


def split_rows(
    path: Path, dialect: Dialect, width: int, block: int
) -> Iterator[list[pa.StringArray]]:
    """Yield the rows of a file as `read_delimited` reads them, some at a time.

    Parameters
    ----------
    path, dialect
        As of `read_delimited`.
    width : int
        How many cells a row has.
    block : int
        How many bytes are read at a time; more only where a row is longer.

    Raises
    ------
    DataError
        As `read_delimited`.
    """
    refused, done = "", 0
    for size, checked in _tries(block):
        # of what is read again, what was yielded before is left out
        again = done
        try:
            with readable(path), path.open("rb") as file:
                for columns in _rows(file, dialect, width, size, checked=checked):
                    left = min(again, len(columns[0]))
                    again -= left
                    done += len(columns[0]) - left
                    yield [each.slice(left) for each in columns]
        except (pa.ArrowInvalid, _DoubtfulError) as error:
            if not checked:
                refuse_faults(path, dialect)
            refused = str(error)
        else:
            return
    raise _refusal(path, refused)


def _tries(block: int) -> tuple[tuple[int, bool], ...]:
    """Return how a file is read, try after try: bytes at a time, and whether it is checked."""
    return (block, False), (block, True), (LONGEST_ROW, True)


def _refusal(path: Path, refused: str) -> DataError:
    return DataError(
        f"The file “{path.name}” cannot be split into cells.",
        why=f"The reader reported: {refused}. A row can have at most {LONGEST_ROW >> 20} MB.",
        remedy="Check that the file is a CSV table with one case per row.",
    )


def _split(
    path: Path, dialect: Dialect, width: int, watch: Watch, block: int, *, checked: bool
) -> tuple[tuple[Texts | Numbers, ...], str]:
    """Split a file into columns, and take its fingerprint.

    Parameters
    ----------
    path, dialect, watch
        As of `read_delimited`.
    width : int
        How many cells a row has.
    block : int
        How many bytes are read at a time; no row may be longer.
    checked : bool
        Whether it is known that there is nothing in the file that Arrow forgives.
    """
    packing, rows, size = Packing(width), 0, max(path.stat().st_size, 1)
    fingerprint = hashlib.sha256()
    with path.open("rb") as file:
        for columns in _rows(file, dialect, width, block, fingerprint.update, checked=checked):
            rows += len(columns[0])
            check_size(path, rows * width)
            packing.add(columns)
            watch(file.tell() / size)
    return packing.columns(), fingerprint.hexdigest()


def _rows(
    file: BinaryIO,
    dialect: Dialect,
    width: int,
    block: int,
    tell: Callable[[bytes], None] = lambda _: None,
    *,
    checked: bool,
) -> Iterator[list[pa.StringArray]]:
    """Yield the rows of an open file, column by column; parameters as of `_split`."""
    skip = int(dialect.header)
    separator = dialect.delimiter if dialect.delimiter.isascii() else _SEPARATOR
    names = [str(place) for place in range(width)]
    blocks = _as_utf8(_read(file, block, tell), dialect)
    if not checked:
        blocks = _undoubted(blocks, separator)
    with arrow.open_csv(
        pa.PythonFile(_Blocks(blocks), mode="r"),
        arrow.ReadOptions(block_size=block, column_names=names),
        arrow.ParseOptions(delimiter=separator, newlines_in_values=True),
        arrow.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
    ) as batches:
        for batch in batches:
            columns = batch.slice(skip).columns
            skip = 0 if batch.num_rows else skip
            if not checked and any(map(_has_endless, columns)):
                raise _DoubtfulError
            for old, new in _exchange(dialect.delimiter):
                columns = [compute.replace_substring(texts, old, new) for texts in columns]
            yield columns


class _Blocks(io.RawIOBase):
    """Blocks of bytes as a file."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:  # noqa: ARG002 - a block is as large as was asked for
        return next(self._blocks, b"")


def _read(file: BinaryIO, block: int, tell: Callable[[bytes], None]) -> Iterator[bytes]:
    """Yield a file in blocks, each told before."""
    while raw := file.read(block):
        tell(raw)
        yield raw


def _as_utf8(raw: Iterator[bytes], dialect: Dialect) -> Iterator[bytes]:
    """Bring a text into UTF-8, with an empty line before it: Arrow would drop one more mark."""
    decoder = codecs.getincrementaldecoder(dialect.encoding)()
    begun = False
    for block in chain(raw, [b""]):
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeError as error:
            raise _DoubtfulError from error
        if "\0" in text:
            raise _DoubtfulError
        if text and not begun:
            begun, text = True, "\n" + plain_beginning(text)
        for old, new in _exchange(dialect.delimiter):
            text = text.replace(old, new)
        if text:
            yield text.encode()


def _exchange(delimiter: str) -> tuple[tuple[str, str], ...]:
    """Return what to replace by what, in turn, so that a delimiter and `_SEPARATOR` change places.

    Nothing where Arrow takes the delimiter itself. No NUL character is in the way: there is none.
    """
    if delimiter.isascii():
        return ()
    return (delimiter, "\0"), (_SEPARATOR, delimiter), ("\0", _SEPARATOR)


def _undoubted(blocks: Iterator[bytes], separator: str) -> Iterator[bytes]:
    """Pass blocks on; raise `_DoubtfulError` at a quotation mark that Arrow may forgive.

    Where a mark that opens a cell follows a separator or a line's end, one that closes it comes
    before such, and two that follow each other within it stand for one, nothing is to be forgiven.
    """
    edge = np.isin(np.arange(256), np.frombuffer(separator.encode() + b"\r\n", np.uint8))
    # whether a cell in marks is open, whether its closing mark was the last byte, and that byte
    inside = closing = False
    last = ord("\n")
    for block in blocks:
        if closing and block[0] != _QUOTE and not edge[block[0]]:
            raise _DoubtfulError
        if b'"' in block:
            letters = np.frombuffer(bytes([last]) + block, np.uint8)
            marks = np.flatnonzero(letters[1:] == _QUOTE) + 1
            opening, closed = marks[int(inside) :: 2], marks[1 - int(inside) :: 2]
            before, after = letters[opening - 1], letters[closed[closed < len(block)] + 1]
            if not (edge[before] | (before == _QUOTE)).all():
                raise _DoubtfulError
            if not (edge[after] | (after == _QUOTE)).all():
                raise _DoubtfulError
            inside ^= bool(len(marks) % 2)
        last = block[-1]
        closing = last == _QUOTE and not inside
        yield block
    if inside:
        raise _DoubtfulError


def _has_endless(texts: pa.StringArray) -> bool:
    """Return whether a column may have a cell that is too long to be read."""
    return bool(np.diff(text_ends(texts)).max(initial=0) > csv.field_size_limit())
