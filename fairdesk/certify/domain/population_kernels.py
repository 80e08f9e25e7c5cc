"""Masses and medians of boxes in a population, compiled: messages along its tree.

Everything that is added or multiplied here is positive, so that rounding takes or adds a share of a
mass that grows with the number of operations only: `Population.off` says how much.
"""
# numba has no types
# mypy: disallow-untyped-decorators=False, warn-return-any=False, disable-error-code="no-any-return"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from fairdesk.compiled import inner, put, shared, tuple_type, whole

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]


class TreeArrays(NamedTuple):
    """A population over the axes of a space, as these loops read it.

    Node 0 has one cell and stands above the roots of the tree; parents come before their children.

    Attributes
    ----------
    parent, cells, first, at : NDArray[np.int64]
        ``(m,)``; of each node its parent, its number of cells, where these begin among the cells of
        all nodes, and where its table begins: ``(cells of the parent, cells)``.
    tables : NDArray[np.float64]
        Flat; the probabilities of a node's cells given its parent's.
    whole : NDArray[np.float64]
        Flat; of each cell the sum of the weights of all places in it; whole numbers.
    node : NDArray[np.int64]
        ``(a,)``; the node of each axis.
    runs : NDArray[np.int64]
        ``(a + 1,)``; where the runs of each axis begin: neighbouring places of one cell.
    starts, cell : NDArray[np.int64]
        Flat; the first place of each run, and its cell.
    before_at : NDArray[np.int64]
        ``(a,)``; where in ``before`` the weight before place 0 of an axis is; -1 where that is not
        written down for each place.
    before : NDArray[np.int64]
        Flat; the weight of all places before each place of an axis, and at the end of all.
    each : NDArray[np.int64]
        ``(a,)``; of axes that are not written down what every place weighs, beside what follows.
    known_at : NDArray[np.int64]
        ``(a + 1,)``; where the places of the data begin in ``known``, of such axes.
    known : NDArray[np.int64]
        Flat; these places, ascending.
    more : NDArray[np.int64]
        Flat, one longer for each axis; what the places of the data before each of them weigh
        beside, and at the end all: those of axis ``i`` begin at ``known_at[i] + i``.
    """

    parent: Numbers
    cells: Numbers
    first: Numbers
    at: Numbers
    tables: Float64
    whole: Float64
    node: Numbers
    runs: Numbers
    starts: Numbers
    cell: Numbers
    before_at: Numbers
    before: Numbers
    each: Numbers
    known_at: Numbers
    known: Numbers
    more: Numbers


def nothing() -> TreeArrays:
    """Return the arrays that stand for no population."""
    none, nobody = np.empty(0, dtype=np.int64), np.empty(0)
    return TreeArrays(
        *(none, none, none, none, nobody, nobody),
        *(none, none, none, none, none, none, none, none, none, none),
    )


TREE = tuple_type(TreeArrays)
_I1, _F1 = types.Array(types.int64, 1, "C"), types.Array(types.float64, 1, "C")
_I2, _F2 = types.Array(types.int64, 2, "C"), types.Array(types.float64, 2, "C")


@inner()
def weight_before(tree: TreeArrays, axis: int, place: int) -> int:
    """Return the weight of all places of an axis before one."""
    at = tree.before_at[axis]
    if at >= 0:
        return tree.before[at + place]
    first, last = tree.known_at[axis], tree.known_at[axis + 1]
    while first < last:
        middle = (first + last) // 2
        if tree.known[middle] < place:
            first = middle + 1
        else:
            last = middle
    return tree.each[axis] * place + tree.more[first + axis]


@inner()
def run_of(tree: TreeArrays, axis: int, place: int) -> int:
    """Return the run of an axis that a place is in."""
    first, last = tree.runs[axis], tree.runs[axis + 1]
    while last - first > 1:
        middle = (first + last) // 2
        if tree.starts[middle] <= place:
            first = middle
        else:
            last = middle
    return first


@inner()
def run_end(tree: TreeArrays, axis: int, run: int, high: int) -> int:
    """Return the last place of a run that is not beyond another."""
    return min(tree.starts[run + 1] - 1, high) if run + 1 < tree.runs[axis + 1] else high


@inner()
def weigh(tree: TreeArrays, low: Numbers, high: Numbers, given: Float64, seen: Float64) -> None:
    """Fill in which share of each cell is in a box: of nodes without an axis what is given."""
    put(seen, given)
    for i in range(low.size):
        node = tree.node[i]
        first = tree.first[node]
        seen[first : first + tree.cells[node]] = 0.0
        place, run = low[i], run_of(tree, i, low[i])
        while place <= high[i]:
            last, cell = run_end(tree, i, run, high[i]), first + tree.cell[run]
            weight = weight_before(tree, i, last + 1) - weight_before(tree, i, place)
            if weight > 0:
                seen[cell] += weight / tree.whole[cell]
            place, run = last + 1, run + 1


@inner()
def gathered(tree: TreeArrays, seen: Float64, messages: Float64) -> float:
    """Pass messages up to the root, and return the mass.

    ``seen`` is multiplied by what the children say; ``messages``, ``(m, most cells)``, are what
    each node says to its parent.
    """
    for node in range(tree.parent.size - 1, 0, -1):
        above, cells = tree.parent[node], tree.cells[node]
        first, to, at = tree.first[node], tree.first[above], tree.at[node]
        for j in range(tree.cells[above]):
            said = 0.0
            if seen[to + j] > 0.0:
                for k in range(cells):
                    if seen[first + k] > 0.0:
                        said += tree.tables[at + j * cells + k] * seen[first + k]
            messages[node, j] = said
            seen[to + j] *= said
    return seen[0]


@inner()
def mass_of(
    tree: TreeArrays,
    low: Numbers,
    high: Numbers,
    given: Float64,
    seen: Float64,
    messages: Float64,
) -> float:
    """Return the mass of one box."""
    weigh(tree, low, high, given, seen)
    return gathered(tree, seen, messages)


@whole(types.void(TREE, _I2, _I2, _F1, _F1))
def masses(tree: TreeArrays, low: Numbers, high: Numbers, given: Float64, out: Float64) -> None:
    """Compute the masses of boxes.

    Parameters
    ----------
    tree : TreeArrays
        The population.
    low, high : NDArray[np.int64]
        ``(B, a)``; the ends of the boxes, both included.
    given : NDArray[np.float64]
        Of all cells; which share of each counts of the nodes that are no axis: mostly 1.
    out : NDArray[np.float64]
        ``(B,)``; filled.
    """
    seen = np.empty(given.size)
    messages = np.empty((tree.parent.size, tree.cells.max()))
    tree = shared(tree)
    for b in range(len(low)):
        out[b] = mass_of(tree, low[b], high[b], given, seen, messages)


@inner()
def downwards(
    tree: TreeArrays,
    node: int,
    seen: Float64,
    messages: Float64,
    told: Float64,
    spare: Float64,
    path: Numbers,
) -> None:
    """Fill ``told`` with the mass that each cell of a node would have, were all of it in the box.

    Without what the node itself and its children say; ``seen`` is as `weigh` fills it.
    """
    length = 0
    while node > 0:
        path[length] = node
        node, length = tree.parent[node], length + 1
    told[0] = 1.0
    above = 0
    for step in range(length - 1, -1, -1):
        own = path[step]
        for j in range(tree.cells[above]):
            spare[j] = told[j] * seen[tree.first[above] + j]
        for other in range(above + 1, tree.parent.size):
            if tree.parent[other] == above and other != own:
                for j in range(tree.cells[above]):
                    spare[j] *= messages[other, j]
        cells, at = tree.cells[own], tree.at[own]
        for k in range(cells):
            told[k] = 0.0
            for j in range(tree.cells[above]):
                told[k] += spare[j] * tree.tables[at + j * cells + k]
        above = own


@inner()
def _median(
    tree: TreeArrays,
    low: Numbers,
    high: Numbers,
    axis: int,
    given: Float64,
    seen: Float64,
    whole: Float64,
    messages: Float64,
    told: Float64,
    spare: Float64,
    path: Numbers,
) -> int:
    """Return the place of an axis up to which about half of a box's mass is, the last one never."""
    weigh(tree, low, high, given, seen)
    put(whole, seen)
    total = gathered(tree, whole, messages)
    middle = (low[axis] + high[axis]) >> 1
    if not total > 0.0:
        return middle
    node = tree.node[axis]
    downwards(tree, node, seen, messages, told, spare, path)
    for other in range(node + 1, tree.parent.size):
        if tree.parent[other] == node:
            for k in range(tree.cells[node]):
                told[k] *= messages[other, k]
    gone, place, run = 0.0, low[axis], run_of(tree, axis, low[axis])
    while place <= high[axis]:
        last, cell = run_end(tree, axis, run, high[axis]), tree.cell[run]
        each = told[cell] / max(tree.whole[tree.first[node] + cell], 1.0)
        start = weight_before(tree, axis, place)
        more = each * (weight_before(tree, axis, last + 1) - start)
        if gone + more >= 0.5 * total:
            first = place
            while first < last:
                between = (first + last) // 2
                if gone + each * (weight_before(tree, axis, between + 1) - start) >= 0.5 * total:
                    last = between
                else:
                    first = between + 1
            # of the two places around the middle the one that leaves halves more alike
            until = gone + each * (weight_before(tree, axis, first) - start)
            beyond = gone + each * (weight_before(tree, axis, first + 1) - start)
            if first > low[axis] and 0.5 * total - until < beyond - 0.5 * total:
                first -= 1
            return min(first, high[axis] - 1)
        gone, place, run = gone + more, last + 1, run + 1
    return middle


@whole(types.void(TREE, _I2, _I2, _I1, _F1, _I1))
def medians(
    tree: TreeArrays, low: Numbers, high: Numbers, axis: Numbers, given: Float64, out: Numbers
) -> None:
    """Find where boxes are to be halved along an axis each, by mass.

    Parameters
    ----------
    tree, low, high, given
        As of `masses`.
    axis : NDArray[np.int64]
        ``(B,)``; -1 for none.
    out : NDArray[np.int64]
        ``(B,)``; filled where there is an axis: the last place of the first half.
    """
    seen, whole = np.empty(given.size), np.empty(given.size)
    cells = tree.cells.max()
    messages = np.empty((tree.parent.size, cells))
    told, spare = np.empty(cells), np.empty(cells)
    path = np.empty(tree.parent.size, dtype=np.int64)
    tree = shared(tree)
    for b in range(len(low)):
        if axis[b] >= 0:
            out[b] = _median(
                *(tree, low[b], high[b], axis[b], given, seen, whole, messages, told, spare, path)
            )
