"""Charts whose picture is painted: on the screen, and in light colours where it is taken away."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from fairdesk.gui.charts.chart_frame import ChartFrame
from fairdesk.gui.kit import theme


class Canvas(QWidget):
    """A picture that paints itself."""

    def paint(self, painter: QPainter, colours: theme.Colours, ink: QColor, ground: QColor) -> None:
        """Draw all of it."""
        raise NotImplementedError

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw it in the colours of the screen."""
        palette = self.palette()
        ink, ground = palette.windowText().color(), palette.window().color()
        self.paint(QPainter(self), theme.colours(), ink, ground)


class PaintedChart(ChartFrame):
    """A chart whose picture is a canvas."""

    _canvas: Canvas

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if theme.palette_changed(event):
            self._canvas.update()

    def _redraw(self) -> None:
        self._show_picture(self._canvas, empty=self.drawing.empty)

    def _render(self, painter: QPainter) -> None:
        if self._as_table.isChecked() or self.drawing.empty:
            self._stack.render(painter, QPoint())
            return
        black, white = QColor(Qt.GlobalColor.black), QColor(Qt.GlobalColor.white)
        self._canvas.paint(painter, theme.LIGHT, black, white)
