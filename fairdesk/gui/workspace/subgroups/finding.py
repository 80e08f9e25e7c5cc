"""What a run found about groups: each rule set with its variants, in words and in order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.gui.workspace.common.answering import Run, gaps
from fairdesk.results.conditions import Conditions
from fairdesk.results.events import Metric
from fairdesk.results.subgroups import LinearGroup, RuleSearchSummary, RuleSet
from fairdesk.wording import words
from fairdesk.wording.groups import subgroups as subgroup_words
from fairdesk.wording.rules import rule_phrase

#: A rule set by what it says: the outcome, and its conditions.
Key = tuple[str, Conditions]


@dataclass(frozen=True)
class Finding:
    """A rule set as the auditor reads it; its words are made when they are read.

    Attributes
    ----------
    rule_set : RuleSet
        As measured.
    variants : tuple[Finding, ...]
        Those that describe nearly the same people.
    mined : Mined
        The search that found it.
    spec : AuditSpec
        The question.
    """

    rule_set: RuleSet
    variants: tuple[Finding, ...]
    mined: RuleSearchSummary = field(compare=False)
    spec: AuditSpec = field(compare=False, repr=False)

    @property
    def key(self) -> Key:
        """What it says."""
        return self.rule_set.outcome, self.rule_set.conditions

    @cached_property
    def phrase(self) -> str:
        """Its rule."""
        return rule_phrase(self.spec, self.rule_set.conditions)

    @cached_property
    def sentence(self) -> str:
        """Its rule and both rates."""
        return subgroup_words.rule_set_sentence(self.spec, self.rule_set)

    @cached_property
    def evidence(self) -> str:
        """The difference and the support, in short."""
        return evidence_text(self.rule_set)

    @property
    def doubt(self) -> str:
        """Why it must be read with care; mostly empty."""
        return doubt_text(self.rule_set)

    def speaks_of(self, text: str, attribute: str) -> bool:
        """Return whether its rule holds a text, and speaks of an attribute; empty is any."""
        if attribute and all(attribute != each.attribute for each in self.rule_set.conditions):
            return False
        return not text or text.casefold() in self.phrase.casefold()


def rate_text(outcome: str, value: float) -> str:
    """Write a rate: ``20.7 %``; a mean score, which is about no outcome, as ``0.207``."""
    return words.percent(value, 1.0) if outcome else f"{value:.3f}"


def score_text(outcome: str, value: float) -> str:
    """Write a difference of rates: ``62.4 points``; of mean scores ``0.624``."""
    return f"{100 * value:.1f}{words.NBSP}percentage points" if outcome else f"{value:.3f}"


def gap_text(outcome: str, value: float) -> str:
    """Write a difference of rates in percentage points, without the unit; of scores as it is."""
    return f"{100 * value:.1f}" if outcome else f"{value:.3f}"


def greatest_text(run: Run) -> str:
    """Write the greatest difference that a run about groups found; empty where it has none."""
    ranked = [summary[0] for _, summary in subgroup_words.mined_with(run.figures) if summary]
    best = max(ranked, key=lambda each: each.score, default=None)
    if best is not None:
        return score_text(best.outcome, subgroup_words.quoted_gap(best))
    apart = [each.gap for each in gaps(run)]
    apart += [each.score for each in run.figures if isinstance(each, LinearGroup)]
    return f"{100 * max(apart):.1f}{words.NBSP}percentage points" if apart else ""


def evidence_text(rule_set: RuleSet) -> str:
    """Write in short how large a gap is, and of how many."""
    difference = subgroup_words.shown_gap_text(rule_set)
    points = f"{words.NBSP}percentage points" if rule_set.outcome else ""
    of = "texts" if any(each.term for each in rule_set.conditions) else "rows"
    support = f"{words.number(rule_set.rows)} {of}, {words.percent(rule_set.support, 1.0)}"
    return f"{difference}{points}  ·  {support}"


def doubt_text(rule_set: RuleSet) -> str:
    """Say in a few words why a rule set must be read with care; mostly empty."""
    doubts = []
    if not subgroup_words.is_significant(rule_set):
        doubts.append("? Not statistically significant after correction")
    texts = any(each.term for each in rule_set.conditions)
    # that few texts have a term alone is no doubt: the texts compared are the same
    if rule_set.holds_on_data is False or (rule_set.holds_on_data is None and not texts):
        doubts.append(f"≠ {subgroup_words.shown_by_data(rule_set)}")
    return "\n".join(doubts)


def findings_of(spec: AuditSpec, figures: Iterable[Metric]) -> tuple[Finding, ...]:
    """Put rule sets into sentences, variants under their leader.

    The highest scores come first; those that leave too few people outside last.
    """
    found = [
        lead
        for mined, summary in subgroup_words.mined_with(figures)
        for lead in _led(spec, mined, summary)
    ]

    def rank(each: Finding) -> tuple[bool, float]:
        few = subgroup_words.leaves_few(each.mined, each.rule_set)
        return few, -each.rule_set.score

    return tuple(sorted(found, key=rank))


def _led(spec: AuditSpec, mined: RuleSearchSummary, rule_sets: Sequence[RuleSet]) -> list[Finding]:
    """Make the findings about one outcome."""
    following: defaultdict[int, list[Finding]] = defaultdict(list)
    for each in rule_sets:
        # one whose leader is not among those that were kept stands for itself
        if 0 <= each.leader < len(rule_sets):
            following[each.leader].append(Finding(each, (), mined, spec))
    led, least = [], subgroup_words.lowest_of(spec, rule_sets)
    for place, each in enumerate(rule_sets):
        if 0 <= each.leader < len(rule_sets):
            continue
        # as everywhere else, by the plainest rule with this gap
        first = subgroup_words.plainest(rule_sets, place)
        found = [Finding(each, (), mined, spec), *following[place]]
        others = tuple(
            other for other in found if other.rule_set is not first and other.rule_set is not least
        )
        led.append(Finding(first, others, mined, spec))
    if least is not None and all(each.rule_set is not least for each in led):
        # the subgroup with the lowest rate is a finding, however alike another one is
        led.append(Finding(least, (), mined, spec))
    return led


def matching(
    findings: Iterable[Finding], text: str = "", attribute: str = "", outcome: str | None = None
) -> tuple[Finding, ...]:
    """Pick the findings that are wanted, and those with a variant that is."""
    return tuple(
        each
        for each in findings
        if (outcome is None or each.rule_set.outcome == outcome)
        and any(one.speaks_of(text, attribute) for one in (each, *each.variants))
    )
