"""The report's sections that only people can write: the system and its use, and who signs."""

from __future__ import annotations

from collections.abc import Sequence

from fairdesk.document.blocks import Block, Callout, Fact, Facts, Section, SignatureLine, Text
from fairdesk.report.content.fields import (
    FIELDS,
    TO_FILL_IN,
    Field,
    facts,
    fields_of,
    seen,
    unsigned,
    written,
)
from fairdesk.report.content.material import Material
from fairdesk.wording.language import say

_SYSTEM = "System and use"
_WHO = "About the auditor"
#: An independence statement that is longer than this stands in its section alone.
_COVER = 260
_TOLD = (
    "This information is supplied by the auditor. It is not measured or verified in this "
    "audit and does not affect any figure."
)
_UNTOLD = "The auditor has not supplied this information. It cannot be measured in an audit."
_SIGNED = (
    "The signatory vouches for what this report states about the system, its use and its "
    "data, and for the decisions in its audit log. The figures can be verified without the "
    "signatory, from the evidence that this report names."
)


def filled(material: Material, fields: Sequence[Field]) -> tuple[Fact, ...]:
    """Return what was filled in of some fields; in a draft also what is still to be."""
    return facts(fields, material.choice.template, material.details, final=material.final)


def facts_of(material: Material, *keys: str) -> tuple[Fact, ...]:
    """Return what was filled in under some keys, in their order; in a draft also what is to be."""
    template = material.choice.template
    return filled(material, [FIELDS[key] for key in keys if template in FIELDS[key].used_by])


def cover_facts(material: Material) -> tuple[Fact, ...]:
    """Return what the cover says of what people told: what was audited, by whom, and when.

    A draft says once which required fields are empty, and where they are filled in.
    """
    template = material.choice.template
    known = {field.key: written(field, material.details) for field in fields_of(template)}
    shown = dict(known)
    if len(known.get("independence", "")) > _COVER:
        number = material.number("system") or material.number("sign-off")
        shown["independence"] = say("See section {number}.", number=str(number)) if number else ""
    found: list[Fact] = []
    empty: list[str] = []
    for keys in (
        ("system", "system_version"),
        ("auditor", "organisation"),
        ("commissioner",),
        ("audit_date",),
        ("independence",),
    ):
        if said := ", ".join(shown[key] for key in keys if shown.get(key)):
            found.append(Fact(FIELDS[keys[0]].label, said))
        empty += [
            FIELDS[key].label
            for key in keys
            if not material.final and template in FIELDS[key].required_by and not known.get(key)
        ]
    if empty:
        found.append(
            Fact(
                TO_FILL_IN,
                say(
                    "{fields}. Fill in on FairDesk’s page “Report”.",
                    fields="; ".join(empty),
                ),
            )
        )
    return tuple(found)


def system(material: Material) -> Section:
    """Return what the system is for, who made the audit, and what limits people know of."""
    template = material.choice.template
    fields = [field for field in fields_of(template) if field.group == _SYSTEM]
    keys = ("auditor", "organisation", "commissioner", "independence")
    asked = (*fields, *(FIELDS[key] for key in keys))
    supplied = any(written(field, material.details) for field in asked)
    blocks: list[Block] = [Text(_TOLD if supplied else _UNTOLD), *_facts(filled(material, fields))]
    # what is empty of it is named on the cover
    about = facts(asked[len(fields) :], template, material.details, final=True)
    if about:
        blocks += [Text("", lead=f"{_WHO}."), Facts(about)]
    return Section(_SYSTEM, tuple(blocks))


def _facts(known: tuple[Fact, ...]) -> list[Block]:
    return [Facts(known)] if known else []


def sign_off(material: Material) -> Section:
    """Return the lines to sign on."""
    named = [signer for signer in material.details.signers if seen(signer.name)]
    blocks: list[Block] = [Text(_SIGNED)]
    if unsigned(material.choice.template, material.details):
        blocks.append(
            Callout(
                "No signatory yet.",
                "This type of report cannot be final without a named signatory.",
            )
        )
    elif not named:
        blocks.append(Text("No signatory was named."))
    lines = [SignatureLine(each.name, each.role, each.date) for each in named]
    return Section("Sign-off", (*blocks, *lines))
