"""What the auditor tells of a report, and how they want it: kept in the file, and undone."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import msgspec
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QPushButton

from fairdesk.audit.store.records import PASSING, Choice, Details, TemplateKey
from fairdesk.audit.store.store import Store
from fairdesk.errors import FairDeskError
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.session.session import Session
from fairdesk.report.content.fields import LABELS
from fairdesk.report.content.passages import TEMPLATES
from fairdesk.report.content.status import Status, mark_draft, mark_final, obstacles, standing

T = TypeVar("T")


@dataclass(frozen=True)
class ReportState:
    """What the audit file holds of its report.

    Attributes
    ----------
    details : Details
        What the auditor has filled in.
    choice : Choice
        How they want the report.
    standing : dict[str, Status]
        Per template how its report stands.
    obstacles : tuple[str, ...]
        What keeps the report that is wanted from being final, as `report.status.obstacles` says it.
    changes : int
        How often the audit has been changed: a report made before the last time is out of date.
    """

    details: Details = field(default_factory=Details)
    choice: Choice = field(default_factory=Choice)
    standing: dict[TemplateKey, Status] = field(default_factory=dict)
    obstacles: tuple[str, ...] = ()
    changes: int = 0

    @property
    def status(self) -> Status:
        """How the report that is wanted stands."""
        return self.standing.get(self.choice.template, Status("Draft"))

    @property
    def final(self) -> bool:
        """Whether any template's report is final."""
        return any(each.word == "Final" for each in self.standing.values())


def read_state(store: Store) -> ReportState:
    """Read what an audit file holds of its report."""
    log, details, choice = store.log_entries(), store.details(), store.choice()
    return ReportState(
        details,
        choice,
        {
            key: standing(store, key, choice if key == choice.template else None)
            for key in TEMPLATES
        },
        obstacles(choice.template, details, store),
        sum(entry.kind not in PASSING for entry in log),
    )


class ReportDraft(QObject):
    """The form's content. Every change is written at once, is in the log, and can be undone.

    Signals
    -------
    changed
        `told` is another.
    failed : FairDeskError
        A change could not be written.
    """

    changed = Signal()
    failed = Signal(object)

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._waiting = 0
        #: Whether the file was read.
        self.loaded = False
        self.state = ReportState()
        #: What has to end before the report can be final, as `Session.unsettled` says it.
        self.unsettled = session.unsettled
        session.weighing.changed.connect(self._look)
        session.live_changed.connect(self._look)

    def load(self) -> None:
        """Read the file again."""
        self._session.store.ask(read_state, self._take, self.failed.emit, key="report")

    def _look(self) -> None:
        """Look whether something has begun or ended that the report waits for."""
        if self._session.unsettled != self.unsettled:
            self._tell()

    def write_text(self, key: str, label: str, text: str) -> None:
        """Keep what was filled in under a key of `fairdesk.report.content.fields.FIELDS`."""
        before = self.state.details.texts.get(key, "")
        self._change(label, partial(_put_text, key), before, text)

    def write_detail(self, name: str, what: str, value: object) -> None:
        """Keep another part of `Details`: ``"signers"``, ``"categories"`` or ``"logo"``."""
        self._change(what, partial(_put_detail, name), getattr(self.state.details, name), value)

    def write_choice(self, what: str, **changes: object) -> None:
        """Keep another wish for the report, told by the names of fields of `Choice`."""
        before = {name: getattr(self.state.choice, name) for name in changes}
        self._change(what, _put_choice, before, changes)

    def mark_final(self) -> None:
        """Mark the report that is wanted as final."""
        choice = self.state.choice
        self._write(lambda store: mark_final(store, choice.template, choice))

    def mark_draft(self) -> None:
        """Make it a draft again."""
        template = self.state.choice.template
        self._write(lambda store: mark_draft(store, template))

    def _change(self, what: str, put: Callable[[T, Store], None], before: T, after: T) -> None:
        """Put a value in the place of another in the file, so that it can be undone."""
        self._session.change(
            f"report: {what}", lambda value: self._write(partial(put, value)), before, after
        )

    def _write(self, change: Callable[[Store], None]) -> None:
        self._waiting += 1

        def write(store: Store) -> ReportState:
            change(store)
            return read_state(store)

        self._session.store.ask(write, self._written, self._refused)

    def _written(self, state: ReportState) -> None:
        self._waiting -= 1
        self._take(state)
        self._session.log_changed.emit()

    def _refused(self, error: FairDeskError) -> None:
        self._waiting -= 1
        self.failed.emit(error)
        # what is on the screen must be what is in the file
        self.load()

    def _take(self, state: ReportState) -> None:
        if self._waiting:
            return  # a later change is on its way: its answer tells of both
        before, self.state = self.state, state
        self.loaded = True
        for template, now in state.standing.items():
            was = before.standing.get(template)
            if was is not None and was.word == "Final" and now.changed:
                title = TEMPLATES[template].title
                changed = parts.short(now.changed, 120)
                self._session.said.emit(f"The report “{title}” is a draft again: {changed}")
        self._tell()

    def _tell(self) -> None:
        self.unsettled = self._session.unsettled
        self.changed.emit()


# What another window has written in the file is left alone.


def _put_text(key: str, text: str, store: Store) -> None:
    details = store.details()
    texts = {name: each for name, each in {**details.texts, key: text}.items() if each}
    store.write_details(msgspec.structs.replace(details, texts=texts), LABELS)


def _put_detail(name: str, value: object, store: Store) -> None:
    store.write_details(msgspec.structs.replace(store.details(), **{name: value}), LABELS)


def _put_choice(changes: dict[str, object], store: Store) -> None:
    store.write_choice(msgspec.structs.replace(store.choice(), **changes))


_FINAL = "&Mark as final"


class Completeness(parts.Card):
    """How the report stands, and what it still needs, each a link to its field.

    Signals
    -------
    wanted : str
        The key of a field to go to.
    """

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__(tone="tint", margin=theme.GAP)
        self.word = parts.heading("")
        self.why = parts.Words()
        self.links = parts.Markup()
        self.links.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.links.linkActivated.connect(self.wanted)
        self.final = QPushButton(_FINAL)
        self.final.setEnabled(False)
        self.only = QCheckBox("Show required fields only")
        row = layouts.row(self.final, layouts.stretch())
        for widget in (self.word, self.why, self.links, self.only):
            self.body.addWidget(widget)
        self.body.addLayout(row)
        self._links = ""

    def tell(self, draft: ReportDraft, lacking: Mapping[str, tuple[str, str]], wanted: int) -> None:
        """Say how the report stands.

        Parameters
        ----------
        lacking : dict of str to (str, str)
            Per key of a field that is empty its group and label.
        """
        status, unsettled = draft.state.status, draft.unsettled
        final = status.word == "Final"
        if final:
            self.word.setText("✓ Final")
            why = f"Marked as final on {status.at[:10]}. Any change makes it a draft again."
        else:
            self.word.setText("Draft")
            why = (
                f"{len(lacking)} of {wanted} fields still required for Final:"
                if lacking
                else f"All {wanted} fields required for Final are complete."
            )
            if status.changed:
                changed = parts.short(status.changed, 120)
                why = f"It was final until this change to the audit: “{changed}” {why}"
            if unsettled:
                why = f"It can be marked as final when {unsettled}. {why}"
        self.why.setText(why)
        self._show_links({} if final else lacking)
        self.final.setText("&Make it a draft again" if final else _FINAL)
        self.final.setEnabled(draft.loaded and (final or not (lacking or unsettled)))
        reason = "" if self.final.isEnabled() else why
        self.final.setToolTip(reason)
        self.final.setAccessibleDescription(reason)

    def _show_links(self, lacking: Mapping[str, tuple[str, str]]) -> None:
        groups: dict[str, list[str]] = {}
        for key, (group, label) in lacking.items():
            link = f'<a href="{html.escape(key)}">{html.escape(label)}</a>'
            groups.setdefault(group, []).append(link)
        text = "<br>".join(
            f"{html.escape(group)}: {', '.join(links)}" for group, links in groups.items()
        )
        if text != self._links:
            self._links = text
            self.links.write(lambda: text)
        self.links.setVisible(bool(text))
