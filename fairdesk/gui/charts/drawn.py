"""Charts of the kit in the window: drawn, pointed at, walked with the arrow keys, taken away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path as File
from typing import Generic, Protocol, TypeVar

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontInfo,
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
from PySide6.QtWidgets import QWidget

from fairdesk.charts import svg
from fairdesk.charts.colours import resolve
from fairdesk.charts.shapes import Box, Colour, Disc, Laid, Marked, Paper, Path, Shape, Spot, Words
from fairdesk.gui.charts.chart_frame import ChartFrame, Told
from fairdesk.gui.kit import parts, theme, tips

#: The size of what explains, by that of the window's type, and the least height of a chart.
_SMALL, _LEAST = 0.9, 80


class Layable(Protocol):
    """What can be drawn."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""

    def lay_out(self, paper: Paper, marked: Marked, /) -> Laid:
        """Put everything in its place."""


class Drawable(Told, Layable, Protocol):
    """What a chart of the kit shows."""

    @property
    def heading(self) -> str:
        """What stands above it."""


Shown = TypeVar("Shown", bound=Drawable)

_STEPS = {
    Qt.Key.Key_Left: ("across", -1),
    Qt.Key.Key_Right: ("across", 1),
    Qt.Key.Key_Up: ("down", -1),
    Qt.Key.Key_Down: ("down", 1),
}


class DrawnChart(ChartFrame, Generic[Shown]):
    """A chart of the kit, with its table (T); the arrow keys walk its parts.

    Parameters
    ----------
    drawing : Shown
        What is shown at first.
    size : float
        Of its heading, by that of other type.
    fills : bool
        Whether it fills the height that it is given; else it is as high as what it shows.

    Signals
    -------
    chosen : int
        A part is chosen, by its key; not those that only tell something.
    """

    chosen = Signal(int)

    def __init__(self, drawing: Shown, size: float = 1.0, *, fills: bool = False) -> None:
        super().__init__()
        self._drawing = drawing
        self.canvas = Canvas(fills=fills)
        self.canvas.pointed.connect(self._point_at)
        self.canvas.pressed.connect(self._press)
        self._heading = parts.Words(drawing.heading, size=size, strong=True, wrap=False)
        self.tools.addWidget(self._heading)
        self._stack.addWidget(self.canvas)

    @property
    def drawing(self) -> Shown:
        """What is shown."""
        return self._drawing

    @property
    def chosen_key(self) -> int | None:
        """The part that is chosen."""
        return self.canvas.marked.chosen

    def draw(self, drawing: Shown) -> None:
        """Show something else."""
        if drawing == self._drawing:
            return
        self._drawing = drawing
        self._heading.setText(drawing.heading)
        self.canvas.show_drawing(drawing)
        self._fit()
        self._read("")
        self._tell()
        self._redraw()

    def choose(self, key: int | None) -> None:
        """Mark a part; nothing is told of it."""
        self.canvas.mark(Marked(key, self.canvas.marked.pointed))

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme, and the size of type."""
        super().changeEvent(event)
        if theme.palette_changed(event):
            self.canvas.update()
        elif event.type() == QEvent.Type.FontChange:
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Take another height where texts take more lines."""
        super().resizeEvent(event)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Walk from part to part with the arrow keys."""
        way, step = _STEPS.get(Qt.Key(event.key()), ("", 0))
        if not way or self.drawing.empty or self._as_table.isChecked():
            super().keyPressEvent(event)
            return
        laid, now = self.canvas.laid, self.chosen_key
        ways = laid.across if way == "across" else laid.down
        if not ways:
            super().keyPressEvent(event)
            return
        along = next((each for each in ways if now in each), None)
        if now is None or along is None:
            self._press(ways[0][0])
        else:
            self._press(along[min(max(along.index(now) + step, 0), len(along) - 1)])

    def write_svg(self, path: File) -> None:
        """Write the chart as a drawing whose texts stay texts."""
        if self._as_table.isChecked() or self.drawing.empty:
            super().write_svg(path)
            return
        size = QFontInfo(self.canvas.font()).pixelSize()
        laid = self.canvas.laid
        family = f"'{QFontInfo(self.canvas.font()).family()}', sans-serif"
        drawn = svg.document(
            *(self.canvas.width(), laid.height, svg.drawn(laid.shapes, _LIGHT, size)),
            f"{self.drawing.title}. {self.drawing.summary()}",
            unit="px",
            fonts=family,
            size=size,
        )
        path.write_text(drawn, encoding="utf-8", newline="")

    def _redraw(self) -> None:
        self._show_picture(self.canvas, empty=self.drawing.empty)

    def _render(self, painter: QPainter) -> None:
        if self._as_table.isChecked() or self.drawing.empty:
            self._stack.render(painter, QPoint())
        else:
            self.canvas.paint(painter, _LIGHT)

    def _fit(self) -> None:
        """Be as high as all of it."""
        if self.drawing.empty or self.canvas.fills:
            return
        head = max(self._heading.sizeHint().height(), self._more.sizeHint().height())
        needed = round(self.canvas.laid_on(self.width()).height)
        self.setFixedHeight(head + theme.TIGHT + max(needed, _LEAST))

    def _press(self, key: int) -> None:
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.choose(key)
        self._point_at(key)
        if key >= 0:
            self.chosen.emit(key)

    def _point_at(self, key: int | None) -> None:
        tip = self.canvas.tip(self.chosen_key if key is None else key)
        self._read(tip)
        self.canvas.setToolTip(tips.plain(tip) if tip else "")


class Canvas(QWidget):
    """Draws what is laid out.

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
        return self.drawing.lay_out(paper(self.font(), width, height), self.marked)

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
        role, own = QPalette.ColorRole, self.palette()
        ink, ground = (own.color(each).name() for each in (role.WindowText, role.Window))
        self.paint(QPainter(self), _palette(theme.colours(), ink, ground))

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
        """Tell which part is under the mouse."""
        spot = self.under(event.position())
        self._point_at(None if spot is None else spot.key)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Tell which part was pressed."""
        if event.button() != Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
        elif (spot := self.under(event.position())) is not None:
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


def paper(font: QFont, width: float, height: float = 0.0) -> Paper:
    """Return what charts of the window are laid out on."""

    @cache
    def metrics(size: float, strong: bool) -> QFontMetricsF:  # noqa: FBT001 - as it is measured
        return QFontMetricsF(theme.scaled(font, size, strong=strong))

    def measure(text: str, size: float, bold: bool) -> float:  # noqa: FBT001 - as it is called
        return metrics(size, bold).horizontalAdvance(text)

    return Paper(width, QFontMetricsF(font).height(), measure, _SMALL, height)


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
_LIGHT = _palette(theme.LIGHT, "#000000", "#ffffff")
