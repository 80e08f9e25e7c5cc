"""Many audits of one plan: what is run, what is not run again, and the overview."""

import csv
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import ClassVar

import msgspec
import pytest

from fairdesk.answers import Question
from fairdesk.app import outputs
from fairdesk.app import portfolio as running
from fairdesk.app.portfolio import FILES, LEDGER, Overview, standings
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.cli import main as cli
from fairdesk.cli import portfolio, terminal
from fairdesk.cli.portfolio import read_plan
from fairdesk.cluster import connection as connecting
from fairdesk.cluster.worker import ClusterWorker, worker_for
from fairdesk.errors import FairDeskError, SpecError
from fairdesk.report.document import summarised
from tests import phrases
from tests.audit import fake_guest, making

DEFAULTS = """
title = "All models"
[defaults]
data = "people.csv"
label = "hired"
favourable = "yes"
protected = ["sex"]
method = ["groups", "steps"]
trust-model = true
"""


@pytest.fixture(autouse=True)
def guest(tmp_path, monkeypatch, shared_guests):
    """Use a guest that loads no library, and write short reports; the log is kept apart."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setitem(METHODS, "steps", fake_guest.STEPS)
    monkeypatch.setattr(
        terminal, "Worker", lambda: Worker(command=(sys.executable, fake_guest.__file__))
    )
    monkeypatch.setitem(
        outputs.OUTPUTS, "report.pdf", lambda _store, path: path.write_bytes(b"%PDF")
    )


@pytest.fixture
def plan(tmp_path):
    """Return what writes a plan of audits: each the lines of its table."""
    making.write_people(tmp_path / "people.csv")
    for name in ("one", "two"):
        fake_guest.write_source(tmp_path / f"{name}.txt")

    def write(*audits, defaults=DEFAULTS):
        tables = "\n".join(f"[[audit]]\n{each}\n" for each in audits)
        path = tmp_path / "plan.toml"
        path.write_text(f"{defaults}\n{tables}", encoding="utf-8")
        return path

    return write


def run(path, *more):
    return cli.main(["audit-many", str(path), *more])


def made(path, name):
    return path.with_name("plan-audits") / name / "audit.fairdesk"


def identities(path, *names):
    found = []
    for name in names:
        with Store.read(made(path, name)) as store:
            found.append(store.spec.created)
    return found


def test_each_audit_has_a_file_and_a_failed_one_ends_no_other(plan, capsys):
    path = plan('model = "one.txt"', 'model = "gone.txt"', 'model = "two.txt"\nseed = 3')
    assert run(path, "--json") == 1
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert [each["state"] for each in told["audits"]] == ["done", "failed", "done"]
    assert "gone.txt" in told["audits"][1]["reason"]
    assert err.count("\n") == 1
    assert err.startswith("fairdesk: gone: ")
    with Store.read(made(path, "two")) as store:
        assert [run.spec.seed for run in store.runs()] == [3, 3]
        assert store.spec.title == "two"


def test_an_audit_that_measured_nothing_is_one_that_failed(plan, capsys):
    path = plan('model = "one.txt"', 'model = "two.txt"\ntime = 0.001')
    assert run(path, "--json") == 1
    first, second = json.loads(capsys.readouterr().out)["audits"]
    assert (first["state"], second["state"]) == ("done", "failed")
    assert phrases.OUT_OF_TIME in second["reason"]
    assert not (path.with_name("plan-audits") / "two" / "report.pdf").exists()


def test_what_is_done_and_unchanged_is_not_run_again(plan, tmp_path, capsys, monkeypatch):
    audits = ('model = "one.txt"', 'model = "two.txt"')
    begun = []
    real = running.audit
    monkeypatch.setattr(
        running,
        "audit",
        lambda worker, question, *more: (
            begun.append(question.title) or real(worker, question, *more)
        ),
    )
    assert run(plan(*audits)) == 0
    assert run(plan(*audits)) == 0
    assert begun == ["one", "two"]
    # another seed is another audit; so is another model of the same name, and other data
    assert run(plan(audits[0], f"{audits[1]}\nseed = 1")) == 0
    assert begun[2:] == ["two"]
    fake_guest.write_source(tmp_path / "one.txt", opening="# another")
    assert run(plan(audits[0], f"{audits[1]}\nseed = 1")) == 0
    assert begun[3:] == ["one"]
    making.write_people(tmp_path / "people.csv", rows=61)
    path = plan(audits[0])
    assert run(path) == 0
    made(path, "one").unlink()
    assert run(path) == 0
    assert begun[4:] == ["one", "one"]


def test_one_that_failed_is_tried_again(plan, tmp_path):
    path = plan('model = "later.txt"')
    assert run(path) == 1
    fake_guest.write_source(tmp_path / "later.txt")
    assert run(path) == 0
    assert standings(path.with_name("plan-audits"))["later"].state == "done"


class Idle:
    """A connection to a cluster that has no workers: runs are made here."""

    made: ClassVar[list] = []
    lost = False

    def __init__(self, place):
        self.place, self.ended = place, 0
        self.made.append(self)

    def members(self):
        return {}

    def close(self):
        self.ended += 1


def test_one_cluster_serves_all_audits_and_is_ended_after_them(plan, monkeypatch):
    monkeypatch.setattr(Idle, "made", [])
    monkeypatch.setattr(connecting, "Connection", Idle)

    def faked(cluster):
        worker = worker_for(cluster)
        worker._default = (sys.executable, fake_guest.__file__)
        return worker

    monkeypatch.setattr(terminal, "worker_for", faked)
    path, ended = plan('model = "one.txt"', 'model = "gone.txt"', 'model = "two.txt"'), []
    real = running.audit

    def audit(worker, *more):
        ended.append([each.ended for each in Idle.made])
        assert isinstance(worker, ClusterWorker)
        return real(worker, *more)

    monkeypatch.setattr(running, "audit", audit)
    assert run(path, "--cluster", "local:2") == 1
    folder = path.with_name("plan-audits")
    assert [each.state for each in standings(folder).values()] == ["done", "failed", "done"]
    (connection,) = Idle.made
    assert str(connection.place) == "local:2"
    # in none of the audits it was ended already
    assert ended == [[0]] * 3
    until = monotonic() + 60
    while not connection.ended and monotonic() < until:
        sleep(0.01)
    assert connection.ended == 1
    # where nothing is due no cluster is started
    path = plan('model = "one.txt"', 'model = "two.txt"')
    assert run(path, "--cluster", "local:2") == 0
    assert len(Idle.made) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_keeps_what_is_done_and_the_same_command_continues(
    plan, tmp_path, monkeypatch, number
):
    fake_guest.write_source(tmp_path / "two.txt", "time.sleep(0.01)")
    path = plan(
        'model = "one.txt"',
        'model = "two.txt"\noption = ["steps.steps=60"]',
        'name = "three"\nmodel = "one.txt"',
    )
    pressed = []

    @contextmanager
    def bar(_total):
        def begin(name, _limit):
            def show(state):
                if (
                    name == "two"
                    and state.method == "steps"
                    and state.state == "running"
                    and not pressed
                ):
                    pressed.append(state)
                    signal.raise_signal(number)

            return show

        yield terminal.AuditsBar(lambda _name: None, begin, lambda: None)

    monkeypatch.setattr(portfolio, "audits_bar", bar)
    assert run(path) == 130
    folder = path.with_name("plan-audits")
    assert {name: each.state for name, each in standings(folder).items()} == {
        "one": "done",
        "two": "stopped",
    }
    with Store.read(made(path, "two")) as store:
        assert store.runs()[-1].state == "stopped"
    before = identities(path, "one")
    assert run(path) == 0
    assert identities(path, "one") == before
    assert {each.state for each in standings(folder).values()} == {"done"}
    assert len(standings(folder)) == 3


def test_the_overview_has_the_answers_of_each_reports_summary(plan):
    path = plan('model = "one.txt"', 'model = "two.txt"')
    assert run(path) == 0
    folder = path.with_name("plan-audits")
    found = msgspec.json.decode((folder / "overview.json").read_bytes(), type=Overview)
    assert found.title == "All models"
    for audit in found.audits:
        with Store.read(made(path, audit.name)) as store:
            summary = summarised(store)
        assert audit.headline == summary.headline.sentence
        told = {each.question: each for each in audit.answers}
        for answer in summary.answers:
            assert told[answer.question.value].sentence == answer.said.sentence
        assert audit.value(Question.GROUPS)
    with (folder / "overview.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["groups_value"] for row in rows] == [
        each.value(Question.GROUPS) for each in found.audits
    ]
    page = (folder / "overview.html").read_text("utf-8")
    # in the contents of neither: above its own small chart
    assert all(f">{name}</text>" in page for name in ("one", "two"))
    assert (folder / "overview.pdf").read_bytes().startswith(b"%PDF")


def test_the_overview_on_demand_runs_nothing_and_is_the_same_to_the_byte(plan, monkeypatch):
    path = plan('model = "one.txt"')
    assert run(path) == 0
    folder = path.with_name("plan-audits")
    before = [(folder / name).read_bytes() for name in FILES]
    monkeypatch.setattr(running, "audit", lambda *_: pytest.fail("an audit was run"))
    for name in FILES:
        (folder / name).unlink()
    assert run(path, "--overview") == 0
    assert [(folder / name).read_bytes() for name in FILES] == before
    two = plan('model = "one.txt"', 'model = "two.txt"')
    assert run(two, "--overview") == 0
    found = msgspec.json.decode((folder / "overview.json").read_bytes(), type=Overview)
    assert [each.state for each in found.audits] == ["done", "open"]


def test_a_damaged_audit_file_is_one_that_failed(plan, capsys):
    path = plan('model = "one.txt"', 'model = "two.txt"')
    assert run(path) == 0
    made(path, "one").write_bytes(b"no audit")
    capsys.readouterr()
    assert run(path, "--overview", "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert [each["state"] for each in told["audits"]] == ["failed", "done"]
    assert told["audits"][0]["reason"]


def test_a_damaged_record_is_told(plan, capsys):
    path = plan('model = "one.txt"')
    folder = path.with_name("plan-audits")
    folder.mkdir()
    (folder / LEDGER).write_text("{")
    assert run(path) == 1
    assert LEDGER in capsys.readouterr().err


def test_the_keys_are_the_options_of_an_audit(plan, tmp_path):
    (first, second) = read_plan(
        plan(
            'model = "one.txt"\nmethod = ["testsgd"]\nplausible = false\n'
            "bins = { age = [30, 50.5] }\n"
            'favourable = ["yes", "no"]\noption = { testsgd = { theta = 0.1 } }\n'
            'model-favourable = "1"\nrows = 500\nseed = 4',
            'name = "two b"\nmodel = "two.txt"\nmethod = []\nplan = "quick"\ntime = 20',
        )
    ).entries
    assert first.name == "one"
    assert first.question.subject.model == tmp_path / "one.txt"
    assert first.question.subject.data == tmp_path / "people.csv"
    assert first.question.subject.trusted
    assert first.question.subject.favourable == "yes or no"
    (spec,) = first.question.runs
    assert spec.edges == {"age": (30.0, 50.5)}
    assert spec.options == {"theta": 0.1}
    assert (spec.seed, spec.budget.queries, spec.plausible) == (4, 500, False)
    assert second.name == "two b"
    assert second.question.runs == ()
    assert second.question.limit == 20


@pytest.mark.parametrize(
    ("audits", "words"),
    [
        ((), ("no audits",)),
        (('modell = "one.txt"',), ("Audit 1", "“modell”", "“model”")),
        (('name = "a/b"\nmodel = "one.txt"',), ("a/b", "folder")),
        (('model = "one.txt"', 'model = "two.txt"\nname = "ONE"'), ("“ONE”", "name")),
        (('model = "one.txt"\ntime = "long"',), ("“one”", "time")),
        (('model = "one.txt"\ntrust-model = "yes"',), ("trust-model", "true or false")),
        (('model = "one.txt"\nlabel = ["a", "b"]',), ("label", "one value")),
        (('model = "one.txt"\nprotected = []',), ("“one”", "would be compared")),
        (('model = "one.txt"\npredictions = "hired"',), ("“one”", "predictions")),
        (('model = "one.txt"\nmethod = "nothing"',), ("“one”", "nothing")),
        (('model = "one.txt"\noption = ["steps.stepz=1"]',), ("“one”", "stepz")),
        (('model = "one.txt"\nout = "x"',), ("“out”",)),
        (("model = one.txt",), ("not TOML", "line")),
    ],
)
def test_a_plan_that_is_wrong_names_the_audit_and_the_key_before_anything_is_run(
    plan, audits, words, capsys
):
    path = plan(*audits)
    with pytest.raises(SpecError) as error:
        read_plan(path)
    assert all(word in str(error.value) for word in words), error.value
    assert run(path) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert not path.with_name("plan-audits").exists()


def test_the_audits_run_on_the_cluster_that_is_named(plan, monkeypatch):
    real, asked = portfolio.stoppable_worker, []

    def worker(cluster=""):
        asked.append(cluster)
        return real()

    monkeypatch.setattr(portfolio, "stoppable_worker", worker)
    path = plan('model = "one.txt"', 'model = "two.txt"')
    assert run(path, "--cluster", "local:2") == 0
    assert [str(each.place) for each in asked] == ["local:2", "local:2"]


_BY_ITSELF = """
import sys
from fairdesk.app import outputs
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.worker.client import Worker
from fairdesk.cli import main, terminal
from tests.audit import fake_guest

METHODS["steps"] = fake_guest.STEPS
terminal.Worker = lambda: Worker(command=(sys.executable, fake_guest.__file__))
outputs.OUTPUTS["report.pdf"] = lambda _store, path: path.write_bytes(b"%PDF")
sys.exit(main.main(["audit-many", sys.argv[1]]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGKILL")
def test_the_same_command_continues_after_the_program_was_killed(plan, tmp_path):
    fake_guest.write_source(tmp_path / "two.txt", "time.sleep(0.05)")
    path = plan(
        'model = "one.txt"',
        'model = "two.txt"\noption = ["steps.steps=100000"]',
        'name = "three"\nmodel = "one.txt"',
    )
    with subprocess.Popen(
        [sys.executable, "-c", _BY_ITSELF, str(path)],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")},
        stdout=subprocess.DEVNULL,
    ) as program:
        until = monotonic() + 60
        while monotonic() < until and program.poll() is None and not _searches(made(path, "two")):
            sleep(0.05)
        assert _searches(made(path, "two"))
        program.kill()
    folder = path.with_name("plan-audits")
    assert {name: each.state for name, each in standings(folder).items()} == {"one": "done"}
    before = identities(path, "one")
    path = plan(
        'model = "one.txt"',
        'model = "two.txt"\noption = ["steps.steps=20"]',
        'name = "three"\nmodel = "one.txt"',
    )
    assert run(path) == 0
    assert identities(path, "one") == before
    assert {name: each.state for name, each in standings(folder).items()} == {
        "one": "done",
        "two": "done",
        "three": "done",
    }
    with Store.read(made(path, "two")) as store:
        assert {each.state for each in store.runs()} == {"done"}


def _searches(audit):
    """Return whether the second run of an audit has begun."""
    if not audit.exists():
        return False
    with suppress(FairDeskError), Store.read(audit) as store:
        return [each.state for each in store.runs()][1:] == ["running"]
    return False
