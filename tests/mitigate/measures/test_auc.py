"""Areas under ROC curves: against scikit-learn, and pair by pair."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from fairdesk.mitigate.measures.differences import area_change, area_interval, areas


@pytest.fixture
def scored():
    rng = np.random.default_rng(0)
    positive = rng.random(120) < 0.3
    scores = np.round(rng.normal(positive[None] * [[1.2], [0.7]], 1.0), 1)  # with ties
    return scores, positive


def placements(scores, positive):
    """Compare every positive row with every negative one."""
    hits, misses = scores[positive][:, None], scores[~positive][None]
    return (hits > misses) + 0.5 * (hits == misses)


def test_areas_are_those_of_scikit_learn(scored):
    scores, positive = scored
    found, _ = areas(scores, positive)
    np.testing.assert_allclose(found, [roc_auc_score(positive, each) for each in scores])


def test_they_vary_together_as_delong_has_it(scored):
    scores, positive = scored
    _, covariance = areas(scores, positive)
    tables = [placements(each, positive) for each in scores]
    hits = np.cov([each.mean(axis=1) for each in tables]) / positive.sum()
    misses = np.cov([each.mean(axis=0) for each in tables]) / (~positive).sum()
    np.testing.assert_allclose(covariance, hits + misses)


def test_the_change_is_the_other_way_round_for_the_other(scored):
    (one, other), positive = scored
    (low, high), p = area_change(one, other, positive)
    assert area_change(other, one, positive) == ((-high, -low), p)
    found, _ = areas(np.stack([one, other]), positive)
    assert low < found[0] - found[1] < high
    assert (p < 0.05) == (low > 0 or high < 0)


def test_models_in_the_same_order_differ_in_nothing(scored):
    (one, _), positive = scored
    assert area_change(one, np.exp(one), positive) == ((None, None), 1.0)


@pytest.mark.parametrize(("area", "fewer"), [(1.0, 7), (0.0, 7), (0.6, 1)])
def test_without_a_variance_few_rows_still_leave_doubt(area, fewer):
    low, high = area_interval(area, np.nan if fewer == 1 else 0.0, fewer)
    assert 0 <= low <= area <= high <= 1
    assert high - low > 0.3


def test_a_class_of_one_row_has_an_area():
    found, covariance = areas(np.array([[0.1, 0.5, 0.9]]), np.array([False, True, False]))
    assert found == 0.5
    assert np.isnan(covariance).all()


def test_intervals_hold_the_area_so_often():
    rng = np.random.default_rng(1)
    truth = 0.8413447  # of two normal scores that are the root of two apart
    held = 0
    for _ in range(400):
        positive = np.arange(120) < 40
        scores = rng.normal(positive * np.sqrt(2), 1.0)
        (area,), ((variance,),) = areas(scores[None], positive)
        low, high = area_interval(area, variance, 40)
        held += low <= truth <= high
    assert held / 400 >= 0.92
