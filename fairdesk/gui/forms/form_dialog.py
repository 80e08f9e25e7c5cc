"""What the dialogs that ask for an answer have in common."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QWidget

from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.parts import Words


class FormDialog(QDialog):
    """A dialog that is answered or cancelled; what is wrong with the answer stands in it.

    A dialog of its own adds its fields to `body`, then calls `_add_buttons`.

    Attributes
    ----------
    body : QVBoxLayout
        The fields, from the top.
    ok_button : QPushButton
        Takes the answer.
    """

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        # the help can be read meanwhile
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.body = layouts.column(on=self, margin=theme.WIDE, spacing=theme.GAP)
        self._wrong = Words(tone="wrong")
        self._buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)
        self.ok_button = self._buttons.button(QDialogButtonBox.StandardButton.Ok)

    def _add_buttons(self) -> None:
        """Add what is wrong, and the buttons, below the fields."""
        self.body.addWidget(self._wrong)
        self.body.addWidget(self._buttons)

    def _refuse(self, wrong: str) -> None:
        """Say what is wrong with the answer, which cannot be taken then; empty: nothing is."""
        self._wrong.say(wrong)
        self.ok_button.setEnabled(not wrong)
