"""The expected calibration error: how far scores are from how often labels are favourable.

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

import numpy as np

from fairdesk.groups.metrics.error_rates import BINS
from fairdesk.mitigate.measures.differences import ALPHA, Mask
from fairdesk.mitigate.measures.resampling import Numbers, resampled


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
