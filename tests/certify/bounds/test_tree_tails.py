"""Tails of linear forms under a population, against every point in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from fairdesk.certify.bounds import tree_tails
from fairdesk.certify.bounds.tree_kernels import tree_room
from tests.certify.bounds.test_tree_kernels import GRID
from tests.certify.parts_called import called
from tests.certify.populations import SEEDS, drawn_space, form_of, total_of, weights_of
from tests.sizes import many

tree_moments, tree_tail = called(tree_tails.tree_moments), called(tree_tails.tree_tail)


@given(SEEDS)
@settings(max_examples=many(150))
def test_a_tail_is_never_less_than_the_truth(seed: int) -> None:
    space, rng = drawn_space(seed)
    given_to, sums, box, weights = form_of(space, rng)
    whole = total_of(weights, box)
    room = tree_room(space.people.tree, GRID)
    tiny = 1e-12  # the sums here are rounded too
    for sign in (-1.0, 1.0):
        limit = np.quantile(sums[box], rng.random()) + sign * rng.choice([0.0, 0.1, 2.0])
        by = sign * float(rng.choice([1e-9, 0.01, 0.3, 1.0, 4.0, 1e3, 1e12]))
        beyond = box & (sign * sums >= sign * limit + tiny)
        told = tree_tail(*given_to, float(limit), by, room)
        assert Fraction(told) * whole >= total_of(weights, beyond)
        assert told <= 1.0


def test_a_tail_is_never_less_than_the_mean_of_its_exponential() -> None:
    """Of places that are taken together the one counts at which the exponent is greatest."""
    together = 0
    for seed in range(80):
        space, _ = drawn_space(seed)
        points, weights = weights_of(space)
        mass = np.array([float(each) for each in weights])
        axes = len(space.axes)
        slope, starts = np.full(axes, 0.01), np.full(axes, -1, dtype=np.int64)
        sums, people = points @ slope, space.people
        given_to = people.tree, space.low[0], space.high[0], people.everything, slope
        for by in (1.0, -1.0):
            limit = float((by * sums).max()) / by
            mean = float(mass @ np.exp(by * (sums - limit)) / mass.sum())
            told = tree_tail(
                *given_to, np.empty(0), starts, limit, by, tree_room(people.tree, GRID)
            )
            assert told >= mean * (1.0 - 1e-12)
            together += told > mean * (1.0 + 1e-6)
    assert together > 3


@given(SEEDS)
@settings(max_examples=many(60))
def test_moments_are_those_of_the_people(seed: int) -> None:
    space, rng = drawn_space(seed)
    given_to, sums, box, weights = form_of(space, rng)
    mass = np.array([float(each) for each in weights]) * box
    mean, deviation = tree_moments(*given_to, tree_room(space.people.tree, GRID))
    if not mass.sum() > 0:
        assert deviation == 0.0
        return
    true = float(mass @ sums / mass.sum())
    assert mean == pytest.approx(true, abs=1e-9)
    spread = float(np.sqrt(mass @ (sums - true) ** 2 / mass.sum()))
    assert deviation == pytest.approx(spread, abs=1e-6)


def test_a_tail_is_small_far_from_the_mean() -> None:
    """Where some numbers of each of many axes are large: what the exponential says, not all."""
    space, _ = drawn_space(11, most=6)
    people, axes = space.people, len(space.axes)
    low, high = space.low[0], space.high[0]
    form = np.ones(axes), np.empty(0), np.full(axes, -1, dtype=np.int64)
    given_to, room = (
        (people.tree, low, high, people.everything, *form),
        tree_room(people.tree, GRID),
    )
    mean, deviation = tree_moments(*given_to, room)
    told = [tree_tail(*given_to, mean + k * deviation, k / deviation, room) for k in (1, 2, 3)]
    assert told == sorted(told, reverse=True)
    assert told[1] < 0.3
    assert told[2] < 0.1
