"""Small multiples: the same chart of several subjects side by side, to be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from fairdesk.charts.kinds.shares import ShareBars
from fairdesk.charts.shapes import Laid, Marked, Paper, Path, Shape, Words
from fairdesk.wording.language import say

#: Between columns and between rows, by the height of a line of type.
_ASIDE, _BELOW = 2.5, 1.5


class Small(Protocol):
    """A chart of the kit."""

    def alt(self) -> str:
        """Tell it in words."""

    def lay_out(self, paper: Paper) -> Laid:
        """Put everything in its place."""


class Panel(NamedTuple):
    """One of the charts: of what it is, its figure as text, which may be empty, and the chart."""

    name: str
    value: str
    chart: Small


def on_one_scale(charts: Sequence[Small]) -> list[Small]:
    """Return charts whose lengths can be compared: bars of shares have one scale."""
    reach = max((each.reach for each in charts if isinstance(each, ShareBars)), default=0.0)
    return [replace(each, least=reach) if isinstance(each, ShareBars) else each for each in charts]


@dataclass(frozen=True)
class Multiples:
    """Charts in rows, each below its name and its figure."""

    panels: Sequence[Panel]
    columns: int = 2

    def alt(self) -> str:
        """Tell it in words, in the language of the report."""
        said = " ".join(f"{each.name}: {each.chart.alt()}" for each in self.panels)
        return say("Small charts, one of each audit. {said}", said=said)

    def lay_out(self, paper: Paper, _marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Put each chart in its cell; a row is as high as the highest in it."""
        lead = paper.lead
        wide = (paper.width - (self.columns - 1) * _ASIDE * lead) / self.columns
        shapes: list[Shape] = []
        y = 0.0
        for first in range(0, len(self.panels), self.columns):
            highest = 0.0
            for place, panel in enumerate(self.panels[first : first + self.columns]):
                own, tall = _cell(panel, replace(paper, width=wide))
                shapes += (_moved(each, place * (wide + _ASIDE * lead), y) for each in own)
                highest = max(highest, tall)
            y += highest + _BELOW * lead
        return Laid(max(y - _BELOW * lead, 0.0), shapes)


def _cell(panel: Panel, paper: Paper) -> tuple[list[Shape], float]:
    """Return the shapes of a panel and how high it is."""
    lead = paper.lead
    beside = paper.extent(panel.value, bold=True) + lead if panel.value else 0.0
    names = paper.wrapped(panel.name, max(paper.width - beside, paper.width / 2), 2)
    shapes: list[Shape] = [
        Words(0.0, (0.5 + 1.1 * number) * lead, line, bold=True)
        for number, line in enumerate(names)
    ]
    if panel.value:
        shapes.append(Words(paper.width, 0.5 * lead, panel.value, anchor="end", bold=True))
    top = (1.1 * len(names) + 0.2) * lead
    shapes.append(Path((((0.0, top), (paper.width, top)),), "line", 0.8))
    top += 0.4 * lead
    laid = panel.chart.lay_out(paper)
    return [*shapes, *(_moved(each, 0.0, top) for each in laid.shapes)], top + laid.height


def _moved(shape: Shape, right: float, down: float) -> Shape:
    """Return a shape elsewhere."""
    if isinstance(shape, Path):
        lines = (tuple((x + right, y + down) for x, y in line) for line in shape.lines)
        return shape._replace(lines=tuple(lines))
    return shape._replace(x=shape.x + right, y=shape.y + down)
