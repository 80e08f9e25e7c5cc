"""A pair side by side, with the data row that is nearest to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QObject, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyleOptionViewItem,
    QTableView,
)

from fairdesk.document.blocks import PairCard, PairRow
from fairdesk.document.pairs import RECORDED
from fairdesk.gui.kit import hints, theme
from fairdesk.gui.kit.tables import LEFT, Index, Padded, TableModel, read_only
from fairdesk.gui.workspace.pairs.pairs_model import PairRole

_THICK = 7.0


class ShareDelegate(Padded):
    """Draws a cell's share as a bar at the left of its text."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the cell, then the bar."""
        super().paint(painter, option, index)
        share = index.data(PairRole.SHARE)
        if share is None:
            return
        room = option.rect.adjusted(theme.NEAR, 0, -theme.TIGHT, 0)
        widest = option.fontMetrics.horizontalAdvance("100\u00a0%") + theme.NEAR
        width = room.width() - widest
        if width < 2 * _THICK:
            return
        top = room.center().y() - _THICK / 2 + 1
        colours = theme.colours()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        full = max(_THICK, width * share) if share else 0.0
        for wide, colour in ((width, colours.line), (full, colours.bar)):
            painter.setBrush(QColor(colour))
            painter.drawRoundedRect(QRectF(room.left(), top, wide, _THICK), _THICK / 2, _THICK / 2)
        painter.restore()


#: How wide the names of attributes are at most, and values at least where there is little room.
_NAMES, _VALUES = 180, 68


class SideBySide(TableModel):
    """A pair as columns, and the nearest data row: what differs, the outcome, then the rest."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._rows: tuple[PairRow, ...] = ()
        self._verdicts = range(0)
        self._titles = ("", "Instance", "Counterfactual", "")
        self._strong = QFont()
        self._strong.setWeight(QFont.Weight.DemiBold)

    @property
    def alone(self) -> bool:
        """Whether there is no other data row beside the pair."""
        return not self._titles[3]

    def show(self, card: PairCard) -> None:
        """Show another pair; the lines stay where they are when it is the same one."""
        self._titles = ("", card.first, card.second, card.nearest)
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 1, 3)
        before = [row.name for row in self._rows]
        differing = [row for row in card.rows if row.changed]
        alike = [row for row in card.rows if not row.changed]
        rows = (*differing, *card.outcome, *alike)
        same = [row.name for row in rows] == before
        if not same:
            self.beginResetModel()
        self._rows = rows
        self._verdicts = range(len(differing), len(differing) + len(card.outcome))
        if same:
            last = self.index(len(rows) - 1, len(self._titles) - 1)
            self.dataChanged.emit(self.index(0, 0), last)
        else:
            self.endResetModel()

    def size(self) -> tuple[int, int]:
        """Return how many lines there are, and columns: a name and three instances."""
        return len(self._rows), len(self._titles)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return the name of a column."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._titles[section]
        if role == Qt.ItemDataRole.ToolTipRole and section == 3:
            return hints.plain(
                "The row of the data that is nearest to the first instance, with its recorded "
                "outcome: the model’s decision about it is not shown. A dot marks the values "
                "that differ from the instance."
            )
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return LEFT | Qt.TextFlag.TextWordWrap.value
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a cell: what differs in the heavier weight with a sign, what is equal dimmed."""
        row, column = self._rows[index.row()], index.column()
        cell: object = None
        if role == Qt.ItemDataRole.DisplayRole:
            cell = _text(row, column)
        elif role == Qt.ItemDataRole.FontRole and row.changed and column < 3:
            cell = self._strong
        elif role == Qt.ItemDataRole.ForegroundRole:
            cell = _colour(row, column, verdict=index.row() in self._verdicts)
        elif role == Qt.ItemDataRole.BackgroundRole and row.changed:
            cell = QColor(theme.colours().tint)
        elif role == Qt.ItemDataRole.ToolTipRole:
            cell = hints.plain(_text(row, column))
        elif role == Qt.ItemDataRole.AccessibleTextRole:
            differs = row.strays if column == 3 else row.changed and column > 0
            said = "differs" if differs else ""
            cell = f"{row.name}, {self._titles[column]}: {_text(row, column)} {said}".strip()
        return cell


def _colour(row: PairRow, column: int, *, verdict: bool) -> QColor | None:
    colours = theme.colours()
    if verdict:
        return QColor(colours.discriminatory if row.changed and column in (1, 2) else colours.quiet)
    loud = row.strays if column == 3 else row.changed
    return None if loud else QColor(colours.quiet)


def _text(row: PairRow, column: int) -> str:
    text = (row.name, row.first, row.second, row.nearest)[column]
    if column == 2 and row.changed:
        return f"→ {text}"
    return f"{text} ·" if column == 3 and row.strays else text


class _Sides(QTableView):
    """Columns of one width, and where that is too little for a title less for the names.

    A value that is longer has several lines.
    """

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__()
        widest = max(map(self.fontMetrics().horizontalAdvance, names))
        self._names = min(widest + theme.WIDE, _NAMES)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Divide the width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit()

    def fit(self) -> None:
        """Divide the width, and be as high as the lines: what is around the table scrolls."""
        self._divide()
        head, model = self.verticalHeader(), self.model()
        strong = QFontMetrics(theme.scaled(self.font(), 1.0, strong=True))
        for row in range(head.count()):
            if any(
                strong.horizontalAdvance(str(model.index(row, column).data())) + 4 * theme.TIGHT
                > self.columnWidth(column)
                for column in range(model.columnCount())
            ):
                self.resizeRowToContents(row)
            else:
                head.resizeSection(row, head.defaultSectionSize())
        lines = head.length() + self.horizontalHeader().height()
        self.setFixedHeight(lines + 2 * self.frameWidth())

    def _divide(self) -> None:
        """Leave out the nearest data row where it is the first instance."""
        header, room, model = self.horizontalHeader(), self.viewport().width(), self.model()
        alone = isinstance(model, SideBySide) and model.alone
        self.setColumnHidden(3, alone)
        sides, title = (1,) if alone else (1, 3), header.sectionSizeHint(2)
        names, middle = self._names, (room - self._names) // (1 + len(sides))
        if middle < title:
            names, middle = max(room - title - len(sides) * _VALUES, _NAMES // 2), title
        header.resizeSection(0, names)
        header.resizeSection(2, middle)
        for side in sides:
            header.resizeSection(side, (room - names - middle) // len(sides))


def side_by_side_table(model: SideBySide, names: Sequence[str]) -> QTableView:
    """Make the view of such a table; ``names`` are its lines'."""
    table = _Sides((*names, RECORDED))
    table.setModel(model)
    name = "Both instances side by side, and the nearest data row"
    read_only(table, name, line=theme.NEAR, single=True, whole=True)
    table.setAlternatingRowColors(False)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
    header = table.horizontalHeader()
    header.setSectionsClickable(False)
    header.setFixedHeight(table.fontMetrics().height() + theme.GAP)
    for changed in (model.modelReset, model.dataChanged):
        changed.connect(lambda *_at: table.fit())
    table.setWordWrap(True)
    header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    return table
