"""Texts on a page: plain, with markup of our own, on one line."""

from __future__ import annotations

import html
from collections.abc import Callable

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QLabel, QSizePolicy

from fairdesk.gui.kit import theme
from fairdesk.gui.kit.hints.defining import Defined


class Words(Defined):
    """Text on the page: plain (never markup, for it may come from a file), wrapped, themed.

    Where the pointer rests on a term of the vocabulary, its definition is shown.

    Parameters
    ----------
    tone : str
        ``""``, ``"quiet"`` or ``"wrong"``: a name of `fairdesk.gui.kit.theme.Colours`.
    strong : bool
        Whether it is set in the heavier weight.
    """

    def __init__(
        self,
        text: str = "",
        *,
        tone: str = "",
        size: float = 1.0,
        strong: bool = False,
        wrap: bool = True,
    ) -> None:
        super().__init__(text)
        self._tone = tone
        self.setWordWrap(wrap)
        self.setFont(theme.scaled(self.font(), size, strong=strong))
        if wrap:
            policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
            policy.setHeightForWidth(True)
            self.setSizePolicy(policy)
        self._tint()

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for one line: how many it takes depends on the width, which the layout asks for."""
        hint = super().minimumSizeHint()
        if not self.wordWrap():
            return hint
        return QSize(min(hint.width(), 80), self.fontMetrics().height())

    def say(self, text: str) -> None:
        """Show a text; an empty one hides it."""
        self.setText(text)
        self.setVisible(bool(text))

    def set_tone(self, tone: str) -> None:
        """Change the tone."""
        self._tone = tone
        self._tint()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if theme.palette_changed(event):
            self._tint()

    def _tint(self) -> None:
        if not self._tone:
            if self.testAttribute(Qt.WidgetAttribute.WA_SetPalette):
                self.setPalette(QPalette())
            return
        wanted = QColor(getattr(theme.colours(), self._tone))
        palette = self.palette()
        if palette.color(QPalette.ColorRole.WindowText) != wanted:
            palette.setColor(QPalette.ColorRole.WindowText, wanted)
            self.setPalette(palette)


class Markup(QLabel):
    """Text with markup of our own, whose colours follow the theme.

    What comes from a file must be escaped.
    """

    def __init__(self) -> None:
        super().__init__()
        self._written: Callable[[], str] = str
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)

    def write(self, make: Callable[[], str]) -> None:
        """Show what ``make`` returns; it is asked again when colours change."""
        self._written = make
        # Qt reads the colours of links once, with the text
        self.setText("")
        self.setText(make())

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if theme.palette_changed(event):
            self.write(self._written)


class Elided(Words):
    """One line that is cut in its middle when the room is short; the tooltip has it whole."""

    def __init__(self, text: str = "", *, tone: str = "", strong: bool = False) -> None:
        super().__init__(tone=tone, strong=strong, wrap=False)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.say(text)

    def say(self, text: str) -> None:
        """Show a text."""
        self.setText(text)
        self.setToolTip(html.escape(text))
        self.setAccessibleName(text)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw what there is room for."""
        middle = Qt.TextElideMode.ElideMiddle
        cut = self.fontMetrics().elidedText(self.text(), middle, self.width())
        palette, role = self.palette(), self.foregroundRole()
        self.style().drawItemText(
            *(QPainter(self), self.rect(), self.alignment(), palette, self.isEnabled(), cut, role)
        )


def title(text: str) -> Words:
    """Make a page's title."""
    return Words(text, size=1.6, strong=True)


def heading(text: str) -> Words:
    """Make the heading of a section."""
    return Words(text, size=1.12, strong=True)


def quiet(text: str = "") -> Words:
    """Make a text that explains."""
    return Words(text, tone="quiet")


def short(text: str, most: int = 22) -> str:
    """Cut a text of a file that would make its window too wide; the whole is in a tooltip."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
