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
