"""The start page's samples: a finished audit is made once, in sight, and opened."""

import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices

from fairdesk import files
from fairdesk.app import finished
from fairdesk.audit.sandbox import kernel_cache
from fairdesk.audit.store.records import RunState
from fairdesk.errors import FairDeskError
from fairdesk.gui.start_page import RecentCard, StartPage
from fairdesk.samples import samples

SAMPLE = samples()[0]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(files.platformdirs, "user_data_path", lambda *_, **__: tmp_path)


@pytest.fixture
def made(monkeypatch):
    """Let an audit be made as soon as the test says so."""
    go, asked = threading.Event(), []

    def finish(sample, watch, stopped):
        asked.append(sample.key)
        watch(RunState(1, "certify", "running", phase="certify"))
        while not go.wait(0.01):
            if stopped():
                return None
        sample.finished.parent.mkdir(parents=True)
        sample.finished.write_bytes(b"an audit")
        sample.finished_report.write_bytes(b"%PDF")
        return sample.finished

    monkeypatch.setattr(finished, "finish", finish)
    return go, asked


@pytest.fixture
def page(qtbot):
    page = StartPage()
    qtbot.addWidget(page)
    page.show()
    return page


def press(qtbot, button):
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_cards_stand_beside_each_other_and_leave_no_empty_half(qtbot, page, tmp_path):
    page.resize(1280, 800)
    left, right = (page.samples[each.key] for each in samples()[:2])
    for paths in ((), (tmp_path / "a.fairdesk",), (tmp_path / "b.fairdesk", tmp_path / "c")):
        page.show_recents((path, None) for path in paths)
        qtbot.waitUntil(lambda: left.y() == right.y() and left.x() < right.x())
        cards = page.findChildren(RecentCard)
        qtbot.waitUntil(lambda: len(page.findChildren(RecentCard)) == len(page._cards))
        cards = page.findChildren(RecentCard)
        assert len(cards) == len(paths)
        assert page._recents_title.isVisible() == bool(paths)
        for card in cards[-1:]:
            assert card.geometry().right() == right.geometry().right()
    page.resize(600, 800)
    qtbot.waitUntil(lambda: left.y() < right.y())


def test_a_finished_audit_is_made_in_sight_and_then_opened(qtbot, page, made):
    go, asked = made
    card, other = page.samples[SAMPLE.key], page.samples[samples()[1].key]
    assert "Make" in card.look.text()
    assert "in ten minutes at most" in card._told.text()
    assert card.report.isHidden()
    press(qtbot, card.look)
    # it says what it does, and for how long, from the first moment
    assert card.busy.isVisible()
    assert not card.look.isEnabled()
    assert other.busy.isHidden()
    qtbot.waitUntil(lambda: "Certification" in card.busy._words.text())
    with qtbot.waitSignal(page.looked) as looked:
        go.set()
    assert looked.args == [SAMPLE.finished]
    qtbot.waitUntil(card.busy.isHidden)
    assert "Open" in card.look.text()
    assert card.report.isVisible()
    # from now on it is opened at once
    with qtbot.waitSignal(page.looked):
        press(qtbot, card.look)
    assert asked == [SAMPLE.key]


def test_whoever_left_the_start_page_is_not_taken_back(qtbot, page, made):
    go, _ = made
    press(qtbot, page.samples[SAMPLE.key].look)
    page.hide()
    opened = []
    page.looked.connect(opened.append)
    with qtbot.waitSignal(page.finishing.done):
        go.set()
    assert opened == []


def test_making_can_be_cancelled(qtbot, page, made):
    card = page.samples[SAMPLE.key]
    press(qtbot, card.look)
    card.busy.cancelled.emit()
    qtbot.waitUntil(lambda: not page.finishing.busy)
    qtbot.waitUntil(card.busy.isHidden)
    assert "Make" in card.look.text()
    assert card.look.isEnabled()


def test_what_cannot_be_made_is_told(qtbot, page, monkeypatch):
    def fail(*_args):
        raise FairDeskError("Alas, no audit.")

    monkeypatch.setattr(finished, "finish", fail)
    press(qtbot, page.samples[SAMPLE.key].look)
    qtbot.waitUntil(page.banner.isVisible)
    assert "Alas" in page.banner.accessibleName()
    assert page.samples[SAMPLE.key].look.isEnabled()


def test_the_first_report_there_is_is_shown(qtbot, page, made, monkeypatch):
    shown = []
    monkeypatch.setattr(QDesktopServices, "openUrl", shown.append)
    assert page.report is None
    made[0].set()
    with qtbot.waitSignal(page.looked):
        press(qtbot, page.samples[SAMPLE.key].look)
    page.report.show_report()
    assert [url.toLocalFile() for url in shown] == [str(SAMPLE.finished_report)]


def test_how_far_the_compiler_is_stands_on_the_page_until_it_is_done(page, monkeypatch):
    state = [(3, 16)]
    monkeypatch.setattr(kernel_cache, "progress", lambda: state[-1])
    monkeypatch.setattr(kernel_cache, "is_made", lambda: True)
    page.show_preparing()
    assert page.preparing.isVisible()
    assert "3 of 16" in page.preparing.text()
    state.append(None)
    page.show_preparing()
    assert page.preparing.isHidden()
    assert not page._compiling.isActive()
