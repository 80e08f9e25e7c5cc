"""The neighbours of a row as boxes, and which boxes hold a changed decision of a linear model.

A linear model adds to what it makes of a point, a sum of a term for each axis, a number for each
combination of protected values. So a point can be discriminatory only where its sum lies in a band.
Most boxes are clear of it as a whole. In any other all places are gone through along every axis but
the longest, on which those that reach the band are found by bisection.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.bounds.linear import LinearExaminer
from fairdesk.certify.counting.exhaustive import points_of
from fairdesk.certify.domain.space import Axis, Places, Space
from fairdesk.errors import SpecError

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: Of boxes along longer axes nothing is said: their places are no floating-point numbers.
_MOST_PLACES = 1 << 50
#: A box is gone through in so many steps at most, and so many are made at once.
_MOST_STEPS, _AT_ONCE = 1_024, 1 << 17


class Near(NamedTuple):
    """What is said of ``p`` boxes.

    Attributes
    ----------
    clear : NDArray[np.bool_]
        ``(p,)``; no point of it is discriminatory.
    found : NDArray[np.bool_]
        ``(p,)``; a point was found that is discriminatory, or too near to the boundary to tell.
    point : Places
        ``(p, a)``; that point.
    """

    clear: Flags
    found: Flags
    point: Places


class _Boxes(NamedTuple):
    """Boxes, ``(p, a)`` ends, and between which sums, both included, points are near."""

    low: Places
    high: Places
    after: Float64
    before: Float64

    def some(self, which: Flags | slice) -> _Boxes:
        return _Boxes(self.low[which], self.high[which], self.after[which], self.before[which])


class _Slope:
    """What the places of an axis add where every further one adds the same."""

    sorted = True

    def __init__(self, slope: float) -> None:
        self._slope = slope

    def at(self, places: Numbers) -> Float64:
        """Return what places add."""
        return np.asarray(self._slope * places)

    def ends(self, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
        """Return the places between two, ``(p,)``, that add the least and the most."""
        return (low, high) if self._slope >= 0 else (high, low)

    def between(
        self, low: Numbers, high: Numbers, after: Float64, before: Float64
    ) -> tuple[Numbers, Numbers]:
        """Return a place between two others that adds a number between two, and how many do."""
        if not self._slope:
            return low, np.where(self._is_out(low, after, before), 0, high - low + 1)
        with np.errstate(over="ignore"):
            ends = np.sort(np.stack([after, before]) / self._slope, axis=0)
        # one more on either side, for what the quotients were rounded by
        first = _clipped(np.ceil(ends[0]) - 1.0, low, high + 1)
        last = _clipped(np.floor(ends[1]) + 1.0, low - 1, high)
        for _ in range(3):
            first = first + ((first <= last) & self._is_out(first, after, before))
            last = last - ((first <= last) & self._is_out(last, after, before))
        return first + (last - first) // 2, np.maximum(last - first + 1, 0)

    def _is_out(self, places: Numbers, after: Float64, before: Float64) -> Flags:
        value = self.at(places)
        return np.asarray((value < after) | (value > before))


def _clipped(places: Float64, low: Numbers, high: Numbers) -> Numbers:
    return np.clip(places, low, high).astype(np.int64)


class _Table:
    """What the places of an axis add: ``values``, ascending where it is ``sorted``.

    Along an axis whose values fall, places are counted from its end: ``turned``.
    """

    def __init__(self, values: Float64) -> None:
        steps = np.diff(values)
        self.turned = bool((steps <= 0).all() and (steps < 0).any())
        self.values = values[::-1].copy() if self.turned else values
        self.sorted = self.turned or bool((steps >= 0).all())

    def at(self, places: Numbers) -> Float64:
        """Return what places add."""
        return np.asarray(self.values[self._counted(places)])

    def _counted(self, places: Numbers) -> Numbers:
        return len(self.values) - 1 - places if self.turned else places

    def ends(self, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
        """Return the places between two, ``(p,)``, that add the least and the most."""
        if self.sorted:
            return (high, low) if self.turned else (low, high)
        pairs, which = np.unique(np.stack([low, high], axis=1), axis=0, return_inverse=True)
        parts = [self.values[first : last + 1] for first, last in pairs.tolist()]
        least = pairs[:, 0] + np.array([each.argmin() for each in parts], dtype=np.int64)
        most = pairs[:, 0] + np.array([each.argmax() for each in parts], dtype=np.int64)
        return least[which.ravel()], most[which.ravel()]

    def between(
        self, low: Numbers, high: Numbers, after: Float64, before: Float64
    ) -> tuple[Numbers, Numbers]:
        """Return a place between two others that adds a number between two, and how many do."""
        first, last = (high, low) if self.turned else (low, high)
        first = np.maximum(self._counted(first), np.searchsorted(self.values, after, "left"))
        last = np.minimum(self._counted(last), np.searchsorted(self.values, before, "right") - 1)
        return self._counted((first + last) // 2), np.maximum(last - first + 1, 0)


class LinearBoxes:
    """Says which boxes hold a point that a linear model decides by its protected values.

    Parameters
    ----------
    space : Space
        Whose boxes.
    examiner : LinearExaminer
        Of the model over it.

    Attributes
    ----------
    margin : float
        How near to the boundary nothing is certain.
    """

    def __init__(self, space: Space, examiner: LinearExaminer) -> None:
        self.margin = examiner.margin
        terms = [examiner.term(i) for i in range(len(space.axes))]
        self._terms = [_Slope(term) if isinstance(term, float) else _Table(term) for term in terms]
        self._is_long = any(axis.count > _MOST_PLACES for axis in space.axes)
        self._sorted = np.array([term.sorted for term in self._terms], dtype=np.bool_)
        members = space.members
        added = np.array([examiner.added(c) for c in range(members.shape[1])])
        self._most = np.where(members, added, -np.inf).max(axis=1)
        self._least = np.where(members, added, np.inf).min(axis=1)

    def look(self, low: Places, high: Places, group: Numbers) -> Near:
        """Look at boxes.

        Parameters
        ----------
        low, high : Places
            ``(p, a)``.
        group : NDArray[np.int64]
            ``(p,)``; of each the row of `Space.may_be` that holds.
        """
        after, before = -self._most[group] - self.margin, -self._least[group] + self.margin
        boxes = _Boxes(low, high, after, before)
        near = Near(np.zeros(len(low), np.bool_), np.zeros(len(low), np.bool_), low.copy())
        if self._is_long or not len(low):
            return near
        places = [term.ends(low[:, i], high[:, i]) for i, term in enumerate(self._terms)]
        least, most = (np.stack(each, axis=1) for each in zip(*places, strict=True))
        near.clear[:] = (self._sums(most) < after) | (self._sums(least) > before)
        steps = self._steps(boxes)
        few = ~near.clear & (steps <= _MOST_STEPS)
        near.found[few], near.point[few] = self._search(boxes.some(few), steps[few])
        near.clear[few] = ~near.found[few]
        for sign in (1.0, -1.0):
            many = ~near.clear & ~near.found
            if many.any():
                lines = self._lines(boxes.some(many), least[many], most[many], sign)
                near.found[many], near.point[many] = self._search(lines, self._steps(lines))
        return near

    def _sums(self, points: Places) -> Float64:
        total = np.zeros(len(points))
        for i, term in enumerate(self._terms):
            total += term.at(points[:, i])
        return total

    def _longest(self, boxes: _Boxes) -> NDArray[np.intp]:
        """Return the longest axis of each box along which it can be bisected; -1 for none."""
        lengths = np.where(self._sorted, boxes.high - boxes.low, 0)
        return np.where(lengths.any(axis=1), lengths.argmax(axis=1), -1)

    def _steps(self, boxes: _Boxes) -> Float64:
        """Return how many places all axes but the longest have together."""
        lengths = (boxes.high - boxes.low + 1).astype(np.float64)
        longest = self._longest(boxes)
        rows = np.flatnonzero(longest >= 0)
        lengths[rows, longest[rows]] = 1.0
        return np.asarray(lengths.prod(axis=1))

    def _search(self, boxes: _Boxes, steps: Float64) -> tuple[Flags, Places]:
        """Go through boxes; tell which have a near point, and give one of each."""
        found, point = np.zeros(len(steps), np.bool_), boxes.low.copy()
        share = np.cumsum(steps) // _AT_ONCE
        for each in np.unique(share):
            part = slice(*np.searchsorted(share, [each, each + 1]).tolist())
            found[part], point[part] = self._go_through(boxes.some(part))
        return found, point

    def _go_through(self, boxes: _Boxes) -> tuple[Flags, Places]:
        longest, high = self._longest(boxes), boxes.high.copy()
        rows = np.flatnonzero(longest >= 0)
        high[rows, longest[rows]] = boxes.low[rows, longest[rows]]
        box, points = points_of(boxes.low, high)
        axis, after, before = longest[box], boxes.after[box], boxes.before[box]
        rest = np.zeros(len(points))
        for i, term in enumerate(self._terms):
            rest += np.where(axis == i, 0.0, term.at(points[:, i]))
        near = ((after <= rest) & (rest <= before)).astype(np.int64)
        for i, term in enumerate(self._terms):
            own = np.flatnonzero(axis == i)
            if own.size:
                points[own, i], near[own] = term.between(
                    *(boxes.low[box[own], i], boxes.high[box[own], i]),
                    *(after[own] - rest[own], before[own] - rest[own]),
                )
        # the last of each box is in the middle of the most that are near
        order = np.lexsort((near, box))
        last = order[np.searchsorted(box[order], np.arange(len(high)), "right") - 1]
        return near[last] > 0, points[last]

    def _lines(self, boxes: _Boxes, least: Places, most: Places, sign: float) -> _Boxes:
        """Return of each box a line on the way from its least sum to its most that meets the band.

        On that way one axis after the other changes: those that add the least first, or, where
        ``sign`` is -1, last.
        """
        spans = np.stack(
            [term.at(most[:, i]) - term.at(least[:, i]) for i, term in enumerate(self._terms)],
            axis=1,
        )
        order = np.argsort(sign * spans, axis=1, kind="stable")
        reached = self._sums(least)[:, None] + np.cumsum(
            np.take_along_axis(spans, order, axis=1), axis=1
        )
        step = (reached >= boxes.after[:, None]).argmax(axis=1)
        rank = np.argsort(order, axis=1)
        low = np.where(rank < step[:, None], most, least)
        high = low.copy()
        each, axis = np.arange(len(low)), order[np.arange(len(low)), step]
        low[each, axis], high[each, axis] = boxes.low[each, axis], boxes.high[each, axis]
        return boxes._replace(low=low, high=high)


#: A row has at most so many boxes.
MOST_BOXES = 20_000
#: A distance longer than the reach by no more than this share of it is the reach, rounded.
_ROUNDING = 1e-9


class Neighbourhood:
    """The boxes around rows; a neighbour lies in at least one of them.

    There is a box for each choice of ``changed`` attributes: of these a name has any value and a
    number one within reach of the row's, all others have the row's own. ``together`` adds the box
    of all numbers within reach of the row's, and all else as in the row. A point of a space stands
    for all protected values, so each box has all of them; fixed attributes keep the row's values.
    What changes with a protected attribute is taken for a name.

    Parameters
    ----------
    space : Space
        Its numbers in ascending order.
    changed : int
        At most so many attributes are changed, 0 or more.
    reach : float
        The share of a number's range by which it is changed at most, 0 to 1.
    together : bool
        Whether all numbers may change at once.

    Attributes
    ----------
    count : int
        How many boxes a row has.

    Raises
    ------
    SpecError
        When these are more than `MOST_BOXES`.
    """

    def __init__(self, space: Space, changed: int, reach: float, *, together: bool = False) -> None:
        self._axes = space.axes
        domain = space.domain
        varying = set(domain.varying.tolist())
        movable = [i for i, axis in enumerate(space.axes) if axis.position in varying]
        # by their axes how far numbers reach; any value of a name does
        self._distance: dict[int, float] = {}
        for i in movable:
            attribute = domain.attributes[space.axes[i].position]
            if not attribute.values and not space.tied[i].size:
                self._distance[i] = reach * (attribute.high - attribute.low)
        size = min(changed, len(movable))
        if comb(len(movable), size) >= MOST_BOXES:
            raise SpecError(
                f"There are too many ways to change {size} of {len(movable)} attributes.",
                why="Each of them is a region around every row.",
                remedy="Let fewer attributes change.",
                setting="changed",
            )
        self._choices = list(combinations(movable, size))
        numbers = tuple(self._distance)
        if together and len(numbers) > size:
            self._choices.append(numbers)
        self.count = len(self._choices)

    def boxes(self, places: Places) -> tuple[Places, Places]:
        """Return the ends of the boxes around points, ``(n, a)``: ``(n, count, a)`` each."""
        low = np.repeat(places[:, None, :], self.count, axis=1)
        high = low.copy()
        for i, axis in enumerate(self._axes):
            chosen = [box for box, choice in enumerate(self._choices) if i in choice]
            own = places[:, i]
            first, last = np.zeros_like(own), np.full_like(own, axis.count - 1)
            if i in self._distance:
                first, last = _within(axis, own, self._distance[i])
            low[:, chosen, i], high[:, chosen, i] = first[:, None], last[:, None]
        return low, high


def _within(
    axis: Axis, places: NDArray[np.int64], distance: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the last place at most so far from others, in the attribute's codes."""
    distance *= 1.0 + _ROUNDING
    if axis.listed:
        own = axis.codes[places]
        first = np.searchsorted(axis.codes, own - distance, "left")
        return first, np.searchsorted(axis.codes, own + distance, "right") - 1
    steps = int(distance / axis.spacing)
    return np.maximum(places - steps, 0), np.minimum(places + steps, axis.count - 1)
