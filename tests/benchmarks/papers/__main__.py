"""The tables of the papers, published figures beside those measured here.

    python -m tests.benchmarks.papers [NAME ...] [--seeds 10] [--quick]

Each module of this folder named after a method holds the tables of its paper: the paper's
parameters, its public models where there are any and else its recipe on the same table.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import cast

from threadpoolctl import threadpool_limits

from tests.benchmarks.papers.table import Paper, show

NAMES = ("maft", "aequitas", "sg", "testsgd", "fairquant", "themis")


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("papers", nargs="*", choices=(*NAMES, []), metavar="NAME")
    parser.add_argument("--seeds", type=int, default=10, help="runs of each search")
    parser.add_argument("--quick", action="store_true", help="only the smaller experiments")
    arguments = parser.parse_args()
    for name in arguments.papers or NAMES:
        paper = cast(Paper, import_module(f"tests.benchmarks.papers.{name}"))
        with threadpool_limits(1):
            for table in paper.tables(seeds=arguments.seeds, quick=arguments.quick):
                show(table)


if __name__ == "__main__":
    main()
