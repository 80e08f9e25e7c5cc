"""What the searches ask: a model over the domain's rows. What an opened file must offer."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.events import Rows, Scores

#: One array per model input, all of one length: numbers (float64) or texts (object).
Inputs = list[NDArray[np.float64] | NDArray[np.object_]]


class Takes(StrEnum):
    """What a model wants to be given."""

    MATRIX = "matrix"
    """One matrix of numbers; columns are told apart by their position."""
    COLUMNS = "columns"
    """Named columns, numbers or texts, as the table has them."""


class ModelCard(msgspec.Struct, frozen=True):
    """What an opened model file is, told before anything is asked of it.

    Attributes
    ----------
    path, sha256 : str
        The file and its fingerprint.
    format : str
        For people: ``"Keras 3 network"``, ``"scikit-learn 1.9.1 pipeline"``, ``"ONNX model"``.
    summary : str
        What is inside, one sentence: ``"Dense network 12-30-20-15-15-10-1, 1,396 weights"``.
    takes : Takes
        How rows are given to it.
    inputs : tuple[str, ...]
        The names of its inputs where the file knows them, else ``"input 1"``, ``"input 2"``, ...
    named : bool
        Whether those names are the file's own (then columns are matched by name).
    classes : tuple[str, ...]
        The names of its classes; two or more; ``("0", "1")`` where the file names none.
    scores : str
        What its answers are: ``"probabilities"``, ``"scores"`` or ``"labels"``.
    read_as_data : bool
        Whether it was read as plain numbers, with no code of the file or of its library run.
    saved_with : str
        The library version it was saved with; empty when the file does not say.
    warnings : tuple[str, ...]
        What the auditor must know, a sentence each.
    """

    path: str
    sha256: str
    format: str
    summary: str
    takes: Takes
    inputs: tuple[str, ...]
    named: bool
    classes: tuple[str, ...]
    scores: str
    read_as_data: bool = False
    saved_with: str = ""
    warnings: tuple[str, ...] = ()


class OpenedModel(Protocol):
    """A model file that is open, asked in its own terms. Each format has one."""

    @property
    def card(self) -> ModelCard:
        """What it is."""

    def scores(self, inputs: Inputs) -> Scores:
        """Answer for a batch.

        Parameters
        ----------
        inputs : Inputs
            One array of shape ``(n,)`` per entry of ``card.inputs``.

        Returns
        -------
        Scores
            ``(n, 1)`` float32: the score of the second class, above 0.5 when it is chosen; or,
            for three classes or more, ``(n, k)``: the greatest is chosen.

        Raises
        ------
        ModelError
            When the model refuses the batch.
        """


class MatrixModel(OpenedModel, Protocol):
    """An opened model that also takes its whole input as one matrix (the fast way)."""

    def matrix_scores(self, matrix: NDArray[np.float64]) -> Scores:
        """Answer for ``(n, inputs)`` numbers; else as `OpenedModel.scores`."""


class How(StrEnum):
    """How a model input is made from an attribute."""

    AS_IS = "as is"
    """The number itself."""
    LABEL = "label"
    """The cell's text, as it stands in the table."""
    CODE = "code"
    """A number for each value."""


class Input(msgspec.Struct, frozen=True):
    """How one model input is made.

    Attributes
    ----------
    name : str
        The model's input.
    attribute : str
        The attribute that it is made from.
    how : How
        In which way.
    codes : dict[str, float]
        With `How.CODE`: the number given for each cell text. Where several inputs are made from
        one attribute (one-hot), each has its own.
    missing : str
        The cell text that stands for a missing cell where models take that text for a value
        like any other (``"?"``); empty where they take a missing cell as missing (NaN).
    """

    name: str
    attribute: str
    how: How
    codes: dict[str, float] = msgspec.field(default_factory=dict)
    missing: str = ""


class Mapping(msgspec.Struct, frozen=True):
    """How table columns become model inputs.

    Attributes
    ----------
    inputs : tuple[Input, ...]
        One per input of the model, in its order.
    matched : str
        ``"by name"`` or ``"by position"``.
    favourable_class : int
        The position in the card's classes that means the favourable outcome.
    """

    inputs: tuple[Input, ...]
    matched: str
    favourable_class: int


class Model(Protocol):
    """What a search asks: the model under audit, over the domain's rows."""

    def predict(self, rows: Rows) -> Scores:
        """Answer for ``(n, d)`` rows of domain codes: ``(n, k)`` as `OpenedModel.scores`."""


def labels(scores: Scores) -> NDArray[np.intp]:
    """Give the decided class of each row.

    Parameters
    ----------
    scores : Scores
        ``(..., k)``.

    Returns
    -------
    NDArray[np.intp]
        ``(...)``; for ``k = 1`` class 1 where the score is above 0.5, else class 0.
    """
    if scores.shape[-1] == 1:
        return (scores[..., 0] > 0.5).astype(np.intp)
    return np.asarray(scores.argmax(axis=-1))


def favourable_scores(scores: Scores, favourable_class: int) -> NDArray[np.float64]:
    """Give the score of the favourable class of each row.

    Parameters
    ----------
    scores : Scores
        ``(n, k)``.
    favourable_class : int
        Its position in the card's classes.

    Returns
    -------
    NDArray[np.float64]
        ``(n,)``; for ``k = 1`` that of class 0 is what is left to 1.
    """
    exact = scores.astype(np.float64)
    if scores.shape[1] > 1:
        return exact[:, favourable_class]
    return exact[:, 0] if favourable_class == 1 else 1.0 - exact[:, 0]


__all__ = [
    "How",
    "Input",
    "Inputs",
    "Mapping",
    "MatrixModel",
    "Model",
    "ModelCard",
    "OpenedModel",
    "Takes",
    "favourable_scores",
    "labels",
]
