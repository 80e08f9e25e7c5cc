"""The network of an ONNX file as data: its operations, their settings and its constants.

Only what `fairdesk.models.onnx.wire.outline` has let through is read here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.onnx.wire import (
    Fields,
    WireError,
    bytes_of,
    fields_of,
    integers_of,
    texts_of,
)

Array = NDArray[np.float64] | NDArray[np.int64] | NDArray[np.object_]

#: Operations that hand their input on with another shape or type.
HAND_ON = frozenset({"Cast", "Dropout", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
#: What stands between a classifier and its answer.
_DRESSING = HAND_ON | {"Normalizer", "ZipMap"}
#: Where classifiers keep the names of their classes.
_CLASS_LABELS = ("classlabels_int64s", "classlabels_ints", "classlabels_strings")
#: Kinds of tensors by their numbers in onnx.proto: NumPy's type, and the field that is used where
#: the numbers are not given as plain bytes.
_KINDS: dict[int, tuple[str, int]] = {
    1: ("<f4", 4),
    2: ("<u1", 5),
    3: ("<i1", 5),
    6: ("<i4", 5),
    7: ("<i8", 7),
    9: ("<?", 5),
    11: ("<f8", 10),
}
_TEXT = 8


@dataclass(frozen=True)
class Setting:
    """A setting of an operation; each property reads it as that kind."""

    fields: Fields

    @property
    def number(self) -> float:
        """One number."""
        raw = bytes_of(self.fields, 2)
        return float(struct.unpack("<f", raw[-4:])[0]) if len(raw) >= 4 else 0.0

    @property
    def integer(self) -> int:
        """One whole number."""
        found = integers_of(self.fields, 3)
        return int(found[-1]) if len(found) else 0

    @property
    def text(self) -> str:
        """One text."""
        return "".join(texts_of(self.fields, 4)[-1:])

    @property
    def numbers(self) -> NDArray[np.float64]:
        """Several numbers."""
        return _from_bytes(bytes_of(self.fields, 7), "<f4").astype(np.float64)

    @property
    def integers(self) -> NDArray[np.int64]:
        """Several whole numbers."""
        return integers_of(self.fields, 8)

    @property
    def texts(self) -> list[str]:
        """Several texts."""
        return texts_of(self.fields, 9)

    @property
    def tensor(self) -> Array | None:
        """A tensor; none where it is of another kind."""
        raw = bytes_of(self.fields, 5)
        return _tensor(list(fields_of(memoryview(raw)))) if raw else None


NOTHING = Setting([])


@dataclass(frozen=True)
class Node:
    """One operation.

    Attributes
    ----------
    operation : str
        Its name.
    inputs, outputs : tuple[str, ...]
        The values that it takes and makes, by name; an empty name is an input left out.
    settings : dict[str, Setting]
        By name.
    """

    operation: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    settings: dict[str, Setting]

    def setting(self, name: str) -> Setting:
        """Return a setting, an empty one where it is left out."""
        return self.settings.get(name, NOTHING)

    @property
    def first(self) -> str:
        """Its first input."""
        return self.inputs[0] if self.inputs else ""

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes that it tells apart, where it says them."""
        for name in _CLASS_LABELS:
            setting = self.setting(name)
            found = (*setting.texts, *(str(i) for i in setting.integers))
            if found:
                return found
        return ()


NO_NODE = Node("", (), (), {})


class Graph:
    """The network.

    Parameters
    ----------
    data : bytes
        The file.

    Attributes
    ----------
    nodes : list of Node
        Its operations, without those of subgraphs.
    """

    def __init__(self, data: bytes) -> None:
        self.nodes: list[Node] = []
        self._tensors: dict[str, Fields] = {}
        for _, graph in _parts(fields_of(memoryview(data)), 7):
            for number, part in _parts(fields_of(graph), 1, 5):
                fields = list(fields_of(part))
                if number == 1:
                    self.nodes.append(_node(fields))
                else:
                    self._tensors["".join(texts_of(fields, 8))] = fields
        self._makers = {name: node for node in self.nodes for name in node.outputs if name}

    def maker(self, value: str) -> Node | None:
        """Return the operation that makes a value; none for what the model is given."""
        return self._makers.get(value)

    def back(self, value: str) -> Iterator[Node]:
        """Yield the operation that makes a value, and those before it, by their first inputs."""
        for _ in range(len(self.nodes)):
            node = self.maker(value)
            if node is None:
                return
            yield node
            value = node.first

    def computes(self, value: str) -> Node | None:
        """Return the operation that computes a value, not only hands it on; none when unknown."""
        return next((node for node in self.back(value) if node.operation not in HAND_ON), None)

    def class_names(self, value: str) -> tuple[str, ...]:
        """Return the classes' names, as the operations before a value tell them; empty if none."""
        for node in self.back(value):
            if node.classes:
                return node.classes
            if node.operation == "ArrayFeatureExtractor":
                names = self.constant(node.first)
                return () if names is None else tuple(str(name) for name in names.ravel())
            if node.operation not in _DRESSING:
                break
        return ()

    def constant(self, value: str, depth: int = 8) -> Array | None:
        """Return a value that does not depend on the model's inputs; none where it does.

        Raises
        ------
        WireError
            When its numbers do not fit its shape.
        """
        if value in self._tensors:
            return _tensor(self._tensors[value])
        node = self.maker(value)
        if node is None or not depth:
            return None
        if node.operation == "Constant":
            return _constant(node)
        if node.operation not in (*HAND_ON, "Transpose"):
            return None
        array = self.constant(node.first, depth - 1)
        if array is None or node.operation in ("Cast", "Dropout", "Identity"):
            return array
        return self._reshaped(node, array, depth)

    def _reshaped(self, node: Node, array: Array, depth: int) -> Array | None:
        try:
            if node.operation == "Transpose":
                order = node.setting("perm").integers
                return array.transpose(order.tolist() if len(order) else None)
            if node.operation == "Reshape" and len(node.inputs) > 1:
                shape = self.constant(node.inputs[1], depth - 1)
                if shape is not None and 0 not in shape:
                    return array.reshape(shape.astype(int).ravel().tolist())
        except ValueError as error:
            raise WireError(f"a constant of another shape: {error}") from error
        return None

    def width(self, value: str) -> int:
        """Return how many columns a value has, by what the operations after it need.

        Returns
        -------
        int
            0 where nothing tells. Of trees it is the last column that they look at: further ones
            would change nothing.
        """
        least = 0
        seen, waiting = {value}, [value]
        while waiting:
            value = waiting.pop()
            for node in self.nodes:
                if not node.inputs or node.first != value:
                    continue
                if node.operation in HAND_ON or node.operation in ("Normalizer", "Binarizer"):
                    new = [name for name in node.outputs[:1] if name not in seen]
                    seen.update(new)
                    waiting += new
                    continue
                exact, needed = self._needs(node)
                if exact:
                    return needed
                least = max(least, needed)
        return least

    def _needs(self, node: Node) -> tuple[bool, int]:
        """Return how many columns an operation needs, and whether exactly so many."""
        other = self.constant(node.inputs[1]) if len(node.inputs) > 1 else None
        exact, needed = False, 0
        match node.operation:
            case "MatMul" | "Gemm" if other is not None and other.ndim == 2:
                swapped = node.operation == "Gemm" and node.setting("transB").integer
                exact, needed = True, other.shape[1 if swapped else 0]
            case "LinearClassifier" | "LinearRegressor":
                rows = max(
                    len(node.setting("intercepts").numbers), node.setting("targets").integer, 1
                )
                exact, needed = True, len(node.setting("coefficients").numbers) // rows
            case "Scaler":
                needed = max(len(node.setting(name).numbers) for name in ("offset", "scale"))
                exact = needed > 1
            case "BatchNormalization" if other is not None:
                exact, needed = True, other.size
            case "Sub" | "Add" | "Mul" | "Div" if other is not None:
                exact, needed = other.size > 1, other.size
            case "ArrayFeatureExtractor" | "Gather" if other is not None and other.size:
                needed = int(other.astype(int).max()) + 1
            case _:
                features = node.setting("nodes_featureids").integers
                needed = max(features.tolist(), default=-1) + 1
        return exact, needed


def _parts(
    fields: Iterator[tuple[int, int | memoryview]], *wanted: int
) -> Iterator[tuple[int, memoryview]]:
    for number, value in fields:
        if number in wanted and isinstance(value, memoryview):
            yield number, value


def _node(fields: Fields) -> Node:
    settings = {}
    for _, part in _parts(iter(fields), 5):
        inner = list(fields_of(part))
        settings["".join(texts_of(inner, 1))] = Setting(inner)
    return Node(
        operation="".join(texts_of(fields, 4)),
        inputs=tuple(texts_of(fields, 1)),
        outputs=tuple(texts_of(fields, 2)),
        settings=settings,
    )


def _constant(node: Node) -> Array | None:
    for name, setting in node.settings.items():
        if name == "value":
            return setting.tensor
        if name == "value_float":
            return np.array(setting.number)
        if name == "value_int":
            return np.array(setting.integer)
        if name == "value_floats":
            return setting.numbers
        if name == "value_ints":
            return setting.integers
    return None


def _tensor(fields: Fields) -> Array | None:
    """Read a tensor; numbers with a comma come out in double precision."""
    kind = int(next(iter(integers_of(fields, 2)), 0))
    shape = integers_of(fields, 1).tolist()
    values: Array
    if kind == _TEXT:
        values = np.array(texts_of(fields, 6), dtype=object)
    elif kind in _KINDS:
        spelt, place = _KINDS[kind]
        raw = bytes_of(fields, 9)
        if raw:
            numbers = _from_bytes(raw, spelt)
        elif place in (4, 10):
            numbers = _from_bytes(bytes_of(fields, place), spelt)
        else:
            numbers = integers_of(fields, place)
        values = numbers.astype(np.float64) if spelt[1] == "f" else numbers.astype(np.int64)
    else:
        return None
    try:
        return values.reshape(shape)
    except ValueError as error:
        raise WireError(f"a tensor's numbers do not fit its shape: {error}") from error


def _from_bytes(raw: bytes, kind: str) -> NDArray[Any]:
    size = np.dtype(kind).itemsize
    if len(raw) % size:
        raise WireError("it is cut off")
    return np.frombuffer(raw, dtype=kind)
