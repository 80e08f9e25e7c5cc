"""Bounding a network backwards by affine forms, compiled.

A *form* is a number for each axis that has a slope, then the entries of all tables. A margin ``f``
has two: form ``2 f`` is never above it, form ``2 f + 1`` never above what it is with the other
sign. So what a class needs in order to win are forms above nought.
"""
# numba has no types
# mypy: disallow-untyped-decorators=False, warn-return-any=False, disable-error-code="no-any-return"

from __future__ import annotations

import numpy as np

from fairdesk.certify.bounds.dense.activations import RELU, bend, is_open
from fairdesk.certify.bounds.dense.intervals import allowance, interval_sums
from fairdesk.certify.bounds.dense.state import (
    ABOVE,
    ABOVE_AT,
    ANSWER_HIGH,
    ANSWER_LOW,
    BELOW,
    BELOW_AT,
    CLOSE,
    EPS,
    FAST,
    FIRST,
    HANGS,
    HIGH,
    KIND,
    LARGEST,
    LOW,
    MEAN,
    UNITS,
    WEIGHTS,
    Float64,
    Network,
    Numbers,
    Room,
)
from fairdesk.certify.bounds.dense.truncation import cut_later
from fairdesk.compiled import ZERO, inner, put


@inner(fastmath=FAST)
def _through(
    slopes: Float64,
    below: Float64,
    below_at: Float64,
    above: Float64,
    above_at: Float64,
    bias: Float64,
    eps: Float64,
) -> float:
    """Take coefficients of a layer's answers back to its sums, in place, for a bound from below.

    Gives what is constant: the lines' and the biases' part, less what rounding may take.
    """
    constant = 0.0
    for j in range(slopes.size):
        rising, falling = max(slopes[j], 0.0), min(slopes[j], 0.0)
        slope = rising * below[j] + falling * above[j]
        constant += rising * below_at[j] + falling * above_at[j]
        constant += slope * bias[j] - _lost(slope, eps[j])
        slopes[j] = slope
    return constant


@inner()
def _lost(slope: float, eps: float) -> float:
    """Return what the rounding of a sum may take from a form that hangs on it."""
    return abs(slope) * eps


@inner(fastmath=FAST)
def _add_rows(weights: Float64, at: int, live: Numbers, slopes: Float64, sums: Float64) -> None:
    """Take coefficients of a layer's sums back to what is summed up: ``slopes @ weights``."""
    width, k = sums.size, 0
    for i in range(width):
        sums[i] = 0.0
    while k + 4 <= live.size:
        a, b, c, d = live[k], live[k + 1], live[k + 2], live[k + 3]
        by_a, by_b, by_c, by_d = slopes[a], slopes[b], slopes[c], slopes[d]
        first, second = weights[at + a * width :], weights[at + b * width :]
        third, fourth = weights[at + c * width :], weights[at + d * width :]
        for i in range(width):
            sums[i] += by_a * first[i] + by_b * second[i] + by_c * third[i] + by_d * fourth[i]
        k += 4
    while k < live.size:
        by, own = slopes[live[k]], weights[at + live[k] * width :]
        for i in range(width):
            sums[i] += by * own[i]
        k += 1


@inner(fastmath=FAST)
def _least_of(slopes: Float64, low: Float64, high: Float64) -> float:
    """Return the least of a sum with these coefficients of numbers that lie between others."""
    least = 0.0
    for u in range(slopes.size):
        least += min(slopes[u] * low[u], slopes[u] * high[u])
    return least


@inner()
def _back(network: Network, layer: int, count: int, hangs: float, room: Room) -> None:
    """Take rows of coefficients of a layer's answers back to forms: all rows, layer by layer.

    The rows are the first ``count`` of ``room.slopes``; the forms go to ``room.forms``. To
    ``room.constant`` is added what is constant, but for what the combinations add, which is linear
    in the first sums too: it is in the entries of a form after those of all tables.
    """
    of, current, other = room.units, room.slopes, room.carried
    while True:
        units, first = network.shape[layer, UNITS], network.shape[layer, FIRST]
        last = first + units
        live = room.live[first : first + room.lives[layer]]
        below, below_at = of[BELOW, first:last], of[BELOW_AT, first:last]
        above, above_at = of[ABOVE, first:last], of[ABOVE_AT, first:last]
        bias, eps, hanging = network.bias[first:last], of[EPS, first:last], of[HANGS, first:last]
        for r in range(count):
            slopes = current[r, :units]
            if hangs > 0.0:
                put(room.pulls[r, first:last], slopes)
                for j in range(units):
                    hanging[j] += hangs * abs(slopes[j])
            room.constant[r] += _through(slopes, below, below_at, above, above_at, bias, eps)
        if layer == 0:
            break
        inputs, at = network.shape[layer - 1, UNITS], network.shape[layer, WEIGHTS]
        for r in range(count):
            _add_rows(network.turned, at, live, current[r], other[r, :inputs])
        current, other = other, current
        layer -= 1
    for r in range(count):
        _add_rows(network.entries, ZERO, live, current[r], room.forms[r])
        if room.wide.size:
            room.constant[r] += _least_of(current[r, :units], room.wide[0], room.wide[1])


@inner(fastmath=FAST)
def _even(form: Float64, middle: Float64, half: Float64) -> float:
    """Return the least that the axes with slopes add to a form."""
    middle_value = 0.0
    for i in range(middle.size):
        middle_value += form[i] * middle[i] - abs(form[i]) * half[i]
    return middle_value


@inner()
def lowest(
    axes: Numbers, low: Numbers, high: Numbers, form: Float64, middle: Float64, half: Float64
) -> float:
    """Return the least that a form is in a box, without its constant.

    ``middle`` and ``half`` are what `Room` has of the box.
    """
    value = _even(form, middle, half)
    for i in range(low.size):
        entry = axes[i, 2]
        if entry >= 0:
            least = form[entry + low[i]]
            for k in range(entry + low[i] + 1, entry + high[i] + 1):
                least = min(least, form[k])
            value += least
    return value


@inner()
def _open_rows(network: Network, layer: int, again: int, room: Room) -> int:
    """Write down the rows of a layer's units that may bend, for `_back`; tells how many.

    Each with the sign of the bound that is looked for: the other one if it is again.
    """
    of, count = room.units, ZERO
    units, first = network.shape[layer, UNITS], network.shape[layer, FIRST]
    kind, ceiling = network.shape[layer, KIND], network.settings[layer, 1]
    inputs, at = network.shape[layer - 1, UNITS], network.shape[layer, WEIGHTS]
    for u in range(first, first + units):
        least, most = of[LOW, u], of[HIGH, u]
        if not is_open(kind, ceiling, least, most):
            continue
        if again == 0:
            room.side[u] = 1 if most > -least else -1
        else:
            room.side[u] = -room.side[u]
        sign, own = room.side[u], at + (u - first) * inputs
        for i in range(inputs):
            room.slopes[count, i] = sign * network.turned[own + i]
        room.constant[count] = sign * network.bias[u] - of[EPS, u]
        room.which[count] = u
        count += 1
    return count


@inner()
def _tighten(
    network: Network,
    layer: int,
    who: Numbers,
    low: Numbers,
    high: Numbers,
    truncating: int,
    room: Room,
) -> None:
    """Bound backwards the sums of a layer that intervals leave with a bend in them.

    First from the side on which it looks more like that they are beyond the bend. Where ranges are
    truncated the forms are kept.
    """
    of, constants = room.units, room.constant
    base = network.axes.shape[0] + network.tables
    room.sided[:] = 0
    for again in range(2):
        count = _open_rows(network, layer, again, room)
        if count == 0:
            break
        _back(network, layer - 1, count, 0.0, room)
        for r in range(count):
            u, form = room.which[r], room.forms[r]
            more = np.inf
            for v in who:
                more = min(more, form[base + v])
            least = lowest(network.axes, low, high, form, room.middle, room.half)
            bound = constants[r] + more + least
            if truncating:
                side, j = int(room.side[u] < 0), u - network.shape[layer, FIRST]
                room.sided[side, j] = 1
                put(room.sides[side, j], form)
                room.sides_at[side, j] = constants[r] + more
            # both bounds are true: should they cross, then only by rounding; NaN is neither
            if room.side[u] > 0 and bound > of[LOW, u]:
                of[LOW, u] = min(bound, of[HIGH, u])
            elif room.side[u] < 0 and -bound < of[HIGH, u]:
                of[HIGH, u] = max(-bound, of[LOW, u])


@inner()
def _bend_layer(network: Network, layer: int, truncating: int, room: Room) -> None:
    units, first = network.shape[layer, UNITS], network.shape[layer, FIRST]
    kind, alpha, ceiling = (
        network.shape[layer, KIND],
        network.settings[layer, 0],
        network.settings[layer, 1],
    )
    of, count = room.units, 0
    bend(kind, alpha, ceiling, first, units, of)
    if truncating and kind == RELU and ceiling == np.inf:
        # a line of either slope is below it: the nearer one on the average
        for u in range(first, first + units):
            if of[LOW, u] < 0.0 < of[HIGH, u]:
                of[BELOW, u] = 1.0 if room.cuts[MEAN, u] > 0.0 else 0.0
    for j in range(units):
        if of[BELOW, first + j] != 0.0 or of[ABOVE, first + j] != 0.0:
            room.live[first + count] = j
            count += 1
    room.lives[layer] = count


@inner()
def bounded(
    network: Network,
    who: Numbers,
    bundle: int,
    low: Numbers,
    high: Numbers,
    truncating: int,
    room: Room,
) -> float:
    """Bound the margins under some combinations of protected values at once.

    Fills ``room.bounds``, and unless intervals were enough or nothing is certain, the rows of
    ``room.kept`` and ``room.constants``; ``room.formed`` tells which. Gives what margins are off.

    Where it is ``truncating``, only the forms are made again: they hold where units stay within
    their ranges. Those of the first layer are in ``room.first``, and those of later ones are chosen
    here. Nothing of this bounds the margins in the whole box: ``room.bounds``, ``room.won`` and
    ``room.off`` stay what they are.
    """
    fine = _forward(network, who, low, high, truncating, room)
    off, certain = 0.0, False
    if not truncating:
        room.formed[bundle] = False
        if fine:
            off = _interval_margins(network, who, room)
            certain = winner(network, room.bounds[who[0]]) >= 0
        else:
            for v in who:
                room.bounds[v] = -np.inf
    if fine and not certain:
        _form_margins(network, who, bundle, room)
        if not truncating:
            _bound_margins(network, who, bundle, low, high, room)
            room.formed[bundle] = True
    return off


@inner()
def _bound_margins(
    network: Network, who: Numbers, bundle: int, low: Numbers, high: Numbers, room: Room
) -> None:
    """Bound the margins by their forms."""
    for p in range(room.bounds.shape[1]):
        form = room.kept[bundle, p]
        least = lowest(network.axes, low, high, form, room.middle, room.half)
        for v in who:
            bound = least + room.constants[v, p]
            if bound > room.bounds[v, p]:  # noqa: PLR1730 - NaN is no bound
                room.bounds[v, p] = bound


@inner()
def _forward(
    network: Network,
    who: Numbers,
    low: Numbers,
    high: Numbers,
    truncating: int,
    room: Room,
) -> bool:
    """Bound the sums of all layers; tells whether they are numbers, not too large."""
    of, fine = room.units, True
    for u in range(network.first_off.size):
        least, most = np.inf, -np.inf
        for v in who:
            more = network.combined[v, u]
            least, most = min(least, more), max(most, more)
        eps = network.first_off[u]
        of[EPS, u] = eps
        of[LOW, u], of[HIGH, u] = room.first[0, u] + least - eps, room.first[1, u] + most + eps
        fine = fine and abs(of[LOW, u]) + abs(of[HIGH, u]) <= network.limits[LARGEST]
    _bend_layer(network, ZERO, truncating, room)
    for layer in range(1, len(network.shape)):
        fine = fine and interval_sums(network, layer, room)
        if fine:
            _tighten(network, layer, who, low, high, truncating, room)
            if truncating:
                cut_later(network, layer, low, high, room)
            _bend_layer(network, layer, truncating, room)
    return fine


@inner()
def _interval_margins(network: Network, who: Numbers, room: Room) -> float:
    """Bound the margins by intervals, and learn what they are off; gives the most of that."""
    of, last = room.units, len(network.shape) - 1
    units, first = network.shape[last, UNITS], network.shape[last, FIRST]
    largest = 0.0
    for f in range(len(network.rows)):
        row, constant, size = network.rows[f], network.ends[f, 0], network.ends[f, 1]
        above = below = constant
        fine = True
        for j in range(units):
            least, most = of[ANSWER_LOW, first + j], of[ANSWER_HIGH, first + j]
            fine = fine and max(abs(least), abs(most)) <= network.limits[LARGEST]
            size += network.sizes[f, j] * max(abs(least), abs(most))
            below += min(row[j] * least, row[j] * most)
            above += max(row[j] * least, row[j] * most)
        off = allowance(network.limits[0], network.limits[1], size)
        largest = max(largest, off)
        if not (fine and size <= network.limits[LARGEST]):
            off = np.inf
        # the greatest of all bundles: what was off stays known when their forms are made again
        room.off[f] = max(room.off[f], off)
        for v in who:
            room.bounds[v, 2 * f], room.bounds[v, 2 * f + 1] = below - off, -above - off
    return largest


@inner()
def _form_margins(network: Network, who: Numbers, bundle: int, room: Room) -> None:
    """Find forms below the margins, and below them with the other sign."""
    last, count = len(network.shape) - 1, 2 * len(network.rows)
    base = network.axes.shape[0] + network.tables
    for p in range(count):
        f, sign = p // 2, 1.0 - 2.0 * (p % 2)
        for j in range(network.rows.shape[1]):
            room.slopes[p, j] = sign * network.rows[f, j]
        room.constant[p] = sign * network.ends[f, 0] - room.off[f]
    _back(network, last, count, 1.0, room)
    for p in range(count):
        form = room.kept[bundle, p]
        put(form, room.forms[p])
        for v in who:
            room.constants[v, p] = room.constant[p] + form[base + v]
            room.bundle[v] = bundle


@inner()
def winner(network: Network, bounds: Float64) -> int:
    """Return the decision that is certain, -1 where none is."""
    for c in range(len(network.needs)):
        certain = True
        for p in range(bounds.size):
            if network.needs[c, p] and not bounds[p] > network.limits[CLOSE]:
                certain = False
        if certain:
            return network.decision[c]
    return -1
