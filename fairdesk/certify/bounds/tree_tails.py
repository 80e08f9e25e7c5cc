"""How a linear form is spread over a population's people in a box, and its tails, compiled.

Both by messages along the tree, one number for each cell: far less than the whole distribution
takes (`tree_kernels`). A tail is bounded from above by the mean of an exponential of the form
(Chernoff 1952): that is a product of one factor for each axis, which the tree sums up. Every number
is positive, so rounding takes a share of the result that grows with the number of operations only.
"""

# numba has no types
# mypy: disallow-untyped-decorators=False, warn-return-any=False, disable-error-code="no-any-return"

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.bounds.count_kernels import reach
from fairdesk.certify.bounds.tree_kernels import TreeRoom
from fairdesk.certify.domain.population_kernels import (
    TreeArrays,
    gathered,
    mass_of,
    run_end,
    run_of,
    weight_before,
)
from fairdesk.compiled import inner, put, shared

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: Neighbouring places are taken together up to so large a difference of the exponent.
_TOGETHER = 1.0 / 32.0
#: Nor is an axis divided into more parts, about, however steep the exponent is.
_MOST_PARTS = 1_024
#: A smaller exponent is taken for this one: the bound is never less for that.
_LEAST_EXPONENT = -60.0
#: A smaller mass may have come of numbers that no float holds to all its digits.
_LEAST_MASS = 1e-250
#: Greater exponents are off by too much to bound anything.
_LARGEST = 2.0**30
#: More than everything that can be lost where a product is too small for a float.
_LOST = 1e-280


@inner()
def _value(
    i: int, place: int, low: Numbers, slope: Float64, tables: Float64, start: Numbers
) -> float:
    """Return what an axis adds to a form at a place of the box."""
    return slope[i] * place if start[i] < 0 else tables[start[i] + place - low[i]]


@inner()
def tree_moments(
    tree: TreeArrays,
    low: Numbers,
    high: Numbers,
    given: Float64,
    slope: Float64,
    tables: Float64,
    start: Numbers,
    room: TreeRoom,
) -> tuple[float, float]:
    """Estimate the mean and the standard deviation of a form over a box's people.

    Parameters as of `fairdesk.certify.bounds.tree_kernels.tree_shares`. Nothing is proven by them.
    """
    tree, room = shared(tree), shared(room)
    sums = room.spread
    for k in range(given.size):
        sums[k, 0], sums[k, 1], sums[k, 2] = given[k], 0.0, 0.0
    middle = 0.0
    for i in range(low.size):
        node = tree.node[i]
        first = tree.first[node]
        sums[first : first + tree.cells[node], :3] = 0.0
        least, most = reach(i, low, high, slope, tables, start)
        # what is near 0 loses no digits when it is squared
        centre = 0.5 * (least + most)
        middle += centre
        place, run = low[i], run_of(tree, i, low[i])
        while place <= high[i]:
            last, cell = run_end(tree, i, run, high[i]), first + tree.cell[run]
            # a few numbers stand for a long run
            step = 1 if start[i] >= 0 else (last - place) // 16 + 1
            while place <= last:
                until = min(place + step - 1, last)
                weight = weight_before(tree, i, until + 1) - weight_before(tree, i, place)
                if weight > 0:
                    share = weight / tree.whole[cell]
                    value = _value(i, (place + until) >> 1, low, slope, tables, start) - centre
                    sums[cell, 0] += share
                    sums[cell, 1] += share * value
                    sums[cell, 2] += share * value * value
                place = until + 1
            run += 1
    for node in range(tree.parent.size - 1, 0, -1):
        above, cells = tree.parent[node], tree.cells[node]
        first, to, at = tree.first[node], tree.first[above], tree.at[node]
        for j in range(tree.cells[above]):
            whole = once = twice = 0.0
            for k in range(cells):
                share = tree.tables[at + j * cells + k]
                whole += share * sums[first + k, 0]
                once += share * sums[first + k, 1]
                twice += share * sums[first + k, 2]
            before, mean, square = sums[to + j, 0], sums[to + j, 1], sums[to + j, 2]
            sums[to + j, 0] = before * whole
            sums[to + j, 1] = mean * whole + before * once
            sums[to + j, 2] = square * whole + 2.0 * mean * once + before * twice
    if not sums[0, 0] > 0.0:
        return middle, 0.0
    mean = sums[0, 1] / sums[0, 0]
    return middle + mean, math.sqrt(max(sums[0, 2] / sums[0, 0] - mean * mean, 0.0))


@inner()
def tree_tail(
    tree: TreeArrays,
    low: Numbers,
    high: Numbers,
    given: Float64,
    slope: Float64,
    tables: Float64,
    start: Numbers,
    limit: float,
    by: float,
    room: TreeRoom,
) -> float:
    """Bound from above which share of a box's mass a linear form puts at a limit or beyond.

    Parameters
    ----------
    tree, low, high, given, slope, tables, start
        As of `fairdesk.certify.bounds.tree_kernels.tree_shares`.
    limit : float
        The share where the form is at least that; or at most, where ``by`` is below 0.
    by : float
        What the form is multiplied by in the exponent: any number but 0 gives a bound.
    room : TreeRoom
        Overwritten.

    Returns
    -------
    float
        Never less than the true share; 1 where nothing better is known.
    """
    tree, room = shared(tree), shared(room)
    mass = mass_of(tree, low, high, given, room.seen, room.messages)
    if not mass > _LEAST_MASS:
        return 1.0
    seen = room.seen
    put(seen, given)
    tops = size = terms = 0.0
    for i in range(low.size):
        node = tree.node[i]
        first = tree.first[node]
        seen[first : first + tree.cells[node]] = 0.0
        least, most = reach(i, low, high, slope, tables, start)
        top = max(by * least, by * most)
        tops, size = tops + top, size + abs(by) * (abs(least) + abs(most))
        step = 1
        if start[i] < 0 and abs(by * slope[i]) < _TOGETHER:
            step = math.floor(min(_TOGETHER / max(abs(by * slope[i]), 1e-18), 2.0**53))
        if start[i] < 0:
            step = max(step, (high[i] - low[i]) // _MOST_PARTS + 1)
        place, run = low[i], run_of(tree, i, low[i])
        while place <= high[i]:
            last, cell = run_end(tree, i, run, high[i]), first + tree.cell[run]
            while place <= last:
                until = min(place + step - 1, last)
                weight = weight_before(tree, i, until + 1) - weight_before(tree, i, place)
                if weight > 0:
                    # of places that are taken together the exponent is greatest at one of the ends
                    exponent = by * _value(i, place, low, slope, tables, start)
                    if until > place:
                        exponent = max(exponent, by * _value(i, until, low, slope, tables, start))
                    exponent = max(exponent - top, _LEAST_EXPONENT)
                    seen[cell] += weight / tree.whole[cell] * math.exp(exponent)
                    terms += 1.0
                place = until + 1
            run += 1
    if not size < _LARGEST:
        return 1.0
    total = gathered(tree, seen, room.messages) + _LOST
    # each sum and product is off by a share of itself, in the mass too; exponents by their terms
    rounded = 2.0 * terms + 4.0 * given.size + 64.0 * low.size + 64.0
    size += abs(by * limit)
    exponent = tops - by * limit + size * (8.0 * low.size + 64.0) * 2.0**-52
    share = total / mass * (1.0 + 8.0 * rounded * 2.0**-52)
    if not exponent < 700.0:
        return 1.0
    return min(share * math.exp(exponent) * (1.0 + 2.0**-40) + _LOST, 1.0)
