"""Rows counted by what matters of them, block by block: how many are in which groups, with what.

Rows with equal groups, label and decision are one kind of row, however many there are. So the
memory that group figures need hangs on how many kinds there are, not on the rows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.errors import SpecError
from fairdesk.groups.metrics.grouping import Division, divide
from fairdesk.results.events import Rows

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


#: No label, an unfavourable and the favourable one.
_LABELS = 3


class Tally:
    """Counts of kinds of rows.

    Parameters
    ----------
    edges : dict[str, sequence of float]
        As of `fairdesk.groups.context.GroupContext`.
    """

    def __init__(
        self, grouping: Sequence[Attribute], edges: Mapping[str, Sequence[float]], decisions: int
    ) -> None:
        self._grouping, self._edges = grouping, edges
        # the ranges change how bins are called, never which rows are in them
        self._ends = np.full((2, len(grouping)), np.nan)
        sizes = [len(each.texts) for each in self._divided(self._ends)]
        self._kinds = Kinds((*sizes, _LABELS, decisions + 1))

    def _divided(self, groups: Rows) -> list[Division]:
        return [
            divide(attribute, codes, self._edges.get(attribute.name, ()))
            for attribute, codes in zip(self._grouping, groups.T, strict=True)
        ]

    def add(self, groups: Rows, label: Rows, decision: NDArray[np.intp]) -> None:
        """Count more rows.

        Parameters
        ----------
        groups : Rows
            ``(n, g)`` codes.
        label : Rows
            ``(n,)``; 1 with the favourable label, 0 with another, NaN with none.
        decision : NDArray[np.intp]
            ``(n,)``; the position of the decision, -1 for none.

        Raises
        ------
        SpecError
            When there are too many kinds.
        """
        if not len(groups):
            return
        for end, ends in ((np.fmin, self._ends[0]), (np.fmax, self._ends[1])):
            ends[:] = end(ends, end.reduce(groups, axis=0))
        places = [each.place for each in self._divided(groups)]
        labels = np.where(np.isnan(label), 0, label + 1).astype(np.intp)
        self._kinds.add((*places, labels, decision + 1))

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows there are of each kind: ``(k,)``."""
        return self._kinds.counts

    def kinds(self) -> tuple[list[Division], Rows, NDArray[np.intp]]:
        """Return the divisions, labels and decisions of the kinds, as `add` takes those of rows."""
        *places, labels, decisions = self._kinds.places
        divisions = [
            dataclasses.replace(division, place=place)
            for division, place in zip(self._divided(self._ends), places, strict=True)
        ]
        return divisions, np.where(labels == 0, np.nan, labels - 1.0), decisions - 1
