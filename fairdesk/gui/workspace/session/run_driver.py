"""A run, seen from the window: driven in a thread, told a few times a second."""

from __future__ import annotations

import gc
import logging
import sys
import threading
from pathlib import Path
from time import monotonic

import msgspec
import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QTimer, Signal

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.runs.run import run as run_audit
from fairdesk.audit.runs.store_beside import StoreBeside
from fairdesk.audit.store.records import RunState
from fairdesk.audit.worker.client import Worker
from fairdesk.cluster.messages import AtWork
from fairdesk.cluster.worker import ClusterWorker, in_parts
from fairdesk.errors import FairDeskError
from fairdesk.gui.kit.threads import unexpected

_log = logging.getLogger(__name__)
#: Milliseconds between two looks at how far the run is.
PERIOD = 100
#: So many looks pass before counts that have only grown are told again: all pages are painted anew.
GROWING = 3
#: Points of the run's curve beyond this are thinned out; a chart draws fewer still.
_MOST_POINTS = 4_000
#: Seconds for which a thread may hold the interpreter: Python's own, and while a run goes on.
_USUAL, _QUICK = 0.005, 0.0005
#: For so many seconds the window waits for a run when it closes.
_END_SECONDS = 10.0


def _make_way(*, for_window: bool) -> None:
    """Keep the window lively beside a thread that writes findings by the thousand, or end that.

    Each full round of the garbage collector walks through everything that was ever imported and
    holds the interpreter for 60 ms, several times a second while lists are made and dropped:
    what lives when a run begins is left out of it until the run ends. And every call into Qt
    hands the interpreter over and waits to get it back, so that it is handed over more often.
    """
    if for_window:
        gc.freeze()
        sys.setswitchinterval(_QUICK)
    else:
        gc.unfreeze()
        sys.setswitchinterval(_USUAL)


class RunDriver(QObject):
    """Drives one run at a time and tells the newest state, in the window's thread.

    The thread leaves its newest state where a timer of the window picks it up: whatever the run
    yields, the window hears of what is new at most every `PERIOD` milliseconds, of counts that
    have only grown at every third look (`GROWING`), and nothing of Qt is touched from the thread.

    Signals
    -------
    changed : RunState
        The newest state of the run, when it is another than before.
    ended : RunState
        The run is over; its last state, told by ``changed`` too.
    """

    changed = Signal(object)
    ended = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker: Worker | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._newest: RunState | None = None
        self._points: list[tuple[float, float, float, float]] = []
        self._told: RunState | None = None
        self._waited = 0
        self._stopping = False
        self._timer = QTimer(self, interval=PERIOD)
        self._timer.timeout.connect(self._look)

    @property
    def busy(self) -> bool:
        """Whether a run is under way."""
        return self._thread is not None

    @property
    def state(self) -> RunState | None:
        """The state last told."""
        return self._told

    def progress(self) -> NDArray[np.float64]:
        """Return the run so far: ``(m, 4)`` of elapsed seconds, tried, found, rows sent."""
        with self._lock:
            return np.array(self._points, dtype=float).reshape(-1, 4)

    def at_work(self) -> tuple[AtWork, ...]:
        """Return what the workers of a cluster are doing; nothing on this computer."""
        worker = self._worker
        return worker.at_work() if isinstance(worker, ClusterWorker) else ()

    def start(self, worker: Worker, path: Path, run: RunSpec) -> None:
        """Begin a run.

        Raises
        ------
        RuntimeError
            When a run is under way.
        """
        if self.busy:
            raise RuntimeError("a run is under way")
        self._worker, self._newest, self._told, self._points = worker, None, None, []
        self._waited = 0
        self._stopping = False
        self._thread = threading.Thread(
            target=self._work, args=(worker, path, run), name="fairdesk-run", daemon=True
        )
        _make_way(for_window=True)
        self._thread.start()
        self._timer.start()

    def pause(self) -> None:
        """Let the method wait after its present step."""
        if self._worker is not None:
            self._worker.pause()

    def resume(self) -> None:
        """Go on after a pause."""
        if self._worker is not None:
            self._worker.resume()

    def stop(self) -> None:
        """Ask the method to stop; what it found is kept, and ``ended`` tells when it has.

        A worker does not remember to stop what it has not begun, so it is asked until it has.
        """
        if self._worker is not None:
            self._stopping = True
            self._worker.stop()

    def stop_and_wait(self) -> None:
        """Stop, and wait a while until the audit file is complete; for the window's own end."""
        if self._thread is None:
            return
        until = monotonic() + _END_SECONDS
        while self._thread.is_alive() and monotonic() < until:
            self.stop()
            self._thread.join(PERIOD / 1000)
        self._look()

    def _work(self, worker: Worker, path: Path, run: RunSpec) -> None:
        try:
            with StoreBeside.open(path) as store:
                for state in run_audit(worker, store, in_parts(run, worker)):
                    self._leave(state)
        except FairDeskError as error:
            self._leave(self._failed(run, error))
        except Exception as error:  # noqa: BLE001 - the thread's boundary: logged, told plainly
            _log.error("A run failed", exc_info=error)
            self._leave(self._failed(run, unexpected(error)))

    def _leave(self, state: RunState) -> None:
        with self._lock:
            self._newest = state
            point = (state.elapsed, state.tried, state.found, state.queries)
            if not self._points or self._points[-1] != point:
                self._points.append(point)
            if len(self._points) > _MOST_POINTS:
                self._points = self._points[::2]

    def _failed(self, run: RunSpec, error: FairDeskError) -> RunState:
        """Say that the run ended with an error, with the counts it had reached."""
        if self._newest is not None:
            return msgspec.structs.replace(self._newest, state="failed", message=str(error))
        return RunState(id=0, method=run.method, state="failed", message=str(error))

    def _look(self) -> None:
        over = self._thread is not None and not self._thread.is_alive()
        if self._stopping and self._worker is not None:
            self._worker.stop()
        with self._lock:
            newest = self._newest
        self._waited += 1
        if newest is not None and newest is not self._told and (over or self._is_news(newest)):
            self._told, self._waited = newest, 0
            self.changed.emit(newest)
        if over:
            self._timer.stop()
            self._thread = self._worker = None
            _make_way(for_window=False)
            if newest is not None:
                self.ended.emit(newest)

    def _is_news(self, newest: RunState) -> bool:
        """Return whether a state differs in more than its counts, or these were not told lately."""
        told = self._told
        return (
            told is None
            or self._waited >= GROWING
            or (newest.state, newest.phase) != (told.state, told.phase)
            or not (told.found and newest.found)
        )
