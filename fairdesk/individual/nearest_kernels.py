"""The compiled loop that finds the nearest of many people; compiled as `kernels` are."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from fairdesk.events import Rows
from fairdesk.individual.kernels import Numbers

#: People who are looked at together: their sums stay in the processor's first cache.
BLOCK = 64


@njit(
    "Tuple((float64[::1], int64[::1]))"
    "(float64[:, ::1], float64[:, :, ::1], float64[:, ::1], float64[:, ::1], int64[::1], float64)",
    cache=True,
    nogil=True,
)
def nearest_people(
    rows: Rows, blocks: Rows, low: Rows, high: Rows, index: Numbers, enough: float
) -> tuple[NDArray[np.float64], Numbers]:
    """Find for each row the nearest of many people.

    The distance is the sum over the attributes of the differences, each at most 1. A block of
    people is left out when even the nearest corner of the box around them is farther than
    somebody already met, and is abandoned when all partial sums are.

    Parameters
    ----------
    rows : Rows
        ``(n, m)``.
    blocks : Rows
        ``(b, m, BLOCK)``; the people, alike ones in one block, attribute by attribute.
    low, high : Rows
        ``(m, b)``; the box around each block.
    index : Numbers
        ``(b * BLOCK,)``; the number of each person; of equally near ones the least is given.
    enough : float
        A distance at which the first person met will do; below 0 for the nearest of all.

    Returns
    -------
    NDArray[np.float64], Numbers
        ``(n,)`` distances, exact to the last bit of such a sum; and the people's numbers, which
        with ``enough`` say nothing where the distance is above it.
    """
    count, attributes = len(blocks), rows.shape[1]
    distance = np.empty(len(rows))
    number = np.empty(len(rows), np.int64)
    bound = np.empty(count)
    total = np.empty(BLOCK)
    for i in range(len(rows)):
        bound[:] = 0.0
        for j in range(attributes):
            code = rows[i, j]
            for b in range(count):
                below, above = low[j, b] - code, code - high[j, b]
                gap = max(below, above)
                gap = max(gap, 0.0)
                bound[b] += min(gap, 1.0)
        best, who = (np.inf if enough < 0.0 else enough), np.int64(-1)
        first = bound.argmin()
        for turn in range(-1, count):
            b = first if turn < 0 else turn
            if bound[b] > best or turn == first:
                continue
            total[:] = 0.0
            for j in range(attributes):
                code = rows[i, j]
                for k in range(BLOCK):
                    apart = abs(code - blocks[b, j, k])
                    total[k] += min(apart, 1.0)
                if 2 * (j + 1) == attributes - attributes % 2 and total.min() > best:
                    break
            else:
                for k in range(BLOCK):
                    if total[k] < best or (
                        total[k] == best and (who < 0 or index[b * BLOCK + k] < who)
                    ):
                        best, who = total[k], index[b * BLOCK + k]
                if best <= enough and who >= 0:
                    break
        distance[i] = best if who >= 0 else np.inf
        number[i] = who
    return distance, number
