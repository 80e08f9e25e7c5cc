"""What a part of a model answers, and what is made of that for its target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.pmml.columns import Column, Float64, Scope


@dataclass(frozen=True, slots=True)
class Answer:
    """Answers for a batch.

    Attributes
    ----------
    scores : NDArray[np.float64]
        ``(n, k)`` shares of the classes, or ``(n, 1)`` amounts; NaN where there is none.
    decided : NDArray[np.intp], optional
        ``(n,)``; the numbers of the decided classes, -1 where there is none. Left out it is the
        first class with the greatest share.
    """

    scores: Float64
    decided: NDArray[np.intp] | None = None

    @property
    def chosen(self) -> NDArray[np.intp]:
        """The number of each row's class; -1 where there is none."""
        if self.decided is not None:
            return self.decided
        none: NDArray[np.bool_] = np.isnan(self.scores.sum(axis=1))
        return np.where(none, -1, np.where(none[:, None], 0.0, self.scores).argmax(axis=1))

    def named(self, classes: tuple[str, ...]) -> Column:
        """Return the decided classes by name."""
        values = np.empty(len(self.scores), dtype=object)
        values[:] = [None if i < 0 else classes[i] for i in self.chosen.tolist()]
        return Column("text", values)


class Part(Protocol):
    """A model, or one of those that a model is made of."""

    classes: tuple[str, ...]
    """What it decides between; empty where it estimates an amount."""

    def answer(self, scope: Scope) -> Answer:
        """Answer for a batch."""
