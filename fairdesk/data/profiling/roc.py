"""The area under the ROC curve: how well a number separates some rows from the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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
