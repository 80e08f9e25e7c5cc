"""Identity terms: which to look at, and the texts behind the one that is chosen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from fairdesk.answers import Question
from fairdesk.audit.catalogue.methods import METHODS, why_off
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunState
from fairdesk.audit.store.store import Store
from fairdesk.data.columns.rereading import differing_part
from fairdesk.document import terms
from fairdesk.document.blocks import Heading, Text
from fairdesk.gui.kit import fields, layouts, parts, theme
from fairdesk.gui.workspace.common.blocks_view import BlocksView
from fairdesk.gui.workspace.common.run_page import Run, RunPage, page_of
from fairdesk.gui.workspace.groups.findings_view import METHOD, mined_of
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.subgroups import TermRate
from fairdesk.wording import figures
from fairdesk.wording.groups import subgroups as subgroup_words

#: So many texts of the data are listed for a term, and so many letters of each.
_MOST, _LETTERS = 20, 320
#: The key of the list of terms.
LIST = "terms"

#: What is compared.
EXPLAINED = (
    "The decision about a text should not change when an identity term in it is replaced by "
    "another."
)


def text_columns(spec: AuditSpec) -> tuple[str, ...]:
    """Name the columns with texts that the model reads."""
    return tuple(spec.domain.names[place] for place in spec.domain.texts.tolist())


def off(spec: AuditSpec) -> str:
    """Say why terms cannot be compared here; empty where they can."""
    return why_off(METHODS[METHOD], spec.model, spec.domain, text=True)


def terms_of(run: Run) -> tuple[TermRate, ...]:
    """Return the terms that a run compared."""
    return tuple(each for each in run.figures if isinstance(each, TermRate))


def texts_with(store: Store, run: int, term: TermRate) -> list[tuple[int, str]]:
    """Look for texts of the data with a term, by the lists of terms of a run.

    Returns
    -------
    list[tuple[int, str]]
        The rows, from 1, and the texts, of long ones the part around the term.
    """
    # only who looks at a term needs it
    from fairdesk.groups.text.sentences import Lexicon  # noqa: PLC0415
    from fairdesk.groups.text.terms import lists_of_terms  # noqa: PLC0415

    spec = next((each.spec for each in store.runs() if each.id == run), None)
    lists = {} if spec is None else lists_of_terms(spec.terms)
    if spec is None or not spec.text or term.term not in lists.get(term.category, ()):
        return []
    lexicon = Lexicon(lists)
    wanted = [*lists].index(term.category), lists[term.category].index(term.term)
    table, found = store.table(), list[tuple[int, str]]()
    place = table.index(spec.text)
    values, codes = table.columns[place].values, table.codes[:, place]
    for row in np.flatnonzero(~np.isnan(codes)).tolist():
        text = values[int(codes[row])]
        named = lexicon.find(text)
        if named is not None and wanted in named.terms:
            at = named.terms.index(wanted)
            begins = sum(map(len, (*named.pieces[: at + 1], *named.found[:at])))
            # a text that differs from there on
            shown = differing_part(text, f"{text[:begins]}\0", _LETTERS)
            found.append((row + 1, " ".join(shown.split())))
        if len(found) == _MOST:
            break
    return found


class WordsView(RunPage):
    """Terms as rows; of the chosen one the texts behind it."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, self._reads, "Run whose terms are shown", Question.SUBGROUPS)
        #: The terms of the run, those that are listed, and the one that is chosen.
        self._terms: tuple[TermRate, ...] = ()
        self.listed: list[TermRate] = []
        self.term: TermRate | None = None
        self._category = fields.choice(name="Category of terms", letters=12, changed=self._fill)
        self.top, self.table = BlocksView(session), BlocksView(session)
        self.detail, self._lookup = BlocksView(session), parts.Banner()
        self.table.picked.connect(lambda _key, row, _column: self._choose(self.listed[row]))
        self._stack_up(self._make_empty(), self._make_full())

    def choose_term(self, term: str) -> None:
        """Choose a term among those of all categories."""
        self._category.setCurrentIndex(0)
        self._choose(next((each for each in self.listed if each.term == term), self.term))

    # Parts

    def _make_empty(self) -> QWidget:
        return self._empty_page(
            ("", "No identity terms compared yet"),
            "A model that reads texts should not decide by identity terms. FairDesk "
            "re-queries sentences of the data with other terms for gender, race, religion "
            "and age, and shows how often sentences with each term receive the favourable "
            "decision and which decisions change.",
            ("&Compare identity terms", self._session.wishes.compare_words),
            (off(self._session.spec),),
        )

    def _make_full(self) -> QWidget:
        head = layouts.row(
            layouts.grow(self._standing),
            layouts.at(self._category, Qt.AlignmentFlag.AlignTop),
            layouts.at(self.runs, Qt.AlignmentFlag.AlignTop),
            spacing=theme.NEAR,
        )
        above = head, self._banner, self.top, parts.quiet(EXPLAINED)
        return page_of(*above, self.table, self.detail, self._lookup, tab=True)

    # What happens

    def _reads(self, run: Run) -> bool:
        """Return whether a run compares terms."""
        if run.method != METHOD:
            return False
        if isinstance(run, RunState):
            spec = self._session.live_spec
            return spec is not None and bool(spec.text)
        return bool(run.spec.text)

    def _show_run(self, run: Run) -> None:
        self._say_standing(run)
        self._tell_failure(run, "Compare again", self._session.wishes.compare_words.emit)
        self._terms = terms_of(run)
        self._say(run)
        names = dict.fromkeys(each.category for each in self._terms)
        fields.offer(self._category, (("Any category", ""), *((name, name) for name in names)))
        self._category.setVisible(len(names) > 1)
        self._fill()
        for widget in (self.table, self.detail):
            widget.setVisible(bool(self._terms))

    def _say(self, run: Run) -> None:
        spec = self._session.spec
        mined = next(iter(mined_of(run)), None)
        notes = () if mined is None else mined.notes
        said = terms.categories(spec, self._terms)
        if not said and mined is not None:
            said = [Text(subgroup_words.mined_sentence(spec, mined))]
        self.top.show_blocks(
            [
                *(said or [Text(run.message or figures.no_result(run))]),
                *([Heading("How terms were compared", appended=True)] if notes else []),
                *map(Text, notes),
            ]
        )

    def _fill(self) -> None:
        chosen = self._category.currentData() or ""
        shown = [each for each in self._terms if not chosen or each.category == chosen]
        self.listed = terms.ordered(shown)
        if self.listed:
            self.table.show_blocks([terms.listed(self._session.spec, shown, LIST)])
            named = (self.term.category, self.term.term) if self.term else ()
            kept = (each for each in self.listed if (each.category, each.term) == named)
            self._choose(next(kept, self.listed[0]))

    def _choose(self, term: TermRate | None) -> None:
        """Show a term, and look for the texts of the data with it."""
        run = self._told
        if term is None or run is None or term not in self.listed:
            return
        self.table.mark(LIST, self.listed.index(term))
        if term == self.term:
            return
        self.term = term
        self._show_term(term, None)
        self._session.store.ask(
            lambda store: texts_with(store, run.id, term),
            lambda texts: self._show_term(term, texts),
            self._lookup.tell,
            key="sentences behind a term",
        )

    def _show_term(self, term: TermRate, texts: Sequence[tuple[int, str]] | None) -> None:
        if term != self.term:
            return
        spec = self._session.spec
        called = terms.names_of(spec, self._session.decisions)
        self._lookup.clear()
        self.detail.show_blocks(terms.detail(spec, term, called, texts))
