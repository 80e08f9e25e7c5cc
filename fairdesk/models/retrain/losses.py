"""What training a model again is given, and which models can be."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.models.decisions.outputs import first_line
from fairdesk.models.model import Capability, ModelCard, OpenedModel
from fairdesk.results.events import Rows


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
class TrainingSet:
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
class TrainingBatch:
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


#: What remains where a model cannot be trained here.
EXPORT_ROWS = (
    "Export the augmentation rows, and have the model trained with them where it was made."
)


@contextmanager
def training_errors(
    rows: int, library: str = "It", enough: str = "Close other programs.", also: str = ""
) -> Iterator[None]:
    """Raise as `ModelError` what a library raises while it trains; its warnings are dropped.

    Parameters
    ----------
    library : str
        Who reports.
    enough : str
        What to do where memory does not suffice.
    also : str
        What else may help.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except ModelError:
        raise
    except Exception as error:
        # any kind: the model's own code runs, and libraries raise without a common base
        if isinstance(error, MemoryError) or type(error).__name__ == "ResourceExhaustedError":
            raise ModelError(
                f"There is not enough memory to train the model with {rows:,} rows.", remedy=enough
            ) from error
        raise ModelError(
            f"The model could not be trained with {rows:,} rows.",
            why=f"{library} reported: {first_line(error)}",
            remedy=EXPORT_ROWS + also,
        ) from error


def why_not(opened: OpenedModel) -> str:
    """Return why a model cannot be trained again, in a sentence; empty when it can."""
    return why_card_not(opened.card)


def why_card_not(card: ModelCard) -> str:
    """Return the same of a model of which only the card is known."""
    if Capability.RETRAINS in card.can:
        return ""
    network = card.format.startswith("Keras")
    reasons = {
        "A column of decisions is not a model: there is nothing to train.": Capability.DECIDES
        not in card.can,
        "An ONNX file only computes outputs; it cannot be trained.": card.format.startswith("ONNX"),
        "A TensorFlow SavedModel only computes outputs; it cannot be trained.": "SavedModel"
        in card.format,
        "It estimates a number; the right number for an added row is unknown.": not card.classes,
        "It has several outputs, and recorded outcomes exist for only one of them.": bool(
            card.outputs
        ),
        "Training a Keras network needs TensorFlow, which is not installed.": network,
    }
    reasons_given = (reason for reason, holds in reasons.items() if holds)
    return next(reasons_given, "It does not support training.")
