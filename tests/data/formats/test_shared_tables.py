"""Real tables by others, read as a person would read them. Skipped where they are absent."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from fairdesk.data.formats.reading import read_table
from fairdesk.data.profiling.profile import histogram, problems, suggest_label, suggest_protected
from fairdesk.data.table import Kind

NOMINAL, ORDINAL, INTEGER, REAL, TEXT, IGNORED = Kind

TABLES = {
    "adult": (48_842, 16, "income", {"sex", "race", "age"}),
    "adult_sample_5000": (5_000, 14, "income", {"sex", "race", "age"}),
    "bank_marketing": (45_211, 17, "y", {"age", "marital"}),
    "communities_crime": (1_994, 105, "class", {"racepctblack"}),
    "compas_two_year": (7_214, 19, "two_year_recid", {"race", "sex", "age"}),
    "diabetes_pima": (768, 9, "diabetes", {"age"}),
    "german_credit": (1_000, 22, "credit_risk", {"age", "sex"}),
    "law_school_lsac": (22_811, 12, "pass_bar", {"race", "sex"}),
    "loanapp_boston": (1_989, 19, "approved", {"race", "sex", "married"}),
    "resume_callbacks": (4_870, 27, "call", {"ethnicity", "gender"}),
    "titanic": (1_309, 4, "survived", {"sex", "age"}),
}
KINDS = {
    "adult": {"age": INTEGER, "workclass": NOMINAL, "education": NOMINAL, "income": NOMINAL},
    "bank_marketing": {"balance": INTEGER, "month": NOMINAL, "poutcome": NOMINAL},
    "communities_crime": {"communityname": IGNORED, "population": REAL, "Black": INTEGER},
    "compas_two_year": {
        "age_cat": ORDINAL,
        "score_text": ORDINAL,
        "c_charge_degree": NOMINAL,
        "days_b_screening_arrest": INTEGER,
        "is_recid": INTEGER,
    },
    "diabetes_pima": {"glucose": INTEGER, "bmi": REAL},
    "german_credit": {"other_debtors": NOMINAL, "job": NOMINAL, "age": INTEGER},
    "law_school_lsac": {"decile_year1": NOMINAL, "ugpa": REAL, "enrolment": NOMINAL},
    "loanapp_boston": {"dependents": INTEGER, "loan_to_price": REAL, "married": NOMINAL},
    "resume_callbacks": {"name": NOMINAL, "minimum": NOMINAL, "quality": NOMINAL},
    "titanic": {"age": REAL, "passengerClass": ORDINAL},
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_read_sensibly(shared, name):
    path = shared / "tabular" / f"{name}.csv"
    table = read_table(path)
    rows, columns, label, protected = TABLES[name]
    assert table.codes.shape == (rows, columns)
    assert table.source.dialect.missing == (("?",) if name.startswith("adult") else ())
    for column, kind in KINDS.get(name, {}).items():
        assert table.column(column).kind is kind, column
    assert suggest_label(table) == label
    assert protected <= set(suggest_protected(table))
    for column in table.columns:
        counted = sum(count for _, count in histogram(table, column.name))
        assert counted == rows - column.missing
    assert {problem.column for problem in problems(table)} <= set(table.names)


@pytest.mark.parametrize("name", ["compas_two_year", "loanapp_boston", "titanic", "german_credit"])
def test_every_cell_can_be_written_back(shared, name):
    path = shared / "tabular" / f"{name}.csv"
    table = read_table(path)
    with path.open(encoding="utf-8", newline="") as stream:
        _, *rows = csv.reader(stream)
    for row, codes in zip(rows, table.codes, strict=True):
        for cell, code, column in zip(row, codes, table.columns, strict=True):
            text = column.text(code)
            assert text == cell or float(text) == float(cell)


def test_what_adult_does_not_know(shared):
    table = read_table(shared / "tabular" / "adult.csv")
    assert table.column("workclass").missing == 2_799
    assert table.column("workclass").missing_token == "?"
    assert table.column("workclass").values[0] == "Federal-gov"
    assert np.isnan(table.codes).any(axis=1).sum() == 48_842 - 45_222


def test_encoded_tables_are_whole_numbers_in_their_bounds(shared):
    bounds = json.loads((shared / "encoded" / "domains.json").read_text(encoding="utf-8"))
    paths = sorted((shared / "encoded").glob("*.csv"))
    assert len(paths) == 6
    for path in paths:
        table = read_table(path)
        assert {column.kind for column in table.columns} == {Kind.INTEGER}
        assert not np.isnan(table.codes).any()
        if path.stem in bounds and "bounds_observed" in bounds[path.stem]:
            known = bounds[path.stem]
            found = [[table.column(f).low, table.column(f).high] for f in known["features"]]
            assert found == known["bounds_observed"]


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("imdb_sample_3000", "text"),
        ("jigsaw_wiki_sample", "text"),
        ("wiki_toxicity_1492", "comment"),
    ],
)
def test_comments_are_free_text(shared, name, column):
    table = read_table(shared / "text" / f"{name}.csv")
    assert table.column(column).kind is Kind.TEXT
