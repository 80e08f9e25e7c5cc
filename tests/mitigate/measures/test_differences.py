"""Paired yeses and noes: against published figures, statsmodels, and many made-up tables."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import xlogy
from statsmodels.stats.contingency_tables import mcnemar as of_statsmodels

from fairdesk.mitigate.measures.differences import mcnemar, share_interval, tango


def masks(both, more, fewer, neither):
    after = np.repeat([True, True, False, False], [both, more, fewer, neither])
    before = np.repeat([True, False, True, False], [both, more, fewer, neither])
    return after, before


@pytest.mark.parametrize("counts", [(1, 1, 7, 12), (30, 9, 3, 8), (0, 40, 21, 5), (5, 0, 4, 0)])
def test_the_test_is_the_exact_one(counts):
    both, more, fewer, neither = counts
    table = [[both, more], [fewer, neither]]
    assert mcnemar(*masks(*counts)) == pytest.approx(of_statsmodels(table, exact=True).pvalue)


def test_nobody_about_whom_they_differ_is_no_difference():
    assert mcnemar(*masks(10, 0, 0, 5)) == 1
    low, high = share_interval(*masks(10, 0, 0, 5))
    assert low == -high < 0  # and yet it is not certain that others would be alike too


def test_the_interval_is_that_of_a_published_example():
    # M. W. Fagerland, S. Lydersen, P. Laake, Statistics in Medicine 33, 2014: 21 children
    assert tango(1, 7, 21) == pytest.approx((-0.517, -0.026), abs=5e-4)


@pytest.mark.parametrize("counts", [(3, 11, 40), (0, 5, 30), (8, 8, 16), (0, 0, 9)])
def test_the_ends_are_where_the_score_test_refutes(counts):
    more, fewer, people = counts

    def statistic(difference):
        """Find the likeliest tables by search, not by their formula."""
        rest = people - more - fewer

        def unlikely(rarer):
            first, second = rarer + difference, rarer
            alike = 1 - first - second
            if min(first, second, alike) < 0:
                return 1e9
            return -(xlogy(more, first) + xlogy(fewer, second) + xlogy(rest, alike))

        bounds = (max(0.0, -difference), (1 - difference) / 2)
        rarer = minimize_scalar(unlikely, bounds=bounds, method="bounded", options={"xatol": 1e-12})
        variance = (2 * rarer.x + difference - difference**2) / people
        return ((more - fewer) / people - difference) ** 2 / variance

    for end in tango(*counts):
        assert statistic(end) == pytest.approx(1.959964**2, rel=1e-3)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(1, 60), st.sampled_from([0.05, 0.001]))
def test_intervals_are_symmetric_and_hold_what_was_found(more, fewer, rest, alpha):
    people = more + fewer + rest
    low, high = tango(more, fewer, people, alpha)
    assert -1 <= low <= (more - fewer) / people <= high <= 1
    assert tango(fewer, more, people, alpha) == pytest.approx((-high, -low), abs=1e-9)
    wider = tango(more, fewer, people, alpha / 10)
    assert wider[0] <= low
    assert wider[1] >= high


@given(st.integers(0, 12), st.integers(0, 12), st.integers(1, 40))
def test_an_interval_never_shows_what_the_exact_test_denies(more, fewer, rest):
    after, before = masks(rest, more, fewer, 0)
    low, high = share_interval(after, before)
    assert low <= 0 <= high or mcnemar(after, before) < 0.05


@pytest.mark.parametrize(
    ("people", "more", "fewer"), [(50, 0.1, 0.05), (200, 0.02, 0.0), (200, 0.15, 0.3), (30, 0, 0.4)]
)
def test_so_many_intervals_hold_the_truth_as_they_say(people, more, fewer):
    rng = np.random.default_rng(3)
    drawn = rng.multinomial(people, (more, fewer, 1 - more - fewer), size=2_000)
    cached = cache(tango)
    ends = np.array([cached(int(a), int(b), people) for a, b, _ in drawn])
    held = (ends[:, 0] <= more - fewer) & (more - fewer <= ends[:, 1])
    assert held.mean() >= 0.93
