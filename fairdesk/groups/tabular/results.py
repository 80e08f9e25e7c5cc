"""What samples say of rule sets, as an auditor reads it: the greatest differences first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairdesk.groups.statistics import ALPHA, Side, holm, interval, p_values
from fairdesk.groups.tabular.rule_sets import Counts, Members, RuleSets, unpacked
from fairdesk.results.proofs import Conditions
from fairdesk.results.subgroups import RuleSet, Support, Variant

#: Two rule sets that divide people so much alike tell of the same finding.
ALIKE = 0.5
#: One is inside the other where so many of its members are.
WITHIN = 0.9
#: One that holds another, with so much of its difference at least, tells of the same finding.
NEARLY = 0.9
#: Beyond so many combinations of cells likeness is measured ...
_MOST = 5_000
#: ... on so many rows, drawn at random.
_ROWS = 5_000
#: Rule sets that are compared with the leaders at once.
_AT_ONCE = 250


def leaders(
    members: Members, chosen: RuleSets, gap: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return the earlier rule set of which each is a variant: ``(K,)``; -1 for a leader.

    Two rule sets are alike as far as they divide people alike: the Jaccard index of their members,
    or that of those who are none, whichever is less; or the same of the one's members and the
    other's non-members, for “men” tell what “women” do. From `ALIKE` on a rule set is a variant
    of the first such that stands for itself.

    So is one of people who are among those that the other sets apart (its members or its
    non-members, whoever are fewer), when they differ in the same direction: a part of them
    differs less than the whole. And one that holds all of those, where the difference is nearly as
    great.

    Parameters
    ----------
    chosen : RuleSets
        ``(K, g)``; the leading ones, the highest score first.
    gap : NDArray[np.float64]
        ``(K,)``; the rates inside less those outside.
    rng : np.random.Generator
        Draws the rows on which likeness is measured, where there are very many.
    """
    if len(members.weight) > _MOST:
        share = members.weight / members.weight.sum()
        some, times = np.unique(rng.choice(len(share), _ROWS, p=share), return_counts=True)
        members = Members(members.rules, members.cells[some], times)
    weight = members.weight.astype(np.float32)
    leader = np.full(len(chosen), -1, dtype=np.intp)
    places = np.empty(0, dtype=np.intp)
    kept = np.empty((0, len(weight)), dtype=np.float32)
    for start in range(0, len(chosen), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        these = unpacked(members.bits(chosen[part]), len(weight)).astype(np.float32)
        both = (these * weight) @ np.concatenate([kept, these]).T
        size = (these * weight).sum(axis=1)
        sizes = np.concatenate([kept @ weight, size])
        own = np.arange(start, start + len(these))
        others = np.concatenate([places, own])
        same = _similarity(both, size[:, None], sizes, weight.sum()) >= ALIKE
        same |= _nested(both, (size, sizes), (gap[own], gap[others]), weight.sum())
        standing = others < start
        for row, i in enumerate(own.tolist()):
            of = np.flatnonzero(same[row] & standing)
            if of.size:
                leader[i] = others[of[0]]
            else:
                standing[len(places) + row] = True
        new = own[leader[own] < 0]
        places = np.concatenate([places, new])
        kept = np.concatenate([kept, these[new - start]])
    return leader


def _similarity(
    both: NDArray[np.float32],
    size: NDArray[np.float32],
    sizes: NDArray[np.float32],
    everybody: np.float32,
) -> NDArray[np.float32]:
    """Return how much alike a rule set divides people as others do, each way round."""

    def jaccard(both: NDArray[np.float32], sizes: NDArray[np.float32]) -> NDArray[np.float32]:
        inside = both / np.maximum(size + sizes - both, 1e-9)
        outside = (everybody - size - sizes + both) / np.maximum(everybody - both, 1e-9)
        return np.asarray(np.minimum(inside, outside))

    return np.maximum(jaccard(both, sizes), jaccard(size - both, everybody - sizes))


def _nested(
    both: NDArray[np.float32],
    size: tuple[NDArray[np.float32], NDArray[np.float32]],
    gap: tuple[NDArray[np.float64], NDArray[np.float64]],
    everybody: np.float32,
) -> NDArray[np.bool_]:
    """Return which rule sets are a part of another's, or hold it with nearly its difference.

    Parameters
    ----------
    both : NDArray[np.float32]
        ``(k, l)``; the rows in both.
    size, gap : tuple of arrays
        ``(k,)`` and ``(l,)``; the rows in each, and the rates inside less those outside.
    everybody : float
        All rows.
    """
    mine, theirs = size[0][:, None], size[1]
    many = 2 * theirs > everybody
    few = np.where(many, everybody - theirs, theirs)
    shared = np.where(many, mine - both, both)
    ratio = gap[0][:, None] / np.where(gap[1] == 0, np.inf, np.where(many, -gap[1], gap[1]))
    nested = np.zeros(both.shape, dtype=np.bool_)
    for there, all_there, part in ((shared, mine, ratio), (few - shared, everybody - mine, -ratio)):
        nested |= (there >= WITHIN * all_there) & (part > 0)
        nested |= (there >= WITHIN * few) & (part >= NEARLY)
    return nested


def beside(
    members: Members, chosen: RuleSets, place: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the places of the rule sets one step broader than one of them, and one step narrower.

    A step leaves out a rule or puts one to it, or lets a rule hold one cell more or less.

    Parameters
    ----------
    chosen : RuleSets
        ``(R, g)``.
    """
    differs = chosen != chosen[place]
    near = np.flatnonzero(differs.sum(axis=1) == 1)
    column = differs[near].argmax(axis=1)
    broader, narrower = [], []
    for attribute in range(chosen.shape[1]):
        there = near[column == attribute]
        mine, theirs = chosen[place, attribute], chosen[there, attribute]
        if mine < 0:
            narrower.append(there)
            continue
        occupied = np.unique(members.cells[:, attribute])
        sets = members.rules[attribute].sets[:, occupied[occupied >= 0]]
        more = (sets[theirs] & ~sets[mine]).sum(axis=1)
        fewer = (~sets[theirs] & sets[mine]).sum(axis=1)
        broader.append(there[(theirs < 0) | ((more == 1) & (fewer == 0))])
        narrower.append(there[(theirs >= 0) & (more == 0) & (fewer == 1)])
    return np.concatenate(broader), np.concatenate(narrower)


#: So many rule sets are told of at most, of so many leading ones that are looked through.
MOST_TOLD, _LOOKED_AT = 1_000, 5_000
#: Of one finding so many variants are told at most, where not all rule sets can be.
MOST_VARIANTS = 50
#: So many leaders are told with what is one step broader and narrower, so many of each.
_AROUND, _BESIDE = 30, 8
#: Supports at which findings are told too.
SWEEP = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
#: What untouched rows must show of a difference, for it to hold.
_HOLDS = 0.5
#: Of fewer rows on a side it cannot be said whether they show it.
FEW = 30


def paper_confidence(z: float) -> float:
    """Return the paper's confidence in a score: the product of both intervals'."""
    # slow to import, needed where something was sampled
    from scipy.special import ndtr  # noqa: PLC0415

    return float((2 * ndtr(z) - 1) ** 2)


@dataclass(frozen=True)
class RuleResults:
    """What is known of all rule sets for one outcome.

    Attributes
    ----------
    members : Members
        Who is in which rule set.
    chosen : RuleSets
        ``(R, g)``; those of which there is a sample on either side.
    rows : Counts
        ``(R,)``; the data's rows in each.
    people : Counts
        ``(2, R)``; those of them of whom samples are made, inside and outside.
    outcome : str
        As of `fairdesk.results.subgroups.RuleSet`.
    inside, outside : Side
        ``(R,)``; the samples.
    data_in, data_out : Side
        ``(R,)``; the untouched rows; sides may be empty.
    tests : int
        How many tests there are in all: rule sets examined, times outcomes.
    spent : NDArray[np.float64]
        ``(R,)``; which share of its error each test may make now: less than all of it where
        somebody looked before, or where the rows themselves chose the rule set from others.
    least : int
        The least support, in rows.
    z : float
        The paper's, of margins.
    """

    members: Members
    chosen: RuleSets
    rows: Counts
    people: Counts
    outcome: str
    inside: Side
    outside: Side
    data_in: Side
    data_out: Side
    tests: int
    spent: NDArray[np.float64]
    least: int
    z: float

    @cached_property
    def score(self) -> NDArray[np.float64]:
        """The group fairness scores: ``(R,)``."""
        return np.abs(self.inside.mean - self.outside.mean)

    @cached_property
    def margin(self) -> NDArray[np.float64]:
        """The paper's margins: ``(R,)``."""
        return self.inside.half(self.z) + self.outside.half(self.z)

    @cached_property
    def by_rows(self) -> tuple[Side, Side]:
        """Both sides as what they tell of individuals like those in the data: ``(R,)`` each."""
        inside, outside = self.people
        return self.inside.by_rows(inside), self.outside.by_rows(outside)

    def conditions(self, place: int) -> Conditions:
        """Write a rule set in words."""
        rules = zip(self.members.rules, self.chosen[place].tolist(), strict=True)
        return tuple(each.conditions[rule] for each, rule in rules if rule >= 0)

    @cached_property
    def ranked(self) -> NDArray[np.intp]:
        """Return the places of all rule sets, the highest score first; of equals the plainer.

        Those that leave too few people outside come last: what they tell is how these few fare.
        """
        rules = (self.chosen >= 0).sum(axis=1)
        few = self.members.weight.sum() - self.rows < self.least
        return np.lexsort((-self.rows, rules, -self.score, few))

    def sweep(self, theta: float) -> tuple[Support, ...]:
        """Return what would be found with a greater support."""
        support, order = self.rows / self.members.weight.sum(), self.ranked
        found = []
        for least in (theta, *(each for each in SWEEP if each > theta)):
            there = order[support[order] >= least - 1e-12]
            if len(there):
                best = int(there[0])
                score = float(self.score[best])
                found.append(Support(least, len(there), score, self.conditions(best)))
            else:
                found.append(Support(least, 0, 0.0))
        return tuple(found)

    def rule_sets(
        self, rng: np.random.Generator, most: int = MOST_TOLD, *, last: bool
    ) -> tuple[RuleSet, ...]:
        """Return the leading rule sets, and which of them are variants of another.

        Parameters
        ----------
        rng : np.random.Generator
            For `leaders`.
        most : int
            So many are told of at most.
        last : bool
            Whether these are the last figures: else fewer are looked through, and what is around
            them is left out.
        """
        order = self.ranked[: _LOOKED_AT if last else most]
        gap = (self.inside.mean - self.outside.mean)[order]
        leader = leaders(self.members, self.chosen[order], gap, rng)
        kept = np.array(list(_reported_places(leader, most)), dtype=np.intp)
        position = np.full(len(order), -1)
        position[kept] = np.arange(len(kept))
        shown = order[kept]
        inside, outside = self.by_rows
        sides = inside.of(shown), outside.of(shown)
        ends = np.stack(interval(*sides, ALPHA * self.spent[shown] / self.tests), axis=1)
        p = holm(np.minimum(p_values(inside, outside) / self.spent, 1.0), self.tests)
        figures, around = [], 0
        for place, each, (low, high) in zip(
            kept.tolist(), shown.tolist(), ends.tolist(), strict=True
        ):
            ahead = -1 if leader[place] < 0 else int(position[leader[place]])
            broader: tuple[Variant, ...] = ()
            narrower: tuple[Variant, ...] = ()
            if last and ahead < 0 and around < _AROUND:
                around += 1
                broader, narrower = map(self._variants, beside(self.members, self.chosen, each))
            figures.append(self._rule_set(each, (low, high), p[each], ahead, broader, narrower))
        return tuple(figures)

    def _rule_set(
        self,
        place: int,
        ends: tuple[float, float],
        p: float,
        leader: int,
        broader: tuple[Variant, ...],
        narrower: tuple[Variant, ...],
    ) -> RuleSet:
        inside, outside = float(self.inside.mean[place]), float(self.outside.mean[place])
        rows = int(self.rows[place])
        there = [int(side.n[place]) for side in (self.data_in, self.data_out)]
        data_in, data_out = (
            float(side.total[place]) / n if n else None
            for side, n in zip((self.data_in, self.data_out), there, strict=True)
        )
        holds = holds_on_data(inside - outside, data_in, data_out, min(there))
        return RuleSet(
            conditions=self.conditions(place),
            outcome=self.outcome,
            score=abs(inside - outside),
            phi_in=inside,
            phi_out=outside,
            margin=float(self.margin[place]),
            confidence=paper_confidence(self.z),
            support=rows / int(self.members.weight.sum()),
            rows=rows,
            n_in=int(self.inside.n[place]),
            n_out=int(self.outside.n[place]),
            low=ends[0],
            high=ends[1],
            p=float(p),
            data_in=data_in,
            data_out=data_out,
            holds_on_data=holds,
            data_rows=min(there),
            leader=leader,
            broader=broader,
            narrower=narrower,
        )

    def _variants(self, places: NDArray[np.intp]) -> tuple[Variant, ...]:
        best = places[np.argsort(-self.score[places], kind="stable")][:_BESIDE]
        total = int(self.members.weight.sum())
        return tuple(
            Variant(
                self.conditions(place),
                float(self.score[place]),
                float(self.inside.mean[place]),
                int(self.rows[place]) / total,
            )
            for place in best.tolist()
        )


def _reported_places(leader: NDArray[np.intp], most: int) -> Iterator[int]:
    """Yield the places of which is told: leaders, and of each some of its variants."""
    if len(leader) <= most:
        yield from range(len(leader))
        return
    variants = np.zeros(len(leader), dtype=np.intp)
    count = 0
    for place, ahead in enumerate(leader.tolist()):
        if count == most:
            return
        if ahead >= 0:
            variants[ahead] += 1
            if variants[ahead] > MOST_VARIANTS:
                continue
        count += 1
        yield place


def holds_on_data(
    gap: float, data_in: float | None, data_out: float | None, fewest: float
) -> bool | None:
    """Return whether the untouched rows show a difference too; ``fewest`` are on either side."""
    if data_in is None or data_out is None or gap == 0 or fewest < FEW:
        return None
    return (data_in - data_out) / gap >= _HOLDS
