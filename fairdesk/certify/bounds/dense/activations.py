"""Lines below and above an activation, and the ends of its answers, compiled."""
# numba has no types
# mypy: disallow-untyped-decorators=False, warn-return-any=False, disable-error-code="no-any-return"

from __future__ import annotations

import math

import numpy as np
from numba import njit

from fairdesk.certify.bounds.dense.state import (
    ABOVE,
    ABOVE_AT,
    ANSWER_HIGH,
    ANSWER_LOW,
    BELOW,
    BELOW_AT,
    FEW,
    HIGH,
    LOW,
    OPEN,
    Float64,
)
from fairdesk.compiled import ZERO, inner
from fairdesk.models.structure import ACTIVATIONS

# the places of activations in `ACTIVATIONS`, by which these loops know them
LINEAR, RELU, LEAKY_RELU, ELU, SELU, SIGMOID, TANH, SOFTPLUS, SOFTSIGN = range(9)


EXPONENTIAL, SILU, THRESHOLDED_RELU = range(9, len(ACTIVATIONS) - 1)


#: How far an activation as the model computes it may be from what it should be: of those that lie
#: between -1 and 1, and as a share of the others.
_OFF = 2.0**-20


#: The constants of Klambauer et al. 2017.
_SELU_DEPTH, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


#: Where silu is least, and what it is there.
_SILU_AT, _SILU_LEAST = -1.2784645427610738, -0.2784645427610739


@njit(error_model="numpy")
def chord(low: float, high: float, at_low: float, at_high: float) -> tuple[float, float, float]:
    """Return the line through two points: slope, and constants that are below and above at both.

    The slope is rounded, so that no constant meets both ends: it is moved until it does.
    """
    slope = (at_high - at_low) / (high - low)
    first, second = at_low - slope * low, at_high - slope * high
    slack = (abs(at_low) + abs(at_high) + abs(slope) * max(abs(low), abs(high))) * FEW
    return slope, min(first, second) - slack, max(first, second) + slack


@inner()
def _relu_lines(low: float, high: float) -> tuple[float, float, float, float]:
    """Bound a ReLU with its bend inside; the line below is the one that leaves less area."""
    slope, _, above = chord(low, high, 0.0, high)
    return (1.0 if high > -low else 0.0), 0.0, slope, above


@inner()
def _capped_lines(low: float, high: float, ceiling: float) -> tuple[float, float, float, float]:
    """Bound a ReLU with a ceiling that its sum may pass."""
    if low >= 0.0:  # only the upper bend: concave
        slope, below, _ = chord(low, high, low, ceiling)
        return (slope, below, 1.0, 0.0) if ceiling - low > high - ceiling else (
            slope, below, 0.0, ceiling,
        )  # fmt: skip
    # through the one end and the farther bend, rounded to the safe side
    above, _, above_at = chord(low, ceiling, 0.0, ceiling)
    below, below_at, _ = chord(0.0, high, 0.0, ceiling)
    if -low > high:
        below, below_at = 0.0, 0.0
    if high - ceiling > ceiling - low:
        above, above_at = 0.0, ceiling
    return below, below_at, above, above_at


@inner()
def _leaky_off(low: float, alpha: float) -> float:
    """Return how far a product with alpha may be off, down to a sum."""
    return abs(alpha) * -low * _OFF + 2.0**-140


@inner(error_model="numpy")
def _leaky_lines(low: float, high: float, alpha: float) -> tuple[float, float, float, float]:
    """Bound a leaky ReLU from a sum below 0 on, convex or concave; its products are rounded."""
    off = _leaky_off(low, alpha)
    if high <= 0.0:
        return alpha, -off, alpha, off
    slope, below, above = chord(low, high, alpha * low, high)
    steeper = 1.0 if high > -low else alpha
    if alpha <= 1.0:
        return steeper, -off, slope, above + off
    return slope, below - off, steeper, off


@inner()
def _leaky_range(low: float, high: float, alpha: float) -> tuple[float, float]:
    """Bound its answers by numbers."""
    first, second = alpha * low, (alpha * high if high < 0.0 else high)
    # the bend is between sums of both signs
    bend = 0.0 if high > 0.0 else second
    off = _leaky_off(low, alpha)
    return min(first, second, bend) - off, max(first, second, bend) + off


@inner()
def _value(kind: int, alpha: float, x: float) -> float:  # noqa: PLR0911 - one for each activation
    """Answer as the activation should."""
    if kind == SIGMOID:
        return 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else 0.0
    if kind == TANH:
        return math.tanh(x)
    if kind == SOFTSIGN:
        return x / (1.0 + abs(x))
    if kind == SOFTPLUS:
        return max(x, 0.0) + math.log1p(math.exp(-abs(x)))
    if kind == EXPONENTIAL:
        return math.exp(x) if x < 700.0 else np.inf
    if kind == ELU:
        return x if x > 0.0 else alpha * math.expm1(x)
    if kind == SELU:
        return _SELU_SCALE * (x if x > 0.0 else _SELU_DEPTH * math.expm1(x))
    if kind == SILU:
        return x / (1.0 + math.exp(-x)) if x > -700.0 else 0.0
    return 0.0 if x <= alpha else x


@inner()
def _steepness(kind: int, alpha: float, x: float) -> float:  # noqa: PLR0911 - as above
    """Return the derivative of an activation that rises everywhere."""
    if kind == SIGMOID:
        value = _value(kind, alpha, -abs(x))
        return value * (1.0 - value)
    if kind == TANH:
        power = math.exp(-2.0 * abs(x))
        return 4.0 * power / ((1.0 + power) * (1.0 + power))
    if kind == SOFTSIGN:
        return 1.0 / ((1.0 + abs(x)) * (1.0 + abs(x)))
    if kind == SOFTPLUS:
        return _value(ZERO + SIGMOID, 0.0, x)
    if kind == EXPONENTIAL:
        return _value(kind, alpha, x)
    if kind == ELU:
        return 1.0 if x > 0.0 else alpha * math.exp(x)
    return _SELU_SCALE * (1.0 if x > 0.0 else _SELU_DEPTH * math.exp(x))


@inner()
def _off(kind: int, value: float) -> float:
    """Return how far an answer near ``value`` may be from what it should be."""
    if kind in (SIGMOID, TANH, SOFTSIGN):
        return _OFF
    if kind == THRESHOLDED_RELU:
        return 0.0
    return _OFF * abs(value) + 2.0**-100


@inner()
def _range(kind: int, alpha: float, low: float, high: float) -> tuple[float, float]:
    """Bound an activation's answers by numbers; not those of (leaky) ReLUs."""
    first, second = _value(kind, alpha, low), _value(kind, alpha, high)
    least, most = min(first, second), max(first, second)
    if kind == SILU:
        if low < _SILU_AT < high:
            least = _SILU_LEAST
        least -= FEW
    if kind == ELU and alpha < 0.0:
        least, most = min(least, 0.0), max(most, 0.0, -alpha)
    if kind == THRESHOLDED_RELU and low <= alpha < high:
        least, most = min(alpha, 0.0), max(high, 0.0)
    return least - _off(kind, least), most + _off(kind, most)


@inner()
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
    rises = kind not in (SILU, THRESHOLDED_RELU) and not (kind == ELU and alpha < 0.0)
    if not rises or not high - low > 2.0**-20 * max(1.0, abs(low), abs(high)):
        return 0.0, least, 0.0, most
    at_low, at_high = _value(kind, alpha, low), _value(kind, alpha, high)
    off = _off(kind, max(abs(least), abs(most)))
    shaped = kind in (SIGMOID, TANH, SOFTSIGN)
    upwards = (
        kind in (SOFTPLUS, EXPONENTIAL)
        or (kind == ELU and (alpha <= 1.0 or high <= 0.0))
        or (kind == SELU and high <= 0.0)
        or (shaped and high <= 0.0)
    )
    downwards = shaped and low >= 0.0
    slope, below, above = chord(low, high, at_low, at_high)
    if upwards or downwards:
        middle = 0.5 * (low + high)
        tangent = _steepness(kind, alpha, middle)
        at = _value(kind, alpha, middle) - tangent * middle
        # the tangent's own slope and point are right to so much only
        far = max(abs(low), abs(high))
        off += (abs(at) + abs(tangent) * far + max(abs(at_low), abs(at_high))) * FEW
        if upwards:
            return tangent, at - off, slope, above + off
        return slope, below - off, tangent, at + off
    gentle = min(_steepness(kind, alpha, low), _steepness(kind, alpha, high))
    gentle *= 1.0 - 2.0**-30
    off += (abs(at_low) + abs(at_high) + gentle * max(abs(low), abs(high))) * FEW
    return gentle, at_low - gentle * low - off, gentle, at_high - gentle * high + off


@njit(error_model="numpy")
def bend(kind: int, alpha: float, ceiling: float, first: int, units: int, of: Float64) -> None:
    """Find the lines and the answers of a layer's units from the intervals of their sums."""
    for u in range(first, first + units):
        low, high = of[LOW, u], of[HIGH, u]
        # the identity; most units of most boxes are this or nothing
        below, below_at, above, above_at = 1.0, 0.0, 1.0, 0.0
        least, most = low, high
        if kind == RELU:
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
        elif kind == LEAKY_RELU and low < 0.0:
            below, below_at, above, above_at = _leaky_lines(low, high, alpha)
            least, most = _leaky_range(low, high, alpha)
        elif kind not in (LINEAR, LEAKY_RELU):
            least, most = _range(kind, alpha, low, high)
            below, below_at, above, above_at = _curve_lines(kind, alpha, low, high)
        of[BELOW, u], of[BELOW_AT, u], of[ABOVE, u], of[ABOVE_AT, u] = (
            below, below_at, above, above_at,
        )  # fmt: skip
        of[ANSWER_LOW, u], of[ANSWER_HIGH, u] = least, most
        if below != above:
            of[OPEN, u] += 1.0


@inner()
def is_open(kind: int, ceiling: float, low: float, high: float) -> bool:
    """Return whether an activation may bend between two sums."""
    if kind == LINEAR:
        return False
    if kind == RELU:
        return low < 0.0 < high or low < ceiling < high
    return kind != LEAKY_RELU or low < 0.0 < high
