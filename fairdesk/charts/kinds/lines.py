"""What a line chart shows, and its layout on paper; in the window, where it may grow, it lives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdesk.charts.scales import Frame, apart, percent_ticks, ticks
from fairdesk.charts.shapes import Disc, Laid, Marked, Paper, Path, Point, Shape, Tint, Words, mark
from fairdesk.wording import words
from fairdesk.wording.language import say

#: Points of a line that are drawn at most, on paper fewer: more cost time and show nothing more.
MOST_POINTS, _MOST_ON_PAPER = 1_000, 300
#: By the height of a line of type: how high a chart is at least, how wide a line's name is at most,
#: and half the size of a mark.
_TALL, _NAMES, _MARK = 19.0, 8.7, 0.29
#: How lines are told apart by more than their colours, of which there are so many.
_DASHES: Sequence[tuple[float, ...]] = ((), (6, 3), (2, 3), (8, 3, 2, 3), (4, 2), (1, 2))
_SERIES = 6


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
        By what it is for: ``"discriminatory"``, or ``"series 0"`` and on.
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
        Written behind numbers of y: ``" %"``. With one y are percentages, else counts.
    x_unit : str
        Likewise of x, on paper.
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
    x_unit: str = ""

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
        if self.y_unit.endswith("%"):
            return words.percent_of(f"{value:,.{self.y_digits}f}")
        return f"{words.number(value, self.y_digits)}{self.y_unit}"

    def summary(self) -> str:
        """Return the chart's numbers in words, for those who do not see it."""
        if self.empty:
            return f"{self.title}: no results yet."
        ends = "; ".join(
            f"{line.name} {self.y_text(line.y[-1])} at {self.x_text(line.x[-1])}"
            for line in self.lines
            if len(line.x)
        )
        return f"{self.title}. {self.y_title} against {self.x_title}: {ends}."

    def alt(self) -> str:
        """Tell it in words, in the language of the report."""
        axes = {"y": self.y_title, "x": self.x_title}
        for line in self.lines:
            if line.low is not None and line.high is not None:
                low, estimate, high = (
                    self.y_text(float(each[-1])) for each in (line.low, line.y, line.high)
                )
                return say(
                    "Line chart of {y} against {x}: {estimate}, between {low} and {high}, after "
                    "{n}.",
                    **axes,
                    estimate=estimate,
                    low=low,
                    high=high,
                    n=words.number(line.x[-1]),
                )
        said = "; ".join(
            say("{name}: {value} after {x}", name=name, value=self.y_text(y), x=words.number(x))
            for name, (x, y) in ((line.name, _end(line)) for line in self.lines)
        )
        return say("Line chart of {y} against {x}. {said}.", **axes, said=said)

    def lay_out(self, paper: Paper, _marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Put everything in its place, on paper; a line without a band starts at the origin."""
        return _Layout(self, paper).made()

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


class _Layout:
    """Where everything of a line chart stands: labels right of the ends that they name."""

    def __init__(self, drawing: Drawing, paper: Paper) -> None:
        self._drawing, self._paper, self._lead = drawing, paper, paper.lead
        lines = drawing.lines
        self._ends = [_end(line) for line in lines]
        least = 10.0**-drawing.y_digits if drawing.y_unit else 1.0
        high = max((float(line.y.max(initial=0.0)) for line in lines), default=0.0)
        x_values = ticks(max((x for x, _y in self._ends), default=0.0))
        y_values = ticks(high if drawing.y_high is None else drawing.y_high, 5, least)
        self._x_axis = _axis(x_values, drawing.x_unit)
        self._y_axis = _axis(y_values, drawing.y_unit)
        self._labels = [*self._told()]
        self._sizes = [len(label.texts) * self._lead + 3 for label in self._labels]
        height = max(_TALL * self._lead, sum(self._sizes) + 4 * self._lead)
        texts = [text for label in self._labels for text, _bold in label.texts]
        widest = max((paper.extent(text, bold=True) for text in texts), default=0.0)
        self._frame = Frame(
            left=max(paper.extent(text) for _, text in self._y_axis) + 0.7 * self._lead,
            right=paper.width - widest - 1.1 * self._lead,
            top=2 * self._lead,
            bottom=height - 3.1 * self._lead,
            x_high=x_values[-1],
            y_high=y_values[-1],
        )

    def made(self) -> Laid:
        """Return all of it."""
        shapes = [*self._bands(), *self._axes()]
        for place, line in enumerate(self._drawing.lines):
            shapes += self._line(place, line)
        return Laid(self._frame.bottom + 3.1 * self._lead, [*shapes, *self._named()])

    def _told(self) -> Iterator[_Label]:
        """Yield what stands right of the lines: their names and last values, or the band's ends."""
        for place, (line, (_x, y)) in enumerate(zip(self._drawing.lines, self._ends, strict=True)):
            if line.low is not None and line.high is not None and len(self._ends) == 1:
                for end, bold in ((line.high[-1], False), (y, True), (line.low[-1], False)):
                    yield _Label(place, float(end), [(self._drawing.y_text(float(end)), bold)])
                continue
            names = self._paper.wrapped(line.name, _NAMES * self._lead, 6)
            texts = [(name, True) for name in names]
            if line.mark is Mark.LINE and not line.dashed:
                texts.append((self._last(line), False))
            yield _Label(place, y, texts)

    def _last(self, line: Line) -> str:
        """Write the last value of a line."""
        return self._drawing.y_text(_end(line)[1])

    def _axes(self) -> Iterator[Shape]:
        """Yield both axes: lines across, and values with their texts."""
        frame, drawing, lead = self._frame, self._drawing, self._lead
        yield Words(0.0, 0.5 * lead, drawing.y_title, "quiet")
        for value, text in self._y_axis:
            y = frame.y(value)
            yield Path((((frame.left, y), (frame.right, y)),), "line", 0.6)
            yield Words(frame.left - 0.5 * lead, y, text, anchor="end")
        for value, text in self._x_axis:
            x = frame.x(value)
            yield Path((((x, frame.bottom), (x, frame.bottom + 4)),), "quiet", 0.6)
            yield Words(x, frame.bottom + lead, text, anchor="middle")
        yield Path((((frame.left, frame.bottom), (frame.right, frame.bottom)),), "quiet", 0.8)
        # a title may be wider than the plot, but not than the drawing
        half = self._paper.extent(drawing.x_title) / 2
        middle = max(min((frame.left + frame.right) / 2, self._paper.width - half), half)
        yield Words(middle, frame.bottom + 2.3 * lead, drawing.x_title, "quiet", "middle")

    def _bands(self) -> Iterator[Shape]:
        for place, line in enumerate(self._drawing.lines):
            if line.low is None or line.high is None:
                continue
            low, high = (self._along(line.x, end) for end in (line.low, line.high))
            shade = Tint(self._colour(place), 0.2)
            yield Path(((*high, *low[::-1]),), shade, 0.1, (), shade)

    def _line(self, place: int, line: Line) -> Iterator[Shape]:
        """Yield a line with its marks, and the ends of its band."""
        colour, half = self._colour(place), _MARK * self._lead
        dash = _DASHES[place % len(_DASHES)]
        if line.low is not None and line.high is not None:
            for end in (line.low, line.high):
                yield Path((self._along(line.x, end),), colour, 0.6)
        points = self._along(line.x, line.y)
        if line.mark is Mark.LINE and line.low is None:
            points = (self._at(0.0, 0.0), *points)
        if line.dashed:
            yield Path((points,), colour, 0.8, (4, 2))
            return
        yield Path((points,), colour, 1.6, dash)
        if line.mark is Mark.POINTS:
            for x, y in points:
                yield from mark(x, y, half, colour, "observed", square=place % 2 == 1)
        elif line.low is not None:
            yield from mark(*points[-1], half, colour, "estimated")
        else:
            yield Disc(*points[-1], 0.8 * half, colour, colour, 0.1)

    def _named(self) -> Iterator[Shape]:
        """Yield the labels, each with a line that leads to it."""
        frame, lead = self._frame, self._lead
        wanted = [self._at(0.0, label.y)[1] for label in self._labels]
        # the greatest number of the axis stands right below
        heights = apart(wanted, self._sizes, frame.bottom + 0.8 * lead)
        for label, own, y in zip(self._labels, wanted, heights, strict=True):
            colour = self._colour(label.place)
            x = frame.x(self._ends[label.place][0])
            if frame.right - x > 1.1 * lead or abs(own - y) > 0.5 * lead:
                leader = ((x + 0.5 * lead, own), (frame.right + 0.5 * lead, y))
                yield Path((leader,), colour, 0.5, (1, 2))
            for number, (text, bold) in enumerate(label.texts):
                yield Words(frame.right + 0.9 * lead, y + number * lead, text, bold=bold)

    def _at(self, x: float, y: float) -> Point:
        return self._frame.x(x), self._frame.y(min(y, self._frame.y_high))

    def _along(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[Point, ...]:
        return tuple(map(self._at, *(each.tolist() for each in decimate(x, y, _MOST_ON_PAPER))))

    def _colour(self, place: int) -> str:
        """Return a line's colour; after the last one comes the first again."""
        role, _, number = self._drawing.lines[place].colour.partition(" ")
        return f"{role} {int(number) % _SERIES}" if number else role


class _Label(NamedTuple):
    """What stands right of a line: of which, at which value, and its lines of type."""

    place: int
    y: float
    texts: list[tuple[str, bool]]


def _end(line: Line) -> Point:
    """Return the last point of a line; of none the origin."""
    return (float(line.x[-1]), float(line.y[-1])) if len(line.x) else (0.0, 0.0)


def _axis(values: Sequence[float], unit: str) -> list[tuple[float, str]]:
    """Write the values of an axis, as percentages or as counts."""
    return percent_ticks(values) if unit else [(each, words.number(each)) for each in values]
