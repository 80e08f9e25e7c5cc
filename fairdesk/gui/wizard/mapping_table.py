"""The tables of the model page: how each input is made, and the first rows with the answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QComboBox,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from fairdesk.data.table import Table
from fairdesk.gui import theme
from fairdesk.gui.parts import Padded
from fairdesk.models.model import How, Input, Mapping

_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_HOW = {
    How.AS_IS: "the number itself",
    How.LABEL: "the text itself",
    How.CODE: "a number for each value",
}
#: The column that can be changed.
MADE_FROM = 1


def example(each: Input, table: Table) -> str:
    """Show what an input makes of the first row that has a value: ``"Male → 1"``."""
    if each.attribute not in table.names:
        return ""
    index = table.index(each.attribute)
    column = table.columns[index]
    for code in table.codes[:, index].tolist():
        if code == code:  # noqa: PLR0124 - a missing cell is "not a number"
            text = column.text(code)
            return f"{text} → {each.codes[text]:g}" if text in each.codes else text
    return ""


class MappingModel(QAbstractTableModel):
    """How the model's inputs are made; the column each is made from can be changed.

    Signals
    -------
    remade : int, str
        The auditor wants this input made from this column.
    """

    remade = Signal(int, str)
    _HEADS = ("Model input", "Made from", "How", "Example")

    def __init__(self) -> None:
        super().__init__()
        self._mapping: Mapping | None = None
        self._table: Table | None = None
        self.columns: tuple[str, ...] = ()

    def show_mapping(
        self, mapping: Mapping | None, table: Table | None, columns: tuple[str, ...]
    ) -> None:
        """Show a mapping over a table, and the columns that can be chosen."""
        self.beginResetModel()
        self._mapping, self._table, self.columns = mapping, table, columns
        self.endResetModel()

    def rowCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """Count the inputs."""
        return 0 if parent.isValid() or self._mapping is None else len(self._mapping.inputs)

    def columnCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """Count what is told of each."""
        return 0 if parent.isValid() else len(self._HEADS)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Give the heads, and the inputs' positions."""
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return self._HEADS[section] if orientation == Qt.Orientation.Horizontal else section + 1

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Give a cell's text."""
        if self._mapping is None or self._table is None or not index.isValid():
            return None
        each = self._mapping.inputs[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return (each.name, each.attribute, _HOW[each.how], example(each, self._table))[
                index.column()
            ]
        if role == Qt.ItemDataRole.ToolTipRole and each.codes:
            shown = [f"{text} → {code:g}" for text, code in list(each.codes.items())[:12]]
            return "\n".join(shown + (["…"] if len(each.codes) > len(shown) else []))
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Let the column be edited that an input is made from."""
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() == MADE_FROM else flags

    def setData(  # noqa: N802 - Qt's name
        self, index: _Index, value: object, role: int = Qt.ItemDataRole.EditRole
    ) -> bool:
        """Ask for another column."""
        if role != Qt.ItemDataRole.EditRole or value == self.data(index):
            return False
        self.remade.emit(index.row(), str(value))
        return True


class ChoiceDelegate(QStyledItemDelegate):
    """Draws a choice as one, and opens it on a click, Enter or F2."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Draw the choice."""
        box = QStyleOptionComboBox()
        box.rect = option.rect.adjusted(1, 1, -1, -1)
        box.state = QStyle.StateFlag.State_Enabled
        if option.state & QStyle.StateFlag.State_HasFocus:
            box.state |= QStyle.StateFlag.State_HasFocus
        box.currentText = str(index.data())
        box.palette = option.palette
        box.fontMetrics = option.fontMetrics
        style = QApplication.style()
        style.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, box, painter)
        style.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, box, painter)

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: N802 - Qt's name
        """Give room for the arrow."""
        hint = super().sizeHint(option, index)
        return QSize(hint.width() + 36, hint.height() + theme.NEAR)

    def createEditor(  # noqa: N802 - Qt's name
        self, parent: QWidget, _option: QStyleOptionViewItem, index: _Index
    ) -> QWidget:
        """Make the choice."""
        combo = QComboBox(parent)
        combo.addItems(cast("MappingModel", index.model()).columns)
        combo.setAccessibleName(f"Made from, input {index.row() + 1}")
        combo.activated.connect(lambda _index: self._take(combo))
        return combo

    def setEditorData(self, editor: QWidget, index: _Index) -> None:  # noqa: N802 - Qt's name
        """Show what is chosen."""
        cast("QComboBox", editor).setCurrentText(str(index.data()))

    def setModelData(  # noqa: N802 - Qt's name
        self, editor: QWidget, model: QAbstractItemModel, index: _Index
    ) -> None:
        """Take what was chosen."""
        model.setData(index, cast("QComboBox", editor).currentText())

    def _take(self, combo: QComboBox) -> None:
        self.commitData.emit(combo)
        self.closeEditor.emit(combo)


class PlainTable(QAbstractTableModel):
    """A small table of texts."""

    def __init__(self) -> None:
        super().__init__()
        self._heads: Sequence[str] = ()
        self._cells: Sequence[Sequence[str]] = ()

    def show_cells(self, heads: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
        """Show texts: one head per column."""
        self.beginResetModel()
        self._heads, self._cells = heads, cells
        self.endResetModel()

    def rowCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """Count the rows."""
        return 0 if parent.isValid() else len(self._cells)

    def columnCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """Count the columns."""
        return 0 if parent.isValid() else len(self._heads)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Give the heads, and the rows' numbers."""
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return self._heads[section] if orientation == Qt.Orientation.Horizontal else section + 1

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Give a text."""
        if role == Qt.ItemDataRole.DisplayRole and index.isValid():
            return self._cells[index.row()][index.column()]
        return None


def grid(model: QAbstractTableModel, name: str) -> QTableView:
    """Make a view of a table, named for all readers."""
    view = QTableView()
    view.setModel(model)
    view.setItemDelegate(Padded(view))
    view.verticalHeader().hide()
    view.setAccessibleName(name)
    view.setShowGrid(False)
    view.setAlternatingRowColors(True)
    view.setWordWrap(False)
    view.setTabKeyNavigation(False)
    view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.horizontalHeader().setHighlightSections(False)
    view.horizontalHeader().setDefaultAlignment(
        Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    )
    view.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    view.verticalHeader().setDefaultSectionSize(view.fontMetrics().height() + 12)
    return view
