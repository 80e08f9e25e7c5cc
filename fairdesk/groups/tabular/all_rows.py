"""Who is in which cells, of all rows of a table that is larger than memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.groups.metrics.tallying import Kinds
from fairdesk.groups.options import MOST_NAMES, TestSgdOptions
from fairdesk.groups.tabular.rules import Bounds, bins_of, cells_of, places_of
from fairdesk.results.events import Rows

#: Yields how many rows were read, and the codes of those that count, ``(n, g)``.
Blocks = Callable[[], Iterator[tuple[int, Rows]]]


@dataclass(frozen=True)
class Combinations:
    """The combinations of cells that occur.

    Attributes
    ----------
    codes : Rows
        ``(k, g)``; a code in each of their cells, NaN where the value is missing.
    rows : NDArray[np.int64]
        ``(k,)``; how many rows have each.
    bounds : tuple of Bounds, optional
        Of each attribute the bins of a number; None of names.
    """

    codes: Rows
    rows: NDArray[np.int64]
    bounds: tuple[Bounds | None, ...]


def combinations(
    blocks: Blocks,
    grouping: Sequence[Attribute],
    options: TestSgdOptions,
    edges: Mapping[str, Sequence[float]],
) -> Iterator[tuple[int, int] | Combinations]:
    """Count all rows; the last one told is the result, before it how many of how many reads.

    Where there are numbers, the table is read twice: bins rest on the lowest and the highest.
    """
    passes = 1 + any(not each.values for each in grouping)
    seen = [None if each.values else _Seen(max(options.bins, MOST_NAMES)) for each in grouping]
    read = 0
    if passes > 1:
        for count, codes in blocks():
            for place, each in enumerate(seen):
                if each is not None:
                    each.add(codes[:, place])
            read += count
            yield read, passes
    bounds = tuple(
        None
        if each is None
        else bins_of(a, each.codes, options.bins, edges.get(a.name, ()), options.coded)
        for a, each in zip(grouping, seen, strict=True)
    )
    sizes = [
        1 + (len(a.values) if each is None else len(each[0]))
        for a, each in zip(grouping, bounds, strict=True)
    ]
    kinds = Kinds(sizes)
    for count, codes in blocks():
        # the first place is that of a missing value
        kinds.add(
            [
                1 + (places_of(own) if each is None else cells_of(own, each))
                for own, each in zip(codes.T, bounds, strict=True)
            ]
        )
        read += count
        yield read, passes
    columns = [
        np.concatenate([[np.nan], np.arange(size - 1) if each is None else each[0]])[place]
        for place, size, each in zip(kinds.places, sizes, bounds, strict=True)
    ]
    yield Combinations(np.stack(columns, axis=1), kinds.counts, bounds)


@dataclass(frozen=True)
class Counted:
    """Rows that rules are made of: combinations of all rows first, then those that are held.

    Attributes
    ----------
    codes : Rows
        ``(k + n, g)``.
    favourable : NDArray[np.float64]
        ``(k + n,)``; whether a row gets the favourable decision, NaN where that is not known.
    weights : NDArray[np.int64], optional
        ``(k + n,)``; how many rows each stands for: those that are held for none, as all are
        counted before. None where all are held.
    bounds : tuple of Bounds, optional
        As of `Combinations`.
    held : int
        Where those that are held begin: ``k``.
    """

    codes: Rows
    favourable: NDArray[np.float64]
    weights: NDArray[np.int64] | None
    bounds: tuple[Bounds | None, ...]
    held: int


def counted(
    blocks: Blocks | None,
    grouping: Sequence[Attribute],
    options: TestSgdOptions,
    edges: Mapping[str, Sequence[float]],
    groups: Rows,
    favourable: NDArray[np.float64],
) -> Iterator[tuple[int, int] | Counted]:
    """Put all rows of a table that is larger than memory before those held; as `combinations`."""
    if blocks is None:
        yield Counted(groups, favourable, None, (None,) * len(grouping), 0)
        return
    for found in combinations(blocks, grouping, options, edges):
        if isinstance(found, Combinations):
            count, held = len(found.rows), len(groups)
            yield Counted(
                np.concatenate([found.codes, groups]),
                np.concatenate([np.full(count, np.nan), favourable]),
                np.concatenate([found.rows, np.zeros(held, np.int64)]),
                found.bounds,
                count,
            )
        else:
            yield found


class _Seen:
    """Numbers of which the lowest, the highest and the first few different ones are kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._few, self._ends = np.empty(0), np.empty(0)

    def add(self, codes: NDArray[np.float64]) -> None:
        known = codes[~np.isnan(codes)]
        if not known.size:
            return
        ends = [*self._ends, known.min(), known.max()]
        self._ends = np.array([min(ends), max(ends)])
        if len(self._few) <= self._most:
            self._few = np.unique(np.concatenate([self._few, known]))[: self._most + 1]

    @property
    def codes(self) -> NDArray[np.float64]:
        return np.concatenate([self._few, self._ends])
