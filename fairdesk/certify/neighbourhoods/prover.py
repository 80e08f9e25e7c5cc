"""Deciding rows with their neighbours: whole boxes first, and only what is open divided.

A row is certified once all of its boxes are, and falsified once a neighbour is known whom the model
itself, asked, decides differently. Boxes that rows share are looked at once. Rows are taken in
blocks, in rounds: in the first some points are tried and each box is bounded as a whole, and in
every further one it may be divided a few times as often, so that no hard row keeps easy ones
waiting. In the end every point is
asked about that bounds leave open, so that given time nothing stays undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum
from time import perf_counter
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.counting.exhaustive import PointCounter, QueriedExaminer, points_of
from fairdesk.certify.domain.space import Places, Space
from fairdesk.certify.neighbourhoods.boxes import LinearBoxes, Neighbourhood
from fairdesk.certify.refine import Examiner

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: So many boxes make a block; fewer where there are many roots, with which each is compared.
_BOXES, _COMPARED = 1 << 16, 50_000_000
#: So many parts of boxes are looked at before rows are decided, and so many of the examiner's
#: batches; and so many points are asked about at once.
_PARTS, _BATCHES, _POINTS = 4_096, 64, 1 << 14
#: So many boxes are looked at by a linear model before anything is told.
_LINEAR = 1 << 13
#: In each round a box may be divided so many times as often as in the one before.
_GROWTH = 4
#: So often a box around a row may be divided before those are that reach farther.
_NEARER = 16
#: Points of each open row that are asked about at the beginning of a round.
_DRAWN = 16
#: Points are counted for about so many seconds at a time.
_COUNTING = 0.1
#: Boxes of so many points, at least and at most, may be counted point by point: in between, where
#: it takes no longer than to bound so many parts.
_LEAST, _MOST, _WORTH = 1.0, 16_384.0, 2.0


class Verdict(IntEnum):
    """What is known of a row with its neighbours."""

    UNDECIDED = 0
    CERTIFIED = 1
    FALSIFIED = 2


class _Parts(NamedTuple):
    """Parts of boxes, ``(p,)`` of them.

    Attributes
    ----------
    low, high : Places
        ``(p, a)``; their ends.
    group : NDArray[np.int64]
        The row of `Space.may_be` that holds in each; -1 where it is not known who may be.
    box : NDArray[np.int64]
        Which box each is a part of.
    """

    low: Places
    high: Places
    group: Numbers
    box: Numbers

    def some(self, which: Flags | Numbers | slice) -> Self:
        return type(self)(*(each[which] for each in self))

    @property
    def points(self) -> NDArray[np.float64]:
        """How many points each has."""
        return np.asarray((self.high - self.low + 1).astype(np.float64).prod(axis=1))


class _Said(NamedTuple):
    """What is said of ``p`` parts.

    Attributes
    ----------
    certified, falsified : NDArray[np.bool_]
        ``(p,)``; no point of it is discriminatory; some point is.
    low, high : Places
        ``(p, a)``; what is left of each: all else is certified.
    axis, cut : NDArray[np.int64]
        ``(p,)``; where to halve that; -1 for no advice.
    examples : Places
        ``(e, a)``; some that are discriminatory.
    """

    certified: Flags
    falsified: Flags
    low: Places
    high: Places
    axis: Numbers
    cut: Numbers
    examples: Places

    @classmethod
    def nothing(cls, parts: _Parts) -> Self:
        size = len(parts.box)
        nowhere = np.full(size, -1, dtype=np.int64)
        return cls(
            np.zeros(size, dtype=np.bool_),
            np.zeros(size, dtype=np.bool_),
            parts.low.copy(),
            parts.high.copy(),
            nowhere,
            nowhere.copy(),
            parts.low[:0],
        )


class RowProver:
    """Decides rows with their neighbours.

    Parameters
    ----------
    space : Space
        Divided by the constraints.
    examiner : Examiner
        Says of boxes of the space what is proven.
    counter : PointCounter
        Asks the model about every point of boxes.
    ask : callable
        Asks the model itself which of ``(n, a)`` points are discriminatory, under the constraints:
        ``(n,)``.
    rows : Places
        ``(n, a)``; the points of the rows.
    own : callable
        Asks the model itself which of the rows, given by their places, are discriminatory. All of
        those whose point is are.
    around : Neighbourhood
        Which points are their neighbours.
    rng : np.random.Generator
        For points that are tried.
    linear : LinearBoxes, optional
        Of a linear model: says of most boxes at once what is to be known of them.
    nearer : tuple[Neighbourhood, ...]
        Whose points are all among the neighbours: there it is first looked for what falsifies rows.

    Attributes
    ----------
    verdict : NDArray[np.int8]
        ``(n,)``; of each row a `Verdict`.
    witness : Places
        ``(n, a)``; of falsified rows the neighbour whose decision changes: perhaps the row itself.
    flipped : NDArray[np.bool_]
        ``(n,)``; which rows are themselves discriminatory.
    boxes : int
        How many boxes and parts of boxes were bounded or counted.
    queries : int
        Rows sent to the model, but for those that ``ask`` sent.
    """

    def __init__(
        self,
        space: Space,
        examiner: Examiner,
        counter: PointCounter,
        ask: Callable[[Places], Flags],
        rows: Places,
        own: Callable[[Numbers], Flags],
        around: Neighbourhood,
        rng: np.random.Generator,
        linear: LinearBoxes | None = None,
        nearer: tuple[Neighbourhood, ...] = (),
    ) -> None:
        self._linear, self._nearer = linear, nearer
        self._space, self._examiner, self._counter = space, examiner, counter
        self._ask, self._rows, self._around, self._rng = ask, rows, around, rng
        self._own = own
        self.verdict = np.zeros(len(rows), dtype=np.int8)
        self.witness, self.flipped = rows.copy(), np.zeros(len(rows), dtype=np.bool_)
        # of each row the boxes that are certified as a whole
        self._certified = np.zeros((len(rows), around.count), dtype=np.bool_)
        most = min(_BOXES, _COMPARED // len(space.low))
        self._block = max(1, most // around.count)
        self.boxes = self.queries = 0
        self._bounded, self._seconds = 0, 0.0
        self._at_once = min(_PARTS, _BATCHES * examiner.batch)
        # whether a part of a box was not looked at in this round
        self._left_out = False

    def run(self) -> Iterator[None]:
        """Decide all rows; yields often, and whoever takes no more leaves it as it is."""
        for rows in self._in_blocks(_POINTS):
            self.flipped[rows] = self._own(rows)
            self.verdict[rows[self.flipped[rows]]] = Verdict.FALSIFIED
            yield
        for around in self._nearer:
            yield from self._look_nearer(around)
        yield from self._in_rounds()

    def _look_nearer(self, around: Neighbourhood) -> Iterator[None]:
        """Falsify rows by neighbours who differ less, in a few rounds: hard rows wait."""
        rows = np.flatnonzero(self.verdict == Verdict.UNDECIDED)
        own = RowProver(
            *(self._space, self._examiner, self._counter, self._ask, self._rows[rows]),
            lambda some: self._own(rows[some]),
            *(around, self._rng, self._linear),
        )
        boxes, queries = self.boxes, self.queries
        for _ in own._in_rounds(_NEARER):
            hit = own.verdict == Verdict.FALSIFIED
            self._falsify(rows[hit], own.witness[hit])
            self.boxes, self.queries = boxes + own.boxes, queries + own.queries
            yield

    def _in_rounds(self, until: float = np.inf) -> Iterator[None]:
        """Divide boxes in rounds, at last ``until`` times each."""
        if self._linear is not None:
            few = max(1, min(self._block, _LINEAR // self._around.count))
            for rows in self._in_blocks(few):
                self._look_by(self._linear, rows)
                yield
        most, self._left_out = 1, True
        # where nothing was left out, what is undecided would be so again
        while self._left_out and most <= until and (self.verdict == Verdict.UNDECIDED).any():
            self._left_out = False
            for block in self._in_blocks(self._block):
                self._try_some(block)
                yield
                rows = block[self.verdict[block] == Verdict.UNDECIDED]
                if rows.size:
                    yield from self._decide(rows, most)
            most *= _GROWTH

    def _in_blocks(self, size: int) -> Iterator[Numbers]:
        """Yield the rows that are undecided now, in blocks."""
        rows = np.flatnonzero(self.verdict == Verdict.UNDECIDED)
        for start in range(0, len(rows), size):
            yield rows[start : start + size]

    def _falsify(self, rows: Numbers, witness: Places) -> None:
        self.verdict[rows], self.witness[rows] = Verdict.FALSIFIED, witness

    def _look_by(self, linear: LinearBoxes, rows: Numbers) -> None:
        """Certify the boxes of rows that a linear model decides, or ask about a point near by."""
        low, high = self._around.boxes(self._rows[rows])
        parts = self._in_roots(low.reshape(-1, low.shape[2]), high.reshape(-1, low.shape[2]))
        self.boxes += len(parts.box)
        unclear = np.bincount(parts.box[parts.group < 0], minlength=len(rows) * self._around.count)
        parts = parts.some(parts.group >= 0)
        said = linear.look(parts.low, parts.high, parts.group)
        still_open = unclear + np.bincount(parts.box[~said.clear], minlength=len(unclear))
        self._certified[rows] = (still_open == 0).reshape(len(rows), -1)
        self.verdict[rows[self._certified[rows].all(axis=1)]] = Verdict.CERTIFIED
        hits = np.flatnonzero(said.found)
        row, first = np.unique(parts.box[hits] // self._around.count, return_index=True)
        points = said.point[hits[first]]
        if len(points):
            known = self._ask(points)
            self._falsify(rows[row[known]], points[known])

    def _try_some(self, rows: Numbers) -> None:
        """Ask about some points of boxes of rows that are open."""
        for start in range(0, len(rows), max(1, _POINTS // _DRAWN)):
            some = rows[start : start + max(1, _POINTS // _DRAWN)]
            low, high = self._around.boxes(self._rows[some])
            # of each row a box that is open, as often as points are drawn
            rank = self._rng.random((len(some), _DRAWN, self._around.count))
            rank[np.broadcast_to(self._certified[some][:, None], rank.shape)] = -1.0
            chosen = rank.argmax(axis=2)
            each = np.arange(len(some))[:, None]
            points = self._rng.integers(low[each, chosen], high[each, chosen], endpoint=True)
            hits = self._ask(points.reshape(-1, points.shape[2])).reshape(chosen.shape)
            hit = hits.any(axis=1)
            self._falsify(some[hit], points[hit, hits[hit].argmax(axis=1)])

    def _decide(self, rows: Numbers, most: int) -> Iterator[None]:
        """Decide boxes of rows; of each ``most`` parts at most are looked at, or a few more."""
        low, high = self._around.boxes(self._rows[rows])
        row, which = np.nonzero(~self._certified[rows])
        ends = np.concatenate([low[row, which], high[row, which]], axis=1)
        boxes, of = np.unique(ends, axis=0, return_inverse=True)
        of, width = of.ravel(), low.shape[2]
        left = self._in_roots(boxes[:, :width], boxes[:, width:])
        # a box without a part that is open is certified
        parts_open = np.bincount(left.box, minlength=len(boxes))
        spent = np.zeros(len(boxes), dtype=np.int64)
        while True:
            closed = parts_open[of] == 0
            self._certified[rows[row[closed]], which[closed]] = True
            undecided = self.verdict[rows] == Verdict.UNDECIDED
            self.verdict[rows[undecided & self._certified[rows].all(axis=1)]] = Verdict.CERTIFIED
            if not len(left.box):
                return
            now, left = left.some(slice(-self._at_once, None)), left.some(slice(-self._at_once))
            undecided = self.verdict[rows] == Verdict.UNDECIDED
            now = now.some((np.bincount(of, undecided[row], len(boxes)) > 0)[now.box])
            self._left_out |= bool((spent[now.box] >= most).any())
            now = now.some(spent[now.box] < most)
            spent += np.bincount(now.box, minlength=len(boxes))
            more = [left]
            for parts, said in self._look(now):
                witnesses = self._witnesses(parts, said)
                for box, point in witnesses.items():
                    hit = rows[row[of == box]]
                    self._falsify(hit[self.verdict[hit] == Verdict.UNDECIDED], point)
                divided, halves = _halves(parts, said, ~np.isin(parts.box, list(witnesses)))
                gone = parts.box[said.certified | divided]
                parts_open += np.bincount(halves.box, minlength=len(boxes))
                parts_open -= np.bincount(gone, minlength=len(boxes))
                more.append(halves)
                yield
            left = _Parts(*map(np.concatenate, zip(*more, strict=True)))

    def _in_roots(self, low: Places, high: Places) -> _Parts:
        """Cut boxes by the roots of the space; where nothing is compared nothing is left."""
        space = self._space
        apart = (space.low != space.low[0]).any(axis=0) | (space.high != space.high[0]).any(axis=0)
        ends = np.concatenate([low[:, apart], high[:, apart]], axis=1)
        kinds, which = np.unique(ends, axis=0, return_inverse=True)
        which, width = which.ravel(), int(apart.sum())
        there = [
            np.flatnonzero(
                (space.low[:, apart] <= kind[width:]).all(axis=1)
                & (space.high[:, apart] >= kind[:width]).all(axis=1)
            )
            for kind in kinds
        ]
        box = np.repeat(
            np.arange(len(low)), np.array([len(each) for each in there], dtype=np.int64)[which]
        )
        root = np.concatenate([there[kind] for kind in which])
        group = np.where(space.unclear[root], -1, space.groups[root])
        compared = space.unclear[root] | (space.compared[root] & (not space.alike))
        box, root, group = box[compared], root[compared], group[compared]
        return _Parts(
            np.maximum(low[box], space.low[root]),
            np.minimum(high[box], space.high[root]),
            group.astype(np.int64),
            box,
        )

    @property
    def _few(self) -> float:
        """How many points are sooner counted than bounded."""
        if not self._bounded:
            return _LEAST
        affordable = _WORTH * self._counter.speed * self._seconds / self._bounded
        return float(np.clip(affordable, _LEAST, _MOST))

    def _look(self, parts: _Parts) -> Iterator[tuple[_Parts, _Said]]:
        """Count small parts, and bound the others, as many at once as the examiner likes."""
        points = parts.points
        # where it is not known who may be, or nothing is known but answers, there are no bounds
        unbounded = (parts.group < 0) | isinstance(self._examiner, QueriedExaminer)
        few = points <= np.where(unbounded, _MOST, self._few)
        small, most = parts.some(few), max(_COUNTING * self._counter.speed, _MOST)
        share = np.cumsum(points[few]) // most
        for each in np.unique(share):
            yield small.some(share == each), self._count(small.some(share == each))
        parts = parts.some(~few)
        for start in range(0, len(parts.box), self._examiner.batch):
            some = parts.some(slice(start, start + self._examiner.batch))
            yield some, self._bound(some)

    def _count(self, parts: _Parts) -> _Said:
        """Ask the model about every point of some parts."""
        said, clear = _Said.nothing(parts), np.flatnonzero(parts.group >= 0)
        own = parts.some(clear)
        found = self._counter.count(own.low, own.high, own.group.astype(np.intp))
        said.certified[clear] = found.discriminatory == 0
        said.falsified[clear] = found.discriminatory > 0
        self.boxes += len(parts.box)
        self.queries += found.queries
        examples = [found.examples]
        for i in np.flatnonzero(parts.group < 0).tolist():
            first = self._first(parts.low[i], parts.high[i])
            said.certified[i], said.falsified[i] = not len(first), len(first) > 0
            examples.append(first)
        return said._replace(examples=np.concatenate(examples))

    def _bound(self, parts: _Parts) -> _Said:
        """Have the examiner say what is proven of some parts."""
        said, clear = _Said.nothing(parts), np.flatnonzero(parts.group >= 0)
        if not clear.size:
            return said
        own = parts.some(clear)
        started = perf_counter()
        found = self._examiner.examine(own.low, own.high, own.group.astype(np.intp))
        self._seconds += perf_counter() - started
        self._bounded += len(clear)
        self.boxes += len(clear)
        self.queries += found.queries
        counted = found.discriminatory_sets
        said.certified[clear] = np.where(counted >= 0, counted == 0, found.consistent >= 1.0)
        said.falsified[clear] = np.where(counted >= 0, counted > 0, found.discriminatory >= 1.0)
        said.low[clear], said.high[clear] = found.low, found.high
        said.axis[clear], said.cut[clear] = found.axis, found.cut
        return said._replace(examples=found.examples)

    def _witnesses(self, parts: _Parts, said: _Said) -> dict[int, Places]:
        """Return of boxes with a discriminatory point such a one, as the model itself says."""
        middles = (said.low[said.falsified] + said.high[said.falsified]) // 2
        points = np.concatenate([said.examples, middles])
        if not len(points):
            return {}
        found: dict[int, Places] = {}
        for point in points[self._ask(points)]:
            inside = (parts.low <= point) & (point <= parts.high)
            found |= dict.fromkeys(parts.box[inside.all(axis=1)].tolist(), point)
        for i in np.flatnonzero(said.falsified).tolist():
            if (box := int(parts.box[i])) not in found and parts.points[i] <= _MOST:
                first = self._first(parts.low[i], parts.high[i])
                if len(first):
                    found[box] = first[0]
        return found

    def _first(self, low: Places, high: Places) -> Places:
        """Return a discriminatory point of a part, ``(1, a)``; ``(0, a)`` where there is none."""
        _, points = points_of(low[None], high[None])
        for start in range(0, len(points), _POINTS):
            some = points[start : start + _POINTS]
            hits = some[self._ask(some)]
            if len(hits):
                return hits[:1]
        return points[:0]


def _halves(parts: _Parts, said: _Said, wanted: Flags) -> tuple[Flags, _Parts]:
    """Halve what is left of parts, or leave that whole where it is one point.

    Returns
    -------
    NDArray[np.bool_]
        ``(p,)``; which are replaced: not those that are certified or not wanted, nor single points
        that were looked at already.
    _Parts
        By what.
    """
    smaller = (parts.low < said.low) | (said.high < parts.high) | (said.low < said.high)
    replaced = wanted & ~said.certified & smaller.any(axis=1)
    low, high = said.low[replaced], said.high[replaced]
    each, widest = np.arange(len(low)), (high - low).argmax(axis=1)
    advised = said.axis[replaced] >= 0
    axis = np.where(advised, said.axis[replaced], widest)
    cut = np.where(advised, said.cut[replaced], (low[each, axis] + high[each, axis]) // 2)
    upper, lower = high.copy(), low.copy()
    upper[each, axis], lower[each, axis] = cut, cut + 1
    second = (lower <= high).all(axis=1)
    group, box = parts.group[replaced], parts.box[replaced]
    return replaced, _Parts(
        np.concatenate([low, lower[second]]),
        np.concatenate([upper, high[second]]),
        np.concatenate([group, group[second]]),
        np.concatenate([box, box[second]]),
    )
