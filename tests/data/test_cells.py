"""Files to texts: every cell kept, every broken file refused in words."""

from __future__ import annotations

import csv
import io
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdesk.data import cells
from fairdesk.data.cells import lines, read_cells, unique_names
from fairdesk.data.table import Dialect
from fairdesk.errors import DataError


def rows_of(read: cells.Cells) -> list[list[str]]:
    columns = [[column.distinct[i] for i in column.codes] for column in read.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def test_cells_are_kept_exactly(write):
    path = write('name,said\n Ann ,"one, ""two""\nthree"\nBob,\n')
    read = read_cells(path, Dialect())
    assert read.names == ("name", "said")
    assert rows_of(read) == [[" Ann ", 'one, "two"\nthree'], ["Bob", ""]]


def test_texts_are_counted(write):
    read = read_cells(write("a\nx\ny\nx\n"), Dialect())
    assert read.columns[0].distinct == ["x", "y"]
    assert read.columns[0].counts().tolist() == [2, 1]


def test_without_header_every_line_is_a_row(write):
    read = read_cells(write("1,2\n3,4\n"), Dialect(header=False))
    assert read.names == ("column 1", "column 2")
    assert rows_of(read) == [["1", "2"], ["3", "4"]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_all_line_ends_are_read(write, end):
    read = read_cells(write(end.join(["a,b", "1,2", "", "3,4"])), Dialect())
    assert rows_of(read) == [["1", "2"], ["3", "4"]]


def test_rows_come_in_many_chunks(write, monkeypatch):
    monkeypatch.setattr(cells, "_CELLS_AT_ONCE", 4)
    text = "a,b\n" + "".join(f"{i},{i % 3}\n" for i in range(11))
    read = read_cells(write(text), Dialect())
    assert rows_of(read) == [[str(i), str(i % 3)] for i in range(11)]
    assert read.columns[1].codes.dtype == np.int32


def test_a_mark_and_an_excel_line_are_no_cells(write):
    assert read_cells(write("\ufeffa,b\n1,2\n"), Dialect()).names == ("a", "b")
    read = read_cells(write("sep=;\na;b\n1;2\n"), Dialect(delimiter=";"))
    assert read.names == ("a", "b")


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
        read_cells(write(text), Dialect())
    assert caught.value.what == (
        f"Line {line} of “table.csv” has {cells} cells, the header has {width}."
    )
    assert "commas" in caught.value.why


def test_an_open_quote_is_told(write):
    with pytest.raises(DataError, match="near line") as caught:
        read_cells(write('a,b\n1,"2\n3,4\n'), Dialect())
    assert "quotation mark" in caught.value.remedy


def test_nul_characters_are_refused(write):
    with pytest.raises(DataError, match="NUL character in line 2"):
        read_cells(write("a,b\n1,\0\n"), Dialect())


def test_the_wrong_encoding_is_refused_not_guessed_around(write):
    path = write("stadt,n\nKöln,1\n", "cp1252")
    with pytest.raises(DataError, match="not written in the encoding"):
        read_cells(path, Dialect(encoding="utf-8"))
    with pytest.raises(DataError, match="no encoding named “klingon”"):
        read_cells(path, Dialect(encoding="klingon"))


@pytest.mark.parametrize("delimiter", ["", ",,", "\n", '"'])
def test_delimiters_that_are_none_are_refused(write, delimiter):
    with pytest.raises(DataError, match="cannot separate columns"):
        read_cells(write("a,b\n1,2\n"), Dialect(delimiter=delimiter))


def test_files_that_are_none_are_refused(tmp_path):
    with pytest.raises(DataError, match="is not there"):
        read_cells(tmp_path / "nothing.csv", Dialect())
    with pytest.raises(DataError, match="is not a file"):
        read_cells(tmp_path, Dialect())


@pytest.mark.skipif(
    os.name == "nt" or not hasattr(os, "geteuid") or os.geteuid() == 0,
    reason="whoever runs this may read everything",
)
def test_a_file_that_may_not_be_read_is_refused(write):
    path = write("a,b\n1,2\n")
    path.chmod(0)
    with pytest.raises(DataError, match="may not be read"):
        read_cells(path, Dialect())


def test_other_failures_of_the_disk_are_told(write, monkeypatch):
    path = write("a,b\n1,2\n")

    def broken(*args, **kwargs):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(type(path), "open", broken)
    with pytest.raises(DataError, match="cannot be read") as caught:
        read_cells(path, Dialect())
    assert "Input/output error" in caught.value.why


def test_caps_are_kept(write, monkeypatch):
    monkeypatch.setattr(cells, "MOST_COLUMNS", 3)
    monkeypatch.setattr(cells, "MOST_CELLS", 6)
    monkeypatch.setattr(cells, "LONGEST_LINE", 50)
    with pytest.raises(DataError, match="has 4 columns; at most 3"):
        read_cells(write("a,b,c,d\n1,2,3,4\n"), Dialect())
    with pytest.raises(DataError, match="more than 6 cells"):
        read_cells(write("a,b\n" + "1,2\n" * 4), Dialect())
    with pytest.raises(DataError, match="longer than 50 characters"):
        read_cells(write("a,b\n1," + "x" * 60), Dialect())


def test_a_field_may_not_be_endless(write):
    path = write("a,b\n1," + "x" * (csv.field_size_limit() + 1))
    with pytest.raises(DataError, match="cannot be split into cells near line 2"):
        read_cells(path, Dialect())


@given(st.lists(st.text(max_size=4) | st.sampled_from(["a", "a (2)", "", "column 1"])))
def test_names_are_unique_and_kept_where_they_can_be(header):
    names = unique_names(header)
    assert len(set(names)) == len(header)
    assert all(names)
    for cell, name in zip(header, names, strict=True):
        assert name.startswith(cell.strip())


def test_names_are_made_where_they_lack():
    assert unique_names(["name", " name ", "", "name"]) == (
        "name",
        "name (2)",
        "column 3",
        "name (3)",
    )
    assert unique_names(["a", "a", "a (2)"]) == ("a", "a (3)", "a (2)")


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_lines_lose_nothing(text):
    text = "first\n" + text
    assert "".join(lines(io.StringIO(text, newline=""))) == text
