"""The questions that only people can answer of a report; `form.toml` beside this holds them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from fairdesk.audit.store.records import TemplateKey

Kind = Literal["line", "text", "date", "choice"]
Group = Literal[
    "Cover",
    "System and use",
    "Data",
    "Categories",
    "Limitations",
    "EU AI Act, Annex IV",
    "Model card",
]


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A field is asked for only when another one is one of these."""

    key: str
    among: tuple[str, ...]


class Field(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question to the auditor.

    Attributes
    ----------
    key : str
        Its name in `fairdesk.audit.store.records.Details.texts`.
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
    when : Condition, optional
        Asked for only then.
    """

    key: str
    label: str
    help: str
    group: Group
    kind: Kind = "line"
    choices: tuple[str, ...] = ()
    used_by: tuple[TemplateKey, ...] = ("plain", "ll144", "annex-iv", "model-card")
    required_by: tuple[TemplateKey, ...] = ()
    example: str = ""
    when: Condition | None = None


def _read() -> tuple[Field, ...]:
    """Return all questions, in the order of the form; their group is their table's name."""
    held = Path(__file__).with_suffix(".toml").read_bytes()
    groups = msgspec.toml.decode(held, type=dict[Group, list[dict[str, Any]]])
    return tuple(
        msgspec.convert({"group": group, **asked}, Field)
        for group, questions in groups.items()
        for asked in questions
    )


#: All of them, in the order of the form.
FORM = _read()
