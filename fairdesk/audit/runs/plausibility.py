"""Findings compared with the real people of the data: how plausible are those invented."""

from __future__ import annotations

from collections.abc import Callable

from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.results.events import Rows

#: Findings that are compared at once: there is no word from the worker in between.
BATCH = 20_000
#: Nobody is farther from a real person: everybody who was compared is within it.
FARTHEST = 1.0


def weigh_findings(
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
    domain = store.spec.domain
    done, total = store.count(PairQuery(within=FARTHEST)), store.count(PairQuery())
    watch(done, total)
    while len(people):
        pair_ids, rows = store.unweighed(BATCH)
        if not len(pair_ids):
            break
        store.weigh(pair_ids, worker.weigh(domain, people, rows))
        done += len(pair_ids)
        watch(done, max(done, total))


def is_weighed(store: Store, run: int | None) -> bool:
    """Return whether a run has findings, and all of them were compared with real people."""
    found = store.count(PairQuery(run=run))
    return 0 < found == store.count(PairQuery(run=run, within=FARTHEST))
