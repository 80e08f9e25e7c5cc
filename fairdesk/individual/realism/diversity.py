"""How diverse found instances are: which kinds of real people they cover, and the most unlike."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.population.nearest import measured, refuse_nobody, scaled
from fairdesk.results.events import Rows

#: Clusters are fitted to, and the most unlike chosen from, at most so many people.
MOST_PEOPLE = 20_000
#: Of an attribute's names only so many of the commonest tell people apart.
MOST_NAMES = 50


@dataclass(frozen=True, slots=True)
class Clusters:
    """Groups of alike people, by what members of a similar set share.

    Attributes
    ----------
    domain : Domain
        Says what the codes are.
    names : dict[int, Rows]
        The codes of the names that tell people apart, by attribute.
    centres : NDArray[np.float64]
        ``(k, columns)``.
    sizes : NDArray[np.intp]
        ``(k,)``; how many of the real people are in each; never 0, the largest first.
    """

    domain: Domain
    names: dict[int, Rows]
    centres: NDArray[np.float64]
    sizes: NDArray[np.intp]

    def of(self, rows: Rows) -> NDArray[np.intp]:
        """Return the cluster of each of ``(n, d)`` rows: ``(n,)``."""
        return _assigned(_features(self.domain, self.names, rows), self.centres)


def clusters(domain: Domain, people: Rows, k: int, rng: np.random.Generator) -> Clusters:
    """Divide real people into groups of alike ones, by k-means.

    Parameters
    ----------
    people : Rows
        ``(m, d)``, without missing codes.
    k : int
        Groups wanted; there are fewer where fewer people are unlike.

    Raises
    ------
    DataError
        When there are no people.
    """
    from scipy.cluster.vq import kmeans2  # noqa: PLC0415 - slow to import, seldom needed

    refuse_nobody(people)
    names = {
        i: _commonest(people[:, i])
        for i in measured(domain).tolist()
        if domain.attributes[i].kind in (Kind.NOMINAL, Kind.TEXT)
    }
    some = people[rng.permutation(len(people))[:MOST_PEOPLE]]
    features = _features(domain, names, some)
    unlike = int(numbered(features).max()) + 1
    with warnings.catch_warnings():
        # a cluster may lose its last person on the way; it is left out below
        warnings.filterwarnings("ignore", "One of the clusters is empty", UserWarning)
        centres, _ = kmeans2(features, min(k, unlike), minit="++", rng=rng)
    sizes = np.bincount(
        _assigned(_features(domain, names, people), centres), minlength=len(centres)
    )
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] > 0]
    return Clusters(domain, names, centres[order], sizes[order])


def coverage(clusters: Clusters, rows: Rows) -> NDArray[np.intp]:
    """Count how many of ``(n, d)`` rows are in each cluster, ``(k,)``."""
    return np.bincount(clusters.of(rows), minlength=len(clusters.centres))


def numbered(rows: Rows | NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return equal rows of ``(n, m)`` the same number, from 0 without gaps: ``(n,)``.

    Column by column: a sort of whole rows would hold the interpreter, and with it the window, for
    seconds, while sorts of numbers do not.
    """
    number = np.zeros(len(rows), dtype=np.intp)
    for column in rows.T:
        values, place = np.unique(column, return_inverse=True)
        number = np.unique(number * len(values) + place, return_inverse=True)[1]
    return number


def representatives(
    domain: Domain, rows: Rows, k: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Choose people who are most unlike each other, by Gower's distance.

    Each next one is the farthest from those chosen before, which is at least half as good as the
    best choice (T. F. Gonzalez, *Clustering to minimize the maximum intercluster distance*,
    Theoretical Computer Science 38, 1985).

    Parameters
    ----------
    rows : Rows
        ``(n, d)``; of more than `MOST_PEOPLE` so many drawn at random are looked at.

    Returns
    -------
    NDArray[np.intp]
        ``(at most k,)`` positions, in the order of their choice; fewer where fewer are unlike.
    """
    some = rng.permutation(len(rows))[:MOST_PEOPLE]
    codes = scaled(domain, rows[some])
    chosen: list[int] = []
    # the one farthest from anybody at all comes first: it is at an end
    apart = _distances(codes, 0) if len(codes) else np.zeros(0)
    while len(chosen) < min(k, len(codes)):
        farthest = int(apart.argmax())
        if chosen and apart[farthest] == 0:
            break
        from_it = _distances(codes, farthest)
        apart = np.minimum(apart, from_it) if chosen else from_it
        chosen.append(farthest)
    return np.asarray(some[chosen], dtype=np.intp)


def _distances(codes: Rows, one: int) -> NDArray[np.float64]:
    return np.asarray(np.minimum(np.abs(codes - codes[one]), 1.0).mean(axis=1))


def _commonest(codes: Rows) -> Rows:
    names, counts = np.unique(codes, return_counts=True)
    return np.asarray(names[np.argsort(-counts, kind="stable")[:MOST_NAMES]])


def _features(domain: Domain, names: dict[int, Rows], rows: Rows) -> Rows:
    """Return numbers as shares of their range, and a column per name: ``(n, columns)``.

    Two names are as far apart as the two ends of a range.
    """
    shares = np.clip(scaled(domain, rows), -1.0, 2.0)
    columns = [
        (rows[:, i, None] == names[i]) * np.sqrt(0.5) if i in names else shares[:, j, None]
        for j, i in enumerate(measured(domain).tolist())
    ]
    return np.concatenate(columns, axis=1)


def _assigned(features: Rows, centres: NDArray[np.float64]) -> NDArray[np.intp]:
    """``(n,)``; the nearest centre of each."""
    from scipy.cluster.vq import vq  # noqa: PLC0415 - see above

    if not len(features):
        return np.empty(0, dtype=np.intp)
    return np.asarray(vq(features, centres)[0], dtype=np.intp)
