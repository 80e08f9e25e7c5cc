"""The report's section on what is proven: shares, rules, pairs of values, and what it rests on."""

from __future__ import annotations

from fractions import Fraction

from fairdesk.answers.pairs_known import sufficient_names
from fairdesk.answers.rates import (
    bounded_rates,
    concluded_ratio_sentence,
    concludes,
    decision_tables,
    without_misfit,
)
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunRecord
from fairdesk.certify.proof.certificate import rounding_sentence
from fairdesk.charts.courses import course_of_proof
from fairdesk.charts.kinds.proof import Spaces, space_around, space_of
from fairdesk.data.domain.attributes import Attribute
from fairdesk.document.blocks import (
    Block,
    Fact,
    Facts,
    Grid,
    Heading,
    Section,
    Statement,
    Text,
    appended,
    chart_block,
    stated,
)
from fairdesk.report.content.material import Material
from fairdesk.report.sections.plan.compared import allowed_values, compared_values
from fairdesk.results.events import Metric
from fairdesk.results.individual import Share
from fairdesk.results.proofs import (
    NeighbourhoodCounts,
    PairShare,
    Proven,
    ProvenRates,
    Region,
)
from fairdesk.wording import figures, words
from fairdesk.wording import proofs as proof_words
from fairdesk.wording import rules as rule_words
from fairdesk.wording.certified.neighbourhoods import NOT_MEANT, neighbourhoods_of
from fairdesk.wording.language import fixed, say

_OF_WHOM = fixed(
    "Certification covers every combination of allowed values, not real individuals; most "
    "combinations do not resemble any data row."
)
_ONE_SET = fixed(
    "A combination for which fewer than two sets of protected values are permitted, and supported "
    "by the data, has no comparison: it is neither certified nor falsified, and in no total."
)
_MIDPOINTS = fixed(
    "A protected number with more than 20 values is by default compared only at the midpoints of "
    "10 bins of equal width; nothing is certified for its other values."
)
_WEIGHTED = fixed(
    "The data-weighted share multiplies the shares that each value has in the data, as if the "
    "attributes were independent; it is not the share of a real population."
)
_PAIRS_KNOWN = fixed("pairs found")
_KNOWN_MEANS = fixed(
    "“Pairs found”: examples are known in which changing this attribute alone changes the "
    "decision; the share is unknown."
)
#: Regions of each kind that are listed.
_REGIONS = 10
#: Counts of combinations up to which they are printed where shares are in a table.
_READABLE = 10**9


def certification(material: Material) -> Section:
    """Say what was proven by each run that proves."""
    read = f"{say(proof_words.VERDICTS)} {say(proof_words.ROUNDED)}"
    blocks: list[Block] = [Text(read, lead=say("How to read it."))]
    if covers := _rules(material):
        blocks.append(Text(" ".join(covers), lead=say("What it covers.")))
    for run in material.proofs:
        blocks += _run_blocks(material, run)
    blocks += [
        Heading("What the certification covers", appended=True),
        Text(_whom(material)),
        _whom_grid(material),
    ]
    return Section("Certification", tuple(blocks))


def _rules(material: Material) -> list[str]:
    """Return what a certification covers beyond its statements, where that applies here."""
    domain = material.spec.domain
    bare = [
        run
        for run in material.proofs
        if not proof_words.proven_of(_quoted(material, run), "people")
    ]
    whole = any(neighbourhoods_of(run.figures) is None for run in bare)
    rules = [say(_OF_WHOM)] if whole else []
    if domain.has_constraints:
        rules.append(say(_ONE_SET))
    compared = [domain.attributes[i] for i in domain.protected]
    if any(not each.values and len(each.compared) < _count(each) for each in compared):
        rules.append(say(_MIDPOINTS))
    if any(proof_words.proven_of(run.figures, "population") for run in bare):
        rules.append(say(_WEIGHTED))
    return rules


def _statements(material: Material, run: RunRecord) -> list[Statement]:
    """Say what came of a proof, its number large; apart from it what is estimated of the rest."""
    spec, proven = material.spec, proof_words.proven_of(run.figures)
    if proven is None:
        return [stated(figures.headline(spec, run))]
    said = proof_words.proven_statement(proven).with_more(words.ending(run))
    rest = proof_words.remainder_statement(proven)
    of_people = proof_words.proven_of(_quoted(material, run), "people")
    if of_people is not None:
        # what is known of combinations is in the appendix: it is read as of people otherwise
        return [stated(proof_words.proven_statement(of_people).with_more(words.ending(run)))]
    return [stated(each) for each in (said, rest) if each]


def _quoted(material: Material, run: RunRecord) -> tuple[Metric, ...]:
    """Return the figures of a run without those of a population that does not fit the data."""
    tables = tuple(map(material.shown.table, decision_tables(material.runs)))
    return without_misfit(material.spec, run.figures, tables)


def _whom(material: Material) -> str:
    """Say of whom a proof speaks, and who is compared with whom."""
    domain = material.spec.domain
    names = words.listed(words.protected_names(domain))
    count = int(domain.common.sum())
    ruled = " that fulfil the constraints" if domain.has_constraints else ""
    return say(
        "The input domain consists of all combinations of the allowed values{ruled}. "
        "Each is tested with all {count} permitted combinations of values of {names} "
        "({pairs} pairs in all): its decision is unchanged when it is the same with all of "
        "them, and changes otherwise.",
        ruled=ruled,
        count=words.number(count),
        names=names,
        pairs=words.number(count * (count - 1) // 2),
    )


def _whom_grid(material: Material) -> Grid:
    """List the input domain: every attribute's values or range, and how many there are."""
    domain = material.spec.domain
    return Grid(
        header=("Attribute", "Values or range", "Number"),
        rows=tuple(
            (
                say("{name} (compared)", name=attribute.name)
                if i in domain.protected
                else attribute.name,
                compared_values(attribute)
                if i in domain.protected
                else allowed_values(domain, attribute, material.shown),
                _how_many(attribute, compared=i in domain.protected),
            )
            for i, attribute in enumerate(domain.attributes)
        ),
        widths=(1.4, 2.9, 0.9),
        right=(2,),
        caption="The input domain of the certification",
        key="domain",
        optional=True,
    )


def _how_many(attribute: Attribute, *, compared: bool) -> str:
    if compared:
        return words.number(len(attribute.compared))
    if attribute.values:
        return words.number(len(attribute.values))
    return words.number(_count(attribute))


def _count(attribute: Attribute) -> int:
    """Count the values of a number: without a step on its own grid, as the proof does."""
    spacing = attribute.spacing or 1 / attribute.grid
    return round((attribute.high - attribute.low) / spacing) + 1


def _run_blocks(material: Material, run: RunRecord) -> list[Block]:
    """Describe a run: what is proven, a chart, tables, and how it was obtained."""
    spec = material.spec
    blocks: list[Block] = [Heading(material.run_name(run)), *_statements(material, run)]
    proven = proof_words.proven_of(run.figures)
    if (around := neighbourhoods_of(run.figures)) is not None:
        return [*blocks, *_around(spec, run, around)]
    if proven is None:
        shares = [each for each in run.figures if isinstance(each, Share)]
        blocks += [Text(each) for each in figures.sentences(spec, shares)]
        return blocks
    of_people = proof_words.proven_of(_quoted(material, run), "people")
    # a share of independent attributes says less than one of the population
    of_marginals = None if of_people else proof_words.proven_of(run.figures, "population")
    if of_people is not None:
        blocks.append(Text(proof_words.population_note(spec), lead=say("The population.")))
    if "results" not in material.chapters:
        blocks += [
            Text(
                figures.share_statement(spec, each).sentence,
                lead=say("The {people} in the data.", people=material.people),
            )
            for each in run.figures
            if isinstance(each, Share) and each.whom == "data"
        ]
    blocks += [Text(note) for note in proven.notes]
    alone = _alone(material, run, proven)
    facts = tuple(_facts(run, proven, of_marginals, listed=bool(alone)))
    further: list[Block] = [
        *_bars(proven, of_people, of_marginals, run.id),
        *alone,
        *_meanings(alone),
        *_course(material, run),
        *_pairs(spec, run),
        *_regions(spec, run),
        *([Facts(facts)] if facts else []),
        Text(
            f"{_counterexamples(proven)} {rounding_sentence(proven.margin)}".rstrip(),
            lead="Counterexamples.",
        ),
        Text(
            "The proof certificate file contains every region with its verdict. “fairdesk "
            "verify” verifies it by other means: its sums, the model’s outputs for instances "
            "drawn at random, and a solver that searches for counterexamples.",
            lead="How to verify it.",
        ),
    ]
    return [*blocks, *_rates(material, run), *map(appended, further)]


def _around(spec: AuditSpec, run: RunRecord, found: NeighbourhoodCounts) -> list[Block]:
    """Draw how many data rows are certified with their neighbours, and say what that is not."""
    return [
        chart_block(
            Spaces((space_around(spec, found),)),
            caption="Data rows certified with their neighbours, falsified and undecided",
            key=f"bars-{run.id}",
            evidence="proven",
        ),
        Text(say(NOT_MEANT), lead=say("What it does not mean.")),
        *map(Text, found.notes),
        *map(Text, filter(None, [rounding_sentence(found.margin)])),
    ]


def _counterexamples(proven: Proven) -> str:
    """Say what a falsified person rests on."""
    if not int(proven.falsified_people or 0):
        return say(
            "No counterexample was established. Instances in an undecided share may still be "
            "counterexamples."
        )
    return say(
        "Every falsified combination is proven to receive two different decisions, by querying "
        "the model or by bounds of its outputs. “fairdesk verify” re-queries the model for "
        "instances drawn from these regions."
    )


def _course(material: Material, run: RunRecord) -> list[Block]:
    """Draw how the proof came, where the auditor asks for it."""
    grown = proof_words.main_proof(_quoted(material, run))
    if grown is None or len(grown.course) < 2:
        return []
    return [
        chart_block(
            course_of_proof(grown, whole=False),
            caption="Progress of the certification",
            key=f"course-{run.id}",
            optional=True,
            evidence="proven",
        )
    ]


def _bars(
    proven: Proven, of_people: Proven | None, of_marginals: Proven | None, run: int
) -> list[Block]:
    """Draw the shares: solid what is proven, hatched what is estimated, grey what is left."""
    spaces = [space_of(say("Input domain, all combinations equally likely"), proven)]
    if of_marginals is not None:
        spaces.append(space_of(say("Data-weighted (attributes assumed independent)"), of_marginals))
    of_combinations = chart_block(
        Spaces(tuple(spaces)),
        caption="Certified, falsified and undecided shares of combinations, not of people",
        key=f"bars-{run}" if of_people is None else f"combinations-{run}",
        # the shares of all attributes together are told in numbers
        optional=of_people is not None,
        # an estimate is drawn in what is undecided
        evidence="" if any(space.guess is not None for space in spaces) else "proven",
    )
    if of_people is None:
        return [of_combinations]
    population = chart_block(
        Spaces((space_of(say("Population (a model of the data)"), of_people),)),
        caption="Certified, falsified and undecided shares",
        key=f"bars-{run}",
        optional=True,
        evidence="proven",
    )
    return [population, of_combinations]


def _counts(proven: Proven) -> list[Fact]:
    """Return how many combinations are certified, falsified and undecided."""
    consistent, discriminatory, left = proof_words.proven_fractions(proven)
    digits = proof_words.digits_of_proof(consistent, discriminatory, left)
    counts = {
        say("Certified (unchanged)"): (
            proven.certified_people,
            proof_words.proven_share(consistent, digits, exact=proven.exact),
        ),
        say("Falsified (changes)"): (
            proven.falsified_people,
            proof_words.proven_share(discriminatory, digits, exact=proven.exact),
        ),
    }
    facts = [Fact("Combinations in the input domain", _exactly(int(proven.total or 0)))]
    facts += [
        Fact(
            name,
            f"{_exactly(int(count or 0))} ({share})"
            + ("" if proven.exact or not int(count or 0) else say(", at least")),
        )
        for name, (count, share) in counts.items()
    ]
    undecided = int(proven.total or 0) - int(proven.certified_people or 0)
    undecided -= int(proven.falsified_people or 0)
    facts.append(
        Fact("Undecided", f"{_exactly(undecided)} ({proof_words.percent_up(left, digits)})")
    )
    return facts


def _facts(
    run: RunRecord, proven: Proven, of_marginals: Proven | None, *, listed: bool
) -> list[Fact]:
    """Return the exact counts; when and with how many queries is listed for all runs.

    ``listed``: whether a table has the shares; then counts too long to be read are in the
    certificate only.
    """
    facts = [] if listed and int(proven.total or 0) > _READABLE else _counts(proven)
    rest = proof_words.remainder_statement(proven)
    if rest is not None:
        facts.append(Fact("Of the undecided, estimated", rest.sentence))
    if of_marginals is not None:
        weighted = "Data-weighted (attributes assumed independent)"
        facts.append(Fact(weighted, proof_words.standing_of(of_marginals)))
    return [*facts, *([Fact("State", words.state_word(run.state))] if run.state != "done" else [])]


def _rates(material: Material, run: RunRecord) -> list[Block]:
    """Return between which shares the rates of groups are proven to be, beside those observed."""
    tables = tuple(map(material.shown.table, decision_tables(material.runs)))
    section = say("section {number}", number=str(material.number("outcomes")))
    found = [each for each in run.figures if isinstance(each, ProvenRates)]
    if not found:
        return []
    concluded: list[Block] = []
    bounds: list[Block] = []
    for place, rates in enumerate(found, start=1):
        bounded = bounded_rates(material.spec, rates, tables)
        known = any(each.observed is not None for each in bounded)
        rows = tuple(
            (each.group, *each.ends, *((each.text,) if known else ()))
            for each in bounded
            if each.is_shown
        )
        header = ("Group", "Proven, at least", "Proven, at most")
        grid = Grid(
            header=(*header, "Observed in the data rows") if known else header,
            rows=rows,
            widths=(2.0, 1.0, 1.0, 1.0) if known else (2.0, 1.0, 1.0),
            right=(1, 2, 3) if known else (1, 2),
            caption=say(
                "Bounds of the selection rates by {name} in the population (a model of the data)",
                name=words.quoted(rates.attribute),
            ),
            key=f"rates-{place}-{run.id}",
            evidence="" if known else "proven",
        )
        # beside groups that the model of the data does not fit, bounds would be taken for theirs
        # what it does not fit was said before; and of one group alone they compare nothing
        if any(each.is_outside for each in bounded):
            continue
        said = Text(concluded_ratio_sentence(rates, bounded, tables, section))
        bounds += [grid] if len(rows) > 1 else []
        if concludes(rates, bounded):
            concluded.append(said)
        elif len(rows) > 1:
            bounds.append(said)
    if any(isinstance(each, Grid) for each in bounds):
        bounds.insert(0, Text(say(proof_words.RATES), lead=say("Selection rates of groups.")))
    return [*concluded, *map(appended, bounds)]


def _alone(material: Material, run: RunRecord, proven: Proven) -> list[Grid]:
    """Return what single protected attributes do next to all of them, where there are several."""
    alone = [
        each
        for each in run.figures
        if isinstance(each, Proven)
        and each.of == "domain"
        and len(each.attributes) < len(proven.attributes)
    ]
    if not alone:
        return []
    known = sufficient_names(material.spec, material.runs)
    together, _, _ = proof_words.proven_fractions(proven)
    rows = tuple(
        (
            words.capital(words.when_change(each.attributes)),
            *_shares(each, together, known=set(each.attributes) <= known),
        )
        for each in (proven, *alone)
    )
    return [
        Grid(
            header=(
                "",
                "Certified (unchanged), at least",
                "Falsified (changes), at least",
                "Undecided",
            ),
            rows=rows,
            widths=(1.6, 1, 1, 1),
            right=(1, 2, 3),
            caption=(
                "Shares of all combinations in the input domain, not of people, for all protected "
                "attributes and for each alone"
            ),
            key=f"alone-{run.id}",
            evidence="proven",
        )
    ]


def _meanings(tables: list[Grid]) -> list[Block]:
    """Return what stands for a share in tables means, where they say it."""
    cells = {cell for table in tables for row in table.rows for cell in row}
    said = {proof_words.NONE_PROVEN: proof_words.NONE_MEANS, _PAIRS_KNOWN: _KNOWN_MEANS}
    return [Text(say(said[each])) for each in said if say(each) in cells]


def _shares(proven: Proven, least: Fraction, *, known: bool) -> tuple[str, str, str]:
    """Write the shares of a table's row: ``known`` where pairs of it are, ``least`` certified."""
    consistent, discriminatory, left = proof_words.proven_fractions(proven)
    # what no change of all attributes together changes, none of one does
    consistent = min(max(consistent, least), 1 - discriminatory)
    left = 1 - consistent - discriminatory
    digits = proof_words.digits_of_proof(consistent, discriminatory, left)
    is_told = discriminatory or proven.exact or not known
    return (
        proof_words.proven_share(consistent, digits, exact=proven.exact),
        proof_words.proven_share(discriminatory, digits, exact=proven.exact)
        if is_told
        else say(_PAIRS_KNOWN),
        proof_words.percent_up(left, digits),
    )


def _pairs(spec: AuditSpec, run: RunRecord) -> list[Grid]:
    """Return which pairs of values carry what is unlike."""
    pairs = [each for each in run.figures if isinstance(each, PairShare)]
    pairs = [each for each in pairs if each.falsified or each.certified]
    if not pairs:
        return []
    all_exact = all(each.exact for each in pairs)
    shares = ("Different", "Same") if all_exact else ("Different, at least", "Same, at least")

    def share_of(pair: PairShare, share: float) -> str:
        text = proof_words.pair_share(share, exact=pair.exact)
        return say("exactly {share}", share=text) if pair.exact and not all_exact else text

    rows = tuple(
        (
            rule_words.combination_text(spec, each.attributes, each.first),
            rule_words.combination_text(spec, each.attributes, each.second),
            share_of(each, each.falsified),
            share_of(each, each.certified),
        )
        for each in sorted(pairs, key=lambda pair: -pair.falsified)
    )
    return [
        Grid(
            header=("First values", "Second values", *shares),
            rows=rows,
            widths=(1.6, 1.6, 1.1, 1.0),
            right=(2, 3),
            caption=(
                "Shares of the input domain whose decision differs, and is the same, between two "
                "sets of protected values: those that differed most often in a random sample"
            ),
            key=f"values-{run.id}",
            optional=True,
            evidence="proven",
        )
    ]


def _regions(spec: AuditSpec, run: RunRecord) -> list[Block]:
    """List the largest boxes that are of one kind, as rules."""
    blocks: list[Block] = []
    for verdict, what in (
        ("discriminatory", "the decision changes"),
        ("consistent", "the decision is unchanged"),
    ):
        found = [
            each for each in run.figures if isinstance(each, Region) and each.verdict == verdict
        ]
        if not found:
            continue
        rows = tuple(
            (
                rule_words.rule_text(spec, each.conditions),
                proof_words.least_percent(each.share),
                proof_words.about_percent(each.population),
            )
            for each in sorted(found, key=_by_size)[:_REGIONS]
        )
        blocks.append(
            Grid(
                header=("Rule", "Share of domain", "Data-weighted"),
                rows=rows,
                widths=(4.2, 0.9, 0.9),
                right=(1, 2),
                caption=say("The largest regions where, for every combination, {what}", what=what),
                key=f"{verdict}-{run.id}",
                optional=True,
                evidence="proven",
            )
        )
    return blocks


def _by_size(region: Region) -> tuple[float, float]:
    """Order regions by their share of people as it is written, then by that of the domain."""
    return -round(region.population, 4), -region.share


def _exactly(count: int) -> str:
    """Write a whole number of any size, to its last digit."""
    return f"{count:,}"
