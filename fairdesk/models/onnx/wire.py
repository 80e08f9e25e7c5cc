"""A look into an ONNX file before ONNX Runtime sees it: what it is, and what it must not hold.

ONNX Runtime follows references from a model to other files, and takes memory for what a tensor
declares. FairDesk opens the file alone, so a model with such references, or with tensors larger
than what they hold, is refused here, by walking the protobuf wire format: tensors hide in the
graph, in attributes of nodes, in functions and in subgraphs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

#: Message types, by the field numbers of onnx.proto, and the types of their parts to look into.
_PARTS: dict[str, dict[int, str]] = {
    "model": {7: "graph", 8: "opset", 14: "note", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node", 9: "opset", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {},
    "opset": {},
    "note": {},
}
# the fields that are read, by the names of onnx.proto
_PRODUCER, _PRODUCER_VERSION = 2, 3
_OPSET_DOMAIN, _FUNCTION_DOMAIN = 1, 10
_NODE_OPERATION = 4
_NOTE_KEY, _NOTE_VALUE = 1, 2
_EXTERNAL_DATA, _DATA_LOCATION = 13, 14
_TENSOR_DIMENSIONS, _SPARSE_DIMENSIONS = 1, 3
#: Where a tensor's own numbers and texts are.
_TENSOR_DATA = frozenset({4, 5, 6, 7, 9, 10, 11})
#: The smallest numbers are written two to a byte.
_MOST_PER_BYTE = 2
#: A sparse tensor is written out by ONNX Runtime; larger ones are in no model of a table.
_MOST_SPARSE = 2**26
#: Subgraphs in subgraphs; nobody nests deeper.
_DEEPEST = 50

#: Sets of operations that ONNX Runtime brings along.
KNOWN_DOMAINS = frozenset({"", "ai.onnx", "ai.onnx.ml", "com.microsoft"})

Fields = list[tuple[int, int | memoryview]]


class WireError(ValueError):
    """The bytes are no ONNX model."""


@dataclass
class Outline:
    """What a look into the file tells.

    Attributes
    ----------
    producer : str
        The program that wrote it, with its version.
    nodes : int
        Operations, in subgraphs too.
    operations : set[str]
        Their names.
    domains : set[str]
        Sets of operations that it uses, without those that it defines itself.
    notes : dict[str, str]
        What its author wrote beside the network.
    external : bool
        Whether a tensor lies in another file.
    has_graph : bool
        Whether there is a network at all.
    """

    producer: str = ""
    nodes: int = 0
    operations: set[str] = field(default_factory=set)
    domains: set[str] = field(default_factory=set)
    notes: dict[str, str] = field(default_factory=dict)
    external: bool = False
    has_graph: bool = False


def outline(data: bytes) -> Outline:
    """Look through an ONNX file.

    Raises
    ------
    WireError
        When the bytes are cut off or no such file, or a tensor declares more than it holds.
    """
    found = Outline()
    own: set[str] = set()
    _walk(memoryview(data), "model", found, own, 0)
    found.domains -= own
    return found


def _walk(data: memoryview, kind: str, found: Outline, own: set[str], depth: int) -> None:
    if depth > _DEEPEST:
        raise WireError("it is nested too deeply")
    fields = list(fields_of(data))
    for number, value in fields:
        part = _PARTS[kind].get(number)
        if part and isinstance(value, memoryview):
            found.has_graph |= kind == "model" and part == "graph"
            _walk(value, part, found, own, depth + 1)
    if kind == "tensor":
        _look_at_tensor(fields, found)
    elif kind == "sparse":
        if prod(_dimensions(fields, _SPARSE_DIMENSIONS)) > _MOST_SPARSE:
            raise WireError("a sparse tensor declares more numbers than any model has")
    elif kind == "node":
        found.nodes += 1
        found.operations.update(texts_of(fields, _NODE_OPERATION))
    elif kind == "opset":
        found.domains.add("".join(texts_of(fields, _OPSET_DOMAIN)))
    elif kind == "function":
        own.update(texts_of(fields, _FUNCTION_DOMAIN))
    elif kind == "note":
        found.notes["".join(texts_of(fields, _NOTE_KEY))] = "".join(texts_of(fields, _NOTE_VALUE))
    elif kind == "model":
        found.producer = " ".join(texts_of(fields, _PRODUCER) + texts_of(fields, _PRODUCER_VERSION))


def _look_at_tensor(fields: Fields, found: Outline) -> None:
    held = 0
    for number, value in fields:
        found.external |= number == _EXTERNAL_DATA or (number == _DATA_LOCATION and value != 0)
        if number in _TENSOR_DATA:
            held += len(value) + 1 if isinstance(value, memoryview) else 1
    # what lies elsewhere is told as such
    if not found.external and prod(_dimensions(fields, _TENSOR_DIMENSIONS)) > held * _MOST_PER_BYTE:
        raise WireError("a tensor declares more numbers than it holds")


def _dimensions(fields: Fields, wanted: int) -> list[int]:
    dimensions: list[int] = [int(length) for length in integers_of(fields, wanted)]
    if any(length < 0 for length in dimensions):
        raise WireError("a tensor declares a length below nought")
    return dimensions


def integers_of(fields: Fields, wanted: int) -> NDArray[np.int64]:
    """Return the whole numbers of a field that may be repeated, packed together or not."""
    found = [
        _unpacked(value) if isinstance(value, memoryview) else np.array([value], dtype=np.uint64)
        for number, value in fields
        if number == wanted
    ]
    # negative numbers are written as their complement to 2^64
    return np.concatenate([np.empty(0, np.uint64), *found]).view(np.int64)


def _unpacked(data: memoryview) -> NDArray[np.uint64]:
    """Read numbers of seven bits to a byte, of which the last one is below 128."""
    raw = np.frombuffer(data, dtype=np.uint8)
    if not raw.size:
        return np.empty(0, np.uint64)
    ends = np.flatnonzero(raw < 0x80)
    if not ends.size or ends[-1] != raw.size - 1:
        raise WireError("it is cut off")
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts + 1
    if lengths.max() > 10:
        raise WireError("it holds bytes that belong to no ONNX file")
    places = np.arange(raw.size) - np.repeat(starts, lengths)
    parts = (raw & 0x7F).astype(np.uint64) << (7 * places).astype(np.uint64)
    return np.asarray(np.add.reduceat(parts, starts))


def bytes_of(fields: Fields, wanted: int) -> bytes:
    """Return the bytes of a field, of all its parts when it is repeated."""
    return b"".join(
        value for number, value in fields if number == wanted and isinstance(value, memoryview)
    )


def texts_of(fields: Fields, wanted: int) -> list[str]:
    """Return the texts of a field that may be repeated."""
    return [
        bytes(value).decode(errors="replace")
        for number, value in fields
        if number == wanted and isinstance(value, memoryview)
    ]


def fields_of(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield the fields of one message: number and value; other values than these as bytes.

    Raises
    ------
    WireError
        When the bytes are cut off or no message.
    """
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if key >> 32:
            raise WireError("it holds bytes that belong to no ONNX file")
        if wire == 0:
            integer, at = _varint(data, at)
            yield number, integer
            continue
        if wire == 2:
            length, at = _varint(data, at)
        elif wire in (1, 5):
            length = 8 if wire == 1 else 4
        else:
            raise WireError("it holds bytes that belong to no ONNX file")
        if at + length > len(data):
            raise WireError("it is cut off")
        yield number, data[at : at + length]
        at += length


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            # more bits are lost on those that read it into 64
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7
    raise WireError("it is cut off")
