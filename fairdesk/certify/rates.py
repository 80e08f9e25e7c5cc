"""Proven rates of groups: how often each group of a population gets the favourable decision.

A box holds combinations of all attributes but the protected ones, and one combination of these. It
is bounded by itself, so that no other combination keeps it undecided; what a form decides in it is
counted under the population, given these protected values (compare `probspecs`, ICML 2025).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Places, Space
from fairdesk.certify.refine import Queue
from fairdesk.results.proofs import GroupRate, ProvenRates

Float64 = NDArray[np.float64]

#: So many boxes are kept at most, and so many are halved at once.
_MOST_BOXES, _AT_ONCE = 400_000, 256
#: Of more combinations of protected values no rates are proven.
MOST_COMBINATIONS = 64
#: Nor where there are more boxes to begin with: one for each root and combination.
MOST_RATED = 20_000
#: Nothing is halved any more once less is undecided.
_LITTLE = 1e-4
#: The arrays of boxes.
_FIELDS = (
    *("_low", "_high", "_which", "_first", "_axis", "_cut"),
    *("_mass", "_favourable", "_other"),
)
#: The rounding of one operation.
_UNIT = 2.0**-52


@dataclass(slots=True)
class Rated:
    """What is certain in ``B`` boxes of one combination of protected values.

    Attributes
    ----------
    favourable, other : NDArray[np.float64]
        ``(B,)``; at least so large shares of each box's mass get the favourable decision, and
        another one.
    axis, cut : NDArray[np.int64]
        ``(B,)``; where to halve; -1 for nowhere.
    queries : int
        Rows that were sent to the model.
    """

    favourable: Float64
    other: Float64
    axis: NDArray[np.int64]
    cut: NDArray[np.int64]
    queries: int = 0


class RateExaminer(Protocol):
    """Says of boxes which decisions are certain in them."""

    def rate(self, low: Places, high: Places, combination: int) -> Rated:
        """Examine boxes, ``(B, a)``, with one combination of protected values."""


class RateProver:
    """Proves rates: halves the boxes whose undecided people keep the ends of rates farthest apart.

    Parameters
    ----------
    space : Space
        With a population.
    examiner : RateExaminer
        Of a model over the space.

    Attributes
    ----------
    boxes : int
        How many were examined.
    queries : int
        Rows that were sent to the model.
    """

    def __init__(self, space: Space, examiner: RateExaminer) -> None:
        if space.people is None:
            raise ValueError("no population")
        self._space, self._people, self._examiner = space, space.people, examiner
        self._given = [space.people.given(v) for v in range(len(space.domain.combinations))]
        self.boxes = self.queries = self._count = 0
        width = len(space.axes)
        self._low = np.empty((1_024, width), dtype=np.int64)
        self._high = np.empty_like(self._low)
        self._which = np.empty(1_024, dtype=np.int64)
        self._axis, self._cut = np.empty_like(self._which), np.empty_like(self._which)
        # the first half of each box that was halved, the second is the next; -1 of the others
        self._first = np.empty_like(self._which)
        # the mass of each box, and which shares of it are certain; 0 of boxes that were halved
        self._mass, self._favourable, self._other = (np.empty(1_024) for _ in range(3))
        self._queue = Queue()
        may_be = space.may_be[space.groups]
        self._total = np.zeros(may_be.shape[1])
        # it is not known who may be in unclear roots: nothing is certain of them
        roots = [np.flatnonzero(own | space.unclear) for own in may_be.T]
        for v, there in enumerate(roots):
            masses = space.people.masses(space.low[there], space.high[there], self._given[v])
            self._total[v] = masses.sum()
        self._worth = self._worth_of_mass()
        for v, there in enumerate(roots):
            clear = there[~space.unclear[there]]
            self._examine(space.low[clear], space.high[clear], np.full(len(clear), v))

    def _worth_of_mass(self) -> Float64:
        """Return by how much the ends of rates are apart for a mass of each combination, ``(C,)``.

        A group of few people needs less of it than one of many: the sum over the rates of all
        groups that the combination is in.
        """
        worth = np.zeros(len(self._total))
        for codes in self._space.domain.combinations.T:
            _, group = np.unique(codes, return_inverse=True)
            mass = np.bincount(group.ravel(), self._total)
            worth += 1.0 / np.maximum(mass, 1e-300)[group.ravel()]
        return worth

    @property
    def over(self) -> bool:
        """Whether next to nothing is left to be decided, or there is no more room."""
        return not self._queue or self._count >= _MOST_BOXES or self.undecided <= _LITTLE

    @property
    def undecided(self) -> float:
        """The undecided share of all groups together, about."""
        certain = self._favourable[: self._count] + self._other[: self._count]
        known = float((self._mass[: self._count] * certain).sum())
        return 1.0 - known / max(float(self._total.sum()), 1e-300)

    def step(self) -> None:
        """Halve the boxes that keep the ends of rates farthest apart."""
        chosen = self._queue.take(_AT_ONCE)
        if not chosen.size:
            return
        axis, cut, which = self._axis[chosen], self._cut[chosen], self._which[chosen]
        each = np.arange(len(chosen))
        low, high = self._low[chosen], self._high[chosen]
        upper, lower = high.copy(), low.copy()
        upper[each, axis], lower[each, axis] = cut, cut + 1
        self._mass[chosen] = self._favourable[chosen] = self._other[chosen] = 0.0
        self._first[chosen] = self._count + 2 * each
        width = low.shape[1]
        self._examine(
            np.stack([low, lower], axis=1).reshape(-1, width),
            np.stack([upper, high], axis=1).reshape(-1, width),
            np.repeat(which, 2),
        )

    def _examine(self, low: Places, high: Places, which: NDArray[np.int64]) -> None:
        """Examine new boxes, and write down what is certain in them."""
        first = self._count
        self._reserve(len(low))
        self._count += len(low)
        self.boxes += len(low)
        rows = np.arange(first, self._count)
        self._low[rows], self._high[rows], self._which[rows] = low, high, which
        self._first[rows] = -1
        for v in np.unique(which).tolist():
            own = rows[which == v]
            found = self._examiner.rate(self._low[own], self._high[own], v)
            self._mass[own] = self._people.masses(self._low[own], self._high[own], self._given[v])
            self._favourable[own], self._other[own] = found.favourable, found.other
            self._axis[own], self._cut[own] = found.axis, found.cut
            self.queries += found.queries
        left = self._mass[rows] * (1.0 - self._favourable[rows] - self._other[rows])
        waiting = (self._axis[rows] >= 0) & (left > 0.0)
        self._queue.put(rows[waiting], left[waiting] * self._worth[which[waiting]])

    def _reserve(self, more: int) -> None:
        room = len(self._which)
        if self._count + more <= room:
            return
        room = max(2 * room, self._count + more)
        for name in _FIELDS:
            old = getattr(self, name)
            new = np.empty((room, *old.shape[1:]), dtype=old.dtype)
            new[: self._count] = old[: self._count]
            setattr(self, name, new)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the boxes as a certificate keeps them: `fairdesk.certify.proof.certificate`."""
        n = self._count
        halved = self._first[:n] >= 0
        return {
            "rate_first": self._first[:n].copy(),
            "rate_axis": np.where(halved, self._axis[:n], -1),
            "rate_cut": np.where(halved, self._cut[:n], 0),
            "rate_favourable": self._favourable[:n].copy(),
            "rate_other": self._other[:n].copy(),
        }

    def figures(self, seconds: float) -> tuple[ProvenRates, ...]:
        """Return what is proven of the groups of each protected attribute."""
        n, count = self._count, len(self._total)
        # sums of positive numbers, each off by a share of itself
        off = 4.0 * self._people.off + (n + 8.0) * 4.0 * _UNIT
        sums = [
            np.bincount(self._which[:n], self._mass[:n] * shares[:n], count) * (1.0 - off)
            for shares in (self._favourable, self._other)
        ]
        whole = self._total * (1.0 + off)
        domain = self._space.domain
        told = []
        for place, position in enumerate(domain.protected.tolist()):
            groups = []
            for code in domain.attributes[position].compared:
                own = domain.combinations[:, place] == code
                mass = float(whole[own].sum())
                if not mass > 0.0:
                    continue
                low, other = (float(each[own].sum()) / mass * (1.0 - 2.0**-50) for each in sums)
                groups.append(
                    GroupRate(
                        float(code),
                        min(max(low, 0.0), 1.0),
                        min(max(float(np.nextafter(1.0 - other, 2.0)), low), 1.0),
                        min(mass / max(float(whole.sum()), 1e-300), 1.0),
                    )
                )
            if groups:
                ratio = impact_ratio(groups)
                name = domain.names[position]
                told.append(ProvenRates(name, tuple(groups), *ratio, self.boxes, seconds))
        return tuple(told)


def impact_ratio(groups: list[GroupRate]) -> tuple[float, float]:
    """Return between which numbers the lowest rate over the highest one is proven to be."""
    least = min(each.low for each in groups), min(each.high for each in groups)
    most = max(each.low for each in groups), max(each.high for each in groups)
    low = float(np.nextafter(least[0] / most[1], 0.0)) if most[1] > 0.0 else 0.0
    high = float(np.nextafter(least[1] / most[0], 2.0)) if most[0] > 0.0 else 1.0
    return max(low, 0.0), min(high, 1.0)
