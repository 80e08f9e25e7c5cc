"""Weights as bars around zero: to the right what adds, to the left what takes away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fairdesk.charts.shapes import Box, Laid, Marked, Paper, Path, Shape, Words, hatched
from fairdesk.wording import words
from fairdesk.wording.language import say

#: By the height of a line of type: a bar's height, from one bar to the next, the room between rows.
_BAR, _STEP, _GAP = 0.6, 0.95, 0.4
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
            tall = max(len(each.values) * _STEP, len(lines)) * lead
            for place, line in enumerate(lines):
                at = y + tall / 2 + (place - (len(lines) - 1) / 2) * lead
                shapes.append(Words(0.0, at, line))
            for place, value in enumerate(each.values):
                at = y + tall / 2 + (place - (len(each.values) - 1) / 2) * _STEP * lead
                shapes += self._bar(value, middle, at, value * scale, paper, solid=not place)
            y += tall + _GAP * lead
        shapes.append(Path((((middle, 0.0), (middle, y - _GAP * lead)),), "quiet"))
        if self.rest:
            shapes.append(Words(0.0, y + 0.5 * lead, self.rest, "quiet"))
            y += 1.2 * lead
        return Laid(y, shapes)

    def _bar(
        self, value: float, middle: float, y: float, long: float, paper: Paper, *, solid: bool
    ) -> Iterator[Shape]:
        """Yield a bar from the middle line, with its number at its end."""
        colour = "bar" if not self.toned else "consistent" if value > 0 else "discriminatory"
        tall = _BAR * paper.lead
        x, wide = middle + min(long, 0.0), abs(long)
        if solid:
            yield Box(x, y - tall / 2, wide, tall, colour)
        elif wide > 1.5:
            yield from hatched(x, y - tall / 2, wide, tall, colour)
        end = middle + long + (0.3 if value >= 0 else -0.3) * paper.lead
        anchor = "start" if value >= 0 else "end"
        yield Words(end, y, self.text(value), anchor=anchor, size=paper.small)
