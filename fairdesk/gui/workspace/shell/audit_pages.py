"""The pages of an audit with the steps that lead to them, and showing on them what is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QWidget

from fairdesk.answers import GroupOf, PairsOf, Part, Question, SubgroupOf, best_run
from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.pair import Pair
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.gui.kit.hints.helping import set_topic
from fairdesk.gui.kit.keys import Found, shortcut
from fairdesk.gui.kit.pages import Pages
from fairdesk.gui.workspace.certification.page import ProofPage
from fairdesk.gui.workspace.common.answering import proves
from fairdesk.gui.workspace.common.page_names import (
    COMPARE,
    DATA,
    EXAMPLES,
    GROUPS,
    ICONS,
    NAMES,
    PAGES,
    PROOF,
    REPAIR,
    REPORT,
    SHARE,
)
from fairdesk.gui.workspace.common.steps import Steps
from fairdesk.gui.workspace.compare.page import ComparePage
from fairdesk.gui.workspace.estimates.page import SharePage
from fairdesk.gui.workspace.groups.group_tables import tables_of
from fairdesk.gui.workspace.groups.page import GroupsPage
from fairdesk.gui.workspace.mitigation.page import RepairPage, repairs
from fairdesk.gui.workspace.overview.page import OverviewPage
from fairdesk.gui.workspace.pairs.page import ExamplesPage
from fairdesk.gui.workspace.report.exports import Export
from fairdesk.gui.workspace.report.page import ReportPage
from fairdesk.gui.workspace.session.session import Session
from fairdesk.gui.workspace.shell.data_page import DataPage
from fairdesk.gui.workspace.shell.log_page import LogPage
from fairdesk.gui.workspace.subgroups.findings_view import Key
from fairdesk.gui.workspace.subgroups.terms_view import terms_of
from fairdesk.wording import words
from fairdesk.wording.groups.findings import findings, mined_with
from fairdesk.wording.rules import rule_phrase

#: A pair, or only its number as it is printed.
_PAIR = re.compile(r"\s*(?:pair\b)?\s*(?:no\.?|#)?\s*(\d[\d,]*)\s*", re.IGNORECASE)


class Showing(Protocol):
    """Shows a thing where it belongs."""

    def show_run(self, number: int) -> None:
        """Show what a run found."""

    def show_attribute(self, name: str) -> None:
        """Show an attribute."""

    def show_group(self, attributes: tuple[str, ...], values: tuple[str, ...]) -> None:
        """Show the metrics of a group, by its values of these attributes."""

    def show_subgroup(self, key: Key) -> None:
        """Show a subgroup that was discovered."""

    def show_term(self, term: str) -> None:
        """Show an identity term that was compared."""

    def show_pair(self, number: int) -> None:
        """Show a pair."""


def find(session: Session, text: str, showing: Showing) -> Iterator[Found]:
    """Yield what may be meant by a text; of pairs, which are many, only the one of its number."""
    if named := _PAIR.fullmatch(text):
        number = int(named[1].replace(",", ""))
        # its name has what was typed, with or without the comma
        yield Found(f"Pair {named[1]}", partial(showing.show_pair, number))
    for run in session.runs:
        name = f"Run {run.id}: {method_named(run.method).title}, {words.state_word(run.state)}"
        yield Found(name, partial(showing.show_run, run.id))
    domain = session.spec.domain
    for attribute in (*domain.attributes, *domain.unseen):
        shown = partial(showing.show_attribute, attribute.name)
        yield Found(f"Attribute: {attribute.name}", shown)
    yield from _groups(session, showing.show_group)
    known = best_run(Question.SUBGROUPS, session.runs)
    for _mined, sets in mined_with(known.figures) if known is not None else ():
        for each, _similar in findings(session.spec, sets):
            name = f"Subgroup: {rule_phrase(session.spec, each.conditions)}"
            yield Found(name, partial(showing.show_subgroup, (each.outcome, each.conditions)))
    for term in terms_of(known) if known is not None else ():
        yield Found(f"Identity term: {term.term}", partial(showing.show_term, term.term))


def _groups(
    session: Session, show: Callable[[tuple[str, ...], tuple[str, ...]], object]
) -> Iterator[Found]:
    """Yield the groups whose metrics are known, each once."""
    known = best_run(Question.GROUPS, session.runs)
    groups = dict.fromkeys(
        (table.attributes, line.values)
        for table in (tables_of(known) if known is not None else ())
        for line in table.lines
        if line.known
    )
    for names, values in groups:
        said = " and ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))
        yield Found(f"Group: {said}", partial(show, names, values))


class AuditPages(QWidget):
    """The pages of one audit.

    Parameters
    ----------
    store : Store
        The open audit file.

    Signals
    -------
    said : str
        Something to tell for some seconds.
    """

    said = Signal(str)

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = Session(store, self)
        self.steps = Steps(NAMES, ICONS)
        self.overview = OverviewPage(self._session)
        self.data = DataPage(store.spec)
        self.examples = ExamplesPage(self._session)
        self.share = SharePage(self._session)
        self.proof = ProofPage(self._session)
        self.compare = ComparePage(self._session)
        self.groups = GroupsPage(self._session)
        self.repair = RepairPage(self._session)
        self.report = ReportPage(self._session)
        self.log = LogPage(self._session)
        pages = (
            *(self.overview, self.data, self.groups, self.share, self.examples),
            *(self.proof, self.repair, self.compare, self.report, self.log),
        )
        for name, page in zip(NAMES, pages, strict=True):
            set_topic(page, name)
        self._held = Pages(*pages)
        self._pages = self._held.stack
        self.steps.chosen.connect(self._pages.setCurrentIndex)
        #: The pages that were left, the latest last.
        self._left: list[int] = []
        self._at = self._pages.currentIndex()
        self._pages.currentChanged.connect(self._turned)
        self.back = shortcut(self, QKeySequence.StandardKey.Back, self.go_back, "Back")
        self.back.setEnabled(False)
        self._to_page = {
            name: shortcut(self, f"Ctrl+{number % 10}", partial(self.show_page, name), name)
            for number, name in enumerate(NAMES, start=1)
        }
        if self.asks_nobody:
            for name in (EXAMPLES, SHARE, PROOF, COMPARE, REPAIR):
                self.steps.item(NAMES.index(name)).setHidden(True)
        self._listen_to_pages()

    @property
    def title(self) -> str:
        """The audit's title."""
        return self._session.spec.title

    @property
    def path(self) -> Path:
        """The audit file."""
        return self._session.path

    @property
    def asks_nobody(self) -> bool:
        """Whether there is no model to search with, only its decisions in the data."""
        return bool(self._session.spec.predictions)

    @property
    def page_names(self) -> tuple[str, ...]:
        """The pages that this audit has."""
        return tuple(name for row, name in enumerate(NAMES) if not self.steps.item(row).isHidden())

    @property
    def to_pages(self) -> tuple[QAction, ...]:
        """What shows each page that this audit has."""
        return tuple(self._to_page[name] for name in self.page_names)

    def show_page(self, name: str) -> None:
        """Show a page by its name."""
        self.steps.setCurrentRow(NAMES.index(name))

    def go_back(self) -> None:
        """Show the page that was on screen before."""
        if self._left:
            self._at = self._left.pop()
            self.show_page(NAMES[self._at])
            self.back.setEnabled(bool(self._left))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Go back by the button of the mouse that is for it."""
        if event.button() is Qt.MouseButton.BackButton:
            self.go_back()

    def found_by(self, text: str) -> Iterator[Found]:
        """Yield what may be meant by a text."""
        return find(self._session, text, self)

    def show_run(self, number: int) -> None:
        """Show what a run answered."""
        run = self._session.record(number)
        if run is None:
            return
        if method_named(run.method).answers is QuestionKind.EXAMPLES:
            self.examples.open_run(number)
        elif method_named(run.method).answers is QuestionKind.SHARE:
            self.share.open_run(number)
        elif proves(run):
            self.proof.open_run(number)
        elif method_named(run.method).answers in ABOUT_GROUPS:
            self.groups.open_run(number)
        elif repairs(run):
            self.repair.open_run(number)
        self.show_answer(run.spec)

    def show_answer(self, run: RunSpec) -> None:
        """Show the page of what a run answers."""
        answers = METHODS[run.method].answers
        self.show_page(PAGES[answers])
        if answers is QuestionKind.DIAGNOSIS:
            self.compare.show_diagnosis()
        elif answers in ABOUT_GROUPS:
            self.groups.show_run(run)

    def show_part(self, part: Part) -> None:
        """Show what a part of a chart stands for."""
        match part:
            case PairsOf():
                self.show_examples(part.run, ())
                self.examples.pairs.filters.show_only(part.alone, part.within)
            case GroupOf():
                self.show_run(part.run)
                self.show_group(part.attributes, part.values)
            case SubgroupOf():
                self.show_run(part.run)
                self.show_subgroup((part.outcome, part.conditions))

    def show_examples(self, number: int, pairs: Sequence[int]) -> None:
        """Show a run's examples; some of them only, where these are told."""
        self.examples.open_run(number)
        self.show_page(EXAMPLES)
        if pairs:
            self.examples.pairs.filters.show_chosen(pairs)

    def show_pair(self, number: int) -> None:
        """Show a pair by its number, once it is found in the file."""
        query = PairQuery(among=(number,))
        self._session.store.ask(
            lambda store: store.pairs(query, 0, 1),
            lambda pairs: self._show_found(number, pairs),
            key="pair",
        )

    def show_attribute(self, name: str) -> None:
        """Show an attribute among the data."""
        self.show_page(DATA)
        self.data.show_attribute(name)

    def show_group(self, attributes: tuple[str, ...], values: tuple[str, ...]) -> None:
        """Show the metrics of a group, by its values of these attributes."""
        self.show_page(GROUPS)
        self.groups.show_group(attributes, values)

    def show_subgroup(self, key: Key) -> None:
        """Show a subgroup that was discovered."""
        self.show_page(GROUPS)
        self.groups.show_subgroup(key)

    def show_term(self, term: str) -> None:
        """Show an identity term that was compared."""
        self.show_page(GROUPS)
        self.groups.show_term(term)

    def compare_with(self, number: int) -> None:
        """Show a run in the comparison, where others are chosen."""
        self.show_page(COMPARE)
        self.compare.show_runs()
        self.compare.runs.choose_beside(number)

    def show_in_report(self, places: Sequence[str]) -> None:
        """Show where the report tells of something."""
        self.show_page(REPORT)
        self.report.show_place(*places)

    def export(self, export: Export) -> None:
        """Write a file: the page that says what became of it is shown."""
        self.show_page(REPORT)
        self.report.export(export)

    def sign_report(self) -> None:
        """Write the report, signed."""
        self.show_page(REPORT)
        self.report.sign_report()

    def check_audit(self) -> None:
        """Compare the audit with its data, model and log once more."""
        self.show_page(REPORT)
        self.report.check_audit()

    def _turned(self, page: int) -> None:
        if page != self._at:
            self._left.append(self._at)
            self._at = page
            self.back.setEnabled(True)

    def _listen_to_pages(self) -> None:
        """Show what one page asks another to show."""
        self.overview.go.connect(self.show_page)
        self.overview.open_run.connect(self.show_run)
        self.overview.compare.connect(self.compare_with)
        for showing in (self.overview.open_part, self.share.show_pairs, self.proof.show_pairs):
            showing.connect(self.show_part)
        self.examples.pair_wanted.connect(self.show_pair)
        self.repair.show_examples.connect(partial(self.show_page, EXAMPLES))
        self._session.said.connect(self.said)
        self._session.report_wanted.connect(self.show_in_report)

    def _show_found(self, number: int, pairs: Sequence[Pair]) -> None:
        if pairs:
            self.examples.pairs.filters.clear()
            self.show_examples(pairs[0].run, (number,))
        else:
            self.said.emit(f"This audit has no pair {words.number(number)}.")
