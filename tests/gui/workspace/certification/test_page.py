"""What is proven, as the auditor sees it: bars, marks, regions, examples inside, going on."""

import threading

import msgspec
import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton

from fairdesk.answers import PairsOf, Question
from fairdesk.app.standard import timed_run
from fairdesk.audit.catalogue.method import Method, QuestionKind
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.store.records import RunState
from fairdesk.audit.store.store import Store
from fairdesk.gui.forms.method_picker import MethodPicker
from fairdesk.gui.kit.parts import Fold
from fairdesk.gui.workspace.common.blocks_view import StatementView
from fairdesk.gui.workspace.common.run_page import EXAMPLES, NAMES, OVERVIEW, PROOF, with_examples
from fairdesk.gui.workspace.evidence import off
from fairdesk.gui.workspace.overview.cards import RunsTable
from fairdesk.gui.workspace.overview.page import PROVE, next_step
from fairdesk.gui.workspace.shell.again_dialog import AgainDialog
from fairdesk.gui.workspace.shell.run_bar import RunBar
from fairdesk.results.events import Measured, Progress
from fairdesk.results.individual import Share
from fairdesk.results.proofs import (
    Condition,
    Estimated,
    GroupRate,
    NeighbourhoodCounts,
    PairShare,
    Proven,
    ProvenRates,
    Region,
)
from fairdesk.wording import words
from tests import phrases
from tests.answers.test_rates import RATES, TABLE
from tests.gui.auditing import FakeWorker, said_of

BOTH = ("age", "sex")
DOMAIN = Proven(
    *("domain", BOTH, 0.8988, 0.069, 0.0322, "1000000000000", "898800000000", "69000000000"),
    boxes=48_213,
    seconds=60.0,
    margin=3.1e-6,
    estimated=Estimated(5_000, 2_050, 0.3963, 0.4238, 0.95, 0.41),
    course=((1.0, 0.2, 0.01), (20.0, 0.7, 0.05), (60.0, 0.8988, 0.069)),
    notes=("Fixed attributes have the combinations of values that occur in the data.",),
)
DATA = Share("data", BOTH, 200, 9, True, 0.95, 0.045, 0.045, 0.045, 0.045, 0.045)
SEX = Proven("domain", ("sex",), 0.95, 0.02, 0.03, "1000", "950", "20")
EXACT = Proven("domain", BOTH, 0.975, 0.025, 0.0, "200", "195", "5", exact=True, boxes=3)
SAMPLED = Share("domain", BOTH, 40_000, 1_520, False, 0.95, 0.038, 0.0361, 0.0399, 0.035, 0.0412)
CLERKS = (Condition("job", (0.0,)),)
POOR = (Condition("job", (0.0,)), Condition("income", (), None, 40.0))
DISCRIMINATORY = Region("discriminatory", POOR, 0.05, "50000000000", 0.07)
SMALLER = Region("discriminatory", (Condition("debts", (), 3.0, 3.0),), 0.019, "9000000000", 0.09)
CONSISTENT = Region("consistent", (Condition("debts", (), 5.0, None),), 0.4, "400000000000", 0.3)
WIDE = PairShare(BOTH, (21.0, 0.0), (75.0, 1.0), 0.06, 0.9)
NARROW = PairShare(BOTH, (21.0, 0.0), (21.0, 1.0), 0.02, 0.98, exact=True)
ALL = (DOMAIN, DATA, SEX, DISCRIMINATORY, SMALLER, CONSISTENT, NARROW, WIDE)


class Options(msgspec.Struct, frozen=True):
    seconds: float = 60.0
    boxes: int = 256


@pytest.fixture(autouse=True)
def provers(monkeypatch):
    """A method that proves, whichever there are."""
    made = Method(
        "certify",
        title="Certify",
        options=Options,
        answers=QuestionKind.PROOF,
        finishes=True,
    )
    monkeypatch.setitem(METHODS, "certify", made)


def measure(path, figures=ALL, state="done", **asked):
    """Write a run that proved; gives its number."""
    with Store.open(path) as store:
        spec = RunSpec("certify", {"seconds": 60.0}, budget=Budget(seconds=60.0), **asked)
        run = store.begin_run(spec)
        store.add_progress(run, 60.0, Progress("certify", 4, 4, 48_213, 0, 900))
        store.measure(run, figures)
        store.end_run(run, state)
        return run


@pytest.fixture
def proof(opened, path):
    """The page of a run that proved a lot."""
    measure(path)
    workspace = opened(path)
    workspace.show_page(PROOF)
    return workspace.proof


def test_what_is_certified_around_the_data_rows_has_a_panel_of_its_own(opened, path):
    measure(path)
    with Store.open(path) as store:
        run = store.begin_run(RunSpec("neighbourhoods", {"seconds": 60.0}))
        store.measure(run, (NeighbourhoodCounts(BOTH, 200, 150, 40, 10, 1, 0.1),))
        store.end_run(run, "done")
    workspace = opened(path)
    workspace.show_page(PROOF)
    page = workspace.proof
    # above what is certified of the whole domain, without what it rests on
    assert list(page.view.shown) == [f"bars-{run}", f"bars-{run - 1}"]
    assert "150 provably keep that" in cards(page)[0]
    page.open_run(run)
    assert list(page.view.shown) == [f"bars-{run}"]
    assert len(cards(page)) == 1


@pytest.fixture
def spec(path):
    with Store.open(path) as store:
        return store.spec


def plain(text):
    return text.replace("\u00a0", " ")


def cards(page):
    """Return what stands in the cards of a page, each with what it rests on."""
    shown = (each.widget for each in page.view._parts)
    return [plain(each.accessibleName()) for each in shown if isinstance(each, StatementView)]


def folds(page):
    return page.view.findChildren(Fold)


def standing(workspace):
    item = workspace.steps.item(NAMES.index(PROOF))
    return plain(item.data(Qt.ItemDataRole.AccessibleTextRole))


# -- the charts ------------------------------------------------------------------------------


def test_bars_are_read_by_keys_and_as_a_table(qtbot, proof):
    bars = proof.view.shown[f"bars-{proof.runs.shown}"]
    proof.window().activateWindow()
    bars.setFocus()
    qtbot.waitUntil(bars.hasFocus, timeout=10_000)
    for _ in range(3):
        qtbot.keyClick(bars, Qt.Key.Key_Right)
    assert "undecided" in bars._reading.text()
    qtbot.keyClick(bars, Qt.Key.Key_T)
    rows = bars.drawing.table()[1]
    assert bars._table.model().rowCount() == len(rows) == 4
    assert [plain(row[4]) for row in rows] == [
        *("proven", "proven", "not known", "estimated, 95 %"),
    ]


def test_a_falsified_share_opens_the_pairs_of_its_run(qtbot, opened, path):
    proof = opened(path).proof
    proof.window().show_page(PROOF)
    with Store.open(path) as store:
        (record,) = store.runs()
    assert record.found
    proof._take(msgspec.structs.replace(record, figures=ALL, spec=RunSpec("certify")))
    bars, seen = proof.view.shown[f"bars-{record.id}"], []
    proof._session.wishes.show_part.connect(seen.append)
    for spot in bars.canvas.laid.spots:
        seen.clear()
        middle = QPoint(int(spot.x + spot.wide / 2), int(spot.y + spot.tall / 2))
        qtbot.mouseClick(bars.canvas, Qt.MouseButton.LeftButton, pos=middle)
        assert seen == ([PairsOf(record.id)] if "falsified" in spot.tip else []), spot.tip
    # by keyboard too, and said on the page
    assert proof._hint.isVisibleTo(proof)
    seen.clear()
    bars.choose(None)
    for _ in range(2):
        qtbot.keyClick(bars, Qt.Key.Key_Right)
    assert seen == []
    qtbot.keyClick(bars, Qt.Key.Key_Return)
    assert seen == [PairsOf(record.id)]


# -- the page ---------------------------------------------------------------------------------


def test_a_bar_of_one_attribute_opens_the_pairs_of_that_attribute(qtbot, opened, path):
    workspace = opened(path)
    proof, (record,) = workspace.proof, workspace._session.runs
    alone = [msgspec.structs.replace(DOMAIN, attributes=(name,)) for name in BOTH]
    # only in pairs of one of them is that one enough
    found = msgspec.structs.replace(record, sufficient_alone=(0, 7))
    workspace._session.runs = (found,)
    workspace.show_page(PROOF)
    proof._take(msgspec.structs.replace(found, figures=(DOMAIN, *alone), spec=RunSpec("certify")))
    (fold,) = (each for each in folds(proof) if each.button.text() == phrases.EACH_ALONE)
    fold.set_open(opened=True)
    bars = proof.view.shown[f"alone-{found.id}"]
    bars.opened.emit(0)
    bars.opened.emit(3)
    assert workspace._pages.currentWidget() is proof
    bars.opened.emit(8)
    assert workspace._pages.currentWidget() is workspace.examples
    assert workspace.examples.pairs.filters.wanted.alone == BOTH[1]
    workspace._session.runs = (record,)


def test_before_a_proof_the_page_offers_one(qtbot, opened, path):
    workspace = opened(path)
    workspace.show_page(PROOF)
    assert "not run" in standing(workspace)
    (button,) = (
        each for each in workspace.proof.findChildren(QPushButton) if each.isVisibleTo(workspace)
    )
    with qtbot.waitSignal(workspace._session.wishes.prove):
        button.click()


def test_where_nothing_can_be_proven_it_says_why(monkeypatch, opened, path, spec):
    for key, method in METHODS.items():
        if method.answers is QuestionKind.PROOF:
            asks = Method(
                key,
                title=method.title,
                options=Options,
                answers=QuestionKind.PROOF,
                obstacle=lambda _domain: "nobody can be counted",
            )
            monkeypatch.setitem(METHODS, key, asks)
    assert "“Certify” is not available: nobody can be counted." in off(spec)
    workspace = opened(path)
    workspace.show_page(PROOF)
    assert "not available" in standing(workspace)
    assert "nobody can be counted" in said_of(workspace, Question.CERTAIN)
    shown = [each for each in workspace.proof.findChildren(QPushButton) if each.isVisible()]
    assert [each.isEnabled() for each in shown] == [False]


def test_what_is_proven_and_what_is_estimated_are_said_apart(qtbot, proof):
    proven, estimated = cards(proof)
    assert proven.startswith("■ Proven: ")
    assert "89.88 %" in proven
    assert "estimated" not in proven
    assert estimated.startswith("▨ Estimated: ")
    assert "41.0 %" in estimated
    # what it spent is in the table of runs
    assert plain(proof._standing.text()).endswith("Certify, done: 1 min.")
    # the rest is folded, and made where it is wanted
    assert list(proof.view.shown) == [f"bars-{proof.runs.shown}"]
    names = [each.button.text() for each in folds(proof)]
    assert names == [
        *(phrases.EACH_ALONE, phrases.PAIRS_OF_VALUES, phrases.LARGEST_REGIONS),
        *(phrases.HOW_CERTIFIED, "What the certification covers"),
    ]
    for each in folds(proof):
        qtbot.keyClick(each.button, Qt.Key.Key_Space)
    kinds = {key.partition("-")[0] for key in proof.view.shown}
    assert kinds == {"bars", "alone", "values", "discriminatory", "consistent", "course"}


def test_nothing_proven_yet_has_no_mark_of_a_proof(opened, path):
    measure(path, (Proven("domain", BOTH, 0.0, 0.0, 1.0, "1000", "0", "0"),), "stopped")
    workspace = opened(path)
    workspace.show_page(PROOF)
    assert not cards(workspace.proof)
    said = [each.text() for each in workspace.proof.view.findChildren(QLabel)]
    assert any(each.startswith(phrases.NOTHING_PROVEN) for each in said)


def test_a_model_that_cannot_be_looked_into_is_not_certified(opened, path):
    measure(path, (SAMPLED, DATA))
    workspace = opened(path)
    workspace.show_page(PROOF)
    (estimated,) = cards(workspace.proof)
    assert estimated.startswith("▨ Estimated")
    assert phrases.NOT_CERTIFIED in estimated
    assert "not certified" in standing(workspace)
    assert not workspace.proof.more.isVisible()


def test_an_exact_proof_leaves_nothing_to_go_on_with(opened, path):
    measure(path, (EXACT,))
    workspace = opened(path)
    workspace.show_page(PROOF)
    assert len(cards(workspace.proof)) == 1
    assert not workspace.proof.more.isVisible()
    assert standing(workspace).endswith("done")


def test_regions_are_sorted_and_copied(proof):
    (fold,) = (each for each in folds(proof) if each.button.text() == phrases.LARGEST_REGIONS)
    fold.set_open(opened=True)
    table = proof.view.shown[f"discriminatory-{proof.runs.shown}"]
    # the one with the larger share of the population first
    assert table.item(1, 0).text() == "“job” = clerk and “income” ≤ 40"
    table.sortItems(1, Qt.SortOrder.DescendingOrder)
    assert plain(table.item(0, 1).text()) == "5.00 %"
    table.clearSelection()
    table.copy()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].split("\t") == list(table._header)
    assert len(lines) == 3
    # a row has no pairs
    table.cellActivated.emit(0, 0)
    assert proof.isVisible()


# -- runs -------------------------------------------------------------------------------------


def test_figures_grow_while_a_run_goes_on(qtbot, opened, path):
    workspace = opened(path)
    workspace.show_page(PROOF)
    proof = workspace.proof
    state = RunState(2, "certify", "running")
    proof.runs.follow(state)
    assert not cards(proof)
    proof.runs.follow(msgspec.structs.replace(state, figures=(DOMAIN,)))
    qtbot.waitUntil(lambda: "89.88" in "".join(cards(proof)), timeout=10_000)
    more = msgspec.structs.replace(
        DOMAIN, certified=0.95, undecided=0.0, certified_people="931000000000"
    )
    proof.runs.follow(msgspec.structs.replace(state, figures=(more, DISCRIMINATORY)))
    qtbot.waitUntil(lambda: "93.10" in proof.view.shown["bars-2"].drawing.summary(), timeout=10_000)
    assert phrases.LARGEST_REGIONS in [each.button.text() for each in folds(proof)]


def test_it_is_gone_on_with_for_as_long_as_is_asked(qtbot, opened, path, monkeypatch):
    number = measure(path)
    workspace = opened(path)
    workspace.show_page(PROOF)
    asked = []
    monkeypatch.setattr(workspace.runner, "ask", asked.extend)
    assert workspace.proof.more.isVisible()
    workspace.proof.more.click()
    for place in range(workspace.proof.length.count()):
        workspace.proof.length.setCurrentIndex(place)
        workspace.proof.more.click()
    assert [run.options["seconds"] for run in asked] == [600, 60, 600, 3600]
    assert {(run.method, run.continues) for run in asked} == {("certify", number)}
    workspace._session.wishes.continue_run.emit(number)
    assert asked[-1].continues == number


def test_a_run_that_was_stopped_can_be_continued(qtbot, opened, path, monkeypatch):
    hold = threading.Event()

    class Prover(FakeWorker):
        def _events(self, domain, people, run):
            yield Measured("certify", ALL)
            yield Progress("certify", 1, 2, 100, 0, 100)
            while not hold.wait(0.01) and not self._stopped.is_set():
                pass
            yield Progress("certify", 2, 2, 100, 0, 100)
            return "stopped"

    workspace = opened(path)
    workspace.start_runs(Prover(), (RunSpec("certify"),))
    assert workspace.steps.currentRow() == NAMES.index(PROOF)
    proof = workspace.proof
    qtbot.waitUntil(lambda: workspace._session.live is not None, timeout=10_000)
    assert not proof.more.isVisible()
    with qtbot.waitSignal(workspace.run_finished, timeout=10_000):
        workspace.bar._stop.click()
    qtbot.waitUntil(proof.more.isVisible, timeout=10_000)
    # a share by itself would be read as one of people
    assert standing(workspace).endswith(words.state_word("stopped"))


def test_of_several_proofs_one_is_chosen(opened, path):
    first = measure(path)
    second = measure(path, (EXACT,), continues=first)
    workspace = opened(path)
    workspace.show_page(PROOF)
    proof = workspace.proof
    assert proof.runs.isVisible()
    assert proof.runs.shown == second
    assert proof.runs.currentText() == f"Run {second}: Certify, continues {first}"
    workspace.show_run(first)
    assert proof.runs.shown == first
    assert proof.more.isVisible()


def test_a_failed_proof_keeps_what_it_proved(qtbot, opened, path):
    measure(path, state="failed")
    workspace = opened(path)
    workspace.show_page(PROOF)
    assert workspace.proof._banner.isVisible()
    (again,) = workspace.proof._banner.findChildren(QPushButton)
    with qtbot.waitSignal(workspace._session.wishes.prove):
        again.click()


def test_proofs_stand_on_the_overview_and_in_the_table_of_runs(opened, path):
    measure(path)
    workspace = opened(path)
    said = said_of(workspace, Question.CERTAIN)
    assert "89.88 %" in said
    assert "41.0 %" in said
    runs = workspace.overview._runs
    place = [runs.horizontalHeaderItem(i).text() for i in range(runs.columnCount())].index("Result")
    assert (
        plain(runs.item(1, place).text())
        == "≥ 89.88 % certified, ≥ 6.90 % falsified of the input domain"
    )
    runs.selectRow(1)
    assert [act.isEnabled() for act in runs.acts] == [True, True, False]


def test_examples_that_a_proof_came_upon_are_examples_too(path):
    with Store.open(path) as store:
        (record,) = store.runs()
    assert record.found
    proof = msgspec.structs.replace(record, spec=RunSpec("certify"))
    without = msgspec.structs.replace(proof, found=0)
    assert with_examples((proof, without)) == (proof,)


def test_the_next_step_after_an_estimate_is_a_proof(path):
    with Store.open(path) as store:
        (record,) = store.runs()
    assert next_step(record, record, "applicants", proven=False).page == PROVE
    assert next_step(record, record, "applicants").page == EXAMPLES


def test_bar_and_table_of_runs_count_the_rows_that_are_certified_with_their_neighbours(
    qtbot, opened, path
):
    figure = NeighbourhoodCounts(BOTH, 200, 150, 40, 10, 1, 0.1)
    bar = RunBar()
    qtbot.addWidget(bar)
    bar.resize(1_400, 60)
    bar.show()
    state = RunState(7, "neighbourhoods", "running", tried=48_213, figures=(figure,))
    bar.show_live(state, RunSpec("neighbourhoods", budget=Budget(seconds=60.0)))
    assert (
        bar.figures["share"]._number.text() == "150 certified, 0 falsified, 40 by a neighbour only"
    )
    assert bar.figures["share"]._below.text() == "of 200 rows, with neighbours"
    assert not bar.figures["tried"].isVisible()
    measure(path)
    with Store.open(path) as store:
        run = store.begin_run(RunSpec("neighbourhoods", {"seconds": 60.0}))
        store.measure(run, (figure,))
        store.end_run(run, "done")
    (table,) = opened(path).findChildren(RunsTable)
    assert table.item(run - 1, 3).text() == "150 certified, 0 falsified, 40 by a neighbour only"
    # all seeds are the same
    assert table.columnCount() == 5


def test_seeds_are_in_the_table_of_runs_where_they_differ(opened, path):
    for seed in (0, 1):
        measure(path, seed=seed)
    (table,) = opened(path).findChildren(RunsTable)
    assert table.item(2, 5).text() == "1"
    # where there is little room, methods' names take more lines, and numbers are read whole
    table.resize(420, table.height())
    assert table.columnWidth(3) >= table.fontMetrics().horizontalAdvance(table.item(2, 3).text())


def test_the_bar_below_shows_what_is_proven(qtbot):
    bar = RunBar()
    qtbot.addWidget(bar)
    bar.resize(1_400, 60)
    bar.show()
    state = RunState(7, "certify", "running", tried=48_213, figures=(DOMAIN,))
    bar.show_live(state, RunSpec("certify", budget=Budget(seconds=60.0)))
    assert plain(bar.figures["share"]._number.text()) == "≥ 89.88 % certified, ≥ 6.90 % falsified"
    assert plain(bar.figures["share"]._below.text()) == "of the input domain"
    assert not bar.figures["tried"].isVisible()
    assert not bar.figures["pairs"].isVisible()
    assert not bar.figures["queries"].isVisible()
    people = Proven("people", BOTH, 0.97, 0.02, 0.01)
    bar.show_live(msgspec.structs.replace(state, figures=(DOMAIN, people)), RunSpec("certify"))
    assert plain(bar.figures["share"]._number.text()) == "≥ 97.00 % certified, ≥ 2.00 % falsified"
    assert plain(bar.figures["share"]._below.text()) == f"of {phrases.MODEL_OF_DATA}"
    bar.show_live(RunState(8, "uniform", "running"), RunSpec("uniform"))
    assert bar.figures["queries"].isVisible()


def test_a_proof_knows_how_long_it_may_take_and_leaves_nobody_out():
    run = timed_run(
        RunSpec("certify", {"boxes": 3}, budget=Budget(seconds=600.0), max_distance=0.1)
    )
    assert run.options == {"boxes": 3, "seconds": 600.0}
    assert run.max_distance is None
    assert timed_run(RunSpec("certify")).options == {"seconds": 0.0}
    uniform = RunSpec("uniform", max_distance=0.1)
    assert timed_run(uniform) == uniform


def test_how_long_is_asked_once(qtbot):
    picker = MethodPicker()
    qtbot.addWidget(picker)
    picker.show_methods("certify", {}, {}, {})
    assert list(picker.form.fields) == ["boxes"]


def test_another_run_may_go_on_with_a_proof(qtbot, path):
    number = measure(path)
    with Store.open(path) as store:
        spec, last = store.spec, store.runs()[-1]
    dialog = AgainDialog(spec, last)
    qtbot.addWidget(dialog)
    dialog.show()
    assert "keep what is already proven" in dialog.goes_on.text()
    assert not dialog.near.isVisible()
    dialog.goes_on.setChecked(True)
    assert (dialog.run().continues, dialog.run().options["seconds"]) == (number, 60.0)
    dialog.picker.list.setCurrentItem(dialog.picker.items["maft"])
    assert not dialog.goes_on.isVisible()
    assert dialog.run().continues == 0
    assert np.isclose(dialog.run().budget.seconds, 60.0)


def test_the_population_and_the_rates_of_its_groups_are_shown(opened, path, spec):
    rates = ProvenRates(
        "sex", (GroupRate(0.0, 0.10931, 0.12, 0.4), GroupRate(1.0, 0.3, 0.31, 0.6)), 0.3515, 0.4
    )
    measure(path, (*ALL, Proven("people", BOTH, 0.9712, 0.0211, 0.0077), rates))
    workspace = opened(path)
    workspace.show_page(PROOF)
    # people come before combinations wherever one number stands
    assert f"≥ 97.12 % certified, ≥ 2.11 % falsified of {phrases.MODEL_OF_DATA}" in [
        plain(workspace.overview._runs.item(row, 3).text()) for row in range(2)
    ]
    assert standing(workspace).endswith("done")
    (said,) = cards(workspace.proof)
    assert "for at least 2.11 % of the population" in said
    # of combinations only where it is asked for
    (bars,) = workspace.proof.view.shown.values()
    assert [bar.name for bar in bars.drawing.bars] == [f"Population ({phrases.MODEL_OF_DATA})"]
    names = [each.button.text() for each in folds(workspace.proof)]
    assert names[0] == phrases.ONLY_COMBINATIONS
    assert phrases.RATES_OF_GROUPS in names


def test_a_share_of_a_population_that_does_not_fit_is_not_drawn(opened, path):
    measure(path, (TABLE,))
    measure(path, (*ALL, Proven("people", BOTH, 0.9712, 0.0211, 0.0077), RATES))
    workspace = opened(path)
    workspace.show_page(PROOF)
    assert "population" not in "".join(cards(workspace.proof))
    (bars,) = workspace.proof.view.shown.values()
    assert [bar.name for bar in bars.drawing.bars] == ["Input domain"]
    # nor in the table of the runs
    workspace.show_page(OVERVIEW)
    table = workspace.overview._runs
    shown = [table.item(row, 3).text() for row in range(table.rowCount())]
    assert any("of the input domain" in each for each in shown)
    assert not any(f"of {phrases.MODEL_OF_DATA}" in each for each in shown)
