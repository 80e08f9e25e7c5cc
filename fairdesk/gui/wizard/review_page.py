"""Step 5: the review. The whole question in sentences, and where the audit is kept."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtWidgets import QWidget

from fairdesk.audit.sandbox.folders import Confinement
from fairdesk.gui.forms.dialogs import WhereDialog, place_text
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.dropping import ask_save
from fairdesk.gui.kit.fields import labelled, line
from fairdesk.gui.kit.parts import (
    Busy,
    Card,
    Words,
    clear,
    open_dialog,
    push_button,
    quiet,
    scrolled,
)
from fairdesk.gui.kit.threads import Latest
from fairdesk.gui.wizard.page import Desk, Page
from fairdesk.gui.wizard.state.wizard_state import SUFFIX, Step
from fairdesk.gui.wizard.telling import question


def audits_folder() -> Path:
    """Return the folder for audits: FairDesk in the documents, else the home folder."""
    places = QStandardPaths.standardLocations(QStandardPaths.StandardLocation.DocumentsLocation)
    documents = Path(places[0]) if places else Path.home()
    return documents / "FairDesk" if documents.is_dir() else Path.home()


class ReviewPage(Page):
    """The last page."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(
            desk,
            Step.REVIEW,
            "Review",
            "Check the audit plan. It is recorded in the report exactly as shown.",
        )
        self._chosen = False
        self._asker = Latest(self)
        self.busy = Busy()
        self._told = layouts.grid(across=theme.PAGE, down=theme.GAP, stretches=(0, 1))
        self._card = Card(self._told)
        inside = layouts.strip(
            layouts.grow(self._card, 1, Qt.AlignmentFlag.AlignTop), margin=(0, 0, theme.GAP, 0)
        )
        self.body.addWidget(self.busy)
        self.body.addWidget(scrolled(inside), 1)
        self.name, self.path = line(), line()
        self.name.textEdited.connect(self._answer_name)
        self.path.textEdited.connect(self._answer_path)
        self.change = push_button("&Change…", self._choose, name="Change where the audit is saved")
        row = layouts.row(
            layouts.grow(labelled("Name of the &audit", self.name), 2),
            layouts.grow(labelled("&File", self.path), 4),
            layouts.at(self.change, Qt.AlignmentFlag.AlignBottom),
            spacing=theme.GAP,
        )
        self.body.addLayout(row)
        self.where = Words(wrap=False)
        self.elsewhere = push_button(
            "C&hange…", self._choose_where, name="Change where runs are made"
        )
        runs = layouts.row(
            quiet("Where to run"), self.where, self.elsewhere, layouts.stretch(), spacing=theme.GAP
        )
        self.body.addLayout(runs)

    def enter(self) -> None:
        """Tell the question, and suggest a name and a place."""
        super().enter()
        self._tell()
        self.name.setText(self.state.suggest_title())
        self._suggest_path()
        self._tell_where()
        if self.state.confinement is None and self.state.card is not None:
            # it may have to wait until that process has started
            self._asker.ask(self.desk.model.confinement, self._confined, self.banner.tell)

    def _tell(self) -> None:
        clear(self._told)
        for row, (head, text) in enumerate(question(self.state)):
            self._told.addWidget(quiet(head), row, 0, Qt.AlignmentFlag.AlignTop)
            self._told.addWidget(Words(text), row, 1)
        self._card.setVisible(self._told.count() > 0)

    def _confined(self, confinement: Confinement) -> None:
        self.state.confinement = confinement
        self._tell()

    def first_field(self) -> QWidget:
        """Return what has the keyboard when the page comes on screen."""
        return self.name

    # -- answering ----------------------------------------------------------------------------

    def _answer_name(self, text: str) -> None:
        self.state.title = text.strip()
        self._suggest_path()
        self.changed.emit()

    def _answer_path(self, text: str) -> None:
        self._chosen = True
        self.state.path = Path(text).expanduser() if text.strip() else None
        self.changed.emit()

    def _choose(self) -> None:
        start = self.state.path or self.state.suggest_path(audits_folder())
        path = ask_save(self, "Save the audit as", start, f"Audits (*{SUFFIX})")
        if path is not None:
            self._answer_path(
                str(path if path.suffix == SUFFIX else path.with_name(path.name + SUFFIX))
            )
            self.path.setText(str(self.state.path))

    def _choose_where(self) -> None:
        dialog = WhereDialog(self.desk.settings.cluster, self)
        dialog.accepted.connect(lambda: self._take_where(dialog.cluster()))
        open_dialog(dialog)

    def _take_where(self, cluster: str) -> None:
        self.desk.settings.cluster = cluster
        self.desk.settings.save()
        self._tell_where()

    def _tell_where(self) -> None:
        self.where.setText(place_text(self.desk.settings.cluster))

    def _suggest_path(self) -> None:
        """Follow the name, until the auditor has chosen a place."""
        if not self._chosen:
            self.state.path = self.state.suggest_path(audits_folder())
        self.path.setText(str(self.state.path or ""))
