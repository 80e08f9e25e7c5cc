"""What tables of groups show, in sentences: observed in the rows of the data, and no verdict."""

from __future__ import annotations

import re

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.wording import words
from fairdesk.wording.decisions import outcome_text
from fairdesk.wording.language import say
from fairdesk.wording.words import UNDEFINED, signed

#: What scores are counted, by whether the lower ones are favourable.
_SCORED_TITLES = {
    False: "Scores for “{outcome}” above the median",
    True: "Scores for “{outcome}” below the median",
}
#: What is counted of scores, by whether the lower ones are favourable.
_SCORED = {
    False: (
        "Scoring rate: share of each group with a score for “{outcome}” above the median of "
        "all, {interval}. It is not a rate of decisions."
    ),
    True: (
        "Scoring rate: share of each group with a score for “{outcome}” below the median of "
        "all, which is the favourable side, {interval}. It is not a rate of decisions."
    ),
}
_TIES = {
    False: "{share} have exactly that score, and do not count as above it.",
    True: "{share} have exactly that score, and do not count as below it.",
}
#: A group of numbers, as it is named.
_RANGE = re.compile(r"^up to | to | and over$")
#: The words for values that have some; other values are named as the data write them.
_NOUNS = {"female": "women", "woman": "women", "male": "men", "man": "men"}
#: Values that are no adjective of a person.
_NO_ADJECTIVES = frozenset(("yes", "no", "true", "false", "none", "other", "unknown"))
#: Attributes whose values are adjectives of a person also in small letters.
_DESCRIBING = frozenset(("race", "ethnicity", "colour", "color", "nationality", "religion"))
#: A rate below this has two decimals.
_RARE = 0.01


def outcome_of(spec: AuditSpec, table: GroupTable) -> str:
    """Name what a table counts; of a label that is the favourable value."""
    return outcome_text(spec, table.outcome)


def counted_title(spec: AuditSpec, table: GroupTable) -> str:
    """Say what a table counts."""
    outcome = outcome_of(spec, table)
    match table.of:
        case "label":
            return say("Recorded outcome “{outcome}”", outcome=outcome)
        case "decisions" if spec.predictions:
            return say("Decision “{outcome}”", outcome=outcome)
        case "decisions":
            return say("Model’s decision “{outcome}”", outcome=outcome)
        case "scores":
            return say(_SCORED_TITLES[table.falls], outcome=outcome)


def table_title(spec: AuditSpec, table: GroupTable) -> str:
    """Say what a table counts, and by which groups."""
    by = words.listed(table.attributes)
    return say("{counted}, by {by}", counted=counted_title(spec, table), by=by)


def counted_sentence(spec: AuditSpec, table: GroupTable) -> str:
    """Say what the rates of a table are."""
    values = {
        "outcome": outcome_of(spec, table),
        "interval": say("with a {percent} confidence interval", percent=words.percent_of("95")),
    }
    match table.of:
        case "label":
            return say(
                "Base rate: share of each group with the recorded outcome “{outcome}” in the "
                "column {column}, {interval}. It describes the data, not the decisions.",
                column=words.quoted(spec.label),
                **values,
            )
        case "decisions" if spec.predictions:
            return say(
                "Selection rate: share of each group with the decision “{outcome}” in the column "
                "{column}, {interval}.",
                column=words.quoted(spec.predictions),
                **values,
            )
        case "decisions":
            return say(
                "Selection rate: share of each group with the model’s decision “{outcome}”, "
                "{interval}.",
                **values,
            )
        case "scores":
            return say(_SCORED[table.falls], **values)


def group_text(table: GroupTable, line: GroupLine) -> str:
    """Write a group: ``sex = Female, race = Black``, ``age 25 to 34``."""
    return ", ".join(
        f"{words.quoted(name)}{' ' if _RANGE.search(value) else ' = '}{value}"
        for name, value in zip(table.attributes, line.values, strict=True)
    )


def people(spec: AuditSpec, table: GroupTable, line: GroupLine) -> str:
    """Name a group as people do: ``Black women``, ``Black people``; else by its values."""
    many = words.plural(spec.person)
    named = dict(zip(table.attributes, line.values, strict=True))
    nouns = [value.lower() for value in line.values if value.lower() in _NOUNS]
    others = {name: value for name, value in named.items() if value.lower() not in _NOUNS}
    if len(nouns) < 2 and all(_describes(*each) for each in others.items()):
        return " ".join((*others.values(), _NOUNS[nouns[0]] if nouns else many))
    return say("{people} with {group}", people=many, group=group_text(table, line))


def _describes(name: str, value: str) -> bool:
    """Return whether a value is an adjective of a person."""
    letters = value.replace("-", "").replace(" ", "")
    adjective = value[:1].isupper() or name.lower() in _DESCRIBING
    return letters.isalpha() and adjective and value.lower() not in _NO_ADJECTIVES


def reference_of(table: GroupTable) -> GroupLine | None:
    """Return the group with which others are compared."""
    return table.lines[table.reference] if table.reference >= 0 else None


def rate_of(table: GroupTable, line: GroupLine) -> str:
    """Write a group's rate, with the decimals of its table."""
    return words.percent(line.favourable, line.n_samples, rate_digits(table))


def rate_digits(table: GroupTable) -> int:
    """Choose the decimals of the rates of a table: two where a group that is compared has few."""
    compared = (each.rate for each in table.lines if each.impact_ratio is not None and each.rate)
    return 2 if min(compared, default=1.0) < _RARE else 1


def median_sentence(table: GroupTable) -> str:
    """Say what the median score is; empty of a table that has none."""
    if table.of != "scores" or table.median is None:
        return ""
    text = say(
        "The median score of all {n} is {median}.",
        median=words.short(table.median, 4),
        n=words.number(table.n_samples),
    )
    if not table.ties:
        return text
    ties = say(_TIES[table.falls], share=words.percent(table.ties, 1.0))
    return f"{text} {ties}"


def why_without(spec: AuditSpec, table: GroupTable) -> str:
    """Say why rows are in none of a table's groups: what is counted is not known of them."""
    if table.of == "label":
        return "no recorded outcome"
    if spec.predictions:
        return "no decision in the data"
    return "a value that the model needs is missing"


def points_of(value: float | None) -> str:
    """Write a difference of rates in percentage points."""
    if value is None:
        return UNDEFINED
    return say("{n} percentage points", n=signed(100 * value, 1))
