"""The window: the start page, menus, opening and closing, and one whole audit through it."""

import logging
import re
import sys
import threading
from types import SimpleNamespace

import pytest
from pypdf import PdfReader
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAccessible, QDragEnterEvent, QDropEvent, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox, QPushButton, QTableView

from fairdesk import files
from fairdesk.answers import Question
from fairdesk.app.standard import PlanKind
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.gui import app
from fairdesk.gui.about import Reporter, diagnostics
from fairdesk.gui.forms.dialogs import WhereDialog, place_text
from fairdesk.gui.kit import settings, threads
from fairdesk.gui.kit.parts import Words
from fairdesk.gui.kit.settings import RECENTS, Glance, Settings
from fairdesk.gui.kit.threads import Latest, in_background
from fairdesk.gui.main_window import MainWindow
from fairdesk.gui.menus import Commands
from fairdesk.gui.start_page import RecentCard
from fairdesk.gui.wizard.state.wizard_state import Step
from fairdesk.gui.workspace.common.run_page import EXAMPLES, GROUPS, NAMES
from fairdesk.gui.workspace.report.dialogs import CheckDialog
from fairdesk.gui.workspace.report.exports import EXPORTS
from fairdesk.gui.workspace.shell.workspace import Workspace
from fairdesk.samples import samples
from tests.gui.auditing import FakeWorker, make_audit

SLOW = 60_000


@pytest.fixture
def window(qtbot, themed):
    window = MainWindow(settings.load())
    qtbot.addWidget(window)
    window.show()
    yield window
    window.close_audit()


@pytest.fixture
def audit(tmp_path):
    return make_audit(tmp_path)


@pytest.fixture
def own_data(tmp_path, monkeypatch):
    """Keep what the user has of samples in a folder of the test."""
    monkeypatch.setattr(files.platformdirs, "user_data_path", lambda *_, **__: tmp_path)
    return tmp_path


def entries(menu):
    return {entry.text().replace("&", ""): entry for entry in menu.actions()}


def menus(window):
    return {entry.text().replace("&", ""): entry.menu() for entry in window.menuBar().actions()}


def drag(kind, path):
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    where = QPoint(5, 5) if kind is QDragEnterEvent else QPointF(5, 5)
    event = kind(
        where,
        Qt.DropAction.CopyAction,
        mime,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    event.mime = mime  # keeps it alive as long as the event
    event.ignore()
    return event


def test_a_whole_audit_from_the_sample_to_the_report(qtbot, window, tmp_path):
    sample = samples()[0]
    run = next(
        button
        for button in window.start.findChildren(QPushButton)
        if button.accessibleName() == f"Start a new audit of {sample.title}"
    )
    qtbot.mouseClick(run, Qt.MouseButton.LeftButton)
    wizard = window.wizard
    qtbot.waitUntil(wizard.next.isEnabled, timeout=SLOW)
    assert wizard.state.step is Step.REVIEW
    wizard.back.click()
    # everything is done without a choice; here one search is enough
    assert wizard.state.kind is PlanKind.FULL
    wizard.checks.kinds.cards[PlanKind.CUSTOM].button.click()
    picker = wizard.checks.picker
    for key, item in picker.items.items():
        item.setCheckState(Qt.CheckState.Checked if key == "maft" else Qt.CheckState.Unchecked)
    picker.list.setCurrentItem(picker.items["maft"])
    picker.form.fields["global_num"].setValue(40)
    picker.form.fields["local_num"].setValue(20)
    wizard.next.click()
    qtbot.mouseClick(wizard.next, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.workspace is not None, timeout=SLOW)
    assert window.wizard is None
    workspace = window.workspace
    qtbot.waitUntil(lambda: not workspace.busy, timeout=SLOW)
    assert sample.title in window.windowTitle()
    path = workspace.path
    with Store.open(path) as store:
        (record,) = store.runs()
        assert record.state == "done"
        assert record.found == store.count(PairQuery(run=record.id)) > 0
    report = tmp_path / "report.pdf"
    workspace.report.export(EXPORTS[0], report)
    qtbot.waitUntil(report.is_file, timeout=SLOW)
    text = "\n".join(page.extract_text() for page in PdfReader(report).pages)
    assert sample.title in text
    assert f"{record.found:,}" in text
    assert window.settings.recents == [str(path)]
    assert window.close_audit()
    assert window.windowTitle() == "FairDesk"


def test_an_audit_is_opened_and_closed(window, audit):
    file = entries(menus(window)["Audit"])
    assert not file["Close audit"].isEnabled()
    assert not file["Export"].isEnabled()
    window.take(audit)
    assert isinstance(window.workspace, Workspace)
    assert file["Close audit"].isEnabled()
    # nothing was proven or told of groups
    always = [f"{export.title}…" for export in EXPORTS if export.needs is None]
    offered = [each.text() for each in file["Export"].menu().actions() if not each.isSeparator()]
    assert offered == [*always[:3], "Report, &signed…", *always[3:]]
    file["Verify this audit…"].trigger()
    (dialog,) = window.workspace.report.findChildren(CheckDialog)
    assert window.workspace.report.isVisible()
    dialog.reject()
    assert set(entries(menus(window)["Edit"])) == {"Undo", "Redo"}
    assert settings.load().recents == [str(audit)]
    file["Close audit"].trigger()
    assert window.workspace is None
    assert not file["Close audit"].isEnabled()


def test_what_is_no_audit_is_told_on_the_start_page(window, tmp_path):
    broken = tmp_path / "broken.fairdesk"
    broken.write_bytes(b"nothing")
    for path in (broken, tmp_path / "gone.fairdesk"):
        window.open_audit(path)
        assert window.start.banner.isVisible()
        assert path.name in window.start.banner.accessibleName()
        assert window.workspace is None


def test_an_opened_audit_takes_the_message_away(window, audit, tmp_path):
    window.open_audit(tmp_path / "gone.fairdesk")
    window.open_audit(audit)
    window.close_audit()
    assert not window.start.banner.isVisible()


def test_recents_that_are_gone_are_greyed(qtbot, window, audit, tmp_path):
    window.settings.opened(tmp_path / "gone.fairdesk")
    window.settings.opened(audit)
    window.close_audit()
    window.open_audit(audit)
    window.close_audit()
    there, gone = window.start.findChildren(RecentCard)[-2:]
    assert gone.title.text() == "gone"
    assert not gone.button.isEnabled()
    menu = entries(menus(window)["Audit"])["Open recent"].menu()
    menu.aboutToShow.emit()
    assert [entry.isEnabled() for entry in menu.actions()] == [True, False]
    there.button.click()
    assert window.workspace.path == audit


def test_a_recent_audit_is_known_by_what_it_came_to(qtbot, window, audit):
    window.open_audit(audit)
    qtbot.waitUntil(lambda: window.workspace._session.loaded, timeout=10_000)
    overview = window.workspace.overview
    qtbot.waitUntil(lambda: bool(overview.figure.value), timeout=10_000)
    value, label, title = overview.figure.value, overview.figure.label, window.workspace.title
    window.close_audit()
    # also by a window that is opened later
    glance = settings.load().glance(audit)
    assert (glance.title, glance.value, glance.label) == (title, value, label)
    assert glance.model == "credit.keras"
    (card,) = window.start.findChildren(RecentCard)
    assert card.title.text() == title
    assert value in {words.text() for words in card.findChildren(Words)}
    assert value in card.button.accessibleName()
    qtbot.mouseClick(card, Qt.MouseButton.LeftButton)
    assert window.workspace.path == audit


def test_only_ten_recents_are_kept(tmp_path):
    remembered = Settings()
    for number in range(RECENTS + 3):
        remembered.opened(tmp_path / f"{number}.fairdesk")
    remembered.opened(tmp_path / "5.fairdesk")
    assert len(remembered.recents) == RECENTS
    assert remembered.recents[0].endswith("5.fairdesk")
    assert settings.load().recents == remembered.recents
    # what audits came to is forgotten with them
    for number in (5, 0):
        remembered.closed(tmp_path / f"{number}.fairdesk", Glance("Loans", "m.onnx", "today"))
    assert remembered.glance(tmp_path / "5.fairdesk").title == "Loans"
    assert remembered.glance(tmp_path / "0.fairdesk") is None


def test_settings_that_cannot_be_read_are_the_defaults(tmp_path, caplog):
    assert settings.load() == Settings()
    (tmp_path / "settings" / "settings.json").write_text('{"scheme": "pink"}')
    assert settings.load() == Settings()
    assert "cannot be read" in caplog.text


def test_files_are_dropped_on_the_window(qtbot, window, audit, loans):
    enter = drag(QDragEnterEvent, loans / "notes.docx")
    window.dragEnterEvent(enter)
    assert not enter.isAccepted()
    enter = drag(QDragEnterEvent, audit)
    window.dragEnterEvent(enter)
    assert enter.isAccepted()
    window.dropEvent(drag(QDropEvent, audit))
    qtbot.waitUntil(lambda: window.workspace is not None)
    window.dropEvent(drag(QDropEvent, loans / "loans.csv"))
    qtbot.waitUntil(lambda: window.wizard is not None, timeout=SLOW)
    wizard = window.wizard
    qtbot.waitUntil(lambda: wizard.state.table is not None, timeout=SLOW)
    wizard.done(0)
    assert window.wizard is None


def test_closing_during_a_run_asks(qtbot, window, audit, monkeypatch):
    window.open_audit(audit)
    stopped = []
    monkeypatch.setattr(Workspace, "busy", property(lambda self: not stopped))
    monkeypatch.setattr(Workspace, "stop_and_keep", lambda self: stopped.append(True))
    monkeypatch.setattr(QMessageBox, "exec", lambda self: 0)
    answer = []
    monkeypatch.setattr(
        QMessageBox,
        "clickedButton",
        lambda self: next(each for each in self.buttons() if answer[0] in each.text()),
    )
    answer[:] = ["Let it continue"]
    assert not window.close()
    assert window.workspace is not None
    assert not stopped
    answer[:] = ["Stop and keep"]
    assert window.close()
    assert stopped


def test_colours_are_chosen_and_remembered(themed, window):
    colours = entries(menus(window)["View"])["Colours"].menu()
    entries(colours)["Dark"].trigger()
    assert themed.palette().color(QPalette.ColorRole.Window).lightness() < 128
    assert settings.load().scheme == "dark"
    entries(colours)["Light"].trigger()
    assert themed.palette().color(QPalette.ColorRole.Window).lightness() > 128


def test_standard_keys(window):
    file = entries(menus(window)["Audit"])
    assert file["New audit…"].shortcut().toString() == "Ctrl+N"
    assert file["Open…"].shortcut().toString() == "Ctrl+O"
    assert file["Quit"].shortcut().toString() == "Ctrl+Q"


def test_every_action_is_found_and_run_by_its_name(qtbot, window, audit):
    window.open_audit(audit)
    window.choose_command()
    (dialog,) = window.findChildren(Commands)
    lines = [dialog.list.item(row) for row in range(dialog.list.count())]
    listed = [line.text() for line in lines]
    read = [line.data(Qt.ItemDataRole.AccessibleTextRole) for line in lines]
    assert {f"View: Pages: {NAMES[2]}, Ctrl+3", "Audit: Open…, Ctrl+O"} <= set(read)
    # the keys are at the right
    at = listed.index("Audit: Open…")
    place, picture = dialog.list.visualItemRect(lines[at]), dialog.list.viewport().grab().toImage()
    right = [
        picture.pixelColor(x, y)
        for x in range(place.right() - 60, place.right())
        for y in range(place.top() + 2, place.bottom() - 1)
    ]
    assert len({colour.name() for colour in right}) > 1
    # those of every menu, also of menus that are filled when they are opened
    assert len({each.partition(":")[0] for each in listed}) == len(menus(window))
    assert any(each.startswith("Audit: Export: ") for each in listed)
    qtbot.keyClicks(dialog.search, "log pages")
    assert dialog.list.count() == 1
    with qtbot.waitSignal(dialog.finished):
        qtbot.keyClick(dialog.search, Qt.Key.Key_Return)
    assert window.workspace.log.isVisible()


def test_an_action_that_is_off_is_listed_and_not_run(qtbot, window):
    window.choose_command()
    (dialog,) = window.findChildren(Commands)
    dialog.search.setText("close audit")
    assert dialog.list.count() == 1
    assert dialog.list.currentItem() is None
    qtbot.keyClick(dialog.search, Qt.Key.Key_Return)
    assert dialog.isVisible()
    dialog.search.setText("o")
    first = dialog.list.currentRow()
    qtbot.keyClick(dialog.search, Qt.Key.Key_Down)
    assert dialog.list.currentRow() > first
    dialog.reject()


def test_the_wizard_opens_once_and_closes_its_workers(qtbot, window):
    window.new_audit()
    wizard = window.wizard
    window.new_audit()
    assert window.wizard is wizard
    model, clerk = wizard.data.desk.model, wizard.data.desk.clerk
    wizard.reject()
    assert window.wizard is None
    qtbot.waitUntil(lambda: not model.alive and not clerk.alive, timeout=SLOW)


def test_runs_are_made_where_the_wizard_was_told(qtbot, window, audit, monkeypatch):
    begun = []

    def begin(workspace, worker, runs, seconds):
        begun.append(workspace.runner._replaces)
        worker.close()

    monkeypatch.setattr(Workspace, "start_runs", begin)
    plan = SimpleNamespace(path=audit, runs=(), seconds=None)
    for cluster in ("", "local:2"):
        window.close_audit()
        window.new_audit()
        wizard = window.wizard
        wizard.review.elsewhere.click()
        (dialog,) = wizard.review.findChildren(WhereDialog)
        dialog._show(cluster)
        dialog.accept()
        assert settings.load().cluster == cluster
        assert wizard.review.where.text() == place_text(cluster)
        wizard.created.emit(plan)
        wizard.done(0)
    # the wizard opened the model elsewhere than where runs are to be made
    assert begun == [False, True]


def test_the_keyboard_returns_after_a_discarded_wizard(qtbot, window):
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.start.open_button.setFocus()
    window.new_audit()
    qtbot.waitUntil(window.wizard.isActiveWindow)
    window.wizard.reject()
    qtbot.waitUntil(window.start.open_button.hasFocus)


def test_a_window_that_filled_the_screen_does_so_again(qtbot, window):
    assert not settings.load().maximised
    window.showMaximized()
    window.close()
    again = MainWindow(settings.load())
    qtbot.addWidget(again)
    again.show()
    assert again.isMaximized()
    again.showNormal()
    again.close()
    assert not settings.load().maximised


def test_a_window_is_as_large_as_it_was_when_it_was_closed(qtbot, window):
    window.showNormal()
    window.resize(800, 530)
    window.close()
    again = MainWindow(settings.load())
    qtbot.addWidget(again)
    assert again.height() == 530


@pytest.fixture
def ran(qtbot, window, audit):
    """A workspace with the bar of its queue below the pages."""
    window.open_audit(audit)
    workspace = window.workspace
    qtbot.waitUntil(lambda: workspace._session.loaded, timeout=SLOW)
    with qtbot.waitSignal(workspace.run_finished, timeout=SLOW):
        workspace.start_runs(FakeWorker(), (RunSpec("uniform", {"samples": 30}),))
    assert workspace.bar.isVisible()
    return workspace


@pytest.mark.parametrize("size", [(960, 540), (800, 500)])
def test_a_small_window_scrolls_its_pages_below_the_run_bar(window, ran, size):
    workspace = ran
    window.resize(*size)
    for name in NAMES:
        workspace.show_page(name)
        QApplication.processEvents()
        assert (window.width(), window.height()) == size
        bar = workspace.bar
        corner = bar.mapTo(window, QPoint(bar.width(), bar.height()))
        assert corner.x() <= size[0]
        assert corner.y() <= size[1]
        shown = workspace._pages.currentWidget()
        needed = shown.minimumSizeHint()
        assert shown.width() >= needed.width()
        assert shown.height() >= needed.height()


def test_a_notice_moves_nothing_and_needs_no_room_before(qtbot, window, ran):
    QApplication.processEvents()
    before = window.workspace.geometry()
    assert window.workspace.mapTo(window, QPoint(0, before.height())).y() == window.height()
    window.workspace.said.emit("The run has started.")
    QApplication.processEvents()
    notice, bar = window.notice, window.workspace.bar
    assert notice.text == notice.accessibleName() == "The run has started."
    assert window.workspace.geometry() == before
    assert notice.geometry().bottom() < bar.mapTo(window, QPoint()).y()
    height = bar.height()
    bar.queue.fold.click()
    qtbot.waitUntil(lambda: bar.height() > height)
    qtbot.waitUntil(lambda: notice.geometry().bottom() < bar.mapTo(window, QPoint()).y())
    qtbot.mouseClick(notice, Qt.MouseButton.LeftButton)
    assert not notice.text
    window.workspace.said.emit("The run is complete.")
    window.close_audit()
    assert not notice.text


def test_audits_are_chosen_from_the_disk(window, audit, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_args: (str(audit), ""))
    window.choose_audit()
    assert window.workspace.path == audit
    assert window.settings.folder("audit") == str(audit.parent)


def test_diagnostics_tell_versions_and_nothing_of_an_audit(window, audit):
    window.open_audit(audit)
    text = diagnostics()
    assert "Qt: 6." in text
    assert "numpy: " in text
    assert "credit" not in text
    entries(menus(window)["Help"])["Copy diagnostics"].trigger()
    assert QGuiApplication.clipboard().text() == text


def test_defects_are_logged_and_told_once(qtbot, themed, monkeypatch, caplog):
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    reporter = Reporter(themed)
    reporter.install()

    def fail():
        try:
            int("somebody")
        except ValueError as error:
            sys.excepthook(type(error), error, error.__traceback__)

    with caplog.at_level(logging.ERROR):
        fail()
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()
    assert caplog.text.count("Traceback") == 2
    qtbot.waitUntil(lambda: reporter.box is not None)
    box = reporter.box
    assert "Traceback" not in box.text() + box.informativeText()
    assert "somebody" not in box.text() + box.informativeText()
    copy = next(button for button in box.buttons() if "Copy" in button.text())
    copy.click()
    assert "Traceback" in QGuiApplication.clipboard().text()
    assert box.isVisible()
    box.close()
    qtbot.waitUntil(lambda: reporter.box is None)


def test_background_failures_are_told_in_plain_words(qtbot, window, caplog):
    told = []
    in_background(window, lambda: 1 / 0, told.append, told.append)
    qtbot.waitUntil(lambda: bool(told))
    assert "An unexpected error" in told[0].what
    assert "ZeroDivisionError" in caplog.text


def test_results_of_a_gone_owner_are_dropped(qtbot, themed):
    gate = threading.Event()
    told = []
    owner = MainWindow(Settings())
    in_background(owner, gate.wait, told.append, told.append)
    owner.deleteLater()
    qtbot.wait(10)
    gate.set()
    qtbot.waitUntil(lambda: not threads._running)
    assert told == []


def test_only_the_latest_of_many_counts(qtbot, window):
    gate = threading.Event()
    told, ran = [], []
    latest = Latest(window)

    def call(number):
        gate.wait(10)
        ran.append(number)
        return number

    for number in range(5):
        latest.ask(lambda number=number: call(number), told.append, told.append)
    with qtbot.waitSignal(latest.ended):
        gate.set()
    qtbot.waitUntil(lambda: told == [4])
    assert ran == [0, 4]


def test_start_page_speaks(window):
    interface = QAccessible.queryAccessibleInterface(window.start.new_button)
    assert interface.text(QAccessible.Text.Name).replace("&", "") == "New audit"


@pytest.fixture
def started(qtbot, themed, monkeypatch):
    """Start the program with arguments, in this process, until it waits for the user."""
    windows = []
    monkeypatch.setattr(app, "QApplication", lambda _argv: themed)
    monkeypatch.setattr(Reporter, "install", lambda self: None)
    monkeypatch.setattr(app, "_log_to_file", lambda: None)
    monkeypatch.setattr(type(themed), "exec", lambda self: qtbot.wait(50) or 0)
    show = MainWindow.show
    monkeypatch.setattr(MainWindow, "show", lambda self: windows.append(self) or show(self))

    def start(*arguments):
        assert app.main(arguments) == 0
        return windows[-1]

    yield start
    for each in windows:
        each.close()


def test_main_opens_the_file_that_it_is_given(started, audit, monkeypatch):
    opened = []
    monkeypatch.setattr(MainWindow, "take", lambda self, path: opened.append(path))
    started(str(audit))
    assert opened == [audit]


def test_the_first_start_opens_the_samples_finished_audit_and_a_later_one_the_start_page(
    started, own_data
):
    first = started()
    assert first.workspace.path == samples()[0].finished
    assert "finished audit of the built-in sample" in first.notice.text
    first.close()
    assert started().workspace is None


def has_rates(table):
    """Return whether a table on screen has a column of rates."""
    model = table.model()
    cells = (model.index(0, column).data() for column in range(model.columnCount()))
    return table.isVisible() and any(re.fullmatch(r"[\d.]+\s%", cell or "") for cell in cells)


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.key)
def test_a_finished_audit_is_open_at_one_click_and_has_figures(qtbot, window, own_data, sample):
    card = window.start.samples[sample.key]
    qtbot.mouseClick(card.look, Qt.MouseButton.LeftButton)
    workspace = window.workspace
    assert workspace.path == sample.finished
    cards = workspace.overview.cards
    qtbot.waitUntil(lambda: cards[Question.EXAMPLE].answer.known, timeout=SLOW)
    left = [asked for asked, card in cards.items() if not card.answer.known]
    assert left == [Question.MITIGATION]
    assert cards[Question.SHARE].isVisible()
    workspace.show_page(GROUPS)
    qtbot.waitUntil(lambda: any(map(has_rates, workspace.findChildren(QTableView))), timeout=SLOW)
    workspace.show_page(EXAMPLES)
    qtbot.waitUntil(lambda: workspace.examples.pairs.model.rowCount() > 1_000, timeout=SLOW)


def test_a_finished_audit_of_another_version_makes_room_for_a_fresh_copy(window, own_data):
    sample = samples()[0]
    sample.finished.parent.mkdir(parents=True)
    sample.finished.write_bytes(b"of another version")
    window.look_around(sample)
    assert window.workspace.path == sample.finished
    assert not window.start.banner.isVisible()
    earlier = sample.finished.parent.with_name(f"{sample.key}-earlier-1") / sample.finished.name
    assert earlier.read_bytes() == b"of another version"


def test_a_finished_audit_that_cannot_be_copied_is_told(window, own_data):
    (own_data / "samples").write_bytes(b"no folder")
    window.look_around(samples()[0])
    assert window.workspace is None
    assert window.start.banner.isVisible()
