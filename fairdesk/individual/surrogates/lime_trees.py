"""Local explanations by LIME: decision trees on its samples, weighted by its kernel.

Agarwal et al., "Automated Test Generation to Detect Individual Discrimination in AI Models", 2018:
of LIME (Ribeiro et al., "“Why Should I Trust You?” Explaining the Predictions of Any Classifier",
KDD 2016) the perturbation and the kernel are used, by its authors' program for tables; the
interpretable model fitted to them is a decision tree. For the guest only.
"""

from __future__ import annotations

import numpy as np
from lime.lime_tabular import LimeTabularExplainer

from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.cached_model import CachedModel
from fairdesk.individual.surrogates.local_trees import LocalTrees, is_drawn
from fairdesk.results.events import Rows


class LimeTrees(LocalTrees):
    """Explains instances as `LocalTrees`, with the samples of LIME's program.

    LIME draws its samples row by row; the model is queried about those of many rows together.
    Samples are moved to the nearest code of the domain; in place of one that breaks a constraint
    stands the instance itself, without weight.

    Parameters
    ----------
    model, domain, people, samples, depth, rng
        As of `LocalTrees`.
    """

    def __init__(
        self,
        model: CachedModel,
        domain: Domain,
        people: Rows,
        samples: int,
        depth: int,
        rng: np.random.Generator,
    ) -> None:
        super().__init__(model, domain, people, samples, depth, rng)
        self._random = np.random.RandomState()
        self._lime = LimeTabularExplainer(
            domain.snap(people)[0][:, self._free],
            mode="regression",
            categorical_features=[
                j for j, i in enumerate(self._free) if is_drawn(domain.attributes[i])
            ],
            feature_selection="none",
            discretize_continuous=False,
            random_state=self._random,
        )

    def _draw_samples(self, rows: Rows) -> tuple[Rows, Rows]:
        """Draw LIME's samples around rows, themselves first: ``(n, s, d)``; weights ``(n, s)``."""
        domain, shape = self._domain, (len(rows), self._samples)
        samples, weights = np.repeat(rows[:, None, :], self._samples, axis=1), np.empty(shape)
        for i, key in enumerate(self._row_keys(np.ascontiguousarray(rows))):
            seen = _Seen()
            self._random.seed([*np.array([self._seed ^ key]).view(np.uint32)])
            self._lime.explain_instance(
                rows[i, self._free], seen.predict, num_samples=self._samples, model_regressor=seen
            )
            samples[i, 1:, self._free] = domain.clip(seen.samples[1:], self._free).T
            samples[i], _ = domain.snap(samples[i])
            weights[i] = seen.weights
        if domain.has_constraints:
            barred = ~domain.allowed(samples.reshape(-1, samples.shape[2])).reshape(shape)
            barred[:, 0] = False
            weights[barred] = 0.0
            samples[barred] = rows[np.nonzero(barred)[0]]
        return samples, weights


class _Seen:
    """Stands for the model and for the interpretable one, and keeps what LIME gives to either."""

    samples: Rows
    weights: Rows

    def predict(self, samples: Rows) -> Rows:
        """Keep samples; nothing is predicted yet."""
        if not hasattr(self, "samples"):
            self.samples = samples
        return np.zeros(len(samples))

    def fit(self, samples: Rows, _scores: Rows, sample_weight: Rows) -> None:
        """Keep the weights."""
        self.weights, self.coef_, self.intercept_ = sample_weight, np.zeros(samples.shape[1]), 0.0

    def score(self, *_arguments: object, **_more: object) -> float:
        """Return how well it fits, which nothing asks for."""
        return 0.0
