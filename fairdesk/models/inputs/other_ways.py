"""Other ways to feed a model, tried where it hardly agrees with the label."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.profiling.roc import auc
from fairdesk.errors import ModelError
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.inputs.one_hot import is_one_hot
from fairdesk.models.model import How, Input, Mapping, favourable_scores, labels
from fairdesk.results.events import Rows, Scores

#: Other ways to feed the model are tried on so many rows, and so many ways at most.
_TRIED_ROWS, _MOST_WAYS = 5_000, 20
#: Another way is worth a word from so much more agreement on.
_MUCH = 0.05
#: Ways whose agreement is so close cannot be told apart by it.
_ALIKE = 0.01


def other_ways(
    agrees: float,
    ranks: float | None,
    fed: FedModel,
    rows: Rows,
    scores: Scores,
    wanted: NDArray[np.bool_],
) -> Iterator[str]:
    """Try what may have been confused, and say what agrees better with the label.

    Better is what ranks the rows better too: else it only guesses the commoner value more often.

    Parameters
    ----------
    agrees, ranks : float
        The share of the rows in which the model, as it is fed, agrees; its AUC, if it has any.
    rows, scores, wanted
        ``(n, d)``, ``(n, k)`` and ``(n,)``: what it was asked, what it answered, and whether the
        label is favourable.
    """
    mapping = fed.mapping
    names = mapping.decisions(fed.opened.card)
    some = slice(0, _TRIED_ROWS)
    ways: list[tuple[float, str]] = []

    def judge(answers: Scores, favourable: int, way: str) -> None:
        truth = wanted[: len(answers)]
        ranking = auc(favourable_scores(answers, favourable), truth)
        if ranking is None or ranks is None or ranking >= ranks:
            share = float(((labels(answers) == favourable) == truth).mean())
            ways.append((share, way))

    for i, name in enumerate(names):
        if i != mapping.favourable_class:
            judge(scores, i, f"With “{name}” as the favourable decision")
    for one, other in _confusable(mapping, fed, rows)[:_MOST_WAYS]:
        swapped = list(mapping.inputs)
        swapped[one], swapped[other] = swapped[other], swapped[one]
        tried = FedModel(
            fed.opened, msgspec.structs.replace(mapping, inputs=tuple(swapped)), fed.attributes
        )
        try:
            answers = tried.predict(rows[some])
        except ModelError:
            continue
        pair = " and ".join(_input_text(mapping.inputs[i]) for i in (one, other))
        judge(answers, mapping.favourable_class, f"With the inputs {pair} swapped")
    best = max((share for share, _ in ways), default=0.0)
    for share, way in ways:
        if share > agrees + _MUCH and share > best - _ALIKE:
            yield f"{way}, the accuracy would be {share:.1%}."


def _confusable(mapping: Mapping, fed: FedModel, rows: Rows) -> list[tuple[int, int]]:
    """Find pairs of inputs that look alike and exclude each other, like “male” and “female”."""
    binary = [
        i
        for i, item in enumerate(mapping.inputs)
        if is_one_hot(item) or (item.how is How.AS_IS and _is_binary(item, fed))
    ]
    return [
        (one, other)
        for one, other in combinations(binary[:_MOST_WAYS], 2)
        if _exclude_each_other(mapping.inputs[one], mapping.inputs[other], fed, rows)
    ]


def _is_binary(item: Input, fed: FedModel) -> bool:
    attribute = next(each for each in fed.attributes if each.name == item.attribute)
    return not attribute.values and (attribute.low, attribute.high) == (0.0, 1.0)


def _exclude_each_other(one: Input, other: Input, fed: FedModel, rows: Rows) -> bool:
    if is_one_hot(one) or is_one_hot(other):
        return one.attribute == other.attribute
    places = {attribute.name: i for i, attribute in enumerate(fed.attributes)}
    together = rows[:, [places[one.attribute], places[other.attribute]]].sum(axis=1)
    return bool((together <= 1).all())


def _input_text(item: Input) -> str:
    values = [value for value, number in item.codes.items() if value and number]
    return f"“{item.name}” ({', '.join([item.attribute, *values])})"
