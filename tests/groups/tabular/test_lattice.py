"""Which rule sets tell of the same finding, and which are one step from each other."""

import numpy as np

from fairdesk.groups.tabular import results
from fairdesk.groups.tabular.results import beside, leaders
from fairdesk.groups.tabular.rule_sets import Frequent, gathered, grow
from fairdesk.groups.tabular.rules import rules_about
from tests.groups.studies import AGE, DOMAIN, RACE, SEX, people


def mined(n=2_000, least=20, seed=0):
    rows = people(DOMAIN, n, seed)[:, DOMAIN.protected]
    members, _ = gathered(
        [rules_about(each, rows[:, i], bins=4) for i, each in enumerate((SEX, RACE, AGE))]
    )
    *_, frequent = grow(members, least, 3)
    assert isinstance(frequent, Frequent)
    return members, frequent.chosen


def find(members, chosen, **wanted):
    """Find the rule set with these conditions: codes, or (low, high)."""
    for place, each in enumerate(chosen.tolist()):
        told = {
            rules.attribute.name: rules.conditions[rule].codes
            or (rules.conditions[rule].low, rules.conditions[rule].high)
            for rules, rule in zip(members.rules, each, strict=True)
            if rule >= 0
        }
        if told == wanted:
            return place
    raise LookupError(wanted)


def told(members, chosen, places):
    return {
        frozenset(
            (
                rules.attribute.name,
                rules.conditions[rule].codes
                or (rules.conditions[rule].low, rules.conditions[rule].high),
            )
            for rules, rule in zip(members.rules, chosen[place].tolist(), strict=True)
            if rule >= 0
        )
        for place in places.tolist()
    }


def test_a_step_is_a_rule_or_a_cell():
    members, chosen = mined()
    ends = sorted({each.low for each in members.rules[2].conditions if each.low is not None})
    middle = (ends[0], ends[1] - 1)
    place = find(members, chosen, sex=(0.0,), age=middle)
    broader, narrower = beside(members, chosen, place)
    sex = ("sex", (0.0,))
    assert told(members, chosen, broader) == {
        frozenset([sex]),
        frozenset([("age", middle)]),
        frozenset([sex, ("age", (None, middle[1]))]),
        frozenset([sex, ("age", (middle[0], ends[2] - 1))]),
    }
    races = [(0.0,), (1.0,), (2.0,), (0.0, 1.0), (0.0, 2.0), (1.0, 2.0)]
    there = told(members, chosen, narrower)
    assert there <= {frozenset([sex, ("age", middle), ("race", race)]) for race in races}
    assert frozenset([sex, ("age", middle), ("race", (0.0,))]) in there
    place = find(members, chosen, race=(0.0, 1.0), sex=(0.0,))
    broader, narrower = beside(members, chosen, place)
    assert told(members, chosen, broader) == {
        frozenset([sex]),
        frozenset([("race", (0.0, 1.0))]),
    }
    assert {
        frozenset([sex, ("race", (0.0,))]),
        frozenset([sex, ("race", (1.0,))]),
    } <= told(members, chosen, narrower)


def test_steps_back_lead_forth():
    members, chosen = mined()
    for place in range(0, len(chosen), 17):
        broader, narrower = beside(members, chosen, place)
        assert all(place in beside(members, chosen, other)[1] for other in broader.tolist())
        assert all(place in beside(members, chosen, other)[0] for other in narrower.tolist())


def fold(members, chosen, gap):
    order = np.argsort(-np.abs(gap), kind="stable")
    return order, leaders(members, chosen[order], gap[order], np.random.default_rng(0))


def gaps_of(members, chosen, seed):
    """Return gaps as they come about: each combination has a rate of its own."""
    rates = np.random.default_rng(seed).random(len(members.weight))
    inside = members.totals(chosen, np.eye(len(rates), dtype=np.int64)).T * members.weight
    outside = members.weight - inside
    return inside @ rates / inside.sum(axis=1) - outside @ rates / outside.sum(axis=1)


def test_men_tell_what_women_do():
    members, chosen = mined()
    men, women = find(members, chosen, sex=(1.0,)), find(members, chosen, sex=(0.0,))
    places = np.array([men, women])
    assert leaders(
        members, chosen[places], np.array([0.2, 0.2]), np.random.default_rng(0)
    ).tolist() == [-1, 0]


def test_nearly_everybody_is_not_one_finding():
    members, chosen = mined()
    last = max(each.low for each in members.rules[2].conditions if each.low is not None)
    young = find(members, chosen, age=(None, last - 1))
    common = find(members, chosen, race=(0.0, 1.0))
    places = np.array([young, common])
    both = leaders(members, chosen[places], np.array([0.4, 0.1]), np.random.default_rng(0))
    assert both.tolist() == [-1, -1]


def test_variants_have_a_leader_that_stands_for_itself():
    members, chosen = mined()
    gap = gaps_of(members, chosen, 3)
    order, leader = fold(members, chosen, gap)
    standing = np.flatnonzero(leader < 0)
    assert leader[0] == -1
    assert 1 < len(standing) < len(chosen) / 3
    assert set(leader[leader >= 0]) <= set(standing)
    assert (leader < np.arange(len(leader))).all()
    masks = members.totals(chosen[order], np.eye(len(members.weight), dtype=np.int64)).T > 0
    for i in range(0, len(chosen), 7):
        earlier = [j for j in standing if j < i]
        alike = [same(members.weight, masks[i], masks[j], gap[order[[i, j]]]) for j in earlier]
        wanted = next((j for j, so in zip(earlier, alike, strict=True) if so), -1)
        assert leader[i] == wanted


def same(weight, one, other, gaps):
    """Return the plain way whether the first is a variant of the other."""

    def jaccard(a, b):
        return weight[a & b].sum() / max(weight[a | b].sum(), 1)

    alike = max(
        min(jaccard(one, other), jaccard(~one, ~other)),
        min(jaccard(one, ~other), jaccard(~one, other)),
    )
    mine, theirs = gaps
    if 2 * weight[other].sum() > weight.sum():
        other, theirs = ~other, -theirs
    nested = False
    for each, gap in ((one, mine), (~one, -mine)):
        shared = weight[each & other].sum()
        nested |= shared >= 0.9 * weight[each].sum() and gap * theirs > 0
        nested |= shared >= 0.9 * weight[other].sum() and gap / theirs >= 0.9
    return alike >= 0.5 or nested


def test_a_part_that_differs_less_is_a_variant_and_one_that_differs_otherwise_is_not():
    members, chosen = mined()
    whole, part = find(members, chosen, sex=(1.0,)), find(members, chosen, sex=(1.0,), race=(1.0,))
    places = np.array([whole, part])
    rng = np.random.default_rng(0)
    assert leaders(members, chosen[places], np.array([0.2, 0.1]), rng).tolist() == [-1, 0]
    assert leaders(members, chosen[places], np.array([0.2, -0.1]), rng).tolist() == [-1, -1]
    # what is broader must differ nearly as much
    places = places[::-1]
    assert leaders(members, chosen[places], np.array([0.2, 0.1]), rng).tolist() == [-1, -1]
    assert leaders(members, chosen[places], np.array([0.2, 0.19]), rng).tolist() == [-1, 0]


def test_many_at_once_are_as_few(monkeypatch):
    members, chosen = mined()
    gap = gaps_of(members, chosen, 4)
    _, leader = fold(members, chosen, gap)
    monkeypatch.setattr(results, "_AT_ONCE", 7)
    assert (fold(members, chosen, gap)[1] == leader).all()


def test_likeness_may_be_measured_on_a_sample(monkeypatch):
    members, chosen = mined()
    gap = gaps_of(members, chosen, 4)
    _, leader = fold(members, chosen, gap)
    monkeypatch.setattr(results, "_MOST", 1)
    roughly = fold(members, chosen, gap)[1]
    assert ((leader < 0) == (roughly < 0)).mean() > 0.9
