"""Searching all pages of the documentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fairdesk.manual.html import Rendered, Section

#: So many letters of a section's text are shown before and after what was found in it.
_BEFORE, _AFTER = 40, 90


class Hit(NamedTuple):
    """A section that holds every word that was looked for.

    Attributes
    ----------
    page : str
        Its page.
    section : Section
        The section.
    excerpt : str
        The words around the first place.
    """

    page: str
    section: Section
    excerpt: str


def search(pages: Mapping[str, Rendered], text: str) -> list[Hit]:
    """Return the sections that hold every word of a text.

    Those with the words in their title come first, otherwise they are in the order of the pages.
    Upper and lower case are the same.
    """
    words = text.casefold().split()
    found: list[tuple[int, Hit]] = []
    for page, rendered in pages.items():
        for section in rendered.sections:
            title, body = section.title.casefold(), section.text.casefold()
            if words and all(word in title or word in body for word in words):
                titled = sum(word in title for word in words)
                found.append((-titled, Hit(page, section, _excerpt(section.text, words))))
    return [hit for _rank, hit in sorted(found, key=lambda each: each[0])]


def _excerpt(text: str, words: list[str]) -> str:
    text = " ".join(text.split())
    places = [at for word in words if (at := text.casefold().find(word)) >= 0]
    at = min(places, default=0)
    begin, end = max(0, at - _BEFORE), at + _AFTER
    return f"{'…' if begin else ''}{text[begin:end].strip()}{'…' if end < len(text) else ''}"
