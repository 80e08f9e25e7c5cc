"""What Dask runs on a worker: functions of bytes that return bytes.

A shard runs in a confined guest, as on one computer; guests stay open for the next shard. Whatever
goes wrong inside is returned as a message: what Dask sees raised is a defect, or the end of the
worker itself.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import tarfile
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Literal

import msgspec

from fairdesk.audit.plan.spec import AuditSpec, versions
from fairdesk.audit.runs.inspection import reopen
from fairdesk.audit.sandbox import kernel_cache
from fairdesk.audit.sandbox.folders import unknown
from fairdesk.audit.worker.client import Searching, Worker
from fairdesk.cluster import messages
from fairdesk.cluster.messages import About, ApartFile, Opening
from fairdesk.errors import ClusterError, FairDeskError, SpecError, WorkerError
from fairdesk.results.events import Event, Found, Progress, concatenated

#: How often a shard says how far it is, in seconds.
_TELL_SECONDS = 1.0
#: What results depend on besides these is not compared: the machine itself.
_OF_THE_MACHINE = ("system", "processor")
#: Of so many runs a worker remembers what it was told last.
_REMEMBERED = 100

Command = Literal["pause", "resume", "stop"]


def dask_setup(_worker: object) -> None:
    """Let a worker that was started on this computer write nothing to the auditor's terminal."""
    logging.getLogger("fairdesk").addHandler(logging.NullHandler())


def keep_here(digest: str, content: bytes) -> bytes:
    """Keep a content on this worker's disk, for all shards that need it; returns nothing."""
    path = _kept(digest)
    with _WRITING:
        if not path.exists():
            if hashlib.sha256(content).hexdigest() != digest:
                raise ValueError("a content is not what it is called")
            # complete or not there
            making = path.with_suffix(".part")
            making.write_bytes(content)
            making.rename(path)
    return b""


def shard_here(payload: bytes, *_kept_before: bytes) -> bytes:
    """Run a shard of which all that lies apart is kept here; returns its events, or its failure."""
    try:
        job = messages.read_job(payload, _kept)
        audit = _audit_of(job.opening)
        check_versions(job.opening.versions)
        with _opened(job.opening) as guest, _GUESTS.running(job.token, guest):
            search = guest.search(audit.mapping, audit.domain, job.inputs, job.run)
            kept = _thinned(_until_stopped(search, job, guest))
            return messages.write_events(job.index, kept, search.ending or "stopped")
    except FairDeskError as error:
        return messages.write_failure(error)
    except MemoryError:
        lacking = WorkerError(
            "The worker does not have enough memory for it.",
            remedy="Give workers more memory, or fewer threads each.",
        )
        return messages.write_failure(lacking)


def compile_here() -> bytes:
    """Compile what guests compute with, once on each computer: it takes minutes."""
    kernel_cache.make()
    return b""


def open_here(payload: bytes, *before: bytes, wait: bool = True) -> bytes:
    """Open an audit's model; returns what there is to say of this worker.

    What is kept here from another run is not sent again.

    Parameters
    ----------
    payload, before : bytes
        The `Opening`, and what was waited for.
    wait : bool
        Whether nothing is to be opened where something is to be compiled first.
    """
    del before
    opening = messages.read_opening(payload)
    confinement = unknown()
    try:
        check_versions(opening.versions)
        compiled = not wait or kernel_cache.is_made()
        lacking = tuple(each for each in messages.apart_of(opening) if not _kept(each).exists())
        if lacking or not compiled:
            about = About(versions(), confinement, compiled=compiled, lacking=lacking)
            return messages.write_about(about)
        with _opened(opening) as guest:
            confinement = guest.confinement()
            open_to = [
                hold.what
                for hold in confinement.holds
                if hold.what in opening.confined and not hold.holds
            ]
            if open_to and _runs_code(_audit_of(opening)):
                raise ClusterError(
                    "It does not confine the model’s own code as this computer does.",
                    why=f"The code could misuse: {', '.join(open_to)}.",
                )
    except FairDeskError as error:
        return messages.write_about(About(versions(), confinement, str(error)))
    return messages.write_about(About(versions(), confinement))


def about_here() -> bytes:
    """Return what there is to say of this worker, without a model."""
    with _GUESTS.one("") as (guest, _):
        return messages.write_about(About(versions(), guest.confinement()))


def control_here(token: str, number: int, command: Command) -> None:
    """Pause, resume or stop the shards of a run, those that begin later too; returns at once.

    What was told before, by its number, is too late when it comes afterwards.
    """
    _GUESTS.tell(token, number, command)


def check_versions(there: dict[str, str]) -> None:
    """Refuse to compute with other versions than those of the computer that asks.

    A library that is missing here shows when the model is opened.

    Raises
    ------
    ClusterError
        With the versions that differ.
    """
    if differing := other_versions(there, versions()):
        raise ClusterError(
            "It has other versions than the computer that started the run, and results could "
            "differ.",
            why=f"{'; '.join(differing)}.",
        )


def other_versions(there: dict[str, str], here: dict[str, str]) -> list[str]:
    """Return what differs between the computer that asks and a worker, a phrase each."""
    return [
        f"{name} {here[name]} instead of {wanted}"
        for name, wanted in there.items()
        if name in here and name not in _OF_THE_MACHINE and here[name] != wanted
    ]


def _thinned(events: Iterator[Event]) -> list[Event]:
    """Return all events; pairs, and how far it is, at once where nothing else comes between.

    All of a shard is handed over together: its pairs are then merged and kept together.
    """
    kept: list[Event] = []
    found: list[Found] = []
    last: list[Progress] = []

    def close() -> None:
        kept.extend([concatenated(found)] if found else [])
        kept.extend(last)
        found.clear()
        last.clear()

    for event in events:
        if isinstance(event, Progress):
            last[:] = [event]
            continue
        if not isinstance(event, Found) or (found and found[0].phase != event.phase):
            close()
        if isinstance(event, Found):
            found.append(event)
        else:
            kept.append(event)
    close()
    return kept


def _until_stopped(search: Searching, job: messages.Job, guest: Worker) -> Iterator[Event]:
    """Yield events until the run is stopped, and tell now and then how far it is."""
    from distributed import get_worker  # noqa: PLC0415 - only where Dask runs

    dask_worker = get_worker()
    told = monotonic()
    for event in search:
        if isinstance(event, Progress) and monotonic() - told >= _TELL_SECONDS:
            told = monotonic()
            said = {"index": job.index, "progress": msgspec.json.encode(event)}
            dask_worker.log_event(job.token, said)
        yield event
        if _GUESTS.stops(job.token, guest):
            search.close()


def _audit_of(opening: Opening) -> AuditSpec:
    """Read the audit."""
    try:
        return msgspec.json.decode(_kept(opening.audit).read_bytes(), type=AuditSpec)
    except msgspec.MsgspecError as error:
        raise SpecError("The audit that was sent cannot be read.", why=f"{error}.") from error


def _runs_code(audit: AuditSpec) -> bool:
    return audit.trusted or any(each.trusted for each in audit.model.companions)


@contextmanager
def _opened(opening: Opening) -> Iterator[Worker]:
    """Return a guest in which the audit's model is open."""
    audit = _audit_of(opening)
    wanted = _model_of(audit)
    with _GUESTS.one(wanted) as (guest, opened):
        if not opened:
            paths = [_named(file) for file in opening.files]
            were = (audit.model.path, *(each.path for each in audit.model.companions))
            places = {Path(was): path for was, path in zip(were, paths, strict=True)}
            reopen(audit, places, guest)
        yield guest


def _model_of(audit: AuditSpec) -> str:
    """Name which model is opened how."""
    card = audit.model
    beside = [(each.sha256, each.trusted) for each in card.companions]
    return repr((card.sha256, audit.trusted, card.output, card.environment, beside))


def _named(file: ApartFile) -> Path:
    """Return where a file of the model is under its own name, which may tell what it is."""
    # the same content may be called otherwise in another audit
    name = hashlib.sha256(file.name.encode()).hexdigest()
    folder = _folder() / f"{file.content[:32]}-{name[:32]}"
    path = folder / file.name
    with _WRITING:
        if path.exists():
            return path
        making = Path(tempfile.mkdtemp(dir=_folder()))
        if file.folder:
            with tarfile.open(_kept(file.content)) as archive:
                archive.extractall(making, filter="data")
        else:
            shutil.copyfile(_kept(file.content), making / file.name)
        making.rename(folder)
    return path


def _kept(digest: str) -> Path:
    """Return where a content is on this worker's disk."""
    return _folder() / digest


def _folder() -> Path:
    """Return this worker's folder, which Dask removes with the worker."""
    from distributed import get_worker  # noqa: PLC0415 - only where Dask runs

    folder = Path(get_worker().local_directory) / "fairdesk"
    folder.mkdir(exist_ok=True)
    return folder


class _Guests:
    """The guests of a worker: as many as shards run in it at once, open for the next shard."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[tuple[str, Worker]] = []
        self._running: defaultdict[str, list[Worker]] = defaultdict(list)
        #: What each run was told last, and the number of that; the newest runs last.
        self._told: dict[str, tuple[int, Command]] = {}

    @contextmanager
    def one(self, wanted: str) -> Iterator[tuple[Worker, bool]]:
        """Return a guest, and whether the wanted model is open in it."""
        with self._lock:
            # one that has it open, if there is one
            self._idle.sort(key=lambda each: each[0] == wanted)
            opened, guest = self._idle.pop() if self._idle else ("", Worker())
        try:
            yield guest, opened == wanted
        except BaseException:
            guest.close()
            raise
        with self._lock:
            self._idle.append((wanted or opened, guest))

    @contextmanager
    def running(self, token: str, guest: Worker) -> Iterator[None]:
        """Let a guest be controlled by the token of a run."""
        with self._lock:
            self._running[token].append(guest)
        try:
            yield
        finally:
            with self._lock:
                self._running[token].remove(guest)
                if not self._running[token]:
                    del self._running[token]

    def tell(self, token: str, number: int, command: Command) -> None:
        """Tell the guests that work for a run, unless they were told something newer."""
        with self._lock:
            if number <= self._told.get(token, (0, command))[0]:
                return
            self._told.pop(token, None)
            self._told[token] = number, command
            while len(self._told) > _REMEMBERED:
                del self._told[next(iter(self._told))]
            for guest in self._running.get(token, ()):
                getattr(guest, command)()

    def stops(self, token: str, guest: Worker) -> bool:
        """Return whether a run was stopped; holds a guest that began while the run was paused."""
        with self._lock:
            command = self._told.get(token, (0, None))[1]
            if command == "pause" and not guest.paused:
                guest.pause()
            return command == "stop"


_GUESTS = _Guests()
_WRITING = threading.Lock()
