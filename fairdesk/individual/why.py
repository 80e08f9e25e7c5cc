"""Why the two people of a pair are decided differently: LIME on both sides, and each variant.

LIME: Ribeiro, Singh and Guestrin, "Why Should I Trust You?": Explaining the Predictions of Any
Classifier, KDD 2016. The numbers are those of its authors' program for tables.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain import Domain, Role
from fairdesk.data.nearest import refuse_nobody
from fairdesk.data.table import Kind
from fairdesk.events import Rows
from fairdesk.individual.similar import Ledger
from fairdesk.models.model import favourable_scores

#: People invented around each of the two.
SAMPLES = 5_000
#: The width of the kernel for one attribute; it grows with the root of their number.
WIDTH = 0.75
#: How strongly weights are drawn towards nought.
RIDGE = 1.0
#: A variance of scores that is none.
NOTHING = 1e-12
#: Of more variants than twice this only so many are given from either end.
MOST_VARIANTS = 100


class Side(msgspec.Struct, frozen=True):
    """A local explanation of one person's score (LIME).

    Attributes
    ----------
    weights : tuple[float, ...]
        Per attribute of the domain: how much being as this person is, and not otherwise, adds to
        the score of the favourable decision nearby. As this person is a name that is the same,
        and a number in the same quarter of the real people's.
    fit : float
        How well the local explanation follows the model nearby: R squared, at most 1.
    """

    weights: tuple[float, ...]
    fit: float


class Variant(msgspec.Struct, frozen=True):
    """The same person under one combination of protected values.

    Attributes
    ----------
    values : tuple[float, ...]
        The codes of the protected attributes.
    score : float
        Of the favourable decision.
    decided : int
        The position of what is decided, among the decisions.
    """

    values: tuple[float, ...]
    score: float
    decided: int


class Explanation(msgspec.Struct, frozen=True):
    """Why two people who differ in protected attributes only are decided differently.

    Attributes
    ----------
    row, partner : Side
        The instance, and its partner.
    variants : tuple[Variant, ...]
        Everybody in their similar set who breaks no constraint, the most favourable score first;
        of more than 200 the 100 with the greatest and the 100 with the least.
    """

    row: Side
    partner: Side
    variants: tuple[Variant, ...]


def explain(
    ledger: Ledger, people: Rows, pair: Rows, favourable_class: int, rng: np.random.Generator
) -> Explanation:
    """Explain a pair.

    Parameters
    ----------
    ledger : Ledger
        The model, of which only the answers are used, and who may be asked about.
    people : Rows
        ``(m, d)``, ``m >= 1``; the real people: what others have.
    pair : Rows
        ``(2, d)``; the instance and its partner, in the domain.
    favourable_class : int
        The position of the favourable decision.
    rng : np.random.Generator
        All randomness.

    Raises
    ------
    DataError
        When there are no people.
    """
    domain = ledger.domain
    refuse_nobody(people)
    kept = rng.integers(0, 2, (SAMPLES, pair.shape[1])).astype(np.bool_)
    others = _others(domain, people, rng)
    quarters = _quarters(domain, people)

    def side(person: Rows) -> Side:
        rows = domain.settle(np.where(kept, person, others))
        rows = rows[domain.allowed(rows)]
        scores = favourable_scores(ledger.asked.predict(rows), favourable_class)
        return _side(domain, rows, person, quarters, scores)

    row, partner = side(pair[0]), side(pair[1])
    return Explanation(row, partner, _variants(ledger, pair[:1], favourable_class))


def _others(domain: Domain, people: Rows, rng: np.random.Generator) -> Rows:
    """Draw what somebody else has: each attribute by itself as among real people, ``(n, d)``.

    Around a person an attribute is kept as often as not, and is as another's otherwise (section
    3.3). Of protected ones each compared value is as likely as any other: who is rare in the
    data must not be rare here.
    """
    real, _ = domain.snap(people)
    lots = rng.integers(len(real), size=(SAMPLES, real.shape[1]))
    drawn = np.take_along_axis(real, lots, axis=0)
    drawn[:, domain.protected] = domain.combinations[
        rng.integers(len(domain.combinations), size=SAMPLES)
    ]
    return drawn


def _quarters(domain: Domain, people: Rows) -> dict[int, Rows]:
    """Give for each attribute that is a number, or a place in an order, where its quarters end."""
    return {
        i: np.quantile(people[:, i], (0.25, 0.5, 0.75))
        for i, each in enumerate(domain.attributes)
        if each.kind not in (Kind.NOMINAL, Kind.TEXT) and each.role is not Role.PROTECTED
    }


def _side(
    domain: Domain,
    rows: Rows,
    person: Rows,
    quarters: dict[int, Rows],
    scores: NDArray[np.float64],
) -> Side:
    """Fit a linear model of what is as this person's to the scores nearby (section 3.4).

    What follows from others has no weight of its own.
    """
    same = rows == person
    for i, ends in quarters.items():
        same[:, i] = np.searchsorted(ends, rows[:, i]) == np.searchsorted(ends, person[i])
    free = np.setdiff1d(np.flatnonzero(domain.low < domain.high), domain.following)
    unlike = len(free) - same[:, free].sum(axis=1)
    near = np.exp(-unlike / (WIDTH**2 * len(free)))
    weights = np.zeros(len(person))
    weights[free], fit = _ridge(same[:, free].astype(np.float64), scores, near)
    return Side(tuple(weights.tolist()), fit)


def _ridge(
    features: Rows, target: NDArray[np.float64], near: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Fit a weighted ridge regression; give its weights ``(m,)`` and the weighted R squared.

    The intercept is not drawn towards nought. Where the target is the same everywhere, but for
    the last bits of an answer, nothing is left to explain, and the fit is 1.
    """
    if not len(features):
        return np.zeros(features.shape[1]), 0.0
    features = features - np.average(features, axis=0, weights=near)
    target = target - np.average(target, weights=near)
    weighted = features.T * near
    squares = weighted @ features + RIDGE * np.eye(features.shape[1])
    weights = np.linalg.solve(squares, weighted @ target)
    spread = float(near @ target**2)
    left = float(near @ (target - features @ weights) ** 2)
    return weights.astype(np.float64), 1.0 - left / spread if spread > NOTHING * near.sum() else 1.0


def _variants(ledger: Ledger, row: Rows, favourable_class: int) -> tuple[Variant, ...]:
    """Ask about everybody in the similar set of ``(1, d)`` who breaks no constraint."""
    answers = ledger.ask(row)
    scores = favourable_scores(answers.scores[0], favourable_class)
    order = np.argsort(-scores, kind="stable")  # those who may not be have no score, and are last
    if answers.allowed is not None:
        order = order[: int(answers.allowed.sum())]
    if len(order) > 2 * MOST_VARIANTS:
        order = np.concatenate([order[:MOST_VARIANTS], order[-MOST_VARIANTS:]])
    return tuple(
        Variant(
            tuple(ledger.domain.combinations[i].tolist()),
            float(scores[i]),
            int(answers.labels[0, i]),
        )
        for i in order
    )
