"""The list of all runs of the queue: reordered, dropped, added again, stopped."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListWidget,
    QListWidgetItem,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from fairdesk.app.run_queue import QueuedRun, RunQueue
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.catalogue.stages import stage
from fairdesk.cluster.hearing import AtWork
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.keys import keyed, shortcut
from fairdesk.gui.kit.tables import RIGHT, head_columns, height_around, read_only
from fairdesk.gui.workspace.queue.naming import SIGNS, standing
from fairdesk.wording import words

_HEADS = ("Worker", "Part of the run", "Doing", "Queries per second")
_NUMBERS = (1, 3)
#: So many rows are shown without scrolling.
_ROWS = 4


_NUMBER = Qt.ItemDataRole.UserRole
#: So many lines are shown without scrolling.
_LINES = 5


class WorkersTable(QTableWidget):
    """The table."""

    def __init__(self) -> None:
        super().__init__(0, len(_HEADS))
        read_only(self, "Workers of the cluster", line=theme.TIGHT)
        head_columns(self, _HEADS, right=_NUMBERS)
        self.horizontalHeader().setStretchLastSection(True)
        self.hide()

    def show_workers(self, doing: tuple[AtWork, ...]) -> None:
        """Show what each said last; those of before are forgotten."""
        self.setVisible(bool(doing))
        if not doing:
            self.setRowCount(0)
            return
        if self.rowCount() != len(doing):
            self.setRowCount(len(doing))
            line = self.verticalHeader().defaultSectionSize()
            self.setFixedHeight(line * min(len(doing), _ROWS) + height_around(self))
        for row, each in enumerate(doing):
            speed = words.number(round(each.speed)) if each.speed else ""
            texts = (each.worker, words.number(each.part), stage(each.phase), speed)
            for column, text in enumerate(texts):
                self._fill(row, column, text)
        self.resizeColumnsToContents()

    def _fill(self, row: int, column: int, text: str) -> None:
        item = self.item(row, column)
        if item is None:
            item = QTableWidgetItem()
            if column in _NUMBERS:
                item.setTextAlignment(RIGHT)
            self.setItem(row, column, item)
        if item.text() != text:
            item.setText(text)
            item.setToolTip(text)


class _List(QListWidget):
    """The runs, of which those that wait can be dragged.

    Signals
    -------
    placed : int, int
        A run, and its new place among those that wait.
    """

    placed = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Runs of the queue")
        self.setAccessibleDescription(
            "Alt+Up and Alt+Down move a waiting run, Delete drops it from the queue."
        )
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setTabKeyNavigation(False)
        # the list is made again: not while Qt still moves its lines
        self.model().rowsMoved.connect(
            lambda _from, first, _last, _to, to: QTimer.singleShot(
                0, self, lambda: self._take_drop(to - 1 if to > first else to)
            )
        )

    def _take_drop(self, row: int) -> None:
        item = self.item(row)
        if item is not None:
            above = (self.item(each) for each in range(row))
            waiting = sum(bool(each.flags() & Qt.ItemFlag.ItemIsDragEnabled) for each in above)
            self.placed.emit(item.data(_NUMBER), waiting)


class QueueList(QWidget):
    """The list with its buttons, and what the workers of a cluster are doing.

    Attributes
    ----------
    workers : WorkersTable
        Shown while a run is spread over a cluster.

    Signals
    -------
    placed : int, int
        A run is to have another place among those that wait.
    dropped, restored, stopped, opened : int
        What is to be done with a run.
    """

    placed = Signal(int, int)
    dropped = Signal(int)
    restored = Signal(int)
    stopped = Signal(int)
    opened = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._runs: dict[int, QueuedRun] = {}
        self._waiting: list[int] = []
        self._list = _List()
        self._up = parts.push_button("Move up", lambda: self._move(-1), tip="Alt+Up")
        self._down = parts.push_button("Move down", lambda: self._move(1), tip="Alt+Down")
        self._drop = parts.push_button(
            "&Drop", lambda: self.dropped.emit(self._number()), tip="Delete"
        )
        self._restore = parts.push_button("Add a&gain", lambda: self.restored.emit(self._number()))
        self._stop = parts.push_button("Stop t&his run", lambda: self.stopped.emit(self._number()))
        self._list.placed.connect(self.placed)
        self._list.itemSelectionChanged.connect(self._offer)
        self._list.itemActivated.connect(lambda _item: self.opened.emit(self._number()))
        for keys, button, text in (
            ("Alt+Up", self._up, "Move the run up in the queue"),
            ("Alt+Down", self._down, "Move the run down in the queue"),
            ("Delete", self._drop, "Drop the run from the queue"),
        ):
            shortcut(self._list, keys, button.click, text)
            keyed(button)
        buttons = layouts.row(
            *(self._up, self._down, self._drop, self._restore, self._stop),
            layouts.stretch(),
            spacing=theme.NEAR,
        )
        self.workers = WorkersTable()
        layouts.column(self._list, buttons, self.workers, on=self, spacing=theme.NEAR)
        self._offer()

    def show_queue(self, queue: RunQueue, left: str, *, paused: bool) -> None:
        """Show the runs; the one that was chosen stays so.

        Parameters
        ----------
        left : str
            What is left of the time of the one under way.
        """
        chosen = self._number()
        self._runs = {run.number: run for run in queue.runs}
        self._waiting = [run.number for run in queue.waiting]
        with QSignalBlocker(self._list):
            while self._list.count() > len(queue.runs):
                self._list.takeItem(self._list.count() - 1)
            while self._list.count() < len(queue.runs):
                self._list.addItem(QListWidgetItem())
            for row, run in enumerate(queue.runs):
                self._fill(self._list.item(row), run, standing(run, left, paused=paused))
                if run.number == chosen:
                    self._list.setCurrentRow(row)
        line = max(self._list.sizeHintForRow(0), self.fontMetrics().height())
        shown = min(max(len(queue.runs), 1), _LINES)
        self._list.setFixedHeight(line * shown + 2 * self._list.frameWidth() + 2)
        self._offer()

    def tell_left(self, row: int, text: str) -> None:
        """Say anew how the run that is under way stands."""
        item = self._list.item(row)
        if item is not None:
            self._fill(item, self._runs[item.data(_NUMBER)], text)

    def _fill(self, item: QListWidgetItem, run: QueuedRun, said: str) -> None:
        text = f"{SIGNS[run.stands]}  {METHODS[run.spec.method].title}: {said}"
        if item.text() != text:
            item.setText(text)
            item.setToolTip(run.why)
            title = METHODS[run.spec.method].title
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{title}: {said}")
        item.setData(_NUMBER, run.number)
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if run.stands == "waiting":
            flags |= Qt.ItemFlag.ItemIsDragEnabled
        item.setFlags(flags)

    def _number(self) -> int:
        item = self._list.currentItem()
        return 0 if item is None else int(item.data(_NUMBER))

    def _move(self, by: int) -> None:
        number = self._number()
        if number in self._waiting:
            self.placed.emit(number, self._waiting.index(number) + by)

    def _offer(self) -> None:
        """Offer what can be done with the run that is chosen."""
        run = self._runs.get(self._number())
        stands = "" if run is None else run.stands
        waits = stands == "waiting"
        place = self._waiting.index(run.number) if run is not None and waits else -1
        self._up.setEnabled(waits and place > 0)
        self._down.setEnabled(waits and place < len(self._waiting) - 1)
        self._drop.setEnabled(waits)
        self._restore.setVisible(stands == "dropped")
        self._stop.setEnabled(stands == "running")
