"""Everybody counted who is consistent by a linear model, without going through them.

A linear model adds to what it makes of a point ``s(x)`` a number ``b(v)`` for the combination ``v``
of protected values. So a point is discriminatory exactly where ``-max b < s(x) <= -min b``, and
what is asked for is how often a sum of independent terms, one for each axis, lies in an interval.
The axes are divided into two halves, the sums of each half are written down and sorted, and pairs
are counted by bisection (Horowitz and Sahni, "Computing Partitions with Applications to the
Knapsack Problem", Journal of the ACM 1974). Where a half has too many sums, near ones are put
together; how far they were moved is added to the model's own rounding. Whoever is nearer to a
border than that is asked about, or left undecided where they are too many.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.encoded import Encoded
from fairdesk.certify.domain.space import Places
from fairdesk.certify.refine import Examined
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import labels

if TYPE_CHECKING:
    from fairdesk.certify.bounds.tree_kernels import TreeRoom


Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: So many sums of a half are written down, each by itself.
_MOST_SUMS = 1 << 20
#: Where there are more, near ones are put together to so many.
_MOST_CELLS = 1 << 18
#: So many sums are made for each axis, before they are put together, and so many at a time.
_MOST_PAIRS, _AT_ONCE = 1 << 22, 1 << 18
#: Points of a half, or of a box, are counted in 64 bits up to here. Beyond it those of a half are
#: floating-point numbers, and how far these can be off is told.
MOST_POINTS = 1 << 62
#: In halves with more points sums are so many times coarser: halving is quicker than counting.
_COARSER = 4
#: What a sum of positive numbers, or a product, can be off by for each operation, as a share of
#: itself (Higham, section 3.1); with room for what these bounds themselves are off by.
_UNIT = 2.0**-52


@dataclass(frozen=True, slots=True)
class Term:
    """What the places of an axis in a box add to a sum.

    Attributes
    ----------
    axis, low : int
        Which, and its first place.
    values : NDArray[np.float64]
        ``(n,)``.
    counts : NDArray[np.int64] or NDArray[np.float64]
        ``(n,)``; how many places each stands for.
    off : float
        How far a place's own value can be from that.
    """

    axis: int
    low: int
    values: Float64
    counts: Numbers | Float64
    off: float


@dataclass(frozen=True, slots=True)
class Half:
    """Sums of some axes, ascending.

    Attributes
    ----------
    terms : list of Term
        The axes.
    values : NDArray[np.float64]
        As `Term`.
    counts : NDArray[np.int64] or NDArray[np.float64]
        As `Term`; whole numbers while ``points`` are few enough for them.
    before : NDArray
        ``(n + 1,)``; the counts before each sum, and at the end all.
    order : NDArray[np.int64]
        ``(n,)``; of each sum its number in the mixed radix of the terms; meant where it is not
        ``merged``.
    merged : bool
        Whether a sum can stand for several points.
    off : float
        How far a point's own sum can be from the one it is counted with.
    points : int
        How many there are.
    doubt : float
        How far counts that are no whole numbers can be off: as a share of each.
    """

    terms: list[Term]
    values: Float64
    counts: Numbers | Float64
    before: Numbers | Float64
    order: Numbers
    merged: bool
    off: float
    points: int
    doubt: float

    @classmethod
    def of(cls, terms: list[Term]) -> Half:
        """Add axes up, the longest first."""
        points = prod(int(term.counts.sum()) for term in terms)
        whole = points < MOST_POINTS
        sums, coarser = _nothing(whole=whole), 1 if whole else _COARSER
        merged = any(len(term.values) != int(term.counts.sum()) for term in terms)
        operations = 0
        for term in terms:
            operations += 4
            if len(sums.values) * len(term.values) <= _MOST_SUMS // coarser:
                sums = _added(sums, term)
                continue
            most_sums, most_values = _balanced(sums, term, max(1, _MOST_PAIRS // coarser))
            operations += len(sums.values) + len(term.values)
            sums, fewer = _fewer(sums, most_sums), _fewer(term, most_values)
            operations += len(sums.values) * len(fewer.values)
            sums, merged = _put_together(sums, fewer, max(1, _MOST_CELLS // coarser)), True
        order = np.argsort(sums.values, kind="stable")
        counts = sums.counts[order]
        return cls(
            terms=terms,
            values=sums.values[order],
            counts=counts,
            before=np.concatenate([np.zeros(1, counts.dtype), np.cumsum(counts)]),
            order=order,
            merged=merged,
            off=sums.off,
            points=points,
            doubt=operations * _UNIT,
        )


def _nothing(*, whole: bool) -> Term:
    """Return what adds nothing, with a whole number for its count or with another."""
    one: Numbers | Float64 = np.ones(1, np.int64) if whole else np.ones(1)
    return Term(-1, 0, np.zeros(1), one, 0.0)


def _added(sums: Term, term: Term) -> Term:
    """Add a term to sums, and write down each by itself."""
    return replace(
        sums,
        values=np.add.outer(sums.values, term.values).ravel(),
        counts=np.multiply.outer(sums.counts, term.counts).ravel(),
        off=sums.off + term.off,
    )


def _balanced(sums: Term, term: Term, pairs: int) -> tuple[int, int]:
    """Return how many of each side to merge for so many pairs, with as little change to both."""
    own, other = len(sums.values), len(term.values)
    spans = np.ptp(sums.values), np.ptp(term.values)
    share = float(spans[0] / spans[1]) if spans[0] > 0 < spans[1] else 1.0
    most = min(max(1, int((pairs * share) ** 0.5)), pairs)
    if own <= most:
        return own, max(1, pairs // own)
    if other <= pairs // most:
        return max(1, pairs // other), other
    return most, pairs // most


def _fewer(sums: Term, most: int) -> Term:
    """Merge near sums, to so many at most or one more."""
    if len(sums.values) <= most:
        return sums
    return _put_together(sums, _nothing(whole=sums.counts.dtype == np.int64), most)


def _put_together(sums: Term, term: Term, most: int) -> Term:
    """Add a term, and put near sums together, to so many at most or one more."""
    low = float(sums.values.min() + term.values.min())
    high = float(sums.values.max() + term.values.max())
    step = max((high - low) / most, 2.0**-40 * max(abs(low), abs(high)), 2.0**-1000)
    kind = np.result_type(sums.counts, term.counts)
    # whole numbers are exact as floating-point ones up to here
    whole = kind == np.int64 and int(sums.counts.sum()) * int(term.counts.sum()) >= 1 << 53
    made: NDArray[np.int64 | np.float64] = np.zeros(most + 1, np.int64 if whole else np.float64)
    few, many = sums, term
    if len(few.values) > len(many.values):
        few, many = many, few
    rows = max(1, _AT_ONCE // len(many.values))
    for start in range(0, len(few.values), rows):
        part = slice(start, start + rows)
        cell = np.add.outer(few.values[part] - low, many.values).ravel()
        cell *= 1.0 / step
        at = cell.astype(np.int64)
        np.clip(at, 0, most, out=at)
        counts = np.multiply.outer(few.counts[part], many.counts).ravel()
        if whole:
            np.add.at(made, at, counts)
        else:
            made += np.bincount(at, counts, most + 1)
    some = np.flatnonzero(made)
    return replace(
        sums,
        values=np.asarray(low + (some + 0.5) * step, np.float64),
        counts=made[some].astype(kind),
        off=sums.off + term.off + step * (0.5 + 2.0**-10),
    )


@dataclass(frozen=True, slots=True)
class Below:
    """How many pairs have a sum below a limit: ``least`` and ``most``."""

    least: int
    most: int


def doubt_of(first: Half, second: Half) -> float:
    """Return how far sums over all pairs can be off, as a share of them."""
    operations = len(first.values) + len(second.values) + 8
    return (first.doubt + second.doubt + operations * _UNIT) * (1.0 + 2.0**-20)


def counted_below(first: Half, second: Half, limit: float, side: Literal["left", "right"]) -> Below:
    """Count the pairs whose sum is below a limit, with ``"right"`` up to it."""
    at = np.searchsorted(second.values, limit - first.values, side)
    points = first.points * second.points
    # nobody and everybody are certain whatever rounding does
    if at.max() == 0:
        return Below(0, 0)
    if at.min() == len(second.values):
        return Below(points, points)
    if first.counts.dtype != np.int64 or second.counts.dtype != np.int64:
        about = float(first.counts @ second.before[at].astype(np.float64))
        doubt = doubt_of(first, second)
        least, most = int(about * (1.0 - doubt)), int(about * (1.0 + doubt)) + 1
        return Below(least, min(most, points))
    if points < MOST_POINTS:
        exact = int(first.counts @ second.before[at])
    else:
        exact = sum(map(int.__mul__, first.counts.tolist(), second.before[at].tolist()))
    return Below(exact, exact)


def pairs_between(
    first: Half, second: Half, start: float, stop: float, most: int
) -> tuple[Numbers, Numbers]:
    """Return the places of pairs whose sum is between two numbers, both included; some at most."""
    begin = np.searchsorted(second.values, start - first.values, "left")
    end = np.searchsorted(second.values, stop - first.values, "right")
    many = np.cumsum(np.maximum(end - begin, 0))
    rows = np.arange(min(most, int(many[-1])))
    own = np.searchsorted(many, rows, "right")
    return own, begin[own] + rows - (many[own] - (end - begin)[own])


#: Where less of a box is undecided, halving it would take more time than it is worth.
_LITTLE = 1e-3
#: So many points of a box that are too near to a border are asked about.
_MOST_ASKED = 20_000
#: An axis with more values is put together to so many sums.
_MOST_VALUES = 1 << 17
#: So many halves are kept of the first box, and so many of the last.
_KEPT = 2
#: The most and the fewest steps of the grid on which shares of people are counted, and so many
#: numbers for all cells of the population together.
_MOST_STEPS, _LEAST_STEPS, _ROOM = 32_768, 2_048, 1 << 24


@dataclass(frozen=True, slots=True)
class LinearCount:
    """What was counted; exact.

    Attributes
    ----------
    consistent, discriminatory, undecided : int
        Points; together all there are.
    examples : Places
        ``(e, a)``; some that are discriminatory.
    queries : int
        Rows sent to the model.
    """

    consistent: int
    discriminatory: int
    undecided: int
    examples: Places
    queries: int = 0


def is_linear(encoded: Encoded) -> bool:
    """Return whether `LinearExaminer` can count a model: one layer, and one margin."""
    return len(encoded.layers) == 1 and encoded.margins.weights.shape[1] == 1


class LinearExaminer:
    """Says of boxes exactly how many of their points are discriminatory by a linear model.

    Parameters
    ----------
    encoded : Encoded
        A model that `is_linear`, over its space.
    fed : FedModel
        The model itself.
    kept : dict, optional
        Halves that were made before, of the same model.

    Attributes
    ----------
    batch, margin, notes
        As `fairdesk.certify.refine.Examiner`.
    """

    def __init__(
        self, encoded: Encoded, fed: FedModel, kept: dict[bytes, Half] | None = None
    ) -> None:
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
        own = (4 * len(self._terms) + 16) * 2.0**-50 * size
        rounding = factor * size + constant * float(np.abs(weights).sum()) + off + own
        self.margin = float(rounding + margins.close)
        # whose weights are nought changes nothing, not even by rounding
        own_weights = encoded.layers[0].weights @ weights
        self._matters = np.array(
            [bool(own_weights[each.columns].any()) for each in encoded.columns.axes], dtype=np.bool_
        )
        # from one place to the next, in the mean
        steps = [
            abs(slope) if terms is None else float(np.ptp(terms)) / max(len(terms) - 1, 1)
            for terms, slope in zip(self._terms, self._slopes.tolist(), strict=True)
        ]
        self._steps = np.where(self._matters, steps, 0.0)
        self._kept: dict[bytes, Half] = {} if kept is None else kept
        self._room: TreeRoom | None = None
        self._grid = _LEAST_STEPS
        if (people := encoded.space.people) is not None:
            self._grid = max(_LEAST_STEPS, min(_MOST_STEPS, _ROOM // people.tree.whole.size))

    def comparing(self, encoded: Encoded) -> LinearExaminer:
        """Return one for the same boxes, in which other combinations are compared."""
        return LinearExaminer(encoded, self._fed, self._kept)

    def examine(self, low: Places, high: Places, group: NDArray[np.intp]) -> Examined:
        """Examine boxes; as `fairdesk.certify.refine.Examiner.examine`."""
        counted = [self.count(*each) for each in zip(low, high, group.tolist(), strict=True)]
        points = np.array([float(c.consistent + c.discriminatory + c.undecided) for c in counted])
        # a share is a little less than what it is of
        less = 1.0 - 2.0**-50
        all_consistent = [c.discriminatory + c.undecided == 0 for c in counted]
        all_discriminatory = [c.consistent + c.undecided == 0 for c in counted]
        whole = np.array([c.undecided == 0 for c in counted])
        exact = whole & (points < 2.0**52)
        consistent = np.array([float(c.consistent) for c in counted]) / points
        discriminatory = np.array([float(c.discriminatory) for c in counted]) / points
        wide = self._widest(low, high, points)
        rows = np.arange(len(low))
        return Examined(
            low,
            high,
            np.where(all_consistent, 1.0, consistent * less),
            np.where(all_discriminatory, 1.0, discriminatory * less),
            np.where(
                exact,
                [c.discriminatory if e else -1 for c, e in zip(counted, exact, strict=True)],
                -1,
            ),
            np.where(whole | (consistent + discriminatory > 1.0 - _LITTLE), -1, wide),
            (low[rows, wide] + high[rows, wide]) // 2,
            np.concatenate([c.examples for c in counted]),
            sum(c.queries for c in counted),
            self._people(low, high, group),
        )

    def _people(
        self, low: Places, high: Places, group: NDArray[np.intp]
    ) -> tuple[Float64, Float64] | None:
        """Return the shares of boxes' masses under the population; ``None`` where there is none."""
        people = self._space.people
        if people is None:
            return None
        consistent, discriminatory = np.zeros(len(low)), np.zeros(len(low))
        for b in range(len(low)):
            added = self._combined[self._space.members[group[b]]]
            if len(added) < 2:
                consistent[b] = 1.0
                continue
            near, most, least = self.margin, float(added.max()), float(added.min())
            over, under, between = self.shares_of(
                *(low[b], high[b], people.everything),
                (near - least, -most - near, near - most, -least - near),
            )
            consistent[b] = min(over + under, 1.0)
            discriminatory[b] = min(between, 1.0 - consistent[b])
        return consistent, discriminatory

    def added(self, combination: int) -> float:
        """Return what a combination, as in `Space.members`, adds to the margin and its constant."""
        return float(self._combined[combination])

    def term(self, axis: int) -> Float64 | float:
        """Return what each place along an axis adds, or what every further one adds."""
        term = self._terms[axis]
        return float(self._slopes[axis]) if term is None else term

    def shares_of(
        self, low: Places, high: Places, given: Float64, limits: tuple[float, float, float, float]
    ) -> tuple[float, float, float]:
        """Return which shares of a box's mass the axes' terms put above, below and between limits.

        Parameters
        ----------
        low, high : Places
            ``(a,)``.
        given : NDArray[np.float64]
            As of `fairdesk.certify.domain.population_kernels.masses`.
        limits : tuple of float
            Above the first; below the second; between the third and the fourth.
        """
        # compiled code is loaded where a search runs, never in the window's process
        from fairdesk.certify.bounds.tree_kernels import tree_room, tree_shares  # noqa: PLC0415

        people = self._space.people
        if people is None:
            return 0.0, 0.0, 0.0
        if self._room is None:
            self._room = tree_room(people.tree, self._grid)
        tables, start = [np.empty(0)], np.full(len(self._terms), -1, dtype=np.int64)
        for i, terms in enumerate(self._terms):
            if terms is not None:
                start[i] = sum(map(len, tables))
                tables.append(terms[low[i] : high[i] + 1])
        over, under, between = tree_shares(
            *(people.tree, low.astype(np.int64), high.astype(np.int64), given),
            *(self._slopes, np.concatenate(tables), start, *limits, self._grid, self._room),
        )
        return over, under, between

    def _widest(self, low: Places, high: Places, points: Float64) -> NDArray[np.intp]:
        """Choose an axis of each box to be halved."""
        widths = high - low
        widest = widths.argmax(axis=1)
        # where sums are put together it helps to make the longest shorter
        spans = widths * self._steps
        longest = (points >= MOST_POINTS) & spans.any(axis=1)
        return np.asarray(np.where(longest, spans.argmax(axis=1), widest))

    def count(self, low: Places, high: Places, group: int) -> LinearCount:
        """Count the points of a box, ``(a,)`` and ``(a,)``, in which a group is compared."""
        nobody = np.empty((0, len(low)), np.int64)
        widths = (high - low + 1).astype(object)
        points = int(np.prod(widths))
        added = self._combined[self._space.members[group]]
        if len(added) < 2:
            return LinearCount(points, 0, 0, nobody)
        shift = self._pinned(low, high)
        first, second = self._halves(low, high)
        same = int(np.prod(widths[~self._matters]))
        points //= same
        near = self.margin + first.off + second.off
        borders = shift + added.max(), shift + added.min()
        # below the first border nobody is above 0, above the second everybody is
        edges = np.array([-borders[0] - near, -borders[0] + near, -borders[1] - near])
        last = -borders[1] + near
        below = [counted_below(first, second, float(limit), "left") for limit in edges[[0, 2]]]
        upto = [counted_below(first, second, limit, "right") for limit in (float(edges[1]), last)]
        consistent = below[0].least + points - upto[1].most
        discriminatory = max(0, below[1].least - upto[0].most)
        found = LinearCount(
            consistent,
            discriminatory,
            points - consistent - discriminatory,
            self._examples(first, second, float(edges[1]), float(edges[2]), low),
        )
        bands = [(float(edges[0]), float(edges[1])), (float(edges[2]), last)]
        if bands[0][1] >= bands[1][0]:
            bands = [(bands[0][0], bands[1][1])]
        found = self._count_by_queries(found, first, second, bands, low, group)
        return replace(
            found,
            consistent=found.consistent * same,
            discriminatory=found.discriminatory * same,
            undecided=found.undecided * same,
        )

    def _pinned(self, low: Places, high: Places) -> float:
        """Add up what axes with one place in a box add."""
        alone = np.flatnonzero((low == high) | ~self._matters)
        return float(sum(self._values(int(i), low[i : i + 1])[0] for i in alone))

    def _values(self, axis: int, places: Numbers) -> Float64:
        """Return what places along an axis add."""
        terms = self._terms[axis]
        return np.asarray(places * self._slopes[axis] if terms is None else terms[places])

    def _halves(self, low: Places, high: Places) -> tuple[Half, Half]:
        """Write down the sums of two halves of the axes."""
        free = np.flatnonzero((high > low) & self._matters)
        widths = high[free] - low[free] + 1
        halves: list[list[int]] = [[], []]
        sizes = [1.0, 1.0]
        for k in np.argsort(-widths, kind="stable").tolist():
            smaller = int(sizes[1] < sizes[0])
            halves[smaller].append(int(free[k]))
            sizes[smaller] *= float(widths[k])
        first, second = (self._half(np.array(half, np.intp), low, high) for half in halves)
        return first, second

    def _half(self, axes: NDArray[np.intp], low: Places, high: Places) -> Half:
        """Write down the sums of some axes, unless that was done lately, or the first of all."""
        key = np.concatenate([axes, low[axes], high[axes]]).tobytes()
        if key not in self._kept:
            if len(self._kept) == 2 * _KEPT:
                # those of the first box serve again when others are compared in it
                del self._kept[list(self._kept)[_KEPT]]
            terms = [self._axis(i, int(low[i]), int(high[i])) for i in axes.tolist()]
            self._kept[key] = Half.of(terms)
        return self._kept[key]

    def _axis(self, i: int, low: int, high: int) -> Term:
        """Write down what the places of an axis add."""
        count = high - low + 1
        if count <= _MOST_VALUES:
            places = np.arange(low, high + 1)
            ends, off = places + 1, 0.0
        else:
            parts = np.arange(_MOST_VALUES, dtype=np.int64)
            starts = low + parts * (count // _MOST_VALUES)
            starts += np.minimum(parts, count % _MOST_VALUES)
            ends = np.append(starts[1:], high + 1)
            places = (starts + ends) // 2
            off = float(np.abs(self._slopes[i]) * (ends - starts).max())
        before = np.concatenate([[low], ends[:-1]])
        return Term(i, low, self._values(i, places), (ends - before).astype(np.int64), off)

    def _examples(
        self, first: Half, second: Half, start: float, stop: float, low: Places
    ) -> Places:
        """Return some points whose sum is between two numbers."""
        if start >= stop or first.merged or second.merged:
            return np.empty((0, len(low)), np.int64)
        pairs = pairs_between(first, second, start, stop, 8)
        return self._points(first, second, pairs, low)

    def _points(
        self, first: Half, second: Half, pairs: tuple[Numbers, Numbers], low: Places
    ) -> Places:
        points = np.repeat(low[None], len(pairs[0]), axis=0)
        for half, at in zip((first, second), pairs, strict=True):
            rest = half.order[at]
            for term in reversed(half.terms):
                rest, place = np.divmod(rest, len(term.values))
                points[:, term.axis] = term.low + place
        return points

    def _count_by_queries(
        self,
        found: LinearCount,
        first: Half,
        second: Half,
        bands: list[tuple[float, float]],
        low: Places,
        group: int,
    ) -> LinearCount:
        """Query the model about those who are too near to a border, unless they are too many."""
        if not found.undecided or found.undecided > _MOST_ASKED or first.merged or second.merged:
            return found
        near = [pairs_between(first, second, start, stop, _MOST_ASKED + 1) for start, stop in bands]
        pairs = np.concatenate([p[0] for p in near]), np.concatenate([p[1] for p in near])
        points = self._points(first, second, pairs, low)
        if len(points) != found.undecided:
            return found
        domain, may_be = self._space.domain, self._space.may_be[group]
        everyone = domain.similar(self._space.rows(points))[:, may_be]
        predicted_class = labels(self._fed.predict(everyone.reshape(-1, everyone.shape[2])))
        discriminatory = np.ptp(predicted_class.reshape(len(points), -1), axis=1) > 0
        return replace(
            found,
            consistent=found.consistent + int((~discriminatory).sum()),
            discriminatory=found.discriminatory + int(discriminatory.sum()),
            undecided=0,
            examples=np.concatenate([found.examples, points[discriminatory][:8]]),
            queries=predicted_class.size,
        )
