"""The search that MAFT, EIDIG and ADF share: two phases of walks that gradients guide.

The three papers' algorithms are the same but for where a gradient comes from, whether it has
momentum, and how often it is renewed. Zhang et al., "White-box Fairness Testing through
Adversarial Sampling", ICSE 2020 (ADF, Algorithms 1 to 3); Zhang, Zhang, Zhang, "Efficient
White-box Fairness Testing through Gradient Search", ISSTA 2021 (EIDIG, Algorithms 1 to 3); Wang et
al., "MAFT", ICSE 2024 (Algorithms 2 to 4). All seeds advance in lockstep: a step of the search is
one batch for the model, never one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.steps import Steps, shared, starting_rows
from fairdesk.individual.searches.options import WalkOptions
from fairdesk.results.events import Event, Rows

#: Keeps attribute probabilities finite where a gradient is zero (the papers' epsilon).
EPSILON = 1e-6
#: Findings are re-checked and given out once so many steps of the local search.
STEPS_PER_BATCH = 5

#: With few starting instances several walkers start from each, at most this many in all.
WALKERS = 2_000

#: Returns for ``(n, d)`` rows the change of the score to be lowered per step of each varying
#: attribute: ``(n, v)``.
Slopes = Callable[[Rows], Rows]


class GradientWalks:
    """One search.

    Parameters
    ----------
    context : SearchContext
        The model under audit and who may be asked about.
    slopes : Slopes
        The gradient; both phases go where it becomes less.
    decay : float
        The momentum of the global phase; 0 for none.
    update_interval : int
        After how many successful local steps gradients are renewed; 0: at every step.
    """

    def __init__(
        self,
        context: SearchContext,
        options: WalkOptions,
        rng: np.random.Generator,
        slopes: Slopes,
        *,
        decay: float = 0.0,
        update_interval: int = 0,
    ) -> None:
        self._context, self._domain, self._options, self._rng = (
            context,
            context.domain,
            options,
            rng,
        )
        self._slopes, self._decay, self._update_interval = slopes, decay, update_interval
        self._global_steps = Steps(context.domain, options.global_step)
        self._local_steps = Steps(context.domain, options.local_step)

    def run(self, people: Rows) -> Iterator[Event]:
        """Search from these ``(n, d)`` people, ``n >= 1``."""
        options = self._options
        rows, combination = starting_rows(
            self._domain, people, options.cluster_num, options.global_num, self._rng
        )
        instances: list[tuple[Rows, NDArray[np.intp]]] = []
        yield from self._global_phase(rows, combination, instances)
        starts = np.concatenate([rows for rows, _ in instances])
        own = np.concatenate([combination for _, combination in instances])
        if len(starts):
            yield from self._local_phase(starts, own)

    def _global_phase(
        self,
        rows: Rows,
        combination: NDArray[np.intp],
        instances: list[tuple[Rows, NDArray[np.intp]]],
    ) -> Iterator[Event]:
        """Walk the seeds towards the decision boundary (global generation)."""
        context, max_iter = self._context, self._options.max_iter
        momentum = np.zeros((2, len(rows), len(self._domain.varying)))
        for iteration in range(max_iter + 1):
            hit = context.check(rows, combination)
            instances.append((rows[hit], combination[hit]))
            rows, combination, momentum = rows[~hit], combination[~hit], momentum[:, ~hit]
            if found := context.take("global"):
                yield found
            yield context.progress("global", iteration + 1, max_iter + 1)
            if iteration == max_iter or not len(rows):
                return
            farthest = context.ask(rows).distance(combination).argmax(axis=1)
            momentum = self._decay * momentum + self._of_both(rows, farthest)
            signs = np.sign(momentum)
            direction = np.where(signs[0] == signs[1], -signs[0], 0.0)
            rows = self._as_far_as_allowed(rows, self._global_steps.all(rows, direction))

    def _local_phase(self, starts: Rows, combination: NDArray[np.intp]) -> Iterator[Event]:
        """Walk around each global instance while the decision depends on the protected attributes.

        Plausible starting instances are few: the steps around each are shared by several walkers.
        """
        # compiled code is loaded where a search runs, never in the window's process
        from fairdesk.individual.engine import kernels  # noqa: PLC0415

        context, rng, local_num = self._context, self._rng, self._options.local_num
        first_odds = self._odds(starts, combination)
        if self._domain.resembles_data:
            each, local_num = shared(len(starts), WALKERS, local_num)
            starts, first_odds = (
                np.repeat(starts, each, axis=0),
                np.repeat(first_odds, each, axis=0),
            )
            combination = np.repeat(combination, each)
        rows, odds = starts.copy(), first_odds.copy()
        successes = np.zeros(len(starts), dtype=np.int64)
        for iteration in range(local_num):
            due = np.flatnonzero(successes >= self._update_interval)
            if due.size and (iteration or self._update_interval):
                odds[due] = self._odds(rows[due], combination[due])
                successes[due] = 0
            moved = self._local_steps.one(rows, odds, rng.random((len(rows), 2)))
            went = self._went(rows, moved)
            rows = moved
            hit = context.check(rows, combination)
            successes += went
            kernels.go_back(hit, rows, starts, odds, first_odds, successes)
            last = iteration + 1 == local_num
            if (last or (iteration + 1) % STEPS_PER_BATCH == 0) and (
                found := context.take("local")
            ):
                yield found
            yield context.progress("local", iteration + 1, local_num)

    def _odds(self, rows: Rows, combination: NDArray[np.intp]) -> Rows:
        """Return cumulated probabilities of moving each varying attribute, ``(n, v)``.

        An attribute along which neither the person's score changes much nor that of a random
        flipping member of the similar set is moved most often: p_i ~ 1 / (abs(g1_i) + abs(g2_i)
        + eps). One that constraints hold in place is moved only where they hold all others too.
        """
        if len(self._domain.combinations) == 2:
            partner = 1 - combination
        else:
            flips = self._context.ask(rows).flips(combination)
            partner = np.where(flips, self._rng.random(flips.shape), -1.0).argmax(axis=1)
        weights = 1.0 / (np.abs(self._of_both(rows, partner)).sum(axis=0) + EPSILON)
        if self._domain.has_constraints:
            held = ~self._local_steps.possible(rows)
            weights[held & ~held.all(axis=1, keepdims=True)] = 0.0
        odds = np.cumsum(weights, axis=1)
        return np.ascontiguousarray(odds / odds[:, -1:])

    def _of_both(self, rows: Rows, partner: NDArray[np.intp]) -> Rows:
        """Return the slopes at rows and at members of their similar sets, ``(2, n, v)``."""
        both = np.concatenate([rows, self._domain.counterparts(rows, partner)])
        return self._slopes(both).reshape(2, len(rows), -1)

    def _went(self, rows: Rows, moved: Rows) -> NDArray[np.bool_]:
        """Undo forbidden moves in ``moved``; return which rows moved."""
        if not self._domain.has_constraints:
            return np.ones(len(moved), dtype=np.bool_)
        went = self._local_steps.mend(rows, moved, self._rng)
        moved[~went] = rows[~went]
        self._context.rejected += int((~went).sum())
        return went

    def _as_far_as_allowed(self, rows: Rows, moved: Rows) -> Rows:
        """Move rows that may not move along all attributes at once along one after the other.

        In a random order; a step that would break a constraint is left out.
        """
        if not self._domain.has_constraints:
            return moved
        barred = np.flatnonzero(~self._allowed(moved))
        if not barred.size:
            return moved
        self._context.rejected += barred.size
        wanted = moved[barred]
        moved[barred] = rows[barred]
        for attribute in self._rng.permutation(self._domain.varying):
            further = moved[barred]
            further[:, attribute] = wanted[:, attribute]
            went = self._allowed(further)
            moved[barred[went]] = further[went]
        return moved

    def _allowed(self, moved: Rows) -> NDArray[np.bool_]:
        """Apply dependencies in place; return which rows keep all constraints."""
        return self._domain.allowed(self._domain.apply_dependencies(moved))
