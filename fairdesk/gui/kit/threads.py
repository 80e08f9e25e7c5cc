"""Work beside the window's thread: a task, the newest of several, and the reading of an audit."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import shiboken6
from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from fairdesk.errors import FairDeskError

if TYPE_CHECKING:
    from fairdesk.audit.store.store import Store

T = TypeVar("T")

_log = logging.getLogger(__name__)
#: Tasks whose thread still runs; they outlive their owner so that the thread has whom to tell.
_running: set[Task] = set()


def unexpected(error: BaseException) -> FairDeskError:
    """Tell a defect in plain words; its traceback belongs in the log, not on the screen."""
    return FairDeskError(
        "An unexpected error occurred in FairDesk.",
        why=f"The error was reported as {type(error).__name__}.",
        remedy=(
            "The details are in the program log (Help, Open log folder). You can continue working."
        ),
    )


class Task(QObject):
    """One call in a thread of its own.

    Signals
    -------
    done : object
        What the call gave; emitted in the window's thread.
    failed : FairDeskError
        Why it gave nothing; a defect is logged and told in plain words.
    ended
        The call is over; emitted even when its result was dropped, before ``done`` or ``failed``.
    """

    done = Signal(object)
    failed = Signal(object)
    ended = Signal()
    _arrived = Signal(object, object)

    def __init__(self, owner: QObject, call: Callable[[], object]) -> None:
        super().__init__()
        self._owner = owner
        self._call = call
        self._dropped = False
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._thread = threading.Thread(target=self._work, name="fairdesk-task", daemon=True)

    def start(self) -> None:
        """Begin; the result comes once control is back in the event loop."""
        _running.add(self)
        self._thread.start()

    def drop(self) -> None:
        """Forget the result. The call itself runs on; neither signal is emitted."""
        self._dropped = True

    def _work(self) -> None:
        try:
            result = self._call()
        except FairDeskError as error:
            self._arrived.emit(None, error)
        except Exception as error:  # noqa: BLE001 - the thread's boundary: logged, told plainly
            _log.error("A background call failed", exc_info=error)
            self._arrived.emit(None, unexpected(error))
        else:
            self._arrived.emit(result, None)

    @Slot(object, object)
    def _deliver(self, result: object, error: FairDeskError | None) -> None:
        _running.discard(self)
        if not shiboken6.isValid(self._owner):
            return
        self.ended.emit()
        if self._dropped:
            return
        if error is None:
            self.done.emit(result)
        else:
            self.failed.emit(error)


def in_background(
    owner: QObject,
    call: Callable[[], T],
    done: Callable[[T], object],
    failed: Callable[[FairDeskError], object],
) -> Task:
    """Run a slow call in a thread and get its result in the window's thread.

    Parameters
    ----------
    owner : QObject
        Whoever asked; when it is gone by then, the result is dropped.
    call : callable
        The slow call; must not touch a widget.

    Returns
    -------
    Task
        Already started; ``drop()`` it to forget its result.
    """
    task = Task(owner, call)
    task.done.connect(done)
    task.failed.connect(failed)
    task.start()
    return task


class Latest(QObject):
    """One slow call at a time, of which only the latest asked for counts.

    While a call runs, newer ones wait; of those only the newest is kept. Results of calls that
    have been overtaken are dropped.

    Signals
    -------
    began, ended
        Work is under way; nothing is left to do. For a busy indicator.
    """

    began = Signal()
    ended = Signal()

    def __init__(self, owner: QObject) -> None:
        super().__init__(owner)
        self._current: Task | None = None
        self._next: Task | None = None

    def ask(
        self,
        call: Callable[[], T],
        done: Callable[[T], object],
        failed: Callable[[FairDeskError], object],
    ) -> None:
        """Ask for a call; its result is given to ``done`` unless a newer one is asked for."""
        task = Task(self, call)
        if self._current is not None:
            self._current.drop()
        # a dropped task still has to end before the next may start, hence its own signal
        task.ended.connect(self._go_on)
        task.done.connect(done)
        task.failed.connect(failed)
        self._next = task
        if self._current is None:
            self.began.emit()
            self._go_on()

    def drop(self) -> None:
        """Forget what is under way and what waits."""
        self._next = None
        if self._current is not None:
            self._current.drop()

    @Slot()
    def _go_on(self) -> None:
        self._current, self._next = self._next, None
        if self._current is None:
            self.ended.emit()
        else:
            self._current.start()


#: Milliseconds between two drawings of a run that goes on.
REDRAW = 300
#: Milliseconds between two things that are done ahead.
_REST = 60


class Soon(QTimer):
    """Calls something a moment after it was asked for, once however often that was.

    Parameters
    ----------
    owner : QObject
        Whoever asks; when it is gone, nothing is called.
    call : callable
        Runs in the window's thread.
    """

    def __init__(self, owner: QObject, call: Callable[[], object]) -> None:
        super().__init__(owner)
        self.setSingleShot(True)
        self.setInterval(REDRAW)
        self.timeout.connect(call)

    def ask(self) -> None:
        """Ask for it; a call that is on its way is not put off."""
        if not self.isActive():
            self.start()


class Ahead(QTimer):
    """Does what can wait, one thing at a time: pages are ready before somebody turns to them.

    Parameters
    ----------
    owner : QObject
        When it is gone, nothing is done.
    """

    def __init__(self, owner: QObject) -> None:
        super().__init__(owner)
        self._waiting: list[Callable[[], object]] = []
        self.setInterval(_REST)
        self.timeout.connect(self._do_next)

    def ask(self, call: Callable[[], object]) -> None:
        """Ask for something to be done; what waits already is done once."""
        if call not in self._waiting:
            self._waiting.append(call)
            self.start()

    def _do_next(self) -> None:
        call = self._waiting.pop(0)
        if not self._waiting:
            self.stop()
        call()


#: Those whose thread runs; they outlive their owner so that the thread has whom to tell.
_open: set[StoreThread] = set()


@dataclass(frozen=True)
class _Request:
    call: Callable[[Store], Any]
    done: Callable[[Any], object] | None
    failed: Callable[[FairDeskError], object] | None


class StoreThread(QObject):
    """Asks the audit file in order, in a thread of its own; answers come in the window's thread.

    `close` it in the end: the thread holds the file until then.

    Sorting a hundred thousand pairs or waiting for the run's own writes takes longer than a
    window may stand still, so that no page asks the store itself.

    Parameters
    ----------
    owner : QObject
        The window's part that asks. When it is gone, answers are dropped.

    Signals
    -------
    failed : FairDeskError
        A request without its own ``failed`` could not be answered.
    """

    failed = Signal(object)
    _arrived = Signal(object, object, object)

    def __init__(self, path: Path, owner: QObject) -> None:
        super().__init__()
        self._path = path
        self._owner = owner
        self._requests: dict[Hashable, _Request] = {}
        self._wake = threading.Condition()
        self._closed = False
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._thread = threading.Thread(target=self._work, name="fairdesk-store", daemon=True)
        _open.add(self)
        self._thread.start()

    def ask(
        self,
        call: Callable[[Store], T],
        done: Callable[[T], object] | None = None,
        failed: Callable[[FairDeskError], object] | None = None,
        *,
        key: Hashable = None,
    ) -> None:
        """Put a request in the queue.

        Parameters
        ----------
        call : callable
            Given the store, in the thread; must not touch a widget.
        done, failed : callable, optional
            Given the answer or the error, in the window's thread.
        key : hashable, optional
            A request that still waits under the same key is replaced by this one.
        """
        with self._wake:
            if self._closed:
                return
            name = object() if key is None else key
            self._requests.pop(name, None)
            self._requests[name] = _Request(call, done, failed)
            self._wake.notify()

    def close(self) -> None:
        """Answer what was asked, close the file, and wait for that."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        self._thread.join(timeout=10)

    def _work(self) -> None:
        # numeric libraries, which the first paint does not wait for
        from fairdesk.audit.store.store import Store  # noqa: PLC0415

        store: Store | None = None
        while (request := self._next()) is not None:
            try:
                if store is None:
                    store = Store.open(self._path)
                answer = request.call(store)
            except FairDeskError as error:
                self._arrived.emit(request, None, error)
            except Exception as error:  # noqa: BLE001 - the thread's boundary: logged, told plainly
                _log.error("A question to the audit file failed", exc_info=error)
                self._arrived.emit(request, None, unexpected(error))
            else:
                self._arrived.emit(request, answer, None)
        if store is not None:
            store.close()
        self._arrived.emit(None, None, None)

    def _next(self) -> _Request | None:
        """Wait for the oldest request; nothing when the thread is to end."""
        with self._wake:
            self._wake.wait_for(lambda: self._closed or self._requests)
            if not self._requests:
                return None
            return self._requests.pop(next(iter(self._requests)))

    @Slot(object, object, object)
    def _deliver(
        self, request: _Request | None, answer: object, error: FairDeskError | None
    ) -> None:
        if request is None:
            _open.discard(self)
        if request is None or not shiboken6.isValid(self._owner):
            return
        if error is None:
            if request.done is not None:
                request.done(answer)
        elif request.failed is not None:
            request.failed(error)
        else:
            self.failed.emit(error)
