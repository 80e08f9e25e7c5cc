"""Bars of shares: as long as these are, what is estimated inside, labels never cut."""

import pytest

from fairdesk.charts.kinds.bars import Bar, Guess, Part, lay_out
from fairdesk.charts.shapes import Box, Marked, Path, Words
from tests.charts.reading import paper, shapes, texts

GUESS = Guess(0.4, "of these 40 %", (0.3, 0.5))
BARS = [
    Bar(
        "All possible applicants",
        [
            Part(0.5, "consistent", "=", "at least 50 % alike", "half"),
            Part(0.25, "discriminatory", "≠", "at least 25 % unlike", "a quarter"),
            Part(
                0.25,
                "undecided",
                "?",
                "25 % undecided",
                "",
                Guess(0.4, "of these 40 %", (0.3, 0.5)),
            ),
        ],
    ),
    Bar("", [Part(1e-9, "discriminatory", "≠", "", "hardly any"), Part(1.0, "undecided", "?", "")]),
]


def laid(width=800.0, marked=None):
    return lay_out(BARS, paper(width), marked or Marked())


def test_parts_are_as_long_as_their_shares_in_their_verdicts_colours():
    drawn = laid()
    assert [spot.x for spot in drawn.spots[:3]] == pytest.approx([0, 400, 600])
    assert [spot.wide for spot in drawn.spots[:3]] == pytest.approx([400, 200, 200])
    for spot, colour in zip(drawn.spots, ("consistent", "discriminatory"), strict=False):
        assert shapes(drawn, Box, fill=colour)[0][:2] == (spot.x, spot.y)
    assert {"=", "≠"} <= set(texts(drawn))


def test_none_is_too_small_to_be_seen():
    least = laid().spots[3]
    assert least.wide >= 1.9
    assert least.tip == "hardly any"


def test_what_is_estimated_is_hatched_inside_of_what_is_undecided():
    drawn = laid()
    hatches = shapes(drawn, Path, colour="discriminatory")[0]
    assert len(hatches.lines) > 8
    assert all(600 <= x <= 680 for line in hatches.lines for x, _y in line)
    (interval,) = shapes(drawn, Path, colour="ink")
    assert [x for x, _y in interval.lines[0]] == pytest.approx([660, 700])
    rest = shapes(drawn, Box, fill="undecided")[0]
    assert (rest.x, rest.wide) == pytest.approx((680, 120))


@pytest.mark.parametrize("width", [90.0, 260.0, 700.0])
def test_labels_are_never_cut(width):
    drawn, on = laid(width), paper(width)
    for each in shapes(drawn, Words, anchor="start"):
        assert each.x + on.extent(each.text) <= width
    assert max(each.y for each in shapes(drawn, Words)) < drawn.height
    assert laid(90.0).height > laid(700.0).height


def test_parts_are_walked_in_their_order_and_what_is_chosen_is_framed():
    drawn = laid(marked=Marked(1))
    assert [list(each) for each in drawn.across] == [[0, 1, 2, 3, 4]]
    (frame,) = shapes(drawn, Box, edge="ink")
    assert drawn.spots[1].holds(frame.x, frame.y)
