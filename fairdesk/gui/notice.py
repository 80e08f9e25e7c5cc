"""A sentence that is shown over the window for some seconds."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleEvent, QMouseEvent
from PySide6.QtWidgets import QWidget

from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.parts import Card, Words

#: For how long it is shown, in milliseconds.
SHOWN: Final = 8000
_MOVING: Final = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide)


class Notice(Card):
    """A sentence over the window: nothing moves when it comes, and a click takes it away."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(tone="tint", margin=0)
        self.setParent(window)
        self._window = window
        self._above: QWidget | None = None
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

    def say(self, text: str, above: QWidget | None = None) -> None:
        """Show a sentence at the lower edge of the window, above what stands there."""
        self._words.setText(text)
        self.setAccessibleName(text)
        if above is not None and above is not self._above:
            above.installEventFilter(self)
        self._above = above
        self._place()
        self.show()
        self.raise_()
        self._rest.start(SHOWN)
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Stay above what has grown, or come or gone."""
        if watched is self._above and event.type() in _MOVING and not self.isHidden():
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        around, size, above = self._window, self.sizeHint(), self._above
        over = above.height() + theme.NEAR if above is not None and above.isVisible() else 0
        # at the left, where a page has least to press
        top = around.height() - over - size.height() - theme.NEAR
        wide = min(size.width(), around.width() - 2 * theme.NEAR)
        self.setGeometry(theme.NEAR, top, wide, size.height())

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Go away."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.hide()
