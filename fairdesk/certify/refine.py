"""Dividing a space, the heaviest undecided boxes first, while an examiner says what is proven."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import wraps
from time import process_time
from typing import Literal, ParamSpec, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.boxes import Tree, Verdict, at_least
from fairdesk.certify.domain.space import DENSER, Places, Space, sizes, volumes

Float64 = NDArray[np.float64]

#: Leaves within so many octaves of weight are as good as each other.
_PER_OCTAVE = 4


class Queue:
    """Leaves, the heaviest first, about."""

    def __init__(self) -> None:
        self._buckets: dict[int, list[NDArray[np.int64]]] = {}

    def __len__(self) -> int:
        return sum(len(part) for parts in self._buckets.values() for part in parts)

    def __bool__(self) -> bool:
        return bool(self._buckets)

    def put(self, nodes: NDArray[np.int64], weights: Float64) -> None:
        """Put leaves in."""
        # what rounding leaves of nothing is nothing much
        weight = np.floor(_PER_OCTAVE * np.log2(np.maximum(weights, 1e-300))).astype(np.int64)
        for bucket in np.unique(weight).tolist():
            self._buckets.setdefault(bucket, []).append(nodes[weight == bucket])

    @property
    def heaviest(self) -> float:
        """How much the heaviest leaf weighs, about; 0 where there is none."""
        return 2.0 ** (max(self._buckets) / _PER_OCTAVE) if self._buckets else 0.0

    def take(self, most: int) -> NDArray[np.int64]:
        """Take out at most so many of the heaviest."""
        taken: list[NDArray[np.int64]] = []
        while most > 0 and self._buckets:
            heaviest = max(self._buckets)
            parts = self._buckets[heaviest]
            part = parts.pop()
            if len(part) > most:
                parts.append(part[most:])
                part = part[:most]
            if not parts:
                del self._buckets[heaviest]
            taken.append(part)
            most -= len(part)
        return np.concatenate([np.empty(0, dtype=np.int64), *taken])


#: So many seconds are lately.
_LATELY = 1.0
#: Dividing has at least such a share of the time: without it there would be nothing to count.
_LEAST_DIVIDING = 0.2
#: Counting has to decide so many times as much: what dividing leaves is decided more easily.
_BETTER = 1.5
#: Boxes with a smaller mass for each point are never worth it.
_NOTHING = 1e-300


class Pace:
    """How fast boxes are decided, by dividing and by counting them."""

    def __init__(self) -> None:
        self._mass = self._seconds = 0.0
        self._decided = np.inf
        self._points = self._dividing = self._counting = 0.0
        self._boxes = 0

    def divided(self, mass: float, seconds: float, boxes: int) -> None:
        """Take down which mass of the population so many halves decided, and in what time."""
        self._dividing += seconds
        self._boxes += boxes
        self._seconds, self._mass = self._seconds + seconds, self._mass + mass
        if self._seconds >= _LATELY:
            self._decided = max(self._mass, 0.0) / self._seconds
            self._mass = self._seconds = 0.0

    def counted(self, points: float, seconds: float) -> None:
        """Take down how many points were counted, and in what time."""
        self._points, self._counting = self._points + points, self._counting + seconds

    @property
    def points_per_box(self) -> float:
        """How many points are counted in the time that a half of a box takes; 0 if not known."""
        if not (self._boxes and self._counting > 0.0):
            return 0.0
        return self._dividing / self._boxes * self._points / self._counting

    def least_density(self, speed: float) -> float:
        """Return from which mass for each point on counting boxes pays; infinite for none.

        ``speed`` says how many points are counted in a second, as long as that is not known here.
        """
        if self._dividing < _LEAST_DIVIDING * (self._dividing + self._counting):
            return np.inf
        if self._counting > 0.0:
            speed = self._points / self._counting
        return max(_BETTER * self._decided / max(speed, 1e-9), _NOTHING)


Given = ParamSpec("Given")
Made = TypeVar("Made")

#: Yields between its steps, and returns what it made.
Steps = Generator[None, None, Made]


def at_once(in_steps: Callable[Given, Steps[Made]]) -> Callable[Given, Made]:
    """Return what does the same without a stop."""

    @wraps(in_steps)
    def made(*args: Given.args, **kwargs: Given.kwargs) -> Made:
        steps = in_steps(*args, **kwargs)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                returned: Made = end.value
                return returned

    return made


@dataclass(slots=True)
class Examined:
    """What an examiner says of ``B`` boxes.

    Attributes
    ----------
    low, high : Places
        ``(B, a)``; the part of each box that is left to be spoken of. Every point of the box
        outside of it is consistent: proven. The whole box where nothing is cut off.
    consistent, discriminatory : NDArray[np.float64]
        ``(B,)``; at least so large a share of the points of that part is consistent, or
        discriminatory: 0 to 1. Both proven; their sum is at most 1.
    discriminatory_sets : NDArray[np.int64]
        ``(B,)``; where every single point of the part was asked about: how many are discriminatory,
        the others being consistent; then nothing is left undecided. -1 elsewhere, also where the
        whole part is consistent (``consistent`` is 1) or discriminatory.
    axis : NDArray[np.int64]
        ``(B,)``; along which axis what is left should be halved; -1 where there is nothing left,
        or nothing to halve.
    cut : NDArray[np.int64]
        ``(B,)``; the last place along it that goes into the first half.
    examples : Places
        ``(e, a)``; some points that are discriminatory.
    queries : int
        Rows sent to the model.
    people : tuple[NDArray[np.float64], NDArray[np.float64]], optional
        ``(B,)`` each; consistent and discriminatory as shares of that part's mass under the
        space's `people`.
    """

    low: Places
    high: Places
    consistent: Float64
    discriminatory: Float64
    discriminatory_sets: NDArray[np.int64]
    axis: NDArray[np.int64]
    cut: NDArray[np.int64]
    examples: Places
    queries: int = 0
    people: tuple[Float64, Float64] | None = None


class Examiner(Protocol):
    """Says of boxes what is proven about the people in them.

    Attributes
    ----------
    batch : int
        How many boxes it likes to be given at once.
    margin : float
        As `fairdesk.results.proofs.Proven`; the greatest so far.
    notes : tuple[str, ...]
        What the auditor must know, a sentence each.
    """

    batch: int
    margin: float
    notes: tuple[str, ...]

    def examine(self, low: Places, high: Places, group: NDArray[np.intp]) -> Examined:
        """Examine boxes.

        Parameters
        ----------
        low, high : Places
            ``(B, a)``; the ends of each box, both included.
        group : NDArray[np.intp]
            ``(B,)``; of each the row of `Space.may_be` that says which combinations of protected
            values are compared. At least two may be.
        """


#: What is divided first.
First = Literal["people", "combinations"]
#: Where people come first, a share of the combinations counts this much beside one of people.
_BESIDE = 0.02
#: A tree with more nodes is made smaller, so that memory stays bounded however long it takes.
MOST_NODES = 12_000_000
#: Leaves whose boxes are made at once.
_MOST_AT_ONCE = 4_096


class Counter(Protocol):
    """Asks the model about every single point of boxes."""

    @property
    def clock(self) -> Callable[[], float]:
        """What tells how long counting takes, in seconds.

        Where this process alone computes, the processors' own time: counting may take more threads
        than dividing. Where the model may compute in another process, the time that passes.
        """

    @property
    def speed(self) -> float:
        """How many points it counts in a second."""

    def count(self, low: Places, high: Places, group: NDArray[np.intp]) -> Counted:
        """Count the points of boxes that are discriminatory.

        Parameters
        ----------
        low, high, group
            As of `Examiner.examine`.
        """


@dataclass(slots=True)
class Counted:
    """What was counted in ``B`` boxes.

    Attributes
    ----------
    discriminatory : NDArray[np.int64]
        ``(B,)``; how many points are discriminatory; the others are consistent.
    examples : Places
        ``(e, a)``; some that are discriminatory.
    queries : int
        Rows sent to the model.
    people : tuple[NDArray[np.float64], NDArray[np.float64]], optional
        ``(B,)`` each; at least so large shares of each box's mass under the space's `people` are
        consistent, and discriminatory.
    """

    discriminatory: NDArray[np.int64]
    examples: Places
    queries: int
    people: tuple[Float64, Float64] | None = None


#: People are counted in boxes of at most so many points, and about so many at a time.
_MOST_COUNTED = 1 << 21
#: Boxes are counted for so many seconds at a time, as far as that is known, each of at most so many
#: points, and so many together.
_MOST_SECONDS, _MOST_DENSE, _TOGETHER = 0.1, 1 << 16, 1_024
#: Where all is counted, a box is halved if that puts off as many of its points as are counted while
#: so many boxes are halved; and of two with the same mass the one with fewer points comes first, by
#: that power of their number.
_HALVING, _SMALLER = 16.0, 1.0 / 3.0


class Refinery:
    """Divides a space while an examiner says what is proven.

    Parameters
    ----------
    space : Space
        Whose boxes; its groups say who is compared in each root.
    examiner : Examiner
        Says of each box what is proven.
    tree : Tree, optional
        What was divided before; by default nothing was.
    at_once : bool
        Whether all roots are examined at once; else `step` does it, some at a time.
    first : str
        Whether boxes come first that hold the most undecided ``"people"``, of the space's
        population, or the most undecided ``"combinations"``.
    counter : Counter, optional
        Where people come first, it counts the boxes in which that decides more of them in a second
        than dividing does.
    bounded : bool
        Whether the examiner decides anything. Where it does not, and all is counted, boxes are
        halved until people are spread as evenly in them as it takes.

    Attributes
    ----------
    space, tree
        As given.
    consistent, discriminatory : int
        How many points are proven so; both exact lower bounds.
    people_consistent, people_discriminatory : float
        Masses under the space's `people` that are proven so, off by ``people_off`` at most.
    boxes : int
        How many boxes were examined.
    queries : int
        Rows sent to the model.
    examples : list[Places]
        Points that are discriminatory, as the examiner gave them; whoever takes them clears the
        list.
    """

    def __init__(
        self,
        space: Space,
        examiner: Examiner,
        tree: Tree | None = None,
        *,
        at_once: bool = True,
        first: First = "combinations",
        counter: Counter | None = None,
        bounded: bool = True,
    ) -> None:
        self.space, self._examiner, self._counter = space, examiner, counter
        self._bounded = bounded
        self._people_first = first == "people" and space.people is not None
        self.consistent = self.discriminatory = self.boxes = self.queries = 0
        self.people_consistent = self.people_discriminatory = self.people_off = 0.0
        self.examples: list[Places] = []
        self._queue, self._dense = Queue(), Queue()
        self._unseen = np.empty(0, dtype=np.int64)
        self._pace = Pace()
        self._clock = process_time if counter is None else counter.clock
        if tree is None:
            self.tree = Tree(space)
            self._begin()
        else:
            self.tree = tree
            self._resume()
        while at_once and not self.begun:
            self.step()

    @property
    def begun(self) -> bool:
        """Whether everything was looked at once."""
        return not self._unseen.size

    @property
    def undecided(self) -> int:
        """How many points are not decided."""
        return self.space.total - self.consistent - self.discriminatory

    @property
    def over(self) -> bool:
        """Whether nothing is left that could be divided."""
        return self.begun and not self._queue

    def step(self, most: int | None = None) -> None:
        """Examine boxes that nobody looked at, or the halves of the heaviest undecided ones.

        Parameters
        ----------
        most : int, optional
            So many at most; by default as many as the examiner likes.
        """
        if not self.begun:
            some = most or self._examiner.batch
            new, self._unseen = self._unseen[:some], self._unseen[some:]
            self._forget(new)
            self._examine(new)
            return
        if self.tree.count > MOST_NODES:
            self._make_room()
        if (counter := self._counter) is not None:
            least = self._pace.least_density(counter.speed)
            if self._dense.heaviest >= least:
                self._count_densest(counter, least)
                return
        chosen = self._open(self._queue.take(max(1, (most or self._examiner.batch) // 2)))
        if not chosen.size:
            return
        started, before = self._clock(), self.people_consistent + self.people_discriminatory
        self._forget(chosen)
        tree = self.tree
        first = tree.split(chosen, tree.axis[chosen].astype(np.int64), tree.cut[chosen])
        self._examine(np.concatenate([first, first + 1]))
        decided = self.people_consistent + self.people_discriminatory - before
        self._pace.divided(decided, self._clock() - started, 2 * len(chosen))

    def _open(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return those of some leaves that are neither divided nor counted by now."""
        tree = self.tree
        is_open = (tree.first[nodes] < 0) & (tree.verdict[nodes] == Verdict.UNDECIDED)
        return np.asarray(nodes[is_open])

    def _count_densest(self, counter: Counter, least: float) -> None:
        """Count boxes with at least so many undecided people for each of their points."""
        started = self._clock()
        chosen = self._open(self._dense.take(_TOGETHER))
        low, high = self.tree.boxes(chosen)
        points, density = volumes(low, high), self._density(chosen, low, high)
        together = np.cumsum(points)
        affordable = together <= max(counter.speed * _MOST_SECONDS, *points[:1], 0.0)
        now = affordable & (density >= least)
        self._dense.put(chosen[~now], density[~now])
        if now.any():
            self._forget(chosen[now])
            self._write_down(chosen[now], low[now], high[now], counter)
            self._pace.counted(float(points[now].sum()), self._clock() - started)

    def count(self, counter: Counter) -> Iterator[None]:
        """Count everybody who is left, one by one; stop where the generator is left.

        The leaves of which the largest share is undecided come first; where people do, those with
        the most undecided people for each of their points. Roots in which it is not
        clear who may be are left out.
        """
        left = self.undecided_leaves()
        left = left[~self.space.unclear[self.tree.root[left]]]
        tree = self.tree
        known = tree.consistent[left] + tree.discriminatory[left]
        if self._people_first:
            parts = np.split(left, range(_MOST_AT_ONCE, len(left), _MOST_AT_ONCE))
            known = -np.concatenate([self._density(some, *tree.boxes(some)) for some in parts])
        left = left[np.argsort(-known, kind="stable")]  # taken from the end
        self._queue, self._dense, self._unseen = Queue(), Queue(), left[:0]
        while left.size:
            low, high = self.tree.boxes(left[-_MOST_AT_ONCE:])
            points = volumes(low, high)[::-1]
            if points[0] > _MOST_COUNTED:
                axis = int((high[-1] - low[-1]).argmax())
                cut = (low[-1, axis] + high[-1, axis]) // 2
                self._forget(left[-1:])
                first = self.tree.split(left[-1:], np.array([axis]), np.array([cut]))
                left = np.concatenate([left[:-1], first + 1, first])
                continue
            some = max(1, int(np.searchsorted(np.cumsum(points), _MOST_COUNTED, "right")))
            chosen, left = left[-some:], left[:-some]
            self._forget(chosen)
            self._write_down(chosen, *self.tree.boxes(chosen), counter)
            yield

    def _density(self, nodes: NDArray[np.int64], low: Places, high: Places) -> Float64:
        """Return how many undecided people leaves, whose boxes are given, hold for each point."""
        tree = self.tree
        left = 1.0 - tree.people_consistent[nodes] - tree.people_discriminatory[nodes]
        return self._people_masses(nodes, low, high) * left / volumes(low, high)

    def _write_down(
        self, nodes: NDArray[np.int64], low: Places, high: Places, counter: Counter
    ) -> None:
        """Count leaves, whose boxes are given, and write down what came of it."""
        tree = self.tree
        found = counter.count(low, high, self.space.groups[tree.root[nodes]])
        self.queries += found.queries
        self.boxes += len(nodes)
        if len(found.examples):
            self.examples.append(found.examples)
        points = np.array([float(size) for size in sizes(low, high)])
        self._set_counted(nodes, found.discriminatory, points)
        if found.people is not None:
            tree.people_consistent[nodes], tree.people_discriminatory[nodes] = found.people
        self._book(nodes)

    def points(self, nodes: NDArray[np.int64]) -> float:
        """Count the points of boxes, about."""
        return float(volumes(*self.tree.boxes(nodes)).sum())

    def undecided_leaves(self) -> NDArray[np.int64]:
        """Return the leaves that are not decided, those of unclear roots among them."""
        leaves = self.tree.leaves
        return np.asarray(leaves[self.tree.verdict[leaves] == Verdict.UNDECIDED])

    def _begin(self) -> None:
        """Settle the roots where there is nothing to compare; the others are to be examined."""
        space, tree = self.space, self.tree
        tree.verdict[np.flatnonzero(~space.compared)] = Verdict.NOBODY
        clear = np.flatnonzero(space.compared & ~space.unclear)
        self._unseen = clear
        if not space.alike:
            return
        tree.verdict[clear] = Verdict.CONSISTENT
        low, high = tree.boxes(clear)
        self.consistent += sum(sizes(low, high))
        self._add_people(self._people_masses(clear, low, high), 1.0, 0.0)
        self._unseen = clear[:0]

    def _resume(self) -> None:
        """Take up a tree: count what its leaves say, and queue what is left."""
        tree = self.tree
        leaves = tree.leaves
        for start in range(0, len(leaves), 1 << 16):
            self._book(leaves[start : start + (1 << 16)])
        left = self.undecided_leaves()
        left = left[~self.space.unclear[tree.root[left]]]
        self._enqueue(left[tree.axis[left] >= 0])
        # those that were about to be counted were never examined
        self._unseen = left[tree.axis[left] < 0]

    def _examine(self, nodes: NDArray[np.int64]) -> None:
        """Examine the boxes of leaves, and write down what is proven."""
        space, tree = self.space, self.tree
        low, high = tree.boxes(nodes)
        found = self._examiner.examine(low, high, space.groups[tree.root[nodes]])
        self.boxes += len(nodes)
        self.queries += found.queries
        if len(found.examples):
            self.examples.append(found.examples)
        rest = tree.carve(nodes, low, high, found.low, found.high)
        smaller = np.flatnonzero(rest != nodes)
        self.consistent += sum(sizes(low[smaller], high[smaller]))
        self.consistent -= sum(sizes(found.low[smaller], found.high[smaller]))
        if smaller.size and (people := space.people) is not None:
            self._add_people(people.masses(low[smaller], high[smaller]), 1.0, 0.0)
            self._add_people(people.masses(found.low[smaller], found.high[smaller]), -1.0, 0.0)
        tree.axis[rest], tree.cut[rest] = found.axis, found.cut
        tree.consistent[rest], tree.discriminatory[rest] = found.consistent, found.discriminatory
        if found.people is not None:
            tree.people_consistent[rest], tree.people_discriminatory[rest] = found.people
        self._settle(rest, found)
        self._book(rest)
        self._enqueue(rest[tree.verdict[rest] == Verdict.UNDECIDED])

    def _settle(self, nodes: NDArray[np.int64], found: Examined) -> None:
        """Set the verdicts of leaves that are decided."""
        counted = found.discriminatory_sets >= 0
        points = sizes(found.low[counted], found.high[counted])
        exact = np.array([float(each) for each in points])
        self._set_counted(nodes[counted], found.discriminatory_sets[counted], exact)
        whole = ~counted
        self.tree.verdict[nodes[whole & (found.consistent >= 1.0)]] = Verdict.CONSISTENT
        self.tree.verdict[nodes[whole & (found.discriminatory >= 1.0)]] = Verdict.DISCRIMINATORY

    def _set_counted(
        self, nodes: NDArray[np.int64], discriminatory: NDArray[np.int64], points: Float64
    ) -> None:
        """Set the verdicts of leaves in which every point was queried."""
        tree, share = self.tree, discriminatory / points
        tree.discriminatory[nodes], tree.consistent[nodes] = share, 1.0 - share
        tree.verdict[nodes] = Verdict.COUNTED
        tree.verdict[nodes[discriminatory == 0]] = Verdict.CONSISTENT
        tree.verdict[nodes[discriminatory == points]] = Verdict.DISCRIMINATORY

    def _book(self, leaves: NDArray[np.int64], sign: int = 1) -> None:
        """Add what leaves prove to the sums, or take it off again."""
        tree = self.tree
        booked = leaves[self._prove(leaves)]
        if not booked.size:
            return
        verdict = tree.verdict[booked]
        low, high = tree.boxes(booked)
        points = sizes(low, high)
        counted = np.flatnonzero(verdict == Verdict.COUNTED).tolist()
        consistent = np.where(verdict == Verdict.CONSISTENT, 1.0, tree.consistent[booked])
        discriminatory = np.where(
            verdict == Verdict.DISCRIMINATORY, 1.0, tree.discriminatory[booked]
        )
        consistent[verdict == Verdict.DISCRIMINATORY] = discriminatory[
            verdict == Verdict.CONSISTENT
        ] = 0.0
        more_consistent, more_discriminatory = (
            at_least(consistent, points),
            at_least(discriminatory, points),
        )
        for i in counted:
            more_discriminatory[i] = round(points[i] * float(discriminatory[i]))
            more_consistent[i] = points[i] - more_discriminatory[i]
        self.consistent += sign * sum(more_consistent)
        self.discriminatory += sign * sum(more_discriminatory)
        whole = (verdict == Verdict.CONSISTENT) | (verdict == Verdict.DISCRIMINATORY)
        certain = verdict == Verdict.CONSISTENT, verdict == Verdict.DISCRIMINATORY
        self._add_people(
            self._people_masses(booked, low, high),
            sign * np.where(whole, certain[0], tree.people_consistent[booked]),
            sign * np.where(whole, certain[1], tree.people_discriminatory[booked]),
        )

    def _prove(self, leaves: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which leaves prove anything: of the others nothing is added to any sum."""
        tree = self.tree
        verdict = tree.verdict[leaves]
        proves = verdict != Verdict.UNDECIDED
        for shares in (
            *(tree.consistent, tree.discriminatory),
            *(tree.people_consistent, tree.people_discriminatory),
        ):
            proves |= shares[leaves] != 0.0
        return np.asarray(proves & (verdict != Verdict.NOBODY) & (verdict != Verdict.INNER))

    def _forget(self, leaves: NDArray[np.int64]) -> None:
        """Take off what leaves prove that are about to be halved."""
        self._book(leaves, -1)

    def _people_masses(self, nodes: NDArray[np.int64], low: Places, high: Places) -> Float64:
        """Return the masses of nodes, whose boxes are given, under the space's population.

        0 where there is none.
        """
        known = self.tree.people_mass
        if self.space.people is not None:
            new = known[nodes] == 0.0
            known[nodes[new]] = self.space.people.masses(low[new], high[new])
        return np.asarray(known[nodes])

    def _add_people(
        self, masses: Float64, consistent: Float64 | float, discriminatory: Float64 | float
    ) -> None:
        """Add shares of masses to what is proven of people, and learn how far sums may be off."""
        if self.space.people is None:
            return
        parts = masses * consistent, masses * discriminatory
        self.people_consistent += float(parts[0].sum())
        self.people_discriminatory += float(parts[1].sum())
        size = float(np.abs(parts[0]).sum() + np.abs(parts[1]).sum())
        sums = abs(self.people_consistent) + abs(self.people_discriminatory)
        # a mass is off by a share of itself; each sum by a rounding for each of its terms
        self.people_off += self.space.people.off * size
        self.people_off += (len(masses) + 4.0) * 2.0**-52 * (sums + size)

    def _enqueue(self, nodes: NDArray[np.int64]) -> None:
        tree = self.tree
        low, high = tree.boxes(nodes)
        points = volumes(low, high)
        weights = points * (1.0 - tree.consistent[nodes] - tree.discriminatory[nodes])
        people = self.space.people
        if self._people_first and people is not None:
            left = 1.0 - tree.people_consistent[nodes] - tree.people_discriminatory[nodes]
            weights *= _BESIDE / max(self.space.total, 1)
            undecided = self._people_masses(nodes, low, high) * left
            weights += undecided / people.total
            self._concentrate(nodes, low, high, undecided / points, points)
            if not self._bounded:
                weights /= points**_SMALLER
        halved = tree.axis[nodes] >= 0
        self._queue.put(nodes[halved], weights[halved])

    def _concentrate(
        self, nodes: NDArray[np.int64], low: Places, high: Places, density: Float64, points: Float64
    ) -> None:
        """Have boxes halved where their people are concentrated; others may be counted."""
        if self._counter is None or self.space.people is None:
            return
        axis, cut, gain = self.space.people.densest(low, high)
        least: Float64 | float = DENSER
        if not self._bounded:
            # by Pinsker's inequality so many points of a box go before those that are as dense
            least = 2.0 * (_HALVING * self._pace.points_per_box / points) ** 2
        denser = (gain > least) & (self.tree.axis[nodes] >= 0)
        self.tree.axis[nodes[denser]], self.tree.cut[nodes[denser]] = axis[denser], cut[denser]
        most = min(max(self._counter.speed * _MOST_SECONDS, 1.0), _MOST_DENSE)
        few = ~denser & (points <= most)
        self._dense.put(nodes[few], density[few])

    def _make_room(self) -> None:
        """Make the tree smaller; what it proves is then counted anew."""
        self.tree.compact()
        self.tree.fold(MOST_NODES // 2)
        self._queue, self._dense = Queue(), Queue()
        self.consistent = self.discriminatory = 0
        self.people_consistent = self.people_discriminatory = self.people_off = 0.0
        self._resume()
