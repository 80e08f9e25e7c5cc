"""How much is proven, and how soon, on networks by others.

    python -m tests.benchmarks.certify [--network GC-1 ...] [--most 60]

A run of `certify` tells what is decided after 1, 10 and 60 seconds (not beyond what is allowed at
most), and whether the network's own goal is reached. FairQuant beside it is in
`tests.benchmarks.papers.fairquant`. Compiling is not counted.
"""

from __future__ import annotations

import argparse
import json
import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from fairdesk.audit.plan.spec import Limits, read_limits
from fairdesk.certify import certify
from fairdesk.data.formats.reading import read_table
from fairdesk.individual.engine.context import SearchContext
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.open import open_model
from fairdesk.results.events import Event, Measured
from fairdesk.results.proofs import Proven
from tests.audit.making import domain_of
from tests.benchmarks.measuring import DATA, Case
from tests.models.matching import match

#: Moments at which it is told what is decided, in seconds.
MOMENTS = (1.0, 10.0, 60.0)


@dataclass(frozen=True)
class Network:
    """A network by others.

    Attributes
    ----------
    data, model, label, protected : str
        Files and columns.
    goal : tuple of float, optional
        What is wanted: so much decided, in per cent, within so many seconds.
    """

    data: str
    model: str
    label: str
    protected: str
    goal: tuple[float, float] | None = None

    @property
    def table(self) -> Path:
        """The file of its data."""
        return DATA / "encoded" / f"{self.data}.csv"

    def opened(self, model: Path | None = None) -> Case:
        """Open it, or another model, with its data, over the domain that belongs to them."""
        folder, table = self.table.parent, read_table(self.table)
        opened = open_model(model or DATA / "models" / f"{self.model}.h5")
        mapping = match(opened.card, table, self.label, "1")
        domain = domain_of(table, mapping, self.label, [self.protected], self._limits(folder))
        # the papers compare every combination, whatever the data support
        domain = domain.every_combination
        fed = FedModel(opened, mapping, domain.attributes)
        return Case(fed, domain, domain.people(table))

    def _limits(self, folder: Path) -> Limits:
        own = folder / f"{self.data}.domain.json"
        if own.exists():
            return read_limits(own)
        told = json.loads((folder / "domains.json").read_text())[self.data]
        bounds = zip(told["features"], told["bounds_of_repo"], strict=True)
        return Limits({name: tuple(ends) for name, ends in bounds})


NETWORKS = {
    "AC-1": Network("fairify_adult", "AC-1", "income", "sex", (99.2, 10)),
    "AC-3": Network("fairify_adult", "AC-3", "income", "sex", (92, 30)),
    "AC-5": Network("fairify_adult", "AC-5", "income", "sex", (80, 60)),
    "GC-1": Network("fairify_german", "GC-1", "credit", "age", (98.5, 10)),
    "GC-3": Network("fairify_german", "GC-3", "credit", "age"),
    "compas-1": Network("fairquant_compas", "compas-1", "score_factor", "Race", (100, 1)),
    "census/sex": Network("eidig_census", "eidig_adult", "income", "sex", (100, 180)),
    "census/race": Network("eidig_census", "eidig_adult", "income", "race"),
    "census/age": Network("eidig_census", "eidig_adult", "income", "age"),
    "german/age": Network("eidig_german", "eidig_german", "CREDITRATING", "AgeInYears", (30, 60)),
    "bank/age": Network("eidig_bank", "eidig_bank", "y", "age", (100, 10)),
}

Search = Callable[[SearchContext, Any, Any, np.random.Generator], Iterator[Event]]


@dataclass(frozen=True)
class Run:
    """What a method proved, and in what time by the clock."""

    proven: Proven
    wall: float

    @property
    def decided(self) -> float:
        """In per cent."""
        return 100 * (self.proven.certified + self.proven.falsified)

    def decided_at(self, seconds: float) -> float:
        """Return what was decided after so many seconds, in per cent."""
        told = [each for each in self.proven.course if each[0] <= seconds]
        return 100 * (told[-1][1] + told[-1][2]) if told else 0.0


def run(case: Case, search: Search, options: object) -> Run:
    """Run a method to its end."""
    context = SearchContext(case.model, case.domain)
    began = perf_counter()
    proven = None
    for event in search(context, case.people, options, np.random.default_rng(0)):
        if isinstance(event, Measured):
            proven = next(each for each in event.figures if isinstance(each, Proven))
    assert proven is not None
    return Run(proven, perf_counter() - began)


def _options(seconds: float) -> certify.CertifyOptions:
    return certify.CertifyOptions(seconds=seconds, first="combinations")


def _certify(case: Case, seconds: float) -> Run:
    # no seconds are no limit
    return run(case, certify.search, _options(max(seconds, 0.01)))


def moments(name: str, most: float) -> None:
    """Print what of a network is decided after some seconds."""
    told = _certify(NETWORKS[name].opened(), min(most, MOMENTS[-1]))
    shares = " ".join(f"{told.decided_at(at):6.2f}" for at in MOMENTS if at <= most)
    print(f"{name:12}  decided after {MOMENTS} s, per cent: {shares}", flush=True)


def goal(name: str) -> None:
    """Print whether a network's own goal is reached."""
    wanted = NETWORKS[name].goal
    if wanted is None:
        return
    share, seconds = wanted
    ours = _certify(NETWORKS[name].opened(), seconds)
    met = "met" if ours.decided >= share and (share < 100 or ours.proven.exact) else "MISSED"
    exact = f", exact: {ours.proven.falsified_people} unfair" if ours.proven.exact else ""
    print(
        f"{name:12}  {share:5.1f} % within {seconds:3.0f} s: {ours.decided:6.2f} % "
        f"in {ours.wall:6.2f} s{exact}: {met}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--most", type=float, default=60.0, help="seconds for a run, at most")
    arguments = parser.parse_args()
    # what is compiled is no part of any time
    _certify(NETWORKS["compas-1"].opened(), 1.0)
    for name in arguments.network:
        moments(name, arguments.most)
        goal(name)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"Peak memory: {peak:,.0f} MB.")


if __name__ == "__main__":
    main()
