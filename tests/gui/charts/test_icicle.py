"""The icicle of a refinement: where boxes lie, how it is walked, what it tells in words."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt

from fairdesk.gui.charts.icicle import Icicle, Tree, depth_below, laid_out
from fairdesk.results.conditions import Condition
from fairdesk.results.proofs import Part


def part(parent, name, share, certified=0.0, falsified=0.0):
    conditions = (Condition(name, low=1.0),) if name else ()
    return Part(parent, conditions, share, certified, falsified)


def tree_of(*parts):
    names = [each.conditions[0].attribute if each.conditions else "everybody" for each in parts]
    return Tree(tuple(parts), tuple(names), tuple(names), "all possible people")


#: Everybody is divided into a (which is into c and d) and b; a tenth of everybody is too small.
TREE = tree_of(
    part(-1, "", 1.0, 0.5, 0.2),
    part(0, "a", 0.6, 0.3, 0.2),
    part(0, "b", 0.3, 0.2, 0.0),
    part(1, "c", 0.4, 0.3, 0.0),
    part(1, "d", 0.2, 0.0, 0.2),
)


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


def centre(icicle, number) -> QPoint:
    return next(box for each, box in icicle._canvas.boxes() if each == number).center().toPoint()


def test_a_box_is_as_high_as_its_share_and_lies_beside_its_parent():
    placed = {each.number: each for each in laid_out(TREE, 0, 3)}
    assert [placed[n].column for n in range(5)] == [0, 1, 1, 2, 2]
    assert (placed[1].top, placed[1].bottom) == (0.0, pytest.approx(0.6))
    assert (placed[2].top, placed[2].bottom) == (pytest.approx(0.6), pytest.approx(0.9))
    assert (placed[4].top, placed[4].bottom) == (pytest.approx(0.4), pytest.approx(0.6))


def test_of_another_root_only_what_is_below_is_laid_out():
    placed = laid_out(TREE, 1, 3)
    assert [each.number for each in placed] == [1, 3, 4]
    assert placed[1].bottom == pytest.approx(2 / 3)
    assert [each.number for each in laid_out(TREE, 0, 2)] == [0, 1, 2]
    assert (depth_below(TREE, 0), depth_below(TREE, 1), depth_below(TREE, 4)) == (3, 2, 1)


def test_verdicts_of_a_part_make_the_whole_of_it():
    shares = TREE.shares(1)
    assert [float(each) for each in shares.values()] == pytest.approx([0.5, 1 / 3, 1 / 6])
    assert sum(shares.values()) == 1
    assert TREE.shares(4) == {"alike": 0, "unlike": 1, "undecided": 0}


def test_what_is_proven_is_never_told_as_more():
    tree = tree_of(part(-1, "", 1.0, 0.999996, 0.0))
    told = tree.told(0).replace("\u00a0", " ")
    assert "99.99960 % alike" in told
    assert "0.00040 % undecided" in told


def test_the_table_has_every_part_the_largest_first():
    header, rows = TREE.table()
    assert header[0] == "Part"
    assert [row[0] for row in rows] == ["everybody", "a", "c", "b", "d"]
    assert rows[1][1:6] == ("1", "60.0000", "50.00", "33.33", "16.67")
    assert len(TREE.table(2)[1]) == 2


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
    assert [number for number, _box in icicle._canvas.boxes()] == [1, 3, 4]
    qtbot.keyClick(icicle, Qt.Key.Key_Backspace)
    assert icicle.root == 0


def test_walking_left_out_of_the_picture_moves_it(qtbot, icicle):
    icicle.go_into(1)
    icicle.setFocus()
    qtbot.keyClick(icicle, Qt.Key.Key_Left)
    assert (icicle.root, icicle.chosen_part) == (0, 0)


def test_a_click_goes_into_a_part_and_on_the_first_column_back(qtbot, icicle):
    left = Qt.MouseButton.LeftButton
    qtbot.mouseClick(icicle._canvas, left, pos=centre(icicle, 1))
    assert icicle.root == 1
    qtbot.mouseClick(icicle._canvas, left, pos=centre(icicle, 1))
    assert icicle.root == 0
    qtbot.mouseClick(icicle._canvas, left, pos=centre(icicle, 4))
    assert (icicle.root, icicle.chosen_part) == (0, 4)


def test_where_there_is_room_for_two_levels_only_a_deeper_one_moves_the_picture(qtbot, icicle):
    icicle.resize(310, 400)
    qtbot.waitUntil(lambda: icicle._canvas.columns() == 2, timeout=10_000)
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


def test_colours_are_those_of_the_verdicts(themed, icicle):
    from fairdesk.gui.kit import theme

    picture = icicle._canvas.grab().toImage()
    box = next(box for each, box in icicle._canvas.boxes() if each == 4)
    ratio = picture.devicePixelRatio()
    at = QPointF(box.right() - 8, box.top() + 5) * ratio
    assert picture.pixelColor(at.toPoint()).name().upper() == theme.colours().unlike


def test_it_is_told_to_those_who_do_not_see_it(qtbot, icicle):
    assert "all possible people" in icicle.accessibleName()
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
