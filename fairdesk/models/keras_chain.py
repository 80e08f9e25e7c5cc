"""From the layers that a Keras file names to a network that NumPy computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.dense import Activation, DenseLayer

Float64 = NDArray[np.float64]

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
    "linear": Activation("linear"),
    "relu": Activation("relu"),
    "relu6": Activation("relu", ceiling=6.0),
    "leaky_relu": Activation("leaky_relu", alpha=0.2),
    "elu": Activation("elu", alpha=1.0),
    "selu": Activation("selu"),
    "sigmoid": Activation("sigmoid"),
    "tanh": Activation("tanh"),
    "softmax": Activation("softmax"),
    "softplus": Activation("softplus"),
    "softsign": Activation("softsign"),
    "exponential": Activation("exponential"),
    "silu": Activation("silu"),
    "swish": Activation("silu"),
}
#: What Keras adds to a standard deviation of `Normalization`, so that it is never zero.
NORMALIZATION_EPSILON = 1e-7


class NotPlainError(Exception):
    """The network is not a plain chain of dense layers; the message names what is not."""


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


@dataclass(frozen=True)
class Plain:
    """A network of dense layers, as `plain` makes it.

    Attributes
    ----------
    layers : tuple[DenseLayer, ...]
        The layers, the last with one unit or with one per class.
    centre : NDArray[np.float64] or None
        As in `fairdesk.models.dense.DenseNetwork`.
    widths : tuple[int, ...]
        Of the input and of each layer of the file.
    weights : int
        Trained numbers in the file's dense layers.
    classes : int
        How many the network tells apart.
    scores : str
        As in `fairdesk.models.model.ModelCard`.
    warnings : tuple[str, ...]
        What the auditor must know.
    """

    layers: tuple[DenseLayer, ...]
    centre: Float64 | None
    widths: tuple[int, ...]
    weights: int
    classes: int
    scores: str
    warnings: tuple[str, ...]


@dataclass
class _Chain:
    """Affine steps in double precision while they are put together.

    ``scale`` and ``shift`` are a step ``x * scale + shift`` that waits for the next layer.
    """

    steps: list[tuple[Float64, Float64, Activation]] = field(default_factory=list)
    scale: Float64 = field(default_factory=lambda: np.ones(()))
    shift: Float64 = field(default_factory=lambda: np.zeros(()))
    centre: Float64 | None = None

    def dense(self, weights: Float64, bias: Float64, activation: Activation) -> None:
        """Append a dense layer, after what waits."""
        if self.steps and len(weights) != len(self.steps[-1][1]):
            raise NotPlainError("layers whose widths do not fit")
        scale = np.broadcast_to(self.scale, len(weights))
        shift = np.broadcast_to(self.shift, len(weights))
        if shift.any() and not self.steps and scale.all():
            self.centre = -shift / scale
        else:
            bias = bias + shift @ weights
        self.steps.append((weights * scale[:, None], bias, activation))
        self.scale, self.shift = np.ones(()), np.zeros(())

    def affine(self, scale: Float64, shift: Float64) -> None:
        """Append ``x * scale + shift`` for each column."""
        if self.steps and self.steps[-1][2].name == "linear":
            weights, bias, linear = self.steps[-1]
            self.steps[-1] = (weights * scale, bias * scale + shift, linear)
        else:
            self.scale = self.scale * scale
            self.shift = self.shift * scale + shift

    def activation(self, activation: Activation) -> None:
        """Append an activation."""
        if activation.name == "linear":
            return
        if not self.steps or self.steps[-1][2].name != "linear":
            self._identity()
        weights, bias, _ = self.steps[-1]
        self.steps[-1] = (weights, bias, activation)

    def close(self) -> None:
        """Give what still waits a layer of its own."""
        if self.scale.ndim or self.shift.ndim or self.scale != 1 or self.shift != 0:
            self._identity()

    def _identity(self) -> None:
        if self.steps:
            width = len(self.steps[-1][1])
        else:
            width = max(self.scale.size, self.shift.size)
            if width == 1:
                raise NotPlainError("an activation before the first dense layer")
        self.dense(np.eye(width), np.zeros(width), NAMED["linear"])


def plain(layers: Sequence[KerasLayer]) -> Plain:
    """Put a chain of Keras layers together.

    Batch normalisation, normalisation and rescaling become part of the dense layer before or
    after them; layers that do nothing when a trained network answers are dropped.

    Raises
    ------
    NotPlainError
        When a layer, a setting or an array is none that this part computes.
    """
    chain = _Chain()
    widths: list[int] = []
    count = 0
    for layer in layers:
        _refuse_other_numbers(layer)
        if layer.kind in SILENT:
            continue
        if layer.kind == "Dense":
            weights, bias = _dense_arrays(layer)
            widths += weights.shape if not widths else weights.shape[1:]
            count += weights.size + (bias.size if layer.config.get("use_bias", True) else 0)
            chain.dense(weights, bias, NAMED["linear"])
            chain.activation(_named(layer.config.get("activation", "linear")))
        elif layer.kind in _AFFINE:
            chain.affine(*_AFFINE[layer.kind](layer))
        elif layer.kind in _ACTIVATION_LAYERS:
            chain.activation(_ACTIVATION_LAYERS[layer.kind](layer.config))
        else:
            raise NotPlainError(f"a layer “{layer.kind}”")
    chain.close()
    if not widths:
        raise NotPlainError("no dense layer")
    classes, scores, warnings = _answers(chain)
    return Plain(
        layers=tuple(
            DenseLayer(weights.astype(np.float32), bias.astype(np.float32), activation)
            for weights, bias, activation in chain.steps
        ),
        centre=chain.centre,
        widths=tuple(widths),
        weights=count,
        classes=classes,
        scores=scores,
        warnings=warnings,
    )


def _refuse_other_numbers(layer: KerasLayer) -> None:
    """Refuse layers that compute with other numbers than float32 (mixed or quantised ones)."""
    kind = layer.config.get("dtype", "float32")
    if isinstance(kind, dict):
        kind = kind.get("config", {}).get("name")
    if kind not in ("float32", None) and layer.kind != "InputLayer":
        raise NotPlainError(f"a layer that computes in {kind}")


def _dense_arrays(layer: KerasLayer) -> tuple[Float64, Float64]:
    arrays = layer.weights()
    biased = layer.config.get("use_bias", True)
    if len(arrays) != 1 + biased or arrays[0].ndim != 2:
        raise NotPlainError(f"a dense layer “{layer.name}” with unusual arrays")
    weights = arrays[0]
    bias = arrays[1] if biased else np.zeros(weights.shape[1])
    if bias.shape != weights.shape[1:] or weights.shape[1] != layer.config.get("units"):
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
    slope = _number(config.get("negative_slope"))
    if _number(config.get("threshold")) or (slope and ceiling is not None):
        raise NotPlainError("an unusual ReLU layer")
    if slope:
        return Activation("leaky_relu", alpha=slope)
    return Activation("relu", ceiling=float("inf") if ceiling is None else _number(ceiling))


def _leaky_relu_layer(config: Mapping[str, Any]) -> Activation:
    # Keras 2 wrote "alpha"
    return Activation(
        "leaky_relu", alpha=_number(config.get("negative_slope", config.get("alpha", 0.3)))
    )


def _elu_layer(config: Mapping[str, Any]) -> Activation:
    return Activation("elu", alpha=_number(config.get("alpha", 1.0)))


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
        raise NotPlainError("a setting that is no number")
    return float(value)


_ACTIVATION_LAYERS: dict[str, Callable[[Mapping[str, Any]], Activation]] = {
    "Activation": lambda config: _named(config.get("activation")),
    "ReLU": _relu_layer,
    "LeakyReLU": _leaky_relu_layer,
    "ELU": _elu_layer,
    "Softmax": _softmax_layer,
}


def _answers(chain: _Chain) -> tuple[int, str, tuple[str, ...]]:
    """Make the last layer answer in scores per class, or in the score of class 1 of two.

    Returns
    -------
    classes : int
    scores : str
    warnings : tuple[str, ...]
    """
    weights, bias, last = chain.steps[-1]
    units = len(bias)
    if units == 1:
        if last.name == "sigmoid":
            return 2, "probabilities", ()
        if last.name == "linear":
            chain.steps[-1] = (weights, bias, NAMED["sigmoid"])
            return 2, "scores", (LOGIT,)
        if last.name == "tanh":
            # (tanh(z) + 1) / 2 = sigmoid(2 z)
            chain.steps[-1] = (2 * weights, 2 * bias, NAMED["sigmoid"])
            return 2, "scores", (TANH,)
        raise NotPlainError(f"one answer through “{last.name}”")
    warnings: tuple[str, ...] = ()
    scores = "probabilities"
    if last.name == "linear":
        scores, warnings, last = "scores", (LOGITS,), NAMED["softmax"]
        chain.steps[-1] = (weights, bias, last)
    if last.name != "softmax":
        if units == 2:
            raise NotPlainError(f"two answers through “{last.name}”")
        return units, "scores", (EACH_FOR_ITSELF,)
    if units == 2:
        # softmax over two is the sigmoid of their difference
        chain.steps[-1] = (
            weights[:, 1:] - weights[:, :1],
            bias[1:] - bias[:1],
            NAMED["sigmoid"],
        )
    return units, scores, warnings


LOGIT = (
    "Its last layer gives one plain number. It is read as log-odds: above 0 means class 1. "
    "Check the accuracy below."
)
TANH = "Its last layer gives one number between −1 and 1. Above 0 is read as class 1."
LOGITS = "Its last layer gives plain numbers, one for each class. The greatest is the decision."
EACH_FOR_ITSELF = "Its last layer gives each class a score by itself. The greatest is the decision."
