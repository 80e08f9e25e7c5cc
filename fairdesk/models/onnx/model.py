"""An ONNX model, computed by ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.models.decisions.outputs import (
    from_classes,
    from_margins,
    from_probabilities,
    from_values,
    without_gradients,
)
from fairdesk.models.decisions.tensors import fill, fill_matrix
from fairdesk.models.dense.layers import DenseNetwork
from fairdesk.models.model import Inputs, ModelCard
from fairdesk.models.onnx.asking import Asked
from fairdesk.models.onnx.meaning import OutputMeaning, columns_of
from fairdesk.models.structure.dense_layers import DenseLayer, Float32
from fairdesk.models.structure.networks import structure_of_forest, structure_of_network
from fairdesk.models.structure.types import Forest, ModelStructure, OpaqueError
from fairdesk.results.events import Scores


class OnnxModel:
    """An ONNX model.

    Parameters
    ----------
    network : DenseNetwork, optional
        The same as dense layers, where it is such a network.
    forest : Forest, optional
        The same as trees over its inputs, where it is nothing else.

    Attributes
    ----------
    layers : tuple[DenseLayer, ...]
        Its dense layers, as in `DenseNetwork`; empty where it is no such network.
    centre : NDArray[np.float64] or None
        As in `DenseNetwork`.
    roundings : int, optional
        Where it is known how its own arithmetic rounds, for the dense layers' numbers stand in
        the file as they are: how often each input is rounded before the first of them. ``None``
        where it is not known.
    """

    def __init__(
        self,
        card: ModelCard,
        runner: Asked,
        answer: OutputMeaning,
        network: DenseNetwork | None = None,
        forest: Forest | None = None,
    ) -> None:
        self._card = card
        self._runner = runner
        self._answer = answer
        self._network = network
        self.forest = forest
        self.roundings: int | None = None
        self.layers: tuple[DenseLayer, ...] = network.layers if network else ()
        self.centre = network.centre if network else None
        self._places = {name: i for i, name in enumerate(card.classes)}

    @property
    def card(self) -> ModelCard:
        """What it is."""
        return self._card

    def matrix_scores(self, matrix: NDArray[np.float64]) -> Scores:
        """Answer for ``(n, inputs)`` numbers; as `OpenedModel.scores`."""
        return self._scores([fill_matrix(self._runner.tensors[0], matrix)])

    def scores(self, inputs: Inputs) -> Scores:
        """Answer for one array per input; as `OpenedModel.scores`."""
        return self._scores(fill(self._runner.tensors, inputs))

    def structure(self) -> ModelStructure:
        """Return what is inside.

        Raises
        ------
        OpaqueError
            When its arithmetic is none that can be followed.
        """
        if self.roundings is not None:
            return structure_of_network(self.layers, self.centre, self.roundings)
        if self.forest is not None:
            return structure_of_forest(self.forest, len(self._card.inputs))
        raise OpaqueError("only its outputs are available")

    def gradients(self, matrix: NDArray[np.float64], column: int = 0) -> Float32:
        """Return how a score changes with each input; as `DenseNetwork.gradients`.

        Raises
        ------
        ModelError
            When the model is no network of dense layers.
        """
        if self._network is None:
            raise without_gradients("It is not a network of dense layers.")
        return self._network.gradients(matrix, column)

    def _scores(self, tensors: list[NDArray[Any]]) -> Scores:
        batches = self._runner(self._answer.name, tensors)
        scores = [self._from_answers(batch) for batch in batches]
        if len(scores) == 1:
            return scores[0]
        classes = len(self._card.classes)
        nobody = np.empty((0, classes if classes > 2 else 1), dtype=np.float32)
        return np.concatenate([nobody, *scores])

    def _from_answers(self, answers: Any) -> Scores:  # noqa: ANN401 - a list of dictionaries or an array
        kind = self._answer.scores
        if kind == "labels":
            chosen = [self._places.get(str(value), -1) for value in np.ravel(answers).tolist()]
            if -1 in chosen:
                raise ModelError(
                    f"The model returned a class that is not one of {', '.join(self._places)}.",
                    remedy="Ask for the model with its probabilities as an output.",
                )
            return from_classes(np.array(chosen, dtype=np.intp), len(self._places))
        columns = (
            self._from_dictionaries(answers) if self._answer.dictionaries else columns_of(answers)
        )
        if kind == "values":
            return from_values(columns)
        return from_margins(columns) if kind == "scores" else from_probabilities(columns)

    def _from_dictionaries(self, answers: list[dict[int | str, float]]) -> NDArray[np.float64]:
        """Return dictionaries from classes to probabilities as columns in the order of the card."""
        columns = np.empty((len(answers), len(self._places)))
        if answers:
            places = [self._places.get(str(key), -1) for key in answers[0]]
            if len(places) != len(self._places) or -1 in places:
                raise ModelError(
                    "The model returns classes that its file does not name.",
                    remedy="Export the model again.",
                )
            columns[:, places] = [list(row.values()) for row in answers]
        return columns
