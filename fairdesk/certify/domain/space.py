"""The people of a domain as boxes: places along axes, one axis for each attribute that is free.

A point of the space is a similar set: a row whatever its protected values. An axis numbers the
values of an attribute 0, 1, ...; a box is an interval of places along every axis. Fixed attributes
have those combinations of values that occur in the data: each is a root, a box in which they have
one place. Constraints make more roots: in each the same combinations of protected values may be
everywhere, so that what is said of a root's boxes is exact.

A companion (`fairdesk.data.domain.dependencies`) has an axis too, with one place for all codes that
stand for each other. Such a place is *tied*: there the code depends on the combination, as a
constraint's determined attribute does. A root has one tied place along the axis, or none; which it
has is its variant.

Written anew, from the moves alone: nothing of it makes certificates.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.dependencies import Companion
from fairdesk.data.domain.domain import Domain
from fairdesk.errors import SpecError
from fairdesk.results.events import Rows
from fairdesk.results.proofs import Condition

if TYPE_CHECKING:
    from fairdesk.certify.domain.population_kernels import TreeArrays


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


class Node(msgspec.Struct, frozen=True):
    """An attribute in a population's tree.

    Attributes
    ----------
    attribute : str
        Its name.
    parent : int
        The place of the attribute that it depends on, before this one; -1 for none.
    table : tuple[tuple[float, ...], ...]
        For each cell of the parent, or once, the probabilities of its own cells.
    """

    attribute: str
    parent: int
    table: tuple[tuple[float, ...], ...]


class Weights(msgspec.Struct, frozen=True):
    """How a cell's probability is shared out among the places of an axis: by whole numbers.

    Attributes
    ----------
    starts, cells : tuple[int, ...]
        Neighbouring places of one cell: the first place of each run, and its cell.
    each : int
        What every place weighs; 0 where only those that the data have count.
    places, more : tuple[int, ...]
        Places that weigh more, ascending, and by how much.
    """

    starts: tuple[int, ...]
    cells: tuple[int, ...]
    each: int
    places: tuple[int, ...]
    more: tuple[int, ...]


class Compared(msgspec.Struct, frozen=True):
    """The values of a protected attribute that are compared, in the population.

    Attributes
    ----------
    attribute : str
        Its name.
    cells : tuple[int, ...]
        The cell of each value.
    shares : tuple[float, ...]
        Which share of its cell's probability each value has.
    """

    attribute: str
    cells: tuple[int, ...]
    shares: tuple[float, ...]


class PopulationOf(msgspec.Struct, frozen=True):
    """A population, written down: enough to compute the mass of any box of a space.

    The probability of a point and a cell of each other attribute is the product of the nodes'
    probabilities, and for each axis of the place's weight over that of all places in its cell.

    Attributes
    ----------
    nodes : tuple[Node, ...]
        All attributes of the domain, each behind its parent.
    axes : tuple[Weights, ...]
        One for each axis of the space.
    compared : tuple[Compared, ...]
        One for each protected attribute of the space's domain.
    """

    nodes: tuple[Node, ...]
    axes: tuple[Weights, ...]
    compared: tuple[Compared, ...] = ()

    @property
    def fingerprint(self) -> str:
        """The SHA-256 hash of it as JSON."""
        return hashlib.sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()


#: ``(n, a)``; places along the axes, or one end of boxes.
Places = NDArray[np.int64]
#: The values of an attribute with more are not written down one by one.
MOST_LISTED = 65_536
#: Of more points no share is computed: floating point numbers end there.
MOST_POINTS = 10**290
#: A box is halved where its people are concentrated, if that lets the logarithm of their density
#: grow by so much; else where its bounds gain most, and then counting it may pay.
DENSER = 0.3


@dataclass(frozen=True, slots=True)
class Axis:
    """The values of one attribute, numbered.

    Attributes
    ----------
    position : int
        The attribute's place in the domain.
    count : int
        How many values there are.
    codes : NDArray[np.float64]
        ``(count,)``; their codes in the axis' own order, which for names is whichever a method
        finds best. Empty for more than `MOST_LISTED`.
    low, spacing : float
        Where they are not listed: the code at place 0, and from one to the next.
    grid : float
        As `fairdesk.data.domain.attributes.Attribute.grid`.
    """

    position: int
    count: int
    codes: NDArray[np.float64]
    low: float
    spacing: float
    grid: float

    @property
    def listed(self) -> bool:
        """Whether the codes are written down."""
        return self.codes.size > 0

    def code(self, places: Places) -> Rows:
        """Return the codes at places."""
        if self.listed:
            return self.codes[places]
        codes = self.low + places * self.spacing
        return np.asarray(np.round(codes * self.grid) / self.grid)

    def places(self, codes: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the places of codes, ``(n,)``; of codes that no place has the nearest."""
        if self.listed:
            order = np.argsort(self.codes, kind="stable")
            at = np.searchsorted(self.codes[order], codes - 0.5 * self.spacing)
            return np.asarray(order[np.minimum(at, self.count - 1)])
        at = np.round((codes - self.low) / self.spacing)
        return np.clip(at, 0, self.count - 1).astype(np.int64)


class People(Protocol):
    """How likely the points of a space are: `fairdesk.certify.domain.population.Population`.

    Attributes
    ----------
    of : PopulationOf
        What it is made of.
    tree : TreeArrays
        The same as compiled loops read it.
    total : float
        The mass of all roots in which there is a comparison.
    """

    @property
    def of(self) -> PopulationOf:
        """What it is made of."""

    @property
    def tree(self) -> TreeArrays:
        """The same as compiled loops read it."""

    @property
    def total(self) -> float:
        """The mass of all roots in which there is a comparison."""

    @property
    def off(self) -> float:
        """By which share of itself, at most, a computed mass can be off."""

    @property
    def everything(self) -> NDArray[np.float64]:
        """What is given of nodes without an axis where every value of theirs counts."""

    def given(self, combination: int) -> NDArray[np.float64]:
        """Return the same where one combination of protected values counts, by its place."""

    def masses(
        self, low: Places, high: Places, given: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return the masses of boxes, ``(B,)``; of ``everything`` by default."""

    def medians(self, low: Places, high: Places, axis: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the last place of the first half of boxes along an axis each, by their mass."""

    def densest(
        self, low: Places, high: Places, given: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Return axis and cut of the halves of boxes that concentrate people most, and the gain."""


@dataclass(frozen=True)
class Space:
    """All similar sets of a domain.

    Attributes
    ----------
    domain : Domain
        As given.
    axes : tuple[Axis, ...]
        One for each attribute by which similar sets are told apart and that follows no other, in
        the domain's order.
    low, high : Places
        ``(R, a)``; the roots: boxes that share no point.
    groups : NDArray[np.intp]
        ``(R,)``; of each root the row of ``may_be`` that holds in it.
    may_be : NDArray[np.bool_]
        ``(G, C)``; which combinations of protected values may be.
    unclear : NDArray[np.bool_]
        ``(R,)``; roots in which the constraints hold for some and not for others: nothing may be
        counted there but what is asked one by one.
    people : People, optional
        How likely points are under the tree that was fitted to the data.
    alike : bool
        Whether the model is given the same for all members of each set.
    """

    domain: Domain
    axes: tuple[Axis, ...]
    low: Places
    high: Places
    groups: NDArray[np.intp]
    may_be: NDArray[np.bool_]
    unclear: NDArray[np.bool_]
    _settled: Rows = field(repr=False)
    people: People | None = None
    alike: bool = False

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """``(a,)``; how many values each axis has."""
        return np.array([axis.count for axis in self.axes], dtype=np.int64)

    @cached_property
    def compared(self) -> NDArray[np.bool_]:
        """``(R,)``; in which roots there is a comparison: at least two combinations may be.

        Unclear roots all count.
        """
        return np.asarray((self.may_be.sum(axis=1) > 1)[self.groups] | self.unclear)

    @cached_property
    def total(self) -> int:
        """How many similar sets there are with a comparison, exactly; for roots see `compared`."""
        return sum(sizes(self.low[self.compared], self.high[self.compared]))

    @cached_property
    def tied(self) -> tuple[NDArray[np.bool_], ...]:
        """Of each axis which places are tied: ``(count,)``; empty along axes without such."""
        domain = self.domain
        companions = {each.attribute for each in domain.support.companions}
        return tuple(
            _tied(domain, axis.position, axis.codes)
            if domain.names[axis.position] in companions
            else np.empty(0, dtype=np.bool_)
            for axis in self.axes
        )

    @cached_property
    def variants(self) -> Places:
        """``(V, a)``; of each variant the tied place along each axis, -1 for none.

        The first is that of points without a tied place.
        """
        places = [np.array([-1, *np.flatnonzero(own)], dtype=np.int64) for own in self.tied]
        sizes_of = [len(each) for each in places]
        numbers = np.unravel_index(np.arange(math.prod(sizes_of)), sizes_of) if places else ()
        columns = [own[at] for own, at in zip(places, numbers, strict=True)]
        return np.stack(columns, axis=1) if columns else np.empty((1, 0), dtype=np.int64)

    def variant(self, places: Places) -> NDArray[np.intp]:
        """Return the variants of points, ``(n, a)``, by their place in `variants`: ``(n,)``."""
        found = np.zeros(len(places), dtype=np.intp)
        for i, own in enumerate(self.tied):
            if own.size:
                digit = np.where(own, np.cumsum(own), 0)
                found = found * (int(own.sum()) + 1) + digit[places[:, i]]
        return found

    @cached_property
    def members(self) -> NDArray[np.bool_]:
        """``(G, V * C)``; which combinations may be in each group, in its own variant."""
        combinations = self.may_be.shape[1]
        found = np.zeros((len(self.may_be), len(self.variants), combinations), dtype=np.bool_)
        clear = np.flatnonzero(~self.unclear)
        own = np.zeros(len(self.may_be), dtype=np.intp)
        own[self.groups[clear]] = self.variant(self.low[clear])
        found[np.arange(len(found)), own] = self.may_be
        return found.reshape(len(found), -1)

    def rows(self, places: Places) -> Rows:
        """Return what `Domain.similar` and `Domain.counterparts` make the members of points from.

        Parameters
        ----------
        places : Places
            ``(n, a)``.

        Returns
        -------
        Rows
            ``(n, d)``; of each point the member with the first combination of protected values, but
            for companions: these have the code that stands for all. What follows other attributes
            does so.
        """
        rows = np.empty((len(places), len(self.domain.attributes)))
        rows[:] = self._settled
        for i, axis in enumerate(self.axes):
            rows[:, axis.position] = axis.code(places[:, i])
        rows[:, self.domain.protected] = self.domain.combinations[0]
        companions = [
            axis.position for axis, tied in zip(self.axes, self.tied, strict=True) if tied.size
        ]
        codes = rows[:, companions]
        rows = self.domain.apply_dependencies(rows)
        rows[:, companions] = codes
        return rows

    def instances(self, places: Places) -> tuple[Rows, NDArray[np.intp]]:
        """Return an instance of each point in which there is a comparison.

        Parameters
        ----------
        places : Places
            ``(n, a)``.

        Returns
        -------
        rows : Rows
            ``(m, d)``; of each the first member that may be, and by which it can be told, if any.
        combination : NDArray[np.intp]
            ``(m,)``; which combination of protected values that has.
        """
        rows = self.rows(places)
        similar = self.domain.similar(rows)
        possible = self.domain.possible(similar)
        others = self.domain.identifying
        telling = self.domain.canonical(similar)[:, :, others] == rows[:, None, others]
        rank = possible * (1 + telling.all(axis=2))
        some = np.flatnonzero(possible.sum(axis=1) > 1)
        combination = rank[some].argmax(axis=1)
        return similar[some, combination], combination

    def places(self, rows: Rows) -> Places:
        """Return the points of rows of the domain, ``(n, d)``: ``(n, a)``."""
        rows = self.domain.canonical(rows)
        own = [axis.places(rows[:, axis.position]) for axis in self.axes]
        return np.stack(own, axis=1) if own else np.empty((len(rows), 0), dtype=np.int64)

    def conditions(self, low: Places, high: Places) -> tuple[Condition, ...]:
        """Return the conditions that define a box, ``(a,)`` and ``(a,)``, within the domain."""
        conditions = []
        for i, axis in enumerate(self.axes):
            first, last = int(low[i]), int(high[i])
            if first == 0 and last == axis.count - 1:
                continue
            attribute = self.domain.attributes[axis.position]
            if self.tied[i].size:
                every = codes_of(self.domain, axis.position)
                place = axis.places(_canonical(self.domain, axis.position, every))
                codes = every[(first <= place) & (place <= last)].tolist()
                conditions.append(Condition(attribute.name, tuple(codes)))
                continue
            if attribute.values:
                codes = sorted(axis.codes[first : last + 1].tolist())
                conditions.append(Condition(attribute.name, tuple(codes)))
                continue
            ends = axis.code(np.array([first, last])).tolist()
            conditions.append(
                Condition(
                    attribute.name,
                    low=ends[0] if first else None,
                    high=ends[1] if last < axis.count - 1 else None,
                )
            )
        return tuple(conditions)

    def reordered(self, orders: Sequence[NDArray[np.intp] | None]) -> Space:
        """Return other numbers to the values of some axes: one order, or ``None``, for each axis.

        Only axes along which every root is whole, or has one place, can be.
        """
        axes, low, high = list(self.axes), self.low.copy(), self.high.copy()
        for i, order in enumerate(orders):
            if order is None:
                continue
            axes[i] = replace(axes[i], codes=axes[i].codes[order])
            pinned = self.low[:, i] == self.high[:, i]
            back = np.argsort(order)
            low[pinned, i] = high[pinned, i] = back[self.low[pinned, i]]
        return replace(self, axes=tuple(axes), low=low, high=high)

    def ordered(self, i: int, keys: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return an order of an axis' places by keys, ``(count,)``; tied ones come last."""
        order = np.argsort(keys, kind="stable")
        tied = self.tied[i]
        return order[np.argsort(tied[order], kind="stable")] if tied.size else order


def space_of(domain: Domain, people: Rows) -> Space:
    """Lay out a domain.

    Parameters
    ----------
    domain : Domain
        Any: real numbers are the finitely many that `Domain.clip` leaves.
    people : Rows
        ``(n, d)``; the data's rows in the domain, for fixed values.

    Raises
    ------
    SpecError
        When there are more than `MOST_POINTS` points, or too many values of a companion.
    """
    people = domain.canonical(people)
    free = np.setdiff1d(domain.identifying, domain.following)
    axes = tuple(_axis(domain, int(i), people) for i in free)
    settled = domain.low.copy()
    settled[domain.protected] = domain.combinations[0]
    low = np.zeros((1, len(axes)), dtype=np.int64)
    high = np.array([[axis.count - 1 for axis in axes]], dtype=np.int64)
    if sizes(low, high)[0] > MOST_POINTS:
        raise SpecError(
            "Certification is not available: the input domain is too large, with more than "
            f"10^{len(str(MOST_POINTS)) - 1} combinations.",
            why="Decimal numbers have a hundred million values each.",
            remedy="Define steps for them, narrow their ranges, or make some of them fixed.",
        )
    pinned = [i for i, axis in enumerate(axes) if axis.position in domain.fixed]
    if pinned and len(people):
        low, high = _pinned(axes, pinned, people, low, high)
    return Space(
        domain=domain,
        axes=axes,
        low=low,
        high=high,
        groups=np.zeros(len(low), dtype=np.intp),
        may_be=np.ones((1, len(domain.combinations)), dtype=np.bool_),
        unclear=np.zeros(len(low), dtype=np.bool_),
        _settled=settled,
    )


def _axis(domain: Domain, position: int, people: Rows) -> Axis:
    """Return numbers to the values of an attribute; of a fixed one those that the data have."""
    own = people[:, position] if len(people) else np.empty(0)
    grid, low = float(domain.grid[position]), float(domain.low[position])
    spacing = float(domain.spacing[position]) or 1.0 / grid
    codes = np.empty(0)
    companion = any(each.attribute == domain.names[position] for each in domain.support.companions)
    if companion:
        codes = codes_of(domain, position)
        codes = codes[_canonical(domain, position, codes) == codes]
        if position in domain.fixed and own.size:
            codes = np.unique(own)
        if domain.attributes[position].values:
            # tied ones last, so that the others are one root
            codes = codes[np.argsort(_tied(domain, position, codes), kind="stable")]
        count = len(codes)
    elif position in domain.fixed and own.size:
        codes = np.unique(own)
        count = len(codes)
    else:
        count = round((float(domain.high[position]) - low) / spacing) + 1
        if count <= MOST_LISTED:
            listed = low + np.arange(count, dtype=np.float64) * spacing
            codes = domain.clip(listed[:, None], np.array([position]))[:, 0]
    return Axis(position, count, codes, low, spacing, grid)


def codes_of(domain: Domain, position: int) -> NDArray[np.float64]:
    """Return all codes of a companion, ascending.

    Raises
    ------
    SpecError
        When there are more than `MOST_LISTED`.
    """
    low, high = float(domain.low[position]), float(domain.high[position])
    spacing = float(domain.spacing[position])
    count = round((high - low) / spacing) + 1 if spacing else MOST_LISTED + 1
    if count > MOST_LISTED:
        raise SpecError(
            f"Certification is not available: “{domain.names[position]}” changes with a protected "
            "attribute and has too many values.",
            remedy="Narrow the range of this attribute, or define a step for it.",
        )
    codes = low + np.arange(count, dtype=np.float64) * spacing
    return domain.clip(codes[:, None], np.array([position]))[:, 0]


def _canonical(domain: Domain, position: int, codes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return of codes of a companion those that stand for them."""
    rows = np.repeat(domain.low[None], len(codes), axis=0)
    rows[:, position] = codes
    return np.asarray(domain.canonical(rows)[:, position])


def _tied(domain: Domain, position: int, codes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which codes of a companion become another one with some protected values."""
    rows = np.repeat(domain.low[None], len(codes), axis=0)
    rows[:, position] = codes
    return np.asarray((domain.similar(rows)[:, :, position] != codes[:, None]).any(axis=1))


def _pinned(
    axes: tuple[Axis, ...], pinned: list[int], people: Rows, low: Places, high: Places
) -> tuple[Places, Places]:
    """Make a root for each combination of fixed values that the data have."""
    places = np.column_stack([axes[i].places(people[:, axes[i].position]) for i in pinned])
    once = np.unique(places, axis=0)
    low, high = np.repeat(low, len(once), axis=0), np.repeat(high, len(once), axis=0)
    low[:, pinned] = high[:, pinned] = once
    return low, high


def sizes(low: Places, high: Places) -> list[int]:
    """Count the points of boxes exactly.

    Parameters
    ----------
    low, high : Places
        ``(B, a)``; the ends of each box, both included.
    """
    widths = high - low + 1
    # products of a few widths fit into 64 bits, those of all need not
    parts: list[NDArray[np.int64]] = []
    most = 1
    for i in range(widths.shape[1]):
        widest = int(widths[:, i].max(initial=1))
        if parts and most * widest < 1 << 62:
            parts[-1] = parts[-1] * widths[:, i]
            most *= widest
        else:
            parts.append(widths[:, i].astype(np.int64))
            most = widest
    if not parts:
        return [1] * len(low)
    totals: list[int] = parts[0].tolist()
    for part in parts[1:]:
        totals = list(map(int.__mul__, totals, part.tolist()))
    return totals


def volumes(low: Places, high: Places) -> NDArray[np.float64]:
    """Count the points of boxes, ``(B,)``; rounded where there are more than 2 ** 53."""
    return np.asarray((high - low + 1).astype(np.float64).prod(axis=1))
