"""Members as bit sets, and which rule sets are frequent."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.data.domain.attributes import Role
from fairdesk.data.table import Kind
from fairdesk.groups.tabular import rule_sets
from fairdesk.groups.tabular.rule_sets import Frequent, counted, gathered, grow, packed, unpacked
from fairdesk.groups.tabular.rules import rules_about
from tests.groups.studies import AGE, RACE, SEX, number
from tests.sizes import many

ATTRIBUTES = (SEX, AGE, RACE, number("share", 0, 1, Role.PROTECTED, kind=Kind.REAL))


def table(seed, n, *, missing=True):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": rng.integers(0, 2, n).astype(float),
            "age": rng.integers(18, 68, n).astype(float),
            "race": rng.choice([0.0, 1.0, 2.0], n, p=[0.6, 0.3, 0.1]),
            "share": rng.random(n),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.05) if missing else frame


def members_of(frame, bins=4):
    return gathered(
        [rules_about(each, frame[each.name].to_numpy(), bins=bins) for each in ATTRIBUTES]
    )


def filtered(frame, conditions):
    """Filter as an auditor would."""
    for each in conditions:
        column = frame[each.attribute]
        if each.codes:
            frame = frame[column.isin(each.codes)]
            continue
        frame = frame[column.notna()]
        if each.low is not None:
            frame = frame[frame[each.attribute] >= each.low]
        if each.high is not None:
            above = frame[each.attribute] >= each.high
            frame = frame[~above if each.below else frame[each.attribute] <= each.high]
    return frame


def conditions_of(members, chosen):
    return [
        rules.conditions[rule]
        for rules, rule in zip(members.rules, chosen.tolist(), strict=True)
        if rule >= 0
    ]


def frequent(members, least, together):
    *_, last = grow(members, least, together)
    assert isinstance(last, Frequent)
    return last


@settings(max_examples=many(30))
@given(st.integers(0, 10_000), st.integers(1, 300))
def test_bit_sets_are_what_pandas_filters(seed, n):
    frame = table(seed, n)
    members, place = members_of(frame)
    rng = np.random.default_rng(seed)
    counts = [len(each.sets) for each in members.rules]
    chosen = np.stack([rng.integers(-1, count, 8) for count in counts], axis=1).astype(np.int16)
    money = rng.integers(0, 1_000, n)
    per = np.bincount(place, money).astype(np.int64)
    people, total = members.totals(chosen, np.stack([members.weight, per]))
    masks = unpacked(members.bits(chosen), len(members.weight))
    for row, each in enumerate(chosen):
        there = filtered(frame, conditions_of(members, each))
        assert people[row] == len(there)
        assert total[row] == money[there.index].sum()
        assert np.flatnonzero(masks[row][place]).tolist() == there.index.tolist()


@given(st.integers(1, 200), st.integers(0, 1_000))
def test_packing_keeps_every_bit(m, seed):
    masks = np.random.default_rng(seed).random((3, m)) < 0.5
    bits = packed(masks)
    assert bits.shape == (3, -(-m // 64))
    assert (unpacked(bits, m) == masks).all()
    assert counted(bits).tolist() == masks.sum(axis=1).tolist()


@settings(max_examples=many(15))
@given(st.integers(0, 10_000), st.integers(20, 200), st.integers(1, 4), st.floats(0.02, 0.4))
def test_grown_are_all_that_are_frequent(seed, n, together, theta):
    frame = table(seed, n)
    members, _ = members_of(frame, bins=3)
    least = int(np.ceil(theta * n))
    found = frequent(members, least, together)
    told = {tuple(each): rows for each, rows in zip(found.chosen.tolist(), found.rows, strict=True)}
    assert len(told) == len(found.chosen)
    held = [
        np.pad(each.sets, ((0, 0), (0, 1)))[:, each.cells].astype(bool) for each in members.rules
    ]
    wanted = {}
    for size in range(1, together + 1):
        for which in combinations(range(4), size):
            for rules in product(*(range(len(held[i])) for i in which)):
                inside = np.logical_and.reduce(
                    [held[i][rule] for i, rule in zip(which, rules, strict=True)]
                )
                if least <= inside.sum() < n:
                    key = [-1] * 4
                    for i, rule in zip(which, rules, strict=True):
                        key[i] = rule
                    wanted[tuple(key)] = inside.sum()
    assert told == wanted
    assert found.candidates >= len(told)
    assert not found.stopped


def test_only_what_may_be_frequent_is_counted():
    frame = table(1, 500)
    members, _ = members_of(frame)
    found = frequent(members, 150, 3)
    counts = [len(each.sets) for each in members.rules]
    every = sum(np.prod(part) for size in (1, 2, 3) for part in combinations(counts, size))
    assert len(found.chosen) < found.candidates < every / 2


def test_too_many_rule_sets_stop_before_the_level(monkeypatch):
    monkeypatch.setattr(rule_sets, "MOST", 200)
    members, _ = members_of(table(2, 400, missing=False))
    found = frequent(members, 4, 3)
    assert found.stopped == 2
    assert len(found.chosen) == sum(len(each.sets) for each in members.rules)
    assert ((found.chosen >= 0).sum(axis=1) == 1).all()


def test_the_most_frequent_is_told_where_none_is():
    members, _ = members_of(table(3, 100, missing=False))
    found = frequent(members, 100, 3)
    assert not len(found.chosen)
    assert 0 < found.most < 100


def test_very_many_cells_are_told_apart():
    # more combinations than a 64 bit number could tell without care
    rng = np.random.default_rng(0)
    attributes = [number(f"n{i}", 0, 999, Role.PROTECTED) for i in range(8)]
    codes = rng.integers(0, 1_000, (50, 8)).astype(float)
    codes = np.concatenate([codes, codes[:10]])
    members, place = gathered(
        [
            rules_about(each, codes[:, i], bins=50, edges=tuple(range(1, 900, 19)))
            for i, each in enumerate(attributes[:2])
        ]
        + [rules_about(each, codes[:, i + 2], bins=50) for i, each in enumerate(attributes[2:])]
    )
    cells = np.stack([each.cells for each in members.rules], axis=1)
    distinct, where = np.unique(cells, axis=0, return_inverse=True)
    assert len(members.weight) == len(distinct)
    assert (members.cells[place] == cells).all()
    assert members.weight.sum() == 60
    assert pytest.approx(sorted(members.weight)) == sorted(np.bincount(where.ravel()))
