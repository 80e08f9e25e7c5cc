"""MAFT, EIDIG and ADF as their papers write them, one instance at a time.

What the lockstep searches are held against: similar set and discrimination check, global and local
phase, on the same model and the same seeds. A similar set is one call of the model and so is a
gradient, as in the published programs; nothing is slower than the algorithms make it.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.steps import clustered_seeds
from fairdesk.individual.searches.adf import AdfOptions
from fairdesk.individual.searches.eidig import EidigOptions
from fairdesk.individual.searches.gradient_walks import EPSILON, WalkOptions
from fairdesk.individual.searches.maft import MaftOptions
from fairdesk.results.events import Rows, Scores


class Model(Protocol):
    """A model of two classes; its gradients are asked by EIDIG and ADF."""

    def predict(self, rows: Rows) -> Scores:
        """Answer."""

    def gradients(self, rows: Rows, column: NDArray[np.intp]) -> Rows:
        """Return how scores change."""


def search(
    model: Model, domain: Domain, people: Rows, options: WalkOptions, rng: np.random.Generator
) -> tuple[set[bytes], int]:
    """Search with the method whose options are given.

    Returns
    -------
    tuple[set[bytes], int]
        The codes, but for protected ones, of each instance; and how many rows were sent.
    """
    plain = _KINDS[type(options)](model, domain, options, rng)
    seeds = clustered_seeds(people, options.cluster_num, options.global_num, rng)
    instances = [x for x in map(plain.global_walk, domain.snap(seeds)[0]) if x is not None]
    for x in instances:
        plain.local_walk(x)
    return plain.unique, plain.queries


class _Plain:
    """EIDIG."""

    def __init__(
        self, model: Model, domain: Domain, options: WalkOptions, rng: np.random.Generator
    ) -> None:
        self.model, self.domain, self.options, self.rng = model, domain, options, rng
        self.unique: set[bytes] = set()
        self.queries = 0
        self.low, self.high, self.vary = domain.low, domain.high, domain.varying
        self.decay = getattr(options, "decay", 0.0)
        self.update_interval = getattr(options, "update_interval", 0)

    def global_walk(self, x: Rows) -> Rows | None:
        """Walk one seed towards the decision boundary."""
        x = x.copy()
        grad1 = grad2 = np.zeros(len(self.vary))
        for iteration in range(self.options.max_iter + 1):
            similar, scores, own = self.similar_set(x)
            if self.is_discriminatory(x, scores):
                return x
            if iteration == self.options.max_iter:
                break
            other = np.abs(scores - own).argmax()
            grad1 = self.decay * grad1 + self.gradient(x, own)
            grad2 = self.decay * grad2 + self.gradient(similar[other], scores[other])
            direction = np.where(np.sign(grad1) == np.sign(grad2), np.sign(grad1), 0.0)
            x[self.vary] -= self.options.global_step * direction
            x = x.clip(self.low, self.high)
        return None

    def local_walk(self, start: Rows) -> None:
        """Walk around one discriminatory instance."""
        similar, scores, own = self.similar_set(start)
        x, first = start.copy(), self.odds(start, similar, scores, own)
        odds, successes = first, 0
        for step in range(self.options.local_num):
            if step and successes >= self.update_interval:
                odds, successes = self.odds(x, similar, scores, own), 0
            successes += 1
            i = self.vary[np.searchsorted(odds, self.rng.random(), side="right")]
            sign = 1.0 if self.rng.random() < 0.5 else -1.0
            x[i] = min(max(x[i] + sign * self.options.local_step, self.low[i]), self.high[i])
            similar, scores, own = self.similar_set(x)
            if not self.is_discriminatory(x, scores):
                x, odds, successes = start.copy(), first, 0
                if not self.update_interval:
                    similar, scores, own = self.similar_set(x)

    def similar_set(self, x: Rows) -> tuple[Rows, Rows, float]:
        """Ask about everyone alike but for protected values; x's own score comes third."""
        similar = self.domain.similar(x[None])[0]
        scores = self.predict(similar)
        return similar, scores, float(scores[(similar == x).all(axis=1)][0])

    def is_discriminatory(self, x: Rows, scores: Rows) -> bool:
        """Check one instance and keep it when it is new."""
        positive = scores > 0.5
        if positive.all() or not positive.any():
            return False
        self.unique.add(x[self.domain.others].tobytes())
        return True

    def odds(self, x: Rows, similar: Rows, scores: Rows, own: float) -> Rows:
        """Return the cumulated probabilities of moving each attribute."""
        other = self.rng.choice(np.flatnonzero((scores > 0.5) != (own > 0.5)))
        grad1, grad2 = self.gradient(x, own), self.gradient(similar[other], scores[other])
        weights = 1.0 / (np.abs(grad1) + np.abs(grad2) + EPSILON)
        odds: Rows = np.cumsum(weights / weights.sum())
        odds[-1] = 1.0
        return odds

    def gradient(self, x: Rows, score: float) -> Rows:
        """Ask for the gradient of the decided class's score."""
        self.queries += 1
        slope = self.model.gradients(x[None], np.zeros(1, dtype=np.intp))[0, self.vary]
        return slope if score > 0.5 else -slope

    def predict(self, rows: Rows) -> Rows:
        """Ask the model, counting."""
        self.queries += len(rows)
        return self.model.predict(rows)[:, 0].astype(np.float64)


class _PlainAdf(_Plain):
    def gradient(self, x: Rows, score: float) -> Rows:
        """Return the gradient of minus the loss at the predicted label."""
        return super().gradient(x, score) / max(score if score > 0.5 else 1 - score, 1e-7)


class _PlainMaft(_Plain):
    def gradient(self, x: Rows, score: float) -> Rows:
        """Estimate the gradient (ComputeGrad), backwards at the upper edge."""
        size = self.options.perturbation_size
        forward = x[self.vary] + size <= self.high[self.vary]
        sign = np.where(forward, 1.0, -1.0)
        moved = np.repeat(x[None], len(self.vary) + 1, axis=0)
        moved[np.arange(1, len(moved)), self.vary] += sign * size
        scores = self.predict(moved)
        change = sign * (scores[1:] - scores[0]) / size
        return change if score > 0.5 else -change


_KINDS = {EidigOptions: _Plain, AdfOptions: _PlainAdf, MaftOptions: _PlainMaft}
