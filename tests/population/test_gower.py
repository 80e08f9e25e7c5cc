"""Gower's distance and the nearest real person."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Column, Kind
from fairdesk.errors import DataError
from fairdesk.population.nearest import gower, nearest
from tests import phrases

DOMAIN = Domain(
    (
        attribute_of(Column("sex", Kind.NOMINAL, ("f", "m")), Role.PROTECTED),
        attribute_of(Column("job", Kind.NOMINAL, ("a", "b", "c"))),
        attribute_of(Column("grade", Kind.ORDINAL, ("low", "mid", "high"))),
        attribute_of(Column("wage", Kind.INTEGER, low=0, high=100)),
        attribute_of(Column("same", Kind.REAL, low=3, high=3), Role.FIXED),
    )
)


def test_distances_by_hand():
    row = np.array([0, 0, 0, 50, 3.0])
    people = np.array(
        [
            [0, 0, 0, 50, 3],  # herself
            [1, 0, 0, 50, 3],  # of the other sex
            [0, 2, 0, 50, 3],  # of another job, how far it is in the list does not matter
            [0, 0, 1, 50, 3],  # one grade of two
            [0, 0, 0, 75, 3],  # a quarter of the range
            [1, 1, 2, 100, 3],
            [0, np.nan, 0, 75, 3],
            [0, np.nan, np.nan, np.nan, np.nan],
            [0, 0, 0, 250, 3],  # outside of the range: as far as can be
        ]
    )
    np.testing.assert_allclose(
        gower(DOMAIN, people, row),
        # what is the same for everybody (the last attribute) brings nobody nearer
        [0, 0, 1 / 3, 0.5 / 3, 0.25 / 3, 2.5 / 3, 0.25 / 2, 1, 1 / 3],
    )
    assert nearest(DOMAIN, people[2:], row) == (2, pytest.approx(0.25 / 3))
    assert nearest(DOMAIN, people, row) == (0, 0.0)


def test_missing_has_no_place_in_an_order():
    grade = attribute_of(Column("grade", Kind.ORDINAL, ("low", "mid", "high")), unknown=True)
    domain = Domain((DOMAIN.attributes[0], grade))
    people = np.array([[0, 0], [0, 1], [0, 2], [0, 3.0]])
    np.testing.assert_allclose(gower(domain, people, people[0]), [0, 0.5, 1, 1])
    np.testing.assert_allclose(gower(domain, people, people[3]), [1, 1, 1, 0])


def test_nobody_is_near_nobody():
    with pytest.raises(DataError, match=phrases.NO_ROW_TO_COMPARE):
        nearest(DOMAIN, np.empty((0, 5)), np.zeros(5))


@given(st.integers(0, 2**32 - 1))
def test_distances_are_distances(seed):
    rng = np.random.default_rng(seed)
    people = DOMAIN.sample(rng, 20)
    row = people[rng.integers(20)]
    distances = gower(DOMAIN, people, row)
    assert ((distances >= 0) & (distances <= 1)).all()
    others = (people[:, DOMAIN.others] == row[DOMAIN.others]).all(axis=1)
    np.testing.assert_array_equal(distances == 0, others)
    one_by_one = [gower(DOMAIN, row[None], person)[0] for person in people]
    np.testing.assert_allclose(distances, one_by_one)
