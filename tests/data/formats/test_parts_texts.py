"""Text that looks like numbers, in tables that memory holds and in those that it does not."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from fairdesk.data.columns.rereading import for_kind
from fairdesk.data.formats import parts
from fairdesk.data.formats.parts import blocks
from fairdesk.data.formats.reading import read_table
from fairdesk.data.profiling.profile import problems
from fairdesk.data.table import AS_THEY_ARE, ColumnReading, Dialect, Kind

RNG = np.random.default_rng(4)
ROWS = 90
COLUMNS = {
    "zone": ["01", "02", "1", "10"],
    "width": ["001", "002", "999"],
    "region": ["EU", "NA", "None"],
    "job": ["1.0", "2.0", "NA"],
    "grade": ["5", "7", ""],
}


def cells():
    return {name: RNG.choice(values, ROWS).tolist() for name, values in COLUMNS.items()}


def in_parts(folder, columns):
    """Write a table in three parts, as CSV."""
    folder.mkdir()
    rows = list(zip(*columns.values(), strict=True))
    for part in range(3):
        lines = [",".join(columns), *map(",".join, rows[30 * part : 30 * part + 30])]
        (folder / f"part{part}.csv").write_text("\n".join(lines) + "\n")
    return folder


def as_one(path, columns):
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *map(",".join, rows)]) + "\n")
    return path


@pytest.mark.parametrize(
    "decided",
    [
        {},
        {"region": AS_THEY_ARE, "grade": AS_THEY_ARE},
        {"job": ColumnReading(numeric=False, missing=(), by_model=True)},
        {"region": ColumnReading(missing=("None",)), "zone": ColumnReading(numeric=True)},
    ],
)
def test_larger_tables_have_the_same_columns_and_codes(tmp_path, monkeypatch, decided):
    columns = cells()
    dialect = Dialect(missing=("NA", "None"), columns=decided)
    whole = read_table(as_one(tmp_path / "t.csv", columns), dialect)
    # a sample that lacks rows, but not values
    monkeypatch.setattr(parts, "SAMPLE_ROWS", 60)
    large = read_table(in_parts(tmp_path / "parts", columns), dialect)
    assert large.source.sample is not None
    for own, other in zip(whole.columns, large.columns, strict=True):
        assert (own.name, own.kind, own.values) == (other.name, other.kind, other.values)
        assert own.missing_texts == other.missing_texts
        assert (own.missing, own.low, own.high) == (other.missing, other.low, other.high)
    codes = np.concatenate([each.codes for each in blocks(large.source, large.columns)])
    np.testing.assert_array_equal(codes, whole.codes)


def test_numbers_that_are_kept_as_texts_are_the_same_in_larger_tables(tmp_path, monkeypatch):
    numbers = pa.table({"job": pa.array([1.0, 2.5, None, 3.0] * 20), "n": pa.array(range(80))})
    dialect = Dialect(format="parquet", columns={"job": AS_THEY_ARE})
    parquet.write_table(numbers, tmp_path / "t.parquet")
    whole = read_table(tmp_path / "t.parquet", dialect)
    assert whole.column("job").values == ("1", "2.5", "3")
    monkeypatch.setattr(parts, "SAMPLE_ROWS", 50)
    (tmp_path / "parts").mkdir()
    parquet.write_table(numbers, tmp_path / "parts" / "1.parquet")
    large = read_table(tmp_path / "parts", dialect)
    assert large.source.sample is not None
    assert large.column("job").values == whole.column("job").values
    codes = np.concatenate([each.codes for each in blocks(large.source, large.columns)])
    np.testing.assert_array_equal(codes, whole.codes)


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["01", "02", "1", "10"], Kind.NOMINAL),
        (["007", "123", "456"], Kind.NOMINAL),
        ([" 01", "02 ", "1"], Kind.NOMINAL),
        (["0", "1", "10"], Kind.INTEGER),
        (["0.5", "00.5", "1"], Kind.REAL),
        (["0", "-01", "3"], Kind.INTEGER),
        (["01", *map(str, range(1, 100))], Kind.INTEGER),
        (["0001", *map(str, range(1000, 1100))], Kind.NOMINAL),
    ],
)
def test_leading_zeros_make_codes(tmp_path, form, values, kind):
    column = (values * (200 // len(values) + 1))[:200]
    if form == "csv":
        path = as_one(tmp_path / "t.csv", {"a": column, "b": ["x", "y"] * 100})
    else:
        path = tmp_path / "t.parquet"
        parquet.write_table(pa.table({"a": column, "b": ["x", "y"] * 100}), path)
    found = read_table(path).column("a")
    assert found.kind is kind
    if kind is Kind.NOMINAL:
        assert set(found.values) == set(values)


def test_words_that_are_read_as_missing_are_listed_and_can_be_kept(tmp_path):
    path = as_one(
        tmp_path / "t.csv", {"region": ["EU", "AS", "NA", "None", "?"] * 5, "n": ["1"] * 25}
    )
    table = read_table(path)
    assert dict(table.column("region").missing_texts) == {"NA": 5, "None": 5, "?": 5}
    (problem, *_) = problems(table)
    (change,) = problem.changes
    kept = read_table(path, change.dialect)
    assert kept.column("region").values == ("?", "AS", "EU", "NA", "None")
    (back,) = problems(kept)[0].changes
    assert back.dialect == table.source.dialect


def test_numbers_become_names_as_their_cells_spell_them(tmp_path):
    table = read_table(as_one(tmp_path / "t.csv", {"a": ["1", "1.0", "2"] * 4, "b": ["x"] * 12}))
    assert table.column("a").kind is Kind.INTEGER
    again = read_table(tmp_path / "t.csv", for_kind(table, "a", Kind.NOMINAL))
    assert again.column("a").values == ("1", "1.0", "2")
