"""The area under the ROC curve of scores that come block by block."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: So many different scores are told apart; where there are more, neighbours are put together.
MOST_SCORES = 1 << 20
#: Bits of a score that are dropped at first where neighbours are put together.
_FIRST_BITS = 16


class Ranks:
    """Counts of wanted and other rows by their score; the area is exact up to `MOST_SCORES`.

    Beyond, scores that are equal but for their last bits count as ties: half of a pair each.
    """

    def __init__(self) -> None:
        self._scores = np.empty(0)
        self._counts = np.empty((0, 2), dtype=np.int64)
        self._bits = 0
        #: Rows that are not counted yet: sorting many at once costs less.
        self._waiting: list[tuple[NDArray[np.float64], NDArray[np.bool_]]] = []
        self._count = 0

    def add(self, scores: NDArray[np.float64], wanted: NDArray[np.bool_]) -> None:
        """Count more rows: ``(n,)`` scores, and which rows should have higher ones."""
        self._waiting.append((scores, wanted))
        self._count += len(scores)
        if self._count >= MOST_SCORES:
            self._take_in()

    def _take_in(self) -> None:
        """Count the rows that wait."""
        if not self._waiting:
            return
        scores, wanted = (np.concatenate(each) for each in zip(*self._waiting, strict=True))
        self._waiting, self._count = [], 0
        counts = np.stack([wanted, ~wanted], axis=1).astype(np.int64)
        self._merge(np.concatenate([self._scores, self._cut(scores)]), counts)
        while len(self._scores) > MOST_SCORES:
            self._bits = self._bits + 1 if self._bits else _FIRST_BITS
            self._merge(self._cut(self._scores), self._counts[:0])

    def _merge(self, scores: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
        counts = np.concatenate([self._counts, counts])
        self._scores, place = np.unique(scores, return_inverse=True)
        self._counts = np.zeros((len(self._scores), 2), dtype=np.int64)
        np.add.at(self._counts, place, counts)

    def _cut(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Drop the last bits of scores: that keeps their order."""
        if not self._bits:
            return scores.astype(np.float64)
        whole = np.ascontiguousarray(scores, np.float64).view(np.int64)
        return (whole >> self._bits << self._bits).view(np.float64)

    @property
    def area(self) -> float | None:
        """The area under the ROC curve; None where all rows are alike."""
        self._take_in()
        wanted, others = self._counts.T
        pairs = int(wanted.sum()) * int(others.sum())
        if not pairs:
            return None
        below = np.cumsum(others) - others
        # in halves of a pair, and as Python's integers: no number of rows is too large
        above = sum(
            a * (2 * b + c)
            for a, b, c in zip(wanted.tolist(), below.tolist(), others.tolist(), strict=True)
        )
        return float(above / (2 * pairs))
