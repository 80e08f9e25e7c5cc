"""The bootstrap: what would have been measured of other rows like these.

B. Efron, "Bootstrap Methods: Another Look at the Jackknife", Annals of Statistics 7, 1979. All that
is measured here is made of means over rows; so only means are resampled. Rows that are alike are
drawn together, by how many of them there are. Where too many differ for that, the means of so many
rows are as good as normally distributed, and are drawn from that distribution.
"""

from __future__ import annotations

from dataclasses import dataclass

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
#: This part of an interval's error may be that of leaving the greatest out.
_SERIOUS = 0.1


def resampled(rows: Numbers, rng: np.random.Generator, times: int = TIMES) -> Numbers:
    """Return the column means of so many resamples.

    Parameters
    ----------
    rows : NDArray[np.float64]
        ``(n, f)``, ``n >= 1``.

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
    """Return the middle of ``(times,)`` resampled figures as an interval around an estimate.

    Where it never varies they tell nothing, and there is no interval.
    """
    if np.ptp(draws) < _NOUGHT:
        return None, None
    low, high = np.quantile(draws, (alpha / 2, 1 - alpha / 2)).tolist()
    return min(low, estimate), max(high, estimate)


def p_value(draws: Numbers) -> Numbers:
    """Return how likely resampled differences lie on both sides of nought, or at it.

    Of ``(times,)`` of them one number, of ``(times, m)`` one for each column.
    """
    below, above = (draws <= _NOUGHT).sum(axis=0), (draws >= -_NOUGHT).sum(axis=0)
    return np.asarray(np.minimum(1.0, 2 * (np.minimum(below, above) + 1) / (len(draws) + 1)))


@dataclass(frozen=True, slots=True)
class Contenders:
    """Numbers of which only the greatest counts: differences of every two groups.

    Attributes
    ----------
    found : NDArray[np.float64]
        ``(m,)``.
    draws : NDArray[np.float64]
        ``(times, m)``; the same in resamples.
    """

    found: Numbers
    draws: Numbers

    def serious(self, error: float) -> NDArray[np.intp]:
        """Return those that may truly be the greatest, but for so small an error."""
        behind = self.draws - self.draws[:, [self.found.argmax()]]
        return np.flatnonzero(np.quantile(behind, 1 - error, axis=0) >= 0)


def greatest_change(after: Contenders, before: Contenders, alpha: float) -> tuple[Ends, float]:
    """Return the interval of the difference of two models' greatest numbers, and p.

    Chance makes the greatest greater, and most where several are near it; the percentiles of
    resampled differences do not know that. So the interval holds those of all pairs of contenders
    that may truly be the greatest, of either model, and p is the greatest of theirs.
    """
    low, high, p = np.inf, -np.inf, 0.0
    others = before.draws[:, before.serious(_SERIOUS * alpha)]
    for contender in after.serious(_SERIOUS * alpha).tolist():
        apart = after.draws[:, [contender]] - others
        least, most = np.quantile(apart, (alpha / 2, 1 - alpha / 2), axis=0)
        low, high = min(low, float(least.min())), max(high, float(most.max()))
        p = max(p, float(p_value(apart).max()))
    return ((low, high) if high - low > _NOUGHT else (None, None)), p
