"""The boxes that a space is divided into, by constraints and then as a tree in arrays.

A node is a root's box, or a half of its parent's. Boxes are not kept: they follow from the cuts on
the way from the root.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Places, Space, sizes, volumes
from fairdesk.data.domain.domain import Domain

Nodes = NDArray[np.int64]
Float64 = NDArray[np.float64]


class Verdict(IntEnum):
    """What is known of a leaf; `INNER` of a node with children."""

    INNER = -1
    UNDECIDED = 0
    CONSISTENT = 1
    DISCRIMINATORY = 2
    COUNTED = 3
    """Every point of it is decided, and their number is known."""
    NOBODY = 4
    """There is no comparison: fewer than two combinations of protected values may be there."""


#: The arrays by name: what they hold is told where a certificate file is described.
_FIELDS = {
    "axis": np.int16,
    "cut": np.int64,
    "first": np.int32,
    "parent": np.int32,
    "root": np.int32,
    "verdict": np.int8,
    "consistent": np.float64,
    "discriminatory": np.float64,
    "people_consistent": np.float64,
    "people_discriminatory": np.float64,
    "people_mass": np.float64,
}
#: Those of them that a certificate has.
KEPT = (
    *("axis", "cut", "first", "verdict", "consistent", "discriminatory"),
    *("people_consistent", "people_discriminatory"),
)
_FIRST_NODES = 1 << 16
#: A share of a box that was computed in floating point is counted as a little less.
_LESS = 1 - 2.0**-50
#: A box with fewer points can hold a count as a share of them, exactly.
EXACT = 1 << 52


class Tree:
    """Boxes of a space.

    Parameters
    ----------
    space : Space
        Its roots are the first nodes.

    Attributes
    ----------
    space : Space
        As given.
    count : int
        How many nodes there are.
    axis, cut, first, parent, root, verdict, consistent, discriminatory : NDArray
        ``(count or more,)``. Of an undecided leaf ``axis`` and ``cut`` say how it is to be halved,
        and ``consistent`` and ``discriminatory`` which shares of its points are proven so; those of
        a counted one are exact.
    people_consistent, people_discriminatory : NDArray[np.float64]
        Likewise, of a leaf's mass in the space's population.
    people_mass : NDArray[np.float64]
        That mass; 0 where nobody computed it yet.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.count = len(space.low)
        for name, kind in _FIELDS.items():
            setattr(self, name, np.zeros(max(_FIRST_NODES, 2 * self.count), dtype=kind))
        self.axis: NDArray[np.int16]
        self.cut: NDArray[np.int64]
        self.first: NDArray[np.int32]
        self.parent: NDArray[np.int32]
        self.root: NDArray[np.int32]
        self.verdict: NDArray[np.int8]
        self.consistent: Float64
        self.discriminatory: Float64
        self.people_consistent: Float64
        self.people_discriminatory: Float64
        self.people_mass: Float64
        self.axis[: self.count] = self.first[: self.count] = self.parent[: self.count] = -1
        self.root[: self.count] = np.arange(self.count)

    @classmethod
    def of(cls, space: Space, arrays: Mapping[str, NDArray[Any]]) -> Tree:
        """Take up a tree again from the arrays of a certificate of the same space."""
        tree = cls(space)
        tree._reserve(len(arrays["axis"]) - tree.count)
        tree.count = n = len(arrays["axis"])
        for name in KEPT:
            getattr(tree, name)[:n] = arrays[name]
        inner = np.flatnonzero(tree.first[:n] >= 0)
        for step in (0, 1):
            tree.parent[tree.first[inner] + step] = inner
        # a parent stands before its children, so one pass from the front finds every root
        for node in inner:
            tree.root[tree.first[node]] = tree.root[tree.first[node] + 1] = tree.root[node]
        return tree

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a certificate."""
        return {name: getattr(self, name)[: self.count].copy() for name in KEPT}

    @property
    def leaves(self) -> Nodes:
        """All leaves."""
        return np.flatnonzero(self.first[: self.count] < 0)

    def boxes(self, nodes: Nodes) -> tuple[Places, Places]:
        """Return the boxes of nodes: ``(n, a)`` and ``(n, a)``."""
        root = self.root[nodes]
        low, high = self.space.low[root], self.space.high[root]
        # compiled code is loaded where a search runs, never in the window's process
        from fairdesk.certify.domain.box_kernels import narrow  # noqa: PLC0415

        narrow(nodes, self.parent, self.first, self.axis, self.cut, low, high)
        return low, high

    def split(self, nodes: Nodes, axis: NDArray[np.int64], cut: NDArray[np.int64]) -> Nodes:
        """Halve leaves; give the first of each one's two children."""
        self._reserve(2 * len(nodes))
        first = self.count + 2 * np.arange(len(nodes))
        self.count += 2 * len(nodes)
        self.axis[nodes], self.cut[nodes], self.first[nodes] = axis, cut, first
        self.verdict[nodes] = Verdict.INNER
        for step in (0, 1):
            children = first + step
            self.parent[children], self.root[children] = nodes, self.root[nodes]
            self.axis[children] = self.first[children] = -1
            self.verdict[children] = Verdict.UNDECIDED
        return first

    def carve(
        self, nodes: Nodes, low: Places, high: Places, new_low: Places, new_high: Places
    ) -> Nodes:
        """Cut leaves, whose boxes are given, down to smaller ones; give the leaves that are left.

        What is cut off is consistent.
        """
        # compiled code is loaded where a search runs, never in the window's process
        from fairdesk.certify.domain.box_kernels import carve  # noqa: PLC0415

        moved = (new_low > low).sum() + (new_high < high).sum()
        self._reserve(2 * int(moved))
        rest = nodes.copy()
        self.count = carve(
            *(rest, low, high, np.ascontiguousarray(new_low), np.ascontiguousarray(new_high)),
            *(self.axis, self.cut, self.first, self.parent, self.root, self.verdict, self.count),
        )
        return rest

    def compact(self) -> Nodes:
        """Make a leaf of every node whose children are decided; return the undecided leaves.

        What is known of its children together is known of it, so that nothing is lost but where
        in it that was proven.
        """
        while self._merge():
            pass
        self._renumber()
        return np.flatnonzero((self.first[: self.count] < 0) & (self.verdict[: self.count] == 0))

    def fold(self, most: int) -> None:
        """Merge siblings into one leaf again, those with the fewest undecided points first.

        What is proven of two is proven of both together; how they were divided is forgotten, and
        would have to be found out again.

        Parameters
        ----------
        most : int
            Until there are so many nodes at most.
        """
        while self.count > max(most, 2 * len(self.space.low)):
            inner = np.flatnonzero(self.first[: self.count] >= 0)
            one = self.first[inner].astype(np.int64)
            ends = (self.first[one] < 0) & (self.first[one + 1] < 0)
            ends &= (self.verdict[one] != Verdict.NOBODY) & (
                self.verdict[one + 1] != Verdict.NOBODY
            )
            inner, one = inner[ends], one[ends]
            if not inner.size:
                return
            pairs = [(each, *self.boxes(each)) for each in (one, one + 1)]
            points = [volumes(low, high) for _, low, high in pairs]
            known = [self._known(each) for each, _, _ in pairs]
            left = sum(
                count * (1.0 - own[0] - own[1]) for count, own in zip(points, known, strict=True)
            )
            wanted = min(len(inner), (self.count - most) // 2 + 1)
            some = np.argpartition(left, wanted - 1)[:wanted]
            for k, field in enumerate((self.consistent, self.discriminatory)):
                weighted = known[0][k] * points[0] + known[1][k] * points[1]
                field[inner[some]] = (weighted / (points[0] + points[1]) * _LESS)[some]
            if self.space.people is not None:
                people = [self.space.people.masses(low, high) for _, low, high in pairs]
                less = 1.0 - 4.0 * self.space.people.off
                self.people_consistent[inner[some]] = less * _together(known, people, 2)[some]
                self.people_discriminatory[inner[some]] = less * _together(known, people, 3)[some]
            self.verdict[inner[some]] = Verdict.UNDECIDED
            self.first[inner[some]] = -1
            self._renumber()

    def _known(self, leaves: Nodes) -> list[Float64]:
        """Return the consistent and discriminatory shares of leaves: of points, of people."""
        verdict = self.verdict[leaves]
        consistent, discriminatory = (
            verdict == Verdict.CONSISTENT,
            verdict == Verdict.DISCRIMINATORY,
        )
        fields = (
            self.consistent,
            self.discriminatory,
            self.people_consistent,
            self.people_discriminatory,
        )
        return [
            np.where(consistent | discriminatory, whole.astype(np.float64), field[leaves])
            for whole, field in zip(2 * (consistent, discriminatory), fields, strict=True)
        ]

    def _merge(self) -> bool:
        """Merge nodes whose two children are decided; return whether there were any."""
        n = self.count
        inner = np.flatnonzero(self.first[:n] >= 0)
        one = self.first[inner].astype(np.int64)
        two = one + 1
        settled = (self.verdict[one] > 0) & (self.verdict[two] > 0)
        inner, one, two = inner[settled], one[settled], two[settled]
        counted = self.verdict[one] == Verdict.COUNTED
        same = (self.verdict[one] == self.verdict[two]) & ~counted
        somebody = (self.verdict[one] != Verdict.NOBODY) & (self.verdict[two] != Verdict.NOBODY)
        boxes = [self.boxes(each) for each in (one, two)]
        points = [np.array([float(size) for size in sizes(*each)]) for each in boxes]
        whole = points[0] + points[1]
        mixed = ~same & somebody & (whole < EXACT)
        discriminatory = np.round(self._discriminatory(one) * points[0]) + np.round(
            self._discriminatory(two) * points[1]
        )
        share = discriminatory[mixed] / whole[mixed]
        self.verdict[inner[same]] = self.verdict[one[same]]
        self.verdict[inner[mixed]] = Verdict.COUNTED
        self.discriminatory[inner[mixed]], self.consistent[inner[mixed]] = share, 1.0 - share
        if (population := self.space.people) is not None:
            masses = [population.masses(*each)[mixed] for each in boxes]
            known = [self._known(each[mixed]) for each in (one, two)]
            less = 1.0 - 4.0 * population.off
            self.people_consistent[inner[mixed]] = less * _together(known, masses, 2)
            self.people_discriminatory[inner[mixed]] = less * _together(known, masses, 3)
        merged = inner[same | mixed]
        self.first[merged] = self.axis[merged] = -1
        return bool(merged.size)

    def _discriminatory(self, nodes: Nodes) -> Float64:
        """Return the share of decided leaves' points that are discriminatory."""
        verdict = self.verdict[nodes]
        return np.where(
            verdict == Verdict.COUNTED,
            self.discriminatory[nodes],
            verdict == Verdict.DISCRIMINATORY,
        )

    def _renumber(self) -> None:
        """Leave out the nodes that no root leads to any more."""
        alive = np.zeros(self.count, dtype=np.bool_)
        level = np.arange(len(self.space.low))
        while level.size:
            alive[level] = True
            first = self.first[level]
            first = first[first >= 0]
            level = np.concatenate([first, first + 1])
        kept = np.flatnonzero(alive)
        number = np.cumsum(alive) - 1
        for name in _FIELDS:
            values = getattr(self, name)
            values[: len(kept)] = values[kept]
            values[len(kept) : self.count] = 0  # as new nodes find them
        self.count = len(kept)
        inner = self.first[: self.count] >= 0
        self.first[: self.count][inner] = number[self.first[: self.count][inner]]
        below = self.parent[: self.count] >= 0
        self.parent[: self.count][below] = number[self.parent[: self.count][below]]

    def _reserve(self, more: int) -> None:
        """Make room for so many nodes."""
        room = len(self.axis)
        if self.count + more <= room:
            return
        room = max(2 * room, self.count + more)
        for name, kind in _FIELDS.items():
            grown = np.zeros(room, dtype=kind)
            grown[: self.count] = getattr(self, name)[: self.count]
            setattr(self, name, grown)


def _together(known: Sequence[Sequence[Float64]], masses: Sequence[Float64], k: int) -> Float64:
    """Return a share of two leaves together, a little less than it is."""
    weighted = known[0][k] * masses[0] + known[1][k] * masses[1]
    mass = masses[0] + masses[1]
    return np.asarray(weighted / np.where(mass > 0, mass, 1.0) * _LESS)


def at_least(share: Float64, points: list[int]) -> list[int]:
    """Return whole numbers of points that are proven by shares of them, each rounded down."""
    return [
        int(float(count) * part * _LESS) if part < 1 else count
        for part, count in zip(share.tolist(), points, strict=True)
    ]


#: So many combinations of values, protected ones among them, are looked at.
MOST_LOOKED_AT = 4_000_000
#: And so many boxes are made of them.
MOST_ROOTS = 50_000
_AT_ONCE = 200_000


def partitioned(space: Space) -> Space:
    """Divide the roots of a space by its domain's constraints and by what the data support.

    Where these speak of too many values together, the roots are left whole and unclear: then
    nothing is claimed of them.

    Parameters
    ----------
    space : Space
        Its axes in their last order.
    """
    domain = space.domain
    if not domain.has_constraints:
        return space
    spoken = _spoken_of(space)
    counts = [space.axes[i].count for i in spoken]
    if math.prod(counts) * len(domain.combinations) > MOST_LOOKED_AT:
        return replace(space, unclear=np.ones(len(space.low), dtype=np.bool_))
    kinds, may_be = _kinds(space, spoken, counts)
    low, high = (np.array(each, dtype=np.int64) for each in _divided(space, spoken, kinds))
    middle = tuple(low[:, spoken].T)
    unclear = np.zeros(len(low), dtype=np.bool_)
    for b in range(len(low)):
        inside = kinds[tuple(slice(low[b, i], high[b, i] + 1) for i in spoken)]
        unclear[b] = bool((inside != inside.flat[0]).any())
    return replace(
        space,
        low=low,
        high=high,
        groups=np.broadcast_to(kinds[middle], len(low)),
        may_be=may_be,
        unclear=unclear,
    )


def _spoken_of(space: Space) -> list[int]:
    """Return the axes that these speak of, by themselves or by what follows them."""
    domain = space.domain
    names = {name for rule in domain.all_rules for name in rule.names}
    names |= {each.attribute for each in domain.support.companions}
    names |= {each.attribute for each in domain.support.proposed}
    names |= {name for each in domain.determined for name in (each.attribute, each.by)}
    followed = {each.attribute: each.by for each in domain.determined}
    while more := {followed[name] for name in names if name in followed} - names:
        names |= more
    return [i for i, axis in enumerate(space.axes) if domain.names[axis.position] in names]


def _kinds(
    space: Space, spoken: list[int], counts: list[int]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the allowed combinations of protected values for all values of the axes involved.

    Returns
    -------
    NDArray[np.intp]
        One dimension for each axis; the row of what follows.
    NDArray[np.bool_]
        ``(G, C)``.
    """
    domain: Domain = space.domain
    size = math.prod(counts)
    allowed = np.empty((size, len(domain.combinations)), dtype=np.bool_)
    variant = np.zeros(size, dtype=np.intp)
    step = max(1, _AT_ONCE // len(domain.combinations))
    for start in range(0, size, step):
        numbers = np.arange(start, min(start + step, size))
        places = np.repeat(space.low[:1], len(numbers), axis=0)
        if spoken:
            places[:, spoken] = np.column_stack(np.unravel_index(numbers, counts))
        allowed[numbers] = domain.possible(domain.similar(space.rows(places)))
        variant[numbers] = np.where(allowed[numbers].any(axis=1), space.variant(places), 0)
    own = np.column_stack((variant, allowed))
    found, kinds = np.unique(own, axis=0, return_inverse=True)
    return kinds.reshape(counts), found[:, 1:].astype(np.bool_)


def _divided(
    space: Space, spoken: list[int], kinds: NDArray[np.intp]
) -> tuple[list[Places], list[Places]]:
    """Halve the roots until each is of one kind, or there are too many."""
    low: list[Places] = []
    high: list[Places] = []
    left = list(zip(space.low, space.high, strict=True))
    while left:
        first, last = left.pop()
        inside = kinds[tuple(slice(first[i], last[i] + 1) for i in spoken)]
        if len(low) + len(left) >= MOST_ROOTS or (inside == inside.flat[0]).all():
            low.append(first)
            high.append(last)
            continue
        dimension, cut = _best_cut(inside)
        axis = spoken[dimension]
        middle, after = last.copy(), first.copy()
        middle[axis] = first[axis] + cut
        after[axis] = middle[axis] + 1
        left += [(first, middle), (after, last)]
    return low, high


def _best_cut(kinds: NDArray[np.intp]) -> tuple[int, int]:
    """Choose where to halve: between the two neighbouring layers that differ in most places."""
    best, found = -1.0, (0, 0)
    for dimension, width in enumerate(kinds.shape):
        if width == 1:
            continue
        layers = np.moveaxis(kinds, dimension, 0)
        differ = (layers[1:] != layers[:-1]).reshape(width - 1, -1).mean(axis=1)
        # of equals the one nearest to the middle
        rated = differ - 1e-9 * np.abs(np.arange(width - 1) - (width - 2) / 2)
        cut = int(rated.argmax())
        if rated[cut] > best:
            best, found = float(rated[cut]), (dimension, cut)
    return found
