"""Bounds of sums of trees over boxes, for checking a certificate: plain NumPy.

Of each tree the leaves that anybody in a box can reach are told by intervals of the numbers that it
looks at, and their least and greatest values are added up over the trees.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.encoded import Margins
from fairdesk.certify.domain.space import Places
from fairdesk.certify.proof.reproof_bounds import AT_ONCE, Decided, certain_decision
from fairdesk.certify.proof.reproof_inputs import Inputs
from fairdesk.models.structure.types import Forest

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]


class ForestBounds:
    """Bounds of sums of trees.

    Parameters
    ----------
    forest : Forest
        The trees.
    inputs : Inputs
        What they are given.
    margins : Margins
        What becomes of their sum.
    """

    def __init__(self, forest: Forest, inputs: Inputs, margins: Margins) -> None:
        self._forest, self._inputs, self._margins = forest, inputs, margins
        self._levels = list(_levels(forest))
        tree = np.empty(len(forest.column), dtype=np.int64)
        tree[forest.roots] = np.arange(len(forest.roots))
        for nodes in self._levels:
            tree[forest.left[nodes]] = tree[forest.right[nodes]] = tree[nodes]
        leaf = np.flatnonzero(forest.column < 0)
        self._leaf = leaf[np.argsort(tree[leaf], kind="stable")]
        self._first = np.searchsorted(tree[self._leaf], np.arange(len(forest.roots)))
        self._values = forest.value[self._leaf] @ margins.weights
        self._base = forest.base @ margins.weights - margins.offset
        weight = float(np.abs(margins.weights).sum(axis=0).max())
        size = np.abs(self._values).max(initial=0.0) * len(forest.roots) + np.abs(self._base).max()
        own = (len(forest.roots) + 16) * 2.0**-52 * float(size)
        self._clear = margins.close + 2.0 * forest.slack * weight + own
        self._axis = np.full(inputs.count, -1, dtype=np.int64)
        for i, each in enumerate(inputs.axes):
            self._axis[each.columns] = i

    def decided(self, low: Places, high: Places, wanted: NDArray[np.bool_]) -> Decided:
        """Return what is certain of boxes; as `Bounds.decided`."""
        decision = np.full(wanted.shape, -1, dtype=np.int64)
        matters = np.zeros(low.shape)
        box, which = np.nonzero(wanted)
        step = max(1, AT_ONCE // len(self._forest.column))
        for start in range(0, len(box), step):
            b, v = box[start : start + step], which[start : start + step]
            certain, uncertain = self._decided(low[b], high[b], v)
            decision[b, v] = certain
            np.add.at(matters, b, uncertain)
        return Decided(decision, matters)

    def _decided(self, low: Places, high: Places, v: Numbers) -> tuple[Numbers, Float64]:
        forest, margins = self._forest, self._margins
        least, most, gaps = self._inputs.ends(low, high)
        fixed = self._inputs.combinations[v]
        gaps |= np.isnan(fixed)
        least, most = least + fixed, most + fixed
        # what is only ever missing is on neither side of a threshold
        least, most = (
            np.where(np.isnan(least), np.inf, least),
            np.where(np.isnan(most), -np.inf, most),
        )
        reached = np.zeros((len(v), len(forest.column)), dtype=np.bool_)
        reached[:, forest.roots] = True
        matters = np.zeros(low.shape)
        for nodes in self._levels:
            column, threshold = forest.column[nodes], forest.threshold[nodes]
            missing, left = gaps[:, column], forest.missing_left[nodes]
            reaching = reached[:, nodes]
            to_left = reaching & ((least[:, column] <= threshold) | (missing & left))
            to_right = reaching & ((most[:, column] > threshold) | (missing & ~left))
            reached[:, forest.left[nodes]] = to_left
            reached[:, forest.right[nodes]] = to_right
            axis = self._axis[column]
            for i in np.unique(axis[axis >= 0]).tolist():
                matters[:, i] += (to_left & to_right)[:, axis == i].sum(axis=1)
        leaves = reached[:, self._leaf]
        count = len(margins.offset)
        wins, loses = np.empty((len(v), count), np.bool_), np.empty((len(v), count), np.bool_)
        for f in range(count):
            own = self._values[:, f]
            lowest = np.minimum.reduceat(np.where(leaves, own, np.inf), self._first, axis=1)
            highest = np.maximum.reduceat(np.where(leaves, own, -np.inf), self._first, axis=1)
            wins[:, f] = lowest.sum(axis=1) + self._base[f] > self._clear
            loses[:, f] = highest.sum(axis=1) + self._base[f] < -self._clear
        certain = certain_decision(margins, wins, loses)
        return certain, np.where((certain < 0)[:, None], matters, 0.0)


def _levels(forest: Forest) -> Iterator[Numbers]:
    """Return the nodes with children, level after level."""
    nodes = forest.roots
    while (nodes := nodes[forest.column[nodes] >= 0]).size:
        yield nodes
        nodes = np.concatenate([forest.left[nodes], forest.right[nodes]])
