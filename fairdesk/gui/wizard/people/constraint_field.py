"""A field for a constraint, which suggests what can come next."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QLineEdit, QListView

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.profiling.suggesting import Suggestion, suggestions


class ConstraintField(QLineEdit):
    """One line in plain syntax; Return enters it, Ctrl+Space asks for suggestions.

    Signals
    -------
    entered
        Return was pressed.
    """

    entered = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.attributes: Sequence[Attribute] = ()
        self._suggested: tuple[Suggestion, ...] = ()
        self._texts = QStringListModel(self)
        self._completer = QCompleter(self._texts, self)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        # not the field's own completer: that would replace the whole line
        self._completer.setWidget(self)
        # the stub does not know that the signal has two forms
        self._completer.activated[QModelIndex].connect(self._take)  # type: ignore[index]
        self._list = QListView()
        self._list.setAccessibleName("Suggestions")
        self._completer.setPopup(self._list)
        self.textEdited.connect(lambda _text: self.suggest())

    @property
    def suggested(self) -> tuple[str, ...]:
        """What is suggested now."""
        return tuple(each.text for each in self._suggested)

    def suggest(self) -> None:
        """Show what can stand at the cursor."""
        self._suggested = suggestions(self.text(), self.cursorPosition(), self.attributes)
        if not self._suggested or not self.text().strip():
            self._list.hide()
            return
        self._texts.setStringList(list(self.suggested))
        place = self.cursorRect()
        place.setWidth(max(260, place.width()))
        self._completer.complete(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Keep Return from the wizard's default button; open the suggestions on Ctrl+Space."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.text().strip():
            self.entered.emit()
        elif (
            event.key() == Qt.Key.Key_Space
            and event.modifiers() & Qt.KeyboardModifier.ControlModifier
        ):
            self.suggest()
        else:
            super().keyPressEvent(event)

    def _take(self, index: QModelIndex) -> None:
        """Put a suggestion in place of the word that is begun."""
        if index.row() >= len(self._suggested):
            return
        chosen = self._suggested[index.row()]
        before, after = self.text()[: chosen.start], self.text()[self.cursorPosition() :]
        gap = "" if chosen.text.endswith(("{", "(")) else " "
        self.setText(f"{before}{chosen.text}{gap}{after.lstrip()}")
        self.setCursorPosition(len(before) + len(chosen.text) + len(gap))
        self.suggest()
