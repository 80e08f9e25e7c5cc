"""Which of the runs a page tells of: the best, unless another was chosen."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox

from fairdesk.answers.answer import Question
from fairdesk.answers.selection import best_run
from fairdesk.audit.catalogue.methods import method_named
from fairdesk.audit.store.records import RunState
from fairdesk.gui.kit.threads.soon import Soon
from fairdesk.gui.workspace.common.answering import Run
from fairdesk.gui.workspace.session.session import Session


class RunChoice(QComboBox):
    """The runs that belong to a page; hidden while there is no choice.

    Parameters
    ----------
    question : Question, optional
        What the page answers: of several runs the best is shown, and without one the newest.

    Signals
    -------
    told : RunRecord or RunState
        This run is to be shown as it stands: at once when it is another one or over, and now and
        then while it goes on.
    """

    run_changed = Signal(object)

    def __init__(
        self, session: Session, belongs: Callable[[Run], bool], name: str, question: Question | None
    ) -> None:
        super().__init__()
        self._session, self._belongs, self._question = session, belongs, question
        self._latest: Run | None = None
        #: The run that the auditor wants to see.
        self._wanted: int | None = None
        self.setAccessibleName(name)
        self.hide()
        self._redraw = Soon(self, self._tell)
        self.currentIndexChanged.connect(self._choose)
        self.activated.connect(self._want)
        session.runs_changed.connect(self.take_runs)
        session.live_changed.connect(self.follow)

    @property
    def shown(self) -> int | None:
        """The number of the run that is shown."""
        return None if self._latest is None else self._latest.id

    def open_run(self, number: int) -> None:
        """Show a run by its number."""
        position = self.findData(number)
        if position >= 0:
            self._wanted = number
            self.setCurrentIndex(position)

    def take_runs(self) -> None:
        """List the runs; the best is shown unless the auditor chose another."""
        runs = [run for run in self._session.runs if self._belongs(run)]
        if not runs:
            return
        best = None if self._question is None else best_run(self._question, runs)
        wanted = self._wanted
        if all(run.id != wanted for run in runs):
            wanted = runs[-1].id if best is None else best.id
        with QSignalBlocker(self):
            self.clear()
            for run in runs:
                after = f", continues {run.spec.continues}" if run.spec.continues else ""
                self.addItem(f"Run {run.id}: {method_named(run.method).short_title}{after}", run.id)
            self.setCurrentIndex(self.findData(wanted))
        self._choose()

    def follow(self, state: RunState) -> None:
        """Follow a run that belongs here, from its beginning."""
        if not state.id or not self._belongs(state):
            return
        if self.findData(state.id) < 0:
            self._wanted = None
            with QSignalBlocker(self):
                self.addItem(f"Run {state.id}: {method_named(state.method).short_title}", state.id)
                self.setCurrentIndex(self.count() - 1)
            self._take(state)
        elif self.currentData() == state.id:
            self._latest = state
            self._redraw.ask()

    def _want(self) -> None:
        self._wanted = self.currentData()

    def _choose(self) -> None:
        number = self.currentData()
        run = next((each for each in self._session.runs if each.id == number), None)
        if run is not None:
            self._take(run)

    def _take(self, run: Run) -> None:
        self._latest = run
        self.setVisible(self.count() > 1)
        self._tell()

    def _tell(self) -> None:
        self.run_changed.emit(self._latest)
