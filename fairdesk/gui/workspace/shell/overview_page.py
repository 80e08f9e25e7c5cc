"""Where the audit stands: what is shown, what is not known, and the next sensible step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunState
from fairdesk.charts.kinds.counts import Counts
from fairdesk.gui.charts.picture import Picture
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.certification.page import off
from fairdesk.gui.workspace.common.answering import (
    Run,
    all_off,
    answering,
    excesses,
    method_of,
    proves,
    with_examples,
)
from fairdesk.gui.workspace.estimates.page import kind, short, telling_share, whom
from fairdesk.gui.workspace.session.session import Session
from fairdesk.gui.workspace.shell.runs_table import RunsTable
from fairdesk.gui.workspace.subgroups.findings_view import mined_of, mines
from fairdesk.gui.workspace.subgroups.findings_view import off as groups_off
from fairdesk.report.sections.group_tables import Observed, observed, sentences
from fairdesk.results.individual import Share
from fairdesk.wording import figures, words
from fairdesk.wording import proofs as proof_words
from fairdesk.wording.groups import subgroups as subgroup_words

#: What `Next.page` is for a run that estimates.
ESTIMATE = "estimate"
#: What it is for a run that proves.
PROVE = "prove"
#: What it is for a run that looks for groups.
FIND_GROUPS = "find groups"


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
    repaired: bool = True,
) -> Next:
    """Say what an auditor would do next.

    Parameters
    ----------
    run, latest : Counted, optional
        The search that tells most, and the run that was begun last.
    many : str
        The auditor's word for people.
    estimated, proven : bool
        Whether it is known how common it is, and whether a proof was tried or none can be.
    grouped : bool
        Whether groups were looked for, or none can be.
    individual : bool
        Whether anybody can be compared with who else they could be.
    repaired : bool
        Whether a repair was tried.
    """
    state = latest.state if latest is not None else ""
    button, page = "Run again…", ""
    if state in ("running", "paused"):
        what = "A run is under way. You can read the examples while it goes on."
        button, page = "See the examples", "Examples"
    elif state == "failed":
        what = "The last run failed; what it found is kept. Run it again, or read what there is."
    elif not individual and not grouped:
        what = (
            "Nobody can be compared with who else they could be. Groups may fare unlike others all "
            "the same: look for them."
        )
        button, page = "Find groups", FIND_GROUPS
    elif not individual:
        what = "Read what was found about groups, then export the report."
        button, page = "See the groups", "Groups"
    elif run is None:
        what = f"Let FairDesk look for {many} who are treated differently."
        button = "Find examples…"
    elif not estimated:
        what = (
            "Examples do not tell how common it is. Estimate it: a minute is enough."
            if run.found
            else "Nothing was found. An estimate says how common it can be at most."
        )
        button, page = "Estimate how common it is", ESTIMATE
    elif not proven:
        what = (
            f"An estimate may miss what is rare. Prove for whole regions of {many} that they are "
            "treated alike, or that they are not: begin with a minute."
        )
        button, page = "Prove what can be proven", PROVE
    elif not grouped:
        what = (
            f"Examples and proofs speak of individuals. Whole groups of {many} may fare unlike all "
            "others beside that: look for rules that describe them."
        )
        button, page = "Find groups", FIND_GROUPS
    elif run.found and not repaired:
        what = (
            "Read some of the examples and flag those that matter. Then try what helps: rows made "
            "of them are added to the training data, and the model is trained again."
        )
        button, page = "Repair…", "Repair"
    elif run.found:
        what = (
            "Read some of the examples, flag those that matter and note why. Then export the "
            "report: it shows the flagged ones first."
        )
        button, page = "Read the examples", "Examples"
    else:
        what = (
            "Nothing was found. Search longer, or with another seed or method, before you conclude "
            "anything from it."
        )
    return Next(what, button, page)


def question(spec: AuditSpec) -> str:
    """Say in a sentence what the audit asks."""
    many, domain = words.plural(spec.person), spec.domain
    names = words.listed([each.name for each in domain.grouping])
    if spec.predictions:
        decided = words.quoted(spec.predictions)
        return f"How do {many} fare by the decisions in {decided}, compared by {names}?"
    if domain.protected.size:
        consistent = words.listed(words.protected_names(domain))
        return f"Are {many} who differ only in {consistent} treated alike?"
    if names:
        return f"How do {many} fare by the model’s decisions, compared by {names}?"
    return "Do texts that name different people get the same decision?"


class _Statement(parts.Card):
    """A card with a kind of statement, its mark, and sentences."""

    def __init__(self, mark: str, kind: str) -> None:
        super().__init__()
        self._mark = parts.Words(mark, tone="accent", size=1.12, wrap=False)
        self._kind = parts.heading(kind)
        row = layouts.row(self._mark, layouts.grow(self._kind), spacing=theme.NEAR)
        self.body.addLayout(row)
        self.said = parts.Words()
        self.said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.body.addWidget(self.said)

    def name(self, mark: str, kind: str) -> None:
        """Say that it is of another kind."""
        self._mark.setText(mark)
        self._kind.setText(kind)


class OverviewPage(QWidget):
    """The audit at a glance.

    Signals
    -------
    go : str
        A page is to be shown.
    open_run : int
        What a run answered is to be shown.
    start, estimate, prove, find_groups
        A run, one that estimates, one that proves, or one about groups, is wanted.
    repeat, go_on, compare : int
        A run is to be made with another seed, gone on with, or compared.
    """

    go = Signal(str)
    open_run = Signal(int)
    start = Signal()
    estimate = Signal()
    prove = Signal()
    find_groups = Signal()
    repeat = Signal(int)
    go_on = Signal(int)
    compare = Signal(int)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        spec = session.spec
        inside = QWidget()
        column = layouts.column(
            parts.title(spec.title),
            parts.quiet(
                f"{question(spec)} Good for the {spec.person}: {spec.label} is “{spec.favourable}”."
            ),
            layouts.gap(theme.NEAR),
            on=inside,
            margin=theme.PAGE,
            spacing=theme.GAP,
        )

        self._proven = _Statement("■", "Proven")
        self._shown = _Statement("◆", "Shown by examples")
        self._estimated = _Statement("▨", "Estimated")
        self._observed = _Statement("□", "Observed in the data")
        self._grouped = _Statement("▨", "Groups, estimated")
        self._grouped_more = parts.quiet()
        self._grouped.body.addWidget(self._grouped_more)
        self._effort = parts.quiet()
        self._ranked = Picture(Counts())
        self._ranked_words = parts.quiet(
            "How many of the found get another decision when this attribute alone changes:"
        )
        self._unknown = _Statement("?", "Not known yet")
        self._next = _Statement("→", "Next step")
        self._button = QPushButton()
        self._button.clicked.connect(self._press)
        self._runs = RunsTable()
        self._runs.opened.connect(self.open_run)
        self._runs.repeat.connect(self.repeat)
        self._runs.go_on.connect(self.go_on)
        self._runs.compare.connect(self.compare)
        self._runs.chosen.connect(self._offer)
        self._runs_title = parts.heading("Runs")
        self._acts = self._make_acts()
        self._lay_out(column)
        layouts.column(parts.scrolled(inside), on=self)
        self._following: Callable[[], None] = self.start.emit
        self._ask_observed()
        if spec.predictions:
            self._tell_observed()
            return
        session.runs_changed.connect(self._tell)
        session.live_changed.connect(self._go_on)
        self._tell()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Tell what has changed while the page was hidden."""
        super().showEvent(event)
        if not self._session.spec.predictions:
            self._tell()

    def _go_on(self, _state: RunState) -> None:
        if self.isVisible():
            self._tell()

    def _make_acts(self) -> QWidget:
        """Make the buttons below the runs, for the one that is chosen."""
        acts = QWidget()
        row = layouts.row(on=acts, spacing=theme.NEAR)
        self._repeat, self._go_on_with = QPushButton("Repeat with another &seed"), QPushButton()
        self._go_on_with.setText("&Continue")
        self._compare = QPushButton("Compare &with…")
        for button, act, tip in (
            (self._repeat, self._runs.repeat_chosen, "Make the chosen run again (S)"),
            (
                self._go_on_with,
                self._runs.go_on_with_chosen,
                "Find others than the chosen run has found (C)",
            ),
            (self._compare, self._runs.compare_chosen, "Hold the chosen run against others (V)"),
        ):
            button.clicked.connect(act)
            button.setToolTip(tip)
            row.addWidget(button)
        row.addStretch(1)
        self._offer()
        return acts

    def _offer(self) -> None:
        """Let be pressed what can be done with the chosen run."""
        self._repeat.setEnabled(self._runs.can_repeat)
        self._go_on_with.setEnabled(self._runs.can_go_on)
        self._compare.setEnabled(self._runs.can_compare)

    def _lay_out(self, column: QVBoxLayout) -> None:
        kinds = (self._proven, self._estimated, self._shown, self._observed)
        for statement in (*kinds, self._grouped):
            statement.said.setFont(theme.scaled(statement.said.font(), 1.1, strong=True))
        self._shown.body.addWidget(self._effort)
        self._estimated_more, self._proven_more = parts.quiet(), parts.quiet()
        self._estimated.body.addWidget(self._estimated_more)
        self._proven.body.addWidget(self._proven_more)
        for statement in kinds:
            statement.body.addStretch(1)
        self._ranked_card = parts.Card()
        self._ranked_card.body.addWidget(self._ranked_words)
        self._ranked_card.body.addWidget(self._ranked)
        row = layouts.row(self._button, layouts.stretch())
        self._next.body.addStretch(1)
        self._next.body.addLayout(row)
        self._unknown.body.addStretch(1)
        pair = layouts.row(layouts.grow(self._unknown), layouts.grow(self._next), spacing=theme.GAP)
        for two in (kinds[:2], kinds[2:]):
            row = layouts.row(spacing=theme.GAP)
            for card in two:
                row.addWidget(card, 1)
            column.addLayout(row)
        column.addWidget(self._grouped)
        column.addWidget(self._ranked_card)
        column.addLayout(pair)
        column.addSpacing(theme.NEAR)
        column.addWidget(self._runs_title)
        column.addWidget(self._runs)
        column.addWidget(self._acts)
        column.addStretch(1)

    def _tell(self) -> None:
        session = self._session
        run = self._search()
        self._tell_examples(run)
        share = self._tell_estimate()
        tried = self._tell_proof()
        grouped = self._tell_groups()
        self._unknown.said.setText(self._not_known())
        self._runs.show_runs(session.runs)
        self._runs.show_idle(idle=session.live is None)
        for widget in (self._runs, self._runs_title, self._acts):
            widget.setVisible(bool(session.runs))
        latest = session.live or (session.runs[-1] if session.runs else None)
        following = next_step(
            run,
            latest,
            session.many,
            estimated=share is not None or tried or any(map(excesses, session.runs)),
            proven=tried or bool(off(session.spec)),
            grouped=grouped or bool(groups_off(session.spec)),
            individual=not all_off(session.spec, QuestionKind.EXAMPLES),
            repaired=bool(answering(session.runs, QuestionKind.REPAIR)),
        )
        self._next.said.setText(following.words)
        self._button.setText(following.button)
        self._button.setVisible(bool(following.button))
        self._following = {
            "": self.start.emit,
            ESTIMATE: self.estimate.emit,
            PROVE: self.prove.emit,
            FIND_GROUPS: self.find_groups.emit,
        }.get(following.page, lambda: self.go.emit(following.page))

    def _search(self) -> Run | None:
        """Return the search that tells most: the one under way, else the one that found most."""
        live = self._session.live
        if live is not None and method_of(live).answers is QuestionKind.EXAMPLES:
            return live
        searches = with_examples(self._session.runs)
        return max(reversed(searches), key=lambda run: run.found, default=None)

    def _tell_examples(self, run: Run | None) -> None:
        names = words.protected_names(self._session.spec.domain)
        if run is None:
            reasons = all_off(self._session.spec, QuestionKind.EXAMPLES)
            self._shown.said.setText("Not possible here." if reasons else "Nothing yet.")
            self._effort.setText(
                " ".join(reasons) or "What a search finds will be said here in one sentence."
            )
        else:
            spec = self._session.spec
            # what a proof tried are boxes, and its own headline is what it proved
            proof = proves(run)
            sentence = words.headline(spec, run).sentence if proof else self._session.headline(run)
            self._shown.said.setText(sentence)
            self._effort.setText(f"{figures.effort(run)}.")
        several = run is not None and bool(run.found) and len(run.alone) > 1
        if run is not None and several:
            ranked = sorted(zip(names, run.alone, strict=False), key=lambda each: -each[1])
            title = "Protected attributes, by how often each is enough by itself"
            self._ranked.draw(Counts(title, "found", tuple(ranked), run.found))
        self._ranked_card.setVisible(several)

    def _tell_estimate(self) -> Share | None:
        """Say how common it is, as far as it was measured; give that share."""
        live = self._session.live
        runs: list[Run] = [*self._session.runs, *([live] if live is not None else [])]
        share, *others = telling_share(runs) or (None,)
        repeated = [each for run in runs for each in excesses(run)]
        if share is None and repeated:
            spec = self._session.spec
            self._estimated.name("▨", "Estimated")
            self._estimated.said.setText(figures.excess_statement(spec, repeated[-1]).sentence)
            self._estimated_more.hide()
            return None
        if share is None:
            self._estimated.name("▨", "Estimated")
            reasons = all_off(self._session.spec, QuestionKind.SHARE)
            self._estimated.said.setText("Not possible here." if reasons else "Nothing yet.")
            self._estimated_more.setText(
                " ".join(reasons)
                or "How common it is will be said here, with an interval, once it was estimated."
            )
            return None
        self._estimated.name("■" if share.exact else "▨", kind(share).capitalize())
        self._estimated.said.setText(figures.share_statement(self._session.spec, share).sentence)
        more = [f"{whom(each)}: {short(each)}, {kind(each)}." for each in others if each]
        self._estimated_more.setText("\n".join(more))
        self._estimated_more.setVisible(bool(more))
        return share

    def _tell_proof(self) -> bool:
        """Say what is proven, by the run that proved most; tell whether any tried."""
        spec, live = self._session.spec, self._session.live
        runs: list[Run] = [*self._session.runs, *([live] if live is not None else [])]
        tried = [run for run in runs if proves(run)]
        proven = [each for run in tried if (each := proof_words.proven_of(run.figures)) is not None]
        if proven:
            most = min(reversed(proven), key=lambda each: each.undecided)
            self._proven.said.setText(proof_words.proven_statement(spec, most).sentence)
            more = proof_words.estimated_sentence(spec, most)
        else:
            reasons = off(spec)
            self._proven.said.setText("Not possible here." if reasons else "Nothing yet.")
            more = (
                " ".join(reasons)
                or "What holds for everybody in whole regions, and not only for those who were "
                "asked, will be said here once it was proven."
            )
        self._proven_more.setText(more)
        self._proven_more.setVisible(bool(more))
        return bool(tried)

    def _tell_groups(self) -> bool:
        """Say what came of looking for groups; tell whether any run did."""
        spec, live = self._session.spec, self._session.live
        runs: list[Run] = [*self._session.runs, *([live] if live is not None else [])]
        about = [run for run in runs if method_of(run).answers is QuestionKind.GROUPS]
        # rules are looked for first of all; other methods are there to be compared with
        telling = next((run for run in reversed(about) if mines(run) and run.figures), None)
        run = telling or (about[-1] if about else None)
        if run is None:
            self._grouped.said.setText("Nothing yet.")
            more = groups_off(spec) or (
                "Groups that rules describe, and that fare unlike all others, will be told here."
            )
        else:
            self._grouped.said.setText(figures.headline(spec, run).sentence)
            mined = mined_of(run)
            more = subgroup_words.mined_sentence(spec, mined[0]) if mined else ""
        self._grouped_more.setText(more)
        self._grouped_more.setVisible(bool(more))
        return run is not None

    def _tell_observed(self) -> None:
        """Tell of an audit without a model: how groups fared by the decisions that it made."""
        spec = self._session.spec
        self._unknown.said.setText(
            f"{words.OBSERVED}\n\nThere is no model to ask, only its decisions in "
            f"“{spec.predictions}”, so every search for individual discrimination is off."
        )
        self._next.said.setText(
            "Look at the groups, then export the report. With the model file itself FairDesk "
            "could also search for people who are treated differently: begin a new audit with it."
        )
        self._button.setText("See the groups")
        self._following = lambda: self.go.emit("Groups")
        for widget in (
            *(self._proven, self._shown, self._estimated, self._grouped, self._ranked_card),
            *(self._runs, self._runs_title, self._acts),
        ):
            widget.hide()

    def _ask_observed(self) -> None:
        """Count how the groups fared: once, for the data of an audit never change."""
        spec = self._session.spec
        self._observed.said.setText("Counting…")
        self._session.store.ask(lambda store: observed(spec, store.table()), self._show_observed)

    def _show_observed(self, found: tuple[Observed, ...]) -> None:
        said = sentences(found[0], self._session.spec.person, lowest_first=True)
        # one sentence each where three kinds of statement stand side by side: the lowest ratio
        shown = said if self._session.spec.predictions else said[:1]
        self._observed.said.setText("\n\n".join(shown) or "No two groups can be compared.")

    def _not_known(self) -> str:
        domain = self._session.spec.domain
        if not domain.grouping:
            return (
                "Terms that the lists do not hold, and sentences unlike those in the data, are not "
                "asked about. Whether the model is right about any text is not looked at here."
            )
        names = words.listed([each.name for each in domain.grouping], "or")
        known = "" if domain.obstacle else f"{words.EXAMPLES}\n\n"
        repeated = self._session.spec.model.repeatability
        if repeated is not None and not repeated.holds:
            known = f"{figures.repeatability_sentence(repeated)}\n\n"
        return (
            f"{known}Whether the model is right about anybody, and whether other attributes stand "
            f"in for {names}, is not looked at here."
        )

    def _press(self) -> None:
        self._following()
