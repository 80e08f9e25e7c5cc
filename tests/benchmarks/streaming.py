"""What the window's process takes of a processor while a run streams into it.

    python -m tests.benchmarks.streaming [--seconds 6] [--page "Discriminatory pairs"] [--profile]
                                         [--finished]

The built-in sample is searched in a process of its own; told is what this one takes, by thread: the
window's own, the run's (which writes what is found to the audit file), and those that read the file
for pages. The longest times for which the window stood still are told too, by the clock, and of
processors: on a busy machine only those are its own, and what the window's thread took of them is
what it showed. With ``--finished`` it is the sample's
finished audit, and its pages are turned meanwhile, two a second.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import shutil
import tempfile
import threading
from itertools import cycle
from pathlib import Path
from time import perf_counter, process_time, thread_time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.gui.workspace.shell.workspace import Workspace
from fairdesk.samples import samples
from tests.audit.making import sample_audit
from tests.gui.test_responsiveness import Gaps


def threads() -> dict[str, float]:
    """Return the processor's seconds of this process's threads, by name (on Linux)."""
    taken: dict[str, float] = {}
    names = {thread.native_id: thread.name for thread in threading.enumerate()}
    for task in Path("/proc/self/task").iterdir():
        fields = (task / "stat").read_text().rpartition(")")[2].split()
        name = names.get(int(task.name), "others")
        seconds = sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
        taken[name] = taken.get(name, 0.0) + seconds
    return taken


def wait(milliseconds: int) -> None:
    """Let the window live for a while."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def finished_audit(worker: Worker, path: Path) -> Store:
    """Open a copy of the sample's finished audit, and its model."""
    sample = samples()[0]
    shutil.copy(sample.shipped, path)
    worker.open_model(sample.model_path(sample.models[0]))
    return Store.open(path)


class Turning:
    """Turns the pages of a workspace, two a second; tells what showing each took."""

    def __init__(self, workspace: Workspace) -> None:
        self.taken: dict[str, float] = {}
        self._workspace = workspace
        self._pages = cycle(workspace.page_names)
        self._timer = QTimer(interval=500)
        self._timer.timeout.connect(self._turn)
        self.start, self.stop = self._timer.start, self._timer.stop

    def _turn(self) -> None:
        page, before = next(self._pages), thread_time()
        self._workspace.show_page(page)
        taken = 1000 * (thread_time() - before)
        self.taken[page] = max(taken, self.taken.get(page, 0.0))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--page", default="Discriminatory pairs")
    parser.add_argument("--finished", action="store_true", help="turn the finished audit's pages")
    parser.add_argument("--profile", action="store_true", help="print what the window's thread did")
    arguments = parser.parse_args()

    application = QApplication.instance() or QApplication([])
    assert application is not None
    worker = Worker()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "adult.fairdesk"
        store = finished_audit(worker, path) if arguments.finished else sample_audit(worker, path)
        workspace = Workspace(store)
        workspace.resize(1280, 800)
        workspace.show()
        workspace.show_page(arguments.page)
        wait(2_000)
        ended = QEventLoop()
        workspace.run_finished.connect(ended.quit)
        profile = cProfile.Profile(thread_time)
        turning = Turning(workspace)
        gaps = Gaps()
        before, busy, begun = threads(), process_time(), perf_counter()
        gaps.start()
        budget = Budget(seconds=arguments.seconds)
        workspace.start_runs(worker, (RunSpec("maft", seed=1, budget=budget),))
        if arguments.finished:
            turning.start()
        if arguments.profile:
            profile.enable()
        ended.exec()
        turning.stop()
        profile.disable()
        seconds, busy = perf_counter() - begun, process_time() - busy
        gaps.stop()
        found = workspace.examples.pairs.model.rowCount()
        print(
            f"{arguments.page}: {found:,} pairs in {seconds:.1f} s; {busy / seconds:.0%} of a "
            f"processor, {1e6 * busy / max(found, 1):.1f} us a pair"
        )
        for what, each in (
            ("by the clock", sorted(gaps.gaps)),
            ("of processors", sorted(gaps.own)),
            ("of the window's thread", sorted(gaps.window)),
        ):
            late = each[int(0.99 * len(each))]
            print(f"gaps {what}: longest {each[-1]:.0f} ms, 99 % within {late:.0f} ms")
        for page, taken in turning.taken.items():
            print(f"  turning to {page:<28}{taken:>6.0f} ms")
        for name, taken in sorted(threads().items(), key=lambda each: -each[1]):
            if share := (taken - before.get(name, 0.0)) / seconds:
                print(f"{name:<28}{share:>8.0%}")
        if arguments.profile:
            pstats.Stats(profile).sort_stats("tottime").print_stats(40)
        workspace.close_audit()
        worker.close()


if __name__ == "__main__":
    main()
