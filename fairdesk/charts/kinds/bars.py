"""Shares of a whole as one bar each: what is proven solid, what is estimated hatched.

What is only estimated stands inside of what is undecided, and is never added to what is proven.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fairdesk.charts.shapes import (
    Box,
    Colour,
    Laid,
    Marked,
    Paper,
    Path,
    Shape,
    Spot,
    Words,
    hatched,
)

#: By the height of a line of type: a bar's height, and the room between bars. And how wide a part
#: is at least, to be seen.
_BAR, _GAP, _LEAST = 1.7, 0.8, 2.0
#: Half the height of an interval's ends.
_CAP = 4.0


class Guess(NamedTuple):
    """What is estimated of a part: its share of it with the interval, 0 to 1, and its label."""

    share: float
    label: str
    ends: tuple[float, float] | None = None


class Part(NamedTuple):
    """A part of a bar.

    Attributes
    ----------
    share : float
        Of the whole, 0 to 1.
    colour : Colour
        What it is told by.
    word : str
        What stands on it where there is room.
    label : str
        What stands below the bar; may be empty.
    tip : str
        What is told of it.
    guess : Guess, optional
        What is estimated of it.
    """

    share: float
    colour: Colour
    word: str
    label: str
    tip: str = ""
    guess: Guess | None = None


class Bar(NamedTuple):
    """A bar: its name, which may be empty, and its parts."""

    name: str
    parts: Sequence[Part]


def lay_out(bars: Sequence[Bar], paper: Paper, marked: Marked) -> Laid:
    """Put each bar below its name and above its labels; parts are numbered through as keys."""
    shapes: list[Shape] = []
    spots: list[Spot] = []
    y, lead = 0.0, paper.lead
    for bar in bars:
        for line in paper.wrapped(bar.name, paper.width / 1.05) if bar.name else ():
            shapes.append(Words(0.0, y + 0.5 * lead, line, bold=True))
            y += 1.15 * lead
        tall = _BAR * lead
        for part, x, wide in _spans(bar, paper.width):
            key = len(spots)
            spots.append(Spot(key, part.tip, x, y, wide, tall))
            shapes += _drawn(part, spots[-1], paper)
            if key in marked:
                shapes.append(Box(x + 1, y + 1, max(wide - 2, 1.0), tall - 2, None, "ink", 2.0))
        y += tall + 0.3 * lead
        below, lines = _labels(bar, paper, y)
        shapes += below
        y += (1.15 * lines + _GAP) * lead
    order = [range(len(spots))] if spots else []
    return Laid(max(y - 0.5 * lead, 0.0), shapes, spots, order, order)


def _spans(bar: Bar, width: float) -> Iterator[tuple[Part, float, float]]:
    """Yield the parts, where each begins and how wide it is; none is too small to be seen."""
    wide = [max(part.share * width, _LEAST) for part in bar.parts]
    scale, x = width / max(sum(wide), 1.0), 0.0
    for part, each in zip(bar.parts, wide, strict=True):
        yield part, x, each * scale
        x += each * scale


def _drawn(part: Part, spot: Spot, paper: Paper) -> Iterator[Shape]:
    """Yield a part with its word, and what is estimated of it with the interval."""
    x, y, wide, tall = spot.x, spot.y, spot.wide, spot.tall
    guessed = 0.0 if part.guess is None else max(part.guess.share * wide, 1.5)
    yield Box(x + guessed, y, max(wide - guessed, 0.0), tall, part.colour)
    if x:
        yield Path((((x, y), (x, y + tall)),), "ground", 1.0)
    if wide - guessed >= paper.extent(part.word, bold=True) + paper.lead:
        middle = x + guessed + (wide - guessed) / 2
        tone = "ground" if isinstance(part.colour, str) else "ink"
        yield Words(middle, y + tall / 2, part.word, tone, "middle", bold=True)
    if part.guess is None:
        return
    yield from hatched(x, y, guessed, tall)
    if part.guess.ends is not None:
        low, high = (x + end * wide for end in part.guess.ends)
        middle = y + tall / 2
        ends = tuple(((end, middle - _CAP), (end, middle + _CAP)) for end in (low, high))
        # a shorter one would look like a letter; its label has the numbers
        if high - low >= 1.5 * _CAP:
            yield Path((((low, middle), (high, middle)), *ends), "ink", 2.0)


def _labels(bar: Bar, paper: Paper, top: float) -> tuple[list[Shape], int]:
    """Write the labels of a bar, each behind its colour, on as many lines as they need."""
    labels: list[tuple[Colour, str]] = [
        (part.colour, part.label) for part in bar.parts if part.label
    ]
    labels += [("", part.guess.label) for part in bar.parts if part.guess is not None]
    lead, x, line = paper.lead, 0.0, 0
    found: list[Shape] = []
    for colour, label in labels:
        room = paper.width - 1.4 * lead
        for number, text in enumerate(paper.wrapped(label, room)):
            # a browser may show it in a wider font
            wide = 1.4 * lead + 1.05 * paper.extent(text)
            if number or (x and x + wide > paper.width):
                x, line = 0.0, line + 1
            y = top + (1.15 * line + 0.5) * lead
            if not number:
                if colour:
                    half = 0.35 * lead
                    found.append(Box(x + 0.1 * lead, y - half, 2 * half, 2 * half, colour))
                else:
                    found += hatched(x + 0.1 * lead, y - 0.4 * lead, 0.8 * lead, 0.8 * lead)
            found.append(Words(x + 1.3 * lead, y, text))
            x += wide + 1.2 * lead
    return found, line + 1 if labels else 0
