import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton

from fairdesk.answers import Question
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.records import RunState
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.data.table import Kind
from fairdesk.document import subgroup, subgroups
from fairdesk.gui.kit.parts import Fold
from fairdesk.gui.workspace.common.run_page import DATA, GROUPS, NAMES, OVERVIEW
from fairdesk.gui.workspace.evidence import COLUMNS
from fairdesk.gui.workspace.groups.data_rows import MOST, rows_inside, shown_columns
from fairdesk.gui.workspace.groups.findings_view import LIST
from fairdesk.gui.workspace.groups.terms_view import LIST as TERM_LIST
from fairdesk.gui.workspace.groups.terms_view import texts_with
from fairdesk.gui.workspace.overview.page import FIND_GROUPS, next_step
from fairdesk.gui.workspace.shell.again_dialog import AgainDialog
from fairdesk.gui.workspace.shell.run_bar import RunBar
from fairdesk.models.inputs import input_check
from fairdesk.models.model import How, Input, Mapping
from fairdesk.results.events import Progress
from fairdesk.results.proofs import Condition
from fairdesk.results.subgroups import TermRate
from fairdesk.wording.groups import findings as finding_words
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
    with qtbot.waitSignal(workspace._session.wishes.find_groups):
        button.click()


def rows(view, key):
    """Return the cells of a table of blocks."""
    table = view.shown[key]
    columns = range(table.columnCount())
    return [
        [plain(table.item(row, at).text()) for at in columns] for row in range(table.rowCount())
    ]


def told(view):
    """Return all that labels below a widget say."""
    return [plain(each.text()) for each in view.findChildren(QLabel)]


def test_findings_are_listed_the_lowest_rate_first_as_the_report_lists_them(found, spec):
    view = found.groups.findings
    ((mined, sets),) = finding_words.mined_with(FIGURES)
    listed = subgroups.listed(spec, mined, finding_words.findings(spec, sets))
    assert rows(view.list, LIST) == [[plain(cell) for cell in row] for row in listed.rows]
    assert [row[0] for row in rows(view.list, LIST)] == [
        "age 60 and over, sex = female",
        "age 60 and over",
        "age 29 and under, sex = male",
    ]
    assert any("22.7 % for age 60 and over, sex = female" in each for each in told(view.top))
    # how many were tested is for experts
    assert not view.tested.isVisible()
    view.experts.button.click()
    assert view.tested.isVisible()
    assert any("1,590 subgroups defined by age and sex were" in each for each in told(view.tested))
    assert standing(found) == "Groups, gap 58.4 points"


def test_similar_subgroups_are_listed_with_the_finding_they_are_of(qtbot, found):
    view = found.groups.findings
    fold = next(each for each in view.detail.findChildren(Fold) if "(2)" in each.button.text())
    assert not fold.is_open
    fold.set_open(opened=True)
    table = view.detail.shown[subgroup.SIMILAR]
    assert table.rowCount() == 2
    table.setFocus()
    table.setCurrentCell(0, 0)
    # walking a table looks into nothing else
    assert view.finding.rule_set == WORST
    QTest.keyClick(table, Qt.Key.Key_Return)
    assert view.finding.rule_set == VARIANTS[0]
    view.list.shown[LIST].setFocus()
    QTest.keyClick(view.list.shown[LIST], Qt.Key.Key_Down)
    assert view.finding.rule_set == ELDERS


def test_findings_are_searched_by_text_and_attribute(found):
    view = found.groups.findings

    def listed():
        return [each.rule_set for each in view.listed]

    view._search.setText("under")
    assert listed() == [DOUBTED]
    assert view.finding.rule_set == DOUBTED
    # one of the similar ones speaks of 55
    view._search.setText("55")
    assert listed() == [WORST]
    view._search.setText("nothing")
    assert rows(view.list, LIST) == []
    view._search.clear()
    view._attribute.setCurrentIndex(view._attribute.findData("sex"))
    assert len(listed()) == 2
    assert not view._outcome.isVisible()


def test_several_outcomes_are_chosen_between(opened, path):
    other = msgspec.structs.replace(MINED, outcome="no", rule_sets=20)
    worst = rule_set((FEMALE,), 0.6, 0.1, outcome="no")
    measure(path, "testsgd", (*FIGURES, other, worst))
    view = shown(opened, path).groups.findings
    assert view._outcome.isVisible()
    assert len(view.listed) == 3
    view._outcome.setCurrentIndex(view._outcome.findData("no"))
    assert [each.rule_set for each in view.listed] == [worst]
    assert view.finding.rule_set == worst
    view.show_finding(("yes", ELDERS.conditions))
    assert view.finding.rule_set == ELDERS


def test_the_chart_and_the_list_pick_the_same_subgroup(found):
    view = found.groups.findings
    chart = view.list.shown["apart-found"]
    assert [each.name for each in chart.drawing.gaps][:2] == [
        "age 60 and over, sex = female",
        "age 60 and over",
    ]
    chart.chosen.emit(1)
    assert view.finding.rule_set == ELDERS
    assert view.list.shown[LIST].currentRow() == 1
    # a click on it leads to its rows
    assert not view.rows.isVisible()
    chart.opened.emit(0)
    assert view.finding.rule_set == WORST
    assert view.rows.table.hasFocus()


def test_a_finding_is_looked_into(found):
    view = found.groups.findings
    assert any("(corrected 95 % CI 56.4 to 68.4)" in each for each in told(view.detail))
    for fold in view.detail.findChildren(Fold):
        fold.set_open(opened=True)
    assert [row[2] for row in rows(view.detail, "sides")] == ["22.7 %", "81.1 %"]
    assert [row[:2] for row in rows(view.detail, subgroup.AROUND)] == [
        ["more general", "age 60 and over"],
        ["more general", "sex = female"],
        ["this subgroup", "age 60 and over, sex = female"],
        ["more specific", "age 70 and over, sex = female"],
    ]


def test_a_subgroup_next_to_it_is_opened_when_it_is_a_finding(found):
    view = found.groups.findings
    # a search that hides it must not keep it from being shown
    view._search.setText("female")
    view.detail.opened.emit(subgroup.AROUND, 1)
    assert view.finding.rule_set == WORST
    view.detail.opened.emit(subgroup.AROUND, 0)
    assert view.finding.rule_set == ELDERS
    assert view.list.shown[LIST].currentRow() == 1


def test_the_rows_inside_a_subgroup_are_listed(qtbot, found, path):
    inside = found.groups.findings.rows
    with Store.open(path) as store:
        behind, table = rows_inside(store, WORST.conditions), store.table()
    sex, age = (table.codes[:, table.index(name)] for name in ("sex", "age"))
    assert behind.n_samples == int(((sex == 0) & (age >= 60)).sum()) > 0
    model = inside.table.model()
    qtbot.waitUntil(lambda: model.rowCount() == behind.n_samples, timeout=10_000)
    assert behind.sentence() in inside._count.text()
    heads = [
        model.headerData(place, Qt.Orientation.Horizontal) for place in range(model.columnCount())
    ]
    assert heads[:3] == ["Row", "◆ age", "◆ sex"]
    assert heads[-1] == "credit"
    assert model.index(0, 2).data() == "female"


def test_so_many_rows_are_shown_at_most(path, monkeypatch):
    with Store.open(path) as store:
        every = rows_inside(store, ())
        assert every.n_samples == len(every.cells) == store.spec.data.rows
        monkeypatch.setattr("fairdesk.gui.workspace.groups.data_rows.MOST", 7)
        few = rows_inside(store, ())
        assert len(few.cells) == 7
        assert few.sentence().endswith("rows of the data; the first 7 of them are shown")
        assert few.n_samples == every.n_samples
        assert shown_columns(store.spec)[-1] == store.spec.label
    assert MOST == 500


def test_keys_lead_from_the_findings_to_the_people_and_back(qtbot, found):
    view = found.groups.findings
    table = view.list.shown[LIST]
    # a table that scrolls both ways is folded away until it is wanted
    assert not view.rows.isVisible()
    table.setFocus()
    qtbot.waitUntil(table.hasFocus, timeout=3_000)
    QTest.keyClick(table, Qt.Key.Key_Down)
    assert view.finding.rule_set == ELDERS
    QTest.keyClick(table, Qt.Key.Key_Return)
    assert view.rows.table.hasFocus()
    QTest.keyClick(view.rows.table, Qt.Key.Key_Escape)
    assert table.hasFocus()


def test_figures_stream_in_and_stay_still_while_they_are_read(qtbot, opened, path):
    workspace = shown(opened, path)
    view = workspace.groups.findings
    workspace.groups.tabs.setCurrentWidget(view)
    live = RunState(2, "testsgd", "running", figures=(MINED, ELDERS))
    workspace._session.driver._told = live
    workspace._session.driver._thread = object()
    try:
        view.runs.follow(live)
        assert [each.rule_set for each in view.listed] == [ELDERS]
        later = msgspec.structs.replace(live, figures=FIGURES)
        view.runs.follow(later)
        qtbot.waitUntil(lambda: len(view.listed) == 3, timeout=10_000)
        # what was chosen by itself stays chosen, wherever it is now
        assert view.finding.rule_set == ELDERS
        table = view.list.shown[LIST]
        assert table.currentRow() == 1
        table.setFocus()
        QTest.keyClick(table, Qt.Key.Key_Up)
        assert view.finding.rule_set == WORST
        view.runs.follow(msgspec.structs.replace(live, figures=(MINED, WORST)))
        qtbot.waitUntil(view._chip.isVisible, timeout=10_000)
        assert len(view.listed) == 3
        view._chip.click()
        assert [each.rule_set for each in view.listed] == [WORST]
        assert not view._chip.isVisible()
    finally:
        workspace._session.driver._thread = None


def test_where_no_rule_set_has_the_support_that_is_said(opened, path):
    none = msgspec.structs.replace(MINED, rule_sets=0, sweep=(), notes=("Nobody is old.",))
    measure(path, "testsgd", (none,))
    view = shown(opened, path).groups.findings
    assert not view.list.isVisible()
    assert any(each.startswith("No subgroup") for each in told(view.top))
    assert "Nobody is old." in told(view.tested)
    assert "minimum support of 5 % of the rows" in plain(view._none.text())


def test_one_result_at_every_support_is_one_sentence(opened, path):
    sweep = tuple(msgspec.structs.replace(MINED.sweep[0], theta=each) for each in (0.05, 0.1, 0.2))
    mined = msgspec.structs.replace(MINED, sweep=sweep)
    measure(path, "testsgd", (mined, *FIGURES[1:]))
    supports = shown(opened, path).groups.findings.supports
    (said,) = told(supports.blocks)
    assert said.startswith(phrases.ANY_SUPPORT.format("5 %", "20 %"))
    assert "62.4 percentage points" in said
    assert not supports.blocks.shown


def test_a_smaller_support_is_asked_for(qtbot, opened, path):
    number = measure(path, "testsgd", FIGURES, options={"bins": 4})
    workspace = shown(opened, path)
    supports = workspace.groups.findings.supports
    assert not supports.isVisible()
    workspace.groups.findings.experts.set_open(opened=True)
    assert supports.isVisible()
    assert [row[:3] for row in rows(supports.blocks, "sweep-")] == [
        ["5 %", "1,590", "62.4"],
        ["10 %", "720", "52.0"],
        ["20 %", "110", "31.0"],
    ]
    asked = []
    workspace.runner.ask = asked.extend
    with qtbot.waitSignal(workspace._session.wishes.find_groups_again) as told:
        supports._button.click()
    assert told.args == [number, 0.02]
    assert asked[0].options == {"bins": 4, "theta": 0.02}


def test_a_failed_run_offers_another(qtbot, opened, path):
    measure(path, "testsgd", FIGURES, state="failed")
    workspace = shown(opened, path)
    view = workspace.groups.findings
    assert view._banner.isVisible()
    (again,) = view._banner.findChildren(QPushButton)
    with qtbot.waitSignal(workspace._session.wishes.find_groups):
        again.click()


def test_other_methods_stand_beside_it(qtbot, opened, path):
    measure(path, "testsgd", FIGURES)
    themis = measure(path, "themis-groups", (GAP,))
    measure(path, "fairfictplay", (LINEAR,))
    workspace = shown(opened, path)
    others = workspace.groups.findings.others
    assert any("40.0 percentage points lower" in each for each in told(others))
    view = others.blocks
    key = next(iter(view.shown))
    assert rows(view, key) == [
        ["sex = male", "31.2 %", "sex = female", "24.1 %", "7.1", "6.0 to 8.2"]
    ]
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
    for button in workspace.groups.findings.others.buttons.values():
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
    workspace.requests.run_method("groups")
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
    assert plain(bar.figures["share"]._number.text()) == "58.4 percentage points"
    assert bar.figures["share"]._below.text() == "largest gap of 1,590 subgroups"
    assert bar.figures["tried"]._below.text() == "instances tested"
    assert not bar.figures["pairs"].isVisible()
    bar.show_live(RunState(8, "themis-groups", "running", figures=(GAP,)), RunSpec("themis-groups"))
    assert plain(bar.figures["share"]._number.text()) == "7.1 percentage points"
    bar.show_live(RunState(9, "maft", "running", tried=10), RunSpec("maft"))
    assert bar.figures["tried"]._below.text() == "instances tested"


def test_the_overview_tells_of_groups_and_offers_to_look(found, opened, path):
    assert found.overview.cards[Question.SUBGROUPS].answer.said.value == "58.4"
    step = next_step(None, None, "applicants", grouped=False, individual=False)
    assert step.page == FIND_GROUPS
    assert next_step(None, None, "applicants", individual=False).page == "Groups"


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
    assert rows(view.table, TERM_LIST) == [
        ["gender", "gay", "12", "300", "62.0 %", "9 of 40"],
        ["gender", "straight", "3", "300", "91.0 %", "2 of 40"],
        ["age", "old", "30", "280", "88.0 %", "0 of 30"],
    ]
    assert view.term == TERMS[0]
    ((row, text, decided, *_other),) = rows(view.detail, "examples")
    assert (row, text, decided) == ("2", f"“{FLIP.text}”", "toxic (0.410)")
    qtbot.waitUntil(lambda: "texts" in view.detail.shown, timeout=10_000)
    assert rows(view.detail, "texts")[1][0] == "2"
    assert "<b>Gay</b>" in rows(view.detail, "texts")[1][1]
    view._category.setCurrentIndex(view._category.findData("age"))
    assert view.listed == [TERMS[2]]
    assert view.term == TERMS[2]
    # found by its name, whichever category is shown
    workspace.show_page(OVERVIEW)
    (found,) = (each for each in workspace.found_by("straight") if "straight" in each.name)
    assert found.name == "Identity term: straight"
    found.show()
    assert view.isVisible()
    assert view.term == TERMS[1]
    assert view.table.shown[TERM_LIST].currentRow() == 1
    view.table.picked.emit(TERM_LIST, 0, 0)
    assert view.term == TERMS[0]
    # rules of terms are findings too, but no rows of the data are in them
    workspace.groups.tabs.setCurrentWidget(workspace.groups.findings)
    assert workspace.groups.findings.finding.rule_set == by_terms
    assert not workspace.groups.findings.individuals.isVisible()


def test_texts_with_a_term_are_found_whole_word(texts):
    lists = {"gender": ("gay", "straight")}
    number = measure(texts, "testsgd", TERMS, text="text", terms=lists)
    gay, straight = (TermRate("gender", name, 1, 1, 0.5, 1, 0) for name in lists["gender"])
    with Store.open(texts) as store:
        found = texts_with(store, number, gay)
        assert texts_with(store, number, straight) == []
    assert len(found) == 20
    assert [row for row, _text in found[:2]] == [1, 2]
    assert found[1][1].startswith("A <b>Gay</b> poet")


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
    workspace.show_page(DATA)
    qtbot.waitUntil(lambda: COLUMNS in workspace.data.view.shown, timeout=10_000)
    roles = workspace.data.view.shown[COLUMNS]
    told = {roles.item(row, 0).text(): roles.item(row, 5).text() for row in range(roles.rowCount())}
    assert told["sex"] == "protected, not a model input"
    workspace.show_page(GROUPS)
    model = workspace.groups.findings.rows.table.model()
    qtbot.waitUntil(lambda: model.rowCount() > 0, timeout=10_000)
    assert model.headerData(1, Qt.Orientation.Horizontal) == "◆ sex"
    assert model.index(0, 1).data() == "female"
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
        model=input_check.card_of(table, "job"),
        mapping=input_check.mapping_of("cook or pilot"),
    )
    Store.create(decided, asks, table).close()
    workspace = opened(decided)
    assert workspace.groups.tabs.currentWidget() is workspace.groups.tables
    begun = []
    workspace._session.start = lambda worker, run: begun.append((worker, run))
    workspace.requests.run_method("groups")
    workspace.requests.find_groups()
    ((worker, run),) = begun
    assert run.method == "groups"
    worker.close()


def test_the_table_of_runs_tells_what_came_of_them(opened, path):
    measure(path, "testsgd", FIGURES)
    measure(path, "fairfictplay", (LINEAR,))
    measure(path, "themis-groups", ())
    runs = opened(path).overview._runs
    assert [plain(runs.item(row, 3).text()) for row in range(3)] == [
        "1,590 subgroups tested, largest gap 58.4 percentage points",
        "largest gap 40.0 percentage points",
        "–",
    ]


def test_a_bar_below_counts_what_is_asked_about_and_an_empty_run(qtbot):
    bar = RunBar()
    qtbot.addWidget(bar)
    bar.show()
    bar.show_live(RunState(8, "testsgd", "running"), RunSpec("testsgd"))
    assert bar.figures["share"]._number.text() == "–"
    assert bar.figures["share"]._below.text() == "gap"
    bar.show_live(RunState(9, "groups", "running", tried=200), RunSpec("groups"))
    assert not bar.figures["share"].isVisible()
