"""The table of pairs: its columns, and pages of rows that are fetched as they are seen."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
from operator import attrgetter
from typing import Any

import msgspec
from PySide6.QtCore import QModelIndex, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QFont, QGuiApplication, QPalette

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.pair import (
    FIELDS,
    FIRST,
    FOUND,
    MARKED,
    WEIGHED,
    Kind,
    Pair,
    orderable,
    sides,
)
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.attributes import Role
from fairdesk.document.pairs import change
from fairdesk.errors import FairDeskError
from fairdesk.gui.kit import hints
from fairdesk.gui.kit.tables import Index, TableModel, aligned
from fairdesk.gui.kit.threads import StoreThread
from fairdesk.gui.workspace.session.session import MARKS
from fairdesk.models.decisions.rule import own_number
from fairdesk.wording import words
from fairdesk.wording.pairs import UNKNOWN, entitled, usual, writers

NOTE = "✎"
#: The column of what changes between both sides of a pair.
CHANGE = "Change"


class PairRole(IntEnum):
    """What else the model gives, besides Qt's own roles."""

    PAIR = Qt.ItemDataRole.UserRole
    """The `Pair` of the row, or nothing while its page is on the way."""
    SHARE = Qt.ItemDataRole.UserRole + 1
    """Of a cell that is drawn as a bar too: how much of it is full, 0 to 1."""


@dataclass(frozen=True)
class Cells:
    """One column of the table.

    Attributes
    ----------
    title : str
        Its header.
    order : str
        What `PairQuery.order` calls it; empty when the store cannot sort by it.
    text : callable
        Writes a pair's cell.
    tip : str
        What the header means.
    number : bool
        Whether its cells are numbers, set at the right.
    full : callable
        Writes a pair's cell in full, for its tip; none: as the cell.
    changed : callable
        Whether the cell shows a difference between the two people; none: it never does.
    share : callable
        Gives how much of a bar is full beside the text; none: there is no bar.
    """

    title: str
    order: str
    text: Callable[[Pair], str]
    tip: str
    number: bool = False
    full: Callable[[Pair], str] | None = None
    changed: Callable[[Pair], bool] | None = None
    share: Callable[[Pair], float | None] | None = None


def mark_text(pair: Pair) -> str:
    """Write the signs of a pair's mark and note."""
    return MARKS[pair.mark][0] + (NOTE if pair.note else "")


def mark_in_full(pair: Pair) -> str:
    """Write a pair's mark, and the note where there is one."""
    return MARKS[pair.mark][1].capitalize() + (f"\n{pair.note}" if pair.note else "")


def columns_of(spec: AuditSpec, decisions: Callable[[], Sequence[str]]) -> tuple[Cells, ...]:
    """Make the table's columns: mark, number, decision, what changes, scores, what differs, others.

    Where several attributes are protected, what changes has a column of its own.

    Parameters
    ----------
    decisions : callable
        Gives what each of the model's classes is called, once that is known.
    """
    attributes = spec.domain.attributes

    def attribute(position: int, tip: str, *, differs: bool) -> Cells:
        text = attributes[position].text

        def sides(pair: Pair) -> dict[float, None]:
            return dict.fromkeys((pair.row[position], pair.partner[position]))

        return Cells(
            attributes[position].name,
            attributes[position].name,
            lambda pair: " → ".join(map(text, sides(pair))),
            tip,
            number=not differs and attributes[position].kind.is_number,
            changed=(lambda pair: len(sides(pair)) > 1) if differs else None,
        )

    protected = [
        attribute(position, "Protected attribute: the two values tested", differs=True)
        for position in spec.domain.protected
    ]
    following = [
        attribute(position, "Changes with a protected attribute", differs=True)
        for position in spec.domain.differing
        if attributes[position].role is not Role.PROTECTED
    ]
    others = [
        attribute(position, "Identical in both instances", differs=False)
        for position in spec.domain.others
    ]
    changed = Cells(
        CHANGE,
        "",
        partial(change, spec),
        "The protected attributes that change",
        changed=lambda _pair: True,
    )
    fields = partial(_fields, spec, decisions)
    decided = [name for name, field in FOUND.items() if field.kind == "decision"]
    difference = Cells(
        "Difference",
        "difference",
        lambda pair: f"{_apart(spec, pair):.3f}",
        "Difference between the two scores",
        number=True,
        full=lambda pair: f"{_apart(spec, pair):.9g}",
    )
    return (
        *(replace(each, text=mark_text, full=mark_in_full) for each in fields(("mark",))),
        *fields(FIRST),
        *(*fields(MARKED.keys() - {"mark"}), *fields(decided)),
        *((changed,) if len(protected) > 1 else (*protected, *following)),
        *(*fields(name for name in FOUND if name not in decided), difference),
        *((*protected, *following) if len(protected) > 1 else ()),
        *(*fields(WEIGHED), *others),
    )


def _fields(
    spec: AuditSpec, decisions: Callable[[], Sequence[str]], names: Iterable[str]
) -> Iterator[Cells]:
    """Make the columns of those fields of a pair that have one."""
    many = words.plural(spec.person)
    write = writers(spec, lambda position: decisions()[position])
    in_full: dict[Kind, Callable[[Any], str]] = {
        **write,
        "score": lambda value: f"{own_number(value, spec.mapping, spec.model):.9g}",
        "distance": lambda value: UNKNOWN if value is None else f"{value:.9g}",
        "share": lambda value: UNKNOWN if value is None else usual(value, many),
    }
    for name in names:
        if (field := FIELDS[name]).title:
            both = [each for each in sides(name) if each == name or not FIELDS[each].title]
            yield Cells(
                entitled(spec, field.title),
                name if orderable(name) else "",
                partial(_written, both, write[field.kind]),
                entitled(spec, field.tip),
                number=field.kind in ("number", "score", "distance", "share"),
                full=partial(_written, both, in_full[field.kind]),
                changed=partial(_differ, both) if len(both) > 1 else None,
                share=attrgetter(name) if field.kind == "share" else None,
            )


def _written(names: Sequence[str], write: Callable[[Any], str], pair: Pair) -> str:
    """Write a field's value, or the two of a pair's two sides where these differ."""
    return " → ".join(map(write, dict.fromkeys(getattr(pair, name) for name in names)))


def _differ(names: Sequence[str], pair: Pair) -> bool:
    return len({getattr(pair, name) for name in names}) > 1


def _apart(spec: AuditSpec, pair: Pair) -> float:
    """Return how far the model's own numbers for both people are apart."""
    one, other = (
        own_number(score, spec.mapping, spec.model)
        for score in (pair.row_score, pair.partner_score)
    )
    return abs(one - other)


def as_tsv(columns: Sequence[Cells], pairs: Sequence[Pair]) -> str:
    """Write pairs for a spreadsheet: tabs between cells, a header first."""
    lines = [[column.title for column in columns]]
    lines += [[column.text(pair) for column in columns] for pair in pairs]
    return "\n".join(
        "\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in line) for line in lines
    )


#: Rows per page.
PAGE = 100
#: Pages kept in memory.
KEPT = 30


class PairsModel(TableModel):
    """The pairs that answer a query, page by page.

    What is shown is a snapshot: pairs found later do not move the rows, they are counted in
    ``fresh`` until `show_fresh` lets them in.

    Signals
    -------
    counted
        The number of rows, or of fresh ones, is another.
    arrived : (int, int)
        The rows from the first up to (not including) the second are there now.
    failed : FairDeskError
        The store could not answer.
    """

    counted = Signal()
    arrived = Signal(int, int)
    failed = Signal(object)

    def __init__(
        self,
        spec: AuditSpec,
        store: StoreThread,
        decisions: Callable[[], Sequence[str]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.columns = columns_of(spec, decisions)
        self.query = PairQuery(run=None)
        self._store = store
        self._generation = 0
        self._total = 0
        self._upto = 0
        self._there = 0
        self._pages: OrderedDict[int, list[Pair]] = OrderedDict()
        self._stale: set[int] = set()
        self._wanted: list[int] = []
        self._fetching: int | None = None
        self._loaded = False
        self._strong = QFont()
        self._strong.setWeight(QFont.Weight.DemiBold)
        self._later = QTimer(self, singleShot=True)
        self._later.timeout.connect(self._fetch)

    # What the pages around it use

    @property
    def loaded(self) -> bool:
        """Whether the query has been answered once."""
        return self._loaded

    @property
    def fresh(self) -> int:
        """How many pairs answer the query that are not shown yet."""
        return max(0, self._there - self._total)

    def show_query(self, query: PairQuery) -> None:
        """Show what answers another query."""
        self.query = query
        self._loaded = False
        self._snapshot()

    def show_fresh(self) -> None:
        """Let in what was found since; in the order of finding nothing moves."""
        self._snapshot()

    def look_for_fresh(self) -> None:
        """Count again what answers the query, without showing it."""
        if self._loaded:
            query, generation = self.query, self._generation
            self._store.ask(
                lambda store: (generation, store.count(query)),
                self._take_there,
                self.failed.emit,
                key=(id(self), "count"),
            )

    def refresh(self) -> None:
        """Read again what is in memory, as it is looked at; no row moves."""
        self._stale.update(self._pages)
        if self._total:
            last = self.index(self._total - 1, len(self.columns) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def replace(self, pair: Pair) -> None:
        """Show a pair with another mark or note, where it is."""
        for page, rows in self._pages.items():
            for place, row in enumerate(rows):
                if row.id == pair.id:
                    rows[place] = pair
                    at = page * PAGE + place
                    self.dataChanged.emit(self.index(at, 0), self.index(at, len(self.columns) - 1))
                    return

    # What Qt asks

    def size(self) -> tuple[int, int]:
        """Return how many pairs are shown, and columns."""
        return self._total, len(self.columns)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return a column's title and what it means."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.tip
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return aligned(number=False) | Qt.TextFlag.TextWordWrap.value
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a cell; empty while its page is on the way."""
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return aligned(number=self.columns[index.column()].number)
        if role not in _ANSWERED:
            return None
        pair = self.pair(index.row())
        return None if pair is None else self._cell(pair, self.columns[index.column()], role)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column, in the store."""
        if not 0 <= column < len(self.columns) or not self.columns[column].order:
            return
        wanted = msgspec.structs.replace(
            self.query,
            order=self.columns[column].order,
            descending=order == Qt.SortOrder.DescendingOrder,
        )
        if wanted != self.query:
            self.show_query(wanted)

    # Pages

    def _cell(self, pair: Pair, column: Cells, role: int) -> object:
        cell: object = None
        if role == Qt.ItemDataRole.DisplayRole:
            cell = column.text(pair)
        elif role == Qt.ItemDataRole.FontRole and column.changed is not None:
            cell = self._strong if column.changed(pair) else None
        elif role == Qt.ItemDataRole.ForegroundRole and pair.mark == "dismissed":
            cell = QGuiApplication.palette().brush(QPalette.ColorRole.PlaceholderText)
        elif role == Qt.ItemDataRole.ToolTipRole:
            cell = hints.plain((column.full or column.text)(pair))
        elif role == Qt.ItemDataRole.AccessibleTextRole:
            mark = column.text == mark_text
            cell = f"{column.title}: {MARKS[pair.mark][1] if mark else column.text(pair)}"
        elif role == PairRole.PAIR:
            cell = pair
        elif role == PairRole.SHARE and column.share is not None:
            cell = column.share(pair)
        return cell

    def pair(self, row: int) -> Pair | None:
        """Return a row's pair, or nothing while its page is on the way (it is asked for)."""
        page, place = divmod(row, PAGE)
        rows = self._pages.get(page)
        if rows is None:
            self._want(page)
            return None
        if page in self._stale:
            self._want(page)
        self._pages.move_to_end(page)
        return rows[place] if place < len(rows) else None

    def _want(self, page: int) -> None:
        if page != self._fetching and page not in self._wanted:
            self._wanted.append(page)
            # a scroll bar that is dragged passes many pages: only the last few are fetched
            del self._wanted[:-4]
            self._later.start(0)

    def _fetch(self) -> None:
        if self._fetching is not None or not self._wanted:
            return
        self._fetching = page = self._wanted.pop()
        generation = self._generation
        query = msgspec.structs.replace(self.query, upto=self._upto)
        limit = min(PAGE, self._total - page * PAGE)

        def read(store: Store) -> tuple[int, int, list[Pair]]:
            pairs = store.pairs(query, page * PAGE, limit)
            return generation, page, pairs

        self._store.ask(read, self._take_page, self._fail_page)

    def _take_page(self, answer: tuple[int, int, list[Pair]]) -> None:
        generation, page, rows = answer
        self._fetching = None
        if generation == self._generation:
            self._keep(page, rows)
            first = page * PAGE
            self.dataChanged.emit(
                self.index(first, 0), self.index(first + len(rows) - 1, len(self.columns) - 1)
            )
            self.arrived.emit(first, first + len(rows))
        self._fetch()

    def _fail_page(self, error: FairDeskError) -> None:
        self._fetching = None
        self._wanted.clear()
        self.failed.emit(error)

    def _keep(self, page: int, rows: list[Pair]) -> None:
        self._stale.discard(page)
        self._pages[page] = rows
        self._pages.move_to_end(page)
        while len(self._pages) > KEPT:
            self._pages.popitem(last=False)

    def _snapshot(self) -> None:
        """Count what there is now and show that, with the first page at hand."""
        query = self.query

        def read(store: Store) -> tuple[PairQuery, int, int, list[Pair]]:
            newest = store.pairs(PairQuery(descending=True), 0, 1)
            upto = newest[0].id if newest else 0
            snapshot = msgspec.structs.replace(query, upto=upto)
            pairs = store.pairs(snapshot, 0, PAGE)
            return query, upto, store.count(snapshot), pairs

        self._store.ask(read, self._take_snapshot, self.failed.emit, key=(id(self), "snapshot"))

    def _take_snapshot(self, answer: tuple[PairQuery, int, int, list[Pair]]) -> None:
        query, upto, total, rows = answer
        if query != self.query:
            return
        grows = (
            self._loaded
            and query.order == "id"
            and not query.descending
            and query.mark is None
            and total >= self._total
        )
        self._generation += 1
        self._upto = upto
        if grows:
            self._grow(total, rows)
        else:
            self.beginResetModel()
            self._total = total
            self._pages.clear()
            self._stale.clear()
            self._wanted.clear()
            self._pages[0] = rows
            self.endResetModel()
        self._there = max(total, self._there if grows else 0)
        self._loaded = True
        self.counted.emit()
        self.arrived.emit(0, len(rows))

    def _grow(self, total: int, rows: list[Pair]) -> None:
        """Append what is new; the page that was cut short is fetched again."""
        self._pages.pop(self._total // PAGE, None)
        if total > self._total:
            self.beginInsertRows(QModelIndex(), self._total, total - 1)
            self._total = total
            self.endInsertRows()
        self._keep(0, rows)

    def _take_there(self, answer: tuple[int, int]) -> None:
        generation, there = answer
        if generation == self._generation and there != self._there:
            self._there = there
            self.counted.emit()


_ANSWERED = frozenset(
    (
        Qt.ItemDataRole.DisplayRole,
        Qt.ItemDataRole.FontRole,
        Qt.ItemDataRole.ForegroundRole,
        Qt.ItemDataRole.ToolTipRole,
        Qt.ItemDataRole.AccessibleTextRole,
        PairRole.PAIR,
        PairRole.SHARE,
    )
)
