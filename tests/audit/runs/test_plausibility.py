import os
from collections import Counter
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pytest

from fairdesk.audit.runs import plausibility as weighing
from fairdesk.audit.runs.plausibility import (
    is_weighed,
    plausible_share,
    score_findings,
    weigh_run,
)
from fairdesk.audit.sandbox.process import COMPARING_GUEST
from fairdesk.audit.store.records import SHOWN, PairQuery
from fairdesk.audit.worker import guest
from fairdesk.audit.worker.client import Worker
from fairdesk.errors import WorkerError
from fairdesk.individual.realism.pair_plausibility import Reference
from fairdesk.population.nearest import everywhere, gower
from fairdesk.population.similarity import atn
from tests.plausible import scored
from tests.report.building import people_store, run_into

pytestmark = pytest.mark.usefixtures("shared_guests")


class Scales:
    """Weighs in this process; ends after so many calls."""

    def __init__(self, last=None):
        self.sizes, self.last = [], last

    def score_plausibility(self, domain, people, rows, partners):
        if len(self.sizes) == self.last:
            raise WorkerError("The process was closed.")
        self.sizes.append(len(rows))
        distances = np.array([gower(domain, people, row) for row in rows]).reshape(-1, len(people))
        return scored(distances.min(axis=1), distances.argmin(axis=1), 1 - distances.min(axis=1))


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(weighing, "BATCH", 40)
    with people_store(tmp_path) as store:
        run_into(store, "uniform", options={"samples": 800})
        yield store


@pytest.fixture
def people(store):
    return store.spec.domain.people(store.table())


def test_everybody_is_weighed_batch_by_batch(store, people):
    scales, told = Scales(), []
    found = store.count(PairQuery())
    assert found > 80
    assert not is_weighed(store, 1)
    score_findings(scales, store, people, lambda *counts: told.append(counts))
    assert is_weighed(store, 1)
    assert is_weighed(store, None)
    assert not is_weighed(store, 2)
    assert sum(scales.sizes) == found
    assert max(scales.sizes) == 40
    assert told[0] == (0, found)
    assert told[-1] == (found, found)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    for pair in store.pairs(PairQuery(order="distance"), 0, 10):
        assert pair.distance == pytest.approx(gower(store.spec.domain, people, pair.row).min())
        place = store.spec.domain.places(store.table())[pair.nearest]
        assert (store.spec.domain.encode(store.table())[place] == people[pair.nearest]).all()


def test_what_was_weighed_is_kept_and_gone_on_with(store, people):
    told = []
    with pytest.raises(WorkerError):
        score_findings(Scales(last=1), store, people, lambda *counts: told.append(counts))
    assert store.count(PairQuery(within=1.0)) == 40
    assert not is_weighed(store, 1)
    scales = Scales()
    score_findings(scales, store, people, lambda *counts: told.append(counts))
    assert told[2][0] == 40
    assert sum(scales.sizes) == told[-1][0] - 40


def test_without_real_people_nothing_is_weighed(store, people):
    scales, told = Scales(), []
    score_findings(scales, store, people[:0], lambda *counts: told.append(counts))
    assert not scales.sizes
    assert len(told) == 1


def test_a_guest_weighs_them_without_a_model(store, people, monkeypatch):
    monkeypatch.setattr(weighing, "BATCH", 20_000)
    worker = Worker()
    try:
        score_findings(worker, store, people, lambda *_: None)
    finally:
        worker.close()
    (pair, *_rest) = store.pairs(PairQuery(order="distance"), 0, 5)
    domain = store.spec.domain
    assert pair.distance == pytest.approx(gower(domain, people, pair.row, everywhere(domain)).min())
    assert pair.plausible in (0, 1)


def test_pairs_are_found_by_their_numbers(store):
    assert [pair.id for pair in store.pairs(PairQuery(among=(7, 3)), 0, 5)] == [3, 7]
    assert store.count(PairQuery(among=())) == 0


def test_only_the_first_pairs_of_a_run_are_weighed_until_the_others_are_looked_at(
    store, people, monkeypatch
):
    monkeypatch.setattr(weighing, "FIRST", 50)
    run_into(store, "uniform", seed=9, options={"samples": 800})
    first = Scales()
    for run in (1, 2):
        assert store.count(PairQuery(run=run)) > 90
        told = []
        why = weigh_run(first, store, run, people, partial(_note, told), every=False)
        assert "the first 50 were compared" in why
        assert told == [(0, 50), (40, 50), (50, 50)]
        assert not is_weighed(store, run)
    assert first.sizes == [40, 10, 40, 10]
    assert weigh_run(first, store, 2, people, partial(_note, []), every=False) == why
    assert len(first.sizes) == 4
    score_findings(Scales(), store, people, partial(_note, []))
    assert is_weighed(store, None)
    # how often is counted as if all had been weighed in the order of finding
    seen = Counter()
    for pair in sorted(store.each_pair(SHOWN), key=lambda pair: pair.id):
        place = (pair.run, pair.nearest, pair.plausible)
        assert pair.repeats == seen[place]
        seen[place] += 1


def _note(told, *counts):
    told.append(counts)


def test_all_pairs_of_a_run_are_weighed_where_that_is_asked_for(store, people, monkeypatch):
    monkeypatch.setattr(weighing, "FIRST", 50)
    nobody, told = people[:0], partial(_note, [])
    assert weigh_run(Scales(), store, 1, nobody, told, every=True) == ""
    why = weigh_run(Scales(last=0), store, 1, people, told, every=True)
    assert "closed" in why
    assert weigh_run(Scales(), store, 1, people, told, every=True) == ""
    assert is_weighed(store, 1)
    assert weigh_run(Scales(), store, 1, people, told, every=False) == ""


def test_the_process_that_compares_gives_what_any_gives_and_stands_back(store, people):
    with closing(Worker(command=COMPARING_GUEST)) as comparing, closing(Worker()) as usual:
        domain, rows = store.spec.domain, np.concatenate([people, people[::-1]])
        ours, other = (
            each.score_plausibility(domain, people, rows, rows[::-1]) for each in (comparing, usual)
        )
        # what it is started by may wrap it: it is the one that stands back
        levels = {each: niceness(each._child.pid) for each in (comparing, usual)}
    assert ours.reference == other.reference
    for name in ("distance", "nearest", "typicality", "partner_typicality", "plausible"):
        assert np.array_equal(getattr(ours, name), getattr(other, name), equal_nan=True)
    if hasattr(os, "nice"):
        assert levels[comparing] == levels[usual] + guest.NICE


def niceness(pid):
    """How far a process, or one that it started, stands back."""
    if not hasattr(os, "getpriority"):
        return 0
    own = os.getpriority(os.PRIO_PROCESS, pid)
    children = Path(f"/proc/{pid}/task/{pid}/children")
    started = children.read_text().split() if children.exists() else []
    return max([own, *(niceness(int(each)) for each in started)])


def test_the_share_of_plausible_pairs_and_their_order(store, people, monkeypatch):
    assert plausible_share(store, people) is None
    monkeypatch.setattr(weighing, "SHOWN_FIRST", 30)
    worker = Worker()
    try:
        score_findings(worker, store, people, lambda *_: None)
    finally:
        worker.close()
    shown = list(store.each_pair(SHOWN))
    share = plausible_share(store, people, 1)
    assert share.compared == len(shown) > 80
    assert share.plausible == sum(pair.plausible for pair in shown)
    assert (share.shown, share.plausible_shown) == (30, min(30, share.plausible))
    rows = np.array([pair.row for pair in shown[:30]])
    assert share.atn == atn(store.spec.domain, people, rows)
    drawn = np.random.default_rng(0).permutation(len(people))[:30]
    assert share.atn_rows == atn(store.spec.domain, people, people[drawn])
    assert (share.changing, share.atn_changing) == (0, None)
    assert share.reference == store.reference()
    assert 0.8 < share.reference.held_out <= 1
    assert plausible_share(store, people, 2) is None
    protected = store.spec.domain.protected
    ranks, seen = [], Counter()
    for pair in sorted(shown, key=lambda pair: pair.id):
        place = (pair.run, pair.nearest, pair.plausible)
        assert pair.repeats == seen[place]
        seen[place] += 1
    for pair in shown:
        changed = int((pair.row[protected] != pair.partner[protected]).sum())
        ranks.append((1 - pair.plausible, changed, pair.repeats, pair.id))
    assert ranks == sorted(ranks)
    paged = [pair.id for start in range(0, len(shown), 7) for pair in store.pairs(SHOWN, start, 7)]
    assert paged == [pair.id for pair in shown]
    only = msgspec.structs.replace(SHOWN, plausible=True)
    assert store.count(only) == share.plausible


class OnRows:
    """Says of so many of the instances, the first ones, that they are rows of the data."""

    def __init__(self, rows):
        self.rows = rows

    def score_plausibility(self, domain, people, rows, partners):
        near, self.rows = min(self.rows, len(rows)), max(0, self.rows - len(rows))
        distance = np.where(np.arange(len(rows)) < near, 0.0, 0.2)
        weighed = scored(distance, np.zeros(len(rows), np.intp), np.full(len(rows), 0.9))
        return replace(weighed, reference=Reference(0.9, 0.0, by_distance=False))


@pytest.mark.parametrize("count", [weighing.LEAST_CHANGING - 1, 50])
def test_of_data_rows_among_the_instances_it_is_told_how_alike_they_are(store, people, count):
    score_findings(OnRows(count), store, people, lambda *_: None)
    share = plausible_share(store, people, 1)
    assert share.changing == count
    if count < weighing.LEAST_CHANGING:
        assert share.atn_changing is None
    else:
        real = [pair.row for pair in store.each_pair(SHOWN) if pair.distance == 0]
        assert len(real) == count
        assert share.atn_changing == atn(store.spec.domain, people, np.array(real))
