"""A list in which nothing is chosen yet: the keyboard opens it, and takes what it points at."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit

from fairdesk.data.table import Column, Kind
from fairdesk.gui.kit import layouts
from fairdesk.gui.kit.fields import Choice, labelled
from fairdesk.gui.wizard.data.fields import FavourableField

GRADES = ("good", "fair", "poor")


@pytest.fixture
def shown(qtbot, themed):
    """Show widgets in the active window."""
    kept = []

    def show(*items):
        window = layouts.panel(*items)
        kept.append(window)
        qtbot.addWidget(window)
        window.show()
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        return window

    yield show
    kept.clear()


def open_list(qtbot, choice):
    choice.showPopup()
    qtbot.waitUntil(choice.view().isVisible)
    return choice.view()


def test_the_first_down_in_an_open_list_takes_the_first_entry(qtbot, shown):
    choice = Choice("Choose a grade…")
    choice.addItems(GRADES)
    choice.setCurrentIndex(-1)
    shown(choice)
    view = open_list(qtbot, choice)
    qtbot.keyClick(view, Qt.Key.Key_Down)
    assert view.currentIndex().data() == "good"
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert choice.currentText() == "good"
    # where something is chosen, it goes on from there
    view = open_list(qtbot, choice)
    qtbot.keyClick(view, Qt.Key.Key_Down)
    assert view.currentIndex().data() == "fair"


@pytest.mark.parametrize("key", [Qt.Key.Key_Down, Qt.Key.Key_P])
def test_a_key_on_a_closed_list_opens_it_and_commits_nothing(qtbot, shown, key):
    choice = Choice("Choose a grade…", deliberate=True)
    choice.addItems(GRADES)
    choice.setCurrentIndex(-1)
    taken = []
    choice.activated.connect(taken.append)
    shown(choice)
    choice.setFocus()
    qtbot.keyClick(choice, key)
    qtbot.waitUntil(choice.view().isVisible)
    assert not taken
    if key == Qt.Key.Key_P:
        assert choice.view().currentIndex().data() == "poor"
    else:
        qtbot.keyClick(choice.view(), key)
    qtbot.keyClick(choice.view(), Qt.Key.Key_Return)
    assert taken == [GRADES.index("poor" if key == Qt.Key.Key_P else "good")]


def test_the_key_of_a_label_reaches_a_field_of_several_parts(qtbot, shown):
    field, other = FavourableField(), QLineEdit()
    field.show_outcome(Column("grade", Kind.NOMINAL, GRADES), GRADES, "")
    window = shown(other, labelled("Fa&vourable outcome", field))
    other.setFocus()
    qtbot.keyClick(other, Qt.Key.Key_V, Qt.KeyboardModifier.AltModifier)
    assert field.combo.hasFocus()
    (label,) = window.findChildren(QLabel)
    assert isinstance(label.buddy(), QComboBox)


def test_one_of_two_values_is_pressed_and_more_are_listed(qtbot, shown):
    field, other = FavourableField(), QLineEdit()
    window = shown(other, labelled("Fa&vourable outcome", field))
    paid = Column("paid", Kind.NOMINAL, ("no", "yes & more"))
    field.show_outcome(paid, paid.values, "")
    no, yes = field.either
    assert not field.combo.isVisible()
    assert not any(each.isChecked() for each in field.either)
    assert yes.text() == "yes && more"
    other.setFocus()
    qtbot.keyClick(other, Qt.Key.Key_V, Qt.KeyboardModifier.AltModifier)
    assert no.hasFocus()
    with qtbot.waitSignal(field.chosen) as chosen:
        qtbot.mouseClick(yes, Qt.MouseButton.LeftButton)
    assert chosen.args == ["yes & more"]
    assert (no.isChecked(), yes.isChecked()) == (False, True)
    # by a tick too: the keyboard's frame may be around the other; Alt+V goes to the chosen one
    assert (no.text(), yes.text()) == ("no", "✓  yes && more")
    other.setFocus()
    qtbot.keyClick(other, Qt.Key.Key_V, Qt.KeyboardModifier.AltModifier)
    assert yes.hasFocus()
    field.combo.setCurrentIndex(0)
    field.combo.activated.emit(0)
    assert (no.isChecked(), yes.isChecked()) == (True, False)
    # another column: nothing of it is chosen
    field.show_outcome(paid, paid.values, "")
    assert not any(each.isChecked() for each in field.either)
    field.show_outcome(Column("grade", Kind.NOMINAL, GRADES), GRADES, "fair")
    assert field.combo.isVisible()
    assert not yes.isVisible()
    assert window.findChildren(QLabel)[0].buddy() == field.combo
    # what was chosen of a column of two values may be something else
    field.show_outcome(Column("paid", Kind.INTEGER), ("0", "1"), ">= 1")
    assert field.combo.isVisible()
