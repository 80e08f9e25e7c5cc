import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtTest import QTest

from fairdesk.charts.kinds.lines import Drawing, Line, Mark, decimate
from fairdesk.gui.charts.chart import LineChart
from tests.gui.mouse import move_mouse

X = np.linspace(0, 10, 5000)
TRIED = Line("tried", X, np.cumsum(np.ones(5000)), "undecided", dashed=True)
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
    chart = LineChart()
    qtbot.addWidget(chart)
    chart.resize(600, 240)
    chart.show()
    chart.draw(DRAWING)
    qtbot.waitUntil(lambda: chart._plot is not None, timeout=30_000)
    chart.draw(DRAWING)
    return chart


def test_few_points_are_drawn(chart):
    curves = [item for item in chart._items if hasattr(item, "getData")]
    assert len(curves) == 2
    assert all(len(curve.getData()[0]) <= 1000 for curve in curves)


def test_what_was_drawn_is_not_drawn_again_when_it_is_shown_again(chart):
    drawn = chart._items
    chart.hide()
    chart.show()
    assert chart._items is drawn
    chart.hide()
    chart.draw(Drawing("t", "x", "y", (FOUND,)))
    assert chart._items is drawn
    chart.show()
    assert chart._items is not drawn


def test_t_turns_to_the_table_and_back(qtbot, chart):
    chart.activateWindow()
    qtbot.waitUntil(chart.isActiveWindow, timeout=10_000)
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
    assert "tried 4,900" in chart._reading.text()


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
    assert QSvgRenderer(str(tmp_path / "chart.svg")).isValid()
    lines = (tmp_path / "chart.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "seconds,tried,found"
    assert len(lines) == 5001
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
    line = Line("a", x, y, "series 1", low=y - 0.1, high=y + 0.1, mark=mark)
    chart.draw(
        Drawing("t", "x", "y", (line,), y_digits=1, y_unit=" %", y_high=1.0, x_names=tuple("abcd"))
    )
    (left, right), (bottom, top) = chart._plot.getPlotItem().getViewBox().viewRange()
    assert left <= -0.5
    assert right >= 3.5
    assert (bottom, top >= 1.0) == (0.0, True)
    texts = [item.toPlainText().strip() for item in chart._items if hasattr(item, "toPlainText")]
    assert [text.replace("\u00a0", " ") for text in texts] == {
        Mark.BARS: ["0.2 %", "0.4 %", "0.3 %", "0.6 %"],
        Mark.DOTS: ["a"],
    }.get(mark, ["a 0.6 %"])


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


def drag(chart, qtbot, begin, end):
    """Drag across the chart, from one share of its width to another."""
    ground = chart._plot.viewport()
    first, last = (QPoint(round(share * ground.width()), 40) for share in (begin, end))
    QTest.mousePress(ground, Qt.MouseButton.LeftButton, pos=first)
    move_mouse(ground, last, held=Qt.MouseButton.LeftButton)
    QTest.mouseRelease(ground, Qt.MouseButton.LeftButton, pos=last)


@pytest.fixture
def long(chart):
    x = np.linspace(0.0, 100.0, 501)
    chart.draw(Drawing("Long", "seconds", "number", (Line("all", x, 2 * x, "quiet"),), x_digits=1))
    return chart


def test_dragging_across_shows_that_part_and_a_double_click_all(qtbot, long):
    drag(long, qtbot, 0.4, 0.6)
    low, high = long.part
    assert 0 < low < high < 100
    (low_shown, high_shown), _up = long._plot.getPlotItem().viewRange()
    assert low_shown == pytest.approx(low)
    assert high_shown >= high
    (line,) = long._lines
    assert low - 1 < line.x[0] <= low
    assert high <= line.x[-1] < high + 1
    QTest.mouseDClick(long._plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(200, 40))
    assert long.part is None


def test_a_click_is_no_drag(qtbot, long):
    drag(long, qtbot, 0.5, 0.502)
    assert long.part is None


def test_plus_minus_and_escape_zoom_by_the_keyboard(qtbot, long):
    long.setFocus()
    qtbot.keyClicks(long, "+")
    low, high = long.part
    assert high - low == pytest.approx(50)
    qtbot.keyClicks(long, "+")
    assert long.part[1] - long.part[0] == pytest.approx(25)
    qtbot.keyClick(long, Qt.Key.Key_Right)
    assert long._reading.text()
    qtbot.keyClick(long, Qt.Key.Key_Escape)
    assert long.part is None


def test_what_streams_in_keeps_the_part_and_another_chart_shows_all(qtbot, long):
    long.zoom((20.0, 30.0))
    x = np.linspace(0.0, 200.0, 501)
    long.draw(Drawing("Long", "seconds", "number", (Line("all", x, 2 * x, "quiet"),)))
    assert long.part == (20.0, 30.0)
    long.draw(Drawing("Other", "seconds", "number", (Line("all", x, 2 * x, "quiet"),)))
    assert long.part is None


def test_bars_with_names_are_not_zoomed(qtbot, chart):
    x = np.arange(4.0)
    names = ("a", "b", "c", "d")
    bars = Line("all", x, x, "quiet", mark=Mark.BARS)
    chart.draw(Drawing("Bars", "kind", "number", (bars,), x_names=names))
    drag(chart, qtbot, 0.2, 0.8)
    assert chart.part is None
