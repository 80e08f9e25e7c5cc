"""A model behind transformers that came beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.models.model import Capability, Inputs, MatrixModel, ModelCard, OpenedModel, Takes
from fairdesk.models.preparation.estimators import (
    TEXT_INPUT,
    categories_of_inputs,
    kinds_of_inputs,
    matrix_of,
    missing_of_inputs,
    reads_text,
    rows_for,
    transformed,
)

if TYPE_CHECKING:
    from fairdesk.models.structure import ModelStructure
    from fairdesk.results.events import Scores

#: What a model can no longer show of itself once its inputs are made by something else.
_HIDDEN = frozenset({Capability.GRADIENTS, Capability.LAYERS, Capability.TREES})


class PreparedModel:
    """An opened model whose rows go through transformers first.

    Parameters
    ----------
    before : sequence of (str, Any)
        Names and fitted transformers with scikit-learn's interface, in order.

    Raises
    ------
    ModelError
        When the first does not say how many columns it takes, or the last gives another number
        of them than the model takes.
    """

    def __init__(self, opened: OpenedModel, before: Sequence[tuple[str, Any]]) -> None:
        self.opened = opened
        self.before = list(before)
        self.card = _card(opened.card, self.before)

    def matrix_scores(self, matrix: NDArray[np.float64]) -> Scores:
        """Answer for ``(n, inputs)`` numbers; as `OpenedModel.scores`."""
        return self._answer(matrix)

    def scores(self, inputs: Inputs) -> Scores:
        """Answer for one array per input; as `OpenedModel.scores`."""
        return self._answer(rows_for(self.card, inputs))

    def structure(self) -> ModelStructure:
        """Return what is inside, transformers included.

        Raises
        ------
        OpaqueError
            When its arithmetic is not known, or is none that is read.
        """
        # not known to older Pythons, which open models too
        from fairdesk.models.preparation.column_sources import sources_of  # noqa: PLC0415
        from fairdesk.models.structure import structure_of  # noqa: PLC0415

        behind = getattr(self.opened, "structure_behind", None)
        if behind is not None:
            return cast("ModelStructure", behind(self.before, self.card))
        return sources_of(self.before, self.card).before(structure_of(self.opened))

    def _answer(self, rows: Any) -> Scores:  # noqa: ANN401 - a matrix, a pandas frame or texts
        made = self.made(rows)
        own = getattr(self.opened, "answer", None)
        if own is not None:
            return cast("Scores", own(made))
        if self.opened.card.takes is Takes.MATRIX:
            return cast("MatrixModel", self.opened).matrix_scores(made)
        return self.opened.scores([np.ascontiguousarray(column) for column in made.T])

    def made(self, rows: Any) -> Any:  # noqa: ANN401 - as above
        """Transform rows: what the model behind the transformers is given.

        Raises
        ------
        ModelError
            When one refuses them, or gives another number of columns than the model takes.
        """
        rows = transformed(self.before, rows, numbers=False)
        if hasattr(self.opened, "answer"):
            return rows
        matrix = matrix_of(rows)
        if matrix.ndim != 2 or matrix.shape[1] != len(self.opened.card.inputs):
            given = matrix.shape[1] if matrix.ndim == 2 else 1
            raise wrong_width(self.before[-1][0], given, len(self.opened.card.inputs))
        return matrix


def wrong_width(name: str, given: int, wanted: int, by: str = "the model") -> ModelError:
    """Return the error for a transformer that gives another number of columns than is taken."""
    return ModelError(
        f"“{name}” gives {given:,} columns, but {by} takes {wanted:,}.",
        why="It was fitted for another model, or something between them is missing.",
        remedy="Choose the files that belong together.",
    )


def _card(card: ModelCard, before: list[tuple[str, Any]]) -> ModelCard:
    name, first = before[0]
    names = getattr(first, "feature_names_in_", None)
    count = getattr(first, "n_features_in_", None)
    text = reads_text(first)
    inputs: tuple[str, ...]
    if text:
        takes, inputs = Takes.COLUMNS, (TEXT_INPUT,)
    elif names is not None:
        takes, inputs = Takes.COLUMNS, tuple(str(name) for name in names)
    elif isinstance(count, (int, np.integer)):
        inputs = tuple(f"input {i}" for i in range(1, int(count) + 1))
        # an encoder that was fitted on an array takes texts, though it knows no names
        texts = "text" in kinds_of_inputs(first, inputs)
        takes = Takes.COLUMNS if texts else Takes.MATRIX
    else:
        raise ModelError(
            f"“{name}” does not state how many columns it takes.",
            remedy="Fit it again with a newer version of scikit-learn.",
        )
    listed = ", then ".join(f"{type(part).__name__} (“{name}”)" for name, part in before)
    can = [ability for ability in card.can if ability not in _HIDDEN]
    if text and Capability.TEXT not in can:
        can.append(Capability.TEXT)
    hints = card.hints
    if hints.features and len(hints.features) != len(inputs):
        # they name what comes out of the transformers
        hints = msgspec.structs.replace(hints, features=())
    return msgspec.structs.replace(
        card,
        summary=f"{card.summary} Before it: {listed}.",
        takes=takes,
        inputs=inputs,
        named=not text and names is not None,
        can=tuple(can),
        accepts=kinds_of_inputs(first, inputs),
        categories=categories_of_inputs(first, inputs),
        missing=missing_of_inputs(first, inputs),
        hints=hints,
        read_as_data=False,
        prepared=True,
    )
