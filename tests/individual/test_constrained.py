"""Searches in domains with constraints: sound, never beyond them, and still finding."""

from itertools import product

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.dependencies import Determined
from fairdesk.data.domain.domain import Domain
from fairdesk.data.domain.support import Support
from fairdesk.data.table import Kind
from fairdesk.errors import SpecError
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches import maft, uniform
from fairdesk.models.model import labels
from fairdesk.results.events import Progress
from tests.individual import searching
from tests.individual.conftest import Network, integer
from tests.individual.searching import AEQUITAS, SEARCHES, check_sound, rows_of
from tests.sizes import many

GRADES = Attribute("grade", Kind.ORDINAL, ("low", "mid", "high", "Unknown"), 0.0, 3.0, unknown=True)
ATTRIBUTES = (
    integer("years", 0, 5),
    integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
    integer("age", 18, 22),
    integer("race", 0, 2, Role.PROTECTED, (0, 1, 2)),
    GRADES,
    integer("county", 0, 1, Role.FIXED),
    integer("class", 0, 2),
    Attribute("rent", Kind.INTEGER, low=0.0, high=40.0, step=20.0),
)
OF_AGE = Determined(
    "class", "age", tuple((age, float(age > 19) + (age > 21)) for age in range(18, 23))
)
OF_RACE = Determined("class", "race", ((0.0, 2.0), (1.0, 0.0), (2.0, 2.0)))
TEXTS = (
    "years <= age - 17",
    "grade = high implies sex = 1",
    "race = 1 implies sex = 0",
    "not (rent = 40 and county = 1)",
    "grade = Unknown or years > 1",
    "rent / 10 <= years + 2",
    "race != 2 or grade in {low, Unknown}",
)


@st.composite
def constrained(draw):
    """Domains of some thousand people, and what determines what in them."""
    texts = draw(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=4, unique=True))
    learned = draw(st.sampled_from([(), (OF_AGE,), (OF_RACE,)]))
    texts += [f"{each.attribute} is determined by {each.by}" for each in learned]
    return Domain(ATTRIBUTES, tuple(texts), learned)


def truth(domain, model):
    """Who is discriminatory, by enumeration: the set of keys on what similar people share."""
    ranges = [np.arange(each.low, each.high + 1, each.spacing) for each in domain.attributes]
    everyone = np.array(list(product(*ranges)))
    everyone = everyone[domain.contains(everyone)]
    decided = labels(model.predict(everyone))
    decisions = {}
    for key, decision in zip(map(tuple, everyone[:, domain.others]), decided, strict=True):
        decisions.setdefault(key, set()).add(int(decision))
    return {key for key, met in decisions.items() if len(met) > 1}


def run(name, domain, model, seed=0, **options):
    search, usual = SEARCHES[name]
    people = domain.sample(np.random.default_rng(seed + 1), 200)
    options = msgspec.structs.replace(usual, **options)
    return people, *searching.run(search, options, domain, model, seed, people)


@pytest.mark.parametrize("name", SEARCHES)
@settings(max_examples=many(10))
@given(
    domain=constrained(),
    seed=st.integers(0, 10_000),
    classes=st.sampled_from([2, 3]),
    accepts=st.booleans(),
)
def test_nobody_beyond_the_constraints_is_asked_or_found(name, domain, seed, classes, accepts):
    model = Network(domain, np.random.default_rng(seed), classes)
    options = {"acceptance": float(accepts)} if name in AEQUITAS else {}
    _, found, progress = run(name, domain, model, seed, **options)
    check_sound(domain, model, found, progress)
    assert set(map(tuple, rows_of(found, domain)[:, domain.others])) <= truth(domain, model)


@pytest.mark.parametrize("name", ["maft", "eidig", "adf", "uniform"])
@pytest.mark.parametrize(
    ("texts", "learned"), [(TEXTS[:3], ()), (TEXTS[:3], (OF_AGE,)), (TEXTS[3:6], (OF_RACE,))]
)
def test_most_of_whom_there_are_is_found(name, texts, learned):
    said = [f"{each.attribute} is determined by {each.by}" for each in learned]
    domain = Domain(ATTRIBUTES, (*texts, *said), learned)
    model = Network(domain, np.random.default_rng(4))
    options = {"samples": 20_000} if name == "uniform" else {"global_num": 100, "local_num": 600}
    people, found, _ = run(name, domain, model, **options)
    keys = {tuple(row) for event in found for row in event.rows[:, domain.others]}
    there = truth(domain, model)
    assert len(there) > 50
    assert len(keys) > 0.9 * len(there)
    assert {row[5] for row in people} == {0, 1}


def test_who_can_only_be_one_person_is_never_found():
    attributes = (
        Attribute("relationship", Kind.NOMINAL, ("Husband", "Single"), 0.0, 1.0),
        Attribute("sex", Kind.NOMINAL, ("Female", "Male"), 0.0, 1.0, Role.PROTECTED, (0.0, 1.0)),
        integer("age", 18, 60),
    )
    domain = Domain(attributes, ("relationship = Husband implies sex = Male",))

    class BySex:
        def predict(self, rows):
            assert not ((rows[:, 0] == 0) & (rows[:, 1] == 0)).any()
            return rows[:, 1:2].astype(np.float32)

        def gradients(self, rows, column):
            return np.tile([0.0, 1.0, 0.0], (len(rows), 1))

    for name in ("maft", "eidig", "adf", "uniform"):
        _, found, progress = run(name, domain, BySex())
        rows = rows_of(found, domain)
        assert (rows[:, 0] == 1).all()
        assert len(rows) == progress[-1].found > 20
    # those who cannot be of two sexes are met, and not tested
    assert progress[-1].tried == len(rows)
    assert progress[-1].rejected > 0


def test_the_partner_is_the_farthest_of_those_who_can_be():
    domain = Domain(ATTRIBUTES, TEXTS[:3])
    model = Network(domain, np.random.default_rng(8))
    _, found, _ = run("maft", domain, model)
    assert found
    for event in found:
        similar = domain.similar(event.rows)
        for i, members in enumerate(similar):
            possible = members[domain.contains(members)]
            scores = model.predict(possible)[:, 0]
            own = event.row_scores[i, 0]
            flips = (scores > 0.5) != (own > 0.5)
            assert abs(event.partner_scores[i, 0] - own) == pytest.approx(
                np.abs(scores[flips] - own).max(), abs=1e-6
            )
            assert (possible == event.partners[i]).all(axis=1).any()


def test_alone_counts_only_changes_that_can_be():
    """Sex decides, but nobody may change it alone: race has to change with it."""
    attributes = (
        integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
        integer("race", 0, 1, Role.PROTECTED, (0, 1)),
        integer("age", 18, 60),
    )
    domain = Domain(attributes, ("sex = race",))

    class BySex:
        def predict(self, rows):
            return rows[:, :1].astype(np.float32)

    _, found, _ = run("uniform", domain, BySex())
    assert sum(len(event.rows) for event in found) > 20
    assert not any(event.sufficient_alone.any() for event in found)
    assert all((event.rows[:, :2] != event.partners[:, :2]).all() for event in found)


@pytest.mark.parametrize("name", SEARCHES)
def test_the_same_seed_finds_the_same(name):
    domain = Domain(ATTRIBUTES, TEXTS[:3])
    twice = [
        [
            event.rows.tolist()
            for event in run(name, domain, Network(domain, np.random.default_rng(5)), seed=9)[1]
        ]
        for _ in range(2)
    ]
    assert twice[0] == twice[1]
    assert sum(map(len, twice[0])) > 0


def test_a_constraint_that_is_always_true_changes_nothing_for_the_sampler():
    whole = 3 * (uniform.BATCH_ROWS // 6)  # with constraints no less than a batch is drawn
    plain, always = Domain(ATTRIBUTES), Domain(ATTRIBUTES, ("age >= 0",))
    found = [
        np.concatenate(
            [
                event.rows
                for event in run(
                    "uniform", each, Network(each, np.random.default_rng(3)), samples=whole
                )[1]
            ]
        )
        for each in (plain, always)
    ]
    np.testing.assert_array_equal(*found)


def test_a_sampler_that_finds_nearly_nobody_says_so():
    domain = Domain(
        (
            integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
            integer("a", 0, 10**6),
            integer("b", 0, 10**6),
        ),
        ("a = b + 7",),
    )
    people = np.array([[0.0, 10, 3]])
    model = Network(domain, np.random.default_rng(0))
    events = uniform.search(
        SearchContext(model, domain),
        people,
        uniform.UniformOptions(samples=100),
        np.random.default_rng(0),
    )
    with pytest.raises(SpecError, match="fewer than 1 in 100,000"):
        list(events)
    # from real people a search can still start
    list(
        maft.search(
            SearchContext(model, domain),
            people,
            maft.MaftOptions(global_num=5, local_num=5),
            np.random.default_rng(0),
        )
    )
    assert domain.contains(np.concatenate(model.asked)).all()


def test_a_step_that_breaks_an_equality_is_mended_by_another():
    """Nobody can take one step alone here, but in both numbers together."""
    domain = Domain(
        (
            integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
            integer("a", 0, 300),
            integer("b", 0, 300),
        ),
        ("a = b + 7",),
    )
    model = Network(domain, np.random.default_rng(0))
    model.hidden *= 4
    people = np.array([[0.0, 107, 100], [1, 207, 200], [0, 57, 50], [0, 157, 150]])
    options = maft.MaftOptions(global_num=4, local_num=400)
    context = SearchContext(model, domain)
    list(maft.search(context, people, options, np.random.default_rng(0)))
    asked = np.concatenate(model.asked)
    assert domain.contains(asked).all()
    assert len(np.unique(asked[:, 1])) > 15


def test_those_who_may_not_go_are_counted():
    domain = Domain(ATTRIBUTES, TEXTS[:3])
    for name in ("maft", "eidig", "adf", *AEQUITAS):
        model = Network(domain, np.random.default_rng(8))
        _, _, progress = run(name, domain, model)
        rejected = {event.phase: event.rejected for event in progress}
        # Aequitas draws none of them
        assert (name not in AEQUITAS) <= rejected["global"] < rejected["local"]


@pytest.mark.parametrize("support", [Support(("not (sex = 0 and years = 0)",)), Support()])
@pytest.mark.parametrize("search", [SEARCHES["maft"], SEARCHES["uniform"]], ids=["maft", "uniform"])
def test_an_instance_without_a_comparison_is_not_tested(search, support):
    """Each number of years goes with one sex, by constraints or by what the data support."""
    lone = ("years <= 2 implies sex = 1", "years > 2 implies sex = 0")
    attributes = tuple(each for each in ATTRIBUTES if each.name != "race")
    domain = Domain(attributes, lone, support=support)
    people = domain.sample(np.random.default_rng(2), 200)
    context = SearchContext(Network(domain, np.random.default_rng(1)), domain)
    run, options = search
    last = [
        each
        for each in run(context, people, options, np.random.default_rng(0))
        if isinstance(each, Progress)
    ][-1]
    assert (last.tried, last.found) == (0, 0)
    assert last.rejected > 0
