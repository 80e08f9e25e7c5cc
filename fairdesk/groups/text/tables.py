"""Texts that name anybody, and the model's answers to them with other terms in place."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairdesk.groups.text.sentences import Named
from fairdesk.results.events import Rows

Decided = NDArray[np.int16]
Favour = NDArray[np.float64]


@dataclass(frozen=True)
class Texts:
    """The data's texts that name anybody.

    Attributes
    ----------
    named : list[Named]
        ``t`` of them, cut at their terms.
    rows : Rows
        ``(t, d)``; their codes.
    places : NDArray[np.intp]
        ``(t,)``; their places in the table.
    decided, scores : NDArray
        ``(t,)``; what the model answers to them as they are: the decision, and the score of the
        favourable one.
    """

    named: list[Named]
    rows: Rows
    places: NDArray[np.intp]
    decided: Decided = field(default_factory=lambda: np.empty(0, np.int16))
    scores: Favour = field(default_factory=lambda: np.empty(0))

    def support(self, holders: int) -> float:
        """Return the share that so many of them are."""
        return holders / len(self.named)

    def values(self, outcome: int | None) -> Favour:
        """Return whether each is decided so, or, for ``None``, the scores: ``(t,)``."""
        return self.scores if outcome is None else (self.decided == outcome).astype(np.float64)


@dataclass
class Table:
    """The answers to the seeds of some categories with every choice of terms.

    Attributes
    ----------
    categories : tuple[int, ...]
        Their places in the lexicon, ascending.
    choices : list[tuple[int, ...]]
        ``k``; of each the places of its terms.
    holders : list[int]
        The texts that hold a term of each category.
    seeds : list[int]
        Those of them that are different sentences, in random order.
    examined : bool
        Whether its choices are rule sets: enough texts hold the categories.
    spent : float
        Which share of its error each test may make now: less than all of it where somebody looked
        before, and would have stopped.
    steady : NDArray[np.bool_], optional
        ``(n, k)``; once those with two decisions were asked again: whether the decision was the
        same both times.
    asked : int
        ``n``: seeds asked about.
    """

    categories: tuple[int, ...]
    choices: list[tuple[int, ...]]
    holders: list[int]
    seeds: list[int]
    examined: bool
    spent: float = 1.0
    steady: NDArray[np.bool_] | None = None
    asked: int = 0
    _decided: Decided = field(default_factory=lambda: np.empty((0, 0), np.int16))
    _scores: Favour = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def decided(self) -> Decided:
        """``(n, k)``; the decisions about the seeds asked about."""
        return self._decided[: self.asked]

    @property
    def scores(self) -> Favour:
        """``(n, k)``; the scores of the favourable one."""
        return self._scores[: self.asked]

    @property
    def share(self) -> float:
        """Which share of the seeds that there is room for is asked about."""
        return self.asked / len(self._decided) if self.asked else 0.0

    def make_room(self, seeds: int) -> None:
        """Make room for the answers to so many seeds."""
        shape = (seeds, len(self.choices))
        decided, scores = np.empty(shape, dtype=np.int16), np.empty(shape)
        if self.asked:
            decided[: self.asked], scores[: self.asked] = self.decided, self.scores
        self._decided, self._scores = decided, scores

    def add(self, decided: Decided, scores: Favour) -> None:
        """Take the answers to the next seeds, sentence by sentence; there must be room."""
        shape = (-1, len(self.choices))
        new = slice(self.asked, self.asked + len(decided) // shape[1])
        self._decided[new], self._scores[new] = decided.reshape(shape), scores.reshape(shape)
        self.asked = new.stop

    def values(self, outcome: int | None) -> Favour:
        """Return whether each answer is a decision, or, for ``None``, the scores: ``(n, k)``."""
        return self.scores if outcome is None else (self.decided == outcome).astype(np.float64)
