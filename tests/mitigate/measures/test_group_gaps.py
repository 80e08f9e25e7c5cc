"""How far groups are apart: against fairlearn, by hand, and in many made-up samples."""

from itertools import pairwise

import numpy as np
import pytest
from fairlearn.metrics import (
    demographic_parity_difference,
    demographic_parity_ratio,
    equalized_odds_difference,
)
from statsmodels.stats.proportion import confint_proportions_2indep

from fairdesk.mitigate.measures.group_gaps import Grouped, gap_changes, gaps, grouped
from tests.mitigate import making


def of(*sizes):
    edges = np.cumsum((0, *sizes))
    return Grouped("group", tuple(np.arange(a, b) for a, b in pairwise(edges)))


def answers(rng, rates, sizes):
    rate = np.repeat(rates, sizes)
    label = rng.random(len(rate)) < 0.4
    return rng.random(len(rate)) < np.clip(rate + 0.2 * label, 0, 1), label


def test_they_are_those_of_fairlearn():
    sizes = (80, 50, 30)
    good, label = answers(np.random.default_rng(0), (0.5, 0.3, 0.4), sizes)
    groups = np.repeat(list("abc"), sizes)
    told = gaps(of(*sizes), good, label).estimates
    about = {"sensitive_features": groups}
    assert told["rate_gap"] == pytest.approx(demographic_parity_difference(label, good, **about))
    assert told["impact_ratio"] == pytest.approx(demographic_parity_ratio(label, good, **about))
    assert told["error_gap"] == pytest.approx(equalized_odds_difference(label, good, **about))


def test_of_two_groups_the_interval_is_newcombes():
    good = np.repeat([True, False, True, False], [30, 70, 5, 55])
    told = gaps(of(100, 60), good, good).ends["rate_gap"]
    assert told == pytest.approx(confint_proportions_2indep(30, 100, 5, 60, method="newcomb"))
    # where it is not sure which is ahead, they may be equal
    good = np.repeat([True, False, True, False], [30, 70, 10, 50])
    low, _ = confint_proportions_2indep(30, 100, 10, 60, method="newcomb")
    assert low < gaps(of(100, 60), good, good).ends["rate_gap"][0] == 0


@pytest.mark.parametrize("rates", [(0.3, 0.3, 0.3), (0.5, 0.4, 0.1), (0.05, 0.02)])
def test_intervals_hold_the_truth_at_least_so_often(rates):
    rng = np.random.default_rng(5)
    sizes = (120, 60, 40)[: len(rates)]
    truth = {"rate_gap": max(rates) - min(rates), "impact_ratio": min(rates) / max(rates)}
    held = dict.fromkeys(truth, 0)
    groups, times = of(*sizes), 400
    for _ in range(times):
        good = rng.random(sum(sizes)) < np.repeat(rates, sizes)
        ends = gaps(groups, good, np.zeros_like(good)).ends
        for what, true in truth.items():
            low, high = ends[what]
            # nobody favourable at all: then there is no ratio, and nothing is claimed
            held[what] += low is None or low <= true <= high
    assert min(held.values()) / times >= 0.93


def test_rates_at_the_ends_leave_intervals_that_can_be():
    for good in (np.zeros(60, bool), np.ones(60, bool), np.arange(60) < 30):
        told = gaps(of(30, 30), good, good)
        for what, (low, high) in told.ends.items():
            estimate = told.estimates[what]
            assert (low is None) == (high is None) == (estimate is None)
            assert low is None or 0 <= low <= estimate <= high <= 1
    nobody = gaps(of(30, 30), np.zeros(60, bool), np.zeros(60, bool)).estimates
    assert nobody["impact_ratio"] is None  # no rate to compare with
    assert nobody["rate_gap"] == 0


def test_one_group_has_nothing_to_be_compared_with():
    told = gaps(of(30), np.ones(30, bool), np.ones(30, bool))
    assert set(told.estimates.values()) == {None}


def test_error_rates_that_are_known_of_one_group_only_are_no_gap():
    label = np.arange(60) < 5
    told = gaps(of(30, 30), label, label).estimates
    assert told["error_gap"] == 0  # false alarms are known of both, hits of one
    apart = gaps(of(30, 30), np.ones(60, bool), np.arange(60) < 30)
    assert apart.estimates["error_gap"] is None  # hits of one, false alarms of the other
    assert apart.ends["error_gap"] == (None, None)


def test_groups_of_less_than_two_hundredths_are_left_out(mitigation):
    places = np.arange(500)
    groups = mitigation.groups.copy()
    groups[:500, 0] = 1.0
    groups[:9, 0] = 0.0
    (few,) = grouped(making.fresh(mitigation, groups=groups), places)
    assert (few.people, len(few.groups)) == (491, 1)
    groups[9, 0] = 0.0
    (enough,) = grouped(making.fresh(mitigation, groups=groups), places)
    assert (enough.people, len(enough.groups)) == (500, 2)


@pytest.mark.parametrize(
    ("before", "after"),
    [((0.3, 0.15), (0.3, 0.28)), ((0.2, 0.2), (0.3, 0.15)), ((0.5, 0.4, 0.2), (0.5, 0.45, 0.4))],
)
def test_intervals_of_changes_hold_the_truth_so_often(before, after):
    rng = np.random.default_rng(0)
    sizes, times = (300, 150, 100)[: len(before)], 60
    groups = of(*sizes)
    truth = {
        "rate_gap": np.ptp(after) - np.ptp(before),
        "impact_ratio": min(after) / max(after) - min(before) / max(before),
    }
    held = dict.fromkeys(truth, 0)
    for _ in range(times):
        lots = rng.random(sum(sizes))
        # most are decided by both models for the same reason
        others = np.where(rng.random(len(lots)) < 0.8, lots, rng.random(len(lots)))
        new, old = others < np.repeat(after, sizes), lots < np.repeat(before, sizes)
        told = gap_changes(groups, new, old, lots < 0.3, rng, 0.05)
        for what, true in truth.items():
            (low, high), p = told[what]
            held[what] += low <= true <= high
            assert (p > 0.04) or low > 0 or high < 0
    assert min(held.values()) / times >= 0.9


def test_a_change_is_the_other_way_round_for_the_other():
    rng = np.random.default_rng(2)
    sizes = (150, 90)
    before, label = answers(rng, (0.6, 0.3), sizes)
    after = before ^ (rng.random(sum(sizes)) < 0.1)
    one, other = (
        gap_changes(of(*sizes), *pair, label, np.random.default_rng(0), 0.05)
        for pair in ((after, before), (before, after))
    )
    for what, ((low, high), p) in one.items():
        assert other[what][0] == pytest.approx((-high, -low), abs=0.03)
        assert other[what][1] == pytest.approx(p, abs=0.1)
    same = gap_changes(of(*sizes), before, before, label, rng, 0.05)
    assert same["rate_gap"] == ((None, None), 1)


def test_rounding_keeps_no_estimate_from_its_interval():
    """All of one group are false alarms, none of the other: not a hair more than everybody."""
    for people in range(3, 22):
        for positive in range(people):
            label = np.arange(2 * people) % people < positive
            good = label.copy()
            good[:people] = True
            told = gaps(of(people, people), good, label)
            low, high = told.ends["error_gap"]
            assert 0 <= low <= told.estimates["error_gap"] <= high <= 1
