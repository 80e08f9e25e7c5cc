import threading
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QTableWidget

from fairdesk.answers import clearest, opposite
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.pair import MinimalPair
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.document.pairs import STRONGEST, WHY
from fairdesk.gui.workspace.common.run_page import EXAMPLES
from fairdesk.gui.workspace.pairs.pairs_model import PairRole
from fairdesk.gui.workspace.session import study, weighing
from fairdesk.individual.surrogates.explanation import Explanation
from fairdesk.results.individual import RandomBaseline, SearchPhase
from fairdesk.wording import figures, words
from fairdesk.wording.pairs import distance_text
from tests import phrases
from tests.document.test_answers import add_pair
from tests.gui.auditing import FakeWorker, Scales, Scholar, make_audit

LONG = 20_000


@pytest.fixture
def held(monkeypatch):
    """Comparing waits until it is let go."""
    hold = threading.Event()
    monkeypatch.setattr(weighing, "Worker", lambda command: Scales(hold))
    yield hold
    hold.set()


@pytest.fixture
def scholars(monkeypatch):
    """Those that were asked about pairs, in place of the model's process."""
    made = []

    def make():
        made.append(Scholar(make.hold))
        return made[-1]

    make.hold = None
    make.made = made
    monkeypatch.setattr(study, "Worker", make)
    monkeypatch.setattr(study, "reopen", lambda *_: None)
    return make


def place(pairs, title):
    """Return the place of a column of the table."""
    return [column.title for column in pairs.model.columns].index(title)


def cell(pairs, row, title):
    place = next(i for i, each in enumerate(pairs.model.columns) if each.title == title)
    return pairs.model.index(row, place)


def weighed(qtbot, workspace):
    """Wait until everybody is compared and shown so."""
    pairs = workspace.examples.pairs
    qtbot.waitUntil(lambda: pairs._weighed and pairs.model.loaded, timeout=LONG)
    return pairs


@pytest.fixture
def known(qtbot, reading):
    """A page whose pair is wholly known, in the order of nearness."""
    pairs, detail = weighed(qtbot, reading), reading.examples.detail
    qtbot.waitUntil(lambda: pairs.model.query.order == "plausible", timeout=LONG)
    qtbot.waitUntil(lambda: pairs.model.pair(0) is not None, timeout=LONG)
    pairs.table.setFocus()
    far = next(r for r in range(pairs.model.rowCount()) if pairs.model.pair(r).distance > 0.02)
    pairs.step(far)
    qtbot.waitUntil(lambda: detail.pair.distance > 0.02, timeout=LONG)
    qtbot.waitUntil(lambda: detail._known is not None, timeout=LONG)
    return reading


def test_the_nearest_row_is_told_unless_the_pair_begins_with_it(known):
    detail = known.examples.detail
    assert phrases.NEAREST_ROW in detail._plausible.text()
    form = detail._form
    row = msgspec.structs.replace(form.real, codes=form.pair.row)
    detail._tell_plausible(form.pair, replace(form, real=row))
    assert detail._plausible.text()
    assert phrases.NEAREST_ROW not in detail._plausible.text()


def test_no_button_of_a_pair_is_cut_in_a_small_window(qtbot, reading):
    reading.resize(960, 500)
    detail = reading.examples.detail
    detail._turn.setText("Opposite effect: pair 7,899 →")
    detail._turn.show()
    shown = [detail.bring, detail.why, detail._turn, detail._flag, detail._dismiss]
    qtbot.waitUntil(lambda: detail.width() < 400)
    for button in shown:
        assert button.width() >= button.minimumSizeHint().width(), button.text()
        right = button.mapTo(detail, QPoint(button.width(), 0)).x()
        assert right <= detail.width(), button.text()


def test_plausible_ones_come_first_once_they_are_compared(qtbot, reading):
    pairs = weighed(qtbot, reading)
    qtbot.waitUntil(lambda: pairs.model.query.order == "plausible", timeout=LONG)
    qtbot.waitUntil(lambda: pairs.model.pair(0) is not None, timeout=LONG)
    assert pairs._order.currentText() == "Plausible first"
    shown = [pairs.model.pair(row) for row in range(50)]
    ranks = [
        (1 - pair.plausible, (pair.row != pair.partner).sum(), pair.repeats, pair.id)
        for pair in shown
    ]
    assert ranks == sorted(ranks)
    assert cell(pairs, 0, "Plausible").data() == ("yes" if shown[0].plausible else "no")
    assert cell(pairs, 49, phrases.ROW_DISTANCE).data() == distance_text(shown[49].distance)
    typical = cell(pairs, 0, "Typicality")
    assert typical.data().endswith("%")
    assert typical.data(PairRole.SHARE) == shown[0].typicality
    assert not reading.examples._weighing.isVisible()
    pairs._order.setCurrentIndex(4)
    with qtbot.waitSignal(pairs.model.counted, timeout=LONG):
        pairs._order.activated.emit(4)
    assert pairs.model.query.order == "id"
    header = pairs.table.horizontalHeader()
    with qtbot.waitSignal(pairs.model.counted, timeout=LONG):
        header.setSortIndicator(place(pairs, "Typicality"), Qt.SortOrder.DescendingOrder)
    assert (pairs.model.query.order, pairs.model.query.descending) == ("typicality", True)
    assert pairs._order.currentText() == "Most typical first"


def test_until_then_there_are_dashes_and_it_can_be_stopped(qtbot, held, reading):
    page, pairs = reading.examples, reading.examples.pairs
    qtbot.waitUntil(page._weighing.isVisible, timeout=LONG)
    assert "Comparing with the applicants in the data: 0 of" in page._weighing._words.text()
    assert pairs.model.query.order == "id"
    assert cell(pairs, 0, "Typicality").data() == "–"
    assert cell(pairs, 0, phrases.ROW_DISTANCE).data() == "–"
    nearest = place(pairs, phrases.ROW_DISTANCE)
    pairs.table.horizontalHeader().setSortIndicator(nearest, Qt.SortOrder.AscendingOrder)
    assert pairs.model.query.order == "id"
    page._weighing._button.click()
    qtbot.waitUntil(lambda: page._weighing._button.text() == "Continue", timeout=LONG)
    qtbot.waitUntil(lambda: reading._session.weighing._work is None, timeout=LONG)
    assert not pairs._weighed
    held.set()
    page._weighing._button.click()
    qtbot.waitUntil(lambda: pairs.model.query.order == "plausible", timeout=LONG)


def test_what_is_read_does_not_move_when_everybody_is_compared(qtbot, held, reading):
    pairs = reading.examples.pairs
    qtbot.waitUntil(reading.examples._weighing.isVisible, timeout=LONG)
    pairs.step(5)
    current = reading.examples.detail.pair.id
    held.set()
    qtbot.waitUntil(lambda: pairs._weighed, timeout=LONG)
    assert pairs.model.query.order == "id"
    assert reading.examples.detail.pair.id == current
    qtbot.waitUntil(lambda: cell(pairs, 5, "Typicality").data() not in ("–", None), timeout=LONG)
    qtbot.waitUntil(lambda: reading.examples.detail.pair.distance is not None, timeout=LONG)
    pairs._order.activated.emit(0)
    qtbot.waitUntil(lambda: pairs.model.query.order == "plausible", timeout=LONG)


def test_a_pair_that_is_worked_on_stays_when_everybody_is_compared(qtbot, held, reading):
    pairs, detail = reading.examples.pairs, reading.examples.detail
    qtbot.waitUntil(reading.examples._weighing.isVisible, timeout=LONG)
    current = detail.pair.id
    detail.edit_note()
    held.set()
    qtbot.waitUntil(lambda: pairs._weighed, timeout=LONG)
    assert (pairs.model.query.order, detail.pair.id) == ("id", current)
    # where the other order was on its way already, the pair is followed
    pairs._show_in(("distance", False))
    qtbot.waitUntil(
        lambda: (
            pairs.model.pair(0) is not None
            and pairs.model.pair(0).id != current
            and pairs.model.pair(pairs.table.currentIndex().row()) is not None
        ),
        timeout=LONG,
    )
    assert detail.pair.id == current
    assert pairs.model.pair(pairs.table.currentIndex().row()).id == current
    # whoever goes on to another is followed
    pairs.table.selectRow(0)
    assert detail.pair.id == pairs.model.pair(0).id


def test_a_run_is_not_disturbed_and_compared_when_it_is_over(qtbot, opened, tmp_path):
    workspace = opened(make_audit(tmp_path, runs=0))
    hold = threading.Event()
    workspace.start_runs(FakeWorker(hold=hold), (RunSpec("uniform", {"samples": 600}),))
    workspace.show_page(EXAMPLES)
    qtbot.waitUntil(lambda: workspace.examples.pairs.model.rowCount() > 0, timeout=LONG)
    assert workspace._session.weighing._work is None
    detail = workspace.examples.detail
    qtbot.waitUntil(lambda: detail._known is not None, timeout=LONG)
    assert not detail.bring.isEnabled()
    assert not detail.why.isEnabled()
    assert "when the current run has ended" in detail.why.toolTip()
    hold.set()
    weighed(qtbot, workspace)
    qtbot.waitUntil(detail.bring.isEnabled, timeout=LONG)
    # the model of the run is asked, and nobody opens it again
    assert workspace._session.study._lent is not None


def test_a_pair_is_brought_nearer_and_stays_so(qtbot, known, scholars, opened, path):
    detail, table = known.examples.detail, known.examples.pairs.table
    pair = detail.pair
    qtbot.keyClick(table, Qt.Key.Key_B)
    qtbot.waitUntil(lambda: detail._known.nearer is not None, timeout=LONG)
    qtbot.waitUntil(lambda: not detail._busy.isVisible(), timeout=LONG)
    assert detail.bring.isChecked()
    assert f"{phrases.DISTANCE_NOW} 0.00 (it was 0.03)" in detail._sentence.text()
    with Store.open(path) as store:
        minimal = store.learned(pair.id, "minimal", MinimalPair)
        (told,) = (
            e.what for e in store.log_entries() if f"Pair {pair.id}: made more realistic" in e.what
        )
    assert told.endswith(f"distance to the data {distance_text(minimal.distance)}.")
    assert minimal.distance < pair.distance
    others = store.spec.domain.others
    assert (np.array(minimal.row)[others] == np.array(minimal.partner)[others]).all()
    assert minimal.row_class != minimal.partner_class
    shown = detail._table
    brought = [shown.item(row, 1).text() for row in range(shown.rowCount())]
    qtbot.keyClick(table, Qt.Key.Key_B)
    assert not detail.bring.isChecked()
    assert "it was" not in detail._sentence.text()
    assert [shown.item(row, 1).text() for row in range(len(brought))] != brought
    known.close_audit()
    assert scholars.made[0].closed
    again = opened(path)
    again.show_page(EXAMPLES)
    there = again.examples
    qtbot.waitUntil(lambda: there.detail._known is not None, timeout=LONG)
    weighed(qtbot, again)
    qtbot.waitUntil(lambda: there.pairs.model.pair(0) is not None, timeout=LONG)
    rows = range(there.pairs.model.rowCount())
    there.pairs.step(next(row for row in rows if there.pairs.model.pair(row).id == pair.id))
    qtbot.waitUntil(lambda: there.detail._known.nearer is not None, timeout=LONG)
    assert not there.detail.bring.isChecked()
    assert len(scholars.made) == 1


def test_why_is_told_in_bars_and_in_a_table(qtbot, known, scholars, path):
    page = known.examples
    detail, table = page.detail, page.pairs.table
    qtbot.keyClick(table, Qt.Key.Key_W)
    view = detail._why_view
    qtbot.waitUntil(view.isVisible, timeout=LONG)
    bars = view.shown[WHY]
    weights = bars.drawing.weights
    assert 0 < len(weights) <= STRONGEST
    heaviest = [max(map(abs, each.values)) for each in weights]
    assert heaviest == sorted(heaviest, reverse=True)
    for name in ("age", "sex"):
        assert name in bars.accessibleDescription()
    assert any("R squared" in each.text() for each in view.findChildren(QLabel))
    qtbot.keyClick(table, Qt.Key.Key_T)
    (twin,) = bars.findChildren(QTableWidget)
    assert twin.isVisible()
    assert twin.rowCount() == len(weights)
    variants = view.shown["variants"]
    with Store.open(path) as store:
        explanation = store.learned(detail.pair.id, "why", Explanation)
    assert variants.rowCount() == len(explanation.variants)
    marks = [variants.item(row, variants.columnCount() - 1).text() for row in range(5)]
    assert set(marks) <= {"the instance", "the counterfactual", ""}
    qtbot.keyClick(table, Qt.Key.Key_W)
    assert detail._table.isVisible()
    qtbot.keyClick(table, Qt.Key.Key_W)
    assert view.isVisible()
    assert scholars.made[0].calls == 1


def test_asking_can_be_cancelled(qtbot, known, scholars, path):
    scholars.hold = threading.Event()
    detail = known.examples.detail
    detail.why.click()
    qtbot.waitUntil(lambda: bool(scholars.made and scholars.made[0].calls), timeout=LONG)
    assert detail._busy.isVisible()
    (cancel,) = detail._busy.findChildren(QPushButton)
    cancel.click()
    assert scholars.made[0].closed
    assert not detail._busy.isVisible()
    assert detail.why.isEnabled()
    assert not known.examples._trouble.isVisible()
    scholars.hold.set()
    detail.why.click()
    qtbot.waitUntil(detail._why_view.isVisible, timeout=LONG)
    assert len(scholars.made) == 2
    with Store.open(path) as store:
        assert store.learned(detail.pair.id, "minimal", MinimalPair) is None


def test_a_model_that_is_gone_is_asked_for(qtbot, known, monkeypatch):
    monkeypatch.setattr(study, "Worker", Scholar)
    known.examples.detail.why.click()
    banner = known.examples._trouble
    qtbot.waitUntil(banner.isVisible, timeout=LONG)
    assert phrases.NOT_WHERE_IT_WAS in banner.accessibleName()
    assert phrases.SHOW_WHERE in [each.text() for each in banner.findChildren(QPushButton)]
    assert known.examples.detail.why.isEnabled()


def test_ten_that_are_unlike_are_picked_and_all_come_back(qtbot, known):
    pairs = known.examples.pairs
    everything = pairs.model.rowCount()
    pairs.choose_unlike()
    qtbot.waitUntil(lambda: pairs.model.rowCount() == 10, timeout=LONG)
    assert pairs.filters.active
    assert pairs._unlike.text().replace("&", "") == "Show all pairs"
    picked = [pairs.model.pair(row).row for row in range(10)]
    assert len({tuple(row) for row in picked}) == 10
    pairs.choose_unlike()
    qtbot.waitUntil(lambda: pairs.model.rowCount() == everything, timeout=LONG)


def test_only_those_near_real_people_are_shown(qtbot, known, path):
    pairs = known.examples.pairs
    filters = pairs.filters
    filters._name.setCurrentText("Distance to the nearest data row")
    assert filters._most.isVisible()
    filters._most.setValue(0.05)
    with qtbot.waitSignal(pairs.model.counted, timeout=LONG):
        filters._add()
    with Store.open(path) as store:
        wanted = store.count(PairQuery(within=0.05))
    assert 0 < pairs.model.rowCount() == wanted < known._session.runs[0].found
    with qtbot.waitSignal(pairs.model.counted, timeout=LONG):
        filters.clear()


def test_a_share_of_those_tried_is_never_told(known):
    said = [each.text() for each in known.examples.findChildren(QLabel) if each.isVisible()]
    assert not any("of those tested" in each or "of the instances tested" in each for each in said)
    assert "%" not in known.examples._effort.text()


def test_a_search_kept_to_plausible_pairs_says_so_and_what_sampling_needs(known):
    page = known.examples
    (run,) = (each for each in known._session.runs if each.id == page.runs.shown)
    kept = msgspec.structs.replace(
        run,
        spec=msgspec.structs.replace(run.spec, plausible=True),
        figures=(RandomBaseline(100, 5, 400, 400, 0.016, 0.113),),
    )
    assert figures.near_sentence(run) == ""
    page._show_run(kept)
    assert figures.sampling_sentence(kept)
    # for experts, with what the search spent
    assert figures.near_sentence(kept) in page._spent.text()
    assert words.queries(run.queries) in page._spent.text()
    assert not page._spent.isVisible()


def test_what_each_phase_of_a_search_came_to_is_said_with_what_it_spent(known):
    page = known.examples
    (run,) = (each for each in known._session.runs if each.id == page.runs.shown)
    phases = (SearchPhase("seeds", 8, 1, 2, 81), SearchPhase("directed", 992, 507, 14, 81))
    seconds = {"seeds": 0.5, "directed": 1.5}
    page._show_run(msgspec.structs.replace(run, figures=phases, seconds=seconds))
    assert page._phases.shown["phases"].rowCount() == len(phases)
    page._show_run(msgspec.structs.replace(run, figures=(), seconds={}))
    assert "phases" not in page._phases.shown


def test_the_smallest_window_cuts_nobody_off(known):
    # the smallest window is 880 wide, and the steps beside the page are about 190
    assert known.examples.minimumSizeHint().width() < 740


def test_the_pair_is_the_middle_of_its_page(qtbot, known):
    page, detail = known.examples, known.examples.detail
    pair, domain = detail.pair, known._session.spec.domain
    changed = [p for p in domain.protected.tolist() if pair.row[p] != pair.partner[p]]
    told = detail._change.text()
    for p in changed:
        text = domain.attributes[p].text
        assert f"{text(pair.row[p])} → {text(pair.partner[p])}" in told
    assert detail._change.font().pointSizeF() > page._headline.font().pointSizeF()
    assert detail.width() > page.pairs.width()


def test_how_the_search_went_is_folded_once_it_is_over(qtbot, known):
    page = known.examples
    assert not page.experts.is_open
    qtbot.mouseClick(page.experts.button, Qt.MouseButton.LeftButton)
    assert page.chart.isVisible()
    page.runs.take_runs()
    assert page.experts.is_open


def bars_of(page):
    return page._phases.shown[f"alone-{page.runs.shown}"]


@pytest.mark.parametrize("size", [(1280, 800), (960, 540)])
def test_the_two_sides_are_whole_and_only_what_is_around_them_scrolls(qtbot, known, size):
    known.resize(*size)
    table = known.examples.detail._table
    lines = table.model().rowCount()
    qtbot.waitUntil(lambda: table.height() >= lines * table.rowHeight(0), timeout=LONG)
    assert table.verticalScrollBar().maximum() == 0
    assert bars_of(known.examples).visibleRegion().isEmpty()


def test_a_bar_of_one_attribute_alone_lists_its_pairs(qtbot, reading):
    page = reading.examples
    page.experts.set_open(opened=True)
    qtbot.wait(100)  # until all is laid out
    bars, pairs = bars_of(page), page.pairs
    counts = [count for _name, count in bars.drawing.counts]
    names = [name for name, _count in bars.drawing.counts]
    spots = bars.laid.spots
    assert [spot.key for spot in spots] == list(range(len(names)))
    whole = pairs.model.rowCount()
    middle = QPoint(int(spots[0].x + spots[0].wide / 2), int(spots[0].y + spots[0].tall / 2))
    qtbot.mouseClick(bars, Qt.MouseButton.LeftButton, pos=middle)
    qtbot.waitUntil(lambda: pairs.model.rowCount() == counts[0] < whole, timeout=10_000)
    assert page.pairs.filters.wanted.alone == names[0]
    assert bars.marked.chosen == 0
    # with the keyboard, and once more to see all again
    bars.setFocus()
    bars._point_at(None)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Return):
        qtbot.keyClick(bars, key)
    qtbot.waitUntil(lambda: pairs.model.rowCount() == whole, timeout=10_000)
    assert bars.marked.chosen is None


@pytest.mark.parametrize("wide", [960, 1000, 1440])
def test_titles_above_the_two_sides_are_whole(qtbot, known, wide):
    known.resize(wide, 700)
    table = known.examples.detail._table
    QCoreApplication.processEvents()
    header = table.horizontalHeader()
    assert header.sectionSize(2) >= header.sectionSizeHint(2), "one word cannot be broken"
    sizes = [header.sectionSize(place) for place in range(header.count())]
    assert min(sizes) > 60
    assert 0 <= table.viewport().width() - sum(sizes) <= 3


@pytest.mark.parametrize(("wide", "way"), [(960, "Horizontal"), (800, "Vertical")])
def test_table_and_pair_can_be_read_in_a_small_window(qtbot, reading, wide, way):
    reading.resize(wide, 500)
    table = reading.examples.pairs.table
    orientation = Qt.Orientation[way]
    qtbot.waitUntil(lambda: reading.examples._split.orientation() == orientation)
    qtbot.waitUntil(lambda: table.viewport().height() >= 4 * table.rowHeight(0))
    area = reading._pages.parentWidget().parentWidget()
    assert area.horizontalScrollBar().maximum() == 0
    # the order in which pairs come first is not cut
    order = reading.examples.pairs._order
    assert (
        order.width()
        >= order.minimumWidth()
        > order.fontMetrics().horizontalAdvance(order.itemText(0))
    )


def test_the_other_way_round_is_a_click_away_where_it_is_known(qtbot, opened, path):
    with Store.open(path) as store:
        shown = clearest(store)
        scores = shown.partner_score, shown.row_score
        turned = add_pair(store, shown.row, shown.partner, scores)
    workspace = opened(path)
    detail = workspace.examples.detail
    workspace.show_pair(shown.id)
    qtbot.waitUntil(detail._turn.isVisible, timeout=10_000)
    assert f"pair {turned} " in detail._turn.text()
    qtbot.mouseClick(detail._turn, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: getattr(detail.pair, "id", None) == turned, timeout=10_000)
    assert workspace.examples.runs.currentData() != shown.run
    # and back
    qtbot.waitUntil(lambda: f"pair {shown.id} " in detail._turn.text(), timeout=10_000)
    qtbot.mouseClick(detail._turn, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: detail.pair.id == shown.id, timeout=10_000)


def test_without_another_way_round_no_button_offers_it(qtbot, reading):
    detail = reading.examples.detail
    with Store.open(reading.path) as store:
        assert opposite(store, detail.pair) is None
    # what is known of the pair is read after that
    qtbot.waitUntil(lambda: detail._known is not None, timeout=10_000)
    assert detail._turn.isHidden()
