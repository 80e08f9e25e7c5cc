"""Charts as SVG: texts stay texts, in the font that is named first and is there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from html import escape as escaped
from typing import Final

from fairdesk.charts.shapes import FONTS, SIZE, Box, Colour, Disc, Path, Point, Shape, Words

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


#: Chinese and Japanese are set in a font of their own: typst would look for one by the first sign
#: alone, and find one that has the sign, but empty.
_HAN_FONT = "Droid Sans Fallback, sans-serif"
_HAN = re.compile("[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60\U00020000-\U0003ffff]+")
#: From the middle of a line's height down to its base line, by the size of its type.
_DROP = 1 / 3
#: Writes a text between tags; what XML's own library has for that loads all of the network's.
escape = partial(escaped, quote=False)


def document(
    width: float,
    height: float,
    parts: Iterable[str],
    description: str,
    *,
    unit: str = "pt",
    fonts: str = FONTS,
    size: float = SIZE,
) -> str:
    """Put a drawing together; ``description`` is what it shows, in words."""
    family = escape(fonts).replace('"', "&quot;")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}{unit}" '
        f'height="{height:.1f}{unit}" viewBox="0 0 {width:.0f} {height:.1f}" '
        f'font-family="{family}" '
        f'font-size="{size:g}" role="img"><title>{escape(description)}</title>'
        f"{''.join(parts)}</svg>"
    )


def drawn(
    shapes: Iterable[Shape], palette: Mapping[str, str] = ON_PAPER, size: float = SIZE
) -> Iterable[str]:
    """Yield shapes as SVG; ``size`` is that of the chart's type."""
    tone = partial(_tone, palette=palette)
    for shape in shapes:
        match shape:
            case Box():
                place = (
                    f'x="{shape.x:.2f}" y="{shape.y:.1f}" width="{shape.wide:.2f}" '
                    f'height="{shape.tall:.1f}"'
                )
                edge = _edge(tone(shape.edge), shape.thick, shape.dash)
                if shape.opacity < 1:
                    edge += f' fill-opacity="{shape.opacity:g}"'
                yield f'<rect {place} fill="{tone(shape.fill)}"{edge}/>'
            case Disc():
                place = f'cx="{shape.x:.1f}" cy="{shape.y:.1f}" r="{shape.radius:.1f}"'
                edge = _edge(tone(shape.edge), shape.thick)
                yield f'<circle {place} fill="{tone(shape.fill)}"{edge}/>'
            case Path():
                path = "".join(map(_along, shape.lines))
                closed = "Z" if shape.fill is not None else ""
                edge = _edge(tone(shape.colour), shape.thick, shape.dash)
                yield f'<path d="{path}{closed}" fill="{tone(shape.fill)}"{edge}/>'
            case Words():
                yield text(
                    shape.x,
                    shape.y + _DROP * size * shape.size,
                    shape.text,
                    colour=tone(shape.colour),
                    anchor=shape.anchor,
                    weight="bold" if shape.bold else "normal",
                    size=0.0 if shape.size == 1 else shape.size * size,
                )


def text(
    x: float,
    y: float,
    said: str,
    *,
    colour: str = ON_PAPER["ink"],
    anchor: str = "start",
    weight: str = "normal",
    size: float = 0.0,
) -> str:
    """Write a line of type."""
    sized = f' font-size="{size:.1f}"' if size else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}" '
        f'font-weight="{weight}"{sized}>{_HAN.sub(_in_han, escape(said))}</text>'
    )


def _in_han(found: re.Match[str]) -> str:
    return f'<tspan font-family="{_HAN_FONT}">{found[0]}</tspan>'


def _tone(colour: Colour | None, palette: Mapping[str, str]) -> str:
    return "none" if colour is None else resolve(colour, palette)


def _edge(colour: str, thick: float, dash: Iterable[float] = ()) -> str:
    if colour == "none":
        return ""
    dashes = " ".join(f"{each:g}" for each in dash)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f' stroke="{colour}" stroke-width="{thick:g}" stroke-linejoin="round"{dashed}'


def _along(line: tuple[Point, ...]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in line)
