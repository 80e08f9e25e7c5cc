"""Evidence about people: plausible pairs, what was planted and found again, and proofs.

    python -m tests.benchmarks.people [--only pairs] [--case "adult sample"] [--queries 200000]
    python -m tests.benchmarks.people --only proofs [--case AC-1] [--proof-seconds 60]

Of searches CPU seconds are counted, in one process, on one thread; proofs take all processors.
"""

from __future__ import annotations

import argparse

from threadpoolctl import threadpool_limits

from tests.benchmarks.people import pairs, planted, proofs


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    known = [*pairs.CASES, *proofs.cases()]
    parser.add_argument("--case", action="append", choices=known, help="default: all")
    parser.add_argument("--only", choices=("pairs", "planted", "proofs"), help="one of the tables")
    parser.add_argument("--queries", type=int, default=200_000, help="of each search")
    parser.add_argument("--seeds", type=int, default=10, help="runs of each search for pairs")
    parser.add_argument("--seconds", type=float, default=20.0, help="CPU seconds of each search")
    parser.add_argument("--proof-seconds", type=float, default=60.0, help="of each proof")
    parser.add_argument("--first", choices=("people", "combinations"), default="people")
    arguments = parser.parse_args()
    chosen = set(arguments.case or known)
    with threadpool_limits(1):
        if arguments.only in (None, "pairs"):
            named = [each for each in pairs.CASES if each in chosen]
            pairs.table(named, arguments.queries, arguments.seconds, arguments.seeds)
        if arguments.only in (None, "planted"):
            planted.table(arguments.queries, arguments.seconds)
    if arguments.only in (None, "proofs"):
        named = [each for each in proofs.cases() if each in chosen]
        proofs.table(named, arguments.proof_seconds, arguments.first)


if __name__ == "__main__":
    main()
