"""What the merging of shards has in common: unique pairs, and running totals."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.results.events import Found, Progress, Rows, selected

Keys = NDArray[np.uint64]

#: The multipliers of splitmix64.
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_STEP = 0x9E3779B97F4A7C15
_WORD = (1 << 64) - 1


def keys(rows: Rows) -> Keys:
    """Return each of ``(n, d)`` rows a 64-bit key, ``(n,)``; equal rows have equal keys.

    As in `fairdesk.individual.engine.kernels`, but for a process that compiles nothing.
    """
    made = np.zeros(len(rows), dtype=np.uint64)
    for place, column in enumerate(rows.T):
        # -0.0 and 0.0 are one
        bits = np.ascontiguousarray(column + 0.0).view(np.uint64)
        bits = bits + np.uint64(_STEP * (place + 1) & _WORD)
        bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
        bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
        made += bits ^ (bits >> np.uint64(31))
    return made


class UniquePairs:
    """Lets each instance through once, by what is equal in its counterfactual set."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        #: The keys let through, in sorted arrays of which each is at least twice the next: so that
        #: many small batches do not sort all of them each time.
        self._met: list[Keys] = []

    @property
    def size(self) -> int:
        """How many were let through."""
        return sum(map(len, self._met))

    def new(self, found: Found, most: int | None = None) -> Found:
        """Return the instances that were not met before, the first of each, ``most`` of them."""
        given = keys(self._domain.identity(found.rows))
        order = np.argsort(given, kind="stable")
        ordered = given[order]
        fresh = np.ones(len(given), dtype=np.bool_)
        fresh[1:] = ordered[1:] != ordered[:-1]
        for met in self._met:
            place = np.minimum(np.searchsorted(met, ordered), len(met) - 1)
            fresh &= met[place] != ordered
        chosen = np.sort(order[fresh])[:most]
        self._keep(np.sort(given[chosen]))
        kept = np.zeros(len(given), dtype=np.bool_)
        kept[chosen] = True
        return selected(found, kept)

    def _keep(self, fresh: Keys) -> None:
        if not len(fresh):
            return
        while self._met and len(self._met[-1]) < 2 * len(fresh):
            fresh = np.sort(np.concatenate([self._met.pop(), fresh]))
        self._met.append(fresh)


def added(one: Progress, other: Progress) -> Progress:
    """Return the counts of two parts together, otherwise as ``other`` is.

    Instances that both tested count twice; seconds are those of both, one after the other.
    """
    return msgspec.structs.replace(
        other,
        tried=one.tried + other.tried,
        found=one.found + other.found,
        queries=one.queries + other.queries,
        rejected=one.rejected + other.rejected,
        seconds={
            phase: one.seconds.get(phase, 0.0) + other.seconds.get(phase, 0.0)
            for phase in {**one.seconds, **other.seconds}
        },
    )
