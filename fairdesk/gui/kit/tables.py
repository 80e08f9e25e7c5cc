"""What tables of the window have in common: rows that are read and walked, never edited."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QKeySequence,
    QPainter,
    QPalette,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QTableWidget,
    QTableWidgetItem,
)

from fairdesk.gui.kit import hints, theme
from fairdesk.gui.kit.hints import define_heads
from fairdesk.gui.kit.keys import shortcut

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


def aligned(*, number: bool) -> Qt.AlignmentFlag:
    """Return the side at which a cell stands."""
    return RIGHT if number else LEFT


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


#: A table of more rows than this scrolls by itself.
_ROWS = 16
#: A column of words asks for at most so many heights of a line, and has at least so many.
_LETTERS, _LEAST = 24, 9
#: By what a cell is sorted, and where its row is in the rows that are shown.
_KEY, _PLACE = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1
_NUMBER = re.compile(r"[−-]?\d[\d,]*(?:\.\d+)?")


class _Cell(QTableWidgetItem):
    """A cell that is sorted by a key: numbers as numbers."""

    def __lt__(self, other: QTableWidgetItem) -> bool:
        return bool(self.data(_KEY) < other.data(_KEY))


class TextTable(QTableWidget):
    """Rows of texts: numbers have their room, words share the rest, in more lines where needed.

    Parameters
    ----------
    right : collection of int
        The columns of numbers, which are flush right.
    most : int
        It is as high as its rows, of which so many are in sight; 0: as high as there is room.
    sorts : bool
        Whether single cells are walked, and a click on a title sorts; else rows are chosen.

    Signals
    -------
    picked : int, int
        A cell is picked: the row as it was given, whatever it is sorted by, and the column.
    opened : int
        A row is opened, by a double click or Enter.
    """

    picked = Signal(int, int)
    opened = Signal(int)

    def __init__(
        self,
        name: str,
        header: Sequence[str] = (),
        right: Collection[int] = (),
        *,
        description: str = "",
        most: int = _ROWS,
        sorts: bool = False,
    ) -> None:
        super().__init__(0, len(header))
        self._header, self._right, self._most, self._sorts = header, right, most, sorts
        self._shown: Sequence[Sequence[str]] = ()
        self._needed: list[int] = []
        read_only(self, name, description, line=9, single=not sorts)
        if sorts:
            self.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.DescendingOrder)
            self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
            self.setSelectionMode(QAbstractItemView.SelectionMode.ContiguousSelection)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setWordWrap(True)
        shortcut(self, QKeySequence.StandardKey.Copy, self.copy, f"Copy the table “{name}”")
        self.currentCellChanged.connect(self._tell)
        self.cellClicked.connect(self._tell)
        self.cellActivated.connect(lambda row, _column: self.opened.emit(self.place(row)))

    def show_rows(
        self,
        rows: Sequence[Sequence[str]],
        *,
        header: Sequence[str] | None = None,
        right: Collection[int] | None = None,
    ) -> None:
        """Show rows in the order chosen before; the one that is chosen stays so."""
        if rows == self._shown and header in (None, self._header):
            return
        picked = self.place(self.currentRow()) if self.selectedIndexes() else None
        column = max(self.currentColumn(), 0)
        self._shown = rows
        self._header = self._header if header is None else header
        self._right = self._right if right is None else right
        with QSignalBlocker(self):
            # while it sorts, a row would move away under the hand that fills it
            self.setSortingEnabled(False)
            self.setColumnCount(len(self._header))
            self.setRowCount(len(rows))
            for row, texts in enumerate(rows):
                for at, text in enumerate(texts):
                    item, number = _Cell(text), at in self._right
                    item.setData(_KEY, _value(text) if number else -row)
                    item.setData(_PLACE, row)
                    item.setToolTip(hints.plain(text))
                    item.setTextAlignment(aligned(number=number))
                    self.setItem(row, at, item)
            self.setSortingEnabled(self._sorts)
        self.mark(picked, column)
        self._refit()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the size of type."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_needed"):
            self._refit()

    @property
    def room(self) -> int:
        """How wide it has to be to need no scroll bar."""
        return sum(self._needed) + 2 * self.frameWidth()

    def head(self, column: int) -> str:
        """Name a column."""
        return self._header[column]

    def place(self, row: int) -> int:
        """Return where a row on the screen is in the rows that are shown; below 0 if nowhere."""
        item: QTableWidgetItem | None = self.item(row, 0)
        return -1 if item is None else int(item.data(_PLACE))

    @property
    def chosen(self) -> int:
        """Where the chosen row is in the rows that are shown; below 0 if none is chosen."""
        rows = self.selectionModel().selectedRows()
        return self.place(rows[0].row()) if rows else -1

    def mark(self, place: int | None, column: int = 0) -> None:
        """Go to a row as it was given, without telling of it; with ``None`` to none."""
        rows = (row for row in range(self.rowCount()) if self.place(row) == place)
        with QSignalBlocker(self):
            if (row := next(rows, None)) is None:
                self.clearSelection()
            else:
                self.setCurrentCell(row, column)

    def copy(self) -> None:
        """Copy the chosen rows, or all, with the header, for a spreadsheet."""
        rows = sorted({index.row() for index in self.selectedIndexes()}) or range(self.rowCount())
        lines = [self._header, *(self._shown[self.place(row)] for row in rows)]
        QApplication.clipboard().setText("\n".join("\t".join(line) for line in lines))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Divide the width anew."""
        super().resizeEvent(event)
        self._fit()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Let the wheel scroll the page, unless the keyboard is in the table."""
        if self.hasFocus() or not self._most:
            super().wheelEvent(event)
        else:
            event.ignore()

    def _tell(self, row: int, column: int, *_before: int) -> None:
        if 0 <= row < self.rowCount() and 0 <= column < self.columnCount():
            self.picked.emit(self.place(row), column)

    def _heads(self) -> list[str]:
        """Return the titles; a long one of numbers in two lines, as even as they can be."""
        heads = []
        for column, head in enumerate(self._header):
            longest = max((len(row[column]) for row in self._shown), default=len(head))
            breaks = [at for at, letter in enumerate(head) if letter == " "]
            if column in self._right and breaks and len(head) > longest:
                _uneven, middle = min((abs(2 * at + 1 - len(head)), at) for at in breaks)
                heads.append(f"{head[:middle]}\n{head[middle + 1 :]}")
            else:
                heads.append(head)
        return heads

    def _refit(self) -> None:
        """Find out how wide each column asks to be, and divide the width."""
        heads = self._heads()
        head_columns(self, heads, self._right)
        wide, most = self.fontMetrics().horizontalAdvance, _LETTERS * self.fontMetrics().height()
        self._needed = []
        for column, head in enumerate(heads):
            texts = (*head.split("\n"), *(row[column] for row in self._shown))
            needed = max(map(wide, texts)) + theme.GAP
            self._needed.append(needed if column in self._right else min(needed, most))
        self._fit()

    def _fit(self) -> None:
        """Give numbers their room and words the rest, in more lines where that is little."""
        words = {at: wide for at, wide in enumerate(self._needed) if at not in self._right}
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
                texts = self._shown[self.place(row)]
                wraps = (metrics.horizontalAdvance(texts[at]) > rooms[at] for at in words)
                lines = 1
                if any(wraps):
                    lines = max(_lines(metrics, texts[at], rooms[at]) for at in words)
                self.setRowHeight(row, one + (lines - 1) * metrics.lineSpacing())
        self.scheduleDelayedItemsLayout()
        if self._most:
            high = sum(self.rowHeight(row) for row in range(min(self.rowCount(), self._most)))
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
