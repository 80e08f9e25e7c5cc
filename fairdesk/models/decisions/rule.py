"""From outputs of a model, or predictions in a column, to the decisions that are audited.

Everything after this sees two decisions as a score in 0..1 with the border at one half, whatever
the model answered: a score of one class at another limit, a score for each of several classes,
or an estimated number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.columns.kinds import name_parts
from fairdesk.data.profiling.outcomes import spelt_as
from fairdesk.data.table import Column, Table
from fairdesk.models.decisions.outputs import of_two
from fairdesk.models.model import Mapping, ModelCard, favourable_scores, labels
from fairdesk.results.events import Scores

#: What a model that estimates a number says its answers are.
VALUES = "values"


def is_plain(mapping: Mapping) -> bool:
    """Return whether the model's own classes are the decisions, and its own border theirs."""
    return mapping.threshold is None and not mapping.together


def decided(answers: Scores, mapping: Mapping, card: ModelCard) -> Scores:
    """Turn a model's answers into scores of the decisions.

    Whether a row is above a threshold is asked of the answers as the model gave them, in their
    own precision, before anything is computed: rounding moves nobody across the border.

    Parameters
    ----------
    answers : Scores
        ``(n, 1)`` or ``(n, k)``, as `fairdesk.models.model.OpenedModel.scores` gives them.
    mapping : Mapping
        Its ``together`` or ``threshold`` say what is decided; one of them is set.

    Returns
    -------
    Scores
        ``(n, 1)``: above 0.5 exactly where the second of two decisions is chosen. It rises with
        the score, with the estimated number, or with how far the best favourable class is
        above the best other.
    """
    if mapping.together:
        return _one_of(answers, mapping.together, unbounded=card.scores == "scores")
    limit = answers.dtype.type(_threshold(mapping))
    if card.scores == VALUES:
        second = answers > limit if mapping.beyond else answers >= limit
        return of_two(_squeezed(answers, mapping), second)
    return of_two(_bent(answers, float(limit)), answers > limit)


def decided_slopes(answers: Scores, mapping: Mapping, card: ModelCard) -> NDArray[np.float64]:
    """Return how what `decided` makes changes with each of a model's answers.

    Parameters
    ----------
    answers, mapping, card
        As in `decided`.

    Returns
    -------
    NDArray[np.float64]
        ``(n, 1)`` or ``(n, k)``, as the answers; the derivatives of the decision's score. At a
        border, where they jump, those of the one side to which the answers belong.
    """
    exact = answers.astype(np.float64)
    if mapping.together:
        return _slopes_of_one(exact, mapping.together, unbounded=card.scores == "scores")
    limit = _threshold(mapping)
    if card.scores == VALUES:
        away = np.abs(exact - limit) / mapping.spread
        return np.asarray(0.5 / (1.0 + away) ** 2 / mapping.spread)
    return np.where(exact <= limit, 0.5 / limit, 0.5 / (1.0 - limit))


def own_number(score: float, mapping: Mapping, card: ModelCard) -> float:
    """Return the model's own number for people: what `decided` made a favourable score of.

    Parameters
    ----------
    score : float
        The score of the favourable decision, as `fairdesk.models.model.favourable_scores` gives
        it.

    Returns
    -------
    float
        Of a model that estimates a number: that number, to about seven digits of its distance
        from the threshold. At another threshold than one half: the model's own score of the
        favourable class. Else the score itself.
    """
    if mapping.threshold is None:
        return score
    second = score if mapping.favourable_class == 1 else 1.0 - score
    limit = mapping.threshold
    if card.scores == VALUES:
        share = min(max(2.0 * second - 1.0, -_NEARLY_ONE), _NEARLY_ONE)
        return limit + mapping.spread * share / (1.0 - abs(share))
    own = 2.0 * second * limit if second <= 0.5 else limit + (2.0 * second - 1.0) * (1.0 - limit)
    return own if mapping.favourable_class == 1 else 1.0 - own


def own_number_text(score: float, mapping: Mapping, card: ModelCard) -> str:
    """Write what `own_number` gives of a favourable score; as `own_text`."""
    second = (score > 0.5) == (mapping.favourable_class == 1)
    return own_text(own_number(score, mapping, card), mapping, card, second=second)


def own_text(own: float, mapping: Mapping, card: ModelCard, *, second: bool) -> str:
    """Write the model's own number: an estimate so exactly that its side of the border shows.

    Scores in 0..1 have three decimals, or more where those would show 0, 1 or the border for
    what is not.

    Parameters
    ----------
    own : float
        As `own_number` gives it.
    second : bool
        Whether the second of the two decisions was made.
    """
    if card.scores == VALUES:
        # a number at the threshold may be shown as that only on the side where it belongs
        misleading = {_threshold(mapping)} if second == mapping.beyond else set()
        ways = [f",.{digits}g" for digits in (5, 7, 9, 12)]
    else:
        border = 0.5 if mapping.threshold is None else mapping.threshold
        misleading = {0.0, border if mapping.favourable_class == 1 else 1.0 - border, 1.0}
        ways = [f".{digits}f" for digits in (3, 4, 6, 9)]
    for way in ways:
        text = format(own, way)
        number = float(text.replace(",", ""))
        if number not in misleading or number == own:
            break
    return text


def score_name(card: ModelCard) -> str:
    """Return what a model's number is called: ``"Score"``, or ``"Estimate"``."""
    return "Estimate" if card.scores == VALUES else "Score"


def names_around(threshold: float, *, beyond: bool = False) -> tuple[str, str]:
    """Return the names of the two decisions that a threshold makes of an estimated number.

    Examples
    --------
    >>> names_around(50), names_around(50, beyond=True)
    (('below 50', '50 or more'), ('50 or less', 'above 50'))
    """
    number = str(int(threshold)) if threshold == int(threshold) else repr(threshold)
    if beyond:
        return f"{number} or less", f"above {number}"
    return f"below {number}", f"{number} or more"


#: The greatest share of `_squeezed` that float32 can hold below 1.
_NEARLY_ONE = float(1 - 2 * np.finfo(np.float32).epsneg)


def _threshold(mapping: Mapping) -> float:
    if mapping.threshold is None:
        raise ValueError("no threshold to decide at")
    return mapping.threshold


def _one_of(answers: Scores, together: Sequence[int], *, unbounded: bool) -> Scores:
    """Score how far the best favourable class is above the best other, ties as argmax has them."""
    favourable = np.zeros(answers.shape[1], dtype=bool)
    favourable[list(together)] = True
    second = favourable[answers.argmax(axis=1)][:, None]
    exact = answers.astype(np.float64)
    margin = exact[:, favourable].max(axis=1) - exact[:, ~favourable].max(axis=1)
    if unbounded:
        # exp overflows to infinity far below zero, and then 0 is the right answer
        with np.errstate(over="ignore"):
            scores = 1.0 / (1.0 + np.exp(-margin))
    else:
        scores = np.clip(0.5 + margin / 2, 0.0, 1.0)
    return of_two(scores[:, None], second)


def _slopes_of_one(
    exact: NDArray[np.float64], together: Sequence[int], *, unbounded: bool
) -> NDArray[np.float64]:
    """Return the derivatives of `_one_of`: only the best favourable class and best other count."""
    favourable = np.zeros(exact.shape[1], dtype=bool)
    favourable[list(together)] = True
    rows = np.arange(len(exact))
    best = np.where(favourable, exact, -np.inf).argmax(axis=1)
    rival = np.where(favourable, -np.inf, exact).argmax(axis=1)
    slope = np.full(len(exact), 0.5)
    if unbounded:
        # far from nought the logistic function is flat, but exp must not overflow on the way
        fall = np.exp(-np.abs(exact[rows, best] - exact[rows, rival]))
        slope = fall / (1.0 + fall) ** 2
    slopes = np.zeros_like(exact)
    slopes[rows, best] = slope
    slopes[rows, rival] = -slope
    return slopes


def _bent(answers: Scores, limit: float) -> NDArray[np.float64]:
    """Bend scores in 0..1 so that ``limit`` comes to lie at one half."""
    exact = answers.astype(np.float64)
    return np.where(
        exact <= limit, 0.5 * exact / limit, 0.5 + 0.5 * (exact - limit) / (1.0 - limit)
    )


def _squeezed(answers: Scores, mapping: Mapping) -> NDArray[np.float64]:
    """Squeeze numbers into 0..1, the threshold at one half; never flat, so that a search finds on.

    Unlike the logistic function it keeps far numbers apart, and they can be told again.
    """
    away = (answers.astype(np.float64) - _threshold(mapping)) / mapping.spread
    return 0.5 + 0.5 * away / (1.0 + np.abs(away))


#: Column names with a part that begins so, or is so, hold what a model said.
_SAYS = ("predict", "yhat", "forecast")
_SAYS_ALONE = frozenset({"pred", "preds", "hat"})
#: Names with these parts may: only where nearly all agrees.
_MAY_SAY = frozenset({"decision", "decided", "score", "scores", "output", "proba", "prob"})
_NEARLY_ALL = 0.9
#: Recorded numbers are rounded; so far may they be from the model's.
_ROUNDED = 2e-3
#: Of numbers so many rows are compared.
_MOST_NUMBERS = 20_000


class Recorded(NamedTuple):
    """How far a model says what a column says it said: in a share of ``rows``."""

    column: str
    equal: float
    rows: int


def prediction_columns(table: Table, label: str) -> tuple[str, ...]:
    """Return the columns that by their names may hold what a model said; never the label."""
    return tuple(
        column.name
        for column in table.columns
        if column.name != label
        and (_surely(column.name) or not _MAY_SAY.isdisjoint(name_parts(column.name)))
    )


def compared(
    scores: Scores,
    rows: NDArray[np.intp],
    table: Table,
    label: str,
    mapping: Mapping,
    card: ModelCard,
) -> Recorded | None:
    """Compare a model's answers with the first column that holds its earlier ones.

    Parameters
    ----------
    scores : Scores
        ``(m, k)``; what it answers now, as `fairdesk.models.inputs.feeding.FedModel` gives it.
    rows : NDArray[np.intp]
        ``(m,)``; for which rows of the table.

    Returns
    -------
    Recorded or None
        None where no column holds predictions in terms that can be compared.
    """
    used = {item.attribute for item in mapping.inputs}
    for name in prediction_columns(table, label):
        if name in used:
            continue
        column, codes = table.column(name), table.codes[rows, table.index(name)]
        found = _decisions(scores, codes, column, mapping, card)
        if found is None and column.kind.is_number:
            found = _numbers(scores, codes, mapping, card)
        if found is None or not found.size:
            continue
        equal = float(found.mean())
        if _surely(name) or equal >= _NEARLY_ALL:
            return Recorded(name, equal, len(found))
    return None


def _decisions(
    scores: Scores, codes: NDArray[np.float64], column: Column, mapping: Mapping, card: ModelCard
) -> NDArray[np.bool_] | None:
    """Compare decisions, where all values of a column are what they are called."""
    present = ~np.isnan(codes)
    values, where = np.unique(codes[present], return_inverse=True)
    ways = [mapping.written(card)]
    if not mapping.outcomes and len(card.hints.classes) == len(card.classes):
        ways.append(card.hints.classes)
    for names in ways:
        places = _places([column.text(value) for value in values[: len(names) + 1]], names)
        if places is not None and values.size:
            return np.asarray(np.array(places)[where] == labels(scores[present]))
    return None


def _places(texts: Sequence[str], names: Sequence[str]) -> list[int] | None:
    found = [spelt_as(text, names) for text in texts]
    places = [place for place in found if place is not None]
    return places if len(places) == len(texts) <= len(names) else None


def _numbers(
    scores: Scores, codes: NDArray[np.float64], mapping: Mapping, card: ModelCard
) -> NDArray[np.bool_] | None:
    """Compare the model's own numbers: estimates, or the probability of either of two classes."""
    if scores.shape[1] != 1 or mapping.together:
        return None
    present = np.flatnonzero(~np.isnan(codes))[:_MOST_NUMBERS]
    recorded = codes[present]
    favourable = favourable_scores(scores[present], mapping.favourable_class)
    own = np.array([own_number(score, mapping, card) for score in favourable.tolist()])
    if card.scores == VALUES:
        return np.asarray(np.abs(own - recorded) <= _ROUNDED * np.maximum(1.0, np.abs(own)))
    if recorded.size and (recorded.min() < 0 or recorded.max() > 1):
        return None
    ways = [np.abs(candidate - recorded) <= _ROUNDED for candidate in (own, 1.0 - own)]
    return np.asarray(max(ways, key=np.mean)) if recorded.size else None


def _surely(name: str) -> bool:
    parts = name_parts(name)
    return any(part in _SAYS_ALONE or part.startswith(_SAYS) for part in parts)
