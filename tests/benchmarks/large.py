"""What a table larger than memory takes: rows a second and memory, against one pass of Arrow.

    python -m tests.benchmarks.large [--rows 1e7]

Writes a table of so many rows as Parquet parts into a temporary folder, with a linear model, and
removes them at the end. Each step runs in a process of its own, so that its memory is its own; the
seconds are of the processor. First the same steps are compared with those in memory, at 1e5 rows.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import joblib
import numpy as np
import pyarrow as pa
from pyarrow import parquet
from sklearn.linear_model import LogisticRegression

from fairdesk.audit.plan.contexts import group_context
from fairdesk.audit.plan.inputs import AllRows, GroupInputs, grouped_people, people_blocks
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.data.domain.attributes import Role, attribute_of, encode
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats import parts
from fairdesk.data.formats.parts import blocks
from fairdesk.data.formats.reading import read_table
from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.groups.metrics import measuring
from fairdesk.groups.options import MeasureOptions
from fairdesk.groups.tabular.rules import Combinations, combinations
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.shares import estimate
from fairdesk.individual.shares.options import EstimateOptions
from fairdesk.models.inputs import input_check
from fairdesk.models.inputs.all_rows import check_all
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.open import open_model
from fairdesk.results.events import Measured
from tests.models.matching import match

#: Rows of a part, and of the table at which both ways are compared.
PART, EQUAL = 1_000_000, 100_000
LABEL, FAVOURABLE = "paid", "1"
_INPUTS = ("sex", "age", "region", "income", "debt")


def make(folder: Path, rows: int) -> None:
    """Write a table in parts, and a linear model of it."""
    rng = np.random.default_rng(0)
    (folder / "parts").mkdir(parents=True)
    for place, start in enumerate(range(0, rows, PART)):
        n = min(PART, rows - start)
        columns = {
            "sex": rng.integers(0, 2, n, np.int8),
            "age": rng.integers(18, 80, n, np.int8),
            "region": rng.integers(0, 8, n, np.int8),
            "income": rng.integers(0, 400, n, np.int16),
            "debt": rng.integers(0, 100, n, np.int16),
        }
        score = columns["income"] / 100 - columns["debt"] / 50 + columns["sex"] / 4
        columns[LABEL] = (score + rng.standard_normal(n, np.float32) > 1).astype(np.int8)
        parquet.write_table(pa.table(columns), folder / "parts" / f"{place:04}.parquet")
    few = parquet.read_table(folder / "parts" / "0000.parquet").slice(0, 20_000)
    given = np.column_stack([few[name].to_numpy() for name in _INPUTS])
    model = LogisticRegression(max_iter=1_000).fit(given, few[LABEL].to_numpy())
    joblib.dump(model, folder / "model.joblib")


class Setting:
    """A table, its model, and what the steps make of them."""

    def __init__(self, folder: Path, protected: tuple[str, ...] = ("sex", "age")) -> None:
        self.table = read_table(folder / "parts")
        self.opened = open_model(folder / "model.joblib")
        self.mapping = match(self.opened.card, self.table, LABEL, FAVOURABLE)
        names = dict.fromkeys(each.attribute for each in self.mapping.inputs)
        self.domain = Domain(
            tuple(
                attribute_of(
                    self.table.column(name), Role.PROTECTED if name in protected else Role.VARIES
                )
                for name in names
            )
        )
        self.everything = AllRows(self.table.source, self.table.columns, LABEL, FAVOURABLE)
        self.large = self.table.source.sample is not None

    @property
    def fed(self) -> FedModel:
        return FedModel(self.opened, self.mapping, self.domain.attributes)

    def groups(self) -> object:
        """Group tables of the label and of the model's decisions; scores need all at once."""
        label, known = favourable_rows(self.table, LABEL, FAVOURABLE)
        inputs = GroupInputs(
            rows=self.domain.encode(self.table),
            groups=encode(self.domain.grouping, self.table),
            inside=np.ones(len(label), bool),
            label=np.where(known, label, np.nan),
            decided=np.full(len(label), np.nan),
            favourable_label=FAVOURABLE,
            all_rows=self.everything if self.large else None,
        )
        run = RunSpec("groups", {}, 0, Budget())
        context = group_context(self.domain, self.mapping, run, inputs, self.fed)
        rng = np.random.default_rng(0)
        events = measuring.search(context, inputs.rows, MeasureOptions(), rng)
        last = [each for each in events if isinstance(each, Measured)][-1]
        return [each for each in last.figures if getattr(each, "of", "") != "scores"]

    def support(self) -> object:
        """Count the combinations of cells that rules are made of."""
        counted: Callable[[], Iterator[tuple[int, np.ndarray[Any, Any]]]]
        counted = partial(grouped_people, self.domain, self.everything)
        if not self.large:
            groups = encode(self.domain.grouping, self.table)
            counted = lambda: iter([(len(groups), groups)])  # noqa: E731
        *_, found = combinations(counted, self.domain.grouping, 10, {})
        assert isinstance(found, Combinations)
        return sorted(zip(found.codes.tolist(), found.rows.tolist(), strict=True))

    def share(self) -> object:
        """Test all rows: for how many the decision changes."""
        context = SearchContext(self.fed, self.domain)
        if self.large:
            context.all_rows = partial(people_blocks, self.domain, self.everything)
        else:
            people = self.domain.people(self.table)
            context.all_rows = lambda: iter([(len(people), people)])
        context.n_rows = self.table.source.rows
        options = EstimateOptions(trials=1, people=1_000)
        people = self.domain.people(self.table)
        events = estimate.search(context, people, options, np.random.default_rng(0))
        last = [each for each in events if isinstance(each, Measured)][-1]
        shares = [each for each in last.figures if isinstance(each, estimate.Share)]
        return [(each.attributes, each.hits, each.n_samples) for each in shares if each.exact]

    def check(self) -> object:
        """Check how the model is fed, on all rows."""
        given = self.mapping, LABEL, FAVOURABLE
        found = input_check.check(self.opened, self.table, *given)
        if self.large:
            rows = blocks(self.table.source, self.table.columns)
            *_, found = check_all(self.opened, self.table, rows, *given, found)
        assert isinstance(found, input_check.InputCheck)
        area = None if found.auc is None else round(found.auc, 9)
        return found.rows, found.confusion, found.predictions, found.set_aside, area


def arrow(folder: Path) -> int:
    """Read all files once with Arrow, and do nothing with them."""
    rows = 0
    for part in sorted((folder / "parts").iterdir()):
        for batch in parquet.ParquetFile(part).iter_batches(1 << 17):
            rows += batch.num_rows
    return rows


STEPS = {
    "one pass of Arrow": arrow,
    "reading (survey)": lambda folder: Setting(folder).table.source.rows,
    "group tables": lambda folder: Setting.groups,
    "support of subgroups": lambda folder: Setting.support,
    "input check": lambda folder: Setting.check,
    "share among the rows": lambda folder: Setting.share,
}


def measure(step: str, folder: Path) -> dict[str, float]:
    """Run a step in this process: what it took of the processor, and its memory."""
    setting = None
    if step not in list(STEPS)[:2]:
        setting = Setting(folder, ("sex",)) if "share" in step else Setting(folder)
    began = process_time()
    if setting is None:
        STEPS[step](folder)
    else:
        STEPS[step](folder)(setting)
    taken = process_time() - began
    return {"seconds": taken, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def compare(folder: Path) -> None:
    """Compare the steps block by block with those in memory."""
    make(folder, EQUAL)
    whole = Setting(folder)
    parts.SAMPLE_ROWS = 1_000
    large = Setting(folder)
    assert large.large
    assert not whole.large
    for name in ("groups", "support", "check", "share"):
        equal = getattr(whole, name)() == getattr(large, name)()
        print(f"{name:<10} at {EQUAL:,} rows: {'equal to' if equal else 'DIFFERS FROM'} in memory")


def table(rows: int) -> None:
    """Print what every step takes with so many rows, each in a process of its own."""
    with tempfile.TemporaryDirectory() as temporary:
        compare(Path(temporary) / "equal")
        folder = Path(temporary) / "large"
        began = process_time()
        make(folder, rows)
        size = sum(each.stat().st_size for each in (folder / "parts").iterdir())
        taken = process_time() - began
        print(
            f"\n{rows:,} rows, {size / 2**20:,.0f} MiB, written in {taken:.0f} s of the processor"
        )
        print(f"{'step':<24}{'CPU s':>9}{'rows/s':>14}{'peak MiB':>10}{'x Arrow':>9}")
        first = 0.0
        for step in STEPS:
            line = [sys.executable, "-m", "tests.benchmarks.large", "--step", step]
            done = subprocess.run(
                [*line, "--folder", str(folder)], check=True, capture_output=True, text=True
            )
            told = json.loads(done.stdout.splitlines()[-1])
            seconds = max(told["seconds"], 1e-3)
            first = first or seconds
            print(
                f"{step:<24}{seconds:>9.1f}{rows / seconds:>14,.0f}{told['peak']:>10,.0f}"
                f"{seconds / first:>9.1f}",
                flush=True,
            )


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--step", choices=STEPS)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    if arguments.step:
        print(json.dumps(measure(arguments.step, arguments.folder)))
        return
    table(int(arguments.rows))


if __name__ == "__main__":
    main()
