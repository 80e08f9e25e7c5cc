"""What is counted of each sample of a model's answers."""

from __future__ import annotations

from typing import Literal

import numpy as np

from fairdesk.groups.context import GroupContext
from fairdesk.groups.tabular.support import Counts
from fairdesk.groups.tabular.tallies import PARTS
from fairdesk.models.model import favourable_scores, labels
from fairdesk.results.events import Scores


class Outcomes:
    """What is counted of each sample: whole numbers made of the model's answers.

    Attributes
    ----------
    names : tuple[str, ...]
        The outcomes: decisions, or ``""`` for a mean score.
    values : int
        How many numbers are counted: one for each decision; of a score itself and its square.
    """

    def __init__(
        self, context: GroupContext, outcome: Literal["favourable", "each", "score"]
    ) -> None:
        self._favourable, self._scores = context.favourable, outcome == "score"
        self._decisions = (
            list(range(len(context.decisions))) if outcome == "each" else [context.favourable]
        )
        self.names = ("",) if self._scores else tuple(context.decisions[i] for i in self._decisions)
        self.values = 2 if self._scores else len(self.names)

    @property
    def squares(self) -> int | None:
        """Which of the numbers is a square."""
        return 1 if self._scores else None

    def of(self, scores: Scores) -> Counts:
        """Make the numbers of answers ``(n, k)``: ``(values, n)``."""
        if self._scores:
            score = np.clip(favourable_scores(scores, self._favourable), 0.0, 1.0)
            parts = np.round(score * PARTS).astype(np.int64)
            return np.stack([parts, parts**2])
        return np.equal.outer(self._decisions, labels(scores)).astype(np.int64)
