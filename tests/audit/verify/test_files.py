"""Data and model at hand, held against the audited ones."""

import msgspec
import numpy as np
import pytest

from fairdesk.audit.verify.files import (
    check_data_file,
    check_model_files,
    check_table,
    open_again,
)
from fairdesk.data.columns.rereading import retype, with_reading
from fairdesk.data.formats.reading import read_table
from fairdesk.data.table import ColumnReading, Kind, Table
from fairdesk.errors import ModelError
from fairdesk.files import sha256
from fairdesk.models.model import Companion
from tests import phrases


def write(path, *rows):
    path.write_text("\n".join(("size,level,code,note", *rows)) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def file(tmp_path):
    return write(tmp_path / "data.csv", "S,low,1,a", "M,high,2,b", "?,middle,1,a", "L,low,3,")


def test_the_same_file_gives_the_same_table(file):
    table = read_table(file)
    found = check_table(table, read_table(file, table.source.dialect))
    assert (found.tried, found.failed, found.remarks) == (16, 0, ())


def test_a_column_may_have_been_given_another_kind_and_names_another_order(file):
    table = read_table(file)
    kept = retype(retype(table, "code", Kind.NOMINAL), "note", Kind.IGNORED)
    place = kept.index("level")
    # as the auditor has put them: the codes are others, what they say is not
    column = msgspec.structs.replace(
        kept.columns[place], kind=Kind.ORDINAL, values=("low", "middle", "high")
    )
    codes = kept.codes.copy()
    codes[:, place] = [0, 2, 1, 0]
    columns = (*kept.columns[:place], column, *kept.columns[place + 1 :])
    found = check_table(Table(kept.source, columns, codes), table)
    assert (found.tried, found.failed) == (16, 0)


def test_odd_cells_are_read_as_the_audit_decided_and_compared(tmp_path):
    rows = [f"S,low,{i},a" for i in range(40)]
    rows[7] = "S,low,$45,a"
    file = write(tmp_path / "odd.csv", *rows)
    found = read_table(file)
    mended = with_reading(found.source.dialect, "code", ColumnReading(odd="mended"))
    kept = read_table(file, mended)
    assert kept.codes[7, 2] == 45
    again = read_table(file, kept.source.dialect)
    assert (check_table(kept, again).failed, check_table(kept, again).tried) == (0, 160)
    told = check_table(kept, found).remarks
    assert "The odd cells of “code” in the file differ from those" in told[0]
    assert "In row 8 “code” is “45” in the audit and “” in the file." in told


def test_each_cell_that_differs_is_counted_and_the_first_are_told(file, tmp_path):
    kept = read_table(file)
    other = write(tmp_path / "other.csv", "S,low,1,a", "M,low,2,b", "?,middle,9,a", "L,low,3,c")
    found = check_table(kept, read_table(other, kept.source.dialect))
    assert found.failed == 3
    assert "In row 2 “level” is “high” in the audit and “low” in the file." in found.remarks
    assert "In row 3 “code” is “1” in the audit and “9” in the file." in found.remarks


def test_a_column_that_no_longer_holds_numbers_is_told_as_a_whole(file, tmp_path):
    kept = read_table(file)
    other = write(tmp_path / "o.csv", "S,low,one,a", "M,high,two,b", "?,middle,one,a", "L,low,x,")
    found = check_table(kept, read_table(other, kept.source.dialect))
    assert found.failed == 4
    assert f"“code” {phrases.NO_NUMBERS}" in found.remarks[0]


def test_other_rows_and_other_columns(file, tmp_path):
    kept = read_table(file)
    fewer = write(tmp_path / "fewer.csv", "S,low,1,a", "M,high,2,b")
    assert "2 rows, and the audit has 4" in check_table(kept, read_table(fewer)).remarks[0]
    (tmp_path / "names.csv").write_text("a,b\n1,2\n3,4\n")
    assert "other names" in check_table(kept, read_table(tmp_path / "names.csv")).remarks[0]


def test_an_empty_column_is_as_it_was(tmp_path):
    file = tmp_path / "empty.csv"
    file.write_text("a,b\n1,\n2,\n")
    table = read_table(file)
    assert np.isnan(table.codes[:, 1]).all()
    assert check_table(table, read_table(file)).failed == 0


def test_fingerprints_of_data_model_and_what_lies_beside_it(spec, tmp_path):
    names = ("model.bin", "scaler.bin", "order.json")
    model, scaler, order = (tmp_path / name for name in names)
    for path in (model, scaler, order):
        path.write_bytes(path.name.encode())
    beside = tuple(Companion(f"/then/{path.name}", sha256=sha256(path)) for path in (scaler, order))
    card = msgspec.structs.replace(spec.model, sha256=sha256(model), companions=beside)
    spec = msgspec.structs.replace(spec, model=card)
    found = check_model_files(spec, model, ())
    assert (found.tried, found.failed, found.unknown) == (3, 0, 0)
    # one that lies elsewhere is known by what it is
    order.rename(tmp_path / "elsewhere.json")
    found = check_model_files(spec, model, ())
    assert (found.failed, found.unknown) == (0, 1)
    assert "--companion" in found.remarks[0]
    found = check_model_files(spec, model, (tmp_path / "elsewhere.json",))
    assert (found.failed, found.unknown) == (0, 0)
    scaler.write_bytes(b"another")
    found = check_model_files(spec, model, (tmp_path / "elsewhere.json",))
    assert found.failed == 1
    assert "“scaler.bin”" in found.remarks[0]
    # one that is given for the missing one is compared, also under another name
    scaler.write_bytes(b"scaler.bin")
    for name in ("elsewhere.json", "order.json", "what.json"):
        path = tmp_path / "given" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"changed")
        found = check_model_files(spec, model, (path,))
        assert (found.failed, found.unknown) == (1, 0)
        assert f"that of “{name}” is" in found.remarks[0]
    with pytest.raises(ModelError, match="cannot be read"):
        check_data_file(spec, tmp_path / "none.csv")


def test_what_lay_beside_the_model_on_windows_lies_beside_it_here(spec, tmp_path):
    names = ("model.bin", "scaler.bin")
    model, scaler = (tmp_path / name for name in names)
    for path in (model, scaler):
        path.write_bytes(path.name.encode())
    beside = (Companion(r"C:\models\scaler.bin", sha256=sha256(scaler)),)
    card = msgspec.structs.replace(spec.model, sha256=sha256(model), companions=beside)
    spec = msgspec.structs.replace(spec, model=card)
    found = check_model_files(spec, model, ())
    assert (found.tried, found.failed, found.unknown) == (2, 0, 0)
    opened = []

    class Worker:
        def open_model(self, path, **about):
            opened.append((path, *(each.path for each in about["companions"])))

    open_again(Worker(), spec, model, (), lambda _said: None, trusted=False, make_environment=False)
    assert opened == [(model, str(scaler))]
    scaler.write_bytes(b"changed")
    assert check_model_files(spec, model, ()).failed == 1
