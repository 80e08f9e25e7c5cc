"""Reading pickles that may be packed, as joblib and others pack them, without being flooded."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, BinaryIO, cast

from fairdesk.errors import ModelError

#: So many bytes are read at once.
PIECE = 1 << 20
#: A file that unpacks to more than this is refused.
MOST_BYTES = 4 << 30

#: What reading a packed file raises when it is damaged.
DAMAGED = (OSError, EOFError, lzma.LZMAError, zlib.error, RuntimeError, ValueError)


def flood(what: str) -> ModelError:
    """Return the error for a file that unpacks to more than any model."""
    return ModelError(
        f"{what} unpacks to more than 4 gigabytes.",
        why="No model of tabular data is as large; a file designed to fill the memory is.",
        remedy="Ask for a smaller model.",
    )


class Bounded:
    """A stream that gives at most so many bytes, and takes no memory for what is not there.

    Parameters
    ----------
    most : int
        How many there may be.
    """

    def __init__(self, source: IO[bytes], most: int = MOST_BYTES) -> None:
        self._source = source
        self._left = most

    def read(self, count: int) -> bytes:
        """Return ``count`` bytes, fewer at the end."""
        if count <= PIECE:
            return self._took(self._source.read(count))
        pieces = bytearray()
        while len(pieces) < count:
            piece = self._took(self._source.read(min(PIECE, count - len(pieces))))
            if not piece:
                break
            pieces += piece
        return bytes(pieces)

    def readline(self) -> bytes:
        """Return one line, its end included."""
        return self._took(self._source.readline(self._left + 1))

    def skip(self, count: int) -> int:
        """Pass over ``count`` bytes; tell how many there were."""
        passed = 0
        while passed < count:
            piece = self._took(self._source.read(min(PIECE, count - passed)))
            if not piece:
                break
            passed += len(piece)
        return passed

    def _took(self, piece: bytes) -> bytes:
        self._left -= len(piece)
        if self._left < 0:
            raise flood("The file")
        return piece


class _Inflated(io.RawIOBase):
    """A file packed by zlib, unpacked while it is read."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._inflate = zlib.decompressobj()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # any buffer in fact
        piece = b""
        while not piece and not self._inflate.eof:
            packed = self._inflate.unconsumed_tail or self._source.read(PIECE)
            if not packed:
                raise EOFError("the compressed data end too early")
            piece = self._inflate.decompress(packed, len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


def _zlib(source: BinaryIO) -> IO[bytes]:
    return io.BufferedReader(cast("io.RawIOBase", _Inflated(source)), PIECE)


def _lz4(source: BinaryIO) -> IO[bytes]:
    try:
        frame = import_module("lz4.frame")
    except ImportError as error:
        raise ModelError(
            "The file is compressed with lz4, which needs the Python library “lz4”.",
            remedy="Install it with “pip install lz4”, or save the model with another compression.",
        ) from error
    return cast("IO[bytes]", frame.open(source, "rb"))


def _gzip(source: BinaryIO) -> IO[bytes]:
    return cast("IO[bytes]", gzip.GzipFile(fileobj=source))


#: How packed files begin, and what unpacks them.
PACKED: dict[bytes, Callable[[BinaryIO], IO[bytes]]] = {
    b"\x1f\x8b": _gzip,
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
    b"\x5d\x00\x00": lzma.LZMAFile,
    b"\x04\x22\x4d\x18": _lz4,
    **dict.fromkeys((b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"), _zlib),
}


@contextmanager
def unpacked(path: Path) -> Iterator[Bounded]:
    """Open a file for reading its content, unpacked where it is packed.

    Raises
    ------
    ModelError
        While it is read: when there is too much of it, or what unpacks it is missing.
    OSError, EOFError, lzma.LZMAError, zlib.error
        When it is cut off or damaged (`DAMAGED`).
    """
    with path.open("rb") as stream:
        head = stream.read(6)
        stream.seek(0)
        opener = next((make for magic, make in PACKED.items() if head.startswith(magic)), None)
        if opener is None:
            yield Bounded(stream)
            return
        with opener(stream) as source:
            yield Bounded(source)
