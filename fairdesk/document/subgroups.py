"""Subgroups that were discovered, as blocks: what they add, and which they are.

Of other methods than subgroup discovery the gaps and the weighted sums that they found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.document import terms
from fairdesk.document.blocks import (
    Block,
    Chart,
    Grid,
    Statement,
    Text,
    appended,
    chart_block,
    stated,
)
from fairdesk.document.pictures import gaps_of, quoted
from fairdesk.document.subgroup import around, ends_of, grid
from fairdesk.results.groups import GroupGap, GroupTable
from fairdesk.results.subgroups import LinearGroup, RuleSearchSummary, RuleSet, TermRate
from fairdesk.wording import figures, language, words
from fairdesk.wording.decisions import favourable, named_outcome
from fairdesk.wording.groups import findings as finding_words
from fairdesk.wording.groups import sentences as group_words
from fairdesk.wording.groups import subgroups as baseline_words
from fairdesk.wording.groups import subgroups as subgroup_words
from fairdesk.wording.groups.findings import Finding
from fairdesk.wording.groups.tables import people
from fairdesk.wording.language import say
from fairdesk.wording.rules import combination_text, rule_phrase

#: Findings that are listed on paper, and those that are drawn.
_LISTED, _DRAWN = 20, 6
#: What a list of subgroups shows: of texts or of rows, with significant gaps only, or without any.
_CAPTIONS = {
    (True, ""): "Share decided {outcome} in the same texts, with a term and with others",
    (True, "all"): "Share decided {outcome} in the same texts, with a term and with others; "
    "gaps are statistically significant",
    (True, "none"): "Share decided {outcome} in the same texts, with a term and with others; "
    "no gap is statistically significant",
    (False, ""): "Subgroups",
    (False, "all"): "Subgroups with a statistically significant gap",
    (False, "none"): "Subgroups; no gap is statistically significant",
}


def compose(
    spec: AuditSpec,
    run: RunRecord | RunState,
    tables: Sequence[GroupTable],
    called: Mapping[str, str],
) -> list[Block]:
    """Return what a run found, for paper: subgroups with significant gaps, else all, lead.

    Parameters
    ----------
    tables : sequence of GroupTable
        The rates of groups by the model's decisions, where they were measured.
    called : mapping
        What the model's decisions are called.
    """
    blocks: list[Block] = [opening(spec, run, tables)]
    # below the first heading of the appendix all belongs there
    later: list[Block] = []
    for place, (mined, sets) in enumerate(finding_words.mined_with(run.figures), start=1):
        key, found = f"{run.id}-{place}", finding_words.findings(spec, sets)
        shown = [each for each in found if finding_words.is_significant(each.rule_set)] or found
        if found:
            blocks.append(listed(spec, mined, shown[:_LISTED], key))
            blocks += map(appended, chart(spec, mined, found, key))
            later += map(_on_demand, around(spec, found[0].rule_set, key))
            later += map(_on_demand, supports(spec, mined, key))
        blocks += tested(spec, mined)
        if len(sets) > min(len(shown), _LISTED):
            caption = say(
                "All {sets} subgroups that were kept, those that are nearly the same included",
                sets=words.number(len(sets)),
            )
            every = grid(spec, mined, sets, caption, f"all-rules-{key}", p=True)
            later.append(appended(_on_demand(every)))
    held = [each for each in run.figures if isinstance(each, TermRate)]
    blocks += terms.compose(spec, held, called, str(run.id))
    return [*blocks, *other_methods(spec, run), *later]


def added(
    spec: AuditSpec, run: RunRecord | RunState, tables: Sequence[GroupTable]
) -> language.Statement | None:
    """State what subgroups add to the tables of groups: a lower selection rate than there.

    Returns
    -------
    Statement, optional
        Without a value where they add nothing; ``None`` where there is nothing to compare with.
    """
    wanted = favourable(spec)
    rates = [
        (line.rate, people(spec, table, line))
        for table in tables
        if table.of == "decisions" and table.outcome in ("", wanted)
        for line in table.lines
        if line.rate is not None and line.known and not line.excluded
    ]
    held = [
        (mined, sets)
        for mined, sets in finding_words.mined_with(run.figures)
        if mined.outcome == wanted and not mined.texts
    ]
    if not rates or not held:
        return None
    (mined, sets), (rate, name) = held[0], min(rates)
    values = {"low": words.percent(rate, 1.0), "name": name}
    least = finding_words.lowest_of(spec, sets)
    counted = None if least is None else least.data_in
    if least is None or counted is None or ends_of(least.rows, counted)[1] >= rate:
        values["n"] = words.number(mined.rule_sets)
        if least is not None and counted is not None:
            values["group"] = rule_phrase(spec, least.conditions)
            values["rate"] = finding_words.both_rates(least)[0]
        none = say(
            "The lowest rate with a significant gap of the {n} subgroups tested, {rate} ({group}), "
            "is not shown to be below that of {name} ({low}), the lowest of the groups that "
            "are compared."
            if "rate" in values
            else "None of the {n} subgroups tested is shown to have a lower selection rate than "
            "{name} ({low}), the lowest of the groups that are compared.",
            **values,
        )
        return language.Statement("observed", "", "", none)
    values["rate"] = finding_words.both_rates(least)[0]
    values["group"] = rule_phrase(spec, least.conditions)
    brief = say("{rate} of {group}; in the tables of groups {low} at least", **values)
    said = say(
        "The selection rate of {group} is {rate} (n = {rows}, {percent} CI {ends}). This is lower "
        "than that of every group in the tables that is large enough; the lowest there is "
        "{low} ({name}).",
        rows=words.number(least.rows),
        percent=words.percent_of("95"),
        ends=words.percent_ends(*ends_of(least.rows, counted)),
        **values,
    )
    label = "Lowest selection rate of a subgroup"
    return language.Statement("observed", label, values["rate"], said, brief)


def opening(spec: AuditSpec, run: RunRecord | RunState, tables: Sequence[GroupTable]) -> Statement:
    """State what subgroups add to the tables of groups, else what came of the run."""
    if (said := added(spec, run, tables)) is not None:
        most = max(mined.rule_sets for mined, _ in finding_words.mined_with(run.figures))
        caveat = say(
            "It is the lowest of {n} subgroups, so the true rate may be higher.",
            n=words.number(most),
        )
        return stated(said, [caveat] if said.value and most > 1 else [])
    found = group_words.headline(spec, run.figures) or language.unmeasured(figures.no_result(run))
    # what is counted stands large, what is estimated of it small
    rest = found.sentence.removeprefix(found.brief)
    if not found.brief or rest == found.sentence:
        return stated(found)
    return stated(msgspec.structs.replace(found, sentence=found.brief), [rest.lstrip()])


def drawn(found: Sequence[Finding]) -> Sequence[RuleSet]:
    """Return the findings that are drawn: the first with significant gaps, else of all."""
    return quoted(finding_words.foremost(found, _DRAWN))


def chart(
    spec: AuditSpec, mined: RuleSearchSummary, found: Sequence[Finding], key: str = "found"
) -> list[Chart]:
    """Draw the rates of the first findings; mean scores, which are no shares, have their list."""
    shown = drawn(found)
    if not mined.outcome or not shown:
        return []
    gaps = gaps_of(spec, mined, shown)
    return [chart_block(gaps, gaps.heading, key=f"apart-{key}", evidence=gaps.evidence)]


def listed(
    spec: AuditSpec, mined: RuleSearchSummary, found: Sequence[Finding], key: str = ""
) -> Grid:
    """List findings with their rates and gaps."""
    shown = [each.rule_set for each in found]
    significant = [each for each in shown if finding_words.is_significant(each)]
    which = "" if len(significant) < len(shown) else "all"
    outcome = named_outcome(spec, mined.outcome) if mined.outcome else ""
    of = bool(mined.texts and mined.outcome), which if significant else "none"
    made = grid(spec, mined, shown, say(_CAPTIONS[of], outcome=outcome), f"rules-{key}")
    if not any(each.similar for each in found):
        return made
    similar = (
        "terms whose gap is due to another term are left out"
        if mined.texts
        else "of similar or complementary subgroups, one is listed"
    )
    return msgspec.structs.replace(made, note="; ".join(filter(None, (similar, made.note))))


def _on_demand(block: Block) -> Block:
    return msgspec.structs.replace(block, optional=True) if isinstance(block, Grid) else block


def tested(spec: AuditSpec, mined: RuleSearchSummary) -> list[Block]:
    """Say what was tested, for the appendix on how many samples, and what else is to be known."""
    said = filter(None, (subgroup_words.samples_sentence(mined), *mined.notes))
    return [
        Text(subgroup_words.examined_sentence(spec, mined)),
        *(Text(each, appended=True) for each in said),
    ]


def supports(spec: AuditSpec, mined: RuleSearchSummary, key: str = "") -> list[Block]:
    """List what another minimum support gives (TestSGD, Table 6), or say that all give the same."""
    sweep = mined.sweep
    if len(sweep) < 2:
        return []
    if all(each.rule_sets for each in sweep) and len({(e.conditions, e.score) for e in sweep}) == 1:
        low, high = (words.percent_of(f"{100 * each.theta:g}") for each in (sweep[0], sweep[-1]))
        same = say(
            "With any minimum support from {low} to {high}, the subgroup with the largest gap is "
            "the same: {group}, {gap}.",
            low=low,
            high=high,
            group=rule_phrase(spec, sweep[0].conditions),
            gap=finding_words.gap_text(mined.outcome, sweep[0].score),
        )
        return [Text(same, appended=True)]
    return [
        Grid(
            header=(
                "Minimum support",
                "Subgroups",
                "Largest gap, percentage points" if mined.outcome else "Largest gap",
                "Which",
            ),
            rows=tuple(
                (
                    words.percent_of(f"{100 * each.theta:g}"),
                    words.number(each.rule_sets),
                    finding_words.gap_number(mined.outcome, each.score) if each.rule_sets else "–",
                    rule_phrase(spec, each.conditions) if each.rule_sets else "–",
                )
                for each in sweep
            ),
            widths=(0.9, 0.8, 0.9, 3.0),
            right=(0, 1, 2),
            caption="Results with another minimum support",
            key=f"sweep-{key}",
            evidence="estimated",
            appended=True,
        )
    ]


# Other methods


def other_methods(spec: AuditSpec, run: RunRecord | RunState) -> list[Block]:
    """Return the weighted sums and gaps that a run found, but what its headline says."""
    lines = [each for each in run.figures if isinstance(each, LinearGroup)]
    gaps = [each for each in run.figures if isinstance(each, GroupGap)]
    said = [Text(baseline_words.linear_statement(spec, each).sentence) for each in lines[1:]]
    return [*said, *([_gaps(spec, gaps, f"gaps-{run.id}")] if gaps else [])]


def _gaps(spec: AuditSpec, gaps: Sequence[GroupGap], key: str) -> Grid:
    """List the two groups that are farthest apart, by each set of attributes."""
    held = sorted(gaps, key=lambda gap: -gap.gap)
    confidence = words.percent(held[0].confidence, 1.0, 0)
    return Grid(
        header=(
            "Highest",
            "Rate",
            "Lowest",
            "Rate",
            "Gap, percentage points",
            say("{confidence} CI", confidence=confidence),
        ),
        rows=tuple(
            (
                combination_text(spec, gap.attributes, gap.best),
                words.shown_percent(gap.best_rate, 1),
                combination_text(spec, gap.attributes, gap.worst),
                words.shown_percent(gap.worst_rate, 1),
                words.number(100 * gap.gap, 1),
                words.ends(words.number(100 * gap.low, 1), words.number(100 * gap.high, 1)),
            )
            for gap in held
        ),
        widths=(2.2, 0.7, 2.2, 0.7, 0.7, 1.1),
        right=(1, 3, 4, 5),
        caption=say(
            "For each set of attributes, the groups with the highest and the lowest selection "
            "rate, among {people} drawn at random from the input domain. Sampling ends when the "
            "widest interval is as narrow as requested (the error bound): intervals are no wider "
            "than that unless the maximum sample size or a budget ended it earlier",
            people=words.plural(spec.person),
        ),
        key=key,
        evidence="estimated",
    )
