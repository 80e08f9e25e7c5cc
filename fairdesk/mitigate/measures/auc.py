"""The area under the ROC curve, how sure it is, and how it differs between two models.

E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the Areas under Two or More
Correlated Receiver Operating Characteristic Curves: A Nonparametric Approach", Biometrics 44, 1988;
by ranks, as in X. Sun and W. Xu, IEEE Signal Processing Letters 21, 2014.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from fairdesk.mitigate.measures.differences import ALPHA, Mask
from fairdesk.mitigate.measures.resampling import Ends, Numbers

_Z = NormalDist().inv_cdf(1 - ALPHA / 2)
#: A variance that is no more than rounding.
_NOUGHT = 1e-15


def areas(scores: NDArray[np.floating], positive: Mask) -> tuple[Numbers, Numbers]:
    """Return the areas of several models, and how they vary together.

    Parameters
    ----------
    scores : NDArray
        ``(k, n)``; of equals a half counts.
    positive : NDArray[np.bool_]
        ``(n,)``; some are, and some are not.

    Returns
    -------
    areas, covariance : NDArray[np.float64]
        ``(k,)`` and ``(k, k)``; NaN where one of the classes has a single row.
    """
    # slow to import, needed where something was measured
    from scipy.stats import rankdata  # noqa: PLC0415

    hits, misses = scores[:, positive], scores[:, ~positive]
    m, n = hits.shape[1], misses.shape[1]
    together = rankdata(np.concatenate([hits, misses], axis=1), axis=1)
    # of each positive row the share of negative ones below it, and the other way round
    above = (together[:, :m] - rankdata(hits, axis=1)) / n
    below = 1 - (together[:, m:] - rankdata(misses, axis=1)) / m
    if min(m, n) < 2:
        return above.mean(axis=1), np.full((len(scores), len(scores)), np.nan)
    covariance = np.atleast_2d(np.cov(above)) / m + np.atleast_2d(np.cov(below)) / n
    return above.mean(axis=1), covariance


def area_interval(area: float, variance: float, fewer: int) -> Ends:
    """Return the interval of one area, made on its logit, where it cannot leave 0..1.

    Parameters
    ----------
    area, variance : float
        As `areas` gives them.
    fewer : int
        How many rows the smaller class has. Where the variance is nought or not known (all are in
        order, or there is but one row), the interval is Wilson's for a share of so many.
    """
    if not variance > _NOUGHT or not 0 < area < 1:
        middle = (area * fewer + _Z**2 / 2) / (fewer + _Z**2)
        half = _Z / (fewer + _Z**2) * math.sqrt(fewer * area * (1 - area) + _Z**2 / 4)
        return max(0.0, min(middle - half, area)), min(1.0, max(middle + half, area))
    logit = math.log(area / (1 - area))
    half = _Z * math.sqrt(variance) / (area * (1 - area))
    return min(_logistic(logit - half), area), max(_logistic(logit + half), area)


def _logistic(number: float) -> float:
    return 1 / (1 + math.exp(-number)) if number > -500 else 0.0


def area_change(after: Numbers, before: Numbers, positive: Mask) -> tuple[Ends, float]:
    """Compare two models' scores of the same rows: the interval of the difference, and p.

    Where the two put all rows in the same order there is no interval, and p is 1.
    """
    found, covariance = areas(np.stack([after, before]), positive)
    difference = float(found[0] - found[1])
    variance = float(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    if not variance > _NOUGHT:
        return (None, None), 1.0
    error = math.sqrt(variance)
    ends = max(-1.0, difference - _Z * error), min(1.0, difference + _Z * error)
    return ends, math.erfc(abs(difference) / error / math.sqrt(2))
