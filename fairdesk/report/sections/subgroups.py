"""The report's section on subtle groups: rule sets, terms in texts, and what other methods find."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from fairdesk.answers.pictures import SUBGROUPS_DRAWN, gaps_of, quoted
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunRecord
from fairdesk.document.blocks import (
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
    chart_block,
    stated,
)
from fairdesk.report.content.material import Material
from fairdesk.report.provenance import evidence
from fairdesk.results.groups import GroupGap
from fairdesk.results.subgroups import LinearGroup, RuleSearchSummary, RuleSet, TermRate, Variant
from fairdesk.wording import figures, words
from fairdesk.wording.decisions import class_texts, named_outcome
from fairdesk.wording.groups import sentences as group_words
from fairdesk.wording.groups import subgroups as subgroup_words
from fairdesk.wording.groups.subgroups import by_category, linear_statement
from fairdesk.wording.language import fixed, say
from fairdesk.wording.rules import combination_text, rule_phrase
from fairdesk.wording.statements import unmeasured
from fairdesk.wording.words import p_text

#: Rule sets that are listed, and those of them that are drawn.
_LISTED, _DRAWN = 20, 6
#: How wide the columns of a list are, of texts or of rows.
_WIDTHS = {
    True: (2.0, 0.6, 0.8, 0.9, 1.1, 1.35, 0.9, 0.95),
    False: (2.2, 0.75, 0.8, 0.8, 1.1, 0.9, 1.35, 0.9),
}
#: Neighbours of a rule set that are listed in each direction.
_NEIGHBOURS = 5
#: Terms that are listed, and texts that are shown.
_TERMS, _EXAMPLES = 60, 5
#: What a list of subgroups shows: of texts or of rows, with a significant gap or without.
_CAPTIONS = fixed(
    {
        (True, True): "Share decided {outcome} in the same texts, with a term and with others; "
        "gaps are statistically significant",
        (True, False): "Share decided {outcome} in the same texts, with a term and with others; no "
        "gap is statistically significant",
        (False, True): "Subgroups with a statistically significant gap",
        (False, False): "Subgroups; no gap is statistically significant",
    }
)


def subtle(material: Material) -> Section:
    """Show what each method found of groups that nobody named beforehand."""
    blocks: list[Block] = []
    if len(material.subtle) > 1:
        blocks.append(_side_by_side(material))
    for run in material.subtle:
        blocks += _run_blocks(material, run)
    blocks.append(Text(say(material.estimated), lead="How to read these figures."))
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
    if not said.startswith(subgroup_words.widest_statement(spec, mined, first).sentence):
        rule = rule_phrase(spec, first.conditions)
        text = subgroup_words.evidence_sentence(spec, first, mined)
        blocks.append(Text(words.capital(text), lead=f"{words.capital(rule)}."))
    blocks.append(_significant(spec, mined, sets, key))
    if mined.outcome and (shown := subgroup_words.foremost(spec, sets, _DRAWN)):
        blocks.append(_chart(spec, mined, quoted(shown), key))
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
    chart = gaps_of(spec, mined, leaders)
    return chart_block(
        chart,
        caption=say("The rate with each term, and with other terms in the same texts")
        if mined.texts
        else say("The rate in each subgroup and that of all others"),
        key=f"apart-{key}",
        # the summary draws as many
        optional=not mined.texts or len(leaders) <= SUBGROUPS_DRAWN,
        evidence=chart.evidence,
        appended=True,
    )


def _header(mined: RuleSearchSummary) -> tuple[str, ...]:
    gap = say("Gap, percentage points") if mined.outcome else say("Gap")
    if mined.texts:
        interval = say("{percent} CI", percent=words.percent_of("95"))
        return (
            *fixed(("Term", "Texts", "With it", "With other terms")),
            gap,
            interval,
            say("Corrected p"),
            say("Gap in the original texts"),
        )
    return (
        *fixed(("Subgroup", "People", "Rate", "All others")),
        gap,
        say("Gap in copies"),
        say("{percent} CI of the gap in copies", percent=words.percent_of("95")),
        say("Corrected p"),
    )


def _cells(spec: AuditSpec, rule_set: RuleSet, digits: int = 1) -> tuple[str, ...]:
    estimated, interval = subgroup_words.difference_texts(rule_set)
    rule, rows = rule_phrase(spec, rule_set.conditions), words.number(rule_set.rows)
    rates = subgroup_words.both_rates(rule_set, digits)
    p = p_text(rule_set.p).replace("below", "<")
    if any(each.term for each in rule_set.conditions):
        original = subgroup_words.original_text(rule_set)
        return (rule, rows, *rates, estimated, interval, p, original)
    counted = subgroup_words.is_counted(rule_set)
    gap = subgroup_words.shown_gap_text(rule_set) if counted else "–"
    mark = "†" if rule_set.holds_on_data is False else ""
    return (rule, rows, *(rates if counted else ("–", "–")), f"{gap}{mark}", estimated, interval, p)


def _copies(mined: RuleSearchSummary, rule_sets: Iterable[RuleSet]) -> str:
    """Say what is estimated in a list of subgroups, and what the mark at a gap means."""
    if mined.texts:
        return ""
    doubted = any(each.holds_on_data is False for each in rule_sets)
    return say(
        ". “Gap in copies” is estimated from copies of the rows with one other value "
        "slightly changed{doubt}",
        doubt=say("; †: the data rows do not show the gap in the copies") if doubted else "",
    )


def _significant(
    spec: AuditSpec, mined: RuleSearchSummary, sets: Sequence[RuleSet], key: str
) -> Grid:
    """List the subgroups that are quoted: of significant gaps, or of all where there are none."""
    foremost, leaders = subgroup_words.foremost(spec, sets, _LISTED), subgroup_words.leaders(sets)
    shown = foremost or leaders[:_LISTED]
    header = _header(mined)
    # who quotes one has the interval; and hardly a term is in enough texts by itself
    left_out = {say("Corrected p")}
    if mined.texts and all(each.holds_on_data is None for each in shown):
        left_out.add(header[-1])
    kept = [place for place, name in enumerate(header) if name not in left_out]
    digits = subgroup_words.rate_digits(shown) if mined.outcome else 1
    similar = ""
    if len(sets) > len(leaders):
        similar = (
            say("; terms whose gap is due to another term are left out")
            if mined.texts
            else say("; of similar or complementary subgroups, one is listed")
        )
    return Grid(
        header=tuple(header[place] for place in kept),
        rows=tuple(tuple(_cells(spec, each, digits)[place] for place in kept) for each in shown),
        widths=tuple(_WIDTHS[bool(mined.texts)][place] for place in kept),
        right=tuple(range(1, len(kept))),
        caption=say(
            _CAPTIONS[
                bool(mined.texts and mined.outcome), any(map(subgroup_words.is_significant, shown))
            ],
            outcome=named_outcome(spec, mined.outcome) if mined.outcome else "",
        )
        + similar
        + _copies(mined, shown),
        key=f"rules-{key}",
        evidence="estimated" if mined.texts else "observed",
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
        widths=_WIDTHS[bool(mined.texts)],
        right=tuple(range(1, 8)),
        caption=say(
            "{shown}, largest estimated gap first{few}; of similar or complementary subgroups, one "
            "is listed. With a corrected p above {level} a gap is not statistically "
            "significant{copies}",
            shown=shown,
            copies=_copies(mined, leaders),
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
        widths=_WIDTHS[bool(mined.texts)],
        right=tuple(range(1, 8)),
        caption=say(
            "All {sets} subgroups that were kept, those that are nearly the same included",
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
                    "Share decided {outcome}",
                    outcome=named_outcome(spec, subgroup_words.favourable(spec)),
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
                "that one’s place, even if the data never contain it"
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
    if spec.mapping.names:
        called = {}
    # the lowest rate of each category first, then the second of each
    in_turn = [each for place in zip_longest(*by_category(terms)) for each in place if each]
    examples = list(_examples(in_turn, called))
    if not examples:
        return blocks
    return [
        *blocks,
        Grid(
            header=("Text after replacement", "Decision", "With another term", "Decision"),
            rows=tuple(examples[:_EXAMPLES]),
            widths=(3.2, 0.9, 1.2, 0.9),
            caption="Some texts, with a term in its place, whose decision changes with another "
            "term. Each was queried again to confirm it. They are examples and do not show how "
            "frequent such texts are",
            key=f"examples-{run}",
            evidence="example",
        ),
    ]


def _examples(
    terms: Sequence[TermRate], called: Mapping[str, str]
) -> Iterator[tuple[str, str, str, str]]:
    """Show texts that get another decision, each once, however many terms show it."""
    seen: set[int] = set()
    for term in terms:
        new = next((flip for flip in term.examples if flip.row not in seen), None)
        if new is not None:
            seen.add(new.row)
            yield (
                say("“{text}”", text=subgroup_words.flip_text(new)),
                called.get(new.decision, new.decision),
                f"“{new.other_term}”",
                called.get(new.other_decision, new.other_decision),
            )
