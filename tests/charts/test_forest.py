"""Forest plots: what is drawn where, and what it tells in words."""

import pytest

from fairdesk.charts.groups import describe
from fairdesk.charts.kinds.forest import Forest, Ratio, Ratios
from fairdesk.charts.shapes import Box, Disc, Marked, Path, Tint, Words
from fairdesk.report.document import WIDTH
from fairdesk.report.document import drawn as on_page
from fairdesk.wording.groups.tables import rate_of
from tests import phrases
from tests.charts.reading import PAPER, laid, paper, shapes, texts
from tests.gui.counting import BOSTON, line, table

RACE = table()


def plain(text):
    return text.replace("\u00a0", " ")


def test_a_group_is_told_with_its_counts_interval_and_ratio():
    assert plain(describe(RACE, RACE.lines[0], "applicant")) == (
        "Black: 67.5 % (133 of 197 applicants), 95 % CI 60.7 to 73.7 %; impact ratio "
        "0.74; below the four-fifths threshold"
    )
    assert plain(describe(RACE, RACE.lines[2], "applicant")).startswith(
        "White: 90.8 % (1,527 of 1,681"
    )


@pytest.mark.parametrize(
    ("counts", "shown"),
    [
        ({("Female",): (1616, 110), ("Male",): (3384, 837)}, ["6.8 %", "24.7 %"]),
        ({("a",): (4000, 12), ("b",): (2000, 90)}, ["0.30 %", "4.50 %"]),
        ({("a",): (1000, 333), ("b",): (2000, 999)}, ["33.3 %", "50.0 %"]),
    ],
)
def test_a_chart_writes_rates_as_the_table_beside_it(counts, shown):
    counted = table(counts, ("sex",))
    rows = Forest(counted).plot().rows
    assert [plain(row.value).split(" of ")[0] for row in rows] == shown
    assert [plain(rate_of(counted, each)) for each in counted.lines] == shown
    assert plain(describe(counted, counted.lines[0], "person")).startswith(
        f"{rows[0].name}: {shown[0]} ("
    )


def test_nobody_in_a_group_is_undefined_and_never_a_number():
    counted = table({**BOSTON, ("Asian",): (0, 0)})
    assert (
        describe(counted, counted.lines[3], "applicant")
        == "Asian: empty group, so the rate is undefined"
    )
    assert "nan" not in str(Forest(counted).table()).lower()
    assert Forest(counted).table()[1][3][3:7] == ("undefined",) * 4
    assert "undefined" in texts(laid(Forest(counted)))


def test_without_anybody_favoured_no_line_is_drawn_and_nothing_breaks():
    forest = Forest(table({("a",): (50, 0), ("b",): (60, 0)}))
    drawn = laid(forest)
    assert not any("highest" in text for text in texts(drawn))
    assert forest.table()[1][0][6] == "undefined"


def test_unknown_groups_stand_apart_below_the_others():
    counted = table({("Unknown",): (30, 20), **BOSTON}, unknown=("Unknown",))
    forest = Forest(counted)
    assert forest.places == (1, 2, 3, 0)
    assert "group not recorded, not compared" in describe(counted, counted.lines[0], "applicant")
    tops = [spot.y for spot in laid(forest).spots]
    assert tops[3] - tops[2] > 1.2 * (tops[2] - tops[1])


def test_the_texts_of_a_narrow_axis_do_not_touch():
    drawn = laid(Ratios([Ratio(each, (0.5, 0.9)) for each in RACE.lines]), 262)
    axis = sorted((each.x, each.text) for each in shapes(drawn, Words) if each.text[1:2] == ".")
    axis = [(x, text) for x, text in axis if len(text) == 3]
    assert [text for _, text in axis] == ["0.0", "0.5", "1.0"]


def test_small_groups_are_marked_as_left_out_of_the_comparison():
    counted = table({**BOSTON, ("Asian",): (9, 9)})
    assert describe(counted, counted.lines[3], "applicant").endswith(f"; {phrases.TOO_SMALL}")
    assert counted.lines[counted.reference].values == ("White",)
    drawn = laid(Forest(counted))
    assert "Asian (too few)" in texts(drawn)
    assert len(shapes(drawn, Disc, edge="undecided")) == 1


def test_of_many_groups_the_largest_are_drawn_and_all_are_in_the_table():
    forest = Forest(table({(f"group {i}",): (1000 - i, 500) for i in range(37)}))
    assert len(laid(forest).spots) == 30
    assert forest.heading.endswith("the 30 largest of 37 groups")
    assert len(forest.table()[1]) == 37


@pytest.mark.parametrize("width", [460.0, 700.0])
def test_marks_stand_where_their_rates_are_with_the_line_and_the_band(width):
    drawn = laid(Forest(RACE), width)
    nought, whole = (
        next(each.x for each in shapes(drawn, Words, anchor="middle") if plain(each.text) == text)
        for text in ("0 %", "100 %")
    )

    def rate(x):
        return (x - nought) / (whole - nought)

    best = RACE.lines[2].rate
    (highest,) = shapes(drawn, Box, edge="consistent")
    (below,) = shapes(drawn, Path, fill="ground", colour="discriminatory")
    (other,) = shapes(drawn, Disc)
    assert rate(highest.x + highest.wide / 2) == pytest.approx(best)
    assert rate(below.lines[0][2][0]) == pytest.approx(RACE.lines[0].rate)
    assert rate(other.x) == pytest.approx(RACE.lines[1].rate)
    (band,) = shapes(drawn, Box, fill=Tint("discriminatory", 0.1))
    assert rate(band.x) == pytest.approx(0)
    assert rate(band.x + band.wide) == pytest.approx(0.8 * best)
    # every mark is an outline: what it tells was observed
    assert highest.fill == below.fill == other.fill == "ground"
    ends = [
        each.lines[0] for each in shapes(drawn, Path, colour="consistent") if len(each.lines) == 1
    ]
    assert [rate(x) for x, _y in ends[0]] == pytest.approx([RACE.lines[1].low, RACE.lines[1].high])


def test_what_is_chosen_and_what_is_pointed_at_have_a_ground():
    grounds = [
        each.fill.share
        for each in laid(Forest(RACE), marked=Marked(2, 0)).shapes
        if isinstance(each, Box) and isinstance(each.fill, Tint) and each.fill.role == "tint"
    ]
    assert grounds == [0.5, 1.0]


@pytest.mark.parametrize(
    "name", ["x" * 300, "word " * 60, "性别：女性，种族：亚洲人" * 25, "الجنس: أنثى " * 25]
)
def test_names_of_any_script_and_length_never_cover_the_rates(name):
    forest = Forest(table({(name,): (100, 40), ("b",): (100, 60)}))
    for on in (PAPER, paper(400.0)):
        drawn = forest.lay_out(on)
        (band,) = shapes(drawn, Box, fill=Tint("discriminatory", 0.1))
        for each in shapes(drawn, Words, anchor="start"):
            if each.x == 0:
                assert on.extent(each.text) < band.x
        assert drawn.height < 300
    assert "nan" not in on_page(forest, " ").svg


def test_it_tells_itself_in_words():
    described = plain(Forest(RACE, counts="share").alt())
    assert "share. Lowest: Black, 67.5 % of 197" in described
    assert "Hispanic: 75.7 % of 111, 66.9 to 82.7 %" in described


def ratio(name, people, value, low=None, high=None):
    made = line((name,), people, round(0.5 * value * people), people, 0.5)
    return Ratio(made, None if low is None else (low, high))


RATIOS = Ratios(
    [
        ratio("Female", 16_000, 0.39, 0.38, 0.405),
        ratio("Male", 32_000, 1.0),
        ratio("Other", 120, 0.9, 0.2, 4.0),
    ]
)


def test_impact_ratios_stand_beside_the_screening_line_with_their_people():
    drawn = RATIOS.lay_out(PAPER)
    assert {
        "0.39 (n = 16,000)",
        "1.00 (n = 32,000)",
        "below the four-fifths threshold, 0.8",
    } <= set(texts(drawn))
    assert "Lowest: Female, 0.39 (n = 16,000); 1 of 3 are below" in RATIOS.alt()
    assert "Other: 0.90 (n = 120), 0.20 to 4.00" in RATIOS.alt()
    # told apart in grey too: a triangle below the line, a square for the highest, a circle else
    assert len(shapes(drawn, Path, fill="ground", colour="discriminatory")) == 1
    assert (len(shapes(drawn, Box, edge="consistent")), len(shapes(drawn, Disc))) == (1, 1)
    # an interval beyond the chart ends in an arrow inside it
    assert max(x for each in shapes(drawn, Path) for way in each.lines for x, _y in way) < WIDTH
    assert any(len(way) == 3 for each in shapes(drawn, Path, fill=None) for way in each.lines)
