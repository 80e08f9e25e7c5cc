"""Runs on two local workers against one process, and a simulation of up to 1,000 workers.

    python -m tests.benchmarks.cluster [--method KEY ...] [--shards 8]

For every method that is divided: the same run in one process and on two workers, whether the
results are equal, wall and processor seconds, and the memory of the processes. On a busy machine
the wall seconds say little; “shared” is the processor time of one process divided by that of the
busier of the two workers: what two free cores would gain.

Certification has a time limit instead of an end: of it the decided share is printed.

The simulation is of discrete events. A client cuts, sends and merges shards, a scheduler passes
messages on, and workers compute; what each takes was measured in the same run.
"""

from __future__ import annotations

import argparse
import hashlib
import heapq
import os
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter, process_time
from uuid import uuid4

import msgspec
import psutil
from distributed import Future

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.runs.run import run
from fairdesk.audit.store.records import RunRecord
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.cluster.connection import Connection
from fairdesk.cluster.place import Place
from fairdesk.cluster.worker import ClusterWorker
from fairdesk.errors import SpecError
from fairdesk.results.proofs import Proven
from tests.gui.test_responsiveness import sample_audit

WORKERS = 2
RUNS = {
    "maft": RunSpec("maft", {"global_num": 1_000, "local_num": 1_000}),
    "eidig": RunSpec("eidig", {"global_num": 400, "local_num": 400}),
    "adf": RunSpec("adf", {"global_num": 400, "local_num": 400}),
    "aequitas-random": RunSpec("aequitas-random", {"global_iteration_limit": 4_000}),
    "aequitas-semi": RunSpec("aequitas-semi", {"global_iteration_limit": 2_000}),
    "aequitas-full": RunSpec("aequitas-full", {"global_iteration_limit": 2_000}),
    "sg": RunSpec("sg", {"global_num": 100, "max_iter": 2_000}),
    "uniform": RunSpec("uniform", {"samples": 3_000_000}),
    "estimate": RunSpec("estimate", {"trials": 50, "people": 20_000}),
    "repeats": RunSpec("repeats"),
    "themis": RunSpec("themis"),
    "enumerate": RunSpec("enumerate"),
    "testsgd": RunSpec("testsgd"),
    "groups": RunSpec("groups"),
    "themis-groups": RunSpec("themis-groups"),
    "diagnose": RunSpec("diagnose"),
}
#: For so long a certification goes on.
CERTIFY = RunSpec("certify", {"seconds": 20.0})
#: Of these it is simulated how they scale: one that draws, one that searches pairs, one subgroups.
SIMULATED = ("estimate", "maft", "testsgd")
#: So many messages are timed.
MESSAGES = 200


@dataclass(frozen=True)
class Taken:
    """What a run took, and what came of it."""

    wall: float
    processors: tuple[float, ...]
    memory: int
    client: float
    shards: int
    result: object


def family(pid: int | None = None) -> tuple[float, int]:
    """Return the processor seconds and the memory, in bytes, of the guests below a process."""
    seconds, memory = 0.0, 0
    root = psutil.Process(pid)
    for each in (root, *root.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            if "fairdesk.audit.worker.guest" in each.cmdline():
                times = each.cpu_times()
                seconds, memory = (
                    seconds + times.user + times.system,
                    memory + each.memory_info().rss,
                )
    return seconds, memory


def families(worker: Worker) -> dict[str, tuple[float, int]]:
    """Return the same of each worker of a cluster, or of the one process here."""
    if isinstance(worker, ClusterWorker):
        return worker.connect().client.run(family)
    return {"": family(worker._child.pid)}


def result(store: Store, record: RunRecord) -> object:
    """Return what must be equal: the figures, and the instances that were found."""
    rows = [each for batch in store.found_rows(record.id) for each in batch]
    found = hashlib.sha256(b"".join(sorted(row.tobytes() for row in rows))).hexdigest()
    figures = [
        msgspec.structs.replace(each, seconds=0.0) if hasattr(each, "seconds") else each
        for each in record.figures
    ]
    return msgspec.to_builtins(figures), found, record.found


def measured(worker: Worker, store: Store, spec: RunSpec) -> Taken:
    """Run, and measure."""
    before = families(worker)
    wall, client = perf_counter(), process_time()
    shards = 1
    for state in run(worker, store, spec):
        last = state
        spreading = worker._spreading if isinstance(worker, ClusterWorker) else None
        shards = shards if spreading is None else max(shards, spreading._next)
    wall, client = perf_counter() - wall, process_time() - client
    if last.state != "done":
        raise SystemExit(f"{spec.method} {last.state}: {last.message}")
    after = families(worker)
    processors = tuple(after[each][0] - before.get(each, (0.0, 0))[0] for each in after)
    memory = max(each[1] for each in after.values())
    return Taken(wall, processors, memory, client, shards, result(store, store.runs()[-1]))


@dataclass(frozen=True)
class Costs:
    """What things take, in seconds."""

    shard: float
    send: float
    schedule: float
    network: float
    merge: float = 0.0
    opening: float = 0.0


def messages(connection: Connection, opening: float) -> Costs:
    """Time small messages, one after the other and many at once; a shard's own costs come later."""

    def ask() -> Future[int]:
        return connection.submit(len, b"fairdesk", key=f"benchmark-{uuid4().hex}")

    began = perf_counter()
    for _ in range(MESSAGES):
        ask().result()
    turn = (perf_counter() - began) / MESSAGES
    began = perf_counter()
    asked = [ask() for _ in range(MESSAGES)]
    send = (perf_counter() - began) / MESSAGES
    for each in asked:
        each.result()
    each_of_many = (perf_counter() - began) / MESSAGES
    # a message passes the scheduler twice, and four times a network: that of this computer
    schedule = each_of_many / 2
    network = max(turn - send - each_of_many, 0.0) / 4
    return Costs(1.0, send, schedule, network, opening=opening)


def certified(here: Worker, one: Store, there: Worker, two: Store) -> None:
    """Print what is decided in the same time."""
    shares = []
    for worker, store in ((here, one), (there, two)):
        measured(worker, store, CERTIFY)
        figures = store.runs()[-1].figures
        proven = next(each for each in figures if isinstance(each, Proven))
        shares.append(proven.certified + proven.falsified)
    limit = CERTIFY.options["seconds"]
    print(
        f"{'certify':<16} in {limit:g} s decided: {shares[0]:.4%} and {shares[1]:.4%}", flush=True
    )


def compare(
    methods: list[str], shards: int, found: list[Costs]
) -> Iterator[tuple[str, Taken, Taken]]:
    """Yield of each method what it took in one process, and on two workers.

    What messages take is left in ``found``.
    """
    here, there = Worker(), ClusterWorker(Place("local", workers=WORKERS))
    with tempfile.TemporaryDirectory() as folder, closing(here), closing(there):
        there.connect()
        with (
            sample_audit(here, Path(folder) / "here.fairdesk") as one,
            sample_audit(there, Path(folder) / "there.fairdesk") as two,
        ):
            warm = RunSpec("uniform", {"samples": 1_000}, shards=2 * WORKERS)
            measured(here, one, warm)
            first = measured(there, two, warm).wall
            opening = max(first - measured(there, two, warm).wall, 0.1)
            found.append(messages(there.connect(), opening))
            for name in methods:
                spec = msgspec.structs.replace(RUNS[name], shards=shards)
                try:
                    taken = measured(here, one, spec), measured(there, two, spec)
                except SpecError as error:
                    print(f"{name:<16} {error}")
                    continue
                yield name, *taken
            certified(here, one, there, two)


def simulated(workers: int, shards: int, costs: Costs, ahead: int = 2) -> tuple[float, float]:
    """Return how long a run takes, and which share of it the client is busy.

    The client is one thread: it sends a shard, or merges one, at a time. Each worker has so many
    shards ahead. Every message passes the scheduler, which is one thread, too.
    """
    client = scheduler = costs.opening
    free = [costs.opening] * workers
    busy = 0.0
    dealt = min(ahead * workers, shards)
    # when what comes to whom: a shard or its result to the scheduler, a result to the client
    coming: list[tuple[float, str, int]] = []
    for number in range(dealt):
        client += costs.send
        busy += costs.send
        heapq.heappush(coming, (client + costs.network, "shard", number % workers))
    while coming:
        at, what, worker = heapq.heappop(coming)
        if what == "merge":
            client = max(client, at) + costs.merge
            busy += costs.merge
            if dealt < shards:
                dealt += 1
                client += costs.send
                busy += costs.send
                heapq.heappush(coming, (client + costs.network, "shard", worker))
            continue
        scheduler = max(scheduler, at) + costs.schedule
        if what == "result":
            heapq.heappush(coming, (scheduler + costs.network, "merge", worker))
        else:
            free[worker] = max(free[worker], scheduler + costs.network) + costs.shard
            heapq.heappush(coming, (free[worker] + costs.network, "result", worker))
    return client, busy / client


def simulate(name: str, costs: Costs, work: float) -> None:
    """Print how a run of so many seconds of work scales."""
    print(
        f"\n{name}: {work:,.0f} s of work; a shard {costs.shard:.2f} s, sent in "
        f"{1000 * costs.send:.1f} ms, scheduled in {1000 * costs.schedule:.1f} ms, merged in "
        f"{1000 * costs.merge:.1f} ms, the model opened in {costs.opening:.1f} s\n"
    )
    print(f"{'workers':>8} {'seconds':>9} {'speed-up':>9} {'efficiency':>11} {'client busy':>12}")
    shards = max(int(work / costs.shard), 1)
    for workers in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000):
        seconds, busy = simulated(workers, shards, costs)
        gain = work / seconds
        print(f"{workers:>8,} {seconds:>9,.1f} {gain:>9,.1f} {gain / workers:>10.0%} {busy:>11.0%}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--method", action="append", choices=RUNS, default=[])
    parser.add_argument("--shards", type=int, default=8)
    arguments = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {WORKERS} workers")
    print(
        f"{'method':<16} {'equal':>5} {'one s':>7} {'two s':>7} {'gain':>5} {'one cpu':>8} "
        f"{'two cpu':>8} {'shared':>6} {'client':>7} {'shards':>6} {'MB':>6}"
    )
    found: list[Costs] = []
    simulations = []
    for name, one, two in compare(arguments.method or list(RUNS), arguments.shards, found):
        alone, together = sum(one.processors), sum(two.processors)
        shared = alone / max(*two.processors, 1e-9)
        print(
            f"{name:<16} {'yes' if one.result == two.result else 'NO':>5} {one.wall:>7.1f} "
            f"{two.wall:>7.1f} {one.wall / two.wall:>5.2f} {alone:>8.1f} {together:>8.1f} "
            f"{shared:>6.2f} {two.client:>7.2f} {two.shards:>6,} {two.memory >> 20:>6,}",
            flush=True,
        )
        # cut, sent and merged by the client
        merge = max(two.client / two.shards - found[0].send, 1e-4)
        shard = max(together / two.shards, 1e-3)
        simulations.append((name, replace(found[0], shard=shard, merge=merge)))
    for name, costs in simulations:
        if name in SIMULATED or arguments.method:
            simulate(name, costs, work=20_000.0)


if __name__ == "__main__":
    main()
