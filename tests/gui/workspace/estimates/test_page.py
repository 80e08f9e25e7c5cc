import msgspec
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QTableWidget

from fairdesk.answers import Question, main_shares
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.store.records import RunState
from fairdesk.audit.store.store import Store
from fairdesk.charts.kinds.lines import Mark
from fairdesk.document.shares import course_of_estimate
from fairdesk.gui.kit import parts
from fairdesk.gui.workspace.common.blocks_view import StatementView
from fairdesk.gui.workspace.common.run_page import COMPARE, EXAMPLES, NAMES, SHARE, shares
from fairdesk.gui.workspace.overview.page import ESTIMATE, next_step
from fairdesk.gui.workspace.shell.run_bar import RunBar
from fairdesk.results.events import Progress
from fairdesk.results.groups import GroupGap
from fairdesk.results.individual import GradientFidelity, Share
from fairdesk.wording.figures import share_cell
from tests import phrases
from tests.gui.auditing import said_of

BOTH = ("age", "sex")
DOMAIN = Share(
    *("domain", BOTH, 40_000, 1_520, False, 0.95, 0.038, 0.0361, 0.0399, 0.0350, 0.0412),
    trials=(0.036, 0.041, 0.037, 0.038),
    course=(
        (1_000.0, 0.04, 0.0, 0.9),
        (10_000.0, 0.039, 0.03, 0.05),
        (40_000.0, 0.038, 0.035, 0.041),
    ),
)
DATA = Share("data", BOTH, 200, 3, True, 0.95, 0.015, 0.015, 0.015, 0.015, 0.015)
NONE = Share("domain", BOTH, 3_000, 0, False, 0.95, 0.0, 0.0, 0.00123, 0.0, 0.0021)
SEX = msgspec.structs.replace(
    DOMAIN, attributes=("sex",), hits=400, estimate=0.01, low=0.009, high=0.011
)
GAP = GroupGap(("sex",), 9_000, 0.071, 0.06, 0.082, 0.99, (1.0,), (0.0,), 0.312, 0.241)


def measure(path, method, figures, state="done"):
    """Write a run that measured; gives its number."""
    with Store.open(path) as store:
        run = store.begin_run(RunSpec(method, budget=Budget(seconds=60.0)))
        store.add_progress(run, 2.0, Progress("sampling", 4, 4, 40_000, 1_520, 120_000))
        store.measure(run, figures)
        if state != "running":
            store.end_run(run, state)
        return run


def said(workspace):
    """What is stated on the page."""
    return [
        f"{each._kind.text()} {each._sentence.text()} {each._more.text()}".replace("\u00a0", " ")
        for each in workspace.share.view.findChildren(StatementView)
    ]


def unfold(workspace):
    for fold in workspace.share.view.findChildren(parts.Fold):
        fold.set_open(opened=True)


def standing(workspace, name):
    text = workspace.steps.item(NAMES.index(name)).data(Qt.ItemDataRole.AccessibleTextRole)
    return text.replace("\u00a0", " ")


def test_before_an_estimate_the_page_offers_one(qtbot, opened, path):
    workspace = opened(path)
    workspace.show_page(SHARE)
    assert "not estimated" in standing(workspace, SHARE)
    (button,) = (
        each for each in workspace.share.findChildren(QPushButton) if each.isVisibleTo(workspace)
    )
    with qtbot.waitSignal(workspace._session.wishes.estimate):
        button.click()


def test_a_share_is_stated_with_its_evidence_and_all_are_drawn_and_listed(opened, path):
    measure(path, "estimate", [DOMAIN, DATA, SEX])
    workspace = opened(path)
    workspace.show_page(SHARE)
    view = workspace.share.view
    (exact,) = said(workspace)
    assert exact.startswith(f"□ Observed {phrases.IF_WE_CHANGE} the applicant’s age, sex or both")
    assert f"{phrases.AT_LEAST_ONE_OTHER} for 3 of 200 applicants in the data (1.5 %)" in exact
    assert phrases.EVERY_ONE in exact
    assert "1.5 %, all tested" in standing(workspace, SHARE)
    # data rows first; combinations are in a fold, which is empty until it is opened
    assert [*view.shown] == ["bars-data"]
    unfold(workspace)
    assert [bar.exact for bar in view.shown["bars-data"].drawing.bars] == [True]
    others = view.shown["bars-domain"]
    assert [bar.exact for bar in others.drawing.bars] == [False, False]
    assert "sex changes" in others.accessibleDescription()
    (table,) = (each for key, each in view.shown.items() if key.startswith("shares-"))
    assert table.rowCount() == 3
    courses = [key for key in view.shown if key.startswith("course-")]
    assert len(courses) == 2
    assert view.shown[courses[0]].drawing.title == "Progress of the estimate"


def test_the_chart_follows_the_statement(qtbot, opened, path):
    measure(path, "estimate", [DOMAIN, DATA])
    workspace = opened(path)
    workspace.show_page(SHARE)
    page, view = workspace.share, workspace.share.view
    unfold(workspace)
    (stated,) = view.findChildren(StatementView)
    top = lambda widget: widget.mapTo(page, QPoint(0, 0)).y()  # noqa: E731
    shown = view.shown
    qtbot.waitUntil(lambda: top(stated) < top(shown["bars-data"]) < top(shown["bars-domain"]))


def test_a_bar_lists_the_pairs_that_it_counts(qtbot, opened, path):
    workspace = opened(path)
    with Store.open(path) as store:
        (record,) = store.runs()
    assert record.found
    workspace.share._take(msgspec.structs.replace(record, figures=(DOMAIN, DATA, SEX)))
    workspace.show_page(SHARE)
    page, filters = workspace.share, workspace.examples.pairs.filters
    unfold(workspace)
    rows, sex = (
        "Applicants in the data, when only age, sex or both change",
        "Input domain, when only sex changes",
    )
    for key, place, name, alone, within in (
        ("bars-data", 0, rows, None, 0.0),
        ("bars-domain", 1, sex, "sex", None),
    ):
        workspace.show_page(SHARE)
        page._take(msgspec.structs.replace(record, figures=(DOMAIN, DATA, SEX)))
        bars = page.view.shown[key]
        spot = bars.laid.spots[place]
        assert spot.tip.startswith(name)
        middle = QPoint(int(spot.wide / 2), int(spot.y + spot.tall / 2))
        qtbot.mouseClick(bars, Qt.MouseButton.LeftButton, pos=middle)
        assert workspace._pages.currentWidget() is workspace.examples
        assert workspace.examples.runs.currentData() == record.id
        assert (filters.wanted.alone, filters.wanted.within) == (alone, within)


def test_where_nobody_was_found_the_upper_bound_is_said(opened, path):
    measure(path, "estimate", [NONE])
    workspace = opened(path)
    workspace.show_page(SHARE)
    (sentence,) = said(workspace)
    assert "at most 0.13 %" in sentence


def test_a_search_that_found_nobody_tells_its_bound_on_the_overview(opened, path):
    measure(path, "uniform", [NONE])
    workspace = opened(path)
    assert "at most 0.13 %" in said_of(workspace, Question.SHARE)
    workspace.show_page(SHARE)
    assert said(workspace)


def test_examples_never_show_a_share(opened, path):
    measure(path, "uniform", [DOMAIN])
    workspace = opened(path)
    workspace.show_page(EXAMPLES)
    page = workspace.examples
    assert "3.8" not in page._headline.text()


def test_sets_of_attributes_stand_in_a_table_the_most_common_first(opened, path):
    measure(path, "themis", [SEX, DOMAIN, GAP])
    workspace = opened(path)
    workspace.show_page(SHARE)
    (table,) = workspace.share.findChildren(QTableWidget)
    assert [table.item(row, 0).text() for row in range(2)] == ["age and sex", "sex"]
    assert table.item(0, 2).text() == "not tested"
    assert table.item(1, 2).text() == "7.1 percentage points (6.0 to 8.2)"
    assert table.item(1, 3).text().startswith("sex = male: 31.2")
    assert table.item(1, 4).text().startswith("sex = female: 24.1")


def test_a_pruned_set_leaves_the_greatest_that_was_asked():
    age = msgspec.structs.replace(SEX, attributes=("age",), estimate=0.03)
    assert main_shares([SEX, age]) == (age,)
    assert main_shares([SEX, DATA, DOMAIN]) == (DATA, DOMAIN)
    assert main_shares([]) == ()


def test_the_course_has_its_band_and_the_trials_as_dots():
    drawing = course_of_estimate(DOMAIN)
    estimate, trials = drawing.lines
    assert trials.mark is Mark.DOTS
    assert trials.x.tolist() == [10_000, 20_000, 30_000, 40_000]
    assert estimate.high[0] == pytest.approx(90)
    # what is settled can be read, however wide the band began
    assert drawing.y_high < 10
    header, rows = drawing.table()
    assert header[-2:] == ("from", "to")
    assert rows[2] == ("estimate", "40000", "3.80", "3.50", "4.10")
    assert course_of_estimate(DATA).empty


def test_a_share_is_short_in_a_bar():
    assert share_cell(DOMAIN).replace("\u00a0", " ") == "3.80 % (3.61 to 3.99)"
    assert share_cell(DATA).replace("\u00a0", " ") == "1.5 %"


def test_the_bar_below_shows_an_estimate_and_no_hits(qtbot):
    bar = RunBar()
    qtbot.addWidget(bar)
    bar.show()
    state = RunState(7, "estimate", "running", tried=40_000, found=1_520, figures=(DOMAIN,))
    bar.show_live(state, RunSpec("estimate"))
    assert not bar.figures["pairs"].isVisible()
    assert bar.figures["share"]._number.text().replace("\u00a0", " ") == "3.80 % (3.61 to 3.99)"
    assert (
        bar.figures["share"].findChildren(type(bar.figures["share"]._number))[1].text()
        == "estimated, 95 %"
    )
    bar.show_live(
        RunState(8, "uniform", "running", tried=10, found=4, queries=30), RunSpec("uniform")
    )
    assert bar.figures["pairs"].isVisible()
    assert not bar.figures["share"].isVisible()
    # how many queries a pair takes says nothing of how often there are some
    assert not any("per pair" in each.text() for each in bar.findChildren(QLabel))


def test_figures_are_shown_while_they_come(qtbot, opened, path):
    workspace = opened(path)
    workspace.show_page(SHARE)
    workspace.share.runs.follow(RunState(2, "estimate", "running"))
    assert said(workspace) == []
    workspace.share.runs.follow(RunState(2, "estimate", "running", figures=(DOMAIN,)))
    qtbot.waitUntil(lambda: [each[0] for each in said(workspace)] == ["▨"], timeout=10_000)


def test_a_failed_estimate_offers_another(qtbot, opened, path):
    measure(path, "estimate", [DOMAIN], state="failed")
    workspace = opened(path)
    workspace.show_page(SHARE)
    assert workspace.share._banner.isVisible()
    (again,) = workspace.share._banner.findChildren(QPushButton)
    with qtbot.waitSignal(workspace._session.wishes.estimate):
        again.click()


def test_the_three_kinds_of_statement_stand_side_by_side(qtbot, opened, path):
    measure(path, "estimate", [DOMAIN, DATA])
    workspace = opened(path)
    assert workspace.overview.cards[Question.EXAMPLE].answer.evidence == "example"
    share = workspace.overview.cards[Question.SHARE].answer
    assert (share.evidence, share.said.value.replace("\u00a0", " ")) == ("observed", "1.5 %")
    # beside a share of people, one of combinations would be read as of people
    assert "3.80 %" not in said_of(workspace, Question.SHARE)
    groups = workspace.overview.cards[Question.GROUPS]
    qtbot.waitUntil(lambda: groups.answer.evidence == "observed", timeout=20_000)


def test_the_run_that_knows_most_is_the_one_to_tell(opened, path):
    measure(path, "estimate", [DOMAIN])
    fewer = msgspec.structs.replace(DOMAIN, n_samples=9_000, estimate=0.042)
    measure(path, "estimate", [fewer])
    measure(path, "themis", [msgspec.structs.replace(DOMAIN, n_samples=90_000, estimate=0.044)])
    workspace = opened(path)
    said = said_of(workspace, Question.SHARE)
    assert "4.40 %" in said
    assert "4.20" not in said
    assert "3.80" not in said


def test_a_share_of_all_people_in_the_data_is_told_before_any_of_combinations(opened, path):
    measure(path, "estimate", [DOMAIN, DATA])
    measure(path, "themis", [msgspec.structs.replace(DOMAIN, n_samples=90_000, estimate=0.044)])
    workspace = opened(path)
    said = said_of(workspace, Question.SHARE)
    assert "1.5 %" in said
    assert "4.40" not in said
    assert "1.5 %, all tested" in standing(workspace, SHARE)


def test_a_share_of_those_near_real_people_is_not_told_as_of_all(opened, path):
    with Store.open(path) as store:
        run = store.begin_run(RunSpec("estimate", max_distance=0.1))
        store.measure(run, [DOMAIN])
        store.end_run(run, "done")
    workspace = opened(path)
    assert not workspace.overview.cards[Question.SHARE].answer.known
    workspace.show_page(SHARE)
    assert "within Gower distance 0.1 of a data row" in workspace.share._standing.text()


def test_results_are_read_whole_in_the_table_of_runs(opened, path):
    measure(path, "estimate", [DOMAIN])
    runs = opened(path).overview._runs
    place = [runs.horizontalHeaderItem(i).text() for i in range(runs.columnCount())].index("Result")
    text = runs.item(1, place).text()
    assert runs.columnWidth(place) >= runs.fontMetrics().horizontalAdvance(text) + 14


def test_only_runs_with_examples_stand_on_their_page(opened, path):
    estimate = measure(path, "estimate", [DOMAIN])
    with Store.open(path) as store:
        likeness = GradientFidelity(0.5, 100, 0.97, 0.9, 0.8, 400, 30)
        diagnosis = store.begin_run(RunSpec("diagnose"))
        store.measure(diagnosis, [likeness])
        store.end_run(diagnosis, "done")
        found, *_ = store.runs()
    examples = opened(path).examples
    listed = [examples.runs.itemData(i) for i in range(examples.runs.count())]
    assert found.id in listed
    assert diagnosis not in listed
    assert estimate not in listed
    assert examples.runs.shown == found.id


def test_the_next_step_after_examples_is_an_estimate(path):
    with Store.open(path) as store:
        (record,) = store.runs()
    assert next_step(record, record, "applicants", estimated=False).page == ESTIMATE
    assert next_step(record, record, "applicants").page == EXAMPLES
    nothing = msgspec.structs.replace(record, found=0)
    assert "upper bound" in next_step(nothing, nothing, "applicants", estimated=False).words


def test_opening_a_run_shows_what_it_answered(opened, path):
    number = measure(path, "estimate", [DOMAIN])
    workspace = opened(path)
    workspace.show_run(number)
    assert workspace.steps.currentRow() == NAMES.index(SHARE)
    assert workspace.share.runs.shown == number
    workspace.show_run(1)
    assert workspace.steps.currentRow() == NAMES.index(EXAMPLES)
    assert standing(workspace, COMPARE).endswith("not run")


def test_nobody_asked_is_no_share(path):
    measure(path, "estimate", [msgspec.structs.replace(NONE, n_samples=0)])
    with Store.open(path) as store:
        assert shares(store.runs()[-1]) == ()
