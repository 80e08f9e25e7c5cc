"""Charts of the kit on the report's page: one unit is one point, type as large as in tables."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from fairdesk.charts import svg
from fairdesk.charts.shapes import Laid, Paper
from fairdesk.charts.type import LEAD, extent

#: The width of every chart: the text width of the report's page.
WIDTH = 460.0

#: The width of the small charts of the summary, beside its sentences.
NARROW = 210.0


def paper(width: float = WIDTH) -> Paper:
    """Return what charts are laid out on."""
    return Paper(width, LEAD, lambda text, size, bold: extent(text, size, bold=bold))


class Shown(Protocol):
    """A chart of the kit that is told in the language of the report."""

    def alt(self) -> str:
        """Tell it in words."""

    def lay_out(self, paper: Paper) -> Laid:
        """Put everything in its place."""


class Picture(NamedTuple):
    """A chart: its SVG, and the same in words."""

    svg: str
    alt: str


def drawn(chart: Shown, alt: str = "", width: float = WIDTH) -> Picture:
    """Draw a chart; ``alt`` says it in other words than its own."""
    laid, described = chart.lay_out(paper(width)), alt or chart.alt()
    return Picture(svg.document(width, laid.height, svg.drawn(laid.shapes), described), described)
