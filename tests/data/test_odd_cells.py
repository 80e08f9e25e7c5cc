"""Columns of numbers with a few other cells: they stay numbers, and no cell is guessed."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from fairdesk.data.columns import kinds
from fairdesk.data.columns.kinds import format_of, mended, written_like
from fairdesk.data.columns.rereading import (
    check_reading,
    for_kind,
    garbled_words,
    retype,
    with_reading,
)
from fairdesk.data.formats.reading import read_table
from fairdesk.data.profiling.profile import problems
from fairdesk.data.table import (
    MOST_LINES,
    ColumnReading,
    Dialect,
    Garbled,
    Kind,
    NumberFormat,
    OddCell,
)
from fairdesk.errors import DataError
from tests import phrases
from tests.data import making

ODD = {"unknown": None, "$45": 45.0, "O": None, "1 200": 1200.0, "1.234,5": 1234.5}


def column_of(cells, name="age"):
    """Write cells below a name, each in quotes."""
    return "\n".join([name, *(f'"{cell}"' for cell in cells)]) + "\n"


def ages(*odd, rows=400):
    """Return numbers with other cells among them."""
    cells = [str(18 + i % 60) for i in range(rows)]
    for place, text in enumerate(odd):
        cells[10 + place * (rows // max(len(odd), 1) // 2)] = text
    return cells


def test_a_few_odd_cells_leave_a_column_numeric(table):
    cells = ages(*ODD)
    read = table(column_of(cells))
    (column,) = read.columns
    assert column.kind is Kind.INTEGER
    assert column.values == ()
    assert column.odd_rows == column.missing == len(ODD)
    assert {each.text: each.proposed for each in column.odd} == ODD
    assert all(each.value is None for each in column.odd)
    assert [each.lines for each in column.odd] == [(cells.index(text) + 2,) for text in ODD]
    present = ~np.isnan(read.codes[:, 0])
    assert [float(cell) for cell in cells if cell not in ODD] == read.codes[present, 0].tolist()


def test_the_auditors_word_on_odd_cells_is_followed(table):
    text = column_of(ages(*ODD))
    dialect = table(text).source.dialect
    mended_all = with_reading(dialect, "age", ColumnReading(odd="mended"))
    (column,) = table(text, mended_all).columns
    assert {each.text: each.value for each in column.odd} == ODD
    assert column.missing == 2
    assert column.kind is Kind.REAL
    one = with_reading(dialect, "age", ColumnReading(odd="mended", cells={"O": 0.0, "$45": None}))
    read = table(text, one)
    values = {each.text: each.value for each in read.columns[0].odd}
    assert values == {**ODD, "O": 0.0, "$45": None}
    assert read.codes[:, 0].tolist().count(0.0) == 1
    # the same reading is the same table, and goes through JSON
    again = msgspec.json.decode(msgspec.json.encode(one), type=Dialect)
    assert table(text, again).columns == read.columns
    names = table(text, with_reading(dialect, "age", ColumnReading(numeric=False))).columns[0]
    assert names.kind is Kind.NOMINAL
    assert set(ODD) < set(names.values)
    assert names.missing == 0


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        # categories with numbers among them
        (["0", "1", "2", "3+"] * 50, Kind.NOMINAL),
        (["0", "1", "2"] * 200 + ["3+"] * 3, Kind.NOMINAL),
        (["1st", "2", "3", "4", "5", "6"] * 30, Kind.NOMINAL),
        (["0", "1", "unknown"] * 50, Kind.NOMINAL),
        ([str(i) for i in range(200, 300)] * 5 + [f"V{i}" for i in range(20)], Kind.NOMINAL),
        (["12", "13", "kg", "m", "14", "15", "16"] * 9, Kind.NOMINAL),
        (["$45", "€30", "20", "£10", "$12", "€7"] * 9, Kind.NOMINAL),
        # numbers with a few other cells
        (["0", "1"] * 200 + ["unknown"], Kind.INTEGER),
        (ages("90+", "90+", "90+"), Kind.INTEGER),
        (ages("Total"), Kind.INTEGER),
        # words for no value, however many
        (["17.5", "18", "19", "20", "21", "unknown", "Not available"] * 20, Kind.REAL),
        (["1", "2", "3", "4", "5"] * 20 + ["n/k"] * 20, Kind.NOMINAL),
        (["1", "2", "3", "4", "5"] * 20 + ["unknown"] * 120, Kind.NOMINAL),
        # account numbers are names, and one among numbers is odd
        (["12345678901234567890", "12345678901234567891"] * 9, Kind.NOMINAL),
        (ages("12345678901234567890"), Kind.INTEGER),
    ],
)
def test_what_is_few_is_told_from_what_are_categories(table, cells, kind):
    assert table(column_of(cells)).columns[0].kind is kind


@pytest.mark.parametrize(
    ("cells", "form", "values"),
    [
        (["1.234,5", "999,25", "12.000,00"], NumberFormat(",", "."), [1234.5, 999.25, 12000]),
        (["1,234.5", "999", "1,000,000"], NumberFormat(".", ","), [1234.5, 999, 1e6]),
        (["1 234.5", "1\u202f200", "7"], NumberFormat(".", " "), [1234.5, 1200, 7]),
        (["1'234.5", "12’200", "7"], NumberFormat(".", "'"), [1234.5, 12200, 7]),
        (["12,34,567", "1,23,456", "999"], NumberFormat(".", ","), [1234567, 123456, 999]),
        (["$1,200", "$45", "-$3.5"], NumberFormat(".", ",", "$"), [1200, 45, -3.5]),
        (["1.200,50 €", "45 €", "3 €"], NumberFormat(",", ".", "€"), [1200.5, 45, 3]),
        (["45 %", "3.5%", "100%"], NumberFormat(".", "", "%"), [45, 3.5, 100]),
        (["1,5", "2,25", "1,234"], NumberFormat(","), [1.5, 2.25, 1.234]),
    ],
)
def test_each_column_has_its_own_number_format(table, cells, form, values):
    text = "a\tb\n" + "".join(f"{cell}\t{i}.5\n" for i, cell in enumerate(cells))
    read = table(text + text.partition("\n")[2], Dialect(delimiter="\t"))
    assert read.column("a").format == form
    assert read.codes[: len(values), 0].tolist() == values
    assert read.column("b").format is None
    assert format_of(written_like(form)) == form


def test_the_file_that_has_a_decimal_comma_keeps_its_plain_columns_plain(table):
    read = table("a;b\n1,5;1.200\n2,5;900\n3,25;12.000\n")
    assert read.source.dialect.decimal == ","
    assert read.column("a").format is None
    assert read.column("b").format == NumberFormat(",", ".")
    assert read.codes[:, 1].tolist() == [1200, 900, 12000]


def test_a_mark_that_may_group_digits_is_told_and_decided(table):
    text = column_of(["1.200", "900", "12.000", "3.500"])
    read = table(text, Dialect(delimiter=";"))
    assert read.column("age").ambiguous == "1.200"
    (problem,) = problems(read)
    assert "“1.200” is read as 1.2." in problem.what
    fractions, thousands = (table(text, change.dialect) for change in problem.changes)
    assert fractions.codes[:, 0].tolist() == read.codes[:, 0].tolist() == [1.2, 900, 12, 3.5]
    assert thousands.codes[:, 0].tolist() == [1200, 900, 12000, 3500]
    for decided in (fractions, thousands):
        assert not decided.column("age").ambiguous
        (told,) = problems(decided)
        assert told.changes[0].words == "Change back"
        assert told.changes[0].dialect == read.source.dialect
    for plain in (["1.25", "1.200"], ["0.125", "3.125"], ["1.1234", "1.234"], ["1", "2"]):
        assert not table(column_of(plain)).column("age").ambiguous


@pytest.mark.parametrize("example", ["1234", "1,234", "1.234", "", "x", "12.3.4,5"])
def test_an_example_that_shows_no_format_is_none(example):
    assert format_of(example) is None


@given(
    st.integers(-(10**9), 10**9),
    st.sampled_from(
        [NumberFormat(m, g, u) for m in ".," for g in ("", " ", "'", ",", ".") for u in ("", "€")]
    ).filter(lambda form: form.decimal != form.grouping),
)
def test_a_number_is_read_as_it_was_written(cents, form):
    written = f"{cents / 100:,.2f}".replace(",", "_").replace(".", form.decimal)
    written = written.replace("_", form.grouping) + form.unit
    found = mended(written, form)
    assert found == pytest.approx(cents / 100)


@given(
    st.lists(
        st.sampled_from(["unknown", "$45", "O", " 1 200 ", "1.234,5", "90+", "V5", "-", "é", "KÃ¶"])
        | st.integers(0, 10**6).map(str),
        min_size=2,
        max_size=60,
    ),
    st.sampled_from(["", "missing", "mended"]),
    st.sampled_from([None, True, False]),
    st.booleans(),
)
def test_odd_cells_stand_in_their_lines(cells, odd, numeric, mend):
    padded = [*cells, *(str(i) for i in range(40))]
    rows = "".join(f'"{cell}",{i}\n' + "\n" * (i % 3 == 0) for i, cell in enumerate(padded))
    decided = ColumnReading(numeric=numeric, odd=odd, cells={"O": 0.0})
    dialect = Dialect(missing=("-",), columns={"a": decided}, encoding_mended=mend)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_text("a,n\n" + rows, encoding="utf-8")
        column = read_table(path, dialect).columns[0]
        content = path.read_text(encoding="utf-8").splitlines()
    for each in (*column.odd, *column.garbled):
        assert len(each.lines) == min(each.rows, MOST_LINES)
        assert all(each.text in content[line - 1] for line in each.lines)


def test_lines_are_those_of_the_file(table):
    text = "sep=,\r\nage,note\r\n" + "".join(
        f'{20 + i},"two\r\nlines"\r\n\r\n' if i % 2 else f"{20 + i},one\r\n" for i in range(40)
    )
    cells = text.split("\r\n")
    text = text.replace("\r\n59,", "\r\nO,").replace("\r\n40,", "\r\n$40,")
    (line, other) = (
        next(i for i, cell in enumerate(cells, start=1) if cell.startswith(begin))
        for begin in ("40,", "59,")
    )
    found = table(text).column("age").odd
    assert {each.text: each.lines for each in found} == {"$40": (line,), "O": (other,)}


def test_all_formats_agree(tmp_path):
    values = [20 + i for i in range(60)]
    values[7], values[30] = "unknown", "$45"
    texts = [str(value) for value in values]
    places = {}
    csv = tmp_path / "t.csv"
    csv.write_text("age\n" + "\n".join(texts) + "\n")
    # a sheet that begins on its third row, with an empty one in it
    book = making.workbook(
        tmp_path / "t.xlsx",
        {
            "s": [
                [None],
                [None],
                ["age"],
                *([v] for v in values[:20]),
                [],
                *([v] for v in values[20:]),
            ]
        },
    )
    base = making.database(
        tmp_path / "t.db", "CREATE TABLE p (age)", rows={"p": [(v,) for v in values]}
    )
    arrow = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"age": texts}), arrow)
    for path in (csv, book, base, arrow):
        read = read_table(path)
        column = read.column("age")
        assert column.kind is Kind.INTEGER, path.name
        assert np.isnan(read.codes[:, 0]).nonzero()[0].tolist() == [7, 30]
        places[path.suffix] = tuple(each.lines for each in column.odd)
        again = with_reading(read.source.dialect, "age", ColumnReading(odd="mended"))
        assert read_table(path, again).codes[30, 0] == 45
    assert places == {
        ".csv": ((9,), (32,)),
        ".xlsx": ((11,), (35,)),
        ".db": ((8,), (31,)),
        ".parquet": ((8,), (31,)),
    }


def test_what_is_listed_of_many_odd_cells_has_an_end(table):
    cells = [str(i) for i in range(10_000)]
    for i in range(300):
        cells[i * 10] = f"${i}"
    cells[5] = cells[15] = cells[25] = "?!"
    (column,) = table(column_of(cells)).columns
    assert column.odd_rows == column.missing == 303
    assert len(column.odd) == 100
    assert column.odd[0] == OddCell("?!", 3, (7, 17, 27))


def test_a_kind_is_given_by_reading_again_where_it_must_be(table):
    text = column_of(ages(*ODD))
    read = table(text)
    assert for_kind(read, "age", Kind.REAL) is None
    assert for_kind(read, "age", Kind.IGNORED) is None
    names = table(text, for_kind(read, "age", Kind.NOMINAL))
    assert set(ODD) < set(names.column("age").values)
    with pytest.raises(DataError, match=phrases.NO_NUMBERS):
        retype(names, "age", Kind.INTEGER)
    numbers = table(text, for_kind(names, "age", Kind.INTEGER))
    assert numbers.column("age").odd == read.column("age").odd
    words = table(column_of(["a", "b", "c"]))
    assert for_kind(words, "age", Kind.INTEGER) is None
    # names that are all numbers need no second reading
    assert for_kind(retype(table("a\n1\n2\n3\n"), "a", Kind.NOMINAL), "a", Kind.INTEGER) is None


def test_what_a_column_does_not_have_cannot_be_decided_of_it(table):
    read = table(column_of(ages(*ODD))).column("age")
    check_reading(read, ColumnReading(cells={"O": 0.0}))
    with pytest.raises(DataError, match=f"{phrases.NO_ODD_CELL} of the column “age” contains “Q”"):
        check_reading(read, ColumnReading(cells={"Q": 0.0}))
    words = table(column_of(["a", "b", "c"]), Dialect(columns={"age": ColumnReading(numeric=True)}))
    with pytest.raises(DataError, match=phrases.NO_NUMBERS):
        check_reading(words.column("age"), ColumnReading(numeric=True))


def mixed_encodings():
    """Return a file of which a part was written in another encoding."""
    rows = ["city,n", *(f"Köln,{i}" for i in range(9)), *(f"Zürich,{i}" for i in range(3))]
    return "\n".join(rows).encode() + b"\n" + "Köln,9\nZürich,9\nBonn,9\n".encode("cp1252")


def test_texts_in_two_encodings_are_found_and_mended_on_wish(write):
    path = write(mixed_encodings())
    read = read_table(path)
    city = read.column("city")
    assert read.source.dialect.encoding == "cp1252"
    assert set(city.values) == {"Köln", "KÃ¶ln", "Zürich", "ZÃ¼rich", "Bonn"}
    first, second = city.garbled
    assert first == Garbled("KÃ¶ln", "Köln", 9, twin=True, lines=tuple(range(2, 11)))
    assert (second.text, second.meant, second.rows) == ("ZÃ¼rich", "Zürich", 3)
    mended = read_table(path, msgspec.structs.replace(read.source.dialect, encoding_mended=True))
    assert mended.column("city").values == ("Bonn", "Köln", "Zürich")
    assert mended.counts("city") == {"Bonn": 1, "Köln": 10, "Zürich": 4}
    assert mended.column("city").garbled == city.garbled


def test_of_a_long_garbled_text_the_part_is_kept_in_which_it_differs(table):
    words = " ".join(f"word{n}" for n in range(80))
    read = table(f"a\n{words} KÃ¶ln\nKöln\nÉcole\nnaïve\nŁódź\n")
    (found,) = read.column("a").garbled
    assert (found.text[-5:], found.meant[-4:]) == ("KÃ¶ln", "Köln")
    assert max(len(found.text), len(found.meant)) <= 200


def test_texts_that_went_wrong_before_they_were_written_are_found_too(table):
    garbled = "Köln".encode().decode("latin-1").encode().decode("cp1252")
    read = table(f"a\nKöln\n{garbled}\nÉcole\nnaïve\nŁódź\n")
    assert [(each.text, each.meant) for each in read.column("a").garbled] == [(garbled, "Köln")]


@given(st.text(min_size=1, max_size=12))
def test_no_encoding_is_found_wrong_in_what_only_one_gives(text):
    """What is taken for garbled is what such a mistake gives, and nothing else."""
    from fairdesk.data.columns.columns import meant

    found = meant(text)
    if found != text:
        assert len(found) < len(text)
        assert not text.isascii()


def test_a_word_is_not_taken_for_the_bytes_of_another(write):
    """The bytes of “女” (woman) in GB 18030 are those of “Ů” in UTF-8."""
    path = write("sex\n" + "女\n男\n" * 3, "gb18030")
    (column,) = read_table(path, Dialect(encoding="gb18030")).columns
    assert column.garbled == ()
    assert column.values == ("女", "男")


def test_texts_that_begin_like_numbers_are_tried_in_no_format(monkeypatch):
    tried = []
    values = kinds._values
    monkeypatch.setattr(
        kinds, "_values", lambda texts, form: tried.extend(texts) or values(texts, form)
    )
    streets = [f"{i} Main Street" for i in range(50)]
    counts = np.ones(50, np.intp)
    assert kinds.read_numbers(streets, counts, ".", ColumnReading()) is None
    assert not tried
    mixed = [*streets[:25], *(f"$ {i}" for i in range(25))]
    read = kinds.read_numbers(mixed, counts, ".", ColumnReading(numeric=True))
    assert read.values[25:].tolist() == list(range(25))
    assert read.odd.tolist() == [True] * 25 + [False] * 25
    assert not set(tried) & set(streets)


def test_of_long_texts_the_part_that_is_garbled_is_shown(table):
    before = "a comment of more than forty letters that ends in "
    column = table(f"a\n{before}KÃ¶ln\n{before}École\nnaïve\nŁódź\n").column("a")
    assert column.garbled
    shown = garbled_words(column, Dialect())
    assert "KÃ¶ln” for “" in shown
    assert "Köln” (" in shown
