"""Keys that work while the keyboard is in a part of the window, and are listed in its menus."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget


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
    widget : QWidget
        Owns the action.
    keys : str or StandardKey
        What is pressed.
    run : callable
        Is called without arguments.
    text : str
        What it does, for menus and the list of shortcuts.
    *others : QWidget
        Where the keys work too.
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
