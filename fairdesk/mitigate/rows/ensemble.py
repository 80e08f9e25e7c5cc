"""Five models of other kinds, trained on the original data: their majority labels added rows.

L. Zhang, Y. Zhang, M. Zhang, "Efficient White-Box Fairness Testing through Gradient Search", ISSTA
2021: discriminatory people are labelled by the majority of k nearest neighbours, a multilayer
perceptron, a support vector machine with a radial kernel, a random forest, and naive Bayes.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.domain.domain import Domain
from fairdesk.data.profiling.nearest import measured
from fairdesk.data.table import Kind
from fairdesk.errors import SpecError
from fairdesk.results.events import Rows

#: Each learns from at most so many rows, drawn from those to train with ...
MOST_ROWS = 10_000
#: ... but the support vector machine, whose time grows with the square of it, from so many.
MOST_OF_VECTORS = 4_000
#: Of a name with very many values so many, the commonest, are told apart.
_MOST_VALUES = 50
#: Rows that are asked about in one go.
_AT_ONCE = 5_000
#: The perceptron sees about so many rows in all, each 12 to 200 times.
_SEEN = 120_000


class Ensemble:
    """The five, trained; where they would take long, with parameters that are quick.

    They are not given protected attributes, nor what follows these: so both people of a pair, and
    everybody of a similar set, have one label, and a protected value has no part in it. (What goes
    along with it in the data may have.) They are not given texts either. They learn from
    `MOST_ROWS` rows at most, the support vector machine from `MOST_OF_VECTORS`: all of it takes
    some six seconds of one core, however large the table is.

    Parameters
    ----------
    rows : Rows
        ``(n, d)``; real people to learn from.
    targets : NDArray[np.int64]
        ``(n,)``; their classes, two or more different ones.

    Raises
    ------
    SpecError
        When people cannot be told apart but by protected attributes and texts.
    """

    def __init__(
        self,
        domain: Domain,
        rows: Rows,
        targets: NDArray[np.int64],
        classes: int,
        rng: np.random.Generator,
    ) -> None:
        # slow to import, needed where somebody is labelled by it
        from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415
        from sklearn.naive_bayes import GaussianNB  # noqa: PLC0415
        from sklearn.neighbors import KNeighborsClassifier  # noqa: PLC0415
        from sklearn.neural_network import MLPClassifier  # noqa: PLC0415
        from sklearn.svm import SVC  # noqa: PLC0415

        drawn = _shuffled(targets, rng)[:MOST_ROWS]
        rows, targets = rows[drawn], targets[drawn]
        self._classes = classes
        self._columns = [_Columns(i, domain.attributes[i], rows[:, i]) for i in _telling(domain)]
        inputs = self._inputs(rows)
        seed = int(rng.integers(2**31))
        epochs = int(np.clip(_SEEN // len(rows), 12, 200))
        few = slice(MOST_OF_VECTORS)
        self._machine = SVC().fit(inputs[few], targets[few])
        self._others: list[Any] = [
            KNeighborsClassifier(),
            MLPClassifier(
                (32,),
                batch_size=min(500, len(rows)),
                learning_rate_init=0.01,
                max_iter=epochs,
                random_state=seed,
            ),
            RandomForestClassifier(min_samples_leaf=5, random_state=seed),
            GaussianNB(),
        ]
        for model in self._others:
            with warnings.catch_warnings():
                # a perceptron that has not quite settled may vote as well
                warnings.simplefilter("ignore")
                model.fit(inputs, targets)

    def vote(self, rows: Rows) -> tuple[NDArray[np.int64], Rows]:
        """Return the votes of the five models on rows.

        Returns
        -------
        votes : NDArray[np.int64]
            ``(n, k)``; how many are for each class.
        probabilities : Rows
            ``(n, k)``; summed over the four that tell any: all but the support vector machine.
        """
        votes = np.zeros((len(rows), self._classes), dtype=np.int64)
        probabilities = np.zeros((len(rows), self._classes))
        for start in range(0, len(rows), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            inputs = self._inputs(rows[part])
            people = np.arange(start, start + len(inputs))
            votes[people, self._machine.predict(inputs)] += 1
            for model in self._others:
                shares = model.predict_proba(inputs)
                votes[people, model.classes_[shares.argmax(axis=1)]] += 1
                probabilities[part, model.classes_] += shares
        return votes, probabilities

    def _inputs(self, rows: Rows) -> NDArray[np.float32]:
        return np.column_stack([each.of(rows) for each in self._columns]).astype(np.float32)


class _Columns:
    """What the five are given of one attribute.

    A column for each value of a name; a number, or a place in an order, as how many standard
    deviations it is from the mean, with a column beside it for what is not known.
    """

    def __init__(self, position: int, attribute: Attribute, codes: NDArray[np.float64]) -> None:
        self._position = position
        self._names = np.empty(0)
        if attribute.kind is Kind.NOMINAL:
            values, counts = np.unique(codes, return_counts=True)
            self._names = np.sort(values[np.argsort(-counts, kind="stable")[:_MOST_VALUES]])
            return
        self._unknown = attribute.unknown_code
        known = codes[codes != self._unknown]
        self._mean = known.mean() if known.size else 0.0
        self._deviation = (known.std() if known.size else 0.0) or 1.0

    def of(self, rows: Rows) -> Rows:
        """``(n, c)``."""
        codes = rows[:, self._position]
        if self._names.size:
            return np.equal.outer(codes, self._names).astype(np.float64)
        away = (codes - self._mean) / self._deviation
        if np.isnan(self._unknown):
            return away[:, None]
        unknown = codes == self._unknown
        return np.column_stack([np.where(unknown, 0.0, away), unknown])


def _telling(domain: Domain) -> list[int]:
    """Return the positions of the attributes that people are told apart by."""
    positions = [i for i in measured(domain).tolist() if domain.attributes[i].kind is not Kind.TEXT]
    if not positions:
        raise SpecError(
            "There are no attributes other than protected attributes and texts.",
            why="Five models would have to predict the label from the other attributes.",
            remedy="Choose the counterfactual set as the source of labels (similar).",
        )
    return positions


def _shuffled(targets: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.intp]:
    """Put rows into a random order in which every class comes soon, however rare it is."""
    order = rng.permutation(len(targets))
    _, first = np.unique(targets[order], return_index=True)
    return np.concatenate([order[first], np.delete(order, first)])
