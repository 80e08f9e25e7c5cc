"""Icons of pages: one line of one colour, which is the theme's."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter
from PySide6.QtSvg import QSvgRenderer

from fairdesk.files import resources


def draw_icon(painter: QPainter, place: QRectF, name: str, colour: str) -> None:
    """Draw an icon.

    Parameters
    ----------
    painter : QPainter
        Draws it, as sharp as its device is.
    name : str
        Of a file in ``resources/icons/pages``.
    colour : str
        As ``#RRGGBB``.
    """
    _renderer(name, colour).render(painter, place)


@cache
def _renderer(name: str, colour: str) -> QSvgRenderer:
    text = (resources() / "icons" / "pages" / f"{name}.svg").read_text(encoding="utf-8")
    return QSvgRenderer(text.replace("currentColor", colour).encode())
