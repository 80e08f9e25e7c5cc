"""What charts are drawn with: type, strokes, marks and scales, as pieces of SVG.

One unit is one point on paper, so that type in a chart is as large as in tables.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple
from xml.sax.saxutils import escape

from fairdesk.report.blocks import Evidence
from fairdesk.wording import words

#: The width of every chart: the text width of the report's page.
WIDTH = 460.0
#: Okabe and Ito's colours for series, in this order; black and yellow are left out.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
DASHES = ("", "6 3", "2 3", "8 3 2 3", "4 2", "1 2")
INK, QUIET, FAINT, LINE = "#1a1a1a", "#555555", "#a6a6a6", "#d9d9d9"
#: The report's font comes first; a browser takes what it has. Names with numbers need their quotes.
FONTS = "'Source Sans 3', 'Source Sans Pro', Helvetica, Arial, sans-serif"
#: Chinese and Japanese are set in a font of their own: typst would look for one by the first sign
#: alone, and find one that has the sign, but empty.
_HAN_FONT = "Droid Sans Fallback, sans-serif"
_HAN = re.compile("[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60\U00020000-\U0003ffff]+")
SIZE = 9.0
#: From one line of type to the next.
LEAD = SIZE + 2
#: Widths of characters, in the size of the type: narrow, wide, and capital ones.
_NARROW, _BROAD = frozenset("ijltfrI.,:;|'!’()[] \u00a0\u202f-·/"), frozenset("mwMW%@—…")
#: What names a thing takes at most so many lines.
_MOST_LINES = 4


class Picture(NamedTuple):
    """A chart: its SVG, and the same in words."""

    svg: str
    alt: str


class Frame(NamedTuple):
    """The plot's box and its scales."""

    left: float
    right: float
    top: float
    bottom: float
    x_high: float
    y_high: float
    x_low: float = 0.0
    y_low: float = 0.0

    def x(self, value: float) -> float:
        """Return where a value stands across."""
        share = (value - self.x_low) / (self.x_high - self.x_low)
        return self.left + (self.right - self.left) * share

    def y(self, value: float) -> float:
        """Return where a value stands down."""
        share = (value - self.y_low) / (self.y_high - self.y_low)
        return self.bottom - (self.bottom - self.top) * share


def drawing(height: float, parts: Iterable[str], alt: str) -> Picture:
    """Put a drawing together."""
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH:.0f}pt" height="{height:.1f}pt" '
        f'viewBox="0 0 {WIDTH:.0f} {height:.1f}" font-family="{FONTS}" font-size="{SIZE}" '
        f'role="img"><title>{escape(alt)}</title>{"".join(parts)}</svg>'
    )
    return Picture(svg, alt)


def text(
    x: float,
    y: float,
    said: str,
    *,
    colour: str = INK,
    anchor: str = "start",
    weight: str = "normal",
    halo: bool = False,
) -> str:
    """Write a line of type; with a halo, what lies under it does not strike it through."""
    around = ' stroke="white" stroke-width="2.4" paint-order="stroke"' if halo else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}" '
        f'font-weight="{weight}"{around}>{_HAN.sub(_in_han, escape(said))}</text>'
    )


def _in_han(found: re.Match[str]) -> str:
    return f'<tspan font-family="{_HAN_FONT}">{found[0]}</tspan>'


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


def hatched(x: float, y: float, wide: float, tall: float, colour: str, gap: float = 4.0) -> str:
    """Hatch a rectangle with lines that lean to the right."""
    lines = []
    at = x - tall + gap / 2
    while at < x + wide:
        begin, end = max(at, x), min(at + tall, x + wide)
        if end > begin:
            lines.append(
                f"M{begin:.1f} {y + tall - (begin - at):.1f}L{end:.1f} {y + tall - (end - at):.1f}"
            )
        at += gap
    return stroke("".join(lines), colour, 1.0) if lines else ""


def dotted(x: float, y: float, wide: float, tall: float, colour: str) -> list[str]:
    """Put two rows of dots on a rectangle that is wide enough for them."""
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


def extent(said: str, *, bold: bool = False) -> float:
    """Estimate how wide a line of type is."""
    return (SIZE * sum(map(_wide, said)) + 2) * (1.05 if bold else 1.0)


@lru_cache(maxsize=4096)
def _wide(sign: str) -> float:
    if unicodedata.combining(sign):
        return 0.0
    if unicodedata.east_asian_width(sign) in "WF":
        return 1.0
    if sign in _NARROW:
        return 0.29
    if sign in _BROAD:
        return 0.86
    return 0.6 if sign.isupper() else 0.51


def wrapped(said: str, room: float, most: int = _MOST_LINES) -> list[str]:
    """Break a text into lines that fit; what is beyond ``most`` lines ends in “…”."""
    lines = list(_lines(said, room))
    if len(lines) <= most:
        return lines or [""]
    last = lines[most - 1]
    while last and extent(f"{last}…") > room:
        last = last[:-1]
    return [*lines[: most - 1], f"{last.rstrip()}…"]


def _lines(said: str, room: float) -> Iterator[str]:
    line = ""
    # a number stays with its unit
    for word in re.split(r"[ \t\r\n]+", said.strip()):
        longer = f"{line} {word}" if line else word
        if extent(longer) <= room:
            line = longer
            continue
        if line:
            yield line
        line = word
        while extent(line) > room and len(line) > 1:
            fits = next(
                end for end in range(len(line), 0, -1) if end == 1 or extent(line[:end]) <= room
            )
            yield line[:fits]
            line = line[fits:]
    if line:
        yield line


def ticks(high: float, most: int = 6, least_step: float = 1.0) -> tuple[float, ...]:
    """Choose round axis values from 0 that reach ``high``.

    Parameters
    ----------
    high : float
        The greatest value to show; not negative.
    most : int
        At most so many steps.
    least_step : float
        No step is smaller; a power of ten.

    Returns
    -------
    tuple[float, ...]
        0, s, 2s, ... with s in {1, 2, 5} times a power of ten and not below ``least_step``; the
        last is at least ``high``.
    """
    high = max(high, least_step)
    power = max(10.0 ** math.floor(math.log10(high / most)), least_step)
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= high / most)
    return tuple(step * i for i in range(math.ceil(high / step) + 1))


def percent_ticks(values: Sequence[float]) -> list[tuple[float, str]]:
    """Write axis values that are percentages, with the decimals that their step needs."""
    decimals = max(0, -math.floor(math.log10(values[1]) + 1e-9))
    return [(value, words.percent_of(f"{value:.{decimals}f}")) for value in values]


def round_between(low: float, high: float) -> list[tuple[float, str]]:
    """Choose round axis values between two ends, with their texts."""
    rough = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    places = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [(step * place, words.plain(step * place, digits)) for place in places]


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
