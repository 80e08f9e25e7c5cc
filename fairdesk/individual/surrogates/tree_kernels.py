"""The compiled loops of local trees: of each tree only the path on which the person is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdesk.compiled import inner, whole
from fairdesk.results.events import Rows

#: Up to so many equally spaced codes are counted at their places; more are sorted.
PLACES = 256

#: Per person and level: the attribute (-1: the path has ended), the threshold, whether the person
#: is above it, and the share of the samples there that are on the person's side.
Paths = tuple[NDArray[np.int64], Rows, NDArray[np.bool_], Rows]


@inner(_nrt=True)
def best_threshold(
    codes: Rows,
    classes: NDArray[np.int64],
    weights: Rows,
    here: NDArray[np.int64],
    size: int,
    spacing: float,
    total: Rows,
    counts: Rows,
) -> tuple[float, float]:
    """Find where one attribute splits samples into the purest two parts (Gini impurity).

    Parameters
    ----------
    codes, classes, weights : Rows, NDArray[np.int64], Rows
        ``(s,)``; of all samples.
    here, size : NDArray[np.int64], int
        The positions of those that are split: the first ``size`` of ``here``.
    spacing : float
        How far neighbouring codes are apart, 0 for any fraction.
    total : Rows
        ``(k,)``; the weight of each class among them.
    counts : Rows
        ``(max(PLACES, size), k + 2)``; room to work in: per code the weight of each class, the
        code, and whether there is one.

    Returns
    -------
    float, float
        How pure, from 0, and the threshold, half way between two codes; -1 where all are alike.
    """
    k = len(total)
    low = high = codes[here[0]]
    for a in range(size):
        low, high = min(low, codes[here[a]]), max(high, codes[here[a]])
    if low == high:
        return -1.0, 0.0
    used = 0
    if spacing > 0 and high - low <= (PLACES - 1) * spacing:
        used = int((high - low) / spacing + 0.5) + 1
        counts[:used] = 0.0
        for a in range(size):
            code = codes[here[a]]
            place = int((code - low) / spacing + 0.5)
            counts[place, classes[here[a]]] += weights[here[a]]
            counts[place, k] = code
            counts[place, k + 1] = 1.0
    else:
        order = np.argsort(codes[here[:size]])
        last = -np.inf
        for a in here[order]:
            if codes[a] > last:
                last = codes[a]
                counts[used] = 0.0
                counts[used, k], counts[used, k + 1] = last, 1.0
                used += 1
            counts[used - 1, classes[a]] += weights[a]
    best, threshold, last = -1.0, 0.0, counts[0, k]
    left = counts[0, :k].copy()
    for place in range(1, used):
        if counts[place, k + 1] == 0.0:
            continue
        # the purer both sides are, the greater is the sum of squares over the sum
        on_left = on_right = left_squares = right_squares = 0.0
        for c in range(k):
            right = total[c] - left[c]
            on_left += left[c]
            on_right += right
            left_squares += left[c] * left[c]
            right_squares += right * right
            left[c] += counts[place, c]
        purity = left_squares / max(on_left, 1e-300) + right_squares / max(on_right, 1e-300)
        if purity > best * (1 + 1e-12):  # of equal ones, but for rounding, the first
            best, threshold = purity, (last + counts[place, k]) / 2
        last = counts[place, k]
    return best, threshold


@whole(
    "Tuple((int64[:, ::1], float64[:, ::1], boolean[:, ::1], float64[:, ::1]))"
    "(float64[:, :, ::1], int64[:, ::1], float64[:, ::1], int64[::1], float64[::1], int64, int64)"
)
def tree_paths(
    samples: Rows,
    classes: NDArray[np.int64],
    weights: Rows,
    attributes: NDArray[np.int64],
    spacing: Rows,
    class_count: int,
    depth: int,
) -> Paths:
    """Grow a decision tree (CART) for each person, along the person's path only.

    What a node does hangs on the samples that reach it, so the other branches need not be grown.
    Of equally good splits the first attribute's lowest is taken. A path ends where all samples are
    of one class, or alike.

    Parameters
    ----------
    samples : Rows
        ``(n, s, d)``; of each person the samples around them, the person first.
    classes : NDArray[np.int64]
        ``(n, s)``; from 0 to ``class_count - 1``.
    weights : Rows
        ``(n, s)``; 0 for those that do not count.
    attributes : NDArray[np.int64]
        ``(m,)``; which may be split.
    spacing : Rows
        ``(d,)``; how far neighbouring codes are apart, 0 for any fraction.
    depth : int
        A path has at most so many splits.

    Returns
    -------
    Paths
        Four arrays of shape ``(n, depth)``.
    """
    n, s = classes.shape
    found = np.full((n, depth), -1, np.int64)
    thresholds = np.zeros((n, depth))
    above = np.zeros((n, depth), np.bool_)
    shares = np.zeros((n, depth))
    counts = np.empty((max(PLACES, s), class_count + 2))
    for i in range(n):
        here = np.arange(s)
        size = s
        for level in range(depth):
            total = np.zeros(class_count)
            for a in range(size):
                total[classes[i, here[a]]] += weights[i, here[a]]
            if (total > 0).sum() < 2:
                break
            best, split, threshold = -1.0, -1, 0.0
            for j in attributes:
                purity, at = best_threshold(
                    samples[i, :, j], classes[i], weights[i], here, size, spacing[j], total, counts
                )
                if purity > best * (1 + 1e-12):
                    best, split, threshold = purity, j, at
            if split < 0:
                break
            side = samples[i, 0, split] > threshold
            mine, kept = 0.0, 0
            for a in range(size):
                if (samples[i, here[a], split] > threshold) == side:
                    mine += weights[i, here[a]]
                    here[kept] = here[a]
                    kept += 1
            size = kept
            found[i, level], thresholds[i, level] = split, threshold
            above[i, level], shares[i, level] = side, min(mine / total.sum(), 1.0)
    return found, thresholds, above, shares
