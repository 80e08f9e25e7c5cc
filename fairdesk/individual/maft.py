"""MAFT: black-box search for individual discriminatory instances by zero-order gradients.

Wang et al., "MAFT: Efficient Model-Agnostic Fairness Testing for Deep Neural Networks via
Zero-Order Gradient Search", ICSE 2024. Algorithm numbers are that paper's. All seeds advance in
lockstep: a step of the search is one batch for the model, never one row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain import Domain
from fairdesk.events import Event, Rows, timed
from fairdesk.individual.seeds import clustered_seeds
from fairdesk.individual.similar import Ledger, in_parts
from fairdesk.models.model import labels

#: Keeps attribute probabilities finite where a gradient is nought (the paper's epsilon).
EPSILON = 1e-6
#: Findings are re-checked and given out once so many steps of the local search.
STEPS_PER_BATCH = 5


class MaftOptions(msgspec.Struct, frozen=True):
    """The parameters of MAFT, named as in its paper."""

    global_num: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=1_000_000,
            title="Seeds",
            description="How many real people the search starts from.",
        ),
    ] = 1_000
    local_num: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=1_000_000,
            title="Local steps",
            description="How many steps are tried around each discriminatory person found.",
        ),
    ] = 1_000
    cluster_num: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=1_000,
            title="Clusters",
            description="Into how many groups of alike people the data are divided, "
            "so that seeds come from all of them in turn.",
        ),
    ] = 4
    max_iter: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=10_000,
            title="Global steps",
            description="How many steps a seed may take towards the decision boundary.",
        ),
    ] = 10
    decay: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            lt=1,
            title="Momentum",
            description="How much of the last step's direction is kept; 0 forgets it.",
        ),
    ] = 0.5
    update_interval: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=1_000_000,
            title="Gradient renewal",
            description="After how many successful local steps the gradients are asked anew.",
        ),
    ] = 5
    global_step: Annotated[
        float,
        msgspec.Meta(
            gt=0,
            le=1_000,
            title="Global step size",
            description="In codes; for wide ranges in hundredths of the range.",
        ),
    ] = 1.0
    local_step: Annotated[
        float,
        msgspec.Meta(
            gt=0,
            le=1_000,
            title="Local step size",
            description="In codes; for wide ranges in hundredths of the range.",
        ),
    ] = 1.0
    perturbation_size: Annotated[
        float,
        msgspec.Meta(
            gt=0,
            le=1_000,
            title="Perturbation size",
            description="How far an attribute is moved to estimate the gradient; "
            "in codes, for wide ranges in hundredths of the range.",
        ),
    ] = 1.0


def search(
    ledger: Ledger, people: Rows, options: MaftOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Search for individual discriminatory instances (MAFT, Algorithm 2).

    Parameters
    ----------
    ledger : Ledger
        The model under audit, of which only the answers are used, and who may be asked about.
    people : Rows
        ``(n, d)``, ``n >= 1``; the data's rows in the domain's codes, seeds are drawn from them.
    options : MaftOptions
        The paper's parameters.
    rng : np.random.Generator
        All randomness; the same generator gives the same events.

    Yields
    ------
    Event
        A `Progress` for every step of either phase; `Found` as findings arrive.
    """
    return timed(_Search(ledger, options, rng).run(people))


class _Search:
    """One search: what both phases share."""

    def __init__(self, ledger: Ledger, options: MaftOptions, rng: np.random.Generator) -> None:
        self.ledger, self.domain, self.options, self.rng = ledger, ledger.domain, options, rng

    def run(self, people: Rows) -> Iterator[Event]:
        options = self.options
        seeds = clustered_seeds(people, options.cluster_num, options.global_num, self.rng)
        rows, combination = self.domain.admit(seeds)
        instances: list[tuple[Rows, NDArray[np.intp]]] = []
        yield from self._global(rows, combination, instances)
        starts = np.concatenate([rows for rows, _ in instances])
        own = np.concatenate([combination for _, combination in instances])
        if len(starts):
            yield from self._local(starts, own)

    def _global(
        self,
        rows: Rows,
        combination: NDArray[np.intp],
        instances: list[tuple[Rows, NDArray[np.intp]]],
    ) -> Iterator[Event]:
        """Walk the seeds towards the decision boundary (Algorithm 3)."""
        domain, options, ledger = self.domain, self.options, self.ledger
        vary = domain.varying
        step = _whole_steps(domain, options.global_step)[vary]
        momentum = np.zeros((2, len(rows), len(vary)))
        for iteration in range(options.max_iter + 1):
            hit = ledger.check(rows, combination)
            instances.append((rows[hit], combination[hit]))
            rows, combination, momentum = rows[~hit], combination[~hit], momentum[:, ~hit]
            if found := ledger.take("global"):
                yield found
            yield ledger.progress("global", iteration + 1, options.max_iter + 1)
            if iteration == options.max_iter or not len(rows):
                return
            farthest = ledger.ask(rows).distance(combination).argmax(axis=1)
            gradients = self._gradients(rows, domain.counterparts(rows, farthest))
            momentum = options.decay * momentum + np.nan_to_num(gradients)
            signs = np.sign(momentum)
            direction = np.where(signs[0] == signs[1], signs[0], 0.0)
            moved = rows.copy()
            moved[:, vary] = domain.clip(rows[:, vary] - direction * step, vary)
            rows = self._as_far_as_allowed(rows, moved)

    def _local(self, starts: Rows, combination: NDArray[np.intp]) -> Iterator[Event]:
        """Walk around each global instance while the decision keeps hanging on P (Algorithm 4)."""
        domain, options, ledger, rng = self.domain, self.options, self.ledger, self.rng
        step = _whole_steps(domain, options.local_step)
        everyone = np.arange(len(starts))
        rows = starts.copy()
        first_odds = self._odds(starts, combination)
        odds = first_odds.copy()
        successes = np.zeros(len(starts), dtype=np.intp)
        for iteration in range(options.local_num):
            due = np.flatnonzero(successes >= options.update_interval)
            if due.size:
                odds[due] = self._odds(rows[due], combination[due])
                successes[due] = 0
            drawn = (odds < rng.random((len(rows), 1))).sum(axis=1)
            attribute = domain.varying[drawn]
            sign = rng.integers(0, 2, len(rows)) * 2 - 1
            moved = rows.copy()
            moved[everyone, attribute] = domain.clip(
                rows[everyone, attribute] + sign * step[attribute], attribute
            )
            went = self._allowed(moved)
            if not went.all():
                moved[~went] = rows[~went]
            rows = moved
            hit = ledger.check(rows, combination)
            successes += went
            rows[~hit], odds[~hit], successes[~hit] = starts[~hit], first_odds[~hit], 0
            last = iteration + 1 == options.local_num
            if (last or (iteration + 1) % STEPS_PER_BATCH == 0) and (found := ledger.take("local")):
                yield found
            yield ledger.progress("local", iteration + 1, options.local_num)

    def _allowed(self, moved: Rows) -> NDArray[np.bool_]:
        """Let what is determined follow, in place; tell who breaks no constraint then."""
        if not self.domain.ruled:
            return np.ones(len(moved), dtype=np.bool_)
        return self.domain.allowed(self.domain.settle(moved))

    def _as_far_as_allowed(self, rows: Rows, moved: Rows) -> Rows:
        """Move people who may not go the whole way along one attribute after the other.

        In a random order; a part of the way that would break a constraint is left out.
        """
        barred = np.flatnonzero(~self._allowed(moved))
        if not barred.size:
            return moved
        wanted = moved[barred]
        moved[barred] = rows[barred]
        for attribute in self.rng.permutation(self.domain.varying):
            further = moved[barred]
            further[:, attribute] = wanted[:, attribute]
            went = self._allowed(further)
            moved[barred[went]] = further[went]
        return moved

    def _odds(self, rows: Rows, combination: NDArray[np.intp]) -> Rows:
        """Give cumulated probabilities of moving each varying attribute, ``(n, v)``.

        An attribute that hardly moves the score of the person or of a random flipping member of
        the similar set is moved most often: p_i ~ 1 / (abs(g1_i) + abs(g2_i) + eps). One that
        constraints hold in place is moved only where they hold all others too.
        """
        domain = self.domain
        answers = self.ledger.ask(rows)
        flips = answers.flips(combination)
        lots = np.where(flips, self.rng.random(flips.shape), -1.0)
        gradients = self._gradients(rows, domain.counterparts(rows, lots.argmax(axis=1)))
        weights = 1.0 / (np.abs(np.nan_to_num(gradients)).sum(axis=0) + EPSILON)
        if domain.ruled:
            barred = np.isnan(gradients[0])
            weights[barred & ~barred.all(axis=1, keepdims=True)] = 0.0
        odds = np.cumsum(weights, axis=1)
        odds /= odds[:, -1:].copy()
        return odds

    def _gradients(self, rows: Rows, others: Rows) -> Rows:
        """Estimate the gradients at people and at their counterparts, ``(2, n, v)``."""
        both = np.concatenate([rows, others])
        return in_parts(self._gradient, both, len(self.domain.varying)).reshape(2, len(rows), -1)

    def _gradient(self, rows: Rows) -> Rows:
        """Estimate the gradient of the decided class's score (ComputeGrad, Algorithm 2).

        All attributes of all rows are perturbed in one batch. At the upper edge of the domain
        the difference is taken backwards, so that nobody outside is asked about; likewise where
        a constraint is broken forwards.

        Returns
        -------
        Rows
            ``(n, v)`` per varying attribute, in score per step; NaN where constraints allow
            neither direction.
        """
        domain, asked = self.domain, self.ledger.asked
        vary = domain.varying
        step = _whole_steps(domain, self.options.perturbation_size)[vary]
        forward = rows[:, vary] + step <= domain.high[vary]
        moved = self._perturbed(rows, np.where(forward, step, -step))
        barred = np.zeros(forward.shape, dtype=np.bool_)
        if domain.ruled:
            flat = moved.reshape(-1, rows.shape[1])
            barred = ~self._allowed(flat).reshape(forward.shape)
            backward = self._perturbed(rows, np.broadcast_to(-step, forward.shape))
            instead = self._allowed(backward.reshape(flat.shape)).reshape(forward.shape)
            instead &= barred & forward
            moved[instead] = backward[instead]
            forward, barred = forward & ~instead, barred & ~instead
            # whoever may not be is not asked about: the person themselves stand in
            moved = np.where(barred[:, :, None], rows[:, None, :], moved)
        here = asked.predict(rows)
        there = asked.predict(moved.reshape(-1, rows.shape[1])).reshape(*forward.shape, -1)
        decided = labels(here)
        if here.shape[1] == 1:
            sign = np.where(decided == 1, 1.0, -1.0)[:, None]
            change = sign * (there[:, :, 0] - here)
        else:
            people = np.arange(len(rows))
            change = there[people, :, decided] - here[people, decided, None]
        slope = np.asarray(np.where(forward, change, -change), dtype=np.float64)
        slope[barred] = np.nan
        return slope

    def _perturbed(self, rows: Rows, by: Rows) -> Rows:
        """Move each varying attribute by itself: ``(n, v, d)``."""
        vary = self.domain.varying
        moved = np.repeat(rows[:, None, :], len(vary), axis=1)
        moved[:, np.arange(len(vary)), vary] = self.domain.clip(rows[:, vary] + by, vary)
        return moved


def _whole_steps(domain: Domain, size: float) -> Rows:
    """Give the step along each attribute, ``(d,)``: from one allowed code to another."""
    steps, spacing = size * domain.unit, domain.spacing
    apart = np.where(spacing > 0, spacing, 1.0)
    return np.where(spacing > 0, np.maximum(1.0, np.round(steps / apart)) * apart, steps)
