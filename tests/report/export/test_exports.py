"""Exports: they say what the store holds, can be read back, and harm no spreadsheet."""

import csv
import errno
import json

import msgspec
import numpy as np
import pytest

from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.data.table import Dialect, Kind
from fairdesk.errors import ReportError
from fairdesk.report import writing
from fairdesk.report.export import exports, findings
from fairdesk.report.export.tables import guarded
from tests import phrases
from tests.report.building import people_store, run_into, spec_of, write_people

#: Sex decides most, so that there is much to find.
UNFAIR = [[1], [2], [1], [1], [1]]
FEW = {"global_num": 30, "local_num": 20}


@pytest.fixture
def store(tmp_path):
    with people_store(tmp_path) as store:
        run_into(store, options=FEW, weights=UNFAIR)
        yield store


def rows_of(path, **kwargs):
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream, **kwargs))


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("-5", "-5"),
        ("+1.5e-3", "+1.5e-3"),
        ("-3,5", "-3,5"),
        ("<=50K", "<=50K"),
        ("", ""),
    ],
)
def test_guard_against_formulas(text, safe):
    assert guarded(text) == safe


def test_findings_csv_has_every_pair_in_the_datas_own_words(store, tmp_path):
    first = next(store.each_pair(PairQuery()))
    store.mark(first.id, "flagged")
    store.note(first.id, "=HYPERLINK(1)")
    path = tmp_path / "findings.csv"
    findings.write_findings_csv(store, path)
    rows = rows_of(path)
    assert len(rows) == store.count(PairQuery()) > 100
    domain = store.spec.domain
    for row, pair in zip(rows, store.each_pair(PairQuery()), strict=True):
        assert row["pair"] == str(pair.id)
        assert row["method"] == "maft"
        assert float(row["income"]) == pair.row[domain.names.index("income")]
        assert {row["sex"], row["sex (counterfactual)"]} == {"female", "male"}
        assert {row["decision"], row["decision (counterfactual)"]} == {"yes", "no"}
        assert float(row["score"]) == pytest.approx(pair.row_score, abs=1e-8)
        assert row["enough alone"] == "sex"
    assert rows[0]["review status"] == "flagged"
    assert rows[0]["note"] == "'=HYPERLINK(1)"


def test_findings_csv_is_a_table_that_fairdesk_reads(store, tmp_path):
    path = tmp_path / "findings.csv"
    findings.write_findings_csv(store, path)
    table = read_table(path)
    assert len(table.codes) == store.count(PairQuery())
    pairs = list(store.each_pair(PairQuery()))
    income = store.spec.domain.names.index("income")
    assert np.array_equal(
        table.codes[:, table.index("income")], [pair.row[income] for pair in pairs]
    )


def test_hostile_names_and_values_are_guarded_in_the_findings(tmp_path):
    data = tmp_path / "hostile.csv"
    lines = ["=name,sex,note,ok"]
    lines += [f'@v{i % 2},"{"fm"[i % 2]}",{i % 5},{("no", "yes")[i % 3 > 0]}' for i in range(40)]
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = read_table(data)
    spec = spec_of(table, "ok", "yes", ("sex",))
    with Store.create(tmp_path / "a.fairdesk", spec, table) as store:
        run_into(store, options=FEW, weights=[[0.1], [1], [0.1]])
        findings.write_findings_csv(store, tmp_path / "findings.csv")
    rows = rows_of(tmp_path / "findings.csv")
    assert {row["'=name"] for row in rows} <= {"'@v0", "'@v1"}
    # the data have a column of that name: ours gives way
    assert {"note", "note (FairDesk)"} <= set(rows[0])


def test_findings_json_holds_question_runs_and_pairs(store, tmp_path):
    path = tmp_path / "findings.json"
    findings.write_findings_json(store, path)
    content = json.loads(path.read_bytes())
    assert content["spec"]["data"]["sha256"] == store.spec.data.sha256
    assert content["guessed_codes"] == list(store.spec.mapping.guessed)
    assert [run["state"] for run in content["runs"]] == ["done"]
    assert len(content["pairs"]) == content["runs"][0]["found"] == store.count(PairQuery())
    first = next(store.each_pair(PairQuery()))
    pair = content["pairs"][0]
    assert pair["score"] == [first.row_score, first.partner_score]
    assert set(pair["instance"]) == set(store.spec.domain.names)
    assert pair["instance"]["sex"] != pair["counterfactual"]["sex"]
    assert isinstance(pair["instance"]["age"], int)
    assert pair["enough_alone"] == ["sex"]


def test_findings_of_an_audit_without_runs_are_empty(tmp_path):
    with people_store(tmp_path) as store:
        findings.write_findings_csv(store, tmp_path / "findings.csv")
        findings.write_findings_json(store, tmp_path / "findings.json")
        exports.write_retraining_csv(store, tmp_path / "retraining.csv")
    assert rows_of(tmp_path / "findings.csv") == []
    assert json.loads((tmp_path / "findings.json").read_bytes())["pairs"] == []
    table = read_table(tmp_path / "retraining.csv")
    assert len(table.codes) == 200


@pytest.mark.parametrize(
    ("delimiter", "decimal", "missing"), [(",", ".", "?"), (";", ",", "NA"), ("\t", ".", "-")]
)
def test_retraining_file_is_written_like_the_data(tmp_path, delimiter, decimal, missing):
    data = write_people(
        tmp_path / "data.csv", delimiter=delimiter, decimal=decimal, missing=missing
    )
    table = read_table(
        data, Dialect(delimiter=delimiter, decimal=decimal, missing=(missing,), encoding="utf-8")
    )
    assert table.column("income").kind is Kind.REAL
    spec = spec_of(table, "credit", "yes", ("sex",))
    with Store.create(tmp_path / "a.fairdesk", spec, table) as store:
        run_into(store, options=FEW, weights=UNFAIR)
        out = tmp_path / "retraining.csv"
        exports.write_retraining_csv(store, out)
    again = read_table(out, table.source.dialect)
    assert again.names == table.names
    for column in ("age", "sex", "job", "income", "debts", "credit"):
        i = table.index(column)
        assert [again.columns[i].text(code) for code in again.codes[:200, i].tolist()] == [
            table.columns[i].text(code) for code in table.codes[:, i].tolist()
        ]
    added = again.codes[200:]
    assert len(added) == 20


def test_retraining_pairs_are_alike_in_all_but_sex_and_have_one_label(store, tmp_path):
    out = tmp_path / "retraining.csv"
    exports.write_retraining_csv(store, out, share=0.2)
    added = rows_of(out)[200:]
    assert len(added) == 40
    for one, other in zip(added[::2], added[1::2], strict=True):
        assert {one["sex"], other["sex"]} == {"female", "male"}
        assert one["credit"] == other["credit"]
        assert {k: v for k, v in one.items() if k != "sex"} == {
            k: v for k, v in other.items() if k != "sex"
        }


def test_the_label_is_the_decision_the_model_is_surer_of(store, tmp_path):
    out = tmp_path / "retraining.csv"
    exports.write_retraining_csv(store, out)
    by_person = {
        (row["age"], row["income"], row["debts"]): row["credit"] for row in rows_of(out)[200:]
    }
    column = {name: i for i, name in enumerate(store.spec.domain.names)}
    seen = 0
    for pair in store.each_pair(PairQuery()):
        key = (
            str(int(pair.row[column["age"]])),
            repr(float(pair.row[column["income"]])),
            str(int(pair.row[column["debts"]])),
        )
        if key in by_person:
            seen += 1
            surest = max(pair.row_score, pair.partner_score, key=lambda score: abs(score - 0.5))
            assert by_person[key] == ("yes" if surest > 0.5 else "no")
    assert seen >= 10


def test_flagged_pairs_come_first_and_dismissed_ones_never(store, tmp_path):
    pairs = list(store.each_pair(PairQuery()))
    for pair in pairs[1:]:
        store.mark(pair.id, "dismissed")
    store.mark(pairs[-1].id, "flagged")
    out = tmp_path / "retraining.csv"
    exports.write_retraining_csv(store, out)
    added = rows_of(out)[200:]
    age = store.spec.domain.names.index("age")
    assert [row["age"] for row in added[::2]] == [
        str(int(pair.row[age])) for pair in (pairs[-1], pairs[0])
    ]


def test_retraining_choice_is_spread_over_the_findings_and_repeatable(store, tmp_path):
    exports.write_retraining_csv(store, tmp_path / "one.csv")
    exports.write_retraining_csv(store, tmp_path / "two.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    pairs = list(store.each_pair(PairQuery()))
    ages = {str(int(pair.row[0])) for pair in pairs[len(pairs) // 2 :]}
    assert rows_of(tmp_path / "one.csv")[-1]["age"] in ages


def test_what_two_runs_found_is_added_once(store, tmp_path):
    run_into(store, options=FEW, weights=UNFAIR)
    exports.write_retraining_csv(store, tmp_path / "retraining.csv", share=1.0)
    added = [tuple(row.values()) for row in rows_of(tmp_path / "retraining.csv")[200:]]
    assert len(added) == len(set(added))


def test_a_header_less_file_stays_header_less(tmp_path):
    data = write_people(tmp_path / "data.csv")
    text = data.read_text(encoding="utf-8").split("\n", 1)[1]
    data.write_text(text, encoding="utf-8")
    table = read_table(data, Dialect(header=False, missing=("?",)))
    label, sex = table.names[6], table.names[1]
    with Store.create(
        tmp_path / "a.fairdesk", spec_of(table, label, "yes", (sex,)), table
    ) as store:
        exports.write_retraining_csv(store, tmp_path / "retraining.csv")
    written = (tmp_path / "retraining.csv").read_text(encoding="utf-8")
    assert len(written.splitlines()) == len(text.splitlines())
    assert written.split(",", 3)[:3] == text.split(",", 3)[:3]


def test_a_number_limited_to_values_is_written_as_the_number(tmp_path):
    table = read_table(write_people(tmp_path / "data.csv"))
    attributes = tuple(
        attribute_of(
            column,
            Role.PROTECTED if column.name == "sex" else Role.VARIES,
            [1, 3, 5] if column.name == "debts" else None,
        )
        for column in table.columns
        if column.name in ("age", "sex", "debts")
    )
    spec = spec_of(table, "credit", "yes", ("sex",), domain=Domain(attributes))
    with Store.create(tmp_path / "a.fairdesk", spec, table) as store:
        run_into(store, options=FEW, weights=[[1], [2], [1]])
        exports.write_retraining_csv(store, tmp_path / "retraining.csv")
        findings.write_findings_json(store, tmp_path / "findings.json")
    added = rows_of(tmp_path / "retraining.csv")[200:]
    assert {row["debts"] for row in added} <= {"1", "3", "5"}
    # what the search does not know is missing
    assert {row["job"] for row in added} == {"?"}
    found = json.loads((tmp_path / "findings.json").read_bytes())["pairs"]
    assert {pair["instance"]["debts"] for pair in found} <= {1, 3, 5}


def grades_store(tmp_path, classes):
    data = tmp_path / "grades.csv"
    lines = ["sex,points,grade"]
    lines += [f"{'fm'[i % 2]},{i % 11},{'ABC'[i % 3]}" for i in range(60)]
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = read_table(data)
    spec = spec_of(table, "grade", "A", ("sex",), classes=classes, favourable_class=0)
    store = Store.create(tmp_path / "a.fairdesk", spec, table)
    run_into(store, options=FEW, weights=[[2, -1, 0], [1, 0.5, -1]])
    return store


def test_classes_of_many_are_label_values_by_name(tmp_path):
    with grades_store(tmp_path, ("A", "B", "C")) as store:
        assert store.count(PairQuery())
        exports.write_retraining_csv(store, tmp_path / "retraining.csv")
    added = rows_of(tmp_path / "retraining.csv")[60:]
    assert added
    assert {row["grade"] for row in added} <= {"A", "B", "C"}


def test_a_class_that_is_no_label_value_is_refused_in_plain_words(tmp_path):
    with (
        grades_store(tmp_path, ("A", "second", "third")) as store,
        pytest.raises(ReportError, match="not a value of the recorded outcome “grade”"),
    ):
        exports.write_retraining_csv(store, tmp_path / "retraining.csv", share=1.0)
    assert not (tmp_path / "retraining.csv").exists()


def test_missing_folder(store, tmp_path):
    with pytest.raises(ReportError, match="does not exist"):
        findings.write_findings_csv(store, tmp_path / "nowhere" / "findings.csv")


def test_a_folder_where_the_file_should_be(store, tmp_path):
    (tmp_path / "findings.csv").mkdir()
    with pytest.raises(ReportError, match="is a folder"):
        findings.write_findings_csv(store, tmp_path / "findings.csv")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "is full"),
        (errno.EACCES, f"You {phrases.MAY_NOT_WRITE}"),
        (errno.EIO, "System message"),
    ],
)
def test_what_fails_half_way_leaves_the_old_file_and_no_rubbish(tmp_path, number, words):
    path = tmp_path / "findings.csv"
    path.write_text("old", encoding="utf-8")

    def fail():
        with writing.replacing(path) as draft:
            draft.write_text("half", encoding="utf-8")
            raise OSError(number, "no")

    with pytest.raises(ReportError, match=words):
        fail()
    assert [one.name for one in tmp_path.iterdir()] == ["findings.csv"]
    assert path.read_text(encoding="utf-8") == "old"


def test_class_zero_can_be_the_favourable_one(tmp_path):
    table = read_table(write_people(tmp_path / "data.csv"))
    spec = spec_of(table, "credit", "no", ("sex",), favourable_class=0)
    with Store.create(tmp_path / "a.fairdesk", spec, table) as store:
        run_into(store, options=FEW, weights=UNFAIR)
        findings.write_findings_csv(store, tmp_path / "findings.csv")
    for row in rows_of(tmp_path / "findings.csv"):
        assert (float(row["score"]) >= 0.5) == (row["decision"] == "no")
    assert msgspec.json.encode(spec)
