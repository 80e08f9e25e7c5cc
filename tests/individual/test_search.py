"""Every search is sound (what it reports is so) and its counts are true."""

from itertools import pairwise

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairdesk.events import Found, Progress
from fairdesk.individual import maft, uniform
from fairdesk.individual.similar import Ledger
from fairdesk.models.model import labels
from tests.individual.conftest import Network, everybody

SEARCHES = {
    "maft": (maft.search, maft.MaftOptions(global_num=40, local_num=60)),
    "uniform": (uniform.search, uniform.UniformOptions(samples=600)),
}


def run(search, options, domain, model, seed=0, people=None):
    if people is None:
        people = domain.sample(np.random.default_rng(seed + 1), 100)
    events = list(search(Ledger(model, domain), people, options, np.random.default_rng(seed)))
    found = [event for event in events if isinstance(event, Found)]
    progress = [event for event in events if isinstance(event, Progress)]
    return found, progress


def discriminatory(domain, rows, model):
    """Decide by the definition, one similar set at a time."""
    return np.array(
        [len(np.unique(labels(model.predict(others)))) > 1 for others in domain.similar(rows)]
    )


@pytest.mark.parametrize("name", SEARCHES)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 10_000), classes=st.sampled_from([2, 3, 4]), real=st.booleans())
def test_every_pair_is_real(name, seed, classes, real, small_domain, real_domain):
    domain = real_domain if real else small_domain
    search, options = SEARCHES[name]
    model = Network(domain, np.random.default_rng(seed), classes)
    found, progress = run(search, options, domain, model, seed)
    asked = np.concatenate(model.asked)
    assert domain.contains(asked).all()
    assert progress[-1].queries == len(asked)
    for event in found:
        assert domain.contains(event.rows).all()
        assert domain.contains(event.partners).all()
        assert (event.rows[:, domain.others] == event.partners[:, domain.others]).all()
        row_labels, partner_labels = (
            labels(model.predict(rows)) for rows in (event.rows, event.partners)
        )
        assert (row_labels != partner_labels).all()
        assert (labels(event.row_scores) == row_labels).all()
        assert (labels(event.partner_scores) == partner_labels).all()
    rows = np.concatenate([event.rows for event in found] or [np.empty((0, len(domain.names)))])
    people = rows[:, domain.others]
    assert len(np.unique(people, axis=0)) == len(people) == progress[-1].found
    assert progress[-1].tried >= progress[-1].found


@pytest.mark.parametrize("name", SEARCHES)
def test_counts_only_grow_and_phases_end(name, small_domain):
    search, options = SEARCHES[name]
    _, progress = run(
        search, options, small_domain, Network(small_domain, np.random.default_rng(3))
    )
    for before, after in pairwise(progress):
        assert after.tried >= before.tried
        assert after.queries >= before.queries
    assert all(0 < event.done <= event.total for event in progress)
    assert progress[-1].done == progress[-1].total
    assert progress[-1].seconds.keys() == {event.phase for event in progress}


@pytest.mark.parametrize("name", SEARCHES)
def test_same_seed_same_findings(name, small_domain):
    search, options = SEARCHES[name]
    twice = [
        run(search, options, small_domain, Network(small_domain, np.random.default_rng(5)), seed=9)
        for _ in range(2)
    ]
    first, second = ([event.rows.tolist() for event in found] for found, _ in twice)
    assert first == second
    assert sum(map(len, first)) > 0


def test_maft_asks_no_row_twice_but_to_re_check(small_domain):
    model = Network(small_domain, np.random.default_rng(2))
    found, _ = run(*SEARCHES["maft"], small_domain, model)
    asked = np.concatenate(model.asked)
    again = len(asked) - len(np.unique(asked, axis=0))
    assert again == 2 * sum(len(event.rows) for event in found)


def test_maft_keeps_fixed_attributes_as_in_the_data(small_domain):
    people = small_domain.sample(np.random.default_rng(0), 60)
    people[:, 4] = 1
    model = Network(small_domain, np.random.default_rng(2))
    found, _ = run(*SEARCHES["maft"], small_domain, model, people=people)
    assert all((event.rows[:, 4] == 1).all() for event in found)


def test_maft_finds_most_of_a_small_domain(small_domain):
    model = Network(small_domain, np.random.default_rng(7))
    options = maft.MaftOptions(global_num=200, local_num=400)
    people = small_domain.sample(np.random.default_rng(1), 400)
    found, _ = run(maft.search, options, small_domain, model, people=people)
    everyone = everybody(small_domain)
    everyone = everyone[(everyone[:, small_domain.protected] == 0).all(axis=1)]
    truth = int(discriminatory(small_domain, everyone, model).sum())
    assert truth > 50
    assert sum(len(event.rows) for event in found) > 0.9 * truth


def test_a_step_and_back_is_the_same_person(real_domain):
    rows = real_domain.clip(real_domain.sample(np.random.default_rng(0), 200))
    there = real_domain.clip(rows + real_domain.unit)
    inside = (there < real_domain.high) & (rows > real_domain.low)
    back = real_domain.clip(there - real_domain.unit)
    assert (back[inside] == rows[inside]).all()


def test_parts_change_nothing(small_domain, monkeypatch):
    model = Network(small_domain, np.random.default_rng(2))
    whole, _ = run(*SEARCHES["maft"], small_domain, model)
    monkeypatch.setattr("fairdesk.individual.similar.MOST_ROWS", 31)
    parts, _ = run(*SEARCHES["maft"], small_domain, model)
    assert [event.rows.tolist() for event in whole] == [event.rows.tolist() for event in parts]


def test_a_fair_model_gives_nothing(small_domain):
    model = Network(small_domain, np.random.default_rng(0))
    model.hidden[small_domain.protected] = 0
    found, progress = run(*SEARCHES["maft"], small_domain, model)
    assert not found
    assert progress[-1].found == 0 < progress[-1].tried


def test_alone_names_the_attributes_that_suffice(small_domain):
    model = Network(small_domain, np.random.default_rng(0))
    model.hidden[3] = 0  # race does not count
    found, _ = run(*SEARCHES["maft"], small_domain, model)
    alone = np.concatenate([event.alone for event in found])
    assert alone[:, 0].all()
    assert not alone[:, 1].any()


def test_partner_is_the_farthest_that_flips(small_domain):
    model = Network(small_domain, np.random.default_rng(11), classes=2)
    found, _ = run(*SEARCHES["maft"], small_domain, model)
    for event in found:
        scores = model.predict(small_domain.similar(event.rows).reshape(-1, 6))
        scores = scores.reshape(len(event.rows), -1)
        own = event.row_scores
        flips = (scores > 0.5) != (own > 0.5)
        farthest = np.where(flips, np.abs(scores - own), 0).max(axis=1)
        distance = np.abs(event.partner_scores - own)[:, 0]
        assert distance == pytest.approx(farthest, abs=1e-6)


def test_what_the_model_does_not_confirm_is_struck_off(small_domain):
    class Fickle(Network):
        def predict(self, rows):
            scores = super().predict(rows)
            return scores if len(self.asked) == 1 else np.zeros_like(scores)

    ledger = Ledger(Fickle(small_domain, np.random.default_rng(0)), small_domain)
    rows, combination = small_domain.snap(small_domain.sample(np.random.default_rng(0), 300))
    assert ledger.check(rows, combination).any()
    found = ledger.take("global")
    assert len(found.rows) == 0 == ledger.found


class Placed:
    """Ignores who is asked: the answer hangs on a row's place in its batch, as last bits do."""

    def predict(self, rows):
        return np.where(np.arange(len(rows)) % 3 == 0, 0.50001, 0.5)[:, None].astype(np.float32)


@pytest.mark.parametrize("name", SEARCHES)
def test_last_bits_are_no_discrimination(name, small_domain):
    found, progress = run(*SEARCHES[name], small_domain, Placed())
    assert sum(len(event.rows) for event in found) == progress[-1].found == 0
    assert progress[-1].tried > 10


@pytest.mark.parametrize("name", SEARCHES)
def test_fixed_attributes_are_those_of_real_people(name, small_domain):
    model = Network(small_domain, np.random.default_rng(3), classes=2)
    people = small_domain.sample(np.random.default_rng(1), 100)
    people[:, 4] = 1
    run(*SEARCHES[name], small_domain, model, people=people)
    assert (np.concatenate(model.asked)[:, 4] == 1).all()


@pytest.mark.parametrize("field", msgspec.structs.fields(maft.MaftOptions), ids=lambda f: f.name)
def test_every_option_says_what_it_does(field):
    meta = field.type.__metadata__[0]
    assert meta.title
    assert meta.description.endswith(".")


def test_defaults_are_the_papers():
    assert msgspec.structs.asdict(maft.MaftOptions()) == {
        "global_num": 1_000,
        "local_num": 1_000,
        "cluster_num": 4,
        "max_iter": 10,
        "decay": 0.5,
        "update_interval": 5,
        "global_step": 1.0,
        "local_step": 1.0,
        "perturbation_size": 1.0,
    }
