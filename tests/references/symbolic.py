"""Symbolic Generation as its paper writes it, one person at a time: what ours is held against.

Everybody taken from the queue is explained at once, with a call of the model of their own, a tree
of scikit-learn, and z3 for each path, whose optimiser gives the nearest solution. LIME's own
program draws the samples and weighs them by its kernel.
"""

from __future__ import annotations

import heapq
from itertools import count, pairwise
from typing import Any

import numpy as np

from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.steps import clustered_seeds
from fairdesk.individual.searches.symbolic import DIRECTED, SEED, UNDIRECTED, SymbolicOptions
from fairdesk.individual.surrogates.paths import (
    Path,
    Predicate,
    average_confidence,
    directed,
    identity,
    of_path,
    undirected,
)
from fairdesk.models.model import Model
from fairdesk.results.events import Rows


def search(
    model: Model, domain: Domain, people: Rows, options: SymbolicOptions, rng: np.random.Generator
) -> tuple[set[bytes], int]:
    """Search a two-class model in a domain of whole numbers.

    Returns as `tests.references.gradients.search`.
    """
    plain = _Plain(model, domain, people, options, rng)
    seeds = clustered_seeds(people, options.cluster_num, options.global_num, rng)
    plain.run(domain.snap(seeds)[0])
    return plain.unique, plain.queries


class _Plain:
    def __init__(
        self,
        model: Model,
        domain: Domain,
        people: Rows,
        options: SymbolicOptions,
        rng: np.random.Generator,
    ) -> None:
        import z3
        from lime.lime_tabular import LimeTabularExplainer

        self.model, self.domain, self.options = model, domain, options
        self.queries = 0
        self.unique: set[bytes] = set()
        self.protected = frozenset(domain.protected.tolist())
        self.free = np.sort(np.concatenate([domain.varying, domain.protected]))
        named = [bool(domain.attributes[i].values) or i in self.protected for i in self.free]
        self.lime = LimeTabularExplainer(
            domain.snap(people)[0][:, self.free],
            mode="regression",
            categorical_features=np.flatnonzero(named).tolist(),
            discretize_continuous=False,
            random_state=int(rng.integers(2**32)),
        )
        self.z3: Any = z3
        self.solver = z3.Optimize()
        self.codes = [z3.Int(name) for name in domain.names]
        for code, attribute in zip(self.codes, domain.attributes, strict=True):
            if attribute.compared:
                self.solver.add(z3.Or([code == int(each) for each in attribute.compared]))
            else:
                self.solver.add(code >= int(attribute.low), code <= int(attribute.high))

    def run(self, seeds: Rows) -> None:
        """Take the best of the queue until there were enough test cases (Algorithm 1)."""
        number = count()
        queue = [(SEED, next(number), x) for x in seeds]
        visited: set[object] = set()
        met: set[bytes] = set()
        while queue and len(met) < self.options.max_iter:
            _, _, x = heapq.heappop(queue)
            if (key := x[self.domain.others].tobytes()) in met:
                continue
            met.add(key)
            path = self.explain(x)
            toggled = [
                (each, UNDIRECTED - average_confidence(each))
                for each in undirected(path, self.protected, self.options.T1)
            ]
            if self.is_discriminatory(x):
                self.unique.add(key)
                toggled[:0] = [
                    (each, DIRECTED + average_confidence(each))
                    for each in directed(path, self.protected, self.options.T2)
                ]
            for each, rank in toggled:
                if identity(each) in visited:
                    continue
                visited.add(identity(each))
                if (solved := self.solve(each, x)) is not None:
                    heapq.heappush(queue, (rank, next(number), solved))

    def is_discriminatory(self, x: Rows) -> bool:
        """Ask about everyone alike but for protected values."""
        positive = self.predict(self.domain.similar(x[None])[0]) > 0.5
        return bool(positive.any() and not positive.all())

    def explain(self, x: Rows) -> Path:
        """Fit a tree to samples around a person (LIME), and give the person's path in it."""
        from sklearn.linear_model import Ridge
        from sklearn.tree import DecisionTreeClassifier

        kept: dict[str, Rows] = {}

        def answer(drawn: Rows) -> Rows:
            samples = np.repeat(x[None], len(drawn), axis=0)
            samples[:, self.free] = drawn
            kept["samples"] = self.domain.snap(samples)[0]
            return self.predict(kept["samples"])

        class Keeps(Ridge):  # type: ignore[misc] # scikit-learn has no types
            def fit(self, data: Rows, scores: Rows, sample_weight: Rows) -> Keeps:
                kept["weights"] = sample_weight
                return super().fit(data, scores, sample_weight)

        number = self.options.num_samples
        self.lime.explain_instance(
            x[self.free], answer, num_samples=number, model_regressor=Keeps()
        )
        samples = kept["samples"]
        tree = DecisionTreeClassifier(max_depth=self.options.max_depth, random_state=0)
        tree.fit(samples, self.predict(samples) > 0.5, kept["weights"])
        self.queries -= number
        nodes, grown = tree.decision_path(x[None]).indices, tree.tree_
        path = (
            Predicate(
                int(grown.feature[node]),
                bool(after == grown.children_right[node]),
                float(grown.threshold[node]),
                float(grown.weighted_n_node_samples[after] / grown.weighted_n_node_samples[node]),
            )
            for node, after in pairwise(nodes)
        )
        return of_path(tuple(path))

    def solve(self, path: Path, x: Rows) -> Rows | None:
        """Return the nearest that z3 finds on a path; what it says nothing of is as it was."""
        self.solver.push()
        for attribute, above, threshold, _ in path:
            code, whole = self.codes[attribute], int(np.floor(threshold))
            self.solver.add(code > whole if above else code <= whole)
        for i in self.free:
            away = self.codes[i] - int(x[i])
            self.solver.minimize(self.z3.If(away < 0, -away, away))
        solved = None
        if self.solver.check() == self.z3.sat:
            model, solved = self.solver.model(), x.copy()
            for attribute in {each.attribute for each in path}:
                solved[attribute] = float(model.eval(self.codes[attribute]).as_long())
        self.solver.pop()
        return solved

    def predict(self, rows: Rows) -> Rows:
        """Ask the model, counting."""
        self.queries += len(rows)
        return self.model.predict(rows)[:, 0].astype(np.float64)
