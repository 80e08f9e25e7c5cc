"""Compiled loops over trees and boxes; compiled once per machine and kept beside the module.

A tree is walked with a whole box: to both sides where a split parts it, and on the way the box is
narrowed, so that what was asked before is not asked again. All combinations of protected values
walk together, as the bits of a word, and part only where a split tells them apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from fairdesk.compiled import ZERO, Float2, Int2, Word2, inner, outer, put, shared, tuple_type

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]
Words = NDArray[np.uint64]

#: What is said of a box; `SINGLE` where every tree has one leaf for it, too near to a border.
UNDECIDED, CONSISTENT, DISCRIMINATORY, COUNTED, SINGLE, ASKED = 0, 1, 2, 3, 4, 5
#: Kinds of nodes: a leaf; left up to a place; left at one place; left at a set of places; left for
#: some combinations of protected values.
LEAF, CUT, ONE, SET, COMBINATION = 0, 1, 2, 3, 4
#: Combinations in a word.
WORD = 64


class ForestArrays(NamedTuple):
    """A forest over places, as these loops read it.

    Attributes
    ----------
    nodes : NDArray[np.int64]
        ``(N, 7)``; of each its kind, its axis (of a leaf the row of its values), two numbers that
        say where to the left, its two children, and its question. By kinds: left for places up to
        the first number, surely, and up to the second, perhaps; left at the first number; the
        place in ``sets`` of how many places before each go to the left; the row in ``sides``.
    spans : NDArray[np.float64]
        ``(N,)``; by how much its leaves differ.
    values : NDArray[np.float64]
        ``(L, F)``; what leaves add to each margin.
    roots : NDArray[np.int64]
        ``(T,)``.
    base : NDArray[np.float64]
        ``(F,)``.
    clear : float
        Beyond it, above and below 0, a margin is certain.
    sets : NDArray[np.int64]
        Flat.
    sides : NDArray[np.uint64]
        ``(n, W)``; a bit for each combination that goes to the left.
    questions : NDArray[np.int64]
        ``(Q, 4)``; kind, axis and the two numbers, each once.
    winner, loser, decision : NDArray[np.int64]
        As `fairdesk.certify.domain.encoded.Margins`.
    """

    nodes: Int2
    spans: Float64
    values: Float2
    roots: Numbers
    base: Float64
    clear: float
    sets: Numbers
    sides: Word2
    questions: Int2
    winner: Numbers
    loser: Numbers
    decision: Numbers


class Room(NamedTuple):
    """What the loops work in, made once for each thread.

    Attributes
    ----------
    stack : NDArray[np.int64]
        ``(depth, 4)``; a node, or -1, and an axis, or -1, whose ends are to be set first.
    masks : NDArray[np.uint64]
        ``(depth,)``; the combinations that come to that node.
    shares : NDArray[np.float64]
        ``(depth,)``; which share of the box does.
    low, high : NDArray[np.int64]
        ``(a,)``; the box as it is narrowed.
    lower, upper, least, most : NDArray[np.float64]
        ``(V, F)``; bounds of the margins, and of one tree's part.
    decided : NDArray[np.int64]
        ``(V,)``.
    beaten : NDArray[np.bool_]
        ``(K,)``.
    scores : NDArray[np.float64]
        ``(Q,)``; 0 between boxes.
    touched : NDArray[np.int64]
        ``(Q,)``; the questions that part the box.
    parts : NDArray[np.uint64]
        ``(64,)``; combinations that no tree tells apart in the box.
    counts : NDArray[np.int64]
        ``(3,)``; how many are touched, how many parts, and whether any node parted the box.
    """

    stack: Int2
    masks: Words
    shares: Float64
    low: Numbers
    high: Numbers
    lower: Float2
    upper: Float2
    least: Float2
    most: Float2
    decided: Numbers
    beaten: NDArray[np.bool_]
    scores: Float64
    touched: Numbers
    parts: Words
    counts: Numbers


_I1, _I2 = types.int64[::1], types.int64[:, ::1]
_NOBODY = np.uint64(0)


@inner()
def _part(room: Room, some: int, others: int) -> None:
    """Note that a split tells some combinations from others."""
    for k in range(room.counts[1]):
        mine, theirs = room.parts[k] & some, room.parts[k] & others
        if mine and theirs:
            # those that did not come so far were told apart from both before
            room.parts[k] = mine
            room.parts[room.counts[1]] = theirs
            room.counts[1] += 1


@inner()
def _walk(  # noqa: PLR0912, PLR0915 - one loop, of which a call would cost half as much again
    woods: ForestArrays, room: Room, root: int, word: int, everybody: int
) -> None:
    """Bound what a tree adds for each of a word of combinations; the box is left as it was."""
    stack, masks, low, high, nodes = room.stack, room.masks, room.low, room.high, woods.nodes
    margins, shares = woods.base.size, room.shares
    stack[0, 0], stack[0, 1] = root, -1
    masks[0], shares[0] = everybody, 1.0
    top = 1
    while top > 0:
        top -= 1
        node, axis, mask, share = stack[top, 0], stack[top, 1], masks[top], shares[top]
        if axis >= 0:
            low[axis], high[axis] = stack[top, 2], stack[top, 3]
        if node < 0:
            continue
        kind = nodes[node, 0]
        while kind != LEAF:
            axis, first, second = nodes[node, 1], nodes[node, 2], nodes[node, 3]
            left, right = nodes[node, 4], nodes[node, 5]
            if kind == COMBINATION:
                mine = mask & woods.sides[first, word]
                theirs = mask & ~woods.sides[first, word]
                if theirs == _NOBODY:
                    node = left
                elif mine == _NOBODY:
                    node = right
                else:
                    if word == 0:
                        _part(room, mine, theirs)
                    stack[top, 0], stack[top, 1] = right, -1
                    masks[top], shares[top] = theirs, share
                    top += 1
                    node, mask = left, mine
                kind = nodes[node, 0]
                continue
            lo, hi = low[axis], high[axis]
            left_low, left_high, right_low, right_high = lo, hi, lo, hi
            if kind == CUT:
                goes_left, goes_right = lo <= second, hi > first
                inside = min(max(second + 1 - lo, 0), hi - lo + 1)
                left_high, right_low = min(hi, second), max(lo, first + 1)
            elif kind == ONE:
                goes_left = lo <= first <= hi
                goes_right = lo < hi or lo != first
                inside = 1
                left_low = left_high = first
                if lo == first:
                    right_low = lo + 1
                elif hi == first:
                    right_high = hi - 1
            else:
                inside = woods.sets[first + hi + 1] - woods.sets[first + lo]
                goes_left, goes_right = inside > 0, inside <= hi - lo
            if not goes_right:
                node = left
            elif not goes_left:
                node = right
            else:
                room.counts[2] = 1
                part = inside / (hi - lo + 1)
                if lo < hi:
                    question = nodes[node, 6]
                    if room.scores[question] == 0.0:
                        room.touched[room.counts[0]] = question
                        room.counts[0] += 1
                    better = part * woods.spans[left] + (1.0 - part) * woods.spans[right]
                    # a mean of equal numbers may be rounded up
                    gain = max(woods.spans[node] - better, 0.0)
                    room.scores[question] += share * gain + 1e-300
                stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = -1, axis, lo, hi
                top += 1
                stack[top, 0], stack[top, 1] = right, axis
                stack[top, 2], stack[top, 3] = right_low, right_high
                masks[top], shares[top] = mask, share * (1.0 - part)
                share *= part
                top += 1
                low[axis], high[axis] = left_low, left_high
                node = left
            kind = nodes[node, 0]
        value = nodes[node, 1]
        v = word * WORD
        while mask != _NOBODY:
            if mask & np.uint64(1):
                for f in range(margins):
                    x = woods.values[value, f]
                    room.least[v, f] = min(room.least[v, f], x)
                    room.most[v, f] = max(room.most[v, f], x)
            mask >>= np.uint64(1)
            v += 1


@inner()
def _decision(woods: ForestArrays, room: Room, v: int) -> int:
    """Return the decision about a combination, -1 where it is not certain."""
    room.beaten[:] = False
    for f in range(woods.base.size):
        if woods.decision[woods.winner[f]] != woods.decision[woods.loser[f]]:
            if not room.lower[v, f] > woods.clear:
                room.beaten[woods.winner[f]] = True
            if not room.upper[v, f] < -woods.clear:
                room.beaten[woods.loser[f]] = True
    for c in range(room.beaten.size):
        if not room.beaten[c]:
            return int(woods.decision[c])
    return -1


@inner()
def _bound(  # noqa: PLR0912 - as above
    woods: ForestArrays, room: Room, compared: Numbers, alone: int
) -> int:
    """Say what is proven of the box in ``room.low`` and ``room.high``.

    Parameters
    ----------
    woods : ForestArrays
        The forest.
    room : Room
        The box.
    compared : NDArray[np.int64]
        The combinations that are compared, then -1.
    alone : int
        Whether one decision is asked for: then it is not enough that no tree can tell apart.
    """
    count, margins = room.lower.shape
    room.counts[:] = 0
    for v in range(count):
        put(room.lower[v], woods.base)
        put(room.upper[v], woods.base)
    words = (count + WORD - 1) // WORD
    for word in range(words):
        everybody = _NOBODY
        for v in compared:
            if v >= 0 and v // WORD == word:
                everybody |= np.uint64(1) << np.uint64(v % WORD)
        if everybody == _NOBODY:
            continue
        if word == 0:
            room.parts[0] = everybody
            room.counts[1] = 1
        for root in woods.roots:
            room.least[:] = np.inf
            room.most[:] = -np.inf
            _walk(woods, room, root, word, everybody)
            for v in range(word * WORD, min(count, (word + 1) * WORD)):
                if everybody >> np.uint64(v % WORD) & np.uint64(1):
                    for f in range(margins):
                        room.lower[v, f] += room.least[v, f]
                        room.upper[v, f] += room.most[v, f]
    first, certain = -1, True
    for v in compared:
        if v < 0:
            break
        decision = _decision(woods, room, v)
        if decision < 0:
            certain = False
        elif first < 0:
            first = decision
        elif decision != first:
            return DISCRIMINATORY
    # those whom no tree can tell apart come to the same leaves
    if certain or (alone == 0 and words == 1 and room.counts[1] == 1):
        return CONSISTENT
    return UNDECIDED if room.counts[2] else SINGLE


@inner()
def _halving(woods: ForestArrays, room: Room, low: Numbers, high: Numbers) -> tuple[int, int]:
    """Choose where to halve a box: at the question that tells most about the answer."""
    best, most = -1, 0.0
    for k in range(room.counts[0]):
        question = room.touched[k]
        if room.scores[question] > most:
            best, most = question, room.scores[question]
        if woods.roots.size == 1:
            # from the root down, so that no leaf's box is cut into more pieces than it must
            break
    if best < 0:
        return -1, 0
    kind, axis = woods.questions[best, 0], woods.questions[best, 1]
    first, second = woods.questions[best, 2], woods.questions[best, 3]
    lo, hi = low[axis], high[axis]
    cut = first
    if kind == CUT and first < lo:
        cut = second
    elif kind == ONE and first == hi:
        cut = first - 1
    elif kind == SET:
        cut = lo
        here = woods.sets[first + lo + 1] - woods.sets[first + lo]
        while cut < hi - 1 and woods.sets[first + cut + 2] - woods.sets[first + cut + 1] == here:
            cut += 1
    if not lo <= cut < hi:
        cut = (lo + hi) // 2
    return axis, cut


@outer(
    types.void(
        *(
            tuple_type(ForestArrays),
            tuple_type(Room),
            _I2,
            _I2,
            _I2,
            _I1,
            types.int64,
            types.int64,
            types.int64,
        ),
        *(_I1, _I1, _I1, _I1, _I2, types.Array(types.boolean, 2, "C")),
    )
)
def examine(
    woods: ForestArrays,
    room: Room,
    compared: Numbers,
    low: Numbers,
    high: Numbers,
    group: Numbers,
    start: int,
    stop: int,
    most: int,
    verdict: Numbers,
    axis: Numbers,
    cut: Numbers,
    discriminatory: Numbers,
    example: Numbers,
    differ: NDArray[np.bool_],
) -> None:
    """Examine boxes ``start`` to ``stop``.

    Parameters
    ----------
    woods, room
        The forest, and where to work.
    compared : NDArray[np.int64]
        ``(G, V + 1)``; of each group the combinations that are compared, then -1.
    low, high, group
        As of `fairdesk.certify.refine.Examiner.examine`.
    start, stop : int
        Which.
    most : int
        Boxes of so many points are counted point by point. 0 where boxes are looked at in which
        one combination is, and `CONSISTENT` means that its decision is certain.
    verdict, axis, cut, discriminatory : NDArray[np.int64]
        ``(B,)``; filled in. ``axis`` and ``cut`` of undecided ones; ``discriminatory`` of counted
        ones.
    example : NDArray[np.int64]
        ``(B, a)``; a point that is discriminatory where there is one.
    differ : NDArray[np.bool_]
        ``(B, most)``; of counted boxes, which of their points are discriminatory: the last axis
        goes fastest.
    """
    axes, woods, room = low.shape[1], shared(woods), shared(room)
    for box in range(start, stop):
        who = compared[group[box]]
        put(room.low, low[box])
        put(room.high, high[box])
        found = _bound(woods, room, who, 1 if most == 0 else 0)
        if found == UNDECIDED:
            axis[box], cut[box] = _halving(woods, room, low[box], high[box])
        for k in range(room.counts[0]):
            room.scores[room.touched[k]] = 0.0
        put(example[box], low[box])
        points = 1
        for i in range(axes):
            points *= high[box, i] - low[box, i] + 1
            if points > most:
                break
        if found == UNDECIDED and points <= most:
            found = COUNTED
            discriminatory[box] = 0
            for point in range(points):
                rest = point
                for i in range(axes - 1, -1, -1):
                    width = high[box, i] - low[box, i] + 1
                    room.low[i] = room.high[i] = low[box, i] + rest % width
                    rest //= width
                here = _bound(woods, room, who, ZERO)
                if here == DISCRIMINATORY:
                    discriminatory[box] += 1
                    differ[box, point] = True
                    put(example[box], room.low)
                elif here != CONSISTENT:
                    found = ASKED
                    break
        verdict[box] = found


__all__ = ["ForestArrays", "Room", "examine"]
