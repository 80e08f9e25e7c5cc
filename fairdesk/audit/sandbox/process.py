"""One child process as the system sees it: its folder, how it starts, and how it ended.

What is said to it is in `fairdesk.audit.worker.child`. Nothing here loads a numeric library: a
command that needs a process for a model starts it before all else (`start_early`).
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from time import monotonic, sleep

from fairdesk.audit.sandbox.folders import COMPARING
from fairdesk.audit.sandbox.sandbox import Sandbox
from fairdesk.errors import WorkerError

#: The process that serves the model, started afresh, so that it shares nothing with the app.
#: ``-P`` keeps modules that lie in the current folder from being imported.
GUEST = (sys.executable, "-P", "-m", "fairdesk.audit.worker.guest")
#: One that compares instances with the data, and opens no model.
COMPARING_GUEST = (*GUEST, COMPARING)
#: How long a child that has closed its output, or was killed, may take to end.
END_SECONDS = 2.0

_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
#: bubblewrap and shells add the signal to this.
_SIGNALLED = 128

#: Exit codes of crashes; Windows knows no bus errors, other systems number them differently.
_CRASHES = {
    -signal.SIGILL: "an instruction that this computer does not support",
    -signal.SIGABRT: "it aborted itself",
    -getattr(signal, "SIGBUS", 7): "an access to memory that does not exist",
    -signal.SIGFPE: "an impossible calculation",
    -signal.SIGSEGV: "an access to memory outside its own",
}
#: Windows ends crashed processes with codes from here on.
_WINDOWS_CRASH = 0xC000_0000
_WINDOWS_NO_MEMORY = 0xC000_0017


class ChildProcess:
    """A process in a folder of its own.

    Attributes
    ----------
    housed, started : threading.Event
        Set when there is a folder, and a process; or when there never will be.
    dropped : threading.Event
        Set when it is no longer wanted.
    sandbox : Sandbox, optional
        Its folder.
    process : subprocess.Popen, optional
        As it was started last.
    attempts : iterator of subprocess.Popen or OSError
        Starts it in each way that there is, the most confining first, until nobody asks any more;
        an error is why one way did not work. Ends at once where it was dropped.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self.command = tuple(command)
        self.housed, self.started, self.dropped = (threading.Event() for _ in range(3))
        self.sandbox: Sandbox | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self.attempts = self._attempts()
        self._wrapped = False
        self._lock = threading.Lock()
        self._reaped = False

    def start_now(self) -> None:
        """Start it in the first way; whoever takes its attempts finds it started."""
        self.attempts = chain([next(self.attempts)], self.attempts)

    def signal(self, number: int) -> None:
        """Send a signal to the process and all that it has started."""
        with self._lock:
            if self.process is None or self._reaped:
                return  # its number may be somebody else's by now
            if hasattr(os, "killpg"):
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.process.pid, number)
            else:
                self.process.terminate()

    def kill(self) -> None:
        """End it, without a word."""
        self.signal(_KILL)

    def drop(self) -> None:
        """End it, and start it no more."""
        self.dropped.set()
        self.kill()

    def ended(self) -> bool:
        """Return whether the process has ended."""
        with self._lock:
            if self.process is None or self._reaped:
                return self._reaped
            if not hasattr(os, "waitid"):
                return self.process.poll() is not None
            # its number must stay its own until its group was ended too
            how = os.WEXITED | os.WNOWAIT | os.WNOHANG
            return os.waitid(os.P_PID, self.process.pid, how) is not None

    def reap(self) -> int:
        """Wait until the process has ended, and end what it has started; gives its exit code.

        Called when it has closed its output: one that does not end then is ended.
        """
        until = monotonic() + END_SECONDS
        while not self.ended() and monotonic() < until:
            sleep(0.005)
        self.kill()
        with self._lock:
            assert self.process is not None, "it was started"  # noqa: S101 - for mypy
            self._reaped = True
            code = self.process.wait()
        # bubblewrap tells the signal that ended what it wrapped as a shell does
        return _SIGNALLED - code if self._wrapped and code > _SIGNALLED else code

    def _attempts(self) -> Iterator[subprocess.Popen[bytes] | OSError]:
        try:
            self.sandbox = Sandbox(self.command)
        except OSError as error:
            yield error
            return
        self.housed.set()
        for way in self.sandbox.ways():
            try:
                process = self._start(way, self.sandbox)
            except OSError as error:
                yield error
                continue
            if process is None:
                return
            yield process

    def _start(self, way: tuple[str, ...], sandbox: Sandbox) -> subprocess.Popen[bytes] | None:
        """Start the process, unless it is no longer wanted."""
        with self._lock:
            if self.dropped.is_set():
                return None
            self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                way,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=sandbox.environment(),
                cwd=sandbox.room.own,
                # Ctrl-C in the terminal is for the app, which then stops the child
                start_new_session=True,
            )
            self._wrapped = way[-len(self.command) :] == self.command != way
            self._reaped = False
        self.started.set()
        return self.process


#: What was started before anybody asked for it.
_EARLY: list[ChildProcess] = []


def start_early() -> None:
    """Start a process for a model before the rest of the program is loaded.

    Not in a thread: each of the hundred small files that are copied for it would wait for the
    interpreter, which is busy with loading.
    """
    early = ChildProcess(GUEST)
    early.start_now()
    _EARLY.append(early)


def take(command: Sequence[str]) -> ChildProcess:
    """Return a process to be started; or one that was started early, if it is of that command."""
    if _EARLY and tuple(command) == GUEST:
        return _EARLY.pop()
    return ChildProcess(command)


@atexit.register
def _end_early() -> None:
    """End what nobody asked for."""
    for each in _EARLY:
        each.drop()
        if each.process is not None:
            each.reap()
        if each.sandbox is not None:
            each.sandbox.remove()


def describe_end(code: int, last_lines: str) -> WorkerError:
    """Say in plain words how a process ended.

    Parameters
    ----------
    code : int
        As `subprocess.Popen.returncode`: negative is the signal that killed it.
    """
    what = "The model process ended unexpectedly."
    kept = "Results so far are kept; the next run starts a new process."
    if "MemoryError" in last_lines or "bad_alloc" in last_lines or code == _WINDOWS_NO_MEMORY:
        return WorkerError(
            "The model process ran out of memory.",
            remedy=f"Close other programs, or audit with fewer rows or starting rows. {kept}",
        )
    if code == -getattr(signal, "SIGXCPU", 24):
        return WorkerError(
            what,
            why="It used up its permitted processor time.",
            remedy=f"Audit with fewer rows or starting rows. {kept}",
        )
    if code == -9:
        return WorkerError(
            what,
            why="It was killed: by the system, most often because memory ran out, or by a user.",
            remedy=f"Close other programs, then run again. {kept}",
        )
    if code in _CRASHES or code >= _WINDOWS_CRASH:
        crash = _CRASHES.get(code, f"code {code:#x}")
        return WorkerError(
            what,
            why=f"It crashed inside the model or its library: {crash} (exit code {code}).",
            remedy=f"Request the model in another format: ONNX, Keras or scikit-learn. {kept}",
        )
    if code < 0:
        return WorkerError(what, why=f"It was ended by signal {-code}.", remedy=kept)
    return WorkerError(
        what,
        why=f"The model’s own code, or its library, ended it (exit code {code}).",
        remedy=f"Ask the author of the model why it ends its process. {kept}",
    )
