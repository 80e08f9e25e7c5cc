"""Aequitas is sound, learns by its rules, and stays among those who are discriminated against."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.individual.searches import aequitas
from fairdesk.models.model import labels
from tests.individual import searching
from tests.individual.conftest import Network, everybody, integer
from tests.individual.searching import AEQUITAS, rows_of

every_search = pytest.mark.parametrize("name", AEQUITAS)


def run(name, domain, model, seed=0, people=None, **options):
    search, usual = AEQUITAS[name]
    if people is None:
        people = domain.sample(np.random.default_rng(seed + 1), 50)
    options = msgspec.structs.replace(usual, **options)
    return searching.run(search, options, domain, model, seed, people)


@every_search
def test_walkers_that_do_not_fit_in_one_batch_follow(name, small_domain, monkeypatch):
    monkeypatch.setattr(aequitas, "WALKERS", 20)
    model = Network(small_domain, np.random.default_rng(3))
    found, progress = run(name, small_domain, model)
    local = [event for event in progress if event.phase == "local"]
    assert len(local) > 60
    assert [event.done for event in local] == sorted({event.done for event in local})
    assert local[-1].done == local[-1].total
    assert len(rows_of(found, small_domain)) == local[-1].found > 20


@every_search
def test_no_row_is_asked_twice_but_to_re_check(name, small_domain):
    model = Network(small_domain, np.random.default_rng(2))
    found, _ = run(name, small_domain, model)
    asked = np.concatenate(model.asked)
    distinct, times = np.unique(asked, axis=0, return_counts=True)
    pairs = np.concatenate([np.concatenate([each.rows, each.partners]) for each in found])
    again = {tuple(row) for row in distinct[times > 1]}
    assert again <= {tuple(row) for row in pairs}


@every_search
def test_most_of_a_small_domain_is_found(name, small_domain):
    model = Network(small_domain, np.random.default_rng(7))
    found, _ = run(name, small_domain, model, local_iteration_limit=300)
    everyone = everybody(small_domain)
    everyone = everyone[(everyone[:, small_domain.protected] == 0).all(axis=1)]
    decided = labels(model.predict(small_domain.similar(everyone).reshape(-1, 6)))
    decided = decided.reshape(len(everyone), -1)
    truth = int((decided != decided[:, :1]).any(axis=1).sum())
    assert truth > 50
    assert len(rows_of(found, small_domain)) > 0.9 * truth


def test_without_local_trials_only_the_drawn_are_found(small_domain):
    model = Network(small_domain, np.random.default_rng(2))
    found, progress = run("full", small_domain, model, local_iteration_limit=0)
    assert {event.phase for event in found} == {"global"}
    assert progress[-1].tried <= 200


def test_who_breaks_no_constraint_is_not_rejected(small_domain):
    model = Network(small_domain, np.random.default_rng(2))
    assert run("full", small_domain, model)[1][-1].rejected == 0


@every_search
def test_gamma_counts_scores_that_differ(name, small_domain):
    model = Network(small_domain, np.random.default_rng(0))
    found, _ = run(name, small_domain, model, gamma=0.3)
    flipped, wider = 0, 0
    for event in found:
        flips = labels(event.row_scores) != labels(event.partner_scores)
        apart = np.abs(event.row_scores - event.partner_scores)[:, 0] > 0.3
        assert (flips | apart).all()
        flipped, wider = flipped + flips.sum(), wider + (apart & ~flips).sum()
    assert flipped > 20
    assert wider > 20


class Rented:
    """Sex decides for who pays no rent; nothing else counts."""

    def predict(self, rows):
        return ((rows[:, 1] == 1) & (rows[:, 2] == 0))[:, None].astype(np.float32)


RENTED = Domain(
    (
        integer("years", 0, 140),
        integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
        integer("rent", 0, 3),
        integer("age", 0, 140),
    )
)


@pytest.mark.parametrize("acceptance", [0.0, 1.0])
def test_only_with_acceptance_does_a_walker_leave_the_discriminated(acceptance):
    model, asked = Rented(), []
    answer, model.predict = model.predict, lambda rows: asked.append(rows) or answer(rows)
    run("random", RENTED, model, acceptance=acceptance, global_iteration_limit=20)
    drawn = RENTED.sample(np.random.default_rng(0), 20)[:, 2]
    assert (drawn == 0).any()
    rent = np.concatenate(asked)[40:, 2]
    assert (rent > 1).any() == (acceptance > 0)


def learned(name, monkeypatch, **options):
    """Run a search of `RENTED`; give what it learned."""
    kept = []

    class Kept(aequitas.Sigma):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            kept.append(self)

    monkeypatch.setattr(aequitas, "Sigma", Kept)
    run(name, RENTED, Rented(), global_iteration_limit=40, **options)
    assert len(kept) == 1
    return kept[0]


def test_random_learns_nothing(monkeypatch):
    sigma = learned("random", monkeypatch)
    assert (sigma.attribute == 1 / 3).all()
    assert (sigma.down == 0.5).all()
    assert not sigma.learns


def test_semi_learns_the_direction_that_does_not_fail(monkeypatch):
    sigma = learned("semi", monkeypatch)
    assert (sigma.attribute == 1 / 3).all()
    # a step up leaves those who pay no rent; a step down leads nowhere and teaches nothing
    assert sigma.down[1] > 0.55


def test_full_learns_the_attributes_that_succeed(monkeypatch):
    sigma = learned("full", monkeypatch)
    assert sigma.attribute.sum() == pytest.approx(1.0)
    assert sigma.attribute[1] < 0.28
    assert sigma.attribute[[0, 2]].min() > 0.34
    assert sigma.down[1] > 0.55


def test_a_worked_example_of_both_update_rules():
    sigma = aequitas.Sigma(3, 0.5, delta_v=0.1, delta_pr=0.2)
    # attribute 0: a success down, a failure up; attribute 1: a failure down
    sigma.learn(np.array([0, 0, 1]), np.array([True, False, True]), np.array([True, False, False]))
    assert sigma.down == pytest.approx([0.7, 0.4, 0.5])
    assert sigma.attribute == pytest.approx([8 / 18, 5 / 18, 5 / 18])
    # attribute 1: a success up
    sigma.learn(np.array([1]), np.array([False]), np.array([True]))
    assert sigma.down == pytest.approx([0.7, 0.3, 0.5])
    assert sigma.attribute == pytest.approx([40 / 108, 43 / 108, 25 / 108])


@given(
    trials=st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.booleans()), min_size=1),
    delta=st.sampled_from([0.001, 0.01, 0.5, 1.0]),
)
def test_a_step_of_many_walkers_is_their_trials_in_order(trials, delta):
    together = aequitas.Sigma(4, 0.5, 0.001, delta)
    one_by_one = aequitas.Sigma(4, 0.5, 0.001, delta)
    drawn, down, success = (np.array(each) for each in zip(*trials, strict=True))
    together.learn(drawn, down, success)
    for i in range(len(trials)):
        one_by_one.learn(drawn[i : i + 1], down[i : i + 1], success[i : i + 1])
    assert together.attribute == pytest.approx(one_by_one.attribute)
    assert together.down == pytest.approx(one_by_one.down)


def test_probabilities_stay_probabilities():
    sigma = aequitas.Sigma(2, 0.5, delta_v=1.0, delta_pr=1.0)
    drawn, down = np.zeros(5_000, dtype=np.intp), np.ones(5_000, dtype=np.bool_)
    sigma.learn(drawn, down, down)
    assert sigma.down.tolist() == [1.0, 0.5]
    assert sigma.attribute.tolist() == [1.0, 0.0]
    drawn, down = sigma.draw(np.random.default_rng(0), 1_000)
    assert (drawn == 0).all()
    assert down.all()


def test_draws_follow_the_probabilities():
    sigma = aequitas.Sigma(3, 0.5)
    sigma.attribute[:] = 0.2, 0.0, 0.8
    sigma.down[:] = 0.1, 0.5, 0.9
    drawn, down = sigma.draw(np.random.default_rng(0), 20_000)
    assert np.bincount(drawn, minlength=3) / 20_000 == pytest.approx([0.2, 0.0, 0.8], abs=0.02)
    assert down[drawn == 0].mean() == pytest.approx(0.1, abs=0.02)
    assert down[drawn == 2].mean() == pytest.approx(0.9, abs=0.02)


def test_steps_lead_from_one_allowed_code_to_another():
    domain = Domain(
        (
            integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
            integer("age", 18, 90),
            integer("loan", 0, 100_000),
            Attribute("share", Kind.REAL, low=0.0, high=5.0),
            Attribute("rent", Kind.INTEGER, low=0.0, high=60.0, step=20.0),
        )
    )
    assert domain.whole_steps(1.0) == pytest.approx([1, 1, 1_000, 0.05, 20])
    assert domain.whole_steps(0.2) == pytest.approx([1, 1, 200, 0.01, 20])
    assert domain.whole_steps(3.0) == pytest.approx([3, 3, 3_000, 0.15, 60])


def test_defaults_are_the_programs_but_for_more_people_and_going_back():
    assert msgspec.structs.asdict(aequitas.FullyDirectedOptions()) == {
        "global_iteration_limit": 10_000,
        "local_iteration_limit": 1_000,
        "perturbation_unit": 1.0,
        "init_prob": 0.5,
        "acceptance": 0.0,
        "gamma": 0.0,
        "direction_probability_change_size": 0.001,
        "param_probability_change_size": 0.001,
    }
