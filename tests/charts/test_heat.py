"""Rates of intersections as a heat map: which cell is where, what it says and looks like."""

from fairdesk.charts.kinds.heat import Heat
from fairdesk.charts.shapes import Box, Marked, Path, Words
from fairdesk.charts.svg import mixed, readable_on
from tests.charts.reading import PAPER, laid, paper, shapes, texts
from tests.gui.counting import table

COUNTS = {
    ("female", "young"): (100, 20),
    ("female", "middle"): (150, 90),
    ("male", "young"): (3, 1),
    ("male", "middle"): (200, 150),
    ("male", "old"): (120, 60),
}
BOTH = table(COUNTS, ("sex", "age group"))


def plain(text):
    return text.replace("\u00a0", " ")


def test_the_attribute_with_more_values_goes_down_each_in_its_own_order():
    drawn = Heat(BOTH)
    assert drawn.names == ("age group", "sex")
    assert drawn.rows == ("young", "middle", "old")
    assert drawn.columns == ("female", "male")
    assert drawn.cells == {(0, 0): 0, (1, 0): 1, (0, 1): 2, (1, 1): 3, (2, 1): 4}


def test_values_of_groups_that_are_not_known_come_last():
    counted = table({("?", "a"): (5, 1), ("x", "a"): (50, 20), ("x", "?"): (9, 1)}, ("s", "t"))
    lines = [
        line if "?" not in line.values else type(line)(**{**as_dict(line), "codes": ()})
        for line in counted.lines
    ]
    drawn = Heat(type(counted)(**{**as_dict(counted), "lines": tuple(lines)}))
    assert drawn.rows == ("x", "?")
    assert drawn.columns == ("a", "?")


def as_dict(struct):
    return {name: getattr(struct, name) for name in struct.__struct_fields__}


def test_a_cell_without_anybody_says_so():
    drawn = Heat(BOTH, person="applicant")
    assert drawn.describe(2, 0) == "old, female: empty"
    assert plain(drawn.describe(0, 0)).startswith("female, young: 20.0 % (20 of 100 applicants)")


def test_cells_carry_rate_and_number_and_mark_what_is_below():
    drawn = laid(Heat(BOTH))

    def within(key):
        spot = next(each for each in drawn.spots if each.key == key)
        return [plain(each.text) for each in shapes(drawn, Words) if spot.holds(each.x, each.y)]

    assert within(0) == ["▽ 20.0 %", "n = 100"]
    assert within(3) == ["75.0 %", "n = 200"]
    # too few to be compared: hatched, not marked
    assert within(2) == ["33.3 %", "n = 3"]
    (hatched,) = shapes(drawn, Path)
    spot = next(each for each in drawn.spots if each.key == 2)
    assert all(spot.x <= x <= spot.x + spot.wide for way in hatched.lines for x, _y in way)
    assert within(-5) == ["empty"]
    assert any("hatched: too small" in text for text in texts(drawn))


def test_the_higher_the_rate_the_stronger_the_colour():
    cells = shapes(laid(Heat(BOTH)), Box, edge="consistent")
    rates = [BOTH.lines[place].rate for place in (0, 2, 1, 3, 4)]
    shares = [each.fill.share for each in cells]
    assert sorted(range(5), key=lambda i: shares[i]) == sorted(range(5), key=lambda i: rates[i])
    assert max(shares) - min(shares) > 0.6


def test_words_can_be_read_on_every_shade():
    def brightness(colour):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for card, full in (("#FFFFFF", "#0072B2"), ("#2A2F36", "#4DA8E0")):
        for step in range(11):
            ground = mixed(card, full, step / 10)
            pair = sorted((brightness(ground), brightness(readable_on(ground))))
            assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5


def test_what_is_chosen_has_a_thicker_edge_than_what_is_pointed_at():
    edges = shapes(laid(Heat(BOTH), marked=Marked(3, 0)), Box, edge="ink")
    assert [each.thick for each in edges] == [1.5, 3.0]


def test_cells_are_walked_along_rows_and_columns():
    drawn = laid(Heat(BOTH))
    assert drawn.across == [[0, 2], [1, 3], [-5, 4]]
    assert drawn.down == [[0, 1, -5], [2, 3, 4]]


def test_narrow_cells_drop_words_rather_than_cut_them():
    counts = {(f"v{i}", f"w{j}"): (1000, 500 + i) for i in range(13) for j in range(14)}
    drawn = laid(Heat(table(counts, ("a", "b"))), 320.0)
    spots = drawn.spots
    for each in shapes(drawn, Words, anchor="middle"):
        if any(spot.holds(each.x, each.y) for spot in spots):
            assert paper().extent(each.text) <= spots[0].wide
    assert drawn.height >= 13 * 15


def test_the_report_tells_every_cell_in_words():
    told = plain(Heat(BOTH, "T").alt())
    assert told.startswith("T. Lowest: young, female: 20.0 % of 100. Highest: middle, male: 75.0 %")
    assert "old, female: empty" in told
    assert {"n = 200", "75.0 %"} <= set(texts(Heat(BOTH).lay_out(PAPER)))


def test_of_other_than_two_attributes_there_is_nothing_to_draw():
    assert Heat(table()).empty
