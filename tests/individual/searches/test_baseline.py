"""What random sampling finds before a search is counted apart, and its rows with the search's."""

import numpy as np
import pytest

from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches import preflight
from fairdesk.individual.searches.preflight import QUERIES
from fairdesk.population.plausible import Criterion
from fairdesk.results.events import Measured, Progress
from tests.individual.conftest import Network
from tests.individual.searches.test_plausible import DOMAIN, people


@pytest.fixture(scope="module")
def criterion():
    return Criterion.fit(DOMAIN, people())


def sampled(criterion, rows, seed=0):
    model = Network(DOMAIN, np.random.default_rng(5), bias=0.4)
    context, apart = (SearchContext(model, DOMAIN, criterion=criterion) for _ in range(2))
    context.cached_model.predict(rows[:7])
    events = list(preflight.baseline(context, apart, rows, np.random.default_rng(seed)))
    return context, apart, model, events


def test_it_counts_the_pairs_of_a_small_sample_and_every_row_sent(criterion):
    context, apart, model, events = sampled(criterion, people())
    *progress, last = events
    assert isinstance(last, Measured)
    (counted,) = last.figures
    assert all(isinstance(each, Progress) for each in progress)
    assert [each.queries for each in progress] == sorted(each.queries for each in progress)
    sent = sum(len(each) for each in model.asked)
    assert (counted.before, counted.queries) == (sent, sent - 7) == (context.queries, apart.queries)
    assert QUERIES <= counted.queries < QUERIES + 3 * 1_000
    assert criterion.usual(np.concatenate(model.asked[1:])).all()
    # the search that follows begins as if nobody had been met
    assert (context.tried, context.found, progress[-1].found) == (0, 0, 0)
    # the share is that of a large sample of the same kind
    many = Network(DOMAIN, np.random.default_rng(5), bias=0.4)
    large = SearchContext(many, DOMAIN, criterion=criterion)
    for drawn in large.domain.draw(np.random.default_rng(9), 20_000, 2_000, people()):
        large.check(*large.domain.snap(drawn))
    large.take("all")
    assert counted.low < large.found / large.tried < counted.high
    assert counted.low < counted.found / counted.n_samples < counted.high


def test_the_same_seed_gives_the_same(criterion):
    first, again = (sampled(criterion, people(), seed=3)[3][-1].figures for _ in range(2))
    assert first == again
    assert sampled(criterion, people(), seed=4)[3][-1].figures != first


def test_where_nothing_plausible_can_be_drawn_nothing_is_measured(criterion, monkeypatch):
    monkeypatch.setattr(Criterion, "usual", lambda _, rows: np.zeros(len(rows), np.bool_))
    context, _, _, events = sampled(criterion, people())
    assert not [each for each in events if isinstance(each, Measured)]
    assert context.queries == 7
