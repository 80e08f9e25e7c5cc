"""Blocks in the window: what is sorted, copied, picked and marked, and what keeps its place."""

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from fairdesk.audit.store.store import Store
from fairdesk.charts.kinds.forest import Forest
from fairdesk.document.blocks import (
    Callout,
    Code,
    Fact,
    Facts,
    Grid,
    Heading,
    Statement,
    Text,
    chart_block,
)
from fairdesk.gui.kit.parts import Fold, Words
from fairdesk.gui.workspace.common import blocks_view
from fairdesk.gui.workspace.common.blocks_view import BlocksView
from fairdesk.gui.workspace.session.session import Session
from tests.gui.counting import table

GRID = Grid(
    header=("group", "People", "Ratio", "p"),
    rows=(
        ("up to 9", "1,200", "▽ 0.45‡", "< 0.0001"),
        ("9 to 80", "35", "1.07", "0.678"),
        ("80 and over", "480", "too few", "–"),
        ("unknown", "7", "−0.20 (−1.00 to 0.60)", "0.0500"),
    ),
    widths=(2.0, 1.0, 1.0, 1.0),
    right=(1, 2, 3),
    caption="Rates",
    key="rates",
    note="▽ below the threshold",
)


@pytest.fixture
def view(qtbot, themed, path):
    """A view in a window."""
    holder = QWidget()
    qtbot.addWidget(holder)
    holder.resize(800, 600)
    with Store.open(path) as store:
        session = Session(store, holder)
    made = BlocksView(session)
    QVBoxLayout(holder).addWidget(made)
    holder.show()
    yield made
    session.close()


def names(figures):
    return [figures.item(row, 0).text() for row in range(figures.rowCount())]


@pytest.mark.parametrize(
    ("column", "rising"),
    [
        (1, ["unknown", "9 to 80", "80 and over", "up to 9"]),
        (2, ["80 and over", "unknown", "up to 9", "9 to 80"]),
        (3, ["80 and over", "up to 9", "unknown", "9 to 80"]),
    ],
)
def test_numbers_are_sorted_as_numbers_and_what_is_none_is_below_them(view, column, rising):
    view.show_blocks([GRID])
    figures = view.shown["rates"]
    figures.sortItems(column, Qt.SortOrder.AscendingOrder)
    assert names(figures) == rising
    # by its first column a table has its own order again
    figures.sortItems(0, Qt.SortOrder.DescendingOrder)
    assert names(figures) == [row[0] for row in GRID.rows]


def test_what_is_picked_in_a_sorted_table_is_the_row_of_the_block(view):
    view.show_blocks([GRID])
    picked = []
    view.picked.connect(lambda *found: picked.append(found))
    figures = view.shown["rates"]
    figures.sortItems(1, Qt.SortOrder.AscendingOrder)
    figures.setCurrentCell(0, 2)
    assert picked == [("rates", 3, 2)]
    assert view.head("rates", 2) == "Ratio"
    view.mark("rates", 1)
    assert names(figures)[figures.currentRow()] == "9 to 80"
    assert len(picked) == 1
    view.mark("rates", None)
    assert not figures.selectedItems()


def test_a_row_is_opened_by_enter_as_the_block_has_it_and_not_by_walking(view, qtbot):
    inner = msgspec.structs.replace(GRID, key="inner")
    view.show_blocks([GRID, Heading("More", appended=True), inner])
    view.findChild(Fold).set_open(opened=True)
    opened = []
    view.opened.connect(lambda *found: opened.append(found))
    for key in ("rates", "inner"):
        figures = view.shown[key]
        figures.sortItems(1, Qt.SortOrder.AscendingOrder)
        figures.setCurrentCell(0, 0)
    assert opened == []
    for key in ("rates", "inner"):
        qtbot.keyClick(view.shown[key], Qt.Key.Key_Return)
    assert opened == [("rates", 3), ("inner", 3)]


@pytest.mark.parametrize("many", [1, 3])
def test_long_names_are_written_in_several_lines_and_nothing_scrolls(view, qtbot, many):
    """A name in one line would be cut, or push the numbers out of sight."""
    long = ", ".join(["education = Some-college or Bachelors or Masters"] * 4)
    rows = tuple((long, *row[1:]) for row in GRID.rows[:many])
    view.show_blocks([msgspec.structs.replace(GRID, rows=(*rows, *GRID.rows[many:]))])
    figures = view.shown["rates"]
    qtbot.waitUntil(lambda: figures.width() > 300)
    heights = [figures.rowHeight(row) for row in range(len(GRID.rows))]
    assert min(heights[:many]) > 1.7 * heights[-1]
    assert figures.verticalScrollBar().maximum() == 0
    assert figures.horizontalScrollBar().maximum() == 0


def test_long_titles_of_numbers_are_in_two_lines_and_named_in_one(view):
    header = ("group", "People", "Gap in copies of rows", "p")
    view.show_blocks([msgspec.structs.replace(GRID, header=header, rows=GRID.rows[1:2])])
    figures = view.shown["rates"]
    assert figures.horizontalHeaderItem(2).text() == "Gap in copies\nof rows"
    assert view.head("rates", 2) == header[2]
    figures.copy()
    assert QApplication.clipboard().text().splitlines()[0] == "\t".join(header)


def test_chosen_rows_are_copied_with_their_header_as_the_block_has_them(view):
    view.show_blocks([GRID])
    figures = view.shown["rates"]
    figures.copy()
    assert QApplication.clipboard().text().splitlines()[1] == "up to 9\t1,200\t▽ 0.45‡\t< 0.0001"
    figures.sortItems(1, Qt.SortOrder.AscendingOrder)
    figures.setCurrentCell(1, 1)
    figures.copy()
    assert QApplication.clipboard().text() == "group\tPeople\tRatio\tp\n9 to 80\t35\t1.07\t0.678"


def test_a_table_is_as_high_as_its_rows_and_a_long_one_scrolls(view, qtbot):
    view.show_blocks([GRID])
    few = view.shown["rates"]
    qtbot.waitUntil(lambda: few.verticalScrollBar().maximum() == 0)
    low = few.height()
    view.show_blocks([msgspec.structs.replace(GRID, rows=GRID.rows * 10)])
    assert view.shown["rates"] is few
    qtbot.waitUntil(lambda: few.verticalScrollBar().maximum() > 0)
    assert low < few.height() < 40 * few.rowHeight(0)


def test_the_same_blocks_with_other_figures_keep_their_place(view):
    blocks = [
        Heading("Groups"),
        Statement("0.45", "Low.", evidence="observed"),
        GRID,
        Heading("More", appended=True),
        msgspec.structs.replace(GRID, key="more"),
    ]
    view.show_blocks(blocks)
    view.findChild(Fold).set_open(opened=True)
    before = view.shown
    assert set(before) == {"rates", "more"}
    before["rates"].setCurrentCell(2, 1)
    before["rates"].sortItems(1, Qt.SortOrder.DescendingOrder)
    rows = (("up to 9", "1,300", "0.50", "1.0"), *GRID.rows[1:])
    changed = [
        msgspec.structs.replace(each, rows=rows) if isinstance(each, Grid) else each
        for each in blocks
    ]
    changed[1] = Statement("0.50", "Not so low.", evidence="observed")
    view.show_blocks(changed)
    assert view.shown == before
    assert before["more"].item(0, 1).text() == before["rates"].item(0, 1).text() == "1,300"
    assert names(before["rates"])[before["rates"].currentRow()] == "80 and over"
    card = view.findChild(blocks_view.StatementView)
    assert card.accessibleName() == "□ Observed: Not so low."
    # another table is another widget
    view.show_blocks([GRID])
    assert view.shown["rates"] is not before["rates"]
    assert not view.findChildren(blocks_view.StatementView)[1:]


def test_appended_blocks_are_made_when_their_fold_is_opened(view):
    appended = msgspec.structs.replace(GRID, key="more", appended=True)
    view.show_blocks([GRID, appended, Text("After."), Heading("Last", appended=True), Text("In.")])
    folds = view.findChildren(Fold)
    assert [fold.button.text() for fold in folds] == ["More", "Last"]
    assert set(view.shown) == {"rates"}
    folds[0].set_open(opened=True)
    assert set(view.shown) == {"rates", "more"}
    picked = []
    view.picked.connect(lambda *found: picked.append(found))
    view.shown["more"].setCurrentCell(1, 1)
    assert picked == [("more", 1, 1)]


def test_charts_pick_and_are_marked_by_their_parts(view, qtbot):
    counted = table()
    view.show_blocks([chart_block(Forest(counted, "Rates"), "Rates", key="forest")])
    chart = view.shown["forest"]
    assert not chart.drawing.empty
    picked = []
    view.picked.connect(lambda *found: picked.append(found))
    qtbot.keyClick(chart, Qt.Key.Key_Down)
    assert picked == [("forest", chart.chosen_key, -1)]
    view.mark("forest", 1)
    assert chart.chosen_key == 1
    view.mark("forest", None)
    assert chart.chosen_key is None


def test_texts_are_plain_and_what_has_no_place_is_refused(view):
    view.show_blocks(
        [
            Text("<b>no markup</b>", lead="By sex."),
            Callout("Incomplete.", "It was stopped."),
            Facts((Fact("Rows", "5,000"), Fact("Seed", "0"))),
        ]
    )
    said = [each.text() for each in view.findChildren(Words)]
    assert said == [
        "By sex. <b>no markup</b>",
        "Incomplete. It was stopped.",
        *("Rows", "5,000", "Seed", "0"),
    ]
    with pytest.raises(TypeError, match="Code has no place in the window"):
        view.show_blocks([Code("fairdesk --help")])
