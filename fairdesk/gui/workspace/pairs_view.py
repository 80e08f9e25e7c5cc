"""The table of pairs: read at one's own pace, walked with the arrows, copied with its header."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QPushButton,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from fairdesk.audit.store import Pair
from fairdesk.gui import parts, theme
from fairdesk.gui.keys import shortcut
from fairdesk.gui.pairs_model import Cells, PairsModel, as_tsv
from fairdesk.gui.workspace.filter_bar import FilterBar
from fairdesk.gui.workspace.session import Session
from fairdesk.report import words

#: Rows that are copied at once at most; more belong into the findings file.
_MOST_COPIED = 2_000


class PairsView(QWidget):
    """The table, and how many pairs there are; its filters are laid out by the page.

    Signals
    -------
    chosen : Pair or None
        Another pair is to be shown beside the table.
    """

    chosen = Signal(object)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._chosen: Pair | None = None
        self.model = PairsModel(session.spec, session.store, lambda: session.decisions, self)
        self.filters = FilterBar(session.spec)
        self._fresh = QPushButton()
        self._fresh.setToolTip("Show what was found since (F5); the table stays where it is")
        self._fresh.clicked.connect(self.show_fresh)
        self._fresh.hide()
        self._count = parts.quiet()
        self._count.setWordWrap(False)
        self._count.setMinimumWidth(0)
        self.filters.tail.addWidget(self._fresh)

        self.table = self._make_table()
        self._empty = parts.Words(tone="quiet")
        self._clear = QPushButton("Show all pairs")
        self._stack = QStackedWidget()
        self._stack.addWidget(self.table)
        self._stack.addWidget(self._make_empty())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.NEAR)
        column.addWidget(self._stack, 1)
        column.addWidget(self._count)

        self.filters.changed.connect(self._filter)
        self.model.counted.connect(self._tell_count)
        self.model.arrived.connect(self._take_rows)
        self.model.failed.connect(session.failed)
        session.pairs_changed.connect(self._look_for_fresh)
        session.pair_changed.connect(self._take_pair)
        self.table.selectionModel().currentRowChanged.connect(self._move)
        shortcut(self.table, QKeySequence.StandardKey.Copy, self.copy)
        shortcut(self.table, "F5", self.show_fresh)

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setModel(self.model)
        table.setAccessibleName("Pairs of people who get different decisions")
        table.setAccessibleDescription(
            "Arrow keys walk the pairs, F flags, D dismisses, N notes, Ctrl+C copies."
        )
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        table.setAlternatingRowColors(True)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)
        table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 9)
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsMovable(True)
        header.setSortIndicatorShown(True)
        header.setSortIndicator(1, Qt.SortOrder.AscendingOrder)
        header.sortIndicatorChanged.connect(self._sort)
        self._size_columns(table)
        return table

    def _make_empty(self) -> QWidget:
        """Make what is shown instead of an empty table."""
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._clear.clicked.connect(self.filters.clear)
        nothing = QWidget()
        column = QVBoxLayout(nothing)
        column.addStretch(1)
        column.addWidget(self._empty)
        column.addWidget(self._clear, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        return nothing

    def show_run(self, run: int | None) -> None:
        """Show the pairs of one run, or of all."""
        if self.model.query.run != run or not self.model.loaded:
            self.model.show_query(
                self.filters.query(msgspec.structs.replace(self.model.query, run=run))
            )

    def show_fresh(self) -> None:
        """Let in what was found since."""
        self.model.show_fresh()

    def copy(self) -> None:
        """Copy the chosen rows, with the header, for a spreadsheet."""
        rows = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        pairs = [pair for row in rows[:_MOST_COPIED] if (pair := self.model.pair(row)) is not None]
        if pairs:
            QGuiApplication.clipboard().setText(as_tsv(self._shown_columns(), pairs))
            left = len(rows) - len(pairs)
            rest = f" {words.number(left)} more are in the findings CSV." if left else ""
            self._session.said.emit(f"Copied {words.counted(len(pairs), 'pair')}.{rest}")

    def step(self, by: int) -> None:
        """Walk to another pair."""
        row = min(max(self.table.currentIndex().row() + by, 0), self.model.rowCount() - 1)
        if row >= 0:
            self.table.setCurrentIndex(self.model.index(row, 0))

    def _shown_columns(self) -> list[Cells]:
        header = self.table.horizontalHeader()
        return [self.model.columns[header.logicalIndex(i)] for i in range(header.count())]

    def _size_columns(self, table: QTableView) -> None:
        """Give every column the width of its longest text, within reason."""
        metrics = self.fontMetrics()
        attributes = {each.name: each for each in self._session.spec.domain.attributes}
        for position, column in enumerate(self.model.columns):
            texts = [column.title + "  ▾ "]
            if (attribute := attributes.get(column.order)) is not None:
                values = attribute.values or (attribute.text(attribute.high),)
                widest = max(values, key=len)
                protected = attribute.compared
                texts.append(f"{widest} ≠ {widest}" if protected else widest)
            elif column.title == "Decision":
                spec = self._session.spec
                widest = max((*spec.decisions, spec.favourable + "xx"), key=len)
                texts.append(f"{widest} ≠ {widest}")
            elif column.order != "mark":
                texts.append("000000")
            width = max(metrics.horizontalAdvance(text) for text in texts) + 22
            table.setColumnWidth(position, min(width, 230))

    def _sort(self, column: int, order: Qt.SortOrder) -> None:
        self.model.sort(column, order)

    def _filter(self) -> None:
        query = self.filters.query(self.model.query)
        if query != self.model.query:
            self.model.show_query(query)

    def _reading(self) -> bool:
        """Whether somebody reads further down, so that nothing may move."""
        return self.table.currentIndex().row() > 0 or self.table.verticalScrollBar().value() > 0

    def _look_for_fresh(self) -> None:
        query = self.model.query
        in_order = query.order == "id" and not query.descending
        if not self.model.rowCount() or (in_order and not self._reading()):
            self.model.show_fresh()
        else:
            self.model.look_for_fresh()

    def _tell_count(self) -> None:
        total = self.model.rowCount()
        self._count.setText(
            f"{words.counted(total, 'pair')}"
            + (" that fit the filter" if self.filters.active else "")
        )
        fresh = self.model.fresh
        self._fresh.setText(f"Show {words.number(fresh)} new")
        self._fresh.setAccessibleName(f"Show {words.number(fresh)} new pairs")
        self._fresh.setVisible(fresh > 0)
        if total:
            self._stack.setCurrentIndex(0)
            return
        filtered = self.filters.active
        live = self._session.live
        over = live is None or live.run_id != self.model.query.run
        if filtered:
            text = "No pair fits this filter."
        elif over:
            text = "This run found none."
        else:
            text = (
                f"The pairs of {self._session.many} will be listed here: two people alike in "
                "everything but a protected attribute, who get different decisions."
            )
        self._empty.setText(text)
        self._clear.setVisible(filtered)
        self._stack.setCurrentIndex(1)
        self._choose(None)

    def _take_rows(self, first: int, last: int) -> None:
        current = self.table.currentIndex().row()
        if first < last and current < 0:
            self.table.selectionModel().setCurrentIndex(
                self.model.index(0, 0),
                QItemSelectionModel.SelectionFlag.ClearAndSelect
                | QItemSelectionModel.SelectionFlag.Rows,
            )
        elif first <= current < last:
            self._choose(self.model.pair(current))

    def _take_pair(self, pair: Pair) -> None:
        self.model.replace(pair)
        if self._chosen is not None and self._chosen.id == pair.id:
            self._choose(pair)

    def _move(self, current: QModelIndex, _previous: QModelIndex) -> None:
        pair = self.model.pair(current.row()) if current.isValid() else None
        if pair is not None:
            self._choose(pair)

    def _choose(self, pair: Pair | None) -> None:
        self._chosen = pair
        self.chosen.emit(pair)
