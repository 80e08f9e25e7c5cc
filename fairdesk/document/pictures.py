"""One small chart for each answer, of the chart kit, and what its parts stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from fairdesk.answers import Drawable, GroupOf, PairsOf, Part, SubgroupOf
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.charts.kinds.forest import Ratio, Ratios, Studies, studied
from fairdesk.charts.kinds.gaps import Gap, Gaps
from fairdesk.charts.kinds.proof import proven_bar
from fairdesk.charts.kinds.shares import Models, ShareBar, ShareBars
from fairdesk.results.events import Metric
from fairdesk.results.groups import GroupTable
from fairdesk.results.individual import AuditStudy, Share
from fairdesk.results.subgroups import RuleSearchSummary, RuleSet
from fairdesk.results.trials import chosen_of, trial_of
from fairdesk.wording import comparisons, words
from fairdesk.wording import figures as figure_words
from fairdesk.wording.decisions import named_outcome
from fairdesk.wording.groups.findings import (
    findings,
    foremost,
    is_counted,
    mined_with,
    shown_gap_text,
    shown_rates,
)
from fairdesk.wording.groups.impact_ratio import is_shown, ratio_interval
from fairdesk.wording.language import say
from fairdesk.wording.rules import rule_phrase

#: Groups, or subgroups, in a small chart: those that do worst.
_GROUPS, _SUBGROUPS = 5, 3


class Pictured(NamedTuple):
    """A small chart, and what each part of it stands for, see `Answer.parts`."""

    chart: Drawable | None = None
    parts: tuple[Part | None, ...] = ()


def ratios(table: GroupTable, run: RunRecord | RunState | None = None) -> Pictured:
    """Draw the lowest impact ratios, and the reference, with the four-fifths threshold.

    ``run`` measured them; it is not given for outcomes that were counted without one.
    """
    compared = [line for line in table.lines if line.impact_ratio is not None]
    compared.sort(key=lambda line: line.impact_ratio or 0.0)
    shown = compared if len(compared) <= _GROUPS else [*compared[: _GROUPS - 1], compared[-1]]
    parts = () if run is None else (GroupOf(run.id, table.attributes, at.values) for at in shown)
    # no mark of the threshold where chance explains the ratio
    chart = Ratios(
        [
            Ratio(
                replace(line, below=bool(line.below) and is_shown(table, line)),
                ratio_interval(table, line),
            )
            for line in shown
        ]
    )
    return Pictured(chart, tuple(parts))


def pairs_of(run: RunRecord | RunState, share: Share) -> PairsOf | None:
    """Return which pairs a share counts, if its run found any."""
    if not run.found:
        return None
    alone = share.attributes[0] if len(share.attributes) == 1 else None
    return PairsOf(run.id, alone, 0.0 if share.whom == "data" else None)


def shares(spec: AuditSpec, measured: Sequence[tuple[RunRecord | RunState, Share]]) -> Pictured:
    """Draw shares on one scale, with their intervals; each with the run that measured it."""
    bars = tuple(
        ShareBar.of(
            figure_words.instances(spec, each.whom),
            figure_words.short_share(each, run.figures),
            each,
        )
        for run, each in measured
    )
    return Pictured(ShareBars(bars), tuple(pairs_of(run, each) for run, each in measured))


def studies(spec: AuditSpec, run: RunRecord | RunState, found: Sequence[AuditStudy]) -> Pictured:
    """Draw the selection rates of the same rows under each protected value."""
    chart = Studies(tuple(studied(spec, each, _GROUPS) for each in found))
    parts = [
        PairsOf(run.id, study.attribute, 0.0) if run.found else None
        for study, drawn in zip(found, chart.studies, strict=True)
        for _ in drawn.rates
    ]
    return Pictured(chart, tuple(parts))


def shares_alone(spec: AuditSpec, run: RunRecord | RunState, together: Share) -> Pictured:
    """Draw the share of people whose decision changes, and that by each attribute alone.

    Where a companion is only proposed, what it would be with it.
    """
    alone = [
        each
        for each in comparisons.shares_of(run.figures)
        if each.whom == together.whom and len(each.attributes) == 1 < len(together.attributes)
    ]
    shown = [together, *alone[: _GROUPS - 1]]
    found = [
        (each, bar)
        for each in shown
        if (bar := _alone_bar(spec, run, each, whole=each is together)) is not None
    ]
    if not found:
        return Pictured()
    bars = tuple(bar for _, bar in found)
    return Pictured(ShareBars(bars), tuple(pairs_of(run, each) for each, _ in found))


def _alone_bar(
    spec: AuditSpec, run: RunRecord | RunState, share: Share, *, whole: bool
) -> ShareBar | None:
    name = "Any change" if whole else say("{name} alone", name=words.quoted(share.attributes[0]))
    if not comparisons.is_open(spec, share):
        value = figure_words.short_share(share)
        return ShareBar.of(name, value, share) if share.n_samples else None
    counted = comparisons.compared_rows(run.figures, share.attributes).get("proposed")
    if counted is None or not counted.compared:
        return None
    at = counted.hits / counted.compared
    value = say("{share} if confirmed", share=words.percent(counted.hits, counted.compared, 2))
    share = replace(
        share, exhaustive=True, estimate=at, low=at, high=at, anytime_low=at, anytime_high=at
    )
    return ShareBar.of(name, value, share)


def proof(spec: AuditSpec, run: RunRecord | RunState, shown: Sequence[Metric]) -> Pictured:
    """Draw what is certified, falsified and undecided."""
    chart = proven_bar(spec, shown)
    pairs = PairsOf(run.id) if run.found else None
    return Pictured(chart, tuple(pairs if each else None for each in chart.falsified))


def gaps(spec: AuditSpec, run: RunRecord | RunState) -> Pictured:
    """Draw the rates in the foremost subgroups against those outside of them."""
    for mined, sets in mined_with(run.figures):
        shown = quoted(foremost(findings(spec, sets), _SUBGROUPS))
        if shown and mined.outcome:
            parts = (SubgroupOf(run.id, each.outcome, each.conditions) for each in shown)
            return Pictured(gaps_of(spec, mined, shown), tuple(parts))
    return Pictured()


def quoted(rule_sets: Sequence[RuleSet]) -> Sequence[RuleSet]:
    """Return those whose rates are counted, where some are: estimates are not drawn beside."""
    return [each for each in rule_sets if is_counted(each)] or rule_sets


def gaps_of(spec: AuditSpec, mined: RuleSearchSummary, shown: Sequence[RuleSet]) -> Gaps:
    """Draw rates as they are counted in the data rows; those of terms are estimated."""
    return Gaps(
        [
            Gap(rule_phrase(spec, each.conditions), *shown_rates(each), shown_gap_text(each))
            for each in shown
        ],
        x_title=say("share with {outcome}", outcome=named_outcome(spec, mined.outcome)),
        terms=bool(mined.texts),
        evidence="observed" if all(map(is_counted, shown)) else "estimated",
    )


def before_and_after(figures: Sequence[Metric]) -> Pictured:
    """Draw what is judged of the original model, the baseline and the chosen model."""
    best = chosen_of(figures)
    if best is None or best.number < 2:
        return Pictured()
    chart = Models.of(figures, (trial_of(figures, 0), trial_of(figures, 1), best))
    return Pictured(chart) if len(chart.bars) > 1 else Pictured()
