"""How long the window stands still while a real run goes on, printed; no time is asserted."""

import time

from PySide6.QtCore import QTimer

from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.gui.workspace.shell.workspace import Workspace
from tests.audit.making import sample_audit

TICK = 10
SECONDS = 6.0


class Gaps:
    """Notes how late a timer comes.

    Attributes
    ----------
    gaps : list[float]
        Milliseconds by the clock between one time and the next.
    own : list[float]
        Milliseconds of a processor that this process took in between: on a busy machine what is
        more than these is others' work.
    window : list[float]
        Those of them that the window's thread took, which calls the timer.
    """

    def __init__(self):
        self.gaps, self.own, self.window = [], [], []
        self.timer = QTimer()
        self.timer.setInterval(TICK)
        self.timer.timeout.connect(self._tick)

    def start(self):
        self.gaps.clear()
        self.own.clear()
        self.window.clear()
        self._last = self._now()
        self.timer.start()

    def _tick(self):
        now = self._now()
        for each, end, begin in zip(
            (self.gaps, self.own, self.window), now, self._last, strict=True
        ):
            each.append((end - begin) * 1000)
        self._last = now

    @staticmethod
    def _now():
        return time.perf_counter(), time.process_time(), time.thread_time()

    def stop(self):
        self.timer.stop()
        return sorted(self.gaps)


def test_the_longest_gap_of_the_event_loop_is_measured(qtbot, worker, tmp_path, capsys):
    workspace = Workspace(sample_audit(worker, tmp_path / "adult.fairdesk"))
    qtbot.addWidget(workspace)
    workspace.resize(1280, 800)
    workspace.show()
    workspace.show_page("Discriminatory pairs")
    qtbot.wait(1500)
    gaps = Gaps()
    gaps.start()
    with qtbot.waitSignal(workspace.run_finished):
        workspace.start_runs(worker, (RunSpec("maft", seed=1, budget=Budget(seconds=SECONDS)),))
    running = gaps.stop()
    gaps.start()
    qtbot.wait(1500)
    after = gaps.stop()
    found = workspace.examples.pairs.model.rowCount()
    workspace.close_audit()
    with capsys.disabled():
        print(
            f"\nlongest gap of a {TICK} ms timer: {running[-1]:.0f} ms while running "
            f"(99 %: {running[int(len(running) * 0.99)]:.0f} ms, {len(running)} ticks), "
            f"{after[-1]:.0f} ms after; {found:,} pairs shown"
        )
    assert running
    assert after
    assert found
