"""Rates of intersections as a heat map: which cell is where, how it is walked, what it says."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication

from fairdesk.gui.charts.group_marks import ink_on, mixed
from fairdesk.gui.charts.heat_map import Heat, HeatMap
from tests.gui.counting import table

COUNTS = {
    ("female", "young"): (100, 20),
    ("female", "middle"): (150, 90),
    ("male", "young"): (3, 1),
    ("male", "middle"): (200, 150),
    ("male", "old"): (120, 60),
}
BOTH = table(COUNTS, ("sex", "age group"))


def plain(text):
    return text.replace("\u00a0", " ")


@pytest.fixture
def heat(qtbot, themed):
    made = HeatMap()
    qtbot.addWidget(made)
    made.resize(640, 300)
    made.draw(Heat(BOTH, "Approved, by sex and age group", "applicant"))
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow, timeout=10_000)
    return made


def test_the_attribute_with_more_values_goes_down_each_in_its_own_order():
    drawn = Heat(BOTH)
    assert drawn.names == ("age group", "sex")
    assert drawn.rows == ("young", "middle", "old")
    assert drawn.columns == ("female", "male")
    assert drawn.cells == {(0, 0): 0, (1, 0): 1, (0, 1): 2, (1, 1): 3, (2, 1): 4}


def test_values_of_groups_that_are_not_known_come_last():
    counted = table({("?", "a"): (5, 1), ("x", "a"): (50, 20), ("x", "?"): (9, 1)}, ("s", "t"))
    lines = [
        line if "?" not in line.values else type(line)(**{**as_dict(line), "codes": ()})
        for line in counted.lines
    ]
    drawn = Heat(type(counted)(**{**as_dict(counted), "lines": tuple(lines)}))
    assert drawn.rows == ("x", "?")
    assert drawn.columns == ("a", "?")


def as_dict(struct):
    return {name: getattr(struct, name) for name in struct.__struct_fields__}


def test_a_cell_without_anybody_says_so():
    drawn = Heat(BOTH, person="applicant")
    assert drawn.told((2, 0)) == "old, female: nobody"
    assert plain(drawn.told((0, 0))).startswith("female, young: 20.0 % (20 of 100 applicants)")


def test_cells_carry_rate_and_number_and_mark_what_is_below(heat):
    canvas = heat._canvas
    texts = {
        cell: [plain(each) for each in canvas._texts(BOTH.lines[place], canvas.box(cell))]
        for cell, place in heat.drawing.cells.items()
    }
    assert texts[0, 0] == ["▽ 20.0 %", "n 100"]
    assert texts[1, 1] == ["75.0 %", "n 200"]
    assert texts[0, 1] == ["33.3 %", "n 3"]  # too few to be compared: hatched, not marked


def test_the_higher_the_rate_the_stronger_the_colour(heat):
    image = heat._canvas.grab().toImage()
    ratio = image.devicePixelRatio()

    def light(cell):
        corner = heat._canvas.box(cell).topLeft()
        return QColor(image.pixel(round((corner.x() + 6) * ratio), round((corner.y() + 6) * ratio)))

    shades = [light(cell).lightness() for cell in ((0, 0), (2, 1), (1, 0), (1, 1))]
    assert shades == sorted(shades, reverse=True)
    assert shades[0] - shades[-1] > 60


def test_words_can_be_read_on_every_shade():
    def brightness(colour):
        parts = (colour.redF(), colour.greenF(), colour.blueF())
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for card, full in (("#FFFFFF", "#0072B2"), ("#2A2F36", "#4DA8E0")):
        for step in range(11):
            ground = mixed(QColor(card), QColor(full), step / 10)
            pair = sorted((brightness(ground), brightness(ink_on(ground))))
            assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5


def test_arrow_keys_walk_all_cells_and_choose_the_groups(heat, qtbot):
    seen = []
    heat.chosen.connect(seen.append)
    keys = (Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Left)
    for key in (Qt.Key.Key_Down, *keys):
        qtbot.keyClick(heat, key)
    assert heat.chosen_cell == (2, 0)
    assert heat._reading.text() == "old, female: nobody"
    assert seen == [0, 0 + 2, 3, 4, 4]


def test_a_click_chooses_the_cell_under_it(heat, qtbot):
    seen = []
    heat.chosen.connect(seen.append)
    box = heat._canvas.box((1, 0))
    qtbot.mouseClick(heat._canvas, Qt.MouseButton.LeftButton, pos=box.center().toPoint())
    assert (seen, heat.chosen_cell) == ([1], (1, 0))
    heat.choose(4)
    assert heat.chosen_cell == (2, 1)
    assert seen == [1]


def test_t_shows_the_table_with_everything_in_it(heat, qtbot):
    qtbot.keyClick(heat, Qt.Key.Key_T)
    assert heat._stack.currentWidget() is heat._table
    heat.copy_data()
    rows = [line.split("\t") for line in QGuiApplication.clipboard().text().splitlines()]
    assert rows[0][:3] == ["sex", "age group", "People"]
    assert rows[1][:4] == ["female", "young", "100", "20"]


def test_narrow_cells_drop_words_rather_than_cut_them(heat):
    counts = {(f"v{i}", f"w{j}"): (1000, 500 + i) for i in range(13) for j in range(14)}
    heat.draw(Heat(table(counts, ("a", "b"))))
    heat.resize(320, 300)
    heat.grab()
    canvas = heat._canvas
    for cell, place in heat.drawing.cells.items():
        for text in canvas._texts(heat.drawing.groups.lines[place], canvas.box(cell)):
            assert canvas.fontMetrics().horizontalAdvance(text) <= canvas.box(cell).width()
    assert heat.height() >= len(heat.drawing.rows) * canvas.fontMetrics().height()


def test_of_other_than_two_attributes_there_is_nothing_to_draw(heat):
    heat.draw(Heat(table()))
    assert heat.drawing.empty
    heat.grab()
