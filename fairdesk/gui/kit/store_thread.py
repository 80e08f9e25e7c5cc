"""The audit file, read and written off the window's thread: one connection, one thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import shiboken6
from PySide6.QtCore import QObject, Qt, Signal, Slot

from fairdesk.audit.store.store import Store
from fairdesk.errors import FairDeskError
from fairdesk.gui.kit.threads import unexpected

T = TypeVar("T")

_log = logging.getLogger(__name__)
#: Those whose thread runs; they outlive their owner so that the thread has whom to tell.
_running: set[StoreThread] = set()


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
        _running.add(self)
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
            _running.discard(self)
        if request is None or not shiboken6.isValid(self._owner):
            return
        if error is None:
            if request.done is not None:
                request.done(answer)
        elif request.failed is not None:
            request.failed(error)
        else:
            self.failed.emit(error)
