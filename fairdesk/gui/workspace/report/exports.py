"""The files that an audit can be saved as: what each holds, and how it is written."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QPushButton, QWidget

from fairdesk.audit.store.store import Store
from fairdesk.certify.proof.certificate import SUFFIX
from fairdesk.errors import ReportError
from fairdesk.files import sha256
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.session.session import Session
from fairdesk.report import document
from fairdesk.report.document import Format, write_report
from fairdesk.report.export.exports import (
    write_certificate,
    write_groups_csv,
    write_retraining_csv,
    write_study_csv,
    write_subgroups_csv,
)
from fairdesk.report.export.findings import write_findings_csv, write_findings_json
from fairdesk.report.provenance.signing import Key
from fairdesk.report.writing import replacing
from fairdesk.results.events import Metric
from fairdesk.results.groups import GroupTable
from fairdesk.results.individual import AuditStudy
from fairdesk.results.proofs import Proven
from fairdesk.results.subgroups import RuleSet

_KINDS = {
    ".pdf": "PDF document",
    ".html": "HTML document",
    ".json": "JSON file",
    ".csv": "CSV table",
    SUFFIX: "Proof certificate",
}


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
    write : callable, optional
        Writes it; the report has a ``form`` instead.
    needs : type, optional
        It is offered once a run has told such a figure; always, where left out.
    form : str
        The report's, as `fairdesk.report.document.write_report` knows it.
    """

    title: str
    holds: str
    button: str
    name: str
    write: Callable[[Store, Path], None] | None = None
    needs: type[Metric] | None = None
    form: Format | None = None

    @property
    def suffix(self) -> str:
        """How its name ends."""
        return Path(self.name).suffix

    @property
    def kind(self) -> str:
        """What the file dialog calls such files."""
        return f"{_KINDS[self.suffix]} (*{self.suffix})"


def _write_last_certificate(store: Store, path: Path) -> None:
    """Write what the last run that proved anything has proven."""
    certified = store.certified_runs()
    if not certified:
        raise ReportError(
            "No run of this audit has a proof certificate.",
            why="Only the method Certification produces one, once it has proven something.",
            remedy="Run Certification on the Certification page.",
        )
    write_certificate(store, certified[-1], path)


#: The report, in the formats that it can be saved in.
_REPORTS: Final[dict[Format, str]] = {
    "pdf": "For readers: to be printed, signed and passed on.",
    "html": "For readers: one file that opens in any browser and can be read by screen readers.",
    "json": "For programs: the same sentences, tables and charts as data.",
}
REPORTS: Final = tuple(
    Export(f"Report ({form.upper()})", holds, form.upper(), f"report.{form}", form=form)
    for form, holds in _REPORTS.items()
)
#: Everything else.
FILES: Final = (
    Export(
        "Discriminatory pairs as a table",
        "For a spreadsheet: one row per pair with both instances in the values of your data, "
        "their decisions and scores, the review status and notes.",
        "Export pairs as &CSV…",
        "findings.csv",
        write_findings_csv,
    ),
    Export(
        "Results for programs",
        "For other programs: the whole audit plan, the runs and every pair, as JSON.",
        "Export results as &JSON…",
        "findings.json",
        write_findings_json,
    ),
    Export(
        "Data for retraining",
        "For retraining the model: your data with added pairs whose members have the same "
        "label, so that the next model can learn to give them the same decision.",
        "Export retra&ining data as CSV…",
        "retraining.csv",
        write_retraining_csv,
    ),
    Export(
        "Proof certificate",
        "For verifying the proof: every region with its verdict, as of the last "
        "certification. “fairdesk verify” checks it again.",
        "Export proof certi&ficate…",
        f"certificate{SUFFIX}",
        _write_last_certificate,
        Proven,
    ),
    Export(
        "Group metrics as a table",
        "For a spreadsheet: one row per group, with its rate, confidence interval, impact "
        "ratio and tests.",
        "Export gro&up metrics…",
        "groups.csv",
        write_groups_csv,
        GroupTable,
    ),
    Export(
        "Subgroups as a table",
        "For a spreadsheet: one row per subgroup found, with its rates, confidence interval "
        "and support.",
        "Export sub&groups…",
        "subgroups.csv",
        write_subgroups_csv,
        RuleSet,
    ),
    Export(
        "Audit study as a table",
        "For a spreadsheet: how many of the same rows are selected under each protected value, "
        "with the paired confidence interval.",
        "Export audit s&tudy…",
        "audit-study.csv",
        write_study_csv,
        AuditStudy,
    ),
)
EXPORTS: Final = (*REPORTS, *FILES)


@dataclass(frozen=True)
class Written:
    """A file that was written.

    Attributes
    ----------
    path : Path
        The file.
    sha256 : str
        Its fingerprint.
    beside : tuple[Path, ...]
        What was written beside it: the manifest, signatures.
    remarks : tuple[str, ...]
        What else there is to know, a sentence each.
    """

    path: Path
    sha256: str
    beside: tuple[Path, ...] = ()
    remarks: tuple[str, ...] = ()


class _GivenUpError(Exception):
    """Nobody wants the file any more."""


def write(
    source: Path, export: Export, path: Path, given_up: threading.Event, key: Key | None = None
) -> Written | None:
    """Write a file of an audit, and say so in its log; nothing where it was given up by then.

    Parameters
    ----------
    given_up : threading.Event
        Set when nobody wants the file any more.

    Raises
    ------
    FairDeskError
        When it cannot be made or written.
    """

    def go_on() -> None:
        if given_up.is_set():
            raise _GivenUpError

    with Store.open(source) as store:
        try:
            if export.form is not None:
                return _written(write_report(store, path, export.form, key=key, go_on=go_on))
            if export.write is not None:
                with replacing(path) as draft:
                    export.write(store, draft)
                    go_on()
        except _GivenUpError:
            return None
        store.exported(f"Exported {export.title.lower()} to {path}.", {path.name: path})
    return Written(path, sha256(path))


def _written(report: document.Written) -> Written:
    signed = (f"Signed by {report.signed}.",) if report.signed else ()
    return Written(report.path, report.sha256, report.beside, (*signed, *report.remarks))


class Saved(parts.Banner):
    """Says where a file was written, and opens it or its folder."""

    def __init__(self) -> None:
        super().__init__()
        # it is no trouble
        self.setProperty("tone", "tint")

    def show_written(self, written: Written) -> None:
        """Show it for a file."""
        path = written.path
        beside = ", ".join(each.name for each in written.beside)
        lines = [
            str(path.parent),
            f"SHA-256 {written.sha256}",
            f"Also written: {beside}" if beside else "",
            *written.remarks,
        ]
        self.say(
            f"✓ Saved {path.name}",
            "\n".join(filter(None, lines)),
            (
                ("Open file", partial(open_path, path)),
                ("Open folder", partial(open_path, path.parent)),
                ("Close", self.clear),
            ),
        )


class FilesList(QWidget):
    """The files beside the report: what each holds, and a button that writes it.

    Signals
    -------
    wanted : Export
        One is to be written.
    """

    wanted = Signal(object)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.buttons: dict[Export, QPushButton] = {}
        self.cards: dict[Export, QWidget] = {}
        column = layouts.column(on=self, spacing=theme.NEAR)
        for export in FILES:
            self.cards[export] = self._card(export)
            column.addWidget(self.cards[export])
        self._none = parts.quiet(
            "There are no other files to save yet: tables of groups and subgroups are "
            "offered once a run has measured them."
        )
        column.addWidget(self._none)
        column.addStretch(1)
        self.tell()

    def tell(self) -> None:
        """Offer the files that there is something to write in."""
        there = offered(self._session)
        for export, card in self.cards.items():
            card.setVisible(export in there)
        self._none.setVisible(not any(export in there for export in FILES))

    def _card(self, export: Export) -> parts.Card:
        button = parts.push_button(export.button, lambda: self.wanted.emit(export))
        self.buttons[export] = button
        button.setMinimumWidth(210)
        button.setAccessibleDescription(export.holds)
        told = layouts.column(
            parts.heading(export.title), parts.quiet(export.holds), spacing=theme.TIGHT
        )
        beside = layouts.at(button, Qt.AlignmentFlag.AlignVCenter)
        row = layouts.row(layouts.grow(told), beside, spacing=theme.WIDE)
        return parts.Card(row, margin=theme.GAP)


def offered(session: Session) -> tuple[Export, ...]:
    """Return the files that there is something to write in.

    Without a model there are no findings, only the report and what was told of groups.
    """
    kinds = {type(figure) for run in session.runs for figure in run.figures}
    always = REPORTS if session.spec.predictions else EXPORTS
    return tuple(
        each for each in EXPORTS if (each.needs in kinds if each.needs else each in always)
    )


def open_path(path: Path) -> None:
    """Open a file or folder with the program that the system has for it."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
