"""Terms in texts: how sentences fare that name somebody, and those that flip with another term."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QComboBox, QStyleOptionViewItem, QTableWidget, QWidget

from fairdesk.answers.answer import Question
from fairdesk.audit.catalogue.methods import METHODS, why_off
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunState
from fairdesk.gui.kit import layouts, parts, theme, tips
from fairdesk.gui.kit.pages import Staying
from fairdesk.gui.kit.table_model import Index
from fairdesk.gui.kit.tables import (
    Padded,
    SortedItem,
    aligned,
    head_columns,
    height_around,
    read_only,
)
from fairdesk.gui.workspace.common.answering import Run
from fairdesk.gui.workspace.common.run_page import RunPage
from fairdesk.gui.workspace.common.statement import Statement
from fairdesk.gui.workspace.session.session import Session
from fairdesk.gui.workspace.subgroups.findings_view import METHOD, mined_of
from fairdesk.gui.workspace.subgroups.term_detail import TermDetail
from fairdesk.results.subgroups import TermRate
from fairdesk.wording import words
from fairdesk.wording.groups import subgroups as subgroup_words

_HEADER = (
    *("Category", "Term", "Texts in the data with it", "Texts tested with it"),
    *("Selection rate", "Decision changes"),
)
# the first is what cells are sorted by
_SHARE, _PLACE = (Qt.ItemDataRole.UserRole + each for each in (1, 2))
#: In less width the term stands below the table, not beside it.
_BESIDE = 960
#: So many terms are shown at once where the chosen one stands below them; at least so many are.
_ABOVE, _LEAST = 10, 4

#: What is compared, and what the marks mean.
EXPLAINED = (
    "The decision about a text should not change when an identity term in it is replaced by "
    "another. Each term is tested in every text with a term of its category, in that one’s place. "
    "The rate of favourable decisions with each term is an estimate. Decision changes are "
    "examples: texts whose decision changes with another term, each queried again."
)


def text_columns(spec: AuditSpec) -> tuple[str, ...]:
    """Name the columns with texts that the model reads."""
    return tuple(spec.domain.names[place] for place in spec.domain.texts.tolist())


def off(spec: AuditSpec) -> str:
    """Say why words cannot be compared here; empty where they can."""
    return why_off(METHODS[METHOD], spec.model, spec.domain, text=True)


def terms_of(run: Run) -> tuple[TermRate, ...]:
    """Return the terms that a run tells of."""
    return tuple(each for each in run.figures if isinstance(each, TermRate))


class WordsView(RunPage):
    """Terms as rows; of the chosen one the sentences behind it.

    Signals
    -------
    compare_words
        A run that compares words is wanted.
    """

    compare_words = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session, self._reads, "Run whose terms are shown", Question.SUBGROUPS)
        self._terms: tuple[TermRate, ...] = ()
        self._headline = Statement()
        self._category = parts.bounded(QComboBox())
        self._category.setAccessibleName("Category of terms")
        self._category.currentIndexChanged.connect(lambda _index: self._fill())
        parts.calm(self._category)
        self.table = _Terms()
        self.table.itemSelectionChanged.connect(self._choose)
        self.detail = TermDetail(session)
        area = parts.scrolled(self._make_full())
        self._side.follow(area)
        self._stack_up(self._make_empty(), area)
        self.runs.take_runs()

    def choose_term(self, term: str) -> None:
        """Choose a term among those of all categories."""
        self._category.setCurrentIndex(0)
        self.table.choose(term)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put the term below the table where both do not fit beside each other."""
        super().resizeEvent(event)
        beside = event.size().width() >= _BESIDE
        layouts.turn(self._both, beside=beside)
        self._side.set_staying(stays=beside)
        self.table.show_at_once(None if beside else _ABOVE)

    # Parts

    def _make_empty(self) -> QWidget:
        reason = off(self._session.spec)
        button = parts.push_button("&Compare identity terms", self.compare_words)
        return parts.empty_page(
            "No identity terms compared yet",
            "A model that reads texts should not decide by identity terms. FairDesk "
            "re-queries sentences of the data with other terms for gender, race, religion "
            "and age, and shows how often sentences with each term receive the favourable "
            "decision and which decisions change.",
            parts.why_not(button, (reason,)),
            button,
        )

    def _make_full(self) -> QWidget:
        head = layouts.row(
            layouts.grow(self._standing),
            layouts.at(self._category, Qt.AlignmentFlag.AlignTop),
            layouts.at(self.runs, Qt.AlignmentFlag.AlignTop),
            spacing=theme.NEAR,
        )
        self._both = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._both.setSpacing(theme.WIDE)
        self._side = Staying(self.table)
        self._both.addWidget(self._side, 11)
        self._both.addWidget(self.detail, 9)
        return layouts.panel(
            head,
            self._banner,
            self._headline,
            parts.quiet(EXPLAINED),
            self._both,
            layouts.stretch(),
            margin=(0, theme.GAP, theme.PAGE, theme.WIDE),
            spacing=theme.GAP,
        )

    # What happens

    def _reads(self, run: Run) -> bool:
        """Return whether a run compares words."""
        if run.method != METHOD:
            return False
        if isinstance(run, RunState):
            spec = self._session.live_spec
            return spec is not None and bool(spec.text)
        return bool(run.spec.text)

    def _show_run(self, run: Run) -> None:
        self._say_standing(run)
        self._tell_failure(run, "Compare again", self.compare_words.emit)
        terms = terms_of(run)
        self._say(run, terms)
        if terms != self._terms:
            self._terms = terms
            self._list_categories()
            self._fill()
        self._side.setVisible(bool(terms))
        self.detail.setVisible(bool(terms))

    def _say(self, run: Run, terms: Sequence[TermRate]) -> None:
        spec = self._session.spec
        mined = next(iter(mined_of(run)), None)
        notes = "\n".join(mined.notes) if mined is not None else ""
        ranked = [each for each in by_gap(terms) if each.tried]
        if ranked:
            sentence = subgroup_words.term_sentence(spec, ranked[0])
            self._headline.say("●● Shown by examples", sentence, notes)
            return
        going = run.state in ("running", "paused")
        said = subgroup_words.mined_sentence(spec, mined) if mined is not None else ""
        self._headline.say(
            "…" if going else "□ Nothing found", said or "No result yet.", notes or run.message
        )

    def _list_categories(self) -> None:
        categories = tuple(dict.fromkeys(each.category for each in self._terms))
        entries = ((name, name) for name in categories)
        parts.offer(self._category, (("Any category", ""), *entries))
        self._category.setVisible(len(categories) > 1)

    def _fill(self) -> None:
        chosen = self._category.currentData() or ""
        shown = [each for each in self._terms if not chosen or each.category == chosen]
        self.table.show_terms(by_gap(shown))
        self._choose()

    def _choose(self) -> None:
        term, run = self.table.term, self._told
        if term is not None and run is not None:
            self.detail.show_term(run.id, term)


def by_gap(terms: Sequence[TermRate]) -> list[TermRate]:
    """Order terms: those whose rate is farthest below the highest of their category first."""
    highest: dict[str, float] = {}
    for each in terms:
        if each.texts:
            highest[each.category] = max(each.rate, highest.get(each.category, 0.0))

    def rank(term: TermRate) -> tuple[float, float, float, str, str]:
        gap = highest[term.category] - term.rate if term.texts else -1.0
        share = term.flips / term.tried if term.tried else -1.0
        return -gap, -share, -term.occurs, term.category, term.term

    return sorted(terms, key=rank)


class _Terms(QTableWidget):
    """The terms, as high as they are many."""

    def __init__(self) -> None:
        super().__init__(0, len(_HEADER))
        self._terms: list[TermRate] = []
        self._most: int | None = None
        read_only(self, "Terms", "Arrow keys move; click a header to sort.", line=12, single=True)
        head_columns(self, _HEADER, range(2, len(_HEADER)))
        self.setItemDelegateForColumn(4, _Bar(self))
        head = self.horizontalHeader()
        # measured once when they are filled, not at every change of the layout
        head.setSectionResizeMode(head.ResizeMode.Fixed)
        head.setSectionResizeMode(4, head.ResizeMode.Stretch)
        head.setMinimumSectionSize(head.sectionSizeHint(4) // 2)
        if (rate := self.horizontalHeaderItem(4)) is not None:
            rate.setToolTip("Share of these texts with the favourable decision")

    @property
    def term(self) -> TermRate | None:
        """The term that is chosen."""
        item = self.item(self.currentRow(), 0) if self.selectedItems() else None
        place = -1 if item is None else int(item.data(_PLACE))
        return self._terms[place] if 0 <= place < len(self._terms) else None

    def choose(self, term: str) -> None:
        """Choose the first row of a term."""
        names = (self._name(row) for row in range(self.rowCount()))
        row = next((row for row, name in enumerate(names) if name and name[1] == term), -1)
        if row >= 0:
            self.selectRow(row)

    def show_terms(self, terms: list[TermRate]) -> None:
        """Show others; the one that is chosen stays so, else the first is."""
        kept = self.term
        with QSignalBlocker(self):
            self._terms = terms
            self.setSortingEnabled(False)
            self.setRowCount(len(terms))
            for row, each in enumerate(terms):
                self._write(row, each)
            if not self.horizontalHeader().isSortIndicatorShown():
                self.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.DescendingOrder)
            self.setSortingEnabled(True)
            name = (kept.category, kept.term) if kept is not None else None
            chosen = next((row for row in range(len(terms)) if self._name(row) == name), 0)
            if terms:
                self.selectRow(chosen)
        head = self.horizontalHeader()
        for place in (0, 1, 2, 3, 5):
            wide = max(self.sizeHintForColumn(place), head.sectionSizeHint(place))
            head.resizeSection(place, wide)
        # a rate that is cut is none
        rate = max(self.sizeHintForColumn(4), head.sectionSizeHint(4))
        needed = sum(head.sectionSize(place) for place in (0, 1, 2, 3, 5)) + rate
        self.setMinimumWidth(needed + 2 * self.frameWidth() + self.verticalScrollBar().width())
        self._fit()

    def show_at_once(self, most: int | None) -> None:
        """Show so many rows at most, the others at a scroll; ``None`` is all of them."""
        if most != self._most:
            self._most = most
            self._fit()

    def _fit(self) -> None:
        head = height_around(self)
        line, rows = self.verticalHeader().defaultSectionSize(), len(self._terms)
        self.setMinimumHeight(line * min(rows, self._most or _LEAST) + head)
        self.setMaximumHeight(line * min(rows, self._most or rows) + head)

    def _name(self, row: int) -> tuple[str, str] | None:
        item = self.item(row, 0)
        if item is None:
            return None
        term = self._terms[int(item.data(_PLACE))]
        return term.category, term.term

    def _write(self, row: int, each: TermRate) -> None:
        share = each.flips / each.tried if each.tried else -1.0
        cells: tuple[tuple[str, float | str], ...] = (
            (each.category, each.category),
            (each.term, each.term),
            (words.number(each.occurs), float(each.occurs)),
            (words.number(each.texts), float(each.texts)),
            (
                words.percent(each.rate, 1.0) if each.texts else "–",
                each.rate if each.texts else -1.0,
            ),
            (
                f"{words.number(each.flips)} of {words.number(each.tried)}" if each.tried else "–",
                share,
            ),
        )
        for place, (text, key) in enumerate(cells):
            item = SortedItem(text, key)
            item.setData(_PLACE, row)
            item.setToolTip(tips.plain(text))
            item.setTextAlignment(aligned(number=place > 1))
            self.setItem(row, place, item)
        rate = self.item(row, 4)
        if rate is not None and each.texts:
            rate.setData(_SHARE, each.rate)


class _Bar(Padded):
    """A rate with a bar below it."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        rect = QRectF(option.rect).adjusted(theme.NEAR, 0, -theme.NEAR, -2)
        super().paint(painter, option, index)
        share = index.data(_SHARE)
        if share is None:
            return
        colours = theme.colours()
        line = QRectF(rect.left(), rect.bottom() - 3, rect.width(), 3)
        painter.fillRect(line, QColor(colours.line))
        line.setWidth(rect.width() * min(float(share), 1.0))
        painter.fillRect(line, QColor(colours.bar))
