"""Rows counted by their kind, block by block: memory hangs on the kinds, not on the rows."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import SpecError

#: So many kinds of rows are told apart.
MOST_KINDS = 5_000_000
#: A number for each kind must be an exact one.
_MOST_NUMBERS = 1 << 62
#: Where there can be no more kinds, each has a counter.
_MOST_COUNTERS = 1 << 20


class Kinds:
    """Counts of rows by several places: rows with equal places are of one kind.

    Raises
    ------
    SpecError
        When there may be too many kinds.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = tuple(sizes)
        self._possible = prod(self._sizes)
        if self._possible > _MOST_NUMBERS:
            raise _too_many()
        self._numbers = np.empty(0, dtype=np.int64)
        self._counts = np.empty(0, dtype=np.int64)
        self._counters: NDArray[np.int64] | None = None
        if self._possible <= min(_MOST_COUNTERS, MOST_KINDS):
            self._counters = np.zeros(self._possible, dtype=np.int64)

    def add(self, places: Sequence[NDArray[np.intp]]) -> None:
        """Count more rows: ``(n,)`` places of each sort, from 0.

        Raises
        ------
        SpecError
            When there are more kinds than `MOST_KINDS`.
        """
        numbers = np.ravel_multi_index(tuple(places), self._sizes)
        if self._counters is not None:
            self._counters += np.bincount(numbers, minlength=self._possible)
            return
        found, counts = np.unique(numbers, return_counts=True)
        both = np.concatenate([self._numbers, found])
        self._numbers, place = np.unique(both, return_inverse=True)
        summed = np.zeros(len(self._numbers), dtype=np.int64)
        np.add.at(summed, place, np.concatenate([self._counts, counts]))
        self._counts = summed
        if len(self._numbers) > MOST_KINDS:
            raise _too_many()

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows there are of each kind: ``(k,)``."""
        return self._counts if self._counters is None else self._counters[self._found]

    @property
    def places(self) -> tuple[NDArray[np.intp], ...]:
        """The places of each kind: ``(k,)`` of each sort."""
        return np.unravel_index(self._found, self._sizes)

    @property
    def _found(self) -> NDArray[np.intp]:
        return self._numbers if self._counters is None else np.flatnonzero(self._counters)


def _too_many() -> SpecError:
    return SpecError(
        "The protected attributes divide the rows into too many groups to count.",
        why=f"At most {MOST_KINDS:,} combinations of groups and outcomes are counted.",
        remedy="Protect fewer attributes, or divide numbers into bins.",
        setting="edges",
    )
