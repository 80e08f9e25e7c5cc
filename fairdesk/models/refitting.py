"""Training an opened model again, on other rows, as its maker set it up."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fairdesk.events import Rows
from fairdesk.models.feeding import FedModel
from fairdesk.models.model import OpenedModel


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


def why_not(opened: OpenedModel) -> str:
    """Say in a sentence why a model cannot be trained again; empty when it can."""
    raise NotImplementedError


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
    raise NotImplementedError
    yield


__all__ = ["Lesson", "Training", "refit", "why_not"]
