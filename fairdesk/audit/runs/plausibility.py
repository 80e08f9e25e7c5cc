"""Found pairs compared with the rows of the data: which are plausible, and what share is."""

from __future__ import annotations

import logging
from collections.abc import Callable

import msgspec
import numpy as np

from fairdesk.audit.store.records import SHOWN, SHOWN_FIRST, PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.errors import FairDeskError
from fairdesk.individual.realism.pair_plausibility import Reference
from fairdesk.population.similarity import Similarity
from fairdesk.results.events import Rows

log = logging.getLogger(__name__)

#: Findings that are compared at once: there is no word from the worker in between.
BATCH = 20_000
#: So many findings of a run are compared as soon as it ends, the others while they are looked at.
FIRST = 10_000
#: Nobody is farther from a real person: everybody who was compared is within it.
FARTHEST = 1.0
#: Of fewer rows it says little how alike they are to the data.
LEAST_CHANGING = 30


def progress_of(store: Store, run: int | None = None) -> tuple[int, int]:
    """Return how many findings, of a run or of all, were weighed, and how many there are."""
    return store.count(PairQuery(run=run, within=FARTHEST)), store.count(PairQuery(run=run))


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
    _score(worker, store, people, None, None, watch)


def weigh_run(
    worker: Worker,
    store: Store,
    run: int,
    people: Rows,
    watch: Callable[[int, int], None],
    *,
    every: bool,
) -> str:
    """Keep of the first findings of a run, or of every one, how plausible they are.

    Like `score_findings`, but what goes wrong is no error.

    Returns
    -------
    str
        Why others were not compared, a sentence or more; empty where all were.
    """
    most = None if every else FIRST
    try:
        weighed = _score(worker, store, people, run, most, watch)
    except FairDeskError as error:
        log.warning("findings were not weighed: %s", error)
        return f"Not all findings were compared with the data rows: {error}"
    if weighed != most or weighed == store.count(PairQuery(run=run)):
        return ""
    return (
        f"Of each run’s pairs the first {FIRST:,} were compared with the data rows; the window "
        "compares the others when it opens the audit, and --all-pairs does at once."
    )


def _score(
    worker: Worker,
    store: Store,
    people: Rows,
    run: int | None,
    most: int | None,
    watch: Callable[[int, int], None],
) -> int:
    """Weigh findings batch by batch; return how many are weighed."""
    done, total = progress_of(store, run)
    total = total if most is None else min(total, most)
    watch(done, total)
    while len(people) and (size := BATCH if most is None else min(BATCH, most - done)) > 0:
        pair_ids, rows, partners = store.unweighed(size, run)
        if not len(pair_ids):
            break
        weighed = worker.score_plausibility(store.spec.domain, people, rows, partners)
        store.score_plausibility(pair_ids, weighed)
        done += len(pair_ids)
        watch(done, max(done, total))
    return done


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
