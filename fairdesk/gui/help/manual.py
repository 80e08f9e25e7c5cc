"""All pages of the documentation, made once for the window."""

from __future__ import annotations

from dataclasses import dataclass

from fairdesk.manual import terms
from fairdesk.manual.html import Rendered, rendered
from fairdesk.manual.pages import pages
from fairdesk.manual.places import TERMS
from fairdesk.report.render.formulas import formula_pictures


@dataclass
class Manual:
    """The pages of the documentation.

    Attributes
    ----------
    pages : dict
        By their places, in the order of the contents.
    formulas : dict
        Pictures of formulas by their keys, as SVG, black on nothing.
    """

    pages: dict[str, Rendered]
    formulas: dict[str, bytes]
    _terms: str

    def page(self, place: str, words: str = "") -> Rendered:
        """Return a page; of the page of terms only what has some words."""
        if place == TERMS and words.strip():
            return rendered(terms.filtered(self._terms, words), glossary=True)
        return self.pages[place]


def make_manual(commands: str) -> Manual:
    """Make all pages; takes a second, and longer where nothing is loaded yet.

    Parameters
    ----------
    commands : str
        What the page of the command line shows of the commands.
    """
    made = pages(
        commands, lambda key, alt: f'<p><img src="formula:{key}" alt="{_quoted(alt)}"></p>'
    )
    return Manual(
        {place: rendered(text, glossary=place == TERMS) for place, text in made.items()},
        formula_pictures(),
        made[TERMS],
    )


def _quoted(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
