"""A run whose shards count units: what they counted is added up in the order of the units."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby

import msgspec

from fairdesk.audit.plan.inputs import RunInputs
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.shards.shard import Ran, Shard, UniquePairs, added
from fairdesk.audit.worker.answer_checks import check_event, nonsense
from fairdesk.audit.worker.driving import with_repeats
from fairdesk.audit.worker.wire import Ending
from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.division import Merging
from fairdesk.models.decisions.requerying import joined
from fairdesk.repeatability import Repeatability
from fairdesk.results.events import (
    Event,
    Found,
    Measured,
    Progress,
    ShardRange,
    Tallied,
    concatenated,
)

#: So long a shard is to take, about; more of it would be lost with a worker, ...
_SECONDS = 2.0
#: ... and it has at most so many times the units of the largest before.
_GROWTH = 4
#: Units of each shard where rows are limited: how many rows are sent hangs on it.
_LIMITED = 4
#: Towards the end shards are so small that each worker gets so many more, about, ...
_LAST = 2
#: ... and no smaller than this part of the usual.
_LEAST = 16
#: So many units are wanted by what ends otherwise than by their number.
_ENDLESS = sys.maxsize // 2


class Counts:
    """A `fairdesk.audit.shards.shard.Dealing` of what counts units.

    The figures are those of a run in one process: counts are added up by the method's own code, in
    the order of the units, until there are enough. A budget of rows ends after the very unit at
    which it is used up.

    Parameters
    ----------
    domain : Domain
        Of the audit.
    run : RunSpec
        The run; the seconds of its budget are for whoever deals to count.
    inputs : RunInputs
        Given to every shard.
    merging : Merging
        The half of the method that adds up.
    workers : int
        How many shards run at once.

    Attributes
    ----------
    left : int
        Many: shards are as large as it suits.
    """

    left = sys.maxsize

    def __init__(
        self, domain: Domain, run: RunSpec, inputs: RunInputs, merging: Merging, workers: int
    ) -> None:
        self._run, self._inputs, self._merging = run, inputs, merging
        self._domain, self._workers = domain, workers
        self._unique = UniquePairs(domain)
        self._total = Progress("", 0, 0, tried=0, found=0, queries=0)
        self._limit = run.budget.queries
        self._size = 1 if self._limit is None else _LIMITED
        self._dealt = self._next = self._spent = self._counted = 0
        #: Of shards that are out how many units each is, and the rows that a unit sends, about.
        self._sizes: dict[int, int] = {}
        self._each = 0.0
        self._repeated = Repeatability()
        self._enough = self.done = False
        self.ending: Ending = "done"
        #: The last progress of what was done without the model, since something was counted.
        self._shown: Progress | None = None
        #: The figures of it, likewise.
        self._measured: Measured | None = None
        #: What was done before anything was counted.
        self._early = [each for each in merging.proceed() if isinstance(each, Measured)]

    @property
    def _out(self) -> int:
        """Units that are dealt and not yet counted."""
        return sum(self._sizes.values())

    @property
    def wanted(self) -> bool:
        """Whether there is anything to count."""
        return self._merging.wanted is not None

    def deal(self) -> Shard | None:
        """Return the next units; see `fairdesk.audit.shards.shard.Dealing`."""
        wanted = self._merging.wanted
        if self.done or wanted is None or not self._lasts():
            return None
        start = max(self._next, wanted.start)
        stop = min(start + self._fair(wanted.stop - start), wanted.stop)
        if start >= stop:
            return None
        run = msgspec.structs.replace(
            self._run, budget=Budget(), shards=0, shard=ShardRange(start, stop, wanted.stage)
        )
        shard = Shard(self._dealt, run, self._inputs)
        self._next, self._dealt = stop, self._dealt + 1
        self._sizes[shard.index] = stop - start
        return shard

    def _fair(self, left: int) -> int:
        """Return of how many units the next shard is, so that workers end at about the same time.

        Of units without end the progress of the run tells about how many are left.
        """
        if self._limit is not None:
            return self._size
        shown = self._merging.told(self._total)
        if left > _ENDLESS and self._counted and 0 < shown.done <= shown.total:
            to_do = self._counted * (shown.total - shown.done) / shown.done
            left = max(int(to_do) - self._out, 0)
        return max(1, min(self._size, left // (_LAST * self._workers)), self._size // _LEAST)

    def _lasts(self) -> bool:
        """Whether the budget of rows outlasts what is out and the next shard.

        What is dropped was sent, too.
        """
        if self._limit is None or not self._out:
            return True
        return 0 < self._each * (self._out + _LIMITED) < self._limit - self._spent

    def take(self, index: int, events: Ran) -> Iterator[Event]:
        """Add up a shard's counts; see `fairdesk.audit.shards.shard.Dealing`."""
        last, measured = self._total, Measured("", ())
        spent, counted = self._spent, list[Found]()
        found: list[Found] = []  # of the unit of which the next counts are
        for event in events:
            match event:
                # what comes after the last unit one process would not have counted
                case Found() if not self._enough:
                    found.append(event)
                case Tallied() if not self._enough:
                    counted += found if self._add(event) else []
                    found = []
                    if event.last:
                        yield from self._proceed(last)
                case Measured():
                    measured = event
                case Progress():
                    last = self._with(event)
        yield from self._new(counted)
        if events.ending != "done" and not self._enough:
            self._enough, self.ending = True, events.ending or "stopped"
        self.done = self._enough
        # also those of which there was nothing to count
        units = self._sizes.pop(index)
        self._counted += units
        self._each = (self._spent - spent) / units
        self._learn(last, units)
        self._total = msgspec.structs.replace(last, found=self._unique.size)
        yield from self._told(measured)

    def _new(self, found: list[Found]) -> Iterator[Found]:
        """Yield those pairs that no unit before has found, as long as any are kept.

        Those of many small units together: each batch is a transaction for whoever keeps them.
        """
        most = self._merging.most_pairs
        for _, batches in groupby(found, key=lambda each: each.phase):
            left = None if most is None else most - self._unique.size
            new = self._unique.new(concatenated(list(batches)), left)
            if len(new.rows):
                yield new

    def _add(self, counted: Tallied) -> bool:
        """Add up counts if they count, and note whether there are enough.

        Raises
        ------
        WorkerError
            When they are none that can be added.
        """
        try:
            counts = self._merging.add(counted)
        except (LookupError, ValueError, TypeError) as error:
            # a model's own code may have made them
            raise nonsense("its counts do not fit the request") from error
        self._spent += counted.queries
        self._shown = self._measured = None
        if counted.last and self._limit is not None and self._spent >= self._limit:
            self._enough, self.ending = True, "budget"
        return counts

    def _proceed(self, last: Progress) -> Iterator[Event]:
        """Do what can be done without the model, and note whether there are enough units."""
        yield from self._early
        self._early = []
        for event in self._merging.proceed():
            match event:
                case Progress():
                    self._shown = event
                    yield _as_far_as(last, event)
                case Measured():
                    self._measured = event
                    yield self._checked(event)
                case _:
                    yield event
        if self._merging.wanted is None:
            self._enough = True

    def _learn(self, last: Progress, units: int) -> None:
        """Make the next shards as large as takes a few seconds."""
        spent = sum(last.seconds.values()) - sum(self._total.seconds.values())
        if self._limit is None:
            wanted = int(_SECONDS * units / max(spent, 1e-3))
            self._size = max(1, min(wanted, _GROWTH * self._size))

    def _with(self, progress: Progress) -> Progress:
        both = added(self._total, progress)
        return self._merging.told(msgspec.structs.replace(both, found=self._unique.size))

    def _told(self, noted: Measured) -> Iterator[Event]:
        """Yield the figures so far, with whether the model's answers changed."""
        for each in noted.figures:
            if isinstance(each, Repeatability):
                self._repeated = joined(self._repeated, each)
        if measured := self._measured or self._merging.measured():
            yield self._checked(measured)
        if self._shown is None:
            yield self._merging.told(self._total)
        else:
            yield _as_far_as(self._total, self._shown)

    def _checked(self, measured: Measured) -> Measured:
        """Return figures, if there can be such, with whether the model's answers changed."""
        figures = with_repeats(measured.figures, self._repeated)
        checked = Measured(measured.phase, figures)
        check_event(checked, self._domain, None)
        return checked


def _as_far_as(counts: Progress, shown: Progress) -> Progress:
    """Return the counts of one progress with the phase of another, and how far that is."""
    return msgspec.structs.replace(counts, phase=shown.phase, done=shown.done, total=shown.total)
