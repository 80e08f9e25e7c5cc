"""Constraints as roots, against asking about everybody one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.certify.domain import boxes
from fairdesk.certify.domain.boxes import partitioned
from fairdesk.certify.domain.space import space_of
from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.dependencies import Determined
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from tests.sizes import many

AGE = Attribute(name="age", kind=Kind.INTEGER, low=16, high=30)
YEARS = Attribute(name="years", kind=Kind.INTEGER, low=0, high=12)
STATUS = Attribute(name="status", kind=Kind.NOMINAL, values=("single", "husband", "wife"), high=2.0)
GRADE = Attribute(name="grade", kind=Kind.INTEGER, low=0, high=2)
SEX = Attribute(
    name="sex",
    kind=Kind.NOMINAL,
    values=("f", "m"),
    high=1.0,
    role=Role.PROTECTED,
    compared=(0.0, 1.0),
)
RULES = (
    "age >= years + 16",
    "status = husband implies sex = m",
    "status = wife implies sex = f",
    "not (age = 20 and years = 3)",
    "status != single or age > 17",
    "sex = f",
)


@given(rules=st.lists(st.sampled_from(RULES), max_size=3, unique=True), follows=st.booleans())
@settings(max_examples=many(40))
def test_every_root_is_of_one_kind(rules: list[str], *, follows: bool) -> None:
    determined = (Determined("grade", "years", tuple((i, i % 3) for i in range(0, 13, 2))),)
    domain = Domain(
        (AGE, YEARS, STATUS, GRADE, SEX),
        (*rules, *(("grade is determined by years",) if follows else ())),
        determined if follows else (),
    )
    space = partitioned(space_of(domain, np.array([[20.0, 2, 0, 2, 0]])))
    assert not space.unclear.any()
    everyone = np.array(list(product(*(range(axis.count) for axis in space.axes))))
    members = domain.similar(space.rows(everyone))
    allowed = domain.allowed(members.reshape(-1, 5)).reshape(members.shape[:2])
    assert space.total == int((allowed.sum(axis=1) > 1).sum())
    met = np.zeros(len(everyone), dtype=int)
    for low, high, group in zip(space.low, space.high, space.groups, strict=True):
        inside = ((everyone >= low) & (everyone <= high)).all(axis=1)
        met += inside
        assert (allowed[inside] == space.may_be[group]).all()
    assert (met == 1).all()


def test_too_much_is_unclear(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = Domain((AGE, YEARS, STATUS, GRADE, SEX), ("age >= years + 16",))
    space = space_of(domain, np.array([[20.0, 2, 0, 2, 0]]))
    monkeypatch.setattr(boxes, "MOST_ROOTS", 4)
    divided = partitioned(space)
    assert divided.unclear.any()
    assert len(divided.low) <= 5
    monkeypatch.setattr(boxes, "MOST_LOOKED_AT", 100)
    assert partitioned(space).unclear.all()
