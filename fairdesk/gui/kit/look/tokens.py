"""Spacing and colours, each said once."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QGuiApplication, QPalette

#: Spacing in logical pixels, on a grid of 8: within a group (half of it), between what belongs
#: together, between groups, between parts, beside a page.
TIGHT, NEAR, GAP, WIDE, PAGE = 4, 8, 16, 24, 32
#: Around a page: left, top, right, bottom.
AROUND = (PAGE, WIDE, PAGE, GAP)
#: How round the corners of cards and of buttons are.
ROUND, ROUNDED = 8, 6


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
    series : tuple of str
        Lines of charts: the Okabe-Ito colours, told apart with any kind of colour vision, made
        darker or lighter until their labels can be read.
    """

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
    series: tuple[str, ...]


LIGHT = Colours(
    consistent="#0072B2",
    discriminatory="#D55E00",
    undecided="#7F7F7F",
    quiet="#5A626E",
    line="#D5DAE1",
    edge="#848C98",
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
    edge="#7A838F",
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
