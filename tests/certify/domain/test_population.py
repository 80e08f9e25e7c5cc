"""Masses of boxes in a population, against sums over all points in exact fractions."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.certify.domain.density_kernels import _divergence
from fairdesk.certify.domain.population import Population
from fairdesk.certify.domain.space import space_of
from fairdesk.data.domain.attributes import Role
from fairdesk.data.domain.domain import Domain
from tests.certify.networks import names, number
from tests.certify.populations import (
    SEEDS,
    box_of,
    drawn_space,
    inside,
    peopled,
    rows_of,
    total_of,
    weights_of,
)
from tests.sizes import many


@given(SEEDS)
@settings(max_examples=many(60))
def test_the_mass_of_a_box_is_the_sum_over_its_points(seed: int) -> None:
    space, rng = drawn_space(seed)
    points, weights = weights_of(space)
    low, high = box_of(space, rng)
    true = total_of(weights, inside(points, low, high))
    told = float(space.people.masses(low[None], high[None])[0])
    assert abs(Fraction(told) - true) <= Fraction(space.people.off) * true


@given(SEEDS)
@settings(max_examples=many(60))
def test_everything_adds_up_to_one(seed: int) -> None:
    space, _ = drawn_space(seed)
    assert space.people.total == pytest.approx(1.0, abs=1e-9)
    assert float(sum(weights_of(space)[1])) == pytest.approx(space.people.total, rel=1e-12)


def test_where_it_is_not_clear_who_may_be_counts_with_everything() -> None:
    several = 0
    for seed in range(20):
        space, rng = drawn_space(seed)
        points, weights = weights_of(space)
        axis = int((space.high[0] - space.low[0]).argmax())
        if space.high[0, axis] == space.low[0, axis]:
            continue
        cut = int(rng.integers(space.low[0, axis], space.high[0, axis]))
        low, high = np.repeat(space.low, 2, axis=0), np.repeat(space.high, 2, axis=0)
        high[0, axis], low[1, axis] = cut, cut + 1
        # of the first half it is not known who may be; in the second one nobody may
        nobody = np.zeros_like(space.may_be)
        divided = replace(
            space,
            low=low,
            high=high,
            may_be=np.concatenate([space.may_be, nobody]),
            groups=np.array([0, len(space.may_be)], dtype=np.intp),
            unclear=np.array([True, False]),
        )
        total = Population.over(divided, space.people.of).total
        true = float(total_of(weights, points[:, axis] <= cut))
        assert total == pytest.approx(true, rel=1e-9)
        several += 0.1 < total < 0.9
    assert several > 3


@given(SEEDS)
@settings(max_examples=many(60))
def test_a_box_is_cut_where_half_of_its_mass_is(seed: int) -> None:
    space, rng = drawn_space(seed)
    points, weights = weights_of(space)
    low, high = box_of(space, rng)
    wide = np.flatnonzero(high > low)
    if not wide.size:
        return
    axis = int(rng.choice(wide))
    cut = int(space.people.medians(low[None], high[None], np.array([axis]))[0])
    assert low[axis] <= cut < high[axis]
    whole = inside(points, low, high)
    best = min(
        abs(total_of(weights, whole & (points[:, axis] <= at)) - total_of(weights, whole) / 2)
        for at in range(low[axis], high[axis])
    )
    first = total_of(weights, whole & (points[:, axis] <= cut))
    off = abs(first - total_of(weights, whole) / 2)
    assert float(off) == pytest.approx(float(best), abs=1e-9)


@given(SEEDS)
@settings(max_examples=many(60))
def test_a_box_is_cut_where_its_people_are_concentrated_most(seed: int) -> None:
    space, rng = drawn_space(seed)
    points, weights = weights_of(space)
    low, high = box_of(space, rng)
    axis, cut, gain = (each[0] for each in space.people.densest(low[None], high[None]))
    whole = inside(points, low, high)
    mass = total_of(weights, whole)

    def divergence(i: int, at: int) -> float:
        half = whole & (points[:, i] <= at)
        share, size = float(total_of(weights, half) / mass), half.sum() / whole.sum()
        sides = ((share, size), (1.0 - share, 1.0 - size))
        return sum(one * math.log(one / other) for one, other in sides if one > 0.0)

    cuts = [(i, at) for i in range(len(low)) for at in range(low[i], high[i])]
    best = max((divergence(*each) for each in cuts), default=0.0) if mass else 0.0
    assert gain == pytest.approx(best, abs=1e-9)
    if best > 1e-9:
        assert divergence(int(axis), int(cut)) == pytest.approx(best, abs=1e-9)


def test_how_far_shares_are_apart_is_a_number_where_one_rounds_to_everything() -> None:
    assert _divergence.py_func(0.5, 1.0) == pytest.approx(0.5 * math.log(0.5))
    assert _divergence.py_func(1.0, 1.0) == 0.0
    apart = 0.3 * math.log(0.3 / 0.6) + 0.7 * math.log(0.7 / 0.4)
    assert _divergence.py_func(0.3, 0.6) == pytest.approx(apart)


@given(SEEDS, st.sampled_from([60, 100_000]))
@settings(max_examples=many(25))
def test_a_box_is_cut_inside_of_cells_too(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    sex = names("sex", 2, role=Role.PROTECTED)
    domain = Domain((number("gain", count), number("age", 5), sex))
    rows = rows_of(domain, rng, 80)
    # a value that most have, as who gains nothing
    rows[rng.random(80) < 0.7, 0] = rng.integers(count)
    space = peopled(space_of(domain, rows), rows)
    low, high = box_of(space, rng)
    axis, cut, gain = (each[0] for each in space.people.densest(low[None], high[None]))
    mass = float(space.people.masses(low[None], high[None])[0])
    size = float(np.prod(high - low + 1.0))
    if not mass or size == 1.0:
        return

    def divergence(i: int, at: int) -> float:
        end = high.copy()
        end[i] = at
        share = min(float(space.people.masses(low[None], end[None])[0]) / mass, 1.0)
        part = float(np.prod(end - low + 1.0)) / size
        sides = ((share, part), (1.0 - share, 1.0 - part))
        return sum(one * math.log(one / other) for one, other in sides if one > 0.0)

    assert gain == pytest.approx(divergence(int(axis), int(cut)), abs=1e-6)
    peak = int(np.argmax(np.bincount(rows[:, 0].astype(np.int64))))
    wanted = {*range(60), peak - 1, peak}
    for i, at in [(0, each) for each in wanted] + [(1, each) for each in range(4)]:
        if low[i] <= at < high[i] and (count == 60 or i == 1 or at in {peak - 1, peak}):
            assert gain >= divergence(i, at) - 1e-6
