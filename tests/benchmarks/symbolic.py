"""How fast and how thrifty Symbolic Generation is, beside its plain version and uniform sampling.

    python -m tests.benchmarks.symbolic [--case census/sex] [--max-iter 1000]

All ask the same model through the same forward pass, in this one process, on one thread; each
figure is the median over the seeds. The cases are networks by others, and a logistic regression of
scikit-learn that is fitted here.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import msgspec
import numpy as np
from threadpoolctl import threadpool_limits

from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches import symbolic, uniform
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
from tests.references import symbolic as references

PIPELINE = "logistic/sex"
#: What the published program finds per CPU-second, and the rows it sends for each.
PUBLISHED = {"census/sex": (1.76, 38_060), "bank/age": (3.5, 14_596)}
HEAD = (
    *("", "unique", "of cases", "rows", "rows/unique", "CPU s", "unique/CPU-s"),
    *("forward", "x plain", "x published", "rows, published"),
)


def show(
    name: str, each: Measured, cases: int, case: str = "", plain: Measured | None = None
) -> None:
    """Print one line."""
    rate, rows = PUBLISHED.get(case, (0.0, 0))
    cells = (
        f"{each.unique:,}",
        f"{each.unique / cases:.1%}",
        f"{each.queries:,}",
        f"{each.rows_per_unique:.1f}",
        f"{each.cpu:.2f}",
        f"{each.per_cpu_second:,.0f}",
        f"{each.forward / each.cpu:.0%}",
        f"{each.per_cpu_second / plain.per_cpu_second:.1f}" if plain and plain.unique else "",
        f"{each.per_cpu_second / rate:,.0f}" if rate else "",
        f"{rows:,}" if rows else "",
    )
    print(f"{name:>14}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", action="append", choices=[*NETWORKS, PIPELINE])
    parser.add_argument("--max-iter", type=int, default=1_000, help="test cases")
    parser.add_argument("--samples", type=int, default=200_000, help="of the uniform sampler")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each; medians count")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for case in arguments.case or (*NETWORKS, PIPELINE):
            compare(case, opened(case, Path(folder)), arguments)


def opened(name: str, folder: Path) -> Case:
    """Open a case, or fit it."""
    if name in NETWORKS:
        return network(name)
    from sklearn.linear_model import LogisticRegression

    return pipeline(folder, LogisticRegression(max_iter=2_000), ["sex"])


def compare(name: str, case: Case, arguments: argparse.Namespace) -> None:
    """Measure one case; with the paper's T2, and with one that turns over every condition."""
    domain, people = case.domain, case.people
    options = symbolic.SymbolicOptions(max_iter=arguments.max_iter)
    every = msgspec.structs.replace(options, T2=1.01)
    draws = uniform.UniformOptions(samples=arguments.samples)

    def ours(seed: int, chosen: symbolic.SymbolicOptions) -> Measured:
        rng = np.random.default_rng(seed)
        return measure(
            case.model,
            counts(lambda m: symbolic.search(SearchContext(m, domain), people, chosen, rng)),
        )

    def plain(seed: int, chosen: symbolic.SymbolicOptions) -> Measured:
        rng = np.random.default_rng(seed)
        return measure(
            case.model, sizes(lambda m: references.search(m, domain, people, chosen, rng))
        )

    ours(0, msgspec.structs.replace(options, max_iter=50))  # warm-up
    plain(0, msgspec.structs.replace(options, max_iter=5))
    print(f"{name}: {options.max_iter} test cases, {options.num_samples} local samples")
    print(" " * 14 + "".join(f"{title:>16}" for title in HEAD[1:]))
    for title, chosen in (("T2 0.2", options), ("T2 above 1", every)):
        runs = [(ours(seed, chosen), plain(seed, chosen)) for seed in range(arguments.seeds)]
        fast, slow = (medians(each) for each in zip(*runs, strict=True))
        show(title, fast, options.max_iter, name, slow)
        show("plain", slow, options.max_iter)
    rng = np.random.default_rng(0)
    sampled = measure(
        case.model, counts(lambda m: uniform.search(SearchContext(m, domain), people, draws, rng))
    )
    show("uniform", sampled, draws.samples)


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
