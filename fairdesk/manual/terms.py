"""The vocabulary: its terms with their definitions, as the page of terms has them."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from fairdesk.files import documentation
from fairdesk.manual.places import ANCHOR, DEFINITION, TERMS


class Term(NamedTuple):
    """An entry of the page of terms.

    Attributes
    ----------
    title : str
        Its heading: a term, or several that are defined together.
    meaning : str
        The definition, as Markdown in one line.
    names : tuple of str
        What it is called in sentences, in small letters but for abbreviations.
    """

    title: str
    meaning: str
    names: tuple[str, ...]

    @property
    def plain(self) -> str:
        """The definition without markup."""
        return re.sub(r"[*`]", "", self.meaning)


class Named(NamedTuple):
    """A term in a text, from one place up to another."""

    term: Term
    begin: int
    end: int


@cache
def glossary() -> tuple[Term, ...]:
    """Return all terms in the order of their page."""
    text = (documentation() / TERMS).read_text(encoding="utf-8")
    return tuple(_term(found) for found in DEFINITION.finditer(text))


def filtered(text: str, words: str) -> str:
    """Return the page of terms with those entries only that hold every word.

    Parameters
    ----------
    words : str
        What is looked for; upper and lower case are the same. Without any the page is whole.
    """
    wanted = words.casefold().split()
    if not wanted:
        return text
    made = []
    for part in re.split(r"(?m)^(?=## )", text)[1:]:
        kept = [
            found[0]
            for found in DEFINITION.finditer(part)
            if all(word in found[0].casefold() for word in wanted)
        ]
        if kept:
            made += [part.partition("\n")[0], *kept]
    return "# Terms\n\n" + ("\n\n".join(made) if made else "No term matches this filter.\n")


def terms_in(text: str) -> list[Named]:
    """Return the terms that a text uses, in its order; of terms in each other the longest."""
    names, pattern = _names()
    made = []
    for found in pattern.finditer(text):
        name = found[1].lower()
        term = names.get(name) or names[_singular(name)]
        made.append(Named(term, *found.span(1)))
    return made


def term_at(text: str, place: int) -> Term | None:
    """Return the term that a text has at a place, if there is one."""
    return next((each.term for each in terms_in(text) if each.begin <= place < each.end), None)


def _term(found: re.Match[str]) -> Term:
    title = ANCHOR.sub("", found[1]).strip()
    meaning = " ".join(found[2].split())
    # other names are in brackets, or set off where they are defined
    short = re.findall(r"\(([A-Za-z][^)]*)\)", title)
    defined = re.findall(r"\*([^*]+)\*", meaning)
    plain = re.sub(r" ?\([A-Za-z][^)]*\)", "", title)
    names = [*plain.split(", "), *short, *defined]
    return Term(title, meaning, tuple(map(_written, names)))


def _written(name: str) -> str:
    """Write a name as in the middle of a sentence; abbreviations keep their capitals."""
    return name if name.isupper() or name.startswith("SHA") else name[:1].lower() + name[1:]


def _singular(name: str) -> str:
    return f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")


@cache
def _names() -> tuple[dict[str, Term], re.Pattern[str]]:
    """Return the terms by their names in small letters, and what finds them, plurals too."""
    names: dict[str, Term] = {}
    forms: dict[str, str] = {}
    for term in glossary():
        own = [_written(name) for name in term.title.split(", ")]
        for name in term.names:
            # an entry's own name goes before one that another mentions
            if name.lower() not in names or name in own:
                names[name.lower()] = term
                forms[name] = _forms(name)
    longest = sorted(forms, key=len, reverse=True)
    every = "|".join(forms[name] for name in longest)
    return names, re.compile(rf"(?<![\w-])({every})(?![\w-])")


def _forms(name: str) -> str:
    """Return a pattern of a name and its plural; abbreviations are written in capitals only."""
    if name.isupper():
        return f"{re.escape(name)}s?"
    if name.endswith("y"):
        return f"(?i:{re.escape(name[:-1])}(?:y|ies))"
    return f"(?i:{re.escape(name)}s?)"
