"""Several runs beside each other: what each found, and whether searches can trust estimates."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QTabWidget,
    QWidget,
)

from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.pages import page_head
from fairdesk.gui.workspace.compare.diagnosis_view import DiagnosisView
from fairdesk.gui.workspace.compare.runs_view import RunsView
from fairdesk.gui.workspace.session.session import Session


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
