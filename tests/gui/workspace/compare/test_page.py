import threading

import msgspec
import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtWidgets import QLabel, QPushButton

from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.store.store import Store
from fairdesk.document.comparison import compose
from fairdesk.gui.workspace.common.run_page import COMPARE, EXAMPLES, NAMES
from fairdesk.gui.workspace.compare import budget_text
from fairdesk.gui.workspace.shell import runner
from fairdesk.gui.workspace.shell.again_dialog import AgainDialog
from fairdesk.models.model import Capability
from fairdesk.results.individual import GradientFidelity
from tests.gui.auditing import FakeWorker, make_audit

RUN = RunSpec("uniform", {"samples": 600}, seed=5)


@pytest.fixture
def comparing(qtbot, opened, tmp_path):
    """A workspace with three runs, two of them compared."""
    workspace = opened(make_audit(tmp_path, runs=3))
    workspace.show_page(COMPARE)
    qtbot.waitUntil(lambda: workspace.compare.runs._compared is not None, timeout=30_000)
    return workspace


def words_in(widget):
    return " ".join(each.text() for each in widget.findChildren(QLabel))


def standing(workspace, name):
    return workspace.steps.item(NAMES.index(name)).data(Qt.ItemDataRole.AccessibleTextRole)


def test_the_newest_runs_are_compared_at_first(comparing):
    view = comparing.compare.runs
    assert view._list.checked() == (2, 3)
    assert compose(comparing._session.spec, view._compared)[0].sentence in words_in(view.said)
    assert [*view.tables.shown] == ["runs-compared"]
    assert {each.name for each in view.chart.drawing.lines} == {
        "Random sampling (run 2)",
        "Random sampling (run 3)",
    }
    assert "3 runs" in standing(comparing, COMPARE)


def test_what_is_counted_adds_up(comparing):
    comparison = comparing.compare.runs._compared
    assert sum(each.n_samples for each in comparison.overlaps) == comparison.union
    for run in comparison.runs:
        inside = sum(each.n_samples for each in comparison.overlaps if run.id in each.runs)
        assert inside == run.found


def test_space_checks_another_run(qtbot, comparing):
    view = comparing.compare.runs
    view._list.setFocus()
    view._list.selectionModel().setCurrentIndex(
        view._list.model().index(0, 0), QItemSelectionModel.SelectionFlag.NoUpdate
    )
    qtbot.keyClick(view._list, Qt.Key.Key_Space)
    assert view._list.checked() == (1, 2, 3)
    qtbot.waitUntil(lambda: len(view._compared.runs) == 3, timeout=30_000)
    for _ in range(2):
        qtbot.keyClick(view._list, Qt.Key.Key_Down)
        qtbot.keyClick(view._list, Qt.Key.Key_Space)
    assert view._list.checked() == (1,)
    assert "at least two runs" in view._status.text()
    assert view.tables.shown == {}


def test_the_chart_turns_from_rows_to_seconds(comparing):
    view = comparing.compare.runs
    assert "queries" in view.chart.drawing.x_title
    view.chart.over_time.click()
    assert view.chart.drawing.x_title == "seconds"


def test_with_one_run_there_is_nothing_to_compare(qtbot, opened, tmp_path):
    workspace = opened(make_audit(tmp_path))
    workspace.show_page(COMPARE)
    (button,) = (
        each
        for each in workspace.compare.runs.findChildren(QPushButton)
        if each.isVisibleTo(workspace)
    )
    with qtbot.waitSignal(workspace._session.wishes.compare_methods):
        button.click()
    dialog = workspace.findChild(AgainDialog)
    assert dialog is not None
    dialog.close()


def test_a_budget_is_written_short():
    assert budget_text(Budget()) == "none"
    assert budget_text(Budget(seconds=60.0, queries=5_000)).endswith("or 5,000 queries")


def test_a_diagnostic_is_shown_and_another_can_be_chosen(qtbot, opened, tmp_path):
    path = make_audit(tmp_path, runs=0)
    with Store.open(path) as store:
        for size in (0.5, 1.0):
            run = store.begin_run(RunSpec("diagnose"))
            store.measure(run, (GradientFidelity(size, 9, 0.9, None, None, 10, 3),))
            store.end_run(run, "done")
    workspace = opened(path)
    workspace.show_page(COMPARE)
    workspace.compare.show_diagnosis()
    view = workspace.compare.diagnosis
    qtbot.waitUntil(lambda: "At size 1 " in words_in(view.view), timeout=10_000)
    assert [*view.view.shown] == ["diagnosis-agreement", "diagnosis-found"]
    view.open_run(1)
    qtbot.waitUntil(lambda: "At size 0.5 " in words_in(view.view), timeout=10_000)


def test_methods_that_are_off_say_why(qtbot, tmp_path):
    with Store.open(make_audit(tmp_path)) as store:
        spec = store.spec
    blind = msgspec.structs.replace(
        spec, model=msgspec.structs.replace(spec.model, can=(Capability.DECIDES,))
    )
    dialog = AgainDialog(blind, None, seed=4, several=True)
    qtbot.addWidget(dialog)
    offered = {key for key, method in METHODS.items() if method.answers is QuestionKind.EXAMPLES}
    assert set(dialog.picker.items) == offered
    needing = {key for key in offered if not set(METHODS[key].needs) <= {Capability.DECIDES}}
    assert needing <= set(dialog._off)
    for item in dialog.picker.items.values():
        item.setCheckState(Qt.CheckState.Unchecked)
    assert not dialog.ok_button.isEnabled()
    dialog.picker.items["uniform"].setCheckState(Qt.CheckState.Checked)
    assert dialog.ok_button.isEnabled()
    dialog._length.setCurrentIndex(dialog._length.count() - 1)
    dialog._queries.setValue(7_000)
    assert dialog.runs() == (RunSpec("uniform", seed=4, budget=Budget(queries=7_000)),)


def test_runs_follow_one_another_and_are_compared(qtbot, opened, tmp_path):
    path = make_audit(tmp_path, runs=0)
    workspace = opened(path)
    hold = threading.Event()
    runs = [msgspec.structs.replace(RUN, seed=seed) for seed in range(3)]
    with qtbot.waitSignal(workspace.run_finished, timeout=30_000):
        workspace.start_runs(FakeWorker(hold=hold), runs)
        assert workspace.steps.currentRow() == NAMES.index(COMPARE)
        qtbot.waitUntil(workspace.compare.runs.chart.isVisible, timeout=10_000)
        hold.set()
    with Store.open(path) as store:
        assert [run.spec.seed for run in store.runs()] == [0, 1, 2]
        assert {run.state for run in store.runs()} == {"done"}
    view = workspace.compare.runs
    qtbot.waitUntil(
        lambda: view._compared is not None and len(view._compared.runs) == 3, timeout=30_000
    )


def test_stop_all_ends_those_that_wait_too(qtbot, opened, tmp_path):
    path = make_audit(tmp_path, runs=0)
    workspace = opened(path)
    said = []
    workspace.said.connect(said.append)
    with qtbot.waitSignal(workspace.run_finished, timeout=30_000):
        workspace.start_runs(FakeWorker(hold=threading.Event()), [RUN, RUN, RUN])
        qtbot.waitUntil(workspace.bar._stop.isVisible, timeout=10_000)
        qtbot.waitUntil(lambda: workspace._session.driver.state is not None, timeout=10_000)
        workspace.bar.queue.end.click()
    assert any("2 runs in the queue will not start" in text for text in said)
    with Store.open(path) as store:
        assert [run.state for run in store.runs()] == ["stopped"]


def test_stop_ends_one_and_the_next_begins(qtbot, opened, tmp_path):
    path = make_audit(tmp_path, runs=0)
    workspace = opened(path)
    worker = FakeWorker(hold=threading.Event())
    with qtbot.waitSignal(workspace.run_finished, timeout=30_000):
        workspace.start_runs(worker, [RUN, RUN])
        qtbot.waitUntil(lambda: workspace._session.driver.state is not None, timeout=10_000)
        workspace.bar._stop.click()
        qtbot.waitUntil(lambda: not workspace.queue.waiting, timeout=10_000)
        worker.hold.set()
    with Store.open(path) as store:
        assert [run.state for run in store.runs()] == ["stopped", "done"]


def test_a_run_is_repeated_gone_on_with_and_compared_by_keys(qtbot, opened, tmp_path, monkeypatch):
    path = make_audit(tmp_path, runs=2)
    workspace = opened(path)
    monkeypatch.setattr(workspace.runner, "_make_worker", FakeWorker)
    monkeypatch.setattr(runner, "reopen", lambda *_: None)
    table = workspace.overview._runs
    qtbot.waitUntil(lambda: table.rowCount() == 2, timeout=10_000)
    repeat, further_one, compare = workspace.overview.acts
    assert not repeat.isEnabled()
    table.setFocus()
    table.selectRow(0)
    assert repeat.isEnabled()
    with qtbot.waitSignal(workspace.run_finished, timeout=30_000):
        qtbot.keyClick(table, Qt.Key.Key_S)
    qtbot.waitUntil(lambda: table.rowCount() == 3, timeout=10_000)
    workspace.show_page("Overview")
    table.selectRow(0)
    with qtbot.waitSignal(workspace.run_finished, timeout=30_000):
        further_one.click()
    with Store.open(path) as store:
        again, further = store.runs()[2:]
    assert (again.spec.seed, again.spec.continues) == (2, 0)
    assert (further.spec.seed, further.spec.continues) == (3, 1)
    qtbot.waitUntil(lambda: table.rowCount() == 4, timeout=10_000)
    assert table.item(3, 1).text().endswith("continues 1")
    workspace.show_page("Overview")
    table.selectRow(1)
    compare.click()
    assert workspace.steps.currentRow() == NAMES.index(COMPARE)
    assert workspace.compare.runs._list.checked() == (2,)


def test_a_search_opens_the_examples(qtbot, opened, tmp_path):
    workspace = opened(make_audit(tmp_path, runs=0))
    with qtbot.waitSignal(workspace.run_finished, timeout=30_000):
        workspace.start_runs(FakeWorker(), (RUN,))
        assert workspace.steps.currentRow() == NAMES.index(EXAMPLES)
