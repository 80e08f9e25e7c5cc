"""A search in so many parts, each with a stream of random numbers of its own."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from fairdesk.audit.catalogue.method import Divides
from fairdesk.audit.catalogue.methods import method_named, parse_options
from fairdesk.audit.plan.inputs import SearchInputs
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.shards.shard import Ran, Shard, UniquePairs, added
from fairdesk.audit.worker.wire import Ending
from fairdesk.data.domain.domain import Domain
from fairdesk.models.decisions.requerying import joined
from fairdesk.repeatability import Repeatability
from fairdesk.results.events import Event, Found, Measured, Metric, Progress, ShardRange
from fairdesk.results.individual import SearchPhase, Share


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
