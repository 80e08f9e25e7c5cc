"""Where to halve boxes so that a population's people are in fewer points, compiled."""
# numba has no types
# mypy: disallow-untyped-decorators=False, warn-return-any=False, disable-error-code="no-any-return"

from __future__ import annotations

import math

import numpy as np
from numba import types
from numpy.typing import NDArray

from fairdesk.certify.domain.population_kernels import (
    TREE,
    TreeArrays,
    downwards,
    gathered,
    run_end,
    run_of,
    weigh,
    weight_before,
)
from fairdesk.compiled import inner, put, shared, whole

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

_I1, _F1 = types.Array(types.int64, 1, "C"), types.Array(types.float64, 1, "C")
_I2 = types.Array(types.int64, 2, "C")
#: Of a run with more places some are tried: these and, where they are known, the data's own.
_MOST_TRIED = 128


@inner()
def _divergence(mass: float, points: float) -> float:
    """Return how far shares of mass and of points are apart: by how much density grows, in nats."""
    told = 0.0
    if mass > 0.0:
        told += mass * math.log(mass / points)
    # on an axis of more than 2^53 places a share of them may round to all of them
    if mass < 1.0 and points < 1.0:
        told += (1.0 - mass) * math.log((1.0 - mass) / (1.0 - points))
    return told


@inner()
def _try_axis(
    tree: TreeArrays, low: Numbers, high: Numbers, i: int, told: Float64, total: float
) -> tuple[float, int]:
    """Return the best cut of a box along an axis, and by how much it lets the density grow."""
    node, width = tree.node[i], high[i] - low[i] + 1.0
    best, at = 0.0, low[i]
    gone, place, run = 0.0, low[i], run_of(tree, i, low[i])
    while place <= high[i]:
        last, cell = run_end(tree, i, run, high[i]), tree.cell[run]
        each = told[cell] / max(tree.whole[tree.first[node] + cell], 1.0) / total
        start = weight_before(tree, i, place)
        step = max((last - place + 1) // _MOST_TRIED, 1)
        known, until = tree.known_at[i], tree.known_at[i + 1]
        if tree.before_at[i] < 0:
            known += np.searchsorted(tree.known[known:until], place)
        cut = place
        while cut <= last:
            mass = gone + each * (weight_before(tree, i, cut + 1) - start)
            if cut < high[i]:
                told_apart = _divergence(min(max(mass, 0.0), 1.0), (cut - low[i] + 1.0) / width)
                if told_apart > best:
                    best, at = told_apart, cut
            further = min(cut + step, last) if cut < last else last + 1
            # just before and just behind a place that the data have
            while known < until and tree.before_at[i] < 0 and tree.known[known] <= cut:
                known += 1
            if known < until and tree.before_at[i] < 0:
                further = min(further, max(tree.known[known] - 1, cut + 1))
            cut = further
        gone += each * (weight_before(tree, i, last + 1) - start)
        place, run = last + 1, run + 1
    return best, at


@whole(types.void(TREE, _I2, _I2, _F1, _I1, _I1, _F1))
def densest(
    tree: TreeArrays,
    low: Numbers,
    high: Numbers,
    given: Float64,
    axis: Numbers,
    cut: Numbers,
    gain: Float64,
) -> None:
    """Find the cut of each box by which the density of its people grows most.

    Parameters
    ----------
    tree, low, high, given
        As of `fairdesk.certify.domain.population_kernels.masses`.
    axis, cut : NDArray[np.int64]
        ``(B,)``; filled: the axis, -1 for none, and the last place of the first half.
    gain : NDArray[np.float64]
        ``(B,)``; filled: by how much the mean logarithm of the mass per point grows.
    """
    seen, whole = np.empty(given.size), np.empty(given.size)
    cells = tree.cells.max()
    messages = np.empty((tree.parent.size, cells))
    told, spare = np.empty(cells), np.empty(cells)
    path = np.empty(tree.parent.size, dtype=np.int64)
    tree = shared(tree)
    for b in range(len(low)):
        axis[b], cut[b], gain[b] = -1, 0, 0.0
        weigh(tree, low[b], high[b], given, seen)
        put(whole, seen)
        total = gathered(tree, whole, messages)
        if not total > 0.0:
            continue
        for i in range(tree.node.size):
            if low[b, i] == high[b, i]:
                continue
            node = tree.node[i]
            downwards(tree, node, seen, messages, told, spare, path)
            for other in range(node + 1, tree.parent.size):
                if tree.parent[other] == node:
                    for k in range(tree.cells[node]):
                        told[k] *= messages[other, k]
            best, at = _try_axis(tree, low[b], high[b], i, told, total)
            if best > gain[b]:
                axis[b], cut[b], gain[b] = i, at, best
