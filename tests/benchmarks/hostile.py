"""Opens every hostile file and prints what came of it: ``python -m tests.benchmarks.hostile``."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from fairdesk.audit.worker.client import Worker
from tests.hostile.corpus import attempt, cases, opens_a_good_model
from tests.hostile.world import World


def main() -> int:
    """Print the table; the exit code is the number of files that did harm, at most 99."""
    verdicts: Counter[str] = Counter()
    harmed = survived = left_out = 0
    with tempfile.TemporaryDirectory() as home:
        world = World(Path(home))
        worker = Worker()
        confinement = worker.confinement()
        print(f"Confined by {confinement.by or 'nothing'}.")
        for hold in confinement.holds:
            print(f"  {hold.what:12} {'holds' if hold.holds else 'DOES NOT HOLD'}: {hold.how}")
        held = {hold.what for hold in confinement.holds if hold.holds}
        wanted = sys.argv[1] if len(sys.argv) > 1 else ""
        print(f"\n{'file':62} {'verdict':24} {'s':>5}  harm")
        for number, case in enumerate(case for case in cases() if wanted in case.name):
            if not held.issuperset(case.needs):
                left_out += 1
                print(f"{case.name:62} left out: {', '.join(case.needs)} must hold")
                continue
            folder = Path(home) / str(number)
            folder.mkdir()
            outcome = attempt(case, worker, world, folder)
            verdicts[outcome.verdict] += 1
            harmed += bool(outcome.harm)
            survived += opens_a_good_model(worker, folder)
            harm = "; ".join(outcome.harm) or "none"
            print(f"{case.name:62} {outcome.verdict:24} {outcome.seconds:5.1f}  {harm}", flush=True)
            if wanted:
                print("    " + outcome.words[:1000])
        worker.close()
        world.close()
    print(f"\nfiles tried: {verdicts.total()}, survived: {survived}, harm done: {harmed}")
    print(", ".join(f"{verdict}: {count}" for verdict, count in verdicts.most_common()))
    if left_out:
        print(f"left out, because this machine does not hold what they need: {left_out}")
    return min(harmed, 99)


if __name__ == "__main__":
    raise SystemExit(main())
