"""What runs about groups found, in sentences and tables: the words for everybody.

What a table of groups says of the data's rows is observed; what a search for rules says is
estimated from samples. Neither says why, and neither is a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.results.events import Metric
from fairdesk.results.groups import GroupGap, GroupTable
from fairdesk.results.subgroups import LinearGroup, RuleSearchSummary, RuleSet
from fairdesk.wording import words
from fairdesk.wording.decisions import favourable
from fairdesk.wording.groups.findings import (
    both_rates,
    gap_text,
    leaders,
    leaves_few,
    lowest_of,
    mined_with,
    quoted_gap,
)
from fairdesk.wording.groups.impact_ratio import (
    lowest,
    of_main_kind,
    shown_of,
    worst_statement,
)
from fairdesk.wording.groups.subgroups import (
    gap_statement,
    linear_statement,
    mined_sentence,
    widest_statement,
)
from fairdesk.wording.groups.terms import by_category, category_statement
from fairdesk.wording.language import Statement, say, say_many
from fairdesk.wording.rules import rule_phrase


def headline(spec: AuditSpec, figures: Iterable[Metric]) -> Statement | None:
    """Say what came of a run about groups; ``None`` where nothing was measured.

    The widest difference that a search found; of tables of groups the lowest impact ratio, by
    the model's decisions where these are known.
    """
    figures = tuple(figures)
    found = [(mined, each) for mined, sets in mined_with(figures) for each in leaders(sets)]
    if found:
        # scores and shares are no measure of each other
        first = found[0][0].outcome == ""
        alike = [(mined, each) for mined, each in found if (mined.outcome == "") is first]
        # of two decisions each has the other's scores: then of the favourable one
        mined, widest = max(
            alike,
            key=lambda pair: (
                not leaves_few(*pair),
                pair[1].score,
                pair[1].outcome == favourable(spec),
            ),
        )
        if not widest.score:
            none = say_many(
                mined.rule_sets,
                "No gap was found in {n} subgroup[|s]; [one|gaps] that [is|are] smaller than "
                "the interval[|s] cannot be excluded.",
            )
            said = Statement("estimated", "Subgroups with a gap", words.number(0), none)
            return said.with_more(*mined.notes[:1])
        sets = next(sets for each, sets in mined_with(figures) if each is mined)
        return _with_lowest(spec, mined, widest, sets)
    tables = [figure for figure in figures if isinstance(figure, GroupTable)]
    if tables:
        return worst_statement(spec, lowest(of_main_kind(spec, tables)))
    gaps = [figure for figure in figures if isinstance(figure, GroupGap)]
    if gaps:
        return gap_statement(spec, max(gaps, key=lambda gap: gap.gap))
    for mined, _ in mined_with(figures):
        label, count = "Subgroups tested", words.number(mined.rule_sets)
        return Statement("estimated", label, count, mined_sentence(spec, mined))
    others = [category_statement(spec, terms) for terms in by_category(figures)]
    others += [linear_statement(spec, each) for each in figures if isinstance(each, LinearGroup)]
    return next(iter(others), None)


def _with_lowest(
    spec: AuditSpec, mined: RuleSearchSummary, widest: RuleSet, sets: Sequence[RuleSet]
) -> Statement:
    """Say the widest gap; where it is to a higher rate, name the subgroup with the lowest too."""
    said, least = widest_statement(spec, mined, widest), lowest_of(spec, sets)
    if widest.phi_in < widest.phi_out or least is None or mined.texts:
        return said
    inside, outside = both_rates(least)
    told = say(
        "The lowest rate with a statistically significant gap is that of {group} (n = {n}): "
        "{inside} against {outside}.",
        group=rule_phrase(spec, least.conditions),
        n=words.number(least.rows),
        inside=inside,
        outside=outside,
    )
    return msgspec.structs.replace(said.with_more(told), brief=f"{said.brief} {told}")


def looked_at(figures: Iterable[Metric]) -> str:
    """Say in a few words what a run about groups looked at; empty of other runs."""
    figures = tuple(figures)
    mined = [each for each in figures if isinstance(each, RuleSearchSummary)]
    if mined:
        # every outcome has the same rule sets
        most = max(each.rule_sets for each in mined)
        return say_many(most, "{n} subgroup[|s] tested")
    tables = sum(isinstance(each, GroupTable) for each in figures)
    if tables:
        return say_many(tables, "{n} group table[|s] counted")
    gaps = sum(isinstance(each, GroupGap) for each in figures)
    if gaps:
        return say_many(gaps, "{n} set[|s] of attributes compared")
    return ""


def _widest_gap(figures: Sequence[Metric]) -> tuple[float, bool] | None:
    """Return the widest gap of a run, and whether it is one of rates; ``None`` without any."""
    scored = [
        (quoted_gap(sets[0]), bool(mined.outcome)) for mined, sets in mined_with(figures) if sets
    ]
    scored += [(each.gap, True) for each in figures if isinstance(each, GroupGap)]
    scored += [(each.score, True) for each in figures if isinstance(each, LinearGroup)]
    return max(scored, default=None)


def shortest(figures: Iterable[Metric]) -> str:
    """Write the widest gap for a line of the sidebar: ``gap 16.3 points``; empty without any."""
    widest = _widest_gap(tuple(figures))
    if widest is None or not widest[0]:
        return ""
    score, of_rates = widest
    if of_rates:
        return say("gap {n} points", n=words.number(100 * score, 1))
    return say("score gap {n}", n=words.number(score, 3))


def widest_text(figures: Iterable[Metric]) -> str:
    """Write the widest gap of a run: ``16.3 percentage points``; empty without any."""
    widest = _widest_gap(tuple(figures))
    return "" if widest is None else gap_text("rates" if widest[1] else "", widest[0])


def best_so_far(figures: Iterable[Metric]) -> str:
    """Say in a few words how far the widest groups are apart; empty where nothing is known."""
    figures = tuple(figures)
    if (widest := _widest_gap(figures)) is not None:
        score, of_rates = widest
        if of_rates:
            return say("largest gap {n} percentage points", n=words.number(100 * score, 1))
        return say("largest gap in mean score {n}", n=words.number(score, 3))
    tables = [each for each in figures if isinstance(each, GroupTable)]
    shown = [line for line in map(shown_of, tables) if line is not None]
    ratios = [line.impact_ratio for line in shown if line.impact_ratio is not None]
    if not ratios:
        return ""
    return say("lowest impact ratio {ratio}", ratio=words.number(min(ratios), 2))
