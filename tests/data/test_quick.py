"""The quick reader reads exactly what the plain one does, or leaves it to that one."""

from __future__ import annotations

import csv
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairdesk.data import cells as plain
from fairdesk.data import quick, reading
from fairdesk.data.cells import read_cells
from fairdesk.data.columns import typed
from fairdesk.data.quick import read_quickly
from fairdesk.data.sniffing import find_missing, guess_content, guess_decimal
from fairdesk.data.table import Dialect
from fairdesk.errors import DataError

#: What CSV files trip over, and pieces that make tables of them.
PIECES = st.sampled_from(
    [
        *(
            ",",
            ",",
            ",",
            "\n",
            "\n",
            "\r\n",
            "\r",
            '"',
            '"',
            '""',
            '"a,b"',
            '"x\ny"',
            " ",
            "\t",
            ";",
        ),
        *("1", "2.5", "0,5", "05", "+3", "-.5", "5.", "1e3", "1e999", "9007199254740993", "1_0"),
        *(
            "NA",
            "?",
            "",
            "nan",
            "inf",
            "None",
            "-",
            "x",
            "Köln",
            "\u0663",
            "\u2028",
            "\x0b",
            "\x1c",
        ),
        *("=1+1", "\ufeff", "sep=;", "é", "\U0001f600", "1,234", " 7 ", "12 a 3"),
    ]
)
TEXTS = st.lists(PIECES, max_size=40).map("".join)
VALUES = st.one_of(
    PIECES,
    st.integers(-(10**20), 10**20).map(str),
    st.floats(allow_nan=False).map(repr),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6),
)
DIALECTS = st.builds(
    Dialect,
    delimiter=st.sampled_from([",", ",", ";", "\t", " "]),
    encoding=st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"]),
    header=st.booleans(),
    decimal=st.sampled_from(".,"),
    missing=st.sampled_from([(), ("?", "NA"), ("-1", "5")]),
)


def read_by(reader, path, dialect):
    """Read a file and describe all of it; or what is wrong with it."""
    try:
        read = reader(path, dialect)
    except DataError as error:
        return error.args
    if read is None:
        return None
    whole = [read.names, read.notes, find_missing(read)]
    whole += [guess_decimal(read, mark, ()) for mark in ",;"]
    for name, column in zip(read.names, read.columns, strict=True):
        if read.rows:
            found, codes = typed(name, column, dialect.missing, dialect)
            whole += [found, codes.tobytes()]
    return whole


def same(content: bytes, dialect: Dialect):
    """Read a file both ways; the quick way may only give up."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(content)
        found = read_by(read_quickly, path, dialect)
        assert found is None or found == read_by(read_cells, path, dialect)
        return found


@given(TEXTS, DIALECTS)
@example('a,b\n1,"x""y"\n', Dialect())
@example('a\n""\nx\n\n', Dialect())
@example('a\n"x" \n', Dialect())
@example('"a"b\n1\n', Dialect())
@example('a,b\n1,"2\n3,4\n', Dialect())
@example("sep=;\na;b\n1;2\n", Dialect(delimiter=";"))
@example('"sep=;"                   \na\n1\n', Dialect())
@example("\ufeff\ufeffa,b\n1,2\n", Dialect(encoding="utf-8-sig"))
@example("a\n \n1\n", Dialect())
def test_nasty_files_are_read_alike(text, dialect):
    try:
        content = text.encode(dialect.encoding)
    except UnicodeEncodeError:
        content = text.encode("utf-8")
    same(content, dialect)


@given(st.binary(max_size=60), DIALECTS)
def test_any_bytes_are_read_alike(content, dialect):
    same(content, dialect)


@given(st.data(), DIALECTS, st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
def test_what_csv_writes_is_read_alike_and_quickly(data, dialect, quoting):
    width = data.draw(st.integers(1, 4))
    rows = data.draw(st.lists(st.lists(VALUES, min_size=width, max_size=width), min_size=1))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, delimiter=dialect.delimiter, quoting=quoting)
            writer.writerow([f"c{i}" for i in range(width)])
            writer.writerows(rows)
        assert (
            same(path.read_bytes(), Dialect(dialect.delimiter, "utf-8", dialect.header)) is not None
        )


def drained(stream, size):
    return b"".join(iter(partial(stream.read, size), b""))


@pytest.mark.parametrize("size", [7, 16, 33])
def test_marks_are_followed_from_block_to_block(write, monkeypatch, size):
    monkeypatch.setattr(quick, "_BLOCK", size)
    path = write("a,b\n" + '"x""y",2\n"p,\nq","""r"""\n' * 20)
    stream = quick._Checked(path.open("rb"), Dialect(), 1)
    assert drained(stream, size) == path.read_bytes()
    for broken in ('x"y,1\n', '"x"y,1\n', '"x\n', '"x" ,1\n'):
        path = write("a,b\n" + "1,2\n" * 9 + broken)
        stream = quick._Checked(path.open("rb"), Dialect(), 1)
        with pytest.raises(quick._DoubtfulError):
            drained(stream, size)


def columns_of(kind, rows):
    rng = np.random.default_rng(3)
    numbers = [f"{x:.6g}" for x in rng.normal(size=rows)]
    return {
        "numbers": numbers,
        "late name": [*numbers[:-1], "unknown"],
        "late zero": [*map(str, range(10, rows + 9)), "05"],
        "late comma": [*numbers[:-1], "1,5"],
        "tokens": ["NA" if i % 9 == 0 else x for i, x in enumerate(numbers)],
        "spaces": [f" {x}" if i % 7 == 0 else x for i, x in enumerate(numbers)],
        "huge": [str(2**53 + i) for i in range(rows)],
        "names": [f"name {i % 5000}" for i in range(rows)],
        "few": ["no" if i % 3 else "yes" for i in range(rows)],
        "ids": [f"p{i:07d}x" for i in range(rows)],
        "empty": [""] * rows,
    }[kind]


KINDS = ("numbers", "late name", "late zero", "late comma", "tokens", "spaces", "huge", "names")


def test_long_files_in_many_blocks_are_read_alike(tmp_path, monkeypatch):
    monkeypatch.setattr(quick, "_BLOCK", 1 << 14)
    names = (*KINDS, "few", "ids", "empty")
    path = tmp_path / "long.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        writer.writerows(zip(*(columns_of(kind, 3_000) for kind in names), strict=True))
    for dialect in (Dialect(missing=("NA",)), Dialect(decimal=","), Dialect(header=False)):
        assert same(path.read_bytes(), dialect) is not None


def test_the_quick_way_is_taken_for_large_files_and_changes_nothing(write, monkeypatch):
    text = "a,b,c\n" + "".join(f"{i / 7},{'x' if i % 2 else 'NA'},{i % 5}\n" for i in range(400))
    path = write(text)
    slow = reading.read_table(path)
    taken = []
    monkeypatch.setattr(reading, "SMALL", 10)
    monkeypatch.setattr(quick, "read_quickly", lambda *a: taken.append(1) or read_quickly(*a))
    fast = reading.read_table(path)
    assert taken
    assert (fast.source, fast.columns) == (slow.source, slow.columns)
    np.testing.assert_array_equal(fast.codes, slow.codes)


def test_large_files_that_only_the_plain_reader_can_read_are_packed(write, monkeypatch):
    text = "a,b\n" + "".join(f'5" pipe,{i}\n' for i in range(200))
    path = write(text)
    assert read_quickly(path, Dialect()) is None
    slow = reading.read_table(path)
    monkeypatch.setattr(reading, "SMALL", 10)
    monkeypatch.setattr(plain, "SMALL", 10)
    monkeypatch.setattr(plain, "_CELLS_AT_ONCE", 50)
    fast = reading.read_table(path)
    assert type(read_cells(path, Dialect()).columns[0]).__name__ == "PackedTexts"
    assert (fast.source, fast.columns) == (slow.source, slow.columns)
    np.testing.assert_array_equal(fast.codes, slow.codes)


def test_errors_of_large_files_name_the_line(write, monkeypatch):
    monkeypatch.setattr(reading, "SMALL", 10)
    with pytest.raises(DataError, match="Line 402 of"):
        reading.read_table(write("a,b\n" + "1,2\n" * 400 + "3\n"), Dialect())
    with pytest.raises(DataError, match="NUL character in line 402"):
        reading.read_table(write("a,b\n" + "1,2\n" * 400 + "3,\0\n"), Dialect())
    with pytest.raises(DataError, match="near line 402"):
        reading.read_table(write("a,b\n" + "1,2\n" * 400 + '3,"4\n'), Dialect())
    with pytest.raises(DataError, match="not written in the encoding"):
        reading.read_table(write("a,b\n" + "1,ö\n" * 400, "cp1252"), Dialect())
    long = "x" * (csv.field_size_limit() + 1)
    with pytest.raises(DataError, match="near line 402"):
        reading.read_table(write("a,b\n" + "1,2\n" * 400 + f"3,{long}\n"), Dialect())


def test_caps_hold_for_large_files(write, monkeypatch):
    monkeypatch.setattr(reading, "SMALL", 10)
    monkeypatch.setattr(plain, "MOST_CELLS", 100)
    with pytest.raises(DataError, match="more than 100 cells"):
        reading.read_table(write("a,b\n" + "1,2\n" * 400), Dialect())


def test_guessing_is_the_same_either_way(write):
    path = write("a;b;c\n" + "".join(f"{i},5;None;{i}\n" for i in range(50)) + "?;x;-\n")
    layout = Dialect(delimiter=";")
    assert guess_content(layout, read_quickly(path, layout)) == guess_content(
        layout, read_cells(path, layout)
    )
    assert guess_content(layout, read_quickly(path, layout)).decimal == ","


def test_whoever_watches_is_told_how_far_it_is(write, monkeypatch):
    monkeypatch.setattr(reading, "_TELL_SECONDS", 0)
    monkeypatch.setattr(reading, "SMALL", 10)
    told = []
    reading.read_table(write("a,b\n" + "1,2\n" * 4000), None, told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert any(share < 1 for share in told)
