"""Networks of dense layers, read as numbers; computed by compiled loops, derivatives by NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.events import Scores
from fairdesk.models.model import Inputs, ModelCard

Float32 = NDArray[np.float32]

#: The layers' outputs of so many bytes stay in a core's cache while a chunk passes through.
CHUNK_BYTES = 768 * 1024
#: Rows of a chunk: fewer pay for calls more than for arithmetic, more gain nothing.
LEAST_CHUNK, MOST_CHUNK = 128, 4096


@dataclass(frozen=True, slots=True)
class Activation:
    """An activation function.

    Attributes
    ----------
    name : str
        A key of `ACTIVATIONS`, or ``"linear"`` or ``"softmax"``.
    alpha : float
        The slope below zero of ``leaky_relu``, the depth of ``elu``, the limit up to which
        ``thresholded_relu`` answers 0; else without meaning.
    ceiling : float
        Of ``relu``: no answer is above it.
    """

    name: str
    alpha: float = 0.0
    ceiling: float = float("inf")

    def __call__(self, values: Float32) -> None:
        """Apply to a batch ``(n, units)``, in place."""
        if self.name == "softmax":
            _softmax(values)
        elif self.name != "linear":
            ACTIVATIONS[self.name](values, self)

    def back(self, changes: Float32, values: Float32, answers: Float32) -> Float32:
        """Take changes back through the function (the chain rule).

        Parameters
        ----------
        changes : NDArray[np.float32]
            ``(n, units)``; how a result changes with each answer.
        values, answers : NDArray[np.float32]
            ``(n, units)``; what went in and what came out.

        Returns
        -------
        NDArray[np.float32]
            ``(n, units)``; how the result changes with each value.
        """
        if self.name == "linear":
            return changes
        if self.name == "softmax":
            # in double precision, for near 1 an answer has no digits left for what it lacks
            shares = values.astype(np.float64)
            _softmax(shares)
            back = shares * (changes - (changes * shares).sum(axis=1, keepdims=True))
            return np.asarray(back, dtype=np.float32)
        slopes: Float32 = SLOPES[self.name](values, answers, self)
        return changes * slopes


@dataclass(frozen=True, slots=True)
class DenseLayer:
    """One layer: ``activation(x @ weights + bias)``.

    Attributes
    ----------
    weights : NDArray[np.float32]
        ``(inputs, units)``.
    bias : NDArray[np.float32]
        ``(units,)``.
    activation : Activation
        Applied to each unit; ``softmax`` over all of them.
    """

    weights: Float32
    bias: Float32
    activation: Activation


class DenseNetwork:
    """A chain of dense layers: an opened model that runs no code but our own.

    Equal rows have equal answers, to the last bit, in whatever batch and wherever in it.

    Parameters
    ----------
    card : ModelCard
        What it is; ``card.takes`` is the matrix.
    layers : sequence of DenseLayer
        From input to output; each as wide as the next one expects. The last has one unit with
        answers in 0..1 (the score of class 1), or one unit per class for three or more.
    centre : NDArray[np.float64], optional
        ``(inputs,)``; subtracted from the input in double precision before the first layer, so
        that a large number with a small spread (a year) keeps its digits.

    Attributes
    ----------
    steady : bool
        True: where a row stands in a batch changes no bit of its answer.
    layers : tuple[DenseLayer, ...]
        The layers, for gradients and bounds.
    centre : NDArray[np.float64] or None
        As given.
    """

    steady = True

    def __init__(
        self,
        card: ModelCard,
        layers: Sequence[DenseLayer],
        centre: NDArray[np.float64] | None = None,
    ) -> None:
        self._card = card
        self.layers = tuple(layers)
        self.centre = centre
        width = sum(sum(layer.weights.shape) for layer in self.layers)
        self._chunk = min(max(CHUNK_BYTES // (4 * width), LEAST_CHUNK), MOST_CHUNK)

    @property
    def card(self) -> ModelCard:
        """What it is."""
        return self._card

    def scores(self, inputs: Inputs) -> Scores:
        """Answer for one array per input; as `OpenedModel.scores`."""
        return self.matrix_scores(as_matrix(inputs))

    def gradients(self, matrix: NDArray[np.float64], column: int = 0) -> Float32:
        """Tell how a score changes with each input.

        Parameters
        ----------
        matrix : NDArray[np.float64]
            ``(n, inputs)``.
        column : int
            Which column of `scores`.

        Returns
        -------
        NDArray[np.float32]
            ``(n, inputs)``; the derivative of that score by each input. Far from the limit between
            two classes it is small, but not rounded to zero.
        """
        gradients = np.empty(matrix.shape, dtype=np.float32)
        for start in range(0, len(matrix), self._chunk):
            chunk = slice(start, start + self._chunk)
            gradients[chunk] = self._backward(matrix[chunk], column)
        return gradients

    def _backward(self, matrix: NDArray[np.float64], column: int) -> Float32:
        answers = (matrix if self.centre is None else matrix - self.centre).astype(np.float32)
        passed = []
        for layer in self.layers:
            values = answers @ layer.weights + layer.bias
            answers = values.copy()
            layer.activation(answers)
            passed.append((values, answers))
        changes = np.zeros_like(answers)
        changes[:, column] = 1
        for layer, (values, answers) in zip(self.layers[::-1], passed[::-1], strict=True):
            changes = layer.activation.back(changes, values, answers) @ layer.weights.T
        return changes

    def matrix_scores(self, matrix: NDArray[np.float64]) -> Scores:
        """Answer for ``(n, inputs)`` numbers: ``(n, units of the last layer)`` float32."""
        # compiled code is loaded where a model is asked, never in the window's process
        from fairdesk.models.forward import forward  # noqa: PLC0415

        answers = np.empty((len(matrix), self.layers[-1].bias.size), dtype=np.float32)
        forward(np.ascontiguousarray(matrix, np.float64), *self._packed, answers)
        return answers

    @cached_property
    def _packed(self) -> tuple[NDArray[np.float64], NDArray[np.int64], Float32, Float32]:
        """What `fairdesk.models.forward.forward` takes beside rows and answers."""
        from fairdesk.models.forward import packed  # noqa: PLC0415 - as above

        centre = np.zeros(len(self.layers[0].weights)) if self.centre is None else self.centre
        return centre.astype(np.float64), *packed(self.layers)


def as_matrix(inputs: Inputs) -> NDArray[np.float64]:
    """Put one array per input side by side: ``(n, inputs)``.

    Raises
    ------
    ModelError
        When one of them is text.
    """
    try:
        return np.column_stack(inputs).astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise ModelError(
            "The model takes a number where it was given text.",
            why=f"The first value that is none: {error}.",
            remedy="Check that each input is made from the right column.",
        ) from error


def _relu(values: Float32, activation: Activation) -> None:
    if activation.ceiling == float("inf"):
        np.maximum(values, 0, out=values)
    else:
        np.clip(values, 0, activation.ceiling, out=values)


def _leaky_relu(values: Float32, activation: Activation) -> None:
    np.multiply(values, np.float32(activation.alpha), out=values, where=values < 0)


def _elu(values: Float32, activation: Activation) -> None:
    below = np.expm1(np.minimum(values, 0)) * np.float32(activation.alpha)
    np.copyto(values, below, where=values < 0)


def _selu(values: Float32, _: Activation) -> None:
    # the constants of Klambauer et al. 2017
    _elu(values, Activation("elu", alpha=1.6732632423543772))
    values *= np.float32(1.0507009873554805)


def _sigmoid(values: Float32, _: Activation) -> None:
    # exp overflows to infinity far below zero, and its reciprocal is the right answer, 0
    with np.errstate(over="ignore"):
        np.negative(values, out=values)
        np.exp(values, out=values)
    values += 1
    np.reciprocal(values, out=values)


def _tanh(values: Float32, _: Activation) -> None:
    np.tanh(values, out=values)


def _softplus(values: Float32, _: Activation) -> None:
    np.logaddexp(values, 0, out=values)


def _softsign(values: Float32, _: Activation) -> None:
    values /= np.abs(values) + 1


def _exponential(values: Float32, _: Activation) -> None:
    np.exp(values, out=values)


def _silu(values: Float32, activation: Activation) -> None:
    gate = values.copy()
    _sigmoid(gate, activation)
    values *= gate


def _thresholded_relu(values: Float32, activation: Activation) -> None:
    values[values <= np.float32(activation.alpha)] = 0


def _softmax(values: NDArray[np.floating]) -> None:
    values -= values.max(axis=1, keepdims=True)
    np.exp(values, out=values)
    values /= values.sum(axis=1, keepdims=True)


#: The functions that work on each number by itself, in place.
ACTIVATIONS: dict[str, Callable[[Float32, Activation], None]] = {
    "relu": _relu,
    "leaky_relu": _leaky_relu,
    "elu": _elu,
    "selu": _selu,
    "sigmoid": _sigmoid,
    "tanh": _tanh,
    "softplus": _softplus,
    "softsign": _softsign,
    "exponential": _exponential,
    "silu": _silu,
    "thresholded_relu": _thresholded_relu,
}


def _logistic(values: Float32) -> Float32:
    answers = values.copy()
    _sigmoid(answers, Activation("sigmoid"))
    return answers


def _slope_below(at_zero: float, values: Float32, answers: Float32, depth: float) -> Float32:
    """Give the slope of ``depth * expm1(x)`` below zero, and ``at_zero`` above."""
    return np.where(values < 0, answers + np.float32(depth), np.float32(at_zero))


#: The derivatives of these functions (also as true and false for 1 and 0), made from what went in
#: and what came out.
SLOPES: dict[str, Callable[[Float32, Float32, Activation], Any]] = {
    "relu": lambda x, _, f: (x > 0) & (x < f.ceiling),
    "leaky_relu": lambda x, _, f: np.where(x < 0, np.float32(f.alpha), np.float32(1)),
    "elu": lambda x, y, f: _slope_below(1, x, y, f.alpha),
    "selu": lambda x, y, _: _slope_below(1.0507009873554805, x, y, 1.7580993408473766),
    # not 1 - y, which is zero long before the slope is
    "sigmoid": lambda x, y, _: y * _logistic(-x),
    "tanh": lambda x, *_: 4 * _logistic(2 * x) * _logistic(-2 * x),
    "softplus": lambda x, *_: _logistic(x),
    "softsign": lambda x, *_: 1 / (np.abs(x) + 1) ** 2,
    "exponential": lambda _, y, __: y,
    "silu": lambda x, y, _: _logistic(x) + y * _logistic(-x),
    "thresholded_relu": lambda x, _, f: x > np.float32(f.alpha),
}
