"""What is said of an attribute: its role, its values, and the attributes that change with it."""

from __future__ import annotations

from collections.abc import Sequence

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.dependencies import Companion
from fairdesk.data.domain.domain import Domain
from fairdesk.data.domain.formulas import Dependence
from fairdesk.wording import words
from fairdesk.wording.decisions import name_of
from fairdesk.wording.language import say, say_many


def moves_said(companion: Companion, attributes: Sequence[Attribute]) -> tuple[str, ...]:
    """Return what each value becomes, with its fit: one text each; both ways in one where equal."""
    by_name = {each.name: each for each in attributes}
    own, by = by_name[companion.attribute], by_name[companion.by]
    reverse = {(move.becomes, move.code) for move in companion.moves}
    said, done = [], set[tuple[float, float]]()
    for move in companion.moves:
        if (move.becomes, move.code) in done:
            continue
        done.add((move.code, move.becomes))
        both = (move.code, move.becomes) in reverse
        values = {
            "before": own.text(move.code),
            "after": own.text(move.becomes),
            "to": by.text(move.to),
            "fit": words.percent(move.fit, 1, 0),
        }
        line = (
            say(
                "{before} is compared with {after} and the other way round (their other attributes "
                "overlap by {fit})",
                **values,
            )
            if both
            else say(
                "{before} becomes {after} with {to} (other attributes overlap by {fit})", **values
            )
        )
        said.append(
            line if move.clear else say("{line}; another value fits nearly as well", line=line)
        )
    return tuple(said)


def companion_said(companion: Companion, attributes: Sequence[Attribute]) -> str:
    """Say in one sentence what changes with what, and how."""
    line = say(
        "“{attribute}” changes with “{by}”: {moves}.",
        attribute=companion.attribute,
        by=companion.by,
        moves="; ".join(moves_said(companion, attributes)),
    )
    if not companion.contradicting:
        return line
    return f"{line} " + say_many(
        companion.contradicting,
        "{n} row[|s] [contradicts|contradict] this and [is|are] not compared.",
    )


def proposed_said(companion: Companion) -> str:
    """Say that a companion was found and needs a decision."""
    return say(
        "“{attribute}” seems to say the same as “{by}”: decide with --companions, or in the "
        "window, whether it changes with it. Until then, rows that this concerns have no supported "
        "comparison.",
        attribute=companion.attribute,
        by=companion.by,
    )


def not_received(name: str) -> str:
    """Say that the model does not receive a protected attribute, but what changes with it."""
    return say(
        "The model does not receive “{name}”: the decision can depend on it only through what "
        "changes with it.",
        name=name,
    )


def refused_said(attribute: str, by: str) -> str:
    """Say that a companion does not change with a protected attribute, as the auditor decided."""
    return say(
        "“{attribute}” does not change with “{by}”, as the auditor decided: what the decision "
        "depends on through “{attribute}” is not counted.",
        attribute=attribute,
        by=by,
    )


def follows_said(domain: Domain) -> tuple[str, ...]:
    """Return a sentence for each attribute that says the same as another in every row."""
    learned = set(domain.support.constraints)
    return tuple(
        say(
            "“{attribute}” follows “{by}” in every row, and changes with it.",
            attribute=each.attribute,
            by=each.by,
        )
        for each in domain.determined
        if Dependence(each.attribute, each.by).text in learned
    )


def support_said(domain: Domain) -> tuple[str, ...]:
    """Return a sentence for each companion, applied, open or refused, and determined attribute."""
    support = domain.support
    applied = (companion_said(each, domain.attributes) for each in support.companions)
    return (
        *follows_said(domain),
        *applied,
        *map(proposed_said, support.proposed),
        *(refused_said(*each) for each in support.refused),
    )


ROLES = {Role.PROTECTED: "protected", Role.VARIES: "variable", Role.FIXED: "fixed"}


def role_text(domain: Domain, attribute: Attribute) -> str:
    """Say what a search may do with an attribute."""
    for each in domain.determined:
        if each.attribute == attribute.name:
            return say("determined by {by}", by=each.by)
    return ROLES[attribute.role]


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
