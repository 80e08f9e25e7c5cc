"""Methods in two halves: one counts units of work with the model, one makes figures of the counts.

Units hang on the run's seed and their number alone, so they may be counted anywhere and in any
order; they are added up in order, and what was added up decides when there are enough. A run that
is not divided does both halves in turn, and comes to the same figures.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator
from time import perf_counter
from typing import Any, Generic, Protocol, TypeVar

import msgspec
import numpy as np

from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.pace import Limited
from fairdesk.results.events import Event, Measured, Progress, ShardRange, Tallied

#: Counts units. Each `Tallied` is followed by a `Progress`; their order is that of the units.
Counting = Callable[[ShardRange], Iterator[Event]]


class Merging(Protocol):
    """The half of a method that makes figures; it knows no model."""

    @property
    def wanted(self) -> ShardRange | None:
        """The units that are to be counted now, from the next one on; ``None`` for no more."""

    def proceed(self) -> Iterator[Event]:
        """Do what can be done without the model: at the beginning, and after each unit."""

    def add(self, tallied: Tallied) -> bool:
        """Add what was counted of a unit, in the order of the units.

        Returns whether it counts: not where enough of its kind was counted before.
        """

    def measured(self) -> Measured | None:
        """Return the figures as they are; ``None`` where there are none yet."""

    def told(self, progress: Progress) -> Progress:
        """Return a progress as far as the whole run is."""

    @property
    def most_pairs(self) -> int | None:
        """How many of the pairs found are kept at most; ``None`` for all."""


class Queried(Protocol):
    """What a method works with."""

    @property
    def queries(self) -> int:
        """Rows sent to the model so far."""


class Setting(Protocol):
    """What both halves know of an audit."""

    @property
    def domain(self) -> Domain:
        """Who may be asked about."""


class Adding:
    """A `Merging` of which little is special."""

    most_pairs: int | None = None

    def proceed(self) -> Iterator[Event]:
        """Do nothing: all is done by adding."""
        yield from ()


class Asks(Protocol):
    """What steps ask for: a stage of units."""

    def stage(self, first: int) -> str:
        """Write it down, with the number of its first unit."""


A = TypeVar("A", bound=Asks)
R = TypeVar("R")


#: Figures are made anew after so many seconds ...
_TELL_SECONDS = 0.5
#: ... or so many times what it takes to make them.
_TELL_SHARE = 10.0


class Stepping(Adding, Generic[A, R]):
    """A `Merging` of steps that ask for one stage of units after the other.

    Parameters
    ----------
    steps : generator
        Yields events and, now and then, what it asks for; it is then sent what came of it.
    context : Limited
        What says how many rows of the budget are left.
    """

    def __init__(self, steps: Generator[Event | A, Any, None], context: Limited) -> None:
        self._steps, self._context, self._due = steps, context, 0.0
        self._stage = ""
        self._first = self._next = self._stop = 0
        self._asks = self._waits = False

    @abstractmethod
    def _begin(self, asked: A) -> int:
        """Note what is asked for; returns how many units it is."""

    @abstractmethod
    def _answer(self) -> R | None:
        """Return what came of what was asked for last."""

    @abstractmethod
    def _figures(self) -> Measured | None:
        """Return the figures as they are; ``None`` where there are none yet."""

    def measured(self) -> Measured | None:
        """Return the figures; the next are due after many times as long as these took."""
        began = perf_counter()
        measured = self._figures()
        now = perf_counter()
        self._due = now + max(_TELL_SECONDS, _TELL_SHARE * (now - began))
        return measured

    def due(self) -> bool:
        """Return whether figures are due: now and then, and once the budget is used up."""
        return perf_counter() > self._due or self._context.rows_left <= 0

    @property
    def wanted(self) -> ShardRange | None:
        """The units that are asked for and not counted yet."""
        return ShardRange(self._next, self._stop, self._stage) if self._asks else None

    def add(self, tallied: Tallied) -> bool:
        """Note that a unit is counted."""
        if tallied.last:
            self._next = tallied.unit + 1
        return True

    def proceed(self) -> Iterator[Event]:
        """Go on once what was asked for is there."""
        if self._waits and (not self._asks or self._next < self._stop):
            return
        answer = self._answer() if self._asks else None
        self._asks = False
        while True:
            try:
                event = self._steps.send(answer)
            except StopIteration:
                self._waits = True
                return
            answer = None
            if isinstance(event, Event):
                yield event
                continue
            self._first = self._next
            self._stop = self._first + self._begin(event)
            self._stage = event.stage(self._first)
            self._asks = self._waits = True
            return


class Due(Protocol):
    """Says when figures are to be told: `fairdesk.individual.engine.pace.Pace`."""

    def due(self) -> bool:
        """Return whether they are now."""


def stream(rng: np.random.Generator, *place: int) -> np.random.Generator:
    """Return a generator of its own for a place: of two numbers or more, apart from `spawn`'s."""
    seeds = rng.bit_generator.seed_seq
    if not isinstance(seeds, np.random.SeedSequence):
        raise TypeError("the generator was not made of a seed")
    key = (*seeds.spawn_key, *place)
    return np.random.default_rng(np.random.SeedSequence(seeds.entropy, spawn_key=key))


def counted_here(merging: Merging, counting: Counting, pace: Due) -> Iterator[Event]:
    """Count all units in this process, and yield the events of the run."""
    last: Progress | None = None
    told = False  # whether the figures are those that were yielded last
    yield from merging.proceed()
    while (wanted := merging.wanted) is not None:
        over = counted = False
        for event in counting(wanted):
            if isinstance(event, Tallied):
                counted, told = True, False
                merging.add(event)
                if pace.due() and (measured := merging.measured()):
                    told = True
                    yield measured
                over = event.last and not _continues(merging.wanted, wanted)
            elif isinstance(event, Progress):
                last = event
                yield merging.told(event)
                if over:
                    break
            else:
                yield event
        for event in merging.proceed():
            last, told = None, told or isinstance(event, Measured)
            yield event
        if not counted:
            break  # there is nothing to count
    if not told and (measured := merging.measured()):
        yield measured
    if last is not None:
        yield merging.told(last)


def counted_apart(events: Iterator[Event], context: Queried) -> Iterator[Event]:
    """Note with each `Tallied` which queries it took."""
    before = context.queries
    for event in events:
        if isinstance(event, Tallied):
            taken, before = context.queries - before, context.queries
            yield msgspec.structs.replace(event, queries=taken)
        else:
            yield event


def _continues(now: ShardRange | None, before: ShardRange) -> bool:
    """Return whether what is wanted now is the rest of what was wanted before."""
    return now is not None and now.stage == before.stage and now.start < before.stop
