"""What is proven of a population, against every point weighed in exact fractions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from time import perf_counter
from types import SimpleNamespace
from unittest.mock import patch

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from fairdesk.certify import certify, refine
from fairdesk.certify.bounds import linear, network
from fairdesk.certify.certify import search
from fairdesk.certify.counting.exhaustive import QueriedExaminer
from fairdesk.certify.domain.boxes import Tree
from fairdesk.certify.domain.population import Population
from fairdesk.certify.domain.space import Places, sizes
from fairdesk.certify.layout import everyone_for, lay_out, lay_out_queried
from fairdesk.certify.options import CertifyOptions
from fairdesk.certify.proof.certificate import CONSISTENT, COUNTED, NOBODY, UNDECIDED, decoded
from fairdesk.certify.proof.verify import population
from fairdesk.certify.proof.verify.population import People, _Proof, population_checks
from fairdesk.certify.proof.verify.rates import rate_checks, rate_regions
from fairdesk.certify.refine import Counted, Refinery
from fairdesk.certify.results import people_shares
from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.context import SearchContext
from fairdesk.models.model import labels
from fairdesk.models.structure import structure_of
from fairdesk.results.events import Certificate, Measured
from fairdesk.results.proofs import Proven
from tests import phrases
from tests.certify.networks import Small, drawn
from tests.certify.populations import SEEDS, rows_of, weights_of
from tests.certify.scikits import behind_one_hot, domain_of, fed, people
from tests.sizes import many

FIRST = st.sampled_from(["people", "combinations"])
RULES = st.sampled_from([(), ("n0 >= 1 implies race != {last}",)])


def case_of(seed: int, rules: tuple[str, ...] = ()) -> Small:
    """Draw a network with data."""
    made = drawn(seed)
    race = next(each for each in made.domain.attributes if each.name == "race")
    last = race.values[-1] if race.values else f"{race.high:g}"
    domain = Domain(made.domain.attributes, tuple(rule.format(last=last) for rule in rules))
    rows = rows_of(domain, np.random.default_rng(seed), 50)
    return Small(made.fed, domain, rows)


def tried(seed: int) -> list[tuple[str, Small]]:
    """Return a model of each kind over a small domain, with data."""
    rng = np.random.default_rng(seed)
    frame, label = people(rng)
    domain = domain_of()
    made = [("network", case_of(seed))]
    for kind in (LogisticRegression(), DecisionTreeClassifier(max_depth=4, random_state=seed % 7)):
        model = fed(behind_one_hot(kind).fit(frame, label))
        made.append((type(kind).__name__, Small(model, domain, domain.sample(rng, 60))))
    return made


def truth(case: Small, space) -> tuple[Fraction, Fraction]:
    """Weigh who is consistent and who is discriminatory, by asking the model about everybody."""
    points, weights = weights_of(space)
    similar = case.domain.similar(space.rows(points))
    allowed = case.domain.allowed(similar.reshape(-1, similar.shape[2])).reshape(similar.shape[:2])
    decided = np.full(allowed.shape, -1)
    decided[allowed] = labels(case.fed.predict(similar[allowed]))
    sums = [Fraction(0), Fraction(0)]
    for own, may_be, weight in zip(decided, allowed, weights, strict=True):
        if may_be.sum() > 1:
            sums[len({*own[may_be].tolist()}) > 1] += weight
    whole = sum(sums) or Fraction(1)
    return sums[0] / whole, sums[1] / whole


class Dice:
    """Counts or divides by chance, whatever pays."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    points_per_box = 1.0 / 16.0

    def least_density(self, speed: float) -> float:
        return 1e-300 if self._rng.random() < 0.5 else np.inf

    def divided(self, mass: float, seconds: float, boxes: int) -> None:
        """Forget it."""

    def counted(self, points: float, seconds: float) -> None:
        """Forget it."""


@given(SEEDS, st.integers(0, 8), FIRST, RULES, st.sampled_from([1.0, 16.0]))
@settings(max_examples=60)
def test_no_share_of_a_population_is_above_the_truth(seed, steps, first, rules, few) -> None:
    case = case_of(seed, rules)
    anatomy = structure_of(case.fed.opened)
    layout = lay_out(case.domain, case.people, anatomy, case.fed, weighed=True, first=first)
    consistent, discriminatory = truth(case, layout.space)
    refinery = Refinery(
        *(layout.space, layout.examiner),
        at_once=False,
        first=first,
        counter=everyone_for(layout),
    )
    refinery._pace = Dice(seed)
    with patch.object(network, "_LEAST", few):
        for _ in range(steps):
            refinery.step(4)
            certified, falsified, undecided = people_shares(refinery)
            assert certified <= consistent
            assert falsified <= discriminatory
            assert undecided == pytest.approx(1 - certified - falsified)


@given(SEEDS, RULES, st.booleans())
@settings(max_examples=many(40))
def test_dense_boxes_are_counted_once_whenever_that_is(seed, rules, bounded) -> None:
    case = case_of(seed, rules)
    anatomy = structure_of(case.fed.opened)
    layout = lay_out(case.domain, case.people, anatomy, case.fed, weighed=True, first="people")
    # the network is never bounded: small as it is, that would leave nothing to count
    layout = replace(layout, examiner=QueriedExaminer())
    consistent, discriminatory = truth(case, layout.space)
    counter = everyone_for(layout)
    refinery = Refinery(
        *(layout.space, layout.examiner),
        at_once=False,
        first="people",
        counter=counter,
        bounded=bounded,
    )
    refinery._pace = Dice(seed)
    steps = 0
    while not refinery.over and steps < 1_000:
        refinery.step(4)
        steps += 1
        certified, falsified, _ = people_shares(refinery)
        assert certified <= consistent
        assert falsified <= discriminatory
    tree = Tree.of(layout.space, refinery.tree.arrays())
    again = Refinery(layout.space, layout.examiner, tree, first="people")
    assert again.consistent == refinery.consistent
    assert again.discriminatory == refinery.discriminatory
    # a box of one point is not halved: it waits to be counted
    for _ in refinery.count(counter):
        pass
    assert refinery.undecided == refinery.points(np.flatnonzero(layout.space.unclear))
    assert (
        sum(people_shares(refinery)[:2])
        == pytest.approx(0.0 if layout.space.unclear.all() else 1.0, abs=1e-6)
        or layout.space.unclear.any()
    )


@given(SEEDS, st.integers(8, 40))
@settings(max_examples=many(30))
def test_masses_stay_with_their_boxes_when_room_is_made(seed, most) -> None:
    case = case_of(seed)
    anatomy = structure_of(case.fed.opened)
    layout = lay_out(case.domain, case.people, anatomy, case.fed, weighed=True, first="people")
    refinery = Refinery(
        *(layout.space, layout.examiner), first="people", counter=everyone_for(layout)
    )
    refinery._pace = Dice(seed)
    tree, of = refinery.tree, layout.space.people
    with patch.object(network, "_LEAST", 1.0), patch.object(refine, "MOST_NODES", most):
        for _ in range(12):
            refinery.step(4)
            known = np.flatnonzero(tree.people_mass[: tree.count])
            np.testing.assert_array_equal(tree.people_mass[known], of.masses(*tree.boxes(known)))
            assert not tree.people_mass[tree.count :].any()
    left = refinery.undecided_leaves()
    held = of.masses(*tree.boxes(left)) > 0.0
    assert (tree.people_mass[left] > 0.0)[held].all()


def test_only_boxes_of_trees_are_not_cut_where_people_are() -> None:
    rng = np.random.default_rng(0)
    frame, label = people(rng)
    tree = fed(behind_one_hot(DecisionTreeClassifier(max_depth=3)).fit(frame, label))
    domain = domain_of()
    rows = domain.sample(rng, 60)
    anatomy = structure_of(tree.opened)
    layout = lay_out(domain, rows, anatomy, tree, weighed=True, first="people")
    assert not layout.concentrates
    other = lay_out_queried(domain, rows, tree)
    assert other is not None
    assert other.concentrates


def queried(seed: int) -> tuple[Small, list]:
    """Certify a model that can only be queried."""
    rng = np.random.default_rng(seed)
    frame, label = people(rng)
    model = fed(behind_one_hot(KNeighborsClassifier()).fit(frame, label))
    domain = domain_of()
    case = Small(model, domain, domain.sample(rng, 60))
    options = CertifyOptions(seconds=0)
    with patch.object(certify, "_without", lambda *_: iter(())), patch.object(certify, "_FEW", 0):
        return case, [*search(case.context, case.people, options, np.random.default_rng(0))]


def test_a_model_that_can_only_be_queried_is_counted_where_most_people_are() -> None:
    case, events = queried(0)
    figures = [each for each in events if isinstance(each, Measured)][-1].figures
    (told,) = (each for each in figures if isinstance(each, Proven) and each.of == "people")
    layout = lay_out_queried(case.domain, case.people, case.fed)
    assert layout is not None
    consistent, discriminatory = truth(case, layout.space)
    assert told.certified <= consistent
    assert told.falsified <= discriminatory
    assert told.certified + told.falsified == pytest.approx(1.0, abs=1e-6)
    # the most likely combinations come first
    counter = SimpleNamespace(speed=300.0, clock=perf_counter, count=everyone_for(layout).count)
    refinery = Refinery(*(layout.space, layout.examiner), first="people", counter=counter)
    refinery._pace = Dice(1)
    decided = 0.0
    while decided < 0.2:
        refinery.step(2)
        decided = 1.0 - refinery.undecided / layout.space.total
    assert sum(people_shares(refinery)[:2]) > 1.3 * decided
    (certificate,) = (each for each in events if isinstance(each, Certificate))
    header = decoded(certificate.header)
    assert not checks_of(case, header, certificate.arrays)


def test_where_all_is_counted_boxes_are_halved_until_people_are_spread_evenly() -> None:
    case, _ = queried(0)
    layout = lay_out_queried(case.domain, case.people, case.fed)
    assert layout is not None
    counted = []
    for bounded in (True, False):
        real, points = everyone_for(layout), 0

        def count(low: Places, high: Places, group: NDArray[np.intp]) -> Counted:
            nonlocal points
            points += sum(sizes(low, high))
            return real.count(low, high, group)  # noqa: B023 - called in this round only

        counter = SimpleNamespace(speed=1_000.0, clock=perf_counter, count=count)
        refinery = Refinery(
            *(layout.space, layout.examiner), first="people", counter=counter, bounded=bounded
        )
        refinery._pace = Dice(1)
        while sum(people_shares(refinery)[:2]) < 0.5:
            refinery.step(2)
        counted.append(points)
    assert counted[1] < 0.8 * counted[0]


@pytest.mark.parametrize("seed", range(3))
def test_all_of_a_population_is_decided_in_the_end(seed: int) -> None:
    for _, case in tried(seed):
        anatomy = structure_of(case.fed.opened)
        layout = lay_out(case.domain, case.people, anatomy, case.fed, weighed=True, first="people")
        consistent, discriminatory = truth(case, layout.space)
        refinery = Refinery(layout.space, layout.examiner, at_once=False, first="people")
        while not refinery.over:
            refinery.step()
        certified, falsified, _ = people_shares(refinery)
        assert certified <= consistent
        assert falsified <= discriminatory
        # a linear form is counted on a grid
        assert certified + falsified > 0.999


@pytest.mark.parametrize("seed", range(4))
def test_no_grid_decides_too_much_of_a_linear_model_and_a_fine_one_nearly_all(seed: int) -> None:
    (_, case) = tried(seed)[1]
    anatomy = structure_of(case.fed.opened)
    for least, most in ((4, 4), (64, 64), (4, 32_768)):
        with patch.multiple(linear, _LEAST_STEPS=least, _MOST_STEPS=most):
            layout = lay_out(case.domain, case.people, anatomy, case.fed, weighed=True)
            certified, falsified, _ = people_shares(Refinery(layout.space, layout.examiner))
        consistent, discriminatory = truth(case, layout.space)
        assert certified <= consistent
        assert falsified <= discriminatory
    # where there is room, the grid is as fine as it may be
    assert certified + falsified > 0.999


def made(seed: int, rules: tuple[str, ...] = ()) -> tuple[Small, list]:
    case = case_of(seed, rules)
    options = CertifyOptions(seconds=0.05)
    events = [*search(case.context, case.people, options, np.random.default_rng(0))]
    return case, events


def test_what_is_proven_of_a_population_is_told_and_kept() -> None:
    _, events = made(5)
    figures = [each for each in events if isinstance(each, Measured)][-1].figures
    (told,) = (each for each in figures if isinstance(each, Proven) and each.of == "people")
    (certificate,) = (each for each in events if isinstance(each, Certificate))
    header = decoded(certificate.header)
    assert header.population is not None
    assert header.population_sha256 == header.population.fingerprint
    assert told.certified == header.people_certified_share
    assert told.falsified == header.people_falsified_share
    assert told.course


def checks_of(case: Small, header, arrays) -> set[str]:
    rng = np.random.default_rng(1)
    asked = case.fed.predict
    found = [*population_checks(header, arrays, asked, sample=400, everything=False, rng=rng)]
    found += rate_checks(rate_regions(header, arrays), asked, sample=400, rng=rng)
    return {each.name for each in found if each.failed}


@given(SEEDS, RULES)
@settings(max_examples=many(15))
def test_honest_masses_are_confirmed(seed: int, rules) -> None:
    case, events = made(seed, rules)
    (certificate,) = (each for each in events if isinstance(each, Certificate))
    assert not checks_of(case, decoded(certificate.header), certificate.arrays)


MASSES = phrases.MASSES_FOLLOW
SHARES = "Shares of the population in enumerated and small regions, recounted"
RATES_DRAWN = phrases.RATES_DRAWN


def test_forged_masses_are_caught() -> None:
    case, events = made(5)
    (certificate,) = (each for each in events if isinstance(each, Certificate))
    header, arrays = decoded(certificate.header), certificate.arrays
    more = msgspec.structs.replace(
        header,
        people_certified_share=header.people_certified_share + 0.01,
        people_undecided_share=header.people_undecided_share - 0.01,
    )
    assert checks_of(case, more, arrays) == {MASSES}
    node = header.population.nodes[0]
    table = tuple(tuple(reversed(row)) for row in node.table)
    other = msgspec.structs.replace(
        header.population,
        nodes=(msgspec.structs.replace(node, table=table), *header.population.nodes[1:]),
    )
    assert MASSES in checks_of(case, msgspec.structs.replace(header, population=other), arrays)
    claimed = arrays | {name: arrays[name].copy() for name in ("verdict", "people_consistent")}
    inhabited = People(header)
    shared = np.flatnonzero(np.isin(arrays["verdict"], (CONSISTENT, COUNTED, UNDECIDED)))
    assert inhabited.masses(arrays["root_low"], arrays["root_high"]).sum() == pytest.approx(1.0)
    for leaf in shared.tolist():
        claimed["verdict"][leaf] = UNDECIDED
        claimed["people_consistent"][leaf] = 1.0
    assert {MASSES, SHARES} & checks_of(case, header, claimed)


def with_shares(header, changed):
    """Return a header whose shares of the population follow from changed arrays."""
    own = _Proof(header, changed, People(header))
    own.totals("")
    inhabited = changed["verdict"][own._nodes] != NOBODY
    certified, falsified = (own._masses @ own.stated / own._masses[inhabited].sum()).tolist()
    return msgspec.structs.replace(
        header,
        people_certified_share=certified,
        people_falsified_share=falsified,
        people_undecided_share=1.0 - certified - falsified,
    )


@pytest.mark.parametrize("at_once", [5, 1 << 16])
def test_forged_shares_of_counted_regions_are_caught(at_once: int) -> None:
    forged = 0
    for seed in range(6):
        case, events = made(seed)
        (certificate,) = (each for each in events if isinstance(each, Certificate))
        header, arrays = decoded(certificate.header), certificate.arrays
        own, name = arrays["people_consistent"], "people_consistent"
        counted = np.flatnonzero((arrays["verdict"] == COUNTED) & (own > 0.1) & (own < 0.9))
        with patch.object(population, "_AT_ONCE", at_once):
            assert not checks_of(case, header, arrays)
            for leaf in counted[:3].tolist():
                claimed = arrays | {name: own.copy()}
                claimed[name][leaf] = own[leaf] + 0.05
                claimed["people_discriminatory"] = arrays["people_discriminatory"].copy()
                claimed["people_discriminatory"][leaf] -= 0.05
                other = with_shares(header, claimed)
                assert SHARES in checks_of(case, other, claimed)
                forged += 1
    assert forged > 2


def test_forged_rates_are_caught() -> None:
    case, events = made(5)
    (certificate,) = (each for each in events if isinstance(each, Certificate))
    header = decoded(certificate.header)
    assert header.rates
    for low, high in ((0.0, 0.0), (1.0, 1.0)):
        rates = tuple(
            msgspec.structs.replace(
                each,
                groups=tuple(
                    msgspec.structs.replace(group, low=low, high=high) for group in each.groups
                ),
            )
            for each in header.rates
        )
        forged = msgspec.structs.replace(header, rates=rates)
        assert checks_of(case, forged, certificate.arrays) == {phrases.RATES_FOLLOW, RATES_DRAWN}


@given(SEEDS)
@settings(max_examples=many(30))
def test_the_masses_are_the_same_by_the_code_that_checks_them(seed: int) -> None:
    case, events = made(seed)
    (certificate,) = (each for each in events if isinstance(each, Certificate))
    header = decoded(certificate.header)
    anatomy = structure_of(case.fed.opened)
    space = lay_out(case.domain, case.people, anatomy, case.fed, weighed=True).space
    assert space.people is not None
    assert isinstance(space.people, Population)
    points, weights = weights_of(space)
    own = People(header)
    np.testing.assert_allclose(own.masses(points, points), [float(w) for w in weights], rtol=1e-12)
    rng = np.random.default_rng(seed)
    low, high = np.repeat(space.low[:1], 2_000, axis=0), np.repeat(space.high[:1], 2_000, axis=0)
    drawn_points = own.draw(low, high, rng)
    hits = (drawn_points == points[int(np.argmax(weights))]).all(axis=1).mean()
    assert hits == pytest.approx(float(max(weights)), abs=0.06)


def test_masses_of_very_long_axes_add_up() -> None:
    _case, events = made(3)
    (certificate,) = (each for each in events if isinstance(each, Certificate))
    own = People(decoded(certificate.header))
    axes = len(own._counts)
    own._counts = [1 << 40] * axes
    low = np.zeros((3, axes), dtype=np.int64)
    high = np.full((3, axes), (1 << 40) - 1)
    high[0, 0], low[1, 0] = (1 << 39) + 4, (1 << 39) + 5
    first, second, whole = own.masses(low, high).tolist()
    assert whole == pytest.approx(1.0)
    assert first > 0.0
    assert second > 0.0
    assert first + second == pytest.approx(whole)


def test_without_data_there_is_no_population() -> None:
    case = case_of(3)
    context = SearchContext(case.fed, case.domain)
    events = [
        *search(context, case.people[:0], CertifyOptions(seconds=0.05), np.random.default_rng(0))
    ]
    figures = [each for each in events if isinstance(each, Measured)][-1].figures
    assert not [each for each in figures if isinstance(each, Proven) and each.of == "people"]
    (certificate,) = (each for each in events if isinstance(each, Certificate))
    assert decoded(certificate.header).population is None
