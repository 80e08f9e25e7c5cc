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
#: Of more pairs of values only those are counted that occur.
MOST_CELLS = 1 << 18


class Similarity:
    """How alike sets of rows are to one set, of which everything is counted once.

    Parameters
    ----------
    domain : Domain
        Says what the codes are. Columns of one value and texts do not count.
    people : Rows
        ``(m, d)``, ``m >= 1``.
    """

    def __init__(self, domain: Domain, people: Rows) -> None:
        self._domain = domain
        self._columns = [
            i
            for i, attribute in enumerate(domain.attributes)
            if attribute.low < attribute.high and attribute.kind is not Kind.TEXT
        ][:MOST_COLUMNS]
        self._numbers = {i for i in self._columns if not domain.attributes[i].values}
        self._people = _Counted(domain, people)

    def atn(self, rows: Rows) -> float:
        """Return how alike ``(n, d)`` rows are, ``n >= 1``: 0 to 1.

        Half of it is the mean over the columns: of numbers one less the statistic of Kolmogorov and
        Smirnov, of names one less the total variation distance. The other half is the mean over
        pairs of columns: of two numbers one less half the difference of the two correlations, else
        one less the total variation distance of the two tables of counts.
        """
        ours, theirs = self._people, _Counted(self._domain, rows)
        shapes = [
            _ks(ours.ordered(i), theirs.ordered(i))
            if i in self._numbers
            else _tv(ours.cells[i], theirs.cells[i])
            for i in self._columns
        ]
        trends = list(self._trends(ours, theirs))
        # one column has no pairs
        halves = [np.mean(each) for each in (shapes, trends) if each]
        return float(np.mean(halves)) if halves else 1.0

    def _trends(self, ours: _Counted, theirs: _Counted) -> Iterator[float]:
        """Yield for each pair of columns how alike their relation is."""
        apart = np.abs(ours.correlations - theirs.correlations)
        for i, j in combinations(self._columns, 2):
            if i in self._numbers and j in self._numbers:
                yield 1.0 - float(apart[i, j]) / 2
            else:
                # a number for each pair of values
                width = max(each.cells[j].max() for each in (ours, theirs)) + 1
                yield _tv(*(each.cells[i] * width + each.cells[j] for each in (ours, theirs)))


def atn(domain: Domain, people: Rows, rows: Rows) -> float:
    """Return how alike two sets of rows are: as `Similarity`, of one other set."""
    return Similarity(domain, people).atn(rows)


class _Counted:
    """What is compared of a set of rows.

    Attributes
    ----------
    cells : NDArray[np.int64]
        ``(d, n)``; of each column the codes of names as they are, and the bin of each number.
    correlations : Rows
        ``(d, d)``; of any two columns.
    """

    def __init__(self, domain: Domain, rows: Rows) -> None:
        some = np.linspace(0, len(rows) - 1, min(len(rows), MOST_ROWS)).astype(np.intp)
        self._rows = rows[some]
        self._ordered: dict[int, Rows] = {}
        self.cells = _cells(domain, self._rows)
        self.correlations = _correlations(self._rows)

    def ordered(self, i: int) -> Rows:
        """Return the codes of a column that are not missing, ascending."""
        if i not in self._ordered:
            codes = self._rows[:, i]
            self._ordered[i] = np.sort(codes[~np.isnan(codes)])
        return self._ordered[i]


def _ks(ours: Rows, theirs: Rows) -> float:
    """Return one less the greatest difference of two distribution functions."""
    if not len(ours) or not len(theirs):
        return 0.0
    places = np.concatenate((ours, theirs))
    shares = [np.searchsorted(each, places, side="right") / len(each) for each in (ours, theirs)]
    return 1.0 - float(np.abs(shares[0] - shares[1]).max())


def _tv(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> float:
    """Return one less half the sum of the differences of shares."""
    width = int(max(ours.max(), theirs.max())) + 1
    if width > MOST_CELLS:
        both, places = np.unique(np.concatenate((ours, theirs)), return_inverse=True)
        width, ours, theirs = len(both), places[: len(ours)], places[len(ours) :]
    first, second = (np.bincount(each, minlength=width) / len(each) for each in (ours, theirs))
    return 1.0 - float(np.abs(first - second).sum()) / 2


def _correlations(rows: Rows) -> Rows:
    """Return Pearson's correlation of any two columns, ``(d, d)``; 0 where one is constant."""
    missing = np.isnan(rows)
    means = np.where(missing, 0.0, rows).sum(axis=0) / np.maximum((~missing).sum(axis=0), 1)
    apart = np.where(missing, 0.0, rows - means)
    spread = np.sqrt((apart**2).sum(axis=0))
    spread[spread == 0] = 1.0
    return np.asarray((apart / spread).T @ (apart / spread))


def _cells(domain: Domain, rows: Rows) -> NDArray[np.int64]:
    """Return codes of names as they are, and the bin of each number; missing ones last."""
    cells = np.empty(rows.shape[::-1], dtype=np.int64)
    for i, attribute in enumerate(domain.attributes):
        codes, last = rows[:, i], float(len(attribute.values))
        if not attribute.values:
            share = (codes - attribute.low) / ((attribute.high - attribute.low) or 1.0)
            codes, last = np.clip(np.floor(share * BINS), 0, BINS - 1), float(BINS)
        cells[i] = np.where(np.isnan(codes), last, codes)
    return cells
