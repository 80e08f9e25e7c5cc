"""Where the time of a whole audit goes: from Enter to the last file, stage by stage.

    python -m tests.benchmarks.whole [--case sample] [--repeat 3]

``fairdesk audit`` runs in a process of its own, which notes when each stage begins; the quickest of
several runs counts. A stage that goes on beside another one (the table of many pairs is written
while the report is made) is told only as long as the command waits for nothing but it. What is
printed of a stage is its share of the whole, and how often the time of the search alone, in the
same run, goes into it: that depends little on how fast or how busy the machine is. The processor's
time is that of the command and of its other processes together (on Linux).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from time import monotonic, process_time
from typing import Any, NamedTuple

from fairdesk.audit.catalogue.method import BEFORE

ROOT = Path(__file__).parents[2]
#: Where the process that is measured leaves what it noted.
_NOTES = "WHOLE_NOTES"
_ADULT = ROOT / "resources" / "samples" / "adult"
_SHARED = Path(os.environ.get("FAIRDESK_TEST_DATA", Path(__file__).parents[3] / "shared" / "data"))
#: What is audited, by name: arguments of ``fairdesk audit``.
CASES = {
    "sample": (
        *("--data", str(_ADULT / "adult.csv"), "--model", str(_ADULT / "adult_network.keras")),
        *("--label", "income", "--favourable", ">50K", "--protected", "sex", "--protected", "race"),
        *("--method", "maft", "--option", "global_num=200", "local_num=200"),
        "--no-plausible",
    ),
    # a search of a tenth of a second: what an audit costs besides
    "short": (
        *("--data", str(_ADULT / "adult.csv"), "--model", str(_ADULT / "adult_network.keras")),
        *("--label", "income", "--favourable", ">50K", "--protected", "sex"),
        *("--method", "maft", "--option", "global_num=20", "local_num=20"),
        "--no-plausible",
    ),
    "census/sex": (
        *("--data", str(_SHARED / "encoded" / "eidig_census.csv")),
        *("--model", str(_SHARED / "models" / "eidig_adult.h5")),
        *("--label", "income", "--favourable", "1", "--protected", "sex"),
        *("--method", "maft", "--option", "global_num=1000", "local_num=1000"),
        "--no-plausible",
    ),
}
#: What the phases of a run are told as; any other is a part of the method's own work.
_STAGES = {"": "starting the run", "starting": "loading the method"}
_AFTERWARDS = ("weighing", "writing")


class Stage(NamedTuple):
    """What a stage took, in seconds: by the clock, and of the processors."""

    wall: float
    busy: float

    def __add__(self, other: Stage) -> Stage:  # type: ignore[override]
        return Stage(self.wall + other.wall, self.busy + other.busy)


class Run(NamedTuple):
    """What one run of the command took.

    Attributes
    ----------
    stages : dict[str, Stage]
        By stage, in order.
    search : float
        Seconds of the search alone.
    found : int
        Pairs.
    total : Stage
        From Enter to the end of the process.
    """

    stages: dict[str, Stage]
    search: float
    found: int
    total: Stage


def run(arguments: tuple[str, ...]) -> Run:
    """Audit once, in a process of its own.

    Raises
    ------
    RuntimeError
        When the command fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes.json"
        command = [sys.executable, "-m", "tests.benchmarks.whole", "--", "audit", *arguments]
        # bytecode is kept, as it is for whoever has set FairDesk up
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        before = _busy_children()
        begun = monotonic()
        ended = subprocess.run(
            [*command, "--out", str(Path(folder) / "audit")],
            env=environment | {_NOTES: str(notes)},
            capture_output=True,
            text=True,
            check=False,
        )
        over, busy = monotonic(), _busy_children() - before
        if ended.returncode:
            raise RuntimeError(ended.stderr)
        noted = json.loads(notes.read_text())
    return _read(noted["times"], noted["search"], noted["found"], begun, Stage(over, busy))


def _read(
    times: list[tuple[str, float, float]], search: float, found: int, begun: float, end: Stage
) -> Run:
    """Make a run of when its stages began, and when the process ended."""
    moments = [("interpreter", begun, 0.0), *map(tuple, times), ("", *end)]
    stages: dict[str, Stage] = {}
    for (what, wall, busy), (_, wall_after, busy_after) in pairwise(moments):
        taken = Stage(wall_after - wall, busy_after - busy)
        stages[what] = stages.get(what, Stage(0, 0)) + taken
    return Run(stages, search, found, Stage(end.wall - begun, end.busy))


def _busy_children() -> float:
    """Return the processors' seconds of processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _busy() -> float:
    """Return the processors' seconds of this process and those that it has started."""
    ticks = 0
    for children in Path("/proc/self/task").glob("*/children"):
        for child in children.read_text().split():
            with suppress(OSError):
                fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
                ticks += sum(map(int, fields[11:15]))
    return process_time() + _busy_children() + ticks / os.sysconf("SC_CLK_TCK")


def audited(argv: list[str]) -> int:
    """Do what the command line says, and note when each stage began; in the process of its own."""
    times = [("imports", monotonic(), _busy())]

    def begin(what: str) -> None:
        if times[-1][0] != what:
            times.append((what, monotonic(), _busy()))

    # as the command itself does before it loads all else
    from fairdesk.audit.sandbox.process import start_early

    start_early()
    from fairdesk.cli import audit as command
    from fairdesk.cli.main import main

    runs: list[Any] = []
    performed = command.audit

    @contextmanager
    def progress(*_: Any, **__: Any) -> Iterator[Callable[[Any], None]]:
        yield lambda state: begin(_stage(state))

    def audit(*given: Any) -> Any:
        begin("opening data and model")
        outcome = performed(*given)
        runs.extend(outcome.runs)
        begin("last words")
        return outcome

    command.progress_bar, command.audit = progress, audit  # type: ignore[assignment]
    code = main(argv)
    begin("exit")
    seconds = sum(
        each for run in runs for phase, each in run.seconds.items() if phase not in BEFORE
    )
    notes = {"times": times, "search": seconds, "found": sum(run.found for run in runs)}
    Path(os.environ[_NOTES]).write_text(json.dumps(notes))
    return code


def _stage(state: Any) -> str:
    """Name the stage that a state belongs to."""
    phase = state.phase
    if not state.id and not phase.startswith(_AFTERWARDS):
        return "opening data and model"
    return _STAGES.get(phase, phase if phase.startswith(_AFTERWARDS) else "search and storing")


def show(name: str, runs: list[Run]) -> None:
    """Print the table of a case: the quickest run, and how far the others were from it."""
    best = min(runs, key=lambda each: each.total.wall)
    totals = ", ".join(sorted(f"{each.total.wall:.2f}" for each in runs))
    busy = ", ".join(sorted(f"{each.total.busy:.2f}" for each in runs))
    print(f"{name}: {best.found:,} pairs; the search alone {best.search:.2f} s")
    print(f"runs: {totals} s; of the processors {busy} s")
    print(f"{'stage':<26}{'wall s':>8}{'CPU s':>8}{'share':>8}{'x search':>10}")
    for what, (wall, cpu) in (*best.stages.items(), ("whole", best.total)):
        ratio = f"{wall / best.search:.2f}" if best.search else ""
        print(f"{what:<26}{wall:>8.2f}{cpu:>8.2f}{wall / best.total.wall:>8.0%}{ratio:>10}")
    print(flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--case", choices=CASES, action="append", help="all when left out")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each; the quickest counts")
    arguments = parser.parse_args()
    for name in arguments.case or CASES:
        show(name, [run(CASES[name]) for _ in range(arguments.repeat)])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--"]:
        sys.exit(audited(sys.argv[2:]))
    main()
