"""Parquet, Excel, OpenDocument and SQLite: the same kinds as from CSV, and nothing runs."""

from __future__ import annotations

import datetime as dt
import sqlite3
import struct
import zipfile
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import parquet

from fairdesk.data.columns.columns import typed
from fairdesk.data.columns.texts import Texts
from fairdesk.data.formats import excel
from fairdesk.data.formats.packing import Packing, as_text
from fairdesk.data.formats.reading import read_table
from fairdesk.data.profiling.profile import problems
from fairdesk.data.table import Dialect, Kind
from fairdesk.errors import DataError
from tests import phrases
from tests.data import making

PEOPLE = [
    ("age", "sex", "wage", "paid"),
    (39, "Male", 1.5, "yes"),
    (50, "Female", 3.0, "no"),
    (None, "Male", 2.25, "NA"),
    (20, None, 4.0, "yes"),
]


def moment(*parts):
    return dt.datetime(*parts, tzinfo=None)  # noqa: DTZ001 - files know no zone


def people(path, sort):
    if sort == "parquet":
        columns = dict(zip(PEOPLE[0], zip(*PEOPLE[1:], strict=True), strict=True))
        parquet.write_table(pa.table({name: list(v) for name, v in columns.items()}), path)
    elif sort == "excel":
        making.workbook(path, {"Empty": [], "People": [list(row) for row in PEOPLE]})
    elif sort == "sqlite":
        made = 'CREATE TABLE "peo""ple" (age, sex TEXT, wage REAL, paid)'
        making.database(path, "CREATE TABLE hollow (x)", made, rows={'peo""ple': PEOPLE[1:]})
    else:
        text = "\n".join(",".join("" if c is None else str(c) for c in row) for row in PEOPLE)
        path.write_text(text + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("sort", ["parquet", "excel", "sqlite"])
def test_formats_are_told_by_content_and_read_like_csv(tmp_path, sort):
    as_csv = read_table(people(tmp_path / "table.xlsx", "csv"))
    read = read_table(people(tmp_path / "table.csv", sort))
    assert read.source.dialect.format == sort
    assert read.source.rows == 4
    assert read.columns == as_csv.columns
    np.testing.assert_array_equal(read.codes, as_csv.codes)
    again = read_table(tmp_path / "table.csv", read.source.dialect)
    assert (again.source, again.columns) == (read.source, read.columns)


@pytest.mark.parametrize("sort", ["parquet", "excel", "sqlite"])
def test_na_may_be_a_category_beside_what_is_missing(tmp_path, sort):
    path = people(tmp_path / "table", sort)
    assert read_table(path).column("paid").missing == 1
    kept = read_table(path, Dialect(missing=()))
    assert kept.column("paid").values == ("NA", "no", "yes")
    assert kept.column("sex").missing == 1
    assert read_table(path, Dialect(missing=("20", "Male"))).column("age").missing == 2


def test_one_of_several_tables_is_chosen(tmp_path):
    book = making.workbook(
        tmp_path / "a", {"none": [], "x": [["a"], [1], [2]], "y": [["b"], [3], [4]]}
    )
    base = making.database(
        tmp_path / "b",
        *("CREATE TABLE none (a)", "CREATE TABLE x (a)", "CREATE TABLE y (b)"),
        rows={"x": [(1,), (2,)], "y": [(3,), (4,)]},
    )
    for path, sort in ((book, "excel"), (base, "sqlite")):
        first = read_table(path)
        assert first.source.tables == ("none", "x", "y")
        assert (first.source.dialect.table, first.names) == ("x", ("a",))
        assert read_table(path, Dialect(format=sort, table="y")).names == ("b",)
        unknown_format = read_table(path, Dialect(table="y"))
        assert (unknown_format.names, unknown_format.source.dialect.header) == (("b",), True)
        with pytest.raises(DataError, match="no table “z”") as caught:
            read_table(path, Dialect(format=sort, table="z"))
        assert "“none”, “x”, “y”" in caught.value.remedy
        with pytest.raises(DataError):
            read_table(path, Dialect(format=sort, table="none"))


def test_notes_before_the_data_are_no_table(tmp_path):
    people = [["age", "paid"], [30, "?"], [40, "yes"], [50, "no"]]
    book = making.workbook(tmp_path / "a.xlsx", {"notes": [["made by"], ["me"]], "people": people})
    assert read_table(book).source.dialect.table == "people"
    asked = read_table(book, Dialect(table="people"))
    assert asked.column("paid").missing == 1
    base = making.database(
        tmp_path / "b",
        *("CREATE TABLE version (a)", "CREATE TABLE people (b)"),
        rows={"version": [(1,)], "people": [(1,), (2,)]},
    )
    assert read_table(base).source.dialect.table == "people"
    with pytest.raises(DataError, match=f"has {phrases.ONE_ROW}") as caught:
        read_table(book, Dialect(table="notes"))
    assert "table “notes” in “a.xlsx”" in caught.value.what
    assert caught.value.remedy == "Choose another of its tables: “people”."


@pytest.mark.parametrize("sort", ["csv", "parquet"])
def test_a_file_that_is_one_table_has_none_of_another_name(tmp_path, sort):
    path = people(tmp_path / "table", sort)
    with pytest.raises(DataError, match="no table “x” in") as caught:
        read_table(path, Dialect(table="x"))
    assert caught.value.why == "The file itself is a single table."


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**80), 2**80),
    st.integers(0, 5),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    st.sampled_from(["1", "2.5", "NA", " 7", ""]),
    st.dates(),
    st.datetimes(),
    st.decimals(allow_nan=False, allow_infinity=False, places=2),
)
COLUMNS = st.one_of(
    st.lists(VALUES, min_size=1, max_size=8),
    st.lists(st.integers(-(2**60), 2**60) | st.none(), min_size=1),
    st.lists(st.floats(allow_nan=False) | st.integers(0, 9), min_size=1),
    st.lists(st.datetimes() | st.none(), min_size=1),
)


@example([3, None], 1, ("NA", "2.5", "3"))
@example([3, 2.5, 2.5, 3], 2, ("NA", "2.5", "3"))
@given(COLUMNS, st.integers(1, 4), st.sampled_from([(), ("NA", "2.5", "3")]))
def test_packed_values_are_what_their_texts_are(values, size, missing):
    packing = Packing(1)
    for start in range(0, len(values), size):
        packing.add([values[start : start + size]])
    (packed,) = packing.columns()
    texts = [as_text(value) for value in values]
    distinct = list(dict.fromkeys(texts))
    places = np.array([distinct.index(text) for text in texts], np.int32)
    plain = Texts(pa.array(distinct, pa.string()), places)
    column, codes = typed("a", packed, Dialect(missing=missing))
    expected, expected_codes = typed("a", plain, Dialect(missing=missing))
    assert column == expected
    np.testing.assert_array_equal(codes, expected_codes)


def parquet_of(path, **columns):
    parquet.write_table(pa.table(columns), path)
    return read_table(path)


def test_typed_values_of_parquet(tmp_path):
    read = parquet_of(
        tmp_path / "t",
        flag=pa.array([True, None, False]),
        day=pa.array([dt.date(2020, 1, 2), None, dt.date(2021, 1, 1)]),
        moment=pa.array([moment(2020, 1, 2), moment(2020, 1, 2, 3, 4, 5, 600), None]),
        zoned=pa.array([0, 1, 2], pa.timestamp("s", "Europe/Berlin")),
        money=pa.array([Decimal("1.50"), Decimal("2.00"), None]),
        account=pa.array([2**60, 2**60 + 1, None]),
        hollow=pa.nulls(3),
        half=pa.array([0.5, float("nan"), 1.5], pa.float32()),
        kind=pa.array(["a", None, "a"]).dictionary_encode(),
        level=pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array([5, 7])),
    )
    assert read.column("flag").values == ("false", "true")
    assert read.column("day").values == ("2020-01-02", "2021-01-01")
    assert read.column("moment").values == ("2020-01-02", "2020-01-02 03:04:05.0006")
    assert read.column("zoned").kind is Kind.NOMINAL
    assert (read.column("money").kind, read.column("money").high) == (Kind.REAL, 2.0)
    assert read.column("account").values == (str(2**60), str(2**60 + 1))
    assert (read.column("hollow").kind, read.column("hollow").missing) == (Kind.IGNORED, 3)
    assert (read.column("half").kind, read.column("half").missing) == (Kind.REAL, 1)
    assert (read.column("kind").values, read.column("kind").missing) == (("a",), 1)
    assert (read.column("level").kind, read.column("level").high) == (Kind.INTEGER, 7)


def test_what_is_no_single_value_is_left_out_by_name(tmp_path):
    read = parquet_of(
        tmp_path / "t",
        age=pa.array([1, 2]),
        tags=pa.array([[1], [2, 3]]),
        photo=pa.array([b"\0", b"\1"]),
        address=pa.array([{"city": "x"}, {"city": "y"}]),
    )
    told = {problem.column: problem.what for problem in problems(read)}
    assert set(told) == {"tags", "photo", "address"}
    assert told["tags"] == "It contains values of the type “list”, which are not supported."
    assert {column.kind for column in read.columns[1:]} == {Kind.IGNORED}


def test_headers_of_other_formats_are_made_unique_too(tmp_path):
    table = pa.Table.from_arrays([pa.array([1, 2])] * 3, names=["a", "a", ""])
    parquet.write_table(table, tmp_path / "t")
    read = read_table(tmp_path / "t")
    assert read.names == ("a", "a (2)", "column 3")
    assert [bool(column.note) for column in read.columns] == [False, True, True]


def test_cells_of_excel(tmp_path):
    rows = [
        ["n", "mixed", "when", "ok", "f"],
        [1.0, 3.0, dt.date(2020, 1, 2), True, "=1+1"],
        [],
        [2.5, "x", moment(2020, 1, 2, 10, 30), False, "=cmd|' /C calc'!A0"],
    ]
    read = read_table(making.workbook(tmp_path / "t", {"s": rows}))
    assert read.source.rows == 2
    assert read.column("mixed").values == ("3", "x")
    assert read.column("when").values == ("2020-01-02", "2020-01-02 10:30:00")
    assert read.column("ok").values == ("false", "true")
    assert read.column("f").missing == 2


def test_excel_without_a_header(tmp_path):
    path = making.workbook(tmp_path / "t", {"s": [[1, "a"], [2, "b"], [3, "a"]]})
    assert read_table(path).codes.shape == (3, 2)
    named = Dialect(format="excel", header=True)
    assert read_table(path, named).names == ("1", "a")


def cell(value, times=1):
    more = f' table:number-columns-repeated="{times}"' if times > 1 else ""
    return (
        f'<table:table-cell office:value-type="string"{more}><text:p>{value}</text:p>'
        "</table:table-cell>"
    )


def test_opendocument(tmp_path):
    hollow = '<table:table-cell table:number-columns-repeated="16000"/>'
    rows = [[cell("a"), cell("b"), hollow], [cell("x"), cell("1")], [cell("y"), cell("2")]]
    text = "".join(f"<table:table-row>{''.join(row)}</table:table-row>" for row in rows)
    read = read_table(making.opendocument(tmp_path / "t", text))
    assert read.names == ("a", "b")
    assert read.column("b").kind is Kind.INTEGER


def test_bombs_are_refused_before_they_are_unpacked(tmp_path, monkeypatch):
    book = making.workbook(tmp_path / "b", {"s": [["a", "b"], [1, 2], [3, 4]]})
    sheet = zipfile.ZipFile(book).read("xl/worksheets/sheet1.xml")
    for wide in (b'r="XFD1048576"', b"r='xfd1048576'", b'r = "XFD1048576"'):
        far = {"xl/worksheets/sheet1.xml": sheet.replace(b'r="B3"', wide)}
        with pytest.raises(DataError, match="more than 200,000,000 cells"):
            read_table(making.changed(tmp_path / "far", far, book))
    times = 'table:number-rows-repeated="1000000"'
    rows = f"<table:table-row {times}>{cell('x', 9000)}</table:table-row>"
    with pytest.raises(DataError, match="more than 200,000,000 cells"):
        read_table(making.opendocument(tmp_path / "ods", rows))
    full = making.changed(tmp_path / "full", {"xl/media/a": b"\0" * (excel.RATIO_FROM + 1)}, book)
    with pytest.raises(DataError, match="too large to be unpacked") as caught:
        read_table(full)
    assert "200 times its size" in caught.value.why
    lying = bytearray(full.read_bytes())
    for mark, offset in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        place = lying.rindex(mark)
        struct.pack_into("<I", lying, place + offset, 10)
    (tmp_path / "lying").write_bytes(lying)
    with pytest.raises(DataError, match="cannot be read"):
        read_table(tmp_path / "lying")
    monkeypatch.setattr(excel, "MOST_BYTES", 1000)
    with pytest.raises(DataError, match="too large to be unpacked"):
        read_table(book)
    monkeypatch.setattr(excel, "MOST_MEMBERS", 2)
    with pytest.raises(DataError, match="too large to be unpacked"):
        read_table(book)


def test_broken_files_are_refused_in_words(tmp_path):
    for sort in ("parquet", "excel", "sqlite"):
        whole = people(tmp_path / sort, sort).read_bytes()
        for cut in (20, len(whole) // 2, len(whole) - 8):
            path = tmp_path / "cut"
            path.write_bytes(whole[:cut])
            with pytest.raises(DataError) as caught:
                read_table(path)
            assert caught.value.remedy
    with zipfile.ZipFile(tmp_path / "zip", "w") as archive:
        archive.writestr("people.csv", "a,b\n1,2\n")
    with pytest.raises(DataError, match="is an archive"):
        read_table(tmp_path / "zip")
    empty = making.workbook(tmp_path / "none", {"a": [], "b": []})
    with pytest.raises(DataError, match="no sheet with cells"):
        read_table(empty)
    one = making.workbook(tmp_path / "one", {"a": [["x"], [1]]})
    with pytest.raises(DataError, match=phrases.ONE_ROW):
        read_table(one)
    parquet.write_table(pa.table({}), tmp_path / "hollow")
    with pytest.raises(DataError, match="no columns"):
        read_table(tmp_path / "hollow")


def test_texts_that_are_none_and_parts_of_another_age_are_refused(tmp_path):
    path = tmp_path / "people.parquet"
    parquet.write_table(
        pa.table({"a": ["mark", "none"]}), path, use_dictionary=False, compression="none"
    )
    path.write_bytes(path.read_bytes().replace(b"mark", b"m\x80\xffk"))
    with pytest.raises(DataError, match="cannot be read"):
        read_table(path)
    book = making.workbook(tmp_path / "book", {"a": [["x"], [1], [2]]})
    content = bytearray(book.read_bytes())
    # the version that is needed to unpack the first part, as the directory has it
    content[content.index(b"PK\x01\x02") + 6] = 131
    book.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_table(book)
    assert caught.value.remedy


def test_nothing_of_a_database_runs_or_changes(tmp_path):
    path = making.database(
        tmp_path / "b",
        "CREATE TABLE people (a, b)",
        "CREATE VIEW later AS SELECT randomblob(1000000000) AS a",
        "CREATE TABLE made (a, b AS (upper(a)))",
        rows={"people": [(1, "x"), (2, "y")], "made": [(1,), (2,)]},
    )
    before = path.read_bytes()
    read = read_table(path)
    assert read.source.tables == ("people", "made")
    with pytest.raises(DataError, match="no table “later”"):
        read_table(path, Dialect(table="later"))
    with pytest.raises(DataError, match="computed: “b”"):
        read_table(path, Dialect(table="made"))
    assert path.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["b"]


def test_a_database_that_is_being_written_is_refused(tmp_path):
    path = making.database(tmp_path / "b", "CREATE TABLE people (a)", rows={"people": [(1,), (2,)]})
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("INSERT INTO people VALUES (3)")
    writer.commit()
    with pytest.raises(DataError, match="in use"):
        read_table(path)
    writer.close()
    assert read_table(path).source.rows == 3
