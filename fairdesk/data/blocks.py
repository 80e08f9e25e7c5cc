"""All rows of a table that is larger than memory, a block at a time, in its columns' codes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairdesk.data.columns.columns import typed
from fairdesk.data.columns.texts import Numbers, Texts
from fairdesk.data.formats.cells import readable
from fairdesk.data.formats.packing import Packing
from fairdesk.data.formats.parts import Parts
from fairdesk.data.table import Column, ColumnReading, Source, Table
from fairdesk.errors import DataError


def blocks(source: Source, columns: tuple[Column, ...]) -> Iterator[Table]:
    """Yield the rows of a table in parts, in the order of the files.

    Parameters
    ----------
    source : Source
        With its parts.
    columns : tuple[Column, ...]
        Of the table that was read from it.

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
                codes[:, place] = _coded(columns[place], cells, source)
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


def _coded(column: Column, cells: Texts | Numbers, source: Source) -> NDArray[np.float64]:
    """Return cells in the codes of a column: NaN where missing, or not one of its values."""
    dialect = source.dialect
    missing = frozenset(token.strip() for token in dialect.missing)
    reading = dialect.reading(column.name)
    # a plain number is read plainly, else as the column's are written
    read = ColumnReading(not column.values, column.format, reading.odd, reading.cells)
    own = msgspec.structs.replace(dialect, columns={column.name: read})
    found, codes = typed(column.name, cells, missing, own)
    if not column.values:
        # of a block in which no cell is a number, none is one
        return codes if not found.values else np.full(len(codes), np.nan)
    place = {value: float(i) for i, value in enumerate(column.values)}
    if not found.values:
        texts = {code: place.get(found.text(code), np.nan) for code in np.unique(codes).tolist()}
        return np.array([texts.get(code, np.nan) for code in codes.tolist()])
    lookup = np.array([*(place.get(value, np.nan) for value in found.values), np.nan])
    known = np.where(np.isnan(codes), len(lookup) - 1, codes).astype(np.intp)
    return np.asarray(lookup[known])
