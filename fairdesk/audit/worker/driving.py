"""Takes a method's events until it is done, stopped or out of budget, and sends them on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from itertools import groupby
from time import perf_counter
from typing import Self

import msgspec

from fairdesk.audit.plan.spec import Budget
from fairdesk.audit.worker import wire
from fairdesk.audit.worker.wire import Ending
from fairdesk.repeatability import Repeatability
from fairdesk.results.events import (
    Certificate,
    Event,
    Found,
    Measured,
    Metric,
    Progress,
    Tallied,
    concatenated,
    timed,
)
from fairdesk.results.individual import RandomBaseline, SearchPhase, Share
from fairdesk.results.mitigation import Augmented, Retrained

Send = Callable[[wire.FromGuest], None]

#: Events are gathered for so many seconds before they are sent.
GATHER_SECONDS = 0.05
#: While the method thinks, events wait for about so many seconds.
TEND_SECONDS = 0.25
#: A search that has not begun yet says so every so many seconds.
LIFE_SECONDS = 5.0
#: Figures that say how a search went, and nothing of how often decisions change.
_COURSE = (RandomBaseline, SearchPhase)


def _reports(event: Event) -> bool:
    """Return whether an event has a finding, or a figure about how often decisions change."""
    match event:
        case Found():
            return len(event.rows) > 0
        case Measured():
            return not all(isinstance(each, _COURSE) for each in event.figures)
        case _:
            return not isinstance(event, Progress)


class Controls:
    """Whether a call is to pause or stop; set by the thread that reads the pipe."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._paused = 0
        self._stopped = 0

    def obey(self, call: int, message: wire.Control) -> None:
        """Take a control message for a call."""
        with self._changed:
            if isinstance(message, wire.Stop):
                self._stopped = call
            else:
                self._paused = call if isinstance(message, wire.Pause) else 0
            self._changed.notify_all()

    def stopped(self, call: int) -> bool:
        """Return whether the call is to end."""
        return self._stopped == call

    def paused(self, call: int) -> bool:
        """Return whether the call is to wait."""
        return self._paused == call and not self.stopped(call)

    def wait(self, call: int) -> None:
        """Wait until the call may go on or is to end."""
        with self._changed:
            self._changed.wait_for(lambda: not self.paused(call))


class Outbox:
    """Gathers the events of a search and sends them at most about 20 times a second.

    Used as a context manager, it also sends what has been waiting while the method thinks: a
    model that hangs must not take findings along.
    """

    def __init__(
        self,
        send: Send,
        *,
        silent: bool = False,
        repeatability: Callable[[], Repeatability] = Repeatability,
    ) -> None:
        self._repeatability = repeatability
        self._measured_before = Measured("", ())
        self._repeated = Repeatability()
        self.last = Progress(phase="", done=0, total=0, tried=0, found=0, queries=0)
        self._send = send
        self._found: list[Found] = []
        self._measured: Measured | None = None
        self._certificate: Certificate | None = None
        #: Whether anybody was found, or anything measured.
        self.reported = False
        self._count = 0
        self._waits = False
        self._sent = perf_counter()
        #: Whether a long silence is nothing to worry about: then the last progress is told again.
        self._silent = silent
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._tending = threading.Thread(target=self._tend, daemon=True)

    def __enter__(self) -> Self:
        self._tending.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._tending.join()
        self.flush()

    def add(self, event: Event) -> None:
        """Take an event; send what was gathered when it is time."""
        with self._lock:
            self._waits = True
            self.reported |= _reports(event)
            if isinstance(event, Found):
                self._found.append(event)
                self._count += len(event.rows)
                return
            if isinstance(event, Measured):
                self._measured = self._with_course(event)
                return
            if isinstance(event, Certificate):
                self._certificate = event
                return
            if isinstance(event, Augmented | Retrained):
                self._send(event)
                return
            if isinstance(event, Tallied):
                # after what was found in its unit, and before what comes next
                self._flush()
                self._send(event)
                return
            self.last = event
            if perf_counter() - self._sent >= GATHER_SECONDS:
                self._flush()

    def flush(self) -> None:
        """Send all findings, and then the latest progress."""
        with self._lock:
            self._flush()

    def _flush(self) -> None:
        for _, batches in groupby(self._found, key=lambda found: found.phase):
            self._send(concatenated(list(batches)))
        self._found.clear()
        self._flush_measured()
        if self._certificate is not None:
            self._send(self._certificate)
            self._certificate = None
        found = max(self.last.found, self._count)
        self.last = msgspec.structs.replace(self.last, found=found)
        self._send(self.last)
        self._waits = False
        self._sent = perf_counter()

    def _with_course(self, measured: Measured) -> Measured:
        """Return figures with what an earlier stage of the run measured of how it went."""
        before = (self._measured or self._measured_before).figures
        told = {type(each) for each in measured.figures}
        kept = (each for each in before if isinstance(each, _COURSE) and type(each) not in told)
        return msgspec.structs.replace(measured, figures=(*kept, *measured.figures))

    def _flush_measured(self) -> None:
        """Send what was measured, with what became known since of the model's repeatability."""
        repeated = self._repeatability()
        if self._measured is None and repeated.changed == self._repeated.changed:
            return
        measured = self._measured or self._measured_before
        phase = measured.phase or self.last.phase
        self._send(Measured(phase, with_repeats(measured.figures, repeated)))
        self._measured, self._measured_before, self._repeated = None, measured, repeated

    def _tend(self) -> None:
        while not self._over.wait(TEND_SECONDS):
            with self._lock:
                silence = perf_counter() - self._sent
                if (self._waits and silence >= TEND_SECONDS) or (
                    self._silent and silence >= LIFE_SECONDS
                ):
                    self._flush()


def with_repeats(figures: tuple[Metric, ...], found: Repeatability) -> tuple[Metric, ...]:
    """Add to figures that the model's answers changed during the run, where they did."""
    if found.holds:
        return figures
    marked = tuple(
        msgspec.structs.replace(each, wavered=found.changed) if isinstance(each, Share) else each
        for each in figures
    )
    return (*marked, found)


def drive(
    events: Iterator[Event],
    budget: Budget,
    controls: Controls,
    call: int,
    send: Send,
    *,
    before: Iterable[Event] = (),
    after: Iterable[Event] = (),
    request_finish: Callable[[], None] | None = None,
    silent: bool = False,
    repeatability: Callable[[], Repeatability] = Repeatability,
    asked_at: float | None = None,
) -> Ending:
    """Take a search's events until it is done, stopped, or out of budget, and send them.

    Parameters
    ----------
    events : Iterator[Event]
        A method's generator; closed at the end.
    budget : Budget
        The method's. Seconds are those of its preparation and those spent in it, pauses and sending
        left out.
    send : Send
        Where events go, gathered by an `Outbox`. The last is always a progress, also when the
        search fails.
    before, after : Iterable[Event]
        What comes before the method, and after one that neither found nor measured anything;
        outside its budget.
    request_finish : callable, optional
        Tells the method to come to an end, and to say what it came to. Without it the method is
        left where it is when it is told to stop, or its budget is used up.
    silent : bool
        Whether the method may well think for minutes (a model that is trained says nothing).
    repeatability : callable
        Tells of the rows that were queried again so far; kept with what was measured where an
        answer changed.
    asked_at : float, optional
        When the search was asked for, on the clock of `perf_counter`: what was loaded and compiled
        since then counts as preparation. By default it is asked for now.

    Returns
    -------
    str
        How it ended.
    """
    asked_at = perf_counter() if asked_at is None else asked_at
    seconds: dict[str, float] = {}
    with Outbox(send, silent=silent, repeatability=repeatability) as outbox:

        def take(
            part: Iterable[Event], limits: Budget, request_finish: Callable[[], None] | None = None
        ) -> Ending:
            go_on = partial(_wait, controls, call, outbox)
            return _take(iter(part), seconds, limits, outbox, go_on, request_finish)

        if take(before, Budget()) == "stopped":
            return "stopped"
        if budget.seconds is not None:
            left = max(0.0, budget.seconds - (perf_counter() - asked_at))
            budget = msgspec.structs.replace(budget, seconds=left)
        ending = take(events, budget, request_finish)
        if ending == "stopped" or outbox.reported:
            return ending
        return "stopped" if take(after, Budget()) == "stopped" else ending


def _take(
    events: Iterator[Event],
    seconds: dict[str, float],
    budget: Budget,
    outbox: Outbox,
    go_on: Callable[[], bool],
    request_finish: Callable[[], None] | None,
) -> Ending:
    """Take one part's events; ``go_on`` waits during a pause and tells whether to stop."""
    spent, queries = 0.0, outbox.last.queries
    found_at = 0.0
    ending: Ending = "done"
    used_up: Ending = "done"
    timed_events = timed(events, seconds)
    try:
        counted = True  # findings are followed at once by the progress that counts them
        while True:
            if ending == "done" and counted:
                ending = used_up if go_on() else "stopped"
                if ending != "done":
                    if request_finish is None:
                        return ending
                    request_finish()
            started = perf_counter()
            event = next(timed_events, None)
            spent += perf_counter() - started
            if event is None:
                return ending
            outbox.add(event)
            counted = isinstance(event, Progress)
            if isinstance(event, Found) and len(event.rows):
                found_at = spent
            if counted and _used_up(budget, spent, outbox.last.queries - queries):
                used_up = "budget"
            elif counted and budget.idle is not None and spent - found_at >= budget.idle:
                used_up = "idle"
    finally:
        if isinstance(events, Generator):
            events.close()


def _wait(controls: Controls, call: int, outbox: Outbox) -> bool:
    """Wait while the call is to pause; tell whether it goes on."""
    while controls.paused(call):
        outbox.flush()
        controls.wait(call)
    return not controls.stopped(call)


def _used_up(budget: Budget, seconds: float, queries: int) -> bool:
    return (budget.seconds is not None and seconds >= budget.seconds) or (
        budget.queries is not None and queries >= budget.queries
    )
