"""A line chart: few marks, direct labels, numbers at hand, everything to take away."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QEvent,
    QPoint,
    QPointF,
    QRectF,
    Qt,
)
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QPainter,
    QPalette,
    QShowEvent,
)

from fairdesk.charts.kinds.lines import Drawing, Line, Mark, decimate
from fairdesk.charts.scales import apart, round_between
from fairdesk.gui.charts.chart_frame import ChartFrame
from fairdesk.gui.charts.zooming import Dragging, cut
from fairdesk.gui.kit import theme
from fairdesk.gui.kit.threads.background import in_background

#: How wide a bar is, of the distance between two.
_BAR = 0.56

#: A line's label is a text, which needs more contrast than the line.
_LABELS = {"undecided": "quiet", "discriminatory": "wrong"}

#: The drawing library, once it is loaded.
_loaded: list[ModuleType] = []


def load_library() -> ModuleType:
    """Load the drawing library. Takes a second: call it in the background, before it is needed."""
    if not _loaded:
        _loaded.append(importlib.import_module("pyqtgraph"))
    return _loaded[0]


def paint(colour: str, colours: theme.Colours) -> str:
    """Return a line's colour as ``#RRGGBB``."""
    name, _, number = colour.partition(" ")
    if number:
        return colours.series[int(number) % len(colours.series)]
    return str(getattr(colours, name))


def paint_label(colour: str, colours: theme.Colours) -> str:
    """Return the colour of a line's label as ``#RRGGBB``."""
    return paint(_LABELS.get(colour, colour), colours)


def _reach(drawing: Drawing, lines: Sequence[Line]) -> tuple[float, float]:
    """Return how far a drawing reaches to the right and up."""
    right = max(float(line.x[-1]) for line in lines) or 1.0
    if drawing.x_names:
        right = len(drawing.x_names) - 0.5
    if drawing.y_high is not None:
        return right, drawing.y_high
    return right, max(float(line.y.max()) for line in lines) or 1.0


class LineChart(ChartFrame):
    """A chart that is also a table (key T), read with the pointer or the arrow keys.

    Dragging across it shows that part only; a double click or Escape shows all of it again.

    The drawing library is brought in off the window's thread, when the chart is first shown.
    """

    def __init__(self) -> None:
        super().__init__()
        self._drawing = Drawing("", "", "", ())
        self._pg: Any = None
        self._plot: Any = None
        self._items: list[Any] = []
        self._labels: list[tuple[Line, Any]] = []
        self._cursor: Any = None
        self._cursor_at: int | None = None
        #: Whether there is something to draw that nobody has looked at.
        self._stale = True
        #: Which part is shown, along.
        self._part: tuple[float, float] | None = None
        self._ground = QColor()
        if _loaded:
            self._begin(_loaded[0])
        else:
            in_background(self, load_library, self._begin, self.failed.emit)

    @property
    def drawing(self) -> Drawing:
        """What is shown."""
        return self._drawing

    def draw(self, drawing: Drawing) -> None:
        """Show another drawing."""
        if (drawing.title, drawing.x_title) != (self._drawing.title, self._drawing.x_title):
            self._part = None
        self._drawing = drawing
        self._cursor_at = None
        self._tell()
        self._stale = True
        if self.isVisible():
            self._redraw()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Draw what was asked for while nobody looked."""
        super().showEvent(event)
        if self._stale:
            self._redraw()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if theme.palette_changed(event) and self._plot is not None:
            self._paint_frame(self.palette(), theme.colours())
            self._redraw()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Walk along the line with the arrow keys; with + and - show less or more of it."""
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if event.text() in ("+", "-") and self.zooms:
            self._zoom_by(0.5 if event.text() == "+" else 2.0)
            return
        if event.key() == Qt.Key.Key_Escape and self._part is not None:
            self.zoom(None)
            return
        lines = self._lines
        if step is None or not lines or self._plot is None:
            super().keyPressEvent(event)
            return
        count = len(lines[0].x)
        stride = max(1, count // 50)
        at = count - 1 if self._cursor_at is None else self._cursor_at + step * stride
        self._point_at(min(max(at, 0), count - 1))

    @property
    def zooms(self) -> bool:
        """Whether a part of it can be shown: not of bars that have names."""
        return not self._drawing.x_names and any(len(line.x) > 2 for line in self._drawing.lines)

    @property
    def part(self) -> tuple[float, float] | None:
        """The part that is shown, along; ``None`` is all of it."""
        return self._part

    def zoom(self, part: tuple[float, float] | None) -> None:
        """Show a part only, or all of it."""
        if part is not None:
            low, high = sorted(part)
            part = (low, high) if high > low else None
        self._part = part
        self._cursor_at = None
        self._redraw()

    def _zoom_by(self, factor: float) -> None:
        """Show half of what is shown around what is pointed at, or twice as much."""
        ends = [line.x for line in self._drawing.lines if len(line.x)]
        whole = (min(float(x[0]) for x in ends), max(float(x[-1]) for x in ends))
        low, high = self._part or whole
        lines = self._lines
        middle = (low + high) / 2
        if self._cursor_at is not None and lines:
            middle = float(lines[0].x[min(self._cursor_at, len(lines[0].x) - 1)])
        half = factor * (high - low) / 2
        part = max(middle - half, whole[0]), min(middle + half, whole[1])
        self.zoom(None if part == whole else part)

    @property
    def _lines(self) -> list[Line]:
        """The lines, as much of each as is shown."""
        lines = [line for line in self._drawing.lines if len(line.x)]
        if self._part is None:
            return lines
        pieces = [cut(line, *self._part) for line in lines]
        return [line for line in pieces if len(line.x)] or lines

    # Drawing

    def _begin(self, library: ModuleType) -> None:
        self._pg = library
        plot = library.PlotWidget(self, background=None)
        plot.setFrameShape(plot.Shape.NoFrame)
        plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        plot.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        plot.setAntialiasing(True)
        # its ground is the window's, which another theme changes
        plot.setCacheMode(plot.CacheModeFlag.CacheNone)
        item = plot.getPlotItem()
        item.setMenuEnabled(False)
        item.hideButtons()
        item.setMouseEnabled(x=False, y=False)
        item.getViewBox().setDefaultPadding(0)
        item.getViewBox().sigResized.connect(lambda _box: self._arrange())
        for side in ("left", "bottom"):
            axis = item.getAxis(side)
            axis.enableAutoSIPrefix(False)  # noqa: FBT003 - the library's own signature
            axis.setStyle(tickLength=-4)
        item.showGrid(y=True, alpha=0.12)
        item.getAxis("bottom").setHeight(round(2.1 * self.fontMetrics().height()))
        plot.scene().sigMouseMoved.connect(self._hover)
        plot.leaveEvent = lambda _event: self._point_at(None)
        self._dragging = Dragging(plot, lambda: self.zooms)
        self._dragging.dragged.connect(self.zoom)
        self._plot = plot
        self._stack.addWidget(plot)
        self._paint_frame(self.palette(), theme.colours())
        self._redraw()

    def _paint_frame(self, palette: QPalette, colours: theme.Colours) -> None:
        """Colour the axes; per chart, so that an exported one can differ from the screen."""
        item = self._plot.getPlotItem()
        self._ground = QColor(palette.color(QPalette.ColorRole.Window))
        self._ground.setAlphaF(0.8)
        for side in ("left", "bottom"):
            axis = item.getAxis(side)
            axis.setPen(self._pen(colours.line))
            axis.setTextPen(palette.color(QPalette.ColorRole.WindowText))
            axis.setTickFont(theme.scaled(self.font(), 0.9))
            axis.label.setFont(theme.scaled(self.font(), 0.9))

    def _pen(self, colour: str, *, dashed: bool = False) -> object:
        # a cosmetic pen counts the screen's own pixels: without this it thins out at 200 %
        return self._pg.mkPen(
            colour,
            width=max(1.0, self.devicePixelRatioF()),
            style=Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine,
        )

    def _redraw(self, colours: theme.Colours | None = None) -> None:
        self._stale = False
        if self._as_table.isChecked():
            self._stack.setCurrentWidget(self._table)
            return
        if self._plot is None or self._drawing.empty:
            self._empty.setText("No data yet." if self._drawing.empty else "Preparing the chart…")
            self._stack.setCurrentWidget(self._empty)
            return
        self._stack.setCurrentWidget(self._plot)
        item = self._plot.getPlotItem()
        for old in self._items:
            item.removeItem(old)
        self._items, self._labels = [], []
        self._cursor = None
        colours = colours or theme.colours()
        for line in self._lines:
            self._add_line(line, colours)
        self._arrange()
        self._reading.setText("")

    def _add_line(self, line: Line, colours: theme.Colours) -> None:
        """Draw a line, and its label, which has no place yet."""
        colour = paint(line.colour, colours)
        if line.low is not None and line.high is not None:
            self._add_band(line.x, line.low, line.high, colour)
        match line.mark:
            case Mark.BARS:
                self._add_bars(line, colour, colours.quiet)
            case Mark.DOTS:
                self._add(self._dots(line, colour, size=4.0))
            case Mark.POINTS:
                self._add(self._curve(line, colour))
                self._add(self._dots(line, colour, size=7.0))
            case Mark.LINE:
                self._add(self._curve(line, colour))
        if line.mark is Mark.BARS:
            return
        value = "" if line.mark is Mark.DOTS else f" {self._drawing.y_text(line.y[-1])}"
        # a point must not touch it
        gap = "" if line.mark is Mark.LINE else " "
        ink = paint_label(line.colour, colours)
        label = self._text(f"{gap}{line.name}{value}", ink, anchor=(0, 0.5))
        label.setZValue(1)
        self._labels.append((line, label))

    def _add(self, new: Any) -> None:  # noqa: ANN401 - the library has no types
        self._plot.getPlotItem().addItem(new, ignoreBounds=True)
        self._items.append(new)

    def _curve(self, line: Line, colour: str) -> object:
        return self._pg.PlotCurveItem(
            *decimate(line.x, line.y), pen=self._pen(colour, dashed=line.dashed)
        )

    def _dots(self, line: Line, colour: str, size: float) -> object:
        return self._pg.ScatterPlotItem(
            *decimate(line.x, line.y), size=size, pen=None, brush=self._pg.mkBrush(colour)
        )

    def _add_band(
        self,
        x: NDArray[np.float64],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        colour: str,
    ) -> None:
        ends = [self._pg.PlotCurveItem(*decimate(x, end), pen=None) for end in (low, high)]
        shade = QColor(colour)
        shade.setAlphaF(0.16)
        for new in (*ends, self._pg.FillBetweenItem(*ends, brush=shade)):
            self._add(new)

    def _add_bars(self, line: Line, colour: str, ink: str) -> None:
        """Draw bars, each with its number above it."""
        self._add(
            self._pg.BarGraphItem(
                x=line.x, height=line.y, width=_BAR, pen=None, brush=self._pg.mkBrush(colour)
            )
        )
        for x, y in zip(line.x.tolist(), line.y.tolist(), strict=True):
            self._text(self._drawing.y_text(y), ink, anchor=(0.5, 1.0)).setPos(x, y)

    def _text(self, text: str, colour: str, anchor: tuple[float, float]) -> Any:  # noqa: ANN401 - the library has no types
        # a line may run below it
        fill = self._pg.mkBrush(self._ground)
        label = self._pg.TextItem(text, color=colour, anchor=anchor, fill=fill)
        label.setFont(theme.scaled(self.font(), 0.95, strong=True))
        self._add(label)
        return label

    def _arrange(self) -> None:
        """Put each label beside its line's end, apart from the others, and make room for them."""
        lines = self._lines
        if not lines or not self._items:
            return
        item = self._plot.getPlotItem()
        view = item.getViewBox()
        width, height = max(view.width(), 1.0), max(view.height(), 1.0)
        sizes = [label.boundingRect() for _line, label in self._labels]
        line_height = theme.scaled(self.font(), 0.95, strong=True)
        tall = max((size.height() for size in sizes), default=1.7 * line_height.pointSizeF())
        right, top = _reach(self._drawing, lines)
        left, bottom = (-0.5 if self._drawing.x_names else 0.0), self._drawing.y_low
        if self._part is not None:
            left, right = self._part[0], min(right, self._part[1])
        self._set_ticks(max(left, 0.0), right, top, height)
        room = max((size.width() for size in sizes), default=0.0)
        x_high = left + (right - left) / (1 - min(room / width, 0.5))
        bars = any(line.mark is Mark.BARS for line in lines)
        y_high = bottom + (top - bottom) / (1 - min((1.2 if bars else 0.5) * tall / height, 0.4))
        item.setXRange(left, x_high)
        item.setYRange(bottom, y_high)
        scale = (y_high - bottom) / height
        ends = [(float(line.y[-1]) - bottom) / scale for line, _label in self._labels]
        half = 0.35 * tall
        places = apart([end - half for end in ends], [2 * half] * len(ends), height)
        for (line, label), up in zip(self._labels, places, strict=True):
            label.setPos(min(float(line.x[-1]), right), bottom + (up + half) * scale)

    def _set_ticks(self, left: float, right: float, top: float, height: float) -> None:
        item = self._plot.getPlotItem()
        # no more of them than there is room for
        upwards = min(max(int(height / (1.6 * self.fontMetrics().height())), 1), 4)
        drawing = self._drawing
        along = (
            [(float(i), name) for i, name in enumerate(drawing.x_names)]
            if drawing.x_names
            else round_between(left, right)
        )
        up = [
            (value, f"{text}{drawing.y_unit}")
            for value, text in round_between(drawing.y_low, top, upwards)
        ]
        for side, texts, title in (
            ("bottom", along, drawing.x_title),
            ("left", up, drawing.y_title),
        ):
            axis = item.getAxis(side)
            axis.setTicks([texts])
            axis.setLabel(title)
            if side == "left":
                metrics = self.fontMetrics()
                widest = max(metrics.horizontalAdvance(text) for _value, text in texts)
                axis.setWidth(widest + metrics.height() + theme.GAP)

    # Reading

    def _hover(self, where: QPointF) -> None:
        lines = self._lines
        if not lines or self._drawing.empty:
            return
        x = self._plot.getPlotItem().getViewBox().mapSceneToView(where).x()
        self._point_at(min(int(np.searchsorted(lines[0].x, x)), len(lines[0].x) - 1))

    def _point_at(self, position: int | None) -> None:
        """Show the numbers at a position of the first line, or none."""
        self._cursor_at = position
        lines = self._lines
        if position is None or not lines or self._plot is None:
            if self._cursor is not None:
                self._cursor.hide()
            self._reading.setText("")
            return
        x = float(lines[0].x[position])
        if self._cursor is None:
            self._cursor = self._pg.InfiniteLine(angle=90, pen=self._pen(theme.colours().undecided))
            self._plot.getPlotItem().addItem(self._cursor, ignoreBounds=True)
            self._items.append(self._cursor)
        self._cursor.setPos(x)
        self._cursor.show()
        values = [
            self._read_line(line, min(int(np.searchsorted(line.x, x)), len(line.x) - 1))
            for line in lines
            if x <= line.x[-1]
        ]
        self._read(f"{self._drawing.x_text(x)} {self._drawing.x_title}: {', '.join(values)}")

    def _read_line(self, line: Line, at: int) -> str:
        drawing = self._drawing
        text = f"{line.name} {drawing.y_text(line.y[at])}"
        if line.low is None or line.high is None:
            return text
        return f"{text} ({drawing.y_text(line.low[at])} to {drawing.y_text(line.high[at])})"

    def _render(self, painter: QPainter) -> None:
        if self._plot is None or self._drawing.empty or self._as_table.isChecked():
            self._stack.render(painter, QPoint())
            return
        light = QPalette()
        light.setColor(QPalette.ColorRole.WindowText, Qt.GlobalColor.black)
        light.setColor(QPalette.ColorRole.Window, Qt.GlobalColor.white)
        self._paint_frame(light, theme.LIGHT)
        self._redraw(theme.LIGHT)
        shown = self._plot.viewport().rect()
        self._plot.render(painter, QRectF(shown), shown)
        self._paint_frame(self.palette(), theme.colours())
        self._redraw()
