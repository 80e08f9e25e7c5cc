"""Bounding a network over boxes, compiled: what is proven in each, and where to halve it.

Backward substitution with a line below and a line above each activation (Zhang et al. 2018,
*Efficient Neural Network Robustness Certification with General Activation Functions*; Singh et al.
2019, *An Abstract Domain for Certifying Neural Networks*), for one box and one combination of
protected values at a time: affine forms of the places that no margin is below. What goes into an
activation may be off by its rounding, so each sum is a little interval, and a form loses what that
makes of it. Intervals come first: only a unit that they leave with a bend in it is bounded so.
"""
# numba has no types
# mypy: disallow-untyped-decorators=False, warn-return-any=False, disable-error-code="no-any-return"

from __future__ import annotations

import numpy as np
from numba import types

from fairdesk.certify.bounds.dense.backward import bounded, winner
from fairdesk.certify.bounds.dense.clipping import agree, clip
from fairdesk.certify.bounds.dense.counting import count, is_inhabited, place
from fairdesk.certify.bounds.dense.halving import gaps
from fairdesk.certify.bounds.dense.intervals import enter
from fairdesk.certify.bounds.dense.state import (
    BY_PEOPLE,
    CLOSE,
    CONSISTENT,
    DISCRIMINATORY,
    HANGS,
    LEAST_GAIN,
    NEAR,
    OPEN,
    ROUNDS,
    TOGETHER,
    UNDECIDED,
    Float64,
    Network,
    Numbers,
    Room,
)
from fairdesk.certify.bounds.dense.truncation import cut_first, price
from fairdesk.compiled import ONE, ZERO, inner, outer, put, shared, tuple_type


@inner()
def _size(low: Numbers, high: Numbers) -> float:
    size = 1.0
    for i in range(low.size):
        size *= high[i] - low[i] + 1.0
    return size


@inner()
def _decide(network: Network, decision: int, out: Float64) -> None:
    """Say that everybody in a box gets one decision."""
    out[0] = out[2] = 1.0
    out[4] = 1.0 if decision == network.favourable else 0.0


@inner()
def _bundle(network: Network, who: Numbers, room: Room) -> int:
    """Choose which combinations are bounded together: neighbours that make little difference.

    That is beside what the box itself makes of the first layer's sums, unless there are very many
    combinations. Fills ``room.until``; tells how many bundles there are.
    """
    together, first, ends = network.limits[TOGETHER], room.first, room.ends
    apart = 0.0
    for u in range(first.shape[1]):
        apart += network.limits[NEAR] * (first[1, u] - first[0, u])
    count = size = 0
    for k in range(who.size):
        own, spread = network.combined[who[k]], 0.0
        for u in range(own.size):
            spread += max(ends[1, u], own[u]) - min(ends[0, u], own[u])
        if k == 0 or size >= together or (spread > apart and size >= who.size / together):
            room.until[count] = k
            count, size = count + (k > 0), 0
            put(ends[0], own)
            put(ends[1], own)
        for u in range(own.size):
            ends[0, u], ends[1, u] = min(ends[0, u], own[u]), max(ends[1, u], own[u])
        size += 1
    room.until[count] = who.size
    return count + (size > 0)


@inner()
def _examined(
    network: Network, who: Numbers, low: Numbers, high: Numbers, out: Float64, room: Room
) -> tuple[int, int, float]:
    """Say what is proven in a box, which is narrowed in place: verdict, axis, what rounding is.

    ``out`` is filled as `count` does.
    """
    off = 0.0
    out[:] = 0.0
    for _again in range(int(network.limits[ROUNDS])):
        enter(network, low, high, room)
        bundles, start = _bundle(network, who, room), 0
        room.units[HANGS], room.units[OPEN], room.off[:] = 0.0, 0.0, 0.0
        everybody, decided = True, -1
        for bundle in range(bundles):
            members, start = who[start : room.until[bundle]], room.until[bundle]
            off = max(off, bounded(network, members, bundle, low, high, ZERO, room))
            for v in members:
                won = winner(network, room.bounds[v])
                room.won[v] = won
                if won < 0:
                    if not room.formed[bundle]:
                        return UNDECIDED, gaps(network, low, high, room), off
                    everybody = False
                elif decided >= 0 and won != decided:
                    out[1] = out[3] = 1.0
                    return DISCRIMINATORY, -1, off
                else:
                    decided = won
        if everybody:
            _decide(network, decided, out)
            return CONSISTENT, -1, off
        before = _size(low, high)
        for c in range(len(network.needs)):
            above = agree(network, c, who, low, high, room)
            if abs(above) < np.inf and clip(
                network, network.limits[CLOSE] - above, low, high, room
            ):
                _decide(network, network.decision[c], out)
                return CONSISTENT, -1, off
        if not _size(low, high) < 0.7 * before:
            break
    _count(network, who, low, high, out, room)
    return UNDECIDED, gaps(network, low, high, room), off


@inner()
def _count(
    network: Network, who: Numbers, low: Numbers, high: Numbers, out: Float64, room: Room
) -> None:
    """Count what is decided in an undecided box, on truncated ranges where that pays.

    So either points are counted or people; all else by the lines that hold in the whole box.
    """
    inhabited = is_inhabited(network, low, high, room)
    place(network, low, room)
    by_people = network.limits[BY_PEOPLE] > 0.0
    truncating = False
    if inhabited or not by_people:
        truncating = price(network, who, low, high, room) > network.limits[LEAST_GAIN]
    else:
        # what was left out of another box
        room.cuts[:] = 0.0
    for within in range(2):
        if within:
            if not truncating:
                break
            _truncate(network, who, low, high, room)
        points = within != by_people or not truncating
        people = inhabited and (within == by_people or not truncating)
        if points or people:
            own = room.counted
            count(network, who, low, high, points, people, own, room)
            for k in range(out.size):
                out[k] = max(out[k], own[k])
    for k in (0, 2):
        out[k + 1] = min(out[k + 1], 1.0 - out[k])


@inner()
def _truncate(network: Network, who: Numbers, low: Numbers, high: Numbers, room: Room) -> None:
    """Make the forms anew, of lines that hold on truncated ranges, where that pays."""
    enter(network, low, high, room)
    cut_first(network, who, low, high, room)
    room.units[HANGS], room.units[OPEN] = 0.0, 0.0
    bundle = start = ZERO
    while start < who.size:
        members, start = who[start : room.until[bundle]], room.until[bundle]
        if room.formed[bundle]:
            bounded(network, members, bundle, low, high, ONE, room)
        bundle += 1


@outer(
    types.float64(
        *(tuple_type(Network), types.int64[:, ::1], types.int64[:, ::1], types.int64[:, ::1]),
        *(types.int64[::1], types.int64, types.int64, types.int64[::1]),
        *(types.float64[:, ::1], types.int64[::1], tuple_type(Room)),
    ),
    error_model="numpy",
)
def examine(
    network: Network,
    compared: Numbers,
    low: Numbers,
    high: Numbers,
    group: Numbers,
    start: int,
    stop: int,
    verdict: Numbers,
    out: Float64,
    axis: Numbers,
    room: Room,
) -> float:
    """Say what is proven in boxes ``start`` to ``stop``.

    Parameters
    ----------
    network : Network
        As `Network` says.
    compared : NDArray[np.int64]
        ``(G, V)``; of each group the rows of ``network.combined`` that may be, then -1.
    low, high : NDArray[np.int64]
        ``(B, a)``; narrowed to what is left.
    group : NDArray[np.int64]
        ``(B,)``.
    start, stop : int
        Which of them.
    verdict, axis : NDArray[np.int64]
        ``(B,)``; filled: one of `UNDECIDED`, `CONSISTENT`, `DISCRIMINATORY`; where to halve.
    out : NDArray[np.float64]
        ``(B, 5)``; filled: of what is left of each box the shares that are consistent and
        discriminatory, of its points, and of the population in it; and of the population the share
        that is consistent with the favourable decision.
    room : Room
        Of this thread.

    Returns
    -------
    float
        The greatest allowance that was made for rounding.
    """
    largest = 0.0
    network, room = shared(network), shared(room)
    for b in range(start, stop):
        combinations = 0
        while combinations < compared.shape[1] and compared[group[b], combinations] >= 0:
            combinations += 1
        who = compared[group[b], :combinations]
        verdict[b], axis[b], off = _examined(network, who, low[b], high[b], out[b], room)
        largest = max(largest, off)
    return largest
