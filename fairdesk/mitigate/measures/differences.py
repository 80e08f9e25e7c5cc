"""Whether two models differ in a figure, by bootstrap: AUC, calibration, and differences of rates.

What is compared are yeses and noes: whether a row is decided rightly, whether a person is
discriminated against. Only those count about whom the two models differ.

B. Efron, "Bootstrap Methods: Another Look at the Jackknife", Annals of Statistics 7, 1979. All that
is measured here is made of means over rows; so only means are resampled. Rows that are alike are
drawn together, by how many of them there are. Where too many differ for that, the means of so many
rows are as good as normally distributed, and are drawn from that distribution.

E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the Areas under Two or More
Correlated Receiver Operating Characteristic Curves: A Nonparametric Approach", Biometrics 44, 1988;
by ranks, as in X. Sun and W. Xu, IEEE Signal Processing Letters 21, 2014.

M. P. Naeini, G. F. Cooper and M. Hauskrecht, "Obtaining Well Calibrated Probabilities Using
Bayesian Binning", AAAI 2015: in each of ten bins, how far the mean score is from the share of
favourable labels, weighted by its rows.

**Intervals.** It is a sum of ten absolute numbers, so chance makes it greater, most where a model
is well calibrated; and resamples are greater again. Their percentiles may miss the truth always,
mirrored or not. What does not: each bin's mean is off by some error, and the sum of ten absolute
numbers is off by the sum of the errors' absolute values at most, and at least by the sum of the
errors with the signs that the bins have. How great these sums are the bootstrap tells.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from fairdesk.groups.metrics.group_table import BINS

Numbers = NDArray[np.float64]
#: Both ends of an interval; ``None`` where there is none.
Ends = tuple[float, float] | tuple[None, None]

#: So many resamples tell an interval of 95 %.
TIMES = 2_000
#: From so many rows on, no two alike, means are drawn from their normal distribution.
_MANY = 100
#: Less apart than this is only rounding.
_ZERO = 1e-12
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
    if np.ptp(draws) < _ZERO:
        return None, None
    low, high = np.quantile(draws, (alpha / 2, 1 - alpha / 2)).tolist()
    return min(low, estimate), max(high, estimate)


def p_value(draws: Numbers) -> Numbers:
    """Return how likely resampled differences lie on both sides of nought, or at it.

    Of ``(times,)`` of them one number, of ``(times, m)`` one for each column.
    """
    below, above = (draws <= _ZERO).sum(axis=0), (draws >= -_ZERO).sum(axis=0)
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
    return ((low, high) if high - low > _ZERO else (None, None)), p


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


_Z = NormalDist().inv_cdf(1 - ALPHA / 2)
#: A variance that is no more than rounding.
_NO_VARIANCE = 1e-15


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
    if not variance > _NO_VARIANCE or not 0 < area < 1:
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
    if not variance > _NO_VARIANCE:
        return (None, None), 1.0
    error = math.sqrt(variance)
    ends = max(-1.0, difference - _Z * error), min(1.0, difference + _Z * error)
    return ends, math.erfc(abs(difference) / error / math.sqrt(2))


def calibration(scores: Numbers, label: Mask, seed: int) -> tuple[float, float, float]:
    """Return the error of one model's scores, and its 95 % interval.

    Parameters
    ----------
    scores : NDArray[np.float64]
        ``(n,)``; probabilities.
    label : NDArray[np.bool_]
        ``(n,)``; whether the label is favourable.
    """
    parts = _parts(scores, label)
    least, most = _off(parts.mean(axis=0), resampled(parts, np.random.default_rng(seed)))
    error = _error(parts.mean(axis=0))
    return error, max(0.0, error - _above(most)), min(1.0, error - _below(least))


def calibration_change(
    after: Numbers, before: Numbers, label: Mask, seed: int
) -> tuple[float, float]:
    """Return the 95 % interval of the difference of two models' errors, on the same rows.

    It is wide where a model is well calibrated: what it then seems to lack may be chance alone.
    """
    parts = np.hstack([_parts(after, label), _parts(before, label)])
    means, draws = parts.mean(axis=0), resampled(parts, np.random.default_rng(seed))
    (least, most), (least_before, most_before) = (
        _off(means[half], draws[:, half]) for half in (slice(BINS), slice(BINS, None))
    )
    difference = _error(means[:BINS]) - _error(means[BINS:])
    low = difference - _above(most - least_before)
    high = difference - _below(least - most_before)
    return max(-1.0, min(low, difference)), min(1.0, max(high, difference))


def _parts(scores: Numbers, label: Mask) -> Numbers:
    """``(n, 10)``; how much each row's score is above its label, in its own bin."""
    bins = np.clip(np.ceil(scores * BINS) - 1, 0, BINS - 1).astype(np.intp)
    parts = np.zeros((len(scores), BINS))
    parts[np.arange(len(scores)), bins] = scores - label
    return parts


def _error(means: Numbers) -> float:
    return min(1.0, float(np.abs(means).sum()))


def _off(means: Numbers, draws: Numbers) -> tuple[Numbers, Numbers]:
    """By how much each resample's sum is off, at least and at most: ``(times,)`` each."""
    errors = draws - means
    return errors @ np.sign(means), np.abs(errors).sum(axis=1)


def _above(off: Numbers) -> float:
    return float(np.quantile(off, 1 - ALPHA / 2))


def _below(off: Numbers) -> float:
    return float(min(np.quantile(off, ALPHA / 2), 0.0))
