"""Tables of groups as the auditor sees them: what is counted, how it came, the rows behind it."""

import msgspec
import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QPushButton, QVBoxLayout, QWidget

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.records import RunState
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.attributes import Role, attribute_of, encode
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.data.table import Kind, Table
from fairdesk.document import groups
from fairdesk.groups.context import GroupContext
from fairdesk.groups.metrics import measuring
from fairdesk.gui.kit.parts import Fold, Words
from fairdesk.gui.workspace.common.blocks_view import StatementView
from fairdesk.gui.workspace.groups.data_rows import MOST
from fairdesk.gui.workspace.groups.page import GroupTables, RowsDialog, rows_behind
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.events import Measured, Progress
from fairdesk.results.groups import Bin, GroupLine, GroupTable
from fairdesk.wording.groups.columns import columns
from fairdesk.wording.groups.tables import table_title
from tests import phrases
from tests.gui.auditing import make_audit
from tests.gui.counting import BOSTON, table
from tests.report.building import spec_of, write_people

#: What was counted, in the order in which it is offered after both side by side.
LABEL, DECISIONS = 1, 2


def plain(text):
    return text.replace("\u00a0", " ")


def study_of(store, edges=None):
    """See an audit's data as a method does; the decisions are the labels, some of them turned."""
    spec, data = store.spec, store.table()
    good, known = favourable_rows(data, spec.label, spec.favourable)
    label = np.where(known, good * 1.0, np.nan)
    turned = np.random.default_rng(0).random(len(label)) < 0.2
    grouping = spec.domain.grouping
    return GroupContext(
        domain=spec.domain,
        rows=spec.domain.encode(data),
        groups=encode(grouping, data),
        inside=known,
        label=label,
        decided=np.where(turned, 1 - label, label),
        model=None,
        favourable=1,
        decisions=("no", "yes"),
        edges=edges or {},
    )


def counted(store, edges=None):
    study = study_of(store, edges)
    events = measuring.search(
        study, study.rows, measuring.MeasureOptions(), np.random.default_rng(0)
    )
    return [event.figures for event in events if isinstance(event, Measured)][-1]


def measure(path, figures=None, state="done", message="", **asked):
    """Write a run that measured groups; gives its number."""
    with Store.open(path) as store:
        spec = RunSpec("groups", **asked)
        run = store.begin_run(spec)
        store.add_progress(run, 0.4, Progress("label", 1, 1, 200, 0, 200))
        store.measure(run, counted(store, spec.edges) if figures is None else figures)
        store.end_run(run, state, message)
        return run


@pytest.fixture
def show(qtbot, themed, path):
    """Show the tables of an audit by themselves, once its runs are read."""
    made = []

    def make(of=path):
        holder = QWidget()
        qtbot.addWidget(holder)
        holder.resize(1000, 700)
        with Store.open(of) as store:
            session = Session(store, holder)
        made.append((session, holder))
        tables = GroupTables(session)
        QVBoxLayout(holder).addWidget(tables)
        holder.show()
        session.load()
        qtbot.waitUntil(lambda: session.loaded)
        return tables

    yield make
    for session, _holder in made:
        session.close()


@pytest.fixture
def tables(show, path):
    """The tables of a run that measured."""
    measure(path)
    return show()


def table_of(shown):
    """The one table that a view of the page is about."""
    (each,) = shown.tables
    return each


def part(shown, what="rates"):
    """The widget of a view's table or chart, by what it shows."""
    return shown.view.shown[groups.key_of(what, table_of(shown))]


def texts(figures):
    return [
        [figures.item(row, column).text() for column in range(figures.columnCount())]
        for row in range(figures.rowCount())
    ]


def open_folds(shown):
    for fold in shown.view.findChildren(Fold):
        fold.set_open(opened=True)


def header(figures):
    heads = (figures.horizontalHeaderItem(at).text() for at in range(figures.columnCount()))
    return [head.replace("\n", " ") for head in heads]


# Before a run, and out of sight


def test_a_page_out_of_sight_is_made_ready_and_not_made_again_when_it_is_shown(
    qtbot, show, path, monkeypatch
):
    drawn = []
    show_run = GroupTables._show_run

    def count(page, run):
        drawn.append(run.id)
        show_run(page, run)

    monkeypatch.setattr(GroupTables, "_show_run", count)
    run = measure(path)
    made = show()
    assert drawn == [run]
    made.hide()
    made._session.load()
    qtbot.waitUntil(lambda: drawn == [run, run])
    made.show()
    assert drawn == [run, run]
    # what goes on is drawn only where somebody looks
    made.hide()
    made._take(RunState(run, "groups", "running"))
    assert not made._session.ahead.isActive()
    made.show()
    assert len(drawn) == 3


def test_before_any_run_the_labels_are_told_and_a_button_measures_the_rest(show, qtbot):
    made = show()
    said = []
    made._session.wishes.run_method.connect(said.append)
    empty = made._stack.currentWidget()
    qtbot.waitUntil(lambda: len(made.recorded.view.shown) == 3)
    assert phrases.RECORDED_OUTCOMES in [each.text() for each in empty.findChildren(Words)]
    by_sex = made.recorded.view.shown["rates-label-yes-sex"]
    by_sex.setCurrentCell(0, 2)
    assert made.detail.group.text() == f"sex = {by_sex.item(0, 0).text()}"
    assert made.detail.formula.text().startswith("Rate = favourable / members = ")
    # another table has no picked figure any more
    made.recorded.view.shown["rates-label-yes-age"].setCurrentCell(0, 2)
    assert not by_sex.selectedItems()
    button = next(each for each in empty.findChildren(QPushButton) if "metrics" in each.text())
    assert button.isEnabled()
    button.click()
    assert said == ["groups"]


def test_a_run_of_another_kind_changes_nothing(show):
    assert [run.spec.method for run in show()._session.runs] == ["uniform"]
    assert show()._stack.currentIndex() == 0


def test_where_nothing_is_protected_it_says_so_and_measures_nothing(show, qtbot, tmp_path):
    file = tmp_path / "said.csv"
    file.write_text("text,kind\n" + "".join(f"a b {i},{i % 2}\n" for i in range(50)))
    data = read_table(file)
    texts = msgspec.structs.replace(data.columns[0], kind=Kind.TEXT)
    data = Table(data.source, (texts, *data.columns[1:]), data.codes)
    domain = Domain((attribute_of(texts, Role.FIXED),))
    spec = spec_of(data, "kind", "1", (), domain=domain)
    Store.create(tmp_path / "texts.fairdesk", spec, data).close()
    made = show(tmp_path / "texts.fairdesk")
    empty = made._stack.currentWidget()
    button = next(each for each in empty.findChildren(QPushButton) if "metrics" in each.text())
    assert not button.isEnabled()
    assert phrases.NO_ATTRIBUTE_PROTECTED in " ".join(
        each.text() for each in empty.findChildren(Words)
    )


# What is counted


def test_the_figures_that_are_quoted_come_first_and_every_column_can_be_seen(tables):
    first = tables.shown[0]
    assert header(part(first)) == ["age", "People", "Rate", "95\u00a0% CI", "Impact ratio"]
    open_folds(first)
    heads = {
        head for each in first.view.shown.values() if hasattr(each, "head") for head in header(each)
    }
    wanted = {column.head for column in columns(table_of(first))}
    assert wanted <= heads


def test_each_attribute_has_a_table_with_the_same_numbers_as_the_figures(tables):
    tables.kind.setCurrentIndex(LABEL)
    assert [table_of(each).attributes for each in tables.shown] == [("age",), ("sex",)]
    sex = tables.shown[1]
    told = texts(part(sex))
    for row, line in zip(told, table_of(sex).lines, strict=True):
        assert row[:2] == [*line.values, f"{line.n_samples:,}"]
        assert plain(row[2]) == f"{100 * line.favourable / line.n_samples:.1f} %"


def test_the_decisions_stand_beside_the_recorded_outcome(qtbot, tables):
    both = [
        ("decisions", ("age",)),
        ("label", ("age",)),
        ("decisions", ("sex",)),
        ("label", ("sex",)),
    ]
    assert [(table_of(each).of, table_of(each).attributes) for each in tables.shown] == both
    first, second = (each.view for each in tables.shown[:2])
    tables.window().resize(1200, 800)
    qtbot.waitUntil(lambda: second.x() > first.x())
    assert first.y() == second.y()
    tables.window().resize(600, 800)
    qtbot.waitUntil(lambda: second.y() > first.y())
    assert first.x() == second.x()


def test_tables_with_different_references_say_so_above_them(show, path):
    label = GroupTable(
        *("label", "1", ("sex",), 200, 0, 0, 60, 1),
        lines=tuple(
            GroupLine((value,), (at,), True, 100, 0.5, 10, 0.1, 0.0, 1.0, False, 1.0)
            for at, value in enumerate(("female", "male"))
        ),
    )
    same = msgspec.structs.replace(label, of="decisions")
    other = msgspec.structs.replace(same, reference=0)
    for decisions, said in ((same, False), (other, True)):
        measure(path, (label, decisions))
        made = show()
        assert len(made.shown) == 2
        words = [each.text() for each in made.findChildren(Words)]
        assert any("against different groups (female and male)" in each for each in words) is said


def test_label_and_decisions_can_be_chosen_and_the_attributes_stay(tables):
    tables.by.setCurrentIndex(1)
    assert [table_of(each).attributes for each in tables.shown] == [("age", "sex")] * 2
    assert "map-decisions-yes-age-sex" in tables.shown[0].view.shown
    assert tables.kind.itemText(LABEL) == "Recorded outcome “yes”"
    tables.kind.setCurrentIndex(DECISIONS)
    assert [table_of(each).of for each in tables.shown] == ["decisions"]
    assert [table_of(each).attributes for each in tables.shown] == [("age", "sex")]


def test_with_labels_error_rates_have_a_table_of_their_own(tables):
    tables.kind.setCurrentIndex(LABEL)
    assert [len(each.view.findChildren(Fold)) for each in tables.shown] == [1, 1]
    tables.kind.setCurrentIndex(DECISIONS)
    assert [len(each.view.findChildren(Fold)) for each in tables.shown] == [2, 2]
    # made once somebody wants to see it
    sex = tables.shown[1]
    assert not any("errors" in key for key in sex.view.shown)
    open_folds(sex)
    errors = part(sex, "errors")
    assert header(errors)[1:] == [phrases.TRUE_POSITIVE_RATE, "False positive rate"]
    line = table_of(sex).lines[0]
    expected = 100 * line.true_positives / line.positives
    assert plain(errors.item(0, 1).text()) == f"{expected:.1f} % of {line.positives}"


def test_what_is_undefined_says_so_and_is_sorted_below_all_numbers(show, path):
    one = table({**BOSTON, ("Asian",): (0, 0)})
    measure(path, (one,))
    made = show()
    figures = part(made.shown[0])
    assert texts(figures)[3][:3] == ["Asian", "0", "undefined"]
    assert "nan" not in str(texts(figures)).lower()
    figures.sortItems(2, Qt.SortOrder.AscendingOrder)
    assert [row[0] for row in texts(figures)] == ["Asian", "Black", "Hispanic", "White"]


def test_scores_bring_their_own_columns_and_calibration(show, path):
    bins = (Bin(0.0, 0.5, 40, 0.2, 0.25), Bin(0.5, 1.0, 60, 0.7, 0.75))
    scores = table(of="scores", calibration=bins, mean_score=0.4, smd=-0.2)
    measure(path, (table(), scores))
    made = show()
    assert header(part(made.shown[0]))[-1] == "Impact ratio"
    made.kind.setCurrentIndex(1)
    assert header(part(made.shown[0]))[-2:] == ["Mean score", "SMD"]
    open_folds(made.shown[0])
    drawn = part(made.shown[0], "calibration").drawing
    assert [line.name for line in drawn.lines][-1] == "perfect calibration"


# How a figure came


def test_a_picked_figure_tells_its_formula_and_marks_the_group_everywhere(show, path):
    measure(path, (table(),))
    made = show()
    shown = made.shown[0]
    assert not made.detail.isVisible()
    open_folds(shown)
    part(shown).setCurrentCell(0, 4)
    assert made.detail.group.text() == "race = Black"
    told = plain(made.detail.formula.text())
    assert told.startswith("Impact ratio = ")
    assert "(133 / 197) / (1,527 / 1,681) = 0.74" in told
    assert part(shown, "forest").chosen_key == 0
    assert part(shown, "against").currentRow() == 0
    assert made.detail.rows.isEnabled()
    part(shown, "against").setCurrentCell(0, 4)
    assert made.detail.formula.text().startswith("Interval (95 %) = ratio × exp(")


def test_charts_and_table_pick_the_same_group(tables, qtbot):
    tables.by.setCurrentIndex(1)
    shown = tables.shown[0]
    heat = part(shown, "map")
    qtbot.keyClick(heat, Qt.Key.Key_Down)
    first = heat.drawing.cells[0, 0]
    assert part(shown, "forest").chosen_key == part(shown).currentRow() == first
    assert tables.detail.group.text().startswith("age ")
    assert tables.detail.formula.text().startswith("Rate = ")


def test_only_one_table_has_a_picked_figure(tables):
    first, second = tables.shown[:2]
    part(first).setCurrentCell(1, 2)
    part(second).setCurrentCell(0, 2)
    assert part(first, "forest").chosen_key is None
    assert not part(first).selectedItems()
    assert part(second, "forest").chosen_key == 0


# The rows behind


@pytest.mark.parametrize(
    ("protected", "edges"),
    [(("sex", "age"), {}), (("sex", "age"), {"age": (30.0, 50.0)}), (("sex", "job"), {})],
)
def test_as_many_rows_stand_behind_a_figure_as_were_counted(tmp_path, protected, edges):
    with Store.open(make_audit(tmp_path, runs=0, protected=protected)) as store:
        tables = [each for each in counted(store, edges) if each.of == "label"]
        for each in tables:
            for line in each.lines:
                behind = rows_behind(store, edges, each, line)
                assert behind.n_samples == len(behind.cells) == line.n_samples
                only = rows_behind(store, edges, each, line, favourable=True)
                assert only.n_samples == line.favourable
        # of everybody with a label somebody stands in each table, in no group that is known too
        unknown = sum(line.n_samples for line in tables[-1].lines if not line.known)
        assert bool(unknown) == ("job" in protected)


def test_the_rows_are_those_of_the_group_with_the_outcome_first(path):
    with Store.open(path) as store:
        both = next(each for each in counted(store) if len(each.attributes) == 2)
        line = both.lines[0]
        behind = rows_behind(store, {}, both, line)
        assert behind.heads[:4] == ("Row", "credit", "age", "sex")
        assert {row[3] for row in behind.cells} == {line.values[1]}
        data = store.table()
        number = int(behind.cells[0][0].replace(",", "")) - 1
        age = data.columns[data.index("age")].text(data.codes[number, data.index("age")])
        assert behind.cells[0][2] == age


def test_show_the_rows_lists_them_and_only_the_favourable_on_demand(tables, qtbot):
    sex = tables.shown[1]
    part(sex).setCurrentCell(0, 2)
    tables.detail.rows.click()
    dialog = next(each for each in QApplication.topLevelWidgets() if isinstance(each, RowsDialog))
    line = table_of(sex).lines[0]
    qtbot.waitUntil(lambda: dialog.rows.table.rowCount() == line.n_samples)
    assert dialog.rows._count.text() == f"{line.n_samples} rows of the data."
    dialog.only.setChecked(True)
    qtbot.waitUntil(lambda: dialog.rows.table.rowCount() == line.favourable)
    dialog.close()


def test_of_many_rows_the_first_are_listed_and_all_counted(tmp_path):
    data = read_table(write_people(tmp_path / "many.csv", rows=1400))
    spec = spec_of(data, "credit", "yes", ("sex",))
    with Store.create(tmp_path / "many.fairdesk", spec, data) as store:
        each = counted(store)[0]
        largest = max(each.lines, key=lambda line: line.n_samples)
        behind = rows_behind(store, {}, each, largest)
        assert behind.n_samples == largest.n_samples > MOST == len(behind.cells)


def test_of_the_models_own_decisions_only_whom_it_could_be_asked_about_is_listed(path):
    with Store.open(path) as store:
        label = next(each for each in counted(store) if each.attributes == ("sex",))
        decided = msgspec.structs.replace(label, of="decisions")
        # the column “job” has missing cells, and the model is fed with it
        missing = int(store.table().columns[store.table().index("job")].missing)
        behind = [rows_behind(store, {}, decided, line).n_samples for line in decided.lines]
        assert sum(behind) == len(store.table().codes) - missing < label.n_samples


# While it runs, and when it fails


def test_a_run_under_way_is_shown_as_it_counts(show, path):
    made = show()
    state = RunState(9, "groups", "running", figures=(table(),))
    made.runs.follow(state)
    assert [table_of(each).attributes for each in made.shown] == [("race",)]
    again = table({**BOSTON, ("Black",): (198, 133)})
    made.runs.run_changed.emit(
        msgspec.structs.replace(state, figures=(again, table(BOSTON, ("group",))))
    )
    assert [table_of(each).attributes for each in made.shown] == [("race",), ("group",)]
    made.runs.run_changed.emit(
        msgspec.structs.replace(state, figures=(table(), table(BOSTON, ("group",))))
    )
    assert part(made.shown[0]).item(0, 1).text() == "197"


def test_decisions_are_shown_as_soon_as_they_are_counted_unless_another_table_was_chosen(show):
    made = show()
    label, decisions = table(), table(of="decisions")
    state = RunState(9, "groups", "running", figures=(label,))
    made.runs.follow(state)
    assert [table_of(each).of for each in made.shown] == ["label"]
    both = msgspec.structs.replace(state, figures=(label, decisions))
    made.runs.run_changed.emit(both)
    assert [table_of(each).of for each in made.shown] == ["decisions", "label"]
    made.kind.setCurrentIndex(LABEL)
    scores = table(of="scores")
    made.runs.run_changed.emit(msgspec.structs.replace(both, figures=(label, decisions, scores)))
    assert [table_of(each).of for each in made.shown] == ["label"]


def test_figures_counted_anew_change_in_their_place(tables):
    open_folds(tables.shown[0])
    before = [each.view for each in tables.shown]
    widgets = list(tables.shown[0].view.shown.values())
    anew = tuple(
        msgspec.structs.replace(
            each,
            lines=tuple(
                msgspec.structs.replace(line, n_samples=line.n_samples + 1) for line in each.lines
            ),
        )
        for each in tables._tables
    )
    tables.runs.run_changed.emit(RunState(1, "groups", "running", figures=anew))
    assert [each.view for each in tables.shown] == before
    assert list(tables.shown[0].view.shown.values()) == widgets
    people = anew[0].lines[0].n_samples
    assert part(tables.shown[0]).item(0, 1).text() == f"{people:,}"


def test_a_run_that_failed_keeps_what_it_counted_and_offers_another(show, path):
    measure(path, (table(),), "failed", "The process that holds the model died.")
    made = show()
    said = []
    made._session.wishes.run_method.connect(said.append)
    assert made._banner.accessibleName().startswith("The run failed; the results so far are kept.")
    next(b for b in made._banner.findChildren(QPushButton)).click()
    assert said == ["groups"]


def test_a_run_that_counted_nothing_says_so(show, path):
    measure(path, (), "stopped")
    made = show()
    assert made._banner.accessibleName().startswith("The run ended before the first result.")


def test_everything_has_a_name_for_those_who_do_not_see_it(tables):
    assert tables.kind.accessibleName() == "What was counted"
    assert tables.by.accessibleName() == "By which attributes"
    for shown in tables.shown:
        name = table_title(tables._session.spec, table_of(shown))
        assert part(shown).accessibleName() == part(shown, "forest").accessibleName() == name
        said = shown.view.findChild(StatementView).accessibleName()
        assert said.startswith("□ Observed: ")
    part(tables.shown[0]).setCurrentCell(0, 2)
    assert tables.detail.accessibleName().startswith("age ")


def test_tab_goes_from_the_choices_through_tables_and_charts_to_what_tells_of_them(tables):
    tables.by.setCurrentIndex(1)
    tables.kind.setCurrentIndex(DECISIONS)
    shown = tables.shown[0]
    open_folds(shown)
    chain = [tables.kind]
    while (each := chain[-1].nextInFocusChain()) is not tables.kind:
        chain.append(each)
    order = [
        *(tables.kind, tables.by, part(shown), part(shown, "map"), part(shown, "forest")),
        *(part(shown, "against"), part(shown, "errors"), tables.detail.rows),
    ]
    assert [each for each in chain if each in order] == order


def test_the_figures_come_before_what_they_say(qtbot, tables):
    view = tables.shown[0].view

    def down(widget):
        return widget.mapTo(view, QPoint()).y()

    figures, said = part(tables.shown[0]), view.findChild(StatementView)
    qtbot.waitUntil(lambda: down(figures) < down(part(tables.shown[0], "forest")) < down(said))
