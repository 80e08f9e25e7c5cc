"""Counting the people in regions once more: never above the truth, and nearly what was stated."""

from __future__ import annotations

import tracemalloc
from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.certify.bounds import network
from fairdesk.certify.certify import search
from fairdesk.certify.domain.space import Node, PopulationOf, Weights
from fairdesk.certify.layout import lay_out
from fairdesk.certify.options import CertifyOptions
from fairdesk.certify.proof import reproof_counting
from fairdesk.certify.proof.certificate import UNDECIDED, Points, decoded
from fairdesk.certify.proof.reproof_check import NOTHING
from fairdesk.certify.proof.verify import provers
from fairdesk.certify.proof.verify.population import People, people_proven_again
from fairdesk.certify.proof.verify.provers import PeopleMeasure
from fairdesk.models.structure import structure_of
from fairdesk.results.events import Certificate
from tests import phrases
from tests.certify.networks import Small, drawn, sharp, wide
from tests.certify.populations import SEEDS, rows_of
from tests.sizes import many


def certified(kind, seed, *, seconds=0.05):
    """Certify a network with a population: the case, the certificate's header and its arrays."""
    case = kind(seed)
    rows = rows_of(case.domain, np.random.default_rng(seed), 60)
    case = Small(case.fed, case.domain, rows)
    options = CertifyOptions(seconds=seconds)
    events = search(case.context, case.people, options, np.random.default_rng(0))
    (made,) = (each for each in events if isinstance(each, Certificate))
    return case, decoded(made.header), made.arrays


def everybody(low, high):
    """All points of a box."""
    ends = (high - low + 1).tolist()
    return low + np.indices(ends).reshape(len(ends), -1).T


@settings(max_examples=many(8))
@given(SEEDS, st.sampled_from([drawn, wide, sharp]))
def test_never_more_people_are_counted_than_there_are(seed, kind):
    case, header, arrays = certified(kind, seed)
    prove = provers.reproving(header, arrays, case.fed)
    people, points = People(header), Points(header, case.fed.predict)
    rng = np.random.default_rng(seed)
    first, last = (arrays[each][0].astype(np.int64) for each in ("root_low", "root_high"))
    ends = rng.integers(first, last, (2, len(first)), endpoint=True)
    for low, high in ((first, last), (ends.min(axis=0), ends.max(axis=0))):
        group = np.array(header.groups[:1])
        # nothing has to be reached, so that no box is divided
        told = prove(low[None], high[None], group, np.zeros((1, 2)), 60.0, of="people")
        places = everybody(low, high)
        masses = people.masses(places, places)
        if not masses.sum() > 0:
            continue
        bad = float(masses[points.differ(places)].sum() / masses.sum())
        assert told.consistent[0] <= 1.0 - bad + 1e-9
        assert told.discriminatory[0] <= bad + 1e-9


@settings(max_examples=many(40))
@given(SEEDS)
def test_sums_over_people_are_never_above_the_truth(seed):
    _, header, arrays = certified(drawn, seed)
    people = People(header)
    measure = PeopleMeasure(people)
    rng = np.random.default_rng(seed)
    first, last = (arrays[each][0].astype(np.int64) for each in ("root_low", "root_high"))
    ends = rng.integers(first, last, (2, len(first)), endpoint=True)
    low, high = ends.min(axis=0), ends.max(axis=0)
    places = everybody(low, high)
    masses = people.masses(places, places)
    terms, sums = [], np.zeros((len(places), 3))
    for i in range(len(low)):
        if rng.random() < 0.5:
            slope = rng.normal(0, 1, 3)
            terms.append((slope, int(low[i]), int(high[i])))
            sums += slope * places[:, i, None]
        else:
            table = rng.normal(0, 1, (high[i] - low[i] + 1, 3))
            terms.append(table)
            sums += table[places[:, i] - low[i]]
    found = measure.summed(terms, low, high)
    if found is None:
        assert masses.sum() < 0.5
        return
    assert abs(measure.size(low, high) - masses.sum()) < 1e-12
    share = masses / masses.sum()
    limit = np.quantile(sums, rng.random(), axis=0)
    above = found.above(limit)
    assert (above <= share @ (sums > limit - 1e-12) + 1e-12).all()
    # and they are no less than what the grid leaves of them
    near = 2.0 * found.off + found.step
    assert (above >= share @ (sums > limit + near) - 1e-8).all()


def star(axes, cells=8):
    """Return a header with attributes that all depend on the first one, for a measure."""
    even = (1.0 / cells,) * cells
    nodes = [Node("a0", -1, (even,)), *(Node(f"a{i}", 0, (even,) * cells) for i in range(1, axes))]
    each = Weights(tuple(range(cells)), tuple(range(cells)), 1, (), ())
    return SimpleNamespace(
        population=PopulationOf(tuple(nodes), (each,) * axes),
        axes=[SimpleNamespace(attribute=f"a{i}", count=cells) for i in range(axes)],
    )


def test_memory_does_not_grow_with_the_attributes_that_depend_on_one():
    peaks = []
    for axes in (4, 24):
        measure = PeopleMeasure(People(star(axes)))
        terms = [(np.linspace(-1.0, 1.0, 20), 0, 7)] * axes
        tracemalloc.start()
        found = measure.summed(terms, np.zeros(axes, dtype=np.int64), np.full(axes, 7))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert found is not None
        assert np.allclose(found.share.sum(axis=1), 1.0)
    assert peaks[1] < 1.5 * peaks[0]


def test_what_was_stated_of_people_is_proven_again(monkeypatch):
    """What the examiner says of whole spaces, mostly; and nothing contradicts what is true."""
    monkeypatch.setattr(network, "_LEAST", 0.0)
    tried = again = 0
    for seed in range(8):
        case, header, arrays = certified(wide, seed)
        anatomy = structure_of(case.fed.opened)
        layout = lay_out(case.domain, case.people, anatomy, case.fed, weighed=True, first="people")
        space = layout.space
        found = layout.examiner.examine(space.low, space.high, space.groups)
        assert len(space.low) == 1
        own = np.array(found.people)[:, 0]
        narrowed = (found.low > space.low).any() or (found.high < space.high).any()
        if narrowed or not 0.0 < own.sum() < 1.0:
            continue
        stated = {name: array.copy() for name, array in arrays.items()}
        stated["verdict"][:] = UNDECIDED
        stated["people_consistent"][:], stated["people_discriminatory"][:] = own
        came = people_proven_again(
            *(header, stated, case.fed.predict, provers.reproving(header, arrays, case.fed)),
            seconds=20.0,
            everything=False,
            rng=np.random.default_rng(0),
        )
        assert came.name == phrases.PEOPLE_PROVEN_AGAIN
        assert not came.failed, came.remarks
        tried, again = tried + came.tried, again + came.tried - came.unknown
    assert tried > 2
    assert again >= 0.5 * tried


def test_a_forged_share_is_contradicted_by_a_count(monkeypatch):
    monkeypatch.setattr(reproof_counting, "_MOST_PARTS", 2)
    contradicted = 0
    for seed in range(4):
        case, header, arrays = certified(wide, seed)
        prove = provers.reproving(header, arrays, case.fed)
        low, high = (arrays[each].astype(np.int64)[:1] for each in ("root_low", "root_high"))
        group = np.array(header.groups[:1])
        told = prove(low, high, group, np.zeros((1, 2)), 60.0, of="people")
        for share, column in ((told.discriminatory[0], 0), (told.consistent[0], 1)):
            stated = np.zeros((1, 2))
            stated[0, column] = 1.0 - 0.5 * share
            if share > 1e-6:
                again = prove(low, high, group, stated, 60.0, of="people")
                assert again.contradicted[0] != NOTHING
                contradicted += 1
    assert contradicted > 1
