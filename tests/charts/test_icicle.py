"""Icicles: where boxes lie, in columns and in rows, and what is told of them."""

from dataclasses import replace

import pytest

from fairdesk.charts.kinds.icicle import Tree
from fairdesk.charts.shapes import Box, Marked, Words
from fairdesk.results.conditions import Condition
from fairdesk.results.proofs import Part
from tests.charts.reading import PAPER, paper, shapes, texts


def part(parent, name, share, certified=0.0, falsified=0.0):
    conditions = (Condition(name, low=1.0),) if name else ()
    return Part(parent, conditions, share, certified, falsified)


def tree_of(*parts):
    names = [each.conditions[0].attribute if each.conditions else "everybody" for each in parts]
    return Tree(tuple(parts), tuple(names), tuple(names), "people of the town")


#: Everybody is divided into a (which is into c and d) and b; a tenth of everybody is too small.
TREE = tree_of(
    part(-1, "", 1.0, 0.5, 0.2),
    part(0, "a", 0.6, 0.3, 0.2),
    part(0, "b", 0.3, 0.2, 0.0),
    part(1, "c", 0.4, 0.3, 0.0),
    part(1, "d", 0.2, 0.0, 0.2),
)


def test_a_box_is_as_high_as_its_share_and_lies_beside_its_parent():
    placed = {each.number: each for each in TREE.placed(3)}
    assert [placed[n].level for n in range(5)] == [0, 1, 1, 2, 2]
    assert (placed[1].start, placed[1].end) == (0.0, pytest.approx(0.6))
    assert (placed[2].start, placed[2].end) == (pytest.approx(0.6), pytest.approx(0.9))
    assert (placed[4].start, placed[4].end) == (pytest.approx(0.4), pytest.approx(0.6))


def test_of_another_root_only_what_is_below_is_laid_out():
    inside = replace(TREE, root=1)
    placed = inside.placed(3)
    assert [each.number for each in placed] == [1, 3, 4]
    assert placed[1].end == pytest.approx(2 / 3)
    assert [each.number for each in TREE.placed(2)] == [0, 1, 2]
    assert [replace(TREE, root=root).depth() for root in (0, 1, 4)] == [3, 2, 1]


def test_verdicts_of_a_part_make_the_whole_of_it():
    shares = TREE.shares(1)
    assert [float(each) for each in shares.values()] == pytest.approx([0.5, 1 / 3, 1 / 6])
    assert sum(shares.values()) == 1
    assert TREE.shares(4) == {"consistent": 0, "discriminatory": 1, "undecided": 0}


def test_what_is_proven_is_never_told_as_more():
    tree = tree_of(part(-1, "", 1.0, 0.999996, 0.0))
    told = tree.describe(0).replace("\u00a0", " ")
    assert "99.99960 % certified (unchanged)" in told
    assert "0.00040 % undecided" in told


def test_the_table_has_every_part_the_largest_first():
    header, rows = TREE.table()
    assert header[0] == "Part"
    assert [row[0] for row in rows] == ["everybody", "a", "c", "b", "d"]
    assert rows[1][1:6] == ("1", "60.0000", "50.00", "33.33", "16.67")
    assert len(TREE.table(2)[1]) == 2


def test_on_paper_boxes_stand_below_their_own_and_are_filled_from_the_left():
    drawn = TREE.lay_out(PAPER)
    rows = {}
    for spot in drawn.spots:
        rows.setdefault(round(spot.y), []).append((spot.x, spot.x + spot.wide))
    spans = [(min(spot)[0], max(end for _x, end in spot)) for _y, spot in sorted(rows.items())]
    assert spans == [pytest.approx((0, end * PAPER.width)) for end in (1, 0.9, 0.6)]
    whole = [each for each in shapes(drawn, Box) if each.y == 0]
    assert [each.fill for each in whole] == ["consistent", "discriminatory", "undecided"]
    assert whole[0].wide == pytest.approx(PAPER.width / 2, abs=1)
    assert all(each.y + each.tall < drawn.height for each in shapes(drawn, Box))
    assert "5 regions in 3 rows" in TREE.alt()
    assert "50.00 % is certified and 20.00 % falsified" in TREE.alt().replace("\u00a0", " ")


def test_where_there_is_a_height_it_is_filled_with_words_that_are_never_too_wide():
    on = replace(paper(700.0), height=400.0)
    drawn = TREE.lay_out(on, Marked(1))
    assert drawn.height == 400
    shown = {"everybody", "= 50.0 % certified (unchanged)", "≠ 100 % falsified (changes)"}
    assert shown <= set(texts(drawn))
    for each in shapes(drawn, Words, anchor="start"):
        assert each.x + on.extent(each.text, each.size) <= on.width
    (frame,) = shapes(drawn, Box, edge="ink")
    assert next(spot for spot in drawn.spots if spot.key == 1).holds(frame.x, frame.y)
    # a box that words would cover has none
    low = TREE.lay_out(replace(on, height=60.0))
    bare = [spot for spot in low.spots if spot.tall < 2 * 1.05 * on.small * on.lead]
    assert bare
    assert not [each for each in shapes(low, Words) if any(s.holds(each.x, each.y) for s in bare)]
    # two levels are drawn at least; that there are more is shown
    narrow = TREE.lay_out(replace(on, width=200.0))
    assert [spot.key for spot in narrow.spots] == [0, 1, 2]
    assert texts(narrow).count("›") == 1
