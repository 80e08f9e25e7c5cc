"""The label that an added row gets. Nobody knows the right one; there are four ways to choose it.

``"majority"``
    Five models of other kinds, trained on the original data without protected attributes, vote
    (`fairdesk.mitigate.rows.labelling`). The default: the label is one that the data speak for.
``"similar"``
    What the model itself decides about most of the people who differ from this one in protected
    attributes only. Of a similar set of two, of whom one gets each decision, the scores tell: the
    label is that of whoever the model is surer about.
``"neighbours"``
    The label of most of the `NEIGHBOURS` nearest real people, protected attributes left out.
``"model"``
    What the model decides about this very person. Both people of a pair then keep the different
    labels that they have, so the rows teach a retrained model to discriminate, where it had to be
    guessed from real people before. It is there to compare with.

All but the last give both people of a pair, and everybody of a similar set, one label. What learns,
or is looked at, is the part of the data to train with only.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import SpecError
from fairdesk.individual.engine.context import in_parts
from fairdesk.mitigate.context import MitigationContext, Split
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.population.nearest import Nearest, measured, scaled
from fairdesk.results.events import Rows, Scores

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


#: A label comes from so many of the nearest real people.
NEIGHBOURS = 15
Source = Literal["majority", "similar", "model", "neighbours"]
Classes = NDArray[np.int64]


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


def label(
    mitigation: MitigationContext,
    split: Split,
    rows: Rows,
    source: Source,
    rng: np.random.Generator,
) -> Classes:
    """Choose labels for rows of the domain.

    Parameters
    ----------
    split : Split
        Only its part to train with is looked at.
    rows : Rows
        ``(n, d)``.
    source : str
        Where labels come from; see above.

    Returns
    -------
    NDArray[np.int64]
        ``(n,)``; positions in the model's own classes.

    Raises
    ------
    ModelError
        When the model refuses the rows.
    SpecError
        When the five models are to tell people apart by nothing; see `Ensemble`.
    """
    if not len(rows):
        return np.empty(0, dtype=np.int64)
    match source:
        case "majority":
            real, targets = mitigation.rows[split.train], mitigation.target[split.train]
            five = Ensemble(mitigation.domain, real, targets, _classes(mitigation), rng)
            return _most(*five.vote(rows))
        case "similar":
            return _similar(mitigation, rows)
        case "model":
            return np.asarray(own_scores(mitigation, mitigation.model, rows).argmax(axis=1))
        case "neighbours":
            return _neighbours(mitigation, split, rows)


def own_scores(mitigation: MitigationContext, model: FedModel, rows: Rows) -> Rows:
    """Ask a model how much each of its own classes is for each row: ``(n, k)``, ``k >= 2``.

    The greatest is the class that it decides for: at the threshold of the audit where there is
    one. Where several classes make one decision, these are the scores of the classes themselves.

    Raises
    ------
    ModelError
        When it refuses the rows.
    """
    if model.mapping.together:
        mitigation.queries += len(rows)
        return _of_all(model.answers(rows))
    return _of_all(mitigation.predict(model, rows))


def _of_all(scores: Scores) -> Rows:
    """Return a score for each class; of two, equal ones are for the first, as decisions are."""
    exact = scores.astype(np.float64)
    return np.column_stack([1.0 - exact, exact]) if exact.shape[1] == 1 else exact


def _classes(mitigation: MitigationContext) -> int:
    return len(mitigation.model.opened.card.classes)


def _most(votes: NDArray[np.int64], scores: Rows) -> Classes:
    """Return the class with the most votes: ``(n,)``; of several the one with the highest score."""
    leading = votes == votes.max(axis=1, keepdims=True)
    return np.asarray(np.where(leading, scores, -np.inf).argmax(axis=1))


def _similar(mitigation: MitigationContext, rows: Rows) -> Classes:
    """Return the class that most members of each similar set are decided for, who there can be."""
    domain, classes = mitigation.domain, _classes(mitigation)

    def labelled(part: Rows) -> Classes:
        members, compared = domain.members(part)
        people, allowed = members.reshape(-1, members.shape[2]), compared.reshape(-1)
        scores = np.zeros((len(people), classes))
        scores[allowed] = own_scores(mitigation, mitigation.model, people[allowed])
        votes = np.zeros((len(people), classes), dtype=np.int64)
        votes[allowed, scores[allowed].argmax(axis=1)] = 1
        shape = (*members.shape[:2], classes)
        return _most(votes.reshape(shape).sum(axis=1), scores.reshape(shape).sum(axis=1))

    return in_parts(labelled, rows, len(domain.combinations))


def _neighbours(mitigation: MitigationContext, split: Split, rows: Rows) -> Classes:
    """Return the class that most of the nearest real people have.

    People who are equal but for protected attributes are one place with several labels; places are
    taken, the nearest first, until there are `NEIGHBOURS` people. Of classes with equally many the
    one whose people are nearer on average is taken.
    """
    real = mitigation.rows[split.train]
    _, first, place = np.unique(
        scaled(mitigation.domain, real), axis=0, return_index=True, return_inverse=True
    )
    labels = np.zeros((len(first), _classes(mitigation)), dtype=np.int64)
    np.add.at(labels, (place.reshape(-1), mitigation.target[split.train]), 1)
    distance, near = Nearest(mitigation.domain, real[first]).several(rows, NEIGHBOURS)
    found = labels[near]
    people = found.sum(axis=2)
    before = np.cumsum(people, axis=1) - people
    found[before >= NEIGHBOURS] = 0
    away = (found * distance[:, :, None]).sum(axis=1)
    votes = found.sum(axis=1)
    return _most(votes, -away)
