"""Counting how much of a population a linear form puts beyond a threshold, compiled.

As `count_kernels`, with a tree instead of independent axes: from the leaves up each node tells its
parent, for each of the parent's cells, how the sum of everything below it is distributed. One
convolution for each child beyond a node's first one, and a shifted copy for each number of an axis.
All numbers are positive but for the differences that are read off at the end.
"""
# numba has no types
# mypy: disallow-untyped-decorators=False, warn-return-any=False, disable-error-code="no-any-return"

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from fairdesk.certify.bounds.count_kernels import add, beyond, less_rounding, reach, rounded_by
from fairdesk.certify.domain.population_kernels import (
    TREE,
    TreeArrays,
    run_end,
    run_of,
    weigh,
    weight_before,
)
from fairdesk.compiled import Float2, inner, outer, put, shared, tuple_type

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: Differences below this are not told apart.
_TINY = 1e-280
#: A smaller mass may have come of numbers that no float holds to all its digits.
_LEAST = 2.0**-900


class TreeRoom(NamedTuple):
    """What a thread works in.

    Attributes
    ----------
    seen : NDArray[np.float64]
        Of all cells; which share of each is in the box.
    spread : NDArray[np.float64]
        ``(cells of all nodes, w)``; how the sum of what is below a cell is distributed.
    made, spare : NDArray[np.float64]
        ``(most cells, w)``, ``(2, w)``.
    support : NDArray[np.int64]
        ``(m,)``; of each node how many cells of the grid are taken.
    axis : NDArray[np.int64]
        ``(m,)``; of each node its axis, -1 where it has none.
    lows, spans : NDArray[np.float64]
        ``(a,)``; of each axis the least that it adds, and how much more it can add.
    messages : NDArray[np.float64]
        ``(m, most cells)``; as of `fairdesk.certify.domain.population_kernels.gathered`.
    """

    seen: Float64
    spread: Float2
    made: Float2
    spare: Float2
    support: Numbers
    axis: Numbers
    lows: Float64
    spans: Float64
    messages: Float2


def tree_room(tree: TreeArrays, grid: int) -> TreeRoom:
    """Return what a thread works in, for a grid of so many steps."""
    axes, cells, most = tree.node.size, tree.whole.size, int(tree.cells.max(initial=0))
    width = grid + 2 * axes + 16
    return TreeRoom(
        seen=np.zeros(cells),
        spread=np.zeros((cells, width)),
        made=np.zeros((most, width)),
        spare=np.zeros((2, width)),
        support=np.zeros(tree.parent.size, dtype=np.int64),
        axis=np.zeros(tree.parent.size, dtype=np.int64),
        lows=np.zeros(axes),
        spans=np.zeros(axes),
        messages=np.zeros((len(tree.parent), most)),
    )


TREE_ROOM = tuple_type(TreeRoom)


@inner()
def _survey(
    low: Numbers, high: Numbers, slope: Float64, tables: Float64, start: Numbers, room: TreeRoom
) -> tuple[float, float]:
    """Fill in each axis' least number and its span; give how large numbers are, and all spans."""
    largest = total = 0.0
    for i in range(low.size):
        least, most = reach(i, low, high, slope, tables, start)
        largest += abs(least) + abs(most)
        room.lows[i], room.spans[i] = least, most - least
        total += most - least
    return largest, total


@inner()
def _until(cell: int, h: float, lowest: float, slope: float, place: int, last: int) -> int:
    """Return the last place of a slope that goes to the same cell of the grid, about."""
    if slope == 0.0:
        return last
    border = cell + 0.5 if slope > 0.0 else cell - 0.5
    at = (border * h + lowest) / slope
    if not abs(at) < 2.0**62:
        return last
    return min(max(math.ceil(at) - 1, place), last)


@inner()
def _enter_axis(
    tree: TreeArrays,
    i: int,
    low: Numbers,
    high: Numbers,
    slope: Float64,
    tables: Float64,
    start: Numbers,
    h: float,
    room: TreeRoom,
) -> tuple[int, float, float]:
    """Add an axis to what its node's cells are spread over: how many steps, and what is off."""
    node = tree.node[i]
    first, cells, support = tree.first[node], tree.cells[node], room.support[node]
    longest = math.floor(room.spans[i] / h + 0.5)
    for k in range(cells):
        room.made[k, : support + longest + 1] = 0.0
    least = most = 0.0
    steps = 0
    place, run = low[i], run_of(tree, i, low[i])
    while place <= high[i]:
        end, cell = run_end(tree, i, run, high[i]), tree.cell[run]
        old = room.spread[first + cell, :support]
        while place <= end:
            last = place
            if start[i] < 0:
                value = slope[i] * place - room.lows[i]
                at = math.floor(value / h + 0.5)
                last = _until(at, h, room.lows[i], slope[i], place, end)
                other = slope[i] * last - room.lows[i]
                least, most = min(least, other - h * at), max(most, other - h * at)
            else:
                value = tables[start[i] + place - low[i]] - room.lows[i]
                at = math.floor(value / h + 0.5)
            least, most = min(least, value - h * at), max(most, value - h * at)
            weight = weight_before(tree, i, last + 1) - weight_before(tree, i, place)
            if weight > 0:
                share = weight / tree.whole[first + cell]
                at = min(max(at, 0), longest)
                add(room.made[cell, at : at + support], old, share)
                steps += 1
            place = last + 1
        run += 1
    room.support[node] = support + longest
    for k in range(cells):
        put(room.spread[first + k, : support + longest], room.made[k])
    return steps, least, most


@inner()
def _enter_given(tree: TreeArrays, node: int, room: TreeRoom) -> None:
    """Multiply what a node that is no axis is spread over by what is given of it."""
    first = tree.first[node]
    for k in range(first, first + tree.cells[node]):
        for g in range(room.support[node]):
            room.spread[k, g] *= room.seen[k]


@inner()
def _tell_parent(tree: TreeArrays, node: int, room: TreeRoom) -> None:
    """Multiply what a node's parent's cells are spread over by what the node says of each."""
    above, cells, at = tree.parent[node], tree.cells[node], tree.at[node]
    first, to = tree.first[node], tree.first[above]
    support, before = room.support[node], room.support[above]
    for j in range(tree.cells[above]):
        if not room.seen[to + j] > 0.0:
            continue
        said = room.spare[0]
        said[:support] = 0.0
        for k in range(cells):
            if room.seen[first + k] > 0.0:
                add(
                    said[:support],
                    room.spread[first + k, :support],
                    tree.tables[at + j * cells + k],
                )
        old, new = room.spread[to + j], room.spare[1]
        if before == 1:
            here = old[0]
            for g in range(support):
                old[g] = here * said[g]
            continue
        new[: before + support - 1] = 0.0
        if support <= before:
            for g in range(support):
                if said[g] > 0.0:
                    add(new[g : g + before], old[:before], said[g])
        else:
            for g in range(before):
                if old[g] > 0.0:
                    add(new[g : g + support], said[:support], old[g])
        put(old[: before + support - 1], new)
    room.support[above] = before + support - 1


@outer(
    types.UniTuple(types.float64, 3)(
        *(TREE, types.int64[::1], types.int64[::1]),
        *(types.float64[::1], types.float64[::1], types.float64[::1], types.int64[::1]),
        *(types.float64, types.float64, types.float64, types.float64, types.int64, TREE_ROOM),
    )
)
def tree_shares(
    tree: TreeArrays,
    low: Numbers,
    high: Numbers,
    given: Float64,
    slope: Float64,
    tables: Float64,
    start: Numbers,
    above: float,
    below: float,
    after: float,
    before: float,
    grid: int,
    room: TreeRoom,
) -> tuple[float, float, float]:
    """Bound from below which shares of a box's mass a linear form puts beyond thresholds.

    Parameters
    ----------
    tree : TreeArrays
        The population.
    low, high, slope, tables, start, above, below, after, before
        As of `fairdesk.certify.bounds.count_kernels.shares`.
    given : NDArray[np.float64]
        As of `fairdesk.certify.domain.population_kernels.masses`.
    grid : int
        Steps of the grid; the room was made for as many.
    room : TreeRoom
        Overwritten.

    Returns
    -------
    float, float, float
        The three shares of the box's own mass, never more than the true ones; 0 where there is
        none.
    """
    tree, room = shared(tree), shared(room)
    largest, total = _survey(low, high, slope, tables, start, room)
    if not largest < np.inf:
        return 0.0, 0.0, 0.0
    weigh(tree, low, high, given, room.seen)
    h, off, base = total / grid, 0.0, 0.0
    if h < _TINY:
        h, off = 1.0, total
    room.support[:] = 1
    room.spread[:, 0] = 1.0
    rounded = 0.0
    axis = room.axis
    axis[:] = -1
    for i in range(low.size):
        axis[tree.node[i]] = i
        base += room.lows[i]
    for node in range(tree.parent.size - 1, -1, -1):
        i = axis[node]
        if i >= 0:
            steps, least, most = _enter_axis(tree, i, low, high, slope, tables, start, h, room)
            rounded += steps + 4.0
            base += 0.5 * (least + most)
            off += 0.5 * (most - least)
        else:
            _enter_given(tree, node, room)
        if node > 0:
            rounded += tree.cells[node] + 4.0
            rounded += min(room.support[node], room.support[tree.parent[node]])
            _tell_parent(tree, node, room)
    support, until = room.support[0], room.spare[0]
    whole = 0.0
    for g in range(support):
        until[g] = whole
        whole += room.spread[0, g]
    until[support] = whole
    if not whole > _LEAST:
        return 0.0, 0.0, 0.0
    off += rounded_by(abs(base) + h * support + largest, low.size, above, below, after, before)
    told = beyond(
        *(until, support, base, 1.0 / h),
        *(above + off, below - off, after + off, before - off),
    )
    # each sum is off by a share of itself; what is read off are differences of them
    slack = 4.0 * rounded + 8.0 * support + 128.0
    return less_rounding(told[0] / whole, told[1] / whole, told[2] / whole, slack)
