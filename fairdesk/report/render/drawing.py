"""Charts of the kit on the report's page: one unit is one point, type as large as in tables."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import msgspec

from fairdesk.charts import svg
from fairdesk.charts.shapes import LEAD, Laid, Paper, extent
from fairdesk.document.blocks import Block, Chart, Report

#: The width of every chart: the text width of the report's page.
WIDTH = 460.0


def paper(width: float = WIDTH) -> Paper:
    """Return what charts are laid out on."""
    return Paper(width, LEAD, lambda text, size, bold: extent(text, size, bold=bold))


class Shown(Protocol):
    """A chart of the kit."""

    def alt(self) -> str:
        """Tell it in words."""

    def lay_out(self, paper: Paper) -> Laid:
        """Put everything in its place."""


class Picture(NamedTuple):
    """A chart: its SVG, and the same in words."""

    svg: str
    alt: str


def with_drawings(report: Report) -> Report:
    """Return a report whose charts are drawn for its page."""
    board = report.board
    if board is not None and board.chart is not None:
        board = msgspec.structs.replace(board, chart=_drawn_chart(board.chart, WIDTH))
    return msgspec.structs.replace(
        report,
        board=board,
        sections=tuple(
            msgspec.structs.replace(section, blocks=tuple(map(_drawn_block, section.blocks)))
            for section in report.sections
        ),
    )


def _drawn_block(block: Block) -> Block:
    match block:
        case Chart():
            return _drawn_chart(block, WIDTH)
    return block


def _drawn_chart(chart: Chart, width: float) -> Chart:
    if chart.drawing is None:
        return chart
    picture = drawn(chart.drawing, chart.alt, width)
    return msgspec.structs.replace(chart, drawing=None, svg=picture.svg)


def drawn(chart: Shown, alt: str = "", width: float = WIDTH) -> Picture:
    """Draw a chart; ``alt`` says it in other words than its own."""
    laid, described = chart.lay_out(paper(width)), alt or chart.alt()
    return Picture(svg.document(width, laid.height, svg.drawn(laid.shapes), described), described)
