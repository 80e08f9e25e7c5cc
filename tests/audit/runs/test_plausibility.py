import numpy as np
import pytest

from fairdesk.audit.runs import plausibility as weighing
from fairdesk.audit.runs.plausibility import is_weighed, weigh_findings
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.worker.client import Worker
from fairdesk.data.profiling.nearest import gower
from fairdesk.errors import WorkerError
from fairdesk.individual.realism.plausibility import Plausibility
from tests.report.building import people_store, run_into


class Scales:
    """Weighs in this process; ends after so many calls."""

    def __init__(self, last=None):
        self.sizes, self.last = [], last

    def weigh(self, domain, people, rows):
        if len(self.sizes) == self.last:
            raise WorkerError("The process was closed.")
        self.sizes.append(len(rows))
        distances = np.array([gower(domain, people, row) for row in rows])
        return Plausibility(
            distances.min(axis=1), distances.argmin(axis=1), 1 - distances.min(axis=1)
        )


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
    weigh_findings(scales, store, people, lambda *counts: told.append(counts))
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
        weigh_findings(Scales(last=1), store, people, lambda *counts: told.append(counts))
    assert store.count(PairQuery(within=1.0)) == 40
    assert not is_weighed(store, 1)
    scales = Scales()
    weigh_findings(scales, store, people, lambda *counts: told.append(counts))
    assert told[2][0] == 40
    assert sum(scales.sizes) == told[-1][0] - 40


def test_without_real_people_nothing_is_weighed(store, people):
    scales, told = Scales(), []
    weigh_findings(scales, store, people[:0], lambda *counts: told.append(counts))
    assert not scales.sizes
    assert len(told) == 1


def test_a_guest_weighs_them_without_a_model(store, people, monkeypatch):
    monkeypatch.setattr(weighing, "BATCH", 20_000)
    worker = Worker()
    try:
        weigh_findings(worker, store, people, lambda *_: None)
    finally:
        worker.close()
    (pair, *_rest) = store.pairs(PairQuery(order="distance"), 0, 5)
    assert pair.distance == pytest.approx(gower(store.spec.domain, people, pair.row).min())
    assert 0 <= pair.plausibility <= 1


def test_pairs_are_found_by_their_numbers(store):
    assert [pair.id for pair in store.pairs(PairQuery(among=(7, 3)), 0, 5)] == [3, 7]
    assert store.count(PairQuery(among=())) == 0
