"""Columns write their codes; tables find their columns."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from fairdesk.data.table import Column, Dialect, Kind, Source, Table
from fairdesk.errors import DataError


@pytest.mark.parametrize(
    ("column", "code", "text"),
    [
        (Column("a", Kind.INTEGER), 29.0, "29"),
        (Column("a", Kind.INTEGER), -0.0, "0"),
        (Column("a", Kind.REAL), 29.0, "29.0"),
        (Column("a", Kind.REAL), 0.1, "0.1"),
        (Column("a", Kind.NOMINAL, ("x", "y")), 1.0, "y"),
        (Column("a", Kind.ORDINAL, ("x", "y")), 0.0, "x"),
        (Column("a", Kind.IGNORED), 5.0, "5"),
        (Column("a", Kind.IGNORED), 5.5, "5.5"),
        (Column("a", Kind.IGNORED, ("x", "y")), 1.0, "y"),
        (Column("a", Kind.NOMINAL, ("x",), missing_token="?"), np.nan, "?"),
        (Column("a", Kind.INTEGER), np.nan, ""),
    ],
)
def test_codes_are_written(column, code, text):
    assert column.text(code) == text
    assert column.text(np.float64(code)) == text


def test_only_integers_and_reals_are_numbers():
    assert [kind for kind in Kind if kind.is_number] == [Kind.INTEGER, Kind.REAL]


def test_a_table_finds_its_columns():
    columns = (Column("a", Kind.INTEGER), Column("b", Kind.REAL))
    table = Table(Source("f.csv", "0" * 64, 2, Dialect()), columns, np.zeros((2, 2)))
    assert table.names == ("a", "b")
    assert table.index("b") == 1
    assert table.column("b") is columns[1]
    with pytest.raises(DataError, match="no column “c”") as caught:
        table.column("c")
    assert caught.value.remedy == "Its columns are: a, b."


def test_columns_and_sources_survive_json():
    column = Column("a", Kind.ORDINAL, ("low", "high"), 0, 1, 3, "?")
    assert msgspec.json.decode(msgspec.json.encode(column), type=Column) == column
    source = Source("f.csv", "0" * 64, 2, Dialect(";", "cp1252", False, ",", ("?", "NA")))
    assert msgspec.json.decode(msgspec.json.encode(source), type=Source) == source


def test_values_are_counted_as_the_file_writes_them():
    columns = (
        Column("sex", Kind.NOMINAL, ("f", "m", "x"), 0.0, 2.0, missing=1),
        Column("age", Kind.INTEGER, (), 7.0, 30.0),
    )
    codes = np.array([[0, 30], [2, 7], [0, 7], [np.nan, 30]])
    table = Table(Source("t.csv", "", 4, Dialect()), columns, codes)
    assert list(table.counts("sex").items()) == [("f", 2), ("x", 1)]
    assert list(table.counts("age").items()) == [("7", 2), ("30", 2)]
