"""The label that an added row gets. Nobody knows the right one; there are four ways to choose it.

``"majority"``
    Five models of other kinds, trained on the original data without protected attributes, vote
    (`fairdesk.mitigate.rows.ensemble`). The default: the label is one that the data speak for.
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

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.profiling.nearest import scaled
from fairdesk.individual.engine.context import in_parts
from fairdesk.mitigate.context import MitigationContext
from fairdesk.mitigate.rows.ensemble import Ensemble
from fairdesk.mitigate.rows.splitting import Split
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.population.nearest import Nearest
from fairdesk.results.events import Rows, Scores

#: A label comes from so many of the nearest real people.
NEIGHBOURS = 15

Source = Literal["majority", "similar", "model", "neighbours"]
Classes = NDArray[np.int64]


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
