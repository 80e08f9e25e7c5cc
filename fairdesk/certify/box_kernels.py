"""Finding the boxes of a tree's nodes, compiled."""
# numba has no types
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from fairdesk.certify.space import Places


@njit(
    "void(int64[::1], int32[::1], int32[::1], int16[::1], int64[::1], int64[:, ::1],"
    " int64[:, ::1])",
    cache=True,
    nogil=True,
)
def narrow(
    nodes: NDArray[np.int64],
    parent: NDArray[np.int32],
    first: NDArray[np.int32],
    axis: NDArray[np.int16],
    cut: NDArray[np.int64],
    low: Places,
    high: Places,
) -> None:
    """Narrow the boxes of roots to those of nodes, in place.

    Parameters
    ----------
    nodes : NDArray[np.int64]
        ``(n,)``.
    parent, first, axis, cut
        As of `fairdesk.certify.boxes.Tree`.
    low, high : Places
        ``(n, a)``; the box of each node's root.
    """
    for i in range(len(nodes)):
        node = nodes[i]
        above = parent[node]
        while above >= 0:
            along, at = axis[above], cut[above]
            if first[above] == node:
                high[i, along] = min(high[i, along], at)
            else:
                low[i, along] = max(low[i, along], at + 1)
            node, above = above, parent[above]


@njit(
    "void(int32[::1], int8[::1], float64[::1], float64[::1], int32[::1], int8[::1])",
    cache=True,
    nogil=True,
)
def gather(
    first: NDArray[np.int32],
    verdict: NDArray[np.int8],
    alike: NDArray[np.float64],
    unlike: NDArray[np.float64],
    leaves: NDArray[np.int32],
    uniform: NDArray[np.int8],
) -> None:
    """Sum up what is known below every node of a tree.

    Parameters
    ----------
    first, verdict
        As of `fairdesk.certify.boxes.Tree`, ``(n,)``.
    alike, unlike : NDArray[np.float64]
        ``(n,)``; how many points of each leaf are proven so; filled for the other nodes.
    leaves : NDArray[np.int32]
        ``(n,)``, filled: how many leaves are below a node, itself if it is one.
    uniform : NDArray[np.int8]
        ``(n,)``, filled: 1 where every leaf below is alike as a whole, 2 unlike, else 0.
    """
    # children stand after their parents
    for node in range(len(first) - 1, -1, -1):
        one = first[node]
        if one < 0:
            leaves[node] = 1
            uniform[node] = verdict[node] if verdict[node] in (1, 2) else 0
            continue
        alike[node] = alike[one] + alike[one + 1]
        unlike[node] = unlike[one] + unlike[one + 1]
        leaves[node] = leaves[one] + leaves[one + 1]
        uniform[node] = uniform[one] if uniform[one] == uniform[one + 1] else 0
