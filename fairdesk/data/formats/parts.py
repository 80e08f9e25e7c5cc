"""A table in several files, or larger than memory: read as one, or a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
from pyarrow import parquet

from fairdesk.data.columns.columns import coded
from fairdesk.data.formats.delimited import split_rows
from fairdesk.data.formats.packing import Packing
from fairdesk.data.formats.parquet import explained
from fairdesk.data.formats.raw_table import MOST_CELLS, check_width, readable, unique_names
from fairdesk.data.formats.text_layout import guess_encoding, guess_layout, read_first
from fairdesk.data.table import Column, Dialect, Source, Table
from fairdesk.errors import DataError
from fairdesk.files import sha256

#: So many rows are read at a time, and of delimited text so many bytes.
BLOCK_ROWS, _BLOCK_BYTES = 1 << 17, 1 << 23
_PARQUET = b"PAR1"
_SAME = "Give all parts the same columns, in the same order, or choose another folder."


class Part(msgspec.Struct, frozen=True):
    """A file of a table in parts: its place below the table's, and its SHA-256."""

    name: str
    sha256: str


class Parts:
    """The files of a table, whose columns are the same.

    Parameters
    ----------
    dialect : Dialect, optional
        How delimited text is written; found by looking at the first part when left out.

    Raises
    ------
    DataError
        When there are no parts, one cannot be read, or it has other columns than the first: the
        message names it.
    """

    def __init__(self, path: Path, dialect: Dialect | None = None) -> None:
        self.path = path
        self.paths = _files(path)
        self.dialect = dialect or Dialect(format="parquet")
        if not is_parquet(self.paths[0]):
            found = _layout(self.paths) if dialect is None else dialect
            self.dialect = msgspec.structs.replace(found, format="csv", table="")
        self.header = self._header(self.paths[0])
        check_width(path, len(self.header))
        for each in self.paths[1:]:
            self._check(each)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, unique."""
        return unique_names(self.header or [""] * len(self.header))

    @property
    def bytes(self) -> int:
        """How large all parts are together."""
        return sum(each.stat().st_size for each in self.paths)

    def name(self, part: Path) -> str:
        """Return a part's place below the table's."""
        return part.name if part == self.path else part.relative_to(self.path).as_posix()

    def fingerprints(self) -> tuple[Part, ...]:
        """Return the parts with their SHA-256."""
        found = []
        for each in self.paths:
            with readable(each):
                found.append(Part(self.name(each), sha256(each)))
        return tuple(found)

    def blocks(self, part: Path) -> Iterator[list[pa.Array]]:
        """Yield a part's rows, some at a time: an array for each column.

        Raises
        ------
        DataError
            When it cannot be read; the message names it.
        """
        with readable(part), self._explained(part):
            if self.dialect.format == "parquet":
                for batch in parquet.ParquetFile(part).iter_batches(BLOCK_ROWS):
                    batch.validate(full=True)
                    yield batch.columns
                return
            yield from split_rows(part, self.dialect, len(self.header), _BLOCK_BYTES)

    def _header(self, part: Path) -> list[str]:
        with readable(part), self._explained(part):
            if is_parquet(part):
                return list(parquet.ParquetFile(part).schema_arrow.names)
            first = read_first(part, self.dialect)
            return first if self.dialect.header else ["" for _ in first]

    def _check(self, part: Path) -> None:
        """Refuse a part of another format, or with other columns than the first."""
        if is_parquet(part) != (self.dialect.format == "parquet"):
            raise DataError(
                f"The parts “{self.name(self.paths[0])}” and “{self.name(part)}” have different "
                "formats.",
                remedy="Choose a folder whose files are all Parquet, or all CSV.",
            )
        header = self._header(part)
        if header == self.header:
            return
        lacking = [name for name in self.header if name not in header]
        more = [name for name in header if name not in self.header]
        differs = [
            *(f"It lacks “{name}”." for name in lacking[:3]),
            *(f"It has “{name}”, which the first part lacks." for name in more[:3]),
        ]
        raise DataError(
            f"The part “{self.name(part)}” has other columns than “{self.name(self.paths[0])}”.",
            why=" ".join(differs) or "They are in another order.",
            remedy=_SAME,
        )

    def _explained(self, part: Path) -> AbstractContextManager[None]:
        remedy = "Write this part again, or remove it from the folder."
        return explained(part, f"The part “{self.name(part)}” cannot be read.", remedy)


def is_parquet(path: Path) -> bool:
    """Return whether a file begins as Parquet does."""
    with readable(path), path.open("rb") as stream:
        return stream.read(len(_PARQUET)) == _PARQUET


def is_large(path: Path) -> bool:
    """Return whether a table is in parts, or a Parquet file that memory may not hold."""
    if path.is_dir():
        return True
    if not is_parquet(path):
        return False
    try:
        metadata = parquet.ParquetFile(path).metadata
    except (pa.ArrowException, OSError):
        return False  # whoever reads it says what is wrong
    return bool(metadata.num_rows * metadata.num_columns > MOST_CELLS)


def _layout(paths: Sequence[Path]) -> Dialect:
    """Find how delimited parts are written: most is seen in the largest, encodings in all."""
    found = guess_layout(max(paths, key=lambda each: each.stat().st_size))
    encodings = set()
    for each in paths:
        with readable(each):
            encodings.add(guess_encoding(each))
    # what is read as UTF-8 without a mark may be plain ASCII
    others = encodings - {"utf-8"}
    for encoding in ("latin-1", "cp1252", *sorted(others)):
        if encoding in others:
            return msgspec.structs.replace(found, encoding=encoding)
    return found


def _files(path: Path) -> tuple[Path, ...]:
    """Return the parts in a folder, in the order of their names; what others leave is skipped."""
    if path.is_file():
        return (path,)
    below = sorted(each for each in path.rglob("*") if each.is_file())
    found = [
        each
        for each in below
        if not any(name.startswith((".", "_")) for name in each.relative_to(path).parts)
    ]
    if not found:
        raise DataError(
            f"The folder “{path.name}” has no files in it.",
            remedy="Choose a folder with the parts of a table, as Parquet or CSV.",
        )
    for each in found:
        keyed = [name for name in each.relative_to(path).parts[:-1] if "=" in name]
        if keyed:
            raise DataError(
                f"The folder “{path.name}” is divided by a column: “{keyed[0]}”.",
                why="That column is in the names of its folders, and not in the files.",
                remedy="Write the column into the files.",
            )
    return tuple(found)


def blocks(source: Source, columns: tuple[Column, ...]) -> Iterator[Table]:
    """Yield the rows of a table in parts, in the order of the files.

    Raises
    ------
    DataError
        When a part is missing, cannot be read, or is another one than when the table was read.
    """
    parts = Parts(Path(source.path), source.dialect)
    names = {parts.name(each) for each in parts.paths}
    for name in (*(source.parts.keys() - names), *(names - source.parts.keys())):
        raise _changed(name)
    for part in parts.paths:
        name = parts.name(part)
        for arrays in _checked(parts, part, source.parts[name]):
            packing = Packing(len(columns))
            packing.add(arrays)
            codes = np.empty((len(arrays[0]), len(columns)), order="F")
            for place, cells in enumerate(packing.columns()):
                codes[:, place] = coded(columns[place], cells, source.dialect)
            yield Table(source, columns, codes)


def _checked(parts: Parts, part: Path, fingerprint: str) -> Iterator[list[pa.Array]]:
    """Yield a part's rows; it must be the same file before and after."""
    with readable(part):
        before = part.stat()
    (now,) = (each for each in Parts(part, parts.dialect).fingerprints())
    if now.sha256 != fingerprint:
        raise _changed(parts.name(part))
    yield from parts.blocks(part)
    with readable(part):
        after = part.stat()
    if (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
        raise _changed(parts.name(part))


def _changed(name: str) -> DataError:
    return DataError(
        f"The part “{name}” is not the one that the audit was set up with.",
        why="It was changed, added or removed since.",
        remedy="Restore it, or start a new audit of the data as they are now.",
    )
