import os
import shutil
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store import file, schema
from fairdesk.audit.store import store as store_module
from fairdesk.audit.store import stored_pairs as pairs_module
from fairdesk.audit.store.records import Details, ModelFile, PairQuery
from fairdesk.audit.store.schema import plain_error, release
from fairdesk.audit.store.store import Store
from fairdesk.certify.proof import certificate
from fairdesk.data.domain.attributes import Role
from fairdesk.data.domain.dependencies import Determined
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Column, Kind
from fairdesk.errors import StoreError
from fairdesk.results.events import Progress
from fairdesk.results.individual import Share
from fairdesk.results.mitigation import Augmented, Retrained
from fairdesk.results.subgroups import RuleSearchSummary, Support
from tests import phrases
from tests.certify.proofs import honest
from tests.plausible import scored
from tests.sizes import many


@pytest.fixture
def filled(store, findings):
    run = store.begin_run(RunSpec("maft", {"global_num": 5}, seed=3))
    store.add(run, findings(300))
    return store


def ids(store, query, offset=0, limit=1_000):
    return [pair.id for pair in store.pairs(query, offset, limit)]


def test_an_audit_is_read_as_it_was_written(tmp_path, store, spec, table):
    with Store.open(store.path) as again:
        assert again.spec == spec
        read = again.table()
    assert read.columns == table.columns
    assert read.source == table.source
    np.testing.assert_array_equal(read.codes, table.codes)


def test_missing_cells_come_back_as_missing(tmp_path, spec, table):
    codes = table.codes.copy()
    codes[3, 0] = np.nan
    with Store.create(
        tmp_path / "missing.fairdesk", spec, type(table)(table.source, table.columns, codes)
    ) as made:
        np.testing.assert_array_equal(made.table().codes, codes)


def test_findings_come_back_exactly(store, findings):
    found = findings(2 * pairs_module.CHUNK + 7)
    run = store.begin_run(RunSpec("maft"))
    store.add(run, found)
    pairs = list(store.each_pair(PairQuery()))
    np.testing.assert_array_equal(np.array([pair.row for pair in pairs]), found.rows)
    np.testing.assert_array_equal(np.array([pair.partner for pair in pairs]), found.partners)
    np.testing.assert_array_equal(
        np.array([[pair.row_score, pair.partner_score] for pair in pairs], dtype=np.float32),
        np.column_stack((found.row_scores, found.partner_scores)),
    )
    assert [pair.row_class for pair in pairs] == (found.row_scores[:, 0] > 0.5).tolist()
    assert {pair.phase for pair in pairs} == {"local"}
    assert store.pair(pairs[5].id).id == pairs[5].id
    (record,) = store.runs()
    assert record.found == len(found.rows) == store.count(PairQuery(run=run))
    assert record.sufficient_alone == (len(found.rows),)


def test_partners_come_back_with_what_follows_their_protected_values(
    tmp_path, spec, table, findings
):
    learned = Determined("income", "sex", ((0.0, 3.0), (1.0, 7.0)))
    domain = Domain(
        spec.domain.attributes, ("income is determined by sex", "age >= 18"), (learned,)
    )
    found = findings(9)
    for rows in (found.rows, found.partners):
        domain.apply_dependencies(rows)
    path = tmp_path / "following.fairdesk"
    with Store.create(path, msgspec.structs.replace(spec, domain=domain), table) as store:
        store.add(store.begin_run(RunSpec("maft")), found)
    with Store.open(path) as again:
        assert again.spec.domain == domain
        pairs = list(again.each_pair(PairQuery()))
    np.testing.assert_array_equal(np.array([pair.row for pair in pairs]), found.rows)
    np.testing.assert_array_equal(np.array([pair.partner for pair in pairs]), found.partners)
    assert (found.rows[:, 2] != found.partners[:, 2]).all()


def test_an_audit_of_before_there_were_constraints_opens(tmp_path, store, spec, findings):
    store.add(store.begin_run(RunSpec("maft")), findings(3))
    later = {"constraints", "determined", "unknown", "step"}

    def earlier(part):
        if isinstance(part, dict):
            return {key: earlier(each) for key, each in part.items() if key not in later}
        return [earlier(each) for each in part] if isinstance(part, list) else part

    old = msgspec.json.encode(earlier(msgspec.to_builtins(spec))).decode()
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE audit SET spec = ?", (old,))
    with Store.open(store.path) as again:
        assert again.spec == spec
        assert len(again.pairs(PairQuery(), 0, 9)) == 3


def test_the_score_is_that_of_the_favourable_class(tmp_path, spec, table, findings):
    turned = msgspec.structs.replace(
        spec, mapping=msgspec.structs.replace(spec.mapping, favourable_class=0)
    )
    with Store.create(tmp_path / "turned.fairdesk", turned, table) as store:
        found = findings(4)
        store.add(store.begin_run(RunSpec("maft")), found)
        pairs = store.pairs(PairQuery(), 0, 9)
    np.testing.assert_allclose(
        [pair.row_score for pair in pairs], 1 - found.row_scores[:, 0].astype(float)
    )


def test_three_classes_have_a_score_each(tmp_path, spec, table, findings):
    found = findings(4)
    three = np.array([[0.1, 0.2, 0.7]] * 4, dtype=np.float32)
    many = type(found)(
        found.rows, found.partners, three, three[:, ::-1], found.sufficient_alone, "local"
    )
    spec = msgspec.structs.replace(
        spec, model=msgspec.structs.replace(spec.model, classes=("0", "1", "2"))
    )
    with Store.create(tmp_path / "three.fairdesk", spec, table) as store:
        store.add(store.begin_run(RunSpec("maft")), many)
        pair = store.pairs(PairQuery(), 0, 1)[0]
    assert (pair.row_class, pair.partner_class) == (2, 0)
    assert pair.row_score == pytest.approx(0.2)


def test_a_run_is_remembered(store):
    run = store.begin_run(RunSpec("maft", {"local_num": 7}, seed=9))
    store.add_progress(run, 0.5, Progress("global", 1, 10, 20, 3, 99, {"global": 0.4}))
    store.add_progress(run, 1.5, Progress("local", 1, 10, 40, 6, 199, {"global": 0.4, "local": 1}))
    assert store.runs()[0].state == "running"
    store.end_run(run, "stopped", "By the auditor.")
    (record,) = store.runs()
    assert record.spec == RunSpec("maft", {"local_num": 7}, seed=9)
    assert (record.state, record.message, record.elapsed) == ("stopped", "By the auditor.", 1.5)
    assert (record.tried, record.queries) == (40, 199)
    assert record.seconds == {"global": 0.4, "local": 1}
    assert record.ended >= record.started
    np.testing.assert_array_equal(store.progress(run), [[0.5, 20, 3, 99], [1.5, 40, 6, 199]])
    assert store.progress(99).shape == (0, 4)


def test_runs_that_were_cut_off_are_settled(store):
    cut = store.begin_run(RunSpec("maft"))
    store.add_progress(cut, 90.5, Progress("local", 1, 2, tried=20, found=0, queries=99))
    done = store.begin_run(RunSpec("uniform"))
    store.end_run(done, "done")
    for _ in range(2):
        store.close_interrupted_runs()
    assert [record.state for record in store.runs()] == ["failed", "done"]
    record = store.runs()[0]
    assert "ended while it ran" in record.message
    lasted = datetime.fromisoformat(record.ended) - datetime.fromisoformat(record.started)
    assert lasted.total_seconds() in (90, 91)
    assert [entry.what for entry in store.log_entries() if "interrupted" in entry.what] == [
        f"Run {cut} {phrases.WAS_INTERRUPTED}: FairDesk was closed or ended while it ran."
    ]


def test_a_run_of_somebody_else_is_not_settled(store):
    store.begin_run(RunSpec("maft"))
    with Store.open(store.path) as other:
        other.close_interrupted_runs()
        assert [record.state for record in other.runs()] == ["running"]
        store.log("goes on", "decided")
    store.close_interrupted_runs()
    assert [record.state for record in store.runs()] == ["failed"]
    assert store._one("PRAGMA journal_mode") == ("wal",)


@pytest.mark.parametrize(
    "order", ["age", "sex", "row_score", "partner_score", "difference", "mark"]
)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("indexed", [False, True])
def test_pages_follow_the_order(filled, monkeypatch, order, descending, indexed):
    if indexed:
        monkeypatch.setattr(pairs_module, "INDEX_FROM", 1)
    filled.mark(7, "flagged")
    key = {
        "age": lambda pair: pair.row[0],
        "sex": lambda pair: pair.row[1],
        "row_score": lambda pair: pair.row_score,
        "partner_score": lambda pair: pair.partner_score,
        "difference": lambda pair: abs(pair.row_score - pair.partner_score),
        "mark": lambda pair: pair.mark,
    }[order]
    everyone = list(filled.each_pair(PairQuery()))
    expected = sorted(everyone, key=lambda pair: (key(pair), pair.id), reverse=descending)
    for run in (None, 1):
        query = PairQuery(run=run, order=order, descending=descending)
        paged = [i for offset in range(0, 300, 37) for i in ids(filled, query, offset, 37)]
        assert paged == [pair.id for pair in expected]
        assert [pair.id for pair in filled.each_pair(query)] == paged


def test_an_order_is_indexed_once_it_pays(filled, monkeypatch):
    def indexes():
        with sqlite3.connect(filled.path) as connection:
            return connection.execute(
                "SELECT count(*) FROM sqlite_schema WHERE type = 'index'"
            ).fetchone()[0]

    before = indexes()
    filled.pairs(PairQuery(order="age"), 0, 1)
    assert indexes() == before
    monkeypatch.setattr(pairs_module, "INDEX_FROM", 100)
    for order in ("age", "age", "difference", "id"):
        filled.pairs(PairQuery(order=order), 0, 1)
    assert indexes() == before + 2


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=many(40))
@given(
    low=st.integers(0, 80),
    width=st.integers(0, 60),
    sex=st.sampled_from(["female", "male", "nobody", None]),
    upto=st.one_of(st.none(), st.integers(0, 310)),
)
def test_filters_choose_what_they_say(filled, low, width, sex, upto):
    where = {"age": (float(low), float(low + width))} | ({"sex": sex} if sex else {})
    query = PairQuery(run=1, where=where, upto=upto)
    wanted = [
        pair.id
        for pair in filled.each_pair(PairQuery())
        if low <= pair.row[0] <= low + width
        and (sex is None or ("female", "male")[int(pair.row[1])] == sex)
        and (upto is None or pair.id <= upto)
    ]
    assert ids(filled, query) == wanted
    assert filled.count(query) == len(wanted)


def test_pairs_of_one_attribute_alone_are_those_that_are_counted(tmp_path, spec, table, findings):
    age, *others = spec.domain.attributes
    compared = msgspec.structs.replace(age, role=Role.PROTECTED, compared=(20.0, 40.0))
    both = msgspec.structs.replace(spec, domain=Domain((compared, *others)))
    alone = np.random.default_rng(3).random((60, 2)) < 0.4
    names = [both.domain.names[place] for place in both.domain.protected.tolist()]
    with Store.create(tmp_path / "alone.fairdesk", both, table) as store:
        run = store.begin_run(RunSpec("maft"))
        store.add(run, msgspec.structs.replace(findings(60), sufficient_alone=alone))
        (record,) = store.runs()
        for place, name in enumerate(names):
            query = PairQuery(run=run, alone=name)
            assert ids(store, query) == (1 + np.flatnonzero(alone[:, place])).tolist()
            assert store.count(query) == record.sufficient_alone[place] > 0
        with pytest.raises(StoreError, match="There is no attribute"):
            store.count(PairQuery(alone="income"))


def test_plausible_pairs_come_first_where_no_attribute_is_protected(tmp_path, spec, table):
    age, sex, income = spec.domain.attributes
    unseen = msgspec.structs.replace(spec, domain=Domain((age, income), unseen=(sex,)))
    with Store.create(tmp_path / "unseen.fairdesk", unseen, table) as store:
        assert ids(store, PairQuery(order="plausible", descending=True)) == []


def test_a_value_of_a_number_is_matched_as_a_number(filled):
    age = filled.pair(1).row[0]
    assert 1 in ids(filled, PairQuery(where={"age": f"{age:.0f}"}))
    assert ids(filled, PairQuery(where={"age": "old"})) == []


def test_what_is_asked_never_becomes_sql(filled):
    evil = "'; DROP TABLE finding; --"
    for query in (PairQuery(order=evil), PairQuery(where={evil: "x"})):
        with pytest.raises(StoreError, match="There is no attribute"):
            filled.pairs(query, 0, 1)
    assert ids(filled, PairQuery(mark=evil)) == []
    assert ids(filled, PairQuery(where={"sex": evil})) == []
    filled.note(1, evil)
    assert filled.pair(1).note == evil


def test_marks_and_notes_are_kept(filled):
    filled.mark(2, "flagged")
    filled.mark(3, "dismissed")
    filled.note(2, "Two “Müllers”?\nAsk.")
    with Store.open(filled.path) as again:
        assert again.pair(2).mark == "flagged"
        assert again.pair(2).note == "Two “Müllers”?\nAsk."
        assert ids(again, PairQuery(mark="flagged")) == [2]
        assert again.count(PairQuery(mark="")) == 298
    with pytest.raises(StoreError, match="There is no review status “nice”"):
        filled.mark(2, "nice")


def test_the_log_is_kept_in_order(store):
    store.log("First.", "decided")
    store.log("Second.", "decided")
    assert [entry.what for entry in store.log_entries()][-2:] == ["First.", "Second."]


def test_a_pair_that_is_not_there(store):
    with pytest.raises(StoreError, match="no pair 5"):
        store.pair(5)


def test_another_thread_reads_while_one_writes(store, findings):
    run = store.begin_run(RunSpec("maft"))
    seen, errors, done = [], [], threading.Event()

    def look():
        try:
            with Store.open(store.path) as other:
                while not done.is_set():
                    seen.append(other.count(PairQuery()))
                    other.pairs(PairQuery(order="difference"), 0, 10)
        except StoreError as error:
            errors.append(error)

    thread = threading.Thread(target=look)
    thread.start()
    for i in range(20):
        store.add(run, findings(500, seed=i))
    done.set()
    thread.join()
    assert not errors
    assert seen == sorted(seen)


def test_nothing_is_overwritten(store, spec, table):
    before = store.path.read_bytes()
    with pytest.raises(StoreError, match="already a file"):
        Store.create(store.path, spec, table)
    assert store.path.read_bytes() == before


def test_a_folder_that_is_not_there(tmp_path, spec, table):
    with pytest.raises(StoreError, match=phrases.CANNOT_BE_MADE):
        Store.create(tmp_path / "nowhere" / "a.fairdesk", spec, table)


def test_a_failed_beginning_leaves_no_file(tmp_path, spec, table, monkeypatch):
    monkeypatch.setattr(file, "make_schema", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Store.create(tmp_path / "a.fairdesk", spec, table)
    assert not list(tmp_path.glob("a.fairdesk*"))


def test_files_that_are_no_audit(tmp_path):
    missing, text, empty, folder = (tmp_path / name for name in ("missing", "text", "empty", "f"))
    text.write_text("age,sex\n" * 500)
    empty.touch()
    folder.mkdir()
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()
    for path, words in (
        (missing, phrases.NO_AUDIT_FILE),
        (folder, phrases.NO_AUDIT_FILE),
        (text, phrases.NO_FAIRDESK_AUDIT),
        (empty, phrases.NO_FAIRDESK_AUDIT),
        (other, phrases.NO_FAIRDESK_AUDIT),
    ):
        with pytest.raises(StoreError, match=words) as caught:
            Store.open(path)
        assert caught.value.remedy


@pytest.mark.parametrize("version", [0, schema.VERSION - 1, schema.VERSION + 1])
def test_an_audit_of_another_version_is_refused_as_it_is(filled, version):
    filled._connection.execute(f"PRAGMA user_version = {version}")
    filled.close()
    before = filled.path.read_bytes()
    with pytest.raises(StoreError, match=phrases.OTHER_VERSION) as caught:
        Store.open(filled.path)
    assert f"version {version};" in caught.value.why
    assert "FairDesk version that made it" in caught.value.remedy
    assert filled.path.read_bytes() == before


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("state", "'bogus'"),
        ("started", "'soon'"),
        ("tried", "-1"),
        ("sufficient_alone", "'[0, 0, 0, 0]'"),
        ("figures", "'{'"),
        ("spec", "'{}'"),
    ],
)
def test_which_run_cannot_be_read_is_told(filled, column, value):
    filled.begin_run(RunSpec("maft"))
    filled._connection.execute(f"UPDATE run SET {column} = {value} WHERE id = 2")
    with pytest.raises(StoreError, match="Run 2 of the audit") as caught:
        filled.runs()
    assert caught.value.why


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TRIGGER acts AFTER INSERT ON log BEGIN DELETE FROM finding; END",
        "CREATE VIEW acts AS SELECT * FROM finding",
    ],
)
def test_a_file_that_acts_by_itself_is_not_opened(filled, sql):
    filled._connection.execute(sql)
    with pytest.raises(StoreError, match="runs by itself"):
        Store.open(filled.path)
    with pytest.raises(StoreError, match="runs by itself"), Store.read(filled.path):
        pass


def score_plausibility(store, count, seed=0):
    """Weigh the first so many findings that were not yet."""
    numbers, *_pairs = store.unweighed(count)
    distances = np.random.default_rng(seed).random((2, len(numbers)))
    store.score_plausibility(
        numbers, scored(distances[0], np.arange(len(numbers)) % 9, distances[1])
    )


SHARE = Share(
    whom="domain",
    attributes=("sex",),
    n_samples=1_000,
    hits=38,
    exhaustive=False,
    confidence=0.95,
    estimate=0.038,
    low=0.027,
    high=0.052,
    anytime_low=0.022,
    anytime_high=0.06,
)


def hired(rows):
    age, sex, income = rows.T
    return np.where(age + 12 * sex + 2 * income > 60, 0.9, 0.1).astype(np.float32)[:, None]


def test_the_last_certificate_of_a_run_is_kept(filled):
    (run,) = filled.runs()
    assert filled.certificate(run.id) is None
    first, last = (honest(filled.spec.domain, hired, small=small) for small in (20, 120))
    for each in (first, last):
        filled.certify(run.id, each.header, each.arrays)
    header, arrays = filled.certificate(run.id)
    told = certificate.decoded(header)
    assert len(arrays["first"]) == len(last.arrays["first"]) != len(first.arrays["first"])
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, last.arrays[name])
    assert filled.certified_runs() == (run.id,)
    # what it speaks of is known better here than where it was made
    assert told.model.sha256 == filled.spec.model.sha256 == "ab" * 32
    assert told.model.name == "hiring.pkl"
    assert told.mapping == filled.spec.mapping
    assert told.versions == filled.spec.versions


def test_what_is_no_certificate_of_the_audit_is_not_kept(filled):
    (run,) = filled.runs()
    good, other = honest(filled.spec.domain, hired), honest()
    for header, arrays in (
        (b"{}", good.arrays),
        (good.header, good.arrays | {"verdict": good.arrays["verdict"] + 9}),
        (good.header, {"verdict": good.arrays["verdict"]}),
        (other.header, other.arrays),
    ):
        with pytest.raises(certificate.CertificateError):
            filled.certify(run.id, header, arrays)
    assert filled.certified_runs() == ()


def test_a_damaged_certificate_is_a_damaged_audit(filled):
    (run,) = filled.runs()
    filled._connection.execute("INSERT INTO certificate VALUES (?, ?)", (run.id, b"PK"))
    with pytest.raises(StoreError, match="damaged"):
        filled.certificate(run.id)


def augmented(count=6, **changed):
    rows = np.column_stack((np.arange(30.0, 30 + count), np.arange(count) % 2, np.arange(count)))
    numbers = np.arange(count)
    added = Augmented("making", rows, numbers % 2, numbers // 2, numbers + 10)
    return msgspec.structs.replace(added, **changed)


@pytest.mark.parametrize("count", [0, 1, 6])
def test_added_rows_come_back_exactly(filled, count):
    (run,) = filled.runs()
    assert filled.added_rows(run.id) is None
    filled.keep_rows(run.id, augmented(9))
    filled.keep_rows(run.id, augmented(count))
    added = filled.added_rows(run.id)
    for name in ("rows", "labels", "pairs", "seeds"):
        kept, given = getattr(added, name), getattr(augmented(count), name)
        np.testing.assert_array_equal(kept, given)
        assert kept.dtype == given.dtype
        assert kept.flags.writeable
    assert (added.phase, added.texts) == ("making", ())
    # they are no model of any trial
    assert filled.models(run.id, 0) == {}


def test_added_texts_are_kept_with_the_rows(tmp_path, spec, table):
    sex = spec.domain.attributes[1]
    written = msgspec.structs.replace(
        sex, name="letter", kind=Kind.TEXT, role=Role.FIXED, values=("I ask", "We ask")
    )
    domain = msgspec.structs.replace(spec.domain, attributes=(*spec.domain.attributes, written))
    column = Column("letter", Kind.TEXT, written.values, high=1.0)
    columns = (*table.columns, column)
    codes = np.column_stack((table.codes, np.arange(len(table.codes)) % 2))
    spec = msgspec.structs.replace(spec, domain=domain, columns=columns)
    table = replace(table, columns=columns, codes=codes)
    with Store.create(tmp_path / "texts.fairdesk", spec, table) as store:
        rows = np.column_stack((augmented(4).rows, [0.0, 1, 2, 3]))
        texts = ("He asks “=1+1”", "She asks\n")
        store.keep_rows(1, augmented(4, rows=rows, texts=texts))
        added = store.added_rows(1)
        assert added.texts == texts
        np.testing.assert_array_equal(added.rows, rows)
        store.keep_rows(1, augmented(4, rows=rows, texts=texts[:1]))
        with pytest.raises(StoreError, match="damaged"):
            store.added_rows(1)


@pytest.mark.parametrize(
    ("told", "content"),
    [
        ('["making", 6, []]', b"PK"),
        ('["making", 7, []]', None),
        ('["making", 5, []]', None),
        ('["making", -1, []]', None),
        ('["making", 99999999999999999999, []]', None),
        ('["making", 6]', None),
        ('["making", 6, [1]]', None),
    ],
)
def test_damaged_rows_are_a_damaged_audit(filled, told, content):
    (run,) = filled.runs()
    filled.keep_rows(run.id, augmented())
    change = "UPDATE artifacts SET note = ?, content = coalesce(?, content)"
    filled._connection.execute(change, (told, content))
    with pytest.raises(StoreError, match="damaged"):
        filled.added_rows(run.id)


@pytest.mark.parametrize(
    "changed",
    [
        {"rows": np.full((6, 3), 400.0)},
        {"rows": np.full((6, 3), np.nan)},
        {"labels": np.full(6, 2)},
        {"labels": np.full(6, -1)},
        {"seeds": np.full(6, 60)},
        {"pairs": np.full(6, -2)},
    ],
)
def test_rows_that_nobody_can_have_made_are_a_damaged_audit(filled, changed):
    (run,) = filled.runs()
    filled.keep_rows(run.id, augmented(**changed))
    with pytest.raises(StoreError, match="damaged"):
        filled.added_rows(run.id)


def test_files_of_models_are_kept_by_trial_and_name(filled, monkeypatch):
    (run,) = filled.runs()

    def made(trial, name, content):
        file = np.frombuffer(content, np.int8)
        filled.keep_model(run.id, Retrained("saving", trial, name, f"This is {name}.", file))

    made(2, "model.keras", b"an earlier one")
    made(2, "model.keras", bytes(range(256)))
    made(2, "model.onnx", b"")
    made(3, "model.keras", b"another")
    assert filled.models(run.id, 2) == {
        "model.keras": ModelFile("This is model.keras.", 256),
        "model.onnx": ModelFile("This is model.onnx.", 0),
    }
    assert filled.model(run.id, 2, "model.keras") == bytes(range(256))
    assert filled.model(run.id, 3, "model.keras") == b"another"
    assert filled.model(run.id, 2, "model.onnx") == b""
    assert filled.model(run.id, 2, "model.skops") == b""
    # SQLite takes no more at once: then it is told
    monkeypatch.setattr(store_module, "MOST_FILE_BYTES", 100)
    made(2, "model.keras", bytes(101))
    assert filled.model(run.id, 2, "model.keras") == b""
    assert "101 bytes" in filled.models(run.id, 2)["model.keras"].remark


@pytest.mark.parametrize("step", [1, 7])
def test_pairs_are_read_by_their_numbers(filled, monkeypatch, step):
    monkeypatch.setattr(pairs_module, "_AT_ONCE", 40)
    for pair in range(1, 301, 3):
        filled.mark(pair, "flagged")
    query = PairQuery(mark="")
    rows, partners, numbers = filled.found_pairs(query, step)
    expected = filled.pairs(query, 0, 1_000)[::step]
    assert numbers.tolist() == [pair.id for pair in expected]
    np.testing.assert_array_equal(rows, [pair.row for pair in expected])
    np.testing.assert_array_equal(partners, [pair.partner for pair in expected])
    nobody = filled.found_pairs(PairQuery(run=99), step)
    assert [each.shape for each in nobody] == [(0, 3), (0, 3), (0,)]


def test_figures_and_what_is_learned_are_kept(filled):
    (run,) = filled.runs()
    filled.measure(run.id, (SHARE,))
    filled.measure(run.id, (SHARE, SHARE))
    assert filled.runs()[0].figures == (SHARE, SHARE)


def test_figures_with_names_of_earlier_versions_are_read(filled):
    (run,) = filled.runs()
    sweep = (Support(0.05, 2, 0.1),)
    mined = RuleSearchSummary("1", ("sex",), 0.05, 2, 2, 100, 0.04, 0.1, sweep=sweep)
    noted = msgspec.structs.replace(mined, notes=('a text with "whom": in it',))
    filled.measure(run.id, (SHARE, noted))
    (text,) = filled._connection.execute("SELECT figures FROM run").fetchone()
    former = text.replace('"instances":', '"whom":').replace('"subgroups":', '"rule_sets":')
    assert (former.count('"whom":'), former.count('"rule_sets":')) == (1, 2)
    filled._connection.execute("UPDATE run SET figures = ?", (former,))
    assert filled.runs()[0].figures == (SHARE, noted)
    numbers, rows, partners = filled.unweighed(2)
    pairs = [filled.pair(number) for number in numbers.tolist()]
    assert (rows == [pair.row for pair in pairs]).all()
    assert (partners == [pair.partner for pair in pairs]).all()
    n = len(rows)
    weighed = scored(np.linspace(0, 0.5, n), np.arange(n), np.full(n, 0.25))
    filled.score_plausibility(numbers, weighed)
    near = filled.pairs(PairQuery(order="distance", within=0.2), 0, 10)
    assert [(pair.id, pair.distance, pair.nearest) for pair in near] == [(numbers[0], 0.0, 0)]
    assert filled.pair(int(numbers[1])).typicality == 0.25
    assert filled.unweighed(1)[0] > numbers[1]
    filled.learn(1, "why", SHARE)
    filled.learn(1, "why", run.spec)
    assert filled.learned(1, "why", RunSpec) == run.spec
    found = np.concatenate(list(filled.found_rows(run.id)))
    assert (found == [pair.row for pair in filled.each_pair(PairQuery())]).all()


@pytest.mark.parametrize("cut", ["half", "middle"])
def test_a_damaged_file(filled, tmp_path, cut):
    filled.close()
    data = bytearray(filled.path.read_bytes())
    damaged = tmp_path / "damaged.fairdesk"
    if cut == "half":
        data = data[: len(data) // 2]
    else:
        data[4096:] = os.urandom(len(data) - 4096)
    damaged.write_bytes(data)

    def read_all():
        with Store.open(damaged) as store:
            store.table()
            return list(store.each_pair(PairQuery()))

    with pytest.raises(StoreError):
        read_all()


def test_a_damaged_question_or_table(store):
    store._connection.execute("UPDATE audit SET codes = zeroblob(100)")
    with pytest.raises(StoreError, match="damaged"):
        store.table()
    store._connection.execute("UPDATE audit SET spec = '{}'")
    with pytest.raises(StoreError, match="damaged"):
        Store.open(store.path)


def test_a_read_only_file(store, monkeypatch):
    monkeypatch.setattr(schema.os, "access", lambda *_: False)
    with pytest.raises(StoreError, match=phrases.NOT_WRITABLE):
        Store.open(store.path)


def test_a_full_disk_keeps_what_was_written(filled, findings):
    pages = filled._one("PRAGMA page_count")[0]
    filled._connection.execute(f"PRAGMA max_page_count = {pages + 5}")
    before = filled.count(PairQuery())
    with pytest.raises(StoreError, match=phrases.DISK_FULL):
        filled.add(1, findings(50_000, seed=2))
    kept = filled.count(PairQuery())
    assert before <= kept < before + 50_000
    assert filled.runs()[0].found == kept
    filled.close()
    with Store.open(filled.path) as again:
        assert len(list(again.each_pair(PairQuery()))) == kept
        again.end_run(1, "failed", "The disk was full.")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("SQLITE_READONLY_DBMOVED", "for writing"),
        ("SQLITE_BUSY", phrases.IN_USE),
        ("SQLITE_IOERR_WRITE", "The disk failed"),
        ("SQLITE_CORRUPT_VTAB", "damaged"),
        ("SQLITE_MISUSE", "cannot be read or written"),
    ],
)
def test_sqlite_is_told_in_plain_words(tmp_path, name, words):
    error = sqlite3.OperationalError("dark words")
    error.sqlite_errorname = name
    told = plain_error(error, tmp_path)
    assert words in str(told)
    assert told.remedy


def test_an_open_file_is_not_moved(store):
    with pytest.raises(StoreError, match="in use"):
        release(store.path)
    store.close()
    release(store.path)
    assert not list(store.path.parent.glob("*-wal"))
    moved = store.path.rename(store.path.with_name("moved.fairdesk"))
    with Store.open(moved) as again:
        assert again.spec == store.spec


def test_a_file_left_by_a_crash_is_whole(filled, tmp_path):
    # as a killed process leaves it: with a journal beside it
    for suffix in ("", "-wal", "-shm"):
        shutil.copy(f"{filled.path}{suffix}", tmp_path / f"copy.fairdesk{suffix}")
    with Store.open(tmp_path / "copy.fairdesk") as copy:
        assert copy.count(PairQuery()) == 300


def test_a_file_is_let_go_by_a_relative_path_too(filled, monkeypatch):
    filled.close()
    monkeypatch.chdir(filled.path.parent)
    release(Path(filled.path.name))
    with Store.open(filled.path) as store:
        assert store.count(PairQuery()) == 300


def test_a_new_audit_asks_its_question_as_it_will_be_read(tmp_path, spec, table):
    asked = msgspec.structs.replace(spec, versions={"b": "1", "a": "2"})
    with Store.create(tmp_path / "new.fairdesk", asked, table) as store:
        told = list(store.spec.versions)
    with Store.open(tmp_path / "new.fairdesk") as store:
        assert list(store.spec.versions) == told


def test_the_log_calls_what_was_filled_in_by_its_label(tmp_path, spec, table):
    with Store.create(tmp_path / "new.fairdesk", spec, table) as store:
        store.write_details(Details(texts={"data_source": "a bank"}), {"data_source": "Source"})
        entry = store.log_entries()[-1]
    assert entry.what == "The auditor-supplied information of the report was changed: Source."
    assert "data_source" in entry.facts
