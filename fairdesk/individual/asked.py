"""What was asked before: a model that answers repeated rows from memory, and counts the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairdesk.events import Rows, Scores
from fairdesk.models.model import Model

if TYPE_CHECKING:
    from fairdesk.individual.kernels import Keys, Numbers


class KeyTable:
    """Numbers rows 0, 1, 2, ... in the order of their arrival; equal rows have one number."""

    def __init__(self) -> None:
        # compiled code is loaded where a search runs, never in the window's process
        from fairdesk.individual import kernels  # noqa: PLC0415

        self.size = 0
        self._kernels = kernels
        self._allocate(1 << 16)

    def number(self, rows: Rows) -> tuple[Numbers, Numbers]:
        """Give the number of each row, new ones included.

        Parameters
        ----------
        rows : Rows
            ``(n, d)``; may repeat.

        Returns
        -------
        numbers : Numbers
            ``(n,)``.
        new : Numbers
            Positions of the first arrival of each row that was not in the table; their numbers
            are consecutive.
        """
        keys: Keys = self._kernels.row_keys(np.ascontiguousarray(rows))
        if 2 * (self.size + len(keys)) > len(self._slots):
            self._grow(self.size + len(keys))
        numbers, new = self._kernels.number_keys(keys, self._slots, self._numbers, self.size)
        self.size += len(new)
        return numbers, new

    def _grow(self, needed: int) -> None:
        used = self._slots != 0
        keys, numbers = self._slots[used], self._numbers[used]
        self._allocate(1 << (2 * needed).bit_length())
        self._kernels.number_keys(keys[np.argsort(numbers)], self._slots, self._numbers, 0)

    def _allocate(self, slots: int) -> None:
        self._slots: Keys = np.zeros(slots, dtype=np.uint64)
        self._numbers: Numbers = np.zeros(slots, dtype=np.int64)


class AskedModel:
    """A model with a memory: a row is sent once, however often it is asked.

    Attributes
    ----------
    queries : int
        Rows sent to the model.
    """

    def __init__(self, model: Model) -> None:
        self.queries = 0
        self._model = model
        self._table = KeyTable()
        self._scores: Scores = np.empty((0, 0), dtype=np.float32)

    def predict(self, rows: Rows) -> Scores:
        """Answer for ``(n, d)`` rows: ``(n, k)``, as the model did when it was first asked."""
        numbers, new = self._table.number(rows)
        if new.size:
            self._remember(self.predict_anew(rows[new]))
        return self._scores[numbers]

    def predict_anew(self, rows: Rows) -> Scores:
        """Ask the model itself, whatever was asked before."""
        self.queries += len(rows)
        return self._model.predict(rows)

    def _remember(self, scores: Scores) -> None:
        end = self._table.size
        if end > len(self._scores):
            larger = np.empty((2 * end, scores.shape[1]), dtype=np.float32)
            known = end - len(scores)
            if known:
                larger[:known] = self._scores[:known]
            self._scores = larger
        self._scores[end - len(scores) : end] = scores
