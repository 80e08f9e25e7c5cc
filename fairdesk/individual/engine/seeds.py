"""Where searches start: real people, drawn in turn from clusters of the data."""

from __future__ import annotations

import numpy as np

from fairdesk.results.events import Rows


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
    rng : np.random.Generator
        Randomness of the clustering and of the draw.

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
