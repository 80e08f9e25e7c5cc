"""The process that holds the model, as the app speaks to it: one call after the other."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import get_args

from fairdesk.audit.catalogue.method import UNTIMED
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.sandbox.folders import Confinement, unknown
from fairdesk.audit.sandbox.process import GUEST
from fairdesk.audit.worker import wire
from fairdesk.audit.worker.answer_checks import MOST_TEXT, check_card, expect, nonsense
from fairdesk.audit.worker.child import Child, GivenModel, Received
from fairdesk.errors import ERRORS, WorkerError
from fairdesk.models.model import Mapping, ModelCard
from fairdesk.results.events import Event, Progress

#: How often a waiting call looks whether it was paused.
_LOOK_SECONDS = 0.5

#: What a run yields.
EVENTS: tuple[type[Event], ...] = get_args(Event)

#: What may come before the answer, by request; anything else would only keep the app waiting.
_BEFORE: dict[type, tuple[type, ...]] = {
    wire.ReadTable: (wire.TableProgress,),
    wire.CheckAllRows: (wire.TableProgress,),
    wire.Search: EVENTS,
}


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the app waits, in seconds, before it takes the process for hung.

    Attributes
    ----------
    table : float
        For a table to be read.
    model : float
        For a model to be opened.
    answer : float
        For predictions, and between two events of a search.
    stop : float
        For a stopped search to end by itself; then the process is asked to end.
    finish : float
        The same for a search that has results, and still says what it came to.
    terminate : float
        For that; then it is killed.
    """

    table: float = 600.0
    model: float = 180.0
    answer: float = 300.0
    stop: float = 2.0
    finish: float = 30.0
    terminate: float = 1.0


@dataclass(frozen=True, slots=True)
class _Opened:
    """The model that is to be opened again in a fresh process."""

    request: wire.OpenModel
    command: Sequence[str]
    card: ModelCard


@dataclass(slots=True)
class _Call:
    """The call that is being answered.

    Attributes
    ----------
    cooperates : bool
        Whether it can stop by itself: a search, unless it compiles.
    finishes, measured : bool
        Whether it says what it came to when it is stopped, and whether it has any result.
    """

    number: int
    child: Child
    cooperates: bool
    finishes: bool
    measured: bool = False
    stopped: bool = False
    paused: bool = False

    def hear(self, message: object) -> None:
        """Note by what it says how far a search is."""
        if isinstance(message, Progress):
            self.cooperates = message.phase not in UNTIMED
        elif isinstance(message, EVENTS):
            self.measured = True


class StoppedError(WorkerError):
    """The process had to be ended because it did not stop by itself."""


class Conversation:
    """One process, restarted when it dies, that answers one call after the other.

    Parameters
    ----------
    command : sequence of str
        What to start instead of FairDesk's own guest.
    """

    def __init__(self, patience: Patience | None = None, *, command: Sequence[str] = GUEST) -> None:
        self._patience = patience or Patience()
        self._default = self._command = command
        self._turn = threading.Lock()  # held during a call
        self._state = threading.Lock()  # guards what follows; held for moments
        self._closed = False
        self._calls = 0
        self._call: _Call | None = None
        self._opened: _Opened | None = None
        self._opened_in: Child | None = None
        self._tainted: Child | None = None  # it was told to run the code of a model file
        self._child = Child(command)

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._child.alive

    @property
    def paused(self) -> bool:
        """Whether the running search was asked to pause."""
        call = self._call
        return call is not None and call.paused

    def confinement(self) -> Confinement:
        """Return what the process cannot do: it has tried, before it read anything.

        Waits until the process has started.
        """
        confinement = self._living_child(self._command).confinement(self._patience.model)
        return confinement or unknown()

    def pause(self) -> None:
        """Hold the running search between two events; nothing without one."""
        self._control(wire.Pause())

    def resume(self) -> None:
        """Let a paused search go on."""
        self._control(wire.Resume())

    def stop(self) -> None:
        """End what is running; nothing without it.

        A search stops between two events, or when it does not within two seconds its process is
        ended: either way it simply has no more events. One that compiles is ended with its process
        at once, as is any other call, which raises `WorkerError`.
        """
        self._control(wire.Stop())

    def close(self) -> None:
        """End the process for good. May be repeated."""
        with self._state:
            self._closed = True
        self._child.kill()

    def _control(self, message: wire.Control) -> None:
        with self._state:
            call = self._call
            if call is None or call.stopped:
                return
            if isinstance(message, wire.Stop) and not call.cooperates:
                call.stopped = True
                call.child.kill()
                return
            call.child.tell(call.number, message)
            call.paused = isinstance(message, wire.Pause)
            call.stopped = isinstance(message, wire.Stop)
            if call.stopped:
                child, patience = call.child, self._patience
                first = patience.finish if call.finishes and call.measured else patience.stop
                args = (child, child.answered, patience, first)
                threading.Thread(target=_insist, args=args).start()

    def _answer(self, request: wire.Request, patience: float, doing: str) -> Received:
        """Make a call that has one answer."""
        with self._turn:
            return deque(self._frames(request, patience, doing), maxlen=1).pop()

    def _frames(
        self, request: wire.Request, patience: float, doing: str
    ) -> Generator[Received, None, None]:
        """Make a call on a living child, with the model open again that was open before."""
        before = self._opened
        child = self._living_child(self._command if before is None else before.command)
        if before is not None and self._opened_in is not child:
            self._open(child, before.request, before.command, before.card)
        yield from self._converse(child, request, patience, doing)

    def _open(
        self,
        child: Child,
        request: wire.OpenModel,
        command: Sequence[str],
        before: ModelCard | None = None,
    ) -> ModelCard:
        """Open a model; again, if it is that of ``before`` and no other has taken its place."""
        self._opened_in = None
        given = GivenModel(child, request)
        # before it is opened: the auditor agreed to run that file, and not this one
        given.check(before)
        if given.runs_code:
            self._tainted = child
        answers = self._converse(child, given.request, self._patience.model, "open the model")
        card = expect(deque(answers, maxlen=1).pop(), wire.ModelOpened).card
        check_card(card)
        card = given.in_original_words(card)
        self._opened = _Opened(request, command, card)
        self._opened_in = child
        return card

    def _remedy(self, request: wire.Request) -> str:
        """Say what to do when a request is not answered in time, by what it is about."""
        if isinstance(request, wire.ReadTable):
            return "Try again with a smaller file, or when the computer is less busy."
        opened = request if isinstance(request, wire.OpenModel) else None
        if opened is None and self._opened is not None:
            opened = self._opened.request
        asked = "ask the author of the model why it takes so long"
        if opened is not None and not opened.path.casefold().endswith(".onnx"):
            asked += ", or request it as ONNX"
        return f"Results so far are kept. Try again with fewer rows or starting rows, or {asked}."

    def _width(self, mapping: Mapping) -> int | None:
        """How many scores the fed model gives for a row; ``None`` without a model."""
        if self._opened is None:
            return None
        decisions = len(mapping.decisions(self._opened.card))
        return 1 if decisions == 2 else decisions

    def _clean_child(self, command: Sequence[str] | None = None) -> Child:
        """Return a process in which no code of a model file has run that could meddle."""
        return self._living_child(command or self._default, clean=True)

    def _living_child(self, command: Sequence[str], *, clean: bool = False) -> Child:
        with self._state:
            if self._closed:
                raise WorkerError("The model process was closed.")
            tainted = clean and self._tainted is self._child
            if tainted or not self._child.alive or command != self._command:
                self._child.kill()
                self._child = Child(command)
                self._command = command
            return self._child

    def _converse(
        self, child: Child, request: wire.Request, patience: float, doing: str
    ) -> Iterator[Received]:
        """Yield the frames of one call; the last is its answer."""
        with self._state:
            self._calls += 1
            run = request.run if isinstance(request, wire.Search) else None
            method = None if run is None else METHODS.get(run.method)
            finishes = method is not None and method.finishes
            call = self._call = _Call(self._calls, child, run is not None, finishes)
            # before anybody can tell the child to stop it
            child.ask(call.number, request)
        since = monotonic()
        over = False
        try:
            while not over:
                try:
                    frame = child.receive(min(_LOOK_SECONDS, patience))
                except queue.Empty:
                    if call.paused:
                        since = monotonic()
                    elif monotonic() - since > patience:
                        raise _hung(doing, patience, self._remedy(request)) from None
                    continue
                except WorkerError as error:
                    if call.stopped:
                        raise StoppedError("The work was stopped.") from error
                    raise
                if frame.call != call.number:
                    raise nonsense("it responded to a request that was not made")
                since = monotonic()
                over = not isinstance(frame.message, wire.UNDERWAY)
                if not over and not isinstance(frame.message, _BEFORE.get(type(request), ())):
                    raise nonsense(f"{type(frame.message).__name__} is not a valid response")
                call.hear(frame.message)
                if isinstance(frame.message, wire.Failed):
                    raise _error(frame.message, child)
                yield frame
        finally:
            with self._state:
                self._call = None
            if not over:  # whatever it still says belongs to nothing
                child.kill()


def _insist(child: Child, answered: threading.Event, patience: Patience, first: float) -> None:
    """End a process that does not stop by itself."""
    if not answered.wait(first):
        child.terminate()
        if not answered.wait(patience.terminate):
            child.kill()


def _error(failed: wire.Failed, child: Child) -> Exception:
    kind = ERRORS.get(failed.kind, WorkerError)
    what, why, remedy = (
        child.in_original_words(text[:MOST_TEXT])
        for text in (failed.what, failed.why, failed.remedy)
    )
    return kind(what, why=why, remedy=remedy)


def _hung(doing: str, patience: float, remedy: str) -> WorkerError:
    return WorkerError(
        f"The model process did not {doing} within {patience:g} seconds.",
        why="It does not respond or is very slow; it was ended.",
        remedy=remedy,
    )
