"""What a chart is made of once it is laid out: few shapes, with the parts that can be pointed at.

A layout is a function of what is shown, of the room and of how wide texts are there. It names
colours by what they are for; who draws it has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from fairdesk.charts.type import wrapped
from fairdesk.wording.statements import Evidence

Point: TypeAlias = tuple[float, float]


class Tint(NamedTuple):
    """A colour mixed with the one below it.

    Attributes
    ----------
    role : str
        ``"readable"`` is black or white, whichever stands out more from what is below.
    share : float
        How much of it there is, 0 to 1.
    on : str or Tint
        What is below it.
    """

    role: str
    share: float = 1.0
    on: str | Tint = "ground"


#: ``"ink"``, ``"quiet"``, ``"line"``, ``"ground"``, ``"card"``, ``"tint"``, ``"consistent"``,
#: ``"discriminatory"``, ``"undecided"``, ``"wrong"``, ``"accent"``, ``"bar"``, ``"series 0"`` and
#: on, or a mix.
Colour: TypeAlias = str | Tint


class Box(NamedTuple):
    """A rectangle; filled, with an edge, or both. What lies under it may be seen through it."""

    x: float
    y: float
    wide: float
    tall: float
    fill: Colour | None = None
    edge: Colour | None = None
    thick: float = 1.0
    dash: tuple[float, ...] = ()
    opacity: float = 1.0


class Disc(NamedTuple):
    """A circle."""

    x: float
    y: float
    radius: float
    fill: Colour
    edge: Colour
    thick: float = 1.0


class Path(NamedTuple):
    """Lines from point to point; with a filling, polygons."""

    lines: tuple[tuple[Point, ...], ...]
    colour: Colour
    thick: float = 1.0
    dash: tuple[float, ...] = ()
    fill: Colour | None = None


class Words(NamedTuple):
    """A line of type.

    Attributes
    ----------
    x, y : float
        Where it starts, ends or has its middle, and the middle of its height.
    text : str
        What it says.
    anchor : str
        ``"start"``, ``"middle"`` or ``"end"``.
    size : float
        Of its type, by that of the chart.
    """

    x: float
    y: float
    text: str
    colour: Colour = "ink"
    anchor: str = "start"
    size: float = 1.0
    bold: bool = False


Shape: TypeAlias = Box | Disc | Path | Words


class Spot(NamedTuple):
    """A part that can be pointed at, and what it tells then."""

    key: int
    tip: str
    x: float
    y: float
    wide: float
    tall: float

    def holds(self, x: float, y: float) -> bool:
        """Return whether a place lies within."""
        return self.x <= x < self.x + self.wide and self.y <= y < self.y + self.tall


class Axis(NamedTuple):
    """Where values stand across: from ``low`` at ``left`` to ``high`` at ``right``."""

    left: float
    right: float
    low: float
    high: float

    def value(self, x: float) -> float:
        """Return the value at a place; beside the axis the nearest."""
        share = (x - self.left) / (self.right - self.left)
        return self.low + (self.high - self.low) * min(max(share, 0.0), 1.0)


class Laid(NamedTuple):
    """A chart that is laid out.

    Attributes
    ----------
    height : float
        How high it is.
    shapes : sequence of Shape
        From the lowest to the uppermost.
    spots : sequence of Spot
        What can be pointed at. One with a key below 0 tells something, but cannot be chosen.
    across, down : sequence of sequence of int
        Keys in the orders in which the arrow keys walk them: each part is in one of each at most.
    axis : Axis, optional
        Of a chart that can be laid out with a part of it only.
    """

    height: float
    shapes: Sequence[Shape]
    spots: Sequence[Spot] = ()
    across: Sequence[Sequence[int]] = ()
    down: Sequence[Sequence[int]] = ()
    axis: Axis | None = None


class Marked(NamedTuple):
    """The keys of the part that is chosen, and of the one under the pointer."""

    chosen: int | None = None
    pointed: int | None = None


@dataclass(frozen=True)
class Paper:
    """What a chart is laid out on.

    Attributes
    ----------
    width : float
        How wide it is.
    lead : float
        From one line of type to the next.
    measure : Callable
        How wide a text is: of it, its size by that of the chart, and whether it is bold.
    small : float
        The size of what explains, by that of the chart.
    height : float
        How high it is, for charts that fill it; 0 where they take what they need.
    part : (float, float), optional
        The part of the axis across to show, of charts that have one (`Laid.axis`).
    """

    width: float
    lead: float
    measure: Callable[[str, float, bool], float]
    small: float = 1.0
    height: float = 0.0
    part: tuple[float, float] | None = None

    def extent(self, text: str, size: float = 1.0, *, bold: bool = False) -> float:
        """Return how wide a line of type is."""
        return self.measure(text, size, bold)

    def wrapped(self, text: str, room: float, most: int = 4) -> list[str]:
        """Break a text into lines that fit; what is beyond ``most`` lines ends in “…”."""
        return wrapped(text, room, most, self.extent)


def hatching(
    x: float, y: float, wide: float, tall: float, gap: float = 4.0
) -> tuple[tuple[Point, ...], ...]:
    """Return lines that lean to the right and fill a rectangle."""
    lines = []
    at = x - tall + gap / 2
    while at < x + wide:
        begin, end = max(at, x), min(at + tall, x + wide)
        if end > begin:
            lines.append(((begin, y + tall - (begin - at)), (end, y + tall - (end - at))))
        at += gap
    return tuple(lines)


def hatched(
    x: float, y: float, wide: float, tall: float, colour: Colour = "discriminatory"
) -> Iterator[Shape]:
    """Yield a rectangle of what is estimated."""
    yield Box(x, y, wide, tall, "ground")
    yield Path(hatching(x, y, wide, tall), colour)
    yield Box(x + 0.6, y + 0.6, max(wide - 1.2, 0.1), tall - 1.2, None, colour, 1.2)


#: The hatching of a mark, by half its size: where each line starts, and how long it is.
_HATCHES = ((-0.91, 0.19, 1.09), (-0.59, 0.72, 1.31), (-0.09, 0.94, 1.03))


def hatched_mark(x: float, y: float, half: float) -> tuple[tuple[Point, ...], ...]:
    """Return lines that lean to the right, within a mark."""
    return tuple(
        ((x + half * dx, y + half * dy), (x + half * (dx + long), y + half * (dy - long)))
        for dx, dy, long in _HATCHES
    )


def mark(
    x: float, y: float, half: float, colour: Colour, evidence: Evidence, *, square: bool = False
) -> Iterator[Shape]:
    """Yield a round or a square mark that says what it rests on.

    An outline what was observed, hatched what is estimated, solid what is proven, or an example.
    """
    fill = colour if evidence in ("proven", "example") else "ground"
    if square:
        yield Box(x - half, y - half, 2 * half, 2 * half, fill, colour, 0.4 * half)
    else:
        yield Disc(x, y, half, fill, colour, 0.4 * half)
    if evidence == "estimated":
        yield Path(hatched_mark(x, y, half), colour, 0.28 * half)


def dotted(x: float, y: float, wide: float, tall: float) -> Iterator[Shape]:
    """Yield a rectangle of what is an example."""
    colour = "discriminatory"
    yield Box(x, y, wide, tall, Tint(colour, 0.15), colour)
    if wide >= 6:
        rows = (y + 0.3 * tall, y + 0.7 * tall)
        dots = tuple(((x + 2, row), (x + wide - 2, row)) for row in rows)
        yield Path(dots, colour, 1.6, (1.6, 4.4))
