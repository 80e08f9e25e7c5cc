"""How sure a difference of two rates is: margins, intervals and p-values, for many at once.

Also of rates of the same sentences with several terms in turn, which are compared sentence by
sentence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from fairdesk.groups.options import Z

Numbers = NDArray[np.float64]

#: Of an interval that holds the true rate in 95 of a hundred samples, on both sides.
_Z_95 = NormalDist().inv_cdf(0.975)
#: Of the intervals of all rule sets together, and of Holm's correction.
ALPHA = 0.05
#: With fewer hits (or misses) than this on a side the normal approximation is too bold, far out.
_RARE = 250.0
#: A deviation that is no more than what floating point rounds.
_NOUGHT = 1e-5
#: What must be known of mean scores.
SCORES_NOTE = (
    "Confidence intervals and p-values of mean scores assume that means are nearly normally "
    "distributed: with very uneven or few scores, the intervals are too narrow and the "
    "p-values too small."
)
#: From so small an error on.
_SMALL = 1e-3


@dataclass(frozen=True)
class Side:
    """What samples of one side of many rule sets came to.

    Attributes
    ----------
    n : NDArray[np.float64]
        ``(R,)``; how many there were; not none.
    total : NDArray[np.float64]
        ``(R,)``; how many of them had the decision, or the sum of their scores.
    squares : NDArray[np.float64], optional
        ``(R,)``; of scores, the sum of their squares.
    effective : bool
        Whether ``n`` is an effective size, which need not be whole (see `by_rows`).
    """

    n: Numbers
    total: Numbers
    squares: Numbers | None = None
    effective: bool = False

    def of(self, places: NDArray[np.intp]) -> Side:
        """Return that of some of the rule sets."""
        squares = None if self.squares is None else self.squares[places]
        return Side(self.n[places], self.total[places], squares, self.effective)

    def by_rows(self, rows: NDArray[np.int64]) -> Side:
        """Return the side as that many independent individuals as its samples are worth.

        ``n`` samples are drawn with replacement from ``m`` data rows, which are themselves a
        sample. If a row's samples have the decision with probability ``q``, the mean of all has
        the variance ``Var(q) / m * (1 - 1/n) + p (1 - p) / n``, and ``Var(q)`` is at most
        ``p (1 - p)``: so it is at most that of ``n m / (n + m - 1)`` independent individuals,
        never more than ``m`` however many samples are drawn from them (L. Kish, "Survey
        Sampling", 1965). Of scores likewise, with the samples' variance.

        Parameters
        ----------
        rows : NDArray[np.int64]
            ``(R,)``; the data rows from which samples are drawn; at least 1.
        """
        n = self.n * rows / (self.n + rows - 1)
        squares = None if self.squares is None else self.squares / self.n * n
        # in this order shares stay within 0 and 1
        return Side(n, self.mean * n, squares, effective=True)

    @cached_property
    def mean(self) -> Numbers:
        """The share, or mean score: ``(R,)``."""
        return self.total / self.n

    @cached_property
    def deviation(self) -> Numbers:
        """The standard deviation of one sample: ``(R,)``.

        Where all samples are alike, that of a sample of two more alike and two unlike (Agresti and
        Coull, 1998): an estimate of nought by chance would claim that there is no doubt at all.
        """
        if self.squares is None:
            deviation = np.sqrt(self.mean * (1 - self.mean))
        else:
            rest = np.maximum(self.squares - self.total * self.mean, 0.0)
            deviation = np.sqrt(rest / np.maximum(self.n - 1, 1))
        share = 2 / (self.n + 4)
        return np.where(deviation > _NOUGHT, deviation, np.sqrt(share * (1 - share)))

    def half(self, z: float) -> Numbers:
        """Return the paper's half width, ``z * sqrt(p (1 - p) / n)``: ``(R,)``."""
        return np.asarray(z * self.deviation / np.sqrt(self.n))


def wilson(total: Numbers, n: Numbers, z: Numbers) -> tuple[Numbers, Numbers]:
    """Return Wilson's interval (1927) for ``total`` hits in ``n`` samples."""
    middle = (total + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * np.sqrt(total * (n - total) / n + z * z / 4)
    low, high = np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
    return np.where(total > 0, low, 0.0), np.where(total < n, high, 1.0)


def wilson_ends(k: int, n: int) -> tuple[float, float]:
    """Return Wilson's interval (95 %) for the rate of ``k`` in ``n`` rows."""
    (low,), (high,) = wilson(*(np.array([float(each)]) for each in (k, n, _Z_95)))
    return float(low), float(high)


def interval(inside: Side, outside: Side, alpha: Numbers | float) -> tuple[Numbers, Numbers]:
    """Return between what the difference of two sides lies, with an error of ``alpha`` at most.

    Of rates it is Newcombe's hybrid score interval (R. G. Newcombe, "Interval Estimation for the
    Difference between Independent Proportions", Statistics in Medicine 17, 1998, method 10). Where
    hits or misses are rare and the error is small, Wilson's ends in it miss too often: then those
    of Clopper and Pearson are taken where they are farther out; with an effective sample size
    whatever the error is (E. L. Korn and B. I. Graubard, "Confidence Intervals for Proportions
    with Small Expected Number of Positive Counts Estimated from Survey Data", Survey Methodology
    24, 1998). Of mean scores it is Welch's.

    Parameters
    ----------
    inside, outside : Side
        ``(R,)`` each.
    alpha : float or NDArray[np.float64]
        ``(R,)``; above 0 and below 1.
    """
    # slow to import, needed where something was sampled
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415

    gap = inside.mean - outside.mean
    if inside.squares is not None:
        error, freedom = _welch(inside, outside)
        half = -stdtrit(freedom, np.asarray(alpha) / 2) * error
        return np.maximum(gap - half, -1.0), np.minimum(gap + half, 1.0)
    alpha = np.broadcast_to(np.asarray(alpha, dtype=np.float64), gap.shape)
    z = np.asarray(-ndtri(alpha / 2))
    low_in, high_in = _ends(inside, z, alpha)
    low_out, high_out = _ends(outside, z, alpha)
    below = np.hypot(inside.mean - low_in, high_out - outside.mean)
    above = np.hypot(high_in - inside.mean, outside.mean - low_out)
    return np.maximum(gap - below, -1.0), np.minimum(gap + above, 1.0)


def _ends(side: Side, z: Numbers, alpha: Numbers) -> tuple[Numbers, Numbers]:
    """Return an interval of each rate: Wilson's; far out in a tail the exact one if it is wider."""
    from scipy.special import betaincinv  # noqa: PLC0415 - see above

    low, high = wilson(side.total, side.n, z)
    hits, misses = side.total, side.n - side.total
    far = (np.minimum(hits, misses) < _RARE) & ((alpha < _SMALL) | side.effective)
    if far.any():
        hits, misses, half = hits[far], misses[far], alpha[far] / 2
        # at no hit, or no miss, the end is the range's own
        least = np.where(hits > 0, betaincinv(_some(hits), misses + 1, half), 0.0)
        most = 1 - np.where(misses > 0, betaincinv(_some(misses), hits + 1, half), 0.0)
        low[far], high[far] = np.minimum(low[far], least), np.maximum(high[far], most)
    return low, high


def _some(hits: Numbers) -> Numbers:
    """Return hits where there are any; 1 elsewhere, for functions that must not be given 0."""
    return np.where(hits > 0, hits, 1.0)


def p_values(inside: Side, outside: Side) -> Numbers:
    """Return how likely a difference so great is by chance, each by itself: ``(R,)``, two-sided.

    Of rates by the Z test with the pooled rate; where hits, or misses, are too rare for it, by
    the binomial distribution of how many of them are inside: nearly Fisher's exact test, and
    farther out a little more. Of mean scores by Welch's test.
    """
    from scipy.special import betainc, ndtr, stdtr  # noqa: PLC0415 - see above

    gap = np.abs(inside.mean - outside.mean)
    if inside.squares is not None:
        error, freedom = _welch(inside, outside)
        return np.asarray(np.minimum(2 * stdtr(freedom, -gap / error), 1.0))
    everybody = inside.n + outside.n
    rate = (inside.total + outside.total) / everybody
    error = np.sqrt(rate * (1 - rate) * (1 / inside.n + 1 / outside.n))
    p = 2 * ndtr(-np.divide(gap, error, out=np.zeros_like(gap), where=error > 0))
    rare = np.minimum(rate, 1 - rate) * np.minimum(inside.n, outside.n) < _RARE
    misses = rate > 0.5
    hits_in = np.where(misses, inside.n - inside.total, inside.total)[rare]
    hits_out = np.where(misses, outside.n - outside.total, outside.total)[rare]
    share = (inside.n / everybody)[rare]
    # at least so many of the hits inside; at least so many of them outside
    many_in = np.where(hits_in > 0, betainc(_some(hits_in), hits_out + 1, share), 1.0)
    many_out = np.where(hits_out > 0, betainc(_some(hits_out), hits_in + 1, 1 - share), 1.0)
    p[rare] = np.minimum(2 * np.minimum(many_in, many_out), 1.0)
    return np.asarray(p)


def holm(p: Numbers, count: int) -> Numbers:
    """Correct p-values for all ``count`` tests of which they are some, those left out being 1.

    S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of
    Statistics 6, 1979. It holds however the tests depend on each other. Written out here: the
    library that has it takes longer to load than this to run.
    """
    order = np.argsort(p, kind="stable")
    stepped = p[order] * (count - np.arange(len(p)))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return corrected


def _welch(inside: Side, outside: Side) -> tuple[Numbers, Numbers]:
    """Return the standard error of the difference of two means, and its degrees of freedom."""
    parts = [(side.deviation**2 / side.n, np.maximum(side.n - 1, 1)) for side in (inside, outside)]
    error = sum(part for part, _ in parts)
    freedom = error**2 / sum(part**2 / n for part, n in parts)
    return np.sqrt(error), np.asarray(freedom)


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
