"""The start page's samples: a finished audit is opened at once, its report made in sight."""

import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices

from fairdesk.app import report
from fairdesk.audit.sandbox import kernel_cache
from fairdesk.errors import FairDeskError
from fairdesk.gui.start_page import RecentCard, StartPage
from fairdesk.samples import samples

SAMPLE = samples()[0]


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
        qtbot.waitUntil(lambda: len(page.findChildren(RecentCard)) == len(paths))  # noqa: B023
        cards = page.findChildren(RecentCard)
        assert len(cards) == len(paths)
        assert page._recents_title.isVisible() == bool(paths)
        for card in cards[-1:]:
            assert card.geometry().right() == right.geometry().right()
    page.resize(600, 800)
    qtbot.waitUntil(lambda: left.y() < right.y())


def test_a_finished_audit_is_asked_for_at_once(qtbot, page):
    card = page.samples[SAMPLE.key]
    with qtbot.waitSignal(page.looked) as looked:
        press(qtbot, card.look)
    assert looked.args == [SAMPLE]


def test_its_report_is_made_in_sight_and_shown(qtbot, page, monkeypatch):
    shown, go = [], threading.Event()
    monkeypatch.setattr(QDesktopServices, "openUrl", shown.append)

    def finished_report(sample):
        go.wait(10)
        return sample.finished_report

    monkeypatch.setattr(report, "finished_report", finished_report)
    card, other = page.samples[SAMPLE.key], page.samples[samples()[1].key]
    press(qtbot, card.report)
    assert card.busy.isVisible()
    assert not card.report.isEnabled()
    assert other.busy.isHidden()
    # the menu may ask once more
    card.show_report()
    go.set()
    qtbot.waitUntil(card.busy.isHidden)
    qtbot.waitUntil(lambda: bool(shown))
    assert [url.toLocalFile() for url in shown] == [str(SAMPLE.finished_report)]
    assert card.report.isEnabled()


def test_a_report_that_cannot_be_made_is_told(qtbot, page, monkeypatch):
    def fail(_sample):
        raise FairDeskError("Alas, no report.")

    monkeypatch.setattr(report, "finished_report", fail)
    press(qtbot, page.samples[SAMPLE.key].report)
    qtbot.waitUntil(page.banner.isVisible)
    assert "Alas" in page.banner.accessibleName()
    assert page.samples[SAMPLE.key].report.isEnabled()


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
