"""Messages as bytes: JSON with the arrays behind it, read without ever unpickling anything.

A frame is ``magic, length of the header, header, arrays``. The header is a call's number and a
message; wherever the message has an array its dtype and shape stand, and its raw little-endian
bytes follow after the header, in the order in which the arrays stand there. Types of messages are
`msgspec` structs; a field that is an array is declared as ``NDArray[...]``, and only an array of
that dtype is read into it. Sizes are bounded before memory is taken: the other side may be a
hostile model file's code.
"""

from __future__ import annotations

import math
import struct
import sys
from dataclasses import dataclass
from typing import Any, BinaryIO, Generic, Literal, TypeVar, get_args, get_origin

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import WorkerError

Array = NDArray[Any]
M = TypeVar("M")

MAGIC = b"FDW1"
MOST_HEADER_BYTES = 64 << 20
MOST_ARRAYS = 20
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


class _Layout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What stands in a message in place of an array."""

    dtype: Literal["<f8", "<f4", "<i8", "<i4", "<i2", "|i1", "|b1"]
    shape: tuple[int, ...]


class _Header(msgspec.Struct, frozen=True):
    call: int
    message: msgspec.Raw


_HEADER = msgspec.json.Decoder(_Header)


@dataclass(frozen=True, slots=True)
class Frame(Generic[M]):
    """One message, belonging to one call."""

    call: int
    message: M


def write(stream: BinaryIO, call: int, message: msgspec.Struct) -> None:
    """Write one frame and flush it.

    Parameters
    ----------
    stream : BinaryIO
        A pipe; one thread at a time writes to it.
    call : int
        The number of the call that the message belongs to.
    message : msgspec.Struct
        Its arrays are of float64, float32, bool, or whole numbers of 8 to 64 bits; anything else
        is a defect of the caller.

    Raises
    ------
    WorkerError
        When the frame is larger than the other side accepts.
    OSError
        When the pipe is closed.
    """
    arrays: list[Array] = []  # of one axis or two

    def set_aside(value: object) -> _Layout:
        if not isinstance(value, np.ndarray):
            raise TypeError(f"values of {type(value).__name__} do not cross the pipe")
        arrays.append(_little_endian(value))
        return _Layout(arrays[-1].dtype.str, arrays[-1].shape)  # type: ignore[arg-type]  # as just made

    header = msgspec.json.encode({"call": call, "message": message}, enc_hook=set_aside)
    if len(header) > MOST_HEADER_BYTES or sum(a.nbytes for a in arrays) > MOST_ARRAY_BYTES:
        raise WorkerError(
            "The table is too large to be sent to the model process.",
            remedy="Audit with fewer rows or columns.",
        )
    stream.write(_PREFIX.pack(MAGIC, len(header)))
    stream.write(header)
    for array in arrays:
        if array.size:
            stream.write(array.data.cast("B"))
    stream.flush()


def read(stream: BinaryIO, kind: type[M]) -> Frame[M] | None:
    """Read one frame with a message of this kind; ``None`` at the end of the stream.

    Raises
    ------
    WorkerError
        When the bytes are no valid frame; the stream cannot be read any further.
    """
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
    arrays = _Arrays()
    try:
        header = _HEADER.decode(_exactly(stream, length))
        message = msgspec.json.decode(header.message, type=kind, dec_hook=arrays.make)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise malformed(str(error)) from error
    arrays.fill(stream)
    return Frame(header.call, message)


class _Arrays:
    """The arrays of a frame: made where its message names them, then filled from the stream."""

    def __init__(self) -> None:
        self._made: list[Array] = []
        self._left = MOST_ARRAY_BYTES

    def make(self, kind: type, named: object) -> Array:
        """Make an array for a field of this type, ``NDArray[...]``, if it is of that dtype."""
        if get_origin(kind) is not np.ndarray:
            raise TypeError(f"fields of {kind} do not cross the pipe")
        layout = msgspec.convert(named, _Layout)
        dtype = np.dtype(_DTYPES[layout.dtype])
        (declared,) = get_args(get_args(kind)[1])
        if declared is not Any and dtype != declared:
            raise ValueError(f"an array of {dtype} instead of {np.dtype(declared)}")
        if len(layout.shape) not in (1, 2) or any(length < 0 for length in layout.shape):
            raise ValueError("an array has an impossible shape")
        self._left -= math.prod(layout.shape) * dtype.itemsize
        if self._left < 0:
            raise ValueError("its arrays are too large")
        if len(self._made) == MOST_ARRAYS:
            raise ValueError("it has too many arrays")
        self._made.append(np.empty(layout.shape, dtype))
        return self._made[-1]

    def fill(self, stream: BinaryIO) -> None:
        """Read the arrays' bytes, in the order in which they were made."""
        for array in self._made:
            if not array.size:
                continue
            _fill(stream, array.data.cast("B"))
            if array.dtype == np.bool_:
                # bytes other than 0 and 1 are no valid bools
                numbers = array.view(np.uint8)
                np.minimum(numbers, 1, out=numbers)
            elif sys.byteorder == "big":
                array.byteswap(inplace=True)


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
        "The model process sent an invalid message.",
        why=f"Its frame is malformed: {why[:200]}.",
        remedy="It was ended; results so far are kept. If it happens again, do not trust this "
        "model file.",
    )
