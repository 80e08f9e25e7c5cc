"""How fast and how thrifty MAFT is, beside its plain version and the uniform sampler.

    python -m tests.benchmarks.maft --data census.csv --label income --favourable 1 \
        --model adult.h5 --protected sex

All three ask the same model through the same forward pass, in this one process, on one thread.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from fairdesk.data.domain import Domain, Role, attribute_of
from fairdesk.data.reading import read_table
from fairdesk.events import Event, Progress, Rows, Scores
from fairdesk.individual import maft, uniform
from fairdesk.individual.similar import Ledger
from fairdesk.models.feeding import FedModel
from fairdesk.models.mapping import match
from fairdesk.models.model import Model
from fairdesk.models.open import open_model
from tests.benchmarks import plain_maft


class TimedModel:
    """A model that keeps what its forward pass takes."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.seconds = 0.0

    def predict(self, rows: Rows) -> Scores:
        started = perf_counter()
        scores = self.model.predict(rows)
        self.seconds += perf_counter() - started
        return scores


class Measured(NamedTuple):
    """One program's figures."""

    unique: int
    queries: int
    wall: float
    cpu: float
    forward: float

    @property
    def per_cpu_second(self) -> float:
        return self.unique / self.cpu


def measure(model: Model, program: Callable[[Model], tuple[int, int]]) -> Measured:
    """Run a program that gives (unique instances, rows sent)."""
    timed = TimedModel(model)
    wall, cpu = perf_counter(), process_time()
    unique, queries = program(timed)
    return Measured(unique, queries, perf_counter() - wall, process_time() - cpu, timed.seconds)


def counts(search: Callable[[Model], Iterator[Event]]) -> Callable[[Model], tuple[int, int]]:
    """Drive a search to its end."""

    def drive(model: Model) -> tuple[int, int]:
        last = [event for event in search(model) if isinstance(event, Progress)][-1]
        return last.found, last.queries

    return drive


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--label", required=True)
    parser.add_argument("--favourable", required=True)
    parser.add_argument("--protected", action="append", required=True)
    parser.add_argument("--global-num", type=int, default=1_000)
    parser.add_argument("--local-num", type=int, default=1_000)
    parser.add_argument("--samples", type=int, default=1_000_000, help="of the uniform sampler")
    parser.add_argument("--repeat", type=int, default=5, help="runs of MAFT; the median counts")
    parser.add_argument("--published", type=float, default=29.6, help="unique per CPU-second")
    arguments = parser.parse_args()

    table = read_table(arguments.data)
    opened = open_model(arguments.model)
    mapping = match(opened.card, table, arguments.label, arguments.favourable)
    domain = Domain(
        tuple(
            attribute_of(
                table.column(name),
                Role.PROTECTED if name in arguments.protected else Role.VARIES,
            )
            for name in dict.fromkeys(each.attribute for each in mapping.inputs)
        )
    )
    people = domain.people(table)
    model = FedModel(opened, mapping, domain.attributes)
    options = maft.MaftOptions(global_num=arguments.global_num, local_num=arguments.local_num)
    draws = uniform.UniformOptions(samples=arguments.samples)

    def ours(seed: int) -> Measured:
        rng = np.random.default_rng(seed)
        return measure(
            model, counts(lambda m: maft.search(Ledger(m, domain), people, options, rng))
        )

    ours(0)  # warm-up
    runs = sorted((ours(seed) for seed in range(arguments.repeat)), key=lambda m: m.per_cpu_second)
    median = runs[len(runs) // 2]
    sampler = measure(
        model,
        counts(
            lambda m: uniform.search(Ledger(m, domain), people, draws, np.random.default_rng(0))
        ),
    )
    plain = measure(
        model,
        lambda m: plain_maft.search(m, domain, people, options, np.random.default_rng(0)),
    )

    print(
        f"{arguments.model.name}, protected {', '.join(arguments.protected)}, "
        f"{options.global_num} seeds x {options.local_num} local steps"
    )
    head = (
        "",
        "unique",
        "rows",
        "rows/unique",
        "wall s",
        "CPU s",
        "unique/CPU-s",
        "rows/s",
        "forward",
        "x plain",
    )
    print("".join(f"{title:>14}" for title in head))
    for name, each in (("maft", median), ("plain maft", plain), ("uniform", sampler)):
        cells = (
            f"{each.unique:,}",
            f"{each.queries:,}",
            f"{each.queries / max(each.unique, 1):.1f}",
            f"{each.wall:.2f}",
            f"{each.cpu:.2f}",
            f"{each.per_cpu_second:,.0f}",
            f"{each.queries / each.wall:,.0f}",
            f"{each.forward / each.wall:.0%}",
            f"{each.per_cpu_second / plain.per_cpu_second:.1f}",
        )
        print(f"{name:>14}" + "".join(f"{cell:>14}" for cell in cells))
    print(
        f"maft: median of {len(runs)} by unique per CPU-second "
        f"({runs[0].per_cpu_second:,.0f} to {runs[-1].per_cpu_second:,.0f}); "
        f"unique {min(r.unique for r in runs):,} to {max(r.unique for r in runs):,} "
        f"(median {statistics.median(r.unique for r in runs):,.0f}); "
        f"{median.per_cpu_second / arguments.published:,.0f} times the published "
        f"{arguments.published} per CPU-second"
    )


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
