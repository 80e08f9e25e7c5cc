"""Workers run out of memory, hang or are told too late: nothing is lost or counted twice."""

import dataclasses
import signal
import time

import pytest

from fairdesk.cluster import remote
from fairdesk.errors import WorkerError
from tests.cluster import standing_in
from tests.cluster.standing_in import (
    FOUND_BY_EACH,
    Parts,
    guests_running,
    signalled,
    spreading,
)

SLOW = "time.sleep(0.03)"


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


def test_what_came_together_with_a_failure_is_kept(connection, audited):
    audit, model, people = audited(
        "time.sleep(0.4 * (rows[:, 0] == 33).all()); bytearray(int((rows[:, 0] == 66).all()) << 62)"
    )
    others = {0: standing_in.bad_people(people, 33.0), 1: standing_in.bad_people(people)}
    parts = Parts(people, count=4, others=others)
    spread = spreading(connection, audit, model, parts)
    wait = spread._wait

    def late():
        # the first part ends, and the second fails again on its worker, before either is looked at
        time.sleep(1.0)
        wait()

    spread._wait = late
    with pytest.raises(WorkerError, match="memory"):
        list(spread.events())
    assert parts.taken[:1] == [FOUND_BY_EACH]


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
