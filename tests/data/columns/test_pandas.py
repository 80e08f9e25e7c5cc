"""The type of a column is the one that pandas gives it, but for the rules that are named here."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.data.columns.kinds import EXACT, as_numbers, is_padded
from fairdesk.data.formats.reading import read_table
from fairdesk.data.table import Kind
from tests.sizes import many

DATA = Path(os.environ.get("FAIRDESK_TEST_DATA", ""), "tabular")
TABLES = sorted(DATA.rglob("*.csv")) if os.environ.get("FAIRDESK_TEST_DATA") else []
NUMBERS = (Kind.INTEGER, Kind.REAL)
CELLS = st.one_of(
    st.lists(st.integers(-1_000, 1_000).map(str), min_size=3, max_size=3),
    st.lists(st.floats(-1e6, 1e6, allow_nan=False).map(repr), min_size=3, max_size=3),
    st.lists(st.sampled_from(("low", "high", "7", "3.5", "")), min_size=3, max_size=3),
    st.lists(st.sampled_from(("True", "False")), min_size=3, max_size=3),
    st.lists(st.sampled_from(("007", "01", "2")), min_size=3, max_size=3),
    st.lists(st.sampled_from(("9007199254740993", "1")), min_size=3, max_size=3),
)


def read_by_pandas(path, table):
    """Read the same cells, with the same texts as missing."""
    missing = {each.name: [*table.source.dialect.tokens(each.name), ""] for each in table.columns}
    return pd.read_csv(
        path,
        sep=table.source.dialect.delimiter,
        header=0 if table.source.dialect.header else None,
        names=[each.name for each in table.columns],
        decimal=table.source.dialect.decimal,
        encoding=table.source.dialect.encoding,
        na_values=missing,
        keep_default_na=False,
        skipinitialspace=True,
        low_memory=False,
    )


def own_rule(series):
    """Return whether a rule of FairDesk's own decides: it reads texts that pandas changes."""
    texts = series.dropna().astype(str)
    numbers = as_numbers(list(texts), ".")
    return texts.map(is_padded).any() or numbers is None or bool((np.abs(numbers) >= EXACT).any())


def compare(path):
    table = read_table(path)
    frame, texts = (
        read_by_pandas(path, table),
        pd.read_csv(path, dtype=str, header=None, skiprows=1),
    )
    for place, column in enumerate(table.columns):
        theirs = frame[column.name]
        by_pandas = pd.api.types.is_numeric_dtype(theirs) and theirs.dtype != bool
        # an identifier is left out, whatever its values are
        if column.kind is Kind.IGNORED or not theirs.notna().any():
            continue
        if by_pandas is (column.kind in NUMBERS):
            if by_pandas:
                np.testing.assert_allclose(table.codes[:, place], theirs.to_numpy(float))
            continue
        assert by_pandas, (column.name, column.kind)
        assert own_rule(texts.iloc[:, place]), (column.name, column.kind)


@settings(max_examples=many(60))
@given(st.lists(CELLS, min_size=2, max_size=4))
def test_a_column_is_numeric_where_pandas_says_so(tmp_path_factory, columns):
    path = tmp_path_factory.mktemp("table") / "table.csv"
    names = [f"c{i}" for i in range(len(columns))]
    rows = zip(*columns, ["x", "y", "z"], strict=True)
    lines = [",".join((*names, "name")), *(",".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    compare(path)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_tables_of_others_have_the_types_that_pandas_gives(path):
    if path.stat().st_size > 20_000_000:
        pytest.skip("large")
    compare(path)
