"""What samples say of rule sets, as an auditor reads it: the greatest differences first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairdesk.groups.statistics import ALPHA, Side, holm, interval, p_values
from fairdesk.groups.tabular.lattice import beside, leaders
from fairdesk.groups.tabular.support import Counts, Members, RuleSets
from fairdesk.results.conditions import Conditions
from fairdesk.results.subgroups import RuleSet, Support, Variant

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
