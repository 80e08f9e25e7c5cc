"""A sentence that is shown over the window for some seconds."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleEvent, QMouseEvent
from PySide6.QtWidgets import QWidget

from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.parts import Card, Words

#: For how long it is shown, in milliseconds.
SHOWN: Final = 8000


class Notice(Card):
    """A sentence over the window: nothing moves when it comes, and a click takes it away."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(tone="tint", margin=0)
        self.setParent(window)
        self._window = window
        self._words = Words(wrap=False)
        self.body.addLayout(
            layouts.row(self._words, margin=(theme.GAP, theme.NEAR, theme.GAP, theme.NEAR))
        )
        self._rest = QTimer(self, singleShot=True)
        self._rest.timeout.connect(self.hide)
        self.hide()

    @property
    def text(self) -> str:
        """What it says; empty while it is not shown."""
        return self._words.text() if not self.isHidden() else ""

    def say(self, text: str, over: int = 0) -> None:
        """Show a sentence, so many pixels above the lower edge of the window."""
        self._words.setText(text)
        self.setAccessibleName(text)
        around, size = self._window, self.sizeHint()
        # at the left, where a page has least to press
        top = around.height() - over - size.height() - theme.NEAR
        wide = min(size.width(), around.width() - 2 * theme.NEAR)
        self.setGeometry(theme.NEAR, top, wide, size.height())
        self.show()
        self.raise_()
        self._rest.start(SHOWN)
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Go away."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.hide()
