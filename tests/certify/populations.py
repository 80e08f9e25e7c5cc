"""Small populations over small spaces, and what every point of them weighs, in exact fractions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import strategies as st

from fairdesk.certify.domain.population import Population, fitted
from fairdesk.certify.domain.space import Space, space_of
from fairdesk.data.domain.domain import Domain
from tests.certify.networks import everywhere, names, number

#: Seeds of cases.
SEEDS = st.integers(0, 2**32 - 1)


def rows_of(domain, rng, n):
    """Draw rows whose attributes hang together."""
    mood = rng.random(n)
    rows = np.empty((n, len(domain.attributes)))
    for i, each in enumerate(domain.attributes):
        own = np.where(rng.random(n) < 0.6, mood, rng.random(n))
        rows[:, i] = np.round(each.low + own * (each.high - each.low))
    return domain.clip(rows)


def peopled(space: Space, rows) -> Space:
    """Return a space with the population of rows."""
    of = fitted(space, rows)
    return replace(space, people=Population.over(space, of))


def drawn_space(seed, *, most=4):
    """Draw a small space with a population: numbers and names, one or two protected attributes."""
    from fairdesk.data.domain.attributes import Role

    rng = np.random.default_rng(seed)
    attributes = []
    for i in range(rng.integers(1, most)):
        kind = (number, names)[int(rng.integers(2))]
        attributes.append(kind(f"x{i}", int(rng.integers(1, 7))))
    for name in ("race", "sex")[: rng.integers(1, 3)]:
        kind = (number, names)[int(rng.integers(2))]
        attributes.append(kind(name, int(rng.integers(2, 4)), role=Role.PROTECTED))
    order = rng.permutation(len(attributes))
    domain = Domain(tuple(attributes[i] for i in order))
    rows = rows_of(domain, rng, int(rng.integers(1, 60)))
    space = space_of(domain, rows)
    orders = [
        rng.permutation(axis.count) if rng.random() < 0.5 and axis.listed else None
        for axis in space.axes
    ]
    return peopled(space.reordered(orders), rows), rng


def weights_of(space: Space, combination: int | None = None):
    """Return the points of a space, and the exact weight of each in its population.

    With one combination of protected values, or all values of these.
    """
    points = everywhere(space)
    return points, [_weight(space, point, combination) for point in points.tolist()]


def _weight(space, point, combination=None):
    """Sum over all cells of what has no axis: by definition, one term after the other."""
    of = space.people.of
    names_of = space.domain.names
    axes = {names_of[axis.position]: i for i, axis in enumerate(space.axes)}
    choices, share = [], Fraction(1)
    compared = {}
    if combination is not None:
        places = np.unravel_index(combination, [len(each.cells) for each in of.compared])
        for each, place in zip(of.compared, places, strict=True):
            compared[each.attribute] = each.cells[place]
            share *= Fraction(each.shares[place])
    for node in of.nodes:
        i = axes.get(node.attribute)
        if node.attribute in compared:
            choices.append([compared[node.attribute]])
            continue
        if i is None:
            choices.append(range(len(node.table[0])))
            continue
        cells = [_cell(of.axes[i], place) for place in range(space.axes[i].count)]
        weight = [_own(of.axes[i], place) for place in range(space.axes[i].count)]
        own = cells[point[i]]
        whole = sum(w for w, cell in zip(weight, cells, strict=True) if cell == own)
        share *= Fraction(weight[point[i]], whole)
        choices.append([own])
    total = Fraction(0)
    for cells in product(*choices):
        term = Fraction(1)
        for node, cell in zip(of.nodes, cells, strict=True):
            row = node.table[cells[node.parent] if node.parent >= 0 else 0]
            term *= Fraction(row[cell])
        total += term
    return share * total


def _cell(weights, place):
    run = max(r for r, start in enumerate(weights.starts) if start <= place)
    return weights.cells[run]


def _own(weights, place):
    more = dict(zip(weights.places, weights.more, strict=True))
    return weights.each + more.get(place, 0)


def box_of(space, rng):
    """Draw a box of a space."""
    ends = np.sort([[rng.integers(axis.count) for axis in space.axes] for _ in range(2)], axis=0)
    return ends[0].astype(np.int64), ends[1].astype(np.int64)


def inside(points, low, high):
    """Return which points are in a box."""
    return ((points >= low) & (points <= high)).all(axis=1)


def total_of(weights, which) -> Fraction:
    """Add up the weights of some points."""
    return sum((weights[i] for i in np.flatnonzero(which)), Fraction(0))


def form_of(space, rng):
    """Draw a form, and a box: what the loops are given, its values there, and what they weigh."""
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
    people = space.people
    given_to = people.tree, low, high, people.everything, slope, np.concatenate(tables), start
    return given_to, terms.sum(axis=1), inside(points, low, high), weights
