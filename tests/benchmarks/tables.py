"""How long large tables take to be imported, beside pandas on the same files.

    python -m tests.benchmarks.tables [--rows 1000000] [--columns 100]

Each reader runs in a process of its own, one after the other, so that peak memory is its own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

#: One column of each sort, again and again: whole numbers with few and with many values, numbers
#: with fractions, names with few and with many values.
SORTS = 5

FAIRDESK = """
from fairdesk.data.profiling.profile import problems
from fairdesk.data.formats.reading import read_table
told = []
table = read_table(Path(sys.argv[1]), None, told.append)
taken = perf_counter() - start
cells = table.codes.size
problems(table)
more = f"told {len(told)} times; problems found in {perf_counter() - start - taken:.1f} s"
"""
PANDAS = """
import pandas
read = pandas.read_parquet if sys.argv[1].endswith("parquet") else pandas.read_csv
cells = read(sys.argv[1]).size
taken, more = perf_counter() - start, ""
"""
MAKE = """
import sys
from pathlib import Path
from tests.benchmarks.tables import make
make(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
"""
AROUND = """
import resource, sys
from pathlib import Path
from time import perf_counter
start = perf_counter()
{}
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
print(cells, taken, peak, more, sep="|")
"""


def make(folder: Path, rows: int, columns: int) -> None:
    """Write the same table as CSV and as Parquet."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    rng = np.random.default_rng(1)
    few = np.array(["Female", "Male", "Other"])
    many = np.array([f"street {i}" for i in range(5_000)])
    make = (
        lambda: rng.integers(0, 90, rows),
        lambda: rng.integers(0, 10**6, rows),
        lambda: rng.normal(size=rows).round(4),
        lambda: few[rng.integers(0, 3, rows)],
        lambda: many[rng.integers(0, 5_000, rows)],
    )
    table = pa.table({f"c{i}": make[i % SORTS]() for i in range(columns)})
    csv.write_csv(table, folder / "table.csv", csv.WriteOptions(quoting_style="needed"))
    parquet.write_table(table, folder / "table.parquet")


def measured(program: str, path: Path) -> tuple[int, float, int, str]:
    """Run a reader and give its cells, seconds, peak memory in MB and what it says."""
    command = [sys.executable, "-c", AROUND.format(program), str(path)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    cells, taken, peak, more = said.strip().split("|")
    return int(cells), float(taken), int(peak), more


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=100)
    arguments = parser.parse_args()
    print("format     rows  columns     MB  FairDesk s  pandas s  ratio  peak MB  pandas peak MB")
    with tempfile.TemporaryDirectory() as folder:
        # in a process of its own: peak memory is inherited by those that are started later
        size = (str(arguments.rows), str(arguments.columns))
        subprocess.run([sys.executable, "-c", MAKE, folder, *size], check=True)
        for path in sorted(Path(folder).iterdir()):
            cells, taken, peak, more = measured(FAIRDESK, path)
            assert cells == arguments.rows * arguments.columns
            _, other, other_peak, _ = measured(PANDAS, path)
            print(
                f"{path.suffix[1:]:<8}{arguments.rows:>7} {arguments.columns:>8}"
                f"{path.stat().st_size / 1e6:>7.0f}{taken:>12.1f}{other:>10.1f}"
                f"{taken / other:>7.2f}{peak:>9}{other_peak:>16}   {more}",
                flush=True,
            )


if __name__ == "__main__":
    main()
