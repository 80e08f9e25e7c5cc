"""What a shard is, what divides a run into shards and merges them, and a search in parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.catalogue.method import Divides
from fairdesk.audit.catalogue.methods import method_named, parse_options
from fairdesk.audit.plan.inputs import RunInputs, SearchInputs
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.worker.wire import Ending
from fairdesk.data.domain.domain import Domain
from fairdesk.models.decisions.requerying import joined
from fairdesk.repeatability import Repeatability
from fairdesk.results.events import (
    Event,
    Found,
    Measured,
    Metric,
    Progress,
    Rows,
    ShardRange,
    selected,
)
from fairdesk.results.individual import SearchPhase, Share

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


class Searches:
    """A `fairdesk.audit.shards.shard.Dealing` of a search.

    The parts share out the options that say how much is done, the rows of a budget, and, where so
    many workers run them, its seconds. Merged are the pairs that no part before has found. For the
    same number of parts they are the same, wherever these run.

    Parameters
    ----------
    domain : Domain
        Of the audit.
    run : RunSpec
        With `RunSpec.shards`; fewer parts are made where there are fewer starting points.
    inputs : SearchInputs
        All parts are given all of it, and start from what is dealt to them.
    workers : int
        How many parts run at once.
    """

    def __init__(
        self, domain: Domain, run: RunSpec, inputs: SearchInputs, workers: int = 1
    ) -> None:
        method = method_named(run.method)
        options = msgspec.structs.asdict(parse_options(run.method, run.options))
        self._amounts = {name: int(options[name]) for name in method.division.splits}
        limits = [run.shards, *self._amounts.values()]
        if method.division.by is Divides.ROWS:
            limits.append(len(inputs.people))
        if run.budget.queries is not None:
            limits.append(run.budget.queries)
        self._count = max(1, min(limits))
        self._run, self._inputs, self._workers = run, inputs, min(workers, self._count)
        self._dealt = 0
        self._unique = UniquePairs(domain)
        self._total = Progress("", 0, self._count, tried=0, found=0, queries=0)
        self._bound: tuple[Share, ...] = ()
        self._repeated = Repeatability()
        self._phases: dict[str, SearchPhase] = {}
        self._figures: tuple[Metric, ...] = ()
        self._endings: list[Ending] = []

    def deal(self) -> Shard | None:
        """Return the next part; see `fairdesk.audit.shards.shard.Dealing`."""
        index = self._dealt
        if index == self._count:
            return None
        self._dealt += 1
        options = {
            name: _part(amount, index, self._count) for name, amount in self._amounts.items()
        }
        run = msgspec.structs.replace(
            self._run,
            options={**self._run.options, **options},
            budget=self._budget(index),
            shards=self._count,
            shard=ShardRange(index, index + 1),
        )
        return Shard(index, run, self._inputs)

    def _budget(self, index: int) -> Budget:
        budget = self._run.budget
        seconds, queries = budget.seconds, budget.queries
        return msgspec.structs.replace(
            budget,
            seconds=None if seconds is None else seconds * self._workers / self._count,
            queries=None if queries is None else _part(queries, index, self._count),
        )

    def take(self, index: int, events: Ran) -> Iterator[Event]:
        """Merge a part; see `fairdesk.audit.shards.shard.Dealing`."""
        last, measured = self._total, Measured("", ())
        for event in events:
            match event:
                case Found():
                    new = self._unique.new(event)
                    if len(new.rows):
                        yield new
                case Measured():
                    measured = event
                case Progress():
                    last = self._with(event, index)
                    yield last
                case _:
                    yield event
        self._note(measured)
        self._endings.append(events.ending or "stopped")
        self._total = msgspec.structs.replace(last, found=self._unique.size, done=index + 1)
        # what is said where nothing was found holds only while that is so
        bound = () if self._unique.size else self._bound
        repeated = () if self._repeated.holds else (self._repeated,)
        if (figures := (*bound, *repeated, *self._phases.values())) != self._figures:
            self._figures = figures
            yield Measured(last.phase, self._figures)
        yield self._total

    def _note(self, measured: Measured) -> None:
        """Keep what a part measured: how often an answer changed, a bound of the share, phases.

        Each part counts paths of a tree of its own: these cannot be added up.
        """
        for each in measured.figures:
            if isinstance(each, Repeatability):
                self._repeated = joined(self._repeated, each)
            elif isinstance(each, SearchPhase):
                before = self._phases.get(each.phase, SearchPhase(each.phase, 0, 0))
                self._phases[each.phase] = SearchPhase(
                    each.phase, before.tried + each.tried, before.found + each.found
                )
        self._bound = self._bound or tuple(e for e in measured.figures if isinstance(e, Share))

    def _with(self, progress: Progress, index: int) -> Progress:
        """Return the progress of all parts taken before and of this one."""
        both, size = added(self._total, progress), self._unique.size
        return msgspec.structs.replace(both, found=size, done=index, total=self._count)

    @property
    def left(self) -> int:
        """Parts that are to be dealt still."""
        return self._count - self._dealt

    @property
    def done(self) -> bool:
        """Whether all parts were taken, or one was stopped."""
        return len(self._endings) == self._count or "stopped" in self._endings

    @property
    def ending(self) -> Ending:
        """How the run ended: by its budget where any part did."""
        for ending in ("stopped", "budget", "idle"):
            if ending in self._endings:
                return ending
        return "done"


def _part(amount: int, index: int, count: int) -> int:
    """Return one of so many parts of an amount, as equal as whole numbers can be."""
    return amount // count + (index < amount % count)
