"""What was asked before: a model that answers repeated rows from memory, and counts the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.model import Model
from fairdesk.results.events import Rows, Scores

if TYPE_CHECKING:
    from fairdesk.individual.engine.kernels import Keys, Numbers

#: Of what a memory holds; what does not fit is forgotten, and asked again when it is needed.
MOST_BYTES = 128 << 20
_FIRST_SLOTS = 1 << 12

Answer = NDArray[np.floating[Any]]


class GradientModel(Model, Protocol):
    """A model that can tell how its scores change."""

    def gradients(self, rows: Rows, column: NDArray[np.intp]) -> Rows:
        """Return how the score in a column of `predict` changes per unit of each code: ``(n, d)``.

        Parameters
        ----------
        rows : Rows
            ``(n, d)``.
        column : NDArray[np.intp]
            ``(n,)``.
        """


class Memory:
    """Keeps an answer for each key, within a bounded number of bytes.

    Parameters
    ----------
    most_bytes : int
        What it may hold.

    Attributes
    ----------
    nbytes : int
        What it holds.
    """

    def __init__(self, most_bytes: int) -> None:
        # compiled code is loaded where a search runs, never in the window's process
        from fairdesk.individual.engine import kernels  # noqa: PLC0415

        self._kernels = kernels
        self._most_bytes = most_bytes
        self._used = 0
        self._slots: Keys = np.zeros(_FIRST_SLOTS, dtype=np.uint64)
        self._kept: Answer | None = None

    def answers(self, keys: Keys, ask: Callable[[Numbers], Answer]) -> Answer:
        """Return the answer for each key: ``(n, k)``.

        Parameters
        ----------
        keys : Keys
            ``(n,)``; may repeat.
        ask : callable
            Gives the answers, ``(m, k)``, for positions in ``keys``; called at most once, with
            one position of each key that is not known.
        """
        kept = self._kept
        if kept is None:
            firsts, places = self._kernels.distinct(keys)
            fresh = np.ascontiguousarray(ask(firsts))
            kept = np.empty((len(self._slots), fresh.shape[1]), dtype=fresh.dtype)
            self._keep(keys[firsts], fresh, kept)
            return np.asarray(fresh[places])
        answers: Answer = np.empty((len(keys), kept.shape[1]), dtype=kept.dtype)
        missing, firsts, places = self._kernels.recall(keys, self._slots, kept, answers)
        if missing.size:
            fresh = np.ascontiguousarray(ask(firsts), dtype=kept.dtype)
            self._keep(keys[firsts], fresh, kept)
            answers[missing] = fresh[places]
        return answers

    def _keep(self, keys: Keys, answers: Answer, kept: Answer) -> None:
        """Put new answers to those that are kept, and make room while there may be more."""
        slots, needed = self._slots, self._used + len(keys)
        while 2 * needed > len(slots) and 2 * (slots.nbytes + kept.nbytes) <= self._most_bytes:
            old_slots, old_kept = slots, kept
            slots = np.zeros(2 * len(slots), dtype=np.uint64)
            kept = np.empty((2 * len(kept), kept.shape[1]), dtype=kept.dtype)
            self._used = self._kernels.keep(old_slots, old_kept, slots, kept)
        self._used += self._kernels.keep(keys, answers, slots, kept)
        self._slots, self._kept = slots, kept


class CachedModel:
    """A model with a memory: a row is sent once, however often it is asked.

    The memory is bounded: once it is full, what is put in takes the place of something else,
    which is sent again when it is asked again.

    Parameters
    ----------
    model : Model
        The model; for `gradients` one that has them.
    most_bytes : int
        What the memory may hold.

    Attributes
    ----------
    queries : int
        Rows sent to the model.
    """

    def __init__(self, model: Model, most_bytes: int = MOST_BYTES) -> None:
        from fairdesk.individual.engine import kernels  # noqa: PLC0415 - as in `Memory`

        self.queries = 0
        self._kernels = kernels
        self.model = model
        self._scores = Memory(most_bytes)
        self._slopes = Memory(most_bytes // 4)

    @property
    def has_gradients(self) -> bool:
        """Whether `gradients` can be asked."""
        return bool(getattr(self.model, "has_gradients", False))

    def keys(self, rows: Rows) -> Keys:
        """Return the keys of ``(n, d)`` rows: ``(n,)``."""
        keys: Keys = self._kernels.row_keys(np.ascontiguousarray(rows))
        return keys

    def predict(self, rows: Rows) -> Scores:
        """Answer for ``(n, d)`` rows: ``(n, k)``, as the model did when it was asked."""
        return self.answer(self.keys(rows), rows.__getitem__)

    def answer(self, keys: Keys, rows: Callable[[Numbers], Rows]) -> Scores:
        """Answer for rows that are made only where they have to be sent: ``(n, k)``.

        Parameters
        ----------
        keys : Keys
            ``(n,)``; the rows' keys, as `keys` gives them.
        rows : callable
            Makes the rows at these positions.
        """
        if not len(keys):
            return self.predict_anew(rows(np.empty(0, dtype=np.int64)))
        answers = self._scores.answers(keys, lambda which: self.predict_anew(rows(which)))
        return cast("Scores", answers)

    def predict_anew(self, rows: Rows) -> Scores:
        """Query the model itself, whatever was asked before."""
        self.queries += len(rows)
        return self.model.predict(rows)

    def gradients(self, rows: Rows, column: NDArray[np.intp]) -> Rows:
        """Return how the score in a column changes per unit of each code: ``(n, d)``.

        Each row that is sent is counted in ``queries``.

        Parameters
        ----------
        rows : Rows
            ``(n, d)``.
        column : NDArray[np.intp]
            ``(n,)``; columns of `predict`.
        """
        model = cast("GradientModel", self.model)
        if not len(rows):
            return np.empty(rows.shape)

        def ask(which: Numbers) -> Rows:
            self.queries += len(which)
            return model.gradients(rows[which], column[which])

        numbered = np.column_stack([rows, column])
        return cast("Rows", self._slopes.answers(self.keys(numbered), ask))
