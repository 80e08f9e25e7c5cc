"""All rows of a table that is larger than memory, a block at a time, in its columns' codes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from fairdesk.data.columns.columns import coded
from fairdesk.data.formats.packing import Packing
from fairdesk.data.formats.parts import Parts
from fairdesk.data.formats.raw_table import readable
from fairdesk.data.table import Column, Source, Table
from fairdesk.errors import DataError


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
