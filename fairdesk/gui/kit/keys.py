"""Keys that work while the keyboard is in a part of the window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget


def shortcut(
    widget: QWidget, keys: str | QKeySequence.StandardKey, run: Callable[[], object]
) -> QShortcut:
    """Let keys do something while ``widget`` or a part of it has the keyboard."""
    made = QShortcut(QKeySequence(keys), widget)
    # the constructor takes a context but leaves it at the whole window (PySide6 6.11)
    made.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
    made.activated.connect(run)
    return made
