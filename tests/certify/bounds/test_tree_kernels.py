"""Counting linear forms under a population, against every point in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings

from fairdesk.certify.bounds.tree_kernels import tree_room, tree_shares
from tests.certify.populations import SEEDS, box_of, drawn_space, inside, total_of, weights_of

GRID = 64


@given(SEEDS)
@settings(max_examples=200, deadline=None)
def test_shares_are_never_above_the_truth(seed: int) -> None:
    space, rng = drawn_space(seed)
    points, weights = weights_of(space)
    low, high = box_of(space, rng)
    slope = rng.normal(0, 1, len(space.axes))
    tables, start = [np.empty(0)], np.full(len(space.axes), -1, dtype=np.int64)
    terms = points * slope
    for i in range(len(space.axes)):
        if rng.random() < 0.5:
            start[i] = sum(map(len, tables))
            table = rng.normal(0, 3, space.axes[i].count)
            tables.append(table[low[i] : high[i] + 1])
            terms[:, i] = table[points[:, i]]
            slope[i] = 0.0
    sums = terms.sum(axis=1)
    box = inside(points, low, high)
    whole = total_of(weights, box)
    above, below = np.quantile(sums[box], rng.random()), np.quantile(sums[box], rng.random())
    after, before = np.sort(np.quantile(sums[box], rng.random(2)))
    tree = space.people.tree
    told = tree_shares(
        *(tree, low, high, space.people.everything, slope, np.concatenate(tables), start),
        *(above, below, after, before, GRID, tree_room(tree, GRID)),
    )
    tiny = 1e-12  # the sums here are rounded too
    for share, which in zip(
        told,
        (sums > above + tiny, sums < below - tiny, (sums > after + tiny) & (sums < before - tiny)),
        strict=True,
    ):
        assert Fraction(share) * whole <= total_of(weights, box & which)


@given(SEEDS)
@settings(max_examples=100, deadline=None)
def test_shares_are_nearly_the_truth_on_a_fine_grid(seed: int) -> None:
    space, rng = drawn_space(seed)
    points, weights = weights_of(space)
    low, high = box_of(space, rng)
    slope = rng.integers(-3, 4, len(space.axes)).astype(float)
    sums = (points * slope).sum(axis=1)
    box = inside(points, low, high)
    whole = total_of(weights, box)
    tree = space.people.tree
    above = float(rng.choice(sums[box])) + 0.5
    start = np.full(len(space.axes), -1, dtype=np.int64)
    over, _, _ = tree_shares(
        *(tree, low, high, space.people.everything, slope, np.empty(0), start),
        *(above, -np.inf, 0.0, 0.0, 1024, tree_room(tree, 1024)),
    )
    true = total_of(weights, box & (sums > above)) / whole
    assert float(true) - 1e-9 <= over <= float(true)
