"""Each part of a small chart on the overview opens what it stands for, by mouse and by keyboard."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QPushButton

from fairdesk.answers import GroupOf, PairsOf, Question, SubgroupOf
from fairdesk.gui.workspace.common.run_page import EXAMPLES, GROUPS, NAMES, OVERVIEW, PROOF, SHARE
from fairdesk.gui.workspace.overview.cards import PRESS
from fairdesk.gui.workspace.shell.again_dialog import AgainDialog
from tests.gui.group_figures import FIGURES
from tests.gui.mouse import move_mouse
from tests.gui.workspace.certification import test_page as proofs
from tests.gui.workspace.groups import test_page as subgroups
from tests.gui.workspace.groups.test_group_tables import measure
from tests.gui.workspace.groups.test_group_tables import part as rates_of
from tests.gui.workspace.shell.test_workspace import ROWS


@pytest.fixture
def answered(opened, path):
    """Open an audit in which every question but that of a mitigation is answered."""
    measure(path)
    proofs.measure(path)
    subgroups.measure(path, "testsgd", FIGURES)
    subgroups.measure(path, "estimate", (ROWS,))
    workspace = opened(path)
    # all tiles are on screen
    workspace.window().resize(1200, 1600)
    return workspace


def parts_of(workspace, question):
    """Go to the overview; gives a question's chart and what its parts stand for."""
    workspace.show_page(OVERVIEW)
    card = workspace.overview.cards[question]
    return card.chart, card.answer.parts


def page_of(workspace):
    return NAMES[workspace._pages.currentIndex()]


def click(qtbot, chart, key):
    """Click a part once the pointer shows that it can be: the page may still be laid out anew."""

    def hovered():
        spot = next(each for each in chart.laid.spots if each.key == key)
        middle = QPoint(int(spot.x + spot.wide / 2), int(spot.y + spot.tall / 2))
        move_mouse(chart, middle)
        pointing = chart.cursor().shape() == Qt.CursorShape.PointingHandCursor
        return middle if pointing else None

    qtbot.waitUntil(lambda: hovered() is not None)
    qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=hovered())


def test_a_groups_ratio_opens_its_row(qtbot, answered):
    chart, parts = parts_of(answered, Question.GROUPS)
    assert len(parts) > 1
    for key, part in enumerate(parts):
        assert isinstance(part, GroupOf)
        parts_of(answered, Question.GROUPS)
        click(qtbot, chart, key)
        assert page_of(answered) == GROUPS
        tables = answered.groups.tables
        shown = next(e for e in tables.shown if e.tables[0].attributes == part.attributes)
        figures = rates_of(shown)
        row = figures.currentRow()
        assert figures.item(row, 0).text() == ", ".join(part.values)


def test_a_subgroups_gap_opens_it_in_the_list(qtbot, answered):
    chart, parts = parts_of(answered, Question.SUBGROUPS)
    assert len(parts) > 1
    for key, part in enumerate(parts):
        assert isinstance(part, SubgroupOf)
        parts_of(answered, Question.SUBGROUPS)
        click(qtbot, chart, key)
        assert page_of(answered) == GROUPS
        found = answered.groups.findings.finding.rule_set
        assert (found.outcome, found.conditions) == (part.outcome, part.conditions)


def test_the_bar_of_an_attribute_lists_its_pairs_by_keyboard_too(qtbot, answered):
    chart, parts = parts_of(answered, Question.EXAMPLE)
    filters = answered.examples.pairs.filters
    assert chart.focusPolicy() == Qt.FocusPolicy.StrongFocus
    assert PRESS in chart.accessibleDescription()
    for steps, part in enumerate(parts, start=1):
        assert isinstance(part, PairsOf)
        parts_of(answered, Question.EXAMPLE)
        chart.choose(None)
        chart._point_at(None)
        for _ in range(steps):
            qtbot.keyClick(chart, Qt.Key.Key_Down)
        assert part.alone in chart.accessibleDescription()
        qtbot.keyClick(chart, Qt.Key.Key_Return)
        assert page_of(answered) == EXAMPLES
        assert answered.examples.runs.currentData() == part.run
        assert filters.wanted.alone == part.alone


@pytest.mark.parametrize(("question", "page"), [(Question.SHARE, SHARE), (Question.CERTAIN, PROOF)])
def test_a_part_without_pairs_opens_the_page(qtbot, answered, question, page):
    chart, parts = parts_of(answered, question)
    assert set(parts) == {None}
    click(qtbot, chart, chart.laid.spots[0].key)
    assert page_of(answered) == page


def test_the_board_page_stands_above_the_answers_and_the_next_step_between(qtbot, answered):
    answered.show_page(OVERVIEW)
    overview = answered.overview
    qtbot.waitUntil(lambda: bool(overview.board.board.tiles), timeout=10_000)
    assert overview.board.board.answer == overview.board._answer.text()
    tops = [
        each.mapTo(overview, QPoint()).y()
        for each in (overview.board, overview._next_words, overview.cards[Question.GROUPS])
    ]
    assert tops == sorted(tops)


def test_another_run_is_begun_below_the_table_of_runs(answered):
    answered.show_page(OVERVIEW)
    (button,) = (
        each
        for each in answered.overview._acts.findChildren(QPushButton)
        if each.text() == "&New run…"
    )
    button.click()
    (dialog,) = answered.findChildren(AgainDialog)
    dialog.reject()
