"""Where to run: how it is named, and what is said where there is no cluster."""

import subprocess
import sys

import dask
import psutil
import pytest

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.worker.client import Worker
from fairdesk.cli import commands
from fairdesk.cluster import connection as connecting
from fairdesk.cluster.connection import Connection, Link, Place, read_place
from fairdesk.cluster.members import examine
from fairdesk.cluster.worker import ClusterWorker, in_parts
from fairdesk.errors import ClusterError
from tests.audit import making

TCP, TLS = "tcp://127.0.0.1:9", "tls://127.0.0.1:9"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("local", Place("local")),
        ("local:3", Place("local", workers=3)),
        (TCP, Place("address", at=TCP)),
        ("tls://node-1.example.org", Place("address", at="tls://node-1.example.org")),
        ("tcp://[::1]:8786", Place("address", at="tcp://[::1]:8786")),
        ("/shared/scheduler.json", Place("file", at="/shared/scheduler.json")),
    ],
)
def test_a_place_is_read_and_written(text, place):
    assert read_place(text) == place
    assert str(place) == text


@pytest.mark.parametrize(
    "text", ["", "local:", "local:0", "local:two", "http://x", "tcp://", "tls://a b"]
)
def test_what_names_no_cluster_is_refused(text):
    with pytest.raises(ClusterError) as refused:
        read_place(text)
    assert refused.value.remedy
    assert refused.value.setting == "cluster"


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setattr(connecting, "CONNECT_SECONDS", 1.0)
    with pytest.raises(ClusterError, match=TCP):
        Connection(Place("address", at=TCP))


def test_workers_are_known_whatever_the_client_was_told_last(connection, monkeypatch):
    # the client is told every two seconds, and without the workers
    nobody = property(lambda _: {"workers": {}}, lambda *_: None)
    monkeypatch.setattr(type(connection.client), "_scheduler_identity", nobody, raising=False)
    assert len(connection.members()) == 2


def test_an_encrypted_scheduler_needs_a_certificate():
    with pytest.raises(ClusterError, match="certificate"):
        Connection(Place("address", at=TLS))


def test_a_scheduler_file_must_be_one(tmp_path):
    missing, other = tmp_path / "none.json", tmp_path / "other.json"
    other.write_text("[]")
    for path in (missing, other):
        with pytest.raises(ClusterError, match=path.name):
            Connection(Place("file", at=str(path)))


def test_without_dask_it_is_said_how_it_is_installed(monkeypatch):
    monkeypatch.setattr(connecting, "find_spec", lambda name: None)
    with pytest.raises(ClusterError, match="cluster"):
        Connection(Place("local"))


def test_nothing_of_dask_is_loaded_without_a_cluster():
    program = (
        "import sys, fairdesk.cli.commands, fairdesk.app.audit, fairdesk.cluster.worker;"
        "sys.exit(any(name.split('.')[0] in ('dask', 'distributed') for name in sys.modules))"
    )
    assert subprocess.run((sys.executable, "-c", program), check=False).returncode == 0


def test_the_command_line_names_the_argument(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    given = (
        "--label",
        "hired",
        "--favourable",
        "yes",
        "--protected",
        "sex",
        "--cluster",
        "nowhere://x",
    )
    people = making.write_people(tmp_path / "people.csv")
    model = making.write_model(tmp_path / "model.pkl")
    files = ("--data", str(people), "--model", str(model), "--out", str(tmp_path / "out"))
    assert commands.run(("audit", *files, *given), lambda _file: 0) == 1
    assert "--cluster" in capsys.readouterr().err


def test_workers_tell_what_they_are(connection, monkeypatch):
    monkeypatch.setattr("fairdesk.cluster.members.Connection", lambda place: connection)
    monkeypatch.setattr(connection, "close", lambda: None)
    found = examine(connection.place)
    assert [each.fit for each in found] == [True, True]
    assert all(each.worker.threads == 1 and each.worker.memory for each in found)
    monkeypatch.setattr(
        "fairdesk.cluster.members.versions", lambda: {"numpy": "1.0", "system": "another"}
    )
    (differing,) = {each.differing for each in examine(connection.place)}
    assert len(differing) == 1
    assert differing[0].startswith("numpy ")


def test_local_workers_listen_to_this_computer_only_and_at_any_free_port(connection):
    me = psutil.Process()
    listening = {
        each.laddr
        for process in (me, *me.children(recursive=True))
        for each in process.net_connections("inet")
        if each.status == psutil.CONN_LISTEN
    }
    assert {each.ip for each in listening} == {"127.0.0.1"}
    # where Dask serves its state by itself, and warns on the terminal when that is taken
    assert 8787 not in {each.port for each in listening}


def test_local_workers_look_at_themselves_seldom(connection):
    asked = connection.client.run(dask.config.get, "distributed.worker.profile.enabled")
    assert set(asked.values()) == {False}
    assert dask.config.get("distributed.worker.profile.enabled")


def test_a_search_is_divided_by_the_workers_unless_it_says_how(connection):
    link, here = Link(connection.place), Worker()
    link._connection = connection
    there, lost = ClusterWorker(link), ClusterWorker(Place("file", at="/nowhere/scheduler.json"))
    try:
        search = RunSpec("uniform")
        assert in_parts(search, here) == search
        assert in_parts(search, there).shards == 8
        assert in_parts(RunSpec("uniform", shards=3), there).shards == 3
        assert in_parts(RunSpec("groups"), there).shards == 0
        # then the run says what is wrong
        assert in_parts(search, lost) == search
    finally:
        there.close()
        here.close()
        lost.close()
