"""Nearest rows of the data, and how far two rows are apart, by Gower's distance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import DataError
from fairdesk.results.events import Rows

#: Where a missing cell is on the scale of an order that goes from 0 to 1: far from all of it.
NOWHERE = 3.0


def measured(domain: Domain) -> NDArray[np.intp]:
    """Return the positions of the attributes that count for a distance.

    Those in which members of a similar set are equal, without those that have one value only.
    """
    others = domain.others
    return np.asarray(others[domain.low[others] < domain.high[others]])


def everywhere(domain: Domain) -> NDArray[np.intp]:
    """Return the positions of all attributes that have more than one value."""
    return np.flatnonzero(domain.low < domain.high)


def scaled(domain: Domain, rows: Rows, positions: NDArray[np.intp] | None = None) -> Rows:
    """Put people on scales on which Gower's distance is the mean of differences, each at most 1.

    Parameters
    ----------
    rows : Rows
        ``(n, d)``; NaN where a cell is missing.
    positions : NDArray[np.intp], optional
        ``(m,)``; the attributes that count, by default those `measured`.

    Returns
    -------
    Rows
        ``(n, m)``, a column for each of these: for a name its code, so that two names are 1
        apart or more; for a number, or a place in an order, its share of the range.
    """
    places = measured(domain) if positions is None else positions
    low, span, unknown = scales(domain, places).T
    codes = rows[:, places]
    return np.asarray(np.where(codes == unknown, NOWHERE, (codes - low) / span))


def scales(domain: Domain, positions: NDArray[np.intp]) -> Rows:
    """Return the scales of attributes, ``(m, 3)``: where each begins, how long it is, its unknown.

    The last is the code, of an order, that means that its value is not known; NaN where none does.
    """
    return np.array([_scale(domain.attributes[i]) for i in positions.tolist()]).reshape(-1, 3)


def _scale(attribute: Attribute) -> tuple[float, float, float]:
    span = attribute.high - attribute.low - attribute.unknown
    if attribute.kind in (Kind.NOMINAL, Kind.TEXT) or span == 0:
        return 0.0, 1.0, np.nan
    return attribute.low, span, attribute.high if attribute.unknown else np.nan


def gower(
    domain: Domain, people: Rows, row: Rows, positions: NDArray[np.intp] | None = None
) -> NDArray[np.float64]:
    """Measure how far people are from one person: Gower's distance, of what is `measured`.

    The mean over the attributes of 0 or 1 for names, equal or not, and of the difference as a
    share of the domain's range for numbers and for places in an order. Attributes that are
    missing in one of the two are left out of the mean.

    Parameters
    ----------
    people : Rows
        ``(n, d)``.
    row : Rows
        ``(d,)``.

    Returns
    -------
    NDArray[np.float64]
        ``(n,)``; 0 (alike in everything) to 1; 1 where nothing can be compared.
    """
    ours, theirs = (scaled(domain, each, positions) for each in (people, row[None]))
    apart = np.minimum(np.abs(ours - theirs), 1.0)
    known = ~np.isnan(apart)
    compared = known.sum(axis=1)
    total = np.where(known, apart, 0.0).sum(axis=1)
    return np.where(compared > 0, total / np.maximum(compared, 1), 1.0)


def nearest(
    domain: Domain, people: Rows, row: Rows, positions: NDArray[np.intp] | None = None
) -> tuple[int, float]:
    """Find the person nearest to ``row``: their index in ``people``, and the distance.

    The first one where several are equally near; as `gower`.

    Raises
    ------
    DataError
        When there are no people.
    """
    refuse_nobody(people)
    distances = gower(domain, people, row, positions)
    index = int(distances.argmin())
    return index, float(distances[index])


def refuse_nobody(people: Rows) -> None:
    """Raise a `DataError` when there is nobody to compare with."""
    if not len(people):
        raise DataError(
            "The data contain no row to compare with.",
            why="No row is complete and within the limits of the attributes.",
            remedy="Widen the limits of the attributes.",
        )


#: Where a missing cell is on the scale of an attribute: far from every value, near to its like.
_MISSING = -3.0
#: So little more than a limit is rounding: sums of shares are exact to a few last bits.
_ROUNDING = 1e-9
#: Twice the rounding of one operation with numbers of half the length.
_HALF_UNIT = 2.0**-23


class Nearest:
    """Finds the nearest of many real people: exactly, and tens of thousands of times a second.

    The distance is that of `fairdesk.population.nearest.gower`: 0 (alike in everything in which
    members of a similar set are equal) to 1.

    Parameters
    ----------
    people : Rows
        ``(m, d)``; equal ones count once. A missing code is a value by itself.
    whole : bool
        Compare in all attributes, the protected ones included, instead of in those that members
        of a similar set share.

    Attributes
    ----------
    multiplicity : NDArray[np.intp]
        ``(m,)``; how many of the people are equal to each, in what is compared, itself included.

    Raises
    ------
    DataError
        When there are no people.
    """

    def __init__(self, domain: Domain, people: Rows, *, whole: bool = False) -> None:
        # compiled code is loaded where a search runs, never in the window's process
        from fairdesk.population import row_kernels  # noqa: PLC0415

        refuse_nobody(people)
        self._kernels = row_kernels
        positions = everywhere(domain) if whole else measured(domain)
        self._columns, self._scales = positions.astype(np.int64), scales(domain, positions)
        everyone = self._scaled(people)
        first, self.multiplicity = _distinct(everyone)
        # what tells most people apart comes first, so that a sum is soon too great
        order = np.argsort(-_spread(everyone[first]), kind="stable")
        self._columns, self._scales = self._columns[order], self._scales[order]
        codes = everyone[first][:, order]
        self._unlike = len(codes)
        places = _blocks(codes, row_kernels.BLOCK)
        blocks = codes[places]
        self._blocks = np.ascontiguousarray(blocks.transpose(0, 2, 1))
        self._coarse = self._blocks.astype(np.float32)
        # of two rounded codes and their difference, in every sum; twice as much, to be sure
        width = codes.shape[1]
        farthest = float(np.abs(codes).max(initial=0.0))
        self._margin = width * _HALF_UNIT * (2.0 * farthest + width + 4.0)
        low, high = blocks.min(axis=1), blocks.max(axis=1)
        begins = np.arange(0, len(blocks), row_kernels.GROUP)
        around = np.minimum.reduceat(low, begins), np.maximum.reduceat(high, begins)
        self._boxes = tuple(np.ascontiguousarray(each.T) for each in (low, high, *around))
        # whoever fills a block up is there a second time, and is not met again
        again = np.ones(places.size, dtype=np.bool_)
        again[np.unique(places, return_index=True)[1]] = False
        self._index: NDArray[np.int64] = np.where(again, -1, first[places.ravel()])

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
        return total / max(1, len(self._columns)), index.astype(np.intp)

    def within(self, limit: float) -> Callable[[Rows], NDArray[np.bool_]]:
        """Return a function that tells of ``(n, d)`` rows which are no farther from somebody."""
        enough = (limit + _ROUNDING) * max(1, len(self._columns))
        return lambda rows: self._search(rows, 1, enough)[0][:, 0] <= enough

    @staticmethod
    def is_within(distance: Rows, limit: float) -> NDArray[np.bool_]:
        """Return which distances, as of `find`, are no greater than a limit, as `within` tells."""
        return np.asarray(distance <= limit + _ROUNDING)

    def _search(self, rows: Rows, wanted: int, enough: float) -> tuple[Rows, NDArray[np.int64]]:
        total: Rows
        index: NDArray[np.int64]
        total, index = self._kernels.nearest_people(
            self._scaled(rows),
            *(self._blocks, self._coarse, self._margin),
            *self._boxes,
            *(self._index, wanted, enough),
        )
        return total, index

    def _scaled(self, rows: Rows) -> Rows:
        codes: Rows = self._kernels.scaled(rows, self._columns, self._scales, NOWHERE, _MISSING)
        return codes


def _distinct(rows: Rows) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first of equal rows, in their order; and for each row how many are equal to it."""
    if not rows.shape[1]:
        return np.zeros(1, dtype=np.intp), np.full(len(rows), len(rows))
    # one text of bytes for each row; 0.0 and -0.0 are the same
    whole = np.ascontiguousarray(rows + 0.0).view(np.dtype((np.void, 8 * rows.shape[1]))).ravel()
    first: dict[object, int] = {}
    place = np.array([first.setdefault(key, i) for i, key in enumerate(whole.tolist())])
    return np.array(list(first.values())), np.bincount(place)[place]


def _spread(codes: Rows) -> Rows:
    """``(m,)``; how far people are from the middle of each scale on average, each at most 1."""
    return np.asarray(np.minimum(np.abs(codes - np.median(codes, axis=0)), 1.0).mean(axis=0))


def _blocks(codes: Rows, size: int) -> NDArray[np.intp]:
    """Put alike people together: halve along the widest scale until a block holds them.

    Parameters
    ----------
    codes : Rows
        ``(n, m)``.

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
