"""Colours, spacing, type and style: one look, light and dark, by a style sheet on Qt's Fusion.

Widgets take their base colours from the palette and repaint on ``QEvent.PaletteChange``; what a
palette has no role for (verdicts, quiet text, hairlines) comes from `colours`.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from string import Template
from typing import Final

import msgspec
from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPainter, QPalette
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QProxyStyle,
    QPushButton,
    QWidget,
)

from fairdesk.files import resources

#: Spacing in logical pixels, on a grid of 8: within a group (half of it), between what belongs
#: together, between groups, between parts, beside a page.
TIGHT, NEAR, GAP, WIDE, PAGE = 4, 8, 16, 24, 32
#: Around a page: left, top, right, bottom.
AROUND = (PAGE, WIDE, PAGE, GAP)
#: How round the corners of cards and of buttons are.
ROUND, ROUNDED = 8, 6


class Colours(msgspec.Struct, frozen=True):
    """The colours of a scheme, as ``resources/style/colours.json`` has them.

    Attributes
    ----------
    window, base, alternate, text, button, highlight, placeholder, faint : str
        Those of the palette; ``faint`` is what is off.
    consistent, discriminatory, undecided : str
        The verdicts; each is shown with a mark or a word beside it, never by colour alone.
    quiet : str
        Text that explains, readable (4.5:1) on window and base.
    line : str
        Hairlines and borders of cards.
    edge : str
        The edge of what can be pressed: told from what is around it (3:1).
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
    hover, pressed, handle : str
        A button below the pointer, a filled one that is pressed, the handle of a scroll bar.
    series : tuple of str
        Lines of charts: the Okabe-Ito colours, told apart with any kind of colour vision, made
        darker or lighter until their labels can be read.
    """

    window: str
    base: str
    alternate: str
    text: str
    button: str
    highlight: str
    placeholder: str
    faint: str
    consistent: str
    discriminatory: str
    undecided: str
    quiet: str
    line: str
    edge: str
    card: str
    accent: str
    tint: str
    notice: str
    wrong: str
    bar: str
    hover: str
    pressed: str
    handle: str
    series: tuple[str, ...]


_FOLDER: Final = resources() / "style"
_SCHEMES = msgspec.json.decode((_FOLDER / "colours.json").read_bytes(), type=dict[str, Colours])
LIGHT, DARK = _SCHEMES["light"], _SCHEMES["dark"]
_WHITE: Final = "#FFFFFF"


def is_dark(palette: QPalette) -> bool:
    """Return whether a palette is a dark one."""
    return palette.color(QPalette.ColorRole.Window).lightness() < 128


def colours() -> Colours:
    """Return the colours that go with the application's palette."""
    return DARK if is_dark(QGuiApplication.palette()) else LIGHT


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


def _palette(of: Colours) -> QPalette:
    role, off = QPalette.ColorRole, QPalette.ColorGroup.Disabled
    palette = QPalette(QColor(of.button), QColor(of.window))
    for each, colour in {
        **dict.fromkeys((role.WindowText, role.Text, role.ButtonText, role.ToolTipText), of.text),
        **dict.fromkeys((role.BrightText, role.HighlightedText), _WHITE),
        **dict.fromkeys((role.Highlight, role.Accent), of.highlight),
        **dict.fromkeys((role.Link, role.LinkVisited), of.accent),
        role.Window: of.window,
        role.Base: of.base,
        role.AlternateBase: of.alternate,
        role.Button: of.button,
        role.ToolTipBase: of.card,
        role.PlaceholderText: of.placeholder,
    }.items():
        palette.setColor(each, QColor(colour))
    for each in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        palette.setColor(off, each, QColor(of.faint))
    palette.setColor(off, role.Highlight, QColor(of.line))
    return palette


def _sheet(of: Colours) -> str:
    """Return the style sheet of all controls in the colours of a scheme."""
    text = Template((_FOLDER / "controls.qss").read_text(encoding="utf-8"))
    return text.substitute(msgspec.structs.asdict(of), here=_FOLDER.as_posix())


def fill(button: QPushButton) -> None:
    """Fill a button: it is what one would press next. At most one of a page is so."""
    button.setProperty("filled", True)  # noqa: FBT003 - Qt's own


#: A text may be in several lines.
_IN_LINES: Final = Qt.TextFlag.TextWordWrap.value


class Style(QProxyStyle):
    """Fusion, below the style sheet: what is too long is cut, and the wheel changes no value."""

    def drawItemText(  # noqa: N802 - Qt's name
        self,
        painter: QPainter,
        rect: QRect,
        flags: int,
        palette: QPalette | Qt.GlobalColor | QColor,
        enabled: bool,  # noqa: FBT001 - Qt's argument
        text: str,
        role: QPalette.ColorRole = QPalette.ColorRole.NoRole,
    ) -> None:
        """Cut a line that has too little room."""
        metrics = painter.fontMetrics()
        if not flags & _IN_LINES and metrics.boundingRect(rect, flags, text).width() > rect.width():
            text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, rect.width(), flags)
        super().drawItemText(painter, rect, flags, palette, enabled, text, role)

    def polish(self, subject: object) -> None:
        """Give what is typed room at both sides, and keep fields from the wheel."""
        super().polish(subject)  # type: ignore[call-overload]  # one of its forms takes it
        if isinstance(subject, QComboBox | QAbstractSpinBox):
            subject.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            subject.installEventFilter(_no_wheel())
        if isinstance(subject, QLineEdit) and not isinstance(subject.parent(), QComboBox):
            arrows = isinstance(subject.parent(), QAbstractSpinBox)
            # of a field with arrows the sheet knows no padding
            left, right = (NEAR - 2, 0) if arrows else (TIGHT, TIGHT)
            subject.setTextMargins(left, 0, right, 0)


class _NoWheel(QObject):
    """Lets the wheel scroll the page, not change a value that the pointer happens to be over."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if event.type() != QEvent.Type.Wheel:
            return False
        if not isinstance(watched, QWidget) or watched.hasFocus():
            return False
        event.ignore()
        return True


@cache
def _no_wheel() -> _NoWheel:
    return _NoWheel()


class _Theme(QObject):
    """Remembers the chosen scheme and follows the system when it is `Scheme.SYSTEM`."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app, self.scheme = app, Scheme.SYSTEM
        self._style = Style("Fusion")
        app.setStyle(self._style)
        for name in _FACES:
            QFontDatabase.addApplicationFont(str(resources() / "fonts" / name))
        font = QFont(FACE)
        font.setPointSizeF(max(app.font().pointSizeF(), LEAST_POINTS))
        app.setFont(font)
        app.styleHints().colorSchemeChanged.connect(self.paint)

    def paint(self) -> None:
        system = QGuiApplication.styleHints().colorScheme()
        dark = self.scheme is Scheme.DARK or (
            self.scheme is Scheme.SYSTEM and system is Qt.ColorScheme.Dark
        )
        now = DARK if dark else LIGHT
        QApplication.setPalette(_palette(now))
        # each widget is looked at again
        if (controls := _sheet(now)) != self._app.styleSheet():
            self._app.setStyleSheet(controls)


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
