"""The report's sections that only people can write: the system and its use, and who signs."""

from __future__ import annotations

from fairdesk.audit.details import Signer
from fairdesk.report.blocks import Block, Fact, Facts, Section, SignatureLine, Text
from fairdesk.report.fields import fields_of
from fairdesk.report.material import Material

_SYSTEM = "System and use"


def system(material: Material) -> Section:
    """Tell what the system is for, as the auditor has filled it in."""
    told = tuple(
        Fact(field.label, material.told(field.key))
        for field in fields_of(material.choice.template)
        if field.group == _SYSTEM and material.told(field.key)
    )
    block: Block = Facts(told) if told else Text("Nothing was filled in here.")
    return Section(_SYSTEM, (block,))


def sign_off(material: Material) -> Section:
    """Give the lines to sign on."""
    signers = material.details.signers
    lines: tuple[Block, ...] = tuple(SignatureLine(*_told(each)) for each in signers)
    return Section("Sign-off", lines or (Text("Nobody was named to sign."),))


def _told(signer: Signer) -> tuple[str, str, str]:
    return signer.name, signer.role, signer.date
