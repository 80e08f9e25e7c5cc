"""Whether counting or dividing decides more people in a second."""

from __future__ import annotations

import numpy as np

#: So many seconds are lately.
_LATELY = 1.0
#: Dividing has at least such a share of the time: without it there would be nothing to count.
_LEAST_DIVIDING = 0.2
#: Counting has to decide so many times as much: what dividing leaves is decided more easily.
_BETTER = 1.5
#: Boxes with a smaller mass for each point are never worth it.
_NOTHING = 1e-300


class Pace:
    """How fast boxes are decided, by dividing and by counting them."""

    def __init__(self) -> None:
        self._mass = self._seconds = 0.0
        self._decided = np.inf
        self._points = self._dividing = self._counting = 0.0
        self._boxes = 0

    def divided(self, mass: float, seconds: float, boxes: int) -> None:
        """Take down which mass of the population so many halves decided, and in what time."""
        self._dividing += seconds
        self._boxes += boxes
        self._seconds, self._mass = self._seconds + seconds, self._mass + mass
        if self._seconds >= _LATELY:
            self._decided = max(self._mass, 0.0) / self._seconds
            self._mass = self._seconds = 0.0

    def counted(self, points: float, seconds: float) -> None:
        """Take down how many points were counted, and in what time."""
        self._points, self._counting = self._points + points, self._counting + seconds

    @property
    def points_per_box(self) -> float:
        """How many points are counted in the time that a half of a box takes; 0 if not known."""
        if not (self._boxes and self._counting > 0.0):
            return 0.0
        return self._dividing / self._boxes * self._points / self._counting

    def least_density(self, speed: float) -> float:
        """Return from which mass for each point on counting boxes pays; infinite for none.

        ``speed`` says how many points are counted in a second, as long as that is not known here.
        """
        if self._dividing < _LEAST_DIVIDING * (self._dividing + self._counting):
            return np.inf
        if self._counting > 0.0:
            speed = self._points / self._counting
        return max(_BETTER * self._decided / max(speed, 1e-9), _NOTHING)
