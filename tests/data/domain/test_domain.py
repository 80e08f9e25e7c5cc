"""The space of people: similar sets, limits, and what lies inside."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdesk.data.columns.rereading import retype
from fairdesk.data.domain.attributes import (
    BINS,
    EVERY_VALUE_UP_TO,
    MOST_COMBINATIONS,
    Attribute,
    Limit,
    Role,
    attribute_of,
)
from fairdesk.data.domain.domain import Domain
from fairdesk.data.domain.feasibility import constrained_domain
from fairdesk.data.table import Column, Dialect, Kind, Source, Table
from fairdesk.errors import DataError, SpecError
from tests import phrases

SEX = Column("sex", Kind.NOMINAL, ("f", "m"), 0, 1)
JOB = Column("job", Kind.NOMINAL, ("a", "b", "c"), 0, 2)
GRADE = Column("grade", Kind.ORDINAL, ("low", "mid", "high"), 0, 2)
AGE = Column("age", Kind.INTEGER, low=17, high=90)
WAGE = Column("wage", Kind.REAL, low=-1.5, high=8.5)
ONE = Column("one", Kind.INTEGER, low=5, high=5)
seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@st.composite
def columns(draw, name):
    kind = draw(st.sampled_from([Kind.NOMINAL, Kind.ORDINAL, Kind.INTEGER, Kind.REAL]))
    if not kind.is_number:
        count = draw(st.integers(2, 6))
        values = tuple(f"v{i}" for i in range(count))
        return Column(name, kind, values, 0, count - 1)
    low = draw(st.integers(-1_000, 1_000))
    span = draw(st.integers(1, 500))
    return Column(name, kind, low=low, high=low + span)


@st.composite
def domains(draw):
    """One or two protected attributes, one that varies, and two of any other role."""
    further = draw(st.permutations([Role.PROTECTED, Role.VARIES, Role.FIXED]))[:2]
    roles = [Role.PROTECTED, Role.VARIES, *further]
    roles = draw(st.permutations(roles))
    return Domain(tuple(attribute_of(draw(columns(f"a{i}")), role) for i, role in enumerate(roles)))


@given(domains(), seeds)
def test_samples_lie_in_the_domain(domain, rng):
    rows = domain.sample(rng, 50)
    assert rows.shape == (50, len(domain.attributes))
    assert domain.contains(rows).all()
    snapped, combination = domain.snap(rows)
    np.testing.assert_array_equal(snapped, rows)
    np.testing.assert_array_equal(domain.combinations[combination], rows[:, domain.protected])
    for position in domain.protected:
        assert set(rows[:, position]) <= set(domain.attributes[position].compared)


@given(domains(), seeds)
def test_similar_people_differ_in_protected_attributes_only(domain, rng):
    rows = domain.sample(rng, 7)
    before = rows.copy()
    everyone = domain.similar(rows)
    assert everyone.shape == (7, domain.combination_count, rows.shape[1])
    np.testing.assert_array_equal(rows, before)
    np.testing.assert_array_equal(
        everyone[:, :, domain.others],
        np.repeat(rows[:, None, domain.others], domain.combination_count, axis=1),
    )
    for combination, protected in enumerate(domain.combinations):
        assert (everyone[:, combination][:, domain.protected] == protected).all()
    _, own = domain.snap(rows)
    np.testing.assert_array_equal(everyone[np.arange(7), own], rows)
    assert domain.contains(everyone.reshape(-1, rows.shape[1])).all()
    assert len(np.unique(domain.combinations, axis=0)) == domain.combination_count


@given(domains(), seeds, st.floats(1, 1e6))
def test_strangers_are_brought_in(domain, rng, far):
    rows = np.round(rng.normal(0, far, (30, len(domain.attributes))))
    clipped = domain.clip(rows)
    assert domain.contains(clipped).all()
    np.testing.assert_array_equal(domain.clip(clipped), clipped)
    inside = domain.contains(rows)
    np.testing.assert_array_equal(clipped[inside], rows[inside])
    snapped, combination = domain.snap(rows)
    assert domain.contains(snapped).all()
    np.testing.assert_array_equal(domain.combinations[combination], snapped[:, domain.protected])
    np.testing.assert_array_equal(snapped[:, domain.others], clipped[:, domain.others])


@given(domains(), seeds)
def test_the_parts_make_the_whole(domain, rng):
    positions = np.concatenate([domain.protected, domain.others])
    assert sorted(positions) == list(range(len(domain.attributes)))
    assert set(domain.varying) <= set(domain.others)
    assert (domain.low <= domain.high).all()
    assert (domain.unit > 0).all()
    assert (domain.unit[domain.integral] == np.round(domain.unit[domain.integral])).all()
    assert domain.names == tuple(attribute.name for attribute in domain.attributes)


@given(domains())
def test_domains_survive_json(domain):
    assert msgspec.json.decode(msgspec.json.encode(domain), type=Domain) == domain


def test_fractions_and_missing_values_are_outside():
    domain = Domain((attribute_of(SEX, Role.PROTECTED), attribute_of(AGE), attribute_of(WAGE)))
    rows = np.array([[0, 20, 0.5], [0, 20.5, 0.5], [0.5, 20, 0], [0, 91, 0], [0, np.nan, 0]])
    assert domain.contains(rows).tolist() == [True, False, False, False, False]


def test_roles_are_checked():
    with pytest.raises(SpecError, match="No attribute is protected"):
        Domain((attribute_of(SEX), attribute_of(AGE)))
    with pytest.raises(SpecError, match=f"has {phrases.ONE_VALUE}"):
        Domain((attribute_of(ONE, Role.PROTECTED), attribute_of(AGE)))


def test_what_keeps_people_from_being_compared():
    assert Domain((attribute_of(SEX, Role.PROTECTED), attribute_of(AGE))).obstacle == ""
    fixed = Domain((attribute_of(SEX, Role.PROTECTED), attribute_of(AGE, Role.FIXED)))
    assert "no instances can be generated" in fixed.obstacle
    single = Domain((attribute_of(SEX, Role.PROTECTED), attribute_of(ONE)))
    assert f"has {phrases.ONE_VALUE}" in single.obstacle
    unseen = Domain((attribute_of(AGE),), unseen=(attribute_of(SEX, Role.PROTECTED),))
    assert phrases.NOT_GIVEN in unseen.obstacle
    assert [each.name for each in unseen.grouping] == ["sex"]
    many = Column("many", Kind.NOMINAL, tuple(f"v{i}" for i in range(100)), 0, 99)
    crowd = Domain(
        (
            attribute_of(many, Role.PROTECTED),
            attribute_of(msgspec.structs.replace(many, name="more"), Role.PROTECTED),
            attribute_of(AGE),
        )
    )
    assert "10,000 combinations, and at most 5,000" in crowd.obstacle
    with pytest.raises(SpecError, match="at most 5,000"):
        _ = crowd.combinations


def test_a_text_needs_no_protected_attribute():
    text = Column("words", Kind.TEXT, ("one", "two"), 0, 1)
    domain = Domain((attribute_of(text, Role.FIXED),))
    assert domain.texts.tolist() == [0]
    assert phrases.NO_ATTRIBUTE_PROTECTED in domain.obstacle


def test_attributes_are_as_their_columns():
    assert attribute_of(JOB) == Attribute("job", Kind.NOMINAL, ("a", "b", "c"), 0, 2)
    assert attribute_of(WAGE, Role.FIXED) == Attribute(
        "wage", Kind.REAL, low=-1.5, high=8.5, role=Role.FIXED
    )
    with pytest.raises(SpecError, match="is excluded"):
        attribute_of(Column("id", Kind.IGNORED))
    with pytest.raises(SpecError, match="is empty"):
        attribute_of(Column("x", Kind.NOMINAL))


def test_what_is_compared():
    assert attribute_of(JOB, Role.PROTECTED).compared == (0, 1, 2)
    assert attribute_of(ONE, Role.PROTECTED).compared == (5,)
    small = Column("n", Kind.INTEGER, low=1, high=EVERY_VALUE_UP_TO)
    assert attribute_of(small, Role.PROTECTED).compared == tuple(range(1, EVERY_VALUE_UP_TO + 1))
    ages = attribute_of(AGE, Role.PROTECTED).compared
    assert len(set(ages)) == BINS
    assert all(age == round(age) and AGE.low <= age <= AGE.high for age in ages)
    assert attribute_of(AGE, Role.PROTECTED, every_value=True).compared == tuple(range(17, 91))
    assert attribute_of(WAGE, Role.PROTECTED).compared == tuple(np.arange(-1, 9.0))
    assert attribute_of(WAGE).compared == ()


def test_too_many_values_are_refused_before_they_are_made():
    wide = Column("n", Kind.INTEGER, low=0, high=2.0**50)
    with pytest.raises(SpecError, match=f"at most {MOST_COMBINATIONS:,}"):
        attribute_of(wide, Role.PROTECTED, every_value=True)
    assert len(attribute_of(wide, Role.PROTECTED).compared) == BINS


def test_units():
    assert attribute_of(JOB).unit == 1
    assert attribute_of(AGE).unit == 1
    assert attribute_of(Column("loan", Kind.INTEGER, low=0, high=10_000)).unit == 100
    assert attribute_of(WAGE).unit == pytest.approx(0.1)
    assert attribute_of(Column("flat", Kind.REAL, low=1, high=1)).unit == 1


def test_codes_are_written_in_the_auditors_terms():
    assert attribute_of(JOB).text(2) == "c"
    assert attribute_of(AGE).text(20.0) == "20"
    assert attribute_of(WAGE).text(1.23456789) == "1.23457"
    assert attribute_of(WAGE).text(1_234_567.5) == "1234567.5"
    assert attribute_of(WAGE).text(-999_999.96) == "-999999.96"
    assert attribute_of(WAGE).text(np.nan) == "(missing)"


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30, unique=True).map(sorted),
    st.lists(st.floats(-2e6, 2e6), min_size=1, max_size=50),
)
def test_nearest_compared_value_is_the_nearest(compared, codes):
    attribute = Attribute("a", Kind.REAL, role=Role.PROTECTED, compared=tuple(compared))
    distances = np.abs(np.array(codes)[:, None] - compared)
    chosen = attribute.nearest_compared(np.array(codes))
    np.testing.assert_allclose(
        distances[np.arange(len(codes)), chosen], distances.min(axis=1), atol=1e-9
    )


@pytest.mark.parametrize(
    ("column", "limits", "low", "high", "values"),
    [
        (AGE, [20, 30], 20, 30, ()),
        (AGE, ["20", "30"], 20, 30, ()),
        (AGE, [10, 120], 10, 120, ()),
        (WAGE, [0.5, 0.5], 0.5, 0.5, ()),
        (AGE, [40, 20, 30, 20], 0, 2, ("20", "30", "40")),
        (AGE, [20], 0, 0, ("20",)),
        (WAGE, [0.5, 1, 2], 0, 2, ("0.5", "1.0", "2.0")),
        (JOB, ["c", "a"], 0, 1, ("a", "c")),
        (GRADE, ["high", "low"], 0, 1, ("low", "high")),
        (SEX, ["f"], 0, 0, ("f",)),
    ],
)
def test_limits(column, limits, low, high, values):
    attribute = attribute_of(column, limits=limits)
    assert (attribute.low, attribute.high, attribute.values) == (low, high, values)
    assert attribute.numeric is (column.kind.is_number and bool(values))


@pytest.mark.parametrize(
    ("column", "limits"),
    [
        (AGE, []),
        (AGE, [30, 20]),
        (AGE, ["x", "y"]),
        (AGE, [20.5, 30]),
        (AGE, [0, float("inf")]),
        (AGE, [0, float("nan")]),
        (AGE, [0, 1e300]),
        (AGE, [None, 30]),
        (AGE, [[20, 30]]),
        (JOB, []),
        (JOB, ["a", "z"]),
        (JOB, [0, 1]),
    ],
)
def test_limits_that_do_not_fit_are_refused(column, limits):
    with pytest.raises(SpecError) as caught:
        attribute_of(column, limits=limits)
    assert caught.value.remedy


TEXT = "sex,age,job\nf,20,a\nm,30,b\nm,?,c\nf,90,c\n?,40,a\n"


def test_tables_are_encoded(table):
    read = table(TEXT)
    domain = Domain(
        tuple(
            attribute_of(read.column(name), role)
            for name, role in [("job", Role.VARIES), ("sex", Role.PROTECTED), ("age", Role.FIXED)]
        )
    )
    nan = np.nan
    np.testing.assert_array_equal(
        domain.encode(read), [[0, 0, 20], [1, 1, 30], [2, 1, nan], [2, 0, 90], [0, nan, 40]]
    )
    np.testing.assert_array_equal(domain.people(read), [[0, 0, 20], [1, 1, 30], [2, 0, 90]])
    assert domain.contains(domain.people(read)).all()


def test_limits_leave_out_those_beyond(table):
    read = table(TEXT)
    domain = Domain(
        (
            attribute_of(read.column("sex"), Role.PROTECTED),
            attribute_of(read.column("age"), limits=[20, 40]),
            attribute_of(read.column("job"), limits=["a", "c"]),
        )
    )
    nan = np.nan
    np.testing.assert_array_equal(
        domain.encode(read), [[0, 20, 0], [1, 30, nan], [1, nan, 1], [0, 90, 1], [nan, 40, 0]]
    )
    np.testing.assert_array_equal(domain.people(read), [[0, 20, 0]])


def test_listed_numbers_are_encoded_as_their_place(table):
    read = table(TEXT)
    domain = Domain(
        (
            attribute_of(read.column("sex"), Role.PROTECTED),
            attribute_of(read.column("age"), limits=[90, 20, 40]),
        )
    )
    nan = np.nan
    np.testing.assert_array_equal(domain.encode(read)[:, 1], [0, nan, nan, 2, 1])
    assert domain.attributes[1].text(2) == "90"


def test_another_table_is_encoded_by_its_texts(table):
    read = table("sex,job\nf,b\nm,c\n")
    other = table("job,sex\nz,m\nc,f\na,x\n")
    domain = Domain(
        (attribute_of(read.column("sex"), Role.PROTECTED), attribute_of(read.column("job")))
    )
    np.testing.assert_array_equal(domain.encode(other), [[1, np.nan], [0, 1], [np.nan, np.nan]])


def test_a_table_that_does_not_fit_is_refused(table):
    read = table(TEXT)
    domain = Domain(
        (
            attribute_of(read.column("sex"), Role.PROTECTED),
            attribute_of(read.column("age")),
            attribute_of(read.column("job")),
        )
    )
    for name, kind in [
        ("age", Kind.REAL),
        ("age", Kind.NOMINAL),
        ("age", Kind.IGNORED),
        ("job", Kind.IGNORED),
    ]:
        with pytest.raises(SpecError, match=f"“{name}” is {kind}, but was"):
            domain.encode(retype(read, name, kind))
    numbers = table("sex,age,job\nf,20,1\nm,30,2\n")
    with pytest.raises(SpecError, match="“job” is integer, but was nominal"):
        domain.encode(numbers)
    with pytest.raises(DataError, match="no column “job”"):
        domain.encode(table("sex,age\nf,20\nm,30\n"))


# -- the category of missing cells ----------------------------------------------------------

HOLES = "sex,race,age,grade\nf,Unknown,20,low\nm,b,30,?\n?,?,40,high\nf,b,?,low\nf,b,99,high\n"


def with_unknown(read, **limits):
    return Domain(
        tuple(
            attribute_of(
                column,
                Role.PROTECTED if column.name == "sex" else Role.VARIES,
                limits.get(column.name),
                unknown=column.missing > 0,
            )
            for column in read.columns
        )
    )


def test_missing_cells_are_a_category_that_is_compared(table):
    read = table(HOLES)
    domain = with_unknown(read)
    sex, race, age, grade = domain.attributes
    assert sex.values == ("f", "m", "Unknown")
    assert race.values == ("Unknown", "b", "Unknown (missing)")
    assert grade.values[-1] == "Unknown"
    assert [each.unknown for each in domain.attributes] == [True, True, False, True]
    assert sex.compared == (0, 1, 2)
    assert (sex.unknown_code, sex.named) == (2, ("f", "m"))
    assert np.isnan(age.unknown_code)
    nan, low, high = np.nan, *(grade.values.index(each) for each in ("low", "high"))
    np.testing.assert_array_equal(
        domain.encode(read),
        [[0, 0, 20, low], [1, 1, 30, 2], [2, 2, 40, high], [0, 1, nan, low], [0, 1, 99, high]],
    )
    assert len(domain.people(read)) == 4
    assert [(each.reason, each.what, each.rows) for each in domain.set_aside(read)] == [
        ("missing", "age", 1)
    ]


def test_a_category_of_missing_cells_can_be_left_out(table):
    read = table(HOLES)
    domain = with_unknown(read, sex=["f", "m"], race=["b", "Unknown (missing)"])
    sex, race = domain.attributes[:2]
    assert (sex.values, sex.unknown) == (("f", "m"), False)
    assert (race.values, race.unknown) == (("b", "Unknown (missing)"), True)
    np.testing.assert_array_equal(domain.encode(read)[:, 1], [np.nan, 0, 1, 0, 0])
    asides = [(each.reason, each.what, each.rows) for each in domain.set_aside(read)]
    assert asides == [("missing", "sex", 1), ("missing", "age", 1), ("outside", "race", 1)]


def test_numbers_have_no_such_category():
    column = msgspec.structs.replace(AGE, missing=3)
    assert attribute_of(column, unknown=True) == attribute_of(column)
    with pytest.raises(SpecError, match="no value Unknown"):
        attribute_of(SEX, limits=["f", "Unknown"])


@given(seeds, st.booleans())
def test_every_row_is_a_person_or_set_aside_once(rng, unknown):
    n = 40
    columns_ = (SEX, GRADE, AGE, WAGE)
    codes = np.column_stack(
        [rng.integers(0, 2, n), rng.integers(0, 3, n), rng.integers(17, 91, n), rng.normal(3, 3, n)]
    )
    codes[rng.random(codes.shape) < 0.1] = np.nan
    read = Table(Source("x.csv", "", n, Dialect()), columns_, codes)
    attributes = (
        attribute_of(SEX, Role.PROTECTED, unknown=unknown),
        attribute_of(GRADE, limits=["low", "high"]),
        attribute_of(AGE, limits=[20, 80]),
        attribute_of(WAGE),
    )
    domain = constrained_domain(
        attributes, ["sex = f implies age > 30", "wage > 0 or grade = low or sex = m"], read
    )
    people, aside = domain.people(read), domain.set_aside(read)
    assert len(people) + sum(each.rows for each in aside) == n
    assert domain.allowed(people).all()
    assert len({(each.reason, each.what) for each in aside}) == len(aside)
    rows = domain.encode(read)
    left = np.isnan(codes[:, 1 if unknown else 0 :]).any(axis=1)
    missing = sum(each.rows for each in aside if each.reason == "missing")
    assert missing == left.sum()
    with np.errstate(invalid="ignore"):
        outside = ~((rows >= domain.low) & (rows <= domain.high)).all(axis=1) & ~left
    assert sum(each.rows for each in aside if each.reason == "outside") == outside.sum()


# -- texts, and steps -----------------------------------------------------------------------


def test_texts_are_always_kept_as_they_are():
    prose = Column("letter", Kind.TEXT, ("Dear all", "Hello"), 0, 1)
    attribute = attribute_of(prose, Role.FIXED)
    assert (attribute.values, attribute.role) == (prose.values, Role.FIXED)
    assert attribute.fits(prose)
    assert not attribute.fits(JOB)
    assert not attribute_of(JOB).fits(prose)
    for role in (Role.VARIES, Role.PROTECTED):
        with pytest.raises(SpecError, match="always those in the data") as caught:
            attribute_of(prose, role)
        assert caught.value.why
    domain = Domain((attribute, attribute_of(SEX, Role.PROTECTED), attribute_of(AGE)))
    people = np.array([[1.0, 0, 20], [1, 1, 30]])
    assert (domain.sample(np.random.default_rng(0), 9, people)[:, 0] == 1).all()


LOAN = Column("loan", Kind.INTEGER, low=250, high=18_424)


@pytest.mark.parametrize(
    ("column", "limit", "high", "unit"),
    [
        (LOAN, Limit(low=0, high=1_020, step=50), 1_000, 50),
        (LOAN, Limit(low=0, high=100_000, step=300), 99_900, 900),
        (LOAN, Limit(step=50), 18_400, 200),
        (WAGE, Limit(low=0, high=0.3, step=0.1), 0.3, 0.1),
        (AGE, Limit(low=18), 90, 1),
        (AGE, Limit(high=65), 65, 1),
    ],
)
def test_steps(column, limit, high, unit):
    attribute = attribute_of(column, limits=limit)
    assert (attribute.high, attribute.unit) == (high, pytest.approx(unit))


@given(
    st.sampled_from([Kind.INTEGER, Kind.REAL]),
    st.integers(-50, 50),
    st.integers(1, 400),
    st.sampled_from([1, 3, 50, 0.1, 0.25, 0.7]),
    seeds,
)
def test_people_stand_on_steps(kind, low, span, step, rng):
    if kind is Kind.INTEGER:
        step = max(1, round(step))
    column = Column("x", kind, low=low, high=low + span)
    x = attribute_of(column, limits=Limit(step=step))
    y = attribute_of(column, Role.PROTECTED, Limit(step=step)) if span >= step else None
    domain = Domain((x, attribute_of(SEX, Role.PROTECTED), attribute_of(AGE)))
    rows = domain.sample(rng, 50)
    assert domain.contains(rows).all()
    steps = (rows[:, 0] - x.low) / step
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-6)
    np.testing.assert_array_equal(domain.clip(rows), rows)
    off = rows.copy()
    off[:, 0] += step / 3
    assert not domain.contains(off[off[:, 0] <= x.high]).any()
    snapped, _ = domain.snap(off)
    assert domain.contains(snapped).all()
    if y is not None:
        compared = (np.array(y.compared) - y.low) / step
        np.testing.assert_allclose(compared, np.round(compared), atol=1e-6)
        assert len(y.compared) <= max(EVERY_VALUE_UP_TO, BINS)


@pytest.mark.parametrize(
    ("column", "limit"),
    [
        (AGE, Limit(step=0.5)),
        (AGE, Limit(step=-1)),
        (WAGE, Limit(step=float("nan"))),
        (WAGE, Limit(step=1e-300)),
        (AGE, Limit(low=5, high=3)),
        (AGE, Limit(low=1, values=(1, 2))),
        (AGE, Limit(values=())),
        (JOB, Limit(low=0)),
        (JOB, Limit(values=("z",))),
    ],
)
def test_limits_that_make_no_sense(column, limit):
    with pytest.raises(SpecError):
        attribute_of(column, limits=limit)


def test_two_values_are_not_a_range():
    attribute = attribute_of(AGE, limits=Limit(values=(20, 60)))
    assert (attribute.values, attribute.low, attribute.high) == (("20", "60"), 0, 1)
    assert attribute_of(AGE, limits=[20, 60]).values == ()


# -- members of similar sets that there cannot be -------------------------------------------


def test_whom_the_nearest_values_bar_is_brought_in_otherwise():
    years = attribute_of(Column("years", Kind.INTEGER, low=0, high=60))
    age = attribute_of(AGE, Role.PROTECTED)
    domain = Domain(
        (age, attribute_of(SEX, Role.PROTECTED), years), ("years <= age - 17", "years < 50")
    )
    bars = np.array([[90, 0, 47], [21, 1, 4], [17, 0, 55]], dtype=float)
    snapped, _ = domain.snap(bars)
    assert domain.allowed(snapped).tolist() == [True, domain.allowed(snapped)[1], False]
    rows, combination = domain.admit(bars)
    assert len(rows) == 2
    assert domain.contains(rows).all()
    np.testing.assert_array_equal(domain.combinations[combination], rows[:, domain.protected])
    np.testing.assert_array_equal(rows[:, 2], [47, 4])
    assert rows[1, 1] == 1
