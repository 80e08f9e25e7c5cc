"""How much of a certificate is proven once more: which boxes are tried, and what came of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Places
from fairdesk.certify.proof.certificate import (
    CONSISTENT,
    COUNTED,
    DISCRIMINATORY,
    UNDECIDED,
    Arrays,
    Points,
)
from fairdesk.results.proofs import percent_digits

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: Boxes that are given at once: half of them the largest, half of them drawn at random.
_AT_ONCE = 512
#: A call takes at most so many seconds; with all the time that it needs, and once more for those
#: boxes that were then not proven, so many at once.
_CALL, _LONG_CALL, _AGAIN_AT_ONCE = 10.0, 60.0, 16
#: Contradictions that are told one by one.
_MOST_MESSAGES = 5
#: Shares are sums of floats: by so much they may differ.
ROUNDING = 1e-9
#: What contradicts a box: nothing, a point, or a count.
KINDS = NOTHING, BY_POINT, BY_COUNT = range(3)


class Reproof(NamedTuple):
    """What was proven of ``B`` boxes.

    Attributes
    ----------
    consistent, discriminatory : NDArray[np.float64]
        ``(B,)``; shares of each box's points that are proven to get the same decision whatever
        their protected values, and not to.
    contradicted : NDArray[np.int8]
        ``(B,)``; 0: nothing contradicts what is stated; `BY_POINT`; `BY_COUNT`.
    places : Places
        ``(B, a)``; that point.
    """

    consistent: Float64
    discriminatory: Float64
    contradicted: NDArray[np.int8]
    places: Places


#: ``prove(low, high, group, stated, seconds)``: prove of boxes, ``(B, a)``, of these rows of
#: `Header.may_be` (-1: it is not known who may be there), that the stated shares, ``(B, 2)``, of
#: them are consistent and discriminatory. Of boxes of rates ``group`` is the combination of
#: protected values, and the shares are of those with the favourable decision, and with another.
Prove = Callable[[Places, Places, Numbers, Float64, float], Reproof]


#: What the shares are of: of boxes' points, of the people in them, or of boxes of rates.
SharesOf = Literal["points", "people", "rates"]


class Reprove(Protocol):
    """Does it for any of these shares."""

    def __call__(
        self,
        low: Places,
        high: Places,
        group: Numbers,
        stated: Float64,
        seconds: float,
        *,
        of: SharesOf = "points",
    ) -> Reproof:
        """Prove; as `Prove`."""
        ...


class Claims(NamedTuple):
    """Boxes and what they state.

    Attributes
    ----------
    nodes : NDArray[np.int64]
        ``(B,)``; their numbers.
    low, high : Places
        ``(B, a)``; their ends.
    group : NDArray[np.int64]
        ``(B,)``; the rows of `Header.may_be` that hold in them.
    stated : NDArray[np.float64]
        ``(B, 2)``; which shares of their points are certified, and falsified.
    size : NDArray[np.float64]
        ``(B,)``; their points, as shares of all that are listed.
    """

    nodes: Numbers
    low: Places
    high: Places
    group: Numbers
    stated: Float64
    size: Float64


class Outcome(NamedTuple):
    """What came of it: as `fairdesk.certify.proof.verify.statements.Check`."""

    tried: int
    failed: int
    unknown: int
    remarks: tuple[str, ...]


def stated_shares(arrays: Arrays, nodes: Numbers, sizes: Float64) -> Float64:
    """Return which shares of leaves are stated to be certified and falsified, ``(B, 2)``."""
    verdict = arrays["verdict"][nodes]
    consistent, discriminatory = (
        arrays[name][nodes].astype(np.float64) for name in ("consistent", "discriminatory")
    )
    hits = np.where(sizes < 2.0**53, np.rint(discriminatory * sizes) / sizes, discriminatory)
    certified = np.select(
        [verdict == CONSISTENT, verdict == COUNTED, verdict == UNDECIDED],
        [1.0, 1.0 - hits, consistent],
        0.0,
    )
    falsified = np.select(
        [verdict == DISCRIMINATORY, verdict == COUNTED, verdict == UNDECIDED],
        [1.0, hits, discriminatory],
        0.0,
    )
    return np.column_stack((certified, falsified))


def check_again(
    claims: Claims,
    points: Points,
    prove: Prove,
    rng: np.random.Generator,
    *,
    seconds: float,
    everything: bool,
) -> Outcome:
    """Prove boxes once more: the largest first, and beside each of these one drawn at random.

    Those of which everything is stated to be of one kind come before those of which shares are.

    Parameters
    ----------
    claims : Claims
        All boxes of which anything is stated.
    points : Points
        Asks the model about a point that contradicts: it has the last word.
    prove : callable
        Proves them.
    rng : np.random.Generator
        Draws boxes.
    seconds : float
        For so long; without meaning where ``everything``.
    everything : bool
        Whether every box is tried, however long that takes.
    """
    count = len(claims.nodes)
    proven, contradicted = np.zeros((count, 2)), np.zeros(count, dtype=np.bool_)
    messages: list[str] = []
    until = math.inf if everything else perf_counter() + seconds
    whole = np.asarray((claims.stated >= 1.0).any(axis=1))
    drawn = 0

    def left_open() -> Numbers:
        short = (proven < claims.stated - ROUNDING).any(axis=1)
        return np.flatnonzero(short & ~contradicted)

    for some, random in _in_order(claims.size, whole, rng, left_open, again=everything):
        left = until - perf_counter()
        if left <= 0:
            break
        found = prove(
            *(claims.low[some], claims.high[some], claims.group[some], claims.stated[some]),
            _LONG_CALL if everything else min(left, _CALL),
        )
        drawn = max(drawn, random)
        proven[some] = np.maximum(
            proven[some], np.column_stack((found.consistent, found.discriminatory))
        )
        for i in np.flatnonzero(found.contradicted).tolist():
            box = int(some[i])
            failure = "a recount of its combinations contradicts its statement"
            if found.contradicted[i] == BY_POINT:
                place = found.places[i]
                discriminatory = bool(points.differ(place[None])[0])
                if claims.stated[box, int(discriminatory)] >= 1.0:
                    # the model has the last word
                    proven[box] = 0.0
                    continue
                failure = (
                    f"the decision {'changes' if discriminatory else 'is unchanged'} for "
                    f"{points.person(place)}"
                )
            contradicted[box], proven[box] = True, 0.0
            if len(messages) < _MOST_MESSAGES:
                messages.append(f"In region {claims.nodes[box]}: {failure}.")
    chance = drawn / max(int(whole.sum()), 1)
    failed = int(contradicted.sum())
    messages += _outcome_messages(
        claims, np.minimum(proven, claims.stated), len(left_open()), failed, chance
    )
    return Outcome(count, failed, len(left_open()), tuple(messages))


def _in_order(
    sizes: Float64,
    whole: NDArray[np.bool_],
    rng: np.random.Generator,
    left_open: Callable[[], Numbers],
    *,
    again: bool,
) -> Iterator[tuple[Numbers, int]]:
    """Yield boxes to try; and of a random order of those of one kind how many were tried so far."""
    for kind in (True, False):
        own = np.flatnonzero(whole == kind)
        orders = own[np.argsort(-sizes[own], kind="stable")], rng.permutation(own)
        waiting = np.zeros(len(sizes), dtype=np.bool_)
        waiting[own] = True
        at = [0, 0]
        while waiting.any():
            chosen = []
            for which, order in enumerate(orders):
                left = order[at[which] :]
                ends = np.flatnonzero(waiting[left])[: _AT_ONCE // 2]
                chosen.append(left[ends])
                waiting[left[ends]] = False
                at[which] += int(ends[-1]) + 1 if len(ends) else len(left)
            yield np.concatenate(chosen), at[1] if kind else len(orders[1])
    left = left_open() if again else np.empty(0, dtype=np.int64)
    for start in range(0, len(left), _AGAIN_AT_ONCE):
        yield left[start : start + _AGAIN_AT_ONCE], 0


def _outcome_messages(
    claims: Claims, proven: Float64, left_open: int, failed: int, chance: float
) -> list[str]:
    """Return messages on the share that was proven again; nothing of what is contradicted."""
    count = len(claims.nodes)
    again = count - left_open - failed
    shares = []
    for i, what in enumerate(("certified", "falsified")):
        stated = float(claims.size @ claims.stated[:, i])
        if stated > 0:
            share = float(claims.size @ proven[:, i]) / stated
            shares.append(f"{_percent(share, whole=again == count)} of the {what} share")
    boxes = f"{again:,} of {count:,} regions"
    messages = [f"Re-proved: {' and '.join(shares)} ({boxes})."]
    if left_open:
        tried = (
            "Every fully decided region was tested."
            if chance >= 1.0
            else "Any fully decided region, however small, was among those tested with a "
            f"probability of at least {_percent(chance, whole=False)}."
        )
        messages.append(
            "The rest was verified by sums and samples only; “fairdesk verify --all” tests "
            "every region, however long that takes."
        )
        messages.append(tried)
    return messages


def _percent(share: float, *, whole: bool) -> str:
    """Write a share, rounded down; all of it only where it is the whole."""
    return "100 %" if whole else f"{float(percent_digits(min(share, 0.9999), 2)):g} %"
