"""Intervals for a share that was counted in a sample.

Two kinds, both exact: neither leans on the normal distribution, which at nought hits would give
an interval of no width. Whatever floating point rounds is rounded outwards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ends = tuple[NDArray[np.float64], NDArray[np.float64]]

#: Halvings after which the ends of a bracket in [0, 1] are neighbouring floats.
_HALVINGS = 80
#: How far the inverse of the incomplete beta function may be off, with plenty to spare.
_SLACK = 1e-12
#: Of more people a sample is the same with replacement or without: no part of them worth telling,
#: and what floating point rounds of so large factorials would be.
_MOST_TOTAL = 10**9
#: Of the logarithms of gamma functions, relative to the largest of them.
_ROUNDING = 16 * np.finfo(np.float64).eps


def clopper_pearson(hits: ArrayLike, people: ArrayLike, confidence: float) -> Ends:
    """Return the exact interval for a share, where the size of the sample was fixed beforehand.

    C. J. Clopper and E. S. Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the
    Case of the Binomial", Biometrika 26 (1934). It holds for people drawn independently, and for
    people drawn without replacement, where it is wider than need be.

    Parameters
    ----------
    hits, people : array_like of int
        Of one shape; ``0 <= hits <= people``. With nobody the interval is all of [0, 1].
    confidence : float
        Above 0 and below 1: the least probability that the interval holds the share.

    Returns
    -------
    low, high : NDArray[np.float64]
        Of the same shape.
    """
    # slow to import, needed where something was counted
    from scipy.special import betaincinv  # noqa: PLC0415

    hits, people = np.asarray(hits, dtype=np.float64), np.asarray(people, dtype=np.float64)
    tail = (1.0 - confidence) / 2
    missed = people - hits
    low = betaincinv(np.maximum(hits, 1), missed + 1, tail) * (1 - _SLACK)
    high = betaincinv(hits + 1, np.maximum(missed, 1), 1.0 - tail) * (1 + _SLACK)
    return np.where(hits > 0, low, 0.0), np.where(missed > 0, np.minimum(high, 1.0), 1.0)


def anytime(
    hits: ArrayLike, people: ArrayLike, confidence: float, total: int | None = None
) -> Ends:
    """Return the interval for a share that holds at every size of the sample at once.

    A confidence sequence: with the given probability none of the intervals, however long the
    sampling goes on, misses the share, so that whoever looks may stop when they like. It is the
    set of all shares that are not refuted by a mixture martingale, the ratio of the probability of
    the sample under Beta(1/2, 1/2) to that under the share. By Ville's inequality the martingale
    of the true share ever reaches ``1 / (1 - confidence)`` with a probability of at most
    ``1 - confidence`` (H. Robbins, "Statistical Methods Related to the Law of the Iterated
    Logarithm", Annals of Mathematical Statistics 41, 1970; S. R. Howard et al., "Time-Uniform,
    Nonparametric, Nonasymptotic Confidence Sequences", Annals of Statistics 49, 2021). For people
    drawn without replacement the same ratio is that of prior to posterior (I. Waudby-Smith and
    A. Ramdas, "Confidence Sequences for Sampling Without Replacement", NeurIPS 2020, section 2).

    Parameters
    ----------
    hits, people : array_like of int
        Of one shape; ``0 <= hits <= people``. With nobody the interval is all of [0, 1].
    confidence : float
        Above 0 and below 1.
    total : int, optional
        Of how many people in all the sample is drawn without replacement. By default people are
        drawn independently.

    Returns
    -------
    low, high : NDArray[np.float64]
        Of the same shape. With ``total`` people counted they are both the share itself.
    """
    from scipy.special import gammaln  # noqa: PLC0415 - see above

    hits, people = np.asarray(hits, dtype=np.float64), np.asarray(people, dtype=np.float64)
    missed = people - hits
    mixed = gammaln(hits + 0.5) + gammaln(missed + 0.5) - gammaln(people + 1) - np.log(np.pi)
    if total is not None and total > _MOST_TOTAL:
        total = None
    rounding = _ROUNDING * (gammaln((people if total is None else total) + 2.0) + 1)
    least = np.asarray(mixed + np.log(1.0 - confidence) - rounding)
    if total is None:
        return _shares(hits, missed, least)
    return _shares_of(total, hits, missed, least)


def _shares(
    hits: NDArray[np.float64], missed: NDArray[np.float64], least: NDArray[np.float64]
) -> Ends:
    """Find between which shares the sample's log-likelihood is above ``least``."""
    from scipy.special import xlog1py, xlogy  # noqa: PLC0415 - see above

    people = hits + missed
    peak = np.divide(hits, people, out=np.full(people.shape, 0.5), where=people > 0)
    ends = []
    for outer in (0.0, 1.0):
        refuted, inside = np.full(peak.shape, outer), peak.copy()
        for _ in range(_HALVINGS):
            middle = (refuted + inside) / 2
            fits = xlogy(hits, middle) + xlog1py(missed, -middle) > least
            inside, refuted = np.where(fits, middle, inside), np.where(fits, refuted, middle)
        ends.append(refuted)
    low, high = ends
    # at the very ends of [0, 1] nothing was refuted where no hit, or no miss, speaks against them
    return np.where(hits > 0, low, 0.0), np.where(missed > 0, high, 1.0)


def _shares_of(
    total: int, hits: NDArray[np.float64], missed: NDArray[np.float64], least: NDArray[np.float64]
) -> Ends:
    """Likewise for so many people in all, of whom a whole number would be hits."""
    from scipy.special import gammaln  # noqa: PLC0415 - see above

    people = hits + missed

    def fits(all_hits: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return whether so many hits in all make the sample likely enough."""
        others, others_missed = all_hits - hits, total - all_hits - missed
        ways = gammaln(total - people + 1) - gammaln(others + 1) - gammaln(others_missed + 1)
        of = gammaln(total + 1.0) - gammaln(all_hits + 1) - gammaln(total - all_hits + 1)
        return np.asarray(ways - of > least)

    share = np.divide(hits, people, out=np.full(people.shape, 0.5), where=people > 0)
    peak = np.clip(np.floor((total + 1) * share), hits, total - missed)
    ends = []
    for outer in (hits, total - missed):
        # whole numbers: the outermost that fits, where the range's end itself does not
        refuted, inside = outer.copy(), peak.copy()
        while (np.abs(refuted - inside) > 1).any():
            middle = np.floor((refuted + inside) / 2)
            fine = fits(middle)
            inside, refuted = np.where(fine, middle, inside), np.where(fine, refuted, middle)
        ends.append(np.where(fits(outer), outer, inside))
    return ends[0] / total, ends[1] / total
