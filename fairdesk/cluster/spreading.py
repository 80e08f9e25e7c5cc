"""One run on a cluster: shards are dealt to workers, and what comes of them is merged in order."""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING
from uuid import uuid4

import msgspec
import numpy as np

from fairdesk.audit.catalogue.method import COMPILING_THERE, ON_WORKERS
from fairdesk.audit.plan.spec import Budget
from fairdesk.audit.shards.shard import Dealing, Outcome, Shard
from fairdesk.audit.worker import wire
from fairdesk.audit.worker.wire import Ending
from fairdesk.cluster import messages, remote
from fairdesk.cluster.connection import Connection, scheduler_gone
from fairdesk.cluster.members import Members
from fairdesk.cluster.messages import AtWork, Contents, Heard
from fairdesk.errors import ClusterError, FairDeskError, ModelError, WorkerError
from fairdesk.results.events import Event, Progress

if TYPE_CHECKING:
    from distributed import Future


@dataclass(frozen=True, slots=True)
class ClusterPatience:
    """How long is waited for what on a cluster, in seconds.

    Attributes
    ----------
    look : float
        Between two looks at who works and what was told.
    silence : float
        Until a worker of which the scheduler hears nothing is given up, and its shards are dealt
        again.
    nobody : float
        Until a run without any usable worker fails.
    slow : float
        A shard that takes so many times as long as the longest before is dealt again beside; the
        first result counts.
    least : float
        But no shard is dealt again before so long.
    stop : float
        For shards that are stopped to hand over what they have.
    losses : int
        So many workers may be lost with the same shard, not seconds but a count.
    """

    look: float = 0.5
    silence: float = 60.0
    nobody: float = 180.0
    slow: float = 10.0
    least: float = 300.0
    stop: float = 10.0
    losses: int = 3


log = logging.getLogger(__name__)
#: On so many workers a shard is tried, besides those that died with it.
_TRIES = 2
#: Errors that another worker may not meet: those of the process or the computer.
_OF_A_WORKER = (WorkerError, ModelError, ClusterError)


class Keeping:
    """Has contents kept on workers, each once.

    Each worker is sent its own copy before it is given what needs it. Were a content the result of
    a task that Dask hands from worker to worker, all would wait for the one that has it, which may
    hang.

    Parameters
    ----------
    connection : Connection
        To the cluster.
    contents : Contents
        What there is to keep.
    """

    def __init__(self, connection: Connection, contents: Contents) -> None:
        self._connection, self._contents = connection, contents
        self._kept: dict[tuple[str, str], Future[bytes]] = {}

    def on(self, address: str, digests: Sequence[str]) -> list[Future[bytes]]:
        """Have contents kept on a worker; returns what a task there is to wait for."""
        for digest in digests:
            if (address, digest) not in self._kept:
                self._kept[address, digest] = self._connection.submit(
                    remote.keep_here,
                    digest,
                    self._contents.kept[digest],
                    key=f"fairdesk-keep-{uuid4().hex}",
                    worker=address,
                )
        return [self._kept[address, digest] for digest in digests]


@dataclass(slots=True)
class _Out:
    """A shard that was dealt."""

    shard: Shard
    payload: bytes
    needs: tuple[str, ...]
    futures: dict[str, tuple[Future[bytes], str]] = field(default_factory=dict)
    since: float = 0.0
    failed_on: frozenset[str] = frozenset()
    failures: int = 0
    losses: int = 0


class Spreading:
    """One run while it is spread over a cluster.

    Parameters
    ----------
    connection : Connection
        To the cluster.
    dealing : Dealing
        What divides and merges the run.
    opening : messages.Opening
        What workers open.
    contents : messages.Contents
        What lies apart.
    seconds : float, optional
        How long the whole run may take once workers are ready, whatever is left of it.
    check : callable
        Returns an event of a shard, if it can be one; raises `WorkerError` where not.
    patience : ClusterPatience
        How long to wait for what.
    """

    def __init__(
        self,
        connection: Connection,
        dealing: Dealing,
        opening: messages.Opening,
        contents: messages.Contents,
        seconds: float | None,
        check: Callable[[Event, Shard], Event],
        patience: ClusterPatience,
    ) -> None:
        self._check = check
        self._connection, self._dealing, self._patience = connection, dealing, patience
        self._opening, self._contents = opening, contents
        self._token = f"fairdesk-{uuid4().hex}"
        self._items: queue.SimpleQueue[Future[bytes] | None] = queue.SimpleQueue()
        self._keeping = Keeping(connection, contents)
        self._members = Members(
            connection, opening, self._keeping.on, self._items.put, patience.silence
        )
        self._out: dict[int, _Out] = {}
        #: What another worker was quicker with.
        self._late: dict[str, Future[bytes]] = {}
        self._ready: dict[int, Outcome] = {}
        self._next = 0
        self._longest = 0.0
        self._looked = self._nobody_since = monotonic()
        self._seconds, self._until = seconds, np.inf
        self._stopped: Ending | None = None
        self.paused = False
        self._numbers = count(1)
        self._heard = Heard()
        self._last = Progress(ON_WORKERS, 0, 0, tried=0, found=0, queries=0)
        #: What was lost and run again, a sentence each.
        self.remarks: list[str] = []

    def pause(self) -> None:
        """Deal nothing more, and hold what runs."""
        self.paused = True
        self._tell("pause")

    def resume(self) -> None:
        """Go on."""
        self.paused = False
        self._tell("resume")

    def stop(self) -> None:
        """End it; what is done by then is merged."""
        self._end("stopped")

    def _end(self, ending: Ending) -> None:
        if self._stopped is None:
            self._stopped = ending
            self._tell("stop")
            self._items.put(None)

    def _tell(self, command: remote.Command) -> None:
        """Tell the workers, with a number: what is told later may come earlier."""
        self._connection.tell(remote.control_here, self._token, next(self._numbers), command)

    def events(self) -> Iterator[Event]:
        """Yield the merged events.

        Raises
        ------
        FairDeskError
            When the cluster is lost or cannot run the audit, or a shard fails on more than one
            worker.
        """
        self._connection.listen(self._token, self._heard.note)
        try:
            yield from self._made_ready()
            if self._seconds is not None:
                # that models were sent and opened is no part of the time of the run
                self._until = monotonic() + self._seconds
            while not self._dealing.done and self._stopped is None:
                try:
                    self._look()
                    self._deal()
                    self._wait()
                    # whoever has become idle does not wait until what came is merged, and written
                    self._deal()
                except FairDeskError:
                    # what came with the failure is kept, too
                    yield from self._merged()
                    raise
                yield from self._merged()
                yield self._standing()
            if self._stopped is not None:
                yield from self._rest()
        finally:
            self._drop()

    def at_work(self) -> tuple[AtWork, ...]:
        """Return what workers are doing; from any thread."""
        return self._heard.at_work(self._out)

    def _standing(self) -> Progress:
        """Return how far the run is, with what its shards are doing; counts are of merged ones."""
        phase = self._heard.phase(self._out)
        return msgspec.structs.replace(self._last, phase=phase) if phase else self._last

    @property
    def ending(self) -> Ending:
        """How it ended."""
        return self._stopped or self._dealing.ending

    def _made_ready(self) -> Iterator[Progress]:
        """Wait until the workers have opened the model; refuse the cluster where one cannot."""
        self._members.look()
        while self._stopped is None:
            done, count = self._members.counts
            if count and done == count:
                break
            phase = COMPILING_THERE if self._members.compiling else ON_WORKERS
            yield msgspec.structs.replace(self._last, phase=phase, done=done, total=count)
            self._look()
            self._wait()
        self._members.refuse_trouble()

    def _look(self) -> None:
        """See who works, what is lost, and whether the time is up."""
        if self._connection.lost:
            raise scheduler_gone(self._connection.where)
        for address, had in self._members.look().items():
            self._lost(address, [self._out[index] for index in sorted(had & self._out.keys())])
        now = monotonic()
        since, self._looked = self._looked, now
        if self.paused:
            # no time of the run, nor of its shards
            for out in self._out.values():
                out.since += now - since
            self._until += now - since
            return
        if not self._next and not self._ready and self._heard.loading(self._out):
            self._until += now - since
        if now > self._until:
            self._end("budget")
        if not self._members.usable:
            if now - self._nobody_since > self._patience.nobody:
                raise ClusterError(
                    f"No worker of the cluster has answered for {self._patience.nobody:g} seconds.",
                    why="They were ended, or the network to them was interrupted.",
                    remedy="Results so far are kept. Start workers again, and continue the run.",
                )
        else:
            self._nobody_since = now

    def _deal_again(self) -> None:
        """Deal shards again that no worker has any more, or that a silent or slow one has."""
        now = monotonic()
        silent = frozenset(self._members.silent)
        slow = max(self._patience.least, self._patience.slow * self._longest)
        for index, out in self._out.items():
            holders = {address for _, address in out.futures.values()}
            if not holders:
                free = self._members.freest(out.failed_on)
                if free is not None:
                    self._submit(out, free)
            elif holders <= silent:
                self._again(index, silent, "stopped responding")
            elif len(holders) == 1 and now - out.since > slow:
                self._again(index, holders, "took much longer than the others")

    def _lost(self, address: str, had: Sequence[_Out]) -> None:
        """Take shards back from a worker that is gone; they are dealt again."""
        for out in had:
            for key, (future, holder) in list(out.futures.items()):
                if holder == address:
                    del out.futures[key]
                    future.cancel()
            out.losses += 1
            if out.losses > self._patience.losses:
                raise WorkerError(
                    f"Part {out.shard.index + 1} of the run was lost {out.losses} times, because "
                    "its worker ended unexpectedly.",
                    why="Most often their memory ran out.",
                    remedy="Give workers more memory, or fewer threads each. Results so far are "
                    "kept.",
                )
        if had:
            parts = "1 part" if len(had) == 1 else f"{len(had)} parts"
            self._remark(f"Worker {address} was lost; {parts} of the run that it had ran again.")

    def _again(self, index: int, avoiding: frozenset[str] | set[str], why: str) -> None:
        """Deal a shard once more, beside the worker that has it; the first result counts."""
        out = self._out[index]
        address = self._members.freest(frozenset(avoiding))
        if address is None or address in avoiding:
            return
        holders = ", ".join(sorted({holder for _, holder in out.futures.values()}))
        self._remark(f"Worker {holders} {why}: part {index + 1} was run again on another worker.")
        self._submit(out, address)

    def _remark(self, sentence: str) -> None:
        log.warning("%s", sentence)
        self.remarks.append(sentence)

    def _deal(self) -> None:
        """Deal shards while workers have room; first what was lost: the rest waits for it."""
        if self._deals:
            self._deal_again()
        while self._deals:
            if (address := self._members.freest(left=self._dealing.left)) is None:
                return
            if (shard := self._dealing.deal()) is None:
                return
            run = shard.run
            if self._until is not None and run.budget.seconds is not None:
                left = max(self._until - monotonic(), 0.1)
                limit = min(run.budget.seconds, left)
                budget: Budget = msgspec.structs.replace(run.budget, seconds=limit)
                run = msgspec.structs.replace(run, budget=budget)
            payload, needs = messages.write_job(
                self._token, shard.index, self._opening, run, shard.inputs, self._contents
            )
            out = self._out[shard.index] = _Out(shard, payload, needs)
            self._submit(out, address)

    @property
    def _deals(self) -> bool:
        return not self.paused and self._stopped is None

    def _submit(self, out: _Out, address: str) -> None:
        future = self._connection.submit(
            remote.shard_here,
            out.payload,
            *self._keeping.on(address, out.needs),
            key=f"{self._token}-{out.shard.index}-{uuid4().hex[:8]}",
            worker=address,
        )
        out.futures[str(future.key)] = future, address
        out.since = monotonic()
        self._members.give(address, str(future.key), out.shard.index)
        future.add_done_callback(self._items.put)

    def _wait(self) -> None:
        """Take what has come, or wait for it a moment."""
        try:
            item = self._items.get(timeout=self._patience.look)
            while True:
                if item is not None and not self._members.checked(item):
                    self._came(item)
                item = self._items.get_nowait()
        except queue.Empty:
            return

    def _came(self, future: Future[bytes]) -> None:
        """Take a shard that is over, unless it was taken already."""
        key = str(future.key)
        self._members.take_back(key)
        self._late.pop(key, None)
        out = next((each for each in self._out.values() if key in each.futures), None)
        if out is None:
            return
        _, address = out.futures.pop(key)
        index = out.shard.index
        if future.status == "finished":
            try:
                outcome = self._outcome(future, out.shard)
            except _OF_A_WORKER as error:
                self._failed(out, address, error)
                return
            except (OSError, CancelledError):  # as a TimeoutError is an OSError
                if self._connection.lost:
                    raise scheduler_gone(self._connection.where) from None
                self._failed(out, address, WorkerError("Its result was lost on its way."))
                return
            self._longest = max(self._longest, monotonic() - out.since)
            self._ready[index] = outcome
            self._retire(out)
        elif future.status == "error":
            self._failed(out, address, _defect(future.exception()))
        elif self._connection.lost or future.cancelled():
            raise scheduler_gone(self._connection.where)
        else:
            self._failed(out, address, WorkerError("Its result was lost on its way."))

    def _outcome(self, future: Future[bytes], shard: Shard) -> Outcome:
        """Read the result of a shard: all of it, or nothing."""
        events: list[Event] = []
        ending: Ending | None = None
        for event in messages.read_events(future.result(timeout=self._patience.silence)):
            if isinstance(event, wire.SearchEnded):
                ending = event.ending
            else:
                events.append(self._check(event, shard))
        if ending is None:
            raise WorkerError("A worker returned a part of a run without its end.")
        return Outcome(events, ending)

    def _failed(self, out: _Out, address: str, error: FairDeskError) -> None:
        """Deal a shard that failed once more, elsewhere; fail the run when it fails there, too."""
        out.failures += 1
        out.failed_on |= {address}
        if out.failures >= _TRIES:
            raise type(error)(
                f"Part {out.shard.index + 1} of the run failed on "
                f"{'two workers' if len(out.failed_on) > 1 else f'worker {address}, twice'}: "
                f"{error.what}",
                why=error.why,
                remedy=error.remedy,
            )
        if not out.futures and self._stopped is None:
            self._remark(
                f"Part {out.shard.index + 1} of the run failed on worker {address} and was run "
                f"again: {error.what}"
            )

    def _retire(self, out: _Out) -> None:
        """Forget a shard that is done; whoever has it still is given less until it is done, too."""
        del self._out[out.shard.index]
        self._heard.forget(out.shard.index)
        for key, (future, _) in out.futures.items():
            # were it cancelled, it would not be known when the worker is done with it
            self._members.beaten(key)
            self._late[key] = future

    def _merged(self) -> Iterator[Event]:
        """Hand over what came, in the order of the shards."""
        while self._next in self._ready and not self._dealing.done:
            yield from self._taken()

    def _taken(self) -> Iterator[Event]:
        for event in self._dealing.take(self._next, self._ready.pop(self._next)):
            if isinstance(event, Progress):
                self._last = event
            yield event
        self._next += 1

    def _rest(self) -> Iterator[Event]:
        """After a stop, take what shards have, in their order up to the first that is missing."""
        until = monotonic() + self._patience.stop
        while self._out and monotonic() < until and not self._connection.lost:
            self._wait()
        while self._next in self._ready:
            yield from self._taken()

    def _drop(self) -> None:
        """Leave nothing running."""
        self._connection.forget(self._token)
        futures = [future for out in self._out.values() for future, _ in out.futures.values()]
        futures += self._late.values()
        if futures:
            self._tell("stop")
        if not self._connection.lost:
            for future in futures:
                future.cancel()
        self._out.clear()


def _defect(error: BaseException | None) -> WorkerError:
    """Return what Dask raised, which nobody has foreseen."""
    return WorkerError(
        f"It failed unexpectedly ({type(error).__name__}: {error}).",
        remedy="Results so far are kept.",
    )
