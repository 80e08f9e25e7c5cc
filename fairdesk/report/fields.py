"""What only people can tell of a report, as the form asks for it; and what is still missing."""

from __future__ import annotations

from typing import Literal

import msgspec

from fairdesk.audit.details import Details, TemplateKey

Kind = Literal["line", "text", "date", "choice"]


class Field(msgspec.Struct, frozen=True):
    """A question to the auditor.

    Attributes
    ----------
    key : str
        Its name in `fairdesk.audit.details.Details.texts`.
    label : str
        What the form calls it.
    help : str
        What belongs there, a sentence or two.
    group : str
        The heading below which the form and the completeness list show it.
    kind : str
        A ``"line"``, a ``"text"`` of several, a ``"date"`` (ISO), or a ``"choice"``.
    choices : tuple[str, ...]
        What can be chosen.
    used_by, required_by : tuple[TemplateKey, ...]
        The templates that print it, and those that cannot be final without it.
    example : str
        Shown while it is empty.
    """

    key: str
    label: str
    help: str
    group: str
    kind: Kind = "line"
    choices: tuple[str, ...] = ()
    used_by: tuple[TemplateKey, ...] = ("plain", "ll144", "annex-iv", "model-card")
    required_by: tuple[TemplateKey, ...] = ()
    example: str = ""


_FIELDS = (
    Field(
        "system",
        "Audited system",
        "The name under which the system is known, with its version.",
        "Cover",
        required_by=("plain", "ll144", "annex-iv", "model-card"),
        example="CreditCheck 4.2",
    ),
    Field(
        "auditor",
        "Auditor",
        "Who made the audit.",
        "Cover",
        required_by=("plain", "ll144", "annex-iv", "model-card"),
    ),
)
#: By their keys, in the order of the form.
FIELDS: dict[str, Field] = {field.key: field for field in _FIELDS}


def fields_of(template: TemplateKey) -> tuple[Field, ...]:
    """Give the fields that a template prints, in the order of the form."""
    return tuple(field for field in FIELDS.values() if template in field.used_by)


def missing(template: TemplateKey, details: Details) -> tuple[Field, ...]:
    """Give the fields that are empty and without which a template's report cannot be final."""
    return tuple(
        field
        for field in fields_of(template)
        if template in field.required_by and not details.texts.get(field.key, "").strip()
    )
