"""Which rules there are about one attribute."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdesk.data.domain.attributes import Role
from fairdesk.data.table import Kind
from fairdesk.errors import SpecError
from fairdesk.groups.options import MOST_NAMES
from fairdesk.groups.tabular.rules import members, needs_rates, rules_about
from tests import phrases
from tests.groups.studies import AGE, RACE, nominal, number

GRADES = nominal("grade", ["low", "mid", "high"], Role.PROTECTED, kind=Kind.ORDINAL)
PERCENT = number("percent", 0, 1, Role.PROTECTED, kind=Kind.REAL)
SIZES = number("size", 0, 400, Role.PROTECTED)


def many(count):
    return nominal("many", [f"n{i}" for i in range(count)], Role.PROTECTED)


def test_names_make_all_subsets():
    rules = rules_about(RACE, np.array([0.0, 1, 2, np.nan]), bins=10)
    assert {each.codes for each in rules.conditions} == {
        (0.0,),
        (1.0,),
        (2.0,),
        (0.0, 1.0),
        (0.0, 2.0),
        (1.0, 2.0),
    }
    assert rules.cells.tolist() == [0, 1, 2, -1]


def test_a_name_that_nobody_has_is_in_no_rule():
    rules = rules_about(RACE, np.array([0.0, 2, 2]), bins=10)
    assert {each.codes for each in rules.conditions} == {(0.0,), (2.0,)}


def test_ordered_names_make_runs():
    rules = rules_about(GRADES, np.array([0.0, 1, 2]), bins=10)
    assert {each.codes for each in rules.conditions} == {
        (0.0,),
        (0.0, 1.0),
        (1.0,),
        (1.0, 2.0),
        (2.0,),
    }


def test_who_is_unknown_stands_outside_the_order():
    grade = msgspec.structs.replace(
        GRADES, values=("low", "mid", "high", "Unknown"), high=3.0, unknown=True
    )
    rules = rules_about(grade, np.array([0.0, 1, 2, 3]), bins=10)
    assert {each.codes for each in rules.conditions} == {
        (0.0,),
        (0.0, 1.0),
        (1.0,),
        (1.0, 2.0),
        (2.0,),
        (3.0,),
    }


def test_unknown_is_a_name_like_others():
    race = msgspec.structs.replace(RACE, values=("a", "b", "Unknown"), unknown=True)
    rules = rules_about(race, np.array([0.0, 1, 2, 2]), bins=10)
    assert len(rules.conditions) == 6
    assert "not known in 2 rows" in rules.notes[0]


def test_who_is_missing_is_counted():
    rules = rules_about(AGE, np.array([20.0, 30, np.nan]), bins=10)
    (note,) = rules.notes
    assert "“age” is missing in 1 row: rules about it do not include them, so they count" in note


def test_more_names_or_edges_than_make_rules_are_refused():
    with pytest.raises(SpecError, match="5,000 categories"):
        rules_about(many(5_000), np.arange(5_000.0), bins=10)
    with pytest.raises(SpecError, match="61 bins"):
        rules_about(AGE, np.arange(18.0, 68.0), bins=10, edges=tuple(range(1, 61)))


@pytest.mark.parametrize("k", [2, 5, MOST_NAMES])
def test_there_are_two_to_the_k_less_two(k):
    assert len(rules_about(many(k), np.arange(k) * 1.0, bins=10).sets) == 2**k - 2


def test_too_many_names_are_tried_singly_and_by_rate_and_that_is_said():
    k = MOST_NAMES + 2
    codes = np.repeat(np.arange(k), k).astype(float)
    # the rate falls with the code
    good = np.tile(np.arange(k), k) < k - codes
    rules = rules_about(many(k), codes, bins=10, favourable=good.astype(float))
    told = {frozenset(each.codes) for each in rules.conditions}
    everyone = frozenset(map(float, range(k)))
    single = {frozenset([code]) for code in everyone}
    prefixes = {frozenset(map(float, range(i))) for i in range(1, k)}
    assert told == single | {everyone - one for one in single} | prefixes | {
        everyone - some for some in prefixes
    }
    assert "12 categories" in rules.notes[0]
    assert needs_rates(many(k), "all", "names")
    assert not needs_rates(many(k), "single", "names")
    assert not needs_rates(RACE, "all", "names")


def test_single_names_and_all_but_them():
    rules = rules_about(RACE, np.array([0.0, 1, 2]), bins=10, subsets="single")
    assert len(rules.sets) == 6
    assert len(rules_about(many(6), np.arange(6.0), bins=10, subsets="single").sets) == 12
    assert not rules.notes


def test_ordered_names_are_sorted_by_rate():
    codes = np.repeat([0.0, 1, 2, 3], 4)
    good = np.array([1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, np.nan, np.nan, 0])
    rules = rules_about(many(4), codes, bins=10, subsets="ordered", favourable=good)
    assert {each.codes for each in rules.conditions} == {
        (2.0,),
        (0.0, 2.0),
        (0.0, 2.0, 3.0),
        (1.0,),
        (1.0, 3.0),
        (0.0, 1.0, 3.0),
    }


def test_whole_numbers_are_binned_and_ends_are_open():
    rules = rules_about(AGE, np.arange(18.0, 68.0), bins=5)
    assert rules.sets.shape == (5 * 6 // 2 - 1, 5)
    told = {(each.low, each.high) for each in rules.conditions}
    assert {(None, 27.0), (28.0, 37.0), (58.0, None), (28.0, None), (None, 57.0)} <= told
    assert not any(each.below for each in rules.conditions)


@pytest.mark.parametrize("given", [{"coded": "ordered"}, {"edges": (25.0, 45.0)}])
@pytest.mark.parametrize("values", [(1, 2, 3), (1, 2, 4, 9), (0, 5, 7, 20, 21)])
def test_coded_names_are_no_ranges_unless_they_are_said_to_be(values, given):
    """“race 1 and under” is no group: which code comes first says nothing of people."""
    attribute = number("race", 0, 30, Role.PROTECTED)
    codes = np.array([*values, *values, np.nan], dtype=float)
    rules = rules_about(attribute, codes, bins=4)
    assert len(rules.conditions) == 2 ** len(values) - 2
    assert all(each.low is None and each.high is None for each in rules.conditions)
    assert {(float(values[0]), float(values[-1])), (float(values[1]),)} <= {
        each.codes for each in rules.conditions
    }
    assert phrases.UNORDERED in rules.notes[0]
    for each, held in zip(rules.conditions, rules.sets, strict=True):
        inside = members([attribute], codes[:, None], [each])
        assert inside.tolist() == [cell >= 0 and bool(held[cell]) for cell in rules.cells]
    ranges = rules_about(attribute, codes, bins=4, **given)
    assert not any(each.codes for each in ranges.conditions)
    assert not any(phrases.UNORDERED in note for note in ranges.notes)


def test_many_whole_numbers_are_ordered():
    rules = rules_about(AGE, np.arange(18.0, 18.0 + MOST_NAMES + 1), bins=10)
    assert not any(each.codes for each in rules.conditions)


def test_coded_names_may_be_put_in_the_order_of_their_rates():
    codes = np.repeat([1.0, 2.0, 3.0], 4)
    favourable = np.repeat([0.5, 0.0, 1.0], 4)
    assert needs_rates(SIZES, "ordered", "names")
    assert not needs_rates(SIZES, "all", "names")
    assert not needs_rates(SIZES, "ordered", "ordered")
    rules = rules_about(SIZES, codes, bins=10, subsets="ordered", favourable=favourable)
    assert {each.codes for each in rules.conditions} == {(2.0,), (1.0, 2.0), (1.0, 3.0), (3.0,)}


def test_few_whole_numbers_have_a_bin_each():
    rules = rules_about(AGE, np.array([20.0, 30, 30, 60]), bins=10, coded="ordered")
    assert {(each.low, each.high) for each in rules.conditions} == {
        (20.0, 20.0),
        (None, 30.0),
        (30.0, 30.0),
        (30.0, None),
        (60.0, 60.0),
    }


@pytest.mark.parametrize("attribute", [SIZES, PERCENT], ids=["whole", "fractions"])
def test_a_rule_about_one_value_says_that_value(attribute):
    codes = np.array([0.0, 1, 1, np.nan, 0])
    rules = rules_about(attribute, codes, bins=10, coded="ordered")
    assert [(each.low, each.high) for each in rules.conditions] == [(0, 0), (1, 1)]
    assert not any(each.below for each in rules.conditions)
    assert [members([attribute], codes[:, None], [each]).tolist() for each in rules.conditions] == [
        [True, False, False, False, True],
        [False, True, True, False, False],
    ]
    halves = rules_about(attribute, np.array([0.0, 0.5, 1.0]) * 2, bins=10, coded="ordered")
    assert {(each.low, each.high, each.below) for each in halves.conditions} == {
        *((0, 0, False), (1, 1, False), (2, 2, False)),
        *((None, 1, False), (1, None, False)),
    }
    # so do the auditor's own bins, where one holds one value
    rules = rules_about(SIZES, np.array([0.0, 1, 1, 0]), bins=10, edges=(1.0,))
    assert [(each.low, each.high) for each in rules.conditions] == [(0, 0), (1, 1)]


def test_fractions_share_an_edge():
    rules = rules_about(PERCENT, np.linspace(0, 1, 101), bins=4)
    assert {(each.low, each.high, each.below) for each in rules.conditions} == {
        (None, 0.25, True),
        (None, 0.5, True),
        (None, 0.75, True),
        (0.25, 0.5, True),
        (0.25, 0.75, True),
        (0.25, None, False),
        (0.5, 0.75, True),
        (0.5, None, False),
        (0.75, None, False),
    }


def test_edges_are_taken_instead():
    rules = rules_about(AGE, np.arange(18.0, 68.0), bins=10, edges=(25, 39.5))
    assert {(each.low, each.high) for each in rules.conditions} == {
        (None, 24.0),
        (None, 39.0),
        (25.0, 39.0),
        (25.0, None),
        (40.0, None),
    }


def test_a_run_begins_and_ends_with_somebody():
    # nobody is between 30 and 60
    codes = np.concatenate([np.arange(18.0, 30.0), np.arange(60.0, 68.0)])
    rules = rules_about(AGE, codes, bins=5)
    assert {(each.low, each.high) for each in rules.conditions} == {
        (None, 27.0),
        (None, 37.0),
        (28.0, 37.0),
        (28.0, None),
        (58.0, None),
    }


def test_very_many_ordered_names_are_put_together():
    grade = nominal("grade", [str(i) for i in range(200)], Role.PROTECTED, kind=Kind.ORDINAL)
    rules = rules_about(grade, np.arange(200.0), bins=10)
    assert len(rules.sets) == 54
    assert "200 values" in rules.notes[0]
    assert tuple(map(float, range(20))) in {each.codes for each in rules.conditions}


@given(
    st.sampled_from([RACE, GRADES, AGE, PERCENT, SIZES, many(7)]),
    st.lists(st.one_of(st.floats(0, 1), st.just(np.nan)), min_size=1, max_size=60),
    st.integers(2, 12),
)
def test_conditions_say_what_the_cells_do(attribute, lots, bins):
    lots = np.array(lots)
    codes = attribute.low + lots * (attribute.high - attribute.low)
    codes = np.round(codes) if attribute.integral else codes
    rules = rules_about(attribute, codes, bins=bins)
    held = np.pad(rules.sets, ((0, 0), (0, 1)))[:, rules.cells]
    seen = set()
    for rule, condition in enumerate(rules.conditions):
        inside = members([attribute], codes[:, None], (condition,))
        assert (inside == held[rule]).all()
        assert 0 < inside.sum() < (~np.isnan(codes)).sum()
        seen.add(inside.tobytes())
    # no two rules describe the same people
    assert len(seen) == len(rules.conditions)
