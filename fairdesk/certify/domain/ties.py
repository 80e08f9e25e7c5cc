"""Companions along the axes of a certificate: which codes stand for others, and which are tied.

Written anew, from the moves alone: nothing of it makes certificates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.companions import Companion
from fairdesk.data.domain.domain import Domain


def companion_of(domain: Domain, attribute: str) -> Companion | None:
    """Return the companion that an attribute is; ``None`` where it is none."""
    return next((each for each in domain.support.companions if each.attribute == attribute), None)


def becomes(domain: Domain, own: Companion, code: float) -> tuple[float, ...]:
    """Return what a code becomes with each compared value of the protected attribute."""
    moves = {(move.to, move.code): move.becomes for move in own.moves}
    compared = domain.attributes[domain.names.index(own.by)].compared
    return tuple(moves.get((to, code), code) for to in compared)


def standing(
    domain: Domain, own: Companion, codes: NDArray[np.float64], among: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return of codes those that stand for them: the first others that become the same.

    NaN where none of the others does.
    """
    first: dict[tuple[float, ...], float] = {}
    for code in among.tolist():
        first.setdefault(becomes(domain, own, code), code)
    return np.array([first.get(becomes(domain, own, code), np.nan) for code in codes.tolist()])


def tied(domain: Domain, attribute: str, codes: tuple[float, ...]) -> NDArray[np.bool_]:
    """Return at which places of an axis the code depends on the protected values: ``(count,)``.

    Empty along axes of other attributes.
    """
    own = companion_of(domain, attribute)
    if own is None:
        return np.empty(0, dtype=np.bool_)
    return np.array([set(becomes(domain, own, code)) != {code} for code in codes], dtype=np.bool_)
