"""Compiled loops over boosted trees; compiled once per machine and kept beside the module.

Sums are added up in the order and in the precision of the library that made the trees, so that
its answers come out to the last bit, wherever in a batch a row stands. Nothing here lets the
compiler put sums into another order.
"""
# numba's decorators have no types
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from fairdesk.compiled import whole
from fairdesk.models.boosting.ensemble import LINKS, Ensemble, Link

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: Rows that go through one tree after the other, while it is warm.
_BLOCK = 256
_IDENTITY, _LOGISTIC, _SOFTMAX, _EXPONENTIAL, _HINGE, _SQUARE, _SOFTPLUS = range(len(LINKS))
#: What XGBoost's logistic function adds and bounds.
_LEAST, _MOST = np.float32(1e-16), np.float32(88.7)
_ONE = np.float32(1)


class Packed(NamedTuple):
    """Trees as these loops read them: all nodes in one list.

    Attributes
    ----------
    column, left, right : NDArray[np.int64]
        ``(N,)``; as in `Tree`, nodes numbered through.
    threshold : NDArray[np.float64]
        ``(N,)``.
    ways : NDArray[np.int64]
        ``(N,)``; bit 0: a missing number goes to the left; bit 1: 0 counts as missing.
    place : NDArray[np.int64]
        ``(N,)``; where the set of a node begins in ``members``; -1 where it has none.
    size : NDArray[np.int64]
        ``(N,)``; how many numbers the set speaks of.
    members : NDArray[np.bool_]
        Flat; by number, whether to the left.
    roots, group : NDArray[np.int64]
        ``(T,)``.
    otherwise : bool
        As in `Ensemble`.
    """

    column: Numbers
    left: Numbers
    right: Numbers
    threshold: Float64
    ways: Numbers
    place: Numbers
    size: Numbers
    members: NDArray[np.bool_]
    roots: Numbers
    group: Numbers
    otherwise: bool


def packed(ensemble: Ensemble) -> tuple[Packed, NDArray[Any]]:
    """Return trees as the loops read them, and what their leaves add, in their precision."""
    trees = ensemble.trees
    sizes = [len(tree.column) for tree in trees]
    roots = np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.int64)
    place, size = np.full(sum(sizes), -1), np.zeros(sum(sizes), np.int64)
    members: list[NDArray[np.bool_]] = []
    used = 0
    for root, tree in zip(roots.tolist(), trees, strict=True):
        for node, left in tree.sets.items():
            place[root + node], size[root + node] = used, len(left)
            members.append(left)
            used += len(left)
    ways = [
        tree.missing_left * 1 + (0 if tree.zero_missing is None else tree.zero_missing * 2)
        for tree in trees
    ]
    every = Packed(
        column=np.concatenate([tree.column for tree in trees]),
        left=np.concatenate([tree.left + r for tree, r in zip(trees, roots, strict=True)]),
        right=np.concatenate([tree.right + r for tree, r in zip(trees, roots, strict=True)]),
        threshold=np.concatenate([tree.threshold for tree in trees]),
        ways=np.concatenate(ways).astype(np.int64),
        place=place.astype(np.int64),
        size=size,
        members=np.concatenate([np.zeros(0, np.bool_), *members]),
        roots=roots,
        group=np.array([tree.group for tree in trees], np.int64),
        otherwise=ensemble.otherwise,
    )
    return every, np.concatenate([tree.value for tree in trees]).astype(ensemble.precision)


_NUMBERS, _DOUBLES = types.int64[::1], types.float64[::1]
_PACKED = types.NamedTuple(
    (
        *(_NUMBERS, _NUMBERS, _NUMBERS, _DOUBLES, _NUMBERS, _NUMBERS, _NUMBERS),
        *(types.boolean[::1], _NUMBERS, _NUMBERS, types.boolean),
    ),
    Packed,
)


@whole(
    [
        types.void(types.float64[:, ::1], _PACKED, types.float32[::1], types.float32[:, ::1]),
        types.void(types.float64[:, ::1], _PACKED, types.float64[::1], types.float64[:, ::1]),
    ]
)
def add_up(rows: Float64, trees: Packed, value: NDArray[Any], totals: NDArray[Any]) -> None:
    """Add to ``totals`` ``(n, k)`` what the leaves say of ``rows`` ``(n, inputs)``."""
    for start in range(0, len(rows), _BLOCK):
        stop = min(start + _BLOCK, len(rows))
        for t in range(len(trees.roots)):
            root, group = trees.roots[t], trees.group[t]
            for row in range(start, stop):
                at = root
                while trees.column[at] >= 0:
                    x = rows[row, trees.column[at]]
                    if math.isnan(x) or (x == 0.0 and trees.ways[at] & 2):
                        left = trees.ways[at] & 1 == 1
                    elif trees.place[at] < 0:
                        left = x <= trees.threshold[at]
                    elif 0.0 <= x < trees.size[at]:
                        left = trees.members[trees.place[at] + int(x)]
                    else:
                        left = trees.otherwise
                    at = trees.left[at] if left else trees.right[at]
                totals[row, group] += value[at]


@whole(
    types.void(
        types.float64[:, ::1],
        types.Array(types.float32, 2, "C", readonly=True),
        types.float32[:, ::1],
    )
)
def add_weighted(rows: Float64, weights: NDArray[np.float32], totals: NDArray[np.float32]) -> None:
    """Add to ``totals`` ``(n, k)`` the inputs that are there, times their weights."""
    for row in range(len(rows)):
        for k in range(totals.shape[1]):
            for column in range(rows.shape[1]):
                x = np.float32(rows[row, column])
                if not math.isnan(x):
                    totals[row, k] += x * weights[column, k]


@whole(
    [
        types.void(types.float32[:, ::1], types.int64),
        types.void(types.float64[:, ::1], types.int64),
    ]
)
def _linked(totals: NDArray[Any], link: int) -> None:
    single = totals.itemsize == 4
    for row in range(len(totals)):
        own = totals[row]
        if link == _SOFTMAX:
            most, whole = own[0], 0.0
            for k in range(1, len(own)):
                most = max(most, own[k])
            for k in range(len(own)):
                own[k] = math.exp(own[k] - most)
                whole += own[k]
            for k in range(len(own)):
                own[k] = own[k] / (np.float32(whole) if single else whole)
            continue
        for k in range(len(own)):
            x = own[k]
            if link == _LOGISTIC and single:
                own[k] = _ONE / (math.exp(min(-np.float32(x), _MOST)) + _ONE + _LEAST)
            elif link == _LOGISTIC:
                own[k] = 1.0 / (1.0 + math.exp(-x))
            elif link == _EXPONENTIAL:
                own[k] = math.exp(x)
            elif link == _HINGE:
                own[k] = 1.0 if x > 0 else 0.0
            elif link == _SQUARE:
                own[k] = math.copysign(x * x, x)
            elif link == _SOFTPLUS:
                own[k] = math.log1p(math.exp(x))


def linked(totals: NDArray[Any], link: Link) -> None:
    """Make answers of sums, in their place."""
    if link != "identity":
        _linked(totals, LINKS.index(link))


__all__ = ["Packed", "add_up", "add_weighted", "linked", "packed"]
