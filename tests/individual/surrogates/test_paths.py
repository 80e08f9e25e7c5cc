"""Paths as constraints: what is toggled, in which order, and who is nearest on them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.individual.surrogates.paths import (
    PathSolver,
    Predicate,
    average_confidence,
    bounds,
    directed,
    follows,
    identity,
    of_path,
    undirected,
)
from tests.individual.conftest import integer
from tests.individual.test_constrained import ATTRIBUTES, OF_AGE, TEXTS, constrained
from tests.sizes import many

#: Attribute 1 is protected.
PATH = (
    Predicate(0, above=True, threshold=4.5, confidence=0.75),
    Predicate(1, above=False, threshold=0.5, confidence=0.5),
    Predicate(2, above=False, threshold=1.5, confidence=0.15),
    Predicate(0, above=False, threshold=7.5, confidence=0.9),
)
PROTECTED = frozenset({1})


def test_directed_toggles_the_least_confident_and_keeps_all_others():
    (toggled,) = directed(PATH, PROTECTED, 0.2)
    assert toggled == (PATH[0], PATH[1], Predicate(2, True, 1.5, 0.85), PATH[3])
    assert average_confidence(toggled) == pytest.approx((0.75 + 0.5 + 0.85 + 0.9) / 4)


def test_directed_never_toggles_what_is_protected():
    toggled = list(directed(PATH, PROTECTED, 1.01))
    assert [path[i].above for i, path in zip((0, 2, 3), toggled, strict=True)] == [
        False,
        True,
        True,
    ]
    assert all(path[1] == PATH[1] for path in toggled)


def test_undirected_ends_at_the_first_with_little_confidence_and_forgets_what_follows():
    assert list(undirected(PATH, PROTECTED, 0.3)) == [(Predicate(0, False, 4.5, 0.25),)]
    first, third, fourth = undirected(PATH, PROTECTED, 0.1)
    assert first == (PATH[0].toggled,)
    assert third == (PATH[0], PATH[1], PATH[2].toggled)
    assert fourth == (*PATH[:3], PATH[3].toggled)


def test_a_path_is_the_same_whatever_its_confidences_and_order():
    surer = tuple(each._replace(confidence=1.0) for each in reversed(PATH))
    assert identity(surer) == identity(PATH)
    assert identity((*PATH[:3], PATH[3].toggled)) != identity(PATH)


def test_bounds_are_the_narrowest():
    more = (*PATH, Predicate(0, above=True, threshold=2.5, confidence=1.0))
    assert bounds(more)[0] == (4.5, 7.5)
    assert bounds(more)[2] == (-np.inf, 1.5)
    assert follows(np.array([[5.0, 0, 1], [4, 0, 1], [7, 1, 1]]), more).tolist() == [
        True,
        False,
        False,
    ]


def mixed(**more):
    return Domain(
        (
            integer("years", 0, 9),
            integer("age", 20, 40, Role.PROTECTED, (22, 27, 38)),
            Attribute("ratio", Kind.REAL, low=-1.0, high=1.0),
            Attribute("rent", Kind.REAL, low=0.1, high=0.7, step=0.2),
            integer("county", 0, 1, Role.FIXED),
            Attribute("sector", Kind.NOMINAL, ("a", "b", "c"), 0.0, 2.0),
        ),
        **more,
    )


@st.composite
def paths(draw, domain):
    """Up to six predicates on what may vary, at codes and between them."""
    free = [*domain.varying.tolist(), *domain.protected.tolist()]
    path = []
    for _ in range(draw(st.integers(1, 6))):
        position = draw(st.sampled_from(free))
        low, high = domain.low[position], domain.high[position]
        share = draw(st.integers(-1, 41)) / 40
        threshold = float(np.round(low + share * (high - low), 6))
        path.append(Predicate(position, draw(st.booleans()), threshold, 0.5))
    return tuple(path)


FREE = PathSolver(mixed())


@settings(max_examples=many(60))
@given(path=paths(mixed()), seed=st.integers(0, 99))
def test_what_is_solved_is_on_the_path_in_the_domain_and_moved_only_where_it_must_be(path, seed):
    domain = mixed()
    row = domain.sample(np.random.default_rng(seed), 1)[0]
    solved = FREE.nearest(path, row)
    limits = bounds(path)
    least = {i: least_move(domain.attributes[i], row[i], *limits[i]) for i in limits}
    assert (solved is None) == (None in least.values())
    if solved is None:
        return
    found, combination = solved
    assert domain.contains(found[None])[0]
    assert follows(found[None], path)[0]
    assert combination == [22, 27, 38].index(found[1])
    moved = np.abs(found - row)
    assert moved.tolist() == pytest.approx([least.get(i, 0.0) for i in range(6)], abs=1e-9)


def least_move(attribute, code, above, most):
    """How far the nearest code above one bound and at most another is; None where there is none."""
    if attribute.compared:
        inside = [each for each in attribute.compared if above < each <= most]
        return min((abs(each - code) for each in inside), default=None)
    step, origin = attribute.spacing or 1 / attribute.grid, attribute.low * bool(attribute.spacing)
    most, above = min(most, attribute.high), max(above, attribute.low - step)
    first = np.floor((above - origin) / step + 1e-9) + 1
    last = np.floor((most - origin) / step + 1e-9)
    if first > last:
        return None
    return abs(np.clip(code, origin + first * step, origin + last * step) - code)


@settings(max_examples=many(15))
@given(data=st.data(), domain=constrained(), seed=st.integers(0, 99))
def test_under_constraints_the_nearest_is_found_wherever_there_is_one(data, domain, seed):
    path = data.draw(paths(domain))
    row = domain.sample(np.random.default_rng(seed), 1)[0]
    everyone = every_person(domain)
    there = everyone[(everyone[:, domain.fixed] == row[domain.fixed]).all(axis=1)]
    there = there[follows(there, path)]
    found = PathSolver(domain).nearest(path, row)
    assert (found is None) == (len(there) == 0)
    if found is None:
        return
    person, combination = found
    assert (domain.combinations[combination] == person[domain.protected]).all()
    assert (there == person).all(axis=1).any()
    # what need not move stays, where that is possible
    limits = bounds(path)
    free = np.setdiff1d(np.concatenate([domain.varying, domain.protected]), domain.following)
    held = [i for i in free if i not in limits or limits[i][0] < row[i] <= limits[i][1]]
    near = there[(there[:, held] == row[held]).all(axis=1)]
    # one attribute after the other as near as it can be, protected ones last
    order = np.concatenate([domain.varying, domain.protected])
    away = np.abs((near if len(near) else there) - row)[:, order]
    least = away[np.lexsort(away.T[::-1])[0]]
    np.testing.assert_array_equal(np.abs(person - row)[order], least)


def every_person(domain):
    steps = [
        np.arange(each.low, each.high + 1, each.spacing) if not each.compared else each.compared
        for each in domain.attributes
    ]
    everyone = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, len(steps))
    return everyone[domain.contains(everyone)]


def test_the_order_of_paths_does_not_change_who_is_found():
    domain = Domain(ATTRIBUTES, (*TEXTS[:3], "class is determined by age"), (OF_AGE,))
    rng = np.random.default_rng(3)
    rows = domain.sample(rng, 12)
    asked = [
        ((Predicate(0, bool(rng.integers(2)), float(rng.integers(0, 5)) + 0.5, 1.0),), row)
        for row in rows
    ]
    one, other = PathSolver(domain), PathSolver(domain)
    forwards = [one.nearest(*each) for each in asked]
    backwards = [other.nearest(*each) for each in reversed(asked)][::-1]
    assert sum(each is not None for each in forwards) > 6
    for first, second in zip(forwards, backwards, strict=True):
        assert (first is None) == (second is None)
        assert first is None or ((first[0] == second[0]).all() and first[1] == second[1])


def test_constraints_move_others_where_they_must():
    domain = Domain(
        (
            integer("years", 0, 20),
            integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
            integer("age", 18, 60),
        ),
        ("years <= age - 18",),
    )
    row = np.array([2.0, 1, 20])
    person, combination = PathSolver(domain).nearest((Predicate(0, True, 9.5, 1.0),), row)
    assert person.tolist() == [10, 1, 28]
    assert combination == 1
    assert (
        PathSolver(domain).nearest((Predicate(0, True, 9.5, 1), Predicate(2, False, 27.5, 1)), row)
        is None
    )


def test_thresholds_of_reals_are_passed_by_the_least_code():
    domain = mixed()
    row = np.array([3.0, 22, 0.25, 0.3, 0, 1])
    grid = domain.attributes[2].grid

    def moved(*predicate):
        return FREE.nearest((Predicate(*predicate, 1.0),), row)

    assert moved(2, True, 0.5)[0][2] == 0.5 + 1 / grid
    assert moved(2, False, 0.125)[0][2] == 0.125
    assert moved(3, True, 0.3)[0][3] == 0.5
    assert moved(3, True, 0.7) is None


def test_a_path_that_only_the_constraints_make_empty_is_in_range():
    domain = Domain(mixed().attributes, ("years <= 4",))
    row = domain.sample(np.random.default_rng(0), 1)[0]
    solver = PathSolver(domain)
    barred, beyond = ((Predicate(0, True, least, 1.0),) for least in (4.5, 9.5))
    assert solver.nearest(barred, row) is None
    assert solver.is_in_range(barred, row)
    assert not solver.is_in_range(beyond, row)


def test_confidence_of_the_path_is_the_share_of_all_samples_that_are_on_it_so_far():
    path = of_path(PATH)
    assert [each.confidence for each in path] == pytest.approx([0.75, 0.375, 0.05625, 0.050625])
    assert identity(path) == identity(PATH)
    assert of_path(()) == ()
