"""How alike two sets of rows are: the average trueness of naturalness, ATN.

Y. Xiao, A. Liu, T. Li and X. Liu, *Latent Imitator: Generating Natural Individual Discriminatory
Instances for Black-Box Fairness Testing*, ISSTA 2023, equation 11; the same as the quality report
of the Synthetic Data Vault. It compares sets, column by column and in pairs of columns, and says
little of single rows: columns that are shuffled independently of each other come close to 100.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.results.events import Rows

#: Into so many bins of equal width numbers are divided where they are compared with names.
BINS = 10
#: At most so many rows of each set are compared.
MOST_ROWS = 20_000
#: At most so many columns are.
MOST_COLUMNS = 100


def atn(domain: Domain, people: Rows, rows: Rows) -> float:
    """Return how alike two sets of rows are, 0 to 1.

    Half of it is the mean over the columns: of numbers one less the statistic of Kolmogorov and
    Smirnov, of names one less the total variation distance. The other half is the mean over pairs
    of columns: of two numbers one less half the difference of the two correlations, else one less
    the total variation distance of the two tables of counts.

    Parameters
    ----------
    domain : Domain
        Says what the codes are. Columns of one value and texts do not count.
    people, rows : Rows
        ``(m, d)`` and ``(n, d)``; no set empty.
    """
    people, rows = (each[_some(len(each))] for each in (people, rows))
    columns = [
        i
        for i, attribute in enumerate(domain.attributes)
        if attribute.low < attribute.high and attribute.kind is not Kind.TEXT
    ][:MOST_COLUMNS]
    numbers = {i for i in columns if not domain.attributes[i].values}
    shapes = [(_ks if i in numbers else _tv)(people[:, i], rows[:, i]) for i in columns]
    trends = list(_trends(domain, people, rows, columns, numbers))
    # one column has no pairs
    halves = [np.mean(each) for each in (shapes, trends) if each]
    return float(np.mean(halves)) if halves else 1.0


def _some(n: int) -> NDArray[np.intp]:
    return np.linspace(0, n - 1, min(n, MOST_ROWS)).astype(np.intp)


def _ks(ours: Rows, theirs: Rows) -> float:
    """Return one less the greatest difference of two distribution functions."""
    ours, theirs = np.sort(ours[~np.isnan(ours)]), np.sort(theirs[~np.isnan(theirs)])
    if not len(ours) or not len(theirs):
        return 0.0
    places = np.concatenate((ours, theirs))
    shares = [np.searchsorted(each, places, side="right") / len(each) for each in (ours, theirs)]
    return 1.0 - float(np.abs(shares[0] - shares[1]).max())


def _tv(ours: Rows, theirs: Rows) -> float:
    """Return one less half the sum of the differences of shares."""
    both, places = np.unique(np.concatenate((ours, theirs)), return_inverse=True)
    first = np.bincount(places[: len(ours)], minlength=len(both)) / len(ours)
    second = np.bincount(places[len(ours) :], minlength=len(both)) / len(theirs)
    return 1.0 - float(np.abs(first - second).sum()) / 2


def _trends(
    domain: Domain, people: Rows, rows: Rows, columns: list[int], numbers: set[int]
) -> Iterator[float]:
    """Yield for each pair of columns how alike their relation is."""
    correlations = [_correlations(each) for each in (people, rows)]
    binned = [_binned(domain, each) for each in (people, rows)]
    for i, j in combinations(columns, 2):
        if i in numbers and j in numbers:
            yield 1.0 - abs(float(correlations[0][i, j] - correlations[1][i, j])) / 2
        else:
            # a number for each pair of values
            width = max(each[:, j].max() for each in binned) + 1
            yield _tv(*(each[:, i] * width + each[:, j] for each in binned))


def _correlations(rows: Rows) -> Rows:
    """Return Pearson's correlation of any two columns, ``(d, d)``; 0 where one is constant."""
    missing = np.isnan(rows)
    means = np.where(missing, 0.0, rows).sum(axis=0) / np.maximum((~missing).sum(axis=0), 1)
    apart = np.where(missing, 0.0, rows - means)
    spread = np.sqrt((apart**2).sum(axis=0))
    spread[spread == 0] = 1.0
    return np.asarray((apart / spread).T @ (apart / spread))


def _binned(domain: Domain, rows: Rows) -> Rows:
    """Return codes of names as they are, and the bin of each number; missing ones last."""
    binned = rows.copy()
    for i, attribute in enumerate(domain.attributes):
        last = float(len(attribute.values))
        if not attribute.values:
            share = (rows[:, i] - attribute.low) / ((attribute.high - attribute.low) or 1.0)
            binned[:, i], last = np.clip(np.floor(share * BINS), 0, BINS - 1), float(BINS)
        binned[np.isnan(binned[:, i]), i] = last
    return binned
