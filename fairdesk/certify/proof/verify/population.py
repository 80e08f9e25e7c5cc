"""The population of a certificate, computed anew: masses of regions, and points drawn from them.

Nothing here was used to make a certificate: messages are matrix products over many regions at once,
weights are whole numbers of Python's own arrays, and the shares of small regions are added up point
by point.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Places, Weights
from fairdesk.certify.proof.certificate import (
    CONSISTENT,
    COUNTED,
    DISCRIMINATORY,
    NOBODY,
    UNDECIDED,
    Arrays,
    Header,
    Points,
    Predict,
    leaves,
)
from fairdesk.certify.proof.reproof_check import Claims, Reprove, check_again
from fairdesk.certify.proof.verify.contents import Tree
from fairdesk.certify.proof.verify.statements import MOST_MESSAGES, Check
from fairdesk.errors import SpecError
from fairdesk.individual.shares.tally import clopper_pearson
from fairdesk.results.proofs import percent_digits

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: Sums of floats may differ by so much; and what was rounded down, by so much more.
_ROUNDING, _LESS = 1e-9, 1e-6
#: So unlikely it is that chance alone refutes a true certificate.
_CHANCE = 1e-4
#: So many regions are looked at one by one, with so many points each.
_SINGLE, _POINTS = 20, 200
#: Undecided regions with at most so many points are counted, and so many points in all; of how many
#: the masses are computed at once.
_SMALL, _RECOUNTED, _AT_ONCE = 4_096, 1 << 19, 1 << 16


class AxisWeights(NamedTuple):
    """What the places of an axis weigh: as `Weights`, in arrays.

    Attributes
    ----------
    starts, ends, cells : NDArray[np.int64]
        Of each run of neighbouring places its first place, the one after its last, and its cell.
    each : int
        What every place weighs.
    places, before : NDArray[np.int64]
        Places that weigh more, and how much more those before each of them do; at the end all.
    """

    starts: Numbers
    ends: Numbers
    cells: Numbers
    each: int
    places: Numbers
    before: Numbers

    @classmethod
    def of(cls, own: Weights, count: int) -> AxisWeights:
        """Write down the weights of an axis with so many places."""
        starts, cells, places, more = (
            np.array(each, dtype=np.int64) for each in (own.starts, own.cells, own.places, own.more)
        )
        before = np.concatenate([[0], np.cumsum(more)]).astype(np.int64)
        return cls(starts, np.append(starts[1:], count), cells, own.each, places, before)

    def between(self, first: Numbers, end: Numbers) -> Float64:
        """Return what places weigh from each first one to before its end; whole numbers."""
        more = self.before[np.searchsorted(self.places, end)]
        more = more - self.before[np.searchsorted(self.places, first)]
        return np.asarray(self.each * (end - first) + more, dtype=np.float64)


class People:
    """How likely the points of a certificate are, by the tree that it holds.

    Parameters
    ----------
    header : Header
        With a population.

    Attributes
    ----------
    nodes : tuple[Node, ...]
        The attributes of the tree.
    tables : list[NDArray[np.float64]]
        Of each its probabilities, a row for each of its parent's cells.
    axis : list[int]
        Of each node its axis; -1 where it is none.
    shares_given : dict[int, NDArray[np.float64]]
        Of nodes without an axis, by their places: which share of each cell counts.
    """

    def __init__(self, header: Header) -> None:
        if header.population is None:
            raise ValueError("no population")
        self.nodes, self._axes = header.population.nodes, header.population.axes
        self._counts = [axis.count for axis in header.axes]
        place = {axis.attribute: i for i, axis in enumerate(header.axes)}
        self.axis = [place.get(node.attribute, -1) for node in self.nodes]
        self.tables = [np.array(node.table, dtype=np.float64) for node in self.nodes]
        self._children: list[list[int]] = [[] for _ in self.nodes]
        for i, node in enumerate(self.nodes):
            if node.parent >= 0:
                self._children[node.parent].append(i)
        self._roots = [i for i, node in enumerate(self.nodes) if node.parent < 0]
        self._compared = header.population.compared
        self._header = header
        self.shares_given: dict[int, Float64] = {}

    @cached_property
    def weights(self) -> list[AxisWeights]:
        """What the places of each axis weigh."""
        pairs = zip(self._axes, self._counts, strict=True)
        return [AxisWeights.of(own, count) for own, count in pairs]

    def problems(self) -> Iterator[str]:
        """Yield what is wrong with the tree, a sentence each."""
        for i, (node, table) in enumerate(zip(self.nodes, self.tables, strict=True)):
            wanted = self.tables[node.parent].shape[1] if 0 <= node.parent < i else 1
            if not -1 <= node.parent < i or table.ndim != 2 or len(table) != wanted:
                yield f"“{node.attribute}” is not below another attribute of the population."
                return
            if not ((table >= 0).all() and np.allclose(table.sum(axis=1), 1.0, rtol=0, atol=1e-9)):
                yield f"The probabilities of “{node.attribute}” do not add up to 1."
        named = [node.attribute for node in self.nodes]
        if len(set(named)) != len(named) or sum(axis >= 0 for axis in self.axis) != len(
            self._counts
        ):
            yield "The population does not have each attribute once."
        for i, own in enumerate(self._axes):
            cells = self.tables[self.axis.index(i)].shape[1]
            starts, places = np.array(own.starts), np.array(own.places)
            if (
                len(own.starts) != len(own.cells)
                or len(own.places) != len(own.more)
                or not len(starts)
                or starts[0] != 0
                or (np.diff(starts) <= 0).any()
                or (np.diff(places) <= 0).any()
                or starts[-1] >= self._counts[i]
                or (len(places) and not 0 <= places[0] <= places[-1] < self._counts[i])
                or min(own.cells) < 0
                or max(own.cells) >= cells
                or min(own.more, default=0) < 0
                or own.each < 0
            ):
                yield f"The weights along axis {i + 1} of the population are impossible."

        if math.prod(len(each.cells) for each in self._compared) != len(
            self._header.domain.combinations
        ):
            yield "The population does not have each combination of protected values once."
        for each in self._compared:
            place = named.index(each.attribute) if each.attribute in named else -1
            cells = len(self.tables[place][0])
            if (
                len(each.shares) != len(each.cells)
                or place < 0
                or not all(0 <= cell < cells for cell in each.cells)
                or not all(0.0 < share <= 1.0 for share in each.shares)
            ):
                yield f"The values of “{each.attribute}” in the population are impossible."

    def with_values(self, combination: int) -> People:
        """Return those of the people with a combination of protected values, by its place."""
        counts = [len(each.cells) for each in self._compared]
        values = [int(each) for each in np.unravel_index(combination, counts)]
        given = {}
        names = [node.attribute for node in self.nodes]
        for each, value in zip(self._compared, values, strict=True):
            node = names.index(each.attribute)
            given[node] = np.zeros(self.tables[node].shape[1])
            given[node][each.cells[value]] = each.shares[value]
        # all else is shared: there may be many combinations
        some = copy.copy(self)
        some.shares_given = given
        return some

    def masses(self, low: Places, high: Places) -> Float64:
        """Return the masses of regions, ``(B,)``."""
        mass = np.ones(len(low))
        for root in self._roots:
            mass *= self._said(root, low, high)[:, 0]
        return mass

    def _said(self, node: int, low: Places, high: Places) -> Float64:
        """Return the mass at and below a node for each of its parent's cells, ``(B, cells)``."""
        return np.asarray(self._held(node, low, high) @ self.tables[node].T)

    def _held(self, node: int, low: Places, high: Places) -> Float64:
        """Return the same for each of its own cells."""
        axis = self.axis[node]
        held = np.ones((len(low), self.tables[node].shape[1]))
        if axis >= 0:
            held = self._seen(axis, held.shape[1], low[:, axis], high[:, axis])
        elif node in self.shares_given:
            held = held * self.shares_given[node]
        for child in self._children[node]:
            held = held * self._said(child, low, high)
        return held

    def _seen(
        self, axis: int, cells: int, low: NDArray[np.int64], high: NDArray[np.int64]
    ) -> Float64:
        """Return which share of each cell's weight is between two places of an axis."""
        own = self.weights[axis]
        runs = np.zeros((len(own.cells), cells))
        runs[np.arange(len(own.cells)), own.cells] = 1.0
        whole = own.between(own.starts, own.ends) @ runs
        # many regions have the same interval of an axis
        lows, begins = np.unique(low, return_inverse=True)
        highs, stops = np.unique(high, return_inverse=True)
        intervals, place = np.unique(begins * len(highs) + stops, return_inverse=True)
        begins, stops = np.divmod(intervals, len(highs))
        first = np.minimum(np.maximum(lows[begins, None], own.starts), own.ends)
        end = np.minimum(np.maximum(highs[stops, None] + 1, first), own.ends)
        # weights are whole numbers, so that their sums are exact in any order
        seen = own.between(first, end) @ runs / np.where(whole > 0, whole, 1.0)
        return np.asarray(seen[place])

    def draw(self, low: Places, high: Places, rng: np.random.Generator) -> Places:
        """Draw a point of each region, ``(B, a)``, as likely as the population has it there."""
        places, cells = low.copy(), np.zeros((len(self.nodes), len(low)), dtype=np.intp)
        each = np.arange(len(low))
        for i, node in enumerate(self.nodes):
            above = self.tables[i][cells[node.parent]] if node.parent >= 0 else self.tables[i][:1]
            share = np.cumsum(above * self._held(i, low, high), axis=1)
            cells[i] = (rng.random(len(low))[:, None] * share[:, -1:] >= share).sum(axis=1)
            cells[i] = np.minimum(cells[i], share.shape[1] - 1)
            if (axis := self.axis[i]) >= 0:
                for cell in np.unique(cells[i]).tolist():
                    here = each[cells[i] == cell]
                    places[here, axis] = self._place(
                        axis, cell, low[here, axis], high[here, axis], rng
                    )
        return places

    def _place(
        self,
        axis: int,
        cell: int,
        low: NDArray[np.int64],
        high: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Draw places of a cell between two others, by their weights."""
        own = self.weights[axis]
        runs = np.flatnonzero(own.cells == cell)
        firsts = np.clip(low, own.starts[runs, None], own.ends[runs, None])
        ends = np.clip(high + 1, firsts, own.ends[runs, None])
        weights = own.between(firsts, ends)
        sums = np.cumsum(weights, axis=0)
        target = rng.random(len(low)) * sums[-1]
        run = np.minimum((target >= sums).sum(axis=0), len(runs) - 1)
        first, last = firsts[run, np.arange(len(low))], ends[run, np.arange(len(low))] - 1
        target = target - np.where(run > 0, sums[run - 1, np.arange(len(low))], 0.0)
        begin = first.copy()
        while (first < last).any():
            middle = (first + last) // 2
            beyond = own.between(begin, middle + 1) <= target
            first, last = np.where(beyond, middle + 1, first), np.where(beyond, last, middle)
            first = np.minimum(first, last)
        return np.asarray(first)


def population_checks(
    header: Header,
    arrays: Arrays,
    predict: Predict,
    *,
    sample: int,
    everything: bool,
    rng: np.random.Generator,
) -> Iterator[Check]:
    """Check what a certificate says of a population; parameters as of `verify`."""
    points = Points(header, predict)
    name = "The masses under the population follow from the regions"
    if header.population is None:
        return
    messages = []
    if header.population.fingerprint != header.population_sha256:
        messages.append("The population has another SHA-256 hash than is stated.")
    people = People(header)
    messages += list(people.problems())
    if messages:
        yield Check(name, 1, len(messages), 0, tuple(messages))
        return
    proof = _Proof(header, arrays, people)
    yield proof.totals(name)
    if sample:
        yield proof.recounted(points, rng, everything=everything)
        yield proof.shares(points, sample, rng)


def people_proven_again(
    header: Header,
    arrays: Arrays,
    predict: Predict,
    prove: Reprove,
    *,
    seconds: float,
    everything: bool,
    rng: np.random.Generator,
) -> Check:
    """Prove once more which shares of the people in undecided regions are as stated.

    Parameters as of `verify`, of a certificate with a population.
    """
    name = "Shares of the population in undecided regions, re-proved by other bounds"
    people = People(header)
    if any(people.problems()):
        return Check(name, remarks=("The population is invalid.",))
    proof = _Proof(header, arrays, people)
    proof.totals(name)
    claims = proof.claims()
    if not len(claims.nodes):
        return Check(name, remarks=("There are no such regions.",))
    again = partial(prove, of="people")
    try:
        came = check_again(
            claims, Points(header, predict), again, rng, seconds=seconds, everything=everything
        )
    except SpecError as error:
        return Check(name, remarks=(str(error),))
    return Check(name, *came)


class _Proof:
    """What the leaves of a certificate say of a population."""

    def __init__(self, header: Header, arrays: Arrays, people: People) -> None:
        self._header, self._arrays, self._people = header, arrays, people
        self._tree = Tree(header, arrays)
        self._nodes: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._masses, self._sizes = np.empty(0), np.empty(0)
        self.stated = np.empty((0, 2))

    def totals(self, name: str) -> Check:
        """Compute the mass of every leaf, and add up what they say."""
        header, arrays, people = self._header, self._arrays, self._people
        nodes, masses, sizes = [], [], []
        for part in leaves(arrays):
            nodes.append(part.nodes)
            masses.append(people.masses(part.low, part.high))
            sizes.append((part.high - part.low + 1).astype(np.float64).prod(axis=1))
        self._nodes, self._masses = np.concatenate(nodes), np.concatenate(masses)
        self._sizes = np.concatenate(sizes)
        verdict = arrays["verdict"][self._nodes]
        roots = (arrays[each].astype(np.int64) for each in ("root_low", "root_high"))
        everything = float(people.masses(*roots).sum())
        messages = []
        if abs(float(self._masses.sum()) - everything) > _ROUNDING:
            messages.append("The masses of the regions do not add up to that of the whole.")
        whole = float(self._masses[verdict != NOBODY].sum())
        self.stated = self._stated()
        stated = (header.people_certified_share, header.people_falsified_share)
        for what, share, own in zip(("certified", "falsified"), stated, self.stated.T, strict=True):
            true = float(own @ self._masses) / whole if whole > 0 else 0.0
            if not true - _LESS <= share <= true + _ROUNDING:
                messages.append(
                    f"The proof certificate states that {share!r} of the population is {what}; its "
                    f"regions have {true!r}."
                )
        if abs(1.0 - sum(stated) - header.people_undecided_share) > _ROUNDING:
            messages.append("The shares of the population do not add up to the whole.")
        return Check(name, len(self._nodes) + 3, len(messages), 0, tuple(messages))

    def _stated(self) -> Float64:
        """Return which shares of each leaf's mass are stated to be certified and falsified."""
        verdict = self._arrays["verdict"][self._nodes]
        shared = (verdict == UNDECIDED) | (verdict == COUNTED)
        parts = []
        for kind, column in ((CONSISTENT, "consistent"), (DISCRIMINATORY, "discriminatory")):
            own = self._arrays[f"people_{column}"][self._nodes].astype(np.float64)
            parts.append(np.where(shared, own, np.where(verdict == kind, 1.0, 0.0)))
        return np.column_stack(parts)

    @property
    def _shared(self) -> NDArray[np.intp]:
        """Which leaves state shares of their mass."""
        verdict = self._arrays["verdict"][self._nodes]
        some = ((verdict == UNDECIDED) | (verdict == COUNTED)) & (self.stated > 0).any(axis=1)
        return np.flatnonzero(some & (self._masses > 0))

    def claims(self) -> Claims:
        """Return what undecided leaves state of the people in them."""
        some = self._shared
        some = some[self._arrays["verdict"][self._nodes[some]] == UNDECIDED]
        low, high, root = self._tree.boxes(self._nodes[some])
        group = np.array(self._header.groups, dtype=np.int64)
        group[list(self._header.unclear)] = -1
        masses = self._masses[some]
        size = masses / masses.sum() if len(some) else masses
        return Claims(self._nodes[some], low, high, group[root], self.stated[some], size)

    def recounted(self, points: Points, rng: np.random.Generator, *, everything: bool) -> Check:
        """Add up the masses of the points of enumerated and small leaves, each asked of the model.

        Of all that were enumerated where ``everything`` is to be checked; else of as many, drawn
        at random, as have together at most `_RECOUNTED` points.
        """
        name = "Shares of the population in enumerated and small regions, recounted"
        some = self._shared
        counted = self._arrays["verdict"][self._nodes[some]] == COUNTED
        chosen = rng.permutation(some[counted | (self._sizes[some] <= _SMALL)])
        if not everything:
            chosen = chosen[self._sizes[chosen] <= _RECOUNTED]
            chosen = chosen[np.cumsum(self._sizes[chosen]) <= _RECOUNTED]
        low, high, _ = self._tree.boxes(self._nodes[chosen])
        ends = high - low + 1
        until = np.cumsum(ends.prod(axis=1))
        mass, against = np.zeros(len(chosen)), np.zeros(len(chosen))
        for start in range(0, int(until[-1]) if len(chosen) else 0, _AT_ONCE):
            number = np.arange(start, min(start + _AT_ONCE, int(until[-1])))
            region = np.searchsorted(until, number, side="right")
            left, places = until[region] - 1 - number, low[region]
            for axis in range(places.shape[1]):
                left, step = np.divmod(left, ends[region, axis])
                places[:, axis] += step
            masses = self._people.masses(places, places)
            mass += np.bincount(region, masses, len(chosen))
            against += np.bincount(region, masses * points.differ(places), len(chosen))
        share = against / mass
        certified, falsified = self.stated[chosen].T
        # a share that is not a number agrees with nothing
        agree = (falsified - _ROUNDING <= share) & (share <= 1.0 - certified + _ROUNDING)
        messages = [
            f"In region {self._nodes[chosen[i]]} the decision changes for {share[i]:.4%} of the "
            "population, which contradicts its statement."
            for i in np.flatnonzero(~agree).tolist()
        ]
        return Check(name, len(chosen), len(messages), 0, tuple(messages[:MOST_MESSAGES]))

    def shares(self, points: Points, sample: int, rng: np.random.Generator) -> Check:
        """Draw people from leaves of which a share is proven, and see what contradicts it."""
        some = self._shared

        def differ(chosen: NDArray[np.intp]) -> NDArray[np.bool_]:
            low, high, _ = self._tree.boxes(self._nodes[some[chosen]])
            return points.differ(self._people.draw(low, high, rng))

        return shares_check(
            "Shares of the population in undecided regions, compared with random samples",
            Stated(self._nodes[some], self._masses[some], self.stated[some]),
            differ,
            sample=sample,
            rng=rng,
        )


class Stated(NamedTuple):
    """What regions state of themselves.

    Attributes
    ----------
    nodes : NDArray[np.intp]
        Their nodes.
    weights : NDArray[np.float64]
        How likely a point of all of them is one of each, up to a factor.
    shares : NDArray[np.float64]
        ``(B, 2)``; which share of each is certified at least, and which falsified.
    """

    nodes: NDArray[np.intp]
    weights: Float64
    shares: Float64


def shares_check(
    name: str,
    stated: Stated,
    differ: Callable[[NDArray[np.intp]], NDArray[np.bool_]],
    *,
    sample: int,
    rng: np.random.Generator,
) -> Check:
    """Hold shares that are stated of regions against points drawn from these.

    All of them together, each by its weight, and the heaviest one by one. One is refuted where the
    exact one-sided interval (Clopper and Pearson) of what is found leaves no room for what is
    stated; so seldom that it happens by chance to one of all these at most once in ten thousand
    times. `differ` draws a point of each of the regions it is given, by their places in `stated`,
    and tells whether its decision changes.
    """
    nodes, weights, shares = stated
    if not len(nodes):
        return Check(name, remarks=("There are no such regions.",))
    likely = weights / weights.sum()
    drawn = rng.choice(len(nodes), size=sample, p=likely)
    groups = [("all regions together", drawn, likely @ shares)]
    groups += [
        (f"region {nodes[i]}", np.full(min(sample, _POINTS), i), shares[i])
        for i in np.argsort(-likely, kind="stable")[:_SINGLE].tolist()
    ]
    messages, tried = [], 0
    level = _CHANCE / (2 * len(groups))
    for where, chosen, least_shares in groups:
        found = differ(chosen)
        tried += len(found)
        against = int(found.sum()), int((~found).sum())
        for what, hits, share in zip(
            ("certified", "falsified"), against, least_shares.tolist(), strict=True
        ):
            least, _ = clopper_pearson(hits, len(found), 1 - 2 * level)
            if float(least) > 1 - share + _ROUNDING:
                messages.append(
                    f"In {where} at least {percent_digits(share, 4)} % is stated to be {what}; "
                    f"{hits:,} of {len(found):,} drawn at random are not."
                )
    return Check(name, tried, len(messages), remarks=tuple(messages[:MOST_MESSAGES]))
