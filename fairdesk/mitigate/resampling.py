"""The bootstrap: what would have been measured of other rows like these.

B. Efron, "Bootstrap Methods: Another Look at the Jackknife", Annals of Statistics 7, 1979. All that
is measured here is made of means over rows; so only means are resampled. Rows that are alike are
drawn together, by how many of them there are. Where too many differ for that, the means of so many
rows are as good as normally distributed, and are drawn from that distribution.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
#: Both ends of an interval; ``None`` where there is none.
Ends = tuple[float, float] | tuple[None, None]

#: So many resamples tell an interval of 95 %.
TIMES = 2_000
#: From so many rows on, no two alike, means are drawn from their normal distribution.
_MANY = 100
#: Less apart than this is only rounding.
_NOUGHT = 1e-12


def resampled(rows: Numbers, rng: np.random.Generator, times: int = TIMES) -> Numbers:
    """Give the column means of so many resamples.

    Parameters
    ----------
    rows : NDArray[np.float64]
        ``(n, f)``, ``n >= 1``.
    rng : np.random.Generator
        All randomness.
    times : int
        How many resamples.

    Returns
    -------
    NDArray[np.float64]
        ``(times, f)``.
    """
    n = len(rows)
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    if len(distinct) <= _MANY:
        return np.asarray(rng.multinomial(n, counts / n, size=times) @ distinct / n)
    spread = np.atleast_2d(np.cov(rows, rowvar=False)) / n
    return rng.multivariate_normal(rows.mean(axis=0), spread, size=times, method="eigh")


def percentiles(draws: Numbers, estimate: float, alpha: float) -> Ends:
    """Give the middle of ``(times,)`` resampled figures as an interval around an estimate.

    Resamples in which the figure is undefined (NaN) are left out. Where it never varies they tell
    nothing, and there is no interval.
    """
    known = draws[~np.isnan(draws)]
    if not known.size or np.ptp(known) < _NOUGHT:
        return None, None
    low, high = np.quantile(known, (alpha / 2, 1 - alpha / 2)).tolist()
    return min(low, estimate), max(high, estimate)


def p_value(draws: Numbers) -> float:
    """Give how likely ``(times,)`` resampled differences lie on both sides of nought, or at it."""
    known = draws[~np.isnan(draws)]
    below, above = int((known <= _NOUGHT).sum()), int((known >= -_NOUGHT).sum())
    return float(min(1.0, 2 * (min(below, above) + 1) / (known.size + 1)))


__all__ = ["TIMES", "Ends", "Numbers", "p_value", "percentiles", "resampled"]
