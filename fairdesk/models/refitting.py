"""Training an opened model again, on other rows, as its maker set it up.

What comes before a model (scalers and encoders beside it, how columns become its inputs) stays as
it is: only the model itself learns anew. What a scikit-learn estimator is given is told in
`fairdesk.models.refit_scikit`, what a Keras network is in `fairdesk.models.refit_keras`.

The trained model is of the kind of the one given, with its card: but for ``path`` and ``sha256``,
which are those of a new file of a network, and for ``sha256``, which is empty, of an estimator,
which lies in no file yet. `innermost` gives the model itself, of which files can be written: an
estimator is its ``estimator``, and a network lies at its card's ``path``, in a folder that goes
when the model does.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.events import Rows
from fairdesk.models.feeding import FedModel
from fairdesk.models.model import Capability, Inputs, ModelCard, OpenedModel, Takes


@dataclass(frozen=True, slots=True)
class Training:
    """How a network is trained; what has no epochs is simply fitted.

    Attributes
    ----------
    start : str
        ``"scratch"``: from new random weights; ``"tune"``: from those it has.
    optimiser : str
        ``"own"``, ``"adam"``, ``"sgd"`` or ``"rmsprop"``.
    epochs, batch, patience : int
        At most so many epochs, so many rows in a batch, and so many epochs without a lower loss on
        the rows held out before it ends; the best weights are kept.
    """

    start: Literal["scratch", "tune"] = "scratch"
    optimiser: Literal["own", "adam", "sgd", "rmsprop"] = "own"
    epochs: int = 30
    batch: int = 128
    patience: int = 4


@dataclass(frozen=True, slots=True)
class Lesson:
    """Rows with what a model is to answer for them.

    Attributes
    ----------
    rows : Rows
        ``(n, d)`` codes.
    targets : NDArray[np.int64]
        ``(n,)``; positions in the model's own classes.
    weights : NDArray[np.float64], optional
        ``(n,)``; how much each counts, 1 on average.
    """

    rows: Rows
    targets: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True)
class Taught:
    """A lesson in a model's own terms.

    Attributes
    ----------
    given : Any
        What the innermost model is given: of a scikit-learn estimator the matrix, pandas frame or
        texts that it takes; of a network ``(n, inputs)`` numbers, or one array per input.
    targets : NDArray[np.int64]
        ``(n,)``; positions in its classes.
    weights : NDArray[np.float64], optional
        ``(n,)``.
    """

    given: Any
    targets: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None


def why_not(opened: OpenedModel) -> str:
    """Say in a sentence why a model cannot be trained again; empty when it can."""
    return why_card_not(opened.card)


def why_card_not(card: ModelCard) -> str:
    """Say the same of a model of which only the card is known."""
    if Capability.RETRAINS in card.can:
        return ""
    network = card.format.startswith("Keras")
    reasons = {
        "A column of decisions is no model: there is nothing to train.": Capability.DECIDES
        not in card.can,
        "An ONNX file tells how a model answers, not how it learns.": card.format.startswith(
            "ONNX"
        ),
        "A SavedModel of TensorFlow tells how a model answers, not how it learns.": "SavedModel"
        in card.format,
        "It estimates a number, and which number would be right for an added row is not "
        "known.": not card.classes,
        "It has several outputs, and there are labels for one of them only.": bool(card.outputs),
        "Training a Keras network needs TensorFlow, which is not installed.": network,
    }
    told = (reason for reason, holds in reasons.items() if holds)
    return next(told, "It does not offer to be trained.")


def refit(
    fed: FedModel, lesson: Lesson, held_out: Lesson, training: Training, seed: int
) -> Generator[tuple[int, int], None, FedModel]:
    """Train the model anew; the one given stays as it is.

    Parameters
    ----------
    fed : FedModel
        The model, and how it is fed.
    lesson : Lesson
        What it is trained on.
    held_out : Lesson
        What tells when to end; never trained on.
    training : Training
        How, where it is a network.
    seed : int
        Of all randomness that the model lets be set.

    Yields
    ------
    tuple[int, int]
        Epochs done, and at most to be done; nothing where there are none.

    Returns
    -------
    FedModel
        The trained model, fed in the same way.

    Raises
    ------
    ModelError
        When it cannot be trained: with what it says, and what to do. When training diverges, or
        there is not enough memory.
    """
    if reason := why_not(fed.opened):
        raise ModelError(
            "This model cannot be trained again.",
            why=reason,
            remedy="Export the added rows, and have the model trained with them where it was made.",
        )
    _refuse_missing_classes(fed.opened.card, lesson)
    model = innermost(fed.opened)
    # each library is loaded with the models that need it
    from fairdesk.models.sklearn_file import ScikitModel  # noqa: PLC0415

    trained: OpenedModel
    if isinstance(model, ScikitModel):
        from fairdesk.models.refit_scikit import refit_scikit  # noqa: PLC0415

        trained = refit_scikit(model, _taught(fed, lesson), seed)
    else:
        from fairdesk.models.refit_keras import refit_keras  # noqa: PLC0415

        taught, held = _taught(fed, lesson), _taught(fed, held_out)
        trained = yield from refit_keras(model, taught, held, training, seed)
    return FedModel(_around(fed.opened, trained), fed.mapping, fed.attributes)


def innermost(opened: OpenedModel) -> OpenedModel:
    """Give the model itself, without the transformers and descriptions around it."""
    from fairdesk.models.companions import DescribedModel  # noqa: PLC0415 - as above
    from fairdesk.models.prepared import PreparedModel  # noqa: PLC0415

    while True:
        if isinstance(opened, DescribedModel):
            opened = opened.described
        elif isinstance(opened, PreparedModel):
            opened = opened.opened
        else:
            return opened


def _refuse_missing_classes(card: ModelCard, lesson: Lesson) -> None:
    """Refuse a lesson without one of the classes: the model would forget it."""
    there = np.bincount(lesson.targets, minlength=len(card.classes))
    missing = [name for name, count in zip(card.classes, there, strict=True) if not count]
    if missing:
        raise ModelError(
            f"None of the {len(lesson.targets):,} rows to train with has the label “{missing[0]}”.",
            why="A model that is trained without it would never decide so.",
            remedy="Use more rows, or leave fewer of them out.",
        )


def _taught(fed: FedModel, lesson: Lesson) -> Taught:
    """Put a lesson into the terms of the innermost model."""
    from fairdesk.models.companions import DescribedModel  # noqa: PLC0415 - as above
    from fairdesk.models.prepared import PreparedModel  # noqa: PLC0415
    from fairdesk.models.sklearn_file import ScikitModel  # noqa: PLC0415

    opened = fed.opened
    matrix = opened.card.takes is Takes.MATRIX
    given: Any = fed.matrix(lesson.rows) if matrix else fed.columns(lesson.rows)
    while isinstance(opened, DescribedModel | PreparedModel):
        if isinstance(opened, DescribedModel):
            opened = opened.described
            continue
        made = opened.made(_rows(opened.card, given))
        opened = opened.opened
        if isinstance(opened, ScikitModel):
            return Taught(made, lesson.targets, lesson.weights)
        given = made if opened.card.takes is Takes.MATRIX else list(made.T)
    if isinstance(opened, ScikitModel):
        given = _rows(opened.card, given)
    return Taught(given, lesson.targets, lesson.weights)


def _rows(card: ModelCard, given: NDArray[np.float64] | Inputs) -> Any:  # noqa: ANN401 - a matrix, a pandas frame or texts
    """Give rows in the form that scikit-learn takes."""
    # pandas is loaded with it
    from fairdesk.models.estimators import rows_for  # noqa: PLC0415

    return given if isinstance(given, np.ndarray) else rows_for(card, given)


def _around(opened: OpenedModel, trained: OpenedModel) -> OpenedModel:
    """Put around a trained model what was around the one that was imported."""
    from fairdesk.models.companions import DescribedModel  # noqa: PLC0415 - as above
    from fairdesk.models.prepared import PreparedModel  # noqa: PLC0415

    if isinstance(opened, DescribedModel):
        inner = _around(opened.described, trained)
        card = msgspec.structs.replace(opened.card, path=inner.card.path, sha256=inner.card.sha256)
        return DescribedModel(inner, card)
    if isinstance(opened, PreparedModel):
        return PreparedModel(_around(opened.opened, trained), opened.before)
    return trained


__all__ = [
    "Lesson",
    "Taught",
    "Training",
    "innermost",
    "refit",
    "why_card_not",
    "why_not",
]
