"""THEMIS: how much the decision hangs on each set of protected attributes.

Galhotra, Brun and Meliou, "Fairness Testing: Testing Software for Discrimination", ESEC/FSE 2017.
Random people, none of them twice, are asked about until every score is known as well as was asked
for. One sample serves all sets of attributes and both scores. Each interval holds at every moment
of the sampling together, since what was counted decides when it ends; none has no width by chance.
Those of group scores hold for all sets of attributes together: the widest is what is told first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.context import CombinationScores, SearchContext
from fairdesk.individual.engine.division import Adding, Counting, Setting, counted_here
from fairdesk.individual.engine.pace import Pace
from fairdesk.individual.engine.sampling import (
    Block,
    Subset,
    SubsetMembers,
    changes,
    extra_rows,
    names_of,
    of_domain,
    subsets,
)
from fairdesk.individual.engine.steps import VisitedSet
from fairdesk.individual.shares.enumeration import population
from fairdesk.individual.shares.options import ThemisOptions
from fairdesk.individual.shares.tally import Tally, anytime
from fairdesk.results.events import Event, Measured, Progress, Rows, ShardRange, Tallied, timed
from fairdesk.results.groups import GroupGap
from fairdesk.results.individual import Share

#: Whether to go on is asked each time the sample has grown by so much.
_GROWTH = 1.1
#: Similar sets that are made to count how many people the constraints allow.
_MOST_COUNTED = 1_000_000
_MOST_WHOLE = np.iinfo(np.int64).max
#: Of so many groups each two are compared by the same people; of more by their rates.
_MOST_PAIRED = 20
#: The kinds of scores that are looked for, the other one is of groups.
_CAUSAL = 0
#: Once there were so many times as many draws as people, hardly anybody was never drawn.
_MOST_REPEATED = 20


class Groups:
    """The count behind one group score: who gets the favourable decision, by group.

    Parameters
    ----------
    subset : Subset
        The protected attributes whose values make the groups.
    sets : int
        As of `greatest_gap`.

    Attributes
    ----------
    counts : NDArray[np.int64]
        ``(c,)``; of each group who was met, then who of them gets the favourable decision, then,
        where there are few groups, of each two who gets it in the first and not in the second.
    """

    def __init__(self, domain: Domain, subset: Subset, confidence: float, sets: int) -> None:
        self._names, self._confidence, self._sets = names_of(domain, subset), confidence, sets
        self._fellows = SubsetMembers.of(domain, subset)
        self._values = domain.combinations[self._fellows.changes][:, list(subset)]
        groups = len(self._values)
        self._paired = groups <= _MOST_PAIRED
        self.counts = np.zeros(2 * groups + self._paired * groups**2, dtype=np.int64)

    def count(
        self,
        combination: NDArray[np.intp],
        answers: CombinationScores,
        favourable: int,
        *,
        own_only: bool,
    ) -> NDArray[np.int64]:
        """Count people, each as a member of every group they can be in, or only of their own.

        Returns
        -------
        NDArray[np.int64]
            ``(c,)``; to be added to `counts`.
        """
        groups = len(self._values)
        only = np.zeros((groups, groups) if self._paired else 0, dtype=np.int64)
        if own_only:
            group = self._fellows.group[combination]
            good = answers.of(combination) == favourable
            people = np.bincount(group, minlength=groups)
            best = np.bincount(group[good], minlength=groups)
        else:
            members = self._fellows.members(combination)
            good = np.take_along_axis(answers.labels, members, axis=1) == favourable
            people, best = np.full(groups, len(good)), good.sum(axis=0)
            if self._paired:
                only = (good.T.astype(np.float64) @ ~good).astype(np.int64)
        return np.concatenate([people, best, only.ravel()])

    def gap(self, total: int | None, *, own_only: bool) -> GroupGap | None:
        """Return the greatest difference of two groups' rates; ``None`` before two were met.

        Parameters
        ----------
        total : int, optional
            Of how many people in all the sample is drawn.
        own_only : bool
            Whether everybody was counted for their own group only.
        """
        groups = len(self._values)
        people, favourable, only = np.split(self.counts, [groups, 2 * groups])
        paired = self._paired and not own_only
        gap = greatest_gap(
            self._names,
            self._values,
            people,
            favourable,
            self._confidence,
            None if own_only else total,
            sets=self._sets,
            only=only.reshape(groups, groups) if paired else None,
        )
        if gap is None or own_only:
            return gap
        # each was asked about as a member of every group, and is one of the people all the same
        return msgspec.structs.replace(gap, n_samples=int(people[0]))


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
    values : Rows
        ``(g, len(names))``; the codes of each group.
    people, favourable : NDArray[np.int64]
        ``(g,)``; who was asked about, and who of them gets the favourable decision.
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
    sample = _Sample(context, people, options, rng)
    return timed(counted_here(merging(context, options, rng), sample.count, sample.pace))


def counting(
    context: SearchContext, people: Rows, options: ThemisOptions, rng: np.random.Generator
) -> Counting:
    """Return the half that queries the model; parameters as of `search`."""
    return _Sample(context, people, options, rng).count


def merging(setting: Setting, options: ThemisOptions, _rng: np.random.Generator) -> Scores:
    """Return the half that adds up."""
    return Scores(setting.domain, options)


class Scores(Adding):
    """All scores, of which some are still looked for: a `Merging`.

    A unit is a block of people. Its stage names the sets of attributes whose causal scores are
    looked for, and those whose group scores are, by their places in `subsets`.
    """

    def __init__(self, domain: Domain, options: ThemisOptions) -> None:
        self._domain, self._options = domain, options
        self._every = subsets(domain, options.together)
        self._causal: list[Tally] = []
        self._groups = [
            Groups(domain, subset, options.confidence, len(self._every)) for subset in self._every
        ]
        self._open = [list(range(len(self._every))) for _ in range(2)]
        self._total: int | None = None
        self._own_only = self._over = False
        self._most = options.most
        self._next, self._drawn, self._done, self._looked = 0, 0, 0, 1

    @property
    def wanted(self) -> ShardRange | None:
        """The blocks after the last one, for the scores that are still looked for."""
        stage = ";".join(",".join(map(str, places)) for places in self._open)
        return None if self._over else ShardRange(self._next, sys.maxsize, stage)

    def told(self, progress: Progress) -> Progress:
        """Return a progress with how many people were asked about, of how many at most."""
        total = self._done if self._over else self._most
        return msgspec.structs.replace(progress, done=self._done, total=total)

    def add(self, tallied: Tallied) -> bool:
        """Count people for every score that is still looked for, unless that is over."""
        if self._over:
            return False
        arrays = tallied.arrays
        if not self._causal:
            self._begin(*arrays["about"].tolist())
        causal, groups = self._open
        for place, changed in zip(arrays["causal"].tolist(), arrays["changes"].T, strict=True):
            if place in causal:
                self._causal[place].add(changed)
        counts = arrays["counts"]
        for place in arrays["groups"].tolist():
            own, counts = np.split(counts, [len(self._groups[place].counts)])
            if place in groups:
                self._groups[place].counts += own
        self._done += len(arrays["changes"])
        if tallied.last:
            self._next, self._drawn = tallied.unit + 1, self._drawn + int(arrays["drawn"][0])
            over = self._done >= self._most or self._drawn >= _MOST_REPEATED * self._done
            if over or self._done >= self._looked * _GROWTH:
                self._looked = self._done
                self._over = self._settled() or over
        return True

    def _begin(self, total: int, own_only: int) -> None:
        """Learn of how many people in all the sample is drawn, -1 for no end of them."""
        self._total, self._own_only = (None if total < 0 else total), bool(own_only)
        self._most = min(self._most, self._total or self._most)
        self._causal = [
            Tally(
                "domain",
                names_of(self._domain, subset),
                self._options.confidence,
                self._most,
                total=self._total,
                adaptive=True,
            )
            for subset in self._every
        ]

    def _gap(self, place: int) -> GroupGap | None:
        return self._groups[place].gap(self._total, own_only=self._own_only)

    def _ends(self, kind: int, place: int) -> tuple[float, float]:
        """Return between what a score is, surely enough."""
        if kind == _CAUSAL:
            return self._causal[place].ends()
        gap = self._gap(place)
        return (gap.low, gap.high) if gap else (0.0, 1.0)

    def _settled(self) -> bool:
        """Leave out what need not be looked for; tell whether the rest is known well enough."""
        ends: list[tuple[float, float]] = []
        for kind, places in enumerate(self._open):
            known = {place: self._ends(kind, place) for place in places}
            high_enough = [
                set(self._every[place])
                for place, (low, _) in known.items()
                if low > self._options.threshold
            ]
            for place, each in known.items():
                if any(part < set(self._every[place]) for part in high_enough):
                    places.remove(place)
                else:
                    ends.append(each)
        return all(high - low <= 2 * self._options.margin for low, high in ends)

    def measured(self) -> Measured | None:
        """Return all scores: of each set the causal one first."""
        if not self._done:
            return None
        figures: list[Share | GroupGap] = []
        causal, groups = self._open
        for place in range(len(self._every)):
            if place in causal:
                figures.append(self._causal[place].share())
            if place in groups and (gap := self._gap(place)):
                figures.append(gap)
        return Measured("random", tuple(figures))


class _Sample:
    """Asks about random people, none of them twice: the half that queries the model."""

    def __init__(
        self, context: SearchContext, people: Rows, options: ThemisOptions, rng: np.random.Generator
    ) -> None:
        domain = context.domain
        self._context, self._rng = context, rng
        self._real, _ = domain.admit(people)
        total = None if context.fits is not None else population(domain, self._real, _MOST_COUNTED)
        # where not every member of a similar set may be asked about, a person's similar set is no
        # fair sample of the other groups: everybody then counts for their own
        self._own_only = domain.has_constraints or context.fits is not None
        # of a domain beyond whole numbers of 64 bits no share worth telling is asked about
        known = -1 if total is None or total > _MOST_WHOLE else total
        self._about = np.array([known, int(self._own_only)])
        self._most = min(options.most, total or options.most)
        self._every = subsets(domain, options.together)
        self._groups = [
            Groups(domain, each, options.confidence, len(self._every)) for each in self._every
        ]
        self.pace = Pace(
            len(domain.combinations), context=context, extra=extra_rows(len(self._every))
        )
        self._begin()

    def _begin(self) -> None:
        self._blocks = of_domain(self._context, self._real, self._rng)
        self._seen = VisitedSet(np.arange(len(self._context.domain.attributes)))
        self._unit = self._met = 0

    def count(self, wanted: ShardRange) -> Iterator[Event]:
        """Ask about the people of blocks whom no block before had: all are drawn, to know these."""
        if wanted.start < self._unit:
            self._begin()
        causal, groups = (
            [int(place) for place in places.split(",") if place]
            for places in wanted.stage.split(";")
        )
        while self._unit < wanted.stop:
            rejected = self._context.rejected
            rows, combination = next(self._blocks)
            new = self._seen.meet(self._seen.keys(rows))[: self._most - self._met]
            unit, self._unit, self._met = self._unit, self._unit + 1, self._met + len(new)
            if unit < wanted.start:
                # whoever counts that block counts these
                self._context.rejected = rejected
                continue
            drawn = {"drawn": np.array([len(rows)]), "about": self._about}
            for part, last in self.pace.of_unit(len(new)):
                block = rows[new[part]], combination[new[part]]
                counted = {**drawn, **self._counted(block, causal, groups)}
                if found := self._context.take("random"):
                    yield found
                yield Tallied("random", unit, last, counted)
                yield self._context.progress("random", 0, 0)

    def _counted(
        self, block: Block, causal: list[int], groups: list[int]
    ) -> dict[str, NDArray[np.int64] | NDArray[np.int8]]:
        """Ask about people, and count them for the scores that are looked for."""
        context, (_, combination) = self._context, block
        context.check(*block)
        answers = context.ask(block[0])
        counts = [
            self._groups[place].count(
                combination, answers, context.favourable, own_only=self._own_only
            )
            for place in groups
        ]
        return {
            "causal": np.array(causal, dtype=np.int64),
            "groups": np.array(groups, dtype=np.int64),
            "changes": changes(context, block, answers, [self._every[place] for place in causal]),
            "counts": np.concatenate([np.empty(0, dtype=np.int64), *counts]),
        }
