"""What a line chart shows: in the window, where it may grow, and in the report."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True)
class Line:
    """One line of a chart.

    Attributes
    ----------
    name : str
        Its direct label.
    x, y : NDArray[np.float64]
        ``(m,)``; x ascending.
    colour : str
        By what it is for: ``"unlike"``, or ``"series 0"`` and on.
    dashed : bool
        Told apart by more than its colour.
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


@dataclass(frozen=True)
class Drawing:
    """All that a chart shows.

    Attributes
    ----------
    title : str
        What it tells.
    x_title, y_title : str
        What the axes count, with the unit.
    lines : tuple[Line, ...]
        May be empty.
    x_digits, y_digits : int
        Decimals of numbers.
    y_unit : str
        Written behind numbers of y: ``" %"``.
    y_low, y_high : float, optional
        The ends of y; by default 0 and what the lines reach.
    x_names : tuple[str, ...]
        Names of the places 0, 1, ... along x, where they are no numbers.
    """

    title: str
    x_title: str
    y_title: str
    lines: tuple[Line, ...]
    x_digits: int = 0
    y_digits: int = 0
    y_unit: str = ""
    y_low: float = 0.0
    y_high: float | None = None
    x_names: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        least = 0 if self.x_names else 1
        return not any(len(line.x) > least for line in self.lines)

    def x_text(self, value: float) -> str:
        """Write a place along x."""
        if self.x_names:
            return self.x_names[round(value)]
        return f"{value:,.{self.x_digits}f}"

    def y_text(self, value: float) -> str:
        """Write a value."""
        return f"{value:,.{self.y_digits}f}{self.y_unit}"

    def summary(self) -> str:
        """Return the chart's numbers in words, for those who do not see it."""
        if self.empty:
            return f"{self.title}: nothing yet."
        ends = "; ".join(
            f"{line.name} {self.y_text(line.y[-1])} at {self.x_text(line.x[-1])}"
            for line in self.lines
            if len(line.x)
        )
        return f"{self.title}. {self.y_title} against {self.x_title}: {ends}."

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return the chart as a table: a header and rows; lines that share x share rows.

        Parameters
        ----------
        most : int, optional
            Keep so many rows at most, first and last among them.
        """
        if not self.lines:
            return (self.x_title,), []
        first = self.lines[0].x
        if all(line.x is first for line in self.lines):
            columns = [column for line in self.lines for column in _columns(line)]
            header = (self.x_title, *(name for name, _values in columns))
            return header, [
                (self._x_cell(first[i]), *(self._y_cell(values[i]) for _name, values in columns))
                for i in _spread(len(first), most)
            ]
        share = None if most is None else max(2, most // len(self.lines))
        banded = any(line.low is not None for line in self.lines)
        ends = ("from", "to") if banded else ()
        return ("line", self.x_title, self.y_title, *ends), [
            (
                line.name,
                self._x_cell(line.x[i]),
                *(self._y_cell(values[i]) for _name, values in _columns(line)),
                *(("", "") if banded and line.low is None else ()),
            )
            for line in self.lines
            for i in _spread(len(line.x), share)
        ]

    def _x_cell(self, value: float) -> str:
        return self.x_text(value) if self.x_names else f"{value:.{self.x_digits}f}"

    def _y_cell(self, value: float) -> str:
        return f"{value:.{self.y_digits}f}"


def _columns(line: Line) -> list[tuple[str, NDArray[np.float64]]]:
    """Return what a line tells of each x: its values, and the ends of their intervals."""
    columns = [(line.name, line.y)]
    if line.low is not None and line.high is not None:
        columns += [(f"{line.name}, from", line.low), (f"{line.name}, to", line.high)]
    return columns


def _spread(count: int, most: int | None) -> list[int]:
    """Pick positions evenly, the first and last among them."""
    if most is None or count <= most:
        return list(range(count))
    return sorted({round(place) for place in np.linspace(0, count - 1, most).tolist()})


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
