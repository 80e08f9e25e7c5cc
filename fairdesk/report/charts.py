"""Charts as SVG: vector, always light, Okabe-Ito colours, direct labels, and the same in words.

One unit of the drawing is one point on paper, so that type in a chart is as large as in tables.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from fairdesk.groups.outcomes import FOUR_FIFTHS
from fairdesk.report import words

#: The width of every chart: the text width of the report's page.
WIDTH = 460.0
#: Okabe and Ito's colours for series, in this order; black and yellow are left out.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "4 2", "1 2")
_INK, _QUIET, _FAINT, _LINE = "#1a1a1a", "#555555", "#a6a6a6", "#d9d9d9"
#: The PDF's fonts have it first; a browser takes what it has.
_FONT = "'Source Sans 3', 'Source Sans Pro', Helvetica, Arial, sans-serif"
_SIZE = 9.0
#: The width of an average character, in the size of the type.
_CHARACTER = 0.5
#: More points than a line on paper can show.
_MOST_POINTS = 300


class Picture(NamedTuple):
    """A chart: its SVG, and the same in words."""

    svg: str
    alt: str


class Series(NamedTuple):
    """One line of a chart: its name and its points."""

    name: str
    x: Sequence[float] | NDArray[np.float64]
    y: Sequence[float] | NDArray[np.float64]


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


def line_chart(
    series: Sequence[Series], *, x_title: str, y_title: str, height: float = 210.0
) -> Picture:
    """Draw counts against counts, one line per series, each named at its end.

    Parameters
    ----------
    series : sequence of Series
        At least one; points in order of x. Each line starts at the origin.
    x_title, y_title : str
        What the axes count, with the unit.
    height : float
        In points; more where the names need it.
    """
    ends = [
        (float(line.x[-1]), float(line.y[-1])) if len(line.x) else (0.0, 0.0) for line in series
    ]
    x_ticks = ticks(max(x for x, _ in ends))
    y_ticks = ticks(max(float(max(line.y, default=0)) for line in series), 5)
    labels = [
        [*textwrap.wrap(line.name, 20), f"{words.number(y)} of {words.number(x)}"]
        for line, (x, y) in zip(series, ends, strict=True)
    ]
    right = 10 + max(_extent(text) for lines in labels for text in lines)
    sizes = [len(lines) * (_SIZE + 2) + 3 for lines in labels]
    height = max(height, sum(sizes) + 44.0)
    frame = _Frame(
        left=_extent(words.number(y_ticks[-1])) + 10,
        right=WIDTH - right,
        top=22.0,
        bottom=height - 34.0,
        x_high=x_ticks[-1],
        y_high=y_ticks[-1],
    )
    y_axis = [(value, words.number(value)) for value in y_ticks]
    parts = _axes(frame, x_ticks, y_axis, x_title, y_title)
    heights = _apart(
        [frame.y(y) for _, y in ends],
        sizes,
        # the greatest number of the axis stands right below
        frame.bottom + _SIZE,
    )
    for i, line in enumerate(series):
        colour, dash = COLOURS[i % len(COLOURS)], _DASHES[i % len(_DASHES)]
        points = _thinned(line)
        path = "M" + "L".join(f"{frame.x(x):.1f} {frame.y(y):.1f}" for x, y in points)
        parts.append(_stroke(path, colour, 1.6, dash))
        x, y = points[-1]
        parts.append(
            f'<circle cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="2.6" fill="{colour}"/>'
        )
        if frame.right - frame.x(x) > 12:
            leader = (
                f"M{frame.x(x) + 5:.1f} {frame.y(y):.1f}L{frame.right + 6:.1f} {heights[i]:.1f}"
            )
            parts.append(_stroke(leader, colour, 0.5, "1 2"))
        for j, text in enumerate(labels[i]):
            parts.append(
                _text(
                    frame.right + 10,
                    heights[i] + 3 + j * (_SIZE + 2),
                    text,
                    weight="bold" if j < len(labels[i]) - 1 else "normal",
                )
            )
    said = "; ".join(
        f"{line.name}: {words.number(y)} after {words.number(x)}"
        for line, (x, y) in zip(series, ends, strict=True)
    )
    alt = f"Line chart of {y_title} against {x_title}. {said}."
    return _drawing(height, parts, alt)


def course_chart(
    course: Sequence[tuple[float, float, float, float]], *, x_title: str, y_title: str
) -> Picture:
    """Draw how an estimated share came: its line within the band of its interval.

    Parameters
    ----------
    course : sequence of (people, estimate, low, high)
        At least one; shares from 0 to 1.
    x_title, y_title : str
        What the axes count.
    """
    height = 190.0
    people, estimate, low, high = np.array(course, dtype=float).T
    # where the band is still wide it may leave the chart: what matters is where it ends
    y_ticks = ticks(min(100.0, 100 * max(1.6 * high[-1], 1.1 * estimate.max())), 5, 0.001)
    decimals = max(0, -math.floor(math.log10(y_ticks[1])))
    y_axis = [(value, f"{value:.{decimals}f}{words.NBSP}%") for value in y_ticks]
    x_ticks = ticks(float(people[-1]))
    texts = [f"{100 * each[-1]:.{decimals + 1}f}{words.NBSP}%" for each in (high, estimate, low)]
    frame = _Frame(
        left=max(_extent(text) for _, text in y_axis) + 10,
        right=WIDTH - 12 - max(map(_extent, texts)),
        top=22.0,
        bottom=height - 34.0,
        x_high=x_ticks[-1],
        y_high=y_ticks[-1],
    )
    x = [frame.x(each) for each in people]

    def along(shares: NDArray[np.float64]) -> list[str]:
        heights = np.minimum(100 * shares, y_ticks[-1])
        return [f"{x[i]:.1f} {frame.y(each):.1f}" for i, each in enumerate(heights)]

    band = f"M{'L'.join([*along(high), *along(low)[::-1]])}Z"
    parts = [
        f'<path d="{band}" fill="{COLOURS[4]}" fill-opacity="0.35"/>',
        *_axes(frame, x_ticks, y_axis, x_title, y_title),
        _stroke(f"M{'L'.join(along(estimate))}", COLOURS[0], 1.6),
    ]
    wanted = [frame.y(min(100 * each[-1], y_ticks[-1])) for each in (high, estimate, low)]
    for text, y, weight in zip(
        texts,
        _apart(wanted, [_SIZE + 2] * 3, height - _SIZE),
        ("normal", "bold", "normal"),
        strict=True,
    ):
        parts.append(_text(x[-1] + 8, y + 3, text, weight=weight))
    alt = (
        f"Line chart of {y_title} against {x_title}: {texts[1]}, between {texts[2]} and "
        f"{texts[0]}, after {words.number(people[-1])}."
    )
    return _drawing(height, parts, alt)


def bar_chart(bars: Sequence[tuple[str, float]], *, whole: float, unit: str) -> Picture:
    """Draw counts as horizontal bars, each with its name, its count and its share of a whole.

    Parameters
    ----------
    bars : sequence of (name, count)
        At least one, in the order to be drawn.
    whole : float
        The count of a full-width bar; positive.
    unit : str
        What is counted, for the text: ``"findings"``.
    """
    values = [f"{words.number(n)} ({words.percent(n, whole)})" for _, n in bars]
    room = WIDTH - 8 - max(_extent(value) for value in values)
    parts, y = [], 0.0
    for i, (name, count) in enumerate(bars):
        for line in textwrap.wrap(name, int(WIDTH / (_SIZE * _CHARACTER))) or [""]:
            y += _SIZE + 3
            parts.append(_text(0, y, line))
        y += 4
        length = max(room * count / whole, 0.75 if count else 0.0)
        parts.append(
            f'<rect x="0" y="{y:.1f}" width="{room:.1f}" height="11" fill="none" '
            f'stroke="{_LINE}" stroke-width="0.6"/>'
            f'<rect x="0" y="{y:.1f}" width="{length:.1f}" height="11" fill="{COLOURS[0]}"/>'
        )
        parts.append(_text(room + 8, y + 9, values[i]))
        y += 15
    alt = f"Bar chart of {unit}. " + "; ".join(
        f"{name}: {value}" for (name, _), value in zip(bars, values, strict=True)
    )
    return _drawing(y + 4, parts, alt + ".")


class ProofBar(NamedTuple):
    """What is proven of some people.

    Attributes
    ----------
    name : str
        Of whom.
    certified, falsified : float
        Shares, 0 to 1.
    estimated : float, optional
        The share of all that is estimated to be unlike, beyond what is proven.
    """

    name: str
    certified: float
    falsified: float
    estimated: float | None = None


def proof_chart(bars: Sequence[ProofBar]) -> Picture:
    """Draw what is proven as bars: solid what is proven, hatched what is estimated, grey the rest.

    Parameters
    ----------
    bars : sequence of ProofBar
        At least one, in the order to be drawn.
    """
    parts, y, tall = [], 0.0, 16.0
    kinds = [("certified", COLOURS[0]), ("falsified", COLOURS[1]), ("undecided", _LINE)]
    told = []
    for bar in bars:
        y += _SIZE + 3
        parts.append(_text(0, y, bar.name, weight="bold"))
        y += 5
        left = max(0.0, 1.0 - bar.certified - bar.falsified)
        x = 0.0
        shares = (bar.certified, bar.falsified, left)
        for (_, colour), share in zip(kinds, shares, strict=True):
            width = WIDTH * share
            parts.append(
                f'<rect x="{x:.2f}" y="{y:.1f}" width="{width:.2f}" height="{tall}" '
                f'fill="{colour}"/>'
            )
            x += width
        if bar.estimated:
            start = WIDTH * (bar.certified + bar.falsified)
            parts += _hatched(start, WIDTH * bar.estimated, y, tall)
        values = [f"{_floor(share)} {kind}" for (kind, _), share in zip(kinds, shares, strict=True)]
        if bar.estimated is not None:
            values.append(f"about {words.percent(bar.estimated, 1.0, 2)} estimated unlike")
        said = ", ".join(values)
        y += tall + _SIZE + 3
        parts.append(_text(0, y, said, colour=_QUIET))
        y += 10
        told.append(f"{bar.name}: {said}")
    x = 0.0
    y += 4
    for kind, colour in kinds:
        parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="9" height="9" fill="{colour}"/>')
        parts.append(_text(x + 13, y + 8, kind))
        x += _extent(kind) + 28
    parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="9" height="9" fill="{_LINE}"/>')
    parts += _hatched(x, 9, y, 9)
    parts.append(_text(x + 13, y + 8, "estimated to be unlike, not certified"))
    return _drawing(y + 14, parts, f"Bars of what is proven. {'. '.join(told)}.")


class Rate(NamedTuple):
    """A group's rate.

    Attributes
    ----------
    name : str
        Which group.
    people : int
        How many are in it.
    rate, low, high : float
        Its rate and interval, 0 to 1.
    below : bool
        Whether it is compared with the highest rate, and below four fifths of it.
    """

    name: str
    people: int
    rate: float
    low: float
    high: float
    below: bool = False


def forest_chart(groups: Sequence[Rate], *, reference: float | None, x_title: str) -> Picture:
    """Draw rates with their intervals, a line each, beside the highest one and four fifths of it.

    Parameters
    ----------
    groups : sequence of Rate
        At least one, in the order to be drawn.
    reference : float, optional
        The rate that others are compared with; its line, and the band down to four fifths of it,
        are drawn. ``None`` where nothing is compared.
    x_title : str
        What the axis counts.
    """
    values = [f"{words.percent(each.rate, 1.0)} of {words.number(each.people)}" for each in groups]
    names = [textwrap.wrap(each.name, 34) or [""] for each in groups]
    left = 14 + max(_extent(line) for lines in names for line in lines)
    right = WIDTH - 14 - max(map(_extent, values))
    x_ticks = ticks(100 * max(*(each.high for each in groups), reference or 0.0), 5, 0.01)
    heights = [max(15.0, len(lines) * (_SIZE + 2) + 4) for lines in names]
    top, bottom = 22.0, 22.0 + sum(heights)
    frame = _Frame(left, right, top, bottom, x_ticks[-1], 1.0)
    parts: list[str] = []
    if reference:
        best, fifths = (frame.x(100 * float(share) * reference) for share in (1.0, FOUR_FIFTHS))
        parts.append(
            f'<rect x="{fifths:.1f}" y="{top:.1f}" width="{best - fifths:.1f}" '
            f'height="{bottom - top:.1f}" fill="{COLOURS[4]}" fill-opacity="0.25"/>'
        )
        parts.append(_stroke(f"M{best:.1f} {top - 4:.1f}V{bottom:.1f}", _QUIET, 0.8, "4 2"))
        parts.append(_stroke(f"M{fifths:.1f} {top - 4:.1f}V{bottom:.1f}", _QUIET, 0.8, "1 2"))
        parts.append(_text(best + 3, top - 8, "highest", colour=_QUIET))
        parts.append(_text(fifths - 3, top - 8, "four fifths", colour=_QUIET, anchor="end"))
    decimals = max(0, -math.floor(math.log10(x_ticks[1])))
    parts += _lying_axis(frame, [(t, f"{t:.{decimals}f}{words.NBSP}%") for t in x_ticks], x_title)
    y = top
    for each, lines, value, height in zip(groups, names, values, heights, strict=True):
        middle = y + height / 2
        for i, line in enumerate(lines):
            at = middle + 3 + (i - (len(lines) - 1) / 2) * (_SIZE + 2)
            parts.append(_text(left - 8, at, line, anchor="end"))
        low, high, x = (frame.x(100 * share) for share in (each.low, each.high, each.rate))
        colour = COLOURS[1] if each.below else COLOURS[0]
        parts.append(_stroke(f"M{low:.1f} {middle:.1f}H{high:.1f}", colour, 1.4))
        parts += [_stroke(f"M{end:.1f} {middle - 3:.1f}v6", colour, 1.0) for end in (low, high)]
        # told apart by more than the colour
        mark = _frame_mark if each.below else _dot
        parts.append(mark(x, middle, colour))
        parts.append(_text(right + 10, middle + 3, value))
        y += height
    said = "; ".join(
        f"{each.name}: {value}, {100 * each.low:.1f} to {100 * each.high:.1f} %"
        for each, value in zip(groups, values, strict=True)
    )
    return _drawing(bottom + 36, parts, f"Rates by group, {x_title}. {said}.")


class Apart(NamedTuple):
    """Two rates that differ.

    Attributes
    ----------
    name : str
        The group.
    inside, outside : float
        The rates in it and outside it, 0 to 1.
    value : str
        The difference, as it is to be written.
    """

    name: str
    inside: float
    outside: float
    value: str


def apart_chart(pairs: Sequence[Apart], *, x_title: str) -> Picture:
    """Draw for each group its rate, and that of everybody else, on one line.

    Parameters
    ----------
    pairs : sequence of Apart
        At least one, in the order to be drawn.
    x_title : str
        What the axis counts.
    """
    right = WIDTH - 14 - max(_extent(each.value) for each in pairs)
    x_ticks = ticks(100 * max(max(each.inside, each.outside) for each in pairs), 6, 0.01)
    names = [textwrap.wrap(each.name, int(right / (_SIZE * _CHARACTER))) or [""] for each in pairs]
    heights = [len(lines) * (_SIZE + 2) + 18.0 for lines in names]
    top = 20.0
    frame = _Frame(6.0, right, top, top + sum(heights), x_ticks[-1], 1.0)
    decimals = max(0, -math.floor(math.log10(x_ticks[1])))
    parts = [
        _dot(5, 6, COLOURS[0]),
        _text(13, 9, "in the group"),
        _frame_mark(85, 6, COLOURS[1]),
        _text(93, 9, "everybody else"),
        *_lying_axis(frame, [(t, f"{t:.{decimals}f}{words.NBSP}%") for t in x_ticks], x_title),
    ]
    y = top
    for each, lines, height in zip(pairs, names, heights, strict=True):
        for i, line in enumerate(lines):
            parts.append(_text(0, y + _SIZE + 1 + i * (_SIZE + 2), line))
        at = y + height - 9
        inside, outside = frame.x(100 * each.inside), frame.x(100 * each.outside)
        parts.append(_stroke(f"M{inside:.1f} {at:.1f}H{outside:.1f}", _QUIET, 1.0))
        parts.append(_frame_mark(outside, at, COLOURS[1]))
        parts.append(_dot(inside, at, COLOURS[0]))
        parts.append(_text(right + 10, at + 3, each.value))
        y += height
    said = "; ".join(
        f"{each.name}: {words.percent(each.inside, 1.0)} against {words.percent(each.outside, 1.0)}"
        for each in pairs
    )
    return _drawing(frame.bottom + 36, parts, f"{x_title} in groups and outside them. {said}.")


class FrontPoint(NamedTuple):
    """A trial of a repair: what it costs and what it brings, in percent or points.

    Attributes
    ----------
    name : str
        What it is called.
    kind : str
        ``"imported"`` (drawn as a square), ``"retrained"`` (a diamond), ``"portion"`` (a dot) or
        ``"other"`` (a triangle).
    x, y : tuple[float, float, float]
        Discrimination and accuracy: the low end of the interval, the estimate, the high end.
    front : bool
        Whether no other one is better in both: then it is filled.
    """

    name: str
    kind: str
    x: tuple[float, float, float]
    y: tuple[float, float, float]
    front: bool = False


def front_chart(
    points: Sequence[FrontPoint],
    *,
    x_title: str,
    y_title: str,
    floor: float | None = None,
    unit: str = "%",
) -> Picture:
    """Draw accuracy against discrimination, each with its interval; the front as a line.

    Parameters
    ----------
    points : sequence of FrontPoint
        At least one.
    x_title, y_title : str
        What the axes count.
    floor : float, optional
        The least accuracy that is allowed, drawn as a line.
    unit : str
        Of discrimination.
    """
    height, room = 230.0, 0.06
    ups = [*(end for each in points for end in each.y), *([floor] if floor is not None else [])]
    acrosses = [end for each in points for end in each.x]
    # what is near nought is seen against it
    least = 0.0 if min(acrosses) < 0.6 * max(acrosses) else min(acrosses)
    wide, high = (max(acrosses) - least) or 1.0, (max(ups) - min(ups)) or 1.0
    frame = _Frame(
        left=38.0,
        right=WIDTH - 12,
        top=22.0,
        bottom=height - 34.0,
        x_high=max(acrosses) + room * wide,
        y_high=max(ups) + room * high,
        x_low=max(0.0, least - room * wide),
        y_low=min(ups) - room * high,
    )
    x_ticks = _round_between(frame.x_low, frame.x_high)
    y_ticks = _round_between(frame.y_low, frame.y_high)
    parts = [
        _text(0, _SIZE, y_title, colour=_QUIET),
        *_lying_axis(
            frame, [(value, f"{text}{words.NBSP}{unit}") for value, text in x_ticks], x_title
        ),
    ]
    for value, text in y_ticks:
        y = frame.y(value)
        parts.append(_stroke(f"M{frame.left:.1f} {y:.1f}H{frame.right:.1f}", _LINE, 0.6))
        parts.append(_text(frame.left - 5, y + 3, f"{text}{words.NBSP}%", anchor="end"))
    marks = [_Box(frame.x(each.x[1]) - 9, frame.y(each.y[1]) - 6, 18, 12) for each in points]
    taken: list[_Box] = []
    if floor is not None:
        y = frame.y(floor)
        parts.append(_stroke(f"M{frame.left:.1f} {y:.1f}H{frame.right:.1f}", _QUIET, 0.8, "4 2"))
        told = "least accuracy allowed"
        parts.append(_text(frame.right, y - 3, told, colour=_QUIET, anchor="end", halo=True))
        taken.append(_Box(frame.right - _extent(told), y - 4 - _SIZE, _extent(told), _SIZE + 4))
    for each in points:
        x, y = frame.x(each.x[1]), frame.y(each.y[1])
        across = f"M{frame.x(each.x[0]):.1f} {y:.1f}H{frame.x(each.x[2]):.1f}"
        up = f"M{x:.1f} {frame.y(each.y[0]):.1f}V{frame.y(each.y[2]):.1f}"
        parts.append(_stroke(across + up, _FAINT, 0.9))
    line = sorted((each.x[1], each.y[1]) for each in points if each.front)
    if len(line) > 1:
        path = "L".join(f"{frame.x(x):.1f} {frame.y(y):.1f}" for x, y in line)
        parts.append(_stroke(f"M{path}", COLOURS[0], 1.2))
    parts += [_front_mark(frame.x(each.x[1]), frame.y(each.y[1]), each) for each in points]
    # those on the front are placed first, where there is most room
    for each, own in sorted(zip(points, marks, strict=True), key=lambda pair: not pair[0].front):
        x, y = frame.x(each.x[1]), frame.y(each.y[1])
        others = [mark for mark in marks if mark is not own]
        box = _beside(x, y, _extent(each.name), taken, others, frame)
        taken.append(box)
        weight = "bold" if each.front else "normal"
        if box.y > y + 4 or box.y + box.tall < y - 4:
            end = min(max(x, box.x), box.x + box.wide)
            edge = box.y + 2 if box.y > y else box.y + box.tall
            parts.append(_stroke(f"M{x:.1f} {y:.1f}L{end:.1f} {edge:.1f}", _QUIET, 0.6, "1 2"))
        parts.append(_text(box.x + 1, box.y + _SIZE, each.name, weight=weight, halo=True))
    said = "; ".join(
        f"{each.name}: {_with_ends(each.x)} {unit}, accuracy {_with_ends(each.y)} %"
        + (", on the front" if each.front else "")
        for each in points
    )
    return _drawing(height, parts, f"{y_title} against {x_title}, with 95 % intervals. {said}.")


class HeatCell(NamedTuple):
    """A cell of a heat map: its rate, ``None`` where nobody is, and how many people."""

    rate: float | None
    people: int


def heat_map(
    rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[HeatCell]], *, title: str
) -> Picture:
    """Draw the rates of all combinations of two attributes' values, with how many people each.

    Parameters
    ----------
    rows, columns : sequence of str
        The values of both attributes; at least one each.
    cells : sequence of sequence of HeatCell
        One row of cells for each of ``rows``.
    title : str
        What the rates are of.
    """
    left = min(150.0, 10 + max(map(_extent, rows)))
    wide = (WIDTH - left) / len(columns)
    fits = max(3, int(wide / (_SIZE * _CHARACTER)) - 1)
    heads = [textwrap.wrap(name, fits) or [""] for name in columns]
    top, tall = 8 + (_SIZE + 2) * max(map(len, heads)), 28.0
    highest = max((cell.rate or 0.0 for line in cells for cell in line), default=0.0) or 1.0
    parts: list[str] = []
    told: list[str] = []
    for j, lines in enumerate(heads):
        for i, text in enumerate(lines):
            y = top - 6 - (len(lines) - 1 - i) * (_SIZE + 2)
            parts.append(_text(left + (j + 0.5) * wide, y, text, anchor="middle", weight="bold"))
    for i, (name, line) in enumerate(zip(rows, cells, strict=True)):
        y = top + i * tall
        held = textwrap.shorten(name, int((left - 8) / (_SIZE * _CHARACTER)), placeholder="…")
        parts.append(_text(left - 8, y + tall / 2 + 3, held, anchor="end", weight="bold"))
        for j, cell in enumerate(line):
            x = left + j * wide
            share = 0.0 if cell.rate is None else cell.rate / highest
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{tall}" '
                f'fill="{COLOURS[0]}" fill-opacity="{0.75 * share:.2f}" stroke="white" '
                'stroke-width="1.5"/>'
            )
            rate = "nobody" if cell.rate is None else words.percent(cell.rate, 1.0)
            colour = "#ffffff" if share > 0.7 else _INK
            parts.append(
                _text(x + wide / 2, y + 12, rate, anchor="middle", colour=colour, weight="bold")
            )
            if cell.rate is not None:
                number = f"n = {words.number(cell.people)}"
                parts.append(_text(x + wide / 2, y + 23, number, anchor="middle", colour=colour))
            told.append(f"{name}, {columns[j]}: {rate} of {words.number(cell.people)}")
    return _drawing(top + tall * len(rows) + 4, parts, f"{title}. {'; '.join(told)}.")


def _floor(share: float) -> str:
    """Write a share, in hundredths of a percent; never more than it is."""
    return f"{math.floor(share * 10_000 + 1e-9) / 100:.2f}{words.NBSP}%"


def _hatched(x: float, width: float, y: float, tall: float) -> list[str]:
    """Hatch a part of a bar with lines that lean to the right."""
    lines = []
    at = x - tall + 2.0
    while at < x + width:
        begin, end = max(at, x), min(at + tall, x + width)
        if end > begin:
            bottom, top = y + tall - (begin - at), y + tall - (end - at)
            lines.append(_stroke(f"M{begin:.2f} {bottom:.2f}L{end:.2f} {top:.2f}", COLOURS[1], 1.0))
        at += 4.0
    return lines


class _Frame(NamedTuple):
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
        share = (value - self.x_low) / (self.x_high - self.x_low)
        return self.left + (self.right - self.left) * share

    def y(self, value: float) -> float:
        share = (value - self.y_low) / (self.y_high - self.y_low)
        return self.bottom - (self.bottom - self.top) * share


def _axes(
    frame: _Frame,
    x_ticks: Sequence[float],
    y_ticks: Sequence[tuple[float, str]],
    x_title: str,
    y_title: str,
) -> list[str]:
    """Draw the axes; values of the upright one with their texts."""
    parts = [_text(0, _SIZE, y_title, colour=_QUIET)]
    for value, text in y_ticks:
        y = frame.y(value)
        parts.append(_stroke(f"M{frame.left:.1f} {y:.1f}H{frame.right:.1f}", _LINE, 0.6))
        parts.append(_text(frame.left - 5, y + 3, text, anchor="end"))
    for value in x_ticks:
        x = frame.x(value)
        parts.append(_stroke(f"M{x:.1f} {frame.bottom:.1f}v4", _QUIET, 0.6))
        parts.append(_text(x, frame.bottom + 14, words.number(value), anchor="middle"))
    parts.append(_stroke(f"M{frame.left:.1f} {frame.bottom:.1f}H{frame.right:.1f}", _QUIET, 0.8))
    middle = (frame.left + frame.right) / 2
    parts.append(_text(middle, frame.bottom + 28, x_title, colour=_QUIET, anchor="middle"))
    return parts


def _dot(x: float, y: float, colour: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{colour}"/>'


def _frame_mark(x: float, y: float, colour: str) -> str:
    return (
        f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" fill="white" '
        f'stroke="{colour}" stroke-width="1.4"/>'
    )


class _Box(NamedTuple):
    """Where something stands."""

    x: float
    y: float
    wide: float
    tall: float

    def shared(self, other: _Box) -> float:
        """Give the area that two boxes share."""
        across = min(self.x + self.wide, other.x + other.wide) - max(self.x, other.x)
        down = min(self.y + self.tall, other.y + other.tall) - max(self.y, other.y)
        return max(0.0, across) * max(0.0, down)

    def reaches(self, other: _Box) -> bool:
        """Tell whether the middle of another box is as near as a label's own mark."""
        x, y = other.x + other.wide / 2, other.y + other.tall / 2
        across = max(self.x - x, x - self.x - self.wide, 0.0)
        down = max(self.y - y, y - self.y - self.tall, 0.0)
        return math.hypot(across, down) < 8.0


def _beside(
    x: float,
    y: float,
    wide: float,
    taken: Sequence[_Box],
    others: Sequence[_Box],
    frame: _Frame,
) -> _Box:
    """Place a label around a mark, where it covers the least, is not far, and names no other."""
    tall, gap = _SIZE + 3.0, 5.0
    room = _Box(frame.left, frame.top, WIDTH - frame.left, frame.bottom - frame.top)

    def cost(place: _Box) -> float:
        covered = sum(place.shared(each) for each in (*taken, *others))
        away = max(y - place.y - tall, place.y - y)
        mistaken = sum(place.reaches(each) for each in others)
        return 4 * (wide * tall - place.shared(room)) + covered + away + 2 * tall * mistaken

    # beside the mark runs its own interval: the corners come first
    places = [
        _Box(x + across, y + down, wide, tall)
        for step in range(6)
        for down in (-(step + 1) * tall - 2, step * tall + 2)
        for across in (gap, -gap - wide)
    ]
    return min(places, key=cost)


def _front_mark(x: float, y: float, point: FrontPoint) -> str:
    """Draw a mark of its kind; full on the front, else an outline."""
    colour = {"portion": COLOURS[0], "other": COLOURS[3]}.get(point.kind, _INK)
    look = f'fill="{colour if point.front else "white"}" stroke="{colour}" stroke-width="1.4"'
    match point.kind:
        case "imported":
            return f'<rect x="{x - 3.4:.1f}" y="{y - 3.4:.1f}" width="6.8" height="6.8" {look}/>'
        case "retrained":
            corners = [(0.0, -4.6), (4.6, 0.0), (0.0, 4.6), (-4.6, 0.0)]
        case "other":
            corners = [(0.0, -4.4), (4.2, 3.2), (-4.2, 3.2)]
        case _:
            return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.4" {look}/>'
    path = "L".join(f"{x + across:.1f} {y + down:.1f}" for across, down in corners)
    return f'<path d="M{path}Z" {look}/>'


def _round_between(low: float, high: float, most: int = 6) -> list[tuple[float, str]]:
    """Choose round axis values between two ends, with their texts."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    places = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [(step * place, f"{step * place:.{digits}f}") for place in places]


def _with_ends(span: tuple[float, float, float]) -> str:
    """Write a percentage with its interval."""
    low, at, high = span
    digits = min(words.digits_of(low / 100, high / 100), 2)
    return f"{at:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def _lying_axis(frame: _Frame, x_ticks: Sequence[tuple[float, str]], x_title: str) -> list[str]:
    """Draw an axis that lies below, its values with their texts and upright lines."""
    parts = []
    for value, text in x_ticks:
        x = frame.x(value)
        parts.append(_stroke(f"M{x:.1f} {frame.top:.1f}V{frame.bottom:.1f}", _LINE, 0.6))
        parts.append(_text(x, frame.bottom + 13, text, anchor="middle"))
    parts.append(_stroke(f"M{frame.left:.1f} {frame.bottom:.1f}H{frame.right:.1f}", _QUIET, 0.8))
    middle = (frame.left + frame.right) / 2
    parts.append(_text(middle, frame.bottom + 27, x_title, colour=_QUIET, anchor="middle"))
    return parts


def _thinned(line: Series) -> list[tuple[float, float]]:
    """Give the origin, at most `_MOST_POINTS` evenly picked points, and the last one."""
    stride = max(1, math.ceil(len(line.x) / _MOST_POINTS))
    picked = [*range(0, len(line.x), stride), len(line.x) - 1] if len(line.x) else []
    return [(0.0, 0.0), *((float(line.x[i]), float(line.y[i])) for i in picked)]


def _apart(wanted: Sequence[float], sizes: Sequence[float], end: float) -> list[float]:
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


def _extent(text: str) -> float:
    """Estimate a text's width."""
    return len(text) * _SIZE * _CHARACTER + 2


def _text(
    x: float,
    y: float,
    text: str,
    *,
    colour: str = _INK,
    anchor: str = "start",
    weight: str = "normal",
    halo: bool = False,
) -> str:
    # what lies under a halo does not strike the text through
    around = ' stroke="white" stroke-width="2.4" paint-order="stroke"' if halo else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}" '
        f'font-weight="{weight}"{around}>{escape(text)}</text>'
    )


def _stroke(path: str, colour: str, width: float, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}" '
        f'stroke-linejoin="round"{dashed}/>'
    )


def _drawing(height: float, parts: Sequence[str], alt: str) -> Picture:
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH:.0f}pt" height="{height:.1f}pt" '
        f'viewBox="0 0 {WIDTH:.0f} {height:.1f}" font-family="{_FONT}" font-size="{_SIZE}" '
        f'role="img"><title>{escape(alt)}</title>{"".join(parts)}</svg>'
    )
    return Picture(svg, alt)
