"""What a chart is made of once it is laid out: few shapes, with the parts that can be pointed at.

A layout is a function of what is shown, of the room and of how wide texts are there. It names
colours by what they are for; who draws it has them.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from fairdesk.wording import words
from fairdesk.wording.language import Evidence

#: The report's font comes first; a browser takes what it has. Names with numbers need their quotes.
FONTS = "'Source Sans 3', 'Source Sans Pro', Helvetica, Arial, sans-serif"
SIZE = 9.0
#: From one line of type to the next.
LEAD = SIZE + 2
#: Widths of characters, in the size of the type: narrow, wide, and capital ones.
_NARROW, _BROAD = frozenset("ijltfrI.,:;|'!’()[] \u00a0\u202f-·/"), frozenset("mwMW%@—…")
#: What names a thing takes at most so many lines.
_MOST_LINES = 4


def extent(said: str, size: float = 1.0, *, bold: bool = False) -> float:
    """Estimate how wide a line of type is; ``size`` is by that of the chart."""
    return size * (SIZE * sum(map(_wide, said)) + 2) * (1.05 if bold else 1.0)


@lru_cache(maxsize=4096)
def _wide(sign: str) -> float:
    if unicodedata.combining(sign):
        return 0.0
    if unicodedata.east_asian_width(sign) in "WF":
        return 1.0
    if sign in _NARROW:
        return 0.29
    if sign in _BROAD:
        return 0.86
    return 0.6 if sign.isupper() else 0.51


def wrapped(
    said: str, room: float, most: int = _MOST_LINES, extent: Callable[[str], float] = extent
) -> list[str]:
    """Break a text into lines that fit; what is beyond ``most`` lines ends in “…”."""
    lines = list(_lines(said, room, extent))
    if len(lines) <= most:
        return lines or [""]
    last = lines[most - 1]
    while last and extent(f"{last}…") > room:
        last = last[:-1]
    return [*lines[: most - 1], f"{last.rstrip()}…"]


def _lines(said: str, room: float, extent: Callable[[str], float]) -> Iterator[str]:
    line = ""
    # a number stays with its unit
    for word in re.split(r"[ \t\r\n]+", said.strip()):
        longer = f"{line} {word}" if line else word
        if extent(longer) <= room:
            line = longer
            continue
        if line:
            yield line
        line = word
        while extent(line) > room and len(line) > 1:
            fits = next(
                end for end in range(len(line), 0, -1) if end == 1 or extent(line[:end]) <= room
            )
            yield line[:fits]
            line = line[fits:]
    if line:
        yield line


class Frame(NamedTuple):
    """The plot's box and its scales."""

    left: float
    right: float
    top: float
    bottom: float
    x_high: float
    y_high: float
    x_low: float = 0.0
    y_low: float = 0.0

    def x(self, value: float) -> float:
        """Return where a value stands across."""
        share = (value - self.x_low) / (self.x_high - self.x_low)
        return self.left + (self.right - self.left) * share

    def y(self, value: float) -> float:
        """Return where a value stands down."""
        share = (value - self.y_low) / (self.y_high - self.y_low)
        return self.bottom - (self.bottom - self.top) * share


def ticks(high: float, most: int = 6, least_step: float = 1.0) -> tuple[float, ...]:
    """Choose round axis values from 0 that reach ``high``.

    Parameters
    ----------
    high : float
        The greatest value to show; not negative.
    most : int
        At most so many steps.
    least_step : float
        No step is smaller; a power of ten.

    Returns
    -------
    tuple[float, ...]
        0, s, 2s, ... with s in {1, 2, 5} times a power of ten and not below ``least_step``; the
        last is at least ``high``.
    """
    high = max(high, least_step)
    power = max(10.0 ** math.floor(math.log10(high / most)), least_step)
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= high / most)
    return tuple(step * i for i in range(math.ceil(high / step) + 1))


def percent_ticks(values: Sequence[float]) -> list[tuple[float, str]]:
    """Write axis values that are percentages, with the decimals that their step needs."""
    decimals = max(0, -math.floor(math.log10(values[1]) + 1e-9))
    return [(value, words.percent_of(f"{value:.{decimals}f}")) for value in values]


def axis_of(values: Sequence[float], unit: str) -> list[tuple[float, str]]:
    """Write the values of an axis that begins at 0, as percentages or as numbers."""
    if unit.endswith("%"):
        return percent_ticks(values)
    digits = max(0, -math.floor(math.log10(values[1]) + 1e-9))
    return [(each, words.number(each, digits)) for each in values]


def round_between(low: float, high: float, about: int = 6) -> list[tuple[float, str]]:
    """Choose about so many round axis values between two ends, with their texts."""
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    places = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [(step * place, words.plain(step * place, digits)) for place in places]


def apart(wanted: Sequence[float], sizes: Sequence[float], end: float) -> list[float]:
    """Move labels apart: on from the one before, then back from the end; each keeps its rank.

    Parameters
    ----------
    end : float
        Where the axis that begins at 0 ends.

    Returns
    -------
    list of float
        Where each begins. When there are too many, some begin before 0.
    """
    placed = list(wanted)
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    free = 0.0
    for place in order:
        placed[place] = max(wanted[place], free)
        free = placed[place] + sizes[place]
    for place in reversed(order):
        placed[place] = min(placed[place], end - sizes[place])
        end = placed[place]
    return placed


def spread(count: int, most: int | None) -> list[int]:
    """Pick positions evenly, the first and last among them."""
    if most is None or count <= most:
        return list(range(count))
    return sorted({round(place * (count - 1) / max(most - 1, 1)) for place in range(most)})


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
