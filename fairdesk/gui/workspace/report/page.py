"""What the auditor leaves with: the report with its form and its pages, and every other file."""

from __future__ import annotations

import re
import threading
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QWidget,
)

from fairdesk.audit.store.records import RunState
from fairdesk.errors import FairDeskError
from fairdesk.gui.kit import fields, layouts, parts, theme
from fairdesk.gui.kit.dropping import ask_save
from fairdesk.gui.kit.pages import page_head
from fairdesk.gui.kit.threads import in_background
from fairdesk.gui.workspace.common.run_page import Sign, Standing
from fairdesk.gui.workspace.report.categories import offer_of
from fairdesk.gui.workspace.report.dialogs import CheckDialog, ContentsDialog, SignDialog
from fairdesk.gui.workspace.report.draft import ReportDraft
from fairdesk.gui.workspace.report.exports import (
    REPORTS,
    Export,
    FilesList,
    Saved,
    Written,
    offered,
    write,
)
from fairdesk.gui.workspace.report.form import ReportForm
from fairdesk.gui.workspace.report.preview import ReportPreview
from fairdesk.gui.workspace.session.session import Session
from fairdesk.report.provenance.signing import Key
from fairdesk.results.proofs import Proven
from fairdesk.wording import words

#: The form is at least so wide, the pages too.
_LEAST_FORM, _LEAST_PAGES = 280, 370
#: What no system wants in the name of a file, and how long such a name is at most.
_UNFIT = re.compile(r'[\x00-\x1f<>:"/\\|?*\u202a-\u202e\u2066-\u2069]')
_LONGEST = 80


class ReportPage(QWidget):
    """The report: what people must tell at the left, its pages at the right; and other files.

    Signals
    -------
    stands
        `standing` may be another.
    """

    stands = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._folder = session.path.parent
        self._given_up: threading.Event | None = None
        #: Whether the columns were looked for that could tell a category.
        self._offered = False
        self.draft = ReportDraft(session, self)
        self.form = ReportForm(self.draft)
        self.preview = ReportPreview(session)
        self.files = FilesList(session)
        self._busy = parts.Busy(cancel=True)
        self._banner = parts.Banner()
        self._saved = Saved()
        self._note = parts.quiet()
        self.format = fields.choice(
            [(export.button, export.name, export.holds) for export in REPORTS],
            "Format of the report",
        )
        self.save = parts.push_button("Save repor&t…", filled=True)
        self.sign, self.check = parts.push_button("Si&gn…"), parts.push_button("Verif&y…")
        self._lay_out()
        self._listen()
        self._tell()
        session.ahead.ask(self.form.make_ready)

    def export(self, export: Export, path: Path | None = None, key: Key | None = None) -> None:
        """Write a file, signed where there is a key; asks where, unless it is told."""
        if self._given_up is not None:
            return
        if path is None:
            suggested = self._folder / self.name_of(export)
            path = ask_save(self, export.title, suggested, export.kind, export.suffix)
            if path is None:
                return
        target, source, given_up = path, self._session.path, threading.Event()
        self._folder = target.parent
        self._banner.clear()
        self._saved.hide()
        self.form.keep()
        self._set_writing(given_up, f"Writing {parts.short(target.name, 40)}…")

        def begin(_none: None) -> None:
            in_background(
                self,
                lambda: write(source, export, target, given_up, key),
                lambda written: self._written(given_up, written),
                lambda error: self._failed(given_up, error),
            )

        # what was just typed comes first: the file is asked in order
        self._session.store.ask(lambda _store: None, begin)

    def offered(self) -> list[Export]:
        """Return the files that there is something to write in."""
        return list(offered(self._session))

    def export_report(self) -> None:
        """Write the report in the format that is chosen; for the main window's menu."""
        self.export(REPORTS[self.format.currentIndex()])

    def sign_report(self) -> None:
        """Ask for a key, and write the report signed with it."""
        dialog = SignDialog(self._folder, self)
        dialog.accepted.connect(
            lambda: self.export(REPORTS[self.format.currentIndex()], key=dialog.key)
        )
        parts.open_dialog(dialog)

    def check_audit(self) -> None:
        """Ask with what to check the audit once more."""
        self.form.keep()
        session = self._session
        figures = (figure for run in session.runs for figure in run.figures)
        certified = any(isinstance(figure, Proven) for figure in figures)
        parts.open_dialog(CheckDialog(session.path, session.spec, self, certified=certified))

    def show_place(self, *places: str) -> None:
        """Show where the report tells of something: the first of these keys that it shows.

        See `fairdesk.report.render.pdf.Preview.places`; a pair (``"pair-12"``) goes by its name
        alone.
        """
        self.tabs.setCurrentIndex(0)
        self.preview.want(*places)
        self.draft.load()

    @property
    def standing(self) -> Standing:
        """How the report stands, for the list of steps."""
        status = self.draft.state.status
        if status.word == "Final":
            return Standing("final", Sign.DONE)
        if status.changed:
            return Standing("draft again", Sign.OUTDATED)
        empty = len(self.draft.state.obstacles)
        if empty:
            return Standing(f"draft, {words.counted(empty, 'field')} to fill", Sign.NOT_YET)
        return Standing("draft, complete", Sign.DONE)

    def keep(self) -> None:
        """Keep what was typed, for the audit is being closed."""
        self.form.keep()

    def name_of(self, export: Export) -> str:
        """Suggest a name for a file: of the report, the audit's title."""
        if export not in REPORTS:
            return export.name
        title = _UNFIT.sub(" ", self._session.spec.title)
        name = " ".join(title.split())[:_LONGEST].strip(" .") or "report"
        return f"{name}{export.suffix}"

    # Parts

    def _lay_out(self) -> None:
        for button, what in (
            (self.save, "Write the report and its manifest."),
            (self.sign, "Write the report and sign it with your signing certificate."),
            (self.check, "Verify the audit against its files and its audit log."),
        ):
            button.setToolTip(what)
            button.setAccessibleDescription(what)
        self._head = page_head("Report", self.format, self.save, self.sign, self.check)
        form = self._area = parts.scrolled(self.form)
        form.setMinimumWidth(_LEAST_FORM)
        self.preview.setMinimumWidth(_LEAST_PAGES)
        both = layouts.split((form, 400, 2), (self.preview, 600, 3))
        files = layouts.panel(self.files, margin=(theme.NEAR, theme.GAP, theme.NEAR, theme.GAP))
        self.tabs = layouts.tabs((both, "Report"), (parts.scrolled(files), "&Other files"))
        layouts.column(
            self._head,
            self._note,
            self._banner,
            self._saved,
            self._busy,
            layouts.grow(self.tabs),
            on=self,
            margin=theme.AROUND,
            spacing=theme.NEAR,
        )

    def _listen(self) -> None:
        session = self._session
        session.runs_changed.connect(self._tell)
        session.runs_changed.connect(self.draft.load)
        session.log_changed.connect(self._load)
        session.live_changed.connect(self._go_on)
        self.draft.changed.connect(self._follow)
        self.draft.failed.connect(self._banner.tell)
        self.form.failed.connect(self._banner.tell)
        # what was said of another picture holds no longer
        self.form.logo.chosen.connect(self._banner.clear)
        self.form.revealed.connect(self._reveal)
        self.form.entered.connect(self.preview.show_field)
        self.form.contents_wanted.connect(self._choose_contents)
        self.files.wanted.connect(self.export)
        self.save.clicked.connect(self.export_report)
        self.sign.clicked.connect(self.sign_report)
        self.check.clicked.connect(self.check_audit)
        self._busy.cancelled.connect(self._give_up)

    # What happens

    def _load(self) -> None:
        """Read the form's content, where somebody could see it; if it was final, in any case."""
        if self.isVisible() or self.draft.state.final:
            self.draft.load()

    def _follow(self) -> None:
        """Make new pages where the audit was changed."""
        self.stands.emit()
        if self.isVisible():
            self.preview.follow(self.draft.state.changes)

    def _tell(self) -> None:
        session = self._session
        self.files.tell()
        if session.live is not None:
            text = "A run is in progress. A report saved now contains the results so far."
        elif not session.runs and not session.spec.predictions:
            text = "No run has been made yet: the report contains only the audit plan."
        else:
            text = "Everything is made from the audit file alone and can be made again from it."
        self._note.setText(text)

    def _go_on(self, _state: RunState) -> None:
        if self.isVisible():
            self._tell()

    def _reveal(self, widget: QWidget) -> None:
        self._area.ensureWidgetVisible(widget, 0, theme.PAGE)

    def _choose_contents(self) -> None:
        self.form.keep()
        dialog = ContentsDialog(self._session, self.draft.state.choice, self)
        dialog.accepted.connect(
            lambda: self.draft.write_choice(
                "contents", left_out=dialog.choice.left_out, added=dialog.choice.added
            )
        )
        parts.open_dialog(dialog)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Tell what has changed while the page was hidden."""
        super().showEvent(event)
        self._tell()
        if not self._offered:
            self._offered = True
            self._session.store.ask(offer_of, self.form.show_offer, key="report offer")
        self.draft.load()

    # Writing

    def _set_writing(self, given_up: threading.Event | None, text: str) -> None:
        self._given_up = given_up
        self._busy.say(text)
        for button in (self.save, self.sign, *self.files.buttons.values()):
            button.setEnabled(given_up is None)

    def _give_up(self) -> None:
        if self._given_up is not None:
            self._given_up.set()
            self._set_writing(None, "")
            self._session.said.emit("Nothing was saved.")

    def _written(self, given_up: threading.Event, written: Written | None) -> None:
        if written is None or given_up is not self._given_up:
            return
        self._set_writing(None, "")
        self._session.log_changed.emit()
        self._session.said.emit(f"Saved {written.path.name}.")
        self._saved.show_written(written)

    def _failed(self, given_up: threading.Event, error: FairDeskError) -> None:
        if given_up is self._given_up:
            self._set_writing(None, "")
            self._banner.tell(error)
