"""A page as HTML that a plain viewer of text can show, and its sections, which are searched."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from fairdesk.manual.places import ANCHOR, DEFINITION

#: So many letters of a section's text are shown before and after what was found in it.
_BEFORE, _AFTER = 40, 90


#: What MkDocs is told about a page, above its title.
_ABOUT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
#: A remark with a title.
_REMARK = re.compile(r'^!!! \w+ "([^"]*)"\n((?:(?: {4}.*)?\n)+)', re.MULTILINE)
_TERM = re.compile(r'<dt><a name="([^"]+)"></a>(.*?)</dt><dd>(.*)</dd>')
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


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


@dataclass
class Section:
    """A heading or a term, and the text up to the next one.

    Attributes
    ----------
    title, anchor : str
        What it is called, and where it begins.
    text : str
        Without markup.
    """

    title: str
    anchor: str
    text: str = ""


@dataclass
class Rendered:
    """A page.

    Attributes
    ----------
    html : str
        Its body.
    sections : list of Section
        From the top; the first begins with the page's title.
    """

    html: str
    sections: list[Section] = field(default_factory=list)

    @property
    def anchors(self) -> set[str]:
        """Every place of the page that a link can lead to."""
        return set(re.findall(r'<a (?:id|name)="([^"]+)"', self.html))


def rendered(text: str, *, glossary: bool = False) -> Rendered:
    """Write a page of the documentation as HTML.

    The Markdown is what MkDocs is given: CommonMark with tables, definitions, remarks and
    anchors. What a heading is linked by is the same on the site.

    Parameters
    ----------
    glossary : bool
        Whether each of its terms is a section of its own.
    """
    marked = MarkdownIt("commonmark").enable("table")
    made = Rendered("")
    taken: set[str] = set()
    headed: Token | None = None
    tokens = marked.parse(_simplified(_ABOUT.sub("", text), marked))
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            headed = tokens[at + 1]
            anchor = _name_heading(headed, taken)
            token.meta["anchor"] = anchor
            made.sections.append(Section(_plain(headed), anchor))
        elif token.type == "html_block" and made.sections:
            found = _TERM.search(token.content) if glossary else None
            if found:
                made.sections.append(Section(_unmarked(found[2]), found[1]))
            made.sections[-1].text += f" {_unmarked(found[3] if found else token.content)}"
        elif token.type in {"inline", "fence"} and made.sections and token is not headed:
            made.sections[-1].text += f" {_plain(token)}"
    made.html = marked.renderer.render(_anchored(tokens), marked.options, {})
    return made


def slug(text: str, taken: set[str] | None = None) -> str:
    """Return the anchor of a heading, as MkDocs makes it.

    Parameters
    ----------
    taken : set of str, optional
        The anchors above it on the page; this one is added.
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    made = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())
    if taken is None:
        return made
    name, number = made, 0
    while name in taken:
        number += 1
        name = f"{made}_{number}"
    taken.add(name)
    return name


def _simplified(text: str, marked: MarkdownIt) -> str:
    """Write what CommonMark does not have by what it has; code stays as it is."""
    parts, end = [], 0
    for code in _FENCED.finditer(text):
        parts += [_extended(text[end : code.start()], marked), code[0]]
        end = code.end()
    return "".join([*parts, _extended(text[end:], marked)])


def _extended(text: str, marked: MarkdownIt) -> str:
    def definition(found: re.Match[str]) -> str:
        named = ANCHOR.search(found[1])
        term = ANCHOR.sub("", found[1])
        anchor = named[1] if named else slug(term)
        named_term = f'<a name="{anchor}"></a>{marked.renderInline(term)}'
        meaning = marked.renderInline(re.sub(r"\n {4}", " ", found[2]))
        return f"<dl><dt>{named_term}</dt><dd>{meaning}</dd></dl>\n"

    def remark(found: re.Match[str]) -> str:
        lines = [f"**{found[1]}**", "", *(line[4:] for line in found[2].splitlines())]
        return "".join(f"> {line}".rstrip() + "\n" for line in lines) + "\n"

    return DEFINITION.sub(definition, _REMARK.sub(remark, text))


def _name_heading(inline: Token, taken: set[str]) -> str:
    """Take the anchor that a heading names out of its text, or make one of the text."""
    last = inline.children[-1] if inline.children else inline
    named = ANCHOR.search(last.content)
    if named:
        last.content = ANCHOR.sub("", last.content)
        taken.add(named[1])
        return named[1]
    return slug(_plain(inline), taken)


def _anchored(tokens: list[Token]) -> list[Token]:
    """Put an anchor into each heading: viewers of text know no other."""
    made = []
    for token in tokens:
        made.append(token)
        if "anchor" in token.meta:
            anchor = html.escape(token.meta["anchor"])
            made.append(Token("html_inline", "", 0, content=f'<a name="{anchor}"></a>'))
    return made


def _plain(token: Token) -> str:
    """Return a token's text without markup."""
    if token.children is None:
        return token.content
    return "".join(
        " " if each.type in {"softbreak", "hardbreak"} else each.content
        for each in token.children
        if each.type in {"text", "code_inline", "softbreak", "hardbreak"}
    )


def _unmarked(text: str) -> str:
    """Return a text of HTML without its marks."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())
