"""How much is asked of a model in one go: about as much as it answers in a moment."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Protocol

import numpy as np

#: Rows that are asked about in one go, at first and at most.
_FIRST_ROWS, _MOST_ROWS = 1_024, 65_536
#: About so long the model works before the next progress is told.
_SECONDS = 0.1
#: Where each part has a time of its own, that is no more than one in so many of its seconds, ...
_WHOLE = 20.0
#: ... but for that no part takes longer than this, nor than twice that time.
_LONGEST = 0.5
#: Figures are told anew after so many seconds.
_TELL_SECONDS = 0.5
#: Of what parts took each weighs so much of what the next one does, ...
_FADES = 0.8
#: ... and that no rows take no time, this.
_NOTHING = 0.05
#: Parts are larger and smaller by this in turn: of equal ones nothing could be learned.
_APART = 1.4
#: The last part of a block is no smaller than half of one: it would take almost as long.
_LAST = 1.5


class PartTimes:
    """What parts of so many rows take, learned of those before: each a time of its own, and by row.

    A model of hundreds of trees takes its time for each call, however few rows it has. This is kept
    beyond a run, so that the shards of one need not learn it anew.

    Attributes
    ----------
    rows : float
        Of how many rows the next part is to be.
    """

    def __init__(self) -> None:
        self.rows = self._middle = float(_FIRST_ROWS)
        self._larger = False
        #: Of the parts: how many they are, rows, squares of these, seconds, and seconds by rows.
        self._sums = np.zeros(5)

    def note(self, rows: int, took: float, seconds: float) -> None:
        """Note what a part took; the next one is to take about so many seconds, if that suits."""
        self._sums = _FADES * self._sums + (1.0, rows, rows**2, took, rows * took)
        count, sum_rows, squares, sum_took, products = self._sums.tolist()
        count += _NOTHING
        # the straight line that fits best
        slope = (count * products - sum_rows * sum_took) / (count * squares - sum_rows**2)
        each_row = max(slope, 1e-12)
        own = min(max((sum_took - each_row * sum_rows) / count, 0.0), took)
        aim = max(seconds, min(_WHOLE * own, max(_LONGEST, 2.0 * own)))
        wanted = np.clip((aim - own) / each_row, self._middle / 2.0, 2.0 * self._middle)
        self._middle = float(np.clip(wanted, 1.0, _APART * _MOST_ROWS))
        self._larger = not self._larger
        self.rows = min(self._middle * _APART ** (1 if self._larger else -1), _MOST_ROWS)


class Limited(Protocol):
    """What a method works with, where rows may be limited."""

    part_times: PartTimes

    @property
    def rows_left(self) -> float:
        """Rows of the run's budget that are not used up; infinite where there is none."""


def at_most(size: int, left: float, each: int) -> int:
    """Cut a part so that only its last member can use up a budget, and no smaller than one.

    Parameters
    ----------
    size : int
        How many the part would have without a budget.
    left : float
        Rows of the budget that are left; where that is none, the run is about to end.
    each : int
        Rows that are sent for a member at most.
    """
    return int(min(size, max(1, (left - 1) // each))) if 0 < left < np.inf else size


class Pace:
    """Cuts blocks into parts that a model answers in about so many seconds.

    A budget of rows ends a run after the very person at whom it is used up, however fast the model
    is: parts are cut so that no part reaches beyond. Where parts have a time of their own, they are
    larger, so that most of a part's seconds are those of its rows.

    Parameters
    ----------
    members : int
        Rows that are asked about for each person.
    seconds : float
        By default a tenth of one.
    context : Limited, optional
        What the method works with, and what was learned of parts; without it no budget is minded.
    extra : int
        Rows that may be sent for a person beside, to ask about them anew.
    """

    def __init__(
        self,
        members: int,
        seconds: float = _SECONDS,
        *,
        context: Limited | None = None,
        extra: int = 0,
    ) -> None:
        self._seconds, self._context = seconds, context
        self._members, self._each = members, members + extra
        self._times = PartTimes() if context is None else context.part_times
        self._told = -np.inf

    @property
    def _left(self) -> float:
        return np.inf if self._context is None else self._context.rows_left

    def parts(self, n_samples: int) -> Iterator[slice]:
        """Yield one part after the other; each is worked on before the next is asked for."""
        start = 0
        while start < n_samples:
            wanted, left = max(1, int(self._times.rows / self._members)), n_samples - start
            # no small part at the end
            wanted = left if wanted < left < _LAST * wanted else wanted
            size, began = at_most(wanted, self._left, self._each), perf_counter()
            yield slice(start, start + size)
            took = max(perf_counter() - began, 1e-6)
            self._times.note(min(size, left) * self._members, took, self._seconds)
            start += size

    def of_unit(self, n_samples: int) -> Iterator[tuple[slice, bool]]:
        """Yield the parts of a unit, each with whether it is the last; an empty unit has one."""
        if not n_samples:
            yield slice(0, 0), True
        for part in self.parts(n_samples):
            yield part, part.stop >= n_samples

    def due(self) -> bool:
        """Return whether figures are to be told: now and then, and once the budget is used up."""
        now = perf_counter()
        if now - self._told <= _TELL_SECONDS and self._left > 0:
            return False
        self._told = now
        return True
