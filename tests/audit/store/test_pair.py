"""A pair's fields: each is declared, and what is declared is stored, exported and shown."""

import csv
import json
import sqlite3
from contextlib import closing

from fairdesk.audit.store.pair import FIELDS, FOUND, Pair, found_values, sides
from fairdesk.audit.store.records import PairQuery
from fairdesk.report.export.findings import write_findings_csv, write_findings_json
from tests.report.building import people_store, run_into


def test_a_field_that_is_not_declared_cannot_be_overlooked(findings):
    assert set(FIELDS) == set(Pair.__struct_fields__) - {"row", "partner"}
    found = findings(7)
    values = found_values(found, 1)
    assert list(values) == list(FOUND)
    assert all(each.shape == (7,) for each in values.values())


def test_what_is_declared_is_a_column_of_the_file_and_of_the_exports(tmp_path):
    with people_store(tmp_path) as store:
        run_into(store, weights=[[1], [2], [1], [1], [1]])
        (pair, *_) = store.pairs(PairQuery(), 0, 1)
        write_findings_csv(store, tmp_path / "findings.csv")
        write_findings_json(store, tmp_path / "findings.json")
        path = store.path
    with closing(sqlite3.connect(path)) as file:
        columns = {name: kind for _, name, kind, *_ in file.execute("PRAGMA table_info(finding)")}
    with (tmp_path / "findings.csv").open(encoding="utf-8-sig", newline="") as stream:
        line = next(csv.DictReader(stream))
    (entry, *_) = json.loads((tmp_path / "findings.json").read_text())["pairs"]
    for name, field in FIELDS.items():
        assert columns[name] == field.column.split()[0]
        assert isinstance(getattr(pair, name), int | float | str | tuple | None)
        if field.export:
            other = " (counterfactual)" if name != sides(name)[0] else ""
            assert field.export + other in line
            assert (field.member or field.export) in entry
