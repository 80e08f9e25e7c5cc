"""What a chart of the kit is drawn on: parts of it are pointed at, pressed and zoomed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Protocol

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QRubberBand, QWidget

from fairdesk.charts.colours import resolve
from fairdesk.charts.shapes import Box, Colour, Disc, Laid, Marked, Paper, Path, Shape, Spot, Words
from fairdesk.gui.charts.zooming import DRAGGED
from fairdesk.gui.kit import theme
from fairdesk.gui.kit.parts import Card

#: The size of what explains, by that of the window's type.
_SMALL = 0.9
#: The least part of an axis that can be shown.
_LEAST_PART = 0.02


class Layable(Protocol):
    """What can be drawn."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""

    def lay_out(self, paper: Paper, marked: Marked, /) -> Laid:
        """Put everything in its place."""


class Canvas(QWidget):
    """Draws what is laid out.

    Of a chart with an axis across (`Laid.axis`) a part is shown by dragging across it; a double
    click shows all of it again.

    Signals
    -------
    pointed : object
        The key of the part under the mouse; None where there is none.
    pressed : int
        A part was pressed.
    """

    pointed = Signal(object)
    pressed = Signal(int)

    def __init__(self, *, fills: bool = False) -> None:
        super().__init__()
        self.setMouseTracking(True)
        self.fills = fills
        self.marked = Marked()
        self.drawing: Layable | None = None
        self._laid: Laid | None = None
        self._part: tuple[float, float] | None = None
        self._pressed: QPoint | None = None
        self._band = QRubberBand(QRubberBand.Shape.Rectangle, self)

    @property
    def part(self) -> tuple[float, float] | None:
        """The part of the axis that is shown, unless all of it is."""
        return self._part

    def zoom(self, part: tuple[float, float] | None) -> None:
        """Show a part of the axis, or all of it again."""
        self._part = part
        self._anew()

    def zoom_by_key(self, event: QKeyEvent) -> bool:
        """Zoom as a key says; returns whether it was one that zooms."""
        axis = self.laid.axis
        if axis is not None and event.text() in ("+", "-"):
            middle, half = (axis.low + axis.high) / 2, (axis.high - axis.low) / 2
            half *= 0.5 if event.text() == "+" else 2.0
            self._zoom_to(middle - half, middle + half)
        elif self._part is not None and event.key() == Qt.Key.Key_Escape:
            self.zoom(None)
        else:
            return False
        return True

    def _zoom_to(self, low: float, high: float) -> None:
        """Show what lies between two values, as far as there is an axis."""
        self.zoom(None)
        whole = self.laid.axis
        if whole is None:
            return
        low, high = max(low, whole.low), min(high, whole.high)
        if high - low >= _LEAST_PART * (whole.high - whole.low) and (low, high) != whole[2:]:
            self.zoom((low, high))

    @property
    def laid(self) -> Laid:
        """What is drawn."""
        if self._laid is None:
            self._laid = self.laid_on(self.width())
        return self._laid

    def laid_on(self, width: int) -> Laid:
        """Lay it out with another width."""
        if self.drawing is None or self.drawing.empty:
            return Laid(0.0, ())
        height = self.height() if self.fills else 0
        return self.drawing.lay_out(paper(self.font(), width, height, self._part), self.marked)

    def show_drawing(self, drawing: Layable) -> None:
        """Show something else; what was chosen stays so where it is still there."""
        self.drawing = drawing
        self.mark(Marked(self.marked.chosen))
        if self.marked.chosen not in [spot.key for spot in self.laid.spots]:
            self.mark(Marked())

    def mark(self, marked: Marked) -> None:
        """Mark other parts."""
        self.marked = marked
        self._anew()

    def tip(self, key: int | None) -> str:
        """Return what a part tells."""
        return next((spot.tip for spot in self.laid.spots if spot.key == key), "")

    def under(self, where: QPointF) -> Spot | None:
        """Return the part at a place: of several the one whose middle is nearest."""

        def away(spot: Spot) -> float:
            line = QPointF(spot.x + spot.wide / 2, spot.y + spot.tall / 2) - where
            return QPointF.dotProduct(line, line)

        found = [spot for spot in self.laid.spots if spot.holds(where.x(), where.y())]
        return min(found, key=away, default=None)

    def paint(self, painter: QPainter, palette: Mapping[str, str]) -> None:
        """Draw all of it."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = self.font()
        for shape in self.laid.shapes:
            _draw(painter, shape, font, palette)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw it in the colours of the screen."""
        ink = self.palette().color(QPalette.ColorRole.WindowText)
        self.paint(QPainter(self), _palette(theme.colours(), ink.name(), self._ground().name()))

    def _ground(self) -> QColor:
        """Return the colour behind it: that of the card it is on, else the window's."""
        below = self.parentWidget()
        while below is not None and not isinstance(below, Card):
            below = below.parentWidget()
        return (
            below.ground if below is not None else self.palette().color(QPalette.ColorRole.Window)
        )

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Lay it out anew."""
        super().resizeEvent(event)
        self._anew()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the size of type."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._anew()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Tell which part is under the mouse, or show which part of the axis is dragged across."""
        if self._pressed is not None:
            begun, now = QPoint(self._pressed.x(), 0), event.position().toPoint()
            self._band.setGeometry(QRect(begun, QPoint(now.x(), self.height())).normalized())
            self._band.setVisible(self._dragged(now))
            return
        spot = self.under(event.position())
        self._point_at(None if spot is None else spot.key)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Tell which part was pressed; of a chart that zooms once it is no drag."""
        if event.button() != Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
        elif self.laid.axis is not None:
            self._pressed = event.position().toPoint()
        else:
            self._press(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Show what was dragged across."""
        begun, now, axis = self._pressed, event.position().toPoint(), self.laid.axis
        if begun is None or axis is None or event.button() != Qt.MouseButton.LeftButton:
            super().mouseReleaseEvent(event)
            return
        dragged = self._dragged(now)
        self._pressed = None
        self._band.hide()
        if dragged:
            self._zoom_to(*sorted(axis.value(each.x()) for each in (begun, now)))
        else:
            self._press(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Show all of the axis again."""
        if self._part is None:
            super().mouseDoubleClickEvent(event)
        self.zoom(None)

    def _dragged(self, now: QPoint) -> bool:
        return self._pressed is not None and abs(now.x() - self._pressed.x()) >= DRAGGED

    def _press(self, event: QMouseEvent) -> None:
        if (spot := self.under(event.position())) is not None:
            self.pressed.emit(spot.key)

    def leaveEvent(self, _event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Tell that the mouse is gone."""
        self._point_at(None)

    def _point_at(self, key: int | None) -> None:
        if key == self.marked.pointed:
            return
        self.setCursor(
            Qt.CursorShape.ArrowCursor if key is None else Qt.CursorShape.PointingHandCursor
        )
        self.mark(Marked(self.marked.chosen, key))
        self.pointed.emit(key)

    def _anew(self) -> None:
        self._laid = None
        self.update()


def paper(
    font: QFont, width: float, height: float = 0.0, part: tuple[float, float] | None = None
) -> Paper:
    """Return what charts of the window are laid out on."""

    @cache
    def metrics(size: float, strong: bool) -> QFontMetricsF:  # noqa: FBT001 - as it is measured
        return QFontMetricsF(theme.scaled(font, size, strong=strong))

    def measure(text: str, size: float, bold: bool) -> float:  # noqa: FBT001 - as it is called
        return metrics(size, bold).horizontalAdvance(text)

    return Paper(width, QFontMetricsF(font).height(), measure, _SMALL, height, part)


def _palette(colours: theme.Colours, ink: str, ground: str) -> dict[str, str]:
    """Return colours by what they are for."""
    series = {f"series {place}": colour for place, colour in enumerate(colours.series)}
    alone = {name: each for name, each in asdict(colours).items() if isinstance(each, str)}
    return {**alone, **series, "ink": ink, "ground": ground}


def _draw(painter: QPainter, shape: Shape, font: QFont, palette: Mapping[str, str]) -> None:
    """Draw one shape."""
    match shape:
        case Box():
            _prepare(painter, shape.edge, shape.fill, palette, (shape.thick, shape.dash))
            painter.setOpacity(shape.opacity)
            painter.drawRect(QRectF(shape.x, shape.y, shape.wide, shape.tall))
            painter.setOpacity(1.0)
        case Disc():
            _prepare(painter, shape.edge, shape.fill, palette, (shape.thick, ()))
            painter.drawEllipse(QPointF(shape.x, shape.y), shape.radius, shape.radius)
        case Path():
            _prepare(painter, shape.colour, shape.fill, palette, (shape.thick, shape.dash))
            for line in shape.lines:
                points = QPolygonF([QPointF(x, y) for x, y in line])
                if shape.fill is None:
                    painter.drawPolyline(points)
                else:
                    painter.drawPolygon(points)
        case Words():
            painter.setFont(theme.scaled(font, shape.size, strong=shape.bold))
            painter.setPen(QColor(resolve(shape.colour, palette)))
            metrics = QFontMetricsF(painter.font())
            wide = metrics.horizontalAdvance(shape.text)
            x = shape.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[shape.anchor] * wide
            y = shape.y + (metrics.ascent() - metrics.descent()) / 2
            painter.drawText(QPointF(x, y), shape.text)


def _prepare(
    painter: QPainter,
    edge: Colour | None,
    fill: Colour | None,
    palette: Mapping[str, str],
    line: tuple[float, tuple[float, ...]],
) -> None:
    """Take the pen and the brush of a shape."""
    thick, dash = line
    if edge is None:
        painter.setPen(Qt.PenStyle.NoPen)
    else:
        pen = QPen(QColor(resolve(edge, palette)), thick)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        if dash:
            # Qt counts dashes in the line's own width
            pen.setDashPattern([each / thick for each in dash])
        painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush if fill is None else QColor(resolve(fill, palette)))


#: What is taken away is light.
LIGHT = _palette(theme.LIGHT, "#000000", "#ffffff")
