"""Keras files, `.keras`, `.h5` and SavedModel: dense networks as data, others by TensorFlow."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fairdesk.errors import ModelError
from fairdesk.files import sha256
from fairdesk.models.decisions.outputs import choose
from fairdesk.models.dense.layers import (
    Chain,
    DenseNetwork,
    Float64,
    Learnt,
    NotPlainError,
    Plain,
    network_sentence,
)
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
from fairdesk.models.structure import ACTIVATIONS, Activation

#: Layers that do nothing when a trained network answers.
SILENT = frozenset(
    {
        "ActivityRegularization",
        "AlphaDropout",
        "Dropout",
        "Flatten",
        "GaussianDropout",
        "GaussianNoise",
        "InputLayer",
    }
)
#: Activations by the names that Keras writes, of which this part knows the arithmetic.
NAMED = {
    **{name: Activation(name) for name in ACTIVATIONS if name != "thresholded_relu"},
    "relu6": Activation("relu", ceiling=6.0),
    "leaky_relu": Activation("leaky_relu", alpha=0.2),
    "elu": Activation("elu", alpha=1.0),
    "swish": Activation("silu"),
}
#: What Keras adds to a standard deviation of `Normalization`, so that it is never zero.
NORMALIZATION_EPSILON = 1e-7


@dataclass(frozen=True)
class KerasLayer:
    """One layer as the file has it.

    Attributes
    ----------
    kind : str
        The class name, ``"Dense"``.
    name : str
        The layer's own name.
    config : Mapping[str, Any]
        Its settings.
    weights : Callable[[], list[NDArray[np.float64]]]
        Reads its arrays, in the order of the file.
    """

    kind: str
    name: str
    config: Mapping[str, Any]
    weights: Callable[[], list[Float64]]


def plain(
    layers: Sequence[KerasLayer], learnt: Learnt = "", *, chain: Chain | None = None
) -> Plain:
    """Return a chain of Keras layers as plain ones.

    Batch normalisation, normalisation and rescaling become part of the dense layer before or
    after them; layers that do nothing when a trained network answers are dropped.

    Parameters
    ----------
    layers : sequence of KerasLayer
        In the order in which they compute.
    learnt : Learnt
        What the training of the network tells about its answer.

    Raises
    ------
    NotPlainError
        When a layer, a setting or an array is none that this part computes.
    """
    chain = chain or Chain()
    for layer in layers:
        _refuse_other_numbers(layer)
        if layer.kind in SILENT:
            continue
        if layer.kind == "Dense":
            chain.dense(*_dense_arrays(layer))
            chain.activation(_named(layer.config.get("activation", "linear")))
        elif layer.kind in _AFFINE:
            chain.affine(*_AFFINE[layer.kind](layer))
        elif layer.kind in _ACTIVATION_LAYERS:
            chain.activation(_ACTIVATION_LAYERS[layer.kind](layer.config))
        elif layer.kind == "PReLU":
            chain.leak(_slopes(layer))
        elif layer.kind == "Reshape":
            _refuse_other_rank(layer)
        else:
            raise NotPlainError(f"a layer “{layer.kind}”")
    return chain.finish(learnt)


def side_by_side(branches: Sequence[Sequence[KerasLayer]]) -> Chain:
    """Put inputs of one column each side by side, each after its own scaling.

    Raises
    ------
    NotPlainError
        When something else than scaling happens to one of them.
    """
    steps = []
    for branch in branches:
        own = Chain()
        for layer in branch:
            _refuse_other_numbers(layer)
            if layer.kind in _AFFINE:
                own.affine(*_AFFINE[layer.kind](layer))
            elif layer.kind == "Reshape":
                _refuse_other_rank(layer)
            elif layer.kind not in SILENT:
                raise NotPlainError(f"a layer “{layer.kind}” before the inputs are joined")
        if max(own.scale.size, own.shift.size) > 1:
            raise NotPlainError("scaling of another width than its input")
        steps.append((float(own.scale.sum()), float(own.shift.sum())))
    chain = Chain()
    chain.affine(*np.array(steps).T)
    return chain


def _refuse_other_numbers(layer: KerasLayer) -> None:
    """Refuse layers that compute with other numbers than float32 (mixed or quantised ones)."""
    kind = layer.config.get("dtype", "float32")
    if isinstance(kind, dict):
        kind = kind.get("config", {}).get("name")
    # what is given is rounded to the type of the input layer
    if kind not in ("float32", None) and (layer.kind, kind) != ("InputLayer", "float64"):
        raise NotPlainError(f"a layer that computes in {kind}")


def _dense_arrays(layer: KerasLayer) -> tuple[Float64, Float64 | None]:
    arrays = layer.weights()
    biased = layer.config.get("use_bias", True)
    if len(arrays) != 1 + biased or arrays[0].ndim != 2:
        raise NotPlainError(f"a dense layer “{layer.name}” with unusual arrays")
    weights = arrays[0]
    bias = arrays[1] if biased else None
    if (biased and arrays[1].shape != weights.shape[1:]) or weights.shape[1] != layer.config.get(
        "units"
    ):
        raise NotPlainError(f"a dense layer “{layer.name}” with unusual arrays")
    return weights, bias


def _last_axis(layer: KerasLayer, *, least: int = 1) -> None:
    axis = layer.config.get("axis", -1)
    if axis not in (-1, [-1], 1, [1]) and not (least == 0 and axis is None):
        raise NotPlainError(f"a layer “{layer.kind}” along another axis")


def _batch_normalization(layer: KerasLayer) -> tuple[Float64, Float64]:
    _last_axis(layer)
    arrays = layer.weights()
    scaled = bool(layer.config.get("scale", True))
    centred = bool(layer.config.get("center", True))
    if len(arrays) != 2 + scaled + centred or layer.config.get("renorm"):
        raise NotPlainError("a batch normalisation with unusual arrays")
    gamma = arrays.pop(0) if scaled else np.ones(())
    beta = arrays.pop(0) if centred else np.zeros(())
    mean, variance = arrays
    scale = gamma / np.sqrt(variance + float(layer.config["epsilon"]))
    return scale, beta - mean * scale


def _normalization(layer: KerasLayer) -> tuple[Float64, Float64]:
    _last_axis(layer, least=0)
    if layer.config.get("invert"):
        raise NotPlainError("an inverse normalisation")
    if layer.config.get("mean") is not None:
        mean, variance = (
            np.asarray(layer.config[key], dtype=np.float64) for key in ("mean", "variance")
        )
    else:
        arrays = layer.weights()
        if len(arrays) < 2:
            raise NotPlainError("a normalisation that was never adapted")
        mean, variance = arrays[:2]
    mean, variance = np.squeeze(mean), np.squeeze(variance)
    if mean.ndim > 1 or mean.shape != variance.shape:
        raise NotPlainError("a normalisation with unusual arrays")
    scale = 1 / np.maximum(np.sqrt(variance), NORMALIZATION_EPSILON)
    return np.asarray(scale), np.asarray(-mean * scale)


def _rescaling(layer: KerasLayer) -> tuple[Float64, Float64]:
    try:
        scale = np.asarray(layer.config["scale"], dtype=np.float64)
        shift = np.asarray(layer.config.get("offset", 0.0), dtype=np.float64)
    except (KeyError, TypeError, ValueError):
        raise NotPlainError("an unusual rescaling") from None
    if scale.ndim > 1 or shift.ndim > 1:
        raise NotPlainError("an unusual rescaling")
    return scale, shift


def _slopes(layer: KerasLayer) -> Float64:
    arrays = layer.weights()
    if len(arrays) != 1 or arrays[0].ndim != 1:
        raise NotPlainError("a PReLU layer with unusual arrays")
    return arrays[0]


def _refuse_other_rank(layer: KerasLayer) -> None:
    shape = layer.config.get("target_shape")
    if not isinstance(shape, (list, tuple)) or len(shape) != 1:
        raise NotPlainError(f"a layer “{layer.kind}” to the shape {shape}")


_AFFINE = {
    "BatchNormalization": _batch_normalization,
    "Normalization": _normalization,
    "Rescaling": _rescaling,
}


def _named(name: object) -> Activation:
    if not isinstance(name, str) or name not in NAMED:
        raise NotPlainError(f"the activation “{name}”")
    return NAMED[name]


def _relu_layer(config: Mapping[str, Any]) -> Activation:
    ceiling = config.get("max_value")
    slope, threshold = _number(config.get("negative_slope")), _number(config.get("threshold"))
    if sum((bool(slope), bool(threshold), ceiling is not None)) > 1:
        raise NotPlainError("an unusual ReLU layer")
    if threshold > 0:
        return Activation("thresholded_relu", alpha=threshold)
    if threshold:
        raise NotPlainError("an unusual ReLU layer")
    if slope:
        return Activation("leaky_relu", alpha=slope)
    return Activation("relu", ceiling=float("inf") if ceiling is None else _number(ceiling))


def _softmax_layer(config: Mapping[str, Any]) -> Activation:
    if config.get("axis", -1) not in (-1, 1):
        raise NotPlainError("a softmax along another axis")
    return NAMED["softmax"]


def _number(value: object) -> float:
    """Read a setting that is a number; old versions of Keras wrap it in a dictionary."""
    if isinstance(value, dict):
        value = value.get("value")
    if value is None:
        return 0.0
    if not isinstance(value, (int, float)):
        raise NotPlainError("a setting that is not a number")
    return float(value)


def _sloped(name: str, default: float, *keys: str) -> Callable[[Mapping[str, Any]], Activation]:
    def read(config: Mapping[str, Any]) -> Activation:
        found = (config[key] for key in keys if key in config)
        return Activation(name, alpha=_number(next(found, default)))

    return read


_ACTIVATION_LAYERS: dict[str, Callable[[Mapping[str, Any]], Activation]] = {
    "Activation": lambda config: _named(config.get("activation")),
    "ReLU": _relu_layer,
    # Keras 2 wrote "alpha"
    "LeakyReLU": _sloped("leaky_relu", 0.3, "negative_slope", "alpha"),
    "ELU": _sloped("elu", 1.0, "alpha"),
    "ThresholdedReLU": _sloped("thresholded_relu", 1.0, "theta"),
    "Softmax": _softmax_layer,
}


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
