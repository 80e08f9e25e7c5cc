"""Whether what the process that holds the model says can be an answer to what it was asked.

After opening a hostile file it may say anything that is a message. What it tells of people must be
people of the domain, what it tells of figures must be figures that there can be.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeVar, assert_never

import msgspec
import numpy as np

from fairdesk.audit.plan.labels import why_wrong
from fairdesk.audit.worker.child import Received
from fairdesk.audit.worker.frames import Array
from fairdesk.certify.domain.space import Places
from fairdesk.certify.proof.reproof_check import KINDS, Reproof
from fairdesk.data.domain.domain import Domain
from fairdesk.errors import ModelError, WorkerError
from fairdesk.individual.realism.pair_plausibility import Plausibility
from fairdesk.individual.surrogates.explanation import MOST_VARIANTS, Explanation
from fairdesk.models.model import ModelCard
from fairdesk.repeatability import Repeatability
from fairdesk.results.events import Certificate, Found, Measured, Metric, Progress
from fairdesk.results.groups import GroupGap, GroupTable
from fairdesk.results.individual import (
    AuditStudy,
    ChangeSplit,
    ComparedRows,
    ExcessChange,
    GradientFidelity,
    RandomBaseline,
    SearchPhase,
    Share,
    ValueChanges,
)
from fairdesk.results.mitigation import Augmented, Repair, Retrained, Trial
from fairdesk.results.proofs import NeighbourhoodCounts, PairShare, Proven, ProvenRates, Region
from fairdesk.results.subgroups import LinearGroup, RuleSearchSummary, RuleSet, TermRate

T = TypeVar("T")

#: More of these no card may tell: what is shown is made for people.
MOST_INPUTS, MOST_CLASSES, MOST_WARNINGS = 100_000, 10_000, 200
#: Letters of a text that a guest tells.
MOST_TEXT = 4_000

#: No count has more digits.
_MOST_DIGITS = 4_000
#: By how much shares that were rounded may pass the whole.
_ROUNDED = 1e-9


def nonsense(why: str) -> WorkerError:
    """Return the error for an answer that cannot be one."""
    return WorkerError(
        "The model process returned an invalid response and was stopped.",
        why=f"Detail: {why[:200]}.",
        remedy="Results so far are kept. If it happens again, do not trust this model file.",
    )


def expect(frame: Received, kind: type[T] | tuple[type[T], ...]) -> T:
    """Return a frame's message if it is of this kind, or one of these.

    Raises
    ------
    WorkerError
        When it is another; like all that follow.
    """
    if not isinstance(frame.message, kind):
        raise nonsense(f"{type(frame.message).__name__} is not a valid response")
    return frame.message


def check_shape(array: Array, shape: tuple[int | None, ...]) -> None:
    """Refuse an array of another shape; ``None`` is any length."""
    if array.ndim != len(shape) or any(
        want not in (None, got) for want, got in zip(shape, array.shape, strict=True)
    ):
        raise nonsense("its arrays have shapes that do not fit the request")


def check_event(
    event: Found | Progress | Measured | Certificate, domain: Domain, width: int | None
) -> None:
    """Refuse findings that are no pairs of people with ``width`` scores, and impossible figures."""
    if isinstance(event, Found):
        check_pairs(event, domain, width)
    elif isinstance(event, Measured) and not (
        all(map(_sound, event.figures)) and _tried_what_it_chose(event.figures)
    ):
        raise nonsense("it returned an impossible measurement")


def check_pairs(found: Found, domain: Domain, width: int | None) -> None:
    """Refuse findings that are no pairs of people of the domain with ``width`` scores."""
    n, d = len(found.rows), len(domain.attributes)
    for array, length in (
        (found.rows, d),
        (found.partners, d),
        (found.row_scores, width),
        (found.partner_scores, width),
        (found.sufficient_alone, len(domain.protected)),
    ):
        check_shape(array, (n, length))
    rows, partners = found.rows, found.partners
    others, protected = domain.others, domain.protected
    if not (
        domain.contains(rows).all()
        and domain.contains(partners).all()
        and (rows[:, others] == partners[:, others]).all()
        and (rows[:, protected] != partners[:, protected]).any(axis=1).all()
        and np.isfinite(found.row_scores).all()
        and np.isfinite(found.partner_scores).all()
    ):
        raise nonsense("it returned instances that were not requested")


def check_plausibility(weighed: Plausibility, rows: int, partners: int, n_samples: int) -> None:
    """Refuse distances of so many instances to so many people, and shares, that cannot be."""
    distances = weighed.distance, weighed.partner_distance
    shares = weighed.typicality, weighed.partner_typicality
    nearest, reference = weighed.nearest, weighed.reference
    for each in (weighed.distance, weighed.typicality, nearest, weighed.plausible):
        check_shape(each, (rows,))
    for each in (weighed.partner_distance, weighed.partner_typicality):
        check_shape(each, (partners,))
    # without a tree nothing is told of how usual anything is
    told = [] if all(np.isnan(each).all() for each in shares) else list(shares)
    if reference is not None:
        told.append(np.array([reference.held_out, reference.uniform or 0.0]))
    within = all(((each >= 0) & (each <= 1)).all() for each in (*distances, *told))
    if not within or not ((nearest >= 0) & (nearest < n_samples)).all():
        raise nonsense("it returned an impossible distance")


def check_reproof(reproof: Reproof, low: Places, high: Places) -> None:
    """Refuse what cannot be proven of these boxes."""
    for each in (reproof.consistent, reproof.discriminatory, reproof.contradicted):
        check_shape(each, (len(low),))
    inside = _inside(reproof.places, low, high)
    shares = np.stack([reproof.consistent, reproof.discriminatory])
    fits = ((shares >= 0.0) & (shares <= 1.0)).all() and np.isin(reproof.contradicted, KINDS).all()
    if not (inside and fits):
        raise nonsense("it returned an impossible proof")


def _inside(places: Places, low: Places, high: Places) -> bool:
    """Return whether there is a place for each box, inside it."""
    check_shape(places, low.shape)
    return bool(((places >= low) & (places <= high)).all())


def check_added_rows(added: Augmented, domain: Domain, classes: int, known: int) -> None:
    """Refuse rows to add that cannot be, for a model of so many classes and ``known`` rows."""
    m = len(added.rows)
    check_shape(added.rows, (m, len(domain.attributes)))
    for numbers in (added.labels, added.pairs, added.seeds):
        check_shape(numbers, (m,))
    if wrong := why_wrong(added, domain, classes, known):
        raise nonsense(wrong)


def checked_file(file: Retrained) -> Retrained:
    """Return a file of a retrained model, what is said of it cut to a length that can be read."""
    check_shape(file.content, (None,))
    if file.trial < 0:
        raise nonsense("it returned an invalid file")
    return msgspec.structs.replace(file, note=file.note[:MOST_TEXT])


#: Numbers of which none is smaller than the one before it, in a figure that can be one.
_Rising = tuple[float, ...]


def _sound(figure: Metric) -> bool:
    """Return whether a figure can be one: shares from 0 to 1, parts within their wholes."""
    rising: Iterator[_Rising]
    match figure:
        case Proven() | Region() | PairShare() | ProvenRates() | NeighbourhoodCounts():
            rising = _of_proofs(figure)
        case RuleSearchSummary() | RuleSet() | TermRate() | LinearGroup() | GroupTable():
            rising = _of_groups(figure)
        case Repair() | Trial():
            rising = _of_repairs(figure)
        case ComparedRows() | ChangeSplit() | AuditStudy() | ValueChanges():
            rising = _of_rows(figure)
        case _:
            rising = _of_individuals(figure)
    return all(one <= other for numbers in rising for one, other in pairwise(numbers))


def _of_rows(figure: ComparedRows | ChangeSplit | AuditStudy | ValueChanges) -> Iterator[_Rising]:
    match figure:
        case ChangeSplit():
            parts = (*figure.alone, figure.several, figure.together)
            yield from ((0, part) for part in parts)
            yield from (
                _equal(sum(parts), figure.hits),
                _equal(len(figure.alone), len(figure.attributes)),
            )
        case ValueChanges():
            yield len(figure.values), figure.n_pairs
            yield from ((0, each.gains, each.changed, each.compared) for each in figure.values)
        case ComparedRows():
            changed = figure.gains + figure.losses
            yield 0, figure.gains, changed, figure.hits, figure.compared, figure.n_rows
        case AuditStudy():
            yield 0, figure.actual, figure.n_rows, figure.total
            for each in figure.values:
                yield 0, each.gains, each.favourable, figure.n_rows
                yield from ((0, each.losses), (-1, each.low, each.high, 1))
            # what is left of each rate without its difference is the rate of the reference value
            yield len({each.favourable - each.gains + each.losses for each in figure.values}), 1


_Individual = (
    Share
    | Repeatability
    | ExcessChange
    | GroupGap
    | RandomBaseline
    | SearchPhase
    | GradientFidelity
)


def _of_individuals(figure: _Individual) -> Iterator[_Rising]:
    match figure:
        case Share():
            yield 0, figure.low, figure.estimate, figure.high, 1
            yield 0, figure.anytime_low, figure.estimate, figure.anytime_high, 1
            yield from ((0, share, 1) for share in figure.trials)
            yield from ((0, low, estimate, high, 1) for _, estimate, low, high in figure.course)
            for _, *counted in figure.by_value:
                yield from ((0, count, max(figure.hits, 1)) for count in counted)
            gains, losses = figure.gains or 0, figure.losses or 0
            drawn = figure.n_samples + figure.unsupported
            yield 0, gains, gains + losses, figure.hits, figure.n_samples, drawn
        case Repeatability():
            yield 0, figure.largest, 2
            yield 0, figure.decisions, figure.changed, figure.rows
        case ExcessChange():
            yield 0, figure.low, figure.high, 1
            yield from ((0, figure.between, 1), (0, figure.again, 1), (0, figure.n_samples))
            yield figure.excess, figure.high
        case GroupGap():
            yield 0, figure.low, figure.gap, figure.high, 1
            yield from ((0, figure.best_rate, 1), (0, figure.worst_rate, 1), (0, figure.n_samples))
        case RandomBaseline():
            yield 0, figure.low, figure.found / max(figure.n_samples, 1), figure.high, 1
            yield from ((0, figure.found, figure.n_samples), (1, figure.queries, figure.before))
        case GradientFidelity():
            yield 0, figure.found, figure.tried
        case SearchPhase():
            yield from ((0, figure.found, figure.tried), (0, figure.paths, figure.all_paths))
        case _:
            assert_never(figure)


def _of_proofs(
    figure: Proven | Region | PairShare | ProvenRates | NeighbourhoodCounts,
) -> Iterator[_Rising]:
    match figure:
        case Proven():
            yield from _parts(figure.certified, figure.falsified, figure.undecided)
            for _, certified, falsified in figure.course:
                yield from _parts(certified, falsified)
            if (guess := figure.estimated) is not None:
                yield from ((0, share, 1) for share in (guess.low, guess.estimate, guess.high))
            yield from map(
                _counted, (figure.total, figure.certified_people, figure.falsified_people)
            )
        case Region():
            yield from (*_parts(figure.share), *_parts(figure.population), _counted(figure.people))
        case PairShare():
            yield from _parts(figure.certified, figure.falsified)
        case ProvenRates():
            for each in figure.groups:
                yield from (*_parts(each.low, 1.0 - each.high), *_parts(each.share))
            yield from _parts(figure.ratio_low, 1.0 - figure.ratio_high)
        case NeighbourhoodCounts():
            counts = figure.certified, figure.falsified, figure.undecided
            yield from ((0, count) for count in (*counts, figure.unsupported))
            yield from (_equal(sum(counts), figure.rows), (0, figure.flipped, figure.falsified))
            yield from _parts(figure.reach)


def _of_groups(
    figure: RuleSearchSummary | RuleSet | TermRate | LinearGroup | GroupTable,
) -> Iterator[_Rising]:
    match figure:
        case RuleSearchSummary():
            yield 0, figure.theta, 1
            yield from ((0, each.theta, 1) for each in figure.sweep)
            yield from ((0, figure.rule_sets, figure.candidates), (0, figure.samples))
        case RuleSet():
            # a mean score may be any number
            rates = (figure.score, figure.phi_in, figure.phi_out) if figure.outcome else ()
            for share in (figure.support, figure.confidence, figure.p, *rates):
                yield 0, share, 1
            yield from ((0, count) for count in (figure.rows, figure.n_in, figure.n_out))
            yield -1, figure.leader
        case TermRate():
            yield from ((0, figure.rate, 1), (0, figure.flips, figure.tried), (0, figure.texts))
        case LinearGroup():
            for share in (figure.support, figure.phi_in, figure.phi_out, figure.score):
                yield 0, share, 1
            yield from ((0, figure.n_samples), _equal(len(figure.features), len(figure.weights)))
        case GroupTable():
            for line in figure.lines:
                yield from ((0, share, 1) for share in (line.share, line.low, line.high))
                yield 0, line.favourable, line.n_samples
            yield 0, figure.favourable, figure.n_samples
            yield -1, figure.reference, len(figure.lines) - 1


#: What may be below zero or above one.
_UNBOUNDED = ("impact_ratio", "rule_score")


def _of_repairs(figure: Repair | Trial) -> Iterator[_Rising]:
    if isinstance(figure, Repair):
        counts = (figure.pairs, figure.rows, figure.train, figure.validation, figure.test)
        yield from ((0, count) for count in (*counts, figure.allowance))
        yield -1, figure.chosen
        return
    bounded = [each for each in figure.measures if each.what not in _UNBOUNDED]
    shares = [share for each in bounded for share in (each.low, each.estimate, each.high)]
    shares += [each.p for each in figure.changes]
    yield from ((0, share, 1) for share in shares if share is not None)
    # a resampled interval need not hold its estimate
    ends = [(each.low, each.high) for each in figure.measures]
    ends += [(each.low, each.high) for each in figure.changes]
    yield from (tuple(end for end in each if end is not None) for each in ends)
    counted = (figure.number, figure.added, figure.percent, figure.seconds)
    yield from ((0, count) for count in (*counted, *(each.n_samples for each in figure.measures)))


def _equal(one: float, other: float) -> _Rising:
    return one, other, one


def _parts(*shares: float) -> Iterator[_Rising]:
    """Yield that shares are parts of a whole."""
    yield from ((0, share) for share in shares)
    yield sum(shares), 1 + _ROUNDED


def _counted(digits: str) -> _Rising:
    """Return that a text is a count, or empty."""
    decimal = digits.isascii() and digits.isdecimal() and len(digits) < _MOST_DIGITS
    return 1, not digits or decimal


def _tried_what_it_chose(figures: Sequence[Metric]) -> bool:
    """Return whether what a repair chose and compared with is among its trials, each told once."""
    trials = [each for each in figures if isinstance(each, Trial)]
    numbers = {each.number for each in trials}
    chosen = {each.chosen for each in figures if isinstance(each, Repair)} - {-1}
    against = {change.against for each in trials for change in each.changes}
    return len(numbers) == len(trials) and chosen | against <= numbers


def check_explanation(explanation: Explanation, domain: Domain, width: int | None) -> None:
    """Refuse an explanation with other attributes or decisions than there are."""
    sides = (explanation.row, explanation.partner)
    compared = [domain.attributes[i].compared for i in domain.protected]
    if not (
        all(len(side.weights) == len(domain.attributes) for side in sides)
        and all(map(math.isfinite, (*sides[0].weights, *sides[1].weights)))
        and all(math.isfinite(side.fit) and side.fit <= 1 for side in sides)
        and len(explanation.variants) <= 2 * MOST_VARIANTS
        and all(
            len(each.values) == len(compared)
            and all(value in codes for value, codes in zip(each.values, compared, strict=True))
            and math.isfinite(each.score)
            and 0 <= each.decided < max(2, width or 0)
            for each in explanation.variants
        )
    ):
        raise nonsense("its explanation has attributes or decisions that do not exist")


def check_card(card: ModelCard) -> None:
    """Refuse a card that cannot be shown and kept.

    Raises
    ------
    ModelError
        When it is beyond all measure: it was most likely made to be so.
    """
    texts = (
        *(card.format, card.summary, card.scores, card.saved_with, card.output, card.environment),
        *(*card.inputs, *card.classes, *card.warnings, *card.accepts, *card.outputs),
        *(*card.hints.features, *card.hints.classes, *card.hints.notes, card.hints.target),
    )
    counts = {
        "inputs": (len(card.inputs), MOST_INPUTS),
        "classes": (len(card.classes), MOST_CLASSES),
        "outputs": (len(card.outputs), MOST_CLASSES),
        "warnings": (len(card.warnings), MOST_WARNINGS),
        "characters in a name": (max(map(len, texts)), MOST_TEXT),
    }
    for what, (count, most) in counts.items():
        if count > most:
            raise ModelError(
                f"The model file states {count:,} {what}.",
                why=f"FairDesk shows at most {most:,}; no real model is known that has more.",
                remedy="Ask the author of the model what it contains.",
            )
