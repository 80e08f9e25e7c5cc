"""Proven rates of groups, against every instance weighed in exact fractions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.certify.bounds import rates as bounds
from fairdesk.certify.bounds.dense.state import WORTH
from fairdesk.certify.bounds.rates import CountedRates, NetworkRates
from fairdesk.certify.layout import Layout, lay_out, rates_for
from fairdesk.certify.proof.certificate import Predict
from fairdesk.certify.rates import RateProver
from fairdesk.models.model import labels
from fairdesk.models.structure import structure_of
from fairdesk.results.events import Rows, Scores
from tests.certify.networks import Small
from tests.certify.populations import SEEDS, weights_of
from tests.certify.test_people import RULES, case_of, tried
from tests.sizes import many


def laid_out(case: Small) -> Layout:
    anatomy = structure_of(case.fed.opened)
    return lay_out(case.domain, case.people, anatomy, case.fed, weighed=True, first="people")


def truth(case: Small, layout: Layout) -> dict[tuple[str, float], Fraction]:
    """Ask about every instance, and weigh who gets the favourable decision, by group."""
    space, domain = layout.space, case.domain
    good: dict[tuple[str, float], Fraction] = {}
    whole: dict[tuple[str, float], Fraction] = {}
    for v, codes in enumerate(domain.combinations.tolist()):
        points, weights = weights_of(space, v)
        rows = domain.counterparts(space.rows(points), np.full(len(points), v))
        decided = labels(case.fed.predict(rows)) == case.fed.mapping.favourable_class
        allowed = domain.allowed(rows)
        for position, code in zip(domain.protected.tolist(), codes, strict=True):
            key = domain.names[position], code
            for is_good, may_be, weight in zip(decided, allowed, weights, strict=True):
                if may_be:
                    whole[key] = whole.get(key, Fraction(0)) + weight
                    good[key] = good.get(key, Fraction(0)) + weight * bool(is_good)
    return {key: good[key] / whole[key] for key in whole if whole[key]}


def held(case: Small, layout: Layout, prover: RateProver) -> float:
    """Check that all ends hold the truth; return the widest distance of two ends."""
    true, widest = truth(case, layout), 0.0
    for rates in prover.figures(0.0):
        own = [true[rates.attribute, each.code] for each in rates.groups]
        for each, rate in zip(rates.groups, own, strict=True):
            assert each.low <= rate <= each.high
            widest = max(widest, each.high - each.low)
        if max(own):
            assert rates.ratio_low <= min(own) / max(own) <= rates.ratio_high
    return widest


@given(SEEDS, st.integers(0, 4), RULES)
@settings(max_examples=many(25))
def test_the_ends_of_rates_always_hold_the_truth(seed: int, steps: int, rules) -> None:
    case = case_of(seed, rules)
    layout = laid_out(case)
    examiner = rates_for(layout)
    assert examiner is not None
    prover = RateProver(layout.space, examiner)
    held(case, layout, prover)
    for _ in range(steps):
        prover.step()
    held(case, layout, prover)


@pytest.mark.parametrize("worth", [None, 0.9])
def test_boxes_of_rates_are_not_narrowed(worth: float | None) -> None:
    """What is cut off a box has one decision, which would have to be written down with it."""
    narrowed = []
    for seed in range(many(30)):
        case = case_of(seed)
        layout = laid_out(case)
        assert layout.encoded is not None
        examiner = NetworkRates(layout.encoded, case.fed, threads=1)
        if worth is not None:
            examiner._networks[0].limits[WORTH] = worth

        def examine(network, compared, low, high, *others, plain=examiner._examine):
            before = low.copy(), high.copy()
            off = plain(network, compared, low, high, *others)
            narrowed.append(bool((low != before[0]).any() or (high != before[1]).any()))
            return off

        examiner._examine = examine
        examiner.rate(layout.space.low, layout.space.high, 0)
    assert len(narrowed) >= many(30)
    assert any(narrowed) is (worth is not None)


def test_nothing_is_certain_of_where_it_is_not_clear_who_may_be() -> None:
    several = 0
    for _, case in (each for seed in range(many(6)) for each in tried(seed)):
        layout = laid_out(case)
        space = layout.space
        axis = int((space.high[0] - space.low[0]).argmax())
        if len(space.low) > 1 or space.high[0, axis] == space.low[0, axis]:
            continue
        low, high = np.repeat(space.low, 2, axis=0), np.repeat(space.high, 2, axis=0)
        high[0, axis] = space.low[0, axis]
        low[1, axis] = high[0, axis] + 1
        for first in (True, False):
            halves = replace(
                space,
                low=low,
                high=high,
                groups=np.repeat(space.groups, 2),
                unclear=np.array([first, not first]),
            )
            divided = replace(layout, space=halves)
            examiner = rates_for(divided)
            assert examiner is not None
            prover = RateProver(halves, examiner)
            while not prover.over and prover.boxes < 2_000:
                prover.step()
            # who is there has the group's rate, and may have any decision
            several += 0.01 < held(case, divided, prover) < 0.99
    assert several > 3


@given(SEEDS, st.integers(0, 6), RULES, st.sampled_from([1.0, 4.0, 16.0]))
@settings(max_examples=many(25))
def test_counted_boxes_of_rates_hold_the_truth(seed: int, steps: int, rules, few: float) -> None:
    case = case_of(seed, rules)
    layout = laid_out(case)
    with patch.object(bounds, "_FEW", few):
        prover = RateProver(layout.space, CountedRates(layout.space, case.fed, None))
        for _ in range(steps):
            prover.step()
        held(case, layout, prover)
        while not prover.over:
            prover.step()
        assert held(case, layout, prover) < 1e-3


def test_every_row_that_rates_ask_is_counted() -> None:
    asked = 0
    for _, case in tried(0):
        layout = laid_out(case)
        sent: list[int] = []

        def noted(
            rows: Rows, predict: Predict = case.fed.predict, sent: list[int] = sent
        ) -> Scores:
            sent.append(len(rows))
            return predict(rows)

        with patch.object(case.fed, "predict", noted), patch.object(bounds, "_FEW", 4.0):
            examiner = rates_for(layout)
            assert examiner is not None
            # what is asked to see that the model is read rightly is no part of a proof
            sent.clear()
            prover = RateProver(layout.space, examiner)
            for _ in range(6):
                prover.step()
        assert prover.queries == sum(sent)
        asked += prover.queries
    assert asked > 0


@pytest.mark.parametrize("seed", range(2))
def test_rates_are_known_in_the_end(seed: int) -> None:
    for _, case in tried(seed):
        layout = laid_out(case)
        examiner = rates_for(layout)
        assert examiner is not None
        prover = RateProver(layout.space, examiner)
        while not prover.over:
            prover.step()
        # a linear form is counted on a grid
        assert held(case, layout, prover) < 0.05
