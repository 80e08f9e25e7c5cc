"""Networks of dense layers: put together from the steps of a file, computed by compiled loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.model import Inputs, ModelCard, as_matrix
from fairdesk.models.structure import (
    LINEAR,
    Activation,
    DenseLayer,
    Float32,
    ModelStructure,
    structure_of_network,
)
from fairdesk.results.events import Scores

Float64 = NDArray[np.float64]
#: What training tells about the last layer's number: an estimate, log-odds, or nothing.
Learnt = Literal["values", "log-odds", ""]

SIGMOID, SOFTMAX = Activation("sigmoid"), Activation("softmax")
WIDTHS = "layers whose widths do not fit"
#: Of these the greater input always has the greater answer, so the inputs can be compared.
_RISING = frozenset(
    {"elu", "exponential", "leaky_relu", "linear", "selu", "sigmoid", "softplus", "softsign"}
) | {"tanh"}


class NotPlainError(Exception):
    """The network is not a plain chain of dense layers; the message names what is not."""


@dataclass(frozen=True)
class Plain:
    """A network of dense layers.

    Attributes
    ----------
    layers : tuple[DenseLayer, ...]
        The layers, the last with one unit or with one per class.
    centre : NDArray[np.float64] or None
        As in `fairdesk.models.dense.layers.DenseNetwork`.
    widths : tuple[int, ...]
        Of the input and of each dense layer of the file.
    weights : int
        Trained numbers in the file's dense layers.
    classes : int
        How many the network tells apart; 0 where it estimates a number.
    scores : str
        As in `fairdesk.models.model.ModelCard`.
    warnings : tuple[str, ...]
        What the auditor must know.
    """

    layers: tuple[DenseLayer, ...]
    centre: Float64 | None
    widths: tuple[int, ...]
    weights: int
    classes: int
    scores: str
    warnings: tuple[str, ...]


@dataclass
class Chain:
    """Affine steps in double precision while they are put together.

    ``scale`` and ``shift`` are a step ``x * scale + shift`` that waits for the next layer.
    """

    steps: list[tuple[Float64, Float64, Activation]] = field(default_factory=list)
    scale: Float64 = field(default_factory=lambda: np.ones(()))
    shift: Float64 = field(default_factory=lambda: np.zeros(()))
    centre: Float64 | None = None
    widths: list[int] = field(default_factory=list)
    weights: int = 0

    def dense(self, weights: Float64, bias: Float64 | None) -> None:
        """Append a dense layer of the file, ``(inputs, units)`` and ``(units,)``."""
        self.widths += weights.shape if not self.widths else weights.shape[1:]
        self.weights += weights.size + (0 if bias is None else bias.size)
        self._append(weights, np.zeros(weights.shape[1]) if bias is None else bias)

    def affine(self, scale: Float64, shift: Float64) -> None:
        """Append ``x * scale + shift`` for each column."""
        sizes = {scale.size, shift.size, self.scale.size, self.shift.size, self.width or 1} - {1}
        if len(sizes) > 1 or (self.width == 1 and sizes):
            raise NotPlainError(WIDTHS)
        if self.steps and self.steps[-1][2].name == "linear":
            weights, bias, linear = self.steps[-1]
            self.steps[-1] = (weights * scale, bias * scale + shift, linear)
        else:
            self.scale = self.scale * scale
            self.shift = self.shift * scale + shift

    def activation(self, activation: Activation) -> None:
        """Append an activation."""
        if activation.name == "linear":
            return
        if self._waits() or not self.steps or self.steps[-1][2].name != "linear":
            self._identity()
        weights, bias, _ = self.steps[-1]
        self.steps[-1] = (weights, bias, activation)

    def leak(self, slopes: Float64) -> None:
        """Append a slope below zero for each unit: ``relu(x) - slopes * relu(-x)``."""
        if self._waits() or not self.steps or self.steps[-1][2].name != "linear":
            self._identity()
        weights, bias, _ = self.steps[-1]
        units = len(bias)
        both = np.hstack([weights, -weights]), np.concatenate([bias, -bias]), Activation("relu")
        self.steps[-1] = both
        back = np.vstack([np.eye(units), -np.diag(np.broadcast_to(slopes, units))])
        self._append(back, np.zeros(units))

    @property
    def width(self) -> int:
        """How many columns come out so far; 0 where nothing tells."""
        return len(self.steps[-1][1]) if self.steps else 0

    @property
    def adds_up(self) -> bool:
        """Whether what comes out are shares of a whole, or one of two."""
        last = self.steps[-1][2].name if self.steps and not self._waits() else ""
        return last == "softmax" or (last == "sigmoid" and self.width == 1)

    def finish(self, learnt: Learnt = "") -> Plain:
        """Make the last layer answer in scores per class, or in the score of class 1 of two.

        Parameters
        ----------
        learnt : Learnt
            What the file tells about how its answer was trained.

        Raises
        ------
        NotPlainError
            When there is no dense layer, or its answer is none of a classifier or an estimate.
        """
        if self._waits():
            self._identity()
        if not self.widths:
            raise NotPlainError("no dense layer")
        classes, scores, warnings = self._answer(learnt)
        # what overflows answers with no number, and is told as such
        with np.errstate(over="ignore"):
            layers = tuple(
                DenseLayer(weights.astype(np.float32), bias.astype(np.float32), activation)
                for weights, bias, activation in self.steps
            )
        return Plain(
            layers=layers,
            centre=self.centre,
            widths=tuple(self.widths),
            weights=self.weights,
            classes=classes,
            scores=scores,
            warnings=warnings,
        )

    def _waits(self) -> bool:
        return bool(self.scale.ndim or self.shift.ndim or self.scale != 1 or self.shift != 0)

    def _identity(self) -> None:
        width = self.width or max(self.scale.size, self.shift.size)
        if not self.steps and width == 1:
            raise NotPlainError("an activation before the first dense layer")
        self._append(np.eye(width), np.zeros(width))

    def _append(self, weights: Float64, bias: Float64) -> None:
        inputs = len(weights)
        if not weights.size:
            raise NotPlainError("a layer without units")
        sizes = {self.scale.size, self.shift.size} - {1, inputs}
        if sizes or self.width not in (0, inputs):
            raise NotPlainError(WIDTHS)
        scale = np.broadcast_to(self.scale, len(weights))
        shift = np.broadcast_to(self.shift, len(weights))
        if shift.any() and not self.steps and scale.all():
            self.centre = -shift / scale
        else:
            bias = bias + shift @ weights
        self.steps.append((weights * scale[:, None], bias, LINEAR))
        self.scale, self.shift = np.ones(()), np.zeros(())

    def _answer(self, learnt: Learnt) -> tuple[int, str, tuple[str, ...]]:
        """Return the number of classes, what the scores are, and what there is to warn of."""
        weights, bias, last = self.steps[-1]
        if len(bias) == 1:
            return self._one(learnt)
        if last.name == "softmax" and len(bias) > 2:
            return len(bias), "probabilities", ()
        if last.name == "linear" and len(bias) > 2:
            self.steps[-1] = (weights, bias, SOFTMAX)
            return len(bias), "scores", (LOGITS,)
        if len(bias) > 2:
            return len(bias), "scores", (EACH_FOR_ITSELF,)
        if last.name not in (*_RISING, "softmax"):
            raise NotPlainError(f"two outputs through “{last.name}”")
        # softmax over two is the sigmoid of their difference, which also tells the greater
        self.steps[-1] = (weights[:, 1:] - weights[:, :1], bias[1:] - bias[:1], SIGMOID)
        if last.name == "softmax":
            return 2, "probabilities", ()
        return 2, "scores", (LOGITS if last.name == "linear" else EACH_FOR_ITSELF,)

    def _one(self, learnt: Learnt) -> tuple[int, str, tuple[str, ...]]:
        weights, bias, last = self.steps[-1]
        if last.name == "sigmoid":
            return 2, "probabilities", ()
        if last.name == "softmax":
            return 2, "probabilities", (ALWAYS_ONE,)
        if last.name == "tanh":
            # (tanh(z) + 1) / 2 = sigmoid(2 z)
            self.steps[-1] = (2 * weights, 2 * bias, SIGMOID)
            return 2, "scores", (TANH,)
        if learnt == "values":
            return 0, "values", ()
        if last.name != "linear":
            return 0, "values", (ESTIMATE,)
        self.steps[-1] = (weights, bias, SIGMOID)
        return (2, "probabilities", ()) if learnt == "log-odds" else (2, "scores", (LOGIT,))


def network_sentence(widths: Sequence[int], weights: int) -> str:
    """Describe a network: ``"Dense network 3-4-1 with 20 weights."``."""
    return f"Dense network {'-'.join(str(width) for width in widths)} with {weights:,} weights."


LOGIT = (
    "Its last layer gives one plain number. It is read as log-odds: above 0 means class 1. "
    "Check the accuracy below."
)
TANH = "Its last layer gives one number between −1 and 1. Above 0 is read as class 1."
LOGITS = "Its last layer gives plain numbers, one for each class. The greatest is the decision."
EACH_FOR_ITSELF = "Its last layer gives each class a score by itself. The greatest is the decision."
ESTIMATE = (
    "Its last layer gives one number that is neither a probability nor log-odds. It is read "
    "as an estimate; choose the limit from which it is favourable."
)
ALWAYS_ONE = "Its last layer is a softmax of one number, which is always 1: it decides nothing."


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
    """

    steady = True

    def __init__(
        self,
        card: ModelCard,
        layers: Sequence[DenseLayer],
        centre: NDArray[np.float64] | None = None,
    ) -> None:
        self.card = card
        self.layers = tuple(layers)
        self.centre = centre

    def scores(self, inputs: Inputs) -> Scores:
        """Answer for one array per input; as `OpenedModel.scores`."""
        return self.matrix_scores(as_matrix(inputs))

    def gradients(self, matrix: NDArray[np.float64], column: int = 0) -> Float32:
        """Return how a score changes with each input.

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
        # compiled code is loaded where a model is asked, never in the window's process
        from fairdesk.models.dense.forward import backward  # noqa: PLC0415

        gradients = np.empty(matrix.shape, dtype=np.float32)
        backward(self._given(matrix), *self._packed, *self._packed_back, column, gradients)
        return gradients

    def structure(self) -> ModelStructure:
        """Return what is inside; see `fairdesk.models.structure.structure_of_network`."""
        return structure_of_network(self.layers, self.centre)

    def matrix_scores(self, matrix: NDArray[np.float64]) -> Scores:
        """Answer for ``(n, inputs)`` numbers: ``(n, units of the last layer)`` float32."""
        from fairdesk.models.dense.forward import forward  # noqa: PLC0415 - as above

        answers = np.empty((len(matrix), self.layers[-1].bias.size), dtype=np.float32)
        forward(self._given(matrix), *self._packed, answers)
        return answers

    def _given(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bring a matrix into the order that compiled loops read without looking."""
        if matrix.ndim != 2 or matrix.shape[1] != len(self.layers[0].weights):
            raise ValueError(f"a matrix of the shape {matrix.shape}")
        return np.ascontiguousarray(matrix, np.float64)

    @cached_property
    def _packed(self) -> tuple[NDArray[np.float64], NDArray[np.int64], Float32, Float32]:
        """What `fairdesk.models.dense.forward.forward` takes beside rows and answers."""
        from fairdesk.models.dense.forward import packed  # noqa: PLC0415 - as above

        centre = np.zeros(len(self.layers[0].weights)) if self.centre is None else self.centre
        return centre.astype(np.float64), *packed(self.layers)

    @cached_property
    def _packed_back(self) -> tuple[NDArray[np.int64], Float32]:
        """What `fairdesk.models.dense.forward.backward` takes beside that."""
        from fairdesk.models.dense.forward import packed  # noqa: PLC0415 - as above

        turned = [
            DenseLayer(layer.weights.T, np.zeros(len(layer.weights), np.float32), LINEAR)
            for layer in reversed(self.layers)
        ]
        shapes, _, weights = packed(turned)
        return shapes, weights
