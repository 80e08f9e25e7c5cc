"""Shortcuts: every one is in a menu, in the list of commands and on the sheet, said once."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QHelpEvent, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QListWidget, QPushButton, QToolTip

from fairdesk.gui.kit import parts
from fairdesk.gui.kit.hints import define_entries, without_mnemonic
from fairdesk.gui.kit.keys import PartAction, actions_of
from fairdesk.gui.kit.settings import Settings
from fairdesk.gui.main_window import MainWindow
from fairdesk.gui.menus import Shortcuts, commands
from fairdesk.gui.workspace.common.run_page import EXAMPLES, OVERVIEW, SHARE
from fairdesk.manual.terms import terms_in
from tests.gui.auditing import make_audit


@pytest.fixture
def window(qtbot, themed, tmp_path):
    made = MainWindow(Settings())
    qtbot.addWidget(made)
    made.resize(1280, 800)
    made.show()
    made.open_audit(make_audit(tmp_path))
    qtbot.waitUntil(lambda: made.workspace._session.loaded)
    yield made
    made.close_audit()


def offered(window):
    menus = [entry.menu() for entry in window.menuBar().actions() if entry.isVisible()]
    return dict(commands(menus))


def test_keys_of_a_page_are_in_its_menu(qtbot, window):
    window.workspace.show_page(EXAMPLES)
    qtbot.waitUntil(lambda: window.workspace.examples.detail.pair is not None)
    there = {name: each.shortcut().toString() for name, each in offered(window).items()}
    assert there["Page: Flag the pair"] == "F"
    assert there["Page: Next pair"] == "Alt+Down"
    window.workspace.show_page(OVERVIEW)
    assert "Page: Flag the pair" not in offered(window)


def test_an_action_of_the_menu_does_what_its_keys_do(qtbot, window):
    window.workspace.show_page(EXAMPLES)
    detail = window.workspace.examples.detail
    qtbot.waitUntil(lambda: detail.pair is not None)
    offered(window)["Page: Flag the pair"].trigger()
    qtbot.waitUntil(lambda: detail.pair.mark == "flagged")
    table = window.workspace.examples.pairs.table
    window.activateWindow()
    table.setFocus()
    qtbot.waitUntil(table.hasFocus)
    QTest.keyClick(table, Qt.Key.Key_F)
    qtbot.waitUntil(lambda: detail.pair.mark == "")


def test_every_part_of_every_page_says_what_its_keys_do(qtbot, window):
    workspace = window.workspace
    for name in workspace.page_names:
        workspace.show_page(name)
        for each in actions_of(workspace._pages.currentWidget()):
            assert each.text()
            assert not each.shortcut().isEmpty()
    # nothing has keys that no menu tells of
    assert not workspace.findChildren(QShortcut)
    assert workspace.findChildren(PartAction)


def test_the_sheet_is_made_of_the_commands(qtbot, window):
    window.workspace.show_page(EXAMPLES)
    expected = [name for name, each in offered(window).items() if not each.shortcut().isEmpty()]
    window.show_shortcuts()
    (sheet,) = window.findChildren(Shortcuts)
    told = [
        ": ".join(sheet.table.item(row, place).text() for place in (0, 1))
        for row in range(sheet.table.rowCount())
    ]
    assert told == expected
    assert "Page: Flag the pair" in told
    sheet.reject()


def test_actions_outlive_the_menus_that_show_them(qtbot, window, tmp_path):
    window.workspace.show_page(EXAMPLES)
    first = list(offered(window))
    assert list(offered(window)) == first
    (tmp_path / "other").mkdir()
    window.open_audit(make_audit(tmp_path / "other"))
    qtbot.waitUntil(lambda: window.workspace._session.loaded)
    offered(window)[f"View: Pages: {EXAMPLES}"].trigger()
    assert window.workspace.examples.isVisible()
    assert window.close_audit()
    assert not [name for name in offered(window) if name.startswith("Page: ")]


def test_pages_are_in_the_menu_with_their_keys(window):
    keys = {name: each.shortcut().toString() for name, each in offered(window).items()}
    assert keys[f"View: Pages: {OVERVIEW}"] == "Ctrl+1"


def hover(widget, place):
    event = QHelpEvent(QHelpEvent.Type.ToolTip, place, widget.mapToGlobal(place))
    QApplication.sendEvent(widget, event)


def test_terms_in_buttons_and_entries_are_defined(qtbot, themed):
    button = parts.push_button("Start cer&tification", lambda: None)
    qtbot.addWidget(button)
    button.show()
    (found, *_) = terms_in("Start certification")
    hover(button, QPoint(4, 4))
    assert found.term.title in QToolTip.text()
    entries = QListWidget()
    qtbot.addWidget(entries)
    entries.addItem("Certification")
    entries.item(0).setToolTip("Ctrl+6")
    define_entries(entries)
    entries.show()
    hover(entries.viewport(), entries.visualItemRect(entries.item(0)).center())
    assert "Ctrl+6" in QToolTip.text()
    assert found.term.title in QToolTip.text()


def test_a_tip_of_its_own_comes_before_a_definition(qtbot, themed):
    button = parts.push_button("Start cer&tification", lambda: None, tip="of its own")
    qtbot.addWidget(button)
    button.show()
    hover(button, QPoint(4, 4))
    assert QToolTip.text() == "of its own"


def test_buttons_without_keys_are_in_the_menu_of_the_page(qtbot, window):
    workspace = window.workspace
    for name in workspace.page_names:
        workspace.show_page(name)
        there = offered(window)
        names = {entry.removeprefix("Page: ") for entry in there if entry.startswith("Page: ")}
        page = workspace._pages.currentWidget()
        for button in page.findChildren(QPushButton):
            if button.isVisible() and button.text()[:1].isascii() and button.text():
                said = without_mnemonic(button.text())
                assert said in names or button.property("keyed"), (name, said)
    # what keys do is told once
    workspace.show_page(EXAMPLES)
    qtbot.waitUntil(lambda: workspace.examples.detail.pair is not None)
    assert not [name for name in offered(window) if name in ("Page: Why?", "Page: ⚑ Flag")]


def test_a_button_is_pressed_by_the_menu(qtbot, window):
    workspace = window.workspace
    workspace.show_page(SHARE)
    button = next(each for each in workspace.share.findChildren(QPushButton) if each.isVisible())
    with qtbot.waitSignal(button.clicked):
        offered(window)[f"Page: {without_mnemonic(button.text())}"].trigger()
