"""How far the error rates of groups are apart, in a sentence: observed, by recorded outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.groups.metrics.outcomes import newcombe
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.wording import words
from fairdesk.wording.groups.tables import people, reference_of
from fairdesk.wording.language import fixed, say
from fairdesk.wording.statements import Statement

#: The error rates that are compared, and what they count.
_ERROR_RATES = fixed({"true": "true positive rates", "false": "false positive rates"})
_ERRORS_SAID = fixed(
    {
        "true": (
            "{rate} of {n} {group} recorded “{outcome}” are selected, against {best_rate} of "
            "{best_n} {best}: {apart}."
        ),
        "false": (
            "{rate} of {n} {group} not recorded “{outcome}” are selected, against {best_rate} of "
            "{best_n} {best}: {apart}."
        ),
    }
)


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
            rate=words.percent(*each.counts),
            n=words.number(each.counts[1]),
            group=people(spec, table, each.line),
            best_rate=words.percent(*each.reference),
            best_n=words.number(each.reference[1]),
            best=people(spec, table, best),
            apart=_apart(each),
        )
        for each in both
    )
    by = words.listed(table.attributes)
    if not gap.shown:
        label = say("Differences in error rates by {by}", by=by)
        return Statement("observed", label, say("None shown"), said)
    rates = say(_ERROR_RATES[gap.what])
    label = say("Difference in {rates} by {by}, in percentage points", rates=rates, by=by)
    return Statement("observed", label, words.number(100 * abs(gap.difference), 1), said)


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
    if not gap.difference:
        return say("no difference ({percent} CI {ends})", **values)
    if not gap.shown:
        values["ends"] += say(", which includes zero")
    if gap.difference < 0:
        return say("{n} percentage points lower ({percent} CI {ends})", **values)
    return say("{n} percentage points higher ({percent} CI {ends})", **values)


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
