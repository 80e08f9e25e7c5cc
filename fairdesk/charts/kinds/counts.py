"""Counts of examples as bars, each named and numbered, of a whole that all share; dotted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairdesk.charts.shapes import Box, Laid, Marked, Paper, Shape, Spot, Words, dotted
from fairdesk.wording import words
from fairdesk.wording.language import say

#: By the height of a line of type: a bar's height, and the room between bars.
_BAR, _GAP = 0.75, 0.6


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
            shapes.append(Box(0.5, y, paper.width - 1, _BAR * lead, None, edge))
            if count and self.whole:
                wide = max((paper.width - 1) * count / self.whole, 0.75)
                shapes += dotted(0.5, y, wide, _BAR * lead)
            y += (_BAR + _GAP) * lead
            spots.append(Spot(key, f"{name}: {value}", 0.0, top, paper.width, y - top))
        order = (tuple(range(len(self.counts))),)
        return Laid(max(y - 0.5 * _GAP * lead, 0.0), shapes, spots, down=order)

    def _value(self, count: int) -> str:
        return f"{words.number(count)} ({words.percent(count, self.whole)})"
