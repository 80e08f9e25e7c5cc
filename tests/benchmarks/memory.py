"""What a search holds in memory while it finds ten million people, and whether its pace lasts.

    python -m tests.benchmarks.memory [--findings 10000000] [--method uniform]

The model is a synthetic one on a large domain, so that nothing but the search itself is measured.
Findings are dropped as they come: in an audit they go to the file.
"""

from __future__ import annotations

import argparse
import resource
from itertools import pairwise
from time import process_time

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches import adf, eidig, maft, uniform
from fairdesk.results.events import Found, Progress, Rows, Scores

#: More than any run here comes to.
MANY = 1_000_000
SEARCHES = {
    "uniform": (uniform.search, uniform.UniformOptions(samples=1_000_000_000)),
    "maft": (maft.search, maft.MaftOptions(global_num=5_000, local_num=MANY)),
    "eidig": (eidig.search, eidig.EidigOptions(global_num=5_000, local_num=MANY)),
    "adf": (adf.search, adf.AdfOptions(global_num=5_000, local_num=MANY)),
}


class Plane:
    """Decides by a plane through the codes, a little more in favour of one sex."""

    def __init__(self, domain: Domain) -> None:
        rng = np.random.default_rng(0)
        self.weights = rng.normal(size=(len(domain.attributes), 1)) / domain.high[:, None]
        self.weights[domain.protected] = 0.6
        self.middle = domain.high / 2 @ self.weights

    def predict(self, rows: Rows) -> Scores:
        return (1 / (1 + np.exp(self.middle - rows @ self.weights))).astype(np.float32)

    def gradients(self, rows: Rows, column: NDArray[np.intp]) -> Rows:
        scores = self.predict(rows).astype(np.float64)
        return scores * (1 - scores) * self.weights[:, 0]


def main() -> None:
    """Search until so many are found, and print what that took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--findings", type=int, default=10_000_000)
    parser.add_argument("--method", choices=SEARCHES, default="maft")
    arguments = parser.parse_args()

    domain = Domain(
        (
            Attribute("sex", Kind.INTEGER, (), 0.0, 1.0, Role.PROTECTED, (0.0, 1.0)),
            *(Attribute(f"number {i}", Kind.INTEGER, low=0.0, high=99.0) for i in range(11)),
        )
    )
    people = domain.sample(np.random.default_rng(0), 20_000)
    search, options = SEARCHES[arguments.method]
    context = SearchContext(Plane(domain), domain)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    given, told = 0, [(0, process_time())]
    last = context.progress("", 0, 0)
    for event in search(context, people, options, np.random.default_rng(0)):
        if isinstance(event, Found):
            given += len(event.rows)
        if isinstance(event, Progress):
            last = event
            if event.found >= told[-1][0] + arguments.findings // 10:
                told.append((event.found, process_time()))
                print(f"{event.found:>12,} found, {context.nbytes / 2**20:>6,.0f} MiB in all")
            if event.found >= arguments.findings:
                break
    paces = [(later[1] - earlier[1]) / (later[0] - earlier[0]) for earlier, later in pairwise(told)]
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{arguments.method}: {given:,} found of {last.tried:,} tried, {last.queries:,} rows sent; "
        f"at most {most / 2**10:,.0f} MiB resident, {before / 2**10:,.0f} before it began; "
        f"CPU-seconds per million found, a tenth of the run after the other: "
        f"{', '.join(f'{1e6 * pace:.1f}' for pace in paces)}"
    )


if __name__ == "__main__":
    main()
