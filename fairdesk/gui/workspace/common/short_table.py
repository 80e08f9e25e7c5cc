"""A short table that is as high as its rows, for pages that scroll as a whole."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem

from fairdesk.gui.kit import tips
from fairdesk.gui.kit.parts import Padded

_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


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
    table.setAccessibleName(name)
    table.setHorizontalHeaderLabels(list(header))
    table.verticalHeader().hide()
    table.setShowGrid(False)
    table.setAlternatingRowColors(True)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setTabKeyNavigation(False)
    table.setItemDelegate(Padded(table))
    table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    for row, texts in enumerate(rows):
        for place, text in enumerate(texts):
            item = QTableWidgetItem(text)
            item.setToolTip(tips.plain(text))
            if place in right:
                item.setTextAlignment(_RIGHT)
            table.setItem(row, place, item)
    line = table.fontMetrics().height() + 9
    table.verticalHeader().setDefaultSectionSize(line)
    head = table.horizontalHeader()
    head.setHighlightSections(False)
    head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    head.setSectionResizeMode(min(wide, len(header) - 1), QHeaderView.ResizeMode.Stretch)
    for place in right:
        if (title := table.horizontalHeaderItem(place)) is not None:
            title.setTextAlignment(_RIGHT)
    if rows:
        table.setCurrentCell(0, 0)
        table.clearSelection()
    table.setFixedHeight(line * len(rows) + head.sizeHint().height() + 2 * table.frameWidth() + 2)
    return table
