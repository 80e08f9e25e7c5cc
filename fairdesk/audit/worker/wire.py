"""What crosses the pipe between the app and the process that holds the model.

A frame is ``magic, length of the header, header, arrays``: the header is JSON, the arrays follow
as raw little-endian bytes in the order, dtypes and shapes that the header tells. Nothing that
arrives is ever unpickled, and sizes are bounded before memory is taken: the other side may be
a hostile model file's code.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Generic, Literal, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.sandbox.confinement import Confinement
from fairdesk.data.domain.domain import Attribute, Domain
from fairdesk.data.table import Column, Dialect, Source
from fairdesk.errors import WorkerError
from fairdesk.individual.surrogates.explanation import Explanation
from fairdesk.models.inputs.input_check import InputCheck, SampleRow
from fairdesk.models.model import Companion, Mapping, ModelCard
from fairdesk.models.pickles.contents import Contents
from fairdesk.results.events import Metric

Array = NDArray[Any]
M = TypeVar("M")

MAGIC = b"FDW1"
MOST_HEADER_BYTES = 64 << 20
MOST_ARRAYS = 12
MOST_ARRAY_BYTES = 4 << 30

_PREFIX = struct.Struct("<4sI")
_DTYPES = {
    "<f8": np.float64,
    "<f4": np.float32,
    "<i8": np.int64,
    "<i4": np.int32,
    "<i2": np.int16,
    "|i1": np.int8,
    "|b1": np.bool_,
}


class ReadTable(msgspec.Struct, frozen=True, tag=True):
    """Read a table's file; answered by any number of `TableProgress` and then `TableRead`."""

    path: str
    dialect: Dialect | None


class LookInto(msgspec.Struct, frozen=True, tag=True):
    """Tell what a model file is made of, without running anything of it."""

    path: str


class OpenModel(msgspec.Struct, frozen=True, tag=True):
    """Open a model file and keep it open; an earlier one is let go."""

    path: str
    trusted: bool
    output: str = ""
    companions: tuple[Companion, ...] = ()


class CheckInputs(msgspec.Struct, frozen=True, tag=True):
    """Check how the open model is fed, on the table whose codes are the frame's array."""

    mapping: Mapping
    source: Source
    columns: tuple[Column, ...]
    label: str
    favourable: str


class Show(msgspec.Struct, frozen=True, tag=True):
    """Show what the open model is sent for the rows of a table that are the frame's array."""

    mapping: Mapping
    source: Source
    columns: tuple[Column, ...]
    label: str


class Predict(msgspec.Struct, frozen=True, tag=True):
    """Ask the open model about the rows that are the frame's array."""

    mapping: Mapping
    attributes: tuple[Attribute, ...]


class Search(msgspec.Struct, frozen=True, tag=True):
    """Run a method.

    The frame's arrays: the people, those whom it need not find again, and the arrays of the
    certificate that it goes on with, whose ``names`` and ``header`` these are. Of a method about
    groups: all rows, the same as codes of the grouping attributes, and ``(n, 3)`` whether each lies
    in the domain, has the favourable label, and the favourable decision in a column of these;
    ``label`` is the name of that label. Of a repair: the same three, with the label's place among
    the model's own classes (NaN for none) as the last of ``(n, 3)``, and the pairs to repair:
    people, partners, their numbers in the audit, ``(m,)``, and how many are flagged, ``(1,)``.
    """

    mapping: Mapping
    domain: Domain
    run: RunSpec
    header: str = ""
    names: tuple[str, ...] = ()
    label: str = ""


class Weigh(msgspec.Struct, frozen=True, tag=True):
    """Tell how plausible invented people are. The arrays: the real people, and those invented."""

    domain: Domain


class Shrink(msgspec.Struct, frozen=True, tag=True):
    """Bring instances as near to real people as they stay instances. The arrays as of `Weigh`."""

    mapping: Mapping
    domain: Domain


class Explain(msgspec.Struct, frozen=True, tag=True):
    """Explain one pair. The arrays: the real people; the instance and its partner, two rows."""

    mapping: Mapping
    domain: Domain
    seed: int


class Pack(msgspec.Struct, frozen=True, tag=True):
    """Write a table, and rows added to it, as Parquet: `parquet_writing.packed`.

    The frame's arrays: its codes, and those of the rows added, a row per column each. ``path`` is
    the Parquet file that it came from, or empty.
    """

    columns: tuple[Column, ...]
    decimal: str
    path: str = ""


class Solve(msgspec.Struct, frozen=True, tag=True):
    """Ask a solver about boxes of a certificate, each for so many seconds.

    The frame's arrays: the certificate's roots, low and high; the boxes, low and high; of each the
    row of the header's masks that holds in it; and whether everybody in it is said to be unlike.
    """

    header: str
    seconds: float


class Reprove(msgspec.Struct, frozen=True, tag=True):
    """Prove boxes of a certificate once more, within so many seconds in all.

    The frame's arrays: as of `Solve`, but last which shares are stated to be alike and unlike.
    """

    header: str
    seconds: float


class Pause(msgspec.Struct, frozen=True, tag=True):
    """Hold the search of this call between two events."""


class Resume(msgspec.Struct, frozen=True, tag=True):
    """Go on with the search of this call."""


class Stop(msgspec.Struct, frozen=True, tag=True):
    """End the search of this call between two events."""


class Hello(msgspec.Struct, frozen=True, tag=True):
    """The guest's first words, unasked, before it reads anything: what it cannot do."""

    confinement: Confinement


class TableProgress(msgspec.Struct, frozen=True, tag=True):
    """How much of the table's file was read, from 0 to 1."""

    share: float


class LookedInto(msgspec.Struct, frozen=True, tag=True):
    """What the model file is made of."""

    contents: Contents


class TableRead(msgspec.Struct, frozen=True, tag=True):
    """The table; its codes are the frame's array, a row per column of the table."""

    source: Source
    columns: tuple[Column, ...]


class ModelOpened(msgspec.Struct, frozen=True, tag=True):
    """What the model file is."""

    card: ModelCard


class Proved(msgspec.Struct, frozen=True, tag=True):
    """The outcome of the check."""

    proof: InputCheck


class Shown(msgspec.Struct, frozen=True, tag=True):
    """What it is sent and answers, a row each, in their order."""

    sample: tuple[SampleRow, ...]


class Predicted(msgspec.Struct, frozen=True, tag=True):
    """The scores are the frame's array."""


class SearchFound(msgspec.Struct, frozen=True, tag=True):
    """A `fairdesk.results.events.Found`; its arrays are the frame's, in the order of its fields."""

    phase: str


class SearchProgress(msgspec.Struct, frozen=True, tag=True):
    """A `fairdesk.results.events.Progress`."""

    phase: str
    done: int
    total: int
    tried: int
    found: int
    queries: int
    seconds: dict[str, float]
    rejected: int = 0


class SearchMeasured(msgspec.Struct, frozen=True, tag=True):
    """A `fairdesk.results.events.Measured`."""

    phase: str
    figures: tuple[Metric, ...]


class SearchCertified(msgspec.Struct, frozen=True, tag=True):
    """A `events.Certificate`; the frame's arrays are its, in the order of ``names``."""

    phase: str
    header: str
    names: tuple[str, ...]


class SearchAugmented(msgspec.Struct, frozen=True, tag=True):
    """A `trials.Augmented`; its arrays are the frame's, in the order of its fields."""

    phase: str
    texts: tuple[str, ...]


class SearchRetrained(msgspec.Struct, frozen=True, tag=True):
    """A `fairdesk.results.trials.Retrained`; the file is the frame's array."""

    phase: str
    trial: int
    name: Literal["model.keras", "model.joblib", "model.skops", "model.onnx"]
    told: str


class Packed(msgspec.Struct, frozen=True, tag=True):
    """The file is the frame's array, as int8."""


class Weighed(msgspec.Struct, frozen=True, tag=True):
    """The arrays of a `fairdesk.individual.realism.plausibility.Plausibility`, in their order."""


class Shrunk(msgspec.Struct, frozen=True, tag=True):
    """The arrays of a `fairdesk.results.events.Found`, row by row for the instances asked about."""


class Explained(msgspec.Struct, frozen=True, tag=True):
    """Why the two are decided differently."""

    explanation: Explanation


class Solved(msgspec.Struct, frozen=True, tag=True):
    """The arrays of a `fairdesk.certify.proof.verify.Answers`, in their order."""


class Reproved(msgspec.Struct, frozen=True, tag=True):
    """The arrays of a `fairdesk.certify.proof.reproof_check.Reproof`, in their order."""


class SearchEnded(msgspec.Struct, frozen=True, tag=True):
    """The search is over: its method was done, it was told to stop, or its budget is used up."""

    ending: Literal["done", "stopped", "budget"]


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The call failed as told: a `fairdesk.errors.FairDeskError` by the name of its class."""

    kind: str
    what: str
    why: str
    remedy: str


Control = Pause | Resume | Stop
Request = (
    ReadTable
    | LookInto
    | OpenModel
    | CheckInputs
    | Show
    | Predict
    | Search
    | Weigh
    | Shrink
    | Explain
    | Solve
    | Reprove
    | Pack
)
ToGuest = Request | Control
FromGuest = (
    Hello
    | TableProgress
    | TableRead
    | LookedInto
    | ModelOpened
    | Proved
    | Shown
    | Predicted
    | SearchFound
    | SearchProgress
    | SearchMeasured
    | SearchCertified
    | SearchAugmented
    | SearchRetrained
    | SearchEnded
    | Weighed
    | Shrunk
    | Explained
    | Solved
    | Reproved
    | Packed
    | Failed
)
Message = ToGuest | FromGuest
#: What comes before the answer of a call.
UNDERWAY = (
    TableProgress
    | SearchFound
    | SearchProgress
    | SearchMeasured
    | SearchCertified
    | SearchAugmented
    | SearchRetrained
)

_ENCODER = msgspec.json.Encoder()
_TO_GUEST = msgspec.json.Decoder(ToGuest)
_FROM_GUEST = msgspec.json.Decoder(FromGuest)


class _Shape(msgspec.Struct, frozen=True):
    dtype: Literal["<f8", "<f4", "<i8", "<i4", "<i2", "|i1", "|b1"]
    shape: tuple[int, ...]


class _Header(msgspec.Struct, frozen=True):
    call: int
    message: msgspec.Raw
    arrays: tuple[_Shape, ...] = ()


_HEADER = msgspec.json.Decoder(_Header)


@dataclass(frozen=True, slots=True)
class Frame(Generic[M]):
    """One message with its arrays, belonging to one call."""

    call: int
    message: M
    arrays: tuple[Array, ...] = ()


def write(stream: BinaryIO, call: int, message: Message, arrays: Sequence[Array] = ()) -> None:
    """Write one frame and flush it.

    Parameters
    ----------
    stream : BinaryIO
        A pipe; one thread at a time writes to it.
    call : int
        The number of the call that the message belongs to.
    message : Message
        What is said.
    arrays : sequence of arrays
        Of float64, float32, bool, or whole numbers of 8 to 64 bits; anything else is a defect of
        the caller.

    Raises
    ------
    WorkerError
        When the frame is larger than the other side accepts.
    OSError
        When the pipe is closed.
    """
    plain = [_little_endian(array) for array in arrays]
    shapes = tuple({"dtype": array.dtype.str, "shape": array.shape} for array in plain)
    header = _ENCODER.encode({"call": call, "message": message, "arrays": shapes})
    if len(header) > MOST_HEADER_BYTES or sum(a.nbytes for a in plain) > MOST_ARRAY_BYTES:
        raise WorkerError(
            "The table is too large to be handed to the process that holds the model.",
            remedy="Audit with fewer rows or columns.",
        )
    stream.write(_PREFIX.pack(MAGIC, len(header)))
    stream.write(header)
    for array in plain:
        if array.size:
            stream.write(array.data.cast("B"))
    stream.flush()


def read_from_guest(stream: BinaryIO) -> Frame[FromGuest] | None:
    """Read one frame that the guest wrote; ``None`` at the end of the stream.

    Raises
    ------
    WorkerError
        When the bytes are no valid frame; the stream cannot be read any further.
    """
    return _read(stream, _FROM_GUEST)


def read_to_guest(stream: BinaryIO) -> Frame[ToGuest] | None:
    """Read one frame that the app wrote; else as `read_from_guest`."""
    return _read(stream, _TO_GUEST)


def _read(stream: BinaryIO, decoder: msgspec.json.Decoder[M]) -> Frame[M] | None:
    prefix = stream.read(_PREFIX.size)
    if not prefix:
        return None
    if len(prefix) < _PREFIX.size:
        raise malformed("it breaks off")
    magic, length = _PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise malformed("it does not begin as one")
    if length > MOST_HEADER_BYTES:
        raise malformed("its header is too long")
    try:
        header = _HEADER.decode(_exactly(stream, length))
        message = decoder.decode(header.message)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise malformed(str(error)) from error
    return Frame(header.call, message, _read_arrays(stream, header.arrays))


def _read_arrays(stream: BinaryIO, shapes: tuple[_Shape, ...]) -> tuple[Array, ...]:
    if len(shapes) > MOST_ARRAYS:
        raise malformed("it has too many arrays")
    left = MOST_ARRAY_BYTES
    for shape in shapes:
        if len(shape.shape) > 2 or any(length < 0 for length in shape.shape):
            raise malformed("an array has an impossible shape")
        left -= math.prod(shape.shape) * np.dtype(_DTYPES[shape.dtype]).itemsize
        if left < 0:
            raise malformed("its arrays are too large")
    return tuple(_read_array(stream, shape) for shape in shapes)


def _read_array(stream: BinaryIO, shape: _Shape) -> Array:
    # bytes other than 0 and 1 are no valid bools, so they are read as numbers first
    dtype = np.uint8 if shape.dtype == "|b1" else np.dtype(shape.dtype)
    array = np.empty(shape.shape, dtype)
    if array.size:
        _fill(stream, array.data.cast("B"))
    if shape.dtype == "|b1":
        return np.asarray(array != 0)
    return array.astype(_DTYPES[shape.dtype], copy=False)


def _exactly(stream: BinaryIO, length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise malformed("it breaks off")
    return data


def _fill(stream: BinaryIO, view: memoryview) -> None:
    position = 0
    while position < len(view):
        got = stream.readinto(view[position:])  # type: ignore[attr-defined]  # BinaryIO lacks it
        if not got:
            raise malformed("it breaks off")
        position += got


def _little_endian(array: Array) -> Array:
    plain = np.ascontiguousarray(array)
    plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
    if plain.dtype.str not in _DTYPES:
        raise TypeError(f"arrays of {array.dtype} do not cross the pipe")
    return plain


def malformed(why: str) -> WorkerError:
    """Return the error for bytes that are no valid frame."""
    return WorkerError(
        "The process that holds the model sent something that is no message of FairDesk.",
        why=f"Its frame is malformed: {why[:200]}.",
        remedy="It was ended; results so far are kept. If it happens again, do not trust this "
        "model file.",
    )
