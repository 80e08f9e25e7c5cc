"""Pairs looked at again, with a formula for a model: all kinds of decisions, and rounding."""

import numpy as np
import pytest

from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.verify.pairs import ASKED_AGAIN, check_pairs
from fairdesk.individual.searches import aequitas
from fairdesk.population.plausible import Criterion
from tests import phrases
from tests.audit import audited
from tests.report import building

SCORES = phrases.SCORED_AS_TOLD
ALONE = phrases.ALONE_AS_TOLD
QUICK = {"global_num": 30, "local_num": 30}


def checks(store, ask, sample=None, plausible=None):
    found = check_pairs(store, ask, sample, 0, lambda _said: None, plausible)
    return {each.name: each for each in found}


def failed(found):
    return {name for name, each in found.items() if each.failed}


@pytest.fixture(params=["two", "three", "several protected"])
def audit(tmp_path, request):
    """Make an audit of decisions between two or three, and the formula that decides."""
    classes = ("no", "later", "yes") if request.param == "three" else ("0", "1")
    protected = ("sex", "job") if request.param == "several protected" else ("sex",)
    with building.people_store(
        tmp_path, protected, classes=classes, favourable_class=len(classes) - 1
    ) as store:
        building.run_into(store, options=QUICK)
        model = building.Formula(store.spec.domain, classes=len(classes))
        assert store.count(PairQuery()) > 20
        yield store, model


def test_the_same_model_says_the_same(audit):
    store, model = audit
    found = checks(store, model.predict)
    assert failed(found) == set()
    n, p = store.count(PairQuery()), len(store.spec.domain.protected)
    assert found[ASKED_AGAIN].tried == found[SCORES].tried == n
    assert found[ALONE].tried == n * p
    assert found[ALONE].unknown < n * p / 10


def test_the_last_bits_of_another_machine_are_no_difference(audit):
    store, model = audit
    rng = np.random.default_rng(1)

    def elsewhere(rows):
        answers = model.predict(rows)
        return (answers + rng.normal(scale=1e-6, size=answers.shape)).astype(np.float32)

    assert failed(checks(store, elsewhere)) == set()


def test_a_model_that_scores_otherwise_differs_in_scores_only(audit):
    store, model = audit

    def sharper(rows):
        answers = model.predict(rows)
        if answers.shape[1] == 1:
            return (0.5 + 0.98 * (answers - 0.5)).astype(np.float32)
        return (0.98 * answers).astype(np.float32)

    assert failed(checks(store, sharper)) == {SCORES}


def test_a_model_that_treats_all_alike_differs_in_every_pair(audit):
    store, model = audit
    domain = store.spec.domain

    def blind(rows):
        rows = rows.copy()
        rows[:, domain.protected] = domain.low[domain.protected]
        return model.predict(rows)

    found = checks(store, blind)
    assert found[ASKED_AGAIN].failed == found[ASKED_AGAIN].tried
    assert "the decisions differ from the recorded ones" in found[ASKED_AGAIN].remarks[0]
    assert {ASKED_AGAIN, SCORES, ALONE} <= failed(found)


def test_a_decision_on_the_border_is_neither_right_nor_wrong(audit):
    store, model = audit

    def torn(rows):
        answers = model.predict(rows)
        even = 0.5 if answers.shape[1] == 1 else 1 / answers.shape[1]
        return np.full_like(answers, even)

    found = checks(store, torn)
    assert found[ASKED_AGAIN].failed == 0
    assert found[ASKED_AGAIN].unknown == found[ASKED_AGAIN].tried
    assert found[SCORES].failed == found[SCORES].tried


def test_without_a_model_the_pairs_are_looked_at_by_themselves(audit):
    store, _ = audit
    (people,) = checks(store, None).values()
    assert (people.tried, people.failed) == (store.count(PairQuery()), 0)


def test_who_cannot_be_is_not_sent_to_the_model(audit, tmp_path):
    store, model = audit
    audited.change(tmp_path / "audit.fairdesk", "UPDATE finding SET x0 = 500 WHERE id = 3")

    def careful(rows):
        assert store.spec.domain.contains(rows).all()
        return model.predict(rows)

    found = checks(store, careful)
    assert found[ASKED_AGAIN].unknown == 1
    assert len(failed(found)) == 1


def test_two_who_are_decided_alike_are_a_pair_by_their_scores(tmp_path, monkeypatch):
    """Aequitas counts, besides, whose scores differ by more than gamma."""
    entry = (aequitas.random, aequitas.RandomOptions)
    monkeypatch.setitem(building.SEARCHES, "aequitas-random", entry)
    options = {"global_iteration_limit": 200, "local_iteration_limit": 5, "gamma": 0.15}
    with building.people_store(tmp_path) as store:
        building.run_into(store, "aequitas-random", options=options)
        model = building.Formula(store.spec.domain)
        pairs = list(store.each_pair(PairQuery()))
        consistent = [pair for pair in pairs if pair.row_class == pair.partner_class]
        assert consistent
        assert failed(checks(store, model.predict)) == set()
        place = consistent[0].id
        audited.change(
            tmp_path / "audit.fairdesk",
            "UPDATE finding SET partner_score = row_score, y1 = x1 WHERE id = ?",
            place,
        )
        assert failed(checks(store, model.predict))
        # told of a run that counts no scores they are no pair
        audited.change(
            tmp_path / "audit.fairdesk", "UPDATE run SET spec = replace(spec, '0.15', '0.0')"
        )
        found = checks(store, model.predict)
        assert found[ASKED_AGAIN].failed >= len(consistent) - 1
        assert "the decision is now the same for both instances" in " ".join(
            found[ASKED_AGAIN].remarks
        )


def test_where_only_plausible_instances_count_no_other_change_is_enough(tmp_path):
    with building.people_store(tmp_path, ("sex", "job")) as store:
        domain = store.spec.domain
        criterion = Criterion.fit(domain, domain.people(store.table()))
        building.run_into(store, seed=1, options=QUICK, criterion=criterion)
        model = building.Formula(domain)
        assert store.count(PairQuery()) > 20
        assert not failed(checks(store, model.predict, plausible=criterion.plausible))
        everything = checks(store, model.predict, plausible=lambda rows: np.ones(len(rows), bool))
        assert failed(everything) == {ALONE}
        nothing = checks(store, model.predict, plausible=lambda rows: np.zeros(len(rows), bool))
        assert failed(nothing) == {ALONE}
        without_data = checks(store, model.predict)
        assert not failed(without_data)
        assert without_data[ALONE].unknown >= everything[ALONE].failed
        assert "Without the data" in without_data[ALONE].remarks[0]
