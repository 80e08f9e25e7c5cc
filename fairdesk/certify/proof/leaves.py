"""The leaves of a certificate, each with its box."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Places
from fairdesk.certify.proof.certificate import Arrays, malformed

#: Nodes that are walked through at once.
_AT_ONCE = 1 << 14


class Leaves(NamedTuple):
    """Some leaves: their numbers, their roots, ``(m,)``, and their boxes, ``(m, a)``."""

    nodes: NDArray[np.int64]
    root: NDArray[np.int64]
    low: Places
    high: Places


def leaves(arrays: Arrays) -> Iterator[Leaves]:
    """Walk through the leaves, each with its box, in memory that does not grow with their number.

    Parameters
    ----------
    arrays : mapping
        As `check` leaves them.

    Raises
    ------
    CertificateError
        When a box is divided outside of itself.
    """
    low, high = (arrays[name].astype(np.int64) for name in ("root_low", "root_high"))
    roots = np.arange(len(low))
    waiting = _parts(Leaves(roots, roots, low, high))
    first, axis, cut = arrays["first"], arrays["axis"], arrays["cut"]
    while waiting:
        part = _next(waiting)
        children = first[part.nodes].astype(np.int64)
        inner = children >= 0
        if not inner.all():
            yield Leaves(*(each[~inner] for each in part))
        if not inner.any():
            continue
        part = Leaves(*(each[inner] for each in part))
        children, along = children[inner], axis[part.nodes].astype(np.int64)
        at = cut[part.nodes].astype(np.int64)
        each = np.arange(len(children))
        if not ((at >= part.low[each, along]) & (at < part.high[each, along])).all():
            raise malformed("some of its regions are divided outside their bounds")
        upper, lower = part.high.copy(), part.low.copy()
        upper[each, along], lower[each, along] = at, at + 1
        waiting += _parts(Leaves(children + 1, part.root, lower, part.high))
        waiting += _parts(Leaves(children, part.root, part.low, upper))


def _parts(whole: Leaves) -> list[Leaves]:
    """Cut boxes into parts that are walked through at once."""
    return [
        Leaves(*(each[start : start + _AT_ONCE] for each in whole))
        for start in range(0, len(whole.nodes), _AT_ONCE)
    ]


def _next(waiting: list[Leaves]) -> Leaves:
    """Take the last parts, as many small ones together as are walked through at once."""
    taken = [waiting.pop()]
    size = len(taken[0].nodes)
    while waiting and size + len(waiting[-1].nodes) <= _AT_ONCE:
        taken.append(waiting.pop())
        size += len(taken[-1].nodes)
    return Leaves(*(np.concatenate(each) for each in zip(*taken, strict=True)))
