"""A cluster of two workers on this computer, and what stands in for methods that are divided."""

import os
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
from distributed import WorkerPlugin
from distributed.core import Status

from fairdesk.audit.plan.inputs import SearchInputs
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.sandbox import kernel_cache
from fairdesk.audit.shards.shard import Shard
from fairdesk.audit.worker.client import Worker
from fairdesk.cluster import messages, remote
from fairdesk.cluster.spreading import ClusterPatience, Spreading
from fairdesk.results.events import Found, Progress
from tests.audit import fake_guest

FAKE = (sys.executable, fake_guest.__file__)
#: Less patient than an auditor's.
QUICK = ClusterPatience(look=0.05, silence=3.0, nobody=20.0, stop=10.0)
STEPS = 4
FOUND_BY_EACH = 3 * STEPS


class Fakes(WorkerPlugin):
    """Lets a worker, also one that is started later, open `tests.audit.fake_guest`."""

    name = "fakes"

    def setup(self, worker):
        use_fake_guests()


def use_fake_guests():
    """On a worker: open `tests.audit.fake_guest` from now on."""
    remote.Worker = partial(Worker, command=FAKE)


def dask_setup(worker):
    """Do so in a worker that is started with ``--preload``."""
    use_fake_guests()


def count_running():
    """On a worker: return how many guests work for runs."""
    return sum(map(len, remote._GUESTS._running.values()))


def run_out_of_memory(once):
    """On a worker: have no memory for the next shard, on the first worker that has one."""
    read = messages.read_job

    def lacking(payload, find):
        messages.read_job = read
        try:
            os.close(os.open(once, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return read(payload, find)
        raise MemoryError

    messages.read_job = lacking


_IS_MADE, _MAKE = kernel_cache.is_made, kernel_cache.make


def cool(folder):
    """On a worker: have nothing compiled; to do so waits for a file “go”, and leaves one."""
    done = Path(folder) / f"compiled-{os.getpid()}"

    def make():
        until((done.parent / "go").exists)
        done.touch()

    kernel_cache.is_made, kernel_cache.make = done.exists, make


def warm():
    """On a worker: have compiled what is."""
    kernel_cache.is_made, kernel_cache.make = _IS_MADE, _MAKE


def until(condition, seconds=120.0):
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def settled(connection):
    """Wait until both workers run: Dask does not start one again that is killed while starting.

    One that took long to start again, on a busy machine, it has given up: there is to be another.
    """
    cluster = connection._cluster
    wanted = len(cluster.worker_spec)

    def ready():
        nannies = [*cluster.workers.values()]
        return len(nannies) == wanted and all(
            each.process is not None and each.process.status is Status.running for each in nannies
        )

    cluster.scale(wanted)
    until(ready)
    until(lambda: len(connection.members()) == wanted)


def guests_running():
    """On a worker: return the processes of the guests that work for runs, once there are any."""
    until(count_running)
    return [each._child.pid for run in remote._GUESTS._running.values() for each in run]


class Parts:
    """A dealing of so many shards of “steps”, each from the same rows; notes what it takes."""

    def __init__(self, people, count=8, steps=STEPS, others=None):
        self.people, self.count, self.steps = people, count, steps
        self.others = others or {}
        self.dealt, self.taken, self.endings = 0, [], []
        self.ending = "done"
        #: What was checked, against which shard.
        self.checked = set()

    def deal(self):
        if self.dealt == self.count:
            return None
        index, self.dealt = self.dealt, self.dealt + 1
        people = self.others.get(index, self.people)
        return Shard(index, RunSpec("steps", {"steps": self.steps}), SearchInputs(people))

    @property
    def left(self):
        return self.count - self.dealt

    def take(self, index, events):
        assert index == len(self.taken), "shards are taken in their order, each once"
        found = 0
        for event in events:
            if isinstance(event, Found):
                found += len(event.rows)
            yield event
        self.taken.append(found)
        self.endings.append(events.ending)
        total = sum(self.taken)
        yield Progress("global", index + 1, self.count, total, total, 0)

    @property
    def done(self):
        return len(self.taken) == self.count


def spreading(connection, audit, model, dealing, seconds=None, patience=QUICK):
    """Return a run of a stand-in on a cluster."""
    contents = messages.Contents()
    opening = messages.opening_of(audit, [model], remote.unknown(), contents)

    def check(event, shard):
        dealing.checked.add((shard.index, type(event)))
        return event

    return Spreading(connection, dealing, opening, contents, seconds, check, patience)


def pids(connection):
    """Return the processes of the workers by their addresses."""
    return connection.client.run(os.getpid)


def signalled(pid, number):
    """Send a signal to a worker."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def bad_people(people, age=66.0):
    """Return people of one age only, at which a model of the tests misbehaves."""
    rows = np.array(people)
    rows[:, 0] = age
    return rows
