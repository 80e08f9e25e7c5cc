"""A worker is killed in the middle of each kind of method: the result is that of one process."""

import dataclasses
import signal

import msgspec
import pytest
from distributed.core import Status

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.runs.run import run
from fairdesk.audit.store.records import PairQuery
from fairdesk.cluster import remote
from fairdesk.errors import WorkerError
from tests.cluster import standing_in
from tests.cluster.standing_in import (
    FOUND_BY_EACH,
    Parts,
    guests_running,
    pids,
    signalled,
    spreading,
    until,
)

#: A run of each kind of method that is divided, how long the model takes for each call, in seconds,
#: and how many shards are taken when a worker is killed.
KINDS = {
    "draws": (RunSpec("estimate", {"trials": 8, "people": 200}, seed=3), 0.03, 2),
    "ranges": (RunSpec("enumerate", {"keep": 100}), 0.01, 0),
    "tables": (RunSpec("groups"), 1.0, 0),
    "subgroups": (RunSpec("testsgd", {"sample_thr": 200, "theta": 0.05}, seed=7), 0.3, 0),
    "certification": (RunSpec("certify", {"seconds": 30.0, "keep": 10}), 0.1, 0),
    "searches": (RunSpec("maft", {"global_num": 24, "local_num": 20}, shards=6), 0.005, 1),
}


SLOW = "time.sleep(0.03)"


def figures(record):
    """Return what was measured, without the seconds that it took."""
    return [
        msgspec.structs.replace(each, seconds=0.0) if hasattr(each, "seconds") else each
        for each in record.figures
    ]


def pairs(store):
    return {(*pair.row, *pair.partner) for pair in store.each_pair(PairQuery(run=1))}


def run_and_kill(there, connection, store, spec, after):
    """Run on the cluster, and kill a worker that has a shard when so many are taken."""
    # one that is killed before its nanny is done with starting it is never started again
    nannies = connection._cluster.workers.values()
    until(lambda: there.threads == 2 and all(each.status is Status.running for each in nannies))
    spread, states = None, []
    for state in run(there, store, spec):
        states.append(state)
        now = there._spreading
        if spread is None and now is not None and now._next >= after and now._out:
            spread = now
            _, address = next(iter(next(iter(now._out.values())).futures.values()))
            signalled(pids(connection)[address], signal.SIGKILL)
    assert spread is not None, states[-1]
    until(lambda: len(connection.members()) == 2)
    assert any(address in remark for remark in spread.remarks)
    return states[-1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_changes_no_result(kind, here, there, connection, kept):
    spec, seconds, after = KINDS[kind]
    slow = f"time.sleep({seconds})"
    with kept(here, "a.fairdesk", slow) as one, kept(there, "b.fairdesk", slow) as other:
        *_, wanted = run(here, one, spec)
        last = run_and_kill(there, connection, other, spec, after)
        assert last.state == wanted.state == "done", last.message
        assert figures(last) == figures(wanted)
        assert figures(last) or last.found
        assert pairs(other) == pairs(one)
        assert last.found == wanted.found


def test_a_part_without_memory_runs_elsewhere(connection, audited, tmp_path):
    once = tmp_path / "once"
    audit, model, people = audited()
    connection.client.run(standing_in.run_out_of_memory, str(once))
    parts = Parts(people)
    spread = spreading(connection, audit, model, parts)
    list(spread.events())
    assert once.exists()
    assert parts.taken == [FOUND_BY_EACH] * parts.count
    (remark,) = spread.remarks
    assert "memory" in remark


def test_a_part_that_no_worker_has_memory_for_fails_the_run(connection, audited):
    audit, model, people = audited("if (rows[:, 0] == 66).all(): bytearray(1 << 62)")
    parts = Parts(people, count=4, others={1: standing_in.bad_people(people)})
    with pytest.raises(WorkerError, match="memory") as failed:
        list(spreading(connection, audit, model, parts).events())
    assert parts.taken == [FOUND_BY_EACH]
    assert failed.value.remedy


def test_a_worker_that_was_beaten_is_given_nothing_until_it_is_done(connection, audited):
    audit, model, people = audited(SLOW)
    parts = Parts(people, count=30)
    quick = dataclasses.replace(standing_in.QUICK, least=1.0, slow=1.0)
    spread = spreading(connection, audit, model, parts, patience=quick)
    given, give = [], spread._members.give

    def note(address, key, index):
        given.append((address, bool(spread._late)))
        give(address, key, index)

    spread._members.give = note
    hanging, (guest,) = "", (0,)
    try:
        for _ in spread.events():
            if not hanging and spread._out:
                hanging = given[0][0]
                # the process of the model hangs, and the worker does not
                ((guest,),) = connection.client.run(guests_running, workers=[hanging]).values()
                signalled(guest, signal.SIGSTOP)
    finally:
        signalled(guest, signal.SIGCONT)
    assert parts.taken == [FOUND_BY_EACH] * parts.count
    # it was beaten, and from then on the other one had all the rest
    late = [address for address, while_late in given if while_late]
    assert late
    assert hanging not in late


def test_what_was_told_before_is_too_late_afterwards():
    guests, guest = remote._Guests(), Commanded()
    with guests.running("run", guest):
        guests.tell("run", 2, "resume")
        guests.tell("run", 1, "pause")
        assert guest.told == ["resume"]
        guests.tell("run", 3, "pause")
        # one that begins later is held, too
        later = Commanded()
        assert not guests.stops("run", later)
        assert later.told == ["pause"]
        guests.tell("run", 4, "stop")
        assert guests.stops("run", later)
    for number in range(2 * remote._REMEMBERED):
        guests.tell(f"{number}", 1, "stop")
    assert len(guests._told) == remote._REMEMBERED


class Commanded:
    """A guest that notes what it is told."""

    def __init__(self):
        self.told = []

    @property
    def paused(self):
        return self.told[-1:] == ["pause"]

    def pause(self):
        self.told.append("pause")

    def resume(self):
        self.told.append("resume")

    def stop(self):
        self.told.append("stop")
