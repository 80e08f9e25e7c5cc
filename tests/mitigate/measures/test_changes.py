"""How two models differ: by the same rows and people, and no surer than it is."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_rel

from fairdesk.mitigate.measures.changes import changes, target_change
from fairdesk.mitigate.measures.differences import mcnemar, share_interval, tango
from fairdesk.mitigate.measures.measures import Verdict, key
from fairdesk.models.model import Capability
from fairdesk.results.mitigation import Measure
from tests.mitigate import making
from tests.mitigate.measures.test_measures import examiner, made


def softer(columns):
    """Judge mostly by age, a little by sex."""
    return np.clip(columns["age"] / 90 + 0.02 * (columns["sex"] == "male"), 0, 1)


@pytest.fixture
def measured(mitigation):
    """Two models, measured by one examiner."""
    mitigation = making.with_rule(mitigation)
    asking, _ = examiner(mitigation)
    return asking.verdict(made(mitigation, softer)), asking.verdict(mitigation.model)


def test_all_is_compared_and_every_difference_is_that_of_the_measures(measured):
    after, before = measured
    told = changes(after, before, 0)
    assert [key(each) for each in told] == [key(each) for each in after.measures]
    for change, new, old in zip(told, after.measures, before.measures, strict=True):
        assert change.against == 0
        assert change.difference == pytest.approx(new.estimate - old.estimate)
        assert change.low <= change.difference <= change.high


def test_they_are_as_sure_as_their_tests_are(measured):
    after, before = measured
    told = {key(each): each for each in changes(after, before, 0)}
    for what, where, new, old in (
        ("accuracy", "validation", *(each.rows["validation"].right for each in measured)),
        ("accuracy", "test", *(each.rows["test"].right for each in measured)),
        ("share_domain", "domain", *(each.hits["domain"] for each in measured)),
        ("share_data", "test", *(each.hits["test"] for each in measured)),
    ):
        change = told[what, "", where]
        assert change.test == "McNemar, exact"
        assert change.p == mcnemar(new, old)
        assert (change.low, change.high) == share_interval(new, old)
    brier = told["brier", "", "test"]
    squares = [(each.rows["test"].scores - each.rows["test"].label) ** 2 for each in measured]
    ends = ttest_rel(*squares).confidence_interval()
    assert (brier.low, brier.high) == pytest.approx(tuple(ends), abs=0.002)
    assert told["auc", "", "test"].test == "DeLong"
    assert told["rate_gap", "sex", "test"].test == "bootstrap"
    assert told["rate_gap", "sex", "test"].high < 0  # the softer one is plainly fairer
    assert told["rule_score", "", "test"].p < 0.05


def test_the_same_answers_are_no_change(measured):
    after, _ = measured
    for change in changes(after, after, 1):
        assert change.difference == 0
        assert change.low is None or change.low <= 0 <= change.high
        assert change.p in {None, 1}


def test_what_one_of_them_lacks_is_not_compared(mitigation):
    asking, _ = examiner(mitigation)
    deciding = made(
        mitigation,
        lambda columns: (columns["age"] > 40).astype(float),
        scores="labels",
        can=(Capability.DECIDES,),
    )
    one, other = asking.verdict(mitigation.model), asking.verdict(deciding)
    for told in (changes(one, other, 0), changes(other, one, 0)):
        assert "auc" not in {each.what for each in told}
        assert "accuracy" in {each.what for each in told}
    alike = making.fresh(mitigation, label=np.ones_like(mitigation.label))
    again = examiner(alike)[0].verdict(mitigation.model)
    assert "auc" not in {each.what for each in changes(again, again, 0)}


def test_what_is_proven_differs_without_an_interval(measured):
    after, before = (
        replace(
            each,
            measures=(
                *each.measures,
                Measure("certified", "", "domain", share, None, None, 10),
            ),
        )
        for each, share in zip(measured, (0.75, 0.5), strict=True)
    )
    change = changes(after, before, 1)[-1]
    assert (change.what, change.difference) == ("certified", 0.25)
    assert (change.low, change.high, change.p, change.test) == (None, None, None, "")


def with_hits(hits):
    share = Measure("share_domain", "", "validation", float(hits.mean()), 0.0, 1.0, len(hits))
    return Verdict("share_domain", (share,), {}, {"validation": hits}, {}, (), 0)


def test_the_target_is_compared_with_an_error_for_every_pair():
    after, before = np.repeat([True, False], [30, 970]), np.repeat([True, False], [50, 950])
    change = target_change(with_hits(after), with_hits(before), 1, looks=3)
    assert (change.what, change.rows, change.against) == ("share_domain", "validation", 1)
    # of three portions and two models before them any two may be compared: ten pairs
    assert (change.low, change.high) == tango(0, 20, 1_000, 0.005)
    more = target_change(with_hits(after), with_hits(before), 1, looks=8)
    assert more.low < change.low < change.high < more.high


def test_a_search_among_equals_seldom_finds_one_better():
    rng = np.random.default_rng(0)
    looks, times, fooled = 5, 120, 0
    for _ in range(times):
        base = rng.random(300)
        best = with_hits(base + 0.2 * rng.random(300) < 0.3)
        for _ in range(looks):
            portion = with_hits(base + 0.2 * rng.random(300) < 0.3)
            change = target_change(portion, best, 1, looks)
            if change.high < 0 or change.low > 0:
                fooled += 1
                break
    assert fooled / times <= 0.05


def test_what_helps_is_found(measured):
    after, before = measured
    assert target_change(after, before, 1, looks=8).high < 0
    assert target_change(before, after, 1, looks=8).low > 0


def test_a_target_that_is_not_known_has_no_difference(measured):
    after, before = measured
    unknown = replace(after, measures=())
    for pair in ((unknown, before), (before, unknown)):
        change = target_change(*pair, 1, looks=4)
        assert (change.what, change.difference, change.low) == ("rule_score", None, None)
