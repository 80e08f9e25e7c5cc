"""The manifest: it names everything, is the same for the same audit, and shows what was changed."""

import hashlib
import json

import msgspec
import pytest

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store import digests
from fairdesk.audit.store.records import Choice, Details, PairQuery
from fairdesk.errors import ReportError, StoreError
from fairdesk.report.document import make_report
from fairdesk.report.provenance import evidence
from fairdesk.report.provenance.manifest import Manifest, sidecar
from tests.report.building import people_store, run_into

FEW = {"samples": 60}


@pytest.fixture
def store(tmp_path):
    with people_store(tmp_path) as store:
        run_into(store, "uniform", options=FEW, seed=7)
        yield store


def of(store):
    return sidecar(store, {}).decode()


def read(store):
    return json.loads(of(store))


def test_it_names_question_files_runs_versions_and_decisions(store):
    store.write_details(Details({"auditor": "Ada"}, logo=b"<svg/>"))
    told, spec, (run,) = read(store), store.spec, store.runs()
    assert (told["format"], told["version"]) == ("FairDesk manifest", 1)
    assert told["audit"] == evidence.identity(spec)
    assert told["data"] == {"path": spec.data.path, "sha256": spec.data.sha256}
    assert told["model"]["sha256"] == spec.model.sha256
    assert told["question_sha256"].upper().startswith(told["audit"][3:].replace("-", ""))
    assert told["table_sha256"] == digests.table(store.table())
    assert told["versions"] == spec.versions
    assert told["details"] == {"auditor": "Ada", "logo": hashlib.sha256(b"<svg/>").hexdigest()}
    (ran,) = told["runs"]
    assert (ran["method"], ran["seed"], ran["state"]) == ("uniform", 7, run.state)
    assert ran["options"]["samples"] == 60
    assert (ran["started"], ran["ended"]) == (run.started, run.ended)
    fingerprints = msgspec.to_builtins(store.run_fingerprints(run.id))
    assert ran["sha256"] == fingerprints
    log = store.log_entries()
    assert (told["log"]["entries"], told["log"]["head"]) == (len(log), digests.head(log))
    assert [each["what"] for each in told["log"]["lasting"]] == [each.what for each in log]
    # documented as a struct: nothing more, nothing less
    decoded = msgspec.json.decode(of(store), type=Manifest)
    assert json.loads(msgspec.json.encode(decoded)) == told
    assert decoded.commands[0].startswith("fairdesk audit")


def test_settings_that_nobody_touched_are_told_too(store):
    store.begin_run(RunSpec("uniform", max_distance=0.2))
    first, second = read(store)["runs"]
    assert (first["options"], first["asked"]) == (FEW, {})
    assert second["options"]["samples"] > 60
    assert second["asked"] == {"max_distance": 0.2}
    assert second["sha256"] is None


def test_a_report_is_the_same_before_and_after_it_is_exported(store, tmp_path):
    before, report = of(store), make_report(store)
    (tmp_path / "report.pdf").write_bytes(b"%PDF")
    store.exported("Exported.", {"report.pdf": tmp_path / "report.pdf"}, before)
    store.log("Exported.", "exported")
    assert of(store) == before
    assert make_report(store) == report
    assert store.manifest() == before
    store.mark(1, "flagged")
    assert of(store) != before
    # what passed before a lasting entry is counted, for its place in the chain, and not told
    told, log = read(store)["log"], store.log_entries()
    assert told["entries"] == len(log)
    assert len(told["lasting"]) == len(log) - 2
    assert log[told["entries"] - 1].link == told["head"]


def test_every_export_is_logged_with_its_fingerprint(store, tmp_path):
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    one.write_bytes(b"a,b\n")
    other.write_bytes(b"")
    beside = sidecar(store, {"one.csv": one, "other.csv": other})
    told = json.loads(beside)
    digest = hashlib.sha256(b"a,b\n").hexdigest()
    assert told["files"][0] == {"name": "one.csv", "size": 4, "sha256": digest}
    assert told | {"files": []} == read(store)
    assert sidecar(store, {"one.csv": one, "other.csv": other}) == beside
    store.exported("Exported two tables.", {"one.csv": one, "other.csv": other}, beside.decode())
    first, last = digests.exported_files(store.log_entries())
    assert (first.name, first.path, first.sha256, first.size) == ("one.csv", str(one), digest, 4)
    assert (last.name, last.size) == ("other.csv", 0)
    for call in (
        lambda: sidecar(store, {"x": tmp_path / "gone"}),
        lambda: store.exported("Exported.", {"x": tmp_path / "gone"}),
    ):
        with pytest.raises((ReportError, StoreError), match="cannot be read"):
            call()


def test_how_the_report_is_wanted_is_in_the_log(store):
    before = read(store)
    store.write_choice(Choice(paper="us-letter"))
    after = read(store)
    assert after["log"]["entries"] == before["log"]["entries"] + 1
    assert json.loads(after["log"]["lasting"][-1]["facts"])["paper"] == "us-letter"


def test_what_only_names_rows_is_left_out(store):
    names, jobs = (store.table().column(name).values for name in ("name", "job"))
    assert names[0] == "Person 0"
    assert all(text not in of(store) for text in ("Person 0", names[-1]))
    assert all(json.dumps(job) in of(store) for job in jobs)


@pytest.mark.parametrize(
    ("statement", "part"),
    [
        ("UPDATE finding SET row_score = row_score + 1e-9 WHERE id = 2", "findings"),
        ("DELETE FROM finding WHERE id = 2", "findings"),
        ("UPDATE run SET queries = queries + 1", "record"),
        ("UPDATE run SET ended = '2031-01-01T00:00:00+00:00'", "record"),
        ("UPDATE run SET figures = '[ ]'", "record"),
        ("UPDATE progress SET tried = tried + 1", "progress"),
    ],
)
def test_findings_changed_by_hand_contradict_the_log(store, statement, part):
    assert store.count(PairQuery()) > 2
    told = msgspec.to_builtins(digests.replayed(store.log_entries()).ended[1])
    assert told == msgspec.to_builtins(store.run_fingerprints(1))
    store._connection.execute(statement)
    now = msgspec.to_builtins(store.run_fingerprints(1))
    assert {name for name in told if now[name] != told[name]} - {"ended"} == {part}


def test_marks_notes_and_distances_are_no_part_of_a_run(store):
    before = store.run_fingerprints(1)
    store.mark(1, "dismissed")
    store.note(1, "Nobody is 17.")
    store._connection.execute("UPDATE finding SET distance = 0.5, typicality = 1, nearest = 3")
    assert store.run_fingerprints(1) == before
