"""Guests that tests hand on: to start one, and the libraries that it imports, costs seconds.

One that is busy is ended as ever. One that has run a model's own code stays, which no product does:
the models of the tests that share guests do nothing to what runs after them.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence

from fairdesk.audit.sandbox.process import GUEST
from fairdesk.audit.worker import conversation
from fairdesk.audit.worker.child import Child
from fairdesk.audit.worker.client import Worker

#: Each may hold half a gigabyte.
_MOST = 3

_idle: list[tuple[tuple[str, ...], Child]] = []
_lock = threading.Lock()
#: Where workers begin to count their calls: a guest never sees a number twice.
_firsts = itertools.count(step=100_000)


def _take(command: Sequence[str] = GUEST) -> Child:
    """Return a guest that another worker has done with, else a new one."""
    with _lock:
        _idle[:] = [each for each in _idle if each[1].alive]
        for place, (begun_by, child) in enumerate(_idle):
            if begun_by == tuple(command):
                del _idle[place]
                return child
    return Child(command)


def _give_back(worker: Worker) -> None:
    """End a worker but not its guest, unless that is busy; the one that waited longest goes."""
    with worker._state:
        if worker._closed:
            return
        worker._closed = True
        child, busy = worker._child, worker._call is not None
    if busy:
        child.kill()
        return
    with _lock:
        _idle.append((tuple(worker._command), child))
        while len(_idle) > _MOST:
            _idle.pop(0)[1].kill()


def end_idle():
    """End all that wait: what comes next starts a guest of its own."""
    with _lock:
        while _idle:
            _idle.pop()[1].kill()


def _any_child(worker: Worker, command: Sequence[str] | None = None) -> Child:
    """Return a worker's guest, whatever it has run."""
    return worker._living_child(command or worker._default)


def share(monkeypatch):
    """Let workers, however they are made, use the guests of those that were closed."""
    begin = Worker.__init__

    def begin_later(self, *args, **kwargs):
        begin(self, *args, **kwargs)
        self._calls = next(_firsts)

    monkeypatch.setattr(conversation, "Child", _take)
    monkeypatch.setattr(Worker, "__init__", begin_later)
    monkeypatch.setattr(Worker, "close", _give_back)
    monkeypatch.setattr(Worker, "_clean_child", _any_child)
    alive = property(lambda self: not self._closed and self._child.alive)
    monkeypatch.setattr(Worker, "alive", alive)
