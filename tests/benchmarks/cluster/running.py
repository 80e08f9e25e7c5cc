"""The same run in one process and on two workers, and what both took."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time, thread_time, time
from typing import Any

import msgspec
import psutil
from distributed import get_task_stream

from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.runs.run import run
from fairdesk.audit.store.records import RunRecord
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.cluster.connection import Place
from fairdesk.cluster.worker import ClusterWorker
from fairdesk.errors import SpecError
from fairdesk.results.proofs import Proven
from tests.audit.making import sample_audit
from tests.benchmarks.cluster.models import Queried
from tests.benchmarks.cluster.scaling import Costs, messages

WORKERS = 2
#: What a run's parts are called.
_PART = re.compile(r"fairdesk-[0-9a-f]{32}-\d+-[0-9a-f]{8}")


@dataclass(frozen=True)
class Taken:
    """What a run took, and what came of it.

    Attributes
    ----------
    wall : float
        From when the first part began: what has workers open the model comes before.
    setup : float
        What came before.
    processors : tuple[float, ...]
        Processor seconds of the guests of each worker.
    memory : int
        Of the largest of them, in bytes.
    client : float
        Processor seconds of the client's thread: it cuts, merges and writes down.
    dask : float
        Those of all other threads and processes: the scheduler, messages, encryption.
    busy : float
        The share of the workers' time in which they had a part.
    shards : int
        How many there were.
    queries : int
        Rows sent to the model.
    result : object
        What must be equal.
    """

    wall: float
    setup: float
    processors: tuple[float, ...]
    memory: int
    client: float
    dask: float
    busy: float
    shards: int
    queries: int
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


def beside(worker: Worker) -> float:
    """Return the processor seconds of this process, and of a cluster's workers without guests."""
    own = process_time()
    if not isinstance(worker, ClusterWorker):
        return own
    return own + sum(worker.connect().client.run(process_time).values())


def measured(worker: Worker, store: Store, spec: RunSpec) -> Taken:
    """Run, and measure."""
    before, others = families(worker), beside(worker)
    wall, client, began = perf_counter(), thread_time(), time()
    shards = 1
    with tasks_of(worker) as tasks:
        for state in run(worker, store, spec):
            last = state
            spreading = worker._spreading if isinstance(worker, ClusterWorker) else None
            shards = shards if spreading is None else max(shards, spreading._next)
        wall, client = perf_counter() - wall, thread_time() - client
    if last.state != "done":
        raise SystemExit(f"{spec.method} {last.state}: {last.message}")
    after, record = families(worker), store.runs()[-1]
    processors = tuple(after[each][0] - before.get(each, (0.0, 0))[0] for each in after)
    memory = max(each[1] for each in after.values())
    parts = [
        (each["start"], each["stop"])
        for task in tasks()
        if _PART.fullmatch(str(task["key"]))
        for each in task["startstops"]
        if each["action"] == "compute"
    ]
    setup = min((start for start, _ in parts), default=began) - began
    busy = sum(stop - start for start, stop in parts) / (len(after) * (wall - setup))
    return Taken(
        wall - setup,
        setup,
        processors,
        memory,
        client,
        beside(worker) - others - client,
        busy,
        shards,
        record.queries,
        result(store, record),
    )


@contextmanager
def tasks_of(worker: Worker) -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """Have Dask note what its workers do; what is yielded returns it in the end."""
    if not isinstance(worker, ClusterWorker):
        yield list
        return
    with get_task_stream(worker.connect().client) as stream:
        yield lambda: stream.data


def certified(here: Worker, one: Store, there: Worker, two: Store, seconds: float) -> None:
    """Print what is decided in the same time."""
    shares = []
    for worker, store in ((here, one), (there, two)):
        measured(worker, store, RunSpec("certify", {"seconds": seconds}))
        figures = store.runs()[-1].figures
        proven = next(each for each in figures if isinstance(each, Proven))
        shares.append(proven.certified + proven.falsified)
    print(
        f"{'certify':<16} in {seconds:g} s decided: {shares[0]:.4%} and {shares[1]:.4%}", flush=True
    )


def compare(
    model: Queried, methods: list[str], shards: int, found: list[Costs]
) -> Iterator[tuple[str, Taken, Taken]]:
    """Yield of each method what it took in one process, and on two workers.

    What messages take is left in ``found``.
    """
    here, there = Worker(), ClusterWorker(Place("local", workers=WORKERS))
    with tempfile.TemporaryDirectory() as folder, closing(here), closing(there):
        there.connect()
        file = model.make(Path(folder))
        with (
            sample_audit(here, Path(folder) / "here.fairdesk", file) as one,
            sample_audit(there, Path(folder) / "there.fairdesk", file) as two,
        ):
            warm = RunSpec("uniform", {"samples": 1_000}, shards=2 * WORKERS)
            measured(here, one, warm)
            first = measured(there, two, warm).wall
            opening = max(first - measured(there, two, warm).wall, 0.1)
            found.append(messages(there.connect(), opening))
            for name in methods:
                spec = msgspec.structs.replace(model.runs[name], shards=shards)
                brief = msgspec.structs.replace(spec, budget=Budget(seconds=0.5), seed=1)
                try:
                    # compiled loops are loaded once in each process, and no part of a run
                    for worker, store in ((here, one), (there, two)):
                        measured(worker, store, brief)
                    taken = measured(here, one, spec), measured(there, two, spec)
                except SpecError as error:
                    print(f"{name:<16} {error}")
                    continue
                yield name, *taken
            if len(methods) == len(model.runs):
                certified(here, one, there, two, model.certify)
