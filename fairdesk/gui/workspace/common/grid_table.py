"""A table of a document in the window: walked, sorted, copied, and as high as its rows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeySequence, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
)

from fairdesk.document.blocks import Grid
from fairdesk.gui.kit import theme, tips
from fairdesk.gui.kit.keys import shortcut
from fairdesk.gui.kit.tables import SortedItem, aligned, head_columns, height_around, read_only

#: A table of more rows than this scrolls by itself.
_ROWS = 16
#: A column of words asks for at most so many heights of a line, and has at least so many.
_LETTERS, _LEAST = 24, 9
#: Where a row stands in its block: on the screen it may be sorted.
_PLACE = Qt.ItemDataRole.UserRole + 1
_NUMBER = re.compile(r"[−-]?\d[\d,]*(?:\.\d+)?")


class GridTable(QTableWidget):
    """A table as high as its rows: cells are walked with the arrow keys, heads sort, it copies.

    Signals
    -------
    picked : int, int
        A cell is picked: the row as the block has it, and the column.
    opened : int
        A row is opened.
    """

    picked = Signal(int, int)
    opened = Signal(int)

    def __init__(self, grid: Grid) -> None:
        super().__init__(0, len(grid.header))
        self._grid = grid
        self._needed: list[int] = []
        read_only(
            self,
            grid.caption,
            "Arrow keys select a figure. Click a header to sort; Ctrl+C copies.",
            line=9,
        )
        head_columns(self, self._heads(), grid.right)
        self.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.DescendingOrder)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ContiguousSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setWordWrap(True)
        shortcut(self, QKeySequence.StandardKey.Copy, self.copy, f"Copy the table “{grid.caption}”")
        self.currentCellChanged.connect(self._tell)
        self.cellClicked.connect(self._tell)
        self.cellActivated.connect(lambda row, _column: self.opened.emit(self._place(row)))

    def show_grid(self, grid: Grid) -> None:
        """Show the rows of a table with the same columns, in the order chosen before."""
        if grid == self._grid and self.rowCount():
            return
        self._grid = grid
        picked = self._place(self.currentRow()) if self.selectedIndexes() else None
        column = self.currentColumn()
        with QSignalBlocker(self):
            # while it sorts, a row would move away under the hand that fills it
            self.setSortingEnabled(False)
            self.setRowCount(len(grid.rows))
            for row, texts in enumerate(grid.rows):
                for place, text in enumerate(texts):
                    number = place in grid.right
                    item = SortedItem(text, _value(text) if number else -row)
                    item.setData(_PLACE, row)
                    item.setToolTip(tips.plain(text))
                    item.setTextAlignment(aligned(number=number))
                    self.setItem(row, place, item)
            self.setSortingEnabled(True)
        self.mark(picked, column)
        head_columns(self, self._heads(), grid.right)
        self._needed = [*self._room()]
        self._fit()

    @property
    def room(self) -> int:
        """How wide it has to be to need no scroll bar."""
        return sum(self._needed) + 2 * self.frameWidth()

    def head(self, column: int) -> str:
        """Name a column."""
        return self._grid.header[column]

    def mark(self, place: int | None, column: int = 0) -> None:
        """Go to a row as the block has it, without telling of it; with ``None`` to none."""
        rows = (row for row in range(self.rowCount()) if self._place(row) == place)
        with QSignalBlocker(self):
            if (row := next(rows, None)) is None:
                self.clearSelection()
            else:
                self.setCurrentCell(row, column)

    def copy(self) -> None:
        """Copy the chosen rows, or all, with the header, for a spreadsheet."""
        rows = sorted({index.row() for index in self.selectedIndexes()}) or range(self.rowCount())
        lines = [self._grid.header, *(self._grid.rows[self._place(row)] for row in rows)]
        QApplication.clipboard().setText("\n".join("\t".join(line) for line in lines))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Divide the width anew."""
        super().resizeEvent(event)
        self._fit()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Let the wheel scroll the page, unless the keyboard is in the table."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def _place(self, row: int) -> int:
        item: QTableWidgetItem | None = self.item(row, 0)
        return -1 if item is None else int(item.data(_PLACE))

    def _tell(self, row: int, column: int, *_before: int) -> None:
        if 0 <= row < self.rowCount() and 0 <= column < self.columnCount():
            self.picked.emit(self._place(row), column)

    def _heads(self) -> list[str]:
        """Return the titles; a long one of numbers in two lines, as even as they can be."""
        heads = []
        for column, head in enumerate(self._grid.header):
            longest = max((len(row[column]) for row in self._grid.rows), default=len(head))
            breaks = [at for at, letter in enumerate(head) if letter == " "]
            if column in self._grid.right and breaks and len(head) > longest:
                _uneven, middle = min((abs(2 * at + 1 - len(head)), at) for at in breaks)
                heads.append(f"{head[:middle]}\n{head[middle + 1 :]}")
            else:
                heads.append(head)
        return heads

    def _room(self) -> Iterator[int]:
        """Yield how wide each column asks to be."""
        wide, most = self.fontMetrics().horizontalAdvance, _LETTERS * self.fontMetrics().height()
        for column, head in enumerate(self._heads()):
            texts = (*head.split("\n"), *(row[column] for row in self._grid.rows))
            needed = max(map(wide, texts)) + theme.GAP
            yield needed if column in self._grid.right else min(needed, most)

    def _fit(self) -> None:
        """Give numbers their room and words the rest, in more lines where that is little."""
        words = {at: wide for at, wide in enumerate(self._needed) if at not in self._grid.right}
        least = {at: min(wide, _LEAST * self.fontMetrics().height()) for at, wide in words.items()}
        asked = max(sum(words.values()), 1)
        rest = self.viewport().width() - (sum(self._needed) - sum(words.values()))
        tight = rest < sum(least.values())
        for column, wide in enumerate(self._needed):
            given = wide
            if column in words:
                given = least[column] if tight else max(wide * rest // asked, least[column])
            self.horizontalHeader().resizeSection(column, given)
        metrics, one = self.fontMetrics(), self.verticalHeader().defaultSectionSize()
        rooms = {column: self.columnWidth(column) - theme.GAP for column in words}
        with QSignalBlocker(self.verticalHeader()):
            # of a thousand rows each would be laid out for itself
            for row in range(self.rowCount()):
                texts = self._grid.rows[self._place(row)]
                wraps = (metrics.horizontalAdvance(texts[at]) > rooms[at] for at in words)
                lines = 1
                if any(wraps):
                    lines = max(_lines(metrics, texts[at], rooms[at]) for at in words)
                self.setRowHeight(row, one + (lines - 1) * metrics.lineSpacing())
        self.scheduleDelayedItemsLayout()
        high = sum(self.rowHeight(row) for row in range(min(self.rowCount(), _ROWS)))
        bar = self.horizontalScrollBar().sizeHint().height() if tight else 0
        self.setFixedHeight(high + height_around(self) + bar)


def _lines(metrics: QFontMetrics, text: str, wide: int) -> int:
    """Return in how many lines a text is written."""
    room = metrics.boundingRect(0, 0, max(wide, 1), 0, Qt.TextFlag.TextWordWrap, text)
    return max(1, round(room.height() / metrics.lineSpacing()))


def _value(text: str) -> float:
    """Return the first number of a cell, by which it is sorted; what has none is below all."""
    found = _NUMBER.search(text)
    return float(found[0].replace("−", "-").replace(",", "")) if found else float("-inf")
