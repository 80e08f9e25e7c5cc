"""Bounding a network over boxes, compiled: what is proven in each, and where to halve it.

Backward substitution with a line below and a line above each activation (Zhang et al. 2018,
*Efficient Neural Network Robustness Certification with General Activation Functions*; Singh et al.
2019, *An Abstract Domain for Certifying Neural Networks*), for one box and one combination of
protected values at a time: affine forms of the places that no margin is below. What goes into an
activation may be off by its rounding, so each sum is a little interval, and a form loses what that
makes of it. Intervals come first: only a unit that they leave with a bend in it is bounded so.

A *form* is a number for each axis that has a slope, then the entries of all tables. A margin ``f``
has two: form ``2 f`` is never above it, form ``2 f + 1`` never above what it is with the other
sign. So what a class needs in order to win are forms above nought.
"""
# numba has no types
# mypy: disallow-untyped-decorators=False, warn-return-any=False, disable-error-code="no-any-return"

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numba import njit, types
from numpy.typing import NDArray

from fairdesk.certify.count_kernels import shares
from fairdesk.models.dense import ACTIVATIONS

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

# the places of activations in `ACTIVATIONS`, by which these loops know them
_LINEAR, _RELU, _LEAKY_RELU, _ELU, _SELU, _SIGMOID, _TANH, _SOFTPLUS, _SOFTSIGN = range(9)
_EXPONENTIAL, _SILU, _THRESHOLDED_RELU = range(9, len(ACTIVATIONS) - 1)

#: Sums may be added up in any order: that is allowed for. Infinities and NaN stay what they are.
_FAST: Final = {"reassoc", "contract"}
#: How far an activation as the model computes it may be from what it should be: of those that lie
#: between -1 and 1, and as a share of the others.
_OFF = 2.0**-20
#: The rounding of a few operations, with room.
_UNIT = 2.0**-46
#: The constants of Klambauer et al. 2017.
_SELU_DEPTH, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805
#: Where silu is least, and what it is there.
_SILU_AT, _SILU_LEAST = -1.2784645427610738, -0.2784645427610739

#: What is said of a box.
UNDECIDED, ALIKE, UNLIKE = 0, 1, 2


class Network(NamedTuple):
    """An encoded network as these loops read it; ``h`` units in the first layer.

    Attributes
    ----------
    shape : NDArray[np.int64]
        ``(L, 5)``; of each layer before the margins its units, the place of its activation, its
        first unit among all, and where its weights begin in ``weights`` and ``turned``.
    settings : NDArray[np.float64]
        ``(L, 4)``; alpha, ceiling, and the factor and the constant of the rounding of its sums.
    weights, turned : NDArray[np.float64]
        Flat; of each layer but the first ``(inputs, units)``, and the same turned.
    bias : NDArray[np.float64]
        Of all units.
    first_off : NDArray[np.float64]
        ``(h,)``; how far the first layer's sums can be from what the tables say.
    slopes : NDArray[np.float64]
        ``(a, h)``; 0 along axes with a table.
    least, most : NDArray[np.float64]
        ``(n, h)``; of the axes with tables trees of the least and the greatest entry: node ``k``
        holds those of nodes ``2 k`` and ``2 k + 1``, and the entries themselves are the leaves.
    axes : NDArray[np.int64]
        ``(a, 3)``; places; where its tree begins, -1 for a slope; where its entries are in a form,
        -1 where they are bounded by their extremes only.
    combined : NDArray[np.float64]
        ``(V, h)``; what each combination of protected values adds.
    rows, sizes : NDArray[np.float64]
        ``(F, n)``; each margin by the outputs of the last layer before it, and what its rounding
        is in proportion to.
    ends : NDArray[np.float64]
        ``(F, 2)``; the same of what is constant.
    limits : NDArray[np.float64]
        ``(4,)``; factor and constant of the rounding of margins, how near to 0 nothing is
        certain, and how large a number may be.
    needs : NDArray[np.int64]
        ``(K, 2 F)``; whether class ``c`` wins only where that form is above 0.
    decision : NDArray[np.int64]
        ``(K,)``; what a class means.
    """

    shape: Numbers
    settings: Float64
    weights: Float64
    turned: Float64
    bias: Float64
    first_off: Float64
    slopes: Float64
    least: Float64
    most: Float64
    axes: Numbers
    combined: Float64
    rows: Float64
    sizes: Float64
    ends: Float64
    limits: Float64
    needs: Numbers
    decision: Numbers


class Room(NamedTuple):
    """What the loops work in, made once for each thread.

    Attributes
    ----------
    units : NDArray[np.float64]
        ``(11, units)``; of each unit by rows: the interval of its sum, of its answer, slope and
        constant of the line below and of the line above, what its sum may be off, how much
        the margins hang on it, and how many of its lines do not meet.
    sums : NDArray[np.float64]
        ``(6, widest)``.
    forms : NDArray[np.float64]
        ``(V, 2 F, E)``.
    constants, bounds : NDArray[np.float64]
        ``(V, 2 F)``; what is added to a form, and what it is at least in the box.
    common : NDArray[np.float64]
        ``(E,)``.
    won : NDArray[np.int64]
        ``(V,)``; the decision under each combination, -1 where it is not certain.
    work, order
        As `fairdesk.certify.count_kernels.room` gives them.
    start : NDArray[np.int64]
        ``(a,)``.
    """

    units: Float64
    sums: Float64
    forms: Float64
    constants: Float64
    bounds: Float64
    common: Float64
    won: Numbers
    work: Float64
    order: Numbers
    start: Numbers


(
    _LOW, _HIGH, _ANSWER_LOW, _ANSWER_HIGH,
    _BELOW, _BELOW_AT, _ABOVE, _ABOVE_AT, _EPS, _HANGS, _OPEN,
) = range(11)  # fmt: skip
_UNITS, _KIND, _FIRST, _WEIGHTS, _TURNED = range(5)


# -- lines below and above an activation ------------------------------------------------------


@njit(error_model="numpy")
def _chord(low: float, high: float, at_low: float, at_high: float) -> tuple[float, float, float]:
    """Give the line through two points: slope, and constants that are below and above at both.

    The slope is rounded, so that no constant meets both ends: it is moved until it does.
    """
    slope = (at_high - at_low) / (high - low)
    first, second = at_low - slope * low, at_high - slope * high
    slack = (abs(at_low) + abs(at_high) + abs(slope) * max(abs(low), abs(high))) * _UNIT
    return slope, min(first, second) - slack, max(first, second) + slack


@njit
def _relu_lines(low: float, high: float) -> tuple[float, float, float, float]:
    """Bound a ReLU with its bend inside; the line below is the one that leaves less area."""
    slope, _, above = _chord(low, high, 0.0, high)
    return (1.0 if high > -low else 0.0), 0.0, slope, above


@njit
def _capped_lines(low: float, high: float, ceiling: float) -> tuple[float, float, float, float]:
    """Bound a ReLU with a ceiling that its sum may pass."""
    if low >= 0.0:  # only the upper bend: concave
        slope, below, _ = _chord(low, high, low, ceiling)
        return (slope, below, 1.0, 0.0) if ceiling - low > high - ceiling else (
            slope, below, 0.0, ceiling,
        )  # fmt: skip
    # through the one end and the farther bend, rounded to the safe side
    above, _, above_at = _chord(low, ceiling, 0.0, ceiling)
    below, below_at, _ = _chord(0.0, high, 0.0, ceiling)
    if -low > high:
        below, below_at = 0.0, 0.0
    if high - ceiling > ceiling - low:
        above, above_at = 0.0, ceiling
    return below, below_at, above, above_at


@njit
def _leaky_lines(low: float, high: float, alpha: float) -> tuple[float, float, float, float]:
    """Bound a leaky ReLU with its bend inside, convex or concave; its products are rounded."""
    off = abs(alpha) * -low * 4.0 * _OFF * 2.0**-2 + 2.0**-140
    slope, below, above = _chord(low, high, alpha * low, high)
    steeper = 1.0 if high > -low else alpha
    if alpha <= 1.0:
        return steeper, -off, slope, above + off
    return slope, below - off, steeper, off


@njit
def _value(kind: int, alpha: float, x: float) -> float:
    """Answer as the activation should."""
    if kind == _SIGMOID:
        return 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else 0.0
    if kind == _TANH:
        return math.tanh(x)
    if kind == _SOFTSIGN:
        return x / (1.0 + abs(x))
    if kind == _SOFTPLUS:
        return max(x, 0.0) + math.log1p(math.exp(-abs(x)))
    if kind == _EXPONENTIAL:
        return math.exp(x) if x < 700.0 else np.inf
    if kind == _ELU:
        return x if x > 0.0 else alpha * math.expm1(x)
    if kind == _SELU:
        return _SELU_SCALE * (x if x > 0.0 else _SELU_DEPTH * math.expm1(x))
    if kind == _SILU:
        return x / (1.0 + math.exp(-x)) if x > -700.0 else 0.0
    return 0.0 if x <= alpha else x


@njit
def _steepness(kind: int, alpha: float, x: float) -> float:
    """Give the derivative of an activation that rises everywhere."""
    if kind == _SIGMOID:
        value = _value(kind, alpha, -abs(x))
        return value * (1.0 - value)
    if kind == _TANH:
        power = math.exp(-2.0 * abs(x))
        return 4.0 * power / ((1.0 + power) * (1.0 + power))
    if kind == _SOFTSIGN:
        return 1.0 / ((1.0 + abs(x)) * (1.0 + abs(x)))
    if kind == _SOFTPLUS:
        return _value(_SIGMOID, 0.0, x)
    if kind == _EXPONENTIAL:
        return _value(kind, alpha, x)
    if kind == _ELU:
        return 1.0 if x > 0.0 else alpha * math.exp(x)
    return _SELU_SCALE * (1.0 if x > 0.0 else _SELU_DEPTH * math.exp(x))


@njit
def _off(kind: int, value: float) -> float:
    """Give how far an answer near ``value`` may be from what it should be."""
    if kind in (_SIGMOID, _TANH, _SOFTSIGN):
        return _OFF
    if kind == _THRESHOLDED_RELU:
        return 0.0
    return _OFF * abs(value) + 2.0**-100


@njit
def _range(kind: int, alpha: float, low: float, high: float) -> tuple[float, float]:
    """Bound an activation's answers by numbers; not those of (leaky) ReLUs."""
    first, second = _value(kind, alpha, low), _value(kind, alpha, high)
    least, most = min(first, second), max(first, second)
    if kind == _SILU:
        if low < _SILU_AT < high:
            least = _SILU_LEAST
        least -= _UNIT
    if kind == _ELU and alpha < 0.0:
        least, most = min(least, 0.0), max(most, 0.0, -alpha)
    if kind == _THRESHOLDED_RELU and low <= alpha < high:
        least, most = min(alpha, 0.0), max(high, 0.0)
    return least - _off(kind, least), most + _off(kind, most)


@njit
def _curve_lines(
    kind: int, alpha: float, low: float, high: float
) -> tuple[float, float, float, float]:
    """Bound an activation that is no broken line.

    Between the ends of a curve that only bends upwards the chord is above and any tangent below;
    for one that only bends downwards it is the other way round. Any other is between the two lines
    through its ends that are as steep as it is where it is least steep, at one of the ends
    (Singh et al. 2019, section 4). What falls, or jumps, is bounded by numbers.
    """
    least, most = _range(kind, alpha, low, high)
    rises = kind != _SILU and kind != _THRESHOLDED_RELU and not (kind == _ELU and alpha < 0.0)
    if not rises or not high - low > 2.0**-20 * max(1.0, abs(low), abs(high)):
        return 0.0, least, 0.0, most
    at_low, at_high = _value(kind, alpha, low), _value(kind, alpha, high)
    off = _off(kind, max(abs(least), abs(most)))
    shaped = kind in (_SIGMOID, _TANH, _SOFTSIGN)
    upwards = (
        kind in (_SOFTPLUS, _EXPONENTIAL)
        or (kind == _ELU and (alpha <= 1.0 or high <= 0.0))
        or (kind == _SELU and high <= 0.0)
        or (shaped and high <= 0.0)
    )
    downwards = shaped and low >= 0.0
    slope, below, above = _chord(low, high, at_low, at_high)
    if upwards or downwards:
        middle = 0.5 * (low + high)
        tangent = _steepness(kind, alpha, middle)
        at = _value(kind, alpha, middle) - tangent * middle
        # the tangent's own slope and point are right to so much only
        far = max(abs(low), abs(high))
        off += (abs(at) + abs(tangent) * far + max(abs(at_low), abs(at_high))) * _UNIT
        if upwards:
            return tangent, at - off, slope, above + off
        return slope, below - off, tangent, at + off
    gentle = min(_steepness(kind, alpha, low), _steepness(kind, alpha, high))
    gentle *= 1.0 - 2.0**-30
    off += (abs(at_low) + abs(at_high) + gentle * max(abs(low), abs(high))) * _UNIT
    return gentle, at_low - gentle * low - off, gentle, at_high - gentle * high + off


@njit(error_model="numpy")
def _bend(kind: int, alpha: float, ceiling: float, first: int, units: int, room: Room) -> None:
    """Find the lines and the answers of a layer's units from the intervals of their sums."""
    of = room.units
    for u in range(first, first + units):
        low, high = of[_LOW, u], of[_HIGH, u]
        # the identity; most units of most boxes are this or nothing
        below, below_at, above, above_at = 1.0, 0.0, 1.0, 0.0
        least, most = low, high
        if kind == _RELU:
            least, most = min(max(low, 0.0), ceiling), min(max(high, 0.0), ceiling)
            if high <= 0.0:
                below = above = 0.0
            elif low >= ceiling:
                below = above = 0.0
                below_at = above_at = ceiling
            elif high > ceiling:
                below, below_at, above, above_at = _capped_lines(low, high, ceiling)
            elif low < 0.0:
                below, below_at, above, above_at = _relu_lines(low, high)
        elif kind == _LEAKY_RELU:
            if low < 0.0:
                if high > 0.0:
                    below, below_at, above, above_at = _leaky_lines(low, high, alpha)
                else:
                    below = above = alpha
                    above_at = abs(alpha) * -low * _OFF + 2.0**-140
                    below_at = -above_at
                ends = alpha * low, (alpha * high if high < 0.0 else high)
                least, most = min(ends[0], ends[1]), max(ends[0], ends[1])
                if high > 0.0:
                    least = min(least, 0.0)
                room_for = abs(alpha) * -low * _OFF + 2.0**-140
                least, most = least - room_for, most + room_for
        elif kind != _LINEAR:
            least, most = _range(kind, alpha, low, high)
            below, below_at, above, above_at = _curve_lines(kind, alpha, low, high)
        of[_BELOW, u], of[_BELOW_AT, u], of[_ABOVE, u], of[_ABOVE_AT, u] = (
            below, below_at, above, above_at,
        )  # fmt: skip
        of[_ANSWER_LOW, u], of[_ANSWER_HIGH, u] = least, most
        if below != above:
            of[_OPEN, u] += 1.0


# -- forwards: intervals ----------------------------------------------------------------------


@njit(fastmath=_FAST)
def _add_slope(slopes: Float64, middle: float, half: float, low: Float64, high: Float64) -> None:
    for u in range(slopes.size):
        at, by = slopes[u] * middle, abs(slopes[u]) * half
        low[u] += at - by
        high[u] += at + by


@njit
def _first_sums(network: Network, low: Numbers, high: Numbers, room: Room) -> None:
    """Bound the first layer's sums without what the combination adds: exact for each axis.

    Rows 0 and 1 of ``room.sums`` hold them.
    """
    h = network.first_off.size
    least, most = room.sums[0, :h], room.sums[1, :h]
    for u in range(h):
        least[u] = most[u] = network.bias[u]
    for i in range(low.size):
        count, tree = network.axes[i, 0], network.axes[i, 1]
        if tree < 0:
            middle, half = 0.5 * (low[i] + high[i]), 0.5 * (high[i] - low[i])
            _add_slope(network.slopes[i], middle, half, least, most)
        else:
            _add_extremes(network, tree, count, low[i], high[i], room)


@njit
def _add_extremes(network: Network, tree: int, count: int, low: int, high: int, room: Room) -> None:
    """Add the least and the greatest entries of a table between two places."""
    h = network.first_off.size
    own_least, own_most = room.sums[2, :h], room.sums[3, :h]
    for u in range(h):
        own_least[u], own_most[u] = np.inf, -np.inf
    left, right = low + count, high + count + 1
    while left < right:
        if left & 1:
            _widen(network.least[tree + left], network.most[tree + left], own_least, own_most)
            left += 1
        if right & 1:
            right -= 1
            _widen(network.least[tree + right], network.most[tree + right], own_least, own_most)
        left, right = left >> 1, right >> 1
    for u in range(h):
        room.sums[0, u] += own_least[u]
        room.sums[1, u] += own_most[u]


@njit
def _widen(least: Float64, most: Float64, low: Float64, high: Float64) -> None:
    for u in range(low.size):
        low[u], high[u] = min(low[u], least[u]), max(high[u], most[u])


@njit
def _allowance(factor: float, constant: float, size: float) -> float:
    """Give how far a sum may be from the exact one; ``size`` is that of its terms' absolutes."""
    return factor * size + constant


@njit(fastmath=_FAST)
def _add_input(
    weights: Float64,
    at: int,
    low: float,
    high: float,
    middle: Float64,
    half: Float64,
    size: Float64,
) -> None:
    """Add one input, between two numbers, to the sums of a layer."""
    centre, radius, most = 0.5 * (low + high), 0.5 * (high - low), max(abs(low), abs(high))
    for u in range(middle.size):
        weight = weights[at + u]
        middle[u] += weight * centre
        half[u] += abs(weight) * radius
        size[u] += abs(weight) * most


@njit
def _interval_sums(network: Network, layer: int, room: Room) -> bool:
    """Bound a later layer's sums by intervals; tells whether they are numbers, and not too large."""
    of, before = room.units, network.shape[layer - 1]
    units, first, at = network.shape[layer, _UNITS], network.shape[layer, _FIRST], 0
    middle, half, size = room.sums[2, :units], room.sums[3, :units], room.sums[4, :units]
    for u in range(units):
        middle[u] = network.bias[first + u]
        half[u], size[u] = 0.0, abs(middle[u])
    at = network.shape[layer, _WEIGHTS]
    for i in range(before[_UNITS]):
        least, most = of[_ANSWER_LOW, before[_FIRST] + i], of[_ANSWER_HIGH, before[_FIRST] + i]
        if least != 0.0 or most != 0.0:
            _add_input(network.weights, at, least, most, middle, half, size)
        at += units
    factor, constant = network.settings[layer, 2], network.settings[layer, 3]
    fine = True
    for u in range(units):
        eps = _allowance(factor, constant, size[u])
        of[_EPS, first + u] = eps
        of[_LOW, first + u], of[_HIGH, first + u] = (
            middle[u] - half[u] - eps,
            middle[u] + half[u] + eps,
        )
        fine = fine and size[u] <= network.limits[3]
    return fine


# -- backwards: forms -------------------------------------------------------------------------


@njit(fastmath=_FAST)
def _through(slopes: Float64, of: Float64, first: int, bias: Float64) -> float:
    """Take coefficients of a layer's answers back to its sums, in place, for a bound from below.

    Gives what is constant: the lines' and the biases' part, less what rounding may take.
    """
    told = 0.0
    below, below_at, above, above_at = of[_BELOW], of[_BELOW_AT], of[_ABOVE], of[_ABOVE_AT]
    eps = of[_EPS]
    for j in range(slopes.size):
        rising, falling = max(slopes[j], 0.0), min(slopes[j], 0.0)
        slope = rising * below[first + j] + falling * above[first + j]
        told += rising * below_at[first + j] + falling * above_at[first + j]
        told += slope * bias[first + j] - abs(slope) * eps[first + j]
        slopes[j] = slope
    return told


@njit(fastmath=_FAST)
def _add_row(weights: Float64, at: int, slope: float, sums: Float64) -> None:
    for i in range(sums.size):
        sums[i] += slope * weights[at + i]


@njit(fastmath=_FAST)
def _dot(first: Float64, second: Float64) -> float:
    told = 0.0
    for u in range(first.size):
        told += first[u] * second[u]
    return told


@njit
def _substitute(network: Network, layer: int, hangs: bool, room: Room) -> float:
    """Take coefficients of a layer's answers, row 0 of ``room.sums``, back to the first sums.

    They are left in row 1; gives what is constant. ``hangs`` keeps how large they were on the way.
    """
    of, told = room.units, 0.0
    current, other = 0, 1
    while True:
        units, first = network.shape[layer, _UNITS], network.shape[layer, _FIRST]
        slopes = room.sums[current, :units]
        if hangs:
            for j in range(units):
                of[_HANGS, first + j] += abs(slopes[j])
        told += _through(slopes, of, first, network.bias)
        if layer == 0:
            break
        sums = room.sums[other, : network.shape[layer - 1, _UNITS]]
        sums[:] = 0.0
        at = network.shape[layer, _TURNED]
        for j in range(units):
            if slopes[j] != 0.0:
                _add_row(network.turned, at, slopes[j], sums)
            at += sums.size
        current, other = other, current
        layer -= 1
    if current == 0:
        room.sums[1, :units] = room.sums[0, :units]
    return told


@njit
def _form(
    network: Network, combination: int, low: Numbers, high: Numbers, form: Float64, room: Room
) -> float:
    """Write coefficients of the first sums, row 1 of ``room.sums``, as a form.

    Gives what is constant of it, the axes that are bounded by their extremes among that.
    """
    h = network.first_off.size
    slopes = room.sums[1, :h]
    told = _dot(slopes, network.combined[combination])
    for i in range(low.size):
        count, tree, entry = network.axes[i, 0], network.axes[i, 1], network.axes[i, 2]
        if tree < 0:
            form[i] = _dot(slopes, network.slopes[i])
            continue
        form[i] = 0.0
        if entry >= 0:
            for k in range(low[i], high[i] + 1):
                form[entry + k] = _dot(slopes, network.least[tree + count + k])
        else:
            room.sums[4, :h], room.sums[5, :h] = room.sums[0, :h], slopes
            room.sums[0, :h] = room.sums[1, :h] = 0.0
            _add_extremes(network, tree, count, low[i], high[i], room)
            for u in range(h):
                told += min(room.sums[5, u] * room.sums[0, u], room.sums[5, u] * room.sums[1, u])
            room.sums[0, :h], room.sums[1, :h] = room.sums[4, :h], room.sums[5, :h]
    return told


@njit
def _part(network: Network, i: int, low: Numbers, high: Numbers, form: Float64) -> float:
    """Give the least that one axis adds to a form."""
    entry = network.axes[i, 2]
    if network.axes[i, 1] < 0:
        return 0.5 * (form[i] * (low[i] + high[i]) - abs(form[i]) * (high[i] - low[i]))
    if entry < 0:
        return 0.0
    least = form[entry + low[i]]
    for k in range(low[i] + 1, high[i] + 1):
        least = min(least, form[entry + k])
    return least


@njit
def _lowest(network: Network, low: Numbers, high: Numbers, form: Float64) -> float:
    """Give the least that a form is in a box, without its constant."""
    told = 0.0
    for i in range(low.size):
        told += _part(network, i, low, high, form)
    return told


@njit
def _tighten(
    network: Network, layer: int, combination: int, low: Numbers, high: Numbers, room: Room
) -> None:
    """Bound backwards the sums of a layer that intervals leave with a bend in them."""
    of = room.units
    units, first, kind = (
        network.shape[layer, 0],
        network.shape[layer, _FIRST],
        network.shape[layer, 1],
    )
    inputs, ceiling = network.shape[layer - 1, _UNITS], network.settings[layer, 1]
    for u in range(units):
        least, most = of[_LOW, first + u], of[_HIGH, first + u]
        if kind == _LINEAR or (
            kind in (_RELU, _LEAKY_RELU) and ((least >= 0.0 and most <= ceiling) or most <= 0.0)
        ):
            continue
        at = network.shape[layer, _TURNED] + u * inputs
        bias, eps = network.bias[first + u], of[_EPS, first + u]
        for sign in (1.0, -1.0):
            for i in range(inputs):
                room.sums[0, i] = sign * network.turned[at + i]
            told = _substitute(network, layer - 1, False, room)
            told += _form(network, combination, low, high, room.common, room)
            told += _lowest(network, low, high, room.common) + sign * bias - eps
            if sign > 0.0:
                of[_LOW, first + u] = max(least, told)
            else:
                of[_HIGH, first + u] = min(most, -told)
        # both are true, so that nothing is between them only by rounding
        if of[_LOW, first + u] > of[_HIGH, first + u]:
            of[_LOW, first + u], of[_HIGH, first + u] = least, most


@njit
def _margins(
    network: Network,
    combination: int,
    v: int,
    low: Numbers,
    high: Numbers,
    forms: bool,
    room: Room,
) -> float:
    """Bound the margins under a combination, by intervals or by forms; gives what they are off."""
    of, last = room.units, len(network.shape) - 1
    units, first = network.shape[last, _UNITS], network.shape[last, _FIRST]
    largest = 0.0
    for f in range(len(network.rows)):
        row, size, constant = network.rows[f], network.ends[f, 1], network.ends[f, 0]
        above = below = constant
        for j in range(units):
            least, most = of[_ANSWER_LOW, first + j], of[_ANSWER_HIGH, first + j]
            size += network.sizes[f, j] * max(abs(least), abs(most))
            below += min(row[j] * least, row[j] * most)
            above += max(row[j] * least, row[j] * most)
        off = _allowance(network.limits[0], network.limits[1], size)
        largest = max(largest, off)
        if not size <= network.limits[3]:
            off = np.inf
        if not forms:
            room.bounds[v, 2 * f], room.bounds[v, 2 * f + 1] = below - off, -above - off
            continue
        for side in range(2):
            sign = 1.0 - 2.0 * side
            for j in range(units):
                room.sums[0, j] = sign * row[j]
            told = _substitute(network, last, True, room) + sign * constant - off
            form = room.forms[v, 2 * f + side]
            told += _form(network, combination, low, high, form, room)
            room.constants[v, 2 * f + side] = told
            room.bounds[v, 2 * f + side] = max(
                room.bounds[v, 2 * f + side], told + _lowest(network, low, high, form)
            )
    return largest


@njit
def _bounded(
    network: Network,
    combination: int,
    v: int,
    low: Numbers,
    high: Numbers,
    first: Float64,
    room: Room,
) -> tuple[bool, float]:
    """Bound the margins under a combination of protected values.

    Parameters
    ----------
    first : NDArray[np.float64]
        ``(2, h)``; the first layer's sums, as `_first_sums` bounds them.

    Returns
    -------
    bool, float
        Whether there are forms, or intervals were enough; and what the margins are off.
    """
    of, fine = room.units, True
    h = network.first_off.size
    for u in range(h):
        eps, more = network.first_off[u], network.combined[combination, u]
        of[_EPS, u] = eps
        of[_LOW, u], of[_HIGH, u] = first[0, u] + more - eps, first[1, u] + more + eps
        fine = fine and abs(of[_LOW, u]) + abs(of[_HIGH, u]) <= network.limits[3]
    layers = len(network.shape)
    _bend(network.shape[0, 1], network.settings[0, 0], network.settings[0, 1], 0, h, room)
    for layer in range(1, layers):
        if fine:
            fine = _interval_sums(network, layer, room)
            if fine:
                _tighten(network, layer, combination, low, high, room)
        units, at = network.shape[layer, 0], network.shape[layer, _FIRST]
        kind, alpha, ceiling = (
            network.shape[layer, 1], network.settings[layer, 0], network.settings[layer, 1],
        )  # fmt: skip
        if fine:
            _bend(kind, alpha, ceiling, at, units, room)
    if not fine:
        room.bounds[v] = -np.inf
        return False, 0.0
    off = _margins(network, combination, v, low, high, False, room)
    if _winner(network, room.bounds[v]) >= 0:
        return False, off
    return True, _margins(network, combination, v, low, high, True, room)


@njit
def _winner(network: Network, bounds: Float64) -> int:
    """Give the decision that is certain, -1 where none is."""
    for c in range(len(network.needs)):
        certain = True
        for p in range(bounds.size):
            if network.needs[c, p] and not bounds[p] > network.limits[2]:
                certain = False
        if certain:
            return network.decision[c]
    return -1


# -- what is proven, and where to halve -------------------------------------------------------


@njit
def _agree(
    network: Network, c: int, combinations: int, low: Numbers, high: Numbers, room: Room
) -> float:
    """Find one form that is below all that a class needs, under every combination.

    Its slopes are the mean of theirs, in ``room.common``; what is not certain of the class is
    made up for by the constant, which is given. Infinite where the class loses, or needs nothing.
    """
    common = room.common
    common[:] = 0.0
    met = 0
    for v in range(combinations):
        if room.won[v] >= 0:
            if room.won[v] != network.decision[c]:
                return -np.inf
            continue
        for p in range(room.bounds.shape[1]):
            if network.needs[c, p]:
                common += room.forms[v, p]
                met += 1
    if met == 0:
        return np.inf
    common *= 1.0 / met
    told = np.inf
    for v in range(combinations):
        if room.won[v] < 0:
            for p in range(room.bounds.shape[1]):
                if network.needs[c, p]:
                    told = min(told, _less(network, low, high, v, p, room))
    return told


@njit
def _less(network: Network, low: Numbers, high: Numbers, v: int, p: int, room: Room) -> float:
    """Give the least that a form with its constant is above the common one, in a box."""
    form, common, told = room.forms[v, p], room.common, room.constants[v, p]
    size = abs(told)
    for i in range(low.size):
        entry = network.axes[i, 2]
        if network.axes[i, 1] < 0:
            more = form[i] - common[i]
            told += 0.5 * (more * (low[i] + high[i]) - abs(more) * (high[i] - low[i]))
            size += (abs(form[i]) + abs(common[i])) * high[i]
        elif entry >= 0:
            least, most = np.inf, 0.0
            for k in range(entry + low[i], entry + high[i] + 1):
                least = min(least, form[k] - common[k])
                most = max(most, abs(form[k]) + abs(common[k]))
            told, size = told + least, size + most
    return told - size * _UNIT


@njit
def _clip(network: Network, limit: float, low: Numbers, high: Numbers, room: Room) -> bool:
    """Narrow a box, in place, to where the common form is not above a limit: all else is alike.

    Tells whether nothing is left.
    """
    common = room.common
    least, size = 0.0, abs(limit)
    for i in range(low.size):
        least += _part(network, i, low, high, common)
        if network.axes[i, 1] < 0:
            size += abs(common[i]) * high[i]
        elif network.axes[i, 2] >= 0:
            entry, most = network.axes[i, 2], 0.0
            for k in range(entry + low[i], entry + high[i] + 1):
                most = max(most, abs(common[k]))
            size += most
    slack = size * _UNIT
    if least - slack > limit:
        return True
    for i in range(low.size):
        # a place is left where the axis adds no more than this
        most = limit - (least - _part(network, i, low, high, common)) + slack
        entry = network.axes[i, 2]
        if network.axes[i, 1] >= 0:
            if entry >= 0:
                while low[i] < high[i] and common[entry + low[i]] > most:
                    low[i] += 1
                while low[i] < high[i] and common[entry + high[i]] > most:
                    high[i] -= 1
        elif common[i] > 0.0:
            at = math.floor(min(most / common[i] * (1.0 + _UNIT) + _UNIT, float(high[i])))
            high[i] = max(at, low[i])
        elif common[i] < 0.0:
            at = math.ceil(max(most / common[i] * (1.0 - _UNIT) - _UNIT, float(low[i])))
            low[i] = min(at, high[i])
        least = 0.0
        for j in range(low.size):
            least += _part(network, j, low, high, common)
    return False


@njit
def _count(
    network: Network, combinations: int, low: Numbers, high: Numbers, room: Room
) -> tuple[float, float]:
    """Count in a box who is alike, and who is unlike, as shares of its points."""
    axes = low.size
    for i in range(axes):
        entry = network.axes[i, 2]
        room.start[i] = entry - axes + low[i] if entry >= 0 else -1
    slopes, tables, close = room.common[:axes], room.common[axes:], network.limits[2]
    alike, best, decided = 0.0, 0.0, -1
    for c in range(len(network.needs)):
        told = _agree(network, c, combinations, low, high, room)
        if not abs(told) < np.inf:
            continue
        share, _, _ = shares(
            low, high, slopes, tables, room.start, close - told, -np.inf, 0.0, 0.0, room.work,
            room.order,
        )  # fmt: skip
        # two classes that mean the same may win in the same places
        if network.decision[c] != decided:
            alike, best, decided = alike + best, 0.0, network.decision[c]
        best = max(best, share)
    alike += best
    unlike = 0.0
    if len(network.rows) == 1:
        unlike = _count_band(network, combinations, low, high, room)
    return min(alike, 1.0), max(min(unlike, 1.0 - alike), 0.0)


@njit
def _count_band(
    network: Network, combinations: int, low: Numbers, high: Numbers, room: Room
) -> float:
    """Count where the one margin is above 0 under a combination and below it under another."""
    axes, close = low.size, network.limits[2]
    common = room.common
    slopes, tables = common[:axes], common[axes:]
    upper = network.decision[0] if network.needs[0, 0] else network.decision[1]
    common[:] = 0.0
    met = 0.0
    for v in range(combinations):
        if room.won[v] < 0:
            common += room.forms[v, 0]
            common -= room.forms[v, 1]
            met += 2.0
    if met == 0.0:
        return 0.0
    common *= 1.0 / met
    above, below = -np.inf, -np.inf
    for v in range(combinations):
        if room.won[v] < 0:
            above = max(above, _less(network, low, high, v, 0, room))
            common *= -1.0
            below = max(below, _less(network, low, high, v, 1, room))
            common *= -1.0
        elif room.won[v] == upper:
            above = np.inf
        else:
            below = np.inf
    after, before = close - above, below - close
    if not after < before:
        return 0.0
    _, _, share = shares(
        low, high, slopes, tables, room.start, np.inf, -np.inf, after, before, room.work, room.order
    )
    return share


@njit
def _gaps(network: Network, low: Numbers, high: Numbers, room: Room) -> int:
    """Choose the axis along which most of what keeps the lines apart can be taken away."""
    of, layer = room.units, len(network.shape) - 1
    carried = room.sums[0]
    carried[:] = 0.0
    current = 0
    while True:
        units, first = network.shape[layer, _UNITS], network.shape[layer, _FIRST]
        for j in range(units):
            slope = 0.5 * (abs(of[_BELOW, first + j]) + abs(of[_ABOVE, first + j]))
            gap = of[_HANGS, first + j] if of[_OPEN, first + j] > 0.0 else 0.0
            room.sums[current, j] = slope * room.sums[current, j] + gap
        if layer == 0:
            break
        inputs, at = network.shape[layer - 1, _UNITS], network.shape[layer, _TURNED]
        room.sums[1 - current, :inputs] = 0.0
        for j in range(units):
            weight = room.sums[current, j]
            if weight != 0.0:
                for i in range(inputs):
                    room.sums[1 - current, i] += weight * abs(network.turned[at + i])
            at += inputs
        current, layer = 1 - current, layer - 1
    h, best, chosen = network.first_off.size, -1.0, -1
    if current == 1:
        room.sums[0, :h] = room.sums[1, :h]
    weights, room.sums[5, :h] = room.sums[5, :h], room.sums[0, :h]
    for i in range(low.size):
        if low[i] == high[i]:
            continue
        count, tree = network.axes[i, 0], network.axes[i, 1]
        told = 0.0
        if tree < 0:
            for u in range(h):
                told += abs(network.slopes[i, u]) * weights[u]
            told *= high[i] - low[i]
        else:
            room.sums[0, :h] = room.sums[1, :h] = 0.0
            _add_extremes(network, tree, count, low[i], high[i], room)
            for u in range(h):
                told += (room.sums[1, u] - room.sums[0, u]) * weights[u]
        if not told <= best:
            best, chosen = told, i
    return chosen


@njit
def _examined(
    network: Network,
    compared: Numbers,
    combinations: int,
    low: Numbers,
    high: Numbers,
    first: Float64,
    rounds: int,
    room: Room,
) -> tuple[int, float, float, int, float]:
    """Say what is proven in a box, which is narrowed in place."""
    off, h = 0.0, network.first_off.size
    for again in range(rounds):
        _first_sums(network, low, high, room)
        first[:] = room.sums[:2, :h]
        room.units[_HANGS] = 0.0
        room.units[_OPEN] = 0.0
        some = same = True
        decided = -1
        for v in range(combinations):
            room.bounds[v] = -np.inf
            formed, met = _bounded(network, compared[v], v, low, high, first, room)
            off = max(off, met)
            won = _winner(network, room.bounds[v])
            room.won[v] = won
            if won < 0:
                if not formed:
                    return UNDECIDED, 0.0, 0.0, _gaps(network, low, high, room), off
                some = False
            elif decided >= 0 and won != decided:
                return UNLIKE, 0.0, 1.0, -1, off
            else:
                decided = won
        if some:
            return ALIKE, 1.0, 0.0, -1, off
        before = after = 1.0
        for c in range(len(network.needs)):
            told = _agree(network, c, combinations, low, high, room)
            if not abs(told) < np.inf:
                continue
            for i in range(low.size):
                before *= high[i] - low[i] + 1.0
            if _clip(network, network.limits[2] - told, low, high, room):
                return ALIKE, 1.0, 0.0, -1, off
            for i in range(low.size):
                after *= high[i] - low[i] + 1.0
        if not after < 0.8 * before:
            break
    alike, unlike = _count(network, combinations, low, high, room)
    return UNDECIDED, alike, unlike, _gaps(network, low, high, room), off


_NETWORK = types.NamedTuple(
    [
        types.Array(types.int64, 2, "C"),
        types.Array(types.float64, 2, "C"),
        types.Array(types.float64, 1, "C"),
        types.Array(types.float64, 1, "C"),
        types.Array(types.float64, 1, "C"),
        types.Array(types.float64, 1, "C"),
        types.Array(types.float64, 2, "C"),
        types.Array(types.float64, 2, "C"),
        types.Array(types.float64, 2, "C"),
        types.Array(types.int64, 2, "C"),
        types.Array(types.float64, 2, "C"),
        types.Array(types.float64, 2, "C"),
        types.Array(types.float64, 2, "C"),
        types.Array(types.float64, 2, "C"),
        types.Array(types.float64, 1, "C"),
        types.Array(types.int64, 2, "C"),
        types.Array(types.int64, 1, "C"),
    ],
    Network,
)
_ROOM = types.NamedTuple(
    [
        types.Array(types.float64, 2, "C"),
        types.Array(types.float64, 2, "C"),
        types.Array(types.float64, 3, "C"),
        types.Array(types.float64, 2, "C"),
        types.Array(types.float64, 2, "C"),
        types.Array(types.float64, 1, "C"),
        types.Array(types.int64, 1, "C"),
        types.Array(types.float64, 2, "C"),
        types.Array(types.int64, 1, "C"),
        types.Array(types.int64, 1, "C"),
    ],
    Room,
)
_INTEGERS, _REALS = types.Array(types.int64, 1, "C"), types.Array(types.float64, 1, "C")
_BOXES = types.Array(types.int64, 2, "C")


@njit(
    types.float64(
        *(_NETWORK, _BOXES, _BOXES, _BOXES, _INTEGERS, types.int64, types.int64, types.int64),
        *(_INTEGERS, _REALS, _REALS, _INTEGERS, _ROOM),
    ),
    cache=True,
    nogil=True,
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
    rounds: int,
    verdict: Numbers,
    alike: Float64,
    unlike: Float64,
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
    rounds : int
        How often a box that was narrowed is bounded at most.
    verdict, alike, unlike, axis : NDArray
        ``(B,)``; filled: one of `UNDECIDED`, `ALIKE`, `UNLIKE`; shares of the points that are
        left; where to halve.
    room : Room
        Of this thread.

    Returns
    -------
    float
        The greatest allowance that was made for rounding.
    """
    largest = 0.0
    first = np.empty((2, network.first_off.size))
    for b in range(start, stop):
        combinations = 0
        while combinations < compared.shape[1] and compared[group[b], combinations] >= 0:
            combinations += 1
        verdict[b], alike[b], unlike[b], axis[b], off = _examined(
            network, compared[group[b]], combinations, low[b], high[b], first, rounds, room
        )
        largest = max(largest, off)
    return largest
