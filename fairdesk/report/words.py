"""The sentences that the window, the command line and the report share; how numbers look.

One sentence per finding, the number first, in the auditor's own word for a person. A search gives
examples: its sentences never speak of a rate among people.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from typing import Protocol

from fairdesk.audit.spec import AuditSpec
from fairdesk.data.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.models.decision import told_text
from fairdesk.models.model import How, Input
from fairdesk.report.language import localised

#: What a search can show, and what not. Stands wherever findings are counted.
EXAMPLES = (
    "Examples prove that discrimination exists; they never tell how common it is. The people are "
    "invented, and a search goes where it expects to find: the share that it finds among those it "
    "tried is no rate among real people."
)
#: What the rows of the data show, and what not.
OBSERVED = (
    "What is observed in the data describes the people in them. It shows how groups fared, not "
    "why, and not how one person would have fared otherwise."
)
#: What searches for groups show, and what not.
ESTIMATED_GROUPS = (
    "What is said of groups that a search came upon is estimated from samples near the rows of the "
    "data, within the intervals told. It shows which groups are decided about otherwise, not why: "
    "people in a group differ from others in more than what is protected."
)
#: Between a number and its unit: no line break.
NBSP = "\u00a0"
#: What cannot be computed: 0/0, or nothing to compare with.
UNDEFINED = "undefined"
#: Endings with a plural of their own, the longer ones first.
_IRREGULAR = {
    "person": "people",
    "child": "children",
    "woman": "women",
    "man": "men",
    "staff": "staff",
}
_REGULAR = ("german", "human", "roman")
#: The kinds of columns in plain words.
KINDS = {
    Kind.NOMINAL: "names",
    Kind.ORDINAL: "ordered names",
    Kind.INTEGER: "whole numbers",
    Kind.REAL: "numbers",
    Kind.TEXT: "text",
    Kind.IGNORED: "left out",
}
#: How a model input is made, in plain words; `how_made` says it of one.
WAYS = {
    How.AS_IS: "the number itself",
    How.LABEL: "the text as it stands in the data",
    How.CODE: "a number for each value",
}
#: The steps of arithmetic in plain words.
OPERATIONS = {"subtract": "minus", "add": "plus", "multiply": "times", "divide": "divided by"}
_STATES = {
    "running": "running",
    "paused": "paused",
    "done": "done",
    "stopped": "stopped by the auditor",
    "failed": "failed",
}


class Counted(Protocol):
    """What the sentences need of a run: the store's record and the live state both have it."""

    @property
    def state(self) -> str:
        """``"running"``, ``"paused"``, ``"stopped"``, ``"done"`` or ``"failed"``."""

    @property
    def message(self) -> str:
        """Why it failed or ended early; may be empty."""

    @property
    def elapsed(self) -> float:
        """Wall seconds."""

    @property
    def tried(self) -> int:
        """Unique inputs checked."""

    @property
    def found(self) -> int:
        """Unique discriminatory instances among them."""

    @property
    def queries(self) -> int:
        """Rows sent to the model."""

    @property
    def alone(self) -> tuple[int, ...]:
        """Per protected attribute, the findings where changing it alone is enough."""


def number(value: float, digits: int = 0) -> str:
    """Write a number with commas between thousands: ``1,305``."""
    return localised(f"{value:,.{digits}f}")


def percent(part: float, whole: float, digits: int = 1) -> str:
    """Write a share: ``12.5 %``; a dash where there is no whole, never 0 or 100 for what is not."""
    if not whole:
        return "–"
    share = 100 * part / whole
    text, least = f"{share:.{digits}f}", 10.0**-digits
    if 0 < part < whole:
        if float(text) == 0:
            return f"below {least:.{digits}f}{NBSP}%"
        if float(text) == 100:
            return f"above {100 - least:.{digits}f}{NBSP}%"
    return f"{text}{NBSP}%"


def shown_percent(value: float, digits: int) -> str:
    """Write a share from 0 to 1: ``3.8 %``; never 0 or 100 for what is not."""
    return percent(value, 1.0, digits) if value else f"0{NBSP}%"


def interval(low: float, high: float, confidence: float, digits: int) -> str:
    """Write an interval: ``3.7 to 3.9 %, 95 %``."""
    ends = f"{100 * low:.{digits}f} to {100 * high:.{digits}f}{NBSP}%"
    return f"{ends}, {percent(confidence, 1.0, 0 if round(100 * confidence, 6) % 1 == 0 else 1)}"


def digits_of(low: float, high: float) -> int:
    """Choose decimals of a percentage by the width of its interval: two figures of it, 1 to 4."""
    width = 100 * (high - low)
    return 1 if width <= 0 else min(max(1, 1 - floor(log10(width))), 4)


def signed(value: float, digits: int = 2) -> str:
    """Write a number with its sign: ``+1.20``, ``−0.31``."""
    told = f"{abs(value):.{digits}f}"
    return f"{'−' if value < 0 and float(told) else '+'}{told}"


def p_text(p: float | None) -> str:
    """Write a p-value: ``0.031``, ``below 0.0001``; ``undefined`` where there is none."""
    if p is None:
        return UNDEFINED
    if p < 0.0001:
        return "below 0.0001"
    if p > 0.999 and p < 1:
        return "above 0.999"
    return f"{p:.4f}" if p < 0.01 else f"{p:.3f}"


def duration(seconds: float) -> str:
    """Write a time span for people: ``1.7 s``, ``41 s``, ``3 min 5 s``, ``1 h 12 min``."""
    if seconds < 0.1:
        return f"{seconds:.2f}{NBSP}s"
    if seconds < 9.95:
        return f"{seconds:.1f}{NBSP}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}{NBSP}s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}{NBSP}min" + (f" {rest}{NBSP}s" if rest else "")
    hours, minutes = divmod(minutes, 60)
    return f"{number(hours)}{NBSP}h" + (f" {minutes}{NBSP}min" if minutes else "")


def score(spec: AuditSpec, value: float) -> str:
    """Write the score of the favourable decision as the model's own number, its side showing."""
    return told_text(value, spec.mapping, spec.model)


def plural(person: str) -> str:
    """Give the plural of the auditor's word for a person.

    Examples
    --------
    >>> plural("applicant"), plural("person"), plural("member of staff")
    ('applicants', 'people', 'members of staff')
    """
    word, of, owner = person.partition(" of ")
    small = word.lower()
    irregular = next((ending for ending in _IRREGULAR if small.endswith(ending)), None)
    if irregular and not small.endswith(_REGULAR):
        stem = word[: len(word) - len(irregular)]
        ending = _IRREGULAR[irregular]
        many = stem + (ending if word[len(stem)].islower() else ending.capitalize())
    elif small.endswith("y") and small[-2:-1] not in tuple("aeiou"):
        many = word[:-1] + "ies"
    elif small.endswith(("s", "x", "z", "ch", "sh")):
        many = word + "es"
    else:
        many = word + "s"
    return many + of + owner


def counted(count: int, person: str) -> str:
    """Write how many: ``1 applicant``, ``1,305 applicants``."""
    return f"{number(count)} {person if count == 1 else plural(person)}"


def quoted(name: str) -> str:
    """Give a column's name as a sentence can carry it: in quotes unless it is one plain word."""
    return name if name.replace("_", "").replace("-", "").isalnum() else f"“{name}”"


def listed(names: Sequence[str], last: str = "and") -> str:
    """Join names: ``sex, race and age``."""
    return joined([quoted(name) for name in names], last)


def joined(texts: Sequence[str], last: str = "and") -> str:
    """Join parts of a sentence: ``this, that and more``."""
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} {last} {texts[-1]}"


def protected_names(domain: Domain) -> tuple[str, ...]:
    """Give the names of the protected attributes, in the domain's order."""
    return tuple(domain.attributes[position].name for position in domain.protected)


def grouping_names(domain: Domain) -> tuple[str, ...]:
    """Give the names of what tells groups apart, also of what the model is not given."""
    return tuple(attribute.name for attribute in domain.grouping)


def when_changes(domain: Domain) -> str:
    """Say the condition of a finding: ``when only sex or race or both change``."""
    return when_change(protected_names(domain))


def when_change(names: Sequence[str]) -> str:
    """Say that some protected attributes change and nothing else does."""
    if len(names) == 1:
        return f"when only {quoted(names[0])} changes"
    if len(names) == 2:
        return f"when only {listed(names, 'or')} or both change"
    return f"when only {listed(names, 'or')} change, alone or together"


def headline(spec: AuditSpec, run: Counted, *, ending_too: bool = True) -> str:
    """Say what a search found, the number first, and what that is.

    Parameters
    ----------
    spec : AuditSpec
        The audit's question: its word for a person and the protected attributes.
    run : Counted
        A run's record or its live state.
    ending_too : bool
        Whether to say how it ended, when not by itself.
    """
    when = when_changes(spec.domain)
    if run.found:
        verb = "gets" if run.found == 1 else "get"
        kind = "An example" if run.found == 1 else "Examples"
        sentence = (
            f"{number(run.found)} invented {spec.person if run.found == 1 else plural(spec.person)}"
            f" {verb} another decision {when}. {kind}, not a rate."
        )
    elif run.state in ("running", "paused"):
        sentence = (
            f"0 found so far among {counted(run.tried, f'invented {spec.person}')}: "
            f"none gets another decision {when}."
        )
    elif not run.tried:
        sentence = "0 found: nobody was tried."
    else:
        sentence = (
            f"0 found: of {counted(run.tried, f'invented {spec.person}')} tried "
            f"({number(run.queries)} rows sent to the model) none gets another decision {when}. "
            "That is no proof that nobody does."
        )
    return " ".join(part for part in (sentence, ending(run) if ending_too else "") if part)


def ending(run: Counted) -> str:
    """Say how a run ended, when not by itself; else empty."""
    after = duration(run.elapsed)
    if run.state == "stopped":
        return f"Stopped by the auditor after {after}; what was found until then is kept."
    if run.state == "failed":
        why = f" {run.message}" if run.message else ""
        return f"Failed after {after}; what was found until then is kept.{why}"
    return ""


def alone_sentences(spec: AuditSpec, run: Counted) -> tuple[str, ...]:
    """Say for each of several protected attributes how often it is enough by itself.

    Empty with one protected attribute, where the headline says it, and when nothing was found.
    """
    names = protected_names(spec.domain)
    if len(names) < 2 or not run.found:
        return ()
    return tuple(
        f"{number(count)} of the {number(run.found)} ({percent(count, run.found)}) "
        f"{'gets' if count == 1 else 'get'} another decision when {quoted(name)} alone changes."
        for name, count in zip(names, run.alone, strict=True)
    )


def effort(run: Counted) -> str:
    """Say what a run spent: inputs tried, rows sent, time."""
    return (
        f"{number(run.tried)} tried, {number(run.queries)} rows sent to the model, "
        f"{duration(run.elapsed)}"
    )


def state_word(state: str) -> str:
    """Give a run's state in words: ``stopped`` is ``stopped by the auditor``."""
    return _STATES[state]


def decision_word(spec: AuditSpec, decided: int) -> str:
    """Say what a decision means for the person: ``favourable`` or ``unfavourable``."""
    return "favourable" if decided == spec.mapping.favourable_class else "unfavourable"


def some(values: Sequence[str], most: int = 12) -> str:
    """Write the first values of many, and how many more there are."""
    rest = len(values) - most
    shown = ", ".join(values[:most])
    return f"{shown} and {number(rest)} more" if rest > 0 else shown


def how_made(one: Input, most: int = 12) -> str:
    """Say how a model input is made from its column; of codes the first ``most``."""
    match one.how:
        case How.AS_IS | How.LABEL:
            made = WAYS[one.how]
        case How.CODE if one.others is not None:
            counted = [
                f"{number:g} for “{text}”" if text else f"{number:g} for a missing cell"
                for text, number in one.codes.items()
                if number != one.others
            ]
            made = f"{some(counted, most) or 'no value of the data'}, else {one.others:g}"
        case How.CODE:
            codes = [f"{text} = {code:g}" for text, code in one.codes.items()]
            made = f"{WAYS[one.how]}: {some(codes, most)}"
        case How.CONSTANT:
            value = one.constant if isinstance(one.constant, str) else f"{one.constant:g}"
            made = f"always {value}"
    return "; ".join([made, *(f"{OPERATIONS[step.op]} {step.by:.6g}" for step in one.then)])
