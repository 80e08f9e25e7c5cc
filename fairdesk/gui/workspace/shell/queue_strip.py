"""The queue of runs: in one line with a button for each run, and as a list that is reordered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import ceil
from time import monotonic

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QListWidget,
    QListWidgetItem,
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
_PAUSED = "‖"


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
    stands = "not started" if run.stands == "dropped" else run.stands
    return ": ".join(filter(None, (stands, run.why)))


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


class QueueList(QListWidget):
    """The runs: in one line, or as many lines, of which those that wait can be dragged.

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
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        for set_policy in (self.setHorizontalScrollBarPolicy, self.setVerticalScrollBarPolicy):
            set_policy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setTabKeyNavigation(False)
        # the list is made again: not while Qt still moves its lines
        self.model().rowsMoved.connect(
            lambda _from, first, _last, _to, to: QTimer.singleShot(
                0, self, lambda: self._take_drop(to - 1 if to > first else to)
            )
        )

    def fit(self, lines: int) -> None:
        """Be so many lines high; without any one line high, in which all runs stand."""
        flow, drag = QListView.Flow, QAbstractItemView.DragDropMode
        self.setFlow(flow.TopToBottom if lines else flow.LeftToRight)
        self.setDragDropMode(drag.InternalMove if lines else drag.NoDragDrop)
        scrolls = Qt.ScrollBarPolicy.ScrollBarAsNeeded
        self.setVerticalScrollBarPolicy(
            scrolls if lines > _LINES else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        apart = 0 if lines else theme.TIGHT
        self.setSpacing(apart)
        line = max(self.sizeHintForRow(0), self.fontMetrics().height())
        shown = min(max(lines, 1), _LINES)
        self.setFixedHeight(line * shown + 2 * (self.frameWidth() + apart + 1))

    def _take_drop(self, row: int) -> None:
        item = self.item(row)
        if item is not None:
            above = (self.item(each) for each in range(row))
            waiting = sum(bool(each.flags() & Qt.ItemFlag.ItemIsDragEnabled) for each in above)
            self.placed.emit(item.data(_NUMBER), waiting)


#: From this width on there is room for the time that all take.
_WIDE = 1000


class QueueStrip(QWidget):
    """The queue below the run: hidden while there is nothing in it.

    Attributes
    ----------
    workers : WorkersTable
        What the workers of a cluster are doing, while a run is spread over one.

    Signals
    -------
    add, stop_all, go_on, report
        The auditor pressed that button.
    placed : int, int
        A run is to have another place among those that wait.
    dropped, restored, stopped, opened : int
        What is to be done with a run.
    """

    add = Signal()
    stop_all = Signal()
    go_on = Signal()
    report = Signal()
    placed = Signal(int, int)
    dropped = Signal(int)
    restored = Signal(int)
    stopped = Signal(int)
    opened = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Queue")
        self._queue = RunQueue()
        self._is_open = self._opening = self._paused = False
        self._left = ""
        tip = "Show all runs of the queue, to reorder, drop or stop them"
        self.fold = parts.tool_button("&Queue", self._turn, tip=tip, raised=True)
        self.fold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.list, self.workers = QueueList(), WorkersTable()
        self.total = parts.Words(tone="quiet", size=0.85, wrap=False)
        self.ready = parts.Words("✓ All runs finished", strong=True, wrap=False)
        self.open_report = parts.push_button("Open the re&port", self.report)
        self.start = parts.push_button("S&tart the queue", self.go_on)
        self.more = parts.push_button("Add ru&n…", self.add, tip="Add a run to the queue (Ctrl+R)")
        self.end = parts.push_button(
            "Stop a&ll", self.stop_all, tip="Stop this run and drop those that wait"
        )
        self.up = parts.push_button("Move up", lambda: self._move(-1), tip="Alt+Up")
        self.down = parts.push_button("Move down", lambda: self._move(1), tip="Alt+Down")
        self.drop, self.restore, self.stop_one = (
            parts.push_button(text, lambda _on, signal=signal: signal.emit(self._number()), tip=tip)
            for text, signal, tip in (
                ("&Drop", self.dropped, "Delete"),
                ("Add a&gain", self.restored, ""),
                ("Stop t&his run", self.stopped, ""),
            )
        )
        buttons = self.up, self.down, self.drop, self.restore, self.stop_one
        row = layouts.row(*buttons, layouts.stretch(), spacing=theme.NEAR)
        self._edit = layouts.panel(row, self.workers, spacing=theme.NEAR)
        self._beside, self._below = layouts.column(), layouts.column()
        line = layouts.row(
            self.fold,
            layouts.grow(self._beside),
            *(self.total, self.ready, self.open_report, self.start, self.more, self.end),
            spacing=theme.NEAR,
        )
        layouts.column(line, self._below, self._edit, on=self, spacing=theme.NEAR)
        self._listen()
        self._point()

    def _listen(self) -> None:
        self.list.placed.connect(self.placed)
        self.list.itemSelectionChanged.connect(self._offer)
        self.list.itemActivated.connect(lambda _item: self.opened.emit(self._number()))
        self.list.itemClicked.connect(
            lambda _item: None if self._is_open else self.opened.emit(self._number())
        )
        for keys, button, text in (
            ("Alt+Up", self.up, "Move the run up in the queue"),
            ("Alt+Down", self.down, "Move the run down in the queue"),
            ("Delete", self.drop, "Drop the run from the queue"),
        ):
            shortcut(self.list, keys, button.click, text)
            keyed(button)

    def show_queue(self, queue: RunQueue, *, opening: bool = False) -> None:
        """Show the runs; the one that was chosen stays so.

        Parameters
        ----------
        opening : bool
            Whether the model is being opened for the first that waits.
        """
        self._queue, self._opening = queue, opening
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
        chosen = self._number()
        with QSignalBlocker(self.list):
            while self.list.count() > len(queue.runs):
                self.list.takeItem(self.list.count() - 1)
            while self.list.count() < len(queue.runs):
                self.list.addItem(QListWidgetItem())
            for row, run in enumerate(queue.runs):
                self._fill(row, run)
                if run.number == chosen:
                    self.list.setCurrentRow(row)
        self.list.fit(len(queue.runs) if self._is_open else 0)
        self._follow()
        self._offer()
        self._tell_total(0.0)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Keep the run under way in sight."""
        super().resizeEvent(event)
        self._follow()

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
            self._fill(self._queue.runs.index(running), running)
            self._follow()
        self._tell_total(elapsed)

    def _fill(self, row: int, run: QueuedRun) -> None:
        """Say how a run stands, shortly while all stand in one line."""
        item, running = self.list.item(row), run.stands == "running"
        left, paused = self._left if running else "", running and self._paused
        sign = _PAUSED if paused else SIGNS[run.stands]
        said = f"{METHODS[run.spec.method].title}: {standing(run, left, paused=paused)}"
        short = f"{names(self._queue.runs)[run.number]} {left}".rstrip()
        text = f"{sign}  {said}" if self._is_open else f"{sign} {short}"
        if item.text() != text:
            item.setText(text)
            item.setToolTip(said)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, said)
        item.setData(_NUMBER, run.number)
        item.setHidden(run.stands == "dropped" and not self._is_open)
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if run.stands == "waiting":
            flags |= Qt.ItemFlag.ItemIsDragEnabled
        item.setFlags(flags)

    def _follow(self) -> None:
        """Bring the run under way in sight, or the last that is over."""
        over = [run for run in self._queue.runs if run.stands in OVER]
        at = self._queue.running or (over[-1] if over else None)
        if at is not None and not self._is_open:
            self.list.scrollToItem(self.list.item(self._queue.runs.index(at)))

    def _number(self) -> int:
        item = self.list.currentItem()
        return 0 if item is None else int(item.data(_NUMBER))

    def _move(self, by: int) -> None:
        waiting, number = [run.number for run in self._queue.waiting], self._number()
        if number in waiting:
            self.placed.emit(number, waiting.index(number) + by)

    def _offer(self) -> None:
        """Offer what can be done with the run that is chosen."""
        run, waiting = self._queue.find(self._number()), self._queue.waiting
        stands = "" if run is None else run.stands
        self.up.setEnabled(run in waiting[1:])
        self.down.setEnabled(run in waiting[:-1])
        self.drop.setEnabled(stands == "waiting")
        self.restore.setVisible(stands == "dropped")
        self.stop_one.setEnabled(stands == "running")

    def _tell_total(self, elapsed: float) -> None:
        left = seconds_left(self._queue, elapsed) if self._queue.waiting else None
        text = "" if left is None else f"all in {ticking(ceil(left))} at most"
        if self.total.text() != text:
            self.total.setText(text)
        self.total.setVisible(bool(text) and self.width() >= _WIDE)

    def _turn(self) -> None:
        self._is_open = not self._is_open
        self._point()

    def _point(self) -> None:
        """Lay the list out in the line or below it."""
        (self._below if self._is_open else self._beside).addWidget(self.list)
        self._edit.setVisible(self._is_open)
        arrow = Qt.ArrowType.DownArrow if self._is_open else Qt.ArrowType.RightArrow
        self.fold.setArrowType(arrow)
        self.fold.setAccessibleDescription("opened" if self._is_open else "closed")
        self.show_queue(self._queue, opening=self._opening)
