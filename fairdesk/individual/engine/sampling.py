"""People drawn at random, and what the definition says of each of them.

Every draw counts, also of somebody met before; whoever counts each person once asks a
`SearchContext`. Where only people near the data may be asked about, others are drawn again and
count as rejected: what is measured is then said of those who are near.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, count

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import SpecError
from fairdesk.individual.engine.context import CombinationScores, SearchContext
from fairdesk.individual.engine.division import stream
from fairdesk.models.model import labels
from fairdesk.results.events import Rows

#: People and, for each, the index of the own protected values in ``domain.combinations``.
Block = tuple[Rows, NDArray[np.intp]]
#: Positions among the protected attributes.
Subset = tuple[int, ...]

#: People are drawn in blocks of so many, however fast the model is: same seed, same people.
BLOCK = 2_048
#: Where similar sets are small, a block has members of so many rows, or is so many times as large:
#: a model of hundreds of trees takes its time for each call, however few its rows are.
_CALL_ROWS, _MOST_TIMES = 16_384, 4
#: What each block's stream of random numbers is for.
_DOMAIN, _DATA, _PERTURBED = range(3)
#: How a decision changes: not at all, from one to another that is no better for the person, to the
#: favourable one, from the favourable one; or the data support no comparison.
UNCHANGED, CHANGED, GAIN, LOSS, UNSUPPORTED = range(5)
#: Once so many were drawn, fewer than one in so many must not be all that may be asked about.
_MOST_DRAWN, _RAREST = 200_000, 10_000


def block_size(domain: Domain) -> int:
    """Return how many people a block has that is worth a call, where similar sets are small."""
    return min(max(BLOCK, _CALL_ROWS // len(domain.combinations)), _MOST_TIMES * BLOCK)


def subsets(domain: Domain, most: int) -> list[Subset]:
    """List the sets of protected attributes with at most so many, the smaller ones first."""
    places = range(len(domain.protected))
    sizes = range(1, min(most, len(places)) + 1)
    return list(chain.from_iterable(combinations(places, size) for size in sizes))


def names_of(domain: Domain, subset: Subset) -> tuple[str, ...]:
    """Return the names of a set's attributes."""
    return tuple(domain.names[domain.protected[place]] for place in subset)


def one_per_fixed(domain: Domain, people: Rows) -> Rows:
    """Return one real person for each combination of fixed values that occurs in the data.

    These combinations, each as likely as any other, are part of what makes the domain: all of its
    people have the same chance to be drawn.

    Raises
    ------
    SpecError
        When attributes are fixed and there is no real person.
    """
    fixed = np.setdiff1d(domain.fixed, domain.following)
    if fixed.size and not len(people):
        raise SpecError(
            "No data row is in the input domain, so there are no values for the fixed attributes.",
            remedy="Widen the ranges, relax the constraints, or make the fixed "
            "attributes variable.",
        )
    _, first = np.unique(people[:, fixed], axis=0, return_index=True)
    return people[np.sort(first)]


def of_domain(
    context: SearchContext, real: Rows, rng: np.random.Generator, first: int = 0, size: int = BLOCK
) -> Iterator[Block]:
    """Draw people of the domain independently, each as likely as any other, without end.

    Each block has a stream of random numbers of its own.

    Parameters
    ----------
    context : SearchContext
        Knows the domain, and who may be asked about.
    real : Rows
        ``(n, d)``; people of the data who are in the domain: fixed values are taken from them.
    first : int
        The number of the block to begin with.
    size : int
        People of a block.

    Raises
    ------
    SpecError
        When nearly nobody may be asked about.
    """
    domain = context.domain
    once = one_per_fixed(domain, real)

    def batches(own: np.random.Generator) -> Iterator[Block]:
        return (domain.snap(rows) for rows in domain.draw(own, sys.maxsize, size, once))

    return _full_blocks(context, batches, rng, (_DOMAIN, first, size))


def drawn_blocks(
    domain: Domain, people: Rows, rng: np.random.Generator, first: int = 0
) -> Iterator[Rows]:
    """Draw blocks of `BLOCK` people of the domain without end, as `Domain.draw` does.

    Each has a stream of random numbers of its own.
    """
    for block in count(first):
        drawn = list(domain.draw(stream(rng, _DOMAIN, block), BLOCK, BLOCK, people))
        yield drawn[0] if len(drawn) == 1 else np.concatenate(drawn)


def of_data(
    context: SearchContext, real: Rows, rng: np.random.Generator, first: int = 0, size: int = BLOCK
) -> Iterator[Block]:
    """Yield the data's own people, each once, in a random order; otherwise as `of_domain`.

    The last block may have fewer.
    """
    order = stream(rng, _DATA, 0).permutation(len(real))
    for start in range(first * size, len(real), size):
        rows, combination = context.domain.snap(real[order[start : start + size]])
        fine = _fitting(context, rows)
        yield rows[fine], combination[fine]


def perturbed(
    context: SearchContext,
    real: Rows,
    moved: int,
    steps: int,
    rng: np.random.Generator,
    first: int = 0,
    size: int = BLOCK,
) -> Iterator[Block]:
    """Draw real people and move a few attributes of each; otherwise as `of_domain`.

    Each moved attribute goes by 1 to ``steps`` steps up or down, and stays within its range; one
    whose values have no order gets another of them. Whoever then breaks a constraint is drawn
    again.

    Parameters
    ----------
    moved, steps : int
        How many attributes of each, and how far at most.
    """
    domain = context.domain
    varying = domain.varying
    moved = min(moved, len(varying))
    unordered = np.array([domain.attributes[i].kind is Kind.NOMINAL for i in varying])
    values = np.where(unordered, domain.high[varying] - domain.low[varying] + 1, 2)

    def batches(own: np.random.Generator) -> Iterator[Block]:
        while True:
            rows = real[own.integers(len(real), size=size)]
            far = own.integers(1, steps + 1, (size, len(varying)))
            by = far * own.choice((-1.0, 1.0), far.shape) * domain.unit[varying]
            here = rows[:, varying]
            there = domain.clip(here + by, varying)
            span = 1 + own.integers(0, values - 1, far.shape)
            low = domain.low[varying]
            there = np.where(unordered, low + (here - low + span) % values, there)
            chosen = own.random(far.shape).argsort(axis=1) < moved
            rows[:, varying] = np.where(chosen, there, here)
            domain.apply_dependencies(rows)
            if domain.has_constraints:
                fine = domain.allowed(rows)
                context.rejected += int((~fine).sum())
                rows = rows[fine]
            yield domain.snap(rows)

    return _full_blocks(context, batches, rng, (_PERTURBED, first, size))


def _fitting(context: SearchContext, rows: Rows) -> NDArray[np.bool_]:
    """Return who may be asked about; count the others."""
    if context.fits is None or not len(rows):
        return np.ones(len(rows), dtype=np.bool_)
    fine = context.fits(rows)
    context.rejected += int((~fine).sum())
    return fine


def _full_blocks(
    context: SearchContext,
    batches: Callable[[np.random.Generator], Iterator[Block]],
    rng: np.random.Generator,
    kind_first_size: tuple[int, int, int],
) -> Iterator[Block]:
    """Fill blocks with those of batches who may be asked about, as long as somebody may."""
    (kind, first, most), before, given = kind_first_size, context.rejected, 0
    for block in count(first):
        filled, size = list[Block](), 0
        for rows, combination in batches(stream(rng, kind, block)):
            fine = _fitting(context, rows)
            filled.append((rows, combination) if fine.all() else (rows[fine], combination[fine]))
            size += int(fine.sum())
            drawn = given + size + context.rejected - before
            if drawn > _MOST_DRAWN and (given + size) * _RAREST < drawn:
                raise SpecError(
                    f"Hardly any instance is eligible for testing: {given + size:,} of {drawn:,} "
                    "drawn at random.",
                    why=(
                        "The others were farther than the maximum distance from every data row, "
                        "or violated a constraint."
                    ),
                    remedy="Increase the maximum distance, or relax the constraints.",
                )
            if size >= most:
                break
        given += size
        if len(filled) == 1:
            yield filled[0]
        else:
            people, combinations = zip(*filled, strict=True)
            yield np.concatenate(people)[:most], np.concatenate(combinations)[:most]


def changes(
    context: SearchContext,
    block: Block,
    answers: CombinationScores,
    sets: Sequence[Subset],
    domain: Domain | None = None,
) -> NDArray[np.int8]:
    """Return for which sets of protected attributes each instance's decision changes, and how.

    That is: some member of the similar set that differs from the person in these attributes only
    gets another decision, also when the two are asked anew in each other's place.

    Parameters
    ----------
    block : Block
        ``n`` people.
    answers : Answers
        What ``context.ask`` said of them.
    sets : sequence of Subset
        ``s`` sets.
    domain : Domain, optional
        Whose counterparts are compared; by default those of the context.

    Returns
    -------
    NDArray[np.int8]
        ``(n, s)``; `UNCHANGED`, `CHANGED`, `GAIN` or `LOSS`; `UNSUPPORTED` where the support of the
        domain leaves no other member.
    """
    rows, combination = block
    domain = domain or context.domain
    flips = answers.flips(combination)
    hit = np.full((len(rows), len(sets)), UNCHANGED, dtype=np.int8)
    if domain.support and answers.allowed is not None:
        for place, subset in enumerate(sets):
            members = SubsetMembers.of(domain, subset).members(combination)
            compared = np.take_along_axis(answers.allowed, members, axis=1).sum(axis=1)
            hit[compared < 2, place] = UNSUPPORTED
    some = np.flatnonzero(flips.any(axis=1))
    if not some.size:
        return hit
    own, flips, distance = combination[some], flips[some], answers.distance(combination)[some]
    partners = np.full((len(some), len(sets)), -1)
    for place, subset in enumerate(sets):
        members = SubsetMembers.of(domain, subset).members(own)
        within = np.take_along_axis(flips, members, axis=1)
        apart = np.where(within, np.take_along_axis(distance, members, axis=1), -1.0)
        farthest = members[np.arange(len(own)), apart.argmax(axis=1)]
        partners[:, place] = np.where(within.any(axis=1), farthest, -1)
    # one partner may serve several sets, and is asked about once
    person, _ = np.nonzero(partners >= 0)
    pairs, where = np.unique(
        np.column_stack([person, partners[partners >= 0]]), axis=0, return_inverse=True
    )
    person_of, partner = pairs[:, 0], pairs[:, 1]
    people = rows[some[person_of]]
    sure = confirmed(context, people, domain.counterparts(people, partner))
    hits = np.zeros(partners.shape, dtype=np.bool_)
    hits[partners >= 0] = sure[where.reshape(-1)]
    favourable = answers.labels[some] == context.favourable
    now = favourable[np.arange(len(own)), own, None]
    after = np.take_along_axis(favourable, partners, axis=1)
    changed = np.where(now == after, CHANGED, np.where(after, GAIN, LOSS))
    hit[some] = np.where(hits, changed, hit[some])
    return hit


@dataclass(frozen=True, slots=True)
class SubsetMembers:
    """The members of similar sets that differ in some of the protected attributes only.

    ``domain.combinations`` are numbered in a mixed radix, a digit per attribute; so a member's
    number is the sum of what the attributes that stay and those that change contribute.

    Attributes
    ----------
    stays : NDArray[np.intp]
        ``(C,)``; what stays of each combination's number.
    changes : NDArray[np.intp]
        ``(G,)``; what each group, a combination of the changing attributes' values, contributes.
    group : NDArray[np.intp]
        ``(C,)``; each combination's group.
    """

    stays: NDArray[np.intp]
    changes: NDArray[np.intp]
    group: NDArray[np.intp]

    @classmethod
    def of(cls, domain: Domain, subset: Subset) -> SubsetMembers:
        """Return the members for a set of attributes."""
        numbers = np.arange(len(domain.combinations))
        sizes = [len(domain.attributes[i].compared) for i in domain.protected]
        digits = np.array(np.unravel_index(numbers, sizes))
        zeroed = digits.copy()
        zeroed[list(subset)] = 0
        stays = np.ravel_multi_index(tuple(zeroed), sizes)
        changes = np.unique(numbers - stays)
        return cls(stays, changes, np.searchsorted(changes, numbers - stays))

    def members(self, combination: NDArray[np.intp]) -> NDArray[np.intp]:
        """``(n, G)``; the numbers of those who are like each person but for the group."""
        return np.asarray(self.stays[combination, None] + self.changes)


def extra_rows(sets: int = 0) -> int:
    """Return how many rows are sent for a person, at most, to ask anew about pairs.

    Those are pairs of `changes` for so many sets of attributes, and that of a finding.
    """
    return 4 * sets + 6


def confirmed(context: SearchContext, rows: Rows, partners: Rows) -> NDArray[np.bool_]:
    """``(n,)``; which pairs are decided differently when asked anew, in each other's place too.

    The last bits of an answer may depend on a row's place in its batch: see `SearchContext.take`.
    """
    model = context.cached_model
    n = len(rows)
    scores = model.predict_anew(np.concatenate([rows, partners]))
    swapped = model.predict_anew(np.concatenate([partners, rows]))
    context.requeried(scores, np.roll(swapped, n, axis=0))
    first, second = labels(scores), labels(swapped)
    differ = first[:n] != first[n:]
    return np.asarray(differ & (first[:n] == second[n:]) & (first[n:] == second[:n]))
