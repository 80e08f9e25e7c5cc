"""Colours, spacing and type: one look, light and dark, from palettes on Qt's Fusion style.

Widgets take their base colours from the palette and repaint on ``QEvent.PaletteChange``; what a
palette has no role for (verdicts, quiet text, hairlines) comes from `colours`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QProxyStyle, QStyle, QStyleOption, QWidget

#: Spacing in logical pixels: within a group, between groups, around a page.
TIGHT, NEAR, GAP, WIDE, PAGE = 4, 8, 12, 20, 28

#: The system's own size of type is used, but never a smaller one than this.
LEAST_POINTS = 10.0


class Scheme(StrEnum):
    """Which palette the window uses."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True)
class Colours:
    """What a palette has no role for.

    Attributes
    ----------
    consistent, discriminatory, undecided : str
        The verdicts; each is shown with a mark or a word beside it, never by colour alone.
    quiet : str
        Text that explains, readable (4.5:1) on window and base.
    line : str
        Hairlines and borders of cards.
    card : str
        The ground of a card.
    accent : str
        What is chosen or can be pressed.
    tint : str
        The ground of what is chosen.
    notice : str
        The ground of a message that needs attention.
    wrong : str
        Text that tells of an error or a blocked step.
    bar : str
        Bars that only describe the data and judge nothing.
    series : tuple of str
        Lines of charts: the Okabe-Ito colours, told apart with any kind of colour vision, made
        darker or lighter until their labels can be read.
    """

    consistent: str
    discriminatory: str
    undecided: str
    quiet: str
    line: str
    card: str
    accent: str
    tint: str
    notice: str
    wrong: str
    bar: str
    series: tuple[str, ...]


LIGHT = Colours(
    consistent="#0072B2",
    discriminatory="#D55E00",
    undecided="#7F7F7F",
    quiet="#5A626E",
    line="#D5DAE1",
    card="#FFFFFF",
    accent="#0069A5",
    tint="#E3F0F9",
    notice="#FFF4E5",
    wrong="#A84300",
    bar="#8A9BB0",
    series=("#0072B2", "#946300", "#00785A", "#A34D87", "#2A78AD", "#B34700"),
)
DARK = Colours(
    consistent="#4DA8E0",
    discriminatory="#F28C43",
    undecided="#9AA0A8",
    quiet="#A3ABB6",
    line="#434A53",
    card="#2A2F36",
    accent="#6CBBEF",
    tint="#1F3A4F",
    notice="#3B2E1E",
    wrong="#F5A066",
    bar="#66788E",
    series=("#4DA8E0", "#E69F00", "#1FBF8F", "#E08FBE", "#A9D8F5", "#F28C43"),
)


def is_dark(palette: QPalette) -> bool:
    """Return whether a palette is a dark one."""
    return palette.color(QPalette.ColorRole.Window).lightness() < 128


def colours() -> Colours:
    """Return the colours that go with the application's palette."""
    return DARK if is_dark(QGuiApplication.palette()) else LIGHT


def _palette(*, dark: bool) -> QPalette:
    role = QPalette.ColorRole
    extra = DARK if dark else LIGHT
    window, base, alternate, text, button, highlight, placeholder, faint = (
        ("#22262C", "#15181C", "#1C2025", "#E7E9EC", "#333942", "#2C7FBA", "#8D95A0", "#6B727C")
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


class _Roomy(QProxyStyle):
    """Fusion with a little more room in what is pressed and typed into."""

    _ROOM: Final = {
        QStyle.ContentsType.CT_PushButton: QSize(12, 6),
        QStyle.ContentsType.CT_ComboBox: QSize(4, 6),
        QStyle.ContentsType.CT_LineEdit: QSize(4, 6),
        QStyle.ContentsType.CT_SpinBox: QSize(4, 4),
    }

    def sizeFromContents(  # noqa: N802 - Qt's name
        self,
        kind: QStyle.ContentsType,
        option: QStyleOption,
        size: QSize,
        widget: QWidget | None = None,
    ) -> QSize:
        """Return the size of a control."""
        fitting = super().sizeFromContents(
            kind,
            option,
            size,
            widget,  # type: ignore[arg-type]  # Qt takes none, its stub does not
        )
        return fitting + self._ROOM[kind] if kind in self._ROOM else fitting


class _Theme(QObject):
    """Remembers the chosen scheme and follows the system when it is `Scheme.SYSTEM`."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self.scheme = Scheme.SYSTEM
        self._style = _Roomy("Fusion")
        app.setStyle(self._style)
        font = app.font()
        if font.pointSizeF() < LEAST_POINTS:
            font.setPointSizeF(LEAST_POINTS)
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
    app : QApplication
        The application.
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
