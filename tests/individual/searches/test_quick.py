"""The quick audit: everybody of a small domain; else until nothing new is learned."""

import numpy as np
import pytest

from fairdesk.data.domain.attributes import Role
from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches import quick
from fairdesk.models.model import labels
from fairdesk.results.events import Found, Measured, Progress
from fairdesk.results.individual import Share
from tests.individual.conftest import Network, integer


@pytest.fixture
def large_domain():
    """Ten million people."""
    return Domain(
        (
            integer("years", 0, 99),
            integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
            integer("grade", 0, 99),
            integer("debts", 0, 99),
            integer("rooms", 0, 9),
        )
    )


def run(domain, model, *, fits=None, seed=0, **options):
    people = domain.sample(np.random.default_rng(seed + 1), 300)
    context = SearchContext(model, domain, fits=fits)
    events = quick.search(
        context, people, quick.QuickOptions(**options), np.random.default_rng(seed)
    )
    return list(events)


def test_everybody_of_a_small_domain_is_gone_through(small_domain):
    events = run(small_domain, Network(small_domain, np.random.default_rng(3)))
    (share,) = [event for event in events if isinstance(event, Measured)][-1].figures
    assert share.exhaustive


def test_a_mix_of_methods_in_a_large_one(large_domain):
    model = Network(large_domain, np.random.default_rng(3))
    events = run(large_domain, model, rows=4_000)
    phases = {event.phase for event in events if isinstance(event, Progress)}
    assert {"estimate", "EIDIG", "Aequitas"} <= phases
    shares = [event for event in events if isinstance(event, Measured)][-1].figures
    exhaustive = {each.whom: each.exhaustive for each in shares if isinstance(each, Share)}
    assert exhaustive == {
        "data": True,
        "domain": False,
        "perturbed": False,
    }
    found = [event for event in events if isinstance(event, Found)]
    rows = np.concatenate([event.rows for event in found])
    partners = np.concatenate([event.partners for event in found])
    assert len(np.unique(rows[:, large_domain.others], axis=0)) == len(rows) > 100
    assert (labels(model.predict(rows)) != labels(model.predict(partners))).all()
    again = [event for event in run(large_domain, model, rows=4_000) if isinstance(event, Found)]
    np.testing.assert_array_equal(np.concatenate([event.rows for event in again]), rows)


def test_it_ends_when_nothing_new_is_learned(large_domain):
    class Fair:
        def predict(self, rows):
            return (rows[:, :1] / 99).astype(np.float32)

    events = run(large_domain, Fair(), rounds=50, rows=2_000)
    last = [event for event in events if isinstance(event, Progress)][-1]
    assert (last.done, last.found) == (1, 0)
    assert last.tried > 500


def test_only_those_near_real_people_are_asked_about(small_domain):
    model = Network(small_domain, np.random.default_rng(3))
    events = run(small_domain, model, fits=lambda rows: rows[:, 0] < 5, rows=2_000)
    found = np.concatenate([event.rows for event in events if isinstance(event, Found)])
    assert len(found)
    assert (found[:, 0] < 5).all()
