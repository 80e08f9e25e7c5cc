"""How a group, or a box, of people is written: every condition in one way, everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.data.domain.attributes import Attribute
from fairdesk.results.proofs import Condition
from fairdesk.wording import words
from fairdesk.wording.decisions import name_of
from fairdesk.wording.language import say

#: Names that a rule lists, before it only counts the others.
_LISTED = 8


def rule_text(spec: AuditSpec, conditions: Sequence[Condition]) -> str:
    """Write a box of people with signs: ``“duration” ≥ 25 and “savings” = none``."""
    return next(rule_texts(spec, [conditions]))


def rule_texts(spec: AuditSpec, boxes: Iterable[Sequence[Condition]]) -> Iterator[str]:
    """Write many boxes as `rule_text`: what some of them have in common is written once."""
    attributes = _attributes(spec)
    written: dict[Condition, str] = {}
    for conditions in boxes:
        for each in conditions:
            if each not in written:
                written[each] = _written(attributes, each, signs=True)
        first, *rest = [written[each] for each in conditions] or ["all combinations"]
        for text in rest:
            first = say("{first} and {last}", first=first, last=text)
        yield first


def rule_phrase(spec: AuditSpec, conditions: Sequence[Condition]) -> str:
    """Write a group in words: ``sex = Male, race = Hispanic or Other, age 40 and over``.

    Of a rule about texts the terms by their categories: ``gender: gay, religion: taoist``.
    ``all rows`` where there is no condition.
    """
    attributes = _attributes(spec)
    parts = (_written(attributes, each, signs=False) for each in conditions)
    return ", ".join(parts) or "all rows"


def combination_text(spec: AuditSpec, names: Sequence[str], codes: Sequence[float]) -> str:
    """Write a combination of protected values: ``sex = female, race = Asian``."""
    attributes = _attributes(spec)
    values = [
        f"{words.quoted(name)} = {name_of(attributes[name], code)}"
        for name, code in zip(names, codes, strict=True)
    ]
    # two of them are joined by “and”
    return ", ".join(values)


def _written(attributes: Mapping[str, Attribute], condition: Condition, *, signs: bool) -> str:
    if condition.term:
        return f"{condition.attribute}: {condition.term}"
    return _condition(attributes[condition.attribute], condition, signs=signs)


def _attributes(spec: AuditSpec) -> dict[str, Attribute]:
    domain = spec.domain
    return {attribute.name: attribute for attribute in (*domain.attributes, *domain.unseen)}


def _condition(attribute: Attribute, condition: Condition, *, signs: bool) -> str:
    name = words.in_quotes(attribute.name) if signs else words.quoted(attribute.name)
    low, high = condition.low, condition.high
    if condition.codes:
        return f"{name} {_names(attribute, condition.codes)}"
    if low is None and high is None:
        return say("{name} has any value", name=name)
    # an end that is left open is the attribute's own
    only = attribute.low if low is None else low
    if only == (attribute.high if high is None else high) and not condition.below:
        return f"{name} = {name_of(attribute, only)}"
    least = "" if low is None else name_of(attribute, low)
    most = "" if high is None else name_of(attribute, high)
    if signs:
        return _with_signs(name, least, most, "<" if condition.below else "≤")
    return f"{name} {_in_words(attribute, least, most, below=condition.below)}"


def _with_signs(name: str, least: str, most: str, sign: str) -> str:
    if least and most:
        return f"{least} ≤ {name} {sign} {most}"
    return f"{name} ≥ {least}" if least else f"{name} {sign} {most}"


def _in_words(attribute: Attribute, least: str, most: str, *, below: bool) -> str:
    whole = attribute.integral
    if least and most:
        if below:
            return say("{low} to below {high}", low=least, high=most)
        return words.ends(least, most)
    if least:
        return say("{low} and over" if whole else "{low} or more", low=least)
    if below:
        return say("below {high}", high=most)
    return say("{high} and under" if whole else "{high} or less", high=most)


def _names(attribute: Attribute, codes: Sequence[float]) -> str:
    """Say which of the names are meant, or, where these are fewer, which are not."""
    meant = set(codes)
    inside = [name_of(attribute, code) for code in codes]
    left_out = [code for code in range(len(attribute.values)) if code not in meant]
    if attribute.unknown and left_out == [attribute.unknown_code]:
        return "is recorded"
    outside = [name_of(attribute, code) for code in left_out]
    if not 0 < len(outside) < len(inside):
        return f"= {_alternatives(inside)}"
    return say("is not {values}", values=_alternatives(outside))


def _alternatives(several: Sequence[str]) -> str:
    # names that few rows have are all called the same
    names = list(dict.fromkeys(several))
    return words.joined(names, "or") if len(names) <= _LISTED else words.some(names, _LISTED)
