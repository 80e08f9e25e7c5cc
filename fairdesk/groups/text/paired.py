"""Rates of the same sentences with several terms in turn: compared sentence by sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from fairdesk.groups.options import Z
from fairdesk.groups.statistics import Side, wilson

Floats = NDArray[np.float64]


#: Scores are single floats: differences nearer than this are equal.
_EQUAL = 1e-6


@dataclass(frozen=True, slots=True)
class Compared:
    """How each column of a table of answers fares beside all the others: ``(k,)`` each.

    Attributes
    ----------
    inside : NDArray[np.float64]
        The column's mean.
    outside : NDArray[np.float64]
        The mean of all the other columns.
    margin : NDArray[np.float64]
        The half widths of both means' intervals (TestSGD, Algorithm 2).
    low, high : NDArray[np.float64]
        Between what the difference lies.
    p : NDArray[np.float64]
        That a difference so great is chance; not corrected.
    """

    inside: Floats
    outside: Floats
    margin: Floats
    low: Floats
    high: Floats
    p: Floats


def compare(values: Floats, *, shares: bool, alpha: float, z: float = Z) -> Compared:
    """Compare every column with the others.

    A row counts once, however many columns it has: its answers hang together, and more columns
    would tell little about other rows. So the margin is wider than the paper's, which takes all
    samples for independent.

    Parameters
    ----------
    values : NDArray[np.float64]
        ``(n, k)``, ``n >= 1``, ``k >= 2``: what was answered to sentence ``i`` with terms ``j``.
    shares : bool
        Whether these are noughts and ones. The interval is then Newcombe's of paired shares (R. G.
        Newcombe, "Improved Confidence Intervals for the Difference Between Binomial Proportions
        Based on Paired Data", Statistics in Medicine 17, 1998, method 10), with the mean of the
        other columns in the place of the second answer; p is exact. Else the interval is
        Student's of the rows' differences, and p that of a normal distribution.
    alpha : float
        The error that each interval may make.
    z : float
        The paper's, of the margin.
    """
    n, k = values.shape
    others = (values.sum(axis=1, keepdims=True) - values) / (k - 1)
    sides = [Side(np.full(k, float(n)), each.sum(axis=0)) for each in (values, others)]
    if not shares:
        sides = [
            replace(side, squares=(each**2).sum(axis=0))
            for side, each in zip(sides, (values, others), strict=True)
        ]
    inside, outside = sides
    low, high = (
        _newcombe(inside, outside, (values * others).mean(axis=0), alpha)
        if shares
        else _student(values - others, alpha)
    )
    p = _exact_p(values) if shares else _normal_p(values)
    return Compared(inside.mean, outside.mean, inside.half(z) + outside.half(z), low, high, p)


def _newcombe(inside: Side, outside: Side, products: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Combine two Wilson intervals, less what the two shares have in common."""
    z = np.full(len(products), NormalDist().inv_cdf(1 - alpha / 2))
    covariance = products - inside.mean * outside.mean
    covariance = np.where(covariance > 0, np.maximum(covariance - 0.5 / inside.n, 0.0), covariance)
    spread = inside.deviation * outside.deviation
    common = 2 * np.clip(covariance / spread, -1.0, 1.0)
    low_in, high_in = wilson(inside.total, inside.n, z)
    low_out, high_out = wilson(outside.total, outside.n, z)
    below = inside.mean - low_in, high_out - outside.mean
    above = high_in - inside.mean, outside.mean - low_out
    low, high = (
        np.sqrt(np.maximum(one**2 - common * one * other + other**2, 0.0))
        for one, other in (below, above)
    )
    apart = inside.mean - outside.mean
    return np.maximum(apart - low, -1.0), np.minimum(apart + high, 1.0)


def _exact_p(values: Floats) -> Floats:
    """Test whether a column's number of ones is one that any column could have.

    If the terms made no difference, a row's ones would be in any of its columns alike: given how
    many each row has, a column's number of ones is a sum of independent noughts and ones, whose
    distribution is the same for all columns and is computed exactly (the two-sided test of
    Cochran, Mantel and Haenszel, conditional on the rows).
    """
    chance = values.mean(axis=1)
    sure = int((chance == 1).sum())
    distribution = np.ones(1)
    for each in chance[(chance > 0) & (chance < 1)].tolist():
        distribution = np.convolve(distribution, (1 - each, each))
    at_least = np.minimum(np.cumsum(distribution[::-1])[::-1], 1)
    at_most = np.minimum(np.cumsum(distribution), 1)
    ones = np.rint(values.sum(axis=0)).astype(np.intp) - sure
    return np.asarray(np.minimum(2 * np.minimum(at_least[ones], at_most[ones]), 1))


def _normal_p(values: Floats) -> Floats:
    """Do the same of scores, whose sum is nearly normal.

    No p-value is less than the chance of one exchange of all terms: few sentences prove little.
    """
    least = float(values.shape[1]) ** -len(values)
    deviation = math.sqrt(values.var(axis=1).sum())
    if deviation == 0:
        return np.ones(values.shape[1])
    apart = np.abs(values.sum(axis=0) - values.mean(axis=1).sum()) / deviation
    return np.array([max(math.erfc(each / math.sqrt(2)), least) for each in apart.tolist()])


def _student(differences: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return Student's interval for the mean of each column."""
    # slow to import, needed where scores are compared
    from scipy.stats import t  # noqa: PLC0415

    n, k = differences.shape
    if n == 1:
        return np.full(k, -1.0), np.ones(k)
    # equal differences by chance must not claim that there is no doubt at all (as `Side.deviation`)
    share = 2 / (n + 4)
    deviation = differences.std(axis=0, ddof=1)
    deviation = np.where(deviation > _EQUAL, deviation, math.sqrt(share * (1 - share)))
    half = t.isf(alpha / 2, n - 1) * deviation / math.sqrt(n)
    middle = differences.mean(axis=0)
    return np.maximum(middle - half, -1), np.minimum(middle + half, 1)
