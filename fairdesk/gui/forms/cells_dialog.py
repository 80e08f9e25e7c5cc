"""A dialog to decide how a column's numbers are written, and what each of its odd cells is."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from fairdesk.data.columns.kinds import as_numbers
from fairdesk.data.columns.number_formats import written_like
from fairdesk.data.columns.rereading import number_text, place_words
from fairdesk.data.table import Column, ColumnReading, Dialect, NumberFormat
from fairdesk.gui.forms.form_dialog import FormDialog
from fairdesk.gui.kit.parts import calm, labelled, quiet

_HEADS = ("Cell", "Cells", "Where", "In another format", "Number")
_NUMBER = len(_HEADS) - 1
_GROUPINGS = {".": ("", ",", " ", "'"), ",": ("", ".", " ", "'")}


class CellsDialog(FormDialog):
    """Asks about one column of numbers."""

    def __init__(self, column: Column, dialect: Dialect, parent: QWidget) -> None:
        super().__init__(f"Cells of “{column.name}”", parent)
        self._column, self._before = column, dialect.reading(column.name)
        self.format = QComboBox()
        self.format.addItem("As found in the file", None)
        for mark, groupings in _GROUPINGS.items():
            for grouping in groupings:
                form = NumberFormat(mark, grouping)
                self.format.addItem(written_like(form), form)
        if self._before.format is not None:
            if self.format.findData(self._before.format) < 0:
                self.format.addItem(written_like(self._before.format), self._before.format)
            self.format.setCurrentIndex(self.format.findData(self._before.format))
        calm(self.format)
        self.cells = self._table(dialect)
        self.body.addWidget(
            quiet(
                "These cells are not numbers, but the other cells of the column are. Enter "
                "the number that a cell means; a cell without a number counts as missing."
            )
        )
        self.body.addWidget(self.cells, 1)
        self.body.addLayout(labelled("Numbers are &written like", self.format))
        self._add_buttons()
        self.resize(560, 480)
        self.cells.itemChanged.connect(self._check)
        self._check()

    def reading(self) -> ColumnReading:
        """Return what was decided of the column."""
        cells = {
            each.text: _number(self._written(row)) for row, each in enumerate(self._column.odd)
        }
        # those that are too many to be listed stay missing, or mended, together
        return msgspec.structs.replace(
            self._before,
            format=self.format.currentData(),
            odd=self._before.odd or "missing",
            cells=cells,
        )

    def _table(self, dialect: Dialect) -> QTableWidget:
        table = QTableWidget(len(self._column.odd), len(_HEADS))
        table.setAccessibleName(f"Cells of {self._column.name} that are not numbers")
        table.setHorizontalHeaderLabels(_HEADS)
        table.verticalHeader().hide()
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setTabKeyNavigation(False)
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        for row, each in enumerate(self._column.odd):
            place = place_words(dialect, each.lines, each.rows)
            other = "" if each.proposed is None else number_text(each.proposed)
            cells = (f"“{each.text[:80]}”", f"{each.rows:,}", place, other)
            for at, text in enumerate(cells):
                item = QTableWidgetItem(text)
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEditable)
                table.setItem(row, at, item)
            value = QTableWidgetItem("" if each.value is None else number_text(each.value))
            table.setItem(row, _NUMBER, value)
        if self._column.odd:
            table.setCurrentCell(0, _NUMBER)
        return table

    def _written(self, row: int) -> str:
        item = self.cells.item(row, _NUMBER)
        return "" if item is None else item.text().strip()

    def _check(self) -> None:
        strange = [
            text
            for row in range(self.cells.rowCount())
            if (text := self._written(row)) and _number(text) is None
        ]
        self._refuse(f"“{strange[0][:40]}” is not a number." if strange else "")


def _number(text: str) -> float | None:
    """Read what was written: a number, or nothing."""
    for mark in ".,":
        numbers = as_numbers([text], mark)
        if numbers is not None:
            return float(numbers[0])
    return None
