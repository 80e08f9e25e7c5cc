"""Rules with their numbers: sorted by any column, copied, and as high as it has to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QResizeEvent
from PySide6.QtWidgets import QApplication, QHeaderView, QTableWidget, QTableWidgetItem

from fairdesk.gui.kit import parts, theme
from fairdesk.gui.kit.keys import shortcut
from fairdesk.gui.kit.tables import SortedItem, aligned, head_columns, height_around, read_only


class Cell(NamedTuple):
    """What a cell says, and what it is sorted by."""

    text: str
    key: float


class RuleTable(QTableWidget):
    """A table whose columns of words wrap: the page scrolls, not the table.

    Parameters
    ----------
    wide : int
        So many columns at the left are words, and share the room that numbers leave.
    first : int
        So many rows are shown until ``more`` is pressed; 0 for all.
    """

    def __init__(self, name: str, header: Sequence[str], wide: int = 1, first: int = 0) -> None:
        super().__init__(0, len(header))
        self._first = first
        #: Shows the other rows; for a place below the table.
        self.more = parts.push_button("", self._show_all)
        self.more.hide()
        self._rows: tuple[tuple[Cell, ...], ...] = ()
        self._wide = wide
        read_only(self, name, "Click a header to sort; Ctrl+C copies.", whole=True)
        head_columns(self, header, range(wide, len(header)))
        self.setWordWrap(True)
        head = self.horizontalHeader()
        head.setSortIndicator(-1, Qt.SortOrder.DescendingOrder)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        shortcut(self, QKeySequence.StandardKey.Copy, self.copy, f"Copy the table “{name}”")

    def show_rows(self, rows: Sequence[Sequence[Cell]]) -> None:
        """Show other rows, in the order chosen before; else in their own."""
        row_texts = tuple(map(tuple, rows))
        if row_texts == self._rows:
            return
        self._rows = row_texts
        self._fill()

    def _show_all(self) -> None:
        """Show every row, and go to the first of the others."""
        before, self._first = self.rowCount(), 0
        self._fill()
        self.setCurrentCell(before, 0)
        self.setFocus()

    def _fill(self) -> None:
        """Show the rows, or the first of them."""
        row_texts = self._rows[: self._first or None]
        self.more.setText(f"Show all {len(self._rows)}")
        self.more.setVisible(len(row_texts) < len(self._rows))
        # while it sorts, a row would move away under the hand that fills it
        self.setSortingEnabled(False)
        self.setRowCount(len(row_texts))
        for row, cells in enumerate(row_texts):
            for place, cell in enumerate(cells):
                item = SortedItem(cell.text, cell.key)
                item.setTextAlignment(aligned(number=place >= self._wide))
                self.setItem(row, place, item)
        self.setSortingEnabled(True)
        self._fit()

    def copy(self) -> None:
        """Copy the chosen rows, or all, with the header, for a spreadsheet."""
        chosen = sorted({index.row() for index in self.selectedIndexes()})
        lines = [[_text(self.horizontalHeaderItem(place)) for place in range(self.columnCount())]]
        lines += [
            [_text(self.item(row, place)) for place in range(self.columnCount())]
            for row in chosen or range(self.rowCount())
        ]
        QApplication.clipboard().setText("\n".join("\t".join(line) for line in lines))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Break the words anew."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        head = self.horizontalHeader()
        for place in range(self._wide, self.columnCount()):
            wide = max(self.sizeHintForColumn(place), head.sectionSizeHint(place))
            head.resizeSection(place, wide + theme.WIDE)
        # at once: a column that stretches would have its width after rows were given their heights
        numbers = sum(head.sectionSize(place) for place in range(self._wide, self.columnCount()))
        for place in range(self._wide):
            head.resizeSection(place, (self.viewport().width() - numbers) // self._wide)
        self.resizeRowsToContents()
        for row in range(self.rowCount()):
            self.setRowHeight(row, self.rowHeight(row) + theme.TIGHT)
        self.setFixedHeight(self.verticalHeader().length() + height_around(self))


def _text(item: QTableWidgetItem | None) -> str:
    return "" if item is None else item.text()
