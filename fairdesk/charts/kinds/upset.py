"""Who was found by which searches: sizes of intersections as bars, above a matrix of dots.

After UpSet (Lex and others, 2014): with more than three sets circles cannot show it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fairdesk.charts.shapes import (
    Box,
    Colour,
    Disc,
    Laid,
    Marked,
    Paper,
    Path,
    Shape,
    Spot,
    Tint,
    Words,
)
from fairdesk.wording import words

#: By the height of a line of type: from one bar to the next, at least, for the number above it
#: needs that room, and at most; the tallest bar; a row of dots; half a dot.
_LEAST_STEP, _MOST_STEP, _TALLEST, _ROW, _DOT = 3.9, 7.3, 8.5, 1.5, 0.33


@dataclass(frozen=True)
class Set:
    """One of the sets.

    Attributes
    ----------
    name : str
        For people.
    size : int
        How many are in it.
    colour : str
        By what it is for.
    """

    name: str
    size: int
    colour: str


@dataclass(frozen=True)
class Intersections:
    """All that the chart shows.

    Attributes
    ----------
    title : str
        What it tells.
    what : str
        What is counted, in the plural.
    sets : tuple[Set, ...]
        Each is a row of dots.
    parts : tuple[tuple[tuple[int, ...], int], ...]
        Positions of sets, and how many are in exactly these; in the order to be drawn.
    """

    title: str = ""
    what: str = ""
    sets: tuple[Set, ...] = ()
    parts: tuple[tuple[tuple[int, ...], int], ...] = ()
    heading = ""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.parts

    def names(self, members: tuple[int, ...]) -> str:
        """Name the sets that make an intersection."""
        if len(members) == len(self.sets) > 1:
            return "all of them" if len(self.sets) > 2 else "both"
        found = words.joined([self.sets[member].name for member in members])
        return f"{found} only"

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""
        if self.empty:
            return f"{self.title}: no results yet."
        said = "; ".join(f"{words.number(count)} by {self.names(who)}" for who, count in self.parts)
        return f"{self.title}. {self.what.capitalize()} found: {said}."

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return it as a table: a header and rows; of these at most so many."""
        header = ("found by", *(each.name for each in self.sets), self.what)
        return header, [
            (
                self.names(who),
                *("●" if place in who else "" for place in range(len(self.sets))),
                str(count),
            )
            for who, count in self.parts[:most]
        ]

    def lay_out(self, paper: Paper, marked: Marked) -> Laid:
        """Put names at the left, and above their dots as many bars as there is room for."""
        return _Layout(self, paper, marked).made()


class _Layout:
    """Where everything of the chart stands."""

    def __init__(self, drawing: Intersections, paper: Paper, marked: Marked) -> None:
        self._drawing, self._paper, self._marked = drawing, paper, marked
        self._lead = lead = paper.lead
        widest = max(
            paper.extent(f"{each.name}{words.number(each.size)}", bold=True)
            for each in drawing.sets
        )
        self._left = min(widest + 3.5 * lead, 0.45 * paper.width)
        room = paper.width - self._left
        self._shown = max(min(len(drawing.parts), int(room // (_LEAST_STEP * lead))), 1)
        self._step = min(max(room / self._shown, _LEAST_STEP * lead), _MOST_STEP * lead)
        self._top = (_TALLEST + _ROW + 1) * lead

    def made(self) -> Laid:
        """Return all of it."""
        shapes, spots = [*self._rows()], []
        tallest = max(count for _who, count in self._drawing.parts)
        height = self._top + len(self._drawing.sets) * _ROW * self._lead + 2
        for place, (members, count) in enumerate(self._drawing.parts[: self._shown]):
            sentence = f"{words.number(count)} {self._drawing.what} were found by "
            sentence += self._drawing.names(members)
            x = self._left + place * self._step
            spots.append(Spot(place, sentence, x, 0.0, self._step, height))
            shapes += self._bar(spots[-1], members, count, count / tallest)
        left_out = len(self._drawing.parts) - self._shown
        if left_out > 0:
            said = f"and {words.number(left_out)} smaller: see the table (T)"
            small = self._paper.small
            y = 0.5 * self._lead
            shapes.append(Words(self._paper.width, y, said, "quiet", "end", small))
        return Laid(height, shapes, spots, [range(self._shown)])

    def _rows(self) -> Iterator[Shape]:
        """Yield a row per set: its name and size, on a ground that leads the eye."""
        lead, paper = self._lead, self._paper
        for place, each in enumerate(self._drawing.sets):
            if place % 2 == 0:
                y = self._top + place * _ROW * lead
                yield Box(0.0, y, paper.width, _ROW * lead, Tint("line", 0.35))
            end = self._left - 1.3 * lead
            number = words.number(each.size)
            room = (end - paper.extent(number) - 1.5 * lead) / 1.05
            (name,) = paper.wrapped(each.name, room, 1)
            yield Words(0.5 * lead, self._middle(place), name, each.colour, bold=True)
            yield Words(end, self._middle(place), number, anchor="end")

    def _bar(
        self, spot: Spot, members: tuple[int, ...], count: int, share: float
    ) -> Iterator[Shape]:
        """Yield how many are in an intersection, and of which sets it is."""
        lead, sets = self._lead, self._drawing.sets
        middle, tall = spot.x + spot.wide / 2, share * _TALLEST * lead
        wide = min(0.55 * self._step, 2.3 * lead)
        colour: Colour = sets[members[0]].colour if len(members) == 1 else "bar"
        if spot.key in self._marked:
            colour = "accent"
        bottom = self._top - 0.5 * lead
        yield Box(middle - wide / 2, bottom - tall, wide, tall, colour)
        number = words.number(count)
        yield Words(middle, bottom - tall - 0.7 * lead, number, anchor="middle", bold=True)
        if len(members) > 1:
            ends = ((middle, self._middle(members[0])), (middle, self._middle(members[-1])))
            yield Path((ends,), "quiet", 2.0)
        for place, each in enumerate(sets):
            inside = place in members
            dot: Colour = each.colour if inside else "line"
            radius = (_DOT if inside else 0.6 * _DOT) * lead
            yield Disc(middle, self._middle(place), radius, dot, dot)

    def _middle(self, place: int) -> float:
        return self._top + (place + 0.5) * _ROW * self._lead
