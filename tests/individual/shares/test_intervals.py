"""Intervals hold the truth as often as they say, to the last bit."""

import functools

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

from fairdesk.individual.shares.tally import anytime, clopper_pearson

SHARES = np.concatenate([[0.0, 1.0], np.geomspace(1e-4, 0.5, 25), 1 - np.geomspace(1e-3, 0.4, 12)])


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("people", [1, 2, 7, 40, 300])
def test_clopper_pearson_covers_every_share(people, confidence):
    hits = np.arange(people + 1)
    low, high = clopper_pearson(hits, np.full(people + 1, people), confidence)
    ends = np.concatenate([low, high])
    shares = np.concatenate([SHARES, ends, np.nextafter(ends, 0), np.nextafter(ends, 1)])
    shares = np.clip(shares, 0, 1)[:, None]
    held = (low <= shares) & (shares <= high)
    chance = binom.pmf(hits, people, shares)
    assert (chance * held).sum(axis=1).min() >= confidence - 1e-9


def test_clopper_pearson_is_the_textbooks():
    # e.g. 0 of 10: 1 - 0.025 ** (1 / 10)
    low, high = clopper_pearson([0, 10, 3], [10, 10, 10], 0.95)
    assert low == pytest.approx([0, 0.025**0.1, 0.0667395], abs=1e-6)
    assert high == pytest.approx([1 - 0.025**0.1, 1, 0.6524529], abs=1e-6)


@pytest.mark.parametrize("total", [5, 30, 120])
def test_clopper_pearson_covers_samples_without_replacement(total):
    for people in {1, 2, total // 3 + 1, total // 2, total - 1, total}:
        hits = np.arange(people + 1)
        low, high = clopper_pearson(hits, np.full(people + 1, people), 0.95)
        for all_hits in range(total + 1):
            held = (low <= all_hits / total) & (all_hits / total <= high)
            assert hypergeom.pmf(hits[held], total, all_hits, people).sum() >= 0.95 - 1e-12


@functools.cache
def intervals(most, confidence, total):
    """Return the interval for every number of people (rows) and of hits among them (columns)."""
    people, hits = np.mgrid[: most + 1, : most + 1]
    low, high = anytime(np.minimum(hits, people), people, confidence, total)
    return np.where(hits <= people, low, 0), np.where(hits <= people, high, 1)


def ever_missed(share, most, confidence, total=None, *, told=True):
    """Return the exact probability that some interval up to so many people misses the share.

    ``told`` says whether the interval is told of how many people in all the sample is drawn.
    """
    low, high = intervals(most, confidence, total if told else None)
    hits = np.arange(most + 1)
    chances = np.zeros(most + 1)  # of so many hits, where no interval has missed yet
    chances[0], missed = 1.0, 0.0
    for people in range(1, most + 1):
        odds = share
        if total is not None:
            odds = np.clip((round(share * total) - hits) / (total - people + 1), 0, 1)
        chances = chances * (1 - odds) + np.concatenate([[0], (chances * odds)[:-1]])
        out = (share < low[people]) | (share > high[people])
        missed += chances[out].sum()
        chances[out] = 0
    return missed


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("share", [0.0, 0.003, 0.02, 0.1, 0.37, 0.5, 0.9, 1.0])
def test_anytime_hardly_ever_misses_at_any_moment(share, confidence):
    missed = ever_missed(share, 250, confidence)
    assert missed <= 1 - confidence
    # it is no idle promise: for shares that can be missed by then, it is used up in part
    assert missed > (1 - confidence) / 20 or not 0.02 <= share <= 0.98


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("total", [8, 60, 150])
def test_anytime_holds_without_replacement(total, told):
    for all_hits in {0, 1, 2, total // 10, total // 3, total // 2, total - 1, total}:
        assert ever_missed(all_hits / total, total, 0.9, total, told=told) <= 0.1


def test_an_interval_of_everybody_is_the_share():
    low, high = anytime([0, 3, 50], [50, 50, 50], 0.95, 50)
    assert low == pytest.approx([0, 0.06, 1])
    assert (low == high).all()


@pytest.mark.parametrize("total", [10**8, 10**9, 10**12, 10**21])
def test_a_sample_of_very_many_is_one_of_endlessly_many(total):
    hits, people = np.array([0, 40, 5_000]), np.full(3, 5_000)
    low, high = anytime(hits, people, 0.95, total)
    endless_low, endless_high = anytime(hits, people, 0.95)
    assert low == pytest.approx(endless_low, abs=1e-6)
    assert high == pytest.approx(endless_high, abs=1e-6)


@pytest.mark.parametrize("interval", [clopper_pearson, anytime])
@pytest.mark.parametrize("people", [1, 3, 50, 1_000, 10**8])
def test_intervals_move_with_the_hits_and_hold_the_estimate(interval, people):
    hits = np.unique(np.linspace(0, people, 41).astype(np.int64))
    low, high = interval(hits, np.full(len(hits), people), 0.95)
    assert (low <= hits / people).all()
    assert (hits / people <= high).all()
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) >= 0).all()
    assert low[0] == 0 < high[0] <= 1
    assert high[-1] == 1 > low[-1] >= 0
    assert (high - low > 0).all()
    wider = interval(hits, np.full(len(hits), people), 0.99)
    assert (wider[0] <= low).all()
    assert (wider[1] >= high).all()


@pytest.mark.parametrize("people", [1, 2, 10, 333, 100_000])
def test_anytime_is_no_narrower_than_for_one_moment(people):
    hits = np.unique(np.linspace(0, people, 60).astype(np.int64))
    sizes = np.full(len(hits), people)
    exact, always = clopper_pearson(hits, sizes, 0.95), anytime(hits, sizes, 0.95)
    assert (always[0] <= exact[0] + 1e-9).all()
    assert (always[1] >= exact[1] - 1e-9).all()


def test_more_people_tell_more():
    _, high = anytime(np.zeros(5), np.array([10, 100, 1_000, 10_000, 10**7]), 0.95)
    assert (np.diff(high) < 0).all()
    assert high[-1] < 2e-6


@pytest.mark.parametrize("interval", [clopper_pearson, anytime])
def test_nobody_tells_nothing(interval):
    low, high = interval(0, 0, 0.95)
    assert (float(low), float(high)) == (0, 1)
