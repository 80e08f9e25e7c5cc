"""The log: everything that a report prints is bound to its chain, whoever writes it."""

import multiprocessing
import shutil

import msgspec
import numpy as np
import pytest

from fairdesk.audit.plan import spec as spec_module
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.runs.plausibility import score_findings
from fairdesk.audit.store import digests
from fairdesk.audit.store import stored_pairs as pairs_module
from fairdesk.audit.store.records import (
    Categories,
    Choice,
    Details,
    Learned,
    LogEntry,
    PairQuery,
    Signer,
    Weighed,
)
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.record import CHAIN, check_record
from fairdesk.errors import StoreError
from fairdesk.results.events import Progress
from fairdesk.results.mitigation import Retrained
from tests import phrases
from tests.plausible import scored


@pytest.fixture
def run(store, findings):
    run = store.begin_run(RunSpec("maft", {"global_num": 5}, seed=3))
    store.add(run, findings(300))
    store.add_progress(run, 0.5, Progress("global", 1, 10, 20, 3, 99, {"global": 0.4}))
    return run


def said(store):
    log = store.log_entries()
    assert digests.broken(log) is None
    return digests.replayed(log)


def told(store):
    return [(entry.kind, entry.what) for entry in store.log_entries()]


def test_it_begins_with_the_fingerprints_of_question_and_table(store):
    first = store.log_entries()[0]
    assert (first.kind, first.what) == ("begun", phrases.BEGUN)
    assert said(store).begun == store.fingerprints()
    assert said(store).begun.data == store.spec.data.sha256
    store._connection.execute("UPDATE audit SET spec = replace(spec, '}', ' }')")
    assert said(store).begun.question != store.fingerprints().question


def test_the_table_can_be_fingerprinted_without_fairdesk(store):
    import hashlib
    import zlib

    (packed,) = store._connection.execute("SELECT codes FROM audit").fetchone()
    digest = hashlib.sha256(zlib.decompress(packed)).hexdigest()
    assert digest == digests.table(store.table())


def test_a_run_is_told_when_it_begins_and_ends(store, run):
    begun = said(store).began[run]
    assert begun.spec == RunSpec("maft", {"global_num": 5}, seed=3)
    assert begun.versions == {}
    assert run not in said(store).ended
    store.end_run(run, "stopped", "By the auditor.")
    ended = said(store).ended[run]
    assert (ended.state, ended.ended) == ("stopped", store.runs()[0].ended)
    assert ended == store.run_fingerprints(run)
    assert told(store)[-2:] == [
        ("ran", phrases.RUN_STARTED.format(run=run, title=phrases.MAFT)),
        ("ran", f"Run {run} ended: stopped. By the auditor."),
    ]


def test_a_run_on_another_machine_says_so(store, monkeypatch):
    here = spec_module.versions() | {"numpy": "0.1", "processor": "another one"}
    monkeypatch.setattr("fairdesk.audit.store.store.versions", lambda: here)
    run = store.begin_run(RunSpec("maft"))
    assert said(store).began[run].versions == {"numpy": "0.1", "processor": "another one"}


def test_a_run_that_was_cut_off_is_bound_as_it_was_found(store, run):
    store.close_interrupted_runs()
    assert said(store).ended[run] == store.run_fingerprints(run)
    assert said(store).ended[run].state == "failed"
    store._connection.execute("UPDATE finding SET row_class = 1 - row_class WHERE id = 9")
    assert said(store).ended[run].findings != store.run_fingerprints(run).findings


@pytest.mark.parametrize(
    ("name", "kept_in", "column"),
    [("certificate", "certificate", "file"), ("made", "artifacts", "content")],
)
def test_what_a_run_proved_or_made_is_bound_too(store, run, name, kept_in, column):
    store._connection.execute("INSERT INTO certificate VALUES (?, zeroblob(3000000))", (run,))
    content = np.arange(90, dtype=np.int8)
    store.keep_model(run, Retrained("saving", 2, "model.keras", "A file.", content))
    store.end_run(run, "done")
    before = said(store).ended[run]
    assert before.certificate
    assert before.made
    with store._connection.blobopen(kept_in, column, 1) as blob:
        blob.seek(60)
        blob.write(b"\x07")
    changed = store.run_fingerprints(run)
    assert getattr(changed, name) != getattr(before, name)
    assert msgspec.structs.replace(changed, **{name: getattr(before, name)}) == before


def test_findings_of_other_runs_do_not_matter(store, run, findings):
    store.end_run(run, "done")
    other = store.begin_run(RunSpec("uniform"))
    store.add(other, findings(20, seed=5))
    store.end_run(other, "done")
    assert said(store).ended == {n: store.run_fingerprints(n) for n in (run, other)}
    assert said(store).ended[run].findings != said(store).ended[other].findings


class Ruler:
    """Weighs by the first attribute, and is cut off when it is told to be."""

    def __init__(self, good_for=99):
        self.left = good_for

    def score_plausibility(self, domain, people, rows, partners):
        if not self.left:
            raise StoreError("Cut off.")
        self.left -= 1
        distance = rows[:, 0] % 10 / 10
        return scored(distance, np.arange(len(rows)) % 5, 1 - distance)


def test_distances_are_bound_batch_by_batch(store, run, findings, monkeypatch):
    monkeypatch.setattr("fairdesk.audit.runs.plausibility.BATCH", 120)
    people = np.zeros((5, 3))
    with pytest.raises(StoreError, match="Cut off"):
        score_findings(Ruler(2), store, people, lambda *_: None)
    score_findings(Ruler(), store, people, lambda *_: None)
    store.add(run, findings(30, seed=8))
    score_findings(Ruler(), store, people, lambda *_: None)
    ranges = said(store).weighed
    assert [(each.first, each.last) for each in ranges] == [
        *((1, 120), (121, 240), (241, 300), (301, 330)),
    ]
    for each in ranges:
        assert store.weighed_fingerprint(each.first, each.last) == each.sha256
    store._connection.execute("UPDATE finding SET distance = 0.01 WHERE id = 245")
    assert [store.weighed_fingerprint(each.first, each.last) == each.sha256 for each in ranges] == [
        True,
        True,
        False,
        True,
    ]


def test_what_is_learned_of_a_pair_is_bound(store, run):
    store.learn(3, "why", RunSpec("maft"), "Pair 3: explained.")
    store.learn(3, "why", RunSpec("uniform"), "Pair 3: explained.")
    store.learn(3, "minimal", RunSpec("uniform"))
    assert told(store)[-2:] == [
        ("learned", "Pair 3: explained."),
        ("learned", "Pair 3: “minimal” was recorded."),
    ]
    assert said(store).learned == store.learned_fingerprints()
    change = "UPDATE pair_analyses SET document = replace(document, 'uniform', 'maft')"
    store._connection.execute(change)
    assert said(store).learned != store.learned_fingerprints()


def test_marks_and_notes_are_replayed_and_a_dismissal_has_its_reason_beside_it(store, run):
    store.mark(2, "flagged")
    store.mark(7, "dismissed")
    store.note(7, "Nobody earns “-1”.")
    store.mark(2, "")
    store.note(8, "Ask.")
    store.note(8, "")
    assert told(store)[-6:] == [
        ("marked", "Pair 2: flagged."),
        ("marked", "Pair 7: dismissed."),
        ("marked", "Pair 7: note “Nobody earns “-1”.”."),
        ("marked", "Pair 2: not marked."),
        ("marked", "Pair 8: note “Ask.”."),
        ("marked", "Pair 8: note removed."),
    ]
    replayed = said(store)
    assert replayed.marks == {7: "dismissed"}
    assert replayed.notes == {7: "Nobody earns “-1”."}
    pairs = list(store.each_pair(PairQuery()))
    assert {pair.id: pair.mark for pair in pairs if pair.mark} == replayed.marks
    assert {pair.id: pair.note for pair in pairs if pair.note} == replayed.notes


def test_a_mark_and_its_entry_are_written_together_or_not_at_all(store, run, monkeypatch):
    before = store.log_entries()
    for call in (lambda: store.mark(999, "flagged"), lambda: store.note(999, "Who?")):
        with pytest.raises(StoreError, match="no pair 999"):
            call()
    monkeypatch.setattr("fairdesk.audit.store.file.add_entry", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.mark(1, "flagged")
    assert store.pair(1).mark == ""
    assert store.log_entries() == before


def test_details_and_choice_are_replayed(store):
    first = Details({"auditor": "Ada", "system": "S"}, (Signer("A"),), Categories("sex"), b"<svg/>")
    store.write_details(first)
    store.write_details(first)
    store.write_choice(Choice(paper="us-letter"))
    store.write_choice(Choice(paper="us-letter"))
    assert said(store).details == digests.details_facts(store.details())
    last = Details({"auditor": "Grace"}, logo=b"<svg></svg>")
    store.write_details(last)
    replayed = said(store)
    assert replayed.details == digests.details_facts(last)
    assert set(replayed.details) == {"auditor", "logo"}
    assert replayed.choice == store.choice() == Choice(paper="us-letter")
    assert [kind for kind, _ in told(store)].count("details") == 2
    assert [kind for kind, _ in told(store)].count("choice") == 1


@pytest.mark.parametrize(
    ("kind", "document"),
    [
        ("ran", '{"step":"ended"}'),
        ("marked", '{"pair":"x"}'),
        ("learned", "[]"),
        ("begun", "{"),
        ("choice", '{"paper":"a5"}'),
        ("details", "7"),
    ],
)
def test_an_entry_that_tells_something_else_is_named(kind, document):
    good = LogEntry("2026-01-01T00:00:00+00:00", "Hello.", "decided", "")
    with pytest.raises(StoreError, match="Entry 2 ") as caught:
        digests.replayed([good, msgspec.structs.replace(good, kind=kind, facts=document)])
    assert caught.value.remedy


def test_what_is_told_is_told_apart():
    for each in (Weighed(1, 2, "ab"), Learned(1, "why", "ab")):
        entry = LogEntry("", "", "learned", msgspec.json.encode(each).decode())
        replayed = digests.replayed([entry])
        assert bool(replayed.weighed) == isinstance(each, Weighed)
        assert bool(replayed.learned) == isinstance(each, Learned)


def write_much(path, name, begin, count):
    """Another window: it logs, marks and notes."""
    with Store.open(path) as store:
        begin.wait(30)
        for i in range(count):
            store.log(f"{name} {i}", "decided", {"by": name})
            store.mark(1 + i % 20, ("flagged", "dismissed")[i % 2])
            store.note(21 + i % 20, f"{name} {i}")
            store.write_details(Details({name: str(i)}))


def test_two_windows_lose_nothing_and_keep_the_chain_whole(store, run):
    context = multiprocessing.get_context("spawn")
    begin, count = context.Event(), 25
    windows = [
        context.Process(target=write_much, args=(store.path, name, begin, count))
        for name in ("one", "other")
    ]
    for window in windows:
        window.start()
    begin.set()
    for window in windows:
        window.join(60)
        assert window.exitcode == 0
    log = store.log_entries()
    assert digests.broken(log) is None
    for name in ("one", "other"):
        own = [entry.what for entry in log if entry.kind == "decided" and name in entry.facts]
        assert own == [f"{name} {i}" for i in range(count)]
    replayed = digests.replayed(log)
    pairs = list(store.each_pair(PairQuery()))
    assert {pair.id: pair.mark for pair in pairs if pair.mark} == replayed.marks
    assert {pair.id: pair.note for pair in pairs if pair.note} == replayed.notes
    assert replayed.details == digests.details_facts(store.details())


def test_a_removed_changed_or_added_entry_shows(store, run, tmp_path):
    store.mark(1, "flagged")
    store.end_run(run, "done")
    store.close()
    for statement in (
        "DELETE FROM log WHERE number = 3",
        "UPDATE log SET what = 'Nothing.' WHERE number = 2",
        "UPDATE log SET facts = replace(facts, 'flagged', 'dismissed')",
        "UPDATE log SET at = '2020-01-01T00:00:00+00:00' WHERE number = 1",
    ):
        shutil.copy(store.path, tmp_path / "copy.fairdesk")
        with Store.open(tmp_path / "copy.fairdesk") as copy:
            assert digests.broken(copy.log_entries()) is None
            copy._connection.execute(statement)
            assert digests.broken(copy.log_entries()) is not None


def test_a_clock_that_was_set_back_is_mentioned_and_is_no_tampering(store, monkeypatch):
    times = iter(
        ("2031-05-05T10:00:00+00:00", "2031-05-05T09:30:00+00:00", "2031-05-05T09:31:00+00:00")
    )
    monkeypatch.setattr("fairdesk.audit.store.schema.now", lambda: next(times))
    assert digests.set_back(store.log_entries()) == []
    for what in ("One.", "Two.", "Three."):
        store.log(what, "details")
    log = store.log_entries()
    assert [log[place].what for place in digests.set_back(log)] == ["Two."]
    found = {each.name: each for each in check_record(store, None)}
    assert not any(each.failed for each in found.values())
    (said,) = (each for each in found[CHAIN].remarks if phrases.CLOCK_SET_BACK in each)
    assert "2031-05-05T09:30:00+00:00 after 2031-05-05T10:00:00+00:00" in said


def test_a_run_is_bound_by_what_was_written_as_by_what_is_read(store, findings, monkeypatch):
    many, few = findings(2 * pairs_module.CHUNK + 7), findings(5, seed=1, phase="global")
    # a file keeps no sign of 0.0
    many.rows[:3, 2] = -0.0
    run = store.begin_run(RunSpec("maft"))
    store.add(run, many)
    store.add(run, few)
    reading = []
    read = digests.found
    monkeypatch.setattr(digests, "found", lambda *told: reading.append(told) or read(*told))
    store.end_run(run, "done")
    assert not reading
    log_state = said(store)
    assert log_state.ended[run] == store.run_fingerprints(run)


def test_a_run_whose_findings_others_wrote_is_read_again(store, findings):
    run = store.begin_run(RunSpec("maft"))
    with Store.open(store.path) as other:
        other.add(run, findings(20))
    store.add(run, findings(30, seed=1))
    store.end_run(run, "done")
    log_state = said(store)
    assert log_state.ended[run] == store.run_fingerprints(run)


def test_findings_that_did_not_fit_leave_a_run_bound_to_those_that_did(store, findings):
    run = store.begin_run(RunSpec("maft"))
    store.add(run, findings(30))
    broken = findings(2 * pairs_module.CHUNK)
    broken.rows[-1, 0] = np.nan
    with pytest.raises(StoreError):
        store.add(run, broken)
    store.end_run(run, "failed")
    log_state = said(store)
    assert log_state.ended[run] == store.run_fingerprints(run)
    assert store.runs()[0].found == 30 + pairs_module.CHUNK
