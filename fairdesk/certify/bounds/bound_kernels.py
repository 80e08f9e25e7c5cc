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
from typing import Final, NamedTuple, get_type_hints

import numpy as np
from numba import njit, types
from numpy.typing import NDArray

from fairdesk.certify.bounds.count_kernels import population_shares, shares
from fairdesk.certify.bounds.tree_kernels import GRID, TREE_ROOM, TreeRoom, tree_shares
from fairdesk.certify.domain.population_kernels import TREE, TreeArrays, mass_of
from fairdesk.models.structure.dense_layers import ACTIVATIONS

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
UNDECIDED, CONSISTENT, DISCRIMINATORY = 0, 1, 2


class Network(NamedTuple):
    """An encoded network as these loops read it; ``h`` units in the first layer.

    Attributes
    ----------
    shape : NDArray[np.int64]
        ``(L, 4)``; of each layer before the margins its units, the place of its activation, its
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
    entries : NDArray[np.float64]
        Flat, ``(h, E)``; of each unit the numbers of a form: its slopes, the entries of the tables,
        what the combinations add.
    tables : int
        How many entries the tables in a form have.
    least, most : NDArray[np.float64]
        ``(n, h)``; of the axes with tables trees of the least and the greatest entry: node ``k``
        holds those of nodes ``2 k`` and ``2 k + 1``, and the entries themselves are the leaves.
    axes : NDArray[np.int64]
        ``(a, 3)``; places; where its tree begins, -1 for a slope; where its entries are in a form,
        -1 for a slope, and where a table is bounded by its extremes only.
    combined : NDArray[np.float64]
        ``(V, h)``; what each combination of protected values adds.
    rows, sizes : NDArray[np.float64]
        ``(F, n)``; each margin by the outputs of the last layer before it, and what its rounding
        is in proportion to.
    ends : NDArray[np.float64]
        ``(F, 2)``; the same of what is constant.
    limits : NDArray[np.float64]
        ``(9,)``; factor and constant of the rounding of margins; how near to 0 nothing is
        certain; how large a number may be; how often a box that was narrowed is bounded at most;
        how many combinations are bounded together; what share of an axis has to be left, at most,
        so that it is cut; how much a form's own slopes matter to where a box is halved; how small a
        share of the population is not counted.
    needs : NDArray[np.int64]
        ``(K, 2 F)``; whether class ``c`` wins only where that form is above 0.
    decision : NDArray[np.int64]
        ``(K,)``; what a class means.
    favourable : int
        Which decision is.
    people, given
        The population, as of `fairdesk.certify.bounds.tree_kernels.tree_shares`; ``given`` is empty
        where there is none.
    known, known_start, weights_known
        The product of the marginals, as `fairdesk.certify.bounds.count_kernels.population_shares`.
    """

    shape: Numbers
    settings: Float64
    weights: Float64
    turned: Float64
    bias: Float64
    first_off: Float64
    slopes: Float64
    entries: Float64
    tables: int
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
    known: Numbers
    known_start: Numbers
    weights_known: Float64
    people: TreeArrays
    given: Float64
    favourable: int


class Room(NamedTuple):
    """What the loops work in, made once for each thread; ``R`` rows at once.

    Attributes
    ----------
    units : NDArray[np.float64]
        ``(11, units)``; of each unit by rows: the interval of its sum, of its answer, slope and
        constant of the line below and of the line above, what its sum may be off, how much
        the margins hang on it, and how many of its lines do not meet.
    live, lives : NDArray[np.int64]
        ``(units,)``, ``(L,)``; of each layer the units whose answers change, and how many.
    side, which : NDArray[np.int64]
        ``(units,)``, ``(R,)``; which bounds of units are looked for.
    sums : NDArray[np.float64]
        ``(3, widest)``.
    first, wide, ends : NDArray[np.float64]
        ``(2, h)``; the least and the most of the first layer's sums, of the part of axes that are
        bounded by extremes, and of one axis. ``wide`` is ``(2, 0)`` where there are none.
    middle, half : NDArray[np.float64]
        ``(a,)``; of the box, along axes with slopes.
    slopes, carried : NDArray[np.float64]
        ``(R, widest)``; rows of coefficients on their way back.
    forms, constant : NDArray[np.float64]
        ``(R, E)``, ``(R,)``; what they become.
    kept : NDArray[np.float64]
        ``(V, 2 F, E)``; the forms of the margins.
    constants, bounds : NDArray[np.float64]
        ``(V, 2 F)``; what is added to a form, and what it is at least in the box.
    off : NDArray[np.float64]
        ``(F,)``; how far the margins are off.
    common : NDArray[np.float64]
        ``(E,)``.
    won, bundle, formed : NDArray[np.int64]
        ``(V,)``; the decision under each combination, -1 where it is not certain; with which
        others it was bounded; of each of these sets whether there are forms.
    work, order
        As `fairdesk.certify.bounds.count_kernels.room` gives them.
    start : NDArray[np.int64]
        ``(a,)``.
    people : TreeRoom
        To count people in.
    """

    units: Float64
    live: Numbers
    lives: Numbers
    side: Numbers
    which: Numbers
    sums: Float64
    first: Float64
    wide: Float64
    ends: Float64
    middle: Float64
    half: Float64
    slopes: Float64
    carried: Float64
    forms: Float64
    constant: Float64
    kept: Float64
    constants: Float64
    bounds: Float64
    off: Float64
    common: Float64
    won: Numbers
    bundle: Numbers
    formed: Numbers
    work: Float64
    order: Numbers
    start: Numbers
    people: TreeRoom


(
    _LOW, _HIGH, _ANSWER_LOW, _ANSWER_HIGH,
    _BELOW, _BELOW_AT, _ABOVE, _ABOVE_AT, _EPS, _HANGS, _OPEN,
) = range(11)  # fmt: skip
_UNITS, _KIND, _FIRST, _WEIGHTS = range(4)
_CLOSE, _LARGEST, _ROUNDS, _TOGETHER, _WORTH, _STEEP, _MASS, _PEOPLED = range(2, 10)


# -- lines below and above an activation ------------------------------------------------------


@njit(error_model="numpy")
def _chord(low: float, high: float, at_low: float, at_high: float) -> tuple[float, float, float]:
    """Return the line through two points: slope, and constants that are below and above at both.

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
def _leaky_off(low: float, alpha: float) -> float:
    """Return how far a product with alpha may be off, down to a sum."""
    return abs(alpha) * -low * _OFF + 2.0**-140


@njit(error_model="numpy")
def _leaky_lines(low: float, high: float, alpha: float) -> tuple[float, float, float, float]:
    """Bound a leaky ReLU from a sum below 0 on, convex or concave; its products are rounded."""
    off = _leaky_off(low, alpha)
    if high <= 0.0:
        return alpha, -off, alpha, off
    slope, below, above = _chord(low, high, alpha * low, high)
    steeper = 1.0 if high > -low else alpha
    if alpha <= 1.0:
        return steeper, -off, slope, above + off
    return slope, below - off, steeper, off


@njit
def _leaky_range(low: float, high: float, alpha: float) -> tuple[float, float]:
    """Bound its answers by numbers."""
    first, second = alpha * low, (alpha * high if high < 0.0 else high)
    # the bend is between sums of both signs
    bend = 0.0 if high > 0.0 else second
    off = _leaky_off(low, alpha)
    return min(first, second, bend) - off, max(first, second, bend) + off


@njit
def _value(kind: int, alpha: float, x: float) -> float:  # noqa: PLR0911 - one for each activation
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
def _steepness(kind: int, alpha: float, x: float) -> float:  # noqa: PLR0911 - as above
    """Return the derivative of an activation that rises everywhere."""
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
    """Return how far an answer near ``value`` may be from what it should be."""
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
    rises = kind not in (_SILU, _THRESHOLDED_RELU) and not (kind == _ELU and alpha < 0.0)
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
def _bend(kind: int, alpha: float, ceiling: float, first: int, units: int, of: Float64) -> None:
    """Find the lines and the answers of a layer's units from the intervals of their sums."""
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
        elif kind == _LEAKY_RELU and low < 0.0:
            below, below_at, above, above_at = _leaky_lines(low, high, alpha)
            least, most = _leaky_range(low, high, alpha)
        elif kind not in (_LINEAR, _LEAKY_RELU):
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
    """Add what an axis with a slope makes of the first layer's sums, at its middle and around."""
    for u in range(slopes.size):
        at, by = slopes[u] * middle, abs(slopes[u]) * half
        low[u] += at - by
        high[u] += at + by


@njit
def _widen(least: Float64, most: Float64, low: Float64, high: Float64) -> None:
    for u in range(low.size):
        low[u], high[u] = min(low[u], least[u]), max(high[u], most[u])


@njit
def _extremes(
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


@njit
def _enter(network: Network, low: Numbers, high: Numbers, room: Room) -> None:
    """Look at a box: its middle, and the first layer's sums without what combinations add."""
    first, wide = room.first, room.wide
    first[0], first[1] = network.bias[: first.shape[1]], network.bias[: first.shape[1]]
    wide[:] = 0.0
    for i in range(low.size):
        count, tree = network.axes[i, 0], network.axes[i, 1]
        room.middle[i] = room.half[i] = 0.0
        if tree < 0:
            room.middle[i], room.half[i] = 0.5 * (low[i] + high[i]), 0.5 * (high[i] - low[i])
            _add_slope(network.slopes[i], room.middle[i], room.half[i], first[0], first[1])
            continue
        _extremes(network.least, network.most, tree, count, low[i], high[i], room.ends)
        first += room.ends
        if network.axes[i, 2] < 0:
            wide += room.ends


@njit
def _allowance(factor: float, constant: float, size: float) -> float:
    """Return how far a sum may be from the exact one; ``size`` is that of its terms' absolutes."""
    return factor * size + constant


@njit(fastmath=_FAST)
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


@njit
def _interval_sums(network: Network, layer: int, room: Room) -> bool:
    """Bound a later layer's sums by intervals; tells whether they are numbers, not too large."""
    of = room.units
    units, first, at = (
        network.shape[layer, _UNITS],
        network.shape[layer, _FIRST],
        network.shape[layer, _WEIGHTS],
    )
    middle, half, size = room.sums[0, :units], room.sums[1, :units], room.sums[2, :units]
    fine = True
    for u in range(units):
        middle[u] = network.bias[first + u]
        half[u], size[u] = 0.0, abs(middle[u])
    before = network.shape[layer - 1, _FIRST]
    for i in range(before, first):
        least, most = of[_ANSWER_LOW, i], of[_ANSWER_HIGH, i]
        fine = fine and max(abs(least), abs(most)) <= network.limits[_LARGEST]
        if least != 0.0 or most != 0.0:
            _add_input(network.weights[at : at + units], least, most, middle, half, size)
        at += units
    factor, constant = network.settings[layer, 2], network.settings[layer, 3]
    for u in range(units):
        eps = _allowance(factor, constant, size[u])
        of[_EPS, first + u] = eps
        of[_LOW, first + u] = middle[u] - half[u] - eps
        of[_HIGH, first + u] = middle[u] + half[u] + eps
        fine = fine and size[u] <= network.limits[_LARGEST]
    return fine


# -- backwards: forms -------------------------------------------------------------------------


@njit(fastmath=_FAST)
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


@njit
def _lost(slope: float, eps: float) -> float:
    """Return what the rounding of a sum may take from a form that hangs on it."""
    return abs(slope) * eps


@njit(fastmath=_FAST)
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


@njit(fastmath=_FAST)
def _least_of(slopes: Float64, low: Float64, high: Float64) -> float:
    """Return the least of a sum with these coefficients of numbers that lie between others."""
    least = 0.0
    for u in range(slopes.size):
        least += min(slopes[u] * low[u], slopes[u] * high[u])
    return least


@njit
def _back(network: Network, layer: int, count: int, hangs: float, room: Room) -> None:
    """Take rows of coefficients of a layer's answers back to forms: all rows, layer by layer.

    The rows are the first ``count`` of ``room.slopes``; the forms go to ``room.forms``. To
    ``room.constant`` is added what is constant, but for what the combinations add, which is linear
    in the first sums too: it is in the entries of a form after those of all tables.
    """
    of, current, other = room.units, room.slopes, room.carried
    while True:
        units, first = network.shape[layer, _UNITS], network.shape[layer, _FIRST]
        last = first + units
        live = room.live[first : first + room.lives[layer]]
        below, below_at = of[_BELOW, first:last], of[_BELOW_AT, first:last]
        above, above_at = of[_ABOVE, first:last], of[_ABOVE_AT, first:last]
        bias, eps, hanging = network.bias[first:last], of[_EPS, first:last], of[_HANGS, first:last]
        for r in range(count):
            slopes = current[r, :units]
            if hangs > 0.0:
                for j in range(units):
                    hanging[j] += hangs * abs(slopes[j])
            room.constant[r] += _through(slopes, below, below_at, above, above_at, bias, eps)
        if layer == 0:
            break
        inputs, at = network.shape[layer - 1, _UNITS], network.shape[layer, _WEIGHTS]
        for r in range(count):
            _add_rows(network.turned, at, live, current[r], other[r, :inputs])
        current, other = other, current
        layer -= 1
    for r in range(count):
        _add_rows(network.entries, 0, live, current[r], room.forms[r])
        if room.wide.size:
            room.constant[r] += _least_of(current[r, :units], room.wide[0], room.wide[1])


@njit(fastmath=_FAST)
def _even(form: Float64, middle: Float64, half: Float64) -> float:
    """Return the least that the axes with slopes add to a form."""
    middle_value = 0.0
    for i in range(middle.size):
        middle_value += form[i] * middle[i] - abs(form[i]) * half[i]
    return middle_value


@njit
def _lowest(network: Network, low: Numbers, high: Numbers, form: Float64, room: Room) -> float:
    """Return the least that a form is in the box that was entered, without its constant."""
    value = _even(form, room.middle, room.half)
    for i in range(low.size):
        entry = network.axes[i, 2]
        if entry >= 0:
            least = form[entry + low[i]]
            for k in range(entry + low[i] + 1, entry + high[i] + 1):
                least = min(least, form[k])
            value += least
    return value


@njit
def _is_open(kind: int, ceiling: float, low: float, high: float) -> bool:
    """Return whether an activation may bend between two sums."""
    if kind == _LINEAR:
        return False
    if kind == _RELU:
        return low < 0.0 < high or low < ceiling < high
    return kind != _LEAKY_RELU or low < 0.0 < high


@njit
def _open_rows(network: Network, layer: int, again: int, room: Room) -> int:
    """Write down the rows of a layer's units that may bend, for `_back`; tells how many.

    Each with the sign of the bound that is looked for: the other one if it is again.
    """
    of, count = room.units, 0
    units, first = network.shape[layer, _UNITS], network.shape[layer, _FIRST]
    kind, ceiling = network.shape[layer, _KIND], network.settings[layer, 1]
    inputs, at = network.shape[layer - 1, _UNITS], network.shape[layer, _WEIGHTS]
    for u in range(first, first + units):
        least, most = of[_LOW, u], of[_HIGH, u]
        if not _is_open(kind, ceiling, least, most):
            continue
        if again == 0:
            room.side[u] = 1 if most > -least else -1
        else:
            room.side[u] = -room.side[u]
        sign, own = room.side[u], at + (u - first) * inputs
        for i in range(inputs):
            room.slopes[count, i] = sign * network.turned[own + i]
        room.constant[count] = sign * network.bias[u] - of[_EPS, u]
        room.which[count] = u
        count += 1
    return count


@njit
def _tighten(
    network: Network, layer: int, who: Numbers, low: Numbers, high: Numbers, room: Room
) -> None:
    """Bound backwards the sums of a layer that intervals leave with a bend in them.

    First from the side on which it looks more like that they are beyond the bend.
    """
    of, constants = room.units, room.constant
    base = network.axes.shape[0] + network.tables
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
            bound = constants[r] + more + _lowest(network, low, high, form, room)
            # both bounds are true: should they cross, then only by rounding; NaN is neither
            if room.side[u] > 0 and bound > of[_LOW, u]:
                of[_LOW, u] = min(bound, of[_HIGH, u])
            elif room.side[u] < 0 and -bound < of[_HIGH, u]:
                of[_HIGH, u] = max(-bound, of[_LOW, u])


@njit
def _bend_layer(network: Network, layer: int, room: Room) -> None:
    units, first = network.shape[layer, _UNITS], network.shape[layer, _FIRST]
    kind, alpha, ceiling = (
        network.shape[layer, _KIND],
        network.settings[layer, 0],
        network.settings[layer, 1],
    )
    _bend(kind, alpha, ceiling, first, units, room.units)
    of, count = room.units, 0
    for j in range(units):
        if of[_BELOW, first + j] != 0.0 or of[_ABOVE, first + j] != 0.0:
            room.live[first + count] = j
            count += 1
    room.lives[layer] = count


@njit
def _bounded(
    network: Network, who: Numbers, bundle: int, low: Numbers, high: Numbers, room: Room
) -> float:
    """Bound the margins under some combinations of protected values at once.

    Fills ``room.bounds``, and unless intervals were enough or nothing is certain, the rows of
    ``room.kept`` and ``room.constants``; ``room.formed`` tells which. Gives what margins are off.
    """
    of, fine = room.units, True
    h = network.first_off.size
    for u in range(h):
        least, most = np.inf, -np.inf
        for v in who:
            more = network.combined[v, u]
            least, most = min(least, more), max(most, more)
        eps = network.first_off[u]
        of[_EPS, u] = eps
        of[_LOW, u], of[_HIGH, u] = room.first[0, u] + least - eps, room.first[1, u] + most + eps
        fine = fine and abs(of[_LOW, u]) + abs(of[_HIGH, u]) <= network.limits[_LARGEST]
    _bend_layer(network, 0, room)
    for layer in range(1, len(network.shape)):
        fine = fine and _interval_sums(network, layer, room)
        if fine:
            _tighten(network, layer, who, low, high, room)
            _bend_layer(network, layer, room)
    room.formed[bundle] = False
    if not fine:
        for v in who:
            room.bounds[v] = -np.inf
        return 0.0
    off = _interval_margins(network, who, room)
    if _winner(network, room.bounds[who[0]]) < 0:
        _form_margins(network, who, bundle, low, high, room)
        room.formed[bundle] = True
    return off


@njit
def _interval_margins(network: Network, who: Numbers, room: Room) -> float:
    """Bound the margins by intervals, and learn what they are off; gives the most of that."""
    of, last = room.units, len(network.shape) - 1
    units, first = network.shape[last, _UNITS], network.shape[last, _FIRST]
    largest = 0.0
    for f in range(len(network.rows)):
        row, constant, size = network.rows[f], network.ends[f, 0], network.ends[f, 1]
        above = below = constant
        fine = True
        for j in range(units):
            least, most = of[_ANSWER_LOW, first + j], of[_ANSWER_HIGH, first + j]
            fine = fine and max(abs(least), abs(most)) <= network.limits[_LARGEST]
            size += network.sizes[f, j] * max(abs(least), abs(most))
            below += min(row[j] * least, row[j] * most)
            above += max(row[j] * least, row[j] * most)
        off = _allowance(network.limits[0], network.limits[1], size)
        largest = max(largest, off)
        if not (fine and size <= network.limits[_LARGEST]):
            off = np.inf
        room.off[f] = off
        for v in who:
            room.bounds[v, 2 * f], room.bounds[v, 2 * f + 1] = below - off, -above - off
    return largest


@njit
def _form_margins(
    network: Network, who: Numbers, bundle: int, low: Numbers, high: Numbers, room: Room
) -> None:
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
        form[:] = room.forms[p]
        least = room.constant[p] + _lowest(network, low, high, form, room)
        for v in who:
            room.constants[v, p] = room.constant[p] + form[base + v]
            if least + form[base + v] > room.bounds[v, p]:  # noqa: PLR1730 - NaN is no bound
                room.bounds[v, p] = least + form[base + v]
            room.bundle[v] = bundle


@njit
def _winner(network: Network, bounds: Float64) -> int:
    """Return the decision that is certain, -1 where none is."""
    for c in range(len(network.needs)):
        certain = True
        for p in range(bounds.size):
            if network.needs[c, p] and not bounds[p] > network.limits[_CLOSE]:
                certain = False
        if certain:
            return network.decision[c]
    return -1


# -- what is proven, and where to halve -------------------------------------------------------


@njit
def _add_to(common: Float64, form: Float64, by: float) -> None:
    for i in range(common.size):
        common[i] += by * form[i]


@njit
def _agree(
    network: Network, c: int, who: Numbers, low: Numbers, high: Numbers, room: Room
) -> float:
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
                _add_to(common, room.kept[room.bundle[v], p], 1.0)
                met += 1.0
    if met == 0.0:
        return np.inf
    _add_to(common, common, 1.0 / met - 1.0)
    lowest = np.inf
    for v in who:
        if room.won[v] < 0:
            for p in range(room.bounds.shape[1]):
                if network.needs[c, p]:
                    lowest = min(lowest, _less(network, low, high, v, p, room))
    return lowest


@njit(fastmath=_FAST)
def _even_less(form: Float64, common: Float64, low: Numbers, high: Numbers) -> tuple[float, float]:
    """Do `_less` for the axes with slopes; and give how large what is added up can be."""
    difference = size = 0.0
    for i in range(low.size):
        more = form[i] - common[i]
        difference += 0.5 * (more * (low[i] + high[i]) - abs(more) * (high[i] - low[i]))
        size += (abs(form[i]) + abs(common[i])) * high[i]
    return difference, size


@njit
def _less(network: Network, low: Numbers, high: Numbers, v: int, p: int, room: Room) -> float:
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
    return difference - size * _UNIT if size < np.inf else -np.inf


@njit
def _ends(
    network: Network, i: int, low: Numbers, high: Numbers, form: Float64
) -> tuple[float, float]:
    """Return the least and the most that one axis adds to a form."""
    entry = network.axes[i, 2]
    if entry < 0:
        first, last = form[i] * low[i], form[i] * high[i]
        return min(first, last), max(first, last)
    least = most = form[entry + low[i]]
    for k in range(entry + low[i] + 1, entry + high[i] + 1):
        least, most = min(least, form[k]), max(most, form[k])
    return least, most


@njit
def _clip(network: Network, limit: float, low: Numbers, high: Numbers, room: Room) -> bool:
    """Narrow a box, in place, to where a common form is not above a limit: all else is consistent.

    An axis is cut only where enough of it goes. Tells whether nothing is left.
    """
    common = room.common
    total, size = 0.0, abs(limit)
    for i in range(low.size):
        least, most = _ends(network, i, low, high, common)
        total += least
        size += max(abs(least), abs(most))
    slack = size * _UNIT
    if total - slack > limit:
        return True
    for i in range(low.size):
        if low[i] == high[i]:
            continue
        least, most = _ends(network, i, low, high, common)
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
        if last - first + 1 <= network.limits[_WORTH] * (high[i] - low[i] + 1):
            low[i], high[i] = first, last
            total += _ends(network, i, low, high, common)[0] - least
    return False


@njit
def _is_inhabited(network: Network, low: Numbers, high: Numbers, room: Room) -> bool:
    """Return whether a box holds enough of the population to count it."""
    if not network.given.size:
        return False
    own = room.people
    mass = mass_of(network.people, low, high, network.given, own.seen, own.messages)
    return mass > network.limits[_PEOPLED]


@njit
def _mass(network: Network, low: Numbers, high: Numbers) -> float:
    """Return the population's share of a box."""
    mass = 1.0
    for i in range(low.size):
        first, last = network.known_start[i], network.known_start[i + 1]
        begin = np.searchsorted(network.known[first:last], low[i])
        end = np.searchsorted(network.known[first:last], high[i], "right")
        mass *= network.weights_known[first + i + end] - network.weights_known[first + i + begin]
    return mass


@njit
def _count(
    network: Network, who: Numbers, low: Numbers, high: Numbers, out: Float64, room: Room
) -> None:
    """Count the consistent and the discriminatory in a box, as shares of its points and people.

    Fills ``out``: consistent and discriminatory of the points, then of the product of the
    marginals, then of the population; then the consistent with the favourable decision.
    """
    axes = low.size
    for i in range(axes):
        entry = network.axes[i, 2]
        room.start[i] = entry - axes + low[i] if entry >= 0 else -1
    peopled = _mass(network, low, high) > network.limits[_MASS]
    out[:] = 0.0
    inhabited = _is_inhabited(network, low, high, room)
    for decided in range(len(network.needs)):
        best = best_mass = most_people = 0.0
        for c in range(len(network.needs)):
            # classes that mean the same may win in the same places: these count once
            if network.decision[c] != decided:
                continue
            least = _agree(network, c, who, low, high, room)
            if not abs(least) < np.inf:
                continue
            share, _, mass, _, people, _ = _beyond(
                *(network, low, high, network.limits[_CLOSE] - least, np.inf),
                *(peopled, inhabited, room),
            )
            best, best_mass = max(best, share), max(best_mass, mass)
            most_people = max(most_people, people)
        out[0], out[2], out[4] = out[0] + best, out[2] + best_mass, out[4] + most_people
        if decided == network.favourable:
            out[6] = min(most_people, 1.0)
    if len(network.rows) == 1:
        after, before = _band(network, who, low, high, room)
        over, between, over_mass, between_mass, over_people, between_people = _beyond(
            network, low, high, after, before, peopled, inhabited, room
        )
        out[1], out[3] = over + between, over_mass + between_mass
        out[5] = over_people + between_people
    for k in (0, 2, 4):
        out[k] = min(out[k], 1.0)
        out[k + 1] = max(min(out[k + 1], 1.0 - out[k]), 0.0)


@njit
def _beyond(
    network: Network,
    low: Numbers,
    high: Numbers,
    after: float,
    before: float,
    peopled: int,
    inhabited: int,
    room: Room,
) -> tuple[float, float, float, float, float, float]:
    """Count where the common form is above one limit, or between two if the other is finite.

    Never too many: as shares of the points, then of the product of the marginals, then of people.
    """
    least = most = 0.0
    for i in range(low.size):
        own = _ends(network, i, low, high, room.common)
        least, most = least + own[0], most + own[1]
    if not (after < before and after < most and before > least):
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    axes = low.size
    slopes, tables = room.common[:axes], room.common[axes : axes + network.tables]
    above = np.inf
    if before == np.inf:
        above, after, before = after, 0.0, 0.0
    over, _, between = shares(
        *(low, high, slopes, tables, room.start, above, -np.inf, after, before),
        *(room.work, room.order),
    )
    over_mass = between_mass = over_people = between_people = 0.0
    if peopled:
        over_mass, _, between_mass = population_shares(
            *(low, high, slopes, tables, room.start),
            *(network.known, network.known_start, network.weights_known),
            *(above, -np.inf, after, before, room.work, room.order),
        )
    if inhabited:
        over_people, _, between_people = tree_shares(
            *(network.people, low, high, network.given, slopes, tables, room.start),
            *(above, -np.inf, after, before, GRID, room.people),
        )
    return over, between, over_mass, between_mass, over_people, between_people


@njit
def _upper(network: Network) -> int:
    """Return the decision where the only margin is above 0."""
    return network.decision[0] if network.needs[0, 0] else network.decision[1]


@njit
def _band(
    network: Network, who: Numbers, low: Numbers, high: Numbers, room: Room
) -> tuple[float, float]:
    """Find where the one margin is above 0 under a combination and below it under another.

    It is where ``room.common``, the mean of the forms, is between the two numbers.
    """
    common, close = room.common, network.limits[_CLOSE]
    common[:] = 0.0
    met = 0.0
    for v in who:
        if room.won[v] < 0:
            _add_to(common, room.kept[room.bundle[v], 0], 1.0)
            _add_to(common, room.kept[room.bundle[v], 1], -1.0)
            met += 2.0
    _add_to(common, common, 1.0 / met - 1.0)
    above = below = -np.inf
    for v in who:
        if room.won[v] < 0:
            above = max(above, _less(network, low, high, v, 0, room))
            _add_to(common, common, -2.0)
            below = max(below, _less(network, low, high, v, 1, room))
            _add_to(common, common, -2.0)
        elif room.won[v] == _upper(network):
            above = np.inf
        else:
            below = np.inf
    return close - above, below - close


@njit
def _gaps(network: Network, low: Numbers, high: Numbers, room: Room) -> int:
    """Choose the axis along which most of what keeps the lines apart can be taken away.

    At each unit with two lines, what the margins hang on it is a gap; it is taken back to the axes
    by the weights' absolutes, and multiplied by how wide each is.
    """
    of, layer = room.units, len(network.shape) - 1
    current, other = room.sums[0], room.sums[1]
    current[:] = 0.0
    while True:
        units, first = network.shape[layer, _UNITS], network.shape[layer, _FIRST]
        for j in range(units):
            slope = 0.5 * (abs(of[_BELOW, first + j]) + abs(of[_ABOVE, first + j]))
            gap = of[_HANGS, first + j] if of[_OPEN, first + j] > 0.0 else 0.0
            current[j] = slope * current[j] + gap
        if layer == 0:
            break
        inputs, at = network.shape[layer - 1, _UNITS], network.shape[layer, _WEIGHTS]
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


@njit
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
                gain += network.limits[_STEEP] * abs(room.kept[0, p, i])
        return gain * (high[i] - low[i])
    _extremes(network.least, network.most, tree, count, low[i], high[i], room.ends)
    for u in range(h):
        gain += (room.ends[1, u] - room.ends[0, u]) * weights[u]
    return gain


@njit
def _size(low: Numbers, high: Numbers) -> float:
    size = 1.0
    for i in range(low.size):
        size *= high[i] - low[i] + 1.0
    return size


@njit
def _decide(network: Network, decision: int, out: Float64) -> None:
    """Say that everybody in a box gets one decision."""
    out[0] = out[2] = out[4] = 1.0
    out[6] = 1.0 if decision == network.favourable else 0.0


@njit
def _examined(
    network: Network, who: Numbers, low: Numbers, high: Numbers, out: Float64, room: Room
) -> tuple[int, int, float]:
    """Say what is proven in a box, which is narrowed in place: verdict, axis, what rounding is.

    ``out`` is filled as `_count` does.
    """
    off = 0.0
    out[:] = 0.0
    rounds, together = int(network.limits[_ROUNDS]), int(network.limits[_TOGETHER])
    for _again in range(rounds):
        _enter(network, low, high, room)
        room.units[_HANGS] = 0.0
        room.units[_OPEN] = 0.0
        everybody, decided = True, -1
        for bundle, start in enumerate(range(0, who.size, together)):
            members = who[start : start + together]
            off = max(off, _bounded(network, members, bundle, low, high, room))
            for v in members:
                won = _winner(network, room.bounds[v])
                room.won[v] = won
                if won < 0:
                    if not room.formed[bundle]:
                        return UNDECIDED, _gaps(network, low, high, room), off
                    everybody = False
                elif decided >= 0 and won != decided:
                    out[1] = out[3] = out[5] = 1.0
                    return DISCRIMINATORY, -1, off
                else:
                    decided = won
        if everybody:
            _decide(network, decided, out)
            return CONSISTENT, -1, off
        before = _size(low, high)
        for c in range(len(network.needs)):
            above = _agree(network, c, who, low, high, room)
            if abs(above) < np.inf and _clip(
                network, network.limits[_CLOSE] - above, low, high, room
            ):
                _decide(network, network.decision[c], out)
                return CONSISTENT, -1, off
        if not _size(low, high) < 0.7 * before:
            break
    _count(network, who, low, high, out, room)
    return UNDECIDED, _gaps(network, low, high, room), off


# how many axes each array has
_SHAPES = {
    **dict.fromkeys(("shape", "settings", "slopes", "least", "most", "axes", "combined"), 2),
    **dict.fromkeys(("rows", "sizes", "ends", "needs", "units", "sums", "first", "wide"), 2),
    **dict.fromkeys(("carried", "forms", "constants", "bounds", "work"), 2),
    "kept": 3,
}


def _typed(kind: type) -> types.NamedTuple:
    """Tell numba what the fields of a named tuple are."""
    fields = []
    for name, annotation in get_type_hints(kind).items():
        if annotation is int:
            fields.append(types.int64)
            continue
        if annotation in (TreeArrays, TreeRoom):
            fields.append(TREE if annotation is TreeArrays else TREE_ROOM)
            continue
        number = types.float64 if annotation == Float64 else types.int64
        many = 2 if kind is Room and name == "slopes" else _SHAPES.get(name, 1)
        fields.append(types.Array(number, many, "C"))
    return types.NamedTuple(fields, kind)


_INTEGERS, _REALS = types.Array(types.int64, 1, "C"), types.Array(types.float64, 1, "C")
_BOXES = types.Array(types.int64, 2, "C")


@njit(
    types.float64(
        *(_typed(Network), types.Array(types.int64, 2, "C"), _BOXES, _BOXES, _INTEGERS),
        *(types.int64, types.int64, _INTEGERS, types.Array(types.float64, 2, "C"), _INTEGERS),
        _typed(Room),
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
        ``(B, 7)``; filled: of what is left of each box the shares that are consistent and
        discriminatory, of its points, of the product of the marginals, of the population in it;
        and of the population the share that is consistent with the favourable decision.
    room : Room
        Of this thread.

    Returns
    -------
    float
        The greatest allowance that was made for rounding.
    """
    largest = 0.0
    for b in range(start, stop):
        combinations = 0
        while combinations < compared.shape[1] and compared[group[b], combinations] >= 0:
            combinations += 1
        who = compared[group[b], :combinations]
        verdict[b], axis[b], off = _examined(network, who, low[b], high[b], out[b], room)
        largest = max(largest, off)
    return largest
