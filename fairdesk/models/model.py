"""What the searches ask: a model over the domain's rows. What an opened file must offer."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, List, Literal, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

if sys.version_info >= (3, 11):
    from enum import StrEnum
else:

    class StrEnum(str, Enum):
        """As in Python 3.11."""

        __str__ = str.__str__


from fairdesk.errors import ModelError
from fairdesk.repeatability import Repeatability

if TYPE_CHECKING:
    from fairdesk.results.events import Rows, Scores

#: One array per model input, all of one length: numbers (float64) or texts (object).
Inputs = List["NDArray[np.float64] | NDArray[np.object_]"]


class Takes(StrEnum):
    """What a model wants to be given."""

    MATRIX = "matrix"
    """One matrix of numbers; columns are told apart by their position."""
    COLUMNS = "columns"
    """Named columns, numbers or texts, as the table has them."""


class Capability(StrEnum):
    """What a model can do. A method that needs more than a model can is off, with the reason."""

    DECIDES = "decides"
    """It can be asked about anybody. (A table of its predictions cannot.)"""
    SCORES = "scores"
    """It answers with a score per class, not only with the decided one."""
    GRADIENTS = "gradients"
    """It can tell how its scores change with its inputs."""
    LAYERS = "layers"
    """Its dense layers are known, number by number."""
    TREES = "trees"
    """It is a tree, or several, whose splits are known."""
    TEXT = "text"
    """It reads text that people wrote."""
    RETRAINS = "retrains"
    """It can be trained again, on other rows."""


class Step(msgspec.Struct, frozen=True):
    """One step of arithmetic on a model input, as a scaler does it: ``x op by``."""

    op: Literal["subtract", "divide", "multiply", "add"]
    by: float


class Hints(msgspec.Struct, frozen=True):
    """What a model file, or a file beside it, tells about how the model is to be fed.

    Attributes
    ----------
    features : tuple[str, ...]
        The model's inputs by name, in order; empty where nothing tells.
    codes : dict[str, dict[str, float]]
        Per column, or input: the number for each cell text (label and ordinal encoders).
    one_hot : dict[str, tuple[str, ...]]
        Per column: the categories that became an input each, in order.
    steps : dict[str, tuple[Step, ...]]
        Per column, or input: what a scaler does to it, in order.
    steps_in_order : tuple[tuple[Step, ...], ...]
        The same for a scaler that does not know names: one entry for each column that it takes.
    values : dict[str, tuple[str, ...]]
        Per input that is called like no column: the values that it knows.
    scalers : dict[str, tuple[str, ...]]
        Per scaler that knows its columns: these, in order.
    target : str
        What the model predicts, as a column's name.
    classes : tuple[str, ...]
        The names of the model's classes, in order (an encoder of the target).
    notes : tuple[str, ...]
        What was found and where, a sentence each, for people.
    """

    features: tuple[str, ...] = ()
    codes: dict[str, dict[str, float]] = msgspec.field(default_factory=dict)
    one_hot: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    steps: dict[str, tuple[Step, ...]] = msgspec.field(default_factory=dict)
    steps_in_order: tuple[tuple[Step, ...], ...] = ()
    scalers: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    target: str = ""
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    values: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)


class Companion(msgspec.Struct, frozen=True):
    """A file beside the model that tells how to feed it: a scaler, encoders, an order."""

    path: str
    sha256: str = ""
    trusted: bool = False


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
        Empty for a model that answers with a value (regression).
    scores : str
        What its answers are: ``"probabilities"``, ``"scores"``, ``"labels"``, or ``"values"`` of a
        model that estimates a number.
    read_as_data : bool
        Whether it was read as plain numbers, with no code of the file or of its library run.
    saved_with : str
        The library version it was saved with; empty when the file does not say.
    warnings : tuple[str, ...]
        What the auditor must know, a sentence each.
    can : tuple[Capability, ...]
        What it can do.
    accepts : tuple[str, ...]
        Per input ``"number"``, ``"text"`` or ``"either"``; empty where nothing tells.
    outputs : tuple[str, ...]
        Where several outputs could be the decision: their names. Empty where there is one.
    output : str
        Which of them answers.
    categories : dict[str, tuple[str, ...]]
        Per input that an encoder in the model itself compares with texts: these texts; ``""`` where
        it takes missing cells, or something before it fills them.
    missing : dict[str, str or None]
        Per input that an encoder compares with texts: what it knows a missing cell as, where that
        is an empty text or None.
    hints : Hints
        How it is to be fed, as far as the files tell.
    companions : tuple[Companion, ...]
        The files beside it that were read.
    needed_trust : bool
        Whether it could only be opened because the auditor agreed to run its code.
    prepared : bool
        Whether it prepares its inputs itself: a pipeline, or with transformers put before it.
    environment : str
        Where it runs when that is not FairDesk's own environment: ``"scikit-learn 1.3.2, Python
        3.11"``.
    repeatability : Repeatability, optional
        Whether it answered alike when rows of the data were queried again; ``None`` before it
        was tried, and where there is no model to query.
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
    can: tuple[Capability, ...] = (Capability.DECIDES, Capability.SCORES)
    accepts: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    output: str = ""
    categories: dict[str, tuple[str, ...]] = {}
    missing: dict[str, str | None] = {}
    hints: Hints = Hints()
    companions: tuple[Companion, ...] = ()
    needed_trust: bool = False
    environment: str = ""
    prepared: bool = False
    repeatability: Repeatability | None = None


class OpenedModel(Protocol):
    """A model file that is open, asked in its own terms. Each format has one."""

    card: ModelCard
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
            for three classes or more, ``(n, k)``: the greatest is chosen; or, when
            ``card.scores`` is ``"values"``, ``(n, 1)``: the estimated number.

        Raises
        ------
        ModelError
            When the model refuses the batch.
        """


class MatrixModel(OpenedModel, Protocol):
    """An opened model that also takes its whole input as one matrix (the fast way)."""

    def matrix_scores(self, matrix: NDArray[np.float64]) -> Scores:
        """Answer for ``(n, inputs)`` numbers; else as `OpenedModel.scores`."""


class SmoothModel(OpenedModel, Protocol):
    """An opened model whose card tells `Capability.GRADIENTS`."""

    def gradients(self, matrix: NDArray[np.float64], column: int = 0) -> NDArray[np.float32]:
        """Return how a column of its scores changes with each of ``(n, inputs)`` numbers."""


class How(StrEnum):
    """How a model input is made from an attribute."""

    AS_IS = "as is"
    """The number itself."""
    LABEL = "label"
    """The cell's text, as it stands in the table."""
    CODE = "code"
    """A number for each value."""
    CONSTANT = "constant"
    """The same for everybody, where the table has no such column."""


class Fit(StrEnum):
    """How an input is scaled by what the audited table gives, where no scaler's file does."""

    STANDARDISE = "standardise"
    """To mean 0 and standard deviation 1."""
    RANGE = "range"
    """To 0..1."""


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
        With `How.CODE`: the number given for each cell text; for ``""``, which no cell is, that
        for a missing cell. Where several inputs are made from one attribute (one-hot), each has
        its own.
    others : float, optional
        With `How.CODE`: the number for all values that have none of their own; where it is left
        out, there must be none.
    texts : dict[str, str]
        With `How.LABEL`: the text that is given instead of a cell's own, by that.
    missing : str
        The cell text that stands for a missing cell where models take that text for a value
        like any other (``"?"``); empty where they take a missing cell as missing (NaN).
    then : tuple[Step, ...]
        Arithmetic on the number that came out, in order (a scaler).
    constant : float or str
        With `How.CONSTANT`: what is given; ``attribute`` is then empty.
    fitted : Fit, optional
        Where the numbers of ``then`` were computed from the audited table, because the auditor
        chose so: how. None where a file or the auditor gave them.
    guessed : bool
        With `How.CODE`: whether no file and no auditor gave the numbers, which are the places of
        the values in the alphabet then.
    """

    name: str
    attribute: str
    how: How
    codes: dict[str, float] = msgspec.field(default_factory=dict)
    missing: str = ""
    then: tuple[Step, ...] = ()
    constant: float | str = 0.0
    others: float | None = None
    fitted: Fit | None = None
    guessed: bool = False
    texts: dict[str, str] = msgspec.field(default_factory=dict)


class Mapping(msgspec.Struct, frozen=True):
    """How table columns become model inputs, and its answers decisions.

    A model's answers may have to become decisions first: where several of its classes are
    favourable, where it decides at another threshold than one half, or estimates a number. Then
    ``outcomes`` names the two decisions that come out, and everything after `FedModel` sees a
    model that decides between those two.

    Attributes
    ----------
    inputs : tuple[Input, ...]
        One per input of the model, in its order.
    matched : str
        ``"by name"``, ``"by position"``, or how else.
    favourable_class : int
        The position of the favourable decision: in ``outcomes``, or the card's classes where
        ``outcomes`` is empty.
    outcomes : tuple[str, ...]
        The two decisions, where they are not the card's classes.
    together : tuple[int, ...]
        Positions in the card's classes that are favourable, where several are.
    threshold : float, optional
        Of two classes: the second is chosen where its score is above this, not 0.5. Of a model
        that estimates a number: the second outcome is chosen from this number on.
    beyond : bool
        Of a model that estimates a number: the second outcome is chosen above the threshold
        only, no more at it.
    spread : float
        Of a model that estimates a number: how far from the threshold is far, in its unit.
    names : tuple[str, ...]
        What the card's classes are called for people, where the auditor named them: nobody
        outside knows what “2” is.
    takes_missing : tuple[str, ...], optional
        The columns whose missing cells the model decides by itself, as was seen when it was
        queried for the rows of the data. Not set: none, or by a version that did not look.
    """

    inputs: tuple[Input, ...]
    matched: str
    favourable_class: int
    outcomes: tuple[str, ...] = ()
    together: tuple[int, ...] = ()
    threshold: float | None = None
    beyond: bool = False
    spread: float = 1.0
    names: tuple[str, ...] = ()
    # unlike an empty one it is not written: audits of earlier versions keep their identity
    takes_missing: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET

    @property
    def guessed(self) -> tuple[str, ...]:
        """The columns whose values have numbers that were only guessed."""
        return tuple(dict.fromkeys(item.attribute for item in self.inputs if item.guessed))

    def decisions(self, card: ModelCard) -> tuple[str, ...]:
        """Return the names of the decisions: two or more."""
        if self.together and self.names:
            return names_of_groups(self.names, self.together)
        return self.outcomes or self.names or card.classes

    def written(self, card: ModelCard) -> tuple[str, ...]:
        """Return the decisions as the model, and a column with its decisions, may write them."""
        return self.outcomes or card.classes


def names_of_groups(classes: Sequence[str], together: Sequence[int]) -> tuple[str, str]:
    """Return the names of the two decisions of several favourable classes: the others first."""
    others = [name for i, name in enumerate(classes) if i not in together]
    return " or ".join(others), " or ".join(classes[i] for i in together)


class Model(Protocol):
    """What a search asks: the model under audit, over the domain's rows."""

    def predict(self, rows: Rows) -> Scores:
        """Answer for ``(n, d)`` rows of domain codes: ``(n, k)`` as `OpenedModel.scores`."""


def number_of(count: int, noun: str) -> str:
    """Write how many there are: ``"1 tree"``, ``"1,200 trees"``."""
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"


def width_text(inputs: int, classes: int) -> str:
    """Write what a model takes and gives: ``"13 inputs, 2 classes"``."""
    return f"{number_of(inputs, 'input')}, {f'{classes:,} classes' if classes else 'one number'}"


def labels(scores: Scores) -> NDArray[np.intp]:
    """Return the decided class of each row.

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
    """Return the score of the favourable class of each row.

    Parameters
    ----------
    scores : Scores
        ``(n, k)``.

    Returns
    -------
    NDArray[np.float64]
        ``(n,)``; for ``k = 1`` that of class 0 is what is left to 1.
    """
    exact = scores.astype(np.float64)
    if scores.shape[1] > 1:
        return exact[:, favourable_class]
    return exact[:, 0] if favourable_class == 1 else 1.0 - exact[:, 0]


def as_matrix(inputs: Inputs) -> NDArray[np.float64]:
    """Return one array per input as columns of a matrix: ``(n, inputs)``.

    Raises
    ------
    ModelError
        When one of them is text.
    """
    try:
        return np.column_stack(inputs).astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise ModelError(
            "The model expects a number where it received text.",
            why=f"The first value that is not a number: {error}.",
            remedy="Check that each input is made from the right column.",
        ) from error
