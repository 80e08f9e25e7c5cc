"""Choosing the axis along which a box is halved, compiled."""
# numba has no types
# mypy: disallow-untyped-decorators=False, warn-return-any=False, disable-error-code="no-any-return"

from __future__ import annotations

from fairdesk.certify.bounds.dense.intervals import extremes
from fairdesk.certify.bounds.dense.state import (
    ABOVE,
    BELOW,
    FIRST,
    HANGS,
    OPEN,
    STEEP,
    UNITS,
    WEIGHTS,
    Float64,
    Network,
    Numbers,
    Room,
)
from fairdesk.compiled import inner


@inner()
def gaps(network: Network, low: Numbers, high: Numbers, room: Room) -> int:
    """Choose the axis along which most of what keeps the lines apart can be taken away.

    At each unit with two lines, what the margins hang on it is a gap; it is taken back to the axes
    by the weights' absolutes, and multiplied by how wide each is.
    """
    of, layer = room.units, len(network.shape) - 1
    current, other = room.sums[0], room.sums[1]
    current[:] = 0.0
    while True:
        units, first = network.shape[layer, UNITS], network.shape[layer, FIRST]
        for j in range(units):
            slope = 0.5 * (abs(of[BELOW, first + j]) + abs(of[ABOVE, first + j]))
            gap = of[HANGS, first + j] if of[OPEN, first + j] > 0.0 else 0.0
            current[j] = slope * current[j] + gap
        if layer == 0:
            break
        inputs, at = network.shape[layer - 1, UNITS], network.shape[layer, WEIGHTS]
        other[:] = 0.0
        for j in range(units):
            if current[j] != 0.0:
                for i in range(inputs):
                    other[i] += current[j] * abs(network.turned[at + j * inputs + i])
        current, other, layer = other, current, layer - 1
    best, chosen = -1.0, -1
    for i in range(low.size):
        if low[i] < high[i]:
            gain = _gain(network, i, low, high, current, room)
            if not gain <= best:
                best, chosen = gain, i
    return chosen


@inner()
def _gain(
    network: Network, i: int, low: Numbers, high: Numbers, weights: Float64, room: Room
) -> float:
    """Return how much would be gained by halving along an axis; ``weights`` of each first unit."""
    count, tree, gain = network.axes[i, 0], network.axes[i, 1], 0.0
    h = network.first_off.size
    if tree < 0:
        for u in range(h):
            gain += abs(network.slopes[i, u]) * weights[u]
        if room.formed[0]:
            for p in range(room.kept.shape[1]):
                gain += network.limits[STEEP] * abs(room.kept[0, p, i])
        return gain * (high[i] - low[i])
    extremes(network.least, network.most, tree, count, low[i], high[i], room.ends)
    for u in range(h):
        gain += (room.ends[1, u] - room.ends[0, u]) * weights[u]
    return gain
