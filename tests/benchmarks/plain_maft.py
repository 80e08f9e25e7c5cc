"""MAFT as its paper writes it, one instance at a time: what the lockstep search is held against.

Algorithms 1 (similar set, discrimination check), 3 (global) and 4 (local), on the same model and
the same seeds. A similar set is one call of the model and so is a gradient, as in the published
program; nothing is slower than the algorithms make it.
"""

from __future__ import annotations

import numpy as np

from fairdesk.data.domain import Domain
from fairdesk.events import Rows
from fairdesk.individual.maft import EPSILON, MaftOptions
from fairdesk.individual.seeds import clustered_seeds
from fairdesk.models.model import Model


def search(
    model: Model, domain: Domain, people: Rows, options: MaftOptions, rng: np.random.Generator
) -> tuple[int, int]:
    """Search a two-class model; give the unique instances found and the rows sent."""
    plain = _Plain(model, domain, options, rng)
    seeds = clustered_seeds(people, options.cluster_num, options.global_num, rng)
    instances = [x for x in map(plain.global_walk, domain.snap(seeds)[0]) if x is not None]
    for x in instances:
        plain.local_walk(x)
    return len(plain.unique), plain.queries


class _Plain:
    def __init__(
        self, model: Model, domain: Domain, options: MaftOptions, rng: np.random.Generator
    ) -> None:
        self.model, self.domain, self.options, self.rng = model, domain, options, rng
        self.unique: set[bytes] = set()
        self.queries = 0
        self.low, self.high, self.vary = domain.low, domain.high, domain.varying
        self.perturbations = np.zeros((len(self.vary), len(self.low)))
        self.perturbations[np.arange(len(self.vary)), self.vary] = options.perturbation_size

    def global_walk(self, x: Rows) -> Rows | None:
        """Walk one seed towards the decision boundary (Algorithm 3)."""
        x = x.copy()
        grad1 = grad2 = np.zeros(len(self.vary))
        for iteration in range(self.options.max_iter + 1):
            similar, scores, own = self.similar_set(x)
            if self.is_discriminatory(x, scores):
                return x
            if iteration == self.options.max_iter:
                break
            other = similar[np.abs(scores - own).argmax()]
            grad1 = self.options.decay * grad1 + self.gradient(x)
            grad2 = self.options.decay * grad2 + self.gradient(other)
            direction = np.where(np.sign(grad1) == np.sign(grad2), np.sign(grad1), 0.0)
            x[self.vary] -= self.options.global_step * direction
            x = x.clip(self.low, self.high)
        return None

    def local_walk(self, start: Rows) -> None:
        """Walk around one discriminatory instance (Algorithm 4)."""
        x, first = start.copy(), self.odds(start)
        odds, successes = first, 0
        for _ in range(self.options.local_num):
            if successes >= self.options.update_interval:
                odds, successes = self.odds(x), 0
            successes += 1
            i = self.vary[np.searchsorted(odds, self.rng.random(), side="right")]
            sign = 1.0 if self.rng.random() < 0.5 else -1.0
            x[i] = min(max(x[i] + sign * self.options.local_step, self.low[i]), self.high[i])
            _, scores, _ = self.similar_set(x)
            if not self.is_discriminatory(x, scores):
                x, odds, successes = start.copy(), first, 0

    def similar_set(self, x: Rows) -> tuple[Rows, Rows, float]:
        """Ask about everyone alike but for protected values; x's own score comes third."""
        similar = self.domain.similar(x[None])[0]
        scores = self.predict(similar)
        return similar, scores, float(scores[(similar == x).all(axis=1)][0])

    def is_discriminatory(self, x: Rows, scores: Rows) -> bool:
        """Check one instance (Algorithm 1) and keep it when it is new."""
        positive = scores > 0.5
        if positive.all() or not positive.any():
            return False
        self.unique.add(x[self.domain.others].tobytes())
        return True

    def odds(self, x: Rows) -> Rows:
        """Give the cumulated probabilities of moving each attribute."""
        similar, scores, own = self.similar_set(x)
        other = self.rng.choice(similar[(scores > 0.5) != (own > 0.5)])
        saliency = np.abs(self.gradient(x)) + np.abs(self.gradient(other))
        weights = 1.0 / (saliency + EPSILON)
        odds: Rows = np.cumsum(weights / weights.sum())
        odds[-1] = 1.0
        return odds

    def gradient(self, x: Rows) -> Rows:
        """Estimate the gradient (ComputeGrad), backwards at the upper edge."""
        forward = x[self.vary] + self.options.perturbation_size <= self.high[self.vary]
        sign = np.where(forward, 1.0, -1.0)
        scores = self.predict(np.vstack([x, x + sign[:, None] * self.perturbations]))
        change = sign * (scores[1:] - scores[0]) / self.options.perturbation_size
        return change if scores[0] > 0.5 else -change

    def predict(self, rows: Rows) -> Rows:
        """Ask the model, counting."""
        self.queries += len(rows)
        return self.model.predict(rows)[:, 0].astype(np.float64)
