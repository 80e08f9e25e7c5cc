"""The nearest real person, by Gower's distance."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.data.profiling.nearest import refuse_nobody, scaled
from fairdesk.results.events import Rows

if TYPE_CHECKING:
    from fairdesk.individual.engine.kernels import Numbers

#: So little more than a limit is rounding: sums of shares are exact to a few last bits.
_ROUNDING = 1e-9


class Nearest:
    """Finds the nearest of many real people: exactly, and tens of thousands of times a second.

    The distance is that of `fairdesk.data.profiling.nearest.gower`: 0 (alike in everything in which
    members of a similar set are equal) to 1.

    Parameters
    ----------
    domain : Domain
        Says what the codes are.
    people : Rows
        ``(m, d)``, without missing codes; equal ones count once.

    Raises
    ------
    DataError
        When there are no people.
    """

    def __init__(self, domain: Domain, people: Rows) -> None:
        # compiled code is loaded where a search runs, never in the window's process
        from fairdesk.individual.engine import kernels  # noqa: PLC0415
        from fairdesk.individual.realism import nearest_kernels  # noqa: PLC0415

        refuse_nobody(people)
        self._domain, self._kernels = domain, nearest_kernels
        everyone = scaled(domain, people)
        first, _ = kernels.distinct(kernels.row_keys(np.ascontiguousarray(everyone)))
        codes = everyone[first]
        # what tells most people apart comes first, so that a sum is soon too great
        self._order = np.argsort(-_spread(codes), kind="stable")
        codes = codes[:, self._order]
        self._unlike = len(codes)
        places = _blocks(codes, nearest_kernels.BLOCK)
        blocks = codes[places]
        self._blocks = np.ascontiguousarray(blocks.transpose(0, 2, 1))
        self._low = np.ascontiguousarray(blocks.min(axis=1).T)
        self._high = np.ascontiguousarray(blocks.max(axis=1).T)
        # whoever fills a block up is there a second time, and is not met again
        again = np.ones(places.size, dtype=np.bool_)
        again[np.unique(places, return_index=True)[1]] = False
        self._index: Numbers = np.where(again, -1, first[places.ravel()])

    def find(self, rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Find the nearest person of each row.

        Parameters
        ----------
        rows : Rows
            ``(n, d)``.

        Returns
        -------
        distance : NDArray[np.float64]
            ``(n,)``; 0 to 1.
        index : NDArray[np.intp]
            ``(n,)``; a position in ``people``: the first of those who are equally near.
        """
        distance, index = self.several(rows, 1)
        return distance[:, 0], index[:, 0]

    def several(self, rows: Rows, wanted: int) -> tuple[Rows, NDArray[np.intp]]:
        """Find the nearest people of each row, of whom no two are equal.

        Returns
        -------
        distance, index : Rows, NDArray[np.intp]
            ``(n, k)`` as of `find`, the nearest first; ``k`` is ``wanted``, or how many unequal
            people there are when these are fewer.
        """
        total, index = self._search(rows, min(wanted, self._unlike), -1.0)
        return total / len(self._order), index.astype(np.intp)

    def within(self, limit: float) -> Callable[[Rows], NDArray[np.bool_]]:
        """Return a function that tells of ``(n, d)`` rows which are no farther from somebody."""
        enough = (limit + _ROUNDING) * len(self._order)
        return lambda rows: self._search(rows, 1, enough)[0][:, 0] <= enough

    def _search(self, rows: Rows, wanted: int, enough: float) -> tuple[Rows, Numbers]:
        codes = np.ascontiguousarray(scaled(self._domain, rows)[:, self._order])
        total: Rows
        index: Numbers
        total, index = self._kernels.nearest_people(
            codes, self._blocks, self._low, self._high, self._index, wanted, enough
        )
        return total, index


def _spread(codes: Rows) -> Rows:
    """``(m,)``; how far people are from the middle of each scale on average, each at most 1."""
    return np.asarray(np.minimum(np.abs(codes - np.median(codes, axis=0)), 1.0).mean(axis=0))


def _blocks(codes: Rows, size: int) -> NDArray[np.intp]:
    """Put alike people together: halve along the widest scale until a block holds them.

    Parameters
    ----------
    codes : Rows
        ``(n, m)``.
    size : int
        Of a block.

    Returns
    -------
    NDArray[np.intp]
        ``(b, size)`` positions; the last person of a block that is not full comes again.
    """
    full: list[NDArray[np.intp]] = []
    parts = [np.arange(len(codes))]
    while parts:
        part = parts.pop()
        if len(part) <= size:
            full.append(np.pad(part, (0, size - len(part)), mode="edge"))
            continue
        here = codes[part]
        widest = here[
            :, np.minimum(np.abs(here - np.median(here, axis=0)), 1.0).mean(axis=0).argmax()
        ]
        half = (len(part) // 2 + size - 1) // size * size
        order = np.argpartition(widest, half - 1)
        parts += [part[order[half:]], part[order[:half]]]
    return np.array(full)
