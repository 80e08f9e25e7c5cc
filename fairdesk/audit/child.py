"""One child process as its parent sees it: its pipes, its log, and how it ended in plain words."""

from __future__ import annotations

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
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, BinaryIO

import fairdesk
from fairdesk.audit import wire
from fairdesk.errors import WorkerError

log = logging.getLogger(__name__)

#: The process that serves the model, started afresh, so that it shares nothing with the app.
#: ``-P`` keeps modules that lie in the current folder from being imported.
GUEST = (sys.executable, "-P", "-m", "fairdesk.audit.guest")
#: Frames that wait for their reader; beyond, the child waits.
WAITING_FRAMES = 16
#: Lines of a child's standard error that are logged; a model that prints at every call has more.
LOGGED_LINES = 500
#: Lines of it that are quoted when the child dies.
LAST_LINES = 20

#: Exit codes of crashes; Windows knows no bus errors, other systems number them differently.
_CRASHES = {
    -signal.SIGILL: "an instruction that this computer does not know",
    -signal.SIGABRT: "it aborted itself",
    -getattr(signal, "SIGBUS", 7): "an access to memory that is not there",
    -signal.SIGFPE: "an impossible calculation",
    -signal.SIGSEGV: "an access to memory that is not its own",
}
#: Windows ends crashed processes with codes from here on.
_WINDOWS_CRASH = 0xC000_0000
_WINDOWS_NO_MEMORY = 0xC000_0017

Received = wire.Frame[wire.FromGuest]
Outgoing = tuple[int, wire.ToGuest, Sequence[wire.Array]]


@dataclass(slots=True)
class _Pipes:
    """What the threads of a child share. They hold no reference to the `Child` itself."""

    process: subprocess.Popen[bytes]
    incoming: queue.Queue[Received | WorkerError] = field(
        default_factory=lambda: queue.Queue(WAITING_FRAMES)
    )
    outgoing: queue.SimpleQueue[Outgoing | None] = field(default_factory=queue.SimpleQueue)
    answered: threading.Event = field(default_factory=threading.Event)
    dropped: threading.Event = field(default_factory=threading.Event)
    last_lines: deque[str] = field(default_factory=lambda: deque(maxlen=LAST_LINES))


class Child:
    """A running child process. Nothing here blocks but `receive`.

    When the last reference goes, or the interpreter ends, the process is killed; should the app
    itself be killed, the child ends because its standard input does.

    Parameters
    ----------
    command : sequence of str
        What to start; speaks `fairdesk.audit.wire` on its standard input and output.

    Raises
    ------
    WorkerError
        When the process cannot be started.
    """

    def __init__(self, command: Sequence[str] = GUEST) -> None:
        try:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=_environment(),
                # Ctrl-C in the terminal is for the app, which then stops the child
                start_new_session=True,
            )
        except OSError as error:
            raise WorkerError(
                "The process that holds the model could not be started.",
                why=f"The system says: {error}.",
                remedy="Close other programs and try again.",
            ) from error
        self._pipes = _Pipes(process)
        self._finalizer = weakref.finalize(self, _drop, self._pipes)
        stderr = threading.Thread(target=_log_lines, args=(self._pipes,), daemon=True)
        stderr.start()
        for target, args in ((_write, (self._pipes,)), (_read, (self._pipes, stderr))):
            threading.Thread(target=target, args=args, daemon=True).start()

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._pipes.process.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._finalizer.alive and self._pipes.process.poll() is None

    def ask(self, call: int, message: wire.Request, arrays: Sequence[wire.Array] = ()) -> None:
        """Send a request; `answered` is then set at the end of it."""
        self._pipes.answered = threading.Event()
        self._pipes.outgoing.put((call, message, arrays))

    def tell(self, call: int, message: wire.Control) -> None:
        """Send a control message about a running request."""
        self._pipes.outgoing.put((call, message, ()))

    def receive(self, timeout: float) -> Received:
        """Give the next frame.

        Raises
        ------
        queue.Empty
            When none came within ``timeout`` seconds.
        WorkerError
            When the process has ended or broke the protocol, told in plain words.
        """
        item = self._pipes.incoming.get(timeout=timeout)
        if isinstance(item, WorkerError):
            self.kill()
            raise item
        return item

    @property
    def answered(self) -> threading.Event:
        """Set when the running request is over, or the process; each request has its own."""
        return self._pipes.answered

    def terminate(self) -> None:
        """Ask the process to end."""
        self._pipes.process.terminate()

    def kill(self) -> None:
        """End the process at once; harmless when it has ended."""
        self._finalizer()


def _drop(pipes: _Pipes) -> None:
    """Kill the process and let its threads end."""
    pipes.dropped.set()
    pipes.outgoing.put(None)
    if pipes.process.poll() is None:
        pipes.process.kill()


def _environment() -> dict[str, str]:
    """Give the child's environment.

    One thread for arithmetic, so that the app keeps a core; and what the model prints arrives at
    once, so that nothing of it is lost when the process dies.
    """
    package_home = str(Path(fairdesk.__file__).resolve().parent.parent)
    search_path = [package_home, *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONPATH": os.pathsep.join(search_path),
        "PYTHONUNBUFFERED": "1",
    }


def _write(pipes: _Pipes) -> None:
    """Write what is to be sent; a thread, so that a child that does not read blocks nobody."""
    stream = _pipe(pipes.process.stdin)
    try:
        while (item := pipes.outgoing.get()) is not None:
            call, message, arrays = item
            wire.write(stream, call, message, arrays)
            del item, message, arrays
    except WorkerError as error:
        _hand_over(pipes, error)
    except OSError:
        log.debug("the child no longer reads")
    finally:
        try:
            stream.close()
        except OSError:
            log.debug("the pipe was closed with bytes left in it")


def _read(pipes: _Pipes, stderr: threading.Thread) -> None:
    """Hand frames over; at the end of the stream, say how the process ended."""
    stream = _pipe(pipes.process.stdout)
    try:
        while (frame := wire.read_from_guest(stream)) is not None:
            if not isinstance(frame.message, wire.UNDERWAY):
                pipes.answered.set()
            _hand_over(pipes, frame)
            del frame
        code = _exit_code(pipes.process)
        stderr.join(1.0)
        end = describe_end(code, "\n".join(pipes.last_lines))
    except WorkerError as error:
        end = error
    except MemoryError:
        end = WorkerError(
            "The process that holds the model sent more than this computer's memory can take.",
            remedy="Close other programs, or audit with fewer rows.",
        )
    pipes.process.kill()
    pipes.process.wait()
    pipes.answered.set()
    stream.close()
    if not pipes.dropped.is_set():
        log.warning(
            "worker process %d: %s\n%s", pipes.process.pid, end, "\n".join(pipes.last_lines)
        )
    _hand_over(pipes, end)


def _hand_over(pipes: _Pipes, item: Received | WorkerError) -> None:
    """Queue a frame, waiting for its reader unless there is none any more."""
    while True:
        try:
            pipes.incoming.put(item, timeout=0.5)
        except queue.Full:
            if pipes.dropped.is_set():
                return
        else:
            return


def _log_lines(pipes: _Pipes) -> None:
    """Put the child's standard error into the log, and its last lines by."""
    stream = _pipe(pipes.process.stderr)
    with stream:
        count = 0
        while line := stream.readline(4096):
            text = line.decode(errors="replace").rstrip()
            pipes.last_lines.append(text)
            count += 1
            if count <= LOGGED_LINES:
                log.info("worker process %d: %s", pipes.process.pid, text)


def _exit_code(process: subprocess.Popen[bytes]) -> int:
    """Give the exit code of a process that has closed its output."""
    try:
        return process.wait(2.0)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _pipe(stream: IO[bytes] | None) -> BinaryIO:
    assert stream is not None, "every pipe of the child is asked for"  # noqa: S101 - for mypy
    return stream  # type: ignore[return-value]  # the pipes of Popen are binary files


def describe_end(code: int, last_lines: str = "") -> WorkerError:
    """Say in plain words how a process ended.

    Parameters
    ----------
    code : int
        As `subprocess.Popen.returncode`: negative is the signal that killed it.
    last_lines : str
        The end of its standard error.
    """
    what = "The process that holds the model has ended unexpectedly."
    kept = "Results so far are kept; the next run starts a new process."
    if "MemoryError" in last_lines or "bad_alloc" in last_lines or code == _WINDOWS_NO_MEMORY:
        return WorkerError(
            "The process that holds the model ran out of memory.",
            remedy=f"Close other programs, or audit with fewer rows or seeds. {kept}",
        )
    if code == -9:
        return WorkerError(
            what,
            why="It was killed: by the system, most often because memory ran out, or by someone.",
            remedy=f"Close other programs, then run again. {kept}",
        )
    if code in _CRASHES or code >= _WINDOWS_CRASH:
        crash = _CRASHES.get(code, f"code {code:#x}")
        return WorkerError(
            what,
            why=f"It crashed inside the model or its library: {crash} (exit code {code}).",
            remedy=f"Try the model in another format, for example ONNX. {kept}",
        )
    if code < 0:
        return WorkerError(what, why=f"It was ended by signal {-code}.", remedy=kept)
    return WorkerError(
        what,
        why=f"The model’s own code, or its library, ended it (exit code {code}).",
        remedy=f"Ask who made the model why it ends the program that asks it. {kept}",
    )
