"""Charts: well-formed SVG that shows what it is given and says it in words."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from fairdesk.charts.lines import Drawing, Line
from fairdesk.report.render import charts, drawing

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*lines, unit=""):
    shown = tuple(Line(*each, "series 0") for each in lines)
    return charts.line_chart(Drawing("", "tried", "found", shown, y_unit=unit))


def texts(picture):
    return [element.text for element in ET.fromstring(picture.svg).iter(f"{SVG}text")]


def test_a_line_is_named_at_its_end_with_its_counts():
    tried = np.arange(1, 2001) * 10.0
    picture = drawn(("MAFT & co", tried, tried / 4))
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
    picture = drawn(*((name, points, points) for name in ("one", "two", "three")))
    heights = sorted(
        float(element.get("y"))
        for element in ET.fromstring(picture.svg).iter(f"{SVG}text")
        if element.text in ("one", "two", "three")
    )
    assert all(np.diff(heights) >= 18)


def test_many_lines_have_room_for_their_names():
    points = np.array([1.0, 2.0])
    names = [f"Aequitas, fully-directed, run {i}" for i in range(12)]
    picture = drawn(*((name, points, points) for name in names))
    drawing = ET.fromstring(picture.svg)
    high = float(drawing.get("viewBox").split()[3])
    places = [float(each.get("y")) for each in drawing.iter(f"{SVG}text")]
    assert min(places) > 5
    assert max(places) < high


def test_a_chart_of_nothing_is_still_a_chart():
    picture = drawn(("MAFT", np.array([]), np.array([])))
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


def test_what_is_observed_estimated_and_proven_has_a_mark_each():
    observed, estimated, proven = (
        drawing.mark(10, 10, "#000000", evidence)
        for evidence in ("observed", "estimated", "proven")
    )
    assert 'fill="white"' in observed
    assert estimated.startswith(observed)
    assert estimated != observed
    assert 'fill="#000000"' in proven


def test_bars_say_what_is_certified_falsified_and_undecided():
    picture = charts.proof_chart([charts.ProofBar("Applicants", 0.8993, 0.0312, 0.02)])
    shares = ["89.93\xa0% certified", "3.12\xa0% falsified", "6.95\xa0% undecided"]
    estimated = "about 2.00\xa0% estimated unlike, not certified"
    assert {"Applicants", *shares, estimated} <= set(texts(picture))
    assert f"Applicants: {', '.join(shares)}" in picture.alt
    assert {"=", "≠"} <= set(texts(picture))


def test_what_is_certified_falsified_and_undecided_adds_up_to_everybody():
    picture = charts.proof_chart([charts.ProofBar("", 0.709592, 0.000001, None)])
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
    picture = drawn(("certified", np.array([1.0, 41.0]), np.array([10.0, 89.93])), unit=" %")
    assert "89.93\xa0%" in texts(picture)
    assert not any(" of " in text for text in texts(picture))


def test_courses_of_many_points_stay_small():
    people = np.arange(1, 20_001)
    course = [(n, 0.04, max(0.0, 0.04 - 1 / n), 0.04 + 1 / n) for n in people]
    picture = charts.course_chart(course, x_title="drawn", y_title="share")
    assert len(picture.svg) < 25_000
    assert "after 20,000" in picture.alt
