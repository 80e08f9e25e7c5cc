"""Bounding a network forwards by intervals, compiled."""
# numba has no types
# mypy: disallow-untyped-decorators=False, warn-return-any=False, disable-error-code="no-any-return"

from __future__ import annotations

import numpy as np

from fairdesk.certify.bounds.dense.state import (
    ANSWER_HIGH,
    ANSWER_LOW,
    EPS,
    FAST,
    FIRST,
    HIGH,
    LARGEST,
    LOW,
    UNITS,
    WEIGHTS,
    Float64,
    Network,
    Numbers,
    Room,
)
from fairdesk.compiled import inner, put


@inner(fastmath=FAST)
def _add_slope(slopes: Float64, middle: float, half: float, low: Float64, high: Float64) -> None:
    """Add what an axis with a slope makes of the first layer's sums, at its middle and around."""
    for u in range(slopes.size):
        at, by = slopes[u] * middle, abs(slopes[u]) * half
        low[u] += at - by
        high[u] += at + by


@inner()
def _widen(least: Float64, most: Float64, low: Float64, high: Float64) -> None:
    for u in range(low.size):
        low[u], high[u] = min(low[u], least[u]), max(high[u], most[u])


@inner()
def extremes(
    least: Float64, most: Float64, tree: int, count: int, first: int, last: int, ends: Float64
) -> None:
    """Give the least and the greatest entries of a table between two places, ``(2, h)``."""
    ends[0], ends[1] = np.inf, -np.inf
    left, right = first + count, last + count + 1
    while left < right:
        if left & 1:
            _widen(least[tree + left], most[tree + left], ends[0], ends[1])
            left += 1
        if right & 1:
            right -= 1
            _widen(least[tree + right], most[tree + right], ends[0], ends[1])
        left, right = left >> 1, right >> 1


@inner()
def _add(ends: Float64, more: Float64) -> None:
    for u in range(more.shape[1]):
        ends[0, u] += more[0, u]
        ends[1, u] += more[1, u]


@inner()
def enter(network: Network, low: Numbers, high: Numbers, room: Room) -> None:
    """Look at a box: its middle, and the first layer's sums without what combinations add."""
    first, wide = room.first, room.wide
    put(first[0], network.bias)
    put(first[1], network.bias)
    wide[:] = 0.0
    for i in range(low.size):
        count, tree = network.axes[i, 0], network.axes[i, 1]
        room.middle[i] = room.half[i] = 0.0
        if tree < 0:
            room.middle[i], room.half[i] = 0.5 * (low[i] + high[i]), 0.5 * (high[i] - low[i])
            _add_slope(network.slopes[i], room.middle[i], room.half[i], first[0], first[1])
            continue
        extremes(network.least, network.most, tree, count, low[i], high[i], room.ends)
        _add(first, room.ends)
        if network.axes[i, 2] < 0:
            _add(wide, room.ends)


@inner()
def allowance(factor: float, constant: float, size: float) -> float:
    """Return how far a sum may be from the exact one; ``size`` is that of its terms' absolutes."""
    return factor * size + constant


@inner(fastmath=FAST)
def _add_input(
    weights: Float64, low: float, high: float, middle: Float64, half: Float64, size: Float64
) -> None:
    """Add one input, between two numbers, to the sums of a layer."""
    centre, radius, most = 0.5 * (low + high), 0.5 * (high - low), max(abs(low), abs(high))
    for u in range(middle.size):
        weight = weights[u]
        middle[u] += weight * centre
        half[u] += abs(weight) * radius
        size[u] += abs(weight) * most


@inner()
def interval_sums(network: Network, layer: int, room: Room) -> bool:
    """Bound a later layer's sums by intervals; tells whether they are numbers, not too large."""
    of = room.units
    units, first, at = (
        network.shape[layer, UNITS],
        network.shape[layer, FIRST],
        network.shape[layer, WEIGHTS],
    )
    middle, half, size = room.sums[0, :units], room.sums[1, :units], room.sums[2, :units]
    fine = True
    for u in range(units):
        middle[u] = network.bias[first + u]
        half[u], size[u] = 0.0, abs(middle[u])
    before = network.shape[layer - 1, FIRST]
    for i in range(before, first):
        least, most = of[ANSWER_LOW, i], of[ANSWER_HIGH, i]
        fine = fine and max(abs(least), abs(most)) <= network.limits[LARGEST]
        if least != 0.0 or most != 0.0:
            _add_input(network.weights[at : at + units], least, most, middle, half, size)
        at += units
    factor, constant = network.settings[layer, 2], network.settings[layer, 3]
    for u in range(units):
        eps = allowance(factor, constant, size[u])
        of[EPS, first + u] = eps
        of[LOW, first + u] = middle[u] - half[u] - eps
        of[HIGH, first + u] = middle[u] + half[u] + eps
        fine = fine and size[u] <= network.limits[LARGEST]
    return fine
