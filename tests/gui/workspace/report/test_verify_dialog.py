"""The dialog that checks an audit again: what agrees, what differs, what was not looked at."""

import shutil
import sqlite3

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from fairdesk.app.audit import audit
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.cli.audit import question_of
from fairdesk.cli.commands import parse
from fairdesk.errors import FairDeskError
from fairdesk.files import resources
from fairdesk.gui.workspace.report.dialogs import CheckDialog
from fairdesk.report.verified import summary as verified


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small audit of a built-in sample, with its files."""
    folder = tmp_path_factory.mktemp("audited")
    sample = resources() / "samples" / "loanapp"
    asked = parse(
        [
            *("audit", "--data", str(sample / "loanapp.csv")),
            *("--model", str(sample / "loanapp_pipeline.joblib")),
            *("--label", "approved", "--favourable", "yes"),
            *("--protected", "race", "--protected", "sex"),
            *("--method", "uniform", "--seconds", "3", "--out", str(folder)),
        ]
    )
    worker = Worker()
    try:
        audit(worker, question_of(asked), folder, lambda _state: None)
    finally:
        worker.close()
    return folder


@pytest.fixture
def opened(qtbot, made, tmp_path):
    """Open the dialog on a copy of the audit; gives it and the copy's path."""
    path = tmp_path / "audit.fairdesk"
    shutil.copy(made / "audit.fairdesk", path)
    with Store.read(path) as store:
        spec = store.spec
    dialog = CheckDialog(path, spec)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog, path


def states(dialog):
    return {each.name: verified.state(each) for each in dialog.account.checks}


def test_an_untouched_audit_differs_in_nothing(qtbot, opened, monkeypatch, tmp_path):
    dialog, path = opened
    before = path.read_bytes()
    qtbot.mouseClick(dialog.check, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.account is not None)
    assert dialog.account.holds, states(dialog)
    assert "MISMATCH" not in states(dialog).values()
    assert dialog.results.isVisible()
    assert dialog.results.rowCount() == len(dialog.account.checks)
    assert path.read_bytes() == before
    record = tmp_path / "record.json"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(record), ""))
    dialog.save.click()
    qtbot.waitUntil(record.exists)


def test_a_changed_finding_is_shown_first(qtbot, opened):
    dialog, path = opened
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE finding SET row_score = row_score / 2 WHERE id = 1")
    connection.close()
    dialog.check.click()
    qtbot.waitUntil(lambda: dialog.account is not None)
    assert not dialog.account.holds
    assert dialog.results.item(0, 0).text() == "✗ mismatch"


def test_without_data_and_model_it_says_what_was_not_checked(qtbot, opened):
    dialog, _path = opened
    dialog.data.clear()
    dialog.model.clear()
    dialog.check.click()
    qtbot.waitUntil(lambda: dialog.account is not None)
    assert dialog.account.holds
    assert "not checked" in states(dialog).values()


def test_a_missing_manifest_is_told_and_nothing_is_lost(qtbot, opened, tmp_path):
    dialog, _path = opened
    dialog.manifest.setText(str(tmp_path / "none.json"))
    dialog.check.click()
    qtbot.waitUntil(dialog.banner.isVisible)
    assert dialog.check.isEnabled()
    assert dialog.account is None


@pytest.mark.parametrize("everything", [False, True])
def test_every_box_of_a_certificate_is_proven_again_where_that_is_asked_for(
    qtbot, made, monkeypatch, everything
):
    with Store.read(made / "audit.fairdesk") as store:
        spec = store.spec
    plain = CheckDialog(made / "audit.fairdesk", spec)
    dialog = CheckDialog(made / "audit.fairdesk", spec, certified=True)
    asked = []

    def verify(_worker, recheck, *_more):
        asked.append(recheck.everything)
        raise FairDeskError("That is enough.")

    monkeypatch.setattr(verified, "verify", verify)
    for each in (plain, dialog):
        qtbot.addWidget(each)
        each.show()
    assert not plain.everything.isVisible()
    assert dialog.everything.isVisible()
    if everything:
        dialog.everything.click()
    dialog.check.click()
    qtbot.waitUntil(dialog.banner.isVisible)
    assert asked == [everything]


def test_cancel_ends_a_check(qtbot, opened):
    dialog, _path = opened
    dialog.check.click()
    dialog.busy.cancelled.emit()
    qtbot.waitUntil(dialog.check.isEnabled)
    assert dialog.account is None
