"""From the layers that a Keras file names to a network that NumPy computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairdesk.models.dense.chain import Chain, Float64, Learnt, NotPlainError, Plain
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
