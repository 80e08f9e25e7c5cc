"""Constraints: read safely, written alike, decided rightly, suggested, learned, contradicted."""

from __future__ import annotations

import operator
from itertools import product

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.data.domain import formulas as f
from fairdesk.data.domain.attributes import Attribute, Limit, Role, attribute_of
from fairdesk.data.domain.constraints import ConstraintError, parse
from fairdesk.data.domain.dependencies import Determined
from fairdesk.data.domain.domain import Domain
from fairdesk.data.domain.feasibility import admits, check_admits, checked, constrained_domain
from fairdesk.data.domain.formulas import Constraint, Dependence
from fairdesk.data.profiling.suggesting import suggestions
from fairdesk.data.table import Column, Kind
from fairdesk.errors import SpecError
from tests import phrases
from tests.sizes import many

AGE = attribute_of(Column("age", Kind.INTEGER, low=14, high=20))
YEARS = attribute_of(Column("years employed", Kind.INTEGER, low=0, high=4))
REL = attribute_of(Column("relationship", Kind.NOMINAL, ("Husband", "Own-child", "Wife")))
SEX = attribute_of(Column("sex", Kind.NOMINAL, ("Female", "Male")), Role.PROTECTED)
GRADE = attribute_of(Column("Note", Kind.ORDINAL, ("low", "mid", "high")))
BEFORE = attribute_of(Column("before", Kind.ORDINAL, ("low", "mid", "high")), unknown=True)
RATE = attribute_of(Column("Löhne", Kind.REAL, low=0, high=1))
ROOMS = attribute_of(Column("rooms", Kind.INTEGER, low=1, high=9), limits=[1, 3, 5])
PLACE = attribute_of(Column("in", Kind.NOMINAL, ("Husband", "not", "1", 'a"b`c\\d')))
EVERYTHING = (AGE, YEARS, REL, SEX, GRADE, BEFORE, RATE, ROOMS, PLACE)
PEOPLE = np.array(
    list(
        product(
            (14, 17, 20), (0, 3, 4), (0, 2), (0, 1), (0, 2), (1, 2, 3), (0.1, 0.3), (0, 2), (0, 3)
        )
    ),
    dtype=float,
)
CODE = {each.name: i for i, each in enumerate(EVERYTHING)}


def holds(text, rows=PEOPLE, attributes=EVERYTHING):
    return parse(text, attributes).holds(rows)


def of(name):
    return PEOPLE[:, CODE[name]]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("`years employed` <= age - 14", lambda: of("years employed") <= of("age") - 14),
        (
            "relationship = Husband implies sex = Male",
            lambda: (of("relationship") != 0) | (of("sex") == 1),
        ),
        ("not (sex = male and age ≥ 17)", lambda: (of("sex") != 1) | (of("age") < 17)),
        ("not sex = Male or age > 17", lambda: (of("sex") != 1) | (of("age") > 17)),
        ('"relationship" in {"Own-child", Wife}', lambda: of("relationship") != 0),
        ("relationship not in {'Own-child', Wife}", lambda: of("relationship") == 0),
        ("Husband ≠ relationship", lambda: of("relationship") != 0),
        ("Note < high", lambda: of("Note") < 2),
        ("mid <= Note", lambda: of("Note") >= 1),
        ("age in {14, 20.0}", lambda: of("age") != 17),
        (
            "age / 2 + 3 * -1 >= 2 * (`years employed` + 1)",
            lambda: of("age") / 2 - 3 >= 2 * of("years employed") + 2,
        ),
        ("age - 3 - 2 = 12", lambda: of("age") == 17),
        ("Löhne * 3 = 0.1 + 0.2", lambda: of("Löhne") == 0.1),
        ("rooms = 5", lambda: of("rooms") == 2),
        ("rooms > 1 and `in` = 'Husband'", lambda: (of("rooms") > 0) & (of("in") == 0)),
        ("relationship = `in`", lambda: (of("relationship") == 0) & (of("in") == 0)),
        ('`in` in {1, "not"} or age < 17', lambda: of("age") < 17),
        (
            "age = 14 implies sex = Male implies Note = low",
            lambda: (of("age") != 14) | (of("sex") != 1) | (of("Note") == 0),
        ),
    ],
)
def test_what_holds(text, wanted):
    np.testing.assert_array_equal(holds(text), wanted())


def test_precedence_is_the_usual():
    assert parse("age = 14 or age = 15 and not sex = Male implies age < 3", EVERYTHING) == parse(
        "((age = 14) or ((age = 15) and (not (sex = Male)))) implies (age < 3)", EVERYTHING
    )


# -- what cannot be decided -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "before", "age", "broken"),
    [
        ("before = low", 3, 14, False),
        ("before != low", 3, 14, False),
        ("before < high", 3, 14, False),
        ("before = Unknown", 3, 14, False),
        ("before = Unknown", 1, 14, True),
        ("before != Unknown", 3, 14, True),
        ("before in {low, Unknown}", 3, 14, False),
        ("before not in {low, Unknown}", 3, 14, True),
        ("before = low and age > 14", 3, 14, True),
        ("before = low or age > 14", 3, 14, False),
        ("age < 15 implies before = low", 3, 14, False),
        ("before = Note", 3, 14, False),
        ("age > 14", 0, np.nan, False),
        ("age * 0 = 1", 0, np.nan, False),
        ("before = low and age > 14", np.nan, 14, True),
        ("before = low and not before = low", 3, 14, False),
    ],
)
def test_a_missing_cell_breaks_nothing_by_itself(text, before, age, broken):
    row = np.zeros((1, len(EVERYTHING)))
    row[0, CODE["before"]], row[0, CODE["age"]] = before, age
    assert holds(text, row).tolist() == [not broken]


def test_where_cells_are_enough_to_decide():
    said = parse("before = low and age > 14", EVERYTHING)
    rows = np.zeros((3, len(EVERYTHING)))
    rows[:, CODE["before"]], rows[:, CODE["age"]] = 3, (14, 15, np.nan)
    assert said.decided(rows).tolist() == [True, False, False]


# -- there and back -------------------------------------------------------------------------

numbers = st.one_of(
    st.integers(-20, 20).map(float), st.floats(allow_nan=False, allow_infinity=False)
)
numeric = st.sampled_from(["age", "years employed", "Löhne", "rooms"])
terms = st.recursive(
    st.one_of(numbers.map(f.Number), numeric.map(f.Name)),
    lambda inner: st.one_of(
        st.builds(f.Arithmetic, st.sampled_from("+-*"), inner, inner),
        st.builds(f.Arithmetic, st.just("/"), inner, st.floats(0.01, 1e9).map(f.Number)),
        inner.filter(lambda term: not isinstance(term, f.Number)).map(f.Negative),
    ),
    max_leaves=6,
)
valued = {each.name: each for each in EVERYTHING if each.values and not each.numeric}


@st.composite
def leaves(draw):
    sign = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
    kind = draw(st.sampled_from(["number", "numbers", "value", "values", "alike"]))
    attribute = valued[draw(st.sampled_from(sorted(valued)))]
    if kind == "number":
        return f.Comparison(sign, draw(terms), draw(terms))
    if kind == "numbers":
        return f.AmongNumbers(draw(terms), tuple(draw(st.lists(numbers, min_size=1, max_size=3))))
    if kind == "values":
        values = draw(st.lists(st.sampled_from(attribute.values), min_size=1, max_size=3))
        return f.Among(attribute.name, tuple(values))
    ordered = attribute.kind is Kind.ORDINAL
    if kind == "value":
        value = draw(st.sampled_from(attribute.named if ordered else attribute.values))
        return f.Valued(sign if ordered else sign.strip("<>") or "=", attribute.name, value)
    if ordered:
        return f.Alike(sign, "Note", "before")
    return f.Alike("=", attribute.name, draw(st.sampled_from(sorted(valued))))


said = st.recursive(
    leaves().filter(lambda each: getattr(each, "sign", "=") in ("=", "!=", "<", "<=", ">", ">=")),
    lambda inner: st.one_of(
        inner.map(f.Not),
        st.lists(inner, min_size=2, max_size=3).map(lambda each: f.And(tuple(each))),
        st.lists(inner, min_size=2, max_size=3).map(lambda each: f.Or(tuple(each))),
        st.builds(f.Implies, inner, inner),
    ),
    max_leaves=6,
)


@settings(max_examples=many(150))
@given(said)
def test_what_is_written_is_read_as_the_same(formula):
    constraint = Constraint(formula, EVERYTHING)
    again = parse(constraint.text, EVERYTHING)
    assert again.formula == formula
    assert again.text == constraint.text
    np.testing.assert_array_equal(again.holds(PEOPLE[:50]), constraint.holds(PEOPLE[:50]))


def opinion(formula, row):
    """Decide about one person by the definition; ``None`` where a missing cell keeps one from it.

    The second way to the same answer: one person at a time, by texts.
    """
    match formula:
        case f.Not(part):
            inner = opinion(part, row)
            decided = None if inner is None else not inner
        case f.And(parts) | f.Or(parts):
            inner = [opinion(part, row) for part in parts]
            decisive = isinstance(formula, f.Or)
            decided = not decisive
            if decisive in inner:
                decided = decisive
            elif None in inner:
                decided = None
        case f.Implies(first, second):
            decided = opinion(f.Or((f.Not(first), second)), row)
        case f.Among(name, values):
            has = text_of(name, row)
            decided = True if has in values else None if has == "Unknown" else False
        case f.Valued("=", name, value):
            decided = opinion(f.Among(name, (value,)), row)
        case f.Valued("!=", name, value):
            decided = opinion(f.Not(f.Among(name, (value,))), row)
        case f.Valued(sign, name, value):
            decided = by_order(sign, text_of(name, row), value)
        case f.Alike(sign, left, right):
            decided = by_order(sign, text_of(left, row), text_of(right, row))
    return decided


def text_of(name, row):
    return valued[name].text(row[CODE[name]])


def by_order(sign, left, right):
    if "Unknown" in (left, right):
        return None
    if sign in ("=", "!="):
        return (left == right) == (sign == "=")
    places = [("low", "mid", "high").index(text) for text in (left, right)]
    return {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}[sign](*places)


def without_numbers(formula):
    return not any(isinstance(part, f.Comparison | f.AmongNumbers) for part in f._parts(formula))


@settings(max_examples=many(150))
@given(said.filter(without_numbers), st.integers(0, 2**32 - 1))
def test_all_at_once_is_as_one_by_one(formula, seed):
    rows = np.random.default_rng(seed).choice(PEOPLE, 20)
    decided = [opinion(formula, row) for row in rows]
    assert Constraint(formula, EVERYTHING).holds(rows).tolist() == [
        each is not False for each in decided
    ]


def test_names_are_those_it_speaks_of():
    text = "sex = Male implies `years employed` / 2 < age and before = Note"
    assert parse(text, EVERYTHING).names == ("age", "years employed", "sex", "Note", "before")


# -- what is no constraint ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ("", 0, "a name or “(” was expected"),
        ("age <", 5, "the text ends; a number, a name or “(” was expected"),
        ("age", 3, "a comparison"),
        ("age < 3 4", 8, "“4” is not understood"),
        ("age $ 3", 4, "“$ 3” is not understood"),
        ("3 < age < 5", 8, "“< 5” is not understood"),
        ("(age < 3", 8, "“)” was expected"),
        ("ages < 3", 0, "no attribute “ages”. The attributes are: age, years employed"),
        ("age < years", 6, "no attribute “years”. The attributes are"),
        ("age < years employed", 12, "“years employed” is meant, write it as `years"),
        ("relationship = Own-child", 15, "Own"),
        ("sex < Male", 6, "“sex” is categorical: its values have no order"),
        ("relationship <= `in`", 16, "“relationship” is categorical: its values have no order"),
        ("sex = Robot", 6, f"“Robot” is not a value of “sex”. {phrases.ITS_VALUES}: Female, Male"),
        ("sex = 3", 6, "“3” is not a value of “sex”"),
        ("sex = age", 6, "“age” is not a value of “sex”"),
        ("sex in {Male, -3}", 15, "“-3” is not a value"),
        ("relationship = Own-child", 15, f'{phrases.ITS_VALUES}: Husband, "Own-child", Wife'),
        ("sex + 1 < 3", 0, "“sex” is not a number"),
        ("age = Male", 6, "no attribute “Male”"),
        ("age in {Male}", 8, "“Male” is not a number"),
        ("age / 0 < 3", 6, "division by zero is not possible"),
        ("age < 1e999", 6, "too large"),
        ("before < Unknown", 9, "represents missing cells and has no place in the order"),
        ("age is determined by age", 21, "by itself"),
        ("age is determined by ages", 21, "no attribute “ages”"),
        ("age is determined", 17, "“by” was expected"),
        ("age in {}", 8, "a number or a name was expected"),
        ("not " * 300 + "age < 3", 0, phrases.NESTED),
        ("(" * 3000 + "age" + ")" * 900, 3903, "“)” was expected"),
        ("age < 3 and " * 400 + "age < 3", 4000, "at most 4,000 characters"),
        ("__import__('os')", 10, "is not understood"),
    ],
)
def test_errors_say_where_and_what(text, position, words):
    with pytest.raises(ConstraintError) as caught:
        parse(text, EVERYTHING)
    assert words in str(caught.value)
    assert caught.value.position == position
    assert caught.value.remedy


@settings(max_examples=many(200))
@given(st.text(alphabet="age sex=<Male(){},+-*/`'\"\\1.inotdbyrmples≤", max_size=40))
def test_any_text_is_a_constraint_or_a_plain_error(text):
    wrong = trouble(text)
    if wrong is not None:
        assert 0 <= wrong <= len(text)
    else:
        constraint = parse(text, EVERYTHING)
        assert parse(constraint.text, EVERYTHING) == constraint


# -- suggestions ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "first", "absent"),
    [
        ("", "age", "="),
        ("ye", "`years employed`", "age"),
        ("`years em", "`years employed`", "age"),
        ("sex ", "=", "<"),
        ("Note ", "=", "+"),
        ("age ", "=", "and"),
        ("sex = ", "Female", "age"),
        ("sex = M", "Male", "age"),
        ("relationship = O", '"Own-child"', "Wife"),
        ("relationship in {Wife, ", "Husband", "Female"),
        ("relationship in {Wife} ", "and", "Husband"),
        ("sex = Male imp", "implies", "and"),
        ("sex = Male implies ", "age", "Male"),
        ("rooms = ", "1", "age"),
        ("age $ ", None, "age"),
    ],
)
def test_what_can_come_next(text, first, absent):
    found = [each.text for each in suggestions(text, len(text), EVERYTHING)]
    assert found[:1] == ([first] if first else [])
    assert absent not in found


@settings(max_examples=many(100))
@given(said, st.data())
def test_suggestions_lead_on(formula, data):
    """Whatever is put in is understood: no suggestion makes a text that nothing can follow."""
    text = str(formula)
    cursor = data.draw(st.integers(0, len(text)))
    for each in suggestions(text, cursor, EVERYTHING)[:8]:
        assert 0 <= each.start <= cursor
        longer = text[: each.start] + each.text + " "
        wrong = trouble(longer)
        # nowhere, at its end, or in what was there before
        assert wrong is None or wrong >= len(longer) - 1 or wrong <= each.start


def trouble(text):
    """Return the place of what is wrong in a text."""
    try:
        parse(text, EVERYTHING)
    except ConstraintError as error:
        return error.position
    return None


# -- what follows what ----------------------------------------------------------------------

TEXT = (
    "education,num,group,age,sex,kind\nB,13,old,61,f,a\nB,13,young,20,m,a\nB,9,old,62,f,b\n"
    "H,9,young,21,m,?\nH,9,old,63,f,b\n?,9,old,61,m,b\nH,?,old,62,f,b\n"
)


def school(table, **roles):
    read = table(TEXT)
    return read, tuple(
        attribute_of(column, roles.get(column.name, Role.VARIES), unknown=column.missing > 0)
        for column in read.columns
    )


def test_what_follows_is_what_most_rows_say(table):
    read, attributes = school(table, sex=Role.PROTECTED)
    domain = constrained_domain(attributes, ["num is determined by education"], read)
    education, num = (domain.names.index(name) for name in ("education", "num"))
    assert domain.constraints == ("num is determined by education",)
    assert domain.determined == (
        Determined("num", "education", ((0.0, 13.0), (1.0, 9.0), (2.0, 9.0))),
    )
    assert num not in domain.varying
    rows = domain.sample(np.random.default_rng(0), 200)
    assert set(map(tuple, rows[:, [education, num]])) == {(0, 13), (1, 9), (2, 9)}
    assert domain.contains(rows).all()
    rows[:, num] = 10
    assert not domain.contains(rows).any()
    assert domain.contains(domain.apply_dependencies(rows)).all()
    found = checked(attributes, read, "num is determined by education")
    assert (found.total, found.broken, found.first, found.undecided) == (7, 1, (3,), 1)
    assert found.share == 1 / 7
    assert msgspec.json.decode(msgspec.json.encode(domain), type=Domain) == domain


def test_what_follows_a_protected_attribute_differs_with_it(table):
    read, attributes = school(table, education=Role.PROTECTED)
    domain = constrained_domain(
        attributes,
        ["group is determined by num", "num is determined by education", "age >= 20"],
        read,
    )
    names = [domain.names[i] for i in domain.differing]
    assert names == ["education", "num", "group"]
    assert [domain.names[i] for i in domain.others] == ["age", "sex", "kind"]
    similar = domain.similar(domain.sample(np.random.default_rng(1), 9))
    assert domain.contains(similar.reshape(-1, similar.shape[2])).all()
    assert len(np.unique(similar[:, :, domain.names.index("num")])) == 2


def test_a_missing_cell_does_not_follow(table):
    read, attributes = school(table, sex=Role.PROTECTED)
    domain = constrained_domain(attributes, ["kind is determined by group"], read)
    assert not domain.attributes[domain.names.index("kind")].unknown
    asides = {(each.reason, each.what): each.rows for each in domain.set_aside(read)}
    assert asides == {
        ("missing", "num"): 1,
        ("missing", "kind"): 1,
        ("constraint", "kind is determined by group"): 1,
    }
    with pytest.raises(ConstraintError, match="not a value of “kind”"):
        constrained_domain(attributes, ["kind is determined by group", "kind = Unknown"], read)


@pytest.mark.parametrize(
    ("roles", "texts", "words"),
    [
        ({"num": Role.PROTECTED}, ["num is determined by education"], "is protected"),
        (
            {"num": Role.FIXED},
            ["num is determined by education"],
            "so another attribute cannot determine it",
        ),
        ({}, ["num is determined by age"], "Only 5 of the 44 values of “age”"),
        ({}, ["group is determined by kind", "kind is determined by group"], "in a circle"),
        (
            {},
            ["group is determined by kind", "group is determined by num"],
            "by only one other attribute",
        ),
    ],
)
def test_what_cannot_follow(table, roles, texts, words):
    read, attributes = school(table, **({"sex": Role.PROTECTED} | roles))
    with pytest.raises(SpecError, match=words):
        constrained_domain(attributes, texts, read)


def test_what_follows_fractions_is_not_learned(table):
    read = table("wage,class,sex\n1.5,low,f\n2.5,low,m\n3.25,high,f\n")
    attributes = [
        attribute_of(each, Role.PROTECTED if each.name == "sex" else Role.VARIES)
        for each in read.columns
    ]
    with pytest.raises(SpecError, match="a decimal number"):
        constrained_domain(attributes, ["class is determined by wage"], read)


def test_a_dependence_without_what_was_learned_is_refused():
    domain = Domain((AGE, SEX, GRADE, REL), ("Note is determined by relationship",))
    with pytest.raises(SpecError, match="were not learned"):
        domain.allowed(np.zeros((1, 4)))


def test_constraints_are_kept_once_and_alike(table):
    read, attributes = school(table, sex=Role.PROTECTED)
    domain = constrained_domain(attributes, ["(age)>=20", "age >= 20"], read)
    assert domain.constraints == ("age >= 20",)
    assert isinstance(parse("num is determined by age", attributes), Dependence)


def test_rows_are_held_against_a_constraint(table):
    read, attributes = school(table)
    found = checked(attributes, read, "group=old implies age>=62")
    assert found.text == "group = old implies age >= 62"
    assert (found.total, found.broken, found.first, found.undecided) == (7, 2, (1, 6), 0)
    assert checked(attributes, read, "num > 100").broken == 6
    assert checked(attributes, read, "num > 100").undecided == 1


# -- who can be at all ----------------------------------------------------------------------

SMALL = (AGE, YEARS, REL, SEX, BEFORE)


@pytest.mark.parametrize(
    ("texts", "answer", "conflict"),
    [
        ((), "yes", ()),
        (("`years employed` <= age - 14", "relationship = Husband implies sex = Male"), "yes", ()),
        (
            ("age < 16", "age > 14 implies `years employed` > 4", "age > 14", "sex = Male"),
            "nobody",
            (
                "`years employed` is from 0 to 4",
                "age > 14 implies `years employed` > 4",
                "age > 14",
            ),
        ),
        (("age = 30",), "nobody", ("age is from 14 to 20", "age = 30")),
        (("sex = Male",), "no pair", ("sex = Male", "two instances differ in sex only")),
        (("before = low", "before = Unknown"), "yes", ()),
        (
            ("before = low", "before in {mid, high}"),
            "yes",
            (),
        ),
        (
            ("before = low", "before != Unknown", "before > low"),
            "nobody",
            ("before = low", "before != Unknown", "before > low"),
        ),
        (("before = low", "before != low"), "yes", ()),
    ],
)
def test_who_contradicts_whom(texts, answer, conflict):
    domain = Domain(SMALL, texts)
    found = admits(domain, seconds=60)
    assert (found.admits, found.conflict) == (answer, conflict)
    if answer == "yes":
        rows = np.array(found.rows)
        assert domain.contains(rows).all()
        assert (rows[0, domain.others] == rows[1, domain.others]).all()
        assert rows[0, 3] != rows[1, 3]
        assert check_admits(domain).admits == "yes"
    else:
        with pytest.raises(SpecError, match="cannot all be true at once"):
            check_admits(domain, seconds=60)


def test_a_real_row_is_a_witness_without_a_solver(monkeypatch):
    monkeypatch.setattr("fairdesk.data.domain.feasibility._Solver", None)
    domain = Domain(SMALL, ("age >= 18",))
    people = np.array([[15, 0, 0, 0, 0], [18, 0, 0, 0, 0]], dtype=float)
    found = admits(domain, people)
    assert found.rows == ((18, 0, 0, 0, 0), (18, 0, 0, 1, 0))


def test_what_cannot_be_decided_is_said():
    # whole numbers for which a difference of cubes is 114: a long search
    wide = [
        attribute_of(Column(name, Kind.INTEGER, low=-(10.0**9), high=10.0**9)) for name in "xyz"
    ]
    domain = Domain((*wide, SEX), ("x*x*x + y*y*y + z*z*z = 114",))
    found = check_admits(domain, seconds=0.2)
    assert (found.admits, found.seconds) == ("undecided", 0.2)


@st.composite
def little_domains(draw):
    """Domains of some hundred people, with constraints."""
    attributes = [
        attribute_of(
            Column("a", Kind.INTEGER, low=0, high=draw(st.integers(1, 6))), Role.PROTECTED
        ),
        attribute_of(Column("b", Kind.INTEGER, low=-2, high=3)),
        attribute_of(
            Column("c", Kind.NOMINAL, ("u", "v", "w")),
            unknown=draw(st.booleans()),
        ),
        attribute_of(
            Column("d", Kind.INTEGER, low=0, high=30), limits=Limit(low=0, high=30, step=10)
        ),
    ]
    texts = draw(
        st.lists(
            st.sampled_from(
                [
                    "a + b <= 3",
                    "c = u implies a > 1",
                    "d = 10 * a",
                    "not (b < 0 and c in {v, w})",
                    "a = 0 or b = 1",
                    "a > b and b > a - 2",
                    "c = v",
                    "a <= 0",
                    "d / 10 - b >= 4",
                ]
            ),
            max_size=3,
            unique=True,
        )
    )
    return Domain(tuple(attributes), tuple(texts))


def enumerated(domain):
    """Everybody of a domain of whole numbers, by trying every code."""
    ranges = [
        np.arange(each.low, each.high + 1, each.spacing)
        if each.role is not Role.PROTECTED
        else each.compared
        for each in domain.attributes
    ]
    return np.array(list(product(*ranges)))


@settings(max_examples=many(40))
@given(little_domains(), st.integers(0, 2**32 - 1))
def test_the_solver_and_the_sampler_agree_with_enumeration(domain, seed):
    everyone = enumerated(domain)
    fine = np.ones(len(everyone), dtype=bool)
    for text in domain.constraints:
        fine &= parse(text, domain.attributes).holds(everyone)
    people = everyone[fine]
    np.testing.assert_array_equal(domain.contains(everyone), fine)
    _, size = np.unique(people[:, domain.others], axis=0, return_counts=True)
    found = admits(domain, seconds=60)
    if not len(people):
        assert found.admits == "nobody"
    else:
        assert found.admits == ("yes" if size.max() > 1 else "no pair")
        drawn = domain.sample(np.random.default_rng(seed), 40 * len(people))
        assert len(drawn) == 40 * len(people)
        met, often = np.unique(drawn, axis=0, return_counts=True)
        np.testing.assert_array_equal(met, np.unique(people, axis=0))
        # far beyond what chance does to a mean of 40
        assert often.min() > 5
        assert often.max() < 100
    told = tuple(text for text in domain.constraints if text in found.conflict)
    assert bool(found.conflict) == (found.admits != "yes")
    assert admits(Domain(domain.attributes, told), seconds=60).admits == found.admits


def test_nearly_nobody_is_said():
    wide = attribute_of(Column("x", Kind.INTEGER, low=0, high=10_000_000))
    domain = Domain((wide, SEX), ("x = 77",))
    with pytest.raises(SpecError, match="fewer than 1 in 100,000"):
        domain.sample(np.random.default_rng(0), 5)


def test_unreadable_constraints_are_found_when_they_are_read():
    domain = Domain((AGE, SEX), ("age <",))
    with pytest.raises(ConstraintError):
        domain.contains(np.array([[14.0, 0.0]]))


def test_attributes_that_follow_must_be_there():
    with pytest.raises(SpecError, match="no attribute “x”"):
        Domain((AGE, SEX), (), (Determined("x", "age", ((1.0, 1.0),)),))
    assert isinstance(AGE, Attribute)
