"""Counts, gaps, shares and weights: as long as their values, named, inside of the drawing."""

import pytest

from fairdesk.charts.kinds.bars import Counts, Weight, Weights
from fairdesk.charts.kinds.gaps import Gap, Gaps
from fairdesk.charts.kinds.shares import ShareBar, ShareBars
from fairdesk.charts.shapes import Box, Disc, Path, Words
from tests import phrases
from tests.charts.reading import PAPER, laid, paper, shapes, texts

LONG = "x" * 200


def test_counts_have_lengths_in_proportion_and_keep_long_names():
    counts = Counts("", "findings", [(LONG, 10), ("sex", 5), ("age", 0)], 20)
    shown = counts.lay_out(PAPER)
    wide = [each.wide for each in shapes(shown, Box, edge="discriminatory")]
    # of nothing there is no bar
    assert len(wide) == 2
    assert wide[0] == pytest.approx(2 * wide[1])
    assert wide[0] == pytest.approx(PAPER.width / 2, abs=1)
    assert "".join(text for text in texts(shown) if set(text) == {"x"}) == LONG
    assert "10 (50.0 %)" in texts(shown)
    assert "sex: 5 (25.0" in counts.alt()


def test_a_group_and_everybody_else_stand_on_one_line():
    gaps = Gaps([Gap(LONG, 0.207, 0.831, "−62.4 points"), Gap("b", 0, 0, "+0.0 points")], "share")
    shown = gaps.lay_out(PAPER)
    assert {phrases.IN_THE_SUBGROUP, "all others", "−62.4 points", "share"} <= set(texts(shown))
    _key, own, _nobody = shapes(shown, Disc, edge="discriminatory")
    (join,) = [each.lines[0] for each in shapes(shown, Path, colour="quiet", thick=1.0)][:1]
    assert join[0] == pytest.approx((own.x, own.y))
    assert all(0 <= each.x <= PAPER.width for each in shapes(shown, Disc))
    assert "20.7" in gaps.alt()


def bar(exact, estimate, *ends):
    return ShareBar("In the town", "3 %", exact, estimate, *ends)


def test_exact_shares_are_solid_and_estimates_hatched_with_both_intervals():
    bars = ShareBars((bar(False, 0.04, 0.03, 0.05, 0.02, 0.07), bar(True, 0.02, *[0.02] * 4)))
    shown = laid(bars, 700.0)
    (solid,) = shapes(shown, Box, fill="discriminatory")
    (outline,) = shapes(shown, Box, edge="discriminatory")
    assert outline.wide == pytest.approx(2 * solid.wide, abs=2)
    (once,) = shapes(shown, Path, colour="ink", thick=3.0)
    (anytime,) = shapes(shown, Path, colour="ink", thick=1.2)
    (low, _), (high, _) = once.lines[0]
    assert (high - low) == pytest.approx(0.5 * outline.wide, abs=2)
    assert anytime.lines[0][0][0] < low < high < anytime.lines[0][1][0] <= 700
    assert "0 %" in texts(shown)
    assert bars.summary() == "In the town: 3 %, estimated; In the town: 3 %, exact"


@pytest.mark.parametrize("value", [0.0, 1e-9, 1.0])
def test_the_scale_of_shares_fits_any_of_them(value):
    shown = laid(ShareBars((bar(True, *[value] * 5),)))
    assert all(0 <= each.x <= 700 for each in shapes(shown, Words))


def test_weights_lie_on_their_side_with_their_sign():
    weights = Weights(
        [Weight("age", (0.4, -0.2)), Weight("sex", (0.0001, 0.0))], "w", ("a", "b"), 3, toned=True
    )
    shown = laid(weights)
    (axis,) = shapes(shown, Path, colour="quiet")
    middle = axis.lines[0][0][0]
    (right, *_), (left,) = (
        shapes(shown, Box, fill="consistent"),
        shapes(shown, Box, edge="discriminatory"),
    )
    assert right.x == pytest.approx(middle)
    assert left.x + left.wide == pytest.approx(middle, abs=1)
    assert right.wide == pytest.approx(2 * left.wide, abs=3)
    assert {"+0.400", "−0.200", "0.000"} <= set(texts(shown))
    on = paper()
    for each in shapes(shown, Words, anchor="start"):
        assert each.x + on.extent(each.text, each.size) <= on.width + 1
    assert weights.summary().startswith("age: a +0.400, b −0.200; sex")
    assert Weights([], "w").empty
