"""Subgroups that were discovered: which stand for themselves, in what order, and their numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.groups.tabular.results import FEW
from fairdesk.results.events import Metric
from fairdesk.results.subgroups import RuleSearchSummary, RuleSet
from fairdesk.wording import words
from fairdesk.wording.decisions import favourable
from fairdesk.wording.language import say
from fairdesk.wording.rules import rule_phrase
from fairdesk.wording.words import signed

#: A difference that chance makes more often than this is told as one that it may have made.
CHANCE = 0.05


def mined_with(
    figures: Iterable[Metric],
) -> Iterator[tuple[RuleSearchSummary, tuple[RuleSet, ...]]]:
    """Yield for each outcome what was examined, and its rule sets, as they follow each other."""
    held = [each for each in figures if isinstance(each, RuleSearchSummary | RuleSet)]
    places = [place for place, each in enumerate(held) if isinstance(each, RuleSearchSummary)]
    for place, end in zip(places, (*places[1:], len(held)), strict=False):
        mined = held[place]
        if isinstance(mined, RuleSearchSummary):
            yield mined, tuple(each for each in held[place + 1 : end] if isinstance(each, RuleSet))


def is_counted(rule_set: RuleSet) -> bool:
    """Return whether both rates are counted in the data rows; those of texts are not shown."""
    known = rule_set.data_in is not None and rule_set.data_out is not None
    return known and not is_about_texts(rule_set)


def shown_rates(rule_set: RuleSet) -> tuple[float, float]:
    """Return the rates inside and outside as the data rows have them, else the estimated ones."""
    inside, outside = rule_set.data_in, rule_set.data_out
    if inside is None or outside is None or not is_counted(rule_set):
        return rule_set.phi_in, rule_set.phi_out
    return inside, outside


def shown_gap(rule_set: RuleSet) -> float:
    """Return how far the rates that are shown are apart; below 0 where the subgroup's is lower."""
    inside, outside = shown_rates(rule_set)
    return inside - outside


def quoted_gap(rule_set: RuleSet) -> float:
    """Return the gap that is quoted: as it is counted where the data rows show it."""
    if is_counted(rule_set) and not rule_set.holds_on_data:
        return rule_set.score
    return abs(shown_gap(rule_set))


def leaves_few(mined: RuleSearchSummary, rule_set: RuleSet) -> bool:
    """Return whether a rule set leaves fewer people outside than the least support.

    In texts, the same sentences are inside and outside.
    """
    return not mined.texts and rule_set.support > 1 - mined.theta


class Finding(NamedTuple):
    """A subgroup that stands for itself, and those that are nearly the same, or all others."""

    rule_set: RuleSet
    similar: tuple[RuleSet, ...] = ()

    def speaks_of(self, spec: AuditSpec, text: str, attribute: str) -> bool:
        """Return whether one of its rules holds a text and is about an attribute; empty is any."""
        return any(
            (not attribute or any(attribute == one.attribute for one in each.conditions))
            and (not text or text.casefold() in rule_phrase(spec, each.conditions).casefold())
            for each in (self.rule_set, *self.similar)
        )


def findings(spec: AuditSpec, rule_sets: Sequence[RuleSet]) -> tuple[Finding, ...]:
    """Return the subgroups that stand for themselves, each by its plainest rule.

    The one with the significantly lowest rate comes first, then significant gaps and others, in
    the order of the search: the largest gap first, and last what leaves few rows outside.
    """
    least, found = lowest_of(spec, rule_sets), list[Finding]()
    for leader, variants in _led(rule_sets):
        first = plainest(leader, variants)
        others = (each for each in (leader, *variants) if each is not first and each is not least)
        found.append(Finding(first, tuple(others)))
    if least is not None and all(each.rule_set is not least for each in found):
        # the subgroup with the lowest rate is a finding, however alike another one is
        found.append(Finding(least))

    def rank(each: Finding) -> tuple[bool, bool]:
        return each.rule_set is not least, not is_significant(each.rule_set)

    return tuple(sorted(found, key=rank))


def _led(rule_sets: Sequence[RuleSet]) -> Iterator[tuple[RuleSet, list[RuleSet]]]:
    """Yield those that stand for themselves, each with its variants.

    One whose leader was not kept stands for itself.
    """
    variants: defaultdict[int, list[RuleSet]] = defaultdict(list)
    for each in rule_sets:
        variants[each.leader].append(each)
    for place, each in enumerate(rule_sets):
        if not 0 <= each.leader < len(rule_sets):
            yield each, variants.get(place, [])


def leaders(rule_sets: Sequence[RuleSet]) -> tuple[RuleSet, ...]:
    """Return those that stand for themselves, in their order; each by its plainest rule."""
    return tuple(plainest(*each) for each in _led(rule_sets))


def plainest(leader: RuleSet, variants: Iterable[RuleSet]) -> RuleSet:
    """Return a variant with the same gap to whose rule the other only adds conditions, if any."""
    written = difference_texts(leader)[0]
    plainer = [
        each
        for each in variants
        if set(each.conditions) < set(leader.conditions) and difference_texts(each)[0] == written
    ]
    return min(plainer, key=lambda each: len(each.conditions), default=leader)


def is_significant(rule_set: RuleSet) -> bool:
    """Return whether a gap is statistically significant: by its corrected p, and its interval."""
    return rule_set.p <= CHANCE and (rule_set.low > 0 or rule_set.high < 0)


def lowest_of(spec: AuditSpec, rule_sets: Sequence[RuleSet]) -> RuleSet | None:
    """Return the one with the lowest rate of those whose rate is significantly lower.

    ``None`` where there is none, and for a decision whose lower rate is not known to be worse.
    """
    lower = [
        each
        for each in rule_sets
        if is_significant(each)
        and each.phi_in < each.phi_out
        and each.outcome in ("", favourable(spec))
    ]
    return min(lower, key=lambda each: shown_rates(each)[0], default=None)


def foremost(found: Sequence[Finding], most: int) -> tuple[RuleSet, ...]:
    """Return the first subgroups that a chart draws.

    Gaps that may be chance are among them only where there are no others.
    """
    leading = [each.rule_set for each in found if each.rule_set.score]
    return tuple(([each for each in leading if is_significant(each)] or leading)[:most])


def both_rates(rule_set: RuleSet, least: int = 1) -> tuple[str, str]:
    """Write the rates inside and outside, as `shown_rates`; with at least so many decimals."""
    inside, outside = shown_rates(rule_set)
    if not rule_set.outcome:
        return words.number(inside, 3), words.number(outside, 3)
    digits = max(least, words.digits_apart(inside, outside))
    return words.percent(inside, 1.0, digits), words.percent(outside, 1.0, digits)


def rate_digits(rule_sets: Iterable[RuleSet]) -> int:
    """Return with how many decimals the rates of several rule sets are written in one table."""
    return max((words.digits_apart(*shown_rates(each)) for each in rule_sets), default=1)


def shown_gap_text(rule_set: RuleSet) -> str:
    """Write the gap between the rates that are shown: ``−62.4``."""
    return _apart(rule_set, shown_gap(rule_set))


def difference_texts(rule_set: RuleSet) -> tuple[str, str]:
    """Write the estimated gap and its interval, in points: ``−62.4``, ``−66.1 to −58``."""
    apart, low, high = (
        _apart(rule_set, each)
        for each in (rule_set.phi_in - rule_set.phi_out, rule_set.low, rule_set.high)
    )
    return apart, words.ends(low, high)


def original_text(rule_set: RuleSet) -> str:
    """Write the gap among the texts as they are, where there are enough of them."""
    inside, outside = rule_set.data_in, rule_set.data_out
    if inside is None or outside is None or rule_set.holds_on_data is None:
        return "too few"
    return _apart(rule_set, inside - outside)


def _apart(rule_set: RuleSet, value: float) -> str:
    return signed(100 * value, 1) if rule_set.outcome else signed(value, 3)


def gap_number(outcome: str, value: float) -> str:
    """Write a gap of rates in percentage points, without the unit; of mean scores as it is."""
    return words.number(100 * value, 1) if outcome else words.number(value, 3)


def gap_text(outcome: str, value: float) -> str:
    """Write a gap of rates, ``62.4 percentage points``, or of mean scores: ``0.624``."""
    n = gap_number(outcome, value)
    return say("{n} percentage points", n=n) if outcome else n


def has_few_rows(rule_set: RuleSet) -> bool:
    """Return whether too few rows as they are were compared; not known of older audits."""
    return rule_set.data_rows is not None and rule_set.data_rows < FEW


def is_about_texts(rule_set: RuleSet) -> bool:
    """Return whether a subgroup is one of terms in texts."""
    return any(each.term for each in rule_set.conditions)
