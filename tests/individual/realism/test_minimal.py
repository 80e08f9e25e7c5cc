"""Shrunk pairs are pairs still, no farther from anybody real, and nothing can be taken back."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.constraints import parse
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import DataError, ModelError
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.realism.minimal import shrink
from fairdesk.models.model import labels
from fairdesk.population.nearest import Nearest
from tests import phrases
from tests.individual.conftest import Network, integer
from tests.sizes import many

QUIET = settings(
    max_examples=many(12),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture
def ruled_domain():
    """Numbers of several kinds, names, two fixed attributes, and a constraint."""
    attributes = (
        integer("age", 18, 90),
        integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
        integer("work", 0, 60),
        Attribute("job", Kind.NOMINAL, tuple("abcdef"), 0.0, 5.0),
        integer("county", 0, 9, Role.FIXED),
        integer("town", 0, 9, Role.FIXED),
        Attribute("income", Kind.REAL, low=0.0, high=5.0),
    )
    return Domain(attributes, (parse("work <= age - 15", attributes).text,))


def instances(context, rng, wanted=40):
    rows, _ = context.domain.admit(context.domain.sample(rng, 400))
    return rows[context.ask(rows).discriminatory][:wanted]


def pairs_of(domain, seed, classes):
    rng = np.random.default_rng(seed)
    model = Network(domain, rng, classes)
    people = domain.sample(rng, 60)
    rows = instances(SearchContext(model, domain), rng)
    return model, people, rows


@pytest.mark.parametrize("which", ["small_domain", "real_domain", "ruled_domain"])
@QUIET
@given(seed=st.integers(0, 10_000), classes=st.sampled_from([2, 3]))
def test_shrunk_pairs(which, seed, classes, request):
    domain = request.getfixturevalue(which)
    model, people, rows = pairs_of(domain, seed, classes)
    if not len(rows):
        return
    context = SearchContext(model, domain)
    found = shrink(context, people, rows)
    assert found.phase == "minimal"
    assert len(found.rows) == len(rows)
    assert domain.contains(found.rows).all()
    assert domain.contains(found.partners).all()
    assert domain.contains(np.concatenate(model.asked)).all()
    assert (found.rows[:, domain.others] == found.partners[:, domain.others]).all()
    assert (found.rows[:, domain.protected] == rows[:, domain.protected]).all()
    decided, other = (labels(model.predict(each)) for each in (found.rows, found.partners))
    assert (decided != other).all()
    assert (labels(found.row_scores) == decided).all()
    assert (labels(found.partner_scores) == other).all()
    nearest = Nearest(domain, people)
    before, _ = nearest.find(rows)
    after, who = nearest.find(found.rows)
    assert (after <= before + 1e-9).all()
    assert (context.tried, context.found) == (0, 0)
    # fixed attributes are those of one real person, together
    real = set(map(tuple, people[:, domain.fixed])) | set(map(tuple, rows[:, domain.fixed]))
    assert set(map(tuple, found.rows[:, domain.fixed])) <= real
    # nothing more can be made as that person has it
    for unit in [*domain.varying[:, None], domain.fixed]:
        moved = found.rows.copy()
        moved[:, unit] = people[who][:, unit]
        nearer = nearest.find(moved)[0] < after - 1e-9
        may = nearer & domain.allowed(moved)
        still = np.array(
            [
                len(np.unique(labels(model.predict(each[domain.allowed(each)])))) > 1
                for each in domain.similar(moved)
            ]
        )
        assert not (may & still).any()


def test_whoever_can_become_a_real_person_does(small_domain):
    model = Network(small_domain, np.random.default_rng(2))
    model.hidden[:] = 0
    model.hidden[1] = 5.0  # the decision hangs on sex alone
    model.out[:] = 1.0
    people = small_domain.sample(np.random.default_rng(0), 20)
    rows = small_domain.sample(np.random.default_rng(1), 30)
    found = shrink(SearchContext(model, small_domain), people, rows)
    distance, _ = Nearest(small_domain, people).find(found.rows)
    assert (distance == 0).all()


def test_numbers_come_as_near_as_they_can():
    """Only those above 700 are discriminated against, and the real ones have 0."""
    domain = Domain(
        (
            integer("wage", 0, 1000),
            integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
            Attribute("ratio", Kind.REAL, low=0.0, high=1.0),
        )
    )

    class Above:
        def predict(self, rows):
            worse = (rows[:, 0] > 700) & (rows[:, 2] > 0.25) & (rows[:, 1] == 1)
            return np.where(worse, 0.1, 0.9).astype(np.float32)[:, None]

    found = shrink(
        SearchContext(Above(), domain), np.zeros((1, 3)), np.array([[980, 1, 0.9], [720, 0, 0.3]])
    )
    assert found.rows[:, 0] == pytest.approx(701, abs=1)
    assert found.rows[:, 2] == pytest.approx(0.251, abs=0.001)
    assert found.rows[:, 1].tolist() == [1, 0]


def test_one_pair_is_shrunk_as_it_is_among_others(ruled_domain):
    model, people, rows = pairs_of(ruled_domain, 5, 2)
    together = shrink(SearchContext(model, ruled_domain), people, rows).rows
    alone = [
        shrink(SearchContext(model, ruled_domain), people, row[None]).rows[0] for row in rows[:10]
    ]
    np.testing.assert_array_equal(together[:10], alone)


def test_no_pairs(small_domain):
    model, people, rows = pairs_of(small_domain, 5, 2)
    assert len(shrink(SearchContext(model, small_domain), people, rows[:0]).rows) == 0
    with pytest.raises(DataError, match=phrases.NO_ROW_TO_COMPARE):
        shrink(SearchContext(model, small_domain), people[:0], rows)


def test_what_is_not_confirmed_stays_as_it_was(small_domain):
    rows, people = (small_domain.sample(np.random.default_rng(i), 12) for i in (0, 1))
    original = set(map(tuple, rows[:, small_domain.others]))

    class Fickle:
        """Discriminates against all, but when asked again only against those of the start."""

        def __init__(self):
            self.asked = set()

        def predict(self, asked):
            keys = [tuple(row) for row in asked]
            again = np.array([key in self.asked for key in keys])
            self.asked.update(keys)
            known = np.array([tuple(row) in original for row in asked[:, small_domain.others]])
            return np.where(again & ~known, 0.9, asked[:, 1]).astype(np.float32)[:, None]

    found = shrink(SearchContext(Fickle(), small_domain), people, rows)
    np.testing.assert_array_equal(found.rows, rows)


def test_a_model_that_discriminates_no_more(small_domain):
    model = Network(small_domain, np.random.default_rng(0))
    model.hidden[small_domain.protected] = 0
    rows = small_domain.sample(np.random.default_rng(1), 3)
    with pytest.raises(ModelError, match="no longer") as caught:
        shrink(SearchContext(model, small_domain), rows, rows)
    assert caught.value.why
    assert caught.value.remedy
