"""Small multiples: each chart in its own cell, all on one scale."""

import pytest

from fairdesk.charts.kinds.bars import Counts
from fairdesk.charts.kinds.shares import Multiples, Panel, ShareBar, ShareBars, on_one_scale
from fairdesk.charts.shapes import Box, Path, Words
from tests.charts.reading import PAPER, shapes, texts


def share(value):
    return ShareBars((ShareBar("people", f"{value}", True, value, value, value, value, value),))


def test_each_chart_lies_in_its_own_cell():
    panels = [
        Panel(f"model {i}", "0.5", Counts("", "pairs", [("sex", i + 1)], 5)) for i in range(5)
    ]
    shown = Multiples(panels).lay_out(PAPER)
    heads = [each for each in shapes(shown, Words) if each.text.startswith("model")]
    assert [each.text for each in heads] == [f"model {i}" for i in range(5)]
    assert len({(each.x, each.y) for each in heads}) == 5
    assert len({each.x for each in heads}) == 2
    bars = shapes(shown, Box, edge="line")
    assert len(bars) == 5
    for head, bar in zip(heads, bars, strict=True):
        assert bar.x == pytest.approx(head.x, abs=1)
        assert bar.y > head.y
        assert bar.x + bar.wide <= PAPER.width
    for each in shapes(shown, Box) + shapes(shown, Words):
        assert 0 <= each.y <= shown.height
    for path in shapes(shown, Path):
        assert all(
            0 <= x <= PAPER.width + 1 and y <= shown.height for line in path.lines for x, y in line
        )
    assert {"model 4", "0.5"} <= set(texts(shown))


def test_bars_of_shares_have_one_scale():
    small, large = on_one_scale([share(0.1), share(0.4)])
    widths = [
        max(each.wide for each in shapes(chart.lay_out(PAPER), Box, fill="discriminatory"))
        for chart in (small, large)
    ]
    assert widths[1] == pytest.approx(4 * widths[0])


def test_it_tells_every_chart_in_words():
    panels = [Panel(name, "", share(0.1)) for name in ("first", "second")]
    assert "first: " in Multiples(panels).alt()
    assert "second: " in Multiples(panels).alt()
