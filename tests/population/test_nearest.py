"""The nearest real person is the nearest: beside Gower's distance, one person at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import DataError
from fairdesk.population.nearest import Nearest, gower
from tests import phrases
from tests.sizes import many

LETTERS = tuple("abcdefg")
ATTRIBUTES = (
    Attribute("job", Kind.NOMINAL, LETTERS, 0.0, 6.0),
    Attribute("grade", Kind.ORDINAL, LETTERS[:4], 0.0, 3.0),
    Attribute("paid", Kind.ORDINAL, (*LETTERS[:3], "Unknown"), 0.0, 3.0, unknown=True),
    Attribute("wage", Kind.INTEGER, low=-100.0, high=900.0),
    Attribute("ratio", Kind.REAL, low=0.0, high=0.3),
    Attribute("same", Kind.INTEGER, low=4.0, high=4.0, role=Role.FIXED),
    Attribute("word", Kind.TEXT, LETTERS, 0.0, 6.0, role=Role.FIXED),
)
SEX = Attribute("sex", Kind.NOMINAL, ("f", "m"), 0.0, 1.0, Role.PROTECTED, (0.0, 1.0))


@st.composite
def domains(draw):
    chosen = draw(st.lists(st.sampled_from(ATTRIBUTES[:5]), min_size=1, unique=True))
    more = draw(st.lists(st.sampled_from(ATTRIBUTES[5:]), unique=True))
    return Domain((*chosen, SEX, *more))


def brute(domain, people, rows):
    return np.array([gower(domain, people, row) for row in rows])


@settings(max_examples=many(60))
@given(
    domain=domains(), seed=st.integers(0, 2**32 - 1), count=st.sampled_from([1, 5, 64, 300, 2_500])
)
def test_it_is_the_nearest(domain, seed, count):
    rng = np.random.default_rng(seed)
    people = domain.sample(rng, count)
    people = np.concatenate([people, people[rng.integers(count, size=count // 2)]])
    rows = np.concatenate([domain.sample(rng, 40), people[:10]])
    distances = brute(domain, people, rows)
    distance, index = Nearest(domain, people).find(rows)
    np.testing.assert_allclose(distance, distances.min(axis=1), rtol=0, atol=1e-12)
    np.testing.assert_allclose(distances[np.arange(len(rows)), index], distance, rtol=0, atol=1e-12)
    assert (distance[40:] == 0).all()
    # of those who are equally near the first
    assert (index[40:] == distances[40:].argmin(axis=1)).all()
    for limit in (0.0, 0.1, 0.25, 0.5, 1.0):
        within = Nearest(domain, people).within(limit)(rows)
        assert (within == (distances.min(axis=1) <= limit + 1e-9)).all()


@settings(max_examples=many(30))
@given(domain=domains(), seed=st.integers(0, 2**32 - 1), wanted=st.integers(1, 6))
def test_several_are_the_nearest_of_those_who_differ(domain, seed, wanted):
    rng = np.random.default_rng(seed)
    people = domain.sample(rng, 100)
    unlike = np.sort(np.unique(people[:, domain.others], axis=0, return_index=True)[1])
    rows = domain.sample(rng, 20)
    distances = np.sort(brute(domain, people[unlike], rows), axis=1)
    distance, index = Nearest(domain, people).several(rows, wanted)
    k = min(wanted, len(unlike))
    np.testing.assert_allclose(distance, distances[:, :k], rtol=0, atol=1e-12)
    assert np.isin(index, unlike).all()
    assert all(len(set(row)) == k for row in index.tolist())


def test_nobody_is_missed_who_is_nearer_by_less_than_numbers_of_half_the_length_tell():
    domain = Domain((*(Attribute(f"a{i}", Kind.REAL, low=0.0, high=1.0) for i in range(5)), SEX))
    rng = np.random.default_rng(0)
    rows = np.pad(rng.random((20, 5)), ((0, 0), (0, 1)))
    apart = rng.choice([-1.0, 1.0], (20, 400, 5)) * rng.uniform(0.1, 0.1 + 1e-9, (20, 400, 5))
    people = (rows[:, None] + np.pad(apart, ((0, 0), (0, 0), (0, 1)))).reshape(-1, 6)
    distances = brute(domain, people, rows)
    distance, index = Nearest(domain, people).find(rows)
    assert (index == distances.argmin(axis=1)).all()
    np.testing.assert_allclose(distance, distances.min(axis=1), rtol=0, atol=1e-15)


def test_what_follows_from_a_protected_attribute_does_not_count(small_domain):
    people = small_domain.sample(np.random.default_rng(0), 50)
    others = people.copy()
    others[:, small_domain.protected] = 1 - others[:, small_domain.protected]
    distance, _ = Nearest(small_domain, people).find(others)
    assert (distance == 0).all()


def test_no_rows_and_no_people(small_domain):
    people = small_domain.sample(np.random.default_rng(0), 5)
    distance, index = Nearest(small_domain, people).find(people[:0])
    assert distance.shape == index.shape == (0,)
    with pytest.raises(DataError, match=phrases.NO_ROW_TO_COMPARE):
        Nearest(small_domain, people[:0])
