"""What reports share as files: definitions, limits, forms of the kinds of report, notes on rules.

A note (``legal/*.json``, one for each rule or standard) says what a rule was read to say, when, and
where; never whether anything keeps it. Whoever changes what a note says gives it a new ``id`` (its
file's name, with its date or edition) and says when it was read, so that an older report can still
be understood. Sections that several kinds of report share are made in `fairdesk.report.sections`;
those of one kind (``templates/*.toml``) are filled in by `fairdesk.report.templates.forms`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import msgspec

from fairdesk.audit.store.records import TemplateKey
from fairdesk.document.blocks import Formula, Note, Text
from fairdesk.wording.language import month_text, say

Name = Literal["definitions", "limits"]


class Passage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A paragraph; with a ``formula``, the definition of a quantity, as in `Formula`."""

    text: str
    lead: str = ""
    formula: str = ""
    name: str = ""
    alt: str = ""


@cache
def passages(name: Name) -> dict[str, tuple[Passage, ...]]:
    """Return the passages of a file, by their subjects."""
    held = Path(__file__).with_name(f"{name}.toml").read_bytes()
    return msgspec.toml.decode(held, type=dict[str, tuple[Passage, ...]])


def definitions(subject: str) -> tuple[Text | Formula, ...]:
    """Return what a subject's quantities are."""
    return tuple(
        Formula(each.formula, each.name, each.alt, each.text)
        if each.formula
        else Text(each.text, each.lead)
        for each in passages("definitions")[subject]
    )


def limits(subject: str, **values: str) -> Iterator[Text]:
    """Yield what an audit cannot tell; with values for the places in its texts."""
    for each in passages("limits")[subject]:
        yield Text(say(each.text, **values), say(each.lead, **values))


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What stands at a place of a section, where its condition holds.

    Attributes
    ----------
    when : str
        The condition, one of `fairdesk.report.templates.forms`; empty for always.
    heading, text, callout : str
        A heading, a paragraph, or one that must not be missed. A name in braces is a value of
        `fairdesk.report.templates.forms`, or a text of the kind; ``{see data}`` refers to a
        section in brackets, where the report has it.
    lead : str
        The first words of the paragraph.
    outside : str
        What an audit for discrimination cannot tell, a line.
    facts : tuple[str, ...]
        What the auditor filled in under these keys; and measured facts, by their names.
    optional : bool
        Whether nothing is said where there are no facts.
    made : str
        The name of what makes the blocks that stand here.
    """

    when: str = ""
    heading: str = ""
    text: str = ""
    callout: str = ""
    lead: str = ""
    outside: str = ""
    facts: tuple[str, ...] = ()
    optional: bool = False
    made: str = ""


class Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A section: its title and parts, whether on a new page; and what it says without any part."""

    title: str
    blocks: tuple[Part, ...]
    fresh: bool = False
    otherwise: str = ""


class Template(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of report.

    Attributes
    ----------
    title : str
        What it is called.
    holds : str
        What it is for, a sentence.
    chapters : tuple[str, ...]
        The keys of its sections, in their order.
    notes : tuple[str, ...]
        The keys of the notes on rules that it prints (`fairdesk/report/legal/`).
    sections : dict[str, Form]
        The sections that it alone has, by their keys.
    texts : dict[str, str]
        Texts that several of its parts have, by their names.
    """

    title: str
    holds: str
    chapters: tuple[str, ...]
    notes: tuple[str, ...] = ()
    sections: dict[str, Form] = {}
    texts: dict[str, str] = {}


_FOLDER = Path(__file__).parents[1] / "templates"
TEMPLATES: dict[TemplateKey, Template] = {
    key: msgspec.toml.decode((_FOLDER / f"{key}.toml").read_bytes(), type=Template)
    for key in get_args(TemplateKey)
}


_NOTES = Path(__file__).parents[1] / "legal"
#: What a note rests on: a copy of the rule's own text, or what others write about it.
Status = Literal["text", "secondary"]
_STATUS: dict[Status, str] = {
    "text": "Wording checked against a copy of the text.",
    "secondary": "Stated from secondary sources, not checked against the text itself.",
}
#: What stands below the notes, always.
NO_ADVICE = (
    "These notes are not legal advice. This report does not say whether a rule applies or "
    "whether it is complied with."
)


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where it can be read."""

    title: str
    url: str


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a rule or a standard asks for.

    Attributes
    ----------
    id : str
        The name of its file, with its date or edition.
    title : str
        What it is called.
    where : str
        Where it holds, and since when.
    read : str
        The month in which it was read: ``2026-11``.
    status : str
        What the note rests on.
    source : Source
        Where it can be read.
    statements : tuple[str, ...]
        What it asks for, whole sentences.
    """

    id: str
    title: str
    where: str
    read: str
    status: Status
    source: Source
    statements: tuple[str, ...]


@cache
def rules() -> dict[str, Rule]:
    """Return all of them, by their ids."""
    read = [
        msgspec.json.decode(path.read_bytes(), type=Rule) for path in sorted(_NOTES.glob("*.json"))
    ]
    return {rule.id: rule for rule in read}


def notes(template: TemplateKey) -> tuple[Note, ...]:
    """Return the notes that a template prints, in its order."""
    return tuple(note(key) for key in TEMPLATES[template].notes)


def note(key: str) -> Note:
    """Return one note, as a report shows it."""
    rule = rules()[key]
    month = month_text(datetime.fromisoformat(f"{rule.read}-01"))
    return Note(
        title=rule.title,
        dated=say("{where}; as read in {month}", where=rule.where, month=month),
        text=" ".join((*map(say, rule.statements), _STATUS[rule.status])),
        source=rule.source.title,
        url=rule.source.url,
    )
