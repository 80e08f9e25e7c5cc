"""A recent audit on the start page: what it is about, and what it came to."""

from __future__ import annotations

import html
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent

from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.parts import Card, Elided, Words, push_button, quiet
from fairdesk.gui.kit.settings import Glance


class RecentCard(Card):
    """One audit that was open before; one that is gone is greyed.

    Parameters
    ----------
    glance : Glance, optional
        What it came to when it was last closed.

    Signals
    -------
    opened
        It is to be opened.
    """

    opened = Signal()

    def __init__(self, path: Path, glance: Glance | None) -> None:
        super().__init__(margin=theme.GAP)
        there = path.is_file()
        title = glance.title if glance is not None else path.stem
        self.title = Words(title, strong=True)
        self.button = push_button("Open →", self.opened)
        self.button.setFlat(True)
        date = quiet(glance.date if glance is not None else "")
        date.setWordWrap(False)
        self.body.addLayout(layouts.row(layouts.grow(self.title), date, spacing=theme.GAP))
        said = [title]
        if glance is not None and glance.value:
            said.append(f"{glance.value}: {glance.label}")
            self.body.addWidget(Words(glance.value, size=1.25, strong=True))
            self.body.addWidget(Words(glance.label))
        place = Elided(str(path) if there else f"not found: {path}")
        if glance is not None and there:
            place.say(f"{glance.model}  ·  {path.parent}")
            said.append(glance.model)
        self.body.addLayout(layouts.row(layouts.grow(place), self.button, spacing=theme.GAP))
        self.body.setSpacing(theme.TIGHT)
        self.button.setAccessibleName(f"Open {'. '.join(said)}" if there else f"{title}, not found")
        self.setToolTip(html.escape(str(path)))
        self.setEnabled(there)
        if there:
            self.setCursor(Qt.CursorShape.PointingHandCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Open it wherever it is pressed."""
        if event.button() is Qt.MouseButton.LeftButton and self.rect().contains(
            event.position().toPoint()
        ):
            self.opened.emit()
