"""Bounds that are broken on purpose, and whether the tests notice: a table.

    python -m tests.benchmarks.mutations [--only NAME ...]

Each mutation is made in a copy of the project, where the tests that are to catch it run. One that
survives is a hole in the tests. It takes a minute or two each, for the loops are compiled anew.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
_BOUNDS = ("tests/certify/bounds/test_bound_kernels.py", "tests/certify/bounds/test_network.py")
_COUNTING = ("tests/certify/test_counting.py",)


class Mutation(NamedTuple):
    """A change of one line, and the tests that are to notice it."""

    what: str
    module: str
    before: str
    after: str
    tests: tuple[str, ...] = _BOUNDS


MUTATIONS = {
    "sign": Mutation(
        "the line above a ReLU is put below it",
        "fairdesk/certify/bounds/bound_kernels.py",
        "    return (1.0 if high > -low else 0.0), 0.0, slope, above",
        "    return (1.0 if high > -low else 0.0), 0.0, slope, -above",
    ),
    "rounding": Mutation(
        "the model's own rounding is forgotten on the way back",
        "fairdesk/certify/bounds/bound_kernels.py",
        "        told += rising * below_at[j] + falling * above_at[j]\n"
        "        told += slope * bias[j] - _lost(slope, eps[j])",
        "        told += rising * below_at[j] + falling * above_at[j]\n"
        "        told += slope * bias[j]",
    ),
    "falling": Mutation(
        "a falling coefficient takes the line below",
        "fairdesk/certify/bounds/bound_kernels.py",
        "        slope = rising * below[j] + falling * above[j]",
        "        slope = rising * below[j] + falling * below[j]",
    ),
    "close": Mutation(
        "what comes after the last layer is taken for exact",
        "fairdesk/models/structure/types.py",
        "CLOSE = 2.0**-20",
        "CLOSE = 0.0",
    ),
    "counting": Mutation(
        "the grid's rounding is forgotten in counting",
        "fairdesk/certify/bounds/count_kernels.py",
        "    above, below, after, before = above + off, below - off, after + off, before - off",
        "    above, below, after, before = above, below, after, before",
        _COUNTING,
    ),
    "carving": Mutation(
        "a place too many is cut off a box",
        "fairdesk/certify/domain/box_kernels.py",
        "                    at, gone = new_low[b, i] - 1, 0",
        "                    at, gone = new_low[b, i], 0",
        ("tests/certify/test_refine.py",),
    ),
    "constraints": Mutation(
        "boxes of several kinds are taken for one",
        "fairdesk/certify/domain/constraint_partition.py",
        "(inside == inside.flat[0]).all()",
        "(inside == inside.flat[0]).any()",
        ("tests/certify/domain/test_constraint_partition.py",),
    ),
}


def caught(mutation: Mutation) -> tuple[str, float]:
    """Make a mutation in a copy, run its tests; give the test that noticed, and the seconds."""
    started = perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "project")
        ignored = shutil.ignore_patterns(".git", "__pycache__", ".venv", ".*cache")
        shutil.copytree(ROOT, copy, ignore=ignored)
        module = copy / mutation.module
        text = module.read_text()
        if text.count(mutation.before) < 1:
            raise SystemExit(f"“{mutation.what}”: the line is not there any more.")
        module.write_text(text.replace(mutation.before, mutation.after))
        environment = os.environ | {"PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": f"{folder}/cache"}
        told = subprocess.run(
            (
                sys.executable,
                "-m",
                "pytest",
                "-qx",
                "--tb=no",
                "-pno:cacheprovider",
                *mutation.tests,
            ),
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    failed = [line for line in told.stdout.splitlines() if line.startswith("FAILED")]
    name = failed[0].split("::")[1].split(" ")[0] if failed else ""
    return name, perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=MUTATIONS, default=list(MUTATIONS))
    survivors = 0
    for name in parser.parse_args().only:
        mutation = MUTATIONS[name]
        noticed, seconds = caught(mutation)
        survivors += not noticed
        told = f"caught by {noticed}" if noticed else "SURVIVED"
        print(f"{name:12} {mutation.what:55} {told} ({seconds:.0f} s)", flush=True)
    print(f"{survivors} survived.")


if __name__ == "__main__":
    main()
