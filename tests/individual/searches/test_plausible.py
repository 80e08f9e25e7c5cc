"""Searches that are kept to plausible pairs: seeds, steps and partners are; queries are counted."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from fairdesk.audit.catalogue.implementations import load
from fairdesk.audit.catalogue.methods import METHODS, parse_options
from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import SpecError
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.steps import FEWEST_STEPS, Steps, starting_rows
from fairdesk.models.model import labels
from fairdesk.population.plausible import Criterion, PlausibleDomain
from fairdesk.results.events import Found, Progress
from tests.individual.conftest import Network, integer

SEX = Attribute("sex", Kind.NOMINAL, ("f", "m"), 0.0, 1.0, Role.PROTECTED, (0.0, 1.0))
RACE = Attribute("race", Kind.NOMINAL, ("a", "b", "c"), 0.0, 2.0, Role.PROTECTED, (0.0, 1.0, 2.0))
RELATION = Attribute("relation", Kind.NOMINAL, ("wife", "husband", "none"), 0.0, 2.0)
AGE = integer("age", 18, 90)
WAGE = integer("wage", 0, 9_000)
DOMAIN = Domain((SEX, RACE, RELATION, AGE, WAGE))
SEARCHES = [key for key, method in METHODS.items() if method.seeks]
OPTIONS = {
    "sg": {"max_iter": 60, "num_samples": 20},
    "uniform": {"samples": 2_000},
    "quick": {"rounds": 2, "rows": 4_000},
}
WALKS = {"global_num": 60, "local_num": 30, "max_iter": 4}
AEQUITAS = {"global_iteration_limit": 1_500, "local_iteration_limit": 20}


def people(n=1_500, seed=0):
    """Most are married to the other sex, and earn more as they grow older."""
    rng = np.random.default_rng(seed)
    sex, race = rng.integers(0, 2, n), rng.choice(3, n, p=(0.6, 0.3, 0.1))
    relation = np.where(rng.random(n) < 0.6, sex, 2)
    age = np.clip(rng.normal(35 + 10 * (relation < 2), 8, n), 18, 90)
    rows = np.column_stack([sex, race, relation, age, 60 * age + rng.normal(0, 300, n)])
    return DOMAIN.clip(rows)


@pytest.fixture(scope="module")
def criterion():
    return Criterion.fit(DOMAIN, people())


def searched(method, criterion, domain=DOMAIN, options=None, seed=0):
    """Run a search to its end; give its context, its model, and all pairs that it found."""
    model = Network(DOMAIN, np.random.default_rng(5), bias=0.4)
    context = SearchContext(model, domain, criterion=criterion)
    given = OPTIONS.get(method, AEQUITAS if method.startswith("aequitas") else WALKS)
    asked = parse_options(method, {**given, **(options or {})})
    events = list(load(method)(context, people(), asked, np.random.default_rng(seed)))
    found = [each for each in events if isinstance(each, Found)]
    nobody = np.empty((0, 5))
    rows = np.concatenate([nobody, *(each.rows for each in found)])
    partners = np.concatenate([nobody, *(each.partners for each in found)])
    return context, model, rows, partners


@pytest.mark.parametrize("method", SEARCHES)
def test_both_halves_of_every_pair_are_plausible_and_every_query_is_counted(method, criterion):
    context, model, rows, partners = searched(method, criterion)
    assert len(rows) > 20
    assert criterion.plausible(rows).all()
    assert criterion.plausible(partners).all()
    assert (labels(model.predict(rows)) != labels(model.predict(partners))).all()
    model.asked[-2:] = []
    assert context.queries == sum(len(each) for each in model.asked)
    plain = searched(method, None)
    both = criterion.plausible(plain[2]) & criterion.plausible(plain[3])
    assert not both.all(), "without the criterion there are others"


@pytest.mark.parametrize("method", ["maft", "uniform"])
def test_the_partner_shown_is_the_one_that_changes_least(method, criterion):
    _, model, rows, partners = searched(method, criterion)
    for row, partner in zip(rows, partners, strict=True):
        members = DOMAIN.similar(row[None])[0]
        flips = labels(model.predict(members)) != labels(model.predict(row[None]))
        changed = (members != row).sum(axis=1)
        least = changed[flips & criterion.plausible(members)].min()
        assert (partner != row).sum() == least


def test_of_numbers_the_nearest_value_that_changes_the_decision_is_shown():
    """And of one attribute, however far its score is."""
    age = integer("age", 18, 90, Role.PROTECTED, (20, 35, 50, 65, 80))
    domain = Domain((SEX, RACE, RELATION, age, WAGE))

    class Old:
        def predict(self, rows):
            return (1 / (1 + np.exp(45 - rows[:, 3:4]))).astype(np.float32)

    def least(row, others):
        changed = (others != row).sum(axis=1)
        return [*zip(changed, np.abs(others - row)[:, 3], strict=True)]

    criterion = Criterion.fit(domain, people())
    context = SearchContext(Old(), domain, criterion=criterion)
    rows, own = context.domain.admit(people())
    context.check(rows, own)
    found = context.take("rows")
    assert len(found.rows) > 100
    for row, partner in zip(found.rows, found.partners, strict=True):
        members = domain.similar(row[None])[0]
        other = ((members[:, 3] > 45) != (row[3] > 45)) & criterion.plausible(members)
        assert least(row, partner[None])[0] == min(map(tuple, least(row, members[other])))
    one = (found.rows != found.partners).sum(axis=1) == 1
    assert one.mean() > 0.5


def test_a_step_that_stays_where_it_is_is_no_step():
    """Nearly all have no gains: any step from there leaves what is usual, or the range."""
    gains = integer("gains", 0, 50_000)
    domain = Domain((*DOMAIN.attributes, gains))
    rows = np.column_stack([people(), np.where(np.arange(1_500) % 40, 0, 20_000)]).astype(float)
    plausible = PlausibleDomain.of(domain, Criterion.fit(domain, rows))
    rows = rows[rows[:, 5] == 0]
    usual = rows[plausible.allowed(rows)]
    step = domain.whole_steps(1.0)[5]
    forward = usual.copy()
    forward[:, 5] = step
    possible = Steps(plausible, 1.0).possible(usual)
    assert (possible[:, 3] == plausible.allowed(forward)).all()
    assert possible[:, 3].mean() < 0.5
    assert possible[:, 1].mean() > 0.9


@pytest.mark.parametrize("method", ["uniform", "aequitas-random"])
def test_nothing_that_is_not_usual_is_queried(method, criterion):
    _, model, _, _ = searched(method, criterion)
    assert criterion.usual(np.concatenate(model.asked)).all()


def test_rows_to_start_from_are_as_common_as_in_the_data(criterion):
    rows = people()
    few = rows[:, 1] == 2
    kept = PlausibleDomain.of(DOMAIN, criterion)
    drawn, own = starting_rows(kept, rows, 4, 600, np.random.default_rng(0))
    assert len(np.unique(drawn, axis=0)) == len(drawn) > 500
    assert (DOMAIN.combinations[own] == drawn[:, :2]).all()
    assert criterion.usual(drawn).all()
    assert (drawn[:, 1] == 2).mean() == pytest.approx(few.mean(), abs=0.03)


@pytest.mark.parametrize("method", ["maft", "eidig", "adf"])
def test_steps_around_few_instances_are_shared_among_many_walkers(method, criterion):
    """As many trials, but one batch for many: a call of the model costs more than a row."""
    options = parse_options(method, {**WALKS, "local_num": 1_000})
    calls = []
    for given in (criterion, None):
        model = Network(DOMAIN, np.random.default_rng(5), bias=0.4)
        context = SearchContext(model, DOMAIN, criterion=given)
        events = list(load(method)(context, people(), options, np.random.default_rng(0)))
        steps = [e.total for e in events if isinstance(e, Progress) and e.phase == "local"]
        assert len(steps) == steps[0]
        assert steps[0] >= FEWEST_STEPS
        calls.append((steps[0], len(model.asked) / context.found))
    assert calls[0][0] <= 100 < calls[1][0] == 1_000
    assert calls[0][1] < calls[1][1]


@pytest.mark.parametrize("method", ["aequitas-random", "aequitas-semi", "aequitas-full"])
def test_trials_around_few_instances_are_shared_too(method, criterion):
    given = {"global_iteration_limit": 40, "local_iteration_limit": 500}
    options = parse_options(method, given)
    batches, found = [], []
    for only in (criterion, None):
        model = Network(DOMAIN, np.random.default_rng(5), bias=0.4)
        context = SearchContext(model, DOMAIN, criterion=only)
        events = list(load(method)(context, people(), options, np.random.default_rng(0)))
        local = [e for e in events if isinstance(e, Progress) and e.phase == "local"]
        assert local[-1].done == local[-1].total
        assert local[-1].total % 500 == 0
        batches.append(len(local))
        found.append(context.found)
    assert FEWEST_STEPS <= batches[0] <= 100 < batches[1] == 500
    assert found[0] > 20


def test_what_is_drawn_comes_from_the_tree_and_keeps_what_is_fixed(criterion):
    fixed = Domain((SEX, RACE, RELATION, msgspec.structs.replace(AGE, role=Role.FIXED), WAGE))
    domain = PlausibleDomain.of(fixed, criterion)
    real = people(40, seed=3)
    drawn = np.concatenate([*domain.draw(np.random.default_rng(0), 500, 64, real)])
    assert drawn.shape == (500, 5)
    assert criterion.usual(drawn).all()
    assert set(drawn[:, 3]) <= set(real[:, 3])
    # as in the data, nearly all who are married are so to the other sex
    married = drawn[drawn[:, 2] < 2]
    assert (married[:, 0] == married[:, 2]).mean() > 0.95


DRAWING = {"uniform", "quick", *(each for each in SEARCHES if each.startswith("aequitas"))}


@pytest.mark.parametrize("method", sorted(set(SEARCHES) - DRAWING))
def test_where_nothing_is_plausible_nothing_is_found(method, criterion):
    context, _, rows, _ = searched(method, replace(criterion, least_density=np.inf))
    assert not len(rows)
    assert context.found == 0


@pytest.mark.parametrize("method", sorted(DRAWING))
def test_what_draws_instances_says_that_none_is_plausible(method, criterion):
    with pytest.raises(SpecError, match="No plausible instance"):
        searched(method, replace(criterion, least_density=np.inf))


def test_without_a_tree_the_distance_alone_counts():
    few = people(150)
    criterion = Criterion.fit(DOMAIN, few)
    assert criterion.tree is None
    _, _, rows, partners = searched("maft", criterion)
    assert len(rows) > 5
    assert criterion.near(rows).all()
    assert criterion.near(partners).all()


def test_constraints_hold_as_well(criterion):
    constrained = Domain(DOMAIN.attributes, ("age >= 40",))
    for method in ("maft", "aequitas-full", "sg"):
        _, _, rows, partners = searched(method, criterion, constrained)
        assert len(rows) > 5
        assert (np.concatenate([rows, partners])[:, 3] >= 40).all()
        assert criterion.plausible(np.concatenate([rows, partners])).all()
