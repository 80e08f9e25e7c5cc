"""What decisions and codes are called in the data: label values, cell texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from fairdesk.audit.plan.labels import class_labels
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.table import Table
from fairdesk.models.decisions.favourable import Answer, sign_of
from fairdesk.models.decisions.rule import VALUES
from fairdesk.models.model import Mapping, ModelCard
from fairdesk.wording import words
from fairdesk.wording.language import say


def good_answers(card: ModelCard, mapping: Mapping | Answer) -> tuple[str, ...]:
    """Return the model's answers that are favourable, in its own words, as `favourable` reads them.

    Of a model that estimates a number it is one comparison, ``">= 50"``.
    """
    if mapping.together:
        return tuple(card.classes[place] for place in mapping.together)
    if card.scores == VALUES:
        return (f"{sign_of(mapping)} {mapping.threshold!r}",)
    return ((mapping.outcomes or card.classes)[mapping.favourable_class],)


def outcome_text(spec: AuditSpec, outcome: str) -> str:
    """Name what tables of groups count for people: the favourable class by its label value.

    Nobody outside knows what “1” is, unless it was given a name. A column of decisions is read as
    it stands.
    """
    if spec.mapping.names:
        return outcome
    if spec.predictions or outcome != favourable(spec) or spec.model.scores == VALUES:
        return outcome or spec.favourable
    return spec.favourable


def named_outcome(spec: AuditSpec, outcome: str) -> str:
    """Name an outcome in quotes, the favourable one with what it means in the data.

    Examples
    --------
    ``“neither” (not_toxic)``
    """
    name = outcome_text(spec, outcome)
    if outcome != favourable(spec) or name == spec.favourable:
        return f"“{name}”"
    return f"“{name}” ({spec.favourable})"


def class_texts(spec: AuditSpec, table: Table) -> tuple[str, ...]:
    """Name each class for people: by its label value, else as the model calls it.

    An estimated number is favourable at the model's own limit, which may not be the label's.
    """
    named = [
        name if label is None else label
        for name, label in zip(spec.decisions, class_labels(spec, table), strict=True)
    ]
    if spec.model.scores != VALUES:
        named[spec.mapping.favourable_class] = spec.favourable
    return tuple(named)


def favourable_text(spec: AuditSpec, table: Table) -> str:
    """Name the favourable decision as the model calls it, and what that means in the data."""
    place = spec.mapping.favourable_class
    name, meaning = spec.decisions[place], class_texts(spec, table)[place]
    if name == meaning:
        return name
    return say("{name}, which means “{meaning}”", name=name, meaning=meaning)


def favourable_from(spec: AuditSpec) -> str:
    """Say from which score on the decision is favourable; empty where no such limit decides."""
    card, mapping = spec.model, spec.mapping
    if mapping.together or len(card.classes) > 2 or card.scores in (VALUES, "labels"):
        return ""
    limit = 0.5 if mapping.threshold is None else mapping.threshold
    if mapping.favourable_class == 1:
        return say("favourable above {limit}", limit=words.short(limit))
    return say("favourable from {limit} on", limit=words.short(1 - limit))


_NAMES: ContextVar[Callable[[Attribute, float], str]] = ContextVar("names", default=Attribute.text)


@contextmanager
def naming(names: Callable[[Attribute, float], str]) -> Iterator[None]:
    """Write values, wherever that is done inside, by another function than `Attribute.text`."""
    before = _NAMES.set(names)
    try:
        yield
    finally:
        _NAMES.reset(before)


def name_of(attribute: Attribute, code: float) -> str:
    """Write a value of an attribute in a rule, a list, a combination: as `naming` says."""
    return _NAMES.get()(attribute, code)


def favourable(spec: AuditSpec) -> str:
    """Name the favourable decision."""
    return spec.decisions[spec.mapping.favourable_class]
