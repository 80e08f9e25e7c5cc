"""The runs of an audit, one row each."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView, QMenu, QTableWidget, QTableWidgetItem

from fairdesk.answers import main_shares
from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named
from fairdesk.audit.store.records import RunRecord
from fairdesk.gui.kit import parts
from fairdesk.gui.kit.keys import shortcut
from fairdesk.gui.kit.tables import LEFT, RIGHT, head_columns, read_only
from fairdesk.gui.workspace.common.run_page import can_go_on, shares
from fairdesk.gui.workspace.common.steps import OF_STATE
from fairdesk.results.groups import GroupTable
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import proofs as proof_words
from fairdesk.wording import words
from fairdesk.wording.figures import share_cell
from fairdesk.wording.groups.sentences import best_so_far, looked_at
from fairdesk.wording.proofs import neighbourhood_counts, neighbourhoods_of

_HEADER = ("Run", "Method", "State", "Seed", "Result", "Time")
_NUMBERS = (3, 4, 5)
#: Columns that are as wide as what they hold: it must be read whole.
_WHOLE = (0, 2, 3, 4, 5)
#: The column that is there only where runs differ in it, and there is room for it.
_SEED = 3


class RunsTable(QTableWidget):
    """As high as its rows: the page scrolls, not the table.

    Signals
    -------
    opened : int
        What a run answered is to be shown.
    repeat, go_on, compare : int
        A run is to be made with another seed, gone on with, or compared.
    chosen
        Another run is chosen.
    """

    opened = Signal(int)
    repeat = Signal(int)
    go_on = Signal(int)
    compare = Signal(int)
    chosen = Signal()

    def __init__(self) -> None:
        super().__init__(0, len(_HEADER))
        read_only(
            self,
            "Runs of this audit",
            "Enter opens the results of a run; S repeats it with another random seed, C "
            "continues it, V compares it.",
            line=9,
            single=True,
        )
        head_columns(self, _HEADER, _NUMBERS)
        self._runs: tuple[RunRecord, ...] = ()
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        head = self.horizontalHeader()
        head.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        for place in _WHOLE:
            head.setSectionResizeMode(place, QHeaderView.ResizeMode.ResizeToContents)
        self.itemActivated.connect(lambda item: self.opened.emit(self._runs[item.row()].id))
        self.itemSelectionChanged.connect(self.chosen)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._show_menu)
        for keys, act, text in (
            ("S", self.repeat_chosen, "Repeat the selected run with another seed"),
            ("C", self.go_on_with_chosen, "Continue the selected run"),
            ("V", self.compare_chosen, "Compare the selected run with others"),
        ):
            shortcut(self, keys, act, text)

    @property
    def chosen_run(self) -> RunRecord | None:
        """The run that is chosen, if one is."""
        rows = self.selectionModel().selectedRows()
        return self._runs[rows[0].row()] if rows and rows[0].row() < len(self._runs) else None

    @property
    def can_repeat(self) -> bool:
        """Whether the chosen run can be made again now."""
        return self.chosen_run is not None

    @property
    def can_go_on(self) -> bool:
        """Whether the chosen run can be gone on with now."""
        run = self.chosen_run
        if run is None or not self.can_repeat:
            return False
        return can_go_on(run) or (run.found > 0 and _searches(run))

    @property
    def can_compare(self) -> bool:
        """Whether the chosen run can be compared."""
        run = self.chosen_run
        return run is not None and _searches(run)

    def repeat_chosen(self) -> None:
        """Ask for the chosen run with another seed."""
        if (run := self.chosen_run) is not None and self.can_repeat:
            self.repeat.emit(run.id)

    def go_on_with_chosen(self) -> None:
        """Ask to go on with the chosen run."""
        if (run := self.chosen_run) is not None and self.can_go_on:
            self.go_on.emit(run.id)

    def compare_chosen(self) -> None:
        """Ask to compare the chosen run."""
        if (run := self.chosen_run) is not None and self.can_compare:
            self.compare.emit(run.id)

    def _show_menu(self, where: QPoint) -> None:
        run = self.chosen_run
        if run is None:
            return
        entries: tuple[tuple[str, bool, Callable[[], None]], ...] = (
            ("&Show results\tReturn", True, lambda: self.opened.emit(run.id)),
            ("&Repeat with another random seed\tS", self.can_repeat, self.repeat_chosen),
            ("&Continue\tC", self.can_go_on, self.go_on_with_chosen),
            ("Compare &with…\tV", self.can_compare, self.compare_chosen),
        )
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for text, possible, act in entries:
            entry = parts.action(menu, text, act)
            entry.setEnabled(possible)
            menu.addAction(entry)
        menu.popup(self.viewport().mapToGlobal(where))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Leave out what matters least where there is no room for it."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        head, room = self.horizontalHeader(), self.viewport().width()
        needed = sum(
            max(self.sizeHintForColumn(place), head.sectionSizeHint(place))
            for place in range(self.columnCount())
        )
        alike = len({run.spec.seed for run in self._runs}) < 2
        self.setColumnHidden(_SEED, alike or needed > room)

    def show_runs(self, runs: tuple[RunRecord, ...]) -> None:
        """Show the runs; the one that is chosen stays so."""
        if runs == self._runs and self.rowCount() == len(runs):
            return
        self._runs = runs
        self.setRowCount(len(runs))
        for row, run in enumerate(runs):
            # who stopped it is said on the page of the run; here the numbers need the room
            state = "stopped" if run.state == "stopped" else words.state_word(run.state)
            texts = (
                str(run.id),
                METHODS[run.spec.method].short_title,
                f"{OF_STATE[run.state].value} {state}",
                str(run.spec.seed),
                _result(run),
                words.duration(run.elapsed),
            )
            for place, text in enumerate(texts):
                item = QTableWidgetItem(text)
                item.setTextAlignment(RIGHT if place in _NUMBERS else LEFT)
                item.setToolTip(f"{words.queries(run.queries)}, seed {run.spec.seed}")
                if place == 1 and run.spec.continues:
                    item.setText(f"{text}, continues {run.spec.continues}")
                self.setItem(row, place, item)
        self._fit()
        line = self.verticalHeader().defaultSectionSize()
        self.setFixedHeight(
            line * len(runs) + self.horizontalHeader().sizeHint().height() + 2 * self.frameWidth()
        )


def _searches(run: RunRecord) -> bool:
    return method_named(run.method).answers is QuestionKind.EXAMPLES


def _result(run: RunRecord) -> str:
    """Say what came of a run: a count, what is proven, a share with its interval, or nothing."""
    if _searches(run):
        return f"{words.counted(run.found, 'pair')} found"
    if (proven := proof_words.main_proof(run.figures)) is not None:
        return proof_words.standing_of(proven)
    if (around := neighbourhoods_of(run.figures)) is not None:
        return neighbourhood_counts(around)
    if method_named(run.method).answers in ABOUT_GROUPS:
        return _groups_result(run)
    if method_named(run.method).answers is QuestionKind.REPAIR:
        fall = mitigation_words.fall_text(run.figures)
        return fall or mitigation_words.effort_text(run.figures) or "–"
    measured = main_shares(shares(run))
    return share_cell(measured[0], run.figures) if measured else "–"


def _groups_result(run: RunRecord) -> str:
    """Say what a run about groups came to: how many rule sets, and the greatest difference."""
    if any(isinstance(each, GroupTable) for each in run.figures):
        return "rates by group"
    return ", ".join(filter(None, (looked_at(run.figures), best_so_far(run.figures)))) or "–"
