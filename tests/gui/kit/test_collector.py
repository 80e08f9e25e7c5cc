"""Garbage is collected in the window's thread only."""

import gc
import threading

import pytest

from fairdesk.gui.app import Collector


class Circle:
    """Refers to itself, and notes in which thread it went."""

    def __init__(self, gone):
        self.me = self
        self.gone = gone

    def __del__(self):
        self.gone.append(threading.get_ident())


@pytest.fixture
def collector(qapp):
    collector = Collector(qapp)
    yield collector
    collector.deleteLater()
    gc.enable()


def test_a_busy_thread_deletes_nothing_of_the_windows(qtbot, collector):
    gone, circles, more = [], 2_000, []

    def work():
        for _ in range(circles):
            Circle(gone)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not gone

    def collected():
        # what earlier windows leave is deleted meanwhile, and counts against what is made
        more.extend([] for _ in range(1_000))
        return len(gone) == circles

    qtbot.waitUntil(collected)
    assert set(gone) == {threading.get_ident()}
