"""“Check this audit…”: the file, its data and its model compared once more, and what came of it."""

from __future__ import annotations

import threading
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QLineEdit,
    QWidget,
)

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.verify.checks import VerifyRequest
from fairdesk.audit.worker.client import Worker
from fairdesk.certify.proof.verify.statements import Check
from fairdesk.errors import FairDeskError, TrustRequiredError
from fairdesk.gui.kit import fields, layouts, parts, theme
from fairdesk.gui.kit.dropping import ask_open, ask_save
from fairdesk.gui.kit.threads import Task, in_background
from fairdesk.report.verified import summary as verified
from fairdesk.report.verified.summary import VerificationReport
from fairdesk.wording import words

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
_WHAT = (
    "Compares the audit file with its audit log, and the data and the model with their "
    "SHA-256 hashes; re-queries the reported pairs; counts again what covers all rows of the data; "
    "and checks whether exported files are unchanged. The audit is not modified."
)


class _CancelledError(Exception):
    """The auditor has had enough."""


class CheckDialog(QDialog):
    """Asks with what to check an audit, checks it, and shows what came of it."""

    _said = Signal(str)

    def __init__(
        self, path: Path, spec: AuditSpec, parent: QWidget | None = None, *, certified: bool = False
    ) -> None:
        super().__init__(parent)
        self._path, self._spec = path, spec
        self._stop = threading.Event()
        self._worker: Worker | None = None
        self._task: Task | None = None
        self.account: VerificationReport | None = None
        self.setWindowTitle("Verify this audit")
        self.data = fields.line(spec.data.path)
        self.model = fields.line("" if spec.predictions else spec.model.path)
        self.manifest = fields.line(prompt="A manifest or a report issued earlier")
        self.everybody = QCheckBox("Re-query &all reported pairs, not only 1,000 of them")
        self.everybody.setChecked(True)
        self.everything = QCheckBox(
            "Prove every &region of a proof certificate again, however long that takes"
        )
        self.everything.setVisible(certified)
        self.banner = parts.Banner()
        self.busy = parts.Busy(cancel=True, steady=True)
        self.results = QWidget()
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
        self.banner.clear()
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

        self._set_busy("Reading the audit…")
        self._task = in_background(self, work, self._take, self._fail)

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
        self._table = layouts.grid(
            on=self.results, margin=(0, 0, theme.NEAR, 0), stretches=(0, 1, 0)
        )
        self._summary, self._limits = parts.Words(strong=True), parts.quiet(verified.LIMITS)
        self._outcome = parts.Card(self._summary, self._limits, tone="tint", margin=theme.GAP)
        self._outcome.hide()
        close = parts.push_button("Close", self.reject)
        buttons = parts.answers(close, self.save, self.check)
        self.save.setEnabled(False)
        self._what = parts.quiet(_WHAT)
        layouts.column(
            parts.title("Verify this audit"),
            self._what,
            self.banner,
            self._form,
            self._outcome,
            layouts.grow(parts.scrolled(self.results)),
            self.busy,
            buttons,
            on=self,
            margin=theme.WIDE,
            spacing=theme.GAP,
        )
        self.check.setDefault(True)

    def _choose(self, field: QLineEdit, title: str) -> None:
        before = Path(field.text().strip() or self._path)
        if (path := ask_open(self, title, before.parent)) is not None:
            field.setText(str(path))

    # What happens

    def _tell_progress(self, sentence: str) -> None:
        if self._task is not None and not self._stop.is_set():
            self.busy.say(f"{sentence}…")

    def _set_busy(self, text: str) -> None:
        self.busy.say(text)
        for each in (self._form, self.check):
            each.setEnabled(not text)
        self.save.setEnabled(not text and self.account is not None)

    def _cancel(self) -> None:
        self._stop.set()
        if self._worker is not None:
            self._worker.stop()
        if self._task is not None:
            self.busy.say("Stopping…")

    def _take(self, report: VerificationReport | None) -> None:
        self._task = self._worker = None
        if report is not None:
            self.account = report
            self._show(report)
        self._set_busy("")

    def _fail(self, error: FairDeskError) -> None:
        self._task = self._worker = None
        self._set_busy("")
        if not isinstance(error, TrustRequiredError):
            self.banner.tell(error)
        elif parts.asked(
            self,
            error.what,
            f"{error.why} The verification needs the model’s outputs.",
            yes="Run it",
            no="Do not run it",
        ):
            self.run(trusted=True)

    def _show(self, report: VerificationReport) -> None:
        """List what was compared: what differs first."""
        parts.clear(self._table)
        whole = "agrees" if not report.left else "partly checked"
        mark = _MARKS[whole if report.holds else "MISMATCH"]
        self._summary.setText(f"{mark} {verified.summary(report)}")
        self._outcome.setAccessibleName(verified.summary(report))
        # its room is the results’ now
        self._what.hide()
        self._outcome.show()
        ranks = list(_MARKS)
        listed = sorted(report.checks, key=lambda check: ranks.index(verified.state(check)))
        for row, check in enumerate(listed):
            self._add(row, check)
        self._table.setRowStretch(len(listed), 1)
        # else all rows lie on each other until the window is laid out again
        self._table.activate()

    def _add(self, row: int, check: Check) -> None:
        state = verified.state(check)
        mark = parts.Words(_MARKS[state], strong=bool(check.failed), wrap=False)
        mark.setAccessibleName(state)
        what = layouts.column(
            parts.Words(check.name, strong=bool(check.failed)), spacing=theme.TIGHT
        )
        counted = verified.counts(check)
        said = " ".join((*([f"{counted}."] if counted else []), *check.remarks))
        if said:
            below = parts.Words(said[:1].upper() + said[1:], tone="quiet", selectable=True)
            what.addWidget(below)
        top = Qt.AlignmentFlag.AlignTop
        self._table.addWidget(mark, row, 0, top)
        self._table.addLayout(what, row, 1)
        word = "mismatch" if check.failed else state
        self._table.addWidget(parts.quiet(word), row, 2, top)

    def _save(self) -> None:
        report = self.account
        if report is None:
            return
        start = self._path.with_name(f"{self._path.stem} checked.pdf")
        path = ask_save(self, "Save a record", start, _RECORDS, ".pdf")
        if path is None:
            return
        self.banner.clear()
        self._set_busy(f"Writing {words.quoted(path.name)}…")

        def write() -> Path:
            verified.write(report, path)
            return path

        def saved(path: Path) -> None:
            self._set_busy("")
            self._limits.setText(f"{verified.LIMITS} Saved as {path}.")

        in_background(self, write, saved, self._fail)
