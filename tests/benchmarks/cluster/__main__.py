"""Runs on two local workers against one process, and a simulation of up to 1,000 workers.

    python -m tests.benchmarks.cluster [--model forest] [--method KEY ...] [--shards 8] [--rows 1e6]

For every method that is divided, on a model that answers at once and on one that takes its time:
the same run in one process and on two workers, whether the results are equal, wall and processor
seconds, and the memory of the processes. “set-up” is the time until the first part began, in
which workers open the model; it is no part of the seconds. “busy” is the share of the workers'
time in which they had a part. “client” and “dask” are processor seconds, too: of the thread that
cuts and merges, and of all that Dask does beside. On a busy machine the wall seconds say little;
“shared” is the processor time of one process divided by that of the busier of the two workers: what
two cores would gain if client and Dask had another one; “on two” is what they gain if these share
them. Of runs too short for the clock of a processor nothing is said: “–”. “sent” is how many rows
the workers sent to the model, divided by those of one process.

Certification has a time limit instead of an end: of it the decided share is printed.

With ``--rows`` the last table is that of `tests.benchmarks.large`: the memory that a table larger
than it takes. 0 leaves it out.

The simulation is of discrete events. A client cuts, sends and merges shards, a scheduler passes
messages on, and workers compute; what each takes was measured in the same run.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from time import perf_counter

from fairdesk.audit.catalogue.methods import method_named
from fairdesk.audit.sandbox import kernel_cache
from fairdesk.cluster.worker import PARTS_EACH
from tests.benchmarks import large
from tests.benchmarks.cluster.models import MODELS
from tests.benchmarks.cluster.running import WORKERS, compare
from tests.benchmarks.cluster.scaling import Costs, simulate

#: Less of a processor's time than this, in seconds, is within what its clock can tell apart.
TELLABLE = 0.1
#: Of these it is simulated how they scale: one that draws, one that searches pairs, one subgroups.
SIMULATED = ("estimate", "maft", "testsgd")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    known = dict.fromkeys(key for model in MODELS.values() for key in model.runs)
    parser.add_argument("--model", action="append", choices=MODELS, help="default: all")
    parser.add_argument("--method", action="append", choices=known, help="default: all")
    parser.add_argument("--shards", type=int, default=8, help="of a search")
    parser.add_argument("--rows", type=float, default=1e6, help="of the table on disk")
    arguments = parser.parse_args()
    # else each process compiles them for itself, in minutes that are no part of any run
    kernel_cache.make()
    began = perf_counter()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {WORKERS} workers")
    for name in arguments.model or MODELS:
        table(name, arguments.method, arguments.shards)
    if rows := int(arguments.rows):
        print()
        large.table(rows)
    print(f"\nAll of it took {(perf_counter() - began) / 60:.1f} minutes.")


def table(name: str, methods: list[str] | None, shards: int) -> None:
    """Print what runs on a model took, and how some of them scale."""
    model = MODELS[name]
    print(f"\n{name}: {model.caption}\n")
    print(
        f"{'':<16} {'equal':>5} {'set-up':>6} {'one s':>7} {'two s':>7} {'gain':>5} "
        f"{'busy':>5} {'one cpu':>8} {'two cpu':>8} {'shared':>6} {'client':>7} {'dask':>6} "
        f"{'on two':>6} "
        f"{'shards':>6} {'sent':>5} {'MB':>6}"
    )
    found: list[Costs] = []
    simulations: list[tuple[str, Costs | None]] = []
    chosen = [each for each in model.runs if not methods or each in methods]
    for method, one, two in compare(model, chosen, shards, found):
        alone, together = sum(one.processors), sum(two.processors)
        long = min(alone, together) >= TELLABLE
        shared = f"{alone / max(two.processors):.2f}" if long else "–"
        both = WORKERS * alone / (together + two.client + two.dask)
        print(
            f"{method:<16} {'yes' if one.result == two.result else 'NO':>5} {two.setup:>6.1f} "
            f"{one.wall:>7.1f} {two.wall:>7.1f} {one.wall / two.wall:>5.2f} {two.busy:>5.0%} "
            f"{alone:>8.1f} {together:>8.1f} {shared:>6} {two.client:>7.2f} {two.dask:>6.2f} "
            f"{f'{both:.2f}' if long else '–':>6} "
            f"{two.shards:>6,} {two.queries / one.queries:>5.2f} {two.memory >> 20:>6,}",
            flush=True,
        )
        if not long:
            simulations.append((method, None))
            continue
        # cut, sent and merged by the client
        merge = max(two.client / two.shards - found[0].send, 1e-4)
        shard = together / two.shards
        simulations.append((method, replace(found[0], shard=shard, merge=merge)))
    for method, why in model.why.items():
        print(f"Less is gained{f' by {method}' if method else ''}: {why}.")
    for method, costs in simulations:
        if method not in SIMULATED and not methods:
            continue
        if costs is None:
            print(f"\n{method}, {name}: too short to say how it scales")
        else:
            searches = method_named(method).division.searches
            simulate(f"{method}, {name}", costs, 20_000.0, PARTS_EACH if searches else None)


if __name__ == "__main__":
    main()
