"""Who was met: a lean table of people that never forgets anybody."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairdesk.results.events import Rows

if TYPE_CHECKING:
    from fairdesk.individual.engine.kernels import Keys, Numbers

#: The table grows when more than this share of its slots is taken, ...
_MOST_FULL = 0.8
#: ... and becomes so many times as long: there are 10 to 15 bytes for each person.
_GROWTH = 1.5


class VisitedSet:
    """Who was met, and whether they were found to be discriminated against.

    Parameters
    ----------
    columns : NDArray[np.intp]
        The attributes that make two rows one person or two.

    Attributes
    ----------
    size : int
        How many there are.
    """

    def __init__(self, columns: NDArray[np.intp]) -> None:
        # compiled code is loaded where a search runs, never in the window's process
        from fairdesk.individual.engine import kernels  # noqa: PLC0415

        self.size = 0
        self._kernels = kernels
        self._columns = columns.astype(np.int64)
        self._slots: Keys = np.zeros(1 << 14, dtype=np.uint64)

    @property
    def nbytes(self) -> int:
        """What the table holds."""
        return self._slots.nbytes

    def keys(self, rows: Rows) -> Keys:
        """Return the key of each of ``(n, d)`` rows' shared attributes: ``(n,)``."""
        keys: Keys = self._kernels.shared_keys(np.ascontiguousarray(rows), self._columns)
        return keys

    def meet(self, keys: Keys) -> Numbers:
        """Take in who is not there yet, as not discriminated against.

        Parameters
        ----------
        keys : Keys
            ``(n,)``, as `keys` gives them; may repeat.

        Returns
        -------
        Numbers
            The positions of those taken in, each person once.
        """
        while self.size + len(keys) > _MOST_FULL * len(self._slots):
            before = len(self._slots)
            # grown in place: there is never a second table
            self._slots.resize(int(_GROWTH * before), refcheck=False)
            self._kernels.spread(self._slots, before)
        new: Numbers = self._kernels.meet(keys, self._slots)
        self.size += len(new)
        return new

    def condemn(self, keys: Keys) -> None:
        """Note that these, who are there, are discriminated against."""
        self._kernels.condemn(keys, self._slots)

    def verdicts(self, keys: Keys) -> NDArray[np.bool_]:
        """Return whether each of these visited instances was found discriminatory: ``(n,)``."""
        verdicts: NDArray[np.bool_] = self._kernels.verdicts(keys, self._slots)
        return verdicts
