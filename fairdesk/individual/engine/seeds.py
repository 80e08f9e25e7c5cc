"""Where searches start: rows of the data, drawn in turn from clusters, or as common as they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.results.events import Rows


def starting_rows(
    domain: Domain, people: Rows, clusters: int, number: int, rng: np.random.Generator
) -> tuple[Rows, NDArray[np.intp]]:
    """Draw the rows from which a search starts, and bring them into the domain.

    Where only what resembles the data is allowed, each row is as likely as any other, so that what
    is found around them is as diverse as the data. Else they are `clustered_seeds`.

    Parameters
    ----------
    domain : Domain
        What may be queried.
    people, clusters, number, rng
        As of `clustered_seeds`.

    Returns
    -------
    rows : Rows
        ``(n, d)``, at most ``number``; without those that the domain cannot hold.
    combination : NDArray[np.intp]
        ``(n,)``; the index of each row's own combination of protected values.
    """
    if domain.resembles_data:
        seeds = people[rng.permutation(len(people))[:number]]
    else:
        seeds = clustered_seeds(people, clusters, number, rng)
    return domain.admit(seeds)


def clustered_seeds(people: Rows, clusters: int, number: int, rng: np.random.Generator) -> Rows:
    """Draw seeds round-robin from k-means clusters, each person at most once.

    Parameters
    ----------
    people : Rows
        ``(n, d)``.
    clusters : int
        Clusters wanted; fewer where fewer people are unlike.
    number : int
        Seeds wanted; all people when there are no more.

    Returns
    -------
    Rows
        ``(min(number, n), d)``.
    """
    # slow to import, needed in a search only
    from scipy.cluster.vq import kmeans2  # noqa: PLC0415

    from fairdesk.individual.engine import kernels  # noqa: PLC0415

    people = rng.permutation(people)
    if number >= len(people):
        return people
    discriminatory, _ = kernels.distinct(kernels.row_keys(people))
    # centres are drawn by their distance from those before, and there must be one
    _, cluster = kmeans2(people, min(clusters, len(discriminatory)), minit="++", rng=rng)
    # the turn in which a person comes: first all clusters' first, then all clusters' second, ...
    by_cluster = np.argsort(cluster, kind="stable")
    sizes = np.bincount(cluster)
    turn = np.empty(len(people), dtype=np.intp)
    turn[by_cluster] = np.concatenate([np.arange(size) for size in sizes])
    return people[np.lexsort((cluster, turn))[:number]]
