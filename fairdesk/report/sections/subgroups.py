"""The report's section on subtle groups: rule sets, terms in texts, and what other methods find."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunRecord
from fairdesk.charts.kinds.gaps import Gap, Gaps
from fairdesk.report.blocks import (
    Block,
    Callout,
    Chart,
    Fact,
    Facts,
    Grid,
    Heading,
    Section,
    Text,
    appended,
    stated,
)
from fairdesk.report.content.material import Material, not_run
from fairdesk.report.provenance import evidence
from fairdesk.report.render.drawing import drawn
from fairdesk.results.groups import GroupGap
from fairdesk.results.subgroups import LinearGroup, RuleSearchSummary, RuleSet, TermRate, Variant
from fairdesk.wording import figures, words
from fairdesk.wording.decisions import class_texts, outcome_text
from fairdesk.wording.groups import sentences as group_words
from fairdesk.wording.groups import subgroups as subgroup_words
from fairdesk.wording.groups.subgroups import by_category, linear_statement
from fairdesk.wording.language import fixed, say
from fairdesk.wording.rules import combination_text, rule_phrase
from fairdesk.wording.statements import unmeasured
from fairdesk.wording.words import p_text

#: The place of the corrected p in a list of rule sets: who quotes one has the interval.
_CORRECTED_P = 5
#: Rule sets that are listed, and those of them that are drawn.
_LISTED, _DRAWN = 20, 6
#: Neighbours of a rule set that are listed in each direction.
_NEIGHBOURS = 5
#: Terms that are listed, and texts that are shown.
_TERMS, _EXAMPLES = 60, 5
_NOT_SEARCHED = (
    "subgroup discovery (TestSGD and others). It would show for which subgroups, defined by "
    "several protected attributes together, decisions differ from those for all others, with "
    "their support, rates, intervals and corrected p-values."
)
#: What a list of subgroups shows: of texts or of rows, with a significant gap or without.
_CAPTIONS = fixed(
    {
        (True, True): "Share of “{outcome}” with a term; the interval of each gap excludes zero",
        (True, False): "Share of “{outcome}” with a term; the interval of every gap includes zero",
        (False, True): "Subgroups with a gap whose interval excludes zero",
        (False, False): "Subgroups; the interval of every gap includes zero",
    }
)
_DIRECTION = "Whether a lower rate is worse depends on the decision."


def subtle(material: Material) -> Section:
    """Show what each method found of groups that nobody named beforehand."""
    if not material.subtle:
        return Section("Subgroup discovery", (not_run(_NOT_SEARCHED),))
    blocks: list[Block] = []
    if len(material.subtle) > 1:
        blocks.append(_side_by_side(material))
    for run in material.subtle:
        blocks += _run_blocks(material, run)
    blocks.append(
        Text(f"{say(material.estimated)} {say(_DIRECTION)}", lead="How to read these figures.")
    )
    return Section("Subgroup discovery", tuple(blocks))


def _side_by_side(material: Material) -> Grid:
    """Set the widest difference that each method found beside those of the others."""
    rows = []
    for run in material.subtle:
        who, apart = _widest(material.spec, run)
        rows.append(
            (
                material.run_name(run),
                apart,
                who,
                words.number(run.queries),
                words.duration(run.elapsed),
            )
        )
    return Grid(
        header=("Method", "Gap, percentage points", "Subgroup", "Queries", "Time"),
        rows=tuple(rows),
        widths=(1.1, 0.7, 2.6, 0.8, 0.6),
        right=(1, 3, 4),
        caption=(
            "The largest difference in selection rates that each method found. The methods test "
            "different instances, so these figures do not rank the methods"
        ),
        key="methods",
        evidence="estimated",
    )


def _widest(spec: AuditSpec, run: RunRecord) -> tuple[str, str]:
    """Return whom the widest difference of a run is about, and how wide it is."""
    rules = [
        (each.score, rule_phrase(spec, each.conditions))
        for _, sets in subgroup_words.mined_with(run.figures)
        for each in subgroup_words.leaders(sets)
        if each.outcome
    ]
    gaps = [
        (
            each.gap,
            " compared with ".join(
                combination_text(spec, each.attributes, codes) for codes in (each.worst, each.best)
            ),
        )
        for each in run.figures
        if isinstance(each, GroupGap)
    ]
    lines = [
        (each.score, subgroup_words.weights_text(each))
        for each in run.figures
        if isinstance(each, LinearGroup)
    ]
    apart, who = max((*rules, *gaps, *lines), default=(0.0, ""))
    return (who, words.number(100 * apart, 1)) if who else ("none", "–")


def _run_blocks(material: Material, run: RunRecord) -> list[Block]:
    spec = material.spec
    blocks: list[Block] = [Heading(material.run_name(run))]
    if ended := words.ending(run):
        blocks.append(Callout("Incomplete.", ended))
    said = group_words.headline(spec, run.figures) or unmeasured(figures.no_result(run))
    blocks.append(stated(said))
    for place, (mined, sets) in enumerate(subgroup_words.mined_with(run.figures), start=1):
        blocks += _rules(spec, mined, sets, f"{run.id}-{place}", said.sentence)
    terms = [each for each in run.figures if isinstance(each, TermRate)]
    blocks += _terms(material, terms, run.id)
    lines = [each for each in run.figures if isinstance(each, LinearGroup)]
    # the first is told above
    blocks += [Text(linear_statement(spec, each).sentence) for each in lines[1:]]
    blocks += _gaps(spec, [each for each in run.figures if isinstance(each, GroupGap)], run.id)
    return [*blocks, Facts(tuple(_facts(run)), appended=True)]


def _gaps(spec: AuditSpec, gaps: Sequence[GroupGap], run: int) -> list[Block]:
    """List the two groups that are farthest apart, by each set of attributes."""
    if not gaps:
        return []
    held = sorted(gaps, key=lambda gap: -gap.gap)
    confidence = words.percent(held[0].confidence, 1.0, 0)
    return [
        Grid(
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
                "For each set of attributes, the groups with the highest and the lowest "
                "selection rate, among {people} drawn at random from the input domain. "
                "Sampling ends when the widest interval is as narrow as requested (the error "
                "bound): intervals are no wider than that unless the maximum sample size or "
                "a budget ended it earlier",
                people=words.plural(spec.person),
            ),
            key=f"gaps-{run}",
            evidence="estimated",
        )
    ]


def _facts(run: RunRecord) -> Iterable[Fact]:
    yield Fact("State", words.state_word(run.state) + (f". {run.message}" if run.message else ""))
    yield Fact("Instances tested", words.number(run.tried))
    yield Fact("Queries", words.number(run.queries))
    yield Fact("Time", words.duration(run.elapsed))
    yield Fact("Started", evidence.date_text(evidence.moment(run.started)))


def _rules(
    spec: AuditSpec, mined: RuleSearchSummary, sets: Sequence[RuleSet], key: str, said: str
) -> list[Block]:
    """List the rule sets that stand for themselves; then say what was examined for one outcome.

    The first of them is told in a sentence, unless that was ``said`` before.
    """
    examined: list[Block] = [Text(subgroup_words.examined_sentence(spec, mined))]
    if samples := subgroup_words.samples_sentence(mined):
        examined.append(appended(Text(samples)))
    examined += [appended(Text(note)) for note in mined.notes]
    leaders = subgroup_words.leaders(sets)
    if not leaders:
        return examined
    blocks: list[Block] = []
    first = leaders[0]
    rule = rule_phrase(spec, first.conditions)
    if rule not in said:
        text = subgroup_words.evidence_sentence(spec, first, mined)
        blocks.append(Text(words.capital(text), lead=f"{words.capital(rule)}."))
    blocks.append(_significant(spec, mined, sets, key))
    if mined.outcome and (shown := subgroup_words.foremost(spec, sets, _DRAWN)):
        blocks.append(_chart(spec, mined, shown, key))
    blocks.append(_listed(spec, mined, leaders[:_LISTED], len(leaders), key))
    blocks += map(appended, _lattice(spec, sets[0], key))
    # one result at every minimum support says nothing more
    if len(mined.sweep) > 1 and not subgroup_words.same_support_sentence(spec, mined):
        blocks.append(appended(_sweep(spec, mined, key)))
    if len(sets) > min(len(leaders), _LISTED):
        blocks.append(_all_rules(spec, mined, sets, key))
    return [*blocks, *examined]


def _chart(
    spec: AuditSpec, mined: RuleSearchSummary, leaders: Sequence[RuleSet], key: str
) -> Chart:
    chart = Gaps(
        [
            Gap(
                rule_phrase(spec, each.conditions),
                each.phi_in,
                each.phi_out,
                say("{n} percentage points", n=words.signed(100 * (each.phi_in - each.phi_out), 1)),
            )
            for each in leaders
        ],
        x_title=say("share with “{outcome}”", outcome=outcome_text(spec, leaders[0].outcome)),
        terms=bool(mined.texts),
    )
    return Chart(
        *drawn(chart),
        caption=say("The rate with each term, and with other terms in the same texts")
        if mined.texts
        else say("The rate in each subgroup and that of all others"),
        key=f"apart-{key}",
        optional=not mined.texts,
        evidence="estimated",
        appended=True,
    )


def _header(mined: RuleSearchSummary) -> tuple[str, ...]:
    texts = bool(mined.texts)
    return (
        *fixed(
            ("Term", "With it", "With other terms") if texts else ("Subgroup", "Inside", "Outside")
        ),
        say("Gap, percentage points") if mined.outcome else say("Gap"),
        say("{percent} CI", percent=words.percent_of("95")),
        *fixed(
            ("Corrected p", "Share of texts", "Original texts")
            if texts
            else ("Corrected p", "Share of rows", "Original data rows")
        ),
    )


def _cells(spec: AuditSpec, rule_set: RuleSet) -> tuple[str, ...]:
    return (
        rule_phrase(spec, rule_set.conditions),
        *subgroup_words.both_rates(rule_set),
        *subgroup_words.difference_texts(rule_set),
        p_text(rule_set.p).replace("below", "<"),
        words.percent(rule_set.support, 1.0),
        subgroup_words.untouched_text(rule_set),
    )


def _doubt(mined: RuleSearchSummary) -> str:
    """Say what the mark at a gap means."""
    if mined.texts:
        return say("; †: not confirmed by the original texts")
    return say("; †: not confirmed by the original data rows")


def _significant(
    spec: AuditSpec, mined: RuleSearchSummary, sets: Sequence[RuleSet], key: str
) -> Grid:
    """List the subgroups that are quoted: of significant gaps, or of all where there are none."""
    foremost, leaders = subgroup_words.foremost(spec, sets, _LISTED), subgroup_words.leaders(sets)
    shown = [each for each in foremost if each.low > 0 or each.high < 0] or foremost
    header = _header(mined)
    kept = [place for place, name in enumerate(header) if place != _CORRECTED_P]
    significant = any(each.low > 0 or each.high < 0 for each in shown)
    doubted = not all(each.holds_on_data for each in shown)
    return Grid(
        header=tuple(header[place] for place in kept),
        rows=tuple(
            tuple(_cells(spec, each)[place] for place in kept)
            for each in shown or leaders[:_LISTED]
        ),
        widths=(2.25, 0.8, 0.85, 1.1, 1.5, 0.9, 0.95),
        right=(1, 2, 3, 4, 5, 6),
        caption=say(
            _CAPTIONS[bool(mined.texts and mined.outcome), significant],
            outcome=outcome_text(spec, mined.outcome) if mined.outcome else "",
        )
        + (say("; similar and opposite ones are left out") if len(sets) > len(leaders) else "")
        + (_doubt(mined) if doubted else ""),
        key=f"rules-{key}",
        evidence="estimated",
    )


def _listed(
    spec: AuditSpec, mined: RuleSearchSummary, leaders: Sequence[RuleSet], many: int, key: str
) -> Grid:
    """List the rule sets that stand for themselves."""
    shown = (
        say(
            "The first {rows} of {many} subgroups",
            rows=words.number(len(leaders)),
            many=words.number(many),
        )
        if many > len(leaders)
        else "Subgroups"
    )
    return Grid(
        header=_header(mined),
        rows=tuple(_cells(spec, each) for each in leaders),
        widths=(2.15, 0.75, 0.85, 1.1, 1.35, 0.95, 0.85, 0.95),
        right=(1, 2, 3, 4, 5, 6, 7),
        caption=say(
            "{shown}, largest gap first{few}; similar and opposite subgroups are left out. "
            "With a corrected p above {level} a gap is not statistically significant{doubt}",
            shown=shown,
            doubt=_doubt(mined),
            few=say(
                ", then those that leave under {least} of the rows outside",
                least=words.percent_of(f"{100 * mined.theta:g}"),
            )
            if any(subgroup_words.leaves_few(mined, each) for each in leaders)
            else "",
            level=words.plain(subgroup_words.CHANCE, 2),
        ),
        key=f"leaders-{key}",
        optional=True,
        evidence="estimated",
        appended=True,
    )


def _all_rules(
    spec: AuditSpec, mined: RuleSearchSummary, sets: Sequence[RuleSet], key: str
) -> Grid:
    """List every rule set that was kept, variants too: it can be thousands."""
    return Grid(
        header=_header(mined),
        rows=tuple(_cells(spec, each) for each in sets),
        widths=(2.15, 0.75, 0.85, 1.1, 1.35, 0.95, 0.85, 0.95),
        right=(1, 2, 3, 4, 5, 6, 7),
        caption=say(
            "All {sets} subgroups that were kept, similar and opposite ones included",
            sets=words.number(len(sets)),
        ),
        key=f"all-rules-{key}",
        optional=True,
        evidence="estimated",
    )


def _lattice(spec: AuditSpec, first: RuleSet, key: str) -> list[Block]:
    """Say which part of the widest rule set carries its difference."""
    rows = [
        (kind, rule_phrase(spec, each.conditions), *_variant_cells(first, each))
        for kind, held in (("more general", first.broader), ("more specific", first.narrower))
        for each in held[:_NEIGHBOURS]
    ]
    if not rows:
        return []
    own = Variant(first.conditions, first.score, first.phi_in, first.support)
    rows.insert(
        min(len(first.broader), _NEIGHBOURS),
        ("largest gap", rule_phrase(spec, first.conditions), *_variant_cells(first, own)),
    )
    return [
        Grid(
            header=(
                "",
                "Subgroup",
                "Gap, percentage points" if first.outcome else "Gap",
                "Inside",
                "Support",
            ),
            rows=tuple(rows),
            widths=(1.0, 3.0, 0.7, 0.7, 0.7),
            right=(2, 3, 4),
            caption=(
                "Which condition accounts for the difference: subgroups one step more general "
                "and more specific than the one with the largest gap"
            ),
            key=f"lattice-{key}",
            optional=True,
            evidence="estimated",
        )
    ]


def _variant_cells(first: RuleSet, each: Variant) -> tuple[str, str, str]:
    inside = words.percent(each.phi_in, 1.0) if first.outcome else words.number(each.phi_in, 3)
    score = words.number(100 * each.score, 1) if first.outcome else words.number(each.score, 3)
    return score, inside, words.percent(each.support, 1.0)


def _sweep(spec: AuditSpec, mined: RuleSearchSummary, key: str) -> Grid:
    """List what another least support would give (TestSGD, Table 6)."""
    return Grid(
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
                words.number(*((100 * each.score, 1) if mined.outcome else (each.score, 3)))
                if each.rule_sets
                else "–",
                rule_phrase(spec, each.conditions) if each.rule_sets else "–",
            )
            for each in mined.sweep
        ),
        widths=(0.9, 0.8, 0.9, 3.0),
        right=(0, 1, 2),
        caption="Results with another minimum support",
        key=f"sweep-{key}",
        optional=True,
        evidence="estimated",
    )


def _terms(material: Material, terms: Sequence[TermRate], run: int) -> list[Block]:
    """List the terms, and show some of the sentences that get another decision."""
    if not terms:
        return []
    spec = material.spec
    asked = [each for terms_of_one in by_category(terms) for each in terms_of_one]
    held = [*asked, *(each for each in terms if not each.texts)]
    blocks: list[Block] = [
        *(
            Text(subgroup_words.category_statement(spec, each).sentence)
            for each in by_category(terms)
        ),
        Grid(
            header=(
                *("Category", "Term", "Texts in the data with it", "Texts tested with it"),
                say(
                    "Share of “{outcome}”",
                    outcome=outcome_text(spec, subgroup_words.favourable(spec)),
                ),
            ),
            rows=tuple(
                (
                    each.category,
                    each.term,
                    words.number(each.occurs),
                    words.number(each.texts),
                    words.percent(each.rate, 1.0) if each.texts else words.UNDEFINED,
                )
                for each in held[:_TERMS]
            ),
            widths=(1.0, 1.3, 1.1, 1.0, 1.1),
            right=(2, 3, 4),
            caption=say(
                "Identity terms. A term is tested in every text with a term of its category, in "
                "that one’s place, so also where the data do not contain it"
            )
            + (
                say(
                    "; the first {terms} of {held}",
                    terms=words.number(_TERMS),
                    held=words.number(len(held)),
                )
                if len(held) > _TERMS
                else ""
            ),
            key=f"terms-{run}",
            evidence="estimated",
            appended=True,
        ),
    ]
    called = dict(zip(spec.decisions, class_texts(spec, material.table), strict=True))
    examples = list(_examples(held, called))
    if examples:
        blocks.append(
            Text(
                "Some of the texts whose decision changes. Each is an individual "
                "discriminatory instance that was re-queried: an example, not a rate among "
                "real texts."
            )
        )
    return blocks + examples[:_EXAMPLES]


def _examples(terms: Sequence[TermRate], called: Mapping[str, str]) -> Iterator[Text]:
    """Show texts that get another decision, each once, however many terms show it."""
    seen: set[int] = set()
    for term in terms:
        new = next((flip for flip in term.examples if flip.row not in seen), None)
        if new is not None:
            seen.add(new.row)
            yield Text(
                subgroup_words.flip_sentence(new, called), lead=f"{term.term} ({term.category})."
            )
