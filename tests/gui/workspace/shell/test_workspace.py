import re
import threading
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QTableView,
    QTableWidget,
    QToolButton,
    QWidget,
)

from fairdesk.answers import Question, pooled
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.runs.inspection import MovedError, check_same, reopen
from fairdesk.audit.store.records import PairQuery, RunState
from fairdesk.audit.store.store import Store
from fairdesk.data.formats.reading import read_table
from fairdesk.document import pairs
from fairdesk.errors import ModelError
from fairdesk.files import sha256
from fairdesk.gui.forms.method_picker import QUESTIONS
from fairdesk.gui.kit import parts, theme
from fairdesk.gui.workspace.common.run_page import COMPARE, DATA, EXAMPLES, GROUPS, NAMES, OVERVIEW
from fairdesk.gui.workspace.evidence import COLUMNS
from fairdesk.gui.workspace.overview.page import next_step
from fairdesk.gui.workspace.report.exports import EXPORTS, FILES
from fairdesk.gui.workspace.shell import runner
from fairdesk.gui.workspace.shell.again_dialog import AgainDialog
from fairdesk.gui.workspace.shell.run_bar import budget_used
from fairdesk.models.inputs import input_check
from fairdesk.models.model import Companion
from fairdesk.models.pickles.contents import Contents
from fairdesk.report.document import described
from fairdesk.results.proofs import Proven
from tests import phrases
from tests.gui.auditing import PROTECTED, FakeWorker, make_audit, said_of
from tests.gui.group_figures import rule_set
from tests.gui.workspace.certification.test_page import EXACT
from tests.report.building import run_into, spec_of, write_people
from tests.wording.test_figures import SHARE

ROWS = msgspec.structs.replace(
    SHARE, attributes=PROTECTED, whom="data", n_samples=200, hits=3, estimate=0.015, exhaustive=True
)
RUN = RunSpec("uniform", {"samples": 3000}, seed=5)


def entries(path):
    with Store.open(path) as store:
        return [entry.what for entry in store.log_entries()]


def test_the_page_of_the_data_shows_what_the_report_says_of_data_and_model(qtbot, opened, path):
    workspace = opened(path)
    workspace.show_page(DATA)
    page = workspace.data
    qtbot.waitUntil(lambda: COLUMNS in page.view.shown, timeout=10_000)
    table = page.view.shown[COLUMNS]
    names = [table.item(row, 0).text() for row in range(table.rowCount())]
    spec = workspace._session.spec
    assert names == [column.name for column in spec.columns]
    with Store.open(path) as store:
        sections = described(store)
    facts = [
        fact for each in sections for block in each.blocks for fact in getattr(block, "facts", ())
    ]
    said = {label.accessibleName() for label in page.view.findChildren(QLabel)}
    assert {f"{fact.name}: {fact.value}" for fact in facts[:4]} <= said


def standing(workspace, name):
    return workspace.steps.item(NAMES.index(name)).data(Qt.ItemDataRole.AccessibleTextRole)


def test_before_the_first_run_every_page_says_what_will_be_there(qtbot, opened, tmp_path):
    workspace = opened(make_audit(tmp_path, runs=0))
    assert "not run" in standing(workspace, EXAMPLES)
    for question, card in workspace.overview.cards.items():
        assert card.answer.known == (question is Question.GROUPS)
    workspace.show_page(EXAMPLES)
    buttons = [
        each for each in workspace.examples.findChildren(QPushButton) if each.isVisibleTo(workspace)
    ]
    assert [each.text().replace("&", "") for each in buttons] == ["Find discriminatory pairs…"]
    with qtbot.waitSignal(workspace._session.wishes.run_again):
        buttons[0].click()


def test_pages_steps_and_questions_are_named_in_words(reading):
    texts = [label.text() for label in reading.findChildren(QLabel)]
    for text in (*NAMES, *QUESTIONS.values(), *texts):
        joined = set(re.findall(r"\b[A-Z][a-z]+[A-Z]\w+", text))
        assert joined <= {"FairDesk"}, text


def test_a_finished_audit_tells_what_it_found(reading, path):
    with Store.open(path) as store:
        (record,) = store.runs()
    number = f"{record.found:,}"
    assert "done" in standing(reading, EXAMPLES)
    assert reading.examples._headline.text().startswith(number)
    assert number in said_of(reading, Question.EXAMPLE)
    assert reading.overview.cards[Question.EXAMPLE].answer.evidence == "example"
    assert reading.examples.pairs.model.rowCount() == record.found


def test_a_run_is_shown_while_it_goes_on_and_after(qtbot, opened, tmp_path):
    path = make_audit(tmp_path, runs=0)
    workspace = opened(path)
    hold = threading.Event()
    # nothing runs: the room is the page's
    assert not workspace.bar.isVisible()
    with qtbot.waitSignal(workspace.run_started):
        workspace.start_runs(FakeWorker(hold=hold), (RUN,))
    assert workspace.busy
    qtbot.waitUntil(lambda: "running" in standing(workspace, EXAMPLES), timeout=10_000)
    qtbot.waitUntil(workspace.bar._stop.isVisible, timeout=10_000)
    with qtbot.waitSignal(workspace.run_finished, timeout=20_000):
        hold.set()
    assert not workspace.busy
    qtbot.waitUntil(lambda: "done" in standing(workspace, EXAMPLES), timeout=10_000)
    qtbot.waitUntil(lambda: workspace.examples.pairs.model.rowCount() > 0, timeout=10_000)
    qtbot.waitUntil(workspace.bar._again.isVisible, timeout=10_000)


def test_stop_keeps_what_was_found(qtbot, opened, tmp_path):
    path = make_audit(tmp_path, runs=0)
    workspace = opened(path)
    workspace.start_runs(FakeWorker(hold=threading.Event()), (RUN,))
    qtbot.waitUntil(workspace.bar._stop.isVisible, timeout=10_000)
    with qtbot.waitSignal(workspace.run_finished, timeout=20_000):
        workspace.bar._stop.click()
    qtbot.waitUntil(lambda: "stopped" in standing(workspace, EXAMPLES), timeout=10_000)


def test_stop_and_keep_returns_when_the_file_is_complete(opened, tmp_path):
    path = make_audit(tmp_path, runs=0)
    workspace = opened(path)
    workspace.start_runs(FakeWorker(hold=threading.Event()), (RUN,))
    workspace.stop_and_keep()
    assert not workspace.busy
    with Store.open(path) as store:
        assert store.runs()[0].state == "stopped"


def test_a_failed_run_offers_another(qtbot, opened, tmp_path):
    workspace = opened(make_audit(tmp_path, runs=0))
    with qtbot.waitSignal(workspace.run_finished, timeout=20_000):
        workspace.start_runs(FakeWorker(fail_after=4), (RUN,))
    qtbot.waitUntil(lambda: "failed" in standing(workspace, EXAMPLES), timeout=10_000)
    banner = workspace.examples._banner
    qtbot.waitUntil(banner.isVisible, timeout=10_000)
    assert "died" in banner.accessibleName()
    assert "Run again…" in [each.text() for each in banner.findChildren(QPushButton)]


def test_a_run_that_was_cut_off_is_told_as_failed(qtbot, opened, path):
    with Store.open(path) as store:
        store.begin_run(RUN)
    workspace = opened(path)
    assert "failed" in standing(workspace, EXAMPLES)


def test_keys_mark_and_note_and_all_of_it_is_undone(qtbot, reading, path):
    table, detail = reading.examples.pairs.table, reading.examples.detail
    table.setFocus()
    qtbot.waitUntil(table.hasFocus, timeout=10_000)
    pair = detail.pair.id
    qtbot.keyClick(table, Qt.Key.Key_F)
    qtbot.waitUntil(lambda: detail.pair.mark == "flagged", timeout=10_000)
    # the pair stays; its row is another once pairs are compared with the data
    assert reading.examples.pairs.model.index(table.currentIndex().row(), 0).data() == "⚑"
    qtbot.keyClick(table, Qt.Key.Key_D)
    qtbot.waitUntil(lambda: detail.pair.mark == "dismissed", timeout=10_000)
    qtbot.keyClick(table, Qt.Key.Key_N)
    qtbot.waitUntil(detail._note.hasFocus, timeout=10_000)
    qtbot.keyClicks(detail._note, "Find out why.")
    qtbot.keyClick(detail._note, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: detail.pair.note == "Find out why.", timeout=10_000)
    assert table.hasFocus()
    for _ in range(3):
        reading.undo_stack.undo()
    qtbot.waitUntil(lambda: (detail.pair.mark, detail.pair.note) == ("", ""), timeout=10_000)
    reading.undo_stack.redo()
    qtbot.waitUntil(lambda: detail.pair.mark == "flagged", timeout=10_000)
    with Store.open(path) as store:
        assert store.pair(pair).mark == "flagged"
    said = "\n".join(entries(path))
    assert f"Pair {pair}: flagged" in said
    assert "Find out why." in said


def test_dismissing_asks_why_and_the_log_has_both(qtbot, reading, path):
    table, detail = reading.examples.pairs.table, reading.examples.detail
    table.setFocus()
    qtbot.waitUntil(table.hasFocus, timeout=10_000)
    pair = detail.pair.id
    qtbot.keyClick(table, Qt.Key.Key_D)
    qtbot.waitUntil(detail._note.hasFocus, timeout=10_000)
    assert "Why is this pair dismissed?" in detail._note.placeholderText()
    qtbot.keyClicks(detail._note, "Nobody is 17.")
    qtbot.keyClick(detail._note, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: detail.pair.note == "Nobody is 17.", timeout=10_000)
    assert table.hasFocus()
    assert entries(path)[-2:] == [f"Pair {pair}: dismissed.", f"Pair {pair}: note “Nobody is 17.”."]
    # taking it back asks nothing
    qtbot.keyClick(table, Qt.Key.Key_D)
    qtbot.waitUntil(lambda: detail.pair.mark == "", timeout=10_000)
    assert table.hasFocus()


def test_undo_reaches_the_dismissal_from_the_field_for_its_reason(qtbot, reading):
    undo = reading.undo_stack.createUndoAction(reading)
    undo.setShortcut(QKeySequence.StandardKey.Undo)
    reading.addAction(undo)
    table, detail = reading.examples.pairs.table, reading.examples.detail
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_D)
    qtbot.waitUntil(detail._note.hasFocus, timeout=10_000)
    qtbot.waitUntil(lambda: detail.pair.mark == "dismissed", timeout=10_000)
    # what is written there is undone there
    qtbot.keyClicks(detail._note, "odd")
    qtbot.keyClick(detail._note, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert not detail._note.toPlainText()
    assert detail.pair.mark == "dismissed"
    qtbot.keyClick(detail._note, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: not detail.pair.mark, timeout=10_000)


def test_all_pages_tell_of_the_best_run_and_totals_agree(qtbot, opened, tmp_path):
    path = make_audit(tmp_path)
    with Store.open(path) as store:
        run_into(store, "uniform", seed=1, options={"samples": 20})
        runs = store.runs()
    assert runs[0].found > runs[1].found > 0
    workspace = opened(path)
    workspace.show_page(EXAMPLES)
    assert workspace.examples.runs.currentData() == runs[0].id
    total = sum(run.found for run in runs)
    # at the left is none that could be quoted; the page says that of all runs beside its run's
    assert f"{total:,}" not in standing(workspace, EXAMPLES)
    assert "examples found" in standing(workspace, EXAMPLES)
    assert workspace.examples._headline.text().startswith(f"{runs[0].found:,} ")
    together = pooled(runs)
    assert f"{total:,}" in together
    assert workspace.examples._effort.text().endswith(together)
    assert standing(workspace, COMPARE).endswith("2 runs")
    # a choice stays until there is another run
    workspace.examples.open_run(runs[1].id)
    workspace._session.runs_changed.emit()
    assert workspace.examples.runs.currentData() == runs[1].id


def test_titles_stand_at_one_height(qtbot, opened, tmp_path):
    workspace = opened(make_audit(tmp_path, runs=2))
    heights = {}
    for name in NAMES:
        workspace.show_page(name)
        qtbot.wait(1)
        page = workspace._pages.currentWidget()
        large = [each for each in page.findChildren(parts.Words) if each.isVisible()]
        large = [each for each in large if each.text() in (name, workspace.title)]
        if large:
            corner = large[0].mapTo(page, QPoint(0, large[0].height() // 2))
            heights[name] = (corner.x(), corner.y())
    assert len(heights) >= 6
    across, down = zip(*heights.values(), strict=True)
    assert set(across) == {theme.PAGE}
    # a title beside a button stands in the middle of its line
    assert max(down) - min(down) <= 3


def test_the_overview_has_the_board_page_and_five_tiles(qtbot, opened, path):
    with Store.open(path) as store:
        number = store.begin_run(RunSpec("estimate"))
        store.measure(number, (ROWS,))
        store.end_run(number, "done")
    overview = opened(path).overview
    qtbot.waitUntil(lambda: "3" in [each.number for each in overview.board.board.tiles])
    assert overview.board.isVisible()
    assert overview.figure.value.startswith("3 of 200 applicants")
    tiles = [each for each, card in overview.cards.items() if card.isVisible()]
    assert tiles == [each for each in Question if each is not Question.MITIGATION]
    corners = [overview.cards[each].pos() for each in tiles]
    assert corners[0].y() == corners[1].y() < corners[-1].y()
    overview.window().resize(1440, 900)
    cards = [overview.cards[each] for each in tiles]
    qtbot.waitUntil(lambda: cards[2].y() == cards[0].y())
    # the last line leaves no hole
    ends = [card.geometry().right() for card in (cards[2], cards[4])]
    assert cards[3].y() == cards[4].y() > cards[2].y()
    assert ends[0] == ends[1]
    overview.window().resize(800, 500)
    qtbot.waitUntil(lambda: overview.cards[tiles[1]].y() > overview.cards[tiles[0]].y())


def test_a_note_is_kept_when_the_audit_is_closed(qtbot, reading, path):
    detail = reading.examples.detail
    pair = detail.pair.id
    detail.edit_note()
    qtbot.keyClicks(detail._note, "Kept")
    reading.examples.pairs.table.setFocus()
    reading.close_audit()
    with Store.open(path) as store:
        assert store.pair(pair).note == "Kept"


def test_arrows_walk_the_pairs_and_the_nearest_record_follows(qtbot, reading):
    table, detail = reading.examples.pairs.table, reading.examples.detail
    first = detail.pair.id
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_Down)
    assert detail.pair.id != first
    qtbot.waitUntil(
        lambda: detail._table.model().index(0, 3).data() not in ("–", None), timeout=10_000
    )


def test_a_filter_narrows_the_table_and_is_taken_away(qtbot, reading):
    pairs = reading.examples.pairs
    everything = pairs.model.rowCount()
    filters = pairs.filters
    filters._name.setCurrentText("sex")
    # the fields show what is shown: everything
    assert not filters._adds.isEnabled()
    filters._value.setCurrentText("male")
    assert filters._adds.isEnabled()
    with qtbot.waitSignal(pairs.model.counted, timeout=10_000):
        filters._add()
    assert 0 < pairs.model.rowCount() < everything
    assert pairs.model.query.where == {"sex": "male"}
    chip = filters.findChild(QToolButton)
    with qtbot.waitSignal(pairs.model.counted, timeout=10_000):
        chip.click()
    assert pairs.model.rowCount() == everything
    with qtbot.waitSignal(pairs.model.counted, timeout=10_000):
        filters._mark.setCurrentText("⚑ Flagged")
    assert pairs._clear.isVisible()
    with qtbot.waitSignal(pairs.model.counted, timeout=10_000):
        pairs._clear.click()
    assert pairs.model.rowCount() == everything


def test_rows_are_copied_with_their_header(qtbot, qapp, reading):
    table = reading.examples.pairs.table
    table.setFocus()
    table.selectRow(2)
    reading.examples.pairs.copy()
    lines = qapp.clipboard().text().split("\n")
    assert len(lines) == 2
    heads = lines[0].split("\t")
    assert heads[:4] == ["Mark", "No.", "Decision", "Change"]
    assert {"Plausible", phrases.ROW_DISTANCE, "Typicality", "age", "sex"} <= set(heads)
    assert lines[1].split("\t")[heads.index("No.")] == str(reading.examples.pairs.model.pair(2).id)


def test_the_table_does_not_move_while_it_is_read(qtbot, opened, tmp_path):
    workspace = opened(make_audit(tmp_path, runs=0))
    workspace.show_page(EXAMPLES)
    pairs = workspace.examples.pairs
    hold = threading.Event()
    workspace.start_runs(FakeWorker(hold=hold), (RUN,))
    qtbot.waitUntil(lambda: pairs.model.rowCount() > 10, timeout=20_000)
    pairs.step(5)
    shown = pairs.model.rowCount()
    current = workspace.examples.detail.pair.id
    with qtbot.waitSignal(workspace.run_finished, timeout=20_000):
        hold.set()
    qtbot.waitUntil(pairs._fresh.isVisible, timeout=10_000)
    assert pairs.model.rowCount() == shown
    assert workspace.examples.detail.pair.id == current
    assert pairs._fresh.text().endswith("new")
    pairs._fresh.click()
    qtbot.waitUntil(pairs._fresh.isHidden, timeout=10_000)
    assert pairs.model.rowCount() > shown
    assert workspace.examples.detail.pair.id == current


def test_a_pair_is_told_in_a_sentence_and_side_by_side(path):
    with Store.open(path) as store:
        spec = store.spec
        for pair in store.pairs(PairQuery(), 0, 20):
            said = pairs.statement(spec, pair).sentence
            card = pairs.card(spec, pair, ("no", "yes").__getitem__)
            differing = [line.name for line in card.rows if line.changed]
            for name in differing:
                assert name in said
            assert set(differing) <= {"sex", "age"}
            assert len(card.rows) == len(spec.domain.attributes)
            assert "favourable" in said


def test_exports_are_written_and_logged(qtbot, reading, path, tmp_path):
    reading.show_page("Report")
    for export in FILES[:3]:
        target = tmp_path / export.name
        reading.report.export(export, target)
        qtbot.waitUntil(target.exists, timeout=20_000)
        qtbot.waitUntil(reading.report.save.isEnabled, timeout=20_000)
        assert target.stat().st_size
    assert any("retraining.csv" in entry for entry in entries(path))
    assert reading.report._saved.isVisible()
    assert "retraining.csv" in reading.report._saved.accessibleName()


def test_what_was_told_of_groups_and_proven_can_be_exported_once_it_was(qtbot, reading, tmp_path):
    def shown():
        cards = reading.report.files.cards.items()
        return {each.name for each, card in cards if not card.isHidden()}

    reading.show_page("Report")
    assert not shown() & {"groups.csv", "subgroups.csv", "certificate.fairdesk-proof"}
    run, *others = reading._session.runs
    told = msgspec.structs.replace(run, figures=(EXACT, rule_set([], 0.3, 0.2)))
    reading._session.runs = (told, *others)
    reading.report._tell()
    assert {"subgroups.csv", "certificate.fairdesk-proof"} <= shown()
    assert "groups.csv" not in shown()
    (certificate,) = (each for each in EXPORTS if each.needs is Proven)
    reading.report.export(certificate, tmp_path / "certificate.fairdesk-proof")
    qtbot.waitUntil(reading.report._banner.isVisible, timeout=20_000)
    assert not (tmp_path / "certificate.fairdesk-proof").exists()


def test_an_export_that_fails_says_so(qtbot, reading, tmp_path):
    reading.show_page("Report")
    reading.report.export(FILES[0], tmp_path / "no" / "such" / "folder.csv")
    qtbot.waitUntil(reading.report._banner.isVisible, timeout=20_000)
    assert reading.report.save.isEnabled()


def test_the_log_is_filtered_and_exported(qtbot, reading, path, tmp_path):
    reading.show_page("Audit log")
    log = reading.log
    qtbot.waitUntil(lambda: log._model.rowCount() > 0, timeout=10_000)
    # a long entry has several lines, a short one one
    head = log._table.horizontalHeader()
    head.setSectionResizeMode(1, head.ResizeMode.Interactive)
    log._table.setColumnWidth(1, 200)
    heights = [log._table.rowHeight(row) for row in range(log._proxy.rowCount())]
    long = [len(entry.what) > 60 for entry in log._model.entries]
    assert any(long)
    assert min(high for high, each in zip(heights, long, strict=True) if each) > min(heights)
    assert log._model.headerData(0, Qt.Orientation.Horizontal).startswith("Time (")
    bar = log._table.verticalScrollBar()
    assert bar.value() == bar.maximum()
    log._filter.setText(phrases.BEGUN.upper())
    assert log._proxy.rowCount() == 1
    log.export(tmp_path / "log.csv")
    text = (tmp_path / "log.csv").read_text(encoding="utf-8-sig")
    assert text.splitlines()[0] == "at (UTC),what,kind,the same for programs,link"
    assert log._model.entries[0].link in text
    assert phrases.BEGUN in text


def test_a_moved_or_changed_model_is_not_opened(path, tmp_path):
    with Store.open(path) as store:
        spec = store.spec
    with pytest.raises(MovedError, match=phrases.NOT_WHERE_IT_WAS):
        check_same(spec.model.sha256, tmp_path / "gone.keras")
    other = tmp_path / "other.keras"
    other.write_bytes(b"another model")
    with pytest.raises(MovedError, match=phrases.NOT_THE_AUDITED):
        check_same(spec.model.sha256, other)


def test_run_again_asks_for_the_model_when_it_was_moved(qtbot, reading):
    reading.runner.ask((RUN,))
    qtbot.waitUntil(reading._banner.isVisible, timeout=10_000)
    assert phrases.SHOW_WHERE in [each.text() for each in reading._banner.findChildren(QPushButton)]
    assert reading.bar._again.isVisible()


class Opener:
    """Remembers what it was asked to open."""

    def __init__(self):
        self.opened = []

    def open_model(self, path, **about):
        self.opened.append((path, about))

    def look_into(self, _path):
        return Contents("pickle")


@pytest.fixture
def fed(path, tmp_path):
    """A question whose model was fed by a file beside it; both have moved to another folder."""
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in ("model.pkl", "scaler.pkl"):
        (moved / name).write_bytes(name.encode())
    with Store.open(path) as store:
        spec = store.spec
    card = msgspec.structs.replace(
        spec.model,
        path=str(tmp_path / "model.pkl"),
        sha256=sha256(moved / "model.pkl"),
        companions=(
            Companion(str(tmp_path / "scaler.pkl"), sha256(moved / "scaler.pkl"), trusted=True),
        ),
    )
    return msgspec.structs.replace(spec, model=card), moved


def test_files_beside_a_moved_model_are_found_beside_it_or_asked_for(fed, tmp_path):
    spec, moved = fed
    opener = Opener()
    with pytest.raises(MovedError, match="The model file is not where") as caught:
        reopen(spec, {}, opener)
    places = {caught.value.lost: moved / "model.pkl"}
    reopen(spec, places, opener)
    ((path, about),) = opener.opened
    assert path == moved / "model.pkl"
    assert about["companions"] == [
        msgspec.structs.replace(spec.model.companions[0], path=str(moved / "scaler.pkl"))
    ]
    # it is elsewhere again, under another name
    (moved / "scaler.pkl").rename(tmp_path / "renamed.pkl")
    with pytest.raises(MovedError, match="The companion file “scaler") as caught:
        reopen(spec, places, opener)
    assert caught.value.lost == tmp_path / "scaler.pkl"
    reopen(spec, {**places, caught.value.lost: tmp_path / "renamed.pkl"}, opener)
    # and another file is not taken for it
    with pytest.raises(MovedError, match=phrases.NOT_THE_AUDITED):
        reopen(spec, {**places, caught.value.lost: moved / "model.pkl"}, opener)
    assert len(opener.opened) == 2


def test_an_environment_that_is_gone_is_told_with_a_way_on(fed):
    spec, moved = fed
    card = msgspec.structs.replace(spec.model, environment="scikit-learn 1.3.2, Python 3.11")
    spec = msgspec.structs.replace(spec, model=card)
    places = {
        Path(card.path): moved / "model.pkl",
        Path(card.companions[0].path): moved / "scaler.pkl",
    }
    with pytest.raises(ModelError, match="ran no longer exists") as caught:
        reopen(spec, places, Opener())
    assert "new audit" in caught.value.remedy


def test_where_a_file_is_now_is_asked_and_kept(qtbot, reading, monkeypatch, tmp_path):
    asked = []

    def reopened(_spec, places, _worker):
        asked.append(dict(places))
        if len(asked) < 3:
            lost = tmp_path / ("model.pkl", "scaler.pkl")[len(asked) - 1]
            raise MovedError("It is not where it was.", lost=lost, why="Gone.", remedy="Show it.")

    monkeypatch.setattr(runner, "reopen", reopened)
    monkeypatch.setattr(reading.runner, "_make_worker", FakeWorker)
    there = tmp_path / "there.pkl"
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(there), ""))
    with qtbot.waitSignal(reading.run_finished, timeout=30_000):
        reading.runner.ask((RUN,))
        for number in (1, 2):
            qtbot.waitUntil(lambda wanted=number: len(asked) == wanted, timeout=10_000)
            qtbot.waitUntil(reading._banner.isVisible, timeout=10_000)
            (button,) = (
                each for each in reading._banner.findChildren(QPushButton) if not each.isHidden()
            )
            button.click()
    assert asked[-1] == {tmp_path / "model.pkl": there, tmp_path / "scaler.pkl": there}


@pytest.fixture
def decided(tmp_path):
    """An audit of decisions that stand in a column of the data."""
    people = tmp_path / "people.csv"
    write_people(people)
    table = read_table(people)
    plain = spec_of(table, "credit", "yes", ("sex",))
    spec = msgspec.structs.replace(
        plain,
        predictions="job",
        model=input_check.card_of(table, "job"),
        mapping=input_check.mapping_of("cook or pilot"),
    )
    path = tmp_path / "decided.fairdesk"
    Store.create(path, spec, table).close()
    return path


def words_of(page):
    return [each.text() for each in page.findChildren(QLabel)]


def test_no_page_says_of_decisions_alone_what_a_model_does(qtbot, opened, decided):
    audit = opened(decided)
    qtbot.waitUntil(lambda: audit.overview.cards[Question.GROUPS].answer.known, timeout=20_000)
    said = []
    for name in audit.page_names:
        audit.show_page(name)
        for each in audit.findChildren(QWidget):
            if each.isVisibleTo(audit):
                said += [each.accessibleName(), each.accessibleDescription(), each.toolTip()]
                said.append(each.text() if isinstance(each, QLabel) else "")
    text = " ".join(said).lower()
    assert "model" in text
    assert [each for each in phrases.MODEL_ACTS if each in text] == []


def test_an_audit_of_decisions_tells_of_groups_and_searches_nothing(qtbot, opened, decided):
    audit = opened(decided)
    assert audit.asks_nobody
    groups = audit.overview.cards[Question.GROUPS]
    qtbot.waitUntil(lambda: groups.answer.known, timeout=20_000)
    assert groups.answer.said.label.endswith(" by sex")
    shown = [each for each, card in audit.overview.cards.items() if card.isVisibleTo(audit)]
    assert shown == [Question.GROUPS]
    assert "pairs" not in " ".join(words_of(audit.overview))
    assert audit.steps.item(NAMES.index(EXAMPLES)).isHidden()
    assert not audit.bar.isVisible()
    audit.requests.run_again()
    assert not audit.findChildren(AgainDialog)
    audit.overview._press()
    assert audit.groups.isVisible()
    tables = audit.groups.tables
    assert tables.isVisible()
    qtbot.waitUntil(lambda: len(tables.findChildren(QTableWidget)) == 2, timeout=20_000)
    names = [each.accessibleName() for each in tables.findChildren(QTableWidget)]
    assert names[0].startswith("Decision “")
    assert names[1].startswith("Recorded outcome “")
    assert all(each.endswith(", by sex") for each in names)
    audit.show_page(DATA)
    qtbot.waitUntil(lambda: COLUMNS in audit.data.view.shown, timeout=20_000)
    said = words_of(audit.data)
    assert "Decisions" in said
    # that of the data; there is no other file
    assert said.count("SHA-256") == 1
    roles = audit.data.view.shown[COLUMNS]
    told = {roles.item(row, 0).text(): roles.item(row, 5).text() for row in range(roles.rowCount())}
    assert told["sex"] == "protected"
    buttons = audit.report.findChildren(QPushButton)
    exports = [each.text().replace("&", "") for each in buttons if each.isVisibleTo(audit.report)]
    assert any("report" in each for each in exports)
    assert not any("pairs" in each for each in exports)
    seen = [each for each in audit.report.findChildren(QLabel) if each.isVisibleTo(audit.report)]
    assert not any("pairs" in each.text() for each in seen)


def test_the_bar_of_an_audit_of_decisions_rests_when_its_run_is_over(
    qtbot, opened, decided, worker
):
    audit = opened(decided)
    with qtbot.waitSignal(audit.run_finished, timeout=30_000):
        audit.start_runs(worker, (RunSpec("groups"),))
    qtbot.waitUntil(lambda: bool(audit._session.runs), timeout=10_000)
    bar = audit.bar
    assert bar.isVisible()
    assert bar._standing.text() == "done"
    shown = [each for each in (bar._hold, bar._stop, bar._again) if each.isVisible()]
    assert not shown, "there is nothing to stop, and no model to run again"


def test_the_groups_of_an_ordinary_audit_are_told(qtbot, reading):
    reading.show_page("Groups")
    tables = reading.groups.tables
    qtbot.waitUntil(lambda: len(tables.findChildren(QTableWidget)) > 1, timeout=20_000)
    names = [each.accessibleName() for each in tables.findChildren(QTableWidget)]
    assert all(each.startswith("Recorded outcome “") for each in names)
    assert {each.rpartition(", by ")[2] for each in names} >= {"sex", "age"}
    said = [each for each in words_of(reading.groups) if "impact ratio" in each]
    assert any("by sex" in each for each in said)


def test_run_again_opens_the_model_and_runs(qtbot, reading, monkeypatch, path):
    worker = FakeWorker()
    monkeypatch.setattr(reading.runner, "_make_worker", lambda: worker)
    monkeypatch.setattr(runner, "reopen", lambda *_: None)
    with qtbot.waitSignal(reading.run_finished, timeout=20_000):
        reading.runner.ask((RUN,))
    with Store.open(path) as store:
        assert [run.state for run in store.runs()] == ["done", "done"]
    qtbot.waitUntil(lambda: reading.examples.runs.count() == 2, timeout=10_000)
    reading.close_audit()
    assert worker.closed


def test_a_model_that_does_not_open_can_be_stopped(qtbot, reading, monkeypatch):
    worker, hangs = FakeWorker(), threading.Event()
    monkeypatch.setattr(reading.runner, "_make_worker", lambda: worker)
    monkeypatch.setattr(runner, "reopen", lambda *_: hangs.wait(10))
    reading.runner.ask((RUN,))
    assert reading.bar._stop.isVisible()
    # another run can be asked for meanwhile, and waits
    reading.requests.run_again()
    (dialog,) = reading.findChildren(AgainDialog)
    dialog.accept()
    assert len(reading.queue.waiting) == 2
    qtbot.mouseClick(reading.bar._stop, Qt.MouseButton.LeftButton)
    assert worker.closed
    assert reading.bar._again.isVisible()
    hangs.set()
    qtbot.wait(100)
    assert not reading.busy
    assert reading.queue.idle


def test_a_stop_is_shown_until_it_has_stopped(qtbot, reading):
    state = RunState(id=2, method="uniform", state="running", sufficient_alone=(0, 0))
    reading.bar.show_live(state, RUN)
    qtbot.mouseClick(reading.bar._stop, Qt.MouseButton.LeftButton)
    reading.bar.show_live(state, RUN)
    assert "stopping" in reading.bar._standing.text()
    assert not reading.bar._stop.isEnabled()
    reading.bar.show_opening("MAFT")
    assert reading.bar._stop.isEnabled()


def test_the_same_again_takes_the_next_seed(qtbot, reading):
    reading.requests.run_again()

    dialog = reading.findChild(AgainDialog)
    run = dialog.run()
    assert (run.method, run.seed, run.options) == ("uniform", 1, {"samples": 400})
    dialog.reject()


@pytest.mark.parametrize(
    ("budget", "share", "text"),
    [
        (Budget(), 0.25, "step 5 of 20"),
        (Budget(seconds=60), 0.5, "30 s of 1 min"),
        (Budget(seconds=60, queries=100), 0.9, "90 of 100 queries"),
        (Budget(seconds=10), 1.0, "30 s of 10 s"),
    ],
)
def test_the_budget_used_is_of_the_nearest_limit(budget, share, text):
    used, said = budget_used(budget, 30.0, 90, 5, 20)
    assert used == pytest.approx(share)
    assert said.replace("\u00a0", " ") == text


def test_one_step_alone_is_not_counted():
    assert budget_used(Budget(), 30.0, 90, 0, 1) == (0.0, "no limit")


def test_the_next_step_fits_what_there_is(path):
    with Store.open(path) as store:
        (record,) = store.runs()
    assert next_step(None, None, "applicants").page == ""
    assert next_step(record, record, "applicants").page == EXAMPLES
    failed = msgspec.structs.replace(record, state="failed")
    assert next_step(record, failed, "applicants").page == ""
    assert next_step(failed, record, "applicants").page == EXAMPLES


def test_everything_can_be_named(qtbot, reading):
    kinds = (QComboBox, QAbstractSpinBox, QPlainTextEdit, QTableView, QListWidget)
    for page in NAMES:
        reading.show_page(page)
        for kind in kinds:
            for each in reading.findChildren(kind):
                if each.isVisibleTo(reading):
                    assert each.accessibleName(), (page, each)
        for each in reading.findChildren(QLineEdit):
            if each.isVisibleTo(reading) and not isinstance(each.parent(), QAbstractSpinBox):
                assert each.accessibleName(), (page, each)
        for each in (*reading.findChildren(QPushButton), *reading.findChildren(QToolButton)):
            if each.isVisibleTo(reading):
                assert each.text() or each.accessibleName()
    reading.show_page(EXAMPLES)
    reading.examples.experts.set_open(opened=True)
    chart = reading.examples.chart
    qtbot.waitUntil(lambda: bool(chart.accessibleDescription()), timeout=10_000)
    assert "found" in chart.accessibleDescription()


def test_back_leads_through_the_pages_that_were_left(qtbot, reading):
    reading.show_page(OVERVIEW)
    reading.show_page(GROUPS)
    reading.show_pair(reading.examples.detail.pair.id)
    qtbot.waitUntil(reading.examples.isVisible, timeout=10_000)
    for name in (GROUPS, OVERVIEW, EXAMPLES):
        qtbot.keyClick(reading, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
        assert NAMES[reading._pages.currentIndex()] == name
    while reading._left:
        before = len(reading._left)
        qtbot.mouseClick(reading.overview, Qt.MouseButton.BackButton)
        assert len(reading._left) == before - 1
    assert not reading.back.isEnabled()
    qtbot.mouseClick(reading.overview, Qt.MouseButton.BackButton)


def test_pages_are_reached_by_keys(qtbot, reading):
    for number, _name in enumerate(NAMES, start=1):
        qtbot.keyClick(
            reading, Qt.Key(Qt.Key.Key_0 + number % 10), Qt.KeyboardModifier.ControlModifier
        )
        assert reading._pages.currentIndex() == number - 1
