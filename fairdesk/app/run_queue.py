"""The runs of an audit that wait for one another: in which order, how they stand, in what time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Literal

from fairdesk.app.standard import OUT_OF_TIME, with_time
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.records import WaitingRun

#: How a run of the queue stands. One that is dropped was not started, and can be added again.
Stands = Literal["waiting", "running", "done", "stopped", "failed", "dropped"]
#: What has ended, in one way or another.
OVER: tuple[Stands, ...] = ("done", "stopped", "failed")


@dataclass(eq=False)
class Batch:
    """Runs that were asked for together.

    Attributes
    ----------
    seconds : float, optional
        What is left of their common time limit; ``None`` where each has its own, or none.
    compares : bool
        Whether they are searches whose results are compared.
    """

    seconds: float | None = None
    compares: bool = False


@dataclass(eq=False)
class QueuedRun:
    """A run of the queue.

    Attributes
    ----------
    number : int
        Its own in this queue, from 1; it is never given again.
    spec : RunSpec
        What to run; once it has begun, with its part of the common time limit.
    batch : Batch
        What it was asked for with.
    stands : str
        One of `Stands`.
    run_id : int
        In the audit file; 0 until it has ended, or where it could not begin.
    why : str
        Why it failed, in sentences, or was dropped, a clause; empty where that is plain.
    """

    number: int
    spec: RunSpec
    batch: Batch
    stands: Stands = "waiting"
    run_id: int = 0
    why: str = ""

    @property
    def kind(self) -> QuestionKind:
        """What kind of question it answers."""
        return method_named(self.spec.method).answers


class RunQueue:
    """Runs one after the other. Whoever drives them asks for the next and tells how each ended.

    Attributes
    ----------
    runs : list[QueuedRun]
        In their order: what has ended or was dropped, what runs, what waits.
    """

    def __init__(self) -> None:
        self.runs: list[QueuedRun] = []
        self._numbers = count(1)

    @property
    def waiting(self) -> tuple[QueuedRun, ...]:
        """The runs that wait, in their order."""
        return tuple(each for each in self.runs if each.stands == "waiting")

    @property
    def running(self) -> QueuedRun | None:
        """The run that is under way."""
        return next((each for each in self.runs if each.stands == "running"), None)

    @property
    def idle(self) -> bool:
        """Whether nothing runs and nothing waits."""
        return self.running is None and not self.waiting

    def find(self, number: int) -> QueuedRun | None:
        """Return a run by its number."""
        return next((each for each in self.runs if each.number == number), None)

    def of(self, batch: Batch) -> tuple[QueuedRun, ...]:
        """Return the runs that were asked for together, in their order."""
        return tuple(each for each in self.runs if each.batch is batch)

    def add(self, specs: Sequence[RunSpec], seconds: float | None = None) -> tuple[QueuedRun, ...]:
        """Add runs behind all others. What is over is forgotten where nothing else is left.

        Parameters
        ----------
        specs : sequence of RunSpec
            In their order.
        seconds : float, optional
            A time limit that they share: each gets its part of what is left when it begins.
        """
        if self.idle:
            self.runs.clear()
        kinds = {method_named(each.method).answers for each in specs}
        compares = len(specs) > 1 and kinds == {QuestionKind.EXAMPLES}
        batch = Batch(seconds, compares)
        added = tuple(QueuedRun(next(self._numbers), each, batch) for each in specs)
        self.runs += added
        return added

    def begin(self) -> QueuedRun | None:
        """Return the next run, which counts as running from now on; ``None`` without one.

        Runs for which their common time limit leaves no time are dropped.
        """
        if self.running is not None:
            raise RuntimeError("a run is under way")
        for each in self.waiting:
            left = [other.spec for other in self.of(each.batch) if other.stands == "waiting"][1:]
            if each.batch.seconds is not None:
                try:
                    each.spec = with_time(each.spec, left, each.batch.seconds)
                except ValueError:
                    each.stands, each.why = "dropped", OUT_OF_TIME
                    continue
            each.stands = "running"
            return each
        return None

    def end(self, stands: Stands, *, run_id: int = 0, elapsed: float = 0.0, why: str = "") -> None:
        """Take down how the run that was under way ended; nothing without one.

        Parameters
        ----------
        stands : str
            One of `OVER`.
        run_id : int
            Its number in the audit file; 0 where it could not begin.
        elapsed : float
            Its seconds, which the runs after it do not have any more.
        """
        run = self.running
        if run is None:
            return
        run.stands, run.run_id, run.why = stands, run_id, why
        if run.batch.seconds is not None:
            run.batch.seconds = max(run.batch.seconds - elapsed, 0.0)

    def drop(self, number: int) -> bool:
        """Drop a run that waits; returns whether it did."""
        return self._turn(number, "waiting", "dropped")

    def restore(self, number: int) -> bool:
        """Let a run that was dropped wait again, behind all others; returns whether it does."""
        if not self._turn(number, "dropped", "waiting"):
            return False
        run = self.find(number)
        if run is not None:
            # what was over at its first turn would be so again
            run.batch = run.batch if run.batch.seconds else Batch()
            self.runs.remove(run)
            self.runs.append(run)
        return True

    def drop_waiting(self) -> tuple[QueuedRun, ...]:
        """Drop all runs that wait; returns them."""
        dropped = self.waiting
        for each in dropped:
            each.stands = "dropped"
        return dropped

    def move(self, number: int, place: int) -> bool:
        """Give a run that waits another place among those that wait, from 0.

        Returns
        -------
        bool
            Whether it changed its place.
        """
        run, waiting = self.find(number), list(self.waiting)
        if run is None or run not in waiting:
            return False
        before = waiting.index(run)
        place = min(max(place, 0), len(waiting) - 1)
        if place == before:
            return False
        waiting.insert(place, waiting.pop(before))
        ordered = iter(waiting)
        self.runs = [next(ordered) if each.stands == "waiting" else each for each in self.runs]
        return True

    def kept(self) -> tuple[WaitingRun, ...]:
        """Return what the audit file keeps of those that wait."""
        batches = list(dict.fromkeys(each.batch for each in self.waiting))
        return tuple(
            WaitingRun(each.spec, batches.index(each.batch), each.batch.seconds)
            for each in self.waiting
        )

    def take_up(self, kept: Iterable[WaitingRun]) -> None:
        """Add what an audit file has kept, behind all others; unknown methods are left out."""
        batches: dict[int, list[WaitingRun]] = {}
        for each in kept:
            if each.run.method not in METHODS:
                continue  # a file may say anything
            batches.setdefault(each.batch, []).append(each)
        for together in batches.values():
            self.add([each.run for each in together], together[0].seconds)

    def _turn(self, number: int, before: Stands, after: Stands) -> bool:
        run = self.find(number)
        if run is None or run.stands != before:
            return False
        run.stands, run.why = after, ""
        return True
