"""Definitions of terms under the pointer, in labels and in the heads of tables."""

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QEnterEvent, QHelpEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QTableWidget, QToolTip, QWidget

from fairdesk.gui.kit.fields import labelled
from fairdesk.gui.kit.hints import Defined
from fairdesk.gui.kit.parts import Words
from fairdesk.gui.kit.tables import head_columns, read_only
from fairdesk.manual.terms import glossary

LONG = "Certification shows for which part of the input domain the decision cannot change. " * 4


@pytest.fixture
def point_at(monkeypatch):
    """Rest the pointer at a place of a widget; gives the definition that is shown."""
    texts = []
    monkeypatch.setattr(QToolTip, "showText", lambda _at, text, *_where: texts.append(text))

    def point(widget, place):
        texts.clear()
        at, above = QPointF(place), QPointF(widget.mapToGlobal(place))
        for event in (
            QEnterEvent(at, at, above),
            QHelpEvent(QEvent.Type.ToolTip, place, above.toPoint()),
            QEvent(QEvent.Type.Leave),
        ):
            QApplication.sendEvent(widget, event)
        return "".join(texts)

    return point


@pytest.fixture
def shown(qtbot, themed):
    def show(widget, width=300, height=None):
        qtbot.addWidget(widget)
        widget.resize(width, height or widget.heightForWidth(width))
        widget.show()
        return widget

    return show


def places(label, title):
    """Return the places of a label at which a term is found."""
    return [
        QPoint(x, y)
        for y in range(0, label.height(), 3)
        for x in range(0, label.width(), 4)
        if (term := label.term_at(QPoint(x, y))) is not None and term.title == title
    ]


def test_the_term_under_the_pointer_is_defined(shown, point_at):
    label = shown(Words("A query of the model, then a certification.", wrap=False), 320, 24)
    [query] = [each for each in glossary() if each.title == "Query"]
    at = QPoint(label.fontMetrics().horizontalAdvance("A qu"), 12)
    assert query.plain in point_at(label, at)
    before = QPoint(label.fontMetrics().horizontalAdvance("A query of the mo"), 12)
    assert point_at(label, before) == ""


def test_a_term_is_found_where_a_long_text_draws_it(shown):
    label = shown(Words(LONG), 300)
    found = places(label, "Input domain")
    metrics = label.fontMetrics()
    # as often as the text has it: as wide as its letters, at every third line of pixels
    expected = 4 * metrics.horizontalAdvance("input domain") / 4 * metrics.height() / 3
    assert expected * 0.7 < len(found) < expected * 1.4


def test_a_tooltip_of_its_own_goes_first(shown, point_at):
    label = shown(Words("A query", wrap=False), 200, 24)
    label.setToolTip("mine")
    assert point_at(label, QPoint(label.fontMetrics().horizontalAdvance("A qu"), 12)) == ""


def test_labels_of_fields_define_their_terms(shown, point_at):
    holder = QWidget()
    holder.setLayout(labelled("&Protected attribute", QLineEdit()))
    shown(holder, 300, 80)
    label = holder.findChild(Defined)
    assert places(label, "Protected attribute")
    assert "decision" in point_at(label, QPoint(30, label.height() // 2))


def test_the_head_of_a_table_defines_its_term(shown, point_at):
    table = QTableWidget(1, 2)
    head_columns(table, ("Impact ratio", "Name"))
    read_only(table, "Groups")
    shown(table, 300, 120)
    ground = table.horizontalHeader().viewport()
    assert "reference group" in point_at(ground, QPoint(20, 8))
    assert point_at(ground, QPoint(table.columnWidth(0) + 20, 8)) == ""
    table.horizontalHeaderItem(0).setData(Qt.ItemDataRole.ToolTipRole, "mine")
    assert point_at(ground, QPoint(20, 8)) == ""
