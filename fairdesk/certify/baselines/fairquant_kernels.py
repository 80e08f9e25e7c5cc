"""FairQuant's walk over boxes, compiled as `fairdesk.individual.engine.kernels` are.

Kim, Wang and Wang, "FairQuant: Certifying and Quantifying Fairness of Deep Neural Networks", ICSE
2025: symbolic forward intervals (Algorithm 2), and what to split by backward intervals of the
gradient (Algorithm 3). A form over a box is a constant and a coefficient for each variable. The
variables are from 0 to 1, and in groups whose sum is at most 1: a group of one for an axis along
which the network's first layer is a line, from the box's low end to its high end; one variable for
each further place of an axis that has a table. So the least that a form can be is its constant
and, of each group, the least of its coefficients and 0.

All bounds are of what the model computes: each unit's own rounding is added to its forms, and so is
the rounding of the forms themselves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from fairdesk.compiled import (
    ZERO,
    Float2,
    Float3,
    Int2,
    Int3,
    inner,
    outer,
    put,
    shared,
    tuple_type,
)

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

#: What is reported of a box: nothing more, all of it is consistent, discriminatory; or of a point
#: that it is discriminatory, as far as the loops know, or that the model itself has to be queried;
#: or of a box that it was left for a point outside the space.
GIVEN_UP, CONSISTENT, DISCRIMINATORY, EXAMPLE, ASK, OUTSIDE = 0, 1, 2, 3, 4, 5
#: How the points of a box are chosen, as `FairQuantOptions.sampler` names them.
SAMPLERS = ("random", "diagonal", "published")
RANDOM, DIAGONAL, PUBLISHED = range(len(SAMPLERS))
#: So many points of a box are tried for a counterexample, as in the published program.
_TRIED = 10
#: Rounding of an activation function that multiplies.
_BENT = 2.0**-20


class Network(NamedTuple):
    """A network as these loops read it; its last layer becomes the margins.

    Attributes
    ----------
    bias, slopes, tables, table_at, combined, first_off : NDArray
        The first layer over places; ``table_at`` says where in ``tables`` an axis' own begins, -1
        for none. ``combined`` is one row for each combination of protected values; ``first_off``
        how far the model's own sums can be from these.
    widths : NDArray[np.int64]
        Units of each layer, the last ones being the margins.
    weights, spans, weights_at, biases, bias_spans, biases_at : NDArray
        All other layers' weights one after the other, ``(units, inputs)`` each, with the sums of
        absolute values they are made from, and where each layer begins; likewise the biases.
    alphas : NDArray[np.float64]
        Of each layer's activation the slope below zero; 1 where it has none.
    factors, constants : NDArray[np.float64]
        Of each layer, as `fairdesk.certify.domain.encoded.Encoded.rounding`.
    unit : float
        Rounding of the forms themselves, as a share of their terms.
    largest : float
        What is beyond this is not finite in the model's own precision.
    close, winner, loser, decision
        As `fairdesk.certify.domain.encoded.Margins`.
    """

    bias: Float64
    slopes: Float2
    tables: Float2
    table_at: Int64
    combined: Float2
    first_off: Float64
    widths: Int64
    weights: Float64
    spans: Float64
    weights_at: Int64
    biases: Float64
    bias_spans: Float64
    biases_at: Int64
    alphas: Float64
    factors: Float64
    constants: Float64
    unit: float
    close: float
    largest: float
    winner: Int64
    loser: Int64
    decision: Int64


class Boxes(NamedTuple):
    """Boxes, ``(B, a)`` each end, with a mark each, ``(B,)``."""

    low: Int2
    high: Int2
    marks: Int64


class Sampling(NamedTuple):
    """Which points of boxes are tried for a counterexample.

    Attributes
    ----------
    sampler : int
        A place in `SAMPLERS`.
    origins, steps : NDArray[np.float64]
        ``(a,)``; the value at place 0 of each axis, and from one place to the next.
    first, last : NDArray[np.int64]
        ``(a,)``; where the space begins and ends along each axis.
    random : NDArray[np.uint64]
        ``(1,)``; the state of the random numbers, never 0.
    """

    sampler: int
    origins: Float64
    steps: Float64
    first: Int64
    last: Int64
    random: NDArray[np.uint64]


class Room(NamedTuple):
    """What the loops work in.

    Attributes
    ----------
    first, sums
        Of the first layer the forms, and what `_sums` gives of them.
    forms : NDArray[np.float64]
        ``(4, widest, numbers)``; the lower and the upper forms of two layers.
    ends, axis_of : NDArray[np.int64]
        Of each group of variables where it ends in a form, and its axis.
    masks : NDArray[np.int64]
        ``(members, layers, widest)``; how each unit of each layer bends.
    out, lines, smears, values, point : NDArray[np.float64]
        ``(3,)``, ``(8, widest)``, ``(a + 1,)``, ``(2 widest,)``, ``(a,)``.
    spreads : NDArray[np.float64]
        Two forms.
    """

    first: Float2
    sums: Float2
    forms: Float3
    ends: Int64
    axis_of: Int64
    masks: Int3
    out: Float64
    lines: Float2
    smears: Float64
    values: Float64
    point: Float64
    spreads: Float2


def room(network: Network, axes: int, members: int, numbers: int) -> Room:
    """Return what the loops work in, for forms of so many numbers."""
    widest, first = int(network.widths.max()), int(network.widths[0])
    return Room(
        np.empty((first, numbers)),
        np.empty((3, first)),
        np.empty((4, widest, numbers)),
        np.empty(axes + 1, np.int64),
        np.empty(axes + 1, np.int64),
        np.zeros((members, len(network.widths), widest), np.int64),
        np.empty(3),
        np.empty((8, widest)),
        np.empty(axes + 1),
        np.empty(2 * widest),
        np.empty(axes),
        np.empty((2, numbers)),
    )


@inner()
def _ends(form: Float64, ends: Int64, groups: int, out: Float64) -> None:
    """Tell a form's least and greatest value, and how large its terms can be in sum."""
    least = greatest = form[0]
    size = abs(form[0])
    start = 1
    for g in range(groups):
        low = high = 0.0
        for k in range(start, ends[g]):
            low, high = min(low, form[k]), max(high, form[k])
        least, greatest = least + low, greatest + high
        size += max(high, -low)
        start = ends[g]
    out[0], out[1], out[2] = least, greatest, size


@inner()
def _first(low: Int64, high: Int64, network: Network, room: Room) -> int:
    """Fill in the first layer's forms over a box, without the protected values; count groups."""
    slopes, tables, forms = network.slopes, network.tables, room.first
    units, used, groups = len(network.bias), 1, 0
    for u in range(units):
        forms[u, 0] = network.bias[u]
    for i in range(len(low)):
        at = network.table_at[i]
        if at < 0:
            for u in range(units):
                forms[u, 0] += slopes[i, u] * low[i]
        else:
            for u in range(units):
                forms[u, 0] += tables[at + low[i], u]
        if low[i] == high[i]:
            continue
        if at < 0:
            for u in range(units):
                forms[u, used] = slopes[i, u] * (high[i] - low[i])
            used += 1
        else:
            for place in range(low[i] + 1, high[i] + 1):
                for u in range(units):
                    forms[u, used] = tables[at + place, u] - tables[at + low[i], u]
                used += 1
        room.ends[groups], room.axis_of[groups] = used, i
        groups += 1
    return groups


@inner()
def _sums(first: Float64, ends: Int64, groups: int, out: Float64) -> None:
    """Give the least and greatest of each first-layer form without its constant, and its size.

    ``out`` is ``(3, units)``. Combinations of protected values change constants only, so this is
    the same for all of them.
    """
    for u in range(len(first)):
        least = greatest = size = 0.0
        start = 1
        for g in range(groups):
            low = high = 0.0
            for k in range(start, ends[g]):
                low, high = min(low, first[u, k]), max(high, first[u, k])
            least, greatest, size = least + low, greatest + high, size + max(high, -low)
            start = ends[g]
        out[0, u], out[1, u], out[2, u] = least, greatest, size


@inner()
def _bent(
    alpha: float,
    least: float,
    lower_most: float,
    upper_least: float,
    greatest: float,
    size: float,
    lines: Float64,
    unit: int,
) -> int:
    """Let a unit's two forms through a ReLU, or one that leaks; give its mask, 0, 1 or 2.

    ``lines`` holds for each unit the slopes that the two forms are multiplied by, what is added
    to them then, the greatest absolute value, and four times the size of the terms.
    """
    mask, slope, steep, lift = 1, alpha, alpha, 0.0
    if alpha == 1.0 or least >= 0.0:
        mask, slope, steep = 2, 1.0, 1.0
    elif greatest <= 0.0:
        mask = 0
    else:
        steep = 1.0
        if upper_least < 0.0:
            steep = (greatest - alpha * upper_least) / (greatest - upper_least)
            lift = (alpha - steep) * upper_least + 2.0**-48 * size
        if lower_most > 0.0:
            slope = (lower_most - alpha * least) / (lower_most - least)
            slope = min(max(slope, alpha), 1.0)
    largest, off = max(greatest, -alpha * least, 0.0), 0.0
    if 0.0 < alpha < 1.0:
        off = _BENT * largest
        largest *= 1.0 + 2.0 * _BENT
    lines[0, unit], lines[1, unit] = slope, steep
    lines[2, unit], lines[3, unit] = -off, lift + off
    lines[4, unit], lines[5, unit] = largest, 4.0 * size
    return mask


@inner()
def _decided(least: Float64, greatest: Float64, network: Network) -> int:
    """Return the decision that is certain where margins are between these; -1 for none."""
    winner, loser, decision = network.winner, network.loser, network.decision
    for k in range(len(decision)):
        beats = True
        for f in range(len(winner)):
            if winner[f] == k and decision[loser[f]] != decision[k]:
                beats = beats and least[f] > network.close
            elif loser[f] == k and decision[winner[f]] != decision[k]:
                beats = beats and greatest[f] < -network.close
        if beats:
            return int(decision[k])
    return -1


@inner()
def _sums_at(point: Float64, network: Network, sums: Float64) -> None:
    """Give the first layer's sums at a point, without the protected values."""
    units = len(network.bias)
    for u in range(units):
        sums[u] = network.bias[u]
    for i in range(len(point)):
        at = network.table_at[i]
        if at < 0:
            for u in range(units):
                sums[u] += network.slopes[i, u] * point[i]
        else:
            row = at + np.int64(point[i])
            for u in range(units):
                sums[u] += network.tables[row, u]


@inner()
def _forward(sums: Float64, combined: Float64, network: Network, values: Float64) -> None:
    """Give a point's margins at the beginning of ``values``, which has room for two layers."""
    widths, weights = network.widths, network.weights
    here, there = 0, len(values) // 2
    for u in range(widths[0]):
        values[u] = sums[u] + combined[u]
    for k in range(1, len(widths)):
        for i in range(widths[k - 1]):
            if values[here + i] < 0.0:
                values[here + i] *= network.alphas[k - 1]
        for j in range(widths[k]):
            total = network.biases[network.biases_at[k] + j]
            row = network.weights_at[k] + j * widths[k - 1]
            for i in range(widths[k - 1]):
                total += weights[row + i] * values[here + i]
            values[there + j] = total
        here, there = there, here
    for f in range(widths[-1]):
        values[f] = values[here + f]


@inner()
def _spread(groups: int, units: int, least: Float64, greatest: Float64, room: Room) -> None:
    """Take intervals of the gradient through the first layer, to the axes."""
    first, ends = room.first, room.ends
    used = ends[groups - 1] if groups else 1
    low, high = room.spreads[0], room.spreads[1]
    for k in range(used):
        low[k] = high[k] = 0.0
    for u in range(units):
        fewest, most = least[u], greatest[u]
        if fewest == 0.0 and most == 0.0:
            continue
        for k in range(1, used):
            one, other = first[u, k] * fewest, first[u, k] * most
            low[k] += min(one, other)
            high[k] += max(one, other)
    start = 1
    for g in range(groups):
        widest = 0.0
        for k in range(start, ends[g]):
            widest = max(widest, high[k], -low[k])
        room.smears[g] += widest
        start = ends[g]


@inner()
def _smear(network: Network, masks: Int64, groups: int, room: Room) -> None:
    """Add to each group how much the margins can change along it: the backward intervals."""
    widths, weights, slopes = network.widths, network.weights, room.lines
    last = len(widths) - 1
    for f in range(widths[last]):
        here, there = 0, 2
        for j in range(widths[last]):
            slopes[0, j] = slopes[1, j] = 1.0 if j == f else 0.0
        for k in range(last, 0, -1):
            for i in range(widths[k - 1]):
                slopes[there, i] = slopes[there + 1, i] = 0.0
            for j in range(widths[k]):
                least, greatest = slopes[here, j], slopes[here + 1, j]
                row = network.weights_at[k] + j * widths[k - 1]
                for i in range(widths[k - 1]):
                    one, other = weights[row + i] * least, weights[row + i] * greatest
                    slopes[there, i] += min(one, other)
                    slopes[there + 1, i] += max(one, other)
            here, there = there, here
            alpha = network.alphas[k - 1]
            for i in range(widths[k - 1]):
                most = alpha if masks[k - 1, i] == 0 else 1.0
                fewest = 1.0 if masks[k - 1, i] == 2 else alpha
                least, greatest = slopes[here, i], slopes[here + 1, i]
                slopes[here, i] = min(fewest * least, most * least)
                slopes[here + 1, i] = max(fewest * greatest, most * greatest)
        _spread(groups, widths[0], slopes[here], slopes[here + 1], room)


@inner()
def _random(state: NDArray[np.uint64]) -> np.uint64:
    """Return the next number of Marsaglia's xorshift generator."""
    bits = state[0]
    bits ^= bits << np.uint64(13)
    bits ^= bits >> np.uint64(7)
    bits ^= bits << np.uint64(17)
    state[0] = bits
    return np.uint64(bits)


@inner()
def _add(
    below: float,
    above: float,
    unit: int,
    lower: Float64,
    upper: Float64,
    low: Float64,
    high: Float64,
) -> None:
    """Add a unit's two forms without their constants, times a factor each, to two others."""
    for n in range(1, len(low)):
        low[n] += below * lower[unit, n]
        high[n] += above * upper[unit, n]


@inner()
def _bound(  # noqa: PLR0915 - one loop, of which a call would cost more
    network: Network, combined: Float64, groups: int, masks: Int64, room: Room
) -> bool:
    """Take forms from the first layer to the margins; fill in their ends and every unit's mask.

    ``combined`` is what the protected values add to the first layer. Tells whether all of it is
    finite. The ends of the margins are the first two rows of ``room.lines``.
    """
    first, sums, ends, out = room.first, room.sums, room.ends, room.out
    lower, upper, new_lower, new_upper = room.forms[0], room.forms[1], room.forms[2], room.forms[3]
    weights, spans, widths, alphas = network.weights, network.spans, network.widths, network.alphas
    used = ends[groups - 1] if groups else 1
    margins, lines, finite = room.lines[:2], room.lines[2:8], True
    for k in range(1, len(widths)):
        for i in range(widths[k - 1]):
            if k == 1:
                bottom = first[i, 0] + combined[i] - network.first_off[i]
                top = first[i, 0] + combined[i] + network.first_off[i]
                least, lower_most = bottom + sums[0, i], bottom + sums[1, i]
                upper_least, greatest = top + sums[0, i], top + sums[1, i]
                size = max(abs(bottom), abs(top)) + sums[2, i]
            else:
                bottom, top = lower[i, 0], upper[i, 0]
                _ends(lower[i], ends, groups, out)
                least, lower_most, size = out[0], out[1], out[2]
                _ends(upper[i], ends, groups, out)
                upper_least, greatest, size = out[0], out[1], max(size, out[2])
            masks[k - 1, i] = _bent(
                *(alphas[k - 1], least, lower_most, upper_least, greatest, size, lines, i)
            )
            lines[2, i] += lines[0, i] * bottom
            lines[3, i] += lines[1, i] * top
        below, above = (first, first) if k == 1 else (lower, upper)
        for j in range(widths[k]):
            at = network.biases_at[k] + j
            row = network.weights_at[k] + j * widths[k - 1]
            size = term = network.bias_spans[at]
            low, high = new_lower[j, :used], new_upper[j, :used]
            low[:] = high[:] = 0.0
            for i in range(widths[k - 1]):
                if masks[k - 1, i] == 0 and alphas[k - 1] == 0.0:
                    continue
                weight = weights[row + i]
                size += spans[row + i] * lines[4, i]
                term += spans[row + i] * lines[5, i]
                # the lower form of a sum is made of the upper one where the weight is negative
                one, other = (1, 0) if weight < 0.0 else (0, 1)
                low[0] += weight * lines[2 + one, i]
                high[0] += weight * lines[2 + other, i]
                if weight < 0.0:
                    _add(weight * lines[1, i], weight * lines[0, i], i, above, below, low, high)
                else:
                    _add(weight * lines[0, i], weight * lines[1, i], i, below, above, low, high)
            slack = network.factors[k] * size + network.constants[k] + network.unit * term
            finite = finite and size < network.largest and term < 1e300
            low[0] += network.biases[at] - slack
            high[0] += network.biases[at] + slack
        lower, new_lower = new_lower, lower
        upper, new_upper = new_upper, upper
    for f in range(widths[-1]):
        if len(widths) == 1:
            margins[0, f] = first[f, 0] + combined[f] - network.first_off[f] + sums[0, f]
            margins[1, f] = first[f, 0] + combined[f] + network.first_off[f] + sums[1, f]
            continue
        _ends(lower[f], ends, groups, out)
        margins[0, f] = out[0]
        _ends(upper[f], ends, groups, out)
        margins[1, f] = out[1]
    return finite


@inner()
def _choose(
    sampling: Sampling, number: int, low: Int64, high: Int64, table_at: Int64, point: Float64
) -> None:
    """Choose the point of a box with a number from 0 to `_TRIED`."""
    for i in range(len(low)):
        if sampling.sampler == RANDOM:
            wide = np.uint64(high[i] - low[i] + 1)
            point[i] = low[i] + np.int64((_random(sampling.random) >> np.uint64(1)) % wide)
        elif sampling.sampler == DIAGONAL:
            point[i] = low[i] + number * (high[i] - low[i]) // _TRIED
        else:
            origin, step = sampling.origins[i], sampling.steps[i]
            both = 2.0 * origin + step * (low[i] + high[i])
            point[i] = (np.trunc(number * both / _TRIED) - origin) / step
            if table_at[i] >= 0:
                point[i] = min(max(np.floor(point[i]), low[i]), high[i])


@inner()
def _try(
    low: Int64, high: Int64, sampling: Sampling, network: Network, compared: Int64, room: Room
) -> int:
    """Try points for a counterexample, and give what is to be reported; the last is in the room.

    Gives `EXAMPLE`, `OUTSIDE`, or -1 for none.
    """
    point, sums, values = room.point, room.sums[0], room.values
    for number in range(_TRIED):
        _choose(sampling, number, low, high, network.table_at, point)
        _sums_at(point, network, sums)
        one = -1
        for c in compared:
            _forward(sums, network.combined[c], network, values)
            margins = values[: network.widths[-1]]
            is_so = _decided(margins, margins, network)
            if one < 0:
                one = is_so
            elif is_so >= 0 and is_so != one:
                for i in range(len(low)):
                    if not sampling.first[i] <= point[i] <= sampling.last[i]:
                        return OUTSIDE
                    if point[i] != np.floor(point[i]):
                        return OUTSIDE
                return EXAMPLE
    return -1


@inner()
def _axis(smears: Float64, axis_of: Int64, groups: int, low: Int64, high: Int64) -> int:
    """Choose the axis with the greatest smear; the widest one where nothing tells."""
    chosen = 0
    for g in range(1, groups):
        if smears[g] > smears[chosen]:
            chosen = g
    if not smears[chosen] > 0.0:
        for g in range(groups):
            i, best = axis_of[g], axis_of[chosen]
            if high[i] - low[i] > high[best] - low[best]:
                chosen = g
    return int(axis_of[chosen])


@inner()
def _set(boxes: Boxes, at: int, low: Int64, high: Int64, mark: int) -> None:
    """Write a box into a list of boxes, with a mark."""
    put(boxes.low[at], low)
    put(boxes.high[at], high)
    boxes.marks[at] = mark


_I1, _BOXES = types.int64[::1], tuple_type(Boxes)


@outer(
    types.int64(
        *(types.int64, types.int64, types.int64, types.int64),
        *(tuple_type(Sampling), _BOXES, _I1, tuple_type(Network), _I1, _BOXES, tuple_type(Room)),
    )
)
def walk(
    most: int,
    sample_from: int,
    deepest: int,
    halved: int,
    sampling: Sampling,
    stack: Boxes,
    state: Int64,
    network: Network,
    compared: Int64,
    told: Boxes,
    room: Room,
) -> int:
    """Look at the boxes on a stack, the last first, until it is empty or enough is done.

    Parameters
    ----------
    most : int
        So many boxes at most.
    sample_from, deepest : int
        From which depth on points are tried, and at which boxes are no longer halved.
    halved : int
        1 where a box with a counterexample is halved too.
    stack : Boxes
        ``deepest + 2`` of them, marked with how often each was halved.
    state : NDArray[np.int64]
        How many boxes are on it; and filled in, how many verdicts were told.
    compared : NDArray[np.int64]
        Rows of ``network.combined`` that may be here.
    told : Boxes
        Filled in: boxes, or points, marked with what is told of them.
    room : Room
        For these, as `room` gives it.

    Returns
    -------
    int
        How many boxes were looked at.
    """
    network, sampling, room = shared(network), shared(sampling), shared(room)
    members, masks = len(compared), room.masks
    done, filled, left = 0, 0, state[0]
    # a box may be reported with its counterexample, and once more as given up
    while left > 0 and done < most and filled + 1 < len(told.marks):
        left, done = left - 1, done + 1
        low, high, depth = stack.low[left], stack.high[left], stack.marks[left]
        groups = _first(low, high, network, room)
        _sums(room.first, room.ends, groups, room.sums)
        one, everyone, other = -1, True, False
        for c in range(members):
            finite = _bound(network, network.combined[compared[c]], groups, masks[c], room)
            is_so = _decided(room.lines[0], room.lines[1], network) if finite else -1
            if is_so < 0:
                everyone = False
            elif one >= 0 and is_so != one:
                other = True
            else:
                one = is_so
        verdict = (
            DISCRIMINATORY if other else CONSISTENT if everyone else ASK if groups == 0 else -1
        )
        if verdict < 0 and depth >= sample_from:
            found = _try(low, high, sampling, network, compared, room)
            verdict = OUTSIDE if found == OUTSIDE else -1
            if found == EXAMPLE:
                _set(told, filled, room.point, room.point, ZERO + EXAMPLE)
                filled += 1
                if halved == 0:
                    continue
        if verdict < 0 and depth >= deepest:
            verdict = GIVEN_UP
        if verdict >= 0:
            _set(told, filled, low, high, verdict)
            filled += 1
            continue
        room.smears[:groups] = 0.0
        for c in range(members):
            _smear(network, masks[c], groups, room)
        axis = _axis(room.smears, room.axis_of, groups, low, high)
        stack.marks[left] = depth + 1
        _set(stack, left + 1, low, high, depth + 1)
        middle = low[axis] + (high[axis] - low[axis]) // 2
        stack.high[left, axis] = middle
        stack.low[left + 1, axis] = middle + 1
        left += 2
    state[0], state[1] = left, filled
    return done
