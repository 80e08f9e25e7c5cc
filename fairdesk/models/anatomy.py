"""What is inside an opened model, number by number: how its inputs are prepared, and what decides.

For whoever proves something about a model, and so must know all of its arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.dense import DenseNetwork, as_matrix
from fairdesk.models.dense_layers import Activation
from fairdesk.models.model import Inputs, OpenedModel
from fairdesk.models.prepared import PreparedModel

Float64 = NDArray[np.float64]
#: How a body's numbers become the decision, before a mapping says anything else (`decision.py`).
#: ``"sigmoid"``: one number, class 1 where it is above 0 (its score is the logistic function of
#: it). ``"argmax"``: one for each class, the first of the greatest decides. ``"value"``: one
#: number that the mapping compares with its threshold. ``"share"``: one number from 0 to 1, class
#: 1 above one half.
Decides = Literal["sigmoid", "argmax", "value", "share"]


@dataclass(frozen=True, slots=True)
class Layer:
    """``activation(x @ weights + bias)``, the numbers as the model has them.

    Attributes
    ----------
    weights : NDArray[np.float64]
        ``(inputs, units)``.
    bias : NDArray[np.float64]
        ``(units,)``.
    activation : Activation
        Applied to each unit; never softmax, and linear in the last layer.
    """

    weights: Float64
    bias: Float64
    activation: Activation


@dataclass(frozen=True, slots=True)
class Layers:
    """Dense layers, a linear model among them.

    Attributes
    ----------
    layers : tuple[Layer, ...]
        From input to output.
    precision : type
        ``np.float32`` or ``np.float64``: what it computes with, in whatever order it adds up.
    decides : Decides
        What the last layer's numbers mean. A last sigmoid or softmax is left out of the layers.
    roundings : int
        How often, relatively, each product of the first layer is rounded beside its sum's own
        rounding: where inputs are scaled in single precision before.
    """

    layers: tuple[Layer, ...]
    precision: type[np.float32 | np.float64]
    decides: Decides
    roundings: int = 0


@dataclass(frozen=True, slots=True)
class Forest:
    """Trees whose leaves' values are added up.

    Attributes
    ----------
    column, left, right : NDArray[np.int64]
        ``(N,)``; of each node of all trees the column it looks at, and its two children; -1 and
        itself in a leaf.
    threshold : NDArray[np.float64]
        ``(N,)``; to the left goes who is not above it. What a library compares otherwise
        (below, or in single precision) is written as the threshold that says the same.
    missing_left : NDArray[np.bool_]
        ``(N,)``; whether NaN goes to the left.
    value : NDArray[np.float64]
        ``(N, k)``; of leaves what they add; 0 elsewhere.
    roots : NDArray[np.int64]
        ``(T,)``.
    base : NDArray[np.float64]
        ``(k,)``; what is added to the sum.
    decides : Decides
        What the sum means.
    slack : float
        How much the model's own sum can differ from the exact one, by rounding.
    """

    column: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    threshold: Float64
    missing_left: NDArray[np.bool_]
    value: Float64
    roots: NDArray[np.int64]
    base: Float64
    decides: Decides
    slack: float


@dataclass(frozen=True, slots=True)
class Anatomy:
    """How a model comes to its answer.

    Attributes
    ----------
    prepare : callable
        Makes of the model's inputs the ``(n, m)`` float64 numbers that the body is given (which
        rounds them to its own precision).
    sources : tuple[tuple[int, ...], ...]
        Of each of the ``m`` columns the model's inputs that it is made from, by their places.
    smooth : tuple[bool, ...]
        Of each column whether it is an affine function of a number, but for rounding in double
        precision (scaled, or as it is); else it may be any function.
    body : Layers or Forest
        What decides.
    close : float
        How far a body's number may be from where the decision changes and still, by rounding of
        what comes after the body, be decided on the other side.
    """

    prepare: Callable[[Inputs], Float64]
    sources: tuple[tuple[int, ...], ...]
    smooth: tuple[bool, ...]
    body: Layers | Forest
    close: float


class OpaqueError(Exception):
    """A model cannot be looked into; the message is a clause that says why."""


#: After the body come a logistic function or a softmax in single precision, right to a few
#: units in the last place, and the rounding of the answer: 2 ** -20 on the logit is eight times it.
CLOSE = 2.0**-20


def anatomy_of(opened: OpenedModel) -> Anatomy:
    """Look into an opened model.

    Raises
    ------
    OpaqueError
        When its arithmetic is not known, or is none that this part reads.
    """
    # more may be known of a model than its own file tells
    opened = getattr(opened, "described", opened)
    if isinstance(opened, DenseNetwork):
        return _of_network(opened)
    if isinstance(opened, PreparedModel):
        return _behind(opened)
    estimator: Any = opened if hasattr(opened, "estimator") else None
    if estimator is not None:
        # scikit-learn takes seconds to load; whoever has such a model has loaded it
        from fairdesk.models.scikit_anatomy import anatomy_of_estimator  # noqa: PLC0415

        return anatomy_of_estimator(estimator)
    own = getattr(opened, "anatomy", None)
    if own is not None:
        found: Anatomy = own()
        return found
    roundings = getattr(opened, "roundings", None)
    if roundings is not None:
        network: Any = opened
        return _of_network(network, roundings)
    forest = getattr(opened, "forest", None)
    if forest is not None:
        width = len(opened.card.inputs)
        sources = tuple((i,) for i in range(width))
        return Anatomy(as_matrix, sources, (True,) * width, forest, CLOSE)
    raise OpaqueError("it can be asked, but not looked into")


def _behind(opened: PreparedModel) -> Anatomy:
    """Look into a model behind transformers."""
    from fairdesk.models.scikit_anatomy import anatomy_of_estimator, prepared  # noqa: PLC0415 - as above

    inner: Any = opened.opened
    if hasattr(inner, "estimator"):
        return anatomy_of_estimator(inner, opened.before, opened.card)
    anatomy = anatomy_of(inner)
    before = prepared(opened.before, opened.card)

    def prepare(inputs: Inputs) -> Float64:
        return anatomy.prepare(list(before.of(inputs).T))

    return Anatomy(
        prepare,
        tuple(
            tuple(sorted({i for place in own for i in before.sources[place]}))
            for own in anatomy.sources
        ),
        tuple(
            smooth and all(before.smooth[place] for place in own)
            for smooth, own in zip(anatomy.smooth, anatomy.sources, strict=True)
        ),
        anatomy.body,
        anatomy.close,
    )


def _of_network(network: DenseNetwork, roundings: int = 0) -> Anatomy:
    """Look into dense layers; ``roundings`` is above 0 where inputs are scaled in float32 first."""
    last = network.layers[-1]
    if last.activation.name == "sigmoid" and last.bias.size == 1:
        decides: Decides = "sigmoid"
    elif last.activation.name == "softmax" and last.bias.size > 1:
        decides = "argmax"
    elif last.activation.name == "linear" and last.bias.size == 1:
        decides = "value"
    else:
        raise OpaqueError(f"its last layer ends in “{last.activation.name}”")
    layers = [
        Layer(layer.weights.astype(np.float64), layer.bias.astype(np.float64), layer.activation)
        for layer in network.layers
    ]
    layers[-1] = Layer(layers[-1].weights, layers[-1].bias, Activation("linear"))
    if not all(np.isfinite(each.weights).all() and np.isfinite(each.bias).all() for each in layers):
        raise OpaqueError("some of its weights are no finite numbers")
    centre = network.centre
    if roundings and centre is not None:
        # what the file takes off is a number in float32, and so is what it is taken off
        centre = centre.astype(np.float32).astype(np.float64)

    def prepare(inputs: Inputs) -> Float64:
        matrix = as_matrix(inputs)
        if roundings:
            matrix = matrix.astype(np.float32).astype(np.float64)
        return matrix if centre is None else matrix - centre

    return Anatomy(
        prepare,
        tuple((i,) for i in range(len(network.layers[0].weights))),
        (True,) * len(network.layers[0].weights),
        Layers(tuple(layers), np.float32, decides, roundings),
        CLOSE,
    )
