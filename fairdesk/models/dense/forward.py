"""Dense networks forward and backward, compiled: rows side by side, all layers while they are warm.

A block of rows is turned so that each number of theirs is a run of neighbours, one for each row.
Then an instruction of the processor serves several rows, a unit's sums stay in its registers, and
what goes from layer to layer stays in its first cache.

Each row's answer is made by the same operations in the same order wherever in a batch the row
stands, and whatever stands beside it: equal rows have equal answers, to the last bit. So nothing
here lets the compiler put sums into another order.
"""
# numba has no types
# mypy: disallow-untyped-decorators=False, warn-return-any=False

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairdesk.compiled import inner, whole
from fairdesk.models.dense.simd import (
    LANES,
    MOST_UNITS,
    ROWS,
    as_float,
    sum_1,
    sum_2,
    sum_3,
    sum_4,
    sum_5,
    sum_6,
    turn,
)
from fairdesk.models.structure import ACTIVATIONS, DenseLayer, Float32

Float64 = NDArray[np.float64]
#: What `packed` tells of layers.
Shape = NDArray[np.int64]

# the places of activations in `ACTIVATIONS`, by which these loops know them
_LINEAR, _RELU, _LEAKY_RELU, _ELU, _SELU, _SIGMOID, _TANH, _SOFTPLUS, _SOFTSIGN = range(9)
_EXPONENTIAL, _SILU, _THRESHOLDED_RELU, _SOFTMAX = range(9, len(ACTIVATIONS))

_NOUGHT, _HALF, _ONE, _TWO = (np.float32(number) for number in (0, 0.5, 1, 2))
#: The constants of Klambauer et al. 2017.
_SELU_DEPTH, _SELU_SCALE = np.float32(1.6732632423543772), np.float32(1.0507009873554805)
#: Beyond these, exp is 0 and infinite.
_LEAST_POWER, _MOST_POWER = np.float32(-104), np.float32(89)
#: 1 / log(2), and log(2) in two parts, so that multiples of the first are exact.
_LOG2_E, _LN_2, _LN_2_REST = (np.float32(x) for x in (1.442695041, 0.693359375, -2.12194440e-4))
#: Of the Cephes library: (exp(x) - 1 - x) / x**2 for numbers between -0.35 and 0.35.
_C0, _C1, _C2 = (np.float32(x) for x in (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3))
_C3, _C4, _C5 = (np.float32(x) for x in (4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1))


@inner()
def _at_least(x: np.float32, least: np.float32) -> np.float32:
    """Unlike `max`, this lets what is no number stay so."""
    return least if x < least else x  # noqa: FURB136 - see above


@inner()
def _at_most(x: np.float32, most: np.float32) -> np.float32:
    """As `_at_least`."""
    return most if x > most else x  # noqa: FURB136 - see above


@inner()
def _power(x: np.float32) -> tuple[np.float32, np.float32, np.float32]:
    """Take ``exp(x)`` apart: ``(1 + rest) * first * second``, these two being powers of 2."""
    x = _at_most(_at_least(x, _LEAST_POWER), _MOST_POWER)
    twos = x * _LOG2_E
    twos = twos + _HALF if twos > _NOUGHT else twos - _HALF
    power = np.int32(twos if twos == twos else _NOUGHT)  # noqa: PLR0124 - it may be no number
    whole = np.float32(power)
    x = (x - whole * _LN_2) - whole * _LN_2_REST
    rest = ((((_C0 * x + _C1) * x + _C2) * x + _C3) * x + _C4) * x + _C5
    half = power >> np.int32(1)
    first = as_float(np.int32((half + np.int32(127)) << np.int32(23)))
    second = as_float(np.int32((power - half + np.int32(127)) << np.int32(23)))
    return rest * x * x + x, first, second


@inner()
def _exp(x: np.float32) -> np.float32:
    rest, first, second = _power(x)
    return (_ONE + rest) * first * second


@inner()
def _expm1(x: np.float32) -> np.float32:
    """Return ``exp(x) - 1`` for a number that is not above 0."""
    rest, first, second = _power(x)
    return rest * first * second + (first * second - _ONE)


@inner()
def _logistic(x: np.float32) -> np.float32:
    return _ONE / (_ONE + _exp(-x))


@inner()
def _tanh(x: np.float32) -> np.float32:
    change = _expm1(-_TWO * abs(x))
    size = -change / (change + _TWO)
    return -size if x < _NOUGHT else size


@inner()
def _bend(values: Float32, kind: int, alpha: np.float32, ceiling: np.float32) -> None:
    """Apply an activation without an exponential function, in place."""
    if kind == _RELU:
        for i in range(values.size):
            values[i] = _at_most(values[i], ceiling)
    elif kind == _LEAKY_RELU:
        for i in range(values.size):
            values[i] = values[i] * alpha if values[i] < _NOUGHT else values[i]
    elif kind == _SOFTSIGN:
        for i in range(values.size):
            values[i] = values[i] / (abs(values[i]) + _ONE)
    elif kind == _THRESHOLDED_RELU:
        for i in range(values.size):
            values[i] = _NOUGHT if values[i] <= alpha else values[i]


@inner()
def _curve(values: Float32, kind: int, alpha: np.float32) -> None:
    """Apply one of the others, in place."""
    if kind == _ELU:
        for i in range(values.size):
            values[i] = _expm1(values[i]) * alpha if values[i] < _NOUGHT else values[i]
    elif kind == _SELU:
        for i in range(values.size):
            below = _expm1(values[i]) * _SELU_DEPTH
            values[i] = (below if values[i] < _NOUGHT else values[i]) * _SELU_SCALE
    elif kind == _SIGMOID:
        for i in range(values.size):
            values[i] = _logistic(values[i])
    elif kind == _TANH:
        for i in range(values.size):
            values[i] = _tanh(values[i])
    elif kind == _SOFTPLUS:
        for i in range(values.size):
            more = np.float32(math.log1p(_exp(-abs(values[i]))))
            values[i] = _at_least(values[i], _NOUGHT) + more
    else:
        for i in range(values.size):
            values[i] = (
                _exp(values[i]) if kind == _EXPONENTIAL else values[i] * _logistic(values[i])
            )


@inner()
def _activate(values: Float32, kind: int, alpha: np.float32, ceiling: np.float32) -> None:
    """Apply an activation to ``(units * ROWS,)`` sums, in place."""
    if kind == _SOFTMAX:
        _softmax(values)
    elif kind in (_RELU, _LEAKY_RELU, _SOFTSIGN, _THRESHOLDED_RELU):
        if kind != _RELU or ceiling < np.inf:
            _bend(values, kind, alpha, ceiling)
    elif kind != _LINEAR:
        _curve(values, kind, alpha)


@inner()
def _softmax(values: Float32) -> None:
    """Make shares of a whole of all units' numbers, row by row, in place."""
    for row in range(ROWS):
        most = values[row]
        for i in range(row, values.size, ROWS):
            most = _at_least(values[i], most)
        whole = _NOUGHT
        for i in range(row, values.size, ROWS):
            values[i] = _exp(values[i] - most)
            whole += values[i]
        for i in range(row, values.size, ROWS):
            values[i] /= whole


@inner()
def _sum_up(source: Float32, weights: Float32, target: Float32, layer: Shape) -> None:
    """Compute a layer before its activation; but no ReLU has anything below nought."""
    inputs, units, width, kind, at = layer[0], layer[1], layer[2], layer[3], layer[4]
    least = _NOUGHT if kind == _RELU else np.float32(-np.inf)
    for unit in range(0, units, width):
        for lane in range(0, ROWS, LANES):
            to = unit * ROWS + lane
            if width == 6:
                sum_6(source, lane, weights, at, target, to, inputs, least)
            elif width == 5:
                sum_5(source, lane, weights, at, target, to, inputs, least)
            elif width == 4:
                sum_4(source, lane, weights, at, target, to, inputs, least)
            elif width == 3:
                sum_3(source, lane, weights, at, target, to, inputs, least)
            elif width == 2:
                sum_2(source, lane, weights, at, target, to, inputs, least)
            else:
                sum_1(source, lane, weights, at, target, to, inputs, least)
        at += (inputs + 1) * width


@inner()
def _widest(layers: Shape) -> int:
    """Return room for the numbers of any layer, and for units that only fill up."""
    widest = 0
    for i in range(len(layers)):
        widest = max(widest, layers[i, 0], layers[i, 1])
    return widest + MOST_UNITS


@inner()
def _load(matrix: Float64, start: int, centre: Float64, target: Float32) -> None:
    """Turn a block of rows; where there are not enough, the last one is repeated."""
    last = len(matrix) - 1
    width = matrix.shape[1]
    for i in range(width):
        if start + ROWS - 1 <= last:
            for lane in range(0, ROWS, LANES):
                at = (start + lane) * width + i
                turn(matrix, at, width, centre[i], target, i * ROWS + lane)
        else:
            for lane in range(ROWS):
                number = matrix[min(start + lane, last), i]
                target[i * ROWS + lane] = np.float32(number - centre[i])


@whole(
    "void(float64[:, ::1], float64[::1], int64[:, ::1], float32[:, ::1], float32[::1],"
    " float32[:, ::1])",
    error_model="numpy",
)
def forward(
    matrix: Float64,
    centre: Float64,
    layers: Shape,
    settings: Float32,
    weights: Float32,
    answers: Float32,
) -> None:
    """Answer for rows.

    Parameters
    ----------
    matrix : NDArray[np.float64]
        ``(n, inputs)``.
    centre : NDArray[np.float64]
        ``(inputs,)``; subtracted first, in double precision.
    layers, settings, weights
        As `packed` makes them.
    answers : NDArray[np.float32]
        ``(n, units of the last layer)``; filled.
    """
    widest = _widest(layers)
    source, target = np.empty(widest * ROWS, np.float32), np.empty(widest * ROWS, np.float32)
    for start in range(0, len(matrix), ROWS):
        _load(matrix, start, centre, source)
        for i in range(len(layers)):
            _sum_up(source, weights, target, layers[i])
            values = target[: layers[i, 1] * ROWS]
            _activate(values, layers[i, 3], settings[i, 0], settings[i, 1])
            source, target = target, source
        for row in range(min(ROWS, len(matrix) - start)):
            for unit in range(answers.shape[1]):
                answers[start + row, unit] = source[unit * ROWS + row]


@inner()
def _bend_back(
    changes: Float32, values: Float32, kind: int, alpha: np.float32, ceiling: np.float32
) -> None:
    """Take changes back through what `_bend` applies, in place."""
    if kind == _RELU:
        for i in range(changes.size):
            changes[i] *= _ONE if _NOUGHT < values[i] < ceiling else _NOUGHT
    elif kind == _LEAKY_RELU:
        for i in range(changes.size):
            changes[i] *= alpha if values[i] < _NOUGHT else _ONE
    elif kind == _SOFTSIGN:
        for i in range(changes.size):
            changes[i] /= (abs(values[i]) + _ONE) * (abs(values[i]) + _ONE)
    elif kind == _THRESHOLDED_RELU:
        for i in range(changes.size):
            changes[i] *= _ONE if values[i] > alpha else _NOUGHT


@inner()
def _curve_back(
    changes: Float32, values: Float32, answers: Float32, kind: int, alpha: np.float32
) -> None:
    """Take changes back through what `_curve` applies, in place."""
    if kind == _ELU:
        for i in range(changes.size):
            changes[i] *= answers[i] + alpha if values[i] < _NOUGHT else _ONE
    elif kind == _SELU:
        for i in range(changes.size):
            below = answers[i] + _SELU_DEPTH * _SELU_SCALE
            changes[i] *= below if values[i] < _NOUGHT else _SELU_SCALE
    elif kind == _SIGMOID:
        for i in range(changes.size):
            # not 1 - answer, which is nought long before the slope is
            changes[i] *= answers[i] * _logistic(-values[i])
    elif kind == _TANH:
        for i in range(changes.size):
            twice = _TWO * values[i]
            changes[i] *= _TWO * _TWO * _logistic(twice) * _logistic(-twice)
    elif kind == _EXPONENTIAL:
        for i in range(changes.size):
            changes[i] *= answers[i]
    else:
        for i in range(changes.size):
            silu = answers[i] * _logistic(-values[i]) if kind == _SILU else _NOUGHT
            changes[i] *= _logistic(values[i]) + silu


@inner()
def _activate_back(
    changes: Float32,
    values: Float32,
    answers: Float32,
    kind: int,
    alpha: np.float32,
    ceiling: np.float32,
) -> None:
    """Take changes back through an activation, in place: the chain rule.

    ``values`` went into it, and ``answers`` came out.
    """
    if kind == _SOFTMAX:
        _softmax_back(changes, values)
    elif kind in (_RELU, _LEAKY_RELU, _SOFTSIGN, _THRESHOLDED_RELU):
        _bend_back(changes, values, kind, alpha, ceiling)
    elif kind != _LINEAR:
        _curve_back(changes, values, answers, kind, alpha)


@inner()
def _softmax_back(changes: Float32, values: Float32) -> None:
    """In double precision, for near 1 an answer has no digits left for what it lacks."""
    for row in range(ROWS):
        most = values[row]
        for i in range(row, values.size, ROWS):
            most = _at_least(values[i], most)
        whole = mean = 0.0
        for i in range(row, values.size, ROWS):
            share = math.exp(np.float64(values[i]) - most)
            whole += share
            mean += share * changes[i]
        for i in range(row, values.size, ROWS):
            share = math.exp(np.float64(values[i]) - most) / whole
            changes[i] = np.float32(share * (changes[i] - mean / whole))


@whole(
    "void(float64[:, ::1], float64[::1], int64[:, ::1], float32[:, ::1], float32[::1],"
    " int64[:, ::1], float32[::1], int64, float32[:, ::1])",
    error_model="numpy",
)
def backward(
    matrix: Float64,
    centre: Float64,
    layers: Shape,
    settings: Float32,
    weights: Float32,
    layers_back: Shape,
    weights_back: Float32,
    column: int,
    gradients: Float32,
) -> None:
    """Tell how an answer changes with each input.

    Parameters
    ----------
    matrix, centre, layers, settings, weights
        As of `forward`.
    layers_back, weights_back
        As `packed` makes them of the layers from output to input, with their weights turned and
        without biases.
    gradients : NDArray[np.float32]
        ``(n, inputs)``; filled.
    """
    widest = _widest(layers)
    first = np.empty(widest * ROWS, np.float32)
    values = np.empty((len(layers), widest * ROWS), np.float32)
    answers = np.empty((len(layers), widest * ROWS), np.float32)
    changes, before = np.empty(widest * ROWS, np.float32), np.empty(widest * ROWS, np.float32)
    for start in range(0, len(matrix), ROWS):
        _load(matrix, start, centre, first)
        for i in range(len(layers)):
            source = first if i == 0 else answers[i - 1]
            _sum_up(source, weights, values[i], layers[i])
            size = layers[i, 1] * ROWS
            for j in range(size):
                answers[i, j] = values[i, j]
            _activate(answers[i, :size], layers[i, 3], settings[i, 0], settings[i, 1])
        for j in range(size):
            changes[j] = _ONE if j // ROWS == column else _NOUGHT
        for back in range(len(layers)):
            i = len(layers) - 1 - back
            size, kind = layers[i, 1] * ROWS, layers[i, 3]
            passed, came = values[i, :size], answers[i, :size]
            _activate_back(changes[:size], passed, came, kind, settings[i, 0], settings[i, 1])
            _sum_up(changes, weights_back, before, layers_back[back])
            changes, before = before, changes
        for row in range(min(ROWS, len(matrix) - start)):
            for j in range(matrix.shape[1]):
                gradients[start + row, j] = changes[j * ROWS + row]


def packed(layers: Sequence[DenseLayer]) -> tuple[Shape, Float32, Float32]:
    """Put layers into the order in which `forward` reads them.

    Returns
    -------
    layers : NDArray[np.int64]
        ``(layers, 5)``; of each inputs, units, units that are summed up together, the place of
        its activation in `ACTIVATIONS`, and where its weights begin.
    settings : NDArray[np.float32]
        ``(layers, 2)``; its alpha and its ceiling.
    weights : NDArray[np.float32]
        For all units that are summed up together their biases, then for each input their weights;
        filled up with noughts where they are fewer.

    Raises
    ------
    ValueError
        When a layer is empty, or not as wide as the one before.
    """
    shapes, parts, at = [], [], 0
    given = len(layers[0].weights)
    for layer in layers:
        inputs, units = layer.weights.shape
        if not inputs or not units or inputs != given:
            raise ValueError("layers whose widths do not fit")  # the loops do not look
        given = units
        groups = -(-units // MOST_UNITS)
        width = -(-units // groups)
        whole = np.zeros((inputs + 1, groups * width), np.float32)
        whole[0, :units], whole[1:, :units] = layer.bias, layer.weights
        parts.append(whole.reshape(inputs + 1, groups, width).transpose(1, 0, 2).ravel())
        shapes.append((inputs, units, width, ACTIVATIONS.index(layer.activation.name), at))
        at += whole.size
    settings = [(layer.activation.alpha, layer.activation.ceiling) for layer in layers]
    return np.array(shapes), np.array(settings, np.float32), np.concatenate(parts)
