"""Line charts in the window: read, zoomed, turned to tables, taken away, renewed while live."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtTest import QTest

from fairdesk.charts.kinds.lines import Drawing, Line, Mark, cut, decimate
from fairdesk.charts.shapes import Box, Disc, Path, Words
from fairdesk.gui.charts.drawn import DrawnChart
from tests.gui.charts.drawing import drawing_items
from tests.gui.mouse import move_mouse

X = np.linspace(0, 10, 5000)
TRIED = Line("tried", X, np.cumsum(np.ones(5000)), "undecided")
FOUND = Line("found", X, np.floor(TRIED.y / 3), "discriminatory")
DRAWING = Drawing(
    "Pairs found and instances tested over time", "seconds", "people", (TRIED, FOUND), x_digits=1
)


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=3000),
    st.integers(4, 200),
)
def test_thinning_out_keeps_ends_and_extremes(values, most):
    y = np.array(values)
    x = np.arange(len(y), dtype=float)
    few_x, few_y = decimate(x, y, most)
    assert len(few_x) <= most or len(y) <= most
    assert (few_x[0], few_x[-1]) == (x[0], x[-1])
    assert (few_y.min(), few_y.max()) == (y.min(), y.max())
    assert (np.diff(few_x) > 0).all()
    assert (y[few_x.astype(int)] == few_y).all()


@given(st.floats(-1, 12), st.floats(-1, 12))
def test_a_part_of_a_line_ends_where_the_part_ends(one, other):
    low, high = sorted((one, other))
    part = cut(Line("a", X, 2 * X, "quiet", low=X, high=3 * X), (low, high))
    if low > 10 or high < 0:
        assert len(part.x) == 0
    else:
        assert (part.x[0], part.x[-1]) == (max(low, 0), min(high, 10))
        assert part.y == pytest.approx(2 * part.x)
        assert part.high == pytest.approx(3 * part.x)


def test_the_twin_has_the_numbers_of_the_chart():
    header, rows = DRAWING.table()
    assert header == ("seconds", "tried", "found")
    assert len(rows) == 5000
    assert rows[-1] == ("10.0", "5000", "1666")
    _, few = DRAWING.table(200)
    assert len(few) <= 200
    assert (few[0], few[-1]) == (rows[0], rows[-1])
    apart = Drawing("t", "x", "y", (TRIED, Line("b", X[:9].copy(), X[:9], "consistent")))
    header, rows = apart.table()
    assert header == ("line", "x", "y")
    assert {row[0] for row in rows} == {"tried", "b"}


def test_the_summary_tells_the_ends():
    assert "found 1,666 at 10.0" in DRAWING.summary()
    assert "no results yet" in Drawing("t", "x", "y", ()).summary()
    assert Drawing("t", "x", "y", ()).table() == (("x",), [])


@pytest.fixture
def chart(qtbot):
    chart = DrawnChart(Drawing(), fills=True)
    qtbot.addWidget(chart)
    chart.resize(600, 240)
    chart.show()
    chart.draw(DRAWING)
    qtbot.waitUntil(lambda: bool(drawn(chart)))
    return chart


def drawn(chart):
    """Return the items that draw the chart, once it has been painted."""
    return drawing_items(chart.canvas)


def lines(chart):
    """Return the points of the lines that are drawn thick."""
    shapes = [each for each in chart.canvas.laid.shapes if isinstance(each, Path)]
    return [each.lines[0] for each in shapes if each.thick == 1.6]


def texts(chart):
    shapes = [each for each in chart.canvas.laid.shapes if isinstance(each, Words)]
    return [each.text.replace("\u00a0", " ") for each in shapes]


def test_few_points_are_drawn(chart):
    assert len(lines(chart)) == 2
    assert all(len(line) <= 1000 for line in lines(chart))


def test_it_is_drawn_by_the_library(chart):
    kinds = {type(item).__module__.split(".")[0] for item in drawn(chart)}
    assert kinds == {"pyqtgraph", "PySide6"}
    curves = [item for item in drawn(chart) if hasattr(item, "getData")]
    assert max(len(curve.getData()[0]) for curve in curves) > 300


def test_what_was_drawn_is_not_drawn_again_when_it_is_shown_again(chart):
    before = drawn(chart)
    chart.hide()
    chart.show()
    assert set(drawn(chart)) == set(before)
    chart.hide()
    chart.draw(Drawing("t", "x", "y", (FOUND,)))
    chart.show()
    assert set(drawn(chart)) != set(before)


def test_while_nobody_looks_a_new_drawing_costs_nothing(chart, monkeypatch):
    chart.hide()
    monkeypatch.setattr(Drawing, "lay_out", None)
    chart.draw(Drawing("t", "x", "y", (FOUND,)))


def test_a_chart_of_hundreds_of_thousands_of_points_is_renewed_ten_times_a_second(chart):
    x = np.arange(300_000.0)
    seconds = []
    for place in range(5):
        both = tuple(Line(name, x, x + place, "quiet") for name in "ab")
        start = time.process_time()
        chart.draw(Drawing("Live", "seconds", "number", both))
        drawn(chart)
        seconds.append(time.process_time() - start)
    assert sorted(seconds)[2] < 0.1


def test_t_turns_to_the_table_and_back(qtbot, chart):
    chart.activateWindow()
    qtbot.waitUntil(chart.isActiveWindow)
    chart.setFocus()
    qtbot.keyClick(chart, Qt.Key.Key_T)
    assert chart._table.isVisible()
    assert chart._table.model().rowCount() == 200
    qtbot.keyClick(chart._table, Qt.Key.Key_T)
    assert not chart._table.isVisible()


def test_arrow_keys_read_the_numbers(qtbot, chart):
    chart.setFocus()
    qtbot.keyClick(chart, Qt.Key.Key_Left)
    assert "tried 5,000" in chart._reading.text()
    qtbot.keyClick(chart, Qt.Key.Key_Left)
    assert "tried 4,950" in chart._reading.text()
    qtbot.keyClick(chart, Qt.Key.Key_Right)
    assert chart.accessibleDescription().startswith("10.0 seconds: tried 5,000")


def test_the_mouse_reads_the_numbers_where_it_is(chart):
    axis = chart.canvas.laid.axis
    middle = QPoint(round((axis.left + axis.right) / 2), 90)
    move_mouse(chart.canvas, middle)
    read = chart._reading.text()
    assert float(read.split()[0]) == pytest.approx(5.0, abs=0.1)
    # a line stands there
    marked = [each for each in chart.canvas.laid.shapes if isinstance(each, Path)]
    (upright,) = (
        each.lines[0]
        for each in marked
        if each.colour == "undecided" and not each.dash and each.thick == 1.0
    )
    assert upright[0][0] == pytest.approx(middle.x(), abs=4)


def test_it_is_saved_light_and_whole(chart, tmp_path, qapp):
    for name, write in (
        ("chart.png", chart.write_png),
        ("chart.svg", chart.write_svg),
        ("chart.csv", chart.write_csv),
    ):
        write(tmp_path / name)
    image = QImage(str(tmp_path / "chart.png"))
    assert image.width() == 2 * chart._stack.width()
    assert image.pixelColor(2, 2) == Qt.GlobalColor.white
    inked = {image.pixelColor(x, y).name() for x in range(0, 900, 3) for y in range(0, 380, 3)}
    assert len(inked) > 20
    assert QSvgRenderer(str(tmp_path / "chart.svg")).isValid()
    assert ">tried</text>" in (tmp_path / "chart.svg").read_text(encoding="utf-8")
    rows = (tmp_path / "chart.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0] == "seconds,tried,found"
    assert len(rows) == 5001
    chart.copy_data()
    assert qapp.clipboard().text().startswith("seconds\ttried\tfound\n")
    chart.copy_image()
    assert not qapp.clipboard().image().isNull()


def test_an_empty_chart_says_so(qtbot, chart):
    chart.draw(Drawing("Found", "seconds", "people", ()))
    assert chart._empty.isVisible()
    assert "No data yet" in chart._empty.text()


def test_it_is_named(chart):
    assert chart.accessibleName() == DRAWING.title
    assert "1,666" in chart.accessibleDescription()


@pytest.mark.parametrize("mark", list(Mark))
def test_every_mark_is_drawn_within_the_axes(chart, mark):
    x = np.arange(4.0)
    y = np.array([0.2, 0.4, 0.3, 0.6])
    line = Line("a", x, y, "series 1", mark=mark)
    chart.draw(
        Drawing("t", "x", "y", (line,), y_digits=1, y_unit=" %", y_high=1.0, x_names=tuple("abcd"))
    )
    assert drawn(chart)
    assert chart.canvas.laid.axis is None
    places = {
        Mark.BARS: [each for each in chart.canvas.laid.shapes if isinstance(each, Box)],
        Mark.LINE: [],
    }.get(mark, [each for each in chart.canvas.laid.shapes if isinstance(each, Disc | Box)])
    assert len(places) == (0 if mark is Mark.LINE else 4)
    canvas = chart.canvas
    assert all(0 < each.x < canvas.width() and 0 < each.y < canvas.height() for each in places)
    said = {Mark.BARS: {"0.2 %", "0.4 %", "0.3 %", "0.6 %"}, Mark.LINE: {"a", "0.6 %"}}
    assert said.get(mark, {"a"}) <= set(texts(chart))
    assert set("abcd") <= set(texts(chart))


def test_an_interval_is_read_and_tabled(qtbot, chart):
    x = np.array([10.0, 20.0, 30.0])
    y = np.array([3.0, 4.0, 5.0])
    line = Line("estimate", x, y, "discriminatory", low=y - 1, high=y + 2)
    drawing = Drawing("t", "asked", "share", (line,))
    chart.draw(drawing)
    chart.setFocus()
    qtbot.keyClick(chart, Qt.Key.Key_Left)
    assert chart._reading.text() == "30 asked: estimate 5 (4 to 7)"
    assert drawing.table() == (
        ("asked", "estimate", "estimate, from", "estimate, to"),
        [("10", "3", "2", "5"), ("20", "4", "3", "6"), ("30", "5", "4", "7")],
    )


def drag(chart, begin, end):
    """Drag across the chart, from one share of its axis to another."""
    canvas, whole = chart.canvas, chart.canvas.laid.axis
    left, right = (0, canvas.width()) if whole is None else whole[:2]
    first, last = (QPoint(round(left + share * (right - left)), 40) for share in (begin, end))
    QTest.mousePress(canvas, Qt.MouseButton.LeftButton, pos=first)
    move_mouse(canvas, last, held=Qt.MouseButton.LeftButton)
    QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=last)


@pytest.fixture
def long(chart):
    x = np.linspace(0.0, 100.0, 501)
    chart.draw(Drawing("Long", "seconds", "number", (Line("all", x, 2 * x, "quiet"),), x_digits=1))
    return chart


def test_dragging_across_shows_that_part_and_a_double_click_all(long):
    drag(long, 0.4, 0.6)
    low, high = long.canvas.part
    assert (low, high) == pytest.approx((40, 60), abs=0.5)
    axis = long.canvas.laid.axis
    assert (axis.low, axis.high) == (low, high)
    (line,) = lines(long)
    assert (line[0][0], line[-1][0]) == pytest.approx((axis.left, axis.right))
    # what can be read is there too
    assert all(low <= float(spot.tip.split()[0]) <= high for spot in long.canvas.laid.spots)
    assert len(long.canvas.laid.spots) > 90
    QTest.mouseDClick(long.canvas, Qt.MouseButton.LeftButton, pos=QPoint(200, 40))
    assert long.canvas.part is None


def test_a_click_is_no_drag_and_keeps_the_place(long):
    drag(long, 0.5, 0.502)
    assert long.canvas.part is None
    assert float(long._reading.text().split()[0]) == pytest.approx(50, abs=1)


def test_plus_minus_and_escape_zoom_by_the_keyboard(qtbot, long):
    long.setFocus()
    qtbot.keyClicks(long, "+")
    low, high = long.canvas.part
    assert high - low == pytest.approx(50)
    qtbot.keyClicks(long, "+")
    low, high = long.canvas.part
    assert high - low == pytest.approx(25)
    # from now on around what is read
    qtbot.keyClick(long, Qt.Key.Key_Left)
    read = float(long._reading.text().split()[0])
    qtbot.keyClicks(long, "+")
    assert sum(long.canvas.part) / 2 == pytest.approx(read, abs=0.5)
    qtbot.keyClick(long, Qt.Key.Key_Escape)
    assert long.canvas.part is None


def test_what_streams_in_keeps_the_part_and_another_chart_shows_all(long):
    long.canvas.zoom((20.0, 30.0))
    x = np.linspace(0.0, 200.0, 501)
    long.draw(Drawing("Long", "seconds", "number", (Line("all", x, 2 * x, "quiet"),)))
    assert long.canvas.part == (20.0, 30.0)
    long.draw(Drawing("Other", "seconds", "number", (Line("all", x, 2 * x, "quiet"),)))
    assert long.canvas.part is None


def test_what_streams_in_keeps_what_is_read(qtbot, long):
    qtbot.keyClick(long, Qt.Key.Key_Right)
    assert long._reading.text() == "0.0 seconds: all 0"
    x = np.linspace(0.0, 200.0, 1001)
    long.draw(Drawing("Long", "seconds", "number", (Line("all", x, x + 1, "quiet"),)))
    assert long._reading.text() == "0 seconds: all 1"


def test_bars_with_names_are_not_zoomed(chart):
    x = np.arange(4.0)
    names = ("a", "b", "c", "d")
    bars = Line("all", x, x, "quiet", mark=Mark.BARS)
    chart.draw(Drawing("Bars", "kind", "number", (bars,), x_names=names))
    drag(chart, 0.2, 0.8)
    assert chart.canvas.part is None
