"""Runs on a cluster of two workers: merged in their order, whatever happens to the workers."""

import dataclasses
import json
import logging
import signal
import subprocess
import sys
import time
from uuid import uuid4

import dask
import msgspec
import pytest
from distributed import Security

from fairdesk.audit.catalogue.method import COMPILING, COMPILING_THERE, LOADING, ON_WORKERS
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.runs.run import run
from fairdesk.audit.store.records import PairQuery
from fairdesk.cluster import remote
from fairdesk.cluster import spreading as spreading_module
from fairdesk.cluster.connection import Place
from fairdesk.cluster.messages import Heard
from fairdesk.cluster.worker import ClusterWorker
from fairdesk.errors import ClusterError, WorkerError
from fairdesk.results.events import Found, Progress
from tests import phrases
from tests.cluster import standing_in
from tests.cluster.standing_in import (
    FOUND_BY_EACH,
    Parts,
    count_running,
    settled,
    signalled,
    spreading,
    until,
)

SLOW = "time.sleep(0.03)"
#: At the age of `standing_in.bad_people` the process of the model ends.
DEADLY = "if (rows[:, 0] == 66).all(): os.kill(os.getpid(), 9)"


def test_shards_are_merged_in_their_order(connection, audited):
    audit, model, people = audited()
    parts = Parts(people)
    spread = spreading(connection, audit, model, parts)
    events = list(spread.events())
    assert parts.taken == [FOUND_BY_EACH] * parts.count
    assert spread.ending == "done"
    assert not spread.remarks
    assert parts.checked == {(i, kind) for i in range(parts.count) for kind in (Found, Progress)}
    assert isinstance(events[-1], Progress)
    assert sum(len(each.rows) for each in events if isinstance(each, Found)) == sum(parts.taken)


def test_a_worker_gets_its_next_shard_before_what_it_returned_is_merged(connection, audited):
    audit, model, people = audited()
    out = []

    class Noting(Parts):
        def take(self, index, events):
            # the last ones are dealt to idle workers only
            out.extend([len(spread._out)] if self.left > 2 else [])
            yield from super().take(index, events)

    # both workers have a guest, so that none is done with all before the other begins
    list(spreading(connection, audit, model, Parts(people)).events())
    spread = spreading(connection, audit, model, Noting(people, count=24))
    list(spread.events())
    assert out
    # two workers have two each
    assert set(out) == {4}


@pytest.mark.parametrize("loading", [True, False])
def test_no_time_of_the_run_passes_while_workers_load_its_method(
    loading, connection, audited, monkeypatch
):
    audit, model, people = audited("time.sleep(0.3)")
    monkeypatch.setattr(Heard, "loading", lambda *_: loading)
    parts = Parts(people)
    spread = spreading(connection, audit, model, parts, seconds=0.1)
    list(spread.events())
    assert spread.ending == "budget"
    ended = zip(parts.endings, parts.taken, strict=True)
    # one may also be told to stop when it has found all
    assert all(found == FOUND_BY_EACH for ending, found in ended if ending == "done")
    assert loading == bool(parts.endings.count("done"))


@pytest.fixture
def cold(connection, tmp_path):
    """Have workers compile until a file is there, which is returned; each writes one of its own."""
    go = tmp_path / "go"
    connection.client.run(standing_in.cool, str(tmp_path))
    yield go
    go.touch()
    connection.client.run(standing_in.warm)


def test_workers_compile_before_the_time_of_a_run_begins(cold, connection, audited, monkeypatch):
    later = [0.0]
    monkeypatch.setattr(spreading_module, "monotonic", lambda: time.monotonic() + later[0])
    audit, model, people = audited()
    parts = Parts(people)
    spread = spreading(connection, audit, model, parts, seconds=600.0)
    phases = []
    for event in spread.events():
        phases.append(event.phase)
        if event.phase == COMPILING_THERE and not cold.exists():
            assert not parts.dealt
            later[0] += 1_000.0
            cold.touch()
    assert COMPILING_THERE in phases
    assert (spread.ending, parts.taken) == ("done", [FOUND_BY_EACH] * parts.count)
    # once on each, and the next run begins at once
    assert len(list(cold.parent.glob("compiled-*"))) == 2
    again = list(spreading(connection, audit, model, Parts(people)).events())
    assert COMPILING_THERE not in {each.phase for each in again}


def test_a_run_is_stopped_while_workers_compile(cold, connection, audited):
    audit, model, people = audited()
    parts = Parts(people)
    spread = spreading(connection, audit, model, parts)
    for event in spread.events():
        if event.phase == COMPILING_THERE:
            spread.stop()
    assert (spread.ending, parts.dealt) == ("stopped", 0)
    assert not cold.exists()


def test_who_loads_its_method_is_heard():
    heard = Heard()
    assert heard.loading({0, 1})
    for index, phase in enumerate((LOADING, COMPILING, "global")):
        said = msgspec.json.encode(Progress(phase, 0, 0, tried=0, found=0, queries=0))
        heard.note({"index": index, "progress": said, "worker": "tcp://127.0.0.1:1"})
    assert heard.loading({0, 1, 5})
    assert not heard.loading({0, 1, 2})


def test_a_worker_on_this_computer_writes_nothing_to_the_terminal(connection):
    handled = connection.client.run(lambda: logging.getLogger("fairdesk").hasHandlers())
    assert set(handled.values()) == {True}


def test_a_large_array_crosses_once(connection, audited):
    audit, model, people = audited()
    many = people.repeat(1 + (2 << 20) // people.nbytes, axis=0)
    parts = Parts(many, count=3)
    spread = spreading(connection, audit, model, parts)
    sent = spread._contents.kept
    list(spread.events())
    assert parts.taken == [FOUND_BY_EACH] * 3
    assert sum(content == many.tobytes() for content in sent.values()) == 1


def test_the_files_of_a_model_cross_once_for_all_runs(connection, audited, monkeypatch):
    audit, model, people = audited(f"len('{uuid4()}')")
    other = model.with_name("another.txt")
    other.write_text(model.read_text() + "\n")
    submit, sent = connection.submit, []

    def note(function, *arguments, **named):
        if function is remote.keep_here:
            sent[-1].append(arguments[0])
        return submit(function, *arguments, **named)

    monkeypatch.setattr(connection, "submit", note)
    for path in (model, model, other):
        sent.append([])
        parts = Parts(people, count=2)
        list(spreading(connection, audit, path, parts).events())
        assert parts.taken == [FOUND_BY_EACH] * parts.count
    workers = len(connection.members())
    # the audit and the model; nothing; the other model's file
    assert [len(each) for each in sent] == [2 * workers, 0, workers]
    assert not set(sent[0]) & set(sent[2])


def test_a_killed_worker_costs_and_doubles_nothing(connection, audited):
    audit, model, people = audited(SLOW)
    parts = Parts(people, count=10)
    spread = spreading(connection, audit, model, parts)
    victim = next(iter(standing_in.pids(connection).values()))
    for event in spread.events():
        if isinstance(event, Found) and victim:
            signalled(victim, signal.SIGKILL)
            victim = 0
    assert parts.taken == [FOUND_BY_EACH] * parts.count
    assert spread.remarks
    settled(connection)


def test_the_shard_of_a_silent_worker_is_run_elsewhere(connection, audited):
    audit, model, people = audited(SLOW)
    parts = Parts(people, count=10)
    spread = spreading(connection, audit, model, parts)
    address, hanging = next(iter(standing_in.pids(connection).items()))
    stopped = False
    try:
        for event in spread.events():
            if isinstance(event, Found) and not stopped:
                signalled(hanging, signal.SIGSTOP)
                stopped = True
    finally:
        signalled(hanging, signal.SIGCONT)
    assert parts.taken == [FOUND_BY_EACH] * parts.count
    assert any(address in remark for remark in spread.remarks)
    until(lambda: sum(connection.client.run(count_running).values()) == 0)


def test_a_worker_that_hangs_before_the_run_is_not_waited_for(connection, audited):
    audit, model, people = audited()
    parts = Parts(people)
    hanging = next(iter(standing_in.pids(connection).values()))
    signalled(hanging, signal.SIGSTOP)
    try:
        list(spreading(connection, audit, model, parts).events())
    finally:
        signalled(hanging, signal.SIGCONT)
    assert parts.taken == [FOUND_BY_EACH] * parts.count


def test_a_shard_that_fails_everywhere_fails_the_run(connection, audited):
    audit, model, people = audited(DEADLY)
    bad = standing_in.bad_people(people)
    parts = Parts(people, count=6, others={3: bad})
    spread = spreading(connection, audit, model, parts)
    with pytest.raises(WorkerError) as failed:
        list(spread.events())
    # what came before was taken, and what it failed of is said
    assert parts.taken == [FOUND_BY_EACH] * 3
    assert failed.value.what.startswith("Part 4 ")
    assert failed.value.why
    assert len(spread.remarks) == 1


def test_a_shard_that_ends_workers_fails_the_run(connection, audited):
    audit, model, people = audited(SLOW)
    parts = Parts(people, count=4, steps=200)
    impatient = dataclasses.replace(standing_in.QUICK, losses=0)
    spread = spreading(connection, audit, model, parts, patience=impatient)
    victims = list(standing_in.pids(connection).values())

    def kill():
        for _ in spread.events():
            if spread._out and victims:
                time.sleep(1.0)
                signalled(victims.pop(), signal.SIGKILL)

    with pytest.raises(WorkerError, match="ended unexpectedly"):
        kill()
    assert not parts.taken
    settled(connection)


def test_a_run_is_paused_and_stopped(connection, audited):
    audit, model, people = audited(SLOW)
    parts = Parts(people, count=40, steps=40)
    spread = spreading(connection, audit, model, parts)
    events = spread.events()
    phases = []
    for event in events:
        if isinstance(event, Found):
            break
        phases.append(event.phase)
    # how far a worker is, is known before the first shard is done
    assert phases[0] == ON_WORKERS
    assert phases[-1] != ON_WORKERS
    doing = spread.at_work()
    assert {each.worker for each in doing} <= connection.members().keys()
    assert all(each.part > 0 and each.speed > 0 for each in doing)
    spread.pause()
    assert spread.paused
    end = time.monotonic() + 3.0
    while time.monotonic() < end:
        next(events)
    out, taken = parts.dealt, len(parts.taken)
    end = time.monotonic() + 2.0
    while time.monotonic() < end:
        next(events)
    assert (parts.dealt, len(parts.taken)) == (out, taken)
    spread.resume()
    while len(parts.taken) <= taken:
        next(events)
    spread.stop()
    list(events)
    assert spread.ending == "stopped"
    assert len(parts.taken) < parts.count
    # a part that was stopped in the middle gives what it has
    assert parts.endings[-1] == "stopped"
    until(lambda: sum(connection.client.run(count_running).values()) == 0)


def test_time_ends_the_whole_run(connection, audited):
    audit, model, people = audited(SLOW)
    parts = Parts(people, count=1000, steps=20)
    spread = spreading(connection, audit, model, parts, seconds=3.0)
    list(spread.events())
    assert spread.ending == "budget"
    assert len(parts.taken) < parts.count


def test_a_worker_that_cannot_open_the_model_is_told_before_the_run(connection, audited):
    audit, model, people = audited("pass")
    model.write_text("another file")
    parts = Parts(people)
    with pytest.raises(ClusterError) as refused:
        list(spreading(connection, audit, model, parts).events())
    assert parts.dealt == 0
    assert refused.value.why


def test_a_worker_of_another_version_is_told_before_the_run(connection, audited):
    audit, model, people = audited()
    other = msgspec.structs.replace(audit, versions={**audit.versions, "numpy": "1.0"})
    parts = Parts(people)
    with pytest.raises(ClusterError, match=r"numpy .* instead of 1\.0"):
        list(spreading(connection, other, model, parts).events())
    assert parts.dealt == 0


DIVIDED = RunSpec("steps", {"steps": 36}, shards=6)


def _pairs(store, number):
    return [pair.row.tolist() for pair in store.each_pair(PairQuery(run=number))]


def test_a_search_finds_the_same_here_and_there(here, there, kept):
    with kept(here, "a.fairdesk") as one, kept(there, "b.fairdesk") as other:
        last_here = list(run(here, one, DIVIDED))[-1]
        last_there = list(run(there, other, DIVIDED))[-1]
        assert last_here.state == last_there.state == "done", last_there.message
        assert _pairs(one, 1) == _pairs(other, 1)
        assert last_here.found == last_there.found > 0
        assert last_here.queries == last_there.queries
        # what is not divided runs here
        whole = list(run(there, other, RunSpec("steps", {"steps": 5})))[-1]
        assert (whole.state, whole.found) == ("done", 15)


def test_a_full_disk_ends_the_run_on_the_cluster(connection, there, kept):
    with kept(there, "audit.fairdesk", SLOW) as store:
        many = RunSpec("steps", {"steps": 4_000}, shards=400)
        full = False
        for last in run(there, store, many):
            if last.found and not full:
                pages = store._one("PRAGMA page_count")[0]
                store._connection.execute(f"PRAGMA max_page_count = {pages}")
                full = True
        assert last.state == "failed"
        assert phrases.DISK_FULL in last.message
        assert last.found == store.count(PairQuery(run=1)) > 0
    until(lambda: sum(connection.client.run(count_running).values()) == 0)


@pytest.fixture
def certificates(tmp_path):
    """Return the arguments of scheduler and workers that name certificates; here they are known."""
    security, said = Security.temporary(), {}
    for name, field in (("ca-file", "ca_file"), ("cert", "client_cert"), ("key", "client_key")):
        path = tmp_path / f"{name}.pem"
        path.write_text(getattr(security, f"tls_{field}"))
        said[name] = str(path)
    ours = {"ca-file": said["ca-file"], "client.cert": said["cert"], "client.key": said["key"]}
    with dask.config.set({f"distributed.comm.tls.{name}": path for name, path in ours.items()}):
        yield tuple(part for name, path in said.items() for part in (f"--tls-{name}", path))


def test_the_scheduler_goes_and_the_run_is_continued_here(tmp_path, here, kept, certificates):
    file = tmp_path / "scheduler.json"
    program = (sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", *certificates)
    at = ("--host", "tls://127.0.0.1", "--no-dashboard", "--scheduler-file", str(file))
    scheduler = subprocess.Popen((*program, *at))
    processes = [scheduler]
    there = ClusterWorker(Place("file", at=str(file)))
    there._default = standing_in.FAKE
    try:
        until(file.exists, 120)
        address = json.loads(file.read_text())["address"]
        assert address.startswith("tls://")
        program = (sys.executable, "-m", "distributed.cli.dask_worker", address, *certificates)
        # two threads, and nobody who starts it again
        shape = (
            "--no-dashboard",
            "--nthreads",
            "2",
            "--no-nanny",
            "--preload",
            "tests.cluster.standing_in",
        )
        processes.append(subprocess.Popen((*program, *shape, "--local-directory", str(tmp_path))))
        with kept(there, "audit.fairdesk", SLOW) as store:
            many = RunSpec("steps", {"steps": 4_000}, shards=400)
            for last in run(there, store, many):
                if last.found and scheduler.poll() is None:
                    scheduler.kill()
                    scheduler.wait()
            assert last.state == "failed"
            assert str(file) in last.message
            assert last.found == store.count(PairQuery(run=1)) > 0
            here.open_model(tmp_path / "model.txt")
            more = msgspec.structs.replace(DIVIDED, continues=1)
            assert list(run(here, store, more))[-1].state == "done"
    finally:
        there.close()
        for process in processes:
            process.kill()
            process.wait()
