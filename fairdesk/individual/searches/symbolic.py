"""Symbolic Generation: search along the paths of local explanations.

Agarwal, Lohia, Nagar, Dey, Saha, "Automated Test Generation to Detect Individual Discrimination in
AI Models", 2018; "Black Box Fairness Testing of Machine Learning Models", ESEC/FSE 2019. The order
in which people are taken from the queue, and what is done with each, are those of the paper, one
person at a time. But the model is asked ahead about those who are likely to be next, many in one
batch. An explanation hangs on the seed and on the person only, so that this changes no finding.

The papers give the thresholds T1 and T2 of a condition's confidence. Taken as the share of the
samples on the path so far, it falls along the path: undirected search then negates the first
conditions, which lead far away, and directed search the last ones, which lead to neighbours.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.steps import clustered_seeds
from fairdesk.individual.searches.options import SymbolicOptions
from fairdesk.individual.surrogates.local_trees import LocalTrees
from fairdesk.individual.surrogates.paths import (
    Identity,
    Path,
    PathSolver,
    average_confidence,
    directed,
    identity,
    of_path,
    undirected,
)
from fairdesk.models.model import labels
from fairdesk.results.events import Event, Found, Measured, Rows, timed
from fairdesk.results.individual import SearchPhase

if TYPE_CHECKING:
    from fairdesk.individual.surrogates.lime_models import LimeTrees

#: Ranks in the queue; the least comes first. To that of a directed input the average confidence of
#: its path is added (the least confident first), from that of an undirected one it is taken.
DIRECTED, SEED, UNDIRECTED = 1.0, 5.0, 10.0
PHASES = {DIRECTED: "directed", SEED: "seeds", UNDIRECTED: "undirected"}
#: The model is asked ahead about so many who are first in the queue: seeds and directed ones, of
#: whom nearly all have their turn; and undirected ones, whom better ones may overtake for good.
AHEAD, UNDIRECTED_AHEAD = 64, 4
#: Local samples that are asked about in one go.
MOST_SAMPLES = 20_000
#: Findings are re-checked and given out once so many test cases.
CASES_PER_BATCH = 32
#: Rows of the data whose decisions say which paths there are.
MOST_ROWS = 2_000


def search(
    context: SearchContext, people: Rows, options: SymbolicOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Search for individual discriminatory instances (Algorithms 1 to 5); as `maft.search`.

    Only the model's decisions are used.

    Yields
    ------
    Event
        A `Progress` for every test case; `Found` as findings arrive, and a `Measured` with what
        each phase came to. The phase says how its people came about: ``"seeds"``, ``"directed"``
        or ``"undirected"``.
    """
    return timed(_Search(context, people, options, rng).run())


@dataclass(slots=True)
class _Case:
    """Somebody in the queue; what was not yet learned about them is ``None``.

    Attributes
    ----------
    rank : float
        Their place in the queue.
    path : Path
        What they are to do; empty for a seed.
    row : Rows
        ``(d,)``; until the path is solved whose path it was.
    combination : int, optional
        Of their protected values; ``NOBODY`` when nobody does what the path asks for.
    hit : bool, optional
        Whether they are discriminatory.
    explanation : Path, optional
        Their own path in the tree that explains them.
    """

    rank: float
    path: Path
    row: Rows
    combination: int | None = None
    hit: bool | None = None
    explanation: Path | None = None

    @property
    def kind(self) -> float:
        """The rank that all have in common who came about in the same way."""
        return SEED if not self.path else DIRECTED if self.rank < SEED else UNDIRECTED


NOBODY = -1


class _Search:
    """One search: the queue, and what was learned ahead about those who wait in it."""

    def __init__(
        self,
        context: SearchContext,
        people: Rows,
        options: SymbolicOptions,
        rng: np.random.Generator,
    ) -> None:
        self.context, self.domain, self.options = context, context.domain, options
        self.protected = frozenset(self.domain.protected.tolist())
        self.solver = PathSolver(self.domain)
        seeds = self._seeds(people, rng)
        self.trees = self._explainer()(
            context.cached_model, self.domain, people, options.num_samples, options.max_depth, rng
        )
        self.numbers = count()
        self.queue: list[tuple[float, int, _Case]] = []
        self._start_from(seeds)
        # where nothing is left to follow, the search starts from others
        self.spare = (
            self.domain.sample(rng, options.max_iter, people)
            if options.seeds == "random"
            else people[rng.permutation(len(people))]
        )
        self.met: set[bytes] = set()
        self.visited: set[Identity] = set()
        # whose paths are still to be toggled undirectedly: what comes of it is behind all others
        self.due: list[_Case] = []
        self.cases = 0
        self.coverage = _Coverage(context, people)
        self.counts = dict.fromkeys(("seeds", "directed", "undirected"), (0, 0))

    def _explainer(self) -> type[LocalTrees | LimeTrees]:
        if self.options.explanation == "own":
            return LocalTrees
        # loads scikit-learn, which the window's process does not
        from fairdesk.individual.surrogates.lime_models import LimeTrees  # noqa: PLC0415

        return LimeTrees

    def _seeds(self, people: Rows, rng: np.random.Generator) -> Rows:
        """Return with whom the search starts."""
        number = self.options.global_num
        match self.options.seeds:
            case "clustered":
                return clustered_seeds(people, self.options.cluster_num, number, rng)
            case "data":
                return people[rng.permutation(len(people))[:number]]
            case _:
                return self.domain.sample(rng, number, people)

    def _start_from(self, seeds: Rows) -> None:
        for row, combination in zip(*self.domain.admit(seeds), strict=True):
            self._put(_Case(SEED, (), row, int(combination)))

    def _begin_again(self) -> bool:
        """Queue further starting instances; tell whether there were any."""
        more = self.spare[: self.options.global_num]
        self.spare = self.spare[len(more) :]
        self._start_from(more)
        return len(more) > 0

    def run(self) -> Iterator[Event]:
        """Take the best of the queue, check it, and queue what its explanation leads to."""
        context, options, phase = self.context, self.options, PHASES[SEED]
        booked = 0
        while self.cases < options.max_iter:
            if self.due and (not self.queue or self.queue[0][2].kind == UNDIRECTED):
                self._toggle_due()
                yield context.progress(phase, self.cases, options.max_iter)
                continue
            if not self.queue:
                if not self._begin_again():
                    break
                continue
            case = heapq.heappop(self.queue)[2]
            if not self._is_new(case):
                continue
            if PHASES[case.kind] != phase or booked == CASES_PER_BATCH:
                yield from self._give_out(phase)
                phase, booked = PHASES[case.kind], 0
            self.cases += 1
            booked += 1
            self._check(case)
            yield context.progress(phase, self.cases, options.max_iter)
        yield from self._give_out(phase)
        done = max(1, self.cases)
        yield context.progress(phase, done, done)

    def _give_out(self, phase: str) -> Iterator[Found | Measured]:
        """Yield what was found since the last time, and what each phase came to."""
        if found := self.context.take(phase):
            tried, before = self.counts[phase]
            self.counts[phase] = tried, before + len(found.rows)
            yield found
        if self.cases:
            yield Measured(
                phase,
                tuple(
                    SearchPhase(name, *counts, self.coverage.first[name], self.coverage.size)
                    for name, counts in self.counts.items()
                    if counts[0]
                ),
            )

    def _is_new(self, case: _Case) -> bool:
        """Learn what there is to know of a case; tell whether it is one, and was not met before."""
        self._learn(case)
        if case.combination == NOBODY:
            # without constraints there would be somebody
            if self.domain.has_constraints:
                self.context.rejected += self.solver.is_in_range(case.path, case.row)
            return False
        if (person := self._person(case)) in self.met:
            return False
        self.met.add(person)
        return True

    def _check(self, case: _Case) -> None:
        """Check a person; around a discriminatory one search directedly."""
        context, phase = self.context, PHASES[case.kind]
        tried, met = context.tried, context.tried + context.uncompared
        hit = context.check(case.row[None], np.array([case.combination]))[0]
        if context.tried > tried:
            self.counts[phase] = self.counts[phase][0] + 1, self.counts[phase][1]
            self.coverage.reach(case.row, phase)
        if hit and self.options.directed == "yes":
            (explanation,) = self._explained([case])
            self._queue(directed(explanation, self.protected, self.options.T2), case, DIRECTED)
        # the others are too far from anybody real
        near = hit or context.tried + context.uncompared > met
        if near and self.options.undirected == "yes":
            self.due.append(case)

    def _toggle_due(self) -> None:
        """Search undirectedly from the first of those who wait for it."""
        most = max(1, MOST_SAMPLES // self.options.num_samples)
        cases, self.due = self.due[:most], self.due[most:]
        for case, explanation in zip(cases, self._explained(cases), strict=True):
            self._queue(undirected(explanation, self.protected, self.options.T1), case, UNDIRECTED)

    def _queue(self, toggled: Iterable[Path], case: _Case, kind: float) -> None:
        """Queue whoever is on paths that were never visited."""
        for path in toggled:
            if (key := identity(path)) in self.visited:
                continue
            self.visited.add(key)
            confidence = average_confidence(path)
            rank = kind + confidence if kind == DIRECTED else kind - confidence
            self._put(_Case(rank, path, case.row))

    def _put(self, case: _Case) -> None:
        heapq.heappush(self.queue, (case.rank, next(self.numbers), case))

    def _learn(self, case: _Case) -> None:
        """Solve a path, and ask about whoever is on it; likewise ahead for those who are next."""
        if case.hit is not None or case.combination == NOBODY:
            return
        last = case.kind == UNDIRECTED
        cases = [case, *self._next(UNDIRECTED_AHEAD if last else AHEAD, last=last)]
        for each in cases:
            if each.combination is None:
                solved = self.solver.nearest(each.path, each.row)
                each.row, each.combination = solved or (each.row, NOBODY)
        wanted = [
            each
            for each in cases
            if each.hit is None
            and each.combination != NOBODY
            and self._person(each) not in self.met
            and (self.context.fits is None or self.context.fits(each.row[None])[0])
        ]
        if wanted:
            rows = np.array([each.row for each in wanted])
            if last:  # their explanations are needed whoever they are: all in one batch
                self._explained(wanted, self._members(rows))
            for each, hit in zip(wanted, self.context.ask(rows).discriminatory, strict=True):
                each.hit = bool(hit)
            if self.options.directed == "yes":
                self._explained([each for each in wanted if each.hit])

    def _next(self, most: int, *, last: bool) -> list[_Case]:
        """Return those who are next after the one just taken: all undirected, or none of them."""
        most = min(most, self.options.max_iter - self.cases) - 1
        taken: list[tuple[float, int, _Case]] = []
        while self.queue and len(taken) < most and (self.queue[0][2].kind == UNDIRECTED) == last:
            taken.append(heapq.heappop(self.queue))
        for each in taken:
            heapq.heappush(self.queue, each)
        return [case for _, _, case in taken]

    def _members(self, rows: Rows) -> Rows:
        """Return everybody in people's similar sets who may be."""
        similar, compared = self.domain.members(rows)
        return similar[compared]

    def _explained(self, cases: list[_Case], beside: Rows | None = None) -> list[Path]:
        """Return the explanations of cases; those that are missing are asked for together."""
        missing = [case for case in cases if case.explanation is None]
        if missing:
            found = self.trees.paths(np.array([case.row for case in missing]), beside)
            for case, path in zip(missing, found, strict=True):
                case.explanation = of_path(path) if self.options.confidence == "path" else path
        return [case.explanation or () for case in cases]

    def _person(self, case: _Case) -> bytes:
        """Return a key of what the members of a similar set have in common."""
        return bytes((self.domain.identity(case.row[None]) + 0.0).data)  # -0.0 and 0.0 are one


class _Coverage:
    """Paths of a decision tree that is fitted to the model's decisions about rows of the data.

    Parameters
    ----------
    people : Rows
        ``(n, d)``; of at most `MOST_ROWS` of them the decisions are queried.

    Attributes
    ----------
    size : int
        How many paths it has.
    first : dict of str to int
        On how many of them an instance of each phase was the first.
    """

    def __init__(self, context: SearchContext, people: Rows) -> None:
        from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415 - slow to load

        rows, _ = context.domain.admit(people[:: -(-len(people) // MOST_ROWS)])
        self._met: set[int] = set()
        self.size, self.first = 0, dict.fromkeys(PHASES.values(), 0)
        if len(rows):
            decided = labels(context.cached_model.predict(rows))
            self._tree = DecisionTreeClassifier(random_state=0).fit(rows, decided)
            self.size = int(self._tree.get_n_leaves())

    def reach(self, row: Rows, phase: str) -> None:
        """Note that an instance, ``(d,)``, was tested."""
        if self.size:
            leaf = int(self._tree.apply(row[None])[0])
            self.first[phase] += leaf not in self._met
            self._met.add(leaf)
