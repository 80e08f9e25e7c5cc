"""Which page of the help belongs to a part of the window, and the “?” that opens it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QKeySequence, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QDialog, QToolButton, QWidget

from fairdesk.gui.kit import theme

_TOPIC = "help_topic"


@runtime_checkable
class Helper(Protocol):
    """A window that has the help."""

    def show_help(self, topic: str) -> None:
        """Show what belongs to a topic."""


def set_topic(widget: QWidget, topic: str) -> None:
    """Say which topic a part of the window is about: one of `fairdesk.gui.help.window`."""
    widget.setProperty(_TOPIC, topic)


def topic_of(widget: QWidget | None) -> str:
    """Return the topic of the nearest part around a widget; a dialog's is its class."""
    while widget is not None:
        topic = widget.property(_TOPIC)
        if topic:
            return str(topic)
        if isinstance(widget, QDialog):
            return type(widget).__name__
        widget = widget.parentWidget()
    return ""


def ask_help(widget: QWidget) -> None:
    """Open the help on what a widget is about."""
    above: QWidget | None = widget
    while above is not None and not isinstance(above, Helper):
        above = above.parentWidget()
    if above is not None:
        above.show_help(topic_of(widget))


class HelpButton(QToolButton):
    """A “?” that opens the help on what is around it.

    Tab passes it by: the key F1 does the same from wherever the keyboard is.
    """

    def __init__(self, about: str, topic: str = "") -> None:
        super().__init__()
        self.setText("?")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFixedSize(QSize(1, 1) * (self.fontMetrics().height() + theme.TIGHT))
        key = QKeySequence(QKeySequence.StandardKey.HelpContents)
        self.setToolTip(f"Help ({key.toString(QKeySequence.SequenceFormat.NativeText)})")
        self.setAccessibleName(f"Help: {about}")
        if topic:
            set_topic(self, topic)
        self.clicked.connect(lambda: ask_help(self))

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw it in a circle, which is filled under the pointer."""
        colours = theme.colours()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.accent if self.underMouse() else colours.quiet), 1))
        painter.setBrush(QColor(colours.tint) if self.underMouse() else Qt.BrushStyle.NoBrush)
        circle = QRectF(self.rect()).adjusted(2.5, 2.5, -2.5, -2.5)
        painter.drawEllipse(circle)
        painter.drawText(circle, Qt.AlignmentFlag.AlignCenter, self.text())
