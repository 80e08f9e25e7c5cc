"""Counting linear forms under a population, against every point in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings

from fairdesk.certify.bounds import network
from fairdesk.certify.bounds.network import steps_for
from fairdesk.certify.bounds.tree_kernels import tree_room, tree_shares
from fairdesk.certify.domain.space import space_of
from fairdesk.data.domain.attributes import Role
from fairdesk.data.domain.domain import Domain
from tests.certify.networks import number
from tests.certify.populations import (
    SEEDS,
    box_of,
    drawn_space,
    form_of,
    inside,
    peopled,
    rows_of,
    total_of,
    weights_of,
)
from tests.sizes import many

GRID = 64


@given(SEEDS)
@settings(max_examples=many(200))
def test_shares_are_never_above_the_truth(seed: int) -> None:
    space, rng = drawn_space(seed)
    given_to, sums, box, weights = form_of(space, rng)
    whole = total_of(weights, box)
    above, below = np.quantile(sums[box], rng.random()), np.quantile(sums[box], rng.random())
    after, before = np.sort(np.quantile(sums[box], rng.random(2)))
    grid = int(rng.choice([GRID, steps_for(space), 700]))
    told = tree_shares(
        *(*given_to, above, below, after, before, grid),
        tree_room(space.people.tree, grid),
    )
    tiny = 1e-12  # the sums here are rounded too
    for share, which in zip(
        told,
        (sums > above + tiny, sums < below - tiny, (sums > after + tiny) & (sums < before - tiny)),
        strict=True,
    ):
        assert Fraction(share) * whole <= total_of(weights, box & which)


@given(SEEDS)
@settings(max_examples=many(100))
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


def test_many_axes_are_counted_on_a_finer_grid(monkeypatch):
    """Each axis is rounded by itself: what is not told near a threshold grows with them."""
    rng = np.random.default_rng(0)
    for axes, least in ((3, 0.97), (19, 0.8)):
        attributes = [number(f"x{i}", 40) for i in range(axes)]
        domain = Domain((*attributes, number("sex", 2, role=Role.PROTECTED)))
        rows = rows_of(domain, rng, 200)
        space = peopled(space_of(domain, rows), rows)
        steps, tree = steps_for(space), space.people.tree
        slope, start = rng.normal(size=axes), np.full(axes, -1, dtype=np.int64)
        low, high = space.low[0], space.high[0]
        middle = float(slope @ (low + high)) / 2.0
        over, under, _ = tree_shares(
            *(tree, low, high, space.people.everything, slope, np.empty(0), start),
            *(middle, middle, 0.0, 0.0, steps, tree_room(tree, steps)),
        )
        # each half begins at the middle
        assert least < over + under <= 1.0
    # but not so fine that the cells of the population take too much room
    monkeypatch.setattr(network, "_ROOM", 300 * tree.whole.size)
    assert steps_for(space) == 300
    monkeypatch.setattr(network, "_ROOM", 1)
    assert steps_for(space) == 256
