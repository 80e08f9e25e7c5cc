"""The form at the left of the Report page: which report, what people must tell, how it looks."""

from __future__ import annotations

from functools import partial
from typing import Final

import msgspec
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QMouseEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QPushButton, QRadioButton, QWidget

from fairdesk.audit.store.records import Details, TemplateKey
from fairdesk.gui.kit import fields, layouts, parts, theme
from fairdesk.gui.workspace.report.categories import CategoriesEditor, Offer
from fairdesk.gui.workspace.report.draft import Completeness, ReportDraft
from fairdesk.gui.workspace.report.fields import FieldEditor, LogoEditor, SignersEditor
from fairdesk.report.content.fields import (
    FIELDS,
    Field,
    asked,
    fault,
    fields_of,
    missing,
    seen,
    unsigned,
)
from fairdesk.report.content.passages import TEMPLATES

#: Milliseconds without a key after which what is being typed is kept although its field was not
#: left: each time is an entry of the log.
_PAUSE = 15_000
#: The template whose tables are by published categories.
_BY_CATEGORY: Final[TemplateKey] = "ll144"
_SIGNERS = "signers"
#: What can be chosen of the report's form: field of `Choice`, label, choices with what each means.
_FORM: Final[tuple[tuple[str, str, dict[str, tuple[str, str]]], ...]] = (
    ("paper", "Paper si&ze", {"a4": ("A4", ""), "us-letter": ("US Letter", "")}),
    (
        "redaction",
        "Individual-level data sho&wn",
        {
            "none": ("Everything", "The report may contain rows of the data."),
            "synthetic": (
                "Only synthetic instances",
                "Rows of the data are omitted; the report states this.",
            ),
            "bands": (
                "Values as ranges",
                "Numbers of individuals are shown as ranges; the report states this.",
            ),
        },
    ),
    (
        "standard",
        "PD&F standard",
        {
            "ua-1+a-3a": (
                "Accessible and archival",
                (
                    "PDF/UA-1, PDF/A-3a: suitable for screen readers and long-term archiving. "
                    "With the manifest."
                ),
            ),
            "ua-1": (
                "Accessible",
                "PDF/UA-1: suitable for screen readers. With the manifest.",
            ),
            "a-3a": (
                "Archival",
                "PDF/A-3a: for long-term archiving. With the manifest.",
            ),
            "a-2a": (
                "Archival, without attachments",
                (
                    "PDF/A-2a: for archives that do not accept attachments. The manifest is only "
                    "printed."
                ),
            ),
            "none": ("None", "For programs that cannot read the other standards."),
        },
    ),
)


class ReportForm(QWidget):
    """Asks for everything that the audit itself cannot tell.

    Signals
    -------
    contents_wanted
        The auditor wants to choose what is in the report.
    entered : str
        The field of this label got the keyboard.
    revealed : QWidget
        A part of it got the keyboard and should be in sight.
    failed : FairDeskError
        A file that is no picture.
    """

    contents_wanted = Signal()
    entered = Signal(str)
    revealed = Signal(object)
    failed = Signal(object)

    def __init__(self, draft: ReportDraft) -> None:
        super().__init__()
        self._draft = draft
        self.kinds = {key: QRadioButton() for key in TEMPLATES}
        #: Made once the page is wanted: there are many.
        self.editors: dict[str, FieldEditor] = {}
        self.completeness = Completeness()
        self.categories = CategoriesEditor()
        self.signers = SignersEditor()
        self.logo = LogoEditor()
        self.form: dict[str, QComboBox] = {}
        self._told_of: dict[str, parts.Words] = {}
        self._groups: dict[str, parts.Card] = {}
        self.contents = parts.push_button("Choose co&ntents…", self.contents_wanted)
        self._left_out = parts.quiet()
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE)
        self._lay_out()
        self._listen()

    @property
    def typed(self) -> Details:
        """What the form says now, kept or not."""
        kept = self._draft.state.details.texts
        texts = {**kept, **{key: editor.text for key, editor in self.editors.items()}}
        filled = {key: text for key, text in texts.items() if text}
        return msgspec.structs.replace(
            self._draft.state.details, texts=filled, signers=self.signers.signers
        )

    def keep(self) -> None:
        """Keep everything that was typed and is not kept yet."""
        self._pause.stop()
        for editor in self.editors.values():
            self._keep_text(editor)
        self._keep_signers()

    def go_to(self, key: str) -> None:
        """Give the keyboard to a field."""
        if key == _SIGNERS:
            (self._groups[_SIGNERS].findChild(QPushButton) or self.signers.add).setFocus()
            self.revealed.emit(self._groups[_SIGNERS])
            return
        editor = self.editors[key]
        editor.input.setFocus(Qt.FocusReason.OtherFocusReason)
        self.revealed.emit(editor)

    def show_offer(self, offer: Offer) -> None:
        """Offer columns that could tell a category."""
        self.categories.show_offer(offer)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Show what has changed while the form was hidden."""
        super().showEvent(event)
        self._show()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Keep what was typed: a page that is out of sight was left."""
        super().hideEvent(event)
        self.keep()

    # Parts

    def _lay_out(self) -> None:
        column = layouts.column(
            self._make_kinds(),
            self.completeness,
            on=self,
            margin=(0, 0, theme.GAP, theme.GAP),
            spacing=theme.GAP,
        )
        for group in dict.fromkeys(field.group for field in FIELDS.values()):
            column.addWidget(self._card(group, group))
        told = parts.quiet(
            "The tables of Local Law 144 are by sex, by race or ethnicity, and by both. Values "
            "with the same category are counted together; “Unknown” is counted separately."
        )
        for card in (
            self._card("published", "Published categories", told, self.categories),
            self._card(_SIGNERS, "Signatories", self.signers),
            self._card("logo", "Logo on the cover", self.logo),
            self._make_form(),
        ):
            column.addWidget(card)
        column.addStretch(1)

    def make_ready(self) -> None:
        """Make the fields, which takes longer than a page may take to be shown."""
        for key, field in () if self.editors else FIELDS.items():
            editor = self.editors[key] = FieldEditor(field)
            editor.hide()
            editor.edited.connect(self._typed)
            editor.entered.connect(partial(self.entered.emit, field.label))
            editor.left.connect(partial(self._keep_text, editor))
            self._groups[field.group].body.addWidget(editor)
        inputs = [each for editor in self.editors.values() for each in editor.order]
        standing = self.completeness
        stands = (standing.links, standing.only, standing.final)
        parts.in_order(*self.kinds.values(), *stands, *inputs)

    def _card(self, key: str, title: str, *items: layouts.Item) -> parts.Card:
        made = parts.Card(parts.heading(title), *items, margin=theme.GAP, spacing=theme.GAP)
        self._groups[key] = made
        return made

    def _make_kinds(self) -> parts.Card:
        card = parts.Card(parts.heading("Report type"), margin=theme.GAP)
        fields.together(self, self.kinds.values())
        for key, template in TEMPLATES.items():
            button = self.kinds[key]
            button.setAccessibleName(template.title)
            button.setAccessibleDescription(template.holds)
            name = _Pressed(template.title, button)
            texts = layouts.column(name, _Pressed(template.holds, button, tone="quiet"), spacing=0)
            row = layouts.row(
                layouts.at(button, Qt.AlignmentFlag.AlignTop),
                layouts.grow(texts),
                spacing=theme.NEAR,
            )
            card.body.addLayout(row)
            button.clicked.connect(lambda _on, key=key: self._choose(key))
        return card

    def _make_form(self) -> parts.Card:
        asked_for: list[layouts.Item] = []
        for name, label, choices in _FORM:
            entries = [(text, key) for key, (text, _told) in choices.items()]
            combo = fields.choice(entries, letters=12, run=partial(self._choose_form, name))
            note = parts.quiet()
            self.form[name], self._told_of[name] = combo, note
            asked_for.append(
                layouts.column(fields.labelled(label, combo), note, spacing=theme.TIGHT)
            )
        return self._card("form", "Report format", *asked_for, self.contents, self._left_out)

    def _listen(self) -> None:
        self._draft.changed.connect(self._show)
        self._draft.failed.connect(self._take_back)
        self._pause.timeout.connect(self.keep)
        self.completeness.wanted.connect(self.go_to)
        self.completeness.final.clicked.connect(self._mark)
        self.completeness.only.toggled.connect(self._show)
        self.signers.changed.connect(self._keep_signers)
        self.categories.changed.connect(
            lambda: self._draft.write_detail(
                "categories", "published categories", self.categories.categories
            )
        )
        self.logo.chosen.connect(
            lambda content: self._draft.write_detail("logo", "the logo", content)
        )
        self.logo.failed.connect(self.failed)

    # What happens

    def _show(self) -> None:
        """Show what is in the file, where somebody could see it."""
        if not (self._draft.loaded and self.isVisible()):
            return
        state = self._draft.state
        template = state.choice.template
        self.kinds[template].setChecked(True)
        self.make_ready()
        for key, editor in self.editors.items():
            editor.show_text(state.details.texts.get(key, ""))
            editor.show_need(template)
        printed = {field.group for field in self._asked_for(template)}
        for group in dict.fromkeys(field.group for field in FIELDS.values()):
            self._groups[group].setVisible(group in printed)
        self._groups["published"].setVisible(template == _BY_CATEGORY)
        self.categories.show_categories(state.details.categories)
        self.signers.show_signers(state.details.signers)
        self.logo.show_logo(state.details.logo)
        for name, _label, choices in _FORM:
            value = getattr(state.choice, name)
            combo, sentence = self.form[name], choices[value][1]
            fields.select(combo, value)
            combo.setAccessibleDescription(sentence)
            self._told_of[name].say(sentence)
        self._tell_contents()
        self._tell_missing()

    def _tell_contents(self) -> None:
        choice = self._draft.state.choice
        said = [
            f"{len(keys)} {what}"
            for keys, what in ((choice.left_out, "omitted"), (choice.added, "added"))
            if keys
        ]
        self._left_out.say(", ".join(said).capitalize() + "." if said else "")

    def _typed(self) -> None:
        self._pause.start()
        self._tell_missing()

    def _tell_missing(self) -> None:
        """Show what is asked for, and say what is still needed."""
        details, template = self.typed, self._draft.state.choice.template
        printed = {field.key for field in self._asked_for(template)}
        for key, editor in self.editors.items():
            editor.setVisible(key in printed and asked(FIELDS[key], details))
        lacking = self._lacking(template, details)
        needed = {
            field.key
            for field in fields_of(template)
            if template in field.required_by and asked(field, details)
        }
        wanted = len(needed | set(lacking))
        self.completeness.tell(self._draft, lacking, wanted)

    def _asked_for(self, template: TemplateKey) -> list[Field]:
        """Return the fields that are shown: all of a template, or those that it requires."""
        only = self.completeness.only.isChecked()
        return [each for each in fields_of(template) if not only or template in each.required_by]

    def _lacking(self, template: TemplateKey, details: Details) -> dict[str, tuple[str, str]]:
        """Return what keeps a report from being final, by its key: the group and the name of it."""
        empty = {field.key for field in missing(template, details)}
        # what the audit’s own figures ask for
        also = self._draft.state.obstacles
        lacking: dict[str, tuple[str, str]] = {}
        for field in fields_of(template):
            text = seen(details.texts.get(field.key, ""))
            if field.key in empty or (field.label in also and not text):
                lacking[field.key] = (field.group, field.label)
            elif fault(field, text):
                lacking[field.key] = (field.group, f"{field.label} (invalid)")
        if unsigned(template, details):
            lacking[_SIGNERS] = ("Sign-off", "Signatories")
        return lacking

    def _keep_text(self, editor: FieldEditor) -> None:
        if editor.dirty and self._draft.loaded:
            editor.mark_kept(editor.text)
            self._draft.write_text(editor.field.key, editor.field.label, editor.text)

    def _keep_signers(self) -> None:
        if self._draft.loaded:
            self.signers.mark_kept(self.signers.signers)
            self._draft.write_detail("signers", "signatories", self.signers.signers)
        self._tell_missing()

    def _take_back(self) -> None:
        """Know what is not kept after all: it stays in its field, and is kept the next time."""
        details = self._draft.state.details
        for key, editor in self.editors.items():
            editor.mark_kept(details.texts.get(key, ""))
        self.signers.mark_kept(details.signers)

    def _choose(self, template: TemplateKey) -> None:
        self.keep()
        self._draft.write_choice("report type", template=template)

    def _choose_form(self, name: str) -> None:
        self._draft.write_choice("report format", **{name: self.form[name].currentData()})

    def _mark(self) -> None:
        self.keep()
        if self._draft.state.status.word == "Final":
            self._draft.mark_draft()
        else:
            self._draft.mark_final()


class _Pressed(parts.Words):
    """Words beside a button that press it."""

    def __init__(self, text: str, button: QRadioButton, tone: str = "") -> None:
        super().__init__(text, tone=tone)
        self._button = button

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Press the button."""
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(
            event.position().toPoint()
        ):
            self._button.click()
