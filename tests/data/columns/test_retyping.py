"""Excluded columns that are needed after all get the type that was decided."""

import pytest

from fairdesk.data.columns.rereading import included, retype
from fairdesk.data.formats.reading import read_table
from fairdesk.data.table import AS_THEY_ARE, Dialect, Kind


@pytest.mark.parametrize(
    ("reading", "kind", "first"),
    [({}, Kind.INTEGER, ()), ({"code": AS_THEY_ARE}, Kind.NOMINAL, "1001")],
)
def test_an_identifier_of_digits_is_text_where_it_was_kept_as_it_is(reading, kind, first, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("code,x\n" + "".join(f"{1001 + i},{i % 3}\n" for i in range(80)))
    table = retype(read_table(path, Dialect(columns=reading)), "code", Kind.IGNORED)
    column = included(table, ("code",)).column("code")
    assert column.kind is kind
    assert column.values[:1] == ((first,) if first else ())
