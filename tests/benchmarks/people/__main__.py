"""Evidence about people: plausible pairs, and what was planted and found again.

    python -m tests.benchmarks.people [--case "adult sample"] [--queries 200000] [--seconds 20]

CPU seconds are counted, in one process, on one thread.
"""

from __future__ import annotations

import argparse

from threadpoolctl import threadpool_limits

from tests.benchmarks.people import pairs, planted


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--case", action="append", choices=pairs.CASES, help="default: all")
    parser.add_argument("--only", choices=("pairs", "planted"), help="one of the tables")
    parser.add_argument("--queries", type=int, default=200_000, help="of each search")
    parser.add_argument("--seconds", type=float, default=20.0, help="CPU seconds of each search")
    arguments = parser.parse_args()
    with threadpool_limits(1):
        if arguments.only != "planted":
            pairs.table(arguments.case or list(pairs.CASES), arguments.queries, arguments.seconds)
        if arguments.only != "pairs":
            planted.table(arguments.queries, arguments.seconds)


if __name__ == "__main__":
    main()
