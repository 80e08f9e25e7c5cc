"""Dialogs of the Report page: which contents it shows, and which key signs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QEvent, QSignalBlocker, Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from fairdesk.audit.store.records import Choice
from fairdesk.audit.store.store import Store
from fairdesk.errors import FairDeskError
from fairdesk.gui.kit import fields, hints, layouts, parts, theme
from fairdesk.gui.kit.dropping import ask_open
from fairdesk.gui.kit.threads import in_background
from fairdesk.gui.workspace.session.session import Session
from fairdesk.report.content.choosing import Part
from fairdesk.report.content.choosing import parts as parts_of
from fairdesk.report.document import whole_report
from fairdesk.report.provenance.signing import Key, open_key, read_key

_KEY = Qt.ItemDataRole.UserRole
_STAYS = "always included"


class ContentsDialog(QDialog):
    """Shows everything that the report could hold, and asks what of it."""

    def __init__(self, session: Session, choice: Choice, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choice = choice
        #: Per part whether it is shown when nothing is said about it.
        self._usual: dict[str, bool] = {}
        self.setWindowTitle("Contents of the report")
        self.tree = QTreeWidget()
        self.tree.setAccessibleName("Sections, charts and tables of the report")
        self.tree.setHeaderLabels(["Section, chart or table", ""])
        self.tree.setUniformRowHeights(True)
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        head = self.tree.header()
        head.setStretchLastSection(False)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        head.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self._tint()
        self.busy = parts.Busy()
        self.banner = parts.Banner()
        self.use = parts.push_button("&Use these")
        self.usual = parts.push_button(
            "&Default contents",
            self._reset,
            tip="Select what a report of this type shows by default.",
        )
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.buttons.addButton(self.use, QDialogButtonBox.ButtonRole.AcceptRole)
        self.buttons.addButton(self.usual, QDialogButtonBox.ButtonRole.ResetRole)
        layouts.column(
            parts.quiet(
                "Omitted parts are listed in the report. Omitting a section also omits its "
                "charts and tables."
            ),
            self.banner,
            self.busy,
            layouts.grow(self.tree),
            self.buttons,
            on=self,
            margin=None,
            spacing=theme.GAP,
        )
        self.use.setEnabled(False)
        self.usual.setEnabled(False)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.tree.itemChanged.connect(self._changed)
        parts.resize_on_screen(self, 720, 640)
        self._read(session)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if theme.palette_changed(event):
            self._tint()

    def _tint(self) -> None:
        """Let the edges of empty boxes be seen: the style makes them of the window's colour."""
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Window, QColor(theme.colours().quiet))
        self.tree.viewport().setPalette(palette)

    @property
    def choice(self) -> Choice:
        """The choice with what is checked now."""
        known = {key: item for key, item in self._items().items() if key in self._usual}
        left_out = [key for key in self._choice.left_out if key not in known]
        added = [key for key in self._choice.added if key not in known]
        for key, item in known.items():
            checked = item.checkState(0) is Qt.CheckState.Checked
            if checked != self._usual[key]:
                (added if checked else left_out).append(key)
        return msgspec.structs.replace(self._choice, left_out=tuple(left_out), added=tuple(added))

    def show_parts(self, listed: Sequence[Part], usual: Mapping[str, bool]) -> None:
        """Show what the report could hold.

        Parameters
        ----------
        listed : sequence of Part
            In the order of the report.
        usual : dict of str to bool
            Per key whether it is shown when nothing is said about it.
        """
        self._usual = {part.key: usual[part.key] for part in listed if not part.required}
        sections: dict[str, QTreeWidgetItem] = {}
        with QSignalBlocker(self.tree):
            self.tree.clear()
            for part in listed:
                section, _, block = part.key.partition("/")
                above = sections.get(section) if block else None
                item = QTreeWidgetItem([part.title, _STAYS if part.required else ""])
                item.setData(0, _KEY, part.key)
                item.setToolTip(0, hints.plain(part.title))
                if above is None:
                    self.tree.addTopLevelItem(item)
                    sections[section] = item
                else:
                    above.addChild(item)
                self._check(item, checked=part.required or self._wanted(part.key))
                if part.required:
                    item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsUserCheckable)
                elif not usual[part.key]:
                    item.setText(1, "optional")
            for item in sections.values():
                self._allow_below(item)
            self.tree.expandAll()
        if sections:
            self.tree.setCurrentItem(next(iter(sections.values())))
        for button in (self.use, self.usual):
            button.setEnabled(True)
        self.tree.setFocus()

    def _read(self, session: Session) -> None:
        path, choice = session.path, self._choice
        bare = msgspec.structs.replace(choice, left_out=(), added=())

        def read() -> tuple[tuple[Part, ...], dict[str, bool]]:
            store = Store.open(path)
            try:
                report = whole_report(store, choice)
            finally:
                store.close()
            usual = {part.key: part.shown for part in parts_of(report, bare)}
            return parts_of(report, choice), usual

        self.busy.say("Listing the contents…")
        in_background(self, read, self._take, self._fail)

    def _take(self, found: tuple[tuple[Part, ...], dict[str, bool]]) -> None:
        self.busy.say("")
        self.show_parts(*found)

    def _fail(self, error: FairDeskError) -> None:
        self.busy.say("")
        self.banner.tell(error)

    def _wanted(self, key: str) -> bool:
        """Whether a part is wanted, whatever becomes of its section."""
        usual = self._usual.get(key, True)
        return (key in self._choice.added) or (usual and key not in self._choice.left_out)

    def _reset(self) -> None:
        for key, item in self._items().items():
            if key in self._usual:
                self._check(item, checked=self._usual[key])

    def _changed(self, item: QTreeWidgetItem) -> None:
        with QSignalBlocker(self.tree):
            self._allow_below(item)

    @staticmethod
    def _allow_below(section: QTreeWidgetItem) -> None:
        """Switch off what goes with a section that is left out."""
        for line in _below(section):
            line.setDisabled(section.checkState(0) is not Qt.CheckState.Checked)

    @staticmethod
    def _check(item: QTreeWidgetItem, *, checked: bool) -> None:
        item.setCheckState(0, Qt.CheckState.Checked if checked else Qt.CheckState.Unchecked)

    def _items(self) -> dict[str, QTreeWidgetItem]:
        """Return all lines by their keys, in their order."""
        root = self.tree.invisibleRootItem()
        lines = (line for section in _below(root) for line in (section, *_below(section)))
        return {str(line.data(0, _KEY)): line for line in lines}


def _below(item: QTreeWidgetItem) -> list[QTreeWidgetItem]:
    found = (item.child(i) for i in range(item.childCount()))
    return [line for line in found if line is not None]


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
        self.file = fields.line(changed=self._tell)
        self.choose = parts.push_button("C&hoose…", self._choose)
        self.passphrase = fields.line()
        self.passphrase.setEchoMode(QLineEdit.EchoMode.Password)
        self.banner = parts.Banner()
        self.busy = parts.Busy(steady=True)
        self.sign = parts.push_button("&Sign and export…", self._open)
        self._lay_out()
        self._tell()
        parts.resize_on_screen(self, 560, 380)

    def _lay_out(self) -> None:
        show = parts.push_button("Sho&w", self._show, name="Show the passphrase", checkable=True)
        cancel = parts.push_button("Cancel", self.reject)
        buttons = parts.answers(cancel, self.sign)
        layouts.column(
            parts.title("Sign a report"),
            parts.quiet(_WHAT),
            self.banner,
            fields.with_button("&Key file", self.file, self.choose),
            fields.with_button("&Passphrase", self.passphrase, show),
            layouts.stretch(),
            self.busy,
            buttons,
            on=self,
            margin=theme.WIDE,
            spacing=theme.GAP,
        )
        # once it is in the dialog: else Return in a field would press another
        self.sign.setDefault(True)
        parts.in_order(self.file, self.choose, self.passphrase, show, self.sign, cancel)

    def _show(self, on: bool) -> None:  # noqa: FBT001 - Qt's signal
        mode = QLineEdit.EchoMode.Normal if on else QLineEdit.EchoMode.Password
        self.passphrase.setEchoMode(mode)

    def _tell(self) -> None:
        self.sign.setEnabled(bool(self.file.text().strip()))

    def _choose(self) -> None:
        path = ask_open(self, "Signing certificate", self._folder, _KINDS)
        if path is not None:
            self.file.setText(str(path))
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
