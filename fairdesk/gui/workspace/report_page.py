"""What the auditor leaves with: the report, the findings, data to retrain with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QShowEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from fairdesk.audit.store import RunState, Store
from fairdesk.certify.certificate import SUFFIX
from fairdesk.errors import FairDeskError, ReportError
from fairdesk.events import Figure, GroupTable, Proven, RuleSet
from fairdesk.gui import parts, theme
from fairdesk.gui.background import in_background
from fairdesk.gui.workspace.session import Session
from fairdesk.report.document import write_pdf
from fairdesk.report.exports import (
    write_certificate,
    write_findings_csv,
    write_findings_json,
    write_groups_csv,
    write_retraining_csv,
    write_rule_sets_csv,
)


@dataclass(frozen=True)
class Export:
    """A file that can be written.

    Attributes
    ----------
    title : str
        What it is called.
    holds : str
        What is inside, a sentence.
    button : str
        What its button says.
    name : str
        The name that is suggested, with its suffix.
    kind : str
        What the file dialog calls such files.
    write : callable
        Writes it.
    needs : type, optional
        It is offered once a run has told such a figure; always, where left out.
    """

    title: str
    holds: str
    button: str
    name: str
    kind: str
    write: Callable[[Store, Path], None]
    needs: type[Figure] | None = None


def _write_last_certificate(store: Store, path: Path) -> None:
    """Write what the last run that proved anything has proven."""
    certified = store.certified_runs()
    if not certified:
        raise ReportError(
            "No run of this audit has a certificate.",
            why="Only the method Certify hands one over, once it has proven something.",
            remedy="Run Certify on the Proof page.",
        )
    write_certificate(store, certified[-1], path)


EXPORTS = (
    Export(
        "Report",
        "For readers: what was asked, what was found and how, the examples side by side, and the "
        "evidence to check it by (fingerprints, versions, seeds, times).",
        "Export PDF &report…",
        "report.pdf",
        "PDF document (*.pdf)",
        write_pdf,
    ),
    Export(
        "Findings as a table",
        "For a spreadsheet: one row per pair, both people in the words of your data, their "
        "decisions and scores, your marks and notes.",
        "Export findings &CSV…",
        "findings.csv",
        "CSV table (*.csv)",
        write_findings_csv,
    ),
    Export(
        "Findings for programs",
        "For other programs: the whole question, the runs and every pair, as JSON.",
        "Export findings &JSON…",
        "findings.json",
        "JSON file (*.json)",
        write_findings_json,
    ),
    Export(
        "Data to retrain with",
        "For whoever trains the model: your data, with pairs added that get one and the same "
        "label, so that the next model can learn to treat them alike.",
        "Export re&training CSV…",
        "retraining.csv",
        "CSV table (*.csv)",
        write_retraining_csv,
    ),
    Export(
        "Certificate",
        "For whoever doubts the proof: every box with its verdict, as the last proof left them. "
        "“fairdesk verify” checks it again.",
        "Export certi&ficate…",
        f"certificate{SUFFIX}",
        f"Certificate (*{SUFFIX})",
        _write_last_certificate,
        Proven,
    ),
    Export(
        "Group figures as a table",
        "For a spreadsheet: one row per group, with its rate, interval, impact ratio and tests.",
        "Export &group figures…",
        "groups.csv",
        "CSV table (*.csv)",
        write_groups_csv,
        GroupTable,
    ),
    Export(
        "Rule sets as a table",
        "For a spreadsheet: one row per rule set that was found, with its rates, interval and "
        "support.",
        "Export r&ule sets…",
        "rule_sets.csv",
        "CSV table (*.csv)",
        write_rule_sets_csv,
        RuleSet,
    ),
)


_OF_GROUPS = (
    "For readers: what was asked, how the groups fared by the model’s decisions, and the evidence "
    "to check it by (fingerprints, versions, times)."
)


class _Saved(parts.Card):
    """Says where a file was written, and opens it or its folder."""

    def __init__(self) -> None:
        super().__init__(tone="tint", margin=theme.GAP)
        self._path = Path()
        self._words = parts.Words(strong=True)
        self._where = parts.Words()
        self._where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        text = QVBoxLayout()
        text.setSpacing(theme.TIGHT)
        text.addWidget(self._words)
        text.addWidget(self._where)
        row = QHBoxLayout()
        row.setSpacing(theme.NEAR)
        row.addLayout(text, 1)
        for name, run in (
            ("Open f&ile", lambda: _open(self._path)),
            ("Open f&older", lambda: _open(self._path.parent)),
        ):
            button = QPushButton(name)
            button.clicked.connect(run)
            row.addWidget(button)
        self.body.addLayout(row)
        self.hide()

    def tell(self, path: Path) -> None:
        """Show it for a file."""
        self._path = path
        self._words.setText(f"✓ Saved {path.name}")
        self._where.setText(str(path.parent))
        self.setAccessibleName(f"Saved {path}")
        self.show()


class ReportPage(QWidget):
    """Exports.

    Signals
    -------
    start
        A run is wanted, for there is nothing to export yet.
    """

    start = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._folder = session.path.parent
        self._busy = parts.Busy()
        self._banner = parts.Banner()
        self._saved = _Saved()
        self._note = parts.quiet()
        self._buttons: list[QPushButton] = []
        self._cards: dict[Export, parts.Card] = {}
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(theme.PAGE, theme.PAGE, theme.PAGE, theme.PAGE)
        column.setSpacing(theme.GAP)
        column.addWidget(parts.title("Report"))
        column.addWidget(self._note)
        column.addWidget(self._banner)
        column.addWidget(self._saved)
        column.addWidget(self._busy)
        for export in EXPORTS:
            self._cards[export] = self._card(export)
            column.addWidget(self._cards[export])
        column.addStretch(1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(parts.scrolled(inside))
        session.runs_changed.connect(self._tell)
        session.live_changed.connect(self._go_on)
        self._tell()

    def export(self, export: Export, path: Path | None = None) -> None:
        """Write a file; asks where, unless it is told."""
        if path is None:
            name, _kind = QFileDialog.getSaveFileName(
                self, export.title, str(self._folder / export.name), export.kind
            )
            if not name:
                return
            path = Path(name)
            if not path.suffix:
                path = path.with_suffix(Path(export.name).suffix)
        target, source = path, self._session.path
        self._folder = target.parent
        self._banner.clear()
        self._saved.hide()
        self._set_busy(f"Writing {target.name}…")

        def write() -> Path:
            store = Store.open(source)
            try:
                export.write(store, target)
                store.log(f"Exported {export.title.lower()} to {target}.")
            finally:
                store.close()
            return target

        in_background(self, write, self._written, self._failed)

    def offered(self) -> list[Export]:
        """Give the files that there is something to write in.

        Without a model there are no findings, only the report and what was told of groups.
        """
        always = EXPORTS[:1] if self._session.spec.predictions else EXPORTS
        told = {type(figure) for run in self._session.runs for figure in run.figures}
        return [each for each in EXPORTS if (each.needs in told if each.needs else each in always)]

    def export_report(self) -> None:
        """Write the PDF report; for the main window's menu."""
        self.export(EXPORTS[0])

    def _card(self, export: Export) -> parts.Card:
        card = parts.Card()
        row = QHBoxLayout()
        row.setSpacing(theme.WIDE)
        text = QVBoxLayout()
        text.setSpacing(theme.TIGHT)
        text.addWidget(parts.heading(export.title))
        holds = _OF_GROUPS if self._session.spec.predictions else export.holds
        text.addWidget(parts.quiet(holds))
        row.addLayout(text, 1)
        button = QPushButton(export.button)
        button.setMinimumWidth(210)
        button.setAccessibleDescription(holds)
        button.clicked.connect(lambda: self.export(export))
        self._buttons.append(button)
        row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        card.body.addLayout(row)
        return card

    def _tell(self) -> None:
        there = self.offered()
        for export, card in self._cards.items():
            card.setVisible(export in there)
        running = self._session.live is not None
        if running:
            text = "A run is under way. What is exported now holds what was found so far."
        elif not self._session.runs and not self._session.spec.predictions:
            text = "No run was made yet: a report would only hold the question."
        else:
            text = "Everything is made from the audit file, and can be made again from it alone."
        self._note.setText(text)

    def _go_on(self, _state: RunState) -> None:
        if self.isVisible():
            self._tell()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Tell what has changed while the page was hidden."""
        super().showEvent(event)
        self._tell()

    def _set_busy(self, text: str) -> None:
        self._busy.say(text)
        for button in self._buttons:
            button.setEnabled(not text)

    def _written(self, path: Path) -> None:
        self._set_busy("")
        self._session.log_changed.emit()
        self._session.said.emit(f"Saved {path.name}.")
        self._saved.tell(path)

    def _failed(self, error: FairDeskError) -> None:
        self._set_busy("")
        self._banner.tell(error)


def _open(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
