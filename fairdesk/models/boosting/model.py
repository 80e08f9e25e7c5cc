"""Boosted trees as an opened model."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.boosting.ensemble import TINY, Ensemble, Linear
from fairdesk.models.boosting.inside import anatomy_of_body
from fairdesk.models.decisions.outputs import (
    from_classes,
    from_margins,
    from_probabilities,
    from_values,
    numbers_of,
)
from fairdesk.models.model import Inputs, ModelCard, as_matrix
from fairdesk.models.structure.types import ModelStructure
from fairdesk.results.events import Scores

if TYPE_CHECKING:
    from fairdesk.models.boosting.kernels import Packed

Float64 = NDArray[np.float64]


class BoostedModel:
    """Boosted trees, or a boosted linear model: numbers, computed by compiled loops.

    Equal rows have equal answers, to the last bit, in whatever batch and wherever in it.

    Attributes
    ----------
    steady : bool
        True: where a row stands in a batch changes no bit of its answer.
    """

    steady = True

    def __init__(self, card: ModelCard, body: Ensemble | Linear) -> None:
        self._card = card
        self.body = body

    @property
    def card(self) -> ModelCard:
        """What it is."""
        return self._card

    def scores(self, inputs: Inputs) -> Scores:
        """Answer for one array per input; as `OpenedModel.scores`."""
        return self.matrix_scores(as_matrix(inputs))

    def matrix_scores(self, matrix: Float64) -> Scores:
        """Answer for ``(n, inputs)`` numbers; as `OpenedModel.scores`."""
        answers = self.answers(matrix)
        match self._card.scores:
            case "probabilities":
                return from_probabilities(answers)
            case "scores":
                return from_margins(answers)
            case "labels":
                return from_classes(answers[:, 0].astype(np.intp), 2)
            case _:
                return from_values(answers)

    def answers(self, matrix: Float64) -> NDArray[Any]:
        """Return what the library answers for ``(n, inputs)`` numbers: ``(n, k)``.

        Raises
        ------
        ModelError
            When a number is too large for the model's precision.
        """
        # compiled code is loaded where a model is asked, never in the window's process
        from fairdesk.models.boosting.kernels import (  # noqa: PLC0415
            add_up,
            add_weighted,
            linked,
        )

        body = self.body
        if matrix.ndim != 2 or matrix.shape[1] != body.width:
            raise ValueError(f"a matrix of the shape {matrix.shape}")
        rows = given(body, matrix)
        if isinstance(body, Linear):
            totals: NDArray[Any] = np.tile(body.bias.astype(np.float32), (len(rows), 1))
            add_weighted(rows, body.weights.astype(np.float32), totals)
        else:
            totals = np.tile(body.base.astype(body.precision), (len(rows), 1))
            trees, value = self._packed
            add_up(rows, trees, value, totals)
            if body.share > 1:
                totals /= body.share
            if body.scale != 1.0:
                totals *= body.scale
        linked(totals, body.link)
        return totals

    def structure(self) -> ModelStructure:
        """Look into it.

        Raises
        ------
        OpaqueError
            When its arithmetic is none that can be followed.
        """
        return anatomy_of_body(self.body, self._card)

    @cached_property
    def _packed(self) -> tuple[Packed, NDArray[Any]]:
        from fairdesk.models.boosting.kernels import packed  # noqa: PLC0415 - as above

        if not isinstance(self.body, Ensemble):
            raise TypeError("no trees")
        return packed(self.body)


def given(body: Ensemble | Linear, matrix: Float64) -> Float64:
    """Make of ``(n, inputs)`` numbers those that the library compares.

    Raises
    ------
    ModelError
        When one is too large for the model's precision.
    """
    if isinstance(body, Linear) or body.precision is np.float32:
        return np.ascontiguousarray(numbers_of(matrix, np.float32), np.float64)
    rows = np.where(np.abs(matrix) <= TINY, 0.0, matrix)
    named = body.categorical
    rows[:, named] = np.trunc(rows[:, named])
    return rows
