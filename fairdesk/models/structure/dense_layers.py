"""The layers of a dense network: weights, bias and activation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]


#: The activations that a layer can have.
ACTIVATIONS = (
    *("linear", "relu", "leaky_relu", "elu", "selu", "sigmoid", "tanh", "softplus", "softsign"),
    *("exponential", "silu", "thresholded_relu", "softmax"),
)


@dataclass(frozen=True, slots=True)
class Activation:
    """An activation function.

    Attributes
    ----------
    name : str
        One of `ACTIVATIONS`.
    alpha : float
        The slope below zero of ``leaky_relu``, the depth of ``elu``, the limit up to which
        ``thresholded_relu`` answers 0; else without meaning.
    ceiling : float
        Of ``relu``: no answer is above it.
    """

    name: str
    alpha: float = 0.0
    ceiling: float = float("inf")


LINEAR = Activation("linear")


@dataclass(frozen=True, slots=True)
class DenseLayer:
    """One layer: ``activation(x @ weights + bias)``.

    Attributes
    ----------
    weights : NDArray[np.float32]
        ``(inputs, units)``.
    bias : NDArray[np.float32]
        ``(units,)``.
    activation : Activation
        Applied to each unit; ``softmax`` over all of them.
    """

    weights: Float32
    bias: Float32
    activation: Activation
