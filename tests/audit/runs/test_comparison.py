"""Runs held against each other: who was found by which, counted by definition."""

import numpy as np
import pytest

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.runs.comparison import compare
from fairdesk.errors import WorkerError


@pytest.fixture
def runs(store, findings):
    """Three runs: the third found the first's and more; the second partly the first's."""
    everybody = findings(90)
    made = []
    for part in (slice(0, 40), slice(30, 60), slice(0, 90)):
        run = store.begin_run(RunSpec("maft"))
        arrays = ("rows", "partners", "row_scores", "partner_scores", "sufficient_alone")
        cut = {name: getattr(everybody, name)[part] for name in arrays}
        store.add(run, type(everybody)(**cut, phase="local"))
        made.append(run)
    return made, everybody.rows


def test_overlaps_are_those_of_sets(store, runs):
    made, rows = runs
    others = store.spec.domain.others
    people = [row.tobytes() for row in rows[:, others]]
    sets = [set(people[0:40]), set(people[30:60]), set(people)]
    compared = compare(store, made)
    assert compared.union == len(set(people))
    for overlap in compared.overlaps:
        inside = [sets[made.index(run)] for run in overlap.runs]
        outside = [each for run, each in zip(made, sets, strict=True) if run not in overlap.runs]
        assert overlap.n_samples == len(set.intersection(*inside) - set().union(*outside)) > 0
    assert sum(each.n_samples for each in compared.overlaps) == compared.union
    counts = [each.n_samples for each in compared.overlaps]
    assert counts == sorted(counts, reverse=True)
    assert compared.sufficient_alone(made[0]) == 0
    assert compared.sufficient_alone(made[2]) == len(sets[2] - sets[0] - sets[1])


def test_each_finding_is_in_one_group_of_the_data(store, runs):
    made, _ = runs
    compared = compare(store, made)
    assert [run.id for run in compared.runs] == made
    assert [sum(row) for row in compared.coverage] == [run.found for run in compared.runs]
    assert sum(compared.sizes) == len(store.spec.domain.people(store.table()))


def test_runs_that_found_nobody(store):
    made = [store.begin_run(RunSpec("maft")) for _ in range(2)]
    compared = compare(store, made)
    assert (compared.union, compared.overlaps) == (0, ())
    assert not np.any(compared.coverage)


def test_it_tells_how_far_it_is_and_can_be_ended(store, runs):
    made, _ = runs
    told = []
    compare(store, made, told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0

    def enough(share):
        raise WorkerError("Enough.")

    with pytest.raises(WorkerError):
        compare(store, made, enough)
