"""Counting networks' boxes once more: never above the truth, and nearly as much as was stated."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.certify.bounds import network as module
from fairdesk.certify.bounds.network import NetworkExaminer
from fairdesk.certify.domain.space import space_of
from fairdesk.certify.proof import reproof_counting
from fairdesk.certify.proof.reproof_counting import NetworkCounter
from fairdesk.certify.proof.reproof_inputs import Inputs, decision_margins
from fairdesk.models.structure import structure_of
from tests.certify import networks
from tests.sizes import many


def counter_of(case):
    """Make the counter of a case; give it, its space and the number of combinations."""
    space = space_of(case.domain, case.people)
    anatomy = structure_of(case.fed.opened)
    inputs = Inputs(space, anatomy, case.fed, space.rows)
    margins = decision_margins(anatomy, case.fed)
    return NetworkCounter(anatomy.body, inputs, margins), space, len(inputs.combinations)


@settings(max_examples=many(60))
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([networks.drawn, networks.wide, networks.sharp, networks.linear]),
    st.sampled_from([1, 8]),
)
def test_never_more_is_counted_than_is_true(seed, kind, parts):
    case = kind(seed)
    counter, space, combinations = counter_of(case)
    points = networks.everywhere(space)
    discriminatory = networks.truth(case, space, points)
    rng = np.random.default_rng(seed)
    ends = rng.integers(space.low[0], space.high[0], (2, len(space.low[0])), endpoint=True)
    before, reproof_counting._MOST_PARTS = reproof_counting._MOST_PARTS, parts
    try:
        for low, high in ((space.low[0], space.high[0]), (ends.min(axis=0), ends.max(axis=0))):
            inside = ((points >= low) & (points <= high)).all(axis=1)
            true = discriminatory[inside].mean()
            told = counter.shares(low, high, np.arange(combinations), np.ones(2))
            assert told[0] <= 1.0 - true + 1e-12
            assert told[1] <= true + 1e-12
    finally:
        reproof_counting._MOST_PARTS = before


def test_what_each_unit_excludes_is_taken_off_both_shares():
    """Of forms that decide everything, in the first layer of two and in the last one."""
    counter, _, _ = counter_of(networks.drawn(1))
    one = np.zeros((2, reproof_counting.CELLS))
    one[:, 0] = 1.0
    sums = reproof_counting.Sums(one, np.array([1.0, -1.0]), np.zeros(2), np.zeros(2))
    # the margin is above 0 under all combinations, and below it under one of them
    constant = np.array([[0.0, 0.0], [0.0, 3.0]])
    lost = np.array([0.2, 0.3, 0.0])
    none = np.zeros(3)
    for layers in ([lost], [lost, none], [none, lost]):
        rows = [reproof_counting._Row(*[none] * 7, excluded) for excluded in layers]
        pulls = [np.full((2, 3), -1.0)] * len(rows)
        found = reproof_counting._Pass(rows, sums, constant, pulls, np.ones(1))
        assert counter._counted(found, sides=False) == pytest.approx([0.5, 0.5], abs=1e-8)
        assert counter._counted(found, sides=True) == pytest.approx([0.5, 0.0], abs=1e-8)


@pytest.mark.parametrize("kind", [networks.sharp, networks.wide])
def test_what_truncated_units_exclude_is_never_too_little(kind, monkeypatch):
    """The sums of the first layer, at every point and under every combination."""
    chosen = []
    truncated = reproof_counting._truncated

    def noted(*given):
        chosen.append(truncated(*given))
        return chosen[-1]

    monkeypatch.setattr(reproof_counting, "_truncated", noted)
    monkeypatch.setattr(reproof_counting, "_MOST_PARTS", 1)
    below = above = 0
    for seed in range(40):
        case = kind(seed)
        counter, space, combinations = counter_of(case)
        chosen.clear()
        ends = space.low[0], space.high[0]
        counter.shares(*ends, np.arange(combinations), np.ones(2))
        if not chosen:
            continue
        low, high, excluded, _ = chosen[0]
        points = networks.everywhere(space)
        rows = case.domain.similar(space.rows(points)).reshape(-1, len(case.domain.attributes))
        first = structure_of(case.fed.opened).body.layers[0]
        sums = np.asarray(case.fed.matrix(rows), dtype=np.float64) @ first.weights + first.bias
        sums = sums.reshape(len(points), -1, len(first.bias))
        slack = 1e-4 * (1.0 + np.abs(sums).max(axis=(0, 1)))
        under, over = (sums < low - slack).any(axis=1), (sums > high + slack).any(axis=1)
        cut = excluded > 0.0
        assert ((under | over).mean(axis=0) <= excluded + 1e-9)[cut].all()
        below += np.count_nonzero(under.any(axis=0) & cut)
        above += np.count_nonzero(over.any(axis=0) & cut)
    assert below > 3
    assert above > 3


def test_what_was_counted_with_truncated_ranges_is_counted_again(monkeypatch):
    """Of the boxes that the examiner counts, all but a few of what it says of them."""
    monkeypatch.setattr(module, "_LEAST", 0.0)
    stated = again = 0.0
    reached = tried = 0
    for seed in range(16):
        case = networks.wide(seed)
        counter, space, combinations = counter_of(case)
        examiner = NetworkExaminer(case.encoded, case.fed, threads=1)
        found = examiner.examine(space.low, space.high, np.zeros(1, dtype=np.intp))
        # the examiner orders names in its own way: only a whole box is the same to both
        whole = (found.low == space.low).all() and (found.high == space.high).all()
        own = np.array([found.consistent[0], found.discriminatory[0]])
        if not whole or own.sum() >= 1.0:
            continue
        told = np.array(counter.shares(space.low[0], space.high[0], np.arange(combinations), own))
        tried += 1
        reached += (told >= own - 1e-9).all()
        stated, again = stated + own.sum(), again + np.minimum(told, own).sum()
    assert tried > 5
    assert reached > 0.8 * tried
    assert again > 0.95 * stated
