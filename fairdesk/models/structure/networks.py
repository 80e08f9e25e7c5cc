"""The structure of dense networks and of trees that were read from a file as data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.model import Inputs, as_matrix
from fairdesk.models.structure.dense_layers import Activation, DenseLayer
from fairdesk.models.structure.types import (
    CLOSE,
    Decides,
    Forest,
    Layer,
    Layers,
    ModelStructure,
    OpaqueError,
)

Float64 = NDArray[np.float64]


def structure_of_forest(forest: Forest, width: int) -> ModelStructure:
    """Return the structure of trees that are given ``width`` numbers as they are."""
    sources = tuple((i,) for i in range(width))
    return ModelStructure(as_matrix, sources, (True,) * width, forest, CLOSE)


def structure_of_network(
    network: Sequence[DenseLayer], centre: Float64 | None, roundings: int = 0
) -> ModelStructure:
    """Return the structure of dense layers.

    Parameters
    ----------
    centre : NDArray[np.float64], optional
        ``(inputs,)``; what is subtracted from the inputs first.
    roundings : int
        Above 0 where inputs are scaled in float32 first.

    Raises
    ------
    OpaqueError
        When the last layer's activation is no decision's, or weights are not finite.
    """
    last = network[-1]
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
        for layer in network
    ]
    layers[-1] = Layer(layers[-1].weights, layers[-1].bias, Activation("linear"))
    if not all(np.isfinite(each.weights).all() and np.isfinite(each.bias).all() for each in layers):
        raise OpaqueError("some of its weights are not finite numbers")
    if roundings and centre is not None:
        # what the file takes off is a number in float32, and so is what it is taken off
        centre = centre.astype(np.float32).astype(np.float64)

    def prepare(inputs: Inputs) -> Float64:
        matrix = as_matrix(inputs)
        if roundings:
            matrix = matrix.astype(np.float32).astype(np.float64)
        return matrix if centre is None else matrix - centre

    return ModelStructure(
        prepare,
        tuple((i,) for i in range(len(network[0].weights))),
        (True,) * len(network[0].weights),
        Layers(tuple(layers), np.float32, decides, roundings),
        CLOSE,
    )
