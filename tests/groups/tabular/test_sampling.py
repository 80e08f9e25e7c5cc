"""People who are like those of the data: one attribute moved a little."""

import msgspec
import numpy as np
import pytest

from fairdesk.data.domain.attributes import Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.groups.options import TestSgdOptions
from fairdesk.groups.tabular.sampling import Neighbours, Steps, starting
from tests.groups.studies import AGE, COUNTY, DOMAIN, SEX, SHARE, TOWN, nominal, number, people

NAMES = DOMAIN.names


def test_one_attribute_moves_by_one_step():
    rows = people(DOMAIN, 4_000)
    moved = Neighbours(DOMAIN, np.random.default_rng(0)).of(rows)
    assert DOMAIN.contains(moved).all()
    changed = moved != rows
    assert changed.sum(axis=1).max() == 1
    assert {NAMES[i] for i in np.flatnonzero(changed.any(axis=0))} == {"income", "share", "town"}
    by = moved - rows
    income, share = NAMES.index("income"), NAMES.index("share")
    assert set(by[changed[:, income], income]) == {-1.0, 1.0}
    steps = np.abs(by[changed[:, share], share])
    # a hundredth of the range, unless that leaves it
    assert steps.max() == pytest.approx(0.02)
    assert (np.isclose(steps, 0.02) | (moved[changed[:, share], share] % 2 == 0)).all()
    # each of the three attributes is as likely as another; ends of a range keep some in place
    assert 0.28 < changed[:, NAMES.index("town")].mean() < 0.38


def test_a_name_becomes_any_other():
    rows = np.repeat(people(DOMAIN, 1)[:1], 9_000, axis=0)
    town = NAMES.index("town")
    moved = Neighbours(DOMAIN, np.random.default_rng(0)).of(rows)[:, town]
    others, counts = np.unique(moved[moved != rows[0, town]], return_counts=True)
    assert len(others) == 2
    assert counts.min() > 1_300


def test_ordered_names_and_steps_of_their_own():
    grade = nominal("grade", "abcde", kind=Kind.ORDINAL)
    loan = number("loan", 100, 1_000, step=50.0)
    rate = number("rate", 0, 3, kind=Kind.REAL, step=0.02)
    domain = Domain((SEX, grade, loan, rate))
    rows = domain.clip(people(domain, 500))
    moved = Neighbours(domain, np.random.default_rng(0)).of(rows)
    by = [np.unique(np.round(np.abs(column), 9)).tolist() for column in (moved - rows).T]
    assert by == [[0.0], [0.0, 1.0], [0.0, 50.0], [0.0, 0.04]]
    assert domain.contains(moved).all()


@pytest.mark.parametrize(
    ("given", "by"),
    [
        ({}, [0, 1, 0.02]),
        ({"s_pert": 3.0, "s_pert_decimal": 0.1}, [0, 3, 0.2]),
        ({"perturbation": "absolute"}, [0, 1, 0.01]),
        ({"perturbation": "absolute", "s_pert": 2.0, "s_pert_decimal": 0.5}, [0, 2, 0.5]),
        ({"perturbation": "relative", "s_pert": 50.0}, [0, 10, 0.02]),
        ({"perturbation": "relative", "s_pert_decimal": 0.0001}, [0, 1, 0.0002]),
    ],
)
def test_numbers_are_moved_by_what_was_asked_for(given, by):
    domain = Domain((SEX, number("loan", 0, 1_000), SHARE))
    rows = np.tile([0.0, 500.0, 1.0], (400, 1))
    steps = Steps.of(TestSgdOptions(**given))
    moved = np.abs(Neighbours(domain, np.random.default_rng(0), steps).of(rows) - rows)
    assert moved.max(axis=0).tolist() == pytest.approx(by)
    assert ((moved > 0).sum(axis=1) == 1).all()


def test_who_breaks_a_constraint_is_moved_anew():
    domain = Domain(DOMAIN.attributes, ("income <= 4 or town != x", "share <= 1.5 or income > 0"))
    rows = people(domain, 3_000)
    neighbours = Neighbours(domain, np.random.default_rng(0))
    moved = neighbours.of(rows)
    assert domain.contains(moved).all()
    assert neighbours.rejected > 0
    assert neighbours.left == 0
    still = [i for i, each in enumerate(domain.attributes) if each.role is not Role.VARIES]
    assert (moved[:, still] == rows[:, still]).all()


def test_who_cannot_be_moved_is_left():
    domain = Domain((SEX, TOWN), ("town = x",))
    rows = np.array([[0.0, 0.0], [1.0, 0.0]])
    neighbours = Neighbours(domain, np.random.default_rng(0))
    assert (neighbours.of(rows) == rows).all()
    assert neighbours.left == 2


def test_where_nothing_may_vary_rows_stay():
    domain = Domain((SEX, COUNTY))
    neighbours = Neighbours(domain, np.random.default_rng(0))
    rows = people(domain, 10)
    assert not neighbours.moves
    assert (neighbours.of(rows) == rows).all()


def test_rows_between_steps_are_brought_onto_them():
    loan = number("loan", 100, 1_000, step=50.0)
    domain = Domain((SEX, loan))
    rows, fine = starting(domain, np.array([[0.0, 130.0], [1.0, 500.0]]))
    assert rows.tolist() == [[0.0, 150.0], [1.0, 500.0]]
    assert fine.all()
    tight = msgspec.structs.replace(domain, constraints=("loan <= 130",))
    _, fine = starting(tight, np.array([[0.0, 130.0], [1.0, 110.0]]))
    assert fine.tolist() == [False, True]


def test_ages_that_are_protected_never_move():
    domain = Domain((AGE, number("income", 0, 9)))
    rows = people(domain, 300)
    assert (Neighbours(domain, np.random.default_rng(0)).of(rows)[:, 0] == rows[:, 0]).all()


def test_what_is_not_known_has_no_neighbour():
    from fairdesk.groups.tabular.sampling import _stepped

    grade = nominal("grade", ["a", "b", "c", "Unknown"], kind=Kind.ORDINAL, unknown=True)
    lots = np.linspace(0, 0.999, 1_000)
    assert set(_stepped(grade, np.full(1_000, 2.0), lots, Steps())) == {1.0, 2.0}
    assert set(_stepped(grade, np.full(1_000, 3.0), lots, Steps())) == {0.0, 1.0, 2.0}
