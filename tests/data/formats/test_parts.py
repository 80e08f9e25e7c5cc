"""A table in parts: read as if it were one file, in bounded memory; bad parts are named."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as arrow
from pyarrow import parquet

from fairdesk.data.formats import parts
from fairdesk.data.formats.parts import blocks
from fairdesk.data.formats.reading import read_table
from fairdesk.data.table import Dialect, Kind
from fairdesk.errors import DataError
from fairdesk.files import sha256

ROWS = 3000


def make(rng, rows=ROWS, rare="rare"):
    """Return a table with missing cells, and a value that few rows have."""
    sex = np.array(["f", "m", rare])[rng.choice(3, rows, p=(0.5, 0.499, 0.001))].tolist()
    sex[7] = None
    income = rng.normal(50, 9, rows).round(3)
    return pa.table(
        {
            "age": pa.array(rng.integers(18, 90, rows), mask=rng.random(rows) < 0.01),
            "sex": sex,
            "income": income,
            "code": [f"c{i:05}" for i in rng.integers(0, 10, rows)],
            "hired": np.array(["yes", "no"])[rng.integers(0, 2, rows)],
        }
    )


def write(table, path, form):
    if form == "parquet":
        parquet.write_table(table, path)
    else:
        arrow.write_csv(table, path)


@pytest.fixture(params=["parquet", "csv"])
def folder(request, tmp_path, monkeypatch):
    """A folder of three parts, what else programs leave in one, and the same in one file."""
    monkeypatch.setattr(parts, "SAMPLE_ROWS", 500)
    monkeypatch.setattr(parts, "BLOCK_ROWS", 700)
    monkeypatch.setattr(parts, "_BLOCK_BYTES", 20_000)
    rng = np.random.default_rng(5)
    tables = [make(rng) for _ in range(3)]
    path = tmp_path / "table"
    (path / "later").mkdir(parents=True)
    for name, table in zip(("a", "b", "later/c"), tables, strict=True):
        write(table, path / f"{name}.{request.param}", request.param)
    (path / "_SUCCESS").touch()
    (path / ".a.crc").write_text("x")
    write(pa.concat_tables(tables), tmp_path / f"whole.{request.param}", request.param)
    return path


def first(folder):
    return next(each for each in folder.iterdir() if each.name.startswith("a."))


def whole(folder):
    return read_table(next(folder.parent.glob("whole.*")))


def test_columns_are_those_of_all_rows_and_blocks_are_the_rows(folder):
    table, one = read_table(folder), whole(folder)
    assert table.columns == one.columns
    assert table.source.rows == 3 * ROWS
    assert table.source.held == len(table.codes) == 500
    assert table.source.sample.rows == 500
    found = list(blocks(table.source, table.columns))
    assert len(found) > 3
    assert np.array_equal(np.concatenate([each.codes for each in found]), one.codes, equal_nan=True)


def test_parts_are_fingerprinted(folder):
    source = read_table(folder).source
    assert len(source.parts) == 3
    assert all(sha256(folder / name) == digest for name, digest in source.parts.items())


def test_the_sample_is_of_the_rows_in_their_order_and_the_same_each_time(folder):
    table, one = read_table(folder), whole(folder)
    assert np.array_equal(table.codes, read_table(folder).codes, equal_nan=True)
    rows = {tuple(np.nan_to_num(row, nan=-1)): place for place, row in enumerate(one.codes)}
    places = [rows[tuple(np.nan_to_num(row, nan=-1))] for row in table.codes]
    assert sorted(places) == places
    assert len(set(places)) == 500
    # of three parts of one size none has more than its share, but for chance
    assert np.bincount(np.array(places) // ROWS).min() > 100


def test_each_row_has_the_same_chance(monkeypatch):
    kept = np.zeros(40)
    for seed in range(400):
        monkeypatch.setattr(parts, "SEED", seed)
        reservoir = parts._Reservoir(5)
        for start in range(0, 40, 8):
            reservoir.add([pa.array(np.arange(start, start + 8))])
        (numbers,) = reservoir.cells(1)
        assert len(numbers.codes) == 5
        kept[numbers.codes.astype(int)] += 1
    # 2000 draws over 40 rows: 50 each, with a deviation of 6.6
    assert kept.sum() == 2000
    assert kept.min() > 20
    assert kept.max() < 80


def test_a_small_folder_is_held_whole(folder, monkeypatch):
    monkeypatch.setattr(parts, "SAMPLE_ROWS", 100_000)
    table, one = read_table(folder), whole(folder)
    assert table.source.sample is None
    assert table.columns == one.columns
    assert np.array_equal(table.codes, one.codes, equal_nan=True)


def test_more_values_than_are_kept_are_said(folder, monkeypatch):
    monkeypatch.setattr(parts, "MOST_VALUES", 4)
    table = read_table(folder)
    column = table.column("code")
    assert "4" in column.note
    assert table.column("sex").note == ""
    # the highest and lowest number of all rows are known all the same
    one = whole(folder).column("income")
    income = table.column("income")
    assert (income.kind, income.low, income.high) == (Kind.REAL, one.low, one.high)
    list(blocks(table.source, table.columns))


def test_numbers_beyond_those_kept_count_in_the_first_block_too(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "MOST_VALUES", 4)
    monkeypatch.setattr(parts, "SAMPLE_ROWS", 2)
    numbers = "5", "6", "7", "8", "9", "2.5", "90", *["6"] * 200
    rows = "".join(f"{number},yes\n" for number in numbers)
    (tmp_path / "a.csv").write_text(f"income,paid\n{rows}")
    (tmp_path / "b.csv").write_text("income,paid\n6,no\n7,no\n")
    income = read_table(tmp_path).column("income")
    assert (income.kind, income.low, income.high) == (Kind.REAL, 2.5, 90)


def test_progress_goes_up_to_the_end(folder):
    told = []
    read_table(folder, watch=told.append)
    assert told == sorted(told)
    assert told[-1] == 1


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda part: part.write_bytes(part.read_bytes()[:-30] + b"PAR1"), "cannot be read"),
        (lambda part: write(pa.table({"age": [1], "x": [2]}), part, part.suffix[1:]), "“x”"),
        (lambda part: part.write_bytes(b"a,b\n1,2\n"), "b."),
    ],
)
def test_a_bad_part_is_named(folder, change, named):
    part = next(each for each in folder.iterdir() if each.name.startswith("b."))
    change(part)
    if part.suffix == ".csv" and named == "cannot be read":
        part.write_text("age,sex,income,code,hired\n1,f,2,c,yes\n1,f\n")
        named = "Line 3"
    with pytest.raises(DataError) as error:
        read_table(folder)
    assert named in str(error.value)
    assert part.name in str(error.value)


def test_a_folder_without_parts_and_one_divided_by_a_column_are_refused(tmp_path):
    with pytest.raises(DataError, match="no files"):
        read_table(tmp_path)
    keyed = tmp_path / "year=2024"
    keyed.mkdir()
    (keyed / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="year=2024"):
        read_table(tmp_path)


def test_a_column_of_numbers_in_one_part_and_of_texts_in_another_is_refused(tmp_path):
    parquet.write_table(pa.table({"a": [1, 2], "b": [1, 2]}), tmp_path / "1.parquet")
    parquet.write_table(pa.table({"a": [1, 2], "b": ["x", "y"]}), tmp_path / "2.parquet")
    with pytest.raises(DataError, match=r"“b”.*“2\.parquet”"):
        read_table(tmp_path)


def test_an_empty_column_takes_the_type_that_comes_later(tmp_path):
    empty = pa.nulls(2, pa.string())
    parquet.write_table(pa.table({"a": [1, 2], "b": pa.nulls(2)}), tmp_path / "1.parquet")
    parquet.write_table(pa.table({"a": [1, 2], "b": ["x", "y"]}), tmp_path / "2.parquet")
    parquet.write_table(pa.table({"a": [1, 2], "b": empty}), tmp_path / "3.parquet")
    table = read_table(tmp_path)
    assert table.column("b").values == ("x", "y")
    assert table.column("b").missing == 4


@pytest.mark.parametrize("change", ["changed", "removed", "added"])
def test_a_part_that_changed_since_is_named(folder, change):
    table = read_table(folder)
    part = first(folder)
    if change == "changed":
        write(make(np.random.default_rng(9), rare="new"), part, part.suffix[1:])
    elif change == "removed":
        part.unlink()
    else:
        part = part.with_stem("z")
        part.write_bytes(first(folder).read_bytes())
    with pytest.raises(DataError) as error:
        list(blocks(table.source, table.columns))
    assert f"“{part.name}”" in str(error.value)


def test_one_large_parquet_file_is_read_in_blocks(folder, monkeypatch):
    if first(folder).suffix == ".csv":
        return
    one = whole(folder)
    monkeypatch.setattr(parts, "MOST_CELLS", 10_000)
    table = read_table(next(folder.parent.glob("whole.*")))
    assert table.source.sample.rows == 500
    assert table.columns == one.columns
    codes = np.concatenate([each.codes for each in blocks(table.source, table.columns)])
    assert np.array_equal(codes, one.codes, equal_nan=True)


def test_what_was_decided_of_columns_holds_in_every_block(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "SAMPLE_ROWS", 3)
    (tmp_path / "1.csv").write_text("n,t\n1 200,x\n7,?\n?,y\n")
    (tmp_path / "2.csv").write_text("n,t\n1 300,x\n$45,z\n9,y\n")
    table = read_table(tmp_path, Dialect(missing=("?",)))
    assert table.column("t").values == ("x", "y", "z")
    assert table.column("t").missing == 1
    codes = np.concatenate([each.codes for each in blocks(table.source, table.columns)])
    assert codes[:, 0].tolist()[:2] == [1200, 7] or np.isnan(codes[0, 0])
    assert np.isnan(codes[2, 0])
    assert np.isnan(codes[1, 1])
