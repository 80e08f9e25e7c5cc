"""The population over a space: how likely its boxes are under a tree fitted to the data.

The tree (`fairdesk.population`) says how likely whole rows are. Of a point of a space, which is a
person whatever their protected values, that is the sum over these and over what follows other
attributes. Shares are those of the instances that can be in the domain: a mass is divided by that
of all roots in which there is a comparison. The tree is fitted to rows that have one, of a
companion's codes each as the one that stands for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Axis, Compared, Node, Places, PopulationOf, Space, Weights
from fairdesk.population.tree import PopulationTree
from fairdesk.results.events import Rows

if TYPE_CHECKING:
    from fairdesk.certify.domain.population_kernels import TreeArrays

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: The rounding of one operation, as a share of what comes of it.
_UNIT = 2.0**-52
#: What is smaller may have come of numbers that no float holds to all its digits.
_LEAST = 2.0**-960


def fitted(space: Space, people: Rows) -> PopulationOf | None:
    """Fit a tree to the data's rows and write it down over a space; ``None`` without rows.

    Parameters
    ----------
    space : Space
        Its axes in their last order.
    people : Rows
        ``(n, d)``; the data's rows in the domain.
    """
    if not len(people):
        return None
    supported = people[space.domain.allowed(people)]
    people = supported if len(supported) else people
    return written(space, PopulationTree.fit(space.domain, space.domain.canonical(people)))


def written(space: Space, tree: PopulationTree) -> PopulationOf:
    """Write a tree down over a space, whose axes are attributes of the tree's domain."""
    domain = space.domain
    place = {int(attribute): i for i, attribute in enumerate(tree.order)}
    nodes = []
    for attribute in tree.order.tolist():
        parent = int(tree.parents[attribute])
        table = np.exp(np.asarray(tree.log_tables[attribute], dtype=np.float64))
        rows = tuple(tuple(row) for row in table.tolist())
        nodes.append(Node(domain.names[attribute], place[parent] if parent >= 0 else -1, rows))
    return PopulationOf(
        tuple(nodes),
        tuple(_weights(axis, tree) for axis in space.axes),
        tuple(_compared(int(i), tree) for i in domain.protected),
    )


def _compared(position: int, tree: PopulationTree) -> Compared:
    """Write down the values of a protected attribute that are compared."""
    attribute, cells = tree.domain.attributes[position], tree.cells[position]
    codes = np.array(attribute.compared, dtype=np.float64)
    of, counts = cells.of(codes), np.ones(len(codes))
    seen, times = tree.seen[position], tree.seen_counts[position]
    if len(seen):
        at = np.clip(np.searchsorted(seen, codes), 0, len(seen) - 1)
        counts += np.where(seen[at] == codes, times[at], 0)
    values = tree.values[position]
    whole = np.bincount(cells.of(seen), times, cells.count)
    if values is not None:
        whole = whole + np.bincount(cells.of(values), minlength=cells.count)
    shares = np.minimum(counts / np.maximum(whole[of], counts), 1.0)
    return Compared(attribute.name, tuple(of.tolist()), tuple(shares.tolist()))


def _weights(axis: Axis, tree: PopulationTree) -> Weights:
    """Share the cells of an attribute out among the places of its axis."""
    cells = tree.cells[axis.position]
    codes, counts = tree.seen[axis.position], tree.seen_counts[axis.position]
    if axis.listed:
        of = cells.of(axis.codes)
        starts = np.concatenate([[0], np.flatnonzero(np.diff(of)) + 1])
        order = np.argsort(axis.codes)
        at = np.clip(np.searchsorted(axis.codes[order], codes), 0, axis.count - 1)
        places = order[at]
        cell = of[starts]
    else:
        # cells of numbers ascend with the codes: each begins where the one before ends
        firsts = [0, *(_first(axis, float(start)) for start in cells.starts)]
        kept = [i for i, first in enumerate(firsts) if first < ([*firsts, axis.count][i + 1])]
        starts, cell = np.array([firsts[i] for i in kept]), np.array(kept)
        places = np.clip(np.round((codes - axis.low) / axis.spacing), 0, axis.count - 1)
    known, which = np.unique(places.astype(np.int64), return_inverse=True)
    more = np.zeros(len(known), dtype=np.int64)
    np.add.at(more, which.ravel(), counts.astype(np.int64))
    return Weights(
        tuple(starts.tolist()),
        tuple(cell.tolist()),
        0 if tree.within[axis.position] is None else 1,
        tuple(known.tolist()),
        tuple(more.tolist()),
    )


def _first(axis: Axis, code: float) -> int:
    """Return the first place whose code is not below one; the number of places if there is none."""
    first, last = 0, axis.count
    while first < last:
        middle = (first + last) // 2
        if float(axis.code(np.array([middle]))[0]) < code:
            first = middle + 1
        else:
            last = middle
    return first


@dataclass(frozen=True)
class Population:
    """A population over a space, as compiled loops read it.

    Attributes
    ----------
    of : PopulationOf
        What it is made of.
    tree : TreeArrays
        The same in arrays.
    total : float
        The mass of everything: of all roots in which there is a comparison.
    """

    of: PopulationOf
    tree: TreeArrays
    total: float = 1.0

    @classmethod
    def over(cls, space: Space, of: PopulationOf) -> Population:
        """Lay a population out over the space that it was written down for."""
        own = cls(of, _arrays(space, of))
        masses = own.masses(space.low[space.compared], space.high[space.compared])
        return replace(own, total=math.fsum(masses.tolist()))

    @cached_property
    def everything(self) -> Float64:
        """What is given of nodes without an axis where every value of theirs counts."""
        return np.ones(len(self.tree.whole))

    @cached_property
    def off(self) -> float:
        """By which share of itself, at most, a computed mass can be off.

        Sums and products of positive numbers are off by one rounding for each operation on the way
        (Higham, *Accuracy and Stability of Numerical Algorithms*, section 3.1).
        """
        cells = self.tree.cells
        operations = 4 * int(cells.sum()) + 16 * len(cells) + 2 * len(self.tree.starts)
        return operations * _UNIT

    def given(self, combination: int) -> Float64:
        """Return what is given of nodes without an axis where one combination of values counts.

        Parameters
        ----------
        combination : int
            Its place among the domain's combinations of protected values.
        """
        given = self.everything.copy()
        names = [node.attribute for node in self.of.nodes]
        counts = [len(each.cells) for each in self.of.compared]
        places = np.unravel_index(combination, counts)
        for own, place in zip(self.of.compared, places, strict=True):
            node = 1 + names.index(own.attribute)
            first, cells = int(self.tree.first[node]), int(self.tree.cells[node])
            given[first : first + cells] = 0.0
            given[first + own.cells[place]] = own.shares[place]
        return given

    def masses(self, low: Places, high: Places, given: Float64 | None = None) -> Float64:
        """Return the masses of boxes, ``(B,)``, each off by `off` at most.

        Parameters
        ----------
        low, high : Places
            ``(B, a)``.
        given : NDArray[np.float64], optional
            As `everything`, which it is by default.
        """
        # compiled code is loaded where a search runs, never in the window's process
        from fairdesk.certify.domain.population_kernels import masses  # noqa: PLC0415

        out = np.empty(len(low))
        masses(
            self.tree,
            np.ascontiguousarray(low, dtype=np.int64),
            np.ascontiguousarray(high, dtype=np.int64),
            self.everything if given is None else given,
            out,
        )
        return np.where(out < _LEAST, 0.0, out)

    def medians(self, low: Places, high: Places, axis: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the last place of the first half of boxes along an axis each, by their mass."""
        from fairdesk.certify.domain.population_kernels import medians  # noqa: PLC0415 - as above

        out = np.zeros(len(low), dtype=np.int64)
        medians(
            self.tree,
            np.ascontiguousarray(low, dtype=np.int64),
            np.ascontiguousarray(high, dtype=np.int64),
            np.ascontiguousarray(axis, dtype=np.int64),
            self.everything,
            out,
        )
        return out

    def densest(
        self, low: Places, high: Places, given: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Float64]:
        """Return where boxes are halved so that their people are in the fewest points.

        Parameters
        ----------
        low, high, given
            As of `masses`.

        Returns
        -------
        tuple of arrays, ``(B,)`` each
            The axis, -1 for none; the last place of the first half; and by how much the mean
            logarithm of the mass per point then grows.
        """
        from fairdesk.certify.domain.density_kernels import densest  # noqa: PLC0415 - as above

        axis, cut = np.empty(len(low), dtype=np.int64), np.empty(len(low), dtype=np.int64)
        gain = np.empty(len(low))
        densest(
            self.tree,
            np.ascontiguousarray(low, dtype=np.int64),
            np.ascontiguousarray(high, dtype=np.int64),
            self.everything if given is None else given,
            axis,
            cut,
            gain,
        )
        return axis, cut, gain


def _arrays(space: Space, of: PopulationOf) -> TreeArrays:
    """Write a population as compiled loops read it."""
    from fairdesk.certify.domain.population_kernels import TreeArrays  # noqa: PLC0415 - as above

    names = space.domain.names
    place = {node.attribute: i + 1 for i, node in enumerate(of.nodes)}
    cells = np.array([1, *(len(node.table[0]) for node in of.nodes)], dtype=np.int64)
    first = np.cumsum([0, *cells]).astype(np.int64)
    tables = [np.ones(1), *(np.array(node.table, dtype=np.float64).ravel() for node in of.nodes)]
    node = np.array([place[names[axis.position]] for axis in space.axes], dtype=np.int64)
    whole = np.ones(int(first[-1]))
    starts: list[Numbers] = []
    before: list[Numbers] = []
    before_at, at = [], 0
    known, more = [], []
    for axis, own, here in zip(space.axes, of.axes, node.tolist(), strict=True):
        starts.append(np.array(own.starts, dtype=np.int64))
        ends = np.append(starts[-1][1:], axis.count)
        places, beside = _pairs(own.places, own.more)
        so_far = np.concatenate([[0], np.cumsum(beside)]).astype(np.int64)
        weights = own.each * (ends - starts[-1])
        weights = weights + so_far[np.searchsorted(places, ends)]
        weights = weights - so_far[np.searchsorted(places, starts[-1])]
        total = np.zeros(int(cells[here]), dtype=np.int64)
        np.add.at(total, np.array(own.cells, dtype=np.intp), weights)
        whole[first[here] : first[here + 1]] = total
        if axis.listed:
            every = np.arange(axis.count + 1)
            before.append(own.each * every + so_far[np.searchsorted(places, every)])
            before_at.append(at)
            at += axis.count + 1
            known.append(places[:0])
            more.append(so_far[:1])
        else:
            before_at.append(-1)
            known.append(places)
            more.append(so_far)
    return TreeArrays(
        parent=np.array([-1, *(each.parent + 1 for each in of.nodes)], dtype=np.int64),
        cells=cells,
        first=first[:-1].copy(),
        at=np.cumsum([0, *(len(each) for each in tables)])[:-1].astype(np.int64),
        tables=np.concatenate(tables),
        whole=whole,
        node=node,
        runs=_offsets(starts),
        starts=_joined(starts),
        cell=_joined([np.array(own.cells, dtype=np.int64) for own in of.axes]),
        before_at=np.array(before_at, dtype=np.int64),
        before=_joined(before),
        each=np.array([own.each for own in of.axes], dtype=np.int64),
        known_at=_offsets(known),
        known=_joined(known),
        more=_joined(more),
    )


def _pairs(places: Sequence[int], more: Sequence[int]) -> tuple[Numbers, Numbers]:
    return np.array(places, dtype=np.int64), np.array(more, dtype=np.int64)


def _offsets(parts: Sequence[Numbers]) -> Numbers:
    return np.cumsum([0, *(len(each) for each in parts)]).astype(np.int64)


def _joined(parts: Sequence[Numbers]) -> Numbers:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts]).astype(np.int64)
