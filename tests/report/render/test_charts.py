"""Charts: well-formed SVG that shows what it is given and says it in words."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdesk.report.render import charts, drawing
from fairdesk.wording import words
from fairdesk.wording.language import using

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture):
    return [element.text for element in ET.fromstring(picture.svg).iter(f"{SVG}text")]


@given(st.floats(0, 1e12), st.integers(2, 8))
def test_ticks_are_round_and_reach_the_top(high, most):
    values = charts.ticks(high, most)
    step = values[1]
    assert values[0] == 0
    assert len(values) <= most + 1
    assert values[-1] >= max(high, 1) * (1 - 1e-12)
    assert values[-2] < max(high, 1)
    assert f"{step:.0e}"[0] in "125"
    assert step >= 1


def test_a_line_is_named_at_its_end_with_its_counts():
    tried = np.arange(1, 2001) * 10.0
    picture = charts.line_chart(
        [charts.Series("MAFT & co", tried, tried / 4)], x_title="tried", y_title="found"
    )
    assert {"MAFT & co", "5,000 of 20,000", "tried", "found", "20,000"} <= set(texts(picture))
    assert "MAFT & co: 5,000 after 20,000" in picture.alt
    (line,) = [
        element.get("d")
        for element in ET.fromstring(picture.svg).iter(f"{SVG}path")
        if element.get("stroke") == charts.COLOURS[0]
    ]
    assert line.count("L") <= 302


def test_labels_of_lines_that_end_together_stay_apart():
    points = np.array([1.0, 2.0])
    picture = charts.line_chart(
        [charts.Series(name, points, points) for name in ("one", "two", "three")],
        x_title="tried",
        y_title="found",
    )
    heights = sorted(
        float(element.get("y"))
        for element in ET.fromstring(picture.svg).iter(f"{SVG}text")
        if element.text in ("one", "two", "three")
    )
    assert all(np.diff(heights) >= 18)


def test_many_lines_have_room_for_their_names():
    points = np.array([1.0, 2.0])
    names = [f"Aequitas, fully-directed, run {i}" for i in range(12)]
    picture = charts.line_chart(
        [charts.Series(name, points, points) for name in names], x_title="tried", y_title="found"
    )
    drawing = ET.fromstring(picture.svg)
    high = float(drawing.get("viewBox").split()[3])
    places = [float(each.get("y")) for each in drawing.iter(f"{SVG}text")]
    assert min(places) > 5
    assert max(places) < high


def test_a_chart_of_nothing_is_still_a_chart():
    picture = charts.line_chart(
        [charts.Series("MAFT", np.array([]), np.array([]))], x_title="tried", y_title="found"
    )
    assert "0 of 0" in texts(picture)


def test_bars_have_lengths_in_proportion_and_keep_long_names():
    name = "x" * 200
    picture = charts.bar_chart([(name, 10), ("sex", 5), ("age", 0)], whole=20, unit="findings")
    widths = [
        float(element.get("width"))
        for element in ET.fromstring(picture.svg).iter(f"{SVG}rect")
        if element.get("fill") != "none"
    ]
    # of nothing there is no bar
    assert len(widths) == 2
    assert widths[0] == pytest.approx(2 * widths[1], abs=0.02)
    written = texts(picture)
    assert "".join(text for text in written if set(text) == {"x"}) == name
    assert any(text.startswith("10 (50.0") for text in written)
    assert "sex: 5 (25.0" in picture.alt


RATES = [
    charts.Rate("White & male", 2_445, 0.0965, 0.085, 0.109),
    charts.Rate("Black", 2_435, 0.0645, 0.055, 0.075, below=True),
    charts.Rate("Nobody favoured", 12, 0.0, 0.0, 0.24),
]


def test_rates_stand_beside_the_highest_and_four_fifths_of_it():
    picture = charts.forest_chart(RATES, reference=0.0965, x_title="share")
    said = texts(picture)
    assert {"White & male", "highest", "four fifths", f"9.7{words.NBSP}% of 2,445"} <= set(said)
    marks = [e.get("stroke") for e in ET.fromstring(picture.svg).iter(f"{SVG}rect")]
    assert marks.count(charts.COLOURS[1]) == 1
    assert "Black: 6.5" in picture.alt
    assert "nan" not in picture.svg
    alone = charts.forest_chart(RATES[2:], reference=None, x_title="share")
    assert "highest" not in texts(alone)


def test_a_group_and_everybody_else_stand_on_one_line():
    pairs = [
        charts.Apart("sex = male, " * 12, 0.207, 0.831, "−62.4 points"),
        charts.Apart("nobody", 0.0, 0.0, "+0.0 points"),
    ]
    picture = charts.apart_chart(pairs, x_title="share with “yes”")
    assert {"in the group", "everybody else", "−62.4 points"} <= set(texts(picture))
    assert "20.7" in picture.alt
    places = [float(e.get("cx")) for e in ET.fromstring(picture.svg).iter(f"{SVG}circle")]
    assert all(0 <= place <= charts.WIDTH for place in places)


def test_a_map_has_a_cell_for_every_combination_and_says_where_nobody_is():
    cell, nobody = charts.HeatCell(0.4, 12), charts.HeatCell(None, 0)
    picture = charts.heat_map(["a", "b & c"], ["x", "y"], [[cell, nobody], [cell, cell]], title="T")
    said = texts(picture)
    assert said.count("n = 12") == 3
    assert said.count("nobody") == 1
    assert "b & c, y: 40.0" in picture.alt
    assert len(list(ET.fromstring(picture.svg).iter(f"{SVG}rect"))) == 4


RATIOS = [
    charts.Ratio("Female", 16_192, 0.39, 0.38, 0.405, below=True),
    charts.Ratio("Male", 32_650, 1.0),
    charts.Ratio("Other", 12, 0.9, 0.2, 4.0),
]


def test_impact_ratios_stand_beside_the_screening_line_with_their_people():
    picture = charts.ratio_chart(RATIOS, x_title="impact ratio")
    assert {"0.39 (n = 16,192)", "1.00 (n = 32,650)", "0.8 screening line"} <= set(texts(picture))
    assert "The lowest is that of Female, 0.39 (n = 16,192); 1 of 3 are below" in picture.alt
    drawn = ET.fromstring(picture.svg)
    marks = [each.tag for each in drawn if each.get("stroke") in charts.COLOURS[:2]]
    # told apart in grey too: a square below the line, circles else
    assert (marks.count(f"{SVG}rect"), marks.count(f"{SVG}circle")) == (1, 2)
    # an interval beyond the chart ends in an arrow inside it
    places = [float(each.get("x")) for each in drawn.iter(f"{SVG}text")]
    assert max(places) < charts.WIDTH
    assert "l4 3l-4 3" in picture.svg


def test_what_is_observed_estimated_and_proven_has_a_mark_each():
    observed, estimated, proven = (
        drawing.mark(10, 10, "#000000", evidence)
        for evidence in ("observed", "estimated", "proven")
    )
    assert 'fill="white"' in observed
    assert estimated.startswith(observed)
    assert estimated != observed
    assert 'fill="#000000"' in proven


def test_a_strip_says_what_is_certified_falsified_and_undecided():
    picture = charts.proof_strip(charts.ProofBar("Applicants", 0.8993, 0.0312, 0.02))
    said = "Applicants: 89.93 % certified, 3.12 % falsified, 6.95 % undecided".replace(
        " %", "\xa0%"
    )
    assert any(text.startswith(said) for text in texts(picture))
    assert said in picture.alt
    assert {"=", "≠"} <= set(texts(picture))


def test_what_is_certified_falsified_and_undecided_adds_up_to_everybody():
    picture = charts.proof_strip(charts.ProofBar("", 0.709592, 0.000001, None))
    assert "70.95\xa0% certified, 0.00\xa0% falsified, 29.05\xa0% undecided" in picture.alt


def test_calibration_names_where_score_and_share_are_farthest_apart():
    picture = charts.calibration_chart(
        [charts.Calibrated("Female", [(0.1, 0.1, 50), (0.65, 0.5, 15)])],
        x_title="mean score",
        y_title="share",
    )
    assert "farthest apart 50.0 % at a score of 65.0 %, of 15".replace(" %", "\xa0%") in picture.alt
    assert "Female" in texts(picture)


def test_a_line_of_percentages_is_no_count_of_its_seconds():
    picture = charts.line_chart(
        [charts.Series("certified", [1.0, 41.0], [10.0, 89.93])],
        x_title="seconds",
        y_title="proven",
        shares=True,
    )
    assert "89.93\xa0%" in texts(picture)
    assert not any(" of " in text for text in texts(picture))


def test_names_of_any_script_and_length_stay_inside():
    names = ["x" * 300, "word " * 60, "性别：女性，种族：亚洲人" * 25, "الجنس: أنثى " * 25]
    groups = [charts.Rate(name, 100, 0.2, 0.1, 0.3) for name in names]
    picture = charts.forest_chart(groups, reference=0.3, x_title="share")
    drawn = ET.fromstring(picture.svg)
    assert float(drawn.get("viewBox").split()[3]) < 400
    for each in drawn.iter(f"{SVG}text"):
        told = "".join(each.itertext())
        if each.get("anchor") == "end" or each.get("text-anchor") == "end":
            assert float(each.get("x")) - drawing.extent(told) >= -1
    assert {sign for each in drawn.iter(f"{SVG}tspan") for sign in each.text} == set(
        "性别：女性，种族：亚洲人"
    )


def test_charts_write_numbers_in_the_reports_language():
    with using("fr"):
        picture = charts.ratio_chart(RATIOS, x_title="impact ratio")
    assert "0,39 (n = 16\u202f192)" in texts(picture)
    assert "0,8 screening line" in texts(picture)


def test_courses_of_many_points_stay_small():
    people = np.arange(1, 20_001)
    course = [(n, 0.04, max(0.0, 0.04 - 1 / n), 0.04 + 1 / n) for n in people]
    picture = charts.course_chart(course, x_title="drawn", y_title="share")
    assert len(picture.svg) < 25_000
    assert "after 20,000" in picture.alt
