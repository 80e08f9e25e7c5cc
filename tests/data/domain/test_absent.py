"""Combinations that never occur: found as counting by hand finds them, written as constraints."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.data.domain.constraints import parse
from fairdesk.data.domain.dependencies import LEAST_EXPECTED
from fairdesk.data.domain.feasibility import checked, constrained_domain
from fairdesk.data.domain.formulas import Dependence
from fairdesk.data.domain.support import absent_combinations
from fairdesk.data.table import Column, Dialect, Kind, Source, Table
from tests.sizes import many

REL = Column("relationship", Kind.NOMINAL, ("Husband", "Wife", "Own child"))
SEX = Column("sex", Kind.NOMINAL, ("Female", "Male"))
AGE = Column("age", Kind.INTEGER, low=16, high=90)
YEARS = Column("years", Kind.REAL, low=0.0, high=60.0)


def table_of(columns: tuple[Column, ...], codes: np.ndarray) -> Table:
    return Table(Source("people.csv", "", len(codes), Dialect()), columns, codes)


def couples(n: int = 400) -> np.ndarray:
    """Half are husbands and men, a quarter wives and women, a quarter children of either sex."""
    relation = np.repeat([0, 0, 1, 2], n // 4)
    sex = np.where(relation == 0, 1, np.where(relation == 1, 0, np.arange(n) % 2))
    return np.column_stack([relation, sex]).astype(float)


def attributes(*columns: Column, role: Role = Role.VARIES) -> tuple:
    return tuple(attribute_of(each, role) for each in columns)


def test_combination_of_names_is_found_with_its_counts() -> None:
    table = table_of((REL, SEX), couples())
    found = absent_combinations(attributes(REL, SEX), table)
    # 400 rows: 200 husbands and 150 women, so that 75 husbands would be women
    assert [(each.constraint, each.rows, each.expected) for each in found] == [
        ("not (relationship = Husband and sex = Female)", 400, 75.0),
        ("not (relationship = Wife and sex = Male)", 400, 62.5),
    ]
    assert found[0].what == "relationship = Husband and sex = Female"


@pytest.mark.parametrize(
    "constraint",
    [
        "not (relationship = Husband and sex = Female)",
        "relationship = Husband implies sex = Male",
        'sex = Male or relationship in {Wife, "Own child"}',
    ],
)
def test_what_a_constraint_excludes_already_is_not_found_again(constraint: str) -> None:
    table = table_of((REL, SEX), couples())
    found = absent_combinations(attributes(REL, SEX), table, (constraint,))
    assert [each.what for each in found] == ["relationship = Wife and sex = Male"]


def test_an_attribute_that_another_determines_is_left_out() -> None:
    table = table_of((REL, SEX), couples())
    found = absent_combinations(attributes(REL, SEX), table, ("sex is determined by relationship",))
    assert not found


def test_two_fixed_attributes_are_never_combined_anew() -> None:
    table = table_of((REL, SEX), couples())
    assert not absent_combinations(attributes(REL, SEX, role=Role.FIXED), table)


def test_what_few_rows_would_have_is_left_out() -> None:
    # 16 rows: 3 husbands would be women
    assert not absent_combinations(attributes(REL, SEX), table_of((REL, SEX), couples(16)))


def test_the_end_of_a_number_that_a_value_never_has_is_found() -> None:
    age = np.arange(16, 91, dtype=float).repeat(8)
    relation = np.where(age < 40, 2.0, np.arange(age.size) % 2)  # the young are children only
    table = table_of((REL, AGE), np.column_stack([relation, age]))
    found = absent_combinations(attributes(REL, AGE), table)
    (husband,) = (each for each in found if "Husband and age <=" in each.what)
    cut = float(husband.what.rpartition(" ")[2])
    # the cut is one of nineteen quantiles: not beyond the last child, nor a whole twentieth short
    assert 36 <= cut < 40
    assert husband.expected == pytest.approx((relation == 0).sum() * (age <= cut).mean())
    assert not any("Husband and age >=" in each.what for each in found)


def test_the_ends_of_two_numbers_that_never_meet_are_found() -> None:
    rng = np.random.default_rng(0)
    age = rng.integers(16, 91, 3_000).astype(float)
    years = rng.uniform(0, age - 16)
    table = table_of((AGE, YEARS), np.column_stack([age, years]))
    found = absent_combinations(attributes(AGE, YEARS), table)
    assert len(found) == 1
    (young,) = found
    assert young.what.startswith("age <= ")
    assert " and years >= " in young.what


def test_missing_cells_are_in_no_count() -> None:
    codes = couples()
    codes[:100, 1] = np.nan  # of 200 husbands
    found = absent_combinations(attributes(REL, SEX), table_of((REL, SEX), codes))
    assert (found[0].rows, found[0].expected) == (300, 50.0)


def test_independent_columns_give_hardly_anything() -> None:
    rng = np.random.default_rng(1)
    codes = np.column_stack(
        [rng.integers(0, 3, 2_000), rng.integers(0, 2, 2_000), rng.integers(16, 91, 2_000)]
    ).astype(float)
    columns = (REL, SEX, AGE)
    assert not absent_combinations(attributes(*columns), table_of(columns, codes))


@settings(max_examples=many(60))
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(16, 22), st.integers(0, 9)),
        min_size=1,
        max_size=20,
    ),
    st.integers(1, 40),
)
def test_no_row_has_what_is_found_and_the_expectation_is_that_of_counting(
    rows: list[tuple[int, ...]], times: int
) -> None:
    columns = (REL, SEX, AGE, YEARS)
    table = table_of(columns, np.repeat(np.array(rows, dtype=float), times, axis=0))
    all_attributes = attributes(*columns)
    for each in absent_combinations(all_attributes, table):
        assert parse(each.constraint, all_attributes).text == each.constraint
        assert checked(all_attributes, table, each.constraint).broken == 0
        assert each.expected >= LEAST_EXPECTED
        assert each.rows == len(table.codes)
        if isinstance(follows := parse(each.constraint, all_attributes), Dependence):
            # each row's value beside what follows in every other row, as if they were independent
            target, source = (
                table.codes[:, [column.name for column in columns].index(name)]
                for name in follows.names
            )
            after = dict(zip(source.tolist(), target.tolist(), strict=True))
            wanted = np.array([after[code] for code in source.tolist()])
            unlike = (target[:, None] != wanted).mean()
            assert each.expected == pytest.approx(each.rows * unlike)
            continue
        sides = each.what.split(" and ")
        shares = [
            checked(all_attributes, table, f"not ({side})").broken / each.rows for side in sides
        ]
        assert each.expected == pytest.approx(each.rows * shares[0] * shares[1])


SCHOOL = Column("school", Kind.NOMINAL, ("none", "some", "all"))
GRADE = Column("grade", Kind.INTEGER, low=1, high=9)


def schooled(n: int = 300) -> np.ndarray:
    """Each school has its grade."""
    school = np.arange(n) % 3
    return np.column_stack([school, np.array([1, 5, 9])[school]]).astype(float)


def test_what_follows_in_every_row_is_one_constraint_instead_of_many() -> None:
    table = table_of((SCHOOL, GRADE), schooled())
    (found,) = absent_combinations(attributes(SCHOOL, GRADE), table)
    assert found.constraint == "grade is determined by school"
    # a third of the rows would have each grade
    assert (found.rows, found.expected) == (300, pytest.approx(200))
    all_attributes = (SEX_PROTECTED, *attributes(SCHOOL, GRADE))
    domain = constrained_domain(all_attributes, (found.constraint,), with_sex())
    assert [(each.attribute, each.by) for each in domain.determined] == [("grade", "school")]
    assert not absent_combinations(attributes(SCHOOL, GRADE), table, (found.constraint,))


SEX_PROTECTED = attribute_of(SEX, Role.PROTECTED)


def with_sex() -> Table:
    codes = np.column_stack([np.arange(300) % 2, schooled()])
    return table_of((SEX, SCHOOL, GRADE), codes)


def test_a_single_row_that_says_otherwise_leaves_the_combinations() -> None:
    codes = schooled()
    codes[0, 1] = 9
    found = absent_combinations(attributes(SCHOOL, GRADE), table_of((SCHOOL, GRADE), codes))
    assert len(found) > 1
    assert all(each.constraint.startswith("not (") for each in found)


def test_what_is_protected_or_fixed_follows_nothing() -> None:
    for role in (Role.PROTECTED, Role.FIXED):
        both = (attribute_of(SCHOOL, role), attribute_of(GRADE, role))
        one = (both[0], attribute_of(GRADE, Role.VARIES))
        table = table_of((SCHOOL, GRADE), schooled())
        (found,) = absent_combinations(one, table)
        assert found.constraint == "grade is determined by school"
        assert all("determined" not in each.constraint for each in absent_combinations(both, table))


def test_all_proposals_can_be_taken_together() -> None:
    """Of three that follow from each other two follow from the third, and none in a circle."""
    code = np.arange(300) % 3
    third = Column("third", Kind.NOMINAL, ("x", "y", "z"))
    table = table_of((SEX, SCHOOL, GRADE, third), np.column_stack([code % 2, schooled(), code]))
    all_attributes = (SEX_PROTECTED, *attributes(SCHOOL, GRADE, third))
    found = absent_combinations(all_attributes, table)
    texts = tuple(each.constraint for each in found)
    assert sum("is determined by" in each for each in texts) == 2
    assert len(constrained_domain(all_attributes, texts, table).determined) == 2
