"""How much is proven, and how soon: `certify` beside FairQuant, on networks by others.

    python -m tests.benchmarks.certify [--network GC-1 ...] [--most 60] [--apart] [--goals]

On each network FairQuant runs to its end, or for so many seconds at most; then `certify` is given
the time that took, in the same process, on the same cores. FairQuant keeps to one thread, as its
published program does; `certify` takes what it takes. A further run of `certify` tells what is
decided after 1, 10 and 60 seconds (not beyond what is allowed at most). The published program's
figures stand beside: its own seconds, on another machine of this kind. Compiling is not counted.
"""

from __future__ import annotations

import argparse
import json
import resource
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from fairdesk.audit.plan.plan import Limits, read_limits
from fairdesk.certify import certify
from fairdesk.certify.baselines import fairquant
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
class Published:
    """What the published program says of a network: shares in per cent, and its own seconds."""

    certified: float
    falsified: float
    undecided: float
    seconds: float
    unfair: str


@dataclass(frozen=True)
class Network:
    """A network by others.

    Attributes
    ----------
    data, model, label, protected : str
        Files and columns.
    published : Published, optional
        Where it was run.
    goal : tuple of float, optional
        What is wanted beyond the comparison: so much decided, in per cent, within so many seconds.
    """

    data: str
    model: str
    label: str
    protected: str
    published: Published | None = None
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
        fed = FedModel(opened, mapping, domain.attributes)
        return Case(fed, domain, domain.people(table))

    def _limits(self, folder: Path) -> Limits:
        own = folder / f"{self.data}.domain.json"
        if own.exists():
            return read_limits(own)
        told = json.loads((folder / "domains.json").read_text())[self.data]
        bounds = zip(told["features"], told["bounds_of_repo"], strict=True)
        return Limits({name: tuple(ends) for name, ends in bounds})


_ADULT, _GERMAN = ("fairify_adult", "income", "sex"), ("fairify_german", "credit", "age")


def _of(
    files: tuple[str, str, str],
    model: str,
    published: Published | None = None,
    goal: tuple[float, float] | None = None,
) -> Network:
    data, label, protected = files
    return Network(data, model, label, protected, published, goal)


NETWORKS = {
    "AC-1": _of(_ADULT, "AC-1", Published(90.68, 0, 9.31, 1.5, "0.655"), (99.2, 10)),
    "AC-3": _of(_ADULT, "AC-3", Published(33.29, 0, 66.70, 25, "2.460"), (92, 30)),
    "AC-5": _of(_ADULT, "AC-5", Published(19.12, 0, 80.87, 95, "3.287"), (80, 60)),
    "GC-1": _of(_GERMAN, "GC-1", Published(32.67, 0, 67.32, 6.1, "8.800"), (98.5, 10)),
    "GC-3": _of(_GERMAN, "GC-3", Published(58.44, 0, 41.55, 4.1, "4.744")),
    "compas-1": _of(
        ("fairquant_compas", "score_factor", "Race"),
        "compas-1",
        Published(97.27, 2.72, 0, 0.0, "2.7244, exact"),
        (100, 1),
    ),
    "census/sex": _of(("eidig_census", "income", "sex"), "eidig_adult", goal=(100, 180)),
    "census/race": _of(("eidig_census", "income", "race"), "eidig_adult"),
    "census/age": _of(("eidig_census", "income", "age"), "eidig_adult"),
    "german/age": _of(
        ("eidig_german", "CREDITRATING", "AgeInYears"), "eidig_german", goal=(30, 60)
    ),
    "bank/age": _of(("eidig_bank", "y", "age"), "eidig_bank", goal=(100, 10)),
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


def _fairquant(case: Case, seconds: float) -> Run:
    return run(case, fairquant.search, fairquant.FairQuantOptions(seconds=seconds))


def _options(seconds: float) -> certify.CertifyOptions:
    return certify.CertifyOptions(seconds=seconds, first="combinations")


def _certify(case: Case, seconds: float) -> Run:
    # no seconds are no limit
    return run(case, certify.search, _options(max(seconds, 0.01)))


def _line(cells: Sequence[str]) -> str:
    widths = (12, 8, 22, 22, 22, 8, 8, 24)
    return "  ".join(f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True))


def _shares(certified: float, falsified: float, undecided: float) -> str:
    return f"{certified:6.2f} {falsified:5.2f} {undecided:6.2f}"


def _told(each: Run) -> str:
    proven = each.proven
    return _shares(*(100 * s for s in (proven.certified, proven.falsified, proven.undecided)))


def compare(name: str, most: float, *, apart: bool) -> None:
    """Print a network's line: the published program, FairQuant, certify in the same time."""
    network = NETWORKS[name]
    case = network.opened()
    hidden = len(case.model.opened.layers) - 1
    base = _fairquant(case, most)
    ours = _certify(case, base.wall)
    target = 0.25 if hidden <= 2 else 0.5
    left = base.proven.undecided
    rest = ours.proven.undecided
    ratio = rest / left if left else float(rest > 0) * np.inf
    met = "met" if rest <= target * left else "MISSED"
    moments = "-"
    if not apart:
        longer = _certify(case, min(most, MOMENTS[-1]))
        moments = " ".join(f"{longer.decided_at(at):6.2f}" for at in MOMENTS if at <= most)
    published = network.published
    told = "-"
    if published is not None:
        told = _shares(published.certified, published.falsified, published.undecided)
    cells = (name, f"{base.wall:7.2f}", told, _told(base), _told(ours), f"{ratio:6.3f}")
    print(_line((*cells, f"{target} {met}", moments)), flush=True)


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
    parser.add_argument("--most", type=float, default=600.0, help="seconds for a run, at most")
    parser.add_argument("--apart", action="store_true", help="leave the further runs out")
    parser.add_argument("--goals", action="store_true", help="the networks' own goals, only")
    arguments = parser.parse_args()
    # what is compiled is no part of any time
    compas = NETWORKS["compas-1"].opened()
    _fairquant(compas, 0), _certify(compas, 1.0)
    if arguments.goals:
        for name in arguments.network:
            goal(name)
    else:
        print("Shares in per cent: certified, falsified, undecided. Target: undecided, certify to")
        print("FairQuant: a quarter for one or two hidden layers, half for more.")
        print(
            _line(
                (
                    *("network", "seconds", "FairQuant, published", "FairQuant, here"),
                    *("certify, same time", "ratio", "target", "decided at 1, 10, 60 s"),
                )
            )
        )
        for name in arguments.network:
            compare(name, arguments.most, apart=arguments.apart)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"Peak memory: {peak:,.0f} MB.")


if __name__ == "__main__":
    main()
