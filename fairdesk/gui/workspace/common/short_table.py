"""A short table that is as high as its rows, for pages that scroll as a whole."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtWidgets import QHeaderView, QTableWidget, QTableWidgetItem

from fairdesk.gui.kit import tips
from fairdesk.gui.kit.tables import RIGHT, head_columns, height_around, read_only


def short_table(
    name: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Collection[int] = (),
    wide: int = 3,
) -> QTableWidget:
    """Make a short table.

    The columns at ``right`` hold numbers and are set flush right; the one at ``wide`` takes the
    room that is left.
    """
    table = QTableWidget(len(rows), len(header))
    read_only(table, name, line=9, whole=True)
    head_columns(table, header, right)
    for row, texts in enumerate(rows):
        for place, text in enumerate(texts):
            item = QTableWidgetItem(text)
            item.setToolTip(tips.plain(text))
            if place in right:
                item.setTextAlignment(RIGHT)
            table.setItem(row, place, item)
    line = table.verticalHeader().defaultSectionSize()
    head = table.horizontalHeader()
    head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    head.setSectionResizeMode(min(wide, len(header) - 1), QHeaderView.ResizeMode.Stretch)
    if rows:
        table.setCurrentCell(0, 0)
        table.clearSelection()
    table.setFixedHeight(line * len(rows) + height_around(table))
    return table
