"""How plausible pairs are: by the criterion of the data, both halves counted."""

import numpy as np
import pytest

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import DataError
from fairdesk.individual.realism import pair_plausibility
from fairdesk.individual.realism.pair_plausibility import score_plausibility
from fairdesk.population.nearest import everywhere, nearest
from fairdesk.population.plausible import RAREST, Criterion
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
NAMES = ("distance", "nearest", "typicality", "partner_distance", "partner_typicality", "plausible")


def real(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    age = np.clip(rng.normal(45, 9, n), 18, 90)
    job = np.where(rng.random(n) < 0.95, rng.integers(0, 4, n), rng.integers(0, 200, n))
    # the first job is a man's
    sex = np.where(job == 0, 1, rng.integers(0, 2, n))
    return DOMAIN.clip(np.column_stack((age, sex, job, 60 * age + rng.normal(0, 200, n))))


def other_half(rows):
    partners = rows.copy()
    partners[:, 1] = 1 - rows[:, 1]
    return partners


def test_the_nearest_is_that_of_the_plain_way_and_the_rest_the_criterion_s():
    people, rows = real(), DOMAIN.sample(np.random.default_rng(1), 50)
    rows[:25] = real(25, 7)
    partners = other_half(rows)
    weighed = score_plausibility(DOMAIN, people, rows, partners)
    criterion = Criterion.fit(DOMAIN, people)
    for each, distance, typicality in (
        (rows, weighed.distance, weighed.typicality),
        (partners, weighed.partner_distance, weighed.partner_typicality),
    ):
        plain = [nearest(DOMAIN, people, row, everywhere(DOMAIN)) for row in each]
        np.testing.assert_allclose(distance, [apart for _, apart in plain], atol=1e-12)
        np.testing.assert_array_equal(typicality, criterion.assess(each).typicality)
    alone = score_plausibility(DOMAIN, people, rows, rows[:0])
    np.testing.assert_array_equal(alone.plausible, criterion.plausible(rows))
    np.testing.assert_array_equal(alone.distance, weighed.distance)
    assert not len(alone.partner_distance) + len(alone.partner_typicality)
    both = criterion.plausible(rows) & criterion.plausible(partners)
    np.testing.assert_array_equal(weighed.plausible, both)
    assert 0 < both.sum() < 25
    assert weighed.reference.held_out == criterion.held_out > 0.85
    assert weighed.reference.uniform == criterion.uniform < 0.1
    assert not weighed.reference.by_distance


def test_who_is_never_of_the_other_sex_makes_no_plausible_pair():
    rows = real(400, 5)
    weighed = score_plausibility(DOMAIN, real(), rows, other_half(rows))
    men = rows[:, 2] == 0
    assert (weighed.typicality[men] > RAREST).mean() > 0.9
    assert not weighed.plausible[men].any()
    assert weighed.plausible[(rows[:, 2] > 0) & (rows[:, 2] < 4)].mean() > 0.8


def test_the_same_again_in_any_batch():
    people, rows = real(), DOMAIN.sample(np.random.default_rng(1), 60)
    partners = other_half(rows)
    together = score_plausibility(DOMAIN, people, rows, partners)
    pair_plausibility._criterion.cache_clear()
    parts = [
        score_plausibility(DOMAIN, people, rows[part], partners[part])
        for part in (slice(7), slice(7, None))
    ]
    assert pair_plausibility._criterion.cache_info().misses == 1
    for name in NAMES:
        joined = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_array_equal(joined, getattr(together, name))
    # others are compared with others
    assert (score_plausibility(DOMAIN, people[:100], rows, partners).nearest < 100).all()


def test_few_rows_tell_distances_only():
    weighed = score_plausibility(DOMAIN, real(50), real(50), other_half(real(50)))
    assert np.isnan(weighed.typicality).all()
    assert weighed.reference.by_distance
    assert (weighed.distance == 0).all()


def test_nobody_and_no_people():
    people = real(50)
    weighed = score_plausibility(DOMAIN, people, people[:0], people[:0])
    assert all(getattr(weighed, name).shape == (0,) for name in NAMES)
    with pytest.raises(DataError, match=phrases.NO_ROW_TO_COMPARE):
        score_plausibility(DOMAIN, people[:0], people, people)
