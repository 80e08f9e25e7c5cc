"""The table of pairs: read at one's own pace, walked with the arrows, copied with its header."""

from __future__ import annotations

import msgspec
import numpy as np
from PySide6.QtCore import QItemSelectionModel, QModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QSizePolicy,
    QTableView,
    QWidget,
)

from fairdesk.audit.runs.plausibility import (
    PlausibleShare,
    is_weighed,
    plausible_share,
)
from fairdesk.audit.store.pair import Pair
from fairdesk.audit.store.records import SHOWN, PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.gui.kit import fields, layouts, parts, theme
from fairdesk.gui.kit.keys import keyed, shortcut
from fairdesk.gui.kit.tables import read_only
from fairdesk.gui.workspace.pairs.filter_bar import FilterBar
from fairdesk.gui.workspace.pairs.pairs_model import PAGE, Cells, PairsModel, as_tsv
from fairdesk.gui.workspace.pairs.side_by_side import ShareDelegate
from fairdesk.gui.workspace.session.session import Session
from fairdesk.individual.realism.diversity import MOST_PEOPLE, representatives
from fairdesk.wording import words
from fairdesk.wording.pairs import (
    held_out_sentence,
    naturalness_sentence,
    plausible_in_short,
    plausible_pairs,
)

#: Rows that are copied at once at most; more belong into the findings file.
_MOST_COPIED = 2_000
#: The orders that there are only where everybody was compared with real people.
_WEIGHED = ("plausible", "distance", "typicality")
#: Of pairs in such an order, ten that are unlike are chosen from so many.
_POOL = 2_000
_UNLIKE = "&Ten diverse pairs"
#: How wide a column is at most, until the auditor makes it wider.
_WIDEST = 230
#: An order: what `PairQuery` calls it, and whether it is turned round.
Order = tuple[str, bool]
#: A run, whether all its pairs were compared, and the plausible ones of it.
_Weighed = tuple[int | None, bool, PlausibleShare | None]
_AS_FOUND: Order = ("id", False)
_PLAUSIBLE: Order = (SHOWN.order, SHOWN.descending)


class PairsView(QWidget):
    """The table, and how many pairs there are; its filters are laid out by the page.

    Signals
    -------
    chosen : Pair or None
        Another pair is to be shown beside the table.
    """

    chosen = Signal(object)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._chosen: Pair | None = None
        #: Whether somebody works on the chosen pair, so that it stays.
        self._held = False
        self._run: int | None = None
        self._weighed = False
        self._order_chosen = self._sized = False
        many = session.many
        self._orders: tuple[tuple[str, Order], ...] = (
            ("Plausible first", _PLAUSIBLE),
            (f"Nearest to {many} in the data first", ("distance", False)),
            ("Most typical first", ("typicality", True)),
            ("Largest score difference first", ("difference", True)),
            ("In the order found", _AS_FOUND),
        )
        self.model = PairsModel(session.spec, session.store, lambda: session.decisions, self)
        self.filters = FilterBar(session.spec)
        self._make_chips()
        self._order = self._make_order()
        self._count = parts.quiet()
        self._count.setWordWrap(False)
        self._count.setMinimumWidth(0)
        self._share = parts.quiet()
        self._share.hide()

        self.table = self._make_table()
        self._empty = parts.Words(tone="quiet")
        self._clear = parts.push_button("Show all pairs", self.filters.clear)
        self._stack = layouts.stack(self.table, self._make_empty())
        layouts.column(
            layouts.row(
                fields.label_of("&Order", self._order),
                layouts.grow(self._order),
                layouts.stretch(),
                spacing=theme.NEAR,
            ),
            layouts.grow(self._stack),
            layouts.row(layouts.grow(self._count), self._unlike, spacing=theme.NEAR),
            self._share,
            on=self,
            spacing=theme.NEAR,
        )

        self.filters.changed.connect(self._filter)
        self.model.counted.connect(self._tell_count)
        self.model.arrived.connect(self._take_rows)
        self.model.failed.connect(session.failed)
        session.pairs_changed.connect(self._look_for_fresh)
        session.pair_changed.connect(self._take_pair)
        session.weighing.changed.connect(self._ask_weighed)
        self.table.selectionModel().currentRowChanged.connect(self._move)
        copy = QKeySequence.StandardKey.Copy
        shortcut(self.table, copy, self.copy, "Copy the selected pairs")
        shortcut(self.table, "F5", self.show_fresh, "Show new pairs")
        keyed(self._fresh, self._unlike)
        shortcut(self.table, "U", self.choose_unlike, _UNLIKE.replace("&", ""))

    def _make_chips(self) -> None:
        """Make the buttons that show new pairs, and the few to read first."""
        self._fresh = parts.push_button(
            "",
            self.show_fresh,
            tip="Show the pairs found since then (F5); the table keeps its position",
        )
        self._fresh.hide()
        self.filters.tail.addWidget(self._fresh)
        self._unlike = parts.push_button(
            _UNLIKE,
            self.choose_unlike,
            tip="Ten of the matching pairs that differ most from each other (U): chosen "
            f"from the first {words.number(_POOL)} if sorted by plausibility or distance, else "
            f"from the first {words.number(MOST_PEOPLE)}",
        )

    def _make_order(self) -> QComboBox:
        order = fields.choice([text for text, _order in self._orders], "Order of the pairs")
        order.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        order.setMaximumWidth(280)
        # a long name of an attribute may be cut, the order that comes first may not
        fields.roomy(order, len(self._orders[0][0]))
        order.activated.connect(self._choose_order)
        return order

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setModel(self.model)
        read_only(
            table,
            "Discriminatory pairs",
            "Arrow keys select a pair, F flags it, D dismisses it, N edits its note, B makes "
            "it more realistic, W explains it, U shows ten diverse pairs, Ctrl+C copies.",
            line=9,
        )
        table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        table.setWordWrap(False)
        table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        header = table.horizontalHeader()
        header.setFixedHeight(2 * self.fontMetrics().height() + theme.NEAR)
        header.setSectionsMovable(True)
        header.setResizeContentsPrecision(PAGE)
        header.setSortIndicatorShown(True)
        header.sortIndicatorChanged.connect(self._sort)
        bars = ShareDelegate(table)
        for position, column in enumerate(self.model.columns):
            if column.share is not None:
                table.setItemDelegateForColumn(position, bars)
        return table

    def _make_empty(self) -> QWidget:
        """Make what is shown instead of an empty table."""
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        return layouts.panel(
            layouts.stretch(),
            self._empty,
            layouts.at(self._clear, Qt.AlignmentFlag.AlignHCenter),
            layouts.stretch(),
            margin=None,
        )

    def show_run(self, run: int | None) -> None:
        """Show the pairs of one run, or of all."""
        if self._run != run or not self.model.loaded:
            self._run, self._held = run, False
            self.filters.forget_chosen()
            self._ask_weighed()

    def hold(self) -> None:
        """Keep the order, and the chosen pair beside it, since somebody works on it."""
        self._held = True

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
            rest = f" {words.number(left)} more are in the exported CSV." if left else ""
            self._session.said.emit(f"Copied {words.counted(len(pairs), 'pair')}.{rest}")

    def choose_unlike(self) -> None:
        """Show ten pairs that are unlike each other; once they are shown, all others again."""
        if self.filters.chosen:
            self.filters.filter_by(among=None)
            return
        query, domain = self.model.query, self._session.spec.domain

        def choose(store: Store) -> tuple[PairQuery, list[int]]:
            # whoever is farthest from all others is often farthest from all real people too
            pool = _POOL if query.order in _WEIGHED else MOST_PEOPLE
            pairs = store.pairs(query, 0, pool)
            rows = np.array([pair.row for pair in pairs]).reshape(-1, len(domain.attributes))
            places = representatives(domain, rows, 10, np.random.default_rng(0))
            return query, [pairs[place].id for place in places.tolist()]

        self._session.store.ask(choose, self._take_unlike, key=(id(self), "unlike"))

    def _take_unlike(self, answer: tuple[PairQuery, list[int]]) -> None:
        query, pair_ids = answer
        if query == self.model.query and pair_ids:
            self.filters.filter_by(among=tuple(pair_ids))

    def step(self, by: int) -> None:
        """Walk to another pair."""
        row = min(max(self.table.currentIndex().row() + by, 0), self.model.rowCount() - 1)
        if row >= 0:
            self.table.setCurrentIndex(self.model.index(row, 0))

    def _shown_columns(self) -> list[Cells]:
        header = self.table.horizontalHeader()
        return [self.model.columns[header.logicalIndex(i)] for i in range(header.count())]

    def _size_columns(self) -> None:
        """Give every column the width of its longest text in sight, within reason."""
        self._sized = True
        header = self.table.horizontalHeader()
        for column in range(header.count()):
            wide = max(self.table.sizeHintForColumn(column), header.sectionSizeHint(column))
            header.resizeSection(column, min(wide, _WIDEST))

    def _ask_weighed(self) -> None:
        """Ask whether the run's pairs have all been compared with real people."""
        run = self._run

        def ask(store: Store) -> _Weighed:
            if not is_weighed(store, run):
                return run, False, None
            people = store.spec.domain.people(store.table())
            return run, True, plausible_share(store, people, run)

        self._session.store.ask(ask, self._take_weighed, key=(id(self), "run"))

    def _take_weighed(self, answer: _Weighed) -> None:
        """Show a run in the order that there is for it; nothing moves that is being read."""
        run, weighed, share = answer
        if run != self._run:
            return
        self._weighed = weighed
        self._share.setVisible(share is not None)
        if share is not None:
            told = (
                plausible_pairs(share).sentence,
                held_out_sentence(share.reference),
                naturalness_sentence(share),
            )
            said = " ".join(told)
            self._share.setText(plausible_in_short(share))
            self._share.setToolTip(said)
            self._share.setAccessibleDescription(said)
        query = self.model.query
        present = (query.order, query.descending)
        fits = self._weighed or query.order not in _WEIGHED
        first = _PLAUSIBLE if self._weighed else _AS_FOUND
        if query.run != run or not self.model.loaded:
            self._show_in(present if self._order_chosen and fits else first)
        elif not fits or not (self._order_chosen or present == first or self._reading()):
            self._show_in(first)
        else:
            self._tell_order()
            self.model.refresh()

    def _show_in(self, order: Order) -> None:
        """Show the run's pairs in an order."""
        query = msgspec.structs.replace(
            self.model.query, run=self._run, order=order[0], descending=order[1]
        )
        self.model.show_query(self.filters.query(query))
        self._tell_order()

    def _tell_order(self) -> None:
        """Let the choice and the header say in which order the pairs are."""
        query = self.model.query
        present = (query.order, query.descending)
        place = next(i for i, each in enumerate(self.model.columns) if each.order == query.order)
        header = self.table.horizontalHeader()
        direction = (
            Qt.SortOrder.DescendingOrder if query.descending else Qt.SortOrder.AscendingOrder
        )
        with QSignalBlocker(header):
            header.setSortIndicator(place, direction)
        header.viewport().update()
        turned = "largest first" if query.descending else "smallest first"
        # of another column's header
        self._order.setPlaceholderText(f"By {self.model.columns[place].title}, {turned}")
        known = [order for _text, order in self._orders]
        self._order.setCurrentIndex(known.index(present) if present in known else -1)
        items = self._order.model()
        if isinstance(items, QStandardItemModel):
            for row, (name, _descending) in enumerate(known):
                items.item(row).setEnabled(self._weighed or name not in _WEIGHED)

    def _choose_order(self, place: int) -> None:
        self._order_chosen, self._held = True, False
        self._show_in(self._orders[place][1])

    def _sort(self, column: int, order: Qt.SortOrder) -> None:
        name = self.model.columns[column].order
        if not name or (name in _WEIGHED and not self._weighed):
            self._tell_order()
            return
        self._order_chosen, self._held = True, False
        self._show_in((name, order == Qt.SortOrder.DescendingOrder))

    def _filter(self) -> None:
        query = self.filters.query(self.model.query)
        if query != self.model.query:
            self.model.show_query(query)

    def _reading(self) -> bool:
        """Whether somebody works on a pair or reads further down, so that nothing may move."""
        further = self.table.currentIndex().row() > 0 or self.table.verticalScrollBar().value() > 0
        return self._held or further

    def _look_for_fresh(self) -> None:
        query = self.model.query
        in_order = query.order == "id" and not query.descending
        if not self.model.rowCount() or (in_order and not self._reading()):
            self.model.show_fresh()
        else:
            self.model.look_for_fresh()

    def _tell_count(self) -> None:
        total = self.model.rowCount()
        self._unlike.setText("Show a&ll pairs" if self.filters.chosen else _UNLIKE)
        self._count.setText(
            f"{words.counted(total, 'pair')}"
            + (" that match the filter" if self.filters.active else "")
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
        over = live is None or live.id != self.model.query.run
        if filtered:
            text = "No pair matches this filter."
        elif over:
            text = "This run found no pairs."
        else:
            text = (
                f"Discriminatory pairs are listed here: two {self._session.many} identical except "
                "for protected attributes that receive different decisions."
            )
        self._empty.setText(text)
        self._clear.setVisible(filtered)
        self._stack.setCurrentIndex(1)
        self._choose(None)

    def _take_rows(self, first: int, last: int) -> None:
        if last and not self._sized:
            self._size_columns()
        current, held = self.table.currentIndex().row(), self._chosen
        if self._held and held is not None and not self.filters.active:
            if current < 0:
                # the order became another meanwhile: the pair stays, wherever it is now
                self._find(held, first, last)
            elif (pair := self.model.pair(current)) is not None and pair.id == held.id:
                self._choose(pair)
        elif first < last and current < 0:
            self.table.selectionModel().setCurrentIndex(
                self.model.index(0, 0),
                QItemSelectionModel.SelectionFlag.ClearAndSelect
                | QItemSelectionModel.SelectionFlag.Rows,
            )
        elif first <= current < last:
            self._choose(self.model.pair(current))

    def _find(self, held: Pair, first: int, last: int) -> None:
        for row in range(first, last):
            if (pair := self.model.pair(row)) is not None and pair.id == held.id:
                self.table.selectRow(row)
                return

    def _take_pair(self, pair: Pair) -> None:
        self.model.replace(pair)
        if self._chosen is not None and self._chosen.id == pair.id:
            self._choose(pair)

    def _move(self, current: QModelIndex, _previous: QModelIndex) -> None:
        pair = self.model.pair(current.row()) if current.isValid() else None
        if pair is not None:
            self._held &= self._chosen is not None and pair.id == self._chosen.id
            self._choose(pair)

    def _choose(self, pair: Pair | None) -> None:
        self._chosen = pair
        self.chosen.emit(pair)
