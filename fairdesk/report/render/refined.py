"""How a proof divided the domain, as an icicle: boxes below the box that they are part of."""

from __future__ import annotations

from collections.abc import Sequence

from fairdesk.charts.svg import text
from fairdesk.charts.type import SIZE
from fairdesk.report.render.drawing import (
    COLOURS,
    LINE,
    QUIET,
    WIDTH,
    Picture,
    box,
    drawing,
)
from fairdesk.results.proofs import Part
from fairdesk.wording import words
from fairdesk.wording.language import say

#: The height of a row, and how many are drawn at most.
_TALL, _ROWS = 15.0, 14
#: Narrower boxes than this cannot be seen.
_NARROWEST = 0.4


def icicle(parts: Sequence[Part]) -> Picture:
    """Draw boxes in rows: each as wide as its share, right below the box that it is part of.

    In each the share of it that is proven alike stands left, then what is proven unlike; the rest
    is grey.

    Parameters
    ----------
    parts : sequence of Part
        At least one, each after its parent, the first being the whole domain.
    """
    starts, rows = [0.0], [0]
    ends = [0.0] * len(parts)
    drawn: list[str] = []
    for place, part in enumerate(parts):
        if place:
            start, row = ends[part.parent], rows[part.parent] + 1
            ends[part.parent] += part.share
            starts.append(start)
            rows.append(row)
        ends[place] = starts[place]
        wide = WIDTH * part.share
        if rows[place] < _ROWS and wide >= _NARROWEST:
            drawn += _box(part, WIDTH * starts[place], rows[place] * (_TALL + 1.5))
    deepest = min(max(rows), _ROWS - 1) + 1
    y = deepest * (_TALL + 1.5) + SIZE + 3
    key = say("left in each box: proven alike; then: proven unlike; grey: undecided")
    whole = parts[0]
    alt = say(
        "How the domain was divided: {boxes} boxes in {rows} rows, each as wide as its share. Of "
        "the whole {alike} are proven alike and {unlike} unlike.",
        boxes=words.number(len(parts)),
        rows=words.number(max(rows) + 1),
        alike=words.percent(whole.certified, whole.share),
        unlike=words.percent(whole.falsified, whole.share),
    )
    return drawing(y + 6, [*drawn, text(0, y, key, colour=QUIET)], alt)


def _box(part: Part, x: float, y: float) -> list[str]:
    """Draw a box: what is proven in it, and what is left."""
    alike, unlike = WIDTH * part.certified, WIDTH * part.falsified
    gap = min(0.6, WIDTH * part.share / 8)
    left = max(0.0, WIDTH * part.share - alike - unlike - gap)
    pieces = ((alike, COLOURS[0]), (unlike, COLOURS[1]), (left, LINE))
    drawn = []
    for wide, colour in pieces:
        if wide > 0:
            drawn.append(box(x, y, wide, _TALL, colour))
        x += wide
    return drawn
