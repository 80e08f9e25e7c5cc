"""THEMIS: how much the decision hangs on each set of protected attributes.

Galhotra, Brun and Meliou, "Fairness Testing: Testing Software for Discrimination", ESEC/FSE 2017.
Random people, none of them twice, are asked about until every score is known as well as was asked
for. One sample serves all sets of attributes and both scores. Each interval holds at every moment
of the sampling together, since what was counted decides when it ends; none has no width by chance.
Those of group scores hold for all sets of attributes together: the widest is what is told first.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.individual.engine.context import CombinationScores, SearchContext
from fairdesk.individual.engine.sampling import (
    Block,
    Pace,
    Subset,
    SubsetMembers,
    extra_rows,
    names_of,
    of_domain,
    subsets,
    verdicts,
)
from fairdesk.individual.engine.visited import VisitedSet
from fairdesk.individual.shares.enumeration import population
from fairdesk.individual.shares.estimate import Tally
from fairdesk.individual.shares.intervals import anytime
from fairdesk.individual.shares.options import ThemisOptions
from fairdesk.results.events import Event, Measured, Rows, timed
from fairdesk.results.groups import GroupGap
from fairdesk.results.individual import Share

#: Whether to go on is asked each time the sample has grown by so much.
_GROWTH = 1.1
#: Similar sets that are made to count how many people the constraints allow.
_MOST_COUNTED = 1_000_000
#: Of so many groups each two are compared by the same people; of more by their rates.
_MOST_PAIRED = 20
#: Once there were so many times as many draws as people, hardly anybody was never drawn.
_MOST_REPEATED = 20


class Groups:
    """The count behind one group score: who gets the favourable decision, by group.

    Parameters
    ----------
    context : SearchContext
        Knows the domain and the favourable decision.
    subset : Subset
        The protected attributes whose values make the groups.
    confidence : float
        Of the interval.
    total : int, optional
        Of how many people in all the sample is drawn.
    sets : int
        As of `greatest_gap`.
    """

    def __init__(
        self,
        context: SearchContext,
        subset: Subset,
        confidence: float,
        total: int | None,
        sets: int,
    ) -> None:
        domain = context.domain
        self._favourable = context.favourable
        self._names, self._confidence = names_of(domain, subset), confidence
        self._fellows = SubsetMembers.of(domain, subset)
        self._values = domain.combinations[self._fellows.changes][:, list(subset)]
        # where not every member of a similar set may be asked about, a person's similar set is no
        # fair sample of the other groups: everybody then counts for their own
        self._own_only = domain.has_constraints or context.fits is not None
        self._total, self._sets = None if self._own_only else total, sets
        groups = len(self._values)
        self._people = np.zeros(groups, dtype=np.int64)
        self._favourable_counts = np.zeros(groups, dtype=np.int64)
        paired = not self._own_only and groups <= _MOST_PAIRED
        self._only = np.zeros((groups, groups), dtype=np.int64) if paired else None

    def add(self, block: Block, answers: CombinationScores) -> None:
        """Count people, each as a member of every group they can be in."""
        _, combination = block
        if self._own_only:
            group, groups = self._fellows.group[combination], len(self._values)
            favourable = answers.of(combination) == self._favourable
            self._people += np.bincount(group, minlength=groups)
            self._favourable_counts += np.bincount(group[favourable], minlength=groups)
        else:
            members = self._fellows.members(combination)
            favourable = np.take_along_axis(answers.labels, members, axis=1) == self._favourable
            self._people += len(favourable)
            self._favourable_counts += favourable.sum(axis=0)
            if self._only is not None:
                self._only += (favourable.T.astype(np.float64) @ ~favourable).astype(np.int64)

    def ends(self) -> tuple[float, float]:
        """Return between what the gap is, surely enough."""
        gap = self.gap()
        return (gap.low, gap.high) if gap else (0.0, 1.0)

    def gap(self) -> GroupGap | None:
        """Return the greatest difference of two groups' rates; ``None`` before two were met."""
        gap = greatest_gap(
            self._names,
            self._values,
            self._people,
            self._favourable_counts,
            self._confidence,
            self._total,
            sets=self._sets,
            only=self._only,
        )
        if gap is None or self._own_only:
            return gap
        # each was asked about as a member of every group, and is one of the people all the same
        return msgspec.structs.replace(gap, n_samples=int(self._people[0]))


def greatest_gap(
    names: tuple[str, ...],
    values: Rows,
    people: NDArray[np.int64],
    favourable: NDArray[np.int64],
    confidence: float,
    total: int | None = None,
    *,
    sets: int = 1,
    only: NDArray[np.int64] | None = None,
) -> GroupGap | None:
    """Return the greatest difference of two groups' rates; ``None`` before two were met.

    Each group's interval is so wide that all of them hold together (Bonferroni); the gap is
    then between the least and the greatest that these allow. Where the same people were asked
    about as members of each group, two rates differ by those who get the favourable decision in
    one of them only: the intervals of these shares, of all pairs together, are far narrower.
    Groups of which nobody was met are left out, and counted.

    Parameters
    ----------
    names : tuple[str, ...]
        The attributes whose values make the groups.
    values : Rows
        ``(g, len(names))``; the codes of each group.
    people, favourable : NDArray[np.int64]
        ``(g,)``; who was asked about, and who of them gets the favourable decision.
    confidence : float
        Of the interval.
    total : int, optional
        Of how many people in all the sample is drawn, none of them twice; by default they are
        drawn independently.
    sets : int
        Of how many sets of attributes the intervals hold together.
    only : NDArray[np.int64], optional
        ``(g, g)``; of people asked about as members of every group, those who get the favourable
        decision in the first and not in the second.
    """
    met = np.flatnonzero(people)
    if len(met) < 2:
        return None
    met_people, met_favourable = people[met], favourable[met]
    rates = met_favourable / met_people
    error = (1.0 - confidence) / sets
    if only is None:
        low, high = anytime(met_favourable, met_people, 1.0 - error / len(values), total)
        ends = float(low.max() - high.min()), _farthest(low, high)
    else:
        ends = _paired_ends(only, int(people[0]), error, total)
    best, worst = int(rates.argmax()), int(rates.argmin())
    if best == worst:  # all rates are equal: any other group is as well off
        worst = (best + 1) % len(met)
    return GroupGap(
        attributes=names,
        n_samples=int(met_people.sum()),
        gap=float(rates[best] - rates[worst]),
        low=max(0.0, ends[0]),
        high=ends[1],
        confidence=confidence,
        best=tuple(values[met[best]].tolist()),
        worst=tuple(values[met[worst]].tolist()),
        best_rate=float(rates[best]),
        worst_rate=float(rates[worst]),
        sets=sets,
        unmet=len(values) - len(met),
    )


def _paired_ends(
    only: NDArray[np.int64], n_samples: int, error: float, total: int | None
) -> tuple[float, float]:
    """Return between what the greatest difference is, by who is favoured in one group only."""
    one, other = np.nonzero(~np.eye(len(only), dtype=np.bool_))
    low, high = np.zeros(only.shape), np.zeros(only.shape)
    trials = np.full(len(one), n_samples)
    low[one, other], high[one, other] = anytime(
        only[one, other], trials, 1.0 - error / len(one), total
    )
    least, most = low - high.T, high - low.T
    return float(least.max()), float(most[one, other].max())


def _farthest(low: NDArray[np.float64], high: NDArray[np.float64]) -> float:
    """Return how far two different groups' rates may be apart at most."""
    tops, bottoms = high.argsort()[-2:], low.argsort()[:2]
    return float(
        max(high[top] - low[bottom] for top in tops for bottom in bottoms if top != bottom)
    )


def search(
    context: SearchContext, people: Rows, options: ThemisOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Measure causal and group discrimination for all sets of protected attributes.

    The causal score is the share of people for whom changing these attributes, and nothing else,
    changes the decision. The group score is the greatest difference between the rates of the
    favourable decision in the groups that the attributes make.

    For both, a set scores at least as much as each of its parts: whatever changes a decision is
    also a change of more attributes, and a group's rate is a mean of its parts' rates. So the
    sets that hold another whose score is surely above the threshold are left out (the paper's
    pruning).

    Parameters as in `maft.search`; only fixed attributes are taken from the data.

    Raises
    ------
    SpecError
        When nearly nobody may be asked about.
    """
    return timed(_Search(context, people, options, rng).run())


class _Search:
    """One search: the scores that are still looked for."""

    def __init__(
        self, context: SearchContext, people: Rows, options: ThemisOptions, rng: np.random.Generator
    ) -> None:
        domain = context.domain
        self.context, self.options = context, options
        real, _ = domain.admit(people)
        self.blocks = of_domain(context, real, rng)
        total = None if context.fits is not None else population(domain, real, _MOST_COUNTED)
        self.most = min(options.most, total or options.most)
        every = subsets(domain, options.together)
        confidence = options.confidence
        self.causal = {
            subset: Tally(
                "domain",
                names_of(domain, subset),
                confidence,
                self.most,
                total=total,
                adaptive=True,
            )
            for subset in every
        }
        self.groups = {
            subset: Groups(context, subset, confidence, total, len(every)) for subset in every
        }

    def run(self) -> Iterator[Event]:
        context, most = self.context, self.most
        members = len(context.domain.combinations)
        pace = Pace(members, context=context, extra=extra_rows(len(self.causal)))
        seen = VisitedSet(np.arange(len(context.domain.attributes)))
        drawn, done, checked = 0, 0, 1
        for rows, combination in self.blocks:
            drawn += len(rows)
            new = seen.meet(seen.keys(rows))[: most - done]
            fresh, own = rows[new], combination[new]
            for part in pace.parts(len(fresh)):
                self._count((fresh[part], own[part]))
                done += len(fresh[part])
                if found := context.take("random"):
                    yield found
                if pace.due():
                    yield self._measured()
                yield context.progress("random", done, most)
            yield context.progress("random", done, most)
            over = done >= most or drawn >= _MOST_REPEATED * done
            if over or done >= checked * _GROWTH:
                checked = done
                if self._settled() or over:
                    break
        yield self._measured()
        yield context.progress("random", done, done)

    def _count(self, block: Block) -> None:
        """Check people and count them for every score that is still looked for."""
        self.context.check(*block)
        answers = self.context.ask(block[0])
        hits = verdicts(self.context, block, answers, list(self.causal))
        for place, tally in enumerate(self.causal.values()):
            tally.add(hits[:, place])
        for group in self.groups.values():
            group.add(block, answers)

    def _settled(self) -> bool:
        """Leave out what need not be looked for; tell whether the rest is known well enough."""
        ends: list[tuple[float, float]] = []
        for scores in (self.causal, self.groups):
            known = {subset: score.ends() for subset, score in scores.items()}
            high_enough = [set(s) for s, (low, _) in known.items() if low > self.options.threshold]
            for subset, each in known.items():
                if any(part < set(subset) for part in high_enough):
                    del scores[subset]
                else:
                    ends.append(each)
        return all(high - low <= 2 * self.options.margin for low, high in ends)

    def _measured(self) -> Measured:
        """Return all scores: of each set the causal one first."""
        figures: list[Share | GroupGap] = []
        for subset in sorted({*self.causal, *self.groups}, key=lambda each: (len(each), each)):
            if subset in self.causal and self.causal[subset].people:
                figures.append(self.causal[subset].share())
            if subset in self.groups and (gap := self.groups[subset].gap()):
                figures.append(gap)
        return Measured("random", tuple(figures))
