"""Finding the boxes of a tree's nodes, and the points of boxes, compiled."""
# numba has no types
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Places
from fairdesk.compiled import outer, put


@outer(
    "void(int64[::1], int32[::1], int32[::1], int16[::1], int64[::1], int64[:, ::1],"
    " int64[:, ::1])",
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
        As of `fairdesk.certify.domain.boxes.Tree`.
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


@outer(
    "int64(int64[::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int16[::1],"
    " int64[::1], int32[::1], int32[::1], int32[::1], int8[::1], int64)",
)
def carve(
    nodes: NDArray[np.int64],
    low: Places,
    high: Places,
    new_low: Places,
    new_high: Places,
    axis: NDArray[np.int16],
    cut: NDArray[np.int64],
    first: NDArray[np.int32],
    parent: NDArray[np.int32],
    root: NDArray[np.int32],
    verdict: NDArray[np.int8],
    count: int,
) -> int:
    """Cut leaves down to smaller boxes; what is cut off is consistent.

    Parameters
    ----------
    nodes : NDArray[np.int64]
        ``(n,)``; the leaves; in place, each becomes the leaf that is left of it.
    low, high : Places
        ``(n, a)``; their boxes.
    new_low, new_high : Places
        ``(n, a)``; what is left of these.
    axis, cut, first, parent, root, verdict
        As of `fairdesk.certify.domain.boxes.Tree`, with room for two nodes for each end that is
        moved.
    count : int
        How many nodes there are.

    Returns
    -------
    int
        How many nodes there are then.
    """
    for b in range(len(nodes)):
        for i in range(low.shape[1]):
            for end in range(2):
                if end == 0 and new_low[b, i] > low[b, i]:
                    at, gone = new_low[b, i] - 1, 0
                elif end == 1 and new_high[b, i] < high[b, i]:
                    at, gone = new_high[b, i], 1
                else:
                    continue
                node = nodes[b]
                axis[node], cut[node], first[node], verdict[node] = i, at, count, -1
                for child in range(count, count + 2):
                    parent[child], root[child] = node, root[node]
                    axis[child], first[child], verdict[child] = -1, -1, 0
                verdict[count + gone] = 1
                nodes[b] = count + 1 - gone
                count += 2
    return count


@outer("void(int32[::1], int8[::1], int8[::1])")
def uniform_below(
    first: NDArray[np.int32], verdict: NDArray[np.int8], uniform: NDArray[np.int8]
) -> None:
    """Find the nodes of a tree below which all leaves have one verdict.

    Parameters
    ----------
    first, verdict
        As of `fairdesk.certify.domain.boxes.Tree`, ``(n,)``.
    uniform : NDArray[np.int8]
        ``(n,)``, filled: 1 where every leaf below is consistent as a whole, 2 discriminatory, else
        0.
    """
    # children stand after their parents
    for node in range(len(first) - 1, -1, -1):
        one = first[node]
        if one < 0:
            uniform[node] = verdict[node] if verdict[node] in (1, 2) else 0
        else:
            uniform[node] = uniform[one] if uniform[one] == uniform[one + 1] else 0


@outer(
    "void(int64[:, ::1], int64[:, ::1], int64[::1], int64[::1], int64[:, ::1])",
)
def points(
    low: Places,
    high: Places,
    box: NDArray[np.int64],
    number: NDArray[np.int64],
    places: Places,
) -> None:
    """Write numbers of points in boxes as places; the last axis goes fastest.

    Parameters
    ----------
    low, high : Places
        ``(B, a)``; the ends of the boxes, both included.
    box, number : NDArray[np.int64]
        ``(n,)``; of each point its box, and its number among the points of that box, from 0.
    places : Places
        ``(n, a)``; filled.
    """
    for n in range(len(box)):
        own, left = box[n], number[n]
        put(places[n], low[own])
        i = low.shape[1]
        while left > 0 and i > 0:
            i -= 1
            width = high[own, i] - low[own, i] + 1
            if width > 1:
                whole = left // width
                places[n, i] += left - whole * width
                left = whole
