"""How controls look: seen in both themes, focus too, and alike."""

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QSpinBox,
    QStyle,
    QTableWidget,
    QTabWidget,
    QTextEdit,
    QToolButton,
    QWidget,
)

from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.tables import number_rows, read_only

CONTROLS = (QPushButton, QToolButton, QLineEdit, QCheckBox, QRadioButton, QComboBox, QSpinBox)


def light(colour):
    """Return the relative luminance of a colour (WCAG 2)."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour.getRgbF()]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, other):
    """Return the contrast ratio of two colours (WCAG 2)."""
    high, low = sorted((light(QColor(one)), light(QColor(other))), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.fixture(params=["light", "dark"])
def scheme(request, qapp):
    theme.apply(qapp, request.param)
    yield request.param
    theme.apply(qapp, "light")


def test_spacing_is_on_the_grid():
    steps = (theme.TIGHT, theme.NEAR, theme.GAP, theme.WIDE, theme.PAGE)
    assert [step % 8 for step in steps] == [4, 0, 0, 0, 0]
    assert list(steps) == sorted(set(steps))


def test_edges_and_filled_buttons_can_be_seen(qapp, scheme):
    colours, palette = theme.colours(), qapp.palette()
    for ground in (palette.color(QPalette.ColorRole.Window), colours.card):
        assert contrast(colours.edge, ground) >= 3
        assert contrast(colours.accent, ground) >= 3
    assert contrast("#FFFFFF", palette.color(QPalette.ColorRole.Highlight)) >= 4.5


@pytest.mark.parametrize("colour", ["quiet", "wrong", "accent"])
def test_texts_of_charts_can_be_read(qapp, scheme, colour):
    grounds = qapp.palette().color(QPalette.ColorRole.Window), theme.colours().card
    for ground in grounds:
        assert contrast(getattr(theme.colours(), colour), ground) >= 4.5


@pytest.mark.parametrize("high", [100, 4000])
def test_a_scroll_bar_is_in_the_margin_and_moves_nothing(qtbot, high):
    page, card = QWidget(), parts.Card()
    layouts.column(card, on=page, margin=theme.AROUND)
    card.setMinimumHeight(high)
    area = parts.scrolled(page)
    qtbot.addWidget(area)
    area.resize(600, 400)
    area.show()
    qtbot.waitUntil(lambda: area.verticalScrollBar().isVisible() == (high > 400))
    qtbot.waitUntil(lambda: card.width() == 600 - 2 * theme.PAGE)
    # and back
    card.setMinimumHeight(100)
    qtbot.waitUntil(lambda: not area.verticalScrollBar().isVisible())
    qtbot.waitUntil(lambda: card.width() == 600 - 2 * theme.PAGE)


@pytest.mark.parametrize("kind", CONTROLS)
def test_what_has_the_keyboard_is_told_by_more_than_its_text(qtbot, scheme, kind):
    control, other = kind(), QPushButton("other")
    if hasattr(control, "setText"):
        control.setText("Text")
    around = QWidget()
    qtbot.addWidget(around)
    layouts.column(control, other, on=around, margin=theme.NEAR)
    around.show()
    around.activateWindow()
    qtbot.waitUntil(around.isActiveWindow)
    other.setFocus()
    before = control.grab().toImage()
    control.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(control.hasFocus)
    after = control.grab().toImage()
    ground = around.palette().color(QPalette.ColorRole.Window)
    seen = sum(
        before.pixel(x, y) != after.pixel(x, y) and contrast(after.pixelColor(x, y), ground) >= 3
        for x in range(before.width())
        for y in range(before.height())
    )
    assert seen > control.height()


def test_one_button_is_filled_and_follows_the_theme(qtbot, scheme, qapp):
    filled, plain = QPushButton("Save"), QPushButton("Save")
    theme.fill(filled)
    around = QWidget()
    qtbot.addWidget(around)
    layouts.column(filled, plain, on=around)
    around.show()
    highlight = qapp.palette().color(QPalette.ColorRole.Highlight)
    middle = QPoint(8, filled.height() // 2)
    assert filled.grab().toImage().pixelColor(middle) == highlight
    assert plain.grab().toImage().pixelColor(middle) != highlight
    filled.setEnabled(False)
    assert filled.grab().toImage().pixelColor(middle) != highlight


def test_scroll_bars_are_thin_and_without_arrows(qtbot, scheme):
    area, inside = QScrollArea(), QWidget()
    qtbot.addWidget(area)
    inside.resize(1000, 1000)
    area.setWidget(inside)
    area.resize(200, 200)
    area.show()
    bar = area.verticalScrollBar()
    assert bar.width() <= 12
    style, control = bar.style(), QStyle.ComplexControl.CC_ScrollBar
    for arrow in (QStyle.SubControl.SC_ScrollBarAddLine, QStyle.SubControl.SC_ScrollBarSubLine):
        from PySide6.QtWidgets import QStyleOptionSlider

        option = QStyleOptionSlider()
        bar.initStyleOption(option)
        assert style.subControlRect(control, option, arrow, bar).isEmpty()
    # a press beyond the handle goes on by a page, and the handle can be dragged to the end
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=QPoint(6, bar.height() - 4))
    assert bar.value() == bar.pageStep()
    picture = bar.grab().toImage()
    rows = {picture.pixelColor(6, y).name() for y in range(picture.height())}
    assert len(rows) > 1
    bar.setValue(bar.maximum())
    ground = picture.pixelColor(0, 0)
    assert contrast(bar.grab().toImage().pixelColor(6, bar.height() - 12), ground) >= 1.8


def test_fields_and_buttons_of_one_line_are_equally_high(themed):
    button = QPushButton("Text")
    heights = {kind.__name__: kind().sizeHint().height() for kind in (QLineEdit, QComboBox)}
    heights |= {kind.__name__: kind().sizeHint().height() for kind in (QSpinBox, QDoubleSpinBox)}
    assert set(heights.values()) == {button.sizeHint().height()}, heights


def test_a_field_with_arrows_looks_like_one_without(qtbot, scheme):
    spin, field = QSpinBox(), QLineEdit("0")
    pictures = []
    for each in (spin, field):
        qtbot.addWidget(each)
        each.resize(90, 35)
        each.clearFocus()
        pictures.append(each.grab().toImage())
    # edges and ground, all but the text and the arrows
    for x, y in ((1, 17), (45, 1), (45, 33), (6, 17), (40, 6)):
        assert pictures[0].pixelColor(x, y) == pictures[1].pixelColor(x, y), (x, y)
    up = [pictures[0].pixelColor(x, y) for x in range(70, 88) for y in range(4, 16)]
    assert max(contrast(colour, spin.palette().base().color()) for colour in up) >= 3
    spin.setMaximum(0)
    off = spin.grab().toImage()
    assert off != pictures[0], "what cannot be pressed is faint"


@pytest.mark.parametrize("kind", [QPlainTextEdit, QTextEdit])
def test_notes_have_the_edge_of_a_field(qtbot, scheme, kind):
    around, notes, other = QWidget(), kind(), QLineEdit()
    qtbot.addWidget(around)
    layouts.column(notes, other, on=around, margin=theme.NEAR)
    around.show()
    around.activateWindow()
    qtbot.waitUntil(around.isActiveWindow)
    ground = around.palette().color(QPalette.ColorRole.Window)
    shots = []
    for having in (other, notes):
        having.setFocus()
        qtbot.waitUntil(having.hasFocus)
        shots.append(notes.grab().toImage().pixelColor(40, 0))
    assert all(contrast(shot, ground) >= 3 for shot in shots)
    assert shots[0] != shots[1]


def test_the_chosen_tab_has_a_strong_line_and_stands_no_higher(qtbot, scheme):
    tabs = QTabWidget()
    qtbot.addWidget(tabs)
    for name in ("Report", "Other files"):
        tabs.addTab(QWidget(), name)
    tabs.resize(400, 200)
    tabs.show()
    bar = tabs.tabBar()
    rects = [bar.tabRect(place) for place in range(2)]
    assert rects[0].top() == rects[1].top()
    ground = bar.palette().color(QPalette.ColorRole.Window)
    for chosen in range(2):
        tabs.setCurrentIndex(chosen)
        picture = bar.grab().toImage()
        foot = [picture.pixelColor(each.center().x(), each.bottom() - 1) for each in rects]
        assert contrast(foot[chosen], ground) >= 3
        assert contrast(foot[1 - chosen], ground) < 2


def test_numbers_of_rows_are_on_the_ground_of_titles(qtbot, scheme):
    table = QTableWidget(2, 2)
    qtbot.addWidget(table)
    read_only(table, "Rows")
    number_rows(table)
    table.show()
    heads = table.verticalHeader(), table.findChild(QAbstractButton)
    window = table.palette().color(QPalette.ColorRole.Window)
    assert {head.grab().toImage().pixelColor(2, 2).name() for head in heads} == {window.name()}


def test_a_link_is_as_wide_as_its_text(themed):
    link = QPushButton("Go →")
    link.setFlat(True)
    assert link.sizeHint().width() - link.fontMetrics().horizontalAdvance(link.text()) <= theme.GAP


@pytest.mark.parametrize("kind", [QComboBox, QPushButton])
def test_what_is_cut_ends_in_dots(qtbot, themed, kind):
    def shot(text):
        control = kind()
        qtbot.addWidget(control)
        if isinstance(control, QComboBox):
            control.addItem(text)
        else:
            control.setText(text)
        control.resize(130, 35)
        return control.grab().toImage()

    text = "the decision of the model"
    assert any(shot(f"{text[:letters]}…") == shot(text) for letters in range(4, len(text)))


def test_a_text_does_not_touch_the_edge_of_its_field(qtbot, themed):
    field, notes = QLineEdit("text"), QPlainTextEdit("text")
    for each in (field, notes):
        qtbot.addWidget(each)
        each.show()
    assert field.textMargins().left() >= theme.TIGHT


def test_the_arrow_of_a_button_with_a_menu_is_wide_enough_to_be_hit(qtbot, scheme):
    button, pressed, opened = QToolButton(), [], []
    qtbot.addWidget(button)
    button.setText("Continue")
    button.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
    menu = QMenu(button)
    menu.aboutToShow.connect(lambda: (opened.append(True), QTimer.singleShot(0, menu.close)))
    menu.addAction("For an hour")
    button.setMenu(menu)
    button.clicked.connect(lambda: pressed.append(True))
    button.resize(160, 36)
    button.show()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton, pos=QPoint(160 - theme.WIDE + 3, 18))
    assert (pressed, opened) == ([], [True])
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton, pos=QPoint(160 - theme.WIDE - 3, 18))
    assert (pressed, opened) == ([True], [True])


def test_nothing_is_drawn_between_two_scroll_bars(qtbot, scheme):
    area = QScrollArea()
    qtbot.addWidget(area)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
    area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
    area.resize(200, 200)
    area.show()
    picture = area.grab().toImage()
    corner = {picture.pixelColor(x, y).name() for x in range(190, 200) for y in range(190, 200)}
    assert len(corner) == 1
