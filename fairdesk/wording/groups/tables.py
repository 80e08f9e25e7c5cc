"""What tables of groups show, in sentences: observed in the rows of the data, and no verdict."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.groups.metrics.significance import newcombe
from fairdesk.groups.options import LEAST_ROWS
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
        (True, False): "The ratio is below the four-fifths threshold.",
        (False, False): "The ratio is not below the four-fifths threshold.",
        (True, True): (
            "The ratio is below the four-fifths threshold, though one individual more or fewer "
            "would change that."
        ),
        (False, True): (
            "The ratio is not below the four-fifths threshold, though one individual more or fewer "
            "would change that."
        ),
    }
)
#: The error rates that are compared, and what they count.
_ERROR_RATES = fixed({"true": "true positive rates", "false": "false positive rates"})
_ERRORS_SAID = fixed(
    {
        "true": (
            "{rate} of {group} recorded “{outcome}” (n = {n}) have a favourable decision, against "
            "{best_rate} of {best} (n = {best_n}, the reference): {shown}."
        ),
        "false": (
            "{rate} of {group} not recorded “{outcome}” (n = {n}) nevertheless have a favourable "
            "decision, against {best_rate} of {best} (n = {best_n}, the reference): {shown}."
        ),
    }
)
#: What scores are counted, by whether the lower ones are favourable.
_SCORED_TITLES = fixed(
    {
        False: "Scores for “{outcome}” above the median",
        True: "Scores for “{outcome}” below the median",
    }
)
#: What is counted of scores, by whether the lower ones are favourable.
_SCORED = fixed(
    {
        False: (
            "Scoring rate: share of each group with a score for “{outcome}” above the median of "
            "all, {interval}. It is not a rate of decisions."
        ),
        True: (
            "Scoring rate: share of each group with a score for “{outcome}” below the median of "
            "all, which is the favourable side, {interval}. It is not a rate of decisions."
        ),
    }
)
_SCORING_RATES = fixed(
    {
        False: "scoring rates (shares with a score above the median of all)",
        True: "scoring rates (shares with a score below the median of all, the favourable side)",
    }
)
_TIES = fixed(
    {
        False: "{share} have exactly that score, and do not count as above it.",
        True: "{share} have exactly that score, and do not count as below it.",
    }
)
#: Beside an impact ratio below four fifths, and beside one that moves across them with one
#: individual more or fewer.
BELOW, FLIPS = "▽", "‡"
#: From this corrected p-value on a difference may be due to chance.
SIGNIFICANT = 0.05
#: A group of numbers, as it is named.
_RANGE = re.compile(r"^up to | to | and over$")


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


def table_sentences(spec: AuditSpec, table: GroupTable) -> tuple[str, ...]:
    """Say what a table shows beside its worst group: who was left out, and why."""
    said = (_below_line(table), _higher(table), median_sentence(table))
    return tuple(filter(None, (*said, _left_out(spec, table), _small(table))))


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


def is_shown(table: GroupTable, line: GroupLine) -> bool:
    """Return whether a group's difference from the reference is more than chance explains.

    Its corrected p-value is below `SIGNIFICANT`, and both groups have `LEAST_ROWS` rows.
    """
    best = reference_of(table)
    if best is None or line.holm is None or line.impact_ratio is None:
        return False
    return line.holm < SIGNIFICANT and min(line.n_samples, best.n_samples) >= LEAST_ROWS


def shown_of(table: GroupTable) -> GroupLine | None:
    """Return the group with the lowest impact ratio of those that chance does not explain.

    Returns
    -------
    GroupLine, optional
        ``None`` where no group is shown to have a lower rate than the reference.
    """
    shown = [line for line in table.lines if is_shown(table, line)]
    lower = [line for line in shown if line.impact_ratio is not None and line.impact_ratio < 1]
    return min(lower, key=lambda line: line.impact_ratio or 0.0, default=None)


def worst_statement(spec: AuditSpec, table: GroupTable) -> Statement:
    """Say the lowest impact ratio, and whose it is; of ratios that chance explains, that."""
    worst, best = shown_of(table) or worst_of(table), reference_of(table)
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
    if all(line.impact_ratio in (None, 1) for line in table.lines):
        said = say(
            "All groups by {by} have the same rate in {what}: {rate}. The impact ratio is {ratio}.",
            rate=rate_of(table, best),
            **values,
        )
        return Statement("observed", say("Impact ratio"), values["ratio"], said)
    chance = _chance(table, worst)
    ends = ratio_interval(table, worst)
    interval = (
        say(
            " ({percent} CI {ends})",
            percent=words.percent_of("95"),
            ends=words.ends(*(words.number(each, 2) for each in ends)),
        )
        if ends is not None
        else ""
    )
    values |= {"rate": rate_of(table, worst), "group": group_text(table, worst)}
    values |= {"best_rate": rate_of(table, best), "best": group_text(table, best)}
    values |= {"n": words.number(worst.n_samples), "best_people": words.number(best.n_samples)}
    if shown_of(table) is None:
        return _none_shown(table, worst, {**values, "interval": interval, "chance": chance})
    sentence = say(
        "In {what}, {group} has {share} of the rate of {best}: {rate} (n = {n}) against "
        "{best_rate} (n = {best_people}, the reference). The impact ratio of {ratio}{interval} is "
        "the lowest by {by}{chance}.",
        share=words.percent(worst.impact_ratio, 1.0, 0),
        interval=interval,
        chance=chance,
        **values,
    )
    # the threshold is about decisions, and a score above the median is none
    line = "" if table.of == "scores" else say(_LINES[bool(worst.below), bool(worst.flips)])
    said = f"{sentence} {line}".rstrip()
    label = (
        say("Lowest ratio of scoring rates by {by}", by=values["by"])
        if table.of == "scores"
        else say("Lowest impact ratio by {by}", by=values["by"])
    )
    brief = say("{rate} for {group} against {best_rate} for {best}, in {what}.", **values)
    return Statement("observed", label, values["ratio"], said, brief)


def _none_shown(table: GroupTable, lowest: GroupLine, values: dict[str, str]) -> Statement:
    """Say that no group is shown to have a lower rate, and why the lowest is not.

    Parameters
    ----------
    values : dict[str, str]
        What `worst_statement` says of the lowest group and the reference.
    """
    label, value = say("Groups with a lower rate by {by}", **values), say("None shown")
    said = say(
        "No group by {by} is shown to have a lower rate in {what} than the reference, {best} "
        "({best_rate}, n = {best_people}).",
        **values,
    )
    if lowest is reference_of(table):
        return Statement("observed", label, value, said, said)
    brief = say("The lowest impact ratio, {ratio} for {group}, may be due to chance.", **values)
    if min(lowest.n_samples, table.lines[table.reference].n_samples) < LEAST_ROWS:
        why = say("there are fewer than {n} rows of a group", n=words.number(LEAST_ROWS))
    else:
        why = say("the difference may be due to chance")
    lower = say(
        "The lowest impact ratio is {ratio}{interval}: {rate} for {group} (n = {n}){chance}; "
        "{why}.",
        why=why,
        **values,
    )
    return Statement("observed", label, value, f"{said} {lower}", brief)


def comparisons(table: GroupTable) -> int:
    """Count the groups of a table that are compared with the reference."""
    return sum(line.p is not None for line in table.lines)


def _chance(table: GroupTable, line: GroupLine) -> str:
    """Write the p-value of a group, and whether it is corrected: of several it is."""
    if line.holm is None:
        return ""
    p = p_is(line.holm) + small_test(line)
    return f"; {p}" if comparisons(table) < 2 else say("; corrected {p}", p=p)


def small_test(line: GroupLine) -> str:
    """Write beside a p-value that Fisher's test gave it; empty of the Z test's."""
    return f" ({line.test})" if line.test and line.test != "Z" else ""


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
            return say(_SCORING_RATES[table.falls])


def rate_of(table: GroupTable, line: GroupLine) -> str:
    """Write a group's rate: with two decimals where no group that is compared is small."""
    compared = [each.n_samples for each in table.lines if each.impact_ratio is not None]
    # of a thousand people one is a tenth of a percent
    digits = 2 if min(compared, default=0) >= 1_000 else 1
    return words.percent(line.favourable, line.n_samples, digits)


def _below_line(table: GroupTable) -> str:
    compared = [line for line in table.lines if line.below is not None]
    below = sum(bool(line.below) and is_shown(table, line) for line in compared)
    if below < 2 or table.of == "scores":
        return ""
    if below == len(compared) - 1:
        return say(
            "All {groups} groups compared with the reference are below the four-fifths threshold.",
            groups=words.number(below),
        )
    return say(
        "{n} of the {groups} groups compared with the reference are below the four-fifths "
        "threshold.",
        n=words.number(below),
        groups=words.number(len(compared) - 1),
    )


def _higher(table: GroupTable) -> str:
    """Name the groups that are shown to have a higher rate than the reference; mostly none."""
    higher = [
        say(
            "{group} ({rate}, n = {n}, ratio {ratio})",
            group=group_text(table, line),
            rate=rate_of(table, line),
            n=words.number(line.n_samples),
            ratio=words.number(line.impact_ratio, 2),
        )
        for line in table.lines
        if line.impact_ratio is not None and line.impact_ratio > 1 and is_shown(table, line)
    ]
    if not higher:
        return ""
    return say("Higher rates than that of the reference: {groups}.", groups="; ".join(higher))


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


class ErrorGap(NamedTuple):
    """How far a group's error rate is from that of the reference.

    Attributes
    ----------
    what : str
        ``"true"`` or ``"false"``: which positive rate.
    line : GroupLine
        The group.
    counts, reference : tuple[int, int]
        Of the group, and of the reference: those decided favourably, and of how many.
    """

    what: Literal["true", "false"]
    line: GroupLine
    counts: tuple[int, int]
    reference: tuple[int, int]

    @property
    def difference(self) -> float:
        """The group's rate minus that of the reference."""
        (part, whole), (its_part, its_whole) = self.counts, self.reference
        return part / whole - its_part / its_whole

    @property
    def ends(self) -> tuple[float, float]:
        """The 95 % interval of the difference, by Newcombe."""
        return newcombe(self.counts, self.reference)

    @property
    def shown(self) -> bool:
        """Whether that interval excludes zero."""
        low, high = self.ends
        return low > 0 or high < 0


def error_gap(table: GroupTable) -> ErrorGap | None:
    """Return the largest difference of a positive rate, true or false, from the reference's.

    One whose interval excludes zero comes before one that may be due to chance.

    Returns
    -------
    ErrorGap, optional
        ``None`` without labels, and where no group that is compared differs.
    """
    gaps = (gap for gap in _error_gaps(table) if gap.difference)
    return max(gaps, key=lambda gap: (gap.shown, abs(gap.difference)), default=None)


def _error_gaps(table: GroupTable) -> Iterator[ErrorGap]:
    """Yield how far each group that is compared is from the reference."""
    best = reference_of(table)
    if best is None:
        return
    for line in table.lines:
        if line is best or not line.known or line.excluded:
            continue
        for what in ("true", "false"):
            own, its = _positives(line, what), _positives(best, what)
            if own[1] and its[1]:
                yield ErrorGap(what, line, own, its)


def _positives(line: GroupLine, what: Literal["true", "false"]) -> tuple[int, int]:
    """Return how many are decided favourably, of those with, or without, that outcome."""
    if what == "true":
        return line.true_positives or 0, line.positives or 0
    return line.false_positives or 0, line.negatives or 0


def errors_statement(spec: AuditSpec, table: GroupTable) -> Statement | None:
    """Say which positive rate is farthest from the reference's, and of which group.

    That is the true or the false positive rate: the one that differs more. With labels only.
    """
    gap, best = error_gap(table), reference_of(table)
    if gap is None or best is None:
        return None
    shown = _apart(gap)
    if not gap.shown:
        shown = say("{shown}. The interval includes zero: no difference is shown", shown=shown)
    said = say(
        _ERRORS_SAID[gap.what],
        outcome=spec.favourable,
        rate=words.percent(*gap.counts),
        group=group_text(table, gap.line),
        n=words.number(gap.counts[1]),
        best_rate=words.percent(*gap.reference),
        best=group_text(table, best),
        best_n=words.number(gap.reference[1]),
        shown=shown,
    )
    values = {"rates": say(_ERROR_RATES[gap.what]), "by": words.listed(table.attributes)}
    value = words.number(100 * abs(gap.difference), 1)
    if larger := _larger(table, gap):
        label = say("Difference in {rates} by {by}, in percentage points", **values)
        return Statement("observed", label, value, f"{said} {larger}")
    label = say("Largest difference in {rates} by {by}, in percentage points", **values)
    return Statement("observed", label, value, said)


def _apart(gap: ErrorGap) -> str:
    """Write a difference with its interval: both in the direction that is named."""
    sign = -1 if gap.difference < 0 else 1
    low, high = sorted(100 * sign * end for end in gap.ends)
    least, most = (words.number(abs(each), 1) for each in (low, high))
    values = {
        "n": words.number(100 * abs(gap.difference), 1),
        "percent": words.percent_of("95"),
        "ends": words.ends(least, most),
    }
    # where both directions are possible, each end names its own
    if low < 0 and gap.difference < 0:
        values["ends"] = say("{least} higher to {most} lower", least=least, most=most)
    elif low < 0:
        values["ends"] = say("{least} lower to {most} higher", least=least, most=most)
    if gap.difference < 0:
        return say("{n} percentage points lower ({percent} CI {ends})", **values)
    return say("{n} percentage points higher ({percent} CI {ends})", **values)


def _larger(table: GroupTable, told: ErrorGap) -> str:
    """Say which difference is larger than the one that is told, and why it is not told first."""
    wider = [gap for gap in _error_gaps(table) if abs(gap.difference) > abs(told.difference)]
    if not wider:
        return ""
    widest = max(wider, key=lambda gap: abs(gap.difference))
    # one that is shown comes first: the interval of a larger one includes zero
    return say(
        "Larger, but with an interval that includes zero: {rates} for {group}, {apart}.",
        rates=say(_ERROR_RATES[widest.what]),
        group=group_text(table, widest.line),
        apart=_apart(widest),
    )


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
    parts = []
    if table.unknown:
        unknown = words.counted(table.unknown, spec.person)
        parts.append(say("{unknown} whose group is not recorded", unknown=unknown))
    if table.without:
        without = words.counted(table.without, spec.person)
        parts.append(say("{without} ({why})", without=without, why=why_without(spec, table)))
    return say("Excluded: {parts}.", parts=words.joined(parts)) if parts else ""


def why_without(spec: AuditSpec, table: GroupTable) -> str:
    """Say why rows are in none of a table's groups: what is counted is not known of them."""
    if table.of == "label":
        return say("no recorded outcome")
    if spec.predictions:
        return say("no decision in the data")
    return say("a value that the model needs is missing")


def _small(table: GroupTable) -> str:
    few = [line for line in table.lines if line.excluded]
    if not few:
        return ""
    return say_many(
        len(few),
        "{n} of the {groups} groups is too small for an impact ratio.",
        "{n} of the {groups} groups are too small for an impact ratio.",
        groups=words.number(sum(line.known for line in table.lines)),
    )


def points_of(value: float | None) -> str:
    """Write a difference of rates in percentage points."""
    if value is None:
        return say(UNDEFINED)
    return say("{n} percentage points", n=signed(100 * value, 1))
