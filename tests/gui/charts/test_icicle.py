"""The icicle of a refinement: where boxes lie, how it is walked, what it tells in words."""

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt

from fairdesk.gui.charts.icicle import Icicle
from tests.charts.test_icicle import TREE, part, tree_of


@pytest.fixture
def icicle(qtbot):
    made = Icicle()
    qtbot.addWidget(made)
    made.resize(700, 400)
    made.draw(TREE)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow, timeout=10_000)
    return made


def box_of(icicle, number) -> QRectF:
    spot = next(each for each in icicle.canvas.laid.spots if each.key == number)
    return QRectF(spot.x, spot.y, spot.wide, spot.tall)


def centre(icicle, number) -> QPoint:
    return box_of(icicle, number).center().toPoint()


def test_arrow_keys_walk_along_and_beside(qtbot, icicle):
    icicle.setFocus()

    def press(key):
        qtbot.keyClick(icicle, key)
        return icicle.chosen_part

    assert press(Qt.Key.Key_Right) == 1
    assert press(Qt.Key.Key_Down) == 2
    assert press(Qt.Key.Key_Down) == 2
    assert press(Qt.Key.Key_Up) == 1
    assert press(Qt.Key.Key_Right) == 3
    assert press(Qt.Key.Key_Right) == 3
    assert press(Qt.Key.Key_Left) == 1
    assert icicle._reading.text().startswith("60.00")
    assert icicle.accessibleDescription() == icicle._reading.text()


def test_enter_goes_into_a_part_and_backspace_back(qtbot, icicle):
    icicle.setFocus()
    qtbot.keyClick(icicle, Qt.Key.Key_Right)
    with qtbot.waitSignal(icicle.rooted) as caught:
        qtbot.keyClick(icicle, Qt.Key.Key_Return)
    assert caught.args == [1]
    assert [spot.key for spot in icicle.canvas.laid.spots] == [1, 3, 4]
    qtbot.keyClick(icicle, Qt.Key.Key_Backspace)
    assert icicle.root == 0


def test_walking_left_out_of_the_picture_moves_it(qtbot, icicle):
    icicle.go_into(1)
    icicle.setFocus()
    qtbot.keyClick(icicle, Qt.Key.Key_Left)
    assert (icicle.root, icicle.chosen_part) == (0, 0)


def test_a_click_goes_into_a_part_and_on_the_first_column_back(qtbot, icicle):
    left = Qt.MouseButton.LeftButton
    qtbot.mouseClick(icicle.canvas, left, pos=centre(icicle, 1))
    assert icicle.root == 1
    qtbot.mouseClick(icicle.canvas, left, pos=centre(icicle, 1))
    assert icicle.root == 0
    qtbot.mouseClick(icicle.canvas, left, pos=centre(icicle, 4))
    assert (icicle.root, icicle.chosen_part) == (0, 4)


def test_where_there_is_room_for_two_levels_only_a_deeper_one_moves_the_picture(qtbot, icicle):
    icicle.resize(310, 400)
    qtbot.waitUntil(lambda: len(icicle.canvas.laid.spots) == 3, timeout=10_000)
    icicle.choose(1)
    assert icicle.root == 0
    icicle.choose(4)
    assert icicle.root == 1


def test_a_tree_that_grew_keeps_what_is_looked_at(icicle):
    icicle.go_into(1)
    icicle.choose(4)
    grown = tree_of(
        part(-1, "", 1.0, 0.6, 0.2),
        part(0, "b", 0.3, 0.3, 0.0),
        part(0, "a", 0.6, 0.3, 0.2),
        part(2, "d", 0.2, 0.0, 0.2),
        part(2, "c", 0.4, 0.3, 0.0),
    )
    icicle.draw(grown)
    assert grown.rules[icicle.root] == "a"
    assert grown.rules[icicle.chosen_part] == "d"
    icicle.draw(tree_of(part(-1, "", 1.0)))
    assert (icicle.root, icicle.chosen_part) == (0, 0)


def test_columns_that_would_look_alike_are_not_drawn(icicle):
    almost = tree_of(
        part(-1, "", 1.0),
        part(0, "e", 0.9999),
        part(1, "a", 0.6),
        part(1, "b", 0.3999),
        part(0, "f", 0.0001),
    )
    icicle.draw(tree_of(part(-1, "", 1.0)))
    icicle.draw(almost)
    assert almost.rules[icicle.root] == "e"
    # what encloses it is a step away, and stays when the tree grows
    icicle.go_up()
    assert icicle.root == 0
    icicle.draw(tree_of(*almost.parts, part(2, "c", 0.3)))
    assert icicle.root == 0
    # where nothing is seen divided there is no other
    alone = tree_of(part(-1, "", 1.0), part(0, "e", 0.9999))
    assert (almost.first_divided, alone.first_divided, TREE.first_divided) == (1, 0, 0)


def test_colours_are_those_of_the_verdicts(themed, icicle):
    from fairdesk.gui.kit import theme

    picture = icicle.canvas.grab().toImage()
    box = box_of(icicle, 4)
    ratio = picture.devicePixelRatio()
    at = QPointF(box.right() - 8, box.top() + 5) * ratio
    assert picture.pixelColor(at.toPoint()).name().upper() == theme.colours().discriminatory


def test_it_is_told_to_those_who_do_not_see_it(qtbot, icicle):
    assert icicle.accessibleName() == TREE.title
    assert "5 parts" in icicle.accessibleDescription()
    icicle.setFocus()
    qtbot.keyClick(icicle, Qt.Key.Key_T)
    assert icicle._table.isVisible()
    assert icicle._table.model().rowCount() == 5


def test_it_is_saved_as_the_report_would_show_it(tmp_path, icicle):
    icicle.write_svg(tmp_path / "a.svg")
    icicle.write_png(tmp_path / "a.png")
    icicle.write_csv(tmp_path / "a.csv")
    assert "everybody" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert (tmp_path / "a.png").stat().st_size
    assert len((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()) == 6


def test_nothing_yet_can_be_drawn_and_walked(qtbot):
    icicle = Icicle()
    qtbot.addWidget(icicle)
    icicle.show()
    icicle.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Return, Qt.Key.Key_Backspace):
        qtbot.keyClick(icicle, key)
    assert icicle.drawing.empty
    assert icicle.root == 0
