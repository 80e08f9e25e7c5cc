"""What is inside an opened model, number by number: how its inputs are prepared, and what decides.

For whoever proves something about a model, and so must know all of its arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.model import Inputs, OpenedModel
from fairdesk.models.structure.dense_layers import Activation

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
class ModelStructure:
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


def structure_of(opened: OpenedModel) -> ModelStructure:
    """Look into an opened model: ask it for its ``structure()``, where its kind has one.

    Raises
    ------
    OpaqueError
        When its arithmetic is not known, or is none that this part reads.
    """
    structure: Callable[[], ModelStructure] | None = getattr(opened, "structure", None)
    if structure is None:
        raise OpaqueError("only its outputs are available")
    return structure()
