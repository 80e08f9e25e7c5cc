"""The field for a note on a pair."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QPlainTextEdit

_KEYS = QKeySequence.StandardKey


class NoteEdit(QPlainTextEdit):
    """A note that is saved when it is left, or with Ctrl+Enter.

    Signals
    -------
    entered
        The auditor begins to write.
    saved : str
        The note is to be kept.
    left
        The auditor is done with it.
    """

    entered = Signal()
    saved = Signal(str)
    left = Signal()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Ask for room."""
        super().focusInEvent(event)
        self.entered.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Save."""
        super().focusOutEvent(event)
        self.saved.emit(self.toPlainText().strip())

    def event(self, event: QEvent) -> bool:
        """Leave Undo and Redo to the window while there is nothing written to be undone."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            text = self.document()
            if (event.matches(_KEYS.Undo) and not text.isUndoAvailable()) or (
                event.matches(_KEYS.Redo) and not text.isRedoAvailable()
            ):
                event.ignore()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Save with Ctrl+Enter; Escape and Tab leave."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if event.key() == Qt.Key.Key_Escape or (
            enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier
        ):
            self.left.emit()
            return
        super().keyPressEvent(event)
