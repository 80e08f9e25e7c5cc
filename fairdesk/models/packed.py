"""Model files that are packed or in an archive, read without being flooded."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, cast

from fairdesk.errors import ModelError
from fairdesk.signatures import recognise

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


#: An archive with more files, or that unpacks to more bytes, is not searched for a model.
MOST_FILES, MOST_UNPACKED = 200, 1 << 30
#: So many names are listed.
_LISTED = 10

_TAKE_OUT = "Extract the model file from it, and choose that file."


@contextmanager
def model_within(path: Path, is_model: Callable[[Path], bool]) -> Iterator[Path]:
    """Unpack an archive to a folder that is deleted afterwards, and give the one model in it.

    Raises
    ------
    ModelError
        When it holds no model or several, is too large, damaged, or protected by a password.
    """
    with tempfile.TemporaryDirectory(prefix="fairdesk-") as folder:
        try:
            files = dict(_extracted(path, Path(folder)))
        except ModelError:
            raise
        except (*DAMAGED, zipfile.BadZipFile, tarfile.TarError, NotImplementedError) as error:
            if "password" in str(error):
                raise ModelError(
                    f"The archive “{path.name}” is protected by a password.", remedy=_TAKE_OUT
                ) from error
            raise ModelError(
                f"The archive “{path.name}” is cut off or damaged: it cannot be unpacked to its "
                "end.",
                why=f"Unpacking reported: {error}.",
                remedy="Download or copy it again, and compare its size with the original’s.",
            ) from error
        models = {name: file for name, file in files.items() if is_model(file)}
        if len(models) != 1:
            raise _not_one(path, files, list(models))
        yield next(iter(models.values()))


def _extracted(path: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """Write each file of an archive to a folder of its own, whatever path it is said to have."""
    left = MOST_UNPACKED
    for number, (name, stream) in enumerate(_members(path)):
        if number >= MOST_FILES:
            raise _too_large(path, f"It holds more than {MOST_FILES} files.")
        own = folder / str(number)
        own.mkdir()
        target = own / (PurePosixPath(name.replace("\\", "/")).name or "file")
        with target.open("wb") as file:
            while piece := stream.read(min(PIECE, left + 1)):
                left -= len(piece)
                if left < 0:
                    raise _too_large(path, "It unpacks to more than a gigabyte.")
                file.write(piece)
        yield name, target


def _members(path: Path) -> Iterator[tuple[str, IO[bytes] | Bounded]]:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if not info.is_dir() and not _is_hidden(info.filename):
                    with archive.open(info) as stream:
                        yield info.filename, stream
        return
    if tarfile.is_tarfile(path):
        with tarfile.open(path) as tar:
            for member in tar:
                stream_of = tar.extractfile(member) if member.isreg() else None
                if stream_of is not None and not _is_hidden(member.name):
                    yield member.name, stream_of
        return
    with unpacked(path) as packed:
        yield path.stem, packed


def _is_hidden(name: str) -> bool:
    return PurePosixPath(name).name.startswith(".") or "__MACOSX" in PurePosixPath(name).parts


def _not_one(path: Path, files: dict[str, Path], models: list[str]) -> ModelError:
    if models:
        return ModelError(
            f"The archive “{path.name}” contains several files that could be the model: "
            f"{_listed(models)}.",
            remedy=(
                "Extract them. Choose the model, and add scalers and encoders as companion files."
            ),
        )
    if any(PurePosixPath(name).name == "saved_model.pb" for name in files):
        return ModelError(
            f"The archive “{path.name}” contains a TensorFlow SavedModel, which is a folder.",
            remedy="Extract the folder, and choose it.",
        )
    alone = next(iter(files.values())) if len(files) == 1 else None
    known = None if alone is None else recognise(alone)
    if known is not None and alone is not None:
        return ModelError(
            f"The archive “{path.name}” contains “{alone.name}”, {known.what}.",
            remedy=known.as_model,
        )
    return ModelError(
        f"The archive “{path.name}” contains no model that FairDesk opens."
        if files
        else f"The archive “{path.name}” is empty.",
        why=f"It contains: {_listed(list(files))}." if files else "",
        remedy="Choose the file that the trained model was saved to: by joblib.dump(), by "
        "model.save(), or by an export to ONNX or PMML.",
    )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(f"“{name[:80]}”" for name in names[:_LISTED]) + more


def _too_large(path: Path, why: str) -> ModelError:
    return ModelError(
        f"The archive “{path.name}” is too large to be searched for a model.",
        why=why,
        remedy=_TAKE_OUT,
    )
