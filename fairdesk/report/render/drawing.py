"""What charts are drawn with: type, strokes, marks and scales, as pieces of SVG.

One unit is one point on paper, so that type in a chart is as large as in tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fairdesk.charts import svg
from fairdesk.charts.colours import ON_PAPER
from fairdesk.charts.scales import Frame
from fairdesk.charts.shapes import Laid, Paper
from fairdesk.charts.svg import text
from fairdesk.charts.type import LEAD, SIZE, extent
from fairdesk.wording.statements import Evidence

#: The width of every chart: the text width of the report's page.
WIDTH = 460.0
#: The colours of series, in this order.
COLOURS = tuple(ON_PAPER[f"series {place}"] for place in range(6))
DASHES = ("", "6 3", "2 3", "8 3 2 3", "4 2", "1 2")
INK, QUIET, FAINT, LINE = "#1a1a1a", "#555555", "#a6a6a6", "#d9d9d9"

#: What charts are laid out on.
PAPER = Paper(WIDTH, LEAD, lambda text, size, bold: extent(text, size, bold=bold))


class Picture(NamedTuple):
    """A chart: its SVG, and the same in words."""

    svg: str
    alt: str


def drawing(height: float, parts: Iterable[str], alt: str) -> Picture:
    """Return a whole drawing of its parts."""
    return Picture(svg.document(WIDTH, height, parts, alt), alt)


def laid_out(chart: Laid, alt: str) -> Picture:
    """Draw a chart that was laid out on `PAPER`."""
    return drawing(chart.height, svg.drawn(chart.shapes), alt)


def stroke(path: str, colour: str, width: float, dash: str = "") -> str:
    """Draw a line."""
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}" '
        f'stroke-linejoin="round"{dashed}/>'
    )


def box(x: float, y: float, wide: float, tall: float, fill: str, outline: str = "") -> str:
    """Draw a rectangle; with an outline of one colour, if wanted."""
    edge = f' stroke="{outline}" stroke-width="1"' if outline else ""
    size = f'width="{wide:.2f}" height="{tall:.1f}"'
    return f'<rect x="{x:.2f}" y="{y:.1f}" {size} fill="{fill}"{edge}/>'


def dotted(x: float, y: float, wide: float, tall: float, colour: str) -> list[str]:
    """Return two rows of dots for a rectangle that is wide enough for them."""
    rows = (y + tall * 0.3, y + tall * 0.7)
    if wide < 6:
        return []
    path = "".join(f"M{x + 3:.1f} {row:.1f}H{x + wide - 2:.1f}" for row in rows)
    dots = 'stroke-linecap="round" stroke-dasharray="0 6"'
    return [f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2" {dots}/>']


def mark(x: float, y: float, colour: str, evidence: Evidence, *, square: bool = False) -> str:
    """Draw a round or a square mark that says what it rests on.

    An outline what was observed, hatched what is estimated, solid what is proven, or an example.
    """
    fill = colour if evidence in ("proven", "example") else "white"
    look = f'fill="{fill}" stroke="{colour}" stroke-width="1.3"'
    if square:
        shape = f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" {look}/>'
    else:
        shape = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" {look}/>'
    if evidence != "estimated":
        return shape
    return shape + stroke(hatching(x, y), colour, 0.9)


def hatching(x: float, y: float) -> str:
    """Return the path of three lines that lean to the right, within a mark."""
    lines = ((-2.9, 0.6, 3.5), (-1.9, 2.3, 4.2), (-0.3, 3.0, 3.3))
    return "".join(f"M{x + a:.1f} {y + b:.1f}l{long} -{long}" for a, b, long in lines)


def axes(
    frame: Frame,
    x_ticks: Sequence[tuple[float, str]],
    y_ticks: Sequence[tuple[float, str]],
    x_title: str,
    y_title: str,
) -> list[str]:
    """Draw both axes: lines across, and values with their texts."""
    parts = [text(0, SIZE, y_title, colour=QUIET)]
    for value, told in y_ticks:
        y = frame.y(value)
        parts.append(stroke(f"M{frame.left:.1f} {y:.1f}H{frame.right:.1f}", LINE, 0.6))
        parts.append(text(frame.left - 5, y + 3, told, anchor="end"))
    for value, told in x_ticks:
        x = frame.x(value)
        parts.append(stroke(f"M{x:.1f} {frame.bottom:.1f}v4", QUIET, 0.6))
        parts.append(text(x, frame.bottom + 14, told, anchor="middle"))
    return [*parts, *_base(frame, x_title, 28)]


def lying_axis(frame: Frame, x_ticks: Sequence[tuple[float, str]], x_title: str) -> list[str]:
    """Draw an axis that lies below, its values with their texts and upright lines."""
    parts = []
    for value, told in x_ticks:
        x = frame.x(value)
        parts.append(stroke(f"M{x:.1f} {frame.top:.1f}V{frame.bottom:.1f}", LINE, 0.6))
        parts.append(text(x, frame.bottom + 13, told, anchor="middle"))
    return [*parts, *_base(frame, x_title, 27)]


def _base(frame: Frame, title: str, below: float) -> tuple[str, str]:
    # a title may be wider than the plot, but not than the drawing
    half = extent(title) / 2
    middle = max(min((frame.left + frame.right) / 2, WIDTH - half), half)
    return (
        stroke(f"M{frame.left:.1f} {frame.bottom:.1f}H{frame.right:.1f}", QUIET, 0.8),
        text(middle, frame.bottom + below, title, colour=QUIET, anchor="middle"),
    )


def apart(wanted: Sequence[float], sizes: Sequence[float], end: float) -> list[float]:
    """Move labels apart: down from the one above, then up from the end of the drawing."""
    placed = list(wanted)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    free = 0.0
    for i in order:
        placed[i] = max(wanted[i], free)
        free = placed[i] + sizes[i]
    for i in reversed(order):
        placed[i] = min(placed[i], end - sizes[i])
        end = placed[i]
    return placed
