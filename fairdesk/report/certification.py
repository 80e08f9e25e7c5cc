"""The report's section on what is proven: shares, rules, pairs of values, and what it rests on."""

from __future__ import annotations

from collections.abc import Sequence

from fairdesk.audit.records import RunRecord
from fairdesk.audit.spec import AuditSpec
from fairdesk.certify.certificate import margin_sentence
from fairdesk.events import PairShare, Proven, Region, Share
from fairdesk.report import charts, evidence, figures, words
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
)
from fairdesk.report.material import Material

_STATISTICAL = (
    "What is estimated of the undecided part comes from people drawn at random from it. It is "
    "statistical, not certified, and never part of the proven shares."
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
    blocks: list[Block] = [Text(_whom(material)), Text(_OF_WHOM)]
    for run in material.proofs:
        blocks += _run_blocks(material, run)
    return Section("Certification", tuple(blocks), fresh=True)


def statement(spec: AuditSpec, run: RunRecord, details: Sequence[str]) -> Statement:
    """Say what came of a proof, its number large."""
    said = figures.headline(spec, run)
    number, rest = said.partition(" ")[::2]
    for begin in ("At least ", "More than ", "Exactly ", "All "):
        if said.startswith(begin):
            number, _, rest = said.removeprefix(begin).partition(" ")
            number = begin + number
    return Statement(number, rest, tuple(details))


def _whom(material: Material) -> str:
    """Say of whom a proof speaks, and who is compared with whom."""
    domain = material.spec.domain
    names = words.listed(words.protected_names(domain))
    count = len(domain.combinations)
    ruled = "; the constraints say who there can be" if domain.ruled else ""
    return (
        f"Who is meant: all {material.people} whom the allowed values of section "
        f"{material.number('compared')} make{ruled}. "
        f"Each is compared under all {words.number(count)} combinations of values of {names} that "
        f"may be, {words.number(count * (count - 1) // 2)} pairs in all: who gets the same "
        "decision under all of them is treated alike, and else unlike."
    )


def _run_blocks(material: Material, run: RunRecord) -> list[Block]:
    spec = material.spec
    blocks: list[Block] = [Heading(material.run_name(run)), statement(spec, run, ())]
    proven = figures.proven_of(run.figures)
    if proven is None:
        shares = [each for each in run.figures if isinstance(each, Share)]
        blocks += [Text(each) for each in figures.sentences(spec, shares)]
        return blocks
    of_people = figures.proven_of(run.figures, "population")
    blocks += _bars(proven, of_people)
    blocks.append(Facts(tuple(_facts(run, proven, of_people))))
    blocks += [Text(note) for note in proven.notes]
    rows = [each for each in run.figures if isinstance(each, Share) and each.whom == "data"]
    blocks += [
        Text(figures.share_sentence(spec, each), lead=f"The data’s own {material.people}.")
        for each in rows
    ]
    blocks += _alone(run, proven)
    blocks += _pairs(spec, run)
    blocks += _regions(spec, run)
    blocks += [
        Text(margin_sentence(proven.margin), lead="Rounding."),
        Text(
            "The certificate file holds every box with its verdict. “fairdesk verify” checks it "
            "again by other means: its sums, the model’s answers for people drawn at random, and "
            "a solver that looks for somebody of whom the opposite is true.",
            lead="To check it.",
        ),
    ]
    return blocks


def _bars(proven: Proven, of_people: Proven | None) -> list[Block]:
    """Draw the shares: solid what is proven, hatched what is estimated, grey what is left."""
    bars = [
        charts.ProofBar(
            name,
            each.certified,
            each.falsified,
            None if each.estimated is None else _estimated_of_whole(each),
        )
        for name, each in (
            ("Of the domain, everybody as likely", proven),
            ("With every value as common as in the data", of_people),
        )
        if each is not None
    ]
    picture = charts.proof_chart(bars)
    caption = "What is proven, and what is not"
    blocks: list[Block] = [Chart(picture.svg, picture.alt, caption)]
    if any(bar.estimated is not None for bar in bars):
        blocks.append(Text(_STATISTICAL))
    return blocks


def _estimated_of_whole(proven: Proven) -> float | None:
    """Give the share of the whole that is estimated to be unlike, beyond what is proven."""
    told = proven.estimated
    if told is None or not told.people:
        return None
    return proven.undecided * told.estimate


def _facts(run: RunRecord, proven: Proven, of_people: Proven | None) -> list[Fact]:
    """Give the exact counts, and what they took."""
    alike, unlike, left = figures.proven_fractions(proven)
    digits = figures.digits_of_proof(alike, unlike, left)
    counts = {
        "Certified": (proven.certified_people, figures.percent_down(alike, digits)),
        "Falsified": (proven.falsified_people, figures.percent_down(unlike, digits)),
    }
    facts = [Fact("Everybody", f"{int(proven.total or 0):,}")]
    facts += [
        Fact(name, f"{int(count or 0):,} ({share})" + ("" if proven.exact else ", at least"))
        for name, (count, share) in counts.items()
    ]
    undecided = int(proven.total or 0) - int(proven.certified_people or 0)
    undecided -= int(proven.falsified_people or 0)
    facts.append(Fact("Undecided", f"{undecided:,} ({figures.percent_up(left, digits)})"))
    if proven.estimated is not None and proven.estimated.people:
        told = proven.estimated
        ends = figures.interval(
            told.low, told.high, told.confidence, figures.digits_of(told.low, told.high)
        )
        facts.append(
            Fact(
                "Of these, estimated",
                f"{figures.shown_percent(told.estimate, 1)} ({ends}) are treated unlike; "
                f"statistical, not certified: of {words.number(told.people)} people drawn at "
                f"random from the undecided boxes {words.number(told.unlike)} are, and what is "
                "proven of these boxes is taken off",
            )
        )
    if of_people is not None:
        facts.append(Fact("As common as in the data", figures.standing_of(of_people)))
    return [
        *facts,
        Fact("State", words.state_word(run.state)),
        Fact("Boxes looked at", words.number(proven.boxes)),
        Fact("Rows sent to the model", words.number(run.queries)),
        Fact("Time", words.duration(proven.seconds)),
        Fact("Began", evidence.date_text(evidence.moment(run.started))),
    ]


def _alone(run: RunRecord, proven: Proven) -> list[Block]:
    """Tell what single protected attributes do, where several are compared."""
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
        )
    ]


def _shares(proven: Proven) -> tuple[str, str, str]:
    alike, unlike, left = figures.proven_fractions(proven)
    digits = figures.digits_of_proof(alike, unlike, left)
    return (
        figures.percent_down(alike, digits),
        figures.percent_down(unlike, digits),
        figures.percent_up(left, digits),
    )


def _pairs(spec: AuditSpec, run: RunRecord) -> list[Block]:
    """Tell which pairs of values carry what is unlike."""
    pairs = [each for each in run.figures if isinstance(each, PairShare)]
    if not pairs:
        return []
    rows = tuple(
        (
            figures.combination_text(spec, each.attributes, each.first),
            figures.combination_text(spec, each.attributes, each.second),
            figures.shown_percent(each.falsified, 2),
            figures.shown_percent(each.certified, 2),
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
        )
    ]


def _regions(spec: AuditSpec, run: RunRecord) -> list[Block]:
    """List the largest boxes that are of one kind, as rules."""
    blocks: list[Block] = []
    for verdict, what in (("unlike", "is treated unlike"), ("alike", "is treated alike")):
        found = [
            each for each in run.figures if isinstance(each, Region) and each.verdict == verdict
        ]
        if not found:
            continue
        rows = tuple(
            (
                figures.rule_text(spec, each.conditions),
                f"{int(each.people):,}",
                figures.least_percent(each.share),
                figures.shown_percent(each.population, 2),
            )
            for each in found[:_REGIONS]
        )
        blocks.append(
            Grid(
                header=("Rule", "People", "Of all", "As in the data"),
                rows=rows,
                widths=(2.6, 1.8, 0.8, 0.9),
                right=(1, 2, 3),
                caption=f"The largest boxes in which everybody {what}: proven",
            )
        )
    return blocks
