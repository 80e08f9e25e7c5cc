"""Colours, spacing, type and style: one look, light and dark, from palettes on Qt's Fusion style.

Widgets take their base colours from the palette and repaint on ``QEvent.PaletteChange``; what a
palette has no role for (verdicts, quiet text, hairlines) comes from `colours`.
"""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from fairdesk.files import resources
from fairdesk.gui.kit.style import (
    AROUND,
    DARK,
    GAP,
    LIGHT,
    NEAR,
    PAGE,
    ROUND,
    ROUNDED,
    TIGHT,
    WIDE,
    Colours,
    Style,
    colours,
    fill,
    is_dark,
)

__all__ = [
    "AROUND",
    "DARK",
    "GAP",
    "LIGHT",
    "NEAR",
    "PAGE",
    "ROUND",
    "ROUNDED",
    "TIGHT",
    "WIDE",
    "Colours",
    "Scheme",
    "apply",
    "colours",
    "fill",
    "is_dark",
    "palette_changed",
    "scaled",
]

#: The face of all texts, which comes with the app: the same widths on every machine.
FACE = "Source Sans 3"
_FACES = ("SourceSans3-Regular.otf", "SourceSans3-Semibold.otf", "SourceSans3-It.otf")
#: The system's own size of type is used, but never a smaller one than this.
LEAST_POINTS = 10.5


class Scheme(StrEnum):
    """Which palette the window uses."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


def _palette(*, dark: bool) -> QPalette:
    role = QPalette.ColorRole
    extra = DARK if dark else LIGHT
    window, base, alternate, text, button, highlight, placeholder, faint = (
        ("#22262C", "#1B1F24", "#20242A", "#E7E9EC", "#333942", "#2573AB", "#8D95A0", "#6B727C")
        if dark
        else (
            "#F5F6F8",
            "#FFFFFF",
            "#F5F7FA",
            "#1C2128",
            "#FBFCFD",
            "#0072B2",
            "#6F7782",
            "#9AA1AB",
        )
    )
    palette = QPalette(QColor(button), QColor(window))
    for each, colour in {
        role.Window: window,
        role.WindowText: text,
        role.Base: base,
        role.AlternateBase: alternate,
        role.Text: text,
        role.Button: button,
        role.ButtonText: text,
        role.BrightText: "#FFFFFF",
        role.ToolTipBase: extra.card,
        role.ToolTipText: text,
        role.PlaceholderText: placeholder,
        role.Highlight: highlight,
        role.HighlightedText: "#FFFFFF",
        role.Accent: highlight,
        role.Link: extra.accent,
        role.LinkVisited: extra.accent,
    }.items():
        palette.setColor(each, QColor(colour))
    for each in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        palette.setColor(QPalette.ColorGroup.Disabled, each, QColor(faint))
    palette.setColor(QPalette.ColorGroup.Disabled, role.Highlight, QColor(extra.line))
    return palette


class _Theme(QObject):
    """Remembers the chosen scheme and follows the system when it is `Scheme.SYSTEM`."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self.scheme = Scheme.SYSTEM
        self._style = Style("Fusion")
        app.setStyle(self._style)
        for name in _FACES:
            QFontDatabase.addApplicationFont(str(resources() / "fonts" / name))
        font = QFont(FACE)
        font.setPointSizeF(max(app.font().pointSizeF(), LEAST_POINTS))
        app.setFont(font)
        app.styleHints().colorSchemeChanged.connect(self.paint)

    def paint(self) -> None:
        dark = self.scheme is Scheme.DARK or (
            self.scheme is Scheme.SYSTEM
            and QGuiApplication.styleHints().colorScheme() is Qt.ColorScheme.Dark
        )
        QApplication.setPalette(_palette(dark=dark))


def apply(app: QApplication, scheme: str = Scheme.SYSTEM) -> None:
    """Give the application Fusion and a light or dark palette.

    Parameters
    ----------
    scheme : str
        ``"light"``, ``"dark"`` or ``"system"`` (which follows the system while it runs).
    """
    theme = app.findChild(_Theme) or _Theme(app)
    theme.scheme = Scheme(scheme)
    theme.paint()


def scaled(font: QFont, factor: float, *, strong: bool = False) -> QFont:
    """Return a font in another size, and in the second of our two weights when it is strong."""
    other = QFont(font)
    other.setPointSizeF(font.pointSizeF() * factor)
    if strong:
        other.setWeight(QFont.Weight.DemiBold)
    return other


def palette_changed(event: QEvent) -> bool:
    """Return whether a ``changeEvent`` asks for new colours."""
    return event.type() == QEvent.Type.PaletteChange
