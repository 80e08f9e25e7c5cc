"""A table that is split at random places is the table that is read at once."""

import csv
import io
import random
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from msgspec.structs import replace
from pyarrow import parquet

from fairdesk.data.columns.rereading import retype
from fairdesk.data.formats import parts
from fairdesk.data.formats.parts import blocks
from fairdesk.data.formats.reading import read_table
from fairdesk.data.table import ColumnReading, Dialect, Kind, NumberFormat
from tests.sizes import many

ROWS = 1_200


def rare(rng, usual, other, most=3):
    """Return cells, a few of which, towards the end, are other ones."""
    cells = [usual() for _ in range(ROWS)]
    for place in rng.sample(range(ROWS // 2, ROWS), rng.randint(1, most)):
        cells[place] = other()
    return cells


def columns(rng):
    """Return columns in which what comes late decides how the early cells are to be read."""
    euros = lambda: f"{rng.uniform(1, 9e4):,.2f}".translate(str.maketrans(",.", ".,")) + " €"  # noqa: E731
    return {
        "id": list(range(ROWS)),
        "key": [f"k{i:07}" for i in rng.sample(range(10**7), ROWS)],
        "sex": rare(rng, lambda: rng.choice(["f", "m"]), lambda: rng.choice(["x", "", "?"])),
        "age": rare(rng, lambda: rng.randint(18, 90), lambda: rng.choice(["NA", "", "17.5"])),
        # a comma that may group thousands, until one cannot
        "income": rare(rng, lambda: f"{rng.randint(1, 99)},{rng.randint(100, 999)}", lambda: "1,5"),
        "debt": rare(rng, lambda: str(rng.randint(0, 3000)), euros, 400),
        "paid": [euros() for _ in range(ROWS)],
        "score": rare(rng, lambda: repr(rng.gauss(0, 1)), lambda: rng.choice(["1e-7", "oops"])),
        "level": rare(rng, lambda: rng.choice(["low", "high"]), lambda: "medium"),
        "city": rare(rng, lambda: rng.choice(["Köln", "Bonn"]), lambda: "KÃ¶ln"),
        "none": rare(rng, lambda: "None", lambda: rng.choice(["None", "+"])),
    }


def write(path, names, rows):
    stream = io.StringIO()
    csv.writer(stream, delimiter=";").writerows([names, *rows])
    path.write_text(stream.getvalue(), encoding="utf-8")


def split(rng, tmp_path, made):
    """Write a table in one file, and in parts of random sizes."""
    rows = list(zip(*made.values(), strict=True))
    write(tmp_path / "whole.csv", made, rows)
    (tmp_path / "parts").mkdir()
    ends = [0, *sorted(rng.sample(range(2, ROWS - 2), rng.randint(1, 5))), ROWS]
    for place, (start, stop) in enumerate(pairwise(ends)):
        write(tmp_path / "parts" / f"{place}.csv", made, rows[start:stop])


def without_lines(table):
    """Return a table's columns without the lines of their cells: parts have lines of their own."""
    return tuple(
        replace(
            each,
            odd=tuple(replace(cell, lines=()) for cell in each.odd),
            garbled=tuple(replace(text, lines=()) for text in each.garbled),
        )
        for each in table.columns
    )


def all_rows(table):
    return np.concatenate([each.codes for each in blocks(table.source, table.columns)])


@pytest.fixture(params=range(many(8)))
def table(request, tmp_path, monkeypatch):
    """Columns in one file and in parts, and what reads both; blocks are short."""
    monkeypatch.setattr(parts, "_BLOCK_BYTES", 9_000)
    rng = random.Random(request.param)
    made = columns(rng)
    split(rng, tmp_path, made)
    decided = Dialect(
        delimiter=";",
        decimal=",",
        missing=("?", "", "17.5"),
        encoding_mended=True,
        columns={
            "score": ColumnReading(odd="mended", cells={"oops": 7.0}),
            "paid": ColumnReading(format=NumberFormat(",", ".", "€")),
            "age": ColumnReading(numeric=False),
        },
    )
    how = decided if request.param % 2 else None
    return read_table(tmp_path / "whole.csv", how), tmp_path / "parts", how


def test_what_is_held_whole(table):
    whole, folder, how = table
    found = read_table(folder, how)
    assert found.source.sample is None
    assert found.source.dialect == whole.source.dialect
    assert found.columns == without_lines(whole)
    assert np.array_equal(found.codes, whole.codes, equal_nan=True)
    assert np.array_equal(all_rows(found), whole.codes, equal_nan=True)


def test_what_is_held_as_a_sample(table, monkeypatch):
    monkeypatch.setattr(parts, "SAMPLE_ROWS", 100)
    whole, folder, how = table
    found = read_table(folder, how)
    assert found.source.sample.rows == 100
    assert found.source.dialect == whole.source.dialect
    assert found.columns == without_lines(whole)
    assert np.array_equal(all_rows(found), whole.codes, equal_nan=True)


def test_numbers_of_which_not_all_are_kept(table, monkeypatch):
    monkeypatch.setattr(parts, "SAMPLE_ROWS", 100)
    monkeypatch.setattr(parts, "MOST_VALUES", 40)
    whole, folder, how = table
    found = read_table(folder, how)
    assert found.source.dialect == whole.source.dialect
    codes = all_rows(found)
    for place, column in enumerate(without_lines(whole)):
        if column.kind.is_number or column.name in ("id", "sex", "level", "city", "none"):
            # which texts are odd is known of some only; how many rows they have, of all
            assert replace(found.columns[place], odd=()) == replace(column, odd=())
            assert np.array_equal(codes[:, place], whole.codes[:, place], equal_nan=True)


def test_numbers_that_were_made_names_keep_their_codes_in_each_block(table, monkeypatch):
    monkeypatch.setattr(parts, "SAMPLE_ROWS", 5_000)
    whole, folder, how = table
    found = read_table(folder, how)
    name = "debt"
    if not whole.column(name).kind.is_number:
        return
    retyped = retype(found, name, Kind.NOMINAL)
    expected = retype(whole, name, Kind.NOMINAL)
    assert np.array_equal(
        all_rows(retyped)[:, found.index(name)],
        expected.codes[:, found.index(name)],
        equal_nan=True,
    )


@pytest.mark.parametrize(("late", "odd"), [(1, 1), (300, 0)])
@pytest.mark.parametrize("sampled", [50, 5_000])
def test_numbers_that_a_float_cannot_keep_are_seen_late(tmp_path, monkeypatch, late, odd, sampled):
    monkeypatch.setattr(parts, "SAMPLE_ROWS", sampled)
    monkeypatch.setattr(parts, "BLOCK_ROWS", 100)
    number = np.arange(1_000) % 7
    number[600 : 600 + late] += 2**53 + 1
    table = pa.table({"n": number, "x": np.arange(1_000) / 4})
    parquet.write_table(table, tmp_path / "whole.parquet")
    (tmp_path / "parts").mkdir()
    for place, start in enumerate((0, 400, 950)):
        part = table.slice(start, (400, 550, 50)[place])
        parquet.write_table(part, tmp_path / "parts" / f"{place}.parquet")
    whole, found = read_table(tmp_path / "whole.parquet"), read_table(tmp_path / "parts")
    assert (whole.column("n").odd_rows, bool(whole.column("n").values)) == (odd, not odd)
    assert found.columns == without_lines(whole)
    assert np.array_equal(all_rows(found), whole.codes, equal_nan=True)
