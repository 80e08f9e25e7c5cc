"""Predictions that a table already holds, to compare a model with what it said once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.columns.kinds import name_parts
from fairdesk.data.profiling.outcomes import spelt_as
from fairdesk.data.table import Column, Table
from fairdesk.models.decisions.rule import VALUES, own_number
from fairdesk.models.model import Mapping, ModelCard, favourable_scores, labels
from fairdesk.results.events import Scores

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
        if column.name != label and (_surely(column.name) or _perhaps(column.name))
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


def _perhaps(name: str) -> bool:
    return not _MAY_SAY.isdisjoint(name_parts(name))
