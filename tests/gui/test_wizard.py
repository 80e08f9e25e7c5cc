"""The wizard, with real worker processes and a real model."""

import re
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace

import joblib
import msgspec
import numpy as np
import pandas as pd
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAccessible, QColor, QDropEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QRadioButton,
    QWidget,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from fairdesk.answers import Question
from fairdesk.app.plan import Choice
from fairdesk.app.standard import PlanKind
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.attributes import Role
from fairdesk.data.table import Kind
from fairdesk.errors import WorkerError
from fairdesk.gui.forms.dialogs import CellsDialog, ValuesDialog
from fairdesk.gui.kit import theme
from fairdesk.gui.kit.dropping import Sort, sort_of
from fairdesk.gui.kit.parts import Words
from fairdesk.gui.kit.settings import Settings
from fairdesk.gui.wizard.attributes.attribute_rows import AttributeDialog
from fairdesk.gui.wizard.data import page
from fairdesk.gui.wizard.dialog import Wizard
from fairdesk.gui.wizard.model.cards import CheckCard
from fairdesk.gui.wizard.preview import ProblemCard
from fairdesk.gui.wizard.state import plans as domain_plan
from fairdesk.gui.wizard.state.plans import Length, rows_sentence
from fairdesk.gui.wizard.state.wizard_state import Standing, Step
from fairdesk.models.inputs.input_check import InputCheck
from fairdesk.models.model import Capability, How, Input, Mapping, ModelCard, Takes
from fairdesk.samples import samples
from tests import phrases


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
    with qtbot.waitSignal(wizard.data.loaded):
        wizard.data.load(path)


def choose(combo, text):
    assert combo.findText(text) >= 0, text
    combo.setCurrentIndex(combo.findText(text))
    combo.activated.emit(combo.currentIndex())


def answer_data(qtbot, wizard, loans):
    read(qtbot, wizard, loans / "loans.csv")
    choose(wizard.data.label, "approved")
    choose(wizard.data.favourable, "yes")
    qtbot.mouseClick(wizard.next, Qt.MouseButton.LeftButton)


def answer_model(qtbot, wizard, loans):
    with qtbot.waitSignal(wizard.model.proved):
        wizard.model.load(loans / "loans.pkl")
    qtbot.mouseClick(wizard.next, Qt.MouseButton.LeftButton)


def says_who_can_be_asked(wizard):
    """Return from how many rows a search can start; the page gives the sentence of its state."""
    examined = wizard.state.examined()
    assert wizard.attributes._start.text() == rows_sentence(examined, "applicant")
    return examined.people


def excluded(wizard):
    return [(each.reason, each.what, each.rows) for each in wizard.state.examined().aside]


def only(wizard, method):
    """Tick one method of a custom plan, and look at it."""
    picker = wizard.checks.picker
    for key, item in picker.items.items():
        item.setCheckState(Qt.CheckState.Checked if key == method else Qt.CheckState.Unchecked)
    picker.list.setCurrentItem(picker.items[method])


def take_model(wizard, names=("sex", "age", "income", "housing"), **card):
    """Answer the model page without a model file: what is asked of it is tested elsewhere."""
    state = wizard.state
    inputs = tuple(
        Input(name, name, How.LABEL if name in ("sex", "housing") else How.AS_IS) for name in names
    )
    about = {
        "path": "loans.pkl",
        "sha256": "a" * 64,
        "format": "scikit-learn pipeline",
        "summary": "A pipeline",
        "takes": Takes.COLUMNS,
        "inputs": names,
        "named": True,
        "classes": ("no", "yes"),
        "scores": "probabilities",
    }
    state.set_model(ModelCard(**{**about, **card}), trusted=False)
    state.set_mapping(Mapping(inputs, "by name", 1))
    proof = InputCheck(240, 0, 0.9, 0.6, 0.9, ((1, 1), (1, 1)), (), names, ())
    state.set_proof(msgspec.structs.replace(proof, takes_missing=("sex",)))
    wizard.next.setEnabled(True)
    wizard.next.click()
    assert state.step is Step.ATTRIBUTES


def test_a_whole_audit_is_asked_for(qtbot, wizard, loans, remembered, tmp_path):
    assert not wizard.next.isEnabled()
    answer_data(qtbot, wizard, loans)
    assert wizard.state.step is Step.MODEL

    answer_model(qtbot, wizard, loans)
    assert not remembered.trusted
    assert wizard.state.step is Step.ATTRIBUTES
    assert wizard.state.proof.accuracy > 0.8

    people = wizard.attributes
    assert people.rows.roles["sex"].currentData() == Role.VARIES.value
    assert not wizard.next.isEnabled()
    qtbot.mouseClick(people.chips["sex"], Qt.MouseButton.LeftButton)
    assert people.rows.roles["sex"].currentData() == Role.PROTECTED.value
    choose(people.rows.roles["housing"], "Fixed")
    qtbot.keyClick(people.rows.roles["sex"], Qt.Key.Key_Return)
    assert wizard.state.step is Step.CHECKS

    qtbot.mouseClick(wizard.checks.kinds.cards[PlanKind.CUSTOM], Qt.MouseButton.LeftButton)
    only(wizard, "quick")
    qtbot.mouseClick(wizard.checks.lengths[Length.QUICK], Qt.MouseButton.LeftButton)
    wizard.checks.picker.form.fields["rounds"].setValue(3)
    assert wizard.checks.near.plausible.isChecked()
    wizard.checks.near.plausible.setChecked(False)
    wizard.checks.seed.setValue(3)
    qtbot.mouseClick(wizard.next, Qt.MouseButton.LeftButton)

    assert wizard.state.step is Step.REVIEW
    assert wizard.next.text().replace("&", "") == "Start audit"
    wizard.review.name.selectAll()
    qtbot.keyClicks(wizard.review.name, "May loans")
    with qtbot.waitSignal(wizard.created) as created:
        qtbot.mouseClick(wizard.next, Qt.MouseButton.LeftButton)
    plan = created.args[0]
    assert plan.path == tmp_path / "audits" / "May loans.fairdesk"
    (run,) = plan.runs
    assert run.options == {"rounds": 3}
    assert run.seed == 3
    assert (run.max_distance, run.plausible, plan.seconds) == (None, False, 60.0)
    with Store.open(plan.path) as store:
        assert store.spec == plan.audit
        assert not store.spec.trusted
        assert [each.role for each in store.spec.domain.attributes] == [
            Role.PROTECTED,
            Role.VARIES,
            Role.VARIES,
            Role.FIXED,
        ]


@pytest.mark.parametrize("step", [Step.ATTRIBUTES, Step.CHECKS])
def test_the_audit_of_a_plan_is_started_without_what_has_defaults(qtbot, wizard, loans, step):
    answer_data(qtbot, wizard, loans)
    assert not wizard.at_once.isVisible()
    answer_model(qtbot, wizard, loans)
    assert not wizard.at_once.isEnabled()
    qtbot.mouseClick(wizard.attributes.chips["sex"], Qt.MouseButton.LeftButton)
    if step is Step.CHECKS:
        qtbot.mouseClick(wizard.next, Qt.MouseButton.LeftButton)
    assert wizard.state.step is step
    qtbot.waitUntil(wizard.at_once.isEnabled)
    with qtbot.waitSignal(wizard.created) as created:
        qtbot.mouseClick(wizard.at_once, Qt.MouseButton.LeftButton)
    assert len(created.args[0].runs) > 1
    assert wizard.state.path.is_file()


def test_a_sample_starts_at_the_review(qtbot, wizard):
    sample = samples()[0]
    wizard.prefill(sample, sample.models[0])
    assert not wizard.next.isEnabled()
    qtbot.waitUntil(wizard.next.isEnabled)
    assert wizard.state.step is Step.REVIEW
    assert wizard.review.name.text() == sample.title
    assert set(wizard.state.standings().values()) == {Standing.DONE, Standing.OPEN}
    protected = wizard.state.plan().audit.domain
    assert {protected.names[i] for i in protected.protected} == set(sample.protected)


def test_a_sample_that_is_gone_says_so_on_its_page(qtbot, wizard, monkeypatch, tmp_path):
    sample = samples()[0]
    monkeypatch.setattr(type(sample), "data_path", property(lambda _self: tmp_path / "no.csv"))
    with qtbot.waitSignal(wizard.data.failed):
        wizard.prefill(sample, sample.models[0])
    assert wizard.state.step is Step.DATA
    assert wizard.data.banner.isVisible()


def test_a_missing_file_is_told_and_the_table_stays(qtbot, wizard, loans, tmp_path):
    read(qtbot, wizard, loans / "loans.csv")
    table = wizard.state.table
    with qtbot.waitSignal(wizard.data.failed):
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
    qtbot.waitUntil(lambda: not wizard.data.busy)
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
    # it is read well: how it is written is said in a line
    assert not page.written.fold.is_open
    assert page.written.fold.button.text().startswith("File format: separator semicolon, UTF-8")
    assert page.written.delimiter.currentData() == ";"
    assert page.written.decimal.currentData() == ","
    page.written.missing.setText("zz")
    with qtbot.waitSignal(page.loaded):
        page.written.missing.editingFinished.emit()
    assert wizard.state.table.column("score").missing == 1
    with qtbot.waitSignal(page.loaded):
        page.written.header.setChecked(False)
    assert wizard.state.table.source.rows == 5


def test_the_format_is_in_sight_where_a_file_is_read_as_one_column(qtbot, wizard, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("\n".join(("all", *(f"f{row}yes" for row in range(30)))), encoding="utf-8")
    read(qtbot, wizard, path)
    assert len(wizard.state.table.columns) == 1
    assert wizard.data.written.delimiter.isVisible()


def test_a_kind_is_changed_above_its_column(qtbot, wizard, loans):
    answer_data(qtbot, wizard, loans)
    wizard.back.click()
    header = wizard.data.preview.header
    assert header.combos[1].accessibleName() == "Type of age"
    with qtbot.waitSignal(wizard.data.loaded):
        choose(header.combos[1], "Decimal numbers")
    assert wizard.state.table.column("age").kind is Kind.REAL
    # read in another way, the table keeps the kind that was chosen
    wizard.data.written.missing.setText("n/a")
    with qtbot.waitSignal(wizard.data.loaded):
        wizard.data.written.missing.editingFinished.emit()
    assert wizard.state.table.column("age").kind is Kind.REAL


def test_a_kind_that_does_not_fit_is_refused_in_words(qtbot, wizard, loans):
    read(qtbot, wizard, loans / "loans.csv")
    with qtbot.waitSignal(wizard.data.loaded):
        choose(wizard.data.preview.header.combos[0], "Decimal numbers")
    assert wizard.data.banner.isVisible()
    assert wizard.state.table.column("sex").kind is Kind.NOMINAL
    assert wizard.data.preview.header.combos[0].currentText() == "Categorical"


@pytest.fixture
def odd(tmp_path):
    """A table with five cells that are no numbers, and a city in two encodings."""
    rows = [
        f"{18 + i % 60},{('Köln', 'Bonn')[i % 2]},{('no', 'yes')[i % 3 > 0]}" for i in range(400)
    ]
    for place, text in enumerate(("unknown", "$45", "O", "1 200", '"1.234,5"')):
        rows[60 * place] = f"{text},KÃ¶ln,yes"
    path = tmp_path / "odd.csv"
    path.write_text("\n".join(("age,city,ok", *rows)) + "\n", encoding="utf-8")
    return path


def cards_of(page):
    """Return the cards of problems by what they say first."""
    cards = [card for card in page.findChildren(ProblemCard) if card.isVisibleTo(page)]
    return {card.findChild(Words).text(): card for card in cards}


def card_about(page, begin):
    return next(card for text, card in cards_of(page).items() if text.startswith(begin))


def press(qtbot, page, begin, words):
    qtbot.waitUntil(lambda: any(text.startswith(begin) for text in cards_of(page)))
    with qtbot.waitSignal(page.loaded):
        card_about(page, begin).buttons[words].click()


def test_odd_cells_are_listed_decided_and_changed_back(qtbot, wizard, odd, monkeypatch):
    read(qtbot, wizard, odd)
    page, state = wizard.data, wizard.state
    age = "“age” contains numbers"
    qtbot.waitUntil(lambda: bool(cards_of(page)))
    assert f"5 {phrases.CELLS_NOT_NUMBERS}: “unknown” (line 2)" in next(iter(cards_of(page)))
    assert state.table.column("age").missing == 5
    button = card_about(page, age).buttons[phrases.TREAT_AS_MISSING]
    assert button.accessibleName() == f"{phrases.TREAT_AS_MISSING}: age"
    undecided = state.table.source.dialect
    press(qtbot, page, age, "Convert 3 cells")
    assert state.table.column("age").missing == 2
    assert state.table.codes[60, 0] == 45
    # who uses the keyboard stays at the column
    qtbot.waitUntil(lambda: any(text.startswith(age) for text in cards_of(page)))
    assert wizard.focusWidget() is card_about(page, age).buttons["Change back"]
    press(qtbot, page, age, "Change back")
    assert state.table.source.dialect == undecided
    press(qtbot, page, age, phrases.TREAT_AS_MISSING)
    assert state.table.source.dialect.reading("age").odd == "missing"
    # what is decided of cells stays when the file is read in another way
    page.written.missing.setText("O")
    with qtbot.waitSignal(page.loaded):
        page.written.missing.editingFinished.emit()
    assert state.table.source.dialect.reading("age").odd == "missing"
    assert state.table.column("age").odd_rows == 4

    def fill(dialog):
        dialog.cells.item(0, 4).setText("x")
        assert not dialog.ok_button.isEnabled()
        dialog.cells.item(0, 4).setText("50")
        assert dialog.ok_button.isEnabled()
        return 1

    monkeypatch.setattr(CellsDialog, "exec", fill)
    press(qtbot, page, age, "Cell by cell…")
    assert state.table.codes[0, 0] == 50
    assert {each.text: each.value for each in state.table.column("age").odd} == {
        "unknown": 50.0,
        "$45": None,
        "1 200": None,
        "1.234,5": None,
    }
    # a kind that needs another reading, and back
    with qtbot.waitSignal(page.loaded):
        choose(page.preview.header.combos[0], "Categorical")
    assert "$45" in state.table.column("age").values
    press(qtbot, page, "“age” would contain only numbers", "Change back")
    assert state.table.column("age").kind is Kind.INTEGER
    assert not page.banner.isVisible()


def test_words_that_are_read_as_missing_can_be_kept(qtbot, wizard, tmp_path):
    rows = [f"{('EU', 'AS', 'NA', 'None')[i % 4]},{('no', 'yes')[i % 3 > 0]}" for i in range(80)]
    (tmp_path / "t.csv").write_text("\n".join(("region,ok", *rows)) + "\n")
    read(qtbot, wizard, tmp_path / "t.csv")
    state = wizard.state
    assert state.table.column("region").values == ("AS", "EU")
    press(qtbot, wizard.data, "In “region”", "Keep as values")
    assert state.table.column("region").values == ("AS", "EU", "NA", "None")
    press(qtbot, wizard.data, "All texts of “region”", "Change back")
    assert state.table.column("region").missing == 40


def test_the_models_encoder_settles_how_the_data_are_read(qtbot, wizard, tmp_path):
    rng = np.random.default_rng(5)
    names = [rng.choice(values, 200) for values in (["01", "1", "2"], ["EU", "AS", "NA", "None"])]
    table = pd.DataFrame(
        {"zone": names[0], "region": names[1], "level": rng.choice(["1", "2"], 200)}
    )
    table["ok"] = np.where((table["region"] == "NA") | (table["zone"] == "1"), "yes", "no")
    model = make_pipeline(OneHotEncoder(), LogisticRegression())
    model.fit(table[["zone", "region", "level"]], table["ok"])
    table.to_csv(tmp_path / "t.csv", index=False)
    joblib.dump(model, tmp_path / "m.joblib")
    read(qtbot, wizard, tmp_path / "t.csv")
    choose(wizard.data.label, "ok")
    choose(wizard.data.favourable, "yes")
    qtbot.mouseClick(wizard.next, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(wizard.model.proved):
        wizard.model.load(tmp_path / "m.joblib")
    state = wizard.state
    assert state.table.column("region").values == ("AS", "EU", "NA", "None")
    assert state.table.column("level").kind is Kind.NOMINAL
    assert state.proof.left_out == 0
    assert state.proof.accuracy == 1.0
    assert wizard.next.isEnabled()


def test_a_mixed_encoding_is_mended_on_wish(qtbot, wizard, odd):
    read(qtbot, wizard, odd)
    page = wizard.data
    assert "KÃ¶ln" in wizard.state.table.column("city").values
    press(qtbot, page, "“city” has 5 cells", "Repair the encoding")
    assert wizard.state.table.column("city").values == ("Bonn", "Köln")
    press(qtbot, page, "“city” has 5 cells", "Change back")
    assert "KÃ¶ln" in wizard.state.table.column("city").values


def test_the_preview_is_a_sound_model(qtbot, wizard, loans, qtmodeltester):
    read(qtbot, wizard, loans / "loans.csv")
    qtmodeltester.check(wizard.data.preview.model())
    assert wizard.data.preview.model().rowCount() == 200


def test_a_file_that_is_no_model_is_told_with_a_way_on(qtbot, wizard, loans, monkeypatch, tmp_path):
    answer_data(qtbot, wizard, loans)
    broken = tmp_path / "broken.keras"
    broken.write_bytes(b"nothing")
    with qtbot.waitSignal(wizard.model.failed):
        wizard.model.load(broken)
    assert wizard.model.banner.isVisible()
    with qtbot.waitSignal(wizard.model.failed):
        wizard.model.load(tmp_path / "gone.onnx")
    assert "gone.onnx" in wizard.model.banner.accessibleName()
    assert "data file" not in wizard.state.blocked(Step.MODEL)


def test_a_model_that_dies_or_hangs_leaves_a_way_on(qtbot, wizard, loans, worker, monkeypatch):
    answer_data(qtbot, wizard, loans)

    def die(_path, **_named):
        raise WorkerError("The model’s process died.", remedy="Try again.")

    with monkeypatch.context() as patched:
        patched.setattr(worker, "open_model", die)
        with qtbot.waitSignal(wizard.model.failed):
            wizard.model.load(loans / "loans.pkl")
    assert "died" in wizard.model.banner.accessibleName()
    with qtbot.waitSignal(wizard.model.proved):
        wizard.model.load(loans / "loans.pkl")


def test_opening_can_be_cancelled(qtbot, wizard, loans, worker, monkeypatch):
    answer_data(qtbot, wizard, loans)
    stopped = threading.Event()

    def hang(_path, **_named):
        stopped.wait(30)
        raise WorkerError("It has been ended.")

    with monkeypatch.context() as patched:
        patched.setattr(worker, "open_model", hang)
        patched.setattr(worker, "stop", stopped.set)
        wizard.model.load(loans / "loans.pkl")
        assert wizard.model.busy
        with qtbot.waitSignal(wizard.model.failed):
            wizard.model.opening.cancelled.emit()
        assert not wizard.model.busy
        assert "Stopped" in wizard.model.banner.accessibleName()
        qtbot.wait(50)
        assert "It has been ended" not in wizard.model.banner.accessibleName()


def test_the_good_answer_can_be_turned_round(qtbot, wizard, loans):
    answer_data(qtbot, wizard, loans)
    answer_model(qtbot, wizard, loans)
    wizard.back.click()
    with qtbot.waitSignal(wizard.model.proved):
        choose(wizard.model.opened.check.answer.combo, "no")
    assert wizard.state.mapping.favourable_class == 0
    assert wizard.state.proof.accuracy < 0.5
    assert wizard.state.proof.warnings


def answered_by(dialog, **kept):
    """Return what stands in for an attribute's dialog: it is filled in and closed with OK."""

    def run(self):
        for name, value in kept.items():
            field = getattr(self, name)
            if isinstance(field, QComboBox):
                field.setCurrentIndex(field.findData(value))
            elif isinstance(field, QAbstractSpinBox):
                field.setValue(value)
            elif isinstance(field, QCheckBox):
                field.setChecked(value)
            else:
                tick(field, value)
        return 1

    return dialog, "exec", run


def tick(ticks, values):
    for row in range(ticks.list.count()):
        item = ticks.list.item(row)
        wanted = item.text() in values
        item.setCheckState(Qt.CheckState.Checked if wanted else Qt.CheckState.Unchecked)


def test_one_attribute_in_several_columns_is_offered_as_one(qtbot, wizard, loans, tmp_path):
    lines = (loans / "loans.csv").read_text("utf-8").splitlines()
    columns = ("race_Black", "race_Other", "race_White")
    flags = [",".join("1" if n % 3 == i else "0" for i in range(3)) for n in range(len(lines))]
    made = [",".join(columns), *flags]
    rows = [f"{line},{more}" for line, more in zip(lines, made, strict=False)]
    (tmp_path / "loans.csv").write_text("\n".join(rows), encoding="utf-8")
    answer_data(qtbot, wizard, tmp_path)
    take_model(wizard, ("sex", "age", *columns))
    people = wizard.attributes
    assert people.chips["race"].text() == "+  race (3 columns)"
    assert not set(columns) & {*people.chips, *people.rows.names}
    people.chips["race"].click()
    domain = wizard.state.domain()
    assert [each.name for each in domain.grouping] == ["race"]
    assert {each.attribute: each.by for each in domain.determined} == dict.fromkeys(columns, "race")
    assert not wizard.state.constraints
    members = domain.similar(domain.people(wizard.state.table))
    places = [domain.names.index(name) for name in columns]
    assert (members[:, :, places].sum(axis=2) == 1).all()


def test_people_answers_are_kept_when_one_goes_back(qtbot, wizard, loans, monkeypatch):
    answer_data(qtbot, wizard, loans)
    take_model(wizard)
    people = wizard.attributes
    people.chips["sex"].click()
    choose(people.rows.roles["age"], "Protected")
    monkeypatch.setattr(*answered_by(AttributeDialog, low=30, step=2))
    people.rows.allowed["age"].click()
    assert wizard.state.choice("age").limits[0] == 30
    assert wizard.state.choice("age").limits[1] == wizard.state.table.column("age").high
    assert wizard.state.choice("age").step == 2
    assert "step 2" in people.rows.allowed["age"].text()
    assert says_who_can_be_asked(wizard) < 240
    assert ("outside", "age") in {(reason, what) for reason, what, _ in excluded(wizard)}
    choose(people.rows.compared["age"], "each value")
    assert wizard.state.choice("age").every_value
    monkeypatch.setattr(*answered_by(AttributeDialog, ticks=("own", "rent")))
    people.rows.allowed["housing"].click()
    assert wizard.state.choice("housing").limits == ("own", "rent")
    assert people.rows.allowed["housing"].text() == "2 of 3 values"
    wizard.back.click()
    wizard.next.click()
    assert wizard.attributes.rows.roles["age"].currentText() == "Protected"
    monkeypatch.setattr(AttributeDialog, "exec", lambda self: self.whole.click() or 1)
    people.rows.allowed["age"].click()
    assert wizard.state.choice("age").limits is None
    assert wizard.state.choice("age").step == 0


def test_at_least_one_value_must_be_allowed(qtbot, wizard, loans):
    read(qtbot, wizard, loans / "loans.csv")
    column = wizard.state.table.column("housing")
    dialog = AttributeDialog(column, Choice(limits=("own",)), [], ["sex"], "", wizard)
    qtbot.addWidget(dialog)
    assert dialog.choice().limits == ("own",)
    dialog.ticks.none_button.click()
    assert not dialog.ok_button.isEnabled()
    dialog.ticks.all_button.click()
    assert dialog.choice().limits is None
    assert dialog.ok_button.isEnabled()


def test_a_range_that_is_turned_round_is_refused_and_can_be_dragged(qtbot, wizard, loans):
    read(qtbot, wizard, loans / "loans.csv")
    column = wizard.state.table.column("age")
    dialog = AttributeDialog(column, Choice(), [3, 1, 4], [], "", wizard)
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.choice().limits is None
    dialog.low.setValue(70)
    dialog.high.setValue(60)
    assert not dialog.ok_button.isEnabled()
    dialog.whole.click()
    assert dialog.ok_button.isEnabled()
    chart = dialog.chart
    chart.resize(203, 110)
    qtbot.mousePress(chart, Qt.MouseButton.LeftButton, pos=QPoint(51, 40))
    low, high = dialog.choice().limits
    assert column.low < low < (column.low + column.high) / 2
    assert low == round(low)
    assert high == column.high


def test_ten_thousand_values_are_ticked_and_found(qtbot, wizard):
    values = [f"übung {number}" for number in range(10_000)]
    dialog = ValuesDialog("Values", "Tick.", "wörter", values, values[:3], wizard, most=9_999)
    qtbot.addWidget(dialog)
    assert dialog.values() == tuple(values[:3])
    dialog.ticks.all_button.click()
    assert not dialog.ok_button.isEnabled()
    dialog.ticks.search.setText("Übung 77")
    dialog.ticks.none_button.click()
    assert len(dialog.values()) == 10_000 - 111
    assert dialog.ok_button.isEnabled()


def test_a_file_that_cannot_be_written_is_told_at_the_review(qtbot, wizard, monkeypatch, tmp_path):
    sample = samples()[0]
    wizard.prefill(sample, sample.models[0])
    qtbot.waitUntil(wizard.next.isEnabled)
    blocker = tmp_path / "file"
    blocker.write_text("no folder")
    wizard.review.path.clear()
    qtbot.keyClicks(wizard.review.path, str(blocker / "a.fairdesk"))
    qtbot.mouseClick(wizard.next, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(wizard.review.banner.isVisible)
    assert wizard.isVisible()
    wizard.review.path.clear()
    qtbot.keyClicks(wizard.review.path, str(tmp_path / "a.fairdesk"))
    with qtbot.waitSignal(wizard.created):
        qtbot.mouseClick(wizard.next, Qt.MouseButton.LeftButton)


def test_another_place_is_kept_when_the_name_changes(qtbot, wizard, monkeypatch, tmp_path):
    sample = samples()[0]
    wizard.prefill(sample, sample.models[0])
    qtbot.waitUntil(wizard.next.isEnabled)
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


def test_the_wizard_fits_a_small_screen(qtbot, wizard, loans):
    answer_data(qtbot, wizard, loans)
    for step in (Step.DATA, Step.MODEL):
        wizard._go(step)
        wizard.resize(940, 500)
        QApplication.processEvents()
        assert (wizard.width(), wizard.height()) == (940, 500)
        page = wizard.pages[step]
        assert page.width() >= page.minimumSizeHint().width()
        qtbot.waitUntil(lambda page=page: page.height() >= page.minimumSizeHint().height())


def test_escape_closes_an_untouched_wizard(qtbot, wizard, monkeypatch):
    monkeypatch.setattr(QMessageBox, "exec", lambda self: pytest.fail("asked"))
    qtbot.keyClick(wizard, Qt.Key.Key_Escape)
    assert not wizard.isVisible()


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("loans.csv", lambda state: state.table is not None),
        ("loans.pkl", lambda state: state.card is not None),
    ],
)
def test_files_can_be_dropped_anywhere(qtbot, wizard, loans, name, taken):
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(loans / name))])
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        mime,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    wizard.dropEvent(event)
    assert event.isAccepted()
    qtbot.waitUntil(lambda: taken(wizard.state))


def test_what_can_be_dropped_is_told_by_its_name(tmp_path):
    for name in ("a.csv", "a.TSV", "a.parquet", "a.xlsx", "a.sqlite", "a.db"):
        assert sort_of(tmp_path / name) is Sort.DATA
    for name in ("a.keras", "a.skops", "a.onnx"):
        assert sort_of(tmp_path / name) is Sort.MODEL
    assert sort_of(tmp_path) is None
    (tmp_path / "_log.csv").touch()
    (tmp_path / "notes.docx").touch()
    assert sort_of(tmp_path) is None
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "b.parquet").touch()
    assert sort_of(tmp_path) is Sort.DATA
    (tmp_path / "saved_model.pb").touch()
    assert sort_of(tmp_path) is Sort.MODEL


@pytest.mark.parametrize("how", ["button", "again", "drop"])
def test_a_folder_with_the_parts_of_a_table_can_be_chosen(
    qtbot, wizard, loans, tmp_path, monkeypatch, how
):
    folder = tmp_path / "parts"
    folder.mkdir()
    for name in ("a.csv", "b.csv"):
        (folder / name).write_bytes((loans / "loans.csv").read_bytes())
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(folder))
    if how == "again":
        wizard.take(loans / "loans.csv")
        qtbot.waitUntil(lambda: wizard.state.table is not None)
    if how == "drop":
        wizard.take(folder)
    else:
        buttons = wizard.data.findChildren(QPushButton)
        (button,) = (each for each in buttons if "&folder" in each.text() and each.isVisible())
        button.click()
    qtbot.waitUntil(
        lambda: (table := wizard.state.table) is not None and len(table.source.parts) == 2
    )


def test_every_input_has_a_name_for_screen_readers(qtbot, wizard):
    sample = samples()[0]
    wizard.prefill(sample, sample.models[0])
    qtbot.waitUntil(wizard.next.isEnabled)
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


def test_no_two_things_on_a_page_share_a_key(qtbot, wizard):
    sample = samples()[0]
    wizard.prefill(sample, sample.models[0])
    qtbot.waitUntil(wizard.next.isEnabled)
    for step in Step:
        wizard.steps.setCurrentRow(step)
        texts = [
            each.text()
            for kind in (QAbstractButton, QLabel)
            for each in wizard.findChildren(kind)
            if each.isVisible() and not isinstance(each, Words)
        ]
        if step is Step.ATTRIBUTES:
            texts += [wizard.attributes.tabs.tabText(tab) for tab in range(2)]
        keys = [key.lower() for text in texts for key in re.findall("&([^&])", text)]
        assert len(keys) == len(set(keys)), (step.name, sorted(texts))


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
    take_model(wizard)
    people = wizard.attributes
    wanted = [*people.chips.values(), people.rows.allowed["sex"], people.rows.roles["sex"]]
    wanted += [people.rows.allowed["age"], people.rows.roles["age"]]
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


def shown(page):
    """Return what the data page says beside the table."""
    return [words.text() for words in page._problems_side.findChildren(Words)]


def test_a_kind_of_another_format_hides_what_is_for_text_only(qtbot, wizard, tmp_path):
    path = tmp_path / "two.sqlite"
    with closing(sqlite3.connect(path)) as base:
        base.execute("create table people (sex text, age integer, ok text)")
        base.executemany(
            "insert into people values (?, ?, ?)",
            [("f", 20 + row, "yes" if row % 2 else "no") for row in range(40)],
        )
        base.execute("create table shops (town text, size integer)")
        base.executemany("insert into shops values (?, ?)", [("Ä", 1), ("Ö", 2), ("Ä", 3)])
        base.commit()
    read(qtbot, wizard, path)
    page = wizard.data
    page.written.fold.set_open(opened=True)
    assert not page.written.delimiter.isVisible()
    assert not page.written.header.isVisible()
    assert page.written.missing.isVisible()
    assert page.written.table.isVisible()
    assert wizard.state.table.source.dialect.table == "people"
    choose(page.label, "ok")
    with qtbot.waitSignal(page.loaded):
        choose(page.written.table, "shops")
    assert wizard.state.table.names == ("town", "size")
    assert wizard.state.label != "ok"
    assert page.written.table.accessibleName() == "Table of the file"


def test_reading_shows_how_far_it_is_and_can_be_cancelled(qtbot, wizard, loans, clerk, monkeypatch):
    read(qtbot, wizard, loans / "loans.csv")
    page, table = wizard.data, wizard.state.table
    stopped = threading.Event()

    def slow(path, dialect, watch):
        watch(0.37)
        assert stopped.wait(30)
        raise WorkerError("It has been ended.")

    with monkeypatch.context() as patched:
        patched.setattr(clerk, "read_table", slow)
        patched.setattr(clerk, "stop", stopped.set)
        page.load(loans / "loans.csv")
        qtbot.waitUntil(lambda: page.progress.bar.value() == 37)
        with qtbot.waitSignal(page.failed):
            page.progress.cancel.click()
        assert not page.busy
        assert stopped.is_set()
    assert wizard.state.table is table
    assert "stopped" in page.banner.accessibleName()
    assert "still loaded" in page.banner.accessibleName()
    qtbot.wait(50)
    assert "It has been ended" not in page.banner.accessibleName()
    read(qtbot, wizard, loans / "loans.csv")


def test_another_file_is_not_kept_waiting_by_a_slow_one(qtbot, wizard, loans, clerk, monkeypatch):
    real, stopped = clerk.read_table, threading.Event()

    def slow(path, dialect, watch):
        if path.name == "slow.csv":
            assert stopped.wait(30)
            raise WorkerError("It has been ended.")
        return real(path, dialect, watch)

    monkeypatch.setattr(clerk, "read_table", slow)
    monkeypatch.setattr(clerk, "stop", stopped.set)
    wizard.data.load(loans / "slow.csv")
    qtbot.wait(50)
    read(qtbot, wizard, loans / "loans.csv")
    assert wizard.state.table.source.rows == 240
    assert not wizard.data.banner.isVisible()


def test_only_what_changed_is_looked_at_again(qtbot, wizard, loans, monkeypatch):
    looked = []
    real = page.problems
    monkeypatch.setattr(page, "problems", lambda table: looked.append(table) or real(table))
    read(qtbot, wizard, loans / "loans.csv")
    assert [table.names for table in looked] == [(name,) for name in wizard.state.table.names]
    looked.clear()
    with qtbot.waitSignal(wizard.data.loaded):
        choose(wizard.data.preview.header.combos[1], "Decimal numbers")
    assert [table.names for table in looked] == [("age",)]


def test_several_values_can_be_good(qtbot, wizard, loans, monkeypatch):
    read(qtbot, wizard, loans / "loans.csv")
    page = wizard.data
    choose(page.label, "housing")
    monkeypatch.setattr(ValuesDialog, "exec", lambda self: tick(self.ticks, ("own", "rent")) or 1)
    choose(page.favourable, "Several values…")
    assert wizard.state.favourable == "own or rent"
    assert page.favourable.currentText() == "own or rent"
    own = wizard.state.table.counts("housing")
    assert f"{own['own'] + own['rent']:,} of 240" in page._outcome.text()
    page.enter()
    assert page.favourable.currentText() == "own or rent"
    choose(page.favourable, "other")
    assert wizard.state.favourable == "other"
    assert page.favourable.findText("Several values…") > 0
    with qtbot.waitSignal(page.loaded):
        choose(page.preview.header.combos[3], "Decimal numbers")
    assert wizard.state.favourable == "other"


def test_a_number_is_good_from_somewhere_on(qtbot, wizard, loans):
    read(qtbot, wizard, loans / "loans.csv")
    page, state = wizard.data, wizard.state
    choose(page.label, "income")
    assert state.label_values() == ()
    assert not page.good.number.isVisible()
    assert "value of “income”" in state.blocked(Step.DATA)
    choose(page.favourable, "At least…")
    assert page.good.number.isVisible()
    page.good.number.setValue(50)
    assert state.favourable == ">= 50"
    codes = state.table.codes[:, state.table.index("income")]
    assert (
        f"{(codes >= 50).sum()} of 240 applicants have the favourable outcome."
        in page._outcome.text()
    )
    choose(page.favourable, "Less than…")
    assert state.favourable == "< 50"
    page.good.number.setValue(-5)
    assert "No row" in state.blocked(Step.DATA)
    assert not wizard.next.isEnabled()
    choose(page.label, "approved")
    assert not page.good.number.isVisible()


def test_a_column_that_tells_the_decision_is_pointed_out(qtbot, wizard, tmp_path):
    rows = [
        f"{'fm'[row % 2]},{row * 37 % 60},{row % 3 == 0:d},{row % 3 == 0}" for row in range(300)
    ]
    path = tmp_path / "leak.csv"
    path.write_text("\n".join(["sex,age,paid_back,approved", *rows]), encoding="utf-8")
    read(qtbot, wizard, path)
    page = wizard.data
    choose(page.label, "approved")
    assert not any("predicts" in text for text in shown(page))
    choose(page.favourable, "True")
    qtbot.waitUntil(lambda: any("“paid_back” predicts" in text for text in shown(page)))
    fixes = [
        button
        for button in page._problems_side.findChildren(QPushButton)
        if button.accessibleName() == "Exclude it: paid_back"
    ]
    with qtbot.waitSignal(page.loaded):
        fixes[0].click()
    assert wizard.state.table.column("paid_back").kind is Kind.IGNORED
    qtbot.waitUntil(lambda: not page._leak_finder._current)
    assert not any("“paid_back” predicts" in text for text in shown(page))


def test_rows_without_a_decision_are_counted(qtbot, wizard, tmp_path):
    path = tmp_path / "some.csv"
    rows = ["f,20,yes", "m,30,no", "f,40,", "m,25,yes", "f,31,no"]
    path.write_text("\n".join(["sex,age,ok", *rows]), encoding="utf-8")
    read(qtbot, wizard, path)
    choose(wizard.data.label, "ok")
    choose(wizard.data.favourable, "yes")
    assert "2 of 4 applicants have the favourable outcome." in wizard.data._outcome.text()
    assert f"1 row has {phrases.NO_OUTCOME}" in wizard.data._outcome.text()


def test_constraints_are_added_checked_edited_removed_and_undone(qtbot, wizard, loans):
    answer_data(qtbot, wizard, loans)
    take_model(wizard)
    people = wizard.attributes
    people.chips["sex"].click()
    people.tabs.setCurrentIndex(1)
    editor = people.constraints
    assert editor.empty.isVisible()
    qtbot.keyClicks(editor.field, "agee >= 20")
    qtbot.keyClick(editor.field, Qt.Key.Key_Return)
    assert wizard.state.step is Step.ATTRIBUTES
    assert "no attribute “agee”" in editor._wrong.text()
    assert editor._wrong.isVisible()
    editor.field.clear()
    qtbot.keyClicks(editor.field, "age >= 30")
    assert not editor._wrong.isVisible()
    editor.add.click()
    assert wizard.state.constraints == ("age >= 30",)
    assert people.tabs.tabText(1) == "&Constraints (1)"
    codes = wizard.state.table.codes[:, 1]
    kept = int((codes >= 30).sum())

    def said():
        return " ".join(words.text() for words in editor.findChildren(Words))

    qtbot.waitUntil(lambda: f"No violation in {kept} of 240 rows" in said())
    assert says_who_can_be_asked(wizard) == kept
    assert excluded(wizard) == [("constraint", "age >= 30", 240 - kept)]
    editor.edits["age >= 30"].click()
    assert editor.field.text() == "age >= 30"
    editor.field.setText("age >= 40")
    editor.add.click()
    assert wizard.state.constraints == ("age >= 40",)
    editor.removes["age >= 40"].click()
    assert wizard.state.constraints == ()
    for wanted in (("age >= 40",), ("age >= 30",), ()):
        editor.undo.click()
        assert wizard.state.constraints == wanted
    assert not editor.undo.isEnabled()


def test_what_never_occurs_is_excluded_by_one_click_one_by_one_all_or_none(qtbot, wizard, loans):
    answer_data(qtbot, wizard, loans)
    table = wizard.state.table
    codes = table.codes.copy()
    women = codes[:, 0] == 0
    codes[women, 3] = np.where(codes[women, 3] == 2, 0, codes[women, 3])  # no woman rents
    codes[women, 2] = np.minimum(codes[women, 2], 60)
    wizard.state.set_table(replace(table, codes=codes))
    take_model(wizard)
    people = wizard.attributes
    people.tabs.setCurrentIndex(1)
    editor = people.constraints
    absent = editor.absent
    qtbot.waitUntil(lambda: len(absent.found) == 2)
    assert absent.isVisible()
    assert absent._heading.text() == "2 combinations of two values not in the data"
    assert people.proposed.isVisible()
    assert people.proposed.text().startswith("2 combinations of values never occur in the data.")
    first, second = (each.constraint for each in absent.found)
    assert {first[: first.index(" and")], second[: second.index(" and")]} == {"not (sex = female"}
    absent.excludes[second].click()
    assert wizard.state.constraints == (second,)
    assert [each.constraint for each in absent.found] == [first]
    editor.undo.click()
    assert wizard.state.constraints == ()
    qtbot.waitUntil(lambda: len(absent.found) == 2)
    absent.all.click()
    assert wizard.state.constraints == (first, second)
    assert not absent.isVisible()
    assert not people.proposed.isVisible()
    assert set(editor.removes) == {first, second}


def test_suggestions_are_put_in_where_they_belong(qtbot, wizard, loans):
    answer_data(qtbot, wizard, loans)
    take_model(wizard)
    people = wizard.attributes
    people.tabs.setCurrentIndex(1)
    field = people.constraints.field
    qtbot.keyClicks(field, "hous")
    assert field.suggested == ("housing",)
    field._take(field._texts.index(0))
    assert field.text() == "housing "
    qtbot.keyClicks(field, "= r")
    assert field.suggested[0] == "rent"
    field._take(field._texts.index(0))
    assert field.text() == "housing = rent "


def test_constraints_that_nobody_fulfils_are_told_with_the_conflict(qtbot, wizard, loans):
    answer_data(qtbot, wizard, loans)
    take_model(wizard)
    people = wizard.attributes
    people.chips["sex"].click()
    wizard.state.set_constraints(("age >= 60", "income <= 20", "age + income <= 50"))
    people.enter()
    qtbot.waitUntil(people._verdict.isVisible)
    assert "age >= 60" in people._verdict.text()
    assert "age + income <= 50" in people._verdict.text()
    assert not wizard.next.isEnabled()
    wizard.state.undo_constraints()
    people.enter()
    assert not people._verdict.isVisible()


def test_an_attribute_follows_another_without_typing(qtbot, wizard, loans, monkeypatch):
    answer_data(qtbot, wizard, loans)
    take_model(wizard)
    people = wizard.attributes
    monkeypatch.setattr(*answered_by(AttributeDialog, follows="sex"))
    people.rows.allowed["housing"].click()
    assert wizard.state.constraints == ("housing is determined by sex",)
    assert people.rows.notes["housing"].text() == "determined by sex"
    monkeypatch.setattr(*answered_by(AttributeDialog, follows=""))
    people.rows.allowed["housing"].click()
    assert wizard.state.constraints == ()


def test_missing_protected_values_are_a_category_of_their_own(qtbot, wizard, tmp_path, monkeypatch):
    rows = [
        f"{('f', 'm', '')[row % 3]},{20 + row},{row},own,{('no', 'yes')[row % 2]}"
        for row in range(90)
    ]
    path = tmp_path / "unknown.csv"
    path.write_text("\n".join(["sex,age,income,housing,approved", *rows]), encoding="utf-8")
    read(qtbot, wizard, path)
    choose(wizard.data.label, "approved")
    choose(wizard.data.favourable, "yes")
    wizard.next.click()
    take_model(wizard)
    people = wizard.attributes
    assert people.rows.kinds["sex"].text() == "categorical  ·  30 missing"
    people.chips["sex"].click()
    assert people.rows.kinds["sex"].text() == "categorical  ·  30 missing"
    assert "“Unknown”" in people.rows.kinds["sex"].toolTip()
    assert people.rows.notes["sex"].text() == "f, m and Unknown"
    assert people.rows.allowed["sex"].text() == "f, m, Unknown"
    assert says_who_can_be_asked(wizard) == 90
    assert "f, m, Unknown" in people.rows.allowed["sex"].toolTip()
    monkeypatch.setattr(*answered_by(AttributeDialog, unknown=False))
    people.rows.allowed["sex"].click()
    assert says_who_can_be_asked(wizard) == 60
    assert excluded(wizard) == [("missing", "sex", 30)]


def test_both_recorded_outcomes_are_named(qtbot, wizard, loans):
    answer_data(qtbot, wizard, loans)
    answer_model(qtbot, wizard, loans)
    shown = [each.text() for each in wizard.model.findChild(CheckCard).findChildren(QLabel)]
    assert {"decision: yes", "decision: no", "recorded: yes", "recorded: no"} <= set(shown)


def test_texts_are_kept_as_they_are(qtbot, wizard, loans):
    answer_data(qtbot, wizard, loans)
    wizard.back.click()
    with qtbot.waitSignal(wizard.data.loaded):
        choose(wizard.data.preview.header.combos[3], "Free text")
    wizard.next.click()
    take_model(wizard)
    people = wizard.attributes
    assert "housing" not in people.rows.roles
    assert people.rows.kinds["housing"].text() == "free text"
    people.chips["sex"].click()
    assert wizard.state.domain().attributes[3].role is Role.FIXED


def test_a_large_table_is_looked_through_in_the_background(qtbot, wizard, loans, monkeypatch):
    monkeypatch.setattr(domain_plan, "AT_ONCE", 100)
    answer_data(qtbot, wizard, loans)
    take_model(wizard)
    people = wizard.attributes
    people.chips["sex"].click()
    assert "Counting" in people._start.text()
    assert "being counted" in wizard.state.blocked(Step.ATTRIBUTES)
    qtbot.waitUntil(wizard.next.isEnabled)
    assert says_who_can_be_asked(wizard) == 240


def test_methods_that_are_off_say_why(qtbot, wizard, loans, monkeypatch):
    needy = replace(METHODS["maft"], needs=(Capability.DECIDES, Capability.GRADIENTS))
    monkeypatch.setitem(METHODS, "maft", needy)
    answer_data(qtbot, wizard, loans)
    take_model(wizard)
    wizard.attributes.chips["sex"].click()
    wizard.next.click()
    checks = wizard.checks
    # a standard audit leaves it out, and says so at the end
    assert wizard.next.isEnabled()
    assert "gradients of its score" in checks._reasons.text()
    assert checks._left_out.isVisible()
    checks.kinds.cards[PlanKind.CUSTOM].button.click()
    assert checks.picker.items["maft"].text() == f"{METHODS['maft'].title} (off)"
    assert "maft" not in wizard.state.chosen
    assert wizard.next.isEnabled()
    # one that is off can be read about, but not gone on with
    checks.picker.list.setCurrentItem(checks.picker.items["maft"])
    assert "gradients of its score" in checks.picker.reason.text()
    assert checks.picker.reason.isVisible()
    assert wizard.next.isEnabled()
    checks.picker.items["maft"].setCheckState(Qt.CheckState.Checked)
    assert not wizard.next.isEnabled()


def test_a_repair_after_the_search_is_offered_or_off_with_the_reason(qtbot, wizard, loans):
    answer_data(qtbot, wizard, loans)
    take_model(wizard)
    wizard.attributes.chips["sex"].click()
    wizard.next.click()
    checks = wizard.checks
    assert "Relabels discriminatory pairs" in checks.repair_told.text()
    assert not checks.repair.isChecked()
    checks.repair.click()
    assert wizard.state.repair
    assert wizard.state.first_runs().runs[-1].method == "repair-aequitas"
    checks.kinds.cards[PlanKind.CUSTOM].button.click()
    only(wizard, "testsgd")
    assert checks.repair.isChecked()
    assert METHODS["repair-testsgd"].title in checks.repair_told.text()
    only(wizard, "estimate")
    assert not checks.repair.isEnabled()
    assert not checks.repair.isChecked()
    assert phrases.SEARCH_FOR_EXAMPLES in checks.repair_why.text()
    only(wizard, "quick")
    assert checks.repair.isChecked()
    assert not checks.repair_why.isVisible()
    wizard.next.click()
    assert [run.method for run in wizard.state.plan().runs] == ["quick", "repair-aequitas"]


def test_without_a_model_to_ask_groups_and_report_still_work(qtbot, wizard, loans):
    answer_data(qtbot, wizard, loans)
    take_model(wizard, can=())
    wizard.attributes.chips["sex"].click()
    wizard.next.click()
    checks = wizard.checks
    checks.kinds.cards[PlanKind.CUSTOM].button.click()
    assert wizard.state.chosen == ["groups"]
    assert checks.picker.key == "groups"
    assert not checks.near.isVisible()
    checks.picker.list.setCurrentItem(checks.picker.items["maft"])
    assert phrases.NO_MODEL in checks.picker.reason.text()
    checks.picker.list.setCurrentItem(checks.picker.items["groups"])
    wizard.next.click()
    assert wizard.state.step is Step.REVIEW
    assert [run.method for run in wizard.state.plan().runs] == ["groups"]


def test_of_decisions_alone_the_attributes_define_groups_and_nothing_is_tested(
    qtbot, wizard, loans
):
    answer_data(qtbot, wizard, loans)
    choose(wizard.model.column, "housing")
    choose(wizard.model.opened.check.answer.combo, "own")
    qtbot.waitUntil(wizard.next.isEnabled)
    qtbot.mouseClick(wizard.next, Qt.MouseButton.LeftButton)
    people = wizard.attributes
    people.chips["sex"].click()
    qtbot.waitUntil(wizard.next.isEnabled)
    said = [each.text() for each in people.findChildren(QLabel) if each.isVisible()]
    assert "Groups are defined by sex." in said
    assert not [each for each in said if "test" in each.replace("Values tested", "")]
    assert not [each for each in said if "eligible" in each]


def test_what_the_model_is_not_given_can_be_protected(qtbot, wizard, loans, tmp_path):
    first, *rows = (loans / "loans.csv").read_text(encoding="utf-8").splitlines()
    more = [f"{row},county {i % 120},{('a', 'b')[i % 2]}" for i, row in enumerate(rows)]
    table = tmp_path / "more.csv"
    table.write_text("\n".join([f"{first},county,religion", *more]), encoding="utf-8")
    read(qtbot, wizard, table)
    choose(wizard.data.label, "approved")
    choose(wizard.data.favourable, "yes")
    wizard.next.click()
    take_model(wizard)
    people = wizard.attributes
    assert people._unused.isHidden()
    assert {people.rows.roles["county"].itemText(i) for i in range(2)} == {"Not used", "Protected"}
    assert people.rows.roles["county"].count() == 2
    people.chips["religion"].click()
    assert people._count.text() == "religion defines groups only."
    assert phrases.NOT_GIVEN in people._off.text()
    choose(people.rows.roles["county"], "Protected")
    wizard.next.click()
    checks = wizard.checks
    checks.kinds.cards[PlanKind.CUSTOM].button.click()
    assert wizard.state.chosen == ["groups", "testsgd"]
    only(wizard, "testsgd")
    assert "“county” has 120 categories" in checks.picker._remark.text()
    assert checks.picker.items["maft"].text() == f"{METHODS['maft'].title} (off)"
    assert checks.rules.isHidden()
    wizard.back.click()
    # every way to be compared with everybody else is too many
    choose(people.rows.roles["county"], "Not used")
    for name in ("sex", "age", "income", "housing"):
        choose(people.rows.roles[name], "Protected")
        state = wizard.state
        if name in ("age", "income"):
            state.choose(name, Choice(role=Role.PROTECTED, every_value=True))
    people.enter()
    assert "Groups can still be compared" in people._off.text()
    wizard.next.click()
    assert checks.picker.key == "testsgd"
    assert checks.rules.edges.keys() == {"age", "income"}
    checks.rules.edges["age"].setText("30, 20")
    checks.rules.edges["age"].textEdited.emit("30, 20")
    assert not wizard.next.isEnabled()
    assert phrases.MUST_RISE in wizard._blocked.text()
    checks.rules.edges["age"].setText("30, 50")
    checks.rules.edges["age"].textEdited.emit("30, 50")
    choose(checks.picker.form.fields["outcome"], "the rate of each decision, in turn")
    wizard.next.click()
    (run,) = wizard.state.plan().runs
    assert (run.edges, run.options) == ({"age": (30.0, 50.0)}, {"outcome": "each"})
    assert wizard.state.plan().audit.domain.unseen[0].name == "religion"


def write_nasty(path, kind):
    """Write a table that pages stumble over."""
    good = ["no", "yes"]
    rows = [["f", 20 + n, 10 * n, "own", good[n % 2]] for n in range(60)]
    heads = ["sex", "age", "income", "housing", "approved"]
    if kind == "all missing":
        rows = [["", row[1], "", row[3], row[4]] for row in rows]
    elif kind == "constant":
        rows = [["f", 40, 5, "own", row[4]] for row in rows]
    elif kind == "many values":
        rows = [[f"v{n}", n % 9, n, "own", good[n % 2]] for n in range(10_000)]
    elif kind == "odd names":
        heads = ["性別 & <b>", "âge ‘x’", "", "sex", "sex"]
        rows = [["ж", row[1], row[2], "日本", row[4]] for row in rows]
    lines = [",".join(map(str, row)) for row in (heads, *rows)]
    path.write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize("kind", ["all missing", "constant", "many values", "odd names"])
def test_nasty_tables_leave_every_page_with_a_sentence(qtbot, wizard, tmp_path, kind):
    path = tmp_path / "nasty.csv"
    write_nasty(path, kind)
    read(qtbot, wizard, path)
    state = wizard.state
    label = state.table.names[-1]
    choose(wizard.data.label, label)
    choose(wizard.data.favourable, "yes")
    assert not state.blocked(Step.DATA)
    wizard.next.click()
    names = [
        column.name
        for column in state.table.columns
        if column.kind is not Kind.IGNORED and column.name != label
    ]
    state.set_model(
        ModelCard("m", "a" * 64, "f", "s", Takes.COLUMNS, (), True, good := ("0", "1"), "labels"),
        trusted=False,
    )
    assert good
    state.set_mapping(Mapping(tuple(Input(n, n, How.AS_IS) for n in names), "by name", 1))
    state.set_proof(InputCheck(2, 0, 0.9, 0.6, None, ((1, 1), (1, 1)), (), (), ()))
    wizard._next()
    assert state.step is Step.ATTRIBUTES
    people = wizard.attributes
    for name in list(people.rows.roles):
        choose(people.rows.roles[name], "Protected")
        assert state.blocked(Step.ATTRIBUTES) or wizard.next.isEnabled()
        choose(people.rows.roles[name], "Variable")
    assert state.blocked(Step.ATTRIBUTES)
    people.tabs.setCurrentIndex(1)
    people.constraints.field.setText("x = y")
    people.constraints.enter_text()
    assert people.constraints._wrong.isVisible()


def to_the_methods(wizard, qtbot, loans, **card):
    answer_data(qtbot, wizard, loans)
    take_model(wizard, **card)
    wizard.attributes.chips["sex"].click()
    wizard.next.click()
    assert wizard.state.step is Step.CHECKS
    return wizard.checks


def test_cards_say_what_each_plan_answers(qtbot, wizard, loans):
    checks = to_the_methods(wizard, qtbot, loans)
    answers = {
        kind: [question for question, mark in card.marks.items() if mark.text() == "✓"]
        for kind, card in checks.kinds.cards.items()
    }
    # a model that is known by its answers only cannot be certified
    common = [Question.GROUPS, Question.SHARE, Question.EXAMPLE]
    assert answers == {
        PlanKind.QUICK: common,
        PlanKind.FULL: [*common, Question.SUBGROUPS],
        PlanKind.CUSTOM: [],
    }
    # nothing is chosen yet: no list of what would not be answered
    custom = checks.kinds.cards[PlanKind.CUSTOM]
    assert all(mark.isHidden() for mark in custom.marks.values())
    assert METHODS["certify"].title in checks._reasons.text()
    full = checks.kinds.cards[PlanKind.FULL]
    assert full.button.isChecked()
    for question in Question:
        said = question.title in full.button.accessibleDescription()
        assert said == (question in answers[PlanKind.FULL])
    checks.repair.click()
    assert full.marks[Question.MITIGATION].text() == "✓"


def test_a_plan_is_chosen_with_the_keyboard(qtbot, wizard, loans):
    checks = to_the_methods(wizard, qtbot, loans)
    full = checks.kinds.cards[PlanKind.FULL].button
    qtbot.waitUntil(full.hasFocus)
    qtbot.keyClick(full, Qt.Key.Key_Right)
    assert wizard.state.kind is PlanKind.CUSTOM
    assert checks.custom.isVisible()
    qtbot.keyClick(checks.kinds.cards[PlanKind.CUSTOM].button, Qt.Key.Key_Left)
    qtbot.keyClick(full, Qt.Key.Key_Left)
    assert wizard.state.kind is PlanKind.QUICK
    assert not checks.custom.isVisible()


def test_methods_are_put_in_order(qtbot, wizard, loans):
    checks = to_the_methods(wizard, qtbot, loans)
    checks.kinds.cards[PlanKind.CUSTOM].button.click()
    order = checks.order

    def listed():
        return [order.list.item(row).text() for row in range(order.list.count())]

    assert [
        METHODS[method].title in text
        for method, text in zip(wizard.state.chosen, listed(), strict=True)
    ] == [True] * 4
    # each with its time, which together stay within the limit
    assert all("at most" in text for text in listed())
    first = wizard.state.chosen[0]
    order.list.setCurrentRow(0)
    assert not order.up.isEnabled()
    order.down.click()
    assert wizard.state.chosen[1] == first
    assert order.list.currentRow() == 1
    assert METHODS[first].title in listed()[1]
    # what is looked at here is looked at above
    assert checks.picker.key == first
    checks.lengths[Length.UNTIL_DONE].click()
    assert not any("at most" in text for text in listed())
    assert [run.method for run in wizard.state.first_runs().runs] == wizard.state.chosen
