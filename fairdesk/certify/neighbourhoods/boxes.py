"""The neighbours of a row as boxes: some attributes changed, or its numbers within a reach."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Axis, Places, Space
from fairdesk.errors import SpecError

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
