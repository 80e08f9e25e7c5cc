"""Rates of the groups that two attributes make together, as a heat map with the number of people.

The stronger the colour, the higher the rate, in one hue; the number stands in it. Groups too small
to be compared are hatched, and where nobody is the cell is open.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from fairdesk.charts import groups
from fairdesk.charts.shapes import (
    Box,
    Laid,
    Marked,
    Paper,
    Path,
    Shape,
    Spot,
    Tint,
    Words,
    hatching,
)
from fairdesk.results.groups import GroupLine
from fairdesk.wording import words
from fairdesk.wording.groups.impact_ratio import BELOW
from fairdesk.wording.groups.tables import rate_of
from fairdesk.wording.language import say

#: How wide a cell is at most, in lines' heights, and how much of the width rows' names take.
_WIDEST, _NAMES = 12.5, 0.3
#: With more rows than this a cell has one line.
_ROOMY = 12
#: How much of the colour the lowest rate has, and the highest.
_PALE, _FULL = 0.06, 0.76
#: Between two cells.
_GAP = 2.0


@dataclass(frozen=True)
class Heat(groups.OfGroups):
    """All that a heat map shows of a table of two attributes."""

    title: str = "Rates of intersectional subgroups"
    heading = "Rate of each intersectional subgroup"

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return len(self.groups.attributes) != 2 or not self.groups.lines

    @cached_property
    def _axes(self) -> tuple[int, int]:
        """Which attribute goes down, and which along: the one with more values goes down."""
        counts = [len({line.values[axis] for line in self.groups.lines}) for axis in (0, 1)]
        return (0, 1) if counts[0] >= counts[1] else (1, 0)

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """The values that go down, in their own order."""
        return self._values(self._axes[0])

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The values that go along, in their own order."""
        return self._values(self._axes[1])

    @property
    def names(self) -> tuple[str, str]:
        """The attributes: the one that goes down, and the one along."""
        down, along = self._axes
        return self.groups.attributes[down], self.groups.attributes[along]

    @cached_property
    def cells(self) -> dict[tuple[int, int], int]:
        """Where each group stands, row and column: its place in the table."""
        down, along = self._axes
        return {
            (self.rows.index(line.values[down]), self.columns.index(line.values[along])): place
            for place, line in enumerate(self.groups.lines)
        }

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest rate of groups that are compared; of others if there is none.

        One person in a group would else take all the colour.
        """
        lines = [line for line in self.groups.lines if line.rate is not None]
        large = [line.rate or 0.0 for line in lines if line.known and not line.excluded]
        rates = large or [line.rate or 0.0 for line in lines]
        return min(rates, default=0.0), max(rates, default=1.0)

    def line(self, row: int, column: int) -> GroupLine | None:
        """Return the group in a cell; ``None`` where nobody is."""
        place = self.cells.get((row, column))
        line = None if place is None else self.groups.lines[place]
        return line if line is not None and line.n_samples else None

    def key(self, row: int, column: int) -> int:
        """Return a cell's key: its group's place in the table, or below 0 where there is none."""
        return self.cells.get((row, column), -1 - row * len(self.columns) - column)

    def describe(self, row: int, column: int) -> str:
        """Say what is known of a cell."""
        place = self.cells.get((row, column))
        if place is None:
            return f"{self.rows[row]}, {self.columns[column]}: empty"
        return groups.describe(self.groups, self.groups.lines[place], self.person)

    def alt(self) -> str:
        """Tell it in words, in the language of the report."""
        parts = []
        for row, across in enumerate(self.rows):
            for column, along in enumerate(self.columns):
                line = self.line(row, column)
                value = say("empty") if line is None else groups.rate_and_size(self.groups, line)
                parts.append((None if line is None else line.rate, f"{across}, {along}: {value}"))
        rates = [(rate, each) for rate, each in parts if rate is not None] or [(0.0, say("empty"))]
        return say(
            "{title}. Lowest: {low}. Highest: {high}. {said}.",
            title=self.title,
            low=min(rates, key=lambda one: one[0])[1],
            high=max(rates, key=lambda one: one[0])[1],
            said="; ".join(each for _, each in parts),
        )

    def lay_out(self, paper: Paper, marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Put names at the left and above, and the cells between."""
        return _Layout(self, paper, marked).made()

    def _values(self, axis: int) -> tuple[str, ...]:
        """Return an attribute's values in their own order: that of their codes."""
        found: dict[str, float] = {}
        for line in self.groups.lines:
            # of a group that is not known there may be no codes
            code = line.codes[axis] if line.codes else math.inf
            found[line.values[axis]] = min(code, found.get(line.values[axis], math.inf))
        return tuple(sorted(found, key=lambda value: found[value]))


class _Layout:
    """Where everything of a heat map stands."""

    def __init__(self, heat: Heat, paper: Paper, marked: Marked) -> None:
        self._heat, self._paper, self._marked = heat, paper, marked
        self._lead = lead = paper.lead
        self._roomy = len(heat.rows) <= _ROOMY
        widest = max(map(paper.extent, (*heat.rows, heat.names[0])))
        self._left = min(widest, _NAMES * paper.width) + lead
        self._wide = min((paper.width - self._left) / len(heat.columns), _WIDEST * lead)
        self._tall = (2.6 if self._roomy else 1.5) * lead
        self._sides = [paper.wrapped(name, self._left - 0.6 * lead, 2) for name in heat.rows]
        heads = [paper.wrapped(name, self._wide - 6, 3) for name in heat.columns]
        self._heads, self._head = heads, (1.3 + max(map(len, heads))) * lead

    def made(self) -> Laid:
        """Return all of it."""
        heat = self._heat
        shapes, spots = [*self._names()], []
        marks: list[Shape] = []
        for row in range(len(heat.rows)):
            for column in range(len(heat.columns)):
                x, y = self._left + column * self._wide, self._head + row * self._tall
                spot = Spot(
                    heat.key(row, column),
                    heat.describe(row, column),
                    *(x, y, self._wide - _GAP, self._tall - _GAP),
                )
                spots.append(spot)
                line = heat.line(row, column)
                shapes += self._nobody(spot) if line is None else self._cell(spot, line)
                if spot.key in self._marked:
                    thick = 3.0 if spot.key == self._marked.chosen else 1.5
                    edge = (spot.x + 1, spot.y + 1, spot.wide - 2, spot.tall - 2)
                    marks.append(Box(*edge, None, "ink", thick))
        bottom = self._head + len(heat.rows) * self._tall
        foot = [*self._foot(bottom)]
        across, down = range(len(heat.columns)), range(len(heat.rows))
        return Laid(
            bottom + (len(foot) + 0.3) * self._lead,
            [*shapes, *marks, *foot],
            spots,
            [[heat.key(row, column) for column in across] for row in down],
            [[heat.key(row, column) for row in down] for column in across],
        )

    def _names(self) -> Iterator[Shape]:
        """Yield the names of both attributes, and of their values."""
        lead, (down, along) = self._lead, self._heat.names
        room = self._paper.width - self._left
        yield Words(self._left, 0.5 * lead, self._paper.wrapped(along, room, 1)[0], "quiet")
        (name,) = self._paper.wrapped(down, self._left - 0.6 * lead, 1)
        yield Words(0.0, self._head - 0.7 * lead, name, "quiet")
        for column, lines in enumerate(self._heads):
            x = self._left + column * self._wide + (self._wide - _GAP) / 2
            for number, line in enumerate(reversed(lines)):
                yield Words(x, self._head - (0.7 + number) * lead, line, anchor="middle")
        for row, lines in enumerate(self._sides):
            y = self._head + row * self._tall + (self._tall - _GAP) / 2
            for number, line in enumerate(lines):
                yield Words(0.0, y + (number - (len(lines) - 1) / 2) * lead, line)

    def _cell(self, spot: Spot, line: GroupLine) -> Iterator[Shape]:
        """Yield a cell filled by its rate, with the numbers in it."""
        low, high = self._heat.ends
        share = 1.0 if high == low else ((line.rate or 0.0) - low) / (high - low)
        ground = Tint("consistent", _PALE + min(max(share, 0.0), 1.0) * (_FULL - _PALE), "card")
        place = (spot.x, spot.y, spot.wide, spot.tall)
        yield Box(*place, ground, "consistent")
        if line.excluded or not line.known:
            yield Path(hatching(*place, 6.0), Tint("readable", 0.2, ground))
        texts = self._texts(line, spot.wide - 6)
        for number, text in enumerate(texts):
            y = spot.y + spot.tall / 2 + (number - (len(texts) - 1) / 2) * 1.1 * self._lead
            middle = spot.x + spot.wide / 2
            yield Words(middle, y, text, Tint("readable", 1.0, ground), "middle")

    def _texts(self, line: GroupLine, room: float) -> list[str]:
        """Return what is written in a cell, as much as there is room for."""

        def fits(text: str) -> bool:
            return self._paper.extent(text) <= room

        mark = f"{BELOW} " if line.below and not line.excluded else ""
        people = words.number(line.n_samples)
        counts = (f"n{words.NBSP}={words.NBSP}{people}", people)
        shorter = (words.percent(line.favourable, line.n_samples, digits) for digits in (1, 0))
        rates = [f"{mark}{rate}" for rate in (rate_of(self._heat.groups, line), *shorter)]
        if not self._roomy:
            both = [f"{rate}, {counts[0]}" for rate in rates]
            return [next(filter(fits, (*both, *rates)), mark.strip())]
        return [
            next(filter(fits, line_texts), "") for line_texts in ((*rates, mark.strip()), counts)
        ]

    def _nobody(self, spot: Spot) -> Iterator[Shape]:
        yield Box(spot.x, spot.y, spot.wide, spot.tall, None, "line", 1.0, (4, 2))
        text = say("empty")
        if self._paper.extent(text) > spot.wide - 4:
            text = "–"
        yield Words(spot.x + spot.wide / 2, spot.y + spot.tall / 2, text, "quiet", "middle")

    def _foot(self, bottom: float) -> Iterator[Shape]:
        """Say what marks mean, as far as there are any."""
        lines = self._heat.groups.lines
        said = [say("A stronger colour means a higher rate")]
        if any(line.below and not line.excluded for line in lines):
            said.append(f"{BELOW} {say('below the four-fifths threshold')}")
        if any(line.excluded or not line.known for line in lines):
            said.append(say("hatched: too small, or group not recorded; not compared"))
        paper = self._paper
        note = paper.wrapped("; ".join(said), paper.width / paper.small)
        for number, line in enumerate(note):
            yield Words(0.0, bottom + (0.7 + number) * self._lead, line, "quiet", size=paper.small)
