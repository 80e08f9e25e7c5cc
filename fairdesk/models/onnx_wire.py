"""A look into an ONNX file before ONNX Runtime sees it: what it is, and what it must not hold.

ONNX Runtime follows references from a model to other files. FairDesk opens the file alone, so a
model with such references is refused here, by walking the protobuf wire format: tensors hide in
the graph, in attributes of nodes, in functions and in subgraphs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

#: Message types, by the field numbers of onnx.proto, and the types of their parts to look into.
_PARTS: dict[str, dict[int, str]] = {
    "model": {7: "graph", 8: "opset", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node", 9: "opset", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {},
    "opset": {},
}
# the fields that are read, by the names of onnx.proto
_PRODUCER, _PRODUCER_VERSION = 2, 3
_DOMAIN = 1
_EXTERNAL_DATA, _DATA_LOCATION = 13, 14
_INPUT, _OUTPUT, _OPERATION = 1, 2, 4
_NAME, _INTEGERS, _STRINGS = 1, 8, 9
#: Where classifiers of skl2onnx keep the names of their classes.
_CLASS_LABELS = frozenset({"classlabels_int64s", "classlabels_ints", "classlabels_strings"})
#: Operations that hand their input on with another shape or type.
_HAND_ON = frozenset({"Cast", "Flatten", "Identity", "Reshape", "Squeeze"})
#: Subgraphs in subgraphs; nobody nests deeper.
_DEEPEST = 50

#: Sets of operations that ONNX Runtime brings along.
KNOWN_DOMAINS = frozenset({"", "ai.onnx", "ai.onnx.ml", "com.microsoft"})


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
    made_by : dict[str, tuple[str, str]]
        For each value by its name the operation that makes it, and its first input.
    classes : tuple[str, ...]
        The classes' names where the file has them.
    domains : set[str]
        Sets of operations that it uses.
    external : bool
        Whether a tensor lies in another file.
    has_graph : bool
        Whether there is a network at all.
    """

    producer: str = ""
    nodes: int = 0
    made_by: dict[str, tuple[str, str]] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    domains: set[str] = field(default_factory=set)
    external: bool = False
    has_graph: bool = False

    def maker(self, value: str) -> str:
        """Name the operation that computes a value, not only hands it on; empty when unknown."""
        operation = ""
        for _ in range(len(self.made_by)):
            operation, first = self.made_by.get(value, ("", ""))
            if operation not in _HAND_ON:
                break
            value = first
        return operation


def outline(data: bytes) -> Outline:
    """Look through an ONNX file.

    Raises
    ------
    WireError
        When the bytes are cut off or no such file.
    """
    found = Outline()
    _walk(memoryview(data), "model", found, 0)
    return found


def _walk(data: memoryview, kind: str, found: Outline, depth: int) -> None:
    if depth > _DEEPEST:
        raise WireError("it is nested too deeply")
    fields = list(_fields(data))
    for number, value in fields:
        part = _PARTS[kind].get(number)
        if part and isinstance(value, memoryview):
            found.has_graph |= kind == "model" and part == "graph"
            _walk(value, part, found, depth + 1)
        elif kind == "tensor":
            found.external |= number == _EXTERNAL_DATA or (number == _DATA_LOCATION and value == 1)
    if kind == "node":
        _read_node(fields, found)
    elif kind == "attribute":
        _read_attribute(fields, found)
    elif kind == "opset":
        found.domains.add("".join(_texts(fields, _DOMAIN)))
    elif kind == "model":
        found.producer = " ".join(_texts(fields, _PRODUCER) + _texts(fields, _PRODUCER_VERSION))


Fields = list[tuple[int, int | memoryview]]


def _read_node(fields: Fields, found: Outline) -> None:
    found.nodes += 1
    operation = "".join(_texts(fields, _OPERATION))
    first = next(iter(_texts(fields, _INPUT)), "")
    for output in _texts(fields, _OUTPUT):
        found.made_by[output] = (operation, first)


def _read_attribute(fields: Fields, found: Outline) -> None:
    if _CLASS_LABELS.isdisjoint(_texts(fields, _NAME)):
        return
    names = _texts(fields, _STRINGS)
    for number, value in fields:
        if number == _INTEGERS:
            integers = _packed(value) if isinstance(value, memoryview) else [value]
            # negative numbers are written as their complement to 2^64
            names += [str(i - (1 << 64) if i >> 63 else i) for i in integers]
    found.classes = tuple(names) or found.classes


def _packed(data: memoryview) -> list[int]:
    integers, at = [], 0
    while at < len(data):
        integer, at = _varint(data, at)
        integers.append(integer)
    return integers


def _texts(fields: Fields, wanted: int) -> list[str]:
    """Give the texts of a field that may be repeated."""
    return [
        bytes(value).decode(errors="replace")
        for number, value in fields
        if number == wanted and isinstance(value, memoryview)
    ]


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Give the fields of one message: number and value; other values than these as bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
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
            return value, at
        shift += 7
    raise WireError("it is cut off")
