"""Enumeration counts everybody, once, and what it counts is so."""

import numpy as np
import pytest

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import SpecError
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.shares import enumeration
from fairdesk.individual.shares.enumeration import Sets, population
from fairdesk.individual.shares.finite import obstacle
from fairdesk.individual.shares.options import EnumerateOptions
from fairdesk.models.model import labels
from fairdesk.results.events import Found, Measured, Progress
from tests.individual.conftest import Network, everybody, integer
from tests.individual.shares.test_estimate import Placed, everybody_of, verdicts
from tests.individual.test_constrained import ATTRIBUTES, OF_AGE, OF_RACE, TEXTS


def run(domain, model, keep=100_000, people=None, **kept):
    if people is None:
        people = domain.sample(np.random.default_rng(1), 200)
    context = SearchContext(model, domain, **kept)
    options = EnumerateOptions(keep=keep)
    events = list(enumeration.search(context, people, options, np.random.default_rng(0)))
    return events, context


def share_of(events):
    (measured,) = (event for event in events if isinstance(event, Measured))
    (share,) = measured.figures
    return share


def instances(events, domain):
    rows = [event.rows for event in events if isinstance(event, Found)]
    return np.concatenate([*rows, np.empty((0, len(domain.attributes)))])


DOMAINS = {
    "constrained": Domain(ATTRIBUTES, TEXTS),
    "age tells the class": Domain(
        ATTRIBUTES, (*TEXTS[:2], "class is determined by age"), (OF_AGE,)
    ),
    "race tells the class": Domain(ATTRIBUTES, ("class is determined by race",), (OF_RACE,)),
    "free": Domain(ATTRIBUTES),
}


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("classes", [2, 3])
def test_all_are_found_and_counted(name, classes):
    domain = DOMAINS[name]
    model = Network(domain, np.random.default_rng(4), classes)
    everyone = everybody_of(domain)
    truth = verdicts(domain, everyone, model, domain.protected)
    asked_before = len(model.asked)
    events, context = run(domain, model)
    share = share_of(events)
    assert share.exhaustive
    assert (share.n_samples, share.hits) == (len(everyone), truth.sum())
    assert share.estimate == share.low == share.high == share.anytime_high == truth.mean()
    rows = instances(events, domain)
    persons = np.unique(everyone[truth][:, domain.others], axis=0)
    assert np.array_equal(np.unique(rows[:, domain.others], axis=0), persons)
    assert len(rows) == len(persons) == context.found
    last = events[-1]
    assert last.tried == len(np.unique(everyone[:, domain.others], axis=0))
    assert (last.done, last.found) == (last.total, len(persons))
    asked = np.concatenate(model.asked[asked_before:])
    assert last.queries == len(asked)
    assert domain.contains(asked).all()


def test_pairs_are_real():
    domain = DOMAINS["constrained"]
    model = Network(domain, np.random.default_rng(4))
    events, _ = run(domain, model)
    for event in events:
        if isinstance(event, Found):
            for side in (event.rows, event.partners):
                assert domain.contains(side).all()
            same = event.rows[:, domain.others] == event.partners[:, domain.others]
            assert same.all()
            assert (
                labels(model.predict(event.rows)) != labels(model.predict(event.partners))
            ).all()


def test_the_count_goes_on_beyond_the_examples(small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    every, _ = run(small_domain, model)
    some, context = run(small_domain, model, keep=7)
    none, _ = run(small_domain, model, keep=0)
    assert share_of(some) == share_of(none) == share_of(every)
    assert len(instances(some, small_domain)) == 7 == context.found
    assert len(instances(none, small_domain)) == 0
    assert some[-1].found == none[-1].found == len(instances(every, small_domain)) > 7


def test_what_was_found_before_is_counted_but_not_given_again(small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    first, _ = run(small_domain, model)
    known = instances(first, small_domain)[:20]
    again, _ = run(small_domain, model, known=known)
    assert share_of(again) == share_of(first)
    assert len(instances(again, small_domain)) == len(instances(first, small_domain)) - 20


def test_fixed_values_are_those_of_the_data(small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    people = small_domain.sample(np.random.default_rng(1), 50)
    people[:, 4] = 1
    events, _ = run(small_domain, model, people=people)
    assert (np.concatenate(model.asked)[:, 4] == 1).all()
    everyone = everybody(small_domain)
    everyone = everyone[everyone[:, 4] == 1]
    assert share_of(events).n_samples == len(everyone) == 720
    assert share_of(events).hits == verdicts(small_domain, everyone, model, [1, 3]).sum()


def test_only_people_near_the_data_are_counted(small_domain):
    def fits(rows):
        return (rows[:, 0] < 3) & (rows[:, 3] < 2)

    model = Network(small_domain, np.random.default_rng(4))
    everyone = everybody(small_domain)
    near = everyone[fits(everyone)]
    truth = verdicts(small_domain, near, model, [1, 3])
    events, context = run(small_domain, model, fits=fits)
    assert (share_of(events).n_samples, share_of(events).hits) == (len(near), truth.sum())
    assert fits(instances(events, small_domain)).all()
    assert context.rejected == 240 * 0.7


def test_nobody_discriminated_is_an_exact_nought(small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    model.hidden[small_domain.protected] = 0
    events, _ = run(small_domain, model)
    share = share_of(events)
    assert share.exhaustive
    assert (share.n_samples, share.hits, share.high, share.anytime_high) == (1_440, 0, 0, 0)


def test_last_bits_are_no_discrimination(small_domain):
    events, context = run(small_domain, Placed())
    assert share_of(events).hits == context.found == 0


def test_a_stopped_run_tells_no_share(small_domain, monkeypatch):
    monkeypatch.setattr(enumeration, "_BLOCK", 50)
    context = SearchContext(Network(small_domain, np.random.default_rng(4)), small_domain)
    people = small_domain.sample(np.random.default_rng(1), 200)
    events = enumeration.search(context, people, EnumerateOptions(), np.random.default_rng(0))
    met = []
    for event in events:
        met.append(event)
        if isinstance(event, Progress) and event.done > 100:
            break
    assert not any(isinstance(event, Measured) for event in met)


@pytest.mark.parametrize("block", [1, 7, 100_000])
def test_blocks_change_nothing(block, small_domain, monkeypatch):
    model = Network(small_domain, np.random.default_rng(4))
    whole, _ = run(small_domain, model)
    monkeypatch.setattr(enumeration, "_BLOCK", block)
    parts, _ = run(small_domain, model)
    assert share_of(parts) == share_of(whole)
    assert np.array_equal(instances(parts, small_domain), instances(whole, small_domain))


def test_everybody_comes_once_and_in_order():
    domain = DOMAINS["free"]
    everyone = Sets(domain, domain.sample(np.random.default_rng(1), 200))
    size, blocks = everyone.size, map(everyone.block, range(everyone.blocks))
    rows = np.concatenate(list(blocks))
    assert len(rows) == size == 6 * 5 * 4 * 3 * 3 * 2
    assert len(np.unique(rows, axis=0)) == size
    assert domain.contains(rows).all()
    free = rows[:, [0, 2, 4, 6, 7]]
    assert np.array_equal(free[: size // 2], np.unique(free, axis=0))


@pytest.mark.parametrize("name", DOMAINS)
def test_the_population_is_counted(name):
    domain = DOMAINS[name]
    real = domain.sample(np.random.default_rng(1), 200)
    assert population(domain, real, 10**6) == len(everybody_of(domain))
    if domain.has_constraints:
        assert population(domain, real, 100) is None


def test_what_has_no_end_is_refused(real_domain):
    assert obstacle(real_domain).startswith("“income” may be any decimal number")
    assert population(real_domain, real_domain.sample(np.random.default_rng(1), 9), 10**6) is None
    with pytest.raises(SpecError, match="“income” may be any decimal number"):
        run(real_domain, Network(real_domain, np.random.default_rng(0)))


def test_what_is_too_large_is_refused_with_its_size():
    wide = [integer(f"a{i}", 0, 99) for i in range(4)]
    sex = integer("sex", 0, 1, Role.PROTECTED, (0, 1))
    assert obstacle(Domain((*wide, sex))) == ""
    larger = Domain((*wide, integer("b", 0, 1), sex))
    assert "the input domain has 200,000,000 combinations" in obstacle(larger)
    with pytest.raises(SpecError, match="200,000,000"):
        run(larger, Network(larger, np.random.default_rng(0)))
    huge = Domain((*wide, *(integer(f"b{i}", 0, 99) for i in range(6)), sex))
    assert "10²⁰ or more combinations" in obstacle(huge)
    # with the data's fixed combinations it is too large as well
    fixed = Domain((*wide, integer("b", 0, 1, Role.FIXED), sex))
    assert obstacle(fixed) == ""
    with pytest.raises(SpecError, match="200,000,000"):
        run(fixed, Network(fixed, np.random.default_rng(0)))


def test_numbers_with_a_step_are_gone_through():
    rate = Attribute("rate", Kind.REAL, low=0.1, high=0.7, step=0.2)
    domain = Domain((rate, integer("sex", 0, 1, Role.PROTECTED, (0, 1))))
    assert obstacle(domain) == ""
    everyone = Sets(domain, np.array([[0.1, 0.0]]))
    blocks = map(everyone.block, range(everyone.blocks))
    rows = np.concatenate(list(blocks))
    assert rows[:, 0] == pytest.approx([0.1, 0.3, 0.5, 0.7])
    assert domain.contains(rows).all()
