"""Aequitas: random, semi-directed and fully-directed search around uniformly drawn people.

Udeshi, Arora, Chattopadhyay, "Automated Directed Fairness Testing", ASE 2018. Algorithm numbers are
that paper's. The search is its; five things are not as it writes them:

*Lockstep.* The paper walks around one person after the other and learns from every trial. Here up
to `WALKERS` people are walked around together: one trial of each is a step, and one batch for the
model. As in the paper there is one sigma for all, learned during the whole local search; it is
renewed after every step by that step's trials, in the walkers' order, so that a trial never
knows what the others of its step found. A sigma for each walker would need no such delay, but
learns next to nothing in its thousand trials.

*Success.* The paper counts whoever is discriminated against, also when they were found before.
Then two people between whom a walker goes to and fro are rewarded for ever, until one attribute
is all that is drawn, and the search stands still. Here a trial succeeds when it finds somebody
whom the search had not met. One that leads nowhere, at the edge of a range or because of a
constraint, teaches nothing.

*Going on.* The paper never takes a step back: after some hundred trials a walker is anywhere, and
finds hardly more than a uniform draw does. Its authors' program goes back, with a chance of
1 - 1/e, from a person treated fairly to the one discriminated against before (the rule of the
optimiser that it calls); its fully directed variant with 1 - 1/e^2, and that alone is why it finds
more (`tests/benchmarks/papers/aequitas.py`). That chance is the option ``acceptance``: 1 is the
paper's text, 0.37 and 0.14 the programs, and the default, 0, never leaves those who are
discriminated against.

*Shared.* Of plausible instances there are few to walk around: their trials are shared among
several walkers each, so that a batch is not a handful of rows.

*Ends.* A walker stops after so many trials; a time limit is the run's budget.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.steps import VisitedSet, shared
from fairdesk.individual.searches.options import (
    FullyDirectedOptions,
    RandomOptions,
    SemiDirectedOptions,
)
from fairdesk.results.events import Event, Rows, timed

#: People who are walked around together, when similar sets have two members; fewer where more.
WALKERS = 2_000
#: Findings are re-checked and given out once so many steps of the local search.
STEPS_PER_BATCH = 5


class Sigma:
    """Where steps go: what the walkers learned together (sigma_pr and sigma_v).

    Parameters
    ----------
    attributes : int
        How many attributes may be changed.
    init_prob : float
        The chance of a step down, at first.
    delta_v, delta_pr : float
        By how much one trial changes a direction's and an attribute's probability.

    Attributes
    ----------
    attribute : Rows
        ``(attributes,)``; the probability of each to be changed; they make 1.
    down : Rows
        ``(attributes,)``; the probability that it is lowered then.
    learns : bool
        Whether anything ever changes.
    """

    def __init__(
        self, attributes: int, init_prob: float, delta_v: float = 0.0, delta_pr: float = 0.0
    ) -> None:
        self.attribute = np.full(attributes, 1 / attributes)
        self.down = np.full(attributes, init_prob)
        self._delta_v, self._delta_pr = delta_v, delta_pr

    @property
    def learns(self) -> bool:
        """Whether anything ever changes."""
        return self._delta_v > 0 or self._delta_pr > 0

    def draw(
        self, rng: np.random.Generator, walkers: int
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Draw for each walker an attribute, ``(n,)``, and whether it is lowered, ``(n,)``."""
        lots = rng.random((2, walkers))
        bounds = np.cumsum(self.attribute)[:-1]
        drawn = np.searchsorted(bounds, lots[0], side="right")
        return drawn, lots[1] < self.down[drawn]

    def learn(
        self, drawn: NDArray[np.intp], down: NDArray[np.bool_], success: NDArray[np.bool_]
    ) -> None:
        """Learn from one trial of each of several walkers, in their order.

        Directions by Algorithm 3: that of a success becomes likelier by delta_v, that of a
        failure less likely; kept in 0 to 1. Attributes by Algorithm 4: that of a success gains
        delta_pr, after which all are divided by their sum.
        """
        change = np.where(success == down, self._delta_v, -self._delta_v)
        self.down += np.bincount(drawn, change, len(self.down))
        self.down.clip(0.0, 1.0, out=self.down)
        if self._delta_pr > 0:
            winners = drawn[success]
            # each sum is 1 + delta_pr: what was gained earlier has been divided more often
            shares = (1 + self._delta_pr) ** -np.arange(len(winners), -1.0, -1.0)
            self.attribute *= shares[0]
            self.attribute += self._delta_pr * np.bincount(
                winners, shares[:-1], len(self.attribute)
            )
            self.attribute /= self.attribute.sum()


def random(
    context: SearchContext, people: Rows, options: RandomOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Search with steps that nothing directs (Algorithms 1 and 2); parameters as in `maft.search`.

    Only the model's answers are used. A `Progress` comes for every batch of the global phase and
    every step of the local one.
    """
    sigma = Sigma(len(context.domain.varying), options.init_prob)
    return timed(_Search(context, options, sigma, rng).run(people))


def semi_directed(
    context: SearchContext, people: Rows, options: SemiDirectedOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Search and learn which directions find somebody (Algorithm 3); the rest as in `random`."""
    sigma = Sigma(
        len(context.domain.varying), options.init_prob, options.direction_probability_change_size
    )
    return timed(_Search(context, options, sigma, rng).run(people))


def fully_directed(
    context: SearchContext, people: Rows, options: FullyDirectedOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Search and learn which attributes find somebody, too (Algorithm 4); as in `random`."""
    sigma = Sigma(
        len(context.domain.varying),
        options.init_prob,
        options.direction_probability_change_size,
        options.param_probability_change_size,
    )
    return timed(_Search(context, options, sigma, rng).run(people))


class _Search:
    """One search: what both phases share."""

    def __init__(
        self, context: SearchContext, options: RandomOptions, sigma: Sigma, rng: np.random.Generator
    ) -> None:
        self.context, self.domain, self.options, self.rng = context, context.domain, options, rng
        self.sigma = sigma
        self.step = self.domain.whole_steps(options.perturbation_unit)
        self.met = VisitedSet(self.domain.identifying)
        self.batch = max(1, 2 * WALKERS // len(self.domain.combinations))
        context.gamma = options.gamma

    def run(self, people: Rows) -> Iterator[Event]:
        starts: list[tuple[Rows, NDArray[np.intp]]] = []
        yield from self._global(people, starts)
        rows = np.concatenate([rows for rows, _ in starts])
        own = np.concatenate([combination for _, combination in starts])
        for start in range(0, len(rows), self.batch):
            part = slice(start, start + self.batch)
            yield from self._local(rows[part], own[part], start, len(rows))

    def _global(self, people: Rows, starts: list[tuple[Rows, NDArray[np.intp]]]) -> Iterator[Event]:
        """Draw people uniformly and keep those who are discriminated against (Algorithm 1)."""
        context, total = self.context, self.options.global_iteration_limit
        done = 0
        for drawn in self._first(people, total):
            rows, combination = self.domain.snap(drawn)
            found = context.check(rows, combination) & self._unmet(rows)
            starts.append((rows[found], combination[found]))
            done += len(rows)
            if events := context.take("global"):
                yield events
            yield context.progress("global", done, total)

    def _first(self, people: Rows, total: int) -> Iterator[Rows]:
        """Draw instances of the domain; of the plausible ones the data's own rows come first."""
        rows = people[:0]
        if self.domain.resembles_data:
            rows, _ = self.domain.admit(self.rng.permutation(people)[:total])
            yield from (
                rows[start : start + self.batch] for start in range(0, len(rows), self.batch)
            )
        yield from self.domain.draw(self.rng, total - len(rows), self.batch, people)

    def _local(
        self, rows: Rows, combination: NDArray[np.intp], before: int, everybody: int
    ) -> Iterator[Event]:
        """Walk around some of the people found, all of them together (Algorithm 2).

        ``before`` of ``everybody`` were walked around before them.
        """
        context, options, sigma, rng = self.context, self.options, self.sigma, self.rng
        limit = trials = options.local_iteration_limit
        done, more = before * trials, len(rows) * trials
        if self.domain.resembles_data:
            each, limit = shared(len(rows), self.batch, limit)
            rows, combination = np.repeat(rows, each, axis=0), np.repeat(combination, each)
        discriminated = np.ones(len(rows), dtype=np.bool_)
        for trial in range(limit):
            drawn, down = sigma.draw(rng, len(rows))
            moved, went = self._step(rows, drawn, down)
            hit = context.check(moved, combination)
            if sigma.learns:
                success = hit & self._unmet(moved)
                sigma.learn(drawn[went], down[went], success[went])
            back = discriminated & ~hit
            if options.acceptance > 0:
                back &= rng.random(len(rows)) >= options.acceptance
            moved[back] = rows[back]
            rows, discriminated = moved, hit | back
            last = trial + 1 == limit
            if (last or (trial + 1) % STEPS_PER_BATCH == 0) and (found := context.take("local")):
                yield found
            so_far = done + more * (trial + 1) // limit
            yield context.progress("local", so_far, everybody * trials)

    def _step(
        self, rows: Rows, drawn: NDArray[np.intp], down: NDArray[np.bool_]
    ) -> tuple[Rows, NDArray[np.bool_]]:
        """Return the walkers after a step, ``(n, d)``, and which of them moved, ``(n,)``."""
        domain, everyone = self.domain, np.arange(len(rows))
        attribute = domain.varying[drawn]
        step = self.step[attribute]
        here = rows[everyone, attribute]
        there = domain.clip(here + np.where(down, -step, step), attribute)
        moved, went = rows.copy(), there != here
        moved[everyone, attribute] = there
        if domain.has_constraints:
            barred = ~domain.allowed(domain.apply_dependencies(moved))
            self.context.rejected += int(barred.sum())
            moved[barred] = rows[barred]
            went &= ~barred
        return moved, went

    def _unmet(self, rows: Rows) -> NDArray[np.bool_]:
        """Return whom of these the search had not met, ``(n,)``; of two alike the first."""
        unmet = np.zeros(len(rows), dtype=np.bool_)
        unmet[self.met.meet(self.met.keys(self.domain.canonical(rows)))] = True
        return unmet
