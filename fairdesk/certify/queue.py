"""Leaves of a tree by weight, the heaviest first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]

#: Leaves within so many octaves of weight are as good as each other.
_PER_OCTAVE = 4


class Queue:
    """Leaves, the heaviest first, about."""

    def __init__(self) -> None:
        self._buckets: dict[int, list[NDArray[np.int64]]] = {}

    def __len__(self) -> int:
        return sum(len(part) for parts in self._buckets.values() for part in parts)

    def __bool__(self) -> bool:
        return bool(self._buckets)

    def put(self, nodes: NDArray[np.int64], weights: Float64) -> None:
        """Put leaves in."""
        # what rounding leaves of nothing is nothing much
        weight = np.floor(_PER_OCTAVE * np.log2(np.maximum(weights, 1e-300))).astype(np.int64)
        for bucket in np.unique(weight).tolist():
            self._buckets.setdefault(bucket, []).append(nodes[weight == bucket])

    @property
    def heaviest(self) -> float:
        """How much the heaviest leaf weighs, about; 0 where there is none."""
        return 2.0 ** (max(self._buckets) / _PER_OCTAVE) if self._buckets else 0.0

    def take(self, most: int) -> NDArray[np.int64]:
        """Take out at most so many of the heaviest."""
        taken: list[NDArray[np.int64]] = []
        while most > 0 and self._buckets:
            heaviest = max(self._buckets)
            parts = self._buckets[heaviest]
            part = parts.pop()
            if len(part) > most:
                parts.append(part[most:])
                part = part[:most]
            if not parts:
                del self._buckets[heaviest]
            taken.append(part)
            most -= len(part)
        return np.concatenate([np.empty(0, dtype=np.int64), *taken])
