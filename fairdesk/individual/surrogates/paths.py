"""Paths of local trees as constraints: their confidences, what is toggled, and in which order.

Agarwal et al., "Automated Test Generation to Detect Individual Discrimination in AI Models", 2018.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import accumulate
from operator import mul
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdesk.results.events import Rows


class Predicate(NamedTuple):
    """What one node of a tree says of a person.

    Attributes
    ----------
    attribute : int
        Its position in the domain.
    above : bool
        The code is above the threshold; else it is the threshold or below.
    threshold : float
        A code, mostly half way between two.
    confidence : float
        The share of the samples that are on this side, by their weight, 0 to 1: of those at the
        node, or, after `of_path`, of all.
    """

    attribute: int
    above: bool
    threshold: float
    confidence: float

    @property
    def toggled(self) -> Predicate:
        """The other side of the node, which has the rest of the samples."""
        return self._replace(above=not self.above, confidence=1.0 - self.confidence)


#: What a tree says of a person, from its root down.
Path = tuple[Predicate, ...]
#: What tells one path from another: what it asks for, whatever its confidences.
Identity = frozenset[tuple[int, bool, float]]


def identity(path: Path) -> Identity:
    """Return what a path asks for; its confidences differ from one random sample to the next."""
    return frozenset((each.attribute, each.above, each.threshold) for each in path)


def of_path(path: Path) -> Path:
    """Return a path whose confidences are the shares of all samples that are on it so far."""
    shares = accumulate((each.confidence for each in path), mul)
    return tuple(each._replace(confidence=share) for each, share in zip(path, shares, strict=True))


def average_confidence(path: Path) -> float:
    """Return the mean confidence of a path's predicates."""
    return sum(each.confidence for each in path) / len(path)


def directed(path: Path, protected: frozenset[int], below: float) -> Iterator[Path]:
    """Toggle one predicate, keep all others (the local search).

    Parameters
    ----------
    below : float
        T2: only predicates with less confidence are toggled.
    """
    for i, each in enumerate(path):
        if each.attribute not in protected and each.confidence < below:
            yield (*path[:i], each.toggled, *path[i + 1 :])


def undirected(path: Path, protected: frozenset[int], least: float) -> Iterator[Path]:
    """Toggle one predicate and forget all behind it (the global search).

    Parameters
    ----------
    protected : frozenset of int
        Attributes of which no predicate is toggled: it would lead to the same person.
    least : float
        T1: the search ends at the first predicate with less confidence.
    """
    for i, each in enumerate(path):
        if each.confidence < least:
            return
        if each.attribute not in protected:
            yield (*path[:i], each.toggled)


def bounds(path: Path) -> dict[int, tuple[float, float]]:
    """Return a path's bounds per attribute: the code is above the first, at most the second."""
    limits: dict[int, tuple[float, float]] = {}
    for attribute, is_above, threshold, _ in path:
        above, most = limits.get(attribute, (-math.inf, math.inf))
        if is_above:
            limits[attribute] = max(above, threshold), most
        else:
            limits[attribute] = above, min(most, threshold)
    return limits


def follows(rows: Rows, path: Path) -> NDArray[np.bool_]:
    """Return which of ``(n, d)`` rows do what a path asks for: ``(n,)``."""
    fine = np.ones(len(rows), dtype=np.bool_)
    for attribute, (above, most) in bounds(path).items():
        fine &= (rows[:, attribute] > above) & (rows[:, attribute] <= most)
    return fine
