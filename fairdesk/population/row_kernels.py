"""Compiled loops over rows: how usual each is, and who is nearest; compiled as others are."""

from __future__ import annotations

import numpy as np
from numba.types import Array, float64, int64
from numpy.typing import NDArray

from fairdesk.compiled import ZERO, inner, put, whole
from fairdesk.results.events import Rows

#: People who are looked at together: their sums stay in the processor's first cache.
BLOCK = 64
#: So many blocks that follow one another have a box around all of them.
GROUP = 16

Sums = NDArray[np.float64]
Numbers = NDArray[np.int64]
#: Numbers of half the length.
Halves = NDArray[np.float32]
#: Rows of any layout, also those that may not be written to.
_ANY = Array(float64, 2, "A", readonly=True)


@inner()
def _starts_up_to(code: float, starts: Sums, first: int, count: int) -> int:
    """Count those of ascending starts that are no greater."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if starts[first + middle] <= code:
            low = middle + 1
        else:
            high = middle
    return low


@whole(float64[::1](_ANY, int64[:, ::1], int64[::1], float64[::1], float64[::1]))
def log_density(rows: Rows, layout: Numbers, names: Numbers, starts: Sums, tables: Sums) -> Sums:
    """Sum the logarithms that a tree has for the cells of each row.

    Parameters
    ----------
    rows : Rows
        ``(n, d)``; NaN where a code is missing.
    layout : Numbers
        ``(d, 8)``; of each attribute its parent (-1: none), how many cells it has, whether the last
        is that of missing codes, where its names begin and how many there are, where its starts
        begin and how many there are, and where its table begins.
    names : Numbers
        The cell of each code, one attribute behind the other; none of an attribute of numbers.
    starts : Sums
        The least code of each cell but the first, likewise; none of an attribute of names.
    tables : Sums
        The logarithms, by the parent's cell and the own.

    Returns
    -------
    Sums
        ``(n,)``; minus infinity where a code is missing that has no cell for that.
    """
    density = np.zeros(len(rows))
    cells = np.empty(len(layout), np.int64)
    for i in range(len(rows)):
        for j in range(len(layout)):
            code = rows[i, j]
            if np.isnan(code):
                cells[j] = layout[j, 1] - 1
                if layout[j, 2] == 0:
                    density[i] = -np.inf
            elif layout[j, 4]:
                cells[j] = names[layout[j, 3] + int(min(max(code, 0.0), layout[j, 4] - 1.0))]
            else:
                cells[j] = _starts_up_to(code, starts, layout[j, 5], layout[j, 6])
        for j in range(len(layout)):
            parent = layout[j, 0]
            given = 0 if parent < 0 else cells[parent]
            density[i] += tables[layout[j, 7] + given * layout[j, 1] + cells[j]]
    return density


@whole(float64[:, ::1](_ANY, int64[::1], float64[:, ::1], float64, float64))
def scaled(rows: Rows, columns: Numbers, scales: Rows, nowhere: float, missing: float) -> Rows:
    """Put codes on their attributes' scales, as `fairdesk.population.nearest.scaled` does.

    Parameters
    ----------
    rows : Rows
        ``(n, d)``; NaN where a code is missing.
    columns : Numbers
        ``(m,)``; which count, in which order.
    scales : Rows
        ``(m, 3)``; of each its scale.
    nowhere, missing : float
        Where on it a code is whose value is not known, and one that is missing.

    Returns
    -------
    Rows
        ``(n, m)``.
    """
    there = np.empty((len(rows), len(columns)))
    for i in range(len(rows)):
        for j in range(len(columns)):
            code = rows[i, columns[j]]
            if np.isnan(code):
                there[i, j] = missing
            elif code == scales[j, 2]:
                there[i, j] = nowhere
            else:
                there[i, j] = (code - scales[j, 0]) / scales[j, 1]
    return there


@inner()
def _bounds(row: Sums, low: Rows, high: Rows, begin: int, end: int, bound: Sums) -> int:
    """Fill in how far the nearest corner of each box from ``begin`` is; return the nearest box."""
    bound[begin:end] = 0.0
    for j in range(len(row)):
        for b in range(begin, end):
            gap = max(low[j, b] - row[j], row[j] - high[j, b])
            bound[b] += min(max(gap, 0.0), 1.0)
    return begin + int(bound[begin:end].argmin())


@inner()
def _distances(row: Sums, block: Rows, farthest: float, total: Sums) -> bool:
    """Fill in how far each person of a block is; return whether anybody is near enough."""
    total[:] = 0.0
    for j in range(len(row)):
        for k in range(BLOCK):
            total[k] += min(abs(row[j] - block[j, k]), 1.0)
    # unlike a minimum, a count is taken of many at a time
    count = 0
    for k in range(BLOCK):
        count += total[k] <= farthest
    return count > 0


@inner()
def _may_be_near(row: Halves, block: Halves, farthest: float, total: Halves) -> bool:
    """Return whether anybody of a block may be near enough, by numbers of half the length."""
    total[:] = 0.0
    one = np.float32(1.0)
    for j in range(len(row)):
        for k in range(BLOCK):
            total[k] += min(abs(row[j] - block[j, k]), one)
        if 2 * (j + 1) == len(row) - len(row) % 2 or j + 1 == len(row):
            count = 0
            for k in range(BLOCK):
                count += total[k] <= farthest
            if count == 0:
                return False
    return True


@inner()
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


@whole(
    "Tuple((float64[:, ::1], int64[:, ::1]))(float64[:, ::1], float64[:, :, ::1],"
    "float32[:, :, ::1], float64, float64[:, ::1], float64[:, ::1], float64[:, ::1],"
    "float64[:, ::1], int64[::1], int64, float64)"
)
def nearest_people(
    rows: Rows,
    blocks: Rows,
    coarse: Halves,
    margin: float,
    low: Rows,
    high: Rows,
    group_low: Rows,
    group_high: Rows,
    index: Numbers,
    wanted: int,
    enough: float,
) -> tuple[Rows, Numbers]:
    """Find for each row the nearest of many people.

    The distance is the sum over the attributes of the differences, each at most 1. A block of
    people, or a group of blocks, is left out when even the nearest corner of the box around them is
    farther than those already met; a block is abandoned when all its partial sums are. Most are
    abandoned by sums of half the length, which are computed in half the time.

    Parameters
    ----------
    rows : Rows
        ``(n, m)``.
    blocks : Rows
        ``(b, m, BLOCK)``; the people, alike ones in one block, attribute by attribute.
    margin : float
        By so much distances of these can be off.
    low, high : Rows
        ``(m, b)``; the box around each block.
    group_low, group_high : Rows
        ``(m, g)``; the box around each group of `GROUP` blocks, one after the other.
    index : Numbers
        ``(b * BLOCK,)``; the number of each person; -1 where there is none.
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
    groups = group_low.shape[1]
    bound, total, group_bound = np.empty(len(blocks)), np.empty(BLOCK), np.empty(groups)
    row, about = np.empty(rows.shape[1], np.float32), np.empty(BLOCK, np.float32)
    for i in range(len(rows)):
        put(row, rows[i])
        farthest = np.inf if enough < 0.0 else enough
        first_group = _bounds(rows[i], group_low, group_high, ZERO, groups, group_bound)
        for group_turn in range(-1, groups):
            g = first_group if group_turn < 0 else group_turn
            if group_bound[g] > farthest or group_turn == first_group:
                continue
            begin, end = g * GROUP, min((g + 1) * GROUP, len(blocks))
            first = _bounds(rows[i], low, high, begin, end, bound)
            for turn in range(begin - 1, end):
                b = first if turn < begin else turn
                if bound[b] > farthest or turn == first:
                    continue
                if not _may_be_near(row, coarse[b], np.float32(farthest + margin), about):
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
            if distance[i, -1] <= enough:
                break
    return distance, number
