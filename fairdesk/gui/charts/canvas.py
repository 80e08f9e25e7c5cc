"""What charts are drawn on: a view of pyqtgraph, pointed at, pressed and zoomed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby
from types import ModuleType
from typing import Any, Protocol

import msgspec
import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPalette,
    QPen,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QGraphicsItem, QGraphicsSimpleTextItem, QRubberBand, QWidget

from fairdesk.charts.shapes import Box, Colour, Disc, Laid, Marked, Paper, Path, Shape, Spot, Words
from fairdesk.charts.svg import resolve
from fairdesk.gui.kit import theme
from fairdesk.gui.kit.parts import Card
from fairdesk.gui.kit.threads import in_background

#: Shapes of one style that follow each other.
Same = tuple[Shape, ...]

#: The library, once it is there.
_loaded: list[ModuleType] = []
_ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}


def loaded() -> bool:
    """Return whether the library is there."""
    return bool(_loaded)


def load_library() -> Any:  # noqa: ANN401 - the library has no types
    """Load the library. Takes a second: call it in the background, before it is needed."""
    if not _loaded:
        _loaded.append(importlib.import_module("pyqtgraph"))
    return _loaded[0]


class Plot:
    """Shapes in a scene of the library; what stays the same when others are shown is kept."""

    def __init__(self, scene: Any) -> None:  # noqa: ANN401 - the library has no types
        self._scene = scene
        # in order: an index of places costs more than it saves
        scene.setItemIndexMethod(scene.ItemIndexMethod.NoIndex)
        self._items: dict[Same, QGraphicsItem] = {}
        self._shapes: Sequence[Shape] = ()
        self._look: tuple[object, ...] = ()

    def show(self, shapes: Sequence[Shape], font: QFont, palette: Mapping[str, str]) -> None:
        """Show shapes, the first below all others, and nothing else."""
        look = (font.key(), *palette.values())
        if (shapes, look) == (self._shapes, self._look):
            return
        old, self._items = self._items, {}
        kept = old if look == self._look else {}
        self._shapes, self._look = shapes, look
        for place, (_alike, same) in enumerate(groupby(shapes, _style)):
            group = tuple(same)
            item = self._items.get(group) or kept.get(group)
            if item is None:
                item = _made(group, font, palette)
                self._scene.addItem(item)
            item.setZValue(place)
            self._items[group] = item
        shown = set(self._items.values())
        for item in old.values():
            if item not in shown:
                self._scene.removeItem(item)


def _style(shape: Shape) -> tuple[object, ...]:
    """Return what shapes that can be one item have in common."""
    match shape:
        case Box():
            return Box, *shape[4:]
        case Disc():
            return Disc, *shape[2:]
        case Path(fill=None):
            return Path, *shape[1:]
        case _:
            return (id(shape),)


def _made(same: Same, font: QFont, palette: Mapping[str, str]) -> QGraphicsItem:
    """Return shapes of one style as an item."""
    library, first = load_library(), same[0]
    item: Any
    match first:
        case Box():
            places = np.array([each[:4] for each in same], dtype=np.float64).T
            item = library.BarGraphItem(
                **dict(zip(("x0", "y0", "width", "height"), places, strict=True)),
                pen=_pen(first.edge, palette, first.thick, first.dash),
                brush=_brush(first.fill, palette),
            )
            item.setOpacity(first.opacity)
        case Disc():
            size = 2 * first.radius
            item = library.ScatterPlotItem(
                *np.array([each[:2] for each in same], dtype=np.float64).T,
                size=size,
                pxMode=False,
                antialias=True,
                # it grows with the symbol
                pen=_pen(first.edge, palette, first.thick / size),
                brush=_brush(first.fill, palette),
            )
        case Path():
            filled, gap = first.fill is not None, (np.nan, np.nan)
            lines = [line for path in same if isinstance(path, Path) for line in path.lines]
            points = [(*line, line[0], gap) if filled else (*line, gap) for line in lines if line]
            item = library.PlotCurveItem(
                *np.array([point for line in points for point in line]).reshape(-1, 2).T,
                connect="finite",
                antialias=True,
                pen=_pen(first.colour, palette, first.thick, first.dash),
                brush=_brush(first.fill, palette),
                fillLevel="enclosed" if filled else None,
            )
            item.setSegmentedLineMode("off")
        case Words():
            # the library's own texts are documents, which take ten times as long
            item = QGraphicsSimpleTextItem(first.text)
            item.setFont(theme.scaled(font, first.size, strong=first.bold))
            item.setBrush(_brush(first.colour, palette))
            size = item.boundingRect()
            left = _ANCHORS[first.anchor] * size.width()
            item.setPos(QPointF(first.x - left, first.y - size.height() / 2))
    return item  # type: ignore[no-any-return]


def _brush(colour: Colour | None, palette: Mapping[str, str]) -> QBrush:
    return QBrush() if colour is None else QBrush(QColor(resolve(colour, palette)))


def _pen(
    colour: Colour | None, palette: Mapping[str, str], thick: float, dash: tuple[float, ...] = ()
) -> QPen:
    if colour is None:
        return QPen(Qt.PenStyle.NoPen)
    pen = QPen(QColor(resolve(colour, palette)), thick)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    if dash:
        # Qt counts dashes in the line's own width
        pen.setDashPattern([each / thick for each in dash])
    return pen


#: The size of what explains, by that of the window's type.
_SMALL = 0.9
#: The least part of an axis that can be shown.
_LEAST_PART = 0.02
#: From so many pixels on, a movement of the mouse is a drag.
_DRAGGED = 8


class Layable(Protocol):
    """What can be drawn."""

    @property
    def title(self) -> str:
        """What it tells."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""

    def lay_out(self, paper: Paper, marked: Marked, /) -> Laid:
        """Put everything in its place."""


class Canvas(QWidget):
    """Shows what is laid out, as soon as the library that draws it is there.

    Of a chart with an axis across (`Laid.axis`) a part is shown by dragging across it; a double
    click shows all of it again.

    Signals
    -------
    pointed : object
        The key of the part under the mouse; None where there is none.
    pressed : int
        A part was pressed.
    failed : FairDeskError
        The library that draws cannot be loaded.
    """

    pointed = Signal(object)
    pressed = Signal(int)
    failed = Signal(object)

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
        self._view: Any = None

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Make the view, when the chart is first looked at."""
        super().showEvent(event)
        if self._view is None and loaded():
            self._begin(load_library())
        elif self._view is None:
            in_background(self, load_library, self._begin, self.failed.emit)

    def _begin(self, library: Any) -> None:  # noqa: ANN401 - the library has no types
        self._view = view = library.GraphicsView(self, background=None)
        view.setAntialiasing(True)
        view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # what is done to a chart is done to this widget
        view.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        # what is behind this widget is the chart's ground
        view.setCacheMode(view.CacheModeFlag.CacheNone)
        view.viewport().setAutoFillBackground(False)
        # all is drawn anew, or nothing
        view.setViewportUpdateMode(view.ViewportUpdateMode.NoViewportUpdate)
        self._plot = Plot(view.scene())
        view.scene().sigPrepareForPaint.connect(self._draw)
        view.resize(self.size())
        view.show()
        self._band.raise_()

    def _draw(self) -> None:
        """Put into the view what is to be seen there."""
        ink = self.palette().color(QPalette.ColorRole.WindowText)
        palette = _palette(theme.colours(), ink.name(), self._ground().name())
        self._plot.show(self.laid.shapes, self.font(), palette)

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
            spot = next((each for each in self.laid.spots if each.key in self.marked), None)
            if spot is not None and spot.wide < (axis.right - axis.left) / 2:
                middle = axis.value(spot.x + spot.wide / 2)
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
            self._laid = self.laid_on(self.size())
        return self._laid

    def laid_on(self, size: QSize) -> Laid:
        """Lay it out in another size; its height matters where it is filled."""
        if self.drawing is None or self.drawing.empty:
            return Laid(0.0, ())
        height = size.height() if self.fills else 0
        where = paper(self.font(), size.width(), height, self._part)
        return self.drawing.lay_out(where, self.marked)

    def show_drawing(self, drawing: Layable) -> None:
        """Show something else; what was chosen stays so where it is still there."""
        if self.drawing is not None and drawing.title != self.drawing.title:
            self._part = None
        self.drawing = drawing
        chosen = self.marked.chosen
        self.mark(Marked(chosen))
        if chosen is not None and chosen not in [spot.key for spot in self.laid.spots]:
            self.mark(Marked())

    def mark(self, marked: Marked) -> None:
        """Mark other parts."""
        self.marked = marked
        self._anew()

    def choose(self, key: int | None) -> None:
        """Mark a part as chosen; nothing is told of it."""
        self.mark(Marked(key, self.marked.pointed))

    def tip(self, key: int | None) -> str:
        """Return what a part tells."""
        if key is None:
            return ""
        return next((spot.tip for spot in self.laid.spots if spot.key == key), "")

    def under(self, where: QPointF) -> Spot | None:
        """Return the part at a place: of several the one whose middle is nearest."""

        def away(spot: Spot) -> float:
            line = QPointF(spot.x + spot.wide / 2, spot.y + spot.tall / 2) - where
            return QPointF.dotProduct(line, line)

        found = [spot for spot in self.laid.spots if spot.holds(where.x(), where.y())]
        return min(found, key=away, default=None)

    def paint(self, painter: QPainter, size: QSize) -> None:
        """Paint all of it in light colours, in another size."""
        scene = load_library().GraphicsScene(parent=self)
        Plot(scene).show(self.laid_on(size).shapes, self.font(), LIGHT)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = QRectF(QPointF(), size.toSizeF())
        scene.render(painter, rect, rect)
        scene.deleteLater()

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
        if self._view is not None:
            self._view.resize(event.size())
        self._anew()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme, and the size of type."""
        super().changeEvent(event)
        if theme.palette_changed(event) or event.type() == QEvent.Type.FontChange:
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
        return self._pressed is not None and abs(now.x() - self._pressed.x()) >= _DRAGGED

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
    alone = {
        name: each
        for name, each in msgspec.structs.asdict(colours).items()
        if isinstance(each, str)
    }
    return {**alone, **series, "ink": ink, "ground": ground}


#: What is taken away is light.
LIGHT = _palette(theme.LIGHT, "#000000", "#ffffff")
