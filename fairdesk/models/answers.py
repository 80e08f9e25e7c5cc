"""From what libraries answer to scores: one column for two classes, one per class for more."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.events import Scores

Answers = NDArray[Any]


def from_probabilities(answers: Answers) -> Scores:
    """Make scores of probabilities ``(n,)``, ``(n, 1)`` (of class 1) or ``(n, k)``."""
    columns = _columns(answers)
    return _float32(columns[:, 1:] if columns.shape[1] == 2 else columns)


def from_margins(answers: Answers) -> Scores:
    """Make scores of unbounded ones: ``(n,)`` or ``(n, 1)``, where class 1 is above 0, or ``(n, k)``.

    For two classes the scores are put into 0..1 by the logistic function, which keeps their
    order and puts the limit at 0.5; for more they stay as they are.
    """
    columns = np.asarray(_columns(answers), dtype=np.float64)
    if columns.shape[1] == 2:
        columns = columns[:, 1:] - columns[:, :1]
    if columns.shape[1] == 1:
        # exp overflows to infinity far below zero, and then 0 is the right answer
        with np.errstate(over="ignore"):
            columns = 1 / (1 + np.exp(-columns))
    return _float32(columns)


def from_classes(chosen: NDArray[np.intp], classes: int) -> Scores:
    """Make scores of decisions alone: 1 for the chosen class, 0 for the others.

    Parameters
    ----------
    chosen : NDArray[np.intp]
        ``(n,)``; positions of classes.
    classes : int
        How many there are.
    """
    if classes == 2:
        return _float32(chosen[:, None])
    return _float32(chosen[:, None] == np.arange(classes))


def _columns(answers: Answers) -> Answers:
    return answers[:, None] if answers.ndim == 1 else answers


def _float32(columns: Answers) -> Scores:
    return np.ascontiguousarray(columns, dtype=np.float32)
