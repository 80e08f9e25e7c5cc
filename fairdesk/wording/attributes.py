"""What is said of an attribute: its role, and which of its values are tested."""

from __future__ import annotations

from collections.abc import Sequence

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.wording import words
from fairdesk.wording.decisions import name_of
from fairdesk.wording.language import fixed, say

ROLES = fixed({Role.PROTECTED: "protected", Role.VARIES: "variable", Role.FIXED: "fixed"})


def role_text(domain: Domain, attribute: Attribute) -> str:
    """Say what a search may do with an attribute."""
    for each in domain.determined:
        if each.attribute == attribute.name:
            return say("determined by {by}", by=each.by)
    return say(ROLES[attribute.role])


def texts_summary(values: Sequence[str]) -> str:
    """Say what texts there are; they would fill pages."""
    lengths = [len(value) for value in values]
    return say(
        "{values} different texts of {least} to {most} characters",
        values=words.number(len(values)),
        least=words.number(min(lengths, default=0)),
        most=words.number(max(lengths, default=0)),
    )


def compared_values(attribute: Attribute) -> str:
    """Write the values of a protected attribute; for grouped numbers, that they are grouped."""
    texts = [name_of(attribute, code) for code in attribute.compared]
    if attribute.values:
        # names that few rows have are all called the same
        return ", ".join(dict.fromkeys(texts))
    spacing = attribute.spacing
    if spacing and len(texts) == round((attribute.high - attribute.low) / spacing) + 1:
        if attribute.step:
            return say(
                "every step of {step} from {low} to {high}",
                step=words.short(attribute.step, 10),
                low=texts[0],
                high=texts[-1],
            )
        return say("every whole number from {low} to {high}", low=texts[0], high=texts[-1])
    return say(
        "{values}: the midpoints of {n} bins of equal width from {ends}; other values are "
        "not tested",
        values=", ".join(texts),
        n=words.number(len(texts)),
        ends=words.ends(words.short(attribute.low, 10), words.short(attribute.high, 10)),
    )
