"""A line chart with a table twin: little to draw, numbers at hand, everything to take away."""

from __future__ import annotations

import csv
import importlib
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QPainter,
    QPalette,
    QShowEvent,
)
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QSizePolicy,
    QStackedWidget,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from fairdesk.errors import FairDeskError
from fairdesk.gui import parts, theme
from fairdesk.gui.background import in_background
from fairdesk.gui.keys import shortcut

#: Points of a line that are drawn at most: more cost time and show nothing more.
MOST_POINTS = 1_000
#: Rows of the table twin at most.
_MOST_ROWS = 200

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()

#: The drawing library, once it is loaded.
_loaded: list[ModuleType] = []


def load_library() -> ModuleType:
    """Load the drawing library. Takes a second: call it in the background, before it is needed."""
    if not _loaded:
        _loaded.append(importlib.import_module("pyqtgraph"))
    return _loaded[0]


@dataclass(frozen=True)
class Line:
    """One line of a chart.

    Attributes
    ----------
    name : str
        Its direct label.
    x, y : NDArray[np.float64]
        ``(m,)``; x ascending.
    colour : str
        A name of `fairdesk.gui.theme.Colours`, or ``"series 0"`` and on.
    dashed : bool
        Told apart by more than its colour.
    """

    name: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    colour: str
    dashed: bool = False


@dataclass(frozen=True)
class Drawing:
    """All that a chart shows.

    Attributes
    ----------
    title : str
        What it tells.
    x_title, y_title : str
        What the axes count, with the unit.
    lines : tuple[Line, ...]
        May be empty.
    x_digits : int
        Decimals of numbers along x.
    """

    title: str
    x_title: str
    y_title: str
    lines: tuple[Line, ...]
    x_digits: int = 0

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not any(len(line.x) > 1 for line in self.lines)

    def summary(self) -> str:
        """Tell the chart's numbers in words, for those who do not see it."""
        if self.empty:
            return f"{self.title}: nothing yet."
        ends = "; ".join(
            f"{line.name} {line.y[-1]:,.0f} at {line.x[-1]:,.{self.x_digits}f}"
            for line in self.lines
            if len(line.x)
        )
        return f"{self.title}. {self.y_title} against {self.x_title}: {ends}."

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Give the chart as a table: a header and rows; lines that share x share rows.

        Parameters
        ----------
        most : int, optional
            Keep so many rows at most, first and last among them.
        """
        if not self.lines:
            return (self.x_title,), []
        first = self.lines[0].x
        if all(line.x is first for line in self.lines):
            picked = _spread(len(first), most)
            return (self.x_title, *(line.name for line in self.lines)), [
                (
                    f"{first[i]:.{self.x_digits}f}",
                    *(f"{line.y[i]:.0f}" for line in self.lines),
                )
                for i in picked
            ]
        share = None if most is None else max(2, most // len(self.lines))
        return ("line", self.x_title, self.y_title), [
            (line.name, f"{line.x[i]:.{self.x_digits}f}", f"{line.y[i]:.0f}")
            for line in self.lines
            for i in _spread(len(line.x), share)
        ]


def _spread(count: int, most: int | None) -> list[int]:
    """Pick positions evenly, the first and last among them."""
    if most is None or count <= most:
        return list(range(count))
    return sorted({round(place) for place in np.linspace(0, count - 1, most).tolist()})


def decimate(
    x: NDArray[np.float64], y: NDArray[np.float64], most: int = MOST_POINTS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Thin out a line, keeping the least and greatest of each stretch, and both ends.

    Parameters
    ----------
    x, y : NDArray[np.float64]
        ``(m,)``.
    most : int
        Points to keep at most; at least 4.
    """
    if len(x) <= most:
        return x, y
    edges = np.linspace(1, len(x) - 1, (most - 2) // 2 + 1).astype(int)
    kept = {0, len(x) - 1}
    for low, high in pairwise(edges.tolist()):
        kept.add(low + int(y[low:high].argmin()))
        kept.add(low + int(y[low:high].argmax()))
    positions = np.array(sorted(kept))
    return x[positions], y[positions]


def apart(places: Sequence[float], least: float, most: float) -> list[float]:
    """Move labels apart, each as little as this simple way finds, within an axis.

    Parameters
    ----------
    places : sequence of float
        Where the middles of labels would stand, upwards from the axis' start at 0.
    least : float
        The height of a label.
    most : float
        The axis' end.

    Returns
    -------
    list of float
        Their places; whichever was higher still is. When there are too many they overlap.
    """
    moved = list(places)
    upwards = sorted(range(len(moved)), key=lambda each: moved[each])
    floor = least / 2
    for position in upwards:
        moved[position] = max(moved[position], floor)
        floor = moved[position] + least
    ceiling = most - least / 2
    for position in reversed(upwards):
        moved[position] = min(moved[position], ceiling)
        ceiling = moved[position] - least
    return moved


def ticks(high: float, about: int = 5) -> list[float]:
    """Give round numbers from 0 up to ``high``, about so many."""
    if high <= 0:
        return [0.0]
    raw = high / about
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= raw * 0.999)
    return [float(step * i) for i in range(int(high / step * 1.0001) + 1)]


def _tick_text(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:g}"


def _paint(colour: str, colours: theme.Colours) -> str:
    """Give a line's colour as ``#RRGGBB``."""
    name, _, number = colour.partition(" ")
    if number:
        return colours.series[int(number) % len(colours.series)]
    return str(getattr(colours, name))


def _reach(lines: Sequence[Line]) -> tuple[float, float]:
    """Give how far lines reach to the right and up."""
    right = max(float(line.x[-1]) for line in lines) or 1.0
    return right, max(float(line.y.max()) for line in lines) or 1.0


class _Twin(QAbstractTableModel):
    """The chart's numbers as a table."""

    def __init__(self) -> None:
        super().__init__()
        self._header: tuple[str, ...] = ()
        self._rows: list[tuple[str, ...]] = []

    def show(self, drawing: Drawing) -> None:
        self.beginResetModel()
        self._header, self._rows = drawing.table(_MOST_ROWS)
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _ROOT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(self._header)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._header[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.DisplayRole:
            text = self._rows[index.row()][index.column()]
            return f"{float(text):,.10g}" if text.replace(".", "", 1).isdigit() else text
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None


class LineChart(QWidget):
    """A chart that is also a table (key T), read with the pointer or the arrow keys.

    The drawing library is brought in off the window's thread, when the chart is first shown.

    Signals
    -------
    said : str
        Something was copied or saved; for the status bar.
    failed : FairDeskError
        A file could not be written.
    """

    said = Signal(str)
    failed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._drawing = Drawing("", "", "", ())
        self._pg: Any = None
        self._plot: Any = None
        self._items: list[Any] = []
        self._labels: list[Any] = []
        self._cursor: Any = None
        self._cursor_at: int | None = None

        self._reading = parts.quiet()
        self._reading.setWordWrap(False)
        self._reading.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.tools = QHBoxLayout()
        self.tools.setSpacing(theme.TIGHT)
        self._as_table = QToolButton()
        self._more = QToolButton()
        self._empty = parts.quiet("Nothing to draw yet.")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._twin = _Twin()
        self._table = QTableView()
        self._table.setModel(self._twin)
        self._table.verticalHeader().hide()
        self._table.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 7)
        self._table.horizontalHeader().setDefaultAlignment(
            Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        )
        self._table.setAlternatingRowColors(True)
        self._table.setShowGrid(False)
        self._table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._table)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.TIGHT)
        column.addLayout(self._make_head())
        column.addWidget(self._stack, 1)
        shortcut(self, "T", self._as_table.toggle)
        if _loaded:
            self._begin(_loaded[0])
        else:
            in_background(self, load_library, self._begin, self.failed.emit)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for a comfortable size."""
        return QSize(420, 190)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Stay readable."""
        return QSize(240, 90)

    @property
    def drawing(self) -> Drawing:
        """What is shown."""
        return self._drawing

    def toggle_table(self) -> None:
        """Turn from the chart to its table, or back."""
        self._as_table.toggle()

    def draw(self, drawing: Drawing) -> None:
        """Show another drawing."""
        self._drawing = drawing
        self._cursor_at = None
        self.setAccessibleName(drawing.title)
        self.setAccessibleDescription(drawing.summary())
        self._table.setAccessibleName(f"{drawing.title}, as a table")
        if self._as_table.isChecked():
            self._twin.show(drawing)
        if self.isVisible():
            self._redraw()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Draw what was asked for while nobody looked."""
        super().showEvent(event)
        self._redraw()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if theme.palette_changed(event) and self._plot is not None:
            self._paint_frame(self.palette(), theme.colours())
            self._redraw()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Walk along the line with the arrow keys."""
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        lines = [line for line in self._drawing.lines if len(line.x)]
        if step is None or not lines or self._plot is None:
            super().keyPressEvent(event)
            return
        count = len(lines[0].x)
        stride = max(1, count // 50)
        at = count - 1 if self._cursor_at is None else self._cursor_at + step * stride
        self._point_at(min(max(at, 0), count - 1))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """Offer what can be taken away."""
        self._more_menu.exec(event.globalPos())

    def _show_menu(self) -> None:
        self._more_menu.exec(self._more.mapToGlobal(self._more.rect().bottomLeft()))

    def _make_head(self) -> QHBoxLayout:
        """Make the line above the chart: its tools, what is pointed at, table and menu."""
        self._as_table.setText("Table")
        self._as_table.setToolTip("Show the numbers as a table (T)")
        self._as_table.setCheckable(True)
        self._as_table.setAccessibleName("Show the chart as a table")
        self._as_table.toggled.connect(self._turn)
        self._more.setText("⋯")
        self._more.setToolTip("Copy or save this chart")
        self._more.setAccessibleName("Copy or save this chart")
        self._more_menu = self._menu()
        # a menu of the button's own would draw an arrow beside the dots
        self._more.clicked.connect(self._show_menu)
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 0, 0)
        head.setSpacing(theme.TIGHT)
        head.addLayout(self.tools)
        head.addSpacing(theme.NEAR)
        head.addWidget(self._reading, 1)
        head.addWidget(self._as_table)
        head.addWidget(self._more)
        return head

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
        self._plot = plot
        self._stack.addWidget(plot)
        self._paint_frame(self.palette(), theme.colours())
        self._redraw()

    def _paint_frame(self, palette: QPalette, colours: theme.Colours) -> None:
        """Colour the axes; per chart, so that an exported one can differ from the screen."""
        item = self._plot.getPlotItem()
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
        if self._as_table.isChecked():
            self._stack.setCurrentWidget(self._table)
            return
        if self._plot is None or self._drawing.empty:
            self._empty.setText(
                "Nothing to draw yet." if self._drawing.empty else "Preparing the chart…"
            )
            self._stack.setCurrentWidget(self._empty)
            return
        self._stack.setCurrentWidget(self._plot)
        item = self._plot.getPlotItem()
        for old in self._items:
            item.removeItem(old)
        self._items, self._labels = [], []
        self._cursor = None
        lines = [line for line in self._drawing.lines if len(line.x)]
        colours = colours or theme.colours()
        for line in lines:
            self._add_line(line, _paint(line.colour, colours))
        self._arrange()
        self._reading.setText("")

    def _add_line(self, line: Line, colour: str) -> None:
        """Draw a line, and its label, which has no place yet."""
        item = self._plot.getPlotItem()
        curve = self._pg.PlotCurveItem(
            *decimate(line.x, line.y), pen=self._pen(colour, dashed=line.dashed)
        )
        label = self._pg.TextItem(f"{line.name} {line.y[-1]:,.0f}", color=colour, anchor=(0, 0.5))
        label.setFont(theme.scaled(self.font(), 0.95, strong=True))
        for new in (curve, label):
            item.addItem(new, ignoreBounds=True)
            self._items.append(new)
        self._labels.append(label)

    def _arrange(self) -> None:
        """Put each label beside its line's end, apart from the others, and make room for them."""
        lines = [line for line in self._drawing.lines if len(line.x)]
        if not self._labels or len(lines) != len(self._labels):
            return
        item = self._plot.getPlotItem()
        view = item.getViewBox()
        width, height = max(view.width(), 1.0), max(view.height(), 1.0)
        sizes = [label.boundingRect() for label in self._labels]
        tall = max(size.height() for size in sizes)
        right, top = _reach(lines)
        self._set_ticks(right, top, height)
        room = max(size.width() for size in sizes)
        x_high = right / (1 - min(room / width, 0.5))
        y_high = top / (1 - min(tall / 2 / height, 0.4))
        item.setXRange(0, x_high)
        item.setYRange(0, y_high)
        ends = [float(line.y[-1]) / y_high * height for line in lines]
        places = apart(ends, 0.7 * tall, height)
        for label, line, up in zip(self._labels, lines, places, strict=True):
            label.setPos(float(line.x[-1]), up * y_high / height)

    def _set_ticks(self, right: float, top: float, height: float) -> None:
        item = self._plot.getPlotItem()
        # no more of them than there is room for
        upwards = min(max(int(height / (1.6 * self.fontMetrics().height())), 1), 4)
        for side, high, title, about in (
            ("bottom", right, self._drawing.x_title, 6),
            ("left", top, self._drawing.y_title, upwards),
        ):
            axis = item.getAxis(side)
            texts = [(value, _tick_text(value)) for value in ticks(high, about)]
            axis.setTicks([texts])
            axis.setLabel(title)
            if side == "left":
                metrics = self.fontMetrics()
                widest = max(metrics.horizontalAdvance(text) for _value, text in texts)
                axis.setWidth(widest + metrics.height() + theme.GAP)

    # Reading

    def _hover(self, where: QPointF) -> None:
        lines = [line for line in self._drawing.lines if len(line.x)]
        if not lines or self._drawing.empty:
            return
        x = self._plot.getPlotItem().getViewBox().mapSceneToView(where).x()
        self._point_at(min(int(np.searchsorted(lines[0].x, x)), len(lines[0].x) - 1))

    def _point_at(self, position: int | None) -> None:
        """Show the numbers at a position of the first line, or none."""
        self._cursor_at = position
        lines = [line for line in self._drawing.lines if len(line.x)]
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
            f"{line.name} {line.y[min(int(np.searchsorted(line.x, x)), len(line.x) - 1)]:,.0f}"
            for line in lines
            if x <= line.x[-1]
        ]
        text = f"{x:,.{self._drawing.x_digits}f} {self._drawing.x_title}: {', '.join(values)}"
        self._reading.setText(text)
        self._reading.setAccessibleName(text)

    def _turn(self, table: bool) -> None:  # noqa: FBT001 - the signal's argument
        if table:
            self._twin.show(self._drawing)
            if self.hasFocus():
                self._table.setFocus()
        elif self._table.hasFocus():
            self.setFocus()
        self._redraw()

    # Taking away

    def _menu(self) -> QMenu:
        menu = QMenu(self)
        for text, run in (
            ("Copy &image", self.copy_image),
            ("Copy &data", self.copy_data),
            ("Save as &SVG…", lambda: self._save("SVG drawing (*.svg)", ".svg", self.write_svg)),
            ("Save as &PNG…", lambda: self._save("PNG image (*.png)", ".png", self.write_png)),
            ("Save data as &CSV…", lambda: self._save("CSV table (*.csv)", ".csv", self.write_csv)),
        ):
            menu.addAction(parts.action(self, text, run))
        return menu

    def copy_image(self) -> None:
        """Put the chart on the clipboard, as the report would show it: light."""
        QGuiApplication.clipboard().setImage(self._image())
        self.said.emit("The chart is on the clipboard.")

    def copy_data(self) -> None:
        """Put the chart's numbers on the clipboard, with tabs between them."""
        header, rows = self._drawing.table()
        QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in (header, *rows)))
        self.said.emit("The chart’s numbers are on the clipboard.")

    def write_csv(self, path: Path) -> None:
        """Write the chart's numbers, with a header."""
        header, rows = self._drawing.table()
        text = io.StringIO(newline="")
        csv.writer(text).writerows((header, *rows))
        path.write_text(text.getvalue(), encoding="utf-8", newline="")

    def write_png(self, path: Path) -> None:
        """Write the chart as an image."""
        if not self._image().save(str(path)):
            raise OSError(f"cannot write {path}")

    def write_svg(self, path: Path) -> None:
        """Write the chart as a drawing."""
        out = QSvgGenerator()
        out.setFileName(str(path))
        out.setSize(self._stack.size())
        out.setViewBox(QRectF(QPointF(0, 0), self._stack.size().toSizeF()))
        out.setTitle(self._drawing.title)
        out.setDescription(self._drawing.summary())
        painter = QPainter(out)
        self._in_light(lambda: self._render(painter))
        painter.end()

    def _image(self) -> QImage:
        size = self._stack.size()
        image = QImage(size * 2, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(2)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        self._in_light(lambda: self._render(painter))
        painter.end()
        return image

    def _render(self, painter: QPainter) -> None:
        if self._plot is not None and not self._drawing.empty:
            shown = self._plot.viewport().rect()
            self._plot.render(painter, QRectF(shown), shown)
        else:
            self._stack.render(painter, QPoint())

    def _in_light(self, render: Callable[[], None]) -> None:
        """Draw with the light colours, whatever the window has: it goes on paper."""
        if self._plot is None or self._as_table.isChecked():
            render()
            return
        light = QPalette()
        light.setColor(QPalette.ColorRole.WindowText, Qt.GlobalColor.black)
        self._paint_frame(light, theme.LIGHT)
        self._redraw(theme.LIGHT)
        render()
        self._paint_frame(self.palette(), theme.colours())
        self._redraw()

    def _save(self, kind: str, suffix: str, write: Callable[[Path], None]) -> None:
        name, _chosen = QFileDialog.getSaveFileName(self, "Save the chart", f"chart{suffix}", kind)
        if not name:
            return
        path = Path(name).with_suffix(suffix) if not Path(name).suffix else Path(name)
        try:
            write(path)
        except OSError as error:
            self.failed.emit(
                FairDeskError(
                    "The chart could not be saved.",
                    why=f"{error.strerror or error}.",
                    remedy="Choose another folder.",
                )
            )
        else:
            self.said.emit(f"Saved {path.name}.")
