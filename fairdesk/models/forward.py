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
from collections.abc import Callable, Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from fairdesk.models.dense import ACTIVATIONS, DenseLayer, Float32
from fairdesk.models.lanes import (
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

Float64 = NDArray[np.float64]
#: Of layers: inputs, units, units that are summed up together, the activation's place.
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


@njit
def _at_least(x: np.float32, least: np.float32) -> np.float32:
    """Unlike `max`, this lets what is no number stay so."""
    return least if x < least else x  # noqa: FURB136 - see above


@njit
def _at_most(x: np.float32, most: np.float32) -> np.float32:
    """As `_at_least`."""
    return most if x > most else x  # noqa: FURB136 - see above


@njit
def _power(x: np.float32) -> tuple[np.float32, np.float32, np.float32]:
    """Take ``exp(x)`` apart: ``(1 + rest) * first * second``, these two being powers of 2."""
    x = _at_most(_at_least(x, _LEAST_POWER), _MOST_POWER)
    whole = np.floor(x * _LOG2_E + _HALF)
    x = (x - whole * _LN_2) - whole * _LN_2_REST
    rest = ((((_C0 * x + _C1) * x + _C2) * x + _C3) * x + _C4) * x + _C5
    power = np.int32(whole if whole == whole else _NOUGHT)  # noqa: PLR0124 - it may be no number
    half = power >> np.int32(1)
    first = as_float(np.int32((half + np.int32(127)) << np.int32(23)))
    second = as_float(np.int32((power - half + np.int32(127)) << np.int32(23)))
    return rest * x * x + x, first, second


@njit
def _exp(x: np.float32) -> np.float32:
    rest, first, second = _power(x)
    return (_ONE + rest) * first * second


@njit
def _expm1(x: np.float32) -> np.float32:
    """Give ``exp(x) - 1`` for a number that is not above 0."""
    rest, first, second = _power(x)
    return rest * first * second + (first * second - _ONE)


@njit
def _logistic(x: np.float32) -> np.float32:
    return _ONE / (_ONE + _exp(-x))


@njit
def _tanh(x: np.float32) -> np.float32:
    change = _expm1(-_TWO * abs(x))
    size = -change / (change + _TWO)
    return -size if x < _NOUGHT else size


def _each(function: Callable[..., np.float32]) -> Callable[..., None]:
    """Make a loop that applies a function of one number to many, in place."""

    @njit
    def loop(values: Float32, alpha: np.float32, ceiling: np.float32) -> None:
        for i in range(values.size):
            values[i] = function(values[i], alpha, ceiling)

    applied: Callable[..., None] = loop
    return applied


_relu = _each(njit(lambda x, _, ceiling: _at_most(x, ceiling)))
_leaky_relu = _each(njit(lambda x, alpha, _: x * alpha if x < _NOUGHT else x))
_elu = _each(njit(lambda x, alpha, _: _expm1(x) * alpha if x < _NOUGHT else x))
_selu = _each(njit(lambda x, *_: (_expm1(x) * _SELU_DEPTH if x < _NOUGHT else x) * _SELU_SCALE))
_sigmoid = _each(njit(lambda x, *_: _logistic(x)))
_tangent = _each(njit(lambda x, *_: _tanh(x)))
_softplus = _each(njit(lambda x, *_: _at_least(x, _NOUGHT) + np.float32(math.log1p(_exp(-abs(x))))))
_softsign = _each(njit(lambda x, *_: x / (abs(x) + _ONE)))
_exponential = _each(njit(lambda x, *_: _exp(x)))
_silu = _each(njit(lambda x, *_: x * _logistic(x)))
_thresholded_relu = _each(njit(lambda x, alpha, _: _NOUGHT if x <= alpha else x))


@njit
def _activate(values: Float32, kind: int, alpha: np.float32, ceiling: np.float32) -> None:
    """Apply an activation to ``(units * ROWS,)`` numbers, in place."""
    if kind == _RELU and ceiling < np.inf:
        _relu(values, alpha, ceiling)
    elif kind == _LEAKY_RELU:
        _leaky_relu(values, alpha, ceiling)
    elif kind == _ELU:
        _elu(values, alpha, ceiling)
    elif kind == _SELU:
        _selu(values, alpha, ceiling)
    elif kind == _SIGMOID:
        _sigmoid(values, alpha, ceiling)
    elif kind == _TANH:
        _tangent(values, alpha, ceiling)
    elif kind == _SOFTPLUS:
        _softplus(values, alpha, ceiling)
    elif kind == _SOFTSIGN:
        _softsign(values, alpha, ceiling)
    elif kind == _EXPONENTIAL:
        _exponential(values, alpha, ceiling)
    elif kind == _SILU:
        _silu(values, alpha, ceiling)
    elif kind == _THRESHOLDED_RELU:
        _thresholded_relu(values, alpha, ceiling)
    elif kind == _SOFTMAX:
        _softmax(values.reshape(-1, ROWS))


@njit
def _softmax(values: Float32) -> None:
    """Make shares of a whole of ``(units, ROWS)`` numbers, row by row, in place."""
    most, whole = values[0].copy(), np.zeros(ROWS, np.float32)
    for unit in range(1, len(values)):
        for row in range(ROWS):
            most[row] = _at_least(values[unit, row], most[row])
    for unit in range(len(values)):
        for row in range(ROWS):
            values[unit, row] = _exp(values[unit, row] - most[row])
            whole[row] += values[unit, row]
    for unit in range(len(values)):
        for row in range(ROWS):
            values[unit, row] /= whole[row]


@njit
def _sum_up(source: Float32, weights: Float32, at: int, target: Float32, layer: Shape) -> int:
    """Compute a layer; gives the place where the next one's weights begin."""
    inputs, units, width, kind = layer
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
    return at


@njit
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


@njit(
    "void(float64[:, ::1], float64[::1], int64[:, ::1], float32[:, ::1], float32[::1],"
    " float32[:, ::1])",
    cache=True,
    nogil=True,
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
    widest = max(matrix.shape[1], layers[:, 1].max() + MOST_UNITS)
    source, target = np.empty(widest * ROWS, np.float32), np.empty(widest * ROWS, np.float32)
    for start in range(0, len(matrix), ROWS):
        _load(matrix, start, centre, source)
        at = 0
        for i in range(len(layers)):
            at = _sum_up(source, weights, at, target, layers[i])
            values = target[: layers[i, 1] * ROWS]
            _activate(values, layers[i, 3], settings[i, 0], settings[i, 1])
            source, target = target, source
        for row in range(min(ROWS, len(matrix) - start)):
            for unit in range(answers.shape[1]):
                answers[start + row, unit] = source[unit * ROWS + row]


def _each_slope(function: Callable[..., np.float32]) -> Callable[..., None]:
    """Make a loop that multiplies changes, in place, by a function's derivative at each number.

    The function is given what went into the activation and what came out.
    """

    @njit
    def loop(
        changes: Float32,
        values: Float32,
        answers: Float32,
        alpha: np.float32,
        ceiling: np.float32,
    ) -> None:
        for i in range(changes.size):
            changes[i] *= function(values[i], answers[i], alpha, ceiling)

    applied: Callable[..., None] = loop
    return applied


_relu_back = _each_slope(njit(lambda x, _, __, top: _ONE if _NOUGHT < x < top else _NOUGHT))
_leaky_relu_back = _each_slope(njit(lambda x, _, alpha, __: alpha if x < _NOUGHT else _ONE))
_elu_back = _each_slope(njit(lambda x, y, alpha, _: y + alpha if x < _NOUGHT else _ONE))
_selu_back = _each_slope(
    njit(lambda x, y, *_: y + _SELU_DEPTH * _SELU_SCALE if x < _NOUGHT else _SELU_SCALE)
)
# not 1 - y, which is nought long before the slope is
_sigmoid_back = _each_slope(njit(lambda x, y, *_: y * _logistic(-x)))
_tangent_back = _each_slope(
    njit(lambda x, *_: _TWO * _TWO * _logistic(_TWO * x) * _logistic(-_TWO * x))
)
_softplus_back = _each_slope(njit(lambda x, *_: _logistic(x)))
_softsign_back = _each_slope(njit(lambda x, *_: _ONE / (abs(x) + _ONE) / (abs(x) + _ONE)))
_exponential_back = _each_slope(njit(lambda _, y, *__: y))
_silu_back = _each_slope(njit(lambda x, y, *_: _logistic(x) + y * _logistic(-x)))
_thresholded_relu_back = _each_slope(njit(lambda x, _, alpha, __: _ONE if x > alpha else _NOUGHT))


@njit
def _activate_back(
    changes: Float32,
    values: Float32,
    answers: Float32,
    kind: int,
    alpha: np.float32,
    ceiling: np.float32,
) -> None:
    """Take changes back through an activation, in place: the chain rule."""
    if kind == _RELU:
        _relu_back(changes, values, answers, alpha, ceiling)
    elif kind == _LEAKY_RELU:
        _leaky_relu_back(changes, values, answers, alpha, ceiling)
    elif kind == _ELU:
        _elu_back(changes, values, answers, alpha, ceiling)
    elif kind == _SELU:
        _selu_back(changes, values, answers, alpha, ceiling)
    elif kind == _SIGMOID:
        _sigmoid_back(changes, values, answers, alpha, ceiling)
    elif kind == _TANH:
        _tangent_back(changes, values, answers, alpha, ceiling)
    elif kind == _SOFTPLUS:
        _softplus_back(changes, values, answers, alpha, ceiling)
    elif kind == _SOFTSIGN:
        _softsign_back(changes, values, answers, alpha, ceiling)
    elif kind == _EXPONENTIAL:
        _exponential_back(changes, values, answers, alpha, ceiling)
    elif kind == _SILU:
        _silu_back(changes, values, answers, alpha, ceiling)
    elif kind == _THRESHOLDED_RELU:
        _thresholded_relu_back(changes, values, answers, alpha, ceiling)
    elif kind == _SOFTMAX:
        _softmax_back(changes.reshape(-1, ROWS), values.reshape(-1, ROWS))


@njit
def _softmax_back(changes: Float32, values: Float32) -> None:
    """As `_activate_back`, of ``(units, ROWS)``.

    In double precision, for near 1 an answer has no digits left for what it lacks.
    """
    shares = np.empty(len(values))
    for row in range(ROWS):
        most = values[:, row].max()
        for unit in range(len(values)):
            shares[unit] = math.exp(values[unit, row] - most)
        shares /= shares.sum()
        mean = 0.0
        for unit in range(len(values)):
            mean += shares[unit] * changes[unit, row]
        for unit in range(len(values)):
            changes[unit, row] = np.float32(shares[unit] * (changes[unit, row] - mean))


@njit(
    "void(float64[:, ::1], float64[::1], int64[:, ::1], float32[:, ::1], float32[::1],"
    " int64[:, ::1], float32[::1], int64, float32[:, ::1])",
    cache=True,
    nogil=True,
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
    column : int
        Which answer.
    gradients : NDArray[np.float32]
        ``(n, inputs)``; filled.
    """
    widest = max(matrix.shape[1], layers[:, 1].max()) + MOST_UNITS
    first = np.empty(widest * ROWS, np.float32)
    values = np.empty((len(layers), widest * ROWS), np.float32)
    answers = np.empty((len(layers), widest * ROWS), np.float32)
    changes, before = np.empty(widest * ROWS, np.float32), np.empty(widest * ROWS, np.float32)
    for start in range(0, len(matrix), ROWS):
        _load(matrix, start, centre, first)
        at = 0
        for i in range(len(layers)):
            source = first if i == 0 else answers[i - 1]
            at = _sum_up(source, weights, at, values[i], layers[i])
            size = layers[i, 1] * ROWS
            answers[i, :size] = values[i, :size]
            _activate(answers[i, :size], layers[i, 3], settings[i, 0], settings[i, 1])
        changes[: layers[-1, 1] * ROWS] = _NOUGHT
        changes[column * ROWS : (column + 1) * ROWS] = _ONE
        at = 0
        for back in range(len(layers)):
            i = len(layers) - 1 - back
            size, kind = layers[i, 1] * ROWS, layers[i, 3]
            passed, came = values[i, :size], answers[i, :size]
            _activate_back(changes[:size], passed, came, kind, settings[i, 0], settings[i, 1])
            at = _sum_up(changes, weights_back, at, before, layers_back[back])
            changes, before = before, changes
        for row in range(min(ROWS, len(matrix) - start)):
            for j in range(matrix.shape[1]):
                gradients[start + row, j] = changes[j * ROWS + row]


def packed(layers: Sequence[DenseLayer]) -> tuple[Shape, Float32, Float32]:
    """Put layers into the order in which `forward` reads them.

    Parameters
    ----------
    layers : sequence of DenseLayer
        From input to output.

    Returns
    -------
    layers : NDArray[np.int64]
        ``(layers, 4)``; of each inputs, units, units that are summed up together, and the place
        of its activation in `ACTIVATIONS`.
    settings : NDArray[np.float32]
        ``(layers, 2)``; its alpha and its ceiling.
    weights : NDArray[np.float32]
        For all units that are summed up together their biases, then for each input their weights;
        filled up with noughts where they are fewer.
    """
    shapes, parts = [], []
    for layer in layers:
        inputs, units = layer.weights.shape
        groups = -(-units // MOST_UNITS)
        width = -(-units // groups)
        whole = np.zeros((inputs + 1, groups * width), np.float32)
        whole[0, :units], whole[1:, :units] = layer.bias, layer.weights
        parts.append(whole.reshape(inputs + 1, groups, width).transpose(1, 0, 2).ravel())
        shapes.append((inputs, units, width, ACTIVATIONS.index(layer.activation.name)))
    settings = [(layer.activation.alpha, layer.activation.ceiling) for layer in layers]
    return np.array(shapes), np.array(settings, np.float32), np.concatenate(parts)
