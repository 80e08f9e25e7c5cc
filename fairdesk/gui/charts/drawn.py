"""Charts of the kit in the window: drawn, pointed at, walked with the arrow keys, taken away."""

from __future__ import annotations

from pathlib import Path as File
from typing import Generic, Protocol, TypeVar

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QFontInfo, QKeyEvent, QPainter, QResizeEvent

from fairdesk.charts import svg
from fairdesk.charts.shapes import Marked
from fairdesk.gui.charts.canvas import LIGHT, Canvas, Layable
from fairdesk.gui.charts.chart_frame import ChartFrame, Told
from fairdesk.gui.kit import parts, theme, tips

#: The least height of a chart.
_LEAST = 80


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
    fills : bool
        Whether it fills the height that it is given; else it is as high as what it shows.

    Signals
    -------
    chosen : int
        A part is chosen, by its key; not those that only tell something.
    opened : int
        A part is clicked, or Enter pressed on the one that is chosen.
    """

    chosen = Signal(int)
    opened = Signal(int)

    def __init__(self, drawing: Shown, size: float = 1.0, *, fills: bool = False) -> None:
        super().__init__()
        self._drawing = drawing
        self.canvas = Canvas(fills=fills)
        self.canvas.pointed.connect(self._point_at)
        self.canvas.pressed.connect(self._click)
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
        """Walk the parts with the arrow keys, open one by Enter; + and − zoom, Escape ends that."""
        if not self._as_table.isChecked() and self.canvas.zoom_by_key(event):
            return
        chosen = self.chosen_key
        if chosen is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit(chosen)
            return
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
            *(self.canvas.width(), laid.height, svg.drawn(laid.shapes, LIGHT, size)),
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
            self.canvas.paint(painter, LIGHT)

    def _fit(self) -> None:
        """Be as high as all of it."""
        if self.drawing.empty or self.canvas.fills:
            return
        head = max(self._heading.sizeHint().height(), self._more.sizeHint().height())
        needed = round(self.canvas.laid_on(self.width()).height)
        self.setFixedHeight(head + theme.TIGHT + max(needed, _LEAST))

    def _click(self, key: int) -> None:
        self._press(key)
        self.opened.emit(key)

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
