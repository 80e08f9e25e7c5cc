"""Movements of the mouse that reach the widget they are meant for.

`QTest.mouseMove` moves the screen's pointer instead: the event goes to the window on top there,
which may be another, and to none where the window is larger than the screen.
"""

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget


def move_mouse(widget: QWidget, at: QPoint, held: Qt.MouseButton = Qt.MouseButton.NoButton) -> None:
    """Tell a widget that the pointer moved to a place in it, with a button held or none."""
    move = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(at),
        QPointF(widget.mapToGlobal(at)),
        Qt.MouseButton.NoButton,
        held,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(widget, move)
