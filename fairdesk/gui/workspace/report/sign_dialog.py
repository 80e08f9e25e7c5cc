"""“Sign…”: which key, opened with which passphrase. The key is used and never kept."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QLineEdit,
    QPushButton,
    QWidget,
)

from fairdesk.errors import FairDeskError
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.threads.background import in_background
from fairdesk.report.provenance.signing import Key, open_key, read_key

_KINDS = "Signing certificates (*.p12 *.pfx);;All files (*)"
_WHAT = (
    "A signature lets anyone check later whether the report is still, byte for byte, what "
    "you signed. It requires your signing certificate with its private key, in a .p12 or "
    ".pfx file; the certificate issuer of your organisation can provide one. The report and "
    "its manifest are both signed."
)


class SignDialog(QDialog):
    """Asks for a key, and opens it.

    Attributes
    ----------
    key : Key, optional
        The key, once the dialog was accepted.
    """

    def __init__(self, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.key: Key | None = None
        self._folder = folder
        self.setWindowTitle("Sign a report")
        self.file = QLineEdit()
        self.choose = QPushButton("C&hoose…")
        self.passphrase = QLineEdit()
        self.passphrase.setEchoMode(QLineEdit.EchoMode.Password)
        self.banner = parts.Banner()
        self.busy = parts.Busy(steady=True)
        self.sign = QPushButton("&Sign and export…")
        self._cancel = QPushButton("Cancel")
        self._lay_out()
        self.file.textChanged.connect(self._tell)
        self.choose.clicked.connect(self._choose)
        self.sign.clicked.connect(self._open)
        self._cancel.clicked.connect(self.reject)
        self._tell()
        parts.resize_on_screen(self, 560, 380)

    def _lay_out(self) -> None:
        row = layouts.row(
            layouts.grow(parts.labelled("&Key file", self.file)),
            layouts.at(self.choose, Qt.AlignmentFlag.AlignBottom),
            spacing=theme.NEAR,
        )
        show = QPushButton("Sho&w")
        show.setCheckable(True)
        show.setAccessibleName("Show the passphrase")
        show.toggled.connect(self._show)
        secret = layouts.row(
            layouts.grow(parts.labelled("&Passphrase", self.passphrase)),
            layouts.at(show, Qt.AlignmentFlag.AlignBottom),
            spacing=theme.NEAR,
        )
        buttons = QDialogButtonBox()
        buttons.addButton(self._cancel, QDialogButtonBox.ButtonRole.RejectRole)
        buttons.addButton(self.sign, QDialogButtonBox.ButtonRole.ActionRole)
        for each in (self.choose, show, self._cancel):
            each.setAutoDefault(False)
        self.sign.setDefault(True)
        layouts.column(
            parts.title("Sign a report"),
            parts.quiet(_WHAT),
            self.banner,
            row,
            secret,
            layouts.stretch(),
            self.busy,
            buttons,
            on=self,
            margin=theme.WIDE,
            spacing=theme.GAP,
        )
        parts.in_order(self.file, self.choose, self.passphrase, show, self.sign, self._cancel)

    def _show(self, on: bool) -> None:  # noqa: FBT001 - Qt's signal
        mode = QLineEdit.EchoMode.Normal if on else QLineEdit.EchoMode.Password
        self.passphrase.setEchoMode(mode)

    def _tell(self) -> None:
        self.sign.setEnabled(bool(self.file.text().strip()))

    def _choose(self) -> None:
        name, _kind = QFileDialog.getOpenFileName(
            self, "Signing certificate", str(self._folder), _KINDS
        )
        if name:
            self.file.setText(name)
            self.passphrase.setFocus()

    def _open(self) -> None:
        path, passphrase = Path(self.file.text().strip()).expanduser(), self.passphrase.text()
        self.banner.clear()
        self._set_busy("Opening the signing certificate…")
        in_background(self, lambda: open_key(read_key(path), passphrase), self._take, self._fail)

    def _set_busy(self, text: str) -> None:
        self.busy.say(text)
        for each in (self.file, self.choose, self.passphrase, self.sign):
            each.setEnabled(not text)

    def _take(self, key: Key) -> None:
        self.key = key
        self.passphrase.clear()
        self.accept()

    def _fail(self, error: FairDeskError) -> None:
        self._set_busy("")
        self.banner.tell(error)
        self.passphrase.setFocus()
        self.passphrase.selectAll()
