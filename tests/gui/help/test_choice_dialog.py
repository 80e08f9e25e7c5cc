"""Which figure do I need: the dialog's way through the questions, and what its ends offer."""

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QPushButton, QWidget

from fairdesk.app.standard import PlanKind
from fairdesk.gui.help.choice_dialog import ChoiceDialog
from fairdesk.gui.kit import settings
from fairdesk.gui.kit.parts import Words
from fairdesk.gui.main_window import MainWindow
from fairdesk.gui.wizard.methods_page import ChecksPage
from fairdesk.gui.wizard.page import Desk
from fairdesk.gui.wizard.state.wizard_state import WizardState
from fairdesk.manual.choosing import choosing
from fairdesk.manual.places import method_place

TREE = choosing()
WHY_OFF = "because it is off here"


class Above(QWidget):
    """Has the help."""

    def __init__(self):
        super().__init__()
        self.shown = []

    def show_help(self, topic):
        self.shown.append(topic)


@pytest.fixture
def above(qtbot, themed):
    made = Above()
    qtbot.addWidget(made)
    made.show()
    return made


def opened(qtbot, above, off=None):
    dialog = ChoiceDialog(above, off)
    dialog.open()
    qtbot.waitUntil(dialog.isVisible)
    return dialog


def way_to(end, key=TREE.first):
    for answer in TREE.questions[key].answers:
        if answer.end == end:
            return [answer]
        if answer.next and (rest := way_to(end, answer.next)):
            return [answer, *rest]
    return []


def texts(dialog):
    QCoreApplication.processEvents()
    return [each.text() for each in dialog.findChildren(Words) if each.isVisible()]


def button(dialog, text):
    QCoreApplication.processEvents()
    found = [
        each
        for each in dialog.findChildren(QPushButton)
        if text in (each.text().replace("&", ""), each.accessibleName()) and each.isVisible()
    ]
    return found[0] if found else None


def press(qtbot, dialog, text):
    qtbot.mouseClick(button(dialog, text), Qt.MouseButton.LeftButton)


def test_questions_lead_to_an_end_with_its_reason_and_sources(qtbot, above):
    dialog = opened(qtbot, above)
    assert TREE.questions[TREE.first].text in texts(dialog)
    for answer in way_to("refused"):
        press(qtbot, dialog, answer.text)
    end = TREE.ends["refused"]
    shown = texts(dialog)
    assert {end.title, end.why} <= set(shown)
    assert all(any(source in text for text in shown) for source in TREE.sources_of(end))
    # outside of the wizard there is nothing to choose
    assert button(dialog, "Choose this method") is None
    press(qtbot, dialog, "Open in help")
    assert above.shown == [end.place]


def test_back_and_from_the_beginning(qtbot, above):
    dialog = opened(qtbot, above)
    assert not dialog.back.isEnabled()
    way = way_to("case")
    for answer in way:
        dialog.give(answer)
    assert dialog.end is TREE.ends["case"]
    press(qtbot, dialog, "Back")
    assert dialog.end is None
    assert TREE.questions[way[-2].next].text in texts(dialog)
    press(qtbot, dialog, "Start again")
    assert dialog.given == []
    assert TREE.questions[TREE.first].text in texts(dialog)


def test_the_keyboard_goes_through_the_answers(qtbot, above):
    dialog = opened(qtbot, above)
    qtbot.waitUntil(dialog.isActiveWindow)
    key = TREE.first
    for answer in way_to("refused"):
        answers = TREE.questions[key].answers
        assert dialog.focusWidget().accessibleName() == answers[0].text
        for each in answers[1 : answers.index(answer) + 1]:
            qtbot.keyClick(dialog.focusWidget(), Qt.Key.Key_Tab)
            assert dialog.focusWidget().accessibleName() == each.text
        qtbot.keyClick(dialog.focusWidget(), Qt.Key.Key_Space)
        assert dialog.given[-1] == answer
        key = answer.next
    assert dialog.end is TREE.ends["refused"]


def test_a_method_that_is_off_says_why(qtbot, above):
    dialog = opened(qtbot, above, {"certify": WHY_OFF})
    for answer in way_to("certification"):
        dialog.give(answer)
    assert not button(dialog, "Choose this method").isEnabled()
    assert WHY_OFF in texts(dialog)
    press(qtbot, dialog, "Open in help")
    assert above.shown == [method_place("certify")]


def test_the_wizard_takes_the_method(qtbot, themed, worker, clerk):
    state = WizardState()
    page = ChecksPage(Desk(state, worker, clerk, settings.load()))
    qtbot.addWidget(page)
    page.show()
    qtbot.mouseClick(page.figure, Qt.MouseButton.LeftButton)
    dialog = page.findChild(ChoiceDialog)
    dialog._off = {}
    for answer in way_to("share"):
        dialog.give(answer)
    changes = []
    page.changed.connect(lambda: changes.append(1))
    press(qtbot, dialog, "Choose this method")
    assert not dialog.isVisible()
    assert (state.kind, state.chosen) == (PlanKind.CUSTOM, ["estimate"])
    assert page.picker.key == "estimate"
    assert changes
    # a plan that is custom already keeps its methods
    page.choose_method("groups")
    assert state.chosen == ["estimate", "groups"]
    assert page.picker.key == "groups"


def test_the_menu_opens_it(qtbot, themed):
    window = MainWindow(settings.load())
    qtbot.addWidget(window)
    window.show()
    [entry] = [
        each
        for top in window.menuBar().actions()
        for each in top.menu().actions()
        if each.text().replace("&", "") == "Which figure do I need?"
    ]
    entry.trigger()
    assert window.findChild(ChoiceDialog).isVisible()
    window.findChild(ChoiceDialog).reject()
