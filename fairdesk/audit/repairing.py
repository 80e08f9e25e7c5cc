"""What a repair is given: which pairs, and which rule set."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.labels import own_labels
from fairdesk.audit.methods import method_named
from fairdesk.audit.records import PairQuery
from fairdesk.audit.spec import RunSpec
from fairdesk.audit.store import Store
from fairdesk.errors import SpecError
from fairdesk.events import Rows, RuleSet

#: More pairs than this no portion takes.
MOST_PAIRS = 200_000


def completed(run: RunSpec, store: Store) -> RunSpec:
    """Fill in what a repair of groups is about, where it is not said: the worst rule set found.

    Raises
    ------
    SpecError
        When no search for groups has found a rule set.
    """
    if run.method != "repair-testsgd" or run.rule:
        return run
    for record in reversed(store.runs()):
        sets = [each for each in record.figures if isinstance(each, RuleSet)]
        if sets:
            worst = sets[0]
            return msgspec.structs.replace(
                run,
                rule=worst.conditions,
                outcome=worst.outcome,
                text=record.spec.text,
                terms=record.spec.terms,
                edges=record.spec.edges,
            )
    raise SpecError(
        "There is no rule set to repair yet.",
        why="No search for groups in this audit has found one.",
        remedy="Run TestSGD first.",
    )


def check_repair(run: RunSpec, store: Store) -> None:
    """Refuse a repair that has nothing to work with.

    Raises
    ------
    SpecError
        When there are no pairs of those wanted, or a class of the model means no label.
    """
    meant = own_labels(store.spec, store.table())
    if not meant or None in meant:
        names = store.spec.model.classes
        unknown = [name for name, label in zip(names, meant, strict=False) if label is None]
        raise SpecError(
            "There is no label to give to added rows.",
            why=f"The model answers “{unknown[0]}”, which is no value of the label "
            f"“{store.spec.label}”."
            if unknown
            else "The model estimates a number, and which number would be right is not known.",
            remedy="A repair needs a model that decides between the values of the label column.",
        )
    if run.method == "repair-aequitas" and not _count(run, store):
        flagged = "flagged " if run.flagged else ""
        raise SpecError(
            f"There are no {flagged}discriminatory pairs to repair.",
            why="No search of this audit has found any."
            if not run.flagged
            else "No pair was flagged.",
            remedy="Run a search for examples first."
            if not run.flagged
            else "Flag some on the Examples page, or repair all pairs.",
        )


def pairs_to_repair(
    run: RunSpec, store: Store
) -> tuple[Rows, Rows, NDArray[np.int64], NDArray[np.int64]]:
    """Give the pairs to repair: people, partners, ``(m, d)`` each, and their numbers, ``(m,)``.

    Last comes how many of them are flagged, ``(1,)``.

    Flagged ones come first, dismissed ones never. Of more than `MOST_PAIRS` so many are taken,
    spread evenly in the order in which they were found. Who was found by two runs comes once.
    """
    d = len(store.spec.domain.attributes)
    if method_named(run.method).key != "repair-aequitas":
        nothing = np.empty(0, dtype=np.int64)
        return np.empty((0, d)), np.empty((0, d)), nothing, np.zeros(1, dtype=np.int64)
    kept: list[tuple[Rows, Rows, NDArray[np.int64]]] = []
    room, flagged = MOST_PAIRS, 0
    for mark in ("flagged",) if run.flagged else ("flagged", ""):
        for run_id in run.pairs_of or (None,):
            query = PairQuery(run=run_id, mark=mark)
            count = store.count(query)
            step = max(1, -(-count // max(room, 1)))
            rows, partners, numbers = store.found_pairs(query, step)
            kept.append((rows, partners, numbers))
            room = max(0, room - len(rows))
            flagged += len(rows) if mark else 0
    rows, partners, numbers = (np.concatenate(each) for each in zip(*kept, strict=True))
    others = store.spec.domain.others
    _, first = np.unique(rows[:, others], axis=0, return_index=True)
    first.sort()
    marked = np.array([(first < flagged).sum()])
    return rows[first], partners[first], numbers[first], marked


def _count(run: RunSpec, store: Store) -> int:
    marks = ("flagged",) if run.flagged else ("flagged", "")
    return sum(
        store.count(PairQuery(run=run_id, mark=mark))
        for mark in marks
        for run_id in run.pairs_of or (None,)
    )
