"""Rates in groups against those outside of them, a line per group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fairdesk.charts.shapes import (
    Box,
    Disc,
    Frame,
    Laid,
    Marked,
    Paper,
    Path,
    Shape,
    Spot,
    Tint,
    Words,
    mark,
    percent_ticks,
    ticks,
)
from fairdesk.wording import words
from fairdesk.wording.language import Evidence, say

#: Half the size of a mark, by the height of a line of type.
_MARK = 0.29
#: The first heads of its table, of rows.
_HEADER = ("Subgroup", "Rate", "All others")
#: The colours of a subgroup and of all others, as in the forest of one subgroup's rates.
_OWN, _OTHERS = "discriminatory", "undecided"


class Gap(NamedTuple):
    """Two rates that differ.

    Attributes
    ----------
    name : str
        The group.
    inside, outside : float
        The rates in it and outside it, 0 to 1.
    value : str
        The difference, as it is to be written.
    """

    name: str
    inside: float
    outside: float
    value: str


@dataclass(frozen=True)
class Gaps:
    """Gaps in the order to be drawn, what the axis counts, and whether of terms.

    Estimated rates have hatched marks, those that are counted hollow ones.
    """

    gaps: Sequence[Gap] = ()
    x_title: str = ""
    terms: bool = False
    evidence: Evidence = "estimated"

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.gaps

    @property
    def heading(self) -> str:
        """What stands above it."""
        if self.terms:
            return say("The rate with each term, and with other terms in the same texts")
        return say("The rate in each subgroup and that of all others")

    title = heading

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""
        return self.alt() if self.gaps else self.heading

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return it as a table, a header and rows; of these at most so many."""
        first = ("Term", "With it", "With other terms") if self.terms else _HEADER
        rows = [
            (each.name, *(words.percent(at, 1.0) for at in (each.inside, each.outside)), each.value)
            for each in self.gaps[:most]
        ]
        return (*first, say("Gap, percentage points")), rows

    def alt(self) -> str:
        """Tell it in words, in the language of the report."""
        said = "; ".join(
            say(
                "{name}: {inside} against {outside}",
                name=each.name,
                inside=words.percent(each.inside, 1.0),
                outside=words.percent(each.outside, 1.0),
            )
            for each in self.gaps
        )
        widest = max(self.gaps, key=lambda each: abs(each.inside - each.outside))
        return say(
            "Rates with identity terms and with other terms, {what}. Largest gap: {name}, {value}. "
            "{said}."
            if self.terms
            else "Rates in subgroups and among all others, {what}. Largest gap: {name}, {value}. "
            "{said}.",
            what=self.x_title,
            name=widest.name,
            value=widest.value,
            said=said,
        )

    def lay_out(self, paper: Paper, marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Put each group's marks below its name, and the difference at the right."""
        lead = paper.lead
        right = paper.width - 1.3 * lead - max(paper.extent(each.value) for each in self.gaps)
        names = [paper.wrapped(each.name, right) for each in self.gaps]
        heights = [(len(lines) + 1.4) * lead for lines in names]
        high = 100 * max(max(each.inside, each.outside) for each in self.gaps)
        axis = percent_ticks(ticks(high, 6, 0.01))
        top = 1.8 * lead
        frame = Frame(1.1 * lead, right, top, top + sum(heights), axis[-1][0], 1.0)
        shapes = [*self._key(paper)]
        y, spots = top, list[Spot]()
        for key, (each, lines, height) in enumerate(zip(self.gaps, names, heights, strict=True)):
            spots.append(Spot(key, f"{each.name}: {each.value}", 0.0, y, paper.width, height))
            if key in marked:
                shapes.append(Box(0.0, y, paper.width, height, Tint("tint", 0.5)))
            # the axis' lines end where words are
            below = y + (len(lines) + 0.2) * lead
            for value, _text in axis:
                x = frame.x(value)
                shapes.append(Path((((x, below), (x, y + height)),), "line", 0.6))
            for number, line in enumerate(lines):
                shapes.append(Words(0.0, y + (number + 0.6) * lead, line))
            at = y + height - 0.7 * lead
            own, others = frame.x(100 * each.inside), frame.x(100 * each.outside)
            shapes.append(Path((((own, at), (others, at)),), "quiet"))
            shapes += mark(others, at, _MARK * lead, _OTHERS, self.evidence, square=True)
            shapes += mark(own, at, _MARK * lead, _OWN, self.evidence)
            shapes.append(Words(right + 0.9 * lead, at, each.value))
            y += height
        for value, text in axis:
            shapes.append(Words(frame.x(value), y + 0.9 * lead, text, anchor="middle"))
        shapes.append(Path((((frame.left, y), (right, y)),), "quiet", 0.8))
        half = paper.extent(self.x_title) / 2
        middle = max(min((frame.left + right) / 2, paper.width - half), half)
        shapes.append(Words(middle, y + 2.2 * lead, self.x_title, "quiet", "middle"))
        return Laid(y + 3.2 * lead, shapes, spots, down=(tuple(range(len(spots))),))

    def _key(self, paper: Paper) -> Iterator[Shape]:
        """Say what the marks mean."""
        x, y, half = 0.5 * paper.lead, 0.6 * paper.lead, _MARK * paper.lead
        sides = (
            (say("with this term"), say("with other terms"))
            if self.terms
            else (say("in the subgroup"), say("all others"))
        )
        for place, text in enumerate(sides):
            yield from mark(x, y, half, (_OWN, _OTHERS)[place], self.evidence, square=place == 1)
            yield Words(x + 0.7 * paper.lead, y, text)
            x += paper.extent(text) + 2.3 * paper.lead


#: Half the size of a mark, and of an interval's ends, by the height of a line of type.
_SIGN, _END = 0.3, 0.2
#: The colours of the records and of the model.
_RECORDS, _MODEL = "undecided", "series 0"


class Rate(NamedTuple):
    """A selection rate with its 95 % interval, each from 0 to 1."""

    at: float
    low: float
    high: float

    @property
    def text(self) -> str:
        """The rate as it stands at its mark."""
        return words.percent(self.at, 1.0)


class Selected(NamedTuple):
    """A group: its name, its rate in the records and by the model where these are known."""

    name: str
    records: Rate | None
    model: Rate | None


@dataclass(frozen=True)
class Dumbbell:
    """The rates of an outcome in groups, at least one; those in the records have no number."""

    groups: Sequence[Selected]
    outcome: str

    def alt(self) -> str:
        """Return it in words."""
        return say("Selected, by group. {said}.", said="; ".join(map(_said, self.groups)))

    def lay_out(self, paper: Paper, marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Put the names at the left, and each group's rates in lines beside them."""
        lead = paper.lead
        named = max(paper.extent(each.name) for each in self.groups)
        left = min(named + 0.9 * lead, 0.4 * paper.width)
        right = paper.width - paper.extent("100.0 %") - lead
        ends = [rate.high for each in self.groups for _, rate, _ in _sides(each) if rate]
        axis = percent_ticks(ticks(100 * max(ends, default=1.0), 5, 0.01))
        top = 1.7 * lead
        frame = Frame(left, right, top, top, axis[-1][0], 1.0)
        shapes, spots = [*self._key(paper)], list[Spot]()
        y, bodies = top, list[Shape]()
        for key, each in enumerate(self.groups):
            sides = [side for side in _sides(each) if side[1] is not None]
            high = (len(sides) + 0.5) * lead
            spots.append(Spot(key, _said(each), 0.0, y, paper.width, high))
            if key in marked:
                shapes.append(Box(0.0, y, paper.width, high, Tint("tint", 0.5)))
            lines = paper.wrapped(each.name, left - 0.9 * lead, 2)
            for number, line in enumerate(lines):
                at = y + high / 2 + (number - (len(lines) - 1) / 2) * lead
                bodies.append(Words(0.0, at, line))
            for place, (_, rate, colour) in enumerate(sides):
                if rate is not None:
                    at = y + (place + 0.75) * lead
                    bodies += _whisker(frame, rate, colour, at, lead)
                    if each.model is None or rate is each.model:
                        bodies.append(Words(frame.x(100 * rate.high) + 0.6 * lead, at, rate.text))
            y += high
        for value, text in axis:
            shapes.append(Path((((frame.x(value), top), (frame.x(value), y)),), "line", 0.6))
            shapes.append(Words(frame.x(value), y + 0.8 * lead, text, "quiet", "middle"))
        return Laid(y + 1.5 * lead, [*shapes, *bodies], spots, down=(tuple(range(len(spots))),))

    def _key(self, paper: Paper) -> Iterator[Shape]:
        """Say what the marks mean, those that are there."""
        x, y = 0.5 * paper.lead, 0.6 * paper.lead
        first = [_sides(each) for each in self.groups]
        for place in (0, 1):
            name, _, colour = first[0][place]
            if any(sides[place][1] is not None for sides in first):
                yield _mark(x, y, colour, paper.lead)
                yield Words(x + 0.7 * paper.lead, y, name)
                x += paper.extent(name) + 2.3 * paper.lead
        text = say("share with “{outcome}” (lines: 95\u00a0% intervals)", outcome=self.outcome)
        yield Words(x, y, text, "quiet")


def _sides(each: Selected) -> tuple[tuple[str, Rate | None, str], ...]:
    return (
        (say("in the records"), each.records, _RECORDS),
        (say("by the model"), each.model, _MODEL),
    )


def _said(each: Selected) -> str:
    rates = (f"{name} {rate.text}" for name, rate, _ in _sides(each) if rate is not None)
    return f"{each.name}: {', '.join(rates)}"


def _mark(x: float, y: float, colour: str, lead: float) -> Shape:
    """Return a square for the records and a disc for the model."""
    half = _SIGN * lead
    if colour == _MODEL:
        return Disc(x, y, half, colour, colour)
    return Box(x - half, y - half, 2 * half, 2 * half, colour, colour)


def _whisker(frame: Frame, rate: Rate, colour: str, y: float, lead: float) -> Iterator[Shape]:
    low, at, high = (frame.x(100 * value) for value in (rate.low, rate.at, rate.high))
    end = _END * lead
    yield Path((((low, y), (high, y)), ((low, y - end), (low, y + end))), colour, 1.2)
    yield Path((((high, y - end), (high, y + end)),), colour, 1.2)
    yield _mark(at, y, colour, lead)
