"""The app's handle on the process that holds the model under audit."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Literal, TypeVar

import msgspec
import numpy as np

from fairdesk.audit import wire
from fairdesk.audit.child import GUEST, Child, Received
from fairdesk.audit.spec import RunSpec
from fairdesk.data.domain import Attribute, Domain
from fairdesk.data.table import Dialect, Table
from fairdesk.errors import ERRORS, ModelError, WorkerError
from fairdesk.events import Event, Found, Progress, Rows, Scores
from fairdesk.files import sha256
from fairdesk.models.model import Mapping, ModelCard
from fairdesk.models.proof import Proof

Ending = Literal["done", "stopped", "budget"]
T = TypeVar("T")

#: How often a waiting call looks whether it was paused.
_LOOK_SECONDS = 0.5


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
    terminate : float
        For that; then it is killed.
    """

    table: float = 600.0
    model: float = 180.0
    answer: float = 300.0
    stop: float = 2.0
    terminate: float = 1.0


@dataclass(frozen=True, slots=True)
class _Opened:
    """The model that is to be opened again in a fresh process."""

    path: str
    trusted: bool
    sha256: str
    classes: int


@dataclass(slots=True)
class _Call:
    """The call that is being answered."""

    number: int
    child: Child
    cooperates: bool
    stopped: bool = False
    paused: bool = False


class Searching(Iterator[Event]):
    """The events of a running search. Closing it before its end stops the search.

    Attributes
    ----------
    ending : str, optional
        Once there are no more events: ``"done"``, ``"stopped"`` (by the auditor) or
        ``"budget"`` (used up).
    """

    def __init__(self, events: Generator[Event, None, Ending]) -> None:
        self.ending: Ending | None = None
        self._events = events

    def __next__(self) -> Event:
        try:
            return next(self._events)
        except StopIteration as end:
            self.ending = self.ending or end.value
            raise

    def close(self) -> None:
        """Stop the search if it still runs."""
        self._events.close()


class Worker:
    """One process that reads tables, opens a model and searches; restarted when it dies.

    Calls block: make them from a background thread, one after the other (a second thread waits
    for its turn). `pause`, `resume`, `stop` and `close` return at once and may come from any
    thread. Every call raises `WorkerError` when the process dies, hangs, is stopped, or talks
    nonsense, and other `fairdesk.errors.FairDeskError` for what went wrong inside it.

    Parameters
    ----------
    patience : Patience
        How long to wait for what.
    command : sequence of str
        What to start instead of FairDesk's own guest.
    """

    def __init__(self, patience: Patience | None = None, *, command: Sequence[str] = GUEST) -> None:
        self._patience = patience or Patience()
        self._command = command
        self._turn = threading.Lock()  # held during a call
        self._state = threading.Lock()  # guards what follows; held for moments
        self._closed = False
        self._calls = 0
        self._call: _Call | None = None
        self._opened: _Opened | None = None
        self._opened_in: Child | None = None
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

    def read_table(self, path: Path, dialect: Dialect | None = None) -> Table:
        """Read a CSV file; raises `fairdesk.errors.DataError` like `fairdesk.data.reading`."""
        frame = self._answer(
            wire.ReadTable(_text(path), dialect), (), self._patience.table, "read the data"
        )
        message = _expect(frame, wire.TableRead)
        (codes,) = _arrays(frame, (None, len(message.columns)))
        return Table(message.source, message.columns, codes)

    def open_model(self, path: Path, *, trusted: bool = False) -> ModelCard:
        """Open a model file and keep it open.

        Raises
        ------
        TrustRequiredError
            When the file is a program and ``trusted`` is false; nothing of it has run.
        ModelError
            When it cannot be opened.
        """
        with self._turn:
            self._opened = None
            return self._open(self._living_child(), _text(path), trusted=trusted)

    def prove(self, mapping: Mapping, table: Table, label: str, favourable: str) -> Proof:
        """Check how the open model is fed, on the whole table: `fairdesk.models.proof.check`."""
        frame = self._answer(
            wire.Prove(mapping, table.source, table.columns, label, favourable),
            (table.codes,),
            self._patience.answer,
            "answer for the rows of the table",
        )
        return _expect(frame, wire.Proved).proof

    def predict(self, mapping: Mapping, attributes: tuple[Attribute, ...], rows: Rows) -> Scores:
        """Ask the open model about ``(n, d)`` rows; gives ``(n, k)`` scores."""
        frame = self._answer(
            wire.Predict(mapping, attributes), (rows,), self._patience.answer, "answer"
        )
        _expect(frame, wire.Predicted)
        (scores,) = _arrays(frame, (len(rows), self._width))
        return scores.astype(np.float32, copy=False)

    def search(self, mapping: Mapping, domain: Domain, people: Rows, run: RunSpec) -> Searching:
        """Run a method on the open model; it starts with the first event that is asked for.

        Events come at most about 20 times a second, findings gathered in between; the last event
        of a search that was not cut off is a `Progress`. While it is paused its last
        progress is told once more. A search that is stopped ends like one that is done.
        """
        return Searching(self._search(wire.Search(mapping, domain, run), people))

    def pause(self) -> None:
        """Hold the running search between two events; nothing without one."""
        self._control(wire.Pause())

    def resume(self) -> None:
        """Let a paused search go on."""
        self._control(wire.Resume())

    def stop(self) -> None:
        """End what is running; nothing without it.

        A search stops between two events, or when it does not within two seconds its process is
        ended: either way it simply has no more events. Any other call is ended with its process
        at once, and raises `WorkerError`.
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
                child = call.child
                args = (child, child.answered, self._patience)
                threading.Thread(target=_insist, args=args).start()

    def _search(self, request: wire.Search, people: Rows) -> Generator[Event, None, Ending]:
        with self._turn:
            frames = self._frames(request, (people,), self._patience.answer, "take the next step")
            try:
                for frame in frames:
                    if isinstance(frame.message, wire.SearchEnded):
                        return frame.message.ending
                    yield _event(frame, request.domain, self._width)
            except _StoppedError:
                return "stopped"
            except GeneratorExit:
                self.stop()
                with suppress(WorkerError):
                    deque(frames, maxlen=0)  # until it is over
                raise
            finally:
                frames.close()
        raise _nonsense("a search ended without saying so")

    def _answer(
        self, request: wire.Request, arrays: Sequence[wire.Array], patience: float, doing: str
    ) -> Received:
        """Make a call that has one answer."""
        with self._turn:
            return deque(self._frames(request, arrays, patience, doing), maxlen=1).pop()

    def _frames(
        self, request: wire.Request, arrays: Sequence[wire.Array], patience: float, doing: str
    ) -> Generator[Received, None, None]:
        """Make a call on a living child, with the model open again that was open before."""
        child = self._living_child()
        if (
            self._opened is not None
            and self._opened_in is not child
            and not isinstance(request, wire.ReadTable)
        ):
            self._reopen(child, self._opened)
        yield from self._converse(child, request, arrays, patience, doing)

    def _open(self, child: Child, path: str, *, trusted: bool) -> ModelCard:
        request = wire.OpenModel(path, trusted)
        frames = self._converse(child, request, (), self._patience.model, "open the model")
        fingerprint = _fingerprint(path)
        card = _expect(deque(frames, maxlen=1).pop(), wire.ModelOpened).card
        # what the file's own code tells about the file is not to be relied on
        card = msgspec.structs.replace(card, path=path, sha256=fingerprint)
        self._opened = _Opened(path, trusted, fingerprint, len(card.classes))
        self._opened_in = child
        return card

    def _reopen(self, child: Child, before: _Opened) -> None:
        """Open the model of before in a fresh process, unless another file has taken its place.

        Looked at before it is opened: the auditor agreed to run that file, not this one.
        """
        found = _fingerprint(before.path)
        if found and found != before.sha256:
            raise ModelError(
                "The model file has changed since it was opened.",
                why=f"Its fingerprint was {before.sha256[:12]}…, now it is {found[:12]}….",
                remedy="Put the earlier file back, or begin a new audit with this one.",
            )
        self._open(child, before.path, trusted=before.trusted)

    @property
    def _width(self) -> int | None:
        """How many scores the open model gives for a row; ``None`` without one."""
        if self._opened is None:
            return None
        return 1 if self._opened.classes == 2 else self._opened.classes

    def _living_child(self) -> Child:
        with self._state:
            if self._closed:
                raise WorkerError("The process that holds the model was closed.")
            if not self._child.alive:
                self._child = Child(self._command)
            return self._child

    def _converse(
        self,
        child: Child,
        request: wire.Request,
        arrays: Sequence[wire.Array],
        patience: float,
        doing: str,
    ) -> Iterator[Received]:
        """Yield the frames of one call; the last is its answer."""
        with self._state:
            self._calls += 1
            call = self._call = _Call(
                self._calls, child, cooperates=isinstance(request, wire.Search)
            )
            # before anybody can tell the child to stop it
            child.ask(call.number, request, arrays)
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
                        raise _hung(doing, patience) from None
                    continue
                except WorkerError as error:
                    if call.stopped:
                        raise _StoppedError("The work was stopped.") from error
                    raise
                if frame.call != call.number:
                    raise _nonsense("it answers a call that was not made")
                since = monotonic()
                over = not isinstance(frame.message, wire.SearchFound | wire.SearchProgress)
                if isinstance(frame.message, wire.Failed):
                    raise _error(frame.message)
                yield frame
        finally:
            with self._state:
                self._call = None
            if not over:  # whatever it still says belongs to nothing
                child.kill()


class _StoppedError(WorkerError):
    """The process had to be ended because it did not stop by itself."""


def _fingerprint(path: str) -> str:
    """Give a file's SHA-256; nothing for one that cannot be read, which is told on opening."""
    try:
        return sha256(Path(path))
    except OSError:
        return ""


def _insist(child: Child, answered: threading.Event, patience: Patience) -> None:
    """End a process that does not stop by itself."""
    if not answered.wait(patience.stop):
        child.terminate()
        if not answered.wait(patience.terminate):
            child.kill()


def _text(path: Path) -> str:
    """Give a path as text that can be sent, and kept in the audit file."""
    text = str(path.absolute())
    try:
        text.encode()
    except UnicodeEncodeError:
        shown = text.encode(errors="replace").decode()
        raise WorkerError(
            f"The name of “{shown}” has bytes that are no letters.",
            why="It was most likely written by another system, in an old encoding.",
            remedy="Rename the file, or the folder that it is in.",
        ) from None
    return text


def _event(frame: Received, domain: Domain, width: int | None) -> Event:
    """Make an event of a frame, if its findings are people of the domain."""
    message = frame.message
    if isinstance(message, wire.SearchProgress):
        return Progress(
            message.phase,
            message.done,
            message.total,
            message.tried,
            message.found,
            message.queries,
            message.seconds,
        )
    found = _expect(frame, wire.SearchFound)
    n, d = (len(frame.arrays[0]) if frame.arrays else 0), len(domain.attributes)
    rows, partners, row_scores, partner_scores, alone = _arrays(
        frame, (n, d), (n, d), (n, width), (n, width), (n, len(domain.protected))
    )
    others = domain.others
    if not (
        domain.contains(rows).all()
        and domain.contains(partners).all()
        and (rows[:, others] == partners[:, others]).all()
        and np.isfinite(row_scores).all()
        and np.isfinite(partner_scores).all()
    ):
        raise _nonsense("it found people whom it was not asked about")
    return Found(
        rows=rows.astype(np.float64, copy=False),
        partners=partners.astype(np.float64, copy=False),
        row_scores=row_scores.astype(np.float32, copy=False),
        partner_scores=partner_scores.astype(np.float32, copy=False),
        alone=alone.astype(np.bool_, copy=False),
        phase=found.phase,
    )


def _expect(frame: Received, kind: type[T]) -> T:
    if not isinstance(frame.message, kind):
        raise _nonsense(f"{type(frame.message).__name__} is no answer here")
    return frame.message


def _arrays(frame: Received, *shapes: tuple[int | None, int | None]) -> tuple[wire.Array, ...]:
    """Give a frame's arrays if they have these shapes; ``None`` is any length."""
    fits = len(frame.arrays) == len(shapes) and all(
        array.ndim == 2
        and all(want in (None, got) for want, got in zip(shape, array.shape, strict=True))
        for array, shape in zip(frame.arrays, shapes, strict=True)
    )
    if not fits:
        raise _nonsense("its arrays have shapes that do not fit the question")
    return frame.arrays


def _error(failed: wire.Failed) -> Exception:
    kind = ERRORS.get(failed.kind, WorkerError)
    return kind(failed.what, why=failed.why, remedy=failed.remedy)


def _hung(doing: str, patience: float) -> WorkerError:
    return WorkerError(
        f"The process that holds the model did not {doing} within {patience:g} seconds.",
        why="It hangs, or the model is very slow; it was ended.",
        remedy="Results so far are kept. Try again with fewer rows or seeds, or the model in "
        "another format, for example ONNX.",
    )


def _nonsense(why: str) -> WorkerError:
    return WorkerError(
        "The process that holds the model gave an answer that does not fit the question.",
        why=f"Detail: {why[:200]}.",
        remedy="Results so far are kept. If it happens again, do not trust this model file.",
    )
