"""Keras files, `.keras` and `.h5`: dense networks as data, others through TensorFlow."""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairdesk.errors import ModelError
from fairdesk.files import sha256
from fairdesk.models.dense import DenseNetwork
from fairdesk.models.keras_chain import Float64, KerasLayer, NotPlainError, Plain, plain
from fairdesk.models.model import ModelCard, OpenedModel, Takes

if TYPE_CHECKING:
    import h5py

#: A description longer than this is no network that anybody trained.
MOST_CONFIG_BYTES = 32 * 1024**2
#: All weights together.
MOST_WEIGHT_BYTES = 2 * 1024**3
#: A member of a `.keras` file that unpacks to more than so many times its size is a trap.
MOST_RATIO = 200
#: Layers that run code, or read files, that come with the model or lie beside it.
PROGRAMS = {
    "Lambda": "carries Python code of its author",
    "TFSMLayer": "loads another model from a folder",
    "TorchModuleWrapper": "carries a PyTorch program",
    "JaxLayer": "carries a JAX program",
    "FlaxLayer": "carries a JAX program",
    "TextVectorization": "may read files of this computer",
    "StringLookup": "may read files of this computer",
    "IntegerLookup": "may read files of this computer",
}

#: What the readers below raise on a file that is cut off, altered, or of another making.
DAMAGE = (
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)


def open_keras(path: Path, *, trusted: bool = False, output: str = "") -> OpenedModel:
    """Open a Keras file.

    Raises
    ------
    ModelError
        When the file is damaged, holds weights only, runs code, or needs TensorFlow and that is
        not installed.
    """
    try:
        with _opened(path) as (config, version, weights):
            layers = _described(config)
            _refuse_programs(config)
            try:
                network = plain(_chain(config, layers, weights))
            except NotPlainError as reason:
                other = str(reason)
            else:
                return _dense(path, network, version)
    except DAMAGE as error:
        raise ModelError(
            f"“{path.name}” is damaged or was not written by Keras.",
            why=f"Reading it failed: {error}.",
            remedy="Save the model again with model.save().",
        ) from error
    # only networks that are not plain ever need TensorFlow, and it takes ten seconds to load
    from fairdesk.models.keras_tensorflow import open_with_tensorflow  # noqa: PLC0415

    return open_with_tensorflow(path, config, version, why=other)


def _dense(path: Path, network: Plain, version: str) -> DenseNetwork:
    widths = "-".join(str(width) for width in network.widths)
    card = ModelCard(
        path=str(path),
        sha256=sha256(path),
        format=f"Keras {version.partition('.')[0]} network".replace("  ", " "),
        summary=f"Dense network {widths} with {network.weights:,} weights.",
        takes=Takes.MATRIX,
        inputs=tuple(f"input {i}" for i in range(1, network.widths[0] + 1)),
        named=False,
        classes=tuple(str(i) for i in range(network.classes)),
        scores=network.scores,
        read_as_data=True,
        saved_with=f"Keras {version}" if version else "",
        warnings=network.warnings,
    )
    return DenseNetwork(card, network.layers, network.centre)


Weights = Callable[[str, str], list[Float64]]


@contextmanager
def _opened(path: Path) -> Iterator[tuple[dict[str, Any], str, Weights]]:
    """Open either kind of file: its description, Keras version, and how to read weights.

    The weights of a layer are found by its name (`.h5`) or its place among the layers of its
    class (`.keras`).
    """
    # h5py takes a third of a second to load, and the window never needs it
    import h5py  # noqa: PLC0415

    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            config = json.loads(_member(archive, "config.json", MOST_CONFIG_BYTES))
            metadata = json.loads(_member(archive, "metadata.json", MOST_CONFIG_BYTES))
            raw = _member(archive, "model.weights.h5", MOST_WEIGHT_BYTES)
        with h5py.File(BytesIO(raw), "r") as file:
            yield config, str(metadata.get("keras_version", "")), _by_place(file)
    else:
        with h5py.File(path, "r") as file:
            if "model_config" not in file.attrs:
                raise ModelError(
                    f"“{path.name}” holds no model.",
                    why="It is an HDF5 file without the description of a network: perhaps it "
                    "holds weights only.",
                    remedy="Save the whole model with model.save(), not only its weights.",
                )
            config = json.loads(_text(file.attrs["model_config"]))
            yield config, _text(file.attrs.get("keras_version", "")), _by_name(file)


def _member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """Read a member, unless it is absurdly large."""
    info = archive.getinfo(name)
    if info.file_size > most or info.file_size > MOST_RATIO * max(info.compress_size, 1):
        raise ValueError(f"its part {name} is too large")
    return archive.read(info)


def _text(value: object) -> str:
    text = value.decode() if isinstance(value, bytes) else str(value)
    if len(text) > MOST_CONFIG_BYTES:
        raise ValueError("its description is too large")
    return text


def _by_name(file: h5py.File) -> Weights:
    """Find weights as Keras writes them to `.h5`: a group per layer name."""

    def read(name: str, _: str) -> list[Float64]:
        place = f"model_weights/{name}" if "model_weights" in file else name
        entries = _follow(file, place).attrs["weight_names"]
        return [_array(file, f"{place}/{_text(entry)}") for entry in entries]

    return read


def _by_place(file: h5py.File) -> Weights:
    """Find weights as Keras writes them to `.keras`: a group per class and place in it."""
    # the second is how Keras 2.12 to 2.15 wrote sequential models
    roots = ("layers", "_layer_checkpoint_dependencies")
    root = next((name for name in roots if name in file), "layers")

    def read(_: str, place: str) -> list[Float64]:
        where = f"{root}/{place}/vars"
        return [_array(file, f"{where}/{i}") for i in range(len(_follow(file, where)))]

    return read


def _follow(file: h5py.File, place: str) -> Any:  # noqa: ANN401 - a group or dataset of h5py, which has no types
    """Go to a place in this file itself; HDF5 can point into others."""
    # h5py takes a third of a second to load, and the window never needs it
    import h5py  # noqa: PLC0415

    found = file
    for part in place.split("/"):
        link = found.get(part, getlink=True)
        if link is None or type(link) is not h5py.HardLink:
            raise LookupError(f"“{place}” is missing or a link")
        found = found[part]
    return found


def _array(file: h5py.File, place: str) -> Float64:
    """Read an array that lies in this file itself."""
    found = _follow(file, place)
    if found.external or found.is_virtual:
        raise ValueError(f"“{place}” does not lie in the file")
    if found.nbytes > MOST_WEIGHT_BYTES:
        raise ValueError(f"“{place}” is too large")
    return np.asarray(found[()], dtype=np.float64)


def _described(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give the descriptions of a model's layers.

    Keras before 2.2.3 wrote the layers of a sequential model as the description itself.
    """
    inner = config["config"]
    layers = inner if isinstance(inner, list) else inner.get("layers", [])
    return [layer for layer in layers if isinstance(layer, dict)]


def _refuse_programs(part: object) -> None:
    """Refuse, by name, what would run code or read other files, wherever it stands."""
    if isinstance(part, dict):
        name = part.get("class_name")
        if isinstance(name, str) and name in PROGRAMS:
            raise ModelError(
                f"The model has a layer “{name}”, which {PROGRAMS[name]}.",
                why="FairDesk does not run code that comes inside a Keras file.",
                remedy="Ask for the model without this layer, or exported as ONNX.",
            )
        for value in part.values():
            _refuse_programs(value)
    elif isinstance(part, list):
        for value in part:
            _refuse_programs(value)


def _chain(
    config: Mapping[str, Any], described: Sequence[dict[str, Any]], weights: Weights
) -> list[KerasLayer]:
    """Give the layers in the order in which they compute.

    Raises
    ------
    NotPlainError
        When they are no chain from one input to one output.
    """
    kind = config.get("class_name")
    if kind not in ("Sequential", "Functional", "Model"):
        raise NotPlainError(f"a model of the class “{kind}”")
    places: Counter[str] = Counter()
    layers = {}
    for layer in described:
        kind_of_layer, settings = str(layer["class_name"]), layer["config"]
        place = _snake_case(kind_of_layer)
        number = places[place]
        places[place] += 1
        name = str(settings.get("name", ""))
        where = f"{place}_{number}" if number else place
        layers[name] = KerasLayer(
            kind_of_layer,
            name,
            settings,
            partial(weights, name, where),
        )
        _refuse_other_shapes(kind_of_layer, settings)
    if len(layers) != len(described):
        raise NotPlainError("layers without names of their own")
    if kind == "Sequential":
        return list(layers.values())
    return [layers[name] for name in _order(config["config"], described)]


def _refuse_other_shapes(kind: str, settings: Mapping[str, Any]) -> None:
    """Refuse inputs that are no rows of numbers; (None, None, n) is how some files spell it."""
    shape = settings.get("batch_shape", settings.get("batch_input_shape"))
    if shape is not None and (len(shape) < 2 or any(shape[1:-1])):
        raise NotPlainError(f"an input of the shape {tuple(shape)} at the layer “{kind}”")


def _order(config: Mapping[str, Any], described: Sequence[Mapping[str, Any]]) -> list[str]:
    """Follow a functional model from its output to its input."""
    before = {}
    for layer in described:
        found = list(_histories(layer.get("inbound_nodes", [])))
        if len(layer.get("inbound_nodes", [])) > 1 or len(found) > 1:
            raise NotPlainError("layers that are used or joined more than once")
        before[str(layer["config"]["name"])] = found[0] if found else None
    outputs = list(_histories([config["output_layers"]]))
    if len(outputs) != 1:
        raise NotPlainError("several outputs")
    order: list[str] = []
    name: str | None = outputs[0]
    while name is not None:
        if name in order or name not in before:
            raise NotPlainError("layers in a loop")
        order.append(name)
        name = before[name]
    if len(order) != len(before):
        raise NotPlainError("branches")
    return order[::-1]


def _histories(part: object) -> Iterator[str]:
    """Find the layer names in what Keras 2 or 3 writes about connections.

    Both name a tensor as ``[layer, node, output]``; Keras 2 may add a dictionary.
    """
    match part:
        case [str(name), int(), int(), *_]:
            yield name
        case {"args": args, "kwargs": kwargs}:
            if any(kwargs.values()):
                raise NotPlainError("layers called in an unusual way")
            yield from _histories(args)
        case {"config": {"keras_history": history}}:
            yield from _histories(history)
        case list():
            for item in part:
                yield from _histories(item)


def _snake_case(name: str) -> str:
    """Spell a class name as Keras spells it in `.keras` files: ``LeakyReLU``, ``leaky_re_lu``."""
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
