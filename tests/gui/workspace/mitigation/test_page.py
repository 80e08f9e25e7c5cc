"""Repairs, as the auditor sees them: asked for, followed, picked from a curve, taken away."""

import threading
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QLabel, QPushButton
from shiboken6 import isValid

from fairdesk.audit.plan.inputs import MitigationInputs
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.digests import exported_files
from fairdesk.audit.store.records import RunState
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Searching
from fairdesk.errors import ReportError
from fairdesk.gui.kit.parts import Fold
from fairdesk.gui.workspace.common.run_page import COMPARE, EXAMPLES, NAMES, REPAIR, Sign
from fairdesk.gui.workspace.mitigation import export as repair_export
from fairdesk.gui.workspace.mitigation.export import ExportDialog
from fairdesk.gui.workspace.mitigation.form import RepairForm, offer_of, rules_of
from fairdesk.gui.workspace.mitigation.page import since
from fairdesk.gui.workspace.overview.page import next_step
from fairdesk.gui.workspace.shell.again_dialog import AgainDialog
from fairdesk.gui.workspace.shell.run_bar import RunBar
from fairdesk.models.model import Capability
from fairdesk.results.events import Measured, Progress
from fairdesk.results.mitigation import Augmented, Retrained
from fairdesk.wording import mitigation as mitigation_words
from tests import phrases
from tests.gui.auditing import FakeWorker, make_audit
from tests.gui.group_figures import FEMALE, OLD, WORST
from tests.gui.group_figures import FIGURES as GROUPS
from tests.report.building import run_into
from tests.report.repairs import (
    FIGURES,
    HARMFUL_FIGURES,
    HELPLESS_FIGURES,
    ROWS_ONLY_FIGURES,
    RULE_FIGURES,
)

PAIRS, RULES = RunSpec("repair-aequitas"), RunSpec("repair-testsgd")


def measure(path, figures=FIGURES, spec=PAIRS, state="done", message=""):
    """Write a repair; gives its number."""
    with Store.open(path) as store:
        run = store.begin_run(spec)
        store.add_progress(run, 92.0, Progress("saving", 1, 1, 180_000, 0, 180_000))
        store.measure(run, figures)
        store.end_run(run, state, message)
        return run


def shown(opened, path):
    workspace = opened(path)
    workspace.show_page(REPAIR)
    return workspace


@pytest.fixture
def page(opened, path):
    """The page of a repair that helped."""
    measure(path)
    return shown(opened, path).repair


@pytest.fixture
def spec(path):
    with Store.open(path) as store:
        return store.spec


def plain(text):
    return text.replace("\u00a0", " ")


def chart_of(page, run=2):
    return page.models.shown[f"models-{run}"]


def all_models(page, run=2):
    return page.models.shown[f"trials-{run}"]


def before_after(page, run=2):
    return page.model.shown[f"after-observed-{run}"]


def looked_at(page):
    """Return the number of the model that is shown beside the original one."""
    return page._at(page._told)


def standing(workspace, name=REPAIR):
    item = workspace.steps.item(NAMES.index(name))
    return plain(item.data(Qt.ItemDataRole.AccessibleTextRole))


def words_in(widget):
    return " ".join(plain(each.text()) for each in widget.findChildren(QLabel))


def asked_for(qtbot, page):
    """Wait until the form knows what there is to repair."""
    qtbot.waitUntil(lambda: page._wrong is not None and page.form.button.isVisible())
    qtbot.waitUntil(lambda: ":" in page.form.all.text(), timeout=10_000)


# -- what came of it --------------------------------------------------------------------------


def test_a_repair_that_is_reopened_is_told_again(opened, path):
    measure(path)
    workspace = shown(opened, path)
    page = workspace.repair
    said = mitigation_words.headline(workspace._session.spec, FIGURES)
    assert plain(said.brief) in words_in(page.said)
    assert "8 models measured" in page._standing.text()
    assert standing(workspace) == "Mitigation, 2.15 % → 1.01 %"
    # its own words: what it ended with, and what must be known beside
    assert FIGURES[0].notes[0] in words_in(page.model)
    for fold in page.model.findChildren(Fold):
        fold.set_open(opened=True)
    assert FIGURES[0].ended in words_in(page.model)
    # what came of it is read before another is asked for
    assert not page.fold.is_open


def test_what_harms_individuals_has_no_tick_at_the_left(opened, path):
    measure(path, HARMFUL_FIGURES)
    workspace = shown(opened, path)
    assert standing(workspace) == f"Mitigation, {phrases.NO_IMPROVEMENT_SHORTLY}"
    item = workspace.steps.item(NAMES.index(REPAIR))
    assert item.data(Qt.ItemDataRole.UserRole).mark == Sign.NONE.value
    assert phrases.NOT_AN_IMPROVEMENT in words_in(workspace.repair.said)


def test_of_several_repairs_the_newest_is_shown_and_another_can_be_chosen(opened, path):
    first = measure(path)
    measure(path, HELPLESS_FIGURES, state="stopped")
    page = shown(opened, path).repair
    assert phrases.NONE_CHOSEN in words_in(page.said)
    # where none was chosen, that which came nearest
    assert looked_at(page) == 2
    assert page.runs.isVisible()
    page.open_run(first)
    assert "−1.1 to 0.5)." in words_in(page.said)


def test_a_run_that_failed_says_why_and_keeps_what_it_measured(qtbot, opened, path):
    why = "Training ran away."
    measure(path, FIGURES[:3], state="failed", message=why)
    page = shown(opened, path).repair
    assert page._banner._more.text() == why
    qtbot.waitUntil(chart_of(page).isVisible)


def test_before_and_after_stand_beside_each_other_by_how_they_are_known(page):
    assert [*page.model.shown] == ["after-observed-2", "after-estimated-2"]
    before_after(page).copy()
    lines = QGuiApplication.clipboard().text().split("\n")
    assert plain(lines[0]).split("\t")[:4] == [
        *("Measure", "Original model", "Retrained baseline", "529 rows added")
    ]
    assert any(line.startswith("Accuracy\t84.6") for line in lines)


def test_rows_without_a_model_say_so_and_draw_no_curve(opened, path):
    measure(path, ROWS_ONLY_FIGURES)
    workspace = shown(opened, path)
    page = workspace.repair
    assert phrases.NOT_RETRAINED in words_in(page.said)
    assert page.models.shown == {}
    assert before_after(page).columnCount() == 2
    assert page.export.isEnabled()
    assert "augmentation rows" in page.export.text()
    assert standing(workspace) == "Mitigation, augmentation rows"


# -- picking a model --------------------------------------------------------------------------


def test_keys_in_chart_and_table_pick_the_same_model(qtbot, page):
    chart, table = chart_of(page), all_models(page)
    assert looked_at(page) == chart.chosen_key == table.currentRow() == 4
    chart.setFocus()
    qtbot.keyClick(chart, Qt.Key.Key_Down)
    assert looked_at(page) == table.currentRow() == 5
    assert "1,102 rows" in page._name.text()
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_Down)
    qtbot.keyClick(table, Qt.Key.Key_Down)
    assert looked_at(page) == chart.chosen_key == 7
    assert table.hasFocus()
    assert "Reweighing" in page._name.text()
    assert not page.export.isEnabled()
    assert "nothing to export" in page._aside.text()
    # of a model that could not be made there is nothing beside the original one
    qtbot.keyClick(table, Qt.Key.Key_Down)
    assert looked_at(page) == 4


def test_a_click_picks_a_model(qtbot, page):
    canvas = chart_of(page).canvas
    spot = next(spot for spot in canvas.laid.spots if spot.key == 3)
    at = QPoint(round(spot.x + spot.wide / 2), round(spot.y + spot.tall / 2))
    qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=at)
    assert looked_at(page) == 3


def test_another_run_shows_its_own_chosen_model(opened, path):
    measure(path)
    other = measure(path, RULE_FIGURES, RULES)
    page = shown(opened, path).repair
    assert looked_at(page) == 3
    page.models.picked.emit(f"trials-{other}", 1, 0)
    assert looked_at(page) == 1
    page.open_run(2)
    assert looked_at(page) == 4


# -- asking for it ----------------------------------------------------------------------------


@pytest.fixture
def form(qtbot, path):
    with Store.open(path) as store:
        run_into(store, "uniform", seed=5, options={"samples": 300})
        run = store.begin_run(RunSpec("testsgd"))
        store.measure(run, GROUPS)
        store.end_run(run, "done")
        spec, runs, offer = store.spec, store.runs(), offer_of(store, "")
    made = RepairForm(spec)
    made.show_offer(offer, rules_of(spec, runs))
    qtbot.addWidget(made)
    made.show()
    return made


def test_a_subgroup_is_offered_by_its_gap_first_which_is_never_cut(form):
    first = plain(form.rule.itemText(0))
    assert first.startswith("58.4 percentage points: ")
    assert first.endswith("“yes”")


def test_what_is_asked_for_is_what_is_chosen(form):
    assert form.run(3) == RunSpec("repair-aequitas", seed=3)
    form.labels["neighbours"].setChecked(True)
    form.much["most"].setValue(16)
    form.much["accuracy_loss"].setValue(0.5)
    form.form.fields["people"].setValue(5_000)
    run = form.run(3)
    assert run.options == {
        "labels": "neighbours",
        "most": 16.0,
        "accuracy_loss": 0.5,
        "people": 5_000,
    }
    form.boxes[1].setChecked(False)
    # whoever unticks one of them means some of them
    assert form.run().pairs_of == (2,)
    form.flagged.setChecked(True)
    assert form.run().flagged
    assert form.run().pairs_of == ()


def test_a_group_is_repaired_with_labels_that_the_rule_gives(form):
    form.group.setChecked(True)
    run = form.run(1)
    assert (run.method, run.rule, run.outcome) == ("repair-testsgd", (OLD, FEMALE), WORST.outcome)
    assert run.options == {}
    assert not form._sources.isVisible()
    assert form._opposite.isVisible()
    assert form.much["most"].value() == 10.0
    # variants of a rule set are about the same people
    assert form.rule.count() == 3
    assert "least" in form.form.fields


def test_every_way_to_label_is_explained(form):
    for key, button in form.labels.items():
        assert mitigation_words.labels_sentence(key) == button.accessibleDescription()
        assert button.accessibleDescription() in words_in(form._sources).replace("  ", " ")


def test_options_of_networks_are_asked_of_networks_only(qtbot, spec):
    for format_, there in (("Keras 3 network", True), ("scikit-learn pipeline", False)):
        model = msgspec.structs.replace(spec.model, format=format_)
        made = RepairForm(msgspec.structs.replace(spec, model=model))
        qtbot.addWidget(made)
        assert ("epochs" in made.form.fields) is there
        assert "compare" in made.form.fields


def test_tab_goes_through_the_form_as_it_is_read(form):
    form.fold.set_open(opened=True)
    wanted = [
        *(form.all, *form.boxes.values(), form.rule, form.labels["majority"]),
        *(*form.much.values(), form.fold.button, *form.form.fields.values()),
        *(form.form.reset, form.seed, form.button),
    ]
    met, widget = [], form.all
    while len(met) < 80 and (widget := widget.nextInFocusChain()) is not form.all:
        met.append(widget)
    places = [met.index(widget) for widget in wanted[1:]]
    assert places == sorted(places)


def test_without_flagged_pairs_the_examples_are_the_way_on(qtbot, form):
    form.flagged.setChecked(True)
    assert not form.button.isEnabled()
    assert "flag" in form.button.accessibleDescription()
    (button,) = [each for each in form.lacking.findChildren(QPushButton) if each.isVisible()]
    with qtbot.waitSignal(form.show_examples):
        button.click()


def test_a_model_that_cannot_be_retrained_is_told_before(qtbot, spec):
    for can, told in (((), True), ((Capability.RETRAINS,), False)):
        model = msgspec.structs.replace(spec.model, can=can)
        made = RepairForm(msgspec.structs.replace(spec, model=model))
        qtbot.addWidget(made)
        made.show()
        assert made.rows_only.isVisible() is told


def test_before_anything_is_found_the_page_says_what_will_be_here(qtbot, opened, tmp_path):
    workspace = shown(opened, make_audit(tmp_path, runs=0))
    page = workspace.repair
    asked_for(qtbot, page)
    assert page._empty.isVisible()
    assert page.fold.is_open
    assert not page.form.button.isEnabled()
    assert phrases.NO_PAIRS in page.form.button.accessibleDescription()
    with qtbot.waitSignal(page._session.wishes.run_again):
        page.form.lacking.findChildren(QPushButton)[0].click()
    assert standing(workspace) == "Mitigation, not run"


def test_labels_that_mean_nothing_are_told_before(qtbot, opened, path, spec):
    other = path.with_name("other.fairdesk")
    with Store.open(path) as store:
        table = store.table()
    card = msgspec.structs.replace(spec.model, classes=("a", "b", "c"))
    Store.create(other, msgspec.structs.replace(spec, model=card), table).close()
    page = shown(opened, other).repair
    asked_for(qtbot, page)
    assert not page.form.button.isEnabled()
    assert "mean the label “no”" in page.form.button.accessibleDescription()
    assert page.form.lacking.isVisible()


def test_no_two_things_on_the_page_share_a_key(qtbot, opened, path):
    measure(path)
    workspace = shown(opened, path)
    page = workspace.repair
    page.fold.set_open(opened=True)
    page.form.fold.set_open(opened=True)
    asked_for(qtbot, page)
    keys = [
        text[text.index("&") + 1].lower()
        for widget in (*page.findChildren(QAbstractButton), *page.findChildren(QLabel))
        if widget.isVisible()
        and "&" in (text := widget.text().replace("&&", ""))
        # of a menu's button, and what comes from a file
        and not isinstance(widget, QCheckBox)
    ]
    assert len(keys) == len(set(keys)), sorted(keys)
    # those of the menus, and of the run's bar
    assert not set(keys) & set("aevhprs")


# -- while it runs ----------------------------------------------------------------------------


class Repairer(FakeWorker):
    """Repairs nothing, and tells what a repair would."""

    def __init__(self, figures=FIGURES, hold=None):
        super().__init__(hold=hold)
        self._figures = figures
        self.asked = []

    def search(self, mapping, domain, inputs, run):
        if not isinstance(inputs, MitigationInputs):
            return super().search(mapping, domain, inputs, run)
        self.asked.append((run, inputs))
        return Searching(self._tell(len(domain.attributes)))

    def _tell(self, d):
        phase = "augmentation size 1 of 6: 0.8 %"
        yield Progress("splitting", 0, 1, 0, 0, 0)
        yield Augmented(phase, np.empty((0, d)), *(np.empty(0, dtype=np.int64),) * 3)
        yield Measured(phase, self._figures[:3])
        yield Progress(phase, 7, 30, 400, 0, 400)
        while self.hold is not None and not self.hold.wait(0.01) and not self._stopped.is_set():
            pass
        if self._stopped.is_set():
            return "stopped"
        yield Measured(phase, self._figures)
        yield Retrained("saving", 4, "model.joblib", "Checked.", np.zeros(3, dtype=np.int8))
        yield Progress("saving", 1, 1, 900, 0, 900)
        return "done"


def test_results_stream_in_and_the_end_is_told(qtbot, opened, path):
    hold = threading.Event()
    worker = Repairer(hold=hold)
    workspace = shown(opened, path)
    page = workspace.repair
    asked_for(qtbot, page)
    workspace.runner.use(worker)
    page.form.button.click()
    # the form makes room for what comes
    qtbot.waitUntil(lambda: not page.fold.is_open, timeout=10_000)
    assert workspace.steps.currentRow() == NAMES.index(REPAIR)
    qtbot.waitUntil(lambda: page.models.shown != {} and len(chart_of(page).drawing.bars) == 2)
    qtbot.waitUntil(lambda: "augmentation size 1 of 6" in workspace.bar._standing.text())
    assert "2 models measured" in standing(workspace)
    # another one would wait for it
    assert page.form.button.text().replace("&", "") == "Add to queue"
    assert not page.export.isEnabled()
    assert phrases.NOTHING_HELPS in words_in(page.said)
    assert workspace.bar._stop.isVisible()
    assert not workspace.bar.figures["tried"].isVisible()
    hold.set()
    with qtbot.waitSignal(workspace.run_finished, timeout=10_000):
        pass
    qtbot.waitUntil(page.export.isEnabled, timeout=10_000)
    # the record is read from the file after the last state came
    qtbot.waitUntil(lambda: page.form.button.text().replace("&", "") == "Start mitigation")
    qtbot.waitUntil(lambda: workspace.bar._again.text() == "&Run mitigation again…")
    assert len(chart_of(page).drawing.bars) == 8
    (run, inputs) = worker.asked[0]
    assert run == RunSpec("repair-aequitas")
    assert len(inputs.pairs) > 0


def test_a_stop_keeps_what_was_measured(qtbot, opened, path):
    worker = Repairer(hold=threading.Event())
    workspace = shown(opened, path)
    page = workspace.repair
    workspace.start_runs(worker, (PAIRS,))
    qtbot.waitUntil(lambda: page.models.shown != {}, timeout=10_000)
    workspace.bar._stop.click()
    with qtbot.waitSignal(workspace.run_finished, timeout=10_000):
        pass
    qtbot.waitUntil(page.form.button.isEnabled, timeout=10_000)
    assert len(chart_of(page).drawing.bars) == 2
    with Store.open(path) as store:
        assert store.runs()[-1].state == "stopped"


def test_a_repair_after_the_search_of_a_new_audit(qtbot, opened, tmp_path):
    workspace = opened(make_audit(tmp_path, runs=0))
    worker = Repairer()
    search = RunSpec("uniform", {"samples": 300})
    told = []
    workspace._session.live_changed.connect(lambda _run: told.append(standing(workspace, COMPARE)))
    with qtbot.waitSignal(workspace.run_finished, timeout=20_000):
        workspace.start_runs(worker, (search, PAIRS))
        # what comes first is shown, and no comparison of unlike runs
        assert workspace.steps.currentRow() == NAMES.index(EXAMPLES)
    qtbot.waitUntil(lambda: len(workspace._session.runs) == 2, timeout=10_000)
    assert [run.spec.method for run in workspace._session.runs] == ["uniform", "repair-aequitas"]
    assert standing(workspace) == "Mitigation, 2.15 % → 1.01 %"
    assert not any("run 2 of 2" in each for each in told)
    assert len(worker.asked[0][1].pairs) > 0


def test_a_mitigation_waits_for_the_first_pairs(qtbot, opened, tmp_path):
    workspace = opened(make_audit(tmp_path, runs=0))
    workspace.show_page(REPAIR)
    page = workspace.repair
    asked_for(qtbot, page)
    assert not page.form.button.isEnabled()
    assert not page.form.group.isEnabled()
    hold, search = threading.Event(), RunSpec("uniform", {"samples": 300})
    workspace.start_runs(Repairer(hold=hold), (search, RunSpec("testsgd")))
    workspace.show_page(REPAIR)
    assert page.form.button.isEnabled()
    assert page.form.group.isEnabled()
    page.form.button.click()
    assert [each.spec.method for each in workspace.queue.waiting] == ["testsgd", "repair-aequitas"]
    page.form.group.setChecked(True)
    assert page.form.button.isEnabled()
    workspace.runner.drop(workspace.queue.waiting[0].number)
    # nothing that may find a subgroup is left
    assert not page.form.button.isEnabled()
    with qtbot.waitSignal(workspace.run_finished, timeout=30_000):
        hold.set()
    with Store.open(workspace.path) as store:
        assert [(run.method, run.state) for run in store.runs()] == [
            ("uniform", "done"),
            ("repair-aequitas", "done"),
        ]


def test_a_repair_that_cannot_begin_says_why(qtbot, opened, tmp_path):
    workspace = opened(make_audit(tmp_path, runs=0))
    with qtbot.waitSignal(workspace.run_finished, timeout=10_000):
        workspace.start_runs(Repairer(), (PAIRS,))
    assert phrases.NO_PAIRS in workspace._banner._more.text()


def test_another_run_after_a_repair_is_asked_for_where_it_belongs(qtbot, opened, path):
    measure(path)
    workspace = opened(path)
    workspace.bar._again.click()
    assert workspace.steps.currentRow() == NAMES.index(REPAIR)
    assert workspace.repair.fold.is_open
    # the menu’s search is none of a repair’s
    workspace.requests.run_again()
    dialog = workspace.findChild(AgainDialog)
    assert dialog.run().method == "uniform"
    dialog.reject()


def test_the_list_of_runs_tells_of_a_repair_and_the_bar_that_it_is_over(qtbot, opened, path):
    number = measure(path)
    workspace = opened(path)
    # below every page a result would be read as that page's
    assert workspace.bar._method.text().startswith("Mitigation")
    # of a run that was made before there is no bar at all
    assert not workspace.bar.isVisible()
    figures = (
        workspace.bar.figures["pairs"],
        workspace.bar.figures["share"],
        workspace.bar.figures["tried"],
        workspace.bar.figures["queries"],
    )
    assert all(each.isHidden() for each in figures)
    table = workspace.overview._runs
    texts = [table.item(1, place).text() for place in range(table.columnCount())]
    assert "decision changes 2.15 % → 1.01 %" in map(plain, texts)
    table.opened.emit(number - 1)
    assert workspace.steps.currentRow() == NAMES.index(REPAIR)


def test_the_table_of_runs_has_room_for_the_numbers_of_a_repair(qtbot, opened, path):
    number = measure(path)
    with Store.open(path) as store:
        store.add_progress(number, 3725.0, Progress("portion", 4, 4, 5_290_315, 0, 5_290_315))
        store.end_run(number, "stopped")
    workspace = opened(path)
    workspace.resize(1200, 800)
    runs = workspace.overview._runs
    qtbot.waitUntil(lambda: 900 < runs.width() < 1000)
    wide = runs.fontMetrics().horizontalAdvance
    cells = [(row, at) for row in range(runs.rowCount()) for at in range(runs.columnCount())]
    qtbot.waitUntil(
        lambda: all(
            runs.columnWidth(at) >= wide(runs.item(row, at).text()) + 14 for row, at in cells
        )
    )


def test_the_bar_tells_how_many_models_before_one_is_chosen(qtbot):
    bar = RunBar()
    qtbot.addWidget(bar)
    state = RunState(1, "repair-aequitas", "running", "imported", figures=FIGURES[:2])
    bar.show_live(state, PAIRS)
    assert bar.figures["share"]._below.text() == "1 model measured"
    assert bar.figures["share"]._number.text() == "–"


def test_the_overview_leads_to_it_once_all_else_is_known(opened, path):
    with Store.open(path) as store:
        (search,) = store.runs()
    assert next_step(search, search, "applicants", mitigated=False).page == REPAIR
    assert next_step(search, search, "applicants", mitigated=True).page == EXAMPLES
    nothing = msgspec.structs.replace(search, found=0)
    assert next_step(nothing, nothing, "applicants", mitigated=False).page == ""
    workspace = opened(path)
    workspace._session.wishes.show_page.emit(REPAIR)
    assert workspace.repair.isVisible()


# -- out of date ------------------------------------------------------------------------------


def test_pairs_that_were_found_since_make_it_out_of_date(opened, path):
    measure(path)
    with Store.open(path) as store:
        run_into(store, "uniform", seed=9, options={"samples": 300})
    workspace = shown(opened, path)
    assert standing(workspace) == "Mitigation, out of date"
    assert workspace.repair._old.isVisible()
    assert "found since then, in run 3" in words_in(workspace.repair._old)


def test_a_mark_since_makes_it_out_of_date(qtbot, opened, path):
    measure(path, spec=msgspec.structs.replace(PAIRS, flagged=True))
    workspace = shown(opened, path)
    assert standing(workspace) == "Mitigation, 2.15 % → 1.01 %"
    qtbot.wait(1_100)  # the log counts seconds
    with Store.open(path) as store:
        pair = store.pair(1)
    workspace._session.write_mark(pair, "flagged")
    qtbot.waitUntil(lambda: standing(workspace) == "Mitigation, out of date", timeout=10_000)
    assert "flagged or dismissed" in words_in(workspace.repair._old)


def test_only_what_it_would_have_taken_makes_it_out_of_date(path):
    with Store.open(path) as store:
        (search,) = store.runs()
    later = msgspec.structs.replace(search, id=5)
    repair = msgspec.structs.replace(search, id=2, spec=PAIRS)
    assert since(repair, (search, repair, later))
    assert not since(repair, (search, repair))
    chosen = msgspec.structs.replace(PAIRS, pairs_of=(1,))
    assert not since(msgspec.structs.replace(repair, spec=chosen), (search, repair, later))
    groups = msgspec.structs.replace(later, spec=RunSpec("testsgd"), figures=GROUPS)
    ruled = msgspec.structs.replace(repair, spec=RULES)
    assert "searched for subgroups since then" in since(ruled, (ruled, groups))
    assert not since(ruled, (ruled, later))


# -- taking it away ---------------------------------------------------------------------------


@pytest.fixture
def dialog(qtbot, page):
    page.export.click()
    made = page.findChild(ExportDialog)
    yield made
    if isValid(made):
        made.reject()


def test_what_is_written_is_said_before_and_shown_after(qtbot, page, dialog, tmp_path, monkeypatch):
    calls = []

    def write(store, worker, run, trial, folder, *, provenance):
        calls.append((run, trial, folder, provenance))
        folder.mkdir()
        (folder / "augmented.csv").write_text("age\n")
        return {"augmented.csv": folder / "augmented.csv"}

    monkeypatch.setattr(repair_export, "write_repair", write)
    folder = tmp_path / "out"
    assert "529 augmentation rows" in words_in(dialog)
    dialog.folder.setText(str(folder))
    dialog.origins["columns"].click()
    dialog.start.click()
    assert not dialog.start.isEnabled()
    qtbot.waitUntil(page._saved.isVisible, timeout=20_000)
    assert not dialog.isVisible()
    assert calls == [(2, 4, folder, "columns")]
    with Store.open(page._session.path) as store:
        (file,) = exported_files(store.log_entries())
    assert (file.name, file.path) == ("augmented.csv", str(folder / "augmented.csv"))
    assert "augmented.csv" in words_in(page._saved)
    assert str(folder) in words_in(page._saved)
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    page._saved.findChildren(QPushButton)[0].click()
    assert Path(opened[0].toLocalFile()) == folder


def test_models_are_told_with_how_they_were_checked(qtbot, opened, path):
    number = measure(path)
    with Store.open(path) as store:
        for name, told, size in (("model.joblib", "Same answers.", 3), ("model.onnx", "None.", 0)):
            content = np.zeros(size, dtype=np.int8)
            store.keep_model(number, Retrained("saving", 4, name, told, content))
    page = shown(opened, path).repair
    page.export.click()
    dialog = page.findChild(ExportDialog)
    qtbot.waitUntil(lambda: "Same answers." in dialog.models.text(), timeout=10_000)
    assert "no model.onnx: None." in dialog.models.text()
    dialog.reject()


def test_an_earlier_export_is_told_of(dialog, tmp_path):
    dialog.folder.setText(str(tmp_path))
    assert not dialog.earlier.isVisible()
    (tmp_path / "augmented.csv").touch()
    dialog.folder.setText(str(tmp_path) + "/")
    assert dialog.earlier.isVisible()
    dialog.folder.setText("")
    assert not dialog.start.isEnabled()


def test_what_could_not_be_written_is_told_and_can_be_tried_again(qtbot, dialog, monkeypatch):
    def write(*_args, **_more):
        raise ReportError("There is no room.", remedy="Choose another folder.")

    monkeypatch.setattr(repair_export, "write_repair", write)
    dialog.start.click()
    qtbot.waitUntil(dialog.banner.isVisible, timeout=20_000)
    assert "There is no room." in words_in(dialog.banner)
    assert dialog.start.isEnabled()
    assert dialog.ask_.isEnabled()
