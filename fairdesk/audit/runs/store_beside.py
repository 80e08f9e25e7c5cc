"""An audit file into which a process of its own writes what a run yields.

A search finds hundreds of thousands of pairs a second, and each becomes some twenty Python objects
on its way into the file: beside that a window hardly comes to its turn. The process is FairDesk's
own and never sees a model; what it is given was checked before
(`fairdesk.audit.worker.answer_checks`). Where the window is killed it writes what it has been given
and ends.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

import msgspec
from numpy.typing import NDArray

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.sandbox.folders import package_folder
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker import frames
from fairdesk.errors import FairDeskError, StoreError, WorkerError
from fairdesk.results.events import Certificate, Found, Measured, Metric, Progress
from fairdesk.results.mitigation import Augmented, Retrained

#: For so many seconds it may finish what it was given when the file is closed.
_END_SECONDS = 10.0


class _Advanced(msgspec.Struct, frozen=True, tag=True):
    """How far a run is after some seconds by the clock."""

    elapsed: float
    progress: Progress


class _Ended(msgspec.Struct, frozen=True, tag=True):
    """How a run ended, as of `Store.end_run`."""

    state: str
    message: str


class _Written(msgspec.Struct, frozen=True, tag=True):
    """One message is in the file, or an error: its three sentences."""

    what: str = ""
    why: str = ""
    remedy: str = ""


#: What is to be written; the number of the run is that of the frame's call.
_Write = Found | Measured | Certificate | Augmented | Retrained | _Advanced | _Ended


class StoreBeside(Store):
    """An open audit file; what a run yields is written into it by another process.

    Everything else is read and written here. A message is sent when the one before is in the file:
    memory is bounded, and what could not be written is a `StoreError` of the call after it, at the
    latest of `end_run`.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, spec: AuditSpec) -> None:
        super().__init__(path, connection, spec)
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            (sys.executable, "-P", "-m", __name__, str(path)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(package_folder().parent)},
            # Ctrl-C in the terminal is for the app, which then stops the run
            start_new_session=True,
        )
        self._to = cast("BinaryIO", self._process.stdin)
        self._from = cast("BinaryIO", self._process.stdout)
        #: Whether it has not yet said of a message that it is in the file.
        self._waits = False

    def close(self) -> None:
        """Let the process finish, and close the file. May be repeated."""
        super().close()
        with suppress(OSError):
            self._to.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._from.close()

    def add(self, run_id: int, found: Found) -> None:
        """Keep findings of a run."""
        self._send(run_id, found)

    def add_progress(self, run_id: int, elapsed: float, progress: Progress) -> None:
        """Keep how far a run is after ``elapsed`` wall seconds."""
        self._send(run_id, _Advanced(elapsed, progress))

    def measure(self, run_id: int, figures: Sequence[Metric]) -> None:
        """Keep all figures of a run as they stand, in place of those before."""
        self._send(run_id, Measured("", tuple(figures)))

    def certify(self, run_id: int, header: bytes, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep a run's certificate, in place of the one before."""
        self._send(run_id, Certificate("", header, dict(arrays)))

    def keep_rows(self, run_id: int, added: Augmented) -> None:
        """Keep the rows that a mitigation adds, in place of those before."""
        self._send(run_id, added)

    def keep_model(self, run_id: int, file: Retrained) -> None:
        """Keep a file of a retrained model."""
        self._send(run_id, file)

    def end_run(self, run_id: int, state: str, message: str = "") -> None:
        """Note how a run ended, once all of it is in the file; also where the process has died."""
        try:
            self._settle()
        except StoreError as error:
            self._end(run_id, "failed", message or str(error))
            raise
        self._end(run_id, state, message)

    def _end(self, run_id: int, state: str, message: str) -> None:
        if self._process.poll() is not None:
            super().end_run(run_id, state, message)
            return
        self._send(run_id, _Ended(state, message))
        self._settle()

    def _send(self, run_id: int, message: _Write) -> None:
        """Give the process a message, once the one before is in the file."""
        self._settle()
        try:
            frames.write(self._to, run_id, message)
        except OSError as error:
            raise self._gone() from error
        except WorkerError as error:
            raise StoreError(error.what, why=error.why, remedy=error.remedy) from error
        self._waits = True

    def _settle(self) -> None:
        """Wait until the last message is in the file."""
        if not self._waits:
            return
        self._waits = False
        try:
            reply = frames.read(self._from, _Written)
        except WorkerError as error:
            raise self._gone() from error
        if reply is None:
            raise self._gone()
        if reply.message.what:
            raise StoreError(reply.message.what, why=reply.message.why, remedy=reply.message.remedy)

    def _gone(self) -> StoreError:
        self._process.kill()
        self._process.wait()
        return StoreError(
            f"The process that writes the audit file “{self.path}” ended unexpectedly.",
            why=f"Its exit code is {self._process.returncode}.",
            remedy="Results so far are kept. Close other programs, then run again.",
        )


def _serve(path: Path, incoming: BinaryIO, outgoing: BinaryIO) -> None:
    """Write what comes until the app closes the pipe."""
    store: Store | None = None
    while (frame := frames.read(incoming, cast("type[_Write]", _Write))) is not None:
        reply = _Written()
        try:
            store = store or Store.open(path)
            _write(store, frame.call, frame.message)
        except FairDeskError as error:
            reply = _Written(error.what, error.why, error.remedy)
        frames.write(outgoing, frame.call, reply)
    if store is not None:
        store.close()


def _write(store: Store, run_id: int, message: _Write) -> None:
    match message:
        case Found():
            store.add(run_id, message)
        case Measured():
            store.measure(run_id, message.figures)
        case Certificate():
            store.certify(run_id, message.header, message.arrays)
        case Augmented():
            store.keep_rows(run_id, message)
        case Retrained():
            store.keep_model(run_id, message)
        case _Advanced():
            store.add_progress(run_id, message.elapsed, message.progress)
        case _Ended():
            store.end_run(run_id, message.state, message.message)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        _serve(Path(sys.argv[1]), sys.stdin.buffer, sys.stdout.buffer)
    except BrokenPipeError:
        # the app was killed; all that it sent is in the file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
