"""The calibration error: in many made-up samples its intervals hold the truth."""

import numpy as np
import pytest

from fairdesk.mitigate.measures.differences import calibration, calibration_change


def drawn(rng, rows, surplus):
    """Draw probabilities that are too high by as much in all ten bins, and labels."""
    scores = np.floor(rng.random(rows) * 9 + 1) / 10 + 0.05  # the middle of each bin but the first
    return scores, rng.random(rows) < scores - surplus


@pytest.mark.parametrize("surplus", [0.0, 0.02, 0.1])
def test_intervals_hold_the_error_so_often(surplus):
    rng = np.random.default_rng(0)
    held = 0
    for seed in range(80):
        error, low, high = calibration(*drawn(rng, 250, surplus), seed)
        assert low <= error <= high
        held += low <= surplus + 1e-9 and surplus <= high
    assert held / 80 >= 0.93


@pytest.mark.parametrize(("after", "before"), [(0.0, 0.06), (0.1, 0.05)])
def test_intervals_of_the_change_do_too(after, before):
    rng = np.random.default_rng(1)
    held = 0
    for seed in range(50):
        scores, label = drawn(rng, 400, 0.0)
        # both are given the same rows, and are wrong by adding
        low, high = calibration_change(scores + after / 2, scores + before / 2, label, seed)
        held += low <= (after - before) / 2 <= high
    assert held / 50 >= 0.93


def test_the_change_is_the_other_way_round_for_the_other():
    rng = np.random.default_rng(2)
    scores, label = drawn(rng, 300, 0.05)
    other = np.clip(scores + rng.normal(0, 0.1, 300), 0, 1)
    low, high = calibration_change(scores, other, label, 0)
    assert calibration_change(other, scores, label, 0) == pytest.approx((-high, -low), abs=0.01)


def test_a_great_change_shows():
    scores, label = drawn(np.random.default_rng(3), 2_000, 0.0)
    low, high = calibration_change(np.full(2_000, 0.95), scores, label, 0)
    assert 0.2 < low < high < 0.6
