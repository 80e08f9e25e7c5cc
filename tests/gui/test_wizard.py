"""The wizard, with real worker processes and a real model."""

import threading

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QAccessible, QColor, QDropEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QFileDialog,
    QLineEdit,
    QMessageBox,
    QRadioButton,
    QWidget,
)

from fairdesk.audit.store import Store
from fairdesk.data.domain import Role
from fairdesk.data.table import Kind
from fairdesk.errors import WorkerError
from fairdesk.files import sha256
from fairdesk.gui import theme
from fairdesk.gui.settings import Settings
from fairdesk.gui.wizard.dialog import Wizard
from fairdesk.gui.wizard.mapping_table import MADE_FROM
from fairdesk.gui.wizard.people_page import ValuesDialog
from fairdesk.gui.wizard.state import Length, Standing, Step
from fairdesk.samples import samples

SLOW = 60_000


@pytest.fixture
def remembered():
    return Settings()


@pytest.fixture
def wizard(qtbot, themed, worker, clerk, remembered):
    wizard = Wizard(worker, clerk, remembered)
    # a visible wizard would ask whether to discard what was entered
    qtbot.addWidget(wizard, before_close_func=QWidget.hide)
    wizard.show()
    return wizard


def read(qtbot, wizard, path):
    with qtbot.waitSignal(wizard.data.loaded, timeout=SLOW):
        wizard.data.load(path)


def choose(combo, text):
    combo.setCurrentIndex(combo.findText(text))
    combo.activated.emit(combo.currentIndex())


def answer_data(qtbot, wizard, loans):
    read(qtbot, wizard, loans / "loans.csv")
    choose(wizard.data.label, "approved")
    choose(wizard.data.favourable, "yes")
    qtbot.mouseClick(wizard.next, Qt.MouseButton.LeftButton)


def answer_model(qtbot, wizard, loans):
    with qtbot.waitSignal(wizard.model.failed, timeout=SLOW):
        wizard.model.load(loans / "loans.pkl")
    with qtbot.waitSignal(wizard.model.proved, timeout=SLOW):
        qtbot.mouseClick(wizard.model.trust_button, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(wizard.next, Qt.MouseButton.LeftButton)


def test_a_whole_audit_is_asked_for(qtbot, wizard, loans, remembered, tmp_path):
    assert not wizard.next.isEnabled()
    answer_data(qtbot, wizard, loans)
    assert wizard.state.step is Step.MODEL

    answer_model(qtbot, wizard, loans)
    assert remembered.trusted == [sha256(loans / "loans.pkl")]
    assert wizard.state.step is Step.PEOPLE
    assert wizard.state.proof.accuracy > 0.8

    people = wizard.people
    assert people.roles["sex"].currentData() == Role.VARIES.value
    assert not wizard.next.isEnabled()
    qtbot.mouseClick(people.chips["sex"], Qt.MouseButton.LeftButton)
    assert people.roles["sex"].currentData() == Role.PROTECTED.value
    choose(people.roles["housing"], "Fixed")
    qtbot.keyClick(people.roles["sex"], Qt.Key.Key_Return)
    assert wizard.state.step is Step.CHECKS

    qtbot.mouseClick(wizard.checks.lengths[Length.QUICK], Qt.MouseButton.LeftButton)
    wizard.checks.form.fields["global_num"].setValue(20)
    wizard.checks.seed.setValue(3)
    qtbot.mouseClick(wizard.next, Qt.MouseButton.LeftButton)

    assert wizard.state.step is Step.REVIEW
    assert wizard.next.text().replace("&", "") == "Start audit"
    wizard.review.name.selectAll()
    qtbot.keyClicks(wizard.review.name, "May loans")
    with qtbot.waitSignal(wizard.created, timeout=SLOW) as created:
        qtbot.mouseClick(wizard.next, Qt.MouseButton.LeftButton)
    plan = created.args[0]
    assert plan.path == tmp_path / "audits" / "May loans.fairdesk"
    assert plan.run.options == {"global_num": 20}
    assert plan.run.seed == 3
    with Store.open(plan.path) as store:
        assert store.spec == plan.audit
        assert store.spec.trusted
        assert [each.role for each in store.spec.domain.attributes] == [
            Role.PROTECTED,
            Role.VARIES,
            Role.VARIES,
            Role.FIXED,
        ]


def test_a_sample_starts_at_the_review(qtbot, wizard):
    sample = samples()[0]
    wizard.prefill(sample, sample.models[0])
    assert not wizard.next.isEnabled()
    qtbot.waitUntil(wizard.next.isEnabled, timeout=SLOW)
    assert wizard.state.step is Step.REVIEW
    assert wizard.review.name.text() == sample.title
    assert set(wizard.state.standings().values()) == {Standing.DONE, Standing.OPEN}
    protected = wizard.state.plan().audit.domain
    assert {protected.names[i] for i in protected.protected} == set(sample.protected)


def test_a_sample_that_is_gone_says_so_on_its_page(qtbot, wizard, monkeypatch, tmp_path):
    sample = samples()[0]
    monkeypatch.setattr(type(sample), "data_path", property(lambda _self: tmp_path / "no.csv"))
    with qtbot.waitSignal(wizard.data.failed, timeout=SLOW):
        wizard.prefill(sample, sample.models[0])
    assert wizard.state.step is Step.DATA
    assert wizard.data.banner.isVisible()


def test_a_missing_file_is_told_and_the_table_stays(qtbot, wizard, loans, tmp_path):
    read(qtbot, wizard, loans / "loans.csv")
    table = wizard.state.table
    with qtbot.waitSignal(wizard.data.failed, timeout=SLOW):
        wizard.data.load(tmp_path / "gone.csv")
    assert wizard.data.banner.isVisible()
    assert wizard.state.table is table
    read(qtbot, wizard, loans / "loans.csv")
    assert not wizard.data.banner.isVisible()


@pytest.mark.parametrize("content", [b"", b"a,b\n", b"a\x00b\n", b"\xff\xfe\x00"])
def test_nasty_files_leave_the_page_usable(qtbot, wizard, loans, tmp_path, content):
    path = tmp_path / "nasty.csv"
    path.write_bytes(content)
    wizard.data.load(path)
    qtbot.waitUntil(lambda: not wizard.data.busy, timeout=SLOW)
    assert wizard.data.banner.isVisible() or wizard.state.blocked(Step.DATA)
    read(qtbot, wizard, loans / "loans.csv")
    assert wizard.state.table.source.rows == 240


def test_the_dialect_is_shown_and_read_again(qtbot, wizard, tmp_path):
    path = tmp_path / "semi.csv"
    path.write_text(
        "sex;size;score;ok\nf;1,5;1,5;yes\nm;2,1;2,5;no\nf;2,2;zz;no\nm;1,8;4,5;yes\n",
        encoding="utf-8",
    )
    read(qtbot, wizard, path)
    page = wizard.data
    assert page.delimiter.currentData() == ";"
    assert page.decimal.currentData() == ","
    page.missing.setText("zz")
    with qtbot.waitSignal(page.loaded, timeout=SLOW):
        page.missing.editingFinished.emit()
    assert wizard.state.table.column("score").missing == 1
    with qtbot.waitSignal(page.loaded, timeout=SLOW):
        page.header.setChecked(False)
    assert wizard.state.table.source.rows == 5


def test_a_kind_is_changed_above_its_column(qtbot, wizard, loans):
    answer_data(qtbot, wizard, loans)
    wizard.back.click()
    header = wizard.data.preview.header
    assert header.combos[1].accessibleName() == "Kind of age"
    with qtbot.waitSignal(wizard.data.loaded, timeout=SLOW):
        choose(header.combos[1], "Numbers")
    assert wizard.state.table.column("age").kind is Kind.REAL
    # read in another way, the table keeps the kind that was chosen
    wizard.data.missing.setText("n/a")
    with qtbot.waitSignal(wizard.data.loaded, timeout=SLOW):
        wizard.data.missing.editingFinished.emit()
    assert wizard.state.table.column("age").kind is Kind.REAL


def test_a_kind_that_does_not_fit_is_refused_in_words(qtbot, wizard, loans):
    read(qtbot, wizard, loans / "loans.csv")
    with qtbot.waitSignal(wizard.data.loaded, timeout=SLOW):
        choose(wizard.data.preview.header.combos[0], "Numbers")
    assert wizard.data.banner.isVisible()
    assert wizard.state.table.column("sex").kind is Kind.NOMINAL
    assert wizard.data.preview.header.combos[0].currentText() == "Names"


def test_the_preview_is_a_sound_model(qtbot, wizard, loans, qtmodeltester):
    read(qtbot, wizard, loans / "loans.csv")
    qtmodeltester.check(wizard.data.preview.model())
    assert wizard.data.preview.model().rowCount() == 200


def test_a_program_is_opened_only_once_trusted(qtbot, wizard, loans, remembered):
    answer_data(qtbot, wizard, loans)
    with qtbot.waitSignal(wizard.model.failed, timeout=SLOW):
        wizard.model.load(loans / "loans.pkl")
    assert wizard.model.trust_button.isVisible()
    assert wizard.state.card is None
    remembered.trust(sha256(loans / "loans.pkl"))
    with qtbot.waitSignal(wizard.model.proved, timeout=SLOW):
        wizard.model.load(loans / "loans.pkl")
    assert not wizard.model.trust_button.isVisible()


def test_a_file_that_is_no_model_is_told_with_a_way_on(qtbot, wizard, loans, monkeypatch, tmp_path):
    answer_data(qtbot, wizard, loans)
    broken = tmp_path / "broken.keras"
    broken.write_bytes(b"nothing")
    with qtbot.waitSignal(wizard.model.failed, timeout=SLOW):
        wizard.model.load(broken)
    assert wizard.model.banner.isVisible()
    with qtbot.waitSignal(wizard.model.failed, timeout=SLOW):
        wizard.model.load(tmp_path / "gone.onnx")
    assert "gone.onnx" in wizard.model.banner.accessibleName()
    assert "data file" not in wizard.state.blocked(Step.MODEL)


def test_a_model_that_dies_or_hangs_leaves_a_way_on(qtbot, wizard, loans, worker, monkeypatch):
    answer_data(qtbot, wizard, loans)

    def die(_path, *, trusted=False):
        raise WorkerError("The model’s process died.", remedy="Try again.")

    with monkeypatch.context() as patched:
        patched.setattr(worker, "open_model", die)
        with qtbot.waitSignal(wizard.model.failed, timeout=SLOW):
            wizard.model.load(loans / "loans.pkl")
    assert "died" in wizard.model.banner.accessibleName()
    with qtbot.waitSignal(wizard.model.failed, timeout=SLOW):
        wizard.model.load(loans / "loans.pkl")
    assert wizard.model.trust_button.isVisible()


def test_opening_can_be_cancelled(qtbot, wizard, loans, worker, monkeypatch):
    answer_data(qtbot, wizard, loans)
    stopped = threading.Event()

    def hang(_path, *, trusted=False):
        stopped.wait(30)
        raise WorkerError("It was stopped.")

    with monkeypatch.context() as patched:
        patched.setattr(worker, "open_model", hang)
        patched.setattr(worker, "stop", stopped.set)
        wizard.model.load(loans / "loans.pkl")
        assert wizard.model.busy
        with qtbot.waitSignal(wizard.model.failed, timeout=SLOW):
            wizard.model.opening.cancelled.emit()
        assert not wizard.model.busy
        assert "Stopped" in wizard.model.banner.accessibleName()
        qtbot.wait(50)
        assert "It was stopped" not in wizard.model.banner.accessibleName()


def test_an_input_can_be_made_from_another_column(qtbot, wizard, loans):
    answer_data(qtbot, wizard, loans)
    answer_model(qtbot, wizard, loans)
    wizard.back.click()
    before = wizard.state.proof.accuracy
    model = wizard.model.mapping_view.model()
    rows = [model.index(row, 0).data() for row in range(model.rowCount())]
    with qtbot.waitSignal(wizard.model.proved, timeout=SLOW):
        model.setData(model.index(rows.index("income"), MADE_FROM), "age")
    assert wizard.state.proof.accuracy < before
    assert wizard.state.attribute_names() == ("sex", "age", "housing")


def test_the_good_answer_can_be_turned_round(qtbot, wizard, loans):
    answer_data(qtbot, wizard, loans)
    answer_model(qtbot, wizard, loans)
    wizard.back.click()
    with qtbot.waitSignal(wizard.model.proved, timeout=SLOW):
        choose(wizard.model.favourable_class, "no")
    assert wizard.state.mapping.favourable_class == 0
    assert wizard.state.proof.accuracy < 0.5
    assert wizard.state.proof.warnings


def test_inputs_that_do_not_fit_are_told(qtbot, wizard, loans, tmp_path):
    path = tmp_path / "narrow.csv"
    lines = (loans / "loans.csv").read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(",".join(line.split(",")[1:]) for line in lines), encoding="utf-8")
    read(qtbot, wizard, path)
    choose(wizard.data.label, "approved")
    choose(wizard.data.favourable, "yes")
    wizard.next.click()
    wizard.model.load(loans / "loans.pkl")
    qtbot.waitUntil(wizard.model.trust_button.isVisible, timeout=SLOW)
    with qtbot.waitSignal(wizard.model.failed, timeout=SLOW):
        wizard.model.trust_button.click()
    assert "sex" in wizard.model.banner.accessibleName()
    assert not wizard.next.isEnabled()


def test_people_answers_are_kept_when_one_goes_back(qtbot, wizard, loans, monkeypatch):
    answer_data(qtbot, wizard, loans)
    answer_model(qtbot, wizard, loans)
    people = wizard.people
    people.chips["sex"].click()
    choose(people.roles["age"], "Protected")
    low, _high = people.ranges["age"]
    low.setValue(30)
    assert wizard.state.choice("age").limits[0] == 30
    assert wizard.state.choice("age").limits[1] == wizard.state.table.column("age").high
    choose(people.compared["age"], "each value")
    assert wizard.state.choice("age").every_value
    monkeypatch.setattr(ValuesDialog, "exec", lambda self: 1)
    monkeypatch.setattr(ValuesDialog, "values", lambda self: ("own", "rent"))
    people.values["housing"].click()
    assert wizard.state.choice("housing").limits == ("own", "rent")
    wizard.back.click()
    wizard.next.click()
    assert wizard.people.roles["age"].currentText() == "Protected"
    assert low.value() == 30
    low.setValue(wizard.state.table.column("age").low)
    assert wizard.state.choice("age").limits is None


def test_at_least_one_value_must_be_allowed(qtbot, wizard, loans):
    read(qtbot, wizard, loans / "loans.csv")
    dialog = ValuesDialog(wizard.state.table.column("housing"), ("own",), wizard)
    qtbot.addWidget(dialog)
    assert dialog.values() == ("own",)
    dialog.none_button.click()
    assert not dialog.ok_button.isEnabled()
    dialog.all_button.click()
    assert dialog.values() == ("other", "own", "rent")
    assert dialog.ok_button.isEnabled()


def test_a_file_that_cannot_be_written_is_told_at_the_review(qtbot, wizard, monkeypatch, tmp_path):
    sample = samples()[0]
    wizard.prefill(sample, sample.models[0])
    qtbot.waitUntil(wizard.next.isEnabled, timeout=SLOW)
    blocker = tmp_path / "file"
    blocker.write_text("no folder")
    wizard.review.path.clear()
    qtbot.keyClicks(wizard.review.path, str(blocker / "a.fairdesk"))
    qtbot.mouseClick(wizard.next, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(wizard.review.banner.isVisible, timeout=SLOW)
    assert wizard.isVisible()
    wizard.review.path.clear()
    qtbot.keyClicks(wizard.review.path, str(tmp_path / "a.fairdesk"))
    with qtbot.waitSignal(wizard.created, timeout=SLOW):
        qtbot.mouseClick(wizard.next, Qt.MouseButton.LeftButton)


def test_another_place_is_kept_when_the_name_changes(qtbot, wizard, monkeypatch, tmp_path):
    sample = samples()[0]
    wizard.prefill(sample, sample.models[0])
    qtbot.waitUntil(wizard.next.isEnabled, timeout=SLOW)
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *_args: (str(tmp_path / "elsewhere"), "")
    )
    wizard.review.change.click()
    assert wizard.state.path == tmp_path / "elsewhere.fairdesk"
    qtbot.keyClicks(wizard.review.name, " 2")
    assert wizard.state.path == tmp_path / "elsewhere.fairdesk"


def test_escape_asks_only_when_something_was_entered(qtbot, wizard, loans, monkeypatch):
    asked = []
    monkeypatch.setattr(QMessageBox, "exec", lambda self: asked.append(self.text()))
    read(qtbot, wizard, loans / "loans.csv")
    qtbot.keyClick(wizard, Qt.Key.Key_Escape)
    assert asked == ["Discard this new audit?"]
    assert wizard.isVisible()


def test_escape_closes_an_untouched_wizard(qtbot, wizard, monkeypatch):
    monkeypatch.setattr(QMessageBox, "exec", lambda self: pytest.fail("asked"))
    qtbot.keyClick(wizard, Qt.Key.Key_Escape)
    assert not wizard.isVisible()


def test_files_can_be_dropped_anywhere(qtbot, wizard, loans):
    for name, signal in (("loans.csv", wizard.data.loaded), ("loans.pkl", wizard.model.failed)):
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(loans / name))])
        event = QDropEvent(
            QPointF(5, 5),
            Qt.DropAction.CopyAction,
            mime,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        with qtbot.waitSignal(signal, timeout=SLOW):
            wizard.dropEvent(event)
        assert event.isAccepted()


def test_every_input_has_a_name_for_screen_readers(qtbot, wizard):
    sample = samples()[0]
    wizard.prefill(sample, sample.models[0])
    qtbot.waitUntil(wizard.next.isEnabled, timeout=SLOW)
    for step in Step:
        wizard.steps.setCurrentRow(step)
        page: QWidget = wizard.pages[step]
        assert page.isVisible()
        inputs = [
            field
            for kind in (QComboBox, QLineEdit, QAbstractSpinBox, QRadioButton)
            for field in page.findChildren(kind)
            if not isinstance(field.parent(), QAbstractSpinBox | QComboBox)
        ]
        assert inputs
        for field in inputs:
            name = field.accessibleName() or getattr(field, "text", str)()
            assert name, f"{field} on {step.name}"
    interface = QAccessible.queryAccessibleInterface(wizard.steps)
    assert "done" in interface.child(0).text(QAccessible.Text.Name)


def test_light_and_dark_have_no_text_that_cannot_be_read(themed):
    def luminance(colour):
        parts = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
            for part in QColor(colour).getRgbF()[:3]
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    def contrast(one, other):
        light, dark = sorted((luminance(one), luminance(other)), reverse=True)
        return (light + 0.05) / (dark + 0.05)

    for scheme in ("light", "dark"):
        theme.apply(themed, scheme)
        palette, colours = themed.palette(), theme.colours()
        for ground in (palette.window().color(), palette.base().color(), colours.card):
            for text in (colours.quiet, colours.wrong, palette.windowText().color()):
                assert contrast(text, ground) >= 4.5, (scheme, text, ground)
    theme.apply(themed, "light")


def test_tab_goes_through_a_page_as_it_is_read(qtbot, wizard, loans):
    answer_data(qtbot, wizard, loans)
    answer_model(qtbot, wizard, loans)
    people = wizard.people
    wanted = [*people.chips.values(), people.values["sex"], people.roles["sex"]]
    wanted += [*people.ranges["age"], people.roles["age"]]
    order, each = [], wanted[0]
    while each is not wizard.steps:
        order.append(each)
        each = each.nextInFocusChain()
    places = [order.index(widget) for widget in (*wanted, wizard.back, wizard.next)]
    assert places == sorted(places)


def test_choices_of_columns_out_of_sight_are_hidden(qtbot, wizard, tmp_path):
    names = [f"a_rather_long_name_{number}" for number in range(12)]
    lines = [",".join(names), *(",".join(["1", "2"] * 6) for _ in range(5))]
    (tmp_path / "wide.csv").write_text("\n".join(lines), encoding="utf-8")
    read(qtbot, wizard, tmp_path / "wide.csv")
    preview = wizard.data.preview
    for place in (0, preview.horizontalScrollBar().maximum(), 0):
        preview.horizontalScrollBar().setValue(place)
        header = preview.header
        for section, combo in header.combos.items():
            left = header.sectionViewportPosition(section)
            right = left + header.sectionSize(section)
            assert combo.isVisible() == (right > 0 and left < header.viewport().width())
            assert combo.x() > left
            assert combo.geometry().right() < right
