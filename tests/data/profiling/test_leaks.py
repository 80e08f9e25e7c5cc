"""Columns that tell the outcome alone are pointed out; honest ones and identifiers are not."""

from __future__ import annotations

import numpy as np
import pytest

from fairdesk.data.formats.reading import read_table
from fairdesk.data.profiling.outcomes import leaks
from fairdesk.data.table import Column, Dialect, Kind, Source, Table

RNG = np.random.default_rng(7)
ROWS = 600
LABEL = (RNG.random(ROWS) < 0.3).astype(float)


def found(column, codes, label=LABEL):
    codes = np.column_stack([codes, label])
    columns = (column, Column("paid", Kind.NOMINAL, ("no", "yes"), 0.0, 1.0))
    table = Table(Source("t.csv", "", len(codes), Dialect()), columns, codes)
    return [problem.column for problem in leaks(table, "paid", label == 1)]


def number(codes):
    return Column("x", Kind.REAL, (), float(np.nanmin(codes)), float(np.nanmax(codes)))


NOISE = RNG.normal(size=ROWS)


@pytest.mark.parametrize(
    "codes",
    [
        LABEL,
        1 - LABEL,
        LABEL * 100 + NOISE,
        -LABEL * 10 + NOISE,
        np.abs(NOISE) * np.where(LABEL, 1, 0),
        np.where(LABEL, NOISE, np.nan),
        np.where(LABEL, np.sign(NOISE) * (5 + np.abs(NOISE)), NOISE),
    ],
)
def test_numbers_that_tell_the_outcome(codes):
    assert found(number(codes), codes) == ["x"]


def test_names_that_tell_the_outcome():
    names = tuple(f"v{i:02d}" for i in range(10))
    codes = RNG.integers(0, 5, ROWS) * 2 + LABEL
    assert found(Column("x", Kind.NOMINAL, names, 0, 9), codes) == ["x"]


def test_what_tells_little_or_names_the_rows_is_no_leak():
    codes = LABEL + NOISE
    assert found(number(codes), codes) == []
    unique = tuple(f"person {i:04d}" for i in range(ROWS))
    for order in (RNG.permutation(ROWS), np.argsort(np.argsort(LABEL, kind="stable"))):
        codes = order.astype(float)
        assert found(Column("x", Kind.NOMINAL, unique, 0, ROWS - 1), codes) == []
    by_label = np.sort(LABEL)
    counted = np.arange(ROWS, dtype=float)
    assert found(number(counted), counted, by_label) == []
    account = 7 * counted + 1_000
    named = Column("customer_id", Kind.INTEGER, (), account[0], account[-1])
    assert found(named, account, by_label) == []
    for kind in (Kind.IGNORED, Kind.TEXT):
        assert found(Column("x", kind, ("no", "yes"), 0, 1), LABEL) == []


def test_an_outcome_that_hardly_varies_is_not_judged():
    rare = np.zeros(ROWS)
    rare[:5] = 1
    assert found(number(rare), rare, rare) == []


@pytest.mark.parametrize(
    ("name", "label", "good", "columns"),
    [
        ("compas_two_year", "two_year_recid", "0", ["is_recid"]),
        ("communities_crime", "class", None, ["ViolentCrimesPerPop"]),
        ("bank_marketing", "y", "yes", []),
        ("adult", "income", ">50K", []),
        ("law_school_lsac", "pass_bar", None, []),
    ],
)
def test_real_tables(shared, name, label, good, columns):
    table = read_table(shared / "tabular" / f"{name}.csv")
    codes, column = table.codes[:, table.index(label)], table.column(label)
    code = column.high if good is None else float(
        column.values.index(good) if column.values else good
    )  # fmt: skip
    assert [problem.column for problem in leaks(table, label, codes == code)] == columns
