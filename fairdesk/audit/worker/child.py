"""One child process as its parent sees it: its pipes, its log, and the files that it is given."""

from __future__ import annotations

import atexit
import functools
import logging
import queue
import signal
import subprocess
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import IO, BinaryIO

import msgspec

from fairdesk.audit.sandbox import kernel_cache
from fairdesk.audit.sandbox.folders import Confinement
from fairdesk.audit.sandbox.process import END_SECONDS, GUEST, ChildProcess, describe_end, take
from fairdesk.audit.sandbox.sandbox import Given, Sandbox, clean_up
from fairdesk.audit.worker import frames, wire
from fairdesk.errors import ModelError, WorkerError
from fairdesk.models.model import ModelCard

log = logging.getLogger(__name__)

#: Frames that wait for their reader; beyond, the child waits.
WAITING_FRAMES = 16
#: Lines of a child's standard error that are logged; a model that prints at every call has more.
LOGGED_LINES = 500
#: Lines of it that are quoted when the child dies.
LAST_LINES, LAST_LETTERS = 20, 500

#: How often it is looked at what a child has written.
WATCH_SECONDS = 1.0

Received = frames.Frame[wire.FromGuest]
Outgoing = tuple[int, wire.ToGuest]


class _Guest:
    """What the threads of a child share. They hold no reference to the `Child` itself."""

    def __init__(self, process: ChildProcess) -> None:
        self.process = process
        self.incoming: queue.Queue[Received | WorkerError] = queue.Queue(WAITING_FRAMES)
        self.outgoing: queue.SimpleQueue[Outgoing | None] = queue.SimpleQueue()
        self.answered = threading.Event()
        self.last_lines: deque[str] = deque(maxlen=LAST_LINES)
        self.confinement: Confinement | None = None
        #: Set when the process has introduced itself, or never will.
        self.met = threading.Event()
        self.over = threading.Event()
        self.verdict: WorkerError | None = None

    @property
    def sandbox(self) -> Sandbox | None:
        return self.process.sandbox

    def drop(self) -> None:
        """End it, and let the threads end."""
        self.process.drop()
        self.outgoing.put(None)


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
        self._guest = _Guest(take(command))
        self._finalizer = weakref.finalize(self, self._guest.drop)
        self._finalizer.atexit = False  # _end_all does that, and more
        _LIVING.add(self._guest)
        threading.Thread(target=_live, args=(self._guest,), daemon=True).start()

    @property
    def pid(self) -> int:
        """The process's number; waits until it has one."""
        self._guest.process.started.wait()
        process = self._guest.process.process
        return -1 if process is None else process.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs, or is about to."""
        guest = self._guest
        ended = guest.over.is_set() or (guest.confinement is not None and guest.process.ended())
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
        self._guest.process.housed.wait()
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
        self._guest.process.signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the process at once; harmless when it has ended."""
        self._finalizer()


_LIVING: weakref.WeakSet[_Guest] = weakref.WeakSet()
_clean_up = functools.cache(clean_up)


@atexit.register
def _end_all() -> None:
    """End all children, and wait until their folders are gone."""
    living = list(_LIVING)
    for guest in living:
        guest.drop()
    until = monotonic() + END_SECONDS
    for guest in living:
        guest.over.wait(max(until - monotonic(), 0.0))


def _live(guest: _Guest) -> None:
    """Be with a process from its beginning to its end; a thread."""
    end = _not_started(None)
    try:
        for process in guest.process.attempts:
            if isinstance(process, OSError):
                end = _not_started(process)
                continue
            stderr = threading.Thread(target=_log_lines, args=(guest, process), daemon=True)
            stderr.start()
            end = _converse(guest, process, stderr)
            if guest.confinement is not None or guest.process.dropped.is_set():
                break
            log.warning("worker process %d did not begin: %s", process.pid, end)
    finally:
        try:
            if guest.sandbox is not None:
                guest.sandbox.remove()
        finally:
            _finish(guest, end)
    _clean_up()


def _finish(guest: _Guest, end: WorkerError) -> None:
    for event in (guest.process.housed, guest.process.started, guest.met, guest.answered):
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
        code = guest.process.reap()
        stderr.join(1.0)
        end = guest.verdict or describe_end(code, "\n".join(guest.last_lines))
    except WorkerError as error:
        end = error
    except MemoryError:
        end = WorkerError(
            "The model process sent more data than fit in this computer’s memory.",
            remedy="Close other programs, or audit with fewer rows.",
        )
    guest.process.kill()
    guest.process.reap()
    stream.close()
    if not guest.process.dropped.is_set():
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
        if guest.process.ended():
            guest.process.kill()
        elif guest.sandbox.overfull():
            guest.verdict = WorkerError(
                "The model process wrote more to the disk than is permitted.",
                why="A model does not need to write to the disk.",
                remedy="It was ended, and what it wrote was deleted. Do not trust this model file.",
            )
            guest.process.kill()
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
            if guest.process.dropped.is_set():
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


class Fingerprint(threading.Thread):
    """The SHA-256 of a file that a guest was given, found in the background."""

    def __init__(self, given: Given | None) -> None:
        super().__init__(daemon=True)
        self._given, self._digest = given, ""
        self.start()

    def run(self) -> None:
        """Find it."""
        if self._given is not None:
            with suppress(OSError):  # the guest tells what is wrong with the file
                self._digest = self._given.fingerprint()

    def wait(self) -> str:
        """Return it; nothing where there is no such file."""
        self.join()
        return self._digest


class GivenModel:
    """A model and the files beside it, in a guest's folder, with their fingerprints.

    What the model's own code would tell about the files is not to be relied on: they are
    fingerprinted here, before it can run, and so are exactly the bytes that it is opened from.
    """

    def __init__(self, child: Child, request: wire.OpenModel) -> None:
        self._child, self._original = child, request
        given = child.give("model", Path(request.path))
        self.sha256 = Fingerprint(given).wait()
        self._companions = []
        private = []
        for i, companion in enumerate(request.companions):
            beside = child.give(f"companion {i}", Path(companion.path))
            digest = Fingerprint(beside).wait()
            self._companions.append(msgspec.structs.replace(companion, sha256=digest))
            path = companion.path if beside is None else str(beside.private)
            private.append(msgspec.structs.replace(companion, path=path, sha256=digest))
        path = request.path if given is None else str(given.private)
        #: What the guest is asked.
        self.request = msgspec.structs.replace(request, path=path, companions=tuple(private))

    @property
    def runs_code(self) -> bool:
        """Whether the auditor agreed that code of these files may run."""
        return self._original.trusted or any(each.trusted for each in self._companions)

    def check(self, before: ModelCard | None) -> None:
        """Refuse files that are not those of a card."""
        if before is None:
            return
        for path, wanted, found in (
            (before.path, before.sha256, self.sha256),
            *(
                (old.path, old.sha256, new.sha256)
                for old, new in zip(before.companions, self._companions, strict=True)
            ),
        ):
            if found and found != wanted:
                raise ModelError(
                    f"The file “{Path(path).name}” has changed since the model was opened.",
                    why=f"Its SHA-256 hash was {wanted[:12]}…, now it is {found[:12]}….",
                    remedy="Restore the earlier file, or start a new audit with this one.",
                )

    def in_original_words(self, card: ModelCard) -> ModelCard:
        """Put the user's files into the guest's card."""
        return msgspec.structs.replace(
            card,
            path=self._original.path,
            sha256=self.sha256,
            companions=tuple(self._companions),
            warnings=tuple(map(self._child.in_original_words, card.warnings)),
        )


def path_text(path: Path) -> str:
    """Return a path as text that can be sent, and kept in the audit file."""
    text = str(path.absolute())
    try:
        text.encode()
    except UnicodeEncodeError:
        shown = text.encode(errors="replace").decode()
        raise WorkerError(
            f"The name of “{shown}” contains bytes that are not characters.",
            why="It was most likely written by another system, in an old encoding.",
            remedy="Rename the file, or its folder.",
        ) from None
    return text
