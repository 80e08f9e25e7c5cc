"""Certification where the data support some comparisons only, against every single row."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.certify.baselines import fairify, fairquant
from fairdesk.certify.baselines.fairify import FairifyOptions
from fairdesk.certify.baselines.fairquant import FairQuantOptions
from fairdesk.certify.certify import CertifyOptions, search
from fairdesk.certify.counting.exhaustive import PointCounter
from fairdesk.certify.domain.boxes import partitioned
from fairdesk.certify.domain.space import space_of
from fairdesk.certify.layout import everyone_for, lay_out
from fairdesk.certify.refine import Refinery
from fairdesk.certify.results import only
from fairdesk.data.domain.domain import Domain
from fairdesk.models.structure import structure_of
from fairdesk.results.events import Measured
from fairdesk.results.proofs import Proven
from fairdesk.wording.proofs import proven_statement
from tests.certify.networks import everywhere
from tests.certify.supports import points, supported
from tests.sizes import many

SEEDS = st.integers(0, 2**32 - 1)
KINDS = st.sampled_from(["network", "linear", "forest"])


@given(seed=SEEDS)
@settings(max_examples=many(40))
def test_points_are_similar_sets_and_roots_are_of_one_kind(seed):
    made = supported(seed)
    space = partitioned(space_of(made.domain, made.people))
    found = points(made)
    assert not space.unclear.any()
    everyone = everywhere(space)
    assert len(everyone) == len(found)
    assert space.total == sum(len(each.members) > 1 for each in found)
    places = space.places(np.array([each.row for each in found]))
    assert len(np.unique(places, axis=0)) == len(found)
    combinations = [tuple(each) for each in made.domain.combinations.tolist()]
    met = np.zeros(len(found), dtype=int)
    for low, high, group in zip(space.low, space.high, space.groups, strict=True):
        for i in np.flatnonzero(((places >= low) & (places <= high)).all(axis=1)).tolist():
            met[i] += 1
            own = [each in found[i].members for each in combinations]
            assert own == space.may_be[group].tolist()
    assert (met == 1).all()
    similar = made.domain.similar(space.rows(places))
    for each, own in zip(found, similar.tolist(), strict=True):
        for c, row in enumerate(own):
            if combinations[c] in each.members:
                assert tuple(row) == each.members[combinations[c]]


@given(seed=SEEDS, kind=KINDS)
@settings(max_examples=many(40))
def test_all_is_decided_and_right(seed, kind):
    made = supported(seed, kind)
    found = points(made)
    events = search(made.context, made.people, CertifyOptions(0), np.random.default_rng(0))
    figures = [each for each in events if isinstance(each, Measured)][-1].figures
    domain = figures[0]
    assert int(domain.total) == sum(len(each.members) > 1 for each in found)
    assert int(domain.falsified_people) == sum(each.changes for each in found)
    # of nothing that is compared nothing is known
    assert domain.exact == (domain.total != "0")
    for figure in figures:
        if isinstance(figure, Proven) and figure.of == "people" and int(domain.total):
            assert figure.certified + figure.falsified == pytest.approx(1.0, abs=1e-6)
        if isinstance(figure, Proven) and len(figure.attributes) < len(made.domain.protected):
            check_one(made, figure)


def check_one(made, figure):
    """Compare what is proven of one attribute with the truth, where the others tell rows apart."""
    alone = made._replace(domain=only(made.domain, made.domain.names.index(figure.attributes[0])))
    found = [each for each in points(alone) if len(each.members) > 1]
    assert int(figure.total) == len(found)
    changes = sum(each.changes for each in found)
    assert int(figure.falsified_people) <= changes
    assert int(figure.certified_people) <= len(found) - changes
    # none contradicts what changes with another attribute
    rows = np.array([row for each in found for row in each.members.values()])
    assert not len(rows) or made.domain.allowed(rows).all()


@given(seed=SEEDS, kind=KINDS, steps=st.integers(1, 30))
@settings(max_examples=many(60))
def test_what_is_proven_by_bounds_is_true_of_every_point(seed, kind, steps):
    made = supported(seed, kind)
    layout = lay_out(made.domain, made.people, structure_of(made.fed.opened), made.fed)
    examiner, space = layout.examiner, layout.space
    changes = {
        tuple(place): each.changes
        for each in points(made)
        for place in space.places(np.array([each.row])).tolist()
    }
    refinery = Refinery(space, examiner, at_once=False)
    for _ in range(steps):
        if refinery.over:
            break
        refinery.step()
    tree = refinery.tree
    low, high = tree.boxes(tree.leaves)
    for node, first, last in zip(tree.leaves.tolist(), low, high, strict=True):
        inside = [changes[tuple(each)] for each in everywhere_in(first, last)]
        verdict = tree.verdict[node]
        if verdict == 1:
            assert not any(inside)
        elif verdict == 2:
            assert all(inside)
        elif verdict in (0, 3):
            assert tree.consistent[node] * len(inside) <= inside.count(False) + 1e-6
            assert tree.discriminatory[node] * len(inside) <= inside.count(True) + 1e-6


def everywhere_in(low, high):
    ends = (high - low + 1).tolist()
    return (low + np.indices(ends).reshape(len(ends), -1).T).tolist()


@given(seed=SEEDS, kind=KINDS)
@settings(max_examples=many(40))
def test_counting_asks_about_what_is_compared(seed, kind):
    made = supported(seed, kind)
    layout = lay_out(made.domain, made.people, structure_of(made.fed.opened), made.fed)
    space = layout.space
    found = points(made)
    places = space.places(np.array([each.row for each in found]))
    compiled, queried = everyone_for(layout), PointCounter(space, made.fed)
    roots = np.flatnonzero(space.compared)
    low, high, group = space.low[roots], space.high[roots], space.groups[roots]
    own = [
        sum(
            each.changes
            for each, place in zip(found, places, strict=True)
            if (first <= place).all() and (place <= last).all()
        )
        for first, last in zip(low, high, strict=True)
    ]
    for counter in (compiled, queried):
        assert counter.count(low, high, group).discriminatory.tolist() == own
    assert (compiled.pairs == queried.pairs).all()


@pytest.mark.parametrize("kind", ["network", "linear"])
def test_a_bound_holds_where_a_companion_is_tied(kind):
    made = supported(5, kind)
    encoded = lay_out(made.domain, made.people, structure_of(made.fed.opened), made.fed).encoded
    space, columns = encoded.space, encoded.columns
    places = everywhere(space)
    combinations = len(made.domain.combinations)
    for c in range(combinations):
        own = space.variant(places) * combinations + c
        given_ = columns.given(columns.at(places, own))
        rows = made.domain.counterparts(space.rows(places), np.full(len(places), c))
        anatomy = structure_of(made.fed.opened)
        assert (given_ == anatomy.prepare(made.fed.columns(rows))).all()


def test_where_nothing_is_compared_nothing_is_certified():
    made = supported(1)
    rare = tuple(
        (each.name, code)
        for each in (made.domain.attributes[i] for i in made.domain.protected)
        for code in each.compared[1:]
    )
    support = msgspec.structs.replace(made.domain.support, rare=rare)
    made = made._replace(domain=Domain(made.domain.attributes, support=support))
    events = list(search(made.context, made.people, CertifyOptions(0), np.random.default_rng(0)))
    figure = [each for each in events if isinstance(each, Measured)][-1].figures[0]
    assert (figure.total, figure.certified_people, figure.exact) == ("0", "0", False)
    assert "There is no comparison" in figure.notes[0]
    assert "No share" in proven_statement(figure).sentence


@given(seed=SEEDS, kind=st.sampled_from(["network", "linear"]))
@settings(max_examples=many(15))
def test_the_published_methods_claim_no_more_than_is_true(seed, kind):
    made = supported(seed, kind)
    found = [each for each in points(made) if len(each.members) > 1]
    changes = sum(each.changes for each in found)
    for method, options in (
        (fairquant, FairQuantOptions()),
        (fairify, FairifyOptions(partition_size=10, hard_seconds=1.0)),
    ):
        rng = np.random.default_rng(0)
        events = method.search(made.context, made.people, options, rng)
        figure = [each for each in events if isinstance(each, Measured)][-1].figures[0]
        assert int(figure.total) == len(found)
        assert int(figure.falsified_people) <= changes
        assert int(figure.certified_people) <= len(found) - changes
