"""How fast and how thrifty Aequitas is, beside its plain version and the uniform sampler.

    python -m tests.benchmarks.aequitas [--case census/sex] [--global-iteration-limit 1000]

All ask the same model through the same forward pass, in this one process, on one thread; each
figure is the median over the seeds. The cases are networks by others, and a decision tree and a
logistic regression of scikit-learn that are fitted here.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from fairdesk.audit.catalogue.implementations import Search
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches import aequitas, uniform
from tests.benchmarks.measuring import (
    NETWORKS,
    Case,
    Measured,
    counts,
    measure,
    medians,
    network,
    pipeline,
    sizes,
)
from tests.references import aequitas as references

METHODS = {
    "random": (aequitas.random, aequitas.RandomOptions),
    "semi": (aequitas.semi_directed, aequitas.SemiDirectedOptions),
    "full": (aequitas.fully_directed, aequitas.FullyDirectedOptions),
}
#: What the authors' program finds per CPU-second, fully-directed, on census data: a decision tree,
#: and a network.
PUBLISHED_TREE, PUBLISHED_NETWORK = 14.3, 3.7
#: Rows that it sends for each unique instance, with 100 people drawn and 100 trials.
PUBLISHED_ROWS = {"census/sex": 22, "german/age": 16, "bank/age": 9}
PIPELINES = ("tree/sex", "logistic/sex")
HEAD = (
    *("", "unique", "rows", "rows/unique", "CPU s", "unique/CPU-s"),
    *("forward", "x plain", "x published", "rows, published"),
)


def opened(name: str, folder: Path) -> Case:
    """Open a case, or fit it."""
    if name in NETWORKS:
        return network(name)
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    if name == "tree/sex":
        return pipeline(folder, DecisionTreeClassifier(max_depth=12, random_state=0), ["sex"])
    return pipeline(folder, LogisticRegression(max_iter=2_000), ["sex"])


def lockstep(case: Case, search: Search, options: Any, seed: int) -> Measured:
    """Measure a search of ours."""
    model, domain, people = case
    rng = np.random.default_rng(seed)
    return measure(model, counts(lambda m: search(SearchContext(m, domain), people, options, rng)))


def plainly(case: Case, options: aequitas.RandomOptions, seed: int) -> Measured:
    """Measure the plain version."""
    model, domain, people = case
    rng = np.random.default_rng(seed)
    return measure(model, sizes(lambda m: references.search(m, domain, people, options, rng)))


def show(name: str, each: Measured, case: str, plain: Measured | None = None) -> None:
    """Print one line."""
    published = PUBLISHED_TREE if case.startswith("tree") else PUBLISHED_NETWORK
    aims = name in METHODS and case != "logistic/sex"
    cells = (
        f"{each.unique:,}",
        f"{each.queries:,}",
        f"{each.rows_per_unique:.1f}",
        f"{each.cpu:.2f}",
        f"{each.per_cpu_second:,.0f}",
        f"{each.forward / each.cpu:.0%}",
        f"{each.per_cpu_second / plain.per_cpu_second:.1f}" if plain and plain.unique else "",
        f"{each.per_cpu_second / published:,.0f}" if aims else "",
        f"{PUBLISHED_ROWS[case]}" if aims and case in PUBLISHED_ROWS else "",
    )
    print(f"{name:>14}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


def main() -> None:
    """Measure and print a table per case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", action="append", choices=(*NETWORKS, *PIPELINES))
    parser.add_argument("--global-iteration-limit", type=int, default=1_000)
    parser.add_argument("--local-iteration-limit", type=int, default=1_000)
    parser.add_argument("--acceptance", type=float, default=0.0, help="1: as the paper writes it")
    parser.add_argument("--samples", type=int, default=200_000, help="of the uniform sampler")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--plain-seeds", type=int, default=5, help="0: no plain version")
    arguments = parser.parse_args()
    seeds, plain_seeds = arguments.seeds, arguments.plain_seeds
    limits = {
        "global_iteration_limit": arguments.global_iteration_limit,
        "local_iteration_limit": arguments.local_iteration_limit,
        "acceptance": arguments.acceptance,
    }
    for name in arguments.case or (*NETWORKS, *PIPELINES):
        with tempfile.TemporaryDirectory() as folder:
            case = opened(name, Path(folder))
        print(f"\n{name}: {len(case.domain.combinations)} protected values, {limits}")
        print(f"{HEAD[0]:>14}" + "".join(f"{title:>16}" for title in HEAD[1:]))
        for method, (search, kind) in METHODS.items():
            options, plain = kind(**limits), None
            lockstep(case, search, options, seed=0)  # warm-up
            found = medians([lockstep(case, search, options, seed) for seed in range(seeds)])
            if plain_seeds:
                plain = medians([plainly(case, options, seed) for seed in range(plain_seeds)])
            show(method, found, name, plain)
            if plain:
                show(f"plain {method}", plain, name)
        draws = uniform.UniformOptions(samples=arguments.samples)
        drawn = [lockstep(case, uniform.search, draws, seed) for seed in range(seeds)]
        show("uniform", medians(drawn), name)


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
