"""Rows counted by what matters of them, block by block: how many are in which groups, with what.

Rows with equal groups, label and decision are one kind of row, however many there are. So the
memory that group figures need hangs on how many kinds there are, not on the rows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.groups.kinds import Kinds
from fairdesk.groups.metrics.grouping import Division, divide
from fairdesk.results.events import Rows

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
