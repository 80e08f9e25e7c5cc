"""Charts of the kit in the window: pointed at, walked, chosen, and taken away."""

import csv
import threading

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QMouseEvent
from PySide6.QtWidgets import QGraphicsSimpleTextItem

from fairdesk.charts import svg
from fairdesk.charts.kinds.bars import Counts
from fairdesk.charts.kinds.forest import Forest
from fairdesk.charts.kinds.heat import Heat
from fairdesk.charts.kinds.lines import Drawing, Line
from fairdesk.charts.kinds.shares import ShareBar, ShareBars
from fairdesk.charts.shapes import Box, Disc, Path, Words
from fairdesk.gui.charts import canvas
from fairdesk.gui.charts.canvas import load_library
from fairdesk.gui.charts.drawn import DrawnChart, Picture
from fairdesk.gui.kit import theme
from fairdesk.gui.kit.parts import Card
from tests.charts.reading import PAPER
from tests.charts.test_heat import BOTH
from tests.gui.charts.drawing import drawing_items
from tests.gui.counting import table

RACE = table()


def plain(text):
    return text.replace("\u00a0", " ")


@pytest.fixture
def shown(qtbot, themed):
    def show(empty, drawing):
        load_library()
        made = DrawnChart(empty)
        qtbot.addWidget(made)
        made.resize(700, 300)
        made.draw(drawing)
        made.show()
        made.activateWindow()
        qtbot.waitUntil(made.isActiveWindow)
        return made

    return show


class _Windows(QObject):
    """Notes what is shown as a window of its own."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def eventFilter(self, watched, event):  # noqa: N802 - Qt's name
        if event.type() is QEvent.Type.Show and watched.isWidgetType() and watched.isWindow():
            self.seen.append(watched)
        return False


@pytest.mark.parametrize("empty", [Forest(), Heat(), Drawing("Rates", "", "", ())])
def test_a_chart_that_is_made_later_is_no_window_for_a_moment(qtbot, themed, empty):
    windows = _Windows()
    themed.installEventFilter(windows)
    qtbot.addWidget(DrawnChart(empty))
    themed.removeEventFilter(windows)
    assert windows.seen == []


@pytest.fixture
def plot(shown):
    return shown(Forest(), Forest(RACE, "Approved, by race", "applicant"))


@pytest.fixture
def heat(shown):
    return shown(Heat(), Heat(BOTH, "Approved, by sex and age group", "applicant"))


def middle(chart, key):
    spot = next(spot for spot in chart.canvas.laid.spots if spot.key == key)
    return QPointF(spot.x + spot.wide / 2, spot.y + spot.tall / 2)


def test_the_screen_has_the_colours_of_the_theme(plot, qapp):
    def colours():
        image = plot.canvas.grab().toImage()
        return {
            image.pixelColor(x, y).name()
            for x in range(image.width())
            for y in (middle(plot, 1).toPoint().y() + 9, 1)
        }

    assert plot.palette().window().color().name() in colours()
    plot.choose(1)
    assert theme.LIGHT.tint.lower() in colours()
    theme.apply(qapp, "dark")
    assert theme.DARK.tint.lower() in colours()


def test_it_is_as_high_as_what_it_shows(plot):
    before = plot.height()
    plot.draw(Forest(table({(f"group {i}",): (1000 - i, 500) for i in range(37)})))
    assert plot.height() > 2 * before
    assert plot._heading.text().endswith("the 30 largest of 37 groups")
    assert plot.canvas.height() >= plot.canvas.laid.height - 1


def test_hovering_tells_the_numbers_and_a_click_chooses_the_group(plot, qtbot):
    seen = []
    plot.chosen.connect(seen.append)
    canvas = plot.canvas
    at = middle(plot, 1)
    # to this widget itself: the cursor may be over a window that another test has left open
    nothing = Qt.MouseButton.NoButton, Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    moved = QMouseEvent(QEvent.Type.MouseMove, at, canvas.mapToGlobal(at), *nothing)
    QCoreApplication.sendEvent(canvas, moved)
    assert canvas.marked.pointed == 1
    assert plain(plot._reading.text()).startswith("Hispanic: 75.7 % (84 of 111 applicants)")
    assert "Hispanic" in canvas.toolTip()
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


def test_arrow_keys_walk_all_cells_and_choose_the_groups(heat, qtbot):
    seen = []
    heat.chosen.connect(seen.append)
    keys = (Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Left)
    for key in (Qt.Key.Key_Down, *keys):
        qtbot.keyClick(heat, key)
    assert heat.chosen_key == heat.drawing.key(2, 0)
    assert heat._reading.text() == "old, female: empty"
    assert seen == [0, 0 + 2, 3, 4, 4]


def test_a_click_chooses_the_cell_under_it(heat, qtbot):
    seen = []
    heat.chosen.connect(seen.append)
    qtbot.mouseClick(heat.canvas, Qt.MouseButton.LeftButton, pos=middle(heat, 1).toPoint())
    assert (seen, heat.chosen_key) == ([1], 1)
    heat.choose(4)
    assert heat.chosen_key == 4
    assert seen == [1]


def test_what_is_chosen_is_forgotten_where_it_is_no_longer_shown(plot):
    plot.choose(2)
    plot.draw(Forest(table({("a",): (50, 10), ("b",): (60, 9), ("c",): (60, 8)})))
    assert plot.chosen_key == 2
    plot.draw(Forest(table({("a",): (50, 10)})))
    assert plot.chosen_key is None


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
    written = (tmp_path / "rates.svg").read_text(encoding="utf-8")
    assert ">White</text>" in written
    assert theme.LIGHT.consistent in written
    assert theme.DARK.consistent not in written


def test_it_tells_itself_in_words_for_those_who_do_not_see_it(plot):
    assert plot.accessibleName() == "Approved, by race"
    assert "observed" in plot.accessibleDescription()
    assert "Hispanic" in plot.accessibleDescription()


def test_of_nothing_nothing_is_drawn(heat, qtbot):
    heat.draw(Heat(table()))
    assert heat.drawing.empty
    heat.grab()
    qtbot.keyClick(heat, Qt.Key.Key_Down)
    assert heat.chosen_key is None


def drag(chart, qtbot, begin, end):
    """Drag from one share of the axis to another; gives the values at both."""
    canvas, axis = chart.canvas, chart.canvas.laid.axis
    x = [int(axis.left + share * (axis.right - axis.left)) for share in (begin, end)]
    y = int(chart.canvas.laid.spots[0].y) + 4
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=QPoint(x[0], y))
    for at in (sum(x) // 2, x[1]):
        move = QPointF(at, y)
        event = QMouseEvent(
            QEvent.Type.MouseMove,
            move,
            canvas.mapToGlobal(move),
            Qt.MouseButton.NoButton,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        QCoreApplication.sendEvent(canvas, event)
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=QPoint(x[1], y))
    return [axis.value(each) for each in x]


def marks(chart):
    """Return where the marks of rates stand."""
    kinds = (Disc, Box)
    return [
        shape.x
        for shape in chart.canvas.laid.shapes
        if isinstance(shape, kinds) and shape.fill == "ground"
    ]


def test_dragging_across_a_forest_plot_shows_that_part(plot, qtbot):
    whole, height = plot.canvas.laid.axis, plot.canvas.laid.height
    drawn, seen = len(marks(plot)), []
    plot.chosen.connect(seen.append)
    # from a little left of the last mark
    begin = (marks(plot)[-1] - 20 - whole.left) / (whole.right - whole.left)
    low, high = drag(plot, qtbot, begin, 0.99)
    axis = plot.canvas.laid.axis
    assert (axis.low, axis.high) == pytest.approx((low, high))
    assert plot.canvas.laid.height == height
    # rates beside the part are not drawn at its edge
    assert 0 < len(marks(plot)) < drawn
    assert all(axis.left <= x <= axis.right for x in marks(plot))
    # a drag chooses nobody, a click does
    assert seen == []
    qtbot.mouseClick(plot.canvas, Qt.MouseButton.LeftButton, pos=middle(plot, 1).toPoint())
    assert seen == [1]
    assert plot.canvas.part is not None
    qtbot.mouseDClick(plot.canvas, Qt.MouseButton.LeftButton, pos=middle(plot, 1).toPoint())
    assert plot.canvas.laid.axis == whole


def test_a_forest_plot_is_zoomed_by_the_keyboard(plot, qtbot):
    whole = plot.canvas.laid.axis
    plot.setFocus()
    qtbot.keyClicks(plot, "++")
    axis = plot.canvas.laid.axis
    assert axis.high - axis.low == pytest.approx((whole.high - whole.low) / 4)
    qtbot.keyClicks(plot, "-----")
    assert plot.canvas.laid.axis == whole
    qtbot.keyClicks(plot, "+")
    qtbot.keyClick(plot, Qt.Key.Key_Escape)
    assert plot.canvas.laid.axis == whole


def test_a_heat_map_has_no_axis_to_zoom(heat, qtbot):
    assert heat.canvas.laid.axis is None
    qtbot.keyClicks(heat, "+")
    assert heat.canvas.part is None


def test_the_ground_of_a_text_is_that_of_the_card_below_it(qtbot, themed):
    bars = (ShareBar("all", "4 %", False, 0.04, 0.03, 0.05, 0.02, 0.06),)
    card, picture = Card(), Picture(ShareBars(bars))
    card.body.addWidget(picture)
    qtbot.addWidget(card)
    card.resize(400, 200)
    card.show()
    # between the name at the left and the number at the right, below the scale
    high = int(picture.laid.spots[0].y) + 4
    ground = picture.grab().toImage().pixelColor(picture.width() // 2, high)
    assert ground.name() == QColor(theme.colours().card).name()


def test_bars_of_shares_are_zoomed_and_still_begin_at_nothing(qtbot, themed):
    bars = (
        ShareBar("all", "4 %", True, 0.04, 0.04, 0.04, 0.04, 0.04),
        ShareBar("sex", "40 %", False, 0.4, 0.38, 0.42, 0.36, 0.44),
    )
    picture = Picture(ShareBars(bars), "Press it")
    qtbot.addWidget(picture)
    picture.resize(400, 200)
    whole = picture.laid.axis
    assert whole.high == pytest.approx(1.08 * 0.44)
    picture.zoom((0.0, 0.1))
    exact, hatched = (
        each for each in picture.laid.shapes if isinstance(each, Box) and each.fill != "ground"
    )
    assert (exact.x, exact.wide) == pytest.approx((0.0, 0.4 * 400))
    assert hatched.wide < 400
    # what goes on beyond ends at the edge
    ends = [
        x
        for each in picture.laid.shapes
        if isinstance(each, Path)
        for line in each.lines
        for x, _ in line
    ]
    assert max(ends) <= 400
    picture.zoom(None)
    assert picture.laid.axis == whole


def test_the_ground_of_a_chart_is_that_of_the_card_below_it(qtbot, themed):
    card, picture = Card(), Picture(Counts("Pairs", "pairs", [("sex", 3)], 4))
    card.body.addWidget(picture)
    qtbot.addWidget(card)
    card.resize(400, 200)
    card.show()
    qtbot.waitUntil(lambda: bool(drawing_items(picture)))
    shown = card.grab().toImage()
    # between the name at the left and the number at the right
    between = picture.geometry().topLeft() + QPoint(picture.width() // 2, 8)
    assert shown.pixelColor(between).name() == QColor(theme.colours().card).name()


def test_a_chart_keeps_its_room_until_what_draws_it_is_loaded(qtbot, themed, monkeypatch):
    library, there = load_library(), threading.Event()
    monkeypatch.setattr(canvas, "loaded", lambda: False)
    monkeypatch.setattr(canvas, "load_library", lambda: there.wait(30) and library)
    picture = Picture(Counts("Pairs", "pairs", [("sex", 3), ("race", 2)], 4))
    qtbot.addWidget(picture)
    picture.show()
    high = picture.height()
    assert not drawing_items(picture)
    there.set()
    qtbot.waitUntil(lambda: bool(drawing_items(picture)))
    assert picture.height() == high > 50


@pytest.mark.parametrize(
    "drawing",
    [
        Drawing("t", "x", "y", (Line("a", np.arange(9.0), np.arange(9.0), "series 0"),)),
        Forest(RACE, "Approved, by race", "applicant"),
        Heat(BOTH),
        ShareBars((ShareBar("all", "4 %", False, 0.04, 0.03, 0.05, 0.02, 0.06),)),
    ],
    ids=lambda drawing: type(drawing).__name__,
)
def test_the_window_draws_what_the_description_lays_out_and_paper_too(qtbot, themed, drawing):
    load_library()
    picture = Picture(drawing)
    qtbot.addWidget(picture)
    picture.resize(500, 200)
    picture.show()
    items = drawing_items(picture)
    said = [item.text() for item in items if isinstance(item, QGraphicsSimpleTextItem)]
    assert sorted(said) == sorted(
        shape.text for shape in picture.laid.shapes if isinstance(shape, Words)
    )
    library = [item for item in items if type(item).__module__.startswith("pyqtgraph")]
    assert len(library) + len(said) == len(items)
    assert library
    written = svg.escape(min(said, key=len))
    assert f">{written}<" in "".join(svg.drawn(drawing.lay_out(PAPER).shapes))
