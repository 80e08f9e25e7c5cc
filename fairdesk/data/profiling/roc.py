"""How well a number separates some rows from the others, and how far it is from their share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
    ours = int(wanted.sum())
    theirs = len(wanted) - ours
    if not ours or not theirs:
        return None
    _, place, counts = np.unique(score, return_inverse=True, return_counts=True)
    middle_ranks = np.cumsum(counts) - (counts - 1) / 2
    above = middle_ranks[place][wanted].sum() - ours * (ours + 1) / 2
    return float(above / (ours * theirs))


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
