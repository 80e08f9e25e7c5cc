"""A chart of the kit by itself: as high as it needs to be, told in words, nothing around it."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy

from fairdesk.gui.charts.drawn import Canvas, Layable
from fairdesk.gui.kit import theme


class Telling(Layable, Protocol):
    """What such a picture shows."""

    @property
    def title(self) -> str:
        """What it tells."""

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""


class Picture(Canvas):
    """Shows a chart between the widgets of a page."""

    def __init__(self, drawing: Telling) -> None:
        super().__init__()
        self.setMouseTracking(False)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.draw(drawing)

    def draw(self, drawing: Telling) -> None:
        """Show something else."""
        if drawing == self.drawing:
            return
        self.setAccessibleName(drawing.title)
        self.setAccessibleDescription(drawing.summary())
        self.show_drawing(drawing)
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw it, and the focus."""
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            painter.setPen(QPen(QColor(theme.colours().accent), 1, Qt.PenStyle.DotLine))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for a comfortable width."""
        return QSize(360, self.height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Stay readable."""
        return QSize(200, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Take another height where texts take more lines."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme, and the size of type."""
        super().changeEvent(event)
        if theme.palette_changed(event):
            self.update()
        elif event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        """Be as high as all of it."""
        self.setFixedHeight(round(self.laid_on(self.width()).height))
