"""The queue in the window: what is asked for while something runs, and the line that shows it."""

import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from fairdesk.app.run_queue import RunQueue
from fairdesk.audit.catalogue.method import stage
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.store.records import RunState, WaitingRun
from fairdesk.audit.store.store import Store
from fairdesk.cluster.messages import AtWork
from fairdesk.gui.workspace.common.run_page import GROUPS, NAMES, OVERVIEW, REPORT
from fairdesk.gui.workspace.shell import runner
from fairdesk.gui.workspace.shell.again_dialog import AgainDialog
from fairdesk.gui.workspace.shell.queue_strip import RunClock, names, seconds_left, ticking
from fairdesk.gui.workspace.shell.run_bar import RunBar
from tests.gui.auditing import FakeWorker, make_audit

RUN = RunSpec("uniform", {"samples": 300}, budget=Budget(seconds=60.0))
RATES = RunSpec("groups")


@pytest.fixture
def running(qtbot, opened, tmp_path):
    """A workspace in which a run waits for ``hold``."""
    workspace = opened(make_audit(tmp_path))
    workspace.hold = threading.Event()
    workspace.start_runs(FakeWorker(hold=workspace.hold), (RUN,))
    qtbot.waitUntil(lambda: workspace._session.live is not None, timeout=10_000)
    yield workspace
    workspace.hold.set()


def finish(qtbot, workspace):
    with qtbot.waitSignal(workspace.run_finished, timeout=30_000):
        workspace.hold.set()


def texts(shown):
    return [shown.item(row).text() for row in range(shown.count())]


def chips(workspace):
    assert workspace.bar.queue._edit.isHidden()
    return texts(workspace.bar.queue.list)


def lines(workspace):
    strip = workspace.bar.queue
    if strip._edit.isHidden():
        strip.fold.click()
    return texts(strip.list)


def choose(workspace, row):
    lines(workspace)
    workspace.bar.queue.list.setCurrentRow(row)
    return workspace.bar.queue


def test_whatever_is_asked_for_while_something_runs_waits_and_then_runs(qtbot, running):
    running.requests.run_again()
    (dialog,) = running.findChildren(AgainDialog)
    assert dialog.ok_button.text().replace("&", "") == "Add to queue"
    dialog.accept()
    running._session.wishes.repeat.emit(1)
    running.requests.run_method("groups")
    assert [each.spec.method for each in running.queue.waiting] == ["uniform", "uniform", "groups"]
    # each with a seed of its own
    seeds = [each.spec.seed for each in running.queue.runs if each.spec.method == "uniform"]
    assert len(set(seeds)) == 3
    running.queue.drop(running.queue.waiting[-1].number)
    finish(qtbot, running)
    with Store.open(running.path) as store:
        assert [run.state for run in store.runs()] == ["done"] * 4


def test_methods_to_compare_are_added_while_something_runs(qtbot, running):
    running.requests.compare_methods()
    dialog = running.findChild(AgainDialog)
    assert dialog.ok_button.text().replace("&", "") == "Add to queue"
    dialog.accept()
    assert len(running.queue.waiting) > 1
    running.stop_all()


def test_the_line_shows_each_run_and_leads_to_its_page(qtbot, running):
    running.runner.ask((RATES, RunSpec("certify", budget=Budget(seconds=30.0))))
    first, rates, proof = chips(running)
    assert first.startswith("▶ Pairs")
    assert "left" in first
    assert rates == "· Group metrics"
    assert proof == "· Certification"
    shown = running.bar.queue.list
    place = shown.visualItemRect(shown.item(1)).center()
    qtbot.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert running.steps.currentRow() == NAMES.index(GROUPS)
    spoken = Qt.ItemDataRole.AccessibleTextRole
    said = [shown.item(row).data(spoken) for row in range(shown.count())]
    assert said[1:] == ["Group metrics: waiting", "Certification: waiting"]
    running.stop_all()


def test_runs_are_moved_dropped_and_added_again_by_keys(qtbot, running):
    running.runner.ask((RATES,))
    running.runner.ask((RunSpec("certify"),))
    assert [line[0] for line in lines(running)] == ["▶", "·", "·"]
    shown = choose(running, 2)
    shown.list.setFocus()
    qtbot.keyClick(shown.list, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert [each.spec.method for each in running.queue.waiting] == ["certify", "groups"]
    assert not shown.up.isEnabled()
    qtbot.keyClick(shown.list, Qt.Key.Key_Delete)
    assert [each.spec.method for each in running.queue.waiting] == ["groups"]
    assert "not started" in lines(running)[1]
    assert not shown.drop.isEnabled()
    shown.restore.click()
    assert [each.spec.method for each in running.queue.waiting] == ["groups", "certify"]
    # what runs can only be stopped
    choose(running, 0)
    assert not shown.drop.isEnabled()
    assert shown.stop_one.isEnabled()
    running.stop_all()


def test_a_run_is_dragged_to_another_place(qtbot, running):
    running.runner.ask((RATES,))
    running.runner.ask((RunSpec("certify"),))
    shown = choose(running, 2).list
    model = shown.model()
    assert model.moveRow(shown.rootIndex(), 2, shown.rootIndex(), 1)
    waiting = running.queue
    qtbot.waitUntil(lambda: [each.spec.method for each in waiting.waiting] == ["certify", "groups"])
    running.stop_all()


def test_a_run_that_is_dragged_above_the_one_in_progress_goes_back(qtbot, running):
    running.runner.ask((RATES,))
    shown = choose(running, 1).list
    assert shown.model().moveRow(shown.rootIndex(), 1, shown.rootIndex(), 0)
    assert "·" in shown.item(0).text()
    qtbot.waitUntil(lambda: shown.item(0).text().startswith("▶"), timeout=10_000)
    assert [each.spec.method for each in running.queue.waiting] == ["groups"]
    running.stop_all()


def test_at_the_end_the_report_is_ready(qtbot, running):
    strip = running.bar.queue
    assert strip.ready.isHidden()
    finish(qtbot, running)
    assert not strip.ready.isHidden()
    assert chips(running) == ["✓ Pairs"]
    strip.open_report.click()
    assert running.steps.currentRow() == NAMES.index(REPORT)


def test_a_run_that_cannot_begin_does_not_keep_the_others_from_it(qtbot, opened, tmp_path):
    workspace = opened(make_audit(tmp_path, runs=0))
    with qtbot.waitSignal(workspace.run_finished, timeout=20_000):
        # nothing was found that could be repaired
        workspace.start_runs(FakeWorker(), (RunSpec("repair-aequitas"), RUN))
    assert [each.stands for each in workspace.queue.runs] == ["failed", "done"]
    assert workspace._banner.isVisible()
    assert workspace.queue.runs[0].why in lines(workspace)[0]


def test_what_waits_when_the_audit_is_closed_is_offered_when_it_is_opened(
    qtbot, opened, running, monkeypatch
):
    running.runner.ask((RunSpec("uniform", {"samples": 200}, seed=7),))
    running.stop_and_keep()
    running.close_audit()
    with Store.open(running.path) as store:
        assert [run.state for run in store.runs()] == ["done", "stopped"]
        assert [each.run.seed for each in store.waiting_runs()] == [7]
    monkeypatch.setattr(runner, "reopen", lambda *_: None)
    again = opened(running.path)
    again.runner._make_worker = FakeWorker
    qtbot.waitUntil(again._banner.isVisible, timeout=10_000)
    assert "1 run did not start" in again._banner._what.text()
    assert again.bar.queue.start.isVisible()
    (start,) = (
        each for each in again._banner.findChildren(QPushButton) if each.text() == "Start now"
    )
    with qtbot.waitSignal(again.run_finished, timeout=20_000):
        start.click()
    again.close_audit()
    with Store.open(running.path) as store:
        assert store.runs()[-1].spec.seed == 7
        assert store.waiting_runs() == ()


def test_what_waited_can_be_dropped(qtbot, opened, tmp_path):
    path = make_audit(tmp_path, runs=0)
    with Store.open(path) as store:
        store.write_waiting_runs((WaitingRun(RATES), WaitingRun(RUN)))
    workspace = opened(path)
    qtbot.waitUntil(workspace._banner.isVisible, timeout=10_000)
    assert "Group metrics and Pairs" in workspace._banner._more.text()
    (drop,) = (
        each for each in workspace._banner.findChildren(QPushButton) if each.text() == "Drop"
    )
    drop.click()
    assert not workspace._banner.isVisible()
    workspace.close_audit()
    with Store.open(path) as store:
        assert store.waiting_runs() == ()


def test_a_run_with_a_long_name_leaves_the_window_small(qtbot, themed):
    bar = RunBar()
    qtbot.addWidget(bar)
    bar.resize(784, 80)
    bar.show()
    longest = max(METHODS.values(), key=lambda method: len(method.title))
    run = RunSpec(longest.key, budget=Budget(seconds=60.0))
    bar.show_beginning(run)
    state = RunState(1, longest.key, "running", phase="compiling", found=9, tried=10, queries=12)
    bar.show_live(state, run)
    queue = RunQueue()
    queue.add((run,) * 20)
    queue.begin()
    bar.queue.show_queue(queue)
    assert bar.minimumSizeHint().width() <= 784
    # the name is whole for those who hear it
    assert longest.title in bar.accessibleDescription()
    # and of the runs at least the one under way is shown
    shown = bar.queue.list
    sight = shown.viewport().rect()
    assert sight.intersects(shown.visualItemRect(shown.item(0)))
    assert not sight.intersects(shown.visualItemRect(shown.item(19)))
    for _ in range(12):
        queue.end("done")
        queue.begin()
    bar.queue.show_queue(queue)
    qtbot.waitUntil(lambda: sight.contains(shown.visualItemRect(shown.item(12)).center()))


def test_the_runs_of_a_plan_share_its_time_and_begin_with_the_overview(qtbot, opened, tmp_path):
    workspace = opened(make_audit(tmp_path, runs=0))
    hold = threading.Event()
    with qtbot.waitSignal(workspace.run_finished, timeout=30_000):
        workspace.start_runs(FakeWorker(hold=hold), (RUN, RUN), 50.0)
        assert workspace.steps.currentRow() == NAMES.index(OVERVIEW)
        assert workspace.queue.running.spec.budget.seconds < 50.0
        hold.set()
    with Store.open(workspace.path) as store:
        first, second = (run.spec.budget.seconds for run in store.runs())
    # what the first left over is there for the second
    assert first < second < 50.0


# The clock


def test_the_time_goes_on_while_the_worker_says_nothing(qtbot, themed):
    bar = RunBar()
    qtbot.addWidget(bar)
    now = [100.0]
    bar.clock = RunClock(lambda: now[0])
    bar.show_beginning(RUN)
    assert bar._elapsed._number.text() == ticking(0)
    now[0] += 7
    bar._tick()
    assert bar._elapsed._number.text() == ticking(7)
    assert bar._used.text() == f"{ticking(7)} of {ticking(60)}".replace(ticking(60), "1\u00a0min")
    assert bar._bar.value() == round(1000 * 7 / 60)
    # one report, and then none for a minute
    state = RunState(1, "uniform", "running", phase="uniform", elapsed=7.0)
    bar.show_live(state, RUN)
    now[0] += 60
    bar._tick()
    assert bar._elapsed._number.text() == ticking(67)
    assert bar._bar.value() == 1000


def test_a_timer_of_the_window_moves_the_clock(qtbot, themed):
    bar = RunBar()
    qtbot.addWidget(bar)
    now = [0.0]
    bar.clock = RunClock(lambda: now[0])
    bar.show_opening("Opening the model")
    now[0] = 12.0
    qtbot.waitUntil(lambda: bar._elapsed._number.text() == ticking(12), timeout=10_000)
    bar.show_nothing()
    assert not bar._timer.isActive()


def test_a_pause_does_not_count(qtbot, themed):
    bar = RunBar()
    qtbot.addWidget(bar)
    now = [0.0]
    bar.clock = RunClock(lambda: now[0])
    bar.show_beginning(RUN)
    now[0] = 5.0
    bar.show_live(RunState(1, "uniform", "paused", phase="uniform"), RUN)
    now[0] = 50.0
    bar._tick()
    assert bar._elapsed._number.text() == ticking(5)
    bar.show_live(RunState(1, "uniform", "running", phase="uniform"), RUN)
    now[0] = 51.0
    bar._tick()
    assert bar._elapsed._number.text() == ticking(6)


def test_what_is_compiled_once_is_no_part_of_the_time(qtbot, themed):
    bar = RunBar()
    qtbot.addWidget(bar)
    now = [0.0]
    bar.clock = RunClock(lambda: now[0])
    bar.show_beginning(RUN)
    bar.show_live(RunState(1, "uniform", "running", phase="compiling"), RUN)
    now[0] = 100.0
    bar._tick()
    assert "compiling" in bar._standing.text()
    assert bar._elapsed._number.text() == ticking(100)
    assert bar._bar.value() == 0
    bar.show_live(RunState(1, "uniform", "running", phase="uniform", elapsed=1.0), RUN)
    bar._tick()
    assert bar._elapsed._number.text() == ticking(1)


def test_the_time_left_is_the_rest_of_the_budget_and_unknown_without_one(qtbot):
    queue = RunQueue()
    queue.add((RUN, RUN), seconds=100.0)
    queue.add((RUN,))
    queue.begin()
    assert seconds_left(queue, 10.0) == 100.0 - 10.0 + 60.0
    queue.add((RATES,))
    assert seconds_left(queue, 10.0) is None


def test_runs_of_one_kind_are_called_by_their_methods():
    queue = RunQueue()
    queue.add((RUN, RunSpec("maft"), RATES))
    called = list(names(queue.runs).values())
    assert called == [METHODS["uniform"].title, "MAFT", "Group metrics"]


def test_what_the_workers_of_a_cluster_do_is_shown_while_a_run_is_spread(
    qtbot, running, monkeypatch
):
    table = running.bar.queue.workers
    lines(running)
    assert table.isHidden()
    doing = (AtWork("tls://a:1", 3, "global", 1_200.4), AtWork("tls://b:1", 5, "local", 0.0))
    monkeypatch.setattr(running._session.driver, "at_work", lambda: doing)
    running._go_on(running._session.live)
    assert table.isVisible()
    cells = [[table.item(row, column).text() for column in range(4)] for row in range(2)]
    assert cells[0] == ["tls://a:1", "3", stage("global"), "1,200"]
    # a part that has sent no row yet has no speed
    assert cells[1][3] == ""
    finish(qtbot, running)
    assert table.isHidden()
    assert not table.rowCount()
