"""One form for all combinations, and cutting off of a box what it decides, compiled."""
# numba has no types
# mypy: disallow-untyped-decorators=False, warn-return-any=False, disable-error-code="no-any-return"

from __future__ import annotations

import math

import numpy as np

from fairdesk.certify.bounds.dense.state import FAST, FEW, WORTH, Float64, Network, Numbers, Room
from fairdesk.compiled import inner


@inner()
def add_to(common: Float64, form: Float64, by: float) -> None:
    """Add a multiple of a form to another, in place."""
    for i in range(common.size):
        common[i] += by * form[i]


@inner()
def agree(network: Network, c: int, who: Numbers, low: Numbers, high: Numbers, room: Room) -> float:
    """Find one form that is below all that a class needs, under every combination.

    Its slopes are the mean of theirs, in ``room.common``; what is not certain of the class is
    made up for by the constant, which is given. Infinite where the class loses, or needs nothing.
    """
    common, met = room.common, 0.0
    common[:] = 0.0
    for v in who:
        if room.won[v] >= 0:
            if room.won[v] != network.decision[c]:
                return -np.inf
            continue
        for p in range(room.bounds.shape[1]):
            if network.needs[c, p]:
                add_to(common, room.kept[room.bundle[v], p], 1.0)
                met += 1.0
    if met == 0.0:
        return np.inf
    add_to(common, common, 1.0 / met - 1.0)
    lowest = np.inf
    for v in who:
        if room.won[v] < 0:
            for p in range(room.bounds.shape[1]):
                if network.needs[c, p]:
                    lowest = min(lowest, less(network, low, high, v, p, room))
    return lowest


@inner(fastmath=FAST)
def _even_less(form: Float64, common: Float64, low: Numbers, high: Numbers) -> tuple[float, float]:
    """Do `less` for the axes with slopes; and give how large what is added up can be."""
    difference = size = 0.0
    for i in range(low.size):
        more = form[i] - common[i]
        difference += 0.5 * (more * (low[i] + high[i]) - abs(more) * (high[i] - low[i]))
        size += (abs(form[i]) + abs(common[i])) * high[i]
    return difference, size


@inner()
def less(network: Network, low: Numbers, high: Numbers, v: int, p: int, room: Room) -> float:
    """Return the least that a form with its constant is above the common one, in a box."""
    form, common = room.kept[room.bundle[v], p], room.common
    difference, size = _even_less(form, common, low, high)
    for i in range(low.size):
        entry = network.axes[i, 2]
        if entry >= 0:
            least, most = np.inf, 0.0
            for k in range(entry + low[i], entry + high[i] + 1):
                least = min(least, form[k] - common[k])
                most = max(most, abs(form[k]) + abs(common[k]))
            difference, size = difference + least, size + most
    difference, size = difference + room.constants[v, p], size + abs(room.constants[v, p])
    # what overflows bounds nothing
    return difference - size * FEW if size < np.inf else -np.inf


@inner()
def ends(axes: Numbers, i: int, low: Numbers, high: Numbers, form: Float64) -> tuple[float, float]:
    """Return the least and the most that one axis adds to a form."""
    entry = axes[i, 2]
    if entry < 0:
        first, last = form[i] * low[i], form[i] * high[i]
        return min(first, last), max(first, last)
    least = most = form[entry + low[i]]
    for k in range(entry + low[i] + 1, entry + high[i] + 1):
        least, most = min(least, form[k]), max(most, form[k])
    return least, most


@inner()
def clip(network: Network, limit: float, low: Numbers, high: Numbers, room: Room) -> bool:
    """Narrow a box, in place, to where a common form is not above a limit: all else is consistent.

    An axis is cut only where enough of it goes. Tells whether nothing is left.
    """
    common = room.common
    total, size = 0.0, abs(limit)
    for i in range(low.size):
        least, most = ends(network.axes, i, low, high, common)
        total += least
        size += max(abs(least), abs(most))
    slack = size * FEW
    if total - slack > limit:
        return True
    for i in range(low.size):
        if low[i] == high[i]:
            continue
        least, most = ends(network.axes, i, low, high, common)
        # a place is left where the axis adds no more than this
        rest = limit - (total - least) + slack
        if most <= rest:
            continue
        first, last = low[i], high[i]
        entry = network.axes[i, 2]
        if entry >= 0:
            while first < last and common[entry + first] > rest:
                first += 1
            while first < last and common[entry + last] > rest:
                last -= 1
        elif common[i] > 0.0:
            last = max(first, math.floor(min(rest / common[i] + 2.0**-20, float(last))))
        else:
            first = min(last, math.ceil(max(rest / common[i] - 2.0**-20, float(first))))
        if last - first + 1 <= network.limits[WORTH] * (high[i] - low[i] + 1):
            low[i], high[i] = first, last
            total += ends(network.axes, i, low, high, common)[0] - least
    return False
