"""Keras files, `.keras`, `.h5` and SavedModel: dense networks as data, others by TensorFlow."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fairdesk.errors import ModelError
from fairdesk.files import sha256
from fairdesk.models.decisions.outputs import choose
from fairdesk.models.dense.chain import Learnt, NotPlainError, Plain, network_sentence
from fairdesk.models.dense.layers import DenseNetwork
from fairdesk.models.keras.chain import KerasLayer, plain, side_by_side
from fairdesk.models.keras.parts import (
    DAMAGE,
    KerasParts,
    described,
    look_through,
    of_output,
    opened,
)
from fairdesk.models.keras.tensorflow import has_tensorflow
from fairdesk.models.model import Capability, ModelCard, OpenedModel, Takes

#: No network that anybody trained on a table has more.
MOST_LAYERS = 2_000
#: Losses of estimates, as Keras spells them in any version, without underscores.
_OF_VALUES = frozenset(
    {"mse", "mae", "mape", "msle", "huber", "huberloss", "logcosh", "poisson"}
    | {"meansquarederror", "meanabsoluteerror", "meanabsolutepercentageerror"}
    | {"meansquaredlogarithmicerror"}
)
_OF_TWO = "binarycrossentropy"


def open_keras(path: Path, *, trusted: bool = False, output: str = "") -> OpenedModel:
    """Open a Keras file, or TensorFlow's folder.

    Parameters
    ----------
    trusted : bool
        Whether the auditor agreed that code inside may run.
    output : str
        Which of its outputs answers, of a model with several; one is chosen when left out.

    Raises
    ------
    TrustRequiredError
        When it carries code and ``trusted`` is false; nothing of it was run.
    ModelError
        When it is damaged, holds weights only, names what FairDesk does not let Keras run, or
        needs TensorFlow and that is not installed.
    """
    if path.is_dir():
        from fairdesk.models.keras.tensorflow import open_saved_model  # noqa: PLC0415 - TensorFlow's

        return open_saved_model(path, trusted=trusted, output=output)
    try:
        with opened(path) as parts:
            layers = _layer_configs(parts.config)
            outputs = _outputs(parts.config)
            chosen = choose(path, outputs, output)
            learnt = learnt_from(parts.training.get("loss"), chosen, outputs)
            try:
                network, inputs = _plain(parts, layers, chosen, learnt)
            except NotPlainError as reason:
                other = str(reason)
                named = look_through(parts.config, path.name)
            else:
                return _dense(path, network, inputs, parts.version, outputs, chosen)
    except DAMAGE as error:
        # the words of the HDF5 library
        if "truncated file" in str(error):
            raise ModelError(
                f"“{path.name}” is cut off: it is shorter than it states.",
                remedy="Download or copy it again, and compare its size with the original’s.",
            ) from error
        raise ModelError(
            f"“{path.name}” is damaged or was not written by Keras.",
            why=f"Reading it failed: {error}.",
            remedy="Save the model again with model.save().",
        ) from error
    # only networks that are not plain ever need TensorFlow, and it takes ten seconds to load
    from fairdesk.models.keras.tensorflow import open_with_tensorflow  # noqa: PLC0415

    return open_with_tensorflow(
        path, parts, named, why=other, learnt=learnt, output=output, trusted=trusted
    )


def _dense(
    path: Path,
    network: Plain,
    inputs: tuple[str, ...],
    version: str,
    outputs: tuple[str, ...],
    output: str,
) -> DenseNetwork:
    width = len(network.layers[0].weights)
    # TensorFlow is needed to train, not to answer
    trainable = network.classes > 0 and len(outputs) < 2 and has_tensorflow()
    card = ModelCard(
        path=str(path),
        sha256=sha256(path),
        format=format_of(version),
        summary=network_sentence(network.widths, network.weights),
        takes=Takes.COLUMNS if inputs else Takes.MATRIX,
        inputs=inputs or tuple(f"input {i}" for i in range(1, width + 1)),
        named=bool(inputs),
        classes=tuple(str(i) for i in range(network.classes)),
        scores=network.scores,
        read_as_data=True,
        saved_with=f"Keras {version}" if version else "",
        warnings=network.warnings,
        can=(
            Capability.DECIDES,
            Capability.SCORES,
            Capability.GRADIENTS,
            Capability.LAYERS,
            *((Capability.RETRAINS,) if trainable else ()),
        ),
        accepts=("number",) * width,
        outputs=outputs if len(outputs) > 1 else (),
        output=output,
    )
    return DenseNetwork(card, network.layers, network.centre)


def format_of(version: str) -> str:
    """Return the name of the format: ``"Keras 3 network"``."""
    return f"Keras {version.partition('.')[0]} network".replace("  ", " ")


def learnt_from(loss: object, output: str, outputs: Sequence[str]) -> Learnt:
    """Return what a network's answer is, by the loss that it was trained with.

    Parameters
    ----------
    loss : object
        As Keras writes it: a name, a description, or one of them for each output.
    """
    name, settings = described(of_output(loss, output, outputs))
    name = name.replace("_", "").lower()
    if name in _OF_VALUES:
        return "values"
    return "log-odds" if name == _OF_TWO and settings.get("from_logits") is True else ""


def _layer_configs(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the descriptions of a model's layers.

    Keras before 2.2.3 wrote the layers of a sequential model as the description itself.
    """
    inner = config["config"]
    layers = inner if isinstance(inner, list) else inner.get("layers", [])
    if len(layers) > MOST_LAYERS:
        raise ValueError(f"it has {len(layers):,} layers")
    return [layer for layer in layers if isinstance(layer, dict)]


def _outputs(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of a functional model's output layers."""
    if config.get("class_name") not in ("Functional", "Model"):
        return ()
    places = config["config"]["output_layers"]
    return tuple(_histories(list(places.values()) if isinstance(places, dict) else [places]))


def _plain(
    parts: KerasParts, described: Sequence[dict[str, Any]], output: str, learnt: Learnt
) -> tuple[Plain, tuple[str, ...]]:
    """Read a network as dense layers; give it with the names of its inputs, if it has several.

    Raises
    ------
    NotPlainError
        When it is something else.
    """
    kind = parts.config.get("class_name")
    if kind not in ("Sequential", "Functional", "Model"):
        raise NotPlainError(f"a model of the class “{kind}”")
    layers = _layers(described, parts)
    if kind == "Sequential":
        return plain(list(layers.values()), learnt), ()
    way = _way(described, layers, output)
    trunk = [layers[name] for name in way.trunk]
    if not way.branches:
        return plain(trunk, learnt), ()
    for branch in way.branches:
        settings = layers[branch[0]].config
        shape = settings.get("batch_shape", settings.get("batch_input_shape"))
        if shape is None or list(shape[1:]) != [1]:
            raise NotPlainError("inputs of several columns that are joined")
    joined = side_by_side([[layers[name] for name in branch] for branch in way.branches])
    inputs = tuple(branch[0] for branch in way.branches)
    return plain(trunk, learnt, chain=joined), inputs


def _layers(described: Sequence[dict[str, Any]], parts: KerasParts) -> dict[str, KerasLayer]:
    """Return the layers by their names, in the order of the file."""
    places: Counter[str] = Counter()
    layers = {}
    for layer in described:
        kind, settings = str(layer["class_name"]), layer["config"]
        place = _snake_case(kind)
        number = places[place]
        places[place] += 1
        name = str(settings.get("name", ""))
        where = f"{place}_{number}" if number else place
        layers[name] = KerasLayer(kind, name, settings, partial(parts.weights, name, where))
        _refuse_other_shapes(kind, settings)
    if len(layers) != len(described):
        raise NotPlainError("layers without names of their own")
    return layers


def _refuse_other_shapes(kind: str, settings: Mapping[str, Any]) -> None:
    """Refuse inputs that are no rows of numbers; (None, None, n) is how some files spell it."""
    shape = settings.get("batch_shape", settings.get("batch_input_shape"))
    if shape is not None and (len(shape) < 2 or any(shape[1:-1])):
        raise NotPlainError(f"an input of the shape {tuple(shape)} at the layer “{kind}”")


@dataclass(frozen=True)
class _Way:
    """The layers before an output, in the order in which they compute.

    Attributes
    ----------
    trunk : list of str
        From the one input on, or from where several were joined.
    branches : list of list of str
        Of each of several inputs, from it on until they are joined.
    """

    trunk: list[str]
    branches: list[list[str]]


def _way(
    described: Sequence[Mapping[str, Any]], layers: Mapping[str, KerasLayer], output: str
) -> _Way:
    """Follow a functional model from one of its outputs to its inputs."""
    before = {str(layer["config"]["name"]): layer.get("inbound_nodes", []) for layer in described}

    def back(name: str) -> tuple[list[str], list[str]]:
        """Return the layers up to a name without branches, and what the first of them joins."""
        way: list[str] = []
        while True:
            if name not in before or len(way) > len(before):
                raise NotPlainError("layers in a loop")
            way.append(name)
            found = list(_histories(before[name]))
            if len(before[name]) > 1:
                raise NotPlainError("layers that are used more than once")
            if len(found) != 1:
                return way[::-1], found
            name = found[0]

    trunk, joined = back(output)
    if not joined:
        return _Way(trunk, [])
    join = layers[trunk[0]]
    if join.kind != "Concatenate" or join.config.get("axis", -1) not in (-1, 1):
        raise NotPlainError("layers that are joined")
    branches = [back(name) for name in joined]
    inputs = {branch[0] for branch, _ in branches}
    if any(more for _, more in branches) or len(inputs) != len(branches):
        raise NotPlainError("layers that are joined more than once")
    return _Way(trunk[1:], [branch for branch, _ in branches])


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
