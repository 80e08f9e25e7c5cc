"""Findings compared with real people while the auditor reads: quietly, and only between runs."""

from __future__ import annotations

import threading
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from fairdesk.audit.runs.plausibility import progress_of, score_findings
from fairdesk.audit.sandbox.process import COMPARING_GUEST
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.errors import FairDeskError, WorkerError
from fairdesk.gui.kit.threads import in_background
from fairdesk.report.content.status import any_final

#: Milliseconds between two looks at how far it is.
_PERIOD = 250
#: Seconds for which the window's end waits for the file to be let go.
_PATIENCE = 10.0


class Weighing(QObject):
    """Compares the findings that were not compared yet, in a process of its own.

    Signals
    -------
    changed
        It has begun, gone on, or is over.
    failed : FairDeskError
        Why it could not go on; what was compared is kept.
    """

    changed = Signal()
    failed = Signal(object)

    def __init__(self, path: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._path = path
        self._work: _Work | None = None
        self._again = self._asked = False
        self._timer = QTimer(self, interval=_PERIOD)
        self._timer.timeout.connect(self._look)
        self.done, self.total = 0, 0
        """How many findings were compared, and how many there are, as last told."""
        self.unwanted = False
        """Whether the auditor has stopped it; it begins by itself no more."""
        self.held = False
        """Whether it has not begun by itself: what it learns would make a final report a draft."""

    @property
    def under_way(self) -> bool:
        """Whether it compares, or looks for what there is to compare."""
        return self._work is not None

    @property
    def rests(self) -> bool:
        """Whether findings are left that are compared only when the auditor wants so."""
        return (self.unwanted or self.held) and self.done < self.total

    @property
    def busy(self) -> bool:
        """Whether it is under way and has something to compare."""
        return self._work is not None and self.total > self.done

    def begin(self, *, asked: bool = False) -> None:
        """Compare what is not compared yet; nothing when it does, or is unwanted.

        Parameters
        ----------
        asked : bool
            Whether the auditor asked for it. By itself it begins only while no report is final.
        """
        if self.unwanted:
            return
        if self._work is not None:
            self._again, self._asked = True, asked
            return
        work = self._work = _Work(self._path, asked=asked)
        self._timer.start()
        in_background(self, work.run, lambda _none: self._end(work), self._fail)
        self.changed.emit()

    def stop(self) -> None:
        """End it for now; what was compared is kept."""
        self._again = False
        if self._work is not None:
            self._work.stop()

    def stop_for_good(self) -> None:
        """End it because the auditor wants so."""
        self.unwanted = True
        self.stop()
        self.changed.emit()

    def go_on(self) -> None:
        """Begin again after that."""
        self.unwanted = False
        self.begin(asked=True)
        self.changed.emit()

    def close(self) -> None:
        """End it, and wait until it has let the file go."""
        work = self._work
        self._timer.stop()
        if work is not None:
            work.stop()
            work.over.wait(_PATIENCE)

    def _look(self) -> None:
        """Take over how far it is."""
        if self._work is not None and self._work.counts != (self.done, self.total):
            self.done, self.total = self._work.counts
            self.changed.emit()

    def _end(self, work: _Work) -> None:
        self._timer.stop()
        self.done, self.total = work.counts
        self.held = work.held
        self._work = None
        self.changed.emit()
        if self._again:
            self._again = False
            self.begin(asked=self._asked)

    def _fail(self, error: FairDeskError) -> None:
        assert self._work is not None, "only what was begun fails"  # noqa: S101 - mypy
        self.unwanted = True
        self._end(self._work)
        self.failed.emit(error)


class _Work:
    """One go, in a thread: a worker is started only when there is something to compare."""

    def __init__(self, path: Path, *, asked: bool) -> None:
        self.counts = (0, 0)
        self.held = False
        self._asked = asked
        self.over = threading.Event()
        self._path = path
        self._lock = threading.Lock()
        self._stopped = False
        self._worker: Worker | None = None

    def stop(self) -> None:
        """End it, from any thread."""
        with self._lock:
            self._stopped = True
            if self._worker is not None:
                self._worker.close()

    def run(self) -> None:
        try:
            with Store.open(self._path) as store:
                if not len(store.unweighed(1)[0]):
                    return
                if not self._asked and any_final(store):
                    self.held, self.counts = True, progress_of(store)
                    return
                people = store.spec.domain.people(store.table())
                if len(people) and (worker := self._start()) is not None:
                    score_findings(worker, store, people, self._watch)
        except FairDeskError:
            if not self._stopped:
                raise
        finally:
            self.stop()
            self.over.set()

    def _start(self) -> Worker | None:
        with self._lock:
            self._worker = None if self._stopped else Worker(command=COMPARING_GUEST)
            return self._worker

    def _watch(self, done: int, total: int) -> None:
        if self._stopped:
            raise WorkerError("The comparison was stopped.")
        self.counts = (done, total)
