"""How fast and how thrifty MAFT, EIDIG and ADF are, beside plain versions and uniform sampling.

    python -m tests.benchmarks.maft --data census.csv --label income --favourable 1 \
        --model adult.h5 --protected sex

All ask the same model through the same forward pass, in this one process, on one thread.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

import msgspec
import numpy as np
from threadpoolctl import threadpool_limits

from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches import adf, eidig, maft, uniform
from tests.benchmarks.measuring import Measured, counts, load, measure, sizes
from tests.references import gradients

SEARCHES = {
    "maft": (maft.search, maft.MaftOptions),
    "eidig": (eidig.search, eidig.EidigOptions),
    "adf": (adf.search, adf.AdfOptions),
}
#: Unique instances per CPU-second of the published programs, on census and sex.
PUBLISHED = {"maft": 29.6, "eidig": 30.0, "adf": 8.1}
HEAD = (
    *("", "unique", "rows", "rows/unique", "wall s", "CPU s", "unique/CPU-s", "rows/CPU-s"),
    *("model", "x plain", "x published"),
)


def show(name: str, each: Measured, plain: Measured | None, published: float | None) -> None:
    """Print a line of the table."""
    cells = (
        f"{each.unique:,}",
        f"{each.queries:,}",
        f"{each.queries / max(each.unique, 1):.1f}",
        f"{each.wall:.2f}",
        f"{each.cpu:.2f}",
        f"{each.per_cpu_second:,.0f}",
        f"{each.queries / each.cpu:,.0f}",
        f"{each.forward / each.cpu:.0%}",
        f"{each.per_cpu_second / plain.per_cpu_second:.1f}" if plain else "",
        f"{each.per_cpu_second / published:,.0f}" if published else "",
    )
    print(f"{name:>14}" + "".join(f"{cell:>14}" for cell in cells), flush=True)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--label", required=True)
    parser.add_argument("--favourable", required=True)
    parser.add_argument("--protected", action="append", required=True)
    parser.add_argument("--method", action="append", choices=SEARCHES, help="default: all")
    parser.add_argument("--global-num", type=int, default=1_000)
    parser.add_argument("--local-num", type=int, default=1_000)
    parser.add_argument(
        "--plain-num", type=int, default=100, help="seeds of the plain versions; 0: none of them"
    )
    parser.add_argument("--samples", type=int, default=1_000_000, help="of the uniform sampler")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each; the median counts")
    arguments = parser.parse_args()

    model, domain, people = load(
        arguments.data,
        arguments.model,
        arguments.label,
        arguments.favourable,
        arguments.protected,
    )

    print(
        f"{arguments.model.name}, protected {', '.join(arguments.protected)}, "
        f"{arguments.global_num} seeds x {arguments.local_num} local steps; plain versions with "
        f"{arguments.plain_num} seeds; median of {arguments.repeat} by unique per CPU-second"
    )
    print("".join(f"{title:>14}" for title in HEAD))
    for name in arguments.method or SEARCHES:
        search, kind = SEARCHES[name]
        options = kind(global_num=arguments.global_num, local_num=arguments.local_num)

        def ours(seed: int) -> Measured:
            rng = np.random.default_rng(seed)
            return measure(
                model,
                counts(lambda timed: search(SearchContext(timed, domain), people, options, rng)),  # noqa: B023 - called at once
            )

        ours(0)  # warm-up
        runs = sorted(map(ours, range(arguments.repeat)), key=lambda each: each.per_cpu_second)
        plain = None
        if arguments.plain_num:
            fewer = msgspec.structs.replace(options, global_num=arguments.plain_num)
            rng = np.random.default_rng(0)
            plain = measure(
                model,
                sizes(lambda timed: gradients.search(timed, domain, people, fewer, rng)),  # noqa: B023 - called at once
            )
        on_census_sex = arguments.protected == ["sex"] and "adult" in arguments.model.name
        show(name, runs[len(runs) // 2], plain, PUBLISHED[name] if on_census_sex else None)
        if plain:
            show(f"plain {name}", plain, None, None)
        print(
            f"{'':>14}  {runs[0].per_cpu_second:,.0f} to {runs[-1].per_cpu_second:,.0f} unique per "
            f"CPU-second; unique {min(run.unique for run in runs):,} to "
            f"{max(run.unique for run in runs):,}, median "
            f"{statistics.median(run.unique for run in runs):,.0f}"
        )
    draws = uniform.UniformOptions(samples=arguments.samples)
    show(
        "uniform",
        measure(
            model,
            counts(
                lambda timed: uniform.search(
                    SearchContext(timed, domain), people, draws, np.random.default_rng(0)
                )
            ),
        ),
        None,
        None,
    )


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
