"""The dialog that asks for a key: it opens it, or says why not, and keeps nothing."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLineEdit

from fairdesk.gui.workspace.report.dialogs import SignDialog
from tests.report.keys import PASSPHRASE, make_key


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "ada.p12"
    path.write_bytes(make_key()[0])
    return path


@pytest.fixture
def dialog(qtbot, tmp_path):
    window = SignDialog(tmp_path)
    qtbot.addWidget(window)
    window.show()
    return window


def test_a_key_and_its_passphrase_are_enough(qtbot, dialog, key_file, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(key_file), ""))
    assert not dialog.sign.isEnabled()
    qtbot.mouseClick(dialog.choose, Qt.MouseButton.LeftButton)
    qtbot.keyClicks(dialog.passphrase, PASSPHRASE)
    assert dialog.passphrase.echoMode() == QLineEdit.EchoMode.Password
    with qtbot.waitSignal(dialog.accepted):
        qtbot.keyClick(dialog.passphrase, Qt.Key.Key_Return)
    assert dialog.key.holder == "Ada Auditor (Fair & Co)"
    assert not dialog.passphrase.text()


def test_a_wrong_passphrase_is_told_and_can_be_put_right(qtbot, dialog, key_file):
    dialog.file.setText(str(key_file))
    dialog.passphrase.setText("wrong")
    dialog.sign.click()
    qtbot.waitUntil(dialog.banner.isVisible)
    assert dialog.isVisible()
    assert dialog.key is None
    dialog.passphrase.setText(PASSPHRASE)
    with qtbot.waitSignal(dialog.accepted):
        dialog.sign.click()
    assert dialog.key is not None


def test_a_missing_file_is_told(qtbot, dialog, tmp_path):
    dialog.file.setText(str(tmp_path / "none.p12"))
    dialog.sign.click()
    qtbot.waitUntil(dialog.banner.isVisible)
    assert dialog.sign.isEnabled()
