"""What the workers of a cluster are doing, a row each; hidden where a run is not spread."""

from __future__ import annotations

from PySide6.QtWidgets import QTableWidget, QTableWidgetItem

from fairdesk.audit.catalogue.stages import stage
from fairdesk.cluster.hearing import AtWork
from fairdesk.gui.kit import theme
from fairdesk.gui.kit.tables import RIGHT, head_columns, height_around, read_only
from fairdesk.wording import words

_HEADS = ("Worker", "Part of the run", "Doing", "Queries per second")
_NUMBERS = (1, 3)
#: So many rows are shown without scrolling.
_ROWS = 4


class WorkersTable(QTableWidget):
    """The table."""

    def __init__(self) -> None:
        super().__init__(0, len(_HEADS))
        read_only(self, "Workers of the cluster", line=theme.TIGHT)
        head_columns(self, _HEADS, right=_NUMBERS)
        self.horizontalHeader().setStretchLastSection(True)
        self.hide()

    def show_workers(self, doing: tuple[AtWork, ...]) -> None:
        """Show what each said last; those of before are forgotten."""
        self.setVisible(bool(doing))
        if not doing:
            self.setRowCount(0)
            return
        if self.rowCount() != len(doing):
            self.setRowCount(len(doing))
            line = self.verticalHeader().defaultSectionSize()
            self.setFixedHeight(line * min(len(doing), _ROWS) + height_around(self))
        for row, each in enumerate(doing):
            speed = words.number(round(each.speed)) if each.speed else ""
            texts = (each.worker, words.number(each.part), stage(each.phase), speed)
            for column, text in enumerate(texts):
                self._fill(row, column, text)
        self.resizeColumnsToContents()

    def _fill(self, row: int, column: int, text: str) -> None:
        item = self.item(row, column)
        if item is None:
            item = QTableWidgetItem()
            if column in _NUMBERS:
                item.setTextAlignment(RIGHT)
            self.setItem(row, column, item)
        if item.text() != text:
            item.setText(text)
            item.setToolTip(text)
