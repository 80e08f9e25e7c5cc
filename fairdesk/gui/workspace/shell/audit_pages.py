"""The pages of an audit with the steps that lead to them, and showing on them what is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QWidget

from fairdesk.answers import (
    GroupOf,
    PairsOf,
    Part,
    Question,
    SubgroupOf,
    all_off,
    best_run,
    best_shares,
    pairs_found,
    searches,
)
from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named
from fairdesk.audit.plan.spec import AuditSpec, RunSpec
from fairdesk.audit.store.pair import Pair
from fairdesk.audit.store.records import PairQuery, RunRecord, RunState
from fairdesk.audit.store.store import Store
from fairdesk.gui.kit.hints import define_entries, set_topic
from fairdesk.gui.kit.keys import Found, shortcut
from fairdesk.gui.kit.pages import Look, Pages, StepList
from fairdesk.gui.workspace.common.run_page import (
    COMPARE,
    DATA,
    EXAMPLES,
    GROUPS,
    ICONS,
    LOG,
    NAMES,
    OF_STATE,
    OVERVIEW,
    PAGES,
    PROOF,
    REPAIR,
    REPORT,
    SHARE,
    Run,
    RunPage,
    Sign,
    Standing,
    answering,
    kind,
    tells_share,
    with_examples,
)
from fairdesk.gui.workspace.compare import ComparePage
from fairdesk.gui.workspace.evidence import DataPage, ProofPage, SharePage, off
from fairdesk.gui.workspace.groups.findings_view import mined_of
from fairdesk.gui.workspace.groups.page import GroupsPage, tables_of
from fairdesk.gui.workspace.groups.terms_view import terms_of
from fairdesk.gui.workspace.mitigation.page import RepairPage
from fairdesk.gui.workspace.overview.page import OverviewPage
from fairdesk.gui.workspace.pairs.page import ExamplesPage
from fairdesk.gui.workspace.report.exports import Export
from fairdesk.gui.workspace.report.page import ReportPage
from fairdesk.gui.workspace.session.session import Session
from fairdesk.gui.workspace.shell.log_page import LogPage
from fairdesk.results.trials import repair_of
from fairdesk.wording import comparisons, words
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import proofs as proof_words
from fairdesk.wording.figures import short_share
from fairdesk.wording.groups import impact_ratio as ratio_words
from fairdesk.wording.groups import sentences as group_words
from fairdesk.wording.groups.findings import findings, mined_with
from fairdesk.wording.proofs import neighbourhoods_of
from fairdesk.wording.rules import rule_phrase


def of_audit(
    spec: AuditSpec, runs: Sequence[RunRecord], *, outdated: bool = False
) -> dict[str, Standing]:
    """Return how the steps stand while no run is under way, by their names.

    Parameters
    ----------
    outdated : bool
        Whether the newest repair does not know what was found since.
    """
    stands = {
        OVERVIEW: Standing(words.counted(len(runs), "run"), Sign.DONE)
        if runs
        else Standing("no runs yet", Sign.NOT_YET),
        DATA: Standing(f"{words.number(spec.data.rows)} rows", Sign.DONE),
        GROUPS: _groups_standing(spec, runs),
        LOG: Standing("runs and decisions"),
    }
    if spec.predictions:
        return {**stands, OVERVIEW: Standing("no model queried", Sign.DONE)}
    stands |= {
        EXAMPLES: _examples(spec, runs),
        SHARE: _share(spec, runs),
        PROOF: _proof(spec, runs),
        REPAIR: _repair(runs, outdated=outdated),
        COMPARE: _compare(spec, runs),
    }
    if not runs:
        stands[REPORT] = Standing("no results yet", Sign.NOT_YET)
    return stands


def of_live(state: RunState, answers: QuestionKind) -> Standing:
    """Return how the step stands that a run under way fills."""
    if answers is QuestionKind.SHARE:
        return _share_of(state)
    if answers is QuestionKind.PROOF:
        return _proof_of(state)
    if answers in ABOUT_GROUPS:
        return _groups_of(state)
    if answers is QuestionKind.REPAIR:
        return _repair_of(state)
    text = words.state_word(state.state)
    if answers is QuestionKind.EXAMPLES:
        text = f"{text}, {words.number(state.found)}"
    return Standing(text, OF_STATE[state.state])


def _lacking(spec: AuditSpec, kind: QuestionKind, yet: str) -> Standing:
    """Say of what no run has told how it stands: ``off`` where none can."""
    return Standing("not available" if all_off(spec, kind) else yet, Sign.NOT_YET)


def _examples(spec: AuditSpec, runs: Sequence[RunRecord]) -> Standing:
    examples = with_examples(runs)
    if not examples:
        return _lacking(spec, QuestionKind.EXAMPLES, "not run")
    # how many says nothing of how common they are: that stands on the page alone
    found = "examples" if pairs_found(examples) else "none"
    last = examples[-1].state
    return Standing(f"{words.state_word(last)}, {found} found", OF_STATE[last])


def _compare(spec: AuditSpec, runs: Sequence[RunRecord]) -> Standing:
    compared = searches(runs)
    if len(compared) > 1:
        return Standing(words.counted(len(compared), "run"), Sign.DONE)
    if answering(runs, QuestionKind.DIAGNOSIS):
        return Standing("diagnostic done", Sign.DONE)
    return _lacking(spec, QuestionKind.EXAMPLES, "not run")


def _share(spec: AuditSpec, runs: Sequence[RunRecord]) -> Standing:
    telling = [run for run in runs if tells_share(run)]
    if not telling:
        return _lacking(spec, QuestionKind.SHARE, "not estimated")
    return _share_of(telling[-1], telling)


def _proof(spec: AuditSpec, runs: Sequence[RunRecord]) -> Standing:
    proofs = answering(runs, QuestionKind.PROOF)
    if proofs:
        return _proof_of(best_run(Question.CERTAIN, proofs) or proofs[-1])
    return Standing("not available" if off(spec) else "not run", Sign.NOT_YET)


def _repair(runs: Sequence[RunRecord], *, outdated: bool) -> Standing:
    made = answering(runs, QuestionKind.REPAIR)
    if not made:
        return Standing("not run", Sign.NOT_YET)
    return Standing("out of date", Sign.OUTDATED) if outdated else _repair_of(made[-1])


def _groups_standing(spec: AuditSpec, runs: Sequence[RunRecord]) -> Standing:
    """Say how the newest run about groups stands; before any what the data show."""
    found = answering(runs, QuestionKind.GROUPS)
    rated = answering(runs, QuestionKind.RATES)
    # what was counted goes before what is estimated of subgroups, as on the page
    if rated and (lowest := ratio_words.lowest_in_short(spec, rated[-1].figures)):
        return Standing(lowest, OF_STATE[rated[-1].state])
    # rules are looked for first of all; other methods are there to be compared with
    mined = [run for run in found if mined_of(run)]
    about = mined or found or rated
    return _groups_of(about[-1]) if about else Standing("observed", Sign.DONE)


def _groups_of(run: Run) -> Standing:
    """Say shortly what a run looked at, and how it stands."""
    text = words.state_word(run.state)
    if mined_of(run):
        text = group_words.shortest(run.figures) or text
    elif run.state == "done" and method_named(run.method).answers is QuestionKind.RATES:
        text = "measured"
    return Standing(text, OF_STATE[run.state])


def _repair_of(run: Run) -> Standing:
    """Say shortly what a repair came to, and how it stands."""
    repair = repair_of(run.figures)
    text = words.state_word(run.state)
    if run.state in ("running", "paused"):
        text = mitigation_words.effort_text(run.figures) or text
    elif repair is not None and not repair.retrains:
        text = "augmentation rows"
    elif repair is not None:
        fell = mitigation_words.fall(run.figures)
        done = Sign.NONE if run.state == "done" and not fell else OF_STATE[run.state]
        return Standing(fell or mitigation_words.not_improved(), done)
    return Standing(text, OF_STATE[run.state])


def _proof_of(run: Run) -> Standing:
    """Say how a run stands: a proven share by itself would be read as one of people."""
    proven = proof_words.main_proof(run.figures)
    text = words.state_word(run.state)
    if proven is None and neighbourhoods_of(run.figures) is None and run.state == "done":
        text = "not certified"
    elif proven is not None and not any(proof_words.proven_fractions(proven)[:2]):
        text = "none proven so far"
    return Standing(text, OF_STATE[run.state])


def _share_of(run: Run, telling: Sequence[Run] = ()) -> Standing:
    """Say the share of the best evidence, people in the data first, and how ``run`` stands."""
    by, first = next(iter(best_shares(telling or (run,))), (run, None))
    if first is None:
        return Standing(words.state_word(run.state), OF_STATE[run.state])
    unknown = comparisons.not_known(first, by.figures)
    text = unknown or f"{short_share(first, by.figures)}, {kind(first)}"
    return Standing(text, OF_STATE[run.state])


#: A pair, or only its number as it is printed.
_PAIR = re.compile(r"\s*(?:pair\b)?\s*(?:no\.?|#)?\s*(\d[\d,]*)\s*", re.IGNORECASE)


def find(session: Session, text: str, pages: AuditPages) -> Iterator[Found]:
    """Yield what may be meant by a text; of pairs, which are many, only the one of its number."""
    if named := _PAIR.fullmatch(text):
        number = int(named[1].replace(",", ""))
        # its name has what was typed, with or without the comma
        yield Found(f"Pair {named[1]}", partial(pages.show_pair, number))
    for run in session.runs:
        name = f"Run {run.id}: {method_named(run.method).title}, {words.state_word(run.state)}"
        yield Found(name, partial(pages.show_run, run.id))
    domain = session.spec.domain
    for attribute in (*domain.attributes, *domain.unseen):
        shown = partial(pages.show_attribute, attribute.name)
        yield Found(f"Attribute: {attribute.name}", shown)
    rated = best_run(Question.GROUPS, session.runs)
    if rated is not None:
        lines = ((table.attributes, line) for table in tables_of(rated) for line in table.lines)
        known = dict.fromkeys((names, line.values) for names, line in lines if line.known)
        for names, values in known:
            pairs = zip(names, values, strict=True)
            said = " and ".join(f"{name} = {value}" for name, value in pairs)
            group = GroupOf(rated.id, names, values)
            yield Found(f"Group: {said}", partial(pages.show_part, group))
    mined = best_run(Question.SUBGROUPS, session.runs)
    if mined is None:
        return
    for _summary, sets in mined_with(mined.figures):
        for each, _similar in findings(session.spec, sets):
            part = SubgroupOf(mined.id, each.outcome, each.conditions)
            name = f"Subgroup: {rule_phrase(session.spec, each.conditions)}"
            yield Found(name, partial(pages.show_part, part))
    for term in terms_of(mined):
        yield Found(f"Identity term: {term.term}", partial(pages.show_term, term.term))


_LOUD = {Sign.FAILED: "wrong", Sign.RUNNING: "accent"}


class Steps(StepList):
    """The steps of an audit.

    Parameters
    ----------
    names, icons : tuple of str
        What they are called, and the pictures beside their names.

    Signals
    -------
    chosen : int
        Another step is to be shown.
    """

    chosen = Signal(int)

    def __init__(self, names: tuple[str, ...], icons: tuple[str, ...]) -> None:
        super().__init__("Steps of the audit")
        for number, (name, icon) in enumerate(zip(names, icons, strict=True), start=1):
            self.add(name, Look(icon), f"{name} (Ctrl+{number % 10})")
        define_entries(self)
        self.setCurrentRow(0)
        self.currentRowChanged.connect(self.chosen)

    def stand(self, row: int, standing: Standing) -> None:
        """Say how a step stands."""
        name, sign = self.item(row).text(), standing.sign
        tone = _LOUD.get(sign, "quiet")
        look = Look(self.look(row).icon, sign.value, standing.words, tone)
        self.show_look(row, look, ", ".join(filter(None, (name, standing.words))))


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
        self.data = DataPage(self._session)
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
        wishes = self._session.wishes
        wishes.show_page.connect(self.show_page)
        wishes.show_run.connect(self.show_run)
        wishes.show_part.connect(self.show_part)
        wishes.show_pair.connect(self.show_pair)
        wishes.compare_with.connect(self.compare_with)
        wishes.show_in_report.connect(self.show_in_report)
        self._session.said.connect(self.said)

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
        page = self._pages.widget(NAMES.index(PAGES[method_named(run.method).answers]))
        if isinstance(page, RunPage | GroupsPage):
            page.open_run(number)
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
                self.examples.pairs.filters.filter_by(
                    alone=part.alone, within=part.within, where={}
                )
            case GroupOf():
                self.show_run(part.run)
                self.groups.show_group(part.attributes, part.values)
            case SubgroupOf():
                self.show_run(part.run)
                self.groups.show_subgroup((part.outcome, part.conditions))

    def show_examples(self, number: int, pairs: Sequence[int]) -> None:
        """Show a run's examples; some of them only, where these are told."""
        self.examples.open_run(number)
        self.show_page(EXAMPLES)
        if pairs:
            self.examples.pairs.filters.filter_by(among=tuple(pairs))

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

    def _show_found(self, number: int, pairs: Sequence[Pair]) -> None:
        if pairs:
            self.examples.pairs.filters.clear()
            self.show_examples(pairs[0].run, (number,))
        else:
            self.said.emit(f"This audit has no pair {words.number(number)}.")
