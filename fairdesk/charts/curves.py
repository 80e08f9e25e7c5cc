"""The lines of a chart: what they are, cut where a part is shown, thinned out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

#: Points of a line that are drawn at most: more cost time and show nothing more.
MOST_POINTS = 1_000


class Mark(Enum):
    """How the points of a line are drawn."""

    LINE = "line"
    POINTS = "line with a point at each"
    DOTS = "dots"
    BARS = "bars"


@dataclass(frozen=True, eq=False)
class Line:
    """One line of a chart.

    Attributes
    ----------
    name : str
        Its direct label.
    x, y : NDArray[np.float64]
        ``(m,)``; x ascending.
    colour : str
        By what it is for: ``"discriminatory"``, or ``"series 0"`` and on.
    dashed : bool
        Only there to compare others with: thin, without a value.
    low, high : NDArray[np.float64], optional
        ``(m,)``; the ends of its interval, drawn as a band.
    mark : Mark
        How its points are drawn.
    """

    name: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    colour: str
    dashed: bool = False
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    mark: Mark = Mark.LINE


def growing(name: str, x: NDArray[np.float64], y: NDArray[np.float64], colour: str) -> Line:
    """Return a line of what grows from nothing: it begins at the origin, unless it is empty."""
    start = np.zeros(min(len(x), 1))
    return Line(name, np.concatenate((start, x)), np.concatenate((start, y)), colour)


def cut(line: Line, part: tuple[float, float]) -> Line:
    """Return a line between two places along x, where it may have no points."""
    if not len(line.x) or line.x[0] > part[1] or line.x[-1] < part[0]:
        return replace(line, x=line.x[:0], y=line.y[:0])
    ends = np.clip(part, line.x[0], line.x[-1])
    inside = (line.x > ends[0]) & (line.x < ends[1])

    def within(y: NDArray[np.float64]) -> NDArray[np.float64]:
        low, high = np.interp(ends, line.x, y)
        return np.concatenate(([low], y[inside], [high]))

    low, high = (None if end is None else within(end) for end in (line.low, line.high))
    return replace(line, x=within(line.x), y=within(line.y), low=low, high=high)


def decimate(
    x: NDArray[np.float64], y: NDArray[np.float64], most: int = MOST_POINTS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Thin out a line, keeping the least and greatest of each stretch, and both ends.

    Parameters
    ----------
    x, y : NDArray[np.float64]
        ``(m,)``.
    most : int
        Points to keep at most; at least 4.
    """
    if len(x) <= most:
        return x, y
    edges = np.linspace(1, len(x) - 1, (most - 2) // 2 + 1).astype(int)
    kept = {0, len(x) - 1}
    for low, high in pairwise(edges.tolist()):
        kept.add(low + int(y[low:high].argmin()))
        kept.add(low + int(y[low:high].argmax()))
    positions = np.array(sorted(kept))
    return x[positions], y[positions]
