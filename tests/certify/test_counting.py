"""Counting by a convolution: never above brute force, and not far below it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.certify.bounds.count_kernels import outside as outside_part
from fairdesk.certify.bounds.count_kernels import room
from fairdesk.certify.bounds.count_kernels import shares as shares_part
from tests.certify.parts_called import called
from tests.sizes import many

outside, shares = called(outside_part), called(shares_part)
ENDLESS = (np.inf, -np.inf, 1.0, 0.0)


class Form:
    """A random linear form over a box, as the kernels take it."""

    def __init__(self, rng, *, axes=6, widest=12, tables=0.4, most=60_000, sizes=(-3, 1)):
        count = int(rng.integers(1, axes + 1))
        self.low = rng.integers(0, 20, count)
        widths = rng.integers(1, widest + 1, count)
        while widths.prod() > most:
            widths[rng.integers(count)] = rng.integers(1, 4)
        self.high = self.low + widths - 1
        scale = 10.0 ** rng.integers(*sizes, count)
        self.slope = rng.normal(size=count) * scale * (rng.random(count) < 0.9)
        self.start = np.full(count, -1)
        parts, at = [np.empty(0)], 0
        for i in np.flatnonzero(rng.random(count) < tables):
            self.slope[i], self.start[i] = 0.0, at
            parts.append(rng.normal(size=widths[i]) * scale[i])
            at += widths[i]
        self.tables = np.concatenate(parts)

    @property
    def box(self):
        return self.low, self.high, self.slope, self.tables, self.start

    def values(self, axis):
        places = np.arange(self.low[axis], self.high[axis] + 1)
        if self.start[axis] < 0:
            return self.slope[axis] * places
        return self.tables[self.start[axis] :][: len(places)]

    def sums(self):
        """The form at every point of the box."""
        sums = np.zeros(1)
        for i in range(len(self.low)):
            sums = (sums[:, None] + self.values(i)).ravel()
        return sums

    def thresholds(self, rng, sums):
        """Some at which points lie, and some anywhere."""
        if rng.random() < 0.5:
            drawn = rng.choice(sums, 4)
        else:
            drawn = rng.uniform(sums.min() - 0.1, sums.max() + 0.1, 4)
        return (*drawn[:2], *sorted(drawn[2:]))


def dirty_room(rng, axes):
    """What is left in there from before must not matter."""
    work, order = room(axes)
    work[:] = rng.normal(size=work.shape)
    order[:] = rng.integers(0, axes + 1, order.shape)
    return work, order


def true_shares(sums, thresholds, weights=None):
    above, below, after, before = thresholds
    hits = np.stack([sums > above, sums < below, (sums > after) & (sums < before)])
    return np.average(hits, axis=1, weights=weights)


@settings(max_examples=many(300))
@given(st.integers(0, 2**32 - 1))
def test_shares_are_never_above_brute_force(seed):
    rng = np.random.default_rng(seed)
    form = Form(rng, widest=int(rng.choice([2, 5, 12, 40, 300])))
    sums = form.sums()
    thresholds = form.thresholds(rng, sums)
    told = shares(*form.box, *thresholds, *dirty_room(rng, len(form.low)))
    assert (np.array(told) <= true_shares(sums, thresholds)).all()


@settings(max_examples=many(300))
@given(st.integers(0, 2**32 - 1))
def test_what_is_outside_is_never_below_brute_force(seed):
    rng = np.random.default_rng(seed)
    form = Form(rng, widest=int(rng.choice([2, 5, 12, 40, 300])))
    sums = form.sums()
    _, _, after, before = form.thresholds(rng, sums)
    after, before = ((after, before), (-np.inf, before), (after, np.inf))[int(rng.integers(3))]
    told = outside(*form.box, after, before, *dirty_room(rng, len(form.low)))
    assert told >= ((sums <= after) | (sums >= before)).mean()


@settings(max_examples=many(60))
@given(st.integers(0, 2**32 - 1))
def test_long_even_runs_are_never_above_brute_force(seed):
    rng = np.random.default_rng(seed)
    # so long and so flat that steps are narrower than the grid's
    counts = [int(rng.integers(200, 900)), int(rng.integers(30, 60)), 5, 4]
    span = np.array([rng.uniform(0.05, 0.5), rng.uniform(0.05, 0.5), 1.0, 1.0])
    slope = span / np.array(counts) * rng.choice([-1.0, 1.0], 4)
    low = rng.integers(0, 50, 4)
    form = Form(rng)
    form.low, form.high, form.slope = low, low + np.array(counts) - 1, slope
    form.start = np.full(4, -1)
    sums = form.sums()
    thresholds = form.thresholds(rng, sums)
    told = shares(*form.box, *thresholds, *dirty_room(rng, 4))
    lost = true_shares(sums, thresholds) - told
    assert (lost >= 0.0).all()
    assert lost.max() < 0.04


@pytest.mark.parametrize("seed", range(12))
def test_one_even_run_is_counted_to_a_cell(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(520, 2_000))
    low, high = np.zeros(2, dtype=np.int64), np.array([count - 1, 1])
    slope, start = np.array([rng.choice([-1.0, 1.0]) / count, 1.5]), np.full(2, -1)
    sums = (slope[0] * np.arange(count)[:, None] + np.array([0.0, 1.5])).ravel()
    for threshold in rng.choice(sums, 200):
        thresholds = (threshold, threshold, threshold, threshold + 0.4)
        told = shares(low, high, slope, np.empty(0), start, *thresholds, *room(2))
        lost = true_shares(sums, thresholds) - told
        assert (lost >= 0.0).all()
        assert lost.max() < 0.01


@pytest.mark.parametrize("widths", [(7, 16, 14, 6, 100), (91, 7, 20, 5), (3, 3, 4, 10, 80, 3)])
def test_shares_are_near_the_truth(widths):
    rng = np.random.default_rng(len(widths))
    lost = []
    for _ in range(40):
        form = Form(rng, tables=0.0)
        form.low = np.zeros(len(widths), dtype=np.int64)
        form.high = np.array(widths) - 1
        form.slope = rng.normal(size=len(widths)) / np.sqrt(widths)
        form.start = np.full(len(widths), -1)
        sums = form.sums()
        thresholds = tuple(np.quantile(sums, [0.7, 0.3, 0.4, 0.6]))
        told = shares(*form.box, *thresholds, *room(len(widths)))
        lost.append(true_shares(sums, thresholds) - told)
    assert np.mean(lost, axis=0).max() < 0.02
    assert np.max(lost) < 0.05


def test_a_grid_takes_little_of_a_sum_of_many_axes():
    rng = np.random.default_rng(0)
    low, high = np.zeros(12, dtype=np.int64), rng.integers(5, 60, 12)
    slope = rng.normal(size=12) / high
    box = low, high, slope, np.empty(0), np.full(12, -1)
    middle = float(slope @ high) / 2
    over, under, _ = shares(*box, middle, middle, 1.0, 0.0, *room(12))
    # each half begins at the middle
    assert 0.98 < over + under <= 1.0
    sums = rng.integers(low, high + 1, size=(200_000, 12)) @ slope
    beyond = (np.abs(sums - middle) >= 2.0).mean()
    assert outside(*box, middle - 2.0, middle + 2.0, *room(12)) < 1.2 * beyond


def test_what_is_not_asked_for_is_nought():
    form = Form(np.random.default_rng(3), axes=4)
    assert shares(*form.box, *ENDLESS, *room(len(form.low))) == (0.0, 0.0, 0.0)


def test_thresholds_beyond_all_points():
    rng = np.random.default_rng(5)
    for _ in range(20):
        form = Form(rng)
        most = abs(form.sums()).max() + 1.0
        told = shares(*form.box, -most, most, -most, most, *room(len(form.low)))
        np.testing.assert_allclose(told, 1.0, atol=1e-9)
        told = shares(*form.box, most, -most, most, 2 * most, *room(len(form.low)))
        assert told == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nothing_is_counted_where_a_number_is_none(bad):
    box = (np.zeros(2, dtype=np.int64), np.array([3, 4]))
    slope, start = np.array([1.0, bad]), np.full(2, -1)
    told = shares(*box, slope, np.empty(0), start, 0.0, 9.0, 0.0, 9.0, *room(2))
    assert told == (0.0, 0.0, 0.0)
    told = shares(*box, np.ones(2), np.empty(0), start, np.nan, np.nan, np.nan, 1.0, *room(2))
    assert told == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("scale", [1e-300, 1e-318, 1e-30, 1e30, 1e200])
def test_extreme_slopes(scale):
    rng = np.random.default_rng(11)
    for _ in range(50):
        form = Form(rng, tables=0.0, most=2_000)
        form.slope[rng.random(len(form.slope)) < 0.6] *= scale
        sums = form.sums()
        thresholds = form.thresholds(rng, sums)
        told = shares(*form.box, *thresholds, *room(len(form.low)))
        # the sums of brute force are rounded: what is within that of a threshold counts either way
        slack = 1e-12 * abs(sums).max()
        above, below, after, before = thresholds
        moved = (above - slack, below + slack, after - slack, before + slack)
        assert (np.array(told) <= true_shares(sums, moved)).all()


def test_cancelling_numbers_lose_no_soundness():
    low, high = np.array([10**12, 10**12]), np.array([10**12 + 40, 10**12 + 40])
    slope, start = np.array([1.0, -1.0]), np.full(2, -1)
    places = np.arange(41)
    sums = (places[:, None] - places).ravel().astype(float)
    for above in (-40.0, -3.0, 0.0, 3.0, 39.0):
        thresholds = (above, above, above, above + 5.0)
        told = shares(low, high, slope, np.empty(0), start, *thresholds, *room(2))
        assert (np.array(told) <= true_shares(sums, thresholds)).all()


def test_a_very_long_axis_is_counted_without_going_through_it():
    low, high = np.zeros(3, dtype=np.int64), np.array([10**15, 10**9, 3])
    slope, start = np.array([1e-15, 1e-9, 0.25]), np.full(3, -1)
    told = shares(low, high, slope, np.empty(0), start, 1.375, np.nan, 1.0, 1.0, *room(3))
    # the sum of three even ones, about its middle
    assert 0.45 < told[0] <= 0.5 + 1e-6
