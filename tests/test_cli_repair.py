"""``fairdesk repair``: whole repairs, what they say and export, and what can go wrong."""

import json
import os
import signal
import sys
import threading
from types import SimpleNamespace

import msgspec
import pandas as pd
import pytest

from fairdesk.app import outputs
from fairdesk.app.repair import trial_to_export
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.runs.run import run
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.cli import main as cli
from fairdesk.cli import repair as cli_repair
from fairdesk.cli import terminal
from fairdesk.data.formats.reading import read_table
from fairdesk.files import sha256
from fairdesk.results.mitigation import Repair
from fairdesk.results.proofs import Condition
from fairdesk.results.subgroups import RuleSearchSummary, RuleSet
from fairdesk.results.trials import measure_of, repair_of, trials_of
from fairdesk.samples import samples
from tests import phrases
from tests.audit import fake_guest, making
from tests.report.repairs import HELPLESS_FIGURES

SMALL = ("--option", "people=1000", "certify=0", "compare=none", "most=4")
#: Three models are “trained”, the last one is the best.
SHORT = ("--option", "batch=3")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch, shared_guests):
    """Keep the log out of the user's home."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


class Lasting(Worker):
    """A worker for several commands: to start a process takes longer than most of these tests."""

    def close(self):
        pass


@pytest.fixture(scope="module")
def worker():
    worker = Lasting(command=(sys.executable, fake_guest.__file__))
    yield worker
    Worker.close(worker)


@pytest.fixture
def guest(worker, monkeypatch):
    """Let a guest that loads no library do what all commands ask."""
    monkeypatch.setitem(METHODS, "steps", fake_guest.STEPS)
    monkeypatch.setattr(terminal, "Worker", lambda: worker)
    monkeypatch.setitem(
        outputs.OUTPUTS, "report.pdf", lambda _store, path: path.write_bytes(b"%PDF")
    )


@pytest.fixture
def audit(guest, worker, tmp_path):
    """Make an audit with pairs, of a model that does this when it is “trained”."""

    def make(training="pass"):
        table = read_table(making.write_people(tmp_path / "people.csv"))
        model = fake_guest.write_source(tmp_path / "model.txt", f"if len(rows) == 7: {training}")
        path = tmp_path / "audit.fairdesk"
        spec = making.spec_of(table, worker.open_model(model))
        with Store.create(path, spec, table) as store:
            *_, last = run(worker, store, RunSpec("steps", {"steps": 8}))
            assert last.found == 24
        return path

    return make


def change(audited, **changed):
    """Change what an audit says of its model."""
    with Store.open(audited) as store:
        trusted = changed.get("needed_trust", False)
        card = msgspec.structs.replace(store.spec.model, **changed)
        spec = msgspec.structs.replace(store.spec, model=card, trusted=trusted)
        text = msgspec.json.encode(spec).decode()
        store._connection.execute("UPDATE audit SET spec = ?", (text,))


@pytest.fixture
def repair(tmp_path, capsys):
    """Repair an audit; gives the exit code, and what was said."""

    def command(path, *more, method="aequitas"):
        arguments = ["repair", path, "--method", method, "--out", tmp_path / "repaired", *more]
        code = cli.main([str(each) for each in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return command


def refused(said, *words):
    """Make sure that a command failed with one line on standard error and nothing else."""
    code, out, err = said
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    for word in words:
        assert word in err


def test_a_repair_from_end_to_end(audit, repair, tmp_path):
    path = audit()
    code, out, err = repair(path, *SHORT, "--labels", "similar", "--seed", "4", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert (told["method"], told["labels"], told["seed"]) == ("aequitas", "similar", 4)
    assert (told["chosen"], told["exported"]) == (2, 2)
    assert (told["state"], told["message"]) == ("done", "")
    assert [each["number"] for each in told["trials"]] == [0, 1, 2]
    assert [each["kind"] for each in told["trials"]] == ["imported", "retrained", "portion"]
    # by the interval of the change from the original model, which touches zero
    assert told["trials"][2]["result"] == "open"
    assert told["trials"][2]["measures"][0]["estimate"] == pytest.approx(0.05)
    target = told["target"]
    assert target["what"] == "share_domain"
    assert target["original_model"]["estimate"] == pytest.approx(0.1)
    assert target["mitigated_model"] == told["trials"][2]["measures"][0]
    (change,) = target["changes"]
    assert (change["against"], change["low"], change["high"]) == (0, -0.1, 0.0)
    # the fake one measures no accuracy
    assert told["accuracy"]["original_model"] is None
    assert told["ended"] == "60 rows were of use."
    assert set(told["files"].values()) == set(map(str, (tmp_path / "repaired").iterdir()))
    original = pd.read_csv(tmp_path / "people.csv")
    augmented = pd.read_csv(told["files"]["augmented.csv"])
    assert augmented.columns.tolist() == original.columns.tolist()
    assert len(augmented) == len(original) + 2
    pd.testing.assert_frame_equal(augmented[:60], original)
    with Store.open(path) as store:
        record = store.runs()[-1]
        assert record.spec.options == {"batch": 3, "labels": "similar"}
        assert isinstance(record.figures[0], Repair)


def test_what_it_says_to_people(audit, repair, tmp_path):
    path = audit()
    code, out, err = repair(path, *SHORT, "--provenance", "columns")
    assert (code, err) == (0, "")
    assert phrases.MAJORITY_OF_FIVE in out
    assert "60 rows were of use." in out
    lines = out.splitlines()
    heads = next(line for line in lines if line.startswith("Candidate"))
    assert "Compared with original" in heads
    assert any(line.startswith("2  ") for line in lines)
    assert any("Original model" in line and "rows added" in line for line in lines)
    assert str(tmp_path / "repaired" / "augmented.csv") in lines
    columns = pd.read_csv(tmp_path / "repaired" / "augmented.csv").columns
    assert "origin" in columns
    # what was exported before is moved out of the way
    assert repair(path, *SHORT)[0] == 0
    assert (tmp_path / "repaired" / "earlier-1" / "augmented.csv").exists()
    assert (tmp_path / "repaired" / "provenance.csv").exists()


def test_where_nothing_helps_nothing_is_exported_but_by_name(audit, repair, tmp_path):
    path = audit()
    code, out, err = repair(path, "--option", "batch=1", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert (told["chosen"], told["exported"], told["files"]) == (None, None, {})
    assert told["target"]["original_model"]["estimate"] == pytest.approx(0.1)
    assert told["target"]["mitigated_model"] is None
    assert not list((tmp_path / "repaired").iterdir())
    code, out, _ = repair(path, "--option", "batch=1")
    assert code == 0
    assert "Nothing is exported: no candidate model with augmentation rows was measured." in out
    # another one than the chosen
    code, out, err = repair(path, *SHORT, "--trial", "1", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert (told["chosen"], told["exported"]) == (2, 1)
    # who opens the audit later sees what left it
    with Store.open(path) as store:
        said = [each.what for each in store.log_entries() if each.what.startswith("Exported")]
    assert said == [
        f"Exported model 1 of the mitigation run {told['run']} to {tmp_path / 'repaired'}."
    ]
    assert len(pd.read_csv(told["files"]["augmented.csv"])) == 61


def test_where_no_portion_helps_the_lowest_is_exported_and_said_to_be_no_more():
    told = repair_of(HELPLESS_FIGURES)
    assert told.chosen == -1
    number = trial_to_export(SimpleNamespace(figures=HELPLESS_FIGURES), None)
    shares = {
        each.number: measure_of(each, told.target, "validation").estimate
        for each in trials_of(HELPLESS_FIGURES)
        if each.kind == "portion" and each.measures
    }
    assert shares[number] == min(shares.values())
    assert len(shares) > 1


def test_a_run_that_was_cut_off_does_not_go_on_for_ever(audit, repair):
    path = audit()
    with Store.open(path) as store:
        cut = store.begin_run(RunSpec("steps", {"steps": 8}))
    assert repair(path, *SHORT)[0] == 0
    with Store.open(path) as store:
        states = {run.id: run.state for run in store.runs()}
    assert states[cut] == "failed"


def test_a_trial_that_there_is_not_is_told_and_the_repair_kept(audit, repair):
    path = audit()
    code, out, err = repair(path, *SHORT, "--trial", "7", "--json")
    assert code == 1
    assert "There is no candidate model 7" in err
    assert "0, 1, 2" in err
    told = json.loads(out)
    assert (told["chosen"], told["exported"], told["files"]) == (2, None, {})
    assert "no candidate model 7 to export" in told["message"]
    # one that adds nothing has nothing to export
    code, out, err = repair(path, *SHORT, "--trial", "0")
    assert code == 1
    assert phrases.ADDS_NO_ROWS in err
    with Store.open(path) as store:
        assert len(store.runs()) == 3


def test_what_is_repaired_is_chosen(audit, repair):
    path = audit()
    with Store.open(path) as store:
        store.mark(3, "flagged")

    def pairs(*more):
        code, out, err = repair(path, "--option", "batch=1", "--json", *more)
        assert (code, err) == (0, "")
        return json.loads(out)["pairs"]

    assert pairs() == 24
    assert pairs("--flagged") == 1
    assert pairs("--pairs-of", "1") == 24
    refused(
        repair(path, "--pairs-of", "2"),
        "no run 2 that found pairs",
        f"{phrases.RUNS_WITH_PAIRS} 1.",
    )


def test_a_budget_is_told(audit, repair):
    path = audit("time.sleep(0.05)")
    code, out, err = repair(path, "--option", "batch=60000", "--seconds", "0.3", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["state"] == "done"
    assert phrases.AT_ITS_LIMIT in told["message"]
    assert told["exported"] == told["chosen"] > 0


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_keep_and_export_what_is_known(audit, repair, number):
    path = audit("time.sleep(0.05)")

    def press():
        for _ in range(400):
            with Store.open(path) as store:
                if len(store.runs()[-1].figures) > 3:
                    break
            threading.Event().wait(0.1)
        os.kill(os.getpid(), number)

    pressing = threading.Thread(target=press)
    pressing.start()
    code, out, err = repair(path, "--option", "batch=60000", "--json")
    pressing.join()
    assert (code, err) == (130, "")
    told = json.loads(out)
    assert told["state"] == "stopped"
    assert told["exported"] == told["chosen"] == len(told["trials"]) - 1
    assert "augmented.csv" in told["files"]


def test_a_repair_that_fails_says_why_and_keeps_what_it_knew(audit, repair):
    path = audit("calls > 12 and sys.exit(3)")
    code, out, err = repair(path, "--option", "batch=60000", "--json")
    assert code == 1
    assert phrases.ASKED_TO_END in err
    told = json.loads(out)
    assert told["state"] == "failed"
    assert phrases.ASKED_TO_END in told["message"]
    assert told["trials"]


# What cannot be repaired


def test_files_that_are_no_audit(repair, tmp_path):
    refused(repair(tmp_path / "gone.fairdesk"), phrases.NO_AUDIT_FILE, "gone.fairdesk")
    other = tmp_path / "other.fairdesk"
    other.write_text("not an audit")
    refused(repair(other), phrases.NO_FAIRDESK_AUDIT)
    assert not (tmp_path / "repaired").exists()


def test_an_audit_without_pairs_or_rule_sets(audit, repair):
    path = audit()
    with Store.open(path) as store:
        for pair in range(1, 25):
            store.mark(pair, "dismissed")
    refused(repair(path), phrases.NO_PAIRS, "dismissed")
    refused(repair(path, "--flagged"), "no flagged")
    refused(
        repair(path, method="testsgd"),
        phrases.NO_RULE_SET_YET,
        "Run “Subgroup discovery (TestSGD)”",
    )
    refused(repair(path, "--rule", "1", method="testsgd"), phrases.NO_RULE_SET_YET)


def test_a_rule_set_is_named_by_its_number(audit, repair):
    path = audit()
    sets = [
        RuleSet(
            *((Condition("sex", (code,)),), "1"),
            *(0.2, 0.6, 0.4, 0.04, 0.9, 0.5, 30, 100, 100, 0.0, 1.0, 0.5),
        )
        for code in (0.0, 1.0)
    ]
    with Store.open(path) as store:
        number = store.begin_run(RunSpec("testsgd"))
        mined = RuleSearchSummary("1", ("sex",), 0.05, 2, 2, 100, 0.04, 0.1)
        store.measure(number, (mined, *sets))
        store.end_run(number, "done")
    refused(
        repair(path, "--rule", "3", method="testsgd"),
        f"{phrases.NO_SUCH_RULE_SET} 3",
        "from 1 to 2",
    )
    refused(repair(path, "--rule", "0", method="testsgd"), f"{phrases.NO_SUCH_RULE_SET} 0")


def test_a_model_that_was_moved_is_named(audit, repair, tmp_path):
    path = audit()
    (tmp_path / "model.txt").rename(tmp_path / "elsewhere.txt")
    refused(
        repair(path, *SHORT),
        phrases.NOT_WHERE_IT_WAS,
        "model.txt",
        "Give the audited file with --m",
    )
    other = tmp_path / "other.txt"
    other.write_text((tmp_path / "elsewhere.txt").read_text() + "\n")
    refused(repair(path, *SHORT, "--model", other), phrases.NOT_THE_AUDITED, "SHA-256")
    code, _, err = repair(path, *SHORT, "--model", tmp_path / "elsewhere.txt")
    assert (code, err) == (0, "")
    with Store.open(path) as store:
        assert [run.state for run in store.runs()] == ["done", "done"]


def test_a_program_is_trusted_anew(audit, repair, tmp_path):
    path = audit()
    model = making.write_model(tmp_path / "program.pkl")
    change(path, path=str(model), sha256=sha256(model), needed_trust=True)
    refused(repair(path, *SHORT), phrases.CAN_RUN_CODE, "add --trust-model")
    code, _, err = repair(path, *SHORT, "--trust-model")
    assert (code, err) == (0, "")


def test_answers_that_are_no_labels(audit, repair):
    path = audit()
    change(path, classes=("0", "1", "2"))
    refused(repair(path), f"{phrases.TWO_ANSWERS} “no”")


def test_a_folder_that_cannot_be_made(audit, repair, tmp_path):
    path = audit()
    (tmp_path / "repaired").write_text("a file")
    refused(repair(path, *SHORT), phrases.CANNOT_BE_MADE, "Choose another folder")
    with Store.open(path) as store:
        assert len(store.runs()) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--method", "maft"), "no “maft”"),
        (("--method", "aequitas", "--labels", "mine"), "no “mine”"),
        (("--method", "aequitas", "--rule", "1"), "only with --method testsgd"),
        (("--method", "testsgd", "--flagged"), "only with --method aequitas"),
        (("--method", "testsgd", "--pairs-of", "1"), "only with --method aequitas"),
        (("--method", "aequitas", "--trial", "-1"), f"“-1” {phrases.NO_WHOLE_NUMBER}"),
        (("--method", "aequitas", "--pairs-of", "first"), phrases.NO_WHOLE_NUMBER),
        ((), "--method"),
    ],
)
def test_wrong_command_lines(capsys, arguments, words):
    with pytest.raises(SystemExit) as ended:
        cli.main(["repair", "audit.fairdesk", "--out", "x", *arguments])
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("speed=1", "no option “speed”"),
        ("most=200", "cannot be “200”"),
        ("labels", phrases.NO_VALUE),
    ],
)
def test_wrong_options(repair, tmp_path, option, words):
    refused(repair(tmp_path / "gone.fairdesk", "--option", option), words)


# A repair as one method of an audit


@pytest.fixture
def auditing(guest, tmp_path, capsys):
    """Audit the small table with these arguments; gives the exit code, figures and complaints."""

    def run(*more):
        people = making.write_people(tmp_path / "people.csv")
        model = fake_guest.write_source(tmp_path / "model.txt")
        arguments = ["audit", "--data", people, "--model", model, "--label", "hired"]
        arguments += ["--favourable", "yes", "--protected", "sex", "--trust-model", "--json"]
        arguments += ["--out", tmp_path / "audit", *more]
        code = cli.main([str(each) for each in arguments])
        out, err = capsys.readouterr()
        return code, json.loads(out) if out else None, err

    return run


def test_an_audit_repairs_what_it_has_found(auditing):
    more = ("--option", "steps=8", "batch=3", "labels=model", "--seed", "2")
    code, told, err = auditing("--method", "steps", "--method", "repair-aequitas", *more)
    assert (code, err) == (0, "")
    first, second = told["runs"]
    assert (first["found"], second["found"]) == (24, 0)
    assert second["options"]["labels"] == "model"
    assert second["seed"] == 2
    assert second["figures"][0]["chosen"] == 2
    assert {"findings.csv", "report.pdf"} <= told["files"].keys()


def test_an_audit_whose_repair_has_nothing_to_work_with_is_written_all_the_same(auditing):
    code, told, err = auditing("--method", "repair-aequitas", "--method", "steps")
    assert code == 1
    assert f"{phrases.NO_PAIRS} for a mitigation" in err
    assert told["found"] == 30
    assert "findings.csv" in told["files"]


def test_a_repair_asks_about_everybody(auditing, tmp_path):
    code, told, err = auditing(
        "--method", "steps", "--method", "repair-aequitas", "--max-distance", "0.2"
    )
    assert (code, told) == (1, None)
    assert "not only on instances near the data" in err
    assert not (tmp_path / "audit" / "audit.fairdesk").exists()


# With real models


def real_audit(tmp_path, model, *more):
    sample = samples()[0]
    folder = tmp_path / "real"
    arguments = ["audit", "--data", sample.data_path, "--model", sample.model_path(model)]
    arguments += ["--label", sample.label, "--favourable", sample.favourable]
    arguments += ["--protected", "sex", "--out", folder, *more]
    assert cli.main([str(each) for each in arguments]) == 0
    return folder / "audit.fairdesk"


@pytest.fixture
def short_report(monkeypatch):
    monkeypatch.setitem(
        outputs.OUTPUTS, "report.pdf", lambda _store, path: path.write_bytes(b"%PDF")
    )


UNIFORM = ("--method", "uniform", "--option", "samples=6000")


def test_a_real_pipeline_is_retrained_and_its_data_feed_it_again(
    tmp_path, repair, capsys, short_report
):
    sample = samples()[0]
    path = real_audit(tmp_path, sample.models[2], *UNIFORM)
    capsys.readouterr()
    code, out, err = repair(path, *SMALL, "--seed", "1", "--trial", "3", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    kinds = [each["kind"] for each in told["trials"]]
    assert kinds[:3] == ["imported", "retrained", "portion"]
    assert told["retrains"] is True
    for what, rows in (("individuals", "test"), ("target", "domain"), ("accuracy", "test")):
        for when in ("original_model", "retrained_baseline", "mitigated_model"):
            measure = told[what][when]
            assert measure["rows"] == rows
            assert measure["low"] <= measure["estimate"] <= measure["high"]
        assert {each["against"] for each in told[what]["changes"]} == {0, 1}
    added = told["trials"][3]["added"]
    original = pd.read_csv(sample.data_path)
    augmented = pd.read_csv(told["files"]["augmented.csv"])
    assert len(augmented) == len(original) + added
    assert set(augmented[sample.label]) == set(original[sample.label])
    assert (augmented.dtypes == original.dtypes).all()


def test_a_model_that_cannot_be_retrained_gets_its_rows_all_the_same(
    tmp_path, repair, capsys, short_report
):
    sample = samples()[0]
    assert sample.models[1].file.endswith(".onnx")
    path = real_audit(tmp_path, sample.models[1], *UNIFORM)
    capsys.readouterr()
    code, out, err = repair(path, *SMALL, "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert (told["retrains"], told["chosen"], told["exported"]) == (False, None, 0)
    assert [each["kind"] for each in told["trials"]] == ["imported"]
    augmented = pd.read_csv(told["files"]["augmented.csv"])
    assert len(augmented) == 5_000 + told["rows"]
    assert not any(name.startswith("model.") for name in told["files"])
    assert told["ended"].startswith(f"{phrases.NO_PORTION} An ONNX file")


def test_a_repair_that_measured_no_candidate_says_so_by_its_exit_code(audit, repair, monkeypatch):
    def nothing(*given, perform=cli_repair.repair):
        outcome = perform(*given)
        return msgspec.structs.replace(
            outcome, run=msgspec.structs.replace(outcome.run, figures=()), files={}
        )

    monkeypatch.setattr(cli_repair, "repair", nothing)
    code, out, _err = repair(audit(), *SHORT, "--json")
    assert (code, json.loads(out)["trials"]) == (3, [])
