"""The queue in one line: a button for each run, a fold with the list, and the report in the end."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from fairdesk.app.run_queue import OVER, QueuedRun, RunQueue
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.queue.clock import ticking
from fairdesk.gui.workspace.queue.listing import QueueList
from fairdesk.gui.workspace.queue.naming import SIGNS, names, seconds_left, standing

_PAUSED = "‖"
#: From this width on there is room for the time that all take.
_WIDE = 1000


class _Chips(QWidget):
    """A button for each run, as many as there is room for: around the one that is under way."""

    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.buttons: dict[int, QToolButton] = {}
        self._more = parts.quiet()
        self._more.setWordWrap(False)
        self._row = layouts.row(on=self, spacing=theme.TIGHT)
        self._running = 0

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Show as many runs as there is room for."""
        super().resizeEvent(event)
        self.fit(self._running)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the height of a button; the width is what there is."""
        return QSize(0, QToolButton().sizeHint().height())

    def show_runs(self, runs: tuple[QueuedRun, ...]) -> None:
        """Make the buttons anew where the runs are others."""
        if tuple(self.buttons) == tuple(run.number for run in runs):
            return
        had = next((number for number, each in self.buttons.items() if each.hasFocus()), 0)
        self._row.removeWidget(self._more)
        parts.clear(self._row)
        self.buttons = {}
        for run in runs:
            button = QToolButton()
            button.setAutoRaise(True)
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            button.clicked.connect(lambda _=False, number=run.number: self.chosen.emit(number))
            self._row.addWidget(button)
            self.buttons[run.number] = button
        self._row.addWidget(self._more)
        self._row.addStretch(1)
        parts.in_order(*self.buttons.values())
        if had in self.buttons:
            self.buttons[had].setFocus()

    def fit(self, running: int) -> None:
        """Hide what there is no room for; the run under way is always shown."""
        self._running, numbers = running, list(self.buttons)
        widths = [self.buttons[each].sizeHint().width() + theme.TIGHT for each in numbers]
        self._more.setText("and 99 more")
        room = self.width() - self._more.sizeHint().width() - theme.NEAR
        first = 0
        middle = numbers.index(running) if running in numbers else 0
        while first < middle and sum(widths[first : middle + 1]) > room:
            first += 1
        last = first
        while last < len(numbers) and sum(widths[first : last + 1]) <= room:
            last += 1
        last = max(last, middle + 1)
        for place, number in enumerate(numbers):
            self.buttons[number].setVisible(first <= place < last)
        hidden = len(numbers) - (last - first)
        self._more.setText(f"and {hidden} more" if hidden > 0 else "")


class QueueStrip(QWidget):
    """The queue below the run: hidden while there is nothing in it.

    Signals
    -------
    opened : int
        The page of a run is wanted.
    placed, dropped, restored, stopped
        As of `QueueList`.
    add, stop_all, go_on, report
        The auditor pressed that button.
    """

    opened = Signal(int)
    placed = Signal(int, int)
    dropped = Signal(int)
    restored = Signal(int)
    stopped = Signal(int)
    add = Signal()
    stop_all = Signal()
    go_on = Signal()
    report = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Queue")
        self._queue = RunQueue()
        self._opening = self._paused = False
        self._left = ""
        self.fold = QToolButton()
        self.fold.setText("&Queue")
        self.fold.setAutoRaise(True)
        self.fold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.fold.setToolTip("Show all runs of the queue, to reorder, drop or stop them")
        self.fold.clicked.connect(self._turn)
        self.chips = _Chips()
        self.chips.chosen.connect(self.opened)
        self.total = parts.Words(tone="quiet", size=0.85, wrap=False)
        self.ready = parts.Words("✓ All runs finished", strong=True, wrap=False)
        self.open_report = parts.push_button("Open the re&port", self.report)
        self.start = parts.push_button("S&tart the queue", self.go_on)
        self.more = parts.push_button("Add ru&n…", self.add, tip="Add a run to the queue (Ctrl+R)")
        self.end = parts.push_button(
            "Stop a&ll", self.stop_all, tip="Stop this run and drop those that wait"
        )
        self.list = QueueList()
        self.list.hide()
        for ours, theirs in (
            (self.opened, self.list.opened),
            (self.placed, self.list.placed),
            (self.dropped, self.list.dropped),
            (self.restored, self.list.restored),
            (self.stopped, self.list.stopped),
        ):
            theirs.connect(ours)
        row = layouts.row(
            self.fold,
            layouts.grow(self.chips),
            *(self.total, self.ready, self.open_report, self.start, self.more, self.end),
            spacing=theme.NEAR,
        )
        layouts.column(row, self.list, on=self, spacing=theme.NEAR)
        self._point()
        self.show_queue(self._queue)

    def show_queue(self, queue: RunQueue, *, opening: bool = False) -> None:
        """Show the runs.

        Parameters
        ----------
        opening : bool
            Whether the model is being opened for the first that waits.
        """
        self._queue, self._opening = queue, opening
        shown = tuple(run for run in queue.runs if run.stands != "dropped")
        self.chips.show_runs(shown)
        running, busy = queue.running, opening or queue.running is not None
        done = not busy and queue.idle and any(run.stands == "done" for run in queue.runs)
        self.setVisible(bool(queue.runs))
        self.ready.setVisible(done)
        self.open_report.setVisible(done)
        self.start.setVisible(not busy and bool(queue.waiting))
        self.more.setVisible(busy)
        self.end.setVisible(busy and bool(queue.waiting))
        if running is None:
            self._left = ""
        called = names(shown)
        for run in shown:
            self._tell_chip(run, called[run.number])
        self.list.show_queue(queue, self._left, paused=self._paused)
        self._tell_total(0.0)
        self._fit()

    def tick(self, elapsed: float, left: float | None, *, paused: bool) -> None:
        """Say how long the run under way takes still.

        Parameters
        ----------
        elapsed : float
            Its seconds.
        left : float, optional
            What is left of its time limit; ``None`` where that is not known.
        """
        running = self._queue.running
        if running is None:
            return
        text = "" if left is None else f"{ticking(ceil(left))} left" if left else "finishing"
        if (text, paused) != (self._left, self._paused):
            self._left, self._paused = text, paused
            shown = [run for run in self._queue.runs if run.stands != "dropped"]
            self._tell_chip(running, names(shown)[running.number])
            if not self.list.isHidden():
                said = standing(running, text, paused=paused)
                self.list.tell_left(self._queue.runs.index(running), said)
            self._fit()
        self._tell_total(elapsed)

    def _fit(self) -> None:
        running = self._queue.running
        over = [run.number for run in self._queue.runs if run.stands in OVER]
        at = running.number if running is not None else max(over, default=0)
        self.chips.fit(at)

    def _tell_chip(self, run: QueuedRun, name: str) -> None:
        button = self.chips.buttons[run.number]
        is_paused = run.stands == "running" and self._paused
        said = standing(run, self._left if run.stands == "running" else "", paused=self._paused)
        left = f" {self._left}" if run.stands == "running" and self._left else ""
        text = f"{_PAUSED if is_paused else SIGNS[run.stands]} {name}{left}"
        if button.text() != text:
            button.setText(text.replace("&", "&&"))
            button.setToolTip(f"{METHODS[run.spec.method].title}: {said}")
            button.setAccessibleName(f"{name}: {said}")

    def _tell_total(self, elapsed: float) -> None:
        left = seconds_left(self._queue, elapsed) if self._queue.waiting else None
        text = "" if left is None else f"all in {ticking(ceil(left))} at most"
        if self.total.text() != text:
            self.total.setText(text)
        self.total.setVisible(bool(text) and self.width() >= _WIDE)

    def _turn(self) -> None:
        self.list.setVisible(self.list.isHidden())
        self._point()
        self.show_queue(self._queue, opening=self._opening)

    def _point(self) -> None:
        opened = not self.list.isHidden()
        self.fold.setArrowType(Qt.ArrowType.DownArrow if opened else Qt.ArrowType.RightArrow)
        self.fold.setAccessibleDescription("opened" if opened else "closed")
