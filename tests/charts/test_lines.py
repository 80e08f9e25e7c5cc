"""Line charts on paper: where lines run, and how they are named at their ends."""

import numpy as np
import pytest

from fairdesk.charts.kinds.lines import Drawing, Line, Mark, growing
from fairdesk.charts.shapes import Box, Disc, Path, Words
from fairdesk.report.document import drawn
from tests.charts.reading import PAPER, shapes, texts


def line(name, x, y, place=0, **more):
    return Line(name, np.array(x, float), np.array(y, float), f"series {place}", **more)


def grown(name, x, y):
    return growing(name, np.array(x, float), np.array(y, float), "series 0")


def chart(*lines, **more):
    return Drawing("", "tried", "found", lines, **more)


def laid(*lines, **more):
    return chart(*lines, **more).lay_out(PAPER)


def plain(text):
    return text.replace("\u00a0", " ")


def test_a_line_starts_at_the_origin_and_is_named_at_its_end_with_its_count():
    tried = np.arange(1, 2001) * 10.0
    shown = laid(grown("MAFT & co", tried, tried / 4))
    assert {"MAFT & co", "5,000", "tried", "found", "20,000"} <= set(texts(shown))
    (drawn_line,) = shapes(shown, Path, colour="series 0", thick=1.6)
    (points,) = drawn_line.lines
    assert len(points) <= 302
    (grid,) = shapes(shown, Path, colour="quiet", thick=0.8)
    assert points[0] == pytest.approx(grid.lines[0][0])
    (end,) = shapes(shown, Disc, fill="series 0")
    assert (end.x, end.y) == pytest.approx(points[-1])
    assert "MAFT & co: 5,000 after 20,000" in chart(line("MAFT & co", tried, tried / 4)).alt()


@pytest.mark.parametrize("count", [3, 12])
def test_labels_of_lines_that_end_together_stay_apart_and_on_the_paper(count):
    names = [f"Aequitas, run {place}" for place in range(count)]
    shown = laid(*(line(name, (1, 2), (1, 2), place) for place, name in enumerate(names)))
    heights = sorted(each.y for each in shapes(shown, Words) if each.text in names)
    assert len(heights) == count
    assert all(np.diff(heights) >= 2 * PAPER.lead)
    assert all(0 < each.y < shown.height for each in shapes(shown, Words))
    # colours come again, and never fail
    assert drawn(chart(*(line(name, (1, 2), (1, 2), 7) for name in names))).svg


def test_a_chart_of_nothing_is_still_a_chart():
    assert "0" in texts(laid(line("MAFT", [], [])))
    assert not len(grown("MAFT", [], []).x)


def test_a_count_is_told_alone_lest_it_be_read_as_a_rate():
    shown = texts(laid(line("MAFT", [1, 92_447], [0, 68_640])))
    assert "68,640" in shown
    assert not any(" of " in text for text in shown)


def test_a_line_of_percentages_is_no_count_of_its_seconds():
    shown = laid(line("certified", (1, 41), (10, 89.93)), y_unit="\u00a0%", y_digits=2)
    assert "89.93 %" in texts(shown)
    assert not any(" of " in text for text in texts(shown))


def test_a_band_holds_its_line_and_its_ends_are_told():
    people = np.arange(1, 20_001)
    band = line("", people, np.full(20_000, 4.0), low=4 - 40 / people, high=4 + 90_000 / people)
    course = chart(band, y_unit="\u00a0%", y_digits=2, y_high=14.0)
    shown = course.lay_out(PAPER)
    assert {"8.50 %", "4.00 %"} <= set(texts(shown))
    (shade,) = [each for each in shapes(shown, Path) if each.fill is not None]
    top = 2 * PAPER.lead
    # where the band leaves the chart it is cut
    assert min(y for _x, y in shade.lines[0]) == pytest.approx(top)
    assert plain(course.alt()).endswith("4.00 %, between 4.00 % and 8.50 %, after 20,000.")
    assert len(drawn(course).svg) < 25_000


def test_each_of_several_lines_is_told_by_its_own_name():
    told = chart(line("certified", (0, 60), (0, 90)), line("falsified", (0, 60), (0, 7))).alt()
    assert plain(told).endswith("certified: 90 after 60; falsified: 7 after 60.")


@pytest.mark.parametrize("value", [0.0, 0.04, 100.0])
def test_a_course_of_any_share_can_be_drawn(value):
    band = line("", (10, 20), (value, value), low=np.zeros(2), high=np.array([30.0, 17.0]))
    assert "nan" not in drawn(chart(band, y_unit="\u00a0%")).svg


def test_points_are_observed_and_told_apart_by_shape_too():
    groups = [
        line(name, (10, 65), (8, 50), place, mark=Mark.POINTS)
        for place, name in enumerate(("Female", "Male"))
    ]
    whole = line("perfect calibration", (0, 100), (0, 100), dashed=True)
    shown = laid(*groups, whole, y_unit="\u00a0%", x_unit="\u00a0%", y_high=100.0)
    assert len(shapes(shown, Disc, fill="ground", edge="series 0")) == 2
    assert len(shapes(shown, Box, fill="ground", edge="series 1")) == 2
    assert {"Female", "Male", "score and share", "agree"} & set(texts(shown)) >= {"Female", "Male"}
    assert texts(shown).count("100 %") == 2
