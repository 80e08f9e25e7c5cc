"""The audit at a glance: each question with its best answer, the next step, and the runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import msgspec
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from fairdesk.answers import (
    Answer,
    Observed,
    Question,
    all_off,
    best_run,
    clearest,
    decision_tables,
    observed,
    opposite,
    without_misfit,
)
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import method_named
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.pair import Pair
from fairdesk.audit.store.records import RunState
from fairdesk.audit.store.store import Store
from fairdesk.document.answers import answers, headline
from fairdesk.document.board import board, unsettled
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.keys import keyed
from fairdesk.gui.kit.pages import page_head
from fairdesk.gui.workspace.common.run_page import (
    EXAMPLES,
    GROUPS,
    PROOF,
    REPAIR,
    SHARE,
    Run,
    page_of,
    with_examples,
)
from fairdesk.gui.workspace.evidence import off
from fairdesk.gui.workspace.groups.findings_view import off as groups_off
from fairdesk.gui.workspace.overview.cards import AnswerCard, BoardCard, RunsTable
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.groups import GroupTable
from fairdesk.wording import figures, words
from fairdesk.wording.language import unmeasured

#: What `Next.page` is for a run that estimates.
ESTIMATE = "estimate"
#: What it is for a run that certifies.
PROVE = "prove"
#: What it is for subgroup discovery.
FIND_GROUPS = "find groups"


#: The page that says more of each answer.
_PAGES = {
    Question.GROUPS: GROUPS,
    Question.SHARE: SHARE,
    Question.EXAMPLE: EXAMPLES,
    Question.CERTAIN: PROOF,
    Question.SUBGROUPS: GROUPS,
    Question.MITIGATION: REPAIR,
}


@dataclass(frozen=True)
class Next:
    """The next sensible step.

    Attributes
    ----------
    words : str
        What it is, and why.
    button : str
        What the button says; empty when there is nothing to press.
    page : str
        The page that the button opens; empty for a new run, `ESTIMATE`, `PROVE` or `FIND_GROUPS`
        for one of these.
    """

    words: str
    button: str
    page: str


def next_step(
    run: words.Counted | None,
    latest: words.Counted | None,
    many: str,
    *,
    estimated: bool = True,
    proven: bool = True,
    grouped: bool = True,
    individual: bool = True,
    mitigated: bool = True,
) -> Next:
    """Return what an auditor would do next.

    Parameters
    ----------
    run, latest : Counted, optional
        The search that found most, and the run that was begun last.
    estimated, proven : bool
        Whether the share is estimated, and whether a certification was tried or none is possible.
    grouped : bool
        Whether subgroups were searched, or none can be.
    individual : bool
        Whether instances can be compared with their counterfactuals.
    """
    state = latest.state if latest is not None else ""
    button, page = "Run again…", ""
    if state in ("running", "paused"):
        what = "A run is in progress. You can read the pairs found so far while it continues."
        button, page = "See the pairs", EXAMPLES
    elif state == "failed":
        what = "The last run failed; its results so far are kept. Run it again, or read them."
    elif not individual and not grouped:
        what = (
            "Instances cannot be compared with counterfactuals here. Outcomes may still differ "
            "between subgroups: search for them."
        )
        button, page = "Discover subgroups", FIND_GROUPS
    elif not individual:
        what = "Read the results about groups, then export the report."
        button, page = "See the groups", GROUPS
    elif run is None:
        what = (
            f"Search for two {many} who are identical except for protected attributes and receive "
            "different decisions."
        )
        button = "Find discriminatory pairs…"
    elif not estimated:
        what = (
            "Pairs do not show how often decisions change. Estimate it: a minute is enough."
            if run.found
            else "No pair was found. An estimate gives an upper bound for the share."
        )
        button, page = "Estimate how often", ESTIMATE
    elif not proven:
        what = (
            "An estimate can miss rare cases. Certify for which part of the input domain the "
            "decision cannot change: start with a minute."
        )
        button, page = "Certify", PROVE
    elif not grouped:
        what = (
            f"Pairs and certification are about individuals. Whole subgroups of {many} may have "
            "different outcomes as well: search for rules that define them."
        )
        button, page = "Discover subgroups", FIND_GROUPS
    elif run.found and not mitigated:
        what = (
            "Read some pairs. Then try a mitigation: it adds rows made from all pairs to the "
            "training data and retrains the model."
        )
        button, page = "Mitigate…", REPAIR
    elif run.found:
        what = (
            "Read some pairs, flag those that matter and note why. Then export the report: it "
            "shows flagged pairs first."
        )
        button, page = "Read the pairs", EXAMPLES
    else:
        what = (
            "No pair was found. Search longer, or with another random seed or method, before "
            "drawing a conclusion."
        )
    return Next(what, button, page)


class _Data(NamedTuple):
    """What the overview needs of the audit file besides its runs.

    ``measured`` are the tables of decisions whose reference groups ``seen`` has, ``asked`` what
    only the auditor can settle.
    """

    seen: tuple[Observed, ...]
    pair: Pair | None
    reverse: Pair | None = None
    measured: tuple[GroupTable, ...] = ()
    asked: tuple[str, ...] = ()


class OverviewPage(QWidget):
    """The audit at a glance.

    Attributes
    ----------
    cards : dict[Question, AnswerCard]
        The questions.
    board : BoardCard
        The board page.
    figure : Statement
        The figure that stands for the audit in a list of audits.

    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._data = _Data((), None)
        spec, wishes = session.spec, session.wishes
        self.cards = {each: AnswerCard(page) for each, page in _PAGES.items()}
        for asked, card in self.cards.items():
            card.opened.connect(partial(self._open, asked))
            card.part_opened.connect(wishes.show_part)
        self.board, self.figure = BoardCard(), unmeasured("")
        self._tiles = layouts.Tiles()
        self._next_words = parts.Words()
        self._next_button = parts.push_button("", self._press, filled=True)
        self._following: Callable[[], None] = wishes.run_again.emit
        self._runs_title = parts.heading("Runs")
        self._runs = RunsTable(
            wishes.repeat.emit, wishes.continue_run.emit, wishes.compare_with.emit
        )
        self._runs.opened.connect(self._open_row)
        self._acts = self._make_acts()
        favourable = f"Favourable outcome: {spec.label} is “{spec.favourable}”."
        following = layouts.row(
            *(parts.heading("Next step"), layouts.grow(self._next_words), self._next_button),
            spacing=theme.GAP,
        )
        inside = page_of(
            *(page_head(spec.title), parts.quiet(favourable), layouts.gap(theme.NEAR)),
            *(self.board, parts.Card(following, tone="tint"), self._tiles),
            *(parts.quiet(_not_covered(spec)), layouts.gap(theme.NEAR)),
            *(self._runs_title, self._runs, self._acts),
        )
        layouts.column(inside, on=self)
        session.runs_changed.connect(self._renew)
        session.live_changed.connect(self._follow)
        self._renew()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Show what has changed while the page was hidden."""
        super().showEvent(event)
        self._show()

    def _make_acts(self) -> QWidget:
        """Make the buttons below the runs, for the one that is chosen."""
        begin = self._session.wishes.run_again.emit
        new = parts.push_button("&New run…", begin, tip="Make another run (Ctrl+R)")
        texts = ("Repeat with another &seed", "&Continue", "Compare &with…")
        self.acts = tuple(map(parts.button_of, self._runs.acts, texts))
        keyed(*self.acts)
        self._why = parts.Words(tone="quiet", wrap=False)
        self._runs.itemSelectionChanged.connect(self._tell_why)
        self._tell_why()
        return layouts.strip(new, *self.acts, self._why, layouts.stretch(), spacing=theme.NEAR)

    def _tell_why(self) -> None:
        """Say why something cannot be done with the selected run."""
        why = "Only searches for pairs can be compared." if self.acts[0].isEnabled() else ""
        self._why.say("" if self.acts[-1].isEnabled() else why or "Select a run first.")
        for button in self.acts:
            button.setAccessibleDescription("" if button.isEnabled() else self._why.text())

    def _renew(self) -> None:
        """Show at once what the runs say; what has to be read from the file follows."""
        self._show()
        self._ask()

    def _ask(self) -> None:
        """Read from the file what the runs do not carry: outcomes in the data, and one pair."""
        spec, data = self._session.spec, self._data
        measured = decision_tables(self._session.runs)
        seen = data.seen if measured == data.measured else ()

        def read(store: Store) -> _Data:
            shown = None if spec.predictions else clearest(store)
            reverse = None if shown is None else opposite(store, shown)
            outcomes = seen or observed(spec, store.table(), measured)
            purpose = store.details().texts.get("purpose", "").strip()
            asked = unsettled(spec, purpose, store.log_entries())
            return _Data(outcomes, shown, reverse, measured, asked)

        self._session.store.ask(read, self._take, key="overview")

    def _take(self, data: _Data) -> None:
        self._data = data
        self._show()

    def _follow(self, _state: RunState) -> None:
        if self.isVisible():
            self._show()

    def _show(self) -> None:
        session = self._session
        live = [session.live] if session.live is not None else []
        runs: list[Run] = [*session.runs, *live]
        found = {
            answer.question: answer
            for answer in answers(
                *(session.spec, runs, self._data.seen, self._data.pair),
                reverse=self._data.reverse,
            )
        }
        self.figure = headline(session.spec, runs, tuple(found.values()))
        self.board.show_board(board(session.spec, runs, self._data.seen, self._data.asked))
        for asked, answer in found.items():
            self.cards[asked].show_answer(answer)
        # a mitigation follows the five questions once there is one
        self._tiles.show_cards(
            [
                self.cards[asked]
                for asked, answer in found.items()
                if answer.known or asked is not Question.MITIGATION
            ]
        )
        tables = decision_tables(session.runs)
        self._runs.show_runs(
            tuple(
                msgspec.structs.replace(
                    run, figures=without_misfit(session.spec, run.figures, tables)
                )
                for run in session.runs
            )
        )
        for widget in (self._runs, self._runs_title, self._acts):
            widget.setVisible(bool(session.runs))
        self._show_next(runs, found)

    def _show_next(self, runs: list[Run], found: dict[Question, Answer]) -> None:
        session = self._session
        if session.spec.predictions:
            self._next_words.setText(
                "Compare the groups, then export the report. With the model file itself, FairDesk "
                "can also test whether decisions about individuals depend on a protected attribute."
            )
            self._next_button.setText("See the groups")
            self._following = partial(self._session.wishes.show_page.emit, GROUPS)
            return

        def known(asked: Question) -> bool:
            return asked in found and found[asked].known

        following = next_step(
            self._search(),
            runs[-1] if runs else None,
            session.many,
            estimated=known(Question.SHARE) or known(Question.CERTAIN),
            proven=any(method_named(run.method).answers is QuestionKind.PROOF for run in runs)
            or bool(off(session.spec)),
            grouped=known(Question.SUBGROUPS) or bool(groups_off(session.spec)),
            individual=not all_off(session.spec, QuestionKind.EXAMPLES),
            mitigated=known(Question.MITIGATION),
        )
        self._next_words.setText(following.words)
        self._next_button.setText(following.button)
        self._next_button.setVisible(bool(following.button))
        wishes = self._session.wishes
        self._following = {
            "": wishes.run_again.emit,
            ESTIMATE: wishes.estimate.emit,
            PROVE: wishes.prove.emit,
            FIND_GROUPS: wishes.find_groups.emit,
        }.get(following.page, partial(wishes.show_page.emit, following.page))

    def _search(self) -> Run | None:
        """Return the search under way, else the one that found most."""
        live = self._session.live
        if live is not None and method_named(live.method).answers is QuestionKind.EXAMPLES:
            return live
        found = with_examples(self._session.runs)
        return best_run(Question.EXAMPLE, found) or max(
            reversed(found), key=lambda run: run.found, default=None
        )

    def _open(self, asked: Question, page: str) -> None:
        """Show the page that says more, of groups what the answer comes from."""
        answer = self.cards[asked].answer
        if page == GROUPS and answer is not None and answer.run is not None:
            self._session.wishes.show_run.emit(answer.run)
        else:
            self._session.wishes.show_page.emit(page)

    def _press(self) -> None:
        self._following()

    def _open_row(self, row: int) -> None:
        if (run := self._runs.run_at(row)) is not None:
            self._session.wishes.show_run.emit(run.id)


def _not_covered(spec: AuditSpec) -> str:
    """Say what the audit does not answer."""
    domain = spec.domain
    if spec.predictions:
        return words.OBSERVED
    if not domain.grouping:
        return (
            "Not covered: identity terms that the lists do not contain, texts that differ from "
            "those in the data, and whether the model is right about any text."
        )
    names = words.listed([each.name for each in domain.grouping], "or")
    repeated = spec.model.repeatability
    first = ""
    if repeated is not None and not repeated.holds:
        first = f"{figures.repeatability_sentence(repeated)} "
    return (
        f"{first}Not covered: whether the decisions are right, and whether other attributes act as "
        f"proxies for {names}."
    )
