"""The report's section on what is proven: shares, rules, pairs of values, and what it rests on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunRecord
from fairdesk.certify.proof.certificate import margin_sentence
from fairdesk.charts.kinds.icicle import Tree
from fairdesk.charts.kinds.lines import Drawing, Line
from fairdesk.charts.kinds.proof import Spaces, space_of
from fairdesk.data.domain.attributes import Attribute
from fairdesk.report.blocks import (
    Block,
    Chart,
    Fact,
    Facts,
    Grid,
    Heading,
    Section,
    Statement,
    Text,
    stated,
)
from fairdesk.report.content.material import Material, not_run
from fairdesk.report.provenance import evidence
from fairdesk.report.render.drawing import drawn
from fairdesk.report.sections.plan.compared import allowed_values, compared_values
from fairdesk.results.individual import Share
from fairdesk.results.proofs import PairShare, Proven, Refinement, Region
from fairdesk.wording import figures, words
from fairdesk.wording import proofs as proof_words
from fairdesk.wording import rules as rule_words
from fairdesk.wording.language import localised, say

_STATISTICAL = (
    "What is estimated of the undecided part comes from people drawn at random from it. It is "
    "statistical, not certified, and never part of the proven shares."
)
_NOT_PROVEN = (
    "a method that proves (Certify, FairQuant or Fairify). It would have told for which share of "
    "all possible people it is proven that no change of protected values changes the decision, and "
    "for which that one does."
)
_NO_MODEL = (
    "every method that proves, for no model is at hand. It would have told for which share of all "
    "possible people it is proven that no change of protected values changes the decision."
)
_OF_WHOM = (
    "A proof speaks of people who could be: every combination of allowed values counts once, "
    "whatever the protected values, and most of them are unlike anybody real. How many are proven "
    "where every value is as common as in the data, each by itself, is told beside it."
)
#: Regions of each kind that are listed.
_REGIONS = 10


def certification(material: Material) -> Section:
    """Say what was proven by each run that proves."""
    if not material.proofs:
        what = _NO_MODEL if material.spec.predictions else _NOT_PROVEN
        return Section("Certification", (not_run(what),))
    blocks: list[Block] = []
    for run in material.proofs:
        blocks += _run_blocks(material, run)
    blocks += [
        Heading("Of whom a proof speaks"),
        Text(_whom(material)),
        Text(_OF_WHOM),
        _whom_grid(material),
    ]
    return Section("Certification", tuple(blocks), fresh=True)


def statements(spec: AuditSpec, run: RunRecord, details: Sequence[str]) -> list[Statement]:
    """Say what came of a proof, its number large; apart from it what is estimated of the rest."""
    place = "certification" if details else ""
    proven = proof_words.proven_of(run.figures)
    if proven is None:
        return [stated(figures.headline(spec, run), details, place=place)]
    said = proof_words.proven_statement(spec, proven).with_more(words.ending(run))
    rest = proof_words.remainder_statement(spec, proven)
    return [stated(each, more, place=place) for each, more in ((said, details), (rest, ())) if each]


def _whom(material: Material) -> str:
    """Say of whom a proof speaks, and who is compared with whom."""
    domain = material.spec.domain
    names = words.listed(words.protected_names(domain))
    count = len(domain.combinations)
    ruled = "; the constraints say who there can be" if domain.has_constraints else ""
    return say(
        "All {people} whom the allowed values below make{ruled}. Each is compared "
        "under all {count} combinations of values of {names} that may be, {pairs} "
        "pairs in all: who gets the same decision under all of them is treated alike, "
        "and else unlike.",
        people=material.people,
        ruled=ruled,
        count=words.number(count),
        names=names,
        pairs=words.number(count * (count - 1) // 2),
    )


def _whom_grid(material: Material) -> Grid:
    """List the input domain: every attribute's values or range, and how many there are."""
    domain = material.spec.domain
    return Grid(
        header=("Attribute", "", "Values or range", "How many"),
        rows=tuple(
            (
                attribute.name,
                "compared" if i in domain.protected else "",
                compared_values(attribute)
                if i in domain.protected
                else allowed_values(domain, attribute, material.shown),
                _how_many(attribute, compared=i in domain.protected),
            )
            for i, attribute in enumerate(domain.attributes)
        ),
        widths=(1.2, 0.7, 2.4, 0.9),
        right=(3,),
        caption="The input domain of the proofs",
        key="domain",
    )


def _how_many(attribute: Attribute, *, compared: bool) -> str:
    if compared:
        return words.number(len(attribute.compared))
    if attribute.values:
        return words.number(len(attribute.values))
    # numbers without a step are counted on the attribute's own grid, as the proof does
    spacing = attribute.spacing or 1 / attribute.grid
    return words.number(round((attribute.high - attribute.low) / spacing) + 1)


def _run_blocks(material: Material, run: RunRecord) -> list[Block]:
    """Describe a run: what is proven, a chart, tables, and how it was obtained."""
    spec = material.spec
    blocks: list[Block] = [Heading(material.run_name(run)), *statements(spec, run, ())]
    proven = proof_words.proven_of(run.figures)
    if proven is None:
        shares = [each for each in run.figures if isinstance(each, Share)]
        blocks += [Text(each) for each in figures.sentences(spec, shares)]
        return blocks
    of_people = proof_words.proven_of(run.figures, "population")
    rows = [each for each in run.figures if isinstance(each, Share) and each.whom == "data"]
    blocks += [
        Text(
            figures.share_statement(spec, each).sentence,
            lead=say("The data’s own {people}.", people=material.people),
        )
        for each in rows
    ]
    blocks += _bars(proven, of_people, run.id)
    blocks += [*_course(run, proven), *_division(run)]
    blocks += _alone(run, proven)
    blocks += _pairs(spec, run)
    blocks += _regions(spec, run)
    blocks.append(Facts(tuple(_facts(run, proven, of_people))))
    blocks += [Text(note) for note in proven.notes]
    return [
        *blocks,
        Text(_counterexamples(proven), lead="Counterexamples."),
        Text(margin_sentence(proven.margin), lead="Rounding."),
        Text(
            "The certificate file holds every box with its verdict. “fairdesk verify” checks it "
            "again by other means: its sums, the model’s answers for people drawn at random, and "
            "a solver that looks for somebody of whom the opposite is true.",
            lead="To check it.",
        ),
    ]


def _counterexamples(proven: Proven) -> str:
    """Say what a falsified person rests on."""
    if not int(proven.falsified_people or 0):
        return say(
            "Nobody is proven to be treated unlike, so there is no counterexample to ask again."
        )
    return say(
        "Whoever is counted as falsified is proven to get two different decisions: by asking the "
        "model itself, or by bounds of its two answers that lie apart by more than its rounding. "
        "“fairdesk verify” asks the model again about people drawn from these boxes."
    )


def _course(run: RunRecord, proven: Proven) -> list[Block]:
    """Draw how the proof came, where the auditor asks for it."""
    if len(proven.course) < 2:
        return []
    seconds, certified, falsified = np.array([each[:3] for each in proven.course]).T
    lines = (
        Line(say("certified"), seconds, 100 * certified, "series 0"),
        Line(say("falsified"), seconds, 100 * falsified, "series 1"),
    )
    titles = say("seconds"), say("share of the domain, proven")
    chart = Drawing("", *titles, lines, y_digits=2, y_unit=f"{words.NBSP}%")
    return [
        Chart(
            *drawn(chart),
            caption="How the proof came",
            key=f"course-{run.id}",
            optional=True,
            evidence="proven",
        )
    ]


def _division(run: RunRecord) -> list[Block]:
    """Draw how the domain was divided, where the auditor asks for it."""
    found = [each for each in run.figures if isinstance(each, Refinement)]
    if not found or not found[0].parts:
        return []
    return [
        Chart(
            *drawn(Tree(found[0].parts)),
            caption="How the domain was divided: the larger boxes, each below the one that it is "
            "part of",
            key=f"boxes-{run.id}",
            optional=True,
            evidence="proven",
        )
    ]


def strip(run: RunRecord) -> list[Chart]:
    """Draw what is proven in one strip, for the summary."""
    proven = proof_words.proven_of(run.figures)
    if proven is None or not (proven.certified or proven.falsified):
        return []
    return [
        Chart(
            *drawn(Spaces((space_of("", proven),))),
            caption="What is proven of everybody who could be, and what is not",
            key=f"proof-{run.id}",
            evidence="proven",
        )
    ]


def _bars(proven: Proven, of_people: Proven | None, run: int) -> list[Block]:
    """Draw the shares: solid what is proven, hatched what is estimated, grey what is left."""
    spaces = [space_of(say("Of the domain, everybody as likely"), proven)]
    if of_people is not None:
        spaces.append(space_of(say("With every value as common as in the data"), of_people))
    chart = Chart(
        *drawn(Spaces(tuple(spaces))),
        caption="What is proven, and what is not",
        key=f"bars-{run}",
        evidence="proven",
    )
    guessed = any(space.guess is not None for space in spaces)
    return [chart, Text(_STATISTICAL)] if guessed else [chart]


def _facts(run: RunRecord, proven: Proven, of_people: Proven | None) -> list[Fact]:
    """Return the exact counts, and what they took."""
    consistent, discriminatory, left = proof_words.proven_fractions(proven)
    digits = proof_words.digits_of_proof(consistent, discriminatory, left)
    counts = {
        say("Certified"): (proven.certified_people, proof_words.percent_down(consistent, digits)),
        say("Falsified"): (
            proven.falsified_people,
            proof_words.percent_down(discriminatory, digits),
        ),
    }
    facts = [Fact("Everybody", _exactly(int(proven.total or 0)))]
    facts += [
        Fact(
            name,
            f"{_exactly(int(count or 0))} ({share})" + ("" if proven.exact else say(", at least")),
        )
        for name, (count, share) in counts.items()
    ]
    undecided = int(proven.total or 0) - int(proven.certified_people or 0)
    undecided -= int(proven.falsified_people or 0)
    facts.append(
        Fact("Undecided", f"{_exactly(undecided)} ({proof_words.percent_up(left, digits)})")
    )
    if proven.estimated is not None and proven.estimated.people:
        estimate = proven.estimated
        ends = words.interval(
            estimate.low,
            estimate.high,
            estimate.confidence,
            words.digits_of(estimate.low, estimate.high),
        )
        facts.append(
            Fact(
                "Of these, estimated",
                say(
                    "{share} ({ends}) are treated unlike; statistical, not certified: of {people} "
                    "people drawn at random from the undecided boxes {unlike} are, and what is "
                    "proven of these boxes is taken off",
                    share=words.shown_percent(estimate.estimate, 1),
                    ends=ends,
                    people=words.number(estimate.people),
                    unlike=words.number(estimate.discriminatory),
                ),
            )
        )
    if of_people is not None:
        facts.append(Fact("As common as in the data", proof_words.standing_of(of_people)))
    return [
        *facts,
        Fact("How", METHODS[run.spec.method].sentence),
        Fact("State", words.state_word(run.state)),
        Fact("Boxes looked at", words.number(proven.boxes)),
        Fact("Rows sent to the model", words.number(run.queries)),
        Fact("Time", words.duration(proven.seconds)),
        Fact("Began", evidence.date_text(evidence.moment(run.started))),
    ]


def _alone(run: RunRecord, proven: Proven) -> list[Block]:
    """Return what single protected attributes do, where several are compared."""
    alone = [
        each
        for each in run.figures
        if isinstance(each, Proven)
        and each.of == "domain"
        and len(each.attributes) < len(proven.attributes)
    ]
    if not alone:
        return []
    rows = tuple((words.listed(each.attributes), *_shares(each)) for each in alone)
    return [
        Grid(
            header=("Changed alone", "Alike, at least", "Unlike, at least", "Undecided"),
            rows=rows,
            widths=(1.6, 1, 1, 1),
            right=(1, 2, 3),
            caption="Each protected attribute by itself, the others being part of who somebody is",
            key=f"alone-{run.id}",
            evidence="proven",
        )
    ]


def _shares(proven: Proven) -> tuple[str, str, str]:
    consistent, discriminatory, left = proof_words.proven_fractions(proven)
    digits = proof_words.digits_of_proof(consistent, discriminatory, left)
    return (
        proof_words.percent_down(consistent, digits),
        proof_words.percent_down(discriminatory, digits),
        proof_words.percent_up(left, digits),
    )


def _pairs(spec: AuditSpec, run: RunRecord) -> list[Block]:
    """Return which pairs of values carry what is unlike."""
    pairs = [each for each in run.figures if isinstance(each, PairShare)]
    pairs = [each for each in pairs if each.falsified or each.certified]
    if not pairs:
        return []
    rows = tuple(
        (
            rule_words.combination_text(spec, each.attributes, each.first),
            rule_words.combination_text(spec, each.attributes, each.second),
            words.shown_percent(each.falsified, 2),
            words.shown_percent(each.certified, 2),
            "exactly" if each.exact else "at least",
        )
        for each in sorted(pairs, key=lambda pair: -pair.falsified)
    )
    return [
        Grid(
            header=("One", "Another", "Unlike", "Alike", ""),
            rows=rows,
            widths=(1.6, 1.6, 0.8, 0.8, 0.7),
            right=(2, 3),
            caption="Pairs of protected values: those decided differently most often among random "
            "people",
            key=f"values-{run.id}",
            evidence="proven",
        )
    ]


def _regions(spec: AuditSpec, run: RunRecord) -> list[Block]:
    """List the largest boxes that are of one kind, as rules."""
    blocks: list[Block] = []
    for verdict, what in (
        ("discriminatory", "is treated unlike"),
        ("consistent", "is treated alike"),
    ):
        found = [
            each for each in run.figures if isinstance(each, Region) and each.verdict == verdict
        ]
        if not found:
            continue
        rows = tuple(
            (
                rule_words.rule_text(spec, each.conditions),
                _exactly(int(each.people)),
                proof_words.least_percent(each.share),
                words.shown_percent(each.population, 2),
            )
            for each in found[:_REGIONS]
        )
        blocks.append(
            Grid(
                header=("Rule", "People", "Of all", "As in the data"),
                rows=rows,
                widths=(2.6, 1.8, 0.8, 0.9),
                right=(1, 2, 3),
                caption=say("The largest boxes in which everybody {what}", what=what),
                key=f"{verdict}-{run.id}",
                evidence="proven",
            )
        )
    return blocks


def _exactly(count: int) -> str:
    """Write a whole number of any size, to its last digit."""
    return localised(f"{count:,}")
