"""Counting the points of a box by a sum over its axes, compiled: how many are beyond a threshold.

Every axis' place is drawn independently, so a linear form over a box is a sum of independent
numbers, and how it is distributed is a convolution. All axes but the widest are put on a common
grid; the widest is counted exactly at every point of it. What the grid makes of each number is off
by so much at most, and the thresholds are moved by the sum of that: the shares told are never
above the true ones.
"""

# numba has no types
# mypy: disallow-untyped-decorators=False, warn-return-any=False

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fairdesk.compiled import inner, typed

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: Steps of the grid across everything but the widest axis.
GRID = typed(2048)
#: And where a share that is taken off is bounded.
_COARSE = typed(1024)
#: An even run of more cells than this is added up by a moving sum.
_SCATTERED = 24
#: The rounding of one operation, with room for products of several.
_UNIT = 2.0**-52
#: Differences below this are not told apart.
_TINY = 1e-280


def room(axes: int) -> tuple[Float64, Numbers]:
    """Return what the functions here work in, for boxes of so many axes; one for each thread."""
    return np.zeros((7, GRID + 2 * axes + 16)), np.zeros(axes + 1, dtype=np.int64)


@inner()
def less_rounding(
    over: float, under: float, between: float, rounded: float
) -> tuple[float, float, float]:
    """Return three shares, less by what rounding can have added, in units of one operation."""
    slack = rounded * _UNIT
    return (
        min(max(over - slack, 0.0), 1.0),
        min(max(under - slack, 0.0), 1.0),
        min(max(between - slack, 0.0), 1.0),
    )


@inner()
def _enter(order: Numbers, spans: Float64, kept: int, i: int) -> int:
    """Put an axis among those kept, the narrow ones first: so the distribution stays short."""
    at = kept
    while at > 0 and spans[order[at - 1]] > spans[i]:
        order[at] = order[at - 1]
        at -= 1
    order[at] = i
    return kept + 1


@inner()
def _grid(order: Numbers, spans: Float64, kept: int, cells: int) -> tuple[float, float, int]:
    """Choose the grid's step: that, how far off is what is on no grid, and how many axes are."""
    rest = 0.0
    for j in range(kept - 1):
        rest += spans[order[j]]
    if rest / cells < _TINY:  # no grid is so fine
        return 1.0, rest, 0
    return rest / cells, 0.0, kept - 1


@inner()
def rounded_by(
    slack: float, axes: int, above: float, below: float, after: float, before: float
) -> float:
    """Bound the rounding of the form, of the grid and of what is compared."""
    off = slack * (8.0 * axes + 32.0) * _UNIT
    for limit in (above, below, after, before):
        if abs(limit) < np.inf:
            off += abs(limit) * 8.0 * _UNIT
    return off


@inner()
def _certain(
    base: float, above: float, below: float, after: float, before: float
) -> tuple[float, float, float]:
    """Count where the form is the same everywhere."""
    over = 1.0 if base > above else 0.0
    under = 1.0 if base < below else 0.0
    return over, under, 1.0 if after < base < before else 0.0


@inner(fastmath={"contract"})
def add(new: Float64, old: Float64, share: float) -> None:
    """Add a share of a distribution to another, in place."""
    for g in range(old.size):
        new[g] += share * old[g]


@inner()
def _scatter(work: Float64, source: int, support: int, cells: int) -> None:
    """Convolve a row of ``work`` with the cells in row 2, whose shares are in row 3.

    The other one of rows 0 and 1 is the result.
    """
    old, new = work[source, :support], work[1 - source]
    new[: support + int(work[2, cells - 1])] = 0.0
    for j in range(cells):
        at = int(work[2, j])
        add(new[at : at + support], old, work[3, j])


@inner()
def _slide(work: Float64, source: int, support: int, run: int) -> None:
    """Convolve a row of ``work`` with a run of equal shares; the other one is the result."""
    old, new, sums = work[source], work[1 - source], work[4]
    total = 0.0
    for g in range(support):
        total += old[g]
        sums[g] = total
    share = 1.0 / run
    both = min(support, run)
    for g in range(both):
        new[g] = sums[g] * share
    if support > run:
        for g in range(run, support):
            new[g] = max(sums[g] - sums[g - run], 0.0) * share
    else:
        new[both:run] = total * share
    late = max(support, run)
    for g in range(support + run - 1 - late):
        new[late + g] = max(total - sums[late - run + g], 0.0) * share


@inner()
def _progression(step: float, count: int, h: float, work: Float64) -> tuple[int, float, float]:
    """Put ``0, step, 2 step, ...`` on the grid: how many cells, and the ends of what is off."""
    cells, least, most = 0, 0.0, 0.0
    first = 0
    while first < count:
        cell = math.floor(step * first / h + 0.5)
        last = min(max(math.ceil((cell + 0.5) * h / step) - 1, first), count - 1)
        least = min(least, step * first - h * cell)
        most = max(most, step * last - h * cell)
        work[2, cells], work[3, cells] = cell, (last - first + 1) / count
        cells += 1
        first = last + 1
    return cells, least, most


@inner()
def _gather(counted: Float64, longest: int, work: Float64) -> int:
    """List the cells that are not empty in rows 2 and 3; say how many."""
    cells = 0
    for cell in range(longest + 1):
        if counted[cell] > 0.0:
            work[2, cells], work[3, cells] = cell, counted[cell]
            cells += 1
    return cells


@inner()
def _listed(
    values: Float64, at: int, count: int, lowest: float, h: float, work: Float64
) -> tuple[int, float, float]:
    """Put listed numbers, each as likely, on the grid; as `_progression`."""
    longest, least, most = 0, 0.0, 0.0
    for k in range(count):
        longest = max(longest, math.floor((values[at + k] - lowest) / h + 0.5))
    counted = work[4]
    counted[: longest + 1] = 0.0
    for k in range(count):
        value = values[at + k] - lowest
        cell = math.floor(value / h + 0.5)
        counted[cell] += 1.0 / count
        least, most = min(least, value - h * cell), max(most, value - h * cell)
    return _gather(counted, longest, work), least, most


@inner()
def _ends_even(
    work: Float64,
    source: int,
    support: int,
    h: float,
    base: float,
    step: float,
    count: int,
    above: float,
    below: float,
    after: float,
    before: float,
) -> tuple[float, float, float]:
    """Count a last axis of ``0, step, 2 step, ...`` at every point of the grid."""
    sums, most, per = work[source], float(count), 1.0 / step
    over = under = between = 0.0
    if above < np.inf:
        for g in range(support):
            place = np.floor((above - base - h * g) * per)
            over += sums[g] * min(max(most - 1.0 - place, 0.0), most)
    if below > -np.inf:
        for g in range(support):
            place = np.ceil((below - base - h * g) * per)
            under += sums[g] * min(max(place, 0.0), most)
    if after < before:
        for g in range(support):
            first = max(np.floor((after - base - h * g) * per) + 1.0, 0.0)
            last = min(np.ceil((before - base - h * g) * per), most)
            between += sums[g] * max(last - first, 0.0)
    return over / count, under / count, between / count


@inner()
def _sum_until(work: Float64, source: int, support: int) -> float:
    """Fill row 4 with the probability below each point of the grid; give all of it."""
    total = 0.0
    for g in range(support):
        work[4, g] = total
        total += work[source, g]
    work[4, support] = total
    return total


@inner()
def beyond(
    until: Float64,
    support: int,
    rest: float,
    per: float,
    above: float,
    below: float,
    after: float,
    before: float,
) -> tuple[float, float, float]:
    """Read off the three shares for one number of the last axis."""
    over = under = between = 0.0
    most = float(support)
    if above < np.inf:
        place = min(max(np.floor((above - rest) * per) + 1.0, 0.0), most)
        over = until[support] - until[int(place)]
    if below > -np.inf:
        place = min(max(np.ceil((below - rest) * per), 0.0), most)
        under = until[int(place)]
    if after < before:
        first = min(max(np.floor((after - rest) * per) + 1.0, 0.0), most)
        last = min(max(np.ceil((before - rest) * per), 0.0), most)
        if last > first:
            between = until[int(last)] - until[int(first)]
    return over, under, between


@inner()
def reach(
    i: int, low: Numbers, high: Numbers, slope: Float64, tables: Float64, start: Numbers
) -> tuple[float, float]:
    """Return the least and the most that an axis adds to a form in a box."""
    if start[i] < 0:
        first, last = slope[i] * low[i], slope[i] * high[i]
        return min(first, last), max(first, last)
    least = most = tables[start[i]]
    for k in range(start[i] + 1, start[i] + high[i] - low[i] + 1):
        least, most = min(least, tables[k]), max(most, tables[k])
    return least, most


@inner()
def _survey(
    low: Numbers,
    high: Numbers,
    slope: Float64,
    tables: Float64,
    start: Numbers,
    work: Float64,
    order: Numbers,
) -> tuple[int, float, float]:
    """Fill in each axis' span and its least number, rows 5 and 6, and order what is no constant.

    Gives how many axes that are, how large numbers can be, and the form's least.
    """
    spans, lows = work[5], work[6]
    kept, largest, base = 0, 0.0, 0.0
    for i in range(low.size):
        least, most = reach(i, low, high, slope, tables, start)
        largest += abs(least) + abs(most)
        base += least
        spans[i], lows[i] = most - least, least
        if most > least:
            kept = _enter(order, spans, kept, i)
    return kept, largest, base


@inner()
def _shares(
    low: Numbers,
    high: Numbers,
    slope: Float64,
    tables: Float64,
    start: Numbers,
    above: float,
    below: float,
    after: float,
    before: float,
    cells: int,
    work: Float64,
    order: Numbers,
) -> tuple[float, float, float]:
    """Do `shares` on a grid of so many cells."""
    kept, largest, base = _survey(low, high, slope, tables, start, work, order)
    if not largest < np.inf:
        return 0.0, 0.0, 0.0
    spans, lows = work[5], work[6]
    h, off, gridded = _grid(order, spans, kept, cells)
    work[0, 0] = 1.0
    support, source, rounded = 1, 0, 0.0
    for j in range(gridded):
        i = order[j]
        count, step = high[i] - low[i] + 1, abs(slope[i])
        if start[i] < 0 and step <= h and spans[i] > _SCATTERED * h:
            run = max(round(step * count / h), 1)
            _slide(work, source, support, run)
            # at every quantile, an even run and the cells differ by no more than between these
            least = min(step * count - h * run, 0.0) - step
            most = max(step * count - h * run, 0.0) + h
            rounded += 4.0 * (support + run) ** 2
            support += run - 1
        else:
            if start[i] < 0:
                filled, least, most = _progression(step, count, h, work)
            else:
                filled, least, most = _listed(tables, start[i], count, lows[i], h, work)
            _scatter(work, source, support, filled)
            rounded += filled + 4.0
            support += int(work[2, filled - 1])
        source = 1 - source
        base += 0.5 * (least + most)
        off += 0.5 * (most - least)
    off += rounded_by(abs(base) + h * support + largest, low.size, above, below, after, before)
    above, below, after, before = above + off, below - off, after + off, before - off
    if kept == 0:
        return _certain(base, above, below, after, before)
    i = order[kept - 1]
    count = high[i] - low[i] + 1
    if spans[i] < count * _TINY:
        return 0.0, 0.0, 0.0
    over = under = between = 0.0
    if start[i] < 0:
        over, under, between = _ends_even(
            work, source, support, h, base, abs(slope[i]), count, above, below, after, before
        )
    else:
        _sum_until(work, source, support)
        for k in range(start[i], start[i] + count):
            rest = base - lows[i] + tables[k]
            own = beyond(work[4], support, rest, 1.0 / h, above, below, after, before)
            over, under, between = over + own[0], under + own[1], between + own[2]
        over, under, between = over / count, under / count, between / count
    return less_rounding(over, under, between, rounded + 4.0 * support + 64.0)


@inner()
def shares(
    low: Numbers,
    high: Numbers,
    slope: Float64,
    tables: Float64,
    start: Numbers,
    above: float,
    below: float,
    after: float,
    before: float,
    work: Float64,
    order: Numbers,
) -> tuple[float, float, float]:
    """Bound from below which shares of a box's points a linear form puts beyond thresholds.

    Parameters
    ----------
    low, high : NDArray[np.int64]
        ``(a,)``; the ends of the box, both included.
    slope : NDArray[np.float64]
        ``(a,)``; the form is the sum of ``slope * place`` over the axes without a table.
    tables : NDArray[np.float64]
        Flat; what other axes add, for each place of the box.
    start : NDArray[np.int64]
        ``(a,)``; where in ``tables`` is what the axis adds at ``low``; -1 for no table.
    above, below : float
        Counted are the points where the form is above the one, and those where it is below the
        other. Infinite where that is not asked for.
    after, before : float
        And those where it is strictly between these two. ``after >= before`` where that is not
        asked for.
    work, order : NDArray
        As `room` gives them; overwritten.

    Returns
    -------
    float, float, float
        The three shares, from 0 to 1, never more than the true ones. 0 where a number is none.
    """
    return _shares(low, high, slope, tables, start, above, below, after, before, GRID, work, order)


@inner()
def outside(
    low: Numbers,
    high: Numbers,
    slope: Float64,
    tables: Float64,
    start: Numbers,
    after: float,
    before: float,
    work: Float64,
    order: Numbers,
) -> float:
    """Bound from above which share of a box's points a linear form puts outside of two limits.

    Parameters
    ----------
    low, high, slope, tables, start, work, order
        As `shares`.
    after, before : float
        The limits, themselves outside; either may be infinite.

    Returns
    -------
    float
        Never less than the true share: what is surely between them is told too small.
    """
    _, _, between = _shares(
        *(low, high, slope, tables, start, np.inf, -np.inf, after, before),
        *(_COARSE, work, order),
    )
    return 1.0 - between
