"""What tables of groups show, in sentences: observed in the rows of the data, and no verdict."""

from __future__ import annotations

import re

from fairdesk.audit.spec import AuditSpec
from fairdesk.events import GroupLine, GroupTable
from fairdesk.report import words
from fairdesk.report.words import NBSP, UNDEFINED, p_text, signed

#: A group of numbers, as it is named.
_RANGE = re.compile(r"^up to | to | and over$")


def outcome_of(spec: AuditSpec, table: GroupTable) -> str:
    """Name what a table counts; of a label that is the favourable value."""
    return table.outcome or spec.favourable


def table_title(spec: AuditSpec, table: GroupTable) -> str:
    """Say what a table counts, and by which groups."""
    by = words.listed(table.attributes)
    match table.of:
        case "label":
            return f"Label “{outcome_of(spec, table)}”, by {by}"
        case "decisions":
            whose = "Decision" if spec.predictions else "Model’s decision"
            return f"{whose} “{outcome_of(spec, table)}”, by {by}"
        case "scores":
            return f"Scores for “{outcome_of(spec, table)}” above the median, by {by}"


def table_sentences(spec: AuditSpec, table: GroupTable) -> tuple[str, ...]:
    """Say what a table shows, the group that fares worst first; then who was left out, and why."""
    told = [
        worst_sentence(spec, table),
        _below_line(table),
        _median(table),
        _errors(table),
        _left_out(spec, table),
        _small(table),
    ]
    return tuple(filter(None, told))


def group_text(table: GroupTable, line: GroupLine) -> str:
    """Write a group: ``sex = Female, race = Black``, ``age 25 to 34``."""
    return ", ".join(
        f"{words.quoted(name)}{' ' if _RANGE.search(value) else ' = '}{value}"
        for name, value in zip(table.attributes, line.values, strict=True)
    )


def worst_of(table: GroupTable) -> GroupLine | None:
    """Give the group with the lowest impact ratio; ``None`` where no two can be compared."""
    compared = [line for line in table.lines if line.impact_ratio is not None]
    if len(compared) < 2:
        return None
    return min(compared, key=lambda line: line.impact_ratio or 0.0)


def reference_of(table: GroupTable) -> GroupLine | None:
    """Give the group with which others are compared."""
    return table.lines[table.reference] if table.reference >= 0 else None


def worst_sentence(spec: AuditSpec, table: GroupTable) -> str:
    """Say the lowest impact ratio, and whose it is."""
    worst, best = worst_of(table), reference_of(table)
    if worst is None or best is None or worst.impact_ratio is None:
        return (
            f"No two groups by {words.listed(table.attributes)} can be compared by "
            f"{_counted_as(spec, table)}: {_why_none(table)}."
        )
    if worst.impact_ratio == 1:
        return (
            f"1.00 is the impact ratio of all groups by {words.listed(table.attributes)} in "
            f"{_counted_as(spec, table)} (observed): {rate_of(table, best)} in each."
        )
    line = "below" if worst.below else "not below"
    chance = "" if worst.holm is None else f"; corrected p {p_text(worst.holm)}"
    flips = "; one person more or fewer would change that" if worst.flips else ""
    return (
        f"{worst.impact_ratio:.2f} is the lowest impact ratio by {words.listed(table.attributes)} "
        f"in {_counted_as(spec, table)} (observed): {rate_of(table, worst)} of "
        f"{words.counted(worst.people, spec.person)} with {group_text(table, worst)} against "
        f"{rate_of(table, best)} of {words.number(best.people)} with "
        f"{group_text(table, best)}{chance}. That is {line} the four-fifths screening line{flips}; "
        "the line is no verdict."
    )


def _why_none(table: GroupTable) -> str:
    lines = [line for line in table.lines if line.known and line.people]
    if len(lines) < 2:
        return "fewer than two have people in them"
    if sum(not line.excluded for line in lines) < 2:
        return "fewer than two have enough people"
    return "nobody has the favourable outcome"


def _counted_as(spec: AuditSpec, table: GroupTable) -> str:
    match table.of:
        case "label":
            return f"the label “{outcome_of(spec, table)}”"
        case "decisions":
            whose = "the decision" if spec.predictions else "the model’s decision"
            return f"{whose} “{outcome_of(spec, table)}”"
        case "scores":
            return "scores above the median"


def rate_of(table: GroupTable, line: GroupLine) -> str:
    """Write a group's rate: with two decimals where no group that is compared is small."""
    compared = [each.people for each in table.lines if each.impact_ratio is not None]
    # of a thousand people one is a tenth of a percent
    digits = 2 if min(compared, default=0) >= 1_000 else 1
    return words.percent(line.favourable, line.people, digits)


def _below_line(table: GroupTable) -> str:
    compared = [line for line in table.lines if line.below is not None]
    below = sum(bool(line.below) for line in compared)
    if below < 2:
        return ""
    return (
        f"{words.number(below)} of {words.number(len(compared))} groups are below the screening "
        "line."
    )


def _median(table: GroupTable) -> str:
    if table.of != "scores" or table.median is None:
        return ""
    ties = (
        f" {words.percent(table.ties, 1.0)} of the people stand right at it, and do not count as "
        "above it."
        if table.ties
        else ""
    )
    return f"{table.median:.4g} is the median score of all {words.number(table.people)}.{ties}"


def _errors(table: GroupTable) -> str:
    """Say where true positive rates are farthest from the reference's; with labels only."""
    apart = [line for line in table.lines if line.equal_opportunity and not line.excluded]
    best = reference_of(table)
    if not apart or best is None:
        return ""
    widest = max(apart, key=lambda line: abs(line.equal_opportunity or 0.0))
    return (
        f"{points_of(widest.equal_opportunity)} is the widest difference of true positive rates: "
        f"{_fraction(widest.true_positives, widest.positives)} of those with "
        f"{group_text(table, widest)} and the favourable label are decided favourably, "
        f"{_fraction(best.true_positives, best.positives)} of those with "
        f"{group_text(table, best)}."
    )


def _left_out(spec: AuditSpec, table: GroupTable) -> str:
    told = [
        f"{words.counted(count, spec.person)} {why}"
        for count, why in (
            (table.unknown, "of unknown group"),
            (table.without, "without an outcome"),
        )
        if count
    ]
    if not told:
        return ""
    return f"{words.joined(told)} are left out."


def _small(table: GroupTable) -> str:
    small = [line for line in table.lines if line.excluded]
    if not small:
        return ""
    groups, are = ("group", "is") if len(small) == 1 else ("groups", "are")
    return (
        f"{words.number(len(small))} {groups} of too small a share of the people (under "
        f"2{NBSP}% unless the run’s settings say otherwise; 6 RCNY 5-301) {are} counted, but left "
        "out of the impact ratios."
    )


def points_of(value: float | None) -> str:
    """Write a difference of rates in percentage points."""
    return UNDEFINED if value is None else f"{signed(100 * value, 1)} points"


def _fraction(part: int | None, whole: int | None) -> str:
    if not whole:
        return UNDEFINED
    return words.percent(part or 0, whole)
