"""Local explanations by LIME: a decision tree on its samples, weighted by its kernel.

Agarwal et al., "Automated Test Generation to Detect Individual Discrimination in AI Models", 2018:
of LIME (Ribeiro et al., "“Why Should I Trust You?” Explaining the Predictions of Any Classifier",
KDD 2016) the perturbation and the kernel are used, by its authors' program for tables; the
interpretable model fitted to them is a decision tree of scikit-learn. For the guest only.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from lime.lime_tabular import LimeTabularExplainer
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine import kernels
from fairdesk.individual.engine.cached_model import CachedModel
from fairdesk.individual.surrogates.local_trees import is_drawn
from fairdesk.individual.surrogates.paths import Path, Predicate
from fairdesk.models.model import labels
from fairdesk.results.events import Rows


class LimeTrees:
    """Explains instances; each explanation depends on the instance alone.

    LIME draws its samples row by row; the model is queried about those of many rows together.
    Samples are moved to the nearest code of the domain, and those that break a constraint are
    neither queried nor fitted.

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
        self._model, self._domain = model, domain
        self._samples, self._depth = samples, depth
        self._free = np.sort(np.concatenate([domain.varying, domain.protected]))
        self._seed = rng.integers(2**63, dtype=np.uint64)
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

    def paths(self, rows: Rows, beside: Rows | None = None) -> list[Path]:
        """Explain instances; parameters and result are those of `LocalTrees.paths`."""
        perturbed = [
            self._perturbed(row, key)
            for row, key in zip(rows, kernels.row_keys(np.ascontiguousarray(rows)), strict=True)
        ]
        flat = np.concatenate([samples for samples, _ in perturbed])
        asked = flat if beside is None else np.concatenate([flat, beside])
        decided = labels(self._model.predict(asked))
        ends = np.cumsum([len(samples) for samples, _ in perturbed])
        classes = np.split(decided[: len(flat)], ends[:-1])
        return [
            self._path(samples[:, self._free], each, weights)
            for (samples, weights), each in zip(perturbed, classes, strict=True)
        ]

    def _perturbed(self, row: Rows, key: np.uint64) -> tuple[Rows, Rows]:
        """Return LIME's samples around a row, itself first, ``(s, d)``; their weights ``(s,)``."""
        domain, seen = self._domain, _Seen()
        self._random.seed([*np.array([self._seed ^ key]).view(np.uint32)])
        self._lime.explain_instance(
            row[self._free], seen.predict, num_samples=self._samples, model_regressor=seen
        )
        samples = np.repeat(row[None], self._samples, axis=0)
        samples[1:, self._free] = domain.clip(seen.samples[1:], self._free)
        samples, _ = domain.snap(samples)
        if not domain.has_constraints:
            return samples, seen.weights
        allowed = domain.allowed(samples)
        allowed[0] = True
        return samples[allowed], seen.weights[allowed]

    def _path(self, samples: Rows, classes: NDArray[np.intp], weights: Rows) -> Path:
        """Return the first sample's path in the tree that is fitted to all."""
        fitted = DecisionTreeClassifier(max_depth=self._depth, random_state=0)
        fitted.fit(samples, classes, weights)
        tree, path = fitted.tree_, fitted.decision_path(samples[:1]).indices
        held = tree.weighted_n_node_samples
        return tuple(
            Predicate(
                int(self._free[tree.feature[node]]),
                bool(below == tree.children_right[node]),
                float(tree.threshold[node]),
                min(float(held[below] / held[node]), 1.0),
            )
            for node, below in pairwise(path)
        )


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
