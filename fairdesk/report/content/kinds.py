"""The kinds of report: which sections each has, which notes on rules, and its own sections' forms.

All of it stands in ``templates/*.toml``. Sections that several kinds share are made in
`fairdesk.report.sections`; those of one kind are filled in by `fairdesk.report.templates.forms`.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import msgspec

from fairdesk.audit.store.records import TemplateKey


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
        The keys of the notes on rules that it prints (`fairdesk.report.legal`).
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
