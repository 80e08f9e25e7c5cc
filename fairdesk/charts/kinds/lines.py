"""Line charts: what they show, how lines are cut and thinned, and their layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdesk.charts.shapes import (
    Axis,
    Box,
    Disc,
    Frame,
    Laid,
    Marked,
    Paper,
    Path,
    Point,
    Shape,
    Spot,
    Tint,
    Words,
    apart,
    axis_of,
    mark,
    round_between,
    spread,
    ticks,
)
from fairdesk.wording import words
from fairdesk.wording.language import say

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


#: Points of a line that are drawn at most on paper.
_MOST_ON_PAPER = 300
#: By the height of a line of type: how high a chart is at least, how wide a line's name is at most,
#: and half the size of a mark.
_TALL, _NAMES, _MARK = 19.0, 8.7, 0.29
#: How lines are told apart by more than their colours, of which there are so many.
_DASHES: Sequence[tuple[float, ...]] = ((), (6, 3), (2, 3), (8, 3, 2, 3), (4, 2), (1, 2))
_SERIES = 6
#: Places that can be pointed at, at most; how wide a bar is, of the distance between two.
_STOPS, _BAR = 100, 0.56


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
    x_unit : str
        Likewise behind those of the axis x.
    y_low, y_high : float, optional
        The ends of y; by default 0 and what the lines reach.
    x_names : tuple[str, ...]
        Names of the places 0, 1, ... along x, where they are no numbers.
    """

    title: str = ""
    x_title: str = ""
    y_title: str = ""
    lines: tuple[Line, ...] = ()
    x_digits: int = 0
    y_digits: int = 0
    y_unit: str = ""
    y_low: float = 0.0
    y_high: float | None = None
    x_names: tuple[str, ...] = ()
    x_unit: str = ""

    #: Its page has one.
    heading = ""

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

    def lay_out(self, paper: Paper, marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Put everything in its place; a part that can be pointed at is a place along x."""
        return _Layout(self, paper).made(marked)

    def tip(self, x: float) -> str:
        """Tell what every line is at a place along x, those that have ended left out."""
        read = (
            self._read(line, min(int(np.searchsorted(line.x, x)), len(line.x) - 1))
            for line in self.lines
            if len(line.x) and x <= line.x[-1]
        )
        return f"{self.x_text(x)} {self.x_title}: {', '.join(read)}"

    def _read(self, line: Line, at: int) -> str:
        text = f"{line.name} {self.y_text(line.y[at])}"
        if line.low is None or line.high is None:
            return text
        return f"{text} ({self.y_text(line.low[at])} to {self.y_text(line.high[at])})"

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
        if all(np.array_equal(line.x, first) for line in self.lines):
            columns = [column for line in self.lines for column in _columns(line)]
            header = (self.x_title, *(name for name, _values in columns))
            return header, [
                (self._x_cell(first[i]), *(self._y_cell(values[i]) for _name, values in columns))
                for i in spread(len(first), most)
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
            for i in spread(len(line.x), share)
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


class _Layout:
    """Where everything of a line chart stands: labels right of the ends that they name."""

    def __init__(self, drawing: Drawing, paper: Paper) -> None:
        self._drawing, self._paper, self._lead = drawing, paper, paper.lead
        part = paper.part
        self._lines = [line if part is None else cut(line, part) for line in drawing.lines]
        self._ends = [_end(line) for line in self._lines]
        self._labels = [*self._told()]
        self._sizes = [len(label.texts) * self._lead + 3 for label in self._labels]
        self._x_axis, (x_low, x_high) = self._across()
        self._y_axis, y_high = self._upwards()
        least = max(_TALL * self._lead, sum(self._sizes) + 4 * self._lead)
        self._height = max(paper.height or least, 6.1 * self._lead)
        texts = [text for label in self._labels for text, _bold in label.texts]
        widest = max((paper.extent(text, bold=True) for text in texts), default=0.0)
        self._frame = Frame(
            left=max(paper.extent(text) for _, text in self._y_axis) + 0.7 * self._lead,
            right=paper.width - widest - 1.1 * self._lead,
            top=2 * self._lead,
            bottom=self._height - 3.1 * self._lead,
            x_high=x_high,
            y_high=y_high,
            x_low=x_low,
            y_low=drawing.y_low,
        )

    def made(self, marked: Marked) -> Laid:
        """Return all of it."""
        frame, names = self._frame, self._drawing.x_names
        shapes = [*self._bands(), *self._axes()]
        for place, line in enumerate(self._lines):
            if len(line.x):
                shapes += self._line(place, line)
        spots = self._spots()
        for spot in spots:
            if spot.key == (marked.chosen if marked.pointed is None else marked.pointed):
                x = frame.x(self._stops.x[spot.key])
                shapes.append(Path((((x, frame.top), (x, frame.bottom)),), "undecided"))
        zooms = not names and any(len(line.x) > 2 for line in self._drawing.lines)
        axis = Axis(frame.left, frame.right, frame.x_low, frame.x_high) if zooms else None
        keys = (tuple(spot.key for spot in spots),) if spots else ()
        return Laid(self._height, [*shapes, *self._named()], spots, keys, axis=axis)

    @property
    def _stops(self) -> Line:
        """The line along which the chart is read: that with the most points."""
        return max(self._drawing.lines, key=lambda line: len(line.x))

    def _spots(self) -> list[Spot]:
        """Return the places that can be pointed at, each as far as the middles to the next ones."""
        frame = self._frame
        if not self._lines:
            return []
        x = self._stops.x
        first = int(np.searchsorted(x, frame.x_low))
        last = int(np.searchsorted(x, frame.x_high, side="right"))
        keys = [first + place for place in spread(last - first, _STOPS)]
        at = [frame.x(float(x[key])) for key in keys]
        edges = [frame.left, *(sum(pair) / 2 for pair in pairwise(at)), frame.right]
        tall = frame.bottom - frame.top
        return [
            Spot(key, self._drawing.tip(float(x[key])), low, frame.top, high - low, tall)
            for key, (low, high) in zip(keys, pairwise(edges), strict=False)
        ]

    def _across(self) -> tuple[list[tuple[float, str]], tuple[float, float]]:
        """Return the axis along x, and its ends."""
        drawing, part = self._drawing, self._paper.part
        if drawing.x_names:
            return [*enumerate(drawing.x_names)], (-0.5, len(drawing.x_names) - 0.5)
        if part is not None:
            return [(at, f"{text}{drawing.x_unit}") for at, text in round_between(*part)], part
        values = ticks(max((x for x, _y in self._ends), default=0.0))
        return axis_of(values, drawing.x_unit), (0.0, values[-1])

    def _upwards(self) -> tuple[list[tuple[float, str]], float]:
        """Return the axis along y, and its upper end."""
        drawing = self._drawing
        high = max((float(line.y.max(initial=0.0)) for line in self._lines), default=0.0)
        high = high if drawing.y_high is None else drawing.y_high
        if drawing.y_low:
            return round_between(drawing.y_low, high, 5), high
        room = self._paper.height / self._lead - 5.1 if self._paper.height else _TALL
        # no more of them than there is room for
        values = ticks(high, min(max(int(room / 1.6), 1), 5), 10.0**-drawing.y_digits)
        return axis_of(values, drawing.y_unit), values[-1]

    def _told(self) -> Iterator[_Label]:
        """Yield what stands right of the lines: their names and last values, or the band's ends."""
        for place, (line, (_x, y)) in enumerate(zip(self._lines, self._ends, strict=True)):
            if line.mark is Mark.BARS or (self._paper.part and not len(line.x)):
                continue
            if line.low is not None and line.high is not None and len(self._lines) == 1:
                for end, bold in ((line.high[-1], False), (y, True), (line.low[-1], False)):
                    yield _Label(place, float(end), [(self._drawing.y_text(float(end)), bold)])
                continue
            names = self._paper.wrapped(line.name, _NAMES * self._lead, 6)
            texts = [(name, True) for name in names]
            if line.mark is Mark.LINE and not line.dashed:
                texts.append((self._drawing.y_text(y), False))
            yield _Label(place, y, texts)

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
        for place, line in enumerate(self._lines):
            if line.low is None or line.high is None or not len(line.x):
                continue
            low, high = (self._along(line.x, end) for end in (line.low, line.high))
            shade = Tint(self._colour(place), 0.2)
            yield Path(((*high, *low[::-1]),), shade, 0.1, (), shade)

    def _line(self, place: int, line: Line) -> Iterator[Shape]:
        """Yield a line with its marks, and the ends of its band."""
        colour, half = self._colour(place), _MARK * self._lead
        if line.mark is Mark.DOTS:
            dots = self._marks(place)
            yield from (Disc(x, y, 0.4 * half, colour, colour, 0.1) for x, y in dots)
            return
        if line.mark is Mark.BARS:
            yield from self._bars(line, colour)
            return
        points = self._along(line.x, line.y)
        if line.dashed:
            yield Path((points,), colour, 0.8, (4, 2))
            return
        if line.mark is Mark.LINE and line.low is not None and line.high is not None:
            for end in (line.low, line.high):
                yield Path((self._along(line.x, end),), colour, 0.6)
        yield Path((points,), colour, 1.6, _DASHES[place % len(_DASHES)])
        if line.mark is Mark.POINTS:
            for x, y in self._marks(place):
                yield from mark(x, y, half, colour, "observed", square=place % 2 == 1)
        elif line.low is not None:
            yield from mark(*points[-1], half, colour, "estimated")
        else:
            yield Disc(*points[-1], 0.8 * half, colour, colour, 0.1)

    def _marks(self, place: int) -> Iterator[Point]:
        """Yield where the points of a line stand: those of its whole that are shown."""
        line = self._drawing.lines[place]
        for x, y in zip(line.x.tolist(), line.y.tolist(), strict=True):
            if self._frame.x_low <= x <= self._frame.x_high:
                yield self._at(x, y)

    def _bars(self, line: Line, colour: str) -> Iterator[Shape]:
        """Yield bars, each with its number above it."""
        wide = _BAR * (self._frame.x(1.0) - self._frame.x(0.0))
        for value, (x, y) in zip(line.y.tolist(), self._along(line.x, line.y), strict=True):
            yield Box(x - wide / 2, y, wide, self._frame.bottom - y, colour)
            text = self._drawing.y_text(value)
            yield Words(x, y - 0.6 * self._lead, text, "quiet", "middle", bold=True)

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
        frame = self._frame
        return frame.x(x), frame.y(min(max(y, frame.y_low), frame.y_high))

    def _along(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[Point, ...]:
        most = MOST_POINTS if self._paper.height else _MOST_ON_PAPER
        return tuple(map(self._at, *(each.tolist() for each in decimate(x, y, most))))

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
