import threading
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.runs.comparison import Comparison, Overlap
from fairdesk.audit.store.store import Store
from fairdesk.gui.workspace.common.page_names import COMPARE, EXAMPLES, NAMES
from fairdesk.gui.workspace.compare.compare_dialog import CompareDialog
from fairdesk.gui.workspace.compare.comparing import (
    budget_text,
    cautions,
    cells,
    curves_of,
    lessons,
    phase_cells,
)
from fairdesk.gui.workspace.queue import runner
from fairdesk.gui.workspace.shell.workspace import Workspace
from fairdesk.models.model import Capability
from fairdesk.results.individual import SearchPhase
from tests import phrases
from tests.gui.auditing import FakeWorker, make_audit

RUN = RunSpec("uniform", {"samples": 600}, seed=5)


@pytest.fixture
def opened(qtbot):
    made = []

    def make(path):
        workspace = Workspace(Store.open(path))
        made.append(workspace)
        qtbot.addWidget(workspace)
        workspace.resize(1280, 800)
        workspace.show()
        qtbot.waitUntil(lambda: workspace._session.loaded, timeout=10_000)
        return workspace

    yield make
    for each in made:
        each.close_audit()


@pytest.fixture
def comparing(qtbot, opened, tmp_path):
    """A workspace with three runs, two of them compared."""
    workspace = opened(make_audit(tmp_path, runs=3))
    workspace.show_page(COMPARE)
    qtbot.waitUntil(lambda: workspace.compare.runs._compared is not None, timeout=30_000)
    return workspace


@pytest.fixture
def records(tmp_path):
    with Store.open(make_audit(tmp_path, runs=3)) as store:
        return store.runs()


@pytest.fixture
def comparison(records):
    first, second, third = records
    return Comparison(
        runs=(first, second, third),
        union=1_800,
        overlaps=(Overlap((2,), 1_204), Overlap((1, 2, 3), 310), Overlap((1,), 286)),
        sizes=(100, 60, 40),
        coverage=((5, 0, 1), (0, 0, 9), (1, 1, 1)),
    )


def standing(workspace, name):
    return workspace.steps.item(NAMES.index(name)).data(Qt.ItemDataRole.AccessibleTextRole)


def test_the_newest_runs_are_compared_at_first(comparing):
    view = comparing.compare.runs
    assert view._list.checked() == (2, 3)
    assert "that no other of these runs found" in view._lesson.text()
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
    view._list.setCurrentCell(0, 0)
    qtbot.keyClick(view._list, Qt.Key.Key_Space)
    assert view._list.checked() == (1, 2, 3)
    qtbot.waitUntil(lambda: len(view._compared.runs) == 3, timeout=30_000)
    for _ in range(2):
        qtbot.keyClick(view._list, Qt.Key.Key_Down)
        qtbot.keyClick(view._list, Qt.Key.Key_Space)
    assert view._list.checked() == (1,)
    assert "at least two runs" in view._lesson.text()
    assert view._after.isHidden()


def test_the_chart_turns_from_rows_to_seconds(comparing):
    view = comparing.compare.runs
    assert "queries" in view.chart.drawing.x_title
    view._by_time.click()
    assert view.chart.drawing.x_title == "seconds"


def test_with_one_run_there_is_nothing_to_compare(qtbot, opened, tmp_path):
    workspace = opened(make_audit(tmp_path))
    workspace.show_page(COMPARE)
    (button,) = (
        each
        for each in workspace.compare.runs.findChildren(QPushButton)
        if each.isVisibleTo(workspace)
    )
    with qtbot.waitSignal(workspace.compare.compare_methods):
        button.click()
    dialog = workspace.findChild(CompareDialog)
    assert dialog is not None
    dialog.close()


def test_the_lesson_names_the_run_that_found_most_alone(comparison):
    first, *more = lessons(comparison, "instances")
    assert first.startswith("Random sampling (run 2) found 1,204 instances that no other")
    assert "1,800 different instances" in more[0]
    assert "310 were found by all of them" in more[1]
    nobody = Comparison(comparison.runs, 0, (), (10,), ((0,), (0,), (0,)))
    assert lessons(nobody, "instances") == ["None of these runs found a discriminatory pair."]


def test_unfair_comparisons_are_said(records):
    assert cautions(records) == ""
    shorter = RunSpec("uniform", budget=Budget(seconds=5.0))
    first, second, third = records
    first = msgspec.structs.replace(first, spec=shorter)
    second = msgspec.structs.replace(second, state="stopped")
    third = msgspec.structs.replace(third, spec=RunSpec("uniform", continues=2))
    told = cautions((first, second, third))
    assert "different budgets" in told
    assert f"Completed before the {phrases.BUDGET_USED_UP}: Random sampling (run 1)." in told
    assert "Not completed: Random sampling (run 2)" in told
    assert "Pairs that an earlier run had found are excluded: Random sampling (run 3)" in told


def test_the_table_tells_price_and_reach(comparison):
    rows = cells(comparison)
    assert [row[2] for row in rows] == ["286", "1,204", "0"]
    assert [row[6] for row in rows] == ["2 of 3", "1 of 3", "3 of 3"]
    run = comparison.runs[0]
    assert rows[0][4] == f"{run.queries / run.found:,.1f}"


def test_phases_are_listed_per_run(comparison):
    assert phase_cells(comparison) == []
    figures = SearchPhase("seeds", 26, 1, 9, 81), SearchPhase("directed", 974, 480, 14, 81)
    first, *others = comparison.runs
    first = msgspec.structs.replace(first, figures=figures)
    rows = phase_cells(replace(comparison, runs=(first, *others)))
    assert [row[1:] for row in rows] == [
        ("Starting instances", "26", "1", "3.8\u00a0%", "9"),
        ("Directed search", "974", "480", "49.3\u00a0%", "14"),
    ]


def test_a_curve_begins_at_nothing():
    curve = np.array([[1.0, 10, 4, 30], [2.0, 20, 9, 60]])
    drawing = curves_of((("a", curve), ("b", np.empty((0, 4)))), by_time=False)
    (line,) = drawing.lines
    assert line.x.tolist() == [0, 30, 60]
    assert line.y.tolist() == [0, 4, 9]


def test_a_budget_is_written_short():
    assert budget_text(Budget()) == "none"
    assert budget_text(Budget(seconds=60.0, queries=5_000)).endswith("or 5,000 queries")


def test_methods_that_are_off_say_why(qtbot, tmp_path):
    with Store.open(make_audit(tmp_path)) as store:
        spec = store.spec
    blind = msgspec.structs.replace(
        spec, model=msgspec.structs.replace(spec.model, can=(Capability.DECIDES,))
    )
    dialog = CompareDialog(blind, 4)
    qtbot.addWidget(dialog)
    offered = {key for key, method in METHODS.items() if method.answers is QuestionKind.EXAMPLES}
    assert set(dialog._boxes) <= offered
    needing = {key for key in offered if not set(METHODS[key].needs) <= {Capability.DECIDES}}
    assert not needing & set(dialog._boxes)
    for box in dialog._boxes.values():
        box.setChecked(False)
    assert not dialog._start.isEnabled()
    dialog._boxes["uniform"].setChecked(True)
    assert dialog._start.isEnabled()
    dialog._by_rows.setChecked(True)
    dialog._rows.setValue(7_000)
    assert dialog.runs() == (RunSpec("uniform", seed=4, budget=Budget(queries=7_000)),)


def test_runs_follow_one_another_and_are_compared(qtbot, opened, tmp_path):
    path = make_audit(tmp_path, runs=0)
    workspace = opened(path)
    hold = threading.Event()
    runs = [msgspec.structs.replace(RUN, seed=seed) for seed in range(3)]
    with qtbot.waitSignal(workspace.run_finished, timeout=30_000):
        workspace.start_runs(FakeWorker(hold=hold), runs)
        assert workspace.steps.currentRow() == NAMES.index(COMPARE)
        qtbot.waitUntil(lambda: "run 1 of 3" in standing(workspace, COMPARE), timeout=10_000)
        assert "Run 1 of 3" in workspace.compare.runs._queue.text()
        hold.set()
    with Store.open(path) as store:
        assert [run.spec.seed for run in store.runs()] == [0, 1, 2]
        assert {run.state for run in store.runs()} == {"done"}
    view = workspace.compare.runs
    assert view._queue.isHidden()
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
    assert not workspace.overview._repeat.isEnabled()
    table.setFocus()
    table.selectRow(0)
    assert workspace.overview._repeat.isEnabled()
    with qtbot.waitSignal(workspace.run_finished, timeout=30_000):
        qtbot.keyClick(table, Qt.Key.Key_S)
    qtbot.waitUntil(lambda: table.rowCount() == 3, timeout=10_000)
    workspace.show_page("Overview")
    table.selectRow(0)
    with qtbot.waitSignal(workspace.run_finished, timeout=30_000):
        workspace.overview._continue.click()
    with Store.open(path) as store:
        again, further = store.runs()[2:]
    assert (again.spec.seed, again.spec.continues) == (2, 0)
    assert (further.spec.seed, further.spec.continues) == (3, 1)
    qtbot.waitUntil(lambda: table.rowCount() == 4, timeout=10_000)
    assert table.item(3, 1).text().endswith("continues 1")
    workspace.show_page("Overview")
    table.selectRow(1)
    workspace.overview._compare.click()
    assert workspace.steps.currentRow() == NAMES.index(COMPARE)
    assert workspace.compare.runs._list.checked() == (2,)


def test_a_search_opens_the_examples(qtbot, opened, tmp_path):
    workspace = opened(make_audit(tmp_path, runs=0))
    with qtbot.waitSignal(workspace.run_finished, timeout=30_000):
        workspace.start_runs(FakeWorker(), (RUN,))
        assert workspace.steps.currentRow() == NAMES.index(EXAMPLES)
