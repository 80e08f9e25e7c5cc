"""The pages of the documentation as Markdown: written by hand, with what is made put into them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fairdesk.files import documentation
from fairdesk.manual import choosing, reference
from fairdesk.manual.places import CHOICE, CONTENTS
from fairdesk.report.render.html import formula


def pages(commands: str, draw: Callable[[str, str], str] = formula) -> dict[str, str]:
    """Return the pages by their places, in the order of the contents.

    Parameters
    ----------
    commands : str
        What the page of the command line shows of the commands.
    draw : callable
        Draws a formula, given its key and what it says in words; MathML unless given.
    """
    made = {
        CHOICE: {"questions": choosing.questions_page(), "sources": choosing.sources_page()},
        "reference/methods.md": {"overview": reference.overview(), "methods": reference.methods()},
        "reference/figures.md": {"figures": reference.figures(draw)},
        "reference/limits.md": {"limits": reference.limits()},
        "reference/command-line.md": {"commands": commands},
        "reference/file-formats.md": {"unopened": reference.unopened()},
        "reference/json.md": reference.members(),
    }
    folder = documentation()
    return {
        place: _filled(folder / f"{place}.in", made[place])
        if place in made
        else (folder / place).read_text(encoding="utf-8")
        for chapter in CONTENTS
        for place in chapter.pages
    }


def _filled(path: Path, parts: dict[str, str]) -> str:
    """Put parts into the places of a page: lines like ``<!-- methods -->``."""
    text = path.read_text(encoding="utf-8")
    for name, part in parts.items():
        before, place, after = text.partition(f"<!-- {name} -->")
        if not place:
            raise ValueError(f"{path.name} has no place for “{name}”")
        text = before + part + after
    return text
