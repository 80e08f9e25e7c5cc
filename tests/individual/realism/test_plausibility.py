"""How plausible invented people are: near to the real ones, and usual among them."""

import numpy as np
import pytest

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.profiling.nearest import nearest
from fairdesk.data.table import Kind
from fairdesk.errors import DataError
from fairdesk.individual.realism import plausibility
from fairdesk.individual.realism.plausibility import score_plausibility
from tests import phrases
from tests.individual.conftest import integer

JOBS = tuple(f"job {i}" for i in range(200))
DOMAIN = Domain(
    (
        integer("age", 18, 90),
        integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
        Attribute("job", Kind.NOMINAL, JOBS, 0.0, 199.0),
        Attribute("wage", Kind.REAL, low=0.0, high=9000.0),
    )
)


def real(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    age = np.clip(rng.normal(45, 9, n), 18, 90)
    job = np.where(rng.random(n) < 0.95, rng.integers(0, 4, n), rng.integers(0, 200, n))
    rows = np.column_stack((age, rng.integers(0, 2, n), job, 60 * age + rng.normal(0, 200, n)))
    return DOMAIN.clip(rows)


def test_the_nearest_is_that_of_the_plain_way():
    people, rows = real(), DOMAIN.sample(np.random.default_rng(1), 50)
    weighed = score_plausibility(DOMAIN, people, rows)
    plain = [nearest(DOMAIN, people, row) for row in rows]
    np.testing.assert_allclose(weighed.distance, [distance for _, distance in plain], atol=1e-12)
    assert ((weighed.score >= 0) & (weighed.score <= 1)).all()


def test_real_people_are_spread_evenly_and_invented_ones_are_not():
    people = real()
    own = score_plausibility(DOMAIN, people, people)
    assert (own.distance == 0).all()
    assert own.score.mean() == pytest.approx(0.5, abs=0.01)
    assert np.quantile(own.score, 0.1) == pytest.approx(0.1, abs=0.01)
    invented = score_plausibility(DOMAIN, people, DOMAIN.sample(np.random.default_rng(1), 500))
    assert invented.score.mean() < 0.05
    assert invented.distance.mean() > 0.1


def test_who_is_in_the_middle_is_more_usual():
    rows = np.array([[45, 0, 1, 2700], [45, 0, 150, 2700], [88, 0, 1, 200], [19, 0, 150, 8900.0]])
    score = score_plausibility(DOMAIN, real(), rows).score
    assert score[0] > 0.7
    assert score[0] > score[1] > score[3]
    assert score[0] > score[2] > score[3]
    assert score[3] < 0.01


def test_the_same_again_in_any_batch(monkeypatch):
    people, rows = real(), DOMAIN.sample(np.random.default_rng(1), 60)
    together = score_plausibility(DOMAIN, people, rows)
    plausibility._real.cache_clear()
    parts = [score_plausibility(DOMAIN, people, part) for part in (rows[:7], rows[7:])]
    assert plausibility._real.cache_info().misses == 1
    for name in ("distance", "nearest", "score"):
        joined = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_array_equal(joined, getattr(together, name))
    # others are compared with others
    assert (score_plausibility(DOMAIN, people[:100], rows).nearest < 100).all()


def test_both_of_a_pair_are_equally_plausible():
    people = real()
    rows = DOMAIN.sample(np.random.default_rng(1), 40)
    partners = rows.copy()
    partners[:, 1] = 1 - rows[:, 1]
    one, other = (
        score_plausibility(DOMAIN, people, rows),
        score_plausibility(DOMAIN, people, partners),
    )
    np.testing.assert_array_equal(one.distance, other.distance)
    np.testing.assert_array_equal(one.score, other.score)


def test_of_many_people_some_are_ranked(monkeypatch):
    people, rows = real(), DOMAIN.sample(np.random.default_rng(1), 40)
    plausibility._real.cache_clear()
    every = score_plausibility(DOMAIN, people, rows).score
    monkeypatch.setattr(plausibility, "MOST_RANKED", 1000)
    plausibility._real.cache_clear()
    some = score_plausibility(DOMAIN, people, rows)
    plausibility._real.cache_clear()
    assert np.abs(some.score - every).mean() < 0.05
    assert np.isclose(some.score * 1000 % 1, 0).all()


def test_nobody_and_no_people():
    people = real(50)
    weighed = score_plausibility(DOMAIN, people, people[:0])
    assert weighed.distance.shape == weighed.nearest.shape == weighed.score.shape == (0,)
    with pytest.raises(DataError, match=phrases.NO_ROW_TO_COMPARE):
        score_plausibility(DOMAIN, people[:0], people)
