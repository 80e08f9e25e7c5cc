"""What pictures with parts share: the part under the mouse is told, and can be pressed."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QMouseEvent

from fairdesk.gui.charts.painted import Canvas


class Pointed(Canvas):
    """A picture whose parts can be pointed at.

    Signals
    -------
    pointed : object
        The part under the mouse; None where there is none.
    pressed : object
        A part was pressed.
    """

    pointed = Signal(object)
    pressed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setMouseTracking(True)
        self._pointed: object | None = None

    def under(self, where: QPointF) -> object | None:
        """Return the part at a place; None where there is none."""
        raise NotImplementedError

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Tell which part is under the mouse."""
        at = self.under(event.position())
        if at != self._pointed:
            self._pointed = at
            self.setCursor(
                Qt.CursorShape.ArrowCursor if at is None else Qt.CursorShape.PointingHandCursor
            )
            self.update()
            self.pointed.emit(at)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Tell which part was pressed."""
        if event.button() != Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
        elif (at := self.under(event.position())) is not None:
            self.pressed.emit(at)

    def leaveEvent(self, _event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Tell that the mouse is gone."""
        self._pointed = None
        self.update()
        self.pointed.emit(None)
