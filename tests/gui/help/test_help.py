"""The help: the page that belongs to each part of the window, its window, keys and search."""

import importlib
import pkgutil
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QPoint, QRect, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QTextDocument
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QWidget

import fairdesk.gui
from fairdesk.audit.catalogue.methods import METHODS, options_of
from fairdesk.cli.commands import commands_page
from fairdesk.gui.forms.dialogs import FormDialog
from fairdesk.gui.forms.method_picker import OptionsForm
from fairdesk.gui.help.window import TOPICS, HelpWindow, make_manual, place_of
from fairdesk.gui.kit import settings, theme
from fairdesk.gui.kit.hints import HelpButton, ask_help, topic_of
from fairdesk.gui.main_window import MainWindow
from fairdesk.gui.wizard.state.wizard_state import Step
from fairdesk.gui.workspace.common.run_page import COMPARE, EXAMPLES, NAMES
from fairdesk.manual.places import FIRST, TERMS, method_place, option_place
from tests.gui.auditing import make_audit

F1 = Qt.Key.Key_F1


@pytest.fixture(scope="module")
def manual():
    return make_manual(commands_page())


@pytest.fixture
def window(qtbot, themed):
    window = MainWindow(settings.load(), commands_page)
    qtbot.addWidget(window)
    window.show()
    yield window
    window.close_audit()
    if window.help is not None:
        window.help.close()


@pytest.fixture
def helped(qtbot, themed):
    made = HelpWindow(commands_page)
    qtbot.addWidget(made)
    made.show_topic("")
    qtbot.waitUntil(lambda: made.ready)
    qtbot.waitUntil(made.isActiveWindow)
    return made


def is_there(manual, place):
    page, _, anchor = place.partition("#")
    return page in manual.pages and (not anchor or anchor in manual.pages[page].anchors)


def dialogs():
    """Return every dialog of the window, by its class."""
    for module in pkgutil.walk_packages(fairdesk.gui.__path__, "fairdesk.gui."):
        importlib.import_module(module.name)
    found, new = set(), [QDialog]
    while new:
        new = [each for cls in new for each in cls.__subclasses__()]
        found |= {each for each in new if each.__module__.startswith("fairdesk.gui.")}
    return {each.__name__ for each in found} - {"FormDialog", "WorkDialog"}


def test_every_part_of_the_window_has_its_page(manual):
    parts = {f"step {step.name}" for step in Step} | set(NAMES) | dialogs() | {"", "start"}
    assert set(TOPICS) == parts
    assert [place for place in TOPICS.values() if not is_there(manual, place)] == []


def test_every_method_and_option_has_its_place(manual):
    for key, method in METHODS.items():
        assert is_there(manual, method_place(key))
        for option in options_of(method.options):
            assert is_there(manual, option_place(key, option.name))


def test_every_option_has_a_button_and_its_field_the_topic(qtbot, themed):
    options = options_of(METHODS["maft"].options)
    form = OptionsForm("maft", options, {})
    qtbot.addWidget(form)
    places = {option_place("maft", each.name) for each in options}
    assert {topic_of(each) for each in form.findChildren(HelpButton)} == places
    assert {topic_of(each) for each in form.fields.values()} == places
    assert all(each.accessibleName() for each in form.findChildren(HelpButton))


def test_f1_opens_the_page_of_the_step_and_of_the_dialog_above_it(qtbot, window):
    window.new_audit()
    wizard = window.wizard
    qtbot.waitUntil(wizard.isActiveWindow)
    qtbot.keyClick(wizard.focusWidget(), F1)
    qtbot.waitUntil(lambda: window.help is not None and window.help.ready)
    page, _, _anchor = TOPICS["step DATA"].partition("#")
    assert window.help.browser.place == page
    # it can be read while the wizard waits
    assert window.help.isActiveWindow()
    assert window.help.search.isEnabled()
    qtbot.keyClick(window.help.search, Qt.Key.Key_Escape)
    assert not window.help.isVisible()
    assert wizard.isVisible()
    wizard.reject()


def test_the_button_opens_the_page_of_the_workspace_on_screen(qtbot, window, tmp_path):
    window.open_audit(make_audit(tmp_path))
    workspace = window.workspace
    for name in (EXAMPLES, COMPARE):
        workspace.show_page(name)
        button = next(each for each in workspace.findChildren(HelpButton) if each.isVisible())
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: window.help.ready)
        assert window.help.browser.source().toString() == f"help:/{TOPICS[name]}"
    for name, page in zip(NAMES, page_widgets(workspace), strict=True):
        assert topic_of(page.findChild(QWidget)) == name


def test_the_button_is_in_the_line_of_the_title_and_scrolls_with_it(qtbot, window, tmp_path):
    window.open_audit(make_audit(tmp_path))
    workspace = window.workspace
    qtbot.waitUntil(lambda: workspace._session.loaded)
    for name, page in zip(NAMES, page_widgets(workspace), strict=True):
        workspace.show_page(name)
        QCoreApplication.processEvents()
        titles = [each for each in page.findChildren(QLabel, "title") if each.isVisible()]
        title = titles[0]
        (button,) = title.parentWidget().findChildren(
            HelpButton, options=Qt.FindChildOption.FindDirectChildrenOnly
        )
        line = on(window, title)
        assert line.top() <= on(window, button).center().y() <= line.bottom(), name
        assert not line.intersects(on(window, button))


def on(window, widget):
    return QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())


def page_widgets(workspace):
    return [workspace._pages.widget(at) for at in range(workspace._pages.count())]


def test_a_form_that_waits_for_its_answer_leaves_the_help_alone(qtbot, window):
    form = FormDialog("Form", window)
    form._add_buttons()
    seen = []

    def look():
        seen.append(QApplication.activeModalWidget().windowModality())
        form.reject()

    QTimer.singleShot(0, look)
    form.exec()
    # a window without a parent is blocked by what is modal to the whole application only
    assert seen == [Qt.WindowModality.WindowModal]
    window.show_help(TERMS)
    assert window.help.parentWidget() is None


def test_a_part_without_a_helper_above_it_asks_in_vain(qtbot):
    alone = QWidget()
    qtbot.addWidget(alone)
    ask_help(alone)
    assert place_of(topic_of(alone)) == FIRST
    assert place_of("QMessageBox") == FIRST


def test_closing_the_window_closes_the_help(qtbot, window):
    window.show_help(TERMS)
    assert window.help.isVisible()
    window.close()
    assert not window.help.isVisible()


def test_links_back_and_forward(qtbot, helped, monkeypatch):
    assert helped.browser.place == FIRST
    helped.browser.follow(QUrl("help:/reference/methods.md#certify"))
    assert helped.browser.place == "reference/methods.md"
    assert helped.browser.verticalScrollBar().value() > 0
    assert helped.contents.currentItem().text(0) == "Methods"
    qtbot.keyClick(helped.browser, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert helped.browser.place == FIRST
    qtbot.keyClick(helped.browser, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    assert helped.browser.place == "reference/methods.md"
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    helped.browser.follow(QUrl("https://example.org/"))
    assert [each.host() for each in opened] == ["example.org"]
    assert helped.browser.place == "reference/methods.md"


def test_a_link_is_resolved_from_its_page(qtbot, helped):
    helped.show_place("how-to/choose-a-figure.md")
    document = helped.browser.document()
    block = document.begin()
    hrefs = set()
    while block.isValid():
        hrefs |= {each.format.anchorHref() for each in block.textFormats()}
        block = block.next()
    relative = next(each for each in hrefs if each.startswith("../reference/methods.md#"))
    helped.browser.follow(helped.browser.source().resolved(QUrl(relative)))
    assert helped.browser.place == "reference/methods.md"


def test_search_lists_sections_and_opens_them(qtbot, helped):
    qtbot.keyClick(helped.browser, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert helped.search.hasFocus()
    qtbot.keyClicks(helped.search, "impact ratio")
    assert helped.results.isVisible()
    assert not helped.contents.isVisible()
    qtbot.keyClick(helped.search, Qt.Key.Key_Return)
    assert helped.browser.place == "reference/figures.md"
    assert helped.browser.extraSelections()
    helped.search.setText("zzzz")
    assert helped.results.count() == 0
    helped.search.clear()
    assert helped.contents.isVisible()
    assert not helped.browser.extraSelections()


def test_the_terms_are_filtered(qtbot, helped):
    assert not helped.terms.isVisible()
    helped.show_place(TERMS)
    assert helped.terms.isVisible()
    helped.terms.setText("pareto")
    text = helped.browser.toPlainText()
    assert "Pareto front" in text
    assert "Impact ratio" not in text
    helped.terms.clear()
    assert "Impact ratio" in helped.browser.toPlainText()
    helped.show_place(FIRST)
    assert not helped.terms.isVisible()


def test_a_picture_is_as_wide_as_the_page_and_a_click_opens_it(qtbot, helped, monkeypatch):
    browser = helped.browser
    browser.open_place("tutorial.md")
    widths = []
    for width in (700, 1200):
        helped.resize(width, 700)
        qtbot.wait(200)
        picture = browser.document().resource(
            QTextDocument.ResourceType.ImageResource.value, QUrl("pictures/start.png")
        )
        widths.append(picture.width() / picture.devicePixelRatio())
        room = browser.viewport().width() - 2 * theme.PAGE
        assert room - theme.NEAR <= widths[-1] <= room
    assert widths[0] < widths[1]
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    (link, *_) = [
        part.charFormat().anchorHref()
        for part in fragments(browser.document())
        if part.charFormat().isImageFormat()
    ]
    browser.follow(browser.source().resolved(QUrl(link)))
    assert opened[0].isLocalFile()
    assert Path(opened[0].toLocalFile()).is_file()


def fragments(document):
    block = document.begin()
    while block.isValid():
        parts = block.begin()
        while not parts.atEnd():
            yield parts.fragment()
            parts += 1
        block = block.next()


def test_pictures_and_formulas_are_shown_in_the_colours_of_the_theme(themed, helped):
    kind = QTextDocument.ResourceType.ImageResource.value
    picture = helped.browser.loadResource(kind, QUrl("help:/pictures/start.png"))
    assert not picture.isNull()
    helped.show_place("reference/figures.md#impact")
    shown = helped.browser._manual.pages["reference/figures.md"].html
    keys = [each for each in helped.browser._manual.formulas if f'"formula:{each}"' in shown]
    assert len(keys) > 20

    def brightest():
        drawn = helped.browser.loadResource(kind, QUrl("formula:impact"))
        places = (QPoint(x, y) for x in range(drawn.width()) for y in range(drawn.height()))
        return max(
            drawn.pixelColor(each).lightness()
            for each in places
            if drawn.pixelColor(each).alpha() > 100
        )

    light = brightest()
    theme.apply(themed, "dark")
    try:
        assert brightest() > light + 100
        assert helped.browser.place == "reference/figures.md"
    finally:
        theme.apply(themed, "light")


def test_everything_has_a_name_for_all_readers(helped):
    for each in (helped.search, helped.terms, helped.contents, helped.results, helped.browser):
        assert each.accessibleName()
    for each in (helped.back, helped.forward):
        assert each.accessibleName()
        assert each.toolTip()


def test_the_page_of_the_command_line_has_all_commands(manual):
    titles = {each.title for each in manual.pages["reference/command-line.md"].sections}
    assert {"fairdesk audit", "fairdesk verify", "fairdesk report"} <= titles
