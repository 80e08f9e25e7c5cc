"""Vet an ONNX file before ONNX Runtime sees it: what it is, and what it must not hold.

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

from fairdesk.errors import ModelError

if TYPE_CHECKING:
    from onnx import ModelProto, TensorProto

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
