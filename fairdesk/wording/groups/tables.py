"""What tables of groups show, in sentences: observed in the rows of the data, and no verdict."""

from __future__ import annotations

import math
import re

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.wording import words
from fairdesk.wording.decisions import outcome_text
from fairdesk.wording.language import fixed, say, say_many
from fairdesk.wording.statements import Statement, unmeasured
from fairdesk.wording.words import UNDEFINED, p_is, signed

#: How a ratio stands to the screening line: by whether it is below, and whether one person more
#: or fewer would change that.
_LINES = fixed(
    {
        (True, False): (
            "The ratio is below the four-fifths threshold, a screening rule and not a legal "
            "conclusion."
        ),
        (False, False): (
            "The ratio is not below the four-fifths threshold, a screening rule and not a legal "
            "conclusion."
        ),
        (True, True): (
            "The ratio is below the four-fifths threshold, though one individual more or fewer "
            "would change that; the threshold is a screening rule and not a legal conclusion."
        ),
        (False, True): (
            "The ratio is not below the four-fifths threshold, though one individual more or fewer "
            "would change that; the threshold is a screening rule and not a legal conclusion."
        ),
    }
)
#: A group of numbers, as it is named.
_RANGE = re.compile(r"^up to | to | and over$")


def outcome_of(spec: AuditSpec, table: GroupTable) -> str:
    """Name what a table counts; of a label that is the favourable value."""
    return outcome_text(spec, table.outcome)


def table_title(spec: AuditSpec, table: GroupTable) -> str:
    """Say what a table counts, and by which groups."""
    values = {"by": words.listed(table.attributes), "outcome": outcome_of(spec, table)}
    match table.of:
        case "label":
            return say("Recorded outcome “{outcome}”, by {by}", **values)
        case "decisions" if spec.predictions:
            return say("Decision “{outcome}”, by {by}", **values)
        case "decisions":
            return say("Model’s decision “{outcome}”, by {by}", **values)
        case "scores":
            return say("Scores for “{outcome}” above the median, by {by}", **values)


def table_sentences(spec: AuditSpec, table: GroupTable, *, errors: bool = True) -> tuple[str, ...]:
    """Say what a table shows beside its worst group: who was left out, and why.

    Of error rates only where ``errors`` is true.
    """
    widest = errors_statement(table) if errors else None
    out = [
        _below_line(table),
        _median(table),
        widest.sentence if widest is not None else "",
        _left_out(spec, table),
        _small(table),
    ]
    return tuple(filter(None, out))


def group_text(table: GroupTable, line: GroupLine) -> str:
    """Write a group: ``sex = Female, race = Black``, ``age 25 to 34``."""
    return ", ".join(
        f"{words.quoted(name)}{' ' if _RANGE.search(value) else ' = '}{value}"
        for name, value in zip(table.attributes, line.values, strict=True)
    )


def worst_of(table: GroupTable) -> GroupLine | None:
    """Return the group with the lowest impact ratio; ``None`` where no two can be compared."""
    compared = [line for line in table.lines if line.impact_ratio is not None]
    if len(compared) < 2:
        return None
    return min(compared, key=lambda line: line.impact_ratio or 0.0)


def reference_of(table: GroupTable) -> GroupLine | None:
    """Return the group with which others are compared."""
    return table.lines[table.reference] if table.reference >= 0 else None


def worst_statement(spec: AuditSpec, table: GroupTable) -> Statement:
    """Say the lowest impact ratio, and whose it is."""
    worst, best = worst_of(table), reference_of(table)
    values = {"by": words.listed(table.attributes), "what": _counted_as(spec, table)}
    if worst is None or best is None or worst.impact_ratio is None:
        return unmeasured(
            say(
                "No two groups by {by} can be compared in {what}: {why}.",
                why=_why_none(table),
                **values,
            )
        )
    values["ratio"] = words.number(worst.impact_ratio, 2)
    if worst.impact_ratio == 1:
        said = say(
            "All groups by {by} have the same rate in {what}: {rate}. The impact ratio is {ratio}.",
            rate=rate_of(table, best),
            **values,
        )
        return Statement("observed", say("Impact ratio"), values["ratio"], said)
    chance = say("; corrected {p}", p=p_is(worst.holm)) if worst.holm is not None else ""
    ends = ratio_interval(table, worst)
    interval = (
        say(" (95 % CI {ends})", ends=words.ends(*(words.number(each, 2) for each in ends)))
        if ends is not None
        else ""
    )
    sentence = say(
        "The lowest impact ratio by {by} in {what} is {ratio}{interval}: {rate} for {group} "
        "(n = {n}) against {best_rate} for {best} (n = {best_people}, the reference){chance}.",
        interval=interval,
        rate=rate_of(table, worst),
        n=words.number(worst.n_samples),
        group=group_text(table, worst),
        best_rate=rate_of(table, best),
        best_people=words.number(best.n_samples),
        best=group_text(table, best),
        chance=chance,
        **values,
    )
    said = f"{sentence} {say(_LINES[bool(worst.below), bool(worst.flips)])}"
    label = say("Lowest impact ratio by {by}", by=values["by"])
    return Statement("observed", label, values["ratio"], said)


def ratio_interval(table: GroupTable, line: GroupLine) -> tuple[float, float] | None:
    """Return the 95 % interval of a group's impact ratio.

    That of the logarithm of the ratio of two rates, each of which varies (Katz, Baptista, Azen and
    Pike: Obtaining confidence intervals for the risk ratio in cohort studies, Biometrics 34, 1978).

    Returns
    -------
    tuple[float, float], optional
        ``None`` for the reference, for groups that are not compared, and where nobody has the
        outcome.
    """
    best = reference_of(table)
    if best is None or line is best or line.impact_ratio is None or not line.favourable:
        return None
    spread = 1.96 * math.sqrt(
        sum(1 / each.favourable - 1 / each.n_samples for each in (line, best))
    )
    return line.impact_ratio * math.exp(-spread), line.impact_ratio * math.exp(spread)


def _why_none(table: GroupTable) -> str:
    lines = [line for line in table.lines if line.known and line.n_samples]
    if len(lines) < 2:
        return say("fewer than two have members")
    if sum(not line.excluded for line in lines) < 2:
        return say("fewer than two are large enough")
    return say("no member has the favourable outcome")


def _counted_as(spec: AuditSpec, table: GroupTable) -> str:
    outcome = outcome_of(spec, table)
    match table.of:
        case "label":
            return say("the recorded outcome “{outcome}”", outcome=outcome)
        case "decisions" if spec.predictions:
            return say("the decision “{outcome}”", outcome=outcome)
        case "decisions":
            return say("the model’s decision “{outcome}”", outcome=outcome)
        case "scores":
            return say("scores above the median")


def rate_of(table: GroupTable, line: GroupLine) -> str:
    """Write a group's rate: with two decimals where no group that is compared is small."""
    compared = [each.n_samples for each in table.lines if each.impact_ratio is not None]
    # of a thousand people one is a tenth of a percent
    digits = 2 if min(compared, default=0) >= 1_000 else 1
    return words.percent(line.favourable, line.n_samples, digits)


def _below_line(table: GroupTable) -> str:
    compared = [line for line in table.lines if line.below is not None]
    below = sum(bool(line.below) for line in compared)
    if below < 2:
        return ""
    return say(
        "{n} of {groups} groups are below the four-fifths threshold.",
        n=words.number(below),
        groups=words.number(len(compared)),
    )


def _median(table: GroupTable) -> str:
    if table.of != "scores" or table.median is None:
        return ""
    text = say(
        "The median score of all {n} is {median}.",
        median=words.short(table.median, 4),
        n=words.number(table.n_samples),
    )
    if not table.ties:
        return text
    ties = say(
        "{share} have exactly that score, and do not count as above it.",
        share=words.percent(table.ties, 1.0),
    )
    return f"{text} {ties}"


def errors_statement(table: GroupTable) -> Statement | None:
    """Say where true positive rates are farthest from the reference's; with labels only."""
    apart = [line for line in table.lines if line.equal_opportunity and not line.excluded]
    best = reference_of(table)
    if not apart or best is None:
        return None
    widest = max(apart, key=lambda line: abs(line.equal_opportunity or 0.0))
    apart_by = widest.equal_opportunity or 0.0
    said = say(
        "The largest difference in true positive rates is {points}: {rate} for {group} "
        "against {best_rate} for {best}.",
        points=points_of(apart_by),
        rate=_fraction(widest.true_positives, widest.positives),
        group=group_text(table, widest),
        best_rate=_fraction(best.true_positives, best.positives),
        best=group_text(table, best),
    )
    label = say("Largest difference in true positive rates, in percentage points")
    return Statement("observed", label, signed(100 * apart_by, 1), said)


def accuracy_statement(value: str, people: str = "") -> Statement:
    """Say which share of some people, or else of the test rows, is decided about as labelled."""
    said = (
        say(
            "The decision matches the recorded outcome for {share} of {people}.",
            share=value,
            people=people,
        )
        if people
        else say(
            "The decision matches the recorded outcome for {share} of the test rows.", share=value
        )
    )
    return Statement("observed", say("Accuracy"), value, said)


def _left_out(spec: AuditSpec, table: GroupTable) -> str:
    unknown, without = (
        words.counted(count, spec.person) for count in (table.unknown, table.without)
    )
    if table.unknown and table.without:
        return say(
            "Excluded: {unknown} whose group is not recorded, and {without} without an outcome "
            "or a decision.",
            unknown=unknown,
            without=without,
        )
    if table.unknown:
        return say("Excluded: {unknown} whose group is not recorded.", unknown=unknown)
    if table.without:
        return say("Excluded: {without} without an outcome or a decision.", without=without)
    return ""


def _small(table: GroupTable) -> str:
    small = sum(line.excluded for line in table.lines)
    if not small:
        return ""
    return say_many(
        small,
        "{n} small group is counted but excluded from the impact ratios (6 RCNY 5-301).",
        "{n} small groups are counted but excluded from the impact ratios (6 RCNY 5-301).",
    )


def points_of(value: float | None) -> str:
    """Write a difference of rates in percentage points."""
    if value is None:
        return say(UNDEFINED)
    return say("{n} percentage points", n=signed(100 * value, 1))


def _fraction(part: int | None, whole: int | None) -> str:
    if not whole:
        return say(UNDEFINED)
    return words.percent(part or 0, whole)
