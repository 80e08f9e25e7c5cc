"""Local explanations by LIME: decision trees on its samples, and its linear model of the scores.

Ribeiro, Singh and Guestrin, “Why Should I Trust You?”: Explaining the Predictions of Any
Classifier, KDD 2016, by its authors' program for tables, which is given what only the domain knows:
what rows of the data have, and which rows may be queried.

Agarwal et al., "Automated Test Generation to Detect Individual Discrimination in AI Models", 2018,
use its perturbation and its kernel; the interpretable model that is fitted is a decision tree. For
the guest only: it loads scikit-learn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from lime.discretize import BaseDiscretizer
from lime.lime_tabular import LimeTabularExplainer
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fairdesk.data.domain.attributes import Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.individual.engine.cached_model import CachedModel
from fairdesk.individual.surrogates.local_trees import LocalTrees, is_drawn
from fairdesk.models.model import favourable_scores
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


#: Who is invented around a person, themselves among them.
SAMPLES = 5_000
#: So many real people tell what others have.
OTHERS = 20_000
#: Scores that differ by no more are the same, but for the last bits of an answer.
NOTHING = 1e-6


class LocalLinear:
    """Fits a linear model of what is as a person's to the scores of those around them.

    Around a person an attribute is kept as often as not, and is otherwise as another's: each by
    itself as among real people (section 3.3). Of protected ones each compared value is as likely
    as any other: who is rare in the data must not be rare here.

    Parameters
    ----------
    asked : AskedModel
        The model; only its answers are used.
    domain : Domain
        Who may be asked about.
    people : Rows
        ``(m, d)``, ``m >= 1``; the real people.
    rng : np.random.Generator
        All randomness; everybody is explained with the same.
    """

    def __init__(
        self,
        model: CachedModel,
        domain: Domain,
        people: Rows,
        favourable_class: int,
        rng: np.random.Generator,
    ) -> None:
        self._model, self._domain, self._favourable = model, domain, favourable_class
        # what follows from others has no weight of its own
        self._free = np.setdiff1d(np.flatnonzero(domain.low < domain.high), domain.following)
        self._quartiles = {
            column: np.unique(np.quantile(people[:, i], (0.25, 0.5, 0.75)))
            for column, i in enumerate(self._free)
            if domain.attributes[i].kind not in (Kind.NOMINAL, Kind.TEXT)
            and domain.attributes[i].role is not Role.PROTECTED
        }
        others, _ = domain.snap(people[rng.integers(len(people), size=OTHERS)])
        others[:, domain.protected] = domain.combinations[
            rng.integers(len(domain.combinations), size=OTHERS)
        ]
        self._others = others[:, self._free]
        self._seed = int(rng.integers(2**32))

    def fit(self, person: Rows) -> tuple[NDArray[np.float64], float]:
        """Explain a person.

        Parameters
        ----------
        person : Rows
            ``(d,)``; in the domain.

        Returns
        -------
        weights : NDArray[np.float64]
            ``(d,)``; how much being as this person is adds to the score of the favourable decision.
        fit : float
            The weighted R squared; 1 where all have the same score and nothing is left to explain.
        """
        own = person[self._free]
        # half of lime's data are the person: each value is theirs as often as not
        data = np.concatenate([self._others, np.broadcast_to(own, self._others.shape)])
        allowed = np.ones(SAMPLES, np.bool_)
        scores = np.zeros(SAMPLES)

        def predict(drawn: Rows) -> NDArray[np.float64]:
            rows = np.repeat(person[None], len(drawn), axis=0)
            rows[:, self._free] = drawn
            rows = self._domain.apply_dependencies(rows)
            allowed[:] = self._domain.allowed(rows)
            answers = self._model.predict(rows[allowed])
            scores[allowed] = favourable_scores(answers, self._favourable)
            return scores

        def nearness(distance: NDArray[np.float64], kernel_width: float) -> NDArray[np.float64]:
            # the paper's; of lime's own this is the square. Who may not be counts for nothing.
            return np.where(allowed, np.exp(-((distance / kernel_width) ** 2)), 0.0)

        random = check_random_state(self._seed)
        lime = LimeTabularExplainer(
            data,
            mode="regression",
            kernel=nearness,
            feature_selection="none",
            discretizer=_Quarters(data, self._quartiles, random),
            random_state=random,
        )
        explanation = lime.explain_instance(own, predict, num_samples=SAMPLES)
        weights = np.zeros(len(person))
        for column, weight in explanation.as_map()[1]:
            weights[self._free[column]] = weight
        constant = np.ptp(scores[allowed]) <= NOTHING
        return weights, 1.0 if constant else float(explanation.score)


class _Quarters(BaseDiscretizer):  # type: ignore[misc] # lime has no types
    """Quarters of the real people's numbers; a sample in one has a number out of the data there.

    lime's own discretizer invents numbers between two quartiles, which need not be in the domain.

    Parameters
    ----------
    data : Rows
        ``(n, m)``; what samples are drawn from.
    quartiles : dict of int to Rows
        By column, in order, where its quarters end; the other columns are compared as they are.
    """

    def __init__(self, data: Rows, quartiles: dict[int, Rows], random: Any) -> None:  # noqa: ANN401
        self._quartiles = quartiles
        self._sorted = np.sort(data, axis=0)
        columns = range(data.shape[1])
        others = [i for i in columns if i not in quartiles]
        super().__init__(data, others, [str(i) for i in columns], random_state=random)

    def bins(self, data: Rows, labels: object) -> list[Rows]:  # noqa: ARG002 - lime's signature
        """Return where the quarters of each number end."""
        return list(self._quartiles.values())

    def get_undiscretize_values(self, feature: int, values: NDArray[np.intp]) -> Rows:
        """Draw a number for each of ``(n,)`` quarters, out of the data's: ``(n,)``."""
        numbers = self._sorted[:, feature]
        inner = np.searchsorted(numbers, self._quartiles[feature], side="right")
        ends = np.concatenate([[0], inner, [len(numbers)]])
        drawn: NDArray[np.intp] = self.random_state.randint(ends[values], ends[values + 1])
        return numbers[drawn]
