"""The runs of an audit, one row each."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from fairdesk.audit.methods import METHODS
from fairdesk.audit.store import RunRecord
from fairdesk.gui import parts
from fairdesk.gui.workspace.steps import OF_STATE
from fairdesk.report import words

_HEADER = ("Run", "Method", "State", "Seed", "Found", "Tried", "Rows sent", "Time")
_NUMBERS = (3, 4, 5, 6, 7)
_STATE = 2


class RunsTable(QTableWidget):
    """As high as its rows: the page scrolls, not the table.

    Signals
    -------
    opened : int
        The examples of a run are to be shown.
    """

    opened = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(0, len(_HEADER), parent)
        self.setAccessibleName("Runs of this audit")
        self.setAccessibleDescription("Enter shows the examples of a run.")
        for place, text in enumerate(_HEADER):
            item = QTableWidgetItem(text)
            item.setTextAlignment(_aligned(place))
            self.setHorizontalHeaderItem(place, item)
        self.verticalHeader().hide()
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setTabKeyNavigation(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 9)
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        for place in (0, _STATE):
            head.setSectionResizeMode(place, QHeaderView.ResizeMode.ResizeToContents)
        self.setItemDelegate(parts.Padded(self))
        self.itemActivated.connect(lambda item: self.opened.emit(item.row() + 1))

    def show_runs(self, runs: tuple[RunRecord, ...]) -> None:
        """Show the runs; they are numbered from 1."""
        self.setRowCount(len(runs))
        for row, run in enumerate(runs):
            texts = (
                str(run.id),
                METHODS[run.spec.method].title,
                f"{OF_STATE[run.state].value} {words.state_word(run.state)}",
                str(run.spec.seed),
                words.number(run.found),
                words.number(run.tried),
                words.number(run.queries),
                words.duration(run.elapsed),
            )
            for place, text in enumerate(texts):
                item = QTableWidgetItem(text)
                item.setTextAlignment(_aligned(place))
                self.setItem(row, place, item)
        line = self.verticalHeader().defaultSectionSize()
        self.setFixedHeight(
            line * len(runs) + self.horizontalHeader().sizeHint().height() + 2 * self.frameWidth()
        )


def _aligned(place: int) -> Qt.AlignmentFlag:
    right, left = Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignLeft
    return (right if place in _NUMBERS else left) | Qt.AlignmentFlag.AlignVCenter
