"""Small charts, problems with their fixes, and suggestions that are never applied."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdesk.data.columns.rereading import retype
from fairdesk.data.profiling.profile import (
    histogram,
    problems,
    sample_weights,
    suggest_label,
    suggest_protected,
)
from fairdesk.data.table import Column, Dialect, Kind, Source, Table
from fairdesk.errors import DataError
from tests import phrases


def one_column(column, codes):
    codes = np.asarray(codes, dtype=float)
    return Table(Source("f.csv", "", codes.size, Dialect()), (column,), codes[:, None])


def test_names_are_counted_by_frequency():
    column = Column("a", Kind.NOMINAL, ("x", "y", "z"))
    table = one_column(column, [1, 1, 2, np.nan, 0, 1, 2])
    assert histogram(table, "a") == (("y", 3), ("z", 2), ("x", 1))
    assert histogram(table, "a", bins=2) == (("y", 3), ("other", 3))


def test_an_order_is_kept():
    column = Column("a", Kind.ORDINAL, ("low", "mid", "high"))
    assert histogram(one_column(column, [2, 2, 0]), "a") == (("low", 1), ("mid", 0), ("high", 2))


def test_few_numbers_have_a_bar_each():
    assert histogram(one_column(Column("a", Kind.INTEGER), [3, 1, 3]), "a") == (("1", 1), ("3", 2))
    assert histogram(one_column(Column("a", Kind.REAL), [0.5, 2]), "a") == (("0.5", 1), ("2", 1))


def test_many_numbers_are_binned():
    integers = one_column(Column("a", Kind.INTEGER), range(17, 91))
    assert histogram(integers, "a", bins=4) == (
        ("17 – 35", 19),
        ("36 – 54", 19),
        ("55 – 73", 19),
        ("74 – 92", 17),
    )
    gaps = one_column(Column("a", Kind.INTEGER), [0, 1, 2, 4])
    assert histogram(gaps, "a", bins=3) == (("0 – 1", 2), ("2 – 3", 1), ("4 – 5", 1))
    reals = one_column(Column("a", Kind.REAL), np.arange(0, 2, 0.1))
    assert histogram(reals, "a", bins=2) == (("0 – 0.95", 10), ("0.95 – 1.9", 10))


def test_nothing_gives_no_bars():
    assert histogram(one_column(Column("a", Kind.IGNORED), [np.nan, np.nan]), "a") == ()
    with pytest.raises(DataError):
        histogram(one_column(Column("a", Kind.REAL), [1, 2]), "b")


@given(
    st.lists(st.integers(-(2**40), 2**40) | st.integers(0, 30), min_size=1),
    st.integers(2, 15),
    st.sampled_from([Kind.INTEGER, Kind.REAL, Kind.IGNORED]),
)
def test_every_number_is_in_one_bar(numbers, bins, kind):
    bars = histogram(one_column(Column("a", kind), numbers), "a", bins)
    assert sum(count for _, count in bars) == len(numbers)
    assert len(bars) <= bins


@given(st.lists(st.integers(0, 20), min_size=1), st.integers(2, 15))
def test_every_name_is_in_one_bar(codes, bins):
    column = Column("a", Kind.NOMINAL, tuple(f"v{i}" for i in range(21)))
    bars = histogram(one_column(column, codes), "a", bins)
    assert sum(count for _, count in bars) == len(codes)
    assert len(bars) == bins


def only_problem(table, column="a"):
    (problem,) = (problem for problem in problems(table) if problem.column == column)
    for sentence in (problem.what, problem.remedy):
        assert sentence[0] in "“ILMCWIOSTRYNUEG"
        assert sentence.endswith(".")
    return problem


def mended(table, problem):
    """Apply a problem's suggestion and see whether it is gone or says that nothing is to do."""
    after = retype(table, problem.column, problem.suggested)
    return all(p.suggested is None for p in problems(after) if p.column == problem.column)


def lines(*cells):
    return "a;b\n" + "".join(f"{cell};{i % 2}\n" for i, cell in enumerate(cells))


def test_a_sound_table_has_no_problems(table):
    assert problems(table("age,sex\n39,Male\n50,Female\n20,Male\n")) == ()


def test_constant_columns(table):
    for cell in ("5", "x"):
        read = table(lines(cell, cell, cell))
        problem = only_problem(read)
        assert "the same value" in problem.what
        assert problem.suggested is Kind.IGNORED
        assert mended(read, problem)


def test_empty_columns(table):
    problem = only_problem(table(lines("", "?", "")))
    assert problem.what == "“a” is empty."
    assert problem.suggested is None


def test_missing_cells(table):
    some = only_problem(table(lines("1", "2", "", *"3456789")))
    assert some.what == "In “a” 1 of 10 values are missing (10.0\u00a0%)."
    assert some.suggested is None
    most = only_problem(table(lines("1", "2", "", "?")))
    assert "2 of 4" in most.what
    assert most.suggested is Kind.IGNORED
    assert problems(table(lines(*"12345678901234567890", ""))) == ()


def test_identifiers_and_prose_say_why_they_are_left_out(table):
    names = table(lines(*(f"person {i}" for i in range(30))))
    problem = only_problem(names)
    assert phrases.NAMES_ROWS in problem.what
    assert problem.suggested is None
    back = retype(names, "a", Kind.NOMINAL)
    assert only_problem(back).suggested is Kind.IGNORED
    assert mended(back, only_problem(back))
    prose = table(lines(*(f"{i}: a long remark about what somebody once did" for i in range(30))))
    assert "free text" in only_problem(prose).what


def test_row_numbers_without_a_telling_name(table):
    read = table(lines(*range(1, 9)))
    assert read.column("a").kind is Kind.INTEGER
    problem = only_problem(read)
    assert problem.what == "“a” only numbers the rows."
    assert mended(read, problem)


def test_many_values(table):
    read = table(lines(*(f"street {i % 150}" for i in range(400))))
    problem = only_problem(read)
    assert problem.what == "“a” has 150 different values."
    assert mended(read, problem)


def test_values_that_are_nearly_alike(table):
    problem = only_problem(table(lines("Male", " male", "Female")))
    assert "“ male”, “Male”" in problem.what
    assert problem.suggested is None


def test_cells_that_are_no_numbers_are_listed_with_what_can_be_done(table):
    text = lines(*map(str, range(18, 60)), "$45", "O")
    read = table(text)
    problem = only_problem(read)
    assert f"2 {phrases.CELLS_NOT_NUMBERS}: “$45” (line 44), “O” (line 45)" in problem.what
    assert f"{phrases.COUNT_AS_MISSING} until you decide" in problem.remedy
    assert "“$45” is 45." in problem.remedy
    words = [change.words for change in problem.changes]
    assert words == [phrases.TREAT_AS_MISSING, "Convert 1 cell", "Read as categorical"]
    # each change is the whole reading, and can be taken back
    for change in problem.changes:
        again = only_problem(table(text, change.dialect))
        (back,) = again.changes
        assert back.words == "Change back"
        assert back.dialect == read.source.dialect


def test_a_column_with_numbers_in_another_format_says_so(table):
    problem = only_problem(table(lines("1,5", "2,5", "3,5"), Dialect(delimiter=";")))
    assert "in a format like “1234,5”" in problem.what
    assert [change.words for change in problem.changes] == ["Read as categorical"]


def test_numbers_that_the_auditor_made_names_are_no_problem(table):
    read = table(lines(*"7131256"))
    assert problems(retype(read, "a", Kind.NOMINAL)) == ()


@pytest.mark.parametrize(
    "name",
    [
        *("sex", "Gender", "age", "AGE", "AgeInYears", "age_group", "race", "racepctblack"),
        *("ethnicity", "EthnicGroup", "religion", "marital-status", "married", "nationality"),
        *("native.country", "country of origin", "Disability", "disabled", "is_female", "dob"),
        *("date_of_birth", "foreign_worker", "citizenship", "pregnancies", "sexual_orientation"),
        *("skin colour", "older_than_median", "personal_status_sex", "migration background"),
    ],
)
def test_names_of_protected_attributes(name):
    assert suggest_protected(one_column(Column(name, Kind.INTEGER), [0, 1])) == (name,)


@pytest.mark.parametrize(
    "name",
    [
        *("wage", "mileage", "percentage", "page", "stage", "usage", "account_age", "car_age"),
        *("sector", "racetrack", "country", "status", "income", "skin_thickness", "essex"),
    ],
)
def test_names_of_other_attributes(name):
    assert suggest_protected(one_column(Column(name, Kind.INTEGER), [0, 1])) == ()


@pytest.mark.parametrize(
    ("values", "protected"),
    [
        (("Female", "Male"), True),
        (("man", "other", "woman"), True),
        (("Christian", "Muslim", "None"), True),
        (("Black", "Hispanic", "White"), True),
        (("divorced", "married", "single"), True),
        (("F", "M"), False),
        (("black", "red", "white"), False),
        (("no", "yes"), False),
    ],
)
def test_values_of_protected_attributes(values, protected):
    column = Column("x7", Kind.NOMINAL, values)
    assert suggest_protected(one_column(column, range(len(values)))) == ("x7",) * protected
    ignored = Column("sex", Kind.IGNORED, values)
    assert suggest_protected(one_column(ignored, range(len(values)))) == ()


@pytest.mark.parametrize(
    ("header", "label"),
    [
        ("approved,n,m", "approved"),
        ("n,loan status,m", "loan status"),
        ("n,m,o", "o"),
        ("n,income,split", "income"),
        ("default,n,y", "y"),
        ("n,default,weight", "default"),
    ],
)
def test_labels(table, header, label):
    assert suggest_label(table(f"{header}\n1,0,0\n2,1,1\n3,0,1\n")) == label


def test_no_label_is_better_than_a_wrong_one(table):
    assert suggest_label(table("n,m\n1,0.5\n2,1.5\n")) is None
    numbers = "n,m\n" + "".join(f"{i % 2},{i}\n" for i in range(40))
    assert suggest_label(table(numbers)) is None


def test_made_names_are_pointed_out(table):
    found = problems(table("a;a;\n1;2;x\n2;1;y\n3;3;x\n"))
    assert [problem.column for problem in found if "the file" in problem.what.lower()] == [
        "a (2)",
        "column 3",
    ]


def test_codes_that_are_mostly_numbers_are_no_identifiers(table):
    rows = [str(i / 7) for i in range(200)]
    strangers = [f"s{i}" for i in range(8)]
    problem = only_problem(table(lines(*rows, *strangers)))
    assert "except for “s0”, “s1”, “s2” and 5 more" in problem.what
    assert [change.words for change in problem.changes] == ["Read as numbers"]


def test_text_is_no_name_and_no_outcome(table):
    text = "sex;outcome\n" + "".join(
        f"{i}: she wrote a rather long remark about it all;{i % 2}\n" for i in range(30)
    )
    read = table(text)
    assert read.column("sex").kind is Kind.TEXT
    assert suggest_protected(read) == ()
    assert suggest_label(read) == "outcome"
    (problem,) = problems(retype(read, "sex", Kind.NOMINAL))
    assert problem.suggested is Kind.TEXT


@pytest.mark.parametrize(
    ("name", "found"),
    [
        *(("fnlwgt", True), ("PWGTP", True), ("sample_weight", True), ("SurveyWgt", True)),
        *(("weight", True), ("final.wt", True), ("instance weight", True), ("A_FNLWGT", True)),
        *(("weight_kg", False), ("birth_weight", False), ("wtloss", False), ("height", False)),
    ],
)
def test_weights_of_rows_in_a_sample_are_recognised(table, name, found):
    read = table(f"age;{name}\n" + "".join(f"{20 + i % 40};{i * 1.7:.2f}\n" for i in range(60)))
    assert sample_weights(read.columns, ()) == ((name,) if found else ())


def test_a_weight_that_the_model_takes_may_be_that_of_a_person(table):
    read = table("fnlwgt;weight\n" + "".join(f"{i % 7}.5;{60 + i % 9}.2\n" for i in range(60)))
    assert sample_weights(read.columns, ("age",)) == ("fnlwgt", "weight")
    assert sample_weights(read.columns, ("weight", "fnlwgt")) == ("fnlwgt",)


def test_texts_are_no_weights(table):
    read = table(
        "weight;age\n" + "".join(f"{'light' if i % 2 else 'heavy'};{i}\n" for i in range(9))
    )
    assert sample_weights(read.columns, ()) == ()
