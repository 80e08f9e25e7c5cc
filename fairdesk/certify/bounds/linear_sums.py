"""How often sums of two halves of the axes are below a border: one count for each term."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

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
