"""Networks of dense layers, read as numbers, computed by compiled loops."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.model import Inputs, ModelCard, as_matrix
from fairdesk.models.structure import (
    LINEAR,
    DenseLayer,
    Float32,
    ModelStructure,
    structure_of_network,
)
from fairdesk.results.events import Scores


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
