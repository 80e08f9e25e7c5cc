"""Whether two models differ, both asked about the same rows or people: exact, paired.

What is compared are yeses and noes: whether a row is decided rightly, whether a person is
discriminated against. Only those count about whom the two models differ.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]

#: Of the intervals and tests that are told.
ALPHA = 0.05
#: Halvings after which the ends of a bracket in [-1, 1] are neighbouring floats.
_HALVINGS = 60


def mcnemar(after: Mask, before: Mask) -> float:
    """Return the p-value that the two yeses are equally frequent: ``(n,)`` each.

    Q. McNemar, Psychometrika 12, 1947; the exact one, of the binomial distribution, however many
    there are about whom the two differ. With nobody it is 1.
    """
    # slow to import, needed where something was measured
    from scipy.stats import binom  # noqa: PLC0415

    more, fewer = _discordant(after, before)
    return float(min(1.0, 2.0 * binom.cdf(min(more, fewer), more + fewer, 0.5)))


def share_interval(after: Mask, before: Mask, alpha: float = ALPHA) -> tuple[float, float]:
    """Return between what the difference of two shares lies, that of ``after`` less the other.

    Tango's interval. Where it leaves nought out and the exact test (`mcnemar`) does not, which
    happens with very few, it reaches nought: a difference is never told that one of them denies.

    Parameters
    ----------
    after, before : NDArray[np.bool_]
        ``(n,)``, ``n >= 1``.
    alpha : float
        The error that it may make.
    """
    more, fewer = _discordant(after, before)
    low, high = tango(more, fewer, len(after), alpha)
    if mcnemar(after, before) >= alpha:
        return min(low, 0.0), max(high, 0.0)
    return low, high


def tango(more: int, fewer: int, n_samples: int, alpha: float = ALPHA) -> tuple[float, float]:
    """Return all differences of two paired shares that the score test does not refute.

    T. Tango, "Equivalence Test and Confidence Interval for the Difference in Proportions for the
    Paired-Sample Design", Statistics in Medicine 17, 1998. It has a width also where nobody
    differs.

    Parameters
    ----------
    more, fewer : int
        About how many the first says yes and the second no, and the other way round.
    alpha : float
        The error that it may make.
    """
    from scipy.special import ndtri  # noqa: PLC0415 - see above

    found, square = (more - fewer) / n_samples, float(ndtri(alpha / 2)) ** 2

    def fits(difference: float) -> bool:
        least = _rarer(more, fewer, n_samples, difference)
        variance = n_samples * (2 * least + difference * (1 - difference))
        return (more - fewer - n_samples * difference) ** 2 <= square * variance

    low, high = (_last(fits, found, end) for end in (-1.0, 1.0))
    return low, high


def _rarer(more: int, fewer: int, n_samples: int, difference: float) -> float:
    """Return the likeliest chance of a no instead of a yes, were the difference such."""
    a = 2 * n_samples
    b = -more - fewer + (2 * n_samples - more + fewer) * difference
    c = -fewer * difference * (1 - difference)
    root: float = np.sqrt(max(b * b - 4 * a * c, 0.0))
    # whichever way does not take two nearly equal numbers from each other
    if b <= 0:
        return (root - b) / (2 * a)
    return -2 * c / (root + b)


def _last(fits: Callable[[float], bool], inside: float, outside: float) -> float:
    """Find how far from ``inside`` towards ``outside`` differences still fit."""
    if fits(outside):
        return outside
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if fits(middle) else (inside, middle)
    return outside


def _discordant(after: Mask, before: Mask) -> tuple[int, int]:
    return int((after & ~before).sum()), int((before & ~after).sum())
