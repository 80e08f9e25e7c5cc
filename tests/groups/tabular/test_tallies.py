"""What samples told, and whom to ask about next."""

import numpy as np

from fairdesk.groups.tabular.rule_sets import INSIDE, OUTSIDE, Frequent, Tallies, gathered, grow
from fairdesk.groups.tabular.rules import rules_about
from tests.groups.studies import DOMAIN, people


def tallies(n=500, least=25, bins=4):
    rows = people(DOMAIN, n)[:, DOMAIN.protected]
    members, place = gathered(
        [rules_about(each, rows[:, i], bins=bins) for i, each in enumerate(DOMAIN.grouping)]
    )
    *_, frequent = grow(members, least, 3)
    assert isinstance(frequent, Frequent)
    counted = Tallies(members, frequent.chosen, frequent.rows, 2)
    counted.place = place
    return counted


def masks(counted):
    """Who is inside each rule set, by combination."""
    cells = counted.members.cells
    inside = np.ones((len(counted.chosen), len(cells)), dtype=bool)
    for i, rules in enumerate(counted.members.rules):
        held = np.vstack([rules.sets, np.ones(rules.sets.shape[1], dtype=bool)])
        inside &= held[counted.chosen[:, i]][:, cells[:, i]]
    return inside


def test_samples_are_counted_inside_and_outside():
    counted = tallies()
    rng = np.random.default_rng(1)
    place = rng.integers(0, len(counted.members.weight), 700)
    values = rng.integers(0, 60_000, (2, 700))
    counted.add(place, values)
    inside = masks(counted)[:, place]
    assert (counted.n == [inside.sum(axis=1), (~inside).sum(axis=1)]).all()
    assert (counted.totals[:, INSIDE] == values @ inside.T).all()
    assert (counted.totals[:, OUTSIDE] == values @ ~inside.T).all()
    assert (counted.people.sum(axis=0) == counted.members.weight.sum()).all()


def test_samples_from_a_part_count_only_for_sides_within_it():
    counted = tallies()
    inside = masks(counted)
    where = inside[7] | inside[20]
    place = np.flatnonzero(where).repeat(3)
    counted.add(place, np.ones((2, len(place)), dtype=np.int64), where)
    whole = np.stack([~(inside & ~where).any(axis=1), ~(~inside & ~where).any(axis=1)])
    held = np.stack([inside[:, place].sum(axis=1), (~inside)[:, place].sum(axis=1)])
    assert (counted.n == held * whole).all()
    assert whole.any()
    assert not whole.all()


def test_only_those_that_go_on_are_counted():
    counted = tallies()
    which = np.array([3, 11])
    place = np.arange(len(counted.members.weight))
    counted.add(place, np.ones((2, len(place)), dtype=np.int64), None, which)
    others = np.setdiff1d(np.arange(len(counted.chosen)), which)
    assert (counted.n[:, others] == 0).all()
    assert (counted.n[:, which].sum(axis=0) == len(place)).all()


def test_whoever_is_drawn_next_serves_the_smallest_side():
    counted = tallies()
    wanted = np.full(counted.n.shape, 100)
    rng = np.random.default_rng(2)
    turns = 0
    while (draw := counted.next(wanted)) is not None:
        lacking = (counted.n < wanted).any(axis=0)
        people_there = draw.where[counted.place]
        seeds = rng.choice(np.flatnonzero(people_there), draw.count)
        counted.add(
            counted.place[seeds],
            np.zeros((2, draw.count), dtype=np.int64),
            draw.where,
            np.flatnonzero(lacking),
        )
        turns += 1
        assert turns < 200
    assert (counted.n >= 100).all()
    smallest = counted.people.min()
    # no more than the smallest side alone would cost if everybody were asked
    assert counted.samples < 1.5 * 100 * counted.members.weight.sum() / smallest


def test_a_tiny_side_is_not_waited_for_among_everybody():
    counted = tallies(n=3_000, least=1_000, bins=20)
    wanted = counted.n.copy()
    place = int(counted.people[OUTSIDE].argmin())
    assert counted.people[OUTSIDE, place] < 60
    wanted[OUTSIDE, place] = 1_000
    draw = counted.next(wanted)
    assert counted.members.weight[draw.where].sum() == counted.people[OUTSIDE, place]
    assert 1_000 <= draw.count < 1_100


def test_nothing_more_is_drawn_where_all_have_enough():
    counted = tallies()
    assert counted.next(counted.n) is None
