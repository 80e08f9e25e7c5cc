"""What the window's process takes of a processor while a run streams into it.

    python -m tests.benchmarks.streaming [--seconds 6] [--page "Discriminatory pairs"] [--profile]

The built-in sample is searched in a process of its own; told is what this one takes, by thread: the
window's own, the run's (which writes what is found to the audit file), and those that read the file
for pages. The longest time for which the window stood still is told too.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import tempfile
import threading
from pathlib import Path
from time import perf_counter, process_time, thread_time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.worker.client import Worker
from fairdesk.gui.workspace.shell.workspace import Workspace
from tests.gui.test_responsiveness import Gaps, sample_audit


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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--page", default="Discriminatory pairs")
    parser.add_argument("--profile", action="store_true", help="print what the window's thread did")
    arguments = parser.parse_args()

    application = QApplication.instance() or QApplication([])
    assert application is not None
    worker = Worker()
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(sample_audit(worker, Path(folder) / "adult.fairdesk"))
        workspace.resize(1280, 800)
        workspace.show()
        workspace.show_page(arguments.page)
        wait(2_000)
        ended = QEventLoop()
        workspace.run_finished.connect(ended.quit)
        profile = cProfile.Profile(thread_time)
        gaps = Gaps()
        before, busy, begun = threads(), process_time(), perf_counter()
        gaps.start()
        budget = Budget(seconds=arguments.seconds)
        workspace.start_run(worker, RunSpec("maft", seed=1, budget=budget))
        if arguments.profile:
            profile.enable()
        ended.exec()
        profile.disable()
        seconds, busy = perf_counter() - begun, process_time() - busy
        longest = gaps.stop()[-1]
        found = workspace.examples.pairs.model.rowCount()
        print(
            f"{arguments.page}: {found:,} pairs in {seconds:.1f} s; {busy / seconds:.0%} of a "
            f"processor, {1e6 * busy / max(found, 1):.1f} us a pair; longest gap {longest:.0f} ms"
        )
        for name, taken in sorted(threads().items(), key=lambda each: -each[1]):
            if share := (taken - before.get(name, 0.0)) / seconds:
                print(f"{name:<28}{share:>8.0%}")
        if arguments.profile:
            pstats.Stats(profile).sort_stats("tottime").print_stats(40)
        workspace.close_audit()
        worker.close()


if __name__ == "__main__":
    main()
