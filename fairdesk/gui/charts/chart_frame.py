"""What every chart has: a table twin one key away, numbers read with the keyboard, and a way out.

A chart is copied and saved as the report would show it: in light colours, whatever the window has.
"""

from __future__ import annotations

import csv
import io
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import (
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
    QPainter,
)
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import (
    QButtonGroup,
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
from fairdesk.gui.kit import parts, theme
from fairdesk.gui.kit.keys import shortcut
from fairdesk.gui.kit.table_model import Index, TableModel
from fairdesk.gui.kit.tables import aligned

#: Rows of the table twin at most.
_MOST_ROWS = 200

_ALIGNMENT = Qt.ItemDataRole.TextAlignmentRole


class Told(Protocol):
    """What is drawn, as far as every chart needs to know it."""

    @property
    def title(self) -> str:
        """What it tells."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return it as a table, a header and rows; of these at most so many."""


class _Twin(TableModel):
    """The chart's numbers as a table."""

    def __init__(self) -> None:
        super().__init__()
        self._header: tuple[str, ...] = ()
        self._rows: list[tuple[str, ...]] = []
        self._counts: list[bool] = []

    def show(self, drawing: Told) -> None:
        self.beginResetModel()
        self._header, self._rows = drawing.table(_MOST_ROWS)
        self._counts = [self._holds_numbers(column) for column in range(len(self._header))]
        self.endResetModel()

    def size(self) -> tuple[int, int]:
        return len(self._rows), len(self._header)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._header[section]
        return aligned(number=self.counts(section)) if role == _ALIGNMENT else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        text = self._rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return _grouped(text) if _is_number(text) else text
        return aligned(number=self.counts(index.column())) if role == _ALIGNMENT else None

    def counts(self, column: int) -> bool:
        """Return whether a column holds numbers, and nothing else."""
        return self._counts[column]

    def _holds_numbers(self, column: int) -> bool:
        texts = [row[column].replace(",", "") for row in self._rows]
        return any(texts) and all(_is_number(text) for text in texts if text)


def _is_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdigit()


def _grouped(text: str) -> str:
    """Put commas between a number's thousands; its digits stay as they are."""
    whole, point, rest = text.partition(".")
    sign = "-" if whole.startswith("-") else ""
    return f"{sign}{int(whole.removeprefix('-') or '0'):,}{point}{rest}"


class ChartFrame(QWidget):
    """A chart's surroundings; what is inside them is drawn by those that derive from it.

    Signals
    -------
    said : str
        Something was copied or saved; told for some seconds.
    failed : FairDeskError
        A file could not be written.
    """

    said = Signal(str)
    failed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._reading = parts.quiet()
        self._reading.setWordWrap(False)
        self._reading.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.tools = QHBoxLayout()
        self.tools.setSpacing(theme.TIGHT)
        self._as_table = QToolButton()
        self._more = QToolButton()
        self._empty = parts.quiet("No data yet.")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.TIGHT)
        column.addLayout(self._make_head())
        column.addWidget(self._stack, 1)
        shortcut(self, "T", self._as_table.toggle, "Show the chart as a table")

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for a comfortable size."""
        return QSize(420, 190)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Stay readable."""
        return QSize(240, 90)

    @property
    @abstractmethod
    def drawing(self) -> Told:
        """What is shown."""

    def toggle_table(self) -> None:
        """Turn from the chart to its table, or back."""
        self._as_table.toggle()

    def add_choice(
        self, choices: Sequence[tuple[str, str]], changed: Callable[[], None]
    ) -> list[QToolButton]:
        """Add buttons of which one is down, the first at first: each with what it shows."""
        group = QButtonGroup(self)
        for text, shown in choices:
            button = QToolButton()
            button.setText(text)
            button.setCheckable(True)
            button.setToolTip(shown)
            button.setAccessibleName(shown)
            # the chosen one is told by its weight too: its shade alone is faint in the dark
            button.toggled.connect(
                lambda on, each=button: each.setFont(theme.scaled(self.font(), 1.0, strong=on))
            )
            group.addButton(button)
            self.tools.addWidget(button)
        buttons = [each for each in group.buttons() if isinstance(each, QToolButton)]
        parts.in_order(self, *buttons)
        buttons[0].setChecked(True)
        group.buttonClicked.connect(lambda _button: changed())
        return buttons

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """Offer what can be taken away."""
        self._more_menu.exec(event.globalPos())

    @cached_property
    def _twin(self) -> _Twin:
        return _Twin()

    @cached_property
    def _table(self) -> QTableView:
        """The numbers; few charts are ever asked for them."""
        table = QTableView()
        table.setModel(self._twin)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 7)
        table.setAlternatingRowColors(True)
        table.setShowGrid(False)
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self._stack.addWidget(table)
        parts.in_order(self._more, table)
        return table

    @abstractmethod
    def _redraw(self) -> None:
        """Show the chart, or its table, or why there is neither."""

    def _show_picture(self, picture: QWidget, *, empty: bool) -> None:
        """Show the table where it is wanted, else the picture, or why there is none."""
        drawn = self._empty if empty else picture
        self._stack.setCurrentWidget(self._table if self._as_table.isChecked() else drawn)

    @abstractmethod
    def _render(self, painter: QPainter) -> None:
        """Paint the chart in light colours, as large as it is on the screen."""

    def _tell(self) -> None:
        """Name what is shown for all readers, and renew the table."""
        drawing = self.drawing
        self.setAccessibleName(drawing.title)
        self.setAccessibleDescription(drawing.summary())
        if self._as_table.isChecked():
            self._show_twin()

    def _show_twin(self) -> None:
        """Show the table; where it has words too, these get the room that numbers leave."""
        self._twin.show(self.drawing)
        self._table.setAccessibleName(f"{self.drawing.title}, as a table")
        columns = range(self._twin.columnCount())
        words = any(not self._twin.counts(column) for column in columns)
        header = self._table.horizontalHeader()
        needed = sum(
            max(self._table.sizeHintForColumn(column), header.sectionSizeHint(column)) + 1
            for column in columns
        )
        room = self._stack.width() - 2 * self._table.frameWidth()
        # what is a little wider than the room is scrolled: a number that is cut is none
        fits = words and needed <= 1.5 * room
        header.setStretchLastSection(needed <= room)
        for column in columns:
            narrow = fits or (words and self._twin.counts(column))
            self._table.horizontalHeader().setSectionResizeMode(
                column,
                QHeaderView.ResizeMode.ResizeToContents
                if narrow
                else QHeaderView.ResizeMode.Stretch,
            )

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

    def write_csv(self, path: Path) -> None:
        """Write the chart's numbers, with a header."""
        header, rows = self.drawing.table()
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
        out.setTitle(self.drawing.title)
        out.setDescription(self.drawing.summary())
        painter = QPainter(out)
        self._render(painter)
        painter.end()

    def _image(self) -> QImage:
        size = self._stack.size()
        image = QImage(size * 2, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(2)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        self._render(painter)
        painter.end()
        return image

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
