"""Texts of charts in scripts that the charts' font lacks.

Typst draws those of an SVG sign by sign, from whichever font it finds: that breaks scripts whose
signs are joined, stacked or reordered, may leave signs out, and does not tell a reader of the PDF
what is spelt. So they are taken out of the drawing, and set on it as text.
"""

from __future__ import annotations

import re
from html import unescape

import msgspec

#: A text as `fairdesk.report.render.drawing` writes it, maybe in parts.
_TEXT = re.compile(r"<text ([^>]*)>(.*?)</text>")
_TAG = re.compile(r"<[^>]*>")
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
#: What an SVG's text may hold: signs of the charts' own font, none of which depends on another.
#: Latin without loose accents, Greek, Cyrillic, punctuation and mathematical signs.
_PLAIN = re.compile(
    r"[\x00-\u02ff\u0370-\u052f\u1e00-\u200a\u2010-\u2027\u202f-\u205f\u20a0-\u20bf"
    r"\u2100-\u22ff\u2500-\u25ff\ufffd]*"
)


class Letters(msgspec.Struct, frozen=True):
    """A text on a drawing.

    Attributes
    ----------
    x, y : float
        Where it starts, ends or has its middle, and its base line; in the drawing's units.
    text : str
        What it says.
    anchor : str
        ``"start"``, ``"middle"`` or ``"end"``.
    fill, weight : str
        Its colour, ``#rrggbb``, and ``"normal"`` or ``"bold"``.
    """

    x: float
    y: float
    text: str
    anchor: str
    fill: str
    weight: str


def parted(svg: str) -> tuple[str, tuple[Letters, ...]]:
    """Return a chart without the texts that typst could not draw, and these.

    Returns
    -------
    str
        The chart without them.
    tuple[Letters, ...]
        The texts.
    """
    letters = []

    def kept(found: re.Match[str]) -> str:
        text = unescape(_TAG.sub("", found[2]))
        if _PLAIN.fullmatch(text):
            return found[0]
        attributes = dict(_ATTRIBUTE.findall(found[1]))
        letters.append(
            Letters(
                float(attributes["x"]),
                float(attributes["y"]),
                text,
                attributes.get("text-anchor", "start"),
                attributes.get("fill", "#000000"),
                attributes.get("font-weight", "normal"),
            )
        )
        return ""

    return _TEXT.sub(kept, svg), tuple(letters)
