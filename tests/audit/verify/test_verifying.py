"""A whole audit checked again: what is as it was agrees, what was changed shows in its check."""

import sqlite3
import sys
from contextlib import closing

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.store import digests
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.schema import add_entry
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.checks import VerifyRequest, recheck
from fairdesk.audit.verify.figures import GROUPS, RULE_SETS, check_proven
from fairdesk.audit.verify.files import SAME_DATA, SAME_MODEL, SAME_TABLE
from fairdesk.audit.verify.pairs import ASKED_AGAIN
from fairdesk.audit.verify.record import (
    ANCHOR,
    CHAIN,
    DECISIONS,
    LEARNED,
    QUESTION,
    RUNS,
    SENTENCES,
    SOUND,
    TOTALS,
    Anchor,
    check_record,
)
from fairdesk.audit.worker.client import Worker
from fairdesk.certify.proof import certificate
from fairdesk.errors import StoreError
from fairdesk.files import sha256
from fairdesk.results.proofs import Proven
from tests import phrases
from tests.audit import audited, fake_guest
from tests.sizes import many

pytestmark = pytest.mark.usefixtures("shared_guests")

GUEST = (sys.executable, fake_guest.__file__)
PEOPLE = "Each pair is two instances of the input domain that differ in protected attributes only"
SCORES = phrases.SCORED_AS_TOLD
ALONE = phrases.ALONE_AS_TOLD
DISTANCES = "The recorded distances and plausibility of pairs are correct"
#: A pair of whom the model is sure.
SURE = (
    "(SELECT min(id) FROM finding WHERE abs(row_score - 0.5) > 0.1"
    " AND abs(partner_score - 0.5) > 0.1)"
)
SHARES = "Exact shares of the input domain, compared with random samples"


@pytest.fixture(scope="module", autouse=True)
def _proves():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(METHODS, "proves", fake_guest.PROVES)
        yield


@pytest.fixture(scope="module")
def worker(_proves):
    worker = Worker(command=GUEST)
    yield worker
    worker.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory, worker):
    """Make the audit once; gives its folder, which nobody changes."""
    folder = tmp_path_factory.mktemp("made") / "audit"
    folder.mkdir()
    audited.make(folder, worker)
    return folder


@pytest.fixture
def path(made, tmp_path):
    return audited.copied(made, tmp_path / "copy")


def checks(worker, path, anchor=None, **changed):
    """Check an audit with the data and the model beside it; gives the checks by name."""
    given = {
        "audit": path,
        "data": path.parent / "people.csv",
        "model": path.parent / "model.txt",
        "trusted": True,
        "points": 300,
        "seconds": 0.0,
    } | changed
    with Store.read(path) as store:
        found = list(recheck(worker, store, VerifyRequest(**given), lambda _said: None, anchor))
    names = [each.name for each in found]
    assert len(set(names)) == len(names)
    return {each.name: each for each in found}


def recorded(path, anchor=None):
    """Hold an audit file against itself only; gives the names of the checks that differ."""
    with Store.read(path) as store:
        return failed({each.name: each for each in check_record(store, anchor)})


def failed(found):
    return {name for name, each in found.items() if each.failed}


def test_an_untouched_audit_agrees_and_is_not_changed(worker, made):
    before = {each.name: each.read_bytes() for each in made.iterdir()}
    found = checks(worker, made / "audit.fairdesk")
    assert failed(found) == set()
    assert {each.name: each.read_bytes() for each in made.iterdir()} == before
    tried = {name for name, each in found.items() if each.tried > each.unknown}
    assert tried >= {CHAIN, QUESTION, RUNS, TOTALS, LEARNED, DECISIONS}
    assert tried >= {SAME_DATA, SAME_TABLE, SAME_MODEL, PEOPLE, ASKED_AGAIN, SCORES, ALONE}
    assert tried >= {DISTANCES, GROUPS, RULE_SETS, SHARES}
    assert f"Run 5: {phrases.TOTALS_FOLLOW}" in tried
    with Store.read(made / "audit.fairdesk") as store:
        pairs = store.count(PairQuery())
    assert pairs > 100
    assert found[ASKED_AGAIN].tried == found[SCORES].tried == found[PEOPLE].tried == pairs
    assert found[ALONE].tried == pairs
    assert found[SAME_TABLE].tried == 60 * 4
    # what only a whole run can tell is said, and is no failure
    (left,) = (
        each for each in found.values() if "reproduce" in " ".join(each.remarks) and not each.tried
    )
    assert left.unknown == 1


def test_what_was_not_given_is_told_as_not_checked(worker, made):
    found = checks(worker, made / "audit.fairdesk", data=None, model=None)
    assert failed(found) == set()
    for name in (SAME_DATA, SAME_TABLE, SAME_MODEL, ASKED_AGAIN, GROUPS, RULE_SETS):
        assert (found[name].tried, found[name].unknown) == (0, 1)
    assert "--model" in found[SAME_MODEL].remarks[0]
    assert "--data" in found[SAME_DATA].remarks[0]
    assert SCORES not in found
    # what the file says of itself needs neither
    assert found[CHAIN].tried > 5
    assert found[PEOPLE].tried > 100
    assert found["Run 5: the proof certificate, compared with the model"].unknown == 1


def test_a_stated_sample_of_pairs_is_drawn_by_its_seed(worker, made):
    found = checks(worker, made / "audit.fairdesk", sample=25, seed=7)
    assert found[ASKED_AGAIN].tried == found[PEOPLE].tried == 25
    said = " ".join(found[PEOPLE].remarks)
    assert "25 of the" in said
    assert "(random seed 7)" in said
    assert failed(found) == set()


def test_one_byte_of_the_data(worker, path):
    data = path.parent / "people.csv"
    text = data.read_text()
    data.write_text(text.replace("female", "male", 1))
    assert failed(checks(worker, path)) == {SAME_DATA, SAME_TABLE}
    # a byte that changes nothing of the table
    data.write_text(text + "\n")
    assert failed(checks(worker, path)) == {SAME_DATA}
    data.write_text("a,b\n1,2\n3,4\n")
    assert failed(checks(worker, path)) == {SAME_DATA, SAME_TABLE}


def test_one_byte_of_the_model(worker, path):
    fake_guest.write_source(path.parent / "model.txt", opening="# another one")
    found = checks(worker, path)
    assert failed(found) == {SAME_MODEL}
    # another model is not even opened
    assert found[ASKED_AGAIN].remarks == (
        "A different model is not queried: its outputs are not relevant to this audit.",
    )


def test_a_model_that_says_otherwise(worker, path):
    """Whoever writes the fingerprint of another model into the question is told by its answers."""
    model = fake_guest.write_source(
        path.parent / "model.txt", misbehaviour="rows = rows * [0.8, 1, 1]"
    )
    with Store.read(path) as store:
        spec = store.spec
    card = msgspec.structs.replace(spec.model, sha256=sha256(model))
    forged = msgspec.json.encode(msgspec.structs.replace(spec, model=card)).decode()
    audited.change(path, "UPDATE audit SET spec = ?", forged)
    found = failed(checks(worker, path))
    assert found >= {QUESTION, ASKED_AGAIN, SCORES, GROUPS, RULE_SETS, SHARES}
    assert SAME_MODEL not in found


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("UPDATE finding SET phase = 'other' WHERE id = 9", {RUNS}),
        ("UPDATE finding SET row_score = row_score + 1e-9 WHERE id = 9", {RUNS}),
        ("UPDATE finding SET run = 2 WHERE id = 9", {RUNS, TOTALS}),
        ("UPDATE finding SET sufficient_alone = 0 WHERE id = 9", {RUNS, TOTALS}),
        ("UPDATE finding SET distance = distance / 2 + 0.1 WHERE id = 9", {LEARNED}),
        ("UPDATE finding SET nearest = nearest + 1 WHERE id = 9", {LEARNED}),
        ("UPDATE finding SET mark = '' WHERE mark = 'dismissed'", {DECISIONS}),
        ("UPDATE finding SET mark = 'flagged' WHERE id = 9", {DECISIONS}),
        ("UPDATE finding SET note = 'Nothing.' WHERE note != ''", {DECISIONS}),
        ("DELETE FROM finding WHERE id = 9", {RUNS, TOTALS, LEARNED}),
        ("UPDATE run SET tried = tried + 1 WHERE id = 1", {RUNS, TOTALS}),
        ("UPDATE run SET found = found + 1 WHERE id = 1", {RUNS, TOTALS}),
        ("UPDATE run SET ended = '2020-02-02T20:20:20+00:00' WHERE id = 1", {RUNS}),
        ("UPDATE run SET state = 'running' WHERE id = 1", {RUNS}),
        ("UPDATE run SET figures = replace(figures, '0.', '0.1') WHERE id = 3", {RUNS}),
        ("UPDATE run SET spec = replace(spec, '\"seed\":3', '\"seed\":4') WHERE id = 1", {RUNS}),
        ("UPDATE progress SET tried = tried + 1 WHERE run = 1", {RUNS, TOTALS}),
        ("DELETE FROM run WHERE id = 4", {RUNS, TOTALS}),
        ("DELETE FROM certificate", {RUNS}),
        ("INSERT INTO pair_analyses VALUES (9, 'nearer', '{}')", {LEARNED}),
        ("UPDATE documents SET document = replace(document, 'hire', 'fire')", {DECISIONS}),
        ("UPDATE documents SET document = replace(document, 'us-letter', 'a4')", {DECISIONS}),
        ("UPDATE audit SET spec = replace(spec, 'applicant', 'applicent')", {QUESTION, SENTENCES}),
    ],
)
def test_one_value_changed_by_hand_is_caught_in_its_check(path, sql, names):
    assert recorded(path) == set()
    audited.change(path, sql)
    assert recorded(path) == names


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        (f"UPDATE finding SET row_score = row_score + 0.001 WHERE id = {SURE}", {SCORES}),
        (f"UPDATE finding SET partner_score = 1.0 WHERE id = {SURE}", {SCORES}),
        (f"UPDATE finding SET row_class = 1 - row_class WHERE id = {SURE}", {ASKED_AGAIN}),
        (f"UPDATE finding SET y1 = x1 WHERE id = {SURE}", {PEOPLE, DISTANCES}),
        (f"UPDATE finding SET x0 = 400 WHERE id = {SURE}", {PEOPLE, DISTANCES}),
        (f"UPDATE finding SET x0 = 30 WHERE id = {SURE}", {SCORES, ASKED_AGAIN, DISTANCES}),
        (f"UPDATE finding SET sufficient_alone = 0 WHERE id = {SURE}", {ALONE}),
        (f"UPDATE finding SET distance = distance / 2 + 0.1 WHERE id = {SURE}", {DISTANCES}),
        (f"UPDATE finding SET typicality = 0.5 WHERE id = {SURE}", {DISTANCES}),
        (f"UPDATE finding SET partner_typicality = 0.5 WHERE id = {SURE}", {DISTANCES}),
        (f"UPDATE finding SET partner_distance = 0.9 WHERE id = {SURE}", {DISTANCES}),
        (f"UPDATE finding SET plausible = 1 - plausible WHERE id = {SURE}", {DISTANCES}),
        (f"UPDATE finding SET nearest = 1 - min(nearest, 1) WHERE id = {SURE}", {DISTANCES}),
        (
            "UPDATE pair_analyses SET document = json_set(document, '$.held_out', 0.5)",
            {DISTANCES},
        ),
        ("UPDATE run SET figures = replace(figures, '\"hits\":', '\"hits\":1')", {SHARES}),
        (
            "UPDATE run SET figures = replace(figures, '\"n_samples\":', '\"n_samples\":1')",
            {GROUPS},
        ),
        (
            "UPDATE run SET figures = replace(figures, '\"data_in\":0', '\"data_in\":1')",
            {RULE_SETS},
        ),
        ("UPDATE run SET figures = replace(figures, '\"rows\":', '\"rows\":1')", {RULE_SETS}),
    ],
)
def test_one_value_is_caught_by_the_model_too(worker, path, sql, names):
    """Also where whoever changed it has written the log anew, and no manifest tells."""
    audited.change(path, sql)
    found = failed(checks(worker, path)) - {RUNS, TOTALS, LEARNED}
    assert found >= names
    # whoever is somebody else is decided about otherwise, too
    assert found - names <= ({ALONE, SHARES} if "x0" in sql or "n_samples" in sql else set())


def entries(path):
    with Store.read(path) as store:
        return store.log_entries()


def anchored(path):
    """Say what a manifest of an audit as it is now would say of its log."""
    log = entries(path)
    return Anchor(len(log), digests.head(log), "manifest.json")


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE log SET what = what || '.' WHERE number = 3",
        "UPDATE log SET at = '2026-01-01T00:00:00+00:00' WHERE number = 1",
        "UPDATE log SET kind = 'other' WHERE number = 2",
        "UPDATE log SET facts = replace(facts, '0', '1') WHERE number = 1",
        "DELETE FROM log WHERE number = 4",
        "INSERT INTO log SELECT 99, at, what, kind, facts, link FROM log WHERE number = 2",
        "UPDATE log SET link = substr(link, 2) || substr(link, 1, 1) WHERE number = 5",
    ],
)
def test_a_log_that_was_changed_is_caught(path, sql):
    audited.change(path, sql)
    assert CHAIN in recorded(path)


def test_a_log_that_was_written_anew_shows_against_a_manifest(path):
    """Also one whose every fingerprint is right."""
    anchor = anchored(path)
    assert recorded(path, anchor) == set()
    with Store.open(path) as store:
        store.mark(3, "flagged")
    # it may go on
    assert recorded(path, anchor) == set()
    audited.change(path, "UPDATE log SET at = '2026-01-01T00:00:00+00:00' WHERE number = 1")
    audited.chained_anew(path)
    assert recorded(path) == set()
    assert recorded(path, anchor) == {ANCHOR}
    audited.change(path, "DELETE FROM log WHERE number > 6")
    assert ANCHOR in recorded(path, anchor)


def test_a_log_that_no_longer_tells_what_it_should(path):
    audited.change(path, "UPDATE log SET facts = '{}' WHERE kind = 'ran'")
    audited.chained_anew(path)
    assert recorded(path) == {RUNS}


def appended(path, told, kind="ran"):
    """Append an entry to the log as FairDesk does."""
    with closing(sqlite3.connect(path)) as connection, connection:
        add_entry(connection, "Something.", kind, told(connection))


@pytest.mark.parametrize("run", [1, 3])
def test_a_run_that_was_changed_and_told_to_have_ended_again(path, run):
    """The log only goes on: no manifest of before would tell."""
    anchor = anchored(path)
    audited.change(path, "UPDATE finding SET row_score = 0.123 WHERE id = 1")
    audited.change(path, "UPDATE run SET message = 'Other.' WHERE id = ?", run)
    appended(path, lambda connection: digests.run(connection, run))
    with Store.read(path) as store:
        found = {each.name: each for each in check_record(store, anchor)}
    # and the entry says “Something.”
    assert failed(found) == {RUNS, SENTENCES}
    assert f"the start or the end of run {run} more than once" in " ".join(found[RUNS].remarks)


@pytest.mark.parametrize("state", ["running", "done"])
def test_a_run_that_was_put_in(path, state):
    audited.change(
        path,
        "INSERT INTO run (id, spec, state, started, sufficient_alone)"
        " SELECT 77, spec, ?, started, '[0]' FROM run WHERE id = 3",
        state,
    )
    assert recorded(path) == {RUNS, TOTALS}


def test_a_run_that_goes_on_is_told_as_not_checked(path):
    with Store.open(path) as store:
        store.begin_run(audited.RUNS[0])
    with Store.read(path) as store:
        found = {each.name: each for each in check_record(store, None)}
    assert failed(found) == set()
    assert found[RUNS].unknown == 1


def test_what_was_learned_and_told_otherwise_later_is_remarked(path):
    with Store.open(path) as store:
        store.learn(2, "nearer", msgspec.convert({"a": 1}, type=Anchored))
        store.learn(2, "nearer", msgspec.convert({"a": 2}, type=Anchored))
    with Store.read(path) as store:
        found = {each.name: each for each in check_record(store, None)}
    assert failed(found) == set()
    assert any("“nearer” of pair 2" in said for said in found[LEARNED].remarks)


class Anchored(msgspec.Struct):
    a: int


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("CREATE TABLE evil (x)", "table “evil”"),
        ("CREATE INDEX evil ON finding (x0)", "index “evil”"),
        ("INSERT INTO audit SELECT spec || ' ', codes FROM audit", "2 audit plans"),
        ("INSERT INTO documents VALUES ('other', '{}')", "“other”"),
    ],
)
def test_what_fairdesk_never_writes_is_told(path, sql, said):
    audited.change(path, sql)
    with Store.read(path) as store:
        found = {each.name: each for each in check_record(store, None)}
    assert failed(found) == {SOUND}
    assert said in found[SOUND].remarks[0]


def test_an_index_that_fairdesk_makes_is_no_stranger(path):
    audited.change(path, "CREATE INDEX finding_by_x0 ON finding (x0, id, run)")
    assert recorded(path) == set()


def test_a_manifest_that_the_file_keeps_and_the_log_does_not_know(path):
    with Store.open(path) as store:
        store.exported("Exported it.", {"people.csv": path.parent / "people.csv"}, '{"a": 1}')
    assert recorded(path) == set()
    audited.change(path, "UPDATE documents SET document = '{\"a\": 2}' WHERE name = 'manifest'")
    assert recorded(path) == {DECISIONS}
    audited.change(path, "DELETE FROM documents WHERE name = 'manifest'")
    assert recorded(path) == {DECISIONS}


def test_a_certificate_that_was_changed(worker, path):
    with Store.read(path) as store:
        header, arrays = store.certificate(5)
    told = certificate.decoded(header)
    forged = msgspec.structs.replace(told, certified=told.falsified, falsified=told.certified)
    with Store.open(path) as store:
        store.certify(5, certificate.encoded(forged), arrays)
    found = failed(checks(worker, path))
    assert RUNS in found
    assert f"Run 5: {phrases.TOTALS_FOLLOW}" in found
    assert "Run 5: the proof certificate belongs to this audit and matches its figures" in found


def test_what_is_proven_of_one_attribute_alone_is_no_part_of_the_certificate(path):
    with Store.open(path) as store:
        (run,) = (each for each in store.runs() if each.id == 5)
        whole = next(each for each in run.figures if isinstance(each, Proven))
        alone = msgspec.structs.replace(
            whole, attributes=("alone",), total="7", certified_people="7", certified=1.0
        )
        store.measure(5, (*run.figures, alone))
        header = certificate.decoded(store.certificate(5)[0])
        assert not check_proven(store, 5, header).failed


def test_a_byte_of_a_certificates_file(worker, path):
    audited.change(path, "UPDATE certificate SET file = substr(file, 1, length(file) - 40)")
    found = failed(checks(worker, path))
    assert RUNS in found
    assert "Run 5: the proof certificate can be read" in found


def test_a_damaged_database_is_told(worker, path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 4000] = b"\xff" * 4000
    path.write_bytes(content)
    try:
        found = failed(checks(worker, path))
    except StoreError:
        return
    assert found


def test_a_truncated_file_is_no_audit(worker, path):
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(StoreError):
        checks(worker, path)


#: Everything that a report prints; `audit.codes`, files and the log have tests of their own.
PRINTED = {
    "run": (
        *("spec", "state", "message", "started", "ended", "elapsed", "tried", "found", "queries"),
        *("seconds", "sufficient_alone", "rejected", "figures"),
    ),
    "progress": ("run", "elapsed", "tried", "found", "queries"),
    "finding": (
        *("run", "phase", "x0", "x1", "x2", "y1", "row_score", "partner_score", "row_class"),
        *(
            "partner_class",
            "sufficient_alone",
            "plausible",
            "distance",
            "partner_distance",
            "typicality",
            "partner_typicality",
            "nearest",
            "repeats",
            "mark",
            "note",
        ),
    ),
    "log": ("at", "what", "kind", "facts", "link"),
    "documents": ("name", "document"),
    "audit": ("spec", "codes"),
    "certificate": ("run", "file"),
}


def filled(path):
    with Store.read(path) as store:
        return store.details(), store.choice()


def flipped(value, draw):
    """Return another value of the same kind."""
    if value is None:
        return 0.125
    if isinstance(value, bytes):
        place = draw(st.integers(0, len(value) - 1))
        return value[:place] + bytes([value[place] ^ 1]) + value[place + 1 :]
    if isinstance(value, str):
        if not value:
            return "x"
        place = draw(st.integers(0, len(value) - 1))
        return value[:place] + chr(ord(value[place]) ^ 1) + value[place + 1 :]
    return value + 1


@settings(max_examples=many(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_cell_is_changed_shows(made, tmp_path, data):
    table = data.draw(st.sampled_from(sorted(PRINTED)))
    column = data.draw(st.sampled_from(PRINTED[table]))
    path = tmp_path / "flipped.fairdesk"
    path.write_bytes((made / "audit.fairdesk").read_bytes())
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = connection.execute(f"SELECT rowid, {column} FROM {table}").fetchall()
        number, value = data.draw(st.sampled_from(rows))
        connection.execute(
            f"UPDATE {table} SET {column} = ? WHERE rowid = ?",
            (flipped(value, data.draw), number),
        )
    try:
        found = recorded(path)
        # where nothing is filled in, it does not matter under which name
        assume(found or table != "documents" or filled(path) != filled(made / "audit.fairdesk"))
    except StoreError:
        return  # what cannot be read shows, too
    assert found, (table, column, number, value)


def test_a_log_that_does_not_tell_with_what_it_began_shows(path):
    audited.change(path, "UPDATE log SET facts = '' WHERE number = 1")
    audited.chained_anew(path)
    with Store.read(path) as store:
        found = {each.name: each for each in check_record(store, None)}
    assert failed(found) == {QUESTION}
