"""What a shard is, what divides a run into shards, and what merges them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.inputs import RunInputs
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.worker.wire import Ending
from fairdesk.data.domain.domain import Domain
from fairdesk.results.events import Event, Found, Progress, Rows, selected

Keys = NDArray[np.uint64]

#: The multipliers of splitmix64.
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_STEP = 0x9E3779B97F4A7C15
_WORD = (1 << 64) - 1


def keys(rows: Rows) -> Keys:
    """Return each of ``(n, d)`` rows a 64-bit key, ``(n,)``; equal rows have equal keys.

    As in `fairdesk.individual.engine.kernels`, but for a process that compiles nothing.
    """
    made = np.zeros(len(rows), dtype=np.uint64)
    for place, column in enumerate(rows.T):
        # -0.0 and 0.0 are one
        bits = np.ascontiguousarray(column + 0.0).view(np.uint64)
        bits = bits + np.uint64(_STEP * (place + 1) & _WORD)
        bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
        bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
        made += bits ^ (bits >> np.uint64(31))
    return made


class UniquePairs:
    """Lets each instance through once, by what is equal in its counterfactual set."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        #: The keys let through, in sorted arrays of which each is at least twice the next: so that
        #: many small batches do not sort all of them each time.
        self._met: list[Keys] = []

    @property
    def size(self) -> int:
        """How many were let through."""
        return sum(map(len, self._met))

    def new(self, found: Found, most: int | None = None) -> Found:
        """Return the instances that were not met before, the first of each, ``most`` of them."""
        given = keys(self._domain.identity(found.rows))
        order = np.argsort(given, kind="stable")
        ordered = given[order]
        fresh = np.ones(len(given), dtype=np.bool_)
        fresh[1:] = ordered[1:] != ordered[:-1]
        for met in self._met:
            place = np.minimum(np.searchsorted(met, ordered), len(met) - 1)
            fresh &= met[place] != ordered
        chosen = np.sort(order[fresh])[:most]
        self._keep(np.sort(given[chosen]))
        kept = np.zeros(len(given), dtype=np.bool_)
        kept[chosen] = True
        return selected(found, kept)

    def _keep(self, fresh: Keys) -> None:
        if not len(fresh):
            return
        while self._met and len(self._met[-1]) < 2 * len(fresh):
            fresh = np.sort(np.concatenate([self._met.pop(), fresh]))
        self._met.append(fresh)


def added(one: Progress, other: Progress) -> Progress:
    """Return the counts of two parts together, otherwise as ``other`` is.

    Instances that both tested count twice; seconds are those of both, one after the other.
    """
    return msgspec.structs.replace(
        other,
        tried=one.tried + other.tried,
        found=one.found + other.found,
        queries=one.queries + other.queries,
        rejected=one.rejected + other.rejected,
        seconds={
            phase: one.seconds.get(phase, 0.0) + other.seconds.get(phase, 0.0)
            for phase in {**one.seconds, **other.seconds}
        },
    )


class Shard(msgspec.Struct, frozen=True):
    """A part of a run: an ordinary run of its own on any worker with the audit's model.

    Attributes
    ----------
    index : int
        Its position in the order in which shards are merged: 0, 1, 2, ...
    run : RunSpec
        What runs, with a budget of its own.
    inputs : RunInputs
        What it is given. What all shards need is the same object in each of them.
    """

    index: int
    run: RunSpec
    inputs: RunInputs


class Ran(Protocol):
    """The events of a shard, in their order, and how it ended."""

    def __iter__(self) -> Iterator[Event]:
        """Yield the events; a shard that still runs yields them as they come."""

    @property
    def ending(self) -> Ending | None:
        """How it ended, once there are no more events; ``None`` where it did not."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The events of a shard that has ended: a `Ran`."""

    events: Iterable[Event]
    ending: Ending | None

    def __iter__(self) -> Iterator[Event]:
        """Yield the events."""
        return iter(self.events)


class Dealing(Protocol):
    """Divides one run into shards and merges what came of them.

    What `take` yields, and `ending`, hang on the run and on the order of the shards' indices alone,
    not on where, when or how often a shard ran: a shard that was lost is run again.
    """

    def deal(self) -> Shard | None:
        """Return the next shard, which may run at once; ``None`` where there is none now.

        There may be one after the next `take`.
        """

    def take(self, index: int, events: Ran) -> Iterator[Event]:
        """Merge a shard, and yield the events of the whole run that follow.

        Called once for each shard, in the order of the indices; each call is used up before the
        next one.
        """

    @property
    def left(self) -> int:
        """How many shards are to be dealt still; many where that is not known."""

    @property
    def done(self) -> bool:
        """Whether no more is needed: shards that were dealt and not taken can be dropped."""

    @property
    def ending(self) -> Ending:
        """How the run ended, once it is done."""


class Whole:
    """A `fairdesk.audit.shards.shard.Dealing` of one shard, whose events are those of the run."""

    def __init__(self, run: RunSpec, inputs: RunInputs) -> None:
        self._shard: Shard | None = Shard(0, run, inputs)
        self.done = False
        self.ending: Ending = "done"

    @property
    def left(self) -> int:
        """The one shard, unless it was dealt."""
        return int(self._shard is not None)

    def deal(self) -> Shard | None:
        """Return the one shard, once."""
        shard, self._shard = self._shard, None
        return shard

    def take(self, index: int, events: Ran) -> Iterator[Event]:
        """Yield the events as they are."""
        del index
        yield from events
        self.done, self.ending = True, events.ending or "stopped"
