"""Terms in texts: how sentences fare that name somebody, and those that flip with another term."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QGridLayout,
    QLabel,
    QSizePolicy,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from fairdesk.audit.catalogue.methods import METHODS, why_off
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunState
from fairdesk.audit.store.store import Store
from fairdesk.gui.kit import layouts, parts, theme, tips
from fairdesk.gui.workspace.common.answering import Run, method_of, number_of
from fairdesk.gui.workspace.common.run_page import RunPage
from fairdesk.gui.workspace.common.statement import Statement
from fairdesk.gui.workspace.session.session import Session
from fairdesk.gui.workspace.subgroups.findings_view import METHOD, mined_of
from fairdesk.results.subgroups import Flip, TermRate
from fairdesk.wording import subgroups as subgroup_words
from fairdesk.wording import words

_HEADER = ("Category", "Term", "Occurs", "Texts", "Rate", "Flips")
_KEY, _SHARE, _PLACE = (Qt.ItemDataRole.UserRole + each for each in range(3))
#: In less width the term stands below the table, not beside it.
_BESIDE = 960
#: So many terms are shown at once where the chosen one stands below them.
_ABOVE = 10
#: So many sentences of the data are read for a term, and so many letters around it are shown.
_MOST, _AROUND = 20, 160
_WORDS = re.compile(r"\w+|\W+")
#: Sentences are alike again where so many words and what is between them are, at most so many on.
_ALIKE, _APART = 3, 40
#: A sentence in stretches, and whether each is marked.
Pieces = list[tuple[str, bool]]

#: What is compared, and what the marks mean.
EXPLAINED = (
    "A sentence that names somebody should get the same decision when it names somebody else. "
    "Estimated: how often sentences get the favourable decision with each term. Flips are "
    "examples: sentences asked about again that get another decision with another term."
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


def changed(one: str, other: str) -> tuple[Pieces, Pieces]:
    """Cut two sentences into stretches that they share, and those that differ, which are marked.

    They are read side by side, for they differ in a few terms only: a comparison that allows for
    anything takes seconds where a text is long.
    """
    first, second = _WORDS.findall(one), _WORDS.findall(other)
    left: Pieces = []
    right: Pieces = []
    i = j = 0
    while i < len(first) or j < len(second):
        alike = 0
        while first[i + alike : i + alike + 1] == second[j + alike : j + alike + 1] != []:
            alike += 1
        skip, skip_other = _until_alike(first[i + alike :], second[j + alike :])
        for span, words_, start, stop in (
            (left, first, i + alike, i + alike + skip),
            (right, second, j + alike, j + alike + skip_other),
        ):
            shared, differing = "".join(words_[start - alike : start]), "".join(words_[start:stop])
            span.extend(piece for piece in ((shared, False), (differing, True)) if piece[0])
        i, j = i + alike + skip, j + alike + skip_other
    return left, right


def _until_alike(one: list[str], other: list[str]) -> tuple[int, int]:
    """Tell after how many words two sentences go on alike; all of them where they do not."""
    for both in range(2 * _APART):
        for skip in range(max(0, both - _APART), min(both, _APART) + 1):
            following = one[skip : skip + _ALIKE]
            if following == other[both - skip : both - skip + _ALIKE]:
                return min(skip, len(one)), min(both - skip, len(other))
    return len(one), len(other)


def shortened(pieces: Sequence[tuple[str, bool]], around: int = _AROUND) -> Pieces:
    """Leave out what is far from any marked stretch of a long sentence."""
    spans = []
    for place, (text, marked) in enumerate(pieces):
        first, last = place == 0, place == len(pieces) - 1
        keep = around if first or last else 2 * around
        if marked or len(text) <= keep + 1:
            spans.append((text, marked))
        elif first:
            spans.append((f"…{text[-around:]}", False))
        elif last:
            spans.append((f"{text[:around]}…", False))
        else:
            spans.append((f"{text[:around]} … {text[-around:]}", False))
    return spans


class Marked(QLabel):
    """A sentence with some stretches marked. It comes from a file: escaped, never markup."""

    def __init__(self, pieces: Sequence[tuple[str, bool]]) -> None:
        super().__init__()
        colours = theme.colours()
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setMinimumWidth(120)
        style = f"background-color:{colours.tint}; font-weight:600; text-decoration:underline"
        self.setText(
            "".join(
                f'<span style="{style}">{html.escape(text)}</span>' if marked else html.escape(text)
                for text, marked in shortened(pieces)
            ).replace("\n", " ")
        )
        self.setAccessibleName("".join(text for text, _marked in pieces))


@dataclass(frozen=True)
class Occurring:
    """Sentences of the data with a term.

    Attributes
    ----------
    category, term : str
        Which.
    sentences : tuple[tuple[tuple[str, bool], ...], ...]
        Some of them, the term marked.
    rows : tuple[int, ...]
        Their rows in the data, from 1.
    """

    category: str
    term: str
    sentences: tuple[tuple[tuple[str, bool], ...], ...]
    rows: tuple[int, ...]


def occurring(
    store: Store, column: str, lists: dict[str, tuple[str, ...]], category: str, term: str
) -> Occurring:
    """Look for sentences of the data that hold a term."""
    # only who looks at a term needs it
    from fairdesk.groups.text.sentences import Lexicon  # noqa: PLC0415

    lexicon = Lexicon(lists)
    wanted = (list(lists).index(category), lists[category].index(term))
    table = store.table()
    place = table.index(column)
    values, codes = table.columns[place].values, table.codes[:, place]
    sentences, rows = [], []
    for row, code in enumerate(codes.tolist()):
        named = None if np.isnan(code) else lexicon.find(values[int(code)])
        if named is None or wanted not in named.terms:
            continue
        pieces = [(named.pieces[0], False)]
        for found, which, after in zip(named.found, named.terms, named.pieces[1:], strict=True):
            pieces += [(found, which == wanted), (after, False)]
        sentences.append(tuple(piece for piece in pieces if piece[0]))
        rows.append(row + 1)
        if len(rows) == _MOST:
            break
    return Occurring(category, term, tuple(sentences), tuple(rows))


class WordsView(RunPage):
    """Terms as rows; of the chosen one the sentences behind it.

    Signals
    -------
    compare_words
        A run that compares words is wanted.
    """

    compare_words = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session, self._reads, "Run whose words are shown")
        self._terms: tuple[TermRate, ...] = ()
        self._headline = Statement()
        self._category = parts.bounded(QComboBox())
        self._category.setAccessibleName("Category of terms")
        self._category.currentIndexChanged.connect(lambda _index: self._fill())
        parts.calm(self._category)
        self.table = _Terms()
        self.table.itemSelectionChanged.connect(self._choose)
        self.detail = TermDetail(session)
        self._stack_up(self._make_empty(), parts.scrolled(self._make_full()))
        self.runs.take_runs()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put the term below the table where both do not fit beside each other."""
        super().resizeEvent(event)
        beside = event.size().width() >= _BESIDE
        self._both.setDirection(
            QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        )
        self.table.show_at_once(None if beside else _ABOVE)

    # Parts

    def _make_empty(self) -> QWidget:
        reason = off(self._session.spec)
        button = parts.push_button("&Compare words", self.compare_words)
        return parts.empty_page(
            "No words compared yet",
            "A model that reads texts should not decide by who is named in them. Sentences of the "
            "data that name somebody will be asked about again with other terms, of gender, race, "
            "religion and age: how often each term gets the favourable decision, and which "
            "sentences flip, will stand here.",
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
        left = layouts.column(self.table, layouts.stretch())
        self._both = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._both.setSpacing(theme.WIDE)
        self._both.addLayout(left, 11)
        self._both.addWidget(self.detail, 9)
        return layouts.panel(
            head,
            self._banner,
            self._headline,
            parts.quiet(EXPLAINED),
            self._both,
            layouts.stretch(),
            margin=(theme.WIDE, theme.GAP, theme.WIDE, theme.WIDE),
            spacing=theme.GAP,
        )

    # What happens

    def _reads(self, run: Run) -> bool:
        """Return whether a run compares words."""
        if method_of(run).key != METHOD:
            return False
        if isinstance(run, RunState):
            spec = self._session.live_spec
            return spec is not None and bool(spec.text)
        return bool(run.spec.text)

    def _show_run(self, run: Run) -> None:
        self._say_standing(run, f"{words.number(run.queries)} texts sent to the model, ")
        if run.state == "failed":
            again = (("Compare again", self.compare_words.emit),)
            self._banner.say("The run failed; what it found is kept.", run.message, again)
        else:
            self._banner.clear()
        terms = terms_of(run)
        self._say(run, terms)
        if terms != self._terms:
            self._terms = terms
            self._list_categories()
            self._fill()
        self.table.setVisible(bool(terms))
        self.detail.setVisible(bool(terms))

    def _say(self, run: Run, terms: Sequence[TermRate]) -> None:
        spec = self._session.spec
        mined = next(iter(mined_of(run)), None)
        notes = "\n".join(mined.notes) if mined is not None else ""
        ranked = sorted((each for each in terms if each.tried), key=_flipping)
        if ranked:
            sentence = subgroup_words.term_sentence(spec, ranked[0])
            self._headline.say("◆ Shown by examples", sentence, notes)
            return
        going = run.state in ("running", "paused")
        said = subgroup_words.mined_sentence(spec, mined) if mined is not None else ""
        self._headline.say(
            "…" if going else "□ Nothing found",
            said or "No term is known yet.",
            notes or run.message,
        )

    def _list_categories(self) -> None:
        categories = tuple(dict.fromkeys(each.category for each in self._terms))
        wanted = ["Any category", *categories]
        if wanted != [self._category.itemText(i) for i in range(self._category.count())]:
            with QSignalBlocker(self._category):
                self._category.clear()
                self._category.addItem(wanted[0], "")
                for name in categories:
                    self._category.addItem(name, name)
        self._category.setVisible(len(categories) > 1)

    def _fill(self) -> None:
        chosen = self._category.currentData() or ""
        shown = [each for each in self._terms if not chosen or each.category == chosen]
        self.table.show_terms(sorted(shown, key=_flipping))
        self._choose()

    def _choose(self) -> None:
        term, run = self.table.term, self._told
        if term is not None and run is not None:
            self.detail.show_term(number_of(run), term)


def _flipping(term: TermRate) -> tuple[float, float, str, str]:
    """Order terms: those with the greatest share of flips first."""
    share = term.flips / term.tried if term.tried else -1.0
    return -share, -term.occurs, term.category, term.term


class _Item(QTableWidgetItem):
    def __lt__(self, other: QTableWidgetItem) -> bool:
        """Order numbers as numbers."""
        return bool(self.data(_KEY) < other.data(_KEY))


class _Terms(QTableWidget):
    """The terms, as high as they are many."""

    def __init__(self) -> None:
        super().__init__(0, len(_HEADER))
        self._terms: list[TermRate] = []
        self._most: int | None = None
        self.setAccessibleName("Terms")
        self.setAccessibleDescription("Arrow keys walk; a click on a header sorts.")
        self.setHorizontalHeaderLabels(list(_HEADER))
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 12)
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        self.setSelectionMode(QTableWidget.SelectionMode.SingleSelection)
        self.setTabKeyNavigation(False)
        self.setItemDelegate(parts.Padded(self))
        self.setItemDelegateForColumn(4, _Bar(self))
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        # measured once when they are filled, not at every change of the layout
        head.setSectionResizeMode(head.ResizeMode.Fixed)
        head.setSectionResizeMode(4, head.ResizeMode.Stretch)
        head.setMinimumSectionSize(head.sectionSizeHint(4) // 2)
        head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        if (rate := self.horizontalHeaderItem(4)) is not None:
            rate.setToolTip("The share of these texts with the favourable decision")
        for place in range(2, len(_HEADER)):
            if (title := self.horizontalHeaderItem(place)) is not None:
                title.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

    @property
    def term(self) -> TermRate | None:
        """The term that is chosen."""
        item = self.item(self.currentRow(), 0) if self.selectedItems() else None
        place = -1 if item is None else int(item.data(_PLACE))
        return self._terms[place] if 0 <= place < len(self._terms) else None

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
            chosen = next(
                (row for row in range(len(terms)) if self._name(row) == name),
                0,
            )
            if terms:
                self.selectRow(chosen)
        head = self.horizontalHeader()
        for place in (0, 1, 2, 3, 5):
            wide = max(self.sizeHintForColumn(place), head.sectionSizeHint(place))
            head.resizeSection(place, wide + theme.NEAR)
        self._fit()

    def show_at_once(self, most: int | None) -> None:
        """Show so many rows at most, the others at a scroll; ``None`` is all of them."""
        if most != self._most:
            self._most = most
            self._fit()

    def _fit(self) -> None:
        rows = len(self._terms) if self._most is None else min(len(self._terms), self._most)
        scrolls = rows < len(self._terms)
        self.setVerticalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAsNeeded
            if scrolls
            else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        line = self.verticalHeader().defaultSectionSize()
        self.setFixedHeight(
            line * rows + self.horizontalHeader().sizeHint().height() + 2 * self.frameWidth() + 2
        )

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
            item = _Item(text)
            item.setData(_KEY, key)
            item.setData(_PLACE, row)
            item.setToolTip(tips.plain(text))
            side = Qt.AlignmentFlag.AlignRight if place > 1 else Qt.AlignmentFlag.AlignLeft
            item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
            self.setItem(row, place, item)
        rate = self.item(row, 4)
        if rate is not None and each.texts:
            rate.setData(_SHARE, each.rate)


class _Bar(parts.Padded):
    """A rate with a bar below it."""

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
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


class TermDetail(QWidget):
    """A term, the sentences that flip, and those of the data that hold it."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._wanted: tuple[int, str, str] | None = None
        self._shown: tuple[int, TermRate] | None = None
        self._said = Statement()
        self._flips = layouts.column(spacing=theme.GAP)
        self._banner = parts.Banner()
        self._behind = layouts.column(spacing=theme.NEAR)
        layouts.column(
            self._said,
            self._flips,
            self._banner,
            self._behind,
            layouts.stretch(),
            on=self,
            spacing=theme.GAP,
        )

    def show_term(self, run: int, term: TermRate) -> None:
        """Show another term of a run."""
        if self._shown == (run, term):
            return
        self._shown = (run, term)
        self._said.say(
            f"▨ {term.category}: {term.term}",
            subgroup_words.term_sentence(self._session.spec, term),
        )
        parts.clear(self._flips)
        if term.examples:
            shown = words.number(len(term.examples))
            self._flips.addWidget(parts.heading("Flips"))
            of = f"{shown} of {words.number(term.flips)}, those with the widest scores apart"
            self._flips.addWidget(parts.quiet(f"◆ Examples: {of}."))
        for each in term.examples:
            self._flips.addWidget(self._flip(term, each))
        wanted = (run, term.category, term.term)
        if wanted != self._wanted:
            self._wanted = wanted
            parts.clear(self._behind)
            self._session.store.ask(
                lambda store: _sentences(store, run, term),
                self._show_sentences,
                self._banner.tell,
                key="sentences behind a term",
            )

    def _show_sentences(self, found: Occurring | None) -> None:
        parts.clear(self._behind)
        if (
            found is None
            or self._wanted is None
            or self._wanted[1:] != (found.category, found.term)
        ):
            return
        self._banner.clear()
        self._behind.addWidget(parts.heading("Sentences of the data with it"))
        if not found.rows:
            self._behind.addWidget(
                parts.quiet("□ None: sentences with it were made by replacing another term.")
            )
            return
        count = words.counted(len(found.rows), "sentence")
        self._behind.addWidget(parts.quiet(f"□ Observed: the first {count}."))
        for row, pieces in zip(found.rows, found.sentences, strict=True):
            number = parts.Words(f"row {words.number(row)}", tone="quiet", size=0.88, wrap=False)
            line = layouts.row(
                layouts.at(number, Qt.AlignmentFlag.AlignTop),
                layouts.grow(Marked(pieces)),
                spacing=theme.NEAR,
            )
            self._behind.addLayout(line)

    def _flip(self, term: TermRate, flip: Flip) -> QWidget:
        """Put both sentences side by side, their decisions and scores below them."""
        spec = self._session.spec
        card = parts.Card(margin=theme.GAP)
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.WIDE)
        grid.setVerticalSpacing(theme.TIGHT)
        left, right = changed(flip.text, flip.other)
        for place, (name, pieces, decision, score) in enumerate(
            (
                (term.term, left, flip.decision, flip.score),
                (flip.other_term, right, flip.other_decision, flip.other_score),
            )
        ):
            grid.addWidget(parts.Words(f"with “{name}”", tone="quiet", size=0.88), 0, place)
            grid.addWidget(Marked(pieces), 1, place, Qt.AlignmentFlag.AlignTop)
            said = f"{decision}  ·  {words.score(spec, score)}"
            grid.addWidget(parts.Words(said, strong=True), 2, place)
            grid.setColumnStretch(place, 1)
        card.body.addLayout(grid)
        row = parts.Words(f"from row {words.number(flip.row + 1)}", tone="quiet", size=0.85)
        card.body.addWidget(row)
        card.setAccessibleName(subgroup_words.flip_sentence(flip))
        return card


def _sentences(store: Store, run: int, term: TermRate) -> Occurring | None:
    """Look for the sentences behind a term of a run, with that run's own lists of terms."""
    from fairdesk.groups.text.terms import lists_of_terms  # noqa: PLC0415 - only who looks needs it

    spec = next((each.spec for each in store.runs() if each.id == run), None)
    if spec is None or not spec.text:
        return None
    lists = lists_of_terms(spec.terms)
    if term.term not in lists.get(term.category, ()):
        return None
    return occurring(store, spec.text, lists, term.category, term.term)


def reading(runs: Iterable[Run]) -> bool:
    """Return whether any run compared words."""
    return any(terms_of(run) for run in runs)
