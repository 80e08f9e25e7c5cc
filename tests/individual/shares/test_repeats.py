"""The estimate with repeats, held against models whose probabilities are known."""

import numpy as np
import pytest

from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.shares.repeats import RepeatsOptions, search
from fairdesk.results.events import Measured
from fairdesk.results.individual import ExcessChange


class Drawing:
    """Decides by chance: with a probability that hangs on the row."""

    def __init__(self, probability, seed=0):
        self._probability, self._rng = probability, np.random.default_rng(seed)

    def predict(self, rows):
        drawn = self._rng.random(len(rows)) < self._probability(rows)
        return drawn.astype(np.float32)[:, None]


def excess(domain, probability, pairs=4_000, seed=0, confidence=0.95):
    context = SearchContext(Drawing(probability, seed), domain)
    rng = np.random.default_rng(seed + 1)
    people = domain.sample(np.random.default_rng(9), 300)
    last = None
    for event in search(context, people, RepeatsOptions(pairs, confidence), rng):
        last = event if isinstance(event, Measured) else last
    told = {each.whom: each for each in last.figures}
    assert all(isinstance(each, ExcessChange) and each.n_samples == pairs for each in told.values())
    assert context.cached_model.queries == 4 * pairs * len(told)
    return told


def protected(domain, rows):
    """Return who has the first of the compared values of the first protected attribute."""
    place = domain.protected[0]
    return rows[:, place] == domain.attributes[place].compared[0]


def test_randomness_alone_is_not_taken_for_discrimination(real_domain):
    told = excess(real_domain, lambda rows: np.full(len(rows), 0.3))
    for figure in told.values():
        assert figure.low == 0
        assert figure.between == pytest.approx(0.42, abs=0.02)
        assert figure.again == pytest.approx(0.42, abs=0.02)
        assert abs(figure.excess) < 0.02


def test_the_mean_squared_difference_of_probabilities_is_found(real_domain):
    def probability(rows):
        return np.where(protected(real_domain, rows), 0.9, 0.1)

    count = len(real_domain.combinations)
    (members,) = real_domain.similar(real_domain.sample(np.random.default_rng(1), 1))
    first = protected(real_domain, members)
    # of all ordered pairs of unlike combinations, those in which the probability differs
    differ = 2 * first.sum() * (~first).sum() / (count * (count - 1))
    figure = excess(real_domain, probability)["domain"]
    assert figure.low < differ * 0.8**2 < figure.high
    assert figure.low > 0.5 * differ * 0.8**2
    assert figure.low <= differ


def test_a_model_that_always_answers_alike_gets_the_share_of_pairs(real_domain):
    figure = excess(real_domain, lambda rows: protected(real_domain, rows).astype(float))["domain"]
    assert figure.again == 0
    assert figure.excess == figure.between > 0


def test_intervals_hold_as_often_as_they_say(real_domain):
    """The true value is nought: an interval above it is a false alarm."""
    alarms = [
        excess(real_domain, lambda rows: np.full(len(rows), 0.5), 300, seed, 0.8)["domain"].low > 0
        for seed in range(60)
    ]
    assert np.mean(alarms) <= 0.2
