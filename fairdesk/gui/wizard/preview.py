"""The preview of a table: its first rows, and above each column what it is."""

from __future__ import annotations

import html
from collections.abc import Mapping

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QPushButton,
    QTableView,
    QWidget,
)

from fairdesk.data.profiling.profile import Problem
from fairdesk.data.table import Column, Kind, Table
from fairdesk.gui.kit import theme
from fairdesk.gui.kit.parts import Card, Words, in_order, quiet
from fairdesk.gui.kit.tables import Index, Padded, TableModel, aligned, number_rows
from fairdesk.wording import words

#: So many rows are shown.
ROWS = 200
#: A greater share of missing cells stands out.
MANY = 0.05
#: The kinds in plain words, in the order of the choice.
KINDS = {kind: text.capitalize() for kind, text in words.KINDS.items()}
Histogram = tuple[tuple[str, int], ...]

_CHART = 30


def draw_bars(painter: QPainter, rect: QRect, bars: Histogram) -> None:
    """Draw a histogram, without labels, on a hairline."""
    most = max((count for _, count in bars), default=0)
    if not most:
        return
    colours = theme.colours()
    width = min(rect.width() / len(bars), 24.0)
    for position, (_, count) in enumerate(bars):
        height = max(round(count / most * rect.height()), 1 if count else 0)
        left = rect.left() + round(position * width)
        right = rect.left() + round((position + 1) * width) - 1
        bar = QRect(left, rect.bottom() - height + 1, max(right - left, 1), height)
        painter.fillRect(bar, QColor(colours.bar))
    painter.setPen(QColor(colours.line))
    painter.drawLine(rect.left(), rect.bottom() + 1, rect.right(), rect.bottom() + 1)


class TinyChart(QWidget):
    """A histogram beside an attribute; its tooltip and description have the numbers."""

    def __init__(self, name: str, bars: Histogram) -> None:
        super().__init__()
        self._bars = bars
        self.setFixedSize(96, 26)
        counts = [f"{label}: {count:,}" for label, count in bars]
        self.setToolTip("<br>".join(html.escape(line) for line in counts))
        self.setAccessibleName(f"Frequency of each value of {name}")
        self.setAccessibleDescription(", ".join(counts))

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the bars."""
        draw_bars(QPainter(self), self.rect().adjusted(0, 2, 0, -2), self._bars)


#: So many rows are seen at least.
_LEAST_ROWS = 4


class PreviewModel(TableModel):
    """The first `ROWS` rows of a table, as the file writes them."""

    def __init__(self) -> None:
        super().__init__()
        self._table: Table | None = None
        self._histograms: Mapping[str, Histogram] = {}

    def show_table(self, table: Table | None, histograms: Mapping[str, Histogram]) -> None:
        """Show another table."""
        self.beginResetModel()
        self._table, self._histograms = table, histograms
        self.endResetModel()

    def size(self) -> tuple[int, int]:
        """Return how many rows are shown, and columns."""
        table = self._table
        return (0, 0) if table is None else (min(ROWS, len(table.codes)), len(table.columns))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a cell's text, alignment or colour."""
        if self._table is None or not index.isValid():
            return None
        column = self._table.columns[index.column()]
        code = float(self._table.codes[index.row(), index.column()])
        missing = code != code  # noqa: PLR0124 - only "not a number" differs from itself
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return (column.missing_token or "–") if missing else column.text(code)
            case Qt.ItemDataRole.TextAlignmentRole:
                return aligned(number=column.kind.is_number)
            case Qt.ItemDataRole.ForegroundRole if missing or column.kind is Kind.IGNORED:
                return QColor(theme.colours().quiet)
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{column.name}: {'missing' if missing else column.text(code)}"
        return None

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return a column's name and what it holds, or a row's number."""
        if self._table is None:
            return None
        if orientation == Qt.Orientation.Vertical:
            return section + 1 if role == Qt.ItemDataRole.DisplayRole else None
        name = self._table.columns[section].name
        if role == Qt.ItemDataRole.DisplayRole:
            return name
        if role == Qt.ItemDataRole.ToolTipRole:
            counts = [f"{label}: {count:,}" for label, count in self._histograms.get(name, ())]
            return "<br>".join(html.escape(line) for line in (name, *counts))
        return None


class ColumnHeader(QHeaderView):
    """Tells what each column is: its name, its kind (a choice), what is missing, a histogram.

    Signals
    -------
    chosen : str, str
        The auditor gave a column (its name) another kind (a `Kind`).
    """

    chosen = Signal(str, str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._view = parent
        self._columns: tuple[Column, ...] = ()
        self._rows = 0
        self._histograms: Mapping[str, Histogram] = {}
        self.combos: dict[int, QComboBox] = {}
        self._combo_height = QComboBox().sizeHint().height()
        self.setMinimumSectionSize(90)
        self.setHighlightSections(False)
        self.sectionResized.connect(self._place)

    def show_columns(
        self, columns: tuple[Column, ...], rows: int, histograms: Mapping[str, Histogram]
    ) -> None:
        """Show the columns of a table of so many rows, which the view shows already."""
        for combo in self.combos.values():
            combo.hide()
            combo.deleteLater()
        self.combos = {}
        self._columns, self._rows, self._histograms = columns, rows, histograms
        least = self.fontMetrics().horizontalAdvance("Decimal numbers") + 52
        for section, column in enumerate(columns):
            name = self.fontMetrics().horizontalAdvance(column.name) * 1.15 + 24
            self.resizeSection(section, min(max(least, int(name)), 260))
        self.place()

    def show_kinds(self) -> None:
        """Show the columns' kinds in their choices again, after another was not taken."""
        for section, combo in self.combos.items():
            combo.setCurrentIndex(combo.findData(self._columns[section].kind.value))

    def place(self) -> None:
        """Put the choices of the columns in sight where their columns are, and hide the others."""
        line = self.fontMetrics().height()
        before = len(self.combos)
        for section, column in enumerate(self._columns):
            left = self.sectionViewportPosition(section)
            width = self.sectionSize(section)
            in_sight = left + width > 0 and left < self.viewport().width()
            if section not in self.combos:
                if not in_sight:
                    continue
                self.combos[section] = self._combo(column)
            self.combos[section].setVisible(in_sight)
            self.combos[section].setGeometry(
                left + theme.NEAR,
                theme.NEAR + line + theme.TIGHT,
                width - 2 * theme.NEAR,
                self._combo_height,
            )
        if len(self.combos) > before:
            in_order(self._view, *(combo for _, combo in sorted(self.combos.items())))

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return room for the name, the choice, what is missing and the histogram."""
        lines = 2 * self.fontMetrics().height()
        gaps = 2 * theme.NEAR + 3 * theme.TIGHT
        return QSize(super().sizeHint().width(), lines + self._combo_height + _CHART + gaps)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Make the choices of columns that came into sight."""
        super().resizeEvent(event)
        self.place()

    def paintSection(self, painter: QPainter, rect: QRect, logical: int) -> None:  # noqa: N802 - Qt's name
        """Draw the name, what is missing, and the histogram."""
        if logical >= len(self._columns):
            return
        column, colours = self._columns[logical], theme.colours()
        metrics = self.fontMetrics()
        painter.save()
        painter.fillRect(rect, self.palette().color(QPalette.ColorRole.Window))
        painter.setPen(QColor(colours.line))
        painter.drawLine(rect.topRight(), rect.bottomRight())
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        inside = rect.adjusted(theme.NEAR + 2, theme.NEAR, -theme.NEAR - 2, -theme.NEAR)
        painter.setFont(theme.scaled(self.font(), 1.0, strong=True))
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        name = painter.fontMetrics().elidedText(
            column.name, Qt.TextElideMode.ElideRight, inside.width()
        )
        painter.drawText(inside, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft, name)
        painter.setFont(self.font())
        below = inside.top() + metrics.height() + 2 * theme.TIGHT + self._combo_height
        share = column.missing / self._rows if self._rows else 0.0
        painter.setPen(QColor(colours.wrong if share > MANY else colours.quiet))
        painter.drawText(
            QRect(inside.left(), below, inside.width(), metrics.height()),
            Qt.AlignmentFlag.AlignLeft,
            f"{100 * share:.1f} % missing" if share else "none missing",
        )
        top = below + metrics.height() + theme.TIGHT
        chart = QRect(inside.left(), top, inside.width(), rect.bottom() - theme.TIGHT - top)
        draw_bars(painter, chart, self._histograms.get(column.name, ()))
        painter.restore()

    def _combo(self, column: Column) -> QComboBox:
        combo = QComboBox(self.viewport())
        for kind, text in KINDS.items():
            combo.addItem(text, kind.value)
        combo.setCurrentIndex(combo.findData(column.kind.value))
        combo.setAccessibleName(f"Type of {column.name}")
        combo.activated.connect(
            lambda _index, name=column.name: self.chosen.emit(name, combo.currentData())
        )
        combo.show()
        return combo

    def _place(self) -> None:
        self.place()
        self.viewport().update()


class Preview(QTableView):
    """The grid; its header is a `ColumnHeader`."""

    def __init__(self) -> None:
        super().__init__()
        self._rows = PreviewModel()
        self.setModel(self._rows)
        self.setItemDelegate(Padded(self))
        self.header = ColumnHeader(self)
        self.setHorizontalHeader(self.header)
        self.setAccessibleName("The first rows of the data")
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + theme.NEAR)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        number_rows(self)
        self.horizontalScrollBar().valueChanged.connect(self.header.place)
        # below the heads some rows are seen, else the page scrolls
        rows = _LEAST_ROWS * self.verticalHeader().defaultSectionSize()
        self.setMinimumHeight(self.header.sizeHint().height() + rows)

    def show_table(self, table: Table | None, histograms: Mapping[str, Histogram]) -> None:
        """Show a table."""
        self._rows.show_table(table, histograms)
        if table is None:
            self.header.show_columns((), 0, {})
        else:
            self.header.show_columns(table.columns, len(table.codes), histograms)

    def show_kinds(self) -> None:
        """Show the columns' kinds again, after another was not taken."""
        self.header.show_kinds()


class ProblemCard(Card):
    """The card.

    Parameters
    ----------
    cells : bool
        Whether the column has odd cells, of which each can be given a value.

    Signals
    -------
    retyped : str, str
        The column is to get this kind.
    reread : Dialect
        The table is to be read so.
    opened : str
        The odd cells of this column are to be decided one by one.
    """

    retyped = Signal(str, str)
    reread = Signal(object)
    opened = Signal(str)

    def __init__(self, problem: Problem, *, cells: bool) -> None:
        super().__init__(margin=theme.GAP)
        self.buttons: dict[str, QPushButton] = {}
        self._column = problem.column
        self.body.setSpacing(theme.TIGHT)
        self.body.addWidget(Words(problem.what))
        if problem.remedy:
            self.body.addWidget(quiet(problem.remedy))
        if (kind := problem.suggested) is not None:
            words = "Exclude it" if kind is Kind.IGNORED else f"Read as {KINDS[kind].lower()}"
            self._add(words).clicked.connect(lambda: self.retyped.emit(problem.column, kind.value))
        for change in problem.changes:
            self._add(change.words).clicked.connect(
                lambda _checked=False, dialect=change.dialect: self.reread.emit(dialect)
            )
        if cells:
            self._add("Cell by cell…").clicked.connect(lambda: self.opened.emit(problem.column))

    def _add(self, words: str) -> QPushButton:
        button = self.buttons[words] = QPushButton(words)
        button.setAccessibleName(f"{words}: {self._column}")
        self.body.addWidget(button)
        return button
