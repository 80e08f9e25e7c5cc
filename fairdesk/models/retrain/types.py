"""Training an opened model again, on other rows, as its maker set it up.

What comes before a model (scalers and encoders beside it, how columns become its inputs) stays as
it is: only the model itself learns anew. What a scikit-learn estimator is given is told in
`fairdesk.models.retrain.scikit`, what a Keras network is in `fairdesk.models.retrain.keras`.

The trained model is of the kind of the one given, with its card: but for ``path`` and ``sha256``,
which are those of a new file of a network, and for ``sha256``, which is empty, of an estimator,
which lies in no file yet. `innermost` gives the model itself, of which files can be written: an
estimator is its ``estimator``, and a network lies at its card's ``path``, in a folder that goes
when the model does.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import Inputs, ModelCard, OpenedModel, Takes
from fairdesk.models.retrain.losses import Training, TrainingBatch, TrainingSet, why_not


def refit(
    fed: FedModel, training_set: TrainingSet, held_out: TrainingSet, training: Training, seed: int
) -> Generator[tuple[int, int], None, FedModel]:
    """Train the model anew; the one given stays as it is.

    Parameters
    ----------
    held_out : Lesson
        What tells when to end; never trained on.
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
            "This model cannot be retrained.",
            why=reason,
            remedy=(
                "Export the augmentation rows, and have the model trained with them where it was "
                "made."
            ),
        )
    _refuse_missing_classes(fed.opened.card, training_set)
    model = innermost(fed.opened)
    # each library is loaded with the models that need it
    from fairdesk.models.sklearn.file import ScikitModel  # noqa: PLC0415

    trained: OpenedModel
    if isinstance(model, ScikitModel):
        from fairdesk.models.retrain.scikit import refit_scikit  # noqa: PLC0415

        trained = refit_scikit(model, _taught(fed, training_set), seed)
    else:
        from fairdesk.models.retrain.keras import refit_keras  # noqa: PLC0415

        taught, held = _taught(fed, training_set), _taught(fed, held_out)
        trained = yield from refit_keras(model, taught, held, training, seed)
    return FedModel(_rewrap(fed.opened, trained), fed.mapping, fed.attributes)


def innermost(opened: OpenedModel) -> OpenedModel:
    """Return the model itself, without the transformers and descriptions around it."""
    from fairdesk.models.preparation.companions import DescribedModel  # noqa: PLC0415 - as above
    from fairdesk.models.preparation.prepared import PreparedModel  # noqa: PLC0415

    while True:
        if isinstance(opened, DescribedModel):
            opened = opened.described
        elif isinstance(opened, PreparedModel):
            opened = opened.opened
        else:
            return opened


def _refuse_missing_classes(card: ModelCard, training_set: TrainingSet) -> None:
    """Refuse a lesson without one of the classes: the model would forget it."""
    there = np.bincount(training_set.targets, minlength=len(card.classes))
    missing = [name for name, count in zip(card.classes, there, strict=True) if not count]
    if missing:
        raise ModelError(
            f"None of the {len(training_set.targets):,} training rows has the recorded outcome "
            f"“{missing[0]}”.",
            why="A model that is trained without it would never return it as a decision.",
            remedy="Use more rows, or exclude fewer of them.",
        )


def _taught(fed: FedModel, training_set: TrainingSet) -> TrainingBatch:
    """Put a lesson into the terms of the innermost model."""
    from fairdesk.models.preparation.companions import DescribedModel  # noqa: PLC0415 - as above
    from fairdesk.models.preparation.prepared import PreparedModel  # noqa: PLC0415
    from fairdesk.models.sklearn.file import ScikitModel  # noqa: PLC0415

    opened = fed.opened
    matrix = opened.card.takes is Takes.MATRIX
    given: Any = fed.matrix(training_set.rows) if matrix else fed.columns(training_set.rows)
    while isinstance(opened, DescribedModel | PreparedModel):
        if isinstance(opened, DescribedModel):
            opened = opened.described
            continue
        made = opened.made(_rows(opened.card, given))
        opened = opened.opened
        if isinstance(opened, ScikitModel):
            return TrainingBatch(made, training_set.targets, training_set.weights)
        given = made if opened.card.takes is Takes.MATRIX else list(made.T)
    if isinstance(opened, ScikitModel):
        given = _rows(opened.card, given)
    return TrainingBatch(given, training_set.targets, training_set.weights)


def _rows(card: ModelCard, given: NDArray[np.float64] | Inputs) -> Any:  # noqa: ANN401 - a matrix, a pandas frame or texts
    """Return rows in the form that scikit-learn takes."""
    # pandas is loaded with it
    from fairdesk.models.preparation.estimators import rows_for  # noqa: PLC0415

    return given if isinstance(given, np.ndarray) else rows_for(card, given)


def _rewrap(opened: OpenedModel, trained: OpenedModel) -> OpenedModel:
    """Put around a trained model what was around the one that was imported."""
    from fairdesk.models.preparation.companions import DescribedModel  # noqa: PLC0415 - as above
    from fairdesk.models.preparation.prepared import PreparedModel  # noqa: PLC0415

    if isinstance(opened, DescribedModel):
        inner = _rewrap(opened.described, trained)
        card = msgspec.structs.replace(opened.card, path=inner.card.path, sha256=inner.card.sha256)
        return DescribedModel(inner, card)
    if isinstance(opened, PreparedModel):
        return PreparedModel(_rewrap(opened.opened, trained), opened.before)
    return trained
