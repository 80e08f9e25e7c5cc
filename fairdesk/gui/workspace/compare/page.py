"""Several runs beside each other: what each found, and whether searches can trust estimates."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QPushButton,
    QTabWidget,
    QWidget,
)

from fairdesk.answers import all_off
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import method_named
from fairdesk.document.blocks import Text
from fairdesk.document.comparison import ESTIMATES, NO_GRADIENTS, diagnosis
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.pages import page_head
from fairdesk.gui.workspace.common.answering import Run, likenesses
from fairdesk.gui.workspace.common.blocks_view import BlocksView
from fairdesk.gui.workspace.common.run_page import RunPage
from fairdesk.gui.workspace.compare.runs_view import RunsView
from fairdesk.gui.workspace.session.session import Session
from fairdesk.models.model import Capability


def diagnoses(run: Run) -> bool:
    """Return whether a run is a diagnostic."""
    return method_named(run.method).answers is QuestionKind.DIAGNOSIS


class DiagnosisView(RunPage):
    """A diagnostic: the newest, unless another is chosen.

    Signals
    -------
    start
        A diagnostic is wanted.
    """

    start = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session, diagnoses, "Run whose diagnostic is shown", None)
        self.view = BlocksView(session)
        again = self._make_button("Run t&he diagnostic again")
        inside = layouts.panel(
            layouts.row(self.runs, layouts.stretch(), again),
            *(self._banner, self._standing, self.view),
            layouts.stretch(),
            margin=(0, theme.GAP, theme.PAGE, theme.PAGE),
            spacing=theme.GAP,
        )
        self._stack_up(self._make_empty(), parts.scrolled(inside))
        self.runs.take_runs()

    def _make_empty(self) -> QWidget:
        gradients = Capability.GRADIENTS in self._session.spec.model.can
        button = self._make_button("Run t&he diagnostic")
        return parts.empty_page(
            "No diagnostic yet",
            ESTIMATES if gradients else NO_GRADIENTS,
            parts.why_not(button, all_off(self._session.spec, QuestionKind.DIAGNOSIS)),
            button,
        )

    def _make_button(self, text: str) -> QPushButton:
        return parts.push_button(text, self.start)

    def _show_run(self, run: Run) -> None:
        self._say_standing(run)
        self._tell_failure(run, "Run the diagnostic again", self.start.emit)
        self.view.show_blocks(diagnosis(likenesses(run)) or [Text("No result yet.")])


class ComparePage(QWidget):
    """Runs beside each other.

    Signals
    -------
    compare_methods, diagnose
        Runs of several methods, or a diagnosis, are wanted.
    """

    compare_methods = Signal()
    diagnose = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.diagnosis = DiagnosisView(session)
        self.diagnosis.start.connect(self.diagnose)
        self.runs = RunsView(session)
        self.runs.compare_methods.connect(self.compare_methods)
        self._tabs = QTabWidget()
        self._tabs.setDocumentMode(True)
        self._tabs.addTab(self.runs, "Pairs &found per run")
        self._tabs.addTab(self.diagnosis, "Gradient-&estimate diagnostic")
        layouts.column(
            layouts.column(page_head("Compare methods"), margin=(0, 0, theme.PAGE, 0)),
            layouts.grow(self._tabs),
            on=self,
            margin=(theme.PAGE, theme.WIDE, 0, 0),
            spacing=theme.NEAR,
        )

    def show_runs(self) -> None:
        """Show the comparison."""
        self._tabs.setCurrentWidget(self.runs)

    def show_diagnosis(self) -> None:
        """Show the diagnosis."""
        self._tabs.setCurrentWidget(self.diagnosis)
