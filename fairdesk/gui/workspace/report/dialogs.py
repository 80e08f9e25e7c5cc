"""Dialogs of the Report page: its contents, the key that signs it, and what checks the audit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import Choice
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.checks import VerifyRequest
from fairdesk.audit.worker.client import Worker
from fairdesk.certify.proof.verify.statements import Check
from fairdesk.errors import FairDeskError, TrustRequiredError
from fairdesk.gui.kit import fields, hints, layouts, parts, theme
from fairdesk.gui.kit.dropping import ask_open, ask_save
from fairdesk.gui.kit.tables import TextTable
from fairdesk.gui.kit.threads import Task, in_background
from fairdesk.gui.workspace.session.session import Session
from fairdesk.report.content.choosing import Part
from fairdesk.report.content.choosing import parts as parts_of
from fairdesk.report.document import whole_report
from fairdesk.report.provenance.signing import Key, open_key, read_key
from fairdesk.report.verified import summary as verified
from fairdesk.report.verified.summary import VerificationReport
from fairdesk.wording import words

T = TypeVar("T")

_KEY = Qt.ItemDataRole.UserRole
_STAYS = "always included"


class WorkDialog(QDialog):
    """A dialog that works beside the window's thread: it says at what, and what went wrong.

    Attributes
    ----------
    resting : tuple[QWidget, ...]
        What is off meanwhile.
    """

    def __init__(self, title: str, parent: QWidget | None, *, cancel: bool = False) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.banner, self.busy = parts.Banner(), parts.Busy(cancel=cancel, steady=True)
        self.resting: tuple[QWidget, ...] = ()
        self._task: Task | None = None

    def work(self, text: str, call: Callable[[], T], done: Callable[[T], object]) -> None:
        """Begin to work, and say at what."""
        self.banner.clear()

        def take(result: T) -> None:
            self._rest()
            done(result)

        self._set_busy(text)
        self._task = in_background(self, call, take, self._fail)

    def _rest(self) -> None:
        self._task = None
        self._set_busy("")

    def _set_busy(self, text: str) -> None:
        self.busy.say(text)
        for each in self.resting:
            each.setEnabled(not text)

    def _fail(self, error: FairDeskError) -> None:
        self._rest()
        self.banner.tell(error)


class ContentsDialog(WorkDialog):
    """Shows everything that the report could hold, and asks what of it."""

    def __init__(self, session: Session, choice: Choice, parent: QWidget | None = None) -> None:
        super().__init__("Contents of the report", parent)
        self._choice = choice
        #: Per part whether it is shown when nothing is said about it.
        self._usual: dict[str, bool] = {}
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
        self.resting = self.use, self.usual
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
        self.tree.setFocus()

    def _read(self, session: Session) -> None:
        path, choice = session.path, self._choice
        bare = msgspec.structs.replace(choice, left_out=(), added=())

        def read() -> tuple[tuple[Part, ...], dict[str, bool]]:
            with Store.open(path) as store:
                report = whole_report(store, choice)
            usual = {part.key: part.shown for part in parts_of(report, bare)}
            return parts_of(report, choice), usual

        self.work("Listing the contents…", read, lambda found: self.show_parts(*found))

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


class SignDialog(WorkDialog):
    """Asks for a key, and opens it.

    Attributes
    ----------
    key : Key, optional
        The key, once the dialog was accepted.
    """

    def __init__(self, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__("Sign a report", parent)
        self.key: Key | None = None
        self._folder = folder
        self.file = fields.line(changed=self._tell)
        self.choose = parts.push_button("C&hoose…", self._choose)
        self.passphrase = fields.line()
        self.passphrase.setEchoMode(QLineEdit.EchoMode.Password)
        self.sign = parts.push_button("&Sign and export…", self._open)
        self.resting = self.file, self.choose, self.passphrase, self.sign
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
        self.work(
            "Opening the signing certificate…",
            lambda: open_key(read_key(path), passphrase),
            self._take,
        )

    def _take(self, key: Key) -> None:
        self.key = key
        self.passphrase.clear()
        self.accept()

    def _fail(self, error: FairDeskError) -> None:
        super()._fail(error)
        self.passphrase.setFocus()
        self.passphrase.selectAll()


#: So many pairs are asked about again where not all are.
_SAMPLE = 1_000
_MARKS = {
    "MISMATCH": "✗",
    "agrees": "✓",
    "partly checked": "◐",
    "not checked": "–",
    "not applicable": "·",
}
_RECORDS = "PDF document (*.pdf);;Web page (*.html);;JSON file (*.json);;Text (*.txt)"
_CHECKED = (
    "Compares the audit file with its audit log, and the data and the model with their "
    "SHA-256 hashes; re-queries the reported pairs; counts again what covers all rows of the data; "
    "and checks whether exported files are unchanged. The audit is not modified."
)


class _CancelledError(Exception):
    """The auditor has had enough."""


class CheckDialog(WorkDialog):
    """Asks with what to check an audit, checks it, and shows what came of it."""

    _said = Signal(str)

    def __init__(
        self, path: Path, spec: AuditSpec, parent: QWidget | None = None, *, certified: bool = False
    ) -> None:
        super().__init__("Verify this audit", parent, cancel=True)
        self._path, self._spec = path, spec
        self._stop = threading.Event()
        self._worker: Worker | None = None
        self.account: VerificationReport | None = None
        self.data = fields.line(spec.data.path)
        self.model = fields.line("" if spec.predictions else spec.model.path)
        self.manifest = fields.line(prompt="A manifest or a report issued earlier")
        self.everybody = QCheckBox("Re-query &all reported pairs, not only 1,000 of them")
        self.everybody.setChecked(True)
        self.everything = QCheckBox(
            "Prove every &region of a proof certificate again, however long that takes"
        )
        self.everything.setVisible(certified)
        heads = ("Result", "Check", "Details")
        self.results = TextTable("What was compared", heads, most=0)
        self.results.hide()
        self.check = parts.push_button("&Verify", self.run)
        self.save = parts.push_button("&Save a record…", self._save)
        self._lay_out()
        self.busy.cancelled.connect(self._cancel)
        self._said.connect(self._tell_progress)
        parts.resize_on_screen(self, 720, 760)

    def reject(self) -> None:
        """Close; what is under way is ended."""
        self._cancel()
        super().reject()

    def run(self, *, trusted: bool = False) -> None:
        """Check the audit."""
        self._stop.clear()
        model = self.model.text().strip()
        data = self.data.text().strip()
        asked = VerifyRequest(
            self._path,
            Path(data).expanduser() if data else None,
            Path(model).expanduser() if model and not self._spec.predictions else None,
            sample=None if self.everybody.isChecked() else _SAMPLE,
            everything=self.everything.isChecked(),
            trusted=trusted or self._spec.trusted,
        )
        given = self.manifest.text().strip()
        manifest = Path(given).expanduser() if given else None
        worker = self._worker = Worker()

        def say(sentence: str) -> None:
            if self._stop.is_set():
                raise _CancelledError
            self._said.emit(sentence)

        def work() -> VerificationReport | None:
            try:
                return verified.verify(worker, asked, (), manifest, say)
            except _CancelledError:
                return None
            except FairDeskError:
                if self._stop.is_set():
                    return None
                raise
            finally:
                worker.close()

        self.work("Reading the audit…", work, self._take)

    # Parts

    def _lay_out(self) -> None:
        self._form = QWidget()
        form = layouts.column(on=self._form, spacing=theme.NEAR)
        rows = (
            ("&Data", self.data, "The audited data table"),
            *(() if self._spec.predictions else (("&Model", self.model, "The audited model"),)),
            ("Mani&fest (optional)", self.manifest, "A manifest or a report"),
        )
        for text, field, title in rows:
            choose = parts.push_button(
                "Choose…",
                lambda _on, to=field, what=title: self._choose(to, what),
                name=f"Choose: {title}",
            )
            form.addLayout(fields.with_button(text, field, choose))
        form.addWidget(self.everybody)
        form.addWidget(self.everything)
        self._summary, self._limits = parts.Words(strong=True), parts.quiet(verified.LIMITS)
        self._outcome = parts.Card(self._summary, self._limits, tone="tint", margin=theme.GAP)
        self._outcome.hide()
        close = parts.push_button("Close", self.reject)
        buttons = parts.answers(close, self.save, self.check)
        self.save.setEnabled(False)
        self._what = parts.quiet(_CHECKED)
        layouts.column(
            parts.title("Verify this audit"),
            self._what,
            self.banner,
            self._form,
            self._outcome,
            layouts.grow(self.results),
            layouts.stretch(0),
            self.busy,
            buttons,
            on=self,
            margin=theme.WIDE,
            spacing=theme.GAP,
        )
        self.check.setDefault(True)
        self.resting = self._form, self.check

    def _choose(self, field: QLineEdit, title: str) -> None:
        before = Path(field.text().strip() or self._path)
        if (path := ask_open(self, title, before.parent)) is not None:
            field.setText(str(path))

    # What happens

    def _tell_progress(self, sentence: str) -> None:
        if self._task is not None and not self._stop.is_set():
            self.busy.say(f"{sentence}…")

    def _set_busy(self, text: str) -> None:
        super()._set_busy(text)
        self.save.setEnabled(not text and self.account is not None)

    def _cancel(self) -> None:
        self._stop.set()
        if self._worker is not None:
            self._worker.stop()
        if self._task is not None:
            self.busy.say("Stopping…")

    def _take(self, report: VerificationReport | None) -> None:
        self._worker = None
        if report is not None:
            self.account = report
            self._show(report)
            self.save.setEnabled(True)

    def _fail(self, error: FairDeskError) -> None:
        super()._fail(error)
        self._worker = None
        if not isinstance(error, TrustRequiredError):
            return
        self.banner.clear()
        if parts.asked(
            self,
            error.what,
            f"{error.why} The verification needs the model’s outputs.",
            yes="Run it",
            no="Do not run it",
        ):
            self.run(trusted=True)

    def _show(self, report: VerificationReport) -> None:
        """List what was compared: what differs first."""
        whole = "agrees" if not report.left else "partly checked"
        mark = _MARKS[whole if report.holds else "MISMATCH"]
        self._summary.setText(f"{mark} {verified.summary(report)}")
        self._outcome.setAccessibleName(verified.summary(report))
        # its room is the results’ now
        self._what.hide()
        self._outcome.show()
        ranks = list(_MARKS)
        listed = sorted(report.checks, key=lambda check: ranks.index(verified.state(check)))
        self.results.show_rows([*map(_cells, listed)])
        self.results.show()

    def _save(self) -> None:
        report = self.account
        if report is None:
            return
        start = self._path.with_name(f"{self._path.stem} checked.pdf")
        path = ask_save(self, "Save a record", start, _RECORDS, ".pdf")
        if path is None:
            return
        self.work(
            f"Writing {words.quoted(path.name)}…",
            lambda: verified.write(report, path),
            lambda _none: self._limits.setText(f"{verified.LIMITS} Saved as {path}."),
        )


def _cells(check: Check) -> tuple[str, str, str]:
    """Write what came of a check, its name, and what there is to know of it."""
    state, counted = verified.state(check), verified.counts(check)
    said = " ".join((*([f"{counted}."] if counted else []), *check.remarks))
    word = "mismatch" if check.failed else state
    return f"{_MARKS[state]} {word}", check.name, said[:1].upper() + said[1:]
