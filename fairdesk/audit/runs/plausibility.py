"""Found pairs compared with the rows of the data: which are plausible, and what share is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Literal

import msgspec
import numpy as np

from fairdesk.audit.sandbox.process import COMPARING_GUEST
from fairdesk.audit.store.records import SHOWN, SHOWN_FIRST, PairQuery, RunState
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.errors import FairDeskError
from fairdesk.individual.realism.pair_plausibility import Reference
from fairdesk.population.similarity import Similarity
from fairdesk.results.events import Rows

#: Findings that are compared at once: there is no word from the worker in between.
BATCH = 20_000
#: Nobody is farther from a real person: everybody who was compared is within it.
FARTHEST = 1.0
#: Of fewer rows it says little how alike they are to the data.
LEAST_CHANGING = 30
#: How often it is looked at how far the findings are compared.
_LOOK_SECONDS = 0.05


def progress_of(store: Store) -> tuple[int, int]:
    """Return how many findings were weighed, and how many there are."""
    return store.count(PairQuery(within=FARTHEST)), store.count(PairQuery())


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
    done, total = progress_of(store)
    watch(done, total)
    while len(people) and (some := _weigh_some(worker, store, people)):
        done += some
        watch(done, max(done, total))


def _weigh_some(worker: Worker, store: Store, people: Rows) -> int:
    """Compare the next batch of findings; return how many they were."""
    pair_ids, rows, partners = store.unweighed(BATCH)
    if len(pair_ids):
        weighed = worker.score_plausibility(store.spec.domain, people, rows, partners)
        store.score_plausibility(pair_ids, weighed)
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
                    nothing = people[:0]
                    self._worker.score_plausibility(store.spec.domain, people, nothing, nothing)
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


class PlausibleShare(msgspec.Struct, frozen=True):
    """How many of the pairs found are plausible, and what that is held against.

    Attributes
    ----------
    plausible, compared : int
        Pairs of which both are plausible; of all that were compared with the data.
    plausible_shown, shown : int
        The same of the first `SHOWN_FIRST` in the order in which they are shown.
    atn : float
        How alike the instances shown first are to the data as a set, 0 to 1
        (`fairdesk.population.similarity`).
    atn_rows : float
        The same of as many rows of the data, drawn at random.
    changing : int
        Instances found that are rows of the data: individuals whose decision changes; up to
        `SHOWN_FIRST`.
    atn_changing : float, optional
        The same of these. A search for such individuals can hardly reach more; ``None`` where they
        are fewer than `LEAST_CHANGING`.
    reference : Reference
        The share of data rows held out, and of instances drawn uniformly, that are plausible.
    """

    plausible: int
    compared: int
    plausible_shown: int
    shown: int
    atn: float
    atn_rows: float
    changing: int
    atn_changing: float | None
    reference: Reference


def plausible_counts(store: Store, run: int | None = None) -> tuple[int, int]:
    """Count the plausible pairs of a run, or of all, and those that were compared at all."""
    query = msgspec.structs.replace(SHOWN, run=run, within=FARTHEST)
    return store.count(msgspec.structs.replace(query, plausible=True)), store.count(query)


def plausible_share(store: Store, people: Rows, run: int | None = None) -> PlausibleShare | None:
    """Count the plausible pairs of a run, or of all; ``None`` where none was compared.

    Parameters
    ----------
    people : Rows
        ``(m, d)``; the rows of the data.
    run : int, optional
        Of one run only.
    """
    query = msgspec.structs.replace(SHOWN, run=run, within=FARTHEST)
    (plausible, compared), reference = plausible_counts(store, run), store.reference()
    if not compared or reference is None:
        return None
    first = store.pairs(query, 0, SHOWN_FIRST)
    changing = store.pairs(msgspec.structs.replace(query, within=0.0), 0, SHOWN_FIRST)
    drawn = np.random.default_rng(0).permutation(len(people))[: len(first)]
    atn = Similarity(store.spec.domain, people).atn
    return PlausibleShare(
        plausible,
        compared,
        sum(pair.plausible or 0 for pair in first),
        len(first),
        atn(np.stack([pair.row for pair in first])),
        atn(people[drawn]),
        len(changing),
        atn(np.stack([pair.row for pair in changing])) if len(changing) >= LEAST_CHANGING else None,
        reference,
    )
