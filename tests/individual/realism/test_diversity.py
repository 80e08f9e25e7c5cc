"""Groups of alike people, what of them is covered, and the most unlike."""

import subprocess
import sys

import numpy as np
import pytest

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import DataError
from fairdesk.individual.realism import diversity
from fairdesk.individual.realism.diversity import clusters, coverage, representatives
from fairdesk.population.nearest import gower
from tests import phrases
from tests.individual.conftest import integer

DOMAIN = Domain(
    (
        integer("age", 18, 90),
        integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
        Attribute("job", Kind.NOMINAL, tuple("abcdef"), 0.0, 5.0),
        Attribute("wage", Kind.REAL, low=0.0, high=9000.0),
    )
)
KINDS = np.array([[25, 0, 0, 900], [50, 0, 3, 4000], [80, 0, 5, 1500.0]])


def real(rng, sizes=(50, 300, 100)):
    rows = np.repeat(KINDS, sizes, axis=0)
    rows[:, 0] += rng.integers(-3, 4, len(rows))
    rows[:, 1] = rng.integers(0, 2, len(rows))
    rows[:, 3] += rng.normal(0, 100, len(rows))
    return rng.permutation(DOMAIN.clip(rows))


@pytest.mark.parametrize("seed", range(5))
def test_three_kinds_of_people_are_three_clusters(seed):
    rng = np.random.default_rng(seed)
    made = clusters(DOMAIN, real(rng), 3, rng)
    assert made.sizes.tolist() == [300, 100, 50]
    assert made.of(KINDS).tolist() == [2, 0, 1]
    # the protected attribute does not count
    others = KINDS.copy()
    others[:, 1] = 1
    assert made.of(others).tolist() == [2, 0, 1]
    assert coverage(made, KINDS[[1, 1, 0]]).tolist() == [2, 0, 1]
    assert coverage(made, KINDS[:0]).tolist() == [0, 0, 0]


def test_the_same_seed_the_same_clusters():
    people = real(np.random.default_rng(0))
    first, second = (clusters(DOMAIN, people, 7, np.random.default_rng(4)) for _ in range(2))
    np.testing.assert_array_equal(first.centres, second.centres)
    assert (first.sizes > 0).all()
    assert first.sizes.sum() == len(people)


def test_fewer_unlike_people_than_clusters():
    people = np.repeat(KINDS[:2], 10, axis=0)
    made = clusters(DOMAIN, people, 9, np.random.default_rng(0))
    assert made.sizes.tolist() == [10, 10]
    with pytest.raises(DataError, match=phrases.NO_ROW_TO_COMPARE):
        clusters(DOMAIN, people[:0], 2, np.random.default_rng(0))


def test_of_many_people_some_are_looked_at(monkeypatch):
    monkeypatch.setattr(diversity, "MOST_PEOPLE", 60)
    rng = np.random.default_rng(1)
    people = real(rng)
    assert clusters(DOMAIN, people, 3, rng).sizes.tolist() == [300, 100, 50]
    chosen = representatives(DOMAIN, people, 100, rng)
    assert len(chosen) <= 60


@pytest.mark.parametrize("seed", range(5))
def test_the_most_unlike_are_unlike(seed):
    rng = np.random.default_rng(seed)
    people = real(rng)
    chosen = representatives(DOMAIN, people, 3, rng)
    assert sorted(people[chosen, 2]) == [0, 3, 5]
    # each next one is the farthest from those before, and never nearer than a later one
    chosen = representatives(DOMAIN, people, 10, rng)
    assert len(set(chosen.tolist())) == 10
    gaps = [
        min(gower(DOMAIN, people[chosen[:i]], people[chosen[i]])) for i in range(1, len(chosen))
    ]
    assert gaps == sorted(gaps, reverse=True)
    left = np.delete(people, chosen, axis=0)
    farthest = max(gower(DOMAIN, people[chosen], row).min() for row in left)
    assert farthest <= gaps[-1] + 1e-12


def test_of_equal_people_there_is_one():
    people = np.repeat(KINDS[:2], 10, axis=0)
    people[:, 1] = np.arange(20) % 2
    assert len(representatives(DOMAIN, people, 5, np.random.default_rng(0))) == 2
    assert len(representatives(DOMAIN, people[:0], 5, np.random.default_rng(0))) == 0
    assert len(representatives(DOMAIN, people, 0, np.random.default_rng(0))) == 0


def test_the_app_may_call_it():
    """Nothing heavy is loaded, nor anything compiled."""
    code = (
        "import sys, numpy as np;"
        "from tests.individual.realism.test_diversity import *;"
        "before = set(sys.modules);"
        "rng = np.random.default_rng(0); people = real(rng);"
        "coverage(clusters(DOMAIN, people, 3, rng), people);"
        "representatives(DOMAIN, people, 3, rng);"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before};"
        "sys.exit(bool(new & {'numba', 'sklearn', 'pandas', 'tensorflow', 'pyarrow'}))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
