"""One pass over a table that is larger than memory: what its columns are, and some of its rows.

Memory is bounded: of each column so many different values are kept, and so many rows in all, each
row with the same chance. What a column's values are rests on all rows, its kind too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from fairdesk.data.columns.columns import typed
from fairdesk.data.columns.texts import Numbers, Texts, looks_like_numbers
from fairdesk.data.formats.cells import Cells, Watch
from fairdesk.data.formats.packing import Packing
from fairdesk.data.formats.parts import Part, Parts
from fairdesk.data.formats.sniffing import guess_content, with_content
from fairdesk.data.table import Column, Dialect, Kind, Sample, Source, Table
from fairdesk.errors import DataError

#: So many rows are kept at most, and so many cells.
SAMPLE_ROWS, _SAMPLE_CELLS = 200_000, 20_000_000
#: So many different values of a column are kept.
MOST_VALUES = 10_000
#: Of the generator that chooses the rows.
SEED = 0


def read_parts(path: Path, dialect: Dialect | None, watch: Watch) -> Table:
    """Read a table in parts, or one that is larger than memory; see the module.

    Parameters
    ----------
    path : Path
        A folder, or a file.
    dialect : Dialect, optional
        As of `fairdesk.data.formats.reading.read_table`.
    watch : callable
        Told which share of the work is done.

    Returns
    -------
    Table
        Its codes are those of the sample, in the order of the files; its source says which.

    Raises
    ------
    DataError
        As of `Parts`; or when there are fewer than two rows, or a column holds numbers in one part
        and texts in another.
    """
    parts = Parts(path, dialect)
    before = parts.fingerprints()
    names = parts.names
    surveys = [_Survey(name) for name in names]
    reservoir = _Reservoir(min(SAMPLE_ROWS, _SAMPLE_CELLS // max(len(names), 1)))
    size, done = max(parts.bytes, 1), 0
    for part in parts.paths:
        for arrays in parts.blocks(part):
            reservoir.add(arrays)
            packing = Packing(len(names))
            packing.add(arrays)
            for survey, cells in zip(surveys, packing.columns(), strict=True):
                survey.add(cells, parts.name(part))
            watch(min((done + 0.5 * part.stat().st_size) / size, 0.99))
        done += part.stat().st_size
        watch(min(done / size, 0.99))
    check_unchanged(parts, before)
    if reservoir.seen < 2:
        raise DataError(
            f"The table “{path.name}” has fewer than two rows.",
            remedy="Choose a table with one row per case.",
        )
    sampled = reservoir.cells(len(names))
    whole = [survey.cells(cells) for survey, cells in zip(surveys, sampled, strict=True)]
    table = Cells.under(parts.header if parts.dialect.header else None, whole)
    how = parts.dialect
    if how.format == "parquet":
        how = with_content(how, dialect, table)
    elif dialect is None:
        how = guess_content(how, table)
    columns, codes = [], np.empty((len(sampled[0].codes), len(names)), order="F")
    for place, (survey, name, note) in enumerate(
        zip(surveys, table.names, table.notes, strict=True)
    ):
        column, codes[:, place] = survey.typed(name, whole[place], how)
        columns.append(msgspec.structs.replace(column, note=column.note or note))
    sample = Sample(len(codes), SEED) if reservoir.seen > len(codes) else None
    digests = {each.name: each.sha256 for each in before}
    source = Source(str(path.absolute()), "", reservoir.seen, how, parts=digests, sample=sample)
    watch(1.0)
    return Table(source, tuple(columns), codes)


def check_unchanged(parts: Parts, before: Sequence[Part]) -> None:
    """Refuse a table of which a part is another one than before.

    Raises
    ------
    DataError
        Naming the part.
    """
    for was, now in zip(before, parts.fingerprints(), strict=True):
        if was != now:
            raise DataError(
                f"The part “{now.name}” was changed while the table was read.",
                why="Another program wrote to it.",
                remedy="Wait until the other program has finished, then start again.",
            )


class _Reservoir:
    """Keeps so many rows of those that it is given, each with the same chance.

    Every row draws a number; those with the lowest numbers are kept.
    """

    def __init__(self, most: int) -> None:
        self._most, self._rng = most, np.random.default_rng(SEED)
        self._kept: list[list[pa.Array]] = []
        self._drawn: list[NDArray[np.float64]] = []
        self._limit, self.seen = 1.0, 0

    def add(self, arrays: list[pa.Array]) -> None:
        """Take more rows, an array for each column."""
        count = len(arrays[0]) if arrays else 0
        self.seen += count
        drawn = self._rng.random(count)
        chosen = np.flatnonzero(drawn < self._limit)
        if not chosen.size:
            return
        self._drawn.append(drawn[chosen])
        self._kept.append(_taken(arrays, chosen))
        if sum(map(len, self._drawn)) > 2 * self._most:
            self._shrink()

    def _shrink(self) -> None:
        """Keep the rows with the lowest numbers, in their order."""
        drawn = np.concatenate(self._drawn)
        if len(drawn) <= self._most:
            return
        self._limit = float(np.partition(drawn, self._most)[self._most])
        for place, (numbers, arrays) in enumerate(zip(self._drawn, self._kept, strict=True)):
            chosen = np.flatnonzero(numbers < self._limit)
            self._drawn[place] = numbers[chosen]
            self._kept[place] = _taken(arrays, chosen)

    def cells(self, width: int) -> tuple[Texts | Numbers, ...]:
        """Return the rows that are kept, in their order, as columns."""
        self._shrink()
        packing = Packing(width)
        for arrays in self._kept:
            packing.add(arrays)
        return packing.columns()


def _taken(arrays: list[pa.Array], chosen: NDArray[np.intp]) -> list[pa.Array]:
    indices = pa.array(chosen)
    return [each.take(indices) for each in arrays]


@dataclass
class _Survey:
    """What all rows have in a column.

    Attributes
    ----------
    counts : Counter
        How many rows have each text, of the first `MOST_VALUES` that came.
    extremes : dict[str, float]
        Numbers that need not be among these: the lowest, the highest, and one with a fraction.
    missing : int
        Rows without a number, and those of blocks in which the column is empty.
    numeric : bool, optional
        Whether it is stored as numbers; None as long as it is empty.
    capped : bool
        Whether it has more texts than are counted.
    """

    name: str
    counts: Counter[str] = field(default_factory=Counter)
    extremes: dict[str, float] = field(default_factory=dict)
    missing: int = 0
    numeric: bool | None = None
    capped: bool = False

    def add(self, cells: Texts | Numbers, part: str) -> None:
        """Take the cells of a block."""
        if isinstance(cells, Numbers) and np.isnan(cells.codes).all():
            # nothing in it shows what the column holds
            self.missing += len(cells.codes)
            return
        numeric = isinstance(cells, Numbers)
        if self.numeric is not None and self.numeric != numeric:
            raise DataError(
                f"The column “{self.name}” has another type in the part “{part}” than before.",
                why="It holds numbers in one part, and texts in another.",
                remedy="Write all parts with one type for this column.",
            )
        self.numeric = numeric
        if isinstance(cells, Numbers):
            self.missing += int(np.isnan(cells.codes).sum())
            self._reach(cells.codes[~np.isnan(cells.codes)])
        else:
            self._count(cells)

    def _reach(self, numbers: NDArray[np.float64]) -> None:
        if not numbers.size:
            return
        self.extremes["low"] = min(self.extremes.get("low", np.inf), float(numbers.min()))
        self.extremes["high"] = max(self.extremes.get("high", -np.inf), float(numbers.max()))
        if "fraction" not in self.extremes:
            broken = numbers[numbers != np.round(numbers)]
            if broken.size:
                self.extremes["fraction"] = float(broken[0])

    def _count(self, cells: Texts) -> None:
        found = cells.counts()
        texts = cells.distinct
        if self.capped:
            known = pa.array(list(self.counts), pa.string())
            among = compute.is_in(texts, value_set=known).to_numpy(zero_copy_only=False)
            self._stretch(texts.filter(pa.array(~among)))
            texts, found = texts.filter(pa.array(among)), found[among]
        beyond = []
        for text, count in zip(texts.to_pylist(), found.tolist(), strict=True):
            if text in self.counts or len(self.counts) < MOST_VALUES:
                self.counts[text] += count
            else:
                beyond.append(text)
        if beyond:
            self.capped = True
            self._stretch(pa.array(beyond, pa.string()))

    def _stretch(self, texts: pa.Array) -> None:
        """Keep the lowest and highest of numbers that are not counted."""
        plain = texts.filter(pa.array(looks_like_numbers(texts)))
        numbers = []
        for text in plain.to_pylist():
            # what looks like a number may be a date
            with suppress(ValueError):
                numbers.append(float(text))
        self._reach(np.array(numbers))

    def cells(self, sampled: Texts | Numbers) -> Texts | Numbers:
        """Return the sampled cells, whose texts are all that are known of the column."""
        if isinstance(sampled, Numbers):
            if self.numeric is not False:
                return sampled
            sampled = Texts(pa.array([""]), np.zeros(len(sampled.codes), np.int32))
        ends = [repr(each) for each in self.extremes.values()]
        own = sampled.distinct.to_pylist()
        known = {
            text: place for place, text in enumerate(dict.fromkeys([*self.counts, *own, *ends]))
        }
        lookup = np.array([known[text] for text in own], np.int32)
        return Texts(pa.array(list(known), pa.string()), lookup[sampled.codes])

    def typed(
        self, name: str, cells: Texts | Numbers, dialect: Dialect
    ) -> tuple[Column, NDArray[np.float64]]:
        """Return the column, and the codes of the sampled cells."""
        missing = frozenset(token.strip() for token in dialect.missing)
        if isinstance(cells, Numbers):
            count = len(cells.codes)
            seen = Numbers(np.concatenate([cells.codes, [*self.extremes.values()]]), cells.note)
            column, codes = typed(name, seen, missing, dialect)
            return msgspec.structs.replace(column, missing=self.missing), codes[:count]
        column, codes = typed(name, cells, missing, dialect)
        each = Texts(cells.distinct, np.arange(len(cells.distinct), dtype=np.int32))
        _, lookup = typed(name, each, missing, dialect)
        texts = cells.distinct.to_pylist()
        lost = self.missing + sum(
            self.counts[text] for text, code in zip(texts, lookup, strict=True) if np.isnan(code)
        )
        column = msgspec.structs.replace(column, missing=lost)
        if self.capped and column.kind in (Kind.NOMINAL, Kind.ORDINAL):
            note = (
                f"It has more than {MOST_VALUES:,} different values. Those after the first "
                f"{MOST_VALUES:,} that are in no sampled row count as missing in group metrics."
            )
            column = msgspec.structs.replace(column, note=note)
        return column, codes
