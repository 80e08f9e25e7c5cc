"""Charts as SVG: vector, always light, Okabe-Ito colours, direct labels, and the same in words.

What is told apart by colour is told apart by a mark, a pattern or a word as well, so that a chart
can be read in grey. What is observed is an outline, what is estimated is hatched, what is proven is
solid, and what is an example is dotted. Titles of axes, and names of series and of proofs, may be
fixed English texts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdesk.charts import bars
from fairdesk.charts.lines import Drawing, Line
from fairdesk.charts.scales import Frame, percent_ticks, ticks
from fairdesk.charts.shapes import Marked
from fairdesk.charts.svg import text
from fairdesk.charts.type import LEAD, SIZE, extent, wrapped
from fairdesk.report.render.drawing import (
    COLOURS,
    DASHES,
    LINE,
    PAPER,
    QUIET,
    WIDTH,
    Picture,
    apart,
    axes,
    box,
    dotted,
    drawing,
    laid_out,
    lying_axis,
    mark,
    stroke,
)
from fairdesk.wording import words
from fairdesk.wording.language import say

#: More points than a line on paper can show.
_MOST_POINTS = 300
#: What is under dots.
_PALE = "#dcebf5"


def line_chart(shown: Drawing) -> Picture:
    """Draw values against counts, one line per series, each named at its end.

    Parameters
    ----------
    shown : Drawing
        At least one line; points in order of x. Each line starts at the origin. With a unit y are
        percentages, else counts of x.
    """
    series, shares = shown.lines, bool(shown.y_unit)
    x_title, y_title = say(shown.x_title), say(shown.y_title)
    names = [say(line.name) for line in series]
    ends = [
        (float(line.x[-1]), float(line.y[-1])) if len(line.x) else (0.0, 0.0) for line in series
    ]
    x_ticks = ticks(max(x for x, _ in ends))
    y_ticks = ticks(max(float(max(line.y, default=0)) for line in series), 5)
    y_axis = percent_ticks(y_ticks) if shares else [(y, words.number(y)) for y in y_ticks]
    values = [
        words.percent_of(f"{y:.2f}")
        if shares
        else say("{part} of {whole}", part=words.number(y), whole=words.number(x))
        for x, y in ends
    ]
    labels = [[*wrapped(name, 96.0, 6), value] for name, value in zip(names, values, strict=True)]
    right = 12 + max(extent(each, bold=True) for lines in labels for each in lines)
    sizes = [len(lines) * LEAD + 3 for lines in labels]
    height = max(210.0, sum(sizes) + 44.0)
    frame = Frame(
        left=max(extent(told) for _, told in y_axis) + 8,
        right=WIDTH - right,
        top=22.0,
        bottom=height - 34.0,
        x_high=x_ticks[-1],
        y_high=y_ticks[-1],
    )
    x_axis = [(value, words.number(value)) for value in x_ticks]
    parts = axes(frame, x_axis, y_axis, x_title, y_title)
    heights = apart(
        [frame.y(y) for _, y in ends],
        sizes,
        # the greatest number of the axis stands right below
        frame.bottom + SIZE,
    )
    for i, line in enumerate(series):
        colour, dash = COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)]
        points = _thinned(line)
        path = "M" + "L".join(f"{frame.x(x):.1f} {frame.y(y):.1f}" for x, y in points)
        parts.append(stroke(path, colour, 1.6, dash))
        x, y = points[-1]
        parts.append(
            f'<circle cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="2.6" fill="{colour}"/>'
        )
        if frame.right - frame.x(x) > 12:
            leader = (
                f"M{frame.x(x) + 5:.1f} {frame.y(y):.1f}L{frame.right + 6:.1f} {heights[i]:.1f}"
            )
            parts.append(stroke(leader, colour, 0.5, "1 2"))
        for j, told in enumerate(labels[i]):
            weight = "bold" if j < len(labels[i]) - 1 else "normal"
            parts.append(text(frame.right + 10, heights[i] + 3 + j * LEAD, told, weight=weight))
    said = "; ".join(
        say(
            "{name}: {value} after {x}",
            name=name,
            value=value if shares else words.number(y),
            x=words.number(x),
        )
        for name, value, (x, y) in zip(names, values, ends, strict=True)
    )
    alt = say("Line chart of {y} against {x}. {said}.", y=y_title, x=x_title, said=said)
    return drawing(height, parts, alt)


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
    x_title, y_title = say(x_title), say(y_title)
    height = 190.0
    people, estimate, low, high = _thinned_rows(np.array(course, dtype=float)).T
    # where the band is still wide it may leave the chart: what matters is where it ends
    y_ticks = ticks(min(100.0, 100 * max(1.6 * high[-1], 1.1 * estimate.max())), 5, 0.001)
    y_axis = percent_ticks(y_ticks)
    decimals = max(0, -math.floor(math.log10(y_ticks[1]) + 1e-9)) + 1
    x_ticks = ticks(float(people[-1]))
    texts = [words.percent_of(f"{100 * each[-1]:.{decimals}f}") for each in (high, estimate, low)]
    frame = Frame(
        left=max(extent(told) for _, told in y_axis) + 8,
        right=WIDTH - 14 - max(extent(told, bold=True) for told in texts),
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
    x_axis = [(value, words.number(value)) for value in x_ticks]
    parts = [
        f'<path d="{band}" fill="{COLOURS[4]}" fill-opacity="0.35"/>',
        *axes(frame, x_axis, y_axis, x_title, y_title),
        *(stroke(f"M{'L'.join(along(each))}", COLOURS[0], 0.6) for each in (high, low)),
        stroke(f"M{'L'.join(along(estimate))}", COLOURS[0], 1.6),
        mark(x[-1], frame.y(min(100 * estimate[-1], y_ticks[-1])), COLOURS[0], "estimated"),
    ]
    wanted = [frame.y(min(100 * each[-1], y_ticks[-1])) for each in (high, estimate, low)]
    for told, y, weight in zip(
        texts,
        apart(wanted, [LEAD] * 3, height - SIZE),
        ("normal", "bold", "normal"),
        strict=True,
    ):
        parts.append(text(x[-1] + 8, y + 3, told, weight=weight))
    alt = say(
        "Line chart of {y} against {x}: {estimate}, between {low} and {high}, after {n}.",
        y=y_title,
        x=x_title,
        estimate=texts[1],
        low=texts[2],
        high=texts[0],
        n=words.number(people[-1]),
    )
    return drawing(height, parts, alt)


def bar_chart(counts: Sequence[tuple[str, float]], *, whole: float, unit: str) -> Picture:
    """Draw counts of examples as bars, each with its name, its count and its share of a whole.

    Dotted, as examples are marked.

    Parameters
    ----------
    counts : sequence of (name, count)
        At least one, in the order to be drawn.
    whole : float
        The count of a full-width bar; positive.
    unit : str
        What is counted, for the text: ``"findings"``.
    """
    values = [f"{words.number(n)} ({words.percent(n, whole)})" for _, n in counts]
    room = WIDTH - 8 - max(extent(value) for value in values)
    parts, y = [], 0.0
    for i, (name, count) in enumerate(counts):
        for line in wrapped(name, WIDTH):
            y += SIZE + 3
            parts.append(text(0, y, line))
        y += 4
        length = max(room * count / whole, 0.75)
        parts.append(box(0, y, room, 11, "none", LINE))
        if count:
            parts.append(box(0, y, length, 11, _PALE, COLOURS[0]))
            parts += dotted(0, y, length, 11, COLOURS[0])
        parts.append(text(room + 8, y + 9, values[i]))
        y += 15
    said = "; ".join(f"{name}: {value}" for (name, _), value in zip(counts, values, strict=True))
    return drawing(y + 4, parts, say("Bar chart of {unit}. {said}.", unit=say(unit), said=said))


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


def proof_chart(proven: Sequence[ProofBar]) -> Picture:
    """Draw what is proven as bars: solid what is proven, hatched what is estimated, grey the rest.

    Parameters
    ----------
    proven : sequence of ProofBar
        At least one, in the order to be drawn.
    """
    drawn, told = [], []
    for bar in proven:
        name, parts = say(bar.name) if bar.name else "", _proven_parts(bar)
        said = ", ".join(part.label for part in parts)
        if bar.estimated is not None:
            about = words.percent(bar.estimated, 1.0, 2)
            said = say("{said}, about {share} estimated unlike", said=said, share=about)
        told.append(f"{name}: {said}" if name else said)
        drawn.append(bars.Bar(name, [part for part in parts if part.share]))
    alt = say("Bars of what is proven. {said}.", said=". ".join(told))
    return laid_out(bars.lay_out(drawn, PAPER, Marked()), alt)


def _proven_parts(bar: ProofBar) -> list[bars.Part]:
    """Return what is certified, falsified and undecided of some people, with their labels."""
    left = max(0.0, 1.0 - bar.certified - bar.falsified)
    # what is proven is rounded down, so the rest up: together they are everybody
    rest = 10_000 - _hundredths(bar.certified) - _hundredths(bar.falsified)
    undecided = words.percent_of(f"{max(0, rest) / 100:.2f}")
    guess = None
    if bar.estimated and left:
        about = words.percent(bar.estimated, 1.0, 2)
        label = say("about {share} estimated unlike, not certified", share=about)
        guess = bars.Guess(min(bar.estimated / left, 1.0), label)
    return [
        bars.Part(
            *(bar.certified, "alike", "="), say("{share} certified", share=_floor(bar.certified))
        ),
        bars.Part(
            *(bar.falsified, "unlike", "≠"), say("{share} falsified", share=_floor(bar.falsified))
        ),
        bars.Part(
            *(left, "undecided", "?"), say("{share} undecided", share=undecided), guess=guess
        ),
    ]


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
    x_title = say(x_title)
    right = WIDTH - 14 - max(extent(each.value) for each in pairs)
    x_ticks = percent_ticks(
        ticks(100 * max(max(each.inside, each.outside) for each in pairs), 6, 0.01)
    )
    names = [wrapped(each.name, right) for each in pairs]
    heights = [len(lines) * LEAD + 18.0 for lines in names]
    top = 20.0
    frame = Frame(12.0, right, top, top + sum(heights), x_ticks[-1][0], 1.0)
    inside, outside = say("in the group"), say("everybody else")
    second = 13 + extent(inside) + 18
    parts = [
        mark(5, 6, COLOURS[0], "estimated"),
        text(13, 9, inside),
        mark(second, 6, COLOURS[1], "estimated", square=True),
        text(second + 8, 9, outside),
        *lying_axis(frame, x_ticks, x_title),
    ]
    y = top
    for each, lines, height in zip(pairs, names, heights, strict=True):
        for i, line in enumerate(lines):
            parts.append(text(0, y + SIZE + 1 + i * LEAD, line, halo=True))
        at = y + height - 9
        own, others = frame.x(100 * each.inside), frame.x(100 * each.outside)
        parts.append(stroke(f"M{own:.1f} {at:.1f}H{others:.1f}", QUIET, 1.0))
        parts.append(mark(others, at, COLOURS[1], "estimated", square=True))
        parts.append(mark(own, at, COLOURS[0], "estimated"))
        parts.append(text(right + 10, at + 3, each.value))
        y += height
    said = "; ".join(
        say(
            "{name}: {inside} against {outside}",
            name=each.name,
            inside=words.percent(each.inside, 1.0),
            outside=words.percent(each.outside, 1.0),
        )
        for each in pairs
    )
    widest = max(pairs, key=lambda each: abs(each.inside - each.outside))
    alt = say(
        "Rates in groups and outside them, {what}. The widest difference is that of {name}, "
        "{value}. {said}.",
        what=x_title,
        name=widest.name,
        value=widest.value,
        said=said,
    )
    return drawing(frame.bottom + 36, parts, alt)


class Calibrated(NamedTuple):
    """How scores of a group keep what they promise.

    Attributes
    ----------
    name : str
        Which group.
    bins : sequence of (mean score, share, people)
        People with scores alike: their mean score, the share of them that has the favourable
        label, both 0 to 1, and how many they are; in order of the score.
    """

    name: str
    bins: Sequence[tuple[float, float, int]]


def calibration_chart(groups: Sequence[Calibrated], *, x_title: str, y_title: str) -> Picture:
    """Draw for each group the share that has the label against the score, and where both agree.

    Parameters
    ----------
    groups : sequence of Calibrated
        At least one, each with at least one bin.
    x_title, y_title : str
        What the axes count.
    """
    x_title, y_title = say(x_title), say(y_title)
    height = 230.0
    labels = [wrapped(each.name, 96.0, 3) for each in groups]
    right = 14 + max(extent(line, bold=True) for lines in labels for line in lines)
    axis = percent_ticks([0.0, 20.0, 40.0, 60.0, 80.0, 100.0])
    frame = Frame(40.0, WIDTH - right, 22.0, height - 34.0, 100.0, 100.0)
    parts = axes(frame, axis, axis, x_title, y_title)
    even = f"M{frame.left:.1f} {frame.bottom:.1f}L{frame.right:.1f} {frame.top:.1f}"
    parts.append(stroke(even, QUIET, 0.8, "4 2"))
    agrees = say("score and share agree")
    parts.append(text(frame.left + 6, frame.top + SIZE, f"- - {agrees}", colour=QUIET, halo=True))
    said = []
    wanted = [frame.y(100 * each.bins[-1][1]) for each in groups]
    sizes = [len(lines) * LEAD + 3 for lines in labels]
    heights = apart(wanted, sizes, frame.bottom + SIZE)
    for i, each in enumerate(groups):
        colour, dash = COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)]
        points = [(frame.x(100 * x), frame.y(100 * y)) for x, y, _ in each.bins]
        parts.append(
            stroke("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points), colour, 1.4, dash)
        )
        parts += [mark(x, y, colour, "observed", square=i % 2 == 1) for x, y in points]
        leader = (
            f"M{points[-1][0] + 5:.1f} {points[-1][1]:.1f}L{frame.right + 8:.1f} {heights[i]:.1f}"
        )
        parts.append(stroke(leader, colour, 0.5, "1 2"))
        for j, line in enumerate(labels[i]):
            parts.append(text(frame.right + 12, heights[i] + 3 + j * LEAD, line, weight="bold"))
        score, share, people = max(each.bins, key=lambda one: abs(one[0] - one[1]))
        said.append(
            say(
                "{name}: farthest apart {share} at a score of {score}, of {n}",
                name=each.name,
                share=words.percent(share, 1.0),
                score=words.percent(score, 1.0),
                n=words.number(people),
            )
        )
    alt = say("{y} against {x}, by group. {said}.", y=y_title, x=x_title, said="; ".join(said))
    return drawing(height, parts, alt)


def _floor(share: float) -> str:
    """Write a share, in hundredths of a percent; never more than it is."""
    return words.percent_of(f"{_hundredths(share) / 100:.2f}")


def _hundredths(share: float) -> int:
    """Return the whole hundredths of a percent in a share."""
    return math.floor(share * 10_000 + 1e-9)


def _thinned(line: Line) -> list[tuple[float, float]]:
    """Return the origin, at most `_MOST_POINTS` evenly picked points, and the last one."""
    stride = max(1, math.ceil(len(line.x) / _MOST_POINTS))
    picked = [*range(0, len(line.x), stride), len(line.x) - 1] if len(line.x) else []
    return [(0.0, 0.0), *((float(line.x[i]), float(line.y[i])) for i in picked)]


def _thinned_rows(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return at most `_MOST_POINTS` evenly picked rows, and the last one."""
    stride = max(1, math.ceil(len(rows) / _MOST_POINTS))
    return rows if stride == 1 else np.concatenate([rows[:-1:stride], rows[-1:]])
