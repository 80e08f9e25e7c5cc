"""The question whether a file that is a program may run, with all that helps to answer it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QWidget

from fairdesk.audit.sandbox.confinement import Confinement
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.parts import Card, Words, clear, heading, push_button, quiet, scrolled
from fairdesk.gui.wizard.model.opening import Untrusted
from fairdesk.models.pickles.contents import ImportedName

_PROGRAM = (
    "This file does not only contain numbers: it uses instructions that run as soon as it is "
    "opened, and not all of them are on FairDesk’s list of harmless ones. No check can "
    "determine with certainty whether they are harmful. Open it only if you know who made it "
    "and how it reached you."
)
_STANDINGS = {
    "dangerous": "▲ known to be dangerous",
    "unknown": "○ not on the list of harmless names",
    "known": "✓ on the list of harmless names",
}
#: Names that are shown; a forest asks for thousands of times the same few.
_SHOWN = 60


class TrustCard(QWidget):
    """The card.

    Signals
    -------
    trusted : str
        The auditor agreed to run the file with this fingerprint.
    other
        Another file is to be chosen.
    """

    trusted = Signal(str)
    other = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._what = heading("")
        self._sha256 = Words()
        self._sha256.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._sha256.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._sha256.setAccessibleName("SHA-256 of the file")
        self._names = layouts.column(spacing=theme.TIGHT)
        self._held = layouts.column(spacing=theme.TIGHT)
        self.button = push_button(
            "I &trust this file", lambda: self.trusted.emit(self._sha256.text()), auto_default=False
        )
        self.choose = push_button("&Choose another file…", self.other)
        row = layouts.row(self.button, self.choose, layouts.stretch())
        card = Card(tone="notice")
        card.body.setSpacing(theme.GAP)
        card.body.addWidget(self._what)
        card.body.addWidget(Words(_PROGRAM))
        card.body.addWidget(quiet("Its SHA-256 hash, to compare with the sender’s:"))
        card.body.addWidget(self._sha256)
        card.body.addWidget(
            quiet("Your choice is remembered for exactly this file and recorded in the report.")
        )
        card.body.addLayout(row)
        inside = layouts.panel(
            card,
            heading("Names that it uses"),
            self._names,
            heading("How it would be confined"),
            self._held,
            layouts.stretch(),
            margin=(0, 0, theme.GAP, 0),
            spacing=theme.GAP,
        )
        layouts.column(scrolled(inside), on=self)

    def show_file(self, found: Untrusted) -> None:
        """Show a file and what is known about it."""
        self._what.setText(found.why.what)
        self._sha256.setText(found.sha256)
        clear(self._names)
        imports = sorted(found.contents.imports, key=_badness)
        self._names.addWidget(
            quiet(
                (
                    "Read from the file without running it. This is information, not a verdict: "
                    "harmless names can be misused, and unknown names can be harmless."
                )
                if imports
                else "Nothing could be determined without running it."
            )
        )
        for each in imports[:_SHOWN]:
            tone = "wrong" if each.standing == "dangerous" else ""
            words = f"{_STANDINGS[each.standing]}:  {each.name}"
            self._names.addWidget(Words(words, tone=tone))
        if len(imports) > _SHOWN:
            self._names.addWidget(quiet(f"and {len(imports) - _SHOWN} more"))
        clear(self._held)
        for line in held(found.confinement):
            self._held.addWidget(line)


def _badness(imported: ImportedName) -> int:
    return list(_STANDINGS).index(imported.standing)


def held(confinement: Confinement) -> list[QWidget]:
    """Say what the process that opens model files cannot do on this machine, a line each."""
    by = confinement.by or "nothing but process separation"
    lines: list[QWidget] = [quiet(f"It is opened in a separate process, confined by {by}.")]
    for hold in confinement.holds:
        mark, tone = ("✓", "") if hold.holds else ("✗", "wrong")
        lines.append(Words(f"{mark}  {hold.what.capitalize()}: {hold.how}", tone=tone))
    return lines
