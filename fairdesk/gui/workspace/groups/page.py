"""Groups: findings about them in sentences, words in texts, and tables of rates."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QTabWidget, QWidget

from fairdesk.answers import Question, best_run
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import method_named
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.records import RunRecord
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.pages import page_head
from fairdesk.gui.workspace.groups.group_tables import GroupTables
from fairdesk.gui.workspace.session.session import Session
from fairdesk.gui.workspace.subgroups.findings_view import FindingsView, Key
from fairdesk.gui.workspace.subgroups.terms_view import WordsView, text_columns


class GroupsPage(QWidget):
    """How groups fare: found by rules, by words in texts, and counted.

    Signals
    -------
    find_groups, compare_words, measure_groups
        A run that looks for groups, compares words, or counts how groups fare, is wanted.
    again : int, float
        The run of this number is wanted again with this least support.
    compare : str
        A run of another method is wanted.
    """

    find_groups = Signal()
    compare_words = Signal()
    measure_groups = Signal()
    again = Signal(int, float)
    compare = Signal(str)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.findings = FindingsView(session)
        self.words = WordsView(session)
        self.tables = GroupTables(session)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(self.tables, "Gro&up metrics")
        self.tabs.addTab(self.findings, "Subgroup d&iscovery")
        self.tabs.addTab(self.words, "Identity &terms")
        self.findings.find_groups.connect(self.find_groups)
        self.findings.again.connect(self.again)
        self.findings.compare.connect(self.compare)
        self.words.compare_words.connect(self.compare_words)
        self.tables.measure_wanted.connect(self.measure_groups)
        layouts.column(
            layouts.column(page_head("Groups"), margin=(0, 0, theme.PAGE, 0)),
            layouts.grow(self.tabs),
            on=self,
            margin=(theme.PAGE, theme.WIDE, 0, 0),
            spacing=theme.NEAR,
        )
        self.tabs.setTabVisible(self.tabs.indexOf(self.words), bool(text_columns(session.spec)))
        if not session.spec.predictions and not session.spec.domain.grouping:
            self.tabs.setCurrentWidget(self.words)
        session.runs_changed.connect(self._begin)

    def _begin(self) -> None:
        """Show at first what is known: subgroups, where only these were looked for."""
        self._session.runs_changed.disconnect(self._begin)
        known = best_run(Question.SUBGROUPS, self._session.runs)
        if known is not None and best_run(Question.GROUPS, self._session.runs) is None:
            in_texts = isinstance(known, RunRecord) and bool(known.spec.text)
            self.tabs.setCurrentWidget(self.words if in_texts else self.findings)

    def show_run(self, run: RunSpec) -> None:
        """Show the tab of what a run answers."""
        if run.text:
            self.tabs.setCurrentWidget(self.words)
        elif method_named(run.method).answers is QuestionKind.RATES:
            self.tabs.setCurrentWidget(self.tables)
        else:
            self.tabs.setCurrentWidget(self.findings)

    def open_run(self, number: int) -> None:
        """Show a run by its number."""
        for view in (self.tables, self.findings, self.words):
            view.open_run(number)

    def show_group(self, attributes: tuple[str, ...], values: tuple[str, ...]) -> None:
        """Show the metrics of a group, by its values of these attributes."""
        self.tabs.setCurrentWidget(self.tables)
        self.tables.show_group(attributes, values)

    def show_subgroup(self, key: Key) -> None:
        """Show a subgroup that was discovered."""
        self.tabs.setCurrentWidget(self.findings)
        self.findings.show_finding(key)

    def show_term(self, term: str) -> None:
        """Show an identity term that was compared."""
        self.tabs.setCurrentWidget(self.words)
        self.words.choose_term(term)
