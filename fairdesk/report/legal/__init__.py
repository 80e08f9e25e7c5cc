"""What rules and standards ask for: dated notes in JSON files beside this module, one for each.

A note says what a rule was read to say, when, and where; never whether anything keeps it. Whoever
changes what a note says gives it a new ``id`` (its file's name, with its date or edition) and says
when it was read, so that an older report can still be understood.
"""

from __future__ import annotations

from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from fairdesk.audit.store.records import TemplateKey
from fairdesk.document.blocks import Note, Section, Text
from fairdesk.report.content.kinds import TEMPLATES
from fairdesk.report.content.material import Material
from fairdesk.wording.language import month_text, say

_HERE = Path(__file__).parent
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
        msgspec.json.decode(path.read_bytes(), type=Rule) for path in sorted(_HERE.glob("*.json"))
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


def section(material: Material) -> Section:
    """Print the notes of a template in a section of their own."""
    held = notes(material.choice.template)
    return Section("Rules and standards", (Text(NO_ADVICE), *held))
