"""How a file is written is found: encoding, delimiter, header, decimal mark, missing values."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairdesk.data.formats.delimited import read_delimited
from fairdesk.data.formats.text_layout import (
    guess_delimiter,
    guess_encoding,
    guess_header,
    guess_layout,
)
from fairdesk.data.table import Dialect
from fairdesk.errors import DataError

PEOPLE = "Name{d}Größe{d}Ort\nAnn{d}1,80{d}Köln\nJosé{d}1,65{d}Łódź\nZoë{d}1,70{d}Paris\n"


def sniff(path):
    return read_delimited(path, None, lambda share: None)[1]


@pytest.mark.parametrize("delimiter", [";", "\t", "|", "^", "~", ":"])
@pytest.mark.parametrize(
    ("encoding", "named"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32"),
    ],
)
def test_delimiter_and_encoding_are_found(write, delimiter, encoding, named):
    path = write(PEOPLE.format(d=delimiter), encoding)
    assert sniff(path) == Dialect(delimiter=delimiter, encoding=named, decimal=",")


def test_old_encodings_lose_nothing(write):
    assert guess_encoding(write("a,b\nKöln,“x”\n", "cp1252")) == "cp1252"
    assert guess_encoding(write(bytes(range(1, 256)))) == "latin-1"
    assert guess_encoding(write("a,b\nKöln".encode()[:-1] + b"\xc3")) == "cp1252"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary().filter(lambda data: b"\0" not in data))
def test_every_text_file_can_be_decoded(write, data):
    path = write(b"a" + data)
    path.read_text(encoding=guess_encoding(path))


def test_a_long_file_is_looked_at_to_its_end(write):
    assert guess_encoding(write("a,b\n" + "x,1\n" * 300_000 + "é,1\n", "cp1252")) == "cp1252"
    with pytest.raises(DataError, match="zero bytes"):
        guess_encoding(write("a,b\n" + "x,1\n" * 300_000 + "\0,1\n"))


def test_what_is_no_text_is_refused(write):
    with pytest.raises(DataError, match="workbook"):
        sniff(write(b"PK\x03\x04\x14\0", name="people.xlsx"))
    with pytest.raises(DataError, match="zero bytes"):
        sniff(write(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"))


@pytest.mark.parametrize("text", ["", "\n\n", "  \n", "\ufeff"])
def test_empty_files_are_refused(write, text):
    with pytest.raises(DataError, match="is empty"):
        sniff(write(text))


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("1,5;2,5;x\n2,5;3,5;y\n", ";"),
        ("text\nHello world, you\nNo\n", ","),
        ("only\n1\n2\n", ","),
        ("a b c\n1 2 3\n4 5 6\n", " "),
        ("full name\nAnn Lee\nBob Ray\n", ","),
        ('a,b\n"x;y",1\n"p;q;r",2\n', ","),
        ("time\n12:30\n13:40\n", ","),
        ("a,b,c\n1,2,3\n4,5\n", ","),
    ],
)
def test_delimiters(text, delimiter):
    assert guess_delimiter(text.splitlines(keepends=True)) == delimiter


def test_a_row_that_the_sample_cuts_does_not_count():
    sample = ["a;b\n", "1;2\n", '"x\n']
    assert guess_delimiter(sample, cut=True) == ";"


def test_excel_may_name_the_delimiter(write):
    assert sniff(write("sep=#\na#b\n1#2\n3#4\n")).delimiter == "#"


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("age,sex\n3,m\n4,f\n", True),
        ("3,m\n4,f\n5,m\n", False),
        ("1,2\n3,4\n", False),
        ("sex,married\nmale,yes\nfemale,no\nmale,no\n", True),
        ("male,yes\nfemale,no\nmale,no\nmale,yes\n", False),
        ("0,1,2,3\n5,6,7,8\n9,9,9,9\n", True),
        (",age\n0,20\n1,30\n", True),
        ("name,2019,2020\nx,1,2\ny,3,4\n", False),
        ("n,2019,2020\n7,1,2\n8,3,4\n", True),
        ("?,2\n1,3\n4,5\n", False),
        ("größe\n1,5\n1,7\n", True),
        ("a,b\n", True),
        ("1,b\n", False),
        (",,\n,,\n", True),
    ],
)
def test_headers(text, header):
    rows = [line.split(";" if "größe" in line else ",") for line in text.splitlines()]
    if "größe" in text:
        rows = [[line] for line in text.splitlines()]
    assert guess_header(rows) is header


def test_a_word_above_sentences_is_a_header():
    prose = [[f"{i} is what somebody once wrote at some length about toxic things", "toxic"]
             for i in range(30)]  # fmt: skip
    assert guess_header([["text", "toxic"], *prose])


def test_headers_of_nothing():
    assert guess_header([])


def test_missing_tokens_are_found_and_ordered(write):
    path = write("a,b,c\n1,NA,x\n?,2, ? \nn/a,NaN,null\n,3,unknown\n4,nan,y\n")
    assert sniff(path).missing == ("?", "NA", "n/a", "NaN", "nan", "null")


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["1", "2", "-"], ("-",)),
        (["a", "b", "None"], ("None",)),
        (["none", "bank", "stores"], ()),
        (["yes", "None"], ()),
        (["+", "-", "x", "y"], ()),
        (["+", "-"], ()),
        (["unknown", "x"], ()),
        (["None", "-"], ("None", "-")),
    ],
)
def test_doubtful_tokens_count_where_a_column_still_says_something(write, cells, found):
    text = "number,token\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells))
    assert sniff(write(text)).missing == found


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("a;b\n1,5;x\n2;y\n", ","),
        ("a;b\n1.5;x\n2;y\n", "."),
        ("a;b\n1.234;5\n2;6\n", "."),
        ("a;b\n0,917;5\n2;6\n", ","),
        ('a,b\n"1,5",x\n"2,25",y\n', ","),
        ('a,b\n"1,234",x\n"12,500",y\n', "."),
        ("a;b;c\n1,5;0.5;0.7\n2,5;0.5;0.1\n", "."),
        ("a,b\n1,2\n3,4\n", "."),
        ("a;b\n?;x\n2,5;y\n", ","),
        ("a;b\nx,y;1\ny,z;2\n", "."),
    ],
)
def test_decimal_marks(write, text, decimal):
    assert sniff(write(text)).decimal == decimal


def test_uneven_files_still_have_a_layout(write):
    assert guess_layout(write("a;b\n1;2\n3\n4;5\n?;6\n")) == Dialect(delimiter=";")
