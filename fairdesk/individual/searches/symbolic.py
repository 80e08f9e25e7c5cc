"""Symbolic Generation: search along the paths of local explanations.

Agarwal, Lohia, Nagar, Dey, Saha, "Automated Test Generation to Detect Individual Discrimination in
AI Models", 2018; "Black Box Fairness Testing of Machine Learning Models", ESEC/FSE 2019. The order
in which people are taken from the queue, and what is done with each, are those of the paper, one
person at a time. But the model is asked ahead about those who are likely to be next, many in one
batch. An explanation hangs on the seed and on the person only, so that this changes no finding.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.seeds import clustered_seeds
from fairdesk.individual.searches.options import SymbolicOptions
from fairdesk.individual.surrogates.local_trees import LocalTrees
from fairdesk.individual.surrogates.paths import (
    Identity,
    Path,
    average_confidence,
    directed,
    identity,
    undirected,
)
from fairdesk.individual.surrogates.solving import Solver, nearest_in_box
from fairdesk.results.events import Event, Rows, timed

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


def search(
    context: SearchContext, people: Rows, options: SymbolicOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Search for individual discriminatory instances (Algorithms 1 to 5); as `maft.search`.

    Only the model's decisions are used.

    Yields
    ------
    Event
        A `Progress` for every test case; `Found` as findings arrive. The phase says how its
        people came about: ``"seeds"``, ``"directed"`` or ``"undirected"``.
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
        self.solver = Solver(self.domain)
        seeds = clustered_seeds(people, options.cluster_num, options.global_num, rng)
        self.trees = LocalTrees(
            context.cached_model, self.domain, people, options.num_samples, options.max_depth, rng
        )
        self.numbers = count()
        self.queue: list[tuple[float, int, _Case]] = []
        for row, combination in zip(*self.domain.admit(seeds), strict=True):
            self._put(_Case(SEED, (), row, int(combination)))
        self.met: set[bytes] = set()
        self.visited: set[Identity] = set()
        # whose paths are still to be toggled undirectedly: what comes of it is behind all others
        self.due: list[_Case] = []
        self.cases = 0

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
                break
            case = heapq.heappop(self.queue)[2]
            if not self._is_new(case):
                continue
            if PHASES[case.kind] != phase or booked == CASES_PER_BATCH:
                if found := context.take(phase):
                    yield found
                phase, booked = PHASES[case.kind], 0
            self.cases += 1
            booked += 1
            self._check(case)
            yield context.progress(phase, self.cases, options.max_iter)
        if found := context.take(phase):
            yield found
        done = max(1, self.cases)
        yield context.progress(phase, done, done)

    def _is_new(self, case: _Case) -> bool:
        """Learn what there is to know of a case; tell whether it is one, and was not met before."""
        self._learn(case)
        if case.combination == NOBODY:
            # without constraints there would be somebody
            self.context.rejected += nearest_in_box(self.domain, case.path, case.row) is not None
            return False
        if (person := self._person(case)) in self.met:
            return False
        self.met.add(person)
        return True

    def _check(self, case: _Case) -> None:
        """Check a person; around a discriminatory one search directedly."""
        met = self.context.tried + self.context.uncompared
        hit = self.context.check(case.row[None], np.array([case.combination]))[0]
        if hit:
            (explanation,) = self._explained([case])
            self._queue(directed(explanation, self.protected, self.options.T2), case, DIRECTED)
        # the others are too far from anybody real
        if hit or self.context.tried + self.context.uncompared > met:
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
                case.explanation = path
        return [case.explanation or () for case in cases]

    def _person(self, case: _Case) -> bytes:
        """Return a key of what the members of a similar set have in common."""
        return bytes((self.domain.identity(case.row[None]) + 0.0).data)  # -0.0 and 0.0 are one
