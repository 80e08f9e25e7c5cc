"""Delimited text to cells: as Python's own reader splits it, every broken file refused in words."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairdesk.data.columns.kinds import as_numbers, is_padded
from fairdesk.data.columns.texts import Texts
from fairdesk.data.formats import delimited, raw_table, reading, text_layout
from fairdesk.data.formats.delimited import read_delimited
from fairdesk.data.formats.text_layout import lines, numbered_rows, read_first, refuse_faults
from fairdesk.data.table import Dialect
from fairdesk.errors import DataError
from tests import phrases

#: What CSV files trip over, and pieces that make tables of them.
ENDS = [",", ",", ",", "\n", "\n", "\r\n", "\r", " ", "\t", ";", "§"]
MARKS = ['"', '"', '""', '"a,b"', '"x\ny"', "\ufeff", "sep=;", '5" pipe']
NUMBERS = ["1", "2.5", "0,5", "05", "+3", "-.5", "5.", "1e3", "1e999", "9007199254740993", "1_0"]
WORDS = ["NA", "?", "", "nan", "inf", "None", "-", "x", "Köln", "\u0663", "\u2028", "\x0b", "\x1c"]
MORE = ["=1+1", "é", "\U0001f600", "1,234", " 7 ", "12 a 3", "\x1f"]
PIECES = st.sampled_from([*ENDS, *MARKS, *NUMBERS, *WORDS, *MORE])
VALUES = st.one_of(
    PIECES,
    st.integers(-(10**20), 10**20).map(str),
    st.floats(allow_nan=False).map(repr),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6),
)
DIALECTS = st.builds(
    Dialect,
    delimiter=st.sampled_from([",", ",", ";", "\t", " ", "§"]),
    encoding=st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"]),
    header=st.booleans(),
)


def read(path: Path, dialect: Dialect) -> raw_table.Cells:
    return read_delimited(path, dialect, lambda share: None)[0]


def rows_of(found: raw_table.Cells) -> list[list[str]]:
    columns = [column.distinct.take(pa.array(column.codes)) for column in found.columns]
    return [list(row) for row in zip(*(column.to_pylist() for column in columns), strict=True)]


def read_plainly(path: Path, dialect: Dialect) -> list[list[str]]:
    """Read the rows with Python's own reader."""
    read_first(path, dialect)
    refuse_faults(path, dialect)
    return [row for _, row in numbered_rows(path, dialect)][int(dialect.header) :]


def outcome(reader, path, dialect):
    try:
        return reader(path, dialect)
    except DataError as error:
        return str(error)


def same(content: bytes, dialect: Dialect):
    """Read a file both ways: the same cells, or the same words of the same line."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(content)
        expected = outcome(read_plainly, path, dialect)
        assert outcome(lambda *how: rows_of(read(*how)), path, dialect) == expected
        return expected


@given(st.lists(PIECES, max_size=40).map("".join), DIALECTS)
@example('a,b\n1,"x""y"\n', Dialect())
@example('a\n""\nx\n\n', Dialect())
@example('a\n"x" \n', Dialect())
@example('"a"b\n1\n', Dialect())
@example('a,b\n1,5" pipe\n"x",y\n', Dialect())
@example('a,b\n1,"2\n3,4\n', Dialect())
@example("sep=;\na;b\n1;2\n", Dialect(delimiter=";"))
@example('"sep=;"                   \na\n1\n', Dialect())
@example("\ufeff\ufeff\ufeffa,b\n1,2\n", Dialect(encoding="utf-8-sig", header=False))
@example("a\n \n1\n", Dialect())
@example('a§"b§"\n\x1f§2\n', Dialect(delimiter="§"))
def test_nasty_files_are_read_as_python_would(text, dialect):
    try:
        content = text.encode(dialect.encoding)
    except UnicodeEncodeError:
        content = text.encode("utf-8")
    same(content, dialect)


@given(st.binary(max_size=60), DIALECTS)
def test_any_bytes_are_read_as_python_would(content, dialect):
    same(content, dialect)


@given(st.data(), DIALECTS, st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
def test_what_is_written_well_is_read_without_a_second_look(data, dialect, quoting):
    width = data.draw(st.integers(1, 4))
    table = data.draw(st.lists(st.lists(VALUES, min_size=width, max_size=width), min_size=1))
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=dialect.delimiter, quoting=quoting)
    writer.writerow([f"c{i}" for i in range(width)])
    writer.writerows(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(delimited, "refuse_faults")
        found = same(
            stream.getvalue().encode(), Dialect(dialect.delimiter, "utf-8", dialect.header)
        )
    assert len(found) == len(table) + (not dialect.header)


@pytest.mark.parametrize("size", [7, 16, 33])
def test_marks_are_followed_from_block_to_block(size):
    whole = b"a,b\n" + b'"x""y",2\n"p,\nq","""r"""\n' * 20

    def blocks(text):
        return (text[i : i + size] for i in range(0, len(text), size))

    assert b"".join(delimited._undoubted(blocks(whole), ",")) == whole
    for broken in (b'x"y,1\n', b'"x"y,1\n', b'"x\n', b'"x" ,1\n'):
        with pytest.raises(delimited._DoubtfulError):
            b"".join(delimited._undoubted(blocks(b"a,b\n" + b"1,2\n" * 9 + broken), ","))


@pytest.mark.parametrize("odd", ["", '5" pipe', "x\ny", "x" * 3_000, 'x"\n' * 800])
@pytest.mark.parametrize("delimiter", [",", "§"])
def test_long_files_are_read_in_many_blocks(write, monkeypatch, odd, delimiter):
    monkeypatch.setattr(delimited, "_BLOCK", 1 << 10)
    table = [[f"größe {i % 5}", str(i), "NA" if i % 9 else odd] for i in range(600)]
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter).writerows(table)
    path = write(stream.getvalue().replace('"5"" pipe"', '5" pipe'), "utf-16")
    found = read(path, Dialect(delimiter, "utf-16", header=False))
    assert rows_of(found) == table
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found.columns[2].counts().sum() == 600


def test_rows_that_are_too_long_are_refused(write, monkeypatch):
    monkeypatch.setattr(delimited, "_BLOCK", 1 << 7)
    monkeypatch.setattr(delimited, "LONGEST_ROW", 1 << 8)
    with pytest.raises(DataError, match=phrases.CANNOT_BE_SPLIT) as caught:
        read(write("a,b\n1,2\n" + f"3,{'x' * 999}\n"), Dialect())
    assert "A row can have at most" in caught.value.why


@given(st.lists(VALUES, min_size=1), st.sampled_from([",", "."]), st.data())
def test_texts_are_judged_as_python_would(values, mark, data):
    texts = Texts(pa.array(values, pa.string()), np.arange(len(values), dtype=np.int32))
    wanted = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    )
    some = [value for value, is_wanted in zip(values, wanted, strict=True) if is_wanted]
    tokens = {"", "1", "NA", "-", *(value.strip() for value in values[:2])}
    assert texts.pick(wanted) == some
    assert texts.among(tokens).tolist() == [value.strip() in tokens for value in values]
    assert texts.holding(mark).tolist() == [mark in value for value in values]
    assert texts.words() <= {value.strip() for value in values}
    assert len(texts.words()) >= min(2, len({value.strip() for value in values}))
    assert texts.tally(wanted) == Counter(some)
    assert texts.lengths(wanted).tolist() == list(map(len, some))
    assert texts.padded(wanted).tolist() == [
        is_wanted and is_padded(value) for value, is_wanted in zip(values, wanted, strict=True)
    ]
    expected = as_numbers(some, mark)
    numbers = texts.numbers(wanted, mark)
    assert (numbers is None) is (expected is None)
    if expected is not None:
        np.testing.assert_array_equal(numbers, expected)


def test_cells_are_kept_exactly(write):
    path = write('name,said\n Ann ,"one, ""two""\nthree"\nBob,\n')
    found = read(path, Dialect())
    assert found.names == ("name", "said")
    assert rows_of(found) == [[" Ann ", 'one, "two"\nthree'], ["Bob", ""]]


def test_texts_are_counted(write):
    found = read(write("a\nx\ny\nx\n"), Dialect())
    assert found.columns[0].distinct.to_pylist() == ["x", "y"]
    assert found.columns[0].counts().tolist() == [2, 1]


def test_without_header_every_line_is_a_row(write):
    found = read(write("1,2\n3,4\n"), Dialect(header=False))
    assert found.names == ("column 1", "column 2")
    assert rows_of(found) == [["1", "2"], ["3", "4"]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_all_line_ends_are_read(write, end):
    found = read(write(end.join(["a,b", "1,2", "", "3,4"])), Dialect())
    assert rows_of(found) == [["1", "2"], ["3", "4"]]


def test_a_mark_and_an_excel_line_are_no_cells(write):
    assert read(write("\ufeffa,b\n1,2\n"), Dialect()).names == ("a", "b")
    found = read(write("sep=;\na;b\n1;2\n"), Dialect(delimiter=";"))
    assert found.names == ("a", "b")


@pytest.mark.parametrize(
    ("text", "line", "cells", "width"),
    [
        ("a,b\n1,2\n3\n", 3, 1, 2),
        ("a,b\n1,2\n3,4,5\n", 3, 3, 2),
        ('a,b\n"1\n1",2\n\n"3\n3"\n', 5, 1, 2),
        ("sep=,\na,b\n1\n", 3, 1, 2),
    ],
)
def test_a_row_of_another_length_is_told_by_its_line(write, text, line, cells, width):
    with pytest.raises(DataError) as caught:
        read(write(text), Dialect())
    assert caught.value.what == (
        f"Line {line} of “table.csv” has {cells} cells, the header has {width}."
    )
    assert "commas" in caught.value.why


def test_an_open_quote_is_told(write):
    with pytest.raises(DataError, match="near line") as caught:
        read(write('a,b\n1,"2\n3,4\n'), Dialect())
    assert "quotation mark" in caught.value.remedy


def test_nul_characters_are_refused(write):
    with pytest.raises(DataError, match="NUL character in line 2"):
        read(write("a,b\n1,\0\n"), Dialect())


def test_the_wrong_encoding_is_refused_not_guessed_around(write):
    path = write("stadt,n\nKöln,1\n", "cp1252")
    with pytest.raises(DataError, match="not in the encoding"):
        read(path, Dialect(encoding="utf-8"))
    with pytest.raises(DataError, match="no encoding named “klingon”"):
        read(path, Dialect(encoding="klingon"))


@pytest.mark.parametrize("delimiter", ["", ",,", "\n", '"'])
def test_delimiters_that_are_none_are_refused(write, delimiter):
    with pytest.raises(DataError, match="cannot separate columns"):
        read(write("a,b\n1,2\n"), Dialect(delimiter=delimiter))


def test_files_that_are_none_are_refused(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        read(tmp_path / "nothing.csv", Dialect())
    with pytest.raises(DataError, match=phrases.NO_FILE):
        read(tmp_path, Dialect())


@pytest.mark.skipif(
    os.name == "nt" or not hasattr(os, "geteuid") or os.geteuid() == 0,
    reason="whoever runs this may read everything",
)
def test_a_file_that_may_not_be_read_is_refused(write):
    path = write("a,b\n1,2\n")
    path.chmod(0)
    with pytest.raises(DataError, match="may not be read"):
        read(path, Dialect())


def test_other_failures_of_the_disk_are_told(write, monkeypatch):
    path = write("a,b\n1,2\n")

    def broken(*args, **kwargs):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(type(path), "open", broken)
    with pytest.raises(DataError, match="cannot be read") as caught:
        read(path, Dialect())
    assert "Input/output error" in caught.value.why


def test_caps_are_kept(write, monkeypatch):
    monkeypatch.setattr(raw_table, "MOST_COLUMNS", 3)
    monkeypatch.setattr(raw_table, "MOST_CELLS", 6)
    monkeypatch.setattr(text_layout, "LONGEST_LINE", 50)
    monkeypatch.setattr(delimited, "_BLOCK", 20)
    with pytest.raises(DataError, match="has 4 columns; at most 3"):
        read(write("a,b,c,d\n1,2,3,4\n"), Dialect())
    with pytest.raises(DataError, match="more than 6 cells"):
        read(write("a,b\n" + "1,2\n" * 4), Dialect())
    with pytest.raises(DataError, match="longer than 50 characters"):
        read(write("a,b\n1," + "x" * 60), Dialect())


def test_a_field_may_not_be_endless(write):
    path = write("a,b\n1," + "x" * (csv.field_size_limit() + 1))
    with pytest.raises(DataError, match=f"{phrases.CANNOT_BE_SPLIT} near line 2"):
        read(path, Dialect())


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_lines_lose_nothing(text):
    text = "first\n" + text
    assert "".join(lines(io.StringIO(text, newline=""))) == text


def test_large_files_are_refused_by_line(write):
    whole = "a,b\n" + "1,2\n" * 400_000
    for broken, said in (
        ("3\n", "Line 400002 of"),
        ("3,\0\n", "NUL character in line 400002"),
        ('3,"4\n', "near line 400002"),
        (f"3,{'x' * (csv.field_size_limit() + 1)}\n", "near line 400002"),
    ):
        with pytest.raises(DataError, match=said):
            read(write(whole + broken), Dialect())
    with pytest.raises(DataError, match="not in the encoding"):
        read(write(whole + "1,ö\n", "cp1252"), Dialect())


def test_the_first_of_several_faults_is_told(write):
    text = 'a,b\n1,2\n3\n4,"5"6\n'
    with pytest.raises(DataError, match="Line 3 of"):
        read(write(text), Dialect())
    with pytest.raises(DataError, match="Line 3 of"):
        read(write(text + "\0"), Dialect())


def test_whoever_watches_is_told_how_far_it_is(write, monkeypatch):
    monkeypatch.setattr(reading, "_TELL_SECONDS", 0)
    monkeypatch.setattr(delimited, "_BLOCK", 1 << 10)
    for odd in ("1,2\n", '5" pipe,2\n'):
        told = []
        reading.read_table(write("a,b\n" + "1,2\n" * 4000 + odd), None, told.append)
        assert told == sorted(told)
        assert told[-1] == 1.0
        assert any(share < 1 for share in told)


def test_no_table_of_texts_and_numbers_loads_pandas(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,name,score\n30,Ada,0.5\n40,Bob,?\n1,,2.5\n", encoding="utf-8")
    source = (
        "import sys; from pathlib import Path\n"
        "from fairdesk.data.formats.reading import read_table\n"
        "table = read_table(Path(sys.argv[1]))\n"
        "print(len(table.codes), 'pandas' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", source, path], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["3", "False"]
