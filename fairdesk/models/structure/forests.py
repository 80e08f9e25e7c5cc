"""Trees of any library, gathered as one list of nodes.

A person goes to the left who is not above a threshold in double precision. What a library rounds
first, or compares by “below”, is written as the threshold that says the same of every number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.structure.types import Decides, Forest, OpaqueError

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

_HUGE = float(np.finfo(np.float64).max)
#: Each set of names that splits look for is a column of its own; no more than so many.
_MOST_SETS = 4_096


@dataclass(frozen=True, slots=True)
class Names:
    """A column that tells where names send a person: 1 to the right, 0 to the left, NaN if missing.

    Attributes
    ----------
    column : int
        The column with the names' numbers.
    left : NDArray[np.bool_]
        By number, cut off to a whole one: whether to the left.
    otherwise : bool
        Whether those below 0, and those beyond ``left``, go to the left.
    """

    column: int
    left: NDArray[np.bool_]
    otherwise: bool

    def of(self, numbers: Float64) -> Float64:
        """Make the column ``(n,)`` of the one with the numbers."""
        inside = (numbers >= 0) & (numbers < len(self.left))
        at = np.where(inside, numbers, 0.0).astype(np.intp)
        left = np.where(inside, self.left[at], self.otherwise)
        # where missing ones go is said by each split
        return np.where(np.isnan(numbers), np.nan, np.where(left, 0.0, 1.0))


@dataclass(frozen=True, slots=True)
class Read:
    """Trees as they were read.

    Attributes
    ----------
    forest : Forest
        They.
    names : tuple[Names, ...]
        Columns that are added behind those that the estimator is given.
    missing : float
        The number that stands for a missing one; NaN where only that does.
    """

    forest: Forest
    names: tuple[Names, ...] = ()
    missing: float = float("nan")


def sums(forest: Forest, matrix: Float64) -> Float64:
    """Add up the leaves' values of rows ``(n, m)``: ``(n, k)``."""
    rows = np.arange(len(matrix))[:, None]
    at = np.repeat(forest.roots[None], len(matrix), axis=0)
    while (inner := forest.column[at] >= 0).any():
        numbers = matrix[rows, np.where(inner, forest.column[at], 0)]
        left = np.where(np.isnan(numbers), forest.missing_left[at], numbers <= forest.threshold[at])
        at = np.where(inner, np.where(left, forest.left[at], forest.right[at]), at)
    return np.asarray(forest.base + forest.value[at].sum(axis=1))


def rounded_first(threshold: Float64) -> Float64:
    """Return the greatest double that is, rounded to single precision, not above a threshold.

    Parameters
    ----------
    threshold : NDArray[np.float64]
        ``(N,)``.
    """
    # the largest numbers are infinite in single precision
    with np.errstate(over="ignore"):
        near = threshold.astype(np.float32)
    below = np.where(near > threshold, np.nextafter(near, np.float32(-np.inf)), near)
    above = np.nextafter(below, np.float32(np.inf))
    middle = (below.astype(np.float64) + above.astype(np.float64)) / 2
    # half-way it goes to the even one of the two
    with np.errstate(over="ignore"):
        even = middle.astype(np.float32) <= below
    return np.where(even, middle, np.nextafter(middle, -np.inf))


@dataclass(slots=True)
class ForestBuilder:
    """Trees while they are gathered: of each the arrays of `Forest`, with its own numbers."""

    column: list[Numbers]
    left: list[Numbers]
    right: list[Numbers]
    threshold: list[Float64]
    missing_left: list[NDArray[np.bool_]]
    value: list[Float64]

    @classmethod
    def empty(cls) -> ForestBuilder:
        """Begin."""
        return cls([], [], [], [], [], [])

    def plant(
        self,
        column: NDArray[Any],
        children: tuple[NDArray[Any], NDArray[Any]],
        threshold: Float64,
        missing_left: NDArray[Any],
        value: Float64,
    ) -> None:
        """Add a tree; ``column`` is below 0 in leaves, and what stands there else is ignored."""
        inner = column >= 0
        own = np.arange(len(column))
        self.column.append(np.where(inner, column, -1).astype(np.int64))
        self.left.append(np.where(inner, children[0], own).astype(np.int64))
        self.right.append(np.where(inner, children[1], own).astype(np.int64))
        # an infinite one tells only the missing from all others
        self.threshold.append(np.clip(np.where(inner, threshold, 0.0), -_HUGE, _HUGE))
        self.missing_left.append(inner & (missing_left == 1))
        self.value.append(np.where(inner[:, None], 0.0, value))

    def forest(self, base: Float64, decides: Decides, unit: float) -> Forest:
        """Return all trees as one forest.

        Parameters
        ----------
        base : NDArray[np.float64]
            ``(k,)``.
        decides : Decides
            As `Forest`.
        """
        lengths = [len(each) for each in self.column]
        roots = np.concatenate([[0], np.cumsum(lengths)])[:-1].astype(np.int64)
        if not lengths:
            raise OpaqueError("it has no trees")
        most = sum(np.abs(each).max(axis=0) for each in self.value) + np.abs(base)
        terms = (len(lengths) + 8) * unit
        forest = Forest(
            column=np.concatenate(self.column),
            left=np.concatenate([a + r for a, r in zip(self.left, roots, strict=True)]),
            right=np.concatenate([a + r for a, r in zip(self.right, roots, strict=True)]),
            threshold=np.concatenate(self.threshold),
            missing_left=np.concatenate(self.missing_left),
            value=np.concatenate(self.value),
            roots=roots,
            base=base,
            decides=decides,
            slack=float(terms / (1 - terms) * np.max(most)) + 2.0**-126,
        )
        if np.isnan(forest.threshold).any() or not np.isfinite(forest.value).all():
            raise OpaqueError("some of its numbers are not finite")
        return forest


class Sets:
    """Columns for the sets of names that splits look for, each once."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._places: dict[tuple[int, bytes, bool], int] = {}
        self._sets: list[Names] = []

    def column(self, column: int, left: NDArray[np.bool_], otherwise: bool) -> int:  # noqa: FBT001 - as it stands in a node
        """Return the column that tells where a split of names sends people."""
        key = (column, left.tobytes(), otherwise)
        if key not in self._places:
            if len(self._sets) == _MOST_SETS:
                raise OpaqueError("its trees test for too many sets of categories")
            self._places[key] = self._width + len(self._sets)
            self._sets.append(Names(column, left, otherwise))
        return self._places[key]

    def all(self) -> tuple[Names, ...]:
        """Return all, in the order of their columns."""
        return tuple(self._sets)
