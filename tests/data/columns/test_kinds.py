"""What a column is: numbers, an order, names, identifiers, prose."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdesk.data.columns.kinds import as_numbers, in_order, name_parts
from fairdesk.data.table import Kind


@pytest.mark.parametrize(
    ("texts", "decimal", "numbers"),
    [
        (["1", " 2 ", "-3", "+4", "05"], ".", [1, 2, -3, 4, 5]),
        (["1.5", ".5", "5.", "1e3", "-2.5E-1"], ".", [1.5, 0.5, 5, 1000, -0.25]),
        (["1,5", "-,5", "7"], ",", [1.5, -0.5, 7]),
        ([], ".", []),
        (["1e20"], ".", [1e20]),
    ],
)
def test_numbers(texts, decimal, numbers):
    assert as_numbers(texts, decimal).tolist() == numbers


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "x",
        "1x",
        "1_000",
        "nan",
        "inf",
        "Infinity",
        "1.5.2",
        "1,5",
        "٣",
        "0x1f",
        "--1",
        ".",
    ],
)
def test_what_is_no_number(text):
    assert as_numbers(["1", text], ".") is None


def test_numbers_that_a_float_cannot_hold_stay_text():
    assert as_numbers(["12345678901234567890"], ".") is None
    assert as_numbers(["1e999"], ".") is None
    assert as_numbers(["9" * 6000], ".") is None
    assert as_numbers(["9007199254740991"], ".").tolist() == [9007199254740991]


@given(st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: abs(x) < 2**53))
def test_written_numbers_are_read_as_they_were(number):
    assert as_numbers([repr(number)], ".")[0] == number
    assert as_numbers([repr(number).replace(".", ",")], ",")[0] == number


ORDERS = [
    ("Low", "Medium", "High"),
    ("very_low", "low", "high"),
    ("none", "low", "medium"),
    ("S", "M", "L"),
    ("1st", "2nd", "3rd", "10th"),
    ("Less than 25", "25 - 45", "Greater than 45"),
    ("0-10", "11-20", "21-30", "31+"),
    ("<18", "18-25", "26-64", ">=65"),
    ("< 100 DM", "100 to 500 DM", "500 to 1000 DM", ">= 1000 DM"),
    ("< 1 year", "1 to 4 years", "4 to 7 years", ">= 7 years"),
    ("under 20", "20–30", "30–40", "over 40"),
    ("strongly disagree", "disagree", "neutral", "agree"),
    ("$0-$50", "$51-$100", "$101-$200"),
    ("1k-2k", "3k-4k", "5k-10k"),
]


@pytest.mark.parametrize("order", ORDERS)
def test_obvious_orders(order):
    shuffled = list(order)
    random.Random(1).shuffle(shuffled)
    assert in_order(shuffled) == order


@pytest.mark.parametrize(
    "values",
    [
        ("x1", "x2", "x3"),
        ("low", "high"),
        ("<=50K", ">50K"),
        ("primary", "secondary", "tertiary", "unknown"),
        ("10th", "11th", "Bachelors"),
        ("0-10", "5-15", "10-20"),
        ("2010-01", "2010-02", "2011-01"),
        ("A-1", "A-2", "A-3"),
        ("red", "green", "blue"),
        ("low", "Low", "high"),
        ("555-1234", "555-2345", "556-1234"),
        ("10-12", "12-5", "20-30"),
        ("1", "2", "3"),
    ],
)
def test_no_order_is_invented(values):
    assert in_order(values) is None


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("AgeInYears", ("age", "in", "years")),
        ("age_cat", ("age", "cat")),
        ("hours-per week", ("hours", "per", "week")),
        ("customerID", ("customer", "id")),
        ("HTTPStatus", ("http", "status")),
        ("Unnamed: 0", ("unnamed", "0")),
        ("racePctWhite", ("race", "pct", "white")),
        ("", ()),
    ],
)
def test_parts_of_names(name, parts):
    assert name_parts(name) == parts


def column_of(table, cells, name="x"):
    text = f"{name};other\n" + "".join(f"{cell};{i % 2}\n" for i, cell in enumerate(cells))
    return table(text).columns[0]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["53.0", "29.0"], Kind.INTEGER),
        (["29.0", "0.9167"], Kind.REAL),
        (["0", "1", "1"], Kind.INTEGER),
        (["yes", "no"], Kind.NOMINAL),
        (["true", "false"], Kind.NOMINAL),
        (["TRUE", "FALSE", "NA"], Kind.NOMINAL),
        (["1", "2", "unknown"], Kind.NOMINAL),
        (["low", "medium", "high"], Kind.ORDINAL),
        (["1", "?", "3"], Kind.INTEGER),
        (["", "NA", "?"], Kind.IGNORED),
        (["5", "5"], Kind.INTEGER),
        (["a", "a"], Kind.NOMINAL),
        (["1e20", "2"], Kind.REAL),
        (["1e3", "2"], Kind.INTEGER),
        (["2020-01-01", "2020-01-02"], Kind.NOMINAL),
        ([f"person {i}" for i in range(40)], Kind.IGNORED),
        ([f"person {i}" for i in range(15)], Kind.NOMINAL),
        ([["Ann", "Bob", "Cid", "Dan"][i % 4] for i in range(40)], Kind.NOMINAL),
        ([f"{10**18 + i}" for i in range(40)], Kind.IGNORED),
        ([f"I think that number {i // 1.5:g} is a rather fine number" for i in range(60)],
         Kind.TEXT),
    ],
)  # fmt: skip
def test_kinds(table, cells, kind):
    assert column_of(table, cells).kind is kind


@pytest.mark.parametrize("name", ["id", "ID", "customer_id", "Unnamed: 0", "index", ""])
@pytest.mark.parametrize("first", [0, 1])
def test_row_numbers_are_ignored(table, name, first):
    assert column_of(table, range(first, first + 5), name).kind is Kind.IGNORED


def test_only_names_of_identifiers_make_numbers_identifiers(table):
    numbers = random.Random(1).sample(range(10_000), 60)
    assert column_of(table, numbers, "client_id").kind is Kind.IGNORED
    assert column_of(table, numbers, "wage").kind is Kind.INTEGER
    assert column_of(table, range(60), "wage").kind is Kind.INTEGER
    assert column_of(table, [7, 7, *numbers], "client_id").kind is Kind.INTEGER
    assert column_of(table, [3, 1, 2], "id").kind is Kind.INTEGER
    assert column_of(table, [0.5, 1.5, 2.5], "id").kind is Kind.REAL


def test_columns_tell_their_range_and_what_is_missing(table):
    column = column_of(table, ["3", " ? ", "-1", "?", " ? ", "NA"])
    assert (column.low, column.high) == (-1, 3)
    assert (column.missing, column.missing_token) == (4, " ? ")
    column = column_of(table, ["b", "a", "", "c"])
    assert (column.values, column.low, column.high) == (("a", "b", "c"), 0, 2)
    assert (column.missing, column.missing_token) == (1, "")
    column = column_of(table, ["NA", "NA"])
    assert (column.low, column.high, column.missing, column.values) == (0, 0, 2, ())
    assert column.text(np.nan) == "NA"
