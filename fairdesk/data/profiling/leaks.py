"""Columns that tell the outcome alone: they were filled in after it, or are it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.columns.kinds import counts_rows, identifies
from fairdesk.data.profiling.profile import Problem
from fairdesk.data.table import Column, Kind, Table

#: Scores are put into so many bins of equal width.
_BINS = 10


def auc(score: NDArray[np.float64], wanted: NDArray[np.bool_]) -> float | None:
    """Compute the area under the ROC curve from ranks (Mann and Whitney); ties count half.

    Parameters
    ----------
    score : NDArray[np.float64]
        ``(n,)``.
    wanted : NDArray[np.bool_]
        ``(n,)``; which rows should have higher scores than the others.

    Returns
    -------
    float or None
        None when all rows are alike.
    """
    return _area(score, wanted, ~wanted)


def _area(
    score: NDArray[np.float64], ours: NDArray[np.generic], theirs: NDArray[np.generic]
) -> float | None:
    """Return that area where at each score there are so many wanted rows, and so many others."""
    pairs = float(ours.sum()) * float(theirs.sum())
    place = np.unique(score, return_inverse=True)[1]
    above, below = (np.bincount(place, weights=each) for each in (ours, theirs))
    return float(above @ (np.cumsum(below) - below / 2)) / pairs if pairs else None


def calibration_error(score: NDArray[np.float64], wanted: NDArray[np.bool_]) -> float:
    """Return the expected calibration error: 0 where scores are the shares of wanted rows.

    In each of ten bins, how far the mean score is from the share, weighted by its rows (Naeini,
    Cooper and Hauskrecht 2015).

    Parameters
    ----------
    score : NDArray[np.float64]
        ``(n,)``; probabilities; at least one.
    wanted : NDArray[np.bool_]
        ``(n,)``.
    """
    bins = np.clip(np.ceil(score * _BINS) - 1, 0, _BINS - 1).astype(np.intp)
    apart = np.bincount(bins, weights=score - wanted, minlength=_BINS)
    return float(np.abs(apart).sum() / len(score))


#: From this area under the ROC curve on, a column tells the outcome alone. Columns that honestly
#: describe people stay far below.
TELLS = 0.95
#: An outcome that fewer rows have, or lack, is too rare to be judged by.
FEWEST = 20

#: So many rows are looked at, evenly spread.
_ROWS = 100_000
#: Numbers are cut into at most so many groups of equal size, of at least so many rows.
_GROUPS, _ROWS_OF_GROUP = 100, 20


def leaks(table: Table, label: str, favourable: NDArray[np.bool_]) -> tuple[Problem, ...]:
    """Find the columns that tell the outcome almost alone.

    A column's values (numbers: in groups of equal size; missing cells: a group of their own) are
    rated on one half of the rows by how many have the favourable outcome, and the other half is
    ranked by these rates, and the other way round. So a column of names that are all different
    tells nothing, and one that tells the outcome in no order does tell it. Numbers are also
    ranked by their size. What names or counts the rows is left out.

    Parameters
    ----------
    favourable : NDArray[np.bool_]
        ``(n,)``; which rows have the favourable outcome. Rows without a label are left out.

    Returns
    -------
    tuple of Problem
        One per column with an area under the curve of at least `TELLS`. None where fewer than
        `FEWEST` rows have, or lack, the favourable outcome.

    Raises
    ------
    DataError
        When there is no such column.
    """
    place = table.index(label)
    known = np.flatnonzero(~np.isnan(table.codes[:, place]))
    rows = known[:: max(1, -(-known.size // _ROWS))]
    outcome = favourable[rows]
    if min(np.count_nonzero(outcome), np.count_nonzero(~outcome)) < FEWEST:
        return ()
    # halves at random, or an order of the rows would speak for the column
    half = np.random.default_rng(0).permutation(rows.size) % 2 == 0
    found = []
    for index, column in enumerate(table.columns):
        if index == place or column.kind in (Kind.IGNORED, Kind.TEXT) or column.low == column.high:
            continue
        codes = table.codes[rows, index]
        area = _area_of(column, codes, outcome, half)
        if area >= TELLS and not _of_rows(column, table.codes[:, index]):
            found.append(
                Problem(
                    column.name,
                    f"“{column.name}” predicts “{label}” almost alone (AUC {_cut(area)}).",
                    "Exclude it if it was recorded after the decision, or derived from it.",
                    Kind.IGNORED,
                )
            )
    return tuple(found)


def _of_rows(column: Column, codes: NDArray[np.float64]) -> bool:
    """Return whether a column is about rows: in a sorted file their numbers tell the outcome."""
    return identifies(column, codes) or (not column.values and counts_rows(codes))


def _area_of(
    column: Column, codes: NDArray[np.float64], outcome: NDArray[np.bool_], half: NDArray[np.bool_]
) -> float:
    """Return the area under the ROC curve that a column reaches alone, 0.5 to 1."""
    groups, count = _groups(column, codes)
    counts = np.bincount(2 * (2 * groups + half) + outcome, minlength=4 * count)
    sides = counts.reshape(count, 2, 2).astype(np.float64)
    areas = []
    for fit, rank in ((1, 0), (0, 1)):
        theirs, ours = sides[:, fit].T
        # towards the average where there are few rows: one row is no evidence
        rate = (ours + ours.sum() / sides[:, fit].sum()) / (ours + theirs + 1)
        areas.append(_area(rate, sides[:, rank, 1], sides[:, rank, 0]))
    area = float(np.mean([0.5 if each is None else each for each in areas]))
    if column.kind.is_number:
        present = ~np.isnan(codes)
        if present.mean() > 0.5:
            by_size = auc(codes[present], outcome[present])
            area = area if by_size is None else max(area, by_size, 1 - by_size)
    return area


def _groups(column: Column, codes: NDArray[np.float64]) -> tuple[NDArray[np.intp], int]:
    """Return the values of a column numbers, and how many; the last is for missing cells."""
    missing = np.isnan(codes)
    if column.values:
        count = len(column.values)
        return np.where(missing, count, codes).astype(np.intp), count + 1
    ordered = np.sort(codes[~missing])
    if not ordered.size:
        return np.zeros(codes.size, np.intp), 1
    count = min(_GROUPS, max(2, ordered.size // _ROWS_OF_GROUP))
    cuts = np.unique(ordered[:: max(1, ordered.size // count)])
    groups = np.searchsorted(cuts, codes, side="right")
    return np.where(missing, cuts.size + 1, groups).astype(np.intp), cuts.size + 2


def _cut(share: float) -> str:
    """Write a share with three places, never rounded up to 1."""
    return f"{np.floor(share * 1000) / 1000:.3f}"
