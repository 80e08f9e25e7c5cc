"""What crosses between this computer and a cluster's workers, and what they say of shards.

Whatever is large and the same for many shards (the model's files, starting rows) lies apart from
them and is named by the SHA-256 of its content, so that each worker is sent it once.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.catalogue.method import COMPILING, LOADING
from fairdesk.audit.plan.inputs import RunInputs
from fairdesk.audit.plan.spec import AuditSpec, RunSpec
from fairdesk.audit.sandbox.folders import Confinement
from fairdesk.audit.worker import frames, wire
from fairdesk.errors import ERRORS, FairDeskError, ModelError, WorkerError, system_errors
from fairdesk.results.events import Event, Progress

M = TypeVar("M")

#: Arrays of so many bytes lie apart.
_APART_FROM = 1 << 20


class ApartArray(msgspec.Struct, frozen=True):
    """An array that lies apart: of which field it is, and how its bytes are read."""

    field: str
    content: str
    dtype: str
    shape: tuple[int, ...]


class ApartFile(msgspec.Struct, frozen=True):
    """A file that lies apart; of a folder it is an archive (tar)."""

    name: str
    content: str
    folder: bool = False


class Opening(msgspec.Struct, frozen=True):
    """What a worker opens before it runs anything: an audit and the files of its model.

    Attributes
    ----------
    audit : str
        The content (SHA-256) of the `AuditSpec` as JSON.
    files : tuple[ApartFile, ...]
        The model file and those beside it, in the order of the model card.
    versions : dict[str, str]
        Of FairDesk, Python and the libraries on the computer that asks.
    confined : tuple[str, ...]
        What a model's code cannot misuse there, as of `Confinement.holds`.
    """

    audit: str
    files: tuple[ApartFile, ...]
    versions: dict[str, str]
    confined: tuple[str, ...]


class Job(msgspec.Struct, frozen=True):
    """One shard for one worker.

    Attributes
    ----------
    token : str
        Of the run, by which its shards are paused and stopped.
    index : int
        Of the shard.
    opening : Opening
        What it runs on.
    run : RunSpec
        What is run.
    inputs : RunInputs
        With nothing in place of the arrays that lie apart.
    apart : tuple[ApartArray, ...]
        These arrays.
    """

    token: str
    index: int
    opening: Opening
    run: RunSpec
    inputs: RunInputs
    apart: tuple[ApartArray, ...] = ()


class About(msgspec.Struct, frozen=True):
    """What a worker says of itself.

    Attributes
    ----------
    versions : dict[str, str]
        As of `fairdesk.audit.plan.spec.versions`.
    confinement : Confinement
        What a model's code cannot do there.
    trouble : str
        Why it cannot run the audit: whole sentences; empty where it can.
    compiled : bool
        Whether what guests compute with is compiled there; where not, nothing was opened.
    lacking : tuple of str
        The SHA-256 of what of the opening is not kept there yet; where any, nothing was opened.
    """

    versions: dict[str, str]
    confinement: Confinement
    trouble: str = ""
    compiled: bool = True
    lacking: tuple[str, ...] = ()


class Contents:
    """What lies apart, by its SHA-256, as long as a run needs it."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self._arrays: dict[int, tuple[NDArray[Any], str]] = {}

    def keep(self, content: bytes) -> str:
        """Keep bytes; returns their SHA-256."""
        digest = hashlib.sha256(content).hexdigest()
        self.kept.setdefault(digest, content)
        return digest

    def keep_file(self, path: Path) -> ApartFile:
        """Keep a file, or a folder with all that is in it.

        Raises
        ------
        ModelError
            When it cannot be read.
        """
        with system_errors(ModelError, f"“{path.name}” cannot be sent to the cluster."):
            if not path.is_dir():
                return ApartFile(path.name, self.keep(path.read_bytes()))
            packed = io.BytesIO()
            with tarfile.open(fileobj=packed, mode="w") as archive:
                archive.add(path, arcname=path.name)
            return ApartFile(path.name, self.keep(packed.getvalue()), folder=True)

    def keep_array(self, array: NDArray[Any]) -> str:
        """Keep an array; its SHA-256 is found once for each object."""
        known = self._arrays.get(id(array))
        if known is None:
            # held, so that no other array takes its number
            known = self._arrays[id(array)] = (array, self.keep(array.tobytes()))
        return known[1]


def opening_of(
    audit: AuditSpec, files: Sequence[Path], confinement: Confinement, contents: Contents
) -> Opening:
    """Return what workers open, of files where they are now; they are kept in ``contents``."""
    return Opening(
        contents.keep(msgspec.json.encode(audit)),
        tuple(contents.keep_file(path) for path in files),
        audit.versions,
        tuple(hold.what for hold in confinement.holds if hold.holds),
    )


def write_job(
    token: str, index: int, opening: Opening, run: RunSpec, inputs: RunInputs, contents: Contents
) -> tuple[bytes, tuple[str, ...]]:
    """Return a shard as bytes, and the SHA-256 of its arrays that lie apart."""
    apart, emptied = [], {}
    for name, value in msgspec.structs.asdict(inputs).items():
        if isinstance(value, np.ndarray) and value.nbytes >= _APART_FROM:
            digest = contents.keep_array(value)
            apart.append(ApartArray(name, digest, value.dtype.str, value.shape))
            emptied[name] = value[:0]
    job = Job(token, index, opening, run, msgspec.structs.replace(inputs, **emptied), tuple(apart))
    return _frame(index, job), tuple(each.content for each in apart)


def apart_of(opening: Opening) -> tuple[str, ...]:
    """Return the SHA-256 of what of an opening lies apart."""
    return (opening.audit, *(file.content for file in opening.files))


def read_job(payload: bytes, find: Callable[[str], Path]) -> Job:
    """Read a shard, with all of its arrays; ``find`` returns the file of a content."""
    job = _read(payload, Job)
    filled = {
        each.field: np.fromfile(find(each.content), dtype=each.dtype).reshape(each.shape)
        for each in job.apart
    }
    return msgspec.structs.replace(job, inputs=msgspec.structs.replace(job.inputs, **filled))


def write_opening(opening: Opening) -> bytes:
    """Return an opening as bytes."""
    return _frame(0, opening)


def read_opening(payload: bytes) -> Opening:
    """Read an opening."""
    return _read(payload, Opening)


def write_about(about: About) -> bytes:
    """Return what a worker says of itself as bytes."""
    return _frame(0, about)


def read_about(payload: bytes) -> About:
    """Read what a worker says of itself."""
    return _read(payload, About)


def write_events(index: int, events: Sequence[Event], ending: wire.Ending) -> bytes:
    """Return the events of a shard, and how it ended, as bytes."""
    stream = io.BytesIO()
    for event in (*events, wire.SearchEnded(ending)):
        frames.write(stream, index, event)
    return stream.getvalue()


def write_failure(error: FairDeskError) -> bytes:
    """Return why a shard failed as bytes."""
    return _frame(0, wire.Failed(type(error).__name__, error.what, error.why, error.remedy))


def read_events(result: bytes) -> Iterator[Event | wire.SearchEnded]:
    """Read the events of a shard, and how it ended at last.

    Raises
    ------
    FairDeskError
        Why the shard failed.
    """
    stream = io.BytesIO(result)
    while (frame := wire.read_from_guest(stream)) is not None:
        message = frame.message
        if isinstance(message, wire.Failed):
            raise ERRORS.get(message.kind, WorkerError)(
                message.what, why=message.why, remedy=message.remedy
            )
        if not isinstance(message, Event | wire.SearchEnded):
            raise frames.malformed(f"{type(message).__name__} is not an event")
        yield message


def _frame(number: int, message: msgspec.Struct) -> bytes:
    stream = io.BytesIO()
    frames.write(stream, number, message)
    return stream.getvalue()


def _read(payload: bytes, kind: type[M]) -> M:
    frame = frames.read(io.BytesIO(payload), kind)
    if frame is None:
        raise frames.malformed("it is empty")
    return frame.message


class AtWork(msgspec.Struct, frozen=True):
    """What a worker said last of a shard that it runs.

    Attributes
    ----------
    worker : str
        Its address.
    part : int
        Of the run, from 1 on.
    phase : str
        What it does.
    speed : float
        Rows sent to the model in a second, on average over this part.
    """

    worker: str
    part: int
    phase: str
    speed: float


class Heard:
    """What was heard last of each shard; from one thread, and read from others."""

    def __init__(self) -> None:
        self._last: dict[int, tuple[str, Progress]] = {}

    def note(self, said: dict[str, Any]) -> None:
        """Note how far a shard is; what cannot be read is left out."""
        with suppress(msgspec.MsgspecError, KeyError):
            progress = msgspec.json.decode(said["progress"], type=Progress)
            self._last[said["index"]] = said["worker"], progress

    def forget(self, index: int) -> None:
        """Forget a shard that is over."""
        self._last.pop(index, None)

    def loading(self, out: Collection[int]) -> bool:
        """Return whether none of these shards said that it does more than load its method."""
        said = {said.phase for index, (_, said) in list(self._last.items()) if index in out}
        return said <= {LOADING, COMPILING}

    def phase(self, out: Collection[int]) -> str:
        """Return what one of the shards that are out does; empty where none was heard of."""
        last = list(self._last.items())
        return next((said.phase for index, (_, said) in reversed(last) if index in out), "")

    def at_work(self, out: Collection[int]) -> tuple[AtWork, ...]:
        """Return who runs those of these shards that were heard of, in the order of addresses."""
        doing = [
            AtWork(worker, index + 1, progress.phase, _speed(progress))
            for index, (worker, progress) in list(self._last.items())
            if index in out
        ]
        return tuple(sorted(doing, key=lambda each: (each.worker, each.part)))


def _speed(progress: Progress) -> float:
    seconds = sum(progress.seconds.values())
    return progress.queries / seconds if seconds > 0 else 0.0
