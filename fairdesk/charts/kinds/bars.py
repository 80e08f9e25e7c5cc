"""Bars: shares of a whole, counts of examples, and weights around zero.

What is only estimated stands inside of what is undecided, and is never added to what is proven.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
    dotted,
    hatched,
)
from fairdesk.wording import words
from fairdesk.wording.language import say

#: By the height of a line of type: a bar's height, and the room between bars.
_COUNT_BAR, _COUNT_GAP = 0.75, 0.6


@dataclass(frozen=True)
class Counts:
    """All that the bars show.

    Attributes
    ----------
    title : str
        What they tell.
    unit : str
        What is counted, in the plural.
    counts : sequence of (name, count)
        In the order to be drawn.
    whole : int
        The count of a full bar.
    """

    title: str = ""
    unit: str = ""
    counts: Sequence[tuple[str, int]] = ()
    whole: int = 0

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.counts

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""
        return "; ".join(f"{name}: {self._value(count)}" for name, count in self.counts)

    def alt(self) -> str:
        """Tell it in words, in the language of the report."""
        return say("Bar chart of {unit}. {said}.", unit=self.unit, said=self.summary())

    def lay_out(self, paper: Paper, marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Put each bar below its name, with its count at the right."""
        shapes: list[Shape] = []
        spots: list[Spot] = []
        y, lead = 0.0, paper.lead
        for key, (name, count) in enumerate(self.counts):
            value, top = self._value(count), y
            shapes.append(Words(paper.width, y + 0.5 * lead, value, anchor="end"))
            for line in paper.wrapped(name, paper.width - paper.extent(value) - lead):
                shapes.append(Words(0.0, y + 0.5 * lead, line))
                y += lead
            y += 0.2 * lead
            edge = "accent" if key in (marked.pointed, marked.chosen) else "line"
            shapes.append(Box(0.5, y, paper.width - 1, _COUNT_BAR * lead, None, edge))
            if count and self.whole:
                wide = max((paper.width - 1) * count / self.whole, 0.75)
                shapes += dotted(0.5, y, wide, _COUNT_BAR * lead)
            y += (_COUNT_BAR + _COUNT_GAP) * lead
            spots.append(Spot(key, f"{name}: {value}", 0.0, top, paper.width, y - top))
        order = (tuple(range(len(self.counts))),)
        return Laid(max(y - 0.5 * _COUNT_GAP * lead, 0.0), shapes, spots, down=order)

    def _value(self, count: int) -> str:
        return f"{words.number(count)} ({words.percent(count, self.whole)})"


#: By the height of a line of type: a bar's height, from one bar to the next, the room between rows.
_WEIGHT_BAR, _WEIGHT_STEP, _WEIGHT_GAP = 0.6, 0.95, 0.4
#: How much of the width names take at most.
_NAMES = 0.42


class Weight(NamedTuple):
    """A row: its name, and one value or several, the first drawn solid, others hatched."""

    name: str
    values: Sequence[float]


@dataclass(frozen=True)
class Weights:
    """All that the bars show.

    Attributes
    ----------
    weights : sequence of Weight
        From top to bottom.
    title : str
        What they tell.
    whose : sequence of str
        Whose the values of a row are, for those who do not see it; may be empty.
    digits : int
        Decimals of numbers.
    toned : bool
        Whether what adds has another colour than what takes away.
    rest : str
        What stands below; may be empty.
    """

    weights: Sequence[Weight] = ()
    title: str = ""
    whose: Sequence[str] = ()
    digits: int = 2
    toned: bool = False
    rest: str = ""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.weights

    @property
    def heading(self) -> str:
        """What stands above it."""
        return self.title

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return it as a table: each row's values, by whose they are."""
        head = ("Attribute", *map(words.capital, self.whose))
        return head, [(each.name, *map(self.text, each.values)) for each in self.weights[:most]]

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""
        said = []
        for each in self.weights:
            texts = [self.text(value) for value in each.values]
            named = zip(self.whose or [""] * len(texts), texts, strict=True)
            said.append(f"{each.name}: {', '.join(' '.join(pair).strip() for pair in named)}")
        return "; ".join(said) or "Nothing has any weight."

    def alt(self) -> str:
        """Return it in words, for files."""
        return say("{title}: {said}.", title=self.title, said=self.summary())

    def text(self, value: float) -> str:
        """Write a weight with its sign; of nothing there is none."""
        text = words.signed(value, self.digits)
        return text if float(text[1:]) else text[1:]

    def lay_out(self, paper: Paper, _marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Put names at the left, and bars around an upright line, each with its number."""
        lead = paper.lead
        names = [paper.wrapped(each.name, _NAMES * paper.width, 2) for each in self.weights]
        left = max(paper.extent(line) for lines in names for line in lines) + 0.5 * lead
        values = [value for each in self.weights for value in each.values]
        number = max(paper.extent(self.text(value), paper.small) for value in values) + 0.5 * lead
        middle = (left + paper.width) / 2
        scale = ((paper.width - left) / 2 - number) / (max(map(abs, values)) or 1.0)
        shapes: list[Shape] = []
        y = 0.0
        for each, lines in zip(self.weights, names, strict=True):
            tall = max(len(each.values) * _WEIGHT_STEP, len(lines)) * lead
            for place, line in enumerate(lines):
                at = y + tall / 2 + (place - (len(lines) - 1) / 2) * lead
                shapes.append(Words(0.0, at, line))
            for place, value in enumerate(each.values):
                at = y + tall / 2 + (place - (len(each.values) - 1) / 2) * _WEIGHT_STEP * lead
                shapes += self._bar(value, middle, at, value * scale, paper, solid=not place)
            y += tall + _WEIGHT_GAP * lead
        shapes.append(Path((((middle, 0.0), (middle, y - _WEIGHT_GAP * lead)),), "quiet"))
        if self.rest:
            shapes.append(Words(0.0, y + 0.5 * lead, self.rest, "quiet"))
            y += 1.2 * lead
        return Laid(y, shapes)

    def _bar(
        self, value: float, middle: float, y: float, long: float, paper: Paper, *, solid: bool
    ) -> Iterator[Shape]:
        """Yield a bar from the middle line, with its number at its end."""
        colour = "bar" if not self.toned else "consistent" if value > 0 else "discriminatory"
        tall = _WEIGHT_BAR * paper.lead
        x, wide = middle + min(long, 0.0), abs(long)
        if solid:
            yield Box(x, y - tall / 2, wide, tall, colour)
        elif wide > 1.5:
            yield from hatched(x, y - tall / 2, wide, tall, colour)
        end = middle + long + (0.3 if value >= 0 else -0.3) * paper.lead
        anchor = "start" if value >= 0 else "end"
        yield Words(end, y, self.text(value), anchor=anchor, size=paper.small)


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
