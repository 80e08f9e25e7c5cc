"""Fairify: the domain cut into partitions, and a solver asked about each.

Biswas and Rajan, "Fairify: Fairness Verification of Neural Networks", ICSE 2023, Algorithms 1 and
2: every attribute of more than so many values is cut into chunks; the partitions that this makes
are visited in a random order; in each, units that bounds prove dead are left out, and z3 is asked
for two people who differ in protected values only and are decided otherwise.

It differs from the published program in four points. A unit is left out where interval arithmetic
proves it dead, and linear where it proves it always active; the program's further queries about
single units are not made, nor is its heuristic, which leaves out units that a few samples did not
activate: that is no proof. The query lets in whoever is so near the border that the model's own
rounding could decide otherwise: UNSAT is true of the deployed arithmetic, not only of real numbers.
Each answer SAT is a query to the model again, and what the model does not confirm is UNKNOWN. And
one partition does not use up the time of all: what is left is shared (`_Verification.soft`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from threading import Thread
from time import perf_counter
from typing import Any, NamedTuple, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.baselines.common import Tally, compared_in, network_of
from fairdesk.certify.baselines.solver import Answer, Inquiry, bounds_of, refuse_curves
from fairdesk.certify.counting.exhaustive import decisions
from fairdesk.certify.domain.encoded import Encoded
from fairdesk.certify.domain.space import Places, Space, sizes
from fairdesk.certify.options import FairifyOptions
from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.division import Adding, Counting, Setting, counted_here
from fairdesk.individual.engine.pace import Pace
from fairdesk.results.events import Event, Measured, Progress, Rows, ShardRange, Tallied, timed

#: A solver that thinks is looked after so often, in seconds.
_POLL = 0.1
#: What the solver may say of a partition; nothing of what needs none.
_VERDICTS = ("unsat", "sat", "unknown", "")
#: A query has at least so many seconds, or this share of what is left, however many are to come.
_LEAST_SECONDS, _MOST_SHARE = 1.0, 0.1
#: The largest number of steps that progress is told in, and of partitions that are solved.
_MOST_STEPS = 1 << 53


def search(
    context: SearchContext, people: Rows, options: FairifyOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Prove, partition by partition, that nobody in it is discriminatory, as Fairify does.

    Parameters as in `maft.search`; the model is a network with ReLU units. Only the example of a
    partition with a counterexample counts as falsified.

    Raises
    ------
    SpecError
        When the model is no such network.
    """
    found = merging(context, options, rng)
    return timed(counted_here(found, counting(context, people, options, rng), Pace(1)))


def counting(
    context: SearchContext, people: Rows, options: FairifyOptions, rng: np.random.Generator
) -> Counting:
    """Return the half that solves partitions; parameters as of `search`.

    Unit 0 is what needs no solver, the others are partitions in their random order.
    """
    return _Verification(context, people, options, rng).count


def merging(setting: Setting, options: FairifyOptions, _rng: np.random.Generator) -> _Verdicts:
    """Return the half that adds up what is proven."""
    return _Verdicts(setting.domain, options)


class _Verification:
    """Solves partitions: the half of the method that knows the model."""

    def __init__(
        self,
        context: SearchContext,
        people: Rows,
        options: FairifyOptions,
        rng: np.random.Generator,
    ) -> None:
        self._context, self._people, self._options, self._rng = context, people, options, rng
        self._seconds, self._to_come = 0.0, 1

    def count(self, wanted: ShardRange) -> Iterator[Event]:
        """Solve some of the partitions."""
        first = wanted.start
        if not first:
            yield self._progress()
            began = perf_counter()
            ground = self._ground()
            self._seconds += perf_counter() - began
            arrays = ground.arrays(self._seconds) | {"whole": self._whole}
            yield Tallied("smt", 0, last=True, arrays=arrays)
            yield self._progress()
            first = 1
        partitions = self._partitions
        for unit in range(first, wanted.stop):
            if self._over:
                return
            self._to_come = wanted.stop - unit
            before = self._seconds
            solved = _Solved("unknown", 0.0)
            for each in self._solved(*partitions.at(unit - 1)):
                if isinstance(each, _Solved):
                    solved = each
                else:
                    yield each
            arrays = solved.arrays(self._seconds - before)
            yield Tallied("smt", unit, last=True, arrays=arrays)
            yield self._progress()

    @cached_property
    def _encoded(self) -> Encoded:
        encoded = network_of(self._context, self._people, "Fairify")
        refuse_curves(encoded)
        return encoded

    @cached_property
    def _members(self) -> NDArray[np.intp]:
        """How many combinations the model can distinguish, of each root."""
        each = np.array([len(compared) for compared in compared_in(self._encoded)])
        return np.asarray(each[self._encoded.space.groups])

    @cached_property
    def _partitions(self) -> Partitions:
        space = self._encoded.space
        undecided = np.flatnonzero((self._members > 1) & ~space.unclear)
        return Partitions(space, undecided, self._options.partition_size, self._rng)

    def _ground(self) -> _Solved:
        """Return what is proven without a solver: of roots where nothing can change."""
        space = self._encoded.space
        single = np.flatnonzero(self._members == 1)
        return _Solved("", 0.0, sum(sizes(space.low[single], space.high[single])))

    @property
    def _whole(self) -> NDArray[np.int8]:
        """How many people there are, how many partitions, and whether some stay undecided."""
        space = self._encoded.space
        return _digits(space.total, self._partitions.count, int(space.unclear.any()))

    def _solved(self, low: Places, high: Places, root: int) -> Iterator[Event | _Solved]:
        """Ask the solver about a partition; tell often how far it is, and its verdict at last."""
        began = perf_counter()
        space = self._encoded.space
        allowed = space.members[space.groups[root]]
        bounds = bounds_of(self._encoded, low, high, np.flatnonzero(allowed))
        border = float(bounds.rounding.max(initial=0.0) + self._encoded.margins.close)
        solved = _Solved("unknown", border)
        verdict = ""
        # first with those near the border; where only such a one was found, without them
        for margin in (-border, 0.0):
            if not margin and verdict != "sat":
                continue
            inquiry = Inquiry(
                *(self._encoded, low, high, allowed), margin=margin, soft_seconds=self.soft
            )
            with Asking(inquiry) as asking:
                while not asking.over(_POLL):
                    self._seconds += perf_counter() - began
                    if self._over:
                        inquiry.stop()
                    yield self._progress()
                    began = perf_counter()
            verdict = asking.answer.verdict
            if verdict == "sat":
                places, combination = asking.answer.example
                if self._confirmed(places, combination):
                    solved = _Solved("sat", border, 1)
                    break
            elif margin and verdict == "unsat":
                solved = _Solved("unsat", border, sizes(low[None], high[None])[0])
        event = self._context.take("smt")
        self._seconds += perf_counter() - began
        if event is not None:
            yield event
        yield solved

    def _confirmed(self, places: Places, combination: int) -> bool:
        """Query the model about the solver's example."""
        space = self._encoded.space
        own = np.array([combination % len(space.domain.combinations)])
        if not decisions(space, self._context.cached_model, places[None]).differ[0]:
            return False
        self._context.check(space.domain.counterparts(space.rows(places[None]), own), own)
        return True

    @property
    def soft(self) -> float:
        """Seconds for one query: what is left, shared by the partitions to come, within limits.

        What earlier ones did not use comes to the later ones. However many are to come, a query
        has a second, or a tenth of what is left: a share too short for any query would waste all.
        """
        left = self._left
        if not math.isfinite(left):
            return self._options.soft_seconds
        share = max(left / self._to_come, min(_LEAST_SECONDS, _MOST_SHARE * left))
        return min(self._options.soft_seconds, share)

    @property
    def _left(self) -> float:
        hard = self._options.hard_seconds
        return max(hard - self._seconds, 0.0) if hard else math.inf

    @property
    def _over(self) -> bool:
        return self._context.over or not self._left

    def _progress(self) -> Progress:
        return self._context.progress("smt", 0, 1)


class _Solved(NamedTuple):
    """What came of a partition, and how many of its points are proven."""

    verdict: str
    margin: float
    proven: int = 0

    def arrays(self, seconds: float) -> dict[str, NDArray[Any]]:
        """Return it as numbers."""
        verdict = _VERDICTS.index(self.verdict)
        return {
            "points": _digits(self.proven),
            "numbers": np.array([verdict, self.margin, seconds]),
        }

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> tuple[Self, float]:
        """Read it, and the seconds it took."""
        verdict, margin, seconds = arrays["numbers"].tolist()
        (proven,) = _numbers(arrays["points"])
        return cls(_VERDICTS[int(verdict)], margin, proven), seconds


class _Verdicts(Adding):
    """Adds up what is proven of partitions: a `Merging`."""

    def __init__(self, domain: Domain, options: FairifyOptions) -> None:
        self._domain, self._hard = domain, options.hard_seconds
        self._tally = Tally(domain, 0)
        self._verdicts = dict.fromkeys(_VERDICTS, 0)
        self._partitions: int | None = None
        self._unclear = False

    @property
    def wanted(self) -> ShardRange | None:
        """The partitions that are not solved yet, while there is time; unit 0 before all."""
        if self._partitions is None:
            return ShardRange(0, 1)
        first, stop = self._tally.boxes + 1, min(self._partitions + 1, _MOST_STEPS)
        late = 0 < self._hard <= self._tally.seconds
        return ShardRange(first, stop) if first < stop and not late else None

    def add(self, tallied: Tallied) -> bool:
        """Add a partition."""
        solved, seconds = _Solved.of(tallied.arrays)
        if self._partitions is None:
            total, self._partitions, unclear = _numbers(tallied.arrays["whole"])
            self._unclear = bool(unclear)
            self._tally = Tally(self._domain, total)
        else:
            self._verdicts[solved.verdict] += 1
            self._tally.boxes += 1
        self._tally.add(solved.proven, discriminatory=solved.verdict == "sat")
        self._tally.margin = max(self._tally.margin, solved.margin)
        self._tally.seconds += seconds
        return True

    def told(self, progress: Progress) -> Progress:
        """Return a progress with how many partitions are done."""
        total = 1 if self._partitions is None else max(self._partitions, 1)
        done = 1 if self._partitions == 0 else self._tally.boxes
        scale = max(1, -(-total // _MOST_STEPS))
        return msgspec.structs.replace(progress, done=done // scale, total=total // scale)

    def measured(self) -> Measured | None:
        """Return the figures as they stand."""
        if self._partitions is None:
            return None
        verdicts, count = self._verdicts, self._partitions
        partitions = "1 partition" if count == 1 else f"{count:,} partitions"
        sentence = (
            f"Of {partitions} {verdicts['unsat']:,} were proven unchanged (UNSAT), "
            f"{verdicts['sat']:,} have a counterexample (SAT), the solver gave up on "
            f"{verdicts['unknown']:,} (UNKNOWN), and "
            f"{count - self._tally.boxes:,} were not tested."
        )
        notes = [sentence]
        if verdicts["sat"]:
            notes.append(
                "In a partition with a counterexample, only this one instance counts as falsified."
            )
        if self._unclear:
            notes.append(
                "The constraints combine so many values that some combinations stay "
                "undecided from the start."
            )
        return Measured("smt", (self._tally.figure(notes),))


def _digits(*numbers: int) -> NDArray[np.int8]:
    """Write whole numbers of any size."""
    return np.frombuffer(" ".join(map(str, numbers)).encode(), dtype=np.int8)


def _numbers(digits: NDArray[np.int8]) -> list[int]:
    """Read what `_digits` wrote."""
    return [int(each) for each in digits.tobytes().split()]


class Asking:
    """A solver at work in a thread of its own, so that whoever waits can do something else.

    Leaving it stops the solver and waits for that.

    Attributes
    ----------
    answer : Answer
        ``"unknown"`` until there is one.
    """

    def __init__(self, inquiry: Inquiry) -> None:
        self.answer = Answer("unknown")
        self._inquiry = inquiry
        self._thread = Thread(target=self._ask, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        while self._thread.is_alive():
            # an interruption that comes before the solver begins is lost
            self._inquiry.stop()
            self._thread.join(0.02)

    def over(self, seconds: float) -> bool:
        """Wait for an answer for so long at most; tell whether there is one."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _ask(self) -> None:
        self.answer = self._inquiry.run()


class Partitions:
    """Boxes that a space is cut into along every axis with more than so many places.

    Their order is random: that of the multiples of a random number modulo their count, so that
    billions of partitions take no memory.

    Parameters
    ----------
    space : Space
        What is cut.
    roots : NDArray[np.intp]
        Which of its roots.
    size : int
        So many places at most along each axis (MS).
    rng : np.random.Generator
        Of their order.

    Attributes
    ----------
    count : int
        How many there are; they are never written down together.
    """

    def __init__(
        self, space: Space, roots: NDArray[np.intp], size: int, rng: np.random.Generator
    ) -> None:
        self._space, self._size = space, size
        self._roots: list[int] = roots.tolist()
        widths = (space.high - space.low + 1)[roots]
        self._chunks: list[list[int]] = (-(-widths // size)).tolist()
        self._before = [0]
        for chunks in self._chunks:
            self._before.append(self._before[-1] + math.prod(chunks))
        self.count = self._before[-1]
        if self.count:
            self._step, self._start = _below(self.count, rng), _below(self.count, rng)
            while math.gcd(self._step, self.count) != 1:
                self._step += 1

    def at(self, place: int) -> tuple[Places, Places, int]:
        """Return the ends and the root of the partition at a place in the order, from 0."""
        number = (self._start + place * self._step) % self.count
        own = int(np.searchsorted(np.array(self._before, dtype=object), number, "right")) - 1
        number -= self._before[own]
        root = self._roots[own]
        low, high = self._space.low[root].copy(), self._space.high[root].copy()
        for i, chunks in enumerate(self._chunks[own]):
            number, chunk = divmod(number, chunks)
            low[i] += chunk * self._size
            high[i] = min(high[i], low[i] + self._size - 1)
        return low, high, root


def _below(count: int, rng: np.random.Generator) -> int:
    """Draw a whole number from 0 to below a count, however large that is."""
    return int.from_bytes(rng.bytes(count.bit_length() // 8 + 9), "little") % count
