"""What is inside an opened model: dense layers, trees, and how its inputs are made.

For whoever proves something about a model, and so must know all of its arithmetic.

A person goes to the left who is not above a threshold in double precision. What a library rounds
first, or compares by “below”, is written as the threshold that says the same of every number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.model import Inputs, OpenedModel, as_matrix

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


Numbers = NDArray[np.int64]

_HUGE = float(np.finfo(np.float64).max)
#: Each set of names that splits look for is a column of its own; no more than so many.
_MOST_SETS = 4_096


@dataclass(frozen=True, slots=True)
class Names:
    """A column that tells where names send a person: 1 to the right, 0 to the left, NaN if missing.

    Attributes
    ----------
    column : int
        The column with the names' numbers.
    left : NDArray[np.bool_]
        By number, cut off to a whole one: whether to the left.
    otherwise : bool
        Whether those below 0, and those beyond ``left``, go to the left.
    """

    column: int
    left: NDArray[np.bool_]
    otherwise: bool

    def of(self, numbers: Float64) -> Float64:
        """Make the column ``(n,)`` of the one with the numbers."""
        inside = (numbers >= 0) & (numbers < len(self.left))
        at = np.where(inside, numbers, 0.0).astype(np.intp)
        left = np.where(inside, self.left[at], self.otherwise)
        # where missing ones go is said by each split
        return np.where(np.isnan(numbers), np.nan, np.where(left, 0.0, 1.0))


@dataclass(frozen=True, slots=True)
class Read:
    """Trees as they were read.

    Attributes
    ----------
    forest : Forest
        They.
    names : tuple[Names, ...]
        Columns that are added behind those that the estimator is given.
    missing : float
        The number that stands for a missing one; NaN where only that does.
    """

    forest: Forest
    names: tuple[Names, ...] = ()
    missing: float = float("nan")


def sums(forest: Forest, matrix: Float64) -> Float64:
    """Add up the leaves' values of rows ``(n, m)``: ``(n, k)``."""
    rows = np.arange(len(matrix))[:, None]
    at = np.repeat(forest.roots[None], len(matrix), axis=0)
    while (inner := forest.column[at] >= 0).any():
        numbers = matrix[rows, np.where(inner, forest.column[at], 0)]
        left = np.where(np.isnan(numbers), forest.missing_left[at], numbers <= forest.threshold[at])
        at = np.where(inner, np.where(left, forest.left[at], forest.right[at]), at)
    return np.asarray(forest.base + forest.value[at].sum(axis=1))


def rounded_first(threshold: Float64) -> Float64:
    """Return the greatest double that is, rounded to single precision, not above a threshold.

    Parameters
    ----------
    threshold : NDArray[np.float64]
        ``(N,)``.
    """
    # the largest numbers are infinite in single precision
    with np.errstate(over="ignore"):
        near = threshold.astype(np.float32)
    below = np.where(near > threshold, np.nextafter(near, np.float32(-np.inf)), near)
    above = np.nextafter(below, np.float32(np.inf))
    middle = (below.astype(np.float64) + above.astype(np.float64)) / 2
    # half-way it goes to the even one of the two
    with np.errstate(over="ignore"):
        even = middle.astype(np.float32) <= below
    return np.where(even, middle, np.nextafter(middle, -np.inf))


class ForestBuilder:
    """Trees while they are gathered, the nodes of each with its own numbers."""

    def __init__(self) -> None:
        self._trees: list[tuple[NDArray[Any], ...]] = []

    def plant(
        self,
        column: NDArray[Any],
        children: tuple[NDArray[Any], NDArray[Any]],
        threshold: Float64,
        missing_left: NDArray[Any],
        value: Float64,
    ) -> None:
        """Add a tree; ``column`` is below 0 in leaves, and what stands there else is ignored."""
        inner = column >= 0
        own = np.arange(len(column))
        tree = (
            np.where(inner, column, -1).astype(np.int64),
            np.where(inner, children[0], own).astype(np.int64),
            np.where(inner, children[1], own).astype(np.int64),
            # an infinite one tells only the missing from all others
            np.clip(np.where(inner, threshold, 0.0), -_HUGE, _HUGE),
            inner & (missing_left == 1),
            np.where(inner[:, None], 0.0, value),
        )
        self._trees.append(tree)

    def forest(self, base: Float64, decides: Decides, unit: float) -> Forest:
        """Return all trees as one forest.

        Parameters
        ----------
        base : NDArray[np.float64]
            ``(k,)``.
        decides : Decides
            As `Forest`.
        unit : float
            The unit roundoff of the precision in which the model adds up.

        Raises
        ------
        OpaqueError
            When there are no trees, or a number is not finite.
        """
        if not self._trees:
            raise OpaqueError("it has no trees")
        parts = list(zip(*self._trees, strict=True))
        lengths = list(map(len, parts[0]))
        roots = np.cumsum([0, *lengths[:-1]], dtype=np.int64)
        column, left, right, threshold, missing_left, value = map(np.concatenate, parts)
        shift = np.repeat(roots, lengths)
        most = sum(np.abs(each).max(axis=0) for each in parts[-1]) + np.abs(base)
        terms = (len(lengths) + 8) * unit
        if np.isnan(threshold).any() or not np.isfinite(value).all():
            raise OpaqueError("some of its numbers are not finite")
        return Forest(
            column=column,
            left=left + shift,
            right=right + shift,
            threshold=threshold,
            missing_left=missing_left,
            value=value,
            roots=roots,
            base=base,
            decides=decides,
            slack=float(terms / (1 - terms) * np.max(most)) + 2.0**-126,
        )


class Sets:
    """Columns for the sets of names that splits look for, each once."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._places: dict[tuple[int, bytes, bool], int] = {}
        self._sets: list[Names] = []

    def column(self, column: int, left: NDArray[np.bool_], otherwise: bool) -> int:  # noqa: FBT001 - as it stands in a node
        """Return the column that tells where a split of names sends people."""
        key = (column, left.tobytes(), otherwise)
        if key not in self._places:
            if len(self._sets) == _MOST_SETS:
                raise OpaqueError("its trees test for too many sets of categories")
            self._places[key] = self._width + len(self._sets)
            self._sets.append(Names(column, left, otherwise))
        return self._places[key]

    def all(self) -> tuple[Names, ...]:
        """Return all, in the order of their columns."""
        return tuple(self._sets)
