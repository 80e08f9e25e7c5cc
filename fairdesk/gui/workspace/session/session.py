"""What the pages of one audit share: its question, its runs, the file behind a thread, undo."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.pair import Pair
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.gui.charts.drawn import DrawnChart
from fairdesk.gui.kit.threads import Ahead, StoreThread
from fairdesk.gui.workspace.session.run_driver import RunDriver
from fairdesk.gui.workspace.session.study import Study
from fairdesk.gui.workspace.session.weighing import Weighing
from fairdesk.wording import words
from fairdesk.wording.decisions import class_texts

T = TypeVar("T")

#: The sign of each mark, and what it is called.
MARKS = {"": ("", "no review status"), "flagged": ("⚑", "flagged"), "dismissed": ("✕", "dismissed")}
#: Milliseconds between two looks into the file while a run writes to it.
_LOOK = 1_000


class Wishes(QObject):
    """What pages ask for: runs, as `RunRequests` makes them, and what is to be shown."""

    estimate = Signal()
    prove = Signal()
    prove_more = Signal(int, float)
    find_groups = Signal()
    find_groups_again = Signal(int, float)
    compare_words = Signal()
    compare_methods = Signal()
    run_method = Signal(str)
    run_again = Signal()
    repeat = Signal(int)
    continue_run = Signal(int)
    mitigate = Signal(object)
    show_page = Signal(str)
    show_run = Signal(int)
    show_part = Signal(object)
    show_pair = Signal(int)
    compare_with = Signal(int)
    show_in_report = Signal(object)


class Session(QObject):
    """One open audit.

    Signals
    -------
    runs_changed
        The list of runs, or the state of one that is over, is another.
    live_changed : RunState
        The run that is under way has gone on.
    pairs_changed
        There may be more pairs than before.
    pair_changed : Pair
        A pair's mark or note is another.
    log_changed
        The log has more entries.
    said : str
        Something to tell for some seconds.
    failed : FairDeskError
        Something went wrong that no page tells of itself.
    """

    runs_changed = Signal()
    live_changed = Signal(object)
    pairs_changed = Signal()
    pair_changed = Signal(object)
    log_changed = Signal()
    said = Signal(str)
    failed = Signal(object)

    def __init__(self, store: Store, parent: QObject) -> None:
        super().__init__(parent)
        self.spec = store.spec
        self.path = store.path
        self.store = StoreThread(store.path, self)
        self.store.failed.connect(self.failed)
        self.wishes = Wishes(self)
        self.undo = QUndoStack(self)
        self.ahead = Ahead(self)
        self.runs: tuple[RunRecord, ...] = ()
        self.decisions: tuple[str, ...] = ()
        self.driver = RunDriver(self)
        self.driver.changed.connect(self._go_on)
        self.driver.ended.connect(self._end)
        self.weighing = Weighing(store.path, self)
        self.weighing.changed.connect(self._follow_weighing)
        self.study = Study(store.spec, self.store, self)
        self.study.learned.connect(lambda _pair: self.log_changed.emit())
        self._look = QTimer(self, interval=_LOOK)
        self._look.timeout.connect(self.pairs_changed)
        self._live_spec: RunSpec | None = None

    @property
    def live(self) -> RunState | None:
        """The state of the run that is under way, if one is."""
        return self.driver.state if self.driver.busy else None

    @property
    def live_spec(self) -> RunSpec | None:
        """What the run that is under way was asked."""
        return self._live_spec if self.driver.busy else None

    @property
    def many(self) -> str:
        """The auditor's word for people: ``applicants``."""
        return words.plural(self.spec.person)

    @property
    def loaded(self) -> bool:
        """Whether the file was read: its runs, and what its decisions are called."""
        return bool(self.decisions)

    @property
    def unsettled(self) -> str:
        """What has to end before results no longer change by themselves; empty when nothing has."""
        if self.driver.busy:
            return "the run in progress has ended"
        if self.weighing.under_way:
            return f"all pairs are compared with the {self.many} in the data"
        return ""

    def hear(self, *charts: DrawnChart[Any]) -> None:
        """Tell that charts were copied or saved, or could not be."""
        for chart in charts:
            chart.said.connect(self.said)
            chart.failed.connect(self.failed)

    def record(self, number: int) -> RunRecord | None:
        """Return a run by its number; ``None`` where it is not in the file yet."""
        return next((run for run in self.runs if run.id == number), None)

    def load(self) -> None:
        """Read the runs from the file."""
        spec, decisions = self.spec, self.decisions
        self.store.ask(
            lambda store: (decisions or class_texts(spec, store.table()), tuple(store.runs())),
            self._take_file,
            key="runs",
        )

    def start(self, worker: Worker, run: RunSpec) -> None:
        """Begin a run; the worker has the model open."""
        self.weighing.stop()
        self.study.lend(worker)
        self._live_spec = run
        self.driver.start(worker, self.path, run)
        self._look.start()

    def write_mark(self, pair: Pair, mark: str) -> None:
        """Mark a pair, so that it can be undone."""
        put = partial(self._put, Store.mark, pair.id)
        self.change(f"pair {pair.id}: {MARKS[mark][1]}", put, pair.mark, mark)

    def write_note(self, pair: Pair, note: str) -> None:
        """Note something on a pair, so that it can be undone."""
        put = partial(self._put, Store.note, pair.id)
        self.change(f"pair {pair.id}: note", put, pair.note, note)

    def change(self, what: str, put: Callable[[T], object], before: T, after: T) -> None:
        """Put a value in the place of another, so that it can be undone."""
        if after != before:
            self.undo.push(_Change(what, partial(put, before), partial(put, after)))

    def _put(self, write: Callable[[Store, int, str], None], pair_id: int, text: str) -> None:
        """Write a mark or a note, which the log tells."""

        def put(store: Store) -> Pair:
            write(store, pair_id, text)
            return store.pair(pair_id)

        self.store.ask(put, self._take_pair)

    def close(self) -> None:
        """Stop what runs, write what waits, and let the file go."""
        self._look.stop()
        self.ahead.stop()
        self.driver.stop_and_wait()
        self.study.close()
        self.weighing.close()
        self.store.close()

    def _take_file(self, answer: tuple[tuple[str, ...], tuple[RunRecord, ...]]) -> None:
        self.decisions, self.runs = answer
        self.runs_changed.emit()
        self.log_changed.emit()
        if self.runs and not self.driver.busy:
            self.weighing.begin()

    def _follow_weighing(self) -> None:
        if not self.weighing.under_way:
            self.log_changed.emit()

    def _take_pair(self, pair: Pair) -> None:
        self.pair_changed.emit(pair)
        self.log_changed.emit()

    def _go_on(self, state: RunState) -> None:
        if self.driver.busy:
            self.live_changed.emit(state)

    def _end(self, _state: RunState) -> None:
        self._look.stop()
        self._live_spec = None
        self.load()
        self.pairs_changed.emit()


class _Change(QUndoCommand):
    """A change of the audit file, and the way back."""

    def __init__(self, what: str, back: Callable[[], object], forth: Callable[[], object]) -> None:
        super().__init__(what)
        self._back, self._forth = back, forth

    def redo(self) -> None:
        """Make it."""
        self._forth()

    def undo(self) -> None:
        """Write what was there before."""
        self._back()
