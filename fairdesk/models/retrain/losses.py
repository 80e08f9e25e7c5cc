"""What training a model again is given, and which models can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

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
