"""Shares as bars on one scale: hatched where estimated, solid where everybody was asked."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent, QPalette, QPen, QTransform
from PySide6.QtWidgets import QSizePolicy, QWidget

from fairdesk.gui.charts.chart import ticks
from fairdesk.gui.kit import theme

#: The height of a bar.
_BAR = 14.0


@dataclass(frozen=True)
class ShareBar:
    """One bar.

    Attributes
    ----------
    name, value : str
        What it is of, and its number, for people.
    exact : bool
        Whether everybody was asked.
    estimate, low, high, anytime_low, anytime_high : float
        As in `fairdesk.results.individual.Share`.
    """

    name: str
    value: str
    exact: bool
    estimate: float
    low: float
    high: float
    anytime_low: float
    anytime_high: float

    @property
    def reach(self) -> float:
        """How far to the right it needs to be seen; an interval that is still wide may be cut."""
        return max(self.high, min(self.anytime_high, 2 * self.high))


def hatched(colour: str, scale: float) -> QBrush:
    """Make the ground of what is estimated; of the same grain at every scale of the screen."""
    brush = QBrush(QColor(colour), Qt.BrushStyle.BDiagPattern)
    brush.setTransform(QTransform.fromScale(1 / scale, 1 / scale))
    return brush


class ShareBars(QWidget):
    """Bars with intervals: a thick line for one look at the end, a thin one for any moment."""

    def __init__(self) -> None:
        super().__init__()
        self._bars: tuple[ShareBar, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Shares with their intervals")

    def show_bars(self, bars: tuple[ShareBar, ...]) -> None:
        """Show other bars."""
        if bars == self._bars:
            return
        grown = len(bars) != len(self._bars)
        self._bars = bars
        self.setAccessibleDescription(
            "; ".join(
                f"{bar.name}: {bar.value}, {'exact' if bar.exact else 'estimated'}" for bar in bars
            )
        )
        if grown:
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for two lines per bar, and one for the scale."""
        line = self.fontMetrics().height()
        return QSize(420, round(len(self._bars) * self._row() + 1.3 * line))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Stay readable."""
        return QSize(240, self.sizeHint().height())

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if theme.palette_changed(event):
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the bars."""
        if not self._bars:
            return
        colours = theme.colours()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        reach = min(1.08 * max(1e-6, *(bar.reach for bar in self._bars)), 1.0)
        self._paint_scale(painter, colours, reach)
        for place, bar in enumerate(self._bars):
            self._paint_bar(painter, colours, bar, place * self._row(), self.width() / reach)

    def _paint_scale(self, painter: QPainter, colours: theme.Colours, reach: float) -> None:
        metrics = self.fontMetrics()
        bottom = len(self._bars) * self._row()
        painter.setFont(theme.scaled(self.font(), 0.85))
        for value in ticks(100 * reach, 5):
            x = value / 100 / reach * self.width()
            text = f"{value:g}\u00a0%"
            wide = painter.fontMetrics().horizontalAdvance(text)
            if x + wide / 2 > self.width():
                continue
            painter.setPen(QPen(QColor(colours.line), 1))
            painter.drawLine(QPointF(x, metrics.height()), QPointF(x, bottom))
            painter.setPen(QColor(colours.quiet))
            painter.drawText(
                QPointF(max(x - wide / 2, 0.0), bottom + 0.9 * metrics.height()),
                text,
            )

    def _paint_bar(
        self, painter: QPainter, colours: theme.Colours, bar: ShareBar, top: float, scale: float
    ) -> None:
        """Draw a bar, below its name and number; ``scale`` is pixels of the whole."""
        ink = self.palette().color(QPalette.ColorRole.WindowText)
        metrics = self.fontMetrics()
        number = metrics.horizontalAdvance(bar.value)
        painter.setFont(self.font())
        painter.setPen(ink)
        room = self.width() - number - theme.GAP
        baseline = top + metrics.ascent()
        name = metrics.elidedText(bar.name, Qt.TextElideMode.ElideMiddle, room)
        # the grid's lines end where words are
        ground = self.palette().color(QPalette.ColorRole.Window)
        painter.fillRect(QRectF(0, top, self.width(), metrics.height()), ground)
        painter.drawText(QPointF(0, baseline), name)
        painter.drawText(QPointF(self.width() - number, baseline), bar.value)
        shape = QRectF(0, top + metrics.height() + 3, max(bar.estimate * scale, 1.5), _BAR)
        colour = QColor(colours.unlike)
        if bar.exact:
            painter.fillRect(shape, colour)
            return
        painter.fillRect(shape, hatched(colours.unlike, self.devicePixelRatioF()))
        painter.setPen(QPen(colour, 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(shape)
        middle = shape.center().y()
        for low, high, width, cap in (
            (bar.anytime_low, bar.anytime_high, 1.2, 4.0),
            (bar.low, bar.high, 3.0, 0.0),
        ):
            painter.setPen(QPen(ink, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
            left, right = low * scale, min(high * scale, self.width() - 1.0)
            painter.drawLine(QPointF(left, middle), QPointF(right, middle))
            for end in (left, right) if cap else ():
                painter.drawLine(QPointF(end, middle - cap), QPointF(end, middle + cap))

    def _row(self) -> float:
        return self.fontMetrics().height() + _BAR + 3 + theme.WIDE
