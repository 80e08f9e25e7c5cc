"""Formulas of the look, by themselves: MathML for pages of a browser, pictures for the window."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

_LOOK = Path(__file__).parent / "look"
#: Every formula by itself, in the order of their names.
_FLOWING = """
#import "formulas.typ": formulas
#for key in formulas.keys().sorted() { math.equation(block: true, formulas.at(key).body) }
"""
_PAGES = """
#import "formulas.typ": formulas
#set page(width: auto, height: auto, margin: 2pt, fill: none)
#for key in formulas.keys().sorted() {
  page(math.equation(block: true, formulas.at(key).body))
}
"""


def formula(key: str, alt: str) -> str:
    """Return a formula as MathML; empty where the look has none of that name."""
    from markupsafe import escape  # noqa: PLC0415 - comes with Jinja

    drawn = _formulas().get(key, "")
    return drawn.replace("<math", f'<math alttext="{escape(alt)}"', 1)


@cache
def formula_pictures() -> dict[str, bytes]:
    """Return all formulas by their keys as SVG, black on nothing."""
    return dict(zip(_names(), _compiled(_PAGES, "svg"), strict=True))


@cache
def _formulas() -> dict[str, str]:
    """Return all formulas as MathML, as typst writes it."""
    made = _compiled(_FLOWING, "html").decode()
    drawn = re.findall(r"<math.*?</math>", made, flags=re.DOTALL)
    return dict(zip(_names(), drawn, strict=True))


def _names() -> list[str]:
    source = (_LOOK / "formulas.typ").read_text(encoding="utf-8")
    return sorted(re.findall(r"^  ([a-z]+): \$", source, flags=re.MULTILINE))


def _compiled(source: str, kind: Any) -> Any:  # noqa: ANN401 - pages, or one file
    import typst  # noqa: PLC0415 - 80 MB that only a report needs

    # typst's stubs want both to be of one type
    folder: Any = _LOOK
    return typst.compile(source.encode(), root=folder, format=kind)
