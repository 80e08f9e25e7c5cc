"""Texts that reports share as they stand, by subject: `definitions.toml` and `limits.toml`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from fairdesk.document.blocks import Formula, Text
from fairdesk.wording.language import say

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
