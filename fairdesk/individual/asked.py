"""What was asked before: a model that answers repeated rows from memory, and counts the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdesk.events import Rows, Scores
from fairdesk.models.model import Model

Keys = NDArray[np.uint64]

_EMPTY = np.uint64(0)
#: Odd multipliers of the splitmix64 finaliser.
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def row_keys(rows: Rows) -> Keys:
    """Give each row a 64-bit key; equal rows have equal keys.

    Two different rows share a key with a probability of about 2**-64: among ten million rows
    one such pair is expected once in 370,000 runs. A clash can only hide a finding, or be undone
    when findings are asked again.

    Parameters
    ----------
    rows : Rows
        ``(n, d)``.

    Returns
    -------
    Keys
        ``(n,)``; never 0.
    """
    bits = np.ascontiguousarray(rows + 0.0).view(np.uint64)  # + 0.0 makes -0.0 and 0.0 one
    position = np.arange(1, bits.shape[1] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    keys = _mixed(bits ^ position).sum(axis=1, dtype=np.uint64)
    keys = _mixed(keys)
    keys[keys == _EMPTY] = np.uint64(1)
    return keys


def _mixed(bits: Keys) -> Keys:
    """Spread every bit over the word (splitmix64's finaliser)."""
    bits = (bits ^ (bits >> np.uint64(30))) * _MIX_1
    bits = (bits ^ (bits >> np.uint64(27))) * _MIX_2
    return bits ^ (bits >> np.uint64(31))


class KeyTable:
    """Numbers keys 0, 1, 2, ... in the order of their arrival; whole batches at once.

    A hash table with open addressing and linear probing, every probe a NumPy operation over
    the keys that are still looking for their place.
    """

    def __init__(self) -> None:
        self.size = 0
        self._allocate(1 << 18)

    def number(self, keys: Keys) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Give the number of each key, new ones included.

        Parameters
        ----------
        keys : Keys
            ``(n,)``, not 0; may repeat.

        Returns
        -------
        numbers : NDArray[np.intp]
            ``(n,)``.
        new : NDArray[np.intp]
            Positions in ``keys`` of one arrival of each key that was not in the table; their
            numbers are consecutive.
        """
        if 2 * (self.size + len(keys)) > len(self._keys):
            self._grow(self.size + len(keys))
        slots = self._slots(keys)
        places = self._places[slots]
        fresh = np.flatnonzero(places == 0)
        if not fresh.size:
            return places - 1, fresh
        # of equal new keys one write wins: read back whose it was
        self._places[slots[fresh]] = -1 - fresh
        new = fresh[self._places[slots[fresh]] == -1 - fresh]
        self._places[slots[new]] = np.arange(self.size + 1, self.size + 1 + len(new))
        self.size += len(new)
        return self._places[slots] - 1, new

    def _slots(self, keys: Keys) -> NDArray[np.intp]:
        """Find each key's slot, claiming a free one for a key that has none."""
        mask = len(self._keys) - 1
        slots = (keys & np.uint64(mask)).astype(np.intp)
        looking = np.flatnonzero(self._keys[slots] != keys)
        while looking.size:
            there, wanted = slots[looking], keys[looking]
            free = self._keys[there] == _EMPTY
            self._keys[there[free]] = wanted[free]
            looking = looking[self._keys[there] != wanted]
            slots[looking] = (slots[looking] + 1) & mask
            looking = looking[self._keys[slots[looking]] != keys[looking]]
        return slots

    def _grow(self, needed: int) -> None:
        used = np.flatnonzero(self._places)
        keys, places = self._keys[used], self._places[used]
        self._allocate(1 << int(4 * needed).bit_length())
        self._places[self._slots(keys)] = places

    def _allocate(self, slots: int) -> None:
        self._keys = np.zeros(slots, dtype=np.uint64)
        #: A key's number plus one; 0 where there is none.
        self._places = np.zeros(slots, dtype=np.intp)


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
        numbers, new = self._table.number(row_keys(rows))
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
