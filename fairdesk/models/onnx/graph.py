"""The network of an ONNX file as data, vetted before ONNX Runtime sees it.

ONNX Runtime follows references from a model to other files, and takes memory for what a tensor
declares. FairDesk opens the file alone, so a model with such references, or with tensors larger
than what they hold, is refused here, wherever in the model they hide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError

if TYPE_CHECKING:
    from onnx import AttributeProto, ModelProto, NodeProto, TensorProto

#: The smallest numbers are written two to a byte, or to a number.
_MOST_PER_PLACE = 2
#: Where a tensor's own numbers and texts are.
_TENSOR_DATA = (
    *("raw_data", "float_data", "double_data", "int32_data", "int64_data", "uint64_data"),
    "string_data",
)
#: A sparse tensor is written out by ONNX Runtime; larger ones are in no model of a table.
_MOST_SPARSE = 2**26

#: Sets of operations that ONNX Runtime brings along.
KNOWN_DOMAINS = frozenset({"", "ai.onnx", "ai.onnx.ml", "com.microsoft"})


class DamagedError(ValueError):
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


def parse(data: bytes) -> ModelProto:
    """Read an ONNX file.

    Raises
    ------
    DamagedError
        When the bytes are cut off, nested too deeply or no such file.
    """
    # loaded for files that are ONNX only
    from google.protobuf.message import DecodeError  # noqa: PLC0415
    from onnx import ModelProto  # noqa: PLC0415

    try:
        return ModelProto.FromString(data)
    except DecodeError as error:
        raise DamagedError("it is truncated, nested too deeply or not an ONNX model") from error


def outline(model: ModelProto) -> Outline:
    """Look through an ONNX model.

    Raises
    ------
    DamagedError
        When a tensor declares more than it holds.
    """
    found = Outline(
        producer=" ".join(filter(None, map(text, (model.producer_name, model.producer_version)))),
        notes={text(note.key): text(note.value) for note in model.metadata_props},
        has_graph=model.HasField("graph"),
    )
    own: set[str] = set()
    for part in _parts(model):
        match part.DESCRIPTOR.name:
            case "NodeProto":
                found.nodes += 1
                found.operations.add(text(part.op_type))
            case "OperatorSetIdProto":
                found.domains.add(text(part.domain))
            case "FunctionProto":
                own.add(text(part.domain))
            case "TensorProto":
                found.external |= bool(part.external_data) or part.data_location != part.DEFAULT
                _check_size(part)
            case "SparseTensorProto":
                if _size(part.dims) > _MOST_SPARSE:
                    raise DamagedError("a sparse tensor declares more numbers than any model has")
    found.domains -= own
    return found


def vet(path: Path, inside: Outline) -> None:
    """Refuse a model without a graph, with weights in other files, or with unknown operations.

    Raises
    ------
    ModelError
        With what is in it and what to do.
    """
    if not inside.has_graph:
        raise ModelError(f"“{path.name}” contains no network.", remedy="Export the model again.")
    if inside.external:
        raise ModelError(
            f"“{path.name}” refers to other files for its weights.",
            why=(
                "FairDesk reads only the model file, because references can point anywhere on "
                "this computer."
            ),
            remedy="Export the model with its weights inside.",
        )
    strangers = inside.domains - KNOWN_DOMAINS
    if strangers:
        raise ModelError(
            f"“{path.name}” needs operations that FairDesk does not have: "
            f"{', '.join(sorted(strangers))}.",
            why="They are custom code of their author, which is not in the file.",
            remedy="Ask for the model with standard ONNX operations.",
        )


def text(value: str | bytes) -> str:
    """Return a text of the file; one that is not UTF-8 is given as bytes."""
    return value if isinstance(value, str) else value.decode(errors="replace")


def _parts(message: Any) -> Iterator[Any]:  # noqa: ANN401 - protobuf's messages have no types
    """Yield all messages within a message, at any depth."""
    for description, value in message.ListFields():
        if description.message_type is not None:
            for part in [value] if hasattr(value, "ListFields") else value:
                yield part
                yield from _parts(part)


def _check_size(tensor: TensorProto) -> None:
    """Refuse a tensor that declares more than it holds; what lies elsewhere is told as such."""
    if tensor.external_data or tensor.data_location != tensor.DEFAULT:
        return
    held = sum(len(getattr(tensor, name)) for name in _TENSOR_DATA)
    if _size(tensor.dims) > held * _MOST_PER_PLACE:
        raise DamagedError("a tensor declares more numbers than it holds")


def _size(dimensions: Any) -> int:  # noqa: ANN401 - as above
    if any(length < 0 for length in dimensions):
        raise DamagedError("a tensor declares a length below zero")
    return prod(dimensions)


Array = NDArray[np.float64] | NDArray[np.int64] | NDArray[np.object_]

#: Operations that hand their input on with another shape or type.
HAND_ON = frozenset({"Cast", "Dropout", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
#: Activations by their names in ONNX: those without settings, and those with a slope or a depth,
#: and what that is where nothing is said.
PLAIN = {
    "Exp": "exponential",
    "Relu": "relu",
    "Selu": "selu",
    "Sigmoid": "sigmoid",
    "Softplus": "softplus",
    "Softsign": "softsign",
    "Tanh": "tanh",
}
SLOPED = {
    "Elu": ("elu", 1.0),
    "LeakyRelu": ("leaky_relu", 0.01),
    "ThresholdedRelu": ("thresholded_relu", 1.0),
}
#: What stands between a classifier and its answer.
_DRESSING = HAND_ON | {"Normalizer", "ZipMap"}
#: Where classifiers keep the names of their classes.
_CLASS_LABELS = ("classlabels_int64s", "classlabels_ints", "classlabels_strings")
#: Kinds of tensors that are read, as onnx.proto names them.
_KINDS = frozenset({"FLOAT", "DOUBLE", "UINT8", "INT8", "INT32", "INT64", "BOOL", "STRING"})


@dataclass(frozen=True)
class Node:
    """One operation.

    Attributes
    ----------
    operation : str
        Its kind.
    inputs, outputs : tuple[str, ...]
        The names of values; an input that is left out is empty.
    settings : dict
        By name; each is read as what is asked for, whatever kind the file says that it is of.
    """

    operation: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    settings: dict[str, AttributeProto]

    def number(self, name: str, default: float = 0.0) -> float:
        """Return a setting that is one number."""
        return float(self.settings[name].f) if name in self.settings else default

    def integer(self, name: str, default: int = 0) -> int:
        """Return a setting that is one whole number."""
        return int(self.settings[name].i) if name in self.settings else default

    def text(self, name: str) -> str:
        """Return a setting that is one text."""
        return text(self.settings[name].s) if name in self.settings else ""

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a setting of several numbers."""
        return np.array(self.settings[name].floats if name in self.settings else (), np.float64)

    def integers(self, name: str) -> NDArray[np.int64]:
        """Return a setting of several whole numbers."""
        return np.array(self.settings[name].ints if name in self.settings else (), np.int64)

    def texts(self, name: str) -> list[str]:
        """Return a setting of several texts."""
        return [text(each) for each in self.settings[name].strings] if name in self.settings else []

    @property
    def first(self) -> str:
        """Its first input."""
        return self.inputs[0] if self.inputs else ""

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes that it tells apart, where it says them."""
        ways = ((*self.texts(name), *map(str, self.integers(name))) for name in _CLASS_LABELS)
        return next((found for found in ways if found), ())


NO_NODE = Node("", (), (), {})


class Graph:
    """The network.

    Attributes
    ----------
    nodes : list of Node
        Its operations, without those of subgraphs.
    """

    def __init__(self, model: ModelProto) -> None:
        self.nodes = [_node(each) for each in model.graph.node]
        self._tensors = {text(each.name): each for each in model.graph.initializer}
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
        DamagedError
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
                order = node.integers("perm")
                return array.transpose(order.tolist() if len(order) else None)
            if node.operation == "Reshape" and len(node.inputs) > 1:
                shape = self.constant(node.inputs[1], depth - 1)
                if shape is not None and 0 not in shape:
                    return array.reshape(shape.astype(int).ravel().tolist())
        except ValueError as error:
            raise DamagedError(f"a constant of another shape: {error}") from error
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
                swapped = node.operation == "Gemm" and node.integer("transB")
                exact, needed = True, other.shape[1 if swapped else 0]
            case "LinearClassifier" | "LinearRegressor":
                rows = max(len(node.numbers("intercepts")), node.integer("targets"), 1)
                exact, needed = True, len(node.numbers("coefficients")) // rows
            case "Scaler":
                needed = max(len(node.numbers(name)) for name in ("offset", "scale"))
                exact = needed > 1
            case "BatchNormalization" if other is not None:
                exact, needed = True, other.size
            case "Sub" | "Add" | "Mul" | "Div" if other is not None:
                exact, needed = other.size > 1, other.size
            case "ArrayFeatureExtractor" | "Gather" if other is not None and other.size:
                needed = int(other.astype(int).max()) + 1
            case _:
                features = node.integers("nodes_featureids")
                needed = max(features.tolist(), default=-1) + 1
        return exact, needed


def _node(proto: NodeProto) -> Node:
    return Node(
        operation=text(proto.op_type),
        inputs=tuple(map(text, proto.input)),
        outputs=tuple(map(text, proto.output)),
        settings={text(each.name): each for each in proto.attribute},
    )


def _constant(node: Node) -> Array | None:
    for name, setting in node.settings.items():
        match name:
            case "value":
                return _tensor(setting.t) if setting.HasField("t") else None
            case "value_float":
                return np.array(node.number(name))
            case "value_int":
                return np.array(node.integer(name))
            case "value_floats":
                return node.numbers(name)
            case "value_ints":
                return node.integers(name)
    return None


def _tensor(proto: TensorProto) -> Array | None:
    """Read a tensor; numbers with a comma come out in double precision."""
    from onnx import TensorProto, numpy_helper  # noqa: PLC0415 - loaded with the file

    if proto.data_type not in map(TensorProto.DataType.Value, _KINDS):
        return None
    try:
        values: NDArray[Any] = numpy_helper.to_array(proto)
    except ValueError as error:
        raise DamagedError(f"a tensor’s numbers do not fit its shape: {error}") from error
    if values.dtype.kind == "O":
        return values
    return values.astype(np.float64) if values.dtype.kind == "f" else values.astype(np.int64)
