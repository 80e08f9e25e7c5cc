"""Which figure do I need? Questions that end in a method, or in one of the figures it measures."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.manual.html import slug
from fairdesk.manual.places import figure_place, method_place


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer.

    Attributes
    ----------
    text : str
        The answer.
    next, end : str
        The key of the question that follows, or of the end that it leads to: one of the two.
    """

    text: str
    next: str = ""
    end: str = ""


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question.

    Attributes
    ----------
    text : str
        The question.
    answers : tuple of Answer
        At least two.
    help : str
        What to consider.
    """

    text: str
    answers: tuple[Answer, ...]
    help: str = ""


class End(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What answers the question.

    Attributes
    ----------
    method : str
        The key of the method that measures it.
    why : str
        Why it fits.
    figure, name : str
        One of the method's figures: its anchor on the page of the figures, and what it is called.
    sources : tuple of str
        Keys of what it rests on, besides the method's own paper.
    """

    method: str
    why: str
    figure: str = ""
    name: str = ""
    sources: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The figure, else the method."""
        return self.name or METHODS[self.method].title

    @property
    def place(self) -> str:
        """Where it is described."""
        return figure_place(self.figure) if self.figure else method_place(self.method)


class Choosing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole tree.

    Attributes
    ----------
    first : str
        The key of the question to begin with.
    sources : dict
        What the tree rests on, by keys.
    questions, ends : dict
        By keys.
    """

    first: str
    sources: dict[str, str]
    questions: dict[str, Question]
    ends: dict[str, End]

    def sources_of(self, end: End) -> tuple[str, ...]:
        """Return what an end rests on; of a method by itself its paper comes first."""
        paper = () if end.figure else (METHODS[end.method].paper,)
        return (*paper, *(self.sources[key] for key in end.sources))


@cache
def choosing() -> Choosing:
    """Return the tree."""
    text = Path(__file__).with_name("choosing.toml").read_bytes()
    return msgspec.toml.decode(text, type=Choosing)


def questions_page() -> str:
    """Return the tree as Markdown: a section for each question."""
    tree = choosing()
    parts = []
    for question in tree.questions.values():
        parts.append(f"## {question.text}\n")
        if question.help:
            parts.append(f"{question.help}\n")
        parts += [_answer(tree, each) for each in question.answers]
        parts.append("")
    return "\n".join(parts)


def sources_page() -> str:
    """Return what the tree rests on as Markdown."""
    return "\n".join(f"- {each}." for each in choosing().sources.values())


def _answer(tree: Choosing, answer: Answer) -> str:
    if answer.next:
        following = tree.questions[answer.next].text
        return f"- *{answer.text}* → [{following}](#{slug(following)})"
    end = tree.ends[answer.end]
    link = f"[{end.title}](../{end.place})"
    if end.figure:
        method = METHODS[end.method].title
        link += f", measured by [{method}](../{method_place(end.method)})"
    return f"- *{answer.text}* → {link}. {end.why}"
