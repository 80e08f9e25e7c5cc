"""Where the audit stands: what is shown, what is not known, and the next sensible step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from fairdesk.audit.store import RunState
from fairdesk.gui import parts, theme
from fairdesk.gui.workspace.bars import Bars
from fairdesk.gui.workspace.runs_table import RunsTable
from fairdesk.gui.workspace.session import Session
from fairdesk.report import words
from fairdesk.report.groups import Observed, observed, sentences


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
        The page that the button opens; empty for a new run.
    """

    words: str
    button: str
    page: str


def next_step(run: words.Counted | None, latest: words.Counted | None, many: str) -> Next:
    """Say what an auditor would do next.

    Parameters
    ----------
    run, latest : Counted, optional
        The run that tells most, and the one that was begun last.
    many : str
        The auditor's word for people.
    """
    if run is None:
        return Next(
            f"Let FairDesk look for {many} who are treated differently.", "Find examples…", ""
        )
    if run.state in ("running", "paused"):
        return Next(
            "The search is under way. You can read the examples while it goes on.",
            "See the examples",
            "Examples",
        )
    if latest is not None and latest.state == "failed":
        return Next(
            "The last run failed; what it found is kept. Run it again, or read what there is.",
            "Run again…",
            "",
        )
    if run.found:
        return Next(
            "Read some of the examples, flag those that matter and note why. Then export the "
            "report: it shows the flagged ones first.",
            "Read the examples",
            "Examples",
        )
    return Next(
        "Nothing was found. Search longer, or with another seed or method, before you conclude "
        "anything from it.",
        "Run again…",
        "",
    )


class _Statement(parts.Card):
    """A card with a kind of statement, its mark, and sentences."""

    def __init__(self, mark: str, kind: str) -> None:
        super().__init__()
        row = QHBoxLayout()
        row.setSpacing(theme.NEAR)
        self._mark = parts.Words(mark, tone="accent", size=1.12, wrap=False)
        self._kind = parts.heading(kind)
        row.addWidget(self._mark)
        row.addWidget(self._kind, 1)
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
        The examples of a run are to be shown.
    start
        A run is wanted.
    """

    go = Signal(str)
    open_run = Signal(int)
    start = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        spec = session.spec
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(theme.PAGE, theme.PAGE, theme.PAGE, theme.PAGE)
        column.setSpacing(theme.GAP)
        column.addWidget(parts.title(spec.title))
        names = words.listed(words.protected_names(spec.domain))
        asked = (
            f"How do {session.many} fare by the decisions in {words.quoted(spec.predictions)}, "
            f"compared by {names}?"
            if spec.predictions
            else f"Are {session.many} who differ only in {names} treated alike?"
        )
        column.addWidget(
            parts.quiet(f"{asked} Good for the {spec.person}: {spec.label} is “{spec.favourable}”.")
        )
        column.addSpacing(theme.NEAR)

        self._shown = _Statement("◆", "Shown by examples")
        self._effort = parts.quiet()
        self._ranked = Bars("Protected attributes, by how often each is enough by itself")
        self._ranked_words = parts.quiet(
            "How many of the found get another decision when this attribute alone changes:"
        )
        self._unknown = _Statement("?", "Not known yet")
        self._next = _Statement("→", "Next step")
        self._button = QPushButton()
        self._button.clicked.connect(self._press)
        self._runs = RunsTable()
        self._runs.opened.connect(self.open_run)
        self._runs_title = parts.heading("Runs")
        self._lay_out(column)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(parts.scrolled(inside))
        self._following: Callable[[], None] = self.start.emit
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

    def _lay_out(self, column: QVBoxLayout) -> None:
        self._shown.said.setFont(theme.scaled(self._shown.said.font(), 1.2, strong=True))
        self._shown.body.addWidget(self._effort)
        self._shown.body.addSpacing(theme.TIGHT)
        self._shown.body.addWidget(self._ranked_words)
        self._shown.body.addWidget(self._ranked)
        row = QHBoxLayout()
        row.addWidget(self._button)
        row.addStretch(1)
        self._next.body.addStretch(1)
        self._next.body.addLayout(row)
        self._unknown.body.addStretch(1)
        pair = QGridLayout()
        pair.setSpacing(theme.GAP)
        pair.addWidget(self._unknown, 0, 0)
        pair.addWidget(self._next, 0, 1)
        pair.setColumnStretch(0, 1)
        pair.setColumnStretch(1, 1)
        column.addWidget(self._shown)
        column.addLayout(pair)
        column.addSpacing(theme.NEAR)
        column.addWidget(self._runs_title)
        column.addWidget(self._runs)
        column.addStretch(1)

    def _tell(self) -> None:
        session = self._session
        run = session.telling()
        names = words.protected_names(session.spec.domain)
        if run is None:
            self._shown.said.setText(
                "Nothing yet. What a search finds will be said here in one sentence."
            )
            self._effort.setText("")
        else:
            self._shown.said.setText(session.headline(run))
            self._effort.setText(f"{words.effort(run)}.")
        several = run is not None and bool(run.found) and len(run.alone) > 1
        if run is not None and several:
            ranked = sorted(zip(names, run.alone, strict=False), key=lambda each: -each[1])
            self._ranked.show_counts(tuple(ranked), run.found)
        self._ranked.setVisible(several)
        self._ranked_words.setVisible(several)
        self._effort.setVisible(run is not None)
        self._unknown.said.setText(self._not_known())
        self._runs.show_runs(session.runs)
        self._runs.setVisible(bool(session.runs))
        self._runs_title.setVisible(bool(session.runs))
        latest = session.live or (session.runs[-1] if session.runs else None)
        following = next_step(run, latest, session.many)
        self._next.said.setText(following.words)
        self._button.setText(following.button)
        self._following = (
            (lambda: self.go.emit(following.page)) if following.page else self.start.emit
        )

    def _tell_observed(self) -> None:
        """Tell of an audit without a model: how groups fared by the decisions that it made."""
        spec = self._session.spec
        self._shown.name("○", "Observed in the data")
        self._shown.said.setText("Counting…")
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
        for widget in (self._effort, self._ranked, self._ranked_words, self._runs):
            widget.hide()
        self._runs_title.hide()
        self._session.store.ask(lambda store: observed(spec, store.table()), self._show_observed)

    def _show_observed(self, found: tuple[Observed, ...]) -> None:
        said = sentences(found[0], self._session.spec.person)
        self._shown.said.setText("\n\n".join(said) or "No two groups can be compared.")

    def _not_known(self) -> str:
        names = words.protected_names(self._session.spec.domain)
        return (
            f"{words.EXAMPLES}\n\nWhether the model is right about anybody, and whether other "
            f"attributes stand in for {words.listed(names, 'or')}, is not looked at here."
        )

    def _press(self) -> None:
        self._following()
