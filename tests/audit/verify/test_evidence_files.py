"""Audit files as evidence: read without a byte of them changed; bad ones told in plain words."""

import errno
import os
import shutil
import sqlite3
import stat
from contextlib import closing

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store import digests, schema
from fairdesk.audit.store.pair import MinimalPair
from fairdesk.audit.store.records import Choice, Details, PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.errors import StoreError
from fairdesk.files import sha256
from fairdesk.results.events import Progress
from fairdesk.results.mitigation import Augmented, Retrained
from tests import phrases
from tests.audit.store.test_store import hired
from tests.certify.proofs import honest
from tests.plausible import scored
from tests.sizes import many


@pytest.fixture
def full(store, findings):
    """Write an audit with something in every table, and let go of it; gives its path."""
    run = store.begin_run(RunSpec("maft", {"global_num": 5}, seed=3))
    store.add(run, findings(120))
    store.add_progress(run, 0.5, Progress("global", 1, 10, 20, 3, 99, {"global": 0.4}))
    proof = honest(store.spec.domain, hired)
    store.certify(run, proof.header, proof.arrays)
    numbers = np.arange(6)
    rows = np.column_stack((np.arange(30.0, 36), numbers % 2, numbers))
    store.keep_rows(run, Augmented("making", rows, numbers % 2, numbers // 2, numbers + 10))
    file = np.frombuffer(bytes(range(100)), np.int8)
    store.keep_model(run, Retrained("saving", 2, "model.keras", "A file.", file))
    store.end_run(run, "done")
    ids, rows, _partners = store.unweighed(100)
    store.score_plausibility(
        ids, scored(np.full(100, 0.25), np.zeros(100, dtype=int), np.full(100, 1.0))
    )
    row = tuple(rows[0].tolist())
    store.learn(1, "minimal", MinimalPair(row, row, 1, 0, 0.9, 0.1, 1, 0.2, 0.2, 0.5, 0.5, 3))
    store.mark(1, "flagged")
    store.note(2, "Ask.")
    store.write_details(Details({"auditor": "Ada"}))
    store.write_choice(Choice(paper="us-letter"))
    store.exported("Exported.", {"people.csv": store.path.with_name("people.csv")}, "{}")
    store.close()
    return store.path


def read_all(store):
    """Read everything that there is."""
    log = store.log_entries()
    digests.broken(log)
    digests.replayed(log)
    digests.exported_files(log)
    store.table()
    store.fingerprints()
    store.learned_fingerprints()
    store.weighed_fingerprint(1, 999)
    (store.details(), store.choice(), store.manifest(), store.sound(), store.certified_runs())
    for run in store.runs():
        store.run_fingerprints(run.id)
        store.progress(run.id)
        store.certificate(run.id)
        store.added_rows(run.id)
        for name in store.models(run.id, 2):
            store.model(run.id, 2, name)
        list(store.found_rows(run.id))
    store.unweighed(1_000)
    store.learned(1, "minimal", MinimalPair)
    store.found_pairs(PairQuery(), 1)
    store.pairs(PairQuery(order="difference", where={"sex": "male"}), 0, 10)
    store.count(PairQuery(within=0.5))
    return list(store.each_pair(PairQuery()))


def files_of(folder):
    return {path.name: sha256(path) for path in sorted(folder.glob("audit.fairdesk*"))}


def test_reading_changes_nothing_and_leaves_nothing(full):
    before = files_of(full.parent)
    with Store.read(full) as store:
        assert store.path == full
        assert len(read_all(store)) == 120
        store.mark(5, "dismissed")
    assert files_of(full.parent) == before
    with Store.open(full) as store:
        assert store.pair(5).mark == ""


def test_an_audit_that_is_written_to_is_read_as_it_stands(full, findings):
    with Store.open(full) as writer:
        run = writer.begin_run(RunSpec("uniform"))
        writer.add(run, findings(50, seed=9))
        before = sha256(full)
        with Store.read(full) as store:
            writer.add(run, findings(50, seed=10))
            assert store.count(PairQuery(run=run)) == 50
        assert sha256(full) == before
        assert writer.count(PairQuery(run=run)) == 100


def crashed(full, findings, folder):
    """Leave an audit as a killed process does: with a journal beside it that is not yet in it."""
    with Store.open(full) as writer:
        writer.add(1, findings(50, seed=9))
        folder.mkdir()
        for path in full.parent.glob("audit.fairdesk*"):
            if not path.name.endswith("-shm"):
                shutil.copy(path, folder / path.name)
    return folder / full.name


def test_what_a_crash_has_left_is_read_too(full, findings, tmp_path):
    left = crashed(full, findings, tmp_path / "crashed")
    before = sha256(left)
    with Store.read(left) as store:
        assert store.count(PairQuery()) == 170
    assert sha256(left) == before


def test_a_read_only_disk(full, findings, tmp_path, monkeypatch):
    left = crashed(full, findings, tmp_path / "crashed")
    before = files_of(left.parent)
    connect = sqlite3.connect

    def refusing(place, *args, **kwargs):
        # as root every folder is writable, so SQLite’s refusal is played
        if str(place).endswith("?mode=ro"):
            raise sqlite3.OperationalError("attempt to write a readonly database")
        return connect(place, *args, **kwargs)

    monkeypatch.setattr(schema.sqlite3, "connect", refusing)
    for path in (left, left.parent):
        path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with Store.read(left) as store:
            assert store.count(PairQuery()) == 170
        assert files_of(left.parent) == before
    finally:
        for path in (left.parent, left):
            path.chmod(stat.S_IRWXU)


def test_a_file_that_changes_while_it_is_copied_is_copied_anew(full, monkeypatch):
    copyfile, changes = shutil.copyfile, [3]

    def copying(source, target):
        copyfile(source, target)
        if changes[0]:
            changes[0] -= 1
            os.utime(source, ns=(changes[0], changes[0]))

    monkeypatch.setattr(schema.shutil, "copyfile", copying)
    monkeypatch.setattr(schema, "_backed_up", lambda *_: False)
    with Store.read(full) as store:
        assert len(read_all(store)) == 120
    changes[0] = 99
    with pytest.raises(StoreError, match="keeps writing to the audit file"), Store.read(full):
        pass


def test_a_file_that_cannot_be_copied(full, tmp_path, monkeypatch):
    for path, words in (
        (tmp_path / "gone", phrases.NO_AUDIT_FILE),
        (tmp_path, phrases.NO_AUDIT_FILE),
    ):
        with pytest.raises(StoreError, match=words), Store.read(path):
            pass

    def full_disk(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(schema.shutil, "copyfile", full_disk)
    with pytest.raises(StoreError, match=os.strerror(errno.ENOSPC)) as caught, Store.read(full):
        pass
    assert caught.value.remedy


def test_files_that_are_no_audit_are_refused_by_their_own_names(tmp_path):
    empty, text = tmp_path / "empty.fairdesk", tmp_path / "text.fairdesk"
    empty.touch()
    text.write_text("age,sex\n" * 500)
    for path in (empty, text):
        with pytest.raises(StoreError, match=path.name), Store.read(path):
            pass


def test_sqlite_finds_nothing_wrong_with_a_good_file(full):
    with Store.open(full) as store:
        assert store.sound() == ()


def test_sqlite_tells_what_is_wrong_with_a_bad_one(full):
    with closing(sqlite3.connect(full, isolation_level=None)) as connection:
        connection.execute("CREATE INDEX finding_by_age ON finding (x0)")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_schema SET sql = replace(sql, 'x0', 'x2') WHERE name = 'finding_by_age'"
        )
    with Store.read(full) as store:
        assert store.sound()
        assert all(each.startswith("SQLite reported: ") for each in store.sound())


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET spec = NULL",
        "UPDATE audit SET spec = '[]'",
        "UPDATE audit SET spec = 7",
        "UPDATE audit SET spec = x'ff'",
        "UPDATE audit SET spec = CAST(x'ff22' AS TEXT)",
        "UPDATE audit SET spec = replace(spec, '\"protected\"', '\"fixed\"')",
        "UPDATE audit SET spec = replace(spec, '\"favourable_class\":1', '\"favourable_class\":9')",
        'UPDATE audit SET spec = replace(spec, \'"constraints":[]\', \'"constraints":["a<"]\')',
        'UPDATE audit SET spec = replace(spec, \'"label":"hired"\', \'"label":"fired"\')',
        "UPDATE audit SET spec = replace(spec, '\"rows\":60', '\"rows\":99999999999999999999')",
        "UPDATE audit SET spec = replace(spec, '\"rows\":60', '\"rows\":-1')",
        "DELETE FROM audit",
        "UPDATE audit SET codes = 'text'",
        "UPDATE audit SET codes = NULL",
        "DROP TABLE finding",
        "DROP TABLE log",
        "DROP TABLE documents",
        "ALTER TABLE finding DROP COLUMN x1",
        "UPDATE finding SET x1 = 2 WHERE id = 50",
        "UPDATE finding SET x1 = 0.5 WHERE id = 50",
        "UPDATE finding SET x1 = -1 WHERE id = 50",
        "UPDATE finding SET y1 = 1e300 WHERE id = 50",
        "UPDATE finding SET x0 = 9e999 WHERE id = 50",
        "UPDATE finding SET x0 = 'old' WHERE id = 50",
        "UPDATE finding SET row_score = 'high' WHERE id = 50",
        "UPDATE finding SET row_class = 2 WHERE id = 50",
        "UPDATE finding SET row_class = -1 WHERE id = 50",
        "UPDATE finding SET partner_class = 0.5 WHERE id = 50",
        "UPDATE finding SET sufficient_alone = 4611686018427387904 WHERE id = 50",
        "UPDATE finding SET mark = 'nice' WHERE id = 50",
        "UPDATE finding SET note = x'00' WHERE id = 50",
        "UPDATE finding SET distance = 'far' WHERE id = 50",
        "UPDATE finding SET distance = 7 WHERE id = 50",
        "UPDATE finding SET nearest = -3 WHERE id = 50",
        "UPDATE run SET spec = '{}'",
        "UPDATE run SET spec = replace(spec, 'maft', 'magic')",
        "UPDATE run SET state = 'fine'",
        "UPDATE run SET started = 'yesterday'",
        "UPDATE run SET ended = '0001-01-01T00:00:00+23:59'",
        "UPDATE run SET tried = -1",
        "UPDATE run SET tried = 'many'",
        "UPDATE run SET sufficient_alone = '[]'",
        "UPDATE run SET figures = '[{}]'",
        "UPDATE run SET seconds = '" + "[" * 5_000 + "'",
        "UPDATE progress SET elapsed = 'long'",
        "UPDATE log SET at = 'once' WHERE number = 2",
        "UPDATE log SET kind = 'blessed' WHERE number = 2",
        "UPDATE log SET facts = '{' WHERE kind = 'marked'",
        "UPDATE documents SET document = '[]' WHERE name = 'details'",
        "UPDATE documents SET document = '{\"paper\":7}' WHERE name = 'choice'",
        "UPDATE documents SET document = x'00' WHERE name = 'manifest'",
        "UPDATE pair_analyses SET document = '{}'",
        "UPDATE certificate SET file = 'text'",
        "UPDATE artifacts SET content = 'text', note = '[]'",
        "UPDATE artifacts SET note = x'00' WHERE trial = 2",
    ],
)
def test_an_audit_edited_by_hand_is_told_in_plain_words(full, statement):
    with closing(sqlite3.connect(full, isolation_level=None)) as connection:
        for table in ("finding", "run", "audit"):
            loosened(connection, table)
        changed = connection.execute(statement).rowcount
        assert changed, "the statement changes something"

    def look():
        with Store.read(full) as store:
            read_all(store)

    with pytest.raises(StoreError) as caught:
        look()
    assert str(full) in str(caught.value) or "log" in str(caught.value)
    assert caught.value.remedy


def loosened(connection, table):
    """Let a table take anything, as somebody with an editor can."""
    (sql,) = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    for strict in (" NOT NULL", " REAL", " TEXT", " BLOB"):
        sql = sql.replace(strict, "")
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (sql, table))
    connection.execute("PRAGMA writable_schema = RESET")


@settings(
    max_examples=many(60),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_whatever_is_cut_off_or_flipped_it_is_read_or_refused(full, data):
    content = bytearray(full.read_bytes())
    kind = data.draw(st.sampled_from(["cut", "flip", "flips", "text"]))
    if kind == "cut":
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    elif kind == "text":
        # what is told as text is where a flip does most
        places = [at for at, byte in enumerate(content) if byte in b'{["0123456789']
        content[data.draw(st.sampled_from(places))] = data.draw(st.integers(0, 255))
    else:
        for _ in range(1 if kind == "flip" else 40):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    broken = full.with_name("broken.fairdesk")
    broken.write_bytes(content)
    try:
        error = read_state(broken)
        assert error is None or error.remedy
    finally:
        for path in (broken, *schema.beside(broken)):
            path.unlink(missing_ok=True)


def read_state(path):
    """Read everything; gives what is told of a file that cannot be."""
    try:
        with Store.open(path) as store:
            read_all(store)
    except StoreError as error:
        return error
    return None
