"""Findings compared with the real people of the data: how plausible are those invented."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Literal

from fairdesk.audit.store.records import PairQuery, RunState
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.child import COMPARING_GUEST
from fairdesk.audit.worker.client import Worker
from fairdesk.errors import FairDeskError
from fairdesk.results.events import Rows

#: Findings that are compared at once: there is no word from the worker in between.
BATCH = 20_000
#: Nobody is farther from a real person: everybody who was compared is within it.
FARTHEST = 1.0
#: How often it is looked at how far the findings are compared.
_LOOK_SECONDS = 0.05


def score_findings(
    worker: Worker, store: Store, people: Rows, watch: Callable[[int, int], None]
) -> None:
    """Keep of every finding that was not weighed yet how plausible it is.

    What was weighed is kept batch by batch: whoever ends this before its end, by an exception out
    of ``watch`` or by closing the worker, loses one batch at most, and may go on later.

    Parameters
    ----------
    worker : Worker
        Compares them; no model need be open in it.
    store : Store
        Holds the findings, and takes what comes out.
    people : Rows
        ``(m, d)``; the real people. Without any there is nothing to compare with, and nothing is
        weighed.
    watch : callable
        Told at the beginning and after each batch how many findings were weighed, those of
        earlier times among them, and how many there are.

    Raises
    ------
    WorkerError
        When the worker dies, or is stopped or closed meanwhile.
    StoreError
        When the audit file cannot be read or written.
    """
    done, total = store.count(PairQuery(within=FARTHEST)), store.count(PairQuery())
    watch(done, total)
    while len(people) and (some := _weigh_some(worker, store, people)):
        done += some
        watch(done, max(done, total))


def _weigh_some(worker: Worker, store: Store, people: Rows) -> int:
    """Compare the next batch of findings; return how many they were."""
    pair_ids, rows = store.unweighed(BATCH)
    if len(pair_ids):
        store.score_plausibility(
            pair_ids, worker.score_plausibility(store.spec.domain, people, rows)
        )
    return len(pair_ids)


class WeighingBeside:
    """Compares findings while the runs go on that make them.

    A process of its own, in which there is never a model, makes itself ready from the beginning.
    Each batch is compared as soon as it is full, so batches are the same as if all findings were
    compared in the end.

    Parameters
    ----------
    worker : Worker, optional
        Compares them; by default one is started. Closed by `close`.
    """

    def __init__(self, worker: Worker | None = None) -> None:
        self._worker = worker or Worker(command=COMPARING_GUEST)
        self._calls: SimpleQueue[Literal["batch", "rest"]] = SimpleQueue()
        self._found: dict[int, int] = {}
        self._called = 0
        self._counts = (0, 0)
        self._error: FairDeskError | None = None
        self._thread: threading.Thread | None = None

    def begin(self, path: Path, people: Rows) -> None:
        """Compare findings of an audit file from now on with ``(m, d)`` real people."""
        self._thread = threading.Thread(target=self._run, args=(path, people), daemon=True)
        self._thread.start()

    def take(self, state: RunState) -> None:
        """Take note of how many findings a run has by now."""
        self._found[state.id] = state.found
        while sum(self._found.values()) >= self._called + BATCH:
            self._called += BATCH
            self._calls.put("batch")

    def finish(self, watch: Callable[[int, int], None], stopped: Callable[[], bool]) -> None:
        """Wait until all findings are compared.

        Parameters
        ----------
        watch : callable
            Told now and then how many were compared, and how many there are.
        stopped : callable
            Tells whether to end it before.

        Raises
        ------
        WorkerError, StoreError
            As `score_findings`.
        """
        assert self._thread is not None, "it has begun"  # noqa: S101 - for mypy
        before = stopped()
        self._calls.put("rest")
        while self._thread.is_alive():
            watch(*self._counts)
            if stopped() and not before:
                self._worker.stop()
            self._thread.join(_LOOK_SECONDS)
        self._worker.close()
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """End it, and its process. May be repeated."""
        self._calls.put("rest")
        self._worker.close()
        if self._thread is not None:
            self._thread.join()

    def _run(self, path: Path, people: Rows) -> None:
        try:
            with Store.open(path) as store:
                # what does not depend on the findings is computed meanwhile
                if len(people):
                    self._worker.score_plausibility(store.spec.domain, people, people[:0])
                while self._calls.get() == "batch":
                    _weigh_some(self._worker, store, people)
                score_findings(self._worker, store, people, self._take)
        except FairDeskError as error:
            self._error = error

    def _take(self, done: int, total: int) -> None:
        self._counts = done, total


def is_weighed(store: Store, run: int | None) -> bool:
    """Return whether a run has findings, and all of them were compared with real people."""
    found = store.count(PairQuery(run=run))
    return 0 < found == store.count(PairQuery(run=run, within=FARTHEST))
