"""Fairify: the domain cut into partitions, and a solver asked about each.

Biswas and Rajan, "Fairify: Fairness Verification of Neural Networks", ICSE 2023, Algorithms 1 and
2: every attribute of more than so many values is cut into chunks; the partitions that this makes
are visited in a random order; in each, units that bounds prove dead are left out, and z3 is asked
for two people who differ in protected values only and are decided otherwise.

Three things are otherwise than in the published program. A unit is left out where interval
arithmetic proves it dead, and linear where it proves it always active; the program's further
queries about single units are not made. Its heuristic, which leaves out units that a few samples
did not activate, is no proof, and is not here: a partition that it would have helped with is
UNKNOWN. And the query lets in whoever is so near the border that the model's own rounding could
decide otherwise: UNSAT is true of the deployed arithmetic, not only of real numbers. Each answer
SAT is asked of the model again, and what the model does not confirm is UNKNOWN.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from threading import Thread
from time import perf_counter
from typing import Self

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.baselines.common import Tally, compared_in, network_of, reported
from fairdesk.certify.domain.encoded import Encoded
from fairdesk.certify.domain.space import Places, Space
from fairdesk.certify.options import FairifyOptions
from fairdesk.certify.proof.solver import Answer, Inquiry, bounds_of, refuse_curves
from fairdesk.individual.engine.context import SearchContext
from fairdesk.results.events import Event, Progress, Rows, timed
from fairdesk.results.proofs import Proven

#: A solver that thinks is looked after so often, in seconds.
_POLL = 0.1
#: The largest number of steps that progress is told in.
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
    return timed(_search(context, people, options, rng))


def _search(
    context: SearchContext, people: Rows, options: FairifyOptions, rng: np.random.Generator
) -> Iterator[Event]:
    yield context.progress("smt", 0, 1)
    verification = _Verification(context, network_of(context, people, "Fairify"), options)
    yield from reported("smt", verification, verification.run(rng))


class _Verification:
    """What is known of the partitions."""

    def __init__(self, context: SearchContext, encoded: Encoded, options: FairifyOptions) -> None:
        refuse_curves(encoded)
        self._context, self._encoded, self._options = context, encoded, options
        self._space = encoded.space
        self.tally = Tally(self._space)
        self._compared = compared_in(encoded)
        members = np.array([len(each) for each in self._compared])[self._space.groups]
        self._single_members = np.flatnonzero(members == 1)
        undecided = np.flatnonzero((members > 1) & ~self._space.unclear)
        self._partitions = Partitions(self._space, undecided, options.partition_size)
        self._verdicts = {"unsat": 0, "sat": 0, "unknown": 0}

    def run(self, rng: np.random.Generator) -> Iterator[Event | None]:
        """Solve one partition after the other; yield an event, or nothing, often."""
        space, single_members = self._space, self._single_members
        self.tally.add(
            space.low[single_members],
            space.high[single_members],
            single_members,
            discriminatory=False,
        )
        for low, high, root in self._partitions.shuffled(rng):
            began = perf_counter()
            allowed = space.may_be[space.groups[root]]
            bounds = bounds_of(self._encoded, low, high, np.flatnonzero(allowed))
            border = float(bounds.rounding.max(initial=0.0) + self._encoded.margins.close)
            self.tally.margin = max(self.tally.margin, border)
            verdict = "unknown"
            # first with those near the border; where only such a one was found, without them
            for margin in (-border, 0.0):
                soft = min(self._options.soft_seconds, self._left)
                inquiry = Inquiry(
                    self._encoded, low, high, allowed, margin=margin, soft_seconds=soft
                )
                with Asking(inquiry) as asking:
                    while not asking.over(_POLL):
                        self.tally.seconds += perf_counter() - began
                        if self._over:
                            inquiry.stop()
                        yield None
                        began = perf_counter()
                if asking.answer.verdict != "sat":
                    verdict = "unsat" if margin and asking.answer.verdict == "unsat" else "unknown"
                    break
                if self._confirmed(*asking.answer.example, root):
                    verdict = "sat"
                    break
            if verdict == "unsat":
                self.tally.add(low[None], high[None], np.array([root]), discriminatory=False)
            self._verdicts[verdict] += 1
            self.tally.boxes += 1
            event = self._context.take("smt")
            self.tally.seconds += perf_counter() - began
            yield event
            if self._over:
                return

    def _confirmed(self, places: Places, combination: int, root: int) -> bool:
        """Query the model about the solver's example; count that one person if it is one."""
        point, own = places[None], np.array([combination])
        rows = self._space.domain.counterparts(self._space.rows(point), own)
        if not self._context.ask(rows).discriminatory[0]:
            return False
        self._context.check(rows, own)
        self.tally.add(point, point, np.array([root]), discriminatory=True)
        return True

    @property
    def _left(self) -> float:
        hard = self._options.hard_seconds
        return max(hard - self.tally.seconds, 0.0) if hard else math.inf

    @property
    def _over(self) -> bool:
        return self._context.over or not self._left

    def progress(self) -> Progress:
        """Return how many partitions are done."""
        total = max(self._partitions.count, 1)
        done = self.tally.boxes if self._partitions.count else 1
        scale = max(1, -(-total // _MOST_STEPS))
        return self._context.progress("smt", done // scale, total // scale)

    def figures(self) -> tuple[Proven, Proven]:
        """Return the figures as they stand."""
        verdicts, count = self._verdicts, self._partitions.count
        partitions = "1 partition" if count == 1 else f"{count:,} partitions"
        sentence = (
            f"Of {partitions} {verdicts['unsat']:,} were proven unchanged (UNSAT), "
            f"{verdicts['sat']:,} have a counterexample (SAT), the solver gave up on "
            f"{verdicts['unknown']:,} (UNKNOWN), and "
            f"{count - self.tally.boxes:,} were not tested."
        )
        notes = [sentence]
        if verdicts["sat"]:
            notes.append(
                "In a partition with a counterexample, only this one instance counts as falsified."
            )
        if self._space.unclear.any():
            notes.append(
                "The constraints combine so many values that some combinations stay "
                "undecided from the start."
            )
        return self.tally.figures(notes)


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

    Parameters
    ----------
    space : Space
        What is cut.
    roots : NDArray[np.intp]
        Which of its roots.
    size : int
        So many places at most along each axis (MS).

    Attributes
    ----------
    count : int
        How many there are; they are never written down together.
    """

    def __init__(self, space: Space, roots: NDArray[np.intp], size: int) -> None:
        self._space, self._size = space, size
        self._roots: list[int] = roots.tolist()
        widths = (space.high - space.low + 1)[roots]
        self._chunks: list[list[int]] = (-(-widths // size)).tolist()
        self._before = [0]
        for chunks in self._chunks:
            self._before.append(self._before[-1] + math.prod(chunks))
        self.count = self._before[-1]

    def shuffled(self, rng: np.random.Generator) -> Iterator[tuple[Places, Places, int]]:
        """Yield the ends and the root of each partition once, in a random order.

        It is that of the multiples of a random number modulo their count, so that billions of
        partitions take no memory.
        """
        if not self.count:
            return
        step, start = _below(self.count, rng), _below(self.count, rng)
        while math.gcd(step, self.count) != 1:
            step = step + 1
        for i in range(self.count):
            yield self._at((start + i * step) % self.count)

    def _at(self, number: int) -> tuple[Places, Places, int]:
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
