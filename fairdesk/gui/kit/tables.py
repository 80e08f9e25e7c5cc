"""What tables of the window have in common: rows that are read and walked, never edited."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPalette
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QTableWidget,
    QTableWidgetItem,
)

from fairdesk.gui.kit import theme
from fairdesk.gui.kit.hints import define_heads
from fairdesk.gui.kit.style import head_style

Index = QModelIndex | QPersistentModelIndex
#: What is above the first level.
ROOT = QModelIndex()


class TableModel(QAbstractTableModel):
    """A table without levels, whose size is said once."""

    def size(self) -> tuple[int, int]:
        """Return how many rows and columns there are."""
        raise NotImplementedError

    def rowCount(self, parent: Index = ROOT) -> int:  # noqa: N802 - Qt's name
        """Return the number of rows; below a cell there are none."""
        return 0 if parent.isValid() else self.size()[0]

    def columnCount(self, parent: Index = ROOT) -> int:  # noqa: N802 - Qt's name
        """Return the number of columns; below a cell there are none."""
        return 0 if parent.isValid() else self.size()[1]


LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_KEY = Qt.ItemDataRole.UserRole


def aligned(*, number: bool) -> Qt.AlignmentFlag:
    """Return the side at which a cell stands."""
    return RIGHT if number else LEFT


class SortedItem(QTableWidgetItem):
    """A cell that is sorted by a key: numbers as numbers."""

    def __init__(self, text: str, key: float | str) -> None:
        super().__init__(text)
        self.setData(_KEY, key)

    def __lt__(self, other: QTableWidgetItem) -> bool:
        return bool(self.data(_KEY) < other.data(_KEY))


def read_only(
    table: QTableView,
    name: str,
    description: str = "",
    *,
    line: int = 0,
    single: bool = False,
    whole: bool = False,
) -> None:
    """Make a table one of rows that are read and chosen; Tab leaves it.

    Parameters
    ----------
    line : int
        How much higher than its letters a row is; by default Qt's own height.
    single : bool
        Whether one row only is chosen.
    whole : bool
        Whether it is as large as its rows, and never scrolls.
    """
    table.setAccessibleName(name)
    table.setAccessibleDescription(description)
    table.verticalHeader().hide()
    if line:
        table.verticalHeader().setDefaultSectionSize(table.fontMetrics().height() + line)
    table.setShowGrid(False)
    table.setAlternatingRowColors(True)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    if single:
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setTabKeyNavigation(False)
    if whole:
        table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    table.horizontalHeader().setHighlightSections(False)
    table.setItemDelegate(Padded(table))
    define_heads(table)


def number_rows(table: QTableView) -> None:
    """Show the numbers of rows, drawn as the titles of columns are."""
    table.verticalHeader().show()
    for part in (table.verticalHeader(), *table.findChildren(QAbstractButton)):
        part.setStyle(head_style())


def head_columns(table: QTableWidget, titles: Sequence[str], right: Collection[int] = ()) -> None:
    """Write the titles of columns, flush left but those of numbers, which are at ``right``."""
    table.setHorizontalHeaderLabels(list(titles))
    for place in range(len(titles)):
        if (title := table.horizontalHeaderItem(place)) is not None:
            title.setTextAlignment(RIGHT if place in right else LEFT)


def height_around(table: QTableView) -> int:
    """Return how high a table is without its rows: its head and edges."""
    return table.horizontalHeader().sizeHint().height() + 2 * table.frameWidth() + 2


class Padded(QStyledItemDelegate):
    """Cells with room at both sides, so that a number does not touch the next column's text.

    Parameters
    ----------
    table : QTableView
        Whose cells these are; the titles of its columns are moved with them.
    """

    def __init__(self, table: QTableView) -> None:
        super().__init__(table)
        table.horizontalHeader().setStyle(head_style())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the cell; what is chosen on a calm ground."""
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, QColor(theme.colours().tint))
        elif (ground := index.data(Qt.ItemDataRole.BackgroundRole)) is not None:
            painter.fillRect(option.rect, ground)
        option.rect = option.rect.adjusted(theme.TIGHT, 0, -theme.TIGHT, 0)
        super().paint(painter, option, index)

    def initStyleOption(  # noqa: N802 - Qt's name
        self, option: QStyleOptionViewItem, index: Index
    ) -> None:
        """Let a chosen cell keep its colour, on a calm ground."""
        super().initStyleOption(option, index)
        if not option.state & QStyle.StateFlag.State_Selected:
            return
        palette = option.palette
        role = QPalette.ColorRole
        palette.setColor(role.Highlight, QColor(theme.colours().tint))
        palette.setColor(role.HighlightedText, palette.color(role.Text))
        option.palette = palette

    def sizeHint(  # noqa: N802 - Qt's name
        self, option: QStyleOptionViewItem, index: Index
    ) -> QSize:
        """Return the room: what is broken into lines has that of `paint` for them."""
        if option.features & QStyleOptionViewItem.ViewItemFeature.WrapText:
            option.rect = option.rect.adjusted(theme.TIGHT, 0, -theme.TIGHT, 0)
        return super().sizeHint(option, index) + QSize(4 * theme.TIGHT, 0)
