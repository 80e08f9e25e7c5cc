"""One child process as its parent sees it: its pipes, its log, and how it ended in plain words."""

from __future__ import annotations

import atexit
import functools
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import IO, BinaryIO

from fairdesk.audit.sandbox import kernel_cache
from fairdesk.audit.sandbox.confinement import Confinement
from fairdesk.audit.sandbox.folders import COMPARING
from fairdesk.audit.sandbox.sandbox import Given, Sandbox, clean_up
from fairdesk.audit.worker import frames, wire
from fairdesk.errors import WorkerError

log = logging.getLogger(__name__)

#: The process that serves the model, started afresh, so that it shares nothing with the app.
#: ``-P`` keeps modules that lie in the current folder from being imported.
GUEST = (sys.executable, "-P", "-m", "fairdesk.audit.worker.guest")
#: One that compares instances with the data, and opens no model.
COMPARING_GUEST = (*GUEST, COMPARING)
#: Frames that wait for their reader; beyond, the child waits.
WAITING_FRAMES = 16
#: Lines of a child's standard error that are logged; a model that prints at every call has more.
LOGGED_LINES = 500
#: Lines of it that are quoted when the child dies.
LAST_LINES, LAST_LETTERS = 20, 500

#: How often it is looked at what a child has written.
WATCH_SECONDS = 1.0
#: How long a child that has closed its output, or was killed, may take to end.
_END_SECONDS = 2.0

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

Received = frames.Frame[wire.FromGuest]
Outgoing = tuple[int, wire.ToGuest]


class _Guest:
    """What the threads of a child share. They hold no reference to the `Child` itself."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self.command = command
        self.incoming: queue.Queue[Received | WorkerError] = queue.Queue(WAITING_FRAMES)
        self.outgoing: queue.SimpleQueue[Outgoing | None] = queue.SimpleQueue()
        self.answered = threading.Event()
        self.last_lines: deque[str] = deque(maxlen=LAST_LINES)
        self.confinement: Confinement | None = None
        #: Set when there is a folder, a process, and a process that has introduced itself; or
        #: when there never will be.
        self.housed, self.started, self.met = (threading.Event() for _ in range(3))
        self.over = threading.Event()
        self.dropped = threading.Event()
        self.sandbox: Sandbox | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self.wrapped = False
        self.verdict: WorkerError | None = None
        self._lock = threading.Lock()
        self._reaped = False

    def start(self, way: tuple[str, ...], sandbox: Sandbox) -> subprocess.Popen[bytes] | None:
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
            self.wrapped = way[-len(self.command) :] == self.command != way
            self._reaped = False
        self.started.set()
        return self.process

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

    def drop(self) -> None:
        """End it, and let the threads end."""
        self.dropped.set()
        self.outgoing.put(None)
        self.signal(_KILL)

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
        until = monotonic() + _END_SECONDS
        while not self.ended() and monotonic() < until:
            sleep(0.005)
        self.signal(_KILL)
        with self._lock:
            assert self.process is not None, "it was started"  # noqa: S101 - for mypy
            self._reaped = True
            code = self.process.wait()
        # bubblewrap tells the signal that ended what it wrapped as a shell does
        return _SIGNALLED - code if self.wrapped and code > _SIGNALLED else code


class Child:
    """A running child process, confined as far as this system can.

    It is started in the background: nothing here blocks but `receive`, `give`, `confinement` and
    `pid`.

    When the last reference goes, or the interpreter ends, the process is killed with all that it
    has started; should the app itself be killed, the child ends because its standard input does.

    Parameters
    ----------
    command : sequence of str
        What to start; speaks `fairdesk.audit.worker.wire` on its standard input and output.
    """

    def __init__(self, command: Sequence[str] = GUEST) -> None:
        self._guest = _Guest(tuple(command))
        self._finalizer = weakref.finalize(self, self._guest.drop)
        self._finalizer.atexit = False  # _end_all does that, and more
        _LIVING.add(self._guest)
        threading.Thread(target=_live, args=(self._guest,), daemon=True).start()

    @property
    def pid(self) -> int:
        """The process's number; waits until it has one."""
        self._guest.started.wait()
        process = self._guest.process
        return -1 if process is None else process.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs, or is about to."""
        guest = self._guest
        ended = guest.over.is_set() or (guest.confinement is not None and guest.ended())
        return self._finalizer.alive and not ended

    @property
    def came_too_early(self) -> bool:
        """Whether it would have to compile for itself what another would be given by now."""
        sandbox = self._guest.sandbox
        return sandbox is not None and not sandbox.compiled and kernel_cache.is_made()

    def confinement(self, timeout: float) -> Confinement | None:
        """Return what it found that it cannot do; nothing when it has not told in time."""
        self._guest.met.wait(timeout)
        return self._guest.confinement

    def give(self, slot: str, path: Path, *, link: bool = False) -> Given | None:
        """Let it read a file: `fairdesk.audit.sandbox.sandbox.Sandbox.give`."""
        self._guest.housed.wait()
        sandbox = self._guest.sandbox
        return None if sandbox is None else sandbox.give(slot, path, link=link)

    def take(self, slot: str) -> None:
        """Take a file away again."""
        if self._guest.sandbox is not None:
            self._guest.sandbox.take(slot)

    def in_original_words(self, text: str) -> str:
        """Put the user's names of files into its text."""
        sandbox = self._guest.sandbox
        return text if sandbox is None else sandbox.in_original_words(text)

    def ask(self, call: int, message: wire.Request) -> None:
        """Send a request; `answered` is then set at the end of it."""
        self._guest.answered = threading.Event()
        if self._guest.over.is_set():
            self._guest.answered.set()
        self._guest.outgoing.put((call, message))

    def tell(self, call: int, message: wire.Control) -> None:
        """Send a control message about a running request."""
        self._guest.outgoing.put((call, message))

    def receive(self, timeout: float) -> Received:
        """Return the next frame.

        Raises
        ------
        queue.Empty
            When none came within ``timeout`` seconds.
        WorkerError
            When the process has ended or broke the protocol, told in plain words.
        """
        item = self._guest.incoming.get(timeout=timeout)
        if isinstance(item, WorkerError):
            self.kill()
            raise item
        return item

    @property
    def answered(self) -> threading.Event:
        """Set when the running request is over, or the process; each request has its own."""
        return self._guest.answered

    def terminate(self) -> None:
        """Ask the process to end."""
        self._guest.signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the process at once; harmless when it has ended."""
        self._finalizer()


#: What was started before anybody asked for it.
_EARLY: list[Child] = []


def start_early() -> None:
    """Start a process for a model while the rest of the program is loaded."""
    _EARLY.append(Child())


def start(command: Sequence[str]) -> Child:
    """Return a child process: one that was started early, where it is of the same command."""
    if _EARLY and tuple(command) == GUEST:
        return _EARLY.pop()
    return Child(command)


_LIVING: weakref.WeakSet[_Guest] = weakref.WeakSet()
_clean_up = functools.cache(clean_up)


@atexit.register
def _end_all() -> None:
    """End all children, and wait until their folders are gone."""
    living = list(_LIVING)
    for guest in living:
        guest.drop()
    until = monotonic() + _END_SECONDS
    for guest in living:
        guest.over.wait(max(until - monotonic(), 0.0))


def _live(guest: _Guest) -> None:
    """Be with a process from its beginning to its end; a thread."""
    try:
        sandbox = guest.sandbox = Sandbox(guest.command)
    except OSError as error:
        _finish(guest, _not_started(error))
        return
    guest.housed.set()
    end = _not_started(None)
    try:
        for way in sandbox.ways():
            try:
                process = guest.start(way, sandbox)
            except OSError as error:
                end = _not_started(error)
                continue
            if process is None:
                break
            stderr = threading.Thread(target=_log_lines, args=(guest, process), daemon=True)
            stderr.start()
            end = _converse(guest, process, stderr)
            if guest.confinement is not None or guest.dropped.is_set():
                break
            log.warning("worker process %d did not begin: %s", process.pid, end)
    finally:
        try:
            sandbox.remove()
        finally:
            _finish(guest, end)
    _clean_up()


def _finish(guest: _Guest, end: WorkerError) -> None:
    for event in (guest.housed, guest.started, guest.met, guest.answered):
        event.set()
    guest.over.set()
    _hand_over(guest, end)


def _not_started(error: OSError | None) -> WorkerError:
    return WorkerError(
        "The model process could not be started.",
        why="" if error is None else f"The system reported: {error}.",
        remedy="Close other programs and try again.",
    )


def _converse(
    guest: _Guest, process: subprocess.Popen[bytes], stderr: threading.Thread
) -> WorkerError:
    """Hand frames over until the process has ended; says how."""
    stream = _pipe(process.stdout)
    try:
        while (frame := wire.read_from_guest(stream)) is not None:
            if guest.confinement is None:
                _meet(guest, process, frame)
                continue
            if not isinstance(frame.message, wire.UNDERWAY):
                guest.answered.set()
            _hand_over(guest, frame)
            del frame
        code = guest.reap()
        stderr.join(1.0)
        end = guest.verdict or describe_end(code, "\n".join(guest.last_lines))
    except WorkerError as error:
        end = error
    except MemoryError:
        end = WorkerError(
            "The model process sent more data than fit in this computer’s memory.",
            remedy="Close other programs, or audit with fewer rows.",
        )
    guest.signal(_KILL)
    guest.reap()
    stream.close()
    if not guest.dropped.is_set():
        log.warning("worker process %d: %s\n%s", process.pid, end, "\n".join(guest.last_lines))
    return end


def _meet(guest: _Guest, process: subprocess.Popen[bytes], frame: Received) -> None:
    """Take the first frame: what the process found that it cannot do. Nothing is sent before."""
    if not isinstance(frame.message, wire.Hello):
        raise frames.malformed("it does not begin with a greeting")
    guest.confinement = frame.message.confinement
    guest.met.set()
    threading.Thread(target=_write, args=(guest, process), daemon=True).start()
    threading.Thread(target=_watch, args=(guest,), daemon=True).start()


def _watch(guest: _Guest) -> None:
    """End a process that writes more than it may, and what is left of one that has ended."""
    while not guest.over.wait(WATCH_SECONDS) and guest.sandbox is not None:
        if guest.ended():
            guest.signal(_KILL)
        elif guest.sandbox.overfull():
            guest.verdict = WorkerError(
                "The model process wrote more to the disk than is permitted.",
                why="A model does not need to write to the disk.",
                remedy="It was ended, and what it wrote was deleted. Do not trust this model file.",
            )
            guest.signal(_KILL)
            return


def _write(guest: _Guest, process: subprocess.Popen[bytes]) -> None:
    """Write what is to be sent; a thread, so that a child that does not read blocks nobody."""
    stream = _pipe(process.stdin)
    try:
        while (item := guest.outgoing.get()) is not None:
            call, message = item
            frames.write(stream, call, message)
            del item, message
    except WorkerError as error:
        _hand_over(guest, error)
    except OSError:
        log.debug("the child no longer reads")
    finally:
        try:
            stream.close()
        except OSError:
            log.debug("the pipe was closed with bytes left in it")


def _hand_over(guest: _Guest, item: Received | WorkerError) -> None:
    """Queue a frame, waiting for its reader unless there is none any more."""
    while True:
        try:
            guest.incoming.put(item, timeout=0.5)
        except queue.Full:
            if guest.dropped.is_set():
                return
        else:
            return


def _log_lines(guest: _Guest, process: subprocess.Popen[bytes]) -> None:
    """Put the child's standard error into the log, and its last lines by."""
    stream = _pipe(process.stderr)
    with stream:
        count = 0
        while line := stream.readline(4096):
            # signs that would command a terminal in which the log is read are left out
            text = "".join(
                sign if sign.isprintable() else " " for sign in line.decode(errors="replace")
            ).rstrip()
            guest.last_lines.append(text[:LAST_LETTERS])
            count += 1
            if count <= LOGGED_LINES:
                log.info("worker process %d: %s", process.pid, text)


def _pipe(stream: IO[bytes] | None) -> BinaryIO:
    assert stream is not None, "every pipe of the child is asked for"  # noqa: S101 - for mypy
    return stream  # type: ignore[return-value]  # the pipes of Popen are binary files


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
