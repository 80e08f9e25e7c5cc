"""FairQuant's and Fairify's tables: shares, counterexamples and seconds, on their networks."""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from fairdesk.certify import certify
from fairdesk.certify.baselines import fairify, fairquant
from fairdesk.certify.options import CertifyOptions, FairifyOptions, FairQuantOptions
from fairdesk.individual.engine.context import SearchContext
from fairdesk.results.events import Measured, Progress
from fairdesk.results.proofs import Proven
from tests.benchmarks.certify import NETWORKS
from tests.benchmarks.papers.table import Table, spread


class Published(NamedTuple):
    """What the published program reports of a network, on one thread; shares in per cent."""

    certified: float
    undecided: float
    boxes: int
    examples: str
    seconds: float
    unfair: str


#: Rerun from its sources, with the paper's depths: its shares are the paper's to the last digit.
FAIRQUANT = {
    "compas-1": Published(97.27, 0, 93, "", 0.0, "2.7244 (exact)"),
    "GC-1": Published(32.67, 67.32, 176_419, "31,585", 6.1, "8.800 [8.676, 8.925]"),
    "GC-3": Published(58.44, 41.55, 326_985, "", 4.1, "4.744 [4.651, 4.838]"),
    "AC-1": Published(90.68, 9.31, 83_537, "6,151", 1.5, "0.655 [0.620, 0.691]"),
    "AC-3": Published(33.29, 66.70, 745_411, "", 25, "2.460 [2.393, 2.529]"),
    "AC-5": Published(19.12, 80.87, 1_035_717, "", 95, "3.287 [3.209, 3.366]"),
}
QUICK = ("compas-1", "GC-1", "GC-3", "AC-1")
#: How FairQuant is run here.
VARIANTS: dict[str, dict[str, Any]] = {
    "published points": {"sampler": "published"},
    "diagonal": {"sampler": "diagonal"},
    "random": {},
    "random, halved on": {"after": "halve"},
}
#: The soft and hard limits, in seconds, and the partition size, of Fairify.
LIMITS = {"quick": (100.0, 20.0), "full": (100.0, 100.0)}
FAIRIFY = {"GC-1": 100, "GC-3": 100, "AC-1": 10}


class Run(NamedTuple):
    """What a method proved, how many counterexamples it found, and its CPU seconds."""

    proven: Proven
    found: int
    seconds: float


def run(name: str, method: Any, options: object, seed: int = 0) -> Run:
    """Run a method on a network."""
    case = NETWORKS[name].opened()
    context, proven, found = SearchContext(case.model, case.domain), None, 0
    began = process_time()
    for event in method.search(context, case.people, options, np.random.default_rng(seed)):
        if isinstance(event, Measured):
            proven = next(each for each in event.figures if isinstance(each, Proven))
        elif isinstance(event, Progress):
            found = event.found
    assert proven is not None
    return Run(proven, found, process_time() - began)


def tables(*, seeds: int, quick: bool) -> Iterator[Table]:
    """Measure FairQuant's and Fairify's tables."""
    run("compas-1", fairquant, FairQuantOptions())  # compiled loops are loaded
    run("compas-1", certify, CertifyOptions(seconds=0.5))
    for name in QUICK if quick else FAIRQUANT:
        yield _fairquant(name, 2 if quick else seeds)
    yield _fairify("quick" if quick else "full")


def _fairquant(name: str, seeds: int) -> Table:
    there = FAIRQUANT[name]
    shares = [f"{there.certified:.2f}", "0" if there.undecided else "2.72"]
    cells = [*shares, f"{there.undecided:.2f}", f"{there.boxes:,}", there.examples]
    lines = [["published program", *cells, f"{there.seconds:g}"]]
    slowest = 0.0
    for label, options in VARIANTS.items():
        runs = [
            run(name, fairquant, FairQuantOptions(**options), seed)
            for seed in range(1 if options else seeds)
        ]
        if not options:
            slowest = max(each.seconds for each in runs)
        lines.append([f"FairQuant, {label}", *_cells(runs)])
    ours = run(name, certify, CertifyOptions(seconds=max(slowest, 0.1), first="combinations"))
    cells = _cells([ours])
    lines.append(["certification, same time", *cells[:4], "", cells[-1]])
    return Table(
        f"FairQuant: {name}, of which {there.unfair} % is discriminatory",
        (
            *("method", "certified %", "falsified %", "undecided %", "regions"),
            *("counterexamples", "CPU s"),
        ),
        lines,
    )


def _cells(runs: list[Run]) -> list[str]:
    shares = (
        spread((100 * getattr(each.proven, name) for each in runs), 2)
        for name in ("certified", "falsified", "undecided")
    )
    return [
        *shares,
        spread(each.proven.boxes for each in runs),
        spread(each.found for each in runs),
        spread((each.seconds for each in runs), 1),
    ]


def _fairify(which: str) -> Table:
    soft, hard = LIMITS[which]
    lines = [
        ["GC-4", "published program", "201", "201", "199", "2", "0", "", "93"],
        ["AC-1", "published program", "16,000", "4", "", "", "", "", "109"],
    ]
    for name, size in FAIRIFY.items():
        told = run(
            name,
            fairify,
            FairifyOptions(partition_size=size, soft_seconds=soft, hard_seconds=hard),
        )
        # the first note is: of N partitions U, S, G and M were ...
        words = told.proven.notes[0].replace(",", "").split()
        count, unsat, sat, unknown, rest = [int(each) for each in words if each.isdigit()]
        tried = f"{count - rest:,}"
        cells = [f"{count:,}", tried, *(f"{each:,}" for each in (unsat, sat, unknown))]
        share = f"{100 * told.proven.certified:.2f}"
        lines.append([name, "Fairify", *cells, share, f"{told.seconds:.0f}"])
    return Table(
        f"Fairify: partitions decided (soft limit {soft:g} s, hard limit {hard:g} s)",
        (
            *("network", "method", "partitions", "tried", "UNSAT", "SAT", "UNKNOWN"),
            *("certified %", "CPU s"),
        ),
        lines,
        "Published: of GC-4, which is not among the networks here, one of the 199 only by the "
        "program's heuristic pruning, which is no proof.",
    )
