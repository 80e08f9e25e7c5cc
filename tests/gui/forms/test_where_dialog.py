"""Where runs are made: chosen, remembered, and tried before."""

import pytest

from fairdesk.audit.worker.client import Worker
from fairdesk.cluster.connection import Member
from fairdesk.cluster.members import Examined
from fairdesk.cluster.worker import ClusterWorker, worker_for
from fairdesk.errors import ClusterError
from fairdesk.gui.forms.dialogs import WhereDialog, place_text

ADDRESS = "tls://cluster:8786"
READY = Examined(Member("tls://a:1", "a", 4, 8 << 30, 0.0))
OTHER = Examined(Member("tls://b:1", "b", 2, 0, 0.0), differing=("numpy 1.0 instead of 2.0",))


@pytest.fixture
def make(qtbot, themed):
    from PySide6.QtWidgets import QWidget

    above = QWidget()
    qtbot.addWidget(above)
    yield lambda cluster="", ask=lambda place: (READY, OTHER): WhereDialog(cluster, above, ask)
    above.close()


@pytest.mark.parametrize("cluster", ["", "local", ADDRESS])
def test_what_was_chosen_is_shown_again(make, cluster):
    dialog = make(cluster)
    assert dialog.cluster() == cluster
    assert dialog.ok_button.isEnabled()
    assert dialog.test.isEnabled() == bool(cluster)


def test_a_cluster_needs_an_address(make):
    dialog = make()
    dialog.elsewhere.setChecked(True)
    assert not dialog.ok_button.isEnabled()
    dialog.address.setText("ftp://x")
    assert not dialog.ok_button.isEnabled()
    assert not dialog.test.isEnabled()
    dialog.address.setText(ADDRESS)
    assert dialog.ok_button.isEnabled()


def test_workers_are_listed_with_what_differs(make, qtbot):
    dialog = make(ADDRESS)
    dialog.test.click()
    qtbot.waitUntil(lambda: dialog.table.rowCount() == 2)
    assert "1 of 2" in dialog.outcome.text()
    assert "4 cores" in dialog.outcome.text()
    assert dialog.table.item(0, 1).text() == "4"
    assert OTHER.differing[0] in dialog.table.item(1, 3).text()
    assert "only when all of them can" in dialog.outcome.text()
    # another address was not tried
    dialog.address.setText("tls://other:8786")
    assert dialog.table.rowCount() == 0
    assert not dialog.outcome.text()


def test_a_long_state_is_in_as_many_lines_as_it_takes(make, qtbot):
    differing = tuple(f"library-{number} 1.0.0 instead of 2.0.0" for number in range(5))
    many = Examined(Member("tls://c:1", "c", 2, 0, 0.0), differing=differing)
    dialog = make(ADDRESS, lambda _place: (READY, many))
    with qtbot.waitExposed(dialog):
        dialog.show()
    dialog.test.click()
    qtbot.waitUntil(lambda: dialog.table.rowCount() == 2)
    assert "only when" in dialog.outcome.text()
    qtbot.waitUntil(lambda: dialog.table.rowHeight(1) > dialog.table.rowHeight(0))
    assert dialog.table.horizontalHeader().length() <= dialog.table.viewport().width()


def test_what_is_wrong_with_a_cluster_is_said(make, qtbot):
    def refuse(place):
        raise ClusterError(f"Nothing answers at {place}.")

    dialog = make(ADDRESS, refuse)
    dialog.show()
    dialog.test.setFocus()
    dialog.test.click()
    qtbot.waitUntil(lambda: bool(dialog.outcome.text()))
    assert ADDRESS in dialog.outcome.text()
    assert dialog.address.hasFocus()
    assert dialog.test.isEnabled()


def test_a_worker_is_made_for_the_place():
    here, there = worker_for(""), worker_for("local:2")
    try:
        assert type(here) is Worker
        assert isinstance(there, ClusterWorker)
    finally:
        here.close()
        there.close()


def test_every_place_is_said_in_words_of_its_own():
    said = {place_text(each) for each in ("", "local", "local:1", "local:3", ADDRESS)}
    assert len(said) == 5
    assert any(ADDRESS in each for each in said)
