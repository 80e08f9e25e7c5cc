"""A tree of boxes as an icicle: level by level, boxes as large as their share, by verdict.

After Kruskal and Landwehr, “Icicle plots” (The American Statistician, 1983). In the window it is
turned so that it is read from left to right: each box lies right of the one that it is a part of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from fairdesk.charts.shapes import Box, Laid, Marked, Paper, Shape, Spot, Words
from fairdesk.charts.verdicts import MARKS, NAMES, sentence, shown
from fairdesk.results.proofs import Part
from fairdesk.results.rounding import exactly, percent_digits
from fairdesk.wording import proofs as proof_words
from fairdesk.wording import words
from fairdesk.wording.language import say

#: By the height of a line of type: how wide a column is at least, and how high a row is. How many
#: there are at most.
_COLUMN, _ROW, _MOST_COLUMNS, _ROWS = 10.0, 1.36, 7, 14
#: Boxes that are smaller are not drawn, in columns and in rows.
_LEAST_COLUMN, _LEAST_ROW = 0.75, 0.4
#: A part that is this much of another looks like all of it.
_ALIKE = 0.99
#: How dense the ground of words is.
_VEIL = 0.9
#: Sums of floats are exact to so much.
_LAST_BITS = 1e-12


class Placed(NamedTuple):
    """Where a part is drawn: its level, and its ends from 0 to 1 of the whole picture."""

    number: int
    level: int
    start: float
    end: float


@dataclass(frozen=True)
class Tree:
    """All that the icicle shows.

    Attributes
    ----------
    parts : tuple[Part, ...]
        Each after its parent; the first is everything.
    rules : tuple[str, ...]
        Of each what tells it from everything.
    steps : tuple[str, ...]
        Of each what tells it from its parent.
    whole : str
        What the shares are of: ``"all possible applicants"``.
    root : int
        The part that is the whole picture.
    title : str
        What it tells.
    """

    parts: tuple[Part, ...] = ()
    rules: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    whole: str = ""
    root: int = 0
    title: str = "How the input domain was divided"
    heading = ""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.parts

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The parts that each is divided into."""
        found: list[list[int]] = [[] for _part in self.parts]
        for number, part in enumerate(self.parts):
            if part.parent >= 0:
                found[part.parent].append(number)
        return tuple(map(tuple, found))

    @cached_property
    def first_divided(self) -> int:
        """The first part that is seen divided: columns before it would look like its own."""
        number = 0
        while self.children[number]:
            largest = max(self.children[number], key=lambda each: self.parts[each].share)
            if self.parts[largest].share < _ALIKE * self.parts[number].share:
                return number
            number = largest
        return 0

    def path(self, number: int) -> list[int]:
        """Return a part's ancestors, everything first, and itself."""
        found = []
        while number >= 0:
            found.append(number)
            number = self.parts[number].parent
        return found[::-1]

    def shares(self, number: int) -> dict[str, Fraction]:
        """Return how much of a part is certified, falsified and undecided."""
        part = self.parts[number]
        certified, falsified = (_of(part.share, each) for each in (part.certified, part.falsified))
        left = 1 - certified - falsified
        return {
            "consistent": certified,
            "discriminatory": falsified,
            "undecided": left if left > _LAST_BITS else Fraction(0),
        }

    def describe(self, number: int) -> str:
        """Say what is known of a part."""
        known = ", ".join(
            sentence(verdict, shown(verdict, share))
            for verdict, share in self.shares(number).items()
            if share
        )
        return f"{self.size(number)} of the whole, of which {known}: {self.rules[number]}"

    def size(self, number: int) -> str:
        """Write how much of everything a part is."""
        return shown("consistent", _of(1.0, self.parts[number].share))

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""
        if self.empty:
            return f"{self.title}: no results yet."
        largest = "; ".join(self.describe(number) for number in self.children[0][:4])
        return (
            f"{self.title}: {words.number(len(self.parts))} parts, the largest first in the table "
            f"(T). {self.describe(0)}. {largest}. Arrow keys move, Enter opens a part, "
            "Backspace goes back."
        )

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return it as a table: a header and rows, the largest first; of these at most so many."""
        order = sorted(range(len(self.parts)), key=lambda number: -self.parts[number].share)
        header = ("Part", "Level", "% of all", *(f"% {name}" for name in NAMES.values()), "Regions")
        return header, [
            (
                self.rules[number],
                str(len(self.path(number)) - 1),
                percent_digits(self.parts[number].share, 4),
                *(
                    percent_digits(share, 2, up=verdict == "undecided")
                    for verdict, share in self.shares(number).items()
                ),
                str(self.parts[number].boxes),
            )
            for number in order[:most]
        ]

    def alt(self) -> str:
        """Tell it in words, in the language of the report."""
        shares = self.shares(0)
        return say(
            "How the input domain was divided: {boxes} regions in {rows} rows, each as wide "
            "as its share. Of the whole, {certified} is certified and {falsified} falsified.",
            boxes=words.number(len(self.parts)),
            rows=words.number(self.depth()),
            certified=shown("consistent", shares["consistent"]),
            falsified=shown("discriminatory", shares["discriminatory"]),
        )

    def depth(self) -> int:
        """Return how many levels there are from the root, itself included."""
        levels = {self.root: 1}
        for number in range(self.root + 1, len(self.parts)):
            if (parent := self.parts[number].parent) in levels:
                levels[number] = levels[parent] + 1
        return max(levels.values())

    def levels(self, paper: Paper) -> int:
        """Return how many levels are drawn: as many as there are, or is room for."""
        columns = min(max(int(paper.width // (_COLUMN * paper.lead)), 2), _MOST_COLUMNS)
        return min(columns if paper.height else _ROWS, self.depth())

    def placed(self, levels: int) -> list[Placed]:
        """Place the root and everything below it, down to a level.

        Parts begin where their parent does, in their own order; what was too small to be told
        leaves room at its end.
        """
        whole = self.parts[self.root].share
        if not whole:
            return []
        placed = {self.root: Placed(self.root, 0, 0.0, 1.0)}
        filled = {self.root: 0.0}
        for number in range(self.root + 1, len(self.parts)):
            part = self.parts[number]
            parent = placed.get(part.parent)
            if parent is None or parent.level + 1 >= levels:
                continue
            start = filled[part.parent]
            end = min(start + part.share / whole, parent.end)
            filled[part.parent] = end
            placed[number] = Placed(number, parent.level + 1, start, end)
            filled[number] = start
        return list(placed.values())

    def lay_out(self, paper: Paper, marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Fill the height in columns, with words; without a height put rows below each other."""
        return _Layout(self, paper, marked).made()


def _of(whole: float, share: float) -> Fraction:
    """Return how much of a whole a share is; what misses it by the last bits only is the whole."""
    ratio = share / whole if whole else 0.0
    # of a float its shortest decimals: 0.6 is not a little less
    return Fraction(1) if ratio > 1 - _LAST_BITS else exactly(max(ratio, 0.0))


class _Layout:
    """Where everything of an icicle stands."""

    def __init__(self, tree: Tree, paper: Paper, marked: Marked) -> None:
        self._tree, self._paper, self._marked, self._lead = tree, paper, marked, paper.lead
        self._levels = tree.levels(paper)

    def made(self) -> Laid:
        """Return all of it."""
        spots = [*self._spots()]
        shapes: list[Shape] = []
        for spot in spots:
            shapes += self._box(spot)
        if not self._paper.height:
            y = self._levels * (_ROW + 0.14) * self._lead + 0.8 * self._lead
            key = say("in each region from the left: certified, falsified; grey: undecided")
            return Laid(y + self._lead, [*shapes, Words(0.0, y, key, "quiet")], spots)
        for spot in spots:
            shapes += self._words(spot)
        for spot in spots:
            if spot.key in self._marked:
                thick = 3.0 if spot.key == self._marked.chosen else 1.5
                place = (spot.x + 1.5, spot.y + 1.5, spot.wide - 4, max(spot.tall - 4, 0.5))
                shapes.append(Box(*place, None, "ink", thick))
        return Laid(self._paper.height, shapes, spots)

    def _spots(self) -> Iterator[Spot]:
        """Yield the place of every part that can be seen."""
        paper, wide = self._paper, self._paper.width / self._levels
        for number, level, start, end in self._tree.placed(self._levels):
            if not paper.height:
                y, size = level * (_ROW + 0.14) * self._lead, (end - start) * paper.width
                if size >= _LEAST_ROW:
                    yield Spot(number, "", start * paper.width, y, size, _ROW * self._lead)
            elif (size := (end - start) * paper.height) >= _LEAST_COLUMN:
                yield Spot(number, "", level * wide, start * paper.height, wide, size)

    def _box(self, spot: Spot) -> Iterator[Shape]:
        """Fill a box with its verdicts, in the direction of shares."""
        upright = self._paper.height > 0
        size = spot.tall if upright else spot.wide
        # a hairline's room between boxes, that leaves most of them
        size -= min(1.0 if upright else 0.6, size / 8)
        at = spot.y if upright else spot.x
        for verdict, share in self._tree.shares(spot.key).items():
            long = float(share) * size
            if long and upright:
                yield Box(spot.x, at, spot.wide - 1.5, long, verdict)
            elif long:
                yield Box(at, spot.y, long, spot.tall, verdict)
            at += long

    def _words(self, spot: Spot) -> Iterator[Shape]:
        """Say on a ground of its own what a box is, which verdict it mostly has, and if it goes on.

        A sign at the edge shows that a box is divided further than there is room for.
        """
        small, lead = self._paper.small, 1.05 * self._paper.small * self._lead
        if spot.tall < 2 * lead:
            # words would hide the verdicts that they name; the box says it when it is chosen
            return
        shares = self._tree.shares(spot.key)
        verdict = max(shares, key=lambda each: shares[each])
        lines = [self._tree.steps[spot.key], _mostly(verdict, shares[verdict])]
        if spot.tall < 2 * lead + 8:
            lines = [f"{MARKS[verdict]} {lines[0]}"]
        last = spot.x + spot.wide > self._paper.width - 2
        room = (spot.wide - (34 if last else 14)) / small
        lines = [self._paper.wrapped(text, room, 1)[0] for text in lines]
        wide = max(self._paper.extent(text, small) for text in lines) + 8
        tall, middle = len(lines) * lead + 2, spot.y + spot.tall / 2
        yield Box(spot.x + 3, middle - tall / 2, wide, tall, "card", opacity=_VEIL)
        for number, text in enumerate(lines):
            y = middle + (number - (len(lines) - 1) / 2) * lead
            yield Words(spot.x + 7, y, text, size=small)
        if last and self._tree.children[spot.key]:
            x = spot.x + spot.wide - 11
            yield Box(x - 7, middle - lead / 2, 14, lead, "card", opacity=_VEIL)
            yield Words(x, middle, "›", anchor="middle", bold=True)


def _mostly(verdict: str, share: Fraction) -> str:
    """Say the most of a box shortly: proven rounded down, never all of it for less."""
    if share == 1:
        text = words.percent_of("100")
    elif verdict == "undecided":
        text = proof_words.percent_up(share, 1)
    else:
        text = proof_words.percent_down(share, 1)
    return f"{MARKS[verdict]} {sentence(verdict, text)}"
