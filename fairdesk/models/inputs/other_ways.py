"""Other ways to feed a model, and whether one separates the favourable rows from the others.

The share of correct decisions does not: where outcomes are uneven, always guessing the commoner one
is right more often than a model trained with class weights, however well it separates them.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from itertools import combinations

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.profiling.outcomes import auc
from fairdesk.errors import ModelError
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.inputs.one_hot import is_one_hot
from fairdesk.models.model import How, Input, Mapping, favourable_scores, labels
from fairdesk.results.events import Rows, Scores

Confusion = tuple[tuple[int, int], tuple[int, int]]

#: An AUC closer than this to one half says little about how the model is fed.
UNCLEAR = 0.1
#: ... and so is one that guessing reaches within so many of its standard deviations.
_DEVIATIONS = 2.0

#: From so many rows on, agreement on all of them is suspicious.
_MANY = 100


class Skill(Enum):
    """How a model ranks the rows."""

    SHOWN = "shown"
    NONE = "none"
    #: There are too few rows to tell.
    UNKNOWN = "unknown"
    #: The wrong way round, as if the other outcome were the favourable one.
    INVERTED = "inverted"


#: What decisions that disagree with the label suggest.
_ASKED = {
    Skill.SHOWN: ", but it separates favourable rows from the others ({ranked}). Models trained "
    "with class weights, or for another decision threshold, do so: check the threshold.",
    Skill.INVERTED: ", and it ranks the rows the wrong way round ({ranked}). Is the favourable "
    "class the other one?",
    Skill.UNKNOWN: ", and there are too few rows to see whether it separates favourable ones from "
    "the others ({ranked}): check the order of its inputs, and which class is the favourable one.",
    Skill.NONE: ", and it hardly separates favourable rows from the others ({ranked}). Are the "
    "inputs in the wrong order, do they need scaling that is not in the file, or is the favourable "
    "class the other one?",
}


def balanced_accuracy(confusion: Confusion) -> float | None:
    """Return the mean of both labels' shares of right decisions: the AUC of decisions alone.

    Parameters
    ----------
    confusion : tuple
        As of `fairdesk.models.inputs.input_check.InputCheck`.

    Returns
    -------
    float or None
        None when all labels are alike.
    """
    (true_good, false_bad), (false_good, true_bad) = confusion
    ours, theirs = true_good + false_bad, false_good + true_bad
    if not ours or not theirs:
        return None
    return (true_good / ours + true_bad / theirs) / 2


def skill(ranking: float | None, confusion: Confusion) -> Skill:
    """Return whether a model ranks rows better than guessing does, beyond what chance makes.

    Parameters
    ----------
    ranking : float or None
        The AUC of its scores; where there are none, its balanced accuracy counts.
    confusion : tuple
        As of `fairdesk.models.inputs.input_check.InputCheck`.
    """
    ranking = balanced_accuracy(confusion) if ranking is None else ranking
    if ranking is None:
        return Skill.NONE
    ours, theirs = (sum(line) for line in confusion)
    # of the Mann-Whitney statistic where scores do not hang on labels
    deviation = float(np.sqrt((ours + theirs + 1) / (12 * ours * theirs)))
    if abs(ranking - 0.5) < max(UNCLEAR, _DEVIATIONS * deviation):
        return Skill.NONE if _DEVIATIONS * deviation <= UNCLEAR else Skill.UNKNOWN
    return Skill.SHOWN if ranking > 0.5 else Skill.INVERTED


def doubts(confusion: Confusion, ranking: float | None) -> Iterator[str]:
    """Yield in plain words what looks wrong with how decisions and label agree.

    Parameters
    ----------
    confusion, ranking
        As of `skill`; not without any row.
    """
    (true_good, false_bad), (false_good, true_bad) = confusion
    rows, favourable = true_good + false_bad + false_good + true_bad, true_good + false_bad
    if favourable in (0, rows):
        yield "All rows have the same recorded outcome, so the accuracy is not informative."
        return
    accuracy, majority = (true_good + true_bad) / rows, max(favourable, rows - favourable) / rows
    found = skill(ranking, confusion)
    name, value = "AUC", ranking
    if value is None:
        name, value = "balanced accuracy", balanced_accuracy(confusion)
    asked = _ASKED[found].format(ranked=f"{name} {value:.2f}")
    if true_good + false_good in (0, rows):
        which = "favourable" if true_good + false_good else "unfavourable"
        yield f"The decision is {which} on every row{asked}"
    elif accuracy < majority:
        yield (
            f"The decision matches the recorded outcome in {accuracy:.1%} of the rows, less than "
            f"when always guessing the more common value ({majority:.1%}){asked}"
        )
    elif found is Skill.INVERTED:
        yield f"The decision matches the recorded outcome in {accuracy:.1%} of the rows{asked}"
    elif not false_bad + false_good and rows >= _MANY:
        yield (
            "The decision matches the recorded outcome in every row. Perhaps the "
            "recorded outcome is the decision itself, or a column reveals the outcome."
        )


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
