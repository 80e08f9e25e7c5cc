"""One open audit: the steps at the left, a page in the middle, the run at the bottom."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QUndoStack
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from fairdesk.audit.methods import METHODS
from fairdesk.audit.spec import RunSpec
from fairdesk.audit.store import RunState, Store
from fairdesk.audit.worker import Worker
from fairdesk.errors import FairDeskError
from fairdesk.gui import parts, theme
from fairdesk.gui.background import in_background
from fairdesk.gui.keys import shortcut
from fairdesk.gui.workspace.again_dialog import AgainDialog
from fairdesk.gui.workspace.data_page import DataPage
from fairdesk.gui.workspace.examples_page import ExamplesPage
from fairdesk.gui.workspace.groups_page import GroupsPage
from fairdesk.gui.workspace.log_page import LogPage
from fairdesk.gui.workspace.overview_page import OverviewPage
from fairdesk.gui.workspace.reopening import MovedError, reopen
from fairdesk.gui.workspace.report_page import ReportPage
from fairdesk.gui.workspace.run_bar import RunBar
from fairdesk.gui.workspace.session import Session
from fairdesk.gui.workspace.steps import OF_STATE, Sign, Standing, Steps
from fairdesk.report import words

OVERVIEW, DATA, EXAMPLES, GROUPS = "Overview", "Data and model", "Examples", "Groups"
REPORT, LOG = "Report", "Log"
NAMES = (OVERVIEW, DATA, EXAMPLES, GROUPS, REPORT, LOG)


class Workspace(QWidget):
    """Everything of one audit.

    Parameters
    ----------
    store : Store
        The open audit file; the workspace closes it in `close_audit`.

    Signals
    -------
    said : str
        Something for the status bar.
    run_started, run_finished
        A run began, or is over and all it found is in the file.
    """

    said = Signal(str)
    run_started = Signal()
    run_finished = Signal()

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # before a run can begin: what is “running” in the file was cut off when the app ended
        store.settle()
        self._store = store
        self._worker: Worker | None = None
        self._opening: Worker | None = None
        self._places: dict[Path, Path] = {}
        self._session = Session(store, self)
        self.steps = Steps(NAMES)
        self.overview = OverviewPage(self._session)
        self.data = DataPage(store.spec)
        self.examples = ExamplesPage(self._session)
        self.groups = GroupsPage(self._session)
        self.report = ReportPage(self._session)
        self.log = LogPage(self._session)
        self.bar = RunBar()
        self._banner = parts.Banner()
        self._pages = QStackedWidget()
        pages = (self.overview, self.data, self.examples, self.groups, self.report, self.log)
        for page in pages:
            self._pages.addWidget(page)
        self._lay_out()

        self.steps.chosen.connect(self._pages.setCurrentIndex)
        self.overview.go.connect(self.show_page)
        self.overview.open_run.connect(self._open_run)
        for asker in (self.overview.start, self.examples.start, self.report.start, self.bar.again):
            asker.connect(self.run_again)
        self.bar.pause.connect(self._session.driver.pause)
        self.bar.resume.connect(self._session.driver.resume)
        self.bar.stop.connect(self._stop)
        self._session.said.connect(self.said)
        self._session.failed.connect(self._banner.tell)
        self._session.runs_changed.connect(self._tell)
        self._session.live_changed.connect(self._go_on)
        self._session.driver.ended.connect(self._end)
        for number, name in enumerate(NAMES, start=1):
            shortcut(self, f"Ctrl+{number}", partial(self.show_page, name))
        if self.asks_nobody:
            self.steps.item(NAMES.index(EXAMPLES)).setHidden(True)
            self.bar.hide()
        self._tell()
        self._session.load()

    @property
    def title(self) -> str:
        """The audit's title."""
        return self._session.spec.title

    @property
    def path(self) -> Path:
        """The audit file."""
        return self._session.path

    @property
    def busy(self) -> bool:
        """Whether a run is under way."""
        return self._session.driver.busy

    @property
    def asks_nobody(self) -> bool:
        """Whether there is no model to search with, only its decisions in the data."""
        return bool(self._session.spec.predictions)

    @property
    def undo_stack(self) -> QUndoStack:
        """The auditor's marks and notes, for the window's Edit menu."""
        return self._session.undo

    def show_page(self, name: str) -> None:
        """Show a page by its name."""
        self.steps.setCurrentRow(NAMES.index(name))

    def start_run(self, worker: Worker, run: RunSpec) -> None:
        """Begin a run and show its examples.

        Parameters
        ----------
        worker : Worker
            Has the audit's model open. The workspace keeps it, and closes it at its own end.
        run : RunSpec
            What to run.
        """
        if self._worker is not None and self._worker is not worker:
            self._worker.close()
        self._worker = worker
        self._banner.clear()
        self._session.start(worker, run)
        self.bar.show_opening(METHODS[run.method].title)
        self.show_page(EXAMPLES)
        self.said.emit("The search has begun.")
        self.run_started.emit()

    def run_again(self) -> None:
        """Ask for another run, and begin it once the model is open."""
        if self.busy or self._opening is not None or self.asks_nobody:
            return
        runs = self._session.runs
        dialog = AgainDialog(runs[-1].spec if runs else None, self)
        dialog.accepted.connect(lambda: self._run(dialog.run()))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setModal(True)
        dialog.show()

    def stop_and_keep(self) -> None:
        """Stop the run; returns when what it found is safe in the file."""
        self.bar.show_stopping()
        self._session.driver.stop_and_wait(10)

    def export_report(self) -> None:
        """Export the PDF report."""
        self.show_page(REPORT)
        self.report.export_report()

    def close_audit(self) -> None:
        """Stop what runs, write what waits, close the model and the file."""
        self._session.close()
        for worker in (self._worker, self._opening):
            if worker is not None:
                worker.close()
        self._worker = self._opening = None
        self._store.close()

    # Parts

    def _lay_out(self) -> None:
        line = _Hairline()
        middle = QVBoxLayout()
        middle.setSpacing(0)
        warning = QVBoxLayout()
        warning.setContentsMargins(theme.WIDE, theme.GAP, theme.WIDE, 0)
        warning.addWidget(self._banner)
        middle.addLayout(warning)
        middle.addWidget(self._pages, 1)
        side = QVBoxLayout()
        side.setContentsMargins(0, theme.GAP, 0, 0)
        side.addWidget(self.steps)
        upper = QHBoxLayout()
        upper.setSpacing(0)
        upper.addLayout(side)
        upper.addWidget(line)
        upper.addLayout(middle, 1)
        lower = QVBoxLayout()
        lower.setContentsMargins(theme.NEAR, 0, theme.NEAR, theme.NEAR)
        lower.addWidget(self.bar)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(upper, 1)
        column.addLayout(lower)

    # What happens

    def _run(self, run: RunSpec) -> None:
        """Begin a run with the model that is open, else open it again first."""
        if self._worker is not None:
            self.start_run(self._worker, run)
            return
        spec, places = self._session.spec, dict(self._places)
        self._banner.clear()
        self.bar.show_opening("Opening the model")
        worker = self._opening = Worker()
        in_background(
            self,
            lambda: reopen(spec, places, worker),
            lambda _none: self._opened(worker, run),
            lambda error: self._not_open(worker, error, run),
        )

    def _opened(self, worker: Worker, run: RunSpec) -> None:
        if worker is self._opening:  # else nobody waits for it any more, and it is closed
            self._opening = None
            self.start_run(worker, run)

    def _not_open(self, worker: Worker, error: FairDeskError, run: RunSpec) -> None:
        if worker is not self._opening:
            return
        self._opening = None
        worker.close()
        self._tell()
        if isinstance(error, MovedError):
            lost = error.lost
            self._banner.tell(error, (("Show where it is…", lambda: self._locate(run, lost)),))
        else:
            self._banner.tell(error, (("Try again", lambda: self._run(run)),))

    def _stop(self) -> None:
        """Stop the run, or the opening of the model for it."""
        if self._opening is None:
            self._session.driver.stop()
            return
        self._opening.close()
        self._opening = None
        self._tell()
        self.said.emit("Stopped before the search had begun.")

    def _locate(self, run: RunSpec, lost: Path) -> None:
        name, _kind = QFileDialog.getOpenFileName(
            self, f"Where is “{lost.name}” of this audit?", str(self.path.parent)
        )
        if name:
            self._places[lost] = Path(name)
            self._run(run)

    def _open_run(self, number: int) -> None:
        self.examples.open_run(number)
        self.show_page(EXAMPLES)

    def _go_on(self, state: RunState) -> None:
        run = self._session.live_spec
        if run is None:
            return
        self.bar.show_live(state, run)
        standing = Standing(
            f"{words.state_word(state.state)}, {words.number(state.found)}", OF_STATE[state.state]
        )
        self.steps.stand(NAMES.index(EXAMPLES), standing)
        if not self._session.runs:
            self.steps.stand(NAMES.index(OVERVIEW), Standing("first run", OF_STATE[state.state]))
            self.steps.stand(NAMES.index(REPORT), Standing("not complete yet", Sign.NOT_YET))

    def _end(self, state: RunState) -> None:
        self.said.emit(
            {
                "done": f"The search is done: {words.number(state.found)} found.",
                "stopped": "The search was stopped; what it found is kept.",
            }.get(state.state, "The search failed; what it found is kept.")
        )
        if not state.run_id:
            # it ended before it could be written down as a run
            self._banner.say("The run could not begin.", state.message)
        self.run_finished.emit()

    def _tell(self) -> None:
        """Say how every step stands."""
        spec, runs = self._session.spec, self._session.runs
        latest = runs[-1] if runs else None
        stand = self.steps.stand
        stand(
            NAMES.index(OVERVIEW),
            Standing(words.counted(len(runs), "run"), Sign.DONE)
            if runs
            else Standing("nothing run yet", Sign.NOT_YET),
        )
        rows = f"{words.number(spec.data.rows)} rows"
        stand(NAMES.index(DATA), Standing(rows, Sign.DONE))
        stand(NAMES.index(GROUPS), Standing("observed", Sign.DONE))
        stand(NAMES.index(LOG), Standing("runs and decisions"))
        if self.asks_nobody:
            stand(NAMES.index(OVERVIEW), Standing("no model asked", Sign.DONE))
            stand(NAMES.index(REPORT), Standing("ready to export", Sign.DONE))
            return
        if self.busy:
            return
        if latest is None:
            stand(NAMES.index(EXAMPLES), Standing("not run", Sign.NOT_YET))
            stand(NAMES.index(REPORT), Standing("nothing to tell yet", Sign.NOT_YET))
            self.bar.show_nothing()
        else:
            found = sum(run.found for run in runs)
            short = {"stopped": "stopped"}.get(latest.state, words.state_word(latest.state))
            stand(
                NAMES.index(EXAMPLES),
                Standing(f"{short}, {words.number(found)}", OF_STATE[latest.state]),
            )
            stand(NAMES.index(REPORT), Standing("ready to export", Sign.DONE))
            self.bar.show_record(latest)


class _Hairline(QWidget):
    """A quiet upright line."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedWidth(1)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        QPainter(self).fillRect(self.rect(), QColor(theme.colours().line))
