"""The command line: whole audits by subprocess, everything that can go wrong, and its words."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import nullcontext, redirect_stdout
from itertools import count
from pathlib import Path

import joblib
import msgspec
import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import fairdesk
from fairdesk.app import audit as app_audit
from fairdesk.app import outputs, standard
from fairdesk.audit.catalogue.method import PURPOSES
from fairdesk.audit.catalogue.methods import METHODS, options_of
from fairdesk.audit.sandbox import kernel_cache, process
from fairdesk.audit.store.records import PairQuery, RunState
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.audit.worker.conversation import Patience
from fairdesk.certify.proof import certificate, certificate_reading
from fairdesk.cli import audit as cli_audit
from fairdesk.cli import commands, terminal
from fairdesk.cli import main as cli
from fairdesk.errors import ReportError, StoreError
from fairdesk.files import sha256
from fairdesk.report.content.passages import TEMPLATES
from fairdesk.report.export import exports
from fairdesk.results.proofs import PairShare
from fairdesk.samples import samples
from fairdesk.wording import figures as report_figures
from tests import phrases
from tests.audit import fake_guest, making

FILES = {
    *("audit.fairdesk", "report.pdf", "findings.csv", "retraining.csv"),
    "manifest.json",
}
QUICK = ("--method", "maft", "--option", "global_num=30", "local_num=30")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch, shared_guests):
    """Keep the log out of the user's home."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def people(tmp_path):
    return making.write_people(tmp_path / "people.csv")


@pytest.fixture
def model(tmp_path):
    return making.write_model(tmp_path / "model.pkl")


@pytest.fixture
def arguments(tmp_path, people, model):
    """Make the arguments of an audit of the small table, some replaced."""

    def make(*more, **changed):
        given = {
            "data": people,
            "model": model,
            "label": "hired",
            "favourable": "yes",
            "protected": "sex",
            "out": tmp_path / "out",
        } | changed
        named = [part for name, value in given.items() for part in (f"--{name}", str(value))]
        return ["audit", *named, "--trust-model", *QUICK, *more]

    return make


@pytest.fixture
def quick(tmp_path, people, monkeypatch):
    """Make arguments like `arguments`, for a guest that loads no library, and a short report."""
    monkeypatch.setitem(METHODS, "steps", fake_guest.STEPS)
    monkeypatch.setattr(
        terminal, "Worker", lambda: Worker(command=(sys.executable, fake_guest.__file__))
    )
    monkeypatch.setitem(
        outputs.OUTPUTS, "report.pdf", lambda _store, path: path.write_bytes(b"%PDF")
    )
    model = fake_guest.write_source(tmp_path / "model.txt")

    def make(*more, **changed):
        given = {
            "data": people,
            "model": model,
            "label": "hired",
            "favourable": "yes",
            "protected": "sex",
            "method": "steps",
            "out": tmp_path / "out",
        } | changed
        named = [part for name, value in given.items() for part in (f"--{name}", str(value))]
        return ["audit", *named, "--trust-model", *more]

    return make


def fairdesk_command(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "fairdesk", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def sample_arguments(out):
    sample = samples()[0]
    return [
        "audit",
        *("--data", sample.data_path),
        *("--model", sample.model_path(sample.models[0])),
        *("--label", sample.label),
        *("--favourable", sample.favourable),
        *("--protected", "sex"),
        *("--protected", "race"),
        *("--out", out),
    ]


def fails(capsys, arguments, *words, code=1):
    """Run a command that fails, with one line on standard error and nothing else."""
    assert cli.main([str(argument) for argument in arguments]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    for word in words:
        assert word in err
    return err


def test_an_audit_from_end_to_end(arguments, tmp_path):
    process = fairdesk_command(*arguments("--json", "--quiet", "--seed", "3"), cwd=tmp_path)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert err == ""
    figures = json.loads(out)
    assert figures["method"] == "maft"
    assert figures["seed"] == 3
    assert figures["state"] == "done"
    assert figures["found"] > 0
    assert figures["tried"] >= figures["found"]
    assert figures["queries"] > figures["found"]
    assert figures["seconds"] == pytest.approx(figures["global_seconds"] + figures["local_seconds"])
    for share in ("plausible", "plausible_shown", "plausible_held_out", "plausible_uniform"):
        assert 0 <= figures[share] <= 1
    assert figures["plausible_pairs"] == pytest.approx(figures["plausible"] * figures["found"])
    assert 0 < figures["atn"] <= 100
    assert figures["options"]["global_num"] == 30
    assert figures["options"]["cluster_num"] == 4
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    assert (tmp_path / "out" / "report.pdf").read_bytes().startswith(b"%PDF")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    told = {each["name"]: each["sha256"] for each in manifest["files"]}
    others = FILES - {"audit.fairdesk", "manifest.json"}
    assert told == {name: sha256(tmp_path / "out" / name) for name in others}
    with Store.open(tmp_path / "out" / "audit.fairdesk") as store:
        (entry,) = (each for each in store.log_entries() if each.kind == "exported")
    assert {each["name"] for each in json.loads(entry.facts)["files"]} == FILES - {"audit.fairdesk"}
    findings = (tmp_path / "out" / "findings.csv").read_text(encoding="utf-8-sig").splitlines()
    assert len(findings) == figures["found"] + 1
    with Store.open(tmp_path / "out" / "audit.fairdesk") as store:
        assert store.count(PairQuery()) == figures["found"]
        assert store.spec.trusted
        assert store.spec.favourable == "yes"


def test_a_program_of_the_models_author_does_not_say_which_pairs_are_plausible(
    arguments, monkeypatch
):
    weighed, begun = [], []

    def weigh(worker, *_, **__):
        weighed.append(worker)
        return ""

    def start(command):
        begun.append(Worker(command=command))
        return begun[-1]

    monkeypatch.setattr(app_audit, "weigh_run", weigh)
    monkeypatch.setattr(app_audit, "Worker", start)
    assert cli.main(arguments()) == 0
    assert weighed == begun
    assert len(begun) == 1


def test_a_network_of_the_samples_with_words(tmp_path, capsys, monkeypatch):
    # that ran no program: its own guest compares what it found
    monkeypatch.delattr(app_audit, "Worker")
    line = (*sample_arguments(tmp_path / "out"), *QUICK, "--verbose")
    assert cli.main([str(each) for each in line]) == 0
    out = capsys.readouterr().out
    assert "84.0 % decided as recorded" in out.splitlines()[0].replace("\u00a0", " ")
    assert str(tmp_path / "out" / "report.pdf") in out
    with Store.open(tmp_path / "out" / "audit.fairdesk") as store:
        # nothing of the file was run, so nobody had to agree to that
        assert not store.spec.trusted
        (run,) = store.runs()
        alone = report_figures.alone_sentences(store.spec, run)
        assert len(alone) == 2
        told = report_figures.headline(store.spec, run, store.reference())
        said = {told.sentence, *alone}
    assert {each.replace("\u00a0", " ") for each in said} <= set(out.splitlines())


def test_the_samples_own_pickle_needs_no_trust(tmp_path, capsys):
    sample = samples()[0]
    pickle = next(model for model in sample.models if model.file.endswith(".pkl"))
    command = [str(each) for each in (*sample_arguments(tmp_path / "out"), *QUICK, "--json")]
    command[command.index("--model") + 1] = str(sample.model_path(pickle))
    assert cli.main(command) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "done"


def test_the_demonstration(tmp_path, capsys):
    line = ["demo", "--plan", "quick", "--out", str(tmp_path / "demo"), "--json"]
    assert cli.main(line) == 0
    told = json.loads(capsys.readouterr().out)
    assert [run["method"] for run in told["runs"]] == ["groups", "estimate", "maft"]
    assert told["runs"][-1]["found"] > 0
    # its files stay small
    assert told["runs"][-1]["options"]["global_num"] == samples()[0].options["global_num"]
    assert {path.name for path in (tmp_path / "demo").iterdir()} == {
        *FILES,
        "groups.csv",
        "audit-study.csv",
    }


def test_the_same_seed_finds_the_same(quick, tmp_path, capsys):
    tables = []
    for name in ("one", "two"):
        assert cli.main(quick(out=tmp_path / name, seed=7)) == 0
        tables.append((tmp_path / name / "findings.csv").read_bytes())
    assert tables[0] == tables[1]


def test_a_domain_and_another_method(arguments, tmp_path, capsys):
    domain = tmp_path / "domain.json"
    domain.write_text('{"age": [30, 40], "sex": ["male", "female"]}')
    command = arguments("--domain", str(domain), "--json")
    place = command.index("--method")
    command[place : place + len(QUICK)] = ["--method", "uniform", "--option", "samples=500"]
    assert cli.main(command) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["method"] == "uniform"
    assert figures["global_seconds"] == figures["local_seconds"] == 0
    assert figures["seconds"] > 0
    with Store.open(tmp_path / "out" / "audit.fairdesk") as store:
        ages = [pair.row[0] for pair in store.each_pair(PairQuery())]
    assert ages
    assert all(30 <= age <= 40 for age in ages)


def test_columns_that_nobody_would_audit_but_the_model_takes(quick, people, tmp_path, capsys):
    header, *rows = people.read_text().splitlines()
    # names of the rows, which are left out unless the model needs them; and a total, as in a sheet
    named = [f"p{i:03d},{row.split(',', 1)[1]}" for i, row in enumerate(rows)]
    people.write_text("\n".join([header, *named]) + "\n")
    assert cli.main(quick("--json", "--accept-guesses")) == 0
    assert any(
        f"“age” {phrases.NAMES_ROWS}" in each
        for each in json.loads(capsys.readouterr().out)["warnings"]
    )
    people.write_text("\n".join([header, *rows, "Total,female,3,no"]) + "\n")
    assert cli.main(quick("-v")) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "“age” contains numbers, and 1 cell that is not a number: “Total” (line 62)" in out


def test_the_models_class_can_be_named(quick, tmp_path, capsys):
    assert cli.main(quick("--model-favourable", "0")) == 0
    with Store.open(tmp_path / "out" / "audit.fairdesk") as store:
        assert store.spec.mapping.favourable_class == 0


def test_whoever_watches_is_told_what_is_written(quick, capsys, monkeypatch):
    states = []
    monkeypatch.setattr(cli_audit, "progress_bar", lambda _limit, **_: nullcontext(states.append))
    assert cli.main(quick()) == 0
    assert {f"writing {name}" for name in FILES - {"audit.fairdesk"}} == {
        state.phase for state in states if state.phase.startswith("writing")
    }


def test_show_prints_what_the_audit_printed_in_the_end(quick, tmp_path, capsys):
    assert cli.main(quick("--method", "groups")) == 0
    printed = capsys.readouterr().out
    assert "SELECTED" in printed
    # what was noticed when the model was opened is in the audit file, too
    assert "CHECK" in printed
    assert cli.main(["show", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out == printed


def test_a_condition_fails_an_audit_after_everything_was_written(quick, tmp_path, capsys):
    assert cli.main(quick("--quiet", "--fail-if", "pairs>0")) == terminal.CONDITION_MET
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("fairdesk: pairs>0 holds")
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    # that method measures no groups
    assert cli.main(quick("--json", "--fail-under", "0.8")) == terminal.NOT_MEASURED
    assert json.loads(capsys.readouterr().out)["found"] > 0
    # what failed comes before any condition
    fake_guest.write_source(tmp_path / "crashes.txt", "if calls > 40: os._exit(4)")
    crashes = quick(
        "-q", "--fail-if", "pairs>=0", "--option", "steps=1000", model=tmp_path / "crashes.txt"
    )
    assert cli.main(crashes) == terminal.FAILED


def test_an_earlier_audit_is_moved_not_lost(quick, tmp_path, capsys):
    first = None
    for _ in range(3):
        assert cli.main(quick()) == 0
        first = first or (tmp_path / "out" / "audit.fairdesk").read_bytes()
    out = tmp_path / "out"
    assert {path.name for path in out.iterdir()} == FILES | {"earlier-1", "earlier-2"}
    assert {path.name for path in (out / "earlier-1").iterdir()} == FILES
    with Store.open(out / "earlier-1" / "audit.fairdesk") as store:
        assert store.count(PairQuery()) > 0


def test_an_audit_that_is_open_elsewhere_is_left_alone(quick, tmp_path, capsys):
    assert cli.main(quick()) == 0
    capsys.readouterr()
    with Store.open(tmp_path / "out" / "audit.fairdesk") as store:
        fails(capsys, quick(), phrases.IN_USE)
        assert store.count(PairQuery()) > 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES


def test_a_file_of_that_name_that_is_no_audit_is_kept_too(quick, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "audit.fairdesk").write_text("my notes")
    assert cli.main(quick()) == 0
    assert (tmp_path / "out" / "earlier-1" / "audit.fairdesk").read_text() == "my notes"


BAD_FILES = {
    "empty.csv": b"",
    "names.csv": b"age,sex,income,hired\n",
    "one.csv": b"age,sex,income,hired\n30,male,5,yes\n",
    "binary.csv": bytes(range(256)) * 20,
    "alike.csv": b"age,sex,income,hired\n"
    + b"".join(b"%d,male,%d,%s\n" % (20 + i, i, (b"no", b"yes")[i % 2]) for i in range(30)),
    "less.csv": b"age,sex,hired\n"
    + b"".join(b"%d,%s,yes\n" % (20 + i, (b"a", b"b", b"c", b"d", b"e")[i % 5]) for i in range(30)),
    "text.h5": b"I am no model.",
    "bad.json": b"{",
    "stranger.json": b'{"wage": [1, 2]}',
    "list.json": b"[1, 2]",
}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"data": "missing.csv"}, ["missing.csv", "--data FILE"]),
        ({"data": "."}, []),
        ({"data": "empty.csv"}, ["empty"]),
        ({"data": "names.csv"}, ["no rows"]),
        ({"data": "one.csv"}, ["one row"]),
        ({"data": "binary.csv"}, ["binary.csv"]),
        ({"data": "alike.csv"}, ["“sex”", phrases.ONE_VALUE, "--protected COL"]),
        ({"data": "less.csv"}, ["3 inputs"]),
        ({"label": "wanted"}, ["no column “wanted”", "age, sex, income, hired", "--label COL"]),
        ({"favourable": "perhaps"}, ["no value “perhaps”", "no, yes", "--favourable V"]),
        ({"protected": "race"}, ["no column “race”", "--protected COL"]),
        ({"protected": "hired"}, [phrases.NOT_TO_BE_PROTECTED, "--protected COL"]),
        ({"model": "missing.h5"}, ["missing.h5", "--model FILE"]),
        ({"model": "text.h5"}, ["text.h5"]),
        ({"domain": "missing.json"}, ["cannot be read", "--domain FILE"]),
        ({"domain": "bad.json"}, [phrases.NOT_EXPECTED]),
        ({"domain": "list.json"}, [phrases.NOT_EXPECTED, "--domain FILE"]),
        ({"domain": "stranger.json"}, ["“wage”", "age, sex, income", "--domain FILE"]),
        ({"model-favourable": "7"}, ["no class “7”", "0, 1", "--model-favourable CLASS"]),
        ({"out": "text.h5"}, [phrases.CANNOT_BE_MADE, "--out FOLDER"]),
        ({"seconds": "0"}, ["--seconds S"]),
        ({"rows": "-5"}, ["--rows N"]),
        ({"max-distance": "2"}, ["--max-distance D"]),
        ({"bins": "age=40,20", "method": "groups"}, ["--bins COL=X,X,..."]),
        ({"bins": "age=x", "method": "groups"}, ["--bins COL=X,X,..."]),
        ({"map": "missing.json"}, ["--map FILE"]),
        ({"prepare": "magic"}, ["--prepare HOW"]),
        ({"text-column": "age"}, ["“age”", "--text-column COL"]),
        ({"numeric": "wanted"}, ["no column “wanted”", "--numeric COL[=EXAMPLE]"]),
        ({"mend": "age"}, ["--mend COL:CELL=VALUE"]),
    ],
)
def test_bad_input_is_told_in_one_line(quick, tmp_path, capsys, monkeypatch, changed, words):
    monkeypatch.chdir(tmp_path)
    for name, content in BAD_FILES.items():
        (tmp_path / name).write_bytes(content)
    fails(capsys, quick(**changed), *words)
    assert not list(tmp_path.glob("out/*"))


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("speed=3", ["no option “speed”", "global_num", "perturbation_size"]),
        ("decay", [phrases.NO_VALUE, "name=value"]),
        ("decay=2", ["“decay” cannot be “2”", "below 1", "--option NAME=VALUE"]),
        ("max_iter=ten", ["“max_iter” cannot be “ten”", "a whole number from 0"]),
    ],
)
def test_bad_options_are_told(quick, capsys, option, words):
    fails(capsys, quick("--option", option, method="maft"), *words)


NAMED = ["audit", "--data", "x", "--model", "y", "--label", "z", "--favourable", "v", "--out", "o"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["audit"], ["--data"]),
        (["audit", "--data", "x.csv"], ["--label", "--out"]),
        (
            ["inspect", "--data", "x.csv", "--label", "y", "--favourable", "z"],
            ["--model", "--predictions"],
        ),
        (["audit", "--method", "magic"], ["magic", "maft"]),
        (NAMED, ["--protected", "--text-column"]),
        ([*NAMED, "--protected", "z", "--terms", "t.json"], ["--terms", "--text-column"]),
        (
            ["--predictions" if each == "--model" else each for each in NAMED]
            + ["--text-column", "t"],
            ["--text-column", "needs a --model"],
        ),
        (["fly"], ["fly"]),
        (["demo", "--out", "x", "--seed", "-1"], ["--seed"]),
        (["demo"], ["--out"]),
    ],
)
def test_a_wrong_command_line_is_told_in_one_line(capsys, line, words):
    with pytest.raises(SystemExit) as caught:
        cli.main(line)
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert all(word in err for word in words)


def test_a_program_is_not_run_without_trust(arguments, tmp_path, capsys):
    model = making.write_model(
        tmp_path / "evil.pkl", opening=f"open({str(tmp_path / 'ran')!r}, 'w')"
    )
    command = arguments(model=model)
    command.remove("--trust-model")
    fails(capsys, command, phrases.CAN_RUN_CODE, phrases.YOUR_RIGHTS, "--trust-model")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("misbehaviour", "opening", "words"),
    [
        ("pass", "os._exit(4)", ["exit code 4"]),
        ("os._exit(4)", "", ["exit code 4"]),
        ("raise ValueError('penguins')", "", ["penguins"]),
    ],
)
def test_models_that_misbehave_at_once(quick, tmp_path, capsys, misbehaviour, opening, words):
    model = fake_guest.write_source(tmp_path / "bad.txt", misbehaviour, opening)
    fails(capsys, quick(model=model), *words)
    assert not list((tmp_path / "out").iterdir())


def test_a_model_that_hangs(quick, tmp_path, capsys, monkeypatch):
    impatient = Worker(Patience(model=1.5), command=(sys.executable, fake_guest.__file__))
    monkeypatch.setattr(terminal, "Worker", lambda: impatient)
    model = fake_guest.write_source(tmp_path / "bad.txt", opening="time.sleep(1000)")
    fails(capsys, quick(model=model), "did not open the model within 1.5 seconds")


def test_a_model_that_crashes_in_the_search_leaves_what_was_found(quick, tmp_path, capsys):
    model = fake_guest.write_source(tmp_path / "bad.txt", "if calls > 40: os._exit(4)")
    assert cli.main(quick("--json", "--option", "steps=1000", model=model)) == 1
    out, err = capsys.readouterr()
    figures = json.loads(out)
    assert figures["state"] == "failed"
    assert "exit code 4" in figures["message"]
    assert err.count("\n") == 1
    assert "exit code 4" in err
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    with Store.open(tmp_path / "out" / "audit.fairdesk") as store:
        assert store.runs()[0].state == "failed"
        assert store.count(PairQuery()) == figures["found"]


def test_a_disk_that_fills(quick, tmp_path, capsys, monkeypatch):
    def create(path, spec, table):
        store = Store.create(path, spec, table)
        pages = store._one("PRAGMA page_count")[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        return store

    class Small:
        pass

    Small.create = staticmethod(create)
    monkeypatch.setattr(app_audit, "Store", Small)
    assert cli.main(quick("--option", "steps=600")) == 1
    err = capsys.readouterr().err
    assert phrases.DISK_FULL in err
    assert err.count("\n") == 1
    with Store.open(tmp_path / "out" / "audit.fairdesk") as store:
        store.count(PairQuery())


def test_a_folder_that_cannot_be_written(quick, capsys, monkeypatch):
    monkeypatch.setattr(outputs.os, "access", lambda *_: False)
    fails(capsys, quick(), f"{phrases.MAY_NOT_WRITE} to the folder")


def test_a_file_that_cannot_be_written_costs_no_other(quick, tmp_path, capsys, monkeypatch):
    def fail(_store, path):
        raise ReportError(f"“{path.name}” could not be written.", remedy="Make room.")

    for name in ("findings.csv", "report.pdf"):
        monkeypatch.setitem(outputs.OUTPUTS, name, fail)
    assert cli.main(quick("--json")) == 1
    out, err = capsys.readouterr()
    figures = json.loads(out)
    assert figures["state"] == "done"
    assert figures["found"] > 0
    assert set(figures["files"]) == FILES - {"findings.csv", "report.pdf"}
    assert set(figures["files"]) == {path.name for path in (tmp_path / "out").iterdir()}
    assert err == (
        "fairdesk: “findings.csv” could not be written. Make room. Also not written: report.pdf.\n"
    )


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_an_output_that_knows_few_letters(quick, tmp_path, monkeypatch, flags):
    output = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", output)
    assert cli.main(quick(*flags, out=tmp_path / "é\x1b[31m")) == 0
    text = output.buffer.getvalue().decode("ascii")
    assert "\x1b" not in text
    if flags:
        assert json.loads(text)["files"]["report.pdf"] == str(tmp_path / "é\x1b[31m" / "report.pdf")
    else:
        assert "? [31m" in text


def test_an_output_that_is_full(quick, tmp_path, capsys):
    class Full(io.StringIO):
        def flush(self):
            raise OSError(28, "No space left on device")

    # given back before capsys gives back its own, else the tests after this have a closed one
    with redirect_stdout(Full()):
        assert cli.main(quick()) == 1
    err = capsys.readouterr().err
    assert "cannot be printed; the files are written" in err
    assert err.count("\n") == 1
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES


@pytest.mark.skipif(os.name != "posix", reason="closes descriptors as a shell does")
def test_streams_that_are_closed(arguments, tmp_path):
    closing = 'exec "$0" -m fairdesk "$@" <&- >&- 2>&-'
    command = ["sh", "-c", closing, sys.executable, *map(str, arguments())]
    assert subprocess.run(command, timeout=120, check=False).returncode == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_name_that_is_no_text(quick, people, tmp_path, capsys):
    odd = people.rename(tmp_path / os.fsdecode(b"people\xff.csv"))
    fails(capsys, quick(data=odd), "people?.csv", "Rename")


def test_ctrl_c_while_libraries_load(capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "run", interrupt)
    fails(capsys, ["demo", "--out", "x"], "Stopped.", code=130)


def test_the_unexpected_is_one_line_and_a_traceback_in_the_log(
    quick, capsys, monkeypatch, tmp_path
):
    monkeypatch.setattr(commands, "log_folder", lambda: tmp_path)

    def broken(*_):
        raise ZeroDivisionError("by nought")

    monkeypatch.setattr(cli_audit, "audit", broken)
    err = fails(capsys, quick(), "ZeroDivisionError: by nought")
    log = Path(re.search(r"log file (\S+)", err).group(1))
    assert "Traceback" in log.read_text(encoding="utf-8")


@pytest.mark.skipif(os.name != "posix", reason="sends signals as a terminal or a service does")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_keep_and_write_what_was_found(tmp_path, number):
    # a search that would take long
    process = fairdesk_command(
        *sample_arguments(tmp_path / "out"),
        *("--method", "maft", "--option", "local_num=1000000", "global_num=200", "--json"),
        start_new_session=True,
    )
    audit = tmp_path / "out" / "audit.fairdesk"

    def has_found():
        try:
            with Store.open(audit) as store:
                return store.count(PairQuery()) > 0
        except StoreError:
            return False

    for _ in range(600):
        if process.poll() is not None or has_found():
            break
        time.sleep(0.1)
    # to the whole group, as Ctrl-C in a terminal
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    figures = json.loads(out)
    assert figures["state"] == "stopped"
    assert figures["found"] > 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    with Store.open(audit) as store:
        assert store.runs()[0].state == "stopped"
        assert store.count(PairQuery()) == figures["found"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("when", "states"), [((1, "done"), ["done"]), ((2, "running"), ["done", "stopped"])]
)
def test_a_stop_that_comes_between_two_searches_is_remembered(
    quick, tmp_path, monkeypatch, capsys, number, when, states
):
    fake_guest.write_source(tmp_path / "slow.txt", "time.sleep(0.01)")
    pressed = []

    def press(state):
        if (state.id, state.state) == when and not pressed:
            pressed.append(state)
            signal.raise_signal(number)

    monkeypatch.setattr(cli_audit, "progress_bar", lambda _limit, **_: nullcontext(press))
    slow = ("--method", "steps", "--option", "steps=600", "--json")
    assert cli.main(quick(*slow, method="groups", model=tmp_path / "slow.txt")) == 130
    told = json.loads(capsys.readouterr().out)
    with Store.open(tmp_path / "out" / "audit.fairdesk") as store:
        assert [run.state for run in store.runs()] == states
    not_begun = [each for each in told["warnings"] if each.startswith("“Steps” was not started")]
    assert len(not_begun) == 2 - len(states)
    assert "report.pdf" in told["files"]


@pytest.mark.parametrize("phase", ["compiling", "compiling-there"])
def test_a_run_that_waits_for_a_compiler_says_so_once(capsys, monkeypatch, phase):
    state = RunState(1, "certify", "running", phase=phase)
    with terminal.progress_bar(8.0) as show:
        for each in (msgspec.structs.replace(state, phase="preparing"), state, state):
            show(each)
    with terminal.audits_bar(2) as bar:
        show = bar.begin("one", None)
        show(state)
        bar.begin("two", None)(state)
    monkeypatch.setattr(kernel_cache, "is_made", lambda: False)
    with terminal.progress_bar() as show:
        show(RunState(0, "groups", "running", phase="opening the model"))
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 3
    assert all("compiling, once on" in line.casefold() for line in err.splitlines())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_ends_what_compiles_too(quick, monkeypatch, number):
    ended = []
    monkeypatch.setattr(kernel_cache, "stop", lambda: ended.append(True))
    monkeypatch.setattr(
        cli_audit,
        "progress_bar",
        lambda _, **__: nullcontext(lambda _: signal.raise_signal(number)),
    )
    assert cli.main(quick()) == 130
    assert ended


@pytest.mark.skipif(os.name != "posix", reason="opens a terminal of its own")
def test_a_terminal_gets_a_progress_bar(arguments):
    import pty

    try:
        ours, theirs = pty.openpty()
    except OSError:
        pytest.skip("this system gives no terminals (/dev/pts is not mounted)")
    process = subprocess.Popen(
        [sys.executable, "-m", "fairdesk", *arguments("--json")],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    out = process.communicate(timeout=60)[0]
    os.close(ours)
    assert process.returncode == 0
    assert json.loads(out)["state"] == "done"
    assert b" pairs in " in shown


def test_help_and_version(capsys):
    for line in (["--help"], ["audit", "--help"], ["demo", "--help"], ["--version"]):
        with pytest.raises(SystemExit) as caught:
            cli.main(line)
        assert caught.value.code == 0
    text = capsys.readouterr().out
    assert fairdesk.__version__ in text
    for name in ("fairdesk methods", "--model-favourable", "earlier-1", "--domain"):
        assert name in text
    assert "perturbation_size" not in text


@pytest.mark.parametrize("key", METHODS)
def test_a_method_is_described(key, capsys):
    method, options = METHODS[key], options_of(METHODS[key].options)
    assert cli.main(["methods", key]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for each in (method.title, method.sentence, method.shows, method.cannot, method.paper):
        assert each in text
    assert cli.main(["methods", key, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["key"], told["cost"], told["needs"]) == (key, method.cost, method.needed)
    assert [each["name"] for each in told["options"]] == [each.name for each in options]
    assert [each["default"] for each in told["options"]] == [each.default for each in options]
    for option in options:
        assert f"{option.name}: {option.title}." in text
        assert option.help in text
    # the command that it shows is one
    words = told["command"].split()[1:]
    audit = (*NAMED[1:], "--protected", "c") if words[0] == "audit" else ("a", "--out", "o")
    assert commands.parse([*words, *audit]).method in (method.key, [method.key], words[-1])


def test_all_methods_are_listed(capsys):
    assert cli.main(["methods"]) == 0
    text = capsys.readouterr().out
    assert all(re.search(rf"^  {key} +\S", text, re.MULTILINE) for key in METHODS)
    assert all(purpose.title in text for purpose in PURPOSES.values())
    assert cli.main(["methods", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["methods"]
    assert {each["key"]: each["question"] for each in told} == {
        key: PURPOSES[method.answers].question for key, method in METHODS.items()
    }
    with pytest.raises(SystemExit) as caught:
        cli.main(["methods", "magic"])
    assert caught.value.code == 2
    assert "maft" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "early"),
    [
        (["audit", "--magic"], 1),
        (["demo", "--magic"], 1),
        (["audit", "--help"], 0),
        (["methods", "--magic"], 0),
    ],
)
def test_a_process_for_the_model_starts_before_the_command_is_loaded(monkeypatch, line, early):
    started = []
    monkeypatch.setattr(process, "start_early", lambda: started.append(True))
    monkeypatch.setattr(sys, "argv", ["fairdesk", *line])
    with pytest.raises(SystemExit):
        cli.main()
    assert len(started) == early
    # whoever calls it from a program may do so many times
    with pytest.raises(SystemExit):
        cli.main(line)
    assert len(started) == early


@pytest.mark.parametrize(
    ("line", "given"),
    [
        ([], []),
        (["open"], []),
        (["open", "a.fairdesk"], ["a.fairdesk"]),
        (["open", "--", "-a.fairdesk"], ["-a.fairdesk"]),
    ],
)
def test_the_window_opens(monkeypatch, line, given):
    import types

    seen = []
    window = types.ModuleType("fairdesk.gui.app")
    window.main = lambda *arguments: seen.append(arguments) or 5
    monkeypatch.setitem(sys.modules, "fairdesk.gui.app", window)
    assert cli.main(line) == 5
    [(argv, commands)] = seen
    assert argv == given
    # what the help in the window shows of the command line
    assert "usage: fairdesk audit" in commands()


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        (
            "cli.commands",
            (
                *("pandas", "scipy", "sklearn", "onnxruntime", "h5py", "numba", "PySide6"),
                *("asyncio", "ssl", "numpy.ma"),
            ),
        ),
        (
            "cli.main",
            ("argparse", "numpy", "msgspec", "fairdesk.audit", "fairdesk.report", "PySide6"),
        ),
    ],
)
def test_the_command_line_loads_nothing_heavy(module, heavy):
    source = f"import sys, fairdesk.{module}; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_what_is_proven_is_told_and_kept_as_a_certificate(quick, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(METHODS, "proves", fake_guest.PROVES)
    assert cli.main(quick("--json", method="proves")) == 0
    told = json.loads(capsys.readouterr().out)
    header, arrays = certificate_reading.read(tmp_path / "out" / "certificate.fairdesk-proof")
    assert told["certified"] == header.certified_share > 0
    assert told["falsified"] == header.falsified_share > 0
    assert told["undecided"] == header.undecided_share > 0
    assert int(told["certified_people"]) + int(told["falsified_people"]) < int(told["total"])
    assert told["seconds"] == header.seconds
    assert told["boxes"] == len(arrays["first"])
    assert told["exact"] is False
    assert told["files"]["certificate.fairdesk-proof"] == str(
        tmp_path / "out" / "certificate.fairdesk-proof"
    )
    assert header.model.name == "model.txt"

    # a second audit moves it out of the way; of a second proof it tells the number
    assert cli.main(quick("--method", "proves", "-v", method="steps")) == 0
    out = capsys.readouterr().out
    with Store.open(tmp_path / "out" / "audit.fairdesk") as store:
        proven = report_figures.headline(store.spec, store.runs()[-1])
    assert proven.evidence == "proven"
    assert proven.sentence.replace("\u00a0", " ") in out
    assert f"{told['boxes']} regions examined" in out
    assert (tmp_path / "out" / "earlier-1" / "certificate.fairdesk-proof").is_file()
    assert (tmp_path / "out" / "certificate.fairdesk-proof").is_file()


def test_of_pairs_of_values_the_worst_are_printed_first(quick, tmp_path, capsys, monkeypatch):
    performed = cli_audit.audit

    def with_pairs(*given):
        outcome = performed(*given)
        (run,) = outcome.runs
        shares = (0.01, 0.04, 0.0, 0.02, 0.05)
        pairs = tuple(PairShare(("sex",), (0.0,), (1.0,), share, 0.5) for share in shares)
        run = msgspec.structs.replace(run, figures=(*run.figures, *pairs))
        return msgspec.structs.replace(outcome, runs=(run,))

    monkeypatch.setitem(METHODS, "proves", fake_guest.PROVES)
    monkeypatch.setattr(cli_audit, "audit", with_pairs)
    assert cli.main(quick("-v", method="proves")) == 0
    out = capsys.readouterr().out.replace("\u00a0", " ")
    places = [out.find(f"  {share}.00 %") for share in (5, 4, 2, 1)]
    assert places == sorted(places)
    assert -1 not in places
    assert phrases.NONE_PROVEN in out


@pytest.fixture
def proven(quick, tmp_path, capsys, monkeypatch):
    """Make a certificate by asking everybody; gives its file and the model's."""
    monkeypatch.setitem(METHODS, "proves", fake_guest.PROVES)
    assert cli.main(quick(method="proves")) == 0
    capsys.readouterr()
    return tmp_path / "out" / "certificate.fairdesk-proof", tmp_path / "model.txt"


def test_a_certificate_is_checked_again(proven, people, capsys):
    file, model = map(str, proven)
    command = ["verify", file, "--model", model, "--data", str(people), "--sample", "500"]
    assert cli.main([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["holds"] is True
    assert told["violations"] == told["unknown"] == 0
    assert told["tried"] > 1_500
    assert told["leaves"]["certified"] > 0
    tried = {each["name"]: each["tried"] for each in told["checks"]}
    assert tried["The model’s file is the one that was certified"] == 1
    assert tried[phrases.OWN_PEOPLE] > 20

    assert cli.main(command) == 0
    assert capsys.readouterr().out.startswith("Verified.\n")


def test_a_forged_certificate_is_told(proven, capsys):
    file, model = proven
    header, arrays = certificate_reading.read(file)
    verdict = np.where(arrays["verdict"] == 2, 1, arrays["verdict"])
    certificate.write(file, certificate.encoded(header), arrays | {"verdict": verdict})
    assert cli.main(["verify", str(file), "--model", str(model), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["holds"] is False
    failed = {each["name"] for each in told["checks"] if each["failed"]}
    assert failed == {
        phrases.TOTALS_FOLLOW,
        phrases.PEOPLE_IN_CERTIFIED,
        phrases.PROVEN_AGAIN,
    }
    assert cli.main(["verify", str(file), "--model", str(model)]) == 1
    out = capsys.readouterr().out
    assert f"{phrases.AN_INSTANCE_WITH} age = " in out
    assert out.startswith(phrases.DOES_NOT_MATCH)


@pytest.mark.parametrize(
    ("forged", "code"),
    [
        (b'"notes":["Approved by the authority."]', 1),
        (b'"approved":"by the authority","notes":[]', 1),
        # the name of a file is not bound: that of the file that was given is printed
        (b'"notes":[]', 0),
    ],
)
def test_nothing_unverified_of_a_certificate_is_repeated(proven, capsys, forged, code):
    file, model = proven
    header, arrays = certificate_reading.unpack(file)
    assert header.count(b'"notes":[]') == header.count(b'"name":"model.txt"') == 1
    header = header.replace(b'"notes":[]', forged)
    header = header.replace(b'"name":"model.txt"', b'"name":"approved.txt"')
    certificate.write(file, header, arrays)
    capsys.readouterr()
    assert cli.main(["verify", str(file), "--model", str(model), "--trust-model"]) == code
    out = "".join(capsys.readouterr())
    assert "approved.txt" not in out
    assert ("model.txt" in out) is (b'"approved"' not in forged)


def test_a_certificate_of_another_model_is_told_and_that_is_not_opened(proven, tmp_path, capsys):
    file, _ = proven
    other = fake_guest.write_source(tmp_path / "other.txt", opening="raise SystemError")
    assert cli.main(["verify", str(file), "--model", str(other), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    (only,) = told["checks"]
    assert only["failed"] == 1
    assert "model.txt" in only["remarks"][0]
    fails(capsys, ["verify", file, "--model", tmp_path / "none.txt"], "cannot be read")
    fails(capsys, ["verify", other, "--model", other], "is not a FairDesk proof certificate")


def test_whoever_watches_a_proof_is_told_what_is_proven(quick, monkeypatch, capsys):
    monkeypatch.setitem(METHODS, "proves", fake_guest.PROVES)
    states = []
    monkeypatch.setattr(cli_audit, "progress_bar", lambda _limit, **_: nullcontext(states.append))
    assert cli.main(quick(method="proves")) == 0
    told = [report_figures.standing(state) for state in states if state.id]
    assert "0 pairs in 0 instances tested" in told[0]
    assert "certified" in told[-1]
    assert "writing certificate.fairdesk-proof" in {state.phase for state in states}


def test_decisions_alone_leave_a_report_and_no_findings(tmp_path, capsys, monkeypatch):
    states = []
    monkeypatch.setattr(cli_audit, "progress_bar", lambda _limit, **_: nullcontext(states.append))
    rows = [f"{('f', 'm')[i % 2]},{20 + i % 40},{('no', 'yes')[i % 3 > 0]}" for i in range(90)]
    table = tmp_path / "decided.csv"
    table.write_text("\n".join(["sex,age,approved", *rows]), encoding="utf-8")
    named = ["--data", table, "--predictions", "approved"]
    named += ["--favourable", "yes", "--protected", "sex", "--out", tmp_path / "out", "--json"]
    assert cli.main(["audit", *map(str, named)]) == 0
    told = json.loads(capsys.readouterr().out)
    files = {"audit.fairdesk", "report.pdf", "groups.csv", "manifest.json"}
    assert set(told["files"]) == files
    assert told["accuracy"] is None
    # a plan measures what it can, and says what it cannot
    assert told["method"] == "groups"
    assert "certify" in told["left_out"]
    written = [state.phase for state in states if state.phase.startswith("writing")]
    assert sorted(written) == sorted(f"writing {name}" for name in files - {"audit.fairdesk"})
    assert report_figures.standing(states[0]) == "0 instances tested"


def test_nothing_said_of_decisions_alone_is_said_of_a_model(mining, tmp_path, capsys):
    assert cli.main(mining("--predictions", "hired", model=None, method="groups")) == 0
    said = [capsys.readouterr().out]
    for template in TEMPLATES:
        file = tmp_path / f"{template}.json"
        asked = ["--template", template, "--format", "json", "--out", str(file)]
        assert cli.main(["report", str(tmp_path / "out" / "audit.fairdesk"), *asked]) == 0
        said += [capsys.readouterr().out, file.read_text(encoding="utf-8")]
    text = " ".join(said).lower()
    assert phrases.NO_MODEL_AVAILABLE in text
    assert [each for each in phrases.MODEL_ACTS if each in text] == []
    assert "--model-favourable" not in text


@pytest.mark.parametrize("plan", ["quick", "full"])
def test_an_audit_without_a_method_follows_a_plan(plan, arguments, tmp_path, capsys):
    command = arguments("--plan", plan, "--time", "400", "--seed", "5", "-v")
    place = command.index("--method")
    del command[place : place + len(QUICK)]
    assert cli.main(command) == 0
    out = capsys.readouterr().out
    report = tmp_path / "out" / "report.pdf"
    assert f"Report   {report} (draft" in out
    assert report.read_bytes().startswith(b"%PDF")
    with Store.open(tmp_path / "out" / "audit.fairdesk") as store:
        runs = store.runs()
    wanted = ["groups", "estimate", "maft", *(["testsgd"] if plan == "full" else [])]
    assert [run.spec.method for run in runs] == wanted
    assert {run.state for run in runs} == {"done"}
    assert all(run.spec.seed == 5 for run in runs)
    assert all(0 < run.spec.budget.seconds < 400 for run in runs)
    # a program cannot be looked into
    assert (METHODS["certify"].title in out) is (plan == "full")


def test_a_plan_without_time_measures_nothing_and_writes_no_report(arguments, tmp_path, capsys):
    command = arguments("--time", "0.001", "--json")
    place = command.index("--method")
    del command[place : place + len(QUICK)]
    assert cli.main(command) == 3
    out, said = capsys.readouterr()
    told = json.loads(out)
    assert len([each for each in told["warnings"] if phrases.OUT_OF_TIME in each]) == 4
    assert list(told["files"]) == ["audit.fairdesk"]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["audit.fairdesk"]
    assert said.startswith("fairdesk: Nothing was measured")
    assert "--time" in said


def test_what_was_measured_is_written_and_what_was_not_is_named(
    quick, tmp_path, monkeypatch, capsys
):
    # each look at the clock takes 20 s
    monkeypatch.setattr(standard, "monotonic", count(0.0, 20.0).__next__)
    monkeypatch.setattr(cli, "monotonic", lambda: 0.0)
    assert cli.main(quick("--method", "groups", "--time", "60")) == 0
    out = capsys.readouterr().out
    assert "CHECK      “Group metrics” was not started" in out
    assert "Report   " in out


def test_an_audit_that_is_stopped_before_its_first_method_has_no_report(
    quick, tmp_path, monkeypatch, capsys
):
    inspect = app_audit.inspect

    def pressed(*arguments):
        found = inspect(*arguments)
        signal.raise_signal(signal.SIGINT)
        return found

    monkeypatch.setattr(app_audit, "inspect", pressed)
    assert cli.main(quick()) == 130
    assert "Report   " not in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["audit.fairdesk"]


def test_the_time_limit_begins_with_the_command(quick, tmp_path, monkeypatch, capsys):
    """What is slow before the first method takes of the time of the methods."""
    clock = [107.0]
    monkeypatch.setattr(standard, "monotonic", lambda: clock[0])
    monkeypatch.setattr(cli, "monotonic", lambda: 100.0)
    inspect = app_audit.inspect

    def slow(*arguments):
        found = inspect(*arguments)
        clock[0] += 30.0
        return found

    monkeypatch.setattr(app_audit, "inspect", slow)
    assert cli.main(quick("--time", "60")) == 0
    assert "Report   " in capsys.readouterr().out
    with Store.open(tmp_path / "out" / "audit.fairdesk") as store:
        (run,) = store.runs()
    # without what is kept for the files, and the report's part
    assert 15 < run.spec.budget.seconds < 60 - 2.5 - 7 - 30


@pytest.mark.parametrize(
    "option",
    [
        ("--method", "maft", "--plan", "full"),
        ("--method", "maft", "--mitigate"),
        ("--plan", "custom"),
        ("--time", "0"),
        ("--seconds", "5"),
        ("--rows", "5"),
        ("--max-distance", "0.1"),
    ],
)
def test_what_does_not_go_with_a_plan_is_refused(option, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main([*NAMED, "--protected", "sex", *option])
    assert caught.value.code == 2
    assert option[-2 if option[0] != "--method" else 2].lstrip("-") in capsys.readouterr().err


@pytest.fixture
def mining(quick, monkeypatch):
    """Make arguments like `quick`, for a method about groups; None leaves one out."""
    monkeypatch.setitem(METHODS, "mines", fake_guest.MINES)

    def make(*more, **changed):
        line = quick(*more, **{"method": "mines"} | changed)
        empty = [i for i, each in enumerate(line) if each == "None"]
        return [part for i, part in enumerate(line) if not {i, i + 1}.intersection(empty)]

    return make


def test_decisions_alone_are_compared_by_groups(mining, people, capsys):
    line = mining("--predictions", "hired", model=None)
    assert cli.main([*line, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told["files"]) == {"audit.fairdesk", "report.pdf", "subgroups.csv", "manifest.json"}
    assert (told["state"], told["n_subgroups"], told["queries"]) == ("done", 1, 0)
    (found,) = told["subgroups"]
    rows = [line.split(",") for line in people.read_text().splitlines()[1:]]
    consistent = [row[3] == "yes" for row in rows if row[1] == rows[0][1]]
    assert found["rule"] == f"sex = {rows[0][1]}"
    assert found["phi_in"] == pytest.approx(sum(consistent) / len(consistent))
    assert found["score"] == pytest.approx(abs(found["phi_in"] - found["phi_out"]))
    assert found["support"] == pytest.approx(len(consistent) / len(rows))
    assert {"margin", "low", "high", "p", "outcome", "leader"} < found.keys()
    fails(
        capsys,
        [*line, "--method", "maft"],
        f"“{METHODS['maft'].title}” is not available",
        phrases.NO_MODEL,
    )
    none = mining("--predictions", "hired", "--option", "bins=3", model=None, method=None)
    with pytest.raises(SystemExit) as caught:
        cli.main(none)
    assert caught.value.code == 2
    assert "--method" in capsys.readouterr().err


def test_groups_are_told_apart_also_by_what_the_model_is_not_given(
    mining, tmp_path, people, capsys
):
    first, *rest = people.read_text().splitlines()
    more = [f"{row},{('red', 'blue')[i % 2]}" for i, row in enumerate(rest)]
    people.write_text("\n".join([f"{first},colour", *more]), encoding="utf-8")
    made = [{"input": f"input {i}", "from": each} for i, each in enumerate(rest_of(first), 1)]
    (tmp_path / "map.json").write_text(json.dumps({"inputs": made}), encoding="utf-8")
    (tmp_path / "blue.json").write_text('{"colour": ["blue", "red"]}', encoding="utf-8")
    more = ("--protected", "colour", "--protected", "age", "--map", str(tmp_path / "map.json"))
    more += ("--domain", str(tmp_path / "blue.json"))
    assert cli.main(mining(*more, "--bins", "age=30,40.5", "--json")) == 0
    told = json.loads(capsys.readouterr().out)
    (mined,) = [each for each in told["figures"] if each["type"] == "SubgroupSearch"]
    assert mined["attributes"] == ["age", "sex", "colour"]
    assert mined["notes"] == ["{'age': (30.0, 40.5)}  {}"]
    assert told["queries"] == 60 + 4 * 60
    assert set(told["files"]) == {"audit.fairdesk", "report.pdf", "subgroups.csv", "manifest.json"}
    fails(capsys, mining(*more, "--bins", "age=30", method="steps"), "into bins", "testsgd")
    fails(capsys, mining(*more, "--bins", "age=x"), "age=25,40,60")
    fails(capsys, mining(*more, "--bins", "age=40,30"), phrases.MUST_RISE)
    fails(capsys, mining(*more, "--bins", "income=3"), phrases.NO_PROTECTED_NUMBER)
    alone = mining(*more[4:], protected="colour", method="steps")
    fails(capsys, alone, phrases.NOT_GIVEN)


def rest_of(names):
    """Return the columns of the small table that its model takes."""
    return [each for each in names.split(",") if each not in ("hired", "colour")]


def test_terms_in_texts_are_compared_where_nothing_is_protected(mining, tmp_path, capsys):
    said = [f"{('a gay man', 'an old man')[i % 2]} who is number {i % 7}" for i in range(30)]
    hired = [("no", "yes")[i % 2] for i in range(30)]
    table = tmp_path / "said.csv"
    rows = [f"{said[i]},{said[i][::-1]},{20 + i % 9},{hired[i]}" for i in range(30)]
    table.write_text("\n".join(["said,note,age,hired", *rows]), encoding="utf-8")
    model = tmp_path / "reads.joblib"
    joblib.dump(make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(said, hired), model)
    (tmp_path / "terms.json").write_text('{"gender": ["gay", "old"]}', encoding="utf-8")
    (tmp_path / "broken.json").write_text('{"gender": "gay"}', encoding="utf-8")
    (tmp_path / "empty.json").write_text("{}", encoding="utf-8")

    def line(*more, text="said"):
        changed = {"data": table, "model": model, "protected": None, "text-column": text}
        return mining(*more, **changed)

    assert cli.main(line("--terms", str(tmp_path / "terms.json"), "--json")) == 0
    told = json.loads(capsys.readouterr().out)
    (mined,) = [each for each in told["figures"] if each["type"] == "SubgroupSearch"]
    assert mined["notes"] == ["{} said {'gender': ('gay', 'old')}"]
    fails(capsys, line("--terms", str(tmp_path / "broken.json")), phrases.NOT_EXPECTED, "JSON")
    fails(capsys, line("--terms", str(tmp_path / "empty.json")), "has no category")
    fails(capsys, line("--terms", str(tmp_path / "none.json")), "cannot be read")
    fails(capsys, line(text="says"), "no column “says”")
    fails(capsys, line(text="age"), "holds numbers")
    fails(capsys, line(text="hired"), "is the label")


def test_a_label_that_no_decision_means_costs_the_retraining_table_only(
    arguments, capsys, monkeypatch
):
    def refuse(_store, _path):
        raise exports.UnlabelledError("No table for retraining could be made.")

    monkeypatch.setitem(outputs.OUTPUTS, "retraining.csv", refuse)
    assert cli.main([*map(str, arguments("--json"))]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "retraining.csv" not in told["files"]
    assert "No table for retraining could be made." in told["warnings"]
