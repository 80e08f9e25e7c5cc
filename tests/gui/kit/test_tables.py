"""Tables: titles stand where their cells do."""

import pytest
from PySide6.QtWidgets import QTableWidget, QTableWidgetItem

from fairdesk.gui.kit.tables import LEFT, RIGHT, Padded, head_columns, read_only


def ends(picture, top, bottom, left, right):
    """Return the first and the last place of something dark."""
    places = [
        x
        for x in range(left, right)
        for y in range(top, bottom)
        if picture.pixelColor(x, y).lightness() < 90
    ]
    return min(places), max(places)


@pytest.mark.parametrize("padded", [False, True])
def test_titles_stand_where_their_cells_do(qtbot, themed, padded):
    table = QTableWidget(1, 2)
    qtbot.addWidget(table)
    if padded:
        table.setItemDelegate(Padded(table))
    read_only(table, "Groups")
    head_columns(table, ("HHH", "HHH"), right=(1,))
    for place, side in enumerate((LEFT, RIGHT)):
        item = QTableWidgetItem("HHH")
        item.setTextAlignment(side)
        table.setItem(0, place, item)
        table.setColumnWidth(place, 120)
    table.resize(300, 150)
    table.show()
    picture, head = table.grab().toImage(), table.horizontalHeader().height()
    low = head + table.rowHeight(0)
    for at, (left, right) in enumerate(((4, 110), (130, 236))):
        title = ends(picture, 3, head - 3, left, right)
        cell = ends(picture, head + 6, low - 4, left, right)
        assert abs(title[at] - cell[at]) <= 1


def test_a_text_that_just_fits_its_column_has_room_at_both_sides_too(qtbot, themed):
    table = QTableWidget(1, 1)
    qtbot.addWidget(table)
    table.setItemDelegate(Padded(table))
    table.setItem(0, 0, QTableWidgetItem("HHHHH HHHHH"))
    table.resize(300, 150)
    table.show()
    line = table.fontMetrics().height()
    text = table.fontMetrics().horizontalAdvance("HHHHH HHHHH")
    for wide, lines in ((text + 40, 1), (text + 8, 2), (text + 2, 2)):
        table.setColumnWidth(0, wide)
        table.resizeRowsToContents()
        assert round(table.rowHeight(0) / line - 0.3) == lines
