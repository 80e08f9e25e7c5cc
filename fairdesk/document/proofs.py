"""What is certified, as blocks: of one run its statement, its bars, and all that it rests on.

No share is here that was not proven: what is only estimated is stated and drawn apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from fairdesk.answers import PairsOf, Run, bounded_rates, ratio_sentence, without_misfit
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.certify.proof.certificate import rounding_sentence
from fairdesk.charts.kinds.lines import Drawing, Line
from fairdesk.charts.kinds.proof import Spaces, alone_bars, proven_bar
from fairdesk.data.domain.attributes import Attribute
from fairdesk.document.blocks import (
    Block,
    Chart,
    Grid,
    Heading,
    Text,
    chart_block,
    stated,
    without_empty,
)
from fairdesk.results.events import Metric
from fairdesk.results.groups import GroupTable
from fairdesk.results.individual import Share
from fairdesk.results.proofs import PairShare, Proven, ProvenRates, Region, exactly, percent_digits
from fairdesk.wording import figures, words
from fairdesk.wording import proofs as proof_words
from fairdesk.wording.language import say
from fairdesk.wording.proofs import neighbourhoods_of
from fairdesk.wording.rules import combination_text, rule_text

#: Regions of each kind that are listed.
_REGIONS = 10
_ALONE = "Each protected attribute alone: shares of all combinations of values, not of people"
_FEWER = (
    "Fewer regions are examined for one attribute alone, so that less may be proven of it than of "
    "all together; where pairs are found, the decision does change, for a share that is not known."
)
_RATES = (
    "In the population (a model of the data), each group’s selection rate provably lies within its "
    "bounds, for the protected values tested. It is not the rate of real people, and does not "
    "show why groups differ."
)
_NONE = "none proven so far"
_NONE_MEANS = "“None proven so far” does not mean that there are none: pairs may be known."
_REGIONS_OF = {
    "discriminatory": "The largest regions where the decision changes for every combination",
    "consistent": "The largest regions where the decision is unchanged for every combination",
}
_VERIFY = (
    "Every falsified combination is proven to receive two different decisions, by querying the "
    "model or by bounds of its outputs; undecided ones may be counterexamples, too. The proof "
    "certificate file contains every region with its verdict. “fairdesk verify” verifies it by "
    "other means: its sums, the model’s outputs for instances drawn at random, and regions proven "
    "again with the bounds of separate code."
)
_NOT_OF_PEOPLE = (
    "Shares of the input domain are of combinations of allowed values, not of real people; "
    "most combinations do not resemble any data row."
)
_ONE_SET = (
    "A combination for which fewer than two sets of protected values are permitted, and supported "
    "by the data, has no comparison: it is neither certified nor falsified, and in no total."
)
_MIDPOINTS = (
    "A protected number with more than 20 values is by default compared only at the midpoints of "
    "10 bins of equal width; nothing is certified for its other values."
)


def compose(
    spec: AuditSpec, run: Run, runs: Sequence[Run], tables: Sequence[GroupTable]
) -> list[Block]:
    """Return all that a run certifies: what is quoted, then the rest under headings.

    Parameters
    ----------
    runs : sequence of RunRecord or RunState
        All of the audit: some know pairs where nothing is proven.
    tables : sequence of GroupTable
        The model's decisions by group: a population that does not fit them is not shown.
    """
    shown = without_misfit(spec, run.figures, tables)
    of_domain, of_people = proof_words.proven_of(shown), proof_words.proven_of(shown, "people")
    main = of_people or of_domain
    said, beside = figures.certified_statement(spec, run, shown)
    rest = None if main is None else proof_words.remainder_statement(main)
    beside = (words.ending(run), *(() if rest else beside))
    blocks: list[Block] = [
        stated(said, beside) if said.value else Text(" ".join((said.sentence, *beside)).rstrip())
    ]
    blocks += [stated(rest)] if rest else []
    blocks += _bars(spec, shown, f"bars-{run.id}")
    concluded, bounds = _rates(spec, run, tables)
    blocks += [*concluded, *_counted(spec, run, runs)]
    if of_people is not None and of_domain is not None:
        domain = [each for each in shown if each is not of_people]
        rest = proof_words.remainder_statement(of_domain)
        blocks += [
            Heading("Input domain: combinations, not people", appended=True),
            stated(proof_words.proven_statement(of_domain)),
            *([stated(rest)] if rest else []),
            *_bars(spec, domain, f"combinations-{run.id}"),
        ]
    names = words.protected_names(spec.domain)
    known = {name for name in names if _pairs_alone(spec, runs, name)}
    alone = Spaces(alone_bars(spec, shown, known), _ALONE)
    blocks.append(Heading("Each attribute alone", appended=True))
    if not alone.empty:
        blocks += [_drawn(alone, f"alone-{run.id}"), Text(_FEWER)]
    last = main or neighbourhoods_of(shown)
    notes = [] if last is None else [*last.notes, rounding_sentence(last.margin)]
    notes += [_VERIFY] * (main is not None)
    blocks += [
        Heading("Selection rates of groups", appended=True),
        *bounds,
        Heading("Pairs of protected values", appended=True),
        *_pairs(spec, run),
        Heading("Largest regions", appended=True),
        *_regions(spec, run),
        Heading("How it was certified", appended=True),
        *_course(main, run),
        *(Text(each) for each in notes if each),
    ]
    return list(without_empty(blocks))


def covers(spec: AuditSpec, certified: Sequence[Run]) -> list[Block]:
    """Say what a certification covers beyond its statements, where that applies here."""
    domain = spec.domain
    count = int(domain.common.sum())
    rules = [
        say(
            "The input domain consists of all combinations of the allowed values{ruled}. Each is "
            "tested with all {count} permitted combinations of values of {names} ({pairs} pairs "
            "in all): its decision is unchanged when it is the same with all of them, and changes "
            "otherwise.",
            ruled=" that fulfil the constraints" if domain.has_constraints else "",
            count=words.number(count),
            names=words.listed(words.protected_names(domain)),
            pairs=words.number(count * (count - 1) // 2),
        ),
        proof_words.ROUNDED,
    ]
    if any(neighbourhoods_of(run.figures) is None for run in certified):
        rules.append(_NOT_OF_PEOPLE)
    if domain.has_constraints:
        rules.append(_ONE_SET)
    compared = [domain.attributes[i] for i in domain.protected]
    if any(not each.values and len(each.compared) < _count(each) for each in compared):
        rules.append(_MIDPOINTS)
    heading = Heading("What the certification covers", appended=True)
    return [heading, Text(" ".join(rules))]


def pairs_behind(spec: AuditSpec, runs: Sequence[Run], chart: Chart) -> tuple[PairsOf | None, ...]:
    """Return for each part of a chart which known pairs it stands for, if there are any."""
    if not isinstance(chart.drawing, Spaces):
        return ()
    kind, _, number = chart.key.partition("-")
    if kind == "alone":
        changed = [bar.attributes for bar, _verdict in chart.drawing.parts]
        return tuple(
            _pairs_alone(spec, runs, *each) if len(each) == 1 else None for each in changed
        )
    run = next(each for each in runs if each.id == int(number))
    pairs = PairsOf(run.id) if run.found else None
    return tuple(pairs if falsified else None for falsified in chart.drawing.falsified)


def _pairs_alone(spec: AuditSpec, runs: Sequence[Run], name: str) -> PairsOf | None:
    """Return the pairs in which changing an attribute is enough, of the run with most of them."""
    names = words.protected_names(spec.domain)
    counts = {
        run.id: dict(zip(names, run.sufficient_alone, strict=False)).get(name, 0) for run in runs
    }
    most = max(counts, key=lambda each: counts[each], default=None)
    return PairsOf(most, alone=name) if most is not None and counts[most] else None


def _drawn(chart: Spaces, key: str) -> Chart:
    # an estimate is drawn in what is undecided
    guessed = any(bar.guess is not None for bar in chart.bars)
    return chart_block(chart, chart.heading, key=key, evidence="" if guessed else "proven")


def _bars(spec: AuditSpec, shown: Sequence[Metric], key: str) -> list[Block]:
    """Draw what stands for a run, if it has anything."""
    chart = proven_bar(spec, shown)
    return [] if chart.empty else [_drawn(chart, key)]


def _counted(spec: AuditSpec, run: Run, runs: Sequence[Run]) -> Iterator[Text]:
    """Say what was counted of the rows of the data, where no other run says it."""
    shares = [each for each in run.figures if isinstance(each, Share) and each.whom == "data"]
    others = (each for other in runs if other.id != run.id for each in other.figures)
    if not any(isinstance(each, Share) and each.whom == "data" for each in others):
        people = words.plural(spec.person)
        for share in shares:
            said = figures.share_statement(spec, share).sentence
            yield Text(said, lead=say("The {people} in the data.", people=people))


def _course(proven: Proven | None, run: Run) -> list[Block]:
    """Draw how the shares grew: certified and falsified rounded down, undecided up."""
    if proven is None or len(proven.course) < 2:
        return []
    seconds, *proven_shares = np.array(proven.course, dtype=np.float64).reshape(-1, 3).T
    certified, falsified = (
        np.array([float(percent_digits(share, 2)) for share in shares]) for shares in proven_shares
    )
    left = np.array(
        [
            float(percent_digits(1 - exactly(same) - exactly(changes), 2, up=True))
            for same, changes in zip(*proven_shares, strict=True)
        ]
    )
    lines = [
        Line("certified", seconds, certified, "consistent"),
        Line("falsified", seconds, falsified, "discriminatory"),
        Line("undecided", seconds, left, "undecided"),
    ]
    drawing = Drawing(
        title="Progress of the certification",
        x_title="seconds",
        y_title="share of the population" if proven.of == "people" else "share of combinations",
        # less than is shown would be written as zero
        lines=tuple(each for each in lines if each.y.any()),
        x_digits=1,
        y_digits=2,
        y_unit=f"{words.NBSP}%",
        y_high=100.0,
    )
    key = f"course-{run.id}"
    return [chart_block(drawing, drawing.title, key=key, optional=True, evidence="proven")]


def _rates(
    spec: AuditSpec, run: Run, tables: Sequence[GroupTable]
) -> tuple[list[Block], list[Block]]:
    """Return what follows for impact ratios, and the bounds of rates beside those observed.

    Beside groups that the model of the data does not fit, bounds would be taken for theirs; and
    those of one group alone compare nothing.
    """
    concluded: list[Block] = []
    rows: list[tuple[str, ...]] = []
    rest: list[Block] = []
    for rates in (each for each in run.figures if isinstance(each, ProvenRates)):
        bounded = bounded_rates(spec, rates, tables)
        if any(each.is_outside for each in bounded):
            continue
        said = Text(ratio_sentence(rates, tables))
        listed = [(each.group, *each.ends, each.text) for each in bounded if each.is_shown]
        rows += listed if len(listed) > 1 else []
        if not proof_words.is_too_wide(rates):
            concluded.append(said)
        elif len(listed) > 1:
            rest.append(said)
    if not rows:
        return concluded, rest
    shown = 4 if any(row[-1] != "–" for row in rows) else 3
    grid = Grid(
        ("Group", "Proven, at least", "Proven, at most", "Observed in the data rows")[:shown],
        tuple(row[:shown] for row in rows),
        (2.0, 1.0, 1.0, 1.2)[:shown],
        right=(1, 2, 3)[: shown - 1],
        caption="Proven bounds of the selection rates in the population (a model of the data)",
        key=f"rates-{run.id}",
        evidence="proven" if shown < len(rows[0]) else "",
    )
    return concluded, [Text(_RATES), grid, *rest]


def _pairs(spec: AuditSpec, run: Run) -> list[Block]:
    """List between which protected values the decision changes, those that differ most first."""
    pairs = [each for each in run.figures if isinstance(each, PairShare)]
    pairs = [each for each in pairs if each.falsified or each.certified]
    if not pairs:
        return []

    def row(pair: PairShare) -> tuple[str, ...]:
        left = 1 - exactly(pair.falsified) - exactly(pair.certified)
        left = Fraction(0) if pair.exact else max(left, Fraction(0))
        shares = (
            proof_words.least_percent(share) if share or pair.exact else _NONE
            for share in (pair.falsified, pair.certified)
        )
        values = (combination_text(spec, pair.attributes, at) for at in (pair.first, pair.second))
        return (*values, *shares, proof_words.most_percent(left))

    rows = tuple(map(row, sorted(pairs, key=lambda pair: -pair.falsified)))
    return [
        Grid(
            (
                "First values",
                "Second values",
                "Changes, at least",
                "Unchanged, at least",
                "Undecided",
            ),
            rows,
            (1.6, 1.6, 1.0, 1.0, 0.8),
            right=(2, 3, 4),
            caption="Proven shares of the input domain, by pair of protected values alone: those "
            "that differed most often in a random sample",
            key=f"values-{run.id}",
            optional=True,
            evidence="proven",
            note=_NONE_MEANS if any(_NONE in each for each in rows) else "",
        )
    ]


def _regions(spec: AuditSpec, run: Run) -> Iterator[Block]:
    """List the largest regions of either kind as rules, those with most of the data first."""
    for verdict, caption in _REGIONS_OF.items():
        found = [each for each in run.figures if isinstance(each, Region)]
        found = [each for each in found if each.verdict == verdict]
        found.sort(key=lambda each: (-round(each.population, 4), -each.share))
        if found:
            yield Grid(
                ("Region", "Share of the input domain", "Share of the population"),
                tuple(
                    (
                        rule_text(spec, each.conditions),
                        proof_words.least_percent(each.share),
                        proof_words.about_percent(each.population),
                    )
                    for each in found[:_REGIONS]
                ),
                (4.2, 1.0, 1.0),
                right=(1, 2),
                caption=caption,
                key=f"{verdict}-{run.id}",
                optional=True,
                evidence="proven",
            )


def _count(attribute: Attribute) -> int:
    """Count the values of a number: without a step on its own grid, as the proof does."""
    spacing = attribute.spacing or 1 / attribute.grid
    return round((attribute.high - attribute.low) / spacing) + 1
