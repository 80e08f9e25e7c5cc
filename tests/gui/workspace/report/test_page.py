"""The Report page: what people tell is kept, the pages follow, and files are written."""

import json
import threading
import time

import msgspec
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QFileDialog,
    QLabel,
    QPushButton,
)

from fairdesk.audit.store.records import Categories, Choice, Details, Signer
from fairdesk.audit.store.store import Store
from fairdesk.errors import FairDeskError, ReportError
from fairdesk.gui.kit import parts, theme
from fairdesk.gui.workspace.common.run_page import EXAMPLES, NAMES, REPORT
from fairdesk.gui.workspace.report import preview as preview_module
from fairdesk.gui.workspace.report.categories import UNKNOWN, CategoriesEditor, Offer, offer_of
from fairdesk.gui.workspace.report.dialogs import ContentsDialog
from fairdesk.gui.workspace.report.draft import read_state
from fairdesk.gui.workspace.report.exports import FILES, REPORTS, write
from fairdesk.gui.workspace.report.fields import FieldEditor
from fairdesk.gui.workspace.report.form import _Pressed
from fairdesk.gui.workspace.report.paper_view import FIT, PagesView
from fairdesk.gui.workspace.report.preview import page_of, possible, section_text, twin
from fairdesk.gui.workspace.session import weighing
from fairdesk.report.content.choosing import Part
from fairdesk.report.content.fields import FIELDS, Field, fields_of
from fairdesk.report.content.status import mark_final
from fairdesk.report.document import make_report
from tests.gui.auditing import Scales, make_audit
from tests.report.details import example_details

SLOW = 60
LONG = 10_000


def wait(condition):
    """Go on with the event loop until a condition holds; other threads go on, too."""
    deadline = time.monotonic() + SLOW
    while not condition():
        assert time.monotonic() < deadline
        QApplication.processEvents()
        time.sleep(0.002)


@pytest.fixture
def no_pages(monkeypatch):
    """Leave out the pages, which take a second."""
    monkeypatch.setattr(preview_module.ReportPreview, "refresh", lambda *_args: None)


@pytest.fixture
def audit(opened, path):
    """A workspace whose Report page is shown, with its form filled in from the file."""
    return shown(opened(path))


def shown(workspace):
    workspace.show_page(REPORT)
    wait(lambda: workspace.report.draft.loaded)
    settle(workspace)
    return workspace


def settle(workspace):
    """Wait until everything that was asked of the file is done."""
    done = []
    workspace._session.store.ask(lambda _store: None, done.append)
    wait(lambda: done)


def in_file(path, read):
    with Store.open(path) as store:
        return read(store)


def kept(path):
    return in_file(path, Store.details)


def logged(path, kind):
    entries = in_file(path, Store.log_entries)
    return [entry.what for entry in entries if entry.kind == kind]


def type_into(qtbot, editor, text):
    editor.input.setFocus()
    qtbot.keyClicks(editor.input, text)


# What people tell


def test_fields_are_made_before_somebody_turns_to_the_page(qtbot, opened, path):
    report = opened(path).report
    qtbot.waitUntil(lambda: "system" in report.form.editors, timeout=10_000)
    assert not report.isVisible()


def test_a_field_is_kept_when_it_is_left_and_each_time_is_one_entry(no_pages, qtbot, audit, path):
    form = audit.report.form
    editor = form.editors["system"]
    type_into(qtbot, editor, "Credit 4.2")
    settle(audit)
    assert kept(path).texts == {}
    assert logged(path, "details") == []
    form.editors["auditor"].input.setFocus()
    settle(audit)
    assert kept(path).texts == {"system": "Credit 4.2"}
    assert len(logged(path, "details")) == 1
    audit.undo_stack.undo()
    settle(audit)
    assert kept(path).texts == {}
    assert editor.text == ""
    audit.undo_stack.redo()
    settle(audit)
    assert editor.text == "Credit 4.2"


def test_what_is_being_typed_is_kept_after_a_pause_and_when_the_page_is_left(
    no_pages, qtbot, audit, path
):
    form = audit.report.form
    type_into(qtbot, form.editors["system"], "Credit")
    assert form._pause.isActive()
    form._pause.timeout.emit()
    settle(audit)
    assert kept(path).texts["system"] == "Credit"
    qtbot.keyClicks(form.editors["system"].input, " 5")
    audit.show_page(EXAMPLES)
    settle(audit)
    assert kept(path).texts["system"] == "Credit 5"


def test_what_was_typed_last_is_kept_when_the_audit_is_closed(qtbot, no_pages, audit, path):
    type_into(qtbot, audit.report.form.editors["system"], "Credit")
    audit.close_audit()
    assert kept(path).texts["system"] == "Credit"


def test_the_list_of_steps_says_how_the_report_stands(no_pages, opened, path):
    with Store.open(path) as store:
        store.write_details(example_details("plain"))
        mark_final(store, "plain")
    audit = opened(path)
    wait(lambda: audit.report.draft.loaded)
    step = audit.steps.item(NAMES.index(REPORT))
    assert "final" in step.data(Qt.ItemDataRole.AccessibleTextRole)
    with Store.open(path) as store:
        store.mark(1, "flagged")
    audit._session.load()
    wait(lambda: "draft again" in step.data(Qt.ItemDataRole.AccessibleTextRole))


def test_the_window_says_of_a_report_what_its_cover_says(path):
    def agree(store):
        told = read_state(store)
        return told.status.word == make_report(store, told.choice).status and told.status.word

    with Store.open(path) as store:
        store.log("x", "final", {"template": "plain"})
        assert agree(store) == "Draft", "nothing was filled in"
        store.write_details(example_details("plain"))
        mark_final(store, "plain", Choice(redaction="bands"))
        assert agree(store) == "Draft", "that was another form"
        mark_final(store, "plain", Choice())
        assert agree(store) == "Final"


def test_what_another_window_wrote_is_left_alone(no_pages, qtbot, audit, path):
    form = audit.report.form
    type_into(qtbot, form.editors["system"], "Credit")
    with Store.open(path) as other:
        other.write_details(Details({"auditor": "A. Nother"}))
    form.editors["auditor"].input.setFocus()
    settle(audit)
    assert kept(path).texts == {"system": "Credit", "auditor": "A. Nother"}
    wait(lambda: form.editors["auditor"].text == "A. Nother")


def test_completeness_counts_and_leads_to_fields(no_pages, qtbot, audit):
    form = audit.report.form
    before = form.completeness.why.text()
    assert "still required for Final" in before
    assert not form.completeness.final.isEnabled()
    assert "still required" in form.completeness.final.accessibleDescription()
    assert 'href="system"' in form.completeness.links.text()
    form.completeness.links.linkActivated.emit("auditor")
    assert form.editors["auditor"].input.hasFocus()
    qtbot.keyClicks(form.editors["auditor"].input, "me")
    assert form.completeness.why.text() != before
    assert 'href="auditor"' not in form.completeness.links.text()
    assert form.editors["auditor"].input.accessibleName() == "Auditor (required for Final)"


def test_a_whole_form_can_be_marked_as_final_and_a_change_makes_it_a_draft_again(
    no_pages, qtbot, opened, path
):
    with Store.open(path) as store:
        store.write_details(example_details("plain"))
    audit = shown(opened(path))
    form = audit.report.form
    qtbot.waitUntil(form.completeness.final.isEnabled, timeout=LONG)
    qtbot.mouseClick(form.completeness.final, Qt.MouseButton.LeftButton)
    settle(audit)
    assert form.completeness.word.text() == "✓ Final"
    assert len(logged(path, "final")) == 1
    assert in_file(path, make_report).status == "Final"
    type_into(qtbot, form.editors["auditor"], "!")
    form.editors["system"].input.setFocus()
    settle(audit)
    assert form.completeness.word.text() == "Draft"
    assert "It was final until" in form.completeness.why.text()
    assert "Auditor" in form.completeness.why.text()
    form.completeness.final.click()
    settle(audit)
    form.completeness.final.click()
    settle(audit)
    assert len(logged(path, "draft")) == 1
    assert form.completeness.word.text() == "Draft"


def test_a_report_waits_to_be_final_until_all_pairs_are_compared(
    no_pages, monkeypatch, qtbot, opened, path
):
    hold = threading.Event()
    monkeypatch.setattr(weighing, "Worker", lambda command: Scales(hold))
    with Store.open(path) as store:
        store.write_details(example_details("plain"))
    audit = shown(opened(path))
    said = audit.report.form.completeness
    qtbot.waitUntil(lambda: audit._session.weighing.busy, timeout=LONG)
    assert not said.final.isEnabled()
    assert "when all pairs are compared with the applicants" in said.why.text()
    assert said.final.accessibleDescription() == said.why.text()
    hold.set()
    qtbot.waitUntil(said.final.isEnabled, timeout=LONG)
    assert "compared" not in said.why.text()
    said.final.click()
    settle(audit)
    assert said.word.text() == "✓ Final"


def test_nothing_is_compared_for_a_final_report_unless_the_auditor_wants_so(
    no_pages, qtbot, opened, path
):
    with Store.open(path) as store:
        store.write_details(example_details("plain"))
        mark_final(store, "plain")
    audit = opened(path)
    weighing = audit._session.weighing
    qtbot.waitUntil(lambda: weighing.held and not weighing.under_way, timeout=LONG)
    assert audit.report.standing.words == "final"
    assert in_file(path, make_report).status == "Final"
    audit.show_page(EXAMPLES)
    button = audit.examples._weighing._button
    qtbot.waitUntil(button.isVisible, timeout=LONG)
    assert button.text() == "Continue"
    assert "makes it a draft again" in button.toolTip()
    told = []
    audit.said.connect(told.append)
    button.click()
    qtbot.waitUntil(lambda: audit.report.standing.words == "draft again", timeout=LONG)
    assert in_file(path, make_report).status == "Draft"
    assert any("is a draft again" in each for each in told)


def test_who_goes_on_at_once_after_a_stop_is_heeded_for_a_final_report_too(
    no_pages, monkeypatch, qtbot, opened, path
):
    hold = threading.Event()
    monkeypatch.setattr(weighing, "Worker", lambda command: Scales(hold))
    with Store.open(path) as store:
        store.write_details(example_details("plain"))
        mark_final(store, "plain")
    compared = opened(path)._session.weighing
    qtbot.waitUntil(lambda: compared.held and not compared.under_way, timeout=LONG)
    compared.go_on()
    qtbot.waitUntil(lambda: compared.busy, timeout=LONG)
    compared.stop_for_good()
    compared.go_on()
    hold.set()
    qtbot.waitUntil(lambda: compared.done == compared.total > 0, timeout=LONG)


def test_each_template_asks_for_its_own_fields(no_pages, qtbot, audit, path):
    form = audit.report.form
    for key in ("ll144", "annex-iv", "model-card", "plain"):
        qtbot.mouseClick(form.kinds[key], Qt.MouseButton.LeftButton)
        settle(audit)
        assert in_file(path, Store.choice).template == key
        asked = {name for name, each in form.editors.items() if not each.isHidden()}
        assert asked <= {field.key for field in fields_of(key)}
        assert {f.key for f in fields_of(key) if f.when is None} <= asked
        assert form._groups["published"].isHidden() == (key != "ll144")
    audit.undo_stack.undo()
    settle(audit)
    assert form.kinds["model-card"].isChecked()


def test_a_template_is_chosen_by_its_words(no_pages, qtbot, audit, path):
    form = audit.report.form
    (words,) = (each for each in form.findChildren(_Pressed) if each.text() == "Model card")
    qtbot.mouseClick(words, Qt.MouseButton.LeftButton)
    settle(audit)
    assert in_file(path, Store.choice).template == "model-card"


@pytest.mark.parametrize(
    ("field", "typed", "wrong"),
    [
        (Field("day", "Day", "A day.", "Cover", "date", example="2026-01-31"), "31.1.26", True),
        (Field("day", "Day", "A day.", "Cover", "date", example="2026-01-31"), "2026-01-31", False),
        (Field("word", "Word", "A word.", "Cover"), "<b>=cmd()</b>", False),
    ],
)
def test_what_cannot_be_is_told_and_kept_all_the_same(qtbot, themed, field, typed, wrong):
    editor = FieldEditor(field)
    qtbot.addWidget(editor)
    editor.show()
    editor.activateWindow()
    wait(editor.isActiveWindow)
    type_into(qtbot, editor, typed)
    editor.input.clearFocus()
    assert editor.text == typed
    assert editor._wrong.isHidden() != wrong
    assert editor.input.accessibleDescription() == field.help


def test_a_choice_that_nobody_offers_any_more_is_shown(qtbot, themed):
    editor = FieldEditor(Field("k", "K", "", "Cover", "choice", choices=("one", "two")))
    qtbot.addWidget(editor)
    editor.show_text("three")
    assert editor.text == "three"
    editor.show_text("")
    assert editor.text == ""


def test_a_long_text_makes_its_field_higher(qtbot, themed):
    editor = FieldEditor(Field("k", "K", "", "Cover", "text"))
    qtbot.addWidget(editor)
    editor.resize(300, 200)
    editor.show()
    low = editor.input.height()
    editor.show_text("line\n" * 8)
    assert editor.input.height() > low
    editor.show_text("line\n" * 80)
    assert editor.input.height() < 4 * low


def test_signers_are_added_left_out_and_put_back(no_pages, qtbot, audit, path):
    signers = audit.report.form.signers
    qtbot.mouseClick(signers.add, Qt.MouseButton.LeftButton)
    name, role, day = signers._rows[0].fields
    assert name.hasFocus()
    for field, text in ((name, "Ada"), (role, "Auditor"), (day, "2026-11-22")):
        qtbot.keyClicks(field, text)
        qtbot.keyPress(field, Qt.Key.Key_Return)
    settle(audit)
    assert kept(path).signers == (Signer("Ada", "Auditor", "2026-11-22"),)
    signers._rows[0].remove.click()
    settle(audit)
    assert kept(path).signers == ()
    audit.undo_stack.undo()
    settle(audit)
    assert signers.signers == (Signer("Ada", "Auditor", "2026-11-22"),)


def test_a_day_that_is_none_is_told(no_pages, audit, path):
    signers = audit.report.form.signers
    signers.add.click()
    row = signers._rows[0]
    day = row.fields[2]
    day.setText("2026-11-22")
    day.editingFinished.emit()
    assert row._wrong.isHidden()
    day.setText("2026-02-30")
    day.editingFinished.emit()
    assert not row._wrong.isHidden()
    assert "“2026-02-30” is not a date" in row._wrong.text()
    settle(audit)
    assert kept(path).signers == (Signer("", date="2026-02-30"),)


def test_tab_goes_through_the_form_from_top_to_bottom(no_pages, qtbot, audit):
    form = audit.report.form
    form.signers.add.click()
    form.signers.add.click()
    settle(audit)
    first, second = form.signers._rows
    walked = []
    at = form.completeness.links
    while at is not form.logo.choose:
        if at.focusPolicy() & Qt.FocusPolicy.TabFocus and at.isVisibleTo(form):
            walked.append(at)
        at = at.nextInFocusChain()
        assert at is not form.completeness.links
    day = form.editors["audit_date"]
    assert walked[1:3] == [form.completeness.only, form.completeness.final]
    assert walked[walked.index(day.input) + 1] is day.order[1]
    assert walked[walked.index(day.input) + 2] is form.editors["auditor"].input
    assert walked[-9:] == [
        *first.fields,
        first.remove,
        *second.fields,
        second.remove,
        form.signers.add,
    ]


def test_the_list_of_steps_counts_what_a_draft_lacks(no_pages, audit):
    step = audit.steps.item(NAMES.index(REPORT))
    said = step.data(Qt.ItemDataRole.AccessibleTextRole)
    assert f"draft, {len(audit.report.draft.state.obstacles)} fields to fill" in said
    for key, text in example_details("plain").texts.items():
        audit.report.draft.write_text(key, key, text)
    settle(audit)
    assert "draft, complete" in step.data(Qt.ItemDataRole.AccessibleTextRole)


def test_a_logo_is_shown_and_a_file_that_is_none_is_told(no_pages, qtbot, audit, path, tmp_path):
    report = audit.report
    picture = tmp_path / "logo.png"
    image = QImage(40, 20, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.blue)
    assert image.save(str(picture))
    report.form.logo.take(picture)
    wait(lambda: kept(path).logo)
    assert kept(path).logo == picture.read_bytes()
    wait(lambda: not report.form.logo._picture.isHidden())
    wrong = tmp_path / "no picture.png"
    wrong.write_text("text")
    report.form.logo.take(wrong)
    wait(report._banner.isVisible)
    assert "no picture.png" in report._banner.accessibleName()
    assert kept(path).logo == picture.read_bytes()
    report.form.logo.remove.click()
    settle(audit)
    assert not report._banner.isVisible()
    assert kept(path).logo == b""


def test_published_categories_are_proposed_chosen_and_counted(qtbot, themed):
    editor = CategoriesEditor()
    qtbot.addWidget(editor)
    proposed = Categories("sex", "race", {"sex": {"f": "Female", "m": "Male"}})
    editor.show_offer(Offer({"sex": {"f": 20, "m": 31}, "race": {"W": 40, "x": 11}}, proposed))
    said = []
    editor.changed.connect(lambda: said.append(editor.categories))
    assert not editor.propose.isHidden()
    editor.propose.click()
    assert said == [proposed]
    assert editor.inputs["sex"]["f"].currentText() == "Female"
    assert "20 rows" in editor.inputs["sex"]["f"].accessibleName()
    field = editor.inputs["race"]["x"]
    field.setEditText(UNKNOWN)
    field.lineEdit().editingFinished.emit()
    assert said[-1].names["race"] == {"x": ""}
    field.setEditText("")
    field.lineEdit().editingFinished.emit()
    # nothing is said of it: it is its own category
    assert "race" not in said[-1].names
    editor.choices["sex"].setCurrentIndex(0)
    editor.choices["sex"].activated.emit(0)
    assert said[-1].sex == ""
    assert editor.inputs["sex"] == {}


def test_categories_are_asked_for_by_the_columns_of_the_audit(no_pages, audit, path):
    form = audit.report.form
    form.kinds["ll144"].click()
    settle(audit)
    assert form.categories.choices["sex"].findText("sex") > 0
    assert "names: sex is “sex”." in form.categories._used.text()
    form.categories.propose.click()
    settle(audit)
    assert kept(path).categories.sex == "sex"
    assert form.categories._used.isHidden()
    audit.undo_stack.undo()
    settle(audit)
    assert kept(path).categories == Categories()
    assert form.categories.choices["sex"].currentIndex() == 0


def test_columns_that_tell_groups_apart_are_offered_with_counts(path):
    offer = in_file(path, offer_of)
    assert "sex" in offer.columns
    assert sum(offer.columns["sex"].values()) > 0
    assert offer.proposed.sex == "sex"


def test_links_follow_a_change_of_colours(qtbot, themed, no_pages, audit):
    links = audit.report.findChild(parts.Markup)
    qtbot.waitUntil(lambda: bool(links.text()))

    def drawn():
        picture = links.grab().toImage()
        places = [(x, y) for x in range(picture.width()) for y in range(picture.height())]
        return {picture.pixelColor(x, y).name().upper() for x, y in places}

    assert theme.LIGHT.accent in drawn()
    theme.apply(themed, "dark")
    themed.processEvents()
    assert theme.DARK.accent in drawn()
    assert theme.LIGHT.accent not in drawn()


def test_the_form_of_the_report_is_kept_and_undone(no_pages, audit, path):
    combo = audit.report.form.form["paper"]
    combo.setCurrentIndex(combo.findData("us-letter"))
    combo.activated.emit(combo.currentIndex())
    settle(audit)
    assert in_file(path, Store.choice).paper == "us-letter"
    audit.undo_stack.undo()
    settle(audit)
    assert combo.currentData() == "a4"


# What is in the report


def test_sections_charts_and_tables_are_chosen(no_pages, qtbot, audit, path):
    report = audit.report
    report.form.contents.click()
    (dialog,) = report.findChildren(ContentsDialog)
    wait(dialog.use.isEnabled)
    items = dialog._items()
    assert "always included" in items["limits"].text(1)
    assert not items["limits"].flags() & Qt.ItemFlag.ItemIsUserCheckable
    section = next(key for key in items if "/" not in key and key in dialog._usual)
    items[section].setCheckState(0, Qt.CheckState.Unchecked)
    assert dialog.choice.left_out == (section,)
    assert all(not below.isDisabled() for key, below in items.items() if "/" not in key)
    qtbot.mouseClick(dialog.use, Qt.MouseButton.LeftButton)
    settle(audit)
    assert in_file(path, Store.choice).left_out == (section,)
    assert section not in [each.key for each in in_file(path, make_report).sections]
    assert report.form._left_out.text() == "1 omitted."
    audit.undo_stack.undo()
    settle(audit)
    assert in_file(path, Store.choice).left_out == ()


def test_what_is_optional_is_added_and_a_key_of_another_report_stays(no_pages, qtbot, audit):
    dialog = ContentsDialog(audit._session, Choice(left_out=("other/table",)))
    qtbot.addWidget(dialog)
    wait(dialog.use.isEnabled)
    listed = [
        Part("results", "Results", "Results", shown=True, required=False),
        Part("results/course-1", "Course", "Results", shown=True, required=False),
        Part("results/time-1", "Time", "Results", shown=False, required=False),
    ]
    dialog.show_parts(listed, {part.key: part.shown for part in listed})
    items = dialog._items()
    assert items["results/time-1"].text(1) == "optional"
    items["results/time-1"].setCheckState(0, Qt.CheckState.Checked)
    items["results/course-1"].setCheckState(0, Qt.CheckState.Unchecked)
    assert dialog.choice.added == ("results/time-1",)
    assert dialog.choice.left_out == ("other/table", "results/course-1")
    items["results"].setCheckState(0, Qt.CheckState.Unchecked)
    assert items["results/time-1"].isDisabled()
    dialog.usual.click()
    assert dialog.choice == Choice(left_out=("other/table",))


# Its pages


def test_pages_are_made_and_follow_what_is_told(qtbot, audit):
    preview = audit.report.preview
    wait(lambda: preview.shown is not None)
    first = preview.shown
    assert preview.pages.count == len(first.pages) > 3
    assert preview.page.suffix() == f" of {len(first.pages)}"
    assert preview.contents.count() == len(first.report.sections)
    type_into(qtbot, audit.report.form.editors["system"], "Credit 4.2")
    audit.report.form.editors["auditor"].input.setFocus()
    wait(lambda: preview.shown is not first)
    assert "Credit 4.2" in preview.shown.text
    assert preview.shown.changes == in_file(audit.path, read_state).changes


def test_nothing_jumps_while_somebody_reads(qtbot, audit):
    preview = audit.report.preview
    wait(lambda: preview.shown is not None)
    first = preview.shown
    preview.pages.setFocus()
    with Store.open(audit.path) as store:
        store.write_details(Details({"system": "Credit 9"}))
    audit._session.log_changed.emit()
    wait(preview.chip.isVisible)
    assert preview.shown is first
    qtbot.mouseClick(preview.chip, Qt.MouseButton.LeftButton)
    wait(lambda: preview.shown is not first)
    assert not preview.chip.isVisible()
    assert "Credit 9" in preview.shown.text


def test_a_section_is_gone_to_and_told_to_those_who_do_not_see(qtbot, audit):
    preview = audit.report.preview
    wait(lambda: preview.shown is not None)
    places, report = preview.shown.places, preview.shown.report
    preview.contents.setCurrentIndex(2)
    preview.contents.activated.emit(2)
    key = report.sections[2].key
    assert preview.pages.at == places[key]
    assert preview.page.value() == places[key]
    last = report.sections[-1]
    preview.page.setValue(preview.pages.count)
    assert preview.pages.at == preview.pages.count
    assert last.title in preview.pages.accessibleDescription()
    assert last.title in preview.contents.currentText()


def test_the_page_of_a_field_is_shown_while_it_is_filled_in(qtbot, audit):
    preview, form = audit.report.preview, audit.report.form
    wait(lambda: preview.shown is not None)
    for key, section in (
        ("purpose", "system"),
        ("data_source", "data"),
        ("known_limits", "limits"),
    ):
        form.go_to(key)
        assert preview.pages.at == preview.shown.places[section], key
        assert form.editors[key].input.hasFocus(), "one goes on typing"
    form.go_to("auditor")
    assert preview.pages.at == 1, "the cover"


def test_only_required_fields_are_shown_where_that_is_wanted(no_pages, audit):
    form = audit.report.form
    optional = [key for key, field in FIELDS.items() if "plain" not in field.required_by]
    required = [key for key, field in FIELDS.items() if "plain" in field.required_by]
    shown = [key for key, editor in form.editors.items() if editor.isVisible()]
    assert set(shown) & set(optional)
    form.completeness.only.click()
    shown = [key for key, editor in form.editors.items() if editor.isVisible()]
    assert shown
    assert set(shown) <= set(required)
    form.completeness.only.click()
    assert {key for key, editor in form.editors.items() if editor.isVisible()} > set(shown)


def test_the_report_is_read_as_text_with_a_key(qtbot, audit):
    preview = audit.report.preview
    wait(lambda: preview.shown is not None)
    preview.pages.setFocus()
    qtbot.keyClick(preview.pages, Qt.Key.Key_T)
    assert preview.text.isVisible()
    # Qt gives spaces that do not break as ordinary ones
    assert preview.text.toPlainText() == preview.shown.text.replace("\u00a0", " ")
    preview.contents.setCurrentIndex(3)
    preview.contents.activated.emit(3)
    found = preview.text.textCursor().block().text()
    assert found == f"4. {preview.shown.report.sections[3].title}"
    preview.as_text.click()
    assert preview.pages.isVisible()


def test_from_a_pair_to_its_page(qtbot, opened, path):
    with Store.open(path) as store:
        store.mark(1, "flagged")
    audit = opened(path)
    audit.show_page(EXAMPLES)
    detail = audit.examples.detail
    wait(lambda: detail.pair is not None)
    with Store.open(path) as store:
        detail.show_pair(store.pair(1))
    (link,) = (
        each
        for each in detail.findChildren(QPushButton)
        if each.accessibleName() == "Open report page"
    )
    qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    preview = audit.report.preview
    assert audit.report.isVisible()
    wait(lambda: preview.shown is not None and not preview._wanted)
    page = page_of("pair-1", preview.shown.places)
    assert page > 1
    assert preview.pages.at == page
    assert preview.pages.hasFocus()


def test_what_the_report_does_not_show_is_told(audit):
    preview = audit.report.preview
    wait(lambda: preview.shown is not None)
    audit.show_in_report(("pair-9999999",))
    wait(preview.banner.isVisible)
    assert "report does not show this" in preview.banner.accessibleName()
    audit.show_in_report(("nothing/like-it", "limits"))
    wait(lambda: not preview.banner.isVisible())
    assert preview.pages.at == preview.shown.places["limits"]


def test_making_pages_can_be_cancelled_and_begun_again(audit):
    preview = audit.report.preview
    preview.refresh()
    assert preview.busy.isVisible()
    preview.busy.cancelled.emit()
    assert not preview.busy.isVisible()
    assert preview.shown is None
    assert "cancelled" in preview.banner.accessibleName()
    (again,) = preview.banner.findChildren(QPushButton)
    again.click()
    wait(lambda: preview.shown is not None)
    assert not preview.banner.isVisible()


def test_pages_that_cannot_be_made_are_told(audit, monkeypatch):
    def fail(*_args):
        raise ReportError("No pages.", why="Because.", remedy="Try again.")

    preview = audit.report.preview
    wait(lambda: preview.shown is not None)
    monkeypatch.setattr(preview_module, "make_report", fail)
    preview.refresh()
    wait(preview.banner.isVisible)
    assert "No pages." in preview.banner.accessibleName()
    assert preview.pages.count


@pytest.fixture
def view(qtbot, themed, tmp_path):
    """Five pages of A4 in a window."""
    image = QImage(827, 1169, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    file = tmp_path / "page.png"
    assert image.save(str(file))
    view = PagesView()
    qtbot.addWidget(view)
    view.resize(600, 500)
    view.show()
    view.show_pages([file.read_bytes()] * 5, 100.0)
    return view


def test_pages_are_turned_with_keys(qtbot, view):
    moved = []
    view.moved.connect(lambda: moved.append(view.at))
    assert view.at == 1
    qtbot.keyClick(view, Qt.Key.Key_End)
    assert view.at == 5
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert view.at == 1
    qtbot.keyClick(view, Qt.Key.Key_PageDown)
    qtbot.keyClick(view, Qt.Key.Key_PageDown)
    assert view.at == 2
    qtbot.keyClick(view, Qt.Key.Key_PageUp)
    assert view.at == 1
    assert moved == [5, 1, 2, 1]


def test_zooming_keeps_the_page_and_asks_for_sharper_ones(qtbot, view):
    asked = []
    view.blurred.connect(lambda: asked.append(view.resolution_wanted))
    view.go_to(3)
    assert view.zoom == FIT
    view.set_zoom(2.0)
    assert view.at == 3
    assert asked == [2.0 * 96 * view.devicePixelRatioF()]
    qtbot.keyClick(view, Qt.Key.Key_Minus, Qt.KeyboardModifier.ControlModifier)
    assert view.zoom == 1.5
    qtbot.keyClick(view, Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
    assert view.zoom == 2.0
    turn = QWheelEvent(
        QPointF(50, 50),
        QPointF(50, 50),
        QPoint(0, -120),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    view.wheelEvent(turn)
    assert view.zoom == 1.5
    assert view.at == 3


def test_pages_in_sight_are_drawn_and_those_far_away_forgotten(view):
    wait(lambda: view.papers[0].picture is not None)
    assert view.grab().toImage().pixelColor(300, 300) == Qt.GlobalColor.red
    view.go_to(5)
    view.viewport().repaint()
    wait(lambda: view.papers[4].picture is not None)
    assert view.papers[0].picture is None


def test_new_pages_stay_where_one_was(view):
    view.go_to(4)
    view.show_pages([each.content for each in view.papers], 100.0)
    assert view.at == 4
    view.show_pages([each.content for each in view.papers][:2], 100.0)
    assert view.at == 2


def test_sharper_pages_are_made_of_the_same_report(audit):
    preview = audit.report.preview
    wait(lambda: preview.shown is not None)
    first = preview.shown
    preview.pages.set_zoom(2.0)
    wait(lambda: preview.shown is not first)
    assert preview.shown.report is first.report
    assert preview.shown.resolution == possible(preview.pages.resolution_wanted)
    assert len(preview.shown.pages[0]) > len(first.pages[0])
    assert preview.zoom.currentText() == "200 %"


def test_the_text_has_everything_that_the_report_says(path):
    report = in_file(path, make_report)
    text = twin(report)
    assert ".: " not in text
    for section in report.sections:
        assert section.title in text
    assert report.title in text
    assert section_text(report, 1) in text
    (cell, *_others) = (
        cell
        for section in report.sections
        for block in section.blocks
        if hasattr(block, "rows") and hasattr(block, "header")
        for row in block.rows
        for cell in row
    )
    assert cell in text


# Files


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_report_is_saved_with_its_manifest_and_fingerprint(no_pages, audit, path, tmp_path, at):
    target = tmp_path / REPORTS[at].name
    audit.report.export(REPORTS[at], target)
    wait(audit.report._saved.isVisible)
    assert target.stat().st_size
    assert (tmp_path / f"{target.name}.manifest.json").is_file()
    told = audit.report._saved.accessibleName()
    assert f"{target.name}.manifest.json" in told
    assert len(logged(path, "exported")) == 1
    assert audit.report.save.isEnabled()


def test_what_was_just_typed_is_in_what_is_saved(no_pages, qtbot, audit, tmp_path):
    type_into(qtbot, audit.report.form.editors["system"], "Credit 4.2")
    audit.report.export(REPORTS[2], tmp_path / "report.json")
    wait(audit.report._saved.isVisible)
    assert "Credit 4.2" in json.dumps(json.loads((tmp_path / "report.json").read_text()))


def test_a_name_is_suggested_from_the_title(no_pages, audit, monkeypatch):
    asked = []

    def ask(_parent, _title, name, kind):
        asked.append((name, kind))
        return "", ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", ask)
    audit.report.format.setCurrentIndex(1)
    audit.report.save.click()
    ((name, kind),) = asked
    # a question mark is no part of a file's name everywhere
    assert name.endswith("Who gets credit.html")
    assert "html" in kind
    assert audit.report._saved.isHidden()


def test_what_was_given_up_leaves_no_file(path, tmp_path):
    given_up = threading.Event()
    given_up.set()
    for export in (REPORTS[2], FILES[0]):
        target = tmp_path / export.name
        assert write(path, export, target, given_up) is None
        assert not target.exists()
    assert logged(path, "exported") == []


def test_saving_is_cancelled(no_pages, audit, path, tmp_path):
    report = audit.report
    report.export(REPORTS[0], tmp_path / "report.pdf")
    assert report._busy.isVisible()
    assert not report.save.isEnabled()
    report._busy.cancelled.emit()
    assert report.save.isEnabled()
    settle(audit)
    assert report._saved.isHidden()


def test_a_file_that_cannot_be_written_is_told(no_pages, audit, tmp_path):
    audit.report.export(REPORTS[0], tmp_path / "no" / "folder" / "report.pdf")
    wait(audit.report._banner.isVisible)
    assert audit.report.save.isEnabled()


def test_an_audit_file_that_cannot_be_written_keeps_what_was_typed_in_sight(
    no_pages, qtbot, audit, monkeypatch
):
    def refuse(_store, _details, _labels):
        raise FairDeskError("The file is read-only.")

    with monkeypatch.context() as patched:
        patched.setattr(Store, "write_details", refuse)
        type_into(qtbot, audit.report.form.editors["system"], "Credit")
        audit.report.form.editors["auditor"].input.setFocus()
        wait(audit.report._banner.isVisible)
        assert "read-only" in audit.report._banner.accessibleName()
        settle(audit)
    assert audit.report.form.editors["system"].text == "Credit"
    audit.report.form.keep()
    settle(audit)
    assert kept(audit.path).texts == {"system": "Credit"}


# Before there is anything


def test_before_any_run_the_pages_have_the_plan(opened, tmp_path):
    audit = shown(opened(make_audit(tmp_path, runs=0)))
    report = audit.report
    assert "only the audit plan" in report._note.text()
    # what people tell can be filled in before
    assert report.form.editors["system"].input.isVisible()
    wait(lambda: report.preview.shown is not None)


def test_no_two_things_on_the_page_share_a_key(no_pages, audit):
    report = audit.report
    report.form.kinds["ll144"].click()
    settle(audit)
    widgets = [*report.findChildren(QAbstractButton), *report.findChildren(QLabel)]
    shared = {"e", "a", "v", "h", "p", "r", "s"}  # of the menus, and of the run's bar
    for tab in range(report.tabs.count()):
        report.tabs.setCurrentIndex(tab)
        report.form.categories.propose.setVisible(tab == 0)
        texts = [each.text() for each in widgets if each.isVisible()]
        texts += [report.tabs.tabText(i) for i in range(report.tabs.count())]
        keys = [text[text.index("&") + 1].lower() for text in texts if "&" in text]
        assert len(keys) == len(set(keys)) > 4, sorted(keys)
        assert not set(keys) & shared


def test_a_long_name_and_hebrew_stay_in_their_places(no_pages, audit, path):
    name = "שם ארוך " * 40
    audit.report.form.editors["system"].input.setText(name)
    audit.report.form.keep()
    settle(audit)
    assert kept(path).texts["system"] == name.strip()
    audit.resize(1024, 700)
    QApplication.processEvents()
    assert audit.width() == 1024
    area = audit.report._area
    assert area.widget().width() <= area.viewport().width()


def test_every_field_of_every_template_has_a_name_and_help(no_pages, audit):
    form = audit.report.form
    assert set(form.editors) == set(FIELDS)
    for key, editor in form.editors.items():
        assert FIELDS[key].label in editor.input.accessibleName()
        assert editor.input.accessibleDescription() == FIELDS[key].help
    assert msgspec.structs.asdict(form.typed)["texts"] == {}
