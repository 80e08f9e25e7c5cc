"""The runs that can be compared, each with a box to check."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
)

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import Budget
from fairdesk.audit.store.records import RunRecord
from fairdesk.document.comparison import run_label
from fairdesk.gui.kit.tables import aligned, head_columns, height_around, read_only
from fairdesk.gui.workspace.common.steps import OF_STATE
from fairdesk.wording import words

_HEADS = ("Run", "Method", "State", "Seed", "Budget", "Pairs found")

_NUMBERS = (3, 5)


def budget_text(budget: Budget) -> str:
    """Write a run's limits for a cell."""
    limits = []
    if budget.seconds is not None:
        limits.append(words.duration(budget.seconds))
    if budget.queries is not None:
        limits.append(f"{words.number(budget.queries)} queries")
    return " or ".join(limits) or "none"


class RunList(QTableWidget):
    """The runs that can be compared, each with a check box.

    Signals
    -------
    chosen
        The auditor checked or unchecked one.
    """

    chosen = Signal()

    def __init__(self) -> None:
        super().__init__(0, len(_HEADS))
        self._boxes: dict[int, QTableWidgetItem] = {}
        how = "Space selects or deselects a run."
        read_only(self, "Runs to compare", how, line=9, single=True)
        head_columns(self, _HEADS, _NUMBERS)
        head = self.horizontalHeader()
        head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        head.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self.itemChanged.connect(lambda _item: self.chosen.emit())

    def show_runs(self, runs: tuple[RunRecord, ...]) -> None:
        """List runs; nothing is checked."""
        with QSignalBlocker(self):
            self._boxes = {}
            self.setRowCount(len(runs))
            for row, run in enumerate(runs):
                self._fill(row, run)
            if runs:
                # Space needs a cell that is current
                self.setCurrentCell(max(self.currentRow(), 0), 0)
                self.clearSelection()
        line = self.verticalHeader().defaultSectionSize()
        self.setFixedHeight(line * min(len(runs), 8) + height_around(self))

    def check(self, numbers: Collection[int]) -> None:
        """Check these runs and no others."""
        on, off = Qt.CheckState.Checked, Qt.CheckState.Unchecked
        with QSignalBlocker(self):
            for number, box in self._boxes.items():
                box.setCheckState(on if number in numbers else off)
        self.viewport().update()

    def checked(self) -> tuple[int, ...]:
        """Return the numbers of the runs that are checked."""
        on = Qt.CheckState.Checked
        return tuple(number for number, box in self._boxes.items() if box.checkState() == on)

    def _fill(self, row: int, run: RunRecord) -> None:
        texts = (
            str(run.id),
            METHODS[run.spec.method].short_title,
            f"{OF_STATE[run.state].value} {words.state_word(run.state)}",
            str(run.spec.seed),
            budget_text(run.spec.budget),
            words.number(run.found),
        )
        for place, text in enumerate(texts):
            item = QTableWidgetItem(text)
            item.setTextAlignment(aligned(number=place in _NUMBERS))
            if place == 0:
                self._boxes[run.id] = item
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                item.setCheckState(Qt.CheckState.Unchecked)
                item.setData(Qt.ItemDataRole.AccessibleTextRole, run_label(run.id, run.spec))
            self.setItem(row, place, item)
