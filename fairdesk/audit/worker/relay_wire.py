"""Frames between the guest and the older Python in which it asks a model.

A frame is one line of JSON, followed by the bytes of its arrays of numbers. Arrays of texts are
lists in the JSON, with nothing for a missing cell. This runs in Python 3.8 too.
"""

from __future__ import annotations

import json
import math
from typing import Any, BinaryIO, Dict, List, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

Frame = Tuple[Dict[str, Any], List["NDArray[Any]"]]

#: A line is no longer; an array of numbers takes no more bytes.
_LONGEST_LINE, _MOST_BYTES = 1 << 30, 8 << 30
_NUMBERS = frozenset({"<f8", "<f4"})


def write(stream: BinaryIO, message: dict[str, Any], arrays: Sequence[NDArray[Any]] = ()) -> None:
    """Write a frame.

    Parameters
    ----------
    message : dict
        What JSON can hold; ``"arrays"`` is this module's own key.
    arrays : sequence of NDArray
        Of float64 or float32, or of texts and NaN.
    """
    described: list[object] = []
    content = []
    for array in arrays:
        if array.dtype == object:
            described.append([None if cell != cell else cell for cell in array.tolist()])  # noqa: PLR0124 - NaN
            continue
        kind = "<f4" if array.dtype == np.float32 else "<f8"
        described.append({"kind": kind, "shape": array.shape})
        content.append(np.ascontiguousarray(array, kind).tobytes())
    stream.write(json.dumps({**message, "arrays": described}).encode() + b"\n")
    stream.writelines(content)
    stream.flush()


def read(stream: BinaryIO) -> Frame | None:
    """Read a frame; nothing at the end of the stream.

    Raises
    ------
    ValueError
        When it is none.
    """
    line = stream.readline(_LONGEST_LINE)
    if not line:
        return None
    message = json.loads(line)
    if not isinstance(message, dict) or not isinstance(message.get("arrays"), list):
        raise ValueError("it is not a frame")  # noqa: TRY004 - as all that is no frame
    arrays = [_array(stream, described) for described in message.pop("arrays")]
    return message, arrays


def _array(stream: BinaryIO, described: Any) -> NDArray[Any]:  # noqa: ANN401 - any JSON
    if isinstance(described, list):
        texts = np.empty(len(described), dtype=object)
        texts[:] = [math.nan if cell is None else cell for cell in described]
        return texts
    kind, shape = described["kind"], [int(length) for length in described["shape"]]
    size = math.prod(shape) * np.dtype(kind).itemsize if kind in _NUMBERS else -1
    if min(shape, default=0) < 0 or not 0 <= size <= _MOST_BYTES:
        raise ValueError("an array is described wrongly")
    content = stream.read(size)
    if len(content) < size:
        raise ValueError("an array ends too early")
    # a copy: compiled code takes no arrays that may not be written to
    return np.frombuffer(content, kind).reshape(shape).copy()


__all__ = ["Frame", "read", "write"]
