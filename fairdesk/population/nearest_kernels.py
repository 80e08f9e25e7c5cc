"""The compiled loop that finds the nearest of many people; compiled as others are."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from fairdesk.results.events import Rows

#: People who are looked at together: their sums stay in the processor's first cache.
BLOCK = 64

Sums = NDArray[np.float64]
Numbers = NDArray[np.int64]


@njit("void(float64[::1], float64[:, ::1], float64[:, ::1], float64[::1])", cache=True, nogil=True)
def _bounds(row: Sums, low: Rows, high: Rows, bound: Sums) -> None:
    """Fill in how far the nearest corner of each box is."""
    bound[:] = 0.0
    for j in range(len(row)):
        for b in range(len(bound)):
            gap = max(low[j, b] - row[j], row[j] - high[j, b])
            bound[b] += min(max(gap, 0.0), 1.0)


@njit("int64(float64[::1], float64)", cache=True, nogil=True)
def _near(total: Sums, farthest: float) -> int:
    """Count those who are near enough: unlike a minimum, many at a time."""
    count = 0
    for k in range(BLOCK):
        count += total[k] <= farthest
    return count


@njit("boolean(float64[::1], float64[:, ::1], float64, float64[::1])", cache=True, nogil=True)
def _distances(row: Sums, block: Rows, farthest: float, total: Sums) -> bool:
    """Fill in how far each person of a block is; return whether anybody is near enough.

    The rest is left out where half of it shows that nobody is.
    """
    total[:] = 0.0
    for j in range(len(row)):
        for k in range(BLOCK):
            total[k] += min(abs(row[j] - block[j, k]), 1.0)
        if 2 * (j + 1) == len(row) - len(row) % 2 and _near(total, farthest) == 0:
            return False
    return bool(_near(total, farthest))


@njit("void(float64[::1], int64[::1], float64, int64)", cache=True, nogil=True)
def _insert(distance: Sums, number: Numbers, new: float, who: int) -> None:
    """Put a person into their place among the nearest so far; the last one falls out."""
    place = len(distance)
    while place > 0 and (
        new < distance[place - 1] or (new == distance[place - 1] and who < number[place - 1])
    ):
        place -= 1
        if place + 1 < len(distance):
            distance[place + 1], number[place + 1] = distance[place], number[place]
    if place < len(distance):
        distance[place], number[place] = new, who


@njit(
    "Tuple((float64[:, ::1], int64[:, ::1]))(float64[:, ::1], float64[:, :, ::1], float64[:, ::1],"
    "float64[:, ::1], int64[::1], int64, float64)",
    cache=True,
    nogil=True,
)
def nearest_people(
    rows: Rows,
    blocks: Rows,
    low: Rows,
    high: Rows,
    index: Numbers,
    wanted: int,
    enough: float,
) -> tuple[Rows, Numbers]:
    """Find for each row the nearest of many people.

    The distance is the sum over the attributes of the differences, each at most 1. A block of
    people is left out when even the nearest corner of the box around them is farther than those
    already met, and is abandoned when all its partial sums are.

    Parameters
    ----------
    rows : Rows
        ``(n, m)``.
    blocks : Rows
        ``(b, m, BLOCK)``; the people, alike ones in one block, attribute by attribute.
    low, high : Rows
        ``(m, b)``; the box around each block.
    index : Numbers
        ``(b * BLOCK,)``; the number of each person; -1 where there is none.
    wanted : int
        How many are wanted.
    enough : float
        Nobody farther is looked for, and the first met who is no farther will do, if it is not
        negative.

    Returns
    -------
    Rows, Numbers
        ``(n, wanted)`` distances, ascending, exact to the last bit of such a sum; and the people's
        numbers, of equally near ones the least first. Infinity and -1 where there is nobody.
    """
    distance = np.full((len(rows), wanted), np.inf)
    number = np.full((len(rows), wanted), -1, np.int64)
    bound, total = np.empty(len(blocks)), np.empty(BLOCK)
    for i in range(len(rows)):
        _bounds(rows[i], low, high, bound)
        farthest = np.inf if enough < 0.0 else enough
        first = bound.argmin()
        for turn in range(-1, len(blocks)):
            b = first if turn < 0 else turn
            if bound[b] > farthest or turn == first:
                continue
            if not _distances(rows[i], blocks[b], farthest, total):
                continue
            for k in range(BLOCK):
                who = index[b * BLOCK + k]
                if who >= 0 and total[k] <= farthest:
                    _insert(distance[i], number[i], total[k], who)
                    farthest = min(farthest, distance[i, -1])
            if distance[i, -1] <= enough:
                break
    return distance, number
