import msgspec
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QTableWidget

from fairdesk.answers.answer import Question
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.records import RunState
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.data.table import Kind
from fairdesk.gui.charts.picture import Picture
from fairdesk.gui.kit import theme
from fairdesk.gui.workspace.common.page_names import GROUPS, NAMES, OVERVIEW
from fairdesk.gui.workspace.common.people_inside import MOST, people_inside, shown_columns
from fairdesk.gui.workspace.overview.next_step import FIND_GROUPS, next_step
from fairdesk.gui.workspace.shell.again_dialog import AgainDialog
from fairdesk.gui.workspace.shell.run_bar import RunBar
from fairdesk.gui.workspace.subgroups.finding import evidence_text, findings_of, matching
from fairdesk.gui.workspace.subgroups.group_rates import rates_of
from fairdesk.gui.workspace.subgroups.lattice_view import carried, steps_of
from fairdesk.gui.workspace.subgroups.term_detail import Marked, changed, occurring, shortened
from fairdesk.gui.workspace.subgroups.terms_view import by_gap
from fairdesk.models.inputs import predictions
from fairdesk.models.model import How, Input, Mapping
from fairdesk.results.conditions import Condition
from fairdesk.results.events import Progress
from fairdesk.results.subgroups import TermRate
from fairdesk.wording.groups import subgroups as subgroup_words
from tests import phrases
from tests.gui.auditing import make_audit
from tests.gui.group_figures import (
    DOUBTED,
    ELDERS,
    FEMALE,
    FIGURES,
    FLIP,
    GAP,
    LINEAR,
    MINED,
    OLD,
    TERMS,
    VARIANTS,
    WORST,
    rule_set,
)


def measure(path, method, figures, state="done", **asked):
    """Write a run that measured; gives its number."""
    with Store.open(path) as store:
        run = store.begin_run(RunSpec(method, **asked))
        store.add_progress(run, 2.0, Progress("sampling", 4, 4, 48_000, 0, 96_000))
        store.measure(run, figures)
        store.end_run(run, state, "The model refused a row." if state == "failed" else "")
        return run


def plain(text):
    return text.replace("\u00a0", " ")


def standing(workspace):
    text = workspace.steps.item(NAMES.index(GROUPS)).data(Qt.ItemDataRole.AccessibleTextRole)
    return plain(text)


def shown(opened, path):
    workspace = opened(path)
    workspace.show_page(GROUPS)
    return workspace


@pytest.fixture
def path(tmp_path):
    """An audit in which nothing was run yet."""
    return make_audit(tmp_path, runs=0)


@pytest.fixture
def found(opened, path):
    """A workspace whose audit has findings about groups."""
    measure(path, "testsgd", FIGURES)
    return shown(opened, path)


@pytest.fixture
def spec(path):
    with Store.open(path) as store:
        return store.spec


def test_before_any_run_the_page_offers_one(qtbot, opened, path):
    workspace = shown(opened, path)
    assert "observed" in standing(workspace)
    assert not workspace.overview.cards[Question.SUBGROUPS].answer.known
    assert workspace.groups.tabs.currentWidget() is workspace.groups.tables
    workspace.groups.tabs.setCurrentWidget(workspace.groups.findings)
    (button,) = (
        each
        for each in workspace.groups.findings.findChildren(QPushButton)
        if each.isVisibleTo(workspace)
    )
    assert button.isEnabled()
    with qtbot.waitSignal(workspace.groups.find_groups):
        button.click()


def test_findings_are_told_in_sentences_the_greatest_first(found):
    view = found.groups.findings
    told = [plain(each.sentence) for each in view.list.findings]
    assert told[0].startswith("age 60 and over, sex = female: ")
    assert told[0].endswith("22.7 % against 81.1 %")
    assert told[1].startswith("age 60 and over: ")
    assert told[2].startswith("age 29 and under, sex = male: ")
    headline = plain(view._headline._sentence.text())
    assert headline.startswith("Gap to all others, 58.4 percentage points: age 60 and over")
    # how many were tested is for experts
    assert not view._tested.isVisible()
    view.experts.button.click()
    assert view._tested.isVisible()
    assert "1,590 subgroups defined by age and sex were tested" in plain(view._tested.text())
    mined = view._findings[0].mined
    examined = subgroup_words.mined_sentence(view._session.spec, mined)
    assert plain(examined) in plain(view._tested.text())
    assert standing(found) == "Groups, gap 58.4 points"


def test_a_finding_in_the_list_has_its_difference_and_support(spec):
    assert plain(evidence_text(WORST)) == "−58.4 percentage points  ·  24 rows, 12.0 %"
    scores = msgspec.structs.replace(WORST, outcome="")
    assert plain(evidence_text(scores)).startswith("−0.584  ·  ")
    fine, _elders, doubted = findings_of(spec, FIGURES)
    assert not fine.doubt
    assert doubted.rule_set is DOUBTED
    assert phrases.NOT_SHOWN_BY_ROWS in doubted.doubt
    (unclear,) = findings_of(spec, (MINED, rule_set((OLD,), 0.1, 0.4, holds_on_data=None)))
    assert "cannot confirm" in unclear.doubt
    rare = rule_set((OLD,), 0.1, 0.4, holds_on_data=None, data_rows=3)
    (few,) = findings_of(spec, (MINED, rare))
    assert "only 3 are on one side" in few.doubt


def test_variants_are_folded_under_the_finding_they_are_of(qtbot, found):
    tree = found.groups.findings.list
    assert [len(each.variants) for each in tree.findings] == [2, 0, 0]
    first = tree.model().index(0, 0)
    assert "and 2 similar or complementary" in first.data(Qt.ItemDataRole.AccessibleTextRole)
    assert not tree.isExpanded(first)
    tree.setFocus()
    QTest.keyClick(tree, Qt.Key.Key_Right)
    assert tree.isExpanded(first)
    QTest.keyClick(tree, Qt.Key.Key_Down)
    assert tree.finding.rule_set == VARIANTS[0]
    assert found.groups.findings.detail.finding.rule_set == VARIANTS[0]
    QTest.keyClick(tree, Qt.Key.Key_Up)
    QTest.keyClick(tree, Qt.Key.Key_Left)
    assert not tree.isExpanded(first)


def test_a_click_on_their_line_opens_the_variants(qtbot, found):
    tree = found.groups.findings.list
    first = tree.model().index(0, 0)
    rect = tree.visualRect(first)
    QTest.mouseClick(
        tree.viewport(),
        Qt.MouseButton.LeftButton,
        pos=QPoint(rect.left() + 40, rect.bottom() - 16),
    )
    assert tree.isExpanded(first)


def test_a_variant_whose_leader_was_not_kept_stands_for_itself(spec):
    lost = msgspec.structs.replace(ELDERS, leader=900)
    (only,) = findings_of(spec, (MINED, lost))
    assert only.rule_set is lost


def test_leaders_are_those_of_their_own_outcome(spec):
    other = msgspec.structs.replace(MINED, outcome="no")
    twin = msgspec.structs.replace(VARIANTS[0], outcome="no")
    leads = msgspec.structs.replace(ELDERS, outcome="no")
    found = findings_of(spec, (*FIGURES, other, leads, twin))
    (no,) = (each for each in found if each.rule_set.outcome == "no")
    assert no.rule_set is leads
    assert [each.rule_set for each in no.variants] == [twin]


def test_findings_are_searched_by_text_attribute_and_outcome(found, spec):
    told = findings_of(spec, FIGURES)
    assert len(matching(told, "FEMALE")) == 1
    assert len(matching(told, attribute="sex")) == 2
    assert matching(told, outcome="no") == ()
    # one of the variants speaks of 55
    assert [each.rule_set for each in matching(told, "55")] == [WORST]
    view = found.groups.findings
    view._search.setText("under")
    assert [each.rule_set for each in view.list.findings] == [DOUBTED]
    assert view.detail.finding.rule_set == DOUBTED
    view._search.clear()
    view._attribute.setCurrentIndex(view._attribute.findData("sex"))
    assert len(view.list.findings) == 2
    assert not view._outcome.isVisible()


def test_several_outcomes_are_chosen_between(opened, path):
    other = msgspec.structs.replace(MINED, outcome="no", rule_sets=20)
    worst = rule_set((FEMALE,), 0.6, 0.1, outcome="no")
    measure(path, "testsgd", (*FIGURES, other, worst))
    view = shown(opened, path).groups.findings
    assert view._outcome.isVisible()
    assert len(view.list.findings) == 4
    view._outcome.setCurrentIndex(view._outcome.findData("no"))
    assert [each.rule_set for each in view.list.findings] == [worst]


def test_the_list_of_findings_stays_while_the_page_scrolls(qtbot, found):
    view = found.groups.findings
    found.resize(1440, 800)
    area, listed = view._area, view.list

    def at():
        top = listed.mapTo(area.viewport(), QPoint()).y()
        return top, area.viewport().height() - top - listed.height()

    bar = area.verticalScrollBar()
    people = view.detail.people
    view.detail.individuals.set_open(opened=True)
    view.experts.set_open(opened=True)
    qtbot.waitUntil(lambda: people.inside is not None, timeout=10_000)
    qtbot.waitUntil(lambda: people.height() >= people.table.height() > 200)
    qtbot.waitUntil(lambda: bar.maximum() > 600)
    below = people.mapTo(area.widget(), QPoint()).y()
    bar.setValue(below - 200)
    assert min(at()) >= 0
    assert listed.height() >= listed.minimumHeight()
    # where it is above the finding, it goes with the page
    found.resize(960, 800)
    qtbot.waitUntil(lambda: view.detail.x() == view._side.x())
    bar.setValue(bar.maximum())
    assert max(at()[0] + listed.height(), 0) == 0


def test_a_rate_of_a_finding_leads_to_its_people(qtbot, found):
    view = found.groups.findings
    found.resize(1440, 800)
    chart, people = view.detail.chart, view.detail.people
    qtbot.waitUntil(lambda: people.table.model().rowCount() > 0, timeout=10_000)
    # a table that scrolls both ways is folded away until then
    assert not people.isVisible()
    spots = {spot.tip.partition(":")[0]: spot for spot in chart.canvas.laid.spots}
    for name, leads in (("All others, observed", False), ("Subgroup, observed", True)):
        spot = spots[name]
        middle = QPoint(int(spot.x + spot.wide / 2), int(spot.y + spot.tall / 2))
        qtbot.mouseClick(chart.canvas, Qt.MouseButton.LeftButton, pos=middle)
        assert people.table.hasFocus() == leads
    seen = view._area.viewport()
    qtbot.waitUntil(lambda: people.mapTo(seen, QPoint()).y() < seen.height())


def test_a_finding_is_looked_into(qtbot, found):
    detail = found.groups.findings.detail
    assert "(corrected 95 % CI 56.4 to 68.4)" in plain(detail._statement._more.text())
    rates = detail.chart.drawing
    # rates of real people go first; the interval of the gap allows for more than one of a rate
    assert [(each.kind, each.inside, each.low is None) for each in rates.rates] == [
        ("observed", True, False),
        ("observed", False, False),
        ("estimated", True, True),
        ("estimated", False, True),
    ]
    assert "estimated: 20.7 %, of" in plain(detail.chart.accessibleDescription())
    carries = plain(detail._carried.text())
    assert "The gap depends most on age 60 and over" in carries
    assert "Without the condition on sex it is" in carries
    assert "Hollow: counted in the data rows" in detail._key.text()
    lattice = [detail.lattice.item(row, 1).text() for row in range(detail.lattice.rowCount())]
    assert lattice == [
        "without sex = female",
        "without age 60 and over",
        "age 60 and over, sex = female",
        "age 70 and over, sex = female",
    ]
    signs = [detail.lattice.item(row, 0) for row in range(detail.lattice.rowCount())]
    assert [each.text() for each in signs] == ["↑", "↑", "●", "↓"]
    assert signs[2].data(Qt.ItemDataRole.AccessibleTextRole) == "this rule"
    assert detail.lattice.item(2, 2).text() == "62.4"
    # rules have the room that signs and titles leave
    detail.lattice.resize(590, 300)
    assert detail.lattice.columnWidth(1) > 590 / 3
    assert "percentage points" in detail.lattice.horizontalHeaderItem(2).text()


def test_a_bar_stands_beside_its_number_not_below_as_of_a_link(qtbot, themed, found):
    lattice = found.groups.findings.detail.lattice
    found.groups.findings.experts.set_open(opened=True)
    lattice.resize(700, 300)
    rect = lattice.visualRect(lattice.model().index(2, 2))
    image = lattice.viewport().grab(rect).toImage()
    colour = QColor(theme.colours().discriminatory)
    ratio = image.devicePixelRatio()
    seen = [
        (x, y)
        for x in range(image.width())
        for y in range(image.height())
        if image.pixelColor(x, y) == colour
    ]
    assert seen
    number = lattice.fontMetrics().horizontalAdvance("62.4") + theme.NEAR
    assert max(x for x, _ in seen) < image.width() - ratio * number
    assert max(y for _, y in seen) < 0.75 * image.height()


def test_a_rule_of_the_lattice_is_shown_at_a_click_when_it_is_a_finding(qtbot, found):
    view = found.groups.findings
    # a search that hides it must not keep it from being shown
    view._search.setText("female")
    lattice = view.detail.lattice
    lattice.cellClicked.emit(1, 1)
    assert view.detail.finding.rule_set == WORST
    lattice.cellClicked.emit(0, 1)
    assert view.detail.finding.rule_set == ELDERS
    assert view.list.finding.rule_set == ELDERS


def test_rules_that_open_follow_a_change_of_colours(themed, found):
    lattice = found.groups.findings.detail.lattice
    links = [
        item
        for row in range(lattice.rowCount())
        if (item := lattice.item(row, 1)).data(Qt.ItemDataRole.ForegroundRole) is not None
    ]
    assert links
    theme.apply(themed, "dark")
    themed.processEvents()
    colours = {item.foreground().color().name().upper() for item in links}
    theme.apply(themed, "light")
    assert colours == {theme.DARK.accent.upper()}


def test_which_part_carries_a_finding_is_said_only_where_it_is_known(spec):
    assert carried(spec, ELDERS) == ""
    assert carried(spec, DOUBTED) == ""
    alike = msgspec.structs.replace(
        WORST,
        broader=tuple(msgspec.structs.replace(each, score=0.61) for each in WORST.broader),
    )
    assert carried(spec, alike).startswith("No single condition explains the gap")
    assert [each.kind for each in steps_of(spec, ELDERS)] == ["this"]


def test_rates_in_texts_are_of_the_same_texts_and_of_enough_original_ones():
    term = (Condition("gender", term="queer"),)
    few = rule_set(term, 0.2, 0.7, holds_on_data=None)
    assert [each.name for each in rates_of(few, "texts").rates] == ["With it", "With other terms"]
    enough = rates_of(msgspec.structs.replace(few, holds_on_data=True), "texts")
    assert [each.kind for each in enough.rates] == ["observed"] * 2 + ["estimated"] * 2


def test_mean_scores_are_no_shares():
    scores = msgspec.structs.replace(WORST, outcome="")
    rates = rates_of(scores, "applicants")
    assert rates.rates[0].low is None
    assert rates.text(rates.rates[2]) == "0.207"
    header, rows = rates.table()
    assert header[2] == "Mean score"
    assert rows[2][2:5] == ("0.207", "", "")


def test_the_people_inside_are_rows_of_the_data(qtbot, found, path):
    people = found.groups.findings.detail.people
    qtbot.waitUntil(lambda: people.inside is not None, timeout=10_000)
    with Store.open(path) as store:
        inside, table = people_inside(store, WORST.conditions), store.table()
    sex, age = (table.codes[:, table.index(name)] for name in ("sex", "age"))
    assert inside.n_samples == int(((sex == 0) & (age >= 60)).sum()) > 0
    assert people.inside.places == inside.places
    assert f"{inside.n_samples} applicants in the data" in people._count.text()
    model = people.table.model()
    assert model.rowCount() == inside.n_samples
    heads = [
        model.headerData(place, Qt.Orientation.Horizontal) for place in range(model.columnCount())
    ]
    assert heads[:2] == ["◆ age", "◆ sex"]
    assert heads[-1] == "credit"
    assert model.index(0, 1).data() == "female"


def test_so_many_people_are_shown_at_most(path, monkeypatch):
    with Store.open(path) as store:
        everybody = people_inside(store, ())
        assert everybody.n_samples == len(everybody.places) == store.spec.data.rows
        monkeypatch.setattr("fairdesk.gui.workspace.common.people_inside.MOST", 7)
        assert len(people_inside(store, ()).places) == 7
        assert people_inside(store, ()).n_samples == everybody.n_samples
        assert shown_columns(store.spec)[-1] == store.spec.label
    assert MOST == 500


def test_keys_lead_from_the_findings_to_the_people_and_back(qtbot, found):
    view = found.groups.findings
    view.list.setFocus()
    qtbot.waitUntil(view.list.hasFocus, timeout=5_000)
    QTest.keyClick(view.list, Qt.Key.Key_Down)
    assert view.detail.finding.rule_set == ELDERS
    QTest.keyClick(view.list, Qt.Key.Key_T)
    assert view.detail.chart._stack.currentWidget() is view.detail.chart._table
    QTest.keyClick(view.list, Qt.Key.Key_T)
    QTest.keyClick(view.list, Qt.Key.Key_Return)
    assert view.detail.people.table.hasFocus()
    QTest.keyClick(view.detail.people.table, Qt.Key.Key_Escape)
    assert view.list.hasFocus()


def test_figures_stream_in_and_stay_still_while_they_are_read(qtbot, opened, path):
    workspace = shown(opened, path)
    view = workspace.groups.findings
    workspace.groups.tabs.setCurrentWidget(view)
    live = RunState(2, "testsgd", "running", figures=(MINED, ELDERS))
    workspace._session.driver._told = live
    workspace._session.driver._thread = object()
    try:
        view.runs.follow(live)
        assert [each.rule_set for each in view.list.findings] == [ELDERS]
        assert view._headline._sentence.text().startswith("Gap to all others so far, 54.0")
        later = msgspec.structs.replace(live, figures=FIGURES)
        view.runs.follow(later)
        qtbot.waitUntil(lambda: len(view.list.findings) == 3, timeout=10_000)
        # what was chosen by itself stays chosen, wherever it stands now
        assert view.list.finding.rule_set == ELDERS
        view.list.setFocus()
        QTest.keyClick(view.list, Qt.Key.Key_Up)
        assert view.list.finding.rule_set == WORST
        view.runs.follow(msgspec.structs.replace(live, figures=(MINED, WORST)))
        qtbot.waitUntil(view._chip.isVisible, timeout=10_000)
        assert len(view.list.findings) == 3
        view._chip.click()
        assert [each.rule_set for each in view.list.findings] == [WORST]
        assert not view._chip.isVisible()
    finally:
        workspace._session.driver._thread = None


def test_where_no_rule_set_has_the_support_that_is_said(opened, path):
    none = msgspec.structs.replace(MINED, rule_sets=0, sweep=(), notes=("Nobody is old.",))
    measure(path, "testsgd", (none,))
    view = shown(opened, path).groups.findings
    assert not view.list.isVisible()
    assert plain(view._headline._sentence.text()).startswith("No subgroup")
    assert "Nobody is old." in view._headline._more.text()
    assert "minimum support of 5 % of the rows" in plain(view._none.text())


def test_one_result_at_every_support_is_one_sentence(opened, path):
    sweep = tuple(msgspec.structs.replace(MINED.sweep[0], theta=each) for each in (0.05, 0.1, 0.2))
    mined = msgspec.structs.replace(MINED, sweep=sweep)
    measure(path, "testsgd", (mined, *FIGURES[1:]))
    supports = shown(opened, path).groups.findings.supports
    said = plain(supports._same.text())
    assert said.startswith(phrases.ANY_SUPPORT.format("5 %", "20 %"))
    assert "62.4 percentage points" in said
    assert not supports.table.isVisible()
    assert supports.chart is None or not supports.chart.isVisible()


def test_a_smaller_support_is_asked_for(qtbot, opened, path):
    number = measure(path, "testsgd", FIGURES, options={"bins": 4})
    workspace = shown(opened, path)
    supports = workspace.groups.findings.supports
    assert not supports.isVisible()
    workspace.groups.findings.experts.set_open(opened=True)
    assert supports.isVisible()
    assert [supports.table.item(row, 2).text() for row in range(3)] == ["1,590", "720", "110"]
    assert not supports._same.isVisible()
    assert supports.chart.drawing.lines[0].y.tolist() == pytest.approx([62.4, 52, 31])
    asked = []
    workspace.runner.ask = asked.extend
    with qtbot.waitSignal(workspace.groups.again) as told:
        supports._button.click()
    assert told.args == [number, 0.02]
    assert asked[0].options == {"bins": 4, "theta": 0.02}


def test_a_failed_run_offers_another(qtbot, opened, path):
    measure(path, "testsgd", FIGURES, state="failed")
    workspace = shown(opened, path)
    view = workspace.groups.findings
    assert view._banner.isVisible()
    (again,) = view._banner.findChildren(QPushButton)
    with qtbot.waitSignal(workspace.groups.find_groups):
        again.click()


def test_other_methods_stand_beside_it(qtbot, opened, path):
    measure(path, "testsgd", FIGURES)
    themis = measure(path, "themis-groups", (GAP,))
    measure(path, "fairfictplay", (LINEAR,))
    workspace = shown(opened, path)
    others = workspace.groups.findings.others
    texts = [plain(each.text()) for each in others.findChildren(QLabel)]
    assert any("40.0 percentage points lower" in each for each in texts)
    (table,) = others.findChildren(QTableWidget)
    assert [plain(table.item(0, place).text()) for place in range(4)] == [
        "sex",
        "male: 31.2 %",
        "female: 24.1 %",
        "7.1 percentage points (6.0 to 8.2)",
    ]
    (weights,) = others.findChildren(Picture)
    assert [each.name for each in weights.drawing.weights] == ["age", "sex = female", "sex = male"]
    workspace.show_page(OVERVIEW)
    workspace.show_run(themis)
    assert workspace.steps.currentRow() == NAMES.index(GROUPS)
    assert workspace.groups.tabs.currentWidget() is workspace.groups.findings
    # the step tells of the rules, not of what they are compared with
    assert standing(workspace) == "Groups, gap 58.4 points"


def test_another_method_is_tried(qtbot, opened, path):
    measure(path, "testsgd", FIGURES)
    workspace = shown(opened, path)
    asked = []
    workspace.runner.ask = asked.extend
    for button in workspace.groups.findings.others._buttons.values():
        button.click()
    assert [each.method for each in asked] == ["themis-groups", "fairfictplay"]


def test_runs_open_the_tab_that_tells_of_them(opened, path):
    groups = measure(path, "groups", ())
    mined = measure(path, "testsgd", FIGURES)
    workspace = opened(path)
    tabs = workspace.groups.tabs
    workspace.show_run(groups)
    assert workspace.steps.currentRow() == NAMES.index(GROUPS)
    assert tabs.currentWidget() is workspace.groups.tables
    workspace.show_run(mined)
    assert tabs.currentWidget() is workspace.groups.findings
    assert not tabs.isTabVisible(tabs.indexOf(workspace.groups.words))


def test_the_runs_that_are_asked_for(opened, path):
    workspace = opened(path)
    asked = []
    workspace.runner.ask = asked.extend
    workspace.requests.find_groups()
    workspace.requests.measure_groups()
    assert [(each.method, each.budget.seconds) for each in asked] == [
        ("testsgd", None),
        ("groups", None),
    ]
    workspace.requests.compare_words()
    assert len(asked) == 2  # no text, no words


def test_the_bar_below_tells_of_rule_sets(qtbot):
    bar = RunBar()
    qtbot.addWidget(bar)
    bar.show()
    state = RunState(7, "testsgd", "running", tried=48_000, figures=FIGURES)
    bar.show_live(state, RunSpec("testsgd"))
    assert plain(bar._share._number.text()) == "58.4 percentage points"
    assert bar._share._below.text() == "largest gap of 1,590 subgroups"
    assert bar._tried._below.text() == "instances tested"
    assert not bar._found.isVisible()
    bar.show_live(RunState(8, "themis-groups", "running", figures=(GAP,)), RunSpec("themis-groups"))
    assert plain(bar._share._number.text()) == "7.1 percentage points"
    bar.show_live(RunState(9, "maft", "running", tried=10), RunSpec("maft"))
    assert bar._tried._below.text() == "instances tested"


def test_the_overview_tells_of_groups_and_offers_to_look(found, opened, path):
    assert found.overview.cards[Question.SUBGROUPS].answer.said.value == "58.4"
    step = next_step(None, None, "applicants", grouped=False, individual=False)
    assert step.page == FIND_GROUPS
    assert next_step(None, None, "applicants", individual=False).page == "Groups"


def test_text_of_files_is_escaped_and_the_change_marked(qtbot):
    left, right = changed(FLIP.text, FLIP.other)
    assert [text for text, marked in left if marked] == ["gay"]
    assert [text for text, marked in right if marked] == ["straight"]
    assert "".join(text for text, _marked in left) == FLIP.text
    label = Marked(left)
    qtbot.addWidget(label)
    assert "&lt;b&gt;" in label.text()
    assert "<b>" not in label.text()
    assert "&amp; his dog" in label.text()
    assert label.accessibleName() == FLIP.text


def test_a_change_is_found_in_a_long_text_wherever_it_is():
    around = "and he said that the law is the law " * 300
    one, other = (f"{around}an {who}, {around}he is {who}." for who in ("asian", "middle eastern"))
    left, right = changed(one, other)
    assert [text for text, marked in left if marked] == ["asian", "asian"]
    assert [text for text, marked in right if marked] == ["middle eastern", "middle eastern"]
    assert "".join(text for text, _marked in right) == other


def test_a_long_sentence_is_cut_far_from_the_change():
    pieces = [
        ("x" * 1_000, False),
        ("gay", True),
        ("y" * 1_000, False),
        ("gay", True),
        ("z", False),
    ]
    told = shortened(pieces, around=10)
    assert told == [
        ("…" + "x" * 10, False),
        ("gay", True),
        ("y" * 10 + " … " + "y" * 10, False),
        ("gay", True),
        ("z", False),
    ]


@pytest.fixture
def texts(tmp_path, spec):
    """An audit of a model that reads texts; no attribute is protected."""
    path = tmp_path / "comments.csv"
    somebody = "it is long enough to be what somebody wrote"
    texts = ("A gay man", "A <b>Gay</b> poet & his dog", "An old friend", "Nobody at all") * 20
    lines = ["text,label"]
    lines += [
        f'"{text}, said number {i}: {somebody}",{("fine", "toxic")[i % 2]}'
        for i, text in enumerate(texts)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = read_table(path)
    assert table.column("text").kind is Kind.TEXT
    audit = tmp_path / "comments.fairdesk"
    of_texts = msgspec.structs.replace(
        spec,
        person="comment",
        data=table.source,
        columns=table.columns,
        label="label",
        favourable="fine",
        domain=Domain((attribute_of(table.column("text"), Role.FIXED),)),
        mapping=Mapping((Input("text", "text", How.LABEL),), "by name", 1),
    )
    Store.create(audit, of_texts, table).close()
    return audit


def test_words_are_offered_where_the_model_reads_texts(qtbot, opened, texts):
    workspace = shown(opened, texts)
    tabs = workspace.groups.tabs
    assert tabs.isTabVisible(tabs.indexOf(workspace.groups.words))
    assert tabs.currentWidget() is workspace.groups.words
    asked = []
    workspace.runner.ask = asked.extend
    (button,) = (
        each
        for each in workspace.groups.words.findChildren(QPushButton)
        if each.isVisibleTo(workspace)
    )
    assert button.text() == "&Compare identity terms"
    button.click()
    assert (asked[0].method, asked[0].text) == ("testsgd", "text")


def test_terms_stand_in_rows_with_the_sentences_behind_them(qtbot, opened, texts):
    by_terms = rule_set(
        (Condition("gender", term="gay"), Condition("age", term="old")), 0.4, 0.6, outcome="fine"
    )
    mined = msgspec.structs.replace(
        MINED, outcome="fine", attributes=("gender", "age"), texts=60, sweep=()
    )
    number = measure(texts, "testsgd", (mined, by_terms, *TERMS), text="text")
    workspace = opened(texts)
    workspace.show_run(number)
    view = workspace.groups.words
    assert workspace.groups.tabs.currentWidget() is view
    told = [
        [plain(view.table.item(row, place).text()) for place in range(6)]
        for row in range(view.table.rowCount())
    ]
    assert told == [
        ["gender", "gay", "12", "300", "62.0 %", "9 of 40"],
        ["gender", "straight", "3", "300", "91.0 %", "2 of 40"],
        ["age", "old", "30", "280", "88.0 %", "0 of 30"],
    ]
    assert view.table.term == TERMS[0]
    assert "with “gay”" in " ".join(each.text() for each in view.detail.findChildren(QLabel))
    qtbot.waitUntil(
        lambda: any("Sentences in the data" in each.text() for each in view.findChildren(QLabel)),
        timeout=10_000,
    )
    marked = [each.text() for each in view.detail.findChildren(Marked)]
    assert all("<b>" not in each for each in marked)
    whole = view.table.height()
    view.table.show_at_once(1)
    assert view.table.height() < whole
    view.table.show_at_once(None)
    qtbot.waitUntil(lambda: view.table.height() == whole)
    view._category.setCurrentIndex(view._category.findData("age"))
    assert view.table.rowCount() == 1
    assert view.table.term == TERMS[2]
    # found by its name, whichever category is shown
    workspace.show_page(OVERVIEW)
    (found,) = (each for each in workspace.found_by("straight") if "straight" in each.name)
    assert found.name == "Identity term: straight"
    found.show()
    assert view.isVisible()
    assert view.table.term == TERMS[1]
    # rules of terms are findings too, but no rows of the data are in them
    workspace.groups.tabs.setCurrentWidget(workspace.groups.findings)
    assert workspace.groups.findings.detail.finding.rule_set == by_terms
    assert not workspace.groups.findings.detail.individuals.isVisible()


def test_the_term_that_fares_worst_in_its_category_stands_first():
    def term(category, name, rate, texts=225):
        return TermRate(category, name, 10, texts, rate, texts, 131 if texts else 0)

    terms = [
        *(term("gender", "gay", 0.72), term("gender", "queer", 0.2), term("gender", "woman", 0.73)),
        *(term("race", "white", 0.56), term("race", "black", 0.87)),
        term("age", "old", 0.0, texts=0),
    ]
    ordered = [each.term for each in by_gap(terms)]
    # all change the decision of as many sentences: only the rates tell them apart
    assert ordered[:2] == ["queer", "white"]
    assert ordered[-1] == "old"
    assert by_gap([]) == []


def test_sentences_with_a_term_are_found_whole_word(texts):
    with Store.open(texts) as store:
        found = occurring(store, "text", {"gender": ("gay", "straight")}, "gender", "gay")
        none = occurring(store, "text", {"gender": ("gay", "straight")}, "gender", "straight")
    assert len(found.rows) == 20
    assert found.rows[:2] == (1, 2)
    assert {text for text, marked in found.sentences[1] if marked} == {"Gay"}
    assert none.rows == ()


def test_where_nobody_can_be_compared_the_searches_are_off_and_say_why(opened, texts):
    workspace = opened(texts)
    reason = phrases.NO_ATTRIBUTE_PROTECTED
    for name in NAMES:
        workspace.show_page(name)
    for page in (workspace.examples, workspace.share, workspace.proof):
        empty = page._stack.widget(0)
        (start,) = empty.findChildren(QPushButton)
        assert not start.isEnabled()
        assert reason in start.accessibleDescription()
        assert any(reason in each.text() for each in empty.findChildren(QLabel))
    assert workspace.bar._again.text() == "&Find subgroups…"
    workspace.requests.run_again()
    (dialog,) = workspace.findChildren(AgainDialog)
    assert dialog.picker.key == "testsgd"
    dialog.reject()


@pytest.fixture
def unseen(tmp_path, spec, path):
    """An audit of a model that is not given what is protected."""
    attributes = {each.name: each for each in spec.domain.attributes}
    sex = attributes.pop("sex")
    given = tuple(
        msgspec.structs.replace(each, role=Role.VARIES, compared=()) for each in attributes.values()
    )
    inputs = tuple(each for each in spec.mapping.inputs if each.attribute != "sex")
    audit = tmp_path / "unseen.fairdesk"
    with Store.open(path) as store:
        table = store.table()
    blind = msgspec.structs.replace(
        spec,
        domain=Domain(given, unseen=(sex,)),
        mapping=msgspec.structs.replace(spec.mapping, inputs=inputs),
    )
    Store.create(audit, blind, table).close()
    return audit


def test_what_the_model_is_not_given_tells_groups_apart(qtbot, opened, unseen):
    about_sex = rule_set((FEMALE,), 0.3, 0.6)
    measure(unseen, "testsgd", (msgspec.structs.replace(MINED, sweep=()), about_sex))
    workspace = opened(unseen)
    for name in NAMES:
        workspace.show_page(name)
    overview = [each.text() for each in workspace.overview.findChildren(QLabel)]
    assert any("by sex" in each for each in overview)
    assert any(phrases.NOT_GIVEN in each for each in overview)
    assert workspace.overview._next_button.text() == "See the groups"
    roles = workspace.data.findChildren(QTableWidget)[0]
    last = roles.rowCount() - 1
    assert [roles.item(last, place).text() for place in (0, 2)] == [
        "sex",
        "◆ protected, not a model input",
    ]
    workspace.show_page(GROUPS)
    people = workspace.groups.findings.detail.people
    qtbot.waitUntil(lambda: people.inside is not None, timeout=10_000)
    assert people.table.model().headerData(0, Qt.Orientation.Horizontal) == "◆ sex"
    assert people.table.model().index(0, 0).data() == "female"
    asked = []
    workspace.runner.ask = asked.extend
    workspace.requests.find_groups()
    assert asked[0].method == "testsgd"


def test_measuring_the_groups_of_decisions_opens_no_model(opened, path, spec, tmp_path):
    with Store.open(path) as store:
        table = store.table()
    decided = tmp_path / "decided.fairdesk"
    asks = msgspec.structs.replace(
        spec,
        predictions="job",
        model=predictions.card_of(table, "job"),
        mapping=predictions.mapping_of("cook or pilot"),
    )
    Store.create(decided, asks, table).close()
    workspace = opened(decided)
    assert workspace.groups.tabs.currentWidget() is workspace.groups.tables
    begun = []
    workspace._session.start = lambda worker, run: begun.append((worker, run))
    workspace.requests.measure_groups()
    workspace.requests.find_groups()
    ((worker, run),) = begun
    assert run.method == "groups"
    worker.close()


def test_the_table_of_runs_tells_what_came_of_them(opened, path):
    measure(path, "testsgd", FIGURES)
    measure(path, "fairfictplay", (LINEAR,))
    measure(path, "themis-groups", ())
    runs = opened(path).overview._runs
    assert [plain(runs.item(row, 4).text()) for row in range(3)] == [
        "1,590 subgroups tested, largest gap 58.4 percentage points",
        "largest gap 40.0 percentage points",
        "–",
    ]


def test_a_bar_below_counts_what_is_asked_about_and_an_empty_run(qtbot):
    bar = RunBar()
    qtbot.addWidget(bar)
    bar.show()
    bar.show_live(RunState(8, "testsgd", "running"), RunSpec("testsgd"))
    assert bar._share._number.text() == "–"
    assert bar._share._below.text() == "gap"
    bar.show_live(RunState(9, "groups", "running", tried=200), RunSpec("groups"))
    assert not bar._share.isVisible()


def test_a_finding_that_chance_may_have_made_says_so(spec):
    weak = rule_set((OLD,), 0.5, 0.55, p=0.4, holds_on_data=None)
    (finding,) = findings_of(spec, (MINED, weak))
    assert finding.doubt.splitlines() == [
        "? Not statistically significant after correction",
        f"≠ {phrases.NOT_CONFIRMED_BY_ROWS}",
    ]
