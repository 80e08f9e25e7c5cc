"""What all pages of an audit have in common: where their titles stand, and what is filled."""

import pytest
from PySide6.QtCore import QCoreApplication, QPoint
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.store.records import RunState
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.pages import draw_icon
from fairdesk.gui.workspace.common import run_page
from fairdesk.gui.workspace.shell.run_bar import RunBar


@pytest.fixture
def known(qtbot, opened, path):
    workspace = opened(path)
    qtbot.waitUntil(lambda: workspace.examples._stack.currentIndex() == 1, timeout=10_000)
    return workspace


def title_of(workspace):
    page = workspace._pages.currentWidget()
    shown = [each for each in page.findChildren(QWidget, "title") if each.isVisible()]
    return shown[0] if shown else None


def test_titles_stand_at_one_place_whatever_stands_beside_them(qtbot, known):
    places = {}
    for name in known.page_names:
        known.show_page(name)
        title = title_of(known)
        if title is not None:
            middle = title.mapTo(known, QPoint(0, title.height() // 2))
            places[name] = (middle.x(), middle.y())
    assert len(places) >= 7
    assert run_page.EXAMPLES in places
    assert len(set(places.values())) == 1, places


def test_at_most_one_button_of_a_page_is_filled(qtbot, known):
    for name in known.page_names:
        known.show_page(name)
        page = known._pages.currentWidget()
        filled = [
            each.text()
            for each in page.findChildren(QPushButton)
            if each.property("filled") and each.isVisible() and each.isEnabled()
        ]
        assert len(filled) <= 1, name


def test_every_page_has_an_icon_in_the_colour_of_the_theme(qtbot, themed):
    from PySide6.QtCore import QRectF
    from PySide6.QtGui import QColor, QImage, QPainter

    assert len(run_page.ICONS) == len(run_page.NAMES)
    pictures = []
    for name in run_page.ICONS:
        image = QImage(40, 40, QImage.Format.Format_ARGB32)
        image.fill(0)
        painter = QPainter(image)
        draw_icon(painter, QRectF(0, 0, 40, 40), name, "#ff0000")
        painter.end()
        drawn = [
            image.pixelColor(x, y)
            for x in range(40)
            for y in range(40)
            if image.pixelColor(x, y).alpha() > 200
        ]
        assert len(drawn) > 50
        assert all(colour.rgb() & 0xFFFF == QColor("#ff0000").rgb() & 0xFFFF for colour in drawn)
        pictures.append(bytes(image.constBits()))
    assert len(set(pictures)) == len(pictures)


def test_steps_take_one_line_each_where_the_window_is_low(qtbot, known):
    steps = known.steps
    two = steps.visualItemRect(steps.item(0)).height()
    known.resize(960, 470)
    qtbot.waitUntil(lambda: steps.visualItemRect(steps.item(0)).height() < two)
    last = steps.item(steps.count() - 1)
    assert steps.visualItemRect(last).bottom() <= steps.viewport().height()
    known.resize(1280, 900)
    qtbot.waitUntil(lambda: steps.visualItemRect(steps.item(0)).height() == two)
    assert theme.colours()


@pytest.mark.parametrize("wide", [944, 1000, 1060, 1120, 1264])
def test_the_bar_of_the_run_slices_no_text(qtbot, themed, wide):
    bar, around = RunBar(), QWidget()
    qtbot.addWidget(around)
    layouts.column(bar, on=around)
    around.setFixedWidth(wide)
    around.show()
    run = RunSpec("maft", budget=Budget(seconds=600.0))
    bar.show_beginning(run)
    bar.show_live(
        RunState(1, "maft", "running", found=234_567, tried=7_654_321, queries=123_456_789), run
    )
    qtbot.waitUntil(lambda: bar.width() == wide)
    QCoreApplication.processEvents()
    for each in bar.findChildren(QLabel):
        # the two lines that name the run end in "…"
        if each.isVisible() and each not in (bar._method, bar._standing):
            assert each.width() >= each.sizeHint().width(), each.text()
