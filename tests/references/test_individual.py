"""The searches work on batches; the papers' algorithms, written down plainly, on one at a time."""

import numpy as np
import pytest

from fairdesk.data.domain.attributes import Role
from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches import adf, aequitas, eidig, maft, symbolic
from fairdesk.results.events import Found, Progress
from tests.individual.conftest import Network, everybody, integer
from tests.references import aequitas as plain_aequitas
from tests.references import gradients as plain_gradients
from tests.references import symbolic as plain_symbolic
from tests.sizes import many

DOMAIN = Domain(
    (
        integer("years", 0, 19),
        integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
        integer("grade", -4, 5),
        integer("debts", 0, 9),
        integer("hours", 1, 20),
    )
)
SEEDS = range(many(4))
WALKS = {"global_num": 40, "local_num": 60}
TRIALS = {"global_iteration_limit": 40, "local_iteration_limit": 60}
#: Of each search ours, the plain one, its options, and how far from 1 the ratio of what both find
#: may be: in the sum of some runs, whose random draws differ.
CASES = {
    "maft": (maft.search, plain_gradients.search, maft.MaftOptions(**WALKS), 0.15),
    "eidig": (eidig.search, plain_gradients.search, eidig.EidigOptions(**WALKS), 0.15),
    "adf": (adf.search, plain_gradients.search, adf.AdfOptions(**WALKS), 0.15),
    "aequitas-random": (
        aequitas.random,
        plain_aequitas.search,
        aequitas.RandomOptions(**TRIALS),
        0.15,
    ),
    "aequitas-semi": (
        aequitas.semi_directed,
        plain_aequitas.search,
        aequitas.SemiDirectedOptions(**TRIALS),
        0.15,
    ),
    "aequitas-full": (
        aequitas.fully_directed,
        plain_aequitas.search,
        aequitas.FullyDirectedOptions(**TRIALS),
        0.15,
    ),
    "symbolic": (
        symbolic.search,
        plain_symbolic.search,
        symbolic.SymbolicOptions(max_iter=60, num_samples=300),
        0.4,
    ),
}


@pytest.fixture(scope="module")
def model():
    return Network(DOMAIN, np.random.default_rng(3))


@pytest.fixture(scope="module")
def truth(model):
    """Everybody who is discriminated against, by enumeration."""
    points = everybody(DOMAIN)
    points = points[points[:, 1] == 0].astype(float)
    positive = model.predict(DOMAIN.similar(points).reshape(-1, points.shape[1]))[:, 0] > 0.5
    positive = positive.reshape(len(points), -1)
    differ = positive.any(axis=1) & ~positive.all(axis=1)
    assert 0.02 < differ.mean() < 0.5
    return keys(points[differ])


def keys(rows):
    return {row.tobytes() for row in np.ascontiguousarray(rows[:, DOMAIN.others])}


@pytest.mark.parametrize("name", CASES)
def test_a_search_finds_as_its_paper_does(name, model, truth):
    ours, plain, options, apart = CASES[name]
    totals = np.zeros((2, 2))
    for seed in SEEDS:
        people = DOMAIN.sample(np.random.default_rng(100 + seed), 200)
        unique, queries = plain(model, DOMAIN, people, options, np.random.default_rng(seed))
        context = SearchContext(model, DOMAIN)
        events = list(ours(context, people, options, np.random.default_rng(seed)))
        found = keys(np.concatenate([each.rows for each in events if isinstance(each, Found)]))
        (*_, last) = [each for each in events if isinstance(each, Progress)]
        assert found <= truth
        assert unique <= truth
        totals += [[len(found), last.queries], [len(unique), queries]]
    (found, sent), (unique, queries) = totals
    assert abs(found / unique - 1) < apart
    # whoever is found is asked once more, with their similar set
    assert sent / found < 1.05 * (queries / unique + len(DOMAIN.combinations))
