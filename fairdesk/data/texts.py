"""The columns of a file before they have a kind: texts, or numbers that were stored as such.

There are two ways to hold texts that answer the same questions alike: `Texts` in plain Python, and
`fairdesk.data.packed.PackedTexts` in Arrow's buffers, for files of many cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.kinds import as_numbers

Mask = NDArray[np.bool_]


class AnyTexts:
    """One column of texts: those that occur, and which of them every row has."""

    codes: NDArray[np.int32]

    def __len__(self) -> int:
        raise NotImplementedError

    def counts(self) -> NDArray[np.intp]:
        """Tell how often each of its texts occurs."""
        return np.bincount(self.codes, minlength=len(self))

    def words(self) -> set[str]:
        """Give its texts without the spaces around them.

        Of those that begin and end like numbers only two need to be there.
        """
        raise NotImplementedError

    def among(self, tokens: Collection[str]) -> Mask:
        """Tell which of its texts are one of these, spaces around it left aside."""
        raise NotImplementedError

    def pick(self, wanted: Mask) -> list[str]:
        """Give some of its texts."""
        raise NotImplementedError

    def holding(self, mark: str) -> Mask:
        """Tell which of its texts hold a character."""
        raise NotImplementedError

    def numbers(self, wanted: Mask, decimal: str) -> NDArray[np.float64] | None:
        """Read some of its texts as numbers, all or none, like `as_numbers`."""
        raise NotImplementedError

    def commonest(self, wanted: Mask) -> str:
        """Give the most frequent of some texts, the first one where several are."""
        tally: Counter[str] = Counter()
        for text, count in zip(self.pick(wanted), self.counts()[wanted].tolist(), strict=True):
            tally[text] += count
        return max(tally, key=tally.__getitem__, default="")


@dataclass(frozen=True)
class Texts(AnyTexts):
    """Texts in plain Python.

    Attributes
    ----------
    distinct : list[str]
        The different cells, exactly as they are written, in the order they first appear.
    codes : NDArray[np.int32]
        ``(n,)``; the index in ``distinct`` of every row's cell.
    """

    distinct: list[str]
    codes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.distinct)

    def words(self) -> set[str]:
        """Strip them all."""
        return {text.strip() for text in self.distinct}

    def among(self, tokens: Collection[str]) -> Mask:
        """Strip and compare them one by one."""
        return np.array([text.strip() in tokens for text in self.distinct], dtype=bool)

    def pick(self, wanted: Mask) -> list[str]:
        """Give them in their order."""
        return [self.distinct[i] for i in np.flatnonzero(wanted).tolist()]

    def holding(self, mark: str) -> Mask:
        """Search them one by one."""
        return np.array([mark in text for text in self.distinct], dtype=bool)

    def numbers(self, wanted: Mask, decimal: str) -> NDArray[np.float64] | None:
        """See `as_numbers`."""
        return as_numbers(self.pick(wanted), decimal)


@dataclass(frozen=True)
class Numbers:
    """One column of numbers, of a file that stores them as such.

    Attributes
    ----------
    codes : NDArray[np.float64]
        ``(n,)`` finite numbers, none of them a whole one that a float cannot keep exactly; NaN
        where there is none.
    note : str
        As that of `fairdesk.data.table.Column`.
    """

    codes: NDArray[np.float64]
    note: str = ""
