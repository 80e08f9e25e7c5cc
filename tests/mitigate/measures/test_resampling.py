"""The bootstrap of means: exact where few rows differ, normal where many do."""

import numpy as np
import pytest

from fairdesk.mitigate.measures.differences import p_value, percentiles, resampled


def plain(rows, rng, times):
    return np.array([rows[rng.integers(len(rows), size=len(rows))].mean(0) for _ in range(times)])


@pytest.mark.parametrize("distinct", [6, 3_000])
def test_means_vary_as_those_of_rows_drawn_anew(distinct):
    rng = np.random.default_rng(0)
    values = rng.gamma(2.0, size=(distinct, 3))
    rows = values[rng.integers(distinct, size=3_000)] if distinct < 100 else values
    rows[:, 2] = rows[:, 0] - rows[:, 1]
    drawn = resampled(rows, np.random.default_rng(1), 4_000)
    expected = plain(rows, np.random.default_rng(2), 1_000)
    assert drawn.shape == (4_000, 3)
    np.testing.assert_allclose(drawn.mean(axis=0), rows.mean(axis=0), atol=0.005)
    np.testing.assert_allclose(drawn.std(axis=0), expected.std(axis=0), rtol=0.1)
    # what hangs together goes on doing so
    np.testing.assert_allclose(drawn[:, 2], drawn[:, 0] - drawn[:, 1], atol=1e-7)


def test_the_same_seed_gives_the_same_resamples():
    rows = np.random.default_rng(0).normal(size=(50, 2))
    one, other = (resampled(rows, np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_intervals_of_a_mean_hold_it_so_often():
    rng = np.random.default_rng(4)
    held = 0
    for _ in range(200):
        rows = rng.exponential(size=(150, 1))
        low, high = percentiles(resampled(rows, rng, 500)[:, 0], float(rows.mean()), 0.05)
        held += low <= 1 <= high
    assert held / 200 >= 0.91


def test_what_never_varies_has_no_interval():
    assert percentiles(np.zeros(100), 0.0, 0.05) == (None, None)
    assert p_value(np.zeros(100)) == 1


def test_an_interval_holds_its_estimate():
    draws = np.array([0.2, 0.3, 0.4])
    assert percentiles(draws, 0.1, 0.05)[0] == 0.1


def test_p_is_small_where_nearly_all_resamples_are_on_one_side():
    rng = np.random.default_rng(0)
    assert p_value(rng.normal(3.5, 1, 4_000)) < 0.01
    assert p_value(rng.normal(-3.5, 1, 4_000)) < 0.01
    assert p_value(rng.normal(0.1, 1, 4_000)) > 0.5
