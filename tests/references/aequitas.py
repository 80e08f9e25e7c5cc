"""Aequitas one trial at a time: what the lockstep search is held against.

Algorithms 1 to 4, walker after walker, each trial learning from the one before, with the same rules
of success and of going on as the lockstep search. A similar set is one call of the model, and
nobody is asked about twice: nothing is slower than the algorithms make it.
"""

from __future__ import annotations

import numpy as np

from fairdesk.data.domain.domain import Domain
from fairdesk.individual.searches.aequitas import (
    FullyDirectedOptions,
    RandomOptions,
    SemiDirectedOptions,
)
from fairdesk.models.model import Model
from fairdesk.results.events import Rows


def search(
    model: Model, domain: Domain, people: Rows, options: RandomOptions, rng: np.random.Generator
) -> tuple[set[bytes], int]:
    """Search a two-class model; returns as `tests.references.gradients.search`."""
    plain = _Plain(model, domain, options, rng)
    drawn = domain.sample(rng, options.global_iteration_limit, people)
    for x in [x for x in drawn if plain.meet(x)]:
        plain.walk(x)
    return {key for key, verdict in plain.verdicts.items() if verdict}, plain.queries


class _Plain:
    def __init__(
        self, model: Model, domain: Domain, options: RandomOptions, rng: np.random.Generator
    ) -> None:
        self.model, self.options, self.rng = model, options, rng
        self.verdicts: dict[bytes, bool] = {}
        self.queries = 0
        self.others, self.vary, self.protected = domain.others, domain.varying, domain.protected
        self.combinations = domain.combinations
        self.low, self.high = domain.low.tolist(), domain.high.tolist()
        self.step = domain.whole_steps(options.perturbation_unit).tolist()
        self.delta_v = self.delta_pr = 0.0
        if isinstance(options, SemiDirectedOptions):
            self.delta_v = options.direction_probability_change_size
        if isinstance(options, FullyDirectedOptions):
            self.delta_pr = options.param_probability_change_size
        self.sigma_pr = np.full(len(self.vary), 1 / len(self.vary))
        self.sigma_v = [options.init_prob] * len(self.vary)
        self.bounds = np.cumsum(self.sigma_pr)

    def walk(self, x: Rows) -> None:
        """Walk around one person who is discriminated against (Algorithm 2)."""
        rng, x, discriminated = self.rng, x.copy(), True
        for _ in range(self.options.local_iteration_limit):
            p = min(int(self.bounds.searchsorted(rng.random(), side="right")), len(self.vary) - 1)
            down = rng.random() < self.sigma_v[p]
            i = self.vary[p]
            here = x[i]
            there = here - self.step[i] if down else here + self.step[i]
            there = min(max(there, self.low[i]), self.high[i])
            if there == here:
                continue
            x[i] = there
            met = len(self.verdicts)
            hit = self.meet(x)
            self.update(p, down, success=hit and len(self.verdicts) > met)
            if discriminated and not hit and rng.random() >= self.options.acceptance:
                x[i] = here
            else:
                discriminated = hit

    def update(self, p: int, down: bool, *, success: bool) -> None:
        """Learn from one trial (Algorithms 3 and 4)."""
        if self.delta_v:
            change = self.delta_v if success == down else -self.delta_v
            self.sigma_v[p] = min(max(self.sigma_v[p] + change, 0.0), 1.0)
        if self.delta_pr and success:
            self.sigma_pr[p] += self.delta_pr
            self.sigma_pr /= self.sigma_pr.sum()
            self.bounds = np.cumsum(self.sigma_pr)

    def meet(self, x: Rows) -> bool:
        """Check one person, unless they were met before."""
        key = x[self.others].tobytes()
        verdict = self.verdicts.get(key)
        if verdict is None:
            similar = np.tile(x, (len(self.combinations), 1))
            similar[:, self.protected] = self.combinations
            self.queries += len(similar)
            positive = self.model.predict(similar)[:, 0] > 0.5
            verdict = self.verdicts[key] = bool(positive.any() and not positive.all())
        return verdict
