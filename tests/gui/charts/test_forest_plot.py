"""Rates of groups with their intervals: what is drawn where, and what it tells in words."""

import csv

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter

from fairdesk.gui.charts.forest_plot import MOST, Forest, ForestPlot
from fairdesk.gui.charts.group_marks import told
from fairdesk.gui.kit import theme
from tests.gui.counting import BOSTON, table

RACE = table()


def plain(text):
    return text.replace("\u00a0", " ")


@pytest.fixture
def plot(qtbot, themed):
    made = ForestPlot()
    qtbot.addWidget(made)
    made.resize(700, 300)
    made.draw(Forest(RACE, "Approved, by race", "applicant"))
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow, timeout=10_000)
    return made


def middle(plot, place):
    canvas = plot._canvas
    line = plot.drawing.groups.lines[place]
    return QPointF(canvas._x(line.rate), canvas._tops()[place] + canvas._row / 2)


def test_a_group_is_told_with_its_counts_interval_and_ratio():
    assert plain(told(RACE.lines[0], "applicant")) == (
        "Black: 67.5 % (133 of 197 applicants), 95 % interval 60.7 to 73.7; impact ratio 0.74; "
        "below four fifths of the highest rate"
    )
    assert plain(told(RACE.lines[2], "applicant")).startswith("White: 90.84 % (1,527 of 1,681")


def test_nobody_in_a_group_is_undefined_and_never_a_number():
    counted = table({**BOSTON, ("Asian",): (0, 0)})
    assert told(counted.lines[3], "applicant") == "Asian: nobody, so the rate is undefined"
    assert "nan" not in str(Forest(counted).table()).lower()
    assert Forest(counted).table()[1][3][3:7] == ("undefined",) * 4


def test_without_anybody_favoured_no_line_is_drawn_and_nothing_breaks(plot):
    plot.draw(Forest(table({("a",): (50, 0), ("b",): (60, 0)})))
    plot.grab()
    assert plot.drawing.table()[1][0][6] == "undefined"


def test_unknown_groups_stand_apart_below_the_others():
    counted = table({("Unknown",): (30, 20), **BOSTON}, unknown=("Unknown",))
    forest = Forest(counted)
    assert forest.places == (1, 2, 3, 0)
    assert "group unknown, not compared" in told(counted.lines[0], "applicant")


def test_small_groups_are_marked_as_left_out_of_the_comparison():
    counted = table({**BOSTON, ("Asian",): (9, 9)})
    assert told(counted.lines[3], "applicant").endswith("; too few to be compared")
    assert counted.lines[counted.reference].values == ("White",)


def test_of_many_groups_the_largest_are_drawn_and_all_are_in_the_table(plot):
    counts = {(f"group {i}",): (1000 - i, 500) for i in range(MOST + 7)}
    plot.draw(Forest(table(counts)))
    assert len(plot.drawing.places) == MOST
    assert plot._heading.text().endswith("the 30 largest of 37 groups")
    assert len(plot.drawing.table()[1]) == MOST + 7


def test_marks_stand_where_their_rates_are_with_the_line_and_the_band(plot):
    canvas = plot._canvas
    left, right = canvas._sides()
    assert canvas._x(0.0) == left
    assert canvas._x(plot.drawing.reach) == right
    image = canvas.grab().toImage()
    ratio = image.devicePixelRatio()

    def colour(x, y):
        return QColor(image.pixel(round(x * ratio), round(y * ratio)))

    top = canvas._tops()[1] + 2
    inside = colour((left + canvas._x(0.8 * RACE.lines[2].rate)) / 2 + 9, top)
    outside = colour(canvas._x(0.97 * RACE.lines[2].rate), top)
    assert inside.red() > inside.blue()
    assert outside == plot.palette().window().color()
    # every mark is an outline: what it tells was observed
    assert colour(middle(plot, 2).x() + 2, middle(plot, 2).y() + 2) == outside


def test_hovering_tells_the_numbers_and_a_click_chooses_the_group(plot, qtbot):
    seen = []
    plot.chosen.connect(seen.append)
    canvas = plot._canvas
    assert canvas.under(middle(plot, 1)) == 1
    canvas.pointed.emit(1)
    assert plain(plot._reading.text()).startswith("Hispanic: 75.7 % (84 of 111 applicants)")
    qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=middle(plot, 2).toPoint())
    assert seen == [2]
    canvas.leaveEvent(QEvent(QEvent.Type.Leave))
    assert plot._reading.text().startswith("White")


def test_the_arrow_keys_walk_the_groups_and_stop_at_the_ends(plot, qtbot):
    seen = []
    plot.chosen.connect(seen.append)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up):
        qtbot.keyClick(plot, key)
    assert seen == [0, 1, 2, 2, 1]
    assert plot.accessibleDescription().startswith("Hispanic")


def test_t_shows_the_table_and_the_data_can_be_taken_away(plot, qtbot, tmp_path):
    qtbot.keyClick(plot, Qt.Key.Key_T)
    assert plot._stack.currentWidget() is plot._table
    plot.copy_data()
    assert QGuiApplication.clipboard().text().splitlines()[1].startswith("Black\t197\t133\t67.51")
    plot.write_csv(tmp_path / "rates.csv")
    with (tmp_path / "rates.csv").open(encoding="utf-8", newline="") as stream:
        assert [row[:3] for row in csv.reader(stream)][3] == ["White", "1681", "1527"]


def test_a_saved_picture_is_light_and_like_the_one_on_the_screen(plot, tmp_path, qapp):
    theme.apply(qapp, "dark")
    plot.write_png(tmp_path / "rates.png")
    plot.write_svg(tmp_path / "rates.svg")
    image = QImage(str(tmp_path / "rates.png"))
    assert QColor(image.pixel(image.width() - 3, image.height() - 3)) == QColor("white")
    assert "White" in (tmp_path / "rates.svg").read_text(encoding="utf-8")


def test_names_that_are_too_long_are_cut_and_never_cover_the_rates(plot):
    counted = table({("x" * 300,): (100, 40), ("b",): (100, 60)})
    plot.draw(Forest(counted))
    left, right = plot._canvas._sides()
    assert left < 0.4 * plot._canvas.width()
    assert right - left >= 60
    painter = QPainter(image := QImage(700, 300, QImage.Format.Format_RGB32))
    plot._render(painter)
    painter.end()
    assert not image.isNull()


def test_it_tells_itself_in_words_for_those_who_do_not_see_it(plot):
    assert plot.accessibleName() == "Approved, by race"
    assert "observed" in plot.accessibleDescription()
    assert "Hispanic" in plot.accessibleDescription()
