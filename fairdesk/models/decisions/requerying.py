"""Repeatability: whether a model answers alike when the same rows are queried again.

Individual discrimination is defined for a model whose decision is a function of the row. One that
draws random numbers, or whose answer to a row depends on the other rows of the batch, is none.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.models.model import labels
from fairdesk.repeatability import Repeatability
from fairdesk.results.events import Rows, Scores

#: So many rows are queried again at most.
ROWS = 500
#: Two scores of one row that are farther apart than this, as a part of the greater of them and 1,
#: differ by more than rounding: sums of float32 in another order differ a thousand times less.
ROUNDING = 1e-4
#: Rounding may push a row over a split of a tree, or a hidden border of a model that only decides,
#: when it is queried in another batch. A model that depends on the batch does so for more rows.
_FEW = 0.01
#: The sizes of the batches in which rows are queried again; the last one holds the others.
_SIZES = (1, 7, 64)


def compare(first: Scores, again: Scores) -> tuple[NDArray[np.bool_], Repeatability]:
    """Compare two answers to the same rows.

    Parameters
    ----------
    first, again : Scores
        ``(n, k)`` each.

    Returns
    -------
    changed : NDArray[np.bool_]
        ``(n,)``; whose scores differ by more than rounding.
    found : Repeatability
        The same, counted.
    """
    one, other = first.astype(np.float64), again.astype(np.float64)
    scale = np.maximum(1.0, np.maximum(np.abs(one), np.abs(other)))
    apart = (np.abs(one - other) / scale).max(axis=1, initial=0.0)
    changed = np.asarray(apart > ROUNDING)
    decisions = int((changed & (labels(first) != labels(again))).sum())
    largest = float(apart.max(initial=0.0))
    return changed, Repeatability(len(first), int(changed.sum()), decisions, largest)


def joined(one: Repeatability, other: Repeatability) -> Repeatability:
    """Count two comparisons of different rows together."""
    return Repeatability(
        one.rows + other.rows,
        one.changed + other.changed,
        one.decisions + other.decisions,
        max(one.largest, other.largest),
        one.batch or other.batch,
    )


def chosen(count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Choose the places, ascending, of up to `ROWS` of so many rows."""
    return np.sort(rng.permutation(count)[:ROWS])


def some_of(rows: Rows, rng: np.random.Generator) -> Rows:
    """Choose up to `ROWS` of ``(n, d)`` rows."""
    return rows[chosen(len(rows), rng)]


def query_again(
    predict: Callable[[Rows], Scores],
    rows: Rows,
    rng: np.random.Generator,
    before: Scores | None = None,
) -> Repeatability:
    """Query rows twice together, and twice in another order and in batches of other sizes.

    Parameters
    ----------
    predict : callable
        Queries the model itself: gives ``(n, k)`` scores of ``(n, d)`` rows.
    rows : Rows
        ``(n, d)``.
    rng : np.random.Generator
        Of the order.
    before : Scores, optional
        ``(n, k)``; what it answered to them in a larger batch.

    Returns
    -------
    Repeatability
        Of these rows. One whose answers to the same batch differ is not repeatable; one whose
        answers differ with the batch only is not where that is so for more than some 1 % of rows.
    """
    n = len(rows)
    if not n:
        return Repeatability()
    order = rng.permutation(n)
    ends = np.minimum(np.cumsum(_SIZES), n)

    def divided() -> Scores:
        parts = [part for part in np.split(order, ends) if len(part)]
        answers = np.concatenate([predict(rows[part]) for part in parts])
        back = np.empty_like(answers)
        back[order] = answers
        return back

    together, mixed = (predict(rows), predict(rows)), (divided(), divided())
    answers = (*together, *mixed, *(() if before is None else (before,)))
    random = compare(*together)[0] | compare(*mixed)[0]
    others = [compare(together[0], each) for each in answers[1:]]
    differs = random | np.any([changed for changed, _ in others], axis=0)
    counted = differs & (random.any() or differs.mean() > _FEW)
    predicted_class = np.stack([labels(each) for each in answers])
    return Repeatability(
        rows=n,
        changed=int(counted.sum()),
        decisions=int((counted & (predicted_class != predicted_class[0]).any(axis=0)).sum()),
        largest=max(found.largest for _, found in others),
        batch=bool(counted.any() and not random.any()),
    )


def sentence(found: Repeatability) -> str:
    """Return why a model is not repeatable, in a sentence; empty where it is."""
    if found.holds:
        return ""
    another = f", {found.decisions:,} of them a different decision" if found.decisions else ""
    return (
        f"The model is not repeatable: {found.changed:,} of {found.rows:,} rows had another score"
        f"{another}, when the same rows were re-queried"
        + (
            (
                " together with other rows. Its output for a row depends on the other rows of "
                "the batch."
            )
            if found.batch
            else ". Its outputs are partly random."
        )
    )


def refuse(found: Repeatability) -> ModelError:
    """Make the error for a run that rests on a repeatable model."""
    return ModelError(
        sentence(found),
        why=(
            "This method compares decisions for single rows, which is meaningful only if the "
            "same row always receives the same decision."
        ),
        remedy=(
            "Ask for the model as it is used for decisions, with dropout, noise and batch "
            "statistics switched off. Group metrics can still be calculated."
        ),
    )
