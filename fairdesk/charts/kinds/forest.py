"""Rates of groups, or their ratios, with their intervals, a row per group: a forest plot.

After Lewis and Clarke, “Forest plots: trying to see the wood and the trees” (BMJ, 2001). What was
observed in the rows of the data is an outline, what is estimated is hatched.

Drawn as a forest plot, a row for each value. The interval is that of the paired difference from the
reference value, around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.charts import groups
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
    percent_ticks,
    ticks,
)
from fairdesk.groups.options import FOUR_FIFTHS
from fairdesk.results.groups import GroupLine
from fairdesk.results.individual import AuditStudy
from fairdesk.wording import words
from fairdesk.wording.comparisons import difference_text, shown_values
from fairdesk.wording.decisions import name_of
from fairdesk.wording.groups.tables import rate_of, reference_of
from fairdesk.wording.language import say

Kind: TypeAlias = Literal["", "reference", "below", "apart", "inside", "outside"]
#: The colour of a mark, where it is not that of what is alike.
_TONES: Mapping[str, str] = {
    "below": "discriminatory",
    "inside": "discriminatory",
    "apart": "undecided",
    "outside": "undecided",
}
#: An axis with room for so many long texts has room for more short ones.
_ROOMY = 5
#: By the height of a line of type: half the size of a group's mark and of an interval's ends, the
#: width of its line, and the arrow of an interval that reaches beyond the chart.
_MARK, _END, _THICK, _ARROW = 0.33, 0.25, 0.12, 0.33
#: How much of the width groups' names take at most.
_NAMES = 0.36


class Row(NamedTuple):
    """A group's row.

    Attributes
    ----------
    name, value : str
        Which group, and what stands at the right.
    ends : tuple[float, float, float], optional
        The low end of the interval, the rate, the high end; ``None`` where there is no rate.
    kind : Kind
        What it is compared as: the ``"reference"``, one that is ``"below"`` the line, one that
        stands ``"apart"``, not compared; or ``"inside"`` of a group and ``"outside"``.
    key : int
        Its own.
    tip : str
        What is told of it.
    known : bool
        Those that are not stand below a line.
    """

    name: str
    value: str
    ends: tuple[float, float, float] | None
    kind: Kind = ""
    key: int = 0
    tip: str = ""
    known: bool = True


class Line(NamedTuple):
    """An upright line and what it means; what lies below it may be shaded."""

    at: float
    text: str
    colour: str = "quiet"
    dash: tuple[float, ...] = ()
    shaded: bool = False
    below: bool = False


class Plot(NamedTuple):
    """What a forest plot shows.

    Attributes
    ----------
    rows : sequence of Row
        From top to bottom.
    lines : sequence of Line
        Each is told in a line of its own above the rows.
    reach : float
        What the axis has to reach.
    ticks : Callable
        The axis' values with their texts, of how far it reaches and about how many.
    title : str
        What the axis counts; may be empty.
    """

    rows: Sequence[Row]
    lines: Sequence[Line]
    reach: float
    ticks: Callable[[float, int], Sequence[tuple[float, str]]]
    title: str = ""

    def lay_out(self, paper: Paper, marked: Marked) -> Laid:
        """Put names at the left, intervals between, values at the right."""
        return _Layout(self, paper, marked).made()


@dataclass(frozen=True)
class Forest(groups.OfGroups):
    """The rates of the groups of a table.

    Attributes
    ----------
    counts : str
        What the axis counts, where that is not told beside it.
    most : int
        So many groups are drawn at most, the largest; the table has all.
    """

    title: str = "Rates by group"
    counts: str = ""
    most: int = 30

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.groups.lines

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The groups that are drawn, by their place in the table: known ones before unknown."""
        lines = self.groups.lines
        largest = sorted(range(len(lines)), key=lambda place: (-lines[place].n_samples, place))
        drawn = largest[: self.most]
        return tuple(sorted(drawn, key=lambda place: (not lines[place].known, place)))

    @property
    def heading(self) -> str:
        """What stands above it, with how many groups are not drawn."""
        drawn, there = len(self.places), len(self.groups.lines)
        omitted = f": the {drawn} largest of {there:,} groups" if drawn < there else ""
        return f"Rate and interval of each group{omitted}"

    def alt(self) -> str:
        """Tell it in words, in the language of the report."""
        lines = [self.groups.lines[place] for place in self.places]
        rates = [
            (line, groups.rate_and_size(self.groups, line))
            for line in lines
            if line.rate is not None
        ]
        lowest, value = min(rates, key=lambda one: one[0].rate or 0.0)
        said = "; ".join(
            f"{groups.name(line)}: {value}, {words.percent_ends(line.low, line.high)}"
            for line, value in rates
        )
        return say(
            "Rates by group, {what}. Lowest: {name}, {value}. {said}.",
            what=self.counts,
            name=groups.name(lowest),
            value=value,
            said=said,
        )

    def plot(self) -> Plot:
        """Return what is drawn."""
        rows = [self._row(place) for place in self.places]
        highest = max((row.ends[2] for row in rows if row.ends), default=1.0)
        return Plot(rows, tuple(self._lines()), highest, percents, self.counts)

    def lay_out(self, paper: Paper, marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Put everything in its place."""
        return self.plot().lay_out(paper, marked)

    def _row(self, place: int) -> Row:
        line = self.groups.lines[place]
        name = groups.name(line)
        kind: Kind = ""
        if line.excluded or not line.known:
            kind = "apart"
        elif place == self.groups.reference:
            kind = "reference"
        elif line.below:
            kind = "below"
        return Row(
            say("{name} (too few)", name=name) if line.excluded else name,
            groups.rate_and_size(self.groups, line),
            None if line.rate is None else (line.low, line.rate, line.high),
            kind,
            place,
            groups.describe(self.groups, line, self.person),
            line.known,
        )

    def _lines(self) -> Iterator[Line]:
        """Yield the rate of the reference group, and four fifths of it."""
        best = reference_of(self.groups)
        if best is None or not best.rate:
            return
        extremes = say(
            "reference: {name}, {rate}", name=groups.name(best), rate=rate_of(self.groups, best)
        )
        yield Line(best.rate, extremes, "ink")
        fifths = float(FOUR_FIFTHS) * best.rate
        below = say(
            "below {share}, four fifths of the reference’s rate", share=words.percent(fifths, 1.0)
        )
        yield Line(fifths, below, "discriminatory", (4, 2), shaded=True, below=True)


class Ratio(NamedTuple):
    """A group's impact ratio.

    Attributes
    ----------
    line : GroupLine
        The group; its ratio is defined.
    ends : tuple[float, float], optional
        Its interval; ``None`` for the reference group, and where nobody of it has the
        outcome.
    """

    line: GroupLine
    ends: tuple[float, float] | None

    @property
    def value(self) -> float:
        """The ratio."""
        return self.line.impact_ratio or 0.0

    @property
    def text(self) -> str:
        """The ratio with how many people it is of."""
        people = words.number(self.line.n_samples)
        return say("{ratio} (n = {n})", ratio=words.number(self.value, 2), n=people)


@dataclass(frozen=True)
class Ratios:
    """Impact ratios beside the four-fifths screening line; at least one."""

    ratios: Sequence[Ratio]

    def alt(self) -> str:
        """Tell it in words, in the language of the report."""
        lowest = min(self.ratios, key=lambda each: each.value)
        said = "; ".join(
            f"{groups.name(each.line)}: {each.text}"
            + (f", {words.ends(*(words.number(end, 2) for end in each.ends))}" if each.ends else "")
            for each in self.ratios
        )
        return say(
            "Impact ratios by group. Lowest: {name}, {value}; {below} of {groups} are below "
            "the four-fifths threshold. {said}.",
            name=groups.name(lowest.line),
            value=lowest.text,
            below=words.number(sum(bool(each.line.below) for each in self.ratios)),
            groups=words.number(len(self.ratios)),
            said=said,
        )

    def plot(self) -> Plot:
        """Return what is drawn."""
        rows = []
        for key, each in enumerate(self.ratios):
            low, high = each.ends or (each.value, each.value)
            kind: Kind = "below" if each.line.below else ""
            if each.ends is None and each.value == 1:
                kind = "reference"
            name, ends = groups.name(each.line), (low, each.value, high)
            rows.append(Row(name, each.text, ends, kind, key, f"{name}: {each.text}"))
        # an interval of few people may reach far; what matters is below 1
        highest = min(max(1.0, *(row.ends[2] for row in rows if row.ends)), 1.6)
        fifths = float(FOUR_FIFTHS)
        screening = say("below the four-fifths threshold, {line}", line=words.number(fifths, 1))
        lines = (
            Line(1.0, "", "ink"),
            Line(fifths, screening, "discriminatory", (4, 2), shaded=True, below=True),
        )
        title = say("impact ratio (reference: 1.0)")
        return Plot(rows, lines, highest, tenths, title)

    def lay_out(self, paper: Paper, marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Put everything in its place."""
        return self.plot().lay_out(paper, marked)


def percents(reach: float, about: int) -> Sequence[tuple[float, str]]:
    """Write an axis of shares, as percentages."""
    axis = percent_ticks(ticks(100 * reach, about, 0.01))
    return [(value / 100, text) for value, text in axis]


def tenths(reach: float, about: int) -> Sequence[tuple[float, str]]:
    """Write an axis of ratios or scores."""
    most = 8 if about >= _ROOMY else about
    return [(value, words.number(value, 1)) for value in ticks(reach, most, 0.1)]


class _Layout:
    """Where everything of a forest plot stands."""

    def __init__(self, plot: Plot, paper: Paper, marked: Marked) -> None:
        self._plot, self._paper, self._marked = plot, paper, marked
        self._lead, gap = paper.lead, 0.8 * paper.lead
        room = _NAMES * paper.width
        self._names = [paper.wrapped(row.name, room) for row in plot.rows]
        left = gap + max(paper.extent(line) for lines in self._names for line in lines)
        widest = max(paper.extent(row.value) for row in plot.rows)
        self._values = paper.width - widest
        right = max(self._values - 1.2 * gap, left + 4 * self._lead)
        about = max(2, min(5, int((right - left) / (5 * self._lead))))
        low, high = paper.part or (0.0, plot.reach)
        # as many values of the part as of the whole
        axis = plot.ticks(high, about if not paper.part else round(about * high / (high - low)))
        self._axis = [(value, text) for value, text in axis if low <= value]
        if paper.part:
            self._axis = [(value, text) for value, text in self._axis if value <= high]
        else:
            high = self._axis[-1][0]
        with_text = sum(1 for line in plot.lines if line.text)
        top = with_text * self._lead + 0.3 * self._lead
        self._tops, bottom = [], top
        for place, lines in enumerate(self._names):
            bottom += 0.5 * self._lead if self._parted(place) else 0.0
            self._tops.append(bottom)
            bottom += (len(lines) + 0.55) * self._lead
        self._frame = Frame(left, right, top, bottom, high, 1.0, low)

    def made(self) -> Laid:
        """Return all of it."""
        shapes = [*self._rows(), *self._shades(), *self._scale(), *self._references()]
        spots = []
        for place, row in enumerate(self._plot.rows):
            top, tall = self._place(place)
            shapes += self._row(place, top + tall / 2)
            spots.append(Spot(row.key, row.tip, 0.0, top, self._paper.width, tall))
            if self._parted(place):
                y = top - 0.25 * self._lead
                shapes.append(Path((((0.0, y), (self._paper.width, y)),), "line"))
        below = 2.6 if self._plot.title else 1.6
        height = self._frame.bottom + below * self._lead
        keys = (tuple(row.key for row in self._plot.rows),)
        frame = self._frame
        axis = Axis(frame.left, frame.right, frame.x_low, frame.x_high)
        return Laid(height, shapes, spots, (), keys, axis)

    def _parted(self, place: int) -> bool:
        """Return whether a row is the first of groups that are not known, below others that are."""
        rows = self._plot.rows
        return place > 0 and not rows[place].known and rows[place - 1].known

    def _place(self, place: int) -> tuple[float, float]:
        """Return the top of a row, and how high it is."""
        return self._tops[place], (len(self._names[place]) + 0.55) * self._lead

    def _rows(self) -> Iterator[Shape]:
        """Yield the ground of what is chosen, or pointed at."""
        for place, row in enumerate(self._plot.rows):
            if row.key in self._marked:
                share = 1.0 if row.key == self._marked.chosen else 0.5
                top, tall = self._place(place)
                yield Box(0.0, top, self._paper.width, tall, Tint("tint", share))

    def _shades(self) -> Iterator[Shape]:
        frame = self._frame
        for line in self._plot.lines:
            wide = frame.x(min(line.at, frame.x_high)) - frame.left
            if line.shaded and wide > 0:
                shade = Tint(line.colour, 0.1)
                yield Box(frame.left, frame.top, wide, frame.bottom - frame.top, shade)

    def _scale(self) -> Iterator[Shape]:
        """Yield the axis: its values, with upright lines."""
        frame, small, lead = self._frame, self._paper.small, self._lead
        for value, tick in self._axis:
            x = frame.x(value)
            yield Path((((x, frame.top), (x, frame.bottom)),), "line", 0.7)
            yield Words(x, frame.bottom + 0.75 * lead, tick, "quiet", "middle", small)
        yield Path((((frame.left, frame.bottom), (frame.right, frame.bottom)),), "line", 0.8)
        if self._plot.title:
            # a title may be wider than the plot, but not than the drawing
            half = self._paper.extent(self._plot.title, small) / 2
            middle = max(min((frame.left + frame.right) / 2, self._paper.width - half), half)
            y = frame.bottom + 2 * lead
            yield Words(middle, y, self._plot.title, "quiet", "middle", small)

    def _references(self) -> Iterator[Shape]:
        """Yield upright lines, each with what it means above the rows."""
        frame, lead, small = self._frame, self._lead, self._paper.small
        y = 0.5 * lead
        for line in self._plot.lines:
            x = frame.x(line.at)
            if self._shows(line.at):
                yield Path((((x, frame.top), (x, frame.bottom)),), line.colour, 1.0, line.dash)
            if not line.text:
                continue
            if not self._shows(line.at):
                y += lead
                continue
            indent = lead if line.below else 0.0
            room = self._paper.width - indent
            (text,) = self._paper.wrapped(line.text, room, 1)
            wide = self._paper.extent(text, small) + indent
            # what lies below the line is told on that side
            start = x - wide if line.below else x - wide / 2
            start = min(max(start, frame.left), self._paper.width - wide)
            colour = "wrong" if line.colour == "discriminatory" else line.colour
            if line.below:
                yield Path(
                    (_triangle(start + 0.35 * lead, y, 0.3 * lead),), colour, 1.2, (), "ground"
                )
            yield Words(start + indent, y, text, colour, size=small)
            y += lead

    def _row(self, place: int, y: float) -> Iterator[Shape]:
        """Yield a group's name, its interval with its mark, and its value."""
        row, frame, lead = self._plot.rows[place], self._frame, self._lead
        lines = self._names[place]
        colour = "ink" if row.known else "quiet"
        for number, line in enumerate(lines):
            at = y + (number - (len(lines) - 1) / 2) * lead
            yield Words(0.0, at, line, colour)
        yield Words(self._values, y, row.value, colour)
        if row.ends is None:
            return
        tone = _TONES.get(row.kind, "consistent")
        low, middle, high = (frame.x(min(max(end, frame.x_low), frame.x_high)) for end in row.ends)
        thick, half = _THICK * lead, _MARK * lead
        if row.ends[0] <= frame.x_high and row.ends[2] >= frame.x_low:
            dash = (4, 2) if row.kind == "apart" else ()
            yield Path((((low, y), (high, y)),), tone, thick, dash)
            ends = (self._end(row.ends[0], y, -1), self._end(row.ends[2], y, 1))
            yield Path(ends, tone, thick)
        if not self._shows(row.ends[1]):
            return
        match row.kind:
            case "reference":
                yield Box(middle - half, y - half, 2 * half, 2 * half, "ground", tone, thick)
            case "below":
                yield Path((_triangle(middle, y, 1.2 * half),), tone, thick, (), "ground")
            case _:
                yield Disc(middle, y, half, "ground", tone, thick)

    def _shows(self, value: float) -> bool:
        """Return whether a value is on the axis."""
        return self._frame.x_low <= value <= self._frame.x_high * (1 + 1e-9)

    def _end(self, value: float, y: float, side: int) -> tuple[Point, ...]:
        """Return an interval's end: a bar across it, or an arrow where it goes on beyond."""
        frame, tall = self._frame, _END * self._lead
        x = frame.x(min(max(value, frame.x_low), frame.x_high))
        if self._shows(value):
            return (x, y - tall), (x, y + tall)
        back = x - side * _ARROW * self._lead
        return (back, y - tall), (x, y), (back, y + tall)


def _triangle(x: float, y: float, size: float) -> tuple[Point, ...]:
    """Return a triangle that points down."""
    return ((x - size, y - 0.8 * size), (x + size, y - 0.8 * size), (x, y + size))


class Rate(NamedTuple):
    """The rate under one value: its name, count and rate as text, the rate with its interval."""

    name: str
    value: str
    ends: tuple[float, float, float]
    difference: str
    reference: bool = False
    known: bool = True


class Studied(NamedTuple):
    """The rates of one study: the rows as they are, the reference, the other values."""

    attribute: str
    rates: tuple[Rate, ...]


def studied(spec: AuditSpec, study: AuditStudy, most: int) -> Studied:
    """Write an audit study for a chart: of more than so many values the farthest apart."""
    attribute = spec.domain.attributes[spec.domain.names.index(study.attribute)]
    n, name = max(study.n_rows, 1), words.quoted(study.attribute)
    shown = shown_values(study, most)
    middle = shown[0].favourable / n

    def text(count: int) -> str:
        return f"{words.number(count)} ({words.percent(count, study.n_rows)})"

    at = study.actual / n
    rates = [
        Rate(
            say("{name}: as recorded", name=name), text(study.actual), (at, at, at), "", known=False
        )
    ]
    rates += [
        Rate(
            f"{name}: {name_of(attribute, each.code)}",
            text(each.favourable),
            (each.favourable / n,) * 3
            if each.code == study.reference
            else (max(0.0, middle + each.low), each.favourable / n, middle + each.high),
            difference_text(study, each),
            each.code == study.reference,
        )
        for each in shown
    ]
    return Studied(study.attribute, tuple(rates))


@dataclass(frozen=True)
class Studies:
    """The rates of the same rows under each value of one or more protected attributes."""

    studies: tuple[Studied, ...] = ()
    title: str = "Selection rates of the same rows under each protected value"

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.studies

    def summary(self) -> str:
        """Return it in words."""
        return self.alt()

    def alt(self) -> str:
        """Return it in words, in the language of the report."""
        said = "; ".join(
            f"{each.name}: {each.value}" + (f", {each.difference}" if each.difference else "")
            for study in self.studies
            for each in study.rates
        )
        return say("Audit study, selection rates of the same rows. {said}.", said=said)

    def plot(self) -> Plot:
        """Return what is drawn."""
        rates = [each for study in self.studies for each in study.rates]
        rows = [
            Row(
                each.name,
                each.value,
                each.ends,
                "reference" if each.reference else "" if each.known else "apart",
                key,
                f"{each.name}: {each.value}" + (f", {each.difference}" if each.difference else ""),
                each.known,
            )
            for key, each in enumerate(rates)
        ]
        highest = max((row.ends[2] for row in rows if row.ends), default=1.0)
        title = say("would be selected (square: reference value)")
        return Plot(rows, (), min(max(highest, 1e-3), 1.0), percents, title)

    def lay_out(self, paper: Paper, marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Put everything in its place."""
        return self.plot().lay_out(paper, marked)
