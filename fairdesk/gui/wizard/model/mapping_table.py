"""The tables of the model page: how each input is made, and the first rows with the answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractTableModel,
    QEvent,
    QLocale,
    QModelIndex,
    QObject,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QKeyEvent, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QScrollArea,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from fairdesk.gui.kit import hints, theme
from fairdesk.gui.kit.tables import LEFT, Index, TableModel, read_only
from fairdesk.models.model import Input
from fairdesk.wording.words import how_made

#: What stands where nothing is proposed.
OPEN = "choose…"
#: The choice of no column: the same for everybody.
CONSTANT = "(the same for every row)"
#: The column that can be changed, and the one that opens all ways in which an input can be made.
MADE_FROM, HOW = 1, 2


class MappingModel(TableModel):
    """How the model's inputs are made; the column each is made from can be changed.

    Signals
    -------
    remade : int, str
        The auditor wants this input made from this column.
    """

    remade = Signal(int, str)
    _HEADS = ("Model input", "Source", "Transformation", "As sent")

    def __init__(self) -> None:
        super().__init__()
        self._names: tuple[str, ...] = ()
        self._inputs: tuple[Input | None, ...] = ()
        self._sent: tuple[str, ...] = ()
        self._row = 0
        self.columns: tuple[str, ...] = ()

    def show_inputs(
        self, names: tuple[str, ...], inputs: tuple[Input | None, ...], columns: tuple[str, ...]
    ) -> None:
        """Show inputs by their names, with gaps, and the columns that can be chosen.

        Where the model is the same, the place that the auditor is at is kept.
        """
        columns, sent = (*columns, CONSTANT), self._sent
        if (names, len(inputs), columns) != (self._names, len(self._inputs), self.columns):
            self.beginResetModel()
            self._names, self._inputs, self._sent, self.columns = names, inputs, (), columns
            self.endResetModel()
        elif inputs != self._inputs or sent:
            self._inputs, self._sent = inputs, ()
            last = len(self._HEADS) - 1
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, last, last)
            self.dataChanged.emit(self.index(0, 0), self.index(len(inputs) - 1, last))

    def show_sent(self, row: int, sent: tuple[str, ...]) -> None:
        """Show what is sent for a row of the data, counted from 1."""
        self._row, self._sent = row, sent
        last = len(self._HEADS) - 1
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, last, last)
        if self._inputs:
            self.dataChanged.emit(self.index(0, last), self.index(len(self._inputs) - 1, last))

    def size(self) -> tuple[int, int]:
        """Return how many inputs there are, and what is told of each."""
        return len(self._inputs), len(self._HEADS)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return the heads, and the inputs' positions."""
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if orientation == Qt.Orientation.Vertical:
            return section + 1
        if section == len(self._HEADS) - 1 and self._sent:
            return f"Row {self._row:,} as sent"
        return self._HEADS[section]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a cell's text."""
        if not index.isValid():
            return None
        each = self._inputs[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return self._text(index.row(), index.column(), each)
        if role == Qt.ItemDataRole.ToolTipRole and each is not None:
            return hints.plain(how_made(each, 40))
        if role == Qt.ItemDataRole.ForegroundRole and each is None:
            return QColor(theme.colours().wrong)
        return None

    def _text(self, row: int, column: int, each: Input | None) -> str:
        match column:
            case 0:
                return self._names[row]
            case 1 if each is not None:
                return each.attribute or CONSTANT
            case 1:
                return OPEN
            case 2:
                return "" if each is None else how_made(each, 4)
        return self._sent[row] if row < len(self._sent) else ""

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Let the column be edited that an input is made from."""
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() == MADE_FROM else flags

    def setData(  # noqa: N802 - Qt's name
        self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole
    ) -> bool:
        """Ask for another column."""
        if role != Qt.ItemDataRole.EditRole or value == self.data(index):
            return False
        self.remade.emit(index.row(), str(value))
        return True


class ChoiceDelegate(QStyledItemDelegate):
    """Draws a choice as one, and opens it on a click, Enter or F2."""

    def displayText(self, value: object, _locale: QLocale | QLocale.Language) -> str:  # noqa: N802 - Qt's name
        """Return the text with the sign of a choice."""
        return f"{value}  ▾"

    def createEditor(  # noqa: N802 - Qt's name
        self, parent: QWidget, _option: QStyleOptionViewItem, index: Index
    ) -> QWidget:
        """Make the choice."""
        combo = QComboBox(parent)
        combo.addItems(cast("MappingModel", index.model()).columns)
        combo.setAccessibleName(f"Source of input {index.row() + 1}")
        combo.activated.connect(lambda _index: self._take(combo))
        return combo

    def setEditorData(self, editor: QWidget, index: Index) -> None:  # noqa: N802 - Qt's name
        """Show what is chosen."""
        cast("QComboBox", editor).setCurrentText(str(index.data()))

    def setModelData(  # noqa: N802 - Qt's name
        self, editor: QWidget, model: QAbstractItemModel, index: Index
    ) -> None:
        """Take what was chosen."""
        model.setData(index, cast("QComboBox", editor).currentText())

    def _take(self, combo: QComboBox) -> None:
        self.commitData.emit(combo)
        self.closeEditor.emit(combo)


class _PageFirst(QObject):
    """Lets the wheel scroll the page that a table is in, and the table where the page stops.

    A table that has the keyboard is scrolled first.
    """

    def __init__(self, view: QTableView) -> None:
        super().__init__(view)
        self._view = view
        view.viewport().installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Pass the wheel on."""
        if not isinstance(event, QWheelEvent) or self._view.hasFocus():
            return False
        if not self._page_moves(event.angleDelta().y()):
            return False
        event.ignore()
        return True

    def _page_moves(self, turned: int) -> bool:
        page = self._view.parentWidget()
        while page is not None and not isinstance(page, QScrollArea):
            page = page.parentWidget()
        if page is None:
            return False
        bar = page.verticalScrollBar()
        return bar.value() < bar.maximum() if turned < 0 else bar.value() > bar.minimum()


class _Enter(QObject):
    """Lets Enter open what a table offers at its place, and not press the window's button."""

    def __init__(self, view: QTableView, run: Callable[[QModelIndex], object]) -> None:
        super().__init__(view)
        self._view, self._run = view, run
        view.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Open it."""
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return False
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            return False
        if self._view.currentIndex().isValid():
            self._run(self._view.currentIndex())
        return True


def on_enter(view: QTableView, run: Callable[[QModelIndex], object]) -> None:
    """Let Enter do something at the current place of a table."""
    _Enter(view, run)


def grid(model: QAbstractTableModel, name: str) -> QTableView:
    """Make a view of a table, named for all readers."""
    view = QTableView()
    view.setModel(model)
    read_only(view, name, line=14, single=True)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
    view.setWordWrap(False)
    view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.horizontalHeader().setDefaultAlignment(LEFT)
    view.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    _PageFirst(view)
    return view
