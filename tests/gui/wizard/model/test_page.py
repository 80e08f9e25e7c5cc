"""The model page, with models that are formulas in this process: nothing has to start."""

import re
import threading
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from fairdesk import files
from fairdesk.audit.environments import environments
from fairdesk.audit.environments.environments import Environment, Requirement
from fairdesk.audit.sandbox.folders import Confinement, Hold
from fairdesk.data.formats.reading import read_table
from fairdesk.errors import ModelError, TrustRequiredError
from fairdesk.gui.forms.dialogs import ValuesDialog
from fairdesk.gui.kit.parts import Words
from fairdesk.gui.kit.settings import Settings
from fairdesk.gui.wizard.dialog import Wizard
from fairdesk.gui.wizard.model.inputs_dialog import InputDialog
from fairdesk.gui.wizard.model.mapping_table import CONSTANT, HOW, MADE_FROM, OPEN
from fairdesk.gui.wizard.state.wizard_state import Step
from fairdesk.models.inputs import input_check
from fairdesk.models.inputs.mapping.propose import propose
from fairdesk.models.model import Capability, Fit, Hints, How
from fairdesk.models.model import Step as Arithmetic
from fairdesk.models.pickles.contents import Contents, ImportedName
from fairdesk.wording import words
from tests import phrases
from tests.cards import card

HELD = Confinement("a wall", (Hold("network", True, "None."), Hold("files", False, "All.")))
CARD = card(
    "sex",
    "age",
    "income",
    sha256="a" * 64,
    format="A formula",
    summary="A sum",
    accepts=("number", "number", "number"),
    hints=Hints(codes={"sex": {"female": 0.0, "male": 1.0}}),
)


class Formula:
    """Adds its inputs up; a text counts as its length."""

    def __init__(self, card):
        self.card = card

    def scores(self, inputs):
        total = sum(
            np.array([len(each) if isinstance(each, str) else each for each in one], float)
            for one in inputs
        )
        if self.card.scores == "values":
            return total[:, None].astype(np.float32)
        share = 1 / (1 + np.exp(-(total - np.median(total)) / 20))
        if len(self.card.classes) == 2:
            return share[:, None].astype(np.float32)
        places = np.arange(len(self.card.classes)) / len(self.card.classes)
        return -np.abs(share[:, None] - places[None, :]).astype(np.float32)


class FakeWorker:
    """Opens a formula that is told by its card, in the thread that asks."""

    def __init__(self, card=CARD, contents=None, programs=(), errors=(), tells=None):
        self.card, self.tells = card, tells or (lambda card, companions: card)
        self.contents = contents or Contents("pickle")
        self.programs, self.errors = set(programs), list(errors)
        self.asked = []
        self.formula = None
        self.stopped = threading.Event()

    def look_into(self, path):
        if path.name in self.programs:
            names = (("os.system", "dangerous"), ("copy.copy", "unknown"), ("numpy.dtype", "known"))
            return Contents("pickle", imports=tuple(ImportedName(*each) for each in names[::-1]))
        return self.contents

    def open_model(self, path, *, trusted=False, output="", companions=(), command=None):
        self.asked.append((path.name, trusted, output, companions, command))
        if self.errors and command is None:
            raise self.errors.pop(0)
        for name, agreed in ((path.name, trusted), *((c.path, c.trusted) for c in companions)):
            if name.rpartition("/")[2] in self.programs and not agreed:
                raise TrustRequiredError(f"“{name}” is a program, not only data.", why="It is.")
        card = msgspec.structs.replace(
            self.tells(self.card, companions),
            path=str(path),
            companions=tuple(companions),
            output=output or self.card.output,
            needed_trust=path.name in self.programs,
        )
        self.formula = Formula(card)
        return card

    def confinement(self):
        return HELD

    def prove(self, mapping, table, label, favourable):
        return input_check.check(self.formula, table, mapping, label, favourable)

    def show(self, mapping, table, label, rows):
        few = replace(table, codes=table.codes[np.array(rows) - 1])
        return tuple(
            msgspec.structs.replace(each, row=row)
            for row, each in zip(
                rows, input_check.show(self.formula, few, mapping, label), strict=True
            )
        )

    def stop(self):
        self.stopped.set()

    def close(self):
        pass


def write_table(path, rows=90):
    lines = ["sex,age,income,job,risk,said,approved"]
    for row in range(rows):
        sex, job = ("female", "male")[row % 2], ("clerk", "cook", "pilot")[row % 3]
        income = (row * 37) % 90 + 10
        good = income + 20 * (row % 2) > 60
        said = ("refused", "granted")[income > 50]
        lines.append(f"{sex},{20 + row % 50},{income},{job},{income / 2},{said},{'ny'[good]}")
    path.write_text("\n".join(lines).replace(",n", ",no").replace(",y", ",yes"), encoding="utf-8")
    return path


@pytest.fixture
def table(tmp_path):
    return read_table(write_table(tmp_path / "people.csv"))


@pytest.fixture
def remembered():
    return Settings()


@pytest.fixture
def make(qtbot, themed, table, remembered):
    """Make a wizard on the model page, with a worker that does as it is told."""

    def make(worker, label="approved", favourable="yes", data=None):
        wizard = Wizard(worker, FakeWorker(), remembered)
        qtbot.addWidget(wizard, before_close_func=QWidget.hide)
        wizard.show()
        state = wizard.state
        state.set_table(table if data is None else data)
        state.set_label(label)
        state.set_favourable(favourable)
        assert state.next()
        wizard._show()
        return wizard

    return make


@pytest.fixture
def model_file(tmp_path):
    path = tmp_path / "model.pkl"
    path.write_bytes(b"a model")
    return path


def proves(qtbot, wizard, action):
    with qtbot.waitSignal(wizard.model.proved):
        action()


def fails(qtbot, wizard, action):
    with qtbot.waitSignal(wizard.model.failed):
        action()


def choose(combo, text):
    assert combo.findText(text) >= 0, text
    combo.setCurrentIndex(combo.findText(text))
    combo.activated.emit(combo.currentIndex())


def texts(widget):
    QApplication.processEvents()  # what was added is shown by its layout
    return [each.text() for each in widget.findChildren(QLabel) if not each.isHidden()]


def cell(wizard, row, column):
    model = wizard.model.opened.tabs.mapping_view.model()
    return model.index(row, column).data()


def put(wizard, row, column_name):
    model = wizard.model.opened.tabs.mapping_view.model()
    model.setData(model.index(row, MADE_FROM), column_name)


# -- a file that is a program ------------------------------------------------------------------


def test_a_program_is_shown_with_its_names_and_opened_once_agreed(
    qtbot, make, model_file, remembered
):
    worker = FakeWorker(programs=["model.pkl"])
    wizard = make(worker)
    fails(qtbot, wizard, lambda: wizard.model.load(model_file))
    page = wizard.model
    assert page._trust.button.isVisible()
    assert wizard.focusWidget() is page._trust.choose
    assert wizard.state.card is None
    assert not wizard.next.isEnabled()
    said = texts(page._trust)
    marked = [
        each for each in said if "os.system" in each or "copy.copy" in each or "dtype" in each
    ]
    # what is known for harm comes first, whatever the file's order is
    assert [each[0] for each in marked] == ["▲", "○", "✓"]
    assert any(each.startswith("✓  Network") for each in said)
    assert any(each.startswith("✗  Files: All.") for each in said)
    fingerprint = files.sha256(model_file)
    assert fingerprint in said

    proves(qtbot, wizard, page._trust.button.click)
    assert remembered.trusted == [fingerprint] or fingerprint in remembered.trusted
    assert wizard.state.trusted
    assert "you agreed to run its code" in page.opened.about.text()
    # the same file is not asked about again, another one is
    proves(qtbot, wizard, lambda: page.load(model_file))
    model_file.write_bytes(b"another model")
    fails(qtbot, wizard, lambda: page.load(model_file))
    assert page._trust.button.isVisible()


def test_a_program_beside_the_model_is_what_is_asked_about(
    qtbot, make, model_file, tmp_path, remembered
):
    scaler = tmp_path / "scaler.pkl"
    scaler.write_bytes(b"a scaler")
    worker = FakeWorker(programs=["scaler.pkl"])
    wizard = make(worker)
    proves(qtbot, wizard, lambda: wizard.model.load(model_file))
    fails(qtbot, wizard, lambda: wizard.model.opener.add(scaler))
    assert files.sha256(scaler) in texts(wizard.model._trust)
    proves(qtbot, wizard, wizard.model._trust.button.click)
    assert files.sha256(scaler) in remembered.trusted
    assert files.sha256(model_file) not in remembered.trusted
    _name, trusted, _output, (companion,), _command = worker.asked[-1]
    assert companion.trusted
    assert not trusted


# -- files beside the model --------------------------------------------------------------------


def test_files_beside_it_are_added_and_left_out(qtbot, make, model_file, tmp_path, monkeypatch):
    beside = tmp_path / "a list of the inputs & what each of them is called.json"
    beside.write_text("[]", encoding="utf-8")
    worker = FakeWorker()
    wizard = make(worker)
    page = wizard.model
    proves(qtbot, wizard, lambda: page.load(model_file))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(beside), ""))
    proves(qtbot, wizard, page.opened.files.add.click)
    assert [each.path for each in wizard.state.companions] == [str(beside)]
    (chip,) = [
        each
        for each in page.opened.files.findChildren(QPushButton)
        if "Remove" in each.accessibleName()
    ]
    assert chip.width() < page.width() / 2
    assert "&&" in chip.text() or "&" not in chip.text()
    proves(qtbot, wizard, chip.click)
    assert wizard.state.companions == []
    assert worker.asked[-1][3] == []


def test_a_scaler_next_to_the_model_is_offered_and_used_by_one_click(
    qtbot, make, model_file, monkeypatch
):
    scaler = model_file.with_name("scaler.pkl")
    scaler.write_bytes(b"a scaler")
    worker, look = FakeWorker(), FakeWorker.look_into

    def look_into(path):
        names = (ImportedName("sklearn.preprocessing._data.StandardScaler", "known"),)
        found = Contents("pickle", imports=names)
        return found if path.name == "scaler.pkl" else look(worker, path)

    monkeypatch.setattr(worker, "look_into", look_into)
    wizard = make(worker)
    page = wizard.model
    proves(qtbot, wizard, lambda: page.load(model_file))
    assert wizard.state.companions == []

    def offers():
        found = page.opened.files.findChildren(QPushButton)
        return [each for each in found if each.text().startswith("Use ")]

    (offer,) = offers()
    assert "scaler.pkl" in offer.text()
    proves(qtbot, wizard, offer.click)
    assert [each.path for each in wizard.state.companions] == [str(scaler.resolve())]
    qtbot.waitUntil(lambda: not offers())


def test_a_file_that_tells_nothing_is_refused_and_the_model_can_be_tried_again(
    qtbot, make, model_file, tmp_path
):
    beside = tmp_path / "nothing.txt"
    beside.write_text("x", encoding="utf-8")
    worker = FakeWorker()
    wizard = make(worker)
    proves(qtbot, wizard, lambda: wizard.model.load(model_file))
    worker.errors = [ModelError("It tells nothing.")]
    fails(qtbot, wizard, lambda: wizard.model.opener.add(beside))
    assert "It tells nothing." in wizard.model.banner.accessibleName()
    assert not wizard.next.isEnabled()
    without = next(
        each
        for each in wizard.model.banner.findChildren(QPushButton)
        if "without" in each.text().lower()
    )
    proves(qtbot, wizard, without.click)
    assert wizard.state.companions == []
    assert wizard.next.isEnabled()


def test_one_of_several_outputs_decides(qtbot, make, model_file):
    worker = FakeWorker(msgspec.structs.replace(CARD, outputs=("loan", "rate"), output="loan"))
    wizard = make(worker)
    page = wizard.model
    proves(qtbot, wizard, lambda: page.load(model_file))
    assert page.opened.output.isVisible()
    assert page.opened.output.currentText() == "loan"
    proves(qtbot, wizard, lambda: choose(page.opened.output, "rate"))
    assert worker.asked[-1][2] == "rate"
    assert wizard.state.output == "rate"


# -- versions ----------------------------------------------------------------------------------

NEEDED = Requirement({"scikit-learn": "1.3.2"}, "Saved with 1.3.2; 1.9.1 is installed.")


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """A model that needs another version; no environment is there until one is made."""
    made = []
    there = Environment(tmp_path, "scikit-learn 1.3.2, Python 3.11", {})
    monkeypatch.setattr(environments, "needed", lambda _contents: NEEDED)
    monkeypatch.setattr(environments, "find", lambda _needed, *_: there if made else None)
    monkeypatch.setattr(environments, "command", lambda _there: ("guest",))
    return made, there


def buttons(banner):
    QApplication.processEvents()
    return [each for each in banner.findChildren(QPushButton) if not each.isHidden()]


def test_another_version_is_named_and_an_environment_offered(
    qtbot, make, model_file, elsewhere, monkeypatch
):
    made, there = elsewhere

    def make_it(_needed, say, _stopped):
        say("Downloading")
        made.append(there)
        return there

    monkeypatch.setattr(environments, "make", make_it)
    worker = FakeWorker()
    wizard = make(worker)
    page = wizard.model
    proves(qtbot, wizard, lambda: page.load(model_file))
    # it opened here, perhaps wrongly: that stays on the page
    assert NEEDED.mismatch in page.banner.accessibleName()
    proves(qtbot, wizard, buttons(page.banner)[0].click)
    assert worker.asked[-1][4] == ("guest",)
    assert wizard.state.card.environment == there.title
    assert there.title in page.opened.about.text()
    assert not page.banner.isVisible()


def test_making_an_environment_is_stopped_by_cancel(
    qtbot, make, model_file, elsewhere, monkeypatch
):
    stopped_at = []

    def make_it(_needed, say, stopped):
        say("Downloading scikit-learn 1.3.2")
        while not stopped():
            threading.Event().wait(0.01)
        stopped_at.append(True)
        raise ModelError("It has been ended.")

    monkeypatch.setattr(environments, "make", make_it)
    worker = FakeWorker(errors=[ModelError("It does not open."), ModelError("Nor now.")])
    wizard = make(worker)
    page = wizard.model
    fails(qtbot, wizard, lambda: page.load(model_file))
    assert NEEDED.mismatch in page.banner.accessibleName()
    assert "1.3.2" in buttons(page.banner)[0].text()
    buttons(page.banner)[0].click()
    qtbot.waitUntil(lambda: "Downloading" in " ".join(texts(page.opening)))
    assert not wizard.next.isEnabled()
    cancel = page.opening.findChild(QPushButton)
    fails(qtbot, wizard, cancel.click)
    qtbot.waitUntil(lambda: bool(stopped_at))
    assert not page.busy
    assert "Stopped" in page.banner.accessibleName()
    qtbot.wait(30)
    assert "It has been ended" not in page.banner.accessibleName()


# -- inputs ------------------------------------------------------------------------------------

STRANGE = msgspec.structs.replace(CARD, inputs=("a_age", "is_man", "wage"))


def test_gaps_are_shown_and_filled_until_the_step_is_done(qtbot, make, model_file, monkeypatch):
    wizard = make(FakeWorker(STRANGE))
    page = wizard.model
    fails(qtbot, wizard, lambda: page.load(model_file))
    assert not wizard.next.isEnabled()
    assert [cell(wizard, row, MADE_FROM) for row in range(3)] == [OPEN] * 3
    assert "a_age" in page.opened.problems.accessibleName()
    # told once, not once as a proposal's gap and once as the mapping's
    assert len([each for each in texts(page.opened.problems) if "is_man" in each]) == 1
    # the answer is known by its name all the same
    assert page.opened.check.answer.combo.currentText() == "yes"

    fails(qtbot, wizard, lambda: put(wizard, 0, "age"))
    assert cell(wizard, 0, MADE_FROM) == "age"
    assert "a_age" not in page.opened.problems.accessibleName()
    assert "wage" in page.opened.problems.accessibleName()

    def answer(dialog):
        choose(dialog.column, "sex")
        choose(dialog.way, "1 for one value, 0 for all others")
        choose(dialog.value, "male")
        return 1

    monkeypatch.setattr(InputDialog, "exec", answer)
    page.opened.tabs.mapping_view.setCurrentIndex(
        page.opened.tabs.mapping_view.model().index(1, HOW)
    )
    fails(qtbot, wizard, page.opened.tabs.change_button.click)
    assert cell(wizard, 1, HOW) == "1 for “male”, else 0"
    proves(qtbot, wizard, lambda: put(wizard, 2, "income"))
    assert not page.opened.problems.isVisible()
    assert wizard.next.isEnabled()
    assert wizard.state.mapping.inputs[1].codes["male"] == 1


def test_inputs_made_alike_or_from_the_label_are_refused_here(qtbot, make, model_file):
    wizard = make(FakeWorker())
    page = wizard.model
    proves(qtbot, wizard, lambda: page.load(model_file))
    assert "approved" not in page.opened.tabs.mapping.columns
    fails(qtbot, wizard, lambda: put(wizard, 1, "income"))
    assert phrases.EXACTLY_SAME in page.opened.problems.accessibleName()
    assert wizard.state.mapping is None
    assert not wizard.next.isEnabled()
    proves(qtbot, wizard, lambda: put(wizard, 1, CONSTANT))
    assert wizard.state.mapping.inputs[1].how is How.CONSTANT
    assert wizard.state.attribute_names() == ("sex", "income")


def test_any_row_is_shown_as_it_is_sent(qtbot, make, model_file, table):
    wizard = make(FakeWorker())
    page = wizard.model
    proves(qtbot, wizard, lambda: page.load(model_file))
    model = page.opened.tabs.mapping_view.model()
    head = model.columnCount() - 1
    sent = [cell(wizard, row, head) for row in range(3)]
    assert sent == ["0", "20", "10"]
    assert page.opened.tabs.row.maximum() == 90
    page.opened.tabs.row.setValue(78)
    qtbot.waitUntil(lambda: model.headerData(head, Qt.Orientation.Horizontal) == "Row 78 as sent")
    sex, age, income = table.codes[77, :3]
    assert [cell(wizard, row, head) for row in range(3)] == [f"{v:g}" for v in (sex, age, income)]
    assert "Decision: “" in page.opened.tabs.row_answer.text()
    page.opened.tabs.setCurrentIndex(1)
    assert page.opened.tabs.rows_view.model().rowCount() > 0


def test_three_hundred_inputs_and_long_names_fit(qtbot, make, model_file, tmp_path):
    names = [f"the applicant’s Übermaß of <b>circumstance</b> number {n}" for n in range(300)]
    rows = ["\t".join([*map(str, range(row, row + 300)), "ny"[row % 2]]) for row in range(20)]
    path = tmp_path / "wide.tsv"
    path.write_text("\n".join(["\t".join([*names, "ok"]), *rows]), encoding="utf-8")
    card = msgspec.structs.replace(
        CARD,
        inputs=tuple(
            f"what nobody has heard of before, neither here nor there, {n}" for n in range(299)
        ),
        accepts=(),
    )
    wizard = make(FakeWorker(card), "ok", "y", read_table(path))
    page = wizard.model
    width = wizard.minimumSizeHint().width()
    fails(qtbot, wizard, lambda: page.load(model_file))
    assert wizard.minimumSizeHint().width() <= max(width, 900)
    assert page.opened.tabs.mapping_view.model().rowCount() == 299
    assert page.opened.problems.height() < wizard.height() / 2


def test_the_wheel_moves_the_page_before_its_table(qtbot, make, model_file):
    wizard = make(FakeWorker(STRANGE))
    page = wizard.model
    fails(qtbot, wizard, lambda: page.load(model_file))
    wizard.resize(1080, 620)
    page.opened.check.answer.combo.setFocus()
    area = page.opened.tabs.mapping_view
    while not hasattr(area, "widgetResizable"):
        area = area.parentWidget()
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() > 0)
    view = page.opened.tabs.mapping_view.viewport()
    place = QPointF(view.mapTo(wizard, view.rect().topLeft() + QPoint(20, 20)))
    for _turn in range(3):
        QTest.wheelEvent(wizard.windowHandle(), place, QPoint(0, -120))
        qtbot.wait(1)
    assert area.verticalScrollBar().value() > 0


# -- one input in its dialog -------------------------------------------------------------------


@pytest.fixture
def dialog(qtbot, themed, table):
    owner = QWidget()
    qtbot.addWidget(owner)

    def make(position=0, card=CARD, data=table):
        fed = propose(card, data, "approved", "yes")
        columns = tuple(name for name in data.names if name != "approved")
        made = InputDialog(fed, position, card, data, columns, owner)
        qtbot.addWidget(made)
        made.show()
        return made

    return make


def test_a_number_for_each_value_is_given_by_hand(qtbot, dialog):
    asked = dialog(0)
    choose(asked.column, "job")
    assert asked.way.currentText() == "a number for each value"
    assert [asked.codes.item(row, 0).text() for row in range(3)] == ["clerk", "cook", "pilot"]
    asked.codes.item(1, 1).setText("7.5")
    assert asked.fed.inputs[0].codes == {"clerk": 0.0, "cook": 7.5, "pilot": 2.0}
    asked.codes.item(1, 1).setText("many")
    assert "“many” is not a number" in asked._wrong.text()
    assert asked._wrong.isVisible()
    assert asked.codes.item(1, 1).text() == "7.5"
    asked.codes.item(2, 1).setText("inf")
    assert "finite" in asked._wrong.text()
    asked.codes.item(2, 1).setText("3")
    assert not asked._wrong.isVisible()
    assert "cook = 7.5" in asked._told.text()


def test_names_are_no_numbers_and_a_text_is_not_computed_with(qtbot, dialog):
    asked = dialog(0, msgspec.structs.replace(CARD, accepts=()))
    choose(asked.column, "job")
    choose(asked.way, "a number for each value")
    choose(asked.way, "the number itself")
    assert "is categorical, not numeric" in asked._wrong.text()
    assert asked.way.currentText() == "a number for each value"
    choose(asked.way, "the text as in the data")
    assert asked.fed.inputs[0].how is How.LABEL
    assert not asked.add_step.isVisible()
    assert not asked.codes.isVisible()


def test_arithmetic_is_done_step_by_step(qtbot, dialog):
    asked = dialog(2)
    asked.add_step.click()
    asked.add_step.click()

    def field(name, kind):
        QApplication.processEvents()
        return next(
            each
            for each in asked.findChildren(kind)
            if each.accessibleName() == name and not each.isHidden()
        )

    number = field("Number of step 1", QLineEdit)
    number.setText("38.5")
    number.editingFinished.emit()
    choose(field("Step 2", QComboBox), "divided by")
    # nothing is divided by zero, and what stood before stays
    assert "zero" in asked._wrong.text()
    number = field("Number of step 2", QLineEdit)
    number.setText("13")
    number.editingFinished.emit()
    choose(field("Step 2", QComboBox), "divided by")
    steps = (Arithmetic("subtract", 38.5), Arithmetic("divide", 13.0))
    assert asked.fed.inputs[2].then == steps
    assert asked._told.text() == "The model receives the number itself; minus 38.5; divided by 13."
    field("Remove step 1", QPushButton).click()
    assert asked.fed.inputs[2].then == steps[1:]


def test_everybody_can_get_the_same(qtbot, dialog):
    asked = dialog(1, msgspec.structs.replace(CARD, inputs=("sex", "year", "income")))
    assert asked.fed.inputs[1] is None
    assert not asked.ok_button.isEnabled()
    choose(asked.way, "the number itself")
    assert "Choose a column first" in asked._wrong.text()
    choose(asked.way, phrases.SAME_FOR_EVERYBODY)
    assert asked.ok_button.isEnabled()
    asked.constant.setText("2020")
    asked.constant.editingFinished.emit()
    assert asked.fed.inputs[1].constant == 2020.0
    asked.constant.setText("a year")
    asked.constant.editingFinished.emit()
    assert "accepts a number" in asked._wrong.text()
    assert asked.constant.text() == "2020"


def test_ten_thousand_values_open_and_tell_that_not_all_have_a_line(qtbot, dialog, tmp_path):
    rows = [
        f"улица {n % 10_000},{n % 70},{n % 90},{'yes' if n % 3 else 'no'}" for n in range(12_000)
    ]
    path = tmp_path / "many.csv"
    path.write_text("\n".join(["sex,age,income,approved", *rows]), encoding="utf-8")
    card = msgspec.structs.replace(CARD, accepts=("number",) * 3)
    asked = dialog(0, card, read_table(path))
    assert asked.codes.rowCount() == 2_000
    assert "10,000" in asked._more_codes.text()
    assert asked._more_codes.isVisible()
    asked.codes.item(3, 1).setText("77")
    assert 77.0 in asked.fed.inputs[0].codes.values()
    assert len(asked.fed.inputs[0].codes) == 10_000


def test_the_dialog_is_left_by_escape_and_taken_by_enter(qtbot, make, model_file):
    wizard = make(FakeWorker())
    page = wizard.model
    proves(qtbot, wizard, lambda: page.load(model_file))

    def during(keys):
        def press():
            asked = QApplication.activeModalWidget()
            assert isinstance(asked, InputDialog)
            choose(asked.column, "risk")
            for key in keys:
                qtbot.keyClick(asked, key)

        QTimer.singleShot(0, press)
        page.opened.tabs.mapping_view.setCurrentIndex(
            page.opened.tabs.mapping_view.model().index(1, HOW)
        )
        page.opened.tabs.change_button.click()

    during([Qt.Key.Key_Escape])
    assert wizard.state.mapping.inputs[1].attribute == "age"
    proves(qtbot, wizard, lambda: during([Qt.Key.Key_Return]))
    assert wizard.state.mapping.inputs[1].attribute == "risk"
    assert page.opened.tabs.mapping_view.currentIndex().row() == 1


# -- what the answers mean ---------------------------------------------------------------------


def test_the_decision_is_made_at_another_score(qtbot, make, model_file):
    wizard = make(FakeWorker())
    page = wizard.model
    proves(qtbot, wizard, lambda: page.load(model_file))
    before = sum(row[0] for row in wizard.state.proof.confusion)
    proves(qtbot, wizard, lambda: page.opened.check.answer.threshold.setValue(0.9))
    assert wizard.state.mapping.threshold == 0.9
    assert sum(row[0] for row in wizard.state.proof.confusion) < before
    proves(qtbot, wizard, lambda: page.opened.check.answer.threshold.setValue(0.5))
    assert wizard.state.mapping.threshold is None


def test_several_of_many_classes_are_good(qtbot, make, model_file, monkeypatch):
    classes = tuple(f"rank {n} of the commission’s list" for n in range(40))
    wizard = make(FakeWorker(msgspec.structs.replace(CARD, classes=classes)))
    page = wizard.model
    fails(qtbot, wizard, lambda: page.load(model_file))
    # none of them is called “yes”: it has to be chosen
    assert page.opened.check.answer.combo.currentIndex() == -1
    assert not wizard.next.isEnabled()
    assert not page.opened.check.answer.threshold.isVisible()

    def tick(asked):
        asked.ticks.none_button.click()
        for row in (30, 31):
            asked.ticks.list.item(row).setCheckState(Qt.CheckState.Checked)
        return 1

    monkeypatch.setattr(ValuesDialog, "exec", tick)
    proves(qtbot, wizard, lambda: choose(page.opened.check.answer.combo, "Several decisions…"))
    assert wizard.state.mapping.together == (30, 31)
    assert page.opened.check.answer.combo.currentText() == f"{classes[30]} or {classes[31]}"
    decided = next(
        each for each in page.opened.check._more.text().split(". ") if "Decisions: " in each
    )
    assert decided.count("“") <= 5
    assert page.opened.check._more.height() < wizard.height() / 3


def test_an_estimate_is_good_from_a_number_on(qtbot, make, model_file, table):
    card = msgspec.structs.replace(CARD, classes=(), scores="values", can=(Capability.DECIDES,))
    wizard = make(FakeWorker(card), "risk", ">= 30")
    page = wizard.model
    proves(qtbot, wizard, lambda: page.load(model_file))
    assert page.opened.check.answer.estimate.isVisible()
    assert not page.opened.check.answer.threshold.isVisible()
    assert page.opened.check.answer.combo.currentText() == "At least"
    assert page.opened.check.answer.estimate.value() == 30
    # the number is the model's own: what it was sent, added up
    sent = sum(table.codes[0, :3])
    shown = float(
        re.search(r"estimate ([\d,.e+]+)\)", page.opened.tabs.row_answer.text())[1].replace(",", "")
    )
    assert shown == pytest.approx(sent, rel=1e-3)
    first = page.opened.tabs.rows_view.model().index(0, 2).data()
    assert float(first.replace(",", "")) == pytest.approx(sent, rel=1e-3)
    proves(qtbot, wizard, lambda: page.opened.check.answer.estimate.setValue(80))
    assert wizard.state.mapping.threshold == 80
    proves(qtbot, wizard, lambda: choose(page.opened.check.answer.combo, "Less than"))
    assert wizard.state.mapping.favourable_class == 0
    assert wizard.state.mapping.decisions(card) == ("below 80", "80 or more")


# -- without a model ---------------------------------------------------------------------------


def test_decisions_in_a_column_stand_for_the_model(qtbot, make):
    wizard = make(FakeWorker())
    page = wizard.model
    # it is asked which of them is good, for none is called as the label's
    choose(page.column, "said")
    assert not wizard.next.isEnabled()
    assert "“yes”" in page.opened.problems.accessibleName()
    assert wizard.focusWidget() is page.opened.check.answer.combo
    assert not page.opened.tabs.isVisible()
    assert not page.opened.output.isVisible()
    choose(page.opened.check.answer.combo, "granted")
    assert wizard.state.predictions == "said"
    assert wizard.state.mapping.decisions(wizard.state.card) == ("not granted", "granted")
    assert wizard.state.proof.accuracy > 0.7
    assert not page.opened.problems.isVisible()
    assert page.opened.check.answer.combo.currentText() == "granted"
    assert wizard.next.isEnabled()
    wizard.next.click()
    assert wizard.state.step is Step.ATTRIBUTES
    wizard.back.click()
    assert page.opened.check.answer.combo.currentText() == "granted"


def test_a_column_is_chosen_on_purpose_and_left_again(qtbot, make):
    wizard = make(FakeWorker(), "risk", ">= 30")
    page, state = wizard.model, wizard.state
    page.column.setFocus()
    qtbot.keyClick(page.column, Qt.Key.Key_Down)
    assert not page.opened.check.isVisible()
    page.column.hidePopup()
    choose(page.column, "risk")
    assert wizard.next.isEnabled()
    # a column always matches itself: that is no warning
    assert not state.proof.warnings
    assert not page.opened.other.isVisible()
    texts = [each.text() for each in page.findChildren(QLabel) if each.isVisible()]
    assert not [text for text in texts if "odel’s" in text]
    page.opened.leave.click()
    assert page.column.isVisible()
    assert wizard.focusWidget() is page.column
    assert state.card is None
    assert not wizard.next.isEnabled()


def test_a_model_takes_the_place_of_a_column(qtbot, make, model_file):
    wizard = make(FakeWorker(), "said", "granted")
    page = wizard.model
    choose(page.column, "said")
    assert wizard.next.isEnabled()
    assert "nothing to compare" in page.opened.check._agreement.text()
    proves(qtbot, wizard, lambda: page.load(model_file))
    assert wizard.state.predictions == ""
    assert page.opened.tabs.isVisible()
    assert page.opened.files.isVisible()


# -- going back --------------------------------------------------------------------------------


def test_another_label_proposes_anew(qtbot, make, model_file):
    wizard = make(FakeWorker())
    page, state = wizard.model, wizard.state
    proves(qtbot, wizard, lambda: page.load(model_file))
    proves(qtbot, wizard, lambda: choose(page.opened.check.answer.combo, "no"))
    assert state.mapping.favourable_class == 0
    wizard.back.click()
    state.set_label("said")
    state.set_favourable("granted")
    proves(qtbot, wizard, wizard.next.click)
    assert "approved" in page.opened.tabs.mapping.columns
    assert "said" not in page.opened.tabs.mapping.columns
    # what was said of the other label's outcome is not kept
    assert state.proof.accuracy > 0.5
    wizard.back.click()
    state.set_label("age")
    state.set_favourable(">= 40")
    fails(qtbot, wizard, wizard.next.click)
    assert "age" in page.opened.problems.accessibleName()


# -- by keyboard, and for all readers ----------------------------------------------------------


def test_a_choice_is_opened_by_enter_and_f2(qtbot, make, model_file):
    wizard = make(FakeWorker())
    page = wizard.model
    proves(qtbot, wizard, lambda: page.load(model_file))
    view = page.opened.tabs.mapping_view
    for key in (Qt.Key.Key_F2, Qt.Key.Key_Return):
        view.setFocus()
        view.setCurrentIndex(view.model().index(1, MADE_FROM))
        qtbot.wait(1)
        for editor in view.findChildren(QComboBox):
            qtbot.keyClick(editor, Qt.Key.Key_Escape)
        qtbot.wait(1)
        view.setFocus()
        qtbot.keyClick(view, key)
        assert wizard.state.step is Step.MODEL
        editors = [each for each in view.findChildren(QComboBox) if each.isVisible()]
        assert editors, key
        assert editors[0].accessibleName() == "Source of input 2"
        qtbot.keyClick(editors[0], Qt.Key.Key_Escape)


def test_tab_goes_through_the_page_in_the_order_it_is_read(qtbot, make, model_file):
    wizard = make(FakeWorker())
    page = wizard.model
    proves(qtbot, wizard, lambda: page.load(model_file))
    wizard.activateWindow()
    page.opened.other.setFocus()
    seen = []
    for _press in range(12):
        focus = wizard.focusWidget()
        seen.append(focus)
        qtbot.keyClick(focus, Qt.Key.Key_Tab)
        if wizard.focusWidget() is wizard.next:
            break
    wanted = [
        page.opened.other,
        page.opened.files.add,
        page.opened.check.answer.combo,
        page.opened.check.answer.threshold,
        page.opened.tabs.mapping_view,
        page.opened.tabs.change_button,
        page.opened.tabs.row,
        page.opened.held.button,
        wizard.back,
    ]
    assert [each for each in seen if each in wanted] == wanted


@pytest.mark.parametrize("kind", ["empty", "program", "opened", "gaps", "said"])
def test_every_field_has_a_name_and_no_two_share_a_key(qtbot, make, model_file, kind):
    card = STRANGE if kind == "gaps" else msgspec.structs.replace(CARD, outputs=("a", "b"))
    wizard = make(FakeWorker(card, programs=["model.pkl"] if kind == "program" else ()))
    page = wizard.model
    if kind == "said":
        choose(page.column, "said")
    elif kind == "opened":
        proves(qtbot, wizard, lambda: page.load(model_file))
    elif kind != "empty":
        fails(qtbot, wizard, lambda: page.load(model_file))
    fields = [
        each
        for sort in (QComboBox, QLineEdit, QAbstractSpinBox)
        for each in page.findChildren(sort)
        if each.isVisible() and not isinstance(each.parent(), QAbstractSpinBox | QComboBox)
    ]
    assert all(each.accessibleName() for each in fields), fields
    said = [
        each.text()
        for sort in (QAbstractButton, QLabel)
        for each in wizard.findChildren(sort)
        if each.isVisible() and not isinstance(each, Words)
    ]
    if page.opened.tabs.isVisible():
        said += [page.opened.tabs.tabText(tab) for tab in range(page.opened.tabs.count())]
    keys = [key.lower() for text in said for key in re.findall("&([^&])", text.replace("&&", ""))]
    assert len(keys) == len(set(keys)), sorted(said)


# -- a model that came without its scaler ------------------------------------------------------


class Scaled(Formula):
    """Was trained on standardised numbers: others are beyond all that it saw."""

    def scores(self, inputs):
        sex, _, income = (np.asarray(one, float) for one in inputs)
        return (1 / (1 + np.exp(np.clip(-5 * income - 2 * sex, -80, 80)))).astype(np.float32)[
            :, None
        ]


class WithoutScaler(FakeWorker):
    def open_model(self, path, **more):
        card = super().open_model(path, **more)
        self.formula = Scaled(card)
        return card


def test_a_preparation_is_offered_chosen_with_one_click_and_taken_back(qtbot, make, model_file):
    wizard = make(WithoutScaler())
    page, state = wizard.model, wizard.state
    proves(qtbot, wizard, lambda: page.load(model_file))
    card = page.opened.preparing
    assert card.isVisibleTo(page)
    plain = state.mapping
    # nothing is applied that was not asked for
    assert all(item.then == () for item in plain.inputs)
    assert card.choices[0].isChecked()
    assert [each.isChecked() for each in card.choices[1:]] == [False] * (len(card.choices) - 1)
    titles = [each.text() for each in card.choices]
    wanted = next(i for i, text in enumerate(titles) if text.startswith("Standardise every input"))
    assert ": accuracy " in card.choices[wanted].accessibleName()
    said = " ".join(texts(card))
    assert "Authors often prepare a table in this way" in said
    assert phrases.RECORDED_IN_AUDIT in said
    before = state.proof.accuracy
    card.choices[wanted].setFocus()
    proves(qtbot, wizard, card.choices[wanted].click)
    assert card.choices[wanted].hasFocus()
    assert state.proof.accuracy > before + 0.2
    income = state.mapping.inputs[2]
    assert income.fitted is Fit.STANDARDISE
    values = state.table.codes[:, state.table.index("income")]
    assert income.then[0].by == pytest.approx(values.mean())
    # what was chosen is marked, told, and can be taken back
    assert card.isVisibleTo(page)
    assert card.choices[wanted].isChecked()
    assert any("standardised with the means" in text for text in texts(page))
    assert phrases.FITTED_ON_TABLE in cell(wizard, 2, HOW)
    proves(qtbot, wizard, card.choices[0].click)
    assert state.mapping == plain
    assert state.proof.accuracy == before
    # a change by hand is another way to feed the model: what was offered was for that before
    put(wizard, 1, "risk")
    qtbot.waitUntil(lambda: state.proof is not None and not page.busy)
    assert state.mapping.inputs[1].attribute == "risk"
    assert page._feeding.unprepared[0] == state.mapping


def test_guessed_numbers_are_confirmed_before_the_audit_goes_on(qtbot, make, model_file):
    unknown = msgspec.structs.replace(CARD, hints=Hints(), inputs=("sex", "job", "income"))
    wizard = make(FakeWorker(unknown))
    page, state = wizard.model, wizard.state
    proves(qtbot, wizard, lambda: page.load(model_file))
    card = page.opened.numbering
    assert card.isVisibleTo(page)
    assert state.mapping.guessed == ("sex", "job")
    assert not wizard.next.isEnabled()
    assert state.blocked(Step.MODEL).endswith(f"{words.listed(('sex', 'job'))}.")
    assert not any(each.isChecked() for each in card.choices)
    other = next(each for each in card.choices if each.text().startswith("male = 0, female = 1"))
    assert ": accuracy " in other.accessibleName()
    assert "calibration error" in other.accessibleName()
    proves(qtbot, wizard, other.click)
    assert state.mapping.inputs[0].codes == {"male": 0.0, "female": 1.0}
    assert state.mapping.guessed == ("job",)
    assert [each for each in card.choices if each.isChecked()] == [other]
    assert not wizard.next.isEnabled()
    proves(qtbot, wizard, card.as_now.click)
    assert state.mapping.inputs[1].codes == {"clerk": 0.0, "cook": 1.0, "pilot": 2.0}
    assert state.mapping.guessed == ()
    assert wizard.next.isEnabled()
    assert not card.as_now.isEnabled()
    assert state.blocked(Step.MODEL) == ""


def test_numbers_that_a_file_states_are_not_asked_for(qtbot, make, model_file):
    wizard = make(FakeWorker())
    proves(qtbot, wizard, lambda: wizard.model.load(model_file))
    assert not wizard.model.opened.numbering.isVisibleTo(wizard.model)
    (model_file.parent / "model.codes.json").write_text("{}", encoding="utf-8")
    proves(qtbot, wizard, lambda: wizard.model.load(model_file))
    assert [path.name for path in wizard.model.opener.wish.companions] == ["model.codes.json"]


def test_a_model_that_does_well_is_offered_nothing(qtbot, make, model_file):
    wizard = make(FakeWorker())
    proves(qtbot, wizard, lambda: wizard.model.load(model_file))
    assert not wizard.model.opened.preparing.isVisibleTo(wizard.model)
