"""The colours of charts on paper, and how colours are mixed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fairdesk.charts.shapes import Colour

#: Of the report, by what they are for.
ON_PAPER: Final = {
    "ink": "#1a1a1a",
    "quiet": "#555555",
    "line": "#d9d9d9",
    "ground": "#ffffff",
    "card": "#ffffff",
    "tint": "#dcebf5",
    "consistent": "#0072B2",
    "discriminatory": "#D55E00",
    "undecided": "#7f7f7f",
    "wrong": "#A84300",
    "accent": "#0069A5",
    "bar": "#8A9BB0",
    # Okabe and Ito's, in this order; black and yellow are left out
    "series 0": "#0072B2",
    "series 1": "#D55E00",
    "series 2": "#009E73",
    "series 3": "#CC79A7",
    "series 4": "#56B4E9",
    "series 5": "#E69F00",
}


def resolve(colour: Colour, palette: Mapping[str, str]) -> str:
    """Return a colour as ``#rrggbb``."""
    if isinstance(colour, str):
        return palette[colour]
    ground = resolve(colour.on, palette)
    own = readable_on(ground) if colour.role == "readable" else palette[colour.role]
    return mixed(ground, own, colour.share)


def mixed(ground: str, colour: str, share: float) -> str:
    """Mix two colours: ``share`` of the second."""
    pairs = zip(_parts(ground), _parts(colour), strict=True)
    return "#" + "".join(f"{round(255 * (low + share * (high - low))):02x}" for low, high in pairs)


def readable_on(ground: str) -> str:
    """Return what can be read on a ground: black or white, whichever stands out more."""
    red, green, blue = map(_linear, _parts(ground))
    return "#000000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 else "#ffffff"


def _parts(colour: str) -> tuple[float, ...]:
    return tuple(int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))


def _linear(part: float) -> float:
    """Undo the curve of sRGB (IEC 61966-2-1)."""
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
