"""The whole method, against everybody in small domains: shares, stopping, and going on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

from fairdesk.audit.catalogue.method import stage
from fairdesk.certify import certify
from fairdesk.certify import layout as layout_module
from fairdesk.certify import results as aside
from fairdesk.certify.certify import CertifyOptions, _Gain, search
from fairdesk.certify.domain.space import space_of
from fairdesk.certify.layout import lay_out, rates_for
from fairdesk.certify.proof.certificate import decoded
from fairdesk.certify.refine import Refinery
from fairdesk.data.domain.attributes import Role
from fairdesk.data.domain.dependencies import Determined
from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.context import SearchContext
from fairdesk.models.model import labels
from fairdesk.models.structure import structure_of
from fairdesk.results.events import Certificate, Event, Found, Measured, Progress
from fairdesk.results.individual import Share
from fairdesk.results.proofs import PairShare, Proven, ProvenRates, Region
from tests.certify.networks import RELU, Small, everywhere, names, number, small
from tests.certify.scikits import behind_one_hot, domain_of, fed, people
from tests.sizes import many

RULES = ("a0 >= 3 implies sex != sex1", "not (a1 = 2 and sex = sex0)")


def question(
    seed: int,
    *,
    values: int = 2,
    classes: int = 2,
    rules: tuple[str, ...] = (),
    second: bool = False,
) -> Small:
    """Make a network over a small domain."""
    rng = np.random.default_rng(seed)
    attributes = [
        number("a0", 6),
        number("a1", 4),
        names("b", 3),
        names("sex", values, Role.PROTECTED),
        *([number("age", 2, role=Role.PROTECTED)] if second else []),
    ]
    made = small(attributes, (5, 4), rng, activation=RELU, classes=classes)
    return made._replace(domain=Domain(tuple(attributes), rules))


def counted(made: Small) -> tuple[int, int]:
    """Count who is unlike, and everybody, by asking the model about every single one."""
    space = space_of(made.domain, made.people)
    similar = made.domain.similar(space.rows(everywhere(space)))
    allowed = made.domain.possible(similar)
    decided = np.full(allowed.shape, -1)
    decided[allowed] = labels(made.fed.predict(similar[allowed]))
    sets = [{*own[may_be].tolist()} for own, may_be in zip(decided, allowed, strict=True)]
    return sum(len(each) > 1 for each in sets), int((allowed.sum(axis=1) > 1).sum())


def told(events: Iterator[Event], kind: type) -> list:
    return [event for event in events if isinstance(event, kind)]


def test_each_step_of_a_proof_has_a_name():
    made = question(3, values=3, rules=RULES, second=True)
    options = CertifyOptions(seconds=20)
    events = list(search(made.context, made.people, options, np.random.default_rng(0)))
    phases = dict.fromkeys(each.phase for each in told(events, Progress))
    assert list(phases)[:3] == ["looking", "rows", "certify"]
    assert list(phases)[-3:] == ["examples", "estimating", "writing"]
    # in words, and not as its key
    assert all(stage(phase) != phase for phase in phases)


def measured(events: list[Event]) -> tuple:
    return told(events, Measured)[-1].figures


@given(
    seed=st.integers(0, 2**32 - 1),
    values=st.integers(2, 3),
    classes=st.integers(2, 3),
    rules=st.lists(st.sampled_from(RULES), unique=True),
)
@settings(max_examples=many(25))
def test_all_is_decided_and_right(seed, values, classes, rules):
    made = question(seed, values=values, classes=classes, rules=tuple(rules))
    discriminatory, total = counted(made)
    context = made.context
    events = list(search(context, made.people, CertifyOptions(seconds=0), np.random.default_rng(0)))
    figures = measured(events)
    domain = figures[0]
    assert isinstance(domain, Proven)
    assert domain.of == "domain"
    assert int(domain.total) == total
    assert int(domain.falsified_people) == discriminatory
    assert int(domain.certified_people) == total - discriminatory
    assert domain.exact
    (certificate,) = told(events, Certificate)
    assert decoded(certificate.header).falsified == str(discriminatory)
    rows = [each for each in figures if isinstance(each, Share)]
    assert [each.whom for each in rows] == ["data"]
    for region in figures:
        if isinstance(region, Region):
            assert int(region.people) <= (
                discriminatory if region.verdict == "discriminatory" else total - discriminatory
            )
    found = [row for event in told(events, Found) for row in event.rows]
    assert bool(found) == bool(discriminatory)


@pytest.mark.parametrize("by", ["a1", "sex"])
def test_who_has_what_follows_from_nothing_known_is_nobody(by):
    attributes = (
        number("a0", 6),
        number("a1", 4),
        number("grade", 3),
        names("sex", 3, Role.PROTECTED),
    )
    follows = Determined("grade", by, ((0.0, 2.0), (2.0, 1.0)))
    rule = f"grade is determined by {by}"
    made = small(attributes, (5, 4), np.random.default_rng(3))
    made = made._replace(
        domain=Domain(attributes, (rule,), (follows,)), people=np.array([[1.0, 2, 1, 0]])
    )
    discriminatory, total = counted(made)
    events = list(
        search(made.context, made.people, CertifyOptions(seconds=0), np.random.default_rng(0))
    )
    domain = measured(events)[0]
    assert (int(domain.falsified_people), int(domain.total)) == (discriminatory, total)
    assert domain.exact


@pytest.mark.parametrize("seed", range(3))
def test_a_stopped_run_can_be_gone_on_with(seed):
    made = question(seed)
    context = made.context
    events: list[Event] = []
    for event in search(context, made.people, CertifyOptions(seconds=0), np.random.default_rng(0)):
        events.append(event)
        if told(events, Measured):
            context.request_finish()
    (certificate,) = told(events, Certificate)
    first = measured(events)[0]

    context = made.context
    context.previous_certificate = certificate
    again = list(search(context, made.people, CertifyOptions(seconds=0), np.random.default_rng(0)))
    begun = told(again, Measured)[0].figures[0]
    assert int(begun.certified_people) >= int(first.certified_people)
    last = measured(again)[0]
    assert last.exact
    assert int(last.falsified_people) == counted(made)[0]


def test_two_attributes_are_also_told_each_by_itself():
    made = next(
        each
        for each in (question(seed, values=3, second=True) for seed in range(50))
        if counted(each)[0]
    )
    events = list(
        search(made.context, made.people, CertifyOptions(seconds=20), np.random.default_rng(0))
    )
    figures = measured(events)
    alone = [each for each in figures if isinstance(each, Proven) and len(each.attributes) == 1]
    assert [each.attributes for each in alone] == [("sex",), ("age",)]
    whole = figures[0]
    pairs = [each for each in figures if isinstance(each, PairShare)]
    assert pairs
    assert all(each.exact for each in (*alone, *pairs))
    assert max(each.falsified for each in (*alone, *pairs)) <= whole.falsified * (1 + 1e-12)
    assert sum(each.falsified for each in pairs) >= whole.falsified * (1 - 1e-12)


def test_what_there_is_no_time_for_is_not_told(monkeypatch):
    made = question(2, values=3, second=True)
    layout = lay_out(made.domain, made.people, structure_of(made.fed.opened), made.fed)
    rng = np.random.default_rng(0)
    monkeypatch.setattr(aside, "lay_out", None)
    assert not any(aside.look_aside(layout, made.people, rng, lambda _part: True))
    monkeypatch.undo()
    looked = [*aside.look_aside(layout, made.people, rng, lambda _part: False)]
    read_state = [each for each in looked if each is not None]
    assert [each.attributes for each in read_state[:2]] == [("sex",), ("age",)]
    assert all(isinstance(each, PairShare) for each in read_state[2:])
    assert len(read_state) > 2


def forest(rng, trees=4):
    """Make a forest over a small domain, and rows of it."""
    frame, label = people(rng)
    model = fed(behind_one_hot(RandomForestClassifier(trees, random_state=1)).fit(frame, label))
    return model, domain_of(), domain_of().sample(rng, 50)


@pytest.mark.parametrize("stopped", [False, True])
def test_a_run_that_ends_while_trees_are_laid_out_says_that_nothing_is_certified(
    monkeypatch, stopped
):
    rng = np.random.default_rng(1)
    model, domain, rows = forest(rng)
    context = SearchContext(model, domain)
    monkeypatch.setattr(certify, "_LEAST_LAYOUT", 0.0)
    seconds = 1_000.0 if stopped else 1e-9
    running = search(context, rows, CertifyOptions(seconds), rng)
    begun = [next(running)]
    if stopped:
        begun += [next(running), next(running)]
        context.request_finish()
    events = [*begun, *running]
    assert {each.phase for each in events} == {"looking"}
    assert not told(events, Certificate)
    (figure,) = measured(events)
    shares = figure.certified, figure.falsified, figure.undecided
    assert shares == (0.0, 0.0, 1.0)
    assert int(figure.total) == lay_out(domain, rows, structure_of(model.opened), model).space.total
    assert figure.notes == (certify._NOT_BEGUN,)


def test_a_later_part_lays_nothing_out_again(monkeypatch):
    rng = np.random.default_rng(1)
    model, domain, rows = forest(rng)
    kept, proofs = {}, []
    for _ in range(2):
        context = SearchContext(model, domain)
        context.kept = kept
        events = list(search(context, rows, CertifyOptions(20.0), np.random.default_rng(0)))
        proofs.append([each.certified_people for each in measured(events)[:1]])
        monkeypatch.setattr(layout_module, "lay_out_in_steps", None)
    assert proofs[0] == proofs[1]
    # what is asked otherwise is laid out anew
    context = SearchContext(model, domain)
    context.kept = kept
    with pytest.raises(TypeError):
        list(search(context, rows[1:], CertifyOptions(20.0), rng))


def test_pairs_and_rates_take_trees_as_they_were_laid_out(monkeypatch):
    model, domain, rows = forest(np.random.default_rng(1))
    layout = lay_out(domain, rows, structure_of(model.opened), model, weighed=True)
    monkeypatch.setattr(layout_module, "encode_forest", None)
    alike = Refinery(layout.comparing(0, 1).space, layout.comparing(0, 1).examiner)
    while not alike.over:
        alike.step()
    both = layout.space.rows(everywhere(layout.space))
    members = layout.space.domain.similar(both)[:, :2]
    decided = labels(model.predict(members.reshape(-1, members.shape[2]))).reshape(-1, 2)
    assert alike.discriminatory == (decided[:, 0] != decided[:, 1]).sum()
    assert rates_for(layout) is not None


def test_rows_that_there_is_no_time_for_are_left_out_and_that_is_said(monkeypatch):
    made, rng = question(3, second=True), np.random.default_rng(0)
    monkeypatch.setattr(certify, "_ROWS", 1e-12)
    figures = measured([*search(made.context, made.people, CertifyOptions(20.0), rng)])
    assert not [each for each in figures if isinstance(each, Share)]
    assert certify.ROWS_LEFT in figures[0].notes


def test_of_nothing_proven_is_told_once(monkeypatch):
    made = question(3, second=True)
    rng = np.random.default_rng(0)
    monkeypatch.setattr(certify, "_FEW", 0)
    monkeypatch.setattr(certify._Proof, "_over", lambda *_: True)
    monkeypatch.setattr(Refinery, "step", lambda *_: None)
    figures = measured([*search(made.context, made.people, CertifyOptions(5.0), rng)])
    proofs = [each for each in figures if isinstance(each, Proven)]
    assert [each.of for each in proofs] == ["domain", "people"]
    assert proofs[0].notes == (certify.NOTHING,)
    assert not [each for each in figures if isinstance(each, PairShare)]


def test_an_attribute_that_the_model_does_not_use_is_certified_at_once():
    made = question(1)
    layers = made.fed.opened.layers
    layers[0].weights[-2:] = 0.0
    events = list(
        search(made.context, made.people, CertifyOptions(seconds=5), np.random.default_rng(0))
    )
    domain = measured(events)[0]
    assert domain.exact
    assert domain.certified == 1.0


def test_of_a_model_that_cannot_be_looked_into_the_estimate_says_why(monkeypatch):
    monkeypatch.setattr(certify, "_MOST_ASKED", 10)
    rng = np.random.default_rng(1)
    frame, label = people(rng)
    model = fed(behind_one_hot(KNeighborsClassifier()).fit(frame, label))
    domain = domain_of()
    context = SearchContext(model, domain)
    figures = measured(list(search(context, domain.sample(rng, 50), CertifyOptions(), rng)))
    shares = [each for each in figures if isinstance(each, Share)]
    assert {each.opaque for each in shares} == {"it is a “KNeighborsClassifier”"}


def test_a_gain_too_small_is_noticed_after_a_while():
    gain, moments = _Gain(10.0, 6.0), [float(moment) for moment in range(1, 31)]
    fast = [gain.is_small(moment, 1_000 - 20 * int(moment)) for moment in moments]
    assert not any(fast)
    slow = _Gain(10.0, 6.0)
    # it decides twenty people a second for ten seconds, and then nobody
    first = next(
        moment for moment in moments if slow.is_small(moment, 1_000 - 20 * int(min(moment, 10)))
    )
    # then the last third lies behind the end of that
    assert first == 15.0
    assert not any(_Gain(0.0, 0.0).is_small(moment, 1_000) for moment in moments)
    assert not _Gain(10.0, 6.0).is_small(5.0, 1_000)
    assert _Gain(10.0, 4.0).is_small(5.0, 1_000)


def test_certification_ends_when_it_learns_too_little(monkeypatch):
    monkeypatch.setattr(certify, "_FIRST_GAIN", 0.0)
    monkeypatch.setattr(certify, "_FEW", 0)
    made = question(3, second=True)
    # nothing decides more than everybody, so that it ends at the first look
    options = CertifyOptions(seconds=1_000.0, gain=1.0)
    events = list(search(made.context, made.people, options, np.random.default_rng(0)))
    assert measured(events)[0].undecided > 0
    assert told(events, Certificate)


def test_rates_end_when_too_little_of_them_is_learned(monkeypatch):
    monkeypatch.setattr(certify, "_FIRST_OF_RATES", 0.0)
    monkeypatch.setattr(certify, "_FEW", 0)
    made = question(3)

    def boxes(gain: float) -> int:
        options = CertifyOptions(seconds=1_000.0, gain=gain)
        events = list(search(made.context, made.people, options, np.random.default_rng(0)))
        (rates,) = (each for each in measured(events) if isinstance(each, ProvenRates))
        return rates.boxes

    assert boxes(1.0) < boxes(0.0)
