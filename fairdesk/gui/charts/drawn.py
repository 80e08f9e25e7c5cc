"""Charts of the window: drawn, pointed at, walked with the arrow keys, with a table beside them.

A chart is copied and saved as the report would show it: in light colours, whatever the window has.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path as File
from typing import Generic, Protocol, TypeVar

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFontInfo,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMenu,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from fairdesk.charts import svg
from fairdesk.errors import FairDeskError
from fairdesk.gui.charts.canvas import LIGHT, Canvas, Layable
from fairdesk.gui.kit import fields, hints, layouts, parts, theme
from fairdesk.gui.kit.dropping import ask_save
from fairdesk.gui.kit.keys import shortcut
from fairdesk.gui.kit.tables import TextTable


class Picture(Canvas):
    """Shows a chart between the widgets of a page.

    Parameters
    ----------
    presses : str
        As of `offer`.
    """

    def __init__(self, drawing: Layable, presses: str = "") -> None:
        super().__init__()
        self._summary = ""
        self.offer(presses)
        self.pointed.connect(self._tell)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.draw(drawing)

    def draw(self, drawing: Layable) -> None:
        """Show something else."""
        if drawing == self.drawing:
            return
        self.setAccessibleName(drawing.title)
        self._summary = drawing.summary()
        self.show_drawing(drawing)
        self._tell(self.marked.pointed)
        self._fit()

    def offer(self, presses: str) -> None:
        """Let its parts be pressed, with the mouse, or with the arrow keys and Enter.

        Parameters
        ----------
        presses : str
            Says what that does; empty where they cannot be pressed.
        """
        self._presses = presses
        self.setMouseTracking(bool(presses))
        policy = Qt.FocusPolicy.StrongFocus if presses else Qt.FocusPolicy.NoFocus
        self.setFocusPolicy(policy)
        self._tell(self.marked.pointed)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Walk its parts with the arrow keys, and press the one that is marked by Enter."""
        if self.zoom_by_key(event):
            return
        keys = [key for way in self.laid.down for key in way] if self._presses else []
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        now = keys.index(self.marked.pointed) if self.marked.pointed in keys else None
        if keys and step:
            at = 0 if now is None else min(max(now + step, 0), len(keys) - 1)
            self._point_at(keys[at])
        elif now is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.pressed.emit(keys[now])
        else:
            super().keyPressEvent(event)

    def _tell(self, key: int | None) -> None:
        """Say what is pointed at, and what pressing it does."""
        tip = self.tip(key) if key is not None else ""
        self.setToolTip(hints.plain(f"{tip}\n{self._presses}") if tip else "")
        self.setAccessibleDescription(f"{tip or self._summary}\n{self._presses}".strip())

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
        """Follow the size of type."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        """Be as high as all of it."""
        self.setFixedHeight(round(self.laid_on(self.size()).height))


_TAKE = "Copy or save this chart"
#: The least height of a chart; rows of its table at most.
_LEAST, _MOST_ROWS = 80, 200
_STEPS = {
    Qt.Key.Key_Left: ("across", -1),
    Qt.Key.Key_Right: ("across", 1),
    Qt.Key.Key_Up: ("down", -1),
    Qt.Key.Key_Down: ("down", 1),
}


def _holds_numbers(rows: Sequence[Sequence[str]], place: int) -> bool:
    texts = [row[place].replace(",", "") for row in rows]
    return any(texts) and all(_is_number(text) for text in texts if text)


def _is_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdigit()


def _grouped(text: str) -> str:
    """Put commas between a number's thousands; its digits stay as they are."""
    whole, point, rest = text.partition(".")
    sign = "-" if whole.startswith("-") else ""
    return f"{sign}{int(whole.removeprefix('-') or '0'):,}{point}{rest}"


class Drawable(Layable, Protocol):
    """What a chart with its table shows."""

    @property
    def heading(self) -> str:
        """What stands above it; nothing where its page says it."""

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return it as a table, a header and rows; of these at most so many."""


Shown = TypeVar("Shown", bound=Drawable)


class DrawnChart(QWidget, Generic[Shown]):
    """A chart, with its table (T); the arrow keys walk its parts.

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
    said : str
        Something was copied or saved; told for some seconds.
    failed : FairDeskError
        A file could not be written, or nothing can be drawn.
    """

    chosen = Signal(int)
    opened = Signal(int)
    said = Signal(str)
    failed = Signal(object)

    def __init__(self, drawing: Shown, size: float = 1.0, *, fills: bool = False) -> None:
        super().__init__()
        self._drawing = drawing
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.canvas = Canvas(fills=fills)
        self.canvas.pointed.connect(self._point_at)
        self.canvas.pressed.connect(self._click)
        self.canvas.failed.connect(self.failed)
        self._heading = parts.Words(drawing.heading, size=size, strong=True, wrap=False)
        # shown before it has a parent, it would be a window of its own for a moment
        if not drawing.heading:
            self._heading.hide()
        self._reading = parts.quiet()
        self._reading.setWordWrap(False)
        self._reading.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.tools = layouts.row(self._heading, spacing=theme.TIGHT)
        self._empty = parts.quiet("No data yet.")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = layouts.stack(self._empty, self.canvas)
        head = self._make_head()
        layouts.column(head, layouts.grow(self._stack), on=self, spacing=theme.TIGHT)
        shortcut(self, "T", self._as_table.toggle, "Show the chart as a table")

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for a comfortable size."""
        return QSize(420, 190)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Stay readable."""
        return QSize(240, 90)

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
        self._heading.setVisible(bool(drawing.heading))
        self.canvas.show_drawing(drawing)
        self._fit()
        self._tell()
        self._point_at(None)
        self._redraw()

    def choose(self, key: int | None) -> None:
        """Mark a part; nothing is told of it."""
        self.canvas.choose(key)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the size of type."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
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
            self._press(ways[0][0 if step > 0 else -1])
        else:
            self._press(along[min(max(along.index(now) + step, 0), len(along) - 1)])

    def toggle_table(self) -> None:
        """Turn from the chart to its table, or back."""
        self._as_table.toggle()

    def add_choice(
        self, choices: Sequence[tuple[str, str]], changed: Callable[[], None]
    ) -> list[QToolButton]:
        """Add buttons of which one is down, the first at first: each with what it shows."""
        buttons = [
            parts.tool_button(text, lambda _on: changed(), tip=shown, name=shown, checkable=True)
            for text, shown in choices
        ]
        fields.together(self, buttons)
        for button in buttons:
            # the chosen one is told by its weight too: its shade alone is faint in the dark
            button.toggled.connect(
                lambda on, each=button: each.setFont(theme.scaled(self.font(), 1.0, strong=on))
            )
            self.tools.addWidget(button)
        parts.in_order(self, *buttons)
        buttons[0].setChecked(True)
        return buttons

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """Offer what can be taken away."""
        self._more_menu.exec(event.globalPos())

    @cached_property
    def _table(self) -> TextTable:
        """The numbers; few charts are ever asked for them."""
        table = TextTable("", most=0)
        self._stack.addWidget(table)
        parts.in_order(self._more, table)
        return table

    def _redraw(self) -> None:
        """Show the chart, or its table, or why there is neither."""
        drawn = self._empty if self.drawing.empty else self.canvas
        self._stack.setCurrentWidget(self._table if self._as_table.isChecked() else drawn)

    def _tell(self) -> None:
        """Name what is shown for all readers, and renew the table."""
        drawing = self.drawing
        self.setAccessibleName(drawing.title)
        self.setAccessibleDescription(drawing.summary())
        if self._as_table.isChecked():
            self._show_twin()

    def _show_twin(self) -> None:
        head, rows = self.drawing.table(_MOST_ROWS)
        numbers = [place for place in range(len(head)) if _holds_numbers(rows, place)]
        self._table.setAccessibleName(f"{self.drawing.title}, as a table")
        grouped = [[_grouped(text) if _is_number(text) else text for text in row] for row in rows]
        self._table.show_rows(grouped, header=head, right=numbers)

    def _read(self, text: str) -> None:
        """Say what is pointed at."""
        self._reading.setText(text)
        self._reading.setAccessibleName(text)
        # who does not see it is told by the part that has the keyboard
        self.setAccessibleDescription(text or self.drawing.summary())

    def _show_menu(self) -> None:
        self._more_menu.exec(self._more.mapToGlobal(self._more.rect().bottomLeft()))

    def _make_head(self) -> QHBoxLayout:
        """Make the line above the chart: its tools, what is pointed at, table and menu."""
        name, tip = "Show the chart as a table", "Show the numbers as a table (T)"
        self._as_table = parts.tool_button("Table", tip=tip, name=name, checkable=True)
        self._as_table.toggled.connect(self._turn)
        # a menu of the button's own would draw an arrow beside the dots
        self._more = parts.tool_button("⋯", self._show_menu, tip=_TAKE, name=_TAKE)
        self._more_menu = self._menu()
        return layouts.row(
            *(self.tools, layouts.gap(theme.NEAR), layouts.grow(self._reading)),
            *(self._as_table, self._more),
            spacing=theme.TIGHT,
        )

    def _turn(self, table: bool) -> None:  # noqa: FBT001 - the signal's argument
        if table:
            self._show_twin()
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
        header, rows = self.drawing.table()
        QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in (header, *rows)))
        self.said.emit("The chart’s numbers are on the clipboard.")

    def write_csv(self, path: File) -> None:
        """Write the chart's numbers, with a header."""
        header, rows = self.drawing.table()
        text = io.StringIO(newline="")
        csv.writer(text).writerows((header, *rows))
        path.write_text(text.getvalue(), encoding="utf-8", newline="")

    def write_png(self, path: File) -> None:
        """Write the chart as an image."""
        if not self._image().save(str(path)):
            raise OSError(f"cannot write {path}")

    def write_svg(self, path: File) -> None:
        """Write the chart as a drawing whose texts stay texts."""
        font, size = QFontInfo(self.canvas.font()), self._stack.size()
        laid = self.canvas.laid_on(size)
        drawn = svg.document(
            size.width(),
            laid.height,
            svg.drawn(laid.shapes, LIGHT, font.pixelSize()),
            f"{self.drawing.title}. {self.drawing.summary()}",
            unit="px",
            fonts=f"'{font.family()}', sans-serif",
            size=font.pixelSize(),
        )
        path.write_text(drawn, encoding="utf-8", newline="")

    def _image(self) -> QImage:
        size = self._stack.size()
        image = QImage(size * 2, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(2)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        self.canvas.paint(painter, size)
        painter.end()
        return image

    def _save(self, kind: str, suffix: str, write: Callable[[File], None]) -> None:
        path = ask_save(self, "Save the chart", f"chart{suffix}", kind, suffix)
        if path is None:
            return
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

    def _fit(self) -> None:
        """Be as high as all of it."""
        if self.drawing.empty or self.canvas.fills:
            return
        head = max(self._heading.sizeHint().height(), self._more.sizeHint().height())
        needed = round(self.canvas.laid_on(self.size()).height)
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
        self.canvas.setToolTip(hints.plain(tip) if tip else "")
