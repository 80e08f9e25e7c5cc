"""The methods there are, and which of them are off for a model or a domain.

Where each is implemented is known to `fairdesk.audit.catalogue.implementations` alone, so that
listing methods loads none of them.
"""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping

import msgspec

from fairdesk.audit.catalogue import certification, estimates, groups, individual, mitigation
from fairdesk.audit.catalogue.method import ABOUT_GROUPS, Method, QuestionKind, Repeats
from fairdesk.audit.catalogue.options import options_of
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import SpecError, did_you_mean
from fairdesk.groups.options import MOST_NAMES
from fairdesk.models.model import Capability, ModelCard
from fairdesk.repeatability import Repeatability

#: By their keys, in the order in which they are shown.
METHODS: dict[str, Method] = {
    method.key: method
    for method in (
        *individual.METHODS,
        *estimates.METHODS,
        *certification.METHODS,
        individual.DIAGNOSIS,
        *groups.METHODS,
        *mitigation.METHODS,
    )
}


#: Why a method is off, by what the model cannot do.
_LACKS = {
    Capability.DECIDES: "there is no model to query, only a table of its decisions",
    Capability.SCORES: "the model returns a decision only, and this method needs a score",
    Capability.GRADIENTS: "the model does not provide gradients of its score",
    Capability.LAYERS: "the layers of the model are not available",
    Capability.TREES: "the model is not a tree or an ensemble of trees",
    Capability.TEXT: "the model does not read text",
}


def why_off(
    method: Method, card: ModelCard, domain: Domain | None = None, *, text: bool = False
) -> str:
    """Say in a sentence why a method is off for a model, or a domain; empty when it is not.

    ``text``: whether it is to compare terms in a text.
    """
    lacking = [_LACKS[need] for need in method.needs if need not in card.can]
    lacking += filter(None, (unrepeatable(method, card.repeatability, text=text),))
    if domain is not None:
        # what repairs a rule set works with the people, or the texts, in it
        repairs_groups = method.answers is QuestionKind.REPAIR and method.reads
        about_groups = method.answers in ABOUT_GROUPS or repairs_groups
        obstacles = ("" if about_groups else domain.obstacle, method.obstacle(domain))
        lacking += filter(None, obstacles)
    return f"“{method.title}” is not available: {'; '.join(lacking)}." if lacking else ""


def unrepeatable(method: Method, found: Repeatability | None, *, text: bool = False) -> str:
    """Say in a clause why a method is off for a model that is not repeatable; empty when it is not.

    Parameters
    ----------
    found : Repeatability, optional
        What came of querying rows again.
    text : bool
        Whether it is to compare terms in a text: then the same sentence is queried more than once.
    """
    if found is None or found.holds or method.repeats is Repeats.ANY:
        return ""
    if found.batch:
        return "the model’s output for a row depends on the other rows queried with it"
    if method.repeats is Repeats.INDEPENDENT and not text:
        return ""
    return "the same row does not always receive the same output from the model"


def remark(method: Method, card: ModelCard, domain: Domain | None = None) -> str:
    """Say in a sentence what is special about a method on a model or domain; mostly empty."""
    many = [
        f"“{each.name}” has {len(each.values):,} categories"
        for each in (domain.grouping if domain is not None else ())
        if each.kind is Kind.NOMINAL and len(each.values) > MOST_NAMES
    ]
    if method.key == "testsgd" and many:
        return (
            f"{', '.join(many)}. All sets of categories are tested up to {MOST_NAMES}; beyond "
            "that: single categories, all but one, and those with the highest or the lowest rates "
            "together."
        )
    if card.repeatability is not None and not card.repeatability.holds:
        return (
            "The model is not repeatable: each decision is one of several that the same row "
            "may receive. Every query is counted with the output that it received."
        )
    if method.key == "maft" and card.scores == "labels":
        return (
            "The model returns a decision only, not a score: MAFT then uses one-hot outputs, "
            "as its paper proposes, and finds a gradient only at the decision boundary."
        )
    return ""


def method_named(key: str) -> Method:
    """Return a method.

    Raises
    ------
    SpecError
        When there is none of that name; the message lists those there are.
    """
    try:
        return METHODS[key]
    except KeyError:
        raise SpecError(
            f"There is no method “{key}”.",
            remedy=did_you_mean(key, METHODS, f"The methods are: {', '.join(METHODS)}."),
            setting="method",
        ) from None


def parse_options(method: str, raw: AnyMapping[str, object]) -> msgspec.Struct:
    """Make a method's options of names and values; those left out have their default.

    Parameters
    ----------
    method : str
        A key of `METHODS`.

    Raises
    ------
    SpecError
        For an unknown method or name, or a value that does not fit, with what would.
    """
    kind = method_named(method).options
    known = {each.name: each for each in options_of(kind)}
    values: dict[str, object] = {}
    for name, value in raw.items():
        if name not in known:
            raise SpecError(
                f"The method “{method}” has no option “{name}”.",
                remedy=did_you_mean(name, known, f"Its options are: {', '.join(known)}."),
                setting="options",
            )
        try:
            values[name] = known[name].read(value)
        except msgspec.ValidationError:
            raise SpecError(
                f"The option “{name}” cannot be “{value}”.",
                remedy=f"Give {known[name].takes}.",
                setting="options",
            ) from None
    return kind(**values)
