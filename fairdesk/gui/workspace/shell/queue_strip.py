"""The queue of runs: in one line with a button for each run, and as a list that is reordered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from math import ceil
from time import monotonic

from PySide6.QtCore import QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from fairdesk.app.run_queue import OVER, QueuedRun, RunQueue, Stands
from fairdesk.audit.catalogue.method import QuestionKind, stage
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.cluster.messages import AtWork
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.keys import keyed, shortcut
from fairdesk.gui.kit.tables import TextTable
from fairdesk.wording import words


class RunClock:
    """Counts seconds, pauses left out.

    Parameters
    ----------
    now : callable
        Returns seconds of a clock that never goes back.
    """

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self.now = now
        self._counted = 0.0
        self._since: float | None = None
        self._begun = False

    @property
    def begun(self) -> bool:
        """Whether it was started, and not ended since."""
        return self._begun

    @property
    def elapsed(self) -> float:
        """Seconds since it was started."""
        return self._counted + (0.0 if self._since is None else self.now() - self._since)

    def start(self, elapsed: float = 0.0) -> None:
        """Count from now on; so many seconds have gone already."""
        self._counted, self._since, self._begun = elapsed, self.now(), True

    def hold(self, *, held: bool) -> None:
        """Leave out the time from now on, or count it again."""
        if held and self._since is not None:
            self._counted, self._since = self.elapsed, None
        elif not held and self._begun and self._since is None:
            self._since = self.now()

    def end(self) -> None:
        """Count no more."""
        self.hold(held=True)
        self._begun = False


def ticking(seconds: float) -> str:
    """Write a time that goes on, in whole seconds: ``0 s``, ``41 s``, ``3 min 5 s``."""
    whole = int(seconds)
    return f"{whole}{words.NBSP}s" if whole < 60 else words.duration(whole)


#: What a run is called, by what it answers.
_NAMES = {
    QuestionKind.EXAMPLES: "Pairs",
    QuestionKind.SHARE: "Estimate",
    QuestionKind.PROOF: "Certification",
    QuestionKind.DIAGNOSIS: "Diagnostic",
    QuestionKind.GROUPS: "Subgroups",
    QuestionKind.RATES: "Group metrics",
    QuestionKind.REPAIR: "Mitigation",
}
#: The sign of each way in which a run of the queue stands.
SIGNS: dict[Stands, str] = {
    "waiting": "·",
    "running": "▶",
    "done": "✓",
    "stopped": "■",
    "failed": "!",
    "dropped": "–",
}
_STANDS: dict[Stands, str] = {
    "waiting": "waiting",
    "running": "running",
    "done": "done",
    "stopped": "stopped",
    "failed": "failed",
    "dropped": "not started",
}


def names(runs: Sequence[QueuedRun]) -> dict[int, str]:
    """Return a short name for each run, by its number: its method's, where it tells more."""
    kinds = Counter(run.kind for run in runs)
    methods = {kind: {run.spec.method for run in runs if run.kind is kind} for kind in kinds}
    return {
        run.number: _short(METHODS[run.spec.method].title)
        if len(methods[run.kind]) > 1
        else _NAMES[run.kind]
        for run in runs
    }


def _short(title: str) -> str:
    """Return the abbreviation that a method's title ends with, else its title."""
    last = title.rpartition("(")[2].removesuffix(")")
    return last if title.endswith(")") and last.isalpha() and not last.islower() else title


def standing(run: QueuedRun, left: str = "", *, paused: bool = False) -> str:
    """Say how a run stands; ``left`` is what is left of its time while it runs."""
    if run.stands == "running":
        return ", ".join(filter(None, ("paused" if paused else "running", left)))
    return ": ".join(filter(None, (_STANDS[run.stands], run.why)))


def seconds_left(queue: RunQueue, elapsed: float) -> float | None:
    """Return how long the queue takes at most; ``None`` where that is not known.

    Parameters
    ----------
    elapsed : float
        Seconds of the run that is under way.
    """
    left, batches = 0.0, set()
    running = queue.running
    for run in ((running,) if running else ()) + queue.waiting:
        seconds = run.spec.budget.seconds
        if run.batch.seconds is not None:
            if run.batch in batches:
                continue
            batches.add(run.batch)
            seconds = run.batch.seconds
        if seconds is None:
            return None
        left += max(seconds - (elapsed if run is running else 0.0), 0.0)
    return left


def waiting_text(runs: Sequence[QueuedRun]) -> str:
    """List the runs that wait, in a clause: ``Certification and Mitigation``."""
    called = names(runs)
    return words.joined([called[run.number] for run in runs])


_HEADS = ("Worker", "Part of the run", "Doing", "Queries per second")
_NUMBERS = (1, 3)
#: So many rows are shown without scrolling.
_ROWS = 4


_NUMBER = Qt.ItemDataRole.UserRole
#: So many lines are shown without scrolling.
_LINES = 5


class WorkersTable(TextTable):
    """What each worker of a cluster said last; hidden without any."""

    def __init__(self) -> None:
        super().__init__("Workers of the cluster", _HEADS, _NUMBERS, most=_ROWS)
        self.hide()

    def show_workers(self, doing: tuple[AtWork, ...]) -> None:
        """Show what each said last; those of before are forgotten."""
        self.setVisible(bool(doing))
        speeds = (words.number(round(each.speed)) if each.speed else "" for each in doing)
        self.show_rows(
            [
                (each.worker, words.number(each.part), stage(each.phase), speed)
                for each, speed in zip(doing, speeds, strict=True)
            ]
        )


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
            press = partial(self._press, run.number)
            button = parts.tool_button("", press, raised=True)
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            self._row.addWidget(button)
            self.buttons[run.number] = button
        self._row.addWidget(self._more)
        self._row.addStretch(1)
        parts.in_order(*self.buttons.values())
        if had in self.buttons:
            self.buttons[had].setFocus()

    def _press(self, number: int, _on: bool = False) -> None:  # noqa: FBT001,FBT002 - Qt's
        self.chosen.emit(number)

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
    add, stop_all, go_on, report
        The auditor pressed that button.
    """

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
        tip = "Show all runs of the queue, to reorder, drop or stop them"
        self.fold = parts.tool_button("&Queue", self._turn, tip=tip, raised=True)
        self.fold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.chips = _Chips()
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
        self.chips.chosen.connect(self.list.opened)
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
