"""What a repair is given: which pairs, and which rule set."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.inputs import MitigationInputs, group_inputs
from fairdesk.audit.plan.labels import own_labels, targets
from fairdesk.audit.plan.spec import AuditSpec, RunSpec
from fairdesk.audit.store.records import PairQuery, RunRecord
from fairdesk.audit.store.store import Store
from fairdesk.data.table import Table
from fairdesk.errors import SpecError
from fairdesk.results.events import Rows
from fairdesk.results.subgroups import RuleSet

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
    record, sets = _last_rule_sets(store)
    # a mean score and a share are no measure of each other
    alike = [each for each in sets if (each.outcome == "") is (sets[0].outcome == "")]
    return _about(run, record.spec, max(alike, key=lambda each: each.score))


def with_rule(run: RunSpec, store: Store, number: int) -> RunSpec:
    """Let a repair of groups be about a rule set by its number in the last search that found any.

    They are counted from 1 in the order in which they were told: by their scores, of one outcome
    after the other.

    Raises
    ------
    SpecError
        When there is none of that number, or none at all.
    """
    record, sets = _last_rule_sets(store)
    if not 1 <= number <= len(sets):
        raise SpecError(
            f"There is no subgroup {number:,}.",
            why=f"The last subgroup discovery (run {record.id}) found {len(sets):,}.",
            remedy=f"Give a number from 1 to {len(sets):,}.",
            setting="rule",
        )
    return _about(run, record.spec, sets[number - 1])


def check_repair(run: RunSpec, store: Store) -> None:
    """Refuse a repair that has nothing to work with.

    Raises
    ------
    SpecError
        When there are no pairs of those wanted, a class of the model means no label or the same
        as another, or no row that could be trained with has a label.
    """
    table = store.table()
    check_labels(store.spec, table)
    labelled = np.flatnonzero(targets(store.spec, table) >= 0)
    if not np.isin(store.spec.domain.places(table), labelled).any():
        raise SpecError(
            "There are no rows to train a model with.",
            why=f"No row in the input domain has a recorded outcome in “{store.spec.label}”.",
            remedy=(
                "Audit with data that have recorded outcomes, or allow more values in the input "
                "domain."
            ),
        )
    if run.method == "repair-aequitas":
        _check_pairs(run, store)


def _last_rule_sets(store: Store) -> tuple[RunRecord, tuple[RuleSet, ...]]:
    for record in reversed(store.runs()):
        if sets := tuple(each for each in record.figures if isinstance(each, RuleSet)):
            return record, sets
    raise SpecError(
        "There is no subgroup for a mitigation yet.",
        why="No subgroup discovery in this audit has found one.",
        remedy="Run “Subgroup discovery (TestSGD)” first.",
    )


def _about(run: RunSpec, search: RunSpec, worst: RuleSet) -> RunSpec:
    """Let a repair be about a rule set as a search came upon it."""
    return msgspec.structs.replace(
        run,
        rule=worst.conditions,
        outcome=worst.outcome,
        text=search.text,
        terms=search.terms,
        edges=search.edges,
    )


def check_labels(spec: AuditSpec, table: Table) -> None:
    """Refuse a repair of a model whose classes are no labels.

    Raises
    ------
    SpecError
        When a class of the model means no label or the same as another.
    """
    meant = own_labels(spec, table)
    remedy = "Mitigation needs a model that decides between the values of the label column."
    if not meant:
        raise SpecError(
            "Augmentation rows cannot be labelled.",
            why="The model estimates a number, and the correct number is not known.",
            remedy=remedy,
        )
    for place, label in enumerate(meant):
        name = spec.model.classes[place]
        if label is None:
            raise SpecError(
                "Augmentation rows cannot be labelled.",
                why=f"The model’s class “{name}” is not a value of the label “{spec.label}”.",
                remedy=remedy,
            )
        if label in meant[:place]:
            raise SpecError(
                f"Two classes of the model mean the label “{label}”.",
                why=f"“{spec.model.classes[meant.index(label)]}” and “{name}” mean it, so the "
                "class for training rows with that label is not known.",
                remedy=remedy,
            )


def _check_pairs(run: RunSpec, store: Store) -> None:
    searched = [record.id for record in store.runs() if record.found]
    for number in run.pairs_of:
        if number not in searched:
            there = ", ".join(map(str, searched))
            raise SpecError(
                f"There is no run {number} that found pairs.",
                remedy=f"Runs that found pairs: {there}."
                if there
                else "Run a search for discriminatory pairs first.",
                setting="pairs_of",
            )
    if any(store.count(query) for query in _queries(run)):
        return
    if run.flagged:
        raise SpecError(
            "There are no flagged discriminatory pairs for a mitigation.",
            remedy="Flag some pairs first, or use all pairs.",
            setting="flagged",
        )
    raise SpecError(
        "There are no discriminatory pairs for a mitigation.",
        why="All pairs found were dismissed." if searched else "No search has found a pair.",
        remedy="Run a search for discriminatory pairs first.",
    )


def mitigation_inputs(run: RunSpec, store: Store) -> MitigationInputs:
    """Return what a repair is given: all rows with their labels, and the pairs to repair.

    Flagged ones come first, dismissed ones never. Of more than `MOST_PAIRS` so many are taken,
    spread evenly in the order in which they were found. Who was found by two runs comes once.
    """
    table = store.table()
    given = group_inputs(store.spec, table)
    rows, partners, numbers, flagged = _pairs_to_repair(run, store)
    return MitigationInputs(
        rows=given.rows,
        groups=given.groups,
        inside=given.inside,
        label=given.label,
        target=targets(store.spec, table),
        pairs=rows,
        partners=partners,
        numbers=numbers,
        flagged=flagged,
    )


def _pairs_to_repair(run: RunSpec, store: Store) -> tuple[Rows, Rows, NDArray[np.int64], int]:
    """Return people and partners, ``(m, d)`` each, their numbers, and how many are flagged."""
    d = len(store.spec.domain.attributes)
    if run.method != "repair-aequitas":
        return np.empty((0, d)), np.empty((0, d)), np.empty(0, dtype=np.int64), 0
    kept: list[tuple[Rows, Rows, NDArray[np.int64]]] = []
    room, flagged = MOST_PAIRS, 0
    for query in _queries(run):
        step = max(1, -(-store.count(query) // max(room, 1)))
        rows, partners, numbers = store.found_pairs(query, step)
        kept.append((rows[:room], partners[:room], numbers[:room]))
        room -= len(kept[-1][0])
        flagged += len(kept[-1][0]) if query.mark else 0
    rows, partners, numbers = (np.concatenate(each) for each in zip(*kept, strict=True))
    first = _first_of_each(store.spec.domain.identity(rows))
    return rows[first], partners[first], numbers[first], int((first < flagged).sum())


def _queries(run: RunSpec) -> list[PairQuery]:
    """Return the pairs that a repair may take, in the order in which it takes them."""
    marks = ("flagged",) if run.flagged else ("flagged", "")
    return [
        PairQuery(run=run_id, mark=mark) for mark in marks for run_id in run.pairs_of or (None,)
    ]


def _first_of_each(rows: Rows) -> NDArray[np.intp]:
    """Return the places of rows that are equal to none before, ``(m,)``, rising."""
    # of equal rows the first stays the first
    order = np.lexsort(rows.T)
    ordered = rows[order]
    other = np.ones(len(rows), dtype=np.bool_)
    other[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return np.sort(order[other])
