"""Seeds come from all clusters in turn, each person at most once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdesk.individual.engine.steps import clustered_seeds


@given(n=st.integers(1, 80), clusters=st.integers(1, 6), wanted=st.integers(1, 90))
def test_seeds_are_people_and_no_one_twice(n, clusters, wanted):
    rng = np.random.default_rng(n)
    people = np.column_stack([np.arange(n), rng.integers(0, 3, n)]).astype(float)
    seeds = clustered_seeds(people, clusters, wanted, rng)
    assert len(seeds) == min(wanted, n) == len(np.unique(seeds[:, 0]))
    assert {tuple(seed) for seed in seeds} <= {tuple(person) for person in people}


def test_small_clusters_get_their_turn():
    rng = np.random.default_rng(0)
    crowd, few = rng.normal(0, 1, (990, 2)), rng.normal(100, 1, (10, 2))
    seeds = clustered_seeds(np.concatenate([crowd, few]), 2, 20, rng)
    assert (seeds[:, 0] > 50).sum() == 10


@pytest.mark.filterwarnings("error")
def test_people_who_are_all_alike_make_few_clusters():
    rng = np.random.default_rng(0)
    for people in (np.ones((100, 3)), np.repeat([[0.0, 1.0], [1.0, 0.0]], 50, axis=0)):
        seeds = clustered_seeds(people, 4, 10, rng)
        assert len(seeds) == 10
        assert {tuple(seed) for seed in seeds} == {tuple(person) for person in people}
