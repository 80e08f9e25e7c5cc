"""Predicates: true, false, or unknown where a value is missing."""

from __future__ import annotations

import operator
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairdesk.models.pmml.document import (
    Element,
    Kind,
    Mask,
    NotReadError,
    Places,
    Scope,
    missing_in,
    parsed,
)

#: What is true, and what is unknown, of some rows of a batch.
Verdict = tuple[Mask, Mask]
Predicate = Callable[[Scope, Places], Verdict]

_COMPARISONS: dict[str, Callable[..., Mask]] = {
    "equal": operator.eq,
    "notEqual": operator.ne,
    "lessThan": operator.lt,
    "lessOrEqual": operator.le,
    "greaterThan": operator.gt,
    "greaterOrEqual": operator.ge,
}
PREDICATES = ("SimplePredicate", "CompoundPredicate", "SimpleSetPredicate", "True", "False")


@dataclass(frozen=True, slots=True)
class Split:
    """A comparison of a number with a threshold: true where it is not above it, or above it."""

    field: str
    threshold: float
    above: bool


def predicate_of(element: Element) -> Element:
    """Return the predicate of a node, a segment or an attribute.

    Raises
    ------
    NotReadError
        When it has none.
    """
    found = element.all(*PREDICATES)
    if not found:
        raise NotReadError(f"a {element.tag} without a predicate")
    return found[0]


def split_of(element: Element, kinds: Mapping[str, Kind]) -> Split | None:
    """Return the split of a number that a predicate is; None where it is something else."""
    comparison = element.get("operator")
    field = element.get("field")
    if element.tag != "SimplePredicate" or kinds.get(field, "text") == "text":
        return None
    if comparison not in ("lessThan", "lessOrEqual", "greaterThan", "greaterOrEqual"):
        return None
    threshold = float(parsed(element.get("value"), kinds[field]))
    if comparison in ("lessThan", "greaterOrEqual"):
        threshold = float(np.nextafter(threshold, -np.inf))
    return Split(field, threshold, comparison.startswith("greater"))


def compiled(element: Element, kinds: Mapping[str, Kind]) -> Predicate:
    """Make a predicate of its element.

    Raises
    ------
    NotReadError
        When it is none that is read.
    """
    if element.tag in ("True", "False"):
        answer = element.tag == "True"
        return lambda _, rows: (np.full(len(rows), answer), np.zeros(len(rows), bool))
    if element.tag == "SimplePredicate":
        return _simple(element, kinds)
    if element.tag == "SimpleSetPredicate":
        return _of_set(element, kinds)
    parts = [compiled(child, kinds) for child in element.all(*PREDICATES)]
    kind = element.get("booleanOperator")
    if not parts or kind not in ("and", "or", "xor", "surrogate"):
        raise NotReadError(f"predicates that are combined by “{kind}”")
    return lambda scope, rows: combined(kind, [part(scope, rows) for part in parts])


def _simple(element: Element, kinds: Mapping[str, Kind]) -> Predicate:
    field, comparison = element.get("field"), element.get("operator")
    if comparison in ("isMissing", "isNotMissing"):
        wanted = comparison == "isMissing"

        def missing(scope: Scope, rows: Places) -> Verdict:
            found = missing_in(scope.column(field).values[rows])
            return found == wanted, np.zeros(len(rows), bool)

        return missing
    if comparison not in _COMPARISONS:
        raise NotReadError(f"the comparison “{comparison}”")
    value = parsed(element.get("value"), _kind(field, kinds))
    compare = _COMPARISONS[comparison]

    def compared(scope: Scope, rows: Places) -> Verdict:
        values = scope.column(field).values[rows]
        unknown = missing_in(values)
        true = np.zeros(len(rows), bool)
        true[~unknown] = compare(values[~unknown], value).astype(bool)
        return true, unknown

    return compared


def _of_set(element: Element, kinds: Mapping[str, Kind]) -> Predicate:
    field, wanted = element.get("field"), element.get("booleanOperator") == "isIn"
    kind = _kind(field, kinds)
    members = {parsed(text, kind) for text in array_of(element)}

    def found(scope: Scope, rows: Places) -> Verdict:
        values = scope.column(field).values[rows]
        unknown = missing_in(values)
        inside = np.fromiter((value in members for value in values.tolist()), bool, len(rows))
        return (inside == wanted) & ~unknown, unknown

    return found


def array_of(element: Element) -> list[str]:
    """Read the array in an element: texts separated by spaces, in quotes where they hold some."""
    array = element.one("Array")
    if array is None:
        raise NotReadError(f"a {element.tag} without an Array")
    if array.get("type", "string") != "string" or '"' not in array.text:
        return array.text.split()
    reader = shlex.shlex(array.text, posix=True)
    reader.whitespace_split, reader.commenters, reader.quotes = True, "", '"'
    try:
        return list(reader)
    except ValueError:
        raise NotReadError("an Array with a quotation mark that does not end") from None


def _kind(field: str, kinds: Mapping[str, Kind]) -> Kind:
    if field not in kinds:
        raise NotReadError(f"the field “{field}”, which it does not define")
    return kinds[field]


def combined(kind: str, parts: Sequence[Verdict]) -> Verdict:
    """Combine verdicts by ``and``, ``or``, ``xor`` or ``surrogate``."""
    true, unknown = parts[0]
    for also, open_too in parts[1:]:
        either = unknown | open_too
        if kind == "and":
            false = (~true & ~unknown) | (~also & ~open_too)
            true, unknown = true & also, either & ~false
        elif kind == "or":
            true = true | also
            unknown = either & ~true
        elif kind == "xor":
            true, unknown = (true ^ also) & ~either, either
        else:
            # the next one decides where all before are unknown
            true, unknown = np.where(unknown, also, true), unknown & open_too
    return true, unknown
