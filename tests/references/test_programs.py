"""The authors' programs beside ours: why their counts are not those of their papers' algorithms."""

import numpy as np
import pytest

from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches import adf, aequitas, eidig
from fairdesk.individual.searches.gradient_walks import GradientWalks
from fairdesk.results.events import Progress, timed
from tests.individual.conftest import Network
from tests.references import programs
from tests.references.test_individual import DOMAIN, SEEDS, TRIALS, WALKS

ADF = adf.AdfOptions(**WALKS)


@pytest.fixture(scope="module")
def model():
    return Network(DOMAIN, np.random.default_rng(3))


def people(seed):
    return DOMAIN.sample(np.random.default_rng(100 + seed), 200)


def found(model, search, options):
    """Return the instances that a search finds, in the sum of some runs."""
    total = 0
    for seed in SEEDS:
        context, rng = SearchContext(model, DOMAIN), np.random.default_rng(seed)
        events = search(context, people(seed), options, rng)
        *_, last = (each for each in events if isinstance(each, Progress))
        total += last.found
    return total


def with_momentum(context, people, options, rng):
    """Search as ADF does, with EIDIG's momentum and interval."""
    walks = GradientWalks(
        *(context, options, rng, lambda rows: adf.loss_slopes(context, rows)),
        decay=0.5,
        update_interval=5,
    )
    return timed(walks.run(people))


def test_with_momentum_adf_finds_what_eidig_finds(model):
    theirs = found(model, eidig.search, eidig.EidigOptions(**WALKS))
    assert abs(found(model, with_momentum, ADF) / theirs - 1) < 0.1


def test_adf_finds_no_fewer_than_its_own_program(model):
    counts = [
        programs.adf(model, DOMAIN, people(seed), ADF, np.random.default_rng(seed))
        for seed in SEEDS
    ]
    unique, tried = np.sum(counts, axis=0)
    assert 0 < unique < tried
    assert found(model, adf.search, ADF) > 0.95 * unique


def test_aequitas_finds_as_its_program_does_where_it_goes_on_as_often(model):
    draws, trials = TRIALS.values()
    theirs = sum(
        programs.aequitas(model, DOMAIN, draws, trials, np.random.default_rng(seed))[0]
        for seed in SEEDS
    )
    options = aequitas.RandomOptions(**TRIALS, acceptance=programs.ONE)
    # one step in five of the program's is along the protected attribute
    assert 1 <= found(model, aequitas.random, options) / theirs < 1.4


def test_going_on_less_often_is_what_finds_more(model):
    draws, trials = TRIALS.values()

    def program(**more):
        return sum(
            programs.aequitas(model, DOMAIN, draws, trials, np.random.default_rng(seed), **more)[0]
            for seed in SEEDS
        )

    fully = {"learns": "attribute", "reverse": True}
    assert program(acceptance=programs.TWO) > program()
    assert program(**fully, acceptance=programs.TWO) > program(**fully)
