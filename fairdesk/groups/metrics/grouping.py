"""Into which groups attributes divide the rows, and how many rows of each kind there are.

Rows with equal groups, label and decision are one kind of row, however many there are. So the
memory that group figures of a large table need depends on how many kinds there are, not on how
many rows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.errors import SpecError
from fairdesk.results.events import Rows

Mask = NDArray[np.bool_]

#: Intersections with more groups than this are not listed: nearly all would be empty.
MOST_GROUPS = 200
#: All tables of one outcome together have at most so many groups.
_MOST_LINES = 10_000
#: Of so many possible groups it is counted in which there is anybody.
_MOST_CELLS = 100_000


@dataclass(frozen=True)
class Division:
    """The groups of one attribute.

    Attributes
    ----------
    name : str
        The attribute.
    texts : tuple[str, ...]
        The groups as the auditor reads them. The last holds the rows that are in none: their cell
        is missing, or its value is not one of those compared.
    codes : tuple[float, ...]
        A code in each; NaN of the last.
    known : tuple[bool, ...]
        Whether who is in it is known to belong there.
    place : NDArray[np.intp]
        ``(n,)``; each row's group.
    """

    name: str
    texts: tuple[str, ...]
    codes: tuple[float, ...]
    known: tuple[bool, ...]
    place: NDArray[np.intp]

    @property
    def size(self) -> int:
        """How many groups can be compared."""
        return len(self.texts) - 1


@dataclass(frozen=True)
class Groups:
    """The groups that attributes make together, and who of some people is in which.

    Attributes
    ----------
    attributes : tuple[str, ...]
        Their names.
    values : tuple[tuple[str, ...], ...]
        Of each group the values.
    codes : tuple[tuple[float, ...], ...]
        The same as codes; empty where one is missing, and has none.
    known : NDArray[np.bool_]
        ``(m,)``; whether all of a group's values are known.
    place : NDArray[np.intp]
        ``(k,)``; each person's group.
    counts : NDArray[np.int64], optional
        ``(k,)``; how many there are of each, where these are kinds of people; else each is one.
    """

    attributes: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    codes: tuple[tuple[float, ...], ...]
    known: Mask
    place: NDArray[np.intp]
    counts: NDArray[np.int64] | None = None

    def count(self, among: Mask | None = None) -> NDArray[np.intp]:
        """Count the people of each group, or those ``among`` them (``(k,)``): ``(m,)``."""
        place = self.place if among is None else self.place[among]
        if self.counts is None:
            return np.bincount(place, minlength=len(self.values))
        counts = self.counts if among is None else self.counts[among]
        # sums of whole numbers below 2^53 are exact
        return np.bincount(place, counts, minlength=len(self.values)).astype(np.intp)

    def mean(self, numbers: Rows) -> Rows:
        """Average ``(k,)`` numbers in each group: ``(m,)``; NaN in an empty one."""
        total = np.bincount(self.place, weights=numbers, minlength=len(self.values))
        people = self.count()
        mean = np.full(len(total), np.nan)
        np.divide(total, people, out=mean, where=people > 0)
        return mean


def divide(attribute: Attribute, codes: Rows, edges: Sequence[float] = ()) -> Division:
    """Divide rows by one attribute.

    Names make a group each, and so do the values of a number where all are compared. Other
    numbers have bins, open to below and above: those of the given edges, else one around each
    compared value. A value on an edge belongs to the upper one.

    Parameters
    ----------
    codes : Rows
        ``(n,)``.
    edges : sequence of float
        Of a number: the inner edges of its bins, ascending.
    """
    lost = "(missing or excluded)"
    if attribute.values:
        place, texts, chosen = codes, attribute.values, attribute.compared
        lost = "(excluded)" if attribute.unknown else lost
    elif edges or not _compares_every_value(attribute):
        bounds = _edges(attribute, edges)
        place = np.searchsorted(bounds, codes, side="right").astype(np.float64)
        texts = _bins(attribute, codes, bounds)
        chosen = _within(attribute, bounds) if edges else attribute.compared
        lost = attribute.text(np.nan)
    else:
        chosen = attribute.compared
        place = attribute.nearest_compared(codes).astype(np.float64)
        place[(codes < attribute.low) | (codes > attribute.high)] = np.nan
        texts = tuple(map(attribute.text, chosen))
    named = [not (attribute.unknown and i == len(texts) - 1) for i in range(len(texts))]
    return Division(
        attribute.name,
        (*texts, lost),
        (*chosen, np.nan),
        (*named, False),
        np.where(np.isnan(codes) | np.isnan(place), len(texts), place).astype(np.intp),
    )


def _compares_every_value(attribute: Attribute) -> bool:
    count = len(attribute.compared)
    return bool(
        attribute.spacing
        and np.isclose(attribute.low + (count - 1) * attribute.spacing, attribute.high)
    )


def _edges(attribute: Attribute, edges: Sequence[float]) -> Rows:
    """Return the inner edges of a number's bins: by default halfway between two compared values."""
    compared = np.array(attribute.compared)
    given = np.array(edges) if edges else (compared[:-1] + compared[1:]) / 2
    if attribute.integral:
        return np.unique(np.ceil(given))
    return given if edges else np.round(given * attribute.grid) / attribute.grid


def _bins(attribute: Attribute, codes: Rows, edges: Rows) -> tuple[str, ...]:
    """Write bins: ``"up to 24"``, ``"25 to 39"``, ``"40 and over"``; one of a value as that."""
    text = attribute.text
    above = f"{text(edges[-1])} and over"
    if attribute.integral:
        below = f"up to {text(edges[0] - 1)}"
        if edges[0] - 1 == np.nanmin(codes, initial=attribute.low):
            below = text(edges[0] - 1)
        if edges[-1] == np.nanmax(codes, initial=attribute.high):
            above = text(edges[-1])
        between = [
            text(low) if low == high - 1 else f"{text(low)} to {text(high - 1)}"
            for low, high in pairwise(edges.tolist())
        ]
    else:
        below = f"under {text(edges[0])}"
        between = [f"{text(low)} to under {text(high)}" for low, high in pairwise(edges.tolist())]
    return (below, *between, above)


def _within(attribute: Attribute, edges: Rows) -> tuple[float, ...]:
    """Return a code in each bin: the least; of the lowest bin the attribute's own least."""
    below = min(attribute.low, float(edges[0]) - attribute.unit)
    return (below, *edges.tolist())


def crossings(divisions: Sequence[Division]) -> Iterator[tuple[Division, ...]]:
    """Yield every division by itself, then all pairs, triples and so on.

    Those that make more than `MOST_GROUPS` groups are left out, and those of the most attributes
    where there would be too many groups in all.
    """
    lines = 0
    for together in range(1, len(divisions) + 1):
        for crossed in combinations(divisions, together):
            groups = prod(each.size for each in crossed)
            if together > 1 and groups > MOST_GROUPS:
                groups = _occupied(crossed) if groups < _MOST_CELLS else groups
            if together > 1 and groups > MOST_GROUPS:
                continue
            lines += groups
            if together > 1 and lines > _MOST_LINES:
                return
            yield crossed


def _occupied(divisions: Sequence[Division]) -> int:
    """Count the groups in which there is anybody."""
    sizes = [len(each.texts) for each in divisions]
    place = np.ravel_multi_index([each.place for each in divisions], sizes)
    return int(np.count_nonzero(np.bincount(place, minlength=prod(sizes))))


def cross(
    divisions: Sequence[Division], people: Mask, counts: NDArray[np.int64] | None = None
) -> Groups:
    """Make the groups that divisions make together, of some of the rows.

    Parameters
    ----------
    people : NDArray[np.bool_]
        ``(n,)``; which rows.
    counts : NDArray[np.int64], optional
        ``(n,)``; how many there are of each, where rows are kinds of rows.

    Returns
    -------
    Groups
        Its people are those rows. Of one division it has all groups; of several, those with
        people; and whoever is in none only where there is somebody.
    """
    sizes = [len(each.texts) for each in divisions]
    place = np.ravel_multi_index([each.place[people] for each in divisions], sizes)
    there = np.bincount(place, minlength=prod(sizes)) > 0
    if len(divisions) == 1:
        there[:-1] = True
    values, codes, known = (
        [combination for combination, kept in zip(product(*of_each), there, strict=True) if kept]
        for of_each in (
            [each.texts for each in divisions],
            [each.codes for each in divisions],
            [each.known for each in divisions],
        )
    )
    return Groups(
        attributes=tuple(each.name for each in divisions),
        values=tuple(values),
        codes=tuple(() if np.isnan(each).any() else each for each in codes),
        known=np.array([all(each) for each in known], dtype=np.bool_),
        place=(np.cumsum(there) - 1)[place],
        counts=None if counts is None else counts[people],
    )


#: So many kinds of rows are told apart.
MOST_KINDS = 5_000_000
#: A number for each kind must be an exact one.
_MOST_NUMBERS = 1 << 62
#: Where there can be no more kinds, each has a counter.
_MOST_COUNTERS = 1 << 20


class Kinds:
    """Counts of rows by several places: rows with equal places are of one kind.

    Raises
    ------
    SpecError
        When there may be too many kinds.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = tuple(sizes)
        self._possible = prod(self._sizes)
        if self._possible > _MOST_NUMBERS:
            raise _too_many()
        self._numbers = np.empty(0, dtype=np.int64)
        self._counts = np.empty(0, dtype=np.int64)
        self._counters: NDArray[np.int64] | None = None
        if self._possible <= min(_MOST_COUNTERS, MOST_KINDS):
            self._counters = np.zeros(self._possible, dtype=np.int64)

    def add(self, places: Sequence[NDArray[np.intp]]) -> None:
        """Count more rows: ``(n,)`` places of each sort, from 0.

        Raises
        ------
        SpecError
            When there are more kinds than `MOST_KINDS`.
        """
        numbers = np.ravel_multi_index(tuple(places), self._sizes)
        if self._counters is not None:
            self._counters += np.bincount(numbers, minlength=self._possible)
            return
        found, counts = np.unique(numbers, return_counts=True)
        both = np.concatenate([self._numbers, found])
        self._numbers, place = np.unique(both, return_inverse=True)
        summed = np.zeros(len(self._numbers), dtype=np.int64)
        np.add.at(summed, place, np.concatenate([self._counts, counts]))
        self._counts = summed
        if len(self._numbers) > MOST_KINDS:
            raise _too_many()

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows there are of each kind: ``(k,)``."""
        return self._counts if self._counters is None else self._counters[self._found]

    @property
    def places(self) -> tuple[NDArray[np.intp], ...]:
        """The places of each kind: ``(k,)`` of each sort."""
        return np.unravel_index(self._found, self._sizes)

    @property
    def _found(self) -> NDArray[np.intp]:
        return self._numbers if self._counters is None else np.flatnonzero(self._counters)


def _too_many() -> SpecError:
    return SpecError(
        "The protected attributes divide the rows into too many groups to count.",
        why=f"At most {MOST_KINDS:,} combinations of groups and outcomes are counted.",
        remedy="Protect fewer attributes, or divide numbers into bins.",
        setting="edges",
    )


#: No label, an unfavourable and the favourable one.
_LABELS = 3


class Tally:
    """Counts of kinds of rows.

    Parameters
    ----------
    edges : dict[str, sequence of float]
        As of `fairdesk.groups.context.GroupContext`.
    """

    def __init__(
        self, grouping: Sequence[Attribute], edges: Mapping[str, Sequence[float]], decisions: int
    ) -> None:
        self._grouping, self._edges = grouping, edges
        # the ranges change how bins are called, never which rows are in them
        self._ends = np.full((2, len(grouping)), np.nan)
        sizes = [len(each.texts) for each in self._divided(self._ends)]
        self._kinds = Kinds((*sizes, _LABELS, decisions + 1))

    def _divided(self, groups: Rows) -> list[Division]:
        return [
            divide(attribute, codes, self._edges.get(attribute.name, ()))
            for attribute, codes in zip(self._grouping, groups.T, strict=True)
        ]

    def add(self, groups: Rows, label: Rows, decision: NDArray[np.intp]) -> None:
        """Count more rows.

        Parameters
        ----------
        groups : Rows
            ``(n, g)`` codes.
        label : Rows
            ``(n,)``; 1 with the favourable label, 0 with another, NaN with none.
        decision : NDArray[np.intp]
            ``(n,)``; the position of the decision, -1 for none.

        Raises
        ------
        SpecError
            When there are too many kinds.
        """
        if not len(groups):
            return
        for end, ends in ((np.fmin, self._ends[0]), (np.fmax, self._ends[1])):
            ends[:] = end(ends, end.reduce(groups, axis=0))
        places = [each.place for each in self._divided(groups)]
        labels = np.where(np.isnan(label), 0, label + 1).astype(np.intp)
        self._kinds.add((*places, labels, decision + 1))

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows there are of each kind: ``(k,)``."""
        return self._kinds.counts

    def kinds(self) -> tuple[list[Division], Rows, NDArray[np.intp]]:
        """Return the divisions, labels and decisions of the kinds, as `add` takes those of rows."""
        *places, labels, decisions = self._kinds.places
        divisions = [
            dataclasses.replace(division, place=place)
            for division, place in zip(self._divided(self._ends), places, strict=True)
        ]
        return divisions, np.where(labels == 0, np.nan, labels - 1.0), decisions - 1
