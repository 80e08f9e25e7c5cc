"""Margins, intervals and p-values, against the libraries that give them one at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.groups.options import Z
from fairdesk.groups.statistics import Side, holm, interval, p_values, wilson
from tests.sizes import many

RATES = [
    (0, 1_000, 0, 1_200),
    (1_000, 1_000, 1_200, 1_200),
    (0, 1_000, 1_200, 1_200),
    (3, 1_000, 7, 24_000),
    (310, 1_043, 4_001, 22_000),
    (999, 1_000, 500, 1_000),
    (5, 11, 6, 10),
]


def sides(rates):
    hits_in, n_in, hits_out, n_out = np.array(rates, dtype=float).T
    return Side(n_in, hits_in), Side(n_out, hits_out)


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 13_282])
def test_the_interval_is_newcombes(alpha):
    from statsmodels.stats.proportion import confint_proportions_2indep

    low, high = interval(*sides(RATES), alpha)
    for each, *ends in zip(RATES, low, high, strict=True):
        wanted = confint_proportions_2indep(
            *each, method="newcomb", compare="diff", alpha=alpha, correction=False
        )
        if alpha > 1e-3 or min(each[0], each[1] - each[0], each[2], each[3] - each[2]) > 250:
            assert ends == pytest.approx(wanted, abs=1e-9)
        else:
            # far out in a tail the exact ends are taken where they are wider
            assert ends[0] <= wanted[0] + 1e-9
            assert ends[1] >= wanted[1] - 1e-9


def test_each_rule_set_may_have_an_error_of_its_own():
    inside, outside = sides(RATES)
    alpha = np.geomspace(0.05, 1e-9, len(RATES))
    low, high = interval(inside, outside, alpha)
    for i, one in enumerate(alpha):
        single = interval(*sides(RATES[i : i + 1]), float(one))
        assert (low[i], high[i]) == (single[0][0], single[1][0])
    assert (low <= inside.mean - outside.mean).all()
    assert (high >= inside.mean - outside.mean).all()


@given(st.integers(0, 500), st.integers(1, 500))
def test_wilson_is_scipys(hits, more):
    from scipy.stats import binomtest

    n = hits + more
    low, high = wilson(np.array([float(hits)]), np.array([float(n)]), np.array([Z]))
    confidence = 0.95000420970355903
    wanted = binomtest(hits, n).proportion_ci(confidence, method="wilson")
    assert (low[0], high[0]) == pytest.approx((wanted.low, wanted.high), abs=1e-9)


def test_p_values_are_those_of_the_z_test():
    from statsmodels.stats.proportion import proportions_ztest

    common = [each for each in RATES if each[0] not in (0, 3, 5, 999, 1_000)]
    common += [(400, 1_000, 500, 1_100), (250, 1_000, 251, 1_000)]
    p = p_values(*sides(common))
    for each, one in zip(common, p, strict=True):
        _, wanted = proportions_ztest(np.array(each[::2]), np.array(each[1::2]))
        assert one == pytest.approx(wanted, rel=1e-9)


@given(st.integers(0, 6), st.integers(0, 6), st.booleans())
def test_where_hits_are_rare_p_is_nearly_fishers(hits_in, hits_out, misses):
    from scipy.stats import hypergeom

    n_in, n_out = 1_000, 20_000
    told = (hits_in, n_in, hits_out, n_out)
    if misses:
        told = (n_in - hits_in, n_in, n_out - hits_out, n_out)
    p = p_values(*sides([told]))[0]
    law = hypergeom(n_in + n_out, hits_in + hits_out, n_in)
    exact = min(1.0, 2 * min(law.sf(hits_in - 1), law.cdf(hits_in)))
    assert p >= exact * (1.0 if exact < 0.1 else 0.999)
    assert p <= min(1.0, 1.3 * exact + 1e-12)


def test_no_difference_is_no_evidence():
    p = p_values(*sides([(0, 1_000, 0, 1_200), (1_000, 1_000, 1_200, 1_200)]))
    assert p.tolist() == [1.0, 1.0]


def scores(seed, n, middle, spread):
    told = np.clip(np.random.default_rng(seed).normal(middle, spread, n), 0, 1)
    one = np.array([n * 1.0])
    return told, Side(one, told.sum(keepdims=True), (told**2).sum(keepdims=True))


def test_mean_scores_are_tested_as_welch_does():
    from scipy.stats import ttest_ind

    first, inside = scores(1, 400, 0.42, 0.1)
    second, outside = scores(2, 1_500, 0.4, 0.3)
    wanted = ttest_ind(first, second, equal_var=False)
    assert p_values(inside, outside)[0] == pytest.approx(wanted.pvalue, rel=1e-6)
    ends = wanted.confidence_interval(0.99)
    low, high = interval(inside, outside, 0.01)
    assert (low[0], high[0]) == pytest.approx((ends.low, ends.high), rel=1e-6)
    assert inside.half(Z)[0] == pytest.approx(Z * first.std(ddof=1) / np.sqrt(400), rel=1e-9)


def test_the_margin_is_the_papers():
    inside, _ = sides([(300, 1_000, 0, 1)])
    assert inside.half(Z)[0] == pytest.approx(1.96 * np.sqrt(0.3 * 0.7 / 1_000))


@pytest.mark.parametrize("hits", [0.0, 1_000.0])
def test_samples_that_are_all_alike_leave_some_doubt(hits):
    side = Side(np.array([1_000.0]), np.array([hits]))
    assert 0 < side.half(Z)[0] < 0.01
    scored = Side(np.array([1_000.0]), np.array([hits]), np.array([hits]))
    assert scored.half(Z)[0] == side.half(Z)[0]


@settings(max_examples=many(25))
@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.integers(0, 50))
def test_the_correction_is_holms(p, left_out):
    from statsmodels.stats.multitest import multipletests

    p = np.array(p)
    wanted = multipletests(np.concatenate([p, np.ones(left_out)]), method="holm")[1][: len(p)]
    assert holm(p, len(p) + left_out) == pytest.approx(wanted)


def test_far_out_in_a_tail_the_interval_holds_as_often_as_it_says():
    from scipy.stats import binom

    # every outcome of a rare decision in a small group, exactly
    n, rate, alpha = 1_000, 0.012, 1e-5
    hits = np.arange(0, 80, dtype=float)
    rest = np.full(len(hits), 19_000.0)
    low, high = interval(Side(np.full(len(hits), 1_000.0), hits), Side(rest, rest * rate), alpha)
    missed = (low > 0) | (high < 0)
    assert binom.pmf(hits, n, rate)[missed].sum() <= alpha
