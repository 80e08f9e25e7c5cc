"""Impact ratios and differences of error rates, in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.groups.metrics.group_table import newcombe
from fairdesk.groups.options import LEAST_ROWS
from fairdesk.results.events import Metric
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.wording import words
from fairdesk.wording.decisions import favourable
from fairdesk.wording.groups.tables import (
    median_sentence,
    outcome_of,
    people,
    rate_of,
    reference_of,
    why_without,
)
from fairdesk.wording.language import Statement, say, unmeasured
from fairdesk.wording.words import p_is

#: The error rates that are compared, and what they count.
_ERROR_RATES = {"true": "true positive rates", "false": "false positive rates"}
_ERRORS_SAID = {
    "true": "{Group} recorded “{outcome}” are selected {apart}.",
    "false": "{Group} not recorded “{outcome}” are selected {apart}.",
}


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
    """Say how far both positive rates of a group are from the reference's.

    Of the group with the largest difference, that first. With labels only.
    """
    gap, best = error_gap(table), reference_of(table)
    if gap is None or best is None:
        return None
    both = sorted(
        (each for each in _error_gaps(table) if each.line is gap.line),
        key=lambda each: each.what != gap.what,
    )
    said = " ".join(
        say(
            _ERRORS_SAID[each.what],
            outcome=spec.favourable,
            Group=words.capital(people(spec, table, each.line)),
            apart=_apart(each, people(spec, table, best)),
        )
        for each in both
    )
    by = words.listed(table.attributes)
    if not gap.shown:
        label = say("Differences in error rates by {by}", by=by)
        return Statement("observed", label, "None shown", said)
    rates = _ERROR_RATES[gap.what]
    label = say("Difference in {rates} by {by}, in percentage points", rates=rates, by=by)
    return Statement("observed", label, words.number(100 * abs(gap.difference), 1), said)


def _apart(gap: ErrorGap, best: str) -> str:
    """Write a difference from the reference with its interval, in the direction that is named."""
    sign = -1 if gap.difference < 0 else 1
    low, high = sorted(100 * sign * end for end in gap.ends)
    least, most = (words.number(abs(each), 1) for each in (low, high))
    values = {
        "n": words.number(100 * abs(gap.difference), 1),
        "percent": words.percent_of("95"),
        "ends": words.ends(least, most),
        "best": best,
    }
    # where both directions are possible, each end names its own
    if low < 0 and gap.difference < 0:
        values["ends"] = say("{most} less often to {least} more often", least=least, most=most)
    elif low < 0:
        values["ends"] = say("{least} less often to {most} more often", least=least, most=most)
    if not gap.difference:
        return say("as often as such {best} ({percent} CI {ends})", **values)
    if not gap.shown:
        values["ends"] += "; may be due to chance"
    if gap.difference < 0:
        return say(
            "{n} percentage points less often than such {best} ({percent} CI {ends})", **values
        )
    return say("{n} percentage points more often than such {best} ({percent} CI {ends})", **values)


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
    return Statement("observed", "Accuracy", value, said)


#: How a ratio stands to the screening line: by whether it is below, and whether one person more
#: or fewer would change that.
_LINES = {
    (True, False): "below the four-fifths threshold",
    (False, False): "not below the four-fifths threshold",
    (True, True): (
        "below the four-fifths threshold, though one selected more or fewer would change that"
    ),
    (False, True): (
        "not below the four-fifths threshold, though one selected more or fewer would change that"
    ),
}
#: Beside an impact ratio below four fifths, and beside one that moves across them with one
#: selected more or fewer.
BELOW, FLIPS = "▽", "‡"
#: Groups that a table shows without a sentence that counts them.
_AT_A_GLANCE = 6
#: Groups below the threshold that are named.
_NAMED = 4
#: From this corrected p-value on a difference may be due to chance.
SIGNIFICANT = 0.05
#: What is counted, as what is said of the members of a group; of scores by which are favourable.
_COUNTED = {
    "label": "are recorded “{outcome}”",
    "decisions": "are selected (“{outcome}”)",
    False: "have a score above the median of all",
    True: "have a score below the median of all (the favourable side)",
}


def worst_of(table: GroupTable) -> GroupLine | None:
    """Return the group with the lowest impact ratio; ``None`` where no two can be compared."""
    compared = [line for line in table.lines if line.impact_ratio is not None]
    if len(compared) < 2:
        return None
    return min(compared, key=lambda line: line.impact_ratio or 0.0)


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


def higher_of(table: GroupTable) -> list[GroupLine]:
    """Return the groups that are shown to have a higher rate than the reference."""
    return [line for line in table.lines if (line.impact_ratio or 0) > 1 and is_shown(table, line)]


def comparisons(table: GroupTable) -> int:
    """Count the groups of a table that are compared with the reference."""
    return sum(line.p is not None for line in table.lines)


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


def worst_statement(spec: AuditSpec, table: GroupTable) -> Statement:
    """Say the lowest impact ratio, and whose it is; of ratios that chance explains, that."""
    worst, best = shown_of(table) or worst_of(table), reference_of(table)
    values = {"by": words.listed(table.attributes), "are": _counted_as(spec, table)}
    if worst is None or best is None or worst.impact_ratio is None:
        why = _why_none(table)
        return unmeasured(say("No two groups by {by} can be compared: {why}.", why=why, **values))
    values |= {"best": people(spec, table, best), "best_n": words.number(best.n_samples)}
    values |= {"ratio": words.number(worst.impact_ratio, 2), "best_rate": rate_of(table, best)}
    if all(line.impact_ratio in (None, 1) for line in table.lines):
        said = say(
            "All groups by {by} have the same rate: {best_rate} {are}. The impact ratio is "
            "{ratio}.",
            **values,
        )
        return Statement("observed", "Impact ratio", values["ratio"], said)
    values |= {"group": people(spec, table, worst), "rate": rate_of(table, worst)}
    values |= {"n": words.number(worst.n_samples), "interval": _interval(table, worst, "ratio")}
    if shown_of(table) is None:
        return _none_shown(table, worst, values)
    values["interval"] = _interval(table, worst, "share")
    # the threshold is about decisions, and a score above the median is none
    scores = table.of == "scores"
    line = "" if scores else say(", {line}", line=_LINES[bool(worst.below), bool(worst.flips)])
    said = say(
        "{group} {are} at {share} of the rate of {best}, the reference{interval}{line}.",
        share=words.percent(worst.impact_ratio, 1.0, 0),
        line=line,
        **values,
    )
    label = (
        say("Lowest ratio of scoring rates by {by}", **values)
        if scores
        else say(
            "Impact ratio by {by}" if len(table.lines) == 2 else "Lowest impact ratio by {by}",
            **values,
        )
    )
    brief = say("{rate} of {n} {group} {are}, against {best_rate} of {best_n} {best}.", **values)
    return Statement("observed", label, values["ratio"], words.capital(said), brief)


def _none_shown(table: GroupTable, lowest: GroupLine, values: dict[str, str]) -> Statement:
    """Say that no group is shown to have a lower rate, and why the lowest is not.

    Parameters
    ----------
    values : dict[str, str]
        What `worst_statement` says of the lowest group and the reference.
    """
    label, value = say("Groups with a lower rate by {by}", **values), "None shown"
    said = say(
        "No group by {by} is shown to have a lower rate than the reference, {best}: {best_rate} of "
        "{best_n} {are}.",
        **values,
    )
    if lowest is reference_of(table):
        return Statement("observed", label, value, said, said)
    brief = say("The lowest impact ratio, {ratio} for {group}, may be due to chance.", **values)
    if min(lowest.n_samples, table.lines[table.reference].n_samples) < LEAST_ROWS:
        why = say("there are fewer than {n} rows of a group", n=words.number(LEAST_ROWS))
    else:
        why = "the difference may be due to chance"
    lower = say(
        "The lowest impact ratio is {ratio}{interval}: {rate} of {n} {group}; {why}.",
        why=why,
        **values,
    )
    return Statement("observed", label, value, f"{said} {lower}", brief)


def _interval(table: GroupTable, line: GroupLine, unit: Literal["ratio", "share"]) -> str:
    """Write behind a ratio its interval and its p-value, and whether this is corrected."""
    ends, parts = ratio_interval(table, line), []
    if ends is not None:
        percent = words.percent_of("95")
        low, high = (words.number(each, 2) for each in ends)
        written = words.ends(low, high) if unit == "ratio" else words.percent_ends(*ends, 0)
        parts.append(say("{percent} CI {ends}", percent=percent, ends=written))
    if line.holm is not None:
        p = p_is(line.holm) + small_test(line)
        # of several groups it is
        parts.append(p if comparisons(table) < 2 else say("corrected {p}", p=p))
    return f" ({'; '.join(parts)})" if parts else ""


def _why_none(table: GroupTable) -> str:
    lines = [line for line in table.lines if line.known and line.n_samples]
    if len(lines) < 2:
        return "fewer than two have members"
    if sum(not line.excluded for line in lines) < 2:
        return "fewer than two are large enough"
    return "no member has the favourable outcome"


def _counted_as(spec: AuditSpec, table: GroupTable) -> str:
    counted = table.falls if table.of == "scores" else table.of
    return say(_COUNTED[counted], outcome=outcome_of(spec, table))


def table_sentences(spec: AuditSpec, table: GroupTable) -> tuple[str, ...]:
    """Say what a table shows beside its worst group: who was left out, and why."""
    said = (
        _parts(spec, table),
        _higher(spec, table),
        _against_highest(spec, table),
        median_sentence(table),
        _left_out(spec, table),
    )
    return tuple(filter(None, said))


def _against_highest(spec: AuditSpec, table: GroupTable) -> str:
    """Say the lowest ratio to the highest rate, where a group too small to be the reference has it.

    29 CFR 1607.4(D) compares with the highest rate.
    """
    best, worst = reference_of(table), shown_of(table)
    held = [line for line in table.lines if line.impact_ratio is not None and line.rate]
    highest = max(held, key=lambda line: line.rate or 0.0, default=None)
    if best is None or worst is None or highest is None or highest.rate == best.rate:
        return ""
    return say(
        "Against the highest rate of a group that is large enough to compare ({group}, {rate} of "
        "{n}) the ratio is {ratio}.",
        group=people(spec, table, highest),
        rate=rate_of(table, highest),
        n=words.number(highest.n_samples),
        ratio=words.number((worst.rate or 0.0) / (highest.rate or 1.0), 2),
    )


def _parts(spec: AuditSpec, table: GroupTable) -> str:
    """Say how many groups are below the threshold, which, and too small: parts that add up."""
    best, known = reference_of(table), [line for line in table.lines if line.known]
    held = [line for line in known if line is not best and line.impact_ratio is not None]
    least = [
        f"{people(spec, table, each)} {words.number(each.impact_ratio or 0.0, 2)}"
        for each in held
        if each.below and is_shown(table, each)
    ]
    shown = len(least)
    below, few = sum(bool(line.below) for line in held), sum(line.excluded for line in known)
    if len(known) < 3 or not few + shown:
        return ""
    # of few groups the table says it at a glance, but for those that chance may explain
    if len(known) <= _AT_A_GLANCE and below == shown:
        return ""
    decided = table.of != "scores" and bool(shown)
    counts = {
        "{n} {are} below the four-fifths threshold, with a significant difference{which}": (
            decided * shown
        ),
        "{n} {are} below it, perhaps by chance": decided * (below - shown),
        "{n} {are} not below it": decided * (len(held) - below),
        "{n} {are} compared": (not decided) * len(held),
        "{n} {are} too small to compare": few,
        "{n} {are} the reference": int(best is not None),
    }
    counts["{n} {are} without a rate"] = len(known) - sum(counts.values())
    # the only one is in the statement
    which = (
        ""
        if shown < 2
        else say(
            " (corrected p below {p}: {groups})",
            p=words.number(SIGNIFICANT, 2),
            groups=words.some(least, _NAMED),
        )
    )
    parts = [
        say(text, n=words.number(n), are="is" if n == 1 else "are", which=which)
        for text, n in counts.items()
        if n
    ]
    by = words.listed(table.attributes)
    n = words.number(len(known))
    return say("Of the {n} groups by {by}, {parts}.", n=n, by=by, parts=words.joined(parts))


def _higher(spec: AuditSpec, table: GroupTable) -> str:
    """Name the groups that are shown to have a higher rate than the reference; mostly none."""
    higher = [
        say(
            "{group} ({rate} of {n}, ratio {ratio})",
            group=people(spec, table, line),
            rate=rate_of(table, line),
            n=words.number(line.n_samples),
            ratio=words.number(line.impact_ratio or 0.0, 2),
        )
        for line in higher_of(table)
    ]
    if not higher:
        return ""
    return say("Higher rates than that of the reference: {groups}.", groups="; ".join(higher))


def _left_out(spec: AuditSpec, table: GroupTable) -> str:
    parts = []
    if table.unknown:
        unknown = words.counted(table.unknown, spec.person)
        parts.append(say("{unknown} whose group is not recorded", unknown=unknown))
    if table.without:
        without = words.counted(table.without, spec.person)
        parts.append(say("{without} ({why})", without=without, why=why_without(spec, table)))
    return say("Excluded: {parts}.", parts=words.joined(parts)) if parts else ""


def of_main_kind(spec: AuditSpec, tables: Sequence[GroupTable]) -> list[GroupTable]:
    """Return the tables of the favourable decision if there are any, else of labels, or scores."""
    order = ("decisions", "label", "scores")
    kind = min((table.of for table in tables), key=order.index, default="decisions")
    of_kind = [table for table in tables if table.of == kind]
    return [table for table in of_kind if table.outcome == favourable(spec)] or of_kind


def ranked(tables: Iterable[GroupTable]) -> list[GroupTable]:
    """Order tables by their lowest impact ratio, those of single attributes first.

    Those in which chance may explain all ratios are last.
    """

    def order(table: GroupTable) -> tuple[bool, bool, float]:
        shown, worst = shown_of(table), worst_of(table)
        line = shown or worst
        ratio = 2.0 if line is None or line.impact_ratio is None else line.impact_ratio
        return shown is None, len(table.attributes) > 1, ratio

    return sorted(tables, key=order)


def lowest(tables: Iterable[GroupTable]) -> GroupTable:
    """Return the first of the `ranked` tables, of which there is at least one."""
    return ranked(tables)[0]


def lowest_in_short(spec: AuditSpec, figures: Iterable[Metric]) -> str:
    """Write the lowest impact ratio, as the overview has it, for a line of the sidebar."""
    tables = of_main_kind(spec, [each for each in figures if isinstance(each, GroupTable)])
    table = lowest(tables) if tables else None
    worst = None if table is None else shown_of(table)
    if table is None or worst is None or worst.impact_ratio is None:
        return ""
    return say(
        "ratio {ratio} by {attributes}",
        ratio=words.number(worst.impact_ratio, 2),
        attributes=words.joined(table.attributes),
    )


def tested(tables: Iterable[GroupTable]) -> tuple[str, ...]:
    """Say of which test the p-values of tables are; nothing where no group has one."""
    most = max(map(comparisons, tables), default=0)
    return (words.TESTED[most > 1],) if most else ()
