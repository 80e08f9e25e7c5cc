"""Places in the documentation: a page, perhaps with an anchor on it."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

#: An anchor that a heading or a term names itself: ``{ #name }``.
ANCHOR = re.compile(r"\s*\{ *#([\w.-]+) *\}\s*$")
#: A term and what it means, as python-markdown reads them.
DEFINITION = re.compile(r"^(?![ #>|`-])(\S.*)\n:   (.*(?:\n(?: {4}.*\S.*))*)\n", re.MULTILINE)


FIRST = "index.md"
TERMS = "terms.md"
CHOICE = "how-to/choose-a-figure.md"
METHODS = "reference/methods.md"
FIGURES = "reference/figures.md"


class Chapter(msgspec.Struct, frozen=True):
    """Pages under one heading of the contents, titles by their places; or a page by itself."""

    title: str
    pages: dict[str, str]


#: What there is, in its order.
CONTENTS = msgspec.toml.decode(
    Path(__file__).with_name("contents.toml").read_bytes(), type=dict[str, tuple[Chapter, ...]]
)["chapters"]


def method_place(method: str) -> str:
    """Return where a method is described, by its key."""
    return f"{METHODS}#{method}"


def option_place(method: str, option: str) -> str:
    """Return where an option of a method is described."""
    return f"{METHODS}#{method}.{option}"


def figure_place(formula: str) -> str:
    """Return where a figure is described, by the key of its formula."""
    return f"{FIGURES}#{formula}"
