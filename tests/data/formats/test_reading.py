"""From file to table and from kind to kind: nothing is lost, nothing is guessed silently."""

from __future__ import annotations

import csv
import hashlib
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdesk.data.columns.rereading import retype
from fairdesk.data.formats.reading import read_table
from fairdesk.data.table import Dialect, Kind, NumberFormat
from fairdesk.errors import DataError
from tests import phrases

CELLS = (
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
    | st.integers(-(10**20), 10**20).map(str)
    | st.floats(allow_nan=False, allow_infinity=False).map(repr)
    | st.sampled_from(["?", " ?", "NA", "", "1.0", "05", "low", "Male", " Male"])
)
SETS = st.lists(CELLS, min_size=1, max_size=5)


@st.composite
def grids(draw):
    """Rows of cells whose columns are of one sort, or of several."""
    width = draw(st.integers(1, 4))
    rows = draw(st.integers(2, 12))
    columns = [
        draw(st.lists(st.sampled_from(draw(SETS)), min_size=rows, max_size=rows))
        for _ in range(width)
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def read_back(grid, dialect):
    """Write a grid as CSV and read it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "grid.csv"
        with path.open("w", encoding=dialect.encoding, newline="") as stream:
            writer = csv.writer(stream, delimiter=dialect.delimiter)
            writer.writerow([f"c{i}" for i in range(len(grid[0]))])
            writer.writerows(grid)
        return read_table(path, dialect)


@given(
    grids(),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.sampled_from([(), ("?",), ("?", "NA")]),
)
def test_what_is_written_is_read(grid, delimiter, encoding, missing):
    dialect = Dialect(delimiter=delimiter, encoding=encoding, missing=missing)
    table = read_back(grid, dialect)
    assert table.codes.shape == (len(grid), len(grid[0]))
    for position, column in enumerate(table.columns):
        cells = [row[position] for row in grid]
        gone = [cell for cell in cells if cell.strip() in {"", *missing}]
        assert column.missing == len(gone)
        assert column.missing_token in gone or not gone
        for cell, code in zip(cells, table.codes[:, position], strict=True):
            if cell.strip() in {"", *missing}:
                assert np.isnan(code)
            elif column.values:
                assert column.text(code) == cell
            else:
                assert float(column.text(code)) == float(cell)
                assert column.low <= code <= column.high


@given(grids())
def test_ignoring_is_undone_without_loss(grid):
    table = read_back(grid, Dialect(missing=("?",)))
    for position, column in enumerate(table.columns):
        if column.kind is Kind.IGNORED:
            continue
        back = retype(retype(table, column.name, Kind.IGNORED), column.name, column.kind)
        assert back.columns == table.columns
        np.testing.assert_array_equal(back.codes, table.codes)
        ignored = retype(table, column.name, Kind.IGNORED)
        for code in ignored.codes[:, position]:
            text = ignored.columns[position].text(code)
            if np.isnan(code) or column.values:
                assert text == column.text(code)
            else:
                assert float(text) == code


@given(grids(), st.sampled_from([".", ","]))
def test_names_and_numbers_turn_into_each_other(grid, decimal):
    table = read_back(grid, Dialect(decimal=decimal))
    for position, column in enumerate(table.columns):
        if not column.kind.is_number:
            continue
        for names in (Kind.NOMINAL, Kind.ORDINAL):
            named = retype(table, column.name, names)
            values = [float(v.replace(decimal, ".")) for v in named.columns[position].values]
            assert values == sorted(set(values))
            assert len(values) == np.nanmax(named.codes[:, position]) + 1
            aside = retype(retype(named, column.name, Kind.IGNORED), column.name, names)
            np.testing.assert_array_equal(aside.codes, named.codes)
            back = retype(named, column.name, column.kind)
            assert back.columns == table.columns
            np.testing.assert_array_equal(back.codes, table.codes)


def test_a_table_knows_its_source(write):
    path = write("age,sex\n39,Male\n50,Female\n?,Male\n")
    table = read_table(path)
    assert table.source.path == str(path)
    assert table.source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert table.source.rows == 3
    assert table.source.dialect == Dialect(missing=("?",))
    np.testing.assert_array_equal(table.codes, [[39, 1], [50, 0], [np.nan, 1]])


def test_na_is_a_value_when_the_dialect_says_so(write):
    path = write("country,n\nNA,1\nDE,2\nNA,?\nFR,4\n")
    assert read_table(path).column("country").values == ("DE", "FR")
    kept = read_table(path, Dialect(missing=("?",)))
    assert kept.column("country").values == ("DE", "FR", "NA")
    assert kept.column("country").missing == 0
    assert kept.column("n").missing == 1


def test_a_comma_may_be_the_decimal_mark(write):
    path = write("wage;n\n1,5;1\n-2;2\n")
    table = read_table(path)
    assert table.column("wage").kind is Kind.REAL
    assert table.codes[:, 0].tolist() == [1.5, -2]
    assert table.column("wage").text(1.5) == "1.5"
    other = read_table(path, Dialect(delimiter=";"))
    assert other.column("wage").format == NumberFormat(",")
    assert other.codes[:, 0].tolist() == [1.5, -2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("age,sex\n", "no rows of data"),
        ("age,sex\n39,Male\n", phrases.ONE_ROW),
        ("39,40\n", phrases.ONE_ROW),
    ],
)
def test_an_audit_needs_two_rows(write, text, said):
    with pytest.raises(DataError, match=said) as caught:
        read_table(write(text))
    assert caught.value.remedy


@pytest.mark.parametrize("text", ["", "\n"])
def test_empty_files_are_refused_with_a_dialect_too(write, text):
    with pytest.raises(DataError, match="is empty"):
        read_table(write(text), Dialect())


def test_only_points_and_commas_mark_decimals(write):
    with pytest.raises(DataError, match="cannot be a decimal mark"):
        read_table(write("a,b\n1,2\n3,4\n"), Dialect(decimal="'"))


def test_missing_files_are_told(tmp_path):
    for dialect in (None, Dialect()):
        with pytest.raises(DataError, match="does not exist"):
            read_table(tmp_path / "no.csv", dialect)
        # a folder is a table in parts
        with pytest.raises(DataError, match="has no files in it"):
            read_table(tmp_path, dialect)


def test_nasty_tables_are_read(table):
    wide = table("\n".join(",".join(str(i % 7) for i in range(j, j + 2_000)) for j in range(5)))
    assert wide.codes.shape == (5, 2_000)
    many = table("k,n\n" + "".join(f"größe {i % 10_000},{i}\n" for i in range(20_000)))
    assert len(many.column("k").values) == 10_000
    strange = table('a,a,,"x\ny"\n1,2,3,4\n1,2,3,4\n')
    assert strange.names == ("a", "a (2)", "column 3", "x\ny")
    hollow = table("a,b\n,\n,\n")
    assert [column.kind for column in hollow.columns] == [Kind.IGNORED] * 2


def test_no_other_column_changes(table):
    before = table("a,b\n1,x\n2,y\n")
    after = retype(before, "a", Kind.REAL)
    assert after.columns[1] is before.columns[1]
    assert after.column("a").kind is Kind.REAL
    assert before.column("a").kind is Kind.INTEGER
    assert retype(before, "a", Kind.INTEGER) is before


def test_numbers_become_names_in_their_order(table):
    before = table("a,b\n10,x\n9,y\n,z\n10,x\n")
    after = retype(before, "a", Kind.NOMINAL)
    assert after.column("a").values == ("9", "10")
    assert (after.column("a").low, after.column("a").high) == (0, 1)
    np.testing.assert_array_equal(after.codes[:, 0], [1, 0, np.nan, 1])


def test_an_order_stays_until_the_column_is_nominal(table):
    before = table("a,b\nlow,x\nhigh,y\nmedium,z\n")
    assert before.column("a").kind is Kind.ORDINAL
    nominal = retype(before, "a", Kind.NOMINAL)
    assert nominal.column("a").values == ("high", "low", "medium")
    assert [nominal.column("a").text(code) for code in nominal.codes[:, 0]] == [
        "low",
        "high",
        "medium",
    ]
    assert retype(nominal, "a", Kind.ORDINAL).column("a").values == ("high", "low", "medium")


def test_what_cannot_be_said_in_a_kind_is_refused(table):
    before = table("a,b,c,d\nx,1.5,,12345678901234567890\n2,2,,5\n")
    with pytest.raises(DataError, match=phrases.NO_NUMBERS) as caught:
        retype(before, "a", Kind.REAL)
    assert "“x”" in caught.value.why
    with pytest.raises(DataError, match="cannot be read as whole numbers") as caught:
        retype(before, "b", Kind.INTEGER)
    assert "1.5" in caught.value.why
    with pytest.raises(DataError, match="is empty"):
        retype(before, "c", Kind.NOMINAL)
    with pytest.raises(DataError, match=phrases.NO_NUMBERS):
        retype(before, "d", Kind.INTEGER)
    with pytest.raises(DataError, match="no column “e”"):
        retype(before, "e", Kind.NOMINAL)


def test_what_the_window_needs_imports_nothing_heavy():
    import subprocess
    import sys

    code = (
        "import sys; from fairdesk.data.columns import rereading;"
        "from fairdesk.data.formats import text_layout;"
        "heavy = {'pandas', 'pyarrow', 'scipy', 'sklearn', 'PySide6', 'onnxruntime', 'h5py'};"
        "sys.exit(bool(heavy & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


REMARKS = "a;b\n" + "".join(
    f"{i}: a long remark about what somebody once did;{i}\n" for i in range(30)
)


def test_text_is_kept_and_turned_without_loss(table):
    before = table(REMARKS)
    assert before.column("a").kind is Kind.TEXT
    ignored = retype(before, "a", Kind.IGNORED)
    for other in (ignored, retype(before, "a", Kind.NOMINAL)):
        back = retype(other, "a", Kind.TEXT)
        assert back.columns == before.columns
        np.testing.assert_array_equal(back.codes, before.codes)
    as_text = retype(before, "b", Kind.TEXT)
    assert as_text.column("b").values == tuple(map(str, range(30)))
    numbers = retype(as_text, "b", Kind.INTEGER)
    assert numbers.columns == before.columns
    np.testing.assert_array_equal(numbers.codes, before.codes)


def test_codes_are_copied_only_when_they_change(table):
    before = table("a,b\n5,x\n7,y\n7,x\n")
    for name, kind in (("a", Kind.REAL), ("a", Kind.IGNORED), ("b", Kind.TEXT)):
        assert np.shares_memory(retype(before, name, kind).codes, before.codes)
    changed = retype(before, "a", Kind.NOMINAL)
    assert before.codes[:, 0].tolist() == [5, 7, 7]
    assert changed.codes[:, 0].tolist() == [0, 1, 1]


def test_names_that_had_to_be_made_are_told(table):
    read = table("a,,a\n1,2,3\n4,5,6\n")
    assert [column.name for column in read.columns if column.note] == ["column 2", "a (2)"]
    assert "no name" in read.column("column 2").note
    assert "several columns called “a”" in read.column("a (2)").note
    assert not any(column.note for column in table("1,2\n3,4\n5,6\n").columns)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"1," * 9_000_000, "longer than"),
        (b"1," * 2_000_000, "2,000,001 columns"),
        (b"," * 2_000_000 + b"\n", "2,000,001 columns"),
        (b"\0" * 100_000, "zero bytes"),
        (b"a,b\n1," + b"x" * 20_000_000, "longer than"),
        (b"a,b\n1,2\n3," + b"x" * 2_000_000, f"{phrases.CANNOT_BE_SPLIT} near line 3"),
        (b'a,b\n1,"2\n' + b"3,4\n" * 100_000, phrases.CANNOT_BE_SPLIT),
    ],
)
def test_hostile_files_are_refused(write, content, said):
    with pytest.raises(DataError, match=said):
        read_table(write(content))


def test_formula_cells_are_texts(table):
    read = table("a,b\n=cmd|'/c calc'!A0,1\n@SUM(1;2),2\n=1+1,3\n")
    assert read.column("a").values == ("=1+1", "=cmd|'/c calc'!A0", "@SUM(1;2)")
