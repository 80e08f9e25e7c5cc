"""Everybody counted who is treated alike by a linear model, without going through them.

A linear model adds to what it makes of a point ``s(x)`` a number ``b(v)`` for the combination ``v``
of protected values. So a point is unlike exactly where ``-max b < s(x) <= -min b``, and what is
asked for is how often a sum of independent terms, one for each axis, lies in an interval. The axes
are divided into two halves, the sums of each half are written down and sorted, and pairs are
counted by bisection (Horowitz and Sahni, "Computing Partitions with Applications to the Knapsack
Problem", Journal of the ACM 1974). Where a half has too many sums, near ones are put together; how
far they were moved is added to the model's own rounding. Whoever is nearer to a border than that
is asked about, or left undecided where they are too many.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.encoded import Encoded
from fairdesk.certify.refine import Examined
from fairdesk.certify.space import Places
from fairdesk.models.feeding import FedModel
from fairdesk.models.model import labels

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: So many sums of a half are written down, each by itself.
_MOST_SUMS = 1 << 20
#: Where there are more, near ones are put together to so many.
_MOST_CELLS = 1 << 18
#: So many sums are made for each axis, before they are put together.
_MOST_PAIRS = 1 << 22
#: Where less of a box is undecided, halving it would take more time than it is worth.
_LITTLE = 1e-3
#: So many points of a box that are too near to a border are asked about.
_MOST_ASKED = 20_000
#: A half has no more points than whole numbers count.
_MOST_POINTS = 1 << 62
#: An axis with more values is put together to so many sums.
_MOST_VALUES = 1 << 17
#: What shares of the population can be off by.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class LinearCount:
    """What was counted; exact.

    Attributes
    ----------
    alike, unlike, undecided : int
        Points; together all there are.
    population_alike, population_unlike : float
        Lower bounds of the shares of the box's mass in the population.
    examples : Places
        ``(e, a)``; some that are unlike.
    queries : int
        Rows sent to the model.
    """

    alike: int
    unlike: int
    undecided: int
    population_alike: float
    population_unlike: float
    examples: Places
    queries: int = 0


def is_linear(encoded: Encoded) -> bool:
    """Tell whether `LinearExaminer` can count a model: one layer, and one margin."""
    return len(encoded.layers) == 1 and encoded.margins.weights.shape[1] == 1


class LinearExaminer:
    """Says of boxes exactly how many of their points a linear model treats unlike.

    Parameters
    ----------
    encoded : Encoded
        A model that `is_linear`, over its space.
    fed : FedModel
        The model itself.

    Attributes
    ----------
    batch, margin, notes
        As `fairdesk.certify.refine.Examiner`.
    """

    def __init__(self, encoded: Encoded, fed: FedModel) -> None:
        if not is_linear(encoded):
            raise ValueError("no linear model")
        self.batch = 2
        self.notes: tuple[str, ...] = ()
        self._space, self._fed = encoded.space, fed
        margins = encoded.margins
        weights = margins.weights[:, 0]
        self._terms = [
            np.asarray(table @ weights) if len(table) else None for table in encoded.tables
        ]
        self._slopes = encoded.slopes @ weights
        self._combined = encoded.combined @ weights + float(
            encoded.bias @ weights - margins.offset[0]
        )
        factor, constant = encoded.rounding(len(encoded.layers[0].weights))
        size = float(encoded.first_size @ np.abs(weights)) + abs(float(margins.offset[0]))
        off = float(encoded.first_off @ np.abs(weights))
        own = (len(self._terms) + 8) * 2.0**-50 * size
        rounding = factor * size + constant * float(np.abs(weights).sum()) + off + own
        self.margin = float(rounding + margins.close)
        # whose weights are nought changes nothing, not even by rounding
        own_weights = encoded.layers[0].weights @ weights
        self._matters = np.array(
            [bool(own_weights[each.columns].any()) for each in encoded.columns.axes], dtype=np.bool_
        )
        self._kept: tuple[bytes, tuple[_Half, _Half]] | None = None

    def examine(self, low: Places, high: Places, group: NDArray[np.intp]) -> Examined:
        """Examine boxes; as `fairdesk.certify.refine.Examiner.examine`."""
        counted = [self.count(*each) for each in zip(low, high, group.tolist(), strict=True)]
        points = np.array([float(c.alike + c.unlike + c.undecided) for c in counted])
        # a share is a little less than what it is of
        less = 1.0 - 2.0**-50
        all_alike = [c.unlike + c.undecided == 0 for c in counted]
        all_unlike = [c.alike + c.undecided == 0 for c in counted]
        whole = np.array([c.undecided == 0 for c in counted])
        exact = whole & (points < 2.0**52)
        alike = np.array([float(c.alike) for c in counted]) / points
        unlike = np.array([float(c.unlike) for c in counted]) / points
        wide = (high - low).argmax(axis=1)
        rows = np.arange(len(low))
        return Examined(
            low,
            high,
            np.where(all_alike, 1.0, alike * less),
            np.where(all_unlike, 1.0, unlike * less),
            np.array([c.population_alike for c in counted]),
            np.array([c.population_unlike for c in counted]),
            np.where(
                exact, [c.unlike if e else -1 for c, e in zip(counted, exact, strict=True)], -1
            ),
            np.where(whole | (alike + unlike > 1.0 - _LITTLE), -1, wide),
            (low[rows, wide] + high[rows, wide]) // 2,
            np.concatenate([c.examples for c in counted]),
            sum(c.queries for c in counted),
        )

    def count(self, low: Places, high: Places, group: int) -> LinearCount:
        """Count the points of a box, ``(a,)`` and ``(a,)``, in which a group is compared."""
        nobody = np.empty((0, len(low)), np.int64)
        widths = (high - low + 1).astype(object)
        points = int(np.prod(widths))
        added = self._combined[self._space.may_be[group]]
        if len(added) < 2:
            return LinearCount(points, 0, 0, 1.0, 0.0, nobody)
        shift = self._pinned(low, high)
        first, second = self._halves(low, high)
        if max(first.points, second.points) >= _MOST_POINTS:
            return LinearCount(0, 0, points, 0.0, 0.0, nobody)
        same = int(np.prod(widths[~self._matters]))
        points //= same
        near = self.margin + first.off + second.off
        borders = shift + added.max(), shift + added.min()
        # below the first border nobody is above 0, above the second everybody is
        edges = np.array([-borders[0] - near, -borders[0] + near, -borders[1] - near])
        last = -borders[1] + near
        below, below_mass = _below(first, second, [*edges[[0, 2]].tolist()], "left")
        upto, upto_mass = _below(first, second, [float(edges[1]), last], "right")
        alike, unlike = below[0] + points - upto[1], max(0, below[1] - upto[0])
        masses = (
            below_mass[0] + 1.0 - upto_mass[1] - _ROUNDING,
            below_mass[1] - upto_mass[0] - _ROUNDING,
        )
        found = LinearCount(
            alike,
            unlike,
            points - alike - unlike,
            min(max(masses[0], 0.0), 1.0),
            min(max(masses[1], 0.0), 1.0),
            self._examples(first, second, float(edges[1]), float(edges[2]), low),
        )
        bands = [(float(edges[0]), float(edges[1])), (float(edges[2]), last)]
        if bands[0][1] >= bands[1][0]:
            bands = [(bands[0][0], bands[1][1])]
        found = self._asked(found, first, second, bands, low, group)
        return replace(
            found,
            alike=found.alike * same,
            unlike=found.unlike * same,
            undecided=found.undecided * same,
        )

    def _pinned(self, low: Places, high: Places) -> float:
        """Add up what axes with one place in a box add."""
        alone = np.flatnonzero((low == high) | ~self._matters)
        return float(sum(self._values(int(i), low[i : i + 1])[0] for i in alone))

    def _values(self, axis: int, places: Numbers) -> Float64:
        """Give what places along an axis add."""
        terms = self._terms[axis]
        return np.asarray(places * self._slopes[axis] if terms is None else terms[places])

    def _halves(self, low: Places, high: Places) -> tuple[_Half, _Half]:
        """Write down the sums of two halves of the axes, the last ones again where they fit."""
        free = np.flatnonzero((high > low) & self._matters)
        key = np.concatenate([free, low[free], high[free]]).tobytes()
        if self._kept is not None and self._kept[0] == key:
            return self._kept[1]
        widths = high[free] - low[free] + 1
        halves: list[list[int]] = [[], []]
        sizes = [1.0, 1.0]
        for k in np.argsort(-widths, kind="stable").tolist():
            smaller = int(sizes[1] < sizes[0])
            halves[smaller].append(int(free[k]))
            sizes[smaller] *= float(widths[k])
        made = tuple(
            _Half.of([self._axis(i, int(low[i]), int(high[i])) for i in half]) for half in halves
        )
        self._kept = key, (made[0], made[1])
        return self._kept[1]

    def _axis(self, i: int, low: int, high: int) -> _Term:
        """Write down what the places of an axis add."""
        count, axis = high - low + 1, self._space.axes[i]
        if count <= _MOST_VALUES:
            places = np.arange(low, high + 1)
            ends, off = places + 1, 0.0
        else:
            starts = low + np.arange(_MOST_VALUES, dtype=np.int64) * count // _MOST_VALUES
            ends = np.append(starts[1:], high + 1)
            places = (starts + ends) // 2
            off = float(np.abs(self._slopes[i]) * (ends - starts).max())
        before = np.concatenate([[low], ends[:-1]])
        mass = axis.mass(before, ends - 1)
        whole = float(mass.sum())
        return _Term(
            i,
            low,
            self._values(i, places),
            (ends - before).astype(np.int64),
            mass / whole if whole > 0 else mass,
            off,
        )

    def _examples(
        self, first: _Half, second: _Half, start: float, stop: float, low: Places
    ) -> Places:
        """Give some points whose sum is between two numbers."""
        if start >= stop or first.merged or second.merged:
            return np.empty((0, len(low)), np.int64)
        pairs = _pairs(first, second, start, stop, 8)
        return self._points(first, second, pairs, low)

    def _points(
        self, first: _Half, second: _Half, pairs: tuple[Numbers, Numbers], low: Places
    ) -> Places:
        points = np.repeat(low[None], len(pairs[0]), axis=0)
        for half, at in zip((first, second), pairs, strict=True):
            rest = half.order[at]
            for term in reversed(half.terms):
                rest, place = np.divmod(rest, len(term.values))
                points[:, term.axis] = term.low + place
        return points

    def _asked(
        self,
        found: LinearCount,
        first: _Half,
        second: _Half,
        bands: list[tuple[float, float]],
        low: Places,
        group: int,
    ) -> LinearCount:
        """Ask the model about those who are too near to a border, unless they are too many."""
        if not found.undecided or found.undecided > _MOST_ASKED or first.merged or second.merged:
            return found
        near = [_pairs(first, second, start, stop, _MOST_ASKED + 1) for start, stop in bands]
        pairs = np.concatenate([p[0] for p in near]), np.concatenate([p[1] for p in near])
        points = self._points(first, second, pairs, low)
        if len(points) != found.undecided:
            return found
        domain, may_be = self._space.domain, self._space.may_be[group]
        everyone = domain.similar(self._space.rows(points))[:, may_be]
        decided = labels(self._fed.predict(everyone.reshape(-1, everyone.shape[2])))
        unlike = np.ptp(decided.reshape(len(points), -1), axis=1) > 0
        return replace(
            found,
            alike=found.alike + int((~unlike).sum()),
            unlike=found.unlike + int(unlike.sum()),
            undecided=0,
            examples=np.concatenate([found.examples, points[unlike][:8]]),
            queries=decided.size,
        )


@dataclass(frozen=True, slots=True)
class _Term:
    """What the places of an axis in a box add to a sum.

    Attributes
    ----------
    axis, low : int
        Which, and its first place.
    values : NDArray[np.float64]
        ``(n,)``.
    counts : NDArray[np.int64]
        ``(n,)``; how many places each stands for.
    masses : NDArray[np.float64]
        ``(n,)``; their share of the people who are in the box.
    off : float
        How far a place's own value can be from that.
    """

    axis: int
    low: int
    values: Float64
    counts: Numbers
    masses: Float64
    off: float


@dataclass(frozen=True, slots=True)
class _Half:
    """Sums of some axes, ascending.

    Attributes
    ----------
    terms : list of _Term
        The axes.
    values, counts, masses
        As `_Term`.
    order : NDArray[np.int64]
        ``(n,)``; of each sum its number in the mixed radix of the terms; meant where it is not
        ``merged``.
    merged : bool
        Whether a sum can stand for several points.
    off : float
        How far a point's own sum can be from the one it is counted with.
    points : int
        How many there are.
    """

    terms: list[_Term]
    values: Float64
    counts: Numbers
    masses: Float64
    order: Numbers
    merged: bool
    off: float
    points: int

    @classmethod
    def of(cls, terms: list[_Term]) -> _Half:
        """Add axes up, the longest first."""
        values, counts, masses = np.zeros(1), np.ones(1, np.int64), np.ones(1)
        points, off = 1, 0.0
        merged = any(len(term.values) != int(term.counts.sum()) for term in terms)
        for term in terms:
            points *= int(term.counts.sum())
            if points >= _MOST_POINTS:
                return cls(
                    terms, values, counts, masses, counts, merged=True, off=0.0, points=points
                )
            off += term.off
            if len(values) * len(term.values) <= _MOST_SUMS:
                values = np.add.outer(values, term.values).ravel()
                counts = np.multiply.outer(counts, term.counts).ravel()
                masses = np.multiply.outer(masses, term.masses).ravel()
                continue
            most = max(1, _MOST_PAIRS // len(term.values))
            if len(values) > most:
                one = _Term(-1, 0, np.zeros(1), np.ones(1, np.int64), np.ones(1), 0.0)
                values, counts, masses, moved = _put_together(values, counts, masses, one, most)
                off += moved
            values, counts, masses, moved = _put_together(values, counts, masses, term, _MOST_CELLS)
            off, merged = off + moved, True
        order = np.argsort(values, kind="stable")
        return cls(terms, values[order], counts[order], masses[order], order, merged, off, points)


def _put_together(
    values: Float64, counts: Numbers, masses: Float64, term: _Term, most: int
) -> tuple[Float64, Numbers, Float64, float]:
    """Add a term, and put near sums together, to so many at most; tells how far they were moved."""
    low = float(values.min() + term.values.min())
    high = float(values.max() + term.values.max())
    step = max((high - low) / most, 2.0**-40 * max(abs(low), abs(high)), 2.0**-1000)
    made = np.zeros(most + 1, np.int64)
    mass = np.zeros(most + 1)
    # whole numbers are exact as floating-point ones up to here
    exact = int(counts.sum()) * int(term.counts.sum()) < 1 << 53
    # an addition of arrays for each of the fewer ones
    few, many = (values, counts, masses), (term.values, term.counts, term.masses)
    if len(few[0]) > len(many[0]):
        few, many = many, few
    for value, count, share in zip(*(each.tolist() for each in few), strict=True):
        cell = ((many[0] + (value - low)) * (1.0 / step)).astype(np.int64)
        np.clip(cell, 0, most, out=cell)
        if exact:
            made += np.bincount(cell, many[1], most + 1).astype(np.int64) * count
        else:
            np.add.at(made, cell, many[1] * count)
        mass += np.bincount(cell, many[2] * share, most + 1)
    some = np.flatnonzero(made)
    middle: Float64 = np.asarray(low + (some + 0.5) * step, np.float64)
    return middle, made[some], mass[some], step * (0.5 + 2.0**-10)


def _below(
    first: _Half, second: _Half, limits: list[float], side: str
) -> tuple[list[int], list[float]]:
    """Count the pairs whose sum is below each limit, with ``"right"`` up to it; and their mass."""
    before = np.concatenate([[0], np.cumsum(second.counts)])
    mass_before = np.concatenate([[0.0], np.cumsum(second.masses)])
    small = first.points * second.points < _MOST_POINTS
    counts, masses = [], []
    for limit in limits:
        at = np.searchsorted(second.values, limit - first.values, side)  # type: ignore[call-overload]  # either side
        if small:
            counts.append(int(first.counts @ before[at]))
        else:
            pairs = zip(first.counts.tolist(), before[at].tolist(), strict=True)
            counts.append(sum(own * other for own, other in pairs))
        masses.append(float(first.masses @ mass_before[at]))
    return counts, masses


def _pairs(
    first: _Half, second: _Half, start: float, stop: float, most: int
) -> tuple[Numbers, Numbers]:
    """Give the places of pairs whose sum is between two numbers, both included; some at most."""
    begin = np.searchsorted(second.values, start - first.values, "left")
    end = np.searchsorted(second.values, stop - first.values, "right")
    many = np.cumsum(np.maximum(end - begin, 0))
    rows = np.arange(min(most, int(many[-1])))
    own = np.searchsorted(many, rows, "right")
    return own, begin[own] + rows - (many[own] - (end - begin)[own])


__all__ = ["LinearCount", "LinearExaminer", "is_linear"]
