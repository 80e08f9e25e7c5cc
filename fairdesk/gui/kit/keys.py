"""Keys that work while the keyboard is in a part of the window, and are listed in its menus."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QPushButton, QWidget


class Found(NamedTuple):
    """Something of the open audit that can be found by typing a part of its name.

    Attributes
    ----------
    name : str
        What it is, and its name: ``Attribute: race``.
    show : callable
        Shows it; is called without arguments.
    """

    name: str
    show: Callable[[], object]


#: Set on a button that does what keys do, too.
_KEYED = "keyed"


class PartAction(QAction):
    """What keys do while a part of a page has the keyboard; a menu can do it from anywhere."""


def shortcut(
    widget: QWidget,
    keys: str | QKeySequence.StandardKey,
    run: Callable[[], object],
    text: str,
    *others: QWidget,
) -> PartAction:
    """Let keys do something while ``widget``, one of ``others``, or a part of them is in use.

    Parameters
    ----------
    text : str
        What it does, for menus and the list of shortcuts.
    """
    made = PartAction(text, widget)
    made.setShortcut(QKeySequence(keys))
    made.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
    made.triggered.connect(lambda _checked=False: run())
    for each in (widget, *others):
        each.addAction(made)
    return made


def actions_of(page: QWidget) -> Iterator[PartAction]:
    """Yield what keys do in the parts of a page that are on screen, each thing once."""
    told = set()
    for each in page.findChildren(PartAction):
        part = each.parent()
        shown = isinstance(part, QWidget) and (part is page or part.isVisibleTo(page))
        if shown and each.text() not in told:
            told.add(each.text())
            yield each


def keyed(*buttons: QPushButton) -> None:
    """Leave out of menus what buttons do, since `shortcut` has put it there."""
    for button in buttons:
        button.setProperty(_KEYED, True)  # noqa: FBT003 - Qt's own


def buttons_of(page: QWidget, owner: QObject) -> Iterator[QAction]:
    """Yield actions, which belong to ``owner``, that press the buttons of a page on screen.

    Those that keys press too are left out, and of buttons with the same name all but the first.
    """
    told = set()
    for button in page.findChildren(QPushButton):
        name = button.text() if button.text()[:1].isascii() else button.accessibleName()
        if not name or name in told or button.property(_KEYED) or not button.isVisibleTo(page):
            continue
        told.add(name)
        made = QAction(name, owner)
        made.setEnabled(button.isEnabled())
        made.triggered.connect(button.click)
        yield made
