"""Why the two people of a pair are decided differently: LIME on both sides, and each variant."""

from __future__ import annotations

import msgspec
import numpy as np

from fairdesk.individual.engine.context import SearchContext
from fairdesk.models.model import favourable_scores
from fairdesk.population.nearest import refuse_nobody
from fairdesk.results.events import Rows

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
    context: SearchContext,
    people: Rows,
    pair: Rows,
    favourable_class: int,
    rng: np.random.Generator,
) -> Explanation:
    """Explain a pair.

    Parameters
    ----------
    context : SearchContext
        The model, of which only the answers are used, and who may be asked about.
    people : Rows
        ``(m, d)``, ``m >= 1``; the real people: what others have.
    pair : Rows
        ``(2, d)``; the instance and its partner, in the domain.

    Raises
    ------
    DataError
        When there are no people.
    """
    # loads scikit-learn, which the window's process does not
    from fairdesk.individual.surrogates.lime_models import LocalLinear  # noqa: PLC0415

    refuse_nobody(people)
    linear = LocalLinear(context.cached_model, context.domain, people, favourable_class, rng)
    row, partner = (Side(tuple(weights.tolist()), fit) for weights, fit in map(linear.fit, pair))
    return Explanation(row, partner, _variants(context, pair[:1], favourable_class))


def _variants(context: SearchContext, row: Rows, favourable_class: int) -> tuple[Variant, ...]:
    """Query the model about everybody in the similar set of ``(1, d)`` who breaks no constraint."""
    answers = context.ask(row)
    scores = favourable_scores(answers.scores[0], favourable_class)
    order = np.argsort(-scores, kind="stable")  # those who may not be have no score, and are last
    if answers.allowed is not None:
        order = order[: int(answers.allowed.sum())]
    if len(order) > 2 * MOST_VARIANTS:
        order = np.concatenate([order[:MOST_VARIANTS], order[-MOST_VARIANTS:]])
    return tuple(
        Variant(
            tuple(context.domain.combinations[i].tolist()),
            float(scores[i]),
            int(answers.labels[0, i]),
        )
        for i in order
    )
