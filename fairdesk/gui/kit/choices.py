"""A field for a choice that is not made yet: it stays open until the auditor makes it."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox

_STEPS = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}


class Choice(QComboBox):
    """A list with a prompt while nothing is chosen.

    Parameters
    ----------
    deliberate : bool
        Whether a key on the closed list opens it, and chooses nothing by itself.
    """

    def __init__(self, prompt: str = "", *, deliberate: bool = False) -> None:
        super().__init__()
        self.setPlaceholderText(prompt)
        self._deliberate = deliberate

    def showPopup(self) -> None:  # noqa: N802 - Qt's name
        """Open the list; where nothing is chosen, the first Down takes the first entry."""
        super().showPopup()
        if self.currentIndex() < 0:
            self.view().setCurrentIndex(QModelIndex())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Open the list where a key would choose."""
        typed = event.text().isprintable() and event.text().strip()
        plain = event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
            Qt.KeyboardModifier.ShiftModifier,
        )
        if self._deliberate and plain and (event.key() in _STEPS or typed):
            self.showPopup()
            if typed:
                self.view().keyboardSearch(event.text())
            return
        super().keyPressEvent(event)
