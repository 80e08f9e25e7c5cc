"""Which attributes a tree joins: mutual information, and the forest that has most of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def mutual_information(cells: NDArray[np.intp], sizes: Sequence[int]) -> NDArray[np.float64]:
    """Return how much any two attributes tell of each other, in nats, less what chance would.

    Shares in a sample tell something even of independent attributes: Miller and Madow's
    correction (G. A. Miller, *Note on the bias of information estimates*, 1955).

    Parameters
    ----------
    cells : NDArray[np.intp]
        ``(n, d)``.

    Returns
    -------
    NDArray[np.float64]
        ``(d, d)``, symmetric; 0 on the diagonal, and negative where chance would tell more.
    """
    n, d = cells.shape
    columns = [np.ascontiguousarray(cells[:, i]) for i in range(d)]
    entropies = [_entropy(np.bincount(each), n) for each in columns]
    information = np.zeros((d, d))
    for i in range(d):
        ahead = columns[i]
        for j in range(i):
            joint = _entropy(np.bincount(ahead * sizes[j] + columns[j]), n)
            information[i, j] = information[j, i] = entropies[i] + entropies[j] - joint
    return information


def _entropy(counts: NDArray[np.intp], n: int) -> float:
    """Estimate an entropy of counts that sum to ``n``."""
    held = counts[counts > 0]
    return float(np.log(n) - (held * np.log(held)).sum() / n + (len(held) - 1) / (2 * n))


def spanning_forest(weights: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the edges of the forest of the greatest weight (J. B. Kruskal, 1956).

    Parameters
    ----------
    weights : NDArray[np.float64]
        ``(d, d)``, symmetric. An edge that is not positive is in no forest.

    Returns
    -------
    list of (int, int)
        Pairs of vertices; of equally heavy edges the first by number is taken first.
    """
    first, second = np.triu_indices(len(weights), 1)
    heavy = weights[first, second]
    component = np.arange(len(weights))
    edges = []
    for place in np.argsort(-heavy, kind="stable").tolist():
        i, j = int(first[place]), int(second[place])
        if heavy[place] <= 0:
            break
        if component[i] != component[j]:
            component[component == component[j]] = component[i]
            edges.append((i, j))
    return edges


def directed(edges: Sequence[tuple[int, int]], d: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Point the edges of a forest of ``d`` vertices away from the least vertex of each tree.

    Returns
    -------
    parents : NDArray[np.intp]
        ``(d,)``; -1 for a root.
    order : NDArray[np.intp]
        ``(d,)``; all vertices, each behind its parent.
    """
    neighbours: list[list[int]] = [[] for _ in range(d)]
    for i, j in edges:
        neighbours[i].append(j)
        neighbours[j].append(i)
    parents = np.full(d, -1)
    order: list[int] = []
    met = set[int]()
    for root in range(d):
        waiting = deque([] if root in met else [root])
        met.add(root)
        while waiting:
            here = waiting.popleft()
            order.append(here)
            for other in sorted(neighbours[here]):
                if other not in met:
                    met.add(other)
                    parents[other] = here
                    waiting.append(other)
    return parents, np.array(order, dtype=np.intp)
